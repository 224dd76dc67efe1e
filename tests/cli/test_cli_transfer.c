/* The command `transfer`: on virtual devices by the rates that they state, on a fake GPU timed;
 * what is stored is not timed again, what is refused is named. */
#include "cli_gpu_fixture.h"

#include <math.h>

static const json_t *transfer(const json_t *doc, const char *memory, const char *way) {
  const json_t *row = NULL;
  size_t k = 0;
  json_array_foreach(json_object_get(doc, "transfers"), k, row) {
    if (strcmp(json_string_value(json_object_get(row, "memory")), memory) == 0 &&
        strcmp(json_string_value(json_object_get(row, "way")), way) == 0) {
      return row;
    }
  }
  fail_msg("no %s %s", memory, way);
  return NULL;
}

static double number(const json_t *object, const char *key) {
  return json_number_value(json_object_get(object, key));
}

static const json_t *size_of(const json_t *row, int z) {
  return json_array_get(json_object_get(row, "sizes"), (size_t)z);
}

static bool is_near(double a, double b) {
  return fabs(a - b) <= 1e-9 * fabs(b);
}

static void a_virtual_device_has_stated_rates(void **state) {
  (void)state;
  fx_result r = {0};
  fx_run(&r, "transfer", "-d", "virtual:h200", "--store", "t.db", "--json", "--sizes",
         "16M,4K,64K,1M");
  fx_expect(&r, 0, NULL, NULL);
  json_t *doc = fx_json(&r);
  assert_true(json_is_false(json_object_get(doc, "timed")));
  assert_int_equal(json_array_size(json_object_get(doc, "transfers")), 18);
  const double link = 3.938 * 16 * 0.87;                         /* GB/s, bytes a ns */
  const json_t *row = transfer(doc, "page-locked", "to device"); /* 10 us and the link */
  assert_true(is_near(number(row, "latency_ns"), 10000 + 4096 / link));
  assert_true(is_near(number(size_of(row, 3), "median_ns"), 10000 + 16777216 / link));
  assert_true(is_near(number(size_of(row, 3), "bytes_s"), number(row, "best_bytes_s")));
  const double best = number(row, "best_bytes_s") / 1e9;
  const double half = number(row, "half_bytes"); /* half / (10 us + half / link) = best / 2 */
  assert_true(is_near(half / (10000 + half / link), best / 2));
  const json_t *both = transfer(doc, "page-locked", "both ways");
  assert_true(is_near(number(both, "best_bytes_s"), 2 * number(row, "best_bytes_s")));
  const json_t *pageable = transfer(doc, "pageable", "to host"); /* and 13 GB/s on the host */
  assert_true(is_near(number(size_of(pageable, 0), "median_ns"), 10000 + 4096 / link + 4096 / 13.));
  assert_true(json_is_null(json_object_get(pageable, "made_ns")));
  json_decref(doc);
  fx_run(&r, "transfer", "-d", "virtual:h200", "--store", "t.db", "--sizes", "16");
  fx_expect(&r, 0, "NVIDIA H200 (virtual:h200): stated rates, not timed", NULL);
  fx_free(&r);
}

static void what_is_refused_is_named_and_the_others_go_on(void **state) {
  (void)state;
  fx_result r = {0};
  fx_run(&r, "transfer", "-d", "virtual:geforce_8800", "--store", "t.db", "--sizes", "4K,1G,256M");
  fx_expect(&r, 0, "managed: there is no prefetch below compute capability 6.0\n", NULL);
  fx_expect(&r, 0, "page-locked, from 1 GiB on: two arrays of 1 GiB do not fit the device's ",
            NULL);
  fx_expect(&r, 0, "\n  256 MiB  ", NULL); /* smaller arrays are tried */
  fx_run(&r, "transfer", "-d", "virtual:geforce_8800", "--store", "t.db", "--sizes", "4K,1G",
         "--json"); /* from the store */
  json_t *doc = fx_json(&r);
  const json_t *managed = size_of(transfer(doc, "managed", "to host"), 0);
  assert_string_equal(json_string_value(json_object_get(managed, "failure")),
                      "there is no prefetch below compute capability 6.0");
  assert_true(json_is_null(json_object_get(managed, "median_ns")));
  const json_t *locked = transfer(doc, "page-locked", "to host");
  assert_true(json_is_null(json_object_get(size_of(locked, 0), "failure")));
  assert_true(json_is_string(json_object_get(size_of(locked, 1), "failure")));
  json_decref(doc);
  fx_free(&r);
}

