/* A header's rows as one document: as they are in the store, in the order in which they stand in
 * the header. tuning/sectile/header.lua makes text of it. */
#include "emit/emit_internal.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *const forms[] = {
    [SCT_EMIT_INLINE] = "inline", [SCT_EMIT_CUDA] = "cuda", [SCT_EMIT_C] = "c"};

sct_status sct_emit_find_form(sct_emit_form *out, const char *name, sct_error *err) {
  int k;
  SCT_TRY(sct_names_choose(&k, SCT_NAMES(forms, SCT_COUNT(forms)), name, err,
                           "there is no form '%s'", name));
  *out = (sct_emit_form)k;
  return SCT_OK;
}

/* Bytes that are no UTF-8 stay. */
static json_t *text_of(const char *text) {
  return json_string_nocheck(text);
}

static json_t *texts_of(const char *const *list, int n) {
  json_t *array = json_array();
  for (int k = 0; k < n; k++) {
    json_array_append_new(array, text_of(list[k]));
  }
  return array;
}

static json_t *integers_of(const int64_t *list, int64_t n) {
  json_t *array = json_array();
  for (int64_t k = 0; k < n; k++) {
    json_array_append_new(array, json_integer(list[k]));
  }
  return array;
}

/* Reproducible builds set SOURCE_DATE_EPOCH (seconds); without it a header holds no date. */
static json_t *date(void) {
  const char *text = getenv("SOURCE_DATE_EPOCH");
  char *end = NULL;
  const long long seconds = text != NULL ? strtoll(text, &end, 10) : -1;
  if (text == NULL || end == text || *end != '\0' || seconds < 0 || seconds > 253402300799LL) {
    return json_null(); /* absent, or not a moment of the years 1970 to 9999 */
  }
  const time_t moment = (time_t)seconds;
  struct tm utc;
  char shown[32] = "";
  if (gmtime_r(&moment, &utc) != NULL) {
    (void)strftime(shown, sizeof(shown), "%Y-%m-%dT%H:%M:%SZ", &utc);
  }
  return shown[0] != '\0' ? text_of(shown) : json_null();
}

/* ---- devices, sizes, kernels ---- */

/* Without the source: that of a kernel in the header stands with the kernel. */
static json_t *result_json(const sct_row_result *row) {
  json_t *out = row != NULL ? sct_row_result_json(row) : json_null();
  if (row != NULL) {
    json_object_del(out, "source");
  }
  return out;
}

static json_t *regret_json(const sct_rule_regret *r) {
  return json_pack("{s:i, s:f, s:f, s:f}", "samples", r->n_samples, "mean", r->mean, "p95", r->p95,
                   "worst", r->worst);
}

/* A feature's extents by name, as a product, and what divides it; null: nothing. */
static void add_feature(json_t *out, const emit_header *h, const sct_rule_feature *f) {
  json_t *of = json_array();
  for (int k = 0; k < h->sig.n_extents; k++) {
    if (k < 64 && f->of >> k & 1) {
      json_array_append_new(of, text_of(h->sig.extents[k]));
    }
  }
  json_object_set_new(out, "of", of);
  json_object_set_new(out, "over", f->over < 0 ? json_null() : text_of(h->sig.extents[f->over]));
}

static json_t *node_json(const emit_header *h, const emit_device *device, int number) {
  const sct_rule_node *const node = &device->rule.nodes[number];
  json_t *out = NULL;
  if (node->feature >= 0) {
    out = json_pack("{s:I, s:o, s:o}", "most", (json_int_t)node->most, "low",
                    node_json(h, device, node->low), "high", node_json(h, device, node->high));
    add_feature(out, h, &device->features[node->feature]);
    return out;
  }
  json_t *kernels = json_array();
  for (int k = 0; k < node->n_order; k++) {
    json_array_append_new(kernels, json_integer(node->order[k]));
  }
  return json_pack("{s:o, s:i, s:o}", "kernels", kernels, "sizes", node->n_samples, "regret",
                   regret_json(&node->regret));
}

/* The sizes that a rule was made from, and what calls of them would take by it. */
static json_t *samples_json(const emit_header *h, const emit_device *device) {
  json_t *list = json_array();
  for (int k = 0; k < device->n_sizes; k++) {
    const emit_size *const size = &device->sizes[k];
    json_t *extents = json_array();
    for (int e = 0; e < h->sig.n_extents; e++) {
      json_array_append_new(extents, json_integer((json_int_t)size->extents[e]));
    }
    json_array_append_new(list, json_pack("{s:o, s:b, s:i, s:f, s:b}", "extents", extents,
                                          "sampled", size->sampled, "kernel", size->taken, "regret",
                                          size->regret, "estimated", size->estimated));
  }
  return list;
}

