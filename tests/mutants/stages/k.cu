// scopes: asynchronous copies of 4 bytes, a tile of 64 ahead, in two buffers
__device__ void copy(int *to, const int *from) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"((int)__cvta_generic_to_shared(to)),
               "l"(from) : "memory");
}
__device__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N> __device__ void wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
}
__global__ void k(long long nr, long long nc, const int *a, int *b) {
  __shared__ int s[2][64];
  const int *row = a + blockIdx.x * nc;
  const int t = threadIdx.x;
  if (t < nc) copy(&s[0][t], row + t);
  commit();
  int tile = 0;
  for (long long c = 0; c < nc; c += 64, tile++) {
#if MUT == 1 // the tile after the next
    if (c + 128 + t < nc) copy(&s[(tile + 1) % 2][t], row + c + 128 + t);
#elif MUT == 2 // without a guard
    copy(&s[(tile + 1) % 2][t], row + c + 64 + t);
#elif MUT == 3 // into the buffer that is read
    if (c + 64 + t < nc) copy(&s[tile % 2][t], row + c + 64 + t);
#else
    if (c + 64 + t < nc) copy(&s[(tile + 1) % 2][t], row + c + 64 + t);
#endif
    commit();
#if MUT == 4 // waits for nothing
#elif MUT == 5 // one group too few
    wait<2>();
#elif MUT == 6 // waits in the first iteration only
    if (tile == 0) wait<1>();
#else
    wait<1>();
#endif
#if MUT == 7 // no barrier before another thread's element is read
#else
    __syncthreads();
#endif
    const int other = 63 - t;
    if (c + other < nc) b[blockIdx.x * nc + c + other] = s[tile % 2][other] + 1;
#if MUT == 8 // no barrier before the next copy into this buffer
#elif MUT == 9 // none from the fourth tile on
    if (tile < 3) __syncthreads();
#else
    __syncthreads();
#endif
  }
}
