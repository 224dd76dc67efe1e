/* A file with cases for the kernels of a header: what arrays hold before a launch, and after it.
 * Who asks for it runs the naive variant (sct_emit_cases); here its bytes become text. */
#include "emit/emit_internal.h"

#include <string.h>

/* Bits of the exponent of a floating-point type, and how many values it has. */
static int exponent_bits(const char *type, int *lanes) {
  static const struct {
    const char *name;
    int exponent, lanes;
  } floats[] = {{"e4m3", 4, 1},  {"e5m2", 5, 1},  {"f16", 5, 1},   {"bf16", 8, 1},
                {"f32", 8, 1},   {"f64", 11, 1},  {"f16x2", 5, 2}, {"bf16x2", 8, 2},
                {"f32x2", 8, 2}, {"f32x4", 8, 4}, {"f64x2", 11, 2}};
  const int k = sct_names_find(SCT_NAMES_IN(floats, SCT_COUNT(floats), name), type);
  *lanes = k >= 0 ? floats[k].lanes : 1;
  return k >= 0 ? floats[k].exponent : 0;
}

static json_t *fields_data(const emit_record *record) {
  json_t *fields = json_array();
  for (int k = 0; k < record->n_fields; k++) {
    const emit_field *f = &record->fields[k];
    int lanes = 1;
    const int exponent = exponent_bits(f->type, &lanes);
    json_array_append_new(fields, json_pack("{s:I, s:I, s:i, s:i}", "offset", (json_int_t)f->offset,
                                            "bytes", (json_int_t)f->bytes, "lanes", lanes,
                                            "exponent", exponent));
  }
  return fields;
}

static json_t *array_data(const emit_header *h, int k) {
  const emit_operand *op = &h->sig.operands[k];
  json_t *out = json_object();
  emit_add_layout(out, h, k); /* prefix, extents */
  json_t *numbers = json_array();
  for (size_t n = 0; n < json_array_size(json_object_get(out, "extents")); n++) {
    const char *name = json_string_value(json_array_get(json_object_get(out, "extents"), n));
    for (int e = 0; e < h->sig.n_extents; e++) {
      if (strcmp(h->sig.extents[e].name, name) == 0) {
        json_array_append_new(numbers, json_integer(e));
      }
    }
  }
  json_object_set_new(out, "extents", numbers);
  json_object_set_new(out, "index", json_integer(k));
  json_object_set_new(out, "name", emit_text(op->name));
  json_object_set_new(out, "written", emit_text(op->is_output ? "true" : "false"));
  json_object_set_new(out, "align", json_integer(h->kernels[0].launch.align[k]));
  json_object_set_new(out, "record_bytes", json_integer(op->record.bytes));
  json_object_set_new(out, "n_fields", json_integer(op->record.n_fields));
  json_object_set_new(out, "fields", fields_data(&op->record));
  json_object_set_new(out, "packs", json_boolean(op->is_output && emit_packs(h, k)));
  return out;
}

/* Bytes as an array of its own; `list` gets its name, or NULL where there are none. */
static void add_buffer(json_t *buffers, json_t *list, const char *self, const char *name,
                       const void *bytes, int64_t n) {
  static const char zero = 0;
  if (bytes == NULL) {
    json_array_append_new(list, emit_text("NULL"));
    return;
  }
  json_array_append_new(list, emit_textf("%s_%s", self, name));
  json_array_append_new(buffers,
                        json_pack("{s:o, s:o}", "name", emit_text(name), "lines",
                                  emit_byte_lines(n > 0 ? bytes : &zero, n > 0 ? (size_t)n : 1)));
}

static json_t *words_of(const sct_emit_array *a) {
  return emit_textf("{0x%llxULL, 0x%llxULL, 0x%llxULL}", (unsigned long long)a->key,
                    (unsigned long long)a->and_mask, (unsigned long long)a->or_mask);
}

/* The digests of an array as an array of their own; `list` gets its name, or NULL. */
static void add_digests(json_t *digests, json_t *list, const char *self, const char *name,
                        const sct_emit_array *a) {
  if (a->bits == NULL) {
    json_array_append_new(list, emit_text("NULL"));
    return;
  }
  json_t *parts = json_array();
  for (int64_t k = 0; k <= a->bytes / a->part_bytes; k++) {
    uint64_t sum;
    memcpy(&sum, &a->sums[k], sizeof sum);
    json_array_append_new(parts,
                          emit_textf("{0x%llxULL, 0x%llxULL}", (unsigned long long)a->bits[k],
                                     (unsigned long long)sum));
  }
  json_array_append_new(list, emit_textf("%s_%s", self, name));
  json_array_append_new(digests, json_pack("{s:o, s:o}", "name", emit_text(name), "parts", parts));
}

/* Where arrays lie. */
static json_t *places_of(const emit_header *h, const sct_emit_case *c) {
  json_t *list = json_array();
  for (int n = 0; n < c->n_places; n++) {
    sct_str text = {0};
    for (int k = 0; k < h->sig.n_operands; k++) {
      sct_str_printf(&text, "%s%lld", k > 0 ? ", " : "{", (long long)c->places[n][k]);
    }
    sct_str_append(&text, "}");
    json_array_append_new(list, emit_text_str(&text));
  }
  return list;
}

static json_t *label_of(const emit_signature *sig, const sct_emit_case *c) {
  sct_str text = {0};
  for (int k = 0; k < sig->n_extents; k++) {
    sct_str_printf(&text, "%sn_%s=%lld", k > 0 ? " " : "", sig->extents[k].name,
                   (long long)c->extents[k]);
  }
  return emit_text_str(&text);
}

