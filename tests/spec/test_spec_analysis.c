/* Contiguity, alignment and memory order: what folding derives must be what brute force finds, for
 * the built-in layouts and for random ones. */
#include "spec_test.h"

enum { N_RANDOM = 200, MAX_EXTENT = 24, TRIES = 6 };

static void open_one(const char *dims, const char *fields) {
  open_spec(dims);
  add_array("a", fields, INPUT);
  add_array("b", fields, OUTPUT);
}

static void close_one(const char *sizes) {
  bind();
  lay_out_rest();
  set_sizes(sizes);
  finish("b = a;");
}

/* ---- what brute force finds ---- */

static int64_t offset_of(const sct_operand *op, int layout, int field, const int64_t *idx,
                         const int64_t *extent) {
  sct_size size = {.extent = (int64_t *)extent};
  sct_fill fill[8] = {SCT_FILL_DEFAULT};
  size.fill = fill;
  return sct_spec_offset(&spec, (int)(op - spec.operands), layout, field, idx, &size);
}

static int64_t gcd64(int64_t a, int64_t b) {
  return b == 0 ? a : gcd64(b, a % b);
}

typedef struct found {
  bool contiguous;
  int64_t align;
} found;

/* Walks every whole group of `width` neighbours along `dim` at extents that are multiples of
 * `multiple`. */
static void look(found *f, sct_rng *rng, const sct_operand *op, int layout, int field, int dim,
                 int64_t width, int64_t multiple) {
  int64_t extent[SCT_MAX_EXTENTS];
  int64_t n = 1;
  for (int k = 0; k < spec.n_extents; k++) {
    extent[k] = (1 + sct_rng_below(rng, MAX_EXTENT / multiple + 1)) * multiple;
  }
  for (int d = 0; d < spec.n_dims; d++) {
    n *= extent[d];
  }
  const int64_t bytes = op->record.fields[field].bytes;
  for (int64_t linear = 0; linear < n; linear++) {
    int64_t idx[SCT_MAX_DIMS];
    int64_t rest = linear;
    for (int d = spec.n_dims - 1; d >= 0; d--) {
      idx[d] = rest % extent[d];
      rest /= extent[d];
    }
    if (idx[dim] % width != 0) {
      continue;
    }
    const int64_t first = offset_of(op, layout, field, idx, extent);
    f->align = gcd64(f->align, first);
    for (int64_t v = 1; v < width && idx[dim] + 1 < extent[dim]; v++) {
      idx[dim]++;
      f->contiguous =
          f->contiguous && offset_of(op, layout, field, idx, extent) == first + v * bytes;
    }
  }
}

static found brute(uint64_t seed, const sct_operand *op, int layout, int field, int dim,
                   int64_t width, int64_t multiple) {
  sct_rng rng = sct_rng_new(seed);
  found f = {true, 256};
  for (int k = 0; k < TRIES; k++) {
    look(&f, &rng, op, layout, field, dim, width, multiple);
  }
  return f;
}

/* Agreement both ways. Blocks of 3 have more alignment than folding can know (the block number and
 * the place in it are even together): there the derived one need only divide the true one. */
static void assert_agrees(const char *what, bool exact, int field, int dim, int64_t width) {
  const int layout = 0;
  const sct_operand *op = find("a");
  const sct_run run = sct_spec_run(&spec, op, layout, field, dim, width);
  const found any = brute(1, op, layout, field, dim, width, 1);
  const found multiple = brute(2, op, layout, field, dim, width, width);
  const bool aligned = exact ? run.align == any.align && run.align_if == multiple.align
                             : any.align % run.align == 0 && multiple.align % run.align_if == 0;
  if (run.contiguous != any.contiguous || run.contiguous_if != multiple.contiguous || !aligned) {
    fail_msg("%s field %d dim %d width %d: derived %d/%d align %d/%d, found %d/%d align %d/%d",
             what, field, dim, (int)width, run.contiguous, run.contiguous_if, (int)run.align,
             (int)run.align_if, any.contiguous, multiple.contiguous, (int)any.align,
             (int)multiple.align);
  }
}

/* ---- built-in layouts ---- */

static void test_built_in_layouts(void **state) {
  (void)state;
  static const struct {
    layout_kind kind;
    int64_t parameter;
    const char *what;
  } layouts[] = {{AOS, 0, "aos"},       {SOA, 0, "soa"},       {AOSOA, 8, "aosoa 8"},
                 {AOSOA, 3, "aosoa 3"}, {COL_MAJOR, 0, "col"}, {PITCHED, 64, "pitched 64"}};
  static const char *const dims[] = {"i", "i j"};
  static const char *const records[] = {"f32", "x:f32 y:f32", "x:f64 y:f64 z:f64"};
  for (int k = 0; k < SCT_COUNT(layouts); k++) {
    for (int d = 0; d < SCT_COUNT(dims); d++) {
      for (int r = 0; r < SCT_COUNT(records); r++) {
        open_one(dims[d], records[r]);
        bind();
        lay_out("a", layouts[k].kind, layouts[k].parameter);
        lay_out_rest();
        set_sizes(d == 0 ? "i=10" : "i=10 j=10");
        finish("b = a;");
        const int last = find("a")->record.n_fields - 1;
        for (int dim = 0; dim < spec.n_dims; dim++) {
          for (int64_t width = 1; width <= 4; width *= 2) {
            assert_agrees(layouts[k].what, layouts[k].parameter != 3, 0, dim, width);
            assert_agrees(layouts[k].what, layouts[k].parameter != 3, last, dim, width);
          }
        }
        close_spec();
      }
    }
  }
}

