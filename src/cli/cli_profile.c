/* The command `profile`: launches of a CUDA file by the sections of a profiler, and what to mend.
 */
#include "cli/cli_count.h"

#include <string.h>

enum { DEFAULT_LINES = 10, WIDEST_SOURCE = 74 };

/* What `--section` chooses from, as the page of commands has them. */
enum { LAUNCH, SPEED, GLOBAL, SHARED, CACHES, WARPS, MIX, SOURCE, ISSUES, N_SECTIONS };
static const char *const section_names[N_SECTIONS] = {
    "launch", "speed", "global", "shared", "caches", "warps", "mix", "source", "issues"};

/* ---- source lines ---- */

/* Files that lines were shown of: each is read once. */
typedef struct sources {
  sct_arena arena;
  struct {
    const char *path, *text;
  } files[16];
  int n;
} sources;

static const char *source_of(sources *s, const char *path) {
  for (int k = 0; k < s->n; k++) {
    if (strcmp(s->files[k].path, path) == 0) {
      return s->files[k].text;
    }
  }
  SCT_SCOPED(sct_str) text = {0};
  sct_error ignored;
  const bool read = sct_file_read(&text, path, &ignored) == SCT_OK;
  const char *kept = sct_arena_strdup(&s->arena, read ? sct_str_c(&text) : "");
  sct_str_free(&text);
  if (s->n < SCT_COUNT(s->files)) {
    s->files[s->n].path = sct_arena_strdup(&s->arena, path);
    s->files[s->n++].text = kept;
  }
  return kept;
}

/* The line as it is written, without what it is indented by. */
static const char *line_of(sources *s, const char *path, int line) {
  const char *at = source_of(s, path);
  for (int k = 1; k < line && at; k++) {
    at = strchr(at, '\n');
    at += at != NULL;
  }
  if (!at || line < 1) {
    return "";
  }
  at += strspn(at, " \t");
  const size_t n = strcspn(at, "\r\n");
  return sct_arena_strndup(&s->arena, at, n < WIDEST_SOURCE ? n : WIDEST_SOURCE);
}

/* ---- sections ---- */

static void append_sides(sct_str *out, const int64_t sides[3]) {
  sct_str_printf(out, "(%lld, %lld, %lld)", (long long)sides[0], (long long)sides[1],
                 (long long)sides[2]);
}

static void append_launch(sct_str *out, const sct_count_row *row, const sct_profile *p,
                          const sct_device_desc *device) {
  sct_str text = {0};
  sct_str_append(&text, "grid ");
  append_sides(&text, row->grid);
  sct_str_append(&text, ", block ");
  append_sides(&text, row->block);
  sct_str_printf(&text,
                 ": %lld blocks of %lld threads\n%d registers a thread, %lld bytes of shared "
                 "memory a block\n",
                 (long long)p->blocks, (long long)p->threads, row->registers,
                 (long long)(row->static_shared_bytes + row->shared_bytes));
  if (p->waves > 0.0) {
    sct_str_printf(&text,
                   "%s, %d SMs: %d blocks an SM, %.2f waves, occupancy %.0f %% (limit: %s)\n",
                   device->name, device->n_sms, p->occupancy.blocks_sm, p->waves,
                   100.0 * p->occupancy.fraction, p->occupancy.limit);
  }
  if (row->blocks_run > 0 && row->blocks_run < p->blocks) {
    sct_str_printf(&text, "counts are those of %lld of the blocks, spread over the grid\n",
                   (long long)row->blocks_run);
  }
  cli_wrap_str(out, "launch", &text);
}

static void global_row(cli_table *t, const char *name, const sct_ptx_global *g) {
  if (g->requests == 0) {
    return;
  }
  cli_table_row(t, CLI_PLAIN);
  cli_table_cell(t,
                 "%s" CLI_NEXT "%lld" CLI_NEXT "%lld" CLI_NEXT "%.1f" CLI_NEXT "%.1f" CLI_NEXT
                 "%lld" CLI_NEXT "%.2f" CLI_NEXT "%.3g %%" CLI_NEXT "%lld",
                 name, (long long)g->requests, (long long)g->sectors,
                 sct_per(g->sectors, g->requests), sct_per(g->sectors_ideal, g->requests),
                 (long long)(g->sectors - g->sectors_ideal), sct_per(g->sectors, g->sectors_ideal),
                 100.0 * sct_per(g->distinct_bytes, g->moved), (long long)g->tags);
}

