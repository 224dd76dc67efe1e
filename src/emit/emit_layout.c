/* The layouts that the tuner chose: what the banner says of them, and functions with which a host
 * fills and reads such arrays without knowing which layout has won, as data for their templates.
 *
 * Offsets and sizes are the expressions of the layout itself, as the kernels have them. Each
 * operand has a namespace NAME_layout_<operand>, so that a program looks the same whatever wins.
 * The user's names are only the parameters of one-line functions there, or begin with n_. */
#include "emit/emit_internal.h"

#include <string.h>

enum { SHOWN_FIELDS = 3 }; /* of a record, in the banner */

static bool is_chosen(const emit_header *h, int operand) {
  return h->sig.operands[operand].n_layouts > 1;
}

/* The formula of the layout that the header has; NULL: the store has none. */
static const emit_formula *formula_of(const emit_header *h, int operand) {
  const emit_operand *op = &h->sig.operands[operand];
  for (int k = 0; k < op->n_layouts && op->formulas != NULL; k++) {
    if (strcmp(op->layouts[k], h->layout[operand]) == 0) {
      return &op->formulas[k];
    }
  }
  return NULL;
}

bool emit_packs(const emit_header *h, int operand) {
  return is_chosen(h, operand) && formula_of(h, operand) != NULL;
}

bool emit_packs_any(const emit_header *h) {
  bool any = false;
  for (int k = 0; k < h->sig.n_operands; k++) {
    any = any || emit_packs(h, k);
  }
  return any;
}

/* ---- the banner ---- */

/* "4 * row of x, 4 * n of y": offsets of the first fields and the last. */
static json_t *shown_offsets(const emit_operand *op, const emit_formula *f) {
  sct_str s = {0};
  for (int k = 0; k < op->record.n_fields; k++) {
    const bool hidden =
        op->record.n_fields > SHOWN_FIELDS && k >= SHOWN_FIELDS - 1 && k + 1 < op->record.n_fields;
    if (hidden) {
      sct_str_append(&s, k == SHOWN_FIELDS - 1 ? ", ..." : "");
    } else {
      sct_str_printf(&s, "%s%s%s%s", k > 0 ? ", " : "", f->offsets[k],
                     op->record.name != NULL ? " of " : "", op->record.fields[k].name);
    }
  }
  return emit_take(&s);
}

static double time_of(const sct_row_result *result, bool is_virtual) {
  return is_virtual ? result->outcome.predicted_ns : result->outcome.median_ns;
}

/* "predicted 3.7 us, here 4.1 us"; false: nothing here */
static json_t *times(const emit_other *other, bool is_virtual) {
  if (other->here == NULL) {
    return json_false();
  }
  const double best = time_of(other->winner, is_virtual);
  const double here = time_of(other->here, is_virtual);
  return best > 0 && here > 0 ? emit_textf("%s%.1f us, here %.1f us",
                                           is_virtual ? "predicted " : "", best / 1e3, here / 1e3)
                              : emit_text("not timed");
}

/* A size that is better off with other layouts, and by how much. */
static json_t *other_size(const emit_header *h, const sct_row_device *device,
                          const emit_other *other) {
  json_t *layouts = json_array();
  for (int k = 0; k < h->sig.n_operands; k++) {
    if (strcmp(other->launch.layouts[k], h->layout[k]) != 0) {
      json_array_append_new(layouts,
                            emit_textf("%s %s", h->sig.operands[k].name, other->launch.layouts[k]));
    }
  }
  return json_pack("{s:o, s:o, s:o, s:o}", "size", emit_text(other->run->size_label), "device",
                   emit_text(device->name), "layouts", layouts, "times",
                   times(other, device->is_virtual));
}

void emit_add_other_sizes(json_t *out, const emit_header *h) {
  json_t *list = json_array();
  for (int d = 0; d < h->n_devices; d++) {
    for (int k = 0; k < h->devices[d].n_other; k++) {
      json_array_append_new(list, other_size(h, h->devices[d].row, &h->devices[d].others[k]));
    }
  }
  json_object_set_new(out, "other_sizes", list);
}

/* ---- which extents a function takes ---- */

/* All expressions of a formula in one text, to look for names in. */
static void add_expressions(sct_str *s, const emit_operand *op, const emit_formula *f) {
  for (int k = 0; k < op->record.n_fields; k++) {
    sct_str_printf(s, "%s ", f->offsets[k]);
  }
}

static void add_shape(sct_str *s, const emit_operand *op) {
  for (int d = 0; d < op->n_dims; d++) {
    sct_str_printf(s, "%s ", op->shape[d]);
  }
}

/* Extents that pack() takes: those of any layout the tuner may choose, so that a program does not
 * change when another one wins. `unused`: those that each_field() does not need. */
static void add_extents(json_t *out, const emit_operand *op, const emit_signature *sig,
                        const emit_formula *f) {
  sct_str taken = {0};
  sct_str used = {0};
  json_t *unused = json_array();
  add_shape(&taken, op);
  for (int k = 0; k < op->n_layouts; k++) {
    sct_str_printf(&taken, "%s ", op->formulas[k].bytes);
    add_expressions(&taken, op, &op->formulas[k]);
  }
  add_shape(&used, op);
  add_expressions(&used, op, f);
  for (int k = 0; k < sig->n_extents; k++) {
    if (emit_mentions_extent(sct_str_c(&taken), sig, k) &&
        !emit_mentions_extent(sct_str_c(&used), sig, k)) {
      json_array_append_new(unused, emit_text(sig->extents[k].name));
    }
  }
  json_object_set_new(out, "extents", emit_mentioned(sig, sct_str_c(&taken)));
  json_object_set_new(out, "unused", unused);
  sct_str_free(&taken);
  sct_str_free(&used);
}

