/* tex1Dfetch from linear memory: every texel type and channel count, indices outside, undefined
 * texels, what is no texture. */
#include "nvrtc_text.h"
#include "ptx/ptx.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define N 64 /* threads */

/* out[4 i + c] = channel c of texel first + i */
#define FETCH(type, reg, channels)                                                                 \
  ".version 8.0\n.target sm_90\n.address_size 64\n"                                                \
  ".visible .entry k(.param .u64 tex, .param .u64 out, .param .u32 first)\n{\n"                    \
  ".reg .b32 %r<4>;\n.reg ." reg " %v<4>;\n.reg .b64 %d<4>;\n"                                     \
  "ld.param.u64 %d0, [tex];\nld.param.u64 %d1, [out];\nld.param.u32 %r0, [first];\n"               \
  "mov.u32 %r1, %tid.x;\nadd.s32 %r0, %r0, %r1;\nmul.wide.u32 %d2, %r1, 16;\n"                     \
  "add.s64 %d1, %d1, %d2;\n"                                                                       \
  "tex.1d.v4." type ".s32 {%v0, %v1, %v2, %v3}, [%d0, {%r0}];\n" channels "ret;\n}\n"
#define STORE1(reg) "st.global." reg " [%d1], %v0;\n"
#define STORE2(reg) STORE1(reg) "st.global." reg " [%d1+4], %v1;\n"
#define STORE4(reg)                                                                                \
  STORE2(reg) "st.global." reg " [%d1+8], %v2;\nst.global." reg " [%d1+12], %v3;\n"

typedef struct fetch {
  const char *ptx;
  sct_ptx_texture texture; /* address: offset in the buffer */
  int32_t first;
  bool undefined;    /* the texels were never set */
  uint64_t handle;   /* instead of the texture's; 0: that one */
  const uint8_t *in; /* [in_bytes] */
  int64_t in_bytes;
} fetch;

static sct_ptx_kind run(const fetch *f, uint32_t *out, sct_ptx_result *result) {
  sct_error err = {0};
  sct_ptx_module *module = NULL;
  sct_ptx_memory *memory = NULL;
  uint64_t in = 0, to = 0, handle = 0;
  uint8_t zeros[16 * N] = {0};
  const sct_ptx_buffer buffers[2] = {{.name = "texels",
                                      .bytes = f->in_bytes,
                                      .data = f->undefined ? NULL : f->in,
                                      .read_only = true},
                                     {.name = "out", .bytes = sizeof zeros, .data = zeros}};
  if (sct_ptx_parse(&module, f->ptx, "tex.ptx", &err) != SCT_OK) {
    fail_msg("%s", err.text);
  }
  sct_ptx_memory_new(&memory);
  assert_int_equal(sct_ptx_memory_add(memory, &in, &buffers[0], &err), SCT_OK);
  assert_int_equal(sct_ptx_memory_add(memory, &to, &buffers[1], &err), SCT_OK);
  sct_ptx_texture t = f->texture;
  t.address += in;
  if (sct_ptx_memory_add_texture(memory, &handle, &t, &err) != SCT_OK) {
    fail_msg("%s", err.text);
  }
  handle = f->handle != 0 ? f->handle : handle;
  const void *args[] = {&handle, &to, &f->first};
  const sct_ptx_launch_opts opts = {
      .module = module, .kernel = "k", .block = {N, 1, 1}, .args = args, .n_args = 3};
  if (sct_ptx_launch(result, memory, &opts, &err) != SCT_OK) {
    fail_msg("%s", err.text);
  }
  memcpy(out, sct_ptx_memory_data(memory, to), 16 * N);
  sct_ptx_memory_free(memory);
  sct_ptx_module_free(module);
  return result->diag.kind;
}

static const uint8_t *noise(void) {
  static uint8_t bytes[16 * 64];
  for (int i = 0; i < SCT_COUNT(bytes); i++) {
    bytes[i] = (uint8_t)sct_mix64(11, (uint64_t)i);
  }
  return bytes;
}

