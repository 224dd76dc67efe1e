/* What happens in a session, reported as it happens: plain data for whoever watches. */
#include "tune/tune_flow.h"

bool sct_tune_stop(tune_flow *f) {
  if (f->events && f->events->stop && f->events->stop(f->events->ctx)) {
    f->stopped = true;
  }
  if (f->deadline_ns && sct_now_ns() > f->deadline_ns) {
    f->out_of_time = true;
  }
  return f->stopped || f->out_of_time;
}

void sct_tune_progress(const tune_flow *f, const char *phase, int64_t done, int64_t total,
                       const char *item) {
  if (f->events && f->events->progress) {
    f->events->progress(f->events->ctx, phase, done, total, item);
  }
}

static void notify(const tune_flow *f, const sct_tune_event *event) {
  if (f->events && f->events->happened) {
    f->events->happened(f->events->ctx, event);
  }
}

void sct_tune_notify_start(const tune_flow *f, const sct_tune_candidates *cands,
                           const sct_conditions *conditions) {
  notify(f, &(sct_tune_event){.kind = SCT_TUNE_STARTED,
                              .name = cands->spec.name,
                              .device = &cands->device,
                              .conditions = conditions,
                              .n_sources = cands->n_items,
                              .n_sizes = cands->spec.n_sizes});
}

void sct_tune_notify_item(const tune_flow *f, const sct_tune_item *item) {
  const sct_row_outcome row = {.outcome = sct_outcome_name(item->outcome), .detail = item->detail};
  notify(f, &(sct_tune_event){.kind = SCT_TUNE_EVALUATED, .label = item->label, .row = &row});
}

void sct_tune_notify_cell(const tune_flow *f, const tune_table *t, int item, int size) {
  notify(f, &(sct_tune_event){.kind = SCT_TUNE_TIMED,
                              .label = t->cands->items[item].label,
                              .size = t->cands->spec.sizes[size].label,
                              .row = &sct_tune_cell(t, item, size)->row});
}

void sct_tune_notify_race(const tune_flow *f, const tune_table *t, const char *phase, int size,
                          int n, const int *items) {
  int rounds = 0, leader = -1;
  const sct_row_outcome *best = NULL;
  for (int k = 0; k < n; k++) {
    const sct_row_outcome *mine = &sct_tune_cell(t, items[k], size)->row;
    rounds = mine->times.n_samples > rounds ? mine->times.n_samples : rounds;
    if (mine->times.n_samples > 0 && (!best || mine->times.median_ns < best->times.median_ns)) {
      leader = items[k];
      best = mine;
    }
  }
  notify(f, &(sct_tune_event){.kind = SCT_TUNE_RACED,
                              .phase = phase,
                              .size = t->cands->spec.sizes[size].label,
                              .label = leader >= 0 ? t->cands->items[leader].label : NULL,
                              .row = best,
                              .n_racers = n,
                              .n_rounds = rounds});
}

void sct_tune_notify_size(const tune_flow *f, const tune_table *t, int size) {
  const sct_choice *choice = &t->choices[size];
  const int w = choice->winner;
  notify(f, &(sct_tune_event){.kind = SCT_TUNE_SIZE_DONE,
                              .size = t->cands->spec.sizes[size].label,
                              .label = w >= 0 ? t->cands->items[w].label : NULL,
                              .row = w >= 0 ? &sct_tune_cell(t, w, size)->row : NULL,
                              .n_tied = choice->n_tied});
}
