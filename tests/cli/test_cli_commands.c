/* The program from outside: help, the page that documents it, exit codes, where output goes. */
#include "cli/cli_internal.h"
#include "cli_fixture.h"

#include <poll.h>
#include <pty.h>

#define GOOD_SPEC                                                                                  \
  "-- Doubles every element.\n"                                                                    \
  "local s = require \"sectile\"\n"                                                                \
  "return s.kernel {\n"                                                                            \
  "  name = \"twice\", dims = { \"i\" },\n"                                                        \
  "  inputs = { s.array(\"a\", \"f32\") }, outputs = { s.array(\"b\", \"f32\") },\n"               \
  "  body = \"b = 2.0f * a;\", sizes = { { i = 5000 } },\n"                                        \
  "}\n"

/* ---- help ---- */

/* Lines are broken where the terminal ends: every run of blanks becomes one. */
static const char *words_of(sct_str *out, const char *text) {
  sct_str_clear(out);
  for (const char *at = text; *at; at++) {
    const bool blank = *at == ' ' || *at == '\n';
    if (!blank || (out->len > 0 && out->data[out->len - 1] != ' ')) {
      sct_str_append_n(out, blank ? " " : at, 1);
    }
  }
  return sct_str_c(out);
}

static bool has_words(const fx_result *r, const char *text) {
  SCT_SCOPED(sct_str) all = {0}, part = {0};
  return strstr(words_of(&all, sct_str_c(&r->out)), words_of(&part, text)) != NULL;
}

static void every_command_has_its_help(void **state) {
  (void)state;
  fx_result r = {0};
  fx_run(&r, "--help");
  fx_expect(&r, 0, "Usage: sectile COMMAND [options]", NULL);
  for (int k = 0; k < cli_n_commands; k++) {
    assert_true(has_words(&r, cli_commands[k].doc));
  }
  for (int k = 0; k < cli_n_commands; k++) {
    const cli_command *command = &cli_commands[k];
    char example[160];
    snprintf(example, sizeof example, "Example:\n  sectile %s", command->example);
    assert_true(sct_has_prefix(command->example, command->name));
    fx_run(&r, command->name, "--help");
    fx_expect(&r, 0, example, NULL);
    assert_true(has_words(&r, command->details));
    for (int id = 0; id < CLI_N_OPTIONS; id++) {
      const bool takes = ((CLI_GLOBAL | command->options) & CLI_BIT_OF(id)) != 0;
      const cli_option *o = &cli_options[id];
      char option[256];
      snprintf(option, sizeof option, "--%s %s%s%s", o->name, o->arg ? o->arg : "",
               o->arg ? " " : "", o->doc);
      assert_int_equal(has_words(&r, option), takes);
    }
    assert_int_equal(r.err.len, 0);
  }
  fx_free(&r);
}

static void examples_of_help_are_legal(void **state) {
  (void)state;
  for (int k = 0; k < cli_n_commands; k++) {
    char text[160];
    char *argv[16] = {(char *)(uintptr_t) "sectile"};
    int argc = 1;
    snprintf(text, sizeof text, "%s", cli_commands[k].example);
    bool quoted = false;
    for (char *at = text; *at; at++) { /* a label in quotes is one word */
      quoted ^= *at == '"';
      *at = *at == ' ' && quoted ? '_' : *at;
    }
    for (char *word = strtok(text, " "); word; word = strtok(NULL, " ")) {
      argv[argc++] = word;
    }
    cli_args args;
    sct_error err = {0};
    assert_int_equal(cli_parse(&args, argc, argv, &err), SCT_OK);
    assert_ptr_equal(args.command, &cli_commands[k]);
  }
}

static void help_ends_with_the_exit_codes(void **state) {
  (void)state;
  fx_result r = {0};
  fx_run(&r, "-h");
  const char *codes = strstr(sct_str_c(&r.out), "Exit codes:\n");
  assert_non_null(codes);
  for (int k = 0; k < SCT_N_STATUS; k++) {
    assert_non_null(strstr(codes, sct_status_text((sct_status)k)));
  }
  assert_non_null(strstr(codes, "\n  4    no device, no NVRTC\n"));
  assert_true(sct_has_suffix(codes, "  130  interrupted with state saved\n"));
  fx_run(&r, "--version");
  fx_expect(&r, 0, "sectile " SCT_VERSION "\n", NULL);
  fx_free(&r);
}

