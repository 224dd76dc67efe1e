/* Spans: the pages of a sparse array around its elements. */
#include "measure_walk.h"

#define PAGE         ((int64_t)4096) /* what the system gives of a sparse image at a time */
#define SPARSE_BYTES ((int64_t)1 << 18)
#define SPARSE_TIMES 8 /* as large as its elements, and its image is sparse */
#define PAGES_APART  1 /* pages between elements that are not worth another span */

int64_t sct_shape_image_bytes(const sct_shape *s, int op) {
  const int64_t bytes = s->op[op].bytes, count = s->op[op].count;
  const int64_t all = count > bytes / PAGE ? bytes : count * PAGE;
  return bytes < SPARSE_BYTES ? bytes : all;
}

/* Pages of the array that hold elements become 1. */
static sct_status mark_pages(uint8_t *pages, const sct_shape *s, int op, sct_error *err) {
  const sct_operand *operand = s->addressing->op[op].op;
  int64_t offsets[SCT_PART];
  sct_walk walks[SCT_MAX_FIELDS] = {{0}};
  sct_part p = sct_part_first(s->op[op].extent, operand->n_dims, s->op[op].count);
  for (; p.n > 0; sct_part_next(&p)) {
    for (int f = 0; f < operand->record.n_fields; f++) {
      const int64_t last = operand->record.fields[f].bytes - 1;
      if (!sct_walk_offsets(offsets, &walks[f], s, op, f, SCT_OWN, &p)) {
        return sct_walk_outside(s, op, err);
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
