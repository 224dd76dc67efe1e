#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

__global__ void intrinsics(long long n, const float *a, const __nv_fp8_e4m3 *q, __nv_bfloat16 *b,
                           float *t) {
  const long long i = blockIdx.x * 128LL + threadIdx.x;
  if (i < n) b[i] = __float2bfloat16(a[i]), t[i] = static_cast<float>(q[i]);
}

__device__ unsigned short nearest(float x) {
  const unsigned u = __float_as_uint(x);
  if ((u & 0x7fffffff) > 0x7f800000) return 0x7fff;
  return (unsigned short)((u + 0x7fff + (u >> 16 & 1)) >> 16);
}

__global__ void by_hand(long long n, const float *a, const unsigned char *q, unsigned short *b,
                        float *t) {
  const long long i = blockIdx.x * 128LL + threadIdx.x;
  if (i >= n) return;
  b[i] = nearest(a[i]);
  const unsigned v = q[i], m = v & 0x7f, sign = (v & 0x80) << 24;
  if (m == 0x7f) t[i] = __uint_as_float(0x7fffffff);
  else if (m < 8) t[i] = __uint_as_float(__float_as_uint(m * 0.001953125f) | sign);
  else t[i] = __uint_as_float(((m << 20) + (120u << 23)) | sign);
}

// Of values below 16: eighths, and above them powers of two.
__constant__ float fractions[8] = {1.0f, 1.125f, 1.25f, 1.375f, 1.5f, 1.625f, 1.75f, 1.875f};
__constant__ float powers[16] = {0.015625f, 0.015625f, 0.03125f, 0.0625f, 0.125f, 0.25f,
                                 0.5f, 1.0f, 2.0f, 4.0f, 8.0f, 16.0f, 32.0f, 64.0f, 128.0f, 256.0f};
__global__ void by_table(long long n, const float *a, const unsigned char *q, unsigned short *b,
                         float *t) {
  const long long i = blockIdx.x * 128LL + threadIdx.x;
  if (i >= n) return;
  b[i] = nearest(a[i]);
  const int exponent = q[i] >> 3 & 15;
  float v = (exponent ? fractions[q[i] & 7] : fractions[q[i] & 7] - 1.0f) * powers[exponent];
  if ((q[i] & 0x7f) == 0x7f) v = __int_as_float(0x7fc00000);
  t[i] = q[i] & 0x80 ? -v : v;
}

__global__ void in_ptx(long long n, const float *a, const unsigned char *q, unsigned short *b,
                       float *t) {
  const long long i = blockIdx.x * 128LL + threadIdx.x;
  if (i >= n) return;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(b[i]) : "f"(a[i]));
  unsigned pair;
  asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(pair) : "h"((unsigned short)q[i]));
  asm("{ .reg .b16 lo, hi; mov.b32 {lo, hi}, %1; cvt.f32.f16 %0, lo; }" : "=f"(t[i]) : "r"(pair));
}

// Two neighbours a thread, stored as one word where b is aligned.
__global__ void in_pairs(long long n, const float *a, const __nv_fp8_e4m3 *q, __nv_bfloat16 *b,
                         float *t) {
  const long long i = (blockIdx.x * 128LL + threadIdx.x) * 2;
  if (i + 1 < n && ((unsigned long long)b & 3) == 0) {
    const __nv_bfloat162 v = __floats2bfloat162_rn(a[i], a[i + 1]);
    *reinterpret_cast<__nv_bfloat162 *>(b + i) = v;
  } else if (i < n) {
    b[i] = __float2bfloat16_rn(a[i]);
    if (i + 1 < n) b[i + 1] = __float2bfloat16_rn(a[i + 1]);
  }
  for (int e = 0; e < 2 && i + e < n; e++) t[i + e] = float(q[i + e]);
}
