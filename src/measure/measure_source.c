/* What index arrays hold, found where a block reaches them: no array is made as a whole where its
 * elements lie at sums of strides. */
#include "measure_data.h"

#include <string.h>

/* Number of the element that begins at a byte offset; -1: none does. */
static int64_t element_at(const sct_index_source *from, int64_t offset) {
  int64_t left = offset - from->at.origin, linear = 0;
  for (int d = 0; d < SCT_PLACE_DIMS && left >= 0; d++) {
    const int64_t stride = from->at.stride[d], at = stride > 0 ? left / stride : 0;
    left = at < from->at.extent[d] ? left - at * stride : -1;
    linear += at * from->weight[d];
  }
  return left == 0 ? linear : -1;
}

void sct_index_source_fill(void *ctx, uint8_t *out, int64_t offset, int64_t bytes) {
  const sct_index_source *from = ctx;
  if (from->image != NULL) {
    memcpy(out, from->image + offset, (size_t)bytes);
    return;
  }
  for (int64_t at = 0; at + from->bytes <= bytes; at += from->bytes) {
    const int64_t element = element_at(from, offset + at);
    const int64_t value = element < 0 ? 0 : sct_index_fill_value(&from->fill, element);
    memcpy(out + at, &value, (size_t)from->bytes);
  }
}

static void swap(int64_t *a, int64_t *b) {
  const int64_t was = *a;
  *a = *b;
  *b = was;
}

/* Sorts dimensions by stride, widest first, with the weight of each in an element's number. false:
 * elements along one lie among those along another, or backwards. */
static bool sort_places(sct_index_source *out) {
  sct_places *p = &out->at;
  int64_t weight = 1, below = out->bytes; /* what elements along the dimensions so far span */
  for (int d = SCT_PLACE_DIMS; d-- > 0; weight *= p->extent[d]) {
    out->weight[d] = weight;
    p->stride[d] = p->extent[d] > 1 ? p->stride[d] : 0;
  }
  for (int d = 1; d < SCT_PLACE_DIMS; d++) {
    for (int k = d; k > 0 && p->stride[k] > p->stride[k - 1]; k--) {
      swap(&p->stride[k], &p->stride[k - 1]);
      swap(&p->extent[k], &p->extent[k - 1]);
      swap(&out->weight[k], &out->weight[k - 1]);
    }
  }
  bool nested = p->origin % out->bytes == 0;
  for (int d = SCT_PLACE_DIMS; d-- > 0 && nested;) {
    nested = p->extent[d] == 1 || (p->stride[d] >= below && p->stride[d] % out->bytes == 0);
    below = p->extent[d] == 1 ? below : p->stride[d] * p->extent[d];
  }
  return nested;
}

sct_status sct_index_source_init(sct_index_source *out, sct_shape *shape, int op,
                                 int64_t most_bytes, sct_error *err) {
  const sct_size size = {.extent = shape->extent, .fill = shape->fill};
  const sct_spec *spec = shape->addressing->spec;
  *out = (sct_index_source){.fill = sct_spec_index_fill(spec, op, &size),
                            .bytes = spec->operands[op].record.fields[0].bytes};
  if (sct_shape_places(shape, op, 0, &out->at) && sort_places(out)) {
    return SCT_OK;
  }
  if (shape->op[op].bytes > most_bytes) {
    return sct_fail(err, SCT_ESPEC, "index values in no order of strides");
  }
  sct_shape_index(shape);
  return sct_image_input(&out->image, shape, op, err);
}

void sct_index_source_free(sct_index_source *from) {
  sct_free(from->image);
  *from = (sct_index_source){0};
}
