/* tune_verify - a candidate of a spec, compiled and verified on the virtual device against the
 * naive variant. */
#ifndef SCT_TESTS_TUNE_VERIFY_H
#define SCT_TESTS_TUNE_VERIFY_H

#include "codegen/codegen_fixture.h"
#include "compile/compile.h"
#include "measure/measure.h"
#include "scratch.h"
#include "shared_cache.h"

#define TV_WORKER(argc, argv)                                                                      \
  if ((argc) > 1 && strcmp((argv)[1], SCT_WORKER_ARG) == 0) {                                      \
    return sct_worker_main((argc), (argv));                                                        \
  }                                                                                                \
  if ((argc) > 1 && strcmp((argv)[1], SCT_COMPILE_WORKER_ARG) == 0) {                              \
    return sct_compile_worker_main((argc), (argv));                                                \
  }

static char tv_folder[64]; /* the compile cache where none is shared */

typedef struct tv_world {
  fixture f;
  sct_kernel_code naive, code;
  sct_compiler *compiler;
  sct_measure *measure;
  sct_compiled reference;
} tv_world;

static inline sct_compiled tv_compile(tv_world *w, const sct_kernel_code *code) {
  const sct_compile_unit unit = {.source = code->source, .kernel = code->kernel};
  sct_compiled compiled;
  MUST(sct_compiler_run(w->compiler, &unit, 1, &compiled, NULL, NULL, err));
  if (!compiled.ok) {
    fail_msg("%s\n%s", compiled.log, code->source);
  }
  return compiled;
}

/* Opens the candidate `label` of a spec given as text, on an H200. */
static inline void tv_open_text(tv_world *w, const char *text, const char *label) {
  *w = (tv_world){0};
  MUST(sct_script_load_spec_text(&w->f.spec, "test.lua", text, err));
  MUST(sct_script_load_device(&w->f.device, "h200", err));
  MUST(sct_script_new(&w->f.script, &w->f.spec, &w->f.device, NULL, err));
  MUST(sct_script_space(&w->f.space, w->f.script, err));
  MUST(sct_space_enumerate(&w->f.space, err));
  w->naive = fixture_make(&w->f, "direct threads=256");
  w->code = fixture_make(&w->f, label);
  const sct_compile_opts opts = {.arch = "sm_90", .cache_dir = shared_cache(tv_folder)};
  MUST(sct_compiler_new(&w->compiler, &opts, err));
  w->reference = tv_compile(w, &w->naive);
  const sct_measure_opts measure = {.seed = 7, .described = &w->f.device};
  MUST(sct_measure_open(&w->measure, 0, &measure, err));
}

static inline void tv_close(tv_world *w) {
  sct_measure_close(w->measure);
  sct_compiled_free(&w->reference);
  sct_compiler_free(w->compiler);
  sct_kernel_code_free(&w->naive);
  sct_kernel_code_free(&w->code);
  fixture_close(&w->f);
}

static inline sct_binary tv_binary(const sct_kernel_code *code, const sct_compiled *compiled) {
  return (sct_binary){.code = code,
                      .cubin = compiled->cubin,
                      .cubin_bytes = compiled->cubin_bytes,
                      .ptx = compiled->ptx,
                      .entry = compiled->entry};
}

static inline void tv_assert_right(tv_world *w, const char *label) {
  const sct_binary naive = tv_binary(&w->naive, &w->reference);
  sct_compiled compiled = tv_compile(w, &w->code);
  const sct_binary candidate = tv_binary(&w->code, &compiled);
  sct_verdict verdict;
  MUST(sct_measure_problem(w->measure, &w->f.spec, w->code.layout, &naive, err));
  MUST(sct_measure_verify(w->measure, &candidate, &verdict, err));
  sct_compiled_free(&compiled);
  if (verdict.outcome != SCT_OUT_OK) {
    fail_msg("%s: %s: %s", label, sct_outcome_name(verdict.outcome), verdict.detail);
  }
}

static inline int tv_setup(void **state) {
  (void)state;
  return scratch_make(tv_folder, sizeof tv_folder, "verify");
}

static inline int tv_teardown(void **state) {
  (void)state;
  return scratch_remove(tv_folder);
}

#endif
