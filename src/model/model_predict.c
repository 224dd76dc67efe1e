/* model_predict - how long a candidate may take, from its counts and a device's description.
 *
 * Every part is a number of things divided by a rate of what works at it: all of DRAM and L2, but
 * only those multiprocessors that have blocks. One part is no rate: a block takes at least as long
 * as its longest chain of dependent instructions, and blocks that do not fit at once take turns.
 * Constants that are no device's were set by hand from naive variants and gathers in
 * docs/figures/h200.md, and fitted to half of the kernels in docs/figures/model.md. */
#include "model/model.h"

#include <math.h>

#define LANES        32
#define SECTOR_BYTES 32.0
#define LINE_BYTES   128.0
#define LINE_SECTORS 4.0

/* Share of the data sheet's bandwidth that a copy reaches, where none was measured: 4,289 of 4,800
 * GB/s on an H200. */
#define COPY_OF_PEAK 0.89
/* What a read from a place of its own costs DRAM: L2 fetches 64 bytes, and a page is opened for
 * them; gathers of 4 to 64 bytes on an H200 take the time of 78 to 113. */
#define GRANULE_BYTES 64.0
#define GATHER_BYTES  96.0
/* The same of a walk that comes back to a line after L2 has lost it: 33 M words on an H200
 * (2026-11-28), 7 ps each along walks of 4 to 28 MiB, 9 of 32, 11 of 40, 14 of 48, 18 of 56, 20.5
 * of 64, the time of 88 bytes, and 16 from 72 on, that of 69. */
#define WALK_BYTES 80.0
/* What a store to a line that L2 does not have costs DRAM: the line is filled, and written back
 * when it leaves. Scatters of 8 and 16 bytes on an H200 take the time of 254 and 262. */
#define SCATTER_BYTES 256.0
/* Lines that are filled by stores which are far apart leave L2 in that order, so DRAM opens a page
 * for each and writes at a quarter of its rate: naive transposes of 1 to 8 bytes on an H200. */
#define FAR_WRITES 4.0
/* In sectors' time of L2: a request's visit of a line by a store; by one to a part of a sector,
 * where the device does not say; and the least of a load: naive transposes of 1, 2 and 4 bytes. */
#define VISIT       3.0
#define PART_STORE  3.2
#define LEAST_VISIT 1.3
/* The same of a load at a random place: gathers from tables that L2 holds. */
#define RANDOM_VISIT 1.8
/* As often the time of such stores, at most, DRAM adds to it, and once that of such loads: scatters
 * of 16 bytes, and naive transposes, on an H200. */
#define LONE_WAITS 4.0
/* Sectors of lone elements that one with two elements makes up for: records of 12 to 28 bytes. */
#define LONE_OF_SHARED 2.0
/* A load that DRAM answers takes longer than a lone one whose address is translated already: 358 ns
 * on an H200 where the latency is 242 (one warp, 1,024 loads in turn), and more beside others. */
#define LOADED 1.7
/* A turn of a warp whose lanes ask for several words of constant memory: with 64 warps an SM on an
 * H200 (2026-11-29, median of 7) 2.15 cycles a load of 1 word, 4.16 of 2, 8.19 of 4, 64.4 of 32. */
#define CONSTANT_CYCLES 2.0
/* Cycles between the end of a block and the first instruction of the next one in its place. */
#define TURN_CYCLES 760.0
/* Machine code has fewer instructions in a row than the PTX from which a chain is known, and fewer
 * in all, as counters of loops and copies of registers go. */
#define CODE      0.85
#define CODE_SIZE 0.92
/* Cycles of a dependent sum in a chain's cycles, which are an H200's. */
#define ALU_CYCLES 4.5
/* Of what a block asks of its multiprocessor, the share that does not overlap with its chain. */
#define OWN 0.5
/* Exponent of the norm that joins the parts: parts that take equally long disturb each other. */
#define JOIN       5.0
#define JOIN_WARPS 2.5
/* Between the end of a launch of a sequence and the first loads of the next one. */
#define NEXT_LAUNCH_NS 1000.0
/* Loads that the first blocks wait for before anything moves, where a launch is short. */
#define FIRST_LOADS 2.5
/* A chain of which nothing is known but its loads. */
#define CHAIN_CYCLES 60.0
/* Sizes of rows that are read again are in L1 if all resident ones take so much of it. */
#define L1_SHARE 0.9
/* Compilers unroll a loop over what is reduced less than SCT_MODEL_LOADS_AT_ONCE. */
#define LOADS_OF_A_SUM 8.0

