/* The figures of a header as data: the banner's table, the tuned devices and sizes. A reader
 * decides on them whether to trust the file, so every figure says how it came about. */
#include "emit/emit_internal.h"

#include <math.h>
#include <string.h>

/* ---- the table ---- */

enum {
  COLUMN_MEDIAN = 3,
  COLUMN_RATE,
  COLUMN_SHARE,
  COLUMN_PREDICTED,
  COLUMN_SECTORS,
  COLUMN_COALESCED,
  COLUMN_UTILISATION,
  N_COLUMNS
};

typedef struct table_row {
  sct_str cell[N_COLUMNS];
  json_t *counts; /* of the candidates, under the last row of a size; NULL: under another */
} table_row;

static void cell(table_row *row, int column, const char *text) {
  sct_str_clear(&row->cell[column]);
  emit_comment(&row->cell[column], text != NULL ? text : "");
}

/* "4.0 (4.0)": sectors a request, and the least there can be. */
static void sectors_text(sct_str *s, double requests, double sectors, double ideal) {
  if (requests <= 0 || sectors < 0) {
    sct_str_append(s, "-");
    return;
  }
  sct_str_printf(s, "%.1f", sectors / requests);
  if (ideal >= 0) {
    sct_str_printf(s, " (%.1f)", ideal / requests);
  }
}

static void result_row(table_row *row, const char *device, const sct_row_result *result,
                       const sct_row_run *run, bool is_virtual) {
  const sct_row_outcome *o = &result->outcome;
  cell(row, 0, device);
  cell(row, 1, result->candidate.label);
  cell(row, 2, run->size_label);
  cell(row, COLUMN_MEDIAN, is_virtual ? "not timed" : "-");
  cell(row, COLUMN_RATE, "-");
  cell(row, COLUMN_SHARE, "-");
  if (o->median_ns > 0 && !is_virtual) {
    const double gb_s = (run->read_bytes + run->write_bytes) / o->median_ns; /* bytes a ns */
    sct_str_clear(&row->cell[COLUMN_MEDIAN]);
    sct_str_printf(&row->cell[COLUMN_MEDIAN], "%.1f", o->median_ns / 1e3);
    sct_str_clear(&row->cell[COLUMN_RATE]);
    sct_str_printf(&row->cell[COLUMN_RATE], "%.0f", gb_s);
    if (run->ceiling_bytes_s > 0) {
      sct_str_clear(&row->cell[COLUMN_SHARE]);
      sct_str_printf(&row->cell[COLUMN_SHARE], "%.0f %%", 100 * gb_s * 1e9 / run->ceiling_bytes_s);
    }
  }
  if (is_virtual && o->predicted_ns > 0) {
    sct_str_printf(&row->cell[COLUMN_PREDICTED], "%.1f", o->predicted_ns / 1e3);
  }
  if (o->how.share > 0 && o->how.utilisation > 0) {
    sct_str_printf(&row->cell[COLUMN_COALESCED], "%.3g %%%s", 100 * o->how.share,
                   o->how.coalesced ? ""
                   : o->how.unknown ? " (unknown)"
                                    : " (not)");
    sct_str_printf(&row->cell[COLUMN_UTILISATION], "%.3g %%", 100 * o->how.utilisation);
  }
  sct_str *sectors = &row->cell[COLUMN_SECTORS];
  sct_str_append(sectors, o->how.sectors_error > 0 ? "~" : "");
  sectors_text(sectors, o->requests_ld, o->sectors_ld, o->sectors_ld_ideal);
  sct_str_append(sectors, " | ");
  sectors_text(sectors, o->requests_st, o->sectors_st, o->sectors_st_ideal);
}

static json_t *counts(const sct_row_run *run, bool is_virtual) {
  SCT_SCOPED(sct_arena) arena = {0};
  const char *passed_over = emit_passed_over(&arena, run->conditions);
  return json_pack("{s:i, s:i, s:s, s:i, s:i, s:o}", "candidates", run->n_candidates, "verified",
                   run->n_verified, "how",
                   is_virtual ? "verified, counted and predicted" : "verified", "tied", run->n_tied,
                   "failed", run->n_failed, "passed_over",
                   passed_over ? emit_text(passed_over) : json_false());
}

static json_t *row_text(const table_row *row, const size_t *width) {
  sct_str s = {0};
  for (int c = 0; c < N_COLUMNS; c++) {
    if (width[c] == 0) { /* nothing is predicted, say */
      continue;
    }
    const bool number = c >= COLUMN_MEDIAN && c <= COLUMN_PREDICTED;
    sct_str_append(&s, c > 0 ? "  " : "");
    sct_str_printf(&s, number ? "%*s" : "%-*s", (int)width[c], sct_str_c(&row->cell[c]));
  }
  return emit_text_str(&s);
}

