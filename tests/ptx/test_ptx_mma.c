/* Products of matrices: fragments by the manual's formulas (PTX ISA 9.0, 9.7.14), wmma by what it
 * stores, ldmatrix and stmatrix by rows. Elements are small whole numbers, so sums are exact. */
#include "ptx_kernel.h"

#include <math.h>

/* ---- elements as bits */

static uint64_t f16_bits(int v) { /* |v| < 16 */
  const int sign = v < 0 ? 0x8000 : 0, m = v < 0 ? -v : v;
  int e = 0;
  while (m >> (e + 1) != 0) {
    e++;
  }
  return m == 0 ? 0 : (uint64_t)(sign | (15 + e) << 10 | (m << (10 - e) & 1023));
}

static uint64_t f32_bits(int v) {
  const float f = (float)v;
  uint32_t bits;
  memcpy(&bits, &f, 4);
  return bits;
}

static uint64_t element_bits(const char *type, int v) {
  const double d = v;
  uint64_t bits = 0;
  if (strcmp(type, "f16") == 0) {
    return f16_bits(v);
  }
  if (strcmp(type, "bf16") == 0) {
    return f32_bits(v) >> 16;
  }
  if (strcmp(type, "f64") == 0) {
    memcpy(&bits, &d, 8);
    return bits;
  }
  if (strcmp(type, "e5m2") == 0) {
    return f16_bits(v) >> 8;
  }
  if (strcmp(type, "e4m3") == 0) { /* 1, 4 and 3 bits, bias 7: of up to 4 significant bits */
    const uint64_t h = f16_bits(v);
    return v == 0 ? 0 : (h >> 8 & 0x80) | ((h >> 7 & 0xff) - 0x40);
  }
  return strcmp(type, "tf32") == 0 || strcmp(type, "f32") == 0 ? f32_bits(v) : (uint64_t)(int64_t)v;
}

static int bits_of(const char *type) {
  return strcmp(type, "f64") == 0                                ? 64
         : strcmp(type, "b1") == 0                               ? 1
         : type[0] == 's' || type[0] == 'u'                      ? atoi(type + 1)
         : type[0] == 'e'                                        ? 8
         : strcmp(type, "f16") == 0 || strcmp(type, "bf16") == 0 ? 16
                                                                 : 32;
}

static int value_at(const char *type, int row, int col, int salt) {
  const int v = (row * 7 + col * 3 + salt + row * col) % 13 - 6;
  return strcmp(type, "b1") == 0                                         ? v & 1
         : type[0] == 'u'                                                ? v + 6
         : strcmp(type, "e5m2") == 0 && (v == 5 || v == -5) /* 2 bits */ ? 4
                                                                         : v;
}

/* ---- mma by the manual's formulas: element i of a thread's piece, in `group` and `in` it */

typedef struct form {
  const char *text; /* after mma.sync.aligned. */
  int m, n, k;
  const char *a, *c, *d; /* d: NULL: as c */
} form;

static void a_of(const form *f, int lane, int i, int *row, int *col) {
  const int group = lane >> 2, in = lane & 3, per = bits_of(f->a) < 32 ? 32 / bits_of(f->a) : 1;
  if (f->m == 8) { /* one register: row = groupID, col = threadID_in_group * per + i */
    *row = group;
    *col = in * per + i;
  } else if (per == 1) { /* tf32 and f64: a0 a2 .. of row groupID, a1 a3 .. 8 below; 4 on a pair */
    *row = i % 2 == 0 ? group : group + 8;
    *col = in + i / 2 * 4;
  } else { /* i / per: 0 and 2 of row groupID; from 2 * per on, half of k further */
    *row = i / per % 2 == 0 ? group : group + 8;
    *col = in * per + i % per + (i >= 2 * per ? 4 * per : 0);
  }
}

