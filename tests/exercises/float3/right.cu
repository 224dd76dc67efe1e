// The records are one flat array of floats: neighbouring threads have neighbouring floats.
__global__ void increment(const float *in, float *out, int n) {
  for (int k = 0; k < 3; k++) {
    const int i = (3 * blockIdx.x + k) * blockDim.x + threadIdx.x;
    if (i < 3 * n) {
      out[i] = in[i] + 1.0f;
    }
  }
}
