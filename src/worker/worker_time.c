/* Timing in the worker. One sample is a unit: a kernel launched back to back, behind a kernel that
 * waits until all of them are queued, often enough that the events' resolution does not matter.
 * Launches go round the copies of their buffers, so that none finds its data in the cache. */
#include "worker_state.h"

#include <stdlib.h>
#include <time.h>

#define EMPTY_LAUNCHES 129 /* of a long unit that measures what a launch costs */
#define EMPTY_SAMPLES  9
#define EMPTY_WARM_UP  64   /* units at most before that, while the clock is low */
#define LEAST_CLOCK    0.75 /* of the device's: a slower unit is taken again (nvbench's rule) */
#define MAX_TRIES      6
#define WAIT_UNITS     100  /* before the second try; the third waits twice as long */
#define WARM_UP_UNITS  5000 /* at most, for a clock that does not rise */

/* What a unit launches: a kernel, a copy (launch NULL), or the empty kernel (neither). */
typedef struct timed_work {
  const sct_launch *launch;
  const sct_worker_buffer *to, *from;
  int variant;
  bool resident; /* always the first copy of the buffers */
  int launches;  /* of a unit; of a sequence each counts as one */
  int guess;     /* of the units that warm up, before their time is known */
  int64_t unit_ns;
} timed_work;

static sct_status launch_turn(sct_worker_state *w, const timed_work *work, uint64_t turn,
                              sct_error *err) {
  const sct_backend_ops *ops = w->backend->ops;
  if (work->launch) {
    sct_launch launch = *work->launch;
    for (int k = 0; k < launch.n_args; k++) {
      const sct_arg *arg = &launch.args[k];
      if (arg->is_buffer) {
        launch.args[k].value[0] += turn % arg->copies * (uint64_t)arg->stride;
      }
    }
    return ops->launch(w->backend, &w->kernels[launch.kernel].loaded, &launch, err);
  }
  return work->to ? ops->copy(w->backend, work->variant, sct_worker_copy_at(work->to, turn),
                              sct_worker_copy_at(work->from, turn), work->to->bytes, err)
                  : ops->launch_empty(w->backend, err);
}

/* As many are queued at most: a stream that is full would wait for a kernel that waits for it. */
static int held(const timed_work *work, double launches) {
  const int most =
      SCT_MAX_HELD / (work->launch && work->launch->passes > 0 ? work->launch->passes : 1);
  return launches < 1 ? 1 : launches > most ? most : (int)launches;
}

static sct_status run_unit(sct_worker_state *w, const timed_work *work, sct_unit_time *out,
                           sct_error *err) {
  const sct_backend_ops *ops = w->backend->ops;
  SCT_TRY(ops->unit_begin(w->backend, err));
  sct_status status = SCT_OK;
  for (int k = 0; k < work->launches && status == SCT_OK; k++) {
    status = launch_turn(w, work, work->resident ? 0 : w->turn++, err);
  }
  sct_error ignored; /* the launch's failure comes first */
  const sct_status ended =
      ops->unit_end(w->backend, &out->ns, &out->mhz, status == SCT_OK ? err : &ignored);
  return status == SCT_OK ? ended : status;
}

static void wait_ns(int64_t ns) {
  const struct timespec pause = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
  nanosleep(&pause, NULL);
}

/* Throttle reasons now, added to *reasons; *hardware: some of them spoil times. */
static sct_status check_health(sct_worker_state *w, uint64_t *reasons, bool *hardware,
                               sct_error *err) {
  uint64_t now = 0;
  if (w->backend->ops->check_health) {
    SCT_TRY(w->backend->ops->check_health(w->backend, &now, err));
  }
  *hardware = sct_throttle_hardware(now) != 0;
  *reasons |= now;
  return SCT_OK;
}

static bool too_slow(const sct_worker_state *w, const sct_unit_time *unit) {
  return unit->mhz > 0 && unit->mhz < LEAST_CLOCK * 1e-3 * (double)w->backend->desc.clock_khz;
}

/* A unit at full clock; after some tries, as it is, and it counts as slow. */
static sct_status sample(sct_worker_state *w, const timed_work *work, sct_unit_time *out,
                         sct_got_time *seen, sct_error *err) {
  for (int try = 0; try < MAX_TRIES; try++) {
    bool hardware = false;
    SCT_TRY(run_unit(w, work, out, err));
    SCT_TRY(check_health(w, &seen->throttle, &hardware, err));
    if (!hardware && !too_slow(w, out)) {
      return SCT_OK;
    }
    seen->n_repeated += try + 1 < MAX_TRIES;
    wait_ns(try * WAIT_UNITS * work->unit_ns);
  }
  seen->n_slow++;
  return SCT_OK;
}

static void look_for_others(sct_worker_state *w, sct_got_time *seen) {
  const sct_backend_ops *ops = w->backend->ops;
  sct_gpu_process other;
  if (ops->newcomers && ops->newcomers(w->backend, &other) > 0) {
    seen->other = other;
    seen->n_contended++;
  }
}

