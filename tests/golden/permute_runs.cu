// kBytes from global to shared memory that pass no register (sm_80): in the group at hand.
template <int kBytes> __device__ __forceinline__ void copy_async(void *to, const void *from) {
  const unsigned int place = (unsigned int)__cvta_generic_to_shared(to);
  asm volatile("cp.async.cg.shared.global [%0], [%1], %2;" ::"r"(place), "l"(from), "n"(kBytes)
               : "memory");
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

// A tile covers the runs along m, l of the inputs and along j, l of the outputs, at most 14157
// elements; a block brings one into shared memory by asynchronous copies.
__global__ void __launch_bounds__(256)
permute(const float *__restrict__ a_in, float *__restrict__ b_out, long long n_i, long long n_j,
        long long n_k, long long n_l, long long n_m) {
  constexpr int kThreads = 256, kWarps = kThreads / 32;
  constexpr int kCells = 14157; // elements that a tile has at most, but for padding
  extern __shared__ __align__(16) unsigned char shared_tiles[];
  // a's tile in the order of its memory, its rows padded to odd numbers of words
  float *const a_tile = reinterpret_cast<float *>(shared_tiles + 0);
  const int block = blockIdx.x;
  const int thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
  const int whole_cells = (int)(n_m * n_j); // what a tile has whole
  const int unit_l = sector_steps<8>((int)(n_j), kCells / whole_cells);
  const int most_l = max(1, kCells / whole_cells / unit_l) * unit_l;
  const int box_l = box_of((int)n_l, most_l, unit_l);
  const int a_step_m = (int)(1);
  const int a_step_k = (int)(n_l * n_m);
  const int a_step_i = (int)(n_j * n_k * n_l * n_m);
  const int a_step_l = (int)(n_m);
  const int a_step_j = (int)(n_k * n_l * n_m);
  const int b_step_m = (int)(n_i * n_j * n_k * n_l);
  const int b_step_k = (int)(n_i * n_j * n_l);
  const int b_step_i = (int)(n_j * n_l);
  const int b_step_l = (int)(n_j);
  const int b_step_j = (int)(1);
  const int chunks_l = ((int)n_l + box_l - 1) / box_l;
  int rest = block;
  const int first_l = rest % chunks_l * box_l;
  rest /= chunks_l;
  const int len_l = min(box_l, (int)n_l - first_l);
  const int first_i = rest % (int)n_i;
  rest /= (int)n_i;
  const int first_k = rest;
  const int a_start = first_l * a_step_l + first_i * a_step_i + first_k * a_step_k;
  const int b_start = first_l * b_step_l + first_i * b_step_i + first_k * b_step_k;
  const int len_m = (int)n_m;
  const int len_j = (int)n_j;
  const int pitch_m = 1;
  const int pitch_l = pitch_m * len_m;
  const int pitch_j = (pitch_l * box_l + 3) / 8 * 8 + 4;
  { // in: runs of m, l, on their way at once
    const int run_length = len_m * len_l;
    // 0 where every row starts at a sector: then lanes need not start at a line
    const int slack = ((a_step_k | a_step_i | box_l * a_step_l | a_step_j) & 7) != 0 ? 31 : 0;
    const int pieces = (run_length + slack + 511) / 512; // of a run
    const int items = len_j * pieces;
    const unsigned int factor_pieces = factor_of(pieces);
    for (int item = warp; item < items; item += kWarps) {
      int cell_left = quotient(item, factor_pieces);
      const int piece = item - cell_left * pieces;
      const int at_j = cell_left;
      const int a_place = a_start + at_j * a_step_j;
      const int a_slot = at_j * pitch_j;
      const int shift = a_place & slack;
      #pragma unroll
      for (int step = 0; step < 4; step++) {
        const int cell = piece * 512 + (step * 32 + lane) * 4 - shift;
        if (cell >= 0 && cell < run_length) {
          copy_async<16>(&a_tile[a_slot + cell], &a_in[a_place + cell]);
        }
      }
    }
  }
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();
  { // out: runs of j, l
    const int run_length = len_j * len_l;
    // 0 where every row starts at a sector: then lanes need not start at a line
    const int slack = ((b_step_m | b_step_k | b_step_i | box_l * b_step_l) & 7) != 0 ? 31 : 0;
    const int pieces = (run_length + slack + 127) / 128; // of a run
    const int items = len_m * pieces;
    const unsigned int factor_pieces = factor_of(pieces);
    const unsigned int factor_j = factor_of(len_j);
    for (int item = warp; item < items; item += kWarps) {
      int cell_left = quotient(item, factor_pieces);
      const int piece = item - cell_left * pieces;
      const int at_m = cell_left;
      const int a_slot = at_m * pitch_m;
      const int b_place = b_start + at_m * b_step_m;
      float a_v[4];
      const int shift = b_place & slack;
      #pragma unroll
      for (int step = 0; step < 4; step++) {
        const int cell = piece * 128 + (step * 32 + lane) * 1 - shift;
        if (cell >= 0 && cell < run_length) {
          int cell_left = cell;
          const int next_j = quotient(cell_left, factor_j), at_j = cell_left - next_j * len_j;
          cell_left = next_j;
          const int at_l = cell_left;
          a_v[step] = a_tile[a_slot + at_j * pitch_j + at_l * pitch_l];
        }
      }
      #pragma unroll
      for (int step = 0; step < 4; step++) {
        const int cell = piece * 128 + (step * 32 + lane) * 1 - shift;
        if (cell >= 0 && cell < run_length) {
          const float a = a_v[step];
          float b;
          { b = a; }
          const long long b_element = b_place + cell;
          b_out[b_element] = b;
        }
      }
    }
  }
}
