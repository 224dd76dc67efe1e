/* Large arrays with few elements: on the host and on a described device only what lies around these
 * takes memory, and whatever a kernel does elsewhere is found all the same. */
#include "measure_described.h"

#include "measure/measure_session.h"

/* A row of 64 a thread; rows of b, and of what reads b's layout, start 2^22 floats apart. */
static const char *const cuda_text =
    "#define KERNEL(name) extern \"C\" __global__ void __launch_bounds__(64) \\\n"
    "  name(const float *a, float *b, long long n, long long m)\n"
    "#define ROW const long long i = blockIdx.x * 64LL + threadIdx.x; if (i >= n) return;\n"
    "#define FAR (1LL << 22)\n"
    "#define COPY(x) for (long long k = 0; k < m; k++) b[i * FAR + k] = x;\n"
    "KERNEL(right) { ROW COPY(a[i * m + k]) }\n"
    "KERNEL(twice) { ROW COPY(a[i * m + k] + a[i * m + k]) }\n"
    "KERNEL(wrong) { ROW COPY(i == 3 && k == 2 ? 0 : a[i * m + k]) }\n"
    "KERNEL(unwritten) { ROW for (long long k = 0; k < m; k++) if (i < 2 || k + 1 < m) b[i * FAR + "
    "k] = a[i * m + k]; }\n"
    "KERNEL(nearer) { ROW for (long long k = 0; k < m; k++) b[i * (FAR - 64) + k] = a[i * m + k]; "
    "}\n"
    "KERNEL(strays) { ROW COPY(a[i * m + k]) if (i == 1) b[FAR + FAR / 2] = 0; }\n"
    "KERNEL(adds) { ROW COPY(a[i * m + k] + a[i * m + k]) if (i == 1) b[FAR + FAR / 2] = 0; }\n"
    "KERNEL(beside) { ROW COPY(a[i * m + k]) if (i == 1) b[FAR + m] = 0; }\n"
    "KERNEL(past) { ROW COPY(a[i * m + k]) if (i == n - 1) b[n * FAR] = 0; }\n"
    "KERNEL(undefined) { ROW __shared__ volatile float s[1]; float v = s[0];\n"
    "  COPY(i == 2 && k == 1 ? v : a[i * m + k]) }\n";

static const fixture_array arrays[] = {{.name = "a", .types = "f32"},
                                       {.name = "b", .types = "f32", .layout = FIXTURE_FAR}};

typedef struct world {
  sct_spec spec;
  sct_measure *m;
  sct_kernel_code code, other;
} world;

/* As padded columns are: rows in fours. */
static void open_world(world *w, const char *body, const char *naive) {
  const sct_measure_opts opts = {.seed = 11, .described = &described};
  const int64_t extents[] = {100, 100};
  *w = (world){.code = {.threads = 64}};
  fixture_spec(&w->spec, "row col", arrays, 1, 2, NULL, body, extents);
  sct_expr_pool *p = w->spec.pool;
  const sct_expr rows = w->spec.extent_var[0];
  w->code.grid =
      sct_expr_div(p, sct_expr_add(p, rows, sct_expr_const(p, 63)), sct_expr_const(p, 64));
  w->other = w->code;
  w->other.require = SCT_ARENA_NEW(&w->spec.arena, sct_expr, 1);
  w->other.n_require = 1;
  w->other.require[0] = sct_expr_binary(p, SCT_EXPR_EQ, sct_expr_mod(p, rows, sct_expr_const(p, 4)),
                                        sct_expr_const(p, 0));
  const sct_binary first = {.code = &w->code, .entry = naive, .ptx = ptx};
  assert_ok(sct_measure_open(&w->m, 0, &opts, &fixture_err));
  assert_ok(sct_measure_problem(w->m, &w->spec, first_layout, &first, &fixture_err));
}

static void close_world(world *w) {
  sct_measure_close(w->m);
  sct_spec_free(&w->spec);
}

