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


// What is computed for one element.
__device__ __forceinline__ void compute(float a, float &b) {
  b = a;
}

// kGuarded: the box crosses the end of a mode; less is unrolled, as few blocks have such a box.
template <bool kGuarded>
__device__ __forceinline__ void move_box(
    const float *__restrict__ a, float *__restrict__ b, long long n_i, long long n_k,
        long long n_l, long long n_m,
    long long first_l, long long first_k, long long first_i, float *a_box) {
  constexpr int kUnrolled = kGuarded ? 4 : 16;
  const float *a_from = a;
  a_from += 3 * first_l * n_k;
  a_from += 3 * first_k;
  a_from += 3 * first_i * n_k * n_l;
  float *b_to = b;
  b_to += 3 * first_l;
  b_to += 3 * first_k * n_l;
  b_to += 3 * first_i * n_k * n_l;
  const int left_l = (int)min((long long)16, n_l - first_l);
  const int left_k = (int)min((long long)32, n_k - first_k);
  const int left_i = (int)min((long long)4, n_i - first_i);

  // in, as the inputs lie: all loads before the first use
  {
    const int m = threadIdx.x % 96;
    const int row = threadIdx.x / 96;
    a_from += 3 * n_k * row + m;
    float a_in[16];
#pragma unroll kUnrolled
    for (int pass = 0; pass < 16; pass++) {
      const int l = pass % 4 * 4 + row;
      const int i = pass / 4;
      if (!kGuarded || m < left_k * 3 && l < left_l && i < left_i)
        (kGuarded ? a_box[1584 * i + 99 * l + m] : a_in[pass]) = load_evict_last<float>(a_from);
      a_from += 12 * n_k;
      if ((pass + 1) % 4 == 0)
        a_from += 3 * n_k * n_l - 48 * n_k;
    }
#pragma unroll
    for (int pass = 0; !kGuarded && pass < 16; pass++) {
      const int l = pass % 4 * 4 + row;
      const int i = pass / 4;
      if (!kGuarded || m < left_k * 3 && l < left_l && i < left_i)
        a_box[1584 * i + 99 * l + m] = a_in[pass];
    }
  }
  __syncthreads();

  // out, as the outputs lie
  {
    const int m = threadIdx.x % 3;
    const int l = threadIdx.x / 3 % 16;
    const int row = threadIdx.x / 48;
    b_to += 3 * n_l * row + 3 * l + m;
#pragma unroll kUnrolled
    for (int pass = 0; pass < 16; pass++) {
      const int k = pass % 4 * 8 + row;
      const int i = pass / 4;
      if (!kGuarded || l < left_l && k < left_k && i < left_i) {
        const float a_v = a_box[1584 * i + 99 * l + 3 * k + m];
        float b_v;
        compute(a_v, b_v);
        store(b_to, b_v);
      }
      b_to += 24 * n_l;
      if ((pass + 1) % 4 == 0)
        b_to += 3 * n_k * n_l - 96 * n_l;
    }
  }
}

// A block moves a box of 6144 elements (4 x 32 x 16 x 3) through shared memory: in as inputs lie,
// out as outputs lie.
__global__ void __launch_bounds__(384)
box(const float *__restrict__ a, float *__restrict__ b, long long n_i, long long n_k,
    long long n_l, long long n_m) {
  __shared__ __align__(16) float a_box[6336]; // what is kept of a
  unsigned int block = blockIdx.x;
  const long long first_l = (long long)(block % (unsigned int)((n_l + 15) >> 4)) * 16;
  block /= (unsigned int)((n_l + 15) >> 4);
  const long long first_k = (long long)(block % (unsigned int)((n_k + 31) >> 5)) * 32;
  block /= (unsigned int)((n_k + 31) >> 5);
  const long long first_i = (long long)block * 4;
  if (first_l + 16 <= n_l && first_k + 32 <= n_k && first_i + 4 <= n_i)
    move_box<false>(a, b, n_i, n_k, n_l, n_m, first_l, first_k, first_i, a_box);
  else
    move_box<true>(a, b, n_i, n_k, n_l, n_m, first_l, first_k, first_i, a_box);
}
