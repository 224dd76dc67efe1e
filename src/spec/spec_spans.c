/* Sets of bytes: spec_spans.h. */
#include "spec/spec_spans.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_SPREAD = 64 };

void sct_spans_free(sct_spans *s) {
  sct_free(s->at);
  *s = (sct_spans){0};
}

void sct_spans_end(sct_spans *s) {
  if (s != NULL) {
    sct_spans_free(s);
    sct_free(s);
  }
}

static int64_t floor_div(int64_t a, int64_t b) {
  return a / b - (a % b < 0);
}

/* ---- one span ---- */

bool sct_span_add(span *s, int64_t stride, int64_t count) {
  if (stride < 0) {
    s->base += stride * (count - 1);
    stride = -stride;
  }
  if (count <= 1 || stride == 0) {
    return true;
  }
  if (s->n_modes == SPAN_MODES) {
    return false;
  }
  int k = s->n_modes++;
  for (; k > 0 && s->mode[k - 1].stride < stride; k--) {
    s->mode[k] = s->mode[k - 1];
  }
  s->mode[k] = (span_mode){stride, count};
  return true;
}

void sct_span_join(span *s) {
  for (int k = s->n_modes - 1; k >= 0; k--) {
    const span_mode inner = s->mode[k];
    span_mode *const outer = k > 0 ? &s->mode[k - 1] : NULL;
    if (k == s->n_modes - 1 && inner.stride <= s->width) {
      s->width += inner.stride * (inner.count - 1);
      s->n_modes--;
    } else if (outer && outer->stride % inner.stride == 0 &&
               outer->stride / inner.stride <= inner.count) {
      const int64_t times = outer->stride / inner.stride;
      *outer = (span_mode){inner.stride, inner.count + times * (outer->count - 1)};
      memmove(&s->mode[k], &s->mode[k + 1], sizeof *s->mode * (size_t)(s->n_modes - 1 - k));
      s->n_modes--;
      k = s->n_modes; /* the joined mode may now join with what is inside of it */
    }
  }
}

static int64_t reach_from(const span *s, int first) {
  int64_t reach = s->width;
  for (int k = first; k < s->n_modes; k++) {
    reach += s->mode[k].stride * (s->mode[k].count - 1);
  }
  return reach;
}

int64_t sct_span_reach(const span *s) {
  return reach_from(s, 0);
}

/* Are the bytes of b those behind a's, row by row? */
static bool follows(const span *a, const span *b) {
  bool same = b->base == a->base + a->width && a->n_modes == b->n_modes;
  for (int k = 0; k < a->n_modes && same; k++) {
    same = a->mode[k].stride == b->mode[k].stride && a->mode[k].count == b->mode[k].count;
  }
  return same;
}

static bool is_in_order(const span *s) {
  bool in_order = true;
  for (int k = 0; k < s->n_modes; k++) {
    in_order = in_order && reach_from(s, k + 1) <= s->mode[k].stride;
  }
  return in_order;
}

/* A span for each step of the shortest mode; of too many, one of all that is between. false: the
 * latter. */
static bool spread(sct_spans *s, size_t at) {
  int k = 0;
  for (int m = 1; m < s->at[at].n_modes; m++) {
    k = s->at[at].mode[m].count < s->at[at].mode[k].count ? m : k;
  }
  const span_mode mode = s->at[at].mode[k];
  if (mode.count > MOST_SPREAD || s->n > MOST_SPREAD) {
    s->at[at].width = sct_span_reach(&s->at[at]);
    s->at[at].n_modes = 0;
    return false;
  }
  span *one = &s->at[at];
  memmove(&one->mode[k], &one->mode[k + 1], sizeof *one->mode * (size_t)(one->n_modes - 1 - k));
  one->n_modes--;
  for (int64_t step = 1; step < mode.count; step++) {
    SCT_GROW(s->at, s->n, s->cap);
    s->at[s->n] = s->at[at];
    s->at[s->n++].base += step * mode.stride;
  }
  return true;
}

void sct_spans_join(sct_spans *s) {
  for (size_t a = 0; a < s->n; a++) {
    for (size_t b = 0; b < s->n; b++) {
      if (follows(&s->at[a], &s->at[b])) {
        s->at[a].width += s->at[b].width;
        s->at[b] = s->at[--s->n];
        a = 0;
        b = (size_t)-1;
      }
    }
  }
}

void sct_spans_order(sct_spans *s) {
  sct_spans_join(s);
  for (size_t a = 0; a < s->n;) {
    sct_span_join(&s->at[a]);
    a += is_in_order(&s->at[a]) || !spread(s, a);
  }
}

