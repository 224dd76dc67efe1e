/* model_coalescing - is a kernel coalesced? By what it asks for and what its index space touches,
 * so that no other candidate is needed. */
#include "model/model.h"

#include <math.h>

#define SECTOR_BYTES 32.0
/* Sectors above this many times the minimum come from the way of access, not from where rows start.
 */
#define SLACK 1.25
/* An excess below this part of all sectors is hardly seen in the time: of a gather of rows of 100
 * bytes, whose index is asked for with every element, that came to 1/15, and on an H200 it was 7 %
 * faster than the kernel with the fewest sectors. */
#define NEGLIGIBLE (1.0 / 8.0)

static sct_access access_of(const sct_count *all, const sct_count *without, double bytes) {
  const double sectors = (double)(all->sectors - (without ? without->sectors : 0));
  const double ideal = (double)(all->contiguous - (without ? without->contiguous : 0));
  return (sct_access){sectors, ideal, sectors > 0.0 ? ceil(bytes / SECTOR_BYTES) : 0.0,
                      sectors > 0.0 ? bytes : 0.0};
}

static double minimum_of(const sct_access *a) {
  return fmax(a->ideal, a->footprint);
}

static bool is_coalesced(const sct_access *a, double all) {
  return a->sectors <= SLACK * minimum_of(a) || a->sectors - minimum_of(a) < NEGLIGIBLE * all;
}

sct_status sct_model_coalescing(sct_coalescing *out, const sct_counters *c, const sct_spec *spec,
                                const sct_kernel_code *code, const sct_size *size, sct_error *err) {
  const double all = (double)(c->load.sectors + c->store.sectors);
  double least = 0.0, used = 0.0, touched = 0.0, most = 0.0;
  *out = (sct_coalescing){.coalesced = true, .passes = 1.0};
  (void)code;
  (void)err;
  for (int op = 0; op < c->n_operands; op++) {
    const double bytes = (double)sct_spec_touched_bytes(spec, op, size);
    out->load[op] = access_of(&c->operand[op], &c->stored[op], bytes);
    out->store[op] = access_of(&c->stored[op], NULL, bytes);
    const sct_access *const ways[] = {&out->load[op], &out->store[op]};
    for (int k = 0; k < SCT_COUNT(ways); k++) {
      const sct_access *const a = ways[k];
      out->coalesced = out->coalesced && is_coalesced(a, all);
      least += fmin(minimum_of(a), a->sectors);
      used += a->used_bytes;
      touched += a->footprint;
      if (a->sectors > most) {
        most = a->sectors;
        out->passes = a->footprint > 0.0 ? fmax(a->ideal / a->footprint, 1.0) : 1.0;
      }
    }
  }
  out->share = all > 0.0 ? fmin(least / all, 1.0) : 1.0;
  out->utilisation = touched > 0.0 ? fmin(used / (SECTOR_BYTES * touched), 1.0) : 1.0;
  return SCT_OK;
}
