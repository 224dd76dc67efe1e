/* A header as data for its templates: what the problem is, its arguments, the public functions.
 * What a sentence says stands in templates/header; here is only what differs between headers. */
#include "emit/emit_internal.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- values ---- */

json_t *emit_text(const char *text) {
  return json_string_nocheck(text != NULL ? text : "");
}

json_t *emit_textf(const char *format, ...) {
  sct_str text = {0};
  SCT_STR_FORMAT(&text, format);
  return emit_text_str(&text);
}

json_t *emit_text_str(sct_str *text) {
  json_t *out = emit_text(sct_str_c(text));
  sct_str_free(text);
  return out;
}

json_t *emit_mentioned(const emit_signature *sig, const char *expression) {
  json_t *list = json_array();
  for (int k = 0; k < sig->n_extents; k++) {
    if (emit_mentions_extent(expression, sig, k)) {
      json_array_append_new(list, emit_text(sig->extents[k].name));
    }
  }
  return list;
}

bool emit_mentions_extent(const char *expression, const emit_signature *sig, int k) {
  char name[256];
  snprintf(name, sizeof(name), "n_%s", sig->extents[k].name);
  return emit_mentions(expression, name);
}

static json_t *lines_of(const char *text) {
  json_t *list = json_array();
  for (const char *at = text; *at != '\0';) {
    const size_t n = strcspn(at, "\n");
    json_array_append_new(list, json_stringn_nocheck(at, n));
    at += n + (at[n] == '\n');
  }
  return list;
}

/* ---- arguments ---- */

int emit_n_dims(const emit_signature *sig) {
  int n = 0;
  for (int k = 0; k < sig->n_extents; k++) {
    n += sig->extents[k].is_dim;
  }
  return n;
}

void emit_unused_name(sct_str *s, const emit_signature *sig, const char *wish) {
  const size_t start = s->len;
  bool taken = true;
  for (sct_str_append(s, wish); taken;) {
    taken = false;
    for (int k = 0; k < sig->n_operands + sig->n_scalars; k++) {
      taken = taken || strcmp(emit_argument(sig, k), s->data + start) == 0;
    }
    sct_str_append(s, taken ? "_x" : "");
  }
}

/* The most that any kernel needs. */
static int64_t workspace_bytes(const emit_header *h) {
  int64_t most = 0;
  for (int k = 0; k < h->n_kernels; k++) {
    const int64_t bytes = h->kernels[k].launch.workspace_bytes;
    most = bytes > most ? bytes : most;
  }
  return most;
}

/* Whether the kernel scans: only its own kernels can read what launches leave in a workspace. */
static bool scans(const emit_header *h) {
  bool any = false;
  for (int k = 0; k < h->sig.n_operands; k++) {
    any = any || h->sig.operands[k].scan[0] != '\0';
  }
  return any;
}

/* The spec reduces, scans or accumulates in one order: its launch function takes a workspace,
 * whichever kernels have won. */
static bool takes_workspace(const emit_header *h) {
  bool any = workspace_bytes(h) > 0;
  for (int k = 0; k < h->sig.n_operands; k++) {
    any = any || h->sig.operands[k].reduce[0] != '\0' || h->sig.operands[k].ordered;
  }
  return any || scans(h);
}

/* The longest name in the banner's list of arguments. */
static int name_width(const emit_signature *sig) {
  size_t width = 0;
  for (int k = 0; k < sig->n_operands + sig->n_scalars; k++) {
    const size_t n = strlen(emit_argument(sig, k));
    width = n > width ? n : width;
  }
  return (int)width;
}

/* "vec3 { f64 x, y, z } of 24 bytes", or "f32" */
static json_t *record_text(const emit_record *record) {
  sct_str s = {0};
  if (record->name == NULL) {
    return emit_text(record->fields[0].type);
  }
  sct_str_printf(&s, "%s { ", record->name);
  for (int k = 0; k < record->n_fields; k += emit_array_length(record, k)) {
    const emit_field *f = &record->fields[k];
    const bool same = k > 0 && strcmp(f->type, record->fields[k - 1].type) == 0;
    sct_str_printf(&s, "%s%s%s", k == 0 ? "" : (same ? ", " : "; "), same ? "" : f->type,
                   same ? "" : " ");
    emit_declare(&s, record, k, emit_type_find(f->type)->shared);
  }
  sct_str_printf(&s, " } of %lld bytes%s", (long long)record->bytes,
                 record->packed ? ", packed" : "");
  return emit_text_str(&s);
}

