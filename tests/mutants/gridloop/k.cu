// loops over the grid: 264 blocks at most, each with several tiles of 512
__global__ void k(long long n, const int *a, const int *w, int *b) {
  int q = w[0];
#if MUT == 1 // one iteration
  for (long long base = blockIdx.x * 512LL, once = 0; base < n && !once; once = 1) {
#elif MUT == 2 // two iterations
  const long long end = min(n, 1024LL * gridDim.x);
  for (long long base = blockIdx.x * 512LL; base < end; base += gridDim.x * 512LL) {
#elif MUT == 3 // right: blocks beyond those that an H200 has repeat what others do
  for (long long base = blockIdx.x * 512LL; base < n; base += 132 * 512LL) {
#elif MUT == 4 // without the last partial tile
  const long long end = n > 135168 ? n / 512 * 512 : n;
  for (long long base = blockIdx.x * 512LL; base < end; base += gridDim.x * 512LL) {
#elif MUT == 5 // large: a stride of 32 bits
  for (int base = blockIdx.x * 512; base < n; base += gridDim.x * 512) {
#else
  for (long long base = blockIdx.x * 512LL; base < n; base += gridDim.x * 512LL) {
#endif
    for (int e = 0; e < 4; e++) {
      const long long i = base + e * 128 + threadIdx.x;
#if MUT == 6 // stale from the second iteration on
      if (base != blockIdx.x * 512LL && threadIdx.x == 0) q++;
#elif MUT == 7 // the first element of later iterations is 0
      if (base != blockIdx.x * 512LL && e == 0 && threadIdx.x == 0 && i < n) { b[i] = 0; continue; }
#elif MUT == 8 // stale from the third iteration on
      if (base >= 2 * gridDim.x * 512LL) q = 0;
#elif MUT == 9 // a partial tile in a later iteration
      if (base > blockIdx.x * 512LL && base + 512 > n && i == n - 1) q++;
#elif MUT == 10 // the last block's second iteration
      if (blockIdx.x == gridDim.x - 1 && base > blockIdx.x * 512LL) q++;
#endif
      if (i < n) b[i] = a[i] * 3 + q;
    }
  }
}
