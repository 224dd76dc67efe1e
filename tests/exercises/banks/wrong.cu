// The column is turned by its row to spread it over banks, and is not turned back.
__global__ void transpose32(const float *in, float *out) {
  __shared__ float tile[32][32];
  const int at = 1024 * blockIdx.x, x = threadIdx.x, y = threadIdx.y;
  for (int j = 0; j < 32; j += 8) {
    tile[y + j][(x + y + j) % 32] = in[at + 32 * (y + j) + x];
  }
  __syncthreads();
  for (int j = 0; j < 32; j += 8) {
    out[at + 32 * (y + j) + x] = tile[x][(x - y - j) & 31];
  }
}
