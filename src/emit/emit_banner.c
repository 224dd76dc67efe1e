/* The comment that opens a header: what the kernel computes, the table of figures, where they come
 * from. A reader decides on it whether to trust the file, so it says of every figure how it came
 * about. */
#include "emit/emit_internal.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- what it computes ---- */

static void index_space(sct_str *s, const emit_signature *sig) {
  int n = 0;
  for (int k = 0; k < sig->n_extents; k++) {
    n += sig->extents[k].is_dim;
  }
  sct_str_append(s, "// For every ");
  sct_str_append(s, n > 1 ? "(" : "");
  int seen = 0;
  for (int k = 0; k < sig->n_extents; k++) {
    if (sig->extents[k].is_dim) {
      sct_str_printf(s, "%s%s", seen++ > 0 ? ", " : "", sig->extents[k].name);
    }
  }
  sct_str_append(s, n > 1 ? ") in " : " in ");
  seen = 0;
  for (int k = 0; k < sig->n_extents; k++) {
    if (sig->extents[k].is_dim) {
      sct_str_printf(s, "%s[0, n_%s)", seen++ > 0 ? " x " : "", sig->extents[k].name);
    }
  }
  sct_str_append(s, ":\n");
}

/* "vec3 { f64 x, y, z } of 24 bytes", or "f32" */
static void record_text(sct_str *s, const emit_record *record) {
  if (record->name == NULL) {
    sct_str_append(s, record->fields[0].type);
    return;
  }
  sct_str_printf(s, "%s { ", record->name);
  for (int k = 0; k < record->n_fields; k++) {
    const emit_field *f = &record->fields[k];
    const bool same = k > 0 && strcmp(f->type, record->fields[k - 1].type) == 0;
    sct_str_printf(s, "%s%s%s%s", k == 0 ? "" : (same ? ", " : "; "), same ? "" : f->type,
                   same ? "" : " ", f->name);
  }
  sct_str_printf(s, " } of %lld bytes%s", (long long)record->bytes,
                 record->packed ? ", packed" : "");
}

static void text_list(sct_str *s, const char *const *texts, int n) {
  for (int k = 0; k < n; k++) {
    sct_str_append(s, k > 0 ? ", " : "");
    emit_comment(s, texts[k]);
  }
}

/* Element (i, j) of the index space is element (i, j) of the operand, or nothing else is said. */
static bool at_its_own_place(const emit_operand *op) {
  bool own = op->n_at == 0 || op->n_at == op->n_dims;
  for (int k = 0; own && k < op->n_at; k++) {
    own = strcmp(op->at[k], op->dims[k]) == 0;
  }
  return own;
}

static void operand_text(sct_str *s, const emit_header *h, int index, int name_width) {
  const emit_operand *op = &h->sig.operands[index];
  sct_str_printf(s, "//   %-*s  %-3s  ", name_width, op->name, op->is_output ? "out" : "in");
  record_text(s, &op->record);
  sct_str_append(s, ", layout ");
  emit_comment(s, h->layout[index]);
  for (int k = 0; k < op->n_layouts && op->n_layouts > 1; k++) {
    sct_str_append(s, k == 0 ? ", chosen from " : ", ");
    emit_comment(s, op->layouts[k]);
  }
  sct_str_append(s, op->n_dims == 0 && op->reduce[0] != '\0' ? "; one element" : "; over (");
  text_list(s, op->dims, op->n_dims);
  sct_str_append(s, op->n_dims == 0 && op->reduce[0] != '\0' ? "" : ")");
  if (op->reduce[0] != '\0') {
    sct_str_append(s, ", ");
    emit_comment(s, op->reduce);
    sct_str_append(s, " of what is computed for it");
  }
  if (!at_its_own_place(op)) {
    sct_str_append(s, op->is_output ? ", written at (" : ", read at (");
    text_list(s, op->at, op->n_at);
    sct_str_append(s, ")");
  }
  if (op->n_taps > 0) {
    sct_str_append(s, "; its taps are ");
    text_list(s, op->taps, op->n_taps);
    sct_str_append(s, "; border ");
    emit_comment(s, op->border);
  }
  sct_str_append(s, "\n");
}

