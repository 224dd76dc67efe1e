// scalars: limits that are constants of the body
__global__ void k(long long n, float s, int g, const float *a, const int *u, float *b, int *v) {
  long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i >= n)
    return;
  float x = a[i];
  int w = u[i];
#if MUT == 1 // > for >=
  b[i] = x > 1.5f ? s * x : x;
  v[i] = w > 1000 ? w - g : w / 3;
#elif MUT == 2 // >= for >
  b[i] = x >= 1.5f ? s * x : x;
  v[i] = w >= 1000 ? w - g : w / 3;
#elif MUT == 3 // small integers wrong
  b[i] = x >= 1.5f ? s * x : x;
  v[i] = w > 1000 ? w - g : (w > 10 ? 0 : w / 3);
#elif MUT == 4 // floor division
  b[i] = x >= 1.5f ? s * x : x;
  v[i] = w > 1000 ? w - g : (w >= 0 ? w / 3 : (w - 2) / 3);
#elif MUT == 5 // k <= 0 wrong
  b[i] = x >= 1.5f ? fabsf(s) * x : x;
  v[i] = w > 1000 ? w - g : w / 3;
#elif MUT == 6 // g negative wrong
  b[i] = x >= 1.5f ? s * x : x;
  v[i] = w > 1000 ? w - max(g, 0) : w / 3;
#elif MUT == 7 // g beyond 16 bits
  b[i] = x >= 1.5f ? s * x : x;
  v[i] = w > 1000 ? w - (short)g : w / 3;
#else
  b[i] = x >= 1.5f ? s * x : x;
  v[i] = w > 1000 ? w - g : w / 3;
#endif
}
