// Many small matrices of 32 x 32, each transposed in shared memory: a warp reads a column of the
// tile, whose elements all lie in one bank.
__global__ void transpose32(const float *in, float *out) {
  __shared__ float tile[32][32];
  const int at = 1024 * blockIdx.x, x = threadIdx.x, y = threadIdx.y;
  for (int j = 0; j < 32; j += 8) {
    tile[y + j][x] = in[at + 32 * (y + j) + x];
  }
  __syncthreads();
  for (int j = 0; j < 32; j += 8) {
    out[at + 32 * (y + j) + x] = tile[x][y + j];
  }
}