static void computation(sct_str *s, const emit_header *h) {
  const emit_signature *sig = &h->sig;
  size_t width = 0;
  for (int k = 0; k < sig->n_operands + sig->n_scalars; k++) {
    const size_t n = strlen(emit_argument(sig, k));
    width = n > width ? n : width;
  }
  emit_comment_lines(s, "// ", sig->doc);
  index_space(s, sig);
  emit_comment_lines(s, "//   ", sig->body);
  sct_str_append(s, "// where\n");
  for (int k = 0; k < sig->n_operands; k++) {
    operand_text(s, h, k, (int)width);
  }
  for (int k = 0; k < sig->n_scalars; k++) {
    sct_str_printf(s, "//   %-*s  %s\n", (int)width, sig->scalars[k].name, sig->scalars[k].type);
  }
}

/* ---- the table ---- */

enum { COLUMN_MEDIAN = 3, COLUMN_RATE, COLUMN_SHARE, COLUMN_PREDICTED, COLUMN_SECTORS, N_COLUMNS };

typedef struct table_row {
  sct_str cell[N_COLUMNS];
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
  sct_str *sectors = &row->cell[COLUMN_SECTORS];
  sectors_text(sectors, o->requests_ld, o->sectors_ld, o->sectors_ld_ideal);
  sct_str_append(sectors, " | ");
  sectors_text(sectors, o->requests_st, o->sectors_st, o->sectors_st_ideal);
}

static void counts_text(sct_str *s, const sct_row_run *run, bool is_virtual) {
  sct_str_printf(s, "%d candidates: %d %s, %d tied with the winner, %d failed", run->n_candidates,
                 run->n_verified, is_virtual ? "verified, counted and predicted" : "verified",
                 run->n_tied, run->n_failed);
}

static void print_row(sct_str *s, const table_row *row, const size_t *width) {
  const size_t start = s->len;
  sct_str_append(s, "// ");
  for (int c = 0; c < N_COLUMNS; c++) {
    if (width[c] == 0) { /* nothing is predicted */
      continue;
    }
    const bool number = c >= COLUMN_MEDIAN && c <= COLUMN_PREDICTED;
    sct_str_printf(s, number ? "%*s" : "%-*s", (int)width[c], sct_str_c(&row->cell[c]));
    sct_str_append(s, c + 1 < N_COLUMNS ? "  " : "");
  }
  while (s->len > start && s->data[s->len - 1] == ' ') {
    s->data[--s->len] = '\0';
  }
  sct_str_append(s, "\n");
}

/* A table row for every winner and naive variant, `after` holding the line that follows a row. */
static int fill_rows(table_row *rows, sct_str *after, const emit_header *h) {
  static const char *const titles[N_COLUMNS] = {
      "device", "variant", "size",         "median us",
      "GB/s",   "of copy", "predicted us", "sectors/request ld (least) | st (least)"};
  int n = 1;
  for (int c = 0; c < N_COLUMNS; c++) {
    cell(&rows[0], c, titles[c]);
  }
  for (int d = 0; d < h->n_devices; d++) {
    const emit_device *device = &h->devices[d];
    const bool is_virtual = device->row->is_virtual;
    for (int k = 0; k < device->n_sizes; k++) {
      const emit_size *size = &device->sizes[k];
      sct_str name = {0};
      sct_str_printf(&name, "%s (%s)", device->row->name, device->row->arch);
      result_row(&rows[n++], sct_str_c(&name), size->winner, size->run, is_virtual);
      sct_str_free(&name);
      if (size->naive != NULL && size->naive->outcome.id != size->winner->outcome.id) {
        result_row(&rows[n++], "  naive, same run", size->naive, size->run, is_virtual);
      }
      counts_text(&after[n - 1], size->run, is_virtual);
    }
  }
  return n;
}

static void table(sct_str *s, const emit_header *h) {
  size_t width[N_COLUMNS] = {0};
  const int most = 1 + 2 * h->n_runs;
  table_row *rows = sct_alloc(sizeof(*rows) * (size_t)most);
  sct_str *after = sct_alloc(sizeof(*after) * (size_t)most);
  const int n = fill_rows(rows, after, h);
  for (int r = n - 1; r >= 0; r--) {
    for (int c = 0; c < N_COLUMNS; c++) {
      const bool head = r == 0 && width[c] == 0 && c == COLUMN_PREDICTED;
      width[c] = !head && rows[r].cell[c].len > width[c] ? rows[r].cell[c].len : width[c];
    }
  }
  for (int r = 0; r < n; r++) {
    print_row(s, &rows[r], width);
    if (after[r].len > 0) {
      sct_str_printf(s, "//   %s\n", sct_str_c(&after[r]));
    }
  }
  for (int r = 0; r < most; r++) {
    for (int c = 0; c < N_COLUMNS && rows != NULL; c++) {
      sct_str_free(&rows[r].cell[c]);
    }
    if (after != NULL) {
      sct_str_free(&after[r]);
    }
  }
  sct_free(rows);
  sct_free(after);
}

