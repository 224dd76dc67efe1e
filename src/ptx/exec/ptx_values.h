/* Scalar meaning of types: conversions and comparisons, shared by decoder and executor. */
#ifndef SCT_PTX_VALUES_H
#define SCT_PTX_VALUES_H

#include "ptx/decode/ptx_code.h"

#include <string.h>

enum { PTX_BOOL_NONE, PTX_BOOL_AND, PTX_BOOL_OR, PTX_BOOL_XOR };

/* Index of a type that conversions know, -1 for vectors and predicates. */
int sct_ptx_conversion_index(ptx_type type);
bool sct_ptx_value_is_float(ptx_type type);
/* Whether setp has the comparison for the type. */
bool sct_ptx_compare_known(uint8_t cmp, ptx_type type);

/* Floats as their bits. */
static inline uint32_t ptx_bits32(float f) {
  uint32_t b = 0;
  memcpy(&b, &f, 4);
  return b;
}
static inline float ptx_float(uint32_t b) {
  float f = 0;
  memcpy(&f, &b, 4);
  return f;
}
static inline uint64_t ptx_bits64(double f) {
  uint64_t b = 0;
  memcpy(&b, &f, 8);
  return b;
}
static inline double ptx_double(uint64_t b) {
  double f = 0;
  memcpy(&f, &b, 8);
  return f;
}

/* The lesser (greater) of two floats: a number wins over a NaN, but with PTX_F_NAN; -0 is below +0.
 * PTX_F_XORSIGN: of their magnitudes, with the sign of their product. */
double sct_ptx_min(double x, double y, unsigned flags);
double sct_ptx_max(double x, double y, unsigned flags);

uint32_t sct_ptx_prmt(uint64_t pair, uint32_t selector);

/* sat: into [0, 1], NaN to 0. relu: nothing below +0, NaN stays. Of all lanes. */
void sct_ptx_clamp(double *lanes, unsigned flags);

/* 16-bit floats. Rounding as PTX_F_RZ and its like, 0: nearest even. */
float sct_ptx_f16_to_f32(uint16_t bits);
float sct_ptx_bf16_to_f32(uint16_t bits);
uint16_t sct_ptx_f64_to_f16(double value, unsigned rounding);
uint16_t sct_ptx_f64_to_bf16(double value, unsigned rounding);

/* A subnormal 16-bit float becomes a zero of its sign; `exponent` is the mask of its exponent. */
uint16_t sct_ptx_flush16(uint16_t bits, uint16_t exponent);

/* Subnormal lanes become zeros of their sign. */
void sct_ptx_flush32(float *lanes);

/* a + b, of which `sum` is the nearest value, or the value on the other side of it, by random bits:
 * as sct_ptx_launch_opts.rounding says. */
float sct_ptx_sum_at_random32(float sum, float a, float b, uint64_t random, int rounding);
double sct_ptx_sum_at_random64(double sum, double a, double b, uint64_t random, int rounding);

#endif
