/* One random spec on the virtual device, held to its reference.
 *
 *   run_spec FOLDER SEED [--candidates N] [--strategy NAME] [--pick LABEL]... [--mutate]
 *
 * FOLDER has spec.lua and reference.so (tests/fuzz/generate.lua). Sectile must accept the spec; the
 * naive variants and N candidates more, drawn by SEED, or those named, must compile, pass Sectile's
 * verification, and give what the reference gives: with every base at exactly the alignment that
 * the candidate declares, hostile values, and outputs that hold something else. Prints a line for
 * each fact, with tabs between its words:
 *
 *   spec FAMILY STRATEGIES      candidate STRATEGY RUNS      finding KIND LABEL TEXT      chunks
 * RUNS
 *
 * --mutate moves one store of every candidate's PTX; each that runs and is not noticed is a
 * finding. Exit code 0 without findings, 1 with some, 2 where the runner itself cannot go on. */
#include "codegen/codegen.h"
#include "compile/compile.h"
#include "measure/measure.h"
#include "ptx/ptx.h"
#include "shared_cache.h"
#include "spec/spec_internal.h"

#include "reference.h"

#include <dlfcn.h>

enum { MAX_PICKED = 64, RUNS_EACH = 4, MAX_BYTES = 8 << 20, MAX_THREADS = 16 << 20 };

typedef struct picked {
  char label[256];
  const char *strategy;
  bool naive;
  sct_kernel_code code;
  sct_compiled compiled;
  sct_ptx_module *module;
  unsigned char *workspace; /* as the launch before left it; NULL: the kernel has none */
  bool wrong;               /* the reference has found something */
  int changed_line;         /* of the PTX: the store that was moved; 0: none */
  bool changed_ran;
} picked;

typedef struct world {
  sct_spec spec;
  sct_device_desc device;
  sct_script *script;
  sct_space space;
  sct_arena arena;
  sct_compiler *compiler;
  sct_measure *measure;
  const fz_spec *reference;
  picked list[MAX_PICKED];
  int n;
  const char *labels[MAX_PICKED / 2]; /* those asked for; none: by chance */
  int n_labels;
  const char *strategy; /* candidates of this one only; NULL: of all */
  uint64_t rng, seed;
  bool mutate;
  int n_findings, n_chunked; /* runs in chunks */
} world;

/* ---- output ---- */

/* One line: what is below the first line of a text stays out. */
static void finding(world *w, const char *kind, const char *label, const char *text) {
  printf("finding\t%s\t%s\t", kind, label);
  for (const char *c = text; *c != '\0' && c - text < 900; c++) {
    putchar(*c == '\n' || *c == '\t' ? ' ' : *c);
  }
  putchar('\n');
  fflush(stdout);
  w->n_findings++;
}

static void must(sct_status status, const sct_error *err) {
  if (status != SCT_OK) {
    fprintf(stderr, "run_spec: %s\n", err->text);
    exit(2);
  }
}

static int64_t below(world *w, int64_t n) {
  return (int64_t)(fz_random(&w->rng) % (uint64_t)n);
}

/* ---- opening ---- */

static const fz_spec *load_reference(const char *folder) {
  char path[512];
  snprintf(path, sizeof path, "%s/reference.so", folder);
  void *library = dlopen(path, RTLD_NOW);
  if (!library) {
    fprintf(stderr, "run_spec: %s\n", dlerror());
    exit(2);
  }
  const fz_spec *const *spec = dlsym(library, "fz_reference");
  if (!spec) {
    fprintf(stderr, "run_spec: %s\n", dlerror());
    exit(2);
  }
  return *spec;
}

