__global__ void transpose32(const float *in, float *out) {
  __shared__ float tile[32][36];
  const int at = 1024 * blockIdx.x, x = threadIdx.x, y = threadIdx.y;
  for (int j = 0; j < 32; j += 8) {
    tile[y + j][x] = in[at + 32 * (y + j) + x];
  }
  __syncthreads();
  for (int j = 0; j < 32; j += 8) {
    out[at + 32 * (y + j) + x] = tile[x][y + j];
  }
}
