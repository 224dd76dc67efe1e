/* What a header says of layouts that the tuner chose, and its functions that pack and unpack. What
 * these do to bytes is tested where real layouts make them, in tests/cli/test_cli_packing.c. */
#include "emit/emit_fixture.h"

#include "emit/emit_internal.h"

/* ---- a header with a signature of our own ---- */

#define GRID_LAUNCH(layout)                                                                        \
  "{\"kernel\": \"grid\", \"threads\": 64, \"grid\": \"n_row\", \"shared_bytes\": 0, "             \
  "\"static_shared_bytes\": 0, \"requires\": [], \"align\": {}, \"layouts\": {\"a\": \"" layout    \
  "\", \"b\": \"row_major\"}, \"doc\": \"\"}"
#define GRID_SOURCE                                                                                \
  "__global__ void grid(const void *a, void *b, long long n_row, long long n_col) {\n"             \
  "  (void)a, (void)b, (void)n_row, (void)n_col;\n}\n"

/* Two dimensions; `type` is that of the bare array `a`, whose second layout takes an extent that
 * the first one does not. */
#define GRID_SIGNATURE(type, bytes, dims, shape, formulas)                                         \
  "{\"name\": \"grid\", \"dims\": [\"row\", \"col\"], \"extents\": [{\"name\": \"row\", "          \
  "\"dim\": true}, {\"name\": \"col\", \"dim\": true}], \"operands\": [{\"shape\": [" shape        \
  "], \"formulas\": [" formulas                                                                    \
  "], " OPERAND_FIELDS("a", "in",                                                                  \
                       "{\"name\": null, \"fields\": [{\"name\": \"\", \"type\": \"" type          \
                       "\", \"offset\": 0}], \"bytes\": " bytes ", \"align\": 4}",                 \
                       "true", "\"line\", \"twice\"",                                              \
                       dims) ", " OPERAND("b", "out", BARE_F32, "true", "\"row_major\"",           \
                                          "\"row\", \"col\"") "], \"body\": \"b = a;\"}"
#define LINE  "{\"doc\": \"One line.\", \"bytes\": \"4 * n_row\", \"offsets\": [\"4 * row\"]}"
#define TWICE "{\"bytes\": \"8 * n_row * n_col\", \"offsets\": [\"8 * row\"]}"

#define FIXED(role, name, layout)                                                                  \
  "{\"shape\": [\"n_row\"], \"formulas\": [" LINE                                                  \
  "], " OPERAND_FIELDS(name, role, BARE_F32, "true", "\"" layout "\"", "\"row\"")

static sct_id put_grid(fixture *f, const char *signature, const char *layout, const char *launch) {
  fixture_problem(f, "grid", signature);
  sct_row_run run = fixture_run(f, fixture_h200(f), "row=8 col=8", "{\"row\": 8, \"col\": 8}", 512,
                                "2025-01-01T00:00:00Z");
  const kernel k = {"", layout, "direct", "{}", launch, 8};
  const sct_id id = fixture_result_with(f, &run, &k, GRID_SOURCE, 1000, true);
  fixture_finish(f, &run, id, id);
  return id;
}

/* ---- tests ---- */

static void host_functions_stand_before_what_is_cuda(void **state) {
  fixture_scale(*state);
  sct_str out = fixture_header(*state, "scale");
  const char *const in_order[] = {
      "//   p: soa. Field after field.\n"
      "//     element (i) at byte 4 * i of w, 2 * i + 4 * n_i of h; 6 * n_i bytes in all\n"
      "//     scale_layout_p_pack() and scale_layout_p_unpack() convert from and to plain arrays\n",
      "//   q: soa. Field after field.\n",
      "#ifndef SECTILE_NO_RUNTIME\n#include <cuda_runtime_api.h>\n#endif\n",
      "#include <stdint.h>\n",
      "typedef struct scale_item {",
      "static inline int64_t scale_layout_p_bytes(int64_t n_i) {",
      "static inline int64_t scale_layout_p_offset_h(int64_t i, int64_t n_i) {\n"
      "  return 2 * i + 4 * n_i;\n}\n",
      "bool scale_layout_p_pack(void *packed, const scale_item *plain, int64_t n_i) {",
      "bool scale_layout_p_unpack(scale_item *plain, const void *packed, int64_t n_i) {",
      "#ifdef __cplusplus\nnamespace scale_layout_p {",
      "inline int64_t offset_h(int64_t i, int64_t n_i) {\n  return scale_layout_p_offset_h(i, "
      "n_i);",
      "inline bool pack(void *packed, const scale_item *plain, int64_t n_i) {",
      "namespace scale_layout_q {",
      "scale_choice",
      "cudaError_t scale(const void *p, void *q,",
      "#endif  // SECTILE_HEADER_scale\n",
      "__global__",
      "scale_LINKAGE cudaError_t scale(const void *p, void *q,",
      "#endif  // SECTILE_KERNELS_scale\n"};
  const char *at = sct_str_c(&out);
  for (int k = 0; k < SCT_COUNT(in_order); k++) {
    const char *found = strstr(at, in_order[k]);
    if (found == NULL) {
      fail_msg("not there, or too early: %s", in_order[k]);
    }
    at = found + 1;
  }
  sct_str_free(&out);
}

