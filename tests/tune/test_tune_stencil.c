/* Arrays that are read at several places, against a plain host computation: every border, reaches
 * of one and of several elements on either side, extents below the reach, odd ones, and such that
 * are whole tiles. Candidates of all strategies, naive first, run as PTX with every access checked.
 */
#include "tune_picked.h"

enum { MAX_DIMS = 4, OF_STRATEGY = 3, MAX_PICKED = 1 + 2 * OF_STRATEGY };

typedef struct problem {
  const char *dims, *taps, *border, *type;
  int halo; /* the array has so many elements more on either side, in every dimension */
  int n_dims, n_taps;
  int delta[8][MAX_DIMS]; /* in order of the taps' names */
  int64_t sizes[5][MAX_DIMS];
} problem;

/* b = a + 2 * first + 3 * second + ...: every place has a weight of its own. */
static const problem problems[] = {
    {"'y', 'x'",
     "n = { -1, 0 }, s = { 1, 0 }, t = { 0, 1 }, w = { 0, -1 }",
     "clamp",
     "f32",
     0,
     2,
     4,
     {{-1, 0}, {1, 0}, {0, 1}, {0, -1}},
     {{1, 1}, {2, 1}, {5, 7}, {19, 133}, {33, 520}}},
    {"'y', 'x'",
     "n = { -1, 0 }, s = { 1, 0 }, t = { 0, 1 }, w = { 0, -1 }",
     "wrap",
     "f32",
     0,
     2,
     4,
     {{-1, 0}, {1, 0}, {0, 1}, {0, -1}},
     {{1, 1}, {1, 2}, {2, 3}, {17, 259}, {33, 384}}},
    {"'y', 'x'", /* far and lopsided */
     "n = { -3, 0 }, p = { 1, 1 }, t = { 0, 2 }, w = { 2, -2 }",
     "wrap",
     "i32",
     0,
     2,
     4,
     {{-3, 0}, {1, 1}, {0, 2}, {2, -2}},
     {{1, 1}, {2, 1}, {3, 4}, {21, 67}, {32, 256}}},
    {"'y', 'x'", /* a box, one corner missing */
     "p = { -1, -1 }, q = { -1, 0 }, r = { -1, 1 }, s = { 0, 1 }, t = { 1, -1 }, w = { 1, 1 }",
     "zero",
     "u8",
     0,
     2,
     6,
     {{-1, -1}, {-1, 0}, {-1, 1}, {0, 1}, {1, -1}, {1, 1}},
     {{1, 1}, {1, 3}, {9, 31}, {35, 160}, {16, 1024}}},
    {"'x'", "l = -2, r = 1", "zero", "f64", 0, 1, 2, {{-2}, {1}}, {{1}, {2}, {3}, {131}, {1024}}},
    {"'z', 'y', 'x'",
     "d = { 1, 0, 0 }, n = { 0, -1, 0 }, s = { 0, 1, 0 }, t = { 0, 0, 1 }, u = { -1, 0, 0 }, "
     "w = { 0, 0, -1 }",
     "zero",
     "f32",
     0,
     3,
     6,
     {{1, 0, 0}, {0, -1, 0}, {0, 1, 0}, {0, 0, 1}, {-1, 0, 0}, {0, 0, -1}},
     {{1, 1, 1}, {2, 1, 2}, {3, 5, 37}, {9, 10, 130}, {8, 8, 256}}},
    {"'z', 'y', 'x'", /* edges between planes */
     "d = { 1, 1, 0 }, n = { 0, -2, 1 }, s = { -1, 0, -1 }, t = { 0, 1, 0 }",
     "clamp",
     "f16",
     0,
     3,
     4,
     {{1, 1, 0}, {0, -2, 1}, {-1, 0, -1}, {0, 1, 0}},
     {{1, 1, 1}, {1, 2, 3}, {4, 3, 50}, {7, 9, 96}, {4, 8, 512}}},
    {"'y', 'x'", /* a halo of its own */
     "n = { -1, 0 }, s = { 2, 0 }, t = { 0, 1 }, w = { 0, -2 }",
     "none",
     "f32",
     2,
     2,
     4,
     {{-1, 0}, {2, 0}, {0, 1}, {0, -2}},
     {{1, 1}, {2, 1}, {5, 7}, {19, 133}, {33, 256}}},
    {"'batch', 'y', 'x'", /* images */
     "n = { 0, -1, 0 }, s = { 0, 1, 0 }, t = { 0, 0, 1 }, w = { 0, 0, -1 }",
     "wrap",
     "i16",
     0,
     3,
     4,
     {{0, -1, 0}, {0, 1, 0}, {0, 0, 1}, {0, 0, -1}},
     {{1, 1, 1}, {3, 2, 5}, {5, 9, 33}, {2, 17, 160}, {3, 8, 256}}},
    {"'batch', 'z', 'y', 'x'", /* volumes */
     "d = { 0, 1, 0, 0 }, n = { 0, 0, -1, 0 }, t = { 0, 0, 0, 1 }, u = { 0, -1, 0, -1 }",
     "clamp",
     "f32",
     0,
     4,
     4,
     {{0, 1, 0, 0}, {0, 0, -1, 0}, {0, 0, 0, 1}, {0, -1, 0, -1}},
     {{1, 1, 1, 1}, {2, 2, 1, 3}, {3, 5, 2, 33}, {2, 3, 9, 64}, {1, 4, 8, 128}}},
};

