/* mutants_run - kernels of a group of mutants: rendered from changed assets, compiled together, and
 * verified on the virtual device.
 *
 * A change of an asset reaches the naive variant too. Where it becomes another one, that is what
 * the mutant is compared with, as in a session of tune: then the host's own knowledge is what is
 * left, or that both are wrong in different ways. */
#ifndef SCT_TESTS_TUNE_MUTANTS_RUN_H
#define SCT_TESTS_TUNE_MUTANTS_RUN_H

#include "compile/compile.h"
#include "measure/measure.h"
#include "mutants_data.h"
#include "scratch.h"
#include "shared_cache.h"

#define MR_SEED        20261128
#define MR_MAX_DEVICES 4

/* What became of a kernel. */
typedef enum mr_end {
  MR_LEFT_OUT, /* not in the sample, or nothing needs it */
  MR_RIGHT,    /* verified */
  MR_WRONG,
  MR_NOT_RUN, /* it could not be rendered, did not compile, or the device refused it */
  MR_SAME     /* the machine code of its original */
} mr_end;

typedef struct mr_kernel {
  const md_item *item;     /* NULL: a naive variant that others are compared with */
  const md_change *change; /* of an operator; NULL: none */
  int original;            /* the kernel that it is a mutant of; -1: none */
  int naive;               /* what it is compared with; a naive variant with itself */
  sct_kernel_code code;
  bool borrowed; /* the code is the original's, but for its source */
  const char *source;
  sct_compiled compiled;
  sct_binary binary;
  mr_end end;
  const char *detail;
} mr_kernel;

typedef struct mr_group {
  const md_group *data;
  fixture f;
  mr_kernel *list;
  size_t n, cap;
  int *of_item; /* [data->n_items] its kernel; -1: none */
} mr_group;

static char mr_folder[64];
static struct {
  char arch[16];
  sct_compiler *compiler;
} mr_compilers[MR_MAX_DEVICES]; /* each starts NVRTC once */

static inline void mr_setup(void) {
  assert_int_equal(scratch_make(mr_folder, sizeof mr_folder, "mutants"), 0);
}

static inline void mr_teardown(void) {
  for (int k = 0; k < MR_MAX_DEVICES; k++) {
    sct_compiler_free(mr_compilers[k].compiler);
  }
  sct_assets_override(NULL);
  (void)scratch_remove(mr_folder);
}

/* ---- rendering ---- */

static inline void mr_open(mr_group *g, const md_group *data) {
  *g = (mr_group){.data = data};
  MUST(data->path ? sct_script_load_spec(&g->f.spec, data->path, err)
                  : sct_script_load_spec_text(&g->f.spec, "test.lua", data->text, err));
  MUST(sct_script_load_device(&g->f.device, data->device, err));
  MUST(sct_script_new(&g->f.script, &g->f.spec, &g->f.device, NULL, err));
  MUST(sct_script_space(&g->f.space, g->f.script, err));
  MUST(sct_space_enumerate(&g->f.space, err));
  g->of_item = SCT_ARENA_NEW(&g->f.arena, int, data->n_items + 1);
}

static inline void mr_close(mr_group *g) {
  for (size_t k = 0; k < g->n; k++) {
    sct_compiled_free(&g->list[k].compiled);
    if (!g->list[k].borrowed) {
      sct_kernel_code_free(&g->list[k].code);
    }
  }
  sct_free(g->list);
  fixture_close(&g->f);
}

static inline int mr_add(mr_group *g, const mr_kernel *kernel) {
  SCT_GROW(g->list, g->n, g->cap);
  g->list[g->n] = *kernel;
  return (int)g->n++;
}

/* Generates candidate c; returns why not, or NULL. */
static inline const char *mr_generate(sct_kernel_code *out, mr_group *g, sct_script *script,
                                      const sct_space *space, int64_t c) {
  const char *rejected = NULL;
  sct_error why = {0};
  const sct_status status = sct_codegen_make(out, &rejected, &g->f.arena, script, &g->f.spec, space,
                                             &space->candidates[c], &why);
  return status == SCT_OK ? rejected : sct_arena_strdup(&g->f.arena, why.text);
}

static inline bool mr_is_same(const mr_group *g, const sct_kernel_code *a,
                              const sct_kernel_code *b) {
  return a->hash.lo == b->hash.lo && a->hash.hi == b->hash.hi &&
         memcmp(a->layout, b->layout, sizeof *a->layout * (size_t)g->f.spec.n_operands) == 0;
}

/* The naive variant with the kernel's layouts, one for all that have the same; -1: there is none.
 * It may be the kernel itself. */
