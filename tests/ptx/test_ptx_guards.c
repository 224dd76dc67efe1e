/* Conditions that launches saw from one side only. */
#include "ptx_kernel.h"

#define MOST 8

/* Runs kernel `k` of `ptx` on one warp for each of `inputs`, all for one account, with `in`
 * pointing to a word of that value; the guards that are left. */
static int uncovered_of(const char *ptx, const uint32_t *inputs, int n, sct_ptx_module **module,
                        sct_ptx_guard guards[MOST]) {
  sct_error err = {0};
  uint8_t seen[256] = {0};
  if (sct_ptx_parse(module, ptx, "guards.ptx", &err) != SCT_OK) {
    fail_msg("%s", err.text);
  }
  assert_true(sct_ptx_kernel_at(*module, 0)->n_instructions <= (int)sizeof seen);
  for (int i = 0; i < n; i++) {
    sct_ptx_memory *memory = NULL;
    sct_ptx_result result;
    uint32_t words[32];
    uint64_t address[2];
    for (int k = 0; k < 32; k++) {
      words[k] = inputs[i];
    }
    const sct_ptx_buffer buffers[2] = {{.name = "in", .bytes = sizeof words, .data = words},
                                       {.name = "out", .bytes = sizeof words, .data = words}};
    sct_ptx_memory_new(&memory);
    for (int k = 0; k < 2; k++) {
      assert_int_equal(sct_ptx_memory_add(memory, &address[k], &buffers[k], &err), SCT_OK);
    }
    const void *args[] = {&address[0], &address[1]};
    const sct_ptx_launch_opts opts = {.module = *module,
                                      .kernel = "k",
                                      .block = {32, 1, 1},
                                      .args = args,
                                      .n_args = 2,
                                      .seen = seen};
    assert_int_equal(sct_ptx_launch(&result, memory, &opts, &err), SCT_OK);
    assert_int_equal(result.diag.kind, SCT_PTX_CLEAN);
    sct_ptx_result_free(&result);
    sct_ptx_memory_free(memory);
  }
  return sct_ptx_uncovered(guards, MOST, *module, "k", seen);
}

#define LOAD PTX_KERNEL ".loc 1 1 1\nld.global.u32 %r1, [%pi];\n"
#define END  "ret;\n}\n.file 1 \"/u1\"\n.file 2 \"/usr/local/cuda/include/cuda_fp16.hpp\"\n"

static void each_kind_is_seen_from_both_sides(void **state) {
  (void)state;
  static const uint32_t both[] = {3, 7};
  static const struct {
    const char *body, *text[2]; /* never false and never true, after an input of 3 and of 7 */
  } kinds[] = {
      {".loc 1 2 1\nsetp.lt.u32 %p1, %r1, 5;\n", {"setp.lt.u32 %p1", "setp.lt.u32 %p1"}},
      {"setp.lt.u32 %p1, %r1, 5;\n.loc 1 2 1\n@%p1 bra L;\nL:\n", {"setp", "setp"}},
      {"and.b32 %r2, %r1, 1;\nsetp.lt.u32 %p1, %r1, 5;\n.loc 1 2 1\n@%p1 mov.u32 %r3, 1;\n",
       {"setp", "setp"}},
      {"setp.lt.u32 %p1, %r1, 5;\nselp.u32 %r2, 1, 2, %p1;\n", {"setp", "setp"}},
      {"setp.lt.u32 %p1, %r1, 5;\nsetp.lt.u32 %p2, %i, 16;\nand.pred %p3, %p1, %p2;\n@%p3 bra L;\n"
       "L:\n",
       {"setp.lt.u32 %p1", "setp.lt.u32 %p1"}},
  };
  for (int k = 0; k < SCT_COUNT(kinds); k++) {
    sct_str ptx = {0};
    sct_ptx_guard found[MOST];
    sct_str_printf(&ptx, "%s%s%s", LOAD, kinds[k].body, END);
    for (int way = 0; way < 2; way++) {
      sct_ptx_module *module = NULL;
      assert_int_equal(uncovered_of(sct_str_c(&ptx), &both[way], 1, &module, found), 1);
      assert_int_equal(found[0].was_true, way == 0);
      assert_int_equal(strncmp(found[0].text, kinds[k].text[way], strlen(kinds[k].text[way])), 0);
      assert_true(found[0].own);
      sct_ptx_module_free(module);
    }
    sct_ptx_module *module = NULL;
    assert_int_equal(uncovered_of(sct_str_c(&ptx), both, 2, &module, found), 0);
    sct_ptx_module_free(module);
    sct_str_free(&ptx);
  }
}

