// The type of a word of kBytes, which one instruction loads or stores.
template <int kBytes> struct word_of;
template <> struct word_of<1> { using type = unsigned char; };
template <> struct word_of<2> { using type = unsigned short; };
template <> struct word_of<4> { using type = unsigned int; };
template <> struct word_of<8> { using type = uint2; };
template <> struct word_of<16> { using type = uint4; };

// The bytes of the words that a T is moved in: as its type's alignment promises.
template <class T> constexpr int word_bytes = alignof(T) < 16 ? alignof(T) : 16;

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
template <class T, int kWord = word_bytes<T>>
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
  constexpr int kBytes = kWord > 0 ? kWord : word_bytes<T>;
  using word = typename word_of<kBytes>::type;
#pragma unroll
  for (int k = 0; k < sizeof(T) / kBytes; k++)
    __stwb(static_cast<word *>(to) + k, reinterpret_cast<const word *>(&value)[k]);
}

constexpr int kThreads = 480;
constexpr int kItems = 4; // boxes of a block, neighbours along i
constexpr int kKept = 1536; // from box to box in shared memory

// What is computed for one element.
__device__ __forceinline__ void compute(float a, float &b) {
  b = a;
}

// A block moves 4 boxes of 1536 elements (1 x 32 x 16 x 3) through shared memory: in as inputs lie,
// out as outputs lie.
__global__ void __launch_bounds__(480)
box(const float *__restrict__ a, float *__restrict__ b, long long n_i, long long n_k,
    long long n_l, long long n_m) {
  __shared__ __align__(16) float a_box[6144]; // what is kept of a
  unsigned int block = blockIdx.x;
  const long long first_l = (long long)(block % (unsigned int)((n_l + 15) >> 4)) * 16;
  block /= (unsigned int)((n_l + 15) >> 4);
  const int left_l = (int)min((long long)16, n_l - first_l);
  const long long first_k = (long long)(block % (unsigned int)((n_k + 31) >> 5)) * 32;
  block /= (unsigned int)((n_k + 31) >> 5);
  const int left_k = (int)min((long long)32, n_k - first_k);
  const long long first_i = (long long)block * 4;
  const int left_i = (int)min((long long)4, n_i - first_i);
  const float *a_from = a;
  a_from += 3 * first_l * n_k;
  a_from += 3 * first_k;
  a_from += 3 * first_i * n_k * n_l;
  float *b_to = b;
  b_to += 3 * first_l;
  b_to += 3 * first_k * n_l;
  b_to += 3 * first_i * n_k * n_l;

  { // in, as the inputs lie: all loads before the first use
    // a row of 96 elements by so many threads, 5 rows a pass
    const int column = threadIdx.x % 96, first_row = threadIdx.x / 96;
    const int m = column;
    float a_in[4][kItems];
#pragma unroll
    for (int pass = 0; pass < 4; pass++) {
      const int row = pass * 5 + first_row;
      const int l = row;
#pragma unroll
      for (int item = 0; item < kItems; item++) {
        const bool inside = row < 16 && m < left_k * 3 && l < left_l && item < left_i;
        a_in[pass][item] = inside
          ? load_evict_last<float>(&a_from[3 * item * n_k * n_l + 3 * l * n_k + m]) : float();
      }
    }
#pragma unroll
    for (int pass = 0; pass < 4; pass++) {
      const int row = pass * 5 + first_row;
      const int l = row;
      const int at = row * 96 + column;
#pragma unroll
      for (int item = 0; item < kItems; item++) {
        if (row < 16 && m < left_k * 3 && l < left_l && item < left_i) {
          a_box[item * kKept + at] = a_in[pass][item];
        }
      }
    }
  }
  __syncthreads();

  // out, as the outputs lie
  // a row of 48 elements by so many threads, 10 rows a pass
  const int column = threadIdx.x % 48, first_row = threadIdx.x / 48;
  const int m = column % 3;
  const int l = column / 3;
#pragma unroll
  for (int pass = 0; pass < 4; pass++) {
    const int row = pass * 10 + first_row;
    const int k = row;
#pragma unroll
    for (int item = 0; item < kItems; item++) {
      if (!(row < 32 && l < left_l && k < left_k && item < left_i)) continue;
      const float a_v = a_box[item * kKept + 96 * l + 3 * k + m];
      float b_v;
      compute(a_v, b_v);
      store(&b_to[3 * item * n_k * n_l + 3 * k * n_l + 3 * l + m], b_v);
    }
  }
}