/* Arrays whose layout is fixed, from a store that knows where their bytes lie. */
static void fixed_layouts_have_functions_of_c(void **state) {
  fixture *f = *state;
  static const char *const signature =
      "{\"name\": \"grid\", \"extents\": [{\"name\": \"row\", \"dim\": true}, {\"name\": "
      "\"col\", \"dim\": true}], \"scalars\": [], \"operands\": [" FIXED(
          "in", "a", "line") ", " FIXED("out", "b", "row_major") "], \"body\": \"b = a;\"}";
  (void)put_grid(f, signature, "line", GRID_LAUNCH("line"));
  sct_str out = fixture_header(f, "grid");
  assert_false(has_text(&out, "The tuner chose"));
  assert_true(has_text(&out, "// a: line. One line.\n"));
  assert_true(has_text(&out, "static inline bool grid_layout_a_pack(void *packed, const float *"));
  assert_true(has_text(&out, "static inline int64_t grid_layout_b_bytes(int64_t n_row) {"));
  assert_false(has_text(&out, "grid_layout_b_pack")); /* it is as C has it */
  assert_false(has_text(&out, "namespace grid_layout_"));
  sct_str_free(&out);
}

static void stores_without_formulas_give_no_functions(void **state) {
  fixture_transpose(*state);
  sct_str out = fixture_header(*state, "transpose");
  assert_false(has_text(&out, "_layout_"));
  assert_false(has_text(&out, "The tuner chose"));
  sct_str_free(&out);
}

static void a_store_without_formulas_says_so(void **state) {
  fixture *f = *state;
  fixture_problem(f, "scale", SCALE_SIGNATURE_WITH(""));
  sct_row_run run =
      fixture_run(f, fixture_h200(f), "i=64", "{\"i\": 64}", 768, "2025-01-03T00:00:00Z");
  const sct_id naive = fixture_result(f, &run, &scale_soa, 1000, true);
  fixture_finish(f, &run, naive, naive);
  sct_str out = fixture_header(f, "scale");
  assert_true(has_text(&out, "//   p: soa; no functions for the host"));
  assert_false(has_text(&out, "_layout_"));
  sct_str_free(&out);
}

/* A program calls the same whichever layout has won: extents of all of them are taken. */
static void extents_of_other_layouts_are_taken_too(void **state) {
  fixture *f = *state;
  (void)put_grid(f, GRID_SIGNATURE("f32", "4", "\"row\"", "\"n_row\"", LINE ", " TWICE), "line",
                 GRID_LAUNCH("line"));
  sct_str out = fixture_header(f, "grid");
  assert_true(has_text(&out, "int64_t grid_layout_a_bytes(int64_t n_row, int64_t n_col) {\n"
                             "  return n_row < 0 || n_col < 0 ? -1 : 4 * n_row;\n"));
  assert_true(has_text(&out, "void *context, int64_t n_row, int64_t n_col) {\n"
                             "  (void)n_col;\n"));
  assert_true(has_text(&out,
                       "bool grid_layout_a_pack(void *packed, const float *plain, int64_t n_row, "
                       "int64_t n_col) {"));
  assert_false(has_text(&out, "vector_types.h"));
  sct_str_free(&out);
}

