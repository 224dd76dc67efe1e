/* Images: the bytes of arrays before and after a kernel, walked element by element through the
 * layout's expressions. */
#include "measure_data.h"

#include <string.h>

#define GAP_BYTE 0xd5 /* between the elements of inputs: never a value anybody expects */

static uint8_t *new_image(int64_t bytes, uint8_t byte) {
  uint8_t *image = sct_realloc(NULL, (size_t)bytes + 1); /* filled here, not cleared before */
  return memset(image, byte, (size_t)bytes);
}

static sct_status outside(const sct_shape *s, int op, sct_error *err) {
  return sct_fail(err, SCT_EINTERNAL, "an element of '%s' lies outside its array",
                  s->plan->op[op].op->name);
}

/* ---- elements in parts, whose offsets are found together ---- */

#define PART       256
#define MOST_BYTES 16 /* of a field */

typedef struct part {
  const int64_t *extent;
  int n_dims;
  int64_t idx[SCT_MAX_DIMS]; /* of its first element */
  int64_t linear;            /* number of that in row-major order */
  int64_t left;              /* elements from there on */
  int n;                     /* of this part, in that order; 0: there are no more */
} part;

static part first_part(const int64_t *extent, int n_dims, int64_t count) {
  return (part){
      .extent = extent, .n_dims = n_dims, .left = count, .n = (int)(count < PART ? count : PART)};
}

/* The index n elements later. */
static void advance(int64_t *idx, const int64_t *extent, int n_dims, int64_t n) {
  for (int d = n_dims - 1; d >= 0 && n > 0; d--) {
    n += idx[d];
    idx[d] = n % extent[d];
    n /= extent[d];
  }
}

static void next_part(part *p) {
  p->linear += p->n;
  p->left -= p->n;
  advance(p->idx, p->extent, p->n_dims, p->n);
  p->n = (int)(p->left < PART ? p->left : PART);
}

/* Offsets of one field, part after part. */
typedef struct walk {
  const sct_expr_program *program; /* NULL: not begun */
  bool even;                       /* along a row the same is added at each step */
} walk;

/* Offsets of n elements of one row; inputs[]: those of the first, of which only the last
 * dimension's differs from element to element. */
static void row_offsets(int64_t *out, const walk *w, int n_dims, int n, int64_t *inputs) {
  const int last = n_dims - 1;
  const int n_run = w->even && n > 2 ? 2 : n;
  const int64_t index = last >= 0 ? inputs[last] : 0;
  for (int k = 0; k < n_run; k++) {
    if (k > 0) {
      inputs[last] = index + k;
    }
    out[k] = sct_expr_program_run(w->program, inputs);
  }
  for (int k = n_run; k < n; k++) {
    out[k] = (int64_t)((uint64_t)out[0] + (uint64_t)k * ((uint64_t)out[1] - (uint64_t)out[0]));
  }
}

static bool all_inside(const sct_shape *s, int op, int field, const int64_t *offsets, int n) {
  const int64_t most = s->op[op].bytes - s->plan->op[op].op->record.fields[field].bytes;
  bool inside = true;
  for (int k = 0; k < n; k++) {
    inside = inside && offsets[k] >= 0 && offsets[k] <= most;
  }
  return inside;
}

/* Whose elements: the array's own, or those that elements of the index space touch. */
typedef enum whose { OWN, TOUCHED } whose;

static void get_inputs(int64_t inputs[SCT_PLAN_INPUTS], const sct_shape *s, whose of, int n_dims,
                       const int64_t *idx) {
  if (of == TOUCHED) {
    sct_shape_inputs(s, idx, inputs);
    return;
  }
  memcpy(inputs, idx, sizeof *idx * (size_t)n_dims);
  memcpy(inputs + n_dims, s->extent, sizeof *idx * (size_t)s->plan->spec->n_extents);
}

