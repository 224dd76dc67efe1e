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

// A word, by a policy of L2.
__device__ __forceinline__ void store_word(size_t to, unsigned char w, unsigned long long policy) {
  asm volatile("st.global.L2::cache_hint.u8 [%0], %1, %2;"
               ::"l"(to), "r"((unsigned int)w), "l"(policy));
}
__device__ __forceinline__ void store_word(size_t to, unsigned short w, unsigned long long policy) {
  asm volatile("st.global.L2::cache_hint.b16 [%0], %1, %2;" ::"l"(to), "h"(w), "l"(policy));
}
__device__ __forceinline__ void store_word(size_t to, unsigned int w, unsigned long long policy) {
  asm volatile("st.global.L2::cache_hint.b32 [%0], %1, %2;" ::"l"(to), "r"(w), "l"(policy));
}
__device__ __forceinline__ void store_word(size_t to, uint2 w, unsigned long long policy) {
  asm volatile("st.global.L2::cache_hint.v2.b32 [%0], {%1, %2}, %3;"
               ::"l"(to), "r"(w.x), "r"(w.y), "l"(policy));
}
__device__ __forceinline__ void store_word(size_t to, uint4 w, unsigned long long policy) {
  asm volatile("st.global.L2::cache_hint.v4.b32 [%0], {%1, %2, %3, %4}, %5;"
               ::"l"(to), "r"(w.x), "r"(w.y), "r"(w.z), "r"(w.w), "l"(policy));
}

// A T in whole words. __ldg, as plain words may be split into loads of what is used of them.
template <class T, int kWord = word_bytes<T>()>
__device__ __forceinline__ T load(const void *from) {
  using word = typename word_of<kWord>::type;
  T value;
#pragma unroll
  for (int k = 0; k < sizeof(T) / kWord; k++)
    reinterpret_cast<word *>(&value)[k] = __ldg(static_cast<const word *>(from) + k);
  return value;
}

// A T in whole words, whose lines L2 gives up last.
template <int kWord = 0, class T>
__device__ __forceinline__ void store_evict_last(void *to, const T &value) {
  constexpr int kBytes = kWord > 0 ? kWord : word_bytes<T>();
  using word = typename word_of<kBytes>::type;
#pragma unroll
  for (int k = 0; k < sizeof(T) / kBytes; k++)
    store_word(__cvta_generic_to_global(static_cast<word *>(to) + k),
               reinterpret_cast<const word *>(&value)[k], evict_last_policy());
}

// A T from shared memory, in words of kWord bytes.
template <class T, int kWord = word_bytes<T>()>
__device__ __forceinline__ T take(const void *from) {
  using word = typename word_of<kWord>::type;
  T value;
#pragma unroll
  for (int k = 0; k < sizeof(T) / kWord; k++)
    reinterpret_cast<word *>(&value)[k] = static_cast<const word *>(from)[k];
  return value;
}

// A T to shared memory, in words of kWord bytes.
template <int kWord, class T> __device__ __forceinline__ void put(void *to, const T &value) {
  using word = typename word_of<kWord>::type;
#pragma unroll
  for (int k = 0; k < sizeof(T) / kWord; k++)
    static_cast<word *>(to)[k] = reinterpret_cast<const word *>(&value)[k];
}

struct record12 {
  float x, y, z;
};
static_assert(sizeof(record12) == 12 && alignof(record12) == 4, "layout of record12");

constexpr int kThreads = 256;
constexpr int kItems = 1; // vectors of a thread, whose loads are all in flight
constexpr int kVec = 4; // elements of a vector: neighbours along i
constexpr int kTile = kThreads * kItems; // vectors of a tile
constexpr int kRecord_p = sizeof(record12); // bytes of a record of p
constexpr int kTileBytes_p = kTile * kVec * kRecord_p; // and of its tile

// What is computed for one element.
__device__ __forceinline__ void compute(const record12 &p, record12 &q) {
  q = p;
}

// Moves the tile that starts with vector `first` of all `vectors`; `rank`: the thread's among those
// that share it. kWhole: all of the tile's vectors lie inside the arrays.
template <bool kWhole>
__device__ __forceinline__ void move_tile(
    const record12 *__restrict__ p, float *__restrict__ q, long long n_i, unsigned char *p_tile,
    long long first, long long vectors, int rank) {
  // the tile of p, as its bytes lie in memory
  const unsigned char *const p_bytes =
      reinterpret_cast<const unsigned char *>(&p[first * kVec]);
  if (kWhole) {
#pragma unroll
    for (int at_word = 0; at_word < kTileBytes_p; at_word += 16 * kThreads) {
      const int byte = at_word + 16 * rank;
      if (kTileBytes_p % (16 * kThreads) == 0 || byte < kTileBytes_p)
        put<16>(p_tile + byte, load<uint4>(p_bytes + byte));
    }
  } else {
    const long long bytes =
        min(0LL + kTileBytes_p, (n_i - first * kVec) * kRecord_p);
    using word = word_of<4>::type;
    for (int byte = 4 * rank; byte < bytes; byte += 4 * kThreads)
      put<4>(p_tile + byte, load<word>(p_bytes + byte));
  }
  __syncthreads();

  // compute and store
#pragma unroll
  for (int item = 0; item < kItems; item++) {
    const long long vector = first + item * kThreads + rank;
    if (!kWhole && vector >= vectors) break;
    const long long i = vector * kVec;
    const vec<record12, kVec> p_v = take<vec<record12, kVec>, 16>(p_tile + (item * kThreads + rank) * kVec * kRecord_p);
    vec<float, kVec> q_x_v;
    vec<float, kVec> q_y_v;
    vec<float, kVec> q_z_v;
#pragma unroll
    for (int e = 0; e < kVec; e++) {
      record12 q_e;
      compute(p_v[e], q_e);
      q_x_v[e] = q_e.x;
      q_y_v[e] = q_e.y;
      q_z_v[e] = q_e.z;
    }
    store_evict_last<16>(&q[i], q_x_v);
    store_evict_last<16>(&q[i + n_i], q_y_v);
    store_evict_last<16>(&q[2 * n_i + i], q_z_v);
  }
}

// Each thread moves 1 vector of 4 neighbouring elements; records go through shared memory
// unchanged.
__global__ void __launch_bounds__(256)
map(const record12 *__restrict__ p, float *__restrict__ q, long long n_i) {
  // records of p
  __shared__ __align__(16) unsigned char p_tile[kTileBytes_p];
  const long long vectors = (n_i + 3) >> 2;
  const int rank = threadIdx.x;
  const long long first = blockIdx.x * (long long)kTile;
  if (first + kTile <= vectors)
    move_tile<true>(p, q, n_i, p_tile, first, vectors, rank);
  else
    move_tile<false>(p, q, n_i, p_tile, first, vectors, rank);
}