/* Half precision by its definition. */
static float half_value(uint16_t h) {
  const int exponent = h >> 10 & 31;
  float f = (float)(h & 1023) / 1024.f + (exponent > 0 ? 1.f : 0.f);
  for (int e = exponent > 0 ? exponent - 15 : -14; e != 0; e += e < 0 ? 1 : -1) {
    f = e < 0 ? f / 2.f : f * 2.f;
  }
  return h >> 15 ? -f : f;
}

static uint32_t expected(const fetch *f, int64_t index, int c) {
  static const int bytes[SCT_PTX_N_TEXELS] = {
      [SCT_PTX_TEXEL_F32] = 4, [SCT_PTX_TEXEL_F16] = 2, [SCT_PTX_TEXEL_S32] = 4,
      [SCT_PTX_TEXEL_S16] = 2, [SCT_PTX_TEXEL_S8] = 1,  [SCT_PTX_TEXEL_U32] = 4,
      [SCT_PTX_TEXEL_U16] = 2, [SCT_PTX_TEXEL_U8] = 1};
  const int b = bytes[f->texture.type];
  if (index < 0 || index >= f->texture.texels) {
    return 0;
  }
  const uint8_t *p = f->in + f->texture.address + (index * f->texture.channels + c) * b;
  uint32_t v = 0;
  for (int k = 0; k < b; k++) {
    v |= (uint32_t)p[k] << 8 * k;
  }
  if (f->texture.type == SCT_PTX_TEXEL_S8) {
    v = (uint32_t)(int8_t)v;
  } else if (f->texture.type == SCT_PTX_TEXEL_S16) {
    v = (uint32_t)(int16_t)v;
  } else if (f->texture.type == SCT_PTX_TEXEL_F16) {
    const float h = half_value((uint16_t)v);
    memcpy(&v, &h, 4);
  }
  return v;
}

static void check(const fetch *f) {
  sct_ptx_result result;
  uint32_t out[4 * N];
  if (run(f, out, &result) != SCT_PTX_CLEAN) {
    fail_msg("type %d: %s", (int)f->texture.type, result.diag.text);
  }
  assert_int_equal(result.counters.texture_requests, N / 32);
  assert_int_equal(result.counters.load.requests, 0);
  for (int i = 0; i < N; i++) {
    for (int c = 0; c < f->texture.channels; c++) {
      if (out[4 * i + c] != expected(f, f->first + i, c)) {
        fail_msg("type %d, texel %d, channel %d: 0x%x instead of 0x%x", (int)f->texture.type,
                 f->first + i, c, out[4 * i + c], expected(f, f->first + i, c));
      }
    }
  }
  sct_ptx_result_free(&result);
}

static void every_texel_type(void **state) {
  (void)state;
#define ROWS(type, reg)                                                                            \
  { FETCH(type, reg, STORE1(reg)), FETCH(type, reg, STORE2(reg)), FETCH(type, reg, STORE4(reg)) }
  static const char *const texts[3][3] = {ROWS("f32", "f32"), ROWS("s32", "s32"),
                                          ROWS("u32", "u32")};
  uint8_t bytes[16 * 64];
  memcpy(bytes, noise(), sizeof bytes);
  for (int type = 0; type < SCT_PTX_N_TEXELS; type++) {
    const int row = type < SCT_PTX_TEXEL_S32 ? 0 : type < SCT_PTX_TEXEL_U32 ? 1 : 2;
    for (int k = 0; type == SCT_PTX_TEXEL_F16 && k < SCT_COUNT(bytes); k += 2) {
      bytes[k + 1] &= 0xbf; /* no infinity, no NaN */
    }
    for (int c = 0; c < 3; c++) {
      const fetch f = {.ptx = texts[row][c],
                       .texture = {.texels = 60, .type = (sct_ptx_texel)type, .channels = 1 << c},
                       .first = -3, /* and 61 beyond the last */
                       .in = bytes,
                       .in_bytes = sizeof bytes};
      check(&f);
    }
  }
}

