/* What copies between host and device take: by a described device's rates, or as `transfer` has
 * measured them; and what the host's own copies take. */
#include "tune/tune_host.h"

/* A virtual machine of 16 cores with an H200, 2026-11-27: one thread copies 13 GB/s, 16 threads
 * with a ring that stays in their caches 104 GB/s. */
#define HOST_COPY_BYTES_S 13e9
#define THREADS_AT_BEST   15.0
/* There, too: 1 GiB registered takes 0.03 s more than one that is pageable. */
#define LOCK_BYTES_S 36e9

static double median_at(const tune_rates *r, sct_host_kind kind, int way, int z) {
  return r->transfers->rows[kind][way].cells[z].times.median_ns;
}

/* Between two sizes as if time grew evenly with bytes, and so beyond the last one; below the first
 * it is a latency. */
static double measured_ns(const tune_rates *r, sct_host_kind kind, int way, double bytes) {
  int below = -1, above = -1;
  for (int z = 0; z < r->transfers->n_sizes; z++) {
    if (median_at(r, kind, way, z) > 0 &&
        (above < 0 || (double)r->transfers->bytes[above] < bytes)) {
      below = above;
      above = z;
    }
  }
  if (above < 0) {
    return 0;
  }
  const double last = (double)r->transfers->bytes[above], ns = median_at(r, kind, way, above);
  if (below < 0) {
    return bytes < last ? ns : ns * bytes / last;
  }
  const double first = (double)r->transfers->bytes[below],
               first_ns = median_at(r, kind, way, below);
  const double slope = ns > first_ns ? (ns - first_ns) / (last - first) : ns / last;
  return ns + slope * (bytes - last);
}

double sct_rates_copy_ns(const tune_rates *r, sct_host_kind kind, sct_way way, double bytes) {
  if (bytes <= 0) {
    return 0;
  }
  const double ns = r->transfers ? measured_ns(r, kind, way, bytes) : 0;
  return ns > 0 ? ns : sct_stated_transfer_ns(r->device, NULL, kind, way, (int64_t)bytes);
}

double sct_rates_host_ns(const tune_rates *r, double bytes, int threads) {
  const double one =
      r->device->host_copy_bytes_s > 0 ? r->device->host_copy_bytes_s : HOST_COPY_BYTES_S;
  return bytes / one * (1 + (threads - 1) / THREADS_AT_BEST) * 1e9;
}

double sct_rates_lock_ns(const tune_rates *r, double bytes) {
  const sct_transfer_report *t = r->transfers;
  for (int z = t ? t->n_sizes - 1 : -1; z >= 0; z--) {
    const double locked = median_at(r, SCT_HOST_REGISTERED, SCT_TRANSFER_SETUP, z);
    const double plain = median_at(r, SCT_HOST_PAGEABLE, SCT_TRANSFER_SETUP, z);
    if (locked > plain && plain > 0) {
      return (locked - plain) * bytes / (double)t->bytes[z];
    }
  }
  return bytes / LOCK_BYTES_S * 1e9;
}

/* A kernel that works on the host's arrays waits for the link. Its reads and writes hardly overlap:
 * there 50 GB/s one way, 54 both ways together. */
static double mapped_ns(const tune_rates *r, const sct_pipeline *p, double kernel_ns) {
  double in = 0, out = 0;
  for (int k = 0; k < p->spec->n_operands; k++) {
    const bool is_copied = !p->spec->operands[k].stays;
    in += is_copied && p->is_in[k] ? (double)p->bytes[k] : 0;
    out += is_copied && p->spec->operands[k].is_output ? (double)p->bytes[k] : 0;
  }
  const double link_ns = sct_rates_copy_ns(r, SCT_HOST_MAPPED, SCT_TO_DEVICE, in) +
                         sct_rates_copy_ns(r, SCT_HOST_MAPPED, SCT_TO_HOST, out);
  return kernel_ns > link_ns ? kernel_ns : link_ns;
}

void sct_rates_fill(const tune_rates *r, const sct_pipeline *p, const double *kernel_ns,
                    sct_pipe_step *steps) {
  const bool direct = p->way.memory == SCT_HOST_PAGEABLE && p->way.threads == 0;
  const sct_host_kind kind = direct ? SCT_HOST_PAGEABLE : SCT_HOST_LOCKED;
  for (int k = 0; k < p->n_ops; k++) {
    const sct_host_op *op = &p->ops[k];
    const double bytes = (double)op->bytes;
    const sct_way way = p->n_chunks > 1 && !direct   ? SCT_BOTH_WAYS
                        : op->kind == SCT_HOST_OP_IN ? SCT_TO_DEVICE
                                                     : SCT_TO_HOST;
    switch (op->kind) {
    case SCT_HOST_OP_KERNEL:
      steps[k].ns = kernel_ns[p->launches[op->launch].extent];
      steps[k].ns = p->way.memory == SCT_HOST_MAPPED ? mapped_ns(r, p, steps[k].ns) : steps[k].ns;
      break;
    case SCT_HOST_OP_IN:
    case SCT_HOST_OP_OUT:
      steps[k].ns = sct_rates_copy_ns(r, op->ring >= 0 ? SCT_HOST_LOCKED : kind, way, bytes);
      break;
    case SCT_HOST_OP_STAGE_IN:
    case SCT_HOST_OP_STAGE_OUT:
      steps[k].ns = r->device->launch_ns;
      steps[k].ns += r->device->peak_bytes_s > 0 ? 2 * bytes / r->device->peak_bytes_s * 1e9 : 0;
      break;
    case SCT_HOST_OP_SET:
      steps[k].ns = r->device->launch_ns;
      steps[k].ns += r->device->peak_bytes_s > 0 ? bytes / r->device->peak_bytes_s * 1e9 : 0;
      break;
    default:
      steps[k].ns = sct_rates_host_ns(r, bytes, p->n_threads);
    }
  }
}