static void b_of(const form *f, int lane, int i, int *row, int *col) {
  const int group = lane >> 2, in = lane & 3, per = bits_of(f->a) < 32 ? 32 / bits_of(f->a) : 1;
  *col = group;
  *row = in * per + i % per + i / per * 4 * per;
}

static void c_of(int lane, int i, int *row, int *col) {
  *row = (lane >> 2) + (i < 2 ? 0 : 8);
  *col = (lane & 3) * 2 + (i & 1);
}

/* Registers of a piece as words of 32 bits. */
static int words(int size, const char *type) {
  return size / 32 * bits_of(type) / 32;
}

static void put_element(uint32_t *piece, const char *type, int i, int v) {
  const int bits = bits_of(type);
  const uint64_t e = element_bits(type, v);
  if (bits == 64) {
    memcpy(piece + 2 * i, &e, 8);
  } else {
    piece[i * bits / 32] |=
        (uint32_t)((e & (bits == 32 ? UINT32_MAX : (1u << bits) - 1)) << i * bits % 32);
  }
}

static void list(sct_str *out, const char *name, int from, int n) {
  sct_str_append(out, "{");
  for (int i = 0; i < n; i++) {
    sct_str_printf(out, "%s%%%s%d", i > 0 ? "," : "", name, from + i);
  }
  sct_str_append(out, "}");
}

/* A kernel whose lanes load their words of a, b and c, and store those of d. */
static void write_kernel(sct_str *out, const form *f, int na, int nb, int nc, int nd) {
  const bool wide = strcmp(f->a, "f64") == 0;
  const int step = wide ? 8 : 4, scale = wide ? 2 : 1, all = (na + nb + nc) / scale;
  const char *reg = wide ? "x" : "w", *type = wide ? "b64" : "b32";
  sct_str_append(out, PTX_KERNEL);
  sct_str_printf(out,
                 ".reg .%s %%%s<64>; mul.lo.s32 %%r0, %%i, %d; cvt.u64.u32 %%o, "
                 "%%r0; add.s64 %%pi, %%in, %%o;\nmul.lo.s32 %%r0, %%i, %d; "
                 "cvt.u64.u32 %%o, %%r0; add.s64 %%po, %%out, %%o;\n",
                 type, reg, 4 * (na + nb + nc), 4 * nd);
  for (int i = 0; i < all; i++) {
    sct_str_printf(out, "ld.global.%s %%%s%d, [%%pi+%d];\n", type, reg, i, step * i);
  }
  sct_str_printf(out, "mma.sync.aligned.%s ", f->text);
  list(out, reg, 40, nd / scale);
  sct_str_append(out, ", ");
  list(out, reg, 0, na / scale);
  sct_str_append(out, ", ");
  list(out, reg, na / scale, nb / scale);
  sct_str_append(out, ", ");
  list(out, reg, (na + nb) / scale, nc / scale);
  sct_str_append(out, ";\n");
  for (int i = 0; i < nd / scale; i++) {
    sct_str_printf(out, "st.global.%s [%%po+%d], %%%s%d;\n", type, step * i, reg, 40 + i);
  }
  sct_str_append(out, "ret;\n}\n");
}

static int product(const form *f, int row, int col) {
  int sum = value_at(f->c, row, col, 5);
  for (int k = 0; k < f->k; k++) {
    const int a = value_at(f->a, row, k, 1), b = value_at(f->a, k, col, 2);
    sum += strstr(f->text, ".xor.") ? a ^ b : strstr(f->text, ".and.") ? (a & b) : a * b;
  }
  return sum;
}

