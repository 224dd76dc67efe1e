/* Cases for `emit --selftest`: situations in which the header's kernels are verified, with what the
 * naive variant of the spec makes of them on the CPU. */
#include "cli/cli_internal.h"
#include "compile/compile.h"
#include "emit/emit.h"
#include "measure/measure.h"

#include <string.h>

struct cli_selftest {
  const char *spec;
  sct_tune_candidates cands;
  sct_compiler *compiler;
  sct_compiled *compiled; /* [n_compiled] the naive variant first */
  int n_compiled;
  sct_binary *kernels; /* [n_kernels] what of them compiles */
  int n_kernels;
  sct_measure *measure;
  sct_example *examples;
  int n_examples;
  sct_emit_case *cases;
  sct_emit_array *arrays;
  const int64_t **places;
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
  sct_free(t->examples);
  sct_free(t->cases);
  sct_free(t->arrays);
  sct_free(t->places);
  sct_measure_close(t->measure);
  for (int k = 0; k < t->n_compiled; k++) {
    sct_compiled_free(&t->compiled[k]);
  }
  sct_free(t->compiled);
  sct_free(t->kernels);
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

/* The header's other kernels, as this version generates them. */
static bool is_asked_for(const sct_tune_item *item, const sct_tune_item *naive, int n_operands,
                         const char *const *labels, int n_labels) {
  bool asked = false;
  for (int k = 0; k < n_labels; k++) {
    asked = asked || strcmp(item->label, labels[k]) == 0;
  }
  return asked && item != naive && item->outcome == SCT_OUT_OK &&
         memcmp(item->code.layout, naive->code.layout, sizeof(int) * (size_t)n_operands) == 0;
}

/* Compiles the naive variant, and what else of the header's kernels compiles. */
static sct_status compile(cli_selftest *t, const sct_tune_item *naive, const char *const *labels,
                          int n_labels, sct_error *err) {
  const sct_compile_opts opts = {.arch = "sm_90", .threads = 1};
  const size_t most = (size_t)t->cands.n_items + 1;
  SCT_OWNED sct_compile_unit *units = sct_alloc(sizeof *units * most);
  SCT_OWNED const sct_kernel_code **codes = sct_alloc(sizeof *codes * most);
  int n = 0;
  codes[n++] = &naive->code;
  for (int k = 0; k < t->cands.n_items; k++) {
    if (is_asked_for(&t->cands.items[k], naive, t->cands.spec.n_operands, labels, n_labels)) {
      codes[n++] = &t->cands.items[k].code;
    }
  }
  for (int k = 0; k < n; k++) {
    units[k] = (sct_compile_unit){codes[k]->source, codes[k]->kernel, codes[k]->n_params > 0};
  }
  t->kernels = sct_alloc(sizeof *t->kernels * (size_t)n);
  t->compiled = sct_alloc(sizeof *t->compiled * (size_t)n);
  t->n_compiled = n;
  SCT_TRY(sct_compiler_new(&t->compiler, &opts, err));
  SCT_TRY(sct_compiler_run(t->compiler, units, n, t->compiled, NULL, NULL, err));
  if (!t->compiled[0].ok) {
    return sct_fail(err, SCT_ESPEC, "the naive variant does not compile: %s",
                    t->compiled[0].log ? t->compiled[0].log : "");
  }
  for (int k = 0; k < n; k++) {
    if (t->compiled[k].ok) {
      t->kernels[t->n_kernels++] =
          (sct_binary){.code = codes[k], .entry = t->compiled[k].entry, .ptx = t->compiled[k].ptx};
    }
  }
  return SCT_OK;
}

static void add_case(cli_selftest *t, int number, int n_operands, const int64_t **places) {
  sct_example *e = &t->examples[number];
  sct_emit_array *arrays = t->arrays + number * n_operands;
  for (int op = 0; op < n_operands; op++) {
    arrays[op] = (sct_emit_array){.before = e->op[op].before,
                                  .after = e->op[op].after,
                                  .bits = e->op[op].bits,
                                  .sums = e->op[op].sums,
                                  .bytes = e->op[op].bytes,
                                  .part_bytes = SCT_DIGEST_BYTES,
                                  .key = e->op[op].key,
                                  .and_mask = e->op[op].and_mask,
                                  .or_mask = e->op[op].or_mask,
                                  .tolerance = e->op[op].tolerance,
                                  .usual = e->op[op].usual};
  }
  for (int k = 0; k < e->n_places; k++) {
    places[k] = e->places[k];
  }
  t->cases[number] = (sct_emit_case){e->extent, e->scalar, arrays, e->poison, e->n_places, places};
}

static sct_status make_cases(cli_selftest *t, sct_error *err) {
  const int n_operands = t->cands.spec.n_operands;
  int n_places = 0;
  SCT_TRY(sct_measure_examples(t->measure, t->kernels, t->n_kernels, &t->examples, &t->n_examples,
                               err));
  for (int k = 0; k < t->n_examples; k++) {
    n_places += t->examples[k].n_places;
  }
  t->cases = sct_alloc(sizeof *t->cases * (size_t)(t->n_examples + 1));
  t->arrays = sct_alloc(sizeof *t->arrays * (size_t)(t->n_examples * n_operands + 1));
  t->places = sct_alloc(sizeof *t->places * (size_t)(n_places + 1));
  const int64_t **places = t->places;
  for (int k = 0; k < t->n_examples; k++) {
    add_case(t, k, n_operands, places);
    places += t->examples[k].n_places;
  }
  return t->n_examples > 0 ? SCT_OK
                           : sct_fail(err, SCT_ESPEC,
                                      "%s: there is no case for a self-test: its arrays are too "
                                      "large at all sizes of verification",
                                      t->cands.spec.name);
}

/* The naive variants, and the candidates with these labels, where the spec has all of them. */
static sct_status load(cli_selftest *t, const sct_device_desc *device, const char *const *labels,
                       int n_labels, sct_error *err) {
  const sct_tune_labels all = {n_labels, labels}, none = {0};
  const sct_tune_candidates_opts some = {.only = &all, .only_naive = true};
  const sct_tune_candidates_opts naive = {.only = &none, .only_naive = true};
  if (sct_tune_candidates_make(&t->cands, t->spec, device, &some, NULL) == SCT_OK) {
    return SCT_OK;
  }
  sct_tune_candidates_free(&t->cands);
  t->cands = (sct_tune_candidates){0};
  return sct_tune_candidates_make(&t->cands, t->spec, device, &naive, err);
}

sct_status cli_selftest_make(void *ctx, const char *const *layouts, int n_layouts,
                             const char *const *labels, int n_labels, sct_emit_cases *out,
                             sct_error *err) {
  cli_selftest *t = ctx;
  sct_device_desc device;
  const sct_tune_item *naive = NULL;
  const sct_tune_opts on = {.device = "virtual:h200"};
  const sct_measure_opts how = {.described = &device, .seed = 1};
  SCT_TRY(sct_tune_device(&device, &on, err));
  SCT_TRY(load(t, &device, labels, n_labels, err));
  if (n_layouts != t->cands.spec.n_operands) {
    return sct_fail(err, SCT_EDATA, "the header is of another spec than %s", t->spec);
  }
  SCT_TRY(find_naive(t, layouts, &naive, err));
  SCT_TRY(compile(t, naive, labels, n_labels, err));
  SCT_TRY(sct_measure_open(&t->measure, 0, &how, err));
  SCT_TRY(sct_measure_problem(t->measure, &t->cands.spec, naive->code.layout, &t->kernels[0], err));
  SCT_TRY(make_cases(t, err));
  *out = (sct_emit_cases){t->cases, t->n_examples, t->cands.spec.n_moves == 0};
  return SCT_OK;
}

double cli_selftest_tolerance(void *ctx, int operand, const int64_t *extents) {
  const cli_selftest *t = ctx;
  const sct_spec *spec = &t->cands.spec;
  const sct_size size = {.extent = (int64_t *)(uintptr_t)extents, .fill = spec->sizes[0].fill};
  return operand < spec->n_inputs ? 0 : sct_spec_tolerance(spec, operand, &size);
}
