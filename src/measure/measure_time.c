/* Timing: samples of one candidate until its median is known well enough, or of several in turns;
 * results are checked before and after. */
#include "measure_session.h"

#include <stdlib.h>
#include <string.h>

#define DEFAULT_BUDGET   ((int64_t)2000000000)
#define QUICK_SAMPLES    3   /* of a candidate that is hopeless, or takes long */
#define HOPELESS         1.5 /* times the best median so far */
#define LONG_NS          5e6 /* of a launch that is 25 units: three samples do, one if hopeless */
#define SLOW_NS          2e7 /* of a launch that is checked before and after its samples only */
#define ENDLESS_NS       2e8 /* of a launch of which one sample does */
#define FIRST_SAMPLES    7
#define GUESSED_LAUNCHES 4
#define MORE_SAMPLES     6
#define MAX_SAMPLES      101
#define RESIDENT_SAMPLES 5
#define WANTED_ERROR     0.005
#define COLD_AFTER_NS    ((int64_t)500000000) /* clocks have fallen after this long without work */
#define WARM_COLD_NS     ((int64_t)150000000)
#define WARM_HOT_NS      ((int64_t)500000)

/* ---- what a time may be ---- */

/* Least time in which the memory can have moved these bytes: reads come from DRAM (the flush saw to
 * that), writes may stay in L2. Gathers may hit the same sectors again, so they prove nothing. */
static double floor_ns(const sct_measure *m) {
  const sct_shape *s = &m->timed.shape;
  const sct_spec *spec = m->addressing.spec;
  int64_t read = 0, written = 0, inputs = 0;
  sct_size size = {.extent = (int64_t *)s->extent, .fill = (sct_fill *)s->fill};
  sct_spec_traffic(spec, &size, &read, &written);
  for (int k = 0; k < spec->n_operands; k++) {
    if (spec->operands[k].through_index || spec->operands[k].accumulate != SCT_REDUCE_NONE) {
      return 0;
    }
    inputs += k < spec->n_inputs || spec->operands[k].is_inout ? s->op[k].bytes : 0;
  }
  const int64_t from_dram = read < inputs ? read : inputs;
  const int64_t to_dram = written > m->device.l2_bytes ? written - m->device.l2_bytes : 0;
  return m->device.peak_bytes_s > 0 ? (double)(from_dram + to_dram) / m->device.peak_bytes_s * 1e9
                                    : 0;
}

static void check_plausible(const sct_measure *m, sct_timing *t) {
  const double least = floor_ns(m);
  if (t->times.median_ns < least) {
    char seen[32], floor[32];
    sct_verdict_set(&t->verdict, SCT_OUT_IMPLAUSIBLE,
                    "median %s; at the memory's peak it takes %s at least",
                    sct_format_ns(seen, t->times.median_ns), sct_format_ns(floor, least));
  }
}

/* ---- one candidate ---- */

int64_t sct_warm_up_ns(const sct_measure *m) {
  return sct_now_ns() - m->last_timed_ns > COLD_AFTER_NS ? WARM_COLD_NS : WARM_HOT_NS;
}

static bool precise(const sct_timing *t) {
  double sorted[MAX_SAMPLES];
  const int n = t->times.n_samples < MAX_SAMPLES ? t->times.n_samples : MAX_SAMPLES;
  memcpy(sorted, t->times.samples_ns, sizeof sorted[0] * (size_t)n);
  sct_sort_doubles(sorted, (size_t)n);
  return sct_stats_median_error(sorted, n) <= WANTED_ERROR;
}

/* A candidate at the current size. */
typedef struct racer {
  sct_job job;
  sct_target target;
  sct_timing *t;
} racer;

static bool alive(const racer *r) {
  return r->t->verdict.outcome == SCT_OUT_OK;
}

/* How many samples more; 0: enough. */
static int wanted(const racer *r, int64_t end) {
  const int left = MAX_SAMPLES - r->t->times.n_samples;
  const bool enough = r->t->times.n_samples < FIRST_SAMPLES || sct_now_ns() >= end || precise(r->t);
  return enough ? 0 : left < MORE_SAMPLES ? left : MORE_SAMPLES;
}

