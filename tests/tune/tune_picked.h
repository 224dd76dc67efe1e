/* tune_picked - candidates of a spec, picked by the test, compiled together and run as PTX with
 * every access checked. */
#ifndef SCT_TESTS_TUNE_PICKED_H
#define SCT_TESTS_TUNE_PICKED_H

#include "codegen/codegen_fixture.h"
#include "compile/compile.h"
#include "ptx/ptx.h"
#include "scratch.h"
#include "shared_cache.h"

#define PICKED_MAX_ARGS 64
#define PICKED_SEED     20261123

typedef struct picked {
  const char *label; /* of the fixture's arena */
  sct_kernel_code code;
  sct_compiled compiled;
} picked;

static char picked_folder[64]; /* the compile cache where none is shared */
static sct_compiler *picked_compiler;

static inline int picked_setup(void **state) {
  (void)state;
  if (scratch_make(picked_folder, sizeof picked_folder, "picked") != 0) {
    return -1;
  }
  /* one process: it starts NVRTC once, and makes a program of all units of a spec */
  const sct_compile_opts opts = {
      .arch = "sm_90", .threads = 1, .cache_dir = shared_cache(picked_folder)};
  MUST(sct_compiler_new(&picked_compiler, &opts, err));
  return 0;
}

static inline int picked_teardown(void **state) {
  (void)state;
  sct_compiler_free(picked_compiler);
  return scratch_remove(picked_folder);
}

/* Generates candidate c of the space; false: its plan rejects it. */
static inline bool picked_make(picked *out, fixture *f, size_t c) {
  const sct_candidate *candidate = &f->space.candidates[c];
  const char *rejected = NULL;
  sct_str label = {0};
  *out = (picked){0};
  MUST(sct_codegen_make(&out->code, &rejected, &f->arena, f->script, &f->spec, &f->space, candidate,
                        err));
  sct_space_label(&label, &f->space, candidate);
  out->label = sct_arena_strdup(&f->arena, sct_str_c(&label));
  sct_str_free(&label);
  return rejected == NULL;
}

/* Appends candidates of the strategy that planning accepts to the n of the list, drawn by the seed:
 * `most`, 0: all; so many are there now. Fewer are the first of more: tests with other numbers, and
 * those with sanitizers, find them compiled. */
static inline int picked_draw(picked *list, int n, fixture *f, int strategy, int64_t most,
                              uint64_t seed) {
  const sct_space *space = &f->space;
  sct_rng rng = sct_rng_new(seed + (uint64_t)strategy);
  size_t *order = sct_alloc(sizeof *order * (space->n_candidates + 1)), left = 0;
  for (size_t c = 0; c < space->n_candidates; c++) {
    if (space->candidates[c].strategy == strategy) {
      order[left++] = c;
    }
  }
  for (int64_t made = 0; left > 0 && (most == 0 || made < most);) {
    const size_t at = most == 0 ? left - 1 : (size_t)sct_rng_below(&rng, (int64_t)left);
    const bool good = picked_make(&list[n], f, order[at]);
    n += good;
    made += good;
    order[at] = order[--left];
  }
  sct_free(order);
  return n;
}

/* How many candidates the strategy has. */
static inline int64_t picked_count(const fixture *f, int strategy) {
  int64_t n = 0;
  for (size_t c = 0; c < f->space.n_candidates; c++) {
    n += f->space.candidates[c].strategy == strategy;
  }
  return n;
}

/* One of them, and one more for each `step`. */
static inline int64_t picked_share(const fixture *f, int strategy, int64_t step) {
  return 1 + picked_count(f, strategy) / step;
}

static inline void picked_compile(picked *list, int n) {
  sct_compile_unit *units = sct_alloc(sizeof *units * (size_t)n);
  sct_compiled *results = sct_alloc(sizeof *results * (size_t)n);
  assert_non_null(units);
  assert_non_null(results);
  for (int k = 0; k < n; k++) {
    units[k] =
        (sct_compile_unit){list[k].code.source, list[k].code.kernel, list[k].code.n_params > 0};
  }
  MUST(sct_compiler_run(picked_compiler, units, n, results, NULL, NULL, err));
  for (int k = 0; k < n; k++) {
    if (!results[k].ok) {
      fail_msg("'%s' does not compile: %s\n%s", list[k].label, results[k].log, list[k].code.source);
    }
    list[k].compiled = results[k];
  }
  sct_free(units);
  sct_free(results);
}

static inline void picked_free(picked *list, int n) {
  for (int k = 0; k < n; k++) {
    sct_compiled_free(&list[k].compiled);
    sct_kernel_code_free(&list[k].code);
  }
}

/* ---- one run ---- */

/* Arguments are added in the kernel's order. */
typedef struct picked_run {
  const picked *candidate;
  const int64_t *extent;
  int n_extents;
  int64_t blocks;
  sct_ptx_memory *memory;
  sct_ptx_module *module;
  uint64_t value[PICKED_MAX_ARGS][2];
  const void *args[PICKED_MAX_ARGS];
  int n_args;
} picked_run;

