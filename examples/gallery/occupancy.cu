// Reverses each block's elements in shared memory, of which the launch gives more than it needs.
__global__ void reverse(const float *in, float *out) {
  extern __shared__ float s[];
  int first = blockIdx.x * blockDim.x;
  s[threadIdx.x] = in[first + threadIdx.x];
  __syncthreads();
  out[first + threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
}
