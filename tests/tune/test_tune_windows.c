/* Windows against a plain host computation: one to three dimensions, strides, paddings, dilations
 * and borders of every kind, inputs longer and shorter than what windows reach, odd and even sizes,
 * last dimensions with and without windows. Candidates of all strategies, naive first, run as PTX
 * with every access checked. */
#include "tune_picked.h"

#include <math.h>

enum { MAX_DIMS = 5, OF_STRATEGY = 2, MAX_PICKED = 1 + 2 * OF_STRATEGY };

/* By dimension of the array, slowest first; those without a window have count 0. */
typedef struct problem {
  const char *name, *how, *border, *type;
  double outside; /* of a border that is a number */
  int n_dims;
  int count[MAX_DIMS], stride[MAX_DIMS], padding[MAX_DIMS], dilation[MAX_DIMS];
  int64_t sizes[4][2 * MAX_DIMS]; /* extents of the kernel, then of the array */
} problem;

#define LEFT_OUT "skip" /* the default */

static const problem problems[] = {
    {"average 8, output longer than input",
     "mean",
     LEFT_OUT,
     "f32",
     0,
     2,
     {0, 8},
     {1, 1},
     {0, 4},
     {1, 1},
     {{1, 1, 1, 1}, {1, 6, 1, 5}, {3, 130, 3, 129}, {2, 517, 2, 516}}},
    {"average 11 x 11 that do not overlap",
     "mean inside",
     LEFT_OUT,
     "f32",
     0,
     3,
     {0, 11, 11},
     {1, 11, 11},
     {0, 0, 0},
     {1, 1, 1},
     {{1, 1, 1, 1, 5, 9}, {2, 3, 5, 2, 33, 60}, {1, 2, 34, 1, 24, 380}, {1, 5, 3, 1, 50, 30}}},
    {"maximum, stride 2, dilation 3, three dimensions",
     "max",
     LEFT_OUT,
     "f32",
     0,
     4,
     {0, 3, 3, 3},
     {1, 2, 2, 2},
     {0, 1, 1, 1},
     {1, 3, 3, 3},
     {{1, 1, 1, 1, 1, 6, 6, 6},
      {2, 2, 3, 4, 2, 5, 7, 9},
      {1, 5, 3, 35, 1, 12, 8, 74},
      {1, 1, 9, 20, 1, 4, 40, 40}}},
    {"maximum 3 x 3, stride 2, of halves",
     "max",
     LEFT_OUT,
     "f16",
     0,
     3,
     {0, 3, 3},
     {1, 2, 2},
     {0, 1, 1},
     {1, 1, 1},
     {{1, 1, 1, 1, 1, 1}, {2, 5, 33, 2, 9, 65}, {1, 7, 66, 1, 13, 131}, {2, 3, 64, 2, 6, 128}}},
    {"minimum of bytes, a number outside",
     "min",
     "7",
     "u8",
     7,
     2,
     {3, 5},
     {1, 1},
     {1, 2},
     {1, 1},
     {{1, 1, 1, 1}, {5, 7, 4, 8}, {19, 133, 19, 133}, {33, 260, 30, 264}}},
    {"sum of bytes, mirrored",
     "sum",
     "reflect",
     "u8",
     0,
     2,
     {3, 4},
     {2, 3},
     {1, 3},
     {2, 1},
     {{1, 1, 1, 1}, {3, 5, 2, 2}, {9, 40, 18, 120}, {5, 130, 4, 390}}},
    {"sum, mirrored far, neighbours",
     "sum",
     "reflect",
     "i32",
     0,
     1,
     {5},
     {1},
     {2},
     {1},
     {{1, 1}, {4, 2}, {300, 300}, {1030, 1024}}},
    {"sum, nearest, stride 3",
     "sum",
     "clamp",
     "i16",
     0,
     2,
     {2, 2},
     {3, 3},
     {2, 1},
     {2, 4},
     {{1, 1, 1, 1}, {4, 9, 3, 5}, {11, 70, 33, 211}, {6, 65, 20, 190}}},
    {"sum, all around",
     "sum",
     "wrap",
     "f64",
     0,
     2,
     {3, 3},
     {1, 1},
     {1, 1},
     {1, 1},
     {{1, 1, 1, 1}, {2, 3, 2, 3}, {17, 67, 17, 67}, {9, 128, 9, 128}}},
    {"sum, nothing outside, channels last",
     "sum",
     "zero",
     "f32",
     0,
     4,
     {0, 3, 2, 0},
     {1, 2, 2, 1},
     {0, 1, 0, 0},
     {1, 1, 1, 1},
     {{1, 1, 1, 1, 1, 2, 2, 1},
      {2, 3, 4, 5, 2, 6, 8, 5},
      {1, 6, 3, 64, 1, 11, 7, 64},
      {1, 2, 5, 33, 1, 4, 10, 33}}},
    {"maximum of signed bytes, channels last, all left out",
     "max",
     LEFT_OUT,
     "i8",
     0,
     3,
     {2, 2, 0},
     {4, 4, 1},
     {3, 3, 0},
     {1, 1, 1},
     {{1, 1, 1, 1, 1, 1}, {3, 2, 16, 7, 3, 16}, {5, 4, 37, 12, 13, 37}, {2, 3, 64, 4, 9, 64}}},
    {"every other element, windows of one",
     "sum",
     LEFT_OUT,
     "f32",
     0,
     2,
     {1, 1},
     {2, 3},
     {0, 0},
     {1, 1},
     {{1, 1, 1, 1}, {5, 7, 9, 20}, {9, 65, 18, 200}, {3, 64, 6, 190}}},
};

