/* A store's results in place of a GPU: candidates are found by the hash of their source and launch,
 * what compiling, verifying and timing gave is read, and times are drawn from the samples (module
 * measure). Neither a GPU nor NVRTC is used. The session stores nothing: a store has what devices
 * gave, and a replay can be had again from recording and seed. */
#include "tune/tune_device.h"
#include "json/json.h"

#include <stdlib.h>
#include <string.h>

typedef struct entry {
  const char *hash; /* of the candidate; hex */
  const sct_row_result *row;
} entry;

/* What was recorded at one size. */
typedef struct recorded_size {
  sct_row_result *rows;
  int n;
  entry *by_hash; /* [n] sorted */
  double ceiling_bytes_s, bytes;
} recorded_size;

struct tune_replay {
  sct_arena arena; /* of rows */
  sct_str file;
  sct_store *store;
  sct_row_device *devices;
  int n_devices;
  const sct_row_device *device; /* one of them */
  sct_device_desc desc;
  sct_recording recording;
  const sct_size *sizes; /* the spec's; NULL before sct_tune_replay_load() */
  int n_sizes;
  recorded_size *size; /* [n_sizes] */
};

/* ---- which device ---- */

/* Did it give times? */
static sct_status has_times(bool *out, tune_replay *r, sct_id device, sct_error *err) {
  sct_row_problem *problems = NULL;
  int n = 0;
  SCT_TRY(sct_store_problems(r->store, &r->arena, &problems, &n, err));
  *out = false;
  for (int p = 0; p < n && !*out; p++) {
    sct_row_run *runs = NULL;
    int n_runs = 0;
    SCT_TRY(sct_store_runs(r->store, &r->arena, problems[p].id, device, &runs, &n_runs, err));
    for (int k = 0; k < n_runs; k++) {
      *out = *out || runs[k].ceiling_bytes_s > 0;
    }
  }
  return SCT_OK;
}

/* `wanted` NULL: any. */
static bool is_wanted(const sct_row_device *d, const char *wanted) {
  return !wanted || strcmp(d->device_id, wanted) == 0 || strcmp(d->name, wanted) == 0 ||
         (d->uuid[0] != '\0' && strcmp(d->uuid, wanted) == 0) ||
         (strlen(wanted) >= 4 && sct_has_prefix(d->key, wanted));
}

static sct_status choose_device(tune_replay *r, const char *wanted, sct_error *err) {
  SCT_SCOPED(sct_str) list = {0};
  int n = 0;
  for (int k = 0; k < r->n_devices; k++) {
    const sct_row_device *d = &r->devices[k];
    bool timed = false;
    const sct_status status = has_times(&timed, r, d->id, err);
    if (status != SCT_OK) {
      return status;
    }
    if (!timed || !is_wanted(d, wanted)) {
      continue;
    }
    sct_str_printf(&list, "%s%s (%s, driver %s): #%.12s", n > 0 ? "; " : "", d->name, d->device_id,
                   d->driver, d->key);
    r->device = d;
    n++;
  }
  sct_status status = SCT_OK;
  if (n > 1) {
    status = sct_fail(err, SCT_EUSAGE,
                      "device 'replay:%s': the recording has several devices; say which: %s",
                      sct_str_c(&r->file), sct_str_c(&list));
  } else if (n == 0) {
    status = sct_fail(err, SCT_ENODEVICE,
                      "device 'replay:%s%s%s': the store has no device%s that gave times",
                      sct_str_c(&r->file), wanted ? "#" : "", wanted ? wanted : "",
                      wanted ? " of that name" : "");
  }
  return status;
}

/* ---- what the device was ---- */

static int64_t integer_of(const json_t *doc, const char *key, int64_t otherwise) {
  const json_t *value = json_object_get(doc, key);
  return json_is_integer(value) ? json_integer_value(value) : otherwise;
}

static void describe(sct_device_desc *d, const sct_row_device *row, const char *description) {
  json_t *doc = sct_json_load(description);
  const int n_sms = (int)integer_of(doc, "n_sms", 0);
  *d = (sct_device_desc){.regs_thread = 255,
                         .regs_unit = 256,
                         .regs_sm = 65536,
                         .threads_block = 1024,
                         .smem_block_bytes = 49152,
                         .smem_block_optin_bytes = 49152,
                         .smem_sm_bytes = 65536};
  /* what that has of limits stands in for those that a store does not keep */
  sct_device_desc wanted = {.cc_major = row->cc_major, .cc_minor = row->cc_minor, .n_sms = n_sms};
  snprintf(wanted.name, sizeof wanted.name, "%s", row->name);
  (void)sct_tune_nearest_device(d, &wanted);
  snprintf(d->id, sizeof d->id, "replay:%.16s", row->device_id);
  snprintf(d->name, sizeof d->name, "replay of %.80s", row->name);
  snprintf(d->driver, sizeof d->driver, "%s", row->driver);
  d->uuid[0] = '\0';
  d->is_virtual = d->counting_only = false;
  d->cc_major = row->cc_major;
  d->cc_minor = row->cc_minor;
  d->n_sms = n_sms;
#define SCT_SMALL(name)  d->name = (int)integer_of(doc, #name, d->name);
#define SCT_NUMBER(name) d->name = integer_of(doc, #name, d->name);
#define SCT_RATE(name)   d->name = json_number_value(json_object_get(doc, #name));
#define SCT_KEPT_IN_STORE
#include "spec/spec_device.def"
#undef SCT_KEPT_IN_STORE
  json_decref(doc);
}

