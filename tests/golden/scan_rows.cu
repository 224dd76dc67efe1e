// A T of the lane whose number is lower by `distance`, word by word.
template <class T> __device__ __forceinline__ T shuffle_up(const T &value, int distance) {
  T other;
#pragma unroll
  for (int k = 0; k < sizeof(T) / 4; k++)
    reinterpret_cast<unsigned int *>(&other)[k] = __shfl_up_sync(
        0xffffffffu, reinterpret_cast<const unsigned int *>(&value)[k], distance);
  return other;
}

// A T of the lane that is number `from` of its kLanes neighbours, word by word.
template <int kLanes, class T> __device__ __forceinline__ T shuffle_from(const T &value, int from) {
  T other;
#pragma unroll
  for (int k = 0; k < sizeof(T) / 4; k++)
    reinterpret_cast<unsigned int *>(&other)[k] = __shfl_sync(
        0xffffffffu, reinterpret_cast<const unsigned int *>(&value)[k], from, kLanes);
  return other;
}

// The values of kLanes neighbouring lanes up to each lane's own as one.
template <int kLanes, class T> __device__ __forceinline__ T scan_lanes(T mine) {
  const int lane = threadIdx.x % kLanes;
#pragma unroll
  for (int distance = 1; distance < kLanes; distance *= 2) {
    const T other = shuffle_up(mine, distance);
    if (lane >= distance)
      mine = combine(other, mine);
  }
  return mine;
}

// The same up to the lane before, from what scan_lanes gave; the first lane gets `nothing`.
template <int kLanes, class T>
__device__ __forceinline__ T lanes_before(const T &up_to, const T &nothing) {
  const T other = shuffle_up(up_to, 1);
  return threadIdx.x % kLanes == 0 ? nothing : other;
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

// The body for one element of the index space.
__device__ __forceinline__ void compute(float a, float &o) {
  o = a;
}


// What is known of one element of the outputs so far: a member for each reduced value.
struct partial {
  float o;
};

// The identity element.
__device__ __forceinline__ partial identity() {
  return {0.0f};
}

// Two partial results as one.
__device__ __forceinline__ partial combine(const partial &one, const partial &other) {
  return {one.o + other.o};
}

// 8 threads have a row, tile by tile; 4 x 4 elements a thread.
__global__ void __launch_bounds__(256)
scan(const float *__restrict__ a, float *__restrict__ o, long long n_row, long long n_col) {
  constexpr int kThreads = 256;
  constexpr int kLanes = 8; // threads that have a row
  constexpr int kVec = 4; // elements of a vector
  constexpr int kItems = 4; // vectors that a thread has of a tile
  constexpr int kRows = kThreads / kLanes; // rows of a block
  constexpr int kTile = kLanes * kItems * kVec; // elements of a row that are taken at once
  const long long n_rows = n_row, n_elements = n_col;
  const int lane = threadIdx.x % kLanes, line = threadIdx.x / kLanes;
  const long long row_index = blockIdx.x * (long long)kRows + line;
  const long long row = row_index;
  partial before = identity(); // what the tiles before come to

  // One tile: all loads before the first use. Only the last one of a row, and a block's last
  // rows, need guards.
  const auto take = [&](long long first, bool whole) {
    const bool is_row = whole || row_index < n_rows;
    vec<float, kVec> a_v[kItems] = {};
#pragma unroll
    for (int item = 0; item < kItems; item++) {
      const long long col = first + lane * kVec + item * kLanes * kVec;
      const long long left = is_row ? n_elements - col : 0;
      if (whole || left > 0) {
        if (whole || left >= kVec)
          a_v[item] = load<vec<float, kVec>, 16>(&a[n_col * row + col]);
        else
          a_v[item] = load_some<float, kVec>(&a[n_col * row + col], left);
      }
    }
    partial mine[kItems * kVec];
#pragma unroll
    for (int item = 0; item < kItems; item++) {
      const long long col = first + lane * kVec + item * kLanes * kVec;
      const long long left = is_row ? n_elements - col : 0;
#pragma unroll
      for (int e = 0; e < kVec; e++) {
        float o_e;
        compute(a_v[item][e], o_e);
        const partial one = {o_e};
        mine[item * kVec + e] = whole || left > e ? one : identity();
      }
    }

    // what comes before each of the thread's vectors in its part of the tile
    partial ahead[kItems], sum = identity();
#pragma unroll
    for (int item = 0; item < kItems; item++) {
      partial all = mine[item * kVec];
#pragma unroll
      for (int e = 1; e < kVec; e++) all = combine(all, mine[item * kVec + e]);
      const partial up_to = scan_lanes<8>(all);
      ahead[item] = combine(sum, lanes_before<8>(up_to, identity()));
      sum = combine(sum, shuffle_from<8>(up_to, 8 - 1));
    }
    const partial start = before;
    before = combine(before, sum);

#pragma unroll
    for (int item = 0; item < kItems; item++) {
      const long long col = first + lane * kVec + item * kLanes * kVec;
      const long long left = is_row ? n_elements - col : 0;
      vec<float, kVec> o_v;
      partial up_to = combine(start, ahead[item]);
#pragma unroll
      for (int e = 0; e < kVec; e++) {
        const partial earlier = up_to;
        up_to = combine(up_to, mine[item * kVec + e]);
        o_v[e] = up_to.o;
      }
      if (whole || left > 0) {
        if (whole || left >= kVec)
          store<16>(&o[n_col * row + col], o_v);
        else
          store_some<float, kVec>(&o[n_col * row + col], o_v, left);
      }
    }
  };
  const bool all_rows = (blockIdx.x + 1) * (long long)kRows <= n_rows;
  for (long long first = 0; first < n_elements; first += kTile) {
    if (all_rows && first + kTile <= n_elements) {
      take(first, true);
    } else {
      take(first, false);
    }
  }
}