/* Element (i, j) of the index space is element (i, j) of the operand: no `at` says otherwise. */
bool emit_at_its_own_place(const emit_operand *op) {
  bool own = op->n_at == 0 || op->n_at == op->n_dims;
  for (int k = 0; own && k < op->n_at; k++) {
    own = strcmp(op->at[k], op->dims[k]) == 0;
  }
  return own;
}

/* Has the array elements even where there is nothing to reduce? An output that has what is reduced
 * among its dimensions, as a softmax, has none then, and frameworks give such arrays no address. */
static bool has_elements(const emit_header *h, const emit_operand *op) {
  bool has = op->is_output || op->offsets;
  for (int d = 0; d < op->n_dims; d++) {
    for (int e = 0; e < h->sig.n_extents; e++) {
      const emit_extent *extent = &h->sig.extents[e];
      has = has && !(op->is_output && extent->reduced && strcmp(op->dims[d], extent->name) == 0);
    }
  }
  return has;
}

static json_t *operand_data(const emit_header *h, int index) {
  const emit_operand *op = &h->sig.operands[index];
  json_t *out = json_pack(
      "{s:o, s:o, s:s, s:b, s:b, s:b, s:o, s:b, s:o, s:o, s:b, s:o, s:o, s:o, s:o, s:o, s:I}",
      "name", emit_text(op->name), "padded", emit_textf("%-*s", name_width(&h->sig), op->name),
      "role", op->is_output ? "out" : "in ", "is_output", op->is_output, "is_inout",
      op->is_inout && op->accumulate[0] == '\0' && op->reduce[0] == '\0', "keeps", op->keeps,
      "record", record_text(&op->record), "is_record", op->record.name != NULL, "layout",
      emit_text(h->layout[index]), "layouts", sct_json_strings(op->layouts, op->n_layouts),
      "is_chosen", op->n_layouts > 1, "dims", sct_json_strings(op->dims, op->n_dims), "at",
      sct_json_strings(op->at, emit_at_its_own_place(op) ? 0 : op->n_at), "taps",
      sct_json_strings(op->taps, op->n_taps), "border", emit_text(op->border), "reduce",
      op->reduce[0] != '\0' ? emit_text(op->reduce) : json_false(), "align",
      (json_int_t)h->kernels[0].launch.align[index]);
  const bool is_index = sct_has_prefix(op->reduce, "arg");
  json_object_set_new(out, "reduce_note",
                      emit_text(is_index ? ": the lowest index of those that have it, -1 where "
                                           "none is"
                                : op->is_inout ? ", and of what it holds"
                                               : ""));
  json_object_set_new(out, "scan", op->scan[0] != '\0' ? emit_text(op->scan) : json_false());
  json_object_set_new(out, "accumulate",
                      op->accumulate[0] != '\0' ? emit_text(op->accumulate) : json_false());
  json_object_set_new(out, "starts", json_boolean(op->start >= 0));
  json_object_set_new(out, "start", json_integer(op->start));
  json_object_set_new(out, "packs", json_boolean(emit_packs(h, index)));
  json_object_set_new(out, "offsets", json_boolean(op->offsets));
  json_object_set_new(out, "never_null", json_boolean(has_elements(h, op)));
  emit_add_layout(out, h, index);
  return out;
}

static json_t *scalar_data(const emit_header *h, const emit_scalar *scalar) {
  return json_pack("{s:o, s:o, s:s, s:s, s:b}", "name", emit_text(scalar->name), "padded",
                   emit_textf("%-*s", name_width(&h->sig), scalar->name), "type", scalar->type,
                   "cuda", scalar->cuda, "bits", emit_type_find(scalar->type)->bits);
}

/* ---- the public functions ---- */

/* "f16", "bf16": types that CUDA's headers have a pointer to; NULL for others. */
static const char *half_of(const emit_operand *op) {
  const char *const type = op->record.name == NULL ? op->record.fields[0].type : "";
  return strcmp(type, "f16") == 0 || strcmp(type, "bf16") == 0 ? type : NULL;
}

static bool has_half(const emit_header *h, const char *type) {
  bool any = false;
  for (int k = 0; k < h->sig.n_operands; k++) {
    const char *const half = half_of(&h->sig.operands[k]);
    any = any || (half != NULL && strcmp(half, type) == 0);
  }
  return any;
}

