/* The layouts that the tuner chose: what the banner says of them, and functions with which a host
 * fills and reads such arrays without knowing which layout has won.
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

/* "(row, col)"; "()" of an array of one element */
static void index_text(sct_str *s, const emit_operand *op) {
  sct_str_append(s, "(");
  for (int d = 0; d < op->n_dims; d++) {
    sct_str_printf(s, "%s%s", d > 0 ? ", " : "", op->dims[d]);
  }
  sct_str_append(s, ")");
}

static void formula_line(sct_str *s, const emit_operand *op, const emit_formula *f) {
  sct_str_append(s, "//     element ");
  index_text(s, op);
  sct_str_append(s, " at byte ");
  for (int k = 0; k < op->record.n_fields; k++) {
    const bool hidden =
        op->record.n_fields > SHOWN_FIELDS && k >= SHOWN_FIELDS - 1 && k + 1 < op->record.n_fields;
    if (hidden) {
      sct_str_append(s, k == SHOWN_FIELDS - 1 ? ", ..." : "");
    } else {
      sct_str_printf(s, "%s%s%s%s", k > 0 ? ", " : "", f->offsets[k],
                     op->record.name != NULL ? " of " : "", op->record.fields[k].name);
    }
  }
  sct_str_printf(s, "; %s bytes in all\n", f->bytes);
}

static void operand_lines(sct_str *s, const emit_header *h, int operand) {
  const emit_operand *op = &h->sig.operands[operand];
  const emit_formula *f = formula_of(h, operand);
  sct_str_printf(s, "//   %s: ", op->name);
  emit_comment(s, h->layout[operand]);
  if (f == NULL) {
    sct_str_append(s, "; no functions for the host, because a sectile that stored no formulas "
                      "tuned it: tune again\n");
    return;
  }
  sct_str_append(s, f->doc[0] != '\0' ? ". " : "");
  emit_comment(s, f->doc);
  sct_str_append(s, "\n");
  formula_line(s, op, f);
  sct_str_printf(s, "//     %s_layout_%s::pack() and unpack() convert from and to plain arrays\n",
                 h->sig.name, op->name);
}

static double time_of(const sct_row_result *result, bool is_virtual) {
  return is_virtual ? result->outcome.predicted_ns : result->outcome.median_ns;
}

/* A size that is better off with other layouts, and by how much. */
static void other_line(sct_str *s, const emit_header *h, const emit_device *device,
                       const emit_other *other) {
  const bool is_virtual = device->row->is_virtual;
  sct_str_append(s, "//   At ");
  emit_comment(s, other->run->size_label);
  sct_str_append(s, " on ");
  emit_comment(s, device->row->name);
  const char *between = " the winner has ";
  for (int k = 0; k < h->sig.n_operands; k++) {
    if (strcmp(other->launch.layouts[k], h->layout[k]) != 0) {
      sct_str_printf(s, "%s%s ", between, h->sig.operands[k].name);
      emit_comment(s, other->launch.layouts[k]);
      between = ", ";
    }
  }
  if (other->here == NULL) {
    sct_str_append(s, "; the size is left out, for nothing with these layouts passed its checks\n");
    return;
  }
  const double best = time_of(other->winner, is_virtual);
  const double here = time_of(other->here, is_virtual);
  if (best > 0 && here > 0) {
    sct_str_printf(s, ": %s%.1f us, here %.1f us", is_virtual ? "predicted " : "", best / 1e3,
                   here / 1e3);
  }
  sct_str_append(s, "\n");
}

void emit_chosen_layouts(sct_str *s, const emit_header *h) {
  bool any = false;
  for (int k = 0; k < h->sig.n_operands; k++) {
    if (is_chosen(h, k)) {
      sct_str_append(s, any ? ""
                            : "//\n// The tuner chose among layouts; a header has one for each "
                              "array, at every size and on every device:\n");
      operand_lines(s, h, k);
      any = true;
    }
  }
  for (int d = 0; d < h->n_devices; d++) {
    for (int k = 0; k < h->devices[d].n_other; k++) {
      other_line(s, h, &h->devices[d], &h->devices[d].others[k]);
    }
  }
}

