/* Sets of bytes of an array, as its layout's modes have them.
 *
 * A span is `width` bytes that are repeated along modes: all base + i_0 * stride_0 + i_1 * stride_1
 * + ... + [0, width) with 0 <= i_k < count_k. A set is the union of some spans. Sectors and bytes
 * of a set are counted without going through it: along the slowest mode the bytes of a row repeat,
 * and so do, after a few rows, the sectors that they begin in. */
#ifndef SCT_SPEC_SPANS_H
#define SCT_SPEC_SPANS_H

#include "spec/spec.h"

enum { SPAN_MODES = 40 };

typedef struct span_mode {
  int64_t stride, count;
} span_mode;

typedef struct span {
  int64_t base, width;
  int n_modes; /* strides descend; counts are at least 2 */
  span_mode mode[SPAN_MODES];
} span;

struct sct_spans {
  span *at;
  size_t n, cap;
};

void sct_spans_free(sct_spans *s);
SCT_OWNS(sct_spans, sct_spans_free)
/* Adds a mode, in any order; a negative stride moves the base. false: there is no room. */
bool sct_span_add(span *s, int64_t stride, int64_t count);
/* Joins modes, and the innermost one with the width, where what they reach has no holes. */
void sct_span_join(span *s);
/* Joins spans of which one follows the other, row by row. */
void sct_spans_join(sct_spans *s);
/* Makes spans whose rows do not overlap, so that they can be walked; bytes between are added where
 * these are too many. */
void sct_spans_order(sct_spans *s);
/* Bytes from its first to its last one. */
int64_t sct_span_reach(const span *s);
/* Adds it, unless a span of the set holds all of it; takes out those that it holds. */
void sct_spans_put(sct_spans *to, const span *s);
/* Adds what of it lies in [lo, hi). */
void sct_spans_clip(sct_spans *to, const span *s, int64_t lo, int64_t hi);

/* Distinct units of `unit` bytes, a power of two, that the set has when all of it is moved by
 * `shift` bytes; -1: it is too irregular to be counted. */
int64_t sct_spans_units(const sct_spans *s, int64_t shift, int64_t unit);

#endif