/* docs/commands.md has every command with its options in its own section, and every exit code. */
static void the_page_documents_the_tables(void **state) {
  (void)state;
  sct_str page = {0};
  sct_error err = {0};
  assert_int_equal(sct_file_read(&page, SCT_ROOT_DIR "/docs/commands.md", &err), SCT_OK);
  const char *codes = strstr(sct_str_c(&page), "## Exit codes");
  assert_non_null(codes);
  for (int k = 0; k < SCT_N_STATUS; k++) {
    char row[32];
    snprintf(row, sizeof row, "| %d | ", sct_exit_code((sct_status)k));
    if (!strstr(codes, row) || !strstr(codes, sct_status_text((sct_status)k))) {
      fail_msg("docs/commands.md lacks exit code %s%s", row, sct_status_text((sct_status)k));
    }
  }
  for (int k = -1; k < cli_n_commands; k++) {
    char head[96];
    const char *name = k < 0 ? NULL : cli_commands[k].name;
    snprintf(head, sizeof head, "\n## `sectile %s%s%s`\n", name ? name : "",
             name && cli_commands[k].words[0] ? " " : "", name ? cli_commands[k].words : "");
    const char *section = strstr(sct_str_c(&page), name ? head : "\n## Options of every command");
    if (!section) {
      fail_msg("docs/commands.md has no section '%s'", head);
      continue; /* fail_msg does not return, which the analyser cannot know */
    }
    const char *end = strstr(section + 4, "\n## ");
    for (int id = 0; id < CLI_N_OPTIONS; id++) {
      char option[64];
      snprintf(option, sizeof option, "--%s%s%s`", cli_options[id].name,
               cli_options[id].arg ? " " : "", cli_options[id].arg ? cli_options[id].arg : "");
      const char *found = strstr(section, option);
      const bool listed = found && (!end || found < end);
      const cli_option_set takes = name ? cli_commands[k].options : CLI_GLOBAL;
      if (listed != ((takes & CLI_BIT_OF(id)) != 0)) {
        fail_msg("docs/commands.md, section of %s: option %s is %s", name ? name : "all", option,
                 listed ? "not taken" : "missing");
      }
    }
  }
  sct_str_free(&page);
}

/* ---- exit codes ---- */

