// templates/device/division.cuh: ceil_div
// templates/device/vectors.cuh: vec_align, vec
// templates/device/words.cuh: word_of, word_bytes, evict_last_policy, load_word, load_evict_last, store

// Computes one element.
__device__ __forceinline__ void compute(float a, float &b) {
  b = a;
}

// A block moves a tile of 64 x 64 elements (col x row) through shared memory: in along col, out
// along row.
__global__ void __launch_bounds__(512)
exchange(const float *__restrict__ a, float *__restrict__ b, long long n_row, long long n_col) {
  constexpr int kThreads = 512, kWarps = kThreads / 32;
  // A tile: elements along col, which a runs along, by elements along row, which b runs along.
  constexpr int kTileX = 64, kTileY = 64;
  constexpr int kLoad = 4; // neighbours along col in a load
  constexpr int kStore = 4; // neighbours along row in a store
  constexpr int kLanes = 8; // that store a column
  constexpr int kColumns = 32 / kLanes; // of a warp
  constexpr int kPitch = 64; // from line to line
  constexpr int kLoadsALine = kTileX / kLoad;
  constexpr int kLoads = 2; // of a thread
  constexpr int kLinesALoad = kThreads / kLoadsALine; // lines between two loads of a thread

  // Where element (x, y) of a tile is kept: a line's elements are permuted by the line's number, so
  // that columns meet different banks.
  const auto kept_at = [](int x, int y) { return y * kPitch + (x / 4 ^ y / 4 % 8) * 4 + x % 4; };

  __shared__ __align__(16) float a_tile[kTileY * kPitch]; // a tile of a
  // blocks follow b
  unsigned int block = blockIdx.x;
  const unsigned int tiles_row = ceil_div<kTileY>(n_row);
  const long long first_row = (long long)(block % tiles_row) * kTileY;
  block /= tiles_row;
  const long long first_col = (long long)block * kTileX;

  // guarded: the tile crosses the edge of an array.
  const auto move_tile = [&](bool guarded) {
    // in: neighbours along col, all loads before the first use
    vec<float, kLoad> a_in[kLoads];
    const int x = threadIdx.x % kLoadsALine * kLoad, thread_line = threadIdx.x / kLoadsALine;
    const float *const a_from = &a[first_row * n_col + n_col * thread_line + first_col + x];
#pragma unroll
    for (int k = 0; k < kLoads; k++) {
      const int line = thread_line + k * kLinesALoad;
      const long long col = first_col + x, row = first_row + line;
      a_in[k] = (!guarded || (col < n_col && row < n_row))
        ? load_evict_last<vec<float, kLoad>>(&a_from[(k * kLinesALoad) * n_col])
        : vec<float, kLoad>();
    }
#pragma unroll
    for (int k = 0; k < kLoads; k++) {
      const int line = thread_line + k * kLinesALoad;
      *reinterpret_cast<vec<float, kLoad> *>(&a_tile[kept_at(x, line)]) = a_in[k];
    }
    __syncthreads();

    // out: 8 lanes are neighbours along row
    // a warp has 4 columns: its reads of the tile meet all banks
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const auto store_column = [&](int x) {
      const long long col = first_col + x;
      if (guarded && col >= n_col) return;
      float *const b_to = &b[col * n_row + first_row];
#pragma unroll
      for (int part = 0; part < 2; part++) {
        const int y = (part * kLanes + lane % kLanes) * kStore;
        const long long row = first_row + y;
        if (guarded && row >= n_row)
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
    store_column(warp * kColumns + lane / kLanes);
  };

  if (first_col + kTileX <= n_col && first_row + kTileY <= n_row)
    move_tile(false);
  else
    move_tile(true);
}
