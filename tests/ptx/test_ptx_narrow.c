/* Indices that are too narrow for extents of 64 bits, found in PTX as compilers write it. */
#include "ptx_kernel.h"

#define HEAD                                                                                       \
  PTX_HEAD ".visible .entry k(.param .u64 n, .param .u64 a)\n{\n.reg .pred %p<4>;\n"               \
           ".reg .b32 %r<8>;\n.reg .f32 %f<4>;\n.reg .b64 %d<12>;\n"                               \
           "ld.param.u64 %d1, [n]; ld.param.u64 %d2, [a]; mov.u32 %r1, %ctaid.x;\n"                \
           "mul.wide.u32 %d3, %r1, 32;\n"

static void lines_are_found(void **state) {
  (void)state;
  enum { NONE, PRODUCT, SCALED, FLOAT };
  static const struct {
    const char *text;
    int what;
  } cases[] = {
      {"mul.lo.s64 %d4, %d3, %d1; shl.b64 %d5, %d4, 2;", NONE},
      {"mul.lo.s64 %d4, %d3, %d1; shl.b64 %d5, %d4, 32; shr.s64 %d5, %d5, 30;", PRODUCT},
      {"mul.lo.s64 %d4, %d3, %d1; cvt.s64.s32 %d6, %d4; shl.b64 %d5, %d6, 2;", PRODUCT},
      {"cvt.u32.u64 %r2, %d1; mul.lo.s32 %r3, %r1, %r2; mul.wide.s32 %d5, %r3, 4;", PRODUCT},
      {"shl.b32 %r2, %r1, 8; mul.wide.s32 %d5, %r2, 4;", SCALED},
      {"mov.u32 %r2, %tid.x; shl.b32 %r2, %r2, 8; mul.wide.s32 %d5, %r2, 4;", NONE},
      {"cvt.rn.f32.s64 %f1, %d3; cvt.rzi.s64.f32 %d4, %f1; shl.b64 %d5, %d4, 2;", FLOAT},
      {"shl.b32 %r2, %r1, 8; and.b32 %r3, %r2, 1023; mul.wide.s32 %d5, %r3, 4;", NONE},
  };
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    sct_error err = {0};
    sct_ptx_module *module = NULL;
    sct_ptx_traits found;
    sct_str text = {0};
    sct_str_printf(&text, "%s.file 1 \"k.cu\"\n.loc 1 7 0\n%s\n", HEAD, cases[k].text);
    sct_str_append(&text, "add.s64 %d7, %d2, %d5; st.global.u32 [%d7], %r1; ret;\n}\n");
    assert_int_equal(sct_ptx_parse(&module, sct_str_c(&text), "narrow.ptx", &err), SCT_OK);
    if (sct_ptx_traits_of(&found, module, "k", &err) != SCT_OK) {
      fail_msg("%s", err.text);
    }
    const int got = found.product_line == 7  ? PRODUCT
                    : found.scaled_line == 7 ? SCALED
                    : found.float_line == 7  ? FLOAT
                                             : NONE;
    if (got != cases[k].what) {
      fail_msg("%s: %d, not %d", cases[k].text, got, cases[k].what);
    }
    sct_ptx_module_free(module);
    sct_str_free(&text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(lines_are_found)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