/* The median of the first size of page-locked memory to the device, of a run on a fake GPU. */
static double first_median(fx_result *r, const char *again) {
  fx_run(r, "transfer", "-d", "cuda:0", "--store", "gpu.db", "--sizes", "4K,1M", "--json", again);
  fx_expect(r, 0, NULL, NULL);
  json_t *doc = fx_json(r);
  assert_true(json_is_true(json_object_get(doc, "timed")));
  const json_t *row = transfer(doc, "page-locked", "to device");
  assert_true(number(row, "made_ns") > 0);
  const double median = number(size_of(row, 0), "median_ns");
  assert_true(median > 0 && number(size_of(row, 0), "q1_ns") <= median &&
              number(size_of(row, 0), "q3_ns") >= median);
  json_decref(doc);
  return median;
}

static void what_is_stored_is_not_timed_again(void **state) {
  (void)state;
  fx_result r = {0};
  fx_fake("ok");
  const double first = first_median(&r, "-q");
  assert_true(first_median(&r, "-q") == first);
  (void)first_median(&r, "--again"); /* perhaps the same again: what was is an earlier outcome */
  fx_run(&r, "export", "--store", "gpu.db");
  json_t *doc = fx_json(&r);
  const json_t *problem = json_array_get(json_object_get(doc, "problems"), 0);
  assert_string_equal(json_string_value(json_object_get(problem, "name")), "transfer");
  assert_non_null(strstr(sct_str_c(&r.out), "write-combined both ways"));
  assert_non_null(strstr(sct_str_c(&r.out), "page-locked setup"));
  json_decref(doc);
  fx_run(&r, "merge", "all.db", "gpu.db", "t.db");
  fx_expect(&r, 0, NULL, NULL);
  fx_run(&r, "emit", "transfer", "--store", "all.db");
  fx_expect(&r, 8, NULL, "'transfer' is no kernel that `sectile tune` made");
  fx_free(&r);
}

static void the_time_is_limited(void **state) {
  (void)state;
  fx_result r = {0};
  fx_fake("ok");
  fx_run(&r, "transfer", "-d", "cuda:0", "--store", "late.db", "--budget", "0.00001ms");
  fx_expect(&r, 0, "managed: no time was left for it (--budget)", NULL);
  fx_run(&r, "transfer", "-d", "cuda:0", "--store", "late.db", "--sizes", "4K"); /* not stored */
  fx_expect(&r, 0, "managed         both ways", NULL);
  fx_free(&r);
}

static void what_cannot_be_is_said(void **state) {
  (void)state;
  fx_result r = {0};
  fx_fake("none");
  fx_run(&r, "transfer", "--sizes", "10");
  fx_expect(&r, 2, NULL, "--sizes '10': expected up to 24 sizes");
  fx_run(&r, "transfer", "-d", "cuda:0", "--store", "t.db");
  fx_expect(&r, 4, NULL, "the fake driver was not found");
  fx_fake("ok");
  fx_run(&r, "tune", "copy.lua", "-d", "cuda:0", "--store", "gpu.db", "--no-virtual-check",
         "--assets", "assets");
  fx_run(&r, "transfer", "-d", "replay:gpu.db", "--store", "t.db");
  fx_expect(&r, 2, NULL, "a replay has no transfers");
  fx_run(&r, "transfer", "spec.lua");
  fx_expect(&r, 2, NULL, NULL);
  fx_free(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_virtual_device_has_stated_rates),
      cmocka_unit_test(what_is_refused_is_named_and_the_others_go_on),
      cmocka_unit_test(what_is_stored_is_not_timed_again),
      cmocka_unit_test(the_time_is_limited),
      cmocka_unit_test(what_cannot_be_is_said),
  };
  return cmocka_run_group_tests(tests, fx_gpu_setup, fx_teardown);
}
