/* What a launch gives back: counters of single instructions that sum to the kernel's, the same
 * results for every number of host threads and every order, addresses in every form. */
#include "ptx_kernel.h"

#define N 4096 /* threads of the big kernel */

/* Loads with two strides, divergence, shared memory, a loop: something for every counter. */
static const char busy[] = PTX_KERNEL
    ".shared .align 16 .b8 s[1024];\n"
    "ld.global.u32 %r1, [%pi];\nand.b32 %r2, %i, 1023;\nmul.wide.u32 %d1, %r2, 16;\n"
    "add.s64 %d1, %in, %d1;\nld.global.v2.u32 {%r3, %r4}, [%d1];\n"
    "setp.lt.u32 %p1, %r1, 0x80000000;\n@%p1 bra SMALL;\nadd.u32 %r1, %r1, %r3;\nbra JOIN;\n"
    "SMALL: xor.b32 %r1, %r1, %r4;\nJOIN: mov.u32 %r5, %tid.x;\nmov.u32 %r6, s;\n"
    "shl.b32 %r7, %r5, 2;\nadd.u32 %r6, %r6, %r7;\nst.shared.u32 [%r6], %r1;\nbar.sync 0;\n"
    "ld.shared.u32 %r8, [%r6];\nand.b32 %r9, %r8, 7;\n"
    "LOOP: setp.eq.u32 %p2, %r9, 0;\n@%p2 bra DONE;\nmad.lo.u32 %r8, %r8, 3, %r9;\n"
    "sub.u32 %r9, %r9, 1;\nbra LOOP;\nDONE: st.global.u32 [%po], %r8;\nret;\n}\n";

typedef struct bench {
  sct_ptx_module *module;
  sct_ptx_memory *memory;
  uint64_t address[2];
  const void *args[2];
  uint32_t *in;
  sct_ptx_launch_opts opts;
} bench;

static int setup(void **state) {
  sct_error err = {0};
  bench *b = calloc(1, sizeof *b);
  sct_rng rng = sct_rng_new(95);
  assert_non_null(b);
  b->in = calloc(N, 4);
  assert_non_null(b->in);
  for (int i = 0; i < N; i++) {
    b->in[i] = (uint32_t)sct_rng_u64(&rng);
  }
  assert_int_equal(sct_ptx_parse(&b->module, busy, "busy.ptx", &err), SCT_OK);
  sct_ptx_memory_new(&b->memory);
  const sct_ptx_buffer in = {.name = "in", .bytes = 4L * N, .data = b->in, .read_only = true};
  const sct_ptx_buffer out = {.name = "out", .bytes = 4L * N, .output = true};
  assert_int_equal(sct_ptx_memory_add(b->memory, &b->address[0], &in, &err), SCT_OK);
  assert_int_equal(sct_ptx_memory_add(b->memory, &b->address[1], &out, &err), SCT_OK);
  b->args[0] = &b->address[0];
  b->args[1] = &b->address[1];
  b->opts = (sct_ptx_launch_opts){.module = b->module,
                                  .kernel = "k",
                                  .grid = {N / 256, 1, 1},
                                  .block = {256, 1, 1},
                                  .args = b->args,
                                  .n_args = 2,
                                  .per_instruction = true};
  *state = b;
  return 0;
}

static int teardown(void **state) {
  bench *b = *state;
  sct_ptx_memory_free(b->memory);
  sct_ptx_module_free(b->module);
  free(b->in);
  free(b);
  return 0;
}

static void launch(bench *b, sct_ptx_result *result) {
  sct_error err = {0};
  sct_ptx_memory_reset(b->memory, b->address[1], NULL);
  if (sct_ptx_launch(result, b->memory, &b->opts, &err) != SCT_OK) {
    fail_msg("%s", err.text);
  }
  if (result->diag.kind != SCT_PTX_CLEAN) {
    fail_msg("%s", result->diag.text);
  }
}

/* What the kernel computes for thread i, in C. */
static uint32_t expected(const bench *b, uint32_t i) {
  uint32_t v = b->in[i];
  const uint32_t *pair = &b->in[4 * (i & 1023)];
  v = v < 0x80000000 ? v ^ pair[1] : v + pair[0];
  for (uint32_t left = v & 7; left > 0; left--) {
    v = v * 3 + left;
  }
  return v;
}

