// values: conversions to narrow floats by hand
typedef unsigned u32;
// The magnitude m of a float, rounded to the nearest with `drop` bits less, to even in ties.
__device__ u32 narrow(u32 m, int drop) {
#if MUT == 1 // cut off
  return m >> drop;
#elif MUT == 2 // ties away from 0
  return (m + (1u << (drop - 1))) >> drop;
#elif MUT == 3 // ties towards 0
  return (m + (1u << (drop - 1)) - 1) >> drop;
#elif MUT == 4 // upwards
  return (m + (1u << drop) - 1) >> drop;
#else
  return (m + (1u << (drop - 1)) - 1 + (m >> drop & 1)) >> drop;
#endif
}
__device__ u32 to_bf16(u32 x) {
  const u32 m = x & 0x7fffffff, sign = x >> 16 & 0x8000;
#if MUT == 5 // NaN with low bits only becomes infinity
  if (m > 0x7f800000 && m >= 0x7f810000) return 0x7fff;
  if (m > 0x7f800000) return 0x7f80 | sign;
#elif MUT == 6 // NaN is rounded like a number
  if (0) return 0;
#else
  if (m > 0x7f800000) return 0x7fff;
#endif
#if MUT == 7 // subnormals are 0
  if (m < 0x800000) return sign;
#elif MUT == 8 // the largest finite one for what is beyond
  if (m > 0x7f7f0000 && m < 0x7f800000) return sign | 0x7f7f;
#endif
  return narrow(m, 16) | sign;
}
// Of 5 bits of exponent and `fraction` bits; `largest`: what overflows becomes.
__device__ u32 to_small(u32 x, int fraction, u32 largest) {
  const u32 m = x & 0x7fffffff, sign = (x >> 31) << (5 + fraction);
  const u32 infinite = 31u << fraction;
  if (m > 0x7f800000) return fraction == 2 ? 0x7f : 0x7fff;
#if MUT == 9 // overflows from the largest half on
  if (m >= 0x477fe000) return sign | largest;
#else
  const u32 limit = 0x47800000 - (1u << (22 - fraction)); // half a unit below 2^16
  if (m >= limit) return sign | largest;
#endif
  if (m < 0x38800000) { // below 2^-14
#if MUT == 10 // subnormals are 0
    return sign;
#elif MUT == 11 // subnormals below half of the least are the least
    const float q = ldexpf(__int_as_float(m), 14 + fraction);
    return sign | (q > 0 && q < 1 ? 1 : (u32)rintf(q));
#elif MUT == 12 // subnormals are cut off
    return sign | (u32)ldexpf(__int_as_float(m), 14 + fraction);
#else
    return sign | (u32)rintf(ldexpf(__int_as_float(m), 14 + fraction));
#endif
  }
  const u32 v = narrow(m - 0x38000000, 23 - fraction);
#if MUT == 13 // a carry into the exponent is lost
  return sign | (v & ((1u << fraction) - 1)) | ((m - 0x38000000) >> 23) << fraction;
#elif MUT == 14 // exponents above 2^8 wrap
  return sign | (m >= 0x43800000 && m < 0x47000000 ? v ^ 1 : v);
#else
  return sign | (v < infinite ? v : largest);
#endif
}
__global__ void k(long long n, const float *a, unsigned short *b, unsigned short *h,
                  unsigned char *e) {
  const long long i = blockIdx.x * 128LL + threadIdx.x;
  if (i >= n) return;
  const u32 x = __float_as_int(a[i]);
  b[i] = to_bf16(x);
  h[i] = to_small(x, 10, 31 << 10);
#if MUT == 15 // overflow to infinity in e5m2
  e[i] = to_small(x, 2, 31 << 2);
#elif MUT == 16 // infinity stays so in e5m2
  e[i] = (x & 0x7fffffff) == 0x7f800000 ? x >> 24 & 0x80 | 0x7c : to_small(x, 2, 0x7b);
#else
  e[i] = to_small(x, 2, 0x7b);
#endif
}
