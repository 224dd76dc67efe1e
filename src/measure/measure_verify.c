/* Verification: a candidate on many small sizes, against the naive variant and, for pure data
 * movement, against what the layouts say on the host. */
#include "measure_session.h"
#include "ptx/ptx.h"

#include <string.h>

bool sct_is_naive(const sct_measure *m, const sct_binary *binary) {
  return m->has_problem && binary->cubin == m->naive.cubin && binary->ptx == m->naive.ptx &&
         strcmp(binary->entry, m->naive.entry) == 0;
}

void sct_evaluate_audit(sct_verdict *out, const sct_shape *s, const int64_t *buffer,
                        const sct_audit *audit) {
  const sct_spec *spec = s->addressing->spec;
  const char *name = NULL;
  SCT_SCOPED(sct_str) size = {0};
  if (audit->damage == SCT_DAMAGE_NONE) {
    return;
  }
  sct_shape_label(&size, s);
  for (int k = 0; k < spec->n_operands; k++) {
    name = buffer[k] == audit->buffer ? spec->operands[k].name : name;
  }
  if (!name) {
    sct_verdict_set(out, SCT_OUT_OUT_OF_BOUNDS, "wrote to memory that is not its own (%s)",
                    sct_str_c(&size));
  } else if (audit->damage == SCT_DAMAGE_CONTENT) {
    sct_verdict_set(out, SCT_OUT_INPUT_CHANGED, "changed the input '%s' (%s)", name,
                    sct_str_c(&size));
  } else {
    sct_verdict_set(out, SCT_OUT_OUT_OF_BOUNDS, "wrote at byte %lld of '%s', %s its array (%s)",
                    (long long)audit->offset, name,
                    audit->damage == SCT_DAMAGE_BEFORE ? "before" : "behind", sct_str_c(&size));
  }
}

/* ---- one case on the device ---- */

/* Bytes of a case's inputs on the device, and of a reference and a poison for each output. */
static int64_t device_bytes(const sct_measure *m, const sct_case *c) {
  int64_t sum = 0;
  for (int k = 0; k < m->addressing.spec->n_operands; k++) {
    sum += sct_case_array_bytes(m, c, k) * (k < m->addressing.spec->n_inputs ? 1 : 2);
  }
  return sum;
}

void sct_case_release(sct_measure *m, sct_case *c, sct_wire *freed) {
  if (c->generation == m->generation) {
    sct_remote_put_freed(freed, c->buffer, m->addressing.spec->n_operands);
    sct_remote_put_freed(freed, c->reference[0], 2 * m->addressing.spec->n_operands);
    sct_remote_put_freed(freed, c->unlike, m->addressing.spec->n_operands);
    for (int k = 0; k < m->addressing.spec->n_operands; k++) {
      for (int n = 0; n < c->n_placed[k]; n++) {
        sct_remote_put_freed(freed, &c->placed[k][n].buffer, 1);
      }
    }
  }
  m->cases.bytes -= c->generation != 0 ? device_bytes(m, c) + c->placed_bytes : 0;
  c->placed_bytes = 0;
  c->generation = 0;
  c->compared = false;
  for (int draw = 0; draw < c->draws.n; draw++) {
    for (int k = 0; k < SCT_MAX_OPERANDS; k++) {
      sct_image_free(c->draws.image[draw][k], &c->shape, k);
    }
  }
  c->draws = (sct_draws){0};
}

static void begin_case(sct_measure *m, sct_case *c) {
  m->cases.bytes += c->generation == 0 ? device_bytes(m, c) : -c->placed_bytes;
  c->placed_bytes = 0;
  c->generation = m->generation;
  c->compared = false;
  for (int k = 0; k < m->addressing.spec->n_operands; k++) {
    c->buffer[k] = c->reference[k][0] = c->reference[k][1] = c->unlike[k] = -1;
    c->expected[k] = false;
    c->n_placed[k] = 0;
  }
}

/* An image of an array to a buffer of its own. */
static sct_status send_image(sct_measure *m, const sct_case *c, int op, const uint8_t *image,
                             int64_t *buffer, sct_error *err) {
  const uint8_t background = sct_image_background(&c->shape, op, c->poison);
  return sct_remote_alloc_sealed(m, &c->shape, op, image, background, buffer, err);
}

/* Images of a case, and inputs on the device, unless they are there. */
static sct_status prepare(sct_measure *m, sct_case *c, sct_error *err) {
  const sct_spec *spec = m->addressing.spec;
  sct_status status = SCT_OK;
  if (c->generation == m->generation) {
    return SCT_OK;
  }
  sct_shape_index(&c->shape);
  SCT_TRY(sct_case_images(m, c, err));
  begin_case(m, c);
  for (int k = 0; k < spec->n_inputs && status == SCT_OK; k++) {
    status = send_image(m, c, k, c->image[k], &c->buffer[k], err);
  }
  if (status != SCT_OK) {
    sct_wire freed = {0};
    sct_case_release(m, c, &freed);
    sct_remote_free(m, &freed);
  }
  return status;
}

/* What an output must hold, but for its bytes with these flags (0: none at all), of which every bit
 * is another. */