/* What a kernel does is found where rows are far apart, in little memory. */
static void test_sparse_outputs_are_verified(void **state) {
  (void)state;
  static const struct {
    const char *kernel;
    sct_outcome_kind outcome;
    const char *says;
  } cases[] = {
      {"right", SCT_OUT_OK, ""},
      {"wrong", SCT_OUT_WRONG_RESULT, "row=3 col=2"},
      {"unwritten", SCT_OUT_NOT_WRITTEN, "not written"},
      {"nearer", SCT_OUT_NOT_WRITTEN, "row=1 col=0"},
      {"strays", SCT_OUT_OUT_OF_BOUNDS, "4 bytes of b, far from any of its elements"},
      {"beside", SCT_OUT_OUT_OF_BOUNDS, "between its elements"},
      {"past", SCT_OUT_OUT_OF_BOUNDS, "of 'b', which has"},
      {"undefined", SCT_OUT_UNINITIALISED, "of 'b'"},
      {"right", SCT_OUT_OK, ""},
  };
  world w;
  open_world(&w, "b = a;", "right");
  int64_t most = 0;
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    const sct_verdict v = described_verify(w.m, &w.other, cases[k].kernel);
    described_expect(v, cases[k].kernel, cases[k].outcome, cases[k].says);
  }
  for (size_t k = 0; k < w.m->cases.n; k++) {
    const sct_case *c = w.m->cases.all[k];
    most = c->legal && c->shape.op[1].bytes > most ? c->shape.op[1].bytes : most;
  }
  assert_true(most >= (int64_t)8 * FIXTURE_FAR_APART * 4);
  close_world(&w);
}

/* The naive variant of a body that computes is its own reference: what it does elsewhere shows. */
static void test_a_naive_variant_is_held_to_its_elements(void **state) {
  (void)state;
  world w;
  open_world(&w, "b = a + a;", "twice");
  described_expect(described_verify(w.m, &w.other, "twice"), "twice", SCT_OUT_OK, "");
  described_expect(described_verify(w.m, &w.other, "adds"), "adds", SCT_OUT_OUT_OF_BOUNDS, "far");
  close_world(&w);
  sct_verdict v;
  open_world(&w, "b = a + a;", "adds");
  const sct_binary naive = {.code = &w.code, .entry = "adds", .ptx = ptx};
  assert_ok(sct_measure_verify(w.m, &naive, &v, &fixture_err));
  described_expect(v, "adds", SCT_OUT_OUT_OF_BOUNDS, "far");
  close_world(&w);
}

/* Images of such arrays are those of a dense array at its elements. */
static void test_images_hold_what_lies_around_elements(void **state) {
  (void)state;
  world w;
  sct_case *c = NULL;
  const int64_t dims[] = {33, 65};
  open_world(&w, "b = a;", "right");
  sct_case_get(w.m, dims, &c);
  assert_true(c->legal && !sct_shape_is_sparse(&c->shape, 0) && sct_shape_is_sparse(&c->shape, 1));
  assert_int_equal(c->shape.op[1].n_spans, 33);
  sct_shape_index(&c->shape);
  assert_ok(sct_case_images(w.m, c, &fixture_err));
  for (int64_t row = 0; row < 33; row++) {
    const int64_t at = row * FIXTURE_FAR_APART * 4;
    assert_memory_equal(c->image[1] + at, c->image[0] + row * 65 * 4, 65 * 4);
    assert_int_equal(c->image[1][at + 65 * 4], c->poison);
    assert_int_equal(c->shape.op[1].spans[row].from, at);
    assert_int_equal(c->shape.op[1].spans[row].to, at + 4096);
  }
  close_world(&w);
}

int main(int argc, char **argv) {
  FIXTURE_WORKER(argc, argv);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_sparse_outputs_are_verified),
      cmocka_unit_test(test_a_naive_variant_is_held_to_its_elements),
      cmocka_unit_test(test_images_hold_what_lies_around_elements),
  };
  return described_run(cuda_text, "sparse.cu", tests, SCT_COUNT(tests));
}
