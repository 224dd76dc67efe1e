// left / size by a multiplication: exact while left * size < 2^30.
__device__ __forceinline__ unsigned int factor_of(unsigned int size) {
  return size > 0 ? (0x80000000u + size - 1) / size : 0;
}
__device__ __forceinline__ int quotient(unsigned int left, unsigned int factor) {
  return __umulhi(2 * left + 1, factor);
}

// A tile covers the runs along n, m of the inputs and along l, j, m of the outputs, at most 4096
// elements; a block takes 8 of them, exchanged through shared memory.
__global__ void __launch_bounds__(256)
permute(const float *__restrict__ a_in, float *__restrict__ b_out, long long n_i, long long n_j,
        long long n_k, long long n_l, long long n_m, long long n_n) {
  constexpr int kThreads = 256;
  constexpr int kCells = 4096; // elements that a tile has at most
  // a's tile in the order of its memory, swizzled: columns fall into different banks
  __shared__ __align__(16) float a_tile[kCells];
  const int block = blockIdx.x, blocks = gridDim.x;
  const int thread = threadIdx.x, lane = thread % 32;
  const int whole_cells = max(1, (int)(n_j * n_l * n_n)); // what a tile has whole
  const int most_m = max(1, kCells / whole_cells);
  const int parts_m = max(1, ((int)n_m + most_m - 1) / most_m);
  const int box_m = max(1, min((int)n_m, ((int)n_m + parts_m - 1) / parts_m));
  const int a_step_i = (int)(n_j * n_k * n_l * n_m * n_n);
  const int a_step_j = (int)(n_k * n_l * n_m * n_n);
  const int a_step_k = (int)(n_l * n_m * n_n);
  const int a_step_l = (int)(n_m * n_n);
  const int a_step_m = (int)(n_n);
  const int a_step_n = (int)(1);
  const int b_step_i = (int)(n_j * n_l * n_m);
  const int b_step_j = (int)(n_l);
  const int b_step_k = (int)(n_i * n_j * n_l * n_m * n_n);
  const int b_step_l = (int)(1);
  const int b_step_m = (int)(n_j * n_l);
  const int b_step_n = (int)(n_i * n_j * n_l * n_m);
  const int chunks_m = ((int)n_m + box_m - 1) / box_m;
  const int tiles = chunks_m * (int)n_k * (int)n_i;
  const int rounds = (tiles - block + blocks - 1) / blocks; // of this block
  // lane r finds the block's tile r: where it starts, how long its chunks are
  int rest = block + min(lane, rounds - 1) * blocks;
  const int first_m = rest % chunks_m * box_m;
  rest /= chunks_m;
  const int chunk_m = min(box_m, (int)n_m - first_m);
  const int first_k = rest % (int)n_k;
  rest /= (int)n_k;
  const int first_i = rest;
  const int a_first = first_m * a_step_m + first_k * a_step_k + first_i * a_step_i;
  const int b_first = first_m * b_step_m + first_k * b_step_k + first_i * b_step_i;
  const int len_j = (int)n_j;
  const int len_l = (int)n_l;
  const int len_n = (int)n_n;
  int in_m = 0;
  int out_m = 0;
  __align__(16) float a_v[16][1];
  int a_at[16], a_cell[16], b_at[16];
  for (int round = 0; round <= rounds; round++) {
    int tile_cells = 0;
    if (round < rounds) { // in: runs of n, m, all loads before the first use
      const int len_m = __shfl_sync(~0u, chunk_m, round);
      tile_cells = len_n * len_m * len_l * len_j;
      const int a_start = __shfl_sync(~0u, a_first, round);
      if (len_m != in_m) { // where this thread's elements lie in a tile of this size
        in_m = len_m;
        const unsigned int factor_n = factor_of(len_n);
        const unsigned int factor_m = factor_of(len_m);
        const unsigned int factor_l = factor_of(len_l);
      #pragma unroll
        for (int turn = 0; turn < 16; turn++) {
          int cell_left = (thread + turn * kThreads);
          const int next_n = quotient(cell_left, factor_n), at_n = cell_left - next_n * len_n;
          cell_left = next_n;
          const int next_m = quotient(cell_left, factor_m), at_m = cell_left - next_m * len_m;
          cell_left = next_m;
          const int next_l = quotient(cell_left, factor_l), at_l = cell_left - next_l * len_l;
          cell_left = next_l;
          const int at_j = cell_left;
          a_at[turn] = at_n * a_step_n + at_m * a_step_m + at_l * a_step_l + at_j * a_step_j;
        }
      }
      #pragma unroll
      for (int turn = 0; turn < 16; turn++) {
        const int tile_cell = (thread + turn * kThreads);
        if (tile_cell < tile_cells) {
          const long long a_place = a_start + a_at[turn];
          a_v[turn][0] = a_in[a_place];
        }
      }
    }
    if (round > 0) { // out: runs of l, j, m, from the tile before
      const int len_m = __shfl_sync(~0u, chunk_m, round - 1);
      const int tile_cells = len_n * len_m * len_l * len_j;
      const int b_start = __shfl_sync(~0u, b_first, round - 1);
      if (len_m != out_m) { // where this thread's elements lie in a tile of this size
        out_m = len_m;
        const unsigned int factor_l = factor_of(len_l);
        const unsigned int factor_j = factor_of(len_j);
        const unsigned int factor_m = factor_of(len_m);
      #pragma unroll
        for (int turn = 0; turn < 16; turn++) {
          int cell_left = (thread + turn * kThreads);
          const int next_l = quotient(cell_left, factor_l), at_l = cell_left - next_l * len_l;
          cell_left = next_l;
          const int next_j = quotient(cell_left, factor_j), at_j = cell_left - next_j * len_j;
          cell_left = next_j;
          const int next_m = quotient(cell_left, factor_m), at_m = cell_left - next_m * len_m;
          cell_left = next_m;
          const int at_n = cell_left;
          b_at[turn] = at_l * b_step_l + at_j * b_step_j + at_m * b_step_m + at_n * b_step_n;
          const int a_slot = (((at_j) * len_l + at_l) * len_m + at_m) * len_n + at_n;
          a_cell[turn] = a_slot ^ (((a_slot >> 5) ^ (a_slot >> 10)) & 31);
        }
      }
      #pragma unroll
      for (int turn = 0; turn < 16; turn++) {
        if ((thread + turn * kThreads) < tile_cells) {
          const float a = a_tile[a_cell[turn]];
          float b;
          { b = a; }
          const long long b_place = b_start + b_at[turn];
          b_out[b_place] = b;
        }
      }
    }
    __syncthreads(); // all have left the tile
    if (round < rounds) {
      #pragma unroll
      for (int turn = 0; turn < 16; turn++) {
        const int tile_cell = (thread + turn * kThreads);
        if (tile_cell < tile_cells) {
          a_tile[tile_cell ^ (((tile_cell >> 5) ^ (tile_cell >> 10)) & 31)] = a_v[turn][0];
        }
      }
    }
    __syncthreads();
  }
}
