// templates/device/division.cuh: ceil_div
// templates/device/exchange.cuh: turn_bytes
// templates/device/vectors.cuh: vec_align, vec
// templates/device/words.cuh: word_of, word_bytes, evict_last_policy, load_word, load_evict_last, store

// Computes one element.
__device__ __forceinline__ void compute(unsigned char a, unsigned char &b) {
  b = a;
}

// A block moves a tile of 128 x 128 elements (col x row) through shared memory: in along col, out
// along row.
__global__ void __launch_bounds__(256)
exchange(const unsigned char *__restrict__ a, unsigned char *__restrict__ b, long long n_row,
         long long n_col) {
  constexpr int kThreads = 256, kWarps = kThreads / 32;
  // A tile: elements along col, which a runs along, by elements along row, which b runs along.
  constexpr int kTileX = 128, kTileY = 128;
  constexpr int kLoad = 16; // neighbours along col in a load
  constexpr int kStore = 16; // neighbours along row in a store
  constexpr int kLanes = 8; // that store a column
  constexpr int kColumns = 32 / kLanes; // of a warp
  constexpr int kPitch = 32; // from column to column
  constexpr int kPack = 4; // elements in a word of 4 bytes
  constexpr int kLoadsALine = kTileX / kLoad;
  constexpr int kLoads = 1; // of a thread
  constexpr int kLinesALoad = kThreads / kLoadsALine * kPack; // lines between two loads of a thread

  // Where the word with elements (x, y) to (x, y + kPack - 1) of a tile is kept: a column's elements
  // are permuted by the column's number, so that lines meet different banks.
  const auto kept_at =
      [](int x, int y) { return x * kPitch + (y / kPack / 4 ^ x / 16 % 8) * 4 + y / kPack % 4; };

  __shared__ __align__(16) unsigned int a_tile[kTileX * kPitch]; // a tile of a
  // blocks follow b
  unsigned int block = blockIdx.x;
  const unsigned int tiles_row = ceil_div<kTileY>(n_row);
  const long long first_row = (long long)(block % tiles_row) * kTileY;
  block /= tiles_row;
  const long long first_col = (long long)block * kTileX;

  // guarded: the tile crosses the edge of an array.
  const auto move_tile = [&](bool guarded) {
    // in: neighbours along col, all loads before the first use
    vec<unsigned char, kLoad> a_in[kLoads][kPack];
    const int x = threadIdx.x % kLoadsALine * kLoad,
        thread_line = threadIdx.x / kLoadsALine * kPack;
    const unsigned char *const a_from = &a[first_row * n_col + n_col * thread_line + first_col + x];
#pragma unroll
    for (int k = 0; k < kLoads; k++) {
      const int line = thread_line + k * kLinesALoad;
#pragma unroll
      for (int r = 0; r < kPack; r++) {
        const long long col = first_col + x, row = first_row + line + r;
        a_in[k][r] = (!guarded || (col < n_col && row < n_row))
          ? load_evict_last<vec<unsigned char, kLoad>>(&a_from[(k * kLinesALoad + r) * n_col])
          : vec<unsigned char, kLoad>();
      }
    }
#pragma unroll
    for (int k = 0; k < kLoads; k++) {
      const int line = thread_line + k * kLinesALoad;
      alignas(16) unsigned int columns[kLoad];
      turn_bytes(reinterpret_cast<const unsigned int (&)[kPack][kLoad / kPack]>(
          a_in[k]), columns);
      for (int e = 0; e < kLoad; e++)
        a_tile[kept_at(x + e, line)] = columns[e];
    }
    __syncthreads();

    // out: 8 lanes are neighbours along row
    // a warp has 4 columns: its reads of the tile meet all banks
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const auto store_column = [&](int x) {
      const long long col = first_col + x;
      if (guarded && col >= n_col) return;
      unsigned char *const b_to = &b[col * n_row + first_row];
        const int y = lane % kLanes * kStore;
        const long long row = first_row + y;
        if (guarded && row >= n_row)
          return;
        const vec<unsigned char, kStore> a_v =
            *reinterpret_cast<const vec<unsigned char, kStore> *>(&a_tile[kept_at(x, y)]);
        vec<unsigned char, kStore> b_v;
#pragma unroll
        for (int e = 0; e < kStore; e++) {
          compute(a_v[e], b_v[e]);
        }
        store(&b_to[y], b_v);
    };
#pragma unroll
    for (int k = 0; k < 4; k++)
      store_column((k * kWarps + warp) * kColumns + lane / kLanes);
  };

  if (first_col + kTileX <= n_col && first_row + kTileY <= n_row)
    move_tile(false);
  else
    move_tile(true);
}
