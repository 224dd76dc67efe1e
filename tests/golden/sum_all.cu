// What is reduced: a field for each value of the outputs.
struct partial {
  float total;
};
// Of no element.
__device__ __forceinline__ partial nothing() {
  return {0.0f};
}
__device__ __forceinline__ partial combine(const partial &a, const partial &b) {
  return {a.total + b.total};
}
// The partials of 32 lanes side by side as one, in each of them.
__device__ __forceinline__ partial combine_lanes(partial p) {
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2)
    p = combine(p, {__shfl_xor_sync(0xffffffffu, p.total, distance)});
  return p;
}
// Another block's partial, which is not in this SM's L1.
__device__ __forceinline__ partial partial_at(const partial *partials, long long number) {
  return {__ldcg(&partials[number].total)};
}

// The value of type T that lies `bytes` after `base`.
template <class T> __device__ __forceinline__ const T &at(const void *base, long long bytes) {
  return *reinterpret_cast<const T *>(static_cast<const char *>(base) + bytes);
}
template <class T> __device__ __forceinline__ T &at(void *base, long long bytes) {
  return *reinterpret_cast<T *>(static_cast<char *>(base) + bytes);
}

// kCount words from or to neighbouring addresses, streaming: each is used once.
template <class Word, int kCount>
__device__ __forceinline__ void load_words(void *to, const void *from) {
#pragma unroll
  for (int k = 0; k < kCount; k++)
    static_cast<Word *>(to)[k] = __ldcs(static_cast<const Word *>(from) + k);
}
template <class Word, int kCount>
__device__ __forceinline__ void store_words(void *to, const void *from) {
#pragma unroll
  for (int k = 0; k < kCount; k++)
    __stcs(static_cast<Word *>(to) + k, static_cast<const Word *>(from)[k]);
}

// What one element of the index space gives, every access where its layout puts it.
__device__ __forceinline__ partial element(const float *__restrict__ a_in,
    float *__restrict__ total_out, long long n_row, long long n_col, long long row_col) {
  const float a = __ldcs(&a_in[row_col]);
  float total;
  { total = a; }
  return partial{total};
}

// At most 4 blocks an SM; 4 x 4 elements a thread are in flight.
__global__ void __launch_bounds__(512)
reduce_all(const float *__restrict__ a_in, float *__restrict__ total_out, long long n_row,
           long long n_col, unsigned int *workspace) {
  constexpr int kThreads = 512, kItems = 4, kVec = 4;
  // elements of row_col at once: by a block
  constexpr int kTile = kThreads * kItems * kVec;
  __shared__ partial from_warps[kThreads / 32];
  const long long block = blockIdx.x;
  const int thread = threadIdx.x;
  const long long n_row_col = n_col * n_row; // they are one run everywhere
  const int shares = (int)gridDim.x; // blocks that share it all
  const int share = (int)block;
  // what blocks leave for the one that comes last, and how many have come: 0 again at the end
  unsigned int *const arrived = workspace;
  partial *const partials = reinterpret_cast<partial *>(workspace + 65536);
  partial mine = nothing();
  for (long long first = share * (long long)kTile; first + kTile <= n_row_col;
       first += shares * (long long)kTile) {
    __align__(16) float a_v[kItems * kVec];
    #pragma unroll
    for (int item = 0; item < kItems; item++) {
      const long long row_col = first + (item * 512 + thread) * kVec;
      load_words<uint4, 1>(&a_v[item * kVec], &at<uint4>(a_in, 4 * row_col));
    }
    #pragma unroll
    for (int item = 0; item < kItems; item++) {
      #pragma unroll
      for (int part = 0; part < kVec; part++) {
        const float a = a_v[item * kVec + part];
        float total;
        { total = a; }
        mine = combine(mine, partial{total});
      }
    }
  }
  for (long long row_col = n_row_col / kTile * kTile + share * 512 + thread; row_col < n_row_col;
       row_col += shares * 512)
    mine = combine(mine, element(a_in, total_out, n_row, n_col, row_col));
  mine = combine_lanes(mine);
  if (thread % 32 == 0) from_warps[thread / 32] = mine;
  __syncthreads();
  if (thread < 32) mine = combine_lanes(thread < kThreads / 32 ? from_warps[thread] : nothing());
  __shared__ bool last_block;
  if (thread == 0) {
    partials[block] = mine;
    __threadfence(); // before it counts as arrived
  }
  if (thread == 0) { // the counter goes from the last one to 0, for the next launch
    last_block = atomicInc(&arrived[0], shares - 1) == shares - 1;
  }
  __syncthreads();
  if (!last_block) return;
  __threadfence(); // what the others left is seen from here on
  mine = nothing();
  for (int other = thread; other < shares; other += kThreads)
    mine = combine(mine, partial_at(partials, other));
  mine = combine_lanes(mine);
  if (thread % 32 == 0) from_warps[thread / 32] = mine;
  __syncthreads();
  if (thread < 32) mine = combine_lanes(thread < kThreads / 32 ? from_warps[thread] : nothing());
  if (thread == 0) {
    __stcs(&total_out[0], mine.total);
  }
}
