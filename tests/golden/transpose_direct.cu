// One element of the index space, every access where its layout puts it.
__device__ __forceinline__ void element(const float *__restrict__ a_in, float *__restrict__ b_out,
    long long n_row, long long n_col, long long col, long long row) {
  const float a = a_in[n_col * row + col];
  float b;
  { b = a; }
  b_out[col * n_row + row] = b;
}

// One thread an element of col, row; every access where its layout puts it.
__global__ void __launch_bounds__(256)
direct(const float *__restrict__ a_in, float *__restrict__ b_out, long long n_row,
       long long n_col) {
  constexpr int kTile = 256; // one element a thread
  const long long block = blockIdx.x;
  const int thread = threadIdx.x;
  const long long tiles = (n_row + kTile - 1) / kTile; // along row
  const long long first = block % tiles * kTile;
  const long long col = block / tiles;
  const long long row = first + thread;
  if (row < n_row) element(a_in, b_out, n_row, n_col, col, row);
}
