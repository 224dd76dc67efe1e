/* The command `transfer`: on virtual devices by the rates that they state, on a fake GPU timed;
 * what is stored is not timed again, what is refused is named. */
#include "cli_gpu_fixture.h"
#include "device/device.h"

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

static void a_virtual_peer_has_stated_rates(void **state) {
  (void)state;
  fx_result r = {0};
  fx_run(&r, "transfer", "-d", "virtual:h200,virtual:h200", "--store", "peer.db", "--json",
         "--sizes", "4K,1M");
  fx_expect(&r, 0, NULL, NULL);
  json_t *doc = fx_json(&r);
  assert_int_equal(json_array_size(json_object_get(doc, "transfers")), 24);
  const double nvlink = 25 * 18 * 0.87, pcie = 3.938 * 16 * 0.87;
  const json_t *peer = size_of(transfer(doc, "peer", "to peer"), 1);
  assert_true(is_near(number(peer, "median_ns"), 10000 + 1048576 / nvlink));
  const json_t *both = size_of(transfer(doc, "peer", "both ways"), 1);
  assert_true(is_near(number(both, "bytes_s"), 2 * number(peer, "bytes_s")));
  const json_t *staged = size_of(transfer(doc, "staged peer", "to device"), 1);
  assert_true(is_near(number(staged, "median_ns"), 10000 + 1048576 / pcie));
  assert_string_equal(json_string_value(json_object_get(json_object_get(doc, "peer"), "id")),
                      "virtual:h200");
  json_decref(doc);
  fx_run(&r, "transfer", "-d", "virtual:l40,virtual:h200", "--store", "peer.db", "--sizes", "1G");
  fx_expect(&r, 0, "NVIDIA L40 (virtual:l40), peer NVIDIA H200 (virtual:h200): stated", NULL);
  fx_expect(&r, 0, "\nto peer  peer  staged peer\n  1 GiB  27.4         27.4\n", NULL);
  fx_run(&r, "transfer", "-d", "virtual:h200,virtual:geforce_8800", "--store", "peer.db", "--sizes",
         "4K,1G");
  fx_expect(&r, 0, "peer: there is no peer access below compute capability 2.0\n", NULL);
  fx_expect(&r, 0, "staged peer, from 1 GiB on: two arrays of 1 GiB do not fit the second device's",
            NULL);
  fx_run(&r, "transfer", "-d", "virtual:h200", "--store", "peer.db", "--json", "--sizes", "4K");
  doc = fx_json(&r);
  assert_true(json_is_null(json_object_get(doc, "peer")));
  assert_int_equal(json_array_size(json_object_get(doc, "transfers")), 18);
  json_decref(doc);
  fx_free(&r);
}

static double peer_median(fx_result *r, const char *devices, const char *again) {
  fx_run(r, "transfer", "-d", devices, "--store", "peers.db", "--sizes", "4K,1M", "--json", again);
  fx_expect(r, 0, NULL, NULL);
  json_t *doc = fx_json(r);
  const double median = number(size_of(transfer(doc, "peer", "to peer"), 1), "median_ns");
  assert_true(number(transfer(doc, "staged peer", "both ways"), "best_bytes_s") > 0);
  assert_true(number(transfer(doc, "peer", "to device"), "made_ns") > 0);
  json_decref(doc);
  return median;
}

