/* model_penalty - what slows a kernel down that waits for something else most: a predicted time is
 * that of the longest part alone, so candidates that move the same bytes are predicted alike. */
#include "model/model.h"

#include <math.h>

#define LANES        32
#define SECTOR_BYTES 32.0
/* Fewer waves than this count as this many: nothing changes below. */
#define LEAST_WAVES 0.05

const char *sct_penalty_name(sct_penalty penalty) {
  static const char *const names[] = {
#define SCT_PENALTY(id, name) name,
#include "model_penalties.def"
#undef SCT_PENALTY
  };
  return names[penalty];
}

/* Bytes that the loads of one SM can have under way. */
static double held_bytes(const sct_workload *w, const sct_occupancy *fit) {
  const sct_counters *c = w->counters;
  const double blocks = (double)c->blocks;
  const double warps = blocks * (double)((w->code->threads + LANES - 1) / LANES);
  const double requests = (double)(c->load.requests - c->bulk_load.requests);
  const double sectors = (double)(c->load.sectors - c->bulk_load.sectors);
  const double bulk = fmin((double)c->bulk_load.distinct_bytes / blocks, (double)w->shared_bytes);
  const double of_warp = fmin(SCT_MODEL_LOADS_AT_ONCE, requests / warps) *
                         (requests > 0.0 ? sectors * SECTOR_BYTES / requests : 0.0);
  return fit->warps_sm * of_warp + fit->blocks_sm * bulk;
}

void sct_model_penalty(double out[SCT_N_PENALTIES], const sct_device_desc *dev,
                       const sct_workload *work, const sct_prediction *predicted) {
  const sct_counters *c = work->counters;
  const double clock_hz = 1e3 * dev->clock_khz;
  const double longest_ns = predicted->ns - predicted->part_ns[SCT_LIMIT_LAUNCH];
  const sct_occupancy fit =
      sct_model_occupancy(dev, work->code->threads, work->registers, work->shared_bytes);
  for (int k = 0; k < SCT_N_PENALTIES; k++) {
    out[k] = 0.0;
  }
  if (longest_ns <= 0.0 || c->blocks < 1 || fit.blocks_sm < 1 || dev->threads_sm < LANES) {
    return;
  }
  const double requests = (double)(c->load.requests + c->store.requests - c->bulk_load.requests);
  const double warps = (double)c->blocks * (double)((work->code->threads + LANES - 1) / LANES);
  const double waves = (double)c->blocks / ((double)fit.blocks_sm * dev->n_sms);
  const double held = fmax(held_bytes(work, &fit), 1.0);
  out[SCT_PENALTY_REQUESTS] = requests / dev->n_sms / clock_hz * 1e9 / longest_ns;
  out[SCT_PENALTY_FLIGHT] = log(fmax((double)dev->inflight_bytes / held, 1.0));
  out[SCT_PENALTY_BLOCKS] = log1p(1.0 / fmax(waves, LEAST_WAVES));
  out[SCT_PENALTY_IDLE] = 1.0 - fit.warps_sm / (double)(dev->threads_sm / LANES);
  out[SCT_PENALTY_CHAIN] = log1p(requests / warps);
}
