/* The command `count`: counters of the launches of a manifest, as a table, CSV or JSON. */
#include "cli/cli_count.h"

#include <string.h>

/* ---- figures */

enum { N_FIGURES = 12 };
static const char *const figure_names[N_FIGURES] = {
    "requests_ld",          "sectors_ld",           "tags_ld",
    "requests_st",          "sectors_st",           "tags_st",
    "sectors_global",       "sectors_global_ideal", "wavefronts_shared_ld",
    "wavefronts_shared_st", "wavefronts_shared",    "wavefronts_shared_ideal"};

/* Atomics and the shared writes of asynchronous copies are no loads or stores: they are in the sums
 * only, as in a profiler's. */
static void figures_of(int64_t v[N_FIGURES], const sct_ptx_counters *c) {
  const sct_ptx_global global = sct_ptx_global_sum(c);
  const sct_ptx_shared shared = sct_ptx_shared_sum(c);
  const int64_t all[N_FIGURES] = {
      c->load.requests,
      c->load.sectors,
      c->load.tags,
      c->store.requests,
      c->store.sectors,
      c->store.tags,
      global.sectors,
      global.sectors_ideal,
      c->shared_load.wavefronts,
      c->shared_store.wavefronts,
      shared.wavefronts,
      shared.wavefronts_ideal,
  };
  memcpy(v, all, sizeof(all));
}

static const char *counts_word(const sct_count_row *row) {
  return row->problem != NULL ? "failed" : row->exact ? "exact" : "approximate";
}

/* ---- JSON */

json_t *cli_global_json(const sct_ptx_global *g) {
  return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "requests", (json_int_t)g->requests,
                   "sectors", (json_int_t)g->sectors, "sectors_ideal", (json_int_t)g->sectors_ideal,
                   "tags", (json_int_t)g->tags, "moved", (json_int_t)g->moved, "bytes",
                   (json_int_t)g->bytes, "distinct_bytes", (json_int_t)g->distinct_bytes);
}

json_t *cli_shared_json(const sct_ptx_shared *s) {
  return json_pack("{s:I, s:I, s:I, s:I, s:I}", "requests", (json_int_t)s->requests, "wavefronts",
                   (json_int_t)s->wavefronts, "wavefronts_ideal", (json_int_t)s->wavefronts_ideal,
                   "conflicts", (json_int_t)(s->wavefronts - s->wavefronts_ideal), "bytes",
                   (json_int_t)s->bytes);
}

static json_t *widths_json(const int64_t *widths) {
  json_t *doc = json_object();
  for (int k = 0; k < SCT_PTX_N_WIDTHS; k++) {
    char key[8];
    snprintf(key, sizeof key, "%d", 1 << k);
    json_object_set_new(doc, key, json_integer(widths[k]));
  }
  return doc;
}

static json_t *counters_json(const sct_ptx_counters *c) {
  const sct_ptx_degree degree = sct_ptx_degree_of(c);
  int64_t v[N_FIGURES];
  figures_of(v, c);
  json_t *doc = json_object();
  for (int k = 0; k < N_FIGURES; k++) {
    json_object_set_new(doc, figure_names[k], json_integer(v[k]));
  }
  SCT_OWNED_PTR(json_t)
  more = json_pack(
      "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:I, s:I, s:I, "
      "s:I, s:o, s:I, s:I, s:I}",
      "degree", sct_json_number(degree.both), "degree_ld", sct_json_number(degree.load),
      "degree_st", sct_json_number(degree.store), "load", cli_global_json(&c->load), "store",
      cli_global_json(&c->store), "load_width", widths_json(c->load_width), "store_width",
      widths_json(c->store_width), "shared_load", cli_shared_json(&c->shared_load), "shared_store",
      cli_shared_json(&c->shared_store), "shared_async", cli_shared_json(&c->shared_async),
      "atomics", cli_global_json(&c->atomics), "shared_atomics",
      cli_shared_json(&c->shared_atomics), "bulk_load", cli_global_json(&c->bulk_load),
      "bulk_store", cli_global_json(&c->bulk_store), "bulk_load_bytes",
      (json_int_t)c->bulk_load.bytes, "bulk_store_bytes", (json_int_t)c->bulk_store.bytes,
      "local_requests", (json_int_t)c->local_requests, "warp_instructions",
      (json_int_t)c->warp_instructions, "lane_instructions", (json_int_t)c->lane_instructions,
      "active_lanes", sct_json_number(sct_ratio(c->lane_instructions, c->warp_instructions)),
      "branches", (json_int_t)c->branches, "divergent_branches", (json_int_t)c->divergent_branches,
      "barriers", (json_int_t)c->barriers);
  json_object_update(doc, more);
  return doc;
}

