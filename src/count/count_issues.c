/* count_issues - what there is to mend of a profiled launch: facts of every access of a line and of
 * the launch, held to the rules that `check` and `tune` have too (model_rules.def). */
#include "count/count_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LANES 32

#define LINE_SECTORS 4.0
#define SECTOR_BYTES 32.0

typedef struct finder {
  sct_profile *p;
  const sct_count_row *row;
  const sct_device_desc *device;
  sct_ptx_global global; /* of the whole kernel */
  sct_ptx_shared shared;
  double scale;       /* of the launch, by blocks that ran */
  double excess_l2;   /* sectors of L2 that loads would not read if all of them were ideal */
  double excess_read; /* bytes of DRAM, the same */
  double excess_written;
  int64_t loads_excess; /* sectors of loads above the ideal */
} finder;

static void advise(finder *f, sct_scope scope, sct_facts *facts, const char *file, int line) {
  sct_advice found[SCT_N_RULES];
  facts->device = f->device;
  if (f->row->has_demand && f->p->speed.known) {
    facts->demand = &f->row->demand;
    facts->launch_ns = f->p->speed.predicted.ns;
    facts->limit = f->p->speed.limit;
  }
  const int n = sct_model_advise(found, scope, facts, &f->p->arena);
  for (int k = 0; k < n; k++) {
    f->p->issues[f->p->n_issues++] = (sct_issue){.advice = found[k], .file = file, .line = line};
  }
}

/* ---- accesses ---- */

/* What of the caches' traffic is excess: loads find again in L1 what they ask for too often, so no
 * more than what L2 was asked for above the ideal. */
static void share_traffic(finder *f) {
  const sct_ptx_counters *c = &f->row->counters;
  const sct_ptx_traffic *t = &f->row->traffic;
  const double ideal = (double)(c->load.sectors_ideal + c->atomics.sectors + c->bulk_load.sectors);
  const double stored = (double)(c->store.sectors_ideal + c->atomics.sectors);
  f->loads_excess = c->load.sectors - c->load.sectors_ideal;
  if (t->known) {
    f->excess_l2 = fmax(0.0, (double)t->l2_reads - ideal);
    f->excess_read = SECTOR_BYTES * fmax(0.0, (double)t->dram_read - ideal);
    f->excess_written = SECTOR_BYTES * fmax(0.0, (double)t->dram_written - stored);
  } else {
    f->excess_l2 = (double)f->loads_excess;
  }
}

static sct_count count_of(const sct_ptx_global *g, double less_sectors, double less_tags) {
  return (sct_count){.requests = g->requests,
                     .sectors = g->sectors - (int64_t)less_sectors,
                     .tags = g->tags - (int64_t)less_tags,
                     .distinct_bytes = g->distinct_bytes};
}

/* The launch without the sectors of an access above the ideal. */
static sct_demand without_excess(const finder *f, const sct_profile_access *a) {
  const sct_ptx_counters *c = &f->row->counters;
  const sct_ptx_global *g = &a->global;
  const double excess = (double)(g->sectors - g->sectors_ideal);
  const double least = fmax((double)g->requests, (double)g->sectors_ideal / LINE_SECTORS);
  const double tags = fmax(0.0, (double)g->tags - least);
  sct_demand cut = {.sm_lines = tags}, out = f->row->demand;
  if (a->kind == SCT_ACCESS_LOAD) {
    const double share = f->loads_excess > 0 ? excess / (double)f->loads_excess : 0.0;
    cut.l2_sectors = cut.sm_sectors = share * f->excess_l2;
    cut.dram_bytes = share * f->excess_read;
  } else {
    sct_ptx_global all = c->store;
    sct_ptx_global_add(&all, &c->bulk_store);
    const sct_count now = count_of(&all, 0.0, 0.0), then = count_of(&all, excess, tags);
    const double most = (double)(all.sectors - all.sectors_ideal);
    cut.sm_sectors = excess;
    cut.l2_sectors = a->kind == SCT_ACCESS_ATOMIC
                         ? 0.0
                         : sct_model_stored_sectors(&now) - sct_model_stored_sectors(&then);
    cut.dram_bytes = most > 0.0 ? fmin(1.0, excess / most) * f->excess_written : 0.0;
  }
  count_add_demand(&out, &cut, -f->scale);
  return out;
}

/* Does a thread take all of a stride that a vector has, from where one may begin? A loop that is
 * not unrolled takes it with one instruction. */
static bool is_vector(const finder *f, const sct_profile_access *a) {
  const int64_t stride = (int64_t)a->stride;
  const sct_profile *p = f->p;
  const double warps = (double)(f->row->blocks_run > 0 ? f->row->blocks_run : p->blocks) *
                       (double)((p->threads + LANES - 1) / LANES);
  const double width = sct_ratio(a->global.bytes, a->lanes);
  const double taken = width * (double)a->executed / fmax(1.0, warps);
  const bool all = stride > 0 && stride < 64 && a->covered == (UINT64_C(1) << stride) - 1;
  return stride >= 2 && stride <= 16 && (stride & (stride - 1)) == 0 &&
         a->lowest % (uint64_t)stride == 0 && (all || taken >= (double)stride) &&
         width < (double)stride;
}

