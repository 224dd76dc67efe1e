/* count_run - from a manifest and a CUDA file to a row a case. */
#include "compile/compile.h"
#include "count/count_internal.h"
#include "model/model.h"

#include <string.h>

#define MAX_THREADS                                                                                \
  16 /* more gain little: a launch has few blocks, and each thread its own warps */

typedef struct sct_count_session session;

typedef struct run {
  const sct_count_manifest *m;
  const sct_count_opts *opts;
  session *s;
  sct_count_report *out;
  const char **kernels; /* [n_kernels] distinct names */
  int n_kernels;
  int *kernel_of;      /* [n_cases] index in kernels */
  const char **causes; /* [n_kernels] why counts are approximate; NULL: they are exact */
  sct_error *err;
} run;

/* ---- kernels by name */

static void list_kernels(run *r) {
  const int n = r->m->n_cases;
  r->kernels = SCT_ARENA_NEW(&r->s->arena, const char *, n);
  r->kernel_of = SCT_ARENA_NEW(&r->s->arena, int, n);
  for (int i = 0; i < n; i++) {
    int k = 0;
    while (k < r->n_kernels && strcmp(r->kernels[k], r->m->cases[i].kernel) != 0) {
      k++;
    }
    if (k == r->n_kernels) {
      r->kernels[r->n_kernels++] = r->m->cases[i].kernel;
    }
    r->kernel_of[i] = k;
  }
}

/* "FILE:line: error: case 'x': TEXT" for a case of the manifest. */
static sct_status fail_case(const run *r, const sct_count_case *c, const sct_str *text) {
  SCT_SCOPED(sct_str) place = {0};
  count_place(&place, r->m, c->line, c->name);
  return sct_fail(r->err, SCT_ESPEC, "%s%s", sct_str_c(&place), sct_str_c(text));
}

static const sct_count_case *first_case_of(const run *r, int kernel) {
  int i = 0;
  while (r->kernel_of[i] != kernel) {
    i++;
  }
  return &r->m->cases[i];
}

/* The compiler's message about a name: `identifier "flo" is undefined` for copy<flo>. */
static void append_reason(sct_str *out, const char *log) {
  static const char word[] = "error: ";
  const char *const at = log != NULL ? strstr(log, word) : NULL;
  if (at != NULL) {
    const char *const text = at + sizeof(word) - 1;
    sct_str_printf(out, " (NVRTC: %.*s)", (int)strcspn(text, "\n"), text);
  }
}

/* A name that the file does not have. */
static sct_status fail_kernel(const run *r, int kernel) {
  SCT_SCOPED(sct_str) text = {0}, source = {0};
  sct_error ignored;
  sct_str_printf(&text, "%s has no kernel '%s'", r->opts->file, r->kernels[kernel]);
  if (sct_file_read(&source, r->opts->file, &ignored) == SCT_OK) {
    count_suggest_kernel(&text, r->kernels[kernel], r->s->module, sct_str_c(&source));
  }
  append_reason(&text, r->s->compiled.log);
  return fail_case(r, first_case_of(r, kernel), &text);
}

/* Compiles the file with those kernels named that have no entry yet; *unknown receives one whose
 * name means nothing there, or -1. */
static sct_status compile_named(run *r, int *unknown) {
  session *const s = r->s;
  sct_compile_file file = {.path = r->opts->file};
  const char **const names = SCT_ARENA_NEW(&s->arena, const char *, r->n_kernels);
  int *const which = SCT_ARENA_NEW(&s->arena, int, r->n_kernels);
  for (int k = 0; k < r->n_kernels; k++) {
    if (s->entries[k] == NULL) {
      which[file.n_kernels] = k;
      names[file.n_kernels++] = r->kernels[k];
    }
  }
  file.kernels = names;
  sct_compiled_file_free(&s->compiled);
  SCT_TRY(sct_compiler_file(s->compiler, &s->compiled, &file, r->err));
  if (!s->compiled.ok && s->compiled.unknown < 0) {
    return sct_fail(r->err, SCT_ESPEC, "%s", s->compiled.log);
  }
  for (int i = 0; s->compiled.ok && i < file.n_kernels; i++) {
    s->entries[which[i]] = s->compiled.entries[i];
  }
  *unknown = s->compiled.ok ? -1 : which[s->compiled.unknown];
  return SCT_OK;
}

