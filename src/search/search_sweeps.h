/* search_sweeps - what the readers of recorded sweeps share. */
#ifndef SCT_SEARCH_SWEEPS_H
#define SCT_SEARCH_SWEEPS_H

#include "search/search.h"

/* A further sweep for up to n_points candidates; *out is good until the next one. Texts are copied.
 */
void sweep_begin(sct_sweep **out, sct_replay *replay, int n_points, const char *kernel,
                 const char *size, const char *device);
/* Times of the candidate that was added last; copied. */
void sweep_samples(sct_replay *replay, sct_sweep *sweep, double median_ns, const double *samples_ns,
                   int n);
/* Drops the last sweep if nothing in it has a time. */
void sweep_end(sct_replay *replay);

sct_status sweeps_from_json(sct_replay *out, const char *path, sct_error *err) SCT_MUST_USE;
sct_status sweeps_from_store(sct_replay *out, const char *path, sct_error *err) SCT_MUST_USE;

#endif
