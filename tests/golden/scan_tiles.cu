// A T of the lane whose number differs by the bits of `distance`, word by word.
template <class T> __device__ __forceinline__ T shuffle_xor(const T &value, int distance) {
  T other;
#pragma unroll
  for (int k = 0; k < sizeof(T) / 4; k++)
    reinterpret_cast<unsigned int *>(&other)[k] =
        __shfl_xor_sync(0xffffffffu, reinterpret_cast<const unsigned int *>(&value)[k], distance);
  return other;
}

// A T of the lane whose number is lower by `distance`, word by word.
template <class T> __device__ __forceinline__ T shuffle_up(const T &value, int distance) {
  T other;
#pragma unroll
  for (int k = 0; k < sizeof(T) / 4; k++)
    reinterpret_cast<unsigned int *>(&other)[k] = __shfl_up_sync(
        0xffffffffu, reinterpret_cast<const unsigned int *>(&value)[k], distance);
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

// What a block takes of a launch: a tile in the order in which blocks begin, so that those with
// lower numbers are under way; and the number of the launch, from 1 on.
struct ticket {
  unsigned int tile, launch;
};

// The next ticket. The counter, a launch's number and its next tile, is ready for the next launch
// as soon as all blocks have one.
__device__ __forceinline__ ticket take_ticket(unsigned long long *counter) {
  __shared__ unsigned long long taken;
  if (threadIdx.x == 0) {
    taken = atomicAdd(counter, 1ull);
    if ((unsigned int)taken == gridDim.x - 1)
      atomicAdd(counter, (1ull << 32) - gridDim.x);
  }
  __syncthreads();
  return {(unsigned int)taken, (unsigned int)(taken >> 32) + 1};
}

// Publishes a T to other blocks: each word beside the launch's number, so that whoever finds that
// has found the word.
template <class T>
__device__ __forceinline__ void publish(volatile unsigned long long *at, unsigned int launch,
                                        const T &value) {
#pragma unroll
  for (int k = 0; k < sizeof(T) / 4; k++)
    at[k] = (unsigned long long)launch << 32 | reinterpret_cast<const unsigned int *>(&value)[k];
}

// What a block publishes there, as soon as it has.
template <class T>
__device__ __forceinline__ T await(const volatile unsigned long long *at, unsigned int launch) {
  T value;
#pragma unroll
  for (int k = 0; k < sizeof(T) / 4; k++) {
    unsigned long long word;
    do {
      word = at[k];
    } while ((unsigned int)(word >> 32) != launch);
    reinterpret_cast<unsigned int *>(&value)[k] = (unsigned int)word;
  }
  return value;
}

// How many nodes the tree of look_back has: its tiles, groups of 32 of them, of 32 of those, ...
__device__ __forceinline__ unsigned int tree_nodes(unsigned int tiles) {
  unsigned int nodes = 0;
  for (; tiles > 0; tiles /= 32) nodes += tiles;
  return nodes;
}

// What the tiles before number `tile` of a row come to, for a warp whose tile comes to `mine`.
// Tiles are the leaves of a tree: the last tile of 32 leaves what they come to as well, the last of
// 32 such groups what those do, and so on. So at most 31 nodes of each level are awaited, and
// floats are added in the same order in every run.
template <class T>
__device__ __forceinline__ T look_back(unsigned long long *nodes, unsigned int tile,
                                       unsigned int tiles, unsigned int launch, T mine,
                                       const T &nothing) {
  constexpr int kWords = sizeof(T) / 4;
  const unsigned int lane = threadIdx.x % 32;
  T before = nothing;
  bool is_last = true; // of all groups that end here
  if (lane == 0)
    publish(&nodes[tile * (size_t)kWords], launch, mine);
  for (unsigned int at = tile; at > 0; at /= 32, tiles /= 32) {
    T group[1] = {nothing};
    if (lane < at % 32)
      group[0] = await<T>(&nodes[(at - at % 32 + lane) * (size_t)kWords], launch);
    combine_across<1, 32>(group);
    before = combine(group[0], before);
    nodes += tiles * (size_t)kWords;
    is_last = is_last && at % 32 == 31;
    if (is_last) {
      mine = combine(group[0], mine);
      if (lane == 0)
        publish(&nodes[at / 32 * (size_t)kWords], launch, mine);
    }
  }
  return before;
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

// A T in whole words, streaming: it is used once.
template <int kWord = 0, class T>
__device__ __forceinline__ void store_streaming(void *to, const T &value) {
  constexpr int kBytes = kWord > 0 ? kWord : word_bytes<T>();
  using word = typename word_of<kBytes>::type;
#pragma unroll
  for (int k = 0; k < sizeof(T) / kBytes; k++)
    __stcs(static_cast<word *>(to) + k, reinterpret_cast<const word *>(&value)[k]);
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

// A block has a tile of a row; 4 x 4 elements a thread.
__global__ void __launch_bounds__(256)
scan(const float *__restrict__ a, float *__restrict__ o, long long n_i, unsigned int *workspace) {
  constexpr int kThreads = 256;
  constexpr int kLanes = 256; // threads that have a row
  constexpr int kVec = 4; // elements of a vector
  constexpr int kItems = 4; // vectors that a thread has of a tile
  constexpr int kTile = kLanes * kItems * kVec; // elements of a row that are taken at once
  const long long n_rows = 1, n_elements = n_i;
  constexpr int kParts = kLanes / 32; // of a tile, one a warp
  __shared__ __align__(16) partial parts[1][kParts][1];
  // a block has a tile; which one follows from the order in which blocks begin
  __shared__ __align__(16) partial tiles_before[1];
  unsigned long long *const counter = reinterpret_cast<unsigned long long *>(workspace);
  const ticket taken = take_ticket(counter);
  const unsigned int tiles = (unsigned int)((n_elements + kTile - 1) / kTile);
  const unsigned int tile = taken.tile % tiles, lane = threadIdx.x;
  const long long row_index = taken.tile / tiles;
  unsigned long long *const nodes =
      counter + 8 + row_index * tree_nodes(tiles) * (sizeof(partial) / 4);

  // One tile: all loads before the first use. Only the last one of a row, and a block's last
  // rows, need guards.
  const auto take = [&](long long first, bool whole) {
    const bool is_row = whole || row_index < n_rows;
    vec<float, kVec> a_v[kItems] = {};
#pragma unroll
    for (int item = 0; item < kItems; item++) {
      const long long i = first + (lane / 32 * kItems * 32 + lane % 32) * kVec + item * 32 * kVec;
      const long long left = is_row ? n_elements - i : 0;
      if (whole || left > 0) {
        if (whole || left >= kVec)
          a_v[item] = load_streaming<vec<float, kVec>, 16>(&a[i]);
        else
          a_v[item] = load_some<float, kVec>(&a[i], left);
      }
    }
    partial mine[kItems * kVec];
#pragma unroll
    for (int item = 0; item < kItems; item++) {
      const long long i = first + (lane / 32 * kItems * 32 + lane % 32) * kVec + item * 32 * kVec;
      const long long left = is_row ? n_elements - i : 0;
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
      const partial up_to = scan_lanes<32>(all);
      ahead[item] = combine(sum, lanes_before<32>(up_to, identity()));
      sum = combine(sum, shuffle_from<32>(up_to, 32 - 1));
    }
    partial(&part)[kParts][1] = parts[0];
    if (lane % 32 == 0)
      part[lane / 32][0] = sum;
    __syncthreads();
    partial start = identity(), all = start;
#pragma unroll
    for (int other = 0; other < kParts; other++) {
      if (other == lane / 32)
        start = all;
      all = combine(all, part[other][0]);
    }
    if (threadIdx.x < 32) {
      const partial found = look_back(nodes, tile, tiles, taken.launch, all, identity());
      if (threadIdx.x == 0)
        tiles_before[0] = found;
    }
    __syncthreads();
    start = combine(tiles_before[0], start);

#pragma unroll
    for (int item = 0; item < kItems; item++) {
      const long long i = first + (lane / 32 * kItems * 32 + lane % 32) * kVec + item * 32 * kVec;
      const long long left = is_row ? n_elements - i : 0;
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
          store_streaming<16>(&o[i], o_v);
        else
          store_some<float, kVec>(&o[i], o_v, left);
      }
    }
  };
  const long long first = tile * (long long)kTile;
  if (first + kTile <= n_elements) {
    take(first, true);
  } else {
    take(first, false);
  }
}
