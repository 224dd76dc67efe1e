// The address of what lies `bytes` after `base`.
template <class T>
__device__ __forceinline__ const T *at_byte(const void *base, long long bytes) {
  return reinterpret_cast<const T *>(static_cast<const char *>(base) + bytes);
}
template <class T> __device__ __forceinline__ T *at_byte(void *base, long long bytes) {
  return reinterpret_cast<T *>(static_cast<char *>(base) + bytes);
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

// A T in whole words that this kernel writes, too: __ldg is for what no thread writes.
template <class T, int kWord = word_bytes<T>()>
__device__ __forceinline__ T load_coherent(const void *from) {
  using word = typename word_of<kWord>::type;
  T value;
#pragma unroll
  for (int k = 0; k < sizeof(T) / kWord; k++)
    reinterpret_cast<word *>(&value)[k] = __ldca(static_cast<const word *>(from) + k);
  return value;
}

// A T in whole words, streaming: it is used once.
template <class T, int kWord = word_bytes<T>()>
__device__ __forceinline__ T load_streaming(const void *from) {
  using word = typename word_of<kWord>::type;
  T value;
#pragma unroll
  for (int k = 0; k < sizeof(T) / kWord; k++)
    reinterpret_cast<word *>(&value)[k] = __ldcs(static_cast<const word *>(from) + k);
  return value;
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

// A T in whole words, streaming: it is used once.
template <int kWord = 0, class T>
__device__ __forceinline__ void store_streaming(void *to, const T &value) {
  constexpr int kBytes = kWord > 0 ? kWord : word_bytes<T>();
  using word = typename word_of<kBytes>::type;
#pragma unroll
  for (int k = 0; k < sizeof(T) / kBytes; k++)
    __stcs(static_cast<word *>(to) + k, reinterpret_cast<const word *>(&value)[k]);
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

// Where byte `at` of a tile is kept: words of 16 bytes are permuted within 128 bytes by the number
// of those, so that lanes an even number of words apart meet different banks.
__device__ __forceinline__ int swizzled(int at) { return at ^ at / 128 % 8 * 16; }

// A T that begins at byte `at` of a swizzled tile.
template <class T> __device__ __forceinline__ T take_swizzled(const unsigned char *tile, int at) {
  T value;
#pragma unroll
  for (int k = 0; k < sizeof(T) / 16; k++)
    reinterpret_cast<uint4 *>(&value)[k] = take<uint4>(tile + swizzled(at + 16 * k));
  return value;
}

// A T that begins at byte `at` of a swizzled tile.
template <class T>
__device__ __forceinline__ void put_swizzled(unsigned char *tile, int at, const T &value) {
#pragma unroll
  for (int k = 0; k < sizeof(T) / 16; k++)
    put<16>(tile + swizzled(at + 16 * k), reinterpret_cast<const uint4 *>(&value)[k]);
}
