// templates/device/reduce.cuh: combine_block

// Step 1, for one element of a row.
__device__ __forceinline__ void step_1(float x, float &m) {
  m = fabsf(x);
}

// Step 2, once a row.
__device__ __forceinline__ void step_2(float m, float &r, float &scale) {
  scale = m / 127.0f; r = m > 0.0f ? 127.0f / m : 0.0f;
}

// Step 3, for one element of a row.
__device__ __forceinline__ void step_3(float x, float r, signed char &q) {
  q = (int)rintf(x * r);
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

// A block has a row; every step reads its elements again.
__global__ void __launch_bounds__(256)
direct(const float *__restrict__ x, signed char *__restrict__ q, float *__restrict__ scale,
       long long n_row, long long n_col) {
  constexpr int kThreads = 256;
  constexpr int kLanes = 1; // rows of a block, side by side
  const int lane = threadIdx.x % kLanes, group = threadIdx.x / kLanes;
  const long long row_index = blockIdx.x * (long long)kLanes + lane;
  const long long row = row_index;
  const long long n_elements = row_index < n_row ? n_col : 0;

  partial_1 found_1 = identity_1();
  for (long long place = group; place < n_elements; place += kThreads / kLanes) {
    const long long col = place;
    const float x_v = x[n_col * row + col];
    float m_v;
    step_1(x_v, m_v);
    found_1 = combine(found_1, {m_v});
  }
  found_1 = combine_block<kThreads, kLanes>(found_1);

  float r_v;
  if (row_index < n_row) {
    float scale_v;
    step_2(found_1.m, r_v, scale_v);
    if (group == 0) {
      scale[row] = scale_v;
    }
  }

  for (long long place = group; place < n_elements; place += kThreads / kLanes) {
    const long long col = place;
    const float x_v = x[n_col * row + col];
    signed char q_v;
    step_3(x_v, r_v, q_v);
    q[n_col * row + col] = q_v;
  }
}
