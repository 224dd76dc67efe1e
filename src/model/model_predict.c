/* model_predict - how long a candidate may take, from its counts and a device's description.
 *
 * Every part is a number of things divided by a rate; the slowest part decides. The constants below
 * were set by hand from the naive variants and gathers in docs/figures/h200.md, and are the same
 * for all devices: a prediction orders candidates, it does not replace a timing. */
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
/* What a store to a line that L2 does not have costs DRAM: the line is filled, and written back
 * when it leaves. Scatters of 8 and 16 bytes on an H200 take the time of 254 and 262. */
#define SCATTER_BYTES 256.0
/* Lines that are filled by stores which are far apart leave L2 in that order, so DRAM opens a page
 * for each and writes at a quarter of its rate: naive transposes of 1 to 8 bytes on an H200. */
#define FAR_WRITES 4.0
/* In sectors' time of L2: a request's visit of a line by a store; of one that is alone in its line
 * (36 a cycle on an H200); and the least of a load, as L2 reads two sectors at once. */
#define VISIT       3.0
#define LONE_VISIT  3.2
#define LEAST_VISIT 2.0
/* As often the time of such stores, at most, DRAM adds to it: scatters of 16 bytes on an H200. */
#define LONE_WAITS 4.0
/* Sectors of lone elements that one with two elements makes up for: records of 12 to 28 bytes. */
#define LONE_OF_SHARED 2.0
/* A warp's life with one load: cycles to start, compute addresses, store and retire; and a load
 * under load takes longer than the latency of a lone one. Naive f32 copies live for about 800 ns on
 * an H200, with an index array before the load for 1,260 ns. */
#define LIFE_CYCLES 690.0
#define LOADED      1.88
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

int sct_model_passes(const sct_spec *spec, const sct_kernel_code *code) {
  for (int k = 0; k < spec->n_operands && code->windows > 1; k++) {
    if (spec->operands[k].is_output && spec->operands[k].through_index) {
      return code->windows;
    }
  }
  return 1;
}

/* How often the blocks that run at the same time are others. */
static double waves_of(const sct_device_desc *dev, const sct_workload *w) {
  const sct_occupancy fit =
      sct_model_occupancy(dev, w->code->threads, w->registers, w->shared_bytes);
  const double at_once = (double)(fit.blocks_sm > 0 ? fit.blocks_sm : 1) * dev->n_sms;
  return larger(1.0, (double)w->counters->blocks / at_once);
}

/* Are its elements stored one by one, each in a sector and a line of its own? L2 does what atomic
 * operations ask for, so nothing waits for these. */
static bool is_lone(const sct_workload *w, int op) {
  const sct_count *c = &w->counters->operand[op];
  const double record = (double)w->spec->operands[op].record.bytes;
  return w->spec->operands[op].is_output && w->spec->operands[op].accumulate == SCT_REDUCE_NONE &&
         record < SECTOR_BYTES && (double)c->sectors < 1.05 * (double)c->tags &&
         (double)c->distinct_bytes < 1.05 * record * (double)c->tags;
}

/* Bytes of an access in no order that L2 does not have, as DRAM's time sees them. */
static double missed_bytes(const sct_workload *w, int op) {
  const sct_count *c = &w->counters->operand[op];
  const int64_t record = w->spec->operands[op].record.bytes;
  if (w->spec->operands[op].is_output) {
    return is_lone(w, op) ? SCATTER_BYTES * (double)c->tags : LINE_BYTES * (double)c->tags;
  }
  /* a record that starts anywhere it may lies in so many granules on average */
  const double aligned = fmin((double)(record & -record), GRANULE_BYTES);
  const double granules = 1.0 + ((double)record - aligned) / GRANULE_BYTES;
  return fmin(LINE_BYTES * (double)c->tags,
              (double)c->distinct_bytes / (double)record * granules * GATHER_BYTES);
}

double sct_model_l2_held(const sct_device_desc *dev) {
  const bool two =
      dev->cc_major == 8 ? dev->cc_minor == 0 : dev->cc_major >= 9 && dev->cc_major < 11;
  return (two ? SCT_MODEL_L2_SHARE : 1.0) * (double)dev->l2_bytes;
}

