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

// One element of the index space, every access where its layout puts it.
__device__ __forceinline__ void element(const float *__restrict__ a_in, float *__restrict__ b_out,
    long long n_i, long long i) {
  const float a = a_in[i + 1];
  float b;
  { b = a; }
  b_out[i] = b;
}

// Each thread moves 1 x 4 neighbouring elements, in words as wide as alignment allows.
__global__ void __launch_bounds__(256)
vector(const float *__restrict__ a_in, float *__restrict__ b_out, long long n_i) {
  constexpr int kThreads = 256, kItems = 1, kVec = 4;
  constexpr int kTile = kThreads * kItems * kVec; // elements of i that a block owns
  const long long block = blockIdx.x;
  const int thread = threadIdx.x;
  const long long first = block * (long long)kTile; // of i
  if (first + kTile <= n_i) {
    float a_v[kItems * kVec];
    #pragma unroll
    for (int item = 0; item < kItems; item++) {
      #pragma unroll
      for (int part = 0; part < kVec; part++) {
        const long long i = first + (item * 256 + thread) * kVec + part;
        a_v[item * kVec + part] = a_in[i + 1];
      }
    }
    #pragma unroll
    for (int item = 0; item < kItems; item++) {
      __align__(16) float b_v[kVec];
      #pragma unroll
      for (int part = 0; part < kVec; part++) {
        const float a = a_v[item * kVec + part];
        float b;
        { b = a; }
        b_v[part] = b;
      }
      const long long group_start = first + (item * 256 + thread) * kVec;
      store_words<uint4, 1>(&at<uint4>(b_out, 4 * group_start), b_v);
    }
  } else { // the last, partial tile
    for (long long i = first + thread; i < n_i; i += 256)
      element(a_in, b_out, n_i, i);
  }
}
