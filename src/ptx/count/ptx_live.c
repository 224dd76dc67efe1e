/* What ptxas makes of loads whose elements nothing reads. The interpreter runs and checks the
 * access as it is written and counts it as the machine executes it.
 *
 * Rules found by compiling every pattern for sm_75, 80, 90, 100 and 120 with CUDA 13.0; global,
 * shared and generic addresses, all cache operators, guarded or not, behave alike:
 *   elements of 1 byte      the whole vector stays
 *   one element read        an access of that element alone
 *   the lower or upper two  of four elements of 2 or 4 bytes: an access of half the width
 *   any other two           of four elements of 4 bytes: two accesses of 4 bytes; of 2 bytes: the
 *                           whole vector
 *   three, or all           the whole vector
 *   none                    no access
 * Vectors of 32 bytes keep their width. So do volatile loads; relaxed ones follow the rules. */
#include "ptx/exec/ptx_exec.h"

enum { LOW_HALF = 3, HIGH_HALF = 12 };

static int whole(const ptx_uop *u, ptx_live_part *parts) {
  parts[0] = (ptx_live_part){0, u->bytes * u->n};
  return 1;
}

int sct_ptx_live_parts(const ptx_uop *u, ptx_live_part parts[PTX_LIVE_PARTS]) {
  const unsigned live = ~(unsigned)u->flags & ((1u << u->n) - 1);
  const int bytes = u->bytes, n_live = __builtin_popcount(live);
  if (n_live == 0) {
    return 0;
  }
  if (n_live == u->n || bytes == 1 || bytes * u->n > 16) {
    return whole(u, parts);
  }
  if (n_live == 2 && (live == LOW_HALF || live == HIGH_HALF)) {
    parts[0] = (ptx_live_part){live == LOW_HALF ? 0 : 2 * bytes, 2 * bytes};
    return 1;
  }
  if (n_live > 2 || (n_live == 2 && bytes != 4)) {
    return whole(u, parts);
  }
  int n = 0;
  for (int e = 0; e < u->n; e++) {
    if ((live >> e & 1) != 0) {
      parts[n++] = (ptx_live_part){e * bytes, bytes};
    }
  }
  return n;
}

bool sct_ptx_is_load(const ptx_uop *u) {
  return u->fn == sct_ptx_op_ld_global || u->fn == sct_ptx_op_ld_shared ||
         u->fn == sct_ptx_op_ld_local || u->fn == sct_ptx_op_ld_generic;
}

void sct_ptx_live_mark(ptx_code *code, size_t first, const uint8_t *read, size_t n_regs) {
  for (size_t i = first; i < code->n_uops; i++) {
    ptx_uop *u = &code->uops[i];
    ptx_live_part parts[PTX_LIVE_PARTS];
    if (!sct_ptx_is_load(u) || (u->op & PTX_MEM_KEEP) != 0) {
      continue;
    }
    for (int e = 0; e < u->n; e++) {
      const size_t reg = code->vec[u->vec + (uint32_t)e] - PTX_SLOT_REGS;
      u->flags |= (uint16_t)((reg >= n_regs || !read[reg]) << e); /* beyond: {a, _} */
    }
    if (sct_ptx_live_parts(u, parts) > 0) {
      code->insts[u->inst].width = (uint8_t)parts[0].bytes; /* two parts are of one width */
    }
  }
}
