// carry: sums up to each element, and maxima before it; a row a block, tiles of 128
#define LEAST (-2147483647 - 1)
__global__ void k(long long nr, long long nc, const int *a, int *b, int *m) {
  __shared__ int sums[4], tops[4];
  const long long at = blockIdx.x * nc;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#if MUT == 1 // maxima begin with 0
  int carry = 0, most = 0;
#elif MUT == 2 // maxima begin with the row's first value
  int carry = 0, most = nc > 128 ? a[at] : LEAST;
#else
  int carry = 0, most = LEAST;
#endif
  for (long long c = threadIdx.x; c - threadIdx.x < nc; c += 128) {
    const int v = c < nc ? a[at + c] : 0, w = c < nc ? a[at + c] : LEAST;
    int sum = v, top = w;
    for (int o = 1; o < 32; o *= 2) {
      const int s = __shfl_up_sync(~0u, sum, o), t = __shfl_up_sync(~0u, top, o);
#if MUT == 3 // a lane too many
      if (lane >= o - (o == 16)) sum += s, top = max(top, t);
#else
      if (lane >= o) sum += s, top = max(top, t);
#endif
    }
    if (lane == 31) sums[warp] = sum, tops[warp] = top;
    __syncthreads();
#if MUT == 4 // the carry of the tile before the last one
    int base = c >= 384 && c < 512 ? carry - sums[0] : carry, before = most;
#elif MUT == 5 // no carry from the ninth tile on
    int base = c < 1024 ? carry : 0, before = most;
#elif MUT == 6 // the carry of rows other than the first
    int base = blockIdx.x > 0 && c >= 1024 ? 0 : carry, before = most;
#else
    int base = carry, before = most;
#endif
    for (int u = 0; u < 4; u++) {
      if (u < warp) base += sums[u], before = max(before, tops[u]);
#if MUT == 7 // three warps carry on
      if (u < 3) carry += sums[u], most = max(most, tops[u]);
#else
      carry += sums[u], most = max(most, tops[u]);
#endif
    }
#if MUT == 8 // each warp's first element begins anew
    const int left = __shfl_up_sync(~0u, top, 1), up = lane ? max(before, left) : LEAST;
#elif MUT == 9 // a tile's first element begins anew
    const int left = __shfl_up_sync(~0u, top, 1);
    const int up = lane ? max(before, left) : threadIdx.x ? before : LEAST;
#elif MUT == 10 // the element itself, in a row's last tile
    const int left = __shfl_up_sync(~0u, top, 1), self = c - threadIdx.x + 128 >= nc && c >= 128;
    const int up = self ? max(before, top) : lane ? max(before, left) : before;
#elif MUT == 11 // maxima of the tile alone
    const int left = __shfl_up_sync(~0u, top, 1), first = c < 256 ? before : LEAST;
    const int up = lane ? max(first, left) : first;
#else
    const int left = __shfl_up_sync(~0u, top, 1), up = lane ? max(before, left) : before;
#endif
    if (c < nc) b[at + c] = base + sum, m[at + c] = up;
#if MUT == 12 // the next tile's sums before these are read
#else
    __syncthreads();
#endif
  }
}