/* ---- the spec of a problem ---- */

static const char *list_text(sct_arena *arena, const problem *p, const int *of) {
  const char *text = "{ ";
  for (int d = 0; d < p->n_dims; d++) {
    if (p->count[d] > 0) {
      text = sct_arena_printf(arena, "%sd%d = %d, ", text, d, of[d]);
    }
  }
  return sct_arena_printf(arena, "%s}", text);
}

static const char *spec_text(sct_arena *arena, const problem *p) {
  const char *dims = "", *own = "", *at = "", *sizes = "";
  for (int d = 0; d < p->n_dims; d++) {
    dims = sct_arena_printf(arena, "%s'd%d', ", dims, d);
    own = sct_arena_printf(arena, "%s'e%d', ", own, d);
    at = sct_arena_printf(arena, "%s'%d * d%d', ", at, p->stride[d], d);
    sizes = sct_arena_printf(arena, "%sd%d = 1, e%d = 6, ", sizes, d, d);
  }
  const bool inside = strcmp(p->how, "mean inside") == 0;
  const bool number = p->border[0] >= '0' && p->border[0] <= '9';
  return sct_arena_printf(
      arena,
      "local s = require 'sectile'\n"
      "return s.kernel { name = 'k', dims = { %s},\n"
      "  inputs = { s.array('a', '%s', s.row_major, { dims = { %s}, window = %s, stride = %s,\n"
      "    padding = %s, dilation = %s, reduce = '%.4s', border = %s%s%s%s }) },\n"
      "  outputs = { s.array('b', '%s') }, body = 'b = a;', sizes = { { %s } } }\n",
      dims, p->type, own, list_text(arena, p, p->count), list_text(arena, p, p->stride),
      list_text(arena, p, p->padding), list_text(arena, p, p->dilation), p->how, number ? "" : "'",
      p->border, number ? "" : "'", inside ? ", count_include_pad = false" : "",
      strcmp(p->type, "f64") == 0 ? "f64" : "f32", sizes);
}

/* ---- on the host ---- */

static int64_t value_of(int64_t linear) {
  return (linear * 7 + linear / 13) % 11; /* 0 to 10: exact in every type, sums too */
}

/* The index that is read for `i`; -1: it is outside. Found step by step. */
static int64_t bordered(const problem *p, int64_t i, int64_t n) {
  while (i < 0 || i >= n) {
    i = strcmp(p->border, "clamp") == 0     ? (i < 0 ? i + 1 : i - 1)
        : strcmp(p->border, "wrap") == 0    ? (i < 0 ? i + n : i - n)
        : strcmp(p->border, "reflect") != 0 ? -1
        : n == 1                            ? 0
        : i < 0                             ? -i
                                            : 2 * (n - 1) - i;
    if (i == -1 && strcmp(p->border, "clamp") != 0 && strcmp(p->border, "wrap") != 0 &&
        strcmp(p->border, "reflect") != 0) {
      return -1;
    }
  }
  return i;
}

