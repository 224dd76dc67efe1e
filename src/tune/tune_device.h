/* tune_device - what a session compiles for and measures on. */
#ifndef SCT_TUNE_DEVICE_H
#define SCT_TUNE_DEVICE_H

#include "tune/tune.h"

typedef struct tune_replay tune_replay; /* tune_replay.c */

typedef struct tune_device {
  const sct_device_kind *kind;
  sct_device_desc desc;
  sct_device_desc rated; /* desc, with the rates that a GPU does not report */
  sct_measure *measure;
  sct_compiler *compiler;
  tune_replay *replay; /* NULL, or the recording that stands in for the device: no compiler then */
  bool checked;        /* candidates are checked on the CPU before the device runs them */
  int naive_set;       /* item whose layouts the worker has arrays for; -1: none */
} tune_device;

/* Device, worker and compiler. What is zero may be closed. */
sct_status sct_tune_device_open(tune_device *out, const sct_tune_opts *opts, sct_error *err);
/* Without a compiler: no kernel of it will run. */
sct_status sct_tune_device_open_bare(tune_device *out, const sct_tune_opts *opts, sct_error *err);
/* Opens opts->device, with a compiler or `bare`, and opts->peer where one is named, which is held
 * for the first device's worker. Of two GPUs the one of the smaller name is held first, so that two
 * sessions never wait for each other. SCT_EUSAGE for a peer that is the same GPU, or of another
 * sort. */
sct_status sct_tune_devices_open(tune_device *device, tune_device *peer, const sct_tune_opts *opts,
                                 bool bare, sct_error *err);
void sct_tune_device_close(
    tune_device *d); /* the worker before, the compiler after the candidates */
/* Fills `rated`: a driver reports limits and clocks, not what L2 or an SM does a cycle. A GPU's
 * rates are measured at its first use and kept; where that fails, they come from the description of
 * the same compute capability that is nearest (sct_tune_nearest_device); where there is none,
 * nothing is predicted and a search begins in the order of counts. */
void sct_tune_fill_rates(tune_device *d, const sct_tune_opts *opts);
/* The described device of this name, else of this compute capability that is nearest in
 * multiprocessors. false: there is none, and `out` is left alone. */
bool sct_tune_nearest_device(sct_device_desc *out, const sct_device_desc *wanted);

/* ---- calibration (tune_calibrate.c) ---- */

/* Appends a description of the GPU as a device file, with what micro-kernels measure on it. */
sct_status sct_tune_calibrate(sct_str *out, const tune_device *on, sct_error *err);
/* The constants of `out` that `c` measures: those of `like`, an H200, by how this device compares
 * with one in each micro-kernel. So they mean what the model was fitted with, whatever else a
 * micro-kernel's time contains. */
void sct_tune_apply_calibration(sct_device_desc *out, const sct_device_desc *like,
                                const sct_calibration *c);
/* What is kept of the GPU; measured now, and kept, if nothing is. */
sct_status sct_tune_calibrated(sct_device_desc *out, const tune_device *on,
                               const sct_tune_opts *opts, sct_error *err);
/* The file of a GPU: in `devices` next to the store. */
sct_status sct_tune_calibration_path(sct_str *out, const char *store, const char *uuid,
                                     sct_error *err);

/* The conditions on the GPU while it timed; NULL where nothing is measured on one. */
const sct_conditions *sct_tune_conditions_of(const tune_device *d);
/* Has the worker make what the candidates of item `naive`'s layouts are verified with. */
sct_status sct_tune_set_problem(tune_device *d, const sct_tune_candidates *cands, int naive,
                                sct_error *err);

/* ---- recordings (tune_replay.c) ---- */

/* The recording "FILE" or "FILE#DEVICE" of a device `replay:...`. SCT_EDATA for what is no store;
 * SCT_EUSAGE where it has several devices; SCT_ENODEVICE. */
sct_status sct_tune_replay_open(tune_replay **out, const char *name, sct_error *err);
void sct_tune_replay_free(tune_replay *r); /* accepts NULL */
const sct_recording *sct_tune_replay_recording(const tune_replay *r);
/* Reads the results of the spec. SCT_EDATA if there are none. */
sct_status sct_tune_replay_load(tune_replay *r, const sct_tune_candidates *cands, sct_error *err);
void sct_tune_replay_compiled(const tune_replay *r, sct_tune_candidates *cands, int item);
/* A sentence: the winner of a size against the best that was recorded; NULL: nothing is known.
 * winner NULL: none. */
const char *sct_tune_replay_best(const tune_replay *r, const sct_tune_item *winner, int size,
                                 bool select_any, sct_arena *arena);

#endif
