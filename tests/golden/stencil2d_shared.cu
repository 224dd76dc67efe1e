// templates/device/async.cuh: smem_address, async_copy, async_commit, async_wait
// templates/device/words.cuh: at_byte, word_of, word_bytes, load, store, put
// templates/device/words_halo.cuh: clamp_index, is_inside, bytes_into_word, word_at, bytes_into_sector, line_at, copy_word

constexpr int kThreads = 256; // of a block
constexpr int kLanes = 32; // threads beside each other along col
constexpr int kVec = 1; // elements of a thread beside each other
constexpr int kItems = 8; // such groups of a thread, kLanes * kVec elements apart
constexpr int kRows = 2; // lines of a thread along row
constexpr int kWords_a = 68; // words of 16 bytes for a line of a

// What is computed for one element.
__device__ __forceinline__ void compute(float a, float east, float north, float south, float west,
                                        float k, float &b) {
  b = fmaf(k, fmaf(-4.0f, a, north + south + west + east), a);
}

// kGuarded: some of the lines that are read or written may lie beyond a border.
template <bool kGuarded>
__device__ __forceinline__ void compute_tile(
    const float *__restrict__ a, float *__restrict__ b, float k_, long long n_row, long long n_col,
    long long first_col, long long first_row) {
  // where an element of line i of a lies; lines count from the first one read
  const auto a_at = [&](int i, long long col) -> const float * {
    long long row = first_row + i - 1;
    if (kGuarded) row = clamp_index(row, n_row);
    return &a[n_col * row + col];
  };
  // its value where it may lie beyond the line's ends
  const auto a_beyond = [&](int i, long long col) -> float {
    return load<float>(a_at(i, clamp_index(col, n_col)));
  };
  extern __shared__ uint4 shared[];
  // where lines with their halo start
  const float **const a_from =
      reinterpret_cast<const float **>(shared + 1224);
#pragma unroll 1
  for (int line = threadIdx.x; line < 18; line += kThreads)
    a_from[line] = a_at(line, first_col - 8);
  __syncthreads();

  // in: each line from the word that its first element lies in
  uint4 *const a_tile = shared + 0;
#pragma unroll
  for (int n = threadIdx.x; n < 18 * kWords_a; n += kThreads) {
    const int line = n / kWords_a;
    copy_word<kGuarded>(&a_tile[n], word_at(a_from[line], n % kWords_a),
                        a, at_byte<char>(a, 4 * n_col * n_row));
  }
  async_commit();
  async_wait<0>();
  __syncthreads();
  if (kGuarded) { // what lies beyond the lines' ends
    for (int n = threadIdx.x; n < 18 * 2; n += kThreads) {
      const int line = n / 2, k = n % 2;
      const long long col = (k < 1 ? 0 : n_col) + k - 1;
      const long long column = col - (first_col - 8);
      if (is_inside(column, 265)) {
        put<4>(
            line_at<float>(&a_tile[line * kWords_a], a_from[line]) + column,
            a_beyond(line, col));
      }
    }
    __syncthreads();
  }

  // out
  const int lane = threadIdx.x % kLanes;
  const int own = threadIdx.x / kLanes * kRows; // its first line
  // the thread's element of each line of a that its taps reach
  const float *a_line[4];
#pragma unroll
  for (int i = 0; i < 4; i++) {
      const int line = own + i;
      a_line[i] = line_at<float>(&a_tile[line * kWords_a], a_from[line])
          + 8 + lane * kVec;
    }
  const auto compute_line = [&](int i, int item) {
    const long long row = first_row + own + i;
    const int drift = bytes_into_sector(&b[n_col * row + first_col]) / 4;
    const int column = item * kLanes - drift;
    const long long col = first_col + lane + column;
    if (kGuarded && (row >= n_row || col < 0 || col >= n_col)) return;
    float b_v;
    compute(a_line[i + 1][column], a_line[i + 1][column + 1], a_line[i][column],
            a_line[i + 2][column], a_line[i + 1][column - 1], k_, b_v);
    store(&b[n_col * row + col], b_v);
  };
#pragma unroll
  for (int item = 0; item < kItems; item++)
#pragma unroll
  for (int i = 0; i < kRows; i++)
    compute_line(i, item);
}

// A block computes 256 x 16 elements from a tile with halo in shared memory.
__global__ void __launch_bounds__(256)
stencil(const float *__restrict__ a, float *__restrict__ b, float k_, long long n_row,
        long long n_col) {
  unsigned int rest = blockIdx.x;
  const unsigned int tiles_col = (unsigned int)(((n_col + 6) >> 8) + 1);
  const long long first_col = (long long)(rest % tiles_col) * 256;
  rest /= tiles_col;
  const long long first_row = (long long)rest * 16;
  if (n_col == 0) return; // nothing to do
  if (first_col + 265 <= n_col && first_col >= 8 && first_row + 17 <= n_row && first_row >= 1)
    compute_tile<false>(a, b, k_, n_row, n_col, first_col, first_row);
  else
    compute_tile<true>(a, b, k_, n_row, n_col, first_col, first_row);
}