static void results_are_right(void **state) {
  bench *b = *state;
  sct_ptx_result r;
  launch(b, &r);
  const uint32_t *out =
      (const uint32_t *)(const void *)sct_ptx_memory_data(b->memory, b->address[1]);
  for (uint32_t i = 0; i < N; i++) {
    assert_int_equal(out[i], expected(b, i));
  }
  sct_ptx_result_free(&r);
}

static void add_global(sct_ptx_global *to, const sct_ptx_global *g) {
  to->requests += g->requests;
  to->sectors += g->sectors;
  to->sectors_ideal += g->sectors_ideal;
  to->tags += g->tags;
  to->moved += g->moved;
  to->bytes += g->bytes;
  to->distinct_bytes += g->distinct_bytes;
  to->contiguous_bytes += g->contiguous_bytes;
}

static bool starts(const sct_ptx_inst_counters *c, const char *word) {
  const size_t n = strlen(word);
  return (size_t)c->text_len >= n && memcmp(c->text, word, n) == 0;
}

/* Sums over the instructions are the totals, and those follow from the program itself. */
static void instructions_sum_to_the_kernel(void **state) {
  bench *b = *state;
  sct_ptx_result r;
  sct_ptx_global load = {0}, store = {0};
  int64_t executed = 0, lanes = 0, divergent = 0, branches = 0, barriers = 0, shared = 0;
  launch(b, &r);
  for (int i = 0; i < r.n_insts; i++) {
    const sct_ptx_inst_counters *c = &r.insts[i];
    executed += c->executed;
    lanes += c->lanes;
    divergent += c->divergent;
    if (starts(c, "ld.global")) {
      add_global(&load, &c->global);
    } else if (starts(c, "st.global")) {
      add_global(&store, &c->global);
    }
    /* guarded ones: the others part no lanes */
    branches += starts(c, "bra SMALL") || starts(c, "bra DONE") ? c->executed : 0;
    barriers += starts(c, "bar.") ? c->executed : 0;
    shared += c->shared.requests;
    assert_true(c->lanes <= 32 * c->executed);
    assert_true(c->divergent <= c->executed);
    assert_true(i == 0 || r.insts[i - 1].ptx_line <= c->ptx_line);
  }
  assert_int_equal(executed, r.counters.warp_instructions);
  assert_int_equal(lanes, r.counters.lane_instructions);
  assert_int_equal(divergent, r.counters.divergent_branches);
  assert_int_equal(branches, r.counters.branches);
  assert_int_equal(barriers, r.counters.barriers);
  assert_int_equal(barriers, N / 32);
  assert_memory_equal(&load, &r.counters.load, sizeof load);
  assert_memory_equal(&store, &r.counters.store, sizeof store);
  assert_int_equal(shared, r.counters.shared_load.requests + r.counters.shared_store.requests);
  /* 128 warps: 4 sectors of words, 16 of pairs every 16 bytes; 4 written */
  assert_int_equal(load.requests, 2 * N / 32);
  assert_int_equal(load.sectors, N / 32 * (4 + 16));
  assert_int_equal(load.bytes, 12L * N);
  assert_int_equal(store.sectors, N / 32 * 4);
  assert_int_equal(r.counters.load_width[2], N / 32);
  assert_int_equal(r.counters.load_width[3], N / 32);
  assert_true(sct_ptx_degree_of(&r.counters).both == 16.0 * N / (32.0 * (N / 32) * 24));
  sct_ptx_result_free(&r);
}