/* ---- where it comes from ---- */

/* A call that cannot compare all of a device's identity finds it by compute capability only. */
static void identity_text(sct_str *s, const emit_device *device) {
  if (device->n_sms == 0) {
    sct_str_append(s, "//   its number of multiprocessors is not in the store: it never matches as "
                      "the same device model\n");
  }
}

/* Of GPUs alike a header has one: a call could not tell which it is on. */
static void alike_text(sct_str *s, const emit_device *device) {
  if (device->n_alike == 0) {
    return;
  }
  sct_str_append(s, "//   measured on ");
  emit_comment(s, device->row->uuid);
  sct_str_append(s, "; tuned too, alike, and left out:");
  for (int k = 0; k < device->n_alike; k++) {
    sct_str_append(s, k > 0 ? ", " : " ");
    emit_comment(s, device->alike[k]->uuid);
  }
  sct_str_append(s, "\n");
}

static void provenance(sct_str *s, const emit_header *h) {
  bool any_virtual = false;
  for (int d = 0; d < h->n_devices; d++) {
    const sct_row_device *row = h->devices[d].row;
    any_virtual = any_virtual || row->is_virtual;
    sct_str_append(s, "// ");
    emit_comment(s, row->name);
    sct_str_append(s, row->is_virtual ? ": described, NVRTC " : ": driver ");
    if (!row->is_virtual) {
      emit_comment(s, row->driver);
      sct_str_append(s, ", NVRTC ");
    }
    emit_comment(s, row->nvrtc);
    sct_str_append(s, ", sectile ");
    emit_comment(s, row->tool);
    sct_str_append(s, "\n");
    identity_text(s, &h->devices[d]);
    alike_text(s, &h->devices[d]);
  }
  if (any_virtual) {
    sct_str_append(
        s, "// Predicted, not timed: compiled for a described device, PTX verified on the CPU, "
           "sectors "
           "counted\n// from the addresses, times predicted from the counts. No GPU ran the "
           "variants.\n");
  }
  sct_str_append(s, "// Spec ");
  emit_comment(s, h->problem->spec_hash);
  sct_str_append(s, "; the hash of each kernel's source stands above it.\n");
}

/* What the caller must see to for some of the kernels. */
static void caution(sct_str *s, const emit_header *h) {
  bool any = false;
  for (int k = 0; k < h->n_kernels; k++) {
    any = any || h->kernels[k].launch.workspace_bytes > 0;
  }
  if (any) {
    sct_str_append(s, "// Calls that may overlap, such as on two streams, need a workspace each: "
                      "blocks leave\n// partial results there.\n");
  }
}

/* Reproducible builds set SOURCE_DATE_EPOCH (seconds); without it a header holds no date. */
static void date(sct_str *s) {
  const char *text = getenv("SOURCE_DATE_EPOCH");
  char *end = NULL;
  const long long seconds = text != NULL ? strtoll(text, &end, 10) : -1;
  if (text == NULL || end == text || *end != '\0' || seconds < 0 || seconds > 253402300799LL) {
    return; /* absent, or not a moment of the years 1970 to 9999 */
  }
  const time_t moment = (time_t)seconds;
  struct tm utc;
  char shown[32];
  if (gmtime_r(&moment, &utc) != NULL &&
      strftime(shown, sizeof(shown), "%Y-%m-%dT%H:%M:%SZ", &utc) > 0) {
    sct_str_printf(s, "// Written %s (SOURCE_DATE_EPOCH).\n", shown);
  }
}

void emit_banner(sct_str *s, const emit_header *h) {
  const char *name = h->sig.name;
  const char *file = h->problem->spec_file != NULL ? h->problem->spec_file : "SPEC";
  sct_str_printf(s, "// %s.h - written by sectile %s; do not edit. Again: sectile emit ", name,
                 SCT_VERSION);
  emit_comment(s, file);
  sct_str_printf(s, " -o %s.h\n//\n", name);
  computation(s, h);
  emit_chosen_layouts(s, h);
  sct_str_append(s, "//\n");
  table(s, h);
  sct_str_append(s, "//\n");
  provenance(s, h);
  caution(s, h);
  date(s);
}
