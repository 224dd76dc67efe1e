// Two kinds of work; which one a thread has is decided by thread, or by warp.
__global__ void work(const float *in, float *out, int shift) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = in[i];
  if (i >> shift & 1) {
    for (int k = 0; k < 64; k++) {
      v = v * v + 1.0f;
    }
  } else {
    for (int k = 0; k < 64; k++) {
      v = v * 0.5f - 1.0f;
    }
  }
  out[i] = v;
}