static sct_status send_other(sct_measure *m, sct_case *c, int op, uint8_t flag, int64_t *buffer,
                             sct_error *err) {
  const uint8_t background = sct_image_background(&c->shape, op, c->poison);
  const uint8_t *flags = NULL;
  SCT_TRY(sct_case_flags(c, op, &flags, err));
  uint8_t *other = sct_image_new(&c->shape, op);
  for (int n = 0; n < sct_shape_n_spans(&c->shape, op); n++) {
    const sct_span span = sct_shape_span(&c->shape, op, n);
    for (int64_t k = span.from; k < span.to; k++) {
      const bool differs = flag == 0 ? flags[k] == 0 : (flags[k] & flag) != 0;
      other[k] = differs ? (uint8_t)~c->image[op][k] : c->image[op][k];
    }
  }
  const sct_status status = sct_remote_alloc_sealed(
      m, &c->shape, op, other, flag == 0 ? (uint8_t)~background : background, buffer, err);
  sct_image_free(other, &c->shape, op);
  return status;
}

/* What outputs hold before, where that matters, goes to the device in place of a poison. */
static sct_status send_prefills(sct_measure *m, sct_case *c, sct_error *err) {
  const sct_spec *spec = m->addressing.spec;
  for (int k = spec->n_inputs; k < spec->n_operands; k++) {
    if (sct_operand_is_prefilled(&spec->operands[k]) && c->unlike[k] < 0) {
      uint8_t *image = NULL;
      SCT_TRY(sct_image_input(&image, &c->shape, k, err));
      const sct_status status = send_image(m, c, k, image, &c->unlike[k], err);
      sct_image_free(image, &c->shape, k);
      SCT_TRY(status);
    }
  }
  return SCT_OK;
}

/* What an output must hold goes to the device, where results are compared with it. Bytes that may
 * hold anything differ in a second image. */
static sct_status send_reference(sct_measure *m, sct_case *c, int op, sct_error *err) {
  const uint8_t *flags = NULL;
  if (c->reference[op][0] >= 0) {
    return SCT_OK;
  }
  SCT_TRY(send_image(m, c, op, c->image[op], &c->reference[op][0], err));
  bool free_gaps = c->shape.addressing->op[op].layout->owns_gaps;
  if (free_gaps && !sct_shape_is_sparse(&c->shape, op)) {
    SCT_TRY(sct_case_flags(c, op, &flags, err));
    free_gaps = memchr(flags, 0, (size_t)c->shape.op[op].bytes) != NULL;
  }
  return free_gaps ? send_other(m, c, op, 0, &c->reference[op][1], err) : SCT_OK;
}

/* The last that a case sends. */
static sct_status send_references(sct_measure *m, sct_case *c, sct_error *err) {
  if (c->compared) {
    return SCT_OK;
  }
  for (int k = m->addressing.spec->n_inputs; k < m->addressing.spec->n_operands; k++) {
    SCT_TRY(send_reference(m, c, k, err));
    if (!m->is_virtual && c->unlike[k] < 0) { /* the interpreter knows which bytes were written */
      SCT_TRY(send_other(m, c, k, SCT_BYTE_WRITTEN, &c->unlike[k], err));
    }
  }
  c->compared = true;
  if (sct_outputs_known(m)) {
    sct_case_free_images(c);
  }
  return SCT_OK;
}

static void take_written(sct_case *c, int op, const uint8_t *got, const uint8_t *flags) {
  for (int n = 0; n < sct_shape_n_spans(&c->shape, op); n++) {
    const sct_span span = sct_shape_span(&c->shape, op, n);
    for (int64_t k = span.from; k < span.to; k++) {
      c->image[op][k] = flags[k] & SCT_BYTE_WRITTEN ? got[k] : c->image[op][k];
    }
  }
}

/* Outside of its spans an array holds its background still, if as many bytes differ inside as the
 * device found in all of it. */
static void check_around(const sct_case *c, int op, const uint8_t *got, const uint8_t *flags,
                         int64_t n_differ, sct_verdict *verdict) {
  const bool gaps_are_free = c->shape.addressing->op[op].layout->owns_gaps;
  SCT_SCOPED(sct_str) size = {0};
  int64_t around = n_differ;
  for (int n = 0; n < sct_shape_n_spans(&c->shape, op); n++) {
    const sct_span span = sct_shape_span(&c->shape, op, n);
    for (int64_t k = span.from; k < span.to; k++) {
      around -= got[k] != c->image[op][k] && !(flags[k] == 0 && gaps_are_free);
    }
  }
  if (around > 0 && sct_shape_is_sparse(&c->shape, op)) {
    sct_shape_label(&size, &c->shape);
    sct_verdict_set(verdict, SCT_OUT_OUT_OF_BOUNDS,
                    "%lld bytes of %s, far from any of its elements (%s), were written",
                    (long long)around, c->shape.addressing->op[op].op->name, sct_str_c(&size));
  }
}

/* ---- draws ---- */

/* Changed copies of what inputs, and outputs before, hold; NULL where there is nothing to change.
 */
static sct_status change_images(const sct_measure *m, const sct_case *c, uint8_t **changed,
                                sct_error *err) {
  const sct_spec *spec = m->addressing.spec;
  for (int k = 0; k < spec->n_operands; k++) {
    const sct_operand *op = &spec->operands[k];
    if (k < spec->n_inputs || sct_operand_is_prefilled(op)) {
      SCT_TRY(sct_image_input(&changed[k], &c->shape, k, err));
      SCT_TRY(op->is_index
                  ? SCT_OK
                  : sct_image_change(changed[k], &c->shape, k, c->draws.n, c->draws.change, err));
    }
  }
  return SCT_OK;
}