static int guess_launches(const racer *r) {
  const double n = r->target.run_ns > 0 ? (double)SCT_UNIT_NS / r->target.run_ns : GUESSED_LAUNCHES;
  return n < 1 ? 1 : n > GUESSED_LAUNCHES ? GUESSED_LAUNCHES : (int)n;
}

static bool is_slow(const racer *r) {
  return r->target.run_ns >= SLOW_NS;
}

/* A launch is a unit, and the one that was checked has warmed up, unless the GPU was idle. Of
 * several copies the launches of a warm-up write the first one, which is compared afterwards. */
static bool is_long(const sct_measure *m, const racer *r) {
  return r->target.run_ns >= (m->timed.copies == 1 ? LONG_NS : SLOW_NS);
}

static sct_sampling first_sampling(const sct_measure *m, const racer *r) {
  const double best_ns = m->timed.best_ns, run_ns = r->target.run_ns;
  const int64_t warm_ns = sct_warm_up_ns(m);
  if (is_long(m, r)) {
    const bool hopeless = run_ns >= ENDLESS_NS || (best_ns > 0 && run_ns > HOPELESS * best_ns);
    return (sct_sampling){.warm_ns = run_ns < SLOW_NS && warm_ns > WARM_HOT_NS ? warm_ns : 0,
                          .launches = 1,
                          .n = hopeless ? 1 : QUICK_SAMPLES};
  }
  sct_sampling how = {.warm_ns = warm_ns, .guess = guess_launches(r), .n = FIRST_SAMPLES};
  if (best_ns > 0) {
    how.few = QUICK_SAMPLES;
    how.above_ns = HOPELESS * best_ns;
  }
  return how;
}

/* One launch over poison. A slow naive variant had it when it made the reference. */
static sct_status check_first(sct_measure *m, racer *r, sct_error *err) {
  r->target.run_ns = m->timed.naive_ns;
  if (sct_is_naive(m, r->job.binary) && is_slow(r)) {
    return SCT_OK;
  }
  return sct_timed_check_run(m, &r->job, &r->target, false, &r->target.run_ns, &r->t->verdict, err);
}

/* Samples of a candidate that was loaded; results are checked before, over poison again, and where
 * a launch takes no time to speak of, as the timed launches left them. A budget that is over at
 * once is for the first samples only. */
static sct_status take_samples(sct_measure *m, racer *r, int64_t budget_ns, sct_error *err) {
  const int64_t end = sct_now_ns() + budget_ns;
  sct_verdict *verdict = &r->t->verdict;
  double ns = 0;
  SCT_TRY(check_first(m, r, err));
  if (alive(r) && !is_slow(r)) {
    SCT_TRY(sct_timed_poison(m, err));
  }
  sct_sampling how = first_sampling(m, r);
  while (alive(r) && how.n > 0) {
    SCT_TRY(sct_remote_time(m, &r->job, &r->target, &how, r->t, err));
    m->last_timed_ns = sct_now_ns();
    how = (sct_sampling){.launches = r->t->times.launches, .n = alive(r) ? wanted(r, end) : 0};
  }
  if (alive(r) && !is_slow(r)) {
    SCT_TRY(sct_timed_compare(m, verdict, err));
  }
  return alive(r) ? sct_timed_check_run(m, &r->job, &r->target, true, &ns, verdict, err) : SCT_OK;
}

/* How a candidate is launched at the size, and its kernel. `where` must live as long as the racer.
 */
static sct_status load(sct_measure *m, racer *r, const sct_binary *candidate, const char *where,
                       sct_error *err) {
  r->target = (sct_target){.shape = &m->timed.shape,
                           .buffer = m->timed.buffer,
                           .limit_ns = sct_launch_limit_ns(m->timed.naive_ns),
                           .where = where};
  r->t->times.copies = m->timed.copies;
  SCT_TRY(
      sct_code_blocks(&m->timed.shape, candidate->code, &r->target.blocks, &r->t->verdict, err));
  return alive(r) ? sct_remote_load(m, candidate, &r->job, &r->t->verdict, err) : SCT_OK;
}

/* Loads a candidate, as load() does, and runs it once over poison. */
static sct_status enter(sct_measure *m, racer *r, const sct_binary *candidate, const char *where,
                        sct_error *err) {
  SCT_TRY(load(m, r, candidate, where, err));
  return alive(r) ? sct_timed_check_run(m, &r->job, &r->target, true, &r->target.run_ns,
                                        &r->t->verdict, err)
                  : SCT_OK;
}

