/* The command `submit`: shares of the candidates as jobs of a cluster. The scripts are templates of
 * templates/fleet with names in {{HOLES}}; what runs them is Slurm, or GNU parallel. */
#include "cli/cli_internal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The script that starts the others has the engine's name. */
static const char *const engines[] = {"slurm", "parallel"};
static const char *const scripts[] = {"share.sh", "heat.sh"};

typedef struct hole {
  const char *name;
  sct_str text;
} hole;
typedef enum hole_id {
  SHARDS,
  RESOURCES,
  DIRECTORY,
  SECTILE,
  SPECS,
  FLEET,
  OPTIONS,
  HOSTS
} hole_id;

typedef struct fleet {
  const cli_args *args;
  int n_specs; /* of the words; what follows them goes to `tune` */
  const char *engine;
  hole holes[HOSTS + 1];
} fleet;

static void fleet_free(fleet *f) {
  for (int k = 0; k < SCT_COUNT(f->holes); k++) {
    sct_str_free(&f->holes[k].text);
  }
}

/* ---- words of a shell ---- */

static void add_word(sct_str *out, const char *word) {
  static const char plain[] =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=,+@-";
  sct_str_append(out, out->len > 0 ? " " : "");
  if (word[0] != '\0' && word[strspn(word, plain)] == '\0') {
    sct_str_append(out, word);
    return;
  }
  sct_str_append(out, "'");
  for (const char *at = word; *at != '\0'; at++) {
    sct_str_append_n(out, at, 1);
    sct_str_append(out, *at == '\'' ? "\\''" : "");
  }
  sct_str_append(out, "'");
}

static sct_status add_path(sct_str *out, const char *path, sct_error *err) {
  SCT_OWNED char *whole = realpath(path, NULL);
  if (whole == NULL || strchr(whole, '\n') != NULL) {
    return sct_fail(err, SCT_EUSAGE, whole ? "'%s': a line break in a path" : "there is no '%s'",
                    path);
  }
  add_word(out, whole);
  return SCT_OK;
}

/* A value of Slurm's in a line of its own, where nothing is quoted. */
static sct_status add_resource(fleet *f, const char *option, const char *value, sct_error *err) {
  for (const char *at = value ? value : ""; *at != '\0'; at++) {
    if (!isalnum((unsigned char)*at) && strchr(":_,.=-", *at) == NULL) {
      return sct_fail(err, SCT_EUSAGE, "--%s '%s': expected a value as `sbatch` takes it, as in %s",
                      option, value, option[0] == 'g' ? "gpu:1" : "2:00:00");
    }
  }
  if (value != NULL) {
    sct_str_printf(&f->holes[RESOURCES].text, "#SBATCH --%s=%s\n", option, value);
  }
  return SCT_OK;
}

/* ---- what is asked for ---- */

/* Are the words after the specs options of `tune`, other than those that the scripts give it? */
static sct_status check_options(const fleet *f, sct_error *err) {
  const cli_args *args = f->args;
  SCT_OWNED char **argv = sct_alloc(sizeof *argv * ((size_t)args->n_words + 3));
  char program[] = "sectile", command[] = "tune";
  argv[0] = program;
  argv[1] = command;
  memcpy(argv + 2, args->words, sizeof *argv * (size_t)args->n_words);
  cli_args tune;
  SCT_TRY(cli_parse(&tune, args->n_words + 2, argv, err));
  if (tune.n_words != f->n_specs) {
    return sct_fail(err, SCT_EUSAGE,
                    "'%s' after `--` is no option of `tune`; specs stand before it",
                    tune.words[f->n_specs]);
  }
  if (tune.share.n > 0 || tune.top_of || tune.only.n > 0 || tune.store || tune.events) {
    return sct_fail(err, SCT_EUSAGE,
                    "--shard, --top-of, --only, --store and --events of `tune` are given by the "
                    "scripts of `submit`");
  }
  SCT_TRY(cli_set_up(&tune, err));
  for (int k = 0; k < f->n_specs; k++) {
    SCT_SCOPED(sct_spec) spec = {0};
    SCT_TRY(cli_hint_example(sct_script_try_spec(&spec, args->words[k], err), args->words[k], err));
  }
  return SCT_OK;
}

static sct_status check_asked(fleet *f, sct_error *err) {
  const cli_args *args = f->args;
  int engine = 0;
  SCT_TRY(sct_names_choose(&engine, SCT_NAMES(engines, SCT_COUNT(engines)),
                           args->engine ? args->engine : "slurm", err, "--engine '%s'",
                           args->engine));
  f->engine = engines[engine];
  if (args->shards == 0 || args->store == NULL) {
    return sct_fail(err, SCT_EUSAGE, "`sectile submit` needs --shards N and --store DIRECTORY");
  }
  if ((engine == 1) != (args->hosts != NULL)) {
    return sct_fail(err, SCT_EUSAGE, "--hosts FILE goes with --engine parallel");
  }
  while (f->n_specs < args->n_words && args->words[f->n_specs][0] != '-') {
    f->n_specs++;
  }
  if (f->n_specs == 0) {
    return sct_fail(err, SCT_EUSAGE, "`sectile submit` needs a SPEC before `--`");
  }
  return check_options(f, err);
}