static void each_class_of_failure_has_its_exit_code(void **state) {
  (void)state;
  fx_result r = {0};
  const char *good = fx_write("good.lua", GOOD_SPEC);
  const char *bad = fx_write("bad.lua", "local s = require \"sectile\"\nreturn s.kernell {}\n");
  const char *damaged = fx_write("damaged.db", "this is no database, but long enough to be one?");

  fx_run(&r, "check", good);
  fx_expect(&r, 0, "good.lua: ok (2 operands, 1 size, ", NULL);
  fx_write("huge.lua",
           "local s = require \"sectile\"\nreturn s.kernel { name = \"huge\", "
           "dims = { \"i\" }, inputs = { s.array(\"a\", \"f64\") },\n  outputs = { "
           "s.array(\"b\", \"f64\") }, body = \"b = a;\", sizes = { { i = 4 }, { i = 1 << "
           "40 } } }\n");
  fx_run(&r, "check", "huge.lua");
  fx_expect(&r, 0,
            "note: at i=1099511627776 the arrays take 16 TiB: more than the memory of any GPU",
            NULL);
  fx_run(&r, "check", "nowhere.lua");
  fx_expect(&r, 1, NULL, "sectile: cannot read 'nowhere.lua'");
  fx_run(&r, "tun", good);
  fx_expect(&r, 2, NULL, "sectile: unknown command 'tun'; did you mean 'tune'?");
  fx_run(&r, "check", bad);
  fx_expect(&r, 3, NULL, "bad.lua:2: error: ");
  assert_true(sct_has_prefix(sct_str_c(&r.err), bad)); /* a place needs no program's name before */
  fx_run(&r, "space", good, "--device", "virtual:h20");
  fx_expect(&r, 4, NULL, "did you mean 'h200'?");
  fx_run(&r, "space", good, "--device", "gpu:0");
  fx_expect(&r, 2, NULL, "unknown kind 'gpu'");
  fx_run(&r, "emit", "twice");
  fx_expect(&r, 8, NULL, "there is no store at");
  fx_run(&r, "emit", "twice", "--store", damaged);
  fx_expect(&r, 8, NULL, "damaged.db");
  fx_run(&r, "tune", good, good, "--store", damaged, "--device", "virtual:h200");
  fx_expect(&r, 8, NULL, "damaged.db");
  assert_null(strstr(strstr(sct_str_c(&r.err), "damaged.db") + 1, "sectile: ")); /* said once */
  sct_str after = {0};
  sct_error err = {0};
  assert_int_equal(sct_file_read(&after, damaged, &err), SCT_OK);
  assert_string_equal(sct_str_c(&after), "this is no database, but long enough to be one?");
  sct_str_free(&after);
  fx_run(&r, "--assets", "nowhere", "check", good);
  fx_expect(&r, 2, NULL, "there is no directory 'nowhere'");
  static const char *const no_cores[] = {"abc", "0", "-1", "2x", "1e9", "99999999999999999999"};
  for (int k = 0; k < SCT_COUNT(no_cores); k++) {
    assert_int_equal(setenv("SECTILE_CORES", no_cores[k], 1), 0);
    fx_run(&r, "check", good);
    fx_expect(&r, 2, NULL, no_cores[k]);
    fx_expect(&r, 2, NULL, "SECTILE_CORES");
    fx_expect(&r, 2, NULL, "expected a whole number from 1");
  }
  for (int k = 0; k < 2; k++) {
    assert_int_equal(setenv("SECTILE_CORES", k ? "" : "1000", 1), 0);
    fx_run(&r, "check", good);
    fx_expect(&r, 0, NULL, NULL);
  }
  assert_int_equal(unsetenv("SECTILE_CORES"), 0);
  fx_run_list(&r, (const char *const[]){NULL});
  fx_expect(&r, 2, NULL, "expected a command");
  fx_free(&r);
}

static void one_bad_spec_does_not_stop_the_others(void **state) {
  (void)state;
  fx_result r = {0};
  fx_write("good.lua", GOOD_SPEC);
  fx_write("bad.lua", "return 1\n");
  fx_run(&r, "check", "good.lua", "bad.lua", "nowhere.lua", "good.lua");
  fx_expect(&r, 3, NULL, "bad.lua:");
  fx_expect(&r, 3, NULL, "nowhere.lua");
  const char *first = strstr(sct_str_c(&r.out), "good.lua: ok");
  assert_non_null(first);
  assert_non_null(strstr(first + 1, "good.lua: ok"));
  fx_run(&r, "check", "nowhere.lua", "bad.lua");
  fx_expect(&r, 1, NULL, NULL); /* that of the first */
  fx_free(&r);
}

static void a_name_that_is_an_example_is_told(void **state) {
  (void)state;
  fx_result r = {0};
  static const char *const commands[] = {"check", "space", "gen", "tune"};
  for (int k = 0; k < SCT_COUNT(commands); k++) {
    fx_run(&r, commands[k], "shifted", "--quiet");
    fx_expect(&r, 1, NULL, "`sectile examples shifted -o .`");
  }
  fx_run(&r, "check", "unheard_of");
  assert_null(strstr(sct_str_c(&r.err), "examples"));
  fx_free(&r);
}

static void output_that_cannot_be_written_is_an_error(void **state) {
  (void)state;
  if (access("/dev/full", W_OK) != 0) {
    skip();
  }
  const pid_t pid = fork();
  if (pid == 0) {
    dup2(open("/dev/full", O_WRONLY), 1);
    dup2(open("/dev/null", O_WRONLY), 2);
    fx_exec_((const char *const[]){"examples", NULL});
  }
  assert_int_equal(fx_wait_(pid), 1);
}

/* ---- JSON ---- */