static void fragments_are_the_manuals(void **state) {
  (void)state;
  static const form forms[] = {
      {"m16n8k8.row.col.f32.f16.f16.f32", 16, 8, 8, "f16", "f32", NULL},
      {"m16n8k16.row.col.f32.f16.f16.f32", 16, 8, 16, "f16", "f32", NULL},
      {"m16n8k16.row.col.f16.f16.f16.f16", 16, 8, 16, "f16", "f16", NULL},
      {"m16n8k16.row.col.f32.f16.f16.f16", 16, 8, 16, "f16", "f16", "f32"},
      {"m16n8k8.row.col.f32.bf16.bf16.f32", 16, 8, 8, "bf16", "f32", NULL},
      {"m16n8k16.row.col.f32.bf16.bf16.f32", 16, 8, 16, "bf16", "f32", NULL},
      {"m16n8k4.row.col.f32.tf32.tf32.f32", 16, 8, 4, "tf32", "f32", NULL},
      {"m16n8k8.row.col.f32.tf32.tf32.f32", 16, 8, 8, "tf32", "f32", NULL},
      {"m16n8k32.row.col.f32.e4m3.e4m3.f32", 16, 8, 32, "e4m3", "f32", NULL},
      {"m16n8k32.row.col.f32.e5m2.e5m2.f32", 16, 8, 32, "e5m2", "f32", NULL},
      {"m8n8k4.row.col.f64.f64.f64.f64", 8, 8, 4, "f64", "f64", NULL},
      {"m16n8k4.row.col.f64.f64.f64.f64", 16, 8, 4, "f64", "f64", NULL},
      {"m16n8k16.row.col.f64.f64.f64.f64.rn", 16, 8, 16, "f64", "f64", NULL},
      {"m8n8k16.row.col.s32.s8.s8.s32", 8, 8, 16, "s8", "s32", NULL},
      {"m16n8k16.row.col.s32.u8.u8.s32", 16, 8, 16, "u8", "s32", NULL},
      {"m16n8k32.row.col.satfinite.s32.s8.s8.s32", 16, 8, 32, "s8", "s32", NULL},
      {"m16n8k64.row.col.s32.s4.s4.s32", 16, 8, 64, "s4", "s32", NULL},
      {"m8n8k32.row.col.s32.u4.u4.s32", 8, 8, 32, "u4", "s32", NULL},
      {"m16n8k256.row.col.s32.b1.b1.s32.xor.popc", 16, 8, 256, "b1", "s32", NULL},
      {"m8n8k128.row.col.s32.b1.b1.s32.and.popc", 8, 8, 128, "b1", "s32", NULL},
  };
  for (int t = 0; t < SCT_COUNT(forms); t++) {
    const form *f = &forms[t];
    const int na = words(f->m * f->k, f->a), nb = words(f->k * f->n, f->a),
              nc = words(f->m * f->n, f->c), all = na + nb + nc;
    const char *dtype = f->d != NULL ? f->d : f->c;
    const int nd = words(f->m * f->n, dtype);
    const bool halves = strcmp(dtype, "f16") == 0;
    SCT_SCOPED(sct_str) text = {0};
    uint32_t in[32 * 64] = {0}, out[32 * 16], want[32 * 16] = {0};
    for (int lane = 0; lane < 32; lane++) {
      int row = 0, col = 0;
      uint32_t *piece = in + lane * all;
      for (int i = 0; i < f->m * f->k / 32; i++) {
        a_of(f, lane, i, &row, &col);
        put_element(piece, f->a, i, value_at(f->a, row, col, 1));
      }
      for (int i = 0; i < f->k * f->n / 32; i++) {
        b_of(f, lane, i, &row, &col);
        put_element(piece + na, f->a, i, value_at(f->a, row, col, 2));
      }
      for (int i = 0; i < f->m * f->n / 32; i++) {
        c_of(lane, i, &row, &col);
        put_element(piece + na + nb, f->c, i, value_at(f->c, row, col, 5));
        if (!halves) {
          put_element(want + lane * nd, dtype, i, product(f, row, col));
        }
      }
    }
    write_kernel(&text, f, na, nb, nc, nd);
    const kernel_run run = {
        .blocks = 1, .threads = 32, .in = in, .in_bytes = 4 * 32 * all, .out_bytes = 4 * 32 * nd};
    sct_ptx_result result;
    const sct_ptx_kind kind = run_kernel(sct_str_c(&text), &run, out, &result);
    if (kind != SCT_PTX_CLEAN || (!halves && memcmp(out, want, (size_t)(4 * 32 * nd)) != 0)) {
      fail_msg("%s: %s %s", f->text, sct_ptx_kind_name(kind), result.diag.text);
    }
    for (int lane = 0; halves && lane < 32; lane++) {
      for (int i = 0; i < 4; i++) {
        int row, col;
        c_of(lane, i, &row, &col);
        const uint32_t half = out[lane * nd + i / 2] >> i % 2 * 16 & 0xffff;
        const int v = product(f, row, col), e = (int)(half >> 10 & 31) - 25;
        const double got = half == 0 ? 0 : ldexp((half & 1023) + 1024, e) * (half >> 15 ? -1 : 1);
        assert_true(got == v);
      }
    }
    assert_int_equal(result.counters.matrix_products, 1);
    assert_int_equal(result.counters.matrix_flops, 2 * f->m * f->n * f->k);
    sct_ptx_result_free(&result);
  }
}

