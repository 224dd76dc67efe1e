// scalars: 0, 1, -1, negative ones and wide ones
__global__ void k(long long n, float p, float q, int s, long long w, const float *x, const int *u,
                  float *y, long long *v) {
  const long long i = blockIdx.x * 128LL + threadIdx.x;
  if (i >= n) return;
#if MUT == 1 // q is never negative
  q = fabsf(q);
#elif MUT == 2 // y is not read where q is 0, not even NaN
  if (q == 0) { y[i] = p * x[i]; v[i] = (long long)u[i] * w + (s < 0 ? u[i] : u[i] * s); return; }
#elif MUT == 3 // p of 0 leaves y
  if (p == 0) { v[i] = (long long)u[i] * w + (s < 0 ? u[i] : u[i] * s); return; }
#elif MUT == 4 // q of 1 is taken for p
  if (q == 1) p = q;
#elif MUT == 5 // p below 0 counts as 0
  p = p < 0 ? 0 : p;
#elif MUT == 6 // scalars are halves
  p = p > 65504 ? 65504 : p < -65504 ? -65504 : p;
#elif MUT == 7 // tiny scalars are 0
  p = fabsf(p) < 1e-6f ? 0 : p;
#elif MUT == 8 // s of 0 is taken for negative
  s = s <= 0 ? -1 : s;
#elif MUT == 9 // s has 16 bits
  s = (short)s;
#elif MUT == 10 // s has no sign
  s = s & 0x7fffffff;
#elif MUT == 11 // w has 32 bits
  w = (int)w;
#elif MUT == 12 // w has no sign
  w = w & 0x7fffffffffffffffLL;
#elif MUT == 13 // s of 1
  s = s == 1 ? 0 : s;
#endif
  y[i] = fmaf(p, x[i], q * y[i]);
  v[i] = (long long)u[i] * w + (s < 0 ? u[i] : u[i] * s);
}
