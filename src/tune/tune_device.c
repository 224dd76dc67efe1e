/* The device of a session: which one is asked for, its worker and its compiler. */
#include "tune/tune_device.h"
#include "tune/tune_table.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_VIRTUAL "virtual:h200"

/* The first GPU if there is one, else the virtual H200. */
static sct_status default_device(char *id, size_t n, const sct_tune_opts *opts) {
  SCT_OWNED sct_device_desc *gpus = NULL;
  int n_gpus = 0;
  sct_error ignored;
  const sct_status status = sct_measure_list(&gpus, &n_gpus, &opts->measure, &ignored);
  snprintf(id, n, "%s", status == SCT_OK && n_gpus > 0 ? gpus[0].id : DEFAULT_VIRTUAL);
  return SCT_OK;
}

/* The kind and the part after the colon of the device that the options ask for. */
static sct_status find_device(const sct_device_kind **kind, const char **name, char *id, size_t n,
                              const sct_tune_opts *opts, sct_error *err) {
  if (opts->device) {
    return sct_device_parse(kind, name, opts->device, err);
  }
  SCT_TRY(default_device(id, n, opts));
  return sct_device_parse(kind, name, id, err);
}

static sct_status open_gpu(sct_device_desc *desc, sct_measure **measure, const char *number,
                           const sct_tune_opts *opts, sct_error *err) {
  char *end;
  const long ordinal = strtol(number, &end, 10);
  if (*end != '\0' || ordinal < 0 || ordinal > 1023) {
    return sct_fail(err, SCT_EUSAGE,
                    "device 'cuda:%s': expected a number after the colon, as in cuda:0", number);
  }
  sct_measure_opts measure_opts = opts->measure;
  measure_opts.seed = opts->seed;
  SCT_TRY(sct_measure_open(measure, (int)ordinal, &measure_opts, err));
  *desc = *sct_measure_device(*measure);
  return SCT_OK;
}

static sct_status open_virtual(const sct_device_desc *desc, sct_measure **measure,
                               const sct_tune_opts *opts, sct_error *err) {
  sct_measure_opts measure_opts = opts->measure;
  measure_opts.seed = opts->seed;
  measure_opts.described = desc;
  return sct_measure_open(measure, 0, &measure_opts, err);
}

static sct_status open_replay(sct_device_desc *desc, tune_replay **replay, sct_measure **measure,
                              const char *name, const sct_tune_opts *opts, sct_error *err) {
  SCT_TRY(sct_tune_replay_open(replay, name, err));
  const sct_measure_opts measure_opts = {.seed = opts->seed,
                                         .recording = sct_tune_replay_recording(*replay)};
  SCT_TRY(sct_measure_open(measure, 0, &measure_opts, err));
  *desc = *sct_measure_device(*measure);
  return SCT_OK;
}

sct_status sct_tune_device(sct_device_desc *out, const sct_tune_opts *opts, sct_error *err) {
  const sct_device_kind *kind;
  const char *name;
  char id[32];
  sct_measure *measure = NULL;
  SCT_TRY(find_device(&kind, &name, id, sizeof id, opts, err));
  if (!kind->times) {
    return sct_script_load_device(out, name, err);
  }
  sct_tune_opts look = *opts;
  tune_replay *replay = NULL;
  look.measure.look_only = true;
  const sct_status status = kind->replays ? open_replay(out, &replay, &measure, name, opts, err)
                                          : open_gpu(out, &measure, name, &look, err);
  sct_measure_close(measure);
  sct_tune_replay_free(replay);
  return status;
}

void sct_tune_mark_described(sct_device_desc *devices, int n) {
  const sct_compile_opts opts = {.arch = "sm_90", .threads = 1}; /* every toolkit has this one */
  SCT_OWNED_PTR(sct_compiler) probe = NULL;
  if (sct_compiler_new(&probe, &opts, NULL) != SCT_OK) {
    return; /* no NVRTC at all is reported elsewhere */
  }
  for (int k = 0; k < n; k++) {
    sct_device_desc *d = &devices[k];
    d->counting_only |= !sct_compiler_knows(probe, 10 * d->cc_major + d->cc_minor);
  }
}

/* INT_MAX for a device that candidates cannot be compiled for. */
static int capability_apart(const sct_device_desc *d, const sct_device_desc *wanted) {
  const int apart = abs(10 * (d->cc_major - wanted->cc_major) + d->cc_minor - wanted->cc_minor);
  return d->counting_only ? INT_MAX : apart;
}

