/* count_issues - rules by which a profile names what there is to mend: when one holds, the evidence
 * as a sentence, what to try, and how much it may save at most. A rule looks at one access of one
 * line, or at the whole launch. */
#include "count/count_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Below these nothing is said: a share of what is counted, and excess a request. */
#define LEAST_GAIN   0.01
#define LEAST_FACTOR 1.1
#define LANES        32
#define SECTOR_BYTES 32

typedef struct finder {
  sct_profile *p;
  const sct_count_row *row;
  const sct_device_desc *device;
  sct_ptx_global global; /* of the whole kernel */
  sct_ptx_shared shared;
} finder;

static sct_issue *add(finder *f, const char *id, double gain, const char *of) {
  sct_issue *issue = &f->p->issues[f->p->n_issues++];
  *issue = (sct_issue){.id = id, .file = "", .gain = gain, .of = of, .evidence = "", .advice = ""};
  return issue;
}

static double per(int64_t a, int64_t b) {
  return b > 0 ? (double)a / (double)b : 0.0;
}

static const char *text(finder *f, const char *fmt, ...) SCT_PRINTF(2, 3);
static const char *text(finder *f, const char *fmt, ...) {
  sct_str out = {0};
  SCT_STR_FORMAT(&out, fmt);
  const char *kept = sct_arena_strdup(&f->p->arena, sct_str_c(&out));
  sct_str_free(&out);
  return kept;
}

/* ---- accesses ---- */

/* A request's sectors, those that would do, and the bytes of a thread. */
typedef struct shape {
  double each, ideal, width, lanes;
} shape;

static shape shape_of(const sct_profile_access *a) {
  const sct_ptx_global *g = &a->global;
  return (shape){per(g->sectors, g->requests), per(g->sectors_ideal, g->requests),
                 per(g->bytes, a->lanes), per(a->lanes, a->executed)};
}

static sct_issue *add_access(finder *f, const sct_profile_access *a, const char *id) {
  const double gain = per(a->global.sectors - a->global.sectors_ideal, f->global.sectors);
  sct_issue *issue = add(f, id, gain, "sectors");
  issue->file = a->file;
  issue->line = a->line;
  return issue;
}

/* One sector more than would do: what a warp asks for begins between two. */
static void find_unaligned(finder *f, const sct_profile_access *a) {
  const shape s = shape_of(a);
  sct_issue *issue = add_access(f, a, "unaligned");
  issue->evidence =
      text(f,
           "%s of %.3g bytes a thread begin between sectors of 32 bytes: %.1f sectors "
           "a request where %.1f would do",
           sct_access_name(a->kind), s.width, s.each, s.ideal);
  issue->advice = "let warps begin at multiples of 32 bytes: rows with a pitch, an offset that is "
                  "peeled off first; or read through shared memory";
}

/* Lanes a few bytes apart: a field of records, every n-th element. */
static void find_strided(finder *f, const sct_profile_access *a) {
  const shape s = shape_of(a);
  sct_issue *issue = add_access(f, a, "strided");
  issue->evidence =
      text(f,
           "%s of %.3g bytes a thread, stride about %.0f bytes: %.1f sectors a request "
           "where %.1f would do",
           sct_access_name(a->kind), s.width, s.each * SECTOR_BYTES / s.lanes, s.each, s.ideal);
  issue->advice =
      "let neighbouring threads take neighbouring words: a structure of arrays; the records as one "
      "flat array of words; or records staged in shared memory";
}

/* Every lane in a sector of its own. */
static void find_scattered(finder *f, const sct_profile_access *a) {
  const shape s = shape_of(a);
  sct_issue *issue = add_access(f, a, "scattered");
  issue->evidence =
      text(f,
           "%s of %.3g bytes a thread, 32 bytes or more apart: %.1f sectors a request "
           "where %.1f would do",
           sct_access_name(a->kind), s.width, s.each, s.ideal);
  issue->advice =
      "let threadIdx.x run along the dimension that is contiguous; where the other side "
      "is not, exchange a tile in shared memory; where an index says, sort by it";
}

/* Bytes and halves one by one. */
static void find_narrow(finder *f, const sct_profile_access *a) {
  const shape s = shape_of(a);
  const double gain = per(a->global.requests, f->global.requests) * (1.0 - s.width / 4.0);
  if (s.width >= 4.0 || gain < LEAST_GAIN) {
    return;
  }
  sct_issue *issue = add(f, "narrow", gain, "requests");
  issue->file = a->file;
  issue->line = a->line;
  issue->evidence = text(f, "%s of %.3g bytes a thread: a request asks for %.0f bytes of 128",
                         sct_access_name(a->kind), s.width, s.width * s.lanes);
  issue->advice = "let a thread take several neighbours as one vector, such as uchar4 or float4";
}

static void find_in_global(finder *f, const sct_profile_access *a) {
  const shape s = shape_of(a);
  const double excess = s.each - s.ideal;
  const double gain = per(a->global.sectors - a->global.sectors_ideal, f->global.sectors);
  if (gain < LEAST_GAIN || s.each < LEAST_FACTOR * s.ideal) {
    find_narrow(f, a);
  } else if (excess <= 1.0 && s.ideal >= 2.0) {
    find_unaligned(f, a);
  } else if (s.each < 0.97 * s.lanes) {
    find_strided(f, a);
  } else {
    find_scattered(f, a);
  }
}

