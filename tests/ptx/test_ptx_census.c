/* The memory instructions counted in PTX, and loads of which nothing reads some elements: what
 * ptxas makes of them is known by experiment (ptx_live.c). */
#include "ptx_kernel.h"

enum { W1, W2, W4, W8, W16, W32 };

static void census_of(const char *ptx, sct_memops *out) {
  sct_error err = {0};
  sct_ptx_module *module = NULL;
  if (sct_ptx_parse(&module, ptx, "census.ptx", &err) != SCT_OK ||
      sct_ptx_memops(out, module, "k", &err) != SCT_OK) {
    fail_msg("%s", err.text);
  }
  sct_ptx_module_free(module);
}

static int32_t total(const sct_memops *m) {
  int32_t n = 0;
  for (int s = 0; s < SCT_MEMOP_N_SPACES; s++) {
    for (int o = 0; o < SCT_MEMOP_N_OPS; o++) {
      for (int w = 0; w < SCT_MEMOP_N_WIDTHS; w++) {
        n += m->n[s][o][w];
      }
    }
  }
  return n;
}

#define HEAD PTX_KERNEL ".shared .align 16 .b8 s[1024];\n.local .align 16 .b8 l[64];\n"

static void every_space_operation_and_width(void **state) {
  (void)state;
  sct_memops m;
  census_of(HEAD "ld.global.u8 %h1, [%pi];\nst.global.u8 [%po], %h1;\n"
                 "ld.global.nc.v2.u8 {%h1, %h2}, [%pi];\nst.shared.v2.u8 [s], {%h1, %h2};\n"
                 "ld.shared.u32 %r1, [s+4];\nst.global.u32 [%po], %r1;\n"
                 "ld.shared.v2.u32 {%r2, %r3}, [s+8];\nst.v2.u32 [%po], {%r2, %r3};\n"
                 "ld.v4.u32 {%r4, %r5, %r6, %r7}, [%pi];\nst.local.v4.u32 [l], {%r4, %r5, %r6, "
                 "%r7};\nld.local.u64 %d1, [l];\nst.global.u64 [%po], %d1;\n"
                 "mov.u32 %r8, s;\ncp.async.ca.shared.global [%r8], [%pi], 8;\n"
                 "cp.async.cg.shared.global [%r8], [%pi], 16;\ncp.async.wait_all;\n"
                 "bar.sync 0;\nret;\n}\n",
            &m);
  assert_int_equal(m.n[SCT_MEMOP_GLOBAL][SCT_MEMOP_LOAD][W1], 1);
  assert_int_equal(m.n[SCT_MEMOP_GLOBAL][SCT_MEMOP_LOAD][W2], 1);
  assert_int_equal(m.n[SCT_MEMOP_GLOBAL][SCT_MEMOP_STORE][W1], 1);
  assert_int_equal(m.n[SCT_MEMOP_GLOBAL][SCT_MEMOP_STORE][W4], 1);
  assert_int_equal(m.n[SCT_MEMOP_GLOBAL][SCT_MEMOP_STORE][W8], 1);
  assert_int_equal(m.n[SCT_MEMOP_SHARED][SCT_MEMOP_STORE][W2], 1);
  assert_int_equal(m.n[SCT_MEMOP_SHARED][SCT_MEMOP_LOAD][W4], 1);
  assert_int_equal(m.n[SCT_MEMOP_SHARED][SCT_MEMOP_LOAD][W8], 1);
  assert_int_equal(m.n[SCT_MEMOP_GENERIC][SCT_MEMOP_STORE][W8], 1);
  assert_int_equal(m.n[SCT_MEMOP_GENERIC][SCT_MEMOP_LOAD][W16], 1);
  assert_int_equal(m.n[SCT_MEMOP_LOCAL][SCT_MEMOP_STORE][W16], 1);
  assert_int_equal(m.n[SCT_MEMOP_LOCAL][SCT_MEMOP_LOAD][W8], 1);
  assert_int_equal(m.n[SCT_MEMOP_GLOBAL][SCT_MEMOP_ASYNC][W8], 1);
  assert_int_equal(m.n[SCT_MEMOP_GLOBAL][SCT_MEMOP_ASYNC][W16], 1);
  assert_int_equal(total(&m), 14);
  assert_int_equal(m.bulk, 0);
}

