/* Layouts: what the banner says of those that the tuner chose, and functions with which a host
 * fills and reads arrays, as data for their templates.
 *
 * Offsets and sizes are the expressions of the layout itself, as the kernels have them. Names begin
 * with NAME_layout_<operand>, so that a program looks the same whatever wins. The user's names are
 * only the parameters of one-line functions, or begin with n_. */
#include "emit/emit_internal.h"

#include <ctype.h>
#include <string.h>

enum { SHOWN_FIELDS = 3 }; /* of a record, in the banner */

static bool is_chosen(const emit_header *h, int operand) {
  return h->sig.operands[operand].n_layouts > 1;
}

/* The formula of the layout that the header has; NULL: the store has none. */
static const emit_formula *formula_of(const emit_header *h, int operand) {
  const emit_operand *op = &h->sig.operands[operand];
  const int k = sct_names_find(SCT_NAMES(op->layouts, op->n_layouts), h->layout[operand]);
  return k >= 0 && op->formulas != NULL ? &op->formulas[k] : NULL;
}

/* Elements lie as C has them. */
static bool is_plain(const emit_header *h, int operand) {
  const char *label = h->layout[operand];
  return strcmp(label, "row_major") == 0 || strcmp(label, "aos") == 0;
}

bool emit_packs(const emit_header *h, int operand) {
  return formula_of(h, operand) != NULL && (is_chosen(h, operand) || !is_plain(h, operand));
}

/* Is the byte of an element a sum of its indices, each times something that knows none of them? */
bool emit_is_linear(const emit_header *h, int operand) {
  const emit_formula *f = formula_of(h, operand);
  const char *const text = f->offsets[0];
  return strpbrk(text, "/%<>&|^~?:=!") == NULL && strstr(text, "sct_floor_") == NULL &&
         !emit_mentions(text, "min") && !emit_mentions(text, "max");
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
  return emit_text_str(&s);
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
  SCT_SCOPED(sct_str) taken = {0};
  SCT_SCOPED(sct_str) used = {0};
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
}

/* The indices and extents that an offset uses, each after `type`; indices as i0, i1, ... where a
 * loop counts them. */