/* ---- scripts ---- */

static sct_status fill_holes(fleet *f, sct_error *err) {
  static const char *const names[] = {"SHARDS", "RESOURCES", "DIRECTORY", "SECTILE",
                                      "SPECS",  "FLEET",     "OPTIONS",   "HOSTS"};
  const cli_args *args = f->args;
  for (int k = 0; k < SCT_COUNT(names); k++) {
    f->holes[k].name = names[k];
  }
  sct_str_printf(&f->holes[SHARDS].text, "%d", args->shards);
  SCT_TRY(add_resource(f, "gres", args->gres, err));
  SCT_TRY(add_resource(f, "time", args->time, err));
  SCT_TRY(add_path(&f->holes[DIRECTORY].text, ".", err));
  SCT_TRY(add_path(&f->holes[SECTILE].text, "/proc/self/exe", err));
  for (int k = 0; k < f->n_specs; k++) {
    SCT_TRY(add_path(&f->holes[SPECS].text, args->words[k], err));
  }
  for (int k = f->n_specs; k < args->n_words; k++) {
    add_word(&f->holes[OPTIONS].text, args->words[k]);
  }
  if (args->hosts) {
    SCT_TRY(add_path(&f->holes[HOSTS].text, args->hosts, err));
  }
  if (!args->dry_run) {
    SCT_TRY(sct_dir_make(args->store, err));
  }
  if (access(args->store, F_OK) == 0) {
    return add_path(&f->holes[FLEET].text, args->store, err);
  }
  SCT_OWNED char *here = realpath(".", NULL); /* where it would be made */
  SCT_SCOPED(sct_str) path = {0};
  sct_str_printf(&path, "%s%s%s", args->store[0] == '/' ? "" : here,
                 args->store[0] == '/' ? "" : "/", args->store);
  add_word(&f->holes[FLEET].text, sct_str_c(&path));
  return SCT_OK;
}

/* A template with its holes filled. A line that is one empty hole is left out. */
static sct_status render(sct_str *out, const fleet *f, const char *script, sct_error *err) {
  SCT_SCOPED(sct_str) path = {0}, text = {0};
  sct_str_printf(&path, "templates/fleet/%s", script);
  SCT_TRY(sct_asset_read(&text, sct_str_c(&path), err));
  for (const char *at = sct_str_c(&text); *at != '\0';) {
    const char *open = strstr(at, "{{"), *close = open ? strstr(open, "}}") : NULL;
    if (close == NULL) {
      sct_str_append(out, at);
      break;
    }
    sct_str_append_n(out, at, (size_t)(open - at));
    for (int k = 0; k < SCT_COUNT(f->holes); k++) {
      const size_t n = strlen(f->holes[k].name);
      if (close == open + 2 + n && strncmp(open + 2, f->holes[k].name, n) == 0) {
        sct_str_append(out, sct_str_c(&f->holes[k].text));
      }
    }
    at = close + 2 + (close[2] == '\n' && open > at && open[-1] == '\n');
  }
  return SCT_OK;
}

static sct_status put_scripts(const fleet *f, const char *start, json_t *printed, sct_error *err) {
  for (int k = 0; k < 3; k++) {
    const char *name = k < 2 ? scripts[k] : start;
    SCT_SCOPED(sct_str) text = {0}, path = {0};
    SCT_TRY(render(&text, f, name, err));
    sct_str_printf(&path, "%s/%s", f->args->store, k < 2 ? name : "submit.sh");
    if (!f->args->dry_run) {
      SCT_TRY(sct_file_write(sct_str_c(&path), text.data, text.len, err));
    }
    json_object_set_new(printed, sct_str_c(&path), sct_json_string(sct_str_c(&text)));
  }
  return SCT_OK;
}

static sct_status print_scripts(const cli_args *args, json_t *printed, sct_error *err) {
  if (args->json) {
    return cli_json_print(json_incref(printed), err);
  }
  sct_str text = {0};
  const char *path;
  json_t *script;
  json_object_foreach(printed, path, script) {
    sct_str_printf(&text, "%s# ---- %s\n%s", text.len > 0 ? "\n" : "", path,
                   json_string_value(script));
  }
  return cli_print(&text, err);
}

sct_status cli_submit(const cli_args *args, sct_error *err) {
  SCT_SCOPED(fleet) f = {.args = args};
  SCT_SCOPED(sct_str) start = {0};
  SCT_OWNED_PTR(json_t) printed = json_object();
  SCT_TRY(check_asked(&f, err));
  SCT_TRY(fill_holes(&f, err));
  sct_str_printf(&start, "%s.sh", f.engine);
  SCT_TRY(put_scripts(&f, sct_str_c(&start), printed, err));
  if (args->dry_run) {
    return print_scripts(args, printed, err);
  }
  sct_str_clear(&start);
  sct_str_printf(&start, "%s/submit.sh", args->store);
  execl("/bin/bash", "bash", sct_str_c(&start), (char *)NULL);
  return sct_fail(err, SCT_EIO, "cannot run /bin/bash");
}
