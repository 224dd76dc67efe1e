/* Images: the bytes of arrays before and after a kernel, walked element by element through the
 * layout's expressions. */
#include "measure_data.h"

#include <string.h>

#define GAP_BYTE 0xd5 /* between the elements of inputs: never a value anybody expects */

static uint8_t *new_image(int64_t bytes, uint8_t byte) {
  uint8_t *image = sct_realloc(NULL, (size_t)bytes + 1); /* filled here, not cleared before */
  if (image) {
    memset(image, byte, (size_t)bytes);
  }
  return image;
}

/* Offset of a field of the array's element idx. */
static int64_t element_offset(const sct_shape *s, int op, int field, const int64_t *idx) {
  const sct_plan_operand *p = &s->plan->op[op];
  int64_t inputs[SCT_MAX_DIMS + SCT_MAX_EXTENTS];
  memcpy(inputs, idx, sizeof *idx * (size_t)p->op->n_dims);
  memcpy(inputs + p->op->n_dims, s->extent, sizeof *idx * (size_t)s->plan->spec->n_extents);
  return sct_expr_program_run(p->element[field], inputs);
}

static bool inside(const sct_shape *s, int op, int field, int64_t offset) {
  const int64_t bytes = s->plan->op[op].op->record.fields[field].bytes;
  return offset >= 0 && offset <= s->op[op].bytes - bytes;
}

static sct_status outside(const sct_shape *s, int op, sct_error *err) {
  return sct_fail(err, SCT_EINTERNAL, "an element of '%s' lies outside its array",
                  s->plan->op[op].op->name);
}

/* ---- rows in parts: most offsets grow by the same from one element of a row to the next ---- */

#define PART 256

typedef struct part {
  const int64_t *extent;
  int n_dims;
  int64_t idx[SCT_MAX_DIMS]; /* of its first element */
  int64_t linear;            /* number of that in row-major order */
  int64_t left;              /* elements from there on */
  int n;                     /* of this part, all of one row; 0: there are no more */
} part;

static void set_length(part *p) {
  const int64_t row = p->n_dims > 0 ? p->extent[p->n_dims - 1] - p->idx[p->n_dims - 1] : 1;
  const int64_t n = row < p->left ? row : p->left;
  p->n = (int)(n < PART ? n : PART);
}

static part first_part(const int64_t *extent, int n_dims, int64_t count) {
  part p = {.extent = extent, .n_dims = n_dims, .left = count};
  set_length(&p);
  return p;
}

static void next_part(part *p) {
  p->linear += p->n;
  p->left -= p->n;
  if (p->n_dims > 0) {
    p->idx[p->n_dims - 1] += p->n - 1;
    (void)sct_next_index(p->idx, p->extent, p->n_dims);
  }
  set_length(p);
}

/* Offsets of one field, part after part. Where they are a sum of strides times indices (modulo
 * 2^64), the strides are found once. */
#define MOST_STRIDES 4
typedef struct walk {
  const sct_expr_program *program; /* NULL: not begun */
  bool even;                       /* along a part */
  bool linear;                     /* stride[] holds */
  uint64_t origin, stride[MOST_STRIDES];
} walk;

/* Where each dimension by itself adds the same at each step, what the program gives at the corners
 * of the unit cube tells all of it: a product of indices shows as a corner that is no sum. */
static void find_strides(walk *w, int n_dims, int64_t *inputs) {
  for (unsigned corner = 0; w->linear && corner < 1U << n_dims; corner++) {
    uint64_t sum = w->origin;
    for (int d = 0; d < n_dims; d++) {
      inputs[d] = corner >> d & 1;
      sum += inputs[d] != 0 ? w->stride[d] : 0;
    }
    const uint64_t found = (uint64_t)sct_expr_program_run(w->program, inputs);
    if (corner == 0) {
      w->origin = found;
    } else if ((corner & (corner - 1)) == 0) { /* one step, along one dimension */
      w->stride[__builtin_ctz(corner)] = found - w->origin;
    } else {
      w->linear = found == sum;
    }
  }
}

/* inputs[]: dimensions first; the others are the same for all parts. */
static void begin_walk(walk *w, const sct_expr_program *program, int n_dims, const int64_t *inputs,
                       int n_inputs) {
  int64_t at[SCT_PLAN_INPUTS];
  memcpy(at, inputs, sizeof *at * (size_t)n_inputs);
  *w = (walk){.program = program,
              .even = n_dims > 0 && sct_expr_program_is_affine(program, n_dims - 1),
              .linear = n_dims > 0 && n_dims <= MOST_STRIDES};
  for (int d = 0; d < n_dims && w->linear; d++) {
    w->linear = sct_expr_program_is_affine(program, d);
  }
  find_strides(w, n_dims, at);
}