static void test_places(void **state) {
  (void)state;
  static const struct {
    const char *at, *extents;
    int64_t pad;
  } cases[] = {{"i", NULL, 0},        {"i + 1", NULL, 1},       {"i + 4", NULL, 4},
               {"3 * i", "3 * i", 0}, {"n_i - 1 - i", NULL, 0}, {"i // 2", NULL, 0},
               {"i % 4", NULL, 4},    {"i ^ 1", NULL, 1},       {"4 * (i // 4) + i % 4", NULL, 0}};
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    open_one("i", "f32");
    set_at("a", cases[k].at);
    if (cases[k].extents) {
      set_extents("a", cases[k].extents);
    }
    find("a")->pad[0] = cases[k].pad;
    close_one("i=16");
    for (int64_t width = 1; width <= 4; width *= 2) {
      const sct_operand *op = find("a");
      const sct_run run = sct_spec_run(&spec, op, 0, 0, 0, width);
      const found any = brute(3, op, 0, 0, 0, width, 1);
      if (run.contiguous != any.contiguous) {
        fail_msg("%s width %d: derived %d, found %d", cases[k].at, (int)width, run.contiguous,
                 any.contiguous);
      }
      assert_int_equal(any.align % run.align, 0);
    }
    close_spec();
  }
}

static void test_shift_alignment(void **state) {
  (void)state;
  open_one("i", "f32");
  set_at("a", "i + 2");
  find("a")->pad[0] = 2;
  close_one("i=16");
  const sct_run run = sct_spec_run(&spec, find("a"), 0, 0, 0, 4);
  assert_true(run.contiguous);
  assert_int_equal(run.align, 8);
  assert_int_equal(run.align_if, 8);
  close_spec();
}

static void test_gather_is_no_run(void **state) {
  (void)state;
  open_spec("i col");
  add_array("pick", "i32", INPUT);
  add_array("t", "f32", INPUT);
  add_array("b", "f32", OUTPUT);
  set_dims("pick", "i");
  set_dims("t", "m col");
  set_at("t", "pick; col");
  bind();
  lay_out_rest();
  set_sizes("i=8 col=4 m=8");
  finish("b = t;");
  const sct_operand *t = find("t");
  assert_false(sct_spec_run(&spec, t, 0, 0, 0, 2).contiguous);
  const sct_run row = sct_spec_run(&spec, t, 0, 0, 1, 4); /* along a row */
  assert_true(row.contiguous);
  assert_int_equal(row.align, 4);
  assert_int_equal(row.align_if, 16);
  int64_t step = 0;
  assert_int_equal(sct_spec_fastest_dim(&spec, t, 0, &step), 1);
  assert_int_equal(step, 4);
  close_spec();
}

/* Along i both the row that is picked and the place in it change. */
static void test_gather_by_the_same_dimension_is_no_run(void **state) {
  (void)state;
  open_spec("i");
  add_array("pick", "i32", INPUT);
  add_array("t", "f32", INPUT);
  add_array("b", "f32", OUTPUT);
  set_dims("t", "m i");
  set_at("t", "pick; i");
  bind();
  lay_out_rest();
  set_sizes("i=8 m=8");
  finish("b = t;");
  assert_false(sct_spec_run(&spec, find("t"), 0, 0, 0, 2).contiguous);
  assert_true(sct_spec_run(&spec, find("t"), 0, 0, 0, 1).contiguous);
  int64_t step = 0;
  assert_int_equal(sct_spec_fastest_dim(&spec, find("t"), 0, &step), -2);
  close_spec();
}

/* ---- memory order ---- */

static void assert_fastest(const char *dims, const char *at, layout_kind kind, int64_t parameter,
                           const char *sizes, int dim, int64_t step) {
  open_one(dims, "f64");
  if (at) {
    set_at("a", at);
  }
  bind();
  lay_out("a", kind, parameter);
  lay_out_rest();
  set_sizes(sizes);
  finish("b = a;");
  int64_t found_step = -1;
  assert_int_equal(sct_spec_fastest_dim(&spec, find("a"), 0, &found_step), dim);
  assert_int_equal(found_step, step);
  close_spec();
}