/* Does each request find the bytes that it asks for side by side? */
static bool in_one_piece(const sct_count *c) {
  return c->contiguous > 0 && 2 * c->sectors < 3 * c->contiguous;
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

/* Bytes of lines that a kernel goes through until it comes to the rest of a sector of `op`: it goes
 * along another operand, in whose order the neighbours of `op` come late. */
static double walk_bytes(const sct_workload *w, int op) {
  const int along = walks_along(w, op);
  double step[SCT_MAX_DIMS], order[SCT_MAX_DIMS], lines = 1.0, elements = 1.0;
  int near = -1;
  if (along < 0) {
    return 0.0;
  }
  sct_model_steps(step, w->spec, op, w->code->layout[op], w->size);
  sct_model_steps(order, w->spec, along, w->code->layout[along], w->size);
  for (int d = 0; d < w->spec->n_dims; d++) {
    near = step[d] > 0.0 && (near < 0 || step[d] < step[near]) ? d : near;
  }
  for (int d = 0; d < w->spec->n_dims && near >= 0; d++) {
    if (d != near && step[d] > 0.0 && order[d] < order[near]) {
      lines *= (double)w->size->extent[d] * fmin(1.0, step[d] / LINE_BYTES);
      elements *= (double)w->size->extent[d];
    }
  }
  return lines * LINE_BYTES + elements * (double)w->spec->operands[along].record.bytes;
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
    const double once = fmin(sectors, ways * array * sct_model_passes(w->spec, w->code));
    const bool lost = dev->l2_bytes > 0 && walk_bytes(w, op) > sct_model_l2_held(dev);
    return lost ? larger(once, missed_bytes(w, op)) : once;
  }
  const double seen = SCT_MODEL_L2_SHARE * (double)dev->l2_bytes, part = array / windows;
  const double missing = part > seen ? 1.0 - seen / part : 0.0;
  /* every wave of blocks goes through the windows, and finds in L2 those that the last one left */
  const bool held = windows > 1.0 && !w->spec->operands[op].is_output;
  const double again = (waves_of(dev, w) - 1.0) * fmax(array - seen, 0.0);
  const double found =
      held ? fmin(array + again, LINE_BYTES * (double)c->tags) : fmin(sectors, array);
  return larger(found, missing * missed_bytes(w, op));
}

/* DRAM keeps a checksum a sector, so a sector in which a lone element is written is read first. A
 * line has as many sectors with several elements as it has more lanes than sectors. */
static double stored_by(const sct_count *c, bool lone) {
  const double visits = (double)c->tags, sectors = (double)c->sectors;
  if (lone) {
    return LONE_VISIT * visits;
  }
  const bool whole = (double)c->distinct_bytes >= 0.99 * SECTOR_BYTES * sectors;
  const double shared = fmax(LANES * (double)c->requests - sectors, 0.0);
  return (VISIT + 1.0) * visits +
         (whole ? 0.0 : fmax(sectors - LONE_OF_SHARED * shared - visits, 0.0));
}

static double stored_sectors(const sct_workload *w, int op) {
  return stored_by(&w->counters->operand[op], is_lone(w, op));
}

