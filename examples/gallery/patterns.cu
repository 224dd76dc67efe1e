// One load of a float a thread, in five ways.
__global__ void strided(const float *in, float *out, int stride, int shift) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i * stride + shift];
}
__global__ void broadcast(const float *in, float *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[blockIdx.x];
}