static inline int mr_naive(mr_group *g, sct_script *script, const sct_space *space, int kernel) {
  sct_kernel_code code = {0};
  const int64_t c = sct_codegen_naive(&g->f.spec, space, g->list[kernel].code.layout);
  if (c < 0 || mr_generate(&code, g, script, space, c) != NULL) {
    return -1;
  }
  if (mr_is_same(g, &code, &g->list[kernel].code)) {
    sct_kernel_code_free(&code);
    return kernel;
  }
  for (size_t k = 0; k < g->n; k++) {
    if (g->list[k].item == NULL && mr_is_same(g, &code, &g->list[k].code)) {
      sct_kernel_code_free(&code);
      return (int)k;
    }
  }
  return mr_add(g, &(mr_kernel){.original = -1,
                                .naive = (int)g->n,
                                .code = code,
                                .source = code.source,
                                .end = MR_NOT_RUN});
}

/* The kernel that an item is a mutant of; -1: it is none. */
static inline int mr_original(const mr_group *g, const md_item *item) {
  return item->kind ? g->of_item[item->original] : -1;
}

/* Adds the kernel of an item, of these strategies, and its naive variant. */
static inline int mr_add_of(mr_group *g, const md_item *item, sct_script *script,
                            const sct_space *space) {
  sct_error why = {0};
  mr_kernel kernel = {
      .item = item, .original = mr_original(g, item), .naive = -1, .end = MR_NOT_RUN};
  const int64_t c = sct_space_find(space, item->label, 0, &why);
  kernel.detail = c < 0 ? sct_arena_strdup(&g->f.arena, why.text)
                        : mr_generate(&kernel.code, g, script, space, c);
  kernel.source = kernel.code.source;
  const int at = mr_add(g, &kernel);
  if (!kernel.detail) {
    const int naive = mr_naive(g, script, space, at);
    g->list[at].naive = naive;
    g->list[at].detail = naive < 0 ? "its naive variant could not be rendered" : NULL;
  }
  return at;
}

static inline mr_kernel *mr_add_changed(mr_group *g, int original, const md_change *change) {
  mr_kernel mutant = g->list[original];
  mutant.change = change;
  mutant.original = original;
  mutant.borrowed = true;
  mutant.naive = mutant.naive == original ? (int)g->n : mutant.naive;
  const int at = mr_add(g, &mutant); /* moves the list */
  return &g->list[at];
}

/* Adds a written mutant that changes the source of its original. */
static inline int mr_add_written(mr_group *g, const md_item *item) {
  const int original = g->of_item[item->original];
  const char *source = g->list[original].source;
  const char *at = source ? strstr(source, item->from) : NULL;
  md_change *change = SCT_ARENA_NEW(&md_arena, md_change, 1);
  *change = (md_change){.kind = item->kind,
                        .from = item->from,
                        .to = item->to,
                        .where = "source",
                        .at = at ? at - source : 0,
                        .operand = -1};
  mr_kernel *mutant = mr_add_changed(g, original, change);
  mutant->item = item;
  mutant->detail = at || mutant->detail ? mutant->detail : "nothing to change in the source";
  return (int)(g->n - 1);
}

/* Adds the kernel of an item. The spec stays: strategies and templates read what changes. */
static inline void mr_render(mr_group *g, int i) {
  const md_item *item = &g->data->items[i];
  sct_script *script = NULL;
  sct_space space = {0};
  sct_error why = {0};
  if (item->from && !item->file) {
    g->of_item[i] = mr_add_written(g, item);
    return;
  }
  if (item->n_assets == 0) {
    g->of_item[i] = mr_add_of(g, item, g->f.script, &g->f.space);
    return;
  }
  const char *folder = sct_arena_printf(&g->f.arena, "%s/assets", mr_folder);
  for (int k = 0; k < item->n_assets; k++) {
    sct_str directory = {0};
    const char *path = sct_arena_printf(&g->f.arena, "%s/%s", folder, item->assets[k].path);
    sct_path_dirname(&directory, path);
    MUST(sct_dir_make(sct_str_c(&directory), err));
    MUST(sct_file_write(path, item->assets[k].text, strlen(item->assets[k].text), err));
    sct_str_free(&directory);
  }
  sct_assets_override(folder);
  sct_status status = sct_script_new(&script, &g->f.spec, &g->f.device, NULL, &why);
  SCT_THEN(sct_script_space(&space, script, &why));
  SCT_THEN(sct_space_enumerate(&space, &why));
  g->of_item[i] = status == SCT_OK
                      ? mr_add_of(g, item, script, &space)
                      : mr_add(g, &(mr_kernel){.item = item,
                                               .original = mr_original(g, item),
                                               .naive = -1,
                                               .end = MR_NOT_RUN,
                                               .detail = sct_arena_strdup(&g->f.arena, why.text)});
  sct_space_free(&space);
  sct_script_free(script);
  sct_assets_override(NULL);
  assert_int_equal(scratch_remove(folder), 0);
}