/* The naive variant on changed inputs, in buffers of its own: those of the case hold results. */
static sct_status run_changed(sct_measure *m, const sct_case *c, uint8_t *const *changed,
                              uint8_t **out, sct_verdict *verdict, sct_error *err) {
  const sct_spec *spec = m->addressing.spec;
  const sct_kernel_code *code = m->naive.code;
  int64_t buffer[SCT_MAX_OPERANDS], unlike[SCT_MAX_OPERANDS];
  sct_wire freed = {0};
  sct_status status = SCT_OK;
  sct_job job;
  for (int k = 0; k < spec->n_operands; k++) {
    int64_t *const sent = k < spec->n_inputs ? &buffer[k] : &unlike[k];
    buffer[k] = unlike[k] = -1;
    SCT_THEN(k < spec->n_inputs ? SCT_OK
                                : sct_remote_alloc_at(m, &c->shape, k, 0, &buffer[k], err));
    SCT_THEN(changed[k] ? send_image(m, c, k, changed[k], sent, err) : SCT_OK);
  }
  sct_target target = {.shape = &c->shape,
                       .buffer = buffer,
                       .limit_ns = m->request_ns,
                       .where = sct_str_c(&c->where)};
  sct_trial trial = {
      .poison = c->poison, .unlike = unlike, .rounding = sct_shape_rounding(&c->shape, c->draws.n)};
  SCT_THEN(sct_code_blocks(&c->shape, code, &target.blocks, verdict, err));
  SCT_THEN(sct_remote_load(m, &m->naive, &job, verdict, err));
  if (status == SCT_OK && verdict->outcome == SCT_OUT_OK) {
    status = sct_remote_trial(m, &job, &target, &trial, verdict, err);
    sct_remote_unload(m, &job);
  }
  for (int k = spec->n_inputs; k < spec->n_operands && verdict->outcome == SCT_OUT_OK; k++) {
    out[k] = sct_image_new(&c->shape, k);
    SCT_THEN(sct_remote_download_spans(m, buffer[k], &c->shape, k, out[k], err));
  }
  sct_remote_put_freed(&freed, buffer, spec->n_operands);
  sct_remote_put_freed(&freed, unlike, spec->n_operands);
  sct_remote_free(m, &freed);
  return status;
}

sct_status sct_case_outputs(sct_measure *m, const sct_case *c, uint8_t *const *images,
                            uint8_t **out, sct_verdict *verdict, sct_error *err) {
  const sct_spec *spec = m->addressing.spec;
  if (spec->n_moves == 0) {
    return run_changed(m, c, images, out, verdict, err);
  }
  for (int k = spec->n_inputs; k < spec->n_operands; k++) {
    SCT_TRY(sct_image_output(&out[k], &c->shape, k, images, c->poison, err));
  }
  return SCT_OK;
}

/* One more draw. false: there is none. */
static sct_status add_draw(sct_measure *m, sct_case *c, bool *added, sct_error *err) {
  const sct_spec *spec = m->addressing.spec;
  uint8_t *changed[SCT_MAX_OPERANDS] = {NULL}, **out = c->draws.image[c->draws.n];
  sct_verdict verdict = {0};
  c->draws.change = sct_shape_change(&c->shape);
  sct_status status = change_images(m, c, changed, err);
  SCT_THEN(sct_case_outputs(m, c, changed, out, &verdict, err));
  for (int k = 0; k < spec->n_operands; k++) {
    sct_image_free(changed[k], &c->shape, k);
  }
  *added = status == SCT_OK && verdict.outcome == SCT_OUT_OK;
  c->draws.n += *added;
  return status;
}

/* Compares what a candidate wrote. Where its values are of many magnitudes, what seems wrong asks
 * how much it changes with the inputs. */
static sct_status compare(sct_measure *m, sct_case *c, int op, const uint8_t *got,
                          const uint8_t *flags, int poison, bool as_reference, const sct_draws *own,
                          sct_verdict *verdict, sct_error *err) {
  const double tolerance = as_reference ? 0 : sct_shape_tolerance(&c->shape, op);
  const bool is_wide = tolerance > 0 && sct_shape_is_wide(&c->shape);
  const sct_verdict before = *verdict;
  for (bool more = true; more;) {
    *verdict = before;
    sct_check_output(verdict, &c->shape, op, got, c->image[op], flags, poison, tolerance,
                     is_wide ? &c->draws : NULL, own);
    const bool is_value = verdict->outcome == SCT_OUT_WRONG_RESULT ||
                          verdict->outcome == SCT_OUT_NOT_WRITTEN; /* but for one byte, by chance */
    more = is_wide && is_value && c->draws.n < SCT_MAX_DRAWS;
    if (more) {
      SCT_TRY(add_draw(m, c, &more, err));
    }
  }
  return SCT_OK;
}

/* Compares one output on the host, of which n_differ bytes differ by the device's count (-1:
 * unknown). For the naive variant of a body that computes, what it wrote
 * becomes the reference; only what it must not write is compared. */