/* out[k]: the offset of element k of the part; inputs[]: those of element 0, of which only the last
 * dimension's differs from element to element. Returns whether they grow by the same from one to
 * the next. */
static bool run_part(int64_t out[PART], const walk *w, const part *p, int64_t *inputs) {
  const int last = p->n_dims - 1;
  const bool even = p->n > 2 && w->even;
  const int n_run = w->linear ? 0 : even ? 2 : p->n;
  const int64_t index = last >= 0 ? inputs[last] : 0;
  uint64_t first = 0, step = 0;
  if (w->linear) {
    first = w->origin;
    step = w->stride[last];
    for (int d = 0; d <= last; d++) {
      first += (uint64_t)p->idx[d] * w->stride[d];
    }
  }
  for (int k = 0; k < n_run; k++) {
    if (k > 0) {
      inputs[last] = index + k;
    }
    out[k] = sct_expr_program_run(w->program, inputs);
  }
  if (n_run > 1) {
    inputs[last] = index;
    first = (uint64_t)out[0];
    step = (uint64_t)out[1] - first;
  }
  for (int k = n_run; k < p->n; k++) {
    out[k] = (int64_t)(first + (uint64_t)k * step);
  }
  return even;
}

/* Do the fields at these offsets lie inside? Of a row that grows evenly the ends say it for all,
 * as no step between two places of an array overflows. */
static bool all_inside(const sct_shape *s, int op, int field, const int64_t *offsets, int n,
                       bool even) {
  bool good = true;
  for (int k = 0; k < n; k += even && k == 0 && n > 1 ? n - 1 : 1) {
    good = good && inside(s, op, field, offsets[k]);
  }
  int64_t way = 0;
  return good && (!even || (!__builtin_sub_overflow(offsets[1], offsets[0], &way) &&
                            !__builtin_mul_overflow(way, (int64_t)(n - 1), &way)));
}

/* Do the fields of a part follow each other without a gap? */
static bool is_run(const int64_t *offsets, int n, int64_t bytes) {
  bool run = n < 2 || offsets[n - 1] == offsets[0] + (n - 1) * bytes;
  for (int k = 1; k < n && run; k++) {
    run = offsets[k] == offsets[k - 1] + bytes;
  }
  return run;
}

/* Offsets of a field of the array's own elements; false: one lies outside. */
static bool own_offsets(int64_t out[PART], walk *w, const sct_shape *s, int op, int field,
                        const part *p) {
  const sct_plan_operand *o = &s->plan->op[op];
  int64_t inputs[SCT_MAX_DIMS + SCT_MAX_EXTENTS];
  memcpy(inputs, p->idx, sizeof *inputs * (size_t)p->n_dims);
  memcpy(inputs + p->n_dims, s->extent, sizeof *inputs * (size_t)s->plan->spec->n_extents);
  if (!w->program) {
    begin_walk(w, o->element[field], p->n_dims, inputs, p->n_dims + s->plan->spec->n_extents);
  }
  const bool even = run_part(out, w, p, inputs);
  return all_inside(s, op, field, out, p->n, even);
}

/* The same for what elements of the index space touch. */
static bool space_offsets(int64_t out[PART], walk *w, const sct_shape *s, int op, int field,
                          const part *p) {
  const sct_expr_program *program = s->plan->op[op].offset[field];
  int64_t inputs[SCT_PLAN_INPUTS] = {0}, idx[SCT_MAX_DIMS];
  bool even = false;
  memcpy(idx, p->idx, sizeof idx);
  sct_shape_inputs(s, idx, inputs);
  if (s->plan->n_index == 0) {
    if (!w->program) {
      begin_walk(w, program, p->n_dims, inputs, SCT_PLAN_INPUTS);
    }
    even = run_part(out, w, p, inputs);
  }
  for (int k = 0; k < p->n && s->plan->n_index > 0; k++) { /* what index arrays hold differs too */
    idx[p->n_dims - 1] = p->idx[p->n_dims - 1] + k;
    sct_shape_inputs(s, idx, inputs);
    out[k] = sct_expr_program_run(program, inputs);
  }
  return all_inside(s, op, field, out, p->n, even);
}

