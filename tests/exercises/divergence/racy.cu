// Through shared memory, so that stores are coalesced; but some read before all have written.
__global__ void series(const float *in, float *out, int n) {
  __shared__ float s[256];
  const int half = threadIdx.x / 128, at = 2 * (threadIdx.x % 128) + half;
  const int first = blockIdx.x * 256;
  float v = first + at < n ? in[first + at] : 0.0f;
  if (half == 0) {
    for (int k = 0; k < 24; k++) {
      v = v * 0.5f + 0.25f;
    }
  } else {
    for (int k = 0; k < 24; k++) {
      v = 0.5f - v * 0.5f;
    }
  }
  s[at] = v;
  if (first + threadIdx.x < n) {
    out[first + threadIdx.x] = s[threadIdx.x];
  }
}
