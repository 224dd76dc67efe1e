/* Functions for arrays of the host (`host = true`) as data for their templates: along which extent
 * arrays are cut, how chunks follow each other in each array, what is copied which way, and what a
 * plan is by default. */
#include "emit/emit_internal.h"

#include <string.h>

static int layout_of(const emit_header *h, int operand) {
  const emit_operand *op = &h->sig.operands[operand];
  return sct_names_find(SCT_NAMES(op->layouts, op->n_layouts), h->layout[operand]);
}

static json_t *truth(bool value) {
  return json_string(value ? "true" : "false");
}

/* An array of the device that kernels use where it is. Where taps reach beyond a chunk, they would
 * write what is another chunk's: then they write a copy of it, as of the host's. */
static bool is_direct(const emit_header *h, int operand) {
  const emit_operand *op = &h->sig.operands[operand];
  return op->stays && !(op->is_output && (h->sig.halo_before > 0 || h->sig.halo_after > 0));
}

/* Whether an output reduces or accumulates, and chunks do not divide it. */
bool emit_is_shared(const emit_header *h, int operand) {
  const emit_operand *op = &h->sig.operands[operand];
  const int dim = h->sig.chunk_dim;
  return dim >= 0 && op->is_output && strcmp(op->chunk_steps[layout_of(h, operand)], "0") == 0 &&
         (op->accumulate[0] != '\0' || h->sig.extents[dim].reduced);
}

bool emit_combines(const emit_header *h) {
  bool any = false;
  for (int k = 0; k < h->sig.n_operands; k++) {
    any = any || emit_is_shared(h, k);
  }
  return any;
}

/* Each array by its name, and its type as a member of the arguments has it. */
static json_t *places(const emit_header *h, const json_t *operands, const json_t *parameters) {
  json_t *list = json_array();
  for (size_t k = 0; k < json_array_size(operands); k++) {
    const char *const name =
        json_string_value(json_object_get(json_array_get(operands, k), "name"));
    const char *const parameter = json_string_value(json_array_get(parameters, k));
    json_array_append_new(
        list, json_pack("{s:s, s:o, s:b}", "name", name, "type",
                        json_stringn_nocheck(parameter, strlen(parameter) - strlen(name)), "direct",
                        is_direct(h, (int)k)));
  }
  return list;
}

/* Parameters without the workspace, which the plan has; its place among the arguments is NULL. */
static void add_parameters(json_t *host, const json_t *out, const emit_header *h) {
  json_t *parameters = json_array(), *arguments = json_array(), *extents = json_array();
  const int n = emit_n_arguments(&h->sig);
  for (int k = 0; k < n; k++) {
    json_array_append(parameters, json_array_get(json_object_get(out, "parameters"), (size_t)k));
    json_array_append(arguments, json_array_get(json_object_get(out, "arguments"), (size_t)k));
    if (k >= n - h->sig.n_extents) {
      json_array_append(extents, json_array_get(json_object_get(out, "parameters"), (size_t)k));
    }
  }
  if (!json_is_false(json_object_get(out, "workspace"))) {
    json_array_append_new(arguments, json_string("NULL"));
  }
  json_object_set_new(host, "parameters", parameters);
  json_object_set_new(host, "arguments", arguments);
  json_object_set_new(host, "extents", extents);
}

/* What an array is along the chunks, and which way it goes. */
static void add_arrays(json_t *host, const emit_header *h) {
  json_t *steps = json_array(), *bytes = json_array(), *names = json_array();
  json_t *is_in = json_array(), *is_out = json_array();
  SCT_SCOPED(sct_str) steps_over = {0}, bytes_over = {0};
  for (int k = 0; k < h->sig.n_operands; k++) {
    const emit_operand *op = &h->sig.operands[k];
    const int layout = layout_of(h, k);
    const char *const step = op->chunk_steps[layout];
    sct_str_printf(&steps_over, "%s ", step);
    sct_str_printf(&bytes_over, "%s ", op->bytes[layout]);
    json_array_append_new(names, emit_text(op->name));
    json_array_append_new(steps, emit_host_text(&h->sig, step));
    json_array_append_new(bytes, emit_host_text(&h->sig, op->bytes[layout]));
    const bool direct = is_direct(h, k);
    json_array_append_new(is_in, truth(!direct && (!op->is_output || !op->writes_all[layout])));
    json_array_append_new(is_out, truth(!direct && op->is_output));
  }
  json_object_set_new(host, "arrays", names);
  json_object_set_new(host, "steps", steps);
  json_object_set_new(host, "steps_over", emit_mentioned(&h->sig, sct_str_c(&steps_over)));
  json_object_set_new(host, "bytes", bytes);
  json_object_set_new(host, "bytes_over", emit_mentioned(&h->sig, sct_str_c(&bytes_over)));
  json_object_set_new(host, "is_in", is_in);
  json_object_set_new(host, "is_out", is_out);
}

