/* model_coalescing - is a kernel coalesced? By what it asks for and what its index space touches,
 * so that no other candidate is needed. The rule stands in model.h. */
#include "model/model.h"

#include <math.h>

#define SECTOR_BYTES 32.0
/* Sectors above this many times the minimum come from the way of access, not from where rows start.
 */
#define SLACK 1.25
double sct_access_minimum(const sct_access *a) {
  return fmax(a->ideal, a->footprint);
}

/* With so many times its sectors, `excess` of which it would not take if requests were contiguous.
 */
static bool is_coalesced(const sct_access *a, double times, double excess, double all) {
  const double sectors = times * a->sectors, minimum = fmax(sectors - excess, a->footprint);
  return sectors <= SLACK * minimum || sectors - minimum < SCT_LEAST_EXCESS * times * all;
}

/* What counts may be off by: relative, and of the excess of one access, in sectors. */
typedef struct errors {
  double sectors, excess;
} errors;

/* So few times its sectors there may be: no fewer than the excess. */
static double least_times(const sct_access *a, const errors *e, double excess) {
  const double least = fmax(1.0 - e->sectors, excess / a->sectors);
  return fmin(fmax(least, 0.0), 1.0 + e->sectors);
}

/* Wherever within their errors the counts are. More sectors of the same excess are a smaller part,
 * and more than the footprint: if some are not coalesced, the least, the most, or those between
 * both limits are among them. */
static bool is_always(const sct_access *a, const errors *e, double all) {
  const double excess = a->sectors - a->ideal + e->excess, little = SCT_LEAST_EXCESS * all;
  const double low = least_times(a, e, excess), high = 1.0 + e->sectors;
  if (a->sectors < little) {
    return true;
  }
  const double from = fmin(SLACK / (SLACK - 1.0) * excess / a->sectors, excess / little);
  const double to = fmax(SLACK * a->footprint / a->sectors, a->footprint / (a->sectors - little));
  const double between = fmin(fmax((from + to) / 2.0, low), high);
  return is_coalesced(a, low, excess, all) && is_coalesced(a, high, excess, all) &&
         is_coalesced(a, between, excess, all);
}

static bool is_ever(const sct_access *a, const errors *e, double all) {
  const double excess = a->sectors - a->ideal - e->excess;
  return is_coalesced(a, least_times(a, e, excess), excess, all) ||
         is_coalesced(a, 1.0 + e->sectors, excess, all);
}

/* What a kernel asks for beyond so many sectors for one that the elements of the index space fill
 * is of its own making, however contiguous: a search of all keys for every output. Eight lanes with
 * a byte each may lie in two sectors and fill a quarter of one. */
#define ASKED_SLACK 8.0

/* `asked`: sectors that all elements of the index space fill, each for itself. */
static void add_access(sct_access *to, int64_t sectors, int64_t contiguous_bytes, double asked,
                       sct_footprint footprint) {
  if (sectors > 0) {
    *to = (sct_access){.sectors = (double)sectors,
                       .ideal = fmin((double)contiguous_bytes / SECTOR_BYTES,
                                     ASKED_SLACK * asked + footprint.sectors),
                       .footprint = footprint.sectors,
                       .used_bytes = footprint.bytes};
  }
}

/* What is of no operand is of the workspace, all of which is there to be used. */
static void add_workspace(sct_coalescing *out, const sct_counters *c, int64_t bytes) {
  sct_count load = c->load, store = c->store;
  for (int op = 0; op < c->n_operands; op++) {
    load.sectors -= c->operand[op].sectors - c->stored[op].sectors;
    load.contiguous_bytes -= c->operand[op].contiguous_bytes - c->stored[op].contiguous_bytes;
    store.sectors -= c->stored[op].sectors;
    store.contiguous_bytes -= c->stored[op].contiguous_bytes;
  }
  const sct_footprint all = {.sectors = ceil((double)bytes / SECTOR_BYTES), .bytes = (double)bytes};
  if (bytes > 0) {
    add_access(&out->load[SCT_MAX_OPERANDS], load.sectors, load.contiguous_bytes, INFINITY, all);
    add_access(&out->store[SCT_MAX_OPERANDS], store.sectors, store.contiguous_bytes, INFINITY, all);
  }
}