static void a_texture_may_begin_inside_of_a_buffer(void **state) {
  (void)state;
  const fetch f = {
      .ptx = FETCH("u32", "u32", STORE1("u32")),
      .texture = {.address = 512, .texels = 10, .type = SCT_PTX_TEXEL_U32, .channels = 1},
      .first = -20, /* what lies before the texture in its buffer is outside, too */
      .in = noise(),
      .in_bytes = 1024};
  check(&f);
}

static void undefined_texels_and_channels(void **state) {
  (void)state;
  sct_ptx_result result;
  uint32_t out[4 * N];
  fetch f = {.ptx = FETCH("f32", "f32", STORE1("f32")),
             .texture = {.texels = N, .type = SCT_PTX_TEXEL_F32, .channels = 1},
             .undefined = true,
             .in_bytes = 1024};
  assert_int_equal(run(&f, out, &result), SCT_PTX_UNDEFINED_STORE);
  f.undefined = false;
  f.in = noise();
  assert_int_equal(run(&f, out, &result), SCT_PTX_CLEAN);
  f.ptx = FETCH("f32", "f32", STORE2("f32")); /* a channel that the texture has not */
  assert_int_equal(run(&f, out, &result), SCT_PTX_UNDEFINED_STORE);
  assert_int_equal(result.diag.lane, 0);
}

static void what_is_no_texture(void **state) {
  (void)state;
  sct_ptx_result result;
  uint32_t out[4 * N];
  fetch f = {.ptx = FETCH("f32", "f32", STORE1("f32")),
             .texture = {.texels = N, .type = SCT_PTX_TEXEL_S32, .channels = 1},
             .in = noise(),
             .in_bytes = 1024};
  assert_int_equal(run(&f, out, &result), SCT_PTX_BAD_OPERAND);
  assert_non_null(
      strstr(result.diag.text, "fetches .f32 from a texture whose texels read as .s32"));
  f.texture.type = SCT_PTX_TEXEL_F32;
  f.handle = 12345;
  assert_int_equal(run(&f, out, &result), SCT_PTX_BAD_OPERAND);
  assert_non_null(strstr(result.diag.text, "0x3039 is no texture object"));
}

static void a_texture_must_lie_in_a_buffer(void **state) {
  (void)state;
  sct_error err = {0};
  sct_ptx_memory *memory = NULL;
  uint64_t at = 0, handle = 0;
  const sct_ptx_buffer buffer = {.name = "b", .bytes = 1024};
  sct_ptx_memory_new(&memory);
  assert_int_equal(sct_ptx_memory_add(memory, &at, &buffer, &err), SCT_OK);
  const struct {
    sct_ptx_texture texture;
    const char *text;
  } cases[] = {
      {{at, 257, SCT_PTX_TEXEL_F32, 1}, "1028 bytes"},
      {{at + 512, 129, SCT_PTX_TEXEL_U32, 1}, "outside of every buffer"},
      {{512, 1, SCT_PTX_TEXEL_U32, 1}, "outside of every buffer"},
      {{at + 16, 1, SCT_PTX_TEXEL_U32, 1}, "at a multiple of 512"},
      {{at, 1, SCT_PTX_TEXEL_U32, 3}, "3 channels (1, 2 or 4)"},
      {{at, 1, SCT_PTX_N_TEXELS, 1}, "texel type 8"},
      {{at, (INT64_C(1) << 27) + 1, SCT_PTX_TEXEL_U8, 1}, "at most 134217728"},
      {{at, -1, SCT_PTX_TEXEL_U8, 1}, "-1 texels"},
  };
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    assert_int_equal(sct_ptx_memory_add_texture(memory, &handle, &cases[k].texture, &err),
                     SCT_EUSAGE);
    if (strstr(err.text, cases[k].text) == NULL) {
      fail_msg("case %d: %s", k, err.text);
    }
  }
  const sct_ptx_texture all = {at, 256, SCT_PTX_TEXEL_F32, 1};
  for (int k = 0; k < 64; k++) {
    assert_int_equal(sct_ptx_memory_add_texture(memory, &handle, &all, &err), SCT_OK);
  }
  assert_int_equal(sct_ptx_memory_add_texture(memory, &handle, &all, &err), SCT_EUSAGE);
  assert_non_null(strstr(err.text, "more than 64"));
  sct_ptx_memory_free(memory);
}

