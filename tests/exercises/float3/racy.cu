// A block brings its records to shared memory as so many floats.
__global__ void increment(const float *in, float *out, int n) {
  __shared__ float s[3 * 256];
  const int first = 3 * 256 * blockIdx.x, t = threadIdx.x;
  for (int k = 0; k < 3; k++) {
    if (first + 256 * k + t < 3 * n) {
      s[256 * k + t] = in[first + 256 * k + t];
    }
  }
  for (int k = 0; k < 3; k++) {
    s[3 * t + k] += 1.0f;
  }
  __syncthreads();
  for (int k = 0; k < 3; k++) {
    if (first + 256 * k + t < 3 * n) {
      out[first + 256 * k + t] = s[256 * k + t];
    }
  }
}