static void find_in_global(finder *f, const sct_profile_access *a) {
  const sct_ptx_global *g = &a->global;
  const sct_demand mended = without_excess(f, a);
  sct_facts facts = {.access = sct_access_name(a->kind),
                     .is_load = a->kind == SCT_ACCESS_LOAD,
                     .is_atomic = a->kind == SCT_ACCESS_ATOMIC,
                     .width = sct_ratio(g->bytes, a->lanes),
                     .lanes = sct_ratio(a->lanes, a->executed),
                     .each = sct_ratio(g->sectors, g->requests),
                     .ideal = sct_ratio(g->sectors_ideal, g->requests),
                     .lines = sct_ratio(g->tags, g->requests),
                     .same = sct_ratio(g->bytes, g->distinct_bytes),
                     .excess = sct_ratio(g->sectors - g->sectors_ideal, f->global.sectors),
                     .of_requests = sct_ratio(g->requests, f->global.requests),
                     .stride = a->stride,
                     .vector = is_vector(f, a),
                     .loaded = a->loaded,
                     .library = a->library,
                     .requests = f->scale * (double)g->requests,
                     .mended = &mended};
  advise(f, SCT_SCOPE_GLOBAL, &facts, a->file, a->line);
}

static void find_in_shared(finder *f, const sct_profile_access *a) {
  const sct_ptx_shared *s = &a->shared;
  const sct_demand cut = {.wavefronts = (double)(s->wavefronts - s->wavefronts_ideal)};
  sct_demand mended = f->row->demand;
  count_add_demand(&mended, &cut, -f->scale);
  sct_facts facts = {.access = sct_access_name(a->kind),
                     .is_load = a->kind == SCT_ACCESS_LOAD,
                     .is_atomic = a->kind == SCT_ACCESS_ATOMIC,
                     .width = sct_ratio(s->bytes, a->lanes),
                     .lanes = sct_ratio(a->lanes, a->executed),
                     .each = sct_ratio(s->wavefronts, s->requests),
                     .ideal = sct_ratio(s->wavefronts_ideal, s->requests),
                     .excess = sct_ratio(s->wavefronts - s->wavefronts_ideal, f->shared.wavefronts),
                     .stride = a->stride,
                     .loaded = a->loaded,
                     .requests = f->scale * (double)s->requests,
                     .mended = &mended};
  advise(f, SCT_SCOPE_SHARED, &facts, a->file, a->line);
}

/* ---- the launch ---- */

/* Share of the time that would not pass if loads were never waited for. */
static double waiting_of(const sct_speed *s) {
  double next = 0.0;
  for (int k = 0; k < SCT_N_LIMITS && s->known; k++) {
    const bool counts = k != (int)SCT_LIMIT_INFLIGHT && k != (int)SCT_LIMIT_LAUNCH;
    next = counts ? fmax(next, s->predicted.part_ns[k]) : next;
  }
  return s->known && s->limit == SCT_LIMIT_INFLIGHT ? 1.0 - next / s->ns : 0.0;
}

/* Share of the time that would not pass if blocks started at once. */
static double starting_of(const sct_speed *s) {
  const double start_ns = s->predicted.part_ns[SCT_LIMIT_LAUNCH];
  return s->known && start_ns > s->ns ? (start_ns - s->ns) / s->predicted.ns : 0.0;
}

/* The share of integer instructions in all, where instructions limit the kernel; else 0. */
static double integers_of(const sct_speed *s, const sct_executed *machine) {
  const int64_t n = machine->n[SCT_PIPE_INT] + machine->n[SCT_PIPE_IMUL];
  const bool limits = s->known && s->limit >= SCT_LIMIT_INT && s->limit <= SCT_LIMIT_ISSUE;
  return limits ? sct_ratio(n, machine->n[SCT_PIPE_ISSUE]) : 0.0;
}

/* The branch that splits most warps is where divergence is mended. */
static void place_divergence(finder *f, int first) {
  const sct_ptx_inst_counters *worst = NULL;
  for (int k = 0; k < f->row->n_insts; k++) {
    const sct_ptx_inst_counters *inst = &f->row->insts[k];
    worst = inst->divergent > (worst ? worst->divergent : 0) ? inst : worst;
  }
  for (int k = first; k < f->p->n_issues && worst; k++) {
    if (strcmp(f->p->issues[k].advice.id, "divergence") == 0) {
      f->p->issues[k].file = worst->file;
      f->p->issues[k].line = worst->line;
    }
  }
}

