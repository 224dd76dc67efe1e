// The value of type T that lies `bytes` after `base`.
template <class T> __device__ __forceinline__ const T &at(const void *base, long long bytes) {
  return *reinterpret_cast<const T *>(static_cast<const char *>(base) + bytes);
}
template <class T> __device__ __forceinline__ T &at(void *base, long long bytes) {
  return *reinterpret_cast<T *>(static_cast<char *>(base) + bytes);
}

// kCount words from or to neighbouring addresses.
template <class Word, int kCount>
__device__ __forceinline__ void load_words(void *to, const void *from) {
#pragma unroll
  for (int k = 0; k < kCount; k++)
    static_cast<Word *>(to)[k] = static_cast<const Word *>(from)[k];
}
template <class Word, int kCount>
__device__ __forceinline__ void store_words(void *to, const void *from) {
#pragma unroll
  for (int k = 0; k < kCount; k++)
    __stwb(static_cast<Word *>(to) + k, static_cast<const Word *>(from)[k]);
}

// A block moves a tile of 64 x 64 elements (row x col): in along col, through shared memory, out
// along row.
__global__ void __launch_bounds__(256)
tile(const float *__restrict__ a_in, float *__restrict__ b_out, long long n_row, long long n_col) {
  constexpr int kThreads = 256;
  // a block's tile: inputs run along col, outputs along row
  constexpr int kCol = 64, kRow = 64;
  // columns swizzled by row: columns fall into different banks
  __shared__ __align__(16) float a_tile[4096];
  const long long block = blockIdx.x;
  const int thread = threadIdx.x;
  const long long tiles_col = (n_col + kCol - 1) / kCol, tiles_row = (n_row + kRow - 1) / kRow;
  const long long band = block / (8 * tiles_col) * 8; // bands of 8 tiles
  const long long band_rows = tiles_row - band < 8 ? tiles_row - band : 8;
  const long long in_band = block - band * tiles_col;
  const long long first_col = in_band / band_rows * kCol;
  const long long first_row = (band + in_band % band_rows) * kRow;
  if (first_col + kCol <= n_col && first_row + kRow <= n_row) {
    { // a in: neighbours along col, all loads before the first use
      const int tile_x = thread % 16 * 4;
      __align__(16) float loaded[4][4];
    #pragma unroll
      for (int turn = 0; turn < 4; turn++) {
        const int tile_y = thread / 16 + turn * 16;
        const long long row = first_row + tile_y, col = first_col + tile_x;
        load_words<uint4, 1>(loaded[turn], &at<uint4>(a_in, 4 * n_col * row + 4 * col));
      }
    #pragma unroll
      for (int turn = 0; turn < 4; turn++) {
        const int tile_y = thread / 16 + turn * 16;
        at<uint4>(&a_tile[64 * tile_y + (tile_x ^ (((tile_y >> 2) & 7) * 4))], 0) = at<uint4>(loaded[turn], 0);
      }
    }
    __syncthreads();
    // out: neighbours along row
    const int lane = thread % 32;
    #pragma unroll
    for (int turn = 0; turn < 4; turn++) {
      const int warp_job = thread / 32 + turn * 8;
      const int tile_y = (warp_job % 2 * 8 + lane % 8) * 4;
      const int tile_x = warp_job / 2 * 4 + lane / 8;
      const long long col = first_col + tile_x;
      __align__(16) float b_v[4];
      #pragma unroll
      for (int part = 0; part < 4; part++) {
        const float a = a_tile[64 * part + 64 * tile_y + (tile_x ^ (((tile_y >> 2) & 7) * 4))];
        float b;
        { b = a; }
        b_v[part] = b;
      }
      const long long row = first_row + tile_y;
      store_words<uint4, 1>(&at<uint4>(b_out, 4 * col * n_row + 4 * row), b_v);
    }
  } else { // a tile on the border: one element at a time, still through shared memory
    for (int tile_cell = thread; tile_cell < 4096; tile_cell += kThreads) {
      const int tile_x = tile_cell % kCol, tile_y = tile_cell / kCol;
      const long long row = first_row + tile_y, col = first_col + tile_x;
      if (row < n_row && col < n_col)
        a_tile[64 * tile_y + (tile_x ^ (((tile_y >> 2) & 7) * 4))] = a_in[n_col * row + col];
    }
    __syncthreads();
    for (int tile_cell = thread; tile_cell < kCol * kRow; tile_cell += kThreads) {
      const int tile_y = tile_cell % kRow, tile_x = tile_cell / kRow;
      const long long col = first_col + tile_x;
      const long long row = first_row + tile_y;
      if (row < n_row && col < n_col) {
        const float a = a_tile[64 * tile_y + (tile_x ^ (((tile_y >> 2) & 7) * 4))];
        float b;
        { b = a; }
        b_out[col * n_row + row] = b;
      }
    }
  }
}