_Static_assert(SCT_LIMIT_ISSUE - SCT_LIMIT_FP32 == SCT_PIPE_ISSUE, "limits are in pipes' order");

typedef struct limit_words {
  const char *name, *phrase, *kind;
} limit_words;

static const limit_words limits[] = {
#define SCT_LIMIT(id, name, phrase, kind) {name, phrase, kind},
#include "model_limits.def"
#undef SCT_LIMIT
};

const char *sct_limit_name(sct_limit limit) {
  return limits[limit].name;
}

const char *sct_limit_phrase(sct_limit limit) {
  return limits[limit].phrase;
}

const char *sct_limit_kind(sct_limit limit) {
  return limits[limit].kind;
}

static double larger(double a, double b) {
  return a > b ? a : b;
}

/* ---- what is moved ---- */

/* Bytes of the operand's array at this size. */
static sct_status footprint(const sct_workload *w, int op, double *out, sct_error *err) {
  const sct_layout *layout = &w->spec->operands[op].layouts[w->code->layout[op]];
  const sct_expr_env env = {w->spec->extent_var, w->size->extent, w->spec->n_extents};
  int64_t bytes = 0;
  SCT_TRY(sct_expr_eval(w->spec->pool, layout->bytes, &env, &bytes, err));
  *out = (double)bytes;
  return SCT_OK;
}

/* Is it addressed through an index array whose values are in no order? */
static bool in_no_order(const sct_workload *w, int op) {
  if (!w->spec->operands[op].through_index) {
    return false;
  }
  for (int k = 0; k < w->spec->n_operands; k++) {
    if (w->spec->operands[k].is_index && w->size->fill[k] != SCT_FILL_IDENTITY) {
      return true;
    }
  }
  return false;
}

/* How often a kernel goes through its elements: once for every window of an output that is written
 * through an index array (code->windows), each time reading the other arrays again; else once. */
static int passes_of(const sct_spec *spec, const sct_kernel_code *code) {
  for (int k = 0; k < spec->n_operands && code->windows > 1; k++) {
    if (spec->operands[k].is_output && spec->operands[k].through_index) {
      return code->windows;
    }
  }
  return 1;
}

/* Are its elements stored one by one, each in a sector and a line of its own? L2 does what atomic
 * operations ask for, so nothing waits for these. */
static bool is_lone(const sct_workload *w, int op) {
  const sct_count *c = &w->counters->stored[op];
  const double record = (double)w->spec->operands[op].record.bytes;
  return c->tags > 0 && w->spec->operands[op].is_output &&
         w->spec->operands[op].accumulate == SCT_REDUCE_NONE && record < SECTOR_BYTES &&
         (double)c->sectors < 1.05 * (double)c->tags &&
         (double)c->distinct_bytes < 1.05 * record * (double)c->tags;
}

/* Bytes of an access in no order that L2 does not have, as DRAM's time sees them. */
static double missed_bytes(const sct_workload *w, int op) {
  const sct_count *c = &w->counters->operand[op];
  const int64_t record = w->spec->operands[op].record.bytes;
  if (w->spec->operands[op].is_output) {
    return is_lone(w, op) ? SCATTER_BYTES * (double)w->counters->stored[op].tags
                          : LINE_BYTES * (double)c->tags;
  }
  /* a record that starts anywhere it may lies in so many granules on average */
  const double aligned = fmin((double)(record & -record), GRANULE_BYTES);
  const double granules = 1.0 + ((double)record - aligned) / GRANULE_BYTES;
  return fmin(LINE_BYTES * (double)c->tags,
              (double)c->distinct_bytes / (double)record * granules * GATHER_BYTES);
}

static double blocks_at_once(const sct_device_desc *dev, const sct_workload *w) {
  const sct_occupancy fit =
      sct_model_occupancy(dev, w->code->threads, w->registers, w->shared_bytes);
  const double most = (double)(fit.blocks_sm > 0 ? fit.blocks_sm : 1) * dev->n_sms;
  return fmin(most, (double)w->counters->blocks / larger(1.0, w->code->passes));
}

