// templates/device/reduce.cuh: shuffle_xor, combine_across, combine_row
// templates/device/vectors.cuh: vec_align, vec, any_of, store_unless
// templates/device/words.cuh: word_of, word_bytes, load_coherent, store

// Step 1, for one element of a row.
__device__ __forceinline__ void step_1(float x, float &q) {
  q = (float)x * x;
}

// What is known of one row so far: a member for each reduced value.
struct partial_1 {
  float q;
};

// The identity element.
__device__ __forceinline__ partial_1 identity_1() {
  return {0.0f};
}

// Two partial results as one.
__device__ __forceinline__ partial_1 combine(const partial_1 &one, const partial_1 &other) {
  return {one.q + other.q};
}

// Step 2, once a row.
__device__ __forceinline__ void step_2(float limit, float q, float &r) {
  r = limit * rsqrtf(q);
}

// Step 3, for one element of a row.
__device__ __forceinline__ void step_3(float r, float &x, bool &x_kept) {
  if (r < 1.0f) {
    x = x * r;
  } else {
    x_kept = true;
  }
}

// A block has a row, whose elements are loaded once. They move in vectors of 4.
__global__ void __launch_bounds__(256)
rows(float *__restrict__ x, float limit, long long n_row, long long n_col) {
  constexpr int kThreads = 256;
  constexpr int kLanes = 256; // threads that have a row
  constexpr int kVec = 4; // elements of a vector
  constexpr int kItems = 4; // vectors of a row that a thread has at once
  constexpr int kRows = kThreads / kLanes; // rows of a block
  const int lane = threadIdx.x % kLanes;
  const long long row_index = blockIdx.x * (long long)kRows + threadIdx.x / kLanes;
  const bool is_row = row_index < n_row;
  const long long row = row_index;
  const int n_elements = is_row ? n_col : 0;
  // the row, all loads before the first use
  vec<float, kVec> x_old_v[kItems] = {};
  if (n_elements > 0) {
#pragma unroll
    for (int item = 0; item < kItems; item++) {
      const int col = (item * kLanes + lane) * kVec;
      if (col < n_elements) {
        x_old_v[item] = load_coherent<vec<float, kVec>, 16>(&x[n_col * row + col]);
      }
    }
  }

  partial_1 found_1 = identity_1();
  {
#pragma unroll
    for (int item = 0; item < kItems; item++) {
      const int col = (item * kLanes + lane) * kVec;
      // computed without a branch, so that later steps find what they have in common
      const bool inside = col < n_elements;
      const partial_1 before = found_1;
#pragma unroll
      for (int e = 0; e < kVec; e++) {
        float q_e;
        step_1(x_old_v[item][e], q_e);
        found_1 = combine(found_1, {q_e});
      }
      found_1 = inside ? found_1 : before;
    }
  }
  found_1 = combine_row<kLanes>(found_1);

  float r_e = {};
  if (is_row) {
    step_2(limit, found_1.q, r_e);
  }

  {
#pragma unroll
    for (int item = 0; item < kItems; item++) {
      const int col = (item * kLanes + lane) * kVec;
      if (col < n_elements) {
        vec<float, kVec> x_v;
        bool x_kept[kVec];
#pragma unroll
        for (int e = 0; e < kVec; e++) {
          x_kept[e] = false;
          x_v[e] = x_old_v[item][e];
          step_3(r_e, x_v[e], x_kept[e]);
        }
        if (!any_of(x_kept))
          store<16>(&x[n_col * row + col], x_v);
        else
          store_unless(&x[n_col * row + col], x_v, x_kept);
      }
    }
  }
}
