// extents: a transpose by tiles
__global__ void k(long long nr, long long nc, const float *a, float *b) {
  __shared__ float t[32][33];
  long long c0 = blockIdx.x * 32LL, r0 = blockIdx.y * 32LL;
  for (int j = threadIdx.y; j < 32; j += 8) {
    long long r = r0 + j, c = c0 + threadIdx.x;
#if MUT == 7 // large: 32-bit index
    if (r < nr && c < nc)
      t[j][threadIdx.x] = a[(int)r * (int)nc + (int)c];
#else
    if (r < nr && c < nc)
      t[j][threadIdx.x] = a[r * nc + c];
#endif
  }
#if MUT == 1   // no barrier
#elif MUT == 2 // no barrier in one column of tiles
  if (blockIdx.x != 3)
    __syncthreads();
#else
  __syncthreads();
#endif
  for (int j = threadIdx.y; j < 32; j += 8) {
    long long c = c0 + j, r = r0 + threadIdx.x;
    if (r < nr && c < nc) {
#if MUT == 3 // a column of the third tile twice
      b[c * nr + r] = t[threadIdx.x][(blockIdx.x == 2 && j == 31) ? 30 : j];
#elif MUT == 4  // wrong beyond 40 tiles
      b[c * nr + r] = blockIdx.x >= 40 ? 0.f : t[threadIdx.x][j];
#elif MUT == 5  // wrong when both > 200
      b[c * nr + r] = (nr > 200 && nc > 200) ? 0.f : t[threadIdx.x][j];
#elif MUT == 6  // wrong where both extents are equal, and more than 70
      b[c * nr + r] = (nr == nc && nr > 70) ? a[r * nc + c] * 0.f : t[threadIdx.x][j];
#elif MUT == 8  // nr % 32 == 1 and nc % 32 == 1
      b[c * nr + r] = (nr % 32 == 1 && nc % 32 == 1 && r == nr - 1) ? 0.f : t[threadIdx.x][j];
#elif MUT == 9  // nr % 32 == 0 and nc % 32 == 1
      b[c * nr + r] = (nr % 32 == 0 && nc % 32 == 1 && c == nc - 1) ? 0.f : t[threadIdx.x][j];
#elif MUT == 10 // nr % 32 == 1 and nc % 32 == 0
      b[c * nr + r] = (nr % 32 == 1 && nc % 32 == 0 && r == nr - 1) ? 0.f : t[threadIdx.x][j];
#elif MUT == 11 // wrong from 4 x 4 tiles on
      b[c * nr + r] = (blockIdx.y >= 3 && blockIdx.x >= 3) ? 0.f : t[threadIdx.x][j];
#else
      b[c * nr + r] = t[threadIdx.x][j];
#endif
    }
  }
}
