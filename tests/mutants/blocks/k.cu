// loops over the grid: each block has a share of the elements, one after the other
__global__ void k(long long n, const int *a, const int *c, int *b) {
#if MUT == 1 // shares rounded down
  const long long share = n / gridDim.x;
#elif MUT == 2 // shares rounded down, and the last block has one element more
  const long long share = n / gridDim.x;
#else
  const long long share = (n + gridDim.x - 1) / gridDim.x;
#endif
  const long long begin = blockIdx.x * share;
#if MUT == 2
  const long long end = blockIdx.x == gridDim.x - 1 ? min(n, begin + share + 1) : begin + share;
#elif MUT == 3 // the last share goes beyond the end
  const long long end = begin + share;
#elif MUT == 4 // a share of 4,096 at most
  const long long end = min(n, begin + min(share, 4096LL));
#elif MUT == 5 // a share of 1,024 at most
  const long long end = min(n, begin + min(share, 1024LL));
#else
  const long long end = min(n, begin + share);
#endif
  for (long long i = begin + threadIdx.x; i < end; i += 64) {
#if MUT == 6 // the second of a thread's elements and those that follow
    b[i] = a[i] + (i - begin >= 64 ? 8 : 7) * c[i];
#elif MUT == 7 // beyond eight elements a thread
    b[i] = a[i] + (i - begin >= 512 ? 8 : 7) * c[i];
#elif MUT == 8 // the last element of a share
    b[i] = a[i] + (i == end - 1 && end - begin > 64 ? 8 : 7) * c[i];
#else
    b[i] = a[i] + 7 * c[i];
#endif
  }
}
