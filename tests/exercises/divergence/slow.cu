// The first half of a warp has its even elements: it still takes both branches.
__global__ void series(const float *in, float *out, int n) {
  const int half = threadIdx.x / 16 % 2, i = blockIdx.x * 256 + 2 * (threadIdx.x % 16) + half + threadIdx.x / 32 * 32;
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
