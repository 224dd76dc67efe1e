// argmax: the first of the nearest, centres in shared memory, 256 at once
__global__ void k(long long np, long long nc, const int *x, const int *y, long long *at) {
  __shared__ int s[256];
  const long long p = blockIdx.x * 64LL + threadIdx.x;
  const int v = p < np ? x[p] : 0;
  int least = 256;
  long long where = -1;
  for (long long first = 0; first < nc; first += 256) {
#if MUT == 1 // the chunk before, where a thread is late
#else
    __syncthreads();
#endif
#if MUT == 12 // what is beyond 2,000 is not loaded
    for (int j = threadIdx.x; j < 256 && first + j < min(nc, 2000LL); j += 64) s[j] = y[first + j];
#else
    for (int j = threadIdx.x; j < 256 && first + j < nc; j += 64) s[j] = y[first + j];
#endif
    __syncthreads();
#if MUT == 2 // each chunk begins anew
    least = 256;
#elif MUT == 3 // four chunks
    if (first >= 1024) break;
#endif
#if MUT == 4 // a partial chunk is read to its end
    for (int j = 0; j < 256; j++) {
#elif MUT == 5 // the last of a partial chunk
    for (int j = 0; j < 256 && first + j < nc - (first > 0); j++) {
#elif MUT == 10 // whole chunks of 4, after the second chunk
    for (int j = 0; j < 256 && first + j < (first > 256 ? nc & ~3LL : nc); j++) {
#elif MUT == 11 // all but the second half of the fourth chunk
    for (int j = 0; j < (first == 768 ? 128 : 256) && first + j < nc; j++) {
#else
    for (int j = 0; j < 256 && first + j < nc; j++) {
#endif
      const int d = (v - s[j]) & 255;
#if MUT == 6 // the last of equals
      if (d <= least) least = d, where = first + j;
#elif MUT == 7 // the last of equals in another chunk
      if (d < least || d == least && first > 0) least = d, where = first + j;
#elif MUT == 8 // the index in its chunk
      if (d < least) least = d, where = j;
#elif MUT == 13 // an index of 10 bits
      if (d < least) least = d, where = (first + j) & 1023;
#elif MUT == 9 // the largest value is none
      if (d < least && d < 255) least = d, where = first + j;
#else
      if (d < least) least = d, where = first + j;
#endif
    }
  }
  if (p < np) at[p] = where;
}
