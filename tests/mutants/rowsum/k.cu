// extents: four rows a block, one after the other; columns by fours, then what is left
__global__ void k(long long nr, long long nc, const int *a, int *t) {
  __shared__ int part[8];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#if MUT == 1 // what a row summed goes on in the next one
  int sum = 0;
  for (long long r = blockIdx.x * 4LL; r < nr && r < blockIdx.x * 4LL + 4; r++) {
#else
  for (long long r = blockIdx.x * 4LL; r < nr && r < blockIdx.x * 4LL + 4; r++) {
    int sum = 0;
#endif
    const int *row = a + r * nc;
    long long c = threadIdx.x;
#if MUT == 2 // four groups at most, in rows other than the first
    for (; c + 768 < nc && (r == 4 * blockIdx.x || c < 4096); c += 1024) {
#elif MUT == 3 // right: the last group of four is left to the next loop where columns are a multiple of 1,024
    for (; c + 768 < nc - (nc > 1024 && nc % 1024 == 0 ? 1024 : 0); c += 1024) {
#else
    for (; c + 768 < nc; c += 1024) {
#endif
#if MUT == 4 // the fourth of a group from the second group on
      sum += row[c] + row[c + 256] + row[c + 512] + (c < 1024 ? row[c + 768] : 0);
#else
      sum += row[c] + row[c + 256] + row[c + 512] + row[c + 768];
#endif
    }
#if MUT == 5 // one element a thread after groups of four
    if (c < nc && (c >= 1024 || nc <= 256)) sum += row[c];
    else for (; c < nc; c += 256) sum += row[c];
#elif MUT == 6 // a single column after groups of four
    for (; c < nc - (nc % 1024 == 1 && nc > 1024); c += 256) sum += row[c];
#elif MUT == 2
    if (nc - c < 1024) {
      for (; c < nc; c += 256) sum += row[c];
    }
#else
    for (; c < nc; c += 256) sum += row[c];
#endif
    for (int o = 16; o > 0; o /= 2) sum += __shfl_xor_sync(~0u, sum, o);
    if (lane == 0) part[warp] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
      int all = 0;
#if MUT == 7 // the warps that a short row has
      for (int w = 0; w < (nc < 1025 ? 8 : 7); w++) all += part[w];
#elif MUT == 8 // 16 bits where rows are long
      for (int w = 0; w < 8; w++) all += nc > 3000 ? (short)part[w] : part[w];
#else
      for (int w = 0; w < 8; w++) all += part[w];
#endif
      t[r] = all;
    }
#if MUT == 9 // the next row's parts before these are read
#else
    __syncthreads();
#endif
  }
}
