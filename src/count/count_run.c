/* count_run - from a manifest and a CUDA file to a row a case. */
#include "compile/compile.h"
#include "count/count_internal.h"
#include "model/model.h"

#include <string.h>

#define MAX_THREADS                                                                                \
  16 /* more gain little: a launch has few blocks, and each thread its own warps */

typedef struct sct_count_session session;

typedef struct settings {
  const count_variable *all;
  int n;
} settings;

typedef struct run {
  const sct_count_manifest *m;
  const sct_count_opts *opts;
  session *s;
  sct_count_report *out;
  const char **kernels; /* [n_kernels] distinct names */
  int n_kernels;
  int *kernel_of;      /* [n_cases] index in kernels */
  settings *settings;  /* [n_cases] */
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
    sct_str_printf(out, " (the compiler says: %.*s)", (int)strcspn(text, "\n"), text);
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
  return count_fail_case(r->m, first_case_of(r, kernel), &text, r->err);
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

/* A kernel by its name in the PTX, or by the one that its source has if no other has that too. */
static const char *entry_named(const sct_ptx_module *module, const char *name) {
  SCT_SCOPED(sct_str) asked = {0};
  const char *found = NULL;
  int times = 0;
  for (const char *at = name; *at != '\0'; at++) {
    sct_str_append_n(&asked, at, *at != ' ');
  }
  if (sct_ptx_kernel_find(module, name) != NULL) {
    return name;
  }
  for (int k = 0; k < sct_ptx_n_kernels(module); k++) {
    SCT_SCOPED(sct_str) plain = {0}, full = {0};
    const char *const entry = sct_ptx_kernel_at(module, k)->name;
    count_plain_name(&plain, entry);
    (void)sct_compile_demangle(&full, entry);
    if (count_stands_for(sct_str_c(&asked), sct_str_c(&plain)) ||
        count_stands_for(sct_str_c(&asked), sct_str_c(&full))) {
      found = entry;
      times++;
    }
  }
  return times == 1 ? found : NULL;
}

/* PTX of another compiler, which is there already. */
static sct_status take_ptx(run *r) {
  session *const s = r->s;
  const sct_compile_file file = {
      .path = r->opts->file, .kernels = r->kernels, .n_kernels = r->n_kernels};
  SCT_TRY(sct_compile_ptx(&s->compiled, &file, r->opts->arch, r->err));
  SCT_TRY(parse(r, s->compiled.ptx));
  for (int k = 0; k < r->n_kernels; k++) {
    s->entries[k] = entry_named(s->module, r->kernels[k]);
    if (s->entries[k] == NULL) {
      return fail_kernel(r, k);
    }
  }
  return SCT_OK;
}

static sct_status compile(run *r) {
  session *const s = r->s;
  const sct_compile_opts opts = {
      .arch = r->opts->arch, .threads = 1, .extra = compiler_options(r), .with = r->opts->with};
  int unknown = -1;
  bool more = false;
  s->entries = SCT_ARENA_NEW(&s->arena, const char *, r->n_kernels);
  if (sct_compile_holds_ptx(r->opts->file)) {
    return take_ptx(r);
  }
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
  r->out->by = s->compiled.by;
  r->out->why = s->compiled.why;
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
  if (s->compiled.cubin_bytes == 0) {
    *out = *out ? *out
                : sct_arena_printf(&r->s->arena, "its machine code is not known: %s",
                                   s->compiled.why ? s->compiled.why : "there is none");
    return;
  }
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

/* What variables hold from a case on; the first has what the manifest sets as well. */
static sct_status encode_settings(const run *r, const sct_count_case *c, int i) {
  const bool first = i == 0;
  const int n = c->n_settings + (first ? r->m->n_settings : 0);
  count_variable *const all = SCT_ARENA_NEW(&r->s->arena, count_variable, n + 1);
  r->settings[i] = (settings){all, n};
  for (int k = 0; k < n; k++) {
    SCT_SCOPED(sct_str) why = {0};
    const int own = k - (n - c->n_settings);
    const sct_count_setting *const given = own < 0 ? &r->m->settings[k] : &c->settings[own];
    if (!count_encode_setting(&all[k], given, r->s, &why)) {
      return count_fail_case(r->m, c, &why, r->err);
    }
  }
  return SCT_OK;
}

static void apply_settings(const run *r, int i) {
  for (int k = 0; k < r->settings[i].n; k++) {
    const count_variable *const v = &r->settings[i].all[k];
    memcpy(sct_ptx_variable_data(&r->s->variables, r->s->module, r->s->entries[r->kernel_of[i]],
                                 v->index),
           v->data, (size_t)v->bytes);
  }
}

/* Every case's arguments, before any of them runs. */
static sct_status encode_all(const run *r, const void ***args) {
  for (int i = 0; i < r->m->n_cases; i++) {
    const sct_count_case *const c = &r->m->cases[i];
    const char *const entry = r->s->entries[r->kernel_of[i]];
    const sct_ptx_kernel *const kernel = sct_ptx_kernel_find(r->s->module, entry);
    args[i] = SCT_ARENA_NEW(&r->s->arena, const void *, kernel->n_params + 1);
    SCT_TRY(count_bind(r->s, r->m, r->opts->file, c, kernel, args[i], r->err));
    SCT_TRY(encode_settings(r, c, i));
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

/* What the kernel printed. */
static void pass_output(const sct_count_case *c, sct_ptx_result *result) {
  if (result->printed != NULL) {
    fputs(result->printed, stderr);
  }
  if (result->prints_dropped > 0) {
    sct_log(SCT_LOG_WARN, "case '%s': the text of %lld more calls of printf is left out", c->name,
            (long long)result->prints_dropped);
  }
  sct_free(result->printed);
  result->printed = NULL;
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

/* What a launch found, which belongs to the row from here on. */
static void take_result(const run *r, sct_count_row *row, const sct_ptx_result *result) {
  row->diag = result->diag;
  row->findings = result->findings;
  row->n_findings = result->n_findings;
  row->warning = result->warning;
  row->heap = result->heap;
  row->counters = result->counters;
  row->insts = result->insts;
  row->requests = result->requests;
  row->n_insts = result->n_insts;
  name_buffers(r, row->requests, row->n_insts);
  row->traffic = result->traffic;
}

/* Threads that end before a barrier are usual outside of generated code, and legal on a GPU. */
static sct_status run_case(const run *r, int i, const void *const *args) {
  const sct_count_case *const c = &r->m->cases[i];
  sct_count_row *const row = &r->out->rows[i];
  sct_ptx_launch_opts opts = {
      .module = r->s->module,
      .kernel = r->s->entries[r->kernel_of[i]],
      .shared_bytes = c->shared_bytes,
      .cluster = (int)c->cluster,
      .cooperative = c->cooperative,
      .heap_bytes = c->heap_bytes,
      .args = args,
      .n_args = sct_ptx_kernel_find(r->s->module, r->s->entries[r->kernel_of[i]])->n_params,
      .threads = r->s->threads,
      .no_definedness = r->opts->most_findings == 0,
      .no_races = r->opts->most_findings == 0,
      .most_findings = r->opts->most_findings,
      .lenient_exits = true,
      .variables = &r->s->variables,
      .coalescing = r->opts->coalescing,
      .per_buffer = r->opts->device != NULL,
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
  opts.registers = row->registers;
  row->cause = r->causes[r->kernel_of[i]];
  sct_ptx_result result;
  sct_error err = {0};
  sct_ptx_cache_sizes caches;
  if (r->opts->device && row->registers > 0 && r->opts->device->l2_bytes > 0) {
    caches = sct_count_caches(r->opts->device, (int)(row->block[0] * row->block[1] * row->block[2]),
                              row->registers, row->static_shared_bytes + row->shared_bytes);
    opts.caches = &caches;
  }
  apply_settings(r, i);
  sct_status status = sct_ptx_launch(&result, r->s->memory, &opts, &err);
  if (status == SCT_EUSAGE || status == SCT_EDATA) {
    set_problem(r, row, err.text);
    return SCT_OK;
  }
  if (status != SCT_OK) {
    return sct_fail(r->err, status, "case '%s': %s", c->name, err.text);
  }
  pass_output(c, &result);
  evaluate(r, r->kernel_of[i], row, &result);
  take_result(r, row, &result);
  count_demand(row);
  count_spills(row, r->s->module, r->s->compiled.ptx, r->s->compiled.cubin,
               r->s->compiled.cubin_bytes);
  if (r->opts->device) {
    count_local(row, r->opts->device);
    count_atomics(row, r->s->memory, r->s->addresses.of, r->m->n_buffers);
  }
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
  r->settings = SCT_ARENA_NEW(&s->arena, settings, n);
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
  return s->compiled.by ? s->compiled.by
         : s->compiler == NULL
             ? "ptx"
             : sct_arena_printf(&s->arena, "nvrtc %s", sct_compiler_version(s->compiler));
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
    sct_ptx_variables_free(s->variables);
    sct_ptx_memory_free(s->memory);
    sct_ptx_module_free(s->module);
    sct_compiled_file_free(&s->compiled);
    count_asked_free(s->asked);
    sct_compiler_free(s->compiler);
    sct_free(s->addresses.pointers);
    sct_arena_free(&s->arena);
    sct_free(s);
  }
  *report = (sct_count_report){0};
}
