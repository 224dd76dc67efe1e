/* Verification on a described device: kernels run as PTX, and what the interpreter finds becomes
 * the candidate's outcome. The candidate after it is evaluated on its own, by the same worker. */
#include "measure_described.h"

#include "measure/measure_session.h"
#include "process/process_internal.h"
#include "ptx/ptx.h"

/* Every kernel is b = a for float, 64 threads a block, but for what its name says. */
static const char *const cuda_text =
    "#define KERNEL(name) extern \"C\" __global__ void __launch_bounds__(64) \\\n"
    "  name(const float *a, float *b, long long n)\n"
    "#define I const int t = threadIdx.x; const long long i = blockIdx.x * 64LL + t;\n"
    "KERNEL(right) { I if (i < n) b[i] = a[i]; }\n"
    "KERNEL(right_shared) { I __shared__ float s[64];\n"
    "  s[63 - t] = i < n ? a[i] : 0.0f; __syncthreads(); if (i < n) b[i] = s[63 - t]; }\n"
    "KERNEL(wrong) { I if (i < n) b[i] = i == 30 ? a[i] + 1 : a[i]; }\n"
    "KERNEL(wrong_in_last_block) { I if (i < n) b[i] = i > 64 && i == n - 1 ? 0 : a[i]; }\n"
    "KERNEL(unwritten) { I if (i < n - 1) b[i] = a[i]; }\n"
    "KERNEL(reads_past) { I const float v = ((const volatile float *)a)[i]; if (i < n) b[i] = v; "
    "}\n"
    "KERNEL(writes_past) { I if (i < n) b[i] = a[i]; if (i == n) b[i] = 1; }\n"
    "KERNEL(writes_before) { I if (i < n) b[i] = a[i]; if (i == 0) b[i - 1] = 1; }\n"
    "KERNEL(writes_input) { I if (i < n) { b[i] = a[i]; ((float *)a)[i] = 1; } }\n"
    "KERNEL(misaligned) { I if (i < n) b[i] = a[i];\n"
    "  if (i == 1 && n > 3) *(uint2 *)(b + 1) = *(const uint2 *)(a + 2); }\n"
    "KERNEL(races) { I __shared__ float s[64]; s[t] = i < n ? a[i] : 0.0f;\n"
    "  if (i < n) b[i] = s[t ^ 32] > 8 ? 0 : a[i]; }\n"
    "KERNEL(uninitialised) { I __shared__ volatile float s[64];\n"
    "  if (t != 5) s[t] = i < n ? a[i] : 0.0f; __syncthreads(); if (i < n) b[i] = s[t]; }\n"
    "KERNEL(half_a_barrier) { I if (t < 32) __syncthreads(); if (i < n) b[i] = a[i]; }\n"
    "KERNEL(traps) { I if (i == 31) __trap(); if (i < n) b[i] = a[i]; }\n"
    "KERNEL(never_ends) { I volatile int k = 1; while (k) k = 1; if (i < n) b[i] = a[i]; }\n"
    "KERNEL(unknown_form) { I asm volatile(\"frobnicate.b32 1;\"); if (i < n) b[i] = a[i]; }\n"
    "#define ROUNDS for (long long i = blockIdx.x * 64LL + threadIdx.x, step = 64LL * "
    "gridDim.x,\\\n"
    "  round = 0; i < n; i += step, round++)\n"
    "KERNEL(rounds) { ROUNDS b[i] = a[i]; }\n"
    "KERNEL(rounds_second_wrong) { ROUNDS b[i] = round == 1 ? 0 : a[i]; }\n"
    "KERNEL(rounds_seventh_wrong) { ROUNDS b[i] = round == 6 ? 0 : a[i]; }\n"
    "KERNEL(rounds_of_its_grid) { ROUNDS b[i] = gridDim.x == (n + 63) / 64 ? a[i] : 0; }\n"
    "extern \"C\" __global__ void other_arguments(const float *a, float *b) { *b = *a; }\n";

typedef struct world {
  sct_spec spec;
  sct_measure *m;
  fixture_kernel naive, other;
} world;

static const fixture_array plain[] = {{.name = "a", .types = "f32"}, {.name = "b", .types = "f32"}};
static const int64_t thousand[] = {1000};

static sct_binary kernel_of(const world *w, const char *entry) {
  return (sct_binary){.code = &w->other.code, .entry = entry, .ptx = ptx};
}

