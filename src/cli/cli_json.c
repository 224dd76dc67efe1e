/* JSON documents. Figures that were not measured are null, never 0. */
#include "cli/cli_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

json_t *cli_json_text(const char *text) {
  if (!text) {
    return json_null();
  }
  json_t *json = json_string(text);
  if (json) {
    return json;
  }
  char *ascii = sct_strdup(text);
  for (char *c = ascii; c && *c; c++) {
    *c = (unsigned char)*c < 0x80 ? *c : '?';
  }
  json = ascii ? json_string(ascii) : NULL;
  sct_free(ascii);
  return json;
}

json_t *cli_json_number(double value) {
  return isfinite(value) ? json_real(value) : json_null();
}

json_t *cli_json_positive(double value) {
  return value > 0.0 ? cli_json_number(value) : json_null();
}

json_t *cli_json_parse(const sct_str *text) {
  return json_loads(sct_str_c(text), 0, NULL);
}

sct_status cli_json_dump(sct_str *out, json_t *doc, sct_error *err) {
  char *dump = doc ? json_dumps(doc, JSON_INDENT(2) | JSON_REAL_PRECISION(10)) : NULL;
  json_decref(doc);
  if (!dump) {
    return sct_fail(err, SCT_EINTERNAL, "a text of the document is not UTF-8");
  }
  sct_str_printf(out, "%s\n", dump);
  sct_free(dump);
  return SCT_OK;
}

sct_status cli_json_print(json_t *doc, sct_error *err) {
  sct_str text = {0};
  const sct_status status = cli_json_dump(&text, doc, err);
  if (status != SCT_OK) {
    sct_str_free(&text);
    return status;
  }
  return cli_print(&text, err);
}

json_t *cli_json_error(sct_status status, const char *text) {
  return json_pack("{s:{s:s, s:i, s:o}}", "error", "status", sct_status_text(status), "exit_code",
                   sct_exit_code(status), "text", cli_json_text(text));
}

json_t *cli_json_device(const sct_device_desc *d) {
  char cc[16];
  snprintf(cc, sizeof cc, "%d.%d", d->cc_major, d->cc_minor);
  return json_pack(
      "{s:o, s:o, s:o, s:s, s:b, s:i, s:I, s:I, s:I, s:I, s:i, s:i, s:i, s:I, s:o, s:o, s:i, s:o, "
      "s:s, "
      "s:b}",
      "id", cli_json_text(d->id), "name", cli_json_text(d->name), "uuid", cli_json_text(d->uuid),
      "cc", cc, "virtual", d->is_virtual, "sms", d->n_sms, "memory_bytes",
      (json_int_t)d->memory_bytes, "smem_sm_bytes", (json_int_t)d->smem_sm_bytes,
      "smem_block_bytes", (json_int_t)d->smem_block_bytes, "smem_block_optin_bytes",
      (json_int_t)d->smem_block_optin_bytes, "regs_sm", d->regs_sm, "threads_sm", d->threads_sm,
      "blocks_sm", d->blocks_sm, "l2_bytes", (json_int_t)d->l2_bytes, "peak_bytes_s",
      cli_json_positive(d->peak_bytes_s), "copy_bytes_s", cli_json_positive(d->copy_bytes_s),
      "clock_khz", d->clock_khz, "driver", cli_json_text(d->driver), "coalescing",
      d->coalescing[0] ? d->coalescing : "cc70", "counting_only", d->counting_only);
}

/* ---- the report of a session ---- */

static json_t *counts_json(const sct_run_counts *c) {
  return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}", "requests_ld", (json_int_t)c->requests_ld,
                   "sectors_ld", (json_int_t)c->sectors_ld, "requests_st",
                   (json_int_t)c->requests_st, "sectors_st", (json_int_t)c->sectors_st,
                   "wavefronts_ld", (json_int_t)c->wavefronts_ld, "wavefronts_st",
                   (json_int_t)c->wavefronts_st);
}

static json_t *ptx_json(const sct_ptx_check *check) {
  return check->known ? json_pack("{s:o}", "ptx", counts_json(&check->ptx)) : json_null();
}

/* Adds the keys of `part`, which is freed. */
static void add_keys(json_t *doc, json_t *part) {
  json_object_update(doc, part);
  json_decref(part);
}