static void append_global(sct_str *out, const sct_ptx_counters *c) {
  SCT_SCOPED(cli_table) t = {0};
  cli_table_columns(&t, "global,>requests,>sectors,>each,>ideal,>excessive,>factor,>used,>tags");
  global_row(&t, "loads", &c->load);
  global_row(&t, "stores", &c->store);
  global_row(&t, "atomics", &c->atomics);
  global_row(&t, "bulk loads", &c->bulk_load);
  global_row(&t, "bulk stores", &c->bulk_store);
  if (t.n_rows > 0) {
    cli_table_print(out, &t, 2, false);
  }
}

static void shared_row(cli_table *t, const char *name, const sct_ptx_shared *s) {
  if (s->requests > 0) {
    cli_table_row(t, CLI_PLAIN);
    cli_table_cell(t,
                   "%s" CLI_NEXT "%lld" CLI_NEXT "%lld" CLI_NEXT "%.1f" CLI_NEXT "%.1f" CLI_NEXT
                   "%lld" CLI_NEXT "%.1f-way",
                   name, (long long)s->requests, (long long)s->wavefronts,
                   sct_per(s->wavefronts, s->requests), sct_per(s->wavefronts_ideal, s->requests),
                   (long long)(s->wavefronts - s->wavefronts_ideal),
                   sct_per(s->wavefronts, s->wavefronts_ideal));
  }
}

static void append_shared(sct_str *out, const sct_ptx_counters *c) {
  SCT_SCOPED(cli_table) t = {0};
  cli_table_columns(&t, "shared,>requests,>wavefronts,>each,>ideal,>excessive,>conflict");
  shared_row(&t, "loads", &c->shared_load);
  shared_row(&t, "stores", &c->shared_store);
  shared_row(&t, "copies", &c->shared_async);
  shared_row(&t, "atomics", &c->shared_atomics);
  if (t.n_rows > 0) {
    cli_table_print(out, &t, 2, false);
  }
}

static void append_warps(sct_str *out, const sct_ptx_counters *c) {
  sct_str text = {0};
  sct_str_printf(&text,
                 "%lld instructions (PTX), %.1f of 32 lanes active; %lld of %lld branches split "
                 "one; %lld barriers, %lld shuffles, %lld requests of local memory",
                 (long long)c->warp_instructions,
                 sct_per(c->lane_instructions, c->warp_instructions),
                 (long long)c->divergent_branches, (long long)c->branches, (long long)c->barriers,
                 (long long)c->shuffles, (long long)c->local_requests);
  cli_wrap_str(out, "warps", &text);
}

static void access_row(cli_table *t, const sct_profile_access *a) {
  const sct_ptx_global *g = &a->global;
  const sct_ptx_shared *h = &a->shared;
  const int64_t n = a->is_shared ? h->wavefronts : g->sectors;
  const int64_t ideal = a->is_shared ? h->wavefronts_ideal : g->sectors_ideal;
  const int64_t requests = a->is_shared ? h->requests : g->requests;
  cli_table_row(t, CLI_PLAIN);
  cli_table_cell(t,
                 "%s:%d" CLI_NEXT "%s %s" CLI_NEXT "%.3g" CLI_NEXT "%lld" CLI_NEXT "%lld" CLI_NEXT
                 "%.1f" CLI_NEXT "%.1f" CLI_NEXT "%lld",
                 sct_path_basename(a->file), a->line, a->is_shared ? "shared" : "global",
                 sct_access_name(a->kind), sct_per(a->is_shared ? h->bytes : g->bytes, a->lanes),
                 (long long)requests, (long long)n, sct_per(n, requests), sct_per(ideal, requests),
                 (long long)(n - ideal));
}

/* The rows of the table, and below each what the line says. */
static void append_rows(sct_str *out, const cli_table *t, sources *s, const sct_profile *p) {
  SCT_SCOPED(sct_str) rows = {0};
  cli_table_print(&rows, t, 2, false);
  const char *at = sct_str_c(&rows);
  for (int k = -1; *at != '\0'; k++) {
    const size_t n = strcspn(at, "\n") + 1;
    const sct_profile_access *a = k >= 0 ? &p->accesses[k] : NULL;
    sct_str_append_n(out, at, n);
    const char *code = a ? line_of(s, a->file, a->line) : "";
    if (code[0] != '\0') {
      sct_str_printf(out, "      %s\n", code);
    }
    at += n;
  }
}