static sct_status parse(run *r, const char *ptx) {
  const char *const name = sct_arena_printf(&r->s->arena, "%s (PTX)", r->opts->file);
  sct_ptx_module_free(r->s->module);
  r->s->module = NULL;
  return sct_ptx_parse(&r->s->module, ptx, name, r->err);
}

/* Kernels by what the linker calls them: that of an extern "C" kernel in a namespace is its plain
 * name, which C++ does not know outside of it. */
static sct_status find_entries(run *r, bool *any) {
  const sct_compile_file file = {.path = r->opts->file};
  SCT_SCOPED(sct_compiled_file) plain = {0};
  SCT_TRY(sct_compiler_file(r->s->compiler, &plain, &file, r->err));
  if (plain.ok) {
    SCT_TRY(parse(r, plain.ptx));
  }
  for (int k = 0; plain.ok && k < r->n_kernels; k++) {
    if (sct_ptx_kernel_find(r->s->module, r->kernels[k]) != NULL) {
      r->s->entries[k] = r->kernels[k];
      *any = true;
    }
  }
  return SCT_OK;
}

/* The options of the command and of the manifest, NULL-terminated. */
static const char *const *compiler_options(const run *r) {
  int n = 0, n_given = 0;
  while (r->opts->extra && r->opts->extra[n_given]) {
    n_given++;
  }
  const char **all = SCT_ARENA_NEW(&r->s->arena, const char *, n_given + r->m->n_options + 1);
  for (; n < n_given; n++) {
    all[n] = r->opts->extra[n];
  }
  for (int k = 0; k < r->m->n_options; k++) {
    all[n++] = r->m->options[k];
  }
  return all;
}

static sct_status compile(run *r) {
  session *const s = r->s;
  const sct_compile_opts opts = {.arch = r->opts->arch, .threads = 1, .extra = compiler_options(r)};
  int unknown = -1;
  bool more = false;
  s->entries = SCT_ARENA_NEW(&s->arena, const char *, r->n_kernels);
  SCT_TRY(sct_compiler_new(&s->compiler, &opts, r->err));
  SCT_TRY(compile_named(r, &unknown));
  if (unknown >= 0) {
    SCT_TRY(find_entries(r, &more));
  }
  if (more) {
    SCT_TRY(compile_named(r, &unknown));
  }
  if (unknown >= 0) {
    return fail_kernel(r, unknown);
  }
  SCT_TRY(parse(r, s->compiled.ptx));
  for (int k = 0; k < r->n_kernels; k++) {
    if (sct_ptx_kernel_find(s->module, s->entries[k]) == NULL) {
      return fail_kernel(r, k); /* a function that is no kernel */
    }
  }
  return SCT_OK;
}

/* ---- PTX against machine code */

/* Counts are of the PTX; where the assembler made other loads and stores of it they are not what
 * the machine does. */
static void compare_kernel(const run *r, int k, const sct_ptx_result *shown, const char **out) {
  const session *const s = r->s;
  const char *const entry = s->entries[k];
  sct_memops ptx, sass;
  SCT_SCOPED(sct_str) cause = {0};
  sct_error why = {0};
  sct_status status = sct_ptx_memops_run(&ptx, s->module, entry, shown, &why);
  SCT_THEN(sct_sass_memops(&sass, s->compiled.cubin, s->compiled.cubin_bytes, entry, &why));
  const bool exact = status == SCT_OK && sct_model_counts_exact(&ptx, &sass, &cause);
  if (!exact && status != SCT_OK) {
    sct_str_printf(&cause, "PTX and machine code cannot be compared: %s", why.text);
  }
  const bool known = !exact && *out != NULL && strcmp(*out, sct_str_c(&cause)) == 0;
  if (!known) { /* equal causes of a kernel's cases are one text: the printer tells each once */
    *out = exact ? NULL : sct_arena_strdup(&r->s->arena, sct_str_c(&cause));
  }
}

static void compare_kernels(run *r) {
  r->causes = SCT_ARENA_NEW(&r->s->arena, const char *, r->n_kernels);
  for (int k = 0; k < r->n_kernels; k++) {
    const char *cause = NULL;
    compare_kernel(r, k, NULL, &cause);
    r->causes[k] = cause;
  }
}

