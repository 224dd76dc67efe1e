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

// The value of type T that lies `bytes` after `base`.
template <class T> __device__ __forceinline__ const T &at(const void *base, long long bytes) {
  return *reinterpret_cast<const T *>(static_cast<const char *>(base) + bytes);
}
template <class T> __device__ __forceinline__ T &at(void *base, long long bytes) {
  return *reinterpret_cast<T *>(static_cast<char *>(base) + bytes);
}

// kCount words from or to neighbouring addresses.
template <class Word, int kCount>
__device__ __forceinline__ void load_words(void *to, const void *from) {
#pragma unroll
  for (int k = 0; k < kCount; k++)
    static_cast<Word *>(to)[k] = static_cast<const Word *>(from)[k];
}
template <class Word, int kCount>
__device__ __forceinline__ void store_words(void *to, const void *from) {
#pragma unroll
  for (int k = 0; k < kCount; k++)
    __stwb(static_cast<Word *>(to) + k, static_cast<const Word *>(from)[k]);
}

// What one element of the index space gives, every access where its layout puts it.
__device__ __forceinline__ partial element(const float *__restrict__ a_in,
    float *__restrict__ total_out, long long n_row, long long n_col, long long row, long long col) {
  const float a = a_in[n_col * row + col];
  float total;
  { total = a; }
  return partial{total};
}

// A block an output element; 4 x 4 elements of col a thread are in flight.
__global__ void __launch_bounds__(256)
reduce_rows(const float *__restrict__ a_in, float *__restrict__ total_out, long long n_row,
            long long n_col) {
  constexpr int kThreads = 256, kItems = 4, kVec = 4;
  // elements of col at once: by a block
  constexpr int kTile = kThreads * kItems * kVec;
  __shared__ partial from_warps[kThreads / 32];
  const long long block = blockIdx.x;
  const int thread = threadIdx.x;
  const long long row = block;
  partial mine = nothing();
  for (long long first = 0; first + kTile <= n_col;
       first += kTile) {
    __align__(16) float a_v[kItems * kVec];
    #pragma unroll
    for (int item = 0; item < kItems; item++) {
      const long long col = first + (item * 256 + thread) * kVec;
      load_words<uint4, 1>(&a_v[item * kVec], &at<uint4>(a_in, 4 * n_col * row + 4 * col));
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
  for (long long col = n_col / kTile * kTile + thread; col < n_col;
       col += 256)
    mine = combine(mine, element(a_in, total_out, n_row, n_col, row, col));
  mine = combine_lanes(mine);
  if (thread % 32 == 0) from_warps[thread / 32] = mine;
  __syncthreads();
  if (thread < 32) mine = combine_lanes(thread < kThreads / 32 ? from_warps[thread] : nothing());
  if (thread == 0) {
    total_out[row] = mine.total;
  }
}