/* ---- wmma: matrices in memory, by rows or by columns */

typedef struct wmma {
  int m, n, k;
  const char *in, *sum, *mma; /* mma: types after the shape */
  int na, nb, nc;
} wmma;

static int at_row(bool row, int width, int height, int i, int j) {
  return row ? i * width + j : j * height + i;
}

static void put_memory(uint8_t *to, const char *type, int index, int v) {
  const uint64_t bits = element_bits(type, v);
  memcpy(to + index * bits_of(type) / 8, &bits, (size_t)bits_of(type) / 8);
}

static bool holds(const uint8_t *from, const char *type, int index, int v) {
  const uint64_t want = element_bits(type, v);
  return memcmp(from + index * bits_of(type) / 8, &want, (size_t)bits_of(type) / 8) == 0;
}

/* Bits of `layouts`: a, b, c by columns; b by way of shared memory. */
enum { A_COLS = 1, B_COLS = 2, C_COLS = 4, B_SHARED = 8 };

static void write_wmma(sct_str *text, const wmma *w, int layouts) {
  static const char *const names[] = {"row", "col"};
  const bool arow = !(layouts & A_COLS), brow = !(layouts & B_COLS), crow = !(layouts & C_COLS);
  const bool shared = (layouts & B_SHARED) != 0;
  const char *regs = strcmp(w->sum, "f64") == 0 ? "x" : "w";
  char shape[32];
  snprintf(shape, sizeof shape, "m%dn%dk%d", w->m, w->n, w->k);
  sct_str_append(text, PTX_KERNEL);
  sct_str_printf(text,
                 ".reg .%s %%%s<64>; mov.u32 %%r1, %d; mov.u32 %%r2, %d; "
                 "mov.u32 %%r3, %d; add.s64 %%d1, %%in, 2048;\n",
                 regs[0] == 'x' ? "b64" : "b32", regs, arow ? w->k : w->m, brow ? w->n : w->k,
                 crow ? w->n : w->m);
  if (shared) {
    sct_str_append(text, ".shared .align 32 .b8 t[1024]; mul.lo.s32 %r4, %i, 4; cvt.u64.u32 %d2, "
                         "%r4; add.s64 %d2, %d1, %d2; mov.u32 %r5, t; add.s32 %r4, %r4, %r5;\n");
    for (int k = 0; k < 1024; k += 128) {
      sct_str_printf(text, "ld.global.u32 %%r6, [%%d2+%d]; st.shared.u32 [%%r4+%d], %%r6;\n", k, k);
    }
    sct_str_append(text, "bar.warp.sync -1; cvt.u64.u32 %d3, %r5;\n");
  }
  sct_str_printf(text, "wmma.load.a.sync.aligned.%s.%s.global.%s ", names[!arow], shape, w->in);
  list(text, regs, 0, w->na);
  sct_str_printf(text, ", [%%in], %%r1;\nwmma.load.b.sync.aligned.%s.%s%s.%s ", names[!brow], shape,
                 shared ? ".shared" : "", w->in);
  list(text, regs, 10, w->nb);
  sct_str_printf(text, ", [%%d%d], %%r2;\nwmma.load.c.sync.aligned.%s.%s.global.%s ",
                 shared ? 3 : 1, names[!crow], shape, w->sum);
  list(text, regs, 20, w->nc);
  sct_str_printf(text, ", [%%d1+3072]%s;\nwmma.mma.sync.aligned.%s.%s.%s.%s ", crow ? "" : ", %r3",
                 names[!arow], names[!brow], shape, w->mma);
  list(text, regs, 30, w->nc);
  sct_str_append(text, ", ");
  list(text, regs, 0, w->na);
  sct_str_append(text, ", ");
  list(text, regs, 10, w->nb);
  sct_str_append(text, ", ");
  list(text, regs, 20, w->nc);
  sct_str_printf(text, ";\nwmma.store.d.sync.aligned.%s.%s.global.%s [%%out], ", names[!crow],
                 shape, w->sum);
  list(text, regs, 30, w->nc);
  sct_str_append(text, ", %r3;\nret;\n}\n");
}