static void append_source(sct_str *out, const sct_count_row *row, const sct_profile *p, int top) {
  SCT_SCOPED(cli_table) t = {0};
  sources s = {.n = row->source != NULL, .files = {{"source", row->source}}};
  cli_table_columns(&t, "source,access,>bytes,>requests,>sectors,>each,>ideal,>excessive");
  for (int k = 0; k < p->n_accesses && k < top; k++) {
    access_row(&t, &p->accesses[k]);
  }
  if (t.n_rows > 0) {
    append_rows(out, &t, &s, p);
  }
  if (p->n_accesses > top) {
    sct_str_printf(out, "  and %d more; --top %d shows them\n", p->n_accesses - top, p->n_accesses);
  }
  sct_arena_free(&s.arena);
}

static void append_issues(sct_str *out, const sct_profile *p) {
  if (p->n_issues == 0) {
    sct_str_append(out, "  issues      none that the rules know\n");
  }
  for (int k = 0; k < p->n_issues; k++) {
    const sct_issue *i = &p->issues[k];
    SCT_SCOPED(sct_str) place = {0};
    if (i->file[0] != '\0') {
      sct_str_printf(&place, "%s:%d", sct_path_basename(i->file), i->line);
    }
    int same = 0; /* the first that says so */
    while (same < k && strcmp(p->issues[same].advice.id, i->advice.id) != 0) {
      same++;
    }
    cli_issue_print(out, k + 1, &i->advice, sct_str_c(&place), same < k ? same + 1 : 0);
  }
}

/* The sections that are `wanted`, and what makes counts no more than approximate. */
static void append_row(sct_str *out, const cli_args *args, const sct_count_row *row,
                       const sct_device_desc *device, const bool wanted[N_SECTIONS]) {
  sct_profile p;
  const sct_ptx_counters *const c = &row->counters;
  sct_str parts[N_SECTIONS] = {0};
  sct_str_printf(out, "%s%s: %s\n", out->len > 0 ? "\n" : "", row->name, row->kernel);
  if (row->problem) {
    cli_wrap(out, "failed", row->problem);
    return;
  }
  sct_count_profile(&p, row, device);
  append_launch(&parts[LAUNCH], row, &p, device);
  cli_speed_print(&parts[SPEED], &p.speed, device);
  append_global(&parts[GLOBAL], c);
  append_shared(&parts[SHARED], c);
  cli_caches_print(&parts[CACHES], row);
  append_warps(&parts[WARPS], c);
  cli_mix_print(&parts[MIX], c);
  append_source(&parts[SOURCE], row, &p, args->top > 0 ? args->top : DEFAULT_LINES);
  append_issues(&parts[ISSUES], &p);
  for (int k = 0; k < N_SECTIONS; k++) {
    sct_str_append(out, wanted[k] ? sct_str_c(&parts[k]) : "");
    sct_str_free(&parts[k]);
  }
  if (!row->exact) {
    sct_str text = {0};
    sct_str_printf(&text, "approximate: %s", row->cause);
    cli_wrap_str(out, "counts", &text);
  }
  sct_profile_free(&p);
}

/* ---- JSON ---- */

static json_t *accesses_json(const sct_profile *p) {
  json_t *list = json_array();
  for (int k = 0; k < p->n_accesses; k++) {
    const sct_profile_access *a = &p->accesses[k];
    json_array_append_new(
        list, json_pack("{s:o, s:i, s:s, s:s, s:I, s:I, s:o}", "file", sct_json_string(a->file),
                        "line", a->line, "space", a->is_shared ? "shared" : "global", "access",
                        sct_access_name(a->kind), "executed", (json_int_t)a->executed, "lanes",
                        (json_int_t)a->lanes, "counts",
                        a->is_shared ? cli_shared_json(&a->shared) : cli_global_json(&a->global)));
  }
  return list;
}

static json_t *issues_json(const sct_profile *p) {
  json_t *list = json_array();
  for (int k = 0; k < p->n_issues; k++) {
    json_t *issue = cli_issue_json(&p->issues[k].advice);
    json_object_set_new(issue, "file", sct_json_string(p->issues[k].file));
    json_object_set_new(issue, "line", json_integer(p->issues[k].line));
    json_array_append_new(list, issue);
  }
  return list;
}

