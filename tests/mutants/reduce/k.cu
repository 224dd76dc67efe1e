// scopes: a tree in shared memory, then the last warp alone
#define INFINITE __int_as_float(0x7f800000)
__global__ void k(int nr, long long nc, const float *a, float *t, float *m) {
  __shared__ float sums[256], mins[256];
  const float *row = a + blockIdx.x * nc;
  float sum = 0, least = INFINITE;
  for (long long c = threadIdx.x; c < nc; c += 256) {
#if MUT == 1 // what is below 10^-3 is lost
    sum += fabsf(row[c]) < 1e-3f ? 0 : row[c];
#elif MUT == 2 // a sum in halves, where rows are long
    sum += row[c];
    if (nc > 2048) sum = __int_as_float(__float_as_int(sum) & ~0x1fff);
#else
    sum += row[c];
#endif
#if MUT == 3 // the least begins with the largest finite number
    least = fminf(fminf(least, 3.4028235e38f), row[c]);
#elif MUT == 4 // NaN is the least
    least = row[c] < least || row[c] != row[c] ? row[c] : least;
#elif MUT == 5 // the least of magnitudes
    least = fabsf(row[c]) < fabsf(least) ? row[c] : least;
#else
    least = fminf(least, row[c]);
#endif
  }
  sums[threadIdx.x] = sum, mins[threadIdx.x] = least;
#if MUT == 6 // no barrier before the tree
#else
  __syncthreads();
#endif
  for (int o = 128; o > 32; o /= 2) {
    if (threadIdx.x < o) {
      sums[threadIdx.x] += sums[threadIdx.x + o];
      mins[threadIdx.x] = fminf(mins[threadIdx.x], mins[threadIdx.x + o]);
    }
#if MUT == 7 // a barrier of the warp between levels of the tree
    __syncwarp();
#elif MUT == 8 // a barrier that half of the threads reach
    if (threadIdx.x < 128) __syncthreads();
#else
    __syncthreads();
#endif
  }
  if (threadIdx.x < 32) {
    sum = sums[threadIdx.x] + sums[threadIdx.x + 32];
    least = fminf(mins[threadIdx.x], mins[threadIdx.x + 32]);
#if MUT == 9 // up to 8 lanes
    for (int o = 8; o > 0; o /= 2) {
#else
    for (int o = 16; o > 0; o /= 2) {
#endif
      sum += __shfl_down_sync(~0u, sum, o);
#if MUT == 10 // lanes that are not in the mask
      least = fminf(least, __shfl_down_sync(0xffff, least, o));
#else
      least = fminf(least, __shfl_down_sync(~0u, least, o));
#endif
    }
#if MUT == 11 // every lane stores
    t[blockIdx.x] = sum, m[blockIdx.x] = least;
#else
    if (threadIdx.x == 0) t[blockIdx.x] = sum, m[blockIdx.x] = least;
#endif
  }
}