double sct_model_l2_held(const sct_device_desc *dev) {
  const bool two =
      dev->cc_major == 8 ? dev->cc_minor == 0 : dev->cc_major >= 9 && dev->cc_major < 11;
  return (two ? SCT_MODEL_L2_SHARE : 1.0) * (double)dev->l2_bytes;
}

/* The share of what is read again that L2 has lost: rows that blocks read several times, each its
 * own. What all blocks read they read together. Without an L2 all is lost. */
static double missed_again(const sct_device_desc *dev, const sct_workload *w, int op,
                           double array) {
  const double seen = sct_model_l2_held(dev);
  const bool own = w->spec->n_steps > 0 && !w->spec->operands[op].is_output;
  /* the passes of a sequence go through all rows before the next one begins */
  const bool apart = w->counters->blocks > 0 && w->code->passes == 0;
  const double rows = apart ? array * blocks_at_once(dev, w) / (double)w->counters->blocks : array;
  return dev->l2_bytes <= 0 ? 1.0 : own && rows > seen ? 1.0 - seen / rows : 0.0;
}

/* Does each request find the bytes that it asks for side by side? */
static bool in_one_piece(const sct_count *c) {
  return SECTOR_BYTES * (double)c->sectors < 1.5 * (double)c->contiguous_bytes;
}

/* The operand along which a kernel goes that asks for parts of sectors of `op`; -1: none. */
static int walks_along(const sct_workload *w, int op) {
  const sct_count *c = w->counters->operand;
  int found = -1;
  for (int k = 0; k < w->spec->n_operands && !in_one_piece(&c[op]); k++) {
    if (in_one_piece(&c[k]) && (found < 0 || c[k].sectors > c[found].sectors)) {
      found = k;
    }
  }
  return found;
}

/* What a kernel goes through until it comes to the rest of a sector of `op`: it goes along another
 * operand, in whose order the neighbours of `op` come late. */
typedef struct walk {
  double bytes; /* of lines */
  double lines; /* an element: below 1 where neighbours along another dimension come early */
} walk;

static walk walk_of(const sct_workload *w, int op) {
  const int along = walks_along(w, op);
  double step[SCT_MAX_DIMS], order[SCT_MAX_DIMS], elements = 1.0;
  walk found = {0.0, 1.0};
  int near = -1;
  if (along < 0) {
    return found;
  }
  sct_model_steps(step, w->spec, op, w->code->layout[op], w->size);
  sct_model_steps(order, w->spec, along, w->code->layout[along], w->size);
  for (int d = 0; d < w->spec->n_dims; d++) {
    near = step[d] > 0.0 && (near < 0 || step[d] < step[near]) ? d : near;
  }
  for (int d = 0; d < w->spec->n_dims && near >= 0; d++) {
    if (d != near && step[d] > 0.0 && order[d] < order[near]) {
      found.lines *= fmin(1.0, step[d] / LINE_BYTES);
      elements *= (double)w->size->extent[d];
    }
  }
  const double record = (double)w->spec->operands[along].record.bytes;
  found.bytes = elements * (found.lines * LINE_BYTES + record);
  return found;
}

/* The share of a walk's lines that L2 has lost when it returns where it began: the oldest leave
 * first, so all, once it is longer than what L2 holds. Of two partitions each keeps copies of what
 * the other has, and how many of them depends on where blocks run. */
static double walk_lost(const sct_device_desc *dev, double walked) {
  const double held = sct_model_l2_held(dev), all = (double)dev->l2_bytes;
  return held <= 0.0      ? 0.0
         : walked <= held ? 0.0
         : walked < all   ? (walked - held) / (all - held)
                          : 1.0;
}

/* Bytes of accesses along a walk that L2 has lost: unlike gathers they open pages in order. */
static double walked_bytes(const sct_workload *w, int op) {
  const sct_count *c = &w->counters->operand[op];
  return w->spec->operands[op].is_output
             ? missed_bytes(w, op)
             : fmin(LINE_BYTES * (double)c->tags, WALK_BYTES * (double)c->sectors);
}

/* Bytes between L2 and DRAM: what is used again is found in L2. A walk that returns where it began
 * finds nothing in a cache that is smaller than it, as the oldest lines leave first. */