static void run_wmma(const wmma *w, int layouts) {
  const bool arow = !(layouts & A_COLS), brow = !(layouts & B_COLS), crow = !(layouts & C_COLS);
  uint8_t in[8192] = {0}, out[4096];
  SCT_SCOPED(sct_str) text = {0};
  write_wmma(&text, w, layouts);
  for (int i = 0; i < w->m; i++) {
    for (int j = 0; j < w->k; j++) {
      put_memory(in, w->in, at_row(arow, w->k, w->m, i, j), value_at(w->in, i, j, 1));
    }
    for (int j = 0; j < w->n; j++) {
      put_memory(in + 5120, w->sum, at_row(crow, w->n, w->m, i, j), value_at(w->sum, i, j, 5) % 3);
    }
  }
  for (int i = 0; i < w->k; i++) {
    for (int j = 0; j < w->n; j++) {
      put_memory(in + 2048, w->in, at_row(brow, w->n, w->k, i, j), value_at(w->in, i, j, 2));
    }
  }
  const kernel_run run = {.blocks = 1,
                          .threads = 32,
                          .in = in,
                          .in_bytes = sizeof in,
                          .out_bytes = w->m * w->n * bits_of(w->sum) / 8};
  sct_ptx_result result;
  const sct_ptx_kind kind = run_kernel(sct_str_c(&text), &run, out, &result);
  if (kind != SCT_PTX_CLEAN) {
    fail_msg("%s: %s", w->mma, result.diag.text);
  }
  for (int i = 0; i < w->m; i++) {
    for (int j = 0; j < w->n; j++) {
      int sum = value_at(w->sum, i, j, 5) % 3;
      for (int k = 0; k < w->k; k++) {
        sum += value_at(w->in, i, k, 1) * value_at(w->in, k, j, 2);
      }
      const int at = at_row(crow, w->n, w->m, i, j);
      if (strcmp(w->sum, "f16") == 0 ? false : !holds(out, w->sum, at, sum)) {
        fail_msg("m%d %s, layouts %d: element %d, %d", w->m, w->mma, layouts, i, j);
      }
    }
  }
  const int accesses = (int)(result.counters.load.requests + result.counters.store.requests);
  assert_true((layouts & B_SHARED) != 0 ||
              result.counters.memory_instructions == accesses + 4);      /* and addresses */
  const bool halves = (layouts & B_SHARED) != 0 && bits_of(w->in) == 16; /* by ldmatrix */
  assert_true(!halves || result.counters.shared_load.requests == (w->n == 32 ? 2 : 1));
  assert_true(result.counters.load.bytes >=
              (int64_t)(w->m * w->k + w->k * w->n) * bits_of(w->in) / 8);
  assert_int_equal(result.counters.store.bytes, w->m * w->n * bits_of(w->sum) / 8);
  sct_ptx_result_free(&result);
}

