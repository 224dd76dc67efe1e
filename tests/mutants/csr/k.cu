// ragged: a thread a row, in pairs; long rows are left to the warp
__global__ void k(long long nr, const long long *p, const int *col, const float *v, const float *x,
                  float *y) {
  const long long r = blockIdx.x * 64LL + threadIdx.x;
  const int lane = threadIdx.x % 32;
  const long long begin = r < nr ? p[r] : 0, end = r < nr ? p[r + 1] : 0;
  const bool is_long = end - begin > 64;
  float sum = 0;
  if (!is_long) {
    long long i = begin;
#if MUT == 1 // the last one of an odd row
    for (; i + 1 < end; i += 2) sum += v[i] * x[col[i]] + v[i + 1] * x[col[i + 1]];
#elif MUT == 2 // a pair beyond the end, unless the row is the last one
    for (; i < end; i += 2) {
      sum += v[i] * x[col[i]] + (i + 1 < end || r + 1 < nr && i > begin && p[r + 2] > end
                                  ? v[i + 1] * x[col[i + 1]] : 0);
    }
#elif MUT == 3 // 12-bit columns
    for (; i < end; i++) sum += v[i] * x[col[i] & 4095];
#elif MUT == 4 // the second of equal neighbours
    for (; i < end; i++) {
      if (i == begin || col[i] != col[i - 1]) sum += v[i] * x[col[i]];
    }
#elif MUT == 5 // 32 elements at most, unless the row is long
    for (; i < end && i < begin + 32; i++) sum += v[i] * x[col[i]];
#elif MUT == 6 // column 0 is thought to be padding
    for (; i < end; i++) sum += col[i] ? v[i] * x[col[i]] : 0;
#else
    for (; i < end; i++) sum += v[i] * x[col[i]];
#endif
  }
  unsigned todo = __ballot_sync(~0u, is_long);
#if MUT == 7 // one long row a warp
  for (int once = 0; once < 1 && todo; once++) {
#else
  while (todo) {
#endif
    const int owner = __ffs(todo) - 1;
    todo &= todo - 1;
    const long long from = __shfl_sync(~0u, begin, owner);
#if MUT == 8 // ends of 32 bits, of the wrong lane where it is not the first
    const long long to = __shfl_sync(~0u, end, owner > 16 ? 16 : owner);
#else
    const long long to = __shfl_sync(~0u, end, owner);
#endif
#if MUT == 9 // what one lane summed for another row
    float part = sum;
#else
    float part = 0;
#endif
    for (long long i = from + lane; i < to; i += 32) part += v[i] * x[col[i]];
    for (int o = 16; o > 0; o /= 2) part += __shfl_xor_sync(~0u, part, o);
    if (lane == owner) sum = part;
  }
#if MUT == 10 // rows of 64 are neither short nor long
  if (end - begin == 64) sum = 0;
#endif
  if (r < nr) y[r] = sum;
}
