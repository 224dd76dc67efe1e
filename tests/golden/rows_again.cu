// templates/device/reduce.cuh: shuffle_xor, combine_across, combine_row
// templates/device/vectors.cuh: vec_align, vec
// templates/device/words.cuh: word_of, word_bytes, load, store

// bf16: 2 bytes; arithmetic goes through float.
struct bf16 {
  unsigned short bits;
  bf16() = default;
  __device__ __forceinline__ bf16(float x) {
    unsigned int pair; // with 0: a conversion to one half alone is slow
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(0.0f), "f"(x));
    bits = (unsigned short)pair;
  }
  __device__ __forceinline__ operator float() const {
    float x;
    x = __uint_as_float((unsigned int)bits << 16);
    return x;
  }
};

// Step 1, for one element of a row.
__device__ __forceinline__ void step_1(bf16 x, float &m) {
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
__device__ __forceinline__ void step_2(bf16 x, float m, float &t) {
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
__device__ __forceinline__ void step_4(bf16 x, float m, float r, bf16 &y) {
  y = expf(x - m) * r;
}

// A warp has a row, read again in every step. They move in vectors of 8.
__global__ void __launch_bounds__(128)
rows(const bf16 *__restrict__ x, bf16 *__restrict__ y, long long n_row, long long n_col) {
  constexpr int kThreads = 128;
  constexpr int kLanes = 32; // threads that have a row
  constexpr int kVec = 8; // elements of a vector
  constexpr int kItems = 4; // vectors of a row that a thread has at once
  constexpr int kRows = kThreads / kLanes; // rows of a block
  const int lane = threadIdx.x % kLanes;
  const long long row_index = blockIdx.x * (long long)kRows + threadIdx.x / kLanes;
  const bool is_row = row_index < n_row;
  const long long row = row_index;
  const long long n_elements = is_row ? n_col : 0;

  partial_1 found_1 = identity_1();
  for (long long first = 0; first < n_elements; first += kLanes * kItems * kVec) {
    vec<bf16, kVec> x_v[kItems];
#pragma unroll
    for (int item = 0; item < kItems; item++) {
      const long long col = min(first + (item * kLanes + lane) * kVec, n_elements - 8);
      x_v[item] = load<vec<bf16, kVec>, 16>(&x[n_col * row + col]);
    }
#pragma unroll
    for (int item = 0; item < kItems; item++) {
      const long long col = first + (item * kLanes + lane) * kVec;
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
  found_1 = combine_row<kLanes>(found_1);

  partial_2 found_2 = identity_2();
  for (long long first = 0; first < n_elements; first += kLanes * kItems * kVec) {
    vec<bf16, kVec> x_v[kItems];
#pragma unroll
    for (int item = 0; item < kItems; item++) {
      const long long col = min(first + (item * kLanes + lane) * kVec, n_elements - 8);
      x_v[item] = load<vec<bf16, kVec>, 16>(&x[n_col * row + col]);
    }
#pragma unroll
    for (int item = 0; item < kItems; item++) {
      const long long col = first + (item * kLanes + lane) * kVec;
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
  found_2 = combine_row<kLanes>(found_2);

  float r_e = {};
  if (is_row) {
    step_3(found_2.t, r_e);
  }

  for (long long first = 0; first < n_elements; first += kLanes * kItems * kVec) {
    vec<bf16, kVec> x_v[kItems];
#pragma unroll
    for (int item = 0; item < kItems; item++) {
      const long long col = min(first + (item * kLanes + lane) * kVec, n_elements - 8);
      x_v[item] = load<vec<bf16, kVec>, 16>(&x[n_col * row + col]);
    }
#pragma unroll
    for (int item = 0; item < kItems; item++) {
      const long long col = first + (item * kLanes + lane) * kVec;
      if (col < n_elements) {
        vec<bf16, kVec> y_v;
#pragma unroll
        for (int e = 0; e < kVec; e++) {
          step_4(x_v[item][e], found_1.m, r_e, y_v[e]);
        }
        store<16>(&y[n_col * row + col], y_v);
      }
    }
  }
}
