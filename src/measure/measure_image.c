/* Images: the bytes of arrays before and after a kernel, walked element by element through the
 * layout's expressions. */
#include "measure_data.h"

#include <string.h>

#define GAP_BYTE 0xd5 /* between the elements of inputs: never a value anybody expects */

#define PAGE         ((int64_t)4096) /* what the system gives of a sparse image at a time */
#define SPARSE_BYTES ((int64_t)1 << 18)
#define SPARSE_TIMES 8 /* as large as its elements, and its image is sparse */
#define PAGES_APART  1 /* pages between elements that are not worth another span */

/* Every byte of its spans the same. */
static uint8_t *new_image(const sct_shape *s, int op, uint8_t byte) {
  if (!sct_shape_is_sparse(s, op)) {
    uint8_t *all = sct_realloc(NULL, (size_t)s->op[op].bytes + 1); /* not cleared before */
    return memset(all, byte, (size_t)s->op[op].bytes);
  }
  uint8_t *image = sct_image_new(s, op);
  for (int k = 0; k < s->op[op].n_spans; k++) {
    const sct_span span = s->op[op].spans[k];
    memset(image + span.from, byte, (size_t)(span.to - span.from));
  }
  return image;
}

uint8_t *sct_image_new(const sct_shape *s, int op) {
  const size_t bytes = (size_t)s->op[op].bytes + 1;
  return sct_shape_is_sparse(s, op) ? sct_alloc_sparse(bytes) : sct_alloc(bytes);
}

void sct_image_free(uint8_t *image, const sct_shape *s, int op) {
  if (s->addressing && sct_shape_is_sparse(s, op)) {
    sct_unmap(image, (size_t)s->op[op].bytes + 1);
  } else {
    sct_free(image);
  }
}

uint8_t sct_image_background(const sct_shape *s, int op, uint8_t poison) {
  const sct_operand *operand = s->addressing->op[op].op;
  const int start = sct_operand_start_byte(operand);
  const bool holds = !operand->is_output || sct_operand_is_prefilled(operand);
  return !holds ? poison : start >= 0 ? (uint8_t)start : GAP_BYTE;
}

int64_t sct_shape_image_bytes(const sct_shape *s, int op) {
  const int64_t bytes = s->op[op].bytes, count = s->op[op].count;
  const int64_t all = count > bytes / PAGE ? bytes : count * PAGE;
  return bytes < SPARSE_BYTES ? bytes : all;
}

