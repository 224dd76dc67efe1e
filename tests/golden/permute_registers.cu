// The value of type T that lies `bytes` after `base`.
template <class T> __device__ __forceinline__ const T &at(const void *base, long long bytes) {
  return *reinterpret_cast<const T *>(static_cast<const char *>(base) + bytes);
}
template <class T> __device__ __forceinline__ T &at(void *base, long long bytes) {
  return *reinterpret_cast<T *>(static_cast<char *>(base) + bytes);
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
  const int whole_cells = max(1, (int)(n_k)); // what a tile has whole
  const int most_i = max(1, kCells / whole_cells);
  const int parts_i = max(1, ((int)n_i + most_i - 1) / most_i);
  const int box_i = max(1, min((int)n_i, ((int)n_i + parts_i - 1) / parts_i));
  const int a_step_i = (int)(n_j * n_k);
  const int a_step_j = (int)(n_k);
  const int a_step_k = (int)(1);
  const int b_step_i = (int)(n_k);
  const int b_step_j = (int)(n_i * n_k);
  const int b_step_k = (int)(1);
  const int chunks_i = ((int)n_i + box_i - 1) / box_i;
  const int tiles = (int)n_j * chunks_i;
  const int rounds = (tiles - block + blocks - 1) / blocks; // of this block
  // lane r finds the block's tile r: where it starts, how long its chunks are
  int rest = block + min(lane, rounds - 1) * blocks;
  const int first_j = rest % (int)n_j;
  rest /= (int)n_j;
  const int first_i = rest * box_i;
  const int chunk_i = min(box_i, (int)n_i - first_i);
  const int a_first = first_j * a_step_j + first_i * a_step_i;
  const int b_first = first_j * b_step_j + first_i * b_step_i;
  const int len_k = (int)n_k;
  int out_i = 0;
  __align__(16) float a_v[4][4];
  int a_at[4], b_at[4];
  for (int round = 0; round < rounds; round++) {
    const int len_i = __shfl_sync(~0u, chunk_i, round);
    const int tile_cells = len_k * len_i;
    const int a_start = __shfl_sync(~0u, a_first, round);
    const int b_start = __shfl_sync(~0u, b_first, round);
    if (len_i != out_i) { // where this thread's elements lie in a tile of this size
      out_i = len_i;
      const unsigned int factor_k = factor_of(len_k);
    #pragma unroll
      for (int turn = 0; turn < 4; turn++) {
        int cell_left = (thread + turn * kThreads) * 4;
        const int next_k = quotient(cell_left, factor_k), at_k = cell_left - next_k * len_k;
        cell_left = next_k;
        const int at_i = cell_left;
        a_at[turn] = at_k * a_step_k + at_i * a_step_i;
        b_at[turn] = at_k * b_step_k + at_i * b_step_i;
      }
    }
    #pragma unroll
    for (int turn = 0; turn < 4; turn++) {
      if ((thread + turn * kThreads) * 4 < tile_cells) {
        const long long a_place = a_start + a_at[turn];
        load_words<uint4, 1>(a_v[turn], &at<uint4>(a_in, 4 * a_place));
      }
    }
    #pragma unroll
    for (int turn = 0; turn < 4; turn++) {
      if ((thread + turn * kThreads) * 4 < tile_cells) {
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
