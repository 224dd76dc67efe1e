// The value of type T that lies `bytes` after `base`.
template <class T> __device__ __forceinline__ const T &at(const void *base, long long bytes) {
  return *reinterpret_cast<const T *>(static_cast<const char *>(base) + bytes);
}
template <class T> __device__ __forceinline__ T &at(void *base, long long bytes) {
  return *reinterpret_cast<T *>(static_cast<char *>(base) + bytes);
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

// Threads own 4 neighbours of 4 lines and march along row, 4 turns; each line is loaded once and
// kept in registers.
__global__ void __launch_bounds__(256)
stencil(const float *__restrict__ a_in, float *__restrict__ b_out, float k, long long n_row,
        long long n_col) {
  constexpr int kVec = 4, kRows = 4, kTurns = 4;
  constexpr int kTile = 256 * kVec; // elements of col of a block
  const long long block = blockIdx.x;
  const int thread = threadIdx.x, lane = thread % 32;
  const long long tiles = (n_col + kTile - 1) / kTile;
  const long long first = block % tiles * kTile + thread * kVec; // of col
  const long long first_row = (block / tiles) * (kRows * kTurns);
  if (first - lane * kVec >= n_col || first_row >= n_row) return; // the whole warp
  // lanes beyond the end load what the last one does
  const long long col = min(first, n_col - kVec);
  float a_line[kRows + 2][kVec + 2];
  // lines that the first turn finds loaded
  #pragma unroll
  for (int line = 0; line < 2; line++) {
    const long long line_row = min(first_row + line - 1, n_row);
    __align__(16) float word[kVec];
    load_words<uint4, 1>(word,
        &at<uint4>(a_in, 4 * n_col * min(n_row - 1, max(line_row, 0LL)) + 4 * col));
    #pragma unroll
    for (int part = 0; part < kVec; part++)
      a_line[line][part + 1] = word[part];
  }
#pragma unroll 1
  for (int turn = 0; turn < kTurns; turn++) {
    if (first_row + turn * kRows >= n_row) break;
    if (first_row + turn * kRows >= 1 && first_row + turn * kRows + kRows + 1 <= n_row) {
      #pragma unroll
      for (int line = 0; line < kRows; line++) {
        const long long line_row = first_row + turn * kRows + line + 1;
        __align__(16) float word[kVec];
        load_words<uint4, 1>(word,
            &at<uint4>(a_in, 4 * line_row * n_col + 4 * col));
        #pragma unroll
        for (int part = 0; part < kVec; part++)
          a_line[line + 2][part + 1] = word[part];
      }
      #pragma unroll
      for (int line = 0; line < kRows; line++) {
        const long long line_row = first_row + turn * kRows + line;
        if (lane < 1)
          a_line[line + 1][0] =
            a_in[line_row * n_col + max(col - 1, 0LL)];
      }
      #pragma unroll
      for (int line = 0; line < kRows; line++) {
        const long long line_row = first_row + turn * kRows + line;
        if (lane >= 31 || col + 4 >= n_col)
          a_line[line + 1][5] =
            a_in[line_row * n_col + min(col + 4, n_col - 1)];
      }
    } else { // some lines lie beyond a border
      #pragma unroll
      for (int line = 0; line < kRows; line++) {
        const long long line_row = min(first_row + turn * kRows + line + 1, n_row);
        __align__(16) float word[kVec];
        load_words<uint4, 1>(word,
            &at<uint4>(a_in, 4 * n_col * min(n_row - 1, max(line_row, 0LL)) + 4 * col));
        #pragma unroll
        for (int part = 0; part < kVec; part++)
          a_line[line + 2][part + 1] = word[part];
      }
      #pragma unroll
      for (int line = 0; line < kRows; line++) {
        const long long line_row = min(first_row + turn * kRows + line, n_row - 1);
        if (lane < 1)
          a_line[line + 1][0] =
            a_in[line_row * n_col + max(col - 1, 0LL)];
      }
      #pragma unroll
      for (int line = 0; line < kRows; line++) {
        const long long line_row = min(first_row + turn * kRows + line, n_row - 1);
        if (lane >= 31 || col + 4 >= n_col)
          a_line[line + 1][5] =
            a_in[line_row * n_col + min(col + 4, n_col - 1)];
      }
    }
    // values next to a thread's own, from the lanes that have them
    #pragma unroll
    for (int line = 0; line < kRows; line++) {
      const float word = __shfl_up_sync(0xffffffffu, a_line[line + 1][4], 1);
      if (lane >= 1)
        a_line[line + 1][0] = word;
    }
    #pragma unroll
    for (int line = 0; line < kRows; line++) {
      const float word = __shfl_down_sync(0xffffffffu, a_line[line + 1][1], 1);
      if (lane < 31 && col + 4 < n_col)
        a_line[line + 1][5] = word;
    }
    #pragma unroll
    for (int line = 0; line < kRows; line++) {
      const long long row = first_row + turn * kRows + line;
      if (first < n_col && row < n_row) {
            __align__(16) float b_v[kVec];
        #pragma unroll
        for (int part = 0; part < kVec; part++) {
          const float a = a_line[line + 1][part + 1];
          const float east = a_line[line + 1][part + 2];
          const float north = a_line[line][part + 1];
          const float south = a_line[line + 2][part + 1];
          const float west = a_line[line + 1][part];
          float b;
          { b = fmaf(k, fmaf(-4.0f, a, north + south + west + east), a); }
          b_v[part] = b;
        }
        __stcs(&at<uint4>(b_out, 4 * n_col * row + 4 * col), at<uint4>(b_v, 0));
      }
    }
    // the lines that the next turn begins with
    #pragma unroll
    for (int line = 0; line < 2; line++) {
      #pragma unroll
      for (int part = 0; part < kVec; part++)
        a_line[line][part + 1] =
          a_line[line + 4][part + 1];
    }
  }
}