static void mark(uint8_t *flags, const int64_t *offsets, int n, int byte, int64_t bytes) {
  uint8_t marks[16];
  if (n > 0 && is_run(offsets, n, bytes)) {
    memset(flags + offsets[0], byte, (size_t)(n * bytes));
    return;
  }
  memset(marks, byte, sizeof marks);
  for (int k = 0; k < n; k++) {
    sct_copy_few(flags + offsets[k], marks, bytes);
  }
}

/* ---- images ---- */

static void put_input(uint8_t *image, const sct_shape *s, int op, int field, const part *p,
                      const int64_t *offsets) {
  const sct_operand *operand = s->plan->op[op].op;
  const sct_field *f = &operand->record.fields[field];
  if (!operand->is_index) {
    sct_data_values(image, offsets, p->n, f->type, sct_data_key(s->plan->seed, op, field),
                    p->linear);
    return;
  }
  for (int k = 0; k < p->n; k++) {
    memcpy(image + offsets[k], &s->op[op].values[p->linear + k], (size_t)f->bytes);
  }
}

sct_status sct_image_input(uint8_t **out, const sct_shape *s, int op, sct_error *err) {
  const sct_operand *operand = s->plan->op[op].op;
  uint8_t *image = new_image(s->op[op].bytes, GAP_BYTE);
  int64_t offsets[PART];
  walk walks[SCT_MAX_FIELDS] = {{0}};
  if (!image) {
    return sct_fail(err, SCT_ENOMEM, "out of memory");
  }
  part p = first_part(s->op[op].extent, operand->n_dims, s->op[op].count);
  for (; p.n > 0; next_part(&p)) {
    for (int f = 0; f < operand->record.n_fields; f++) {
      if (!own_offsets(offsets, &walks[f], s, op, f, &p)) {
        sct_free(image);
        return outside(s, op, err);
      }
      put_input(image, s, op, f, &p, offsets);
    }
  }
  *out = image;
  return SCT_OK;
}

static sct_status mark_owned(uint8_t *flags, const sct_shape *s, int op, sct_error *err) {
  const sct_operand *operand = s->plan->op[op].op;
  int64_t offsets[PART];
  walk walks[SCT_MAX_FIELDS] = {{0}};
  part p = first_part(s->op[op].extent, operand->n_dims, s->op[op].count);
  for (; p.n > 0; next_part(&p)) {
    for (int f = 0; f < operand->record.n_fields; f++) {
      if (!own_offsets(offsets, &walks[f], s, op, f, &p)) {
        return outside(s, op, err);
      }
      mark(flags, offsets, p.n, SCT_BYTE_OWNED, operand->record.fields[f].bytes);
    }
  }
  return SCT_OK;
}

/* The move that assigns this field; NULL without moves. */
static const sct_move *move_of(const sct_spec *spec, int op, int field) {
  for (int k = 0; k < spec->n_moves; k++) {
    if (spec->moves[k].out == op && spec->moves[k].out_field == field) {
      return &spec->moves[k];
    }
  }
  return NULL;
}

/* Every element of the array is written whole: its place in the index space is its own. */
static bool writes_all(const sct_shape *s, int op) {
  const sct_spec *spec = s->plan->spec;
  const sct_operand *o = s->plan->op[op].op;
  bool all = o->n_dims == spec->n_dims && s->op[op].count == s->n_written;
  for (int d = 0; d < spec->n_dims && all; d++) {
    all = o->at[d] == spec->dim_var[d] && s->op[op].extent[d] == s->write_extent[d];
  }
  for (int f = 0; f < o->record.n_fields && all; f++) {
    all = spec->n_moves == 0 || move_of(spec, op, f) != NULL;
  }
  return all;
}

#define ALL_MARKS (SCT_BYTE_OWNED | SCT_BYTE_WRITTEN)

/* The flags of every byte where all are the same; 0: to be found out. Elements do not overlap, so
 * arrays that are as large as their fields have no gaps. */
static int common_flags(const sct_shape *s, int op) {
  const sct_record *record = &s->plan->op[op].op->record;
  int64_t bytes = 0;
  for (int f = 0; f < record->n_fields; f++) {
    bytes += record->fields[f].bytes;
  }
  return writes_all(s, op) && s->op[op].bytes == bytes * s->op[op].count ? ALL_MARKS : 0;
}

/* What a reducing kernel writes at offsets[]. */
static sct_status put_reduced(uint8_t *image, const sct_shape *s, const sct_move *move,
                              const uint8_t *input, const part *p, const int64_t *offsets,
                              sct_error *err) {
  int64_t idx[SCT_MAX_DIMS];
  memcpy(idx, p->idx, sizeof idx);
  for (int k = 0; k < p->n; k++) {
    idx[p->n_dims - 1] = p->idx[p->n_dims - 1] + k;
    SCT_TRY(sct_image_reduced(image + offsets[k], s, move, input, idx, err));
  }
  return SCT_OK;
}

