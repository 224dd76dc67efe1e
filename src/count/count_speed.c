/* count_speed - how much of what a device can do a launch asks for, by the model that candidates
 * are predicted with: what it waits for, and where it stands in a roofline. */
#include "compile/compile.h"
#include "count/count_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LANES        32
#define SECTOR_BYTES 32.0
#define LINE_SECTORS 4.0
#define WORD_BYTES   4.0
/* Of the longer one, that far apart at most: a profiler calls them balanced. */
#define BALANCED 0.1

static sct_count count_of(const sct_ptx_global *a, const sct_ptx_global *b) {
  sct_ptx_global sum = *a;
  sct_ptx_global_add(&sum, b);
  return (sct_count){.requests = sum.requests,
                     .sectors = sum.sectors,
                     .sectors_ideal = sum.sectors_ideal,
                     .tags = sum.tags,
                     .distinct_bytes = sum.distinct_bytes};
}

/* From 3.0 to 6.2 loads are cached in L2 only, but for those of 6.0; 1.x has no caches (CUDA C++
 * Programming Guide, "Compute Capabilities"). */
static bool has_l1(const sct_device_desc *device) {
  const int cc = 10 * device->cc_major + device->cc_minor;
  return cc >= 70 || cc == 60 || (cc >= 20 && cc < 30);
}

sct_ptx_cache_sizes sct_count_caches(const sct_device_desc *device, int threads, int registers,
                                     int64_t shared_bytes) {
  /* L1 and shared memory are one; of its 256 KiB 228 can be shared memory from 9.0 on, of 192 164
   */
  const int64_t l1_only = 28 * 1024, least = 32 * 1024;
  const sct_occupancy fit = sct_model_occupancy(device, threads, registers, shared_bytes);
  const int64_t left = device->smem_sm_bytes + l1_only - fit.blocks_sm * shared_bytes;
  return (sct_ptx_cache_sizes){.n_sms = device->n_sms,
                               .blocks_sm = fit.blocks_sm,
                               .l1_bytes = !has_l1(device) ? 0
                                           : left > least  ? left
                                                           : least,
                               .l2_bytes =
                                   (int64_t)(SCT_MODEL_L2_SHARE * (double)device->l2_bytes)};
}

bool count_is_swap(const sct_ptx_inst_counters *inst) {
  return (count_is(inst, "atom") || count_is(inst, "red")) && count_has(inst, "f16") &&
         !count_has(inst, "f16x2") && !count_has(inst, ".cas");
}

/* The share of the atomics on global memory that loops of compare and swap do. */
static double swapped_of(const sct_count_row *row) {
  int64_t swapped = 0;
  for (int k = 0; k < row->n_insts; k++) {
    swapped += count_is_swap(&row->insts[k]) ? row->insts[k].global.requests : 0;
  }
  return sct_ratio(swapped, row->counters.atomics.requests);
}

void count_atomics(sct_count_row *row, const sct_ptx_memory *memory, const uint64_t *addresses,
                   int n) {
  const double turns = 1.0 + swapped_of(row) * (SCT_MODEL_SWAP - 1.0);
  sct_demand *d = &row->demand;
  for (int k = 0; k < n && row->has_demand; k++) {
    const sct_ptx_buffer_counters of = sct_ptx_memory_counts(memory, addresses[k]);
    /* the share of all that come to the slice of a usual one; of a block all may */
    const double slices = (double)of.atomic_slices;
    const double pairs = slices * slices * (1.0 - 1.0 / d->blocks);
    const double share = pairs > 0.0 ? fmin(1.0, 2.0 * (double)of.meetings / pairs) : 1.0;
    if (share * (double)of.atomic_turns * turns > d->line_lanes) {
      d->line_lanes = share * (double)of.atomic_turns * turns;
      d->line_requests = share * slices * turns;
    }
  }
}

/* Of "__local_depot0[256]" in the kernel of this name. */
static int64_t local_bytes_of(const char *ptx, const char *entry) {
  static const char starts[] = ".entry ", depot[] = "__local_depot";
  const char *at = strstr(ptx, starts);
  const size_t n = strlen(entry);
  while (at && (strncmp(at + sizeof starts - 1, entry, n) != 0 ||
                !strchr("( \t\r\n", at[sizeof starts - 1 + n]))) {
    at = strstr(at + 1, starts);
  }
  const char *const next = at ? strstr(at + 1, starts) : NULL;
  const char *const found = at ? strstr(at, depot) : NULL;
  const char *const size = found && (!next || found < next) ? strchr(found, '[') : NULL;
  return size ? strtoll(size + 1, NULL, 10) : 0;
}