/* What an instruction or a source line did. */
static json_t *part_json(const char *file, int line, int64_t executed, int64_t lanes,
                         int64_t divergent, const sct_ptx_global *global,
                         const sct_ptx_shared *shared) {
  return json_pack("{s:o, s:i, s:I, s:I, s:o, s:I, s:o, s:o}", "file", sct_json_string(file),
                   "line", line, "executed", (json_int_t)executed, "lanes", (json_int_t)lanes,
                   "active_lanes", sct_json_number(sct_ratio(lanes, executed)), "divergent",
                   (json_int_t)divergent, "global", cli_global_json(global), "shared",
                   cli_shared_json(shared));
}

/* Every instruction that a warp reached. */
static json_t *instructions_json(const sct_count_row *row) {
  json_t *list = json_array();
  for (int i = 0; i < row->n_insts; i++) {
    const sct_ptx_inst_counters *k = &row->insts[i];
    if (k->executed > 0) {
      json_t *doc =
          part_json(k->file, k->line, k->executed, k->lanes, k->divergent, &k->global, &k->shared);
      json_object_set_new(doc, "ptx_line", json_integer(k->ptx_line));
      json_object_set_new(doc, "text", json_stringn(k->text, (size_t)k->text_len));
      json_array_append_new(list, doc);
    }
  }
  return list;
}

static json_t *source_lines_json(const sct_count_row *row) {
  SCT_OWNED sct_count_line *lines = NULL;
  int n = 0;
  json_t *list = json_array();
  sct_count_lines(&lines, &n, row);
  for (int i = 0; i < n; i++) {
    const sct_count_line *k = &lines[i];
    if (k->executed > 0) {
      json_t *doc =
          part_json(k->file, k->line, k->executed, k->lanes, k->divergent, &k->global, &k->shared);
      json_object_set_new(doc, "instructions", json_integer(k->instructions));
      json_array_append_new(list, doc);
    }
  }
  return list;
}

json_t *cli_diag_json(const sct_ptx_diag *d) {
  return json_pack("{s:s, s:s, s:s, s:s, s:i, s:s, s:i, s:[I,I,I], s:i, s:i, s:I}", "kind",
                   sct_ptx_kind_name(d->kind), "text", d->text, "kernel", d->kernel, "file",
                   d->file, "line", d->line, "instruction", d->instruction, "ptx_line", d->ptx_line,
                   "block", (json_int_t)d->block[0], (json_int_t)d->block[1],
                   (json_int_t)d->block[2], "warp", d->warp, "lane", d->lane, "address",
                   (json_int_t)d->address);
}

static json_t *row_json(const cli_args *args, const sct_count_row *row) {
  json_t *doc = row->problem == NULL ? counters_json(&row->counters) : json_object();
  json_object_set_new(doc, "case", sct_json_string(row->name));
  json_object_set_new(doc, "kernel", sct_json_string(row->kernel));
  json_object_set_new(doc, "counts", sct_json_string(counts_word(row)));
  json_object_set_new(doc, "cause", sct_json_string(row->cause));
  json_object_set_new(doc, "problem", sct_json_string(row->problem));
  json_object_set_new(doc, "diagnosis",
                      row->diag.kind != SCT_PTX_CLEAN ? cli_diag_json(&row->diag) : json_null());
  if (args->by == CLI_BY_LINE) {
    json_object_set_new(doc, "lines", source_lines_json(row));
  } else if (args->by == CLI_BY_INSTRUCTION) {
    json_object_set_new(doc, "instructions", instructions_json(row));
  }
  return doc;
}

static json_t *report_json(const cli_args *args, const sct_count_report *report) {
  json_t *cases = json_array();
  for (int i = 0; i < report->n_rows; i++) {
    json_array_append_new(cases, row_json(args, &report->rows[i]));
  }
  return json_pack("{s:s, s:o, s:s, s:s, s:i, s:i, s:o}", "version", SCT_VERSION, "file",
                   sct_json_string(args->words[0]), "compiler", sct_count_compiler(report), "arch",
                   args->arch ? args->arch : CLI_DEFAULT_ARCH, "exit_code",
                   report->n_failed > 0 ? sct_exit_code(SCT_ENOTVERIFIED) : 0, "failed",
                   report->n_failed, "cases", cases);
}

/* ---- the command */

/* -I, -D and --nvrtc as NVRTC has them, NULL-terminated. */
static const char *const *compiler_options(sct_arena *arena, const cli_args *args) {
  const struct {
    const char *option;
    const cli_list *values;
  } lists[] = {{"--include-path=", &args->includes},
               {"--define-macro=", &args->defines},
               {"", &args->nvrtc}};
  const char **options =
      SCT_ARENA_NEW(arena, const char *, args->includes.n + args->defines.n + args->nvrtc.n + 1);
  int n = 0;
  for (int k = 0; k < SCT_COUNT(lists); k++) {
    for (int i = 0; i < lists[k].values->n; i++) {
      options[n++] = sct_arena_printf(arena, "%s%s", lists[k].option, lists[k].values->items[i]);
    }
  }
  return options;
}

bool cli_count_takes(const char *path) {
  return sct_has_suffix(path, ".cu") || sct_compile_holds_ptx(path);
}

