/* A recording in place of a device: what an earlier session found of a candidate is drawn again.
 * Nothing runs, so there is no worker, no lock and no data, and whatever comes of it is no
 * measurement. */
#include "measure_session.h"

#include <stdlib.h>
#include <string.h>

#define QUICK_SAMPLES 7 /* as a quick pass on a GPU takes */

/* What the recording has of a candidate at a size (NULL: at all of them): its samples, or its
 * failure, which becomes the verdict. */
static bool look_up(sct_measure *m, const sct_binary *b, const sct_size *size, sct_recorded *found,
                    sct_verdict *verdict) {
  const sct_recording *r = m->recording;
  *found = (sct_recorded){.outcome = SCT_OUT_OK};
  *verdict = (sct_verdict){.outcome = SCT_OUT_OK};
  if (!r->find(r->ctx, b->code, size, found)) {
    sct_verdict_set(verdict, SCT_OUT_NOT_RECORDED,
                    "the recording has no candidate with this source");
  } else if (found->outcome != SCT_OUT_OK) {
    sct_verdict_set(verdict, found->outcome, "%s", found->detail ? found->detail : "");
  } else if (size && found->n_samples < 1) {
    sct_verdict_set(verdict, SCT_OUT_NOT_RECORDED, "the recording has no time of it at this size");
  }
  return verdict->outcome == SCT_OUT_OK;
}

void sct_replay_verify(sct_measure *m, const sct_binary *candidate, sct_verdict *out) {
  sct_recorded found;
  (void)look_up(m, candidate, NULL, &found, out);
}

/* ---- times ---- */

static void begin(sct_timing *t, const sct_recorded *r, int room) {
  t->overhead_ns = r->overhead_ns;
  t->resident_ns = r->resident_ns;
  t->launches = r->launches;
  t->copies = r->copies;
  t->sm_clock_mhz = r->sm_clock_mhz;
  t->samples_ns = sct_alloc(sizeof *t->samples_ns * (size_t)(room + 1));
}

void sct_replay_time(sct_measure *m, const sct_binary *candidate, const sct_size *size,
                     sct_timing *out) {
  sct_recorded found;
  *out = (sct_timing){0};
  if (!look_up(m, candidate, size, &found, &out->verdict)) {
    return;
  }
  begin(out, &found, QUICK_SAMPLES);
  for (int k = 0; k < QUICK_SAMPLES; k++) {
    out->samples_ns[out->n_samples++] =
        found.samples_ns[sct_rng_below(&m->replay_rng, found.n_samples)];
  }
  sct_stats_summary(out);
}

/* One sample of each. Samples that were recorded in one race are drawn in one: round r of all. */
static void draw_round(sct_measure *m, const sct_recorded *found, sct_timing *out, int64_t *at,
                       int n) {
  for (int k = 0; k < n; k++) {
    if (!out[k].samples_ns) {
      continue;
    }
    at[k] = sct_rng_below(&m->replay_rng, found[k].n_samples);
    for (int j = 0; j < k && found[k].race[0] != '\0'; j++) {
      if (out[j].samples_ns && strcmp(found[j].race, found[k].race) == 0 &&
          at[j] < found[k].n_samples) {
        at[k] = at[j];
        break;
      }
    }
    out[k].samples_ns[out[k].n_samples++] = found[k].samples_ns[at[k]];
  }
}

sct_status sct_replay_race(sct_measure *m, const sct_binary *candidates, int n,
                           const sct_size *size, int rounds, sct_timing *out,
                           bool (*stop)(void *ctx, int round), void *ctx) {
  SCT_OWNED sct_recorded *found = sct_alloc(sizeof *found * (size_t)(n + 1));
  SCT_OWNED int64_t *at = sct_alloc(sizeof *at * (size_t)(n + 1));
  sct_status status = SCT_OK;
  memset(out, 0, sizeof *out * (size_t)n);
  for (int k = 0; status == SCT_OK && k < n; k++) {
    if (look_up(m, &candidates[k], size, &found[k], &out[k].verdict)) {
      begin(&out[k], &found[k], rounds);
    }
  }
  for (int round = 0; status == SCT_OK && round < rounds && !(stop && stop(ctx, round)); round++) {
    draw_round(m, found, out, at, n);
  }
  for (int k = 0; k < n; k++) {
    sct_stats_summary(&out[k]);
  }
  for (int k = 0; k < n && status != SCT_OK; k++) {
    sct_free(out[k].samples_ns);
    out[k].samples_ns = NULL;
    out[k].n_samples = 0;
  }
  return status;
}
