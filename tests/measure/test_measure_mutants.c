/* Kernels that access nothing wrongly and still give wrong values: the comparison with the naive
 * variant must find each, at the right field. Mistakes of access are in tests/ptx/mutants.cu. */
#include "measure_described.h"

/* Records of three floats, b = a, 64 threads a block, one record each. */
static const char *const cuda_text =
    "#define KERNEL(name) extern \"C\" __global__ void __launch_bounds__(64) \\\n"
    "  name(const float *a, float *b, long long n)\n"
    "#define I const int t = threadIdx.x; const long long i = blockIdx.x * 64LL + t; (void)t;\n"
    "#define PUT(x, y, z) if (i < n) { b[3 * i] = x; b[3 * i + 1] = y; b[3 * i + 2] = z; }\n"
    "#define A(i, f) a[3 * (i) + f]\n"
    "#define IN(f) (i < n ? A(i, f) : 0.0f)\n"
    "KERNEL(right) { I PUT(A(i, 0), A(i, 1), A(i, 2)) }\n"
    "KERNEL(right_staged) { I __shared__ float s[192];\n"
    "  for (int k = t; k < 192; k += 64) {\n"
    "    const long long at = blockIdx.x * 192LL + k; s[k] = at < 3 * n ? a[at] : 0.0f; }\n"
    "  __syncthreads(); PUT(s[3 * t], s[3 * t + 1], s[3 * t + 2]) }\n"
    "KERNEL(swapped_fields) { I PUT(A(i, 0), A(i, 2), A(i, 1)) }\n"
    "KERNEL(rotated_fields) { I PUT(A(i, 1), A(i, 2), A(i, 0)) }\n"
    "KERNEL(one_field_twice) { I PUT(A(i, 0), A(i, 0), A(i, 2)) }\n"
    "KERNEL(wrong_lane) { I const float v = __shfl_xor_sync(~0u, IN(2), 1);\n"
    "  PUT(A(i, 0), A(i, 1), v) }\n"
    "KERNEL(lost_at_the_edge_of_a_warp) { I float v = IN(0);\n"
    "  v = __shfl_down_sync(~0u, v, 1); v = __shfl_up_sync(~0u, v, 1);\n"
    "  PUT(t % 32 == 0 ? A(i, 0) : v, A(i, 1), A(i, 2))\n"
    "  if (i < n && t % 32 == 31) b[3 * i] = v == A(i, 0) ? v + 1 : v; }\n"
    "KERNEL(wrong_stride) { I PUT(A(2 * i % n, 0), A(i, 1), A(i, 2)) }\n"
    "KERNEL(transposed_twice) { I __shared__ float s[64]; s[t / 8 + t % 8 * 8] = IN(1);\n"
    "  __syncthreads(); PUT(A(i, 0), s[t], A(i, 2)) }\n"
    "KERNEL(added_twice) { I PUT(A(i, 0), A(i, 1), A(i, 2)) if (i < n) b[3 * i + 1] += A(i, 1); }\n"
    "KERNEL(last_one_repeated) { I const long long j = i < n - 1 || n < 2 ? i : n - 2;\n"
    "  PUT(A(j, 0), A(j, 1), A(j, 2)) }\n"
    "KERNEL(first_tile_again) { I PUT(A(t, 0), A(t, 1), A(t, 2)) }\n"
    "KERNEL(index_of_a_byte) { I const int j = (unsigned char)i; PUT(A(j, 0), A(j, 1), A(j, 2)) }\n"
    "KERNEL(not_a_number) { I const float q = A(i, 0) - A(i, 0); PUT(A(i, 0), A(i, 1), q / q) }\n"
    "KERNEL(rounded) { I float v = IN(2); unsigned short h;\n"
    "  asm(\"cvt.rn.bf16.f32 %0, %1;\" : \"=h\"(h) : \"f\"(v));\n"
    "  asm(\"cvt.f32.bf16 %0, %1;\" : \"=f\"(v) : \"h\"(h)); PUT(A(i, 0), A(i, 1), v == v ? v : "
    "A(i, 2)) }\n"
    "KERNEL(last_bit_lost) { I PUT(A(i, 0), __int_as_float(__float_as_int(A(i, 1)) &\n"
    "  (A(i, 1) == A(i, 1) ? ~1 : ~0)), A(i, 2)) }\n"
    "KERNEL(stale_sum) { I __shared__ float s; if (t == 0) s = 0; __syncthreads();\n"
    "  if (t == 0 && i < n) s = A(i, 0) - A(i, 0) + 1; __syncthreads();\n"
    "  PUT(A(i, 0), A(i, 1), A(i, 2) + s) }\n"
    "KERNEL(reversed_block) { I const long long j = blockIdx.x * 64LL + 63 - t;\n"
    "  PUT(j < n ? A(j, 0) : A(i, 0), A(i, 1), A(i, 2)) }\n"
    "KERNEL(absolute) { I PUT(fabsf(A(i, 0)), A(i, 1), A(i, 2)) }\n"
    "KERNEL(zero_without_sign) { I PUT(A(i, 0), A(i, 1) == 0 ? 0 : A(i, 1), A(i, 2)) }\n"
    "KERNEL(flushed) { I const float v = IN(2);\n"
    "  PUT(A(i, 0), A(i, 1), fabsf(v) < 1.1754944e-38f ? copysignf(0, v) : v) }\n"
    "KERNEL(one_nan_for_all) { I const float v = IN(1);\n"
    "  PUT(A(i, 0), v != v ? __int_as_float(0x7fffffff) : v, A(i, 2)) }\n"
    "KERNEL(never_infinite) { I const float v = IN(0), most = 3.4028235e38f;\n"
    "  PUT(v > most ? most : v < -most ? -most : v, A(i, 1), A(i, 2)) }\n"
    "#define ROOTS(name, x, of) KERNEL(name) { I \\\n"
    "  for (int f = 0; i < n && f < 3; f++) { \\\n"
    "    const float x = sqrtf(A(i, f)); b[3 * i + f] = of; } }\n"
    "ROOTS(roots, v, v)\n"
    "ROOTS(roots_with_another_nan, v, v != v ? __int_as_float(0xffc00001) : v)\n"
    "ROOTS(roots_without_nan, v, v != v ? 0 : v)\n"
    "ROOTS(roots_nan_for_zero, v, v == 0 ? __int_as_float(0x7fffffff) : v)\n"
    "ROOTS(roots_of_absolutes, v, v != v ? sqrtf(-A(i, f)) : v)\n"
    "KERNEL(by_pairs) { I for (long long w = 2 * i; w < 3 * n; w += 128LL * gridDim.x) {\n"
    "  if (w + 1 < 3 * n) *(float2 *)(b + w) = *(const float2 *)(a + w);\n"
    "  else b[w] = a[w]; } }\n"
    "KERNEL(half_a_field) { I PUT(A(i, 0), A(i, 1), A(i, 2))\n"
    "  if (i < n) ((unsigned short *)b)[6 * i + 5] = 0; }\n";

