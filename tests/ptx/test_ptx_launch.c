/* Launching: arguments and limits, host threads, orders, reset, counters by instruction, limits. */
#include "ptx_kernel.h"

static const char map[] = PTX_HEAD
    ".file 1 \"map.cu\"\n.visible .entry map(.param .u32 n, .param .u64 in, .param .u64 out)\n"
    ".maxntid 512, 1, 1\n{\n.reg .pred %p<3>;\n.reg .b32 %r<9>;\n.reg .b64 %d<9>;\n"
    ".loc 1 3 1\nmov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;\n"
    "mad.lo.s32 %r4, %r1, %r2, %r3; ld.param.u32 %r5, [n]; setp.ge.u32 %p1, %r4, %r5;\n"
    ".loc 1 4 1\n@%p1 bra END;\n"
    ".loc 1 5 1\nld.param.u64 %d1, [in]; ld.param.u64 %d2, [out]; mul.wide.u32 %d3, %r4, 4;\n"
    "add.s64 %d4, %d1, %d3; ld.global.u32 %r6, [%d4]; add.s32 %r7, %r6, 1;\n"
    ".loc 1 6 1\nadd.s64 %d5, %d2, %d3; st.global.u32 [%d5], %r7;\nEND: ret;\n}\n";

typedef struct bench {
  sct_ptx_module *module;
  sct_ptx_memory *memory;
  uint64_t in, out;
  uint32_t n;
  const void *args[3];
  sct_ptx_launch_opts opts;
} bench;

static int setup(void **state) {
  bench *b = calloc(1, sizeof *b);
  sct_error err = {0};
  uint32_t *data = calloc(10000, 4);
  assert_non_null(b);
  assert_non_null(data);
  for (uint32_t i = 0; i < 10000; i++) {
    data[i] = 3 * i;
  }
  assert_int_equal(sct_ptx_parse(&b->module, map, "map.ptx", &err), SCT_OK);
  sct_ptx_memory_new(&b->memory);
  const sct_ptx_buffer in = {.name = "in", .bytes = 40000, .data = data, .read_only = true};
  const sct_ptx_buffer out = {.name = "out", .bytes = 40000, .output = true};
  assert_int_equal(sct_ptx_memory_add(b->memory, &b->in, &in, &err), SCT_OK);
  assert_int_equal(sct_ptx_memory_add(b->memory, &b->out, &out, &err), SCT_OK);
  free(data);
  b->n = 10000;
  b->args[0] = &b->n;
  b->args[1] = &b->in;
  b->args[2] = &b->out;
  b->opts = (sct_ptx_launch_opts){.module = b->module,
                                  .kernel = "map",
                                  .grid = {40, 1, 1},
                                  .block = {256, 1, 1},
                                  .args = b->args,
                                  .n_args = 3};
  *state = b;
  return 0;
}

static int teardown(void **state) {
  bench *b = *state;
  sct_ptx_memory_free(b->memory);
  sct_ptx_module_free(b->module);
  free(b);
  return 0;
}

static void refused(bench *b, const char *message) {
  sct_error err = {0};
  sct_ptx_result result;
  assert_int_equal(sct_ptx_launch(&result, b->memory, &b->opts, &err), SCT_EUSAGE);
  if (strstr(err.text, message) == NULL) {
    fail_msg("'%s' lacks '%s'", err.text, message);
  }
}

static void bad_launches_are_usage_errors(void **state) {
  bench *b = *state;
  const sct_ptx_launch_opts good = b->opts;
  b->opts.kernel = "mpa";
  refused(b, "no kernel 'mpa' in map.ptx; did you mean 'map'?");
  b->opts = good;
  b->opts.n_args = 2;
  refused(b, "takes 3 arguments, not 2");
  b->opts = good;
  b->opts.block[0] = 1024;
  refused(b, "1024 threads a block, it takes at most 512");
  b->opts = good;
  b->opts.block[2] = 65;
  refused(b, "block of 65 along z, expected 1 to 64");
  b->opts = good;
  b->opts.grid[1] = 65536;
  refused(b, "grid of 65536 along y, expected 1 to 65535");
  b->opts = good;
  b->opts.grid[0] = -1;
  refused(b, "grid of -1 along x, expected 1 to 2147483647");
  b->opts = good;
  b->opts.shared_bytes = 300000;
  refused(b, "0 + 300000 bytes of shared memory, limit 232448");
  b->opts.shared_bytes = 50000;
  b->opts.max_shared_bytes = 49152;
  refused(b, "limit 49152");
  b->opts = good;
}