/* Offsets of a field of the part's elements; false: one lies outside of the array. */
static bool find_offsets(int64_t out[PART], walk *w, const sct_shape *s, int op, int field,
                         whose of, const part *p) {
  const sct_plan_operand *o = &s->plan->op[op];
  const bool indexed = of == TOUCHED && s->plan->n_index > 0;
  int64_t inputs[SCT_PLAN_INPUTS] = {0};
  part row = *p; /* what is left of the part, row by row */
  if (!w->program) {
    w->program = of == OWN ? o->element[field] : o->offset[field];
    w->even = p->n_dims > 0 && !indexed && sct_expr_program_is_affine(w->program, p->n_dims - 1);
  }
  for (int k = 0; k < p->n; k += row.n) {
    const int last = p->n_dims - 1;
    const int64_t n = last < 0 || indexed ? 1 : p->extent[last] - row.idx[last];
    row.n = n < p->n - k ? (int)n : p->n - k;
    get_inputs(inputs, s, of, p->n_dims, row.idx);
    row_offsets(out + k, w, p->n_dims, row.n, inputs);
    advance(row.idx, p->extent, p->n_dims, row.n);
  }
  return all_inside(s, op, field, out, p->n);
}

/* ---- do elements overlap? ---- */

/* What is only read may be read twice; what an index array holds is known by its number. */
static bool must_be_apart(const sct_operand *op) {
  return op->is_output || op->is_index;
}

/* By looking at each byte of each element. */
static bool layout_holds(const sct_shape *s, int op) {
  const sct_operand *operand = s->plan->op[op].op;
  uint8_t *seen = sct_alloc((size_t)s->op[op].bytes + 1);
  int64_t offsets[PART];
  walk walks[SCT_MAX_FIELDS] = {{0}};
  bool hold = true;
  part p = first_part(s->op[op].extent, operand->n_dims, s->op[op].count);
  for (; p.n > 0 && hold; next_part(&p)) {
    for (int f = 0; f < operand->record.n_fields && hold; f++) {
      hold = find_offsets(offsets, &walks[f], s, op, f, OWN, &p);
      for (int k = 0; k < p.n && hold && must_be_apart(operand); k++) {
        for (int64_t byte = 0; byte < operand->record.fields[f].bytes; byte++) {
          hold = hold && seen[offsets[k] + byte] == 0;
          seen[offsets[k] + byte] = 1;
        }
      }
    }
  }
  sct_free(seen);
  return hold;
}

bool sct_shape_layouts_hold(const sct_shape *s, bool with_own_extents) {
  bool hold = true;
  for (int k = 0; k < s->plan->spec->n_operands && hold; k++) {
    hold = s->plan->op[k].has_own_extents != with_own_extents || layout_holds(s, k);
  }
  return hold;
}

static void mark(uint8_t *flags, const int64_t *offsets, int n, int byte, int64_t bytes) {
  uint8_t marks[PART * MOST_BYTES];
  memset(marks, byte, (size_t)(n * bytes));
  sct_fields_scatter(flags, offsets, marks, n, bytes);
}

/* ---- images ---- */

/* The special values among those of an array's element: any of them, but where results are compared
 * within a tolerance only finite ones, which no order of operations makes infinite or NaN. What is
 * reduced is special row by row, as one value can decide about a row: the first is ordinary. */
static sct_mix mix_of(const sct_shape *s, int op, const int64_t *idx) {
  const sct_spec *spec = s->plan->spec;
  const sct_operand *operand = s->plan->op[op].op;
  if (!spec->reduces && spec->n_steps == 0) {
    return s->near ? SCT_MIX_FINITE : SCT_MIX_ANY;
  }
  uint64_t row = 0;
  int n_kept = 0;
  bool first = true;
  for (int d = 0; d < operand->n_dims; d++) {
    for (int dim = 0; dim < spec->n_dims; dim++) {
      if (!spec->reduced[dim] && strcmp(operand->dims[d], spec->dims[dim]) == 0) {
        row = sct_mix64(row, (uint64_t)idx[d]);
        first = first && idx[d] == 0;
        n_kept++;
      }
    }
  }
  /* the only row of a size is ordinary; what all rows share is so at every other size */
  if (n_kept > 0 ? first : s->n_elements % 2 == 0) {
    return SCT_MIX_NONE;
  }
  const sct_mix most = s->near ? SCT_MIX_FINITE : SCT_MIX_ANY;
  return n_kept > 0 ? (sct_mix)(row % (most + 1)) : most;
}

