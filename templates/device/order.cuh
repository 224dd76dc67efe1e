// Calls `take` in each lane of the warp whose `at` is not `none`: in lanes of the same `at` one
// after the other, in the order of their numbers. All lanes of the warp come here.
template <class Take>
__device__ __forceinline__ void in_order(unsigned int at, unsigned int none, const Take &take) {
  const unsigned int same = __match_any_sync(0xffffffffu, at);
  const int turn = at == none ? -1 : __popc(same & ((1u << threadIdx.x % 32) - 1));
  for (int now = 0; __any_sync(0xffffffffu, now <= turn); now++) {
    if (now == turn)
      take();
    __syncwarp();
  }
}
