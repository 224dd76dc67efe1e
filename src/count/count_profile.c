/* count_profile - a row of counters as a profile: what each line does by each kind of access, what
 * is resident at once, and what there is to mend (count_issues.c). */
#include "count/count_internal.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *sct_access_name(sct_access_kind kind) {
  static const char *const names[] = {"loads", "stores", "atomics"};
  return names[kind];
}

/* The kind of access of an instruction as written, after its guard: "@%p1 ld.global.f32 ...". */
static sct_access_kind kind_of(const sct_ptx_inst_counters *inst) {
  const char *at = inst->text, *const end = at + inst->text_len;
  if (at < end && *at == '@') {
    while (at < end && !isspace((unsigned char)*at)) {
      at++;
    }
    while (at < end && isspace((unsigned char)*at)) {
      at++;
    }
  }
  const size_t n = (size_t)(end - at);
  return n >= 2 && strncmp(at, "st", 2) == 0                                    ? SCT_ACCESS_STORE
         : n >= 3 && (strncmp(at, "ato", 3) == 0 || strncmp(at, "red", 3) == 0) ? SCT_ACCESS_ATOMIC
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

/* requests: of the instruction; NULL: not known. */
static void add(sct_profile *p, const sct_ptx_inst_counters *inst, const sct_ptx_requests *requests,
                bool is_shared) {
  sct_profile_access *a = find(p, inst, kind_of(inst), is_shared);
  if (requests && !a->request) {
    a->request = is_shared ? &requests->shared : &requests->global;
  }
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
  for (int k = 0; k < row->n_insts; k++) {
    const sct_ptx_requests *requests = row->requests ? &row->requests[k] : NULL;
    if (row->insts[k].global.requests > 0) {
      add(out, &row->insts[k], requests, false);
    }
    if (row->insts[k].shared.requests > 0) {
      add(out, &row->insts[k], requests, true);
    }
  }
  qsort(out->accesses, (size_t)out->n_accesses, sizeof *out->accesses, by_excess);
  fill_launch(out, row, device);
  count_find_speed(out, row, device);
  count_find_issues(out, row, device);
}

void sct_profile_free(sct_profile *profile) {
  sct_arena_free(&profile->arena);
  *profile = (sct_profile){0};
}
