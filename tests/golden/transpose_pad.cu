// A block moves a tile of 32 x 32 elements (row x col): in along col, through shared memory, out
// along row.
__global__ void __launch_bounds__(256)
tile(const float *__restrict__ a_in, float *__restrict__ b_out, long long n_row, long long n_col) {
  constexpr int kThreads = 256;
  // a block's tile: inputs run along col, outputs along row
  constexpr int kCol = 32, kRow = 32;
  // rows of 32 and 1 more: columns fall into different banks
  __shared__ __align__(16) float a_tile[1056];
  const long long block = blockIdx.x;
  const int thread = threadIdx.x;
  const long long tiles_col = (n_col + kCol - 1) / kCol;
  const long long first_col = block % tiles_col * kCol; // tiles along col first
  const long long first_row = block / tiles_col * kRow;
  if (first_col + kCol <= n_col && first_row + kRow <= n_row) {
    { // a in: neighbours along col, all loads before the first use
      const int tile_x = thread % 32;
      __align__(16) float loaded[4][1];
    #pragma unroll
      for (int turn = 0; turn < 4; turn++) {
        const int tile_y = thread / 32 + turn * 8;
        const long long row = first_row + tile_y, col = first_col + tile_x;
        loaded[turn][0] = a_in[n_col * row + col];
      }
    #pragma unroll
      for (int turn = 0; turn < 4; turn++) {
        const int tile_y = thread / 32 + turn * 8;
        a_tile[33 * tile_y + tile_x] = loaded[turn][0];
      }
    }
    __syncthreads();
    // out: neighbours along row
    const int lane = thread % 32;
    #pragma unroll
    for (int turn = 0; turn < 4; turn++) {
      const int warp_job = thread / 32 + turn * 8;
      const int tile_y = lane % 32;
      const int tile_x = warp_job * 1 + lane / 32;
      const long long col = first_col + tile_x;
      const long long row = first_row + tile_y;
      const float a = a_tile[33 * tile_y + tile_x];
      float b;
      { b = a; }
      b_out[col * n_row + row] = b;
    }
  } else { // a tile on the border: one element at a time, still through shared memory
    for (int tile_cell = thread; tile_cell < 1024; tile_cell += kThreads) {
      const int tile_x = tile_cell % kCol, tile_y = tile_cell / kCol;
      const long long row = first_row + tile_y, col = first_col + tile_x;
      if (row < n_row && col < n_col)
        a_tile[33 * tile_y + tile_x] = a_in[n_col * row + col];
    }
    __syncthreads();
    for (int tile_cell = thread; tile_cell < kCol * kRow; tile_cell += kThreads) {
      const int tile_y = tile_cell % kRow, tile_x = tile_cell / kRow;
      const long long col = first_col + tile_x;
      const long long row = first_row + tile_y;
      if (row < n_row && col < n_col) {
        const float a = a_tile[33 * tile_y + tile_x];
        float b;
        { b = a; }
        b_out[col * n_row + row] = b;
      }
    }
  }
}
