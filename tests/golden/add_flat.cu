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
__device__ __forceinline__ void element(const double *__restrict__ a_in,
    double *__restrict__ b_out, double k, long long n_i, long long scalar) {
  const double a = __ldcs(&a_in[scalar]);
  double b;
  { b = a + k; }
  __stcs(&b_out[scalar], b);
}

// Components are treated alike, so records vanish: a map over all scalars, 4 x 2 a thread.
__global__ void __launch_bounds__(256)
flat(const double *__restrict__ a_in, double *__restrict__ b_out, double k, long long n_i) {
  constexpr int kThreads = 256, kItems = 4, kVec = 2;
  constexpr int kTile = kThreads * kItems * kVec; // elements of scalar that a block owns
  const long long block = blockIdx.x;
  const int thread = threadIdx.x;
  const long long n_scalar = 3 * n_i;
  const long long first = block * (long long)kTile; // of scalar
  if (first + kTile <= n_scalar) {
    __align__(16) double a_v[kItems * kVec];
    #pragma unroll
    for (int item = 0; item < kItems; item++) {
      const long long scalar = first + (item * 256 + thread) * kVec;
      load_words<uint4, 1>(&a_v[item * kVec], &at<uint4>(a_in, 8 * scalar));
    }
    #pragma unroll
    for (int item = 0; item < kItems; item++) {
      __align__(16) double b_v[kVec];
      #pragma unroll
      for (int part = 0; part < kVec; part++) {
        const double a = a_v[item * kVec + part];
        double b;
        { b = a + k; }
        b_v[part] = b;
      }
      const long long group_start = first + (item * 256 + thread) * kVec;
      store_words<uint4, 1>(&at<uint4>(b_out, 8 * group_start), b_v);
    }
  } else { // the last, partial tile
    for (long long scalar = first + thread; scalar < n_scalar; scalar += 256)
      element(a_in, b_out, k, n_i, scalar);
  }
}