/* ---- which extents a function takes ---- */

/* The text mentions n_<extent> `k`. */
static bool mentions_extent(const char *text, const emit_signature *sig, int k) {
  char name[256];
  snprintf(name, sizeof(name), "n_%s", sig->extents[k].name);
  return emit_mentions(text, name);
}

static bool formula_mentions(const emit_formula *f, const emit_operand *op,
                             const emit_signature *sig, int extent) {
  bool any = mentions_extent(f->bytes, sig, extent);
  for (int k = 0; k < op->record.n_fields; k++) {
    any = any || mentions_extent(f->offsets[k], sig, extent);
  }
  return any;
}

static bool shape_mentions(const emit_operand *op, const emit_signature *sig, int extent) {
  bool any = false;
  for (int d = 0; d < op->n_dims; d++) {
    any = any || mentions_extent(op->shape[d], sig, extent);
  }
  return any;
}

/* Extents that pack() takes: those of any layout the tuner may choose, so that a program does not
 * change when another one wins. */
static bool packing_takes(const emit_operand *op, const emit_signature *sig, int extent) {
  bool any = shape_mentions(op, sig, extent);
  for (int k = 0; k < op->n_layouts; k++) {
    any = any || formula_mentions(&op->formulas[k], op, sig, extent);
  }
  return any;
}

static void extent_list(sct_str *s, const emit_operand *op, const emit_signature *sig,
                        const char *between, const char *before) {
  for (int k = 0; k < sig->n_extents; k++) {
    if (packing_takes(op, sig, k)) {
      sct_str_printf(s, "%s%sn_%s", between, before, sig->extents[k].name);
      between = ", ";
    }
  }
}

/* The indices and extents that `text` uses: parameters where `before` is a type, else arguments,
 * with i0, i1, ... for the indices. */
static void used_list(sct_str *s, const char *text, const emit_operand *op,
                      const emit_signature *sig, const char *before) {
  const char *between = "";
  for (int d = 0; d < op->n_dims; d++) {
    if (emit_mentions(text, op->dims[d])) {
      if (before[0] != '\0') {
        sct_str_printf(s, "%s%s%s", between, before, op->dims[d]);
      } else {
        sct_str_printf(s, "%si%d", between, d);
      }
      between = ", ";
    }
  }
  for (int k = 0; k < sig->n_extents; k++) {
    if (mentions_extent(text, sig, k)) {
      sct_str_printf(s, "%s%sn_%s", between, before, sig->extents[k].name);
      between = ", ";
    }
  }
}

/* ---- functions for the host ---- */

/* What expressions may call. */
static const struct {
  const char *name, *text;
} calls[] = {
    {"min", "inline int64_t min(int64_t a, int64_t b) {\n  return b < a ? b : a;\n}\n"},
    {"max", "inline int64_t max(int64_t a, int64_t b) {\n  return a < b ? b : a;\n}\n"},
    {"sct_floor_div", "inline int64_t sct_floor_div(int64_t a, int64_t b) {  // rounds down\n"
                      "  return a / b - (a % b != 0 && (a < 0) != (b < 0));\n}\n"},
    {"sct_floor_mod", "inline int64_t sct_floor_mod(int64_t a, int64_t b) {  // has b's sign\n"
                      "  return a % b + (a % b != 0 && (a < 0) != (b < 0) ? b : 0);\n}\n"},
};

static void called_functions(sct_str *s, const emit_operand *op, const emit_formula *f) {
  for (int c = 0; c < SCT_COUNT(calls); c++) {
    bool any = emit_mentions(f->bytes, calls[c].name);
    for (int k = 0; k < op->record.n_fields; k++) {
      any = any || emit_mentions(f->offsets[k], calls[c].name);
    }
    for (int d = 0; d < op->n_dims; d++) {
      any = any || emit_mentions(op->shape[d], calls[c].name);
    }
    sct_str_append(s, any ? calls[c].text : "");
  }
}

