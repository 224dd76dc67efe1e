/* What is known of kernels on older devices: the examples of the programming and best-practices
 * guides for CC 1.x, and measured transactions of a gather on a GTX 1070 and a Titan V. */
#include "nvrtc_text.h"
#include "ptx/ptx.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define N      1024 /* threads of the first kernels, in blocks of 256 */
#define HALVES (N / 16)
#define GATHER 10000 /* elements of the gather */
#define WARPS  313   /* that hold them */

static const char cuda[] =
    "#define I (blockIdx.x * 256 + threadIdx.x)\n"
    "extern \"C\" __global__ void copy(const float *in, float *out) { out[I] = in[I]; }\n"
    "extern \"C\" __global__ void permuted(const float *in, float *out) { out[I] = in[I ^ 1]; }\n"
    "extern \"C\" __global__ void shifted(const float *in, float *out) { out[I] = in[I + 1]; }\n"
    "extern \"C\" __global__ void direct3(const float3 *in, float3 *out) {\n"
    "  float3 a = in[I]; a.x += 2; a.y += 2; a.z += 2; out[I] = a;\n}\n"
    "extern \"C\" __global__ void shared3(const float *in, float *out) {\n"
    "  __shared__ float s[768];\n"
    "  int t = threadIdx.x, i = blockIdx.x * 768 + t;\n"
    "  s[t] = in[i]; s[t + 256] = in[i + 256]; s[t + 512] = in[i + 512];\n"
    "  __syncthreads();\n"
    "  float x = s[3 * t] + 2, y = s[3 * t + 1] + 2, z = s[3 * t + 2] + 2;\n"
    "  s[3 * t] = x; s[3 * t + 1] = y; s[3 * t + 2] = z;\n"
    "  __syncthreads();\n"
    "  out[i] = s[t]; out[i + 256] = s[t + 256]; out[i + 512] = s[t + 512];\n}\n"
    "extern \"C\" __global__ void gather4(const float *in, float *out, const int *at) {\n"
    "  if (I < 10000) out[I] = in[at[I]];\n}\n"
    "extern \"C\" __global__ void gather8(const double *in, double *out, const int *at) {\n"
    "  if (I < 10000) out[I] = in[at[I]];\n}\n"
    "extern \"C\" __global__ void past_l1(const float *in, float *out) {\n"
    "  float v; asm volatile(\"ld.global.cg.f32 %0, [%1];\" : \"=f\"(v) : \"l\"(in + I));\n"
    "  out[I] = v;\n}\n";

typedef struct setting {
  sct_ptx_module *module;
  sct_ptx_memory *memory;
  uint64_t in, out, identity, random;
} setting;

static void add(setting *s, uint64_t *address, const char *name, const void *data, int64_t bytes) {
  const sct_ptx_buffer b = {.name = name, .bytes = bytes, .data = data};
  assert_int_equal(sct_ptx_memory_add(s->memory, address, &b, NULL), SCT_OK);
}

static int setup(void **state) {
  static setting s;
  static uint8_t zeros[8 * (GATHER + 8)];
  static int32_t index[GATHER];
  sct_error err = {0};
  char *ptx = nvrtc_ptx(cuda, "legacy.cu", "sm_90", NULL);
  assert_non_null(ptx);
  if (sct_ptx_parse(&s.module, ptx, "legacy.ptx", &err) != SCT_OK) {
    fail_msg("%s", err.text);
  }
  free(ptx);
  sct_ptx_memory_new(&s.memory);
  add(&s, &s.in, "in", zeros, sizeof zeros);
  add(&s, &s.out, "out", zeros, sizeof zeros);
  for (int64_t i = 0; i < GATHER; i++) {
    index[i] = (int32_t)i;
  }
  add(&s, &s.identity, "identity", index, sizeof index);
  for (int64_t i = 0; i < GATHER; i++) {
    index[i] = (int32_t)((i * 7919 + 13) % GATHER);
  }
  add(&s, &s.random, "random", index, sizeof index);
  *state = &s;
  return 0;
}

static int teardown(void **state) {
  setting *s = *state;
  sct_ptx_memory_free(s->memory);
  sct_ptx_module_free(s->module);
  return 0;
}