/* Which arrays are the device's, and which chunks go onto; false for what no array is. */
static void add_device(json_t *host, const emit_header *h) {
  json_t *direct = json_array(), *shared = json_array(), *names = json_array();
  bool any = false, staged = false;
  const bool combines = emit_combines(h);
  for (int k = 0; k < h->sig.n_operands; k++) {
    const emit_operand *op = &h->sig.operands[k];
    json_array_append_new(direct, truth(is_direct(h, k)));
    json_array_append_new(shared, truth(emit_is_shared(h, k)));
    any = any || is_direct(h, k);
    staged = staged || (op->stays && !is_direct(h, k));
    if (op->stays) {
      json_array_append_new(names, emit_text(op->name));
    }
  }
  /* further conditions on array k, where there is one to make */
  json_object_set_new(host, "if_copied",
                      any ? emit_textf(" && !%s_detail_direct[k]", h->sig.name) : emit_text(""));
  json_object_set_new(host, "or_direct",
                      any ? emit_textf(" || %s_detail_direct[k]", h->sig.name) : emit_text(""));
  json_object_set_new(host, "if_in",
                      combines ? emit_textf(" && %s_detail_is_in[k]", h->sig.name)
                               : json_incref(json_object_get(host, "if_copied")));
  json_object_set_new(host, "and_some",
                      combines
                          ? emit_textf(" && c->n_%s > 0", h->sig.extents[h->sig.chunk_dim].name)
                          : emit_text(""));
  json_object_set_new(host, "shared", combines ? json_incref(shared) : json_false());
  json_object_set_new(host, "direct", any ? json_incref(direct) : json_false());
  json_object_set_new(host, "device_arrays",
                      json_array_size(names) > 0 ? json_incref(names) : json_false());
  json_object_set_new(host, "to_device",
                      json_string(staged ? "cudaMemcpyDefault" : "cudaMemcpyHostToDevice"));
  json_object_set_new(host, "to_host",
                      json_string(staged ? "cudaMemcpyDefault" : "cudaMemcpyDeviceToHost"));
  json_decref(direct);
  json_decref(shared);
  json_decref(names);
}

/* What is set before points fall on it: once for all chunks, or for each. */
static void add_starts(json_t *host, const emit_header *h) {
  json_t *starts = json_array();
  for (int k = 0; k < h->sig.n_operands && emit_combines(h); k++) {
    const emit_operand *op = &h->sig.operands[k];
    if (op->start >= 0) {
      json_array_append_new(
          starts, json_pack("{s:o, s:i, s:I, s:b, s:o}", "name", emit_text(op->name), "index", k,
                            "byte", (json_int_t)op->start, "shared", emit_is_shared(h, k), "place",
                            is_direct(h, k) ? emit_textf("(void *)h->from[%d]", k)
                                            : emit_textf("p->whole[%d]", k)));
    }
  }
  json_object_set_new(host, "starts", starts);
}

/* ---- defaults ---- */

#define MOST_MIB     1024
#define MOST_STREAMS 8
#define MOST_THREADS 64

static int number(const json_t *axes, const char *key, int most) {
  const json_int_t value = json_integer_value(json_object_get(axes, key));
  return value >= 1 && value <= most ? (int)value : 0;
}

/* Finds the fastest way of NAME_host by one device for page-locked arrays, and the fastest through
 * a ring, among those that were timed, as no model knows the host's caches. false: there are none.
 */
static bool take_ways(emit_ways *out, const sct_row_result *rows, int n) {
  double locked_ns = 0, ring_ns = 0;
  for (int k = 0; k < n; k++) {
    SCT_OWNED_PTR(json_t) axes = sct_json_load(rows[k].candidate.axes);
    const char *const memory = json_string_value(json_object_get(axes, "memory"));
    const int mib = number(axes, "chunk_mib", MOST_MIB);
    const int streams = number(axes, "streams", MOST_STREAMS);
    const int threads = number(axes, "threads", MOST_THREADS);
    const double ns = rows[k].outcome.median_ns; /* 0: not timed */
    if (!memory || mib == 0 || streams == 0 || ns <= 0 || number(axes, "devices", 2) > 1 ||
        strcmp(rows[k].outcome.outcome, "ok") != 0) {
      continue;
    }
    if (strcmp(memory, "page-locked") == 0 && (locked_ns == 0 || ns < locked_ns)) {
      locked_ns = ns;
      out->locked_mib = mib;
      out->locked_streams = streams;
    } else if (threads > 0 && strcmp(memory, "pageable") == 0 && (ring_ns == 0 || ns < ring_ns)) {
      ring_ns = ns;
      out->ring_mib = mib;
      out->ring_streams = streams;
      out->ring_threads = threads;
    }
  }
  return locked_ns > 0 || ring_ns > 0;
}

