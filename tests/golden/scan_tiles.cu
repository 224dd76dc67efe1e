// templates/device/reduce.cuh: shuffle_xor, shuffle_up, combine_across
// templates/device/scan.cuh: shuffle_from, scan_lanes, lanes_before, ticket, take_ticket, publish, await, tree_nodes, look_back
// templates/device/vectors.cuh: vec_align, vec, load_some, store_some
// templates/device/words.cuh: word_of, word_bytes, load_streaming, store_streaming

// Computes one element.
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
  constexpr int kWarpLanes = 32; // lanes of a warp that have a row
  constexpr int kTile = kLanes * kItems * kVec; // elements of a row that are taken at once
  constexpr int kParts = kLanes / 32; // of a tile, one a warp
  constexpr int kNodesAt = 8; // words of the workspace before the nodes of all tiles
  const long long n_elements = n_i;
  __shared__ __align__(16) partial parts[kParts];
  __shared__ __align__(16) partial tiles_before; // what they come to
  // a block has a tile; which one follows from the order in which blocks begin
  unsigned long long *const counter = reinterpret_cast<unsigned long long *>(workspace);
  const ticket taken = take_ticket(counter);
  const unsigned int tiles = (unsigned int)((n_elements + kTile - 1) / kTile);
  const long long row_index = taken.tile / tiles;
  const unsigned int tile = taken.tile - (unsigned int)row_index * tiles, lane = threadIdx.x;
  unsigned long long *const nodes =
      counter + kNodesAt + row_index * tree_nodes(tiles) * (sizeof(partial) / 4);

  // of the thread's first vector in a tile
  const int offset = (lane / 32 * kItems * 32 + lane % 32) * kVec;

  // One tile: all loads before the first use. whole: it lies inside the row, which is there.
  const auto scan_tile = [&](long long first, bool whole) {
    vec<float, kVec> a_v[kItems] = {};
#pragma unroll
    for (int item = 0; item < kItems; item++) {
      const long long i = first + offset + item * 32 * kVec;
      const long long left = n_elements - i;
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
      const long long i = first + offset + item * 32 * kVec;
      const long long left = n_elements - i;
#pragma unroll
      for (int e = 0; e < kVec; e++) {
        mine[item * kVec + e] = identity();
        if (whole || left > e) {
          float o_e;
          compute(a_v[item][e], o_e);
          mine[item * kVec + e] = {o_e};
        }
      }
    }

    // what comes before each of the thread's vectors in its part of the tile
    partial ahead[kItems], sum = identity();
#pragma unroll
    for (int item = 0; item < kItems; item++) {
      partial all = mine[item * kVec];
#pragma unroll
      for (int e = 1; e < kVec; e++) all = combine(all, mine[item * kVec + e]);
      const partial up_to = scan_lanes<kWarpLanes>(all);
      ahead[item] = combine(sum, lanes_before<kWarpLanes>(up_to, identity()));
      sum = combine(sum, shuffle_from<kWarpLanes>(up_to, kWarpLanes - 1));
    }
    if (lane % 32 == 0)
      parts[lane / 32] = sum;
    __syncthreads();
    partial start = identity(), all = start;
#pragma unroll
    for (int other = 0; other < kParts; other++) {
      if (other == lane / 32)
        start = all;
      all = combine(all, parts[other]);
    }
    if (threadIdx.x < 32) {
      const partial found = look_back(nodes, tile, tiles, taken.launch, all, identity());
      if (threadIdx.x == 0)
        tiles_before = found;
    }
    __syncthreads();
    start = combine(tiles_before, start);

#pragma unroll
    for (int item = 0; item < kItems; item++) {
      const long long i = first + offset + item * 32 * kVec;
      const long long left = n_elements - i;
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
    scan_tile(first, true);
  } else {
    scan_tile(first, false);
  }
}