static sct_status outside(const sct_shape *s, int op, sct_error *err) {
  return sct_fail(err, SCT_EINTERNAL, "an element of '%s' lies outside its array",
                  s->addressing->op[op].op->name);
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

/* Offsets of one field, part after part. Where they are a sum of strides times indices (modulo
 * 2^64), the strides are found once. */
#define MOST_STRIDES 6
_Static_assert(MOST_STRIDES < SCT_PLACE_DIMS, "with lanes");
typedef struct walk {
  const sct_expr_program *program; /* NULL: not begun */
  bool even;                       /* along a row */
  bool linear;                     /* stride[] holds */
  bool inside;                     /* so none of them need be looked at */
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

/* Do all `bytes` at the offsets of these elements lie in an array of so many? Where this cannot be
 * said of strides, false. */
static bool strides_inside(const walk *w, const part *p, int64_t bytes, int64_t array_bytes) {
  int64_t low = (int64_t)w->origin, high = low;
  bool lost = !w->linear;
  for (int d = 0; d < p->n_dims && !lost; d++) {
    int64_t span = 0;
    lost = __builtin_mul_overflow((int64_t)w->stride[d], p->extent[d] - 1, &span);
    int64_t *end = span < 0 ? &low : &high;
    lost = lost || __builtin_add_overflow(*end, span, end);
  }
  return !lost && low >= 0 && high <= array_bytes - bytes;
}

/* inputs[]: dimensions first, which are changed; the others are the same for all parts, unless the
 * offsets depend on what index arrays hold. */
static void begin_walk(walk *w, const sct_expr_program *program, int n_dims, bool indexed,
                       int64_t *inputs) {
  *w = (walk){.program = program,
              .even = n_dims > 0 && !indexed && sct_expr_program_is_affine(program, n_dims - 1),
              .linear = n_dims > 0 && !indexed && n_dims <= MOST_STRIDES};
  for (int d = 0; d < n_dims && w->linear; d++) {
    w->linear = sct_expr_program_is_affine(program, d);
  }
  find_strides(w, n_dims, inputs);
}

/* out[k]: the offset of element k of the part, by strides. */
static void linear_offsets(int64_t *out, const walk *w, const part *p) {
  const int last = p->n_dims - 1;
  const uint64_t step = w->stride[last];
  uint64_t at = w->origin;
  int64_t idx[MOST_STRIDES];
  for (int d = 0; d <= last; d++) {
    idx[d] = p->idx[d];
    at += (uint64_t)idx[d] * w->stride[d];
  }
  for (int k = 0; k < p->n;) {
    const int64_t row = p->extent[last] - idx[last];
    const int n = row < p->n - k ? (int)row : p->n - k;
    for (int j = 0; j < n; j++) {
      out[k + j] = (int64_t)(at + (uint64_t)j * step);
    }
    k += n;
    at += (uint64_t)n * step;
    idx[last] += n;
    for (int d = last; d > 0 && idx[d] == p->extent[d]; d--) {
      at += w->stride[d - 1] - (uint64_t)p->extent[d] * w->stride[d];
      idx[d] = 0;
      idx[d - 1]++;
    }
  }
}

/* out[k]: the offset of element k of n in one row, by the program. inputs[]: those of the first
 * element; only the last dimension's differs from element to element. */
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
  const int64_t bytes = s->addressing->op[op].op->record.fields[field].bytes;
  const uint64_t most = (uint64_t)(s->op[op].bytes - bytes);
  uint64_t outside = s->op[op].bytes < bytes && n > 0; /* in the sign: by one of them */
  outside <<= 63;
  for (int k = 0; k < n; k++) {
    outside |= (uint64_t)offsets[k] | (most - (uint64_t)offsets[k]);
  }
  return outside >> 63 == 0;
}

/* Whose elements: the array's own, or those that elements of the index space touch. */
typedef enum whose { OWN, TOUCHED } whose;

static void get_inputs(int64_t inputs[SCT_ADDRESSING_INPUTS], const sct_shape *s, whose of,
                       int n_dims, const int64_t *idx) {
  const sct_spec *spec = s->addressing->spec;
  if (of == TOUCHED) {
    int64_t at[SCT_MAX_DIMS];
    memcpy(at, idx, sizeof *idx * (size_t)spec->n_dims);
    if (sct_spec_is_ragged(spec) && !spec->reduces && spec->n_steps == 0) {
      sct_shape_put_row(s, at); /* what is reduced has an element a row, others one an element */
    }
    sct_shape_inputs(s, at, inputs);
    return;
  }
  memcpy(inputs, idx, sizeof *idx * (size_t)n_dims);
  memcpy(inputs + n_dims, s->extent, sizeof *idx * (size_t)s->addressing->spec->n_extents);
}

/* Offsets of a field of the part's elements; false: one lies outside of the array. */
static bool find_offsets(int64_t out[PART], walk *w, const sct_shape *s, int op, int field,
                         whose of, const part *p) {
  const sct_addressing_operand *o = &s->addressing->op[op];
  const bool indexed = of == TOUCHED && s->addressing->spec->n_index > 0;
  int64_t inputs[SCT_ADDRESSING_INPUTS] = {0};
  part row = *p; /* what is left of the part, row by row */
  if (!w->program) {
    get_inputs(inputs, s, of, p->n_dims, p->idx);
    begin_walk(w, of == OWN ? o->element[field] : o->offset[field], p->n_dims, indexed, inputs);
    w->inside = strides_inside(w, p, o->op->record.fields[field].bytes, s->op[op].bytes);
  }
  if (w->linear) {
    linear_offsets(out, w, p);
    return w->inside || all_inside(s, op, field, out, p->n);
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

bool sct_shape_places(const sct_shape *s, int op, int field, sct_places *out) {
  const sct_operand *operand = s->addressing->op[op].op;
  const sct_type_info *info = sct_type_get(operand->record.fields[field].type);
  const int64_t lane_bytes = info->bytes / info->lanes, first[SCT_MAX_DIMS] = {0};
  const int n = operand->n_dims;
  const part whole = {.extent = s->op[op].extent, .n_dims = n};
  int64_t inputs[SCT_ADDRESSING_INPUTS] = {0};
  walk w;
  if (s->op[op].count == 0) {
    return false;
  }
  get_inputs(inputs, s, OWN, n, first);
  begin_walk(&w, s->addressing->op[op].element[field], n, false, inputs);
  if (!strides_inside(&w, &whole, info->bytes, s->op[op].bytes)) {
    return false;
  }
  *out = (sct_places){.count = s->op[op].count * info->lanes, .origin = (int64_t)w.origin};
  uint64_t aligned = w.origin;
  for (int d = 0; d < SCT_PLACE_DIMS; d++) {
    out->extent[d] = d < n ? s->op[op].extent[d] : d == n ? info->lanes : 1;
    out->stride[d] = d < n ? (int64_t)w.stride[d] : d == n ? lane_bytes : 0;
    aligned |= (uint64_t)out->stride[d];
  }
  return aligned % (uint64_t)lane_bytes == 0;
}

/* ---- do elements overlap? ---- */

typedef enum answer { NO, YES, UNKNOWN } answer;

/* What is only read may be read twice; what an index array holds is known by its number. */
static bool must_be_apart(const sct_operand *op) {
  return op->is_output || op->is_index;
}

static int64_t size_of(uint64_t stride) {
  return (int64_t)stride < 0 ? -(int64_t)stride : (int64_t)stride;
}

/* Is each element of `bytes` bytes apart from all others? Surely if each stride is at least what
 * all smaller ones reach together; surely not if one is a few steps of another. */
static answer strides_are_apart(const walk *w, const int64_t *extent, int n_dims, int64_t bytes) {
  int64_t reach = bytes;
  bool taken[MOST_STRIDES] = {false};
  answer apart = YES;
  for (int round = 0; round < n_dims; round++) {
    int least = -1;
    for (int d = 0; d < n_dims; d++) {
      const bool smaller = least < 0 || size_of(w->stride[d]) < size_of(w->stride[least]);
      least = !taken[d] && extent[d] > 1 && smaller ? d : least;
    }
    if (least < 0) {
      break; /* the others take no step */
    }
    const int64_t stride = size_of(w->stride[least]);
    for (int d = 0; d < n_dims; d++) {
      const int64_t small = taken[d] ? size_of(w->stride[d]) : 0;
      if (stride == 0 || (small > 0 && stride % small == 0 && stride / small < extent[d])) {
        return NO;
      }
    }
    int64_t more = 0;
    apart = stride < reach || __builtin_mul_overflow(stride, extent[least] - 1, &more) ||
                    __builtin_add_overflow(reach, more, &reach)
                ? UNKNOWN
                : apart;
    taken[least] = true;
  }
  return apart;
}

/* The lowest and the highest byte of a field; more than an array has where that overflows. */
static void find_range(const walk *w, const int64_t *extent, int n_dims, int64_t bytes,
                       int64_t range[2]) {
  range[0] = (int64_t)w->origin;
  range[1] = range[0] + bytes - 1;
  for (int d = 0; d < n_dims; d++) {
    int64_t span = 0;
    int64_t *end = (int64_t)w->stride[d] < 0 ? &range[0] : &range[1];
    if (__builtin_mul_overflow((int64_t)w->stride[d], extent[d] - 1, &span) ||
        __builtin_add_overflow(*end, span, end)) {
      range[0] = INT64_MIN;
      range[1] = INT64_MAX;
      return;
    }
  }
}

/* Whether no two elements share a byte, by the strides of all fields, which move together or lie
 * apart. */
static answer fields_are_apart(const walk *walks, const sct_record *record, const int64_t *extent,
                               int n_dims) {
  walk whole = walks[0];
  int64_t low = (int64_t)whole.origin, high = low, range[SCT_MAX_FIELDS][2];
  bool together = true, crossing = false, overlap = false;
  answer apart = YES;
  for (int f = 0; f < record->n_fields; f++) {
    const int64_t bytes = record->fields[f].bytes, at = (int64_t)walks[f].origin;
    const answer one = strides_are_apart(&walks[f], extent, n_dims, bytes);
    if (one == NO) {
      return NO;
    }
    apart = one == UNKNOWN ? UNKNOWN : apart;
    together = together && memcmp(walks[f].stride, whole.stride, sizeof whole.stride) == 0;
    low = at < low ? at : low;
    high = at + bytes > high ? at + bytes : high;
    find_range(&walks[f], extent, n_dims, bytes, range[f]);
    for (int g = 0; g < f; g++) {
      const int64_t other = (int64_t)walks[g].origin;
      crossing = crossing || (range[f][0] <= range[g][1] && range[g][0] <= range[f][1]);
      overlap = overlap || (at < other + record->fields[g].bytes && other < at + bytes);
    }
  }
  if (overlap) {
    return NO;
  }
  if (apart == YES && !crossing) {
    return YES;
  }
  return together && strides_are_apart(&whole, extent, n_dims, high - low) == YES ? YES : UNKNOWN;
}

/* By strides. */
static answer layout_holds(const sct_shape *s, int op) {
  const sct_operand *operand = s->addressing->op[op].op;
  const sct_record *record = &operand->record;
  const int64_t first[SCT_MAX_DIMS] = {0};
  const part whole = {.extent = s->op[op].extent, .n_dims = operand->n_dims};
  walk walks[SCT_MAX_FIELDS] = {{0}};
  bool inside = true;
  if (s->op[op].count == 0) {
    return YES;
  }
  for (int f = 0; f < record->n_fields && inside; f++) {
    int64_t inputs[SCT_ADDRESSING_INPUTS] = {0};
    get_inputs(inputs, s, OWN, operand->n_dims, first);
    begin_walk(&walks[f], s->addressing->op[op].element[f], operand->n_dims, false, inputs);
    inside = strides_inside(&walks[f], &whole, record->fields[f].bytes, s->op[op].bytes);
  }
  return !inside                   ? UNKNOWN
         : !must_be_apart(operand) ? YES
                                   : fields_are_apart(walks, record, whole.extent, operand->n_dims);
}

/* By looking at each byte of each element. */
static bool elements_hold(const sct_shape *s, int op) {
  const sct_operand *operand = s->addressing->op[op].op;
  const size_t bytes = (size_t)s->op[op].bytes + 1;
  uint8_t *seen = sct_alloc_sparse(bytes);
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
  sct_unmap(seen, bytes);
  return hold;
}

/* No element is looked at before the strides of all arrays had their say. */
bool sct_shape_layouts_hold(const sct_shape *s, bool with_own_extents) {
  const int n = s->addressing->spec->n_operands;
  answer holds[SCT_MAX_OPERANDS] = {NO};
  bool hold = true;
  for (int k = 0; k < n && hold; k++) {
    holds[k] = s->addressing->op[k].has_own_extents == with_own_extents ? layout_holds(s, k) : YES;
    hold = holds[k] != NO;
  }
  for (int k = 0; k < n && hold; k++) {
    hold = holds[k] == YES || elements_hold(s, k);
  }
  return hold;
}

/* ---- spans ---- */

/* Pages of the array that hold elements become 1. */
static sct_status mark_pages(uint8_t *pages, const sct_shape *s, int op, sct_error *err) {
  const sct_operand *operand = s->addressing->op[op].op;
  int64_t offsets[PART];
  walk walks[SCT_MAX_FIELDS] = {{0}};
  part p = first_part(s->op[op].extent, operand->n_dims, s->op[op].count);
  for (; p.n > 0; next_part(&p)) {
    for (int f = 0; f < operand->record.n_fields; f++) {
      const int64_t last = operand->record.fields[f].bytes - 1;
      if (!find_offsets(offsets, &walks[f], s, op, f, OWN, &p)) {
        return outside(s, op, err);
      }
      for (int k = 0; k < p.n; k++) {
        pages[offsets[k] / PAGE] = pages[(offsets[k] + last) / PAGE] = 1;
      }
    }
  }
  return SCT_OK;
}

static void list_spans(sct_shape *s, int op, const uint8_t *pages) {
  const int64_t bytes = s->op[op].bytes;
  sct_span *spans = sct_alloc(sizeof *spans); /* there may be no element, but it is sparse */
  size_t n = 0, cap = 1;
  for (int64_t k = 0; k * PAGE < bytes; k++) {
    const int64_t to = (k + 1) * PAGE < bytes ? (k + 1) * PAGE : bytes;
    if (pages[k] && n > 0 && k * PAGE - spans[n - 1].to <= PAGES_APART * PAGE) {
      spans[n - 1].to = to;
    } else if (pages[k]) {
      SCT_GROW(spans, n, cap);
      spans[n++] = (sct_span){k * PAGE, to};
    }
  }
  s->op[op].spans = spans;
  s->op[op].n_spans = (int)n;
}

sct_status sct_shape_find_spans(sct_shape *s, sct_error *err) {
  for (int k = 0; k < s->addressing->spec->n_operands; k++) {
    const int64_t held = s->op[k].count * s->addressing->op[k].op->record.bytes;
    if (s->op[k].bytes < SPARSE_BYTES || (held > 0 && s->op[k].bytes / held < SPARSE_TIMES)) {
      continue;
    }
    SCT_OWNED uint8_t *pages = sct_alloc((size_t)(s->op[k].bytes / PAGE) + 1);
    SCT_TRY(mark_pages(pages, s, k, err));
    list_spans(s, k, pages);
  }
  return SCT_OK;
}

static void mark(uint8_t *flags, const int64_t *offsets, int n, int byte, int64_t bytes) {
  uint8_t marks[PART * MOST_BYTES];
  memset(marks, byte, (size_t)(n * bytes));
  sct_fields_scatter(flags, offsets, marks, n, bytes);
}

/* ---- images ---- */

/* Which of an array's dimensions tell apart the rows that are reduced or scanned. */
typedef struct row_dims {
  bool all_alike; /* nothing is reduced or scanned */
  bool stay;      /* results go onto what the elements hold, and there are none here */
  int n;
  int from[SCT_MAX_DIMS];    /* the array's dimension */
  bool ragged[SCT_MAX_DIMS]; /* it goes through all rows, one after the other */
} row_dims;

static row_dims row_dims_of(const sct_shape *s, const sct_operand *op) {
  const sct_spec *spec = s->addressing->spec;
  row_dims out = {.all_alike = !spec->reduces && !spec->scans && spec->n_steps == 0,
                  .stay = op->is_inout && op->reduce != SCT_REDUCE_NONE && s->n_elements == 0};
  for (int d = 0; d < op->n_dims; d++) {
    const bool ragged = sct_spec_is_ragged(spec) && op->at[d] == spec->dim_var[spec->ragged.dim];
    bool kept = ragged;
    for (int dim = 0; dim < spec->n_dims; dim++) {
      kept = kept ||
             (!sct_spec_combines_along(spec, dim) && strcmp(op->dims[d], spec->dims[dim]) == 0);
    }
    if (kept) {
      out.from[out.n] = d;
      out.ragged[out.n++] = ragged;
    }
  }
  return out;
}

/* The special values among those of an array's element: any of them, but where results are compared
 * within a tolerance only finite ones, which no order of operations makes infinite or NaN. What is
 * reduced or scanned is special row by row, as one value can decide about a row: the first is
 * ordinary. */
static sct_mix mix_of(const sct_shape *s, const row_dims *rows, const int64_t *idx) {
  const sct_mix most = s->near ? SCT_MIX_FINITE : SCT_MIX_ANY;
  if (rows->all_alike || rows->stay) {
    return rows->stay ? SCT_MIX_STAYS : most;
  }
  uint64_t row = 0;
  bool first = true;
  for (int k = 0; k < rows->n; k++) {
    int64_t at = idx[rows->from[k]];
    if (rows->ragged[k]) {
      const sct_ragged *ragged = &s->addressing->spec->ragged;
      int64_t point[SCT_MAX_DIMS] = {0};
      point[ragged->dim] = at;
      sct_shape_put_row(s, point);
      at = point[ragged->row];
    }
    row = sct_mix64(row, (uint64_t)at);
    first = first && at == 0;
  }
  /* the only row of a size is ordinary; what all rows share is so at every other size */
  if (rows->n > 0 ? first : s->n_elements % 2 == 0) {
    return SCT_MIX_NONE;
  }
  return rows->n > 0 ? (sct_mix)(row % (most + 1)) : most;
}

/* Values of the elements of a part, together as long as they are mixed alike. */
static void put_values(uint8_t *image, const sct_shape *s, int op, int field, const part *p,
                       const int64_t *offsets) {
  const sct_spec *spec = s->addressing->spec;
  int64_t idx[SCT_MAX_DIMS];
  memcpy(idx, p->idx, sizeof idx);
  const row_dims rows = row_dims_of(s, s->addressing->op[op].op);
  sct_stream stream = {.key = sct_data_key(s->addressing->seed, op, field),
                       .mix = mix_of(s, &rows, idx),
                       .divides = strpbrk(spec->body, "/%") != NULL};
  const sct_type type = s->addressing->op[op].op->record.fields[field].type;
  int from = 0;
  for (int k = 1; k < p->n && !rows.all_alike; k++) {
    (void)sct_next_index(idx, p->extent, p->n_dims);
    const sct_mix mix = mix_of(s, &rows, idx);
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
  const sct_operand *operand = s->addressing->op[op].op;
  const sct_field *f = &operand->record.fields[field];
  if (s->fill[op] == SCT_FILL_PREFIX) {
    const sct_size size = {.extent = (int64_t *)s->extent, .fill = (sct_fill *)s->fill};
    const sct_index_fill fill = sct_spec_index_fill(s->addressing->spec, op, &size);
    for (int k = 0; k < p->n; k++) {
      image[offsets[k]] = (uint8_t)sct_index_fill_value(&fill, p->linear + k);
    }
    return;
  }
  if (!operand->is_index) {
    put_values(image, s, op, field, p, offsets);
    return;
  }
  for (int k = 0; k < p->n; k++) {
    memcpy(image + offsets[k], &s->op[op].values[p->linear + k], (size_t)f->bytes);
  }
}

sct_status sct_image_input(uint8_t **out, const sct_shape *s, int op, sct_error *err) {
  const sct_operand *operand = s->addressing->op[op].op;
  const int start = sct_operand_start_byte(operand);
  uint8_t *image = new_image(s, op, start >= 0 ? (uint8_t)start : GAP_BYTE);
  if (start >= 0) {
    *out = image;
    return SCT_OK;
  }
  int64_t offsets[PART];
  walk walks[SCT_MAX_FIELDS] = {{0}};
  part p = first_part(s->op[op].extent, operand->n_dims, s->op[op].count);
  for (; p.n > 0; next_part(&p)) {
    for (int f = 0; f < operand->record.n_fields; f++) {
      if (!find_offsets(offsets, &walks[f], s, op, f, OWN, &p)) {
        sct_image_free(image, s, op);
        return outside(s, op, err);
      }
      put_input(image, s, op, f, &p, offsets);
    }
  }
  *out = image;
  return SCT_OK;
}

static sct_status mark_owned(uint8_t *flags, const sct_shape *s, int op, sct_error *err) {
  const sct_operand *operand = s->addressing->op[op].op;
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

int sct_shape_dim_of(const sct_shape *s, int op, int d) {
  const sct_spec *spec = s->addressing->spec;
  for (int dim = 0; dim < spec->n_dims; dim++) {
    if (s->addressing->op[op].op->at[d] == spec->dim_var[dim]) {
      return dim;
    }
  }
  return -1;
}

bool sct_shape_writes_all(const sct_shape *s, int op) {
  const sct_spec *spec = s->addressing->spec;
  const sct_operand *o = s->addressing->op[op].op;
  if (o->accumulate != SCT_REDUCE_NONE) {
    return true; /* what no point falls on keeps what it held, which is known, too */
  }
  bool all = s->op[op].count == s->op[op].n_written;
  for (int d = 0; d < o->n_dims && all; d++) {
    const int dim = sct_shape_dim_of(s, op, d);
    all = dim >= 0 && s->op[op].extent[d] == s->op[op].write_extent[dim];
    for (int before = 0; before < d && all; before++) {
      all = o->at[before] != o->at[d];
    }
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
  const sct_record *record = &s->addressing->op[op].op->record;
  int64_t bytes = 0;
  for (int f = 0; f < record->n_fields; f++) {
    bytes += record->fields[f].bytes;
  }
  return sct_shape_writes_all(s, op) && s->op[op].bytes == bytes * s->op[op].count ? ALL_MARKS : 0;
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
  const sct_addressing *addressing = s->addressing;
  const sct_field *f = &addressing->op[op].op->record.fields[field];
  const sct_move *move = move_of(addressing->spec, op, field);
  int64_t from[PART];
  uint8_t fields[PART * MOST_BYTES];
  if (!move) {
    const sct_stream stream = {.key = sct_data_key(addressing->seed, op, field)};
    sct_data_values(image, offsets, p->n, f->type, &stream, p->linear);
    return SCT_OK;
  }
  if (addressing->spec->reduces) {
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
  const sct_spec *spec = s->addressing->spec;
  const sct_record *record = &s->addressing->op[op].op->record;
  int64_t offsets[PART];
  walk written[SCT_MAX_FIELDS] = {{0}}, read[SCT_MAX_FIELDS] = {{0}};
  if (flags &&
      !sct_shape_writes_all(s, op)) { /* else all that it owns is marked as written below */
    SCT_TRY(mark_owned(flags, s, op, err));
  }
  const whose of = s->addressing->op[op].op->accumulate != SCT_REDUCE_NONE ? OWN : TOUCHED;
  part p = first_part(s->op[op].write_extent, s->op[op].write_dims, s->op[op].n_written);
  for (; p.n > 0; next_part(&p)) {
    for (int f = 0; f < record->n_fields; f++) {
      if (spec->n_moves > 0 && !move_of(spec, op, f)) {
        continue; /* no move assigns it */
      }
      if (!find_offsets(offsets, &written[f], s, op, f, of, &p)) {
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
  uint8_t *marks = new_image(s, op, (uint8_t)common);
  const sct_status status = common ? SCT_OK : write_elements(NULL, marks, s, op, NULL, err);
  if (status == SCT_OK) {
    *flags = marks;
  } else {
    sct_image_free(marks, s, op);
  }
  return status;
}

sct_status sct_image_output(uint8_t **out, const sct_shape *s, int op, uint8_t *const *inputs,
                            uint8_t poison, sct_error *err) {
  uint8_t *image = NULL;
  sct_status status = SCT_OK;
  if (s->addressing->op[op].op->accumulate != SCT_REDUCE_NONE) {
    SCT_TRY(sct_image_input(&image, s, op, err));
    status = sct_image_accumulate(image, s, op, inputs, err);
  } else {
    const bool scans = s->addressing->spec->scans && s->addressing->spec->n_moves > 0;
    if (sct_operand_is_prefilled(s->addressing->op[op].op)) {
      SCT_TRY(sct_image_input(&image, s, op, err));
    } else {
      image = new_image(s, op, poison);
    }
    status = scans ? sct_image_scan(image, s, op, inputs, err)
                   : write_elements(image, NULL, s, op, inputs, err);
  }
  if (status == SCT_OK) {
    *out = image;
  } else {
    sct_image_free(image, s, op);
  }
  return status;
}