static double dram_bytes(const sct_device_desc *dev, const sct_workload *w, int op, double array) {
  const sct_count *c = &w->counters->operand[op];
  const double windows = larger(1.0, w->code->windows);
  const double sectors = SECTOR_BYTES * (double)c->sectors;
  if (!in_no_order(w, op)) {
    const bool returns = sct_operand_is_read_too(&w->spec->operands[op]);
    const double ways = returns ? 2.0 : 1.0; /* there and back */
    const double once = fmin(sectors, ways * array * passes_of(w->spec, w->code));
    const double again = once + missed_again(dev, w, op, array) * (sectors - once);
    const walk walked = walk_of(w, op);
    const double lost = walk_lost(dev, walked.bytes);
    return again + lost * larger(0.0, walked.lines * walked_bytes(w, op) - again);
  }
  const double seen = SCT_MODEL_L2_SHARE * (double)dev->l2_bytes, part = array / windows;
  const double missing = part > seen ? 1.0 - seen / part : 0.0;
  /* every wave of blocks goes through the windows, and finds in L2 those that the last one left */
  const bool held = windows > 1.0 && !w->spec->operands[op].is_output;
  const double waves = (double)w->counters->blocks / larger(1.0, blocks_at_once(dev, w));
  const double again = (larger(1.0, waves) - 1.0) * fmax(array - seen, 0.0);
  const double found =
      held ? fmin(array + again, LINE_BYTES * (double)c->tags) : fmin(sectors, array);
  return larger(found, missing * missed_bytes(w, op));
}

/* DRAM keeps a checksum a sector, so a sector in which a lone element is written is read first. A
 * line has as many sectors with several elements as it has more lanes than sectors. */
static double stored_by(const sct_count *c, bool lone, double part) {
  const double visits = (double)c->tags, sectors = (double)c->sectors;
  if (lone) {
    return part * visits;
  }
  const bool whole = (double)c->distinct_bytes >= 0.99 * SECTOR_BYTES * sectors;
  const double shared = fmax(LANES * (double)c->requests - sectors, 0.0);
  return (VISIT + 1.0) * visits +
         (whole ? 0.0 : fmax(sectors - LONE_OF_SHARED * shared - visits, 0.0));
}

static double stored_sectors(const sct_device_desc *dev, const sct_workload *w, int op) {
  return stored_by(&w->counters->stored[op], is_lone(w, op),
                   dev->part_store_sectors > 0.0 ? dev->part_store_sectors : PART_STORE);
}

double sct_model_stored_sectors(const sct_count *c) {
  const double sectors = (double)c->sectors;
  return stored_by(c,
                   sectors < 1.05 * (double)c->tags && sectors > (double)c->requests &&
                       (double)c->distinct_bytes < 0.5 * SECTOR_BYTES * sectors,
                   PART_STORE);
}

double sct_model_rounds(double loads) {
  return loads / LOADS_OF_A_SUM;
}

static double clock_of(const sct_device_desc *dev) {
  return 1e3 * dev->clock_khz;
}

static double dram_rate(const sct_device_desc *dev) {
  return dev->copy_bytes_s > 0.0 ? dev->copy_bytes_s : COPY_OF_PEAK * dev->peak_bytes_s;
}

static double sector_ns_of(const sct_device_desc *dev) {
  return SECTOR_BYTES / ((double)dev->l2_bytes_clk * clock_of(dev)) * 1e9;
}

/* Blocks that an SM has at a time, of those there are. */
static double resident_blocks(const sct_device_desc *dev, const sct_workload *w) {
  return ceil(blocks_at_once(dev, w) / dev->n_sms);
}

/* Bytes of L1 that the resident blocks' shared memory leaves. */
static double free_l1(const sct_device_desc *dev, const sct_workload *w) {
  const double taken = (double)(w->shared_bytes + dev->smem_reserved_bytes);
  return larger(0.0, (double)dev->l1_bytes - resident_blocks(dev, w) * taken);
}

/* Sectors that the same warp had shortly before and that L1 still has: every resident warp keeps
 * those of one load there. */
static double held_near(const sct_device_desc *dev, const sct_workload *w, const sct_count *c) {
  const double warps = resident_blocks(dev, w) * ((w->code->threads + LANES - 1) / LANES);
  const double each = LINE_BYTES * (double)c->tags / larger(1.0, (double)c->requests);
  return (double)c->near * fmin(1.0, free_l1(dev, w) / larger(1.0, warps * each));
}

/* What is loaded of an operand, without what is stored. */
static sct_count loads_of(const sct_workload *w, int op) {
  const sct_count *all = &w->counters->operand[op], *stored = &w->counters->stored[op];
  sct_count c = *all;
  c.requests -= stored->requests;
  c.sectors -= stored->sectors;
  c.tags -= stored->tags;
  c.distinct_bytes -= stored->distinct_bytes;
  return c;
}