/* `index` 0: the kernel takes none. Free the result. */
static sct_ptx_result run(const setting *s, sct_ptx_coalescing model, const char *kernel,
                          uint64_t index) {
  sct_ptx_result r;
  sct_error err = {0};
  const void *args[] = {&s->in, &s->out, &index};
  const sct_ptx_launch_opts opts = {.module = s->module,
                                    .kernel = kernel,
                                    .grid = {index != 0 ? (GATHER + 255) / 256 : N / 256, 1, 1},
                                    .block = {256, 1, 1},
                                    .args = args,
                                    .n_args = index != 0 ? 3 : 2,
                                    .coalescing = model,
                                    .per_buffer = true,
                                    .per_instruction = true};
  if (sct_ptx_launch(&r, s->memory, &opts, &err) != SCT_OK) {
    fail_msg("%s", err.text);
  }
  if (r.diag.kind != SCT_PTX_CLEAN) {
    fail_msg("%s: %s", kernel, r.diag.text);
  }
  return r;
}

static sct_ptx_counters counters(const setting *s, sct_ptx_coalescing model, const char *kernel) {
  sct_ptx_result r = run(s, model, kernel, 0);
  const sct_ptx_counters c = r.counters;
  sct_ptx_result_free(&r);
  return c;
}

/* The load of the gathered elements: the second of the kernel. */
static sct_ptx_inst_counters gathered(const setting *s, sct_ptx_coalescing model,
                                      const char *kernel, uint64_t index) {
  sct_ptx_result r = run(s, model, kernel, index);
  sct_ptx_inst_counters found = {0};
  int loads = 0;
  for (int k = 0; k < r.n_insts; k++) {
    if (strncmp(r.insts[k].text, "ld.global", 9) == 0) {
      found = r.insts[k];
      loads++;
    }
  }
  assert_int_equal(loads, 2);
  sct_ptx_result_free(&r);
  return found;
}

/* A transaction of 64 bytes a half warp, or 16 of 32. */
static void cc10_floats(void **state) {
  const sct_ptx_counters copy = counters(*state, SCT_PTX_CC10, "copy");
  assert_int_equal(copy.load.requests, HALVES);
  assert_int_equal(copy.load.sectors, HALVES);
  assert_int_equal(copy.load.moved, 64 * HALVES);
  assert_int_equal(copy.load.contiguous_bytes, 64 * HALVES);
  assert_int_equal(copy.store.sectors, HALVES);
  assert_true(sct_ptx_degree_of(&copy).both == 1.0);
  static const char *const bad[] = {"permuted", "shifted"};
  for (int k = 0; k < 2; k++) {
    const sct_ptx_counters c = counters(*state, SCT_PTX_CC10, bad[k]);
    assert_int_equal(c.load.sectors, 16 * HALVES);
    assert_int_equal(c.load.moved, 16 * 32 * HALVES);
    assert_int_equal(c.load.sectors_ideal, HALVES);
    assert_int_equal(c.store.sectors, HALVES);
    assert_true(sct_ptx_degree_of(&c).both == 2.0 * 64 / (16 * 32 + 64));
  }
}

/* Words of 12 bytes never coalesce; through shared memory they do, without conflicts. */
static void cc10_float3(void **state) {
  const sct_ptx_counters direct = counters(*state, SCT_PTX_CC10, "direct3");
  assert_int_equal(direct.load.requests, 3 * HALVES);
  assert_int_equal(direct.load.sectors, 3 * 16 * HALVES);
  assert_int_equal(direct.store.sectors, 3 * 16 * HALVES);
  const sct_ptx_counters shared = counters(*state, SCT_PTX_CC10, "shared3");
  assert_int_equal(shared.load.sectors, 3 * HALVES);
  assert_int_equal(shared.store.sectors, 3 * HALVES);
  assert_true(sct_ptx_degree_of(&shared).both == 1.0);
  assert_int_equal(shared.shared_load.wavefronts, 6 * HALVES);
  assert_int_equal(shared.shared_load.wavefronts, shared.shared_load.wavefronts_ideal);
  assert_int_equal(shared.shared_store.wavefronts, shared.shared_store.wavefronts_ideal);
}

/* Permuted: one transaction. Misaligned: of two half warps the first lies within 128 bytes, the
 * second takes 64 and 32. */
