/* Floats that kernels define themselves: what a kernel's conversions give, on devices that have
 * instructions for them and on older ones, against plain C. */
#include "fuzz/reference.h"
#include "ptx/ptx.h"
#include "tune_verify.h"

#define MOST 70000

typedef struct small_type {
  const char *name;
  int bytes, n_sizes;           /* so many magnitudes are finite */
  float (*from)(uint32_t bits); /* of the reference */
  uint32_t (*to)(float x);
} small_type;

#define SMALL(type)                                                                                \
  static float from_##type(uint32_t bits) {                                                        \
    fz_##type h;                                                                                   \
    memcpy(&h, &bits, sizeof h);                                                                   \
    return fz_from_##type(h);                                                                      \
  }                                                                                                \
  static uint32_t to_##type(float x) {                                                             \
    return fz_to_##type(x).bits;                                                                   \
  }
SMALL(e4m3)
SMALL(e5m2)
SMALL(f16)
SMALL(bf16)

static const small_type types[] = {{"e4m3", 1, 0x7f, from_e4m3, to_e4m3},
                                   {"e5m2", 1, 0x7c, from_e5m2, to_e5m2},
                                   {"f16", 2, 0x7c00, from_f16, to_f16},
                                   {"bf16", 2, 0x7f80, from_bf16, to_bf16}};
static const struct {
  const char *device, *arch;
} devices[] = {{"h200", "sm_90"}, {"a100", "sm_80"}};

/* The naive kernel of "b = a;" on n values. */
static void convert(const char *device, const char *arch, const char *from, const char *to,
                    const void *in, int64_t in_bytes, int64_t n, void *out, int64_t out_bytes) {
  tv_world w = {0};
  char text[512];
  snprintf(text, sizeof text,
           "local s = require 'sectile'\n"
           "return s.kernel { name = 'k', dims = { 'i' }, inputs = { s.array('a', '%s') },\n"
           "  outputs = { s.array('b', '%s') }, body = 'b = (float)a;', sizes = { { i = 64 } } }\n",
           from, to);
  MUST(sct_script_load_spec_text(&w.f.spec, "test.lua", text, err));
  MUST(sct_script_load_device(&w.f.device, device, err));
  MUST(sct_script_new(&w.f.script, &w.f.spec, &w.f.device, NULL, err));
  MUST(sct_script_space(&w.f.space, w.f.script, err));
  MUST(sct_space_enumerate(&w.f.space, err));
  sct_kernel_code code = fixture_make(&w.f, "direct threads=256");
  const sct_compile_opts opts = {.arch = arch, .cache_dir = shared_cache(tv_folder)};
  MUST(sct_compiler_new(&w.compiler, &opts, err));
  sct_compiled compiled = tv_compile(&w, &code);
  sct_ptx_module *module = NULL;
  sct_ptx_memory *memory = NULL;
  sct_ptx_result result;
  uint64_t address[2];
  MUST(sct_ptx_parse(&module, compiled.ptx, "kernel.ptx", err));
  sct_ptx_memory_new(&memory);
  const sct_ptx_buffer buffers[2] = {
      {.name = "a", .bytes = in_bytes * n, .data = in, .read_only = true},
      {.name = "b", .bytes = out_bytes * n}};
  for (int k = 0; k < 2; k++) {
    MUST(sct_ptx_memory_add(memory, &address[k], &buffers[k], err));
  }
  const void *args[] = {&address[0], &address[1], &n};
  const sct_ptx_launch_opts launch = {.module = module,
                                      .kernel = compiled.entry,
                                      .grid = {(int)((n + 255) / 256), 1, 1},
                                      .block = {256, 1, 1},
                                      .args = args,
                                      .n_args = 3};
  MUST(sct_ptx_launch(&result, memory, &launch, err));
  assert_int_equal(result.diag.kind, SCT_PTX_CLEAN);
  memcpy(out, sct_ptx_memory_data(memory, address[1]), (size_t)(out_bytes * n));
  sct_ptx_result_free(&result);
  sct_ptx_memory_free(memory);
  sct_ptx_module_free(module);
  sct_compiled_free(&compiled);
  sct_compiler_free(w.compiler);
  sct_kernel_code_free(&code);
  fixture_close(&w.f);
}