static void launch(bench *b, sct_ptx_result *result) {
  sct_error err = {0};
  if (sct_ptx_launch(result, b->memory, &b->opts, &err) != SCT_OK) {
    fail_msg("%s", err.text);
  }
}

static void results_do_not_depend_on_host_threads(void **state) {
  bench *b = *state;
  sct_ptx_result one, four;
  launch(b, &one);
  const uint32_t *out = (const uint32_t *)(const void *)sct_ptx_memory_data(b->memory, b->out);
  for (uint32_t i = 0; i < 10000; i++) {
    assert_int_equal(out[i], 3 * i + 1);
  }
  sct_ptx_memory_reset(b->memory, b->out, NULL);
  assert_int_equal(sct_ptx_memory_undefined(b->memory, b->out, 0), 0);
  b->opts.threads = 4;
  b->opts.no_races = true;
  launch(b, &four);
  assert_int_equal(one.diag.kind, SCT_PTX_CLEAN);
  assert_int_equal(four.diag.kind, SCT_PTX_CLEAN);
  assert_memory_equal(&one.counters, &four.counters, sizeof one.counters);
  assert_int_equal(one.counters.load.requests, 313);
  assert_int_equal(one.counters.load.sectors, 1250);
  assert_int_equal(one.counters.load_width[2], 313);
  assert_int_equal(one.counters.divergent_branches, 1);
  sct_ptx_result_free(&one);
  sct_ptx_result_free(&four);
}

/* The lowest block wins, whatever the number of host threads. */
static void the_first_failing_block_is_reported(void **state) {
  bench *b = *state;
  b->n = 10200; /* 200 elements too many: blocks 39 and, with a larger grid, 40 ... */
  for (int threads = 1; threads <= 4; threads += 3) {
    sct_ptx_result result;
    b->opts.threads = threads;
    b->opts.no_races = true;
    b->opts.grid[0] = 80;
    launch(b, &result);
    assert_int_equal(result.diag.kind, SCT_PTX_OUT_OF_BOUNDS);
    assert_int_equal(result.diag.block[0], 39);
    assert_int_equal(result.diag.warp, 0);
    assert_int_equal(result.diag.lane, 16);
    assert_int_equal(result.diag.line, 5);
    assert_string_equal(result.diag.file, "map.cu");
    assert_int_equal(result.diag.address, b->in + 40000);
    sct_ptx_result_free(&result);
  }
}

/* Whether later blocks fail sooner or later, the lowest one is reported. */
static void the_lowest_block_wins(void **state) {
  (void)state;
  for (int rising = 0; rising < 2; rising++) {
    sct_error err = {0};
    sct_str text = {0};
    sct_ptx_module *module = NULL;
    sct_ptx_memory *memory = NULL;
    sct_ptx_result result;
    sct_str_printf(&text,
                   "%s.visible .entry k()\n{\n.reg .pred %%p1;\n.reg .b32 %%r<4>;\n"
                   "mov.u32 %%r1, %%ctaid.x;\nmad.lo.s32 %%r2, %%r1, %d, %d;\n"
                   "L: sub.s32 %%r2, %%r2, 1; setp.gt.s32 %%p1, %%r2, 0; @%%p1 bra L;\n"
                   "trap; ret;\n}\n",
                   PTX_HEAD, rising ? 20000 : -20000, rising ? 20000 : 160000);
    assert_int_equal(sct_ptx_parse(&module, sct_str_c(&text), "trap.ptx", &err), SCT_OK);
    sct_ptx_memory_new(&memory);
    const sct_ptx_launch_opts opts = {.module = module,
                                      .kernel = "k",
                                      .grid = {8, 1, 1},
                                      .block = {32, 1, 1},
                                      .threads = 8,
                                      .no_races = true};
    assert_int_equal(sct_ptx_launch(&result, memory, &opts, &err), SCT_OK);
    assert_int_equal(result.diag.kind, SCT_PTX_TRAP);
    assert_int_equal(result.diag.block[0], 0);
    sct_ptx_result_free(&result);
    sct_ptx_memory_free(memory);
    sct_ptx_module_free(module);
    sct_str_free(&text);
  }
}

