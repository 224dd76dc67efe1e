struct f16 {
  unsigned short bits;
};
struct item {
  float w;
  f16 h;
};

// One element a thread; fields one after the other.
__global__ void __launch_bounds__(128) scale_kernel(const unsigned char *__restrict__ p_in, unsigned char *__restrict__ q_out, f16 k, float s, long long n_i) {
  const long long i = blockIdx.x * 128LL + threadIdx.x;
  if (i >= n_i) return;
  const float w = reinterpret_cast<const float *>(p_in)[i] * s;
  f16 h = reinterpret_cast<const f16 *>(p_in + 4 * n_i)[i];
  h.bits = static_cast<unsigned short>(h.bits ^ k.bits);
  reinterpret_cast<float *>(q_out)[i] = w;
  reinterpret_cast<f16 *>(q_out + 4 * n_i)[i] = h;
}