static void errors_are_json_too(void **state) {
  (void)state;
  static const struct {
    const char *words[6];
    int exit_code;
  } runs[] = {{{"--json", "tun"}, 2},
              {{"tun", "--json"}, 2},
              {{"tune", "x", "--budget", "y", "--js"}, 2},
              {{"space", "nowhere.lua", "--json"}, 1},
              {{"gen", "good.lua", "--pick", "x", "--json"}, 2},
              {{"emit", "twice", "--json"}, 8}};
  fx_result r = {0};
  fx_write("good.lua", GOOD_SPEC);
  for (int k = 0; k < SCT_COUNT(runs); k++) {
    fx_run_list(&r, runs[k].words);
    fx_expect(&r, runs[k].exit_code, NULL, "sectile: ");
    json_t *doc = fx_json(&r);
    const json_t *error = json_object_get(doc, "error");
    assert_int_equal(json_integer_value(json_object_get(error, "exit_code")), runs[k].exit_code);
    const char *text = json_string_value(json_object_get(error, "text"));
    assert_non_null(text);
    assert_non_null(strstr(sct_str_c(&r.err), text));
    json_decref(doc);
  }
  fx_run(&r, "check", "good.lua", "nowhere.lua", "--json");
  fx_expect(&r, 1, NULL, "nowhere.lua");
  json_t *doc = fx_json(&r);
  const json_t *list = json_object_get(doc, "checked");
  assert_int_equal(json_array_size(list), 2);
  assert_true(json_is_true(json_object_get(json_array_get(list, 0), "ok")));
  const json_t *good = json_array_get(list, 0);
  assert_int_equal(json_array_size(json_object_get(good, "operands")), 2);
  assert_int_equal(json_array_size(json_object_get(good, "arrays")), 2);
  assert_int_equal(json_array_size(json_object_get(good, "scalars")), 0);
  assert_true(json_is_false(json_object_get(json_array_get(list, 1), "ok")));
  assert_non_null(json_object_get(json_array_get(list, 1), "error"));
  json_decref(doc);
  fx_free(&r);
}

#define PICKED_SPEC                                                                                \
  "local s = require \"sectile\"\n"                                                                \
  "return s.kernel {\n"                                                                            \
  "  name = \"picked\", dims = { \"i\" }, scalars = { { \"k\", \"f64\" } },\n"                     \
  "  inputs = {\n"                                                                                 \
  "    s.array(\"pick\", \"i64\"),\n"                                                              \
  "    s.array(\"table\", \"f64\", s.row_major, { dims = { \"m\" }, at = { \"pick\" } }) },\n"     \
  "  outputs = { s.array(\"b\", \"f64\", s.row_major, { pad = 3 }) },\n"                           \
  "  body = \"b = k * table;\",\n"                                                                 \
  "  sizes = { { i = 5, m = 7 }, { i = 6, m = 9, pick = \"permuted\" } },\n"                       \
  "}\n"

static json_int_t number_at(const json_t *array, const char *key, size_t size) {
  const json_t *value = json_array_get(json_object_get(array, key), size);
  return json_integer_value(json_is_array(value) ? json_array_get(value, 0) : value);
}

/* What a program needs to call the kernel of a spec: bytes of its arrays, and what may stand in
 * those of indexes. */
static void check_tells_the_arrays_of_every_size(void **state) {
  (void)state;
  fx_result r = {0};
  fx_write("picked.lua", PICKED_SPEC);
  fx_run(&r, "check", "picked.lua", "--json");
  fx_expect(&r, 0, NULL, NULL);
  json_t *doc = fx_json(&r);
  const json_t *spec = json_array_get(json_object_get(doc, "checked"), 0);
  const json_t *arrays = json_object_get(spec, "arrays");
  const json_t *pick = json_array_get(arrays, 0), *table = json_array_get(arrays, 1);
  const json_t *b = json_array_get(arrays, 2);
  assert_int_equal(number_at(pick, "bytes", 0), 40);
  assert_int_equal(number_at(pick, "bytes", 1), 48);
  assert_int_equal(number_at(pick, "limits", 0), 7);
  assert_int_equal(number_at(pick, "limits", 1), 9);
  assert_int_equal(json_integer_value(json_object_get(pick, "index_bytes")), 8);
  assert_int_equal(number_at(table, "bytes", 1), 72);
  assert_null(json_object_get(table, "limits"));
  assert_int_equal(number_at(b, "bytes", 0), 64);
  assert_string_equal(json_string_value(json_object_get(b, "role")), "out");
  assert_string_equal(json_string_value(json_object_get(table, "role")), "in");
  const json_t *second = json_array_get(json_object_get(spec, "extents"), 1);
  assert_int_equal(json_integer_value(json_array_get(second, 0)), 6);
  assert_int_equal(json_integer_value(json_array_get(second, 1)), 9);
  assert_string_equal(json_string_value(json_array_get(json_object_get(spec, "scalars"), 0)), "k");
  json_decref(doc);
  fx_free(&r);
}

