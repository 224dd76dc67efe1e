// What devices of compute capability 1.x ask of a warp's accesses.
__global__ void in_order(const float *in, float *out, int shift) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i + shift];
}
__global__ void swapped(const float *in, float *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i ^ 1];
}
struct point {
  float x, y, z;
};
__global__ void direct(const point *in, point *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  point p = in[i];
  p.x += 1;
  p.y += 1;
  p.z += 1;
  out[i] = p;
}
__global__ void through_shared(const float *in, float *out) {
  __shared__ float s[3 * 256];
  int first = blockIdx.x * 3 * 256 + threadIdx.x;
  for (int k = 0; k < 3; k++) {
    s[threadIdx.x + 256 * k] = in[first + 256 * k];
  }
  __syncthreads();
  for (int k = 0; k < 3; k++) {
    s[3 * threadIdx.x + k] += 1;
  }
  __syncthreads();
  for (int k = 0; k < 3; k++) {
    out[first + 256 * k] = s[threadIdx.x + 256 * k];
  }
}