/* Adds mutants that ask half the alignment of a pointer, where it is more than the naive variant
 * needs. */
static inline void mr_misalign(mr_group *g, int original) {
  for (int op = 0; op < g->f.spec.n_operands; op++) {
    const int64_t asked = g->list[original].code.align[op];
    if (asked <= g->list[g->list[original].naive].code.align[op]) {
      continue;
    }
    md_change *change = SCT_ARENA_NEW(&md_arena, md_change, 1);
    *change = (md_change){
        .kind = "alignment",
        .from = sct_arena_printf(&md_arena, "%lld", (long long)asked),
        .to = sct_arena_printf(&md_arena, "%lld", (long long)asked / 2),
        .where = sct_arena_printf(&md_arena, "alignment of %s", g->f.spec.operands[op].name),
        .operand = op};
    sct_kernel_code *code = &mr_add_changed(g, original, change)->code;
    int64_t *align = SCT_ARENA_NEW(&g->f.arena, int64_t, g->f.spec.n_operands);
    memcpy(align, code->align, sizeof *align * (size_t)g->f.spec.n_operands);
    align[op] = asked / 2;
    code->align = align;
  }
}

/* Adds a mutant for each change that operators make to a kernel. */
static inline void mr_operate(mr_group *g, int original) {
  int n = 0;
  const md_change *changes = md_operators(g->list[original].source, &n);
  for (int k = 0; k < n; k++) {
    mr_add_changed(g, original, &changes[k]);
  }
  mr_misalign(g, original);
}

/* ---- compiling ---- */

static inline sct_compiler *mr_compiler(const sct_device_desc *device) {
  char arch[16];
  int k = 0;
  snprintf(arch, sizeof arch, "sm_%d%d", device->cc_major, device->cc_minor);
  while (k < MR_MAX_DEVICES && mr_compilers[k].compiler &&
         strcmp(mr_compilers[k].arch, arch) != 0) {
    k++;
  }
  assert_in_range(k, 0, MR_MAX_DEVICES - 1);
  if (!mr_compilers[k].compiler) {
    const sct_compile_opts opts = {
        .arch = arch, .threads = 1, .cache_dir = shared_cache(mr_folder)};
    MUST(sct_compiler_new(&mr_compilers[k].compiler, &opts, err));
    snprintf(mr_compilers[k].arch, sizeof mr_compilers[k].arch, "%s", arch);
  }
  return mr_compilers[k].compiler;
}

/* The source with a change. */
static inline const char *mr_changed(sct_arena *arena, const char *source,
                                     const md_change *change) {
  return sct_arena_printf(arena, "%.*s%s%s", (int)change->at, source, change->to,
                          source + change->at + strlen(change->from));
}

static inline bool mr_is_wanted(const mr_kernel *kernel) {
  return !kernel->detail && kernel->end != MR_LEFT_OUT;
}

/* Leaves out what no mutant of the sample needs. */
static inline void mr_leave_out(mr_group *g) {
  bool *needed = sct_alloc(g->n + 1);
  memset(needed, 0, g->n + 1);
  for (size_t k = 0; k < g->n; k++) {
    const int used[] = {(int)k, g->list[k].naive, g->list[k].original,
                        g->list[k].original < 0 ? -1 : g->list[g->list[k].original].naive};
    const bool is_chosen = g->list[k].original >= 0 && g->list[k].end != MR_LEFT_OUT;
    for (int u = 0; is_chosen && u < SCT_COUNT(used); u++) {
      needed[used[u] < 0 ? (int)k : used[u]] = true;
    }
  }
  for (size_t k = 0; k < g->n; k++) {
    g->list[k].end = needed[k] ? g->list[k].end : MR_LEFT_OUT;
  }
  sct_free(needed);
}

