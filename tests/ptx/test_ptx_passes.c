/* Sequences of launches: each finds what all blocks of the one before have left, and what is
 * counted and diagnosed is that of all of them. */
#include "ptx_kernel.h"

enum { BLOCKS = 2, THREADS = 64, N = BLOCKS * THREADS, PASSES = 2 };

/* Thread i of pass 0 leaves i + 1; thread i of pass 1 moves what thread N - 1 - i, which is of the
 * other block, has left; `place`: of the word that it writes. */
#define KERNEL(place)                                                                              \
  PTX_HEAD ".visible .entry k(.param .u64 data, .param .u32 pass)\n{\n"                            \
           ".reg .pred %p<4>;\n.reg .b32 %r<16>;\n.reg .b64 %d<16>;\n"                             \
           "mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %tid.x;\nmad.lo.s32 %r3, %r1, 64, %r2;\n"         \
           "ld.param.u64 %d1, [data];\nld.param.u32 %r4, [pass];\n"                                \
           "mul.wide.u32 %d2, %r3, 4;\nadd.s64 %d3, %d1, %d2;\n"                                   \
           "setp.ne.u32 %p1, %r4, 0;\n@%p1 bra LATER;\n"                                           \
           "add.u32 %r5, %r3, 1;\nst.global.u32 [%d3], %r5;\nret;\n"                               \
           "LATER:\nsub.u32 %r6, 127, %r3;\nmul.wide.u32 %d4, %r6, 4;\nadd.s64 %d5, %d1, %d4;\n"   \
           "ld.global.u32 %r7, [%d5];\nst.global.u32 [" place "+512], %r7;\nret;\n}\n"

typedef struct sequence {
  sct_ptx_module *module;
  sct_ptx_memory *memory;
  uint64_t data;
  int pass;
  const void *args[2];
  sct_ptx_launch_opts opts;
  sct_ptx_result result;
} sequence;

static void begin(sequence *s, const char *text) {
  sct_error err = {0};
  const sct_ptx_buffer buffer = {.name = "data", .bytes = (int64_t)2 * N * 4};
  *s = (sequence){.pass = 77};
  if (sct_ptx_parse(&s->module, text, "passes.ptx", &err) != SCT_OK) {
    fail_msg("%s", err.text);
  }
  sct_ptx_memory_new(&s->memory);
  assert_int_equal(sct_ptx_memory_add(s->memory, &s->data, &buffer, &err), SCT_OK);
  s->args[0] = &s->data;
  s->args[1] = &s->pass;
  s->opts = (sct_ptx_launch_opts){.module = s->module,
                                  .kernel = "k",
                                  .grid = {BLOCKS, 1, 1},
                                  .block = {THREADS, 1, 1},
                                  .args = s->args,
                                  .n_args = 2,
                                  .passes = PASSES,
                                  .per_buffer = true,
                                  .per_instruction = true};
}

static void end(sequence *s) {
  sct_ptx_result_free(&s->result);
  sct_ptx_memory_free(s->memory);
  sct_ptx_module_free(s->module);
}

static void a_launch_finds_what_the_one_before_left(void **state) {
  (void)state;
  static const sct_ptx_order orders[] = {SCT_PTX_FORWARD, SCT_PTX_REVERSE, SCT_PTX_SHUFFLED};
  for (int k = 0; k < SCT_COUNT(orders); k++) {
    sequence s;
    begin(&s, KERNEL("%d3"));
    s.opts.order = orders[k];
    assert_int_equal(sct_ptx_launch(&s.result, s.memory, &s.opts, NULL), SCT_OK);
    assert_int_equal(s.result.diag.kind, SCT_PTX_CLEAN);
    assert_int_equal(s.result.counters.store.requests, PASSES * N / 32);
    assert_int_equal(s.result.counters.load.requests, N / 32);
    assert_int_equal(sct_ptx_memory_counts(s.memory, s.data).store.requests, PASSES * N / 32);
    int64_t stores = 0;
    for (int i = 0; i < s.result.n_insts; i++) {
      stores += s.result.insts[i].global.requests;
    }
    assert_int_equal(stores, (PASSES + 1) * N / 32);
    const uint8_t *words = sct_ptx_memory_data(s.memory, s.data);
    for (uint32_t i = 0; i < N; i++) {
      uint32_t moved;
      memcpy(&moved, words + 4 * (N + i), sizeof moved);
      assert_int_equal(moved, N - i);
    }
    assert_int_equal(s.pass, 77);
    end(&s);
  }
}

/* All threads of the second launch write one word. */
static void races_are_those_of_a_launch(void **state) {
  (void)state;
  sequence s;
  begin(&s, KERNEL("%d1"));
  assert_int_equal(sct_ptx_launch(&s.result, s.memory, &s.opts, NULL), SCT_OK);
  assert_int_not_equal(s.result.diag.kind, SCT_PTX_CLEAN);
  end(&s);
  /* before it, none */
  begin(&s, KERNEL("%d1"));
  s.opts.passes = 1;
  assert_int_equal(sct_ptx_launch(&s.result, s.memory, &s.opts, NULL), SCT_OK);
  assert_int_equal(s.result.diag.kind, SCT_PTX_CLEAN);
  end(&s);
}

typedef struct seen {
  int64_t n, most;
  int64_t stores[BLOCKS * PASSES], loads[BLOCKS * PASSES];
} seen;

static bool add_block(void *ctx, int64_t i, const sct_ptx_counters *counters) {
  seen *s = ctx;
  assert_int_equal(i, s->n);
  s->stores[i] = counters->store.requests;
  s->loads[i] = counters->load.requests;
  return ++s->n < s->most;
}

static void blocks_are_numbered_through_all_launches(void **state) {
  (void)state;
  const int64_t blocks[] = {0, 1, BLOCKS, 1};
  for (int64_t most = 1; most <= SCT_COUNT(blocks); most++) {
    sequence s;
    seen found = {.most = most};
    begin(&s, KERNEL("%d3"));
    s.opts.blocks = blocks;
    s.opts.n_blocks = SCT_COUNT(blocks);
    s.opts.block_done = add_block;
    s.opts.block_ctx = &found;
    assert_int_equal(sct_ptx_launch(&s.result, s.memory, &s.opts, NULL), SCT_OK);
    assert_int_equal(found.n, most);
    for (int64_t i = 0; i < most; i++) {
      assert_int_equal(found.stores[i], THREADS / 32);
      assert_int_equal(found.loads[i], blocks[i] >= BLOCKS ? THREADS / 32 : 0);
    }
    end(&s);
  }
  sequence s;
  sct_error err = {0};
  const int64_t after = (int64_t)BLOCKS * PASSES;
  begin(&s, KERNEL("%d3"));
  s.opts.blocks = &after;
  s.opts.n_blocks = 1;
  assert_int_equal(sct_ptx_launch(&s.result, s.memory, &s.opts, &err), SCT_EUSAGE);
  assert_non_null(strstr(err.text, "no block 4"));
  end(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_launch_finds_what_the_one_before_left),
      cmocka_unit_test(races_are_those_of_a_launch),
      cmocka_unit_test(blocks_are_numbered_through_all_launches),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