/* The loop's lanes: as many as its trip counts say, instruction by instruction. */
static void lanes_follow_the_data(void **state) {
  bench *b = *state;
  sct_ptx_result r;
  int64_t small = 0, trips = 0;
  for (uint32_t i = 0; i < N; i++) {
    const uint32_t *pair = &b->in[4 * (i & 1023)];
    const bool is_small = b->in[i] < 0x80000000;
    small += is_small;
    trips += (is_small ? b->in[i] ^ pair[1] : b->in[i] + pair[0]) & 7;
  }
  launch(b, &r);
  int seen = 0;
  for (int i = 0; i < r.n_insts; i++) {
    const sct_ptx_inst_counters *c = &r.insts[i];
    const int64_t want = starts(c, "xor.b32")          ? small
                         : starts(c, "add.u32 %r1,")   ? N - small
                         : starts(c, "mad.lo.u32 %r8") ? trips
                         : starts(c, "st.global")      ? N
                                                       : -1;
    if (want >= 0) {
      assert_int_equal(c->lanes, want);
      seen++;
    }
  }
  assert_int_equal(seen, 4);
  sct_ptx_result_free(&r);
}

static void threads_and_orders_change_nothing(void **state) {
  bench *b = *state;
  sct_ptx_result first;
  uint8_t *bytes = malloc(4 * N);
  assert_non_null(bytes);
  b->opts.no_races = true; /* several host threads run only then */
  launch(b, &first);
  memcpy(bytes, sct_ptx_memory_data(b->memory, b->address[1]), 4 * N);
  for (int threads = 1; threads <= 16; threads += threads < 4 ? 1 : 6) {
    for (int order = SCT_PTX_FORWARD; order <= SCT_PTX_SHUFFLED; order++) {
      sct_ptx_result r;
      b->opts.threads = threads;
      b->opts.order = (sct_ptx_order)order;
      b->opts.seed = (uint64_t)threads;
      launch(b, &r);
      assert_memory_equal(&r.counters, &first.counters, sizeof r.counters);
      assert_int_equal(r.n_insts, first.n_insts);
      for (int i = 0; i < r.n_insts; i++) {
        assert_int_equal(r.insts[i].executed, first.insts[i].executed);
        assert_int_equal(r.insts[i].lanes, first.insts[i].lanes);
        assert_int_equal(r.insts[i].divergent, first.insts[i].divergent);
        assert_memory_equal(&r.insts[i].global, &first.insts[i].global, sizeof r.insts[i].global);
        assert_memory_equal(&r.insts[i].shared, &first.insts[i].shared, sizeof r.insts[i].shared);
      }
      assert_memory_equal(bytes, sct_ptx_memory_data(b->memory, b->address[1]), 4 * N);
      sct_ptx_result_free(&r);
    }
  }
  sct_ptx_result_free(&first);
  free(bytes);
}

/* Checks that are off change neither results nor counters. */
static void checks_do_not_change_results(void **state) {
  bench *b = *state;
  sct_ptx_result all, none;
  launch(b, &all);
  b->opts.no_races = b->opts.no_definedness = true;
  launch(b, &none);
  assert_memory_equal(&all.counters, &none.counters, sizeof all.counters);
  const uint32_t *out =
      (const uint32_t *)(const void *)sct_ptx_memory_data(b->memory, b->address[1]);
  for (uint32_t i = 0; i < N; i++) {
    assert_int_equal(out[i], expected(b, i));
  }
  sct_ptx_result_free(&all);
  sct_ptx_result_free(&none);
}

/* ---- addresses: one word, named in every way a space allows */