/* false: the spec is refused. */
static bool open_world(world *w, const char *folder) {
  sct_error err = {0};
  char path[512];
  snprintf(path, sizeof path, "%s/spec.lua", folder);
  w->reference = load_reference(folder);
  if (sct_script_load_spec(&w->spec, path, &err) != SCT_OK) {
    finding(w, "refused", "-", err.text);
    return false;
  }
  w->spec.host = true;
  for (int k = 0; k < w->spec.n_operands; k++) {
    w->spec.operands[k].stays = sct_mix64(w->seed, (uint64_t)k) % 3 == 0; /* on the device */
  }
  (void)sct_spec_find_chunks(&w->spec, NULL); /* where it can be cut */
  must(sct_script_load_device(&w->device, "h200", &err), &err);
  if (sct_script_new(&w->script, &w->spec, &w->device, NULL, &err) != SCT_OK ||
      sct_script_space(&w->space, w->script, &err) != SCT_OK ||
      sct_space_enumerate(&w->space, &err) != SCT_OK) {
    finding(w, "space", "-", err.text);
    return false;
  }
  const char *cache = shared_cache("");
  const sct_compile_opts opts = {
      .arch = "sm_90", .threads = 1, .cache_dir = *cache != '\0' ? cache : NULL};
  must(sct_compiler_new(&w->compiler, &opts, &err), &err);
  const sct_measure_opts measure = {
      .seed = w->seed, .described = &w->device, .request_ns = 120000000000};
  must(sct_measure_open(&w->measure, 0, &measure, &err), &err);
  return true;
}

/* ---- picking ---- */

/* Adds candidate `c`; false: its plan rejects it, or generating it failed. */
static bool pick(world *w, size_t c, bool naive) {
  picked *p = &w->list[w->n];
  const sct_candidate *candidate = &w->space.candidates[c];
  const char *rejected = NULL;
  sct_error err = {0};
  sct_str label = {0};
  *p = (picked){.naive = naive, .strategy = w->space.strategies[candidate->strategy].name};
  sct_space_label(&label, &w->space, candidate);
  snprintf(p->label, sizeof p->label, "%s", sct_str_c(&label));
  sct_str_free(&label);
  for (int k = 0; k < w->n; k++) {
    if (strcmp(w->list[k].label, p->label) == 0) {
      return false;
    }
  }
  const sct_status status = sct_codegen_make(&p->code, &rejected, &w->arena, w->script, &w->spec,
                                             &w->space, candidate, &err);
  if (status != SCT_OK) {
    finding(w, "generate", p->label, err.text);
    return false;
  }
  w->n += rejected == NULL;
  return rejected == NULL;
}

static int naive_of(const world *w, const int *layout) {
  for (int k = 0; k < w->n; k++) {
    if (w->list[k].naive &&
        memcmp(w->list[k].code.layout, layout, sizeof(int) * (size_t)w->spec.n_operands) == 0) {
      return k;
    }
  }
  return -1;
}

/* The naive variant of the layouts of the candidate that was picked last. */
static void pick_its_naive(world *w) {
  const int *layout = w->list[w->n - 1].code.layout;
  if (naive_of(w, layout) < 0) {
    const int64_t c = sct_codegen_naive(&w->spec, &w->space, layout);
    for (int k = 0; k < w->n; k++) { /* it may be there as a candidate */
      const picked *p = &w->list[k];
      w->list[k].naive |=
          strcmp(p->strategy, w->space.strategies[0].name) == 0 &&
          memcmp(p->code.layout, layout, sizeof(int) * (size_t)w->spec.n_operands) == 0 &&
          w->space.strategies[w->space.candidates[c].strategy].source == 0 &&
          sct_space_find(&w->space, p->label, 0, NULL) == c;
    }
    if (naive_of(w, layout) < 0 && !pick(w, (size_t)c, true)) {
      fprintf(stderr, "run_spec: no naive variant\n");
      exit(2);
    }
  }
}

static void pick_named(world *w) {
  for (int k = 0; k < w->n_labels; k++) {
    sct_error err = {0};
    const int64_t c = sct_space_find(&w->space, w->labels[k], 0, &err);
    if (c < 0 || !pick(w, (size_t)c, false)) {
      finding(w, "label", w->labels[k], c < 0 ? err.text : "its plan rejects it");
    } else {
      pick_its_naive(w);
    }
  }
}

