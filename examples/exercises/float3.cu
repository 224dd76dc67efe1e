// Each thread has a record of three floats: none of its accesses is next to its neighbour's.
__global__ void increment(const float *in, float *out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    out[3 * i] = in[3 * i] + 1.0f;
    out[3 * i + 1] = in[3 * i + 1] + 1.0f;
    out[3 * i + 2] = in[3 * i + 2] + 1.0f;
  }
}
