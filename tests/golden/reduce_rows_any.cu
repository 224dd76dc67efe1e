// templates/device/division.cuh: sct_floor_mod
// templates/device/reduce.cuh: shuffle_xor, combine_across
// templates/device/vectors.cuh: vec_align, vec
// templates/device/words.cuh: word_of, word_bytes, load

// What is computed for one element.
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
  constexpr int kKept = kGroups; // outputs that the block owns
  constexpr int kStep = kLanes * kItems * kVec; // elements of each that it takes at once
  constexpr int kParts = kThreads / 32; // of an output, in shared memory
  __shared__ __align__(16) partial parts[kParts][kKept];
  const int lane = threadIdx.x % kLanes, group = threadIdx.x / kLanes;
  const long long n_kept = n_row, n_reduced = n_col;
  const long long tile = blockIdx.x;
  const long long row = min(tile * kGroups + group, n_kept - 1);

  partial mine[1];
#pragma unroll
  for (int m = 0; m < 1; m++) mine[m] = identity();

  // what lies before the first and after the last whole vector of a row
  const long long before = min(n_reduced, (long long)(sct_floor_mod(-n_col * row, 4)));
  const long long stop = before + (n_reduced - before) / kVec * kVec;
  for (long long edge = lane; edge < before + n_reduced - stop; edge += kLanes) {
    const long long col = edge < before ? edge : stop + edge - before;
    float total_e;
    compute(__ldg(&a[n_col * row + col]), total_e);
    mine[0] = combine(mine[0], {total_e});
  }
  // One step: all loads before the first use. Only the last one may need guards.
  const auto add_step = [&](long long first, bool guarded) {
    vec<float, kVec> a_v[kItems] = {};
#pragma unroll
    for (int item = 0; item < kItems; item++) {
      const long long col = first + (item * kLanes + lane) * kVec;
      if (!guarded || col < stop) {
        a_v[item] = load<vec<float, kVec>, 16>(&a[n_col * row + col]);
      }
    }
#pragma unroll
    for (int item = 0; item < kItems; item++) {
      const long long col = first + (item * kLanes + lane) * kVec;
      if (!guarded || col < stop) {
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

  // brings what the threads have to shared memory
  const auto meet = [&] {
    combine_across<1, 32>(mine); // lanes of a warp that have the same outputs
    if (lane % 32 == 0)
#pragma unroll
      for (int m = 0; m < 1; m++) parts[lane / 32][m] = mine[m];
    __syncthreads();
  };
  // what it comes to, for one of the block's outputs
  const auto all_of = [&](int index) -> partial {
    partial all = parts[0][index];
#pragma unroll 8
    for (int part = 1; part < kParts; part++) all = combine(all, parts[part][index]);
    return all;
  };
  meet();
  for (int index = threadIdx.x; index < kKept; index += kThreads) {
    const partial all = all_of(index);
    const long long kept = tile * (long long)kKept + index;
    if (kept < n_kept) {
      const long long row = kept;
      total[row] = all.total;
    }
  }
}