static json_t *used_list(const char *text, const emit_operand *op, const emit_signature *sig,
                         const char *type, bool counted) {
  json_t *list = json_array();
  for (int d = 0; d < op->n_dims; d++) {
    if (emit_mentions(text, op->dims[d])) {
      json_array_append_new(list,
                            counted ? emit_textf("i%d", d) : emit_textf("%s%s", type, op->dims[d]));
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

/* What expressions call, and what these functions are called in the header. */
static const struct {
  const char *name, *after;
} functions[] = {
    {"min", "min"}, {"max", "max"}, {"sct_floor_div", "floor_div"}, {"sct_floor_mod", "floor_mod"}};

static size_t word_length(const char *text) {
  size_t n = 0;
  while (sct_is_word(text[n])) {
    n++;
  }
  return n;
}

json_t *emit_host_text(const emit_signature *sig, const char *expression) {
  sct_str text = {0};
  for (const char *at = expression; *at != '\0';) {
    const size_t n = word_length(at);
    const char *after = NULL;
    for (int k = 0; k < SCT_COUNT(functions); k++) {
      const bool same = n == strlen(functions[k].name) && strncmp(at, functions[k].name, n) == 0;
      after = same ? functions[k].after : after;
    }
    if (after != NULL) {
      sct_str_printf(&text, "%s_%s", sig->name, after);
    } else {
      sct_str_append_n(&text, at, n > 0 ? n : 1);
    }
    at += n > 0 ? n : 1;
  }
  return emit_text_str(&text);
}

/* What the launch function asks of extents. */
static void add_limits(sct_str *s, const emit_operand *op) {
  for (int k = 0; k < op->n_inside; k++) {
    sct_str_printf(s, "%s ", op->inside[k]);
  }
  for (int k = 0; k < op->n_apart; k++) {
    for (int step = 0; step < op->apart[k].n; step++) {
      sct_str_printf(s, "%s ", op->apart[k].texts[step]);
    }
  }
}

/* What the host works out for a launch. */
static void add_conditions(sct_str *s, const emit_launch *launch) {
  sct_str_printf(s, "%s ", launch->grid);
  for (int k = 0; k < launch->n_requires; k++) {
    sct_str_printf(s, "%s ", launch->requires[k]);
  }
  for (int k = 0; k < launch->n_params; k++) {
    sct_str_printf(s, "%s ", launch->params[k].value != NULL ? launch->params[k].value : "");
  }
  for (int d = 0; d < 3 && launch->n_params > 0; d++) {
    sct_str_printf(s, "%s ", launch->grid_dims[d]);
  }
}

void emit_add_layouts(json_t *out, const emit_header *h) {
  SCT_SCOPED(sct_str) all = {0};
  json_t *calls = json_object();
  bool any = false, packs = false;
  for (int k = 0; k < h->sig.n_operands; k++) {
    const emit_formula *f = formula_of(h, k);
    any = any || f != NULL;
    packs = packs || emit_packs(h, k);
    add_limits(&all, &h->sig.operands[k]);
    for (int l = 0; h->sig.operands[k].bytes != NULL && l < h->sig.operands[k].n_layouts; l++) {
      sct_str_printf(&all, "%s ", h->sig.operands[k].bytes[l]);
    }
    if (f != NULL) {
      sct_str_printf(&all, "%s ", f->bytes);
    }
    if (emit_packs(h, k)) {
      add_expressions(&all, &h->sig.operands[k], f);
      add_shape(&all, &h->sig.operands[k]);
    }
  }
  for (int k = 0; k < h->n_kernels; k++) {
    add_conditions(&all, &h->kernels[k].launch);
  }
  for (int k = 0; k < SCT_COUNT(functions); k++) {
    json_object_set_new(calls, functions[k].after,
                        json_boolean(emit_mentions(sct_str_c(&all), functions[k].name)));
  }
  json_object_set_new(out, "has_layouts", json_boolean(any));
  json_object_set_new(out, "has_packing", json_boolean(packs));
  json_object_set_new(out, "calls", calls);
}

static json_t *field_data(const emit_operand *op, const emit_signature *sig, const emit_formula *f,
                          int k) {
  const emit_field *field = &op->record.fields[k];
  const char *between = field->name[0] != '\0' ? "_" : ""; /* no name: of a bare array */
  const size_t base = strcspn(field->name, "[");           /* q[3]: offset_q_3 */
  const char *element = field->name[base] != '\0' ? field->name + base + 1 : "";
  json_t *parameters = used_list(f->offsets[k], op, sig, "int64_t ", false);
  if (json_array_size(parameters) == 0) {
    json_array_append_new(parameters, emit_text("void"));
  }
  json_t *suffix = emit_textf("%s%.*s%s%.*s", between, (int)base, field->name, *element ? "_" : "",
                              (int)strcspn(element, "]"), element);
  return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:I}", "offset",
                   emit_textf("offset%s", json_string_value(suffix)), "suffix", suffix, "formula",
                   emit_host_text(sig, f->offsets[k]), "parameters", parameters, "names",
                   used_list(f->offsets[k], op, sig, "", false), "arguments",
                   used_list(f->offsets[k], op, sig, "", true), "plain",
                   field->offset > 0 ? emit_textf("plain + %lld", (long long)field->offset)
                                     : emit_text("plain"),
                   "bytes", (json_int_t)field->bytes);
}

/* What NAME_layout_<operand>_offset takes for the element with 1 at `dim` and 0 at all others; -1:
 * 0 at all. */
static void put_unit(sct_str *s, const emit_header *h, int operand, int dim) {
  const emit_operand *op = &h->sig.operands[operand];
  SCT_OWNED_PTR(json_t)
  names = used_list(formula_of(h, operand)->offsets[0], op, &h->sig, "", false);
  for (size_t k = 0; k < json_array_size(names); k++) {
    const char *name = json_string_value(json_array_get(names, k));
    const char *value = name;
    for (int d = 0; d < op->n_dims; d++) {
      value = strcmp(name, op->dims[d]) == 0 ? (d == dim ? "1" : "0") : value;
    }
    sct_str_printf(s, "%s%s", k > 0 ? ", " : "", value);
  }
}

json_t *emit_stride(const emit_header *h, int operand, int dim, int64_t bytes) {
  SCT_SCOPED(sct_str) one = {0}, none = {0};
  put_unit(&one, h, operand, dim);
  put_unit(&none, h, operand, -1);
  const char *const function = h->sig.operands[operand].name;
  return emit_textf("(%s_layout_%s_offset(%s) - %s_layout_%s_offset(%s)) / %lld", h->sig.name,
                    function, sct_str_c(&one), h->sig.name, function, sct_str_c(&none),
                    (long long)bytes);
}

json_t *emit_bytes(const emit_header *h, int operand) {
  return emit_host_text(&h->sig, formula_of(h, operand)->bytes);
}

/* The loops over an array's elements, each further in than the one before, and where they end. */
static void add_loops(json_t *out, const emit_operand *op, const emit_signature *sig) {
  json_t *shape = json_array();
  json_t *loops = json_array();
  json_t *ends = json_array();
  json_t *counters = json_array();
  for (int d = 0; d < op->n_dims; d++) {
    const bool inner = d + 1 == op->n_dims;
    json_array_append_new(
        loops, json_pack("{s:o, s:i, s:o, s:o}", "indent", emit_textf("%*s", 2 * d, ""), "index", d,
                         "extent", emit_host_text(sig, op->shape[d]), "step",
                         inner ? emit_textf(", plain += %lld", (long long)op->record.bytes)
                               : emit_text("")));
    json_array_append_new(shape, emit_host_text(sig, op->shape[d]));
    json_array_append_new(counters, emit_textf("i%d", d));
    json_array_insert_new(ends, 0, emit_textf("%*s", 2 * d, ""));
  }
  json_object_set_new(out, "shape", shape);
  json_object_set_new(out, "loops", loops);
  json_object_set_new(out, "counters", counters);
  json_object_set_new(out, "ends", ends);
  json_object_set_new(out, "indent", emit_textf("%*s", 2 * op->n_dims, ""));
}

static json_t *plain_type(const emit_header *h, const emit_operand *op) {
  sct_str s = {0};
  if (op->record.name != NULL) {
    emit_record_type(&s, h, &op->record);
  } else {
    sct_str_append(&s, op->record.fields[0].cuda);
  }
  return emit_text_str(&s);
}

void emit_add_layout(json_t *out, const emit_header *h, int operand) {
  const emit_operand *op = &h->sig.operands[operand];
  const emit_formula *f = formula_of(h, operand);
  json_object_set_new(out, "has_formula", json_boolean(f != NULL));
  if (f == NULL) {
    return;
  }
  json_t *fields = json_array();
  for (int k = 0; k < op->record.n_fields; k++) {
    json_array_append_new(fields, field_data(op, &h->sig, f, k));
  }
  const char *between = f->doc[0] != '\0' ? ". " : "";
  json_object_set_new(out, "what", emit_textf("%s%s%s", h->layout[operand], between, f->doc));
  json_object_set_new(out, "prefix", emit_textf("%s_layout_%s", h->sig.name, op->name));
  json_object_set_new(out, "shown_offsets", shown_offsets(op, f));
  json_object_set_new(out, "bytes", emit_text(f->bytes));
  json_object_set_new(out, "host_bytes", emit_host_text(&h->sig, f->bytes));
  json_object_set_new(out, "fields", fields);
  json_object_set_new(out, "is_packed", json_boolean(op->record.packed));
  json_object_set_new(out, "record_bytes", json_integer(op->record.bytes));
  json_object_set_new(out, "rank", json_integer(op->n_dims));
  json_object_set_new(out, "plain_type", plain_type(h, op));
  add_extents(out, op, &h->sig, f);
  add_loops(out, op, &h->sig);
}
