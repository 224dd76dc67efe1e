// One element of the index space, every access where its layout puts it.
__device__ __forceinline__ void element(const int *__restrict__ pick_in,
    const float4 *__restrict__ table_in, float4 *__restrict__ b_out, long long n_i, long long n_m,
    long long i) {
  const long long pick = pick_in[i];
  const float4 table = table_in[pick];
  float4 b;
  { b = table; }
  b_out[i] = b;
}

// One thread an element of i; every access where its layout puts it.
__global__ void __launch_bounds__(128)
direct(const int *__restrict__ pick_in, const float4 *__restrict__ table_in,
       float4 *__restrict__ b_out, long long n_i, long long n_m) {
  constexpr int kTile = 128; // one element a thread
  const long long block = blockIdx.x;
  const int thread = threadIdx.x;
  const long long first = block * (long long)kTile; // of i
  const long long i = first + thread;
  if (i < n_i) element(pick_in, table_in, b_out, n_i, n_m, i);
}