/* Only what the expressions call is defined; dims without an element of their own have no loop. */
static void expressions_find_what_they_call(void **state) {
  fixture *f = *state;
  (void)put_grid(f,
                 GRID_SIGNATURE("f32x4", "16", "\"row\"", "\"max(n_row, 1)\"",
                                "{\"bytes\": \"16 * n_row\", \"offsets\": [\"sct_floor_mod(row - "
                                "2, n_row) * 16\"]}, " TWICE),
                 "line", GRID_LAUNCH("line"));
  sct_str out = fixture_header(f, "grid");
  assert_true(has_text(&out, "int64_t grid_floor_mod(int64_t a, int64_t b)"));
  assert_true(has_text(&out, "int64_t grid_max(int64_t a, int64_t b)"));
  assert_false(has_text(&out, "grid_min("));
  assert_false(has_text(&out, "grid_floor_div("));
  assert_true(has_text(&out, "for (int64_t i0 = 0; i0 < grid_max(n_row, 1); i0++, plain += 16) {\n"
                             "    copy(context, grid_layout_a_offset(i0, n_row), plain, 16);\n"));
  assert_true(has_text(&out, "#include <vector_types.h>"));
  sct_str_free(&out);
  (void)put_grid(f,
                 GRID_SIGNATURE("f16", "2", "", "",
                                "{\"bytes\": \"2\", \"offsets\": [\"0\"]}, {\"bytes\": \"4\", "
                                "\"offsets\": [\"2\"]}"),
                 "twice", GRID_LAUNCH("twice"));
  out = fixture_header(f, "grid");
  assert_true(has_text(&out, "int64_t grid_layout_a_bytes(void) {\n  return 4;\n}\n"));
  assert_true(has_text(&out, "void *context) {\n  int64_t plain = 0;\n"
                             "  copy(context, grid_layout_a_offset(), plain, 2);\n}\n"));
  assert_true(has_text(&out, "pack(void *packed, const unsigned short *plain) {"));
  sct_str_free(&out);
}

/* ---- sizes that other layouts have won ---- */

#define SCALE_AOS(p)                                                                               \
  {                                                                                                \
    "scale_direct.cu", "direct t128 aos", "direct", "{\"layout.p\": \"aos\", \"threads\": 128}",   \
        SCALE_LAUNCH(p, "soa"), 12                                                                 \
  }
static const kernel scale_aos = SCALE_AOS("aos");

/* The small size is won by p in aos; soa_too: it has a candidate in soa, the large one's winner. */
static void put_scales(fixture *f, bool is_virtual, bool soa_too) {
  fixture_problem(f, "scale", SCALE_SIGNATURE);
  const sct_id device =
      is_virtual ? fixture_device_with(f, "NVIDIA H200", "", "", 90, 132) : fixture_h200(f);
  sct_row_run small = fixture_run(f, device, "i=64", "{\"i\": 64}", 768, "2025-01-03T00:00:00Z");
  const sct_id aos = fixture_result(f, &small, &scale_aos, is_virtual ? 0 : 2100, true);
  if (soa_too) {
    (void)fixture_result(f, &small, &scale_soa, is_virtual ? 0 : 2500, true);
  }
  fixture_finish(f, &small, aos, aos);
  sct_row_run large =
      fixture_run(f, device, "i=65536", "{\"i\": 65536}", 786432, "2025-01-03T00:01:00Z");
  const sct_id soa = fixture_result(f, &large, &scale_soa, is_virtual ? 0 : 9000, true);
  fixture_finish(f, &large, soa, soa);
}

static void sizes_that_others_won_are_told(void **state) {
  fixture *f = *state;
  put_scales(f, false, true);
  sct_str out = fixture_header(f, "scale");
  assert_true(has_text(&out, "//   At i=64 on NVIDIA H200 the winner has p aos: 2.1 us, here 2.5 "
                             "us\n//\n// device"));
  assert_false(has_text(&out, "At i=65536"));
  sct_str_free(&out);
}

static void predictions_are_called_so(void **state) {
  fixture *f = *state;
  put_scales(f, true, true);
  sct_str out = fixture_header(f, "scale");
  assert_true(has_text(&out, "the winner has p aos: predicted 3.7 us, here 3.7 us\n"));
  sct_str_free(&out);
}