double sct_model_stored_sectors(const sct_count *c) {
  const double sectors = (double)c->sectors;
  return stored_by(c, sectors < 1.05 * (double)c->tags && sectors > (double)c->requests &&
                          (double)c->distinct_bytes < 0.5 * SECTOR_BYTES * sectors);
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

/* Sectors between L1 and L2. */
static double l2_sectors(const sct_device_desc *dev, const sct_workload *w, int op, double array) {
  const sct_count *c = &w->counters->operand[op];
  if (w->spec->operands[op].accumulate != SCT_REDUCE_NONE && dev->atomic_sector_ns > 0.0) {
    return (double)c->sectors * dev->atomic_sector_ns / sector_ns_of(dev);
  }
  if (w->spec->operands[op].is_output) {
    return stored_sectors(w, op);
  }
  /* 32 neighbouring records lie in as many sectors as a record has bytes, and one more */
  const double neighbours = (double)w->spec->operands[op].record.bytes + 1.0;
  const bool kept = (double)c->sectors <= neighbours * (double)c->requests;
  return kept ? fmin((double)c->sectors, array / SECTOR_BYTES + 1.0)
              : fmax((double)c->sectors, LEAST_VISIT * (double)c->tags);
}

static sct_status memory_demand(sct_demand *out, const sct_device_desc *dev, const sct_workload *w,
                                sct_error *err) {
  const double sector_ns = sector_ns_of(dev);
  double dram = 0.0, sectors = 0.0, lone = 0.0, far = 0.0;
  for (int op = 0; op < w->spec->n_operands; op++) {
    double array = 0.0;
    SCT_TRY(footprint(w, op, &array, err));
    const double bytes = dram_bytes(dev, w, op, array);
    dram += bytes;
    lone += is_lone(w, op) ? stored_sectors(w, op) : 0.0;
    far += is_lone(w, op) && !in_no_order(w, op) ? (FAR_WRITES - 1.0) * bytes : 0.0;
    sectors += l2_sectors(dev, w, op, array);
  }
  out->dram_bytes = dram;
  /* stores of lone elements wait for L2, and there for DRAM; few of them keep nobody waiting */
  const double waits_ns = fmin((dram + far) / dram_rate(dev) * 1e9, LONE_WAITS * lone * sector_ns);
  out->l2_sectors = sectors + waits_ns / sector_ns;
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

static double inflight_ns(const sct_device_desc *dev, const sct_demand *d) {
  const sct_occupancy fit = sct_model_occupancy(dev, d->threads, d->registers, d->shared_bytes);
  if (d->blocks <= 0.0 || fit.blocks_sm < 1) {
    return 0.0;
  }
  const double cycles = LIFE_CYCLES + larger(1.0, d->rounds) * LOADED * dev->latency_cycles;
  const double waves = d->blocks / ((double)fit.blocks_sm * dev->n_sms);
  return larger(1.0, waves) * cycles / clock_of(dev) * 1e9;
}

static void sm_parts(sct_prediction *out, const sct_device_desc *dev, const sct_demand *d) {
  const double sm_hz = clock_of(dev) * dev->n_sms;
  out->part_ns[SCT_LIMIT_SHARED] = d->wavefronts / sm_hz * 1e9;
  out->part_ns[SCT_LIMIT_ATOMICS] =
      d->line_requests * dev->atomic_line_ns + d->line_lanes * dev->atomic_lane_ns;
  for (int p = 0; p < SCT_N_PIPES; p++) {
    out->part_ns[SCT_LIMIT_FP32 + p] =
        dev->pipe_clk[p] > 0 ? LANES * d->machine[p] / (sm_hz * dev->pipe_clk[p]) * 1e9 : 0.0;
  }
  out->part_ns[SCT_LIMIT_INFLIGHT] = inflight_ns(dev, d);
  out->part_ns[SCT_LIMIT_LAUNCH] = dev->launch_ns;
}

/* Does the description say enough? */
static bool is_described(const sct_device_desc *dev) {
  return dev->l2_bytes_clk > 0 && dev->latency_cycles > 0 && dev->peak_bytes_s > 0 &&
         dev->clock_khz > 0 && dev->n_sms > 0;
}

void sct_model_demand(sct_prediction *out, const sct_device_desc *dev, const sct_demand *demand) {
  sct_prediction p = {.limit = SCT_LIMIT_LAUNCH};
  if (!is_described(dev)) {
    *out = p;
    return;
  }
  p.part_ns[SCT_LIMIT_DRAM] = demand->dram_bytes / dram_rate(dev) * 1e9;
  p.part_ns[SCT_LIMIT_L2] = demand->l2_sectors * sector_ns_of(dev);
  sm_parts(&p, dev, demand);
  double longest = 0.0;
  for (int k = 0; k < SCT_N_LIMITS; k++) {
    p.limit = p.part_ns[k] > p.part_ns[p.limit] ? (sct_limit)k : p.limit;
    longest = k == SCT_LIMIT_LAUNCH ? longest : larger(longest, p.part_ns[k]);
  }
  p.ns = p.part_ns[SCT_LIMIT_LAUNCH] + longest;
  *out = p;
}

sct_status sct_model_workload(sct_demand *out, const sct_device_desc *dev, const sct_workload *work,
                              sct_error *err) {
  *out = (sct_demand){.wavefronts = sct_model_exchange_wavefronts(work->counters),
                      .line_requests = (double)work->counters->line_requests,
                      .line_lanes = (double)work->counters->line_lanes,
                      .blocks = (double)work->counters->blocks,
                      .threads = work->code->threads,
                      .registers = work->registers,
                      .shared_bytes = work->shared_bytes,
                      .rounds = rounds_of(work)};
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