static void test_fastest_dim(void **state) {
  (void)state;
  assert_fastest("i", NULL, AOS, 0, "i=8", 0, 8);
  assert_fastest("i j", NULL, AOS, 0, "i=8 j=8", 1, 8);
  assert_fastest("i j", NULL, COL_MAJOR, 0, "i=8 j=8", 0, 8);
  assert_fastest("i j k", NULL, COL_MAJOR, 0, "i=8 j=8 k=8", 0, 8);
  assert_fastest("i j", NULL, AOSOA, 32, "i=8 j=8", 1, 8);
  assert_fastest("i j", "0; 0", AOS, 0, "i=8 j=8", -1, 0);
  assert_fastest("i j", "i; 0", AOS, 0, "i=8 j=100", 0, 0); /* a column: steps of a row */
  assert_fastest("i j", "i; n_j - 1 - j", AOS, 0, "i=8 j=8", 1, -8);
  assert_fastest("i", "(i * i) % n_i", AOS, 0, "i=8", -2, 0);
}

/* ---- random layouts: never claim what is not so ---- */

/* Dimensions in a random order, blocks of a random number of elements, fields reversed or not. */
static void lay_out_random(const char *name, sct_rng *rng) {
  sct_operand *op = find(name);
  sct_layout *layout = lay_out(name, AOS, 0);
  int order[SCT_MAX_DIMS];
  for (int d = 0; d < op->n_dims; d++) {
    const int at = (int)sct_rng_below(rng, d + 1);
    memmove(&order[at + 1], &order[at], sizeof *order * (size_t)(d - at));
    order[at] = d;
  }
  sct_expr_pool *pool = spec.pool;
  sct_expr n = con(0);
  for (int k = 0; k < op->n_dims; k++) {
    n = sct_expr_add(pool, sct_expr_mul(pool, n, op->extent[order[k]]), op->index[order[k]]);
  }
  const int64_t lanes = (int64_t[]){1, 2, 3, 4, 6, 8, 16, 32}[sct_rng_below(rng, 8)];
  const int64_t gap = (int64_t[]){0, 0, 8, 16, 40}[sct_rng_below(rng, 5)];
  const bool reverse = sct_rng_below(rng, 2) == 1;
  const int64_t block = lanes * op->record.bytes + gap;
  for (int f = 0; f < op->record.n_fields; f++) {
    const sct_field *field = &op->record.fields[reverse ? op->record.n_fields - 1 - f : f];
    sct_expr e = sct_expr_mul(pool, sct_expr_div(pool, n, con(lanes)), con(block));
    e = sct_expr_add(pool, e, con(lanes * field->offset));
    layout->element[f] = sct_expr_add(
        pool, e, sct_expr_mul(pool, sct_expr_mod(pool, n, con(lanes)), con(field->bytes)));
  }
  layout->bytes = sct_expr_mul(
      pool, sct_expr_div(pool, round_up_expr(count_expr(op, op->n_dims), lanes), con(lanes)),
      con(block));
}

static void test_random_layouts(void **state) {
  (void)state;
  const uint64_t seed = 20240607;
  sct_rng rng = sct_rng_new(seed);
  static const char *const dims[] = {"i", "i j", "i j k"};
  static const char *const sizes[] = {"i=64", "i=8 j=9", "i=4 j=5 k=6"};
  int exact = 0;
  int n = 0;
  for (int k = 0; k < N_RANDOM; k++) {
    const int nd = (int)sct_rng_below(&rng, 3);
    open_one(dims[nd], (const char *[]){"f32", "f64", "x:f32 y:f32 z:f32",
                                        "x:f64 y:f64"}[sct_rng_below(&rng, 4)]);
    bind();
    lay_out_random("a", &rng);
    lay_out_rest();
    set_sizes(sizes[nd]);
    finish("b = a;");
    const int dim = (int)sct_rng_below(&rng, spec.n_dims);
    const int field = (int)sct_rng_below(&rng, find("a")->record.n_fields);
    const int64_t width = (int64_t)1 << sct_rng_below(&rng, 3);
    const sct_run run = sct_spec_run(&spec, find("a"), 0, field, dim, width);
    const found any = brute(sct_rng_u64(&rng), find("a"), 0, field, dim, width, 1);
    const found multiple = brute(sct_rng_u64(&rng), find("a"), 0, field, dim, width, width);
    if ((run.contiguous && !any.contiguous) || any.align % run.align != 0 ||
        (run.contiguous_if && !multiple.contiguous) || multiple.align % run.align_if != 0) {
      fail_msg("seed %llu, layout %d: claims %d/%d align %d/%d, found %d/%d align %d/%d",
               (unsigned long long)seed, k, run.contiguous, run.contiguous_if, (int)run.align,
               (int)run.align_if, any.contiguous, multiple.contiguous, (int)any.align,
               (int)multiple.align);
    }
    exact += run.contiguous == any.contiguous && run.contiguous_if == multiple.contiguous;
    n++;
    close_spec();
  }
  print_message("seed %llu: %d of %d contiguity answers exact, none wrong\n",
                (unsigned long long)seed, exact, n);
  assert_true(exact >= n * 9 / 10);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_built_in_layouts),
      cmocka_unit_test(test_places),
      cmocka_unit_test(test_shift_alignment),
      cmocka_unit_test(test_gather_is_no_run),
      cmocka_unit_test(test_gather_by_the_same_dimension_is_no_run),
      cmocka_unit_test(test_fastest_dim),
      cmocka_unit_test(test_random_layouts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
