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

// kBytes from global to shared memory that pass no register (sm_80): in the group at hand.
template <int kBytes> __device__ __forceinline__ void copy_async(void *to, const void *from) {
  const unsigned int place = (unsigned int)__cvta_generic_to_shared(to);
  asm volatile("cp.async.cg.shared.global [%0], [%1], %2;" ::"r"(place), "l"(from), "n"(kBytes)
               : "memory");
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

// A block moves a tile of 128 x 256 elements (row x col), wherever rows start: whole lines in along
// col, by copies that pass no register, and whole sectors out along row.
__global__ void __launch_bounds__(256)
jagged(const f16 *__restrict__ a_in, f16 *__restrict__ b_out, long long n_row, long long n_col) {
  constexpr int kThreads = 256;
  // a block's tile: inputs run along col, outputs along row
  constexpr int kCol = 256, kRow = 128;
  // elements in a 32-byte sector: each store run is moved back to start on one
  constexpr int kSkew = 16;
  extern __shared__ __align__(16) unsigned char shared_tiles[];
  // lines of a's rows: columns of odd rows fall into different banks
  unsigned char *const a_tile = shared_tiles + 0;
  const long long block = blockIdx.x;
  const int thread = threadIdx.x;
  const long long tiles_row = (n_row + 15 + kRow - 1) / kRow;
  const long long first_row = block % tiles_row * kRow; // tiles along row first
  const long long first_col = block / tiles_row * kCol;
  if (first_col + kCol <= n_col && first_row >= kSkew - 1 && first_row + kRow < n_row) {
    { // a in: whole lines of each row
      const long long row_place = 2 * first_row * n_col + 2 * first_col - 30 * n_col, row_step = 2 * n_col;
    #pragma unroll 4
      for (int turn = 0; turn < 23; turn++) {
        const int tile_cell = thread + turn * kThreads; // a word
        const int tile_line = tile_cell / 40, word = tile_cell % 40;
        const long long start = row_place + tile_line * row_step;
        const long long word_place = (start & -128ll) + 16 * word;
        const int tile_place = 640 * tile_line + 16 * word;
        if (tile_cell < 5720 && word_place < start + 512)
          copy_async<16>(&at<char>(a_tile, tile_place), &at<char>(a_in, word_place));
      }
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
    asm volatile("cp.async.wait_group 0;" ::: "memory");
    __syncthreads();
    // out: a warp has columns of the tile, which are runs along row
    const long long col = first_col + thread / 32;
    long long run_start = 2 * col * n_row + 2 * first_row;
    const unsigned int a_start = (unsigned int)(2 * first_row * n_col + 2 * first_col - 30 * n_col);
    const unsigned int a_step = (unsigned int)(2 * n_col);
    #pragma unroll 4
    for (int turn = 0; turn < 32; turn++) {
      const int tile_x = thread / 32 + turn * 8;
      // this many elements earlier, its run starts on a sector
      const int run_shift = (int)(run_start & 31) / 2;
      const long long run_place = (run_start & -32ll) + thread % 32 * 4;
      int a_at[2];
    #pragma unroll
      for (int part = 0; part < 2; part++) {
        const int tile_line = kSkew - 1 - run_shift + thread % 32 * 2 + part;
        a_at[part] = 640 * tile_line + (int)(a_start + tile_line * a_step & 127) + 2 * tile_x;
      }
    #pragma unroll
      for (int word = 0; word < 2; word++) {
        __align__(16) f16 a_v[2];
        #pragma unroll
        for (int part = 0; part < 2; part++)
          a_v[part] = at<f16>(a_tile, a_at[part] + 40960 * word);
        store_words<unsigned int, 1>(&at<unsigned int>(b_out, run_place + 128 * word), a_v);
      }
      run_start += 8 * (2 * n_row);
    }
  } else { // a tile on the border: with guards
    { // a in: whole lines of each row
      const long long row_place = 2 * first_row * n_col + 2 * first_col - 30 * n_col, row_step = 2 * n_col;
      const int row_bytes = (int)min(2 * (n_col - first_col), 512ll);
    #pragma unroll 4
      for (int turn = 0; turn < 23; turn++) {
        const int tile_cell = thread + turn * kThreads; // a word
        const int tile_line = tile_cell / 40, word = tile_cell % 40;
        const long long start = row_place + tile_line * row_step;
        const long long word_place = (start & -128ll) + 16 * word;
        const int tile_place = 640 * tile_line + 16 * word;
        const long long row = first_row - (kSkew - 1) + tile_line;
        if (tile_cell < 5720 && word_place < start + row_bytes && row >= 0 && row < n_row) {
          if (word_place + 16 <= 2 * n_col * n_row)
            copy_async<16>(&at<char>(a_tile, tile_place), &at<char>(a_in, word_place));
          else // the array ends in it
            for (int part = 0; part < 7 && word_place + 2 * part < 2 * n_col * n_row; part++)
              at<f16>(a_tile, tile_place + 2 * part) = at<f16>(a_in, word_place + 2 * part);
        }
      }
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
    asm volatile("cp.async.wait_group 0;" ::: "memory");
    __syncthreads();
    // out: a warp has columns of the tile, which are runs along row
    const long long col = first_col + thread / 32;
    long long run_start = 2 * col * n_row + 2 * first_row;
    const unsigned int a_start = (unsigned int)(2 * first_row * n_col + 2 * first_col - 30 * n_col);
    const unsigned int a_step = (unsigned int)(2 * n_col);
    #pragma unroll 4
    for (int turn = 0; turn < 32; turn++) {
      const int tile_x = thread / 32 + turn * 8;
      if (first_col + tile_x >= n_col) break;
      // this many elements earlier, its run starts on a sector
      const int run_shift = (int)(run_start & 31) / 2;
      const long long run_place = (run_start & -32ll) + thread % 32 * 4;
      int a_at[2];
    #pragma unroll
      for (int part = 0; part < 2; part++) {
        const int tile_line = kSkew - 1 - run_shift + thread % 32 * 2 + part;
        a_at[part] = 640 * tile_line + (int)(a_start + tile_line * a_step & 127) + 2 * tile_x;
      }
    #pragma unroll
      for (int word = 0; word < 2; word++) {
        const int tile_y = thread % 32 * 2 + 64 * word;
        const long long row = first_row - run_shift + tile_y;
        __align__(16) f16 a_v[2];
        #pragma unroll
        for (int part = 0; part < 2; part++)
          if (row + part >= 0 && row + part < n_row)
          a_v[part] = at<f16>(a_tile, a_at[part] + 40960 * word);
        if (row >= 0 && row + 1 < n_row)
          store_words<unsigned int, 1>(&at<unsigned int>(b_out, run_place + 128 * word), a_v);
        else
          for (int part = 0; part < 2; part++)
            if (row + part >= 0 && row + part < n_row)
              at<f16>(b_out, run_place + 2 * (word * 64 + part)) = a_v[part];
      }
      run_start += 8 * (2 * n_row);
    }
  }
}
