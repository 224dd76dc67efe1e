/* What instructions come to in machine code, by pipe. */
#include "ptx_kernel.h"

typedef struct cost {
  const char *ptx;
  int fp32, fp64, sfu, integer, imul, issue;
} cost;

static const cost costs[] = {
    {"fma.rn.f32 %f, %f, %f, %f;", 1, 0, 0, 0, 0, 1},
    {"div.rn.f32 %f, %f, %f;", 5, 0, 2, 0, 0, 10},
    {"rsqrt.approx.ftz.f32 %f, %f;", 0, 0, 1, 0, 0, 1},
    {"sin.approx.f32 %f, %f;", 1, 0, 1, 0, 0, 2},
    {"fma.rn.f64 %g, %g, %g, %g;", 0, 1, 0, 0, 0, 1},
    {"div.rn.f64 %g, %g, %g;", 1, 8, 1, 3, 0, 16},
    {"fma.rn.f16x2 %r1, %r1, %r1, %r1;", 1, 0, 0, 0, 0, 1},
    {"mad.lo.s32 %r1, %r1, %r1, %r1;", 0, 0, 0, 0, 1, 1},
    {"mul.lo.s64 %d1, %d1, %d1;", 0, 0, 0, 0, 4, 4},
    {"div.s64 %d1, %d1, %d2;", 0, 0, 3, 44, 40, 89},
    {"div.u32 %r1, %r1, %r2;", 0, 0, 3, 8, 7, 18},
    {"lop3.b32 %r1, %r1, %r1, %r1, 0x96;", 0, 0, 0, 1, 0, 1},
    {"cvt.f64.f32 %g, %f;", 0, 0, 1, 0, 0, 1},
    {"cvt.rn.f32.s32 %f, %r1;", 0, 0, 0, 1, 0, 1},
    {"mov.b32 %r1, %r2;", 0, 0, 0, 0, 0, 0},
    {"st.global.u32 [%po], %r1;", 0, 0, 0, 0, 0, 1},
};

/* The counters of one kernel with `text` in it, run by three warps. */
static sct_ptx_counters counted(const char *text) {
  char ptx[4096];
  snprintf(ptx, sizeof ptx,
           "%s.reg .f32 %%f;\n.reg .f64 %%g;\nmov.b32 %%r1, 7;\nmov.b32 %%r2, 3;\n"
           "mov.b64 %%d1, 7;\nmov.b64 %%d2, 3;\nmov.f32 %%f, 0f3F800000;\n"
           "mov.f64 %%g, 0d3FF0000000000000;\n%s\nret;\n}\n",
           PTX_KERNEL, text);
  const uint32_t in[96] = {0};
  const kernel_run run = {
      .blocks = 1, .threads = 96, .in = in, .in_bytes = sizeof in, .out_bytes = sizeof in};
  sct_ptx_result result;
  assert_int_equal(run_kernel(ptx, &run, NULL, &result), SCT_PTX_CLEAN);
  const sct_ptx_counters counters = result.counters;
  sct_ptx_result_free(&result);
  return counters;
}

static sct_executed executed(const char *text) {
  return counted(text).machine;
}

static void instructions_cost_what_ptxas_makes_of_them(void **state) {
  (void)state;
  const sct_executed none = executed("");
  for (int k = 0; k < SCT_COUNT(costs); k++) {
    const cost *c = &costs[k];
    const int want[SCT_N_PIPES] = {c->fp32, c->fp64, c->sfu, c->integer, c->imul, c->issue};
    const sct_executed with = executed(c->ptx);
    for (int p = 0; p < SCT_N_PIPES; p++) {
      if (with.n[p] - none.n[p] != 3 * want[p]) {
        fail_msg("%s: pipe %d: %d of three warps", c->ptx, p, (int)(with.n[p] - none.n[p]));
      }
    }
  }
}

/* A sum or a product is one of every active lane, a fused one is two; of pairs twice as many. */
static void floating_point_operations_are_counted_by_type(void **state) {
  (void)state;
  static const struct {
    const char *ptx;
    int f16, f32, f64;
  } cases[] = {
      {"add.f32 %f, %f, %f;", 0, 96, 0},
      {"sub.rn.ftz.f32 %f, %f, %f;", 0, 96, 0},
      {"fma.rn.f32 %f, %f, %f, %f;", 0, 192, 0},
      {"mad.rn.f32 %f, %f, %f, %f;", 0, 192, 0},
      {"mul.f64 %g, %g, %g;", 0, 0, 96},
      {"fma.rn.f64 %g, %g, %g, %g;", 0, 0, 192},
      {"add.f16 %h1, %h1, %h1;", 96, 0, 0},
      {"fma.rn.bf16 %h1, %h1, %h1, %h1;", 192, 0, 0},
      {"mul.f16x2 %r1, %r1, %r1;", 192, 0, 0},
      {"fma.rn.bf16x2 %r1, %r1, %r1, %r1;", 384, 0, 0},
      {"setp.ge.u32 %p1, %i, 40;\n@%p1 bra PAST;\nadd.f32 %f, %f, %f;\nPAST:", 0, 40, 0},
      {"mad.lo.s32 %r1, %r1, %r1, %r1;\nadd.s64 %d1, %d1, %d2;\nadd.u16x2 %r1, %r1, %r1;", 0, 0, 0},
      {"div.rn.f32 %f, %f, %f;\nneg.f64 %g, %g;\nmax.f32 %f, %f, %f;", 0, 0, 0},
  };
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    char text[512];
    snprintf(text, sizeof text, "mov.b16 %%h1, 0;\n%s", cases[k].ptx);
    const sct_ptx_counters c = counted(text);
    const int want[SCT_PTX_N_FLOPS] = {cases[k].f16, cases[k].f32, cases[k].f64};
    for (int t = 0; t < SCT_PTX_N_FLOPS; t++) {
      if (c.flops[t] != want[t]) {
        fail_msg("%s: type %d: %d, not %d", cases[k].ptx, t, (int)c.flops[t], want[t]);
      }
    }
  }
}

static void instructions_of_memory_and_control_are_told_apart(void **state) {
  (void)state;
  const sct_ptx_counters none = counted("");
  const sct_ptx_counters some =
      counted("ld.global.u32 %r1, [%pi];\nst.global.u32 [%po], %r1;\nbar.sync 0;\n"
              "setp.lt.u32 %p1, %i, 200;\n@%p1 bra ON;\nON:\n"
              "shfl.sync.bfly.b32 %r2, %r1, 1, 31, -1;\natom.global.add.u32 %r1, [%po], 1;\n");
  assert_int_equal(some.memory_instructions - none.memory_instructions, 3 * 4);
  assert_int_equal(some.control_instructions - none.control_instructions, 3 * 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(instructions_cost_what_ptxas_makes_of_them),
      cmocka_unit_test(floating_point_operations_are_counted_by_type),
      cmocka_unit_test(instructions_of_memory_and_control_are_told_apart)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
