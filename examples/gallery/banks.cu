// Each warp reads a column of a tile of T in shared memory whose rows are `pitch` elements apart.
template <typename T> __global__ void column(T *out, int pitch) {
  extern __shared__ char bytes[];
  T *tile = (T *)bytes;
  for (int i = threadIdx.x; i < 32 * pitch; i += 32) {
    tile[i] = i;
  }
  __syncthreads();
  out[blockIdx.x * 32 + threadIdx.x] = tile[threadIdx.x * pitch];
}