static void open_world(world *w) {
  const sct_measure_opts opts = {.seed = 11, .described = &described};
  memset(w, 0, sizeof *w);
  fixture_spec(&w->spec, "i", plain, 1, 2, NULL, "b = a;", thousand);
  fixture_kernel_init(&w->naive, &w->spec, 0, 64);
  fixture_kernel_init(&w->other, &w->spec, 1, 64);
  w->naive.binary = (sct_binary){.code = &w->naive.code, .entry = "right", .ptx = ptx};
  assert_ok(sct_measure_open(&w->m, 0, &opts, &fixture_err));
  assert_ok(sct_measure_problem(w->m, &w->spec, first_layout, &w->naive.binary, &fixture_err));
}

static void close_world(world *w) {
  sct_measure_close(w->m);
  sct_spec_free(&w->spec);
}

static sct_verdict verify(world *w, const char *entry) {
  return described_verify(w->m, &w->other.code, entry);
}

/* ---- outcomes ---- */

static void test_each_misdeed_becomes_its_outcome(void **state) {
  (void)state;
  static const struct {
    const char *kernel;
    sct_outcome_kind outcome;
    const char *says;
  } cases[] = {
      {"right_shared", SCT_OUT_OK, ""},
      {"wrong", SCT_OUT_WRONG_RESULT, "i=30"},
      {"wrong_in_last_block", SCT_OUT_WRONG_RESULT, "instead of"},
      {"unwritten", SCT_OUT_NOT_WRITTEN, "not written"},
      {"reads_past", SCT_OUT_OUT_OF_BOUNDS, "of 'a', which has"},
      {"writes_past", SCT_OUT_OUT_OF_BOUNDS, "of 'b', which has"},
      {"writes_before", SCT_OUT_OUT_OF_BOUNDS, "st.global"},
      {"writes_input", SCT_OUT_INPUT_CHANGED, "st.global"},
      {"misaligned", SCT_OUT_MISALIGNED, "v2"},
      {"races", SCT_OUT_RACE, "shared"},
      {"uninitialised", SCT_OUT_UNINITIALISED, "st.global"},
      {"half_a_barrier", SCT_OUT_BARRIER, "bar"},
      {"traps", SCT_OUT_TRAP, "lane 31"},
      {"never_ends", SCT_OUT_HANG, ""},
      {"unknown_form", SCT_OUT_UNSUPPORTED, "frobnicate"},
      {"other_arguments", SCT_OUT_LAUNCH_ERROR, "arguments"},
      {"no_such_kernel", SCT_OUT_LAUNCH_ERROR, "no_such_kernel"},
  };
  world w;
  open_world(&w);
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    const sct_verdict v = verify(&w, cases[k].kernel);
    if (v.outcome != cases[k].outcome || !strstr(v.detail, cases[k].says)) {
      print_error("%s: %s: %s\n", cases[k].kernel, sct_outcome_name(v.outcome), v.detail);
    }
    assert_int_equal(v.outcome, cases[k].outcome);
    assert_non_null(strstr(v.detail, cases[k].says));
    assert_int_equal(verify(&w, "right_shared").outcome, SCT_OUT_OK);
  }
  assert_int_equal(w.m->generation, 1); /* a diagnosis ends no worker */
  close_world(&w);
}

/* Loops that advance by the number of blocks are run round after round, whatever the plan says of
 * them, if the grid has a bound. A kernel for exactly its grid is left alone. */
static void test_rounds_are_found(void **state) {
  (void)state;
  static const struct {
    const char *kernel;
    bool bounded;
    int stated;
    sct_outcome_kind outcome;
  } cases[] = {{"rounds", true, 0, SCT_OUT_OK},
               {"rounds", true, 1, SCT_OUT_OK},
               {"rounds_second_wrong", true, 0, SCT_OUT_WRONG_RESULT},
               {"rounds_second_wrong", true, 1, SCT_OUT_WRONG_RESULT},
               {"rounds_seventh_wrong", true, 0, SCT_OUT_WRONG_RESULT},
               {"rounds_seventh_wrong", true, 2, SCT_OUT_WRONG_RESULT},
               {"rounds_second_wrong", false, 0, SCT_OUT_OK}, /* no launch comes to it */
               {"rounds_of_its_grid", true, 0, SCT_OUT_OK}};
  world w;
  open_world(&w);
  const sct_expr grid = w.other.code.grid;
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    w.other.code.rounds = cases[k].stated;
    w.other.code.grid = cases[k].bounded ? sct_expr_binary(w.spec.pool, SCT_EXPR_MIN, grid,
                                                           sct_expr_const(w.spec.pool, 60000))
                                         : grid;
    const sct_verdict v = verify(&w, cases[k].kernel);
    if (v.outcome != cases[k].outcome) {
      print_error("%d: %s: %s: %s\n", k, cases[k].kernel, sct_outcome_name(v.outcome), v.detail);
    }
    assert_int_equal(v.outcome, cases[k].outcome);
  }
  close_world(&w);
}