/* The share of what a block loads again that L1 still has: it holds what all resident ones load. */
static double held_again(const sct_device_desc *dev, const sct_workload *w) {
  double own = 0.0;
  for (int op = 0; op < w->spec->n_operands; op++) {
    const sct_count c = loads_of(w, op);
    own += SECTOR_BYTES * (double)(c.sectors - c.again);
  }
  const double each = own / larger(1.0, (double)w->counters->blocks);
  return fmin(1.0, L1_SHARE * free_l1(dev, w) / larger(1.0, resident_blocks(dev, w) * each));
}

/* Is the whole array in the L1 of every multiprocessor, once it was there? */
static bool in_l1(const sct_device_desc *dev, const sct_workload *w, double array) {
  return array <= L1_SHARE * free_l1(dev, w);
}

/* Sectors of loads that L1 asks L2 for. */
static double passed_sectors(const sct_device_desc *dev, const sct_workload *w, const sct_count *c,
                             double array) {
  const double held = fmax(held_near(dev, w, c), (double)c->again * held_again(dev, w));
  const double sectors = larger(0.0, (double)c->sectors - held);
  const double sms = fmin((double)dev->n_sms, (double)w->counters->blocks);
  return in_l1(dev, w, array) ? fmin(sectors, sms * (array / SECTOR_BYTES + 1.0)) : sectors;
}

/* Are elements loaded one by one, each in a line of its own, in an order in which others of the
 * line follow? */
static bool is_lone_load(const sct_workload *w, int op) {
  const sct_count *c = &w->counters->operand[op];
  return !w->spec->operands[op].is_output && !in_no_order(w, op) &&
         (double)c->sectors < LEAST_VISIT * (double)c->tags &&
         4.0 * (double)c->requests < (double)c->tags;
}

/* Sectors between L1 and L2. */
static double l2_sectors(const sct_device_desc *dev, const sct_workload *w, int op, double array) {
  const sct_count *all = &w->counters->operand[op], c = loads_of(w, op);
  if (w->spec->operands[op].accumulate != SCT_REDUCE_NONE && dev->atomic_sector_ns > 0.0) {
    return (double)all->sectors * dev->atomic_sector_ns / sector_ns_of(dev);
  }
  const double passed = passed_sectors(dev, w, &c, array);
  const double least = in_no_order(w, op) ? RANDOM_VISIT : LEAST_VISIT;
  const double visits = least * (double)c.tags * passed / larger(1.0, (double)c.sectors);
  return fmax(passed, visits) + stored_sectors(dev, w, op);
}

/* Where loads find what they ask for, by requests: in all, in DRAM, and in L1. */
typedef struct load_places {
  double all, dram, l1;
} load_places;

/* Cycles of a load in a chain: some wait for DRAM, others find in L2, or in the L1 of their SM,
 * what was read before. Blocks that run at once and read the same all wait for it, and in a kernel
 * of steps for the first of its passes. `array`: bytes of all that are read. */
static double load_cycles(const sct_device_desc *dev, const sct_workload *w, load_places of,
                          double array) {
  const sct_counters *c = w->counters;
  const double waves = (double)c->blocks / larger(1.0, blocks_at_once(dev, w));
  const double passes =
      w->spec->n_steps > 0 && w->code->passes == 0
          ? fmin(3.0, larger(1.0, SECTOR_BYTES * (double)c->load.sectors / larger(1.0, array)))
          : 1.0;
  const double first = fmin(1.0, 1.0 / waves) / passes;
  const double one = fmin(1.0, 1.0 / larger(1.0, c->chain.loads));
  const double dram = of.all > 0.0 ? of.dram / of.all : 1.0;
  const double near_by = of.all > 0.0 ? fmin(1.0 - one, of.l1 / of.all) : 0.0;
  const double cold = fmin(1.0 - near_by, larger(larger(dram, first), one));
  const double rows = resident_blocks(dev, w) * array / larger(1.0, (double)c->blocks);
  const double l2 = dev->l2_latency_cycles > 0 ? dev->l2_latency_cycles : dev->latency_cycles;
  const double again =
      w->spec->n_steps > 0 && in_l1(dev, w, rows) ? dev->shared_latency_cycles : l2;
  return cold * LOADED * dev->latency_cycles + near_by * dev->shared_latency_cycles +
         (1.0 - cold - near_by) * again;
}

