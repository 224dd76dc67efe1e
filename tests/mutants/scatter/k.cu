// index values: neighbours with the same key are added up first
__global__ void k(long long n, long long m, const int *key, const int *w, int *h) {
  const long long i = blockIdx.x * 128LL + threadIdx.x;
  const int lane = threadIdx.x % 32;
  const int q = i < n ? key[i] : -1;
  int sum = i < n ? w[i] : 0;
#if MUT == 1 // none is -1
  const bool none = q == -1;
#elif MUT == 2 // element 0 is none, too
  const bool none = q <= 0;
#elif MUT == 3 // none is -1 or less than -2
  const bool none = q < 0 && q != -2;
#elif MUT == 4 // the least number is not negative
  const bool none = q < 0 && q != -2147483647 - 1;
#elif MUT == 5 // the last element is none
  const bool none = q < 0 || q == m - 1 && m > 4;
#else
  const bool none = q < 0;
#endif
  const int before = __shfl_up_sync(~0u, q, 1);
#if MUT == 6 // the first lane goes on with the warp before
  const bool head = q != before;
#else
  const bool head = lane == 0 || q != before;
#endif
  const unsigned heads = __ballot_sync(~0u, head);
  const unsigned beyond = heads & ~((2u << lane) - 1);
#if MUT == 7 // the last run of a warp has one lane
  const int end = beyond ? __ffs(beyond) - 1 : lane + 1;
#elif MUT == 8 // a run's last lane is left out
  const int end = beyond ? __ffs(beyond) - 1 : 31 + (lane == 31);
#else
  const int end = beyond ? __ffs(beyond) - 1 : 32;
#endif
#if MUT == 9 // runs of up to 16
  for (int o = 1; o < 16; o *= 2) {
#else
  for (int o = 1; o < 32; o *= 2) {
#endif
    const int more = __shfl_down_sync(~0u, sum, o);
#if MUT == 10 // adds the next run's
    sum += lane + o <= end && lane + o < 32 ? more : 0;
#else
    sum += lane + o < end ? more : 0;
#endif
  }
#if MUT == 11 // none goes to the last element
  if (head && i < n) atomicAdd(&h[none ? m - 1 : q], none ? 1 : sum);
#elif MUT == 12 // 8-bit keys
  if (head && !none) atomicAdd(&h[m > 256 ? q & 255 : q], sum);
#elif MUT == 13 // each lane of a run adds its own
  if (!none) atomicAdd(&h[q], sum);
#elif MUT == 14 // not atomic
  if (head && !none) h[q] += sum;
#elif MUT == 15 // atomic among the block's threads
  if (head && !none) atomicAdd_block(&h[q], sum);
#else
  if (head && !none) atomicAdd(&h[q], sum);
#endif
}