/* Above the most bytes, the cases used longest ago are emptied; they are filled again, not found
 * again, and nothing that they showed is missed: also where only the naive variant knows results.
 */
static void test_room_is_made_by_those_used_longest_ago(void **state) {
  (void)state;
  for (int near = 0; near < 2; near++) {
    world w;
    open_world(&w);
    w.spec.tolerance = near ? 1e-6 : 0;
    assert_int_equal(verify(&w, "right_shared").outcome, SCT_OUT_OK);
    const int64_t held = w.m->cases.bytes;
    const size_t n_cases = w.m->cases.n;
    sct_cases_make_room(w.m);
    assert_int_equal(w.m->cases.bytes, held);
    w.m->cases.most_bytes = held / 2;
    sct_cases_make_room(w.m);
    assert_in_range(w.m->cases.bytes, 1, held / 2);
    for (size_t k = 0; k < n_cases; k++) {
      const sct_case *c = w.m->cases.all[k];
      assert_true(c->generation != 0 || (!c->image[0] && (!near || !c->referenced)));
      for (size_t other = 0; other < n_cases && c->generation == 0; other++) {
        const sct_case *kept = w.m->cases.all[other];
        assert_true(kept->generation == 0 || kept->last_used > c->last_used);
      }
    }
    assert_int_equal(verify(&w, "right_shared").outcome, SCT_OUT_OK);
    assert_int_equal(w.m->cases.bytes, held);
    assert_int_equal(w.m->cases.n, n_cases);
    assert_int_equal(verify(&w, "wrong").outcome, SCT_OUT_WRONG_RESULT);
    close_world(&w);
  }
}

static sct_outcome_kind outcome_of(world *w, const char *entry, const char *text, uint64_t hash) {
  const sct_binary binary = {
      .code = &w->other.code, .entry = entry, .ptx = text, .ptx_hash = {.lo = hash}};
  sct_verdict v;
  assert_ok(sct_measure_verify(w->m, &binary, &v, &fixture_err));
  return v.outcome;
}

/* Kernels of one program that follow each other: the worker is sent it once, and again when another
 * was loaded since, or to a worker that never got it. */
static void test_a_program_is_sent_once(void **state) {
  (void)state;
  static const char name[] = "wrong_in_last_block";
  world w;
  open_world(&w);
  w.naive.binary.ptx_hash.lo = 1;
  assert_ok(sct_measure_problem(w.m, &w.spec, first_layout, &w.naive.binary, &fixture_err));
  char *other = strdup(ptx);
  assert_non_null(other);
  for (char *at = strstr(other, name); at; at = strstr(at, name)) {
    at[0] = 'W'; /* a program of its own */
  }
  assert_int_equal(outcome_of(&w, "right_shared", ptx, 1), SCT_OUT_OK);
  assert_int_equal(outcome_of(&w, "right_shared", "not sent", 1), SCT_OUT_OK);
  assert_int_equal(outcome_of(&w, name, "not sent", 1), SCT_OUT_WRONG_RESULT);
  assert_int_equal(outcome_of(&w, "Wrong_in_last_block", other, 2), SCT_OUT_WRONG_RESULT);
  assert_int_equal(outcome_of(&w, name, ptx, 1), SCT_OUT_WRONG_RESULT);
  sct_child_kill(&w.m->worker);
  assert_int_equal(outcome_of(&w, "unwritten", ptx, 1), SCT_OUT_NOT_WRITTEN);
  assert_int_equal(w.m->generation, 2);
  free(other);
  close_world(&w);
}

