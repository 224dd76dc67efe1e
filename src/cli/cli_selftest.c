/* Cases for `emit --selftest`: the naive variant of the spec runs on the CPU, at the sizes below.
 */
#include "cli/cli_internal.h"
#include "compile/compile.h"
#include "emit/emit.h"
#include "measure/measure.h"

#include <string.h>

/* Extents of the last dimension, of the one before, of all others. */
static const int64_t sizes[][3] = {
    {1, 1, 1}, {33, 31, 2}, {5, 101, 3}, {101, 3, 2}, {64, 32, 2}, {256, 4, 1}, {4, 256, 1},
};
enum { N_SIZES = SCT_COUNT(sizes), MOST_BYTES = 1 << 16 }; /* of the arrays of a case */

struct cli_selftest {
  const char *spec;
  sct_tune_candidates cands;
  sct_compiler *compiler;
  sct_compiled compiled;
  sct_measure *measure;
  sct_example examples[N_SIZES];
  int n_examples;
  sct_emit_case cases[N_SIZES];
  sct_emit_array arrays[N_SIZES][SCT_MAX_OPERANDS];
};

void cli_selftest_new(cli_selftest **out, const char *spec) {
  *out = sct_alloc(sizeof **out);
  (*out)->spec = spec;
}

void cli_selftest_free(cli_selftest *t) {
  if (t == NULL) {
    return;
  }
  for (int k = 0; k < t->n_examples; k++) {
    sct_example_free(&t->examples[k]);
  }
  sct_measure_close(t->measure);
  sct_compiled_free(&t->compiled);
  if (t->compiler) {
    sct_compiler_free(t->compiler);
  }
  sct_tune_candidates_free(&t->cands);
  sct_free(t);
}

/* The naive variant of the header's layouts. */
static sct_status find_naive(const cli_selftest *t, const char *const *layouts,
                             const sct_tune_item **out, sct_error *err) {
  const sct_spec *spec = &t->cands.spec;
  int choice[SCT_MAX_OPERANDS] = {0};
  *out = NULL;
  for (int k = 0; k < spec->n_operands; k++) {
    for (int l = 0; l < spec->operands[k].n_layouts; l++) {
      choice[k] = strcmp(spec->operands[k].layouts[l].label, layouts[k]) == 0 ? l : choice[k];
    }
  }
  const int64_t naive = sct_codegen_naive(spec, &t->cands.space, choice);
  for (int k = 0; k < t->cands.n_items; k++) {
    const sct_tune_item *item = &t->cands.items[k];
    *out = item->candidate == naive && item->outcome == SCT_OUT_OK ? item : *out;
  }
  return *out ? SCT_OK
              : sct_fail(err, SCT_ESPEC, "%s: there is no naive variant of the header's layouts",
                         spec->name);
}

/* The interpreter with the naive variant, compiled. */
static sct_status start(cli_selftest *t, const sct_device_desc *device, const sct_tune_item *naive,
                        sct_binary *binary, sct_error *err) {
  const sct_kernel_code *code = &naive->code;
  const sct_compile_opts opts = {.arch = "sm_90", .threads = 1};
  const sct_compile_unit unit = {code->source, code->kernel, code->n_params > 0};
  const sct_measure_opts how = {.described = device, .seed = 1};
  SCT_TRY(sct_compiler_new(&t->compiler, &opts, err));
  SCT_TRY(sct_compiler_run(t->compiler, &unit, 1, &t->compiled, NULL, NULL, err));
  if (!t->compiled.ok) {
    return sct_fail(err, SCT_ESPEC, "the naive variant does not compile: %s",
                    t->compiled.log ? t->compiled.log : "");
  }
  *binary = (sct_binary){.code = code, .entry = t->compiled.entry, .ptx = t->compiled.ptx};
  SCT_TRY(sct_measure_open(&t->measure, 0, &how, err));
  return sct_measure_problem(t->measure, &t->cands.spec, code->layout, binary, err);
}

static int64_t bytes_of(const sct_example *e, int n_operands) {
  int64_t bytes = 0;
  for (int k = 0; k < n_operands; k++) {
    bytes += e->op[k].bytes;
  }
  return bytes;
}

/* Cases that the spec allows and that are no longer than a person would want in a file. */
static sct_status make_cases(cli_selftest *t, sct_error *err) {
  const sct_spec *spec = &t->cands.spec;
  for (int k = 0; k < N_SIZES; k++) {
    sct_example *e = &t->examples[t->n_examples];
    int64_t dims[SCT_MAX_DIMS];
    for (int d = 0; d < spec->n_dims; d++) {
      const int from_last = spec->n_dims - 1 - d;
      dims[d] = sizes[k][from_last < 2 ? from_last : 2];
    }
    SCT_TRY(sct_measure_example(t->measure, dims, e, err));
    if (!e->legal || bytes_of(e, spec->n_operands) > MOST_BYTES) {
      sct_example_free(e);
      continue;
    }
    sct_emit_array *arrays = t->arrays[t->n_examples];
    for (int op = 0; op < spec->n_operands; op++) {
      arrays[op] = (sct_emit_array){e->op[op].before, e->op[op].after, e->op[op].bytes,
                                    e->op[op].tolerance, e->op[op].usual};
    }
    t->cases[t->n_examples++] = (sct_emit_case){e->extent, e->scalar, arrays, e->poison};
  }
  return t->n_examples > 0
             ? SCT_OK
             : sct_fail(err, SCT_ESPEC,
                        "%s: there is no case for a self-test: its arrays are larger than %d bytes "
                        "at the least sizes",
                        spec->name, MOST_BYTES);
}

sct_status cli_selftest_make(void *ctx, const char *const *layouts, int n_layouts,
                             sct_emit_case **cases, int *n, bool *computes, sct_error *err) {
  cli_selftest *t = ctx;
  sct_device_desc device;
  const sct_tune_item *naive = NULL;
  sct_binary binary;
  const sct_tune_opts on = {.device = "virtual:h200"};
  SCT_TRY(sct_tune_device(&device, &on, err));
  const sct_tune_labels none = {0};
  const sct_tune_candidates_opts opts = {.only = &none};
  SCT_TRY(sct_tune_candidates_make(&t->cands, t->spec, &device, &opts, err));
  if (n_layouts != t->cands.spec.n_operands) {
    return sct_fail(err, SCT_EDATA, "the header is of another spec than %s", t->spec);
  }
  SCT_TRY(find_naive(t, layouts, &naive, err));
  SCT_TRY(start(t, &device, naive, &binary, err));
  SCT_TRY(make_cases(t, err));
  *cases = t->cases;
  *n = t->n_examples;
  *computes = t->cands.spec.n_moves == 0;
  return SCT_OK;
}