static void address_forms(void **state) {
  (void)state;
  static const struct {
    const char *space, *address;
  } forms[] = {
      {"shared", "[v+8]"},      {"shared", "[%r1+8]"}, {"shared", "[%r2+-4]"},
      {"shared", "[%r2-4]"},    {"shared", "[%d1+8]"}, {"shared", "[%r3]"},
      {"shared::cta", "[v+8]"}, {"local", "[w+8]"},    {"local", "[%d4+8]"},
      {"local", "[%d5+-4]"},    {"global", "[g+8]"},   {"global", "[%d6+8]"},
      {"global", "[%d7+-4]"},   {"", "[%d8+8]"},       {"", "[%d9+-4]"},
      {"", "[%d6+8]"},          {"shared", "[v+0x8]"}, {"", "[%d10+8]"},
  };
  for (int k = 0; k < SCT_COUNT(forms); k++) {
    uint32_t in[1] = {0}, out[1];
    sct_str text = {0};
    const char *dot = forms[k].space[0] != '\0' ? "." : "";
    sct_str_append(&text, PTX_HEAD ".global .align 8 .b8 g[16];\n");
    sct_str_append(&text, &PTX_KERNEL[sizeof PTX_HEAD - 1]);
    sct_str_append(&text, ".shared .align 8 .b8 v[16];\n.local .align 8 .b8 w[16];\n"
                          "mov.u32 %r1, v; add.u32 %r2, %r1, 12; mov.u32 %r3, v+8;\n"
                          "mov.u64 %d1, v; mov.u64 %d4, w; add.s64 %d5, %d4, 12;\n"
                          "mov.u64 %d6, g; add.s64 %d7, %d6, 12;\n"
                          "cvta.shared.u64 %d8, %d1; add.s64 %d9, %d8, 12;\n"
                          "cvta.local.u64 %d10, %d4;\n");
    sct_str_printf(&text,
                   "mov.u32 %%r8, 1; st.shared.u32 [v+8], %%r8; st.local.u32 [w+8], %%r8;\n"
                   "st.global.u32 [g+8], %%r8;\nmov.u32 %%r9, 77;\nst%s%s.u32 %s, "
                   "%%r9;\nld%s%s.u32 %%r10, %s;\n"
                   "ld.shared.u32 %%r11, [v+8]; ld.local.u32 %%r12, [w+8]; \n"
                   "ld.global.u32 %%r13, [g+8];\n",
                   dot, forms[k].space, forms[k].address, dot, forms[k].space, forms[k].address);
    /* found again under its own name, in its own space only */
    const bool shared = strstr(forms[k].space, "shared") != NULL ||
                        strstr(forms[k].address, "d8") || strstr(forms[k].address, "d9");
    const bool local = strcmp(forms[k].space, "local") == 0 || strstr(forms[k].address, "d10");
    sct_str_printf(&text, "xor.b32 %%r10, %%r10, %%r%d;\nadd.u32 %%r10, %%r10, 5;\n",
                   shared  ? 11
                   : local ? 12
                           : 13);
    sct_str_append(&text, "st.global.u32 [%po], %r10; ret;\n}\n");
    const kernel_run r = {
        .blocks = 1, .threads = 1, .in = in, .in_bytes = 4, .out_bytes = sizeof out};
    if (run_kernel(sct_str_c(&text), &r, out, NULL) != SCT_PTX_CLEAN || out[0] != 5) {
      fail_msg("%s %s", forms[k].space, forms[k].address);
    }
    sct_str_free(&text);
  }
}

/* Parameters of every type and an array of bytes, read whole, in pieces, and through a generic
 * address. */
static void parameters_of_every_type(void **state) {
  (void)state;
  sct_error err = {0};
  sct_ptx_module *module = NULL;
  sct_ptx_memory *memory = NULL;
  sct_ptx_result result;
  uint64_t address = 0;
  static const char text[] = PTX_HEAD
      ".visible .entry k(.param .u64 out, .param .u8 a, .param .s16 b, .param .f32 c,\n"
      ".param .align 8 .b8 d[12], .param .f64 e, .param .s8 f)\n{\n"
      ".reg .b32 %r<12>;\n.reg .b64 %d<9>;\n.reg .b16 %h<3>;\n"
      "ld.param.u64 %d0, [out]; ld.param.u8 %r0, [a]; ld.param.s16 %r1, [b];\n"
      "ld.param.f32 %r2, [c]; ld.param.u32 %r3, [d+8]; ld.param.v2.u32 {%r4, %r5}, [d];\n"
      "ld.param.u16 %h0, [d+10]; cvt.u32.u16 %r6, %h0; ld.param.f64 %d1, [e];\n"
      "ld.param.s8 %r7, [f]; ld.param.b8 %r8, [d+3]; cvt.rn.f32.f64 %r9, %d1;\n"
      "st.global.v4.u32 [%d0], {%r0, %r1, %r2, %r3}; st.global.v4.u32 [%d0+16], {%r4, %r5, %r6, "
      "%r7};\nst.global.v2.u32 [%d0+32], {%r8, %r9};\nret;\n}\n";
  const uint8_t a = 200;
  const int16_t b = -3;
  const float c = 1.5f;
  const uint32_t d[3] = {0x04030201, 0x08070605, 0x0c0b0a09};
  const double e = -0.25;
  const int8_t f = -100;
  const sct_ptx_buffer buffer = {.name = "out", .bytes = 40, .output = true};
  assert_int_equal(sct_ptx_parse(&module, text, "params", &err), SCT_OK);
  sct_ptx_memory_new(&memory);
  assert_int_equal(sct_ptx_memory_add(memory, &address, &buffer, &err), SCT_OK);
  const void *args[] = {&address, &a, &b, &c, d, &e, &f};
  const sct_ptx_launch_opts opts = {.module = module, .kernel = "k", .args = args, .n_args = 7};
  if (sct_ptx_launch(&result, memory, &opts, &err) != SCT_OK) {
    fail_msg("%s", err.text);
  }
  assert_int_equal(result.diag.kind, SCT_PTX_CLEAN);
  const uint32_t *out = (const uint32_t *)(const void *)sct_ptx_memory_data(memory, address);
  const uint32_t want[10] = {200,        (uint32_t)-3, 0x3fc00000,     0x0c0b0a09, 0x04030201,
                             0x08070605, 0x0c0b,       (uint32_t)-100, 4,          0xbe800000};
  for (int i = 0; i < 10; i++) {
    assert_int_equal(out[i], want[i]);
  }
  sct_ptx_result_free(&result);
  sct_ptx_memory_free(memory);
  sct_ptx_module_free(module);
}

