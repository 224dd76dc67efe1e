// The value of type T that lies `bytes` after `base`.
template <class T> __device__ __forceinline__ const T &at(const void *base, long long bytes) {
  return *reinterpret_cast<const T *>(static_cast<const char *>(base) + bytes);
}
template <class T> __device__ __forceinline__ T &at(void *base, long long bytes) {
  return *reinterpret_cast<T *>(static_cast<char *>(base) + bytes);
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
// elements; a block takes 8 of them.
__global__ void __launch_bounds__(256)
permute(const float *__restrict__ a_in, float *__restrict__ b_out, long long n_i, long long n_j,
        long long n_k) {
  constexpr int kThreads = 256;
  constexpr int kCells = 4096; // elements that a tile has at most
  const int block = blockIdx.x, blocks = gridDim.x;
  const int thread = threadIdx.x, lane = thread % 32;
  const int whole_cells = (int)(n_k); // what a tile has whole
  const int unit_i = sector_steps<8>((int)(n_k), kCells / whole_cells);
  const int most_i = max(1, kCells / whole_cells / unit_i) * unit_i;
  const int box_i = box_of((int)n_i, most_i, unit_i);
  const int a_step_j = (int)(n_k);
  const int a_step_i = (int)(n_j * n_k);
  const int a_step_k = (int)(1);
  const int b_step_j = (int)(n_i * n_k);
  const int b_step_i = (int)(n_k);
  const int b_step_k = (int)(1);
  const int chunks_i = ((int)n_i + box_i - 1) / box_i;
  const int tiles = (int)n_j * chunks_i;
  const int rounds = (tiles - block + blocks - 1) / blocks; // of this block
  int chunk_i = 0, a_first = 0, b_first = 0;
  const int len_k = (int)n_k;
  int out_i = 0;
  int len_i = 0, tile_cells = 0, a_start = 0, b_start = 0;
  __align__(16) float a_v[4][4];
  int a_at[4], b_at[4];
  for (int round = 0; round < rounds; round++) {
    int member = thread;
    asm volatile("" : "+r"(member)); // what follows from it is not kept: registers are dear
    if (round % 32 == 0) { // lane r finds the r-th tile from here: where it starts, its chunks
      int rest = block + min(round + lane, rounds - 1) * blocks;
      const int first_j = rest % (int)n_j;
      rest /= (int)n_j;
      const int first_i = rest * box_i;
      chunk_i = min(box_i, (int)n_i - first_i);
      a_first = first_j * a_step_j + first_i * a_step_i;
      b_first = first_j * b_step_j + first_i * b_step_i;
    }
    len_i = __shfl_sync(~0u, chunk_i, round);
    tile_cells = len_k * len_i;
    a_start = __shfl_sync(~0u, a_first, round);
    b_start = __shfl_sync(~0u, b_first, round);
    if (len_i != out_i) { // where this thread's elements lie in a tile of this size
      out_i = len_i;
      const unsigned int factor_k = factor_of(len_k);
    #pragma unroll
      for (int turn = 0; turn < 4; turn++) {
        int cell_left = (member + turn * kThreads) * 4;
        const int next_k = quotient(cell_left, factor_k), at_k = cell_left - next_k * len_k;
        cell_left = next_k;
        const int at_i = cell_left;
        a_at[turn] = at_k * a_step_k + at_i * a_step_i;
        b_at[turn] = at_k * b_step_k + at_i * b_step_i;
      }
    }
    #pragma unroll
    for (int turn = 0; turn < 4; turn++) {
      if ((member + turn * kThreads) * 4 < tile_cells) {
        const long long a_place = a_start + a_at[turn];
        load_words<uint4, 1>(a_v[turn], &at<uint4>(a_in, 4 * a_place));
      }
    }
    #pragma unroll
    for (int turn = 0; turn < 4; turn++) {
      if ((member + turn * kThreads) * 4 < tile_cells) {
        __align__(16) float b_v[4];
        #pragma unroll
        for (int part = 0; part < 4; part++) {
          const float a = a_v[turn][part];
          float b;
          { b = a; }
          b_v[part] = b;
        }
        const long long b_place = b_start + b_at[turn];
        store_words<uint4, 1>(&at<uint4>(b_out, 4 * b_place), b_v);
      }
    }
  }
}