sct_status cli_count_read(sct_count_manifest *out, const cli_args *args, sct_error *err) {
  const bool direct =
      args->kernel || args->grid || args->block || args->shared || args->launch_args.n > 0;
  const char *reads[3] = {args->words[0]};
  int n_reads = 1;
  reads[n_reads] = args->cases;
  n_reads += args->cases != NULL;
  reads[n_reads] = args->baseline;
  n_reads += args->baseline != NULL;
  SCT_TRY(args->out ? cli_check_target(args, args->out, reads, n_reads, err) : SCT_OK);
  if (args->cases && direct) {
    return sct_fail(
        err, SCT_EUSAGE,
        "--cases has launches, --kernel and its options one more: expected one of them");
  }
  if (args->cases) {
    return sct_count_read(out, args->cases, err);
  }
  if (!args->kernel || !args->grid || !args->block) {
    return sct_fail(err, SCT_EUSAGE,
                    "`sectile %s` of a CUDA file needs its launches: --cases FILE, or --kernel, "
                    "--grid and --block; %s is missing",
                    args->command->name,
                    !direct         ? "each of them"
                    : !args->kernel ? "--kernel"
                    : !args->grid   ? "--grid"
                                    : "--block");
  }
  const sct_count_launch launch = {.kernel = args->kernel,
                                   .grid = args->grid,
                                   .block = args->block,
                                   .shared = args->shared,
                                   .args = args->launch_args.items,
                                   .n_args = args->launch_args.n};
  return sct_count_direct(out, &launch, err);
}

sct_status cli_count_run(sct_count_report *out, const sct_count_manifest *manifest,
                         const cli_args *args, cli_count_want want, sct_error *err) {
  SCT_SCOPED(sct_arena) arena = {0};
  sct_ptx_coalescing coalescing = SCT_PTX_CC70;
  if (args->coalescing != NULL) {
    SCT_TRY(sct_ptx_coalescing_find(&coalescing, args->coalescing, err));
  }
  sct_compile_with with = SCT_COMPILE_ANY;
  if (args->compiler != NULL) {
    SCT_TRY(sct_compile_with_find(&with, args->compiler, err));
  }
  const sct_count_opts opts = {.file = args->words[0],
                               .arch = args->arch ? args->arch : CLI_DEFAULT_ARCH,
                               .extra = compiler_options(&arena, args),
                               .with = with,
                               .threads = args->threads,
                               .coalescing = coalescing,
                               .device = want.device,
                               .per_instruction = want.per_instruction,
                               .most_findings = want.most_findings};
  return sct_count_run(out, manifest, &opts, err);
}

static sct_status print(const cli_args *args, const sct_count_report *report, sct_error *err) {
  json_t *look = cli_output_style(args);
  json_object_set_new(look, "whole", json_boolean(args->by == CLI_BY_CASE));
  json_object_set_new(look, "figures", sct_json_strings(figure_names, N_FIGURES));
  return cli_show(args, "sectile.show_profile", args->csv ? "count_csv" : "count",
                  report_json(args, report), look, err);
}

/* Is this the first row with this text? Rows of one kernel share it. */
static bool first_to_say(const sct_count_report *report, int row) {
  for (int i = 0; i < row; i++) {
    if (report->rows[i].cause == report->rows[row].cause && report->rows[i].problem == NULL) {
      return false;
    }
  }
  return true;
}

/* Why cases failed, and once a kernel why its counts are approximate. */
void cli_count_problems(const cli_args *args, const sct_count_report *report) {
  fflush(stdout);
  if (report->by) {
    cli_note(args, "sectile: compiled by %s%s%s", report->by,
             report->why ? ", as NVRTC says: " : "", report->why ? report->why : "");
  }
  for (int i = 0; i < report->n_rows; i++) {
    const sct_count_row *row = &report->rows[i];
    if (row->problem != NULL) {
      fprintf(stderr, "sectile: case '%s': %s\n", row->name, row->problem);
    } else if (!row->exact && first_to_say(report, i)) {
      cli_note(args, "sectile: counts of kernel '%s' are approximate: %s", row->kernel, row->cause);
    }
  }
}

sct_status cli_count(const cli_args *args, sct_error *err) {
  sct_count_manifest manifest;
  SCT_SCOPED(sct_count_report) report = {0};
  if (args->csv && args->json) {
    return sct_fail(err, SCT_EUSAGE, "--csv and --json: expected one of them");
  }
  SCT_TRY(cli_count_read(&manifest, args, err));
  const cli_count_want want = {.per_instruction = args->by != CLI_BY_CASE};
  sct_status status = cli_count_run(&report, &manifest, args, want, err);
  if (status == SCT_OK) {
    status = print(args, &report, err);
    cli_count_problems(args, &report);
    status = status == SCT_OK && report.n_failed > 0 ? SCT_ENOTVERIFIED : status;
  }
  sct_count_manifest_free(&manifest);
  return status;
}