static void cc12_floats(void **state) {
  const sct_ptx_counters permuted = counters(*state, SCT_PTX_CC12, "permuted");
  assert_int_equal(permuted.load.sectors, HALVES);
  assert_int_equal(permuted.load.moved, 64 * HALVES);
  const sct_ptx_counters shifted = counters(*state, SCT_PTX_CC12, "shifted");
  assert_int_equal(shifted.load.sectors, (1 + 2) * HALVES / 2);
  assert_int_equal(shifted.load.moved, (128 + 64 + 32) * HALVES / 2);
  const sct_ptx_counters direct = counters(*state, SCT_PTX_CC12, "direct3");
  assert_int_equal(direct.load.requests, 3 * HALVES);
  assert_in_range(direct.load.sectors, 3 * HALVES * 2, 3 * HALVES * 3);
}

static void cc20_lines(void **state) {
  const sct_ptx_counters copy = counters(*state, SCT_PTX_CC20, "copy");
  assert_int_equal(copy.load.requests, N / 32);
  assert_int_equal(copy.load.sectors, N / 32);
  assert_int_equal(copy.load.moved, 4 * N);
  assert_int_equal(copy.store.sectors, 4 * N / 32);
  const sct_ptx_counters shifted = counters(*state, SCT_PTX_CC20, "shifted");
  assert_int_equal(shifted.load.sectors, 2 * N / 32);
  const sct_ptx_counters past_l1 = counters(*state, SCT_PTX_CC20, "past_l1");
  assert_int_equal(past_l1.load.sectors, 4 * N / 32);
  assert_int_equal(past_l1.load.moved, 4 * N);
}

/* GTX 1070: 313 instructions; L2 transactions. */
static void cc60_gather(void **state) {
  const setting *s = *state;
  const sct_ptx_inst_counters f = gathered(s, SCT_PTX_CC60, "gather4", s->identity);
  assert_int_equal(f.executed, WARPS);
  assert_int_equal(f.global.requests, WARPS);
  assert_int_equal(f.global.sectors, 1250);
  const sct_ptx_inst_counters d = gathered(s, SCT_PTX_CC60, "gather8", s->identity);
  assert_int_equal(d.executed, WARPS);
  assert_int_equal(d.global.sectors, 2500);
  const sct_ptx_inst_counters far = gathered(s, SCT_PTX_CC60, "gather4", s->random);
  assert_int_equal(far.executed, WARPS);
  assert_in_range(far.global.sectors, 9000, 10000);
  const sct_ptx_inst_counters far8 = gathered(s, SCT_PTX_CC60, "gather8", s->random);
  assert_in_range(far8.global.sectors, 9000, 10000);
}

/* Titan V: L1 transactions are lines. */
static void cc70_gather(void **state) {
  const setting *s = *state;
  const sct_ptx_inst_counters f = gathered(s, SCT_PTX_CC70, "gather4", s->identity);
  assert_int_equal(f.global.requests, WARPS);
  assert_int_equal(f.global.tags, 313);
  assert_int_equal(f.global.sectors, 1250);
  assert_int_equal(gathered(s, SCT_PTX_CC70, "gather8", s->identity).global.tags, 625);
}

/* A model changes how accesses are counted, nothing else. */
static void models_change_counters_only(void **state) {
  const sct_ptx_counters modern = counters(*state, SCT_PTX_CC70, "shared3");
  for (int m = 0; m < SCT_PTX_N_COALESCING; m++) {
    const sct_ptx_counters c = counters(*state, (sct_ptx_coalescing)m, "shared3");
    assert_int_equal(c.warp_instructions, modern.warp_instructions);
    assert_int_equal(c.load.bytes, modern.load.bytes);
    assert_int_equal(c.store.bytes, modern.store.bytes);
    assert_int_equal(c.shared_load.bytes, modern.shared_load.bytes);
    assert_int_equal(c.barriers, modern.barriers);
  }
  const setting *s = *state;
  const void *args[] = {&s->in, &s->out};
  sct_ptx_launch_opts opts = {.module = s->module, .kernel = "copy", .args = args, .n_args = 2};
  opts.coalescing = SCT_PTX_N_COALESCING;
  sct_ptx_result r;
  sct_error err = {0};
  assert_int_equal(sct_ptx_launch(&r, s->memory, &opts, &err), SCT_EUSAGE);
  assert_non_null(strstr(err.text, "counting model"));
}

int main(void) {
  nvrtc_door door;
  if (!nvrtc_open(&door)) {
    return 77;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(cc10_floats),
      cmocka_unit_test(cc10_float3),
      cmocka_unit_test(cc12_floats),
      cmocka_unit_test(cc20_lines),
      cmocka_unit_test(cc60_gather),
      cmocka_unit_test(cc70_gather),
      cmocka_unit_test(models_change_counters_only),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