/* ---- asking it ---- */

static int by_hash(const void *a, const void *b) {
  return strcmp(((const entry *)a)->hash, ((const entry *)b)->hash);
}

static const sct_row_result *find_row(const tune_replay *r, const sct_kernel_code *code, int size) {
  char hex[SCT_HASH_HEX];
  const entry key = {.hash = sct_hash_hex(hex, code->hash)};
  const recorded_size *z = &r->size[size];
  const entry *found =
      z->n > 0 ? bsearch(&key, z->by_hash, (size_t)z->n, sizeof key, by_hash) : NULL;
  return found ? found->row : NULL;
}

/* What holds at every size: a candidate that ran at one is no failure. */
static const sct_row_result *find_any(const tune_replay *r, const sct_kernel_code *code) {
  const sct_row_result *any = NULL;
  for (int z = 0; z < r->n_sizes; z++) {
    const sct_row_result *row = find_row(r, code, z);
    any = row && (!any || (sct_row_is_ok(&row->outcome) && !sct_row_is_ok(&any->outcome))) ? row
                                                                                           : any;
  }
  return any;
}

static const sct_row_outcome *find(void *ctx, const sct_kernel_code *code, const sct_size *size) {
  const tune_replay *r = ctx;
  const sct_row_result *row = size ? find_row(r, code, (int)(size - r->sizes)) : find_any(r, code);
  return row ? &row->outcome : NULL;
}

static double ceiling(void *ctx, int64_t bytes) {
  const tune_replay *r = ctx;
  for (int z = 0; z < r->n_sizes; z++) {
    if ((int64_t)r->size[z].bytes == bytes && r->size[z].ceiling_bytes_s > 0) {
      return r->size[z].ceiling_bytes_s;
    }
  }
  return 0.0;
}

/* ---- opening ---- */

static sct_status open_file(tune_replay *r, sct_error *err) {
  const char *file = sct_str_c(&r->file);
  sct_error why = {0};
  if (!sct_file_exists(file)) {
    return sct_fail(err, SCT_EIO, "device 'replay:%s': there is no such file", file);
  }
  const sct_status status = sct_store_open(&r->store, file, true, &why);
  if (status == SCT_EDATA) {
    return sct_fail(err, status,
                    "device 'replay:%s': %s; a file of sweeps (`scripts/bench search`) has neither "
                    "sources nor samples; an export becomes a store by `sectile import %s --store "
                    "FILE`",
                    file, why.text, file);
  }
  if (status != SCT_OK) {
    return sct_fail(err, status, "device 'replay:%s': %s", file, why.text);
  }
  return sct_store_devices(r->store, &r->arena, &r->devices, &r->n_devices, err);
}

sct_status sct_tune_replay_open(tune_replay **out, const char *name, sct_error *err) {
  tune_replay *r = sct_alloc(sizeof *r);
  const char *wanted = strrchr(name, '#');
  sct_str_append_n(&r->file, name, wanted ? (size_t)(wanted - name) : strlen(name));
  sct_status status = open_file(r, err);
  SCT_THEN(choose_device(r, wanted ? wanted + 1 : NULL, err));
  if (status != SCT_OK) {
    sct_tune_replay_free(r);
    return status;
  }
  describe(&r->desc, r->device, r->device->description);
  r->recording = (sct_recording){.ctx = r, .device = &r->desc, .find = find, .ceiling = ceiling};
  *out = r;
  return SCT_OK;
}

void sct_tune_replay_free(tune_replay *r) {
  if (!r) {
    return;
  }
  for (int z = 0; r->size && z < r->n_sizes; z++) {
    sct_free(r->size[z].by_hash);
  }
  sct_free(r->size);
  sct_arena_free(&r->arena);
  if (r->store) {
    sct_store_close(r->store);
  }
  sct_str_free(&r->file);
  sct_free(r);
}

const sct_recording *sct_tune_replay_recording(const tune_replay *r) {
  return &r->recording;
}

/* ---- the current kernel ---- */

static sct_status load_size(tune_replay *r, recorded_size *z, const sct_row_run *run,
                            sct_error *err) {
  SCT_TRY(sct_store_results(r->store, &r->arena, run->id, true, &z->rows, &z->n, err));
  z->ceiling_bytes_s = run->ceiling_bytes_s;
  z->bytes = run->read_bytes + run->write_bytes;
  z->by_hash = sct_alloc(sizeof *z->by_hash * (size_t)(z->n + 1));
  for (int k = 0; k < z->n; k++) {
    z->by_hash[k] = (entry){.hash = z->rows[k].candidate.source_hash, .row = &z->rows[k]};
  }
  qsort(z->by_hash, (size_t)z->n, sizeof *z->by_hash, by_hash);
  return SCT_OK;
}

