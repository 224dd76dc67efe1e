/* What happens in a session, told as it happens: plain data for whoever watches. */
#include "tune/tune_internal.h"

static void tell(tune_session *s, const sct_tune_event *event) {
  if (s->events && s->events->happened) {
    s->events->happened(s->events->ctx, event);
  }
}

void sct_tune_tell_start(tune_session *s) {
  tell(s, &(sct_tune_event){.kind = SCT_TUNE_STARTED,
                            .name = s->plan.spec.name,
                            .device = &s->device,
                            .conditions = s->kind->times && !s->kind->replays
                                              ? sct_measure_conditions(s->measure)
                                              : NULL,
                            .n_sources = s->plan.n_items,
                            .n_sizes = s->plan.spec.n_sizes});
}

void sct_tune_tell_item(tune_session *s, int item) {
  const sct_tune_item *i = &s->plan.items[item];
  tell(s, &(sct_tune_event){.kind = SCT_TUNE_JUDGED,
                            .label = i->label,
                            .outcome = sct_outcome_name(i->outcome),
                            .detail = i->detail});
}

void sct_tune_tell_cell(tune_session *s, int item, int size) {
  const tune_cell *cell = sct_tune_cell(s, item, size);
  tell(s, &(sct_tune_event){.kind = SCT_TUNE_TIMED,
                            .label = s->plan.items[item].label,
                            .size = s->plan.spec.sizes[size].label,
                            .outcome = sct_outcome_name(cell->verdict.outcome),
                            .detail = cell->verdict.detail,
                            .median_ns = cell->timing.median_ns,
                            .n_samples = cell->timing.n_samples,
                            .n_slow = cell->timing.n_slow,
                            .n_contended = cell->timing.n_contended,
                            .throttle = cell->timing.throttle});
}

void sct_tune_tell_race(tune_session *s, const char *phase, int size, int n, const int *items) {
  int rounds = 0, leader = -1;
  double least = 0;
  for (int k = 0; k < n; k++) {
    const sct_timing *t = &sct_tune_cell(s, items[k], size)->timing;
    rounds = t->n_samples > rounds ? t->n_samples : rounds;
    if (t->n_samples > 0 && (leader < 0 || t->median_ns < least)) {
      leader = items[k];
      least = t->median_ns;
    }
  }
  tell(s, &(sct_tune_event){.kind = SCT_TUNE_RACED,
                            .phase = phase,
                            .size = s->plan.spec.sizes[size].label,
                            .label = leader >= 0 ? s->plan.items[leader].label : NULL,
                            .median_ns = least,
                            .n_racers = n,
                            .n_rounds = rounds});
}

void sct_tune_tell_size(tune_session *s, int size) {
  const sct_choice *choice = &s->choices[size];
  const int w = choice->winner;
  const tune_cell *cell = w >= 0 ? sct_tune_cell(s, w, size) : NULL;
  tell(s, &(sct_tune_event){.kind = SCT_TUNE_SIZE_DONE,
                            .size = s->plan.spec.sizes[size].label,
                            .label = w >= 0 ? s->plan.items[w].label : NULL,
                            .median_ns = cell ? cell->timing.median_ns : 0,
                            .n_tied = choice->n_tied});
}