/* A diagnosis begins with the line of the source, which is the one that holds the access. */
static void test_a_diagnosis_names_its_line_and_size(void **state) {
  (void)state;
  world w;
  open_world(&w);
  const sct_verdict v = verify(&w, "writes_past");
  int line = 0, want = 1;
  for (const char *p = cuda_text; p < strstr(cuda_text, "KERNEL(writes_past)"); p++) {
    want += *p == '\n';
  }
  assert_int_equal(sscanf(v.detail, "line %d: out_of_bounds: ", &line), 1);
  assert_int_equal(line, want);
  assert_non_null(strstr(v.detail, "(n_i="));
  close_world(&w);
}

/* A naive variant that is at fault leaves nothing to compare with; asked itself, it has an outcome.
 */
static void test_a_naive_variant_at_fault_is_said(void **state) {
  (void)state;
  world w;
  open_world(&w);
  const sct_binary naive = kernel_of(&w, "reads_past"), other = kernel_of(&w, "right");
  sct_verdict v;
  assert_ok(sct_measure_problem(w.m, &w.spec, first_layout, &naive, &fixture_err));
  assert_int_equal(sct_measure_verify(w.m, &other, &v, &fixture_err), SCT_ENOTVERIFIED);
  assert_non_null(strstr(fixture_err.text, "naive"));
  assert_ok(sct_measure_verify(w.m, &naive, &v, &fixture_err));
  assert_int_equal(v.outcome, SCT_OUT_OUT_OF_BOUNDS);
  close_world(&w);
}

/* A naive variant whose PTX is not known: a body that moves data has the host's reference, one that
 * computes has none, and that is said. */
static void test_an_unknown_naive_variant_is_no_fault(void **state) {
  (void)state;
  for (int computes = 0; computes < 2; computes++) {
    world w;
    open_world(&w);
    if (computes) {
      sct_spec_free(&w.spec);
      fixture_spec(&w.spec, "i", plain, 1, 2, NULL, "b = a + 1;", thousand);
      fixture_kernel_init(&w.naive, &w.spec, 0, 64);
      fixture_kernel_init(&w.other, &w.spec, 1, 64);
    }
    const sct_binary naive = kernel_of(&w, "unknown_form"), right = kernel_of(&w, "right"),
                     wrong = kernel_of(&w, "wrong");
    sct_verdict v;
    assert_ok(sct_measure_problem(w.m, &w.spec, first_layout, &naive, &fixture_err));
    if (computes) {
      assert_int_equal(sct_measure_verify(w.m, &right, &v, &fixture_err), SCT_ENOTVERIFIED);
      assert_non_null(strstr(fixture_err.text, "naive variant"));
      assert_non_null(strstr(fixture_err.text, "does not know its PTX"));
      assert_non_null(strstr(fixture_err.text, "frobnicate"));
    } else {
      assert_ok(sct_measure_verify(w.m, &right, &v, &fixture_err));
      assert_int_equal(v.outcome, SCT_OUT_OK);
      assert_ok(sct_measure_verify(w.m, &wrong, &v, &fixture_err));
      assert_int_equal(v.outcome, SCT_OUT_WRONG_RESULT);
    }
    assert_ok(sct_measure_verify(w.m, &naive, &v, &fixture_err));
    assert_int_equal(v.outcome, SCT_OUT_UNSUPPORTED);
    close_world(&w);
  }
}

static void test_every_diagnosis_is_classified(void **state) {
  (void)state;
  for (int kind = SCT_PTX_CLEAN + 1; kind < SCT_PTX_N_KINDS; kind++) {
    sct_reply reply = {.kind = SCT_REPLY_FAILED, .status = SCT_EDATA};
    sct_verdict v = {.outcome = SCT_OUT_OK};
    reply.result = SCT_RESULT_PTX + kind;
    assert_false(sct_cuda_is_sticky(reply.result) || sct_cuda_is_lost(reply.result));
    assert_ok(sct_reply_evaluate(&reply, "", &v, &fixture_err));
    if (v.outcome == SCT_OUT_OK || v.outcome == SCT_OUT_LAUNCH_ERROR) {
      fail_msg("no outcome for '%s'", sct_ptx_kind_name((sct_ptx_kind)kind));
    }
  }
}

/* ---- the device ---- */

static void test_it_is_the_described_one_and_gives_no_times(void **state) {
  (void)state;
  world w;
  open_world(&w);
  sct_timing timing;
  double bytes_per_s = 0;
  assert_memory_equal(sct_measure_device(w.m), &described, sizeof described);
  const sct_binary binary = kernel_of(&w, "right");
  assert_int_equal(sct_measure_time(w.m, &binary, &w.spec.sizes[0], 1, &timing, &fixture_err),
                   SCT_EUSAGE);
  assert_non_null(strstr(fixture_err.text, "virtual:test"));
  assert_int_equal(sct_measure_ceiling(w.m, 1 << 20, NULL, 0, &bytes_per_s, &fixture_err),
                   SCT_EUSAGE);
  close_world(&w);
}