/* The indices and extents that an offset uses: parameters, or arguments with i0, i1, ... for the
 * indices. */
static json_t *used_list(const char *text, const emit_operand *op, const emit_signature *sig,
                         bool parameters) {
  json_t *list = json_array();
  const char *type = parameters ? "int64_t " : "";
  for (int d = 0; d < op->n_dims; d++) {
    if (emit_mentions(text, op->dims[d])) {
      json_array_append_new(list, parameters ? emit_textf("int64_t %s", op->dims[d])
                                             : emit_textf("i%d", d));
    }
  }
  for (int k = 0; k < sig->n_extents; k++) {
    if (emit_mentions_extent(text, sig, k)) {
      json_array_append_new(list, emit_textf("%sn_%s", type, sig->extents[k].name));
    }
  }
  return list;
}

/* ---- functions for the host ---- */

/* Which functions the expressions call. */
static json_t *calls(const emit_operand *op, const emit_formula *f) {
  static const char *const names[] = {"min", "max", "sct_floor_div", "sct_floor_mod"};
  json_t *out = json_object();
  sct_str all = {0};
  sct_str_printf(&all, "%s ", f->bytes);
  add_expressions(&all, op, f);
  add_shape(&all, op);
  for (int k = 0; k < SCT_COUNT(names); k++) {
    json_object_set_new(out, names[k], json_boolean(emit_mentions(sct_str_c(&all), names[k])));
  }
  sct_str_free(&all);
  return out;
}

static json_t *field_data(const emit_operand *op, const emit_signature *sig, const emit_formula *f,
                          int k) {
  const emit_field *field = &op->record.fields[k];
  const char *between = field->name[0] != '\0' ? "_" : ""; /* no name: of a bare array */
  const size_t base = strcspn(field->name, "[");           /* q[3]: offset_q_3 */
  const char *element = field->name[base] != '\0' ? field->name + base + 1 : "";
  return json_pack(
      "{s:o, s:o, s:o, s:o, s:o, s:I}", "offset",
      emit_textf("offset%s%.*s%s%.*s", between, (int)base, field->name, *element ? "_" : "",
                 (int)strcspn(element, "]"), element),
      "formula", emit_text(f->offsets[k]), "parameters", used_list(f->offsets[k], op, sig, true),
      "arguments", used_list(f->offsets[k], op, sig, false), "plain",
      field->offset > 0 ? emit_textf("plain + %lld", (long long)field->offset) : emit_text("plain"),
      "bytes", (json_int_t)field->bytes);
}

/* The loops over an array's elements, each further in than the one before, and where they end. */
static void add_loops(json_t *out, const emit_operand *op) {
  json_t *loops = json_array();
  json_t *ends = json_array();
  for (int d = 0; d < op->n_dims; d++) {
    const bool inner = d + 1 == op->n_dims;
    json_array_append_new(
        loops, json_pack("{s:o, s:i, s:o, s:o}", "indent", emit_textf("%*s", 2 * d, ""), "index", d,
                         "extent", emit_text(op->shape[d]), "step",
                         inner ? emit_textf(", plain += %lld", (long long)op->record.bytes)
                               : emit_text("")));
    json_array_insert_new(ends, 0, emit_textf("%*s", 2 * d, ""));
  }
  json_object_set_new(out, "loops", loops);
  json_object_set_new(out, "ends", ends);
  json_object_set_new(out, "indent", emit_textf("%*s", 2 * op->n_dims, ""));
}

/* `::NAME_particle`: a parameter may have that name. */
static json_t *plain_type(const emit_header *h, const emit_operand *op) {
  sct_str s = {0};
  if (op->record.name != NULL) {
    sct_str_append(&s, "::");
    emit_record_type(&s, h, &op->record);
  } else {
    sct_str_append(&s, op->record.fields[0].cuda);
  }
  return emit_take(&s);
}

void emit_add_packing(json_t *out, const emit_header *h, int operand) {
  const emit_operand *op = &h->sig.operands[operand];
  const emit_formula *f = formula_of(h, operand);
  json_t *fields = json_array();
  for (int k = 0; k < op->record.n_fields; k++) {
    json_array_append_new(fields, field_data(op, &h->sig, f, k));
  }
  const char *between = f->doc[0] != '\0' ? ". " : "";
  json_object_set_new(out, "what", emit_textf("%s%s%s", h->layout[operand], between, f->doc));
  json_object_set_new(out, "shown_offsets", shown_offsets(op, f));
  json_object_set_new(out, "bytes", emit_text(f->bytes));
  json_object_set_new(out, "calls", calls(op, f));
  json_object_set_new(out, "fields", fields);
  json_object_set_new(out, "shape", sct_json_strings(op->shape, op->n_dims));
  json_object_set_new(out, "plain_type", plain_type(h, op));
  add_extents(out, op, &h->sig, f);
  add_loops(out, op);
}