static sct_status memory_demand(sct_demand *out, const sct_device_desc *dev, const sct_workload *w,
                                sct_error *err) {
  const double sector_ns = sector_ns_of(dev);
  double dram = 0.0, sectors = 0.0, most_waits = 0.0, far = 0.0;
  double arrays = 0.0, near_all = 0.0, near_held = 0.0;
  load_places places = {0};
  for (int op = 0; op < w->spec->n_operands; op++) {
    const sct_count *all = &w->counters->operand[op], c = loads_of(w, op);
    double array = 0.0;
    SCT_TRY(footprint(w, op, &array, err));
    const double bytes = dram_bytes(dev, w, op, array), passed = l2_sectors(dev, w, op, array);
    dram += bytes;
    most_waits += is_lone(w, op) ? LONE_WAITS * passed : is_lone_load(w, op) ? passed : 0.0;
    far += is_lone(w, op) && !in_no_order(w, op) ? (FAR_WRITES - 1.0) * bytes : 0.0;
    sectors += passed;
    const double asked = passed_sectors(dev, w, &c, array), near = held_near(dev, w, &c);
    out->sm_lines += (double)all->tags;
    out->sm_sectors += asked + (double)w->counters->stored[op].sectors;
    near_all += (double)c.near;
    near_held += near;
    if (c.sectors > 0) {
      const double others = larger(0.0, (double)c.sectors - near) / (double)c.sectors;
      const double requests = (double)c.requests * others;
      const double passing = asked / larger(1.0, (double)c.sectors * others);
      const double miss = in_l1(dev, w, array) ? fmin(1.0, passing) : 1.0;
      places.all += requests;
      places.l1 += requests * (1.0 - miss);
      /* neighbours that ask for parts of one sector all wait for it */
      const double asked_bytes = larger(1.0, (double)c.distinct_bytes * others);
      places.dram += requests * fmin(miss, bytes / asked_bytes);
    }
    arrays += w->spec->operands[op].is_output ? 0.0 : array;
  }
  out->dram_bytes = dram;
  /* lone elements wait for L2, and there for DRAM; few of them keep nobody waiting */
  const double waits_ns = fmin((dram + far) / dram_rate(dev) * 1e9, most_waits * sector_ns);
  out->l2_sectors = sectors + waits_ns / sector_ns;
  out->sm_lines -= (double)w->counters->bulk_load.tags;
  out->load_cycles = load_cycles(dev, w, places, arrays);
  const double held = near_all > 0.0 ? near_held / near_all : 1.0;
  out->near_cycles = held * dev->shared_latency_cycles + (1.0 - held) * dev->l2_latency_cycles;
  return SCT_OK;
}

/* ---- what the multiprocessors do ---- */

/* Dependent loads: an index array's value comes before what it points to. */
static double chain_of(const sct_workload *w) {
  return w->code->indexed ? 2.0 : 1.0;
}

/* Loads of a warp that wait for each other. */
static double rounds_of(const sct_workload *w) {
  const sct_counters *c = w->counters;
  if (c->blocks == 0) {
    return 0.0;
  }
  const double warps = (double)c->blocks * (double)((w->code->threads + LANES - 1) / LANES);
  /* what warps load they wait for in turn; of bulk copies, shared memory holds so much at once */
  const double at_once = w->spec->reduces ? LOADS_OF_A_SUM : SCT_MODEL_LOADS_AT_ONCE;
  const double loads = (double)(c->load.requests - c->bulk_load.requests) / warps / at_once;
  const double held = w->shared_bytes > 0 ? (double)w->shared_bytes : 1.0;
  const double tiles = (double)c->bulk_load.distinct_bytes / (double)c->blocks / held;
  return chain_of(w) * larger(1.0, larger(loads, tiles));
}

static sct_chain chain_of_demand(const sct_workload *w) {
  const sct_counters *c = w->counters;
  return c->chain.cycles > 0.0 ? c->chain : (sct_chain){CHAIN_CYCLES, rounds_of(w), 0.0};
}