/* Does a hold all bytes of b, as far as is easily seen: mode by mode? */
static bool holds(const span *a, const span *b) {
  int64_t apart = b->base - a->base;
  int k = 0;
  for (int m = 0; m < a->n_modes; m++) {
    const span_mode has = a->mode[m];
    const bool both = k < b->n_modes && b->mode[k].stride == has.stride;
    const int64_t count = both ? b->mode[k++].count : 1;
    const int64_t from = apart >= 0 ? apart / has.stride : 0;
    if (from + count > has.count) {
      return false;
    }
    apart -= from * has.stride;
  }
  return k == b->n_modes && apart >= 0 && apart + b->width <= a->width;
}

void sct_spans_put(sct_spans *to, const span *s) {
  size_t n = 0;
  for (size_t k = 0; k < to->n; k++) {
    if (holds(&to->at[k], s)) {
      return;
    }
  }
  for (size_t k = 0; k < to->n; k++) {
    if (!holds(s, &to->at[k])) {
      to->at[n++] = to->at[k];
    }
  }
  to->n = n;
  SCT_GROW(to->at, to->n, to->cap);
  to->at[to->n++] = *s;
}

/* Along the slowest mode some repetitions lie inside; of those at the ends a part. */
void sct_spans_clip(sct_spans *to, const span *s, int64_t lo, int64_t hi) {
  const int64_t reach = sct_span_reach(s);
  if (s->base >= hi || s->base + reach <= lo) {
    return;
  }
  if (s->base >= lo && s->base + reach <= hi) {
    sct_spans_put(to, s);
    return;
  }
  span inner = *s;
  if (s->n_modes == 0) {
    inner.base = s->base > lo ? s->base : lo;
    inner.width = (s->base + s->width < hi ? s->base + s->width : hi) - inner.base;
    sct_spans_put(to, &inner);
    return;
  }
  const span_mode slow = s->mode[0];
  inner.n_modes--;
  memmove(inner.mode, s->mode + 1, sizeof *s->mode * (size_t)inner.n_modes);
  const int64_t part = sct_span_reach(&inner);
  int64_t first = -floor_div(s->base - lo, slow.stride);
  int64_t end = floor_div(hi - s->base - part, slow.stride) + 1; /* [first, end) lie inside */
  first = first < 0 ? 0 : first > slow.count ? slow.count : first;
  end = end < first ? first : end > slow.count ? slow.count : end;
  span whole = inner;
  whole.base = s->base + first * slow.stride;
  if (end > first && sct_span_add(&whole, slow.stride, end - first)) {
    sct_spans_put(to, &whole);
  }
  for (int64_t k = first - 1; k >= 0 && s->base + k * slow.stride + part > lo; k--) {
    inner.base = s->base + k * slow.stride;
    sct_spans_clip(to, &inner, lo, hi);
  }
  for (int64_t k = end; k < slow.count && s->base + k * slow.stride < hi; k++) {
    inner.base = s->base + k * slow.stride;
    sct_spans_clip(to, &inner, lo, hi);
  }
}

/* ---- units ---- */

/* A span without its first modes, moved. */
typedef struct view {
  const span *of;
  int first;
  bool joined;
  int64_t base, end; /* of the bytes it reaches */
} view;

typedef struct tally {
  int64_t n, first, last; /* distinct units; the numbers of the first and the last one */
} tally;

typedef struct counter {
  int64_t unit;
  int64_t steps; /* that it may still take */
} counter;

enum { MOST_STEPS = 1 << 20, MOST_SINGLE = 1 << 22 };

static view view_of(const span *s, int first, int64_t base, bool joined) {
  return (view){s, first, joined, base, base + reach_from(s, first)};
}

static bool count_views(tally *out, counter *c, view *v, int n, int64_t shift);

/* What follows in memory. */
static void append(tally *to, tally more) {
  if (to->n == 0) {
    *to = more;
    return;
  }
  to->n += more.n - (more.first == to->last);
  to->last = more.last;
}

