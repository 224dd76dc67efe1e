/* Timing at one size: warm-up, flushed samples until the median is known well enough, results
 * compared on the device before and after; and the copy ceiling by the same method. */
#include "measure_session.h"

#include <stdlib.h>
#include <string.h>

#define POISON_FIRST    0xa5
#define POISON_SECOND   0x5a
#define DEFAULT_BUDGET  ((int64_t)2000000000)
#define SHORT_NS        20000.0 /* events resolve 0.5 us: short kernels need more samples */
#define FIRST_SAMPLES   11
#define SHORT_SAMPLES   51
#define MORE_SAMPLES    10
#define MAX_SAMPLES     101
#define WANTED_ERROR    0.005
#define COLD_AFTER_NS   ((int64_t)500000000) /* clocks have fallen after this long without work */
#define WARM_COLD_NS    ((int64_t)150000000)
#define WARM_HOT_NS     ((int64_t)3000000)
#define CEILING_SAMPLES 31

/* ---- buffers of the size at hand ---- */

static void free_buffers(sct_measure *m) {
  sct_timed *t = &m->timed;
  for (int k = 0; k < m->plan.spec->n_operands && t->generation == m->generation; k++) {
    sct_remote_free(m, t->buffer[k]);
    sct_remote_free(m, t->reference[k][0]);
    sct_remote_free(m, t->reference[k][1]);
  }
  t->generation = 0;
}

void sct_timed_drop(sct_measure *m) {
  if (m->timed.shape.plan) {
    free_buffers(m);
    sct_shape_free(&m->timed.shape);
  }
  m->timed = (sct_timed){0};
}

static bool same_size(const sct_timed *t, const sct_spec *spec, const sct_size *size) {
  if (!t->shape.plan ||
      memcmp(t->shape.extent, size->extent, sizeof *size->extent * (size_t)spec->n_extents) != 0) {
    return false;
  }
  for (int k = 0; k < spec->n_operands && size->fill; k++) {
    if (t->shape.fill[k] != size->fill[k]) {
      return false;
    }
  }
  return true;
}

static sct_status prepare_input(sct_measure *m, int op, sct_error *err) {
  sct_timed *t = &m->timed;
  const sct_operand *operand = m->plan.op[op].op;
  SCT_TRY(sct_remote_alloc(m, t->shape.op[op].bytes, &t->buffer[op], err));
  if (operand->is_index) {
    uint8_t *image = NULL;
    SCT_TRY(sct_image_input(&image, &t->shape, op, err));
    const sct_status status =
        sct_remote_upload(m, t->buffer[op], image, t->shape.op[op].bytes, err);
    sct_free(image);
    SCT_TRY(status);
  } else {
    SCT_TRY(sct_remote_fill(m, t->buffer[op], sct_data_record_masks(&operand->record),
                            sct_data_key(m->seed, op, 0), err));
  }
  return sct_remote_seal(m, t->buffer[op], err);
}

/* A fake GPU must be told what kernels compute; at this size any values will do. */
static sct_status tell_fake(sct_measure *m, int op, sct_error *err) {
  sct_timed *t = &m->timed;
  uint8_t *inputs[SCT_MAX_OPERANDS] = {0}, *image = NULL, *flags = NULL;
  sct_status status = SCT_OK;
  for (int k = 0; k < m->plan.spec->n_inputs; k++) {
    SCT_TRY_DONE(sct_image_input(&inputs[k], &t->shape, k, err));
  }
  SCT_TRY_DONE(sct_image_output(&image, &flags, &t->shape, op, inputs, POISON_FIRST, err));
  status = sct_remote_expect(m, t->buffer[op], flags, image, t->shape.op[op].bytes, err);
done:
  for (int k = 0; k < SCT_MAX_OPERANDS; k++) {
    sct_free(inputs[k]);
  }
  sct_free(image);
  sct_free(flags);
  return status;
}

/* Bytes that no element owns may hold anything: then only what the naive variant writes counts. */
static bool has_free_gaps(const sct_shape *s, int op) {
  const sct_plan_operand *p = &s->plan->op[op];
  return p->layout->owns_gaps && s->op[op].count * p->op->record.data_bytes < s->op[op].bytes;
}

