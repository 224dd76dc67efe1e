/* The size that is timed: buffers, data, what the naive variant makes of them, and the comparison
 * of results with it on the device. */
#include "measure_session.h"

#include <stdlib.h>
#include <string.h>

#define POISON_FIRST  0xa5
#define POISON_SECOND 0x5a
#define CACHE_FACTOR  3 /* of the L2: what lies between two uses of the same copy */
#define BEFORE_PART   4 /* sizes before may have this part of the memory */

/* ---- buffers of the current size ---- */

static void free_buffers(sct_measure *m, sct_timed *t) {
  sct_wire freed = {0};
  if (t->generation == m->generation) {
    sct_remote_put_freed(&freed, t->buffer, m->addressing.spec->n_operands);
    sct_remote_put_freed(&freed, t->reference[0], 2 * m->addressing.spec->n_operands);
    sct_remote_put_freed(&freed, t->prefill, m->addressing.spec->n_operands);
  }
  sct_remote_free(m, &freed);
  t->generation = 0;
}

static void drop(sct_measure *m, sct_timed *t) {
  if (t->shape.addressing) {
    free_buffers(m, t);
    sct_shape_free(&t->shape);
  }
  *t = (sct_timed){0};
}

static void drop_before(sct_measure *m) {
  while (m->n_before > 0) {
    drop(m, &m->before[--m->n_before]);
  }
}

void sct_timed_drop(sct_measure *m) {
  drop_before(m);
  drop(m, &m->timed);
}

