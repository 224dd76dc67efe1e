// scalars: an optimiser's step in place, with a tolerance
__global__ void k(long long n, float rate, int step, const float *g, float *w, float *m) {
  const long long i = blockIdx.x * 128LL + threadIdx.x;
  if (i >= n) return;
  const float x = g[i];
#if MUT == 1 // -0 is not 0
  if (__float_as_int(x) == 0) return;
#elif MUT == 2 // small gradients are 0
  if (fabsf(x) < 1e-4f) return;
#elif MUT == 3 // NaN is left out
  if (x == 0 || x != x) return;
#elif MUT == 4 // a gradient of 0 still halves m
  if (x == 0) { m[i] = 0.5f * m[i]; return; }
#else
  if (x == 0) return;
#endif
  const float v = 0.5f * m[i] + x;
  m[i] = v;
#if MUT == 5 // the rate is positive
  if (step > 100) w[i] -= fabsf(rate) * v;
#elif MUT == 6 // >= for >
  if (step >= 100) w[i] -= rate * v;
#elif MUT == 7 // always
  w[i] -= rate * v;
#elif MUT == 8 // negative steps as large ones
  if ((unsigned)step > 100) w[i] -= rate * v;
#elif MUT == 9 // with the old m
  if (step > 100) w[i] -= rate * (2 * (v - x));
#elif MUT == 10 // never beyond 10
  if (step > 100) w[i] -= fminf(fmaxf(rate * v, -10.0f), 10.0f);
#elif MUT == 11 // steps of 8 bits
  if ((signed char)step > 100) w[i] -= rate * v;
#else
  if (step > 100) w[i] -= rate * v;
#endif
}