static sct_status load_runs(tune_replay *r, sct_id problem, sct_error *err) {
  sct_row_run *runs = NULL;
  int n = 0;
  SCT_TRY(sct_store_runs(r->store, &r->arena, problem, r->device->id, &runs, &n, err));
  sct_status status = SCT_OK;
  for (int k = 0; k < n; k++) {
    for (int z = 0; status == SCT_OK && z < r->n_sizes; z++) {
      if (strcmp(runs[k].size_label, r->sizes[z].label) == 0 && !r->size[z].rows) {
        status = load_size(r, &r->size[z], &runs[k], err);
      }
    }
  }
  return status;
}

static sct_status nothing_recorded(const tune_replay *r, const char *name, const char *what,
                                   sct_error *err) {
  return sct_fail(err, SCT_EDATA, "device 'replay:%s': the recording on %s has %s of '%s'",
                  sct_str_c(&r->file), r->device->name, what, name);
}

sct_status sct_tune_replay_load(tune_replay *r, const sct_tune_candidates *cands, sct_error *err) {
  char hex[SCT_HASH_HEX];
  sct_row_problem *problems = NULL;
  int n = 0, n_known = 0;
  r->sizes = cands->spec.sizes;
  r->n_sizes = cands->spec.n_sizes;
  r->size = sct_alloc(sizeof *r->size * (size_t)(r->n_sizes + 1));
  SCT_TRY(sct_store_problem_by_hash(r->store, &r->arena, sct_hash_hex(hex, cands->spec.hash),
                                    &problems, &n, err));
  const sct_id problem = n > 0 ? problems[0].id : 0;
  if (n == 0) {
    return nothing_recorded(r, cands->spec.name, "nothing of this version of the spec", err);
  }
  SCT_TRY(load_runs(r, problem, err));
  for (int k = 0; k < cands->n_items; k++) {
    n_known += cands->items[k].code.source && find_any(r, &cands->items[k].code);
  }
  if (n_known == 0) {
    return nothing_recorded(r, cands->spec.name,
                            "none of today's candidates (other templates or strategies made it)",
                            err);
  }
  return SCT_OK;
}

/* What compiling would give, as it was stored. */
void sct_tune_replay_compiled(const tune_replay *r, sct_tune_candidates *cands, int item) {
  sct_tune_item *it = &cands->items[item];
  const sct_row_result *row = find_any(r, &it->code);
  if (!row) {
    it->outcome = SCT_OUT_NOT_RECORDED;
    it->detail = sct_arena_strdup(&cands->arena, "the recording has no candidate with this source");
    return;
  }
  const sct_row_candidate *c = &row->candidate;
  it->compiled =
      (sct_compiled){.ok = true,
                     .code_hash = it->code.hash, /* no two run alike as far as we know */
                     .registers = c->registers,
                     .spill_store_bytes = c->spill_bytes,
                     .static_shared_bytes = c->shared_bytes - (int)it->code.shared_bytes};
  const sct_outcome_kind kind = sct_outcome_named(row->outcome.outcome);
  if (kind != SCT_OUT_OK && kind <= SCT_OUT_TOO_LARGE) { /* the others only show when it is run */
    it->outcome = kind;
    it->detail = sct_arena_strdup(&cands->arena, row->outcome.detail);
  } else if (row->outcome.sectors_ld >= 0 && !row->outcome.counts_exact) {
    it->approximate = sct_arena_strdup(&cands->arena, "they were recorded as approximate");
  }
}

/* ---- how good the choice is ---- */

const char *sct_tune_replay_best(const tune_replay *r, const sct_tune_item *winner, int size,
                                 bool select_any, sct_arena *arena) {
  const recorded_size *z = &r->size[size];
  const sct_row_result *best = NULL, *mine = NULL;
  int n = 0;
  for (int k = 0; k < z->n; k++) {
    const sct_row_result *row = &z->rows[k];
    const double ns = row->outcome.times.median_ns;
    const bool timed = sct_row_is_ok(&row->outcome) && ns > 0;
    const bool competes = timed && (row->outcome.how.coalesced || select_any);
    n += timed;
    best = competes && (!best || ns < best->outcome.times.median_ns) ? row : best;
  }
  if (winner) {
    mine = find_row(r, &winner->code, size);
  }
  if (!best || !mine || !(mine->outcome.times.median_ns > 0)) {
    return NULL;
  }
  char time[32];
  return sct_arena_printf(
      arena,
      "of %d recorded with a time '%s' has the least median, %s; that of the winner is "
      "%.3f times as long",
      n, best->candidate.label, sct_format_ns(time, best->outcome.times.median_ns),
      mine->outcome.times.median_ns / best->outcome.times.median_ns);
}
