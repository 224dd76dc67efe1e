/* A recording in place of a device: what is drawn from it, and what it does not have. */
#include "measure/measure.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

enum { N = 4, N_SAMPLES = 21, ROUNDS = 61 };

/* Candidates by the address of their code: 0 and 1 raced each other, 2 was measured alone, 3 is
 * wrong; a fifth is not recorded. */
typedef struct tape {
  sct_kernel_code code[N + 1];
  sct_row_outcome recorded[N];
  double samples[3][N_SAMPLES];
} tape;

static const sct_row_outcome *find(void *ctx, const sct_kernel_code *code, const sct_size *size) {
  const tape *t = ctx;
  (void)size;
  const ptrdiff_t k = code - t->code;
  return k >= 0 && k < N ? &t->recorded[k] : NULL;
}

static double ceiling(void *ctx, int64_t bytes) {
  (void)ctx;
  return bytes == 4096 ? 4e12 : 0;
}

static const sct_device_desc device = {.id = "replay:cuda:0", .name = "replay of a GPU"};
static const sct_spec spec = {.name = "a"};
static const sct_size size = {.label = "i=1"};

/* Samples of 1 differ from those of 0 by three percent in every round, and from round to round by
 * much more. */
static void record(tape *t) {
  *t = (tape){0};
  for (int r = 0; r < N_SAMPLES; r++) {
    t->samples[0][r] = 1000.0 + 50.0 * r;
    t->samples[1][r] = 1.03 * t->samples[0][r];
    t->samples[2][r] = 3000.0 + r;
  }
  for (int k = 0; k < 3; k++) {
    t->recorded[k] = (sct_row_outcome){.outcome = "ok",
                                       .times = {.samples_ns = t->samples[k],
                                                 .n_samples = N_SAMPLES,
                                                 .overhead_ns = 7,
                                                 .resident_ns = 500,
                                                 .launches = 3,
                                                 .copies = 2},
                                       .race = k < 2 ? "the race" : ""};
  }
  t->recorded[3] = (sct_row_outcome){.outcome = "wrong_result", .detail = "b differs", .race = ""};
}

static sct_measure *open_tape(tape *t, uint64_t seed) {
  static sct_recording recording;
  recording = (sct_recording){.ctx = t, .device = &device, .find = find, .ceiling = ceiling};
  const sct_measure_opts opts = {.recording = &recording, .seed = seed};
  const sct_binary naive = {.code = &t->code[0]};
  sct_measure *m = NULL;
  assert_int_equal(sct_measure_open(&m, 0, &opts, NULL), SCT_OK);
  assert_int_equal(sct_measure_problem(m, &spec, NULL, &naive, NULL), SCT_OK);
  return m;
}

static void outcomes_are_those_recorded(void **state) {
  (void)state;
  tape t;
  sct_verdict v;
  sct_timing timing;
  record(&t);
  sct_measure *m = open_tape(&t, 1);
  assert_string_equal(sct_measure_device(m)->name, "replay of a GPU");
  static const sct_outcome_kind expected[] = {SCT_OUT_OK, SCT_OUT_OK, SCT_OUT_OK,
                                              SCT_OUT_WRONG_RESULT, SCT_OUT_NOT_RECORDED};
  for (int k = 0; k <= N; k++) {
    const sct_binary b = {.code = &t.code[k]};
    assert_int_equal(sct_measure_verify(m, &b, &v, NULL), SCT_OK);
    assert_int_equal(v.outcome, expected[k]);
    assert_int_equal(sct_measure_time(m, &b, &size, 1, &timing, NULL), SCT_OK);
    assert_int_equal(timing.verdict.outcome, expected[k]);
    assert_int_equal(timing.times.n_samples > 0, expected[k] == SCT_OUT_OK);
    assert_string_equal(v.detail, timing.verdict.detail);
    assert_true(k != 3 || strcmp(v.detail, "b differs") == 0);
    assert_true(k != 4 || strstr(v.detail, "the recording has no candidate with this source"));
    sct_free(timing.times.samples_ns);
  }
  t.recorded[0].times.n_samples = 0; /* it ran, and at this size it was not timed */
  const sct_binary b = {.code = &t.code[0]};
  assert_int_equal(sct_measure_verify(m, &b, &v, NULL), SCT_OK);
  assert_int_equal(v.outcome, SCT_OUT_OK);
  assert_int_equal(sct_measure_time(m, &b, &size, 1, &timing, NULL), SCT_OK);
  assert_int_equal(timing.verdict.outcome, SCT_OUT_NOT_RECORDED);
  double bytes_s = -1;
  assert_int_equal(sct_measure_ceiling(m, 4096, NULL, 0, &bytes_s, NULL), SCT_OK);
  assert_true(bytes_s == 4e12);
  assert_int_equal(sct_measure_conditions(m)->n_samples, 0); /* nothing was measured */
  sct_measure_close(m);
}