static json_t *case_data(const emit_header *h, const sct_emit_case *c, int number,
                         const char *self) {
  json_t *out = json_object(), *buffers = json_array(), *before = json_array();
  json_t *after = json_array(), *usual = json_array(), *usual_names = json_array();
  json_t *bytes = json_array(), *tolerance = json_array(), *extents = json_array();
  json_t *scalars = json_array(), *words = json_array(), *digests = json_array();
  json_t *digest_names = json_array();
  for (int k = 0; k < h->sig.n_operands; k++) {
    const sct_emit_array *a = &c->arrays[k];
    char name[64];
    json_array_append_new(words, words_of(a));
    snprintf(name, sizeof name, "digests_%d_%d", number, k);
    add_digests(digests, digest_names, self, name, a);
    snprintf(name, sizeof name, "before_%d_%d", number, k);
    add_buffer(buffers, before, self, name, a->before, a->bytes);
    snprintf(name, sizeof name, "after_%d_%d", number, k);
    add_buffer(buffers, after, self, name, a->after, a->bytes);
    json_array_append_new(bytes, json_integer(a->bytes));
    json_array_append_new(tolerance, json_real(a->tolerance));
    json_array_append_new(usual_names, a->usual ? emit_textf("%s_usual_%d_%d", self, number, k)
                                                : emit_text("NULL"));
    if (a->usual) {
      json_t *values = json_array();
      for (int f = 0; f < h->sig.operands[k].record.n_fields; f++) {
        json_array_append_new(values, json_real(a->usual[f]));
      }
      json_array_append_new(
          usual,
          json_pack("{s:o, s:o}", "name", emit_textf("usual_%d_%d", number, k), "values", values));
    }
  }
  for (int k = 0; k < h->sig.n_extents; k++) {
    json_array_append_new(extents, json_integer(c->extents[k]));
  }
  for (int k = 0; k < h->sig.n_scalars || k < 1; k++) {
    sct_str text = {0};
    for (int b = 0; b < 16; b++) {
      sct_str_printf(&text, "%s%u", b > 0 ? ", " : "{",
                     k < h->sig.n_scalars ? (unsigned)c->scalars[k][b] : 0u);
    }
    sct_str_append(&text, "}");
    json_array_append_new(scalars, emit_text_str(&text));
  }
  json_object_set_new(out, "label", label_of(&h->sig, c));
  json_object_set_new(out, "number", json_integer(number));
  json_object_set_new(out, "places", places_of(h, c));
  json_object_set_new(out, "words", words);
  json_object_set_new(out, "digests", digests);
  json_object_set_new(out, "digest_names", digest_names);
  json_object_set_new(out, "poison", json_integer(c->poison));
  json_object_set_new(out, "buffers", buffers);
  json_object_set_new(out, "before", before);
  json_object_set_new(out, "after", after);
  json_object_set_new(out, "usual", usual);
  json_object_set_new(out, "usual_names", usual_names);
  json_object_set_new(out, "bytes", bytes);
  json_object_set_new(out, "tolerance", tolerance);
  json_object_set_new(out, "extents", extents);
  json_object_set_new(out, "scalars", scalars);
  return out;
}

static json_t *numbered(const char *name, int index) {
  return json_pack("{s:o, s:i}", "name", emit_text(name), "index", index);
}

void emit_add_selftest(json_t *out, const emit_header *h, const sct_emit_cases *cases) {
  json_t *arrays = json_array(), *scalars = json_array(), *extents = json_array();
  json_t *list = json_array();
  int64_t most = 0, part = 1;
  char self[300];
  snprintf(self, sizeof self, "%.200s_selftest", h->sig.name);
  for (int k = 0; k < h->sig.n_operands; k++) {
    json_array_append_new(arrays, array_data(h, k));
  }
  for (int k = 0; k < h->sig.n_scalars; k++) {
    json_array_append_new(scalars, numbered(h->sig.scalars[k].name, k));
  }
  for (int k = 0; k < h->sig.n_extents; k++) {
    json_array_append_new(extents, numbered(h->sig.extents[k].name, k));
  }
  for (int k = 0; k < cases->n; k++) {
    const sct_emit_case *c = &cases->all[k];
    json_array_append_new(list, case_data(h, c, k, self));
    for (int n = 0; n < c->n_places * h->sig.n_operands; n++) {
      const int64_t residue = c->places[n / h->sig.n_operands][n % h->sig.n_operands];
      most = residue > most ? residue : most;
    }
    for (int op = 0; op < h->sig.n_operands; op++) {
      part = c->arrays[op].part_bytes > part ? c->arrays[op].part_bytes : part;
    }
  }
  json_object_set_new(out, "most_residue", json_integer(most));
  json_object_set_new(out, "part_bytes", json_integer(part));
  json_object_set_new(out, "self", emit_text(self));
  json_object_set_new(out, "arrays", arrays);
  json_object_set_new(out, "n_arrays", json_integer(h->sig.n_operands));
  json_object_set_new(out, "n_scalars", json_integer(h->sig.n_scalars > 0 ? h->sig.n_scalars : 1));
  json_object_set_new(out, "scalar_list", scalars);
  json_object_set_new(out, "extent_list", extents);
  json_object_set_new(out, "cases", list);
  json_object_set_new(out, "computes", json_integer(cases->computes));
}
