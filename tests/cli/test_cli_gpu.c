/* The program on a GPU that others use too: a fake one (SECTILE_FAKE_GPU), whose script says who.
 */
#include "device/device.h"

#include "cli_gpu_fixture.h"

#define TUNE                                                                                       \
  "tune", "copy.lua", "-d", "cuda:0", "--store", "gpu.db", "--no-virtual-check", "--assets",       \
      "assets"

static void a_gpu_that_is_held_is_refused_or_waited_for(void **state) {
  (void)state;
  fx_result r = {0};
  int fd;
  fx_fake("lock=1");
  assert_int_equal(sct_lock_take(&fd, "fake-1-0", NULL), SCT_OK);
  fx_run(&r, TUNE);
  char who[64];
  snprintf(who, sizeof who, "cuda:0 (Fake GPU) is being timed by process %ld (", (long)getpid());
  fx_expect(&r, 75, NULL, who);
  fx_run(&r, TUNE, "--wait", "50ms");
  fx_expect(&r, 75, NULL, "; waiting up to 50 ms");
  fx_expect(&r, 75, NULL, "it was not free within 50 ms");
  fx_run(&r, "space", "copy.lua", "-d", "cuda:0"); /* asks, times nothing */
  fx_expect(&r, 0, "copy", NULL);
  const pid_t pid = fx_start((const char *const[]){TUNE, "--wait", "1h", NULL});
  sct_str said = {0};
  while (!strstr(sct_str_c(&said), "waiting up to 1 h") &&
         !strstr(sct_str_c(&said), "waiting up to 3600")) {
    usleep(10000);
    (void)!sct_file_read(&said, fx_path("stderr"), NULL);
  }
  sct_str_free(&said);
  sct_lock_release(&fd);
  fx_free(&r);
  fx_finish(&r, pid);
  fx_expect(&r, 0, "copy on cuda:0 (Fake GPU, CC 9.0): timed", NULL);
  fx_free(&r);
}

static const json_t *conditions(json_t *doc) {
  const json_t *tuned = json_array_get(json_object_get(doc, "tuned"), 0);
  return json_object_get(json_object_get(tuned, "report"), "conditions");
}

static void conditions_are_told_and_stored(void **state) {
  (void)state;
  fx_result r = {0};
  fx_fake("others=2 throttle=4 mig");
  fx_run(&r, TUNE, "--json", "--again");
  fx_expect(&r, 0, NULL, "cuda:0 is contended: process 4000 (else) with 1 MiB, 4001 (else)");
  json_t *doc = fx_json(&r);
  const json_t *c = conditions(doc);
  assert_true(json_is_true(json_object_get(c, "contended")));
  assert_true(json_is_true(json_object_get(c, "mig")));
  assert_true(json_is_false(json_object_get(c, "mps")));
  assert_int_equal(json_integer_value(json_object_get(c, "n_others")), 2);
  const json_t *other = json_array_get(json_object_get(c, "others"), 1);
  assert_int_equal(json_integer_value(json_object_get(other, "pid")), 4001);
  assert_string_equal(json_string_value(json_object_get(c, "compute_mode")), "default");
  const json_t *samples = json_object_get(c, "samples");
  assert_true(json_integer_value(json_object_get(samples, "n")) > 0);
  assert_int_equal(json_integer_value(json_object_get(samples, "slow")), 0);
  const json_t *throttle = json_object_get(samples, "throttle");
  assert_int_equal(json_array_size(throttle), 1);
  assert_string_equal(json_string_value(json_array_get(throttle, 0)), "power_cap");
  assert_true(json_real_value(json_object_get(json_object_get(c, "clocks"), "sm_mhz_least")) ==
              1980.0);
  json_decref(doc);
  sct_str bytes = {0}; /* the store holds them as well */
  assert_int_equal(sct_file_read(&bytes, fx_path("gpu.db-wal"), NULL) == SCT_OK ||
                       sct_file_read(&bytes, fx_path("gpu.db"), NULL) == SCT_OK,
                   1);
  assert_non_null(memmem(bytes.data, bytes.len, "\"contended\":true", 16));
  sct_str_free(&bytes);
  fx_run(&r, TUNE);
  fx_expect(&r, 0, "contended: other processes computed on the GPU", NULL);
  fx_fake("heat=12");
  fx_run(&r, TUNE, "--again");
  fx_expect(&r, 0, "samples at a low clock or under hardware slowdown: too hot", NULL);
  fx_free(&r);
}