/* "offset_x", "offset" of a bare array */
static void offset_name(sct_str *s, const emit_field *field) {
  sct_str_printf(s, "offset%s%s", field->name[0] != '\0' ? "_" : "", field->name);
}

static void offset_functions(sct_str *s, const emit_operand *op, const emit_signature *sig,
                             const emit_formula *f) {
  sct_str_append(s, "// Bytes from the start of the array to ");
  sct_str_append(s, op->record.name != NULL ? "each field of element " : "element ");
  index_text(s, op);
  sct_str_append(s, ".\n");
  for (int k = 0; k < op->record.n_fields; k++) {
    sct_str_append(s, "inline int64_t ");
    offset_name(s, &op->record.fields[k]);
    sct_str_append(s, "(");
    used_list(s, f->offsets[k], op, sig, "int64_t ");
    sct_str_printf(s, ") {\n  return %s;\n}\n", f->offsets[k]);
  }
}

static void bytes_function(sct_str *s, const emit_operand *op, const emit_signature *sig,
                           const emit_formula *f) {
  sct_str_append(s, "\n// Bytes of the array; -1 if an extent is negative.\ninline int64_t bytes(");
  extent_list(s, op, sig, "", "int64_t ");
  sct_str_append(s, ") {\n  return ");
  const char *between = "";
  for (int k = 0; k < sig->n_extents; k++) {
    if (packing_takes(op, sig, k)) {
      sct_str_printf(s, "%sn_%s < 0", between, sig->extents[k].name);
      between = " || ";
    }
  }
  sct_str_printf(s, "%s%s;\n}\n", between[0] != '\0' ? " ? -1 : " : "", f->bytes);
}

static void indent(sct_str *s, int depth) {
  sct_str_printf(s, "%*s", 2 * depth, "");
}

/* The one loop over all fields of all elements; packing and unpacking differ in what they copy. */
static void each_field_function(sct_str *s, const emit_operand *op, const emit_signature *sig,
                                const emit_formula *f) {
  const long long step = (long long)op->record.bytes;
  sct_str_append(s,
                 "\n// Calls copy(byte in the array, byte in the plain array, how many bytes) for "
                 "every field of every\n// element; plain arrays hold elements in C order, the "
                 "last index fastest.\n"
                 "template <typename Copy>\ninline void each_field(Copy copy");
  extent_list(s, op, sig, ", ", "int64_t ");
  sct_str_append(s, ") {\n");
  for (int k = 0; k < sig->n_extents; k++) {
    bool used = shape_mentions(op, sig, k);
    for (int field = 0; field < op->record.n_fields; field++) {
      used = used || mentions_extent(f->offsets[field], sig, k);
    }
    if (packing_takes(op, sig, k) && !used) {
      sct_str_printf(s, "  (void)n_%s;\n", sig->extents[k].name);
    }
  }
  sct_str_append(s, "  int64_t plain = 0;\n");
  for (int d = 0; d < op->n_dims; d++) {
    indent(s, d + 1);
    sct_str_printf(s, "for (int64_t i%d = 0; i%d < %s; i%d++", d, d, op->shape[d], d);
    if (d + 1 == op->n_dims) {
      sct_str_printf(s, ", plain += %lld", step);
    }
    sct_str_append(s, ") {\n");
  }
  for (int k = 0; k < op->record.n_fields; k++) {
    const emit_field *field = &op->record.fields[k];
    indent(s, op->n_dims + 1);
    sct_str_append(s, "copy(");
    offset_name(s, field);
    sct_str_append(s, "(");
    used_list(s, f->offsets[k], op, sig, "");
    sct_str_append(s, field->offset > 0 ? "), plain + " : "), plain");
    if (field->offset > 0) {
      sct_str_printf(s, "%lld", (long long)field->offset);
    }
    sct_str_printf(s, ", %lld);\n", (long long)field->bytes);
  }
  for (int d = op->n_dims; d >= 0; d--) {
    indent(s, d);
    sct_str_append(s, "}\n");
  }
}

