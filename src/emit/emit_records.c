/* The record types of a header's arguments: NAME_<record>, so that they meet neither those of other
 * headers nor the program's own. Each is held to the size, alignment and offsets that the kernels
 * were generated for. */
#include "emit/emit_internal.h"

#include <string.h>

bool emit_takes_struct(const emit_header *h, int operand) {
  return h->sig.operands[operand].record.name != NULL && strcmp(h->layout[operand], "aos") == 0;
}

/* The header defines the operand's record. */
static bool has_struct(const emit_header *h, int operand) {
  return emit_takes_struct(h, operand) ||
         (emit_packs(h, operand) && h->sig.operands[operand].record.name != NULL);
}

/* NAME_<this> is a name that headers have already. */
static bool is_taken(const char *record) {
  static const char *const names[] = {
      "FIND_KERNEL",   "bf16",         "f16",        "IMPLEMENTATION", "LINKAGE",
      "SELFTEST_MAIN", "args",         "choice",     "detail",         "ends",
      "selftest",      "floor_div",    "floor_mod",  "launch",         "places",
      "max",           "min",          "pack_field", "provenance",     "tuning",
      "tunings",       "unpack_field", "variant",    "workspace_bytes"};
  bool taken = sct_has_prefix(record, "layout_") || sct_has_prefix(record, "detail_") ||
               sct_has_prefix(record, "selftest_");
  for (int k = 0; k < SCT_COUNT(names); k++) {
    taken = taken || strcmp(record, names[k]) == 0;
  }
  return taken;
}

void emit_record_type(sct_str *s, const emit_header *h, const emit_record *record) {
  sct_str_printf(s, "%s_%s%s", h->sig.name, record->name, is_taken(record->name) ? "_record" : "");
}

/* As in spec_bind.c, which gives records of one layout one name, packed or not. */
static bool same_record(const emit_record *a, const emit_record *b) {
  bool same = a->n_fields == b->n_fields && a->bytes == b->bytes && a->align == b->align;
  for (int k = 0; same && k < a->n_fields; k++) {
    same = strcmp(a->fields[k].name, b->fields[k].name) == 0 &&
           a->fields[k].cuda == b->fields[k].cuda && a->fields[k].offset == b->fields[k].offset;
  }
  return same;
}

int64_t emit_natural_align(const emit_record *record) {
  int64_t align = 1;
  for (int k = 0; k < record->n_fields && !record->packed; k++) {
    align = record->fields[k].bytes > align ? record->fields[k].bytes : align;
  }
  return align;
}

int emit_array_length(const emit_record *record, int k) {
  const char *name = record->fields[k].name;
  const size_t base = strcspn(name, "[");
  int n = 1;
  while (name[base] != '\0' && k + n < record->n_fields &&
         strncmp(record->fields[k + n].name, name, base + 1) == 0) {
    n++;
  }
  return n;
}

void emit_declare(sct_str *s, const emit_record *record, int k, int shared) {
  const char *name = record->fields[k].name;
  const size_t base = strcspn(name, "[");
  sct_str_append_n(s, name, base);
  if (name[base] != '\0') {
    sct_str_printf(s, "[%d]", emit_array_length(record, k) * shared);
  }
}

/* Do both fields stand on one line? */
static bool same_line(const emit_field *a, const emit_field *b) {
  return a->cuda == b->cuda && emit_type_find(a->type)->shared == 1 &&
         emit_type_find(b->type)->shared == 1;
}

/* "double x, y, z", fields of one type on one line; "alignas(16) float x" first where the record is
 * aligned to more than its fields: C has it at members only, where packing would undo it. */
static json_t *members(const emit_record *record) {
  const bool aligned = !record->packed && record->align > emit_natural_align(record);
  json_t *list = json_array();
  sct_str line = {0}, note = {0};
  for (int k = 0; k < record->n_fields;) {
    const emit_field *f = &record->fields[k];
    const int n = emit_array_length(record, k), shared = emit_type_find(f->type)->shared;
    const bool first = k == 0 && aligned;
    if (first) {
      sct_str_printf(&line, "alignas(%lld) ", (long long)record->align);
    }
    sct_str_printf(&line, "%s ", line.len == 0 || first ? f->cuda : ",");
    emit_declare(&line, record, k, 1);
    if (shared > 1) {
      sct_str_printf(&note, "  // %d of %s, %d a byte, low bits first", n * shared, f->type,
                     shared);
    }
    k += n;
    if (first || k == record->n_fields || !same_line(f, &record->fields[k])) {
      json_array_append_new(list, json_pack("{s:o, s:o}", "text", emit_text_str(&line), "note",
                                            emit_text_str(&note)));
    }
  }
  return list;
}

static json_t *record_data(const emit_header *h, const emit_record *record) {
  sct_str type = {0};
  json_t *fields = json_array();
  emit_record_type(&type, h, record);
  for (int k = 0; k < record->n_fields; k += emit_array_length(record, k)) {
    const emit_field *f = &record->fields[k];
    json_array_append_new(fields, json_pack("{s:o, s:I}", "name", emit_text(f->name), "offset",
                                            (json_int_t)f->offset));
  }
  return json_pack("{s:o, s:b, s:b, s:I, s:I, s:o, s:o}", "type", emit_text_str(&type), "packed",
                   record->packed, "aligned", record->packed && record->align > 1, "bytes",
                   (json_int_t)record->bytes, "align", (json_int_t)record->align, "members",
                   members(record), "fields", fields);
}

sct_status emit_records(json_t **out, const emit_header *h, sct_error *err) {
  json_t *records = json_array();
  for (int k = 0; k < h->sig.n_operands; k++) {
    const emit_operand *op = &h->sig.operands[k];
    bool written = !has_struct(h, k);
    for (int other = 0; other < k && has_struct(h, k); other++) {
      const emit_operand *before = &h->sig.operands[other];
      if (has_struct(h, other) && strcmp(before->record.name, op->record.name) == 0) {
        if (!same_record(&before->record, &op->record)) {
          json_decref(records);
          return sct_fail(err, SCT_EDATA,
                          "the stored signature is damaged: operands '%s' and '%s' give the record "
                          "'%s' two shapes",
                          before->name, op->name, op->record.name);
        }
        written = true;
      }
    }
    if (!written) {
      json_array_append_new(records, record_data(h, &op->record));
    }
  }
  *out = records;
  return SCT_OK;
}

/* Some type that the host part names is one of CUDA's structs. */
bool emit_names_vectors(const emit_header *h) {
  bool any = false;
  for (int k = 0; k < h->sig.n_operands; k++) {
    const emit_record *record = &h->sig.operands[k].record;
    for (int f = 0; f < record->n_fields && (has_struct(h, k) || emit_packs(h, k)); f++) {
      any = any || emit_type_find(record->fields[f].type)->vector;
    }
  }
  return any;
}