static void wmma_multiplies(void **state) {
  (void)state;
  static const wmma shapes[] = {
      {16, 16, 16, "f16", "f32", "f32.f32", 8, 8, 8},
      {32, 8, 16, "f16", "f32", "f32.f32", 8, 8, 8},
      {8, 32, 16, "f16", "f16", "f16.f16", 8, 8, 4},
      {16, 16, 16, "bf16", "f32", "f32.bf16.bf16.f32", 4, 4, 8},
      {8, 32, 16, "bf16", "f32", "f32.bf16.bf16.f32", 2, 8, 8},
      {16, 16, 8, "tf32", "f32", "f32.tf32.tf32.f32", 4, 4, 8},
      {8, 8, 4, "f64", "f64", "f64.f64.f64.f64.rn", 1, 1, 2},
      {16, 16, 16, "s8", "s32", "s32.s8.s8.s32", 2, 2, 8},
      {32, 8, 16, "u8", "s32", "s32.u8.u8.s32.satfinite", 4, 1, 8},
  };
  for (int t = 0; t < SCT_COUNT(shapes); t++) {
    for (int layouts = 0; layouts < 16; layouts++) {
      run_wmma(&shapes[t], layouts);
    }
  }
}

/* ---- ldmatrix, stmatrix, movmatrix */

/* Rows of 16 bytes, `pitch` bytes apart: with 16 and 144 no two of a matrix share a bank, with 128
 * all do. */
static void check_matrices(int n, bool trans, int pitch, int wavefronts) {
  SCT_SCOPED(sct_str) text = {0};
  uint16_t out[32 * 8];
  sct_ptx_result result;
  sct_str_append(&text, PTX_KERNEL);
  sct_str_printf(&text,
                 ".shared .align 16 .b8 t[8192]; mov.u32 %%r1, t; mul.lo.s32 %%r2, %%i, "
                 "%d; add.s32 %%r1, %%r1, %%r2; mul.lo.s32 %%r3, %%i, 8;\n",
                 pitch);
  for (int k = 0; k < 4; k++) { /* element e of row i is 8 i + e */
    sct_str_printf(&text,
                   "add.s32 %%r4, %%r3, %d; add.s32 %%r5, %%r3, %d; shl.b32 %%r5, %%r5, 16; or.b32 "
                   "%%r4, %%r4, %%r5; st.shared.u32 [%%r1+%d], %%r4;\n",
                   2 * k, 2 * k + 1, 4 * k);
  }
  sct_str_printf(&text, "bar.warp.sync -1;\nldmatrix.sync.aligned.m8n8.x%d%s.shared.b16 ", n,
                 trans ? ".trans" : "");
  list(&text, "r", 10, n);
  sct_str_append(&text, ", [%r1];\n");
  if (n == 2) { /* and back, turned */
    sct_str_printf(&text,
                   "bar.warp.sync -1;\nmovmatrix.sync.aligned.m8n8.trans.b16 %%r10, %%r10;\n"
                   "movmatrix.sync.aligned.m8n8.trans.b16 %%r11, %%r11;\n"
                   "stmatrix.sync.aligned.m8n8.x2.trans.shared::cta.b16 [%%r1], {%%r10,%%r11};"
                   "\nbar.warp.sync -1;\nldmatrix.sync.aligned.m8n8.x2.shared.b16 "
                   "{%%r10,%%r11}, [%%r1];\n");
  }
  sct_str_append(&text, "mul.lo.s32 %r3, %i, 16; cvt.u64.u32 %o, %r3; add.s64 %po, %out, %o;\n");
  for (int k = 0; k < 4; k++) {
    sct_str_printf(&text, "st.global.u32 [%%po+%d], %s%d;\n", 4 * k, k < n ? "%r" : "",
                   k < n ? 10 + k : 0);
  }
  sct_str_append(&text, "ret;\n}\n");
  const kernel_run run = {
      .blocks = 1, .threads = 32, .in = out, .in_bytes = 4, .out_bytes = sizeof out};
  const sct_ptx_kind kind = run_kernel(sct_str_c(&text), &run, out, &result);
  if (kind != SCT_PTX_CLEAN) {
    fail_msg("x%d: %s", n, result.diag.text);
  }
  for (int lane = 0; lane < 32; lane++) {
    for (int e = 0; e < 2 * n; e++) {
      const int row = lane / 4, col = lane % 4 * 2 + e % 2;
      const int at = 64 * (e / 2) + (trans ? 8 * col + row : 8 * row + col);
      assert_int_equal(out[8 * lane + e], at);
    }
  }
  assert_int_equal(result.counters.shared_load.requests, n == 2 ? 2 : 1);
  assert_int_equal(result.counters.shared_load.wavefronts, wavefronts);
  assert_int_equal(result.counters.shared_load.wavefronts_ideal, n == 2 ? 4 : n);
  sct_ptx_result_free(&result);
}