static json_t *row_times(const sct_tune_row *row) {
  return json_pack(
      "{s:o, s:o, s:o, s:o, s:o, s:i, s:i, s:o, s:o, s:o, s:o}", "median_ns",
      cli_json_positive(row->median_ns), "q1_ns", cli_json_positive(row->q1_ns), "q3_ns",
      cli_json_positive(row->q3_ns), "launch_overhead_ns", cli_json_positive(row->overhead_ns),
      "resident_ns", cli_json_positive(row->resident_ns), "slow_samples", row->n_slow,
      "contended_samples", row->n_contended, "bytes_per_s", cli_json_positive(row->bytes_per_s),
      "share", cli_json_positive(row->share), "predicted_ns", cli_json_positive(row->predicted_ns),
      "predicted_limit", cli_json_text(row->predicted_limit));
}

static json_t *row_counts(const sct_tune_row *row) {
  const char *quality = !row->counted ? NULL : row->approximate ? "approximate" : "exact";
  return json_pack(
      "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "sectors_ld",
      cli_json_number(row->sectors_ld), "sectors_st", cli_json_number(row->sectors_st), "sectors",
      cli_json_number(row->sectors), "sectors_ideal", cli_json_number(row->sectors_ideal), "degree",
      cli_json_number(row->degree), "degree_ld", cli_json_number(row->degree_ld), "degree_st",
      cli_json_number(row->degree_st), "counts", cli_json_text(quality), "counts_cause",
      cli_json_text(row->approximate), "small_size", ptx_json(&row->ptx));
}

static json_t *row_json(const sct_tune_row *row, int rank) {
  json_t *doc = json_pack("{s:i, s:o, s:s, s:o}", "rank", rank, "label", cli_json_text(row->label),
                          "outcome", row->outcome, "detail", cli_json_text(row->detail));
  add_keys(doc, row_times(row));
  add_keys(doc, row_counts(row));
  add_keys(doc, json_pack("{s:i, s:i, s:i, s:o, s:b, s:b, s:b, s:b}", "registers", row->registers,
                          "spill_bytes", row->spill_bytes, "shared_bytes", row->shared_bytes,
                          "occupancy", cli_json_number(row->occupancy), "coalesced", row->coalesced,
                          "tied", row->tied, "winner", row->winner, "naive", row->naive));
  return doc;
}

static json_t *size_json(const sct_tune_size *size) {
  json_t *rows = json_array();
  for (int r = 0; r < size->n_rows; r++) {
    json_array_append_new(rows, row_json(&size->rows[r], r + 1));
  }
  return json_pack(
      "{s:o, s:o, s:o, s:o, s:i, s:i, s:i, s:i, s:i, s:i, s:b, s:o, s:o, s:o, s:o}", "label",
      cli_json_text(size->label), "ceiling_bytes_s", cli_json_positive(size->ceiling_bytes_s),
      "read_bytes", cli_json_number(size->read_bytes), "write_bytes",
      cli_json_number(size->write_bytes), "verified", size->n_verified, "failed", size->n_failed,
      "tied", size->n_tied, "unfit", size->n_unfit, "tried", size->n_rows, "untried",
      size->n_untried, "counted_only", size->verified_only_counted, "faster",
      cli_json_text(size->faster), "kept", cli_json_text(size->kept), "recorded",
      cli_json_text(size->recorded), "rows", rows);
}

json_t *cli_json_report(const sct_tune_report *report) {
  if (!report->name) { /* the session ended before there was one */
    return json_null();
  }
  json_t *sizes = json_array();
  for (int z = 0; z < report->n_sizes; z++) {
    json_array_append_new(sizes, size_json(&report->sizes[z]));
  }
  return json_pack(
      "{s:o, s:o, s:o, s:b, s:I, s:I, s:I, s:I, s:i, s:i, s:o, s:o, s:b, s:b, s:o, s:o}", "name",
      cli_json_text(report->name), "device", cli_json_device(&report->device), "says",
      cli_json_text(report->says), "replayed", report->replayed, "points",
      (json_int_t)report->n_points, "candidates", (json_int_t)report->n_candidates, "sources",
      (json_int_t)report->n_sources, "ungenerated", (json_int_t)report->n_ungenerated, "checked",
      report->n_checked, "caught", report->n_caught, "stale", cli_json_text(report->stale),
      "search", cli_json_text(report->search), "settled", report->settled, "stopped_early",
      report->stopped_early, "sizes", sizes, "conditions",
      report->conditions.len > 0 ? cli_json_parse(&report->conditions) : json_null());
}
