/* Occupancy by the arithmetic of the CUDA programming guide's occupancy rules. */
#include "model/model.h"

#include <limits.h>

#define WARP_LANES        32
#define SUB_PARTITIONS    4   /* warp schedulers of an SM; registers are handed out within one */
#define SHARED_UNIT_BYTES 128 /* allocation unit of shared memory */

static int64_t round_up(int64_t x, int64_t unit) {
  return (x + unit - 1) / unit * unit;
}

static int blocks_by_registers(const sct_device_desc *dev, int warps, int registers) {
  if (registers <= 0) {
    return INT_MAX;
  }
  const int64_t unit = dev->regs_unit > 0 ? dev->regs_unit : 256;
  const int64_t per_warp = round_up((int64_t)registers * WARP_LANES, unit);
  const int64_t warps_partition = dev->regs_sm / SUB_PARTITIONS / per_warp;
  return (int)(warps_partition * SUB_PARTITIONS / warps);
}

static int blocks_by_shared(const sct_device_desc *dev, int64_t shared_bytes) {
  const int64_t per_block = round_up(shared_bytes + dev->smem_reserved_bytes, SHARED_UNIT_BYTES);
  return per_block > 0 ? (int)(dev->smem_sm_bytes / per_block) : INT_MAX;
}

sct_occupancy sct_model_occupancy(const sct_device_desc *dev, int threads, int registers,
                                  int64_t shared_bytes) {
  sct_occupancy o = {.limit = "does not fit"};
  const int warps = (threads + WARP_LANES - 1) / WARP_LANES;
  if (warps < 1 || threads > dev->threads_block || registers > dev->regs_thread ||
      shared_bytes > dev->smem_block_optin_bytes) {
    return o;
  }
  const struct {
    int blocks;
    const char *limit;
  } limits[] = {{dev->threads_sm / (warps * WARP_LANES), "threads"},
                {dev->blocks_sm, "blocks"},
                {blocks_by_registers(dev, warps, registers), "registers"},
                {blocks_by_shared(dev, shared_bytes), "shared memory"}};
  o.blocks_sm = INT_MAX;
  for (int k = 0; k < SCT_COUNT(limits); k++) {
    if (limits[k].blocks < o.blocks_sm) {
      o.blocks_sm = limits[k].blocks;
      o.limit = limits[k].limit;
    }
  }
  if (o.blocks_sm < 1) {
    o = (sct_occupancy){.limit = "does not fit"};
    return o;
  }
  o.warps_sm = o.blocks_sm * warps;
  o.fraction = (double)(o.warps_sm * WARP_LANES) / (double)dev->threads_sm;
  return o;
}