/* "const vec3 *a" */
static json_t *pointer_parameter(const emit_header *h, int operand) {
  const emit_operand *op = &h->sig.operands[operand];
  const emit_type *bare =
      op->record.name == NULL ? emit_type_find(op->record.fields[0].type) : NULL;
  sct_str s = {0};
  sct_str_append(&s, op->is_output ? "" : "const ");
  if (emit_takes_struct(h, operand)) {
    emit_record_type(&s, h, &op->record);
  } else if (half_of(op) != NULL) {
    sct_str_printf(&s, "%s_%s", h->sig.name, half_of(op));
  } else {
    sct_str_append(&s, bare != NULL && !bare->bits ? bare->cuda : "void");
  }
  sct_str_printf(&s, " *%s", op->name);
  return emit_text_str(&s);
}

/* Parameters and arguments of the launch function, without the stream. */
static void add_arguments(json_t *out, const emit_header *h) {
  const emit_signature *sig = &h->sig;
  json_t *parameters = json_array();
  json_t *arguments = json_array();
  for (int k = 0; k < emit_n_arguments(sig); k++) {
    const int scalar = k - sig->n_operands;
    const bool extent = scalar >= sig->n_scalars;
    const char *name = emit_argument(sig, k);
    json_array_append_new(arguments, emit_textf("%s%s", extent ? "n_" : "", name));
    json_array_append_new(parameters, extent ? emit_textf("long long n_%s", name)
                                      : scalar >= 0
                                          ? emit_textf("%s %s", sig->scalars[scalar].cuda, name)
                                          : pointer_parameter(h, k));
  }
  SCT_SCOPED(sct_str) workspace = {0};
  emit_unused_name(&workspace, sig, "workspace");
  if (takes_workspace(h)) {
    json_array_append_new(arguments, emit_text(sct_str_c(&workspace)));
    json_array_append_new(parameters, emit_textf("void *%s", sct_str_c(&workspace)));
    json_object_set_new(out, "workspace", emit_text_str(&workspace));
  } else {
    json_object_set_new(out, "workspace", json_false());
    sct_str_free(&workspace);
  }
  json_object_set_new(out, "parameters", parameters);
  json_object_set_new(out, "arguments", arguments);
}

/* ---- what must not overlap ---- */

/* The bytes of an array under the layout that the header has; NULL: not known. */
static const char *bytes_of(const emit_header *h, int operand) {
  const emit_operand *op = &h->sig.operands[operand];
  const int k = sct_names_find(SCT_NAMES(op->layouts, op->n_layouts), h->layout[operand]);
  return k >= 0 && op->bytes != NULL ? op->bytes[k] : NULL;
}

/* Outputs that each launch sets before points fall on them. */
static void add_starts(json_t *out, const emit_header *h) {
  json_t *starts = json_array();
  SCT_SCOPED(sct_str) all = {0};
  for (int k = 0; k < h->sig.n_operands; k++) {
    const char *bytes = bytes_of(h, k);
    if (h->sig.operands[k].start >= 0 && bytes != NULL) {
      sct_str_printf(&all, "%s ", bytes);
      json_array_append_new(starts,
                            json_pack("{s:o, s:o, s:I}", "name", emit_text(h->sig.operands[k].name),
                                      "bytes", emit_host_text(&h->sig, bytes), "byte",
                                      (json_int_t)h->sig.operands[k].start));
    }
  }
  json_object_set_new(out, "starts_over", emit_mentioned(&h->sig, sct_str_c(&all)));
  json_object_set_new(out, "starts", starts);
}

/* Arrays of which one is written, as far as it is known how large all are. */
static void add_ranges(json_t *out, const emit_header *h) {
  json_t *ranges = json_array();
  SCT_SCOPED(sct_str) all = {0};
  bool known = h->sig.n_operands > 1;
  for (int k = 0; k < h->sig.n_operands; k++) {
    const char *bytes = bytes_of(h, k);
    known = known && bytes != NULL;
    sct_str_printf(&all, "%s ", bytes ? bytes : "");
    json_array_append_new(ranges,
                          json_pack("{s:o, s:o, s:s}", "name", emit_text(h->sig.operands[k].name),
                                    "bytes", emit_host_text(&h->sig, bytes ? bytes : "0"),
                                    "written", h->sig.operands[k].is_output ? "true" : "false"));
  }
  json_object_set_new(out, "ranges_over", emit_mentioned(&h->sig, sct_str_c(&all)));
  add_starts(out, h);
  json_object_set_new(out, "ranges", known ? json_incref(ranges) : json_array());
  json_decref(ranges);
}

/* ---- what extents must satisfy ---- */