/* What a part of the threads reaches, by a comparison that went both ways for all of them. */
static void a_part_of_the_threads_counts(void **state) {
  (void)state;
  static const uint32_t three = 3;
  static const struct {
    const char *text;
    bool was_true;
  } kinds[] = {{"@!%p2 bra M", false},
               {"@%p2 mov.u32 %r3, 1", true},
               {"selp.u32 %r3, 1, 2, %p2", true},
               {"selp.u64 %d3, %d1, %d2, %p2", true},
               {"setp.lt.u32 %p3, %i, 16", true},
               {"@!%p2 ret", false}};
  for (int k = 0; k < SCT_COUNT(kinds); k++) {
    sct_str ptx = {0};
    sct_ptx_guard found[MOST];
    sct_ptx_module *module = NULL;
    sct_str_append(&ptx, LOAD "mov.u64 %d1, 0;\nmov.u64 %d2, 0;\nsetp.lt.u32 %p1, %i, 8;\n"
                              "setp.lt.u32 %p2, %i, 16;\n@%p1 bra L;\nbra M;\nL:\n.loc 1 9 1\n");
    sct_str_printf(&ptx, "  %s;\nM:\n%s", kinds[k].text, END);
    assert_int_equal(uncovered_of(sct_str_c(&ptx), &three, 1, &module, found), 1);
    assert_int_equal(found[0].was_true, kinds[k].was_true);
    assert_int_equal(found[0].line, 9);
    assert_int_equal(found[0].text_len, strlen(kinds[k].text));
    assert_int_equal(strncmp(found[0].text, kinds[k].text, strlen(kinds[k].text)), 0);
    assert_string_equal(found[0].file, "/u1");
    sct_ptx_module_free(module);
    sct_str_free(&ptx);
  }
}

/* What lies behind a guard that nothing passed, the same condition again, other people's code. */
static void what_says_nothing_new_is_left_out(void **state) {
  (void)state;
  static const uint32_t three = 3;
  static const struct {
    const char *body;
    int n;
  } known[] = {
      {"setp.lt.u32 %p1, %r1, 5;\n@%p1 bra L;\nsetp.lt.u32 %p2, %r1, 9;\n@%p2 bra L;\nL:\n", 1},
      {"setp.lt.u32 %p1, %r1, 5;\nsetp.ge.u32 %p2, %r1, 5;\n@%p2 bra L;\nL:\n", 1},
      {"setp.lt.u32 %p1, %r1, 5;\nsetp.lt.u32 %p2, %r1, 2;\n", 2},
      {"setp.lt.u32 %p1, %r1, 5;\n.loc 1 2 1\nsetp.lt.u32 %p2, %r1, 5;\n", 2},
      {".loc 2 5 1, function_name $L, inlined_at 1 2 1\nsetp.lt.u32 %p1, %r1, 5;\n", 0},
      {"cvt.rn.f32.u32 %r2, %r1;\nsetp.lt.f32 %p1, %r2, 0f47CE4780;\n", 0},
      {"cvt.rn.f32.u32 %r2, %r1;\nsetp.lt.f32 %p1, %r2, 0f47CE4781;\n", 1},
      {"cvt.u64.u32 %d1, %r1;\nand.b64 %d2, %d1, -4294967296;\nsetp.ne.s64 %p1, %d2, 0;\n", 0},
      {"cvt.u64.u32 %d1, %r1;\nand.b64 %d2, %d1, -4294967280;\nsetp.ne.s64 %p1, %d2, 0;\n", 1},
  };
  for (int k = 0; k < SCT_COUNT(known); k++) {
    sct_str ptx = {0};
    sct_ptx_guard found[MOST];
    sct_ptx_module *module = NULL;
    sct_str_printf(&ptx, "%s%s%s", LOAD, known[k].body, END);
    const int n = uncovered_of(sct_str_c(&ptx), &three, 1, &module, found);
    if (n != known[k].n) {
      fail_msg("%d: %s", n, known[k].body);
    }
    sct_ptx_module_free(module);
    sct_str_free(&ptx);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_kind_is_seen_from_both_sides),
      cmocka_unit_test(a_part_of_the_threads_counts),
      cmocka_unit_test(what_says_nothing_new_is_left_out),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
