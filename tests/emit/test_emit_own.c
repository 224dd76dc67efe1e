/* Headers with a kernel of the user's own, from stores as hostile as they can be. */
#include "emit/emit_fixture.h"

#define SOURCE                                                                                     \
  "#pragma push_macro(\"TILE\")\n#undef TILE\n#define TILE 32\n  #  include <cuda_fp16.h>\n"       \
  "#include <cuda_fp16.h>\n#if TILE > 16\nnamespace mine {\n#else\nnamespace mine {\n#endif\n"     \
  "template <int N> __global__ void turn(float *b, const float *a, int n) { b[N] = a[n]; }\n}\n"   \
  "#pragma pop_macro(\"TILE\")\n"
#define PARAMS                                                                                     \
  "[{\"array\": \"b\"}, {\"array\": \"a\"}, {\"value\": \"2 * n_row\", \"type\": \"i32\"}]"
#define GRID "[\"n_row\", \"(n_col + 31) / 32\", \"1\"]"

/* A matrix whose winner is such a kernel. */
static void add(fixture *f, const char *source, const char *name, const char *params,
                const char *block, const char *grid) {
  char launch[1024];
  snprintf(launch, sizeof launch,
           "{\"kernel\": \"%s\", \"threads\": 256, \"grid\": \"n_row * ((n_col + 31) / 32)\", "
           "\"shared_bytes\": 0, \"static_shared_bytes\": 0, \"requires\": [\"n_row < 100\"], "
           "\"align\": {\"a\": 4, \"b\": 4}, \"layouts\": {\"a\": \"row_major\", \"b\": "
           "\"col_major\"}, \"doc\": \"The kernel of mine.cu.\", \"params\": %s, \"block\": %s, "
           "\"grid_dims\": %s}",
           name, params, block, grid);
  const kernel own = {"", "own_turn TILE=32", "own_turn", "{\"TILE\": 32}", launch, 16};
  fixture_problem(f, "transpose", TRANSPOSE_SIGNATURE);
  sct_row_run run = fixture_run(f, fixture_h200(f), "row=64 col=64", "{\"row\": 64, \"col\": 64}",
                                32768.0, "2025-01-01T00:02:00Z");
  const sct_id naive = fixture_result(f, &run, &transpose_direct, 110000, false);
  fixture_finish(f, &run, fixture_result_with(f, &run, &own, source, 36000, true), naive);
}

static void its_text_and_its_launch(void **state) {
  add(*state, SOURCE, "mine::turn<4>", PARAMS, "[32, 8, 1]", GRID);
  sct_str text = fixture_header(*state, "transpose");
  assert_true(has_text(&text, "#include <cuda_fp16.h>  // a kernel below needs it\n"));
  assert_true(has_text(&text, "namespace k1_own_turn {\n#pragma push_macro(\"TILE\")\n#undef TILE\n"
                              "#define TILE 32\n#if TILE > 16\nnamespace mine {\n"));
  assert_true(has_text(&text, "}\n#pragma pop_macro(\"TILE\")\n}  // namespace k1_own_turn\n"));
  assert_true(has_text(&text, "    (const void *)transpose_detail::k1_own_turn::mine::turn<4>,\n"));
  assert_true(has_text(&text,
                       "  const long long n_row = c.n_row, n_col = c.n_col;\n"
                       "  int p2 = (int)(2 * n_row);\n"
                       "  void *args[] = {&c.b, &c.a, &p2};\n"
                       "  const dim3 grid = {(unsigned)(n_row), (unsigned)((n_col + 31) / 32), "
                       "(unsigned)(1)}, block = {32, 8, 1};\n"));
  sct_str_free(&text);
}

static void what_cannot_be_is_refused(void **state) {
  static const struct {
    const char *source, *name, *params, *block, *grid, *says;
  } cases[] = {
      {SOURCE, "f; int x", PARAMS, "[32, 8, 1]", GRID, "expected the name of a kernel"},
      {SOURCE, "f<4", PARAMS, "[32, 8, 1]", GRID, "expected the name of a kernel"},
      {SOURCE, "f", "[]", "[32, 8, 1]", GRID, "expected the name of a kernel"},
      {SOURCE, "f", "[{\"array\": \"c\"}]", "[32, 8, 1]", GRID, "expected an array or a scalar"},
      {SOURCE, "f", "[{\"scalar\": \"a\"}]", "[32, 8, 1]", GRID, "expected an array or a scalar"},
      {SOURCE, "f", "[{\"value\": \"n_row; evil()\", \"type\": \"i32\"}]", "[32, 8, 1]", GRID,
       "expected an expression"},
      {SOURCE, "f", "[{\"value\": \"n_row\", \"type\": \"evil\"}]", "[32, 8, 1]", GRID, "type"},
      {SOURCE, "f", "[{}]", "[32, 8, 1]", GRID, "value"},
      {SOURCE, "f", PARAMS, "[32, 8]", GRID, "block"},
      {SOURCE, "f", PARAMS, "[32, 8, 4096]", GRID, "block"},
      {SOURCE, "f", PARAMS, "[32, 8, 1]", "[\"n_row\"]", "grid_dims"},
      {SOURCE, "f", PARAMS, "[32, 8, 1]", "[\"n_row\", \"system()\", \"1\"]", "grid_dims"},
      {SOURCE "}\n", "f", PARAMS, "[32, 8, 1]", GRID, "a closing bracket that nothing opened"},
      {SOURCE "#endif\n", "f", PARAMS, "[32, 8, 1]", GRID, "an #else or #endif that no #if"},
      {SOURCE "#include \"/etc/passwd\"\n", "f", PARAMS, "[32, 8, 1]", GRID, "an #include of"},
      {SOURCE "#include </etc/passwd>\n", "f", PARAMS, "[32, 8, 1]", GRID, "an #include of"},
      {SOURCE "#include <x.h> // \" \n#include <a> b\n", "f", PARAMS, "[32, 8, 1]", GRID,
       "an #include of"},
  };
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    (void)fixture_teardown(state);
    (void)fixture_setup(state);
    add(*state, cases[k].source, cases[k].name, cases[k].params, cases[k].block, cases[k].grid);
    fixture_refused(*state, "transpose", cases[k].says);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(its_text_and_its_launch, fixture_setup, fixture_teardown),
      cmocka_unit_test_setup_teardown(what_cannot_be_is_refused, fixture_setup, fixture_teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
