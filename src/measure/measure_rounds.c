/* Blocks that go on to other tiles: how many a block has to take before all has happened that can.
 *
 * A strategy may say so (`rounds` of a plan); the PTX says whether a loop advances by the number of
 * blocks, and is believed over the plan. Such a kernel is verified with few blocks, as at the
 * extents of a verification its body would run once. */
#include "measure_session.h"
#include "ptx/ptx.h"

#include <string.h>

#define GRID_ROUNDS 8 /* a ring of several tiles fills, wraps and empties */

static bool steps_by_grid(const sct_binary *b) {
  sct_ptx_module *module = NULL;
  bool steps = false;
  if (b->ptx == NULL || strstr(b->ptx, "%nctaid.") == NULL) {
    return false; /* as nearly always */
  }
  if (sct_ptx_parse(&module, b->ptx, b->entry, NULL) == SCT_OK) {
    steps = sct_ptx_steps_by_grid(module, b->entry);
  }
  sct_ptx_module_free(module);
  return steps;
}

#define LARGE_BITS 40 /* of the elements of all dimensions together */

/* Whether the grid stops growing with the extents: else no launch has a block go round. */
static bool is_bounded(const sct_spec *spec, const sct_kernel_code *code) {
  int64_t extent[SCT_MAX_EXTENTS], blocks[2] = {0};
  for (int k = 0; k < 2; k++) {
    for (int d = 0; d < spec->n_extents; d++) {
      extent[d] = INT64_C(1) << (LARGE_BITS / (spec->n_dims > 0 ? spec->n_dims : 1) + k);
    }
    const sct_expr_env env = {spec->extent_var, extent, spec->n_extents};
    if (sct_expr_eval(spec->pool, code->grid, &env, &blocks[k], NULL) != SCT_OK) {
      return false;
    }
  }
  return blocks[0] == blocks[1];
}

int sct_code_rounds(const sct_spec *spec, const sct_binary *b) {
  const int stated = b->code->rounds;
  if (stated >= GRID_ROUNDS || (stated == 0 && !is_bounded(spec, b->code)) || !steps_by_grid(b)) {
    return stated;
  }
  return GRID_ROUNDS;
}