static sct_status check_output(sct_measure *m, sct_case *c, int op, bool as_reference,
                               int64_t n_differ, const sct_draws *own, sct_verdict *verdict,
                               sct_error *err) {
  const bool holds = sct_operand_is_prefilled(&m->addressing.spec->operands[op]);
  const bool unlike = !as_reference && c->unlike[op] >= 0 && !holds;
  const int poison = unlike ? SCT_POISON_UNLIKE : c->poison;
  const uint8_t *flags = NULL;
  SCT_TRY(sct_case_images(m, c, err));
  SCT_TRY(sct_case_flags(c, op, &flags, err));
  uint8_t *got = sct_image_new(&c->shape, op);
  sct_status status = sct_remote_download_spans(m, c->used[op], &c->shape, op, got, err);
  if (status == SCT_OK && as_reference) {
    take_written(c, op, got, flags);
  }
  if (status == SCT_OK) {
    status = compare(m, c, op, got, flags, poison, as_reference, own, verdict, err);
  }
  if (status == SCT_OK && verdict->outcome == SCT_OUT_OK && n_differ >= 0) {
    check_around(c, op, got, flags, n_differ, verdict);
  }
  sct_image_free(got, &c->shape, op);
  return status;
}

/* A run of a job on a case. */
typedef struct attempt {
  sct_target target;
  sct_trial trial;
} attempt;

/* How the job is run on the case; fills the verdict where it cannot be. */
static sct_status prepare_attempt(sct_measure *m, const sct_job *job, const sct_situation *s,
                                  int64_t limit_ns, bool by_bits, attempt *a, sct_verdict *verdict,
                                  sct_error *err) {
  const sct_kernel_code *code = job->binary->code;
  sct_case *c = s->c;
  if (c->where.len == 0) {
    sct_str_append(&c->where, " (");
    sct_shape_label(&c->where, &c->shape);
    sct_str_append(&c->where, ")");
  }
  SCT_TRY(sct_case_place(m, c, s->residue, err));
  SCT_TRY(send_prefills(m, c, err));
  *a = (attempt){
      .target = {.shape = &c->shape,
                 .buffer = c->used,
                 .limit_ns = limit_ns,
                 .where = sct_str_c(&c->where)},
      .trial = {.poison = c->poison, .unlike = c->unlike, .reversed = job->more_blocks > 0}};
  SCT_TRY(sct_code_blocks(&c->shape, code, &a->target.blocks, verdict, err));
  const int64_t blocks = a->target.blocks;
  a->target.blocks = (s->few ? sct_code_few_blocks(code, blocks) : blocks) + job->more_blocks;
  if (verdict->outcome == SCT_OUT_OK && by_bits) {
    SCT_TRY(send_references(m, c, err));
    a->trial.reference = (const int64_t(*)[2])c->reference;
  }
  return SCT_OK;
}

/* What a launch that ended left behind. */
static sct_status evaluate_attempt(sct_measure *m, sct_case *c, bool as_reference, const attempt *a,
                                   const sct_draws *own, sct_verdict *verdict, sct_error *err) {
  const sct_spec *spec = m->addressing.spec;
  const bool by_bits = a->trial.reference != NULL;
  sct_evaluate_audit(verdict, &c->shape, c->used, &a->trial.audit);
  for (int k = spec->n_inputs; k < spec->n_operands && verdict->outcome == SCT_OUT_OK; k++) {
    if (!by_bits || a->trial.n_differ[k] > 0) {
      SCT_TRY(check_output(m, c, k, as_reference, by_bits ? a->trial.n_differ[k] : -1, own, verdict,
                           err));
    }
  }
  if (a->trial.audit.damage != SCT_DAMAGE_NONE) {
    sct_child_kill(&m->worker); /* its memory cannot be trusted any more */
  }
  return SCT_OK;
}

/* The first byte that is written and is not `want`'s; -1: none. */
static int64_t first_other(const sct_case *c, int op, const uint8_t *got, const uint8_t *want,
                           const uint8_t *flags) {
  for (int n = 0; n < sct_shape_n_spans(&c->shape, op); n++) {
    const sct_span span = sct_shape_span(&c->shape, op, n);
    for (int64_t k = span.from; k < span.to; k++) {
      if ((flags[k] & SCT_BYTE_WRITTEN) && got[k] != want[k]) {
        return k;
      }
    }
  }
  return -1;
}

/* Does an output, run over `poison`, hold where it is written what another run left, `want`? */
static sct_status check_same(sct_measure *m, const sct_case *c, int op, const uint8_t *want,
                             const uint8_t *flags, int poison, sct_verdict *verdict,
                             sct_error *err) {
  uint8_t *got = sct_image_new(&c->shape, op);
  const sct_status status = sct_remote_download_spans(m, c->used[op], &c->shape, op, got, err);
  const int64_t k = status == SCT_OK ? first_other(c, op, got, want, flags) : -1;
  if (k >= 0) {
    sct_place place;
    sct_find_byte(&c->shape, op, k, &place);
    sct_describe_difference(verdict, &c->shape, op, k, &place, got + place.offset,
                            want + place.offset, poison);
  }
  sct_image_free(got, &c->shape, op);
  return status;
}

static void add_to_detail(sct_verdict *verdict, const char *text) {
  const size_t used = strlen(verdict->detail);
  snprintf(verdict->detail + used, sizeof verdict->detail - used, "; %s", text);
}

/* What is deterministic comes out the same in a second run, of which the interpreter has blocks and
 * warps in the opposite order. */
