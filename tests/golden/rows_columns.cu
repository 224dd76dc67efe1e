// templates/device/reduce.cuh: shuffle_xor, combine_across, combine_columns
// templates/device/reduce_cluster.cuh: cluster_arrive, put_to_block, combine_columns_cluster
// templates/device/vectors.cuh: vec_align, vec
// templates/device/words.cuh: word_of, word_bytes, load, store

// Step 1, for one element of a row.
__device__ __forceinline__ void step_1(float x, float &q) {
  float v = x; q = v * v;
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
__device__ __forceinline__ void step_2(float eps, float q, float &r) {
  r = rsqrtf(q + eps);
}

// Step 3, for one element of a row.
__device__ __forceinline__ void step_3(float x, float r, float &y) {
  y = x * r;
}

// 512 threads have 4 neighbouring columns, whose elements are loaded once.
__global__ void __cluster_dims__(4, 1, 1) __launch_bounds__(512)
rows(const float *__restrict__ x, float *__restrict__ y, float eps, long long n_row,
     long long n_col) {
  constexpr int kThreads = 512;
  constexpr int kLanes = 512; // threads that have a column
  constexpr int kVec = 4; // neighbouring columns that they have
  constexpr int kItems = 8; // elements of a column that a thread has at once
  constexpr int kBlocks = 4; // of a cluster, which have a column together
  constexpr int kSide = kThreads * kBlocks / kLanes; // threads side by side along col
  const int lane = (blockIdx.x % kBlocks * kThreads + threadIdx.x) / kSide;
  const long long column_index =
      (blockIdx.x / kBlocks * (long long)kSide + threadIdx.x % kSide) * kVec;
  cluster_arrive();
  const bool is_column = column_index < n_col;
  const long long col = column_index;
  const int n_elements = is_column ? n_row : 0;
  // the column, all loads before the first use; lanes after its end load what it ends with
  vec<float, kVec> x_v[kItems] = {};
  if (n_elements > 0) {
#pragma unroll
    for (int item = 0; item < kItems; item++) {
      const int row = min(item * kLanes + lane, n_elements - 1);
      x_v[item] = load<vec<float, kVec>, 16>(&x[n_col * row + col]);
    }
  }
  cluster_wait(); // all its blocks run

  partial_1 found_1[kVec];
#pragma unroll
  for (int e = 0; e < kVec; e++)
    found_1[e] = identity_1();
  {
#pragma unroll
    for (int item = 0; item < kItems; item++) {
      const int row = item * kLanes + lane;
      // computed without a branch, so that later steps find what they have in common
#pragma unroll
      for (int e = 0; e < kVec; e++) {
        const bool inside = row < n_elements;
        const partial_1 before = found_1[e];
        float q_e;
        step_1(x_v[item][e], q_e);
        found_1[e] = combine(found_1[e], {q_e});
        found_1[e] = inside ? found_1[e] : before;
      }
    }
  }
  combine_columns_cluster<kThreads, kSide, kBlocks>(found_1);

  float r_e[kVec] = {};
  if (is_column) {
#pragma unroll
    for (int e = 0; e < kVec; e++) {
      step_2(eps, found_1[e].q, r_e[e]);
    }
  }

  {
#pragma unroll
    for (int item = 0; item < kItems; item++) {
      const int row = item * kLanes + lane;
      if (row < n_elements) {
        vec<float, kVec> y_v;
#pragma unroll
        for (int e = 0; e < kVec; e++) {
          step_3(x_v[item][e], r_e[e], y_v[e]);
        }
        store<16>(&y[n_col * row + col], y_v);
      }
    }
  }
}
