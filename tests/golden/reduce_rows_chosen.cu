// templates/device/reduce.cuh: shuffle_xor, log2_above, log2_lanes, combine_lanes, load_from_l2, is_last_block
// templates/device/vectors.cuh: vec_align, vec
// templates/device/words.cuh: word_of, word_bytes, load_streaming

// Computes one element.
__device__ __forceinline__ void compute(float a, float &total) {
  total = a;
}


// What is known of one element of the outputs so far: a member for each reduced value.
struct partial {
  float total;
};

// The identity element.
__device__ __forceinline__ partial identity() {
  return {0.0f};
}

// Two partial results as one.
__device__ __forceinline__ partial combine(const partial &one, const partial &other) {
  return {one.total + other.total};
}

// As many lanes as an output keeps busy read 4 neighbours along col each, 4 x 1 at once.
__global__ void __launch_bounds__(256)
reduce(const float *__restrict__ a, float *__restrict__ total, long long n_row, long long n_col,
       unsigned int *workspace) {
  constexpr int kThreads = 256;
  constexpr int kVec = 4; // elements of a vector: neighbours along col
  constexpr int kItems = 4; // loads in flight along what is reduced
  constexpr int kCounters = 65536; // in front of the workspace
  // lanes that share an output: a power of two, so many that each has work
  const int log_lanes = log2_lanes<2, 256>((int)(max((n_col + 12) >> 4, min(n_col >> 2, 4LL))),
      (int)(n_col >> 2), n_row, 17);
  const int lanes = 1 << log_lanes, n_groups = kThreads >> log_lanes;
  const int n_step = lanes * kItems * kVec; // elements that they take at once
  const int lane = threadIdx.x & (lanes - 1), group = threadIdx.x >> log_lanes;
  const long long n_kept = n_row;
  const int n_reduced = n_col;
  // where outputs are few, several blocks share them: each takes a part of what is reduced
  unsigned int tiles = gridDim.x, shares = 1, share = 0, tile = blockIdx.x;
  if (lanes == kThreads) { // a tile is an output
    tiles = (unsigned int)n_kept;
    shares = gridDim.x / tiles, share = tile / tiles, tile = tile % tiles;
  }
  partial *const partials = reinterpret_cast<partial *>(workspace + kCounters);
  const long long row = min(tile * (long long)n_groups + group, n_kept - 1);

  partial mine[1];
#pragma unroll
  for (int m = 0; m < 1; m++) mine[m] = identity();

  // elements before the first and after the last whole vector of a row are in flight, too
  constexpr int kEdges = 3; // elements of it that a lane has
  const int before = min(n_reduced, (int)(-(unsigned long long)&a[n_col * row] % 16) / 4);
  const int stop = before + (n_reduced - before) / kVec * kVec;
  const int n_edge = share == 0 ? (int)(before + n_reduced - stop) : 0;
  float edge_a_v[kEdges] = {};
#pragma unroll
  for (int k = 0; k < kEdges; k++) {
    const int edge = k * lanes + lane;
    if (edge < n_edge) {
      const int col = edge < before ? edge : stop + edge - before;
      edge_a_v[k] = __ldcs(&a[n_col * row + col]);
    }
  }
  // One step: all loads before the first use. Only the last one may need guards.
  const auto add_step = [&](int first, bool guarded) {
    const int left = (int)(stop - first); // of the last one
    vec<float, kVec> a_v[kItems] = {};
#pragma unroll
    for (int item = 0; item < kItems; item++) {
      const int place = (item * lanes + lane) * kVec;
      if (!guarded || place < left) {
        const int col = first + place;
        a_v[item] = load_streaming<vec<float, kVec>, 16>(&a[n_col * row + col]);
      }
    }
#pragma unroll
    for (int item = 0; item < kItems; item++) {
      const int place = (item * lanes + lane) * kVec;
      if (!guarded || place < left) {
#pragma unroll
        for (int e = 0; e < kVec; e++) {
          float total_e;
          compute(a_v[item][e], total_e);
          mine[0] = combine(mine[0], {total_e});
        }
      }
    }
  };
  int first = before + share * n_step;
  for (; first + n_step <= stop; first += shares * n_step) add_step(first, false);
  if (first < stop) add_step(first, true);
#pragma unroll
  for (int k = 0; k < kEdges; k++) {
    const int edge = k * lanes + lane;
    if (edge < n_edge) {
      float total_e;
      compute(edge_a_v[k], total_e);
      mine[0] = combine(mine[0], {total_e});
    }
  }

  mine[0] = combine_lanes<kThreads>(mine[0], lanes);
  if (shares > 1) { // blocks that have an output each
    if (threadIdx.x == 0) partials[blockIdx.x] = mine[0];
    if (!is_last_block(&workspace[tile], shares)) return;
    // the last block combines what all have left
    mine[0] = identity();
#pragma unroll 4
    for (int other = threadIdx.x; other < shares; other += kThreads)
      mine[0] = combine(mine[0], load_from_l2(&partials[other * tiles + tile]));
    mine[0] = combine_lanes<kThreads>(mine[0], lanes);
  }
  if (lane == 0 && tile * (long long)n_groups + group < n_kept) {
    total[row] = mine[0].total;
  }
}