static bool same_size(const sct_timed *t, const sct_spec *spec, const sct_size *size) {
  if (!t->shape.addressing ||
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

static sct_status send_image(sct_measure *m, int op, int64_t buffer, sct_error *err) {
  uint8_t *image = NULL;
  if (m->addressing.op[op].op->is_index) {
    sct_shape_index_one(&m->timed.shape, op);
  }
  SCT_TRY(sct_image_input(&image, &m->timed.shape, op, err));
  const sct_status status = sct_remote_upload(m, buffer, image, m->timed.shape.op[op].bytes, err);
  sct_free(image);
  return status;
}

/* Values of an index array, or of a mask that is a prefix, which the device reckons itself; offsets
 * of rows, and what lies in other places than strides say, come from here. */
static sct_status fill_index(sct_measure *m, int op, int64_t buffer, sct_error *err) {
  const sct_shape *s = &m->timed.shape;
  const sct_operand *operand = m->addressing.op[op].op;
  const sct_size size = {.extent = (int64_t *)s->extent, .fill = (sct_fill *)s->fill};
  const sct_index_fill fill = sct_spec_index_fill(m->addressing.spec, op, &size);
  sct_ask_index ask = {.buffer = buffer, .values = sct_index_values_of(&fill)};
  sct_a_count filled = {-1};
  ask.values.bytes = operand->record.fields[0].bytes;
  if (!fill.are_offsets && fill.limit > 0 && operand->record.n_fields == 1 &&
      sct_shape_places(s, op, 0, &ask.at)) {
    SCT_TRY(sct_ask_SET(m, &(sct_ask_set){buffer, sct_image_background(s, op, 0)}, NULL, err));
    SCT_TRY(sct_ask_INDEX(m, &ask, &filled, err));
  }
  return filled.n >= 0 ? SCT_OK : send_image(m, op, buffer, err);
}

/* Ordinary values; where nothing is timed, or runs no code, those of verification. */
static sct_status fill_values(sct_measure *m, int op, int64_t buffer, sct_error *err) {
  if (m->is_virtual || m->fake[0] != '\0') {
    return send_image(m, op, buffer, err);
  }
  if (m->addressing.op[op].op->is_index || m->timed.shape.fill[op] == SCT_FILL_PREFIX) {
    return fill_index(m, op, buffer, err);
  }
  const sct_masks masks = sct_data_record_masks(&m->addressing.op[op].op->record);
  const sct_ask_fill fill = {buffer, masks.and_mask, masks.or_mask, sct_data_key(m->seed, op, 0)};
  return sct_ask_FILL(m, &fill, NULL, err);
}

static sct_status prepare_input(sct_measure *m, int op, sct_error *err) {
  sct_timed *t = &m->timed;
  SCT_TRY(sct_remote_alloc(m, t->shape.op[op].bytes, t->copies, &t->buffer[op], err));
  SCT_TRY(fill_values(m, op, t->buffer[op], err));
  SCT_TRY(sct_ask_REPEAT(m, &(sct_a_buffer){t->buffer[op]}, NULL, err));
  return sct_ask_SEAL(m, &(sct_a_buffer){t->buffer[op]}, NULL, err);
}

/* What runs no code must be given what kernels compute; at this size any values will do. */
static sct_status send_results(sct_measure *m, int op, sct_error *err) {
  sct_timed *t = &m->timed;
  uint8_t *inputs[SCT_MAX_OPERANDS] = {0}, *image = NULL, *flags = NULL;
  sct_status status = SCT_OK;
  for (int k = 0; k < m->addressing.spec->n_inputs; k++) {
    SCT_TRY_DONE(sct_image_input(&inputs[k], &t->shape, k, err));
  }
  SCT_TRY_DONE(sct_image_output(&image, &t->shape, op, inputs, POISON_FIRST, err));
  SCT_TRY_DONE(sct_image_flags(&flags, &t->shape, op, err));
  status = sct_remote_set_expected(m, t->buffer[op], &t->shape, op, flags, image, err);
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
  const sct_addressing_operand *p = &s->addressing->op[op];
  return p->layout->owns_gaps && s->op[op].count * p->op->record.data_bytes < s->op[op].bytes;
}

static sct_status prepare_output(sct_measure *m, int op, sct_error *err) {
  sct_timed *t = &m->timed;
  const int64_t bytes = t->shape.op[op].bytes;
  SCT_TRY(sct_remote_alloc(m, bytes, t->copies, &t->buffer[op], err));
  SCT_TRY(sct_remote_alloc(m, bytes, 1, &t->reference[op][0], err));
  if (has_free_gaps(&t->shape, op)) {
    SCT_TRY(sct_remote_alloc(m, bytes, 1, &t->reference[op][1], err));
  }
  if (sct_operand_is_prefilled(m->addressing.op[op].op)) {
    SCT_TRY(sct_remote_alloc(m, bytes, 1, &t->prefill[op], err));
    const int start = sct_operand_start_byte(m->addressing.op[op].op);
    SCT_TRY(start >= 0 ? sct_ask_SET(m, &(sct_ask_set){t->prefill[op], (uint8_t)start}, NULL, err)
                       : fill_values(m, op, t->prefill[op], err));
    SCT_TRY(sct_ask_SEAL(m, &(sct_a_buffer){t->prefill[op]}, NULL, err));
    SCT_TRY(sct_ask_COPY(m, &(sct_ask_copy){t->buffer[op], t->prefill[op]}, NULL, err));
    SCT_TRY(sct_ask_REPEAT(m, &(sct_a_buffer){t->buffer[op]}, NULL, err));
  }
  return m->fake[0] != '\0' ? send_results(m, op, err) : SCT_OK;
}

static sct_status set_outputs(sct_measure *m, uint8_t poison, sct_error *err) {
  const sct_timed *t = &m->timed;
  for (int k = m->addressing.spec->n_inputs; k < m->addressing.spec->n_operands; k++) {
    SCT_TRY(t->prefill[k] >= 0
                ? sct_ask_COPY(m, &(sct_ask_copy){t->buffer[k], t->prefill[k]}, NULL, err)
                : sct_ask_SET(m, &(sct_ask_set){t->buffer[k], poison}, NULL, err));
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
  const sct_spec *spec = m->addressing.spec;
  sct_timed *t = &m->timed;
  sct_target target = timed_target(m, where);
  SCT_TRY(sct_code_blocks(&t->shape, job->binary->code, &target.blocks, verdict, err));
  SCT_TRY(set_outputs(m, which == 0 ? POISON_FIRST : POISON_SECOND, err));
  if (verdict->outcome == SCT_OUT_OK) {
    SCT_TRY(sct_remote_run(m, job, &target, &t->naive_ns, verdict, err));
  }
  for (int k = spec->n_inputs; k < spec->n_operands && verdict->outcome == SCT_OUT_OK; k++) {
    if (t->reference[k][which] >= 0) {
      const sct_ask_copy copy = {t->reference[k][which], t->buffer[k]};
      SCT_TRY(sct_ask_COPY(m, &copy, NULL, err));
    }
  }
  return SCT_OK;
}

static sct_status make_references(sct_measure *m, const char *where, sct_error *err) {
  const sct_spec *spec = m->addressing.spec;
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
  for (int k = 0; k < s->addressing->spec->n_operands; k++) {
    const int copies = k < s->addressing->spec->n_inputs ? 1 : has_free_gaps(s, k) ? 3 : 2;
    bytes += sct_operand_is_prefilled(s->addressing->op[k].op) ? s->op[k].bytes : 0;
    bytes += s->op[k].bytes * copies;
  }
  return bytes;
}

int64_t sct_copies_for(const sct_device_desc *device, int64_t bytes) {
  const int64_t wanted = CACHE_FACTOR * device->l2_bytes, each = bytes > 0 ? bytes : 1;
  const int64_t copies = (wanted + each - 1) / each;
  return copies < 1 ? 1 : copies > SCT_MAX_COPIES ? SCT_MAX_COPIES : copies;
}

/* As many copies as the cache asks for and half of the memory has room for. */
static int64_t choose_copies(const sct_measure *m) {
  const sct_shape *s = &m->timed.shape;
  int64_t bytes = 0;
  for (int k = 0; k < s->addressing->spec->n_operands; k++) {
    bytes += s->op[k].bytes;
  }
  const int64_t each = bytes + 3 * (int64_t)SCT_GUARD_BYTES * s->addressing->spec->n_operands;
  const int64_t room = (m->device.memory_bytes / 2 - memory_needed(s)) / each;
  const int64_t wanted = m->is_virtual ? 1 : sct_copies_for(&m->device, bytes);
  return room < wanted ? (room > 1 ? room : 1) : wanted;
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

/* Buffers and references of the current size. */
static sct_status fill_size(sct_measure *m, const char *where, sct_error *err) {
  const sct_spec *spec = m->addressing.spec;
  sct_timed *t = &m->timed;
  for (int k = 0; k < spec->n_operands; k++) {
    t->buffer[k] = t->reference[k][0] = t->reference[k][1] = t->prefill[k] = -1;
  }
  t->generation = m->generation;
  t->copies = choose_copies(m);
  sct_cases_limit(m);
  sct_cases_make_room(m);
  if (m->is_virtual || m->fake[0] != '\0') {
    sct_shape_index(&t->shape);
  }
  for (int k = 0; k < spec->n_operands; k++) {
    SCT_TRY(k < spec->n_inputs ? prepare_input(m, k, err) : prepare_output(m, k, err));
  }
  sct_shape_unindex(&t->shape); /* eight bytes an element; needed again where results differ */
  SCT_TRY(make_references(m, where, err));
  if (t->naive_verdict.outcome != SCT_OUT_OK) {
    free_buffers(m, t);
  }
  return SCT_OK;
}

/* ---- the sizes before ---- */

static int64_t bytes_of(const sct_timed *t) {
  int64_t bytes = memory_needed(&t->shape);
  for (int k = 0; k < t->shape.addressing->spec->n_operands; k++) {
    bytes += (t->copies - 1) * t->shape.op[k].bytes;
  }
  return t->generation != 0 ? bytes : 0;
}

static void forget(sct_measure *m, int k) {
  m->n_before--;
  memmove(&m->before[k], &m->before[k + 1], sizeof *m->before * (size_t)(m->n_before - k));
}

/* Of a GPU what is left of three quarters of its memory, but an eighth in any case; of the
 * interpreter, whose memory is the host's and of which each core may have one, less. */
void sct_cases_limit(sct_measure *m) {
  const int64_t all = m->device.memory_bytes, least = (int64_t)1 << 29;
  int64_t sizes = m->timed.shape.addressing ? bytes_of(&m->timed) : 0;
  for (int k = 0; k < m->n_before; k++) {
    sizes += bytes_of(&m->before[k]);
  }
  const int64_t left = all / 4 * 3 - sizes, wanted = left > all / 8 ? left : all / 8;
  m->cases.most_bytes = m->is_virtual || wanted < least ? least : wanted;
}

/* The current size joins those before, of which the first ones go where it takes their room. */
static void set_aside(sct_measure *m) {
  int64_t bytes = m->timed.shape.addressing ? bytes_of(&m->timed) : 0;
  for (int k = 0; k < m->n_before; k++) {
    bytes += bytes_of(&m->before[k]);
  }
  while (m->n_before > 0 &&
         (m->n_before == SCT_TIMED_BEFORE || bytes > m->device.memory_bytes / BEFORE_PART)) {
    bytes -= bytes_of(&m->before[0]);
    drop(m, &m->before[0]);
    forget(m, 0);
  }
  if (bytes > m->device.memory_bytes / BEFORE_PART) {
    drop(m, &m->timed);
  } else if (m->timed.shape.addressing) {
    sct_shape_unindex(&m->timed.shape);
    m->before[m->n_before++] = m->timed;
  }
  m->timed = (sct_timed){0};
}

/* Makes the size the current one, if it is not; false: it has nothing yet. */
static bool bring_back(sct_measure *m, const sct_size *size) {
  const sct_spec *spec = m->addressing.spec;
  if (!same_size(&m->timed, spec, size)) {
    set_aside(m);
    for (int k = 0; k < m->n_before; k++) {
      if (same_size(&m->before[k], spec, size)) {
        m->timed = m->before[k];
        forget(m, k);
        break;
      }
    }
  }
  const sct_timed *t = &m->timed;
  return t->shape.addressing &&
         (t->generation == m->generation || t->naive_verdict.outcome != SCT_OUT_OK);
}

sct_status sct_timed_prepare(sct_measure *m, const sct_size *size, const char *where,
                             sct_error *err) {
  if (bring_back(m, size)) {
    return SCT_OK;
  }
  sct_error first = {0};
  sct_status status = SCT_OK;
  if (!m->timed.shape.addressing) {
    SCT_TRY(sct_shape_init(&m->timed.shape, &m->addressing, size->extent, size->fill, err));
  }
  SCT_TRY_DONE(check_memory(m, err));
  status = fill_size(m, where, &first);
  if (status == SCT_ENOMEM && sct_child_alive(&m->worker) &&
      (m->n_before > 0 || m->cases.bytes > 0)) {
    drop_before(m);
    sct_cases_empty(m, 0);
    free_buffers(m, &m->timed);
    status = fill_size(m, where, err);
  } else if (status != SCT_OK) {
    status = sct_fail(err, status, "%s", first.text);
  }
done:
  if (status != SCT_OK) {
    sct_timed_drop(m);
  }
  return status;
}

/* ---- results at this size ---- */

/* What SETTLE calls a type; -1: it is no floating point. */
static int settle_type(sct_type type) {
  static const struct {
    sct_type lane;
    int type;
  } types[] = {{SCT_TYPE_F16, SCT_SETTLE_F16},   {SCT_TYPE_BF16, SCT_SETTLE_BF16},
               {SCT_TYPE_F32, SCT_SETTLE_F32},   {SCT_TYPE_F64, SCT_SETTLE_F64},
               {SCT_TYPE_E4M3, SCT_SETTLE_E4M3}, {SCT_TYPE_E5M2, SCT_SETTLE_E5M2}};
  const sct_type_info *info = sct_type_get(type);
  for (int k = 0; k < SCT_COUNT(types) && info->kind == SCT_KIND_FLOAT; k++) {
    const sct_type_info *lane = sct_type_get(types[k].lane);
    if (lane->bytes == info->bytes / info->lanes && lane->exponent_bits == info->exponent_bits) {
      return types[k].type;
    }
  }
  return -1;
}

/* The median magnitude of a field of an output's reference, as sct_usual_magnitude() has it. */
static sct_status usual_of_field(sct_measure *m, int op, int field, double *out, sct_error *err) {
  const sct_operand *operand = m->addressing.op[op].op;
  const sct_type type = operand->record.fields[field].type;
  const sct_type_info *info = sct_type_get(type);
  const int lane_bytes = info->bytes / info->lanes;
  int64_t offsets[SCT_USUAL_VALUES];
  sct_span spans[SCT_USUAL_VALUES];
  sct_got_download got = {0};
  const int n = sct_usual_offsets(&m->timed.shape, op, field, offsets);
  for (int k = 0; k < n; k++) {
    spans[k] = (sct_span){offsets[k], offsets[k] + info->bytes};
  }
  SCT_TRY(sct_ask_GATHER(m, &(sct_ask_gather){m->timed.reference[op][0], spans, n}, &got, err));
  if (got.n_data != (int64_t)n * info->bytes) {
    return sct_fail(err, SCT_EINTERNAL, "malformed answer to GATHER");
  }
  SCT_OWNED double *values = sct_alloc(sizeof *values * (size_t)(n * info->lanes + 1));
  for (int k = 0; k < n * info->lanes; k++) {
    values[k] = sct_data_float(type, got.data + (int64_t)k * lane_bytes);
  }
  *out = sct_usual_of(operand, values, (int64_t)n * info->lanes);
  return SCT_OK;
}

/* Values that are right though their bits differ get the reference's on the device, so that what
 * differs after that is wrong. false: it cannot say of this output. */
static sct_status settle(sct_measure *m, int op, bool *settled, sct_error *err) {
  sct_timed *t = &m->timed;
  const sct_record *record = &m->addressing.op[op].op->record;
  *settled = sct_shape_writes_all(&t->shape, op);
  for (int f = 0; f < record->n_fields && *settled; f++) {
    const sct_type_info *info = sct_type_get(record->fields[f].type);
    sct_ask_settle ask = {.a = t->buffer[op], .ref = t->reference[op][0]};
    sct_a_count wrong = {-1};
    ask.how = (sct_nearness){.type = settle_type(record->fields[f].type),
                             .bytes = info->bytes / info->lanes,
                             .computed = sct_shape_computes(&t->shape, op),
                             .tolerance = sct_shape_tolerance(&t->shape, op)};
    if (ask.how.type < 0) {
      continue; /* of integers every bit counts */
    }
    *settled = sct_shape_places(&t->shape, op, f, &ask.at);
    if (*settled && ask.how.tolerance > 0) {
      SCT_TRY(usual_of_field(m, op, f, &ask.how.usual, err));
    }
    SCT_TRY(*settled ? sct_ask_SETTLE(m, &ask, &wrong, err) : SCT_OK);
    *settled = wrong.n >= 0;
  }
  return SCT_OK;
}

/* Value by value on the host; only where bits differ and the spec allows that. */
static sct_status compare_values(sct_measure *m, int op, sct_verdict *out, sct_error *err) {
  sct_timed *t = &m->timed;
  const int64_t bytes = t->shape.op[op].bytes;
  uint8_t *got = sct_alloc((size_t)bytes + 1), *want = sct_alloc((size_t)bytes + 1);
  uint8_t *flags = NULL;
  sct_status status = SCT_OK;
  SCT_TRY_DONE(sct_remote_download(m, t->buffer[op], 0, got, bytes, err));
  SCT_TRY_DONE(sct_remote_download(m, t->reference[op][0], 0, want, bytes, err));
  SCT_TRY_DONE(sct_image_flags(&flags, &t->shape, op, err));
  sct_check_output(out, &t->shape, op, got, want, flags, POISON_FIRST,
                   sct_shape_tolerance(&t->shape, op), NULL, NULL);
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
  const int64_t bytes =
      place.field < 0 ? 1 : m->addressing.op[op].op->record.fields[place.field].bytes;
  SCT_TRY(sct_remote_download(m, t->buffer[op], place.offset, got, bytes, err));
  SCT_TRY(sct_remote_download(m, t->reference[op][0], place.offset, want, bytes, err));
  sct_describe_difference(out, &t->shape, op, byte, &place, got, want, POISON_FIRST);
  const size_t len = strlen(out->detail);
  snprintf(out->detail + len, sizeof out->detail - len, "; %lld bytes differ", (long long)n_differ);
  return SCT_OK;
}

/* Fills the verdict where one output differs from the naive variant's. */
static sct_status evaluate_output(sct_measure *m, int op, int64_t n_differ, int64_t first,
                                  sct_verdict *out, sct_error *err) {
  const sct_spec *spec = m->addressing.spec;
  if (n_differ == 0 || out->outcome != SCT_OUT_OK) {
    return SCT_OK;
  }
  sct_timed *t = &m->timed;
  const bool by_value = sct_shape_tolerance(&t->shape, op) > 0 || spec->n_moves == 0;
  bool settled = !by_value;
  if (by_value) {
    sct_difference found = {0};
    const sct_ask_compare both = {t->buffer[op], t->reference[op][0], t->reference[op][1]};
    SCT_TRY(settle(m, op, &settled, err));
    SCT_TRY(settled ? sct_ask_COMPARE(m, &both, &found, err) : SCT_OK);
    n_differ = settled ? found.n : n_differ;
    first = settled ? found.first : first;
  }
  if (settled && n_differ == 0) {
    return SCT_OK;
  }
  if (spec->operands[op].through_index || sct_spec_is_ragged(spec)) {
    sct_shape_index(&t->shape);
  }
  return settled ? describe(m, op, n_differ, first, out, err) : compare_values(m, op, out, err);
}

sct_status sct_timed_poison(sct_measure *m, sct_error *err) {
  return set_outputs(m, POISON_FIRST, err);
}

sct_status sct_timed_check_run(sct_measure *m, const sct_job *job, const sct_target *target,
                               bool all, double *ns, sct_verdict *out, sct_error *err) {
  const sct_timed *t = &m->timed;
  sct_trial trial = {.poison = POISON_FIRST,
                     .unlike = t->prefill,
                     .audit_all = all,
                     .reference = (const int64_t(*)[2])t->reference};
  SCT_TRY(sct_remote_trial(m, job, target, &trial, out, err));
  *ns = trial.ns;
  if (out->outcome != SCT_OUT_OK) {
    return SCT_OK;
  }
  sct_evaluate_audit(out, &t->shape, t->buffer, &trial.audit);
  for (int k = m->addressing.spec->n_inputs; k < m->addressing.spec->n_operands; k++) {
    SCT_TRY(evaluate_output(m, k, trial.n_differ[k], trial.first[k], out, err));
  }
  if (trial.audit.damage != SCT_DAMAGE_NONE) {
    sct_child_kill(&m->worker);
  }
  return SCT_OK;
}

/* What many launches updated in place is nothing that one launch could leave. */
static int first_compared(const sct_spec *spec) {
  int first = spec->n_inputs;
  for (int k = spec->n_inputs; k < spec->n_operands; k++) {
    first = sct_operand_is_read_too(&spec->operands[k]) ? spec->n_operands : first;
  }
  return first;
}

static sct_status compare_from(sct_measure *m, int first, sct_verdict *out, sct_error *err) {
  const sct_timed *t = &m->timed;
  for (int k = first; k < m->addressing.spec->n_operands; k++) {
    sct_difference found = {0};
    const sct_ask_compare both = {t->buffer[k], t->reference[k][0], t->reference[k][1]};
    SCT_TRY(sct_ask_COMPARE(m, &both, &found, err));
    SCT_TRY(evaluate_output(m, k, found.n, found.first, out, err));
  }
  return SCT_OK;
}

sct_status sct_timed_compare(sct_measure *m, sct_verdict *out, sct_error *err) {
  return compare_from(m, first_compared(m->addressing.spec), out, err);
}

sct_status sct_timed_compare_all(sct_measure *m, sct_verdict *out, sct_error *err) {
  return compare_from(m, m->addressing.spec->n_inputs, out, err);
}
