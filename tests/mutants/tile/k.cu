// extents: tiles of 32 rows of 64 columns; x in shared memory, y in registers
__global__ void k(long long nr, long long nc, const int *a, const int *x, const int *y, int *b) {
  __shared__ int s[32];
  const long long r0 = blockIdx.y * 32LL, c = blockIdx.x * 64LL + threadIdx.x;
  const int t = threadIdx.y * 64 + threadIdx.x;
#if MUT == 1 // x of the second row of tiles in all that follow
  if (t < 32) s[t] = x[r0 + t < nr ? (r0 > 32 ? 32 : r0) + t : 0];
#else
  if (t < 32) s[t] = r0 + t < nr ? x[r0 + t] : 0;
#endif
  __syncthreads();
  const bool row_rest = nr % 32 != 0, column_rest = nc % 64 != 0;
  const bool last_row = blockIdx.y == gridDim.y - 1, last_column = blockIdx.x == gridDim.x - 1;
  int q = c < nc ? y[c] : 0;
#if MUT == 2 // columns beyond 1,024, of rows other than the first
  if (r0 > 0 && c > 1024) q = y[c - 1024];
#elif MUT == 3 // blocks that are neither first nor last, in both directions
  if (r0 > 0 && c > 64 && !last_row && !last_column) q++;
#elif MUT == 4 // the corner of two remainders
  if (row_rest && column_rest && last_row && last_column && r0 > 0 && c >= 64) q++;
#elif MUT == 5 // a remainder of rows next to whole columns
  if (row_rest && !column_rest && last_row && blockIdx.x == 1) q++;
#elif MUT == 6 // a remainder of columns next to whole rows
  if (!row_rest && column_rest && last_column && blockIdx.y == 1) q++;
#elif MUT == 7 // 4 x 4 tiles
  if (blockIdx.x >= 3 && blockIdx.y >= 3) q++;
#elif MUT == 8 // more than 16 rows of tiles
  if (blockIdx.y >= 16 && threadIdx.x == 0) q++;
#elif MUT == 9 // tall matrices
  if (nr > 8 * nc && nc > 64) q++;
#elif MUT == 10 // wide matrices of more than one row
  if (nc > 16 * nr && nr > 32) q++;
#endif
  for (int j = threadIdx.y; j < 32; j += 4) {
#if MUT == 11 // no remainder at all, in both directions
    if (!row_rest && !column_rest && nr > 32 && nc > 64 && r0 + j == nr - 1) continue;
#elif MUT == 12 // remainders of one row and one column
    if (nr % 32 == 1 && nc % 64 == 1 && nr > 32 && nc > 64 && last_row && last_column) q = 0;
#elif MUT == 13 // large: 32-bit addresses
    const int at = (int)(r0 + j) * (int)nc + (int)c;
    if (r0 + j < nr && c < nc) b[at] = a[at] + 3 * s[j] + 5 * q;
    continue;
#endif
    const long long r = r0 + j;
    if (r < nr && c < nc) b[r * nc + c] = a[r * nc + c] + 3 * s[j] + 5 * q;
  }
}