static sct_status prepare_output(sct_measure *m, int op, sct_error *err) {
  sct_timed *t = &m->timed;
  const int64_t bytes = t->shape.op[op].bytes;
  SCT_TRY(sct_remote_alloc(m, bytes, &t->buffer[op], err));
  SCT_TRY(sct_remote_alloc(m, bytes, &t->reference[op][0], err));
  if (has_free_gaps(&t->shape, op)) {
    SCT_TRY(sct_remote_alloc(m, bytes, &t->reference[op][1], err));
  }
  return m->fake[0] != '\0' ? tell_fake(m, op, err) : SCT_OK;
}

static sct_status set_outputs(sct_measure *m, uint8_t poison, sct_error *err) {
  for (int k = m->plan.spec->n_inputs; k < m->plan.spec->n_operands; k++) {
    SCT_TRY(sct_remote_set(m, m->timed.buffer[k], poison, err));
  }
  return SCT_OK;
}

static sct_target timed_target(sct_measure *m, const char *where) {
  return (sct_target){.shape = &m->timed.shape,
                      .buffer = m->timed.buffer,
                      .limit_ns = m->request_ns,
                      .where = where};
}

/* The naive variant's output over one poison, kept as reference number `which`. */
static sct_status run_naive(sct_measure *m, const sct_job *job, int which, const char *where,
                            sct_verdict *verdict, sct_error *err) {
  const sct_spec *spec = m->plan.spec;
  sct_timed *t = &m->timed;
  sct_target target = timed_target(m, where);
  SCT_TRY(sct_code_blocks(&t->shape, job->binary->code, &target.blocks, verdict, err));
  SCT_TRY(set_outputs(m, which == 0 ? POISON_FIRST : POISON_SECOND, err));
  if (verdict->outcome == SCT_OUT_OK) {
    SCT_TRY(sct_remote_run(m, job, &target, &t->naive_ns, verdict, err));
  }
  for (int k = spec->n_inputs; k < spec->n_operands && verdict->outcome == SCT_OUT_OK; k++) {
    if (t->reference[k][which] >= 0) {
      SCT_TRY(sct_remote_copy(m, t->reference[k][which], t->buffer[k], err));
    }
  }
  return SCT_OK;
}

static sct_status make_references(sct_measure *m, const char *where, sct_error *err) {
  const sct_spec *spec = m->plan.spec;
  sct_verdict verdict = {0};
  sct_job job;
  bool second = false;
  for (int k = spec->n_inputs; k < spec->n_operands; k++) {
    second = second || m->timed.reference[k][1] >= 0;
  }
  SCT_TRY(sct_remote_load(m, &m->naive, &job, &verdict, err));
  sct_status status = SCT_OK; /* past this point the kernel must be unloaded */
  for (int which = 0; which < (second ? 2 : 1); which++) {
    if (status == SCT_OK && verdict.outcome == SCT_OUT_OK) {
      status = run_naive(m, &job, which, where, &verdict, err);
    }
  }
  sct_remote_unload(m, &job);
  m->timed.naive_verdict = verdict;
  return status;
}

static int64_t memory_needed(const sct_shape *s) {
  int64_t bytes = 0;
  for (int k = 0; k < s->plan->spec->n_operands; k++) {
    const int copies = k < s->plan->spec->n_inputs ? 1 : has_free_gaps(s, k) ? 3 : 2;
    bytes += s->op[k].bytes * copies;
  }
  return bytes;
}

static sct_status check_memory(const sct_measure *m, sct_error *err) {
  const int64_t needed = memory_needed(&m->timed.shape);
  char need[32], have[32];
  return needed <= m->device.memory_bytes
             ? SCT_OK
             : sct_fail(err, SCT_ENOMEM, "this size needs %s of device memory; %s has %s",
                        sct_format_bytes(need, (double)needed), m->device.name,
                        sct_format_bytes(have, (double)m->device.memory_bytes));
}

/* Buffers, data and references for the size, unless they are there. Afterwards, if the naive
 * variant fails here, timed.naive_verdict says so. */