/* Places the values of one field at offsets[]. */
static sct_status put_output(uint8_t *image, const sct_shape *s, int op, int field,
                             uint8_t *const *inputs, walk *read, const part *p,
                             const int64_t *offsets, sct_error *err) {
  const sct_plan *plan = s->plan;
  const sct_field *f = &plan->op[op].op->record.fields[field];
  const sct_move *move = move_of(plan->spec, op, field);
  int64_t from[PART];
  if (!move) {
    sct_data_values(image, offsets, p->n, f->type, sct_data_key(plan->seed, op, field), p->linear);
    return SCT_OK;
  }
  if (plan->spec->reduces) {
    return put_reduced(image, s, move, inputs[move->in], p, offsets, err);
  }
  if (!space_offsets(from, read, s, move->in, move->in_field, p)) {
    return outside(s, move->in, err);
  }
  if (is_run(offsets, p->n, f->bytes) && is_run(from, p->n, f->bytes)) {
    memcpy(image + offsets[0], inputs[move->in] + from[0], (size_t)(p->n * f->bytes));
    return SCT_OK;
  }
  for (int k = 0; k < p->n; k++) {
    sct_copy_few(image + offsets[k], inputs[move->in] + from[k], f->bytes);
  }
  return SCT_OK;
}

/* Marks what the kernel writes, unless flags are NULL; with an image, places its values. */
static sct_status write_elements(uint8_t *image, uint8_t *flags, const sct_shape *s, int op,
                                 uint8_t *const *inputs, sct_error *err) {
  const sct_spec *spec = s->plan->spec;
  const sct_record *record = &s->plan->op[op].op->record;
  int64_t offsets[PART];
  walk written[SCT_MAX_FIELDS] = {{0}}, read[SCT_MAX_FIELDS] = {{0}};
  if (flags && !writes_all(s, op)) { /* else all that it owns is marked as written below */
    SCT_TRY(mark_owned(flags, s, op, err));
  }
  part p = first_part(s->write_extent, spec->n_dims, s->n_written);
  for (; p.n > 0; next_part(&p)) {
    for (int f = 0; f < record->n_fields; f++) {
      if (spec->n_moves > 0 && !move_of(spec, op, f)) {
        continue; /* no move assigns it */
      }
      if (!space_offsets(offsets, &written[f], s, op, f, &p)) {
        return outside(s, op, err);
      }
      if (flags) {
        mark(flags, offsets, p.n, ALL_MARKS, record->fields[f].bytes);
      }
      if (image) {
        SCT_TRY(put_output(image, s, op, f, inputs, &read[f], &p, offsets, err));
      }
    }
  }
  return SCT_OK;
}

sct_status sct_image_flags(uint8_t **flags, const sct_shape *s, int op, sct_error *err) {
  const int common = common_flags(s, op);
  uint8_t *marks = new_image(s->op[op].bytes, (uint8_t)common);
  if (!marks) {
    return sct_fail(err, SCT_ENOMEM, "out of memory");
  }
  const sct_status status = common ? SCT_OK : write_elements(NULL, marks, s, op, NULL, err);
  if (status == SCT_OK) {
    *flags = marks;
  } else {
    sct_free(marks);
  }
  return status;
}

sct_status sct_image_output(uint8_t **out, uint8_t **flags, const sct_shape *s, int op,
                            uint8_t *const *inputs, uint8_t poison, sct_error *err) {
  const int common = common_flags(s, op);
  uint8_t *image = new_image(s->op[op].bytes, poison);
  uint8_t *marks = new_image(s->op[op].bytes, (uint8_t)common);
  const sct_status status = image && marks
                                ? write_elements(image, common ? NULL : marks, s, op, inputs, err)
                                : sct_fail(err, SCT_ENOMEM, "out of memory");
  if (status == SCT_OK) {
    *out = image;
    *flags = marks;
  } else {
    sct_free(image);
    sct_free(marks);
  }
  return status;
}

/* ---- finding a byte ---- */

static bool holds(const sct_field *field, int64_t offset, int64_t byte) {
  return byte >= offset && byte < offset + field->bytes;
}