/* Its tree, from how many sizes, and the regret at samples that were left out. */
static json_t *rule_json(const emit_header *h, const emit_device *device) {
  int n_sampled = 0;
  for (int k = 0; k < device->n_sizes; k++) {
    n_sampled += device->sizes[k].sampled;
  }
  return json_pack("{s:o, s:o, s:i, s:i, s:o}", "tree", node_json(h, device, 0), "regret",
                   regret_json(&device->rule.regret), "sizes", device->n_sizes, "sampled",
                   n_sampled, "samples", samples_json(h, device));
}

json_t *sct_emit_rules(const sct_emit *h) {
  json_t *kernels = json_array(), *hashes = json_array(), *rules = json_array();
  for (int k = 0; k < h->n_kernels; k++) {
    json_array_append_new(kernels, sct_json_string(h->kernels[k].source->label));
    json_array_append_new(hashes, sct_json_string(h->kernels[k].source->source_hash));
  }
  for (int d = 0; d < h->n_devices; d++) {
    json_t *rule = rule_json(h, &h->devices[d]);
    json_object_set_new(rule, "device", sct_json_string(h->devices[d].row->name));
    json_object_set_new(rule, "arch", sct_json_string(h->devices[d].row->arch));
    json_array_append_new(rules, rule);
  }
  json_t *extents = json_array();
  for (int k = 0; k < h->sig.n_extents; k++) {
    json_array_append_new(extents, text_of(h->sig.extents[k]));
  }
  return json_pack("{s:o, s:o, s:o, s:o}", "kernels", kernels, "hashes", hashes, "extents", extents,
                   "rules", rules);
}

static json_t *device_json(const emit_header *h, const emit_device *device) {
  json_t *out = sct_row_device_json(device->row);
  json_t *alike = json_array(), *sizes = json_array(), *others = json_array();
  for (int k = 0; k < device->n_alike; k++) {
    json_array_append_new(alike, text_of(device->alike[k]->uuid));
  }
  for (int k = 0; k < device->n_sizes; k++) {
    const emit_size *size = &device->sizes[k];
    if (!size->shown) {
      continue;
    }
    json_array_append_new(
        sizes, json_pack("{s:o, s:o, s:o, s:i, s:b}", "run", sct_row_run_json(size->run), "winner",
                         result_json(size->winner), "naive", result_json(size->naive), "kernel",
                         size->kernel, "sampled", size->sampled));
  }
  for (int k = 0; k < device->n_other; k++) {
    const emit_other *other = &device->others[k];
    json_array_append_new(others, json_pack("{s:o, s:o, s:o}", "run", sct_row_run_json(other->run),
                                            "winner", result_json(other->winner), "here",
                                            result_json(other->here)));
  }
  json_object_set_new(out, "n_sms", json_integer(device->n_sms));
  json_object_set_new(out, "alike", alike);
  json_object_set_new(out, "sizes", sizes);
  json_object_set_new(out, "others", others);
  json_object_set_new(out, "rule", rule_json(h, device));
  return out;
}

static json_t *kernel_json(const emit_kernel *kernel) {
  json_t *args = json_array();
  const char *feature = emit_sm90_feature(kernel->source->source);
  for (int k = 0; k < kernel->n_args; k++) {
    json_array_append_new(args, json_integer(kernel->args[k]));
  }
  return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "space", text_of(kernel->space), "label",
                   text_of(kernel->source->label), "source", text_of(kernel->source->source),
                   "source_hash", text_of(kernel->source->source_hash), "launch",
                   sct_json_load(kernel->source->launch), "args", args, "feature",
                   feature != NULL ? text_of(feature) : json_null());
}

json_t *emit_document(const emit_header *h, sct_emit_form form) {
  json_t *devices = json_array(), *kernels = json_array();
  for (int d = 0; d < h->n_devices; d++) {
    json_array_append_new(devices, device_json(h, &h->devices[d]));
  }
  for (int k = 0; k < h->n_kernels; k++) {
    json_array_append_new(kernels, kernel_json(&h->kernels[k]));
  }
  const emit_ways *w = &h->ways;
  json_t *ways = json_pack("{s:i, s:i, s:i, s:i, s:i, s:o}", "locked_mib", w->locked_mib,
                           "locked_streams", w->locked_streams, "ring_mib", w->ring_mib,
                           "ring_streams", w->ring_streams, "ring_threads", w->ring_threads,
                           "chosen", w->on != NULL ? text_of(w->on->name) : json_null());
  const char *const targets = h->request.targets;
  return json_pack("{s:s, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "form", forms[form],
                   "targets", targets != NULL ? text_of(targets) : json_null(), "version",
                   SCT_VERSION, "date", date(), "spec_file", text_of(h->problem->spec_file),
                   "spec_hash", text_of(h->problem->spec_hash), "layouts",
                   texts_of(h->layout, h->sig.n_operands), "devices", devices, "kernels", kernels,
                   "ways", ways);
}

/* ---- cases of a self-test ---- */

enum { BYTES_A_LINE = 24 };

