// templates/device/async.cuh: smem_address, async_copy, async_commit, async_wait
// templates/device/division.cuh: ceil_div
// templates/device/words.cuh: at_byte, word_of, word_bytes, load, store, put
// templates/device/words_halo.cuh: clamp_index, bytes_into_word, word_at, bytes_into_sector, line_at, copy_word

// Computes one element.
__device__ __forceinline__ void compute(float a, float east, float north, float south, float west,
                                        float k, float &b) {
  b = fmaf(k, fmaf(-4.0f, a, north + south + west + east), a);
}

// A block computes 256 x 16 elements from a tile with halo in shared memory.
__global__ void __launch_bounds__(256)
stencil(const float *__restrict__ a, float *__restrict__ b, float k_, long long n_row,
        long long n_col) {
  constexpr int kThreads = 256;
  constexpr int kLanes = 32; // threads beside each other along col
  constexpr int kVec = 1; // neighbours along col that a thread computes at once
  constexpr int kItems = 8; // times that it does so, kLanes * kVec elements apart
  constexpr int kRows = 2; // lines of a thread along row
  constexpr int kGroups = kThreads / kLanes; // threads beside each other along row
  // elements of a block along each dimension
  constexpr int kTile_col = kLanes * kVec * kItems, kTile_row = kRows * kGroups;
  // lines are stored from the start of 32 bytes on: up to so many elements earlier
  constexpr int kAhead = 7;
  // elements of a that taps reach before and after
  constexpr int kLeft_a = 1, kRight_a = 1;
  constexpr int kLines_a = kTile_row + 2; // lines of a tile of a
  constexpr int kBefore_a = kLeft_a + kAhead; // elements of one before the block's own
  constexpr int kSpan_a = kBefore_a + kTile_col + kRight_a; // all of its elements
  // words of 16 bytes that hold it, wherever it begins and ends in its first and last
  constexpr int kWords_a = (kSpan_a * sizeof(float) + 15 + 15) / 16;

  // where the block's tile begins
  unsigned int block = blockIdx.x;
  const unsigned int tiles_col = ceil_div<kTile_col>(n_col + kAhead);
  const long long first_col = (long long)(block % tiles_col) * kTile_col;
  block /= tiles_col;
  const long long first_row = (long long)block * kTile_row;
  // there is nothing to do
  if (n_col == 0) return;
  extern __shared__ uint4 shared[];

  // guarded: some of the lines that are read or written may lie beyond a border.
  const auto compute_tile = [&](bool guarded) {
    // where an element of line i of a lies; lines count from the first one read
    const auto a_at = [&](int i, long long col) -> const float * {
      long long row = first_row + i - 1;
      if (guarded) row = clamp_index(row, n_row);
      return &a[n_col * row + col];
    };
    // its value where it lies beyond the line's ends
    const auto a_beyond = [&](int i, long long col) -> float {
      return load<float>(a_at(i, clamp_index(col, n_col)));
    };
    uint4 *const a_tile = shared; // lines with their halo
    // where they start
    const float **const a_from =
        reinterpret_cast<const float **>(a_tile + kLines_a * kWords_a);
#pragma unroll 1
    for (int line = threadIdx.x; line < kLines_a; line += kThreads)
      a_from[line] = a_at(line, first_col - kBefore_a);
    // a line of the tile, from its first element on
    const auto a_tile_line = [&](int line) {
      return line_at<float>(&a_tile[line * kWords_a], a_from[line]);
    };
    __syncthreads();

    // in: each line from the word that its first element lies in
#pragma unroll
    for (int n = threadIdx.x; n < kLines_a * kWords_a; n += kThreads) {
      const int line = n / kWords_a;
      copy_word(guarded, &a_tile[n], word_at(a_from[line], n % kWords_a),
                a, at_byte<char>(a, 4 * n_col * n_row));
    }
    async_commit();
    async_wait<0>();
    __syncthreads();
    if (guarded) { // what lies beyond the lines' ends
      {
        // what outputs reach of a line, before the array's first element and from its end on
        const long long begin = first_col - kBefore_a, first = max(begin, -1LL);
        const long long stop = min(begin + kSpan_a, n_col + 1);
        const long long end = max(first, (long long)(n_col));
        const int before = (int)max(min(stop, 0LL) - first, 0LL);
        const int beyond = before + (int)max(stop - end, 0LL);
        for (int n = threadIdx.x; n < kLines_a * beyond; n += kThreads) {
          const int line = n / beyond, k = n % beyond;
          const int column = (int)((k < before ? first : end - before) - begin) + k;
          put<4>(a_tile_line(line) + column,
                          a_beyond(line, first_col - kBefore_a + column));
        }
      }
      __syncthreads();
    }

    // out
    const int lane = threadIdx.x % kLanes;
    const int own = threadIdx.x / kLanes * kRows; // its first line
    // the thread's element of each line of a that its taps reach
    const float *a_line[kRows + 2];
#pragma unroll
    for (int i = 0; i < kRows + 2; i++)
      a_line[i] = a_tile_line(own + i) + kBefore_a + lane * kVec;
    const auto compute_line = [&](int item, int i) {
      const long long row = first_row + own + i;
      const int drift = bytes_into_sector(&b[n_col * row + first_col]) / 4;
      const int column = item * kLanes - drift;
      const long long col = first_col + lane + column;
      if (guarded && (row >= n_row || col < 0 || col >= n_col)) return;
      const auto a_near = [&](int d_row, int d_col) {
        return a_line[i + 1 + d_row][column + d_col];
      };
      float b_v;
      compute(a_near(0, 0), a_near(0, 1), a_near(-1, 0), a_near(1, 0), a_near(0, -1), k_, b_v);
      store(&b[n_col * row + col], b_v);
    };
#pragma unroll
    for (int item = 0; item < kItems; item++)
#pragma unroll
      for (int i = 0; i < kRows; i++)
        compute_line(item, i);
  };
  // does all that is computed, and that taps reach, lie inside?
  if (first_col + 265 <= n_col && first_col >= 8 && first_row + 17 <= n_row && first_row >= 1)
    compute_tile(false);
  else
    compute_tile(true);
}
