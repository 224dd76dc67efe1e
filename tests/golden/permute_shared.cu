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
  const int whole_cells = (int)(n_n * n_j * n_l); // what a tile has whole
  const int unit_m = sector_steps<8>((int)(n_l * n_j), kCells / whole_cells);
  const int most_m = max(1, kCells / whole_cells / unit_m) * unit_m;
  const int box_m = box_of((int)n_m, most_m, unit_m);
  const int a_step_k = (int)(n_l * n_m * n_n);
  const int a_step_n = (int)(1);
  const int a_step_i = (int)(n_j * n_k * n_l * n_m * n_n);
  const int a_step_m = (int)(n_n);
  const int a_step_j = (int)(n_k * n_l * n_m * n_n);
  const int a_step_l = (int)(n_m * n_n);
  const int b_step_k = (int)(n_i * n_j * n_l * n_m * n_n);
  const int b_step_n = (int)(n_i * n_j * n_l * n_m);
  const int b_step_i = (int)(n_j * n_l * n_m);
  const int b_step_m = (int)(n_j * n_l);
  const int b_step_j = (int)(n_l);
  const int b_step_l = (int)(1);
  const int chunks_m = ((int)n_m + box_m - 1) / box_m;
  const int tiles = chunks_m * (int)n_k * (int)n_i;
  const int rounds = (tiles - block + blocks - 1) / blocks; // of this block
  int chunk_m = 0, a_first = 0, b_first = 0;
  const int len_n = (int)n_n;
  const int len_j = (int)n_j;
  const int len_l = (int)n_l;
  int in_m = 0;
  int out_m = 0;
  int len_m = 0, tile_cells = 0, a_start = 0, b_start = 0;
  __align__(16) float a_v[16][1];
  int a_at[16], a_cell[8], b_at[16];
  for (int round = 0; round <= rounds; round++) {
    int member = thread;
    asm volatile("" : "+r"(member)); // what follows from it is not kept: registers are dear
    const int before_m = len_m;
    const int cells_before = tile_cells;
    const int a_before = a_start;
    const int b_before = b_start;
    if (round < rounds) { // in: runs of n, m, all loads before the first use
      if (round % 32 == 0) { // lane r finds the r-th tile from here: where it starts, its chunks
        int rest = block + min(round + lane, rounds - 1) * blocks;
        const int first_m = rest % chunks_m * box_m;
        rest /= chunks_m;
        chunk_m = min(box_m, (int)n_m - first_m);
        const int first_k = rest % (int)n_k;
        rest /= (int)n_k;
        const int first_i = rest;
        a_first = first_m * a_step_m + first_k * a_step_k + first_i * a_step_i;
        b_first = first_m * b_step_m + first_k * b_step_k + first_i * b_step_i;
      }
      len_m = __shfl_sync(~0u, chunk_m, round);
      tile_cells = len_n * len_m * len_l * len_j;
      a_start = __shfl_sync(~0u, a_first, round);
      b_start = __shfl_sync(~0u, b_first, round);
      if (len_m != in_m) { // where this thread's elements lie in a tile of this size
        in_m = len_m;
        const unsigned int factor_n = factor_of(len_n);
        const unsigned int factor_m = factor_of(len_m);
        const unsigned int factor_l = factor_of(len_l);
      #pragma unroll
        for (int turn = 0; turn < 16; turn++) {
          int cell_left = (member + turn * kThreads);
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
        const int tile_cell = (member + turn * kThreads);
        if (tile_cell < tile_cells) {
          const long long a_place = a_start + a_at[turn];
          a_v[turn][0] = a_in[a_place];
        }
      }
    }
    if (round > 0) { // out: runs of l, j, m, from the tile before
      const int len_m = before_m;
      const int tile_cells = cells_before;
      const int a_start = a_before;
      const int b_start = b_before;
      if (len_m != out_m) { // where this thread's elements lie in a tile of this size
        out_m = len_m;
        const unsigned int factor_l = factor_of(len_l);
        const unsigned int factor_j = factor_of(len_j);
        const unsigned int factor_m = factor_of(len_m);
      #pragma unroll
        for (int turn = 0; turn < 16; turn++) {
          int cell_left = (member + turn * kThreads);
          const int next_l = quotient(cell_left, factor_l), at_l = cell_left - next_l * len_l;
          cell_left = next_l;
          const int next_j = quotient(cell_left, factor_j), at_j = cell_left - next_j * len_j;
          cell_left = next_j;
          const int next_m = quotient(cell_left, factor_m), at_m = cell_left - next_m * len_m;
          cell_left = next_m;
          const int at_n = cell_left;
          b_at[turn] = at_l * b_step_l + at_j * b_step_j + at_m * b_step_m + at_n * b_step_n;
          const int a_slot = (((at_j) * len_l + at_l) * len_m + at_m) * len_n + at_n;
          a_cell[turn / 2] = turn % 2 == 0 ? a_slot ^ (((a_slot >> 5) ^ (a_slot >> 10)) & 31) : a_cell[turn / 2] | (a_slot ^ (((a_slot >> 5) ^ (a_slot >> 10)) & 31)) << 16; // two in an int
        }
      }
      #pragma unroll
      for (int turn = 0; turn < 16; turn++) {
        if ((member + turn * kThreads) < tile_cells) {
          const float a = a_tile[a_cell[turn / 2] >> turn % 2 * 16 & 0xffff];
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
        const int tile_cell = (member + turn * kThreads);
        if (tile_cell < tile_cells) {
          a_tile[tile_cell ^ (((tile_cell >> 5) ^ (tile_cell >> 10)) & 31)] = a_v[turn][0];
        }
      }
    }
    __syncthreads();
  }
}
