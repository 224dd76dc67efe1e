/* count_speed - how much of what a device can do a launch asks for, by the model that candidates
 * are predicted with: what it waits for, and where it stands in a roofline. */
#include "count/count_internal.h"

#include <math.h>

#define LANES        32
#define SECTOR_BYTES 32.0

static sct_count count_of(const sct_ptx_global *a, const sct_ptx_global *b) {
  sct_ptx_global sum = *a;
  sct_ptx_global_add(&sum, b);
  return (sct_count){.requests = sum.requests,
                     .sectors = sum.sectors,
                     .sectors_ideal = sum.sectors_ideal,
                     .tags = sum.tags,
                     .distinct_bytes = sum.distinct_bytes};
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
                               .l1_bytes = left > least ? left : least,
                               .l2_bytes =
                                   (int64_t)(SCT_MODEL_L2_SHARE * (double)device->l2_bytes)};
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
  s->flight_bytes = flight_of(p, row, device);
  /* blocks that ran have as much of the launch's operations as of its instructions */
  fill_roofline(s, row, device, issued > 0.0 ? row->demand.machine[SCT_PIPE_ISSUE] / issued : 1.0);
}