/* Rows [from, to) along a mode of `stride` bytes, each with the same views. */
static bool count_rows(tally *out, counter *c, view *v, int n, int64_t shift, int64_t stride,
                       int64_t from, int64_t to) {
  const int64_t low = stride & -stride;
  const int64_t period = low >= c->unit ? 1 : c->unit / low; /* rows until units repeat */
  const int64_t rows = to - from, ahead = period * stride / c->unit;
  tally all = {0}, row, next;
  if (!count_views(&row, c, v, n, shift + from * stride)) {
    return false;
  }
  const tally start = row;
  all.first = row.first;
  for (int64_t k = 0; k < period && k < rows; k++, row = next) {
    next = (tally){start.n, start.first + ahead, start.last + ahead};
    if (k + 1 < period && k + 1 < rows &&
        !count_views(&next, c, v, n, shift + (from + k + 1) * stride)) {
      return false;
    }
    const int64_t times = (rows - 1 - k) / period + 1;                    /* rows of this kind */
    const int64_t pairs = k + 1 < rows ? (rows - 2 - k) / period + 1 : 0; /* that others follow */
    const int64_t last = row.last + (times - 1) * ahead;
    all.n += times * row.n - (next.first == row.last ? pairs : 0);
    all.last = k == 0 || last > all.last ? last : all.last;
  }
  append(out, all);
  return true;
}

static int compare_ends(const void *a, const void *b) {
  const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return x < y ? -1 : x > y;
}

/* Takes the mode of `stride` off each view: row[k] receives its first row and how many there are.
 * `half`: rows begin half a stride earlier. false: what is left is longer than a row. */
static bool split_rows(view *inner, span_mode *row, const view *v, int n, int64_t stride,
                       bool half) {
  int64_t least = v[0].base, lo = INT64_MAX, hi = INT64_MIN;
  for (int k = 0; k < n; k++) {
    least = v[k].base < least ? v[k].base : least;
  }
  for (int k = 0; k < n; k++) {
    const span *s = v[k].of;
    const bool has = v[k].first < s->n_modes && s->mode[v[k].first].stride == stride;
    row[k].stride = floor_div(v[k].base - least + (half ? stride / 2 : 0), stride); /* the row */
    row[k].count = has ? s->mode[v[k].first].count : 1;
    inner[k] = view_of(s, v[k].first + has, v[k].base - row[k].stride * stride, v[k].joined);
    lo = inner[k].base < lo ? inner[k].base : lo;
    hi = inner[k].end > hi ? inner[k].end : hi;
  }
  return hi - lo <= stride;
}

/* Views that lie among each other: row by row along the slowest mode of all, as long as the same
 * ones are there. */
static bool count_group(tally *out, counter *c, const view *v, int n, int64_t shift) {
  if (n == 1 && !v->joined) { /* several have their modes in common as they are */
    span alone = *v->of;
    alone.n_modes -= v->first;
    memmove(alone.mode, alone.mode + v->first, sizeof *alone.mode * (size_t)alone.n_modes);
    sct_span_join(&alone);
    const view joined = view_of(&alone, 0, v->base, true);
    return count_group(out, c, &joined, 1, shift);
  }
  int64_t stride = 0, end = v[0].end;
  for (int k = 0; k < n; k++) {
    const span *s = v[k].of;
    const int64_t slow = v[k].first < s->n_modes ? s->mode[v[k].first].stride : 0;
    stride = slow > stride ? slow : stride;
    end = v[k].end > end ? v[k].end : end;
  }
  if (stride == 0) { /* they meet or overlap: one piece */
    const int64_t first = floor_div(v[0].base + shift, c->unit);
    const int64_t last = floor_div(end - 1 + shift, c->unit);
    append(out, (tally){last - first + 1, first, last});
    return true;
  }
  const size_t room = (size_t)n;
  SCT_OWNED view *inner = sct_alloc(sizeof *inner * room);
  SCT_OWNED view *here = sct_alloc(sizeof *here * room);
  SCT_OWNED span_mode *row = sct_alloc(sizeof *row * room);
  SCT_OWNED int64_t *ends = sct_alloc(sizeof *ends * 2 * room);
  if (!split_rows(inner, row, v, n, stride, false) && !split_rows(inner, row, v, n, stride, true)) {
    return false;
  }
  for (int k = 0; k < n; k++) {
    ends[2 * k] = row[k].stride;
    ends[2 * k + 1] = row[k].stride + row[k].count;
  }
  qsort(ends, 2 * room, sizeof *ends, compare_ends);
  for (int k = 0; k + 1 < 2 * n; k++) {
    int n_here = 0;
    for (int j = 0; j < n && ends[k] < ends[k + 1]; j++) {
      if (row[j].stride <= ends[k] && ends[k] < row[j].stride + row[j].count) {
        here[n_here++] = inner[j];
      }
    }
    if (n_here > 0 && !count_rows(out, c, here, n_here, shift, stride, ends[k], ends[k + 1])) {
      return false;
    }
  }
  return true;
}

static int compare_views(const void *a, const void *b) {
  const view *x = a, *y = b;
  return x->base != y->base ? (x->base < y->base ? -1 : 1) : x->end < y->end ? -1 : x->end > y->end;
}

