/* tune_host - what a session over ways from the host and back is made of. */
#ifndef SCT_TUNE_HOST_H
#define SCT_TUNE_HOST_H

#include "ptx/ptx.h"
#include "tune/tune_device.h"

/* ---- ways (tune_host_ways.c) ---- */

#define HOST_MOST_ROWS  32
#define HOST_MOST_TIMED 17 /* of a size */
/* Whole; in chunks of 4, 16 and 64 MiB, where that is not all; through a ring, which is to stay in
 * the cores' caches, of 1, 2 and 4 MiB. step: bytes of the largest array for an element. */
void sct_host_list_ways(sct_host_size *z, const sct_spec *spec, int64_t step);
/* The best of those by the model, and whole halves, by two devices. */
void sct_host_list_halves(sct_host_size *z);
int64_t sct_host_half(int64_t n); /* the larger one, the first device's */
/* Is it worth a run? Of what is timed those that the model ranks first. */
bool sct_host_is_wanted(const sct_host_report *r, const sct_host_size *z, int k);

/* ---- what copies take (tune_host_rates.c) ---- */

typedef struct tune_rates {
  const sct_device_desc *device;        /* states them, where nothing is measured */
  const sct_transfer_report *transfers; /* NULL: stated */
} tune_rates;
double sct_rates_copy_ns(const tune_rates *r, sct_host_kind kind, sct_way way, double bytes);
/* Nanoseconds of a copy on the host by one of several threads that all copy. */
double sct_rates_host_ns(const tune_rates *r, double bytes, int threads);
double sct_rates_lock_ns(const tune_rates *r, double bytes);
/* What an operation of a way other than a kernel takes, and a kernel that would take kernel_ns. */
double sct_rates_ns(const tune_rates *r, const sct_pipeline *p, sct_host_work_kind work,
                    int64_t bytes);
double sct_rates_kernel_ns(const tune_rates *r, const sct_pipeline *p, double kernel_ns);

/* ---- what is kept (tune_host_store.c) ---- */

typedef struct tune_host_store {
  sct_store *store; /* NULL: keep nothing */
  sct_arena *arena;
  sct_row_problem problem; /* of ways, which is one of its own */
  sct_row_device device;
  const char *spec_name, *spec_hash;
  bool is_known; /* the store has the spec */
} tune_host_store;
sct_status sct_host_store_open(tune_host_store *out, const tune_device *device,
                               const sct_spec *spec, const sct_tune_opts *opts, sct_arena *arena,
                               sct_error *err);
sct_status sct_host_store_keep(tune_host_store *s, const sct_spec *spec, const sct_size *size,
                               const sct_host_size *found, sct_error *err);

#endif