static void a_second_gpu_is_a_peer(void **state) {
  (void)state;
  fx_result r = {0};
  fx_fake("devices=3 lock=7");
  const double first = peer_median(&r, "cuda:0,cuda:1", "-q");
  assert_true(first > 0 && peer_median(&r, "cuda:0,cuda:1", "-q") == first);
  (void)peer_median(&r, "cuda:2,cuda:1", "-q");
  fx_run(&r, "export", "--store", "peers.db"); /* by the second device */
  fx_expect(&r, 0, "\"peer to peer GPU-00000000-0000-0000-0000-000000000001\"", NULL);
  fx_expect(&r, 0, "\"staged peer setup GPU-00000000-0000-0000-0000-000000000001\"", NULL);
  fx_fake("devices=2 1:memory=1e6"); /* two arrays of 256 KiB are all that it has room for */
  fx_run(&r, "transfer", "-d", "cuda:0,cuda:1", "--store", "small.db", "--sizes", "4K,256K,1M");
  fx_expect(&r, 0, "\npeer, from 1 MiB on: cuMemAlloc failed: CUDA_ERROR_OUT_OF_MEMORY (2)", NULL);
  fx_expect(&r, 0, "\n256 KiB  ", NULL);
  fx_fake("devices=2 nopeer");
  fx_run(&r, "transfer", "-d", "cuda:0,cuda:1", "--store", "far.db", "--sizes", "4K");
  fx_expect(&r, 0,
            "\npeer: cuDeviceCanAccessPeer failed: CUDA_ERROR_PEER_ACCESS_UNSUPPORTED (217), one "
            "device cannot access the other's memory\n",
            NULL);
  fx_expect(&r, 0, "\nstaged peer     to peer ", NULL);
  fx_free(&r);
}

static void which_two_is_said(void **state) {
  (void)state;
  fx_result r = {0};
  fx_fake("devices=2");
  static const char *const wrong[][2] = {
      {"cuda:0,", "--device: expected a device, or two with a comma between them"},
      {",cuda:0", "--device: expected a device, or two with a comma between them"},
      {"cuda:0,cuda:1,cuda:2", "--device: expected a device, or two with a comma between them"},
      {"cuda:0,cuda:0", "cuda:0 is one device: expected another one to copy to"},
      {"cuda:0,virtual:h200",
       "nothing is copied between cuda:0 and virtual:h200: expected two GPUs"},
      {"virtual:h200,cuda:0",
       "nothing is copied between virtual:h200 and cuda:0: expected two GPUs"},
      {"cuda:0,replay:gpu.db", "a replay has no transfers"}};
  for (int k = 0; k < SCT_COUNT(wrong); k++) {
    fx_run(&r, "transfer", "-d", wrong[k][0], "--store", "t.db", "--sizes", "4K");
    fx_expect(&r, 2, NULL, wrong[k][1]);
  }
  fx_run(&r, "transfer", "-d", "cuda:0,cuda:2", "--store", "t.db", "--sizes", "4K");
  fx_expect(&r, 4, NULL, "there is no device cuda:2");
  int fd = -1; /* each of both may be another session's */
  fx_fake("devices=2 lock=7");
  assert_int_equal(sct_lock_take(&fd, "fake-7-1", NULL), SCT_OK);
  fx_run(&r, "transfer", "-d", "cuda:0,cuda:1", "--store", "t.db", "--sizes", "4K");
  fx_expect(&r, 75, NULL, "cuda:1 (Fake GPU) is being timed by process ");
  sct_lock_release(&fd);
  fx_fake("devices=2 1:gone=1"); /* it answers, and cannot be opened */
  fx_run(&r, "transfer", "-d", "cuda:0,cuda:1", "--store", "gone.db", "--sizes", "4K");
  fx_expect(&r, 6, NULL, "cuInit failed");
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
  fx_run(&r, "transfer", "spec.lua", "other.lua");
  fx_expect(&r, 2, NULL, NULL);
  fx_free(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_virtual_device_has_stated_rates),
      cmocka_unit_test(what_is_refused_is_named_and_the_others_go_on),
      cmocka_unit_test(a_virtual_peer_has_stated_rates),
      cmocka_unit_test(a_second_gpu_is_a_peer),
      cmocka_unit_test(what_is_stored_is_not_timed_again),
      cmocka_unit_test(the_time_is_limited),
      cmocka_unit_test(what_cannot_be_is_said),
      cmocka_unit_test(which_two_is_said),
  };
  return cmocka_run_group_tests(tests, fx_gpu_setup, fx_teardown);
}