/* The device that is the least `far` from the wanted one; INT_MAX: not to be taken. */
static bool nearest(sct_device_desc *out, const sct_device_desc *devices, int n,
                    const sct_device_desc *wanted,
                    int (*far)(const sct_device_desc *d, const sct_device_desc *wanted)) {
  int least = INT_MAX;
  for (int k = 0; k < n; k++) {
    const int apart = far(&devices[k], wanted);
    if (apart < least) {
      least = apart;
      *out = devices[k];
    }
  }
  return least < INT_MAX;
}

/* A described device that the toolkit does not compile for: it can be counted for, not tuned for.
 */
static sct_status not_compiled_for(const sct_device_desc *d, sct_error *err) {
  SCT_SCOPED(sct_arena) arena = {0};
  SCT_SCOPED(sct_str) text = {0};
  sct_device_desc usable, *all;
  int n = 0;
  sct_str_printf(&text,
                 "device '%s' is described only: this toolkit cannot compile for "
                 "compute capability %d.%d",
                 d->id, d->cc_major, d->cc_minor);
  (void)sct_script_load_devices(&all, &n, &arena, NULL);
  sct_tune_mark_described(all, n);
  if (nearest(&usable, all, n, d, capability_apart)) {
    sct_str_printf(&text, "; the nearest device to tune for is %s (%d.%d)", usable.id,
                   usable.cc_major, usable.cc_minor);
  }
  return sct_fail(err, SCT_ENODEVICE, "%s", sct_str_c(&text));
}

static sct_status open_worker(tune_device *d, const sct_tune_opts *opts, bool compiles,
                              sct_error *err) {
  const char *name;
  char id[32];
  SCT_TRY(find_device(&d->kind, &name, id, sizeof id, opts, err));
  if (d->kind->replays) {
    return open_replay(&d->desc, &d->replay, &d->measure, name, opts, err);
  }
  if (d->kind->times) {
    return open_gpu(&d->desc, &d->measure, name, opts, err);
  }
  SCT_TRY(sct_script_load_device(&d->desc, name, err));
  if (d->desc.counting_only && compiles) {
    return not_compiled_for(&d->desc, err);
  }
  return open_virtual(&d->desc, &d->measure, opts, err);
}

static sct_status open_compiler(tune_device *d, const sct_tune_opts *session, sct_error *err) {
  SCT_SCOPED(sct_str) cache = {0};
  if (!session->cache_dir) {
    sct_path_cache(&cache);
  } else {
    sct_str_append(&cache, session->cache_dir);
  }
  char arch[16];
  snprintf(arch, sizeof arch, "sm_%d%d", d->desc.cc_major, d->desc.cc_minor);
  const sct_compile_opts opts = {.arch = arch,
                                 .threads = session->compile_threads,
                                 .limit_ns = session->compile_limit_ns,
                                 .place = session->place,
                                 .n_places = session->n_places,
                                 .cache_dir = cache.len ? sct_str_c(&cache) : NULL};
  const sct_status status = sct_compiler_new(&d->compiler, &opts, err);
  return status == SCT_EUSAGE && d->desc.is_virtual ? not_compiled_for(&d->desc, err) : status;
}

sct_status sct_tune_device_open(tune_device *out, const sct_tune_opts *opts, sct_error *err) {
  out->naive_set = -1;
  SCT_TRY(open_worker(out, opts, true, err));
  out->checked = out->kind->times && !out->replay && !opts->no_check;
  return out->replay ? SCT_OK : open_compiler(out, opts, err);
}

sct_status sct_tune_device_open_bare(tune_device *out, const sct_tune_opts *opts, sct_error *err) {
  return open_worker(out, opts, false, err);
}

static sct_status open_peer(tune_device *out, const sct_tune_opts *session, sct_error *err) {
  sct_tune_opts opts = *session;
  opts.device = session->peer;
  opts.measure.hold_only = true;
  if (opts.device) {
    SCT_TRY(sct_tune_device_open_bare(out, &opts, err));
  }
  return out->replay
             ? sct_fail(err, SCT_EUSAGE, "a replay has no transfers: take the device itself")
             : SCT_OK;
}

static sct_status check_peer(const tune_device *device, const tune_device *peer, sct_error *err) {
  const sct_device_desc *a = &device->desc, *b = &peer->desc;
  if (device->kind != peer->kind) {
    return sct_fail(err, SCT_EUSAGE,
                    "nothing is copied between %s and %s: expected two GPUs or two virtual devices",
                    a->id, b->id);
  }
  return !a->is_virtual && strcmp(a->id, b->id) == 0
             ? sct_fail(err, SCT_EUSAGE, "%s is one device: expected another one to copy to", a->id)
             : SCT_OK;
}

