// templates/device/reduce.cuh: combine_block, load_from_l2, is_last_block

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

// A block has an output; where outputs are few, several blocks share them, by a grid-stride loop
// over what is reduced.
__global__ void __launch_bounds__(256)
direct(const float *__restrict__ a, float *__restrict__ total, long long n_row, long long n_col,
       unsigned int *workspace) {
  constexpr int kThreads = 256;
  constexpr int kLanes = 1; // outputs of a block, side by side
  constexpr int kGroups = kThreads / kLanes;
  const int lane = threadIdx.x % kLanes, group = threadIdx.x / kLanes;
  // where outputs are few, several blocks share them: each takes a part of what is reduced
  const long long n_kept = n_row;
  const unsigned int tiles = (unsigned int)((n_kept + kLanes - 1) / kLanes);
  const unsigned int shares = gridDim.x / tiles, share = blockIdx.x / tiles;
  const unsigned int tile = blockIdx.x % tiles;
  const long long output = tile * (long long)kLanes + lane;
  const long long row = output;
  partial mine = identity();
#pragma unroll 8 // several loads at once
  for (long long place = share * (long long)kGroups + group; output < n_row && place < n_col;
       place += shares * (long long)kGroups) {
    const long long col = place;
    const float a_v = a[n_col * row + col];
    float total_v;
    compute(a_v, total_v);
    mine = combine(mine, {total_v});
  }
  mine = combine_block<kThreads, kLanes>(mine);
  if (shares > 1) {
    constexpr int kCounters = 65536; // in front of the workspace
    partial *const partials = reinterpret_cast<partial *>(workspace + kCounters);
    if (threadIdx.x < kLanes)
      partials[blockIdx.x * kLanes + lane] = mine;
    if (!is_last_block(&workspace[tile], shares)) return;
    // the last block combines what all have left
    mine = identity();
    for (unsigned int other = group; other < shares; other += kGroups)
      mine = combine(mine, load_from_l2(&partials[(other * tiles + tile) * kLanes + lane]));
    mine = combine_block<kThreads, kLanes>(mine);
  }
  if (threadIdx.x < kLanes && output < n_row) {
    total[row] = mine.total;
  }
}
