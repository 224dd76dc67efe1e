/* Who else uses the GPU, and how the GPU itself is: locks between sessions, refusals and warnings,
 * throttling, and a GPU that fails. The fake GPU says what its script tells it to. */
#include "measure_fixture.h"

#include "measure/measure_session.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

typedef struct world {
  sct_spec spec;
  sct_measure *m;
  fixture_kernel kernel[2]; /* 0: the naive variant */
} world;

static char folder[64];
static const int first_layout[SCT_MAX_OPERANDS];
static const fixture_array arrays[] = {{.name = "a", .types = "f32", .layout = FIXTURE_AOS},
                                       {.name = "b", .types = "f32", .layout = FIXTURE_AOS}};
static const int64_t extents[] = {30011};

static int set_up(void **state) {
  (void)state;
  snprintf(folder, sizeof folder, "/tmp/sct_open_XXXXXX");
  assert_non_null(mkdtemp(folder));
  return setenv("XDG_RUNTIME_DIR", folder, 1);
}

static int tear_down(void **state) {
  (void)state;
  char command[96];
  snprintf(command, sizeof command, "rm -r '%s'", folder);
  return system(command);
}

static sct_status open_with(sct_measure **m, sct_measure_opts opts) {
  *m = NULL;
  memset(&fixture_err, 0, sizeof fixture_err);
  return sct_measure_open(m, 0, &opts, &fixture_err);
}

static void open_world(world *w, const char *script) {
  memset(w, 0, sizeof *w);
  fixture_spec(&w->spec, "i", arrays, 1, 2, NULL, "b = a;", extents);
  for (int k = 0; k < 2; k++) {
    fixture_kernel_init(&w->kernel[k], &w->spec, k, 128);
  }
  assert_ok(open_with(&w->m, (sct_measure_opts){.fake = script, .seed = 3}));
  assert_ok(sct_measure_problem(w->m, &w->spec, first_layout, &w->kernel[0].binary, &fixture_err));
}

static void close_world(world *w) {
  sct_measure_close(w->m);
  sct_spec_free(&w->spec);
}

static sct_status time_kernel(world *w, sct_timing *t) {
  return sct_measure_time(w->m, &w->kernel[1].binary, &w->spec.sizes[0], 0, t, &fixture_err);
}

static void refused(const char *script, sct_status expected, const char *says) {
  sct_measure *m;
  const sct_status status = open_with(&m, (sct_measure_opts){.fake = script});
  if (status != expected || !strstr(fixture_err.text, says)) {
    print_error("%s: status %d: %s\n", script, status, fixture_err.text);
  }
  assert_int_equal(status, expected);
  assert_non_null(strstr(fixture_err.text, says));
  assert_null(m);
}

/* ---- locks ---- */

static void test_a_second_session_is_refused(void **state) {
  (void)state;
  sct_measure *first, *second;
  char number[32];
  assert_ok(open_with(&first, (sct_measure_opts){.fake = "lock=7 devices=2"}));
  snprintf(number, sizeof number, "process %ld (", (long)getpid());
  refused("lock=7", SCT_EBUSY, number);
  assert_non_null(strstr(fixture_err.text, "cuda:0 (Fake GPU) is being timed by "));
  assert_non_null(strstr(fixture_err.text, "--wait TIME waits for it"));
  assert_ok(open_with(&second, (sct_measure_opts){.fake = "lock=8"})); /* another GPU */
  sct_measure_close(second);
  assert_int_equal(
      sct_measure_open(&second, 1, &(sct_measure_opts){.fake = "lock=7 devices=2"}, &fixture_err),
      SCT_OK);
  sct_measure_close(second);
  /* only asking what it is disturbs nobody */
  assert_ok(open_with(&second, (sct_measure_opts){.fake = "lock=7", .look_only = true}));
  assert_string_equal(sct_measure_device(second)->name, "Fake GPU");
  sct_measure_close(second);
  sct_measure_close(first);
  assert_ok(open_with(&second, (sct_measure_opts){.fake = "lock=7"}));
  sct_measure_close(second);
}

