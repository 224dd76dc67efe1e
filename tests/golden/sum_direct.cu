// What is reduced: a field for each value of the outputs.
struct partial {
  float total;
};
// Of no element.
__device__ __forceinline__ partial nothing() {
  return {0.0f};
}
__device__ __forceinline__ partial combine(const partial &a, const partial &b) {
  return {a.total + b.total};
}

// What one element of the index space gives, every access where its layout puts it.
__device__ __forceinline__ partial element(const float *__restrict__ a_in,
    float *__restrict__ total_out, long long n_row, long long n_col, long long row, long long col) {
  const float a = a_in[n_col * row + col];
  float total;
  { total = a; }
  return partial{total};
}

// A block of 256 threads an output element, each of which takes every 256-th of what is reduced.
__global__ void __launch_bounds__(256)
direct(const float *__restrict__ a_in, float *__restrict__ total_out, long long n_row,
       long long n_col) {
  constexpr int kThreads = 256;
  __shared__ partial partials[kThreads];
  const long long block = blockIdx.x;
  const int thread = threadIdx.x;
  const long long row = block;
  partial mine = nothing();
#pragma unroll 8 // one block may have everything to do: several loads at once
  for (long long place = thread; place < n_col; place += kThreads) {
    const long long col = place;
    mine = combine(mine, element(a_in, total_out, n_row, n_col, row, col));
  }
  partials[thread] = mine;
  for (int half = kThreads / 2; half >= 1; half /= 2) {
    __syncthreads();
    if (thread < half) partials[thread] = combine(partials[thread], partials[thread + half]);
  }
  if (thread == 0) {
    mine = partials[0];
    total_out[row] = mine.total;
  }
}