static inline void picked_run_open(picked_run *r, const picked *p, const sct_spec *spec,
                                   const int64_t *extent) {
  const sct_expr_env env = {spec->extent_var, extent, spec->n_extents};
  *r = (picked_run){.candidate = p, .extent = extent, .n_extents = spec->n_extents};
  MUST(sct_expr_eval(spec->pool, p->code.grid, &env, &r->blocks, err));
  sct_ptx_memory_new(&r->memory);
  MUST(sct_ptx_parse(&r->module, p->compiled.ptx, "PTX", err));
}

static inline void picked_run_close(picked_run *r) {
  sct_ptx_module_free(r->module);
  sct_ptx_memory_free(r->memory);
}

static inline void picked_run_add(picked_run *r, const void *value, size_t bytes) {
  assert_true(r->n_args < PICKED_MAX_ARGS && bytes <= sizeof r->value[0]);
  memcpy(r->value[r->n_args], value, bytes);
  r->args[r->n_args] = r->value[r->n_args];
  r->n_args++;
}

static inline void picked_run_add_extents(picked_run *r) {
  for (int k = 0; k < r->n_extents; k++) {
    picked_run_add(r, &r->extent[k], sizeof r->extent[k]);
  }
}

/* Returns its address. */
static inline uint64_t picked_run_add_buffer(picked_run *r, const sct_ptx_buffer *buffer) {
  uint64_t address = 0;
  MUST(sct_ptx_memory_add(r->memory, &address, buffer, err));
  picked_run_add(r, &address, sizeof address);
  return address;
}

/* The kernel's own workspace, of zeros, if it has one, and the number of a launch of a sequence:
 * the last arguments. Returns its address. */
static inline uint64_t picked_run_add_workspace(picked_run *r) {
  const int64_t bytes = r->candidate->code.workspace_bytes;
  if (bytes == 0) {
    return 0;
  }
  void *zeros = sct_alloc((size_t)bytes);
  assert_non_null(zeros);
  const uint64_t address = picked_run_add_buffer(
      r, &(sct_ptx_buffer){.name = "workspace", .bytes = bytes, .data = zeros});
  sct_free(zeros);
  if (r->candidate->code.passes > 0) {
    picked_run_add(r, &(int){0}, sizeof(int));
  }
  return address;
}

/* With `data` it is an input, without an output that must be written. */
static inline uint64_t picked_run_add_array(picked_run *r, const char *name, const void *data,
                                            int64_t bytes) {
  return picked_run_add_buffer(r, &(sct_ptx_buffer){.name = name,
                                                    .bytes = bytes,
                                                    .data = data,
                                                    .read_only = data != NULL,
                                                    .output = data == NULL});
}

/* Fails the test, with `what` and the extents, if the run gets a diagnosis. */
static inline sct_ptx_counters picked_run_launch(picked_run *r, const char *what) {
  const picked *p = r->candidate;
  const sct_ptx_launch_opts opts = {.module = r->module,
                                    .kernel = p->compiled.entry,
                                    .grid = {r->blocks},
                                    .block = {p->code.threads},
                                    .shared_bytes = p->code.shared_bytes,
                                    .args = r->args,
                                    .n_args = r->n_args,
                                    .passes = p->code.passes};
  sct_ptx_result result = {0};
  sct_str text = {0};
  MUST(sct_ptx_launch(&result, r->memory, &opts, err));
  if (result.diag.kind != SCT_PTX_CLEAN) {
    for (int k = 0; k < r->n_extents; k++) {
      sct_str_printf(&text, " %lld", (long long)r->extent[k]);
    }
    sct_str_append(&text, ": ");
    sct_ptx_diag_print(&text, &result.diag);
    fail_msg("%s, '%s', extents%s", what, p->label, sct_str_c(&text));
  }
  const sct_ptx_counters counters = result.counters;
  sct_ptx_result_free(&result);
  return counters;
}

/* ---- small whole numbers ---- */

/* Element `at` of an array of any scalar type: -5 to 10. */
static inline void picked_put(void *out, const char *type, int64_t at, int64_t value) {
  static const uint16_t halves[] = {0xc500, 0xc400, 0xc200, 0xc000, 0xbc00, 0x0000, 0x3c00, 0x4000,
                                    0x4200, 0x4400, 0x4500, 0x4600, 0x4700, 0x4800, 0x4880, 0x4900};
  if (strcmp(type, "f32") == 0) {
    ((float *)out)[at] = (float)value;
  } else if (strcmp(type, "f64") == 0) {
    ((double *)out)[at] = (double)value;
  } else if (strcmp(type, "f16") == 0) {
    assert_in_range(value + 5, 0, SCT_COUNT(halves) - 1);
    ((uint16_t *)out)[at] = halves[value + 5];
  } else { /* i8, u32, ...; little-endian */
    const int bytes = atoi(type + 1) / 8;
    memcpy((char *)out + at * bytes, &value, (size_t)bytes);
  }
}

#endif
