/* What the parser takes, and how it refuses: name:line, the text, and for unknown instructions the
 * kernel; one bad kernel does not take its module with it. */
#include "ptx_kernel.h"

static void refused(const char *text, const char *message) {
  sct_error err = {0};
  sct_ptx_module *module = NULL;
  assert_int_equal(sct_ptx_parse(&module, text, "bad.ptx", &err), SCT_EDATA);
  if (strstr(err.text, message) == NULL) {
    fail_msg("'%s' lacks '%s'", err.text, message);
  }
}

static void text_that_is_no_ptx(void **state) {
  (void)state;
  refused("", "bad.ptx:1: error: expected '.version'");
  refused("int main(void) { return 0; }",
          "bad.ptx:1: error: expected '.version' (this is no PTX), found 'int'");
  refused(PTX_HEAD "garbage", "bad.ptx:4: error: expected a directive");
  refused(PTX_HEAD ".visible .entry k(\n.param .u64 a",
          "bad.ptx:5: error: expected ',' at the end");
  refused(PTX_HEAD ".visible .entry k()\n{\n.reg .b32 %r<3>;\nmov.u32 %r1, 5", "bad.ptx:7");
  refused(PTX_HEAD ".visible .entry k()\n{\n.reg .b33 %r<3>;\n}", "register without a type");
  refused(PTX_HEAD ".visible .entry k()\n{\n.reg .b32 %r<99999999999>;\n}",
          "bad number of registers");
  refused(PTX_HEAD ".visible .entry k()\n{\n@%p1 bra L;\n}",
          "guard '%p1' is no predicate register");
  refused(PTX_HEAD ".visible .entry k()\n{\n.frobnicate 3;\n}", "unknown directive '.frobnicate'");
  refused(PTX_HEAD ".global .align 3 .b32 x;\n", "bad alignment");
  refused(PTX_HEAD ".global .b32 x[2] = {1, 2, 3};\n", "initialiser longer than 'x'");
  refused(PTX_HEAD ".global .b32 x[9999999999];\n", "bad size of 'x'");
  refused(PTX_HEAD ".global .b32 x;\n.global .b32 x;\n", "bad.ptx:5: error: 'x' declared twice");
  refused(PTX_HEAD ".visible .entry k() { ret; }\n.visible .entry k() { ret; }\n",
          "'k' defined twice");
  refused(PTX_HEAD ".section .debug {", "section without an end");
  refused(PTX_HEAD ".visible .entry k()\n{\nadd.s32 {{{{{{{{a}}}}}}}};\n}", "nested too deep");
}

/* The kernel is there, says why it cannot run, and its neighbour runs. */
static void unknown_instructions_name_kernel_line_and_text(void **state) {
  (void)state;
  static const struct {
    const char *instr, *message;
  } bad[] = {
      {"frob.s32 %r1, %r2", "unknown form of an instruction: 'frob.s32 %r1, %r2'"},
      {"add.q32 %r1, %r2, %r3", "unknown form"},
      {"cvt.rp.satfinite.f16.f32 %r1, %r1", "unknown form"},
      {"cvt.rn.satfinite.f32.f64 %r1, %d1", "unknown form"},
      {"add.sat.u32 %r1, %r2, %r3", "unknown form"},
      {"add.f32.s32 %r1, %r2, %r3", "unknown form"},
      {"add.s32 %r1, %r2", "2 operands where 3 are expected"},
      {"add.s32 %r1, %r2, %d1", "register '%d1' has the wrong width"},
      {"add.s32 %r1, %r2, %nothing", "unknown name '%nothing'"},
      {"add.s32 5, %r2, %r1", "the destination is no register"},
      {"add.f32 %r1, %r2, 5", "integer literal for a float operand"},
      {"mov.u32 %r1, %clock64", "special register '%clock64' has another width"},
      {"bra NOWHERE", "unknown label"},
      {"ld.global.v4.u64.u32 %r1, [%d1]", "unknown form"},
      {"ld.global.v2.u32 %r1, [%d1]", "1 data operands for 2 elements"},
      {"ld.global.u32 %r1, %d1", "expected an address"},
      {"ld.global.u64 %r1, [%d1]", "narrower than the access"},
      {"ld.global.u32 %r1, [undeclared]", "unknown name 'undeclared'"},
      {"st.param.u32 [in], %r1", "unknown form"},
      {"cvt.f32.s32 %r1, %r2", "unknown form"},
      {"cvt.rn.f32.f32 %r1, %r2", "unknown form"},
      {"cvt.rni.f32.s32 %r1, %r2", "unknown form"},
      {"setp.lo.s32.f32 %p1, %r1, %r2", "unknown form"},
      {"setp.ltu.s32 %p1, %r1, %r2", "unknown form"},
      {"setp.lt.b32 %p1, %r1, %r2", "unknown form"},
      {"shfl.idx.b32 %r1, %r2, 0, 31", "unknown form"},
      {"bar.sync.frob 0", "unknown form"},
      {"cp.async.cg.shared.global [%r1], [%d1], 8", "unknown form"},
      {"cp.async.frob [%r1], [%d1], 8", "unknown form"},
      {"call nothing, ()", "unknown function 'nothing'"},
      {"wgmma.fence.sync.aligned", "wgmma operations of four warps are not supported"},
      {"ex2.f32 %r1, %r2", "unknown form"},
      {"div.f32 %r1, %r2, %r3", "unknown form"},
  };
  int line = 3; /* behind the kernel's head and two empty lines */
  for (const char *p = PTX_KERNEL; *p != '\0'; p++) {
    line += *p == '\n';
  }
  for (int k = 0; k < SCT_COUNT(bad); k++) {
    sct_error err = {0};
    sct_str text = {0};
    sct_ptx_module *module = NULL;
    sct_str_printf(&text, "%s\n\n%s;\nret;\n}\n.visible .entry good() { ret; }\n", PTX_KERNEL,
                   bad[k].instr);
    assert_int_equal(sct_ptx_parse(&module, sct_str_c(&text), "bad.ptx", &err), SCT_OK);
    const sct_ptx_kernel *kernel = sct_ptx_kernel_find(module, "k");
    assert_non_null(kernel);
    if (kernel->error == NULL || strstr(kernel->error, bad[k].message) == NULL) {
      fail_msg("%s: '%s' lacks '%s'", bad[k].instr,
               kernel->error != NULL ? kernel->error : "nothing", bad[k].message);
    }
    char place[64];
    snprintf(place, sizeof place, "bad.ptx:%d: error: kernel 'k': ", line);
    assert_non_null(strstr(kernel->error, place));
    assert_non_null(strstr(kernel->error, bad[k].instr));
    sct_ptx_memory *memory = NULL;
    sct_ptx_result result;
    const void *args[2] = {&err, &err};
    sct_ptx_launch_opts opts = {.module = module, .kernel = "k", .args = args, .n_args = 2};
    sct_ptx_memory_new(&memory);
    assert_int_equal(sct_ptx_launch(&result, memory, &opts, &err), SCT_EDATA);
    opts.kernel = "good";
    opts.n_args = 0;
    assert_int_equal(sct_ptx_launch(&result, memory, &opts, &err), SCT_OK);
    assert_int_equal(result.diag.kind, SCT_PTX_CLEAN);
    sct_ptx_memory_free(memory);
    sct_ptx_module_free(module);
    sct_str_free(&text);
  }
}

