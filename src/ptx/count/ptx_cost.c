/* ptx_cost - what a PTX instruction costs a multiprocessor: the machine instructions that ptxas
 * makes of it, by pipe. */
#include "ptx/decode/ptx_decode.h"

#include <string.h>

typedef struct cost_rule {
  const char *ops, *mod, *type;
  uint8_t of_pipe[SCT_N_PIPES - 1], other; /* SCT_PIPE_ISSUE is the last, and their sum */
} cost_rule;

static const cost_rule rules[] = {
#define PTX_COST(ops, mod, type, fp32, fp64, sfu, integer, imul, other)                            \
  {ops, mod, type, {fp32, fp64, sfu, integer, imul}, other},
#include "ptx_costs.def"
#undef PTX_COST
};

static bool has_mod(const ptx_inst *inst, const char *mod) {
  for (int k = 1; k < inst->n_mods; k++) {
    if (sct_ptx_span_is(inst->mods[k], mod)) {
      return true;
    }
  }
  return mod[0] == '\0';
}

static bool ends_in(ptx_span text, const char *end) {
  const int n = (int)strlen(end);
  return text.len >= n && memcmp(text.p + text.len - n, end, (size_t)n) == 0;
}

void sct_ptx_cost(uint8_t out[SCT_N_PIPES], const ptx_inst *inst) {
  memset(out, 0, SCT_N_PIPES);
  out[SCT_PIPE_ISSUE] = 1;
  for (int k = 0; k < SCT_COUNT(rules); k++) {
    const cost_rule *r = &rules[k];
    if (sct_ptx_span_in(inst->mods[0], r->ops) && has_mod(inst, r->mod) &&
        ends_in(inst->mods[inst->n_mods - 1], r->type)) {
      out[SCT_PIPE_ISSUE] = r->other;
      for (int p = 0; p < SCT_PIPE_ISSUE; p++) {
        out[p] = r->of_pipe[p];
        out[SCT_PIPE_ISSUE] = (uint8_t)(out[SCT_PIPE_ISSUE] + out[p]);
      }
      return;
    }
  }
}

uint8_t sct_ptx_flops(uint8_t *type, const ptx_inst *inst) {
  static const struct {
    const char *end;
    uint8_t type, elements;
  } types[] = {{"f32x2", SCT_PTX_FLOP_F32, 2},
               {"f16x2", SCT_PTX_FLOP_F16, 2},
               {"f16", SCT_PTX_FLOP_F16, 1},
               {"f32", SCT_PTX_FLOP_F32, 1},
               {"f64", SCT_PTX_FLOP_F64, 1}};
  const bool fused = sct_ptx_span_in(inst->mods[0], "fma mad");
  const bool counts = fused || sct_ptx_span_in(inst->mods[0], "add sub mul");
  *type = 0;
  for (int k = 0; counts && k < SCT_COUNT(types); k++) {
    if (ends_in(inst->mods[inst->n_mods - 1], types[k].end)) {
      *type = types[k].type;
      return (uint8_t)(types[k].elements << fused);
    }
  }
  return 0;
}
