// The value of type T that lies `bytes` after `base`.
template <class T> __device__ __forceinline__ const T &at(const void *base, long long bytes) {
  return *reinterpret_cast<const T *>(static_cast<const char *>(base) + bytes);
}
template <class T> __device__ __forceinline__ T &at(void *base, long long bytes) {
  return *reinterpret_cast<T *>(static_cast<char *>(base) + bytes);
}

// 16 bytes that start `rest` bytes after the first of two neighbouring aligned words; kBits: off a
// word of 4 bytes, too.
template <bool kBits>
__device__ __forceinline__ uint4 realigned(uint4 low, uint4 high, int rest) {
  unsigned int part[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
#pragma unroll
  for (int k = 0; k < 6; k++)
    part[k] = rest & 8 ? part[k + 2] : part[k];
#pragma unroll
  for (int k = 0; k < 5; k++)
    part[k] = rest & 4 ? part[k + 1] : part[k];
#pragma unroll
  for (int k = 0; k < 4; k++)
    part[k] = kBits ? __funnelshift_r(part[k], part[k + 1], rest % 4 * 8) : part[k];
  return make_uint4(part[0], part[1], part[2], part[3]);
}

// kCount words of 16 bytes that start `bytes` after the aligned `base`, from the aligned words
// around them; they lie kRest bytes off a word, or -1: it shows here. L1 has the last word for the
// next lane.
template <int kCount, int kRest, bool kBits>
__device__ __forceinline__ void load_shifted(void *to, const void *base, long long bytes) {
  const int rest = kRest < 0 ? (int)(bytes & 15) : kRest;
  const uint4 *const from = &at<uint4>(base, bytes - rest);
  uint4 word[kCount + 1];
#pragma unroll
  for (int k = 0; k < kCount; k++)
    word[k] = __ldg(from + k);
  word[kCount] = rest > 0 ? __ldg(from + kCount) : word[0];
#pragma unroll
  for (int k = 0; k < kCount; k++)
    static_cast<uint4 *>(to)[k] = realigned<kBits>(word[k], word[k + 1], rest);
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
__device__ __forceinline__ void element(const unsigned char *__restrict__ a_in,
    unsigned char *__restrict__ b_out, long long n_i, long long i) {
  const unsigned char a = a_in[i + 1];
  unsigned char b;
  { b = a; }
  b_out[i] = b;
}

// Each thread moves 1 x 16 neighbouring elements; inputs that lie off a word or skip elements are
// read by the aligned words around them.
__global__ void __launch_bounds__(256)
shift(const unsigned char *__restrict__ a_in, unsigned char *__restrict__ b_out, long long n_i) {
  constexpr int kThreads = 256, kItems = 1, kVec = 16;
  constexpr int kTile = kThreads * kItems * kVec; // elements of i that a block owns
  const long long block = blockIdx.x;
  const int thread = threadIdx.x;
  const long long first = block * (long long)kTile; // of i
  if (first + kTile <= n_i && (first >> 4) + 256 < ((n_i + 1) >> 4)) {
    __align__(16) unsigned char a_v[kItems * kVec];
    #pragma unroll
    for (int item = 0; item < kItems; item++) {
      const long long i = first + (item * 256 + thread) * kVec;
      load_shifted<1, 1, true>(&a_v[item * kVec], a_in, i + 1);
    }
    #pragma unroll
    for (int item = 0; item < kItems; item++) {
      __align__(16) unsigned char b_v[kVec];
      #pragma unroll
      for (int part = 0; part < kVec; part++) {
        const unsigned char a = a_v[item * kVec + part];
        unsigned char b;
        { b = a; }
        b_v[part] = b;
      }
      const long long group_start = first + (item * 256 + thread) * kVec;
      store_words<uint4, 1>(&at<uint4>(b_out, group_start), b_v);
    }
  } else { // the last, partial tile
    for (long long i = first + thread; i < n_i; i += 256)
      element(a_in, b_out, n_i, i);
  }
}