/* Strategies take turns, each with candidates drawn by chance. */
static void pick_all(world *w, int wanted) {
  size_t first[64] = {0}, count[64] = {0};
  int strategies[64], n_strategies = 0;
  for (size_t c = 0; c < w->space.n_candidates; c++) {
    const int s = w->space.candidates[c].strategy;
    first[s] = count[s]++ == 0 ? c : first[s];
  }
  for (int s = 0; s < w->space.n_strategies && s < 64; s++) {
    if (count[s] > 0 && (!w->strategy || strcmp(w->strategy, w->space.strategies[s].name) == 0)) {
      strategies[n_strategies++] = s;
    }
  }
  printf("spec\t%s\t%d\n", w->reference->family, n_strategies);
  const int64_t start = n_strategies > 0 ? below(w, n_strategies) : 0;
  for (int turn = 0, picks = 0; n_strategies > 0 && picks < wanted && turn < 6 * wanted; turn++) {
    const int s = strategies[(start + turn) % n_strategies];
    if ((s == 0 && turn >= n_strategies) || w->n > MAX_PICKED - 2) {
      continue;
    }
    const size_t c = first[s] + (size_t)below(w, (int64_t)count[s]);
    if (pick(w, c, false)) {
      picks++;
      pick_its_naive(w);
    }
  }
}

/* ---- compiling ---- */

/* The candidate's PTX with one store of the kernel moved by 16 bytes; NULL: it has none. */
static char *mutate(world *w, picked *p) {
  const char *ptx = p->compiled.ptx, *stores[256], *end = NULL;
  int n = 0;
  char entry[512];
  snprintf(entry, sizeof entry, ".entry %s(", p->compiled.entry);
  const char *at = strstr(ptx, entry);
  end = at ? strstr(at, "\n}") : NULL;
  while (at && (at = strstr(at, "st.global")) && at < end && n < 256) {
    stores[n++] = at++;
  }
  if (n == 0) {
    return NULL;
  }
  const char *store = stores[below(w, n)], *close = strchr(store, ']');
  p->changed_line = 1;
  for (const char *c = ptx; c < store; c++) {
    p->changed_line += *c == '\n';
  }
  sct_str out = {0};
  sct_str_append_n(&out, ptx, (size_t)(close - ptx));
  const char *open = close;
  while (*open != '[' && *open != '+') {
    open--;
  }
  if (*open == '+') {
    out.len -= (size_t)(close - open);
    sct_str_printf(&out, "+%lld", atoll(open + 1) + 16);
  } else {
    sct_str_append(&out, "+16");
  }
  sct_str_append(&out, close);
  return strdup(sct_str_c(&out));
}

static void compile_all(world *w) {
  sct_compile_unit units[MAX_PICKED];
  sct_compiled results[MAX_PICKED];
  sct_error err = {0};
  for (int k = 0; k < w->n; k++) {
    units[k] = (sct_compile_unit){w->list[k].code.source, w->list[k].code.kernel,
                                  w->list[k].code.n_params > 0};
  }
  must(sct_compiler_run(w->compiler, units, w->n, results, NULL, NULL, &err), &err);
  for (int k = 0; k < w->n; k++) {
    picked *p = &w->list[k];
    p->compiled = results[k];
    if (!p->compiled.ok) {
      finding(w, "compile", p->label, p->compiled.log);
      continue;
    }
    char *changed = w->mutate ? mutate(w, p) : NULL;
    const sct_status status =
        sct_ptx_parse(&p->module, changed ? changed : p->compiled.ptx, "PTX", &err);
    free(changed);
    must(status, &err);
    p->workspace = p->code.workspace_bytes > 0 ? calloc(1, (size_t)p->code.workspace_bytes) : NULL;
  }
}

/* ---- running ---- */

