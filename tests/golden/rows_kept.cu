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

// Is one of the flags set?
template <int kCount> __device__ __forceinline__ bool any_of(const bool (&flags)[kCount]) {
  bool any = false;
#pragma unroll
  for (int k = 0; k < kCount; k++)
    any = any || flags[k];
  return any;
}

// The elements of a vector that are not kept as they are.
template <class T, int kCount>
__device__ __forceinline__ void store_unless(T *to, const vec<T, kCount> &v,
                                             const bool (&kept)[kCount]) {
#pragma unroll
  for (int k = 0; k < kCount; k++)
    if (!kept[k])
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

// A T in whole words. __stwb, as assignments of words may be split into stores of their parts.
template <int kWord = 0, class T>
__device__ __forceinline__ void store(void *to, const T &value) {
  constexpr int kBytes = kWord > 0 ? kWord : word_bytes<T>();
  using word = typename word_of<kBytes>::type;
#pragma unroll
  for (int k = 0; k < sizeof(T) / kBytes; k++)
    __stwb(static_cast<word *>(to) + k, reinterpret_cast<const word *>(&value)[k]);
}

// Step 1, for one element of a row.
__device__ __forceinline__ void step_1(float x, float &q) {
  q = (float)x * x;
}

// What is known of one row so far: a member for each reduced value.
struct partial_1 {
  float q;
};

// The identity element.
__device__ __forceinline__ partial_1 identity_1() {
  return {0.0f};
}

// Two partial results as one.
__device__ __forceinline__ partial_1 combine(const partial_1 &one, const partial_1 &other) {
  return {one.q + other.q};
}

// Step 2, once a row.
__device__ __forceinline__ void step_2(float limit, float q, float &r) {
  r = limit * rsqrtf(q);
}

// Step 3, for one element of a row.
__device__ __forceinline__ void step_3(float r, float &x, bool &x_kept) {
  if (r < 1.0f) {
    x = x * r;
  } else {
    x_kept = true;
  }
}

// A block has a row, whose elements are loaded once. They move in vectors of 4.
__global__ void __launch_bounds__(256)
rows(float *__restrict__ x, float limit, long long n_row, long long n_col) {
  constexpr int kThreads = 256;
  constexpr int kLanes = 256; // threads that have a row
  constexpr int kVec = 4; // elements of a vector
  constexpr int kItems = 4; // vectors of a row that a thread has at once
  constexpr int kRows = kThreads / kLanes; // rows of a block
  const int lane = threadIdx.x % kLanes;
  const long long row_index = blockIdx.x * (long long)kRows + threadIdx.x / kLanes;
  const bool is_row = row_index < n_row;
  const long long row = row_index;
  const int n_elements = is_row ? n_col : 0;
  // the row, all loads before the first use
  vec<float, kVec> x_old_v[kItems] = {};
  if (n_elements > 0) {
#pragma unroll
    for (int item = 0; item < kItems; item++) {
      const int col = (item * kLanes + lane) * kVec;
      if (col < n_elements) {
        x_old_v[item] = load_coherent<vec<float, kVec>, 16>(&x[n_col * row + col]);
      }
    }
  }

  partial_1 found_1 = identity_1();
  {
#pragma unroll
    for (int item = 0; item < kItems; item++) {
      const int col = (item * kLanes + lane) * kVec;
      // computed without a branch, so that later steps find what they have in common
      const bool inside = col < n_elements;
      const partial_1 before = found_1;
#pragma unroll
      for (int e = 0; e < kVec; e++) {
        float q_e;
        step_1(x_old_v[item][e], q_e);
        found_1 = combine(found_1, {q_e});
      }
      found_1 = inside ? found_1 : before;
    }
  }
  found_1 = combine_row<kLanes>(found_1);

  float r_e = {};
  if (is_row) {
    step_2(limit, found_1.q, r_e);
  }

  {
#pragma unroll
    for (int item = 0; item < kItems; item++) {
      const int col = (item * kLanes + lane) * kVec;
      if (col < n_elements) {
        vec<float, kVec> x_v;
        bool x_kept[kVec];
#pragma unroll
        for (int e = 0; e < kVec; e++) {
          x_kept[e] = false;
          x_v[e] = x_old_v[item][e];
          step_3(r_e, x_v[e], x_kept[e]);
        }
        if (!any_of(x_kept))
          store<16>(&x[n_col * row + col], x_v);
        else
          store_unless(&x[n_col * row + col], x_v, x_kept);
      }
    }
  }
}
