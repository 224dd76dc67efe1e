// templates/device/division.cuh: ceil_div
// templates/device/vectors.cuh: vec_align, vec
// templates/device/words.cuh: word_of, word_bytes, evict_last_policy, load_word, load_evict_last, store

// Computes one element.
__device__ __forceinline__ void compute(float a, float &b) {
  b = a;
}

// A block moves a tile of 64 x 64 elements (m, n x j, l) through shared memory: in along m, n, out
// along j, l.
__global__ void __launch_bounds__(256)
exchange(const float *__restrict__ a, float *__restrict__ b, long long n_i, long long n_j,
         long long n_k, long long n_l, long long n_m, long long n_n) {
  constexpr int kThreads = 256, kWarps = kThreads / 32;
  // A tile: elements along m, n, which a runs along, by elements along j, l, which b runs along.
  constexpr int kTileX = 64, kTileY = 64;
  constexpr int kLoad = 4; // neighbours along m, n in a load
  constexpr int kStore = 4; // neighbours along j, l in a store
  constexpr int kLanes = 8; // that store a column
  constexpr int kColumns = 32 / kLanes; // of a warp
  constexpr int kLines = kTileY;
  constexpr int kPitch = 64; // from line to line
  constexpr int kLoadsALine = kTileX / kLoad;
  constexpr int kLoads = 4; // of a thread
  constexpr int kLinesALoad = kThreads / kLoadsALine; // lines between two loads of a thread

  // Where element (x, y) of a tile is kept: a line's elements are permuted by the line's number, so
  // that columns meet different banks.
  const auto kept_at = [](int x, int y) { return y * kPitch + (x / 4 ^ y / 4 % 8) * 4 + x % 4; };

  __shared__ __align__(16) float a_tile[kTileY * kPitch]; // a tile of a
  __shared__ __align__(16) long long a_line[kLines]; // offsets in a of the tile's lines
  __shared__ __align__(16) long long b_column[kTileX]; // offsets in b of the tile's columns
  // blocks go along j, l, then along m, n
  const long long n_m_n = n_m * n_n;
  const long long n_j_l = n_j * n_l;
  unsigned int block = blockIdx.x;
  const unsigned int tiles_j_l = ceil_div<kTileY>(n_j_l);
  const long long first_j_l = (long long)(block % tiles_j_l) * kTileY;
  block /= tiles_j_l;
  const unsigned int tiles_m_n = ceil_div<kTileX>(n_m_n);
  const long long first_m_n = (long long)(block % tiles_m_n) * kTileX;
  block /= tiles_m_n;
  const long long i = block % (unsigned int)n_i;
  block /= (unsigned int)n_i;
  const long long k_ = block;
  // elements between neighbours along a mode
  const long long a_stride_l = n_m * n_n;
  const long long b_stride_m = n_j * n_l;
  const long long a_stride_k = n_l * n_m * n_n;
  const long long b_stride_i = n_j * n_l * n_m;
  const long long a_stride_j = n_k * n_l * n_m * n_n;
  const long long b_stride_n = n_i * n_j * n_l * n_m;
  const long long a_stride_i = n_j * n_k * n_l * n_m * n_n;
  const long long b_stride_k = n_i * n_j * n_l * n_m * n_n;

  // guarded: the tile crosses the edge of an array.
  const auto move_tile = [&](bool guarded) {
    // offsets of the tile's lines and columns, whose places are found by division
    for (int line = threadIdx.x; line < kLines; line += kThreads) {
      if (guarded && first_j_l + line >= n_j_l) continue;
      unsigned int rest = (unsigned int)(first_j_l + line);
      const unsigned int l = rest % (unsigned int)n_l;
      rest /= (unsigned int)n_l;
      const unsigned int j = rest;
      a_line[line] = k_ * a_stride_k + i * a_stride_i + l * a_stride_l + j * a_stride_j + first_m_n;
    }
    for (int x = threadIdx.x; x < kTileX; x += kThreads) {
      if (guarded && first_m_n + x >= n_m_n) continue;
      unsigned int rest = (unsigned int)(first_m_n + x);
      const unsigned int n = rest % (unsigned int)n_n;
      rest /= (unsigned int)n_n;
      const unsigned int m = rest;
      b_column[x] = k_ * b_stride_k + i * b_stride_i + n * b_stride_n + m * b_stride_m + first_j_l;
    }
    __syncthreads();
    // in: neighbours along m, n, all loads before the first use
    vec<float, kLoad> a_in[kLoads];
    const int x = threadIdx.x % kLoadsALine * kLoad, thread_line = threadIdx.x / kLoadsALine;
#pragma unroll
    for (int k = 0; k < kLoads; k++) {
      const int line = thread_line + k * kLinesALoad;
      const long long m_n = first_m_n + x, j_l = first_j_l + line;
      a_in[k] = (!guarded || (m_n < n_m_n && j_l < n_j_l))
        ? load_evict_last<vec<float, kLoad>>(&a[a_line[line] + x]) : vec<float, kLoad>();
    }
#pragma unroll
    for (int k = 0; k < kLoads; k++) {
      const int line = thread_line + k * kLinesALoad;
      *reinterpret_cast<vec<float, kLoad> *>(&a_tile[kept_at(x, line)]) = a_in[k];
    }
    __syncthreads();

    // out: 8 lanes are neighbours along j, l
    // a warp has 4 columns: its reads of the tile meet all banks
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const auto store_column = [&](int x) {
      const long long m_n = first_m_n + x;
      if (guarded && m_n >= n_m_n) return;
      float *const b_to = &b[b_column[x]];
#pragma unroll
      for (int part = 0; part < 2; part++) {
        const int y = (part * kLanes + lane % kLanes) * kStore;
        const long long j_l = first_j_l + y;
        if (guarded && j_l >= n_j_l)
          break;
        vec<float, kStore> a_v;
        for (int e = 0; e < kStore; e++)
          a_v[e] = a_tile[kept_at(x, y + e)];
        vec<float, kStore> b_v;
#pragma unroll
        for (int e = 0; e < kStore; e++) {
          compute(a_v[e], b_v[e]);
        }
        store(&b_to[y], b_v);
      }
    };
#pragma unroll
    for (int k = 0; k < 2; k++)
      store_column((k * kWarps + warp) * kColumns + lane / kLanes);
  };

  if (first_m_n + kTileX <= n_m_n && first_j_l + kTileY <= n_j_l)
    move_tile(false);
  else
    move_tile(true);
}
