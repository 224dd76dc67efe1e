/* JSON documents. Figures that were not measured are null, never 0. */
#include "cli/cli_internal.h"

#include <stdlib.h>
#include <string.h>

json_t *cli_json_positive(double value) {
  return value > 0.0 ? sct_json_number(value) : json_null();
}

json_t *cli_lines_json(const char *text) {
  json_t *list = json_array();
  for (const char *at = text; *at != '\0';) {
    const size_t n = strcspn(at, "\n");
    json_array_append_new(list, json_stringn(at, n));
    at += n + (at[n] == '\n');
  }
  return list;
}

sct_status cli_json_dump(sct_str *out, json_t *doc, sct_error *err) {
  SCT_TRY(sct_json_dump(out, doc, JSON_INDENT(2) | JSON_REAL_PRECISION(10), err));
  sct_str_append(out, "\n");
  return SCT_OK;
}

sct_status cli_json_print(json_t *doc, sct_error *err) {
  SCT_SCOPED(sct_str) text = {0};
  SCT_TRY(cli_json_dump(&text, doc, err));
  return cli_print(&text, err);
}

json_t *cli_output_style(const cli_args *args) {
  const bool terminal = args->out == NULL;
  const int width = terminal && !args->csv ? cli_output_width(stdout) : 0;
  return json_pack("{s:b, s:i, s:b}", "colour", terminal && cli_wants_colour(stdout), "width",
                   width, "verbose", args->verbosity > 0);
}

sct_status cli_show(const cli_args *args, const char *module, const char *function, json_t *given,
                    json_t *look, sct_error *err) {
  sct_str text = {0};
  SCT_OWNED_PTR(json_t) doc = given;
  SCT_OWNED_PTR(json_t) how = look;
  const sct_status status = args->json ? cli_json_dump(&text, json_incref(doc), err)
                                       : sct_script_page(&text, module, function, doc, how, err);
  if (status != SCT_OK) {
    sct_str_free(&text);
    return status;
  }
  return cli_write_output(args, &text, err);
}

json_t *cli_json_error(sct_status status, const char *text) {
  return json_pack("{s:{s:s, s:i, s:o}}", "error", "status", sct_status_text(status), "exit_code",
                   sct_exit_code(status), "text", sct_json_string(text));
}

static json_t *held_json(const sct_device_desc *d) {
  return d->held_against[0] ? json_pack("{s:o, s:s}", "error", sct_json_number(d->held_error),
                                        "against", d->held_against)
                            : json_null();
}

json_t *cli_json_device(const sct_device_desc *d) {
  char cc[16];
  snprintf(cc, sizeof cc, "%d.%d", d->cc_major, d->cc_minor);
  return json_pack(
      "{s:o, s:o, s:o, s:s, s:b, s:i, s:I, s:I, s:I, s:I, s:i, s:i, s:i, s:I, s:o, s:o, s:i, s:o, "
      "s:s, s:b, s:o}",
      "id", sct_json_string(d->id), "name", sct_json_string(d->name), "uuid",
      sct_json_string(d->uuid), "cc", cc, "virtual", d->is_virtual, "sms", d->n_sms, "memory_bytes",
      (json_int_t)d->memory_bytes, "smem_sm_bytes", (json_int_t)d->smem_sm_bytes,
      "smem_block_bytes", (json_int_t)d->smem_block_bytes, "smem_block_optin_bytes",
      (json_int_t)d->smem_block_optin_bytes, "regs_sm", d->regs_sm, "threads_sm", d->threads_sm,
      "blocks_sm", d->blocks_sm, "l2_bytes", (json_int_t)d->l2_bytes, "peak_bytes_s",
      cli_json_positive(d->peak_bytes_s), "copy_bytes_s", cli_json_positive(d->copy_bytes_s),
      "clock_khz", d->clock_khz, "driver", sct_json_string(d->driver), "coalescing",
      d->coalescing[0] ? d->coalescing : "cc70", "counting_only", d->counting_only, "held",
      held_json(d));
}

/* ---- the report of a session ---- */

