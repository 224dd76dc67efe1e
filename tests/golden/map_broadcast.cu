// A divisor that stays the same, so that quotients need a multiplication.
struct divisor {
  unsigned int by, factor; // floor((2^32 - 1) / by)
};

// The divisor `by`, which is not 0.
__device__ __forceinline__ divisor divide_by(unsigned int by) {
  return {by, 0xffffffffu / by};
}

// Takes n apart: returns n / d and leaves n % d in `rest`. The estimate is one too small at most.
__device__ __forceinline__ unsigned int split(unsigned int n, divisor d, unsigned int &rest) {
  const unsigned int low = __umulhi(n, d.factor), left = n - low * d.by;
  rest = left < d.by ? left : left - d.by;
  return left < d.by ? low : low + 1;
}

// Takes a larger n apart, which is not negative: n becomes n / d, and n % d is returned.
__device__ __forceinline__ unsigned int take_rest(long long &n, divisor d) {
  unsigned int rest;
  if ((unsigned long long)n >> 32 == 0) {
    n = split((unsigned int)n, d, rest);
  } else {
    const long long whole = n / d.by;
    rest = (unsigned int)(n - whole * d.by);
    n = whole;
  }
  return rest;
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
constexpr int kVec = 4; // elements of a vector: neighbours along i0
constexpr int kTile = kThreads * kItems; // vectors of a tile

// What is computed for one element.
__device__ __forceinline__ void compute(float a, float w, float &b) {
  b = a * w;
}

// Where a vector starts.
struct multi_index {
  long long i1, i0;
};

// Moves the tile that starts with vector `first` of all `vectors`; `rank`: the thread's among those
// that share it. kWhole: all of the tile's vectors lie inside the arrays.
template <bool kWhole>
__device__ __forceinline__ void move_tile(
    const float *__restrict__ a, const float *__restrict__ w, float *__restrict__ b,
    long long n_i, long long first, long long vectors, int rank) {
  // where the tile starts; its vectors are counted on from there
  long long outer = first;
  constexpr unsigned int count_i0 = 8;
  const divisor by_i0 = divide_by(count_i0);
  const unsigned int first_i0 = take_rest(outer, by_i0);
  multi_index indices[kItems];
#pragma unroll
  for (int item = 0; item < kItems; item++) {
    unsigned int counted = item * kThreads + rank, here;
    counted = split(first_i0 + counted, by_i0, here);
    indices[item].i0 = (long long)here * kVec;
    indices[item].i1 = outer + counted;
  }

  // in: all loads before the first use
  vec<float, kVec> a_v[kItems];
  float w_v[kItems];
#pragma unroll
  for (int item = 0; item < kItems; item++) {
    const long long vector = first + item * kThreads + rank;
    if (!kWhole && vector >= vectors) break;
    const multi_index at = indices[item];
    a_v[item] = load<vec<float, kVec>, 16>(&a[vector * kVec]);
    w_v[item] = load<float>(&w[at.i1]);
  }

  // compute and store
#pragma unroll
  for (int item = 0; item < kItems; item++) {
    const long long vector = first + item * kThreads + rank;
    if (!kWhole && vector >= vectors) break;
    vec<float, kVec> b_v;
#pragma unroll
    for (int e = 0; e < kVec; e++) {
      compute(a_v[item][e], w_v[item], b_v[e]);
    }
    store<16>(&b[vector * kVec], b_v);
  }
}

// Each thread moves 2 vectors of 4 neighbouring elements.
__global__ void __launch_bounds__(256)
map(const float *__restrict__ a, const float *__restrict__ w, float *__restrict__ b,
    long long n_i) {
  const long long vectors = (n_i >> 5) * 8;
  const int rank = threadIdx.x;
  const long long first = blockIdx.x * (long long)kTile;
  if (first + kTile <= vectors)
    move_tile<true>(a, w, b, n_i, first, vectors, rank);
  else
    move_tile<false>(a, w, b, n_i, first, vectors, rank);
}