/* A table row for every winner and naive variant. */
static int fill_rows(table_row *rows, const emit_header *h) {
  static const char *const titles[N_COLUMNS] = {
      "device",    "variant",    "size",         "median us",
      "GB/s",      "of copy",    "predicted us", "sectors/request ld (least) | st (least)",
      "coalesced", "utilisation"};
  int n = 1;
  for (int c = 0; c < N_COLUMNS; c++) {
    cell(&rows[0], c, titles[c]);
  }
  for (int d = 0; d < h->n_devices; d++) {
    const emit_device *device = &h->devices[d];
    const bool is_virtual = device->row->is_virtual;
    for (int k = 0; k < device->n_sizes; k++) {
      const emit_size *size = &device->sizes[k];
      SCT_SCOPED(sct_str) name = {0};
      sct_str_printf(&name, "%s (%s)", device->row->name, device->row->arch);
      result_row(&rows[n++], sct_str_c(&name), size->winner, size->run, is_virtual);
      if (size->naive != NULL && size->naive->outcome.id != size->winner->outcome.id) {
        result_row(&rows[n++], "  naive, same run", size->naive, size->run, is_virtual);
      }
      rows[n - 1].counts = counts(size->run, is_virtual);
    }
  }
  return n;
}

void emit_add_figures(json_t *out, const emit_header *h) {
  size_t width[N_COLUMNS] = {0};
  json_t *figures = json_array();
  table_row *rows = sct_alloc(sizeof(*rows) * (size_t)(1 + 2 * h->n_runs));
  const int n = fill_rows(rows, h);
  for (int r = n - 1; r >= 0; r--) {
    for (int c = 0; c < N_COLUMNS; c++) {
      const bool may_lack = c == COLUMN_PREDICTED || c > COLUMN_SECTORS;
      const bool head = r == 0 && width[c] == 0 && may_lack;
      width[c] = !head && rows[r].cell[c].len > width[c] ? rows[r].cell[c].len : width[c];
    }
  }
  for (int r = 0; r < n; r++) {
    json_t *under = rows[r].counts != NULL ? rows[r].counts : json_false();
    json_array_append_new(
        figures, json_pack("{s:o, s:o}", "cells", row_text(&rows[r], width), "counts", under));
    for (int c = 0; c < N_COLUMNS; c++) {
      sct_str_free(&rows[r].cell[c]);
    }
  }
  sct_free(rows);
  json_object_set_new(out, "figures", figures);
}

/* ---- devices and sizes ---- */

/* JSON has no other numbers. */
static double known(double value) {
  return isfinite(value) ? value : 0;
}

static json_t *size_data(const emit_device *device, const emit_size *size, int n_extents) {
  const sct_row_run *run = size->run;
  const double ns = size->winner->outcome.median_ns;
  const double naive_ns = size->naive != NULL ? size->naive->outcome.median_ns : 0;
  const double bytes = run->read_bytes + run->write_bytes;
  const bool timed = !device->row->is_virtual && ns > 0;
  const double share =
      timed && run->ceiling_bytes_s > 0 ? bytes / ns * 1e9 / run->ceiling_bytes_s : 0;
  json_t *extents = json_array();
  for (int e = 0; e < n_extents; e++) {
    json_array_append_new(extents, json_integer(size->extents[e]));
  }
  const char *slower = size->shapes.slower;
  return json_pack(
      "{s:o, s:o, s:i, s:o, s:i, s:i, s:o, s:o, s:f, s:f, s:f, s:f, s:i, s:i, s:i, s:i}", "label",
      emit_text(run->size_label), "extents", extents, "kernel", size->kernel, "slower",
      slower != NULL ? emit_text(slower) : json_false(), "step", size->shapes.step, "reach",
      size->shapes.reach, "variant", emit_text(size->winner->candidate.label), "source_hash",
      emit_text(size->winner->candidate.source_hash), "median_us", known(timed ? ns / 1e3 : 0),
      "gb_per_s", known(timed ? bytes / ns : 0), "of_copy", known(share), "naive_us",
      known(timed ? naive_ns / 1e3 : 0), "candidates", run->n_candidates, "verified",
      run->n_verified, "tied", run->n_tied, "failed", run->n_failed);
}

static json_t *device_data(const emit_header *h, int index) {
  const emit_device *device = &h->devices[index];
  const sct_row_device *row = device->row;
  json_t *alike = json_array();
  json_t *sizes = json_array();
  for (int k = 0; k < device->n_alike; k++) {
    json_array_append_new(alike, emit_text(device->alike[k]->uuid));
  }
  for (int k = 0; k < device->n_sizes; k++) {
    json_array_append_new(sizes, size_data(device, &device->sizes[k], h->sig.n_extents));
  }
  return json_pack(
      "{s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:s, s:i, s:i, s:I, s:b, s:o, s:o, s:i}", "index",
      index, "name", emit_text(row->name), "arch", emit_text(row->arch), "driver",
      emit_text(row->driver), "nvrtc", emit_text(row->nvrtc), "tool", emit_text(row->tool), "uuid",
      emit_text(row->uuid), "is_virtual", row->is_virtual, "figures",
      row->is_virtual ? "counted and predicted, not timed" : "timed", "major", row->cc_major,
      "minor", row->cc_minor, "sms", (json_int_t)device->n_sms, "sms_known", device->n_sms != 0,
      "alike", alike, "sizes", sizes, "n_sizes", device->n_sizes);
}

void emit_add_devices(json_t *out, const emit_header *h) {
  json_t *devices = json_array();
  bool any_virtual = false;
  int n_sizes = 0;
  for (int d = 0; d < h->n_devices; d++) {
    json_array_append_new(devices, device_data(h, d));
    any_virtual = any_virtual || h->devices[d].row->is_virtual;
    n_sizes += h->devices[d].n_sizes;
  }
  json_object_set_new(out, "devices", devices);
  json_object_set_new(out, "is_predicted", json_boolean(any_virtual));
  json_object_set_new(out, "n_tunings", json_integer(n_sizes));
}
