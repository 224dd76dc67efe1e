// templates/device/reduce.cuh: shuffle_xor, combine_across
// templates/device/vectors.cuh: vec_align, vec
// templates/device/words.cuh: word_of, word_bytes, load

// Computes one element.
__device__ __forceinline__ void compute(float a, float &at, float &top) {
  at = a; top = a;
}


// What is known of one element of the outputs so far: a member for each reduced value,
// and for each index the value there.
struct partial {
  float at_value;
  unsigned int at;
  float top;
};

// The identity element.
__device__ __forceinline__ partial identity() {
  return {-__int_as_float(0x7f800000), (unsigned int)-1, -__int_as_float(0x7f800000)};
}

// Two partial results as one.
__device__ __forceinline__ partial combine(const partial &one, const partial &other) {
  const bool at_wins = other.at_value > one.at_value
    || (other.at_value == one.at_value && other.at < one.at);
  return {at_wins ? other.at_value : one.at_value, at_wins ? other.at : one.at,
          fmaxf(one.top, other.top)};
}

// Groups that share an output, of 32 lanes read 4 neighbours along col each, 4 x 1 at once.
__global__ void __launch_bounds__(256)
reduce(const float *__restrict__ a, int *__restrict__ at, float *__restrict__ top, long long n_row,
       long long n_col) {
  constexpr int kThreads = 256;
  constexpr int kLanes = 32; // threads side by side along col, that share an output
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

  // One step: all loads before the first use. Only the last one may need guards.
  const auto add_step = [&](long long first, bool guarded) {
    const int left = (int)(n_reduced - first); // of the last one
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
        const long long col = first + place;
#pragma unroll
        for (int e = 0; e < kVec; e++) {
          float at_e;
          float top_e;
          compute(a_v[item][e], at_e, top_e);
          mine[0] = combine(mine[0], {at_e, (unsigned int)(col + e), top_e});
        }
      }
    }
  };
  long long first = 0;
  for (; first + kStep <= n_reduced; first += kStep) add_step(first, false);
  if (first < n_reduced) add_step(first, true);

  combine_across<1, kLanes>(mine);
  if (lane == 0 && tile * kGroups + group < n_kept) {
    at[row] = (int)mine[0].at;
    top[row] = mine[0].top;
  }
}
