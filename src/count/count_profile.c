/* count_profile - a row of counters as a profile: what each line does by each kind of access, what
 * is resident at once, and what there is to mend (count_issues.c). */
#include "count/count_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *sct_access_name(sct_access_kind kind) {
  static const char *const names[] = {"loads", "stores", "atomics"};
  return names[kind];
}

static sct_access_kind kind_of(const sct_ptx_inst_counters *inst) {
  return count_is(inst, "st")                             ? SCT_ACCESS_STORE
         : count_is(inst, "ato") || count_is(inst, "red") ? SCT_ACCESS_ATOMIC
                                                          : SCT_ACCESS_LOAD;
}

/* Do they touch about as many sectors, or wavefronts, a request? An index and what it points to
 * stand in one line. */
static bool are_alike(const sct_profile_access *a, const sct_ptx_inst_counters *inst) {
  const double x = a->is_shared ? sct_ratio(a->shared.wavefronts, a->shared.requests)
                                : sct_ratio(a->global.sectors, a->global.requests);
  const double y = a->is_shared ? sct_ratio(inst->shared.wavefronts, inst->shared.requests)
                                : sct_ratio(inst->global.sectors, inst->global.requests);
  return fabs(x - y) <= 0.25 * fmin(x, y) + 0.5;
}

static sct_profile_access *find(sct_profile *p, const sct_ptx_inst_counters *inst,
                                sct_access_kind kind, bool is_shared) {
  for (int k = 0; k < p->n_accesses; k++) {
    sct_profile_access *a = &p->accesses[k];
    if (a->line == inst->line && a->kind == kind && a->is_shared == is_shared &&
        strcmp(a->file, inst->file) == 0 && are_alike(a, inst)) {
      return a;
    }
  }
  sct_profile_access *a = &p->accesses[p->n_accesses++];
  *a = (sct_profile_access){
      .file = inst->file, .line = inst->line, .kind = kind, .is_shared = is_shared};
  return a;
}

#define MOST_COVERED 64 /* bytes of a stride that are looked at one by one */

/* Bytes between neighbouring lanes, if nearly all pairs have them: rows of a block end somewhere.
 * 0: there is no such number, or it is 0. */
static double stride_of(const sct_ptx_request *r) {
  int64_t step[31], last = 0;
  int n = 0, most = 0;
  double found = 0.0;
  for (int lane = 0, before = -1; lane < SCT_COUNT(r->address); lane++) {
    if (r->mask >> lane & 1) {
      const int64_t at = (int64_t)r->address[lane];
      if (before == lane - 1 && lane > 0) {
        step[n++] = at - last;
      }
      last = at;
      before = lane;
    }
  }
  for (int k = 0; k < n; k++) {
    int same = 0;
    for (int o = 0; o < n; o++) {
      same += step[o] == step[k];
    }
    if (same > most) {
      most = same;
      found = fabs((double)step[k]);
    }
  }
  return n >= 3 && 4 * most >= 3 * n ? found : 0.0;
}

static uint64_t first_address(const sct_ptx_request *r) {
  return r->address[r->mask ? __builtin_ctz(r->mask) : 0];
}

/* Bytes of the stride that this instruction takes. */
static void cover(sct_profile_access *a, const sct_ptx_request *r) {
  const int64_t stride = (int64_t)a->stride;
  if (stride < 1 || stride > MOST_COVERED || !r || stride_of(r) != a->stride) {
    return;
  }
  const uint64_t at = first_address(r);
  a->lowest = a->covered == 0 || at < a->lowest ? at : a->lowest;
  for (int k = 0; k < r->width; k++) {
    a->covered |= UINT64_C(1) << (at + (uint64_t)k) % (uint64_t)stride;
  }
}

/* requests: of the instruction; NULL: not known. */
static void add(sct_profile *p, const sct_ptx_inst_counters *inst, const sct_ptx_requests *requests,
                bool is_shared, count_origin from) {
  sct_profile_access *a = find(p, inst, kind_of(inst), is_shared);
  const sct_ptx_request *r = !requests ? NULL : is_shared ? &requests->shared : &requests->global;
  if (r && !a->request) {
    a->request = r;
    a->stride = stride_of(r);
  }
  cover(a, r);
  a->loaded = a->loaded || from.loaded;
  a->library = a->library || from.library;
  a->executed += inst->executed;
  a->lanes += inst->lanes;
  if (is_shared) {
    sct_ptx_shared_add(&a->shared, &inst->shared);
  } else {
    sct_ptx_global_add(&a->global, &inst->global);
  }
}

static int64_t excess_of(const sct_profile_access *a) {
  return a->is_shared ? a->shared.wavefronts - a->shared.wavefronts_ideal
                      : a->global.sectors - a->global.sectors_ideal;
}

static int64_t size_of(const sct_profile_access *a) {
  return a->is_shared ? a->shared.wavefronts : a->global.sectors;
}

/* Global memory first, worst first. */
static int by_excess(const void *pa, const void *pb) {
  const sct_profile_access *a = pa, *b = pb;
  const int64_t keys[][2] = {{a->is_shared, b->is_shared},
                             {excess_of(b), excess_of(a)},
                             {size_of(b), size_of(a)},
                             {a->line, b->line},
                             {a->kind, b->kind}};
  for (int k = 0; k < SCT_COUNT(keys); k++) {
    if (keys[k][0] != keys[k][1]) {
      return keys[k][0] < keys[k][1] ? -1 : 1;
    }
  }
  return strcmp(a->file, b->file);
}

static void fill_launch(sct_profile *p, const sct_count_row *row, const sct_device_desc *device) {
  p->blocks = p->threads = 1;
  for (int d = 0; d < 3; d++) {
    p->blocks *= row->grid[d];
    p->threads *= row->block[d];
  }
  if (row->registers > 0) {
    p->occupancy = sct_model_occupancy(device, (int)p->threads, row->registers,
                                       row->static_shared_bytes + row->shared_bytes);
  }
  const double at_once = (double)p->occupancy.blocks_sm * device->n_sms;
  p->waves = at_once > 0.0 ? (double)p->blocks / at_once : 0.0;
}

void sct_count_profile(sct_profile *out, const sct_count_row *row, const sct_device_desc *device) {
  *out = (sct_profile){0};
  out->accesses = SCT_ARENA_NEW(&out->arena, sct_profile_access, 2 * row->n_insts + 1);
  count_trace *trace = count_trace_new(row->insts, row->n_insts);
  for (int k = 0; k < row->n_insts; k++) {
    const sct_ptx_inst_counters *inst = &row->insts[k];
    const sct_ptx_requests *requests = row->requests ? &row->requests[k] : NULL;
    const bool is_global = inst->global.requests > 0, is_shared = inst->shared.requests > 0;
    const count_origin from =
        is_global || is_shared ? count_trace_address(trace, k) : (count_origin){0};
    if (is_global) {
      add(out, inst, requests, false, from);
    }
    if (is_shared) {
      add(out, inst, requests, true, from);
    }
    if (count_is(inst, "ld.local")) {
      out->local_loads += inst->executed;
      out->local_loaded += count_trace_address(trace, k).loaded ? inst->executed : 0;
    }
  }
  count_trace_free(trace);
  qsort(out->accesses, (size_t)out->n_accesses, sizeof *out->accesses, by_excess);
  fill_launch(out, row, device);
  count_find_speed(out, row, device);
  count_find_issues(out, row, device);
}

void sct_profile_free(sct_profile *profile) {
  sct_arena_free(&profile->arena);
  *profile = (sct_profile){0};
}
