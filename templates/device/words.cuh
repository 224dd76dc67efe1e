// The address `bytes` after `base`.
template <class T>
__device__ __forceinline__ const T *at_byte(const void *base, long long bytes) {
  return reinterpret_cast<const T *>(static_cast<const char *>(base) + bytes);
}
template <class T> __device__ __forceinline__ T *at_byte(void *base, long long bytes) {
  return reinterpret_cast<T *>(static_cast<char *>(base) + bytes);
}

// The type of a word of kBytes, loaded or stored by one instruction.
template <int kBytes> struct word_of;
template <> struct word_of<1> { using type = unsigned char; };
template <> struct word_of<2> { using type = unsigned short; };
template <> struct word_of<4> { using type = unsigned int; };
template <> struct word_of<8> { using type = uint2; };
template <> struct word_of<16> { using type = uint4; };

// The size of the words that a T is moved in, given by the alignment of its type.
template <class T> __host__ __device__ constexpr int word_bytes() {
  return alignof(T) < 16 ? alignof(T) : 16;
}

// L2 evict-last policy.
__device__ __forceinline__ unsigned long long evict_last_policy() {
  unsigned long long policy;
  asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}

// Loads a word with an L2 policy. Volatile, else it is moved out of loops and conditions.
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

// Stores a word with an L2 policy.
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

// Loads a T in whole words. __ldg, because plain loads may be split into the used parts.
template <class T, int kWord = word_bytes<T>()>
__device__ __forceinline__ T load(const void *from) {
  using word = typename word_of<kWord>::type;
  T value;
#pragma unroll
  for (int k = 0; k < sizeof(T) / kWord; k++)
    reinterpret_cast<word *>(&value)[k] = __ldg(static_cast<const word *>(from) + k);
  return value;
}

// Loads a T in whole words from an array that this kernel also writes, so without __ldg.
template <class T, int kWord = word_bytes<T>()>
__device__ __forceinline__ T load_coherent(const void *from) {
  using word = typename word_of<kWord>::type;
  T value;
#pragma unroll
  for (int k = 0; k < sizeof(T) / kWord; k++)
    reinterpret_cast<word *>(&value)[k] = __ldca(static_cast<const word *>(from) + k);
  return value;
}

// Loads a T in whole words, streaming: it is used once.
template <class T, int kWord = word_bytes<T>()>
__device__ __forceinline__ T load_streaming(const void *from) {
  using word = typename word_of<kWord>::type;
  T value;
#pragma unroll
  for (int k = 0; k < sizeof(T) / kWord; k++)
    reinterpret_cast<word *>(&value)[k] = __ldcs(static_cast<const word *>(from) + k);
  return value;
}

// Loads a T in whole words with the L2 evict-last policy.
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

// Stores a T in whole words. __stwb, because plain stores may be split into parts.
template <int kWord = 0, class T>
__device__ __forceinline__ void store(void *to, const T &value) {
  constexpr int kBytes = kWord > 0 ? kWord : word_bytes<T>();
  using word = typename word_of<kBytes>::type;
#pragma unroll
  for (int k = 0; k < sizeof(T) / kBytes; k++)
    __stwb(static_cast<word *>(to) + k, reinterpret_cast<const word *>(&value)[k]);
}

// Stores a T in whole words, streaming: it is not read again here.
template <int kWord = 0, class T>
__device__ __forceinline__ void store_streaming(void *to, const T &value) {
  constexpr int kBytes = kWord > 0 ? kWord : word_bytes<T>();
  using word = typename word_of<kBytes>::type;
#pragma unroll
  for (int k = 0; k < sizeof(T) / kBytes; k++)
    __stcs(static_cast<word *>(to) + k, reinterpret_cast<const word *>(&value)[k]);
}

// Stores a T in whole words with the L2 evict-last policy.
template <int kWord = 0, class T>
__device__ __forceinline__ void store_evict_last(void *to, const T &value) {
  constexpr int kBytes = kWord > 0 ? kWord : word_bytes<T>();
  using word = typename word_of<kBytes>::type;
#pragma unroll
  for (int k = 0; k < sizeof(T) / kBytes; k++)
    store_word(__cvta_generic_to_global(static_cast<word *>(to) + k),
               reinterpret_cast<const word *>(&value)[k], evict_last_policy());
}

// Loads a T from shared memory, in words of kWord bytes.
template <class T, int kWord = word_bytes<T>()>
__device__ __forceinline__ T take(const void *from) {
  using word = typename word_of<kWord>::type;
  T value;
#pragma unroll
  for (int k = 0; k < sizeof(T) / kWord; k++)
    reinterpret_cast<word *>(&value)[k] = static_cast<const word *>(from)[k];
  return value;
}

// Stores a T to shared memory, in words of kWord bytes.
template <int kWord, class T> __device__ __forceinline__ void put(void *to, const T &value) {
  using word = typename word_of<kWord>::type;
#pragma unroll
  for (int k = 0; k < sizeof(T) / kWord; k++)
    static_cast<word *>(to)[k] = reinterpret_cast<const word *>(&value)[k];
}

// Swizzled position of byte `at` of a tile: 16-byte words are permuted within each 128 bytes, so
// that lanes an even number of words apart use different banks.
__device__ __forceinline__ int swizzled(int at) { return at ^ at / 128 % 8 * 16; }

// Loads a T at byte `at` of a swizzled tile.
template <class T> __device__ __forceinline__ T take_swizzled(const unsigned char *tile, int at) {
  T value;
#pragma unroll
  for (int k = 0; k < sizeof(T) / 16; k++)
    reinterpret_cast<uint4 *>(&value)[k] = take<uint4>(tile + swizzled(at + 16 * k));
  return value;
}

// Stores a T at byte `at` of a swizzled tile.
template <class T>
__device__ __forceinline__ void put_swizzled(unsigned char *tile, int at, const T &value) {
#pragma unroll
  for (int k = 0; k < sizeof(T) / 16; k++)
    put<16>(tile + swizzled(at + 16 * k), reinterpret_cast<const uint4 *>(&value)[k]);
}
