/* tune_run - what one run of a candidate's PTX at a small size tells about the sizes that are
 * tuned: how many machine instructions it executes, some in every block, and some with every
 * element. */
#include "tune/tune_counting.h"

#include <string.h>

static int64_t elements_at(const sct_spec *spec, const int64_t *extent) {
  int64_t n = 1;
  for (int d = 0; d < spec->n_dims; d++) {
    n *= sct_spec_multiplies(spec, d) ? extent[d] : 1;
  }
  return n;
}

/* Least squares of instructions over blocks and `by`; neither is negative. Returns what is left of
 * the squares of SCT_PIPE_ISSUE. */
static double fit_pipe(const sct_work_sums *s, int by, int pipe, double *block, double *each) {
  const double bb = s->works[SCT_WORK_BLOCKS][SCT_WORK_BLOCKS], ee = s->works[by][by];
  const double be = s->works[SCT_WORK_BLOCKS][by];
  const double bm = s->machine[SCT_WORK_BLOCKS][pipe], em = s->machine[by][pipe];
  const double det = bb * ee - be * be;
  *block = *each = 0.0;
  if (det > 1e-6 * bb * ee) {
    *block = (bm * ee - em * be) / det;
    *each = (em * bb - bm * be) / det;
  }
  if (*block < 0.0 || (*block <= 0.0 && *each <= 0.0)) {
    *block = 0.0;
    *each = ee > 0.0 ? em / ee : 0.0;
  } else if (*each < 0.0) {
    *block = bm / bb;
    *each = 0.0;
  }
  return s->issued2 - 2.0 * (*block * bm + *each * em) + *block * *block * bb +
         2.0 * *block * *each * be + *each * *each * ee;
}

/* Warps run the body once a request, however many of their lanes are inside, or once for so many
 * elements, in wide and narrow accesses: what explains the runs better. */
static void fit_work(sct_ptx_check *out, const sct_work_sums *sums) {
  double block = 0.0, each = 0.0;
  const double by_requests = fit_pipe(sums, SCT_WORK_REQUESTS, SCT_PIPE_ISSUE, &block, &each);
  const double by_elements = fit_pipe(sums, SCT_WORK_ELEMENTS, SCT_PIPE_ISSUE, &block, &each);
  out->by_elements = by_elements < by_requests;
  for (int p = 0; p < SCT_N_PIPES; p++) {
    (void)fit_pipe(sums, out->by_elements ? SCT_WORK_ELEMENTS : SCT_WORK_REQUESTS, p,
                   &out->per_block[p], &out->per_work[p]);
  }
}

sct_ptx_check sct_tune_ptx_check_of(const sct_spec *spec, const sct_verdict *verdict) {
  sct_ptx_check out = {.known = verdict->counted};
  if (verdict->counted) {
    out.ptx = verdict->counts;
    out.elements = elements_at(spec, verdict->extent);
    fit_work(&out, &verdict->work);
  }
  return out;
}

/* ---- instructions ---- */

void sct_tune_machine_instructions(const tune_table *t, int k, int size, double out[SCT_N_PIPES]) {
  const tune_cell *own = sct_tune_cell(t, k, size);
  if (own->counted && own->counters.machine[SCT_PIPE_ISSUE] > 0.0) {
    memcpy(out, own->counters.machine, sizeof own->counters.machine);
    return;
  }
  const bool ran = t->cands->items[k].ptx.known;
  const int from = ran ? k : sct_tune_naive_at(t->cands, k, size);
  const tune_cell *cell = from >= 0 ? sct_tune_cell(t, from, size) : NULL;
  for (int p = 0; p < SCT_N_PIPES; p++) {
    out[p] = 0.0;
  }
  if (cell == NULL || !cell->counted || !t->cands->items[from].ptx.known) {
    return;
  }
  const sct_ptx_check *check = &t->cands->items[from].ptx;
  const sct_counters *c = &cell->counters;
  const double blocks = ran ? (double)c->blocks : 0.0;
  const double works = check->by_elements
                           ? (double)elements_at(&t->cands->spec, t->cands->spec.sizes[size].extent)
                           : (double)(c->load.requests + c->store.requests);
  for (int p = 0; p < SCT_N_PIPES; p++) {
    out[p] = blocks * check->per_block[p] + works * check->per_work[p];
  }
  if (!ran) { /* all run the body once an element, but each reckons its addresses in its own way */
    out[SCT_PIPE_INT] = out[SCT_PIPE_IMUL] = 0.0;
    out[SCT_PIPE_ISSUE] = out[SCT_PIPE_FP32] + out[SCT_PIPE_FP64] + out[SCT_PIPE_SFU];
  }
}

sct_status sct_tune_apply_ptx_check(tune_counting *c, int k, const sct_ptx_check *check,
                                    sct_error *err) {
  const tune_table *t = c->table;
  if (!check->known) {
    return SCT_OK;
  }
  t->cands->items[k].ptx = *check;
  for (int other = 0; other < t->cands->n_items; other++) {
    const bool by_it = t->group[k] == k && t->group[other] == k;
    if (other == k || (by_it && !t->cands->items[other].ptx.known)) {
      SCT_TRY(sct_tune_predict(c, other, err));
    }
  }
  return SCT_OK;
}
