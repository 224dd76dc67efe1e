// f16: 2 bytes; arithmetic goes through float.
struct f16 {
  unsigned short bits;
  f16() = default;
  __device__ __forceinline__ f16(float x) {
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
    bits = __byte_perm(bits, 0, 0x4410); // else ptxas 13.0 makes bytes of it by float to int
  }
  __device__ __forceinline__ operator float() const {
    float x;
    asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
    return x;
  }
};

// The value of type T that lies `bytes` after `base`.
template <class T> __device__ __forceinline__ const T &at(const void *base, long long bytes) {
  return *reinterpret_cast<const T *>(static_cast<const char *>(base) + bytes);
}
template <class T> __device__ __forceinline__ T &at(void *base, long long bytes) {
  return *reinterpret_cast<T *>(static_cast<char *>(base) + bytes);
}

// The word that lies `bytes` after the aligned `base`, from the one or two aligned words it is in.
__device__ __forceinline__ unsigned int load_realigned(const void *base, long long bytes) {
  const long long place = bytes & ~3ll;
  const int bits = (int)(bytes & 3) * 8;
  const unsigned int low = at<unsigned int>(base, place);
  const unsigned int high = bits > 0 ? at<unsigned int>(base, place + 4) : 0;
  return __funnelshift_r(low, high, bits);
}

// Exchanges rows and columns of a block of 2 x 2 halves: word `word` of each row.
template <int kWords>
__device__ __forceinline__ void exchange_block(unsigned int (&row)[2][kWords], int word) {
  const unsigned int first = row[0][word], second = row[1][word];
  row[0][word] = __byte_perm(first, second, 0x5410);
  row[1][word] = __byte_perm(first, second, 0x7632);
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

// A block moves a tile of 128 x 64 elements (row x col): words in along col, exchanged in registers
// and through shared memory, words out along row. Rows may start anywhere: words are put together
// from those they straddle.
__global__ void __launch_bounds__(256)
packed(const f16 *__restrict__ a_in, f16 *__restrict__ b_out, long long n_row, long long n_col) {
  constexpr int kThreads = 256;
  // a block's tile: inputs run along col, outputs along row
  constexpr int kCol = 64, kRow = 128;
  // elements in a 32-byte sector: each store run is moved back to start on one
  constexpr int kSkew = 16;
  // 2 elements along row a word; 1 words more every 2 columns: columns fall into different banks
  __shared__ __align__(16) unsigned int a_tile[4640];
  const long long block = blockIdx.x;
  const int thread = threadIdx.x;
  const long long tiles_row = (n_row + 15 + kRow - 1) / kRow;
  const long long first_row = block % tiles_row * kRow; // tiles along row first
  const long long first_col = block / tiles_row * kCol;
  if (first_col + kCol <= n_col && first_row + kRow < n_row && first_row >= kSkew) {
    { // a in: words along col, all loads before the first use
      __align__(16) unsigned int loaded[9][2][1];
    #pragma unroll
      for (int turn = 0; turn < 9; turn++) {
        const int warp_job = thread / 32 + turn * 8;
        const int tile_x = warp_job % 1 * 64 + thread % 32 * 2;
        const int tile_y = (warp_job / 1 * 1 + thread % 32 / 32) * 2;
    #pragma unroll
        for (int part = 0; part < 2; part++) {
          const long long row = first_row - kSkew + tile_y + part, col = first_col + tile_x;
          loaded[turn][part][0] = load_realigned(a_in, 2 * n_col * row + 2 * col);
        }
      }
    #pragma unroll
      for (int turn = 0; turn < 9; turn++) {
        const int warp_job = thread / 32 + turn * 8;
        const int tile_x = warp_job % 1 * 64 + thread % 32 * 2;
        const int tile_y = (warp_job / 1 * 1 + thread % 32 / 32) * 2;
    #pragma unroll
        for (int word = 0; word < 1; word++) {
          exchange_block<1>(loaded[turn], word); // rows become columns
    #pragma unroll
          for (int part = 0; part < 2; part++)
            a_tile[(tile_x >> 1) * 145 + 72 * part + (tile_y >> 1)] = loaded[turn][part][word];
        }
      }
    }
    __syncthreads();
    // out: words along row
    const int lane = thread % 32;
    #pragma unroll
    for (int turn = 0; turn < 16; turn++) {
      const int warp_job = thread / 32 + turn * 8;
      const int tile_y = (warp_job % 2 * 32 + lane % 32) * 2;
      const int tile_x = warp_job / 2 * 1 + lane / 32;
      const long long col = first_col + tile_x;
      // this many elements earlier, col's run starts on a sector
      const int run_shift = (int)((col * n_row) & 15);
      const int tile_line = kSkew - run_shift + tile_y; // its row in the tile
      __align__(16) f16 a_v[2];
      at<unsigned int>(a_v, 0) = load_realigned(&a_tile[72 * tile_x + (tile_x >> 1)], 2 * tile_line);
      const long long row = first_row - run_shift + tile_y;
      store_words<unsigned int, 1>(&at<unsigned int>(b_out, 2 * col * n_row + 2 * row), a_v);
    }
  } else { // a tile on the border: one element at a time, still through shared memory
    for (int tile_cell = thread; tile_cell < 9216; tile_cell += kThreads) {
      const int tile_x = tile_cell % kCol, tile_y = tile_cell / kCol;
      const long long row = first_row - kSkew + tile_y, col = first_col + tile_x;
      if (row >= 0 && row < n_row && col < n_col)
        at<f16>(a_tile, 288 * tile_x + (tile_x >> 1) * 4 + 2 * tile_y) = a_in[n_col * row + col];
    }
    __syncthreads();
    for (int tile_cell = thread; tile_cell < kCol * kRow; tile_cell += kThreads) {
      const int tile_y = tile_cell % kRow, tile_x = tile_cell / kRow;
      const long long col = first_col + tile_x;
      const int run_shift = (int)((col * n_row) & 15);
      const long long row = first_row - run_shift + tile_y;
      if (row >= 0 && row < n_row && col < n_col) {
        const int tile_line = kSkew - run_shift + tile_y; // its row in the tile
        const f16 a = at<f16>(a_tile, 288 * tile_x + (tile_x >> 1) * 4 + 2 * tile_line);
        f16 b;
        { b = a; }
        b_out[col * n_row + row] = b;
      }
    }
  }
}