static sct_status prepare_size(sct_measure *m, const sct_size *size, const char *where,
                               sct_error *err) {
  const sct_spec *spec = m->plan.spec;
  sct_timed *t = &m->timed;
  sct_status status = SCT_OK;
  const bool same = same_size(t, spec, size);
  if (same && (t->generation == m->generation || t->naive_verdict.outcome != SCT_OUT_OK)) {
    return SCT_OK;
  }
  if (!same) {
    sct_timed_drop(m);
    SCT_TRY(sct_shape_init(&t->shape, &m->plan, size->extent, size->fill, err));
  }
  for (int k = 0; k < spec->n_operands; k++) {
    t->buffer[k] = t->reference[k][0] = t->reference[k][1] = -1;
  }
  t->generation = m->generation;
  SCT_TRY_DONE(check_memory(m, err));
  SCT_TRY_DONE(sct_shape_index(&t->shape, err));
  for (int k = 0; k < spec->n_operands; k++) {
    SCT_TRY_DONE(k < spec->n_inputs ? prepare_input(m, k, err) : prepare_output(m, k, err));
  }
  SCT_TRY_DONE(make_references(m, where, err));
  if (t->naive_verdict.outcome != SCT_OUT_OK) {
    free_buffers(m);
  }
  return SCT_OK;
done:
  sct_timed_drop(m);
  return status;
}

/* ---- results at this size ---- */

/* Value by value on the host; only where bits differ and the spec allows a tolerance. */
static sct_status compare_values(sct_measure *m, int op, sct_verdict *out, sct_error *err) {
  sct_timed *t = &m->timed;
  const int64_t bytes = t->shape.op[op].bytes;
  uint8_t *got = sct_alloc((size_t)bytes + 1), *want = sct_alloc((size_t)bytes + 1);
  uint8_t *flags = NULL;
  sct_status status = SCT_OK;
  if (!got || !want) {
    status = sct_fail(err, SCT_ENOMEM, "out of memory");
    goto done;
  }
  SCT_TRY_DONE(sct_remote_download(m, t->buffer[op], 0, got, bytes, err));
  SCT_TRY_DONE(sct_remote_download(m, t->reference[op][0], 0, want, bytes, err));
  SCT_TRY_DONE(sct_image_flags(&flags, &t->shape, op, err));
  sct_check_output(out, &t->shape, op, got, want, flags, POISON_FIRST, m->plan.spec->tolerance);
done:
  sct_free(got);
  sct_free(want);
  sct_free(flags);
  return status;
}

static sct_status describe(sct_measure *m, int op, int64_t n_differ, int64_t byte, sct_verdict *out,
                           sct_error *err) {
  sct_timed *t = &m->timed;
  uint8_t got[16] = {0}, want[16] = {0};
  sct_place place;
  sct_find_byte(&t->shape, op, byte, &place);
  const int64_t bytes = place.field < 0 ? 1 : m->plan.op[op].op->record.fields[place.field].bytes;
  SCT_TRY(sct_remote_download(m, t->buffer[op], place.offset, got, bytes, err));
  SCT_TRY(sct_remote_download(m, t->reference[op][0], place.offset, want, bytes, err));
  sct_describe_difference(out, &t->shape, op, byte, &place, got, want, POISON_FIRST);
  const size_t len = strlen(out->detail);
  snprintf(out->detail + len, sizeof out->detail - len, "; %lld bytes differ", (long long)n_differ);
  return SCT_OK;
}

/* Compares what the outputs hold now with the naive variant's, and audits every buffer. */
static sct_status check_results(sct_measure *m, sct_verdict *out, sct_error *err) {
  const sct_spec *spec = m->plan.spec;
  sct_timed *t = &m->timed;
  sct_audit audit = {0};
  SCT_TRY(sct_remote_audit(m, NULL, 0, &audit, err));
  sct_judge_audit(out, &t->shape, t->buffer, &audit);
  for (int k = spec->n_inputs; k < spec->n_operands && out->outcome == SCT_OUT_OK; k++) {
    int64_t n_differ = 0, first = -1;
    SCT_TRY(sct_remote_compare(m, t->buffer[k], t->reference[k][0], t->reference[k][1], &n_differ,
                               &first, err));
    if (n_differ > 0) {
      SCT_TRY(spec->tolerance > 0 ? compare_values(m, k, out, err)
                                  : describe(m, k, n_differ, first, out, err));
    }
  }
  if (audit.damage != SCT_DAMAGE_NONE) {
    sct_worker_kill(&m->worker);
  }
  return SCT_OK;
}

