/* count_issues - what there is to mend of a profiled launch: facts of every access of a line and of
 * the launch, held to the rules that `check` and `tune` have too (model_rules.def). */
#include "count/count_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LANES 32

typedef struct finder {
  sct_profile *p;
  const sct_count_row *row;
  const sct_device_desc *device;
  sct_ptx_global global; /* of the whole kernel */
  sct_ptx_shared shared;
} finder;

static void advise(finder *f, sct_scope scope, const sct_facts *facts, const char *file, int line) {
  sct_advice found[SCT_N_RULES];
  const int n = sct_model_advise(found, scope, facts, &f->p->arena);
  for (int k = 0; k < n; k++) {
    f->p->issues[f->p->n_issues++] = (sct_issue){.advice = found[k], .file = file, .line = line};
  }
}

static void find_in_global(finder *f, const sct_profile_access *a) {
  const sct_ptx_global *g = &a->global;
  const sct_facts facts = {.access = sct_access_name(a->kind),
                           .is_load = a->kind == SCT_ACCESS_LOAD,
                           .is_atomic = a->kind == SCT_ACCESS_ATOMIC,
                           .width = sct_ratio(g->bytes, a->lanes),
                           .lanes = sct_ratio(a->lanes, a->executed),
                           .each = sct_ratio(g->sectors, g->requests),
                           .ideal = sct_ratio(g->sectors_ideal, g->requests),
                           .lines = sct_ratio(g->tags, g->requests),
                           .same = sct_ratio(g->bytes, g->distinct_bytes),
                           .excess = sct_ratio(g->sectors - g->sectors_ideal, f->global.sectors),
                           .of_requests = sct_ratio(g->requests, f->global.requests)};
  advise(f, SCT_SCOPE_GLOBAL, &facts, a->file, a->line);
}

static void find_in_shared(finder *f, const sct_profile_access *a) {
  const sct_ptx_shared *s = &a->shared;
  const sct_facts facts = {
      .access = sct_access_name(a->kind),
      .is_load = a->kind == SCT_ACCESS_LOAD,
      .is_atomic = a->kind == SCT_ACCESS_ATOMIC,
      .lanes = sct_ratio(a->lanes, a->executed),
      .each = sct_ratio(s->wavefronts, s->requests),
      .ideal = sct_ratio(s->wavefronts_ideal, s->requests),
      .excess = sct_ratio(s->wavefronts - s->wavefronts_ideal, f->shared.wavefronts)};
  advise(f, SCT_SCOPE_SHARED, &facts, a->file, a->line);
}

/* Share of the time that would not pass if loads were never waited for. */
static double waiting_of(const sct_speed *s) {
  double next = 0.0;
  for (int k = 0; k < SCT_N_LIMITS && s->known; k++) {
    const bool counts = k != (int)SCT_LIMIT_INFLIGHT && k != (int)SCT_LIMIT_LAUNCH;
    next = counts ? fmax(next, s->predicted.part_ns[k]) : next;
  }
  return s->known && s->limit == SCT_LIMIT_INFLIGHT ? 1.0 - next / s->ns : 0.0;
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

static void find_in_launch(finder *f) {
  const sct_ptx_counters *c = &f->row->counters;
  const int first = f->p->n_issues;
  const sct_facts facts = {.device = f->device,
                           .threads = f->p->threads,
                           .blocks = f->p->blocks,
                           .waves = f->p->waves,
                           .fit = f->p->occupancy,
                           .active_lanes = sct_ratio(c->lane_instructions, c->warp_instructions),
                           .branches = c->branches,
                           .divergent = c->divergent_branches,
                           .local_requests = c->local_requests,
                           .local_share =
                               sct_ratio(c->local_requests, c->local_requests + f->global.requests),
                           .constant_words = sct_ratio(c->constant_words, c->constant_requests),
                           .constant_time = constant_time_of(&f->p->speed),
                           .flight_bytes = f->p->speed.flight_bytes,
                           .waiting = waiting_of(&f->p->speed),
                           .integers = integers_of(&f->p->speed, &c->machine)};
  advise(f, SCT_SCOPE_LAUNCH, &facts, "", 0);
  place_divergence(f, first);
}

static int by_gain(const void *pa, const void *pb) {
  const sct_issue *a = pa, *b = pb;
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
              .shared = sct_ptx_shared_sum(&row->counters)};
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