json_t *cli_issue_json(const sct_advice *a) {
  return json_pack("{s:s, s:o, s:s, s:o, s:o, s:s}", "id", a->id, "gain", sct_json_number(a->gain),
                   "of", a->of, "gain_ns",
                   a->gain_ns >= 0.0 ? sct_json_number(a->gain_ns) : json_null(), "evidence",
                   sct_json_string(a->evidence), "advice", a->advice);
}

static json_t *ptx_json(const sct_ptx_check *check) {
  if (!check->known) {
    return json_null();
  }
  json_t *counts = json_object();
#define SCT_RUN_COUNT(name) json_object_set_new(counts, #name, json_integer(check->ptx.name));
#include "worker/worker_counts.def"
  return json_pack("{s:o}", "ptx", counts);
}

/* "templates/direct.cu:7: never true: @%p1 bra $L__BB0_2 (line 24 of the source)", or without what
 * it is in a template: "line 24: never true: ...". */
static json_t *guard_json(char *line) {
  static const char never[] = ": never ", source[] = " (line ";
  char *way = strstr(line, never), *end = strstr(line, source);
  char *ptx = way ? strstr(way + sizeof never - 1, ": ") : NULL;
  if (!ptx) {
    return NULL;
  }
  *way = *ptx = '\0';
  char *colon = strrchr(line, ':');
  const int number = atoi(colon ? colon + 1 : line + strcspn(line, "0123456789"));
  const int in_source = end ? atoi(end + sizeof source - 1) : colon ? 0 : number;
  if (colon) {
    *colon = '\0';
  }
  if (end) {
    *end = '\0';
  }
  return json_pack("{s:o, s:i, s:o, s:s, s:s}", "file", sct_json_string(colon ? line : NULL),
                   "line", number, "source_line",
                   in_source > 0 ? json_integer(in_source) : json_null(), "never",
                   way + sizeof never - 1, "ptx", ptx + 2);
}

/* What no case of the verification took both ways. */
static json_t *row_uncovered(const sct_tune_row *row) {
  if (!row->ptx.known || row->ptx.n_uncovered < 0) {
    return json_pack("{s:n, s:n}", "uncovered_count", "uncovered");
  }
  json_t *list = json_array();
  char text[SCT_UNCOVERED_BYTES], *rest = text;
  memcpy(text, row->ptx.uncovered, sizeof text);
  while (rest && *rest) {
    json_t *guard = guard_json(strsep(&rest, "\n"));
    if (guard) {
      json_array_append_new(list, guard);
    }
  }
  return json_pack("{s:i, s:o}", "uncovered_count", row->ptx.n_uncovered, "uncovered", list);
}

/* Adds the keys of `part`, which is freed. */
static void add_keys(json_t *doc, json_t *part) {
  json_object_update(doc, part);
  json_decref(part);
}

static json_t *row_times(const sct_tune_row *row) {
  const sct_times *t = &row->outcome.times;
  const double predicted_ns = row->outcome.predicted_ns;
  return json_pack(
      "{s:o, s:o, s:o, s:o, s:o, s:i, s:i, s:o, s:o, s:o, s:o, s:o}", "median_ns",
      cli_json_positive(t->median_ns), "q1_ns", cli_json_positive(t->q1_ns), "q3_ns",
      cli_json_positive(t->q3_ns), "launch_overhead_ns", cli_json_positive(t->overhead_ns),
      "resident_ns", cli_json_positive(t->resident_ns), "slow_samples", t->n_slow,
      "contended_samples", t->n_contended, "bytes_per_s", cli_json_positive(row->bytes_per_s),
      "share", cli_json_positive(row->share), "predicted_ns", cli_json_positive(predicted_ns),
      "predicted_limit", sct_json_string(row->predicted_limit), "predicted_credible",
      predicted_ns > 0.0 ? json_boolean(!row->incredible) : json_null());
}