static sct_status run_again(sct_measure *m, const sct_job *job, sct_case *c, attempt *a,
                            sct_verdict *verdict, sct_error *err) {
  const sct_spec *spec = m->addressing.spec;
  uint8_t *before[SCT_MAX_OPERANDS] = {NULL};
  const uint8_t *flags = NULL;
  sct_status status = SCT_OK;
  for (int k = spec->n_inputs; k < spec->n_operands; k++) {
    if (sct_operand_is_ordered(&spec->operands[k])) {
      before[k] = sct_image_new(&c->shape, k);
      SCT_TRY_DONE(sct_remote_download_spans(m, c->used[k], &c->shape, k, before[k], err));
    }
  }
  a->trial.reversed = true;
  SCT_TRY_DONE(sct_remote_trial(m, job, &a->target, &a->trial, verdict, err));
  for (int k = spec->n_inputs; k < spec->n_operands && verdict->outcome == SCT_OUT_OK; k++) {
    if (before[k]) {
      SCT_TRY_DONE(sct_case_flags(c, k, &flags, err));
      SCT_TRY_DONE(check_same(m, c, k, before[k], flags, c->poison, verdict, err));
      if (verdict->outcome != SCT_OUT_OK) {
        SCT_SCOPED(sct_str) text = {0};
        sct_str_printf(&text, "it was the other in the run before, but '%s' is deterministic",
                       spec->operands[k].name);
        add_to_detail(verdict, sct_str_c(&text));
      }
    }
  }
done:
  for (int k = 0; k < spec->n_operands; k++) {
    sct_image_free(before[k], &c->shape, k);
  }
  return status;
}

/* Sums of equal values, or of few, are rounded alike again and again: in one order they are off by
 * much more than in another; and what cancels keeps the roundings of one order. What is off only by
 * these is right where the interpreter rounds otherwise, to what several such runs differ by; what
 * lacks a summand is as wrong as before. */
static sct_status run_rounding(sct_measure *m, const sct_job *job, sct_case *c, attempt *a,
                               sct_verdict *verdict, sct_error *err) {
  const sct_spec *spec = m->addressing.spec;
  sct_verdict rounded = {0};
  sct_draws own = {0};
  sct_status status = SCT_OK;
  for (int n = 0; n < SCT_N_ROUNDINGS && rounded.outcome == SCT_OUT_OK; n++) {
    a->trial.rounding = sct_shape_rounding(&c->shape, n);
    SCT_TRY_DONE(sct_remote_trial(m, job, &a->target, &a->trial, &rounded, err));
    for (int k = spec->n_inputs; k < spec->n_operands && n < SCT_N_ROUNDINGS - 1; k++) {
      own.image[n][k] = sct_image_new(&c->shape, k);
      SCT_TRY_DONE(sct_remote_download_spans(m, c->used[k], &c->shape, k, own.image[n][k], err));
      own.n = n + 1;
    }
  }
  SCT_TRY_DONE(rounded.outcome == SCT_OUT_OK ? evaluate_attempt(m, c, false, a, &own, &rounded, err)
                                             : SCT_OK);
  *verdict = rounded.outcome == SCT_OUT_OK ? rounded : *verdict;
done:
  for (int n = 0; n < SCT_N_ROUNDINGS; n++) {
    for (int k = 0; k < spec->n_operands; k++) {
      sct_image_free(own.image[n][k], &c->shape, k);
    }
  }
  return status;
}

static bool is_sparse(const sct_shape *s) {
  bool any = false;
  for (int k = s->addressing->spec->n_inputs; k < s->addressing->spec->n_operands; k++) {
    any = any || sct_shape_is_sparse(s, k);
  }
  return any;
}

/* The naive variant's result is the reference now: nothing of a sparse output differs from that,
 * far from its elements either. */
static sct_status check_reference(sct_measure *m, sct_case *c, sct_verdict *verdict,
                                  sct_error *err) {
  for (int k = m->addressing.spec->n_inputs;
       k < m->addressing.spec->n_operands && verdict->outcome == SCT_OUT_OK; k++) {
    sct_difference found = {0};
    if (sct_shape_is_sparse(&c->shape, k)) {
      SCT_TRY(send_reference(m, c, k, err));
      const sct_ask_compare both = {c->used[k], c->reference[k][0], c->reference[k][1]};
      SCT_TRY(sct_ask_COMPARE(m, &both, &found, err));
      SCT_TRY(found.n > 0 ? check_output(m, c, k, false, found.n, NULL, verdict, err) : SCT_OK);
    }
  }
  return SCT_OK;
}

/* Runs the job on the case and compares: on the device, and where bits differ, or values only have
 * to be near, on the host. SCT_OK with a verdict that is not OK: the job failed. */
static sct_status run_case(sct_measure *m, const sct_job *job, const sct_situation *s,
                           int64_t limit_ns, bool as_reference, double *ns, sct_verdict *verdict,
                           sct_error *err) {
  sct_case *c = s->c;
  attempt a;
  const bool by_bits =
      !as_reference && (m->addressing.spec->tolerance == 0 || is_sparse(&c->shape));
  SCT_TRY(prepare_attempt(m, job, s, limit_ns, by_bits, &a, verdict, err));
  if (verdict->outcome == SCT_OUT_OK) {
    SCT_TRY(sct_remote_trial(m, job, &a.target, &a.trial, verdict, err));
    *ns = a.trial.ns;
  }
  if (verdict->outcome == SCT_OUT_OK) {
    SCT_TRY(evaluate_attempt(m, c, as_reference, &a, NULL, verdict, err));
    SCT_TRY(!as_reference && m->is_virtual && c->shape.near &&
                    verdict->outcome == SCT_OUT_WRONG_RESULT
                ? run_rounding(m, job, c, &a, verdict, err)
                : SCT_OK);
    SCT_TRY(as_reference ? check_reference(m, c, verdict, err) : SCT_OK);
  }
  return verdict->outcome == SCT_OUT_OK && sct_spec_is_ordered(m->addressing.spec) &&
                 a.target.blocks > 0
             ? run_again(m, job, c, &a, verdict, err)
             : SCT_OK;
}