/* The run of the largest size on this device; NULL: none. */
static const sct_row_run *find_run(const emit_header *h, const sct_row_device *device,
                                   const sct_row_run *runs, int n) {
  const sct_row_run *found = NULL;
  for (int k = 0; k < n; k++) {
    const sct_row_device *on =
        sct_row_device_find(h->device_rows, h->n_device_rows, runs[k].device);
    found = on && on->is_virtual == device->is_virtual && strcmp(on->name, device->name) == 0
                ? &runs[k]
                : found;
  }
  return found;
}

sct_status emit_load_ways(emit_header *h, sct_store *store, sct_error *err) {
  char hash[SCT_HASH_HEX];
  sct_row_problem *problems = NULL;
  sct_row_run *runs = NULL;
  sct_row_result *rows = NULL;
  int n = 0, n_runs = 0, n_rows = 0;
  h->ways = (emit_ways){
      .locked_mib = 16, .locked_streams = 3, .ring_mib = 2, .ring_streams = 8, .ring_threads = 16};
  unsigned stays = 0;
  for (int k = 0; k < h->sig.n_operands; k++) {
    stays |= h->sig.operands[k].stays ? 1u << k : 0;
  }
  if (h->sig.chunk_dim < 0) {
    return SCT_OK;
  }
  const char *text = sct_arena_printf(&h->arena, SCT_HOST_PROBLEM, h->problem->spec_hash, stays);
  sct_hash_hex(hash, sct_hash_text(text));
  SCT_TRY(sct_store_problem_by_hash(store, &h->arena, hash, &problems, &n, err));
  if (n > 0) {
    SCT_TRY(sct_store_runs(store, &h->arena, problems[0].id, 0, &runs, &n_runs, err));
  }
  for (int d = 0; d < h->n_devices && !h->ways.on; d++) { /* of the first that was timed */
    const sct_row_run *run = find_run(h, h->devices[d].row, runs, n_runs);
    if (run) {
      SCT_TRY(sct_store_results(store, &h->arena, run->id, false, &rows, &n_rows, err));
      h->ways.on = take_ways(&h->ways, rows, n_rows) ? h->devices[d].row : NULL;
    }
  }
  return SCT_OK;
}

static void add_ways(json_t *host, const emit_ways *w) {
  json_object_set_new(host, "locked_mib", json_integer(w->locked_mib));
  json_object_set_new(host, "locked_streams", json_integer(w->locked_streams));
  json_object_set_new(host, "ring_mib", json_integer(w->ring_mib));
  json_object_set_new(host, "ring_streams", json_integer(w->ring_streams));
  json_object_set_new(host, "ring_threads", json_integer(w->ring_threads));
  sct_str chosen = {0};
  if (w->on) {
    emit_comment(&chosen, w->on->name);
  }
  json_object_set_new(host, "chosen", w->on ? emit_text_str(&chosen) : json_false());
}

/* A launch need not clear what points fall on, as chunks go onto it. */
static void add_onto(json_t *out, const emit_header *h) {
  const bool onto = emit_combines(h) && json_array_size(json_object_get(out, "starts")) > 0;
  json_object_set_new(out, "onto", json_boolean(onto));
  json_object_set_new(out, "when_clear", json_string(onto ? "clear && " : ""));
}

void emit_add_host(json_t *out, const emit_header *h) {
  add_onto(out, h);
  if (h->sig.chunk_dim < 0) {
    json_object_set_new(out, "host", json_false());
    return;
  }
  sct_str plan = {0}, options = {0};
  emit_unused_name(&plan, &h->sig, "plan");
  emit_unused_name(&options, &h->sig, "options");
  json_t *host = json_pack(
      "{s:o, s:i, s:I, s:I, s:o, s:o, s:o}", "extent",
      emit_textf("n_%s", h->sig.extents[h->sig.chunk_dim].name), "n_arrays", h->sig.n_operands,
      "before", (json_int_t)h->sig.halo_before, "after", (json_int_t)h->sig.halo_after, "plan",
      emit_text_str(&plan), "options", emit_text_str(&options), "places",
      places(h, json_object_get(out, "operands"), json_object_get(out, "parameters")));
  add_parameters(host, out, h);
  add_arrays(host, h);
  add_device(host, h);
  add_starts(host, h);
  add_ways(host, &h->ways);
  json_object_set_new(out, "host", host);
}
