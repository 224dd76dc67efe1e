// The address of shared memory as instructions take it.
__device__ __forceinline__ unsigned int smem_address(const void *p) {
  return (unsigned int)__cvta_generic_to_shared(p);
}

// The first `bytes` of kBytes (4 or 16) from global to shared memory, asynchronously; zeros
// for the others.
template <int kBytes = 16>
__device__ __forceinline__ void async_copy_some(void *to, const void *from, int bytes) {
  if (kBytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                 ::"r"(smem_address(to)), "l"(from), "r"(bytes) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;"
                 ::"r"(smem_address(to)), "l"(from), "n"(kBytes), "r"(bytes) : "memory");
}

// Word number `word` of a line of `count` elements from `start` on, asynchronously: the first word
// is the one that `start` is in. Of what lies from `end` on zeros.
template <class T>
__device__ __forceinline__ void async_copy_word(T *line, const T *start, int word, int count,
                                                const T *end) {
  constexpr int kWord = 4 / (int)sizeof(T);
  const int shift = (int)((size_t)start / sizeof(T) % kWord), at = word * kWord - shift;
  const int readable = (int)min((long long)(end - start), (long long)count + kWord);
  if (at < count)
    async_copy_some<4>(line + shift + at, start + at,
                       min(kWord, readable - at) * (int)sizeof(T));
}

// Closes a group of asynchronous copies.
__device__ __forceinline__ void async_commit() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}

// Waits until all but the last kGroups groups of this thread have arrived.
template <int kGroups> __device__ __forceinline__ void async_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kGroups) : "memory");
}

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

// A T in whole words. __stwb, as assignments of words may be split into stores of their parts.
template <int kWord = 0, class T>
__device__ __forceinline__ void store(void *to, const T &value) {
  constexpr int kBytes = kWord > 0 ? kWord : word_bytes<T>();
  using word = typename word_of<kBytes>::type;
#pragma unroll
  for (int k = 0; k < sizeof(T) / kBytes; k++)
    __stwb(static_cast<word *>(to) + k, reinterpret_cast<const word *>(&value)[k]);
}

constexpr int kWord = 4; // elements in a word of 4 bytes

// What is computed for one element.
__device__ __forceinline__ void compute(unsigned char a, unsigned char &b) {
  b = a;
}

// A block moves a box of 7320 elements (40 x 61 x 3) through shared memory: in as inputs lie, out
// as outputs lie.
__global__ void __launch_bounds__(256)
box_words(const unsigned char *__restrict__ a, unsigned char *__restrict__ b, long long n_at,
          long long n_row, long long n_column) {
  __shared__ __align__(16) unsigned char a_box[7564]; // lines of a
  unsigned int block = blockIdx.x;
  const long long first_at = (long long)block * 40;
  const int left_at = (int)min((long long)40, n_at - first_at);
  const unsigned char *a_from = a;
  a_from += 3 * first_at;
  unsigned char *b_to = b;
  b_to += 183 * first_at;
  const unsigned int a_from_start =
      (unsigned int)((size_t)a_from / sizeof(unsigned char) % kWord);

  // in: words of the lines, from the one on that a line starts in, by asynchronous copies
  if (threadIdx.x < 248) {
    const int word = threadIdx.x % 31;
    const int row_ = threadIdx.x / 31;
    a_from += 3 * n_at * row_;
#pragma unroll
    for (int pass = 0; pass < 8; pass++) {
      const int row = pass * 8 + row_;
      if (pass < 7 || row < 61)
        async_copy_word(&a_box[124 * row], a_from, word, left_at * 3, a + 183 * n_at);
      a_from += 24 * n_at;
    }
    async_commit();
    async_wait<0>();
  }
  __syncthreads();

  // out: a thread puts words together
  const int row_ = threadIdx.x;
#pragma unroll
  for (int pass = 0; pass < 8; pass++) {
    const int word = pass * 256 + row_;
    if (pass < 7 || word < 1831) {
      const int first = word * kWord - (int)((size_t)b_to / sizeof(unsigned char) % kWord);
      const int length = left_at * 183, from = max(first, 0);
      int column = from % 3;
      int row = from / 3 % 61;
      int at = from / 183;
      int a_place = 124 * row + 3 * at + column;
      unsigned int a_start = (unsigned int)(3 * n_at * row + a_from_start);
      if (first >= 0 && first + kWord <= length) {
        vec<unsigned char, kWord> b_v;
#pragma unroll
        for (int e = 0; e < kWord; e++) {
          const unsigned char a_v = a_box[a_place + a_start % kWord];
          compute(a_v, b_v[e]);
          a_place += 1;
          if (++column == 3) {
            column = 0;
            a_place += 121;
            a_start += (unsigned int)(3 * n_at);
            if (++row == 61) {
              row = 0;
              a_place += -7561;
              a_start += (unsigned int)(-183 * n_at);
            }
          }
        }
        store(&b_to[first], b_v);
      } else { // elements at an end of the line, one by one
        unsigned char b_v[kWord];
        for (int e = from - first; e < kWord && first + e < length; e++) {
          const unsigned char a_v = a_box[a_place + a_start % kWord];
          compute(a_v, b_v[e]);
          store(&b_to[first + e], b_v[e]);
          a_place += 1;
          if (++column == 3) {
            column = 0;
            a_place += 121;
            a_start += (unsigned int)(3 * n_at);
            if (++row == 61) {
              row = 0;
              a_place += -7561;
              a_start += (unsigned int)(-183 * n_at);
            }
          }
        }
      }
    }
  }
}