/* ---- the reference ---- */

/* Do as many written bytes in a row as the shortest field has still hold the poison? */
static bool may_be_unwritten(const sct_case *c, int op, const sct_operand *operand,
                             const uint8_t *flags) {
  int64_t shortest = operand->record.fields[0].bytes, n = 0;
  for (int f = 1; f < operand->record.n_fields; f++) {
    const int64_t bytes = operand->record.fields[f].bytes;
    shortest = bytes < shortest ? bytes : shortest;
  }
  for (int part = 0; part < sct_shape_n_spans(&c->shape, op) && n < shortest; part++) {
    const sct_span span = sct_shape_span(&c->shape, op, part);
    n = 0;
    for (int64_t k = span.from; k < span.to && n < shortest; k++) {
      n = (flags[k] & SCT_BYTE_WRITTEN) && c->image[op][k] == c->poison ? n + 1 : 0;
    }
  }
  return n >= shortest;
}

/* What a naive variant leaves alone would pass for its result, and so for that of others that leave
 * it alone. Where its reference looks so, it runs over another poison. */
static sct_status check_written(sct_measure *m, const sct_job *job, const sct_situation *s,
                                sct_verdict *verdict, sct_error *err) {
  sct_case *c = s->c;
  const sct_spec *spec = m->addressing.spec;
  const uint8_t *flags[SCT_MAX_OPERANDS] = {NULL};
  bool again = false;
  for (int k = spec->n_inputs; k < spec->n_operands; k++) {
    SCT_TRY(sct_case_flags(c, k, &flags[k], err));
    again = again || may_be_unwritten(c, k, &spec->operands[k], flags[k]);
  }
  if (!again) {
    return SCT_OK;
  }
  attempt a;
  SCT_TRY(prepare_attempt(m, job, s, m->request_ns, false, &a, verdict, err));
  a.trial.poison = (uint8_t)~c->poison;
  SCT_TRY(sct_remote_trial(m, job, &a.target, &a.trial, verdict, err));
  for (int k = spec->n_inputs; k < spec->n_operands && verdict->outcome == SCT_OUT_OK; k++) {
    SCT_TRY(check_same(m, c, k, c->image[k], flags[k], a.trial.poison, verdict, err));
    if (verdict->outcome != SCT_OUT_OK) {
      add_to_detail(verdict,
                    verdict->outcome == SCT_OUT_NOT_WRITTEN
                        ? "the naive variant leaves it alone: does the body give it a value?"
                        : "the naive variant gives it another value each time");
    }
  }
  return SCT_OK;
}

/* A case as the naive variant meets it. */
static sct_situation plainly(const sct_measure *m, sct_case *c) {
  sct_situation s = {.c = c, .few = true};
  for (int k = 0; k < m->addressing.spec->n_operands; k++) {
    s.residue[k] = sct_code_residue(m->naive.code, k);
  }
  return s;
}

/* Runs the naive variant on the case once and makes (or checks) what outputs must hold. */
static sct_status make_reference(sct_measure *m, sct_case *c, sct_error *err) {
  sct_verdict verdict = {0};
  sct_job job;
  double ns = 0;
  if (c->referenced) {
    return SCT_OK;
  }
  SCT_TRY(sct_remote_load(m, &m->naive, &job, &verdict, err));
  sct_status status = SCT_OK;
  if (verdict.outcome == SCT_OUT_OK) {
    const bool computes = m->addressing.spec->n_moves == 0;
    const sct_situation s = plainly(m, c);
    status = run_case(m, &job, &s, m->request_ns, computes, &ns, &verdict, err);
    if (status == SCT_OK && verdict.outcome == SCT_OUT_OK && computes) {
      status = check_written(m, &job, &s, &verdict, err);
    }
  }
  sct_remote_unload(m, &job);
  if (status == SCT_OK && verdict.outcome == SCT_OUT_UNSUPPORTED &&
      m->addressing.spec->n_moves > 0) {
    verdict.outcome = SCT_OUT_OK; /* what the layouts say on the host is the reference by itself */
  }
  if (status == SCT_OK && verdict.outcome != SCT_OUT_OK) {
    m->naive_verdict = verdict;
  }
  c->referenced = status == SCT_OK && verdict.outcome == SCT_OUT_OK;
  c->naive_ns = ns;
  return status;
}

/* The first output whose places the body computes; NULL: there is none. */
static const sct_operand *computed_output(const sct_spec *spec) {
  for (int k = spec->n_inputs; k < spec->n_operands; k++) {
    for (int d = 0; d < spec->operands[k].n_dims; d++) {
      if (sct_spec_is_computed(spec, spec->operands[k].at[d])) {
        return &spec->operands[k];
      }
    }
  }
  return NULL;
}