static double chain_ns(const sct_device_desc *dev, const sct_demand *d, sct_chain chain) {
  const double slower = dev->alu_cycles > 0.0 ? dev->alu_cycles / ALU_CYCLES : 1.0;
  const double load = d->load_cycles > 0.0 ? d->load_cycles : LOADED * dev->latency_cycles;
  const double cycles =
      CODE * slower * chain.cycles + chain.loads * load + chain.near * d->near_cycles;
  return cycles / clock_of(dev) * 1e9;
}

/* Blocks of the SM that has most of them. */
static double most_blocks(const sct_device_desc *dev, const sct_demand *d) {
  const double each = d->blocks / dev->n_sms;
  return larger(1.0, d->even ? each : ceil(each));
}

/* Blocks take turns: whole waves where they are few, else each SM goes on by itself. `own_ns`: what
 * a block asks of its SM. */
static double inflight_ns(const sct_device_desc *dev, const sct_demand *d, double own_ns) {
  const sct_occupancy fit = sct_model_occupancy(dev, d->threads, d->registers, d->shared_bytes);
  if (d->blocks <= 0.0 || fit.blocks_sm < 1) {
    return 0.0;
  }
  const double waves = d->blocks / ((double)fit.blocks_sm * dev->n_sms);
  const double turns = d->even ? larger(1.0, waves) : waves <= 4.0 ? ceil(waves) : waves;
  const double all = turns * (chain_ns(dev, d, d->chain) + OWN * own_ns) +
                     (turns - 1.0) * TURN_CYCLES / clock_of(dev) * 1e9;
  return larger(all, chain_ns(dev, d, d->longest) + OWN * own_ns);
}

static void sm_parts(sct_prediction *out, const sct_device_desc *dev, const sct_demand *d) {
  /* of the busiest SM, as if all had as many blocks */
  const double blocks = larger(1.0, d->blocks), most = most_blocks(dev, d);
  const double sm_hz = clock_of(dev) * blocks / most;
  double busy_ns = 0.0;
  out->part_ns[SCT_LIMIT_SHARED] = d->wavefronts / sm_hz * 1e9;
  out->part_ns[SCT_LIMIT_CONSTANT] = CONSTANT_CYCLES * d->constant_words / sm_hz * 1e9;
  out->part_ns[SCT_LIMIT_ATOMICS] =
      d->line_requests * dev->atomic_line_ns + d->line_lanes * dev->atomic_lane_ns;
  for (int p = 0; p < SCT_N_PIPES; p++) {
    const double n = (p == SCT_PIPE_ISSUE ? CODE_SIZE : 1.0) * d->machine[p];
    out->part_ns[SCT_LIMIT_FP32 + p] =
        dev->pipe_clk[p] > 0 ? LANES * n / (sm_hz * dev->pipe_clk[p]) * 1e9 : 0.0;
    busy_ns = larger(busy_ns, out->part_ns[SCT_LIMIT_FP32 + p]);
  }
  const double passed_ns = dev->sm_bytes_clk > 0
                               ? SECTOR_BYTES * d->sm_sectors / (sm_hz * dev->sm_bytes_clk) * 1e9
                               : 0.0;
  const double lines_ns =
      dev->l1_bytes_clk > 0 ? LINE_BYTES * d->sm_lines / (sm_hz * dev->l1_bytes_clk) * 1e9 : 0.0;
  out->part_ns[SCT_LIMIT_L1] = larger(passed_ns, lines_ns);
  busy_ns = larger(busy_ns, larger(out->part_ns[SCT_LIMIT_L1], out->part_ns[SCT_LIMIT_CONSTANT])) +
            out->part_ns[SCT_LIMIT_SHARED];
  out->part_ns[SCT_LIMIT_INFLIGHT] = inflight_ns(dev, d, busy_ns / most);
  out->part_ns[SCT_LIMIT_LAUNCH] = d->blocks * dev->block_ns;
}

/* Does the description say enough? */
static bool is_described(const sct_device_desc *dev) {
  return dev->l2_bytes_clk > 0 && dev->latency_cycles > 0 && dev->peak_bytes_s > 0 &&
         dev->clock_khz > 0 && dev->n_sms > 0;
}

static double norm(double a, double b, double exponent) {
  return pow(pow(a, exponent) + pow(b, exponent), 1.0 / exponent);
}

/* An instruction takes its pipe and its issue slot together; warps that wait for results leave both
 * to others only as far as there are others that do not wait. Blocks begin while others run. */
