// ragged: a warp has four rows, one after the other; rows of more than 256 by fours
__global__ void k(long long nr, long long nk, const int *p, const int *v, int *y, int *m) {
  const int lane = threadIdx.x % 32;
  const long long first = (blockIdx.x * 4LL + threadIdx.x / 32) * 4;
#if MUT == 1 // the sum of the row before an empty one
  int sum = 0;
#elif MUT == 2 // the maximum of the row before
  int most = -2147483647 - 1;
#endif
  for (long long r = first; r < first + 4 && r < nr; r++) {
    const int begin = p[r], end = p[r + 1];
#if MUT == 1
    if (begin < end) sum = 0;
    int most = -2147483647 - 1;
#elif MUT == 2
    int sum = 0;
#elif MUT == 3 // the maximum of an empty row is 0
    int sum = 0, most = begin == end ? 0 : -2147483647 - 1;
#elif MUT == 4 // the maximum begins with 0
    int sum = 0, most = 0;
#else
    int sum = 0, most = -2147483647 - 1;
#endif
    int i = begin + lane;
#if MUT == 5 // a group of four beyond the end, of the next row's elements
    for (; i < end && end - begin > 256; i += 128) {
      for (int e = 0; e < 4 && i + 32 * e < nk; e++) {
#elif MUT == 6 // the fourth one may be the next row's first
    for (; end - begin > 256 && i + 95 < end; i += 128) {
      for (int e = 0; e < 4; e++) {
#else
    for (; end - begin > 256 && i + 96 < end; i += 128) {
      for (int e = 0; e < 4; e++) {
#endif
        sum += v[i + 32 * e];
        most = max(most, v[i + 32 * e]);
      }
    }
#if MUT == 7 // one element a lane is what is left of long rows
    if (end - begin > 256) {
      if (i < end) sum += v[i], most = max(most, v[i]);
      i = end;
    }
#elif MUT == 8 // right: the last of 33 elements is left to the next loop
    const bool lost = end - begin == 33;
    for (; i < end - lost; i += 32) sum += v[i], most = max(most, v[i]);
#elif MUT == 9 // no more than 1,024 elements
    if (end - begin > 1024 && i >= begin + 1024) i = end;
#elif MUT == 10 // rows after an empty one begin one later
    if (r > first && p[r - 1] == begin && end - begin > 32 && i == begin) i += 32;
#elif MUT == 11 // a long row after a long row
    if (r > 0 && begin - p[r - 1] > 256 && end - begin > 256) sum++;
#elif MUT == 12 // a short row after a long row
    if (r > 0 && begin - p[r - 1] > 256 && end - begin == 1) sum++;
#endif
    for (; i < end; i += 32) {
      sum += v[i];
      most = max(most, v[i]);
    }
#if MUT == 13 // shuffles of half a warp
    for (int o = 8; o > 0; o /= 2) {
#else
    for (int o = 16; o > 0; o /= 2) {
#endif
      sum += __shfl_xor_sync(~0u, sum, o);
      most = max(most, __shfl_xor_sync(~0u, most, o));
    }
#if MUT == 14 // empty rows at the end
    if (lane == 0 && (begin < nk || begin == 0)) y[r] = sum, m[r] = most;
#else
    if (lane == 0) y[r] = sum, m[r] = most;
#endif
  }
}