void count_spills(sct_count_row *row, const sct_ptx_module *module, const char *text,
                  const void *cubin, size_t bytes) {
  sct_memops ptx, sass;
  sct_error ignored;
  row->local_bytes = local_bytes_of(text, row->entry);
  if (sct_ptx_memops(&ptx, module, row->entry, &ignored) != SCT_OK ||
      sct_sass_memops(&sass, cubin, bytes, row->entry, &ignored) != SCT_OK) {
    return;
  }
  for (int w = 0; w < SCT_MEMOP_N_WIDTHS; w++) {
    row->spill_loads += (1 << w) * (sass.n[SCT_MEMOP_LOCAL][SCT_MEMOP_LOAD][w] -
                                    ptx.n[SCT_MEMOP_LOCAL][SCT_MEMOP_LOAD][w]);
    row->spill_stores += (1 << w) * (sass.n[SCT_MEMOP_LOCAL][SCT_MEMOP_STORE][w] -
                                     ptx.n[SCT_MEMOP_LOCAL][SCT_MEMOP_STORE][w]);
  }
  /* arrays are read and written in other pieces, and copied with the loops that do it */
  const bool spills = row->spill_loads > 0 && row->spill_stores > 0 && row->registers > 0;
  row->spill_loads = spills ? row->spill_loads : 0;
  row->spill_stores = spills ? row->spill_stores : 0;
}

/* Words of neighbouring threads are neighbours in local memory: a request is a line. Resident
 * threads keep theirs in L1 as far as it goes, and in L2. */
void count_local(sct_count_row *row, const sct_device_desc *device) {
  sct_demand *d = &row->demand, *of = &row->local;
  const double warps = d->blocks * (double)((d->threads + LANES - 1) / LANES);
  const double spilled = warps * (row->spill_loads + row->spill_stores) / WORD_BYTES;
  const double requests = spilled + (double)row->counters.local_requests;
  const sct_occupancy fit = sct_model_occupancy(device, d->threads, d->registers, d->shared_bytes);
  const sct_ptx_cache_sizes caches =
      sct_count_caches(device, d->threads, d->registers, d->shared_bytes);
  const double own = fmax(row->spill_stores, WORD_BYTES) + (double)row->local_bytes;
  const double an_sm = own * (double)d->threads * fmax(1.0, fit.blocks_sm);
  const double all = an_sm * device->n_sms;
  if (!row->has_demand || requests <= 0.0) {
    return;
  }
  const double past = 1.0 - fmin(1.0, (double)caches.l1_bytes / an_sm);
  const double lost = 1.0 - fmin(1.0, (double)caches.l2_bytes / all);
  *of = (sct_demand){.sm_lines = requests,
                     .sm_sectors = LINE_SECTORS * requests * past,
                     .l2_sectors = LINE_SECTORS * requests * past,
                     .dram_bytes = SECTOR_BYTES * LINE_SECTORS * requests * past * lost};
  of->machine[SCT_PIPE_ISSUE] = spilled;
  count_add_demand(d, of, 1.0);
}

void count_add_demand(sct_demand *to, const sct_demand *from, double by) {
  to->dram_bytes += by * from->dram_bytes;
  to->l2_sectors += by * from->l2_sectors;
  to->sm_sectors += by * from->sm_sectors;
  to->sm_lines += by * from->sm_lines;
  to->wavefronts += by * from->wavefronts;
  to->machine[SCT_PIPE_ISSUE] += by * from->machine[SCT_PIPE_ISSUE];
}

void count_demand(sct_count_row *row) {
  const sct_ptx_counters *c = &row->counters;
  const sct_ptx_traffic *t = &row->traffic;
  const sct_count stores = count_of(&c->store, &c->bulk_store);
  const sct_count loads = count_of(&c->load, &c->atomics);
  const sct_ptx_shared shared = sct_ptx_shared_sum(c);
  sct_demand *d = &row->demand;
  if (!t->known) {
    return;
  }
  *d = (sct_demand){.blocks = 1.0, .threads = 1, .registers = row->registers};
  for (int k = 0; k < 3; k++) {
    d->blocks *= (double)row->grid[k];
    d->threads *= (int)row->block[k];
  }
  const double warps = d->blocks * (double)((d->threads + LANES - 1) / LANES);
  d->shared_bytes = row->static_shared_bytes + row->shared_bytes;
  d->dram_bytes = SECTOR_BYTES * (double)(t->dram_read + t->dram_written);
  d->l2_sectors = (double)t->l2_reads + sct_model_stored_sectors(&stores);
  d->sm_sectors = (double)(t->l2_reads + t->l2_writes);
  d->sm_lines = (double)(c->load.tags + c->store.tags + c->atomics.tags);
  d->wavefronts = (double)(shared.wavefronts + c->shuffles);
  d->constant_words = (double)c->constant_words;
  d->chain.loads = fmax(1.0, sct_model_rounds((double)loads.requests / warps));
  for (int p = 0; p < SCT_N_PIPES; p++) {
    d->machine[p] = (double)c->machine.n[p];
  }
  row->has_demand = true;
}