static void find_conflicts(finder *f, const sct_profile_access *a) {
  const sct_ptx_shared *s = &a->shared;
  const double gain = per(s->wavefronts - s->wavefronts_ideal, f->shared.wavefronts);
  const double ways = per(s->wavefronts, s->wavefronts_ideal);
  if (gain < LEAST_GAIN || ways < LEAST_FACTOR) {
    return;
  }
  sct_issue *issue = add(f, "conflicts", gain, "wavefronts");
  issue->file = a->file;
  issue->line = a->line;
  issue->evidence =
      text(f,
           "%s of shared memory meet in banks: %.1f wavefronts a request where %.1f would do, a "
           "%.1f-way conflict",
           sct_access_name(a->kind), per(s->wavefronts, s->requests),
           per(s->wavefronts_ideal, s->requests), ways);
  issue->advice = "pad rows by one word, as in tile[32][33]; or swizzle, column ^ row";
}

/* ---- the launch ---- */

static void find_in_block(finder *f) {
  const int64_t rest = f->p->threads % LANES;
  if (rest == 0) {
    return;
  }
  const int64_t whole = (f->p->threads + LANES - 1) / LANES * LANES;
  sct_issue *issue = add(f, "odd block", 1.0 - per(f->p->threads, whole), "lanes");
  issue->evidence = text(f, "a block has %lld threads: its last warp has %lld of 32 lanes",
                         (long long)f->p->threads, (long long)rest);
  issue->advice = "make the block a multiple of 32 threads";
}

static void find_in_grid(finder *f) {
  const int64_t sms = f->device->n_sms;
  const double whole = ceil(f->p->waves);
  if (f->p->blocks < sms) {
    sct_issue *issue = add(f, "few blocks", 1.0 - per(f->p->blocks, sms), "multiprocessors");
    issue->evidence = text(f, "%lld blocks for %lld multiprocessors: the others have nothing to do",
                           (long long)f->p->blocks, (long long)sms);
    issue->advice = "more blocks with less work each, at least two a multiprocessor";
  } else if (f->p->waves > 1.0 && 1.0 - f->p->waves / whole >= 0.1) {
    sct_issue *issue = add(f, "tail", 1.0 - f->p->waves / whole, "time");
    issue->evidence =
        text(f, "%.2f waves of blocks: the last one leaves multiprocessors idle", f->p->waves);
    issue->advice = "smaller blocks, or so many that they come out as whole waves";
  }
}

static void find_occupancy(finder *f) {
  const sct_occupancy *o = &f->p->occupancy;
  if (o->fraction <= 0.0 || o->fraction >= 0.5 || f->p->waves < 1.0) {
    return;
  }
  const bool registers = strcmp(o->limit, "registers") == 0;
  sct_issue *issue = add(f, "occupancy", 1.0 - o->fraction, "warps");
  issue->evidence = text(f, "%d of %d warps are resident, by %s: fewer loads are on their way",
                         o->warps_sm, f->device->threads_sm / LANES, o->limit);
  issue->advice = registers
                      ? "__launch_bounds__(threads, blocks a multiprocessor); fewer values held "
                        "at a time; several loads in flight a thread"
                      : "less shared memory a block, smaller blocks; several loads in flight a "
                        "thread";
}

static void find_divergence(finder *f) {
  const sct_ptx_counters *c = &f->row->counters;
  const double lanes = per(c->lane_instructions, c->warp_instructions);
  if (c->divergent_branches == 0 || lanes >= 0.9 * LANES) {
    return;
  }
  sct_issue *issue = add(f, "divergence", 1.0 - lanes / LANES, "instructions");
  issue->evidence = text(f,
                         "%.1f of 32 lanes are active on average; %lld of %lld branches split a "
                         "warp",
                         lanes, (long long)c->divergent_branches, (long long)c->branches);
  issue->advice =
      "decide by warp, not by thread: make the condition alike for 32 neighbours, or sort "
      "the work by it";
}

static void find_local(finder *f) {
  const sct_ptx_counters *c = &f->row->counters;
  if (c->local_requests == 0) {
    return;
  }
  sct_issue *issue =
      add(f, "local memory", per(c->local_requests, c->local_requests + f->global.requests),
          "requests");
  issue->evidence =
      text(f, "%lld requests go to local memory: arrays that are indexed by variables",
           (long long)c->local_requests);
  issue->advice = "unroll the loops that index small arrays, so that they stay in registers";
}

/* ---- all of them ---- */

static int by_gain(const void *pa, const void *pb) {
  const sct_issue *a = pa, *b = pb;
  if (a->gain != b->gain) {
    return a->gain > b->gain ? -1 : 1;
  }
  return a->line != b->line ? (a->line < b->line ? -1 : 1) : strcmp(a->id, b->id);
}

void count_find_issues(sct_profile *p, const sct_count_row *row, const sct_device_desc *device) {
  static void (*const rules[])(finder *) = {find_in_block, find_in_grid, find_occupancy,
                                            find_divergence, find_local};
  finder f = {.p = p,
              .row = row,
              .device = device,
              .global = sct_ptx_global_sum(&row->counters),
              .shared = sct_ptx_shared_sum(&row->counters)};
  p->issues = SCT_ARENA_NEW(&p->arena, sct_issue, p->n_accesses + SCT_COUNT(rules));
  for (int k = 0; k < p->n_accesses; k++) {
    if (p->accesses[k].is_shared) {
      find_conflicts(&f, &p->accesses[k]);
    } else {
      find_in_global(&f, &p->accesses[k]);
    }
  }
  for (int k = 0; k < SCT_COUNT(rules); k++) {
    rules[k](&f);
  }
  qsort(p->issues, (size_t)p->n_issues, sizeof *p->issues, by_gain);
}