static void devices_are_listed_without_a_gpu(void **state) {
  (void)state;
  fx_result r = {0};
  fx_run(&r, "devices");
  fx_expect(&r, 0, "virtual:h200", NULL);
  fx_expect(&r, 0, "NVIDIA H200", NULL);
  fx_expect(&r, 0, "not timed", NULL);
  fx_expect(&r, 0, "described only: this toolkit cannot compile for the device", NULL);
  fx_expect(&r, 0, "not validated: predictions were not compared with measurements", NULL);
  fx_run(&r, "devices", "--json");
  fx_expect(&r, 0, NULL, NULL);
  json_t *doc = fx_json(&r);
  const json_t *list = json_object_get(doc, "devices"), *device;
  size_t k;
  int n_gpus = 0, n_virtual = 0, n_counting = 0;
  json_array_foreach(list, k, device) {
    const bool is_virtual = json_is_true(json_object_get(device, "virtual"));
    n_gpus += !is_virtual;
    n_virtual += is_virtual;
    assert_true(json_integer_value(json_object_get(device, "sms")) > 0);
    assert_true(json_string_length(json_object_get(device, "says")) > 0);
    const char *model = json_string_value(json_object_get(device, "coalescing"));
    const bool counting = json_is_true(json_object_get(device, "counting_only"));
    assert_true(counting || strcmp(model, "cc70") == 0);
    n_counting += counting;
  }
  assert_true(n_counting >= 4);
  assert_true(n_virtual >= 1);
  /* a reason stands exactly where there is no GPU */
  assert_int_equal(json_is_string(json_object_get(doc, "no_gpu")), n_gpus == 0);
  json_decref(doc);
  fx_free(&r);
}

/* A stand-in's figures mean nothing, but they come from every micro-kernel, make a description that
 * can be read, and are kept next to the store. */
static void a_gpu_is_calibrated(void **state) {
  (void)state;
  fx_result r = {0};
  sct_error err;
  sct_str text = {0};
  assert_int_equal(setenv("SECTILE_FAKE_GPU", "memory=8e9", 1), 0);
  fx_run(&r, "devices", "--calibrate", "--json", "--store", "kept/store.db");
  fx_expect(&r, 0, NULL, "kept in kept/devices/GPU-");
  json_t *doc = fx_json(&r);
  const char *description = json_string_value(json_object_get(doc, "description"));
  const char *file = json_string_value(json_object_get(doc, "file"));
  assert_int_equal(sct_file_read(&text, fx_path(file), &err), SCT_OK);
  assert_string_equal(sct_str_c(&text), description);
  assert_int_equal(sct_dir_make(fx_path("measured/tuning/devices"), &err), SCT_OK);
  fx_write("measured/tuning/devices/mine.lua", description);
  sct_str_free(&text);
  json_decref(doc);
  unsetenv("SECTILE_FAKE_GPU");
  fx_run(&r, "devices", "--assets", "measured");
  fx_expect(&r, 0, "virtual:mine", NULL);
  fx_run(&r, "devices", "--calibrate", "-d", "virtual:h200");
  fx_expect(&r, 2, NULL, "only a GPU can be calibrated");
  fx_free(&r);
}

/* ---- a terminal ---- */

/* Runs the program on a terminal of its own and gives all it wrote. */
static int run_on_terminal(sct_str *out, const char *const *words) {
  int master = -1;
  struct winsize size = {.ws_row = 40, .ws_col = 100};
  const pid_t pid = forkpty(&master, NULL, NULL, &size);
  assert_true(pid >= 0);
  if (pid == 0) {
    fx_exec_(words);
  }
  sct_str_clear(out);
  char buffer[4096];
  ssize_t n; /* a terminal whose program is gone gives EIO */
  while ((n = read(master, buffer, sizeof buffer)) > 0) {
    sct_str_append_n(out, buffer, (size_t)n);
  }
  close(master);
  return fx_wait_(pid);
}