/* Worker and buffers for the size; *verdict is the naive variant's if that fails here. */
static sct_status prepare(sct_measure *m, const sct_size *size, sct_str *where,
                          sct_verdict *verdict, sct_error *err) {
  SCT_TRY(sct_remote_ensure(m, err));
  sct_str_clear(where);
  sct_str_printf(where, " (%s)", size->label ? size->label : "this size");
  SCT_TRY(sct_timed_prepare(m, size, sct_str_c(where), err));
  *verdict = m->timed.naive_verdict;
  return SCT_OK;
}

static sct_status naive_fails(const sct_measure *m, sct_error *err) {
  const sct_verdict *naive = &m->timed.naive_verdict;
  return sct_fail(err, SCT_ENOTVERIFIED, "the naive variant fails at this size: %s: %s",
                  sct_outcome_text(naive->outcome), naive->detail);
}

static sct_status time_once(sct_measure *m, const sct_binary *candidate, const sct_size *size,
                            int64_t budget_ns, sct_timing *out, sct_error *err) {
  racer r = {.job = {.kernel = -1}, .t = out};
  SCT_SCOPED(sct_str) where = {0};
  sct_status status = SCT_OK;
  SCT_TRY_DONE(prepare(m, size, &where, &out->verdict, err));
  if (!alive(&r)) {
    status = sct_is_naive(m, candidate) ? SCT_OK : naive_fails(m, err);
    goto done;
  }
  SCT_TRY_DONE(load(m, &r, candidate, sct_str_c(&where), err));
  if (alive(&r)) {
    SCT_TRY_DONE(take_samples(m, &r, budget_ns, err));
  }
done:
  sct_remote_unload(m, &r.job);
  return status;
}

static void clear_samples(sct_timing *t) {
  sct_free(t->times.samples_ns);
  t->times.samples_ns = NULL;
  t->times.n_samples = 0;
}

sct_status sct_check_can_time(const sct_measure *m, sct_error *err) {
  return m->is_virtual
             ? sct_fail(err, SCT_EUSAGE, "%s is interpreted: it gives no times", m->device.id)
             : SCT_OK;
}

/* What is known of a candidate without a launch. */
static void evaluate_unseen(const sct_measure *m, const sct_binary *candidate, const sct_size *size,
                            sct_verdict *out) {
  sct_code_fits(&m->device, candidate->code, out);
  if (out->outcome == SCT_OUT_OK &&
      !sct_code_allows(&m->addressing, candidate->code, size->extent)) {
    sct_verdict_set(out, SCT_OUT_LAUNCH_ERROR, "its requirements are not met at %s",
                    size->label ? size->label : "this size");
  }
}

sct_status sct_measure_time(sct_measure *m, const sct_binary *candidate, const sct_size *size,
                            int64_t budget_ns, sct_timing *out, sct_error *err) {
  *out = (sct_timing){.verdict = {.outcome = SCT_OUT_OK}};
  if (!m->has_problem) {
    return sct_fail(err, SCT_EUSAGE, "sct_measure_time before sct_measure_problem");
  }
  if (m->recording) {
    sct_replay_time(m, candidate, size, out);
    return SCT_OK;
  }
  SCT_TRY(sct_check_can_time(m, err));
  evaluate_unseen(m, candidate, size, &out->verdict);
  if (out->verdict.outcome != SCT_OUT_OK) {
    return SCT_OK;
  }
  const int64_t budget = budget_ns > 0 ? budget_ns : DEFAULT_BUDGET;
  sct_status status = time_once(m, candidate, size, budget, out, err);
  if (!m->lost && !sct_child_alive(&m->worker) &&
      (status == SCT_EUNHEALTHY || out->verdict.outcome == SCT_OUT_CRASH ||
       m->timed.naive_verdict.outcome == SCT_OUT_CRASH)) {
    /* The worker died between launches, or without a result that says what the kernel did. Once
     * more, in a new one. */
    m->timed.naive_verdict = (sct_verdict){.outcome = SCT_OUT_OK};
    clear_samples(out);
    out->verdict = (sct_verdict){.outcome = SCT_OUT_OK};
    status = time_once(m, candidate, size, budget, out, err);
  }
  if (status != SCT_OK || out->verdict.outcome != SCT_OUT_OK) {
    clear_samples(out);
    return status;
  }
  sct_times_summarise(&out->times);
  check_plausible(m, out);
  if (out->verdict.outcome == SCT_OUT_OK &&
      (m->timed.best_ns == 0 || out->times.median_ns < m->timed.best_ns)) {
    m->timed.best_ns = out->times.median_ns;
  }
  return SCT_OK;
}

