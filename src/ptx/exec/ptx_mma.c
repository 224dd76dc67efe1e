/* Products of matrices by a warp, and what brings them there: mma, ldmatrix, stmatrix, movmatrix.
 *
 * How sums of floats are rounded on the way is not said by the manual. Here products and sums are
 * exact to 53 bits and rounded once, f64 is a chain of fused operations along k. */
#include "ptx/exec/ptx_exec.h"
#include "ptx/exec/ptx_values.h"

#include <math.h>

/* All lanes of the warp must be here. */
static bool whole_warp(ptx_exec *x, const ptx_uop *u) {
  return x->mask == PTX_ALL ||
         sct_ptx_fault(x, u, SCT_PTX_ABSENT_LANE, ptx_first_lane(~x->mask), 0,
                       "lane %d of a warp whose 32 lanes are needed is not here",
                       ptx_first_lane(~x->mask));
}

/* ---- elements */

static double e4m3_value(uint32_t v) {
  const int exponent = (int)(v >> 3 & 15), mantissa = (int)(v & 7);
  const double sign = v & 0x80 ? -1 : 1;
  if ((v & 0x7f) == 0x7f) {
    return NAN;
  }
  return sign * (exponent == 0 ? ldexp(mantissa, -9) : ldexp(8 + mantissa, exponent - 10));
}

/* Element `e` of a register's bits. */
static double value_of(ptx_elem elem, uint64_t bits, int e) {
  const int width = sct_ptx_elem_bits(elem);
  const uint32_t v =
      width < 32 ? (uint32_t)(bits >> width * e) & ((1u << width) - 1) : (uint32_t)bits;
  switch (elem) {
  case PTX_ELEM_F16:
    return sct_ptx_f16_to_f32((uint16_t)v);
  case PTX_ELEM_BF16:
    return sct_ptx_bf16_to_f32((uint16_t)v);
  case PTX_ELEM_TF32:
    return ptx_float(v & 0xffffe000);
  case PTX_ELEM_F64:
    return ptx_double(bits);
  case PTX_ELEM_E4M3:
    return e4m3_value(v);
  case PTX_ELEM_E5M2:
    return sct_ptx_f16_to_f32((uint16_t)(v << 8));
  case PTX_ELEM_S8:
    return (int8_t)v;
  case PTX_ELEM_S4:
    return (int)(v ^ 8) - 8;
  case PTX_ELEM_F32:
    return ptx_float(v);
  case PTX_ELEM_S32:
    return (int32_t)v;
  default: /* u8, u4, b1 */
    return v;
  }
}

static uint64_t bits_of(const ptx_mma *p, double v) {
  switch ((ptx_elem)p->elem[PTX_MATRIX_D]) {
  case PTX_ELEM_F16:
    return sct_ptx_f64_to_f16(v, 0);
  case PTX_ELEM_F64:
    return ptx_bits64(v);
  case PTX_ELEM_F32:
    return isnan(v) ? 0x7fffffff : ptx_bits32((float)v);
  default:
    if (p->satfinite) {
      v = v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : v;
    }
    return (uint32_t)(int64_t)v; /* sums are exact far beyond 32 bits */
  }
}

/* To the nearest, ties away from zero (rna) or to even (rn), or towards zero (rz). */
void sct_ptx_op_cvt_tf32(ptx_exec *x, const ptx_uop *u) {
  const uint32_t *a = ptx_r32(x, u->a);
  uint32_t t[PTX_LANES];
  for (int i = 0; i < PTX_LANES; i++) {
    const bool finite = (a[i] & 0x7f800000) != 0x7f800000;
    const uint32_t up = u->op == 0 ? 0x1000 : u->op == 1 ? 0xfff + (a[i] >> 13 & 1) : 0;
    t[i] = (a[i] & 0x7fffffff) > 0x7f800000 ? 0x7fffffff : finite ? (a[i] + up) & 0xffffe000 : a[i];
  }
  ptx_put32(x, u, t);
}

/* ---- a matrix, row by row, and which of its elements are undefined */

#define MAX_ELEMENTS 4096 /* of m16n8k256 */

