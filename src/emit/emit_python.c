/* A header as a module of Python, which has arrays of PyTorch and CuPy checked before C sees them.
 * It compiles the header in the form c and passes all arguments of a call as one run of bytes:
 * pointers, extents, the workspace, scalars in 16 bytes each. */
#include "emit/emit_internal.h"

#include <string.h>

enum { SCALAR_BYTES = 16 }; /* room of one, as the largest vector needs */

/* What Python calls a type: element types that arrays of it may have, the one that is allocated
 * first; how `struct` packs one value of it; how many values it has, 0: one; -1: bytes that
 * elements share. PyTorch long had no unsigned types above 8 bits, and CuPy has no small floats. */
typedef struct python_type {
  const char *name, *arrays[2], *format;
  int lanes;
} python_type;

static const python_type types[] = {
    {"i8", {"int8"}, "b", 0},
    {"i16", {"int16"}, "h", 0},
    {"i32", {"int32"}, "i", 0},
    {"i64", {"int64"}, "q", 0},
    {"u8", {"uint8"}, "B", 0},
    {"u16", {"uint16", "int16"}, "H", 0},
    {"u32", {"uint32", "int32"}, "I", 0},
    {"u64", {"uint64", "int64"}, "Q", 0},
    {"i4", {"uint8"}, "B", 0},
    {"u4", {"uint8"}, "B", 0},
    {"u1", {"uint8"}, "B", 0},
    {"bool", {"bool"}, "?", 0},
    {"e4m3", {"float8_e4m3fn", "uint8"}, "B", 0},
    {"e5m2", {"float8_e5m2", "uint8"}, "B", 0},
    {"f16", {"float16"}, "e", 0},
    {"bf16", {"bfloat16", "uint16"}, "H", 0},
    {"f32", {"float32"}, "f", 0},
    {"f64", {"float64"}, "d", 0},
    {"f16x2", {"float16"}, "2e", 2},
    {"bf16x2", {"bfloat16", "uint16"}, "2H", 2},
    {"f32x2", {"float32"}, "2f", 2},
    {"f32x4", {"float32"}, "4f", 4},
    {"f64x2", {"float64"}, "2d", 2},
    {"i8x4", {"int8"}, "4b", 4},
    {"u8x4", {"uint8"}, "4B", 4},
    {"i32x2", {"int32"}, "2i", 2},
    {"i32x4", {"int32"}, "4i", 4},
};

static const python_type *find_type(const char *name) {
  const int k = sct_names_find(SCT_NAMES_IN(types, SCT_COUNT(types), name), name);
  return k >= 0 ? &types[k] : NULL;
}

/* ---- names ---- */

/* Words of Python, and what the module's own text calls. */
static const char *const taken_words[] = {
    "False",        "KeyError", "None",       "OSError",    "OverflowError",
    "RuntimeError", "True",     "TypeError",  "ValueError", "any",
    "all",          "as",       "assert",     "async",      "await",
    "bytearray",    "bytes",    "class",      "def",        "del",
    "dict",         "elif",     "enumerate",  "except",     "filter",
    "finally",      "from",     "getattr",    "global",     "import",
    "in",           "is",       "isinstance", "iter",       "lambda",
    "len",          "list",     "min",        "next",       "nonlocal",
    "open",         "pass",     "print",      "raise",      "range",
    "reversed",     "sorted",   "str",        "sum",        "tuple",
    "type",         "with",     "yield",      "zip",        "FileNotFoundError",
    "int",          "max",
};

/* The name as Python takes it: one that it needs itself, or that begins like what the module keeps
 * to itself, has a _ after it. */
static void put_name(sct_str *s, const emit_signature *sig, const char *name) {
  bool taken = name[0] == '_';
  for (int k = 0; k < SCT_COUNT(taken_words); k++) {
    taken = taken || strcmp(name, taken_words[k]) == 0;
  }
  if (!taken) {
    sct_str_append(s, name);
    return;
  }
  SCT_SCOPED(sct_str) wish = {0};
  sct_str_printf(&wish, "%s_", name[0] == '_' ? "sct" : name);
  sct_str_append(&wish, name[0] == '_' ? name : "");
  emit_unused_name(s, sig, sct_str_c(&wish));
}

static json_t *python_name(const emit_signature *sig, const char *name) {
  sct_str s = {0};
  put_name(&s, sig, name);
  return emit_text_str(&s);
}

/* ---- arrays ---- */

/* How many values an element has whose fields are of one type and follow each other; else 0. */
static int values_of_record(const emit_record *record) {
  const emit_field *first = &record->fields[0];
  const int lanes = find_type(first->type)->lanes;
  bool same = record->bytes == record->n_fields * first->bytes;
  for (int k = 0; k < record->n_fields; k++) {
    same = same && record->fields[k].offset == k * first->bytes &&
           strcmp(record->fields[k].type, first->type) == 0;
  }
  return same ? record->n_fields * (lanes > 0 ? lanes : 1) : 0;
}

/* How elements lie, and of how many values one is. A layout that the tuner chose is bytes, so that
 * a program does not change when another one wins. */