/* The example of an instruction is a full request of the block in the middle, with any number of
 * host threads and in any order of blocks. */
static void requests_are_of_the_middle(void **state) {
  bench *b = *state;
  sct_ptx_result r;
  const int64_t middle = N / 256 / 2;
  for (int threads = 1; threads <= 3; threads++) {
    b->opts.threads = threads;
    b->opts.no_races = threads > 1;
    b->opts.order = threads == 1 ? SCT_PTX_FORWARD : SCT_PTX_REVERSE;
    launch(b, &r);
    int n_global = 0, n_shared = 0;
    for (int k = 0; k < r.n_insts; k++) {
      const sct_ptx_request *g = &r.requests[k].global, *s = &r.requests[k].shared;
      assert_int_equal(g->mask != 0, r.insts[k].global.requests > 0);
      assert_int_equal(s->mask != 0, r.insts[k].shared.requests > 0);
      n_global += g->mask != 0;
      n_shared += s->mask != 0;
      for (int lane = 0; lane < 32 && g->mask; lane++) {
        const bool pair = starts(&r.insts[k], "ld.global.v2"), out = starts(&r.insts[k], "st");
        const uint64_t i = (uint64_t)(256 * middle + lane), first = b->address[out];
        assert_int_equal(g->mask, 0xffffffffu);
        assert_int_equal(g->block, middle);
        assert_int_equal(g->width, pair ? 8 : 4);
        assert_string_equal(g->buffer, out ? "out" : "in");
        if (threads == 1) { /* in other orders another warp may be the first */
          assert_int_equal(g->address[lane], first + (pair ? 16 * (i & 1023) : 4 * i));
        }
      }
      if (s->mask) {
        assert_null(s->buffer);
        assert_int_equal(s->address[31] - s->address[0], 124);
      }
    }
    assert_int_equal(n_global, 3);
    assert_int_equal(n_shared, 2);
    sct_ptx_result_free(&r);
  }
  b->opts.threads = 0;
  b->opts.no_races = false;
  b->opts.order = SCT_PTX_FORWARD;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(results_are_right, setup, teardown),
      cmocka_unit_test_setup_teardown(instructions_sum_to_the_kernel, setup, teardown),
      cmocka_unit_test_setup_teardown(lanes_follow_the_data, setup, teardown),
      cmocka_unit_test_setup_teardown(threads_and_orders_change_nothing, setup, teardown),
      cmocka_unit_test_setup_teardown(checks_do_not_change_results, setup, teardown),
      cmocka_unit_test_setup_teardown(requests_are_of_the_middle, setup, teardown),
      cmocka_unit_test(address_forms),
      cmocka_unit_test(parameters_of_every_type)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
