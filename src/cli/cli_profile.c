/* The command `profile`: launches of a CUDA file by the sections of a profiler, and what to mend.
 */
#include "cli/cli_count.h"

#include <string.h>

enum { DEFAULT_LINES = 10, WIDEST_SOURCE = 74 };

/* What `--section` chooses from, as the page of commands has them. */
static const char *const section_names[] = {"launch", "speed", "global", "shared", "caches",
                                            "warps",  "mix",   "source", "issues"};
enum { N_SECTIONS = SCT_COUNT(section_names) };

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

static void add_access(json_t *list, const sct_operand *operand, const char *access,
                       const sct_access *a) {
  if (a->sectors > 0.0) {
    json_array_append_new(list, json_pack("{s:o, s:s, s:f, s:f, s:f, s:f}", "array",
                                          sct_json_string(operand->name), "access", access,
                                          "sectors", a->sectors, "ideal", a->ideal, "footprint",
                                          a->footprint, "used_bytes", a->used_bytes));
  }
}

/* Of a spec's candidate, by array: the whole launch against what its index space touches. */
static json_t *coalescing_json(const sct_count_row *row) {
  const sct_coalescing *c = &row->coalescing;
  if (!row->spec || !row->has_demand) {
    return json_null();
  }
  json_t *arrays = json_array();
  for (int op = 0; op < row->spec->n_operands; op++) {
    add_access(arrays, &row->spec->operands[op], "loads", &c->load[op]);
    add_access(arrays, &row->spec->operands[op], "stores", &c->store[op]);
  }
  return json_pack("{s:b, s:b, s:f, s:f, s:f, s:o}", "coalesced", c->coalesced, "unknown",
                   c->unknown, "share", c->share, "utilisation", c->utilisation, "passes",
                   c->passes, "arrays", arrays);
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
      json_pack("{s:[I, I, I], s:[I, I, I], s:i, s:I, s:o, s:s, s:o, s:I, s:I, s:f, s:i, s:i}",
                "grid", (json_int_t)row->grid[0], (json_int_t)row->grid[1],
                (json_int_t)row->grid[2], "block", (json_int_t)row->block[0],
                (json_int_t)row->block[1], (json_int_t)row->block[2], "registers", row->registers,
                "shared_bytes", (json_int_t)(row->static_shared_bytes + row->shared_bytes),
                "occupancy", sct_json_number(p.occupancy.fraction), "limit",
                p.occupancy.limit ? p.occupancy.limit : "", "waves", sct_json_number(p.waves),
                "blocks", (json_int_t)p.blocks, "blocks_run",
                (json_int_t)(row->blocks_run > 0 ? row->blocks_run : p.blocks), "sectors_error",
                row->sectors_error, "spill_store_bytes", row->spill_stores, "spill_load_bytes",
                row->spill_loads));
  if (row->passes > 0) {
    json_object_set_new(json_object_get(doc, "launch"), "passes", json_integer(row->passes));
  }
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
      json_pack("{s:I, s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "instructions",
                (json_int_t)c->warp_instructions, "active_lanes",
                sct_json_number(sct_ratio(c->lane_instructions, c->warp_instructions)), "branches",
                (json_int_t)c->branches, "divergent_branches", (json_int_t)c->divergent_branches,
                "barriers", (json_int_t)c->barriers, "shuffles", (json_int_t)c->shuffles,
                "constant_requests", (json_int_t)c->constant_requests, "constant_words",
                (json_int_t)c->constant_words, "local_requests", (json_int_t)c->local_requests));
  cli_speed_json(doc, row, &p);
  json_object_set_new(doc, "accesses", accesses_json(&p));
  json_object_set_new(doc, "coalescing", coalescing_json(row));
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
  int top; /* lines of the source */
} printer;