static void never_written(void **state) {
  bench *b = *state;
  sct_ptx_result result;
  b->n = 9999;
  launch(b, &result);
  assert_int_equal(result.diag.kind, SCT_PTX_NOT_WRITTEN);
  assert_int_equal(result.diag.address, b->out + 4 * 9999);
  assert_int_equal(sct_ptx_memory_undefined(b->memory, b->out, 0), 4 * 9999);
  sct_ptx_result_free(&result);
  b->opts.no_definedness = true;
  launch(b, &result);
  assert_int_equal(result.diag.kind, SCT_PTX_CLEAN);
  sct_ptx_result_free(&result);
}

static void counters_by_instruction(void **state) {
  bench *b = *state;
  sct_ptx_result result;
  b->opts.per_instruction = true;
  launch(b, &result);
  assert_int_equal(result.n_insts, 16);
  int64_t executed = 0, loads = 0, stores = 0;
  for (int i = 0; i < result.n_insts; i++) {
    const sct_ptx_inst_counters *c = &result.insts[i];
    executed += c->executed;
    assert_string_equal(c->file, "map.cu");
    if (c->line == 5 && c->global.requests > 0) {
      loads += c->global.sectors;
      assert_true(c->text_len > 0 && strncmp(c->text, "ld.global.u32", 13) == 0);
      assert_int_equal(c->executed, 313);
      assert_int_equal(c->lanes, 10000);
    }
    stores += c->line == 6 ? c->global.sectors : 0;
    if (c->line == 4) {
      assert_int_equal(c->divergent, 1);
      assert_int_equal(c->executed, 320);
    }
  }
  assert_int_equal(loads, 1250);
  assert_int_equal(stores, 1250);
  assert_int_equal(executed, result.counters.warp_instructions);
  assert_true(sct_ptx_degree_of(&result.counters).both == 1.0);
  sct_ptx_result_free(&result);
  assert_null(result.insts);
}

static void counters_can_be_off(void **state) {
  bench *b = *state;
  sct_ptx_result result;
  b->opts.no_counters = true;
  launch(b, &result);
  assert_int_equal(result.counters.load.requests, 0);
  assert_int_equal(result.diag.kind, SCT_PTX_CLEAN);
  sct_ptx_result_free(&result);
}

/* A kernel that never ends stops within its budget. */
static void step_budget(void **state) {
  (void)state;
  uint32_t in[32] = {0};
  sct_ptx_result result;
  const kernel_run r = {
      .blocks = 1, .threads = 32, .in = in, .in_bytes = sizeof in, .out_bytes = 128};
  assert_int_equal(run_kernel(PTX_KERNEL "L: add.s32 %r1, %i, 1; bra L;\n}\n", &r, NULL, &result),
                   SCT_PTX_STEP_LIMIT);
  assert_true(result.counters.warp_instructions >= 50000000);
  sct_ptx_result_free(&result);
}

