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

// Threads own 4 neighbours of 1 x 2 lines and march along z, 16 turns; each line is loaded once and
// kept in registers.
__global__ void __launch_bounds__(128)
stencil(const float *__restrict__ a_in, float *__restrict__ b_out, float k, long long n_z,
        long long n_y, long long n_x) {
  constexpr int kVec = 4, kRows = 1, kWide = 2, kTurns = 16;
  constexpr int kTile = 128 * kVec; // elements of x of a block
  const long long block = blockIdx.x;
  const int thread = threadIdx.x, lane = thread % 32;
  const long long tiles = (n_x + kTile - 1) / kTile;
  const long long first = block % tiles * kTile + thread * kVec; // of x
  const long long tiles_y = (n_y + 1) / 2;
  const long long first_y = (block / tiles % tiles_y) * kWide;
  const long long first_z = (block / tiles / tiles_y) * (kRows * kTurns);
  if (first - lane * kVec >= n_x || first_z >= n_z || first_y >= n_y) return; // the whole warp
  // lanes beyond the end load what the last one does
  const long long x = min(first, n_x - kVec);
  float a_line[kRows + 2][kWide + 2][kVec + 2];
  // lines that the first turn finds loaded
  #pragma unroll
  for (int line = 0; line < 2; line++) {
    #pragma unroll
    for (int across = 0; across < 2; across++) {
      const long long line_z = min(first_z + line - 1, n_z);
      const long long line_y = min(first_y + across, n_y);
      __align__(16) float word[kVec] = {};
      if (line_z >= 0 && line_z < n_z && line_y < n_y)
        load_words<uint4, 1>(word,
          &at<uint4>(a_in, 4 * line_z * n_x * n_y + 4 * line_y * n_x + 4 * x));
      #pragma unroll
      for (int part = 0; part < kVec; part++)
        a_line[line][across + 1][part + 1] = word[part];
    }
  }
#pragma unroll 1
  for (int turn = 0; turn < kTurns; turn++) {
    if (first_z + turn * kRows >= n_z) break;
    if (first_z + turn * kRows >= 1 && first_z + turn * kRows + kRows + 1 <= n_z && first_y >= 1 && first_y + kWide + 1 <= n_y) {
      #pragma unroll
      for (int line = 0; line < kRows; line++) {
        const long long line_z = first_z + turn * kRows + line;
        const long long line_y = first_y - 1;
        __align__(16) float word[kVec];
        load_words<uint4, 1>(word,
            &at<uint4>(a_in, 4 * line_z * n_x * n_y + 4 * line_y * n_x + 4 * x));
        #pragma unroll
        for (int part = 0; part < kVec; part++)
          a_line[line + 1][0][part + 1] = word[part];
      }
      #pragma unroll
      for (int line = 0; line < kRows; line++) {
        #pragma unroll
        for (int across = 0; across < 2; across++) {
          const long long line_z = first_z + turn * kRows + line + 1;
          const long long line_y = first_y + across;
          __align__(16) float word[kVec];
          load_words<uint4, 1>(word,
              &at<uint4>(a_in, 4 * line_z * n_x * n_y + 4 * line_y * n_x + 4 * x));
          #pragma unroll
          for (int part = 0; part < kVec; part++)
            a_line[line + 2][across + 1][part + 1] = word[part];
        }
      }
      #pragma unroll
      for (int line = 0; line < kRows; line++) {
        const long long line_z = first_z + turn * kRows + line;
        const long long line_y = first_y + 2;
        __align__(16) float word[kVec];
        load_words<uint4, 1>(word,
            &at<uint4>(a_in, 4 * line_z * n_x * n_y + 4 * line_y * n_x + 4 * x));
        #pragma unroll
        for (int part = 0; part < kVec; part++)
          a_line[line + 1][3][part + 1] = word[part];
      }
      #pragma unroll
      for (int line = 0; line < kRows; line++) {
        #pragma unroll
        for (int across = 0; across < 2; across++) {
          const long long line_z = first_z + turn * kRows + line;
          const long long line_y = first_y + across;
          if (lane < 1)
            a_line[line + 1][across + 1][0] =
              x >= 1
              ? a_in[line_z * n_x * n_y + line_y * n_x + x - 1] : float();
        }
      }
      #pragma unroll
      for (int line = 0; line < kRows; line++) {
        #pragma unroll
        for (int across = 0; across < 2; across++) {
          const long long line_z = first_z + turn * kRows + line;
          const long long line_y = first_y + across;
          if (lane >= 31 || x + 4 >= n_x)
            a_line[line + 1][across + 1][5] =
              x + 4 < n_x
              ? a_in[line_z * n_x * n_y + line_y * n_x + x + 4] : float();
        }
      }
    } else { // some lines lie beyond a border
      #pragma unroll
      for (int line = 0; line < kRows; line++) {
        const long long line_z = min(first_z + turn * kRows + line, n_z - 1);
        const long long line_y = min(first_y - 1, n_y - 1);
        __align__(16) float word[kVec] = {};
        if (line_y >= 0)
          load_words<uint4, 1>(word,
            &at<uint4>(a_in, 4 * line_z * n_x * n_y + 4 * line_y * n_x + 4 * x));
        #pragma unroll
        for (int part = 0; part < kVec; part++)
          a_line[line + 1][0][part + 1] = word[part];
      }
      #pragma unroll
      for (int line = 0; line < kRows; line++) {
        #pragma unroll
        for (int across = 0; across < 2; across++) {
          const long long line_z = min(first_z + turn * kRows + line + 1, n_z);
          const long long line_y = min(first_y + across, n_y);
          __align__(16) float word[kVec] = {};
          if (line_z >= 0 && line_z < n_z && line_y < n_y)
            load_words<uint4, 1>(word,
              &at<uint4>(a_in, 4 * line_z * n_x * n_y + 4 * line_y * n_x + 4 * x));
          #pragma unroll
          for (int part = 0; part < kVec; part++)
            a_line[line + 2][across + 1][part + 1] = word[part];
        }
      }
      #pragma unroll
      for (int line = 0; line < kRows; line++) {
        const long long line_z = min(first_z + turn * kRows + line, n_z - 1);
        const long long line_y = min(first_y + 2, n_y);
        __align__(16) float word[kVec] = {};
        if (line_y < n_y)
          load_words<uint4, 1>(word,
            &at<uint4>(a_in, 4 * line_z * n_x * n_y + 4 * line_y * n_x + 4 * x));
        #pragma unroll
        for (int part = 0; part < kVec; part++)
          a_line[line + 1][3][part + 1] = word[part];
      }
      #pragma unroll
      for (int line = 0; line < kRows; line++) {
        #pragma unroll
        for (int across = 0; across < 2; across++) {
          const long long line_z = min(first_z + turn * kRows + line, n_z - 1);
          const long long line_y = min(first_y + across, n_y - 1);
          if (lane < 1)
            a_line[line + 1][across + 1][0] =
              x >= 1
              ? a_in[line_z * n_x * n_y + line_y * n_x + x - 1] : float();
        }
      }
      #pragma unroll
      for (int line = 0; line < kRows; line++) {
        #pragma unroll
        for (int across = 0; across < 2; across++) {
          const long long line_z = min(first_z + turn * kRows + line, n_z - 1);
          const long long line_y = min(first_y + across, n_y - 1);
          if (lane >= 31 || x + 4 >= n_x)
            a_line[line + 1][across + 1][5] =
              x + 4 < n_x
              ? a_in[line_z * n_x * n_y + line_y * n_x + x + 4] : float();
        }
      }
    }
    // values next to a thread's own, from the lanes that have them
    #pragma unroll
    for (int line = 0; line < kRows; line++) {
      #pragma unroll
      for (int across = 0; across < 2; across++) {
        const float word = __shfl_up_sync(0xffffffffu, a_line[line + 1][across + 1][4], 1);
        if (lane >= 1)
          a_line[line + 1][across + 1][0] = word;
      }
    }
    #pragma unroll
    for (int line = 0; line < kRows; line++) {
      #pragma unroll
      for (int across = 0; across < 2; across++) {
        const float word = __shfl_down_sync(0xffffffffu, a_line[line + 1][across + 1][1], 1);
        if (lane < 31 && x + 4 < n_x)
          a_line[line + 1][across + 1][5] = word;
      }
    }
    #pragma unroll
    for (int line = 0; line < kRows; line++) {
      const long long z = first_z + turn * kRows + line;
      if (first < n_x && z < n_z) {
            #pragma unroll
        for (int across = 0; across < kWide; across++) {
          const long long y = first_y + across;
          if (y < n_y) {
                __align__(16) float b_v[kVec];
            #pragma unroll
            for (int part = 0; part < kVec; part++) {
              const float a = a_line[line + 1][across + 1][part + 1];
              const float above = a_line[line][across + 1][part + 1];
              const float below = a_line[line + 2][across + 1][part + 1];
              const float east = a_line[line + 1][across + 1][part + 2];
              const float north = a_line[line + 1][across][part + 1];
              const float south = a_line[line + 1][across + 2][part + 1];
              const float west = a_line[line + 1][across + 1][part];
              float b;
              { b = fmaf(k, fmaf(-6.0f, a, above + below + north + south + west + east), a); }
              b_v[part] = b;
            }
            __stwb(&at<uint4>(b_out, 4 * n_x * n_y * z + 4 * n_x * y + 4 * x), at<uint4>(b_v, 0));
          }
        }
      }
    }
    // the lines that the next turn begins with
    #pragma unroll
    for (int line = 0; line < 2; line++) {
      #pragma unroll
      for (int across = 0; across < 2; across++) {
        #pragma unroll
        for (int part = 0; part < kVec; part++)
          a_line[line][across + 1][part + 1] =
            a_line[line + 1][across + 1][part + 1];
      }
    }
  }
}
