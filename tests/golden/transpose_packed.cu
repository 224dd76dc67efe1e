// The value of type T that lies `bytes` after `base`.
template <class T> __device__ __forceinline__ const T &at(const void *base, long long bytes) {
  return *reinterpret_cast<const T *>(static_cast<const char *>(base) + bytes);
}
template <class T> __device__ __forceinline__ T &at(void *base, long long bytes) {
  return *reinterpret_cast<T *>(static_cast<char *>(base) + bytes);
}

// Exchanges rows and columns of a block of 4 x 4 bytes: word `word` of each row.
template <int kWords>
__device__ __forceinline__ void exchange_block(unsigned int (&row)[4][kWords], int word) {
  const unsigned int low01 = __byte_perm(row[0][word], row[1][word], 0x5140);
  const unsigned int high01 = __byte_perm(row[0][word], row[1][word], 0x7362);
  const unsigned int low23 = __byte_perm(row[2][word], row[3][word], 0x5140);
  const unsigned int high23 = __byte_perm(row[2][word], row[3][word], 0x7362);
  row[0][word] = __byte_perm(low01, low23, 0x5410);
  row[1][word] = __byte_perm(low01, low23, 0x7632);
  row[2][word] = __byte_perm(high01, high23, 0x5410);
  row[3][word] = __byte_perm(high01, high23, 0x7632);
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

// A block moves a tile of 128 x 128 elements (row x col): words in along col, exchanged in
// registers and through shared memory, words out along row.
__global__ void __launch_bounds__(256)
packed(const unsigned char *__restrict__ a_in, unsigned char *__restrict__ b_out, long long n_row,
       long long n_col) {
  constexpr int kThreads = 256;
  // a block's tile: inputs run along col, outputs along row
  constexpr int kCol = 128, kRow = 128;
  // 4 elements along row a word; 4 words more every 16 columns: columns fall into different banks
  __shared__ __align__(16) unsigned int a_tile[4128];
  const long long block = blockIdx.x;
  const int thread = threadIdx.x;
  const long long tiles_col = (n_col + kCol - 1) / kCol;
  const long long first_col = block % tiles_col * kCol; // tiles along col first
  const long long first_row = block / tiles_col * kRow;
  if (first_col + kCol <= n_col && first_row + kRow <= n_row) {
    { // a in: words along col, all loads before the first use
      __align__(16) unsigned int loaded[1][4][4];
    #pragma unroll
      for (int turn = 0; turn < 1; turn++) {
        const int warp_job = thread / 32 + turn * 8;
        const int tile_x = warp_job % 1 * 128 + thread % 8 * 16;
        const int tile_y = (warp_job / 1 * 4 + thread % 32 / 8) * 4;
    #pragma unroll
        for (int part = 0; part < 4; part++) {
          const long long row = first_row + tile_y + part, col = first_col + tile_x;
          load_words<uint4, 1>(loaded[turn][part], &at<uint4>(a_in, n_col * row + col));
        }
      }
    #pragma unroll
      for (int turn = 0; turn < 1; turn++) {
        const int warp_job = thread / 32 + turn * 8;
        const int tile_x = warp_job % 1 * 128 + thread % 8 * 16;
        const int tile_y = (warp_job / 1 * 4 + thread % 32 / 8) * 4;
    #pragma unroll
        for (int word = 0; word < 4; word++) {
          exchange_block<4>(loaded[turn], word); // rows become columns
    #pragma unroll
          for (int part = 0; part < 4; part++)
            a_tile[(tile_x >> 2) * 129 + 128 * word + 32 * part + (tile_y >> 2)] = loaded[turn][part][word];
        }
      }
    }
    __syncthreads();
    // out: words along row
    const int lane = thread % 32;
    #pragma unroll
    for (int turn = 0; turn < 4; turn++) {
      const int warp_job = thread / 32 + turn * 8;
      const int tile_y = (lane % 8) * 16;
      const int tile_x = warp_job * 4 + lane / 8;
      const long long col = first_col + tile_x;
      __align__(16) unsigned char a_v[16];
      at<uint4>(a_v, 0) = at<uint4>(&a_tile[32 * tile_x + (tile_x >> 4) * 4 + (tile_y >> 2)], 0);
      const long long row = first_row + tile_y;
      store_words<uint4, 1>(&at<uint4>(b_out, col * n_row + row), a_v);
    }
  } else { // a tile on the border: one element at a time, still through shared memory
    for (int tile_cell = thread; tile_cell < 16384; tile_cell += kThreads) {
      const int tile_x = tile_cell % kCol, tile_y = tile_cell / kCol;
      const long long row = first_row + tile_y, col = first_col + tile_x;
      if (row < n_row && col < n_col)
        at<unsigned char>(a_tile, 128 * tile_x + (tile_x >> 4) * 16 + tile_y) = a_in[n_col * row + col];
    }
    __syncthreads();
    for (int tile_cell = thread; tile_cell < kCol * kRow; tile_cell += kThreads) {
      const int tile_y = tile_cell % kRow, tile_x = tile_cell / kRow;
      const long long col = first_col + tile_x;
      const long long row = first_row + tile_y;
      if (row < n_row && col < n_col) {
        const unsigned char a = at<unsigned char>(a_tile, 128 * tile_x + (tile_x >> 4) * 16 + tile_y);
        unsigned char b;
        { b = a; }
        b_out[col * n_row + row] = b;
      }
    }
  }
}