static void dynamic_shared_memory(void **state) {
  (void)state;
  uint32_t in[64] = {0}, out[64];
  static const char text[] = PTX_HEAD
      ".extern .shared .align 16 .b8 dyn[];\n.visible .entry k(.param .u64 in, .param .u64 "
      "out)\n{\n"
      ".shared .align 4 .b8 fixed[256];\n.reg .b32 %r<9>;\n.reg .b64 %d<9>;\n"
      "mov.u32 %r0, %tid.x; shl.b32 %r1, %r0, 2; mov.u32 %r2, dyn; add.s32 %r2, %r2, %r1;\n"
      "mov.u32 %r3, fixed; add.s32 %r3, %r3, %r1; st.shared.u32 [%r2], %r0; st.shared.u32 [%r3], "
      "100;\n"
      "ld.shared.u32 %r4, [%r2]; ld.shared.u32 %r5, [%r3]; add.s32 %r4, %r4, %r5;\n"
      "mov.u32 %r6, %dynamic_smem_size; add.s32 %r4, %r4, %r6;\n"
      "cvt.u64.u32 %d1, %r1; ld.param.u64 %d2, [out]; add.s64 %d2, %d2, %d1; st.global.u32 [%d2], "
      "%r4;\n"
      "ret;\n}\n";
  for (int short_by = 0; short_by <= 4; short_by += 4) {
    sct_ptx_result result;
    const kernel_run r = {.blocks = 1,
                          .threads = 64,
                          .in = in,
                          .in_bytes = sizeof in,
                          .out_bytes = sizeof out,
                          .shared_bytes = 256 - short_by};
    assert_int_equal(run_kernel(text, &r, out, &result),
                     short_by ? SCT_PTX_OUT_OF_BOUNDS : SCT_PTX_CLEAN);
    for (int i = 0; i < 64 && !short_by; i++) {
      assert_int_equal(out[i], i + 100 + 256);
    }
    sct_ptx_result_free(&result);
  }
}

static void bad_buffers(void **state) {
  (void)state;
  sct_error err = {0};
  sct_ptx_memory *memory = NULL;
  uint64_t address = 0, other = 0;
  sct_ptx_memory_new(&memory);
  sct_ptx_buffer b = {.name = "b", .bytes = -1};
  assert_int_equal(sct_ptx_memory_add(memory, &address, &b, &err), SCT_EUSAGE);
  b = (sct_ptx_buffer){.name = "b", .bytes = 8, .misalign = 512};
  assert_int_equal(sct_ptx_memory_add(memory, &address, &b, &err), SCT_EUSAGE);
  b = (sct_ptx_buffer){.name = "b", .bytes = 0};
  assert_int_equal(sct_ptx_memory_add(memory, &address, &b, &err), SCT_OK);
  b = (sct_ptx_buffer){.name = "c", .bytes = 16, .data = "0123456789abcdef", .misalign = 4};
  assert_int_equal(sct_ptx_memory_add(memory, &other, &b, &err), SCT_OK);
  assert_int_equal(address % 512, 0);
  assert_int_equal(other % 512, 4);
  assert_true(other - address > 1 << 30);
  assert_memory_equal(sct_ptx_memory_data(memory, other), "0123456789abcdef", 16);
  assert_null(sct_ptx_memory_data(memory, other + 4));
  assert_int_equal(sct_ptx_memory_undefined(memory, other, 0), -1);
  sct_ptx_memory_reset(memory, other, NULL); /* uninitialised from now on */
  assert_int_equal(sct_ptx_memory_undefined(memory, other, 3), 3);
  sct_ptx_memory_reset(memory, other, "fedcba9876543210");
  assert_int_equal(sct_ptx_memory_undefined(memory, other, 0), -1);
  assert_memory_equal(sct_ptx_memory_data(memory, other), "fedcba9876543210", 16);
  sct_ptx_memory_free(memory);
}

#define WITH(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

/* What was inlined has its own place, and those where it was called, from the inside out; what is
 * of the toolkit's headers is named by its call, and beside it by its own place. */