/* Behind the others: curves, and where b is updated in place, or kept. */
static const char *const more_text =
    "#define CURVES(name, of) KERNEL(name) { I \\\n"
    "  for (int f = 0; i < n && f < 3; f++) { \\\n"
    "    const float x = A(i, f), e = expf(x), d = expf(-x); (void)e; (void)d; \\\n"
    "    b[3 * i + f] = of; } }\n"
    "CURVES(curves, 1 / (1 + d))\n"
    "CURVES(curves_of_fast_parts, __fdividef(1.0f, 1 + __expf(-x)))\n"
    "CURVES(curves_that_overflow, e / (1 + e))\n"
    "CURVES(curves_without_nan, x != x ? 0 : 1 / (1 + d))\n"
    "CURVES(curves_up_to_50, x > 50 ? 0 : 1 / (1 + d))\n"
    "CURVES(curves_from_a_millionth, fabsf(x) < 1e-6f ? 0 : 1 / (1 + d))\n"
    "#define B(i, f) b[3 * (i) + f]\n"
    "KERNEL(add) { I PUT(B(i, 0) + A(i, 0), B(i, 1), B(i, 2)) }\n"
    "KERNEL(add_one_field) { I if (i < n) b[3 * i] += A(i, 0); }\n"
    "KERNEL(add_by_neighbours) { I __shared__ float s[64]; const long long j = i ^ 1;\n"
    "  s[t ^ 1] = j < n ? B(j, 0) : 0.0f; __syncthreads();\n"
    "  if (i < n) b[3 * i] = s[t] + A(i, 0); }\n"
    "KERNEL(add_stored_before_neighbours_load) { I __shared__ float s[64];\n"
    "  const long long j = i ^ 1; if (i < n && t % 2) b[3 * i] += A(i, 0);\n"
    "  __syncthreads(); s[t ^ 1] = j < n ? B(j, 0) : 0.0f; __syncthreads();\n"
    "  if (i < n) b[3 * i] = s[t] + A(i, 0); }\n"
    "KERNEL(add_twice) { I if (i < n) { b[3 * i] += A(i, 0); b[3 * i] += A(i, 0); } }\n"
    "KERNEL(add_forgets_what_was) { I if (i < n) b[3 * i] = A(i, 0); }\n"
    "KERNEL(add_to_the_next) { I if (i < n) b[3 * i + 1] += A(i, 0); }\n"
    "KERNEL(add_nothing) { (void)a; (void)b; (void)n; }\n"
    "#define SMALL (i < n && A(i, 0) < 1.5f)\n"
    "KERNEL(keep) { I if (SMALL) { PUT(A(i, 0), A(i, 1), A(i, 2)) } }\n"
    "KERNEL(keep_rewrites) { I PUT(SMALL ? A(i, 0) : B(i, 0), SMALL ? A(i, 1) : B(i, 1),\n"
    "  SMALL ? A(i, 2) : B(i, 2)) }\n"
    "KERNEL(keep_writes) { I PUT(A(i, 0), A(i, 1), A(i, 2)) }\n"
    "KERNEL(keep_writes_zero) { I PUT(SMALL ? A(i, 0) : 0, SMALL ? A(i, 1) : B(i, 1),\n"
    "  SMALL ? A(i, 2) : B(i, 2)) }\n"
    "KERNEL(keep_too_much) { I if (SMALL && t != 40) { PUT(A(i, 0), A(i, 1), A(i, 2)) } }\n"
    "KERNEL(keep_a_field) { I if (SMALL) { b[3 * i] = A(i, 0); b[3 * i + 2] = A(i, 2); } }\n";