typedef struct launch {
  sct_ptx_memory *memory;
  uint64_t address[FZ_MAX_ARRAYS], workspace;
  uint64_t value[64];
  const void *args[64];
  int n_args;
} launch;

static void add_arg(launch *l, const void *value, size_t bytes) {
  memcpy(&l->value[l->n_args], value, bytes);
  l->args[l->n_args] = &l->value[l->n_args];
  l->n_args++;
}

/* The arguments after the arrays: scalars, the extents n, the workspace, the number of a launch. */
static void add_rest(launch *l, const picked *p, const fz_run *run, const int64_t *n) {
  for (int k = 0; k < run->spec->n_scalars; k++) {
    add_arg(l, run->scalar[k], (size_t)run->spec->scalars[k].bytes);
  }
  for (int k = 0; k < run->spec->n_extents; k++) {
    add_arg(l, &n[k], sizeof n[k]);
  }
  if (p->workspace) {
    sct_error err = {0};
    const sct_ptx_buffer buffer = {.name = "workspace",
                                   .bytes = p->code.workspace_bytes,
                                   .data = p->workspace,
                                   .misalign = 16};
    must(sct_ptx_memory_add(l->memory, &l->workspace, &buffer, &err), &err);
    add_arg(l, &l->workspace, sizeof l->workspace);
  }
  if (p->code.passes > 0) { /* the interpreter numbers them */
    add_arg(l, &(int){0}, sizeof(int));
  }
}

/* The next launch finds the workspace as this one has left it. */
static void keep_workspace(const launch *l, picked *p) {
  if (p->workspace) {
    memcpy(p->workspace, sct_ptx_memory_data(l->memory, l->workspace),
           (size_t)p->code.workspace_bytes);
  }
}

/* Puts the arrays where the candidate says that they may begin, and no better. */
static void place_arrays(launch *l, const picked *p, const fz_run *run) {
  sct_error err = {0};
  sct_ptx_memory_new(&l->memory);
  for (int k = 0; k < run->spec->n_arrays; k++) {
    const fz_array *a = &run->spec->arrays[k];
    unsigned char *poison = malloc((size_t)run->bytes[k] + 1);
    unsigned char *required = malloc((size_t)run->bytes[k] + 1);
    for (int64_t b = 0; b < run->bytes[k]; b++) {
      poison[b] = fz_start(run, k, b);
      required[b] = run->state[k][b] >= FZ_BYTE_WRITTEN;
    }
    const sct_ptx_buffer buffer = {.name = a->name,
                                   .bytes = run->bytes[k],
                                   .data = a->is_output ? poison : run->data[k],
                                   .read_only = !a->is_output,
                                   .output = a->is_output,
                                   .required = a->is_output ? required : NULL,
                                   .misalign = p->code.align[k]};
    must(sct_ptx_memory_add(l->memory, &l->address[k], &buffer, &err), &err);
    free(poison);
    free(required);
    add_arg(l, &l->address[k], sizeof l->address[k]);
  }
  add_rest(l, p, run, run->n);
}

static void name_run(sct_str *out, const fz_run *run, int64_t blocks) {
  sct_str_append(out, "extents");
  for (int k = 0; k < run->spec->n_extents; k++) {
    sct_str_printf(out, " %lld", (long long)run->n[k]);
  }
  sct_str_printf(out, ", %lld blocks: ", (long long)blocks);
}

