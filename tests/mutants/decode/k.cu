// values: small floats taken apart by hand
typedef unsigned char u8;
typedef unsigned short u16;
__device__ float from_e4m3(u8 x) {
  const int sign = x >> 7, exponent = x >> 3 & 15, fraction = x & 7;
  float v;
#if MUT == 1 // infinity where e4m3 has values
  if (exponent == 15 && fraction == 0) v = __int_as_float(0x7f800000);
#elif MUT == 2 // NaN with every fraction
  if (exponent == 15) v = __int_as_float(0x7fc00000);
#elif MUT == 3 // NaN is the value 480
  if (0) v = 0;
#else
  if (exponent == 15 && fraction == 7) v = __int_as_float(0x7fc00000);
#endif
#if MUT == 4 // subnormals are 0
  else if (exponent == 0) v = 0;
#elif MUT == 5 // subnormals have the implied 1
  else if (exponent == 0) v = ldexpf(8 + fraction, -10);
#else
  else if (exponent == 0) v = ldexpf(fraction, -9);
#endif
  else v = ldexpf(8 + fraction, exponent - 10);
#if MUT == 6 // the sign of 0
  return sign && v != 0 ? -v : v;
#else
  return sign ? -v : v;
#endif
}
__device__ float from_half(u16 x) {
  const int exponent = x >> 10 & 31, fraction = x & 1023;
  float v;
  if (exponent == 31) {
#if MUT == 7 // the largest exponent is a number
    v = ldexpf(1024 + fraction, exponent - 25);
#elif MUT == 8 // NaN is infinity
    v = __int_as_float(0x7f800000);
#else
    v = __int_as_float(fraction ? 0x7fc00000 : 0x7f800000);
#endif
  } else if (exponent == 0) {
#if MUT == 9 // subnormals are half as large
    v = ldexpf(fraction, -25);
#elif MUT == 10 // subnormals are 0
    v = 0;
#else
    v = ldexpf(fraction, -24);
#endif
  } else {
    v = ldexpf(1024 + fraction, exponent - 25);
  }
#if MUT == 11 // the sign of infinity
  return x >> 15 && exponent != 31 ? -v : v;
#else
  return x >> 15 ? -v : v;
#endif
}
__global__ void k(long long n, const u8 *a, const u8 *b, const u16 *c, const u16 *d, float *p,
                  float *q, float *r, float *t) {
  const long long i = blockIdx.x * 128LL + threadIdx.x;
  if (i >= n) return;
  p[i] = from_e4m3(a[i]);
#if MUT == 12 // e5m2 with the bias of e4m3
  q[i] = from_half(b[i] << 8) * ((b[i] & 0x7c) == 0x40 ? 1.5f : 1.0f);
#else
  q[i] = from_half(b[i] << 8);
#endif
#if MUT == 13 // subnormals of bf16 are 0
  r[i] = __int_as_float((c[i] & 0x7f80 ? c[i] : c[i] & 0x8000) << 16);
#elif MUT == 14 // large bf16 become infinity
  r[i] = __int_as_float(((c[i] & 0x7f80) > 0x7f00 ? c[i] & 0x8000 | 0x7f80 : c[i]) << 16);
#else
  r[i] = __int_as_float(c[i] << 16);
#endif
  t[i] = from_half(d[i]);
}
