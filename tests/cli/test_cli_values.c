/* Numbers, durations and the parsing of arguments: what is read, and what is said of the rest. */
#include "cli/cli_internal.h"
#include "cli_fixture.h"

/* ---- values ---- */

static void durations_are_read_in_their_unit(void **state) {
  (void)state;
  static const struct {
    const char *text;
    int64_t ns;
  } good[] = {{"500ms", 500000000},  {"60s", 60000000000},   {"5m", 300000000000},
              {"1.5m", 90000000000}, {"2min", 120000000000}, {"1h", 3600000000000},
              {".5s", 500000000},    {"0.25ms", 250000},     {"720h", 2592000000000000}};
  for (int k = 0; k < SCT_COUNT(good); k++) {
    int64_t ns = -1;
    sct_error err = {0};
    assert_int_equal(cli_read_duration(&ns, "budget", good[k].text, &err), SCT_OK);
    assert_int_equal(ns, good[k].ns);
  }
}

static void bad_durations_say_what_was_expected(void **state) {
  (void)state;
  static const char *const bad[] = {"",   "60",  "s",     "-5s",   "0s",    "5 s",
                                    "5x", "5ss", "nans",  "infs",  "1e30h", "721h",
                                    "0x", "+3s", "0x10s", "1.5x2s"};
  for (int k = 0; k < SCT_COUNT(bad); k++) {
    int64_t ns = 77;
    sct_error err = {0};
    assert_int_equal(cli_read_duration(&ns, "budget", bad[k], &err), SCT_EUSAGE);
    assert_int_equal(ns, 77);
    assert_non_null(strstr(err.text, "--budget"));
    assert_non_null(strstr(err.text, "as in 500ms, 60s or 1.5m"));
  }
}

static void sizes_are_sorted(void **state) {
  (void)state;
  int64_t sizes[4] = {0};
  int n = 0;
  sct_error err = {0};
  assert_int_equal(
      cli_read_sizes(sizes, &n, 4, "sizes", "1G,4K,1.5M,4096,16", 16, (int64_t)1 << 30, &err),
      SCT_OK);
  assert_int_equal(n, 4);
  const int64_t sorted[] = {16, 4096, 1572864, 1073741824};
  assert_memory_equal(sizes, sorted, sizeof sorted);
  static const char *const bad[] = {
      "",   ",",   "4K,", "4K,,8K", "0",   "-16", "24", "4k",  "nan",           "0x10",
      "2G", "4KB", "inf", "1e99",   "1.1", "4 K", "K",  "1e3", "16,32,48,64,80"};
  for (int k = 0; k < SCT_COUNT(bad); k++) {
    if (cli_read_sizes(sizes, &n, 4, "sizes", bad[k], 16, (int64_t)1 << 30, &err) != SCT_EUSAGE) {
      fail_msg("'%s' is a list of sizes", bad[k]);
    }
    assert_non_null(strstr(err.text, "up to 4 sizes in bytes"));
    assert_non_null(strstr(err.text, "multiples of 16 bytes up to 1 GiB"));
  }
}

static void numbers_are_held_to_their_range(void **state) {
  (void)state;
  int64_t n = 0;
  sct_error err = {0};
  assert_int_equal(cli_read_number(&n, "seed", "42", 0, 100, &err), SCT_OK);
  assert_int_equal(n, 42);
  assert_int_equal(cli_read_number(&n, "seed", "0x1F", 0, 100, &err), SCT_OK);
  assert_int_equal(n, 31);
  assert_int_equal(cli_read_number(&n, "seed", "010", 0, 100, &err), SCT_OK);
  assert_int_equal(n, 10);
  assert_int_equal(cli_read_number(&n, "seed", "9223372036854775807", 0, INT64_MAX, &err), SCT_OK);
  assert_true(n == INT64_MAX);
  static const char *const bad[] = {"", "x", "4x", "1.5", "101", "-1", " 7", "9223372036854775808"};
  for (int k = 0; k < SCT_COUNT(bad); k++) {
    n = 77;
    assert_int_equal(cli_read_number(&n, "top", bad[k], 0, 100, &err), SCT_EUSAGE);
    assert_int_equal(n, 77);
    assert_non_null(strstr(err.text, "a whole number from 0 to 100"));
  }
}

/* ---- arguments ---- */

static sct_status parse(cli_args *args, sct_error *err, const char *const *words) {
  static char *argv[32]; /* what is parsed borrows it */
  int argc = 1;
  argv[0] = (char *)(uintptr_t) "sectile";
  for (; words[argc - 1]; argc++) {
    argv[argc] = (char *)(uintptr_t)words[argc - 1];
  }
  argv[argc] = NULL;
  return cli_parse(args, argc, argv, err);
}
#define PARSE(args, err, ...) parse((args), (err), (const char *const[]){__VA_ARGS__, NULL})