static double constant_time_of(const sct_speed *s) {
  return s->known && s->ns > 0.0 ? s->predicted.part_ns[SCT_LIMIT_CONSTANT] / s->ns : 0.0;
}

/* What instructions of some kinds come to, by warps that execute them. */
typedef struct kinds {
  double divisions, products, sums, conversions, swapped;
} kinds;

static kinds kinds_of(const sct_count_row *row) {
  kinds out = {0};
  for (int k = 0; k < row->n_insts; k++) {
    const sct_ptx_inst_counters *inst = &row->insts[k];
    const double n = (double)inst->executed;
    const bool is_float = n > 0.0 && count_has(inst, ".f32");
    out.divisions += (count_is(inst, "div.") || count_is(inst, "rem.")) &&
                             (count_has(inst, ".u32") || count_has(inst, ".s32"))
                         ? n
                         : 0.0;
    out.products += is_float && count_is(inst, "mul.") ? n : 0.0;
    out.sums += is_float && (count_is(inst, "add.") || count_is(inst, "sub.")) ? n : 0.0;
    out.conversions += is_float && count_is(inst, "cvt.") && count_has(inst, ".f64") ? n : 0.0;
    out.swapped += count_is_swap(inst) ? (double)inst->global.requests : 0.0;
  }
  return out;
}

static void find_in_launch(finder *f) {
  const sct_count_row *row = f->row;
  const sct_ptx_counters *c = &row->counters;
  const int first = f->p->n_issues;
  const kinds of = kinds_of(row);
  const double issued = (double)c->machine.n[SCT_PIPE_ISSUE];
  const double local = row->local.sm_lines / f->scale;
  const double requests = fmax(local, (double)c->local_requests);
  sct_demand unspilled = row->demand;
  count_add_demand(&unspilled, &row->local, -1.0);
  sct_facts facts = {
      .threads = f->p->threads,
      .blocks = f->p->blocks,
      .waves = f->p->waves,
      .fit = f->p->occupancy,
      .active_lanes = sct_ratio(c->lane_instructions, c->warp_instructions),
      .branches = c->branches,
      .divergent = c->divergent_branches,
      .barriers = c->barriers,
      .local_requests = c->local_requests,
      .local_loaded = f->p->local_loads > 0 && 2 * f->p->local_loaded >= f->p->local_loads,
      .local_share = requests > 0.0 ? requests / (requests + (double)f->global.requests) : 0.0,
      .spilled_bytes = row->spill_loads + row->spill_stores,
      .constant_words = sct_ratio(c->constant_words, c->constant_requests),
      .constant_time = constant_time_of(&f->p->speed),
      .flight_bytes = f->p->speed.flight_bytes,
      .waiting = waiting_of(&f->p->speed),
      .starting = starting_of(&f->p->speed),
      .integers = integers_of(&f->p->speed, &c->machine),
      .divisions = f->scale * of.divisions,
      .converted = f->scale * of.conversions,
      .swapped = of.swapped / fmax(1.0, (double)c->atomics.requests),
      .fp64 = (double)c->machine.n[SCT_PIPE_FP64] / fmax(1.0, issued),
      .unfused = fmin(of.products, of.sums) / fmax(1.0, issued),
      .fast = row->has_fast ? &row->fast : NULL,
      .unspilled = row->has_demand ? &unspilled : NULL};
  advise(f, SCT_SCOPE_LAUNCH, &facts, "", 0);
  place_divergence(f, first);
}

static int by_gain(const void *pa, const void *pb) {
  const sct_issue *a = pa, *b = pb;
  if (a->advice.gain_ns != b->advice.gain_ns) {
    return a->advice.gain_ns > b->advice.gain_ns ? -1 : 1;
  }
  if (a->advice.gain != b->advice.gain) {
    return a->advice.gain > b->advice.gain ? -1 : 1;
  }
  return a->line != b->line ? (a->line < b->line ? -1 : 1) : strcmp(a->advice.id, b->advice.id);
}

void count_find_issues(sct_profile *p, const sct_count_row *row, const sct_device_desc *device) {
  finder f = {.p = p,
              .row = row,
              .device = device,
              .global = sct_ptx_global_sum(&row->counters),
              .shared = sct_ptx_shared_sum(&row->counters),
              .scale = row->blocks_run > 0
                           ? fmax(1.0, row->passes) * (double)p->blocks / (double)row->blocks_run
                           : 1.0};
  share_traffic(&f);
  p->issues = SCT_ARENA_NEW(&p->arena, sct_issue, p->n_accesses + SCT_N_RULES);
  for (int k = 0; k < p->n_accesses; k++) {
    if (p->accesses[k].is_shared) {
      find_in_shared(&f, &p->accesses[k]);
    } else {
      find_in_global(&f, &p->accesses[k]);
    }
  }
  find_in_launch(&f);
  qsort(p->issues, (size_t)p->n_issues, sizeof *p->issues, by_gain);
}