/* One launch over poisoned outputs, compared. */
static sct_status check_run(sct_measure *m, const sct_job *job, const sct_target *target,
                            double *ns, sct_verdict *out, sct_error *err) {
  SCT_TRY(set_outputs(m, POISON_FIRST, err));
  SCT_TRY(sct_remote_run(m, job, target, ns, out, err));
  return out->outcome == SCT_OUT_OK ? check_results(m, out, err) : SCT_OK;
}

/* ---- samples ---- */

static bool precise(const sct_timing *t) {
  double sorted[MAX_SAMPLES];
  const int n = t->n_samples < MAX_SAMPLES ? t->n_samples : MAX_SAMPLES;
  sct_timing copy = {.n_samples = n, .samples_ns = sorted};
  memcpy(sorted, t->samples_ns, sizeof sorted[0] * (size_t)n);
  sct_stats_summary(&copy); /* sorts */
  return sct_stats_median_error(sorted, n) <= WANTED_ERROR;
}

static int64_t warm_up_ns(const sct_measure *m) {
  return sct_now_ns() - m->last_timed_ns > COLD_AFTER_NS ? WARM_COLD_NS : WARM_HOT_NS;
}

static sct_status take_samples(sct_measure *m, const sct_job *job, const sct_target *target,
                               int64_t budget_ns, sct_timing *t, sct_error *err) {
  const int64_t end = sct_now_ns() + budget_ns;
  int n = target->run_ns < SHORT_NS ? SHORT_SAMPLES : FIRST_SAMPLES;
  int64_t warm_ns = warm_up_ns(m);
  do {
    SCT_TRY(sct_remote_time(m, job, target, warm_ns, n, t, err));
    m->last_timed_ns = sct_now_ns();
    warm_ns = 0;
    n = MAX_SAMPLES - t->n_samples < MORE_SAMPLES ? MAX_SAMPLES - t->n_samples : MORE_SAMPLES;
  } while (t->verdict.outcome == SCT_OUT_OK && n > 0 && sct_now_ns() < end && !precise(t));
  return SCT_OK;
}

/* Least time in which the memory can have moved these bytes: reads come from DRAM (the flush saw to
 * that), writes may stay in L2. Gathers may hit the same sectors again, so they prove nothing. */
static double floor_ns(const sct_measure *m) {
  const sct_shape *s = &m->timed.shape;
  const sct_spec *spec = m->plan.spec;
  int64_t read = 0, written = 0, inputs = 0;
  sct_size size = {.extent = (int64_t *)s->extent, .fill = (sct_fill *)s->fill};
  sct_spec_traffic(spec, &size, &read, &written);
  for (int k = 0; k < spec->n_operands; k++) {
    if (spec->operands[k].through_index) {
      return 0;
    }
    inputs += k < spec->n_inputs ? s->op[k].bytes : 0;
  }
  const int64_t from_dram = read < inputs ? read : inputs;
  const int64_t to_dram = written > m->device.l2_bytes ? written - m->device.l2_bytes : 0;
  return m->device.peak_bytes_s > 0 ? (double)(from_dram + to_dram) / m->device.peak_bytes_s * 1e9
                                    : 0;
}

static void check_plausible(const sct_measure *m, sct_timing *t) {
  const double least = floor_ns(m);
  if (t->median_ns < least) {
    char seen[32], floor[32];
    sct_verdict_set(&t->verdict, SCT_OUT_IMPLAUSIBLE,
                    "median %s; at the memory's peak it takes %s at least",
                    sct_format_ns(seen, t->median_ns), sct_format_ns(floor, least));
  }
}

