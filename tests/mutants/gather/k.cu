// index values: a lookup, where an index may say that there is none
__global__ void k(long long n, long long m, const int *p, const float *x, float *y) {
  long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i >= n)
    return;
  int q = p[i];
#if MUT == 0
  y[i] = q < 0 ? 0.f : x[q];
#elif MUT == 1 // q == -1 for q < 0
  y[i] = q == -1 ? 0.f : x[q];
#elif MUT == 2 // -0 where there is no element
  y[i] = q < 0 ? -0.f : x[q];
#elif MUT == 3 // 12-bit indices
  y[i] = q < 0 ? 0.f : x[q % 4096];
#elif MUT == 4 // the last element
  y[i] = q < 0 ? 0.f : x[q == m - 1 && m > 2 ? m - 2 : q];
#elif MUT == 5 // 16-bit indices
  y[i] = q < 0 ? 0.f : x[q & 0xffff];
#elif MUT == 6 // NaN of element 0 where there is none
  y[i] = x[q < 0 ? 0 : q] * (q < 0 ? 0.f : 1.f);
#elif MUT == 7 // 14-bit indices
  y[i] = q < 0 ? 0.f : x[q & 0x3fff];
#endif
}