static void colour_is_for_terminals_without_no_color(void **state) {
  (void)state;
  const char *const words[] = {"space", "good.lua", NULL};
  fx_result r = {0};
  sct_str out = {0};
  fx_write("good.lua", GOOD_SPEC);
  assert_int_equal(run_on_terminal(&out, words), 0);
  assert_non_null(strstr(sct_str_c(&out), "\033[1mtwice\033[0m"));
  setenv("NO_COLOR", "1", 1);
  assert_int_equal(run_on_terminal(&out, words), 0);
  assert_non_null(strstr(sct_str_c(&out), "twice"));
  assert_null(strchr(sct_str_c(&out), '\033'));
  unsetenv("NO_COLOR");
  setenv("TERM", "dumb", 1);
  assert_int_equal(run_on_terminal(&out, words), 0);
  assert_null(strchr(sct_str_c(&out), '\033'));
  setenv("TERM", "xterm", 1);
  fx_run_list(&r, words); /* into a file */
  fx_expect(&r, 0, "twice", NULL);
  assert_null(strchr(sct_str_c(&r.out), '\033'));
  sct_str_free(&out);
  fx_free(&r);
}

/* What is meant is understood, or said. */
static void words_that_newcomers_write(void **state) {
  (void)state;
  fx_result r = {0};
  fx_write("plain.lua",
           "local s = require \"sectile\"\n"
           "return s.kernel { name = \"plain\", dims = { \"row\", \"col\" },\n"
           "  inputs = { s.array(\"a\", \"f32\") }, outputs = { s.array(\"b\", \"f32\") },\n"
           "  body = \"b = a;\", sizes = { { row = 64, col = 48 } } }\n");
  fx_run(&r, "-V");
  fx_expect(&r, 0, "sectile " SCT_VERSION "\n", NULL);
  fx_run(&r, "profile", "plain", "-d", "a100", "--section", "launch", "--size", "row=64,col=48");
  fx_expect(&r, 0, "NVIDIA A100", NULL);
  fx_run(&r, "space", "plain", "-d", "h200", "--add-size", "row=10 col=20");
  fx_expect(&r, 0, NULL, NULL);
  fx_run(&r, "space", "plain", "-d", "h20");
  fx_expect(&r, 4, NULL, "did you mean 'h200'?");
  fx_write("k.cu", "__global__ void k() {}\n");
  fx_run(&r, "tune", "k.cu");
  fx_expect(&r, 2, NULL,
            "'k.cu' is a CUDA file, and `sectile tune` takes a spec: `sectile profile`");
  fx_write("dims.lua", "local s = require \"sectile\"\nreturn s.kernel { dims = \"n\" }\n");
  fx_run(&r, "check", "dims");
  fx_expect(&r, 3, NULL, "dims must be a table, not a string; write dims = { \"n\" }");
  fx_write("sizes.lua",
           "local s = require \"sectile\"\nreturn s.kernel { name = \"a\", dims = { \"n\" },\n"
           "  inputs = {}, outputs = { s.array(\"b\", \"f32\") }, body = \"b = 1.0f;\", sizes = { "
           "n = 9 } }\n");
  fx_run(&r, "check", "sizes");
  fx_expect(&r, 3, NULL, "sizes is a list; it has no 'n'; write sizes = { { n = ... } }");
  fx_free(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_command_has_its_help),
      cmocka_unit_test(examples_of_help_are_legal),
      cmocka_unit_test(help_ends_with_the_exit_codes),
      cmocka_unit_test(the_page_documents_the_tables),
      cmocka_unit_test(each_class_of_failure_has_its_exit_code),
      cmocka_unit_test(one_bad_spec_does_not_stop_the_others),
      cmocka_unit_test(a_name_that_is_an_example_is_told),
      cmocka_unit_test(output_that_cannot_be_written_is_an_error),
      cmocka_unit_test(errors_are_json_too),
      cmocka_unit_test(check_tells_the_arrays_of_every_size),
      cmocka_unit_test(devices_are_listed_without_a_gpu),
      cmocka_unit_test(a_gpu_is_calibrated),
      cmocka_unit_test(colour_is_for_terminals_without_no_color),
      cmocka_unit_test(words_that_newcomers_write),
  };
  return cmocka_run_group_tests(tests, fx_setup, fx_teardown);
}
