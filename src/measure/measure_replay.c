/* A recording in place of a device: what an earlier session found of a candidate is drawn again.
 * Nothing runs, so there is no worker, no lock and no data, and whatever comes of it is no
 * measurement. */
#include "measure_session.h"

#include <stdlib.h>
#include <string.h>

#define QUICK_SAMPLES 7 /* as a quick pass on a GPU takes */

/* What the recording has of a candidate at a size (NULL: at all of them), if it ran; else the
 * verdict says what became of it. */
static const sct_row_outcome *look_up(sct_measure *m, const sct_binary *b, const sct_size *size,
                                      sct_verdict *verdict) {
  const sct_recording *r = m->recording;
  const sct_row_outcome *found = r->find(r->ctx, b->code, size);
  *verdict = (sct_verdict){.outcome = SCT_OUT_OK};
  if (!found) {
    sct_verdict_set(verdict, SCT_OUT_NOT_RECORDED,
                    "the recording has no candidate with this source");
  } else if (!sct_row_is_ok(found)) {
    const sct_outcome_kind kind = sct_outcome_named(found->outcome);
    sct_verdict_set(verdict, kind < SCT_N_OUTCOMES ? kind : SCT_OUT_UNSUPPORTED, "%s",
                    found->detail);
  } else if (size && found->times.n_samples < 1) {
    sct_verdict_set(verdict, SCT_OUT_NOT_RECORDED, "the recording has no time of it at this size");
  }
  return verdict->outcome == SCT_OUT_OK ? found : NULL;
}

void sct_replay_verify(sct_measure *m, const sct_binary *candidate, sct_verdict *out) {
  (void)look_up(m, candidate, NULL, out);
}

/* ---- times ---- */

/* What was recorded, with room for other samples. */
static void begin(sct_times *t, const sct_times *recorded, int room) {
  *t = (sct_times){.overhead_ns = recorded->overhead_ns,
                   .resident_ns = recorded->resident_ns,
                   .launches = recorded->launches,
                   .copies = recorded->copies,
                   .sm_clock_mhz = recorded->sm_clock_mhz,
                   .samples_ns = sct_alloc(sizeof *t->samples_ns * (size_t)(room + 1))};
}

void sct_replay_time(sct_measure *m, const sct_binary *candidate, const sct_size *size,
                     sct_timing *out) {
  *out = (sct_timing){0};
  const sct_row_outcome *found = look_up(m, candidate, size, &out->verdict);
  if (!found) {
    return;
  }
  sct_times *t = &out->times;
  begin(t, &found->times, QUICK_SAMPLES);
  while (t->n_samples < QUICK_SAMPLES) {
    t->samples_ns[t->n_samples++] =
        found->times.samples_ns[sct_rng_below(&m->replay_rng, found->times.n_samples)];
  }
  sct_times_summarise(t);
}

/* One sample of each. Samples that were recorded in one race are drawn in one: round r of all. */
static void draw_round(sct_measure *m, const sct_row_outcome *const *found, sct_timing *out,
                       int64_t *at, int n) {
  for (int k = 0; k < n; k++) {
    if (!found[k]) {
      continue;
    }
    at[k] = sct_rng_below(&m->replay_rng, found[k]->times.n_samples);
    for (int j = 0; j < k; j++) {
      if (found[j] && sct_row_same_race(found[j], found[k]) && at[j] < found[k]->times.n_samples) {
        at[k] = at[j];
        break;
      }
    }
    sct_times *t = &out[k].times;
    t->samples_ns[t->n_samples++] = found[k]->times.samples_ns[at[k]];
  }
}

void sct_replay_race(sct_measure *m, const sct_binary *candidates, int n, const sct_size *size,
                     int rounds, sct_timing *out, bool (*stop)(void *ctx, int round), void *ctx) {
  SCT_OWNED const sct_row_outcome **found = sct_alloc(sizeof *found * (size_t)(n + 1));
  SCT_OWNED int64_t *at = sct_alloc(sizeof *at * (size_t)(n + 1));
  memset(out, 0, sizeof *out * (size_t)n);
  for (int k = 0; k < n; k++) {
    found[k] = look_up(m, &candidates[k], size, &out[k].verdict);
    if (found[k]) {
      begin(&out[k].times, &found[k]->times, rounds);
    }
  }
  for (int round = 0; round < rounds && !(stop && stop(ctx, round)); round++) {
    draw_round(m, found, out, at, n);
  }
  for (int k = 0; k < n; k++) {
    sct_times_summarise(&out[k].times);
  }
}