/* false: the run is a finding, as `text` says. */
static bool run_one(world *w, picked *p, const fz_run *run, int64_t blocks, sct_str *text) {
  launch l = {0};
  sct_error err = {0};
  sct_ptx_result result = {0};
  place_arrays(&l, p, run);
  const sct_ptx_launch_opts opts = {.module = p->module,
                                    .kernel = p->compiled.entry,
                                    .grid = {blocks},
                                    .block = {p->code.threads},
                                    .shared_bytes = p->code.shared_bytes,
                                    .args = l.args,
                                    .n_args = l.n_args,
                                    .passes = p->code.passes,
                                    .per_instruction = w->mutate,
                                    .no_counters = !w->mutate,
                                    .order = (sct_ptx_order)below(w, 3),
                                    .seed = w->seed};
  name_run(text, run, blocks);
  bool right = sct_ptx_launch(&result, l.memory, &opts, &err) == SCT_OK;
  if (!right) {
    sct_str_append(text, err.text);
  } else if (result.diag.kind != SCT_PTX_CLEAN) {
    right = false;
    sct_ptx_diag_print(text, &result.diag);
  }
  for (int k = run->spec->n_inputs; k < run->spec->n_arrays && right; k++) {
    char why[512];
    right = fz_check(run, k, sct_ptx_memory_data(l.memory, l.address[k]), why, sizeof why);
    if (!right) {
      sct_str_append(text, why);
    }
  }
  for (int k = 0; k < result.n_insts; k++) {
    p->changed_ran |= result.insts[k].ptx_line == p->changed_line && result.insts[k].executed > 0;
  }
  keep_workspace(&l, p);
  sct_ptx_result_free(&result);
  sct_ptx_memory_free(l.memory);
  return right;
}

/* ---- extents ---- */

static bool is_legal(const fz_spec *s, const int64_t *n) {
  int64_t elements = 1;
  for (int d = 0; d < s->n_dims; d++) {
    elements *= n[d];
    if (s->most[d] > 0 && n[d] > s->most[d]) {
      return false;
    }
  }
  for (int k = 0; k < s->n_arrays; k++) { /* elements of no row */
    if (s->arrays[k].index == 3 && s->extent(k, 0, n) < 2 && s->limit(k, n) > 1) {
      return false;
    }
  }
  for (int k = 0; k < s->n_arrays && elements > 0; k++) {
    const fz_array *a = &s->arrays[k];
    int64_t count = 1;
    for (int d = 0; d < a->n_dims; d++) {
      count *= s->extent(k, d, n);
    }
    if (a->index > 0 && (s->limit(k, n) < 1 || (a->index == 2 && count > s->limit(k, n)))) {
      return false;
    }
    const int64_t most = a->fields[0].bytes == 1   ? 127
                         : a->fields[0].bytes == 2 ? 32767
                                                   : INT32_MAX;
    if (a->index > 0 && s->limit(k, n) > most) {
      return false;
    }
  }
  return elements <= 1 << 17;
}

/* As the launch function asks; where there are no elements, nothing is asked. */
static bool limits_hold(const world *w, const int64_t *n) {
  bool any = true, hold = true;
  for (int d = 0; d < w->spec.n_dims; d++) {
    any = any && n[d] > 0;
  }
  for (int k = 0; k < w->spec.n_limits; k++) {
    hold = hold && sct_spec_limit_holds(&w->spec, &w->spec.limits[k], n);
  }
  return hold || !any;
}

static bool takes(const world *w, const picked *p, int64_t *n) {
  const sct_size size = {.extent = n};
  return limits_hold(w, n) && sct_codegen_fits(&w->spec, &p->code, &size) &&
         is_legal(w->reference, n);
}

/* The extents with those of a tuned size for some dimensions, which the candidate may be written
 * for: as few as it takes. */
static bool fix_extents(const world *w, const picked *p, const int64_t *from, int64_t *n) {
  const fz_spec *s = w->reference;
  for (int n_fixed = 1; n_fixed <= s->n_dims; n_fixed++) {
    for (int which = 1; which < 1 << s->n_dims; which++) {
      for (int k = 0; k < s->n_sizes && __builtin_popcount((unsigned)which) == n_fixed; k++) {
        memcpy(n, s->sizes[k], sizeof *n * FZ_MAX_EXTENTS);
        for (int d = 0; d < s->n_dims; d++) {
          n[d] = which >> d & 1 ? n[d] : from[d];
        }
        if (takes(w, p, n)) {
          return true;
        }
      }
    }
  }
  return false;
}