static void rows_become_matrices(void **state) {
  (void)state;
  check_matrices(1, false, 16, 1);
  check_matrices(4, false, 144, 4);
  check_matrices(4, true, 16, 4);
  check_matrices(4, false, 128, 32);
  check_matrices(2, false, 16, 4);
  check_matrices(2, true, 128, 32);
}

/* ---- tf32 */

static void tf32_is_rounded(void **state) {
  (void)state;
  static const struct {
    uint32_t in, rna, rn, rz;
  } cases[] = {{0x3f800000, 0x3f800000, 0x3f800000, 0x3f800000},
               {0x3f800fff, 0x3f800000, 0x3f800000, 0x3f800000},
               {0x3f801000, 0x3f802000, 0x3f800000, 0x3f800000}, /* a tie */
               {0x3f803000, 0x3f804000, 0x3f804000, 0x3f802000},
               {0xbf801001, 0xbf802000, 0xbf802000, 0xbf800000},
               {0x3ffff000, 0x40000000, 0x40000000, 0x3fffe000},
               {0x7f7fffff, 0x7f800000, 0x7f800000, 0x7f7fe000},
               {0xff800000, 0xff800000, 0xff800000, 0xff800000},
               {0x7f800001, 0x7fffffff, 0x7fffffff, 0x7fffffff}};
  uint32_t in[32] = {0}, out[96];
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    in[k] = cases[k].in;
  }
  const kernel_run run = {
      .blocks = 1, .threads = 32, .in = in, .in_bytes = sizeof in, .out_bytes = sizeof out};
  assert_int_equal(run_kernel(PTX_KERNEL "ld.global.u32 %r1, [%pi]; cvt.rna.tf32.f32 %r2, %r1; "
                                         "cvt.rn.tf32.f32 %r3, %r1; cvt.rz.tf32.f32 %r4, %r1;\n"
                                         "st.global.u32 [%po], %r2; st.global.u32 [%po+128], %r3; "
                                         "st.global.u32 [%po+256], %r4;\nret;\n}\n",
                              &run, out, NULL),
                   SCT_PTX_CLEAN);
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    assert_int_equal(out[k], cases[k].rna);
    assert_int_equal(out[32 + k], cases[k].rn);
    assert_int_equal(out[64 + k], cases[k].rz);
  }
}

/* ---- what is wrong */

