/* Which dimensions a schedule sees as one: found in the offset expressions of all operands,
 * whatever the extents. What is folded shows in the text as the extent of the folded dimension. */
#include "codegen_fixture.h"

#define SPEC(dims, scalars, inputs, outputs, body)                                                 \
  "local s = require \"sectile\"\n"                                                                \
  "return s.kernel { name = \"folded\", dims = { " dims " }, scalars = { " scalars " },\n"         \
  "  inputs = { " inputs " }, outputs = { " outputs " }, body = \"" body "\",\n"                   \
  "  sizes = { { i = 6, j = 5, k = 8 } } }\n"
#define IJK "'i', 'j', 'k'"
#define A   "s.array('a', 'f32')"
#define B   "s.array('b', 'f32')"

static const struct {
  const char *spec;
  const char *want; /* the declaration of a folded extent; NULL: nothing is folded */
  const char *why;
} cases[] = {
    {SPEC(IJK, "", A, B, "b = a;"), "n_i_j_k = n_i * n_j * n_k;", "a copy is one run"},
    {SPEC(IJK, "", A, "s.array('b', 'f32', s.row_major, { dims = { 'k', 'i', 'j' } })", "b = a;"),
     "n_i_j = n_i * n_j;", "i and j stay together"},
    {SPEC(IJK, "", A, "s.array('b', 'f32', s.row_major, { dims = { 'j', 'k', 'i' } })", "b = a;"),
     "n_j_k = n_j * n_k;", "j and k stay together"},
    {SPEC("'j', 'i', 'k'", "", "s.array('a', 'f32', s.row_major, { dims = { 'i', 'j', 'k' } })",
          "s.array('b', 'f32', s.row_major, { dims = { 'i', 'j', 'k' } })", "b = a;"),
     "n_i_j_k = n_i * n_j * n_k;", "memory's order counts, not that of dims"},
    {SPEC(IJK, "", A, "s.array('b', 'f32', s.row_major, { dims = { 'i', 'k', 'j' } })", "b = a;"),
     NULL, "(0,2,1) leaves no neighbours"},
    {SPEC(IJK, "", A, "s.array('b', 'f32', s.row_major, { dims = { 'j', 'i', 'k' } })", "b = a;"),
     NULL, "(1,0,2) leaves no neighbours"},
    {SPEC(IJK, "", A, "s.array('b', 'f32', s.col_major)", "b = a;"), NULL, "reversed"},
    {SPEC(IJK, "", A, B, "b = a + j;"), NULL, "the body needs j, which i and k lie around"},
    {SPEC(IJK, "", A, B, "b = a + k;"), "n_i_j = n_i * n_j;", "the body needs k"},
    {SPEC(IJK, "", A ", s.array('w', 'f32', s.row_major, { dims = { 'k' } })", B, "b = a * w;"),
     "n_i_j = n_i * n_j;", "w moves along k only"},
    {SPEC(IJK, "", A ", s.array('w', 'f32', s.row_major, { dims = { 'i' } })", B, "b = a * w;"),
     "n_j_k = n_j * n_k;", "w moves along i only"},
    {SPEC(IJK, "", A, "s.array('b', 'f32', s.pitched { align = 128 })", "b = a;"),
     "n_i_j = n_i * n_j;", "rows end in a gap"},
    {SPEC(IJK, "", A, "s.array('b', 'f32', s.row_major, { pad = { 0, 1, 0 } })", "b = a;"),
     "n_j_k = n_j * n_k;", "planes end in a gap"},
    {SPEC(IJK, "", "s.array('a', 'f32', s.row_major, { at = { 'i', 'j', 'k // 2' } })", B,
          "b = a;"),
     "n_i_j = n_i * n_j;", "steps along k differ"},
    {SPEC(IJK, "",
          "s.array('p', 'i32', s.row_major, { dims = { 'k' }, fill = 'identity' }), "
          "s.array('a', 'f32', s.row_major, { dims = { 'i', 'j', 'k' }, at = { 'i', 'j', 'p' } })",
          B, "b = a;"),
     NULL, "places through an index stay as they are"},
    {SPEC(IJK, "{ 'i_j', 'f32' }", A,
          "s.array('b', 'f32', s.row_major, { dims = { 'k', 'i', 'j' } })", "b = a * i_j;"),
     "n_i_j_ = n_i * n_j;", "the name is a scalar's already"},
};

static void folds_what_lies_behind_each_other(void **state) {
  (void)state;
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    fixture f;
    fixture_open_text(&f, cases[k].spec);
    sct_kernel_code code = fixture_make(&f, "vector t256 i2 v1 hnone b0");
    const char *comment = strstr(code.source, "// they are one run everywhere");
    const bool right = cases[k].want ? comment != NULL && strstr(code.source, cases[k].want) != NULL
                                     : comment == NULL;
    if (!right) {
      fail_msg("case %d (%s): expected %s in\n%s", k, cases[k].why,
               cases[k].want ? cases[k].want : "nothing folded", code.source);
    }
    sct_kernel_code_free(&code);
    fixture_close(&f);
  }
}

/* The tuned sizes say nothing of what is folded: the header's extents are arguments. */
static void keeps_the_extents_as_arguments(void **state) {
  (void)state;
  fixture f;
  fixture_open_text(&f, cases[1].spec);
  sct_kernel_code code = fixture_make(&f, "tile t256 a32 b32 vi1 vo1 fpad k0 oa hnone");
  assert_non_null(strstr(code.source, "long long n_i, long long n_j,"));
  assert_non_null(strstr(code.source, "const long long n_i_j = n_i * n_j;"));
  int64_t extent[] = {6, 5, 8};
  const sct_expr_env env = {f.spec.extent_var, extent, 3};
  int64_t blocks = 0;
  MUST(sct_expr_eval(f.spec.pool, code.grid, &env, &blocks, err));
  assert_int_equal(blocks, 1); /* 30 x 8 elements are less than a tile of 32 x 32 */
  sct_kernel_code_free(&code);
  fixture_close(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(folds_what_lies_behind_each_other),
      cmocka_unit_test(keeps_the_extents_as_arguments),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