/* ---- arguments */

/* What the source calls a kernel's parameters; NULL where it does not show. */
static const char **parameters_of(const run *r, const sct_count_case *c, int n) {
  SCT_SCOPED(sct_str) source = {0};
  sct_error ignored;
  const char **const names = SCT_ARENA_NEW(&r->s->arena, const char *, n > 0 ? n : 1);
  const bool found = sct_file_read(&source, r->opts->file, &ignored) == SCT_OK &&
                     count_parameters(names, n, &r->s->arena, c->kernel, sct_str_c(&source));
  return found ? names : NULL;
}

/* "(a, b, n)" */
static void append_names(sct_str *out, const char *const *names, int n) {
  for (int k = 0; names && k < n; k++) {
    sct_str_printf(out, "%s%s", k > 0 ? ", " : " (", names[k]);
  }
  sct_str_append(out, names && n > 0 ? ")" : "");
}

static int arg_named(const sct_count_case *c, const char *name) {
  return sct_names_find(SCT_NAMES_IN(c->args, c->n_args, name), name);
}

/* A name that the kernel has not, or one that is missing; `text` stays empty where all is well. */
static void check_names(sct_str *text, const sct_count_case *c, const char *const *names, int n) {
  if (!names) {
    sct_str_printf(text,
                   "the names of the parameters of kernel '%s' are not to be found in the file; "
                   "give their values in order, without names",
                   c->kernel);
  }
  for (int k = 0; names && k < c->n_args && text->len == 0; k++) {
    const char *const given = c->args[k].name;
    if (sct_names_find(SCT_NAMES(names, n), given) < 0) {
      sct_str_printf(text, "kernel '%s' has no parameter '%s'", c->kernel, given);
      sct_str_suggest(text, given, SCT_NAMES(names, n));
    }
  }
  for (int p = 0; names && p < n && text->len == 0; p++) {
    if (arg_named(c, names[p]) < 0) {
      sct_str_printf(text, "argument '%s' is missing: kernel '%s' takes %d", names[p], c->kernel,
                     n);
      append_names(text, names, n);
    }
  }
}

/* Brings the arguments into the order of parameters. */
static sct_status order_args(const run *r, const sct_count_case *c, int n,
                             const sct_count_arg **ordered) {
  const bool named = c->n_args > 0 && c->args[0].name;
  const char **const names = named || c->n_args != n ? parameters_of(r, c, n) : NULL;
  SCT_SCOPED(sct_str) text = {0};
  if (named) {
    check_names(&text, c, names, n);
  } else if (c->n_args != n) {
    sct_str_printf(&text, "%s: kernel '%s' takes %d", r->m->path ? "'args'" : "--arg", c->kernel,
                   n);
    append_names(&text, names, n);
    sct_str_printf(&text, ", not %d", c->n_args);
  }
  const sct_status status = text.len > 0 ? fail_case(r, c, &text) : SCT_OK;
  for (int p = 0; status == SCT_OK && p < n; p++) {
    ordered[p] = &c->args[named ? arg_named(c, names[p]) : p];
  }
  return status;
}

static sct_status encode_args(const run *r, const sct_count_case *c, const sct_ptx_kernel *k,
                              const void **args) {
  const int n = k->n_params > 0 ? k->n_params : 1;
  const sct_count_arg **const ordered = SCT_ARENA_NEW(&r->s->arena, const sct_count_arg *, n);
  SCT_TRY(order_args(r, c, k->n_params, ordered));
  for (int i = 0; i < k->n_params; i++) {
    const int64_t bytes = k->params[i].bytes;
    uint8_t *const value = sct_arena_alloc(&r->s->arena, (size_t)bytes);
    SCT_SCOPED(sct_str) why = {0}, text = {0};
    if (!count_encode(value, bytes, ordered[i], &r->s->addresses, &why)) {
      sct_str_printf(&text, "argument %d", i + 1);
      if (ordered[i]->name) {
        sct_str_printf(&text, " '%s'", ordered[i]->name);
      }
      sct_str_printf(&text, ": %s", sct_str_c(&why));
      SCT_TRY(fail_case(r, c, &text));
    }
    args[i] = value;
  }
  return SCT_OK;
}