static sct_status no_reference(const sct_measure *m, sct_error *err) {
  const sct_operand *computed = computed_output(m->addressing.spec);
  SCT_SCOPED(sct_str) advice = {0};
  if (computed && m->naive_verdict.outcome == SCT_OUT_OUT_OF_BOUNDS) {
    sct_str_printf(&advice,
                   "; the body computes the places in '%s': at every extent, not only the sizes', "
                   "it must leave out by `keep(%s);` what lies outside",
                   computed->name, computed->name);
  }
  return sct_fail(err, SCT_ENOTVERIFIED,
                  "the naive variant itself failed, so there is nothing to compare with: %s: %s%s",
                  sct_outcome_text(m->naive_verdict.outcome), m->naive_verdict.detail,
                  sct_str_c(&advice));
}

sct_status sct_case_reference(sct_measure *m, sct_case *c, sct_error *err) {
  SCT_TRY(prepare(m, c, err));
  SCT_TRY(make_reference(m, c, err));
  if (m->naive_verdict.outcome != SCT_OUT_OK) {
    return no_reference(m, err);
  }
  return sct_case_images(m, c, err); /* those that are known before are given back */
}

/* ---- a candidate ---- */

/* The interpreter counts steps, so time is no sign of a hang there: the machine may be busy. */
static int64_t launch_limit_ns(const sct_measure *m, const sct_case *c) {
  return m->is_virtual ? m->request_ns : sct_launch_limit_ns(c->naive_ns);
}

static sct_status try_situation(sct_measure *m, sct_job *job, const sct_situation *s,
                                sct_verdict *out, sct_error *err) {
  sct_case *c = s->c;
  double ns = 0;
  SCT_TRY(prepare(m, c, err));
  if (m->naive_verdict.outcome == SCT_OUT_OK) {
    SCT_TRY(make_reference(m, c, err));
  }
  if (m->naive_verdict.outcome != SCT_OUT_OK) {
    *out = m->naive_verdict;
    return sct_is_naive(m, job->binary) ? SCT_OK : no_reference(m, err);
  }
  if (job->kernel < 0) {
    const int more_blocks = job->more_blocks;
    SCT_TRY(sct_remote_load(m, job->binary, job, out, err));
    job->more_blocks = more_blocks;
  }
  return out->outcome == SCT_OUT_OK
             ? run_case(m, job, s, launch_limit_ns(m, c), false, &ns, out, err)
             : SCT_OK;
}

/* Where arrays lay, for a kernel whose path depends on it: "; a at 12, b at 4 modulo 16". */
static void tell_addresses(const sct_measure *m, const sct_situation *s, sct_verdict *out) {
  const sct_spec *spec = m->addressing.spec;
  SCT_SCOPED(sct_str) text = {0};
  for (int k = 0; k < spec->n_operands; k++) {
    sct_str_printf(&text, "%s%s at %lld", k > 0 ? ", " : "", spec->operands[k].name,
                   (long long)(s->residue[k] % 16));
  }
  sct_str_append(&text, " modulo 16");
  add_to_detail(out, sct_str_c(&text));
}

static sct_status try_all(sct_measure *m, sct_job *job, const sct_situations *list,
                          sct_verdict *out, sct_error *err) {
  for (int k = 0; k < list->n && out->outcome == SCT_OUT_OK; k++) {
    sct_error first = {0};
    if (m->cases.bytes / 2 > m->cases.most_bytes) {
      sct_cases_make_room(m); /* a single one may be large */
    }
    sct_status status = try_situation(m, job, &list->all[k], out, &first);
    if (status == SCT_ENOMEM && sct_child_alive(&m->worker) && m->cases.bytes > 0) {
      sct_cases_empty(m, 0);
      status = try_situation(m, job, &list->all[k], out, err);
    } else if (status != SCT_OK) {
      status = sct_fail(err, status, "%s", first.text);
    }
    SCT_TRY(status);
    if (out->outcome != SCT_OUT_OK && list->inspects) {
      tell_addresses(m, &list->all[k], out);
    }
  }
  return SCT_OK;
}

/* Did it write into buffers of other sizes? (A described device shows it no others.) */
static sct_status audit_all(sct_measure *m, const sct_case *last, sct_verdict *out,
                            sct_error *err) {
  sct_audit audit;
  if (m->is_virtual || out->outcome != SCT_OUT_OK || !sct_child_alive(&m->worker)) {
    return SCT_OK;
  }
  SCT_TRY(sct_ask_AUDIT(m, &(sct_ask_audit){.n_buffers = 0}, &audit, err));
  sct_evaluate_audit(out, &last->shape, last->used, &audit);
  if (audit.damage != SCT_DAMAGE_NONE) {
    sct_child_kill(&m->worker);
  }
  return SCT_OK;
}

/* Whole lines, as many as fit. */
static sct_status ask_uncovered(sct_measure *m, const sct_job *job, sct_verdict *out,
                                sct_error *err) {
  sct_got_guards got;
  if (!m->is_virtual || out->outcome != SCT_OUT_OK || job->kernel < 0) {
    return SCT_OK;
  }
  SCT_TRY(sct_ask_GUARDS(m, &(sct_ask_unload){.kernel = job->kernel}, &got, err));
  out->n_uncovered = got.n;
  size_t n = strlen(got.places);
  while (n >= sizeof out->uncovered || (n > 0 && got.places[n - 1] != '\n')) {
    n--;
  }
  memcpy(out->uncovered, got.places, n);
  out->uncovered[n] = '\0';
  return SCT_OK;
}

