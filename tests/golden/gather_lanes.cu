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

// One element of the index space, every access where its layout puts it.
__device__ __forceinline__ void element(const int *__restrict__ pick_in,
    const float4 *__restrict__ table_in, float4 *__restrict__ b_out, long long n_i, long long n_m,
    long long i, long long unit) {
  const long long pick = pick_in[i];
  const float4 table = table_in[4 * pick + unit];
  float4 b;
  { b = table; }
  __stcs(&b_out[4 * i + unit], b);
}

// 4 lanes share a row and move 16 bytes each; a team of them has 4 rows on their way.
__global__ void __launch_bounds__(256)
gather(const int *__restrict__ pick_in, const float4 *__restrict__ table_in,
       float4 *__restrict__ b_out, long long n_i, long long n_m) {
  constexpr int kThreads = 256, kLanes = 4, kItems = 4;
  constexpr int kTeams = kThreads / kLanes, kTile = kTeams * kItems; // rows that a block owns
  const long long block = blockIdx.x;
  const int thread = threadIdx.x;
  const int team = thread / kLanes, lane = thread % kLanes; // the lanes of a team share a row
  const long long first = block * (long long)kTile;
  if (first + kTile <= n_i) {
    const int start = lane;
    __align__(16) int pick_v[kItems];
    {
      const long long i = first + team * kItems;
      load_words<uint4, 1>(pick_v, &at<uint4>(pick_in, 4 * i));
    }
    float4 table_v[kItems];
    #pragma unroll
    for (int item = 0; item < kItems; item++) {
      const long long unit = start;
      const long long pick = pick_v[item];
      table_v[item] = table_in[4 * pick + unit];
    }
    #pragma unroll
    for (int item = 0; item < kItems; item++) {
      const long long i = first + team * kItems + item;
      const long long unit = start;
      const float4 table = table_v[item];
      float4 b;
      { b = table; }
      __stcs(&b_out[4 * i + unit], b);
    }
  } else { // the last, partial tile
    #pragma unroll 1
    for (long long i = first + team; i < n_i; i += kTeams)
    #pragma unroll 1
      for (long long unit = lane; unit < 4; unit += kLanes)
        element(pick_in, table_in, b_out, n_i, n_m, i, unit);
  }
}