static void samples_are_drawn_from_the_recorded(void **state) {
  (void)state;
  tape t;
  sct_timing first, again, other;
  record(&t);
  const sct_binary b = {.code = &t.code[0]};
  sct_timing *const all[] = {&first, &again, &other};
  for (int k = 0; k < 3; k++) {
    sct_measure *m = open_tape(&t, k < 2 ? 1 : 2);
    assert_int_equal(sct_measure_time(m, &b, &size, 1, all[k], NULL), SCT_OK);
    sct_measure_close(m);
  }
  assert_true(first.times.n_samples >= 7);
  assert_true(first.times.overhead_ns == 7 && first.times.resident_ns == 500 &&
              first.times.launches == 3);
  for (int k = 0; k < first.times.n_samples; k++) {
    bool there = false;
    for (int r = 0; r < N_SAMPLES; r++) {
      there = there || first.times.samples_ns[k] == t.samples[0][r];
    }
    assert_true(there);
  }
  assert_memory_equal(first.times.samples_ns, again.times.samples_ns,
                      sizeof(double) * (size_t)first.times.n_samples); /* by the seed */
  assert_memory_not_equal(first.times.samples_ns, other.times.samples_ns,
                          sizeof(double) * (size_t)first.times.n_samples);
  for (int k = 0; k < 3; k++) {
    sct_free(all[k]->times.samples_ns);
  }
}

static bool after_ten(void *ctx, int round) {
  *(int *)ctx = round;
  return round == 10;
}

/* Recorded in pairs, drawn in pairs: the ratio is that of every round, whatever the noise. */
static void a_race_keeps_its_pairs(void **state) {
  (void)state;
  tape t;
  sct_timing out[N];
  sct_binary b[N];
  int last = -1;
  record(&t);
  for (int k = 0; k < N; k++) {
    b[k] = (sct_binary){.code = &t.code[k]};
  }
  sct_measure *m = open_tape(&t, 1);
  assert_int_equal(sct_measure_race(m, b, N, &size, ROUNDS, out, NULL, NULL, NULL), SCT_OK);
  bool varies = false;
  for (int r = 0; r < ROUNDS; r++) {
    assert_true(out[1].times.samples_ns[r] == 1.03 * out[0].times.samples_ns[r]);
    varies = varies || out[0].times.samples_ns[r] != out[0].times.samples_ns[0];
  }
  assert_true(varies);
  assert_int_equal(out[2].times.n_samples, ROUNDS);
  assert_int_equal(out[3].times.n_samples, 0);
  assert_int_equal(out[3].verdict.outcome, SCT_OUT_WRONG_RESULT);
  assert_true(out[0].times.q1_ns <= out[0].times.median_ns &&
              out[0].times.median_ns <= out[0].times.q3_ns);
  const sct_comparison c =
      sct_stats_compare(out[0].times.samples_ns, ROUNDS, out[1].times.samples_ns, ROUNDS, true);
  assert_int_equal(c.kind, SCT_SLOW);
  for (int k = 0; k < N; k++) {
    sct_free(out[k].times.samples_ns);
  }
  assert_int_equal(sct_measure_race(m, b, N, &size, ROUNDS, out, after_ten, &last, NULL), SCT_OK);
  assert_int_equal(last, 10);
  assert_int_equal(out[0].times.n_samples, 10);
  for (int k = 0; k < N; k++) {
    sct_free(out[k].times.samples_ns);
  }
  sct_measure_close(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(outcomes_are_those_recorded),
      cmocka_unit_test(samples_are_drawn_from_the_recorded),
      cmocka_unit_test(a_race_keeps_its_pairs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