/* As NVRTC writes it, with the texture's handle in the parameters. */
static void as_cuda_says_it(void **state) {
  (void)state;
  static const char cuda[] =
      "extern \"C\" __global__ void k(unsigned long long tex, float *out, int first) {\n"
      "  float a, b, c, d;\n"
      "  asm(\"tex.1d.v4.f32.s32 {%0, %1, %2, %3}, [%4, {%5}];\" : \"=f\"(a), \"=f\"(b), "
      "\"=f\"(c), \"=f\"(d) : \"l\"(tex), \"r\"(first + (int)threadIdx.x));\n"
      "  out[4 * threadIdx.x] = a + 1.f;\n}\n";
  nvrtc_door door;
  if (!nvrtc_open(&door)) {
    skip();
  }
  float texels[N], got = 0;
  uint32_t out[4 * N];
  sct_ptx_result result;
  for (int i = 0; i < N; i++) {
    texels[i] = (float)i;
  }
  char *ptx = nvrtc_ptx(cuda, "tex.cu", "sm_90", NULL);
  assert_non_null(ptx);
  const fetch f = {.ptx = ptx,
                   .texture = {.texels = N, .type = SCT_PTX_TEXEL_F32, .channels = 1},
                   .first = 5,
                   .in = (const uint8_t *)texels,
                   .in_bytes = sizeof texels};
  assert_int_equal(run(&f, out, &result), SCT_PTX_CLEAN);
  for (int i = 0; i < N; i++) {
    memcpy(&got, &out[4 * i], 4);
    assert_true(got == (i + 5 < N ? (float)(i + 5) : 0.f) + 1.f);
  }
  free(ptx);
}

static void other_textures_are_refused(void **state) {
  (void)state;
  static const char *const forms[] = {
      "tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%d0, {%f0, %f1}];",
      "tex.1d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%d0, {%f0}];",
      "tex.1d.v2.f16x2.s32 {%f0, %f1}, [%d0, {%r0}];",
      "tex.level.1d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%d0, {%f0}], %f1;",
      "tld4.r.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%d0, {%f0, %f1}];"};
  for (int k = 0; k < SCT_COUNT(forms); k++) {
    sct_error err = {0};
    sct_ptx_module *module = NULL;
    sct_str text = {0};
    sct_str_printf(&text,
                   ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n"
                   ".reg .f32 %%f<4>;\n.reg .b32 %%r<4>;\n.reg .b64 %%d<2>;\n%s\nret;\n}\n",
                   forms[k]);
    assert_int_equal(sct_ptx_parse(&module, sct_str_c(&text), "t.ptx", &err), SCT_OK);
    const char *error = sct_ptx_kernel_at(module, 0)->error;
    assert_non_null(error);
    if (strstr(error, "t.ptx:9:") == NULL || strstr(error, "kernel 'k'") == NULL ||
        strstr(error, "not supported: 't") == NULL) {
      fail_msg("%s", error);
    }
    sct_ptx_module_free(module);
    sct_str_free(&text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_texel_type),
                                     cmocka_unit_test(a_texture_may_begin_inside_of_a_buffer),
                                     cmocka_unit_test(undefined_texels_and_channels),
                                     cmocka_unit_test(what_is_no_texture),
                                     cmocka_unit_test(a_texture_must_lie_in_a_buffer),
                                     cmocka_unit_test(as_cuda_says_it),
                                     cmocka_unit_test(other_textures_are_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