static double joined_ns(const double part_ns[SCT_N_LIMITS]) {
  double instructions = 0.0, memory = 0.0;
  for (int k = 0; k < SCT_N_LIMITS; k++) {
    if (k >= SCT_LIMIT_FP32 && k <= SCT_LIMIT_ISSUE) {
      instructions = larger(instructions, part_ns[k]);
    } else if (k != SCT_LIMIT_LAUNCH && k != SCT_LIMIT_INFLIGHT) {
      memory = norm(memory, part_ns[k], JOIN);
    }
  }
  const double warps = norm(instructions, part_ns[SCT_LIMIT_INFLIGHT], JOIN_WARPS);
  return larger(part_ns[SCT_LIMIT_LAUNCH], norm(memory, warps, JOIN));
}

/* What a pass of a sequence asks for, in the mean. */
static sct_demand one_pass(const sct_demand *all, double passes) {
  sct_demand d = *all;
  double *const sums[] = {&d.dram_bytes,    &d.l2_sectors, &d.sm_sectors,
                          &d.sm_lines,      &d.wavefronts, &d.constant_words,
                          &d.line_requests, &d.line_lanes, &d.blocks};
  for (int k = 0; k < SCT_COUNT(sums); k++) {
    *sums[k] /= passes;
  }
  for (int p = 0; p < SCT_N_PIPES; p++) {
    d.machine[p] /= passes;
  }
  return d;
}

/* Launches of a sequence follow each other. */
static void add_passes(sct_prediction *p, double passes) {
  for (int k = 0; k < SCT_N_LIMITS; k++) {
    p->part_ns[k] *= passes;
  }
  p->ns =
      SCT_MODEL_START_NS + passes * (p->ns - SCT_MODEL_START_NS) + (passes - 1.0) * NEXT_LAUNCH_NS;
}

void sct_model_demand(sct_prediction *out, const sct_device_desc *dev, const sct_demand *all) {
  const double passes = larger(1.0, all->passes);
  const sct_demand of_one = one_pass(all, passes), *const demand = &of_one;
  sct_prediction p = {.limit = SCT_LIMIT_LAUNCH};
  if (!is_described(dev)) {
    *out = p;
    return;
  }
  p.part_ns[SCT_LIMIT_DRAM] = demand->dram_bytes / dram_rate(dev) * 1e9;
  p.part_ns[SCT_LIMIT_L2] = demand->l2_sectors * sector_ns_of(dev);
  sm_parts(&p, dev, demand);
  for (int k = 0; k < SCT_N_LIMITS; k++) {
    p.limit = p.part_ns[k] > p.part_ns[p.limit] ? (sct_limit)k : p.limit;
  }
  const double load = demand->load_cycles > 0.0 ? demand->load_cycles : dev->latency_cycles;
  const double first_ns =
      FIRST_LOADS * fmin(load / clock_of(dev) * 1e9,
                         fmin(p.part_ns[SCT_LIMIT_DRAM], p.part_ns[SCT_LIMIT_INFLIGHT]));
  p.ns = SCT_MODEL_START_NS + first_ns + joined_ns(p.part_ns);
  p.limit = p.part_ns[p.limit] < SCT_MODEL_START_NS ? SCT_LIMIT_LAUNCH : p.limit;
  add_passes(&p, passes);
  *out = p;
}

sct_status sct_model_workload(sct_demand *out, const sct_device_desc *dev, const sct_workload *work,
                              sct_error *err) {
  *out = (sct_demand){.wavefronts = sct_model_exchange_wavefronts(work->counters),
                      .constant_words = (double)work->counters->constant_words,
                      .line_requests = (double)work->counters->line_requests,
                      .line_lanes = (double)work->counters->line_lanes,
                      .blocks = (double)work->counters->blocks,
                      .threads = work->code->threads,
                      .registers = work->registers,
                      .shared_bytes = work->shared_bytes,
                      .passes = work->code->passes,
                      .chain = chain_of_demand(work),
                      .longest = work->counters->longest};
  for (int p = 0; p < SCT_N_PIPES; p++) {
    out->machine[p] = work->machine[p];
  }
  return is_described(dev) ? memory_demand(out, dev, work, err) : SCT_OK;
}

sct_status sct_model_predict(sct_prediction *out, const sct_device_desc *dev,
                             const sct_workload *work, sct_error *err) {
  sct_demand d;
  SCT_TRY(sct_model_workload(&d, dev, work, err));
  sct_model_demand(out, dev, &d);
  return SCT_OK;
}