static void inlined_code_is_named_by_its_calls(void **state) {
  (void)state;
  static const char head[] = PTX_HEAD ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n"
                                      ".reg .b64 %d<4>;\n.reg .b32 %r<2>;\n.loc 1 40 3\n"
                                      ".loc 1 30 5, function_name $L0, inlined_at 1 40 3\n"
                                      ".loc 1 40 9\n"
                                      ".loc 1 31 5, function_name $L0, inlined_at 1 40 9\n"
                                      ".loc 2 5 1, function_name $L0, inlined_at 1 40 3\n"
                                      ".loc 3 9 2, function_name $L1, inlined_at 1 31 5\n";
  static const char tail[] =
      "mov.u64 %d1, 0;\nld.global.u32 %r1, [%d1];\nret;\n}\n"
      ".file 1 \"mine.cu\"\n.file 2 \"too.h\"\n.file 3 \"/usr/local/cuda/include/their.h\"\n"
      ".section .debug_str\n{\n$L0:\n.b8 102\n.b8 0\n$L1:\n"
      ".b8 95,90,78,75,50,99,103,52\n.b8 115,121,110,99,69,118,0\n$L2:\n.b8 95,90,53,112\n"
      ".b8 108,97,105,110,102,0\n}\n"; /* f, _ZNK2cg4syncEv, _Z5plainf */
  static const struct {
    const char *loc;
    int line, called[3];
    const char *file, *text;
  } cases[] = {{".loc 1 40 3\n", 40, {0}, "mine.cu", "line 40 of mine.cu, PTX"},
               {".loc 1 30 5, function_name $L0, inlined_at 1 40 3\n", 30, {40}, "mine.cu", NULL},
               {".loc 1 7 1, function_name $L1, inlined_at 1 31 5\n", 7, {31, 40}, "mine.cu", NULL},
               {".loc 2 7 1, function_name $L1, inlined_at 1 31 5\n",
                7,
                {31, 40},
                "too.h",
                "line 7 of too.h, called in line 31 of mine.cu, called in line 40 of mine.cu, PTX"},
               {".loc 3 7 1, function_name $L1, inlined_at 1 31 5\n",
                31,
                {40},
                "mine.cu",
                "line 31 of mine.cu, in sync, line 7 of /usr/local/cuda/include/their.h, PTX"},
               {".loc 3 8 1, function_name $L2, inlined_at 3 9 2\n",
                31,
                {40},
                "mine.cu",
                "in plain, line 8"},
               {".loc 3 7 1\n", 7, {0}, "/usr/local/cuda/include/their.h", NULL},
               {".loc 2 7 1, function_name $L1, inlined_at 1 77 2\n", 7, {77}, "too.h", NULL}};
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    SCT_SCOPED(sct_str) text = {0}, printed = {0};
    uint32_t word = 0;
    sct_ptx_result result;
    sct_str_printf(&text, "%s%s%s", head, cases[k].loc, tail);
    const kernel_run run = {.blocks = 1, .threads = 1, .in = &word, .in_bytes = 4, .out_bytes = 4};
    assert_int_equal(run_kernel(sct_str_c(&text), &run, NULL, &result), SCT_PTX_OUT_OF_BOUNDS);
    sct_ptx_diag_print(&printed, &result.diag);
    assert_int_equal(result.diag.line, cases[k].line);
    assert_string_equal(result.diag.file, cases[k].file);
    for (int c = 0; c < SCT_COUNT(cases[k].called); c++) {
      assert_int_equal(c < result.diag.n_called ? result.diag.called[c] : 0, cases[k].called[c]);
    }
    if (cases[k].text != NULL && strstr(sct_str_c(&printed), cases[k].text) == NULL) {
      fail_msg("%s: %s", cases[k].loc, sct_str_c(&printed));
    }
    sct_ptx_result_free(&result);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      WITH(bad_launches_are_usage_errors),
      WITH(results_do_not_depend_on_host_threads),
      WITH(the_first_failing_block_is_reported),
      WITH(never_written),
      WITH(counters_by_instruction),
      WITH(counters_can_be_off),
      cmocka_unit_test(the_lowest_block_wins),
      cmocka_unit_test(step_budget),
      cmocka_unit_test(inlined_code_is_named_by_its_calls),
      cmocka_unit_test(dynamic_shared_memory),
      cmocka_unit_test(bad_buffers),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