/* ---- the spec of a problem ---- */

static const char *spec_text(sct_arena *arena, const problem *p) {
  const char *sum = "a", *equals = p->taps;
  for (int k = 0; k < p->n_taps; k++) {
    equals = strchr(equals, '=') + 1;
    sum = sct_arena_printf(arena, "%s + %d * %c", sum, k + 2, equals[-3]);
  }
  const char *at = "", *sizes = "";
  const char *slowest = sct_arena_strndup(arena, p->dims + 1, strcspn(p->dims + 1, "'"));
  for (const char *quote = p->dims; (quote = strchr(quote, '\''));) {
    const int n = (int)strcspn(quote + 1, "'");
    at = sct_arena_printf(arena, "%s'%.*s + %d', ", at, n, quote + 1, p->halo);
    sizes = sct_arena_printf(arena, "%s%.*s = 4, ", sizes, n, quote + 1);
    quote += n + 2;
  }
  return sct_arena_printf(arena,
                          "local s = require 'sectile'\n"
                          "return s.kernel { name = 'k', dims = { %s },\n"
                          "  inputs = { s.array('a', '%s', s.row_major, { taps = { %s },\n"
                          "    border = '%s', at = { %s }, pad = %d }), s.array('f', 'i32'),\n"
                          "    s.array('g', 'i32', nil, { dims = '%s' }),\n"
                          "    s.array('h', 'i32', nil, { dims = 'x' }),\n"
                          "    s.array('m', 'i32', nil, { dims = { %s } }) },\n"
                          "  outputs = { s.array('b', 'i32') },\n"
                          "  body = 'b = f + g + h + m + (int)(%s);', sizes = { { %s } } }\n",
                          p->dims, p->type, p->taps, p->border, at, 2 * p->halo, slowest,
                          p->n_dims == 1 ? "'x'" : sct_arena_printf(arena, "'%s', 'x'", slowest),
                          sum, sizes);
}

/* ---- on the host ---- */

static int64_t value_of(int64_t linear) {
  return (linear * 7 + linear / 13) % 11; /* 0 to 10: exact in every type, sums too */
}

/* The value of a at `at`, which may lie outside. Found step by step, as one would explain it. */
static int64_t read_array(const problem *p, const int64_t *extent, const int64_t *at) {
  int64_t linear = 0, n[MAX_DIMS];
  for (int d = 0; d < p->n_dims; d++) {
    int64_t i = at[d] + p->halo;
    n[d] = extent[d] + 2 * p->halo;
    if (strcmp(p->border, "zero") == 0 && (i < 0 || i >= n[d])) {
      return 0;
    }
    while (i < 0) {
      i += strcmp(p->border, "wrap") == 0 ? n[d] : 1;
    }
    while (i >= n[d]) {
      i -= strcmp(p->border, "wrap") == 0 ? n[d] : 1;
    }
    linear = linear * n[d] + i;
  }
  return value_of(linear);
}

static int64_t expected(const problem *p, const int64_t *n, int64_t linear) {
  int64_t idx[MAX_DIMS] = {0}, rest = linear;
  for (int d = p->n_dims - 1; d >= 0; d--) {
    idx[d] = rest % n[d];
    rest /= n[d];
  }
  /* what the further arrays hold: for each element, slowest, last index, and both of them */
  const int64_t outer = p->n_dims > 1 ? idx[0] : 0, last = idx[p->n_dims - 1];
  int64_t sum = read_array(p, n, idx) - linear + 3 * idx[0] + 5 * last +
                7 * (outer * n[p->n_dims - 1] + last);
  for (int k = 0; k < p->n_taps; k++) {
    int64_t at[MAX_DIMS];
    for (int d = 0; d < p->n_dims; d++) {
      at[d] = idx[d] + p->delta[k][d];
    }
    sum += (k + 2) * read_array(p, n, at);
  }
  return sum;
}

/* ---- on the virtual device ---- */

/* An array of 0, step, 2 * step, ... */
static void add_steps(picked_run *r, const char *name, int64_t n, int step) {
  int32_t *values = sct_alloc((size_t)n * 4);
  assert_non_null(values);
  for (int64_t k = 0; k < n; k++) {
    values[k] = (int32_t)(k * step);
  }
  picked_run_add_array(r, name, values, n * 4);
  sct_free(values);
}