/* A second device is held, and left to the first one's worker. */
static void test_a_peer_is_held_and_not_opened(void **state) {
  (void)state;
  sct_measure *first, *peer;
  sct_timing t;
  double made_ns = 0;
  const char script[] = "devices=2 1:lock=7";
  sct_ask_transfer ask = {.kind = SCT_HOST_PEER,
                          .way = SCT_BOTH_WAYS,
                          .bytes = 4096,
                          .room = 4096,
                          .least = 3,
                          .most = 3};
  assert_ok(open_with(&first, (sct_measure_opts){.fake = script}));
  const sct_measure_opts hold = {.fake = script, .hold_only = true};
  assert_ok(sct_measure_open(&peer, 1, &hold, &fixture_err));
  assert_int_equal(peer->generation, 0);
  assert_string_equal(sct_measure_device(peer)->id, "cuda:1");
  int fd = -1;
  assert_int_equal(sct_lock_take(&fd, "fake-7-1", NULL), SCT_EBUSY);
  assert_ok(sct_measure_transfer(first, peer, &ask, &t, &made_ns, &fixture_err));
  assert_true(t.verdict.outcome == SCT_OUT_OK && t.times.n_samples == 3 && made_ns > 0);
  sct_free(t.times.samples_ns);
  /* a kind and whose memory it is must agree */
  assert_true(sct_measure_transfer(first, NULL, &ask, &t, &made_ns, &fixture_err) != SCT_OK);
  ask.kind = SCT_HOST_LOCKED;
  assert_true(sct_measure_transfer(first, peer, &ask, &t, &made_ns, &fixture_err) != SCT_OK);
  assert_ok(sct_measure_transfer(first, NULL, &ask, &t, &made_ns, &fixture_err));
  sct_free(t.times.samples_ns);
  sct_measure_close(peer);
  assert_int_equal(sct_lock_take(&fd, "fake-7-1", NULL), SCT_OK);
  sct_lock_release(&fd);
  sct_measure_close(first);
}

static void test_the_lock_outlives_a_worker(void **state) {
  (void)state;
  world w;
  sct_timing t;
  open_world(&w, "lock=7 sticky700@1=2");
  assert_ok(time_kernel(&w, &t));
  assert_int_equal(t.verdict.outcome, SCT_OUT_ILLEGAL_ACCESS);
  assert_false(sct_child_alive(&w.m->worker));
  refused("lock=7", SCT_EBUSY, "is being timed by"); /* no worker, but a session */
  assert_ok(sct_remote_ensure(w.m, &fixture_err));
  int fd;
  assert_int_equal(sct_lock_take(&fd, "fake-7-0.worker", NULL), SCT_EBUSY); /* the worker's own */
  close_world(&w);
}

/* A worker of a session that was killed may live on for a moment: the next one waits for it. */
static void *release_later(void *fd) {
  const struct timespec moment = {.tv_nsec = 200000000};
  nanosleep(&moment, NULL);
  sct_lock_release(fd);
  return NULL;
}

static void test_waiting(void **state) {
  (void)state;
  static const char *const names[] = {"fake-7-0", "fake-7-0.worker"};
  for (int k = 0; k < SCT_COUNT(names); k++) {
    pthread_t thread;
    sct_measure *m;
    int fd;
    assert_int_equal(sct_lock_take(&fd, names[k], NULL), SCT_OK);
    assert_int_equal(pthread_create(&thread, NULL, release_later, &fd), 0);
    assert_ok(open_with(&m, (sct_measure_opts){.fake = "lock=7", .wait_ns = 60000000000}));
    assert_int_equal(sct_measure_conditions(m)->waited_ns > 0, k == 0);
    sct_measure_close(m);
    pthread_join(thread, NULL);
  }
  sct_measure *m;
  int fd;
  assert_int_equal(sct_lock_take(&fd, "fake-7-0", NULL), SCT_OK);
  assert_int_equal(open_with(&m, (sct_measure_opts){.fake = "lock=7", .wait_ns = 1000000}),
                   SCT_EBUSY);
  assert_non_null(strstr(fixture_err.text, "it was not free within 1"));
  sct_lock_release(&fd);
}

static bool at_once(void *ctx) {
  ++*(int *)ctx;
  return true;
}

static void test_waiting_can_be_interrupted(void **state) {
  (void)state;
  sct_measure *m;
  int fd, asked = 0;
  assert_int_equal(sct_lock_take(&fd, "fake-7-0", NULL), SCT_OK);
  assert_int_equal(open_with(&m, (sct_measure_opts){.fake = "lock=7",
                                                    .wait_ns = INT64_MAX,
                                                    .stop = at_once,
                                                    .stop_ctx = &asked}),
                   SCT_EINTERRUPTED);
  assert_int_equal(asked, 1);
  sct_lock_release(&fd);
}

/* ---- others ---- */

static void test_refusals(void **state) {
  (void)state;
  refused("mode=2", SCT_ENODEVICE, "cuda:0 is in prohibited compute mode");
  refused("mode=3 others=1", SCT_EBUSY,
          "is in exclusive-process mode and taken by process 4000 (else) with 1 MiB");
  refused("mps=1", SCT_EBUSY, "the Multi-Process Service (MPS) is in front of cuda:0");
  refused("mps=1", SCT_EBUSY, "give --force");
  sct_measure *m;
  assert_ok(open_with(&m, (sct_measure_opts){.fake = "mps=1", .force = true}));
  assert_true(sct_measure_conditions(m)->mps);
  sct_measure_close(m);
  assert_ok(open_with(&m, (sct_measure_opts){.fake = "mode=3 mig"})); /* ours alone */
  assert_true(sct_measure_conditions(m)->start.mig);
  assert_false(sct_measure_conditions(m)->mps);
  sct_measure_close(m);
}