/* Every case's arguments, before any of them runs. */
static sct_status encode_all(const run *r, const void ***args) {
  for (int i = 0; i < r->m->n_cases; i++) {
    const sct_count_case *const c = &r->m->cases[i];
    const char *const entry = r->s->entries[r->kernel_of[i]];
    const sct_ptx_kernel *const kernel = sct_ptx_kernel_find(r->s->module, entry);
    args[i] = SCT_ARENA_NEW(&r->s->arena, const void *, kernel->n_params + 1);
    SCT_TRY(encode_args(r, c, kernel, args[i]));
  }
  return SCT_OK;
}

/* ---- launches */

/* A kernel in doubt may be exact in this launch: if a loop was unrolled and this run showed that
 * lanes leave it together. */
static void evaluate(const run *r, int kernel, sct_count_row *row, sct_ptx_result *result) {
  if (row->cause != NULL) {
    compare_kernel(r, kernel, result, &row->cause);
  }
  if (!r->opts->per_instruction) {
    sct_free(result->insts);
    sct_free(result->requests);
    result->insts = NULL;
    result->requests = NULL;
    result->n_insts = 0;
  }
  if (row->cause == NULL && r->opts->coalescing != SCT_PTX_CC70) {
    row->cause = "a model of an older device counts accesses that were compiled for another";
  }
  row->exact = row->cause == NULL;
}

static void set_problem(const run *r, sct_count_row *row, const char *text) {
  row->problem = sct_arena_strdup(&r->s->arena, text);
  r->out->n_failed++;
}

/* How large a buffer must be for an access past its end to fit. Buffers are 64 GiB apart. */
static void append_least_bytes(sct_str *out, const run *r, const sct_ptx_diag *diag) {
  for (int b = 0; diag->kind == SCT_PTX_OUT_OF_BOUNDS && b < r->m->n_buffers; b++) {
    const int64_t at = (int64_t)(diag->address - r->s->addresses.of[b]);
    if (r->m->buffers[b].used && at >= r->m->buffers[b].bytes && at < INT64_C(1) << 36) {
      sct_str_printf(out, "; buffer '%s' must have more than %lld bytes", r->m->buffers[b].name,
                     (long long)at);
    }
  }
}

/* Buffers by the manifest's names, which live on. */
static void name_buffers(const run *r, sct_ptx_requests *requests, int n) {
  for (int i = 0; requests != NULL && i < n; i++) {
    sct_ptx_request *const q = &requests[i].global;
    q->buffer = NULL;
    for (int b = 0; q->mask != 0 && b < r->m->n_buffers; b++) {
      if (r->m->buffers[b].used && r->s->addresses.of[b] == q->base) {
        q->buffer = r->m->buffers[b].name;
      }
    }
  }
}

