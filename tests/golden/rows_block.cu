// templates/device/reduce.cuh: shuffle_xor, combine_across, combine_row
// templates/device/vectors.cuh: vec_align, vec
// templates/device/words.cuh: word_of, word_bytes, load, store

// Step 1, for one element of a row.
__device__ __forceinline__ void step_1(float x, float &t) {
  t = x;
}

// What is known of one row so far: a member for each reduced value.
struct partial_1 {
  float t;
};

// The identity element.
__device__ __forceinline__ partial_1 identity_1() {
  return {0.0f};
}

// Two partial results as one.
__device__ __forceinline__ partial_1 combine(const partial_1 &one, const partial_1 &other) {
  return {one.t + other.t};
}

// Step 2, once a row.
__device__ __forceinline__ void step_2(long long n_col, float t, float &mean) {
  mean = t / n_col;
}

// Step 3, for one element of a row.
__device__ __forceinline__ void step_3(float x, float mean, float &q) {
  float d = x - mean; q = d * d;
}

// What is known of one row so far: a member for each reduced value.
struct partial_3 {
  float q;
};

// The identity element.
__device__ __forceinline__ partial_3 identity_3() {
  return {0.0f};
}

// Two partial results as one.
__device__ __forceinline__ partial_3 combine(const partial_3 &one, const partial_3 &other) {
  return {one.q + other.q};
}

// Step 4, once a row.
__device__ __forceinline__ void step_4(float eps, long long n_col, float q, float &r) {
  r = rsqrtf(q / n_col + eps);
}

// Step 5, for one element of a row.
__device__ __forceinline__ void step_5(float x, float gamma, float beta, float mean, float r,
                                       float &y) {
  y = (x - mean) * r * gamma + beta;
}

// A block has a row, whose elements are loaded once. They move in vectors of 4.
__global__ void __launch_bounds__(256)
rows(const float *__restrict__ x, const float *__restrict__ gamma, const float *__restrict__ beta,
     float *__restrict__ y, float eps, long long n_row, long long n_col) {
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
  // the row, all loads before the first use; lanes after its end load what it ends with
  vec<float, kVec> x_v[kItems] = {};
  if (n_elements > 0) {
#pragma unroll
    for (int item = 0; item < kItems; item++) {
      const int col = min((item * kLanes + lane) * kVec, n_elements - 4);
      x_v[item] = load<vec<float, kVec>, 16>(&x[n_col * row + col]);
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
        float t_e;
        step_1(x_v[item][e], t_e);
        found_1 = combine(found_1, {t_e});
      }
      found_1 = inside ? found_1 : before;
    }
  }
  found_1 = combine_row<kLanes>(found_1);

  float mean_e = {};
  if (is_row) {
    step_2(n_col, found_1.t, mean_e);
  }

  partial_3 found_3 = identity_3();
  {
#pragma unroll
    for (int item = 0; item < kItems; item++) {
      const int col = (item * kLanes + lane) * kVec;
      // computed without a branch, so that later steps find what they have in common
      const bool inside = col < n_elements;
      const partial_3 before = found_3;
#pragma unroll
      for (int e = 0; e < kVec; e++) {
        float q_e;
        step_3(x_v[item][e], mean_e, q_e);
        found_3 = combine(found_3, {q_e});
      }
      found_3 = inside ? found_3 : before;
    }
  }
  found_3 = combine_row<kLanes>(found_3);

  float r_e = {};
  if (is_row) {
    step_4(eps, n_col, found_3.q, r_e);
  }

  {
#pragma unroll
    for (int item = 0; item < kItems; item++) {
      const int col = (item * kLanes + lane) * kVec;
      if (col < n_elements) {
        vec<float, kVec> gamma_v;
        vec<float, kVec> beta_v;
        gamma_v = load<vec<float, kVec>, 16>(&gamma[col]);
        beta_v = load<vec<float, kVec>, 16>(&beta[col]);
        vec<float, kVec> y_v;
#pragma unroll
        for (int e = 0; e < kVec; e++) {
          step_5(x_v[item][e], gamma_v[e], beta_v[e], mean_e, r_e, y_v[e]);
        }
        store<16>(&y[n_col * row + col], y_v);
      }
    }
  }
}
