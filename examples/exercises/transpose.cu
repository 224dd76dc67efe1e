// Each thread moves four elements of a tile of 32 x 32: reads are coalesced, stores are not.
__global__ void transpose(const float *in, float *out, int width, int height) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) {
    if (x < width && y + j < height) {
      out[x * height + y + j] = in[(y + j) * width + x];
    }
  }
}