static void wrong_products_are_found(void **state) {
  (void)state;
  static const char mma[] =
      "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%r1,%r2,%r3,%r4}, {%r5,%r6}, {%r7}, "
      "{%r8,%r9,%r10,%r11};\n";
  const uint32_t in[64] = {0};
  uint32_t out[64];
  for (int k = 0; k < 4; k++) {
    SCT_SCOPED(sct_str) text = {0};
    sct_ptx_result result;
    sct_str_append(&text, PTX_KERNEL ".shared .align 16 .b8 t[512];\n");
    for (int r = 5; r <= 11; r++) {
      if (k != 0 || r != 6) { /* rows 8 to 15 of a */
        sct_str_printf(&text, "mov.b32 %%r%d, 0;\n", r);
      }
    }
    sct_str_append(&text, "setp.lt.u32 %p1, %i, 16; mov.u32 %r12, t; mul.lo.s32 %r13, %i, 16;\n"
                          "add.s32 %r12, %r12, %r13; st.shared.u32 [%r12], 0;\n");
    if (k == 1) { /* half of a warp */
      sct_str_append(&text, "@%p1 bra L;\n");
    }
    if (k == 2) {
      sct_str_append(&text, "add.s32 %r12, %r12, 4;\n");
    }
    sct_str_append(&text, k < 2 ? mma
                                : "bar.warp.sync -1; ldmatrix.sync.aligned.m8n8.x1.shared.b16 "
                                  "{%r1}, [%r12]; mov.b32 %r3, %r1;\n");
    sct_str_append(&text, "L: st.global.u32 [%po], 1;\nst.global.u32 [%po], ");
    sct_str_append(&text, k == 0   ? "%r3;\nret;\n}\n"
                          : k == 3 ? "%r1;\nret;\n}\n"
                                   : "2;\nret;\n}\n");
    const kernel_run run = {
        .blocks = 1, .threads = 32, .in = in, .in_bytes = 4, .out_bytes = 4 * 32};
    const sct_ptx_kind kind = run_kernel(sct_str_c(&text), &run, out, &result);
    const sct_ptx_kind want[] = {SCT_PTX_UNDEFINED_STORE, SCT_PTX_ABSENT_LANE, SCT_PTX_MISALIGNED,
                                 SCT_PTX_UNDEFINED_STORE};
    if (kind != want[k]) {
      fail_msg("case %d: %s %s", k, sct_ptx_kind_name(kind), result.diag.text);
    }
    sct_ptx_result_free(&result);
  }
}

/* What is not there is refused by its name. */
static void others_are_named(void **state) {
  (void)state;
  static const struct {
    const char *text, *why;
  } cases[] = {
      {"wgmma.fence.sync.aligned;", "the wgmma operations of four warps are not supported"},
      {"tcgen05.wait::ld.sync.aligned;", "the tcgen05 operations of tensor memory are not"},
      {"mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%r1}, {%r1}, {%r1}, {%r1}, %r1, 0;",
       "sparse matrices (mma.sp) are not supported"},
      {"mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {%r1}, {%r1}, {%r1}, {%r1};",
       "a shape of matrices that is not supported"},
      {"mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%r1}, {%r1}, {%r1}, {%r1};",
       "1 registers where a matrix has 4"},
  };
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    SCT_SCOPED(sct_str) text = {0};
    sct_ptx_module *module = NULL;
    sct_error err = {0};
    sct_str_append(&text, PTX_KERNEL);
    sct_str_printf(&text, "%s\nret;\n}\n", cases[k].text);
    assert_int_equal(sct_ptx_parse(&module, sct_str_c(&text), "k.ptx", &err), SCT_OK);
    const char *why = sct_ptx_kernel_at(module, 0)->error;
    if (why == NULL || strstr(why, cases[k].why) == NULL) {
      fail_msg("%s: %s", cases[k].text, why != NULL ? why : "taken");
    }
    sct_ptx_module_free(module);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(fragments_are_the_manuals), cmocka_unit_test(wmma_multiplies),
      cmocka_unit_test(rows_become_matrices),      cmocka_unit_test(tf32_is_rounded),
      cmocka_unit_test(wrong_products_are_found),  cmocka_unit_test(others_are_named)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
