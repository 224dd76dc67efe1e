/* Floats by their bits, and operands of float instructions at the edges of what they represent. */
#ifndef TESTS_PTX_FLOATS_H
#define TESTS_PTX_FLOATS_H

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

static const uint64_t corners32[] = {
    0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007fffff, 0x00800000, 0x80800000, 0x00800001,
    0x3f800000, 0xbf800000, 0x3f800001, 0x3f7fffff, 0x33800000, 0x34000000, 0x40490fdb, 0x3f000000,
    0x4b7fffff, 0x4b800001, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc12345,
    0x7f800001, 0x1f800000, 0x5f000000, 0x3eaaaaab, 0xc0a00000, 0x807fffff, 0x80800001, 0x3fc00000,
    0x40400000, 0xc0490fdb, 0x7e800000, 0xffa00001, 0x20000001};
static const uint64_t corners64[] = {
    0x0000000000000000, 0x8000000000000000, 0x0000000000000001, 0x800fffffffffffff,
    0x0010000000000000, 0x3ff0000000000000, 0xbff0000000000000, 0x3ff0000000000001,
    0x3fefffffffffffff, 0x3ca0000000000000, 0x3cb0000000000000, 0x400921fb54442d18,
    0x4340000000000001, 0x7fefffffffffffff, 0xffefffffffffffff, 0x7ff0000000000000,
    0xfff0000000000000, 0x1ff0000000000000, 0x5fe0000000000000, 0x3fd5555555555555,
    0xc014000000000000, 0x4008000000000000, 0xc00921fb54442d18, 0x7ff8000000000000,
    0x2000000000000001};

static inline float f32(uint64_t bits) {
  const uint32_t b = (uint32_t)bits;
  float f = 0;
  memcpy(&f, &b, 4);
  return f;
}
static inline uint64_t b32(float f) {
  uint32_t b = 0;
  memcpy(&b, &f, 4);
  return isnan(f) ? 0x7fffffff : b; /* the one NaN of f32 results */
}
static inline double f64(uint64_t bits) {
  double f = 0;
  memcpy(&f, &bits, 8);
  return f;
}
static inline uint64_t b64(double f) {
  uint64_t b = 0;
  memcpy(&b, &f, 8);
  return b;
}

#endif