static void run(fixture *f, const problem *p, const picked *c, const int64_t *n) {
  int64_t count = 1, with_halo = 1;
  for (int d = 0; d < p->n_dims; d++) {
    count *= n[d];
    with_halo *= n[d] + 2 * p->halo;
  }
  void *a = sct_alloc((size_t)with_halo * 8);
  assert_non_null(a);
  for (int64_t k = 0; k < with_halo; k++) {
    picked_put(a, p->type, k, value_of(k));
  }
  const int64_t last = n[p->n_dims - 1];
  picked_run r;
  picked_run_open(&r, c, &f->spec, n);
  picked_run_add_array(&r, "a", a, with_halo * f->spec.operands[0].record.bytes);
  add_steps(&r, "f", count, -1);
  add_steps(&r, "g", n[0], 3);
  add_steps(&r, "h", last, 5);
  add_steps(&r, "m", p->n_dims > 1 ? n[0] * last : last, 7);
  const uint64_t out = picked_run_add_array(&r, "b", NULL, count * 4);
  picked_run_add_extents(&r);
  picked_run_launch(&r, sct_arena_printf(&f->arena, "border %s, %s", p->border, p->type));
  const int32_t *b = (const int32_t *)sct_ptx_memory_data(r.memory, out);
  for (int64_t k = 0; k < count; k++) {
    if (b[k] != expected(p, n, k)) {
      fail_msg("'%s', border %s, %s, extents %lld %lld %lld: element %lld is %d, not %lld",
               c->label, p->border, p->type, (long long)n[0], (long long)n[1], (long long)n[2],
               (long long)k, b[k], (long long)expected(p, n, k));
    }
  }
  picked_run_close(&r);
  sct_free(a);
}

/* ---- candidates ---- */

/* Some of every strategy that applies: the first, and others far apart. */
static int pick(fixture *f, picked *list, size_t turn) {
  int n = 0;
  for (int strategy = 0; strategy < f->space.n_strategies; strategy++) {
    const sct_strategy *s = &f->space.strategies[strategy];
    size_t own = 0, seen = 0;
    for (size_t c = 0; c < f->space.n_candidates; c++) {
      own += f->space.candidates[c].strategy == strategy;
    }
    const int want = strcmp(s->name, "direct") == 0 ? 1 : OF_STRATEGY;
    const size_t step = own / (size_t)want + 1;
    seen = strcmp(s->name, "direct") == 0 ? 0 : turn % step; /* of each problem others */
    for (size_t c = 0; c < f->space.n_candidates && n < MAX_PICKED; c++) {
      if (f->space.candidates[c].strategy != strategy || seen++ % step != 0) {
        continue;
      }
      const bool made = picked_make(&list[n], f, c);
      n += made;
      seen -= !made; /* the next one instead */
    }
  }
  return n;
}

static void as_on_the_host(void **state) {
  const problem *p = *state;
  fixture f;
  picked list[MAX_PICKED] = {{0}};
  sct_arena arena = {0};
  int runs = 0;
  fixture_open_text(&f, spec_text(&arena, p));
  const int n = pick(&f, list, (size_t)(7 * (p - problems)));
  picked_compile(list, n);
  assert_true(n >= 2);
  assert_memory_equal(list[0].label, "direct", 6);
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
  fixture_close(&f);
  sct_arena_free(&arena);
}

/* What does not know taps leaves kernels with taps alone, and says why. */
static void others_do_not_apply(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f, "stencil2d_f32");
  int refused = 0;
  for (int k = 0; k < f.space.n_strategies; k++) {
    const sct_strategy *s = &f.space.strategies[k];
    if (!s->applies && strstr(s->why_not, "no taps")) {
      refused++;
    }
    assert_false(s->applies && strcmp(s->name, "map") == 0);
  }
  /* accumulate, box, box_words, exchange, ragged, reduce, scan, windows */
  assert_int_equal(refused, 8);
  fixture_close(&f);
}

/* ---- all of them ---- */

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], SCT_COMPILE_WORKER_ARG) == 0) {
    return sct_compile_worker_main(argc, argv);
  }
  struct CMUnitTest tests[SCT_COUNT(problems) + 1];
  for (int k = 0; k < SCT_COUNT(problems); k++) {
    tests[k] = (struct CMUnitTest){.name = problems[k].taps,
                                   .test_func = as_on_the_host,
                                   .initial_state = (void *)&problems[k]};
  }
  tests[SCT_COUNT(problems)] = (struct CMUnitTest)cmocka_unit_test(others_do_not_apply);
  return _cmocka_run_group_tests("stencils", tests, SCT_COUNT(tests), picked_setup,
                                 picked_teardown);
}
