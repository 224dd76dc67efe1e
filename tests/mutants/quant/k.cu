// values: floats scaled, rounded and saturated to a byte
__global__ void k(long long n, float g, int z, const float *a, signed char *q, unsigned char *u) {
  const long long i = blockIdx.x * 128LL + threadIdx.x;
  if (i >= n) return;
#if MUT == 1 // ties away from 0
  float v = roundf(a[i] * g);
#elif MUT == 2 // towards 0
  float v = truncf(a[i] * g);
#elif MUT == 3 // upwards in ties
  float v = floorf(a[i] * g + 0.5f);
#elif MUT == 4 // the scale without its sign
  float v = rintf(a[i] * fabsf(g));
#elif MUT == 5 // large values are 0
  float v = fabsf(a[i]) > 1e6f ? 0.0f : rintf(a[i] * g);
#elif MUT == 6 // through a half
  float v = a[i] * g;
  unsigned short h;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(v));
  asm("cvt.f32.f16 %0, %1;" : "=f"(v) : "h"(h));
  v = rintf(v);
#else
  float v = rintf(a[i] * g);
#endif
#if MUT == 7 // from -127 on
  q[i] = (signed char)fminf(fmaxf(v, -127.0f), 127.0f);
#elif MUT == 8 // the upper limit alone
  q[i] = (signed char)(int)fminf(v, 127.0f);
#elif MUT == 9 // wraps
  q[i] = (signed char)(int)v;
#elif MUT == 10 // NaN is 0
  q[i] = v != v ? 0 : (signed char)fminf(fmaxf(v, -128.0f), 127.0f);
#elif MUT == 11 // the limits in the other order, which NaN finds
  q[i] = (signed char)fmaxf(fminf(v, 127.0f), -128.0f);
#else
  q[i] = (signed char)fminf(fmaxf(v, -128.0f), 127.0f);
#endif
#if MUT == 12 // the zero point is added after the limits
  u[i] = (unsigned char)(int)(fminf(fmaxf(v, 0.0f), 255.0f) + (float)z);
#elif MUT == 13 // the zero point is never negative
  u[i] = (unsigned char)fminf(fmaxf(v + (float)max(z, 0), 0.0f), 255.0f);
#elif MUT == 14 // up to 254
  u[i] = (unsigned char)fminf(fmaxf(v + (float)z, 0.0f), 254.0f);
#elif MUT == 15 // the zero point's lowest byte
  u[i] = (unsigned char)fminf(fmaxf(v + (float)(unsigned char)z, 0.0f), 255.0f);
#else
  u[i] = (unsigned char)fminf(fmaxf(v + (float)z, 0.0f), 255.0f);
#endif
}