static double expected(const problem *p, const int64_t *n, int64_t linear) {
  const int64_t *extent = n + p->n_dims;
  int64_t idx[MAX_DIMS], elements = 1;
  for (int d = p->n_dims - 1; d >= 0; d--) {
    idx[d] = linear % n[d];
    linear /= n[d];
    elements *= p->count[d] > 0 ? p->count[d] : 1;
  }
  const bool is_max = strcmp(p->how, "max") == 0, is_min = strcmp(p->how, "min") == 0;
  const double least = strcmp(p->type, "i8") == 0 ? -128 : -HUGE_VAL;
  double found = is_max ? least : is_min ? 255 : 0, some = 0;
  for (int64_t e = 0; e < elements; e++) {
    int64_t rest = e, at[MAX_DIMS], place = 0;
    bool inside = true;
    for (int d = p->n_dims - 1; d >= 0; d--) {
      const int64_t count = p->count[d] > 0 ? p->count[d] : 1;
      at[d] = bordered(p, idx[d] * p->stride[d] - p->padding[d] + rest % count * p->dilation[d],
                       extent[d]);
      inside = inside && at[d] >= 0;
      rest /= count;
    }
    for (int d = 0; d < p->n_dims; d++) {
      place = place * extent[d] + at[d];
    }
    if (!inside && strcmp(p->border, LEFT_OUT) == 0) {
      continue;
    }
    const double value = inside ? (double)value_of(place) : p->outside;
    found = is_max ? fmax(found, value) : is_min ? fmin(found, value) : found + value;
    some++;
  }
  return strcmp(p->how, "mean") == 0          ? (double)((float)found / (float)elements)
         : strcmp(p->how, "mean inside") == 0 ? (double)((float)found / (float)some)
                                              : found;
}

/* ---- on the virtual device ---- */

static void run(fixture *f, const problem *p, const picked *c, const int64_t *n) {
  int64_t count = 1, elements = 1, extents[2 * MAX_DIMS];
  for (int d = 0; d < p->n_dims; d++) {
    count *= n[d];
    elements *= n[p->n_dims + d];
  }
  memcpy(extents, n, sizeof *n * (size_t)(2 * p->n_dims));
  void *a = sct_alloc((size_t)elements * 8);
  assert_non_null(a);
  for (int64_t k = 0; k < elements; k++) {
    picked_put(a, p->type, k, value_of(k));
  }
  const int64_t bytes = f->spec.operands[1].record.bytes;
  picked_run r;
  picked_run_open(&r, c, &f->spec, extents);
  picked_run_add_array(&r, "a", a, elements * f->spec.operands[0].record.bytes);
  const uint64_t out = picked_run_add_array(&r, "b", NULL, count * bytes);
  picked_run_add_extents(&r);
  picked_run_launch(&r, p->name);
  const void *b = sct_ptx_memory_data(r.memory, out);
  for (int64_t k = 0; k < count; k++) {
    const double want = expected(p, n, k);
    const double got = bytes == 8 ? ((const double *)b)[k] : (double)((const float *)b)[k];
    if (got != want && !(isnan(got) && isnan(want))) {
      fail_msg("%s, '%s', size %lld %lld %lld: element %lld is %g, not %g", p->name, c->label,
               (long long)n[0], (long long)n[1], (long long)n[2], (long long)k, got, want);
    }
  }
  picked_run_close(&r);
  sct_free(a);
}

/* Some of every strategy that applies. */
static void as_on_the_host(void **state) {
  const problem *p = *state;
  fixture f;
  picked list[MAX_PICKED] = {{0}};
  sct_arena arena = {0};
  int runs = 0, n = 0;
  fixture_open_text(&f, spec_text(&arena, p));
  for (int s = 0; s < f.space.n_strategies; s++) {
    const int64_t most = strcmp(f.space.strategies[s].name, "direct") == 0 ? 1 : OF_STRATEGY;
    n = picked_draw(list, n, &f, s, most, PICKED_SEED + (uint64_t)(p - problems));
  }
  picked_compile(list, n);
  assert_memory_equal(list[0].label, "direct", 6);
  assert_true(n == MAX_PICKED); /* the naive variant, some of map and of stencil */
  for (int k = 0; k < n; k++) {
    for (int s = 0; s < SCT_COUNT(p->sizes); s++) {
      const sct_size size = {.extent = (int64_t *)p->sizes[s]};
      if (sct_codegen_fits(&f.spec, &list[k].code, &size)) {
        run(&f, p, &list[k], p->sizes[s]);
        runs++;
      }
    }
  }
  picked_free(list, n);
  print_message("%d candidates, %d runs\n", n, runs);
  assert_true(runs >= 4 * SCT_COUNT(p->sizes));
  fixture_close(&f);
  sct_arena_free(&arena);
}

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], SCT_COMPILE_WORKER_ARG) == 0) {
    return sct_compile_worker_main(argc, argv);
  }
  struct CMUnitTest tests[SCT_COUNT(problems)];
  for (int k = 0; k < SCT_COUNT(problems); k++) {
    tests[k] = (struct CMUnitTest){.name = problems[k].name,
                                   .test_func = as_on_the_host,
                                   .initial_state = (void *)&problems[k]};
  }
  return _cmocka_run_group_tests("windows", tests, SCT_COUNT(tests), picked_setup, picked_teardown);
}