/* Every number, both sides of halfway between neighbours, and what lies beyond them all. */
static int64_t hostile_floats(const small_type *type, float *x) {
  static const float others[] = {0.0f,    -0.0f,    INFINITY, -INFINITY, NAN,     1e30f,
                                 -3e38f,  1e-45f,   -1e-30f,  463.9f,    464.0f,  464.1f,
                                 -464.1f, 61439.9f, 61440.0f, 65519.9f,  65520.0f};
  int64_t n = 0;
  for (int k = 0; k < SCT_COUNT(others); k++) {
    x[n++] = others[k];
  }
  const int step = type->n_sizes > 256 ? 7 : 1;
  for (int bits = 0; bits + 1 < type->n_sizes; bits += step) {
    const float here = type->from((uint32_t)bits), next = type->from((uint32_t)bits + 1);
    const float half = 0.5f * here + 0.5f * next;
    const float some[] = {here, -half, nextafterf(half, INFINITY), -nextafterf(half, 0.0f)};
    memcpy(x + n, some, sizeof some);
    n += SCT_COUNT(some);
  }
  assert_true(n <= MOST);
  return n;
}

static void test_conversions_from_float(void **state) {
  (void)state;
  float *x = calloc(MOST, sizeof *x);
  uint8_t *got = calloc(MOST, 2);
  for (int d = 0; d < SCT_COUNT(devices); d++) {
    for (int t = 0; t < SCT_COUNT(types); t++) {
      const int64_t n = hostile_floats(&types[t], x);
      convert(devices[d].device, devices[d].arch, "f32", types[t].name, x, 4, n, got,
              types[t].bytes);
      for (int64_t k = 0; k < n; k++) {
        const uint32_t want = types[t].to(x[k]);
        uint32_t bits = 0;
        memcpy(&bits, got + k * types[t].bytes, (size_t)types[t].bytes);
        if (bits != want && !(isnan(x[k]) && isnan(types[t].from(bits)))) {
          fail_msg("%s on %s: %.9g gives 0x%x, not 0x%x", types[t].name, devices[d].device,
                   (double)x[k], bits, want);
        }
      }
    }
  }
  free(x);
  free(got);
}

static void test_conversions_to_float(void **state) {
  (void)state;
  float *got = calloc(65536, sizeof *got);
  uint8_t *all = calloc(65536, 2);
  for (int d = 0; d < SCT_COUNT(devices); d++) {
    for (int t = 0; t < SCT_COUNT(types); t++) {
      const int64_t n = (int64_t)1 << 8 * types[t].bytes;
      for (int64_t k = 0; k < n; k++) {
        memcpy(all + k * types[t].bytes, &k, (size_t)types[t].bytes);
      }
      convert(devices[d].device, devices[d].arch, types[t].name, "f32", all, types[t].bytes, n, got,
              4);
      for (int64_t k = 0; k < n; k++) {
        const float want = types[t].from((uint32_t)k);
        if (memcmp(&got[k], &want, sizeof want) != 0 && !(isnan(got[k]) && isnan(want))) {
          fail_msg("%s on %s: 0x%x gives %.9g, not %.9g", types[t].name, devices[d].device,
                   (unsigned)k, (double)got[k], (double)want);
        }
      }
    }
  }
  free(got);
  free(all);
}

int main(int argc, char **argv) {
  TV_WORKER(argc, argv)
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_conversions_from_float),
      cmocka_unit_test(test_conversions_to_float),
  };
  return cmocka_run_group_tests(tests, tv_setup, tv_teardown);
}