static json_t *row_counts(const sct_tune_row *row) {
  const char *quality = !row->counted ? NULL : row->approximate ? "approximate" : "exact";
  const sct_row_outcome none = {0}, *o = row->counted ? &row->outcome : &none;
  return json_pack(
      "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "sectors_ld",
      sct_json_number(sct_tune_row_loads(row)), "sectors_st",
      sct_json_number(sct_tune_row_stores(row)), "sectors", sct_json_number(sct_row_sectors(o)),
      "sectors_ideal", sct_json_number(o->sectors_ld_ideal + o->sectors_st_ideal), "degree",
      sct_json_number(o->degree), "degree_ld", sct_json_number(row->degree_ld), "degree_st",
      sct_json_number(row->degree_st), "counts", sct_json_string(quality), "counts_cause",
      sct_json_string(row->approximate), "small_size", ptx_json(&row->ptx));
}

/* How it uses its sectors; `coalesced` by which rule. */
static json_t *row_coalesced(const sct_tune_row *row) {
  const sct_row_coalesced *how = &row->outcome.how;
  return json_pack(
      "{s:b, s:b, s:s, s:o, s:o, s:o, s:o}", "coalesced", how->coalesced, "coalesced_unknown",
      how->unknown, "coalesced_rule", how->rule == SCT_COALESCED_ABSOLUTE ? "absolute" : "relative",
      "coalesced_share", cli_json_positive(how->share), "utilisation",
      cli_json_positive(how->utilisation), "passes", cli_json_positive(how->passes),
      "sectors_error", row->counted ? sct_json_number(how->sectors_error) : json_null());
}

static json_t *row_json(const sct_tune_row *row, int rank) {
  json_t *doc =
      json_pack("{s:i, s:o, s:s, s:o}", "rank", rank, "label", sct_json_string(row->label),
                "outcome", row->outcome.outcome, "detail", sct_json_string(row->outcome.detail));
  add_keys(doc, row_times(row));
  add_keys(doc, row_counts(row));
  add_keys(doc, row_coalesced(row));
  add_keys(doc, row_uncovered(row));
  add_keys(doc, json_pack("{s:i, s:i, s:i, s:o, s:b, s:b, s:b}", "registers", row->registers,
                          "spill_bytes", row->spill_bytes, "shared_bytes", row->shared_bytes,
                          "occupancy", sct_json_number(row->occupancy), "tied", row->tied, "winner",
                          row->winner, "naive", row->naive));
  if (row->own) {
    json_object_set_new(doc, "own", json_true());
  }
  if (row->warning) {
    json_object_set_new(doc, "warning", sct_json_string(row->warning));
  }
  if (!sct_row_is_ok(&row->outcome)) {
    json_object_set_new(doc, "says",
                        json_string(sct_outcome_text(sct_outcome_named(row->outcome.outcome))));
  }
  return doc;
}

/* For each row, how many of the following rows have the same time as printed. */
static int *count_as_fast(const sct_tune_size *size) {
  int *as_fast = sct_alloc(sizeof *as_fast * (size_t)(size->n_rows + 1));
  char time[32] = "", before[32];
  for (int r = size->n_rows - 1; r >= 0; r--) {
    snprintf(before, sizeof before, "%s", time);
    sct_format_ns(time, sct_row_ns(&size->rows[r].outcome));
    const bool both = r + 1 < size->n_rows && sct_row_is_ok(&size->rows[r + 1].outcome);
    as_fast[r] = both && strcmp(time, before) == 0 ? as_fast[r + 1] + 1 : 0;
  }
  return as_fast;
}

/* What a leaderboard of `top` rows is made from: of rows that take as long the first five, which it
 * shows as four, and in any case naive ones, the user's own, and some that failed. */
static json_t *rows_json(const sct_tune_size *size, int top) {
  SCT_OWNED int *as_fast = count_as_fast(size);
  json_t *rows = json_array();
  int n_failed = 0, in_run = 0;
  int64_t n = 0;
  for (int r = 0; r < size->n_rows; r++) {
    const sct_tune_row *row = &size->rows[r];
    const bool good = sct_row_is_ok(&row->outcome);
    in_run = r > 0 && as_fast[r - 1] > 0 ? in_run + 1 : 1;
    n_failed += !good;
    const bool leads = good && n < 5 * (int64_t)top && (in_run <= 5 || top == CLI_ALL_ROWS);
    n += leads;
    if (leads || row->naive || row->own || (!good && (n_failed <= 64 || top == CLI_ALL_ROWS))) {
      json_t *doc = row_json(row, r + 1);
      json_object_set_new(doc, "as_fast", json_integer(as_fast[r]));
      json_array_append_new(rows, doc);
    }
  }
  return rows;
}

