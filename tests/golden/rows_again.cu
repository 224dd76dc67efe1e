// A T of the lane whose number differs by the bits of `distance`, word by word.
template <class T> __device__ __forceinline__ T shuffle_xor(const T &value, int distance) {
  T other;
#pragma unroll
  for (int k = 0; k < sizeof(T) / 4; k++)
    reinterpret_cast<unsigned int *>(&other)[k] =
        __shfl_xor_sync(0xffffffffu, reinterpret_cast<const unsigned int *>(&value)[k], distance);
  return other;
}

// Combines the values of lanes whose numbers differ by kFirst, 2 * kFirst, ... below kLast: all of
// them get the result.
template <int kFirst, int kLast, class T, int kCount>
__device__ __forceinline__ void combine_across(T (&mine)[kCount]) {
#pragma unroll
  for (int distance = kFirst; distance < kLast; distance *= 2)
#pragma unroll
    for (int k = 0; k < kCount; k++)
      mine[k] = combine(mine[k], shuffle_xor(mine[k], distance));
}

// Combines the values of kLanes neighbouring threads, a part of a warp, a warp or the whole block:
// all of them get the result. For each T at most once in a kernel.
template <int kLanes, class T> __device__ __forceinline__ T combine_row(const T &mine) {
  T all[1] = {mine};
  combine_across<1, (kLanes < 32 ? kLanes : 32)>(all);
  if (kLanes > 32) {
    constexpr int kParts = (kLanes + 31) / 32;
    __shared__ __align__(16) T parts[kParts];
    if (threadIdx.x % 32 == 0)
      parts[threadIdx.x / 32] = all[0];
    __syncthreads();
    all[0] = parts[threadIdx.x % kParts];
    combine_across<1, kParts>(all);
  }
  return all[0];
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

// bf16: 2 bytes; arithmetic goes through float.
struct bf16 {
  unsigned short bits;
  bf16() = default;
  __device__ __forceinline__ bf16(float x) {
    unsigned int pair; // with 0: a conversion to one half alone is slow
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(0.0f), "f"(x));
    bits = (unsigned short)pair;
  }
  __device__ __forceinline__ operator float() const {
    float x;
    x = __uint_as_float((unsigned int)bits << 16);
    return x;
  }
};

// Step 1, for one element of a row.
__device__ __forceinline__ void step_1(bf16 x, float &m) {
  m = x;
}

// What is known of one row so far: a member for each reduced value.
struct partial_1 {
  float m;
};

// The identity element.
__device__ __forceinline__ partial_1 identity_1() {
  return {-__int_as_float(0x7f800000)};
}

// Two partial results as one.
__device__ __forceinline__ partial_1 combine(const partial_1 &one, const partial_1 &other) {
  return {fmaxf(one.m, other.m)};
}

// Step 2, for one element of a row.
__device__ __forceinline__ void step_2(bf16 x, float m, float &t) {
  t = expf(x - m);
}

// What is known of one row so far: a member for each reduced value.
struct partial_2 {
  float t;
};

// The identity element.
__device__ __forceinline__ partial_2 identity_2() {
  return {0.0f};
}

// Two partial results as one.
__device__ __forceinline__ partial_2 combine(const partial_2 &one, const partial_2 &other) {
  return {one.t + other.t};
}

// Step 3, once a row.
__device__ __forceinline__ void step_3(float t, float &r) {
  r = 1.0f / t;
}

// Step 4, for one element of a row.
__device__ __forceinline__ void step_4(bf16 x, float m, float r, bf16 &y) {
  y = expf(x - m) * r;
}

// A warp has a row, read again in every step. They move in vectors of 8.
__global__ void __launch_bounds__(128)
rows(const bf16 *__restrict__ x, bf16 *__restrict__ y, long long n_row, long long n_col) {
  constexpr int kThreads = 128;
  constexpr int kLanes = 32; // threads that have a row
  constexpr int kVec = 8; // elements of a vector
  constexpr int kItems = 4; // vectors of a row that a thread has at once
  constexpr int kRows = kThreads / kLanes; // rows of a block
  const int lane = threadIdx.x % kLanes;
  const long long row_index = blockIdx.x * (long long)kRows + threadIdx.x / kLanes;
  const bool is_row = row_index < n_row;
  const long long row = row_index;
  const long long n_elements = is_row ? n_col : 0;

  partial_1 found_1 = identity_1();
  for (long long first = 0; first < n_elements; first += kLanes * kItems * kVec) {
    vec<bf16, kVec> x_v[kItems];
#pragma unroll
    for (int item = 0; item < kItems; item++) {
      const long long col = min(first + (item * kLanes + lane) * kVec, n_elements - 8);
      x_v[item] = load<vec<bf16, kVec>, 16>(&x[n_col * row + col]);
    }
#pragma unroll
    for (int item = 0; item < kItems; item++) {
      const long long col = first + (item * kLanes + lane) * kVec;
      // computed without a branch, so that later steps find what they have in common
      const bool inside = col < n_elements;
      const partial_1 before = found_1;
#pragma unroll
      for (int e = 0; e < kVec; e++) {
        float m_e;
        step_1(x_v[item][e], m_e);
        found_1 = combine(found_1, {m_e});
      }
      found_1 = inside ? found_1 : before;
    }
  }
  found_1 = combine_row<kLanes>(found_1);

  partial_2 found_2 = identity_2();
  for (long long first = 0; first < n_elements; first += kLanes * kItems * kVec) {
    vec<bf16, kVec> x_v[kItems];
#pragma unroll
    for (int item = 0; item < kItems; item++) {
      const long long col = min(first + (item * kLanes + lane) * kVec, n_elements - 8);
      x_v[item] = load<vec<bf16, kVec>, 16>(&x[n_col * row + col]);
    }
#pragma unroll
    for (int item = 0; item < kItems; item++) {
      const long long col = first + (item * kLanes + lane) * kVec;
      // computed without a branch, so that later steps find what they have in common
      const bool inside = col < n_elements;
      const partial_2 before = found_2;
#pragma unroll
      for (int e = 0; e < kVec; e++) {
        float t_e;
        step_2(x_v[item][e], found_1.m, t_e);
        found_2 = combine(found_2, {t_e});
      }
      found_2 = inside ? found_2 : before;
    }
  }
  found_2 = combine_row<kLanes>(found_2);

  float r_e = {};
  if (is_row) {
    step_3(found_2.t, r_e);
  }

  for (long long first = 0; first < n_elements; first += kLanes * kItems * kVec) {
    vec<bf16, kVec> x_v[kItems];
#pragma unroll
    for (int item = 0; item < kItems; item++) {
      const long long col = min(first + (item * kLanes + lane) * kVec, n_elements - 8);
      x_v[item] = load<vec<bf16, kVec>, 16>(&x[n_col * row + col]);
    }
#pragma unroll
    for (int item = 0; item < kItems; item++) {
      const long long col = first + (item * kLanes + lane) * kVec;
      if (col < n_elements) {
        vec<bf16, kVec> y_v;
#pragma unroll
        for (int e = 0; e < kVec; e++) {
          step_4(x_v[item][e], found_1.m, r_e, y_v[e]);
        }
        store<16>(&y[n_col * row + col], y_v);
      }
    }
  }
}
