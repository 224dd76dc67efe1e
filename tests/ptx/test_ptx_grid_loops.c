/* Which kernels have a loop that advances by the number of blocks. */
#include "nvrtc_text.h"
#include "ptx/ptx.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* Those named strides_ have one. */
static const char cuda[] =
    "typedef long long ll;\n"
    "#define K(name) extern \"C\" __global__ void name(const float *in, float *out, ll n, int m)\n"
    "#define FIRST (blockIdx.x * (ll)blockDim.x + threadIdx.x)\n"
    "#define STRIDE (gridDim.x * (ll)blockDim.x)\n"
    "K(strides_elements) { for (ll i = FIRST; i < n; i += STRIDE) out[i] = in[i]; }\n"
    "K(strides_int) { for (int i = FIRST; i < n; i += gridDim.x * blockDim.x) out[i] = in[i]; }\n"
    "K(strides_tiles) { for (int t = blockIdx.x; t < m; t += gridDim.x)\n"
    "  for (int i = threadIdx.x; i < 500; i += blockDim.x) out[t * 500 + i] = in[t * 500 + i]; }\n"
    "K(strides_while) { ll i = FIRST; while (true) { if (i >= n) return; out[i] = in[i]; i += "
    "STRIDE; } }\n"
    "K(strides_unrolled) {\n#pragma unroll 4\n  for (ll i = FIRST; i < n; i += STRIDE) out[i] = "
    "in[i]; }\n"
    "K(strides_pointer) { const float *p = in + FIRST; for (; p < in + n; p += STRIDE) out[p - in] "
    "= *p; }\n"
    "K(strides_down) { for (ll i = n - 1 - FIRST; i >= 0; i -= STRIDE) out[i] = in[i]; }\n"
    "K(strides_rows) { for (int y = blockIdx.y; y < m; y += gridDim.y) out[y] = in[y]; }\n"
    "K(strides_ring) { float ring[3]; const ll s = STRIDE; for (int k = 0; k < 2; k++) ring[k] = "
    "in[FIRST + k * s];\n"
    "  for (ll b = FIRST; b < n; b += 3 * s)\n#pragma unroll\n    for (int k = 0; k < 3; k++) {\n"
    "      const ll g = b + k * s; if (g >= n) return; ring[(k + 2) % 3] = g + 2 * s < n ? in[g + "
    "2 * s] : 0;\n"
    "      out[g] = ring[k]; } }\n"
    "K(stays_once) { if (FIRST < n) out[FIRST] = in[FIRST]; }\n"
    "K(stays_in_block) { for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = in[i]; }\n"
    "K(stays_by_constant) { for (ll i = FIRST; i < n; i += 264 * 128) out[i] = in[i]; }\n"
    "K(stays_up_to_grid) { float s = 0; for (int b = threadIdx.x; b < gridDim.x; b += 32) s += "
    "in[b];\n"
    "  out[threadIdx.x] = s; }\n"
    "K(stays_share) { const ll from = n * blockIdx.x / gridDim.x, to = n * (blockIdx.x + 1) / "
    "gridDim.x;\n"
    "  for (ll i = from + threadIdx.x; i < to; i += blockDim.x) out[i] = in[i]; }\n"
    "K(stays_scaled) { const float f = gridDim.x; for (int k = 0; k < m; k++) out[FIRST + k] = "
    "in[k] * f; }\n";

static void loops_over_the_grid_are_found(void **state) {
  (void)state;
  sct_error err = {0};
  sct_ptx_module *module = NULL;
  int missed = 0;
  char *ptx = nvrtc_ptx(cuda, "loops.cu", "sm_90", NULL);
  assert_non_null(ptx);
  assert_int_equal(sct_ptx_parse(&module, ptx, "loops.cu", &err), SCT_OK);
  for (int k = 0; k < sct_ptx_n_kernels(module); k++) {
    const char *kernel = sct_ptx_kernel_at(module, k)->name;
    const bool steps = sct_ptx_steps_by_grid(module, kernel);
    if (steps != sct_has_prefix(kernel, "strides_")) {
      print_message("%s: %s\n", kernel, steps ? "found" : "missed");
      missed++;
    }
  }
  assert_int_equal(missed, 0);
  assert_false(sct_ptx_steps_by_grid(module, "no_such_kernel"));
  sct_ptx_module_free(module);
  free(ptx);
}

int main(void) {
  nvrtc_door door;
  if (!nvrtc_open(&door)) {
    return 77;
  }
  const struct CMUnitTest tests[] = {cmocka_unit_test(loops_over_the_grid_are_found)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
