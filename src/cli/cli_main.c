/* From argv to exit code: parse, set up what is global, run the command, report what went wrong. */
#include "cli/cli.h"

#include "cli/cli_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

sct_status cli_set_up(const cli_args *args, sct_error *err) {
  const int level = (int)SCT_LOG_WARN + args->verbosity;
  const int at_least = level < (int)SCT_LOG_ERROR ? (int)SCT_LOG_ERROR : level;
  sct_log_set_level(at_least > (int)SCT_LOG_DEBUG ? SCT_LOG_DEBUG : (sct_log_level)at_least);
  if (args->assets) {
    struct stat st;
    if (stat(args->assets, &st) != 0 || !S_ISDIR(st.st_mode)) {
      return sct_fail(err, SCT_EUSAGE, "--assets: there is no directory '%s'", args->assets);
    }
    sct_assets_override(args->assets);
  }
  SCT_TRY(sct_script_set_params(args->params.items, args->params.n, err));
  sct_script_set_sizes(args->add_sizes.items, args->add_sizes.n);
  const char *cores = getenv("SECTILE_CORES");
  int64_t n = 0;
  if (cores && cores[0] != '\0' &&
      cli_read_number(&n, "cores", cores, 1, INT32_MAX, NULL) != SCT_OK) {
    return sct_fail(err, SCT_EUSAGE,
                    "SECTILE_CORES '%s': expected a whole number from 1, of processor cores to "
                    "keep busy; unset it for all",
                    cores);
  }
  return SCT_OK;
}

static sct_status run(const cli_args *args, sct_error *err) {
  if (args->version) {
    sct_str text = {0};
    sct_str_append(&text, "sectile " SCT_VERSION "\n");
    return cli_print(&text, err);
  }
  if (args->help) {
    return cli_help(args->command, err);
  }
  if (!args->command) {
    return sct_fail(err, SCT_EUSAGE,
                    "expected a command; `sectile --help` lists them, `sectile init` is a start");
  }
  SCT_TRY(cli_set_up(args, err));
  return args->command->run(args, err);
}

static void *json_memory(size_t bytes) {
  return sct_realloc(NULL, bytes);
}

/* A file that is opened under the number of a closed standard stream would get what is printed. The
 * stand-ins refuse what the stream would take, so that writing to it is an error still. */
static void occupy_streams(void) {
  for (int fd = 0; fd < 3; fd++) {
    if (fcntl(fd, F_GETFD) < 0 && errno == EBADF) {
      (void)sct_open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY,
                     0); /* the lowest number, so this one */
    }
  }
}

void cli_prepare(void) {
  (void)signal(SIGPIPE, SIG_IGN); /* a reader that left is an error of writing, not our end */
  (void)signal(SIGXFSZ, SIG_IGN); /* so is a limit on the size of files */
  json_set_alloc_funcs(json_memory, sct_free);
}

/* Is there a --json, even after an argument that cannot be read? Then errors are JSON too. */
static bool asks_json(int argc, char **argv) {
  for (int k = 1; k < argc && strcmp(argv[k], "--") != 0; k++) {
    const size_t n = strlen(argv[k]);
    if (n > 2 && strncmp(argv[k], "--json", n) == 0) { /* options may be shortened */
      return true;
    }
  }
  return false;
}

/* A device that is named without its kind is a virtual one; `export` looks for what the store has,
 * by names of GPUs too. */
static void find_devices(cli_args *args, sct_arena *arena) {
  int n_kinds;
  const sct_device_kind *const kinds = sct_device_kinds(&n_kinds);
  SCT_SCOPED(sct_str) text = {0};
  const bool of_store = args->command && args->command->run == cli_export;
  for (const char *at = of_store ? NULL : args->device; at; at += *at == ',') {
    const size_t n = strcspn(at, ",");
    const char *const id = sct_arena_strndup(arena, at, n);
    const bool plain = n > 0 && strchr(id, ':') == NULL && strcmp(id, "all") != 0 &&
                       sct_names_find(SCT_NAMES_IN(kinds, n_kinds, prefix), id) < 0;
    at += n;
    sct_str_printf(&text, "%s%s%s", plain ? "virtual:" : "", id, *at == ',' ? "," : "");
    if (*at == '\0') {
      args->device = sct_arena_strdup(arena, sct_str_c(&text));
      return;
    }
  }
}

/* A spec may be named without its ending; a CUDA file is none. */
static sct_status find_specs(cli_args *args, sct_arena *arena, sct_error *err) {
  static const char ending[] = ".lua";
  const char *const words = args->command ? args->command->words : "";
  const bool specs = sct_has_prefix(words, "SPEC") || strcmp(words, "[SPEC]") == 0;
  if (args->help || args->version || !(specs || strcmp(words, "FILE.cu|SPEC") == 0)) {
    return SCT_OK;
  }
  for (int k = 0; k < args->n_words; k++) {
    char *const word = args->words[k];
    char *const spec = sct_arena_printf(arena, "%s%s", word, ending);
    if (specs && sct_has_suffix(word, ".cu")) {
      return sct_fail(
          err, SCT_EUSAGE,
          "'%s' is a CUDA file, and `sectile %s` takes a spec: `sectile profile`, "
          "`count` and `sanitize` run the kernels of a file, and `also` in a spec races "
          "one against Sectile's own",
          word, args->command->name);
    }
    if (strcmp(words, "SPEC|NAME") != 0 && !sct_has_suffix(word, ending) &&
        !sct_file_exists(word) && sct_file_exists(spec)) {
      args->words[k] = spec;
    }
    if (strcmp(words, "SPEC LABEL") == 0) {
      break;
    }
  }
  return SCT_OK;
}

int sct_cli_main(int argc, char **argv) {
  occupy_streams();
  cli_prepare();
  sct_error err = {0};
  cli_args args = {0};
  SCT_SCOPED(sct_arena) arena = {0};
  sct_status status = cli_parse(&args, argc, argv, &err);
  if (status == SCT_OK) {
    find_devices(&args, &arena);
    status = find_specs(&args, &arena, &err);
    SCT_THEN(run(&args, &err));
  } else {
    args.json = asks_json(argc, argv);
  }
  if (status != SCT_OK && err.text[0] != '\0') {
    sct_error ignored;
    cli_blame_limits(&err);
    if (args.json && cli_json_print(cli_json_error(status, err.text), &ignored) != SCT_OK) {
      sct_log(SCT_LOG_WARN, "%s", ignored.text);
    }
    cli_report(&err);
  }
  errno = 0;
  if ((fflush(stdout) != 0 || ferror(stdout)) &&
      status == SCT_OK) { /* perhaps at an earlier flush */
    status = sct_fail(&err, SCT_EIO, "cannot write to standard output%s%s", errno ? ": " : "",
                      errno ? strerror(errno) : "");
    cli_report(&err);
  }
  return sct_exit_code(status);
}
