// extents: bins in shared memory, up to 1,024, else in the array
__global__ void k(long long n, long long m, const int *key, unsigned *h) {
  __shared__ unsigned s[1024];
#if MUT == 1 // shared memory for 4,096 bins
  const bool here = m <= 4096;
#elif MUT == 2 // one bin too many
  const bool here = m <= 1025;
#else
  const bool here = m <= 1024;
#endif
  if (here) {
#if MUT == 3 // bins of the first iteration alone begin with 0
    if (threadIdx.x < m) s[threadIdx.x] = 0;
#else
    for (int b = threadIdx.x; b < m; b += 256) s[b] = 0;
#endif
#if MUT == 4 // no barrier after zeros
#else
    __syncthreads();
#endif
  }
  for (int e = 0; e < 8; e++) {
    const long long i = blockIdx.x * 2048LL + e * 256 + threadIdx.x;
    if (i < n) {
#if MUT == 5 // 12-bit bins
      const int q = key[i] & 4095;
#elif MUT == 6 // 13-bit bins
      const int q = key[i] & 8191;
#elif MUT == 7 // 8-bit bins
      const int q = m > 256 ? key[i] & 255 : key[i];
#else
      const int q = key[i];
#endif
      if (here) {
#if MUT == 8 // not atomic
        s[q]++;
#else
        atomicAdd(&s[q], 1u);
#endif
      } else {
#if MUT == 9 // atomic among the block's threads
        atomicAdd_block(&h[q], 1u);
#elif MUT == 10 // the last iteration is lost where bins are many
        if (e < 7) atomicAdd(&h[q], 1u);
#else
        atomicAdd(&h[q], 1u);
#endif
      }
    }
  }
  if (here) {
    __syncthreads();
#if MUT == 11 // the last bin where 256 threads have one more
    for (int b = threadIdx.x; b < m - (m > 256 && m % 256 == 1); b += 256) {
#elif MUT == 12 // 512 bins of shared memory
    for (int b = threadIdx.x; b < m && b < 512; b += 256) {
#else
    for (int b = threadIdx.x; b < m; b += 256) {
#endif
#if MUT == 13 // counts of 8 bits
      if (s[b] & 255) atomicAdd(&h[b], s[b] & 255);
#elif MUT == 14 // a bin's last block wins
      if (s[b]) h[b] = s[b];
#else
      if (s[b]) atomicAdd(&h[b], s[b]);
#endif
    }
  }
}
