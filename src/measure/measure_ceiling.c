/* The copy ceiling: the fastest copy of a number of bytes, timed as a candidate is. */
#include "measure_session.h"

#define POISON          0xa5
#define CEILING_SAMPLES 31

/* Times one copy; `best` keeps the least median. A copy that fails or copies wrongly is left out.
 */
static sct_status try_copy(sct_measure *m, const sct_job *job, int variant, const int64_t ends[2],
                           int64_t bytes, double *best, sct_error *err) {
  sct_timing t = {.verdict = {.outcome = SCT_OUT_OK}};
  const sct_sampling how = {.warm_ns = sct_warm_up_ns(m), .n = CEILING_SAMPLES};
  sct_difference found = {0};
  sct_status status = SCT_OK;
  SCT_TRY_DONE(sct_ask_SET(m, &(sct_ask_set){ends[1], POISON}, NULL, err));
  if (job) {
    const int threads = job->binary->code->threads;
    const int64_t words = bytes / 16, blocks = (words + threads - 1) / threads;
    SCT_TRY_DONE(sct_remote_time_words(m, job, ends[1], ends[0], words, blocks, &how, &t, err));
  } else {
    SCT_TRY_DONE(sct_remote_time_copy(m, ends[1], ends[0], variant, &how, &t, err));
  }
  m->last_timed_ns = sct_now_ns();
  if (t.verdict.outcome == SCT_OUT_OK) {
    SCT_TRY_DONE(sct_ask_COMPARE(m, &(sct_ask_compare){ends[1], ends[0], -1}, &found, err));
  }
  if (t.verdict.outcome != SCT_OUT_OK || found.n > 0) {
    sct_log(SCT_LOG_WARN, "copy %d is left out of the ceiling: %s", variant,
            found.n > 0 ? "it copies wrongly" : t.verdict.detail);
    goto done;
  }
  sct_times_summarise(&t.times);
  *best = *best == 0 || t.times.median_ns < *best ? t.times.median_ns : *best;
done:
  sct_free(t.times.samples_ns);
  return status;
}

static sct_status ceiling_once(sct_measure *m, int64_t bytes, const sct_binary *copy, int n_copy,
                               double *best, sct_error *err) {
  const int64_t copies = sct_copies_for(&m->device, 2 * bytes);
  int64_t ends[2] = {-1, -1};
  sct_wire freed = {0};
  sct_status status = SCT_OK;
  *best = 0;
  SCT_TRY_DONE(sct_remote_ensure(m, err));
  SCT_TRY_DONE(sct_remote_alloc(m, bytes, copies, &ends[0], err));
  SCT_TRY_DONE(sct_remote_alloc(m, bytes, copies, &ends[1], err));
  const sct_masks masks = sct_data_masks(SCT_TYPE_F32);
  const sct_ask_fill fill = {ends[0], masks.and_mask, masks.or_mask, m->seed};
  SCT_TRY_DONE(sct_ask_FILL(m, &fill, NULL, err));
  SCT_TRY_DONE(sct_ask_REPEAT(m, &(sct_a_buffer){ends[0]}, NULL, err));
  for (int k = 0; k < m->n_copies; k++) {
    SCT_TRY_DONE(try_copy(m, NULL, k, ends, bytes, best, err));
  }
  for (int k = 0; k < n_copy && sct_child_alive(&m->worker); k++) {
    sct_job job;
    sct_verdict verdict = {0};
    SCT_TRY_DONE(sct_remote_load(m, &copy[k], &job, &verdict, err));
    if (verdict.outcome == SCT_OUT_OK) {
      status = try_copy(m, &job, m->n_copies + k, ends, bytes, best, err);
    }
    sct_remote_unload(m, &job);
    SCT_TRY_DONE(status);
  }
done:
  sct_remote_put_freed(&freed, ends, 2);
  sct_remote_free(m, &freed);
  return status;
}

sct_status sct_measure_ceiling(sct_measure *m, int64_t bytes, const sct_binary *copy, int n_copy,
                               double *bytes_per_s, sct_error *err) {
  const int64_t half = (bytes / 2 + 15) / 16 * 16; /* one side, in whole 16-byte words */
  double best = 0;
  if (bytes < 2) {
    return sct_fail(err, SCT_EUSAGE, "a ceiling needs at least 2 bytes");
  }
  if (m->recording) {
    *bytes_per_s = m->recording->ceiling(m->recording->ctx, bytes);
    return SCT_OK;
  }
  SCT_TRY(sct_check_can_time(m, err));
  sct_status status = ceiling_once(m, half, copy, n_copy, &best, err);
  if (!m->lost && !sct_child_alive(&m->worker) && (status == SCT_OK || status == SCT_EUNHEALTHY)) {
    status = ceiling_once(m, half, copy, n_copy, &best, err); /* someone killed it: in a new one */
  }
  SCT_TRY(status);
  if (best <= 0) {
    return sct_fail(err, SCT_EUNHEALTHY, "no copy could be timed");
  }
  *bytes_per_s = 2.0 * (double)half / best * 1e9;
  return SCT_OK;
}