/* The counts are those of a size in whole warps, as long as there is one: 4 sectors a request. */
static void test_a_verdict_has_the_counts_of_one_size(void **state) {
  (void)state;
  world w;
  open_world(&w);
  const sct_verdict v = verify(&w, "right_shared");
  assert_true(v.counted);
  assert_true(v.extent[0] >= 64 && v.extent[0] % 32 == 0);
  const int64_t warps = v.extent[0] / 32;
  const sct_run_counts *c = &v.counts;
  assert_int_equal(c->requests_ld, warps);
  assert_int_equal(c->sectors_ld, 4 * warps);
  assert_int_equal(c->requests_st, warps);
  assert_int_equal(c->sectors_st, 4 * warps);
  assert_int_equal(c->wavefronts_st, (v.extent[0] + 63) / 64 * 2);
  assert_int_equal(c->wavefronts_ld, warps);
  close_world(&w);
}

static void test_sizes_are_small_and_around_the_tiles(void **state) {
  (void)state;
  world w;
  open_world(&w);
  assert_int_equal(verify(&w, "right").outcome, SCT_OUT_OK);
  bool below = false, at = false, above = false, empty = false;
  for (size_t k = 0; k < w.m->cases.n; k++) {
    const int64_t n = w.m->cases.all[k]->dims[0];
    assert_true(n <= SCT_MAX_VIRTUAL_ELEMENTS);
    below |= n == 63;
    at |= n == 64;
    above |= n == 65;
    empty |= n == 0;
  }
  assert_true(below && at && above && empty && w.m->cases.n > 12);
  close_world(&w);
}

/* More texts than the worker keeps, each asked for again after all the others. */
static void test_many_texts_come_and_go(void **state) {
  (void)state;
  enum { N = 12 };
  world w;
  sct_str text[N];
  open_world(&w);
  for (int round = 0; round < 2; round++) {
    for (int k = 0; k < N; k++) {
      if (round == 0) {
        text[k] = (sct_str){0};
        sct_str_printf(&text[k], "%s// %d\n", ptx, k);
      }
      sct_binary binary = kernel_of(&w, k % 3 == 0 ? "wrong" : "right_shared");
      sct_verdict v;
      binary.ptx = sct_str_c(&text[k]);
      assert_ok(sct_measure_verify(w.m, &binary, &v, &fixture_err));
      assert_int_equal(v.outcome, k % 3 == 0 ? SCT_OUT_WRONG_RESULT : SCT_OUT_OK);
    }
  }
  for (int k = 0; k < N; k++) {
    sct_str_free(&text[k]);
  }
  sct_binary no_ptx = kernel_of(&w, "right");
  sct_verdict v;
  no_ptx.ptx = "this is no PTX {";
  assert_ok(sct_measure_verify(w.m, &no_ptx, &v, &fixture_err));
  assert_int_equal(v.outcome, SCT_OUT_LAUNCH_ERROR);
  close_world(&w);
}

/* Padding between fields may be anything, fields may not: a record copied field by field leaves the
 * padding of a staged word undefined. */
static const char *const record_text =
    "struct pair { float x; double y; };\n"
    "extern \"C\" __global__ void fields(const pair *a, pair *b, long long n) {\n"
    "  const long long i = blockIdx.x * 64LL + threadIdx.x;\n"
    "  if (i < n) { b[i].x = a[i].x; b[i].y = a[i].y; } }\n"
    "extern \"C\" __global__ void words(const pair *a, pair *b, long long n) {\n"
    "  __shared__ alignas(16) pair s[64];\n"
    "  const long long i = blockIdx.x * 64LL + threadIdx.x;\n"
    "  if (i < n) { s[threadIdx.x].x = a[i].x; s[threadIdx.x].y = a[i].y; }\n"
    "  __syncthreads();\n"
    "  if (i < n) ((uint4 *)b)[i] = ((uint4 *)s)[threadIdx.x]; }\n"
    "extern \"C\" __global__ void half(const pair *a, pair *b, long long n) {\n"
    "  __shared__ alignas(16) pair s[64];\n"
    "  const long long i = blockIdx.x * 64LL + threadIdx.x;\n"
    "  if (i < n) s[threadIdx.x].y = a[i].y;\n"
    "  __syncthreads();\n"
    "  if (i < n) ((uint4 *)b)[i] = ((uint4 *)s)[threadIdx.x]; }\n";