typedef struct matrix {
  bool any_undefined;
  double value[MAX_ELEMENTS];
  bool undefined[MAX_ELEMENTS];
} matrix;

static int elements_of(ptx_elem elem) {
  return sct_ptx_elem_bits(elem) < 32 ? 32 / sct_ptx_elem_bits(elem) : 1;
}

/* Reads matrix `w` from the registers in vec[0..); returns the places that follow. */
static const uint16_t *gather(const ptx_exec *x, const ptx_mma *p, ptx_matrix w,
                              const uint32_t *vec, const uint16_t *at, matrix *out) {
  const ptx_elem elem = (ptx_elem)p->elem[w];
  const int n = elements_of(elem), bits = sct_ptx_elem_bits(elem);
  const uint64_t one = bits < 32 ? (1u << bits) - 1 : UINT64_MAX;
  const bool wide = elem == PTX_ELEM_F64;
  uint32_t state = 0;
  for (int r = 0; r < p->regs[w]; r++) {
    state |= x->state[vec[r]];
  }
  out->any_undefined = state != 0;
  for (int r = 0; r < p->regs[w]; r++) {
    for (int i = 0; i < PTX_LANES; i++) {
      const uint64_t v = wide ? ptx_r64(x, vec[r])[i] : ptx_r32(x, vec[r])[i];
      const uint64_t undefined = state != 0 ? sct_ptx_undef_get(x, vec[r], i) : 0;
      for (int e = 0; e < n; e++, at++) {
        out->value[*at] = value_of(elem, v, e);
        out->undefined[*at] = (undefined >> (bits < 32 ? bits * e : 0) & one) != 0;
      }
    }
  }
  return at;
}

/* c += a x b, along k. */
static void multiply(const ptx_mma *p, const matrix *a, const matrix *b, matrix *c) {
  const bool fused = p->elem[PTX_MATRIX_A] == PTX_ELEM_F64;
  const bool xors = p->elem[PTX_MATRIX_A] == PTX_ELEM_B1 && p->xors;
  for (int row = 0; row < p->m; row++) {
    double *const sum = &c->value[row * p->n];
    for (int k = 0; k < p->k; k++) {
      const double v = a->value[row * p->k + k], *const w = &b->value[k * p->n];
      for (int col = 0; col < p->n; col++) {
        sum[col] = fused  ? fma(v, w[col], sum[col])
                   : xors ? sum[col] + (v != w[col])
                          : sum[col] + v * w[col];
      }
    }
  }
}

/* An element is undefined where one of its row in a, of its column in b, or c's own is. */
static void spread_undefined(const ptx_mma *p, const matrix *a, const matrix *b, matrix *c) {
  for (int at = 0; at < p->m * p->n; at++) {
    const int row = at / p->n, col = at % p->n;
    for (int k = 0; k < p->k; k++) {
      c->undefined[at] |= a->undefined[row * p->k + k] || b->undefined[k * p->n + col];
    }
  }
}

/* Register r of the result. */
static const uint16_t *put_register(ptx_exec *x, const ptx_mma *p, const matrix *d, uint32_t slot,
                                    const uint16_t *places) {
  const ptx_elem elem = (ptx_elem)p->elem[PTX_MATRIX_D];
  const int n = elements_of(elem);
  uint64_t undefined[PTX_LANES];
  uint32_t lanes = 0;
  for (int i = 0; i < PTX_LANES; i++) {
    uint64_t v = 0;
    undefined[i] = 0;
    for (int e = 0; e < n; e++) {
      const uint16_t at = *places++;
      v |= bits_of(p, d->value[at]) << 16 * e;
      undefined[i] |= d->undefined[at] ? (n == 1 ? UINT64_MAX : (uint64_t)0xffff << 16 * e) : 0;
    }
    if (elem == PTX_ELEM_F64) {
      ptx_r64(x, slot)[i] = v;
    } else {
      ptx_r32(x, slot)[i] = (uint32_t)v;
    }
    lanes |= (uint32_t)(undefined[i] != 0) << i;
  }
  x->state[slot] = 0;
  if (lanes != 0) {
    sct_ptx_origin_pass(x, &(ptx_uop){.d = slot}, lanes); /* of many: of none */
    sct_ptx_undef_set(x, slot, lanes, undefined);
  }
  return places;
}