static void every_option_lands_in_its_field(void **state) {
  (void)state;
  cli_args a;
  sct_error err = {0};
  assert_int_equal(PARSE(&a, &err, "--json", "--store", "s.db", "tune", "--budget=2s", "a.lua",
                         "-d", "virtual:h200", "b.lua", "--select", "any", "--again", "--seed", "9",
                         "--strategies", "mine", "--top", "3", "-vv", "--assets=top"),
                   SCT_OK);
  assert_string_equal(a.command->name, "tune");
  assert_true(a.json && a.again && a.select_any);
  assert_string_equal(a.store, "s.db");
  assert_string_equal(a.device, "virtual:h200");
  assert_string_equal(a.strategies, "mine");
  assert_string_equal(a.assets, "top");
  assert_true(a.budget_ns == 2000000000);
  assert_true(a.seed == 9);
  assert_int_equal(a.top, 3);
  assert_int_equal(a.verbosity, 2);
  assert_int_equal(a.n_words, 2);
  assert_string_equal(a.words[0], "a.lua");
  assert_string_equal(a.words[1], "b.lua");

  assert_int_equal(PARSE(&a, &err, "gen", "--pick", "direct t256", "--list", "-q", "x.lua"),
                   SCT_OK);
  assert_string_equal(a.pick, "direct t256");
  assert_true(a.list && !a.json);
  assert_int_equal(a.verbosity, -1);
  assert_int_equal(PARSE(&a, &err, "emit", "x", "-o", "x.h"), SCT_OK);
  assert_string_equal(a.out, "x.h");
}

static void what_is_not_given_has_its_default(void **state) {
  (void)state;
  cli_args a;
  sct_error err = {0};
  assert_int_equal(PARSE(&a, &err, "tune", "a.lua"), SCT_OK);
  assert_null(a.store);
  assert_null(a.device);
  assert_true(a.budget_ns == 0 && a.seed == 1 && a.top == 10 && !a.select_any && !a.again);
  assert_int_equal(PARSE(&a, &err, "devices"), SCT_OK);
  assert_int_equal(a.n_words, 0);
}

static void help_needs_no_words(void **state) {
  (void)state;
  cli_args a;
  sct_error err = {0};
  assert_int_equal(PARSE(&a, &err, "tune", "--help"), SCT_OK);
  assert_true(a.help);
  assert_int_equal(PARSE(&a, &err, "help", "emit"), SCT_OK);
  assert_true(a.help);
  assert_string_equal(a.command->name, "emit");
  assert_int_equal(PARSE(&a, &err, "-h"), SCT_OK);
  assert_true(a.help);
  assert_null(a.command);
}

static void mistakes_name_the_nearest_legal_thing(void **state) {
  (void)state;
  static const struct {
    const char *words[5];
    const char *says;
  } bad[] = {
      {{"tun", "x"}, "did you mean 'tune'?"},
      {{"frobnicate"}, "expected one of devices, check, space"},
      {{"help", "emitt"}, "did you mean 'emit'?"},
      {{"tune", "--bugdet", "5s", "x"}, "did you mean '--budget'?"},
      {{"tune", "--bugdet=5s", "x"}, "no option '--bugdet'; did"},
      {{"--jsn"}, "`sectile` has no option '--jsn'; did you mean '--json'?"},
      {{"gen", "--top", "3", "x"}, "it belongs to `sectile tune`"},
      {{"check", "--device", "x", "x"}, "it belongs to `sectile devices` and `sectile space` and"},
      {{"tune", "--s", "x"},
       "could be any of --store, --select, --search, --shard, --seed, --strategies"},
      {{"devices", "-x"}, "no option '-x'"},
      {{"devices", "--json=1"}, "'--json' takes no value"},
      {{"tune", "x", "--budget"}, "'--budget' needs a value: time limit"},
      {{"emit", "x", "-o"}, "'--out' needs a value"},
      {{"tune", "x", "--select", "ani"}, "did you mean 'any'?"},
      {{"tune", "x", "--search", "modell"}, "did you mean 'model'?"},
      {{"tune", "x", "--max-candidates", "0"}, "from 1 to 1000000"},
      {{"tune", "x", "--shard", "5/4"}, "from 1 to 4"},
      {{"tune", "x", "--shard", "3"}, "expected K/N, as in 1/4"},
      {{"tune", "x", "--store="}, "--store: expected a value that is not empty"},
      {{"tune"}, "usage: sectile tune SPEC... [options]"},
      {{"emit"}, "needs a SPEC|NAME"},
      {{"compare", "x"}, "needs A B; usage: "},
      {{"gen", "a", "b"}, "'b' is one word too many"},
      {{"devices", "a"}, "'a' is one word too many"},
  };
  for (int k = 0; k < SCT_COUNT(bad); k++) {
    cli_args a;
    sct_error err = {0};
    assert_int_equal(parse(&a, &err, bad[k].words), SCT_EUSAGE);
    if (!strstr(err.text, bad[k].says)) {
      fail_msg("case %d says: %s", k, err.text);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(durations_are_read_in_their_unit),
      cmocka_unit_test(bad_durations_say_what_was_expected),
      cmocka_unit_test(sizes_are_sorted),
      cmocka_unit_test(numbers_are_held_to_their_range),
      cmocka_unit_test(every_option_lands_in_its_field),
      cmocka_unit_test(what_is_not_given_has_its_default),
      cmocka_unit_test(help_needs_no_words),
      cmocka_unit_test(mistakes_name_the_nearest_legal_thing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