/* Units until the time is over and the clock is up, and how many launches make one of `unit_ns`. */
static sct_status warm_up(sct_worker_state *w, timed_work *work, int64_t warm_ns, sct_error *err) {
  const int64_t start = sct_now_ns();
  sct_unit_time unit = {0};
  const int asked = work->launches;
  work->launches = asked > 0 ? asked : work->guess;
  SCT_TRY(run_unit(w, work, &unit, err)); /* the first loads code */
  do {
    SCT_TRY(run_unit(w, work, &unit, err));
  } while (sct_now_ns() - start < warm_ns ||
           (too_slow(w, &unit) && sct_now_ns() - start < WARM_UP_UNITS * work->unit_ns));
  if (asked == 0) {
    const double n = unit.ns > 0 ? (double)work->unit_ns * work->launches / unit.ns + 1 : 1;
    work->launches = held(work, n);
  }
  return SCT_OK;
}

static sct_status median_empty(sct_worker_state *w, int launches, double *ns, sct_error *err) {
  const timed_work work = {.launches = launches};
  double times[EMPTY_SAMPLES];
  for (int k = 0; k < EMPTY_SAMPLES; k++) {
    sct_unit_time unit;
    SCT_TRY(run_unit(w, &work, &unit, err));
    times[k] = unit.ns;
  }
  sct_sort_doubles(times, EMPTY_SAMPLES);
  *ns = times[EMPTY_SAMPLES / 2];
  return SCT_OK;
}

/* What a unit of empty launches takes: the first, and each one after it. Once a worker. */
static sct_status learn_launch_cost(sct_worker_state *w, sct_error *err) {
  if (w->knows_cost) {
    return SCT_OK;
  }
  double many = 0;
  const timed_work one = {.launches = 1};
  sct_unit_time unit = {0};
  int tried = 0;
  do { /* what is learnt at a low clock would be wrong for all that follows */
    SCT_TRY(run_unit(w, &one, &unit, err));
  } while (too_slow(w, &unit) && ++tried < EMPTY_WARM_UP);
  SCT_TRY(median_empty(w, 1, &w->first_launch_ns, err));
  SCT_TRY(median_empty(w, EMPTY_LAUNCHES, &many, err));
  const double each = (many - w->first_launch_ns) / (EMPTY_LAUNCHES - 1);
  w->next_launch_ns = each > 0 ? each : 0;
  w->knows_cost = true;
  return SCT_OK;
}

/* Are these samples all above a time of one launch, less what an empty one takes? */
static bool all_above(const sct_worker_state *w, const timed_work *work, const sct_unit_time *units,
                      int64_t n, double above_ns) {
  const double empty_ns = w->first_launch_ns + (work->launches - 1) * w->next_launch_ns;
  bool all = true;
  for (int64_t k = 0; k < n; k++) {
    all = all && (units[k].ns - empty_ns) / work->launches > above_ns;
  }
  return all;
}

static sct_status time_samples(sct_worker_state *w, timed_work *work, const sct_sampling *how,
                               sct_got_time *out, sct_error *err) {
  if (how->few > how->n || !w->backend->ops->unit_begin) {
    return sct_worker_malformed(err);
  }
  work->launches = how->launches > 0 ? held(work, how->launches) : 0;
  work->guess = held(work, how->guess);
  work->resident = how->resident;
  work->unit_ns = how->unit_ns;
  if (w->backend->ops->reset_persisting_l2) {
    w->backend->ops->reset_persisting_l2(w->backend);
  }
  if (how->warm_ns > 0 || how->launches == 0) {
    w->turn = 0; /* the first copy is written too: its results are compared afterwards */
    SCT_TRY(warm_up(w, work, how->warm_ns, err));
  }
  SCT_TRY(learn_launch_cost(w, err));
  sct_unit_time *units = SCT_ARENA_NEW(&w->memory, sct_unit_time, how->n + 1);
  int64_t n = 0;
  while (n < how->n && !(n > 0 && n == how->few && all_above(w, work, units, n, how->above_ns))) {
    SCT_TRY(sample(w, work, &units[n++], out, err));
    look_for_others(w, out);
  }
  out->launches = work->launches;
  out->first_ns = w->first_launch_ns;
  out->next_ns = w->next_launch_ns;
  out->units = units;
  out->n_units = n;
  return SCT_OK;
}

sct_status sct_worker_time(sct_worker_state *w, const sct_ask_time *in, sct_got_time *out,
                           sct_error *err) {
  sct_launch launch;
  SCT_TRY(sct_worker_set_launch(w, &in->launch, &launch, err));
  timed_work work = {.launch = &launch};
  return time_samples(w, &work, &in->how, out, err);
}

sct_status sct_worker_time_copy(sct_worker_state *w, const sct_ask_time_copy *in, sct_got_time *out,
                                sct_error *err) {
  const sct_worker_buffer *to = sct_worker_buffer_at(w, in->copy.to, err);
  const sct_worker_buffer *from = to ? sct_worker_buffer_at(w, in->copy.from, err) : NULL;
  if (!from || to->bytes != from->bytes || in->variant >= w->backend->ops->n_copies) {
    return sct_worker_malformed(err);
  }
  timed_work work = {.to = to, .from = from, .variant = in->variant};
  return time_samples(w, &work, &in->how, out, err);
}