static void test_padding_may_be_undefined_and_fields_may_not(void **state) {
  (void)state;
  static const fixture_array pairs[] = {{.name = "a", .types = "f32 f64"},
                                        {.name = "b", .types = "f32 f64"}};
  const sct_measure_opts opts = {.seed = 3, .described = &described};
  char *text = nvrtc_ptx(record_text, "record.cu", "sm_90", NULL);
  world w = {0};
  sct_verdict v;
  assert_non_null(text);
  fixture_spec(&w.spec, "i", pairs, 1, 2, NULL, "b = a;", thousand);
  fixture_kernel_init(&w.other, &w.spec, 1, 64);
  const sct_binary fields = {.code = &w.other.code, .entry = "fields", .ptx = text},
                   words = {.code = &w.other.code, .entry = "words", .ptx = text},
                   half = {.code = &w.other.code, .entry = "half", .ptx = text};
  assert_ok(sct_measure_open(&w.m, 0, &opts, &fixture_err));
  assert_ok(sct_measure_problem(w.m, &w.spec, first_layout, &fields, &fixture_err));
  assert_ok(sct_measure_verify(w.m, &words, &v, &fixture_err));
  if (v.outcome != SCT_OUT_OK) {
    fail_msg("%s: %s", sct_outcome_name(v.outcome), v.detail);
  }
  assert_ok(sct_measure_verify(w.m, &half, &v, &fixture_err));
  assert_int_equal(v.outcome, SCT_OUT_UNINITIALISED);
  close_world(&w);
  free(text);
}

/* Flags and data of an output together are more than a message may hold. */
static void test_a_large_output_goes_in_pieces(void **state) {
  (void)state;
  const int64_t bytes = (int64_t)129 << 20;
  sct_shape shape = {.op = {{.bytes = bytes}}};
  world w;
  int64_t buffer = -1;
  uint8_t *zeros = sct_alloc((size_t)bytes);
  assert_non_null(zeros);
  open_world(&w);
  assert_ok(sct_remote_alloc(w.m, bytes, 1, &buffer, &fixture_err));
  assert_ok(sct_remote_set_expected(w.m, buffer, &shape, 0, zeros, zeros, &fixture_err));
  sct_wire request = {0};
  sct_reply reply = {0};
  sct_wire_put_bytes(&request, zeros, SCT_WIRE_MAX_BYTES); /* with its length: more than fits */
  sct_worker_call(&w.m->worker, SCT_OP_SET, &request, 1000000000, &reply);
  assert_int_equal(reply.kind, SCT_REPLY_FAILED);
  assert_string_equal(reply.text, "the request SET is larger than 268435456 bytes");
  assert_int_equal(verify(&w, "right").outcome, SCT_OUT_OK); /* by the same worker */
  assert_int_equal(w.m->generation, 1);
  sct_wire_free(&request);
  sct_reply_free(&reply);
  sct_free(zeros);
  close_world(&w);
}

int main(int argc, char **argv) {
  FIXTURE_WORKER(argc, argv);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_each_misdeed_becomes_its_outcome),
      cmocka_unit_test(test_rounds_are_found),
      cmocka_unit_test(test_room_is_made_by_those_used_longest_ago),
      cmocka_unit_test(test_a_program_is_sent_once),
      cmocka_unit_test(test_a_diagnosis_names_its_line_and_size),
      cmocka_unit_test(test_a_naive_variant_at_fault_is_said),
      cmocka_unit_test(test_an_unknown_naive_variant_is_no_fault),
      cmocka_unit_test(test_every_diagnosis_is_classified),
      cmocka_unit_test(test_it_is_the_described_one_and_gives_no_times),
      cmocka_unit_test(test_a_verdict_has_the_counts_of_one_size),
      cmocka_unit_test(test_sizes_are_small_and_around_the_tiles),
      cmocka_unit_test(test_many_texts_come_and_go),
      cmocka_unit_test(test_padding_may_be_undefined_and_fields_may_not),
      cmocka_unit_test(test_a_large_output_goes_in_pieces),
  };
  return described_run(cuda_text, "virtual.cu", tests, SCT_COUNT(tests));
}