json_t *cli_profile_json(const sct_count_row *row, const sct_device_desc *device) {
  json_t *doc = json_pack("{s:o, s:o, s:o, s:b, s:o}", "case", sct_json_string(row->name), "kernel",
                          sct_json_string(row->kernel), "problem", sct_json_string(row->problem),
                          "exact", row->exact, "cause", sct_json_string(row->cause));
  if (row->problem) {
    return doc;
  }
  sct_profile p;
  const sct_ptx_counters *c = &row->counters;
  sct_count_profile(&p, row, device);
  json_object_set_new(
      doc, "launch",
      json_pack("{s:[I, I, I], s:[I, I, I], s:i, s:I, s:o, s:s, s:o}", "grid",
                (json_int_t)row->grid[0], (json_int_t)row->grid[1], (json_int_t)row->grid[2],
                "block", (json_int_t)row->block[0], (json_int_t)row->block[1],
                (json_int_t)row->block[2], "registers", row->registers, "shared_bytes",
                (json_int_t)(row->static_shared_bytes + row->shared_bytes), "occupancy",
                sct_json_number(p.occupancy.fraction), "limit",
                p.occupancy.limit ? p.occupancy.limit : "", "waves", sct_json_number(p.waves)));
  json_object_set_new(doc, "global",
                      json_pack("{s:o, s:o, s:o}", "loads", cli_global_json(&c->load), "stores",
                                cli_global_json(&c->store), "atomics",
                                cli_global_json(&c->atomics)));
  json_object_set_new(doc, "shared",
                      json_pack("{s:o, s:o, s:o, s:o}", "loads", cli_shared_json(&c->shared_load),
                                "stores", cli_shared_json(&c->shared_store), "copies",
                                cli_shared_json(&c->shared_async), "atomics",
                                cli_shared_json(&c->shared_atomics)));
  json_object_set_new(
      doc, "warps",
      json_pack("{s:I, s:o, s:I, s:I, s:I, s:I, s:I}", "instructions",
                (json_int_t)c->warp_instructions, "active_lanes",
                sct_json_number(sct_per(c->lane_instructions, c->warp_instructions)), "branches",
                (json_int_t)c->branches, "divergent_branches", (json_int_t)c->divergent_branches,
                "barriers", (json_int_t)c->barriers, "shuffles", (json_int_t)c->shuffles,
                "local_requests", (json_int_t)c->local_requests));
  cli_speed_json(doc, row, &p);
  json_object_set_new(doc, "accesses", accesses_json(&p));
  json_object_set_new(doc, "issues", issues_json(&p));
  sct_profile_free(&p);
  return doc;
}

/* ---- the command ---- */

typedef struct printer {
  const cli_args *args;
  const sct_count_report *report;
  const sct_device_desc *device;
  const json_t *baseline;
  const cli_counters *counters; /* NULL: none */
  bool wanted[N_SECTIONS];
} printer;

static void print_row(const printer *p, sct_str *text, json_t *cases, const sct_count_row *row,
                      int launch) {
  json_t *doc = cli_profile_json(row, p->device);
  const bool counted = p->counters && !row->problem;
  if (p->baseline) {
    cli_baseline_add(doc, p->baseline);
  }
  if (counted) {
    json_object_set_new(doc, "counters", cli_counters_json(p->counters, launch, row));
  }
  if (!p->args->json) {
    append_row(text, p->args, row, p->device, p->wanted);
  }
  if (!p->args->json && p->baseline && !row->problem) {
    cli_baseline_print(text, doc, p->args->section);
  }
  if (!p->args->json && counted) {
    cli_counters_print(text, p->counters, launch, row);
  }
  json_array_append_new(cases, doc);
}

static sct_status print_rows(const printer *p, sct_str *text, sct_error *err) {
  json_t *cases = json_array();
  sct_status status = SCT_OK;
  for (int k = 0, launch = 0; k < p->report->n_rows; k++) {
    const sct_count_row *row = &p->report->rows[k];
    print_row(p, text, cases, row, launch);
    launch += row->problem == NULL;
  }
  if (p->args->json) {
    status = cli_json_dump(text,
                           json_pack("{s:s, s:o, s:s, s:i, s:i, s:O}", "version", SCT_VERSION,
                                     "file", sct_json_string(p->args->words[0]), "device",
                                     p->device->id, "exit_code",
                                     p->report->n_failed > 0 ? sct_exit_code(SCT_ENOTVERIFIED) : 0,
                                     "failed", p->report->n_failed, "cases", cases),
                           err);
  }
  json_decref(cases);
  return status;
}

static sct_status print_counters_csv(const printer *p, sct_str *text) {
  cli_counters_csv_head(text);
  for (int k = 0, launch = 0; k < p->report->n_rows; k++) {
    if (p->report->rows[k].problem == NULL) {
      cli_counters_csv(text, p->counters, launch++, &p->report->rows[k]);
    }
  }
  return SCT_OK;
}