json_t *emit_byte_lines(const char *bytes, size_t n) {
  sct_str text = {0};
  for (size_t k = 0; k < n; k++) {
    const bool first = k % BYTES_A_LINE == 0;
    sct_str_printf(&text, "%s%u,",
                   !first  ? ""
                   : k > 0 ? "\n    "
                           : "    ",
                   (unsigned)(unsigned char)bytes[k]);
  }
  json_t *out = json_stringn_nocheck(sct_str_c(&text), text.len);
  sct_str_free(&text);
  return out;
}

/* null: there are none; a C array needs one, where there are 0. */
static json_t *bytes_json(const void *bytes, int64_t n) {
  static const char zero = 0;
  return bytes == NULL ? json_null()
                       : emit_byte_lines(n > 0 ? bytes : &zero, n > 0 ? (size_t)n : 1);
}

static json_t *array_json(const sct_emit_array *a, int n_fields) {
  const int64_t n_parts = a->bits != NULL ? a->bytes / a->part_bytes + 1 : 0;
  json_t *usual = json_null(), *bits = json_null(), *sums = json_null();
  if (a->bits != NULL) { /* the bits of floating-point numbers, too */
    int64_t *words = sct_alloc(sizeof *words * (size_t)n_parts);
    memcpy(words, a->bits, sizeof *words * (size_t)n_parts);
    bits = integers_of(words, n_parts);
    memcpy(words, a->sums, sizeof *words * (size_t)n_parts);
    sums = integers_of(words, n_parts);
    sct_free(words);
  }
  if (a->usual != NULL) {
    usual = json_array();
    for (int f = 0; f < n_fields; f++) {
      json_array_append_new(usual, json_real(a->usual[f]));
    }
  }
  return json_pack("{s:o, s:o, s:o, s:o, s:o, s:I, s:I, s:I, s:I, s:I, s:f}", "before",
                   bytes_json(a->before, a->bytes), "after", bytes_json(a->after, a->bytes), "bits",
                   bits, "sums", sums, "usual", usual, "bytes", (json_int_t)a->bytes, "part_bytes",
                   (json_int_t)a->part_bytes, "key", (json_int_t)a->key, "and_mask",
                   (json_int_t)a->and_mask, "or_mask", (json_int_t)a->or_mask, "tolerance",
                   a->tolerance);
}

static json_t *case_json(const emit_header *h, const sct_emit_case *c) {
  const json_t *operands = json_object_get(h->sig.doc, "operands");
  const int n_scalars = h->sig.n_arguments - h->sig.n_operands - h->sig.n_extents;
  json_t *arrays = json_array(), *places = json_array(), *scalars = json_array();
  for (int k = 0; k < h->sig.n_operands; k++) {
    const json_t *record = json_object_get(json_array_get(operands, (size_t)k), "record");
    const size_t n_fields = json_array_size(json_object_get(record, "fields"));
    json_array_append_new(arrays, array_json(&c->arrays[k], (int)n_fields));
  }
  for (int n = 0; n < c->n_places; n++) {
    json_array_append_new(places, integers_of(c->places[n], h->sig.n_operands));
  }
  for (int k = 0; k < n_scalars || k < 1; k++) { /* a C array has one */
    int64_t bytes[16] = {0};
    for (int b = 0; b < SCT_COUNT(bytes); b++) {
      bytes[b] = k < n_scalars ? c->scalars[k][b] : 0;
    }
    json_array_append_new(scalars, integers_of(bytes, SCT_COUNT(bytes)));
  }
  return json_pack("{s:o, s:o, s:o, s:o, s:i}", "extents",
                   integers_of(c->extents, h->sig.n_extents), "arrays", arrays, "places", places,
                   "scalars", scalars, "poison", (int)c->poison);
}

static json_t *edges_json(emit_header *h, const sct_emit_tester *tester) {
  int64_t(*edges)[EMIT_MOST_EDGE_EXTENTS];
  json_t *list = json_array();
  const int n = emit_edges(h, &edges);
  for (int k = 0; k < n; k++) {
    json_t *tolerance = json_array();
    for (int op = 0; op < h->sig.n_operands; op++) {
      json_array_append_new(tolerance, json_real(tester->tolerance(tester->ctx, op, edges[k])));
    }
    json_array_append_new(list, json_pack("{s:o, s:o}", "extents",
                                          integers_of(edges[k], h->sig.n_extents), "tolerance",
                                          tolerance));
  }
  return list;
}

json_t *emit_tests(emit_header *h, const sct_emit_cases *cases, const sct_emit_tester *tester) {
  json_t *list = json_array();
  for (int k = 0; k < cases->n; k++) {
    json_array_append_new(list, case_json(h, &cases->all[k]));
  }
  return json_pack("{s:o, s:o, s:b}", "cases", list, "edges", edges_json(h, tester), "computes",
                   cases->computes);
}