/* Another process comes when some candidates are timed, and ends before the rest. */
static void who_comes_during_the_session_is_told(void **state) {
  (void)state;
  fx_result r = {0};
  sct_str text = {0};
  fx_fake("joins=60 leaves=100");
  fx_run(&r, TUNE, "--json", "--again", "--events", "stream");
  fx_expect(&r, 0, NULL,
            "cuda:0 is contended: process 4000 (else) with 1 MiB began to compute on it");
  fx_expect(&r, 0, NULL, "cuda:0 is no longer contended");
  json_t *doc = fx_json(&r);
  const json_t *c = conditions(doc), *samples = json_object_get(c, "samples");
  assert_true(json_is_true(json_object_get(c, "contended")));
  assert_int_equal(json_integer_value(json_object_get(c, "n_others")), 0);
  assert_int_equal(json_integer_value(json_object_get(json_object_get(c, "joined"), "pid")), 4000);
  const int64_t n = json_integer_value(json_object_get(samples, "contended"));
  assert_true(n > 0 && n < json_integer_value(json_object_get(samples, "n")));
  json_decref(doc);
  assert_int_equal(sct_file_read(&text, fx_path("stream"), NULL), SCT_OK);
  json_t *events = fx_events(sct_str_c(&text));
  const json_t *event;
  size_t k;
  int n_marked = 0;
  json_array_foreach(events, k, event) {
    n_marked += json_integer_value(json_object_get(event, "contended_samples")) > 0;
  }
  assert_true(n_marked > 0 && n_marked < fx_count(events, "timed"));
  json_decref(events);
  sct_str_free(&text);
  fx_run(&r, TUNE, "--again");
  fx_expect(&r, 0, "samples were taken next to a process that came during the session", NULL);
  fx_fake("ok");
  fx_run(&r, TUNE, "--again", "--json");
  doc = fx_json(&r);
  assert_true(json_is_false(json_object_get(conditions(doc), "contended")));
  assert_true(json_is_null(json_object_get(conditions(doc), "joined")));
  json_decref(doc);
  fx_free(&r);
}

static void refusals(void **state) {
  (void)state;
  fx_result r = {0};
  fx_fake("mps=1");
  fx_run(&r, TUNE);
  fx_expect(&r, 75, NULL, "the Multi-Process Service (MPS) is in front of cuda:0");
  fx_run(&r, TUNE, "--force");
  fx_expect(&r, 0, NULL, "contended");
  fx_fake("mode=2");
  fx_run(&r, TUNE);
  fx_expect(&r, 4, NULL, "prohibited compute mode");
  fx_fake("refuse214@1");
  fx_run(&r, TUNE, "--again");
  fx_expect(&r, 6, NULL, "CUDA_ERROR_ECC_UNCORRECTABLE (214)");
  fx_free(&r);
}

/* Verifying and timing take turns, candidate by candidate: that is no news. */
static void expect_each_phase_once(const json_t *events) {
  json_t *seen = json_object();
  const json_t *event;
  size_t k;
  json_array_foreach(events, k, event) {
    const char *phase = json_string_value(json_object_get(event, "phase"));
    if (phase) {
      assert_null(json_object_get(seen, phase));
      json_object_set_new(seen, phase, json_true());
    }
  }
  assert_non_null(json_object_get(seen, "verify"));
  assert_non_null(json_object_get(seen, "time"));
  json_decref(seen);
}