void sct_ptx_op_mma(ptx_exec *x, const ptx_uop *u) {
  const ptx_mma *p = &x->code->mmas[u->imm];
  const uint32_t *vec = x->code->vec + u->vec;
  const int at_a = p->regs[PTX_MATRIX_D], at_b = at_a + p->regs[PTX_MATRIX_A];
  matrix a, b, c;
  if (!whole_warp(x, u)) {
    return;
  }
  const uint16_t *places = gather(x, p, PTX_MATRIX_A, vec + at_a, p->places, &a);
  places = gather(x, p, PTX_MATRIX_B, vec + at_b, places, &b);
  places = gather(x, p, PTX_MATRIX_C, vec + at_b + p->regs[PTX_MATRIX_B], places, &c);
  multiply(p, &a, &b, &c);
  if (a.any_undefined || b.any_undefined) {
    spread_undefined(p, &a, &b, &c);
  }
  for (int r = 0; r < p->regs[PTX_MATRIX_D]; r++) {
    places = put_register(x, p, &c, vec[r], places);
  }
}

/* ---- addresses of wmma */

void sct_ptx_op_tile_address(ptx_exec *x, const ptx_uop *u) {
  const ptx_tile *t = &x->code->tiles[u->imm];
  const uint64_t *base = ptx_r64(x, u->a);
  const uint32_t *stride = ptx_r32(x, u->b);
  uint64_t to[PTX_LANES];
  if (!whole_warp(x, u)) {
    return;
  }
  for (int i = 0; i < PTX_LANES; i++) {
    to[i] = base[i] + ((uint64_t)t->outer[i] * stride[i] + t->inner[i]) * (uint64_t)t->bits / 8;
  }
  ptx_put64(x, u, to);
}

/* ---- 8 x 8 matrices of 16 bits: lane i holds elements 2 (i % 4) and one more of row i / 4 */

typedef struct rows {
  uint16_t of[8][8], defined[8][8];
} rows;

static void to_register(ptx_exec *x, const ptx_uop *u, uint32_t slot, const rows *m, bool trans) {
  uint64_t undefined[PTX_LANES];
  uint32_t lanes = 0;
  for (int i = 0; i < PTX_LANES; i++) {
    const int row = i / 4, col = i % 4 * 2;
    const uint32_t low = trans ? m->of[col][row] : m->of[row][col];
    const uint32_t high = trans ? m->of[col + 1][row] : m->of[row][col + 1];
    const uint32_t low_set = trans ? m->defined[col][row] : m->defined[row][col];
    const uint32_t high_set = trans ? m->defined[col + 1][row] : m->defined[row][col + 1];
    ptx_r32(x, slot)[i] = low | high << 16;
    undefined[i] = (uint32_t) ~(low_set | high_set << 16);
    lanes |= (uint32_t)(undefined[i] != 0) << i;
  }
  x->state[slot] = 0;
  if (lanes != 0 && x->launch->definedness) {
    sct_ptx_origin_set(x, u, slot, lanes);
    sct_ptx_undef_set(x, slot, lanes, undefined);
  }
}

static void from_register(const ptx_exec *x, uint32_t slot, rows *m, bool trans) {
  for (int i = 0; i < PTX_LANES; i++) {
    for (int e = 0; e < 2; e++) {
      const int row = i / 4, col = i % 4 * 2 + e;
      const uint16_t v = (uint16_t)(ptx_r32(x, slot)[i] >> 16 * e);
      const uint16_t set = (uint16_t) ~(sct_ptx_undef_get(x, slot, i) >> 16 * e);
      m->of[trans ? col : row][trans ? row : col] = v;
      m->defined[trans ? col : row][trans ? row : col] = set;
    }
  }
}

void sct_ptx_op_movmatrix(ptx_exec *x, const ptx_uop *u) {
  rows m;
  if (whole_warp(x, u)) {
    from_register(x, u->a, &m, true);
    to_register(x, u, u->d, &m, false);
  }
}

