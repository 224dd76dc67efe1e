/* Micro-kernels that tell what a driver does not: latencies, rates of caches and of atomic
 * operations (templates/calibrate.cu). Nothing they write is looked at. */
#include "measure_session.h"

#include <string.h>

#define SAMPLES      9
#define LINE_BYTES   128
#define SECTOR_BYTES 32
#define LINES_MOST   8192 /* that a chase visits */
#define L2_SHARE     4    /* of it, an array that L2 holds in any case: 1 / L2_SHARE */
#define L1_BYTES     16384
#define LANES        32

typedef enum micro_array { COLD, WARM } micro_array;
typedef enum micro_work { STEPS, SM_BYTES, BYTES, LANE_ROUNDS, WARPS, BLOCKS } micro_work;
typedef enum micro_n { LINES = -3, SECTORS, WORDS } micro_n; /* of the array; else n itself */

typedef struct micro {
  const char *kernel;
  int threads;
  int64_t blocks;
  bool an_sm;
  micro_array array;
  int64_t n;
  micro_work work;
} micro;

static const micro micros[SCT_N_MICROS] = {
#define SCT_MICRO(id, kernel, threads, blocks, an_sm, array, n, work, reference)                   \
  {kernel, threads, blocks, an_sm, array, n, work},
#include "measure_micro.def"
#undef SCT_MICRO
};

const char *sct_micro_kernel(sct_micro k) {
  return micros[k].kernel;
}

int sct_micro_threads(sct_micro k) {
  return micros[k].threads;
}

/* The arrays: [COLD] with copies that L2 does not hold together, [WARM], and what is written. */
typedef struct micro_arrays {
  int64_t buffer[3], bytes[2];
} micro_arrays;
#define WRITTEN 2

static int64_t power_of_two(int64_t most) {
  int64_t power = 1;
  while (2 * power <= most) {
    power *= 2;
  }
  return power;
}

static sct_status zeros(sct_measure *m, int64_t bytes, int64_t copies, int64_t *buffer,
                        sct_error *err) {
  SCT_TRY(sct_remote_alloc(m, bytes, copies, buffer, err));
  SCT_TRY(sct_ask_SET(m, &(sct_ask_set){*buffer, 0}, NULL, err));
  return sct_ask_REPEAT(m, &(sct_a_buffer){*buffer}, NULL, err);
}

static sct_status make_arrays(sct_measure *m, micro_arrays *a, sct_error *err) {
  const int64_t l2 = m->device.l2_bytes > 0 ? m->device.l2_bytes : (int64_t)1 << 20;
  a->bytes[COLD] = LINES_MOST * LINE_BYTES;
  a->bytes[WARM] = power_of_two(l2 / L2_SHARE);
  SCT_TRY(
      zeros(m, a->bytes[COLD], sct_copies_for(&m->device, a->bytes[COLD]), &a->buffer[COLD], err));
  SCT_TRY(zeros(m, a->bytes[WARM], 1, &a->buffer[WARM], err));
  return zeros(m, a->bytes[WARM], 1, &a->buffer[WRITTEN], err);
}

static int64_t n_of(const micro *x, int64_t bytes) {
  const int64_t lines = bytes / LINE_BYTES;
  return x->n == LINES     ? (x->work == STEPS && lines > LINES_MOST ? LINES_MOST : lines)
         : x->n == SECTORS ? bytes / SECTOR_BYTES
         : x->n == WORDS   ? bytes / 16
                           : x->n;
}

static double work_of(const micro *x, int64_t n, int64_t blocks) {
  const double lanes = (double)blocks * x->threads * SCT_MICRO_ROUNDS;
  switch (x->work) {
  case STEPS:
    return (double)n;
  case SM_BYTES:
    return (double)x->blocks * (double)n * L1_BYTES;
  case BYTES:
    return 16.0 * (double)n * SCT_MICRO_ROUNDS;
  case LANE_ROUNDS:
    return lanes;
  case WARPS:
    return lanes / LANES;
  default:
    return (double)blocks;
  }
}

static sct_status run_micro(sct_measure *m, sct_micro k, const micro_arrays *a,
                            const sct_binary *binary, sct_calibration *out, sct_error *err) {
  const micro *x = &micros[k];
  sct_job job;
  sct_timing t = {.verdict = {.outcome = SCT_OUT_OK}};
  const int64_t n = n_of(x, a->bytes[x->array]);
  const int64_t blocks = x->blocks * (x->an_sm ? m->device.n_sms : 1);
  const sct_sampling how = {
      .warm_ns = sct_warm_up_ns(m), .n = SAMPLES, .resident = x->array == WARM};
  SCT_TRY(sct_remote_load(m, binary, &job, &t.verdict, err));
  sct_status status = SCT_OK;
  if (t.verdict.outcome == SCT_OUT_OK) {
    status = sct_remote_time_words(m, &job, a->buffer[WRITTEN], a->buffer[x->array], n, blocks,
                                   &how, &t, err);
  }
  m->last_timed_ns = sct_now_ns();
  sct_remote_unload(m, &job);
  if (status == SCT_OK && t.verdict.outcome != SCT_OUT_OK) {
    status = sct_fail(err, SCT_EUNHEALTHY, "the micro-kernel %s does not run: %s", x->kernel,
                      t.verdict.detail);
  }
  if (status == SCT_OK) {
    sct_times_summarise(&t.times);
    out->mhz[k] = t.times.sm_clock_mhz > 0 ? t.times.sm_clock_mhz : 1e-3 * m->device.clock_khz;
    out->ns[k] = t.times.median_ns / work_of(x, n, blocks);
    out->launch_ns = t.times.launches == 1 ? t.times.overhead_ns : out->launch_ns;
    sct_log(SCT_LOG_INFO, "%s: %.5g ns at %.0f MHz, %d launches of %.4g us", x->kernel, out->ns[k],
            out->mhz[k], t.times.launches, 1e-3 * t.times.median_ns);
  }
  sct_free(t.times.samples_ns);
  return status;
}

sct_status sct_measure_calibrate(sct_measure *m, const sct_binary kernels[SCT_N_MICROS],
                                 sct_calibration *out, sct_error *err) {
  micro_arrays a = {.buffer = {-1, -1, -1}};
  sct_wire freed = {0};
  sct_status status = SCT_OK;
  *out = (sct_calibration){0};
  SCT_TRY(sct_check_can_time(m, err));
  SCT_TRY_DONE(sct_remote_ensure(m, err));
  SCT_TRY_DONE(make_arrays(m, &a, err));
  for (int k = 0; k < SCT_N_MICROS; k++) {
    SCT_TRY_DONE(run_micro(m, (sct_micro)k, &a, &kernels[k], out, err));
  }
done:
  sct_remote_put_freed(&freed, a.buffer, SCT_COUNT(a.buffer));
  sct_remote_free(m, &freed);
  SCT_TRY(status);
  const int64_t most = m->device.memory_bytes / 8, copy = (int64_t)1 << 29;
  return sct_measure_ceiling(m, copy < most ? copy : most, NULL, 0, &out->copy_bytes_s, err);
}