typedef struct world {
  sct_spec spec;
  sct_measure *m;
  fixture_kernel kernel;
} world;

static void open_world_of(world *w, const char *body, const char *naive, double tolerance,
                          bool inout) {
  const fixture_array arrays[] = {{.name = "a", .types = "f32 f32 f32"},
                                  {.name = "b", .types = "f32 f32 f32", .inout = inout}};
  static const int64_t thousand[] = {1000};
  const sct_measure_opts opts = {.seed = 5, .described = &described};
  memset(w, 0, sizeof *w);
  fixture_spec(&w->spec, "i", arrays, 1, 2, NULL, body, thousand);
  w->spec.tolerance = tolerance;
  w->spec.tolerance_given = tolerance > 0;
  fixture_kernel_init(&w->kernel, &w->spec, 0, 64);
  w->kernel.binary = (sct_binary){.code = &w->kernel.code, .entry = naive, .ptx = ptx};
  assert_ok(sct_measure_open(&w->m, 0, &opts, &fixture_err));
  assert_ok(sct_measure_problem(w->m, &w->spec, first_layout, &w->kernel.binary, &fixture_err));
}

static void open_world(world *w, const char *body, const char *naive, double tolerance) {
  open_world_of(w, body, naive, tolerance, false);
}

static void close_world(world *w) {
  sct_measure_close(w->m);
  sct_spec_free(&w->spec);
}

static sct_verdict verify(world *w, const char *entry) {
  return described_verify(w->m, &w->kernel.code, entry);
}

