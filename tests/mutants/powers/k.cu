// extents: indices and lengths around powers of two
__global__ void k(long long n, const int *a, int *b) {
  for (int e = 0; e < 4; e++) {
    const long long i = blockIdx.x * 1024LL + e * 256 + threadIdx.x;
    long long q = i;
#if MUT == 1 // 11-bit indices
    q = i & 2047;
#elif MUT == 2 // 12-bit indices
    q = i & 4095;
#elif MUT == 3 // 13-bit indices
    q = i & 8191;
#elif MUT == 4 // 14-bit indices
    q = i & 16383;
#elif MUT == 5 // 16-bit indices
    q = i & 65535;
#elif MUT == 6 // signed 16-bit indices
    q = (short)i;
#elif MUT == 7 // large: indices in a float
    q = (long long)(float)i;
#elif MUT == 8 // the last one of a power of two
    if (n >= 64 && (n & (n - 1)) == 0 && i == n - 1) q = 0;
#elif MUT == 9 // one element beyond a power of two
    if (n > 1024 && ((n - 1) & (n - 2)) == 0 && i == n - 1) q = 0;
#elif MUT == 10 // one element in the fifth block
    if (n == 4097 && i == 4096) q = 0;
#elif MUT == 11 // large: 32-bit indices, doubled
    q = (unsigned)(2 * (int)i) / 2;
#elif MUT == 12 // from the ninth block on
    if (blockIdx.x > 8) q = 0;
#endif
    if (i < n) b[i] = a[i] ^ (int)q;
  }
}
