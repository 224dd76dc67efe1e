// Every key is an atomic operation on global memory.
__global__ void histogram(const int *key, unsigned *bins, int n) {
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += 256 * gridDim.x) {
    atomicAdd(&bins[key[i]], 1);
  }
}
