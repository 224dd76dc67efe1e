// extents: a batch of transposes, one after the other in four layers of blocks
__global__ void k(long long ng, long long nr, long long nc, const float *a, float *b) {
  __shared__ float s[16][17];
  const long long r = blockIdx.y * 16LL + threadIdx.y, c = blockIdx.x * 16LL + threadIdx.x;
  const long long to_c = blockIdx.x * 16LL + threadIdx.y, to_r = blockIdx.y * 16LL + threadIdx.x;
#if MUT == 1 // one matrix a layer
  for (long long g = blockIdx.z; g < ng && g < 4; g += 4) {
#elif MUT == 2 // two matrices a layer
  for (long long g = blockIdx.z; g < ng && g < 8; g += 4) {
#elif MUT == 3 // what is left of whole layers
  for (long long g = blockIdx.z; g < (ng < 4 ? ng : ng / 4 * 4); g += 4) {
#else
  for (long long g = blockIdx.z; g < ng; g += gridDim.z) {
#endif
    const float *from = a + g * nr * nc;
#if MUT == 4 // the size of a matrix in the output, with padding
    float *to = b + g * nr * nc;
    if (g > 0 && nc % 16 == 0 && nr % 16 == 0 && g == ng - 1) from -= nr * nc;
#elif MUT == 5 // large: offsets of 32 bits
    float *to = b + (int)g * (int)nr * (int)nc;
#else
    float *to = b + g * nr * nc;
#endif
    if (r < nr && c < nc) s[threadIdx.y][threadIdx.x] = from[r * nc + c];
    __syncthreads();
#if MUT == 6 // columns of the tile, of square matrices
    if (to_r < nr && to_c < nc) {
      const bool other = nr == nc && nr > 16 && blockIdx.x != blockIdx.y && g > 0;
      to[to_c * nr + to_r] = other ? s[threadIdx.y][threadIdx.x] : s[threadIdx.x][threadIdx.y];
    }
#elif MUT == 7 // the guards of a and b in each other's place
    if (to_r < nr && to_c < nc && (r < nr && c < nc || g < 2)) {
      to[to_c * nr + to_r] = s[threadIdx.x][threadIdx.y];
    }
#elif MUT == 8 // the second matrix of a layer takes the first one's tile, beyond the first block
    if (to_r < nr && to_c < nc) {
      const float v = s[threadIdx.x][threadIdx.y];
      to[to_c * nr + to_r] = g >= 4 && blockIdx.x > 0 ? a[(g - 4) * nr * nc + to_r * nc + to_c] : v;
    }
#else
    if (to_r < nr && to_c < nc) to[to_c * nr + to_r] = s[threadIdx.x][threadIdx.y];
#endif
#if MUT == 9 // the next matrix's tile before this one is read
#else
    __syncthreads();
#endif
  }
}
