// The alignment of so many bytes of neighbouring T's: that of the word they fill, at most 16 or a
// T's. One value, as nvcc takes the last of several alignas and not the strictest.
template <class T> constexpr int vec_align(int bytes) {
  return (bytes & -bytes) < 16 ? bytes & -bytes : alignof(T) < 16 ? 16 : alignof(T);
}

// kCount neighbouring elements in registers.
template <class T, int kCount>
struct alignas(vec_align<T>((int)sizeof(T) * kCount)) vec {
  T element[kCount];
  __device__ __forceinline__ T &operator[](int k) { return element[k]; }
  __device__ __forceinline__ const T &operator[](int k) const { return element[k]; }
};

// The first `count` elements of a vector whose others lie outside the array: those are zero.
template <class T, int kCount>
__device__ __forceinline__ vec<T, kCount> load_some(const T *from, long long count) {
  vec<T, kCount> v = {};
#pragma unroll
  for (int k = 0; k < kCount; k++)
    if (k < count)
      v[k] = from[k];
  return v;
}

// The first `count` elements of a vector whose others lie outside the array.
template <class T, int kCount>
__device__ __forceinline__ void store_some(T *to, const vec<T, kCount> &v, long long count) {
#pragma unroll
  for (int k = 0; k < kCount; k++)
    if (k < count)
      to[k] = v[k];
}

// The type of a word of kBytes, which one instruction loads or stores.
template <int kBytes> struct word_of;
template <> struct word_of<1> { using type = unsigned char; };
template <> struct word_of<2> { using type = unsigned short; };
template <> struct word_of<4> { using type = unsigned int; };
template <> struct word_of<8> { using type = uint2; };
template <> struct word_of<16> { using type = uint4; };

// The bytes of the words that a T is moved in: as its type's alignment promises.
template <class T> __host__ __device__ constexpr int word_bytes() {
  return alignof(T) < 16 ? alignof(T) : 16;
}

// A policy of L2: lines that are moved by it leave it last.
__device__ __forceinline__ unsigned long long evict_last_policy() {
  unsigned long long policy;
  asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}

// A word, by a policy of L2. Volatile: others are moved out of loops and of conditions.
__device__ __forceinline__ void load_word(unsigned char &w, size_t from,
                                          unsigned long long policy) {
  unsigned int wide;
  asm volatile("ld.global.nc.L2::cache_hint.u8 %0, [%1], %2;"
               : "=r"(wide) : "l"(from), "l"(policy));
  w = wide;
}
__device__ __forceinline__ void load_word(unsigned short &w, size_t from,
                                          unsigned long long policy) {
  asm volatile("ld.global.nc.L2::cache_hint.b16 %0, [%1], %2;" : "=h"(w) : "l"(from), "l"(policy));
}
__device__ __forceinline__ void load_word(unsigned int &w, size_t from, unsigned long long policy) {
  asm volatile("ld.global.nc.L2::cache_hint.b32 %0, [%1], %2;" : "=r"(w) : "l"(from), "l"(policy));
}
__device__ __forceinline__ void load_word(uint2 &w, size_t from, unsigned long long policy) {
  asm volatile("ld.global.nc.L2::cache_hint.v2.b32 {%0, %1}, [%2], %3;"
               : "=r"(w.x), "=r"(w.y) : "l"(from), "l"(policy));
}
__device__ __forceinline__ void load_word(uint4 &w, size_t from, unsigned long long policy) {
  asm volatile("ld.global.nc.L2::cache_hint.v4.b32 {%0, %1, %2, %3}, [%4], %5;"
               : "=r"(w.x), "=r"(w.y), "=r"(w.z), "=r"(w.w) : "l"(from), "l"(policy));
}

// A T in whole words, whose lines L2 gives up last.
template <class T, int kWord = word_bytes<T>()>
__device__ __forceinline__ T load_evict_last(const void *from) {
  using word = typename word_of<kWord>::type;
  T value;
#pragma unroll
  for (int k = 0; k < sizeof(T) / kWord; k++)
    load_word(reinterpret_cast<word *>(&value)[k],
              __cvta_generic_to_global(static_cast<const word *>(from) + k), evict_last_policy());
  return value;
}

// A T in whole words. __stwb, as assignments of words may be split into stores of their parts.
template <int kWord = 0, class T>
__device__ __forceinline__ void store(void *to, const T &value) {
  constexpr int kBytes = kWord > 0 ? kWord : word_bytes<T>();
  using word = typename word_of<kBytes>::type;
#pragma unroll
  for (int k = 0; k < sizeof(T) / kBytes; k++)
    __stwb(static_cast<word *>(to) + k, reinterpret_cast<const word *>(&value)[k]);
}

constexpr int kThreads = 256;
constexpr int kItems = 2; // vectors of a thread, whose loads are all in flight
constexpr int kVec = 2; // elements of a vector: neighbours along scalar
constexpr int kTile = kThreads * kItems; // vectors of a tile

// What is computed for one element.
__device__ __forceinline__ void compute(double a, double k, double &b) {
  b = a + k;
}

// Moves the tile that starts with vector `first` of all `vectors`; `rank`: the thread's among those
// that share it. kWhole: all of the tile's vectors lie inside the arrays.
template <bool kWhole>
__device__ __forceinline__ void move_tile(
    const double *__restrict__ a, double *__restrict__ b, double k, long long n_i,
    long long first, long long vectors, int rank) {
  // in: all loads before the first use
  vec<double, kVec> a_v[kItems];
#pragma unroll
  for (int item = 0; item < kItems; item++) {
    const long long vector = first + item * kThreads + rank;
    if (!kWhole && vector >= vectors) break;
    const long long scalar = vector * kVec;
    a_v[item] = kWhole || kVec <= 3 * n_i - scalar
        ? load_evict_last<vec<double, kVec>, 16>(&a[scalar])
        : load_some<double, kVec>(&a[scalar], 3 * n_i - scalar);
  }

  // compute and store
#pragma unroll
  for (int item = 0; item < kItems; item++) {
    const long long vector = first + item * kThreads + rank;
    if (!kWhole && vector >= vectors) break;
    const long long scalar = vector * kVec;
    vec<double, kVec> b_v;
#pragma unroll
    for (int e = 0; e < kVec; e++) {
      compute(a_v[item][e], k, b_v[e]);
    }
    if (kWhole || kVec <= 3 * n_i - scalar) {
      store<16>(&b[scalar], b_v);
    } else {
      store_some(&b[scalar], b_v, 3 * n_i - scalar);
    }
  }
}

// Each thread moves 2 vectors of 2 neighbouring elements.
__global__ void __launch_bounds__(256)
map(const double *__restrict__ a, double *__restrict__ b, double k, long long n_i) {
  const long long vectors = n_i + ((n_i + 1) >> 1);
  const int rank = threadIdx.x;
  const long long first = blockIdx.x * (long long)kTile;
  if ((first + kTile) * kVec <= 3 * n_i)
    move_tile<true>(a, b, k, n_i, first, vectors, rank);
  else
    move_tile<false>(a, b, k, n_i, first, vectors, rank);
}