/* The extents with one or all of the dimensions rounded up so that the candidate takes them. */
static bool round_extents(const world *w, const picked *p, const int64_t *from, int64_t *n) {
  const fz_spec *s = w->reference;
  for (int64_t factor = 1; factor <= 2048; factor *= 2) {
    for (int which = factor == 1 ? s->n_dims : s->n_dims - 1 + (s->n_dims > 1); which >= 0;
         which--) {
      memcpy(n, from, sizeof *n * FZ_MAX_EXTENTS);
      for (int d = 0; d < s->n_dims; d++) {
        if (which == d || which == s->n_dims) {
          n[d] = fz_round_up(n[d], factor);
        }
      }
      for (int d = s->n_dims; d < s->n_extents; d++) { /* room for what scatters */
        n[d] *= factor * (which == s->n_dims ? factor : 1);
        n[d] = fz_round_up(n[d], factor);
      }
      if (takes(w, p, n)) {
        return true;
      }
    }
  }
  return fix_extents(w, p, from, n);
}

/* ---- one candidate ---- */

static int64_t blocks_of(world *w, const picked *p, const int64_t *n, bool few) {
  sct_error err = {0};
  int64_t blocks = 0;
  const sct_expr_env env = {w->spec.extent_var, n, w->spec.n_extents};
  must(sct_expr_eval(w->spec.pool, p->code.grid, &env, &blocks, &err), &err);
  return few && p->code.rounds > 0 && blocks > 1 ? 1 + below(w, blocks < 3 ? blocks : 3) : blocks;
}

#include "run_chunks.h"

static bool fits_memory(const fz_spec *s, const int *layout, const int64_t *n) {
  bool fits = true;
  for (int k = 0; k < s->n_arrays; k++) {
    fits = fits && s->bytes(k, layout[k], n) <= MAX_BYTES;
  }
  return fits;
}

/* Runs candidate `k` at some of the extents; how many. */
static int run_candidate(world *w, int k) {
  picked *p = &w->list[k];
  const fz_spec *s = w->reference;
  int64_t n[FZ_MAX_EXTENTS];
  int done = 0;
  const int64_t start = below(w, s->n_runs);
  for (int t = 0; t < s->n_runs && done < RUNS_EACH && !p->wrong; t++) {
    if (!round_extents(w, p, s->runs[(start + t) % s->n_runs], n)) {
      continue;
    }
    const int64_t blocks = blocks_of(w, p, n, done % 2 == 1);
    sct_str text = {0};
    fz_run run;
    if (blocks < 1 || blocks > MAX_THREADS / p->code.threads ||
        !fits_memory(s, p->code.layout, n)) {
      continue;
    }
    fz_run_open(&run, s, n, p->code.layout, fz_random(&w->rng));
    done++;
    p->wrong = !run_one(w, p, &run, blocks, &text);
    if (p->wrong && !w->mutate) {
      finding(w, "wrong", p->label, sct_str_c(&text));
    }
    sct_str_clear(&text);
    bool any = false;
    if (p->naive && !p->wrong && w->spec.chunk_dim >= 0 && !w->mutate) {
      name_run(&text, &run, blocks);
      if (!run_chunks(w, p, &run, &any, &text)) {
        finding(w, "chunks", p->label, sct_str_c(&text));
      }
      w->n_chunked += any;
    }
    fz_run_close(&run);
    sct_str_free(&text);
  }
  return done;
}

static sct_binary binary_of(const picked *p) {
  return (sct_binary){.code = &p->code,
                      .cubin = p->compiled.cubin,
                      .cubin_bytes = p->compiled.cubin_bytes,
                      .ptx = p->compiled.ptx,
                      .entry = p->compiled.entry};
}

