// templates/device/reduce.cuh: shuffle_xor, combine_across
// templates/device/reduce_cluster.cuh: cluster_arrive, put_to_block, combine_cluster
// templates/device/vectors.cuh: vec_align, vec
// templates/device/words.cuh: word_of, word_bytes, load, store

// Step 1, for one element of a row.
__device__ __forceinline__ void step_1(float x, float &m) {
  m = x;
}

// What is known of one row so far: a member for each reduced value.
struct partial_1 {
  float m;
};

// The identity element.
__device__ __forceinline__ partial_1 identity_1() {
  return {-__int_as_float(0x7f800000)};
}

// Two partial results as one.
__device__ __forceinline__ partial_1 combine(const partial_1 &one, const partial_1 &other) {
  return {fmaxf(one.m, other.m)};
}

// Step 2, for one element of a row.
__device__ __forceinline__ void step_2(float x, float m, float &t) {
  t = expf(x - m);
}

// What is known of one row so far: a member for each reduced value.
struct partial_2 {
  float t;
};

// The identity element.
__device__ __forceinline__ partial_2 identity_2() {
  return {0.0f};
}

// Two partial results as one.
__device__ __forceinline__ partial_2 combine(const partial_2 &one, const partial_2 &other) {
  return {one.t + other.t};
}

// Step 3, once a row.
__device__ __forceinline__ void step_3(float t, float &r) {
  r = 1.0f / t;
}

// Step 4, for one element of a row.
__device__ __forceinline__ void step_4(float x, float m, float r, float &y) {
  y = expf(x - m) * r;
}

// A cluster of blocks has a row, whose elements are loaded once. They move in vectors of 4.
__global__ void __cluster_dims__(8, 1, 1) __launch_bounds__(256)
rows(const float *__restrict__ x, float *__restrict__ y, long long n_row, long long n_col) {
  constexpr int kThreads = 256;
  constexpr int kLanes = 2048; // threads that have a row
  constexpr int kVec = 4; // elements of a vector
  constexpr int kItems = 8; // vectors of a row that a thread has at once
  constexpr int kBlocks = 8; // of a cluster, which have a row together
  const int lane = blockIdx.x % kBlocks * kThreads + threadIdx.x;
  const long long row_index = blockIdx.x / kBlocks;
  cluster_arrive();
  const bool is_row = row_index < n_row;
  const long long row = row_index;
  const int n_elements = is_row ? n_col : 0;
  // the row, all loads before the first use; lanes after its end load what it ends with
  vec<float, kVec> x_v[kItems] = {};
  if (n_elements > 0) {
#pragma unroll
    for (int item = 0; item < kItems; item++) {
      const int col = min((item * kLanes + lane) * kVec, n_elements - 4);
      x_v[item] = load<vec<float, kVec>, 16>(&x[n_col * row + col]);
    }
  }
  cluster_wait(); // all its blocks run

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
        float m_e;
        step_1(x_v[item][e], m_e);
        found_1 = combine(found_1, {m_e});
      }
      found_1 = inside ? found_1 : before;
    }
  }
  found_1 = combine_cluster<kThreads, kBlocks>(found_1);

  partial_2 found_2 = identity_2();
  {
#pragma unroll
    for (int item = 0; item < kItems; item++) {
      const int col = (item * kLanes + lane) * kVec;
      // computed without a branch, so that later steps find what they have in common
      const bool inside = col < n_elements;
      const partial_2 before = found_2;
#pragma unroll
      for (int e = 0; e < kVec; e++) {
        float t_e;
        step_2(x_v[item][e], found_1.m, t_e);
        found_2 = combine(found_2, {t_e});
      }
      found_2 = inside ? found_2 : before;
    }
  }
  found_2 = combine_cluster<kThreads, kBlocks>(found_2);

  float r_e = {};
  if (is_row) {
    step_3(found_2.t, r_e);
  }

  {
#pragma unroll
    for (int item = 0; item < kItems; item++) {
      const int col = (item * kLanes + lane) * kVec;
      if (col < n_elements) {
        vec<float, kVec> y_v;
#pragma unroll
        for (int e = 0; e < kVec; e++) {
          step_4(x_v[item][e], found_1.m, r_e, y_v[e]);
        }
        store<16>(&y[n_col * row + col], y_v);
      }
    }
  }
}