/* Threads that end before a barrier are usual outside of generated code, and legal on a GPU. */
static sct_status run_case(const run *r, int i, const void *const *args) {
  const sct_count_case *const c = &r->m->cases[i];
  sct_count_row *const row = &r->out->rows[i];
  sct_ptx_launch_opts opts = {
      .module = r->s->module,
      .kernel = r->s->entries[r->kernel_of[i]],
      .shared_bytes = c->shared_bytes,
      .args = args,
      .n_args = sct_ptx_kernel_find(r->s->module, r->s->entries[r->kernel_of[i]])->n_params,
      .threads = r->s->threads,
      .no_definedness = r->opts->most_findings == 0,
      .no_races = r->opts->most_findings == 0,
      .most_findings = r->opts->most_findings,
      .lenient_exits = true,
      .coalescing = r->opts->coalescing,
      .per_instruction = r->opts->per_instruction || r->causes[r->kernel_of[i]] != NULL};
  memcpy(opts.grid, c->grid, sizeof(opts.grid));
  memcpy(opts.block, c->block, sizeof(opts.block));
  *row = (sct_count_row){.name = c->name,
                         .kernel = c->kernel,
                         .entry = opts.kernel,
                         .shared_bytes = c->shared_bytes,
                         .registers = sct_cubin_registers(r->s->compiled.cubin,
                                                          r->s->compiled.cubin_bytes, opts.kernel)};
  row->static_shared_bytes = sct_ptx_kernel_find(r->s->module, opts.kernel)->static_shared_bytes;
  for (int d = 0; d < 3; d++) {
    row->grid[d] = c->grid[d] > 0 ? c->grid[d] : 1;
    row->block[d] = c->block[d] > 0 ? c->block[d] : 1;
  }
  row->cause = r->causes[r->kernel_of[i]];
  sct_ptx_result result;
  sct_error err = {0};
  sct_ptx_cache_sizes caches;
  if (r->opts->device && row->registers > 0) {
    caches = sct_count_caches(r->opts->device, (int)(row->block[0] * row->block[1] * row->block[2]),
                              row->registers, row->static_shared_bytes + row->shared_bytes);
    opts.caches = &caches;
  }
  sct_status status = sct_ptx_launch(&result, r->s->memory, &opts, &err);
  if (status == SCT_EUSAGE || status == SCT_EDATA) {
    set_problem(r, row, err.text);
    return SCT_OK;
  }
  if (status != SCT_OK) {
    return sct_fail(r->err, status, "case '%s': %s", c->name, err.text);
  }
  evaluate(r, r->kernel_of[i], row, &result);
  row->diag = result.diag;
  row->findings = result.findings;
  row->n_findings = result.n_findings;
  row->warning = result.warning;
  row->counters = result.counters;
  row->insts = result.insts;
  row->requests = result.requests;
  row->n_insts = result.n_insts;
  name_buffers(r, row->requests, row->n_insts);
  row->traffic = result.traffic;
  count_demand(row);
  if (status == SCT_OK && result.diag.kind != SCT_PTX_CLEAN) {
    SCT_SCOPED(sct_str) text = {0};
    sct_ptx_diag_print(&text, &result.diag);
    append_least_bytes(&text, r, &result.diag);
    set_problem(r, row, sct_str_c(&text));
  }
  return status;
}

static sct_status run_all(run *r) {
  const int n = r->m->n_cases;
  session *const s = r->s;
  list_kernels(r);
  SCT_TRY(compile(r));
  compare_kernels(r);
  s->addresses.of = SCT_ARENA_NEW(&s->arena, uint64_t, r->m->n_buffers);
  s->args = SCT_ARENA_NEW(&s->arena, const void **, n);
  r->out->rows = sct_alloc((size_t)n * sizeof(*r->out->rows));
  r->out->n_rows = n;
  SCT_TRY(count_memory_new(&s->memory, s->addresses.of, r->m, r->err));
  SCT_TRY(encode_all(r, s->args));
  for (int i = 0; i < n; i++) {
    SCT_TRY(run_case(r, i, s->args[i]));
  }
  sct_ptx_memory_free(s->memory); /* the largest part, and of no use to the report */
  s->memory = NULL;
  return SCT_OK;
}

sct_status sct_count_run(sct_count_report *out, const sct_count_manifest *manifest,
                         const sct_count_opts *opts, sct_error *err) {
  *out = (sct_count_report){.session = sct_alloc(sizeof(*out->session))};
  const int cores = sct_cores();
  run r = {.m = manifest, .opts = opts, .s = out->session, .out = out, .err = err};
  r.s->threads = opts->threads > 0 ? opts->threads : cores < MAX_THREADS ? cores : MAX_THREADS;
  const sct_status status = run_all(&r);
  if (status != SCT_OK) {
    sct_count_report_free(out);
  }
  return status;
}

const char *sct_count_compiler(const sct_count_report *report) {
  session *const s = report->session;
  return sct_arena_printf(&s->arena, "nvrtc %s", sct_compiler_version(s->compiler));
}

void sct_count_report_free(sct_count_report *report) {
  session *const s = report->session;
  for (int i = 0; i < report->n_rows; i++) {
    sct_free(report->rows[i].insts);
    sct_free(report->rows[i].requests);
    sct_free(report->rows[i].findings);
  }
  sct_free(report->rows);
  if (s != NULL) {
    sct_ptx_memory_free(s->memory);
    sct_ptx_module_free(s->module);
    sct_compiled_file_free(&s->compiled);
    sct_compiler_free(s->compiler);
    sct_free(s->addresses.pointers);
    sct_arena_free(&s->arena);
    sct_free(s);
  }
  *report = (sct_count_report){0};
}
