// The value of type T that lies `bytes` after `base`.
template <class T> __device__ __forceinline__ const T &at(const void *base, long long bytes) {
  return *reinterpret_cast<const T *>(static_cast<const char *>(base) + bytes);
}
template <class T> __device__ __forceinline__ T &at(void *base, long long bytes) {
  return *reinterpret_cast<T *>(static_cast<char *>(base) + bytes);
}

// 16 bytes that start `rest` bytes after the first of two neighbouring aligned words; kBits: off a
// word of 4 bytes, too.
template <bool kBits>
__device__ __forceinline__ uint4 realigned(uint4 low, uint4 high, int rest) {
  unsigned int part[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
#pragma unroll
  for (int k = 0; k < 6; k++)
    part[k] = rest & 8 ? part[k + 2] : part[k];
#pragma unroll
  for (int k = 0; k < 5; k++)
    part[k] = rest & 4 ? part[k + 1] : part[k];
#pragma unroll
  for (int k = 0; k < 4; k++)
    part[k] = kBits ? __funnelshift_r(part[k], part[k + 1], rest % 4 * 8) : part[k];
  return make_uint4(part[0], part[1], part[2], part[3]);
}

// The length of `n` cut into equal parts of at most `most`, in multiples of `unit`.
__device__ __forceinline__ int box_of(int n, int most, int unit) {
  const int parts = max(1, (n + most - 1) / most);
  return max(1, min(n, ((n + parts - 1) / parts + unit - 1) / unit * unit));
}
// In how many steps of `run` elements a sector of kSector ends; 1 if there is no room for so many.
template <int kSector> __device__ __forceinline__ int sector_steps(int run, int room) {
  int steps = 1;
#pragma unroll
  for (int n = 2; n <= kSector; n *= 2)
    steps = max(steps, run % n != 0 ? 2 * kSector / n : 1);
  return steps <= room ? steps : 1;
}

// left / size by a multiplication: exact while left * size < 2^30.
__device__ __forceinline__ unsigned int factor_of(unsigned int size) {
  return size > 0 ? (0x80000000u + size - 1) / size : 0;
}
__device__ __forceinline__ int quotient(unsigned int left, unsigned int factor) {
  return __umulhi(2 * left + 1, factor);
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

// A tile covers the runs along k of the inputs and along k, i of the outputs, at most 4096
// elements; a block takes 2 of them.
__global__ void __launch_bounds__(256)
permute(const float *__restrict__ a_in, float *__restrict__ b_out, long long n_i, long long n_j,
        long long n_k) {
  constexpr int kThreads = 256;
  constexpr int kCells = 4096; // elements that a tile has at most
  const int block = blockIdx.x, blocks = gridDim.x;
  const int thread = threadIdx.x, lane = thread % 32;
  const int whole_cells = (int)(n_k); // what a tile has whole
  const int unit_i = sector_steps<8>((int)(n_k), (kCells - 4) / whole_cells);
  const int most_i = max(1, (kCells - 4) / whole_cells / unit_i) * unit_i;
  const int box_i = box_of((int)n_i, most_i, unit_i);
  const int a_step_i = (int)(n_j * n_k);
  const int a_step_j = (int)(n_k);
  const int a_step_k = (int)(1);
  const int b_step_i = (int)(n_k);
  const int b_step_j = (int)(n_i * n_k);
  const int b_step_k = (int)(1);
  const int chunks_i = ((int)n_i + box_i - 1) / box_i;
  const int tiles = chunks_i * (int)n_j;
  const int rounds = (tiles - block + blocks - 1) / blocks; // of this block
  int chunk_i = 0, a_first = 0, b_first = 0;
  const int len_k = (int)n_k;
  int out_i = 0;
  int len_i = 0, tile_cells = 0, a_start = 0, b_start = 0;
  const unsigned int factor_k = factor_of(len_k);
  const int a_count = (int)(n_i * n_j * n_k);
  __align__(16) float a_v[4][8];
  int out_shift = -1, in_row = 0, a_at[4];
  for (int round = 0; round < rounds; round++) {
    int member = thread;
    asm volatile("" : "+r"(member)); // what follows from it is not kept: registers are dear
    if (round % 32 == 0) { // lane r finds the r-th tile from here: where it starts, its chunks
      int rest = block + min(round + lane, rounds - 1) * blocks;
      const int first_i = rest % chunks_i * box_i;
      rest /= chunks_i;
      chunk_i = min(box_i, (int)n_i - first_i);
      const int first_j = rest;
      a_first = first_i * a_step_i + first_j * a_step_j;
      b_first = first_i * b_step_i + first_j * b_step_j;
    }
    len_i = __shfl_sync(~0u, chunk_i, round);
    tile_cells = len_k * len_i;
    a_start = __shfl_sync(~0u, a_first, round);
    b_start = __shfl_sync(~0u, b_first, round);
    const int run_shift = b_start & 3; // after a word
    // where this thread's elements lie in a tile of this size, with this start
    if (len_i != out_i || run_shift != out_shift) {
      out_i = len_i;
      out_shift = run_shift;
      in_row = 0;
    #pragma unroll
      for (int turn = 0; turn < 4; turn++) {
        int cell_left = (member + turn * kThreads) * 4 - run_shift;
        const int group = cell_left;
        cell_left = max(cell_left, 0);
        const int next_k = quotient(cell_left, factor_k), at_k = cell_left - next_k * len_k;
        cell_left = next_k;
        const int at_i = cell_left;
        a_at[turn] = at_k * a_step_k + at_i * a_step_i;
        in_row |= (group >= 0 && at_k + 4 <= len_k) << turn;
      }
    }
    #pragma unroll
    for (int turn = 0; turn < 4; turn++) {
      const int group = (member + turn * kThreads) * 4 - run_shift; // its first element
      if (group < tile_cells) {
        const int a_place = a_start + a_at[turn];
        const int a_rest = a_place & 3;
        if (in_row >> turn & 1 && a_place - a_rest + 8 <= a_count) {
          const uint4 *const word = &at<uint4>(a_in, 4ll * (a_place - a_rest));
          load_words<uint4, 1>(a_v[turn], word);
          if (a_rest > 0)
            load_words<uint4, 1>(&a_v[turn][4], word + 1);
        } else { // a row ends in it
          #pragma unroll
          for (int part = 0; part < 4; part++) {
            int cell_left = group + part;
            if (cell_left >= 0 && cell_left < tile_cells) {
              const int next_k = quotient(cell_left, factor_k), at_k = cell_left - next_k * len_k;
              cell_left = next_k;
              const int at_i = cell_left;
              const int a_place = a_start + at_k * a_step_k + at_i * a_step_i;
              a_v[turn][part] = a_in[a_place];
            }
          }
        }
      }
    }
    #pragma unroll
    for (int turn = 0; turn < 4; turn++) {
      const int group = (member + turn * kThreads) * 4 - run_shift; // its first element
      if (group < tile_cells) {
        const int a_place = a_start + a_at[turn];
        const int a_rest = in_row >> turn & 1 && (a_place & -4) + 8 <= a_count
          ? a_place & 3 : 0;
        const uint4 a_words = realigned<false>(at<uint4>(a_v[turn], 0),
          at<uint4>(a_v[turn], 16), 4 * a_rest);
        __align__(16) float b_v[4];
        #pragma unroll
        for (int part = 0; part < 4; part++) {
          const float a = at<float>(&a_words, 4 * part);
          float b;
          { b = a; }
          b_v[part] = b;
        }
        if (group >= 0 && group + 4 <= tile_cells)
          store_words<uint4, 1>(&at<uint4>(b_out, 4ll * (b_start + group)), b_v);
        else { // the run begins or ends in it
          #pragma unroll
          for (int part = 0; part < 4; part++) {
            const int b_place = b_start + group + part;
            if (group + part >= 0 && group + part < tile_cells)
              b_out[b_place] = b_v[part];
          }
        }
      }
    }
  }
}
