/* Whether the elements of an array lie inside it and apart from each other. */
#include "measure_walk.h"

#include <string.h>

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
static answer strides_are_apart(const sct_walk *w, const int64_t *extent, int n_dims,
                                int64_t bytes) {
  int64_t reach = bytes;
  bool taken[SCT_WALK_STRIDES] = {false};
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
static void find_range(const sct_walk *w, const int64_t *extent, int n_dims, int64_t bytes,
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
static answer fields_are_apart(const sct_walk *walks, const sct_record *record,
                               const int64_t *extent, int n_dims) {
  sct_walk whole = walks[0];
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
  const sct_part whole = {.extent = s->op[op].extent, .n_dims = operand->n_dims};
  sct_walk walks[SCT_MAX_FIELDS] = {{0}};
  bool inside = true;
  if (s->op[op].count == 0) {
    return YES;
  }
  for (int f = 0; f < record->n_fields && inside; f++) {
    int64_t inputs[SCT_ADDRESSING_INPUTS] = {0};
    sct_walk_inputs(inputs, s, SCT_OWN, operand->n_dims, first);
    sct_walk_begin(&walks[f], s->addressing->op[op].element[f], operand->n_dims, false, inputs);
    inside = sct_walk_inside(&walks[f], &whole, record->fields[f].bytes, s->op[op].bytes);
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
  int64_t offsets[SCT_PART];
  sct_walk walks[SCT_MAX_FIELDS] = {{0}};
  bool hold = true;
  sct_part p = sct_part_first(s->op[op].extent, operand->n_dims, s->op[op].count);
  for (; p.n > 0 && hold; sct_part_next(&p)) {
    for (int f = 0; f < operand->record.n_fields && hold; f++) {
      hold = sct_walk_offsets(offsets, &walks[f], s, op, f, SCT_OWN, &p);
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
