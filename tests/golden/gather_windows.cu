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
    const float *__restrict__ table_in, float *__restrict__ b_out, long long n_i, long long n_m,
    long long i) {
  const long long pick = __ldcs(&pick_in[i]);
  const float table = table_in[pick];
  float b;
  { b = table; }
  __stcs(&b_out[i], b);
}

// table is read in 4 parts, one after the other: what is asked for at a time lies in L2.
__global__ void __launch_bounds__(256)
windows(const int *__restrict__ pick_in, const float *__restrict__ table_in,
        float *__restrict__ b_out, long long n_i, long long n_m) {
  constexpr int kThreads = 256, kItems = 4, kVec = 4;
  constexpr int kTile = kThreads * kItems * kVec; // elements of i that a block owns
  constexpr int kWindows = 4;
  const long long block = blockIdx.x;
  const int thread = threadIdx.x;
  const long long span = (n_m + 3) >> 2;
  const long long first = block * (long long)kTile; // of i
  if (first + kTile <= n_i) {
    __align__(16) int pick_v[kItems * kVec];
    float table_v[kItems * kVec];
    #pragma unroll
    for (int item = 0; item < kItems; item++) {
      const long long i = first + (item * 256 + thread) * kVec;
      load_words<uint4, 1>(&pick_v[item * kVec], &at<uint4>(pick_in, 4 * i));
    }
    #pragma unroll 1
    for (int window = 0; window < kWindows; window++) {
      const long long low = window * span; // of table's places
      #pragma unroll
      for (int item = 0; item < kItems; item++) {
        #pragma unroll
        for (int part = 0; part < kVec; part++) {
          const long long pick = pick_v[item * kVec + part];
          if ((unsigned long long)(pick - low) < (unsigned long long)span) {
            table_v[item * kVec + part] = table_in[pick];
          }
        }
      }
    }
    #pragma unroll
    for (int item = 0; item < kItems; item++) {
      __align__(16) float b_v[kVec];
      #pragma unroll
      for (int part = 0; part < kVec; part++) {
        const float table = table_v[item * kVec + part];
        float b;
        { b = table; }
        b_v[part] = b;
      }
      const long long group_start = first + (item * 256 + thread) * kVec;
      store_words<uint4, 1>(&at<uint4>(b_out, 4 * group_start), b_v);
    }
  } else { // the last, partial tile
    for (long long i = first + thread; i < n_i; i += 256)
      element(pick_in, table_in, b_out, n_i, n_m, i);
  }
}