bool sct_find_traits(sct_measure *m, const sct_binary *candidate, sct_ptx_traits *out) {
  const sct_ptx_module *module = sct_read_ptx(m, candidate);
  return module && sct_ptx_traits_of(out, module, candidate->entry, NULL) == SCT_OK;
}

/* Whether it is right with one more block than its grid has, which runs first and has nothing to
 * do: if not, nothing can be learnt from fewer. */
static sct_status takes_other_grids(sct_measure *m, const sct_binary *candidate,
                                    const sct_ptx_traits *traits, bool *takes, sct_error *err) {
  const sct_situations *list = NULL;
  sct_job job = {.binary = candidate, .kernel = -1, .more_blocks = 1};
  sct_verdict verdict = {.outcome = SCT_OUT_OK};
  sct_situations_for(m, candidate->code, traits, &list);
  const sct_situation *most = list->n > 0 ? &list->all[0] : NULL;
  for (int k = 1; k < list->n; k++) {
    const bool more = list->all[k].c->shape.n_elements > most->c->shape.n_elements;
    most = more ? &list->all[k] : most;
  }
  const sct_status status = most ? try_situation(m, &job, most, &verdict, err) : SCT_OK;
  sct_remote_unload(m, &job);
  *takes = verdict.outcome == SCT_OUT_OK;
  return status;
}

/* The candidate, with the rounds that are to be tried. On a GPU only those that its plan states:
 * there it has passed the interpreter, and another grid might do harm. */
static sct_status find_rounds(sct_measure *m, const sct_binary *candidate,
                              const sct_ptx_traits *traits, sct_kernel_code *code, sct_error *err) {
  const int stated = candidate->code->rounds;
  const int rounds = m->is_virtual ? sct_code_rounds(m, candidate) : stated;
  bool takes = true;
  *code = *candidate->code;
  if (stated == 0 && rounds > 0) {
    SCT_TRY(takes_other_grids(m, candidate, traits, &takes, err));
  }
  code->rounds = takes ? rounds : stated;
  return SCT_OK;
}

static sct_status verify_once(sct_measure *m, const sct_binary *candidate, sct_verdict *out,
                              sct_error *err) {
  const sct_situations *list = NULL;
  sct_kernel_code code;
  sct_ptx_traits found;
  sct_binary binary = *candidate;
  sct_job job = {.binary = &binary, .kernel = -1};
  SCT_TRY(sct_remote_ensure(m, err));
  const sct_ptx_traits *traits = sct_find_traits(m, candidate, &found) ? &found : NULL;
  SCT_TRY(find_rounds(m, candidate, traits, &code, err));
  binary.code = &code;
  sct_situations_for(m, &code, traits, &list);
  if (list->n_full < SCT_MIN_CASES) {
    sct_verdict_set(out, SCT_OUT_LAUNCH_ERROR,
                    "its requirements hold at %d of the sizes tried, too few to verify it",
                    list->n_full);
    return SCT_OK;
  }
  sct_status status = try_all(m, &job, list, out, err);
  SCT_THEN(audit_all(m, list->all[list->n - 1].c, out, err));
  SCT_THEN(ask_uncovered(m, &job, out, err));
  if (status == SCT_OK && traits) {
    sct_warn_narrow(m, candidate->code, traits, out);
  }
  sct_remote_unload(m, &job);
  return status;
}

/* Between launches, or during one but without a result that says what it did. */
static bool died_without_reason(const sct_measure *m, sct_status status, const sct_verdict *out) {
  return !m->lost && !sct_child_alive(&m->worker) &&
         (status == SCT_EUNHEALTHY || out->outcome == SCT_OUT_CRASH ||
          m->naive_verdict.outcome == SCT_OUT_CRASH);
}

sct_status sct_measure_verify(sct_measure *m, const sct_binary *candidate, sct_verdict *out,
                              sct_error *err) {
  *out = (sct_verdict){.outcome = SCT_OUT_OK, .n_uncovered = -1};
  if (!m->has_problem) {
    return sct_fail(err, SCT_EUSAGE, "sct_measure_verify before sct_measure_problem");
  }
  if (m->recording) {
    sct_replay_verify(m, candidate, out);
    return SCT_OK;
  }
  sct_code_fits(&m->device, candidate->code, out);
  if (out->outcome != SCT_OUT_OK) {
    return SCT_OK;
  }
  if (m->naive_verdict.outcome != SCT_OUT_OK && !sct_is_naive(m, candidate)) {
    return no_reference(m, err);
  }
  sct_cases_make_room(m);
  sct_status status = verify_once(m, candidate, out, err);
  if (died_without_reason(m, status, out)) {
    /* Someone else may have killed it, the system for want of memory, say. Once more, in a new one;
     * a candidate that kills its worker does so again. */
    const sct_verdict first = *out;
    m->naive_verdict = (sct_verdict){.outcome = SCT_OUT_OK};
    *out = (sct_verdict){.outcome = SCT_OUT_OK, .n_uncovered = -1};
    status = verify_once(m, candidate, out, err);
    if (status == SCT_EUNHEALTHY && first.outcome == SCT_OUT_CRASH) {
      *out = first; /* it made the device fail, which the next candidate reports */
      status = SCT_OK;
    }
  }
  return status;
}