static bool count_views(tally *out, counter *c, view *v, int n, int64_t shift) {
  *out = (tally){0};
  c->steps -= n;
  if (c->steps < 0) {
    return false;
  }
  qsort(v, (size_t)n, sizeof *v, compare_views);
  for (int first = 0, end = 0; first < n; first = end) {
    int64_t reached = v[first].end;
    for (end = first + 1; end < n && v[end].base < reached; end++) {
      reached = v[end].end > reached ? v[end].end : reached;
    }
    if (!count_group(out, c, v + first, end - first, shift)) {
      return false;
    }
  }
  return true;
}

/* One by one. */
static int64_t count_single(const sct_spans *s, int64_t shift, int64_t unit) {
  int64_t lo = INT64_MAX, hi = INT64_MIN, n = 0, points = 0;
  for (size_t k = 0; k < s->n; k++) {
    int64_t all = s->at[k].width / unit + 2;
    for (int m = 0; m < s->at[k].n_modes && all <= MOST_SINGLE; m++) {
      all *= s->at[k].mode[m].count <= MOST_SINGLE ? s->at[k].mode[m].count : MOST_SINGLE + 1;
    }
    points += all;
    const int64_t first = s->at[k].base + shift, end = first + sct_span_reach(&s->at[k]);
    lo = first < lo ? first : lo;
    hi = end > hi ? end : hi;
    if (points > MOST_SINGLE) {
      return -1;
    }
  }
  const int64_t from = floor_div(lo, unit), units = floor_div(hi - 1, unit) - from + 1;
  if (units > (int64_t)MOST_SINGLE * 64) {
    return -1;
  }
  SCT_OWNED uint64_t *seen = sct_alloc((size_t)(units / 64 + 1) * sizeof *seen);
  for (size_t k = 0; k < s->n; k++) {
    const span *of = &s->at[k];
    int64_t index[SPAN_MODES] = {0};
    for (bool more = true; more;) {
      int64_t at = of->base + shift;
      for (int m = 0; m < of->n_modes; m++) {
        at += index[m] * of->mode[m].stride;
      }
      for (int64_t u = floor_div(at, unit) - from; u <= floor_div(at + of->width - 1, unit) - from;
           u++) {
        n += (seen[u / 64] >> (u % 64) & 1) == 0;
        seen[u / 64] |= UINT64_C(1) << (u % 64);
      }
      more = false;
      for (int m = of->n_modes - 1; m >= 0 && !more; m--) {
        more = ++index[m] < of->mode[m].count;
        index[m] = more ? index[m] : 0;
      }
    }
  }
  return n;
}

int64_t sct_spans_units(const sct_spans *s, int64_t shift, int64_t unit) {
  if (s->n == 0) {
    return 0;
  }
  counter c = {.unit = unit, .steps = MOST_STEPS};
  tally all;
  SCT_OWNED view *v = sct_alloc(sizeof *v * s->n);
  for (size_t k = 0; k < s->n; k++) {
    v[k] = view_of(&s->at[k], 0, s->at[k].base, false);
  }
  return count_views(&all, &c, v, (int)s->n, shift) ? all.n : count_single(s, shift, unit);
}

/* ---- one byte after the other ---- */

/* From byte `at` of a span on: how many follow that are in it too; else how many that are not, as
 * -n. */
static int64_t run_of(const span *s, int64_t at) {
  int64_t off = at - s->base, gap = INT64_MAX / 2;
  if (off < 0) {
    return off;
  }
  for (int m = 0; m < s->n_modes; m++) {
    const int64_t row = off / s->mode[m].stride;
    const int64_t in = row < s->mode[m].count ? row : s->mode[m].count - 1;
    off -= in * s->mode[m].stride;
    gap = in + 1 < s->mode[m].count ? s->mode[m].stride - off : gap;
  }
  return off < s->width ? s->width - off : -gap;
}

int64_t sct_spans_within(const sct_spans *s, int64_t from, int64_t bytes) {
  int64_t n = 0;
  for (int64_t at = from; at < from + bytes;) {
    int64_t in = 0, out = from + bytes - at;
    for (size_t k = 0; k < s->n; k++) {
      const int64_t run = run_of(&s->at[k], at);
      in = run > in ? run : in;
      out = run < 0 && -run < out ? -run : out;
    }
    const int64_t left = from + bytes - at;
    const int64_t step = in > 0 ? (in < left ? in : left) : out;
    n += in > 0 ? step : 0;
    at += step;
  }
  return n;
}