static void test_other_processes_are_a_condition(void **state) {
  (void)state;
  sct_measure *m;
  assert_ok(open_with(&m, (sct_measure_opts){.fake = "others=10"}));
  const sct_gpu_state *s = &sct_measure_conditions(m)->start;
  assert_int_equal(s->n_others, 10);
  assert_int_equal(s->n_processes, SCT_COUNT(s->processes));
  assert_int_equal(s->processes[7].pid, 4007);
  sct_measure_close(m);
}

/* ---- the GPU itself ---- */

static void test_throttling_is_recorded(void **state) {
  (void)state;
  world w;
  sct_timing t;
  open_world(&w, "throttle=4"); /* the power limit: times are what they are */
  assert_ok(time_kernel(&w, &t));
  assert_int_equal(t.verdict.outcome, SCT_OUT_OK);
  assert_int_equal(t.times.throttle, 4);
  assert_int_equal(t.times.n_slow, 0);
  assert_int_equal(t.times.n_repeated, 0);
  const sct_conditions *c = sct_measure_conditions(w.m);
  assert_int_equal(c->throttle, 4);
  assert_int_equal(c->n_samples, t.times.n_samples);
  assert_true(c->sm_min_mhz == 1980 && c->sm_max_mhz == 1980);
  sct_free(t.times.samples_ns);
  close_world(&w);
}

static void test_hardware_slowdown_is_waited_out(void **state) {
  (void)state;
  world w;
  sct_timing t;
  open_world(&w, "heat=8"); /* two samples, the second at the third try */
  assert_ok(time_kernel(&w, &t));
  assert_int_equal(t.verdict.outcome, SCT_OUT_OK);
  assert_int_equal(t.times.n_slow, 1); /* six tries */
  assert_int_equal(t.times.n_repeated, 5 + 2);
  assert_int_equal(t.times.throttle, 0x40);
  assert_true(sct_measure_conditions(w.m)->n_repeated >= t.times.n_repeated);
  sct_free(t.times.samples_ns);
  close_world(&w);
  open_world(&w, "heat=1e9"); /* it does not go away: the samples count as slow */
  assert_ok(time_kernel(&w, &t));
  assert_int_equal(t.verdict.outcome, SCT_OUT_OK);
  assert_int_equal(t.times.n_slow, t.times.n_samples);
  sct_free(t.times.samples_ns);
  close_world(&w);
}

static void test_a_failing_gpu_is_left_alone(void **state) {
  (void)state;
  static const struct {
    const char *script, *says;
  } failures[] = {
      {"lost=30", "CUDA_ERROR_UNKNOWN (999)"},
      {"refuse214@1=2", "CUDA_ERROR_ECC_UNCORRECTABLE (214)"},
      {"sticky226@1=2", "CUDA_ERROR_CONTAINED (226)"},
  };
  for (int k = 0; k < SCT_COUNT(failures); k++) {
    world w;
    sct_timing t;
    open_world(&w, failures[k].script);
    assert_int_equal(time_kernel(&w, &t), SCT_EUNHEALTHY);
    assert_non_null(strstr(fixture_err.text, failures[k].says));
    assert_null(t.times.samples_ns);      /* the batch is discarded */
    assert_int_equal(w.m->generation, 1); /* and no other worker tried it */
    assert_int_equal(time_kernel(&w, &t), SCT_EUNHEALTHY);
    assert_non_null(strstr(fixture_err.text, "failed before and is not used any more"));
    assert_int_equal(w.m->generation, 1);
    close_world(&w);
  }
}

int main(int argc, char **argv) {
  FIXTURE_WORKER(argc, argv);
  sct_log_set_level(SCT_LOG_ERROR); /* the warnings are expected */
#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      IN_FOLDER(test_a_second_session_is_refused),
      IN_FOLDER(test_a_peer_is_held_and_not_opened),
      IN_FOLDER(test_the_lock_outlives_a_worker),
      IN_FOLDER(test_waiting),
      IN_FOLDER(test_waiting_can_be_interrupted),
      IN_FOLDER(test_refusals),
      IN_FOLDER(test_other_processes_are_a_condition),
      IN_FOLDER(test_throttling_is_recorded),
      IN_FOLDER(test_hardware_slowdown_is_waited_out),
      IN_FOLDER(test_a_failing_gpu_is_left_alone),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
