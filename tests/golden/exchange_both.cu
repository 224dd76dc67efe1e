// templates/device/division.cuh: ceil_div
// templates/device/exchange.cuh: turn_bytes_back
// templates/device/vectors.cuh: vec_align, vec
// templates/device/words.cuh: word_of, word_bytes, load, store

// bf16: 2 bytes; arithmetic goes through float.
struct bf16 {
  unsigned short bits;
  bf16() = default;
  __device__ __forceinline__ bf16(float x) {
    unsigned int pair; // with 0: a conversion to one half alone is slow
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(0.0f), "f"(x));
    bits = (unsigned short)pair;
  }
  template <class T> __device__ __forceinline__ bf16(T x) : bf16(static_cast<float>(x)) {}
  __device__ __forceinline__ operator float() const {
    float x;
    x = __uint_as_float((unsigned int)bits << 16);
    return x;
  }
};

// e4m3: 1 byte; arithmetic goes through float.
struct e4m3 {
  unsigned char bits;
  e4m3() = default;
  __device__ __forceinline__ e4m3(float x) {
    unsigned short pair; // with 0
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(0.0f), "f"(x));
    bits = (unsigned char)pair;
  }
  template <class T> __device__ __forceinline__ e4m3(T x) : e4m3(static_cast<float>(x)) {}
  __device__ __forceinline__ operator float() const {
    float x;
    unsigned int pair; // two f16
    asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(pair) : "h"((unsigned short)bits));
    asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"((unsigned short)pair));
    return x;
  }
};

// What is computed for one element.
__device__ __forceinline__ void compute(bf16 x, float scale, e4m3 &q, e4m3 &qt) {
  q = fminf(fmaxf(scale * x, -448.0f), 448.0f); qt = q;
}

// A block has a tile of 128 x 128 elements (row x col): what runs along row goes through shared
// memory, what runs along col as it is.
__global__ void __launch_bounds__(256)
exchange(const bf16 *__restrict__ x_, e4m3 *__restrict__ q, e4m3 *__restrict__ qt, float scale,
         long long n_row, long long n_col) {
  constexpr int kThreads = 256, kWarps = kThreads / 32;
  // A tile: elements along row, which qt runs along, by elements along col, which q runs along.
  constexpr int kTileX = 128, kTileY = 128;
  constexpr int kLoad = 16; // neighbours along row that move together
  constexpr int kStore = 8; // neighbours along col in a store
  constexpr int kLanes = 16; // that store a column
  constexpr int kColumns = 32 / kLanes; // of a warp
  constexpr int kPitch = 32; // from column to column
  constexpr int kPack = 4; // elements in a word of 4 bytes
  constexpr int kLoadsALine = kTileX / kLoad;
  constexpr int kLoads = 1; // of a thread
  constexpr int kLinesALoad = kThreads / kLoadsALine * kPack; // lines between two loads of a thread

  // Where the word with elements (x, y) to (x, y + kPack - 1) of a tile is kept: a column's elements
  // are permuted by the column's number, so that lines meet different banks.
  const auto kept_at =
      [](int x, int y) { return x * kPitch + (y / kPack / 2 ^ x / 16 % 16) * 2 + y / kPack % 2; };

  __shared__ __align__(16) unsigned int qt_tile[kTileX * kPitch]; // a tile of qt
  // blocks follow q
  unsigned int block = blockIdx.x;
  const unsigned int tiles_col = ceil_div<kTileY>(n_col);
  const long long first_col = (long long)(block % tiles_col) * kTileY;
  block /= tiles_col;
  const long long first_row = (long long)block * kTileX;

  // guarded: the tile crosses the edge of an array.
  const auto move_tile = [&](bool guarded) {
    // in: neighbours along col, as outputs are stored
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    vec<bf16, kStore> x_in[8];
    const auto load_column = [&](int k) {
      const int x = (k * kWarps + warp) * kColumns + lane / kLanes;
      const long long row = first_row + x;
      if (guarded && row >= n_row) return;
      const bf16 *const x_from = &x_[n_col * row + first_col];
        const int y = lane % kLanes * kStore;
        const long long col = first_col + y;
        if (guarded && col >= n_col)
          return;
        x_in[k] = load<vec<bf16, kStore>>(&x_from[y]);
    };
#pragma unroll
    for (int k = 0; k < 8; k++)
      load_column(k);

    // out: 16 lanes are neighbours along col
    // a warp has 2 columns: its reads of the tile meet all banks
    const auto store_column = [&](int k) {
      const int x = (k * kWarps + warp) * kColumns + lane / kLanes;
      const long long row = first_row + x;
      if (guarded && row >= n_row) return;
      e4m3 *const q_to = &q[n_col * row + first_col];
        const int y = lane % kLanes * kStore;
        const long long col = first_col + y;
        if (guarded && col >= n_col)
          return;
        vec<e4m3, kStore> q_v;
        vec<e4m3, kStore> qt_v;
#pragma unroll
        for (int e = 0; e < kStore; e++) {
          compute(x_in[k][e], scale, q_v[e], qt_v[e]);
        }
        store(&q_to[y], q_v);
        *reinterpret_cast<vec<e4m3, kStore> *>(&qt_tile[kept_at(x, y)]) = qt_v;
    };
#pragma unroll
    for (int k = 0; k < 8; k++)
      store_column(k);
    __syncthreads();

    // out: neighbours along row
    const int x = threadIdx.x % kLoadsALine * kLoad,
        thread_line = threadIdx.x / kLoadsALine * kPack;
    e4m3 *const qt_to = &qt[first_col * n_row + n_row * thread_line + first_row + x];
#pragma unroll
    for (int k = 0; k < kLoads; k++) {
      const int line = thread_line + k * kLinesALoad;
      alignas(16) unsigned int qt_columns[kLoad];
      for (int e = 0; e < kLoad; e++)
        qt_columns[e] = qt_tile[kept_at(x + e, line)];
      vec<e4m3, kLoad> qt_out[kPack];
      turn_bytes_back(qt_columns,
          reinterpret_cast<unsigned int (&)[kPack][kLoad / kPack]>(qt_out));
#pragma unroll
      for (int r = 0; r < kPack; r++) {
        const long long row = first_row + x, col = first_col + line + r;
        if (!(!guarded || (row < n_row && col < n_col))) break;
        store(&qt_to[(k * kLinesALoad + r) * n_row], qt_out[r]);
      }
    }
  };

  if (first_row + kTileX <= n_row && first_col + kTileY <= n_col)
    move_tile(false);
  else
    move_tile(true);
}