/* `::NAME_particle`: a parameter may have that name. */
static void plain_type(sct_str *s, const emit_header *h, const emit_operand *op) {
  if (op->record.name != NULL) {
    sct_str_append(s, "::");
    emit_record_type(s, h, &op->record);
  } else {
    sct_str_append(s, op->record.fields[0].cuda);
  }
}

static void pack_function(sct_str *s, const emit_header *h, const emit_operand *op, bool unpacks) {
  const emit_signature *sig = &h->sig;
  sct_str_append(s, unpacks ? "\n// The way back. What of `plain` belongs to no field stays as it "
                              "is.\ninline bool unpack("
                            : "\n// Writes all bytes() bytes of `packed`: the fields of `plain`, "
                              "and 0 between and after them. False,\n// and nothing is written, "
                              "if an extent is negative or a pointer that is needed null.\n"
                              "inline bool pack(void *packed, const ");
  plain_type(s, h, op);
  sct_str_append(s, unpacks ? " *plain, const void *packed" : " *plain");
  extent_list(s, op, sig, ", ", "int64_t ");
  sct_str_append(s, ") {\n  const int64_t size = bytes(");
  extent_list(s, op, sig, "", "");
  sct_str_append(s, ");\n  if (size < 0 || (size > 0 && packed == nullptr) || (plain == nullptr");
  for (int d = 0; d < op->n_dims; d++) { /* a layout may have bytes where there is no element */
    sct_str_printf(s, " && %s > 0", op->shape[d]);
  }
  sct_str_append(s, ")) {\n    return false;\n  }\n");
  sct_str_append(s, unpacks
                        ? "  unsigned char *const to = reinterpret_cast<unsigned char *>(plain);\n"
                          "  const unsigned char *const from = static_cast<const unsigned char "
                          "*>(packed);\n"
                          "  each_field([=](int64_t at, int64_t place, size_t n) { memcpy(to + "
                          "place, from + at, n); }"
                        : "  unsigned char *const to = static_cast<unsigned char *>(packed);\n"
                          "  const unsigned char *const from = reinterpret_cast<const unsigned "
                          "char *>(plain);\n"
                          "  if (size > 0) {\n    memset(to, 0, size_t(size));\n  }\n"
                          "  each_field([=](int64_t at, int64_t place, size_t n) { memcpy(to + at, "
                          "from + place, n); }");
  extent_list(s, op, sig, ", ", "");
  sct_str_append(s, ");\n  return true;\n}\n");
}

static void operand_functions(sct_str *s, const emit_header *h, int operand) {
  const emit_operand *op = &h->sig.operands[operand];
  const emit_formula *f = formula_of(h, operand);
  sct_str_printf(s, "// %s: ", op->name);
  emit_comment(s, h->layout[operand]);
  sct_str_append(s, f->doc[0] != '\0' ? ". " : "");
  emit_comment(s, f->doc);
  sct_str_printf(s, "\nnamespace %s_layout_%s {\n\n", h->sig.name, op->name);
  called_functions(s, op, f);
  offset_functions(s, op, &h->sig, f);
  bytes_function(s, op, &h->sig, f);
  each_field_function(s, op, &h->sig, f);
  pack_function(s, h, op, false);
  pack_function(s, h, op, true);
  sct_str_printf(s, "\n}  // namespace %s_layout_%s\n\n", h->sig.name, op->name);
}

void emit_packing(sct_str *s, const emit_header *h) {
  bool any = false;
  for (int k = 0; k < h->sig.n_operands; k++) {
    if (emit_packs(h, k)) {
      sct_str_append(
          s,
          any ? ""
              : "// Arrays whose layout the tuner chose, for the host. Plain C++: a compiler that "
                "knows no CUDA sees the\n// types and this part of the header.\n\n");
      operand_functions(s, h, k);
      any = true;
    }
  }
}