static json_t *size_json(const sct_tune_size *size, int top) {
  json_t *issues = json_array(), *passed_over = json_null();
  if (size->passed_over) {
    passed_over = json_pack("{s:o, s:o}", "label", sct_json_string(size->passed_over), "ratio",
                            sct_json_number(size->faster_ratio));
  }
  for (int k = 0; k < size->n_issues; k++) {
    json_array_append_new(issues, cli_issue_json(&size->issues[k]));
  }
  return json_pack(
      "{s:o, s:b, s:b, s:o, s:o, s:o, s:i, s:i, s:i, s:i, s:i, s:i, s:b, s:o, s:o, s:o, s:o, "
      "s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
      "label", sct_json_string(size->label), "sampled", size->sampled, "around", size->around,
      "ceiling_bytes_s", cli_json_positive(size->ceiling_bytes_s), "read_bytes",
      sct_json_number(size->read_bytes), "write_bytes", sct_json_number(size->write_bytes),
      "verified", size->n_verified, "failed", size->n_failed, "tied", size->n_tied, "unfit",
      size->n_unfit, "tried", size->n_rows, "untried", size->n_untried, "counted_only",
      size->verified_only_counted, "faster", sct_json_string(size->faster), "converted",
      sct_json_string(size->converted), "kept", sct_json_string(size->kept), "recorded",
      sct_json_string(size->recorded), "why", sct_json_string(size->why), "best",
      sct_json_string(size->best), "decided", sct_json_string(size->decided), "passed_over",
      passed_over, "uncoalesced", cli_lines_json(size->uncoalesced ? size->uncoalesced : ""),
      "issues", issues, "rows", rows_json(size, top));
}

json_t *cli_json_report(const sct_tune_report *report, int top) {
  if (!report->name) { /* the session ended before there was one */
    return json_null();
  }
  json_t *sizes = json_array(), *share = json_null();
  for (int z = 0; z < report->n_sizes; z++) {
    json_array_append_new(sizes, size_json(&report->sizes[z], top));
  }
  if (report->share.n > 0) {
    share = json_sprintf("%d/%d", report->share.k, report->share.n);
  }
  json_t *doc = json_pack(
      "{s:o, s:o, s:o, s:b, s:I, s:I, s:I, s:I, s:i, s:i, s:o, s:o, s:o, s:o, s:b, s:b, s:o, s:o}",
      "name", sct_json_string(report->name), "device", cli_json_device(&report->device), "says",
      sct_json_string(report->says), "replayed", report->replayed, "points",
      (json_int_t)report->n_points, "candidates", (json_int_t)report->n_candidates, "sources",
      (json_int_t)report->n_sources, "ungenerated", (json_int_t)report->n_ungenerated, "checked",
      report->n_checked, "caught", report->n_caught, "stale", sct_json_string(report->stale),
      "share", share, "top_of", sct_json_string(report->heat.store_path), "search",
      sct_json_string(report->search), "settled", report->settled, "stopped_early",
      report->stopped_early, "sizes", sizes, "conditions",
      report->conditions.len > 0 ? sct_json_load(sct_str_c(&report->conditions)) : json_null());
  const uint64_t slowdown = sct_throttle_hardware(report->throttle);
  add_keys(doc, json_pack("{s:o, s:b, s:I, s:I, s:I, s:o}", "top",
                          report->heat.store_path ? json_integer(report->heat.n) : json_null(),
                          "contended", report->contended, "samples", (json_int_t)report->n_samples,
                          "contended_samples", (json_int_t)report->n_contended, "slow_samples",
                          (json_int_t)report->n_slow, "slowdown",
                          slowdown != 0 ? sct_json_string(sct_throttle_meaning(slowdown))
                                        : json_null()));
  return doc;
}