static void atomics_and_bulk_copies(void **state) {
  (void)state;
  sct_memops m;
  census_of(HEAD
            "mov.u32 %r1, s;\nmov.f32 %r9, 0f3f800000;\n"
            "atom.global.add.u32 %r2, [%pi], %i;\nred.global.add.u32 [%po], %r2;\n"
            "atom.shared.cas.b32 %r3, [%r1], 1, 2;\nred.shared::cta.max.u32 [%r1], %r3;\n"
            "atom.global.exch.b64 %d1, [%pi], %d2;\nred.add.u64 [%po], %d1;\n"
            "mbarrier.init.shared.b64 [s+64], 1;\n"
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [%pi], 16, "
            "[s+64];\n"
            "cp.async.bulk.global.shared::cta.bulk_group [%po], [s], 16;\n"
            "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n"
            "ret;\n}\n",
            &m);
  assert_int_equal(m.n[SCT_MEMOP_GLOBAL][SCT_MEMOP_ATOMIC][W4], 2);
  assert_int_equal(m.n[SCT_MEMOP_SHARED][SCT_MEMOP_ATOMIC][W4], 2);
  assert_int_equal(m.n[SCT_MEMOP_GLOBAL][SCT_MEMOP_ATOMIC][W8], 1);
  assert_int_equal(m.n[SCT_MEMOP_GENERIC][SCT_MEMOP_ATOMIC][W8], 1);
  assert_int_equal(total(&m), 6);
  assert_int_equal(m.bulk, 2);
}

/* The census of loops: straight code, a loop, and a loop in it. */
static void instructions_stand_in_innermost_loops(void **state) {
  (void)state;
  sct_memops m;
  census_of(HEAD "ld.global.u32 %r1, [%pi];\nmov.u32 %r2, 0;\n"
                 "outer:\nst.global.u32 [%po], %r1;\nst.global.u32 [%po+4], %r1;\nmov.u32 %r3, 0;\n"
                 "inner:\nst.global.u32 [%po+8], %r1;\nadd.u32 %r3, %r3, 1;\n"
                 "setp.lt.u32 %p1, %r3, 4;\n@%p1 bra inner;\n"
                 "st.global.u8 [%po], %h1;\nadd.u32 %r2, %r2, 1;\n"
                 "setp.lt.u32 %p2, %r2, %i;\n@%p2 bra outer;\nst.global.u32 [%po+12], %r1;\n"
                 "ret;\n}\n",
            &m);
  assert_int_equal(m.n[SCT_MEMOP_GLOBAL][SCT_MEMOP_STORE][W4], 4);
  assert_int_equal(m.n_loops, 2);
  assert_int_equal(m.loops[0].n[SCT_MEMOP_GLOBAL][SCT_MEMOP_STORE][W4], 2);
  assert_int_equal(m.loops[0].n[SCT_MEMOP_GLOBAL][SCT_MEMOP_STORE][W1], 1);
  assert_int_equal(m.loops[1].n[SCT_MEMOP_GLOBAL][SCT_MEMOP_STORE][W4], 1);
  assert_int_equal(m.loops[1].n[SCT_MEMOP_GLOBAL][SCT_MEMOP_STORE][W1], 0);
  assert_false(m.loops[0].uniform || m.loops[1].uniform);
}

/* The loads of flags that other blocks set; outside a loop nothing waits. */
static void loops_wait_by_strong_loads(void **state) {
  (void)state;
  static const struct {
    const char *inside, *after;
    int waiting;
  } known[] = {{"ld.volatile.global.u32 %r1, [%pi]", "ld.global.u32", 1},
               {"ld.relaxed.gpu.global.u32 %r1, [%pi]", "ld.global.u32", 1},
               {"ld.acquire.gpu.u32 %r1, [%pi]", "ld.global.u32", 1},
               {"ld.global.u32 %r1, [%pi]", "ld.volatile.global.u32", 0},
               {"ld.volatile.shared.u32 %r1, [s]", "ld.global.u32", 0}};
  for (int k = 0; k < SCT_COUNT(known); k++) {
    sct_str ptx = {0};
    sct_memops m;
    sct_str_printf(&ptx,
                   "%sagain:\n%s;\nsetp.eq.u32 %%p1, %%r1, 0;\n@%%p1 bra again;\n"
                   "%s %%r2, [%%pi+4];\nst.global.u32 [%%po], %%r2;\nret;\n}\n",
                   HEAD, known[k].inside, known[k].after);
    census_of(sct_str_c(&ptx), &m);
    assert_int_equal(m.waiting, known[k].waiting);
    sct_str_free(&ptx);
  }
}

static void parameters_and_constants_are_no_memory(void **state) {
  (void)state;
  sct_memops m;
  census_of(PTX_HEAD ".const .align 4 .b8 c[64];\n.visible .entry k(.param .u64 in) {\n"
                     ".reg .b32 %r<4>;\n.reg .b64 %d<4>;\nld.param.u64 %d1, [in];\n"
                     "ld.const.u32 %r1, [c+4];\nst.global.u32 [%d1], %r1;\nret;\n}\n",
            &m);
  assert_int_equal(m.n[SCT_MEMOP_GLOBAL][SCT_MEMOP_STORE][W4], 1);
  assert_int_equal(total(&m), 1);
}

