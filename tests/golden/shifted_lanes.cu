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
// around them; they lie kRest bytes off a word, or -1: it shows here. The last comes from the next
// lane, whose words follow; all lanes of the warp take part.
template <int kCount, int kRest, bool kBits>
__device__ __forceinline__ void share_shifted(void *to, const void *base, long long bytes) {
  const int rest = kRest < 0 ? (int)(bytes & 15) : kRest;
  const uint4 *const from = &at<uint4>(base, bytes - rest);
  uint4 word[kCount + 1];
#pragma unroll
  for (int k = 0; k < kCount; k++)
    word[k] = __ldcs(from + k);
  uint4 next = word[0]; // as much of it as is needed
  if (kRest != 0) next.x = __shfl_down_sync(0xffffffff, next.x, 1);
  if (kRest < 0 || kRest > 4) next.y = __shfl_down_sync(0xffffffff, next.y, 1);
  if (kRest < 0 || kRest > 8) next.z = __shfl_down_sync(0xffffffff, next.z, 1);
  if (kRest < 0 || kRest > 12) next.w = __shfl_down_sync(0xffffffff, next.w, 1);
  if (threadIdx.x % 32 == 31 && rest > 0) next = __ldcs(from + kCount);
  word[kCount] = next;
#pragma unroll
  for (int k = 0; k < kCount; k++)
    static_cast<uint4 *>(to)[k] = realigned<kBits>(word[k], word[k + 1], rest);
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
__device__ __forceinline__ void element(const float *__restrict__ a_in, float *__restrict__ b_out,
    long long n_i, long long i) {
  const float a = __ldcs(&a_in[i + 1]);
  float b;
  { b = a; }
  __stcs(&b_out[i], b);
}

// Each thread moves 2 x 4 neighbouring elements; inputs that lie off a word or skip elements are
// read by the aligned words around them.
__global__ void __launch_bounds__(128)
shift(const float *__restrict__ a_in, float *__restrict__ b_out, long long n_i) {
  constexpr int kThreads = 128, kItems = 2, kVec = 4;
  constexpr int kTile = kThreads * kItems * kVec; // elements of i that a block owns
  const long long block = blockIdx.x;
  const int thread = threadIdx.x;
  const long long first = block * (long long)kTile; // of i
  if (first + kTile <= n_i && (first >> 2) + 256 < ((n_i + 1) >> 2)) {
    __align__(16) float a_v[kItems * kVec];
    #pragma unroll
    for (int item = 0; item < kItems; item++) {
      const long long i = first + (item * 128 + thread) * kVec;
      share_shifted<1, 4, false>(&a_v[item * kVec], a_in, 4 * i + 4);
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
      const long long group_start = first + (item * 128 + thread) * kVec;
      store_words<uint4, 1>(&at<uint4>(b_out, 4 * group_start), b_v);
    }
  } else { // the last, partial tile
    for (long long i = first + thread; i < n_i; i += 128)
      element(a_in, b_out, n_i, i);
  }
}
