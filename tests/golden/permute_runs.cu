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

// A tile covers the runs along m, l of the inputs and along j, l of the outputs, at most 4096
// elements; a block takes 8 of them, exchanged through shared memory.
__global__ void __launch_bounds__(256)
permute(const float *__restrict__ a_in, float *__restrict__ b_out, long long n_i, long long n_j,
        long long n_k, long long n_l, long long n_m) {
  constexpr int kThreads = 256;
  constexpr int kCells = 4096; // elements that a tile has at most
  // a's tile in the order of its memory, swizzled: columns fall into different banks
  __shared__ __align__(16) float a_tile[kCells];
  const int block = blockIdx.x, blocks = gridDim.x;
  const int thread = threadIdx.x, lane = thread % 32;
  const int whole_cells = (int)(n_j * n_m); // what a tile has whole
  const int unit_l = sector_steps<8>((int)(n_j), kCells / whole_cells);
  const int most_l = max(1, kCells / whole_cells / unit_l) * unit_l;
  const int box_l = box_of((int)n_l, most_l, unit_l);
  const int a_step_i = (int)(n_j * n_k * n_l * n_m);
  const int a_step_j = (int)(n_k * n_l * n_m);
  const int a_step_k = (int)(n_l * n_m);
  const int a_step_l = (int)(n_m);
  const int a_step_m = (int)(1);
  const int b_step_i = (int)(n_j * n_l);
  const int b_step_j = (int)(1);
  const int b_step_k = (int)(n_i * n_j * n_l);
  const int b_step_l = (int)(n_j);
  const int b_step_m = (int)(n_i * n_j * n_k * n_l);
  const int chunks_l = ((int)n_l + box_l - 1) / box_l;
  const int tiles = chunks_l * (int)n_i * (int)n_k;
  const int rounds = (tiles - block + blocks - 1) / blocks; // of this block
  int chunk_l = 0, a_first = 0, b_first = 0;
  const int len_j = (int)n_j;
  const int len_m = (int)n_m;
  int in_l = 0;
  int out_l = 0;
  int len_l = 0, tile_cells = 0, a_start = 0, b_start = 0;
  // elements of a word before a's runs: none where all start on a word
  const int a_pad = ((a_step_i | a_step_j | a_step_k | box_l * a_step_l) & 3) != 0 ? 3 : 0;
  // elements of a word before b's runs: none where all start on a word
  const int b_pad = ((b_step_i | b_step_k | box_l * b_step_l | b_step_m) & 3) != 0 ? 3 : 0;
  const int a_count = (int)(n_i * n_j * n_k * n_l * n_m);
  __align__(16) float a_v[5][4];
  int a_shift = -1, a_at[5], a_put[5], a_cell[10];
  int b_shift = -1, b_at[5];
  for (int round = 0; round <= rounds; round++) {
    int member = thread;
    asm volatile("" : "+r"(member)); // what follows from it is not kept: registers are dear
    const int before_l = len_l;
    const int cells_before = tile_cells;
    const int a_before = a_start;
    const int b_before = b_start;
    if (round < rounds) { // in: runs of m, l, all loads before the first use
      if (round % 32 == 0) { // lane r finds the r-th tile from here: where it starts, its chunks
        int rest = block + min(round + lane, rounds - 1) * blocks;
        const int first_l = rest % chunks_l * box_l;
        rest /= chunks_l;
        chunk_l = min(box_l, (int)n_l - first_l);
        const int first_i = rest % (int)n_i;
        rest /= (int)n_i;
        const int first_k = rest;
        a_first = first_l * a_step_l + first_i * a_step_i + first_k * a_step_k;
        b_first = first_l * b_step_l + first_i * b_step_i + first_k * b_step_k;
      }
      len_l = __shfl_sync(~0u, chunk_l, round);
      tile_cells = len_m * len_l * len_j;
      a_start = __shfl_sync(~0u, a_first, round);
      b_start = __shfl_sync(~0u, b_first, round);
      const int read_run = len_m * len_l, read_groups = (read_run + a_pad + 3) / 4;
      // where this thread's groups lie in a tile of this size that starts here in a word
      if (len_l != in_l || (a_start & 3) != a_shift) {
        in_l = len_l;
        a_shift = a_start & 3;
        const unsigned int factor_groups = factor_of(read_groups);
      #pragma unroll
        for (int turn = 0; turn < 5; turn++) {
          const int group_number = member + turn * kThreads;
          const int run_number = quotient(group_number, factor_groups);
          int cell_left = run_number;
          const int at_j = cell_left;
          const int run_at = at_j * a_step_j;
          const int first_cell = (group_number - run_number * read_groups) * 4
            - (a_start + run_at & 3);
          const bool in_tile = run_number * read_run < tile_cells;
          a_at[turn] = run_at + first_cell;
          const int part_mask = 15 << max(-first_cell, 0)
            & 15 >> min(max(first_cell + 4 - read_run, 0), 4);
          a_put[turn] = in_tile ? run_number * read_run + first_cell + 4 << 4 | part_mask & 15 : 0;
        }
      }
      #pragma unroll
      for (int turn = 0; turn < 5; turn++) {
        const int a_place = a_start + a_at[turn];
        if ((a_put[turn] & 15) == 0) // nothing of a run is in it
          continue;
        if (a_place + 4 <= a_count)
          load_words<uint4, 1>(a_v[turn], &at<uint4>(a_in, 4ll * a_place));
        else { // the array ends in it
          #pragma unroll
          for (int part = 0; part < 4; part++) {
            if (a_place + part < a_count)
              a_v[turn][part] = a_in[a_place + part];
          }
        }
      }
    }
    if (round > 0) { // out: runs of j, l, from the tile before
      const int len_l = before_l;
      const int tile_cells = cells_before;
      const int a_start = a_before;
      const int b_start = b_before;
      const int write_run = len_j * len_l, write_groups = (write_run + b_pad + 3) / 4;
      // where this thread's groups lie in a tile of this size that starts here in a word
      if (len_l != out_l || (b_start & 3) != b_shift) {
        out_l = len_l;
        b_shift = b_start & 3;
        const unsigned int factor_groups = factor_of(write_groups);
        const unsigned int factor_j = factor_of(len_j);
      #pragma unroll
        for (int turn = 0; turn < 5; turn++) {
          const int group_number = member + turn * kThreads;
          const int run_number = quotient(group_number, factor_groups);
          int cell_left = run_number;
          const int at_m = cell_left;
          const int run_at = at_m * b_step_m;
          const int first_cell = (group_number - run_number * write_groups) * 4
            - (b_start + run_at & 3);
          const bool in_tile = run_number * write_run < tile_cells;
          b_at[turn] = run_at + first_cell;
          #pragma unroll
          for (int part = 0; part < 4; part++) {
            int cell_left = first_cell + part;
            const bool in_run = in_tile && cell_left >= 0 && cell_left < write_run;
            const int next_j = quotient(cell_left, factor_j), at_j = cell_left - next_j * len_j;
            cell_left = next_j;
            const int at_l = cell_left;
            const int a_slot = ((at_j) * len_l + at_l) * len_m + at_m;
            const int cell_at = in_run ?
              a_slot ^ (((a_slot >> 5) ^ (a_slot >> 10)) & 31) : 0xffff; // two in an int
            int &cell_pair = a_cell[(turn * 4 + part) / 2];
            cell_pair = part % 2 == 0 ? cell_at : cell_pair | cell_at << 16;
          }
        }
      }
      #pragma unroll
      for (int turn = 0; turn < 5; turn++) {
        const int b_place = b_start + b_at[turn];
        __align__(16) float b_v[4];
        #pragma unroll
        for (int part = 0; part < 4; part++) {
          const int cell_at = a_cell[(turn * 4 + part) / 2] >> part % 2 * 16 & 0xffff;
          if (cell_at != 0xffff) {
            const float a = a_tile[cell_at];
            float b;
            { b = a; }
            b_v[part] = b;
          }
        }
        if (((a_cell[turn * 2 + 0] | a_cell[turn * 2 + 1]) & 0x80008000) == 0)
          store_words<uint4, 1>(&at<uint4>(b_out, 4ll * b_place), b_v);
        else { // a run begins or ends in it
          #pragma unroll
          for (int part = 0; part < 4; part++) {
            if ((a_cell[(turn * 4 + part) / 2] >> part % 2 * 16 & 0xffff) != 0xffff)
              b_out[b_place + part] = b_v[part];
          }
        }
      }
    }
    __syncthreads(); // all have left the tile
    if (round < rounds) {
      #pragma unroll
      for (int turn = 0; turn < 5; turn++) {
        #pragma unroll
        for (int part = 0; part < 4; part++) {
          const int tile_cell = (a_put[turn] >> 4) - 4 + part;
          if (a_put[turn] >> part & 1)
            a_tile[tile_cell ^ (((tile_cell >> 5) ^ (tile_cell >> 10)) & 31)] = a_v[turn][part];
        }
      }
    }
    __syncthreads();
  }
}
