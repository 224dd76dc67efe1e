// templates/device/reduce.cuh: shuffle_xor, combine_across, combine_row
// templates/device/vectors.cuh: vec_align, vec
// templates/device/words.cuh: word_of, word_bytes, load

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

// Groups that share an output, of 512 lanes read 4 neighbours along col each, 4 x 1 at once.
__global__ void __launch_bounds__(512)
reduce(const float *__restrict__ a, float *__restrict__ total, long long n_row, long long n_col) {
  constexpr int kThreads = 512;
  constexpr int kLanes = 512; // threads side by side along col, that share an output
  constexpr int kGroups = kThreads / kLanes; // of them, each with outputs of its own
  constexpr int kVec = 4; // elements of a vector: neighbours along col
  constexpr int kItems = 4; // loads in flight along what is reduced
  constexpr int kStep = kLanes * kItems * kVec; // elements of each that it takes at once
  const int lane = threadIdx.x % kLanes, group = threadIdx.x / kLanes;
  const long long n_kept = n_row;
  const long long n_reduced = n_col;
  const long long tile = blockIdx.x;
  const long long row = min(tile * kGroups + group, n_kept - 1);

  partial mine[1];
#pragma unroll
  for (int m = 0; m < 1; m++) mine[m] = identity();

  // elements before the first and after the last whole vector of a row are in flight, too
  constexpr int kEdges = 1; // elements of it that a lane has
  const long long before =
      min(n_reduced, (long long)(-(unsigned long long)&a[n_col * row] % 16) / 4);
  const long long stop = before + (n_reduced - before) / kVec * kVec;
  const int n_edge = (int)(before + n_reduced - stop);
  float edge_a_v[kEdges] = {};
#pragma unroll
  for (int k = 0; k < kEdges; k++) {
    const int edge = k * kLanes + lane;
    if (edge < n_edge) {
      const long long col = edge < before ? edge : stop + edge - before;
      edge_a_v[k] = __ldg(&a[n_col * row + col]);
    }
  }
  // One step: all loads before the first use. Only the last one may need guards.
  const auto add_step = [&](long long first, bool guarded) {
    const int left = (int)(stop - first); // of the last one
    vec<float, kVec> a_v[kItems] = {};
#pragma unroll
    for (int item = 0; item < kItems; item++) {
      const int place = (item * kLanes + lane) * kVec;
      if (!guarded || place < left) {
        const long long col = first + place;
        a_v[item] = load<vec<float, kVec>, 16>(&a[n_col * row + col]);
      }
    }
#pragma unroll
    for (int item = 0; item < kItems; item++) {
      const int place = (item * kLanes + lane) * kVec;
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
  long long first = before;
  for (; first + kStep <= stop; first += kStep) add_step(first, false);
  if (first < stop) add_step(first, true);
#pragma unroll
  for (int k = 0; k < kEdges; k++) {
    const int edge = k * kLanes + lane;
    if (edge < n_edge) {
      float total_e;
      compute(edge_a_v[k], total_e);
      mine[0] = combine(mine[0], {total_e});
    }
  }

  mine[0] = combine_row<kLanes>(mine[0]);
  if (lane == 0 && tile * kGroups + group < n_kept) {
    total[row] = mine[0].total;
  }
}
