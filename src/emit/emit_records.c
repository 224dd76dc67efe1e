/* The record types of a header's arguments: NAME_<record>, so that they meet neither those of other
 * headers nor the program's own. Each is held to the size, alignment and offsets that the kernels
 * were generated for. */
#include "emit/emit_internal.h"

#include <string.h>

bool emit_takes_struct(const emit_header *h, int operand) {
  return h->sig.operands[operand].record.name != NULL && strcmp(h->layout[operand], "aos") == 0;
}

bool emit_has_struct(const emit_header *h, int operand) {
  return emit_takes_struct(h, operand) ||
         (emit_packs(h, operand) && h->sig.operands[operand].record.name != NULL);
}

/* NAME_<this> is a name that headers have already. */
static bool is_taken(const char *record) {
  static const char *const names[] = {"choice",  "detail",  "provenance",     "tuning",
                                      "tunings", "variant", "workspace_bytes"};
  bool taken = sct_has_prefix(record, "layout_");
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

/* What C++ would align the fields to by itself. */
static int64_t natural_align(const emit_record *record) {
  int64_t align = 1;
  for (int k = 0; k < record->n_fields && !record->packed; k++) {
    align = record->fields[k].bytes > align ? record->fields[k].bytes : align;
  }
  return align;
}

static void fields_text(sct_str *s, const emit_record *record) {
  for (int k = 0; k < record->n_fields; k++) {
    const emit_field *f = &record->fields[k];
    const bool same = k > 0 && f->cuda == record->fields[k - 1].cuda;
    if (same) {
      sct_str_printf(s, ", %s", f->name);
    } else {
      sct_str_printf(s, "%s  %s %s", k > 0 ? ";\n" : "", f->cuda, f->name);
    }
  }
  sct_str_append(s, ";\n");
}

static void checks_text(sct_str *s, const char *type, const emit_record *record) {
  sct_str_printf(s, "static_assert(sizeof(%s) == %lld && alignof(%s) == %lld", type,
                 (long long)record->bytes, type, (long long)record->align);
  for (int k = 0; k < record->n_fields; k++) {
    sct_str_printf(s, "%s offsetof(%s, %s) == %lld", k % 3 == 0 ? " &&\n             " : " &&",
                   type, record->fields[k].name, (long long)record->fields[k].offset);
  }
  sct_str_printf(s, ",\n              \"layout of %s\");\n\n", type);
}

static void record_text(sct_str *s, const emit_header *h, const emit_record *record) {
  sct_str type = {0};
  emit_record_type(&type, h, record);
  const char *name = sct_str_c(&type);
  sct_str_append(s, record->packed ? "#pragma pack(push, 1)\n" : "");
  sct_str_append(s, "typedef struct ");
  if (record->align > natural_align(record)) {
    sct_str_printf(s, "alignas(%lld) ", (long long)record->align);
  }
  sct_str_printf(s, "%s {\n", name);
  fields_text(s, record);
  sct_str_printf(s, "} %s;\n%s", name, record->packed ? "#pragma pack(pop)\n" : "");
  checks_text(s, name, record);
  sct_str_free(&type);
}

sct_status emit_records(sct_str *s, const emit_header *h, sct_error *err) {
  for (int k = 0; k < h->sig.n_operands; k++) {
    const emit_operand *op = &h->sig.operands[k];
    bool written = !emit_has_struct(h, k);
    for (int other = 0; other < k && emit_has_struct(h, k); other++) {
      const emit_operand *before = &h->sig.operands[other];
      if (emit_has_struct(h, other) && strcmp(before->record.name, op->record.name) == 0) {
        if (!same_record(&before->record, &op->record)) {
          return sct_fail(err, SCT_EDATA,
                          "the stored signature is damaged: operands '%s' and '%s' give the record "
                          "'%s' two shapes",
                          before->name, op->name, op->record.name);
        }
        written = true;
      }
    }
    if (!written) {
      record_text(s, h, &op->record);
    }
  }
  return SCT_OK;
}