static inline void mr_compile(mr_group *g) {
  sct_compile_unit *units = sct_alloc(sizeof *units * (g->n + 1));
  sct_compiled *results = sct_alloc(sizeof *results * (g->n + 1));
  int n = 0;
  for (size_t k = 0; k < g->n; k++) {
    mr_kernel *kernel = &g->list[k];
    if (mr_is_wanted(kernel)) {
      kernel->source = kernel->change && kernel->change->operand < 0
                           ? mr_changed(&g->f.arena, kernel->code.source, kernel->change)
                           : kernel->source;
      units[n++] =
          (sct_compile_unit){kernel->source, kernel->code.kernel, kernel->code.n_params > 0};
    }
  }
  MUST(sct_compiler_run(mr_compiler(&g->f.device), units, n, results, NULL, NULL, err));
  n = 0;
  for (size_t k = 0; k < g->n; k++) {
    mr_kernel *kernel = &g->list[k];
    if (mr_is_wanted(kernel)) {
      kernel->compiled = results[n++];
      kernel->detail = kernel->compiled.ok ? NULL
                                           : sct_arena_printf(&g->f.arena, "did not compile: %s",
                                                              kernel->compiled.log);
      kernel->binary = (sct_binary){.code = &kernel->code,
                                    .cubin = kernel->compiled.cubin,
                                    .cubin_bytes = kernel->compiled.cubin_bytes,
                                    .ptx = kernel->compiled.ptx,
                                    .entry = kernel->compiled.entry};
    }
  }
  sct_free(units);
  sct_free(results);
}

/* ---- verifying ---- */

/* Does the outcome say that the kernel ran and is wrong? Others say that it did not run. */
static inline bool mr_is_wrong(sct_outcome_kind outcome) {
  switch (outcome) {
  case SCT_OUT_RENDER_ERROR:
  case SCT_OUT_COMPILE_ERROR:
  case SCT_OUT_COMPILE_TIMEOUT:
  case SCT_OUT_COMPILE_CRASH:
  case SCT_OUT_COMPILE_MEMORY:
  case SCT_OUT_SPILLS:
  case SCT_OUT_TOO_LARGE:
  case SCT_OUT_LAUNCH_ERROR:
  case SCT_OUT_CRASH:
  case SCT_OUT_UNSUPPORTED:
    return false;
  default:
    return outcome != SCT_OUT_OK;
  }
}

static inline void mr_verify_one(mr_group *g, sct_measure *measure, mr_kernel *kernel) {
  sct_verdict verdict;
  sct_error why = {0};
  const sct_status status = sct_measure_verify(measure, &kernel->binary, &verdict, &why);
  if (status == SCT_ENOTVERIFIED) { /* the naive variant is wrong: by the change? */
    const bool is_changed =
        kernel->original >= 0 && kernel->naive != g->list[kernel->original].naive;
    kernel->end = is_changed ? MR_WRONG : MR_NOT_RUN;
    kernel->detail = sct_arena_strdup(&g->f.arena, why.text);
    return;
  }
  if (status != SCT_OK) {
    fail_msg("%s", why.text);
  }
  kernel->end = verdict.outcome == SCT_OUT_OK  ? MR_RIGHT
                : mr_is_wrong(verdict.outcome) ? MR_WRONG
                                               : MR_NOT_RUN;
  if (kernel->end != MR_RIGHT) {
    kernel->detail =
        sct_arena_printf(&g->f.arena, "%s: %s", sct_outcome_name(verdict.outcome), verdict.detail);
  }
}

/* Of a mutant whose source is changed: is it no mutant at all? */
static inline bool mr_has_same_code(const mr_group *g, const mr_kernel *kernel) {
  if (!kernel->change || kernel->change->operand >= 0) {
    return false;
  }
  const sct_hash its = g->list[kernel->original].compiled.code_hash;
  return kernel->compiled.code_hash.lo == its.lo && kernel->compiled.code_hash.hi == its.hi;
}

/* All that are compared with one naive variant, one after the other: it runs once. */
static inline void mr_verify(mr_group *g, uint64_t seed) {
  const sct_measure_opts opts = {.seed = seed, .described = &g->f.device};
  sct_measure *measure = NULL;
  MUST(sct_measure_open(&measure, 0, &opts, err));
  for (size_t naive = 0; naive < g->n; naive++) {
    bool is_set = false;
    for (size_t k = 0; k < g->n; k++) {
      mr_kernel *kernel = &g->list[k];
      if (kernel->naive != (int)naive || !kernel->item || kernel->end == MR_LEFT_OUT ||
          kernel->detail) {
        continue;
      }
      if (mr_has_same_code(g, kernel)) {
        kernel->end = MR_SAME;
        continue;
      }
      if (!g->list[naive].compiled.ok) {
        kernel->detail = "its naive variant did not compile";
        continue;
      }
      if (!is_set) {
        MUST(sct_measure_problem(measure, &g->f.spec, kernel->code.layout, &g->list[naive].binary,
                                 err));
        is_set = true;
      }
      mr_verify_one(g, measure, kernel);
    }
  }
  sct_measure_close(measure);
}

#endif