/* The verdict and the figures of the whole kernel, from its accesses. */
static void sum_up(sct_coalescing *out, const sct_counters *c) {
  double sectors = 0.0, minimum = 0.0, used = 0.0, touched = 0.0, most_again = 0.0;
  out->passes = 1.0;
  for (int k = 0; k < 2 * (SCT_MAX_OPERANDS + 1); k++) {
    const sct_access *const a = k % 2 ? &out->store[k / 2] : &out->load[k / 2];
    const double again = a->ideal - a->footprint;
    sectors += a->sectors;
    minimum += fmin(sct_access_minimum(a), a->sectors);
    used += a->used_bytes;
    touched += a->footprint;
    if (again > most_again && a->footprint > 0.0) {
      most_again = again;
      out->passes = a->ideal / a->footprint;
    }
  }
  out->passes = most_again < SCT_LEAST_EXCESS * sectors ? 1.0 : out->passes;
  const errors off = {c->error, c->excess_error * sectors};
  bool ever = out->coalesced = true;
  for (int k = 0; k < 2 * (SCT_MAX_OPERANDS + 1); k++) {
    const sct_access *const a = k % 2 ? &out->store[k / 2] : &out->load[k / 2];
    out->coalesced = out->coalesced && is_always(a, &off, sectors);
    ever = ever && is_ever(a, &off, sectors);
  }
  out->unknown = ever && !out->coalesced;
  out->share = sectors > 0.0 ? minimum / sectors : 1.0;
  out->utilisation = touched > 0.0 ? used / (SECTOR_BYTES * touched) : 1.0;
}

/* How often sectors are needed of an array that is read or written beside an index array, by a
 * kernel that goes through what the index points to in `windows` parts, one after the other. Of
 * each sector every part has the elements that fall into it, in no order: none of `each` with the
 * probability (1 - 1 / windows) ^ each. */
static double times_needed(double windows, double each) {
  return each > 1.0 ? windows * (1.0 - pow(1.0 - 1.0 / windows, each)) : 1.0;
}

/* As if each part was a kernel of its own. */
static sct_footprint footprint_of(const sct_spec *spec, const sct_kernel_code *code, int op,
                                  const sct_size *size) {
  const sct_operand *const operand = &spec->operands[op];
  sct_footprint out = sct_spec_footprint(spec, op, code->layout[op], size);
  if (code->windows > 1 && !operand->through_index && !operand->is_index && out.sectors > 0.0) {
    const double each = (double)sct_spec_elements(spec, size) / out.sectors;
    out.sectors *= times_needed(code->windows, each);
  }
  return out;
}

sct_status sct_model_coalescing(sct_coalescing *out, const sct_counters *c, const sct_spec *spec,
                                const sct_kernel_code *code, const sct_size *size, sct_error *err) {
  const sct_expr_env env = {spec->extent_var, size->extent, spec->n_extents};
  *out = (sct_coalescing){0};
  for (int op = 0; op < c->n_operands; op++) {
    const sct_count *all = &c->operand[op], *stored = &c->stored[op];
    int64_t bytes = 0;
    SCT_TRY(sct_expr_eval(spec->pool, spec->operands[op].layouts[code->layout[op]].bytes, &env,
                          &bytes, err));
    const sct_footprint footprint = footprint_of(spec, code, op, size);
    const double steps = spec->n_steps > 0 ? spec->n_steps : 1;
    const double asked = steps * (double)sct_spec_element_bytes(spec, op, size) / SECTOR_BYTES;
    add_access(&out->load[op], all->sectors - stored->sectors,
               all->contiguous_bytes - stored->contiguous_bytes, asked, footprint);
    add_access(&out->store[op], stored->sectors, stored->contiguous_bytes, asked, footprint);
  }
  add_workspace(out, c, code->workspace_bytes);
  sum_up(out, c);
  return SCT_OK;
}
