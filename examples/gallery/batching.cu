// A copy by few warps: N loads of a thread are on their way before the first is needed.
template <int N> __global__ void copy(const float *in, float *out) {
  int first = blockIdx.x * blockDim.x * N + threadIdx.x;
  float v[N];
#pragma unroll
  for (int k = 0; k < N; k++) {
    v[k] = in[first + k * blockDim.x];
  }
#pragma unroll
  for (int k = 0; k < N; k++) {
    out[first + k * blockDim.x] = v[k];
  }
}