static void called_functions_count_once(void **state) {
  (void)state;
  sct_memops m;
  census_of(PTX_HEAD ".func get(.param .b64 p) {\n.reg .b32 %r<4>;\n.reg .b64 %d<4>;\n"
                     "ld.param.u64 %d1, [p];\nld.u32 %r1, [%d1];\nst.u32 [%d1+4], %r1;\nret;\n}\n"
                     ".visible .entry k(.param .u64 in) {\n.reg .b64 %d<4>;\n"
                     "ld.param.u64 %d1, [in];\n"
                     "{\n.param .b64 a;\nst.param.b64 [a], %d1;\ncall.uni get, (a);\n}\n"
                     "{\n.param .b64 b;\nst.param.b64 [b], %d1;\ncall.uni get, (b);\n}\nret;\n}\n",
            &m);
  assert_int_equal(m.n[SCT_MEMOP_GENERIC][SCT_MEMOP_LOAD][W4], 1);
  assert_int_equal(m.n[SCT_MEMOP_GENERIC][SCT_MEMOP_STORE][W4], 1);
  assert_int_equal(total(&m), 2);
}

static void unknown_kernels_are_errors(void **state) {
  (void)state;
  sct_error err = {0};
  sct_ptx_module *module = NULL;
  sct_memops m;
  assert_int_equal(sct_ptx_parse(&module,
                                 PTX_HEAD ".visible .entry k() {\n.reg .b32 %r<4>;\n"
                                          "frobnicate.u32 %r1, %r2;\nret;\n}\n",
                                 "bad.ptx", &err),
                   SCT_OK);
  assert_int_equal(sct_ptx_memops(&m, module, "kk", &err), SCT_EUSAGE);
  assert_non_null(strstr(err.text, "no kernel 'kk'"));
  assert_int_equal(sct_ptx_memops(&m, module, "k", &err), SCT_EDATA);
  assert_non_null(strstr(err.text, "frobnicate"));
  sct_ptx_module_free(module);
}

/* ---- elements that nothing reads */

typedef struct pattern {
  const char *type;
  int n;
  unsigned live; /* elements that are stored */
  int32_t want[SCT_MEMOP_N_WIDTHS];
} pattern;

/* As ptxas 13.0 compiles them for sm_75 to sm_120. */
static const pattern patterns[] = {
    {"u8", 2, 1, {0, 1}},
    {"u8", 4, 1, {0, 0, 1}},
    {"u8", 4, 5, {0, 0, 1}},
    {"u8", 4, 0, {0}},
    {"u16", 2, 1, {0, 1}},
    {"u16", 2, 2, {0, 1}},
    {"u16", 2, 3, {0, 0, 1}},
    {"u16", 4, 4, {0, 1}},
    {"u16", 4, 3, {0, 0, 1}},
    {"u16", 4, 12, {0, 0, 1}},
    {"u16", 4, 5, {0, 0, 0, 1}},
    {"u16", 4, 6, {0, 0, 0, 1}},
    {"u16", 4, 7, {0, 0, 0, 1}},
    {"u32", 1, 0, {0}},
    {"u32", 2, 1, {0, 0, 1}},
    {"u32", 2, 0, {0}},
    {"u32", 4, 8, {0, 0, 1}},
    {"u32", 4, 3, {0, 0, 0, 1}},
    {"u32", 4, 12, {0, 0, 0, 1}},
    {"u32", 4, 5, {0, 0, 2}},
    {"u32", 4, 9, {0, 0, 2}},
    {"u32", 4, 6, {0, 0, 2}},
    {"u32", 4, 10, {0, 0, 2}},
    {"u32", 4, 7, {0, 0, 0, 0, 1}},
    {"u32", 4, 11, {0, 0, 0, 0, 1}},
    {"u32", 4, 15, {0, 0, 0, 0, 1}},
    {"u64", 2, 1, {0, 0, 0, 1}},
    {"u64", 2, 2, {0, 0, 0, 1}},
    {"u64", 2, 3, {0, 0, 0, 0, 1}},
    {"u64", 4, 1, {0, 0, 0, 0, 0, 1}},
};

/* A kernel that loads the vector and stores its live elements one by one. */
static void vector_kernel(sct_str *text, const pattern *p, const char *mods, const char *address) {
  const int bits = atoi(p->type + 1);
  const char reg = bits == 64 ? 'd' : bits == 32 ? 'r' : 'h';
  sct_str_append(text, HEAD "shl.b64 %d30, %o, 2;\nadd.s64 %d31, %in, %d30;\n");
  sct_str_printf(text, "ld.%s", mods);
  if (p->n > 1) {
    sct_str_printf(text, ".v%d", p->n);
  }
  sct_str_printf(text, ".%s %s", p->type, p->n > 1 ? "{" : "");
  for (int e = 0; e < p->n; e++) {
    sct_str_printf(text, "%s%%%c%d", e > 0 ? ", " : "", reg, e + 1);
  }
  sct_str_printf(text, "%s, [%s];\n", p->n > 1 ? "}" : "", address);
  for (int e = 0; e < p->n; e++) {
    if ((p->live >> e & 1) != 0) {
      sct_str_printf(text, "st.volatile.global.%s [%%out+%d], %%%c%d;\n", p->type, 32 * e, reg,
                     e + 1);
    }
  }
  sct_str_append(text, "ret;\n}\n");
}