/* What the text has and --json has not: the lines of the source, and figures of the launch. */
static void add_text(json_t *doc, const printer *p, const sct_count_row *row, cli_sources *s) {
  sct_profile profile;
  const sct_ptx_counters *c = &row->counters;
  const sct_ptx_traffic *t = &row->traffic;
  sct_count_profile(&profile, row, p->device);
  for (int k = 0; k < profile.n_accesses && k < p->top; k++) {
    const sct_profile_access *a = &profile.accesses[k];
    json_object_set_new(json_array_get(json_object_get(doc, "accesses"), (size_t)k), "code",
                        sct_json_string(cli_source_line(s, a->file, a->line, WIDEST_SOURCE)));
  }
  const double *peak = profile.speed.peak_flops;
  json_object_set_new(
      doc, "more",
      json_pack("{s:i, s:I, s:b, s:o, s:o, s:f, s:f}", "blocks_sm", profile.occupancy.blocks_sm,
                "blocks_run", (json_int_t)row->blocks_run, "touched",
                t->l1_sectors + t->l2_reads + t->l2_writes > 0, "bulk_loads",
                cli_global_json(&c->bulk_load), "bulk_stores", cli_global_json(&c->bulk_store),
                "peak_f32", peak[SCT_PTX_FLOP_F32], "peak_f64", peak[SCT_PTX_FLOP_F64]));
  sct_profile_free(&profile);
}

static json_t *look_of(const printer *p) {
  const sct_device_desc *d = p->device;
  json_t *look = cli_output_style(p->args), *shown = json_array(), *listed = json_object();
  for (int k = 0; k < N_SECTIONS; k++) {
    if (p->wanted[k]) {
      json_array_append_new(shown, json_string(section_names[k]));
      json_object_set_new(listed, section_names[k], json_true());
    }
  }
  json_object_set_new(look, "sections", shown);
  json_object_set_new(look, "listed", p->args->section ? json_incref(listed) : json_null());
  json_decref(listed);
  json_object_set_new(look, "top", json_integer(p->top));
  json_object_set_new(look, "inflight", json_string(sct_limit_name(SCT_LIMIT_INFLIGHT)));
  json_object_set_new(look, "device",
                      json_pack("{s:o, s:o, s:i, s:f, s:f, s:I}", "id", sct_json_string(d->id),
                                "name", sct_json_string(d->name), "sms", d->n_sms, "inflight_bytes",
                                (double)d->inflight_bytes, "peak_bytes_s", d->peak_bytes_s,
                                "l2_bytes", (json_int_t)d->l2_bytes));
  return look;
}

static sct_status print_rows(const printer *p, sct_error *err) {
  json_t *cases = json_array();
  cli_sources s = {0};
  for (int k = 0, launch = 0; k < p->report->n_rows; k++) {
    const sct_count_row *row = &p->report->rows[k];
    json_t *doc = cli_profile_json(row, p->device);
    if (p->counters && !row->problem) {
      json_object_set_new(doc, "counters", cli_counters_json(p->counters, launch++, row));
    }
    if ((!p->args->json || p->args->html) && !row->problem) {
      if (row->source) { /* each has its own */
        cli_sources_free(&s);
        cli_sources_add(&s, "source", row->source);
      }
      add_text(doc, p, row, &s);
    }
    json_array_append_new(cases, doc);
  }
  cli_sources_free(&s);
  if (p->baseline) {
    cli_baseline_add(cases, p->baseline);
  }
  json_t *doc = json_pack("{s:s, s:o, s:s, s:i, s:i, s:o}", "version", SCT_VERSION, "file",
                          sct_json_string(p->args->words[0]), "device", p->device->id, "exit_code",
                          p->report->n_failed > 0 ? sct_exit_code(SCT_ENOTVERIFIED) : 0, "failed",
                          p->report->n_failed, "cases", cases);
  json_t *look = look_of(p);
  sct_status status =
      p->args->html ? cli_profile_page(p->args, doc, look, p->report, p->device, err) : SCT_OK;
  if (status != SCT_OK) {
    json_decref(doc);
    json_decref(look);
    return status;
  }
  return cli_show(p->args, "sectile.show_profile", p->args->csv ? "counters_csv" : "profile", doc,
                  look, err);
}

