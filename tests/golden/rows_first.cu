// templates/device/reduce.cuh: shuffle_xor, log2_above, log2_lanes, combine_lanes
// templates/device/vectors.cuh: vec_align, vec, load_some, store_between
// templates/device/words.cuh: word_of, word_bytes, load_streaming, store_streaming

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

// As many threads as it keeps busy have a row, whose first elements are loaded once. They move in
// vectors of 4.
__global__ void __launch_bounds__(128, 8)
rows(const float *__restrict__ x, float *__restrict__ y, long long n_row, long long n_col) {
  constexpr int kThreads = 128;
  constexpr int kLanes = 128; // threads that have a row
  constexpr int kVec = 4; // elements of a vector
  constexpr int kItems = 4; // vectors of a row that a thread has at once
  constexpr int kNext = 2; // vectors at once of what follows them
  // lanes that have a row: a power of two, so many that each has work
  const int log_lanes = log2_lanes<1, 128>((int)(((n_col + 2) >> 4) + 1),
      (int)(((n_col + 2) >> 2) + 1), n_row, 17);
  const int lanes = 1 << log_lanes;
  const int lane = threadIdx.x & (lanes - 1);
  const long long row_index =
      blockIdx.x * (long long)(kThreads >> log_lanes) + (threadIdx.x >> log_lanes);
  const bool is_row = row_index < n_row;
  const long long row = row_index;
  const int n_elements = is_row ? n_col : 0;
  // vectors begin at an aligned element, so the first one may hold the end of another row
  const int shift = n_elements > 0 ? (int)((n_col * row) & 3) : 0;
  const int n_span = n_elements + shift;
  // n_held: the vectors of the row that a thread has at most; a number where this is called
  const auto take_row = [&](int n_held) __attribute__((always_inline)) {
    // the row, all loads before the first use
    vec<float, kVec> x_v[kItems] = {};
    if (n_elements > 0) {
#pragma unroll
      for (int item = 0; item < n_held; item++) {
        const int col = (item * lanes + lane) * kVec - shift;
        if (col + kVec <= n_elements)
          x_v[item] = load_streaming<vec<float, kVec>, 16>(&x[n_col * row + col]);
        else
          x_v[item] = load_some<float, kVec>(&x[n_col * row + col], n_elements - col);
      }
    }

    partial_1 found_1 = identity_1();
    {
#pragma unroll
      for (int item = 0; item < n_held; item++) {
        const int col = (item * lanes + lane) * kVec - shift;
        // computed without a branch, so that later steps find what they have in common
#pragma unroll
        for (int e = 0; e < kVec; e++) {
          const bool inside = col + e >= 0 && col + e < n_elements;
          const partial_1 before = found_1;
          float m_e;
          step_1(x_v[item][e], m_e);
          found_1 = combine(found_1, {m_e});
          found_1 = inside ? found_1 : before;
        }
      }
    }
    for (int first = n_held < kItems ? n_span : lanes * kVec * kItems; first < n_span;
         first += lanes * kVec * kNext) {
      vec<float, kVec> x_v[kNext] = {};
#pragma unroll
      for (int item = 0; item < kNext; item++) {
        const int col = first + (item * lanes + lane) * kVec - shift;
        if (col >= n_elements) break;
        if (col + kVec <= n_elements)
          x_v[item] = load_streaming<vec<float, kVec>, 16>(&x[n_col * row + col]);
        else
          x_v[item] = load_some<float, kVec>(&x[n_col * row + col], n_elements - col);
      }
#pragma unroll
      for (int item = 0; item < kNext; item++) {
        const int col = first + (item * lanes + lane) * kVec - shift;
        if (col >= n_elements) break;
        // computed without a branch, so that later steps find what they have in common
#pragma unroll
        for (int e = 0; e < kVec; e++) {
          const bool inside = col + e >= 0 && col + e < n_elements;
          const partial_1 before = found_1;
          float m_e;
          step_1(x_v[item][e], m_e);
          found_1 = combine(found_1, {m_e});
          found_1 = inside ? found_1 : before;
        }
      }
    }
    found_1 = combine_lanes<kThreads>(found_1, lanes);

    partial_2 found_2 = identity_2();
    {
#pragma unroll
      for (int item = 0; item < n_held; item++) {
        const int col = (item * lanes + lane) * kVec - shift;
        // computed without a branch, so that later steps find what they have in common
#pragma unroll
        for (int e = 0; e < kVec; e++) {
          const bool inside = col + e >= 0 && col + e < n_elements;
          const partial_2 before = found_2;
          float t_e;
          step_2(x_v[item][e], found_1.m, t_e);
          found_2 = combine(found_2, {t_e});
          found_2 = inside ? found_2 : before;
        }
      }
    }
    for (int first = n_held < kItems ? n_span : lanes * kVec * kItems; first < n_span;
         first += lanes * kVec * kNext) {
      vec<float, kVec> x_v[kNext] = {};
#pragma unroll
      for (int item = 0; item < kNext; item++) {
        const int col = first + (item * lanes + lane) * kVec - shift;
        if (col >= n_elements) break;
        if (col + kVec <= n_elements)
          x_v[item] = load_streaming<vec<float, kVec>, 16>(&x[n_col * row + col]);
        else
          x_v[item] = load_some<float, kVec>(&x[n_col * row + col], n_elements - col);
      }
#pragma unroll
      for (int item = 0; item < kNext; item++) {
        const int col = first + (item * lanes + lane) * kVec - shift;
        if (col >= n_elements) break;
        // computed without a branch, so that later steps find what they have in common
#pragma unroll
        for (int e = 0; e < kVec; e++) {
          const bool inside = col + e >= 0 && col + e < n_elements;
          const partial_2 before = found_2;
          float t_e;
          step_2(x_v[item][e], found_1.m, t_e);
          found_2 = combine(found_2, {t_e});
          found_2 = inside ? found_2 : before;
        }
      }
    }
    found_2 = combine_lanes<kThreads>(found_2, lanes);

    float r_e = {};
    if (is_row) {
      step_3(found_2.t, r_e);
    }

    {
#pragma unroll
      for (int item = 0; item < n_held; item++) {
        const int col = (item * lanes + lane) * kVec - shift;
        if (col < n_elements) {
          vec<float, kVec> y_v;
#pragma unroll
          for (int e = 0; e < kVec; e++) {
            step_4(x_v[item][e], found_1.m, r_e, y_v[e]);
          }
          if (col >= 0 && col + kVec <= n_elements)
            store_streaming<16>(&y[n_col * row + col], y_v);
          else
            store_between(&y[n_col * row + col], y_v, -col, n_elements - col);
        }
      }
    }
    for (int first = n_held < kItems ? n_span : lanes * kVec * kItems; first < n_span;
         first += lanes * kVec * kNext) {
      vec<float, kVec> x_v[kNext] = {};
#pragma unroll
      for (int item = 0; item < kNext; item++) {
        const int col = first + (item * lanes + lane) * kVec - shift;
        if (col >= n_elements) break;
        if (col + kVec <= n_elements)
          x_v[item] = load_streaming<vec<float, kVec>, 16>(&x[n_col * row + col]);
        else
          x_v[item] = load_some<float, kVec>(&x[n_col * row + col], n_elements - col);
      }
#pragma unroll
      for (int item = 0; item < kNext; item++) {
        const int col = first + (item * lanes + lane) * kVec - shift;
        if (col < n_elements) {
          vec<float, kVec> y_v;
#pragma unroll
          for (int e = 0; e < kVec; e++) {
            step_4(x_v[item][e], found_1.m, r_e, y_v[e]);
          }
          if (col >= 0 && col + kVec <= n_elements)
            store_streaming<16>(&y[n_col * row + col], y_v);
          else
            store_between(&y[n_col * row + col], y_v, -col, n_elements - col);
        }
      }
    }
  };
  const int n_items = ((int)(((n_col + 2) >> 2) + 1) + lanes - 1) >> log_lanes;
  if (n_items <= 1) take_row(1);
  else if (n_items <= 2) take_row(2);
  else take_row(4);
}
