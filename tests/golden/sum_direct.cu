// The body for one element of the index space.
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

// A block has an output; a thread takes every 256-th of what is reduced.
__global__ void __launch_bounds__(256)
direct(const float *__restrict__ a, float *__restrict__ total, long long n_row, long long n_col) {
  constexpr int kThreads = 256;
  constexpr int kLanes = 1; // outputs of a block, side by side
  __shared__ __align__(16) partial parts[kThreads];
  const int lane = threadIdx.x % kLanes, group = threadIdx.x / kLanes;
  const long long output = blockIdx.x * (long long)kLanes + lane;
  const long long row = output;
  partial mine = identity();
#pragma unroll 8 // one block may have everything to do: several loads at once
  for (long long place = group; output < n_row && place < n_col;
       place += kThreads / kLanes) {
    const long long col = place;
    const float a_v = a[n_col * row + col];
    float total_v;
    compute(a_v, total_v);
    mine = combine(mine, {total_v});
  }
  parts[threadIdx.x] = mine;
  for (int half = kThreads / 2; half >= kLanes; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half)
      parts[threadIdx.x] = combine(parts[threadIdx.x], parts[threadIdx.x + half]);
  }
  if (threadIdx.x < kLanes && output < n_row) {
    mine = parts[threadIdx.x];
    total[row] = mine.total;
  }
}