static void add_list(json_t *list, sct_str *all, const emit_signature *sig,
                     const char *const *texts, int n) {
  for (int k = 0; k < n; k++) {
    sct_str_printf(all, "%s ", texts[k]);
    json_array_append_new(list, emit_host_text(sig, texts[k]));
  }
}

static void add_steps(json_t *list, sct_str *all, const emit_signature *sig,
                      const emit_steps *steps) {
  SCT_SCOPED(sct_str) text = {0};
  for (int k = 0; k < steps->n; k += 2) {
    sct_str_printf(&text, "%s{%s, %s}", k > 0 ? ", " : "", steps->texts[k], steps->texts[k + 1]);
  }
  if (steps->n > 0) {
    sct_str_printf(all, "%s ", sct_str_c(&text));
    json_array_append_new(
        list,
        json_pack("{s:o, s:i}", "list", emit_host_text(sig, sct_str_c(&text)), "n", steps->n / 2));
  }
}

static void add_limits(json_t *out, const emit_header *h) {
  bool has_steps = false;
  json_t *limits = json_array(), *bounds = json_array();
  SCT_SCOPED(sct_str) over = {0}, bounds_over = {0};
  for (int k = 0; k < h->sig.n_operands; k++) {
    const emit_operand *op = &h->sig.operands[k];
    json_t *inside = json_array(), *apart = json_array();
    add_list(inside, &over, &h->sig, op->inside, op->n_inside);
    for (int n = 0; n < op->n_apart; n++) {
      add_steps(apart, &over, &h->sig, &op->apart[n]);
    }
    add_list(bounds, &bounds_over, &h->sig, op->bounds, op->n_bounds);
    has_steps = has_steps || json_array_size(apart) > 0;
    if (json_array_size(inside) + json_array_size(apart) > 0) {
      json_array_append_new(limits, json_pack("{s:o, s:O, s:O}", "name", emit_text(op->name),
                                              "inside", inside, "apart", apart));
    }
    json_decref(inside);
    json_decref(apart);
  }
  json_object_set_new(out, "has_steps", json_boolean(has_steps));
  json_object_set_new(out, "checks_extents",
                      json_boolean(json_array_size(limits) + json_array_size(bounds) > 0));
  json_object_set_new(out, "limits", limits);
  json_object_set_new(out, "limits_over", emit_mentioned(&h->sig, sct_str_c(&over)));
  json_object_set_new(out, "bounds", bounds);
  json_object_set_new(out, "bounds_over", emit_mentioned(&h->sig, sct_str_c(&bounds_over)));
}

/* ---- the whole ---- */

/* Reproducible builds set SOURCE_DATE_EPOCH (seconds); without it a header holds no date. */
static json_t *date(void) {
  const char *text = getenv("SOURCE_DATE_EPOCH");
  char *end = NULL;
  const long long seconds = text != NULL ? strtoll(text, &end, 10) : -1;
  if (text == NULL || end == text || *end != '\0' || seconds < 0 || seconds > 253402300799LL) {
    return json_false(); /* absent, or not a moment of the years 1970 to 9999 */
  }
  const time_t moment = (time_t)seconds;
  struct tm utc;
  char shown[32] = "";
  if (gmtime_r(&moment, &utc) != NULL) {
    (void)strftime(shown, sizeof(shown), "%Y-%m-%dT%H:%M:%SZ", &utc);
  }
  return shown[0] != '\0' ? emit_text(shown) : json_false();
}

/* "[0, n_row)", "[ptr[row], ptr[row + 1])" */
static json_t *range_text(const emit_signature *sig, const emit_extent *of) {
  const char *offsets = NULL, *row = NULL;
  for (int k = 0; k < sig->n_operands && of->ragged; k++) {
    offsets = sig->operands[k].offsets ? sig->operands[k].name : offsets;
  }
  for (int k = 0; k < sig->n_extents; k++) {
    row = sig->extents[k].rows ? sig->extents[k].name : row;
  }
  return offsets && row ? emit_textf("[%s[%s], %s[%s + 1])", offsets, row, offsets, row)
                        : emit_textf("[0, n_%s)", of->name);
}