/* Values of the elements of a part, together as long as they are mixed alike. */
static void put_values(uint8_t *image, const sct_shape *s, int op, int field, const part *p,
                       const int64_t *offsets) {
  const sct_spec *spec = s->plan->spec;
  int64_t idx[SCT_MAX_DIMS];
  memcpy(idx, p->idx, sizeof idx);
  sct_stream stream = {.key = sct_data_key(s->plan->seed, op, field),
                       .mix = mix_of(s, op, idx),
                       .divides = strpbrk(spec->body, "/%") != NULL};
  const sct_type type = s->plan->op[op].op->record.fields[field].type;
  int from = 0;
  for (int k = 1; k < p->n && (spec->reduces || spec->n_steps > 0); k++) {
    (void)sct_next_index(idx, p->extent, p->n_dims);
    const sct_mix mix = mix_of(s, op, idx);
    if (mix != stream.mix) {
      sct_data_values(image, offsets + from, k - from, type, &stream, p->linear + from);
      stream.mix = mix;
      from = k;
    }
  }
  sct_data_values(image, offsets + from, p->n - from, type, &stream, p->linear + from);
}

static void put_input(uint8_t *image, const sct_shape *s, int op, int field, const part *p,
                      const int64_t *offsets) {
  const sct_operand *operand = s->plan->op[op].op;
  const sct_field *f = &operand->record.fields[field];
  if (!operand->is_index) {
    put_values(image, s, op, field, p, offsets);
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
  part p = first_part(s->op[op].extent, operand->n_dims, s->op[op].count);
  for (; p.n > 0; next_part(&p)) {
    for (int f = 0; f < operand->record.n_fields; f++) {
      if (!find_offsets(offsets, &walks[f], s, op, f, OWN, &p)) {
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
      if (!find_offsets(offsets, &walks[f], s, op, f, OWN, &p)) {
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
  bool all = o->n_dims == spec->n_dims && s->op[op].count == s->op[op].n_written;
  for (int d = 0; d < spec->n_dims && all; d++) {
    all = o->at[d] == spec->dim_var[d] && s->op[op].extent[d] == s->op[op].write_extent[d];
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
    SCT_TRY(sct_image_reduced(image + offsets[k], s, move, input, idx, err));
    (void)sct_next_index(idx, p->extent, p->n_dims);
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
  uint8_t fields[PART * MOST_BYTES];
  if (!move) {
    const sct_stream stream = {.key = sct_data_key(plan->seed, op, field)};
    sct_data_values(image, offsets, p->n, f->type, &stream, p->linear);
    return SCT_OK;
  }
  if (plan->spec->reduces) {
    return put_reduced(image, s, move, inputs[move->in], p, offsets, err);
  }
  if (!find_offsets(from, read, s, move->in, move->in_field, TOUCHED, p)) {
    return outside(s, move->in, err);
  }
  sct_fields_gather(fields, inputs[move->in], from, p->n, f->bytes);
  sct_fields_scatter(image, offsets, fields, p->n, f->bytes);
  return SCT_OK;
}

/* Marks what the kernel writes in flags, or places its values in an image; the other is NULL. */
static sct_status write_elements(uint8_t *image, uint8_t *flags, const sct_shape *s, int op,
                                 uint8_t *const *inputs, sct_error *err) {
  const sct_spec *spec = s->plan->spec;
  const sct_record *record = &s->plan->op[op].op->record;
  int64_t offsets[PART];
  walk written[SCT_MAX_FIELDS] = {{0}}, read[SCT_MAX_FIELDS] = {{0}};
  if (flags && !writes_all(s, op)) { /* else all that it owns is marked as written below */
    SCT_TRY(mark_owned(flags, s, op, err));
  }
  part p = first_part(s->op[op].write_extent, spec->n_dims, s->op[op].n_written);
  for (; p.n > 0; next_part(&p)) {
    for (int f = 0; f < record->n_fields; f++) {
      if (spec->n_moves > 0 && !move_of(spec, op, f)) {
        continue; /* no move assigns it */
      }
      if (!find_offsets(offsets, &written[f], s, op, f, TOUCHED, &p)) {
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
  const sct_status status = common ? SCT_OK : write_elements(NULL, marks, s, op, NULL, err);
  if (status == SCT_OK) {
    *flags = marks;
  } else {
    sct_free(marks);
  }
  return status;
}

sct_status sct_image_output(uint8_t **out, const sct_shape *s, int op, uint8_t *const *inputs,
                            uint8_t poison, sct_error *err) {
  uint8_t *image = new_image(s->op[op].bytes, poison);
  const sct_status status = write_elements(image, NULL, s, op, inputs, err);
  if (status == SCT_OK) {
    *out = image;
  } else {
    sct_free(image);
  }
  return status;
}