/* ---- ldmatrix and stmatrix: a lane gives the address of a row, 8 lanes those of a matrix */

static void count_rows(ptx_exec *x, const ptx_uop *u, const ptx_access *acc) {
  sct_ptx_shared *s = &x->insts[u->inst].shared;
  if (!x->launch->counters) {
    return;
  }
  int64_t wavefronts = 0;
  for (int k = 0; k < u->n; k++) {
    wavefronts += sct_ptx_bank_wavefronts(acc, ptx_lane_group(8 * k, 8));
  }
  s->requests++;
  s->bytes += (int64_t)16 * 8 * u->n;
  s->wavefronts += wavefronts;
  s->wavefronts_ideal += u->n;
  ptx_keep_shared(x, u, acc);
}

static bool row_addresses(ptx_exec *x, const ptx_uop *u, ptx_access *acc, ptx_dir dir) {
  ptx_uop one = *u;
  one.n = 1;
  acc->dir = dir;
  acc->uncached = false;
  if (!whole_warp(x, u)) {
    return false;
  }
  x->mask = ptx_lane_group(0, 8 * u->n);
  const bool ok = sct_ptx_addresses(x, &one, acc);
  x->mask = PTX_ALL;
  for (int i = 0; ok && u->from != 0 && i < 8 * u->n; i++) { /* generic */
    if (acc->addr[i] >> PTX_WINDOW_SHIFT != PTX_WINDOW_SHARED) {
      return sct_ptx_fault(x, u, SCT_PTX_BAD_OPERAND, i, acc->addr[i],
                           "0x%llx is no address of shared memory",
                           (unsigned long long)acc->addr[i]);
    }
    acc->addr[i] -= PTX_WINDOW(PTX_WINDOW_SHARED);
  }
  return ok;
}

void sct_ptx_op_ldmatrix(ptx_exec *x, const ptx_uop *u) {
  ptx_access acc;
  rows m[4];
  if (!row_addresses(x, u, &acc, PTX_READ)) {
    return;
  }
  for (uint32_t todo = acc.mask; todo != 0;) {
    const ptx_part part = sct_ptx_part_shared(x, u, &acc, todo);
    if (part.mask == 0 || (x->launch->races && !sct_ptx_race(x, u, &acc, &part, 0))) {
      return;
    }
    for (uint32_t lanes = part.mask; lanes != 0; lanes &= lanes - 1) {
      const int i = ptx_first_lane(lanes);
      const int64_t at = (int64_t)(acc.addr[i] - part.origin);
      memcpy(m[i / 8].of[i % 8], part.host + at, 16);
      memcpy(m[i / 8].defined[i % 8], part.defined + at, 16);
    }
    todo &= ~part.mask;
  }
  for (int k = 0; k < u->n; k++) {
    to_register(x, u, x->code->vec[u->vec + (uint32_t)k], &m[k], u->sign);
  }
  count_rows(x, u, &acc);
}

void sct_ptx_op_stmatrix(ptx_exec *x, const ptx_uop *u) {
  ptx_access acc;
  rows m[4];
  if (!row_addresses(x, u, &acc, PTX_WRITE)) {
    return;
  }
  for (int k = 0; k < u->n; k++) {
    from_register(x, x->code->vec[u->vec + (uint32_t)k], &m[k], u->sign);
  }
  x->changes++;
  for (uint32_t todo = acc.mask; todo != 0;) {
    const ptx_part part = sct_ptx_part_shared(x, u, &acc, todo);
    if (part.mask == 0 || (x->launch->races && !sct_ptx_race(x, u, &acc, &part, part.mask))) {
      return;
    }
    for (uint32_t lanes = part.mask; lanes != 0; lanes &= lanes - 1) {
      const int i = ptx_first_lane(lanes);
      const int64_t at = (int64_t)(acc.addr[i] - part.origin);
      memcpy(part.host + at, m[i / 8].of[i % 8], 16);
      memcpy(part.defined + at, m[i / 8].defined[i % 8], 16);
    }
    todo &= ~part.mask;
  }
  count_rows(x, u, &acc);
}
