// templates/device/reduce.cuh: shuffle_up
// templates/device/scan.cuh: shuffle_from, scan_lanes, lanes_before
// templates/device/vectors.cuh: vec_align, vec, load_some, store_some
// templates/device/words.cuh: word_of, word_bytes, load, store

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

// 8 threads have a row, tile by tile; 4 x 4 elements a thread.
__global__ void __launch_bounds__(256)
scan(const float *__restrict__ a, float *__restrict__ o, long long n_row, long long n_col) {
  constexpr int kThreads = 256;
  constexpr int kLanes = 8; // threads that have a row
  constexpr int kVec = 4; // elements of a vector
  constexpr int kItems = 4; // vectors that a thread has of a tile
  constexpr int kWarpLanes = 8; // lanes of a warp that have a row
  constexpr int kRows = kThreads / kLanes; // rows of a block
  constexpr int kTile = kLanes * kItems * kVec; // elements of a row that are taken at once
  const long long n_rows = n_row, n_elements = n_col;
  const int lane = threadIdx.x % kLanes, line = threadIdx.x / kLanes;
  const long long row_index = blockIdx.x * (long long)kRows + line;
  const long long row = row_index;
  partial before = identity(); // what the tiles before come to

  // of the thread's first vector in a tile
  const int offset = lane * kVec;

  // One tile: all loads before the first use. whole: it lies inside the row, which is there.
  const auto scan_tile = [&](long long first, bool whole) {
    const bool is_row = whole || row_index < n_rows;
    vec<float, kVec> a_v[kItems] = {};
#pragma unroll
    for (int item = 0; item < kItems; item++) {
      const long long col = first + offset + item * kLanes * kVec;
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
      const long long col = first + offset + item * kLanes * kVec;
      const long long left = is_row ? n_elements - col : 0;
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
    const partial start = before;
    before = combine(before, sum);

#pragma unroll
    for (int item = 0; item < kItems; item++) {
      const long long col = first + offset + item * kLanes * kVec;
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
      scan_tile(first, true);
    } else {
      scan_tile(first, false);
    }
  }
}
