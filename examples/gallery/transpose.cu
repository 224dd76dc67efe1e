// Transposes a square matrix of n floats a side, n a multiple of 32.
__global__ void naive(const float *in, float *out, int n) {
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  out[x * n + y] = in[y * n + x];
}
template <int PITCH> __global__ void tiled(const float *in, float *out, int n) {
  __shared__ float tile[32][PITCH];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) {
    tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];
  }
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) {
    out[(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];
  }
}
