// values: comparisons, where values are equal, zero, infinite or no numbers
__global__ void k(long long n, const float *a, const float *b, float *m, float *r, int *g,
                  float *t) {
  const long long i = blockIdx.x * 128LL + threadIdx.x;
  if (i >= n) return;
  const float x = a[i], y = b[i], z = fabsf(x);
#if MUT == 1 // fmaxf passes over NaN
  m[i] = fmaxf(x, y);
#elif MUT == 2 // of 0 and -0 the other one
  m[i] = x >= y ? x : y;
#elif MUT == 3 // a where b is NaN
  m[i] = x > y || y != y ? x : y;
#elif MUT == 4 // the sign of a common zero
  m[i] = x == 0 && y == 0 ? 0.0f : x > y ? x : y;
#else
  m[i] = x > y ? x : y;
#endif
#if MUT == 5 // -0 becomes 0
  r[i] = x > 0 ? x : x == 0 ? 0.0f : 0.1f * x;
#elif MUT == 6 // small values by the other branch
  r[i] = x > 1e-20f ? x : 0.1f * x;
#elif MUT == 7 // NaN becomes 0
  r[i] = x > 0 ? x : x <= 0 ? 0.1f * x : 0.0f;
#elif MUT == 8 // the larger of both: infinity and NaN differ in nothing, subnormals do
  r[i] = x > 1.1754944e-38f ? x : 0.1f * x;
#elif MUT == 9 // -infinity becomes the least number
  r[i] = x > 0 ? x : fmaxf(0.1f * x, -3.4028235e38f);
#else
  r[i] = x > 0 ? x : 0.1f * x;
#endif
#if MUT == 10 // unordered counts as less
  g[i] = !(x >= y) - (x > y);
#elif MUT == 11 // the sign of the difference, which underflows or overflows
  g[i] = (x * 0.5f - y * 0.5f < -1e-30f) - (x * 0.5f - y * 0.5f > 1e-30f);
#elif MUT == 12 // compares bits
  g[i] = (__float_as_int(x) < __float_as_int(y)) - (__float_as_int(x) > __float_as_int(y));
#else
  g[i] = (x < y) - (x > y);
#endif
#if MUT == 13 // < for <=
  t[i] = z < 6.0f ? x * x : 12.0f * z;
#elif MUT == 14 // the limit at 5
  t[i] = z <= 5.0f ? x * x : 12.0f * z;
#elif MUT == 15 // of positive values only
  t[i] = x <= 6.0f ? x * x : 12.0f * z;
#elif MUT == 16 // beyond 10^4 the limit's value
  t[i] = z <= 6.0f ? x * x : z > 1e4f && z < 1e30f ? 36.0f : 12.0f * z;
#else
  t[i] = z <= 6.0f ? x * x : 12.0f * z;
#endif
}