static void descriptions(void **state) {
  (void)state;
  sct_error err = {0};
  sct_ptx_module *module = NULL;
  static const char text[] =
      PTX_HEAD "/* a comment\nof two lines */ // and another\n"
               ".visible .entry first(.param .u8 a, .param .align 16 .b8 b[24], .param .f32 c,\n"
               "  .param .u64 .ptr .global .align 16 d)\n.maxntid 128, 2, 1\n.minnctapersm 2\n{\n"
               ".shared .align 16 .b8 s[100];\n.shared .align 4 .b8 t[8];\n.reg .b32 %r<4>;\n"
               "mov.u32 %r1, s; mov.u32 %r2, t; ex2.approx.f32 %r3, %r1; ret;\n}\n"
               ".func helper() { ret; }\n"
               ".weak .entry second() { ret; }\n";
  assert_int_equal(sct_ptx_parse(&module, text, "two.ptx", &err), SCT_OK);
  assert_int_equal(sct_ptx_n_kernels(module), 2);
  const sct_ptx_kernel *k = sct_ptx_kernel_at(module, 0);
  assert_string_equal(k->name, "first");
  assert_int_equal(k->n_params, 4);
  static const int64_t offset[4] = {0, 16, 40, 48}, bytes[4] = {1, 24, 4, 8},
                       align[4] = {1, 16, 4, 8};
  for (int i = 0; i < 4; i++) {
    assert_int_equal(k->params[i].offset, offset[i]);
    assert_int_equal(k->params[i].bytes, bytes[i]);
    assert_int_equal(k->params[i].align, align[i]);
  }
  assert_string_equal(k->params[3].name, "d");
  assert_int_equal(k->param_bytes, 56);
  assert_int_equal(k->static_shared_bytes, 108);
  assert_int_equal(k->max_threads, 256);
  assert_int_equal(k->n_instructions, 4);
  assert_false(k->exact);
  assert_null(k->error);
  assert_true(sct_ptx_kernel_find(module, "second")->exact);
  assert_null(sct_ptx_kernel_find(module, "helper"));
  assert_null(sct_ptx_kernel_at(module, 2));
  sct_ptx_module_free(module);
}

/* Cut anywhere, the text is refused or read, never more. */
static void truncated_anywhere(void **state) {
  (void)state;
  static const char text[] =
      PTX_KERNEL ".shared .align 4 .b8 s[16];\n.loc 1 2 3, function_name $L, inlined_at 1 4 5\n"
                 "{ .reg .b32 x; L: @!%p1 ld.global.v2.u32 {x, _}, [%pi+-4]; @%p1 bra L; }\n"
                 "mov.f64 %d1, 0d3FF0000000000000; ret;\n}\n.file 1 \"a.cu\"\n.section .debug_str "
                 "{ .b8 1,2 }\n";
  for (size_t n = 0; n < sizeof text; n++) {
    char *cut = calloc(n + 1, 1);
    sct_error err = {0};
    sct_ptx_module *module = NULL;
    assert_non_null(cut);
    memcpy(cut, text, n);
    const sct_status status = sct_ptx_parse(&module, cut, "cut.ptx", &err);
    assert_true(status == SCT_OK || (status == SCT_EDATA && sct_has_prefix(err.text, "cut.ptx:")));
    if (status == SCT_OK) {
      sct_ptx_module_free(module);
    }
    free(cut);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(text_that_is_no_ptx),
      cmocka_unit_test(unknown_instructions_name_kernel_line_and_text),
      cmocka_unit_test(descriptions), cmocka_unit_test(truncated_anywhere)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