sct_status sct_tune_devices_open(tune_device *device, tune_device *peer, const sct_tune_opts *opts,
                                 bool bare, sct_error *err) {
  const bool peer_first = opts->peer && opts->device && strcmp(opts->peer, opts->device) < 0;
  if (peer_first) {
    SCT_TRY(open_peer(peer, opts, err));
  }
  SCT_TRY(bare ? sct_tune_device_open_bare(device, opts, err)
               : sct_tune_device_open(device, opts, err));
  if (!peer_first) {
    SCT_TRY(open_peer(peer, opts, err));
  }
  return opts->peer ? check_peer(device, peer, err) : SCT_OK;
}

void sct_tune_device_close(tune_device *d) {
  sct_tune_replay_free(d->replay);
  if (d->compiler) {
    sct_compiler_free(d->compiler);
  }
}

const sct_conditions *sct_tune_conditions_of(const tune_device *d) {
  return d->kind->times && !d->kind->replays ? sct_measure_conditions(d->measure) : NULL;
}

sct_status sct_tune_set_problem(tune_device *d, const sct_tune_candidates *cands, int naive,
                                sct_error *err) {
  const sct_binary binary = sct_tune_binary(&cands->items[naive]);
  return sct_measure_problem(d->measure, &cands->spec, cands->items[naive].code.layout, &binary,
                             err);
}

/* ---- what a GPU does not tell ---- */

static void take_rates(sct_device_desc *out, const sct_device_desc *like) {
  const double sms = like->n_sms > 0 ? (double)out->n_sms / like->n_sms : 1.0;
  out->l2_bytes_clk = (int)((double)like->l2_bytes_clk * sms);
  memcpy(out->pipe_clk, like->pipe_clk, sizeof out->pipe_clk);
  out->latency_cycles = like->latency_cycles;
  out->l2_latency_cycles = like->l2_latency_cycles;
  out->shared_latency_cycles = like->shared_latency_cycles;
  out->alu_cycles = like->alu_cycles;
  out->sfu_cycles = like->sfu_cycles;
  out->l1_bytes = like->l1_bytes;
  out->l1_bytes_clk = like->l1_bytes_clk;
  out->sm_bytes_clk = like->sm_bytes_clk;
  out->part_store_sectors = like->part_store_sectors;
  out->block_ns = like->block_ns;
  out->launch_ns = like->launch_ns;
  out->atomic_sector_ns = like->atomic_sector_ns;
  out->atomic_line_ns = like->atomic_line_ns;
  out->atomic_lane_ns = like->atomic_lane_ns;
  out->inflight_bytes = out->inflight_bytes > 0 ? out->inflight_bytes : like->inflight_bytes;
}

/* SMs between the two, less for one of the same name; INT_MAX for one of another compute
 * capability. */
static int sms_apart(const sct_device_desc *d, const sct_device_desc *wanted) {
  return d->cc_major != wanted->cc_major || d->cc_minor != wanted->cc_minor ? INT_MAX
         : strcmp(d->name, wanted->name) == 0 ? abs(d->n_sms - wanted->n_sms) - wanted->n_sms
                                              : abs(d->n_sms - wanted->n_sms);
}

bool sct_tune_nearest_device(sct_device_desc *out, const sct_device_desc *wanted) {
  SCT_SCOPED(sct_arena) arena = {0};
  sct_device_desc *all;
  int n = 0;
  (void)sct_script_load_devices(&all, &n, &arena, NULL);
  return nearest(out, all, n, wanted, sms_apart);
}

/* Rates measured on the GPU itself. A stand-in has none. */
static bool take_measured(tune_device *on, const sct_tune_opts *opts) {
  sct_device_desc measured;
  sct_error why;
  if (!on->compiler || sct_measure_stands_in(on->measure)) {
    return false;
  }
  if (sct_tune_calibrated(&measured, on, opts, &why) != SCT_OK) {
    sct_log(SCT_LOG_WARN, "%s is not calibrated, predictions are those of a described device: %s",
            on->desc.id, why.text);
    return false;
  }
  take_rates(&on->rated, &measured);
  on->rated.copy_bytes_s = measured.copy_bytes_s;
  return true;
}

void sct_tune_fill_rates(tune_device *on, const sct_tune_opts *opts) {
  sct_device_desc like;
  on->rated = on->desc;
  if (!on->desc.is_virtual && on->desc.l2_bytes_clk <= 0 && !on->replay &&
      take_measured(on, opts)) {
    return;
  }
  if (!on->desc.is_virtual && on->desc.l2_bytes_clk <= 0 &&
      sct_tune_nearest_device(&like, &on->desc)) {
    take_rates(&on->rated, &like);
  }
}