static void loads_are_narrowed_as_ptxas_does(void **state) {
  (void)state;
  static const struct {
    const char *mods, *address;
    sct_memop_space space;
  } ways[] = {{"global", "%d31", SCT_MEMOP_GLOBAL},
              {"global.nc", "%d31", SCT_MEMOP_GLOBAL},
              {"relaxed.gpu.global", "%d31", SCT_MEMOP_GLOBAL},
              {"shared", "s", SCT_MEMOP_SHARED}};
  for (int w = 0; w < SCT_COUNT(ways); w++) {
    for (int i = 0; i < SCT_COUNT(patterns); i++) {
      const pattern *p = &patterns[i];
      sct_str text = {0};
      sct_memops m;
      vector_kernel(&text, p, ways[w].mods, ways[w].address);
      census_of(sct_str_c(&text), &m);
      if (memcmp(m.n[ways[w].space][SCT_MEMOP_LOAD], p->want, sizeof p->want) != 0) {
        fail_msg("%s", sct_str_c(&text));
      }
      sct_str_free(&text);
    }
  }
}

static void volatile_loads_stay_whole(void **state) {
  (void)state;
  static const pattern p = {"u32", 4, 1, {0, 0, 0, 0, 1}};
  static const char *const mods[] = {"volatile.global", "acquire.gpu.global",
                                     "mmio.relaxed.sys.global"};
  for (int i = 0; i < SCT_COUNT(mods); i++) {
    sct_str text = {0};
    sct_memops m;
    vector_kernel(&text, &p, mods[i], "%d31");
    census_of(sct_str_c(&text), &m);
    assert_memory_equal(m.n[SCT_MEMOP_GLOBAL][SCT_MEMOP_LOAD], p.want, sizeof p.want);
    sct_str_free(&text);
  }
}

/* One warp reads vectors of four words one after the other: x and z, from global and from shared
 * memory. */
static void counters_follow_the_parts(void **state) {
  (void)state;
  static const char text[] =
      HEAD "mul.wide.u32 %d1, %i, 16;\nadd.s64 %d2, %in, %d1;\ncvt.u32.u64 %r20, %d1;\n"
           "mov.u32 %r21, s;\nadd.u32 %r20, %r20, %r21;\n"
           "ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%d2];\n"
           "ld.shared.v4.u32 {%r5, %r6, %r7, %r8}, [%r20];\n"
           "add.u32 %r1, %r1, %r3;\nst.global.u32 [%po], %r1;\nadd.u32 %r5, %r5, %r7;\n"
           "st.shared.u32 [%r20], %r5;\nret;\n}\n";
  static const uint32_t in[128];
  uint32_t out[32];
  sct_ptx_result result;
  const kernel_run r = {
      .blocks = 1, .threads = 32, .in = in, .in_bytes = sizeof in, .out_bytes = sizeof out};
  (void)run_kernel(text, &r, out, &result);
  const sct_ptx_global *g = &result.counters.load;
  assert_int_equal(g->requests, 2);
  assert_int_equal(g->sectors, 32);      /* 16 each */
  assert_int_equal(g->sectors_ideal, 8); /* 128 bytes each */
  assert_int_equal(g->bytes, 256);
  assert_int_equal(result.counters.load_width[W4], 2);
  assert_int_equal(result.counters.load_width[W16], 0);
  assert_int_equal(result.counters.shared_load.requests, 2);
  assert_int_equal(result.counters.shared_load.wavefronts, 8); /* every fourth bank */
  assert_int_equal(result.counters.shared_load.bytes, 256);
  sct_ptx_result_free(&result);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_space_operation_and_width),
      cmocka_unit_test(atomics_and_bulk_copies),
      cmocka_unit_test(instructions_stand_in_innermost_loops),
      cmocka_unit_test(loops_wait_by_strong_loads),
      cmocka_unit_test(counters_follow_the_parts),
      cmocka_unit_test(parameters_and_constants_are_no_memory),
      cmocka_unit_test(called_functions_count_once),
      cmocka_unit_test(unknown_kernels_are_errors),
      cmocka_unit_test(loads_are_narrowed_as_ptxas_does),
      cmocka_unit_test(volatile_loads_stay_whole),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
