/* Defaults of NAME_host: the fastest ways of those that `transfer` timed, as no model knows the
 * host's caches. */
#include "emit/emit_internal.h"
#include "measure/measure.h"

#include <string.h>

#define MOST_MIB 1024

static int number(const json_t *axes, const char *key, int most) {
  const json_int_t value = json_integer_value(json_object_get(axes, key));
  return value >= 1 && value <= most ? (int)value : 0;
}

/* Finds the fastest way of NAME_host by one device for page-locked arrays, and the fastest through
 * a ring, among those that were timed. false: there are none. */
static bool take_ways(emit_ways *out, const sct_row_result *rows, int n) {
  double locked_ns = 0, ring_ns = 0;
  for (int k = 0; k < n; k++) {
    SCT_OWNED_PTR(json_t) axes = sct_json_load(rows[k].candidate.axes);
    const char *const memory = json_string_value(json_object_get(axes, "memory"));
    const int mib = number(axes, "chunk_mib", MOST_MIB);
    const int streams = number(axes, "streams", SCT_MAX_STREAMS);
    const int threads = number(axes, "threads", SCT_MAX_HOST_THREADS);
    const double ns = rows[k].outcome.times.median_ns; /* 0: not timed */
    if (!memory || mib == 0 || streams == 0 || ns <= 0 || number(axes, "devices", 2) > 1 ||
        !sct_row_is_ok(&rows[k].outcome)) {
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
  if (!h->sig.host) {
    return SCT_OK;
  }
  const char *text =
      sct_arena_printf(&h->arena, SCT_HOST_PROBLEM, h->problem->spec_hash, (unsigned)h->sig.stays);
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