/* ---- several candidates ---- */

typedef struct race {
  sct_measure *m;
  racer *racers;
  int n, *order;
  bool (*stop)(void *ctx, int round);
  void *ctx;
  sct_rng rng;
} race;

/* False when a candidate failed: the worker and all that was loaded may be gone with it. */
static bool all_alive(const race *r) {
  for (int k = 0; k < r->n; k++) {
    if (r->racers[k].job.binary && !alive(&r->racers[k])) {
      return false;
    }
  }
  return true;
}

static void shuffle(race *r) {
  for (int k = r->n - 1; k > 0; k--) {
    const int other = (int)sct_rng_below(&r->rng, k + 1);
    const int item = r->order[k];
    r->order[k] = r->order[other];
    r->order[other] = item;
  }
}

/* One sample of each; warm-up and the length of units are settled in the first round. */
static sct_status run_round(race *r, int round, sct_error *err) {
  shuffle(r);
  for (int k = 0; k < r->n; k++) {
    racer *x = &r->racers[r->order[k]];
    if (!x->job.binary) {
      continue;
    }
    const sct_sampling how = {.warm_ns = round == 0 && !is_slow(x) ? sct_warm_up_ns(r->m) : 0,
                              .launches = is_slow(x) ? 1 : x->t->times.launches,
                              .guess = guess_launches(x),
                              .n = 1};
    SCT_TRY(sct_remote_time(r->m, &x->job, &x->target, &how, x->t, err));
    r->m->last_timed_ns = sct_now_ns();
    if (!alive(x)) {
      return SCT_OK;
    }
  }
  return SCT_OK;
}

static sct_status time_resident(race *r, racer *x, sct_error *err) {
  sct_timing t = {.verdict = {.outcome = SCT_OUT_OK}};
  const sct_sampling how = {
      .launches = x->t->times.launches, .resident = true, .n = is_slow(x) ? 1 : RESIDENT_SAMPLES};
  const sct_status status = sct_remote_time(r->m, &x->job, &x->target, &how, &t, err);
  if (status == SCT_OK && t.verdict.outcome == SCT_OUT_OK) {
    sct_times_summarise(&t.times);
    x->t->times.resident_ns = t.times.median_ns;
  }
  x->t->verdict = t.verdict;
  sct_free(t.times.samples_ns);
  return status;
}

/* On one copy of the buffers, and the results once more: others have written there since. */
static sct_status leave(race *r, racer *x, sct_error *err) {
  double ns = 0;
  SCT_TRY(time_resident(r, x, err));
  return alive(x) ? sct_timed_check_run(r->m, &x->job, &x->target, true, &ns, &x->t->verdict, err)
                  : SCT_OK;
}

static sct_status run_race(race *r, const sct_binary *candidates, const sct_size *size, int rounds,
                           sct_error *err) {
  SCT_SCOPED(sct_str) where = {0};
  sct_verdict naive = {0};
  sct_status status = SCT_OK;
  SCT_TRY_DONE(prepare(r->m, size, &where, &naive, err));
  if (naive.outcome != SCT_OUT_OK) {
    status = naive_fails(r->m, err);
    goto done;
  }
  for (int k = 0; k < r->n && all_alive(r); k++) {
    if (alive(&r->racers[k])) {
      r->racers[k].job.binary = &candidates[k];
      SCT_TRY_DONE(enter(r->m, &r->racers[k], &candidates[k], sct_str_c(&where), err));
    }
  }
  for (int round = 0; round < rounds && all_alive(r); round++) {
    if (r->stop && r->stop(r->ctx, round)) {
      break;
    }
    SCT_TRY_DONE(run_round(r, round, err));
  }
  for (int k = 0; k < r->n && all_alive(r); k++) {
    if (r->racers[k].job.binary) {
      SCT_TRY_DONE(leave(r, &r->racers[k], err));
    }
  }
done:
  for (int k = 0; k < r->n; k++) {
    sct_remote_unload(r->m, &r->racers[k].job);
  }
  return status;
}

