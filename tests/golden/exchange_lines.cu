// templates/device/async.cuh: smem_address, async_copy_some, async_commit, async_wait
// templates/device/division.cuh: ceil_div
// templates/device/vectors.cuh: vec_align, vec
// templates/device/words.cuh: word_of, word_bytes, store

// f16: 2 bytes; arithmetic goes through float.
struct f16 {
  unsigned short bits;
  f16() = default;
  __device__ __forceinline__ f16(float x) {
    unsigned int pair; // with 0: a conversion to one half alone is slow
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(0.0f), "f"(x));
    bits = (unsigned short)pair;
  }
  __device__ __forceinline__ operator float() const {
    float x;
    asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
    return x;
  }
};

// Computes one element.
__device__ __forceinline__ void compute(f16 a, f16 &b) {
  b = a;
}

// A block moves a tile of 128 x 128 elements (col x row) through shared memory: in along col, out
// along row.
__global__ void __launch_bounds__(512)
exchange(const f16 *__restrict__ a, f16 *__restrict__ b, long long n_row, long long n_col) {
  constexpr int kThreads = 512, kWarps = kThreads / 32;
  // A tile: elements along col, which a runs along, by elements along row, which b runs along.
  constexpr int kTileX = 128, kTileY = 128;
  constexpr int kStore = 2; // neighbours along row in a store
  constexpr int kLanes = 32; // that store a column
  constexpr int kSector = 16; // elements in 32 bytes: stores of a column start at one
  constexpr int kAhead = kSector - 1; // so many elements earlier at most
  constexpr int kLines = kTileY + kAhead;
  constexpr int kWord = 8; // elements in the 16 bytes of a copy
  constexpr int kStart = 64; // ... in 128 bytes: copies of a line start at a multiple
  constexpr int kPitch = kTileX + kStart; // from line to line of a tile
  constexpr int kWords = kPitch / kWord; // copies of a line

  // Where a line is kept that starts at element `start` of its array: as far from 128 bytes, so
  // that copies are written as they arrive, and columns of odd lines meet different banks.
  const auto kept_at = [](int line, unsigned int start) {
    return line * kPitch + (int)(start % kStart);
  };

  extern __shared__ __align__(128) unsigned char shared[];
  // lines of a, in the order of memory
  f16 *const a_tile = reinterpret_cast<f16 *>(shared + 0);
  // blocks follow b
  unsigned int block = blockIdx.x;
  const unsigned int tiles_row = ceil_div<kTileY>(n_row + kAhead);
  const long long first_row = (long long)(block % tiles_row) * kTileY;
  block /= tiles_row;
  const long long first_col = (long long)block * kTileX;

  // guarded: the tile crosses the edge of an array.
  const auto move_tile = [&](bool guarded) {
    // in: words of 16 bytes, from the 128 bytes on that a line starts in, by copies that pass no
    // register
    const int width = guarded ? (int)min((long long)kTileX, n_col - first_col) : kTileX;
    // where line 0 of a starts, and how far apart lines are, modulo kStart
    const unsigned int a_first = first_row * n_col + first_col - kAhead * n_col;
    const unsigned int a_step = n_col;
#pragma unroll 4
    for (int k = 0; k < (kLines * kWords + kThreads - 1) / kThreads; k++) {
      const int copy = k * kThreads + threadIdx.x, line = copy / kWords;
      const long long row = first_row - kAhead + line;
      if (line >= kLines || (guarded && (row < 0 || row >= n_row))) continue;
      const long long start = n_col * row + first_col;
      const int word = copy % kWords * kWord;
      const long long from = (start & -kStart) + word;
      if (from < start + width)
        async_copy_some(&a_tile[line * kPitch + word], &a[from],
                        guarded ? (int)min(16ll, (n_col * n_row - from) * (int)sizeof(f16)) : 16);
    }
    async_commit();
    async_wait<0>();
    __syncthreads();

    // out: a warp's lanes are neighbours along row
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const auto store_column = [&](int x) {
      const long long col = first_col + x;
      if (guarded && col >= n_col) return;
      const long long column = col * n_row + first_row;
      const int shift = (int)column & (kSector - 1); // so many elements earlier a sector starts
      // from there on: where the column begins and ends in this tile
      const int begin = (int)max(shift - first_row, 0ll);
      const int end = (int)min(n_row - first_row + shift, (long long)kTileY);
      f16 *const b_to = &b[column - shift];
#pragma unroll
      for (int part = 0; part < 2; part++) {
        const int y = (part * kLanes + lane) * kStore;
        if (guarded && (y < begin || y + kStore > end)) { // one by one
          vec<f16, kStore> a_v;
          vec<f16, kStore> b_v;
#pragma unroll
          for (int e = 0; e < kStore; e++) {
            if (y + e < begin || y + e >= end) continue;
            const int line = y + kAhead - shift + e;
            a_v[e] = a_tile[kept_at(line, a_first + line * a_step) + x];
            compute(a_v[e], b_v[e]);
            store(&b_to[y + e], b_v[e]);
          }
          continue;
        }
        vec<f16, kStore> a_v;
        for (int e = 0; e < kStore; e++) {
          const int line = y + kAhead - shift + e;
          a_v[e] = a_tile[kept_at(line, a_first + line * a_step) + x];
        }
        vec<f16, kStore> b_v;
#pragma unroll
        for (int e = 0; e < kStore; e++) {
          compute(a_v[e], b_v[e]);
        }
        store(&b_to[y], b_v);
      }
    };
#pragma unroll 4
    for (int k = 0; k < 8; k++)
      store_column(k * kWarps + warp);
  };

  if (first_col + kTileX <= n_col && first_row + kTileY < n_row && first_row >= kAhead)
    move_tile(false);
  else
    move_tile(true);
}