/* What Sectile itself says of it. */
static void verify(world *w, int k) {
  const picked *p = &w->list[k];
  const int naive = naive_of(w, p->code.layout);
  if (!w->list[naive].compiled.ok) {
    return;
  }
  sct_error err = {0};
  sct_verdict verdict = {0};
  const sct_binary reference = binary_of(&w->list[naive]), candidate = binary_of(p);
  sct_status status = sct_measure_problem(w->measure, &w->spec, p->code.layout, &reference, &err);
  status = status == SCT_OK ? sct_measure_verify(w->measure, &candidate, &verdict, &err) : status;
  if (status != SCT_OK) {
    finding(w, "session", p->label, err.text);
  } else if (verdict.outcome != SCT_OUT_OK) {
    char text[700];
    snprintf(text, sizeof text, "%s: %s", sct_outcome_name(verdict.outcome), verdict.detail);
    finding(w, "failed", p->label, text);
  } else if (p->wrong) {
    finding(w, "verified-but-wrong", p->label, "passed verification");
  }
}

static void run_all(world *w) {
  for (int k = 0; k < w->n; k++) {
    if (!w->list[k].compiled.ok) {
      continue;
    }
    const int runs = run_candidate(w, k);
    printf("candidate\t%s\t%d\n", w->list[k].strategy, runs);
    fflush(stdout);
    if (!w->mutate && runs > 0) { /* else its requirements hold at no size, as `tune` says too */
      verify(w, k);
    } else if (!w->list[k].wrong && w->list[k].changed_ran) {
      finding(w, "unnoticed", w->list[k].label, "a store was moved, and nothing was said");
    }
  }
}

static void close_world(world *w) {
  for (int k = 0; k < w->n; k++) {
    sct_ptx_module_free(w->list[k].module);
    free(w->list[k].workspace);
    sct_compiled_free(&w->list[k].compiled);
    sct_kernel_code_free(&w->list[k].code);
  }
  sct_measure_close(w->measure);
  sct_compiler_free(w->compiler);
  sct_space_free(&w->space);
  sct_script_free(w->script);
  sct_spec_free(&w->spec);
  sct_arena_free(&w->arena);
}

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], SCT_WORKER_ARG) == 0) {
    return sct_worker_main(argc, argv);
  }
  if (argc > 1 && strcmp(argv[1], SCT_COMPILE_WORKER_ARG) == 0) {
    return sct_compile_worker_main(argc, argv);
  }
  if (argc < 3) {
    fprintf(stderr, "usage: run_spec FOLDER SEED [--candidates N] [--strategy NAME] "
                    "[--pick LABEL]... [--mutate]\n");
    return 2;
  }
  world *w = calloc(1, sizeof *w);
  int wanted = 8;
  w->seed = strtoull(argv[2], NULL, 10);
  w->rng = w->seed;
  for (int k = 3; k < argc; k++) {
    w->mutate = w->mutate || strcmp(argv[k], "--mutate") == 0;
    w->strategy = strcmp(argv[k], "--strategy") == 0 ? argv[k + 1] : w->strategy;
    wanted = strcmp(argv[k], "--candidates") == 0 && k + 1 < argc ? atoi(argv[k + 1]) : wanted;
    if (strcmp(argv[k], "--pick") == 0 && k + 1 < argc && w->n_labels < SCT_COUNT(w->labels)) {
      w->labels[w->n_labels++] = argv[k + 1];
    }
  }
  if (open_world(w, argv[1])) {
    const fz_spec *s = w->reference;
    bool same = s->n_arrays == w->spec.n_operands && s->n_extents == w->spec.n_extents;
    for (int k = 0; k < s->n_arrays && same; k++) {
      same = s->arrays[k].n_layouts == w->spec.operands[k].n_layouts;
    }
    if (same) {
      if (w->n_labels > 0) {
        pick_named(w);
      } else {
        pick_all(w, wanted);
      }
      compile_all(w);
      run_all(w);
    } else {
      finding(w, "shape", "-", "the spec has other arrays, extents or layouts than it says");
    }
  }
  printf("chunks\t%d\n", w->n_chunked);
  const int n_findings = w->n_findings;
  close_world(w);
  free(w);
  return n_findings > 0 ? 1 : 0;
}
