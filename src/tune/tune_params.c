/* Parameters of a kernel of the user's own, which only its compiled code tells: without this, a
 * driver would read arguments that there are not. */
#include "ptx/ptx.h"
#include "tune/tune_internal.h"

#include <string.h>

/* Bytes of what a parameter receives. */
static int64_t bytes_of(const sct_spec *spec, const sct_param *p) {
  return p->kind == SCT_PARAM_ARRAY
             ? (int64_t)sizeof(uint64_t)
             : sct_type_get(p->kind == SCT_PARAM_SCALAR ? spec->scalars[p->number].type : p->type)
                   ->bytes;
}

/* "write { \"n_row\", \"i64\" }" where that would do. */
static const char *hint(const sct_param *p, int64_t bytes) {
  return p->kind != SCT_PARAM_VALUE ? ""
         : bytes == 8               ? "; a long long is { expression, \"i64\" }"
         : bytes == 4               ? "; an int is { expression, \"i32\" }"
                                    : "; i32, u32, i64, u64, f32 and f64 are possible";
}

const sct_own *sct_tune_own(const sct_tune_candidates *cands, int item) {
  const sct_candidate *cand = &cands->space.candidates[cands->items[item].candidate];
  return cands->space.strategies[cand->strategy].own;
}

static void fail(sct_tune_candidates *cands, int item, const char *text) {
  const sct_own *own = sct_tune_own(cands, item);
  const char *file = cands->spec.file;
  const int line = own ? sct_spec_key_line(&cands->spec, file, own->line, "args") : 1;
  cands->items[item].outcome = SCT_OUT_COMPILE_ERROR;
  cands->items[item].detail = sct_arena_printf(&cands->arena, "%s:%d: error: %s", file, line, text);
}

static const char *mismatch(const sct_tune_candidates *cands, int item,
                            const sct_ptx_kernel *kernel, sct_arena *arena) {
  const sct_kernel_code *code = &cands->items[item].code;
  if (kernel->n_params != code->n_params) {
    return sct_arena_printf(arena, "args has %d entries; '%s' takes %d parameters", code->n_params,
                            code->kernel, kernel->n_params);
  }
  for (int k = 0; k < code->n_params; k++) {
    const int64_t given = bytes_of(&cands->spec, &code->params[k]);
    if (given != kernel->params[k].bytes) {
      return sct_arena_printf(
          arena, "args: item %d has %lld bytes, and parameter %d of '%s' has %lld%s", k + 1,
          (long long)given, k + 1, code->kernel, (long long)kernel->params[k].bytes,
          hint(&code->params[k], kernel->params[k].bytes));
    }
  }
  return NULL;
}

bool sct_tune_params_fit(sct_tune_candidates *cands, int item) {
  const sct_tune_item *at = &cands->items[item];
  sct_ptx_module *module = NULL;
  const char *wrong = NULL;
  if (at->code.n_params == 0) {
    return true;
  }
  if (sct_ptx_parse(&module, at->compiled.ptx, at->code.kernel, NULL) != SCT_OK) {
    wrong = "its PTX cannot be read, so its parameters are not known";
  } else {
    const sct_ptx_kernel *kernel = sct_ptx_kernel_find(module, at->compiled.entry);
    wrong = kernel ? mismatch(cands, item, kernel, &cands->arena) : "its PTX lacks the kernel";
  }
  if (wrong) {
    fail(cands, item, wrong);
  }
  sct_ptx_module_free(module);
  return wrong == NULL;
}