/* Check, samples, check; each step only if the candidate still lives. */
static sct_status time_job(sct_measure *m, const sct_job *job, sct_target *target,
                           int64_t budget_ns, sct_timing *out, sct_error *err) {
  double ns = 0;
  SCT_TRY(check_run(m, job, target, &target->run_ns, &out->verdict, err));
  if (out->verdict.outcome == SCT_OUT_OK) {
    SCT_TRY(take_samples(m, job, target, budget_ns, out, err));
  }
  if (out->verdict.outcome == SCT_OUT_OK) { /* as the timed launches left it */
    SCT_TRY(check_results(m, &out->verdict, err));
  }
  if (out->verdict.outcome == SCT_OUT_OK) { /* and once more from poison */
    SCT_TRY(check_run(m, job, target, &ns, &out->verdict, err));
  }
  return SCT_OK;
}

static sct_status time_once(sct_measure *m, const sct_binary *candidate, const sct_size *size,
                            int64_t budget_ns, sct_timing *out, sct_error *err) {
  const sct_verdict *naive = &m->timed.naive_verdict;
  sct_job job = {.kernel = -1};
  sct_str label = {0};
  sct_status status = SCT_OK;
  SCT_TRY_DONE(sct_remote_ensure(m, err));
  sct_str_printf(&label, " (%s)", size->label ? size->label : "this size");
  SCT_TRY_DONE(prepare_size(m, size, sct_str_c(&label), err));
  if (naive->outcome != SCT_OUT_OK) {
    out->verdict = *naive;
    status = sct_is_naive(m, candidate)
                 ? SCT_OK
                 : sct_fail(err, SCT_ENOTVERIFIED, "the naive variant fails at this size: %s: %s",
                            sct_outcome_text(naive->outcome), naive->detail);
    goto done;
  }
  sct_target target = timed_target(m, sct_str_c(&label));
  target.limit_ns = sct_launch_limit_ns(m->timed.naive_ns);
  SCT_TRY_DONE(
      sct_code_blocks(&m->timed.shape, candidate->code, &target.blocks, &out->verdict, err));
  if (out->verdict.outcome == SCT_OUT_OK) {
    SCT_TRY_DONE(sct_remote_load(m, candidate, &job, &out->verdict, err));
  }
  if (out->verdict.outcome == SCT_OUT_OK) {
    status = time_job(m, &job, &target, budget_ns, out, err);
  }
done:
  sct_remote_unload(m, &job);
  sct_str_free(&label);
  return status;
}

static void clear_samples(sct_timing *t) {
  sct_free(t->samples_ns);
  t->samples_ns = NULL;
  t->n_samples = 0;
}

static sct_status must_time(const sct_measure *m, sct_error *err) {
  return m->is_virtual
             ? sct_fail(err, SCT_EUSAGE, "%s is interpreted: it gives no times", m->device.id)
             : SCT_OK;
}

sct_status sct_measure_time(sct_measure *m, const sct_binary *candidate, const sct_size *size,
                            int64_t budget_ns, sct_timing *out, sct_error *err) {
  *out = (sct_timing){.verdict = {.outcome = SCT_OUT_OK}};
  if (!m->has_problem) {
    return sct_fail(err, SCT_EUSAGE, "sct_measure_time before sct_measure_problem");
  }
  SCT_TRY(must_time(m, err));
  sct_code_fits(&m->device, candidate->code, &out->verdict);
  if (out->verdict.outcome != SCT_OUT_OK) {
    return SCT_OK;
  }
  if (!sct_code_allows(&m->plan, candidate->code, size->extent)) {
    sct_verdict_set(&out->verdict, SCT_OUT_LAUNCH_ERROR, "its requirements do not hold at %s",
                    size->label ? size->label : "this size");
    return SCT_OK;
  }
  const int64_t budget = budget_ns > 0 ? budget_ns : DEFAULT_BUDGET;
  sct_status status = time_once(m, candidate, size, budget, out, err);
  if (status == SCT_EUNHEALTHY && !sct_worker_alive(&m->worker)) {
    /* The worker died between launches: not this candidate's doing. Once more, in a new one. */
    clear_samples(out);
    out->verdict = (sct_verdict){.outcome = SCT_OUT_OK};
    status = time_once(m, candidate, size, budget, out, err);
  }
  if (status != SCT_OK || out->verdict.outcome != SCT_OUT_OK) {
    clear_samples(out);
    return status;
  }
  sct_stats_summary(out);
  check_plausible(m, out);
  return SCT_OK;
}

