// What is reduced: a field for each value of the outputs.
struct partial {
  float top;
};
// Of no element.
__device__ __forceinline__ partial nothing() {
  return {-__int_as_float(0x7f800000)};
}
__device__ __forceinline__ partial combine(const partial &a, const partial &b) {
  return {fmaxf(a.top, b.top)};
}
// The partials of 8 lanes side by side as one, in each of them.
__device__ __forceinline__ partial combine_lanes(partial p) {
#pragma unroll
  for (int distance = 4; distance > 0; distance /= 2)
    p = combine(p, {__shfl_xor_sync(0xffffffffu, p.top, distance)});
  return p;
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
    float *__restrict__ top_out, long long n_row, long long n_col, long long row, long long col) {
  const float a = __ldcs(&a_in[n_col * row + col]);
  float top;
  { top = a; }
  return partial{top};
}

// 8 lanes an output element; 2 x 4 elements of col a thread are in flight.
__global__ void __launch_bounds__(256)
reduce_rows(const float *__restrict__ a_in, float *__restrict__ top_out, long long n_row,
            long long n_col) {
  constexpr int kThreads = 256, kItems = 2, kVec = 4;
  // elements of col at once: by 8 lanes
  constexpr int kTile = 8 * kItems * kVec;
  const long long block = blockIdx.x;
  const int thread = threadIdx.x;
  const int lane = thread % 8;
  const long long team = block * 32 + thread / 8; // 8 lanes each on its own
  const long long row = team;
  partial mine = nothing();
  if (team < n_row) {
    for (long long first = 0; first + kTile <= n_col;
         first += kTile) {
      __align__(16) float a_v[kItems * kVec];
      #pragma unroll
      for (int item = 0; item < kItems; item++) {
        const long long col = first + (item * 8 + lane) * kVec;
        load_words<uint4, 1>(&a_v[item * kVec], &at<uint4>(a_in, 4 * n_col * row + 4 * col));
      }
      #pragma unroll
      for (int item = 0; item < kItems; item++) {
        #pragma unroll
        for (int part = 0; part < kVec; part++) {
          const float a = a_v[item * kVec + part];
          float top;
          { top = a; }
          mine = combine(mine, partial{top});
        }
      }
    }
    for (long long col = n_col / kTile * kTile + lane; col < n_col;
         col += 8)
      mine = combine(mine, element(a_in, top_out, n_row, n_col, row, col));
  }
  mine = combine_lanes(mine);
  if (lane == 0 && team < n_row) {
    __stcs(&top_out[row], mine.top);
  }
}
