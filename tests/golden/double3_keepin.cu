// A policy of L2: lines that are moved by it leave it last.
__device__ __forceinline__ unsigned long long lasting_policy() {
  unsigned long long policy;
  asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}

// A value of 1 to 16 bytes, whose line L2 keeps while those that are written leave.
template <class T> __device__ __forceinline__ T load_lasting(const T *from) {
  union { T value; unsigned int word[4]; unsigned short half; } u;
  const size_t at = __cvta_generic_to_global(from);
  if (sizeof(T) == 16)
    asm volatile("ld.global.nc.L2::cache_hint.v4.b32 {%0, %1, %2, %3}, [%4], %5;"
        : "=r"(u.word[0]), "=r"(u.word[1]), "=r"(u.word[2]), "=r"(u.word[3])
        : "l"(at), "l"(lasting_policy()));
  else if (sizeof(T) == 8)
    asm volatile("ld.global.nc.L2::cache_hint.v2.b32 {%0, %1}, [%2], %3;"
        : "=r"(u.word[0]), "=r"(u.word[1]) : "l"(at), "l"(lasting_policy()));
  else if (sizeof(T) == 4)
    asm volatile("ld.global.nc.L2::cache_hint.b32 %0, [%1], %2;"
        : "=r"(u.word[0]) : "l"(at), "l"(lasting_policy()));
  else if (sizeof(T) == 2)
    asm volatile("ld.global.nc.L2::cache_hint.b16 %0, [%1], %2;"
        : "=h"(u.half) : "l"(at), "l"(lasting_policy()));
  else
    asm volatile("ld.global.nc.L2::cache_hint.u8 %0, [%1], %2;"
        : "=r"(u.word[0]) : "l"(at), "l"(lasting_policy()));
  return u.value;
}

// The value of type T that lies `bytes` after `base`.
template <class T> __device__ __forceinline__ const T &at(const void *base, long long bytes) {
  return *reinterpret_cast<const T *>(static_cast<const char *>(base) + bytes);
}
template <class T> __device__ __forceinline__ T &at(void *base, long long bytes) {
  return *reinterpret_cast<T *>(static_cast<char *>(base) + bytes);
}

// kCount words from or to neighbouring addresses; what is loaded stays in L2.
template <class Word, int kCount>
__device__ __forceinline__ void load_words(void *to, const void *from) {
#pragma unroll
  for (int k = 0; k < kCount; k++)
    static_cast<Word *>(to)[k] = load_lasting(static_cast<const Word *>(from) + k);
}
template <class Word, int kCount>
__device__ __forceinline__ void store_words(void *to, const void *from) {
#pragma unroll
  for (int k = 0; k < kCount; k++)
    __stwb(static_cast<Word *>(to) + k, static_cast<const Word *>(from)[k]);
}

// One element of the index space, every access where its layout puts it.
__device__ __forceinline__ void element(const double *__restrict__ a_in,
    double *__restrict__ b_out, double k, long long n_i, long long scalar) {
  const double a = load_lasting(&a_in[scalar]);
  double b;
  { b = a + k; }
  b_out[scalar] = b;
}

// Components are treated alike, so records vanish: a map over all scalars, 1 x 2 a thread.
__global__ void __launch_bounds__(128)
flat(const double *__restrict__ a_in, double *__restrict__ b_out, double k, long long n_i) {
  constexpr int kThreads = 128, kItems = 1, kVec = 2;
  constexpr int kTile = kThreads * kItems * kVec; // elements of scalar that a block owns
  const long long block = blockIdx.x;
  const int thread = threadIdx.x;
  const long long n_scalar = 3 * n_i;
  const long long first = block * (long long)kTile; // of scalar
  if (first + kTile <= n_scalar) {
    __align__(16) double a_v[kItems * kVec];
    #pragma unroll
    for (int item = 0; item < kItems; item++) {
      const long long scalar = first + (item * 128 + thread) * kVec;
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
      const long long group_start = first + (item * 128 + thread) * kVec;
      store_words<uint4, 1>(&at<uint4>(b_out, 8 * group_start), b_v);
    }
  } else { // the last, partial tile
    for (long long scalar = first + thread; scalar < n_scalar; scalar += 128)
      element(a_in, b_out, k, n_i, scalar);
  }
}