static const char *order_of(int *lanes, const emit_header *h, int operand) {
  const emit_operand *op = &h->sig.operands[operand];
  const python_type *type = find_type(op->record.fields[0].type);
  *lanes = 0;
  if (op->n_layouts > 1) {
    return "bytes";
  }
  *lanes = type->lanes;
  if (op->record.name != NULL) {
    *lanes = strcmp(h->layout[operand], "aos") == 0 ? values_of_record(&op->record) : 0;
    return *lanes > 0 ? "C" : "bytes";
  }
  if (!emit_packs(h, operand)) {
    return "C";
  }
  const char *order = emit_is_linear(h, operand) ? "strided" : "bytes";
  *lanes = order[0] == 's' ? *lanes : 0;
  return order;
}

/* `("n_row", 1)` of the length "n_row + 1"; `(None, 0)` where it is not of this form. */
static json_t *solved(const emit_signature *sig, const char *length) {
  for (int k = 0; k < sig->n_extents; k++) {
    const char *const name = sig->extents[k].name;
    const size_t n = strlen(name);
    long long added = 0;
    char sign = '+', rest[2] = "";
    if (!sct_has_prefix(length, "n_") || strncmp(length + 2, name, n) != 0) {
      continue;
    }
    const char *after = length + 2 + n;
    if (*after == '\0' ||
        (sscanf(after, " %c %lld%1s", &sign, &added, rest) == 2 && (sign == '+' || sign == '-'))) {
      return emit_textf("(\"n_%s\", %lld)", name, sign == '-' ? -added : added);
    }
  }
  return emit_text("(None, 0)");
}

/* An array that a call may leave out: each launch writes all of it. */
static bool is_optional(const emit_operand *op) {
  bool whole = op->is_output && !op->keeps && (op->start >= 0 || emit_at_its_own_place(op));
  for (int d = 0; d < op->n_dims && whole && op->start < 0; d++) {
    whole = sct_has_prefix(op->shape[d], "n_") && strcmp(op->shape[d] + 2, op->dims[d]) == 0;
  }
  const bool kept = op->is_inout || (op->accumulate[0] != '\0' && op->start < 0);
  return whole && !kept;
}

static json_t *array_data(const emit_header *h, int operand, const char *order, int lanes) {
  const emit_operand *op = &h->sig.operands[operand];
  const python_type *type = find_type(op->record.fields[0].type);
  json_t *names = json_array(), *dims = json_array();
  for (int k = 0; k < SCT_COUNT(type->arrays) && type->arrays[k] != NULL; k++) {
    json_array_append_new(names, emit_textf("\"%s\"", order[0] == 'b' ? "uint8" : type->arrays[k]));
    k += order[0] == 'b';
  }
  for (int d = 0; d < op->n_dims; d++) {
    json_array_append_new(dims, solved(&h->sig, op->shape[d]));
  }
  return json_pack("{s:o, s:s, s:s, s:o, s:s, s:i, s:o}", "name", emit_text(op->name), "written",
                   op->is_output ? "True" : "False", "optional", is_optional(op) ? "True" : "False",
                   "types", names, "order", order, "lanes", lanes, "dims", dims);
}

/* Lengths, strides in values, bytes, bytes in C order. */
static json_t *values_of(const emit_header *h, int operand, const char *order) {
  json_t *values = json_array();
  const emit_operand *op = &h->sig.operands[operand];
  const python_type *type = find_type(op->record.fields[0].type);
  const int64_t bytes = op->record.fields[0].bytes / (type->lanes > 0 ? type->lanes : 1);
  sct_str plain = {0};
  sct_str_printf(&plain, "%lld", (long long)op->record.bytes);
  for (int d = 0; d < op->n_dims; d++) {
    json_t *length = emit_host_text(&h->sig, op->shape[d]);
    const bool sum = strchr(json_string_value(length), ' ') != NULL;
    sct_str_printf(&plain, sum ? " * (%s)" : " * %s", json_string_value(length));
    json_array_append_new(values, length);
  }
  for (int d = 0; d < op->n_dims; d++) {
    json_array_append_new(values, strcmp(order, "strided") == 0 ? emit_stride(h, operand, d, bytes)
                                                                : emit_text("0"));
  }
  json_array_append_new(values, emit_bytes(h, operand));
  json_array_append_new(values, emit_text_str(&plain));
  return values;
}

static void add_arrays(json_t *out, const emit_header *h) {
  json_t *arrays = json_array(), *packs = json_array();
  for (int k = 0; k < h->sig.n_operands; k++) {
    int lanes = 0;
    const char *order = order_of(&lanes, h, k);
    json_t *array = array_data(h, k, order, lanes);
    json_object_set_new(array, "values", values_of(h, k, order));
    json_array_append_new(arrays, array);
    if (emit_packs(h, k)) {
      json_t *pack = json_object();
      json_object_set_new(pack, "name", emit_text(h->sig.operands[k].name));
      emit_add_layout(pack, h, k); /* prefix, plain_type, extents */
      json_array_append_new(packs, pack);
    }
  }
  json_object_set_new(out, "arrays", arrays);
  json_object_set_new(out, "packs", packs);
}

