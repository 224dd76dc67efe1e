/* Blocks that go on to other tiles: how many a block has to take before all has happened that can.
 *
 * A strategy may say so (`rounds` of a plan); the PTX says whether a loop advances by the number of
 * blocks, and is believed over the plan. Such a kernel is verified with few blocks, as at the
 * extents of a verification its body would run once. */
#include "measure_session.h"
#include "ptx/ptx.h"

#include <string.h>

#define GRID_ROUNDS 8 /* a ring of several tiles fills, wraps and empties */

const sct_ptx_module *sct_read_ptx(sct_measure *m, const sct_binary *b) {
  sct_read_program *read = &m->read;
  if (!b->ptx) {
    return NULL;
  }
  const bool known = b->ptx_hash.hi != 0 || b->ptx_hash.lo != 0;
  const sct_hash hash = known ? b->ptx_hash : sct_hash_text(b->ptx);
  if (!read->module || !sct_hash_equal(read->hash, hash)) {
    sct_ptx_module_free(read->module);
    *read = (sct_read_program){.hash = hash};
    (void)sct_ptx_parse(&read->module, b->ptx, b->entry, NULL);
  }
  return read->module;
}

static bool steps_by_grid(sct_measure *m, const sct_binary *b) {
  if (b->ptx == NULL || strstr(b->ptx, "%nctaid.") == NULL) {
    return false; /* as nearly always */
  }
  const sct_ptx_module *module = sct_read_ptx(m, b);
  return module && sct_ptx_steps_by_grid(module, b->entry);
}

#define LARGE_BITS 40 /* of the elements of all dimensions together */

/* The grid where extent `large` has 2^bits (-1: all have, their shares of them), the others 1; -1:
 * it cannot be worked out. */
static int64_t blocks_at(const sct_spec *spec, const sct_kernel_code *code, int large, int bits) {
  int64_t extent[SCT_MAX_EXTENTS], blocks = -1;
  const int share = bits / (spec->n_dims > 0 ? spec->n_dims : 1);
  for (int d = 0; d < spec->n_extents; d++) {
    extent[d] = large < 0 ? INT64_C(1) << share : d == large ? INT64_C(1) << bits : 1;
  }
  const sct_expr_env env = {spec->extent_var, extent, spec->n_extents};
  const bool known = sct_expr_eval(spec->pool, code->grid, &env, &blocks, NULL) == SCT_OK;
  return known ? blocks : -1;
}

/* Whether the grid stops growing with the extents, each alone and all together: else no launch has
 * a block go round. */
static bool is_bounded(const sct_spec *spec, const sct_kernel_code *code) {
  bool bounded = true;
  for (int d = -1; d < spec->n_extents && bounded; d++) {
    const int64_t blocks = blocks_at(spec, code, d, LARGE_BITS);
    bounded = blocks >= 0 && blocks == blocks_at(spec, code, d, LARGE_BITS + spec->n_dims);
  }
  return bounded;
}

int sct_code_rounds(sct_measure *m, const sct_binary *b) {
  const sct_spec *spec = m->addressing.spec;
  const int stated = b->code->rounds;
  if (stated >= GRID_ROUNDS || (stated == 0 && !is_bounded(spec, b->code)) ||
      !steps_by_grid(m, b)) {
    return stated;
  }
  return GRID_ROUNDS;
}

int64_t sct_code_residue(const sct_kernel_code *code, int op) {
  const int64_t align = code->align ? code->align[op] : 0;
  return align <= SCT_MAX_ALIGN ? align : 0;
}

bool sct_code_inspects(const sct_spec *spec, const sct_kernel_code *code,
                       const sct_ptx_traits *traits) {
  const uint64_t bits = traits ? traits->inspected : 0;
  bool hit = code->n_params == 0 && (bits & (((uint64_t)1 << spec->n_operands) - 1)) != 0;
  for (int k = 0; k < code->n_params && k < 64; k++) {
    hit = hit || (code->params[k].kind == SCT_PARAM_ARRAY && (bits >> k & 1) != 0);
  }
  return hit;
}