/* Bytes that the resident warps of an SM can have on their way. */
static double flight_of(const sct_profile *p, const sct_count_row *row,
                        const sct_device_desc *device) {
  const sct_ptx_counters *c = &row->counters;
  const double run = (double)(row->blocks_run > 0 ? row->blocks_run : p->blocks);
  const double warps = run * (double)((p->threads + LANES - 1) / LANES);
  const double loads = (double)c->load.requests;
  const double there = fmin(p->occupancy.warps_sm, ceil((double)p->blocks / device->n_sms) *
                                                       (double)((p->threads + LANES - 1) / LANES));
  return loads > 0.0 ? there * SECTOR_BYTES * (double)c->load.sectors / loads *
                           fmin(SCT_MODEL_LOADS_AT_ONCE, loads / warps)
                     : 0.0;
}

static double larger(double a, double b) {
  return a > b ? a : b;
}

static void fill_roofline(sct_speed *s, const sct_count_row *row, const sct_device_desc *device,
                          double scale) {
  const double lanes_s = 1e3 * device->clock_khz * device->n_sms;
  const double peak[SCT_PTX_N_FLOPS] = {
      [SCT_PTX_FLOP_F16] = 4.0 * device->pipe_clk[SCT_PIPE_FP32] * lanes_s,
      [SCT_PTX_FLOP_F32] = 2.0 * device->pipe_clk[SCT_PIPE_FP32] * lanes_s,
      [SCT_PTX_FLOP_F64] = 2.0 * device->pipe_clk[SCT_PIPE_FP64] * lanes_s};
  double most = 0.0, all = 0.0;
  for (int t = 0; t < SCT_PTX_N_FLOPS; t++) {
    s->flops[t] = scale * (double)row->counters.flops[t];
    s->peak_flops[t] = peak[t];
    all += s->flops[t];
    if (peak[t] > 0.0 && s->flops[t] / peak[t] > most) {
      most = s->flops[t] / peak[t];
      s->main_type = (sct_ptx_flop)t;
    }
  }
  s->intensity = row->demand.dram_bytes > 0.0 ? all / row->demand.dram_bytes : 0.0;
  s->ridge = device->peak_bytes_s > 0.0 ? peak[s->main_type] / device->peak_bytes_s : 0.0;
}

bool sct_count_is_slow(const sct_count_row *row, const sct_device_desc *device) {
  static const char *const starts[] = {"div.rn.f32", "sqrt.rn.f32", "rcp.rn.f32", "ex2.", "lg2."};
  sct_prediction of;
  bool slow = false;
  for (int k = 0; k < row->n_insts && !slow; k++) {
    slow = count_has(&row->insts[k], "__cudart_i2opi");
    for (int s = 0; s < SCT_COUNT(starts) && !slow && row->insts[k].executed > 0; s++) {
      slow = count_is(&row->insts[k], starts[s]);
    }
  }
  if (!slow || !row->has_demand) {
    return false;
  }
  sct_model_demand(&of, device, &row->demand);
  double instructions = 0.0;
  for (int k = SCT_LIMIT_FP32; k <= SCT_LIMIT_ISSUE; k++) {
    instructions = larger(instructions, of.part_ns[k]);
  }
  return instructions >= 0.5 * of.part_ns[SCT_LIMIT_DRAM] && instructions >= 0.25 * of.ns;
}

void count_find_speed(sct_profile *p, const sct_count_row *row, const sct_device_desc *device) {
  sct_speed *s = &p->speed;
  const double issued = (double)row->counters.machine.n[SCT_PIPE_ISSUE];
  if (!row->has_demand) {
    return;
  }
  sct_model_demand(&s->predicted, device, &row->demand);
  s->limit = SCT_LIMIT_DRAM;
  for (int k = 0; k < SCT_N_LIMITS; k++) {
    const bool longer = s->predicted.part_ns[k] > s->predicted.part_ns[s->limit];
    s->limit = longer && k != SCT_LIMIT_LAUNCH ? (sct_limit)k : s->limit;
  }
  s->ns = s->predicted.part_ns[s->limit];
  s->known = s->ns > 0.0;
  if (!s->known) {
    return;
  }
  s->limiter = sct_limit_kind(s->limit);
  s->dram_bytes = row->demand.dram_bytes;
  s->dram = s->dram_bytes / device->peak_bytes_s * 1e9 / s->ns;
  s->memory = s->dram;
  for (int k = SCT_LIMIT_L2; k <= SCT_LIMIT_ATOMICS; k++) {
    s->memory = larger(s->memory, s->predicted.part_ns[k] / s->ns);
  }
  for (int k = SCT_LIMIT_FP32; k < SCT_LIMIT_ISSUE; k++) {
    s->compute = larger(s->compute, s->predicted.part_ns[k] / s->ns);
  }
  s->issue = s->predicted.part_ns[SCT_LIMIT_ISSUE] / s->ns;
  const double more = larger(s->memory, s->compute), less = s->memory + s->compute - more;
  s->balanced = more >= 1.0 - BALANCED && less >= (1.0 - BALANCED) * more;
  s->flight_bytes = flight_of(p, row, device);
  /* blocks that ran have as much of the launch's operations as of its instructions */
  fill_roofline(s, row, device, issued > 0.0 ? row->demand.machine[SCT_PIPE_ISSUE] / issued : 1.0);
}