static const struct {
  const char *kernel, *field;
  bool is_near; /* within any tolerance */
} mutants[] = {
    {"swapped_fields", "b.x1", false},
    {"rotated_fields", "b.x0", false},
    {"one_field_twice", "b.x1", false},
    {"wrong_lane", "b.x2", false},
    {"lost_at_the_edge_of_a_warp", "b.x0", false},
    {"wrong_stride", "b.x0", false},
    {"transposed_twice", "b.x1", false},
    {"added_twice", "b.x1", false},
    {"last_one_repeated", "b.x0", false},
    {"first_tile_again", "b.x0", false},
    {"index_of_a_byte", "b.x0", false},
    {"not_a_number", "b.x2", false},
    {"rounded", "b.x2", true},
    {"last_bit_lost", "b.x1", true},
    {"stale_sum", "b.x2", false},
    {"reversed_block", "b.x0", false},
    {"half_a_field", "b.x2", false},
    {"absolute", "b.x0", false},
    {"zero_without_sign", "b.x1", true},
    {"flushed", "b.x2", true},
    {"one_nan_for_all", "b.x1", false},
    {"never_infinite", "b.x0", false},
};

static void test_wrong_values_are_found_at_their_field(void **state) {
  (void)state;
  world w;
  int missed = 0;
  open_world(&w, "b = a;", "right", 0);
  for (int k = 0; k < SCT_COUNT(mutants); k++) {
    const sct_verdict v = verify(&w, mutants[k].kernel);
    if (v.outcome != SCT_OUT_WRONG_RESULT || strstr(v.detail, mutants[k].field) == NULL) {
      print_error("%s: %s: %s\n", mutants[k].kernel, sct_outcome_name(v.outcome), v.detail);
      missed++;
    }
    assert_int_equal(verify(&w, "right_staged").outcome, SCT_OUT_OK);
  }
  assert_int_equal(missed, 0);
  close_world(&w);
}

/* A tolerance lets rounding pass, and what rounds to zero: nothing else, NaN least of all. */
static void test_a_tolerance_excuses_rounding_only(void **state) {
  (void)state;
  world w;
  open_world(&w, "b = a;", "right", 0.01);
  for (int k = 0; k < SCT_COUNT(mutants); k++) {
    const sct_verdict v = verify(&w, mutants[k].kernel);
    if ((v.outcome == SCT_OUT_OK) != mutants[k].is_near) {
      fail_msg("%s: %s: %s", mutants[k].kernel, sct_outcome_name(v.outcome), v.detail);
    }
  }
  close_world(&w);
}

/* With a tolerance, too, values are of every magnitude, infinite and NaN. */
static void test_a_tolerance_excuses_no_magnitude(void **state) {
  (void)state;
  static const char *const wrong[] = {"curves_that_overflow", "curves_without_nan",
                                      "curves_up_to_50", "curves_from_a_millionth"};
  world w;
  open_world(&w, "b.x0 = 1 / (1 + expf(-a.x0)); b.x1 = a.x1; b.x2 = a.x2;", "curves", 1e-5);
  const sct_verdict v = verify(&w, "curves_of_fast_parts");
  if (v.outcome != SCT_OUT_OK) {
    fail_msg("%s", v.detail);
  }
  for (int k = 0; k < SCT_COUNT(wrong); k++) {
    if (verify(&w, wrong[k]).outcome != SCT_OUT_WRONG_RESULT) {
      fail_msg("%s", wrong[k]);
    }
  }
  close_world(&w);
}

/* A NaN that is computed is a result like others. */
static void test_nan_may_be_what_is_computed(void **state) {
  (void)state;
  static const struct {
    const char *kernel;
    sct_outcome_kind outcome;
  } cases[] = {{"roots", SCT_OUT_OK},
               {"roots_with_another_nan", SCT_OUT_OK},
               {"roots_without_nan", SCT_OUT_WRONG_RESULT},
               {"roots_nan_for_zero", SCT_OUT_WRONG_RESULT},
               {"roots_of_absolutes", SCT_OUT_WRONG_RESULT}};
  for (int with_tolerance = 0; with_tolerance < 2; with_tolerance++) {
    world w;
    open_world(&w, "b.x0 = sqrtf(a.x0); b.x1 = sqrtf(a.x1); b.x2 = sqrtf(a.x2);", "roots",
               with_tolerance ? 1e-5 : 0);
    for (int k = 0; k < SCT_COUNT(cases); k++) {
      described_expect(verify(&w, cases[k].kernel), cases[k].kernel, cases[k].outcome, "");
    }
    close_world(&w);
  }
}