/* ---- arguments ---- */

static void add_argument(json_t *list, const char *prefix, const char *name, int *offset,
                         int bytes) {
  json_array_append_new(
      list, json_pack("{s:o, s:i}", "name", emit_textf("%s%s", prefix, name), "offset", *offset));
  *offset += bytes;
}

/* Where each argument lies among the bytes of a call, and how Python packs it. */
static void add_arguments(json_t *out, const emit_header *h, const char *workspace) {
  const emit_signature *sig = &h->sig;
  json_t *arguments = json_array(), *scalars = json_array(), *extents = json_array();
  json_t *extent_names = json_array();
  sct_str format = {0};
  int offset = 0;
  for (int k = 0; k < sig->n_operands; k++) {
    add_argument(arguments, "", sig->operands[k].name, &offset, 8);
  }
  for (int k = 0; k < sig->n_extents; k++) {
    json_array_append_new(extent_names, emit_textf("\"n_%s\"", sig->extents[k].name));
    json_array_append_new(extents, emit_textf("n_%s = n[%d]", sig->extents[k].name, k));
    add_argument(arguments, "n_", sig->extents[k].name, &offset, 8);
  }
  sct_str_printf(&format, "%dQ%dqQ", sig->n_operands, sig->n_extents);
  if (workspace != NULL) {
    add_argument(arguments, "", workspace, &offset, 8);
  } else {
    offset += 8;
  }
  for (int k = 0; k < sig->n_scalars; k++) {
    const emit_scalar *scalar = &sig->scalars[k];
    const python_type *type = find_type(scalar->type);
    sct_str_printf(&format, "%s%dx", type->format,
                   SCALAR_BYTES - emit_type_find(scalar->type)->bytes);
    add_argument(arguments, "", scalar->name, &offset, SCALAR_BYTES);
    json_array_append_new(scalars, json_pack("{s:o, s:s, s:s}", "name", emit_text(scalar->name),
                                             "type", scalar->type, "format", type->format));
  }
  json_object_set_new(out, "arguments", arguments);
  json_object_set_new(out, "extents", extents);
  json_object_set_new(out, "extent_names", extent_names);
  json_object_set_new(out, "scalars", scalars);
  json_object_set_new(out, "format", emit_text_str(&format));
}

/* The function's parameters: arrays, those that a call may leave out last, and by name only
 * scalars, extents, stream and workspace. */
static void add_parameters(json_t *out, const emit_header *h) {
  const emit_signature *sig = &h->sig;
  json_t *parameters = json_array(), *names = json_array(), *scalars = json_array();
  for (int optional = 0; optional < 2; optional++) {
    for (int k = 0; k < sig->n_operands; k++) {
      json_t *name = python_name(sig, sig->operands[k].name);
      if (is_optional(&sig->operands[k]) == (optional == 1)) {
        json_array_append_new(
            parameters, emit_textf("%s%s", json_string_value(name), optional == 1 ? "=None" : ""));
      }
      if (optional == 0) {
        json_array_append(names, name);
      }
      json_decref(name);
    }
  }
  json_array_append_new(parameters, emit_text("*"));
  for (int k = 0; k < sig->n_scalars; k++) {
    json_array_append_new(scalars, python_name(sig, sig->scalars[k].name));
    json_array_append_new(parameters, python_name(sig, sig->scalars[k].name));
  }
  for (int k = 0; k < sig->n_extents; k++) {
    json_array_append_new(parameters, emit_textf("n_%s=None", sig->extents[k].name));
  }
  static const char *const own[] = {"stream", "workspace"};
  for (int k = 0; k < SCT_COUNT(own); k++) {
    sct_str name = {0};
    emit_unused_name(&name, sig, own[k]);
    json_array_append_new(parameters, emit_textf("%s=None", sct_str_c(&name)));
    json_object_set_new(out, own[k], emit_text_str(&name));
  }
  json_object_set_new(out, "name", python_name(sig, sig->name));
  json_object_set_new(out, "parameters", parameters);
  json_object_set_new(out, "names", names);
  json_object_set_new(out, "scalar_names", scalars);
}

sct_status emit_check_formulas(const emit_header *h, sct_error *err) {
  for (int k = 0; k < h->sig.n_operands; k++) {
    if (h->sig.operands[k].formulas == NULL) {
      return sct_fail(err, SCT_EDATA,
                      "the store does not say where the elements of '%s' lie: an older sectile "
                      "tuned it; `sectile tune` on the spec adds that without measuring again",
                      h->sig.operands[k].name);
    }
  }
  return SCT_OK;
}

sct_status emit_add_python(json_t *out, const emit_header *h, sct_error *err) {
  SCT_TRY(emit_check_formulas(h, err));
  json_t *python = json_object();
  add_arrays(python, h);
  add_arguments(python, h, json_string_value(json_object_get(out, "workspace")));
  add_parameters(python, h);
  json_object_set_new(out, "python", python);
  return SCT_OK;
}