sct_status cli_profile_print(const cli_args *args, const sct_count_report *report,
                             const sct_device_desc *device, const json_t *baseline,
                             cli_launches_fn *write, void *ctx, sct_error *err) {
  SCT_SCOPED(sct_str) text = {0};
  SCT_SCOPED(cli_ncu) ncu = {0};
  cli_counters counters = {.ncu = &ncu, .device = device};
  printer p = {.args = args, .report = report, .device = device, .baseline = baseline};
  sct_status status =
      cli_read_names(p.wanted, args->section, SCT_NAMES(section_names, N_SECTIONS), "section", err);
  if (status == SCT_OK && args->counters) {
    p.counters = &counters;
    for (int k = 0; k < N_SECTIONS; k++) {
      p.wanted[k] = p.wanted[k] && args->section;
    }
    status = cli_metrics_choose(counters.wanted, args->metrics, err);
    SCT_THEN(cli_ncu_run(&ncu, device, report->n_rows - report->n_failed, counters.wanted, write,
                         ctx, err));
  }
  SCT_THEN(args->counters && args->csv  ? print_counters_csv(&p, &text)
           : args->counters             ? print_rows(&p, &text, err)
           : args->metrics || args->csv ? cli_metrics_print(&text, args, report, device, err)
                                        : print_rows(&p, &text, err));
  if (status != SCT_OK) {
    return status;
  }
  return cli_put(args, &text, err);
}

typedef struct counted {
  const sct_count_manifest *manifest;
  const sct_count_report *report;
} counted;

static sct_status write_launches(void *ctx, int ordinal, const char *path, sct_error *err) {
  const counted *c = ctx;
  return sct_count_launches(c->report, c->manifest, ordinal, path, err);
}

static sct_status profile_file(const cli_args *args, const sct_device_desc *device,
                               const json_t *baseline, sct_error *err) {
  sct_count_manifest manifest;
  SCT_SCOPED(sct_count_report) report = {0};
  if (args->pick || args->size) {
    return sct_fail(err, SCT_EUSAGE, "--pick and --size are for specs, not for CUDA files");
  }
  SCT_TRY(cli_count_read(&manifest, args, err));
  sct_status status = cli_count_run(&report, &manifest, args, true, device, err);
  if (status == SCT_OK) {
    counted both = {&manifest, &report};
    status = cli_profile_print(args, &report, device, baseline, write_launches, &both, err);
    cli_count_problems(args, &report);
    status = status == SCT_OK && report.n_failed > 0 ? SCT_ENOTVERIFIED : status;
  }
  sct_count_manifest_free(&manifest);
  return status;
}

/* Which options go together. */
static sct_status check_options(const cli_args *args, sct_error *err) {
  if (args->json && (args->csv || (args->metrics && !args->counters))) {
    return sct_fail(err, SCT_EUSAGE,
                    "--json has all figures; --csv and --metrics are something else");
  }
  if (args->section && (args->json || args->csv || args->metrics)) {
    return sct_fail(
        err, SCT_EUSAGE,
        "--section chooses from the text; --json, --csv and --metrics have no sections");
  }
  return SCT_OK;
}

/* Counters are those of a GPU, the first where none is named; kernels are compiled for it. */
static sct_status find_device(sct_device_desc *out, cli_args *args, char arch[16], sct_error *err) {
  if (args->counters && !args->device) {
    args->device = "cuda:0";
  }
  SCT_TRY(cli_device_describe(out, args, err));
  if (args->counters && !sct_has_prefix(out->id, "cuda:")) {
    return sct_fail(err, SCT_EUSAGE, "--counters needs a GPU: expected --device cuda:N, not %s",
                    out->id);
  }
  if (args->clock_mhz > 0) {
    out->clock_khz = 1000 * args->clock_mhz;
  }
  if (args->counters && !args->arch) {
    snprintf(arch, 16, "sm_%d%d", out->cc_major, out->cc_minor);
    args->arch = arch;
  }
  return SCT_OK;
}

sct_status cli_profile(const cli_args *given, sct_error *err) {
  sct_device_desc device;
  SCT_OWNED_PTR(json_t) baseline = NULL;
  cli_args args = *given;
  char arch[16];
  SCT_TRY(check_options(&args, err));
  SCT_TRY(find_device(&device, &args, arch, err));
  SCT_TRY(args.baseline ? cli_baseline_read(&baseline, args.baseline, err) : SCT_OK);
  return sct_has_suffix(args.words[0], ".cu") ? profile_file(&args, &device, baseline, err)
                                              : cli_profile_spec(&args, &device, baseline, err);
}
