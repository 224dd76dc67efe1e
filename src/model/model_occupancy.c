/* model_occupancy - how many blocks of a kernel an SM holds at once.
 *
 * Registers are handed out a warp at a time, rounded up to regs_unit, and an SM's registers are
 * split evenly over its four sub-partitions: a warp lives in one of them, so what is left over in
 * each is lost. CC 2.x has two halves instead; CC 1.x hands registers out to a block, for an even
 * number of warps. Shared memory is handed out a block at a time, rounded up, with the part that
 * the system keeps for every block (1 KB from compute capability 8.0). */
#include "model/model.h"

#define WARP_LANES     32
#define SUB_PARTITIONS 4

static int64_t round_up(int64_t value, int64_t unit) {
  return unit > 1 ? (value + unit - 1) / unit * unit : value;
}

static int64_t blocks_by_registers(const sct_device_desc *dev, int64_t warps, int registers) {
  if (registers < 1) {
    return INT64_MAX;
  }
  const int64_t parts = dev->warp_unit > 0 ? dev->warp_unit : SUB_PARTITIONS;
  if (dev->regs_by_block) {
    const int64_t lanes = round_up(warps, parts) * WARP_LANES;
    return dev->regs_sm / round_up(registers * lanes, dev->regs_unit);
  }
  const int64_t a_warp = round_up((int64_t)registers * WARP_LANES, dev->regs_unit);
  return dev->regs_sm / parts / a_warp * parts / warps;
}

static int64_t blocks_by_shared(const sct_device_desc *dev, int64_t shared_bytes) {
  const int64_t by_cc = dev->cc_major >= 8 ? 128 : 256; /* bytes */
  const int64_t unit = dev->smem_unit > 0 ? dev->smem_unit : by_cc;
  const int64_t a_block = round_up(shared_bytes + dev->smem_reserved_bytes, unit);
  return a_block > 0 ? dev->smem_sm_bytes / a_block : INT64_MAX;
}

sct_occupancy sct_model_occupancy(const sct_device_desc *dev, int threads, int registers,
                                  int64_t shared_bytes) {
  const int64_t warps = (threads + WARP_LANES - 1) / WARP_LANES;
  const int64_t shared_most = dev->smem_block_optin_bytes > dev->smem_block_bytes
                                  ? dev->smem_block_optin_bytes
                                  : dev->smem_block_bytes;
  sct_occupancy o = {.limit = "does not fit"};
  if (threads < 1 || threads > dev->threads_block || registers > dev->regs_thread ||
      shared_bytes > shared_most) {
    return o;
  }
  const struct {
    int64_t blocks;
    const char *name;
  } limits[] = {/* of equal ones the first is named */
                {dev->threads_sm / WARP_LANES / warps, "threads"},
                {dev->blocks_sm, "blocks"},
                {blocks_by_registers(dev, warps, registers), "registers"},
                {blocks_by_shared(dev, shared_bytes), "shared memory"}};
  int least = 0;
  for (int k = 1; k < SCT_COUNT(limits); k++) {
    least = limits[k].blocks < limits[least].blocks ? k : least;
  }
  if (limits[least].blocks < 1) {
    return o;
  }
  o.blocks_sm = (int)limits[least].blocks;
  o.warps_sm = (int)(limits[least].blocks * warps);
  o.fraction = (double)o.warps_sm * WARP_LANES / dev->threads_sm;
  o.limit = limits[least].name;
  return o;
}