static bool find_in_space(const sct_shape *s, int op, int64_t byte, sct_place *out) {
  const sct_plan_operand *p = &s->plan->op[op];
  int64_t idx[SCT_MAX_DIMS] = {0}, values[SCT_PLAN_INPUTS] = {0};
  for (int64_t linear = 0; linear < s->n_written; linear++) {
    sct_shape_inputs(s, idx, values);
    for (int f = 0; f < p->op->record.n_fields; f++) {
      const int64_t offset = sct_expr_program_run(p->offset[f], values);
      if (holds(&p->op->record.fields[f], offset, byte)) {
        *out = (sct_place){.field = f, .in_space = true, .offset = offset};
        memcpy(out->idx, idx, sizeof idx);
        return true;
      }
    }
    (void)sct_next_index(idx, s->write_extent, s->plan->spec->n_dims);
  }
  return false;
}

void sct_find_byte(const sct_shape *s, int op, int64_t byte, sct_place *out) {
  const sct_operand *operand = s->plan->op[op].op;
  int64_t idx[SCT_MAX_DIMS] = {0};
  if (find_in_space(s, op, byte, out)) {
    return;
  }
  for (int64_t linear = 0; linear < s->op[op].count; linear++) {
    for (int f = 0; f < operand->record.n_fields; f++) {
      const int64_t offset = element_offset(s, op, f, idx);
      if (holds(&operand->record.fields[f], offset, byte)) {
        *out = (sct_place){.field = f, .offset = offset};
        memcpy(out->idx, idx, sizeof idx);
        return;
      }
    }
    (void)sct_next_index(idx, s->op[op].extent, operand->n_dims);
  }
  *out = (sct_place){.field = -1, .offset = byte};
}

/* ---- differences ---- */

/* All that is wrong is that some bytes still hold the poison. */
static bool is_unwritten(const uint8_t *got, const uint8_t *want, int64_t n, uint8_t poison) {
  for (int64_t k = 0; k < n; k++) {
    if (got[k] != want[k] && got[k] != poison) {
      return false;
    }
  }
  return true;
}

/* "b.y of element row=3 col=31", or "b.y of its own element [5], which no element writes". */
static void print_place(sct_str *out, const sct_shape *s, int op, const sct_place *place) {
  const sct_spec *spec = s->plan->spec;
  const sct_operand *operand = s->plan->op[op].op;
  const char *field = operand->record.fields[place->field].name;
  sct_str_printf(out, "%s%s%s of", operand->name, field[0] != '\0' ? "." : "", field);
  if (place->in_space) {
    sct_str_append(out, " element");
    for (int d = 0; d < spec->n_dims; d++) {
      if (!spec->reduced[d]) {
        sct_str_printf(out, " %s=%lld", spec->dims[d], (long long)place->idx[d]);
      }
    }
    return;
  }
  sct_str_append(out, " its own element ");
  for (int d = 0; d < operand->n_dims; d++) {
    sct_str_printf(out, "[%lld]", (long long)place->idx[d]);
  }
  sct_str_append(out, ", which the kernel must leave alone");
}

void sct_describe_difference(sct_verdict *out, const sct_shape *s, int op, int64_t byte,
                             const sct_place *place, const uint8_t *got, const uint8_t *want,
                             uint8_t poison) {
  const sct_operand *operand = s->plan->op[op].op;
  sct_str text = {0}, size = {0};
  sct_shape_label(&size, s);
  out->outcome = SCT_OUT_OUT_OF_BOUNDS;
  if (place->field < 0) {
    sct_str_printf(&text, "byte %lld of %s, between its elements (%s): 0x%02x instead of 0x%02x",
                   (long long)byte, operand->name, sct_str_c(&size), got[0], want[0]);
  } else {
    const sct_field *field = &operand->record.fields[place->field];
    const sct_type_info *info = sct_type_get(field->type);
    const int lane = (int)((byte - place->offset) / (info->bytes / info->lanes));
    print_place(&text, s, op, place);
    sct_str_printf(&text, " (%s): ", sct_str_c(&size));
    if (is_unwritten(got, want, field->bytes, poison)) {
      out->outcome = SCT_OUT_NOT_WRITTEN;
      sct_str_append(&text, "not written, expected ");
      sct_data_print(&text, field->type, lane, want);
    } else {
      out->outcome = place->in_space ? SCT_OUT_WRONG_RESULT : SCT_OUT_OUT_OF_BOUNDS;
      sct_data_print(&text, field->type, lane, got);
      sct_str_append(&text, " instead of ");
      sct_data_print(&text, field->type, lane, want);
    }
  }
  snprintf(out->detail, sizeof out->detail, "%s", sct_str_c(&text));
  sct_str_free(&text);
  sct_str_free(&size);
}