/* Arrays lie at addresses of exactly the alignment that a candidate asks for: one that needs more
 * of any of them is found out, and the next one is given what it asks for. */
static void test_more_alignment_than_was_asked_for(void **state) {
  (void)state;
  static int64_t aligns[][2] = {{8, 8}, {4, 8}, {16, 4096}, {8, 4}, {4, 4}, {8, 8}};
  world w;
  open_world(&w, "b = a;", "right", 0);
  for (int k = 0; k < SCT_COUNT(aligns); k++) {
    sct_kernel_code code = w.kernel.code;
    code.align = aligns[k];
    for (int by_pairs = 0; by_pairs < 2; by_pairs++) {
      const char *const entry = by_pairs ? "by_pairs" : "right_staged";
      const sct_binary binary = {.code = &code, .entry = entry, .ptx = ptx};
      const bool right = !by_pairs || (aligns[k][0] >= 8 && aligns[k][1] >= 8);
      sct_verdict v;
      assert_ok(sct_measure_verify(w.m, &binary, &v, &fixture_err));
      if (v.outcome != (right ? SCT_OUT_OK : SCT_OUT_MISALIGNED)) {
        fail_msg("%s at %d and %d: %s: %s", entry, (int)aligns[k][0], (int)aligns[k][1],
                 sct_outcome_name(v.outcome), v.detail);
      }
    }
  }
  close_world(&w);
}

/* What an array held is added to once, before anyone stores there; what is kept is not written. */
static void test_what_outputs_held_counts(void **state) {
  (void)state;
  static const struct {
    const char *body, *naive, *right[2], *wrong[5];
    bool inout;
  } cases[] = {
      {"b.x0 += a.x0;",
       "add",
       {"add_one_field", "add_by_neighbours"},
       {"add_stored_before_neighbours_load", "add_twice", "add_forgets_what_was", "add_to_the_next",
        "add_nothing"},
       true},
      {"if (a.x0 < 1.5f) b = a; else keep(b);",
       "keep",
       {"keep", "keep_rewrites"},
       {"keep_writes", "keep_writes_zero", "keep_too_much", "keep_a_field", "add_nothing"},
       false},
  };
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    world w;
    open_world_of(&w, cases[k].body, cases[k].naive, 0, cases[k].inout);
    for (int n = 0; n < SCT_COUNT(cases[k].wrong); n++) {
      const sct_verdict v = verify(&w, cases[k].wrong[n]);
      if (v.outcome != SCT_OUT_WRONG_RESULT && v.outcome != SCT_OUT_NOT_WRITTEN) {
        fail_msg("%s: %s: %s", cases[k].wrong[n], sct_outcome_name(v.outcome), v.detail);
      }
    }
    for (int n = 0; n < SCT_COUNT(cases[k].right); n++) {
      described_expect(verify(&w, cases[k].right[n]), cases[k].right[n], SCT_OUT_OK, "");
    }
    close_world(&w);
  }
}

int main(int argc, char **argv) {
  FIXTURE_WORKER(argc, argv);
  sct_str text = {0};
  sct_str_printf(&text, "%s%s", cuda_text, more_text);
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_wrong_values_are_found_at_their_field),
                                     cmocka_unit_test(test_a_tolerance_excuses_rounding_only),
                                     cmocka_unit_test(test_a_tolerance_excuses_no_magnitude),
                                     cmocka_unit_test(test_nan_may_be_what_is_computed),
                                     cmocka_unit_test(test_what_outputs_held_counts),
                                     cmocka_unit_test(test_more_alignment_than_was_asked_for)};
  const int failed = described_run(sct_str_c(&text), "mutants.cu", tests, SCT_COUNT(tests));
  sct_str_free(&text);
  return failed;
}
