// The value of type T that lies `bytes` after `base`.
template <class T> __device__ __forceinline__ const T &at(const void *base, long long bytes) {
  return *reinterpret_cast<const T *>(static_cast<const char *>(base) + bytes);
}
template <class T> __device__ __forceinline__ T &at(void *base, long long bytes) {
  return *reinterpret_cast<T *>(static_cast<char *>(base) + bytes);
}

// The aligned word at `place` in an array of `bytes` bytes; 0 for what of it lies behind the end.
template <class T>
__device__ __forceinline__ unsigned int load_end(const void *base, long long place,
                                                 long long bytes) {
  if (place + 4 <= bytes) return at<unsigned int>(base, place);
  union { T piece[4 / sizeof(T)]; unsigned int word; } u;
  u.word = 0;
#pragma unroll
  for (int k = 0; k < 4 / (int)sizeof(T) - 1; k++)
    if (place + k * (int)sizeof(T) < bytes) u.piece[k] = at<T>(base, place + k * sizeof(T));
  return u.word;
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

// A block moves a tile of 256 x 124 elements (row x col), wherever rows start: aligned words in
// along col, realigned and exchanged in registers, and whole sectors out along row.
__global__ void __launch_bounds__(256)
realign(const unsigned char *__restrict__ a_in, unsigned char *__restrict__ b_out,
        long long n_row, long long n_col) {
  constexpr int kThreads = 256;
  // a block's tile: inputs run along col, outputs along row
  constexpr int kCol = 124, kRow = 256;
  // elements in a 32-byte sector: each store run is moved back to start on one
  constexpr int kSkew = 32;
  // words along row as the output has them; one more every 4 columns: they fall into different banks
  __shared__ __align__(16) unsigned int a_tile[8959];
  const long long block = blockIdx.x;
  const int thread = threadIdx.x;
  const long long tiles_row = (n_row + 31 + kRow - 1) / kRow;
  const long long first_row = block % tiles_row * kRow; // tiles along row first
  const long long first_col = min(block / tiles_row * kCol, max(n_col - kCol, 0ll));
  if (n_col >= kCol && first_row >= kSkew && first_row + 260 < n_row) {
    { // a in: 32 words that follow each other a row, all loads before the first use
      const long long row = first_row - kSkew + thread / 32 * 36;
      const long long col = first_col + thread % 32 * 4;
      const long long row_place = n_col * row + col, row_step = n_col;
      const unsigned int row_bits = 8 * (unsigned int)row_place;
      const unsigned int run_bits = 8 * (unsigned int)(col * n_row + first_row);
      const unsigned int run_step = (unsigned int)(n_row);
      unsigned int loaded[40][1];
    #pragma unroll
      for (int part = 0; part < 40; part++)
    #pragma unroll
        for (int word = 0; word < 1; word++)
          loaded[part][word] = at<unsigned int>(a_in, ((row_place + part * row_step) & ~3ll) + 124 * word);
      // along col: each lane's word from its own and the next lane's; blocks change rows and columns;
      // along row: each word of the output from two that follow each other
      unsigned int words_before[4][1];
    #pragma unroll
      for (int turn = 0; turn <= 9; turn++) {
        unsigned int block_words[4][1];
    #pragma unroll
        for (int part = 0; part < 4; part++)
    #pragma unroll
          for (int word = 0; word < 1; word++) {
            const unsigned int own_word = loaded[turn * 4 + part][word];
            block_words[part][word] = __funnelshift_r(own_word,
              __shfl_down_sync(0xffffffff, own_word, 1),
              row_bits + 8 * (turn * 4 + part) * (unsigned int)row_step);
          }
    #pragma unroll
        for (int word = 0; word < 1; word++) {
          exchange_block<1>(block_words, word);
    #pragma unroll
          for (int part = 0; part < 4; part++) {
            if (turn > 0)
              loaded[(turn - 1) * 4 + part][word] =
                __funnelshift_l(words_before[part][word], block_words[part][word],
                  run_bits + 8 * (word * 124 + part) * run_step);
            words_before[part][word] = block_words[part][word];
          }
        }
      }
      if (thread % 32 < 31)
    #pragma unroll
        for (int turn = 0; turn < 9; turn++)
    #pragma unroll
          for (int part = 0; part < 4; part++)
    #pragma unroll
            for (int word = 0; word < 1; word++) {
              const int lane_group = word * 31 + thread % 32;
              const int run_column = (lane_group * 4 + part) * 72 + lane_group;
              a_tile[run_column + thread / 32 * 9 + turn] = loaded[turn * 4 + part][word];
            }
    }
    __syncthreads();
    // out: a warp has columns of the tile, which are runs along row
    const long long col = first_col + thread / 32;
    long long run_start = col * n_row + first_row;
    const int run_column = thread / 32 * 72 + thread / 128 + 7 + thread % 32;
    #pragma unroll
    for (int turn = 0; turn < 16; turn++) {
      const int tile_x = thread / 32 + turn * 8;
      if (turn == 15 && tile_x >= 124) break;
      // this many elements earlier, its run starts on a sector
      const int run_shift = (int)(run_start & 31);
      const int first_word =
        run_column + turn * (8 * 72 + 2) - run_shift / 4;
      const long long run_place = (run_start & ~31ll) + thread % 32 * 4;
    #pragma unroll
      for (int word = 0; word < 2; word++) {
        __align__(16) unsigned char a_v[4];
        at<unsigned int>(a_v, 0) = a_tile[first_word + 32 * word];
        store_words<unsigned int, 1>(&at<unsigned int>(b_out, run_place + 128 * word), a_v);
      }
      run_start += 8 * (n_row);
    }
  } else { // a tile on the border: one element at a time, still through shared memory
    if (n_col >= kCol) { // the first or the last tile along row
      { // a in: 32 words that follow each other a row, all loads before the first use
        const long long row = first_row - kSkew + thread / 32 * 36;
        const long long col = first_col + thread % 32 * 4;
        const long long row_place = n_col * row + col, row_step = n_col;
        const unsigned int row_bits = 8 * (unsigned int)row_place;
        const unsigned int run_bits = 8 * (unsigned int)(col * n_row + first_row);
        const unsigned int run_step = (unsigned int)(n_row);
        unsigned int loaded[40][1];
      #pragma unroll
        for (int part = 0; part < 40; part++)
      #pragma unroll
          for (int word = 0; word < 1; word++)
            loaded[part][word] = row + part >= 0 && row + part < n_row ?
              load_end<unsigned char>(a_in, ((row_place + part * row_step) & ~3ll) + 124 * word, n_col * n_row) : 0;
        // along col: each lane's word from its own and the next lane's; blocks change rows and columns;
        // along row: each word of the output from two that follow each other
        unsigned int words_before[4][1];
      #pragma unroll
        for (int turn = 0; turn <= 9; turn++) {
          unsigned int block_words[4][1];
      #pragma unroll
          for (int part = 0; part < 4; part++)
      #pragma unroll
            for (int word = 0; word < 1; word++) {
              const unsigned int own_word = loaded[turn * 4 + part][word];
              block_words[part][word] = __funnelshift_r(own_word,
                __shfl_down_sync(0xffffffff, own_word, 1),
                row_bits + 8 * (turn * 4 + part) * (unsigned int)row_step);
            }
      #pragma unroll
          for (int word = 0; word < 1; word++) {
            exchange_block<1>(block_words, word);
      #pragma unroll
            for (int part = 0; part < 4; part++) {
              if (turn > 0)
                loaded[(turn - 1) * 4 + part][word] =
                  __funnelshift_l(words_before[part][word], block_words[part][word],
                    run_bits + 8 * (word * 124 + part) * run_step);
              words_before[part][word] = block_words[part][word];
            }
          }
        }
        if (thread % 32 < 31)
      #pragma unroll
          for (int turn = 0; turn < 9; turn++)
      #pragma unroll
            for (int part = 0; part < 4; part++)
      #pragma unroll
              for (int word = 0; word < 1; word++) {
                const int lane_group = word * 31 + thread % 32;
                const int run_column = (lane_group * 4 + part) * 72 + lane_group;
                a_tile[run_column + thread / 32 * 9 + turn] = loaded[turn * 4 + part][word];
              }
      }
    } else {
      for (int tile_cell = thread; tile_cell < 35712; tile_cell += kThreads) {
        const int tile_x = tile_cell % kCol, tile_y = tile_cell / kCol;
        const long long row = first_row - kSkew + tile_y, col = first_col + tile_x;
        if (row >= 0 && row < n_row && col < n_col)
          at<unsigned char>(a_tile, 288 * tile_x + (tile_x >> 2) * 4 + tile_y) = a_in[n_col * row + col];
      }
    }
    __syncthreads();
    if (n_col >= kCol) { // the first or the last tile along row
      // out: a warp has columns of the tile, which are runs along row
      const long long col = first_col + thread / 32;
      long long run_start = col * n_row + first_row;
      const int run_column = thread / 32 * 72 + thread / 128 + 7 + thread % 32;
      #pragma unroll
      for (int turn = 0; turn < 16; turn++) {
        const int tile_x = thread / 32 + turn * 8;
        if (turn == 15 && tile_x >= 124) break;
        // this many elements earlier, its run starts on a sector
        const int run_shift = (int)(run_start & 31);
        const int first_word =
          run_column + turn * (8 * 72 + 2) - run_shift / 4;
        const long long run_place = (run_start & ~31ll) + thread % 32 * 4;
      #pragma unroll
        for (int word = 0; word < 2; word++) {
          const int tile_y = (thread % 32 + 32 * word) * 4;
          __align__(16) unsigned char a_v[4];
          at<unsigned int>(a_v, 0) = a_tile[first_word + 32 * word];
          const long long row = first_row - run_shift + tile_y;
          if (row >= 0 && row + 3 < n_row) {
            store_words<unsigned int, 1>(&at<unsigned int>(b_out, run_place + 128 * word), a_v);
          } else {
          #pragma unroll
            for (int part = 0; part < 4; part++)
              if (row + part >= 0 && row + part < n_row)
                at<unsigned char>(b_out, run_place + 128 * word + part * 1) = a_v[part];
          }
        }
        run_start += 8 * (n_row);
      }
    } else {
      for (int tile_cell = thread; tile_cell < kCol * kRow; tile_cell += kThreads) {
        const int tile_y = tile_cell % kRow, tile_x = tile_cell / kRow;
        const long long col = first_col + tile_x;
        const int run_shift = (int)((col * n_row) & 31);
        const long long row = first_row - run_shift + tile_y;
        if (row >= 0 && row < n_row && col < n_col) {
          const int tile_line = kSkew - run_shift + tile_y; // its row in the tile
          const unsigned char a = at<unsigned char>(a_tile, 288 * tile_x + (tile_x >> 2) * 4 + tile_line);
          unsigned char b;
          { b = a; }
          b_out[col * n_row + row] = b;
        }
      }
    }
  }
}
