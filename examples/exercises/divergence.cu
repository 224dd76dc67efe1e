// Even elements take one series, odd ones another: every warp goes through both.
__global__ void series(const float *in, float *out, int n) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= n) {
    return;
  }
  float v = in[i];
  if (i % 2 == 0) {
    for (int k = 0; k < 24; k++) {
      v = v * 0.5f + 0.25f;
    }
  } else {
    for (int k = 0; k < 24; k++) {
      v = 0.5f - v * 0.5f;
    }
  }
  out[i] = v;
}
