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
double sct_rates_kernel_ns(const tune_rates *r, const sct_pipeline *p, double kernel_ns) {
  double in = 0, out = 0;
  for (int k = 0; k < p->spec->n_operands && p->way.memory == SCT_HOST_MAPPED; k++) {
    in += (double)sct_pipeline_copied(p, k, false);
    out += (double)sct_pipeline_copied(p, k, true);
  }
  const double link_ns = sct_rates_copy_ns(r, SCT_HOST_MAPPED, SCT_TO_DEVICE, in) +
                         sct_rates_copy_ns(r, SCT_HOST_MAPPED, SCT_TO_HOST, out);
  return kernel_ns > link_ns ? kernel_ns : link_ns;
}

double sct_rates_ns(const tune_rates *r, const sct_pipeline *p, sct_host_work_kind work,
                    int64_t amount) {
  const bool direct = p->way.memory == SCT_HOST_PAGEABLE && p->way.threads == 0;
  const double bytes = (double)amount, peak = r->device->peak_bytes_s;
  const double moved = work == SCT_HOST_STAGE ? 2 * bytes : bytes;
  switch (work) {
  case SCT_HOST_IN:
  case SCT_HOST_OUT:
    return sct_rates_copy_ns(r, direct ? SCT_HOST_PAGEABLE : SCT_HOST_LOCKED,
                             p->dry.n_chunks > 1 && !direct ? SCT_BOTH_WAYS
                             : work == SCT_HOST_IN          ? SCT_TO_DEVICE
                                                            : SCT_TO_HOST,
                             bytes);
  case SCT_HOST_TO_RING:
  case SCT_HOST_FROM_RING:
    return sct_rates_host_ns(r, bytes, p->dry.n_threads);
  default:
    return r->device->launch_ns + (peak > 0 ? moved / peak * 1e9 : 0);
  }
}
