// templates/device/reduce.cuh: load_from_l2, is_last_block
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

// Groups of 32 lanes read 4 neighbours along col each, 8 x 1 at once.
__global__ void __launch_bounds__(512)
reduce(const float *__restrict__ a, float *__restrict__ total, long long n_row, long long n_col,
       unsigned int *workspace) {
  constexpr int kThreads = 512;
  constexpr int kLanes = 32; // threads side by side along col
  constexpr int kGroups = kThreads / kLanes; // of them, that share outputs
  constexpr int kVec = 4; // elements of a vector: neighbours along col
  constexpr int kItems = 8; // loads in flight along what is reduced
  constexpr int kCounters = 65536; // in front of the workspace
  constexpr int kKept = kLanes * kVec; // outputs that the block owns
  constexpr int kStep = kGroups * kItems; // elements of each that it takes at once
  constexpr int kParts = kGroups; // of an output, in shared memory
  __shared__ __align__(16) partial parts[kParts][kKept];
  const int lane = threadIdx.x % kLanes, group = threadIdx.x / kLanes;
  const long long n_kept = n_col;
  const long long n_reduced = n_row;
  // where outputs are few, several blocks share them: each takes a part of what is reduced
  const unsigned int tiles = (unsigned int)((n_kept + kKept - 1) / kKept);
  const unsigned int shares = gridDim.x / tiles, share = blockIdx.x / tiles;
  const long long tile = blockIdx.x % tiles;
  partial *const partials = reinterpret_cast<partial *>(workspace + kCounters);
  const long long col = min((tile * kLanes + lane) * kVec, n_kept - kVec);

  partial mine[kVec];
#pragma unroll
  for (int m = 0; m < kVec; m++) mine[m] = identity();

  // One step: all loads before the first use. Only the last one may need guards.
  const auto add_step = [&](long long first, bool guarded) {
    const int left = (int)(n_reduced - first); // of the last one
    vec<float, kVec> a_v[kItems] = {};
#pragma unroll
    for (int item = 0; item < kItems; item++) {
      const int place = item * kGroups + group;
      if (!guarded || place < left) {
        const long long row = first + place;
        a_v[item] = load_streaming<vec<float, kVec>, 16>(&a[n_col * row + col]);
      }
    }
#pragma unroll
    for (int item = 0; item < kItems; item++) {
      const int place = item * kGroups + group;
      if (!guarded || place < left) {
#pragma unroll
        for (int e = 0; e < kVec; e++) {
          float total_e;
          compute(a_v[item][e], total_e);
          mine[e] = combine(mine[e], {total_e});
        }
      }
    }
  };
  long long first = share * (long long)kStep;
  for (; first + kStep <= n_reduced; first += shares * (long long)kStep) add_step(first, false);
  if (first < n_reduced) add_step(first, true);

  // brings what the threads have to shared memory
  const auto meet = [&] {
#pragma unroll
      for (int m = 0; m < kVec; m++) parts[group][lane * kVec + m] = mine[m];
    __syncthreads();
  };
  // what it comes to, for one of the block's outputs
  const auto all_of = [&](int index) -> partial {
    partial all = parts[0][index];
#pragma unroll 8
    for (int part = 1; part < kParts; part++) all = combine(all, parts[part][index]);
    return all;
  };
  if (shares > 1) {
    meet();
    for (int index = threadIdx.x; index < kKept; index += kThreads)
      partials[blockIdx.x * kKept + index] = all_of(index);
    if (!is_last_block(&workspace[tile], shares)) return;
    // the last block combines what all have left
#pragma unroll
    for (int m = 0; m < kVec; m++) mine[m] = identity();
#pragma unroll 4
    for (int other = group; other < shares; other += kGroups) {
      const partial *const left = &partials[(other * tiles + tile) * kKept];
#pragma unroll
      for (int m = 0; m < kVec; m++)
        mine[m] = combine(mine[m], load_from_l2(&left[lane * kVec + m]));
    }
  }
  meet();
  for (int index = threadIdx.x; index < kKept; index += kThreads) {
    const partial all = all_of(index);
    const long long kept = tile * (long long)kKept + index;
    if (kept < n_kept) {
      const long long col = kept;
      total[col] = all.total;
    }
  }
}