static void add_extents(json_t *out, const emit_signature *sig) {
  json_t *extents = json_array();
  json_t *dims = json_array();
  json_t *reduced = json_array();
  json_t *ranges = json_array();
  const char *ragged = "";
  int rows = -1;
  SCT_SCOPED(sct_str) index = {0};
  for (int k = 0; k < sig->n_extents; k++) {
    const emit_extent *extent = &sig->extents[k];
    json_array_append_new(extents, emit_text(extent->name));
    if (extent->is_dim) {
      json_array_append_new(dims, emit_text(extent->name));
      json_array_append_new(ranges, range_text(sig, extent));
      rows = extent->rows ? k : rows;
      ragged = extent->ragged ? extent->name : ragged;
      json_array_append_new(reduced, emit_text(extent->reduced ? "true" : "false"));
      sct_str_printf(&index, "%s%s", index.len > 0 ? ", " : "", extent->name);
    }
  }
  const int n = emit_n_dims(sig);
  json_object_set_new(out, "index", emit_textf(n > 1 ? "(%s)" : "%s", sct_str_c(&index)));
  json_object_set_new(out, "extents", extents);
  json_object_set_new(out, "dims", dims);
  json_object_set_new(out, "reduced", reduced);
  json_object_set_new(out, "index_ranges", ranges);
  json_object_set_new(out, "ragged", emit_text(ragged));
  json_object_set_new(out, "rows", json_integer(rows));
  json_object_set_new(out, "n_extents", json_integer(sig->n_extents));
  json_object_set_new(out, "n_dims", json_integer(n));
}

static void add_operands(json_t *out, const emit_header *h) {
  json_t *operands = json_array();
  json_t *scalars = json_array();
  bool choice = false;
  for (int k = 0; k < h->sig.n_operands; k++) {
    json_array_append_new(operands, operand_data(h, k));
    choice = choice || h->sig.operands[k].n_layouts > 1;
  }
  for (int k = 0; k < h->sig.n_scalars; k++) {
    json_array_append_new(scalars, scalar_data(h, &h->sig.scalars[k]));
  }
  json_object_set_new(out, "operands", operands);
  json_object_set_new(out, "scalars", scalars);
  json_object_set_new(out, "has_choice", json_boolean(choice));
}

/* How functions begin that the header defines, the option that asked for it, and the names that the
 * user's arguments must not have. */
static void add_form(json_t *out, const emit_header *h) {
  const bool is_inline = h->form == SCT_EMIT_INLINE;
  sct_str call = {0};
  emit_unused_name(&call, &h->sig, "call");
  json_object_set_new(out, "is_inline", json_boolean(is_inline));
  json_object_set_new(out, "is_cuda", json_boolean(h->form == SCT_EMIT_CUDA));
  json_object_set_new(out, "is_code", json_boolean(h->form == SCT_EMIT_C));
  json_object_set_new(out, "form_option",
                      emit_text(is_inline               ? ""
                                : h->form == SCT_EMIT_C ? " --form c"
                                                        : " --form cuda"));
  json_object_set_new(out, "linkage",
                      is_inline ? emit_textf("%s_LINKAGE ", h->sig.name) : emit_text(""));
  json_object_set_new(out, "detail", emit_textf("%s_detail", h->sig.name));
  json_object_set_new(out, "call", emit_text_str(&call));
}

sct_status emit_data(json_t **out, const emit_header *h, sct_error *err) {
  const emit_signature *sig = &h->sig;
  const char *file = h->problem->spec_file;
  json_t *records = NULL;
  SCT_TRY(emit_records(&records, h, err));
  sct_str stream = {0};
  emit_unused_name(&stream, sig, "stream");
  *out = json_pack(
      "{s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:b, s:b}", "name", emit_text(sig->name),
      "version", SCT_VERSION, "spec_file", emit_text(file != NULL ? file : "SPEC"), "spec_hash",
      emit_text(h->problem->spec_hash), "body", lines_of(sig->body), "blank",
      emit_textf("%*s", name_width(sig), ""), "date", date(), "stream", emit_text_str(&stream),
      "records", records, "workspace_bytes", (json_int_t)workspace_bytes(h), "needs_workspace",
      workspace_bytes(h) > 0, "names_vectors", emit_names_vectors(h));
  json_object_set_new(*out, "scans", json_boolean(scans(h)));
  json_object_set_new(*out, "has_f", json_boolean(has_half(h, "f16")));
  json_object_set_new(*out, "has_bf", json_boolean(has_half(h, "bf16")));
  add_form(*out, h);
  add_extents(*out, sig);
  add_operands(*out, h);
  add_arguments(*out, h);
  add_ranges(*out, h);
  add_limits(*out, h);
  emit_add_host(*out, h);
  emit_add_layouts(*out, h);
  emit_add_other_sizes(*out, h);
  emit_add_figures(*out, h);
  emit_add_devices(*out, h);
  emit_add_kernels(*out, h);
  return SCT_OK;
}