sct_status cli_profile_print(const cli_args *args, const sct_count_report *report,
                             const sct_device_desc *device, const json_t *baseline,
                             cli_launches_fn *write, void *ctx, sct_error *err) {
  SCT_SCOPED(cli_ncu) ncu = {0};
  cli_counters counters = {.ncu = &ncu, .device = device};
  printer p = {.args = args,
               .report = report,
               .device = device,
               .baseline = baseline,
               .top = args->top > 0 ? args->top : DEFAULT_LINES};
  sct_status status =
      cli_read_names(p.wanted, args->section, SCT_NAMES(section_names, N_SECTIONS), "section", err);
  for (int k = 0; k < report->n_rows && status == SCT_OK && args->counters; k++) {
    status = report->rows[k].passes > 0
                 ? sct_fail(err, SCT_EUSAGE,
                            "--counters is for kernels of one launch: '%s' is a sequence of %d",
                            report->rows[k].name, report->rows[k].passes)
                 : SCT_OK;
  }
  if (status == SCT_OK && args->counters) {
    p.counters = &counters;
    for (int k = 0; k < N_SECTIONS; k++) {
      p.wanted[k] = p.wanted[k] && args->section;
    }
    status = cli_metrics_choose(counters.wanted, args->metrics, err);
    for (int k = 0; k < CLI_N_METRICS; k++) {
      counters.wanted[k] = counters.wanted[k] && cli_metrics[k].kind != CLI_LESSON;
    }
    SCT_THEN(cli_ncu_run(&ncu, device, report->n_rows - report->n_failed, counters.wanted, write,
                         ctx, err));
  }
  SCT_THEN(!args->counters && (args->metrics || args->csv)
               ? cli_metrics_print(args, report, device, err)
               : print_rows(&p, err));
  return status;
}

typedef struct counted {
  const sct_count_manifest *manifest;
  const sct_count_report *report;
} counted;

static sct_status write_launches(void *ctx, int ordinal, const char *path, sct_error *err) {
  const counted *c = ctx;
  return sct_count_launches(c->report, c->manifest, ordinal, path, err);
}

/* Launches whose accurate arithmetic takes time are run once more with what --use_fast_math makes
 * of it: the difference is what it costs. Other inputs of a branch may be taken then, so it is an
 * estimate; what does not compile or run so is left out. */
static void find_fast(sct_count_report *report, const sct_count_manifest *manifest,
                      const cli_args *args, const sct_device_desc *device) {
  static const char fast_math[] = "--use_fast_math";
  bool any = false;
  SCT_SCOPED(sct_count_report) fast = {0};
  sct_error ignored;
  for (int k = 0; k < report->n_rows; k++) {
    any = any || (!report->rows[k].problem && sct_count_is_slow(&report->rows[k], device));
  }
  for (int k = 0; k < args->nvrtc.n; k++) {
    any = any && strcmp(args->nvrtc.items[k], fast_math) != 0;
  }
  cli_args with = *args;
  any = any && with.nvrtc.n < SCT_COUNT(with.nvrtc.items);
  if (any) {
    with.nvrtc.items[with.nvrtc.n++] = fast_math;
  }
  if (!any || cli_count_run(&fast, manifest, &with, (cli_count_want){.device = device}, &ignored) !=
                  SCT_OK) {
    return;
  }
  for (int k = 0; k < report->n_rows; k++) {
    sct_count_row *row = &report->rows[k];
    row->has_fast = !row->problem && !fast.rows[k].problem && fast.rows[k].has_demand;
    row->fast = fast.rows[k].demand;
  }
}

static sct_status profile_file(const cli_args *args, const sct_device_desc *device,
                               const json_t *baseline, sct_error *err) {
  sct_count_manifest manifest;
  SCT_SCOPED(sct_count_report) report = {0};
  if (args->pick || args->size || args->requests) {
    return sct_fail(err, SCT_EUSAGE,
                    "--pick, --size and --requests are for specs, not for CUDA files");
  }
  SCT_TRY(cli_count_read(&manifest, args, err));
  sct_status status = cli_count_run(
      &report, &manifest, args, (cli_count_want){.per_instruction = true, .device = device}, err);
  if (status == SCT_OK) {
    counted both = {&manifest, &report};
    find_fast(&report, &manifest, args, device);
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
  return cli_count_takes(args.words[0]) ? profile_file(&args, &device, baseline, err)
                                        : cli_profile_spec(&args, &device, baseline, err);
}