/* After a failure: who lives starts anew. Returns whether there was one. */
static bool restart(race *r) {
  const bool failed = !all_alive(r);
  for (int k = 0; k < r->n; k++) {
    r->racers[k].job = (sct_job){.kernel = -1};
    if (failed) {
      clear_samples(r->racers[k].t);
      r->racers[k].t->times.launches = 0;
    }
  }
  return failed;
}

static void summarise(const sct_measure *m, sct_timing *t) {
  if (t->times.n_samples > 0) {
    sct_times_summarise(&t->times);
    check_plausible(m, t);
  }
}

/* Did the worker end between launches, or in one without a result that says why? */
static bool lost_worker(const race *r, sct_status status) {
  bool crashed = false;
  for (int k = 0; k < r->n; k++) {
    crashed = crashed || r->racers[k].t->verdict.outcome == SCT_OUT_CRASH;
  }
  return (status == SCT_OK && crashed) ||
         r->m->timed.naive_verdict.outcome == SCT_OUT_CRASH || /* which fails the race */
         (status == SCT_EUNHEALTHY && !sct_child_alive(&r->m->worker));
}

/* All candidates at the start of the race, without samples. */
static void line_up(race *r, const sct_binary *candidates, const sct_size *size, sct_timing *out) {
  for (int k = 0; k < r->n; k++) {
    clear_samples(&out[k]);
    out[k] = (sct_timing){.verdict = {.outcome = SCT_OUT_OK}};
    r->order[k] = k;
    r->racers[k] = (racer){.job = {.kernel = -1}, .t = &out[k]};
    evaluate_unseen(r->m, &candidates[k], size, &out[k].verdict);
  }
}

/* Races until one goes through without a failure: who lives starts anew after each. */
static sct_status race_out(race *r, const sct_binary *candidates, const sct_size *size, int rounds,
                           sct_timing *out, sct_error *err) {
  bool again = false;
  sct_status status = SCT_OK;
  line_up(r, candidates, size, out);
  do {
    status = run_race(r, candidates, size, rounds, err);
    if (!again && !r->m->lost && lost_worker(r, status)) {
      again = true; /* by others, perhaps: the whole race once more, in a new one */
      r->m->timed.naive_verdict = (sct_verdict){.outcome = SCT_OUT_OK};
      line_up(r, candidates, size, out);
      status = run_race(r, candidates, size, rounds, err);
    }
  } while (status == SCT_OK && restart(r));
  return status;
}

sct_status sct_measure_race(sct_measure *m, const sct_binary *candidates, int n,
                            const sct_size *size, int rounds, sct_timing *out,
                            bool (*stop)(void *ctx, int round), void *ctx, sct_error *err) {
  race r = {.m = m, .n = n, .stop = stop, .ctx = ctx};
  if (!m->has_problem) {
    return sct_fail(err, SCT_EUSAGE, "sct_measure_race before sct_measure_problem");
  }
  if (m->recording) {
    sct_replay_race(m, candidates, n, size, rounds, out, stop, ctx);
    return SCT_OK;
  }
  SCT_TRY(sct_check_can_time(m, err));
  r.racers = sct_alloc(sizeof *r.racers * (size_t)(n + 1));
  r.order = sct_alloc(sizeof *r.order * (size_t)(n + 1));
  r.rng = sct_rng_new(m->seed);
  for (int k = 0; k < n; k++) {
    out[k] = (sct_timing){.verdict = {.outcome = SCT_OUT_OK}};
  }
  sct_status status = race_out(&r, candidates, size, rounds, out, err);
  for (int k = 0; k < n && status == SCT_OK; k++) {
    summarise(m, &out[k]);
  }
  for (int k = 0; k < n && status != SCT_OK; k++) {
    clear_samples(&out[k]);
  }
  sct_free(r.racers);
  sct_free(r.order);
  return status;
}