static void sizes_left_out_are_told(void **state) {
  fixture *f = *state;
  put_scales(f, false, false);
  sct_str out = fixture_header(f, "scale");
  assert_true(has_text(&out, "//   At i=64 on NVIDIA H200 the winner has p aos; the size is left "
                             "out, for nothing with these"));
  sct_str_free(&out);
}

/* ---- damaged rows ---- */

static void damaged_formulas_are_named(void **state) {
  (void)state;
  static const struct {
    const char *signature, *says;
  } damages[] = {
      {GRID_SIGNATURE("f32", "4", "\"row\"", "\"n_row\"", LINE),
       "operands[0].formulas: expected one for each layout"},
      {GRID_SIGNATURE("f32", "4", "\"row\"", "", LINE ", " TWICE),
       "operands[0].shape: expected one expression for each dimension"},
      {GRID_SIGNATURE("f32", "4", "\"row\"", "\"row\"", LINE ", " TWICE),
       "operands[0].shape[0]: expected an expression over the extents"},
      {GRID_SIGNATURE("f32", "4", "\"row\"", "\"sct_floor_div(n_row, 2), evil\"", LINE ", " TWICE),
       "operands[0].shape[0]: expected an expression over the extents"},
      {GRID_SIGNATURE("f32", "4", "\"x; } evil\"", "\"n_row\"", LINE ", " TWICE),
       "operands[0].dims[0]: expected a name"},
      {GRID_SIGNATURE("f32", "4", "\"min\"", "\"n_row\"", LINE ", " TWICE),
       "operands[0].dims[0]: expected a name"},
      {GRID_SIGNATURE("f32", "4", "\"n_col\"", "\"n_row\"", LINE ", " TWICE),
       "operands[0].dims[0]: expected a name"},
      {GRID_SIGNATURE("f32", "4", "\"row\", \"row\"", "\"n_row\", \"n_row\"", LINE ", " TWICE),
       "operands[0].dims[1]: expected a name that no other index has"},
      {GRID_SIGNATURE("f32", "4", "\"row\"", "\"n_row\"",
                      LINE ", {\"bytes\": \"4 * row\", \"offsets\": [\"0\"]}"),
       "formulas[1].bytes: expected an expression over the extents"},
      {GRID_SIGNATURE("f32", "4", "\"row\"", "\"n_row\"",
                      LINE ", {\"bytes\": \"4\", \"offsets\": [\"0\", \"4\"]}"),
       "formulas[1].offsets: expected one expression for each"},
      {GRID_SIGNATURE("f32", "4", "\"row\"", "\"n_row\"",
                      LINE ", {\"bytes\": \"4\", \"offsets\": [\"4 * col\"]}"),
       "formulas[1].offsets[0]: expected an expression over indices"},
      {GRID_SIGNATURE("f32", "4", "\"row\"", "\"n_row\"",
                      LINE ", {\"bytes\": \"4\", \"offsets\": [\"0; } evil()\"]}"),
       "formulas[1].offsets[0]: expected an expression over indices"},
      {GRID_SIGNATURE("f32", "4", "\"row\"", "\"n_row\"", LINE ", {\"offsets\": [\"0\"]}"),
       "formulas[1].bytes: expected text"},
  };
  for (int k = 0; k < SCT_COUNT(damages); k++) {
    emit_header h = {0};
    sct_error err = {0};
    assert_int_equal(emit_read_signature(&h, damages[k].signature, &err), SCT_EDATA);
    if (strstr(err.text, damages[k].says) == NULL) {
      fail_msg("'%s' is not in: %s", damages[k].says, err.text);
    }
    emit_header_free(&h);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
      TEST(host_functions_stand_before_what_is_cuda),
      TEST(fixed_layouts_have_functions_of_c),
      TEST(stores_without_formulas_give_no_functions),
      TEST(a_store_without_formulas_says_so),
      TEST(extents_of_other_layouts_are_taken_too),
      TEST(expressions_find_what_they_call),
      TEST(sizes_that_others_won_are_told),
      TEST(predictions_are_called_so),
      TEST(sizes_left_out_are_told),
      TEST(damaged_formulas_are_named),
#undef TEST
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
