// Warps of the first half of a block have its elements, as if they were the even ones.
__global__ void series(const float *in, float *out, int n) {
  const int half = threadIdx.x / 128, i = blockIdx.x * 256 + threadIdx.x;
  float v = i < n ? in[i] : 0.0f;
  if (half == 0) {
    for (int k = 0; k < 24; k++) {
      v = v * 0.5f + 0.25f;
    }
  } else {
    for (int k = 0; k < 24; k++) {
      v = 0.5f - v * 0.5f;
    }
  }
  if (i < n) {
    out[i] = v;
  }
}