static void events_tell_the_session(void **state) {
  (void)state;
  fx_result r = {0};
  sct_str text = {0};
  fx_fake("others=1 wrong@1 throttle=4");
  fx_run(&r, TUNE, "--again", "--json", "--events", "stream");
  fx_expect(&r, 0, NULL, NULL);
  json_t *doc = fx_json(&r); /* beside the stream, as ever */
  assert_int_equal(sct_file_read(&text, fx_path("stream"), NULL), SCT_OK);
  json_t *events = fx_events(sct_str_c(&text));
  const int n_kernels =
      (int)json_integer_value(json_object_get(fx_event(events, "start"), "sources"));
  assert_int_equal(n_kernels, 8); /* of the naive strategy */
  const json_t *conditions = json_object_get(fx_event(events, "start"), "conditions");
  assert_true(json_is_true(json_object_get(conditions, "contended")));
  assert_int_equal(fx_count(events, "spec"), 1);
  assert_int_equal(fx_count(events, "start"), 1);
  assert_true(fx_count(events, "phase") >= 5);
  expect_each_phase_once(events);
  assert_int_equal(fx_count(events, "candidate"), 1);
  assert_string_equal(json_string_value(json_object_get(fx_event(events, "candidate"), "outcome")),
                      "wrong_result");
  assert_int_equal(fx_count(events, "timed"), n_kernels - 1);
  assert_true(json_real_value(json_object_get(fx_event(events, "timed"), "median_ns")) > 0);
  assert_string_equal(json_string_value(json_object_get(fx_event(events, "timed"), "throttle")),
                      "power_cap");
  assert_true(fx_count(events, "race") >= 1);
  assert_true(json_integer_value(json_object_get(fx_event(events, "race"), "rounds")) >= 7);
  assert_int_equal(fx_count(events, "size"), 1);
  assert_true(json_is_string(json_object_get(fx_event(events, "size"), "winner")));
  const json_t *end = json_array_get(events, json_array_size(events) - 1);
  assert_string_equal(json_string_value(json_object_get(end, "event")), "end");
  assert_true(
      json_equal(json_object_get(end, "report"),
                 json_object_get(json_array_get(json_object_get(doc, "tuned"), 0), "report")));
  json_decref(events);
  json_decref(doc);

  fx_run(&r, TUNE, "--again", "--json", "--events", "-"); /* in place of the document */
  fx_expect(&r, 0, NULL, NULL);
  events = fx_events(sct_str_c(&r.out));
  assert_int_equal(fx_count(events, "end"), 1);
  json_decref(events);
  fx_fake("mode=2"); /* a session that cannot begin */
  fx_run(&r, TUNE, "--events", "-");
  fx_expect(&r, 4, NULL, NULL);
  events = fx_events(sct_str_c(&r.out));
  assert_int_equal(json_array_size(events), 2);
  assert_int_equal(json_integer_value(json_object_get(fx_event(events, "end"), "exit_code")), 4);
  json_decref(events);
  fx_run(&r, TUNE, "--events", "no/such/folder");
  fx_expect(&r, 1, NULL, "cannot write events to 'no/such/folder'");
  fx_fake("ok");
  fx_run(&r, TUNE, "--events", "/dev/full", "--json"); /* the session goes on, and it is said */
  fx_expect(&r, 1, NULL, "the events are not complete: No space left");
  doc = fx_json(&r);
  assert_int_equal(json_integer_value(json_object_get(doc, "exit_code")), 1);
  assert_int_equal(json_array_size(json_object_get(doc, "tuned")), 1);
  json_decref(doc);
  sct_str_free(&text);
  fx_free(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_gpu_that_is_held_is_refused_or_waited_for),
      cmocka_unit_test(conditions_are_told_and_stored),
      cmocka_unit_test(who_comes_during_the_session_is_told),
      cmocka_unit_test(refusals),
      cmocka_unit_test(events_tell_the_session),
  };
  return cmocka_run_group_tests(tests, fx_gpu_setup, fx_teardown);
}