/* ---- the ceiling ---- */

/* Times one copy; `best` keeps the least median. A copy that fails or copies wrongly is left out.
 */
static sct_status try_copy(sct_measure *m, const sct_job *job, int variant, const int64_t ends[2],
                           int64_t bytes, double *best, sct_error *err) {
  sct_timing t = {.verdict = {.outcome = SCT_OUT_OK}};
  int64_t n_differ = 0, first = 0;
  sct_status status = SCT_OK;
  SCT_TRY_DONE(sct_remote_set(m, ends[1], POISON_FIRST, err));
  if (job) {
    SCT_TRY_DONE(sct_remote_time_words(m, job, ends[1], ends[0], bytes / 16, warm_up_ns(m),
                                       CEILING_SAMPLES, &t, err));
  } else {
    SCT_TRY_DONE(sct_remote_time_copy(m, ends[1], ends[0], variant, warm_up_ns(m), CEILING_SAMPLES,
                                      &t, err));
  }
  m->last_timed_ns = sct_now_ns();
  if (t.verdict.outcome == SCT_OUT_OK) {
    SCT_TRY_DONE(sct_remote_compare(m, ends[1], ends[0], -1, &n_differ, &first, err));
  }
  if (t.verdict.outcome != SCT_OUT_OK || n_differ > 0) {
    sct_log(SCT_LOG_WARN, "copy %d is left out of the ceiling: %s", variant,
            n_differ > 0 ? "it copies wrongly" : t.verdict.detail);
    goto done;
  }
  sct_stats_summary(&t);
  *best = *best == 0 || t.median_ns < *best ? t.median_ns : *best;
done:
  sct_free(t.samples_ns);
  return status;
}

static sct_status ceiling_once(sct_measure *m, int64_t bytes, const sct_binary *copy, int n_copy,
                               double *best, sct_error *err) {
  int64_t ends[2] = {-1, -1};
  sct_status status = SCT_OK;
  *best = 0;
  SCT_TRY_DONE(sct_remote_ensure(m, err));
  SCT_TRY_DONE(sct_remote_alloc(m, bytes, &ends[0], err));
  SCT_TRY_DONE(sct_remote_alloc(m, bytes, &ends[1], err));
  SCT_TRY_DONE(sct_remote_fill(m, ends[0], sct_data_masks(SCT_TYPE_F32), m->seed, err));
  for (int k = 0; k < m->n_copies; k++) {
    SCT_TRY_DONE(try_copy(m, NULL, k, ends, bytes, best, err));
  }
  for (int k = 0; k < n_copy && sct_worker_alive(&m->worker); k++) {
    sct_job job;
    sct_verdict verdict = {0};
    SCT_TRY_DONE(sct_remote_load(m, &copy[k], &job, &verdict, err));
    if (verdict.outcome == SCT_OUT_OK) {
      status = try_copy(m, &job, m->n_copies + k, ends, bytes, best, err);
    }
    sct_remote_unload(m, &job);
    SCT_TRY_DONE(status);
  }
done:
  sct_remote_free(m, ends[0]);
  sct_remote_free(m, ends[1]);
  return status;
}

sct_status sct_measure_ceiling(sct_measure *m, int64_t bytes, const sct_binary *copy, int n_copy,
                               double *bytes_per_s, sct_error *err) {
  const int64_t half = (bytes / 2 + 15) / 16 * 16; /* one side, in whole 16-byte words */
  double best = 0;
  if (bytes < 2) {
    return sct_fail(err, SCT_EUSAGE, "a ceiling needs at least 2 bytes");
  }
  SCT_TRY(must_time(m, err));
  SCT_TRY(ceiling_once(m, half, copy, n_copy, &best, err));
  if (best <= 0) {
    return sct_fail(err, SCT_EUNHEALTHY, "no copy could be timed");
  }
  *bytes_per_s = 2.0 * (double)half / best * 1e9;
  return SCT_OK;
}
