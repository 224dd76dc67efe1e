// templates/device/vectors.cuh: vec_align, vec
// templates/device/words.cuh: word_of, word_bytes, evict_last_policy, load_word, load_evict_last, store

constexpr int kThreads = 256, kWarps = kThreads / 32;
// A tile: elements along m, n, which a runs along, by elements along j, l, which b runs along.
constexpr int kTileX = 64, kTileY = 64;
constexpr int kLoad = 4; // neighbours along m, n in a load
constexpr int kStore = 4; // neighbours along j, l in a store
constexpr int kLines = kTileY;
constexpr int kPitch = 64; // from line to line
constexpr int kLinesALoad = 16; // lines between two loads of a thread

// Where element (x, y) of a tile is kept: a line's elements are permuted by the line's number, so
// that columns meet different banks.
__device__ __forceinline__ int kept_at(int x, int y) {
  return y * kPitch + (x / 4 ^ y / 4 % 8) * 4 + x % 4;
}

// What is computed for one element.
__device__ __forceinline__ void compute(float a, float &b) {
  b = a;
}

// kGuarded: the tile crosses the edge of an array.
template <bool kGuarded>
__device__ __forceinline__ void move_tile(
    const float *__restrict__ a, float *__restrict__ b, long long n_i, long long n_j, long long n_k,
    long long n_l, long long n_m, long long n_n, long long first_m_n, long long first_j_l,
    long long k_, long long i, float *a_tile, long long *a_line, long long *b_column) {
  const long long n_m_n = n_m * n_n;
  const long long n_j_l = n_j * n_l;
  // offsets of the tile's lines and columns, whose places are found by division
  for (int line = threadIdx.x; line < kLines; line += kThreads) {
    if (kGuarded && (first_j_l + line >= n_j_l)) continue;
    unsigned int rest = (unsigned int)(first_j_l + line);
    const unsigned int l = rest % (unsigned int)n_l;
    rest /= (unsigned int)n_l;
    const unsigned int j = rest;
    a_line[line] = i * n_j * n_k * n_l * n_m * n_n + j * n_k * n_l * n_m * n_n
        + k_ * n_l * n_m * n_n + l * n_m * n_n + first_m_n;
  }
  for (int x = threadIdx.x; x < kTileX; x += kThreads) {
    if (kGuarded && (first_m_n + x >= n_m_n)) continue;
    unsigned int rest = (unsigned int)(first_m_n + x);
    const unsigned int n = rest % (unsigned int)n_n;
    rest /= (unsigned int)n_n;
    const unsigned int m = rest;
    b_column[x] = k_ * n_i * n_j * n_l * n_m * n_n + n * n_i * n_j * n_l * n_m + i * n_j * n_l * n_m
        + m * n_j * n_l + first_j_l;
  }
  __syncthreads();
  // in: neighbours along m, n, all loads before the first use
  vec<float, kLoad> a_in[4];
  const int x = threadIdx.x % 16 * kLoad, thread_line = threadIdx.x / 16;
#pragma unroll
  for (int k = 0; k < 4; k++) {
    const int line = thread_line + k * kLinesALoad;
    const long long m_n = first_m_n + x, j_l = first_j_l + line;
    a_in[k] = (!kGuarded || (m_n < n_m_n && j_l < n_j_l))
      ? load_evict_last<vec<float, kLoad>>(&a[a_line[line] + x]) : vec<float, kLoad>();
  }
#pragma unroll
  for (int k = 0; k < 4; k++) {
    const int line = thread_line + k * kLinesALoad;
    *reinterpret_cast<vec<float, kLoad> *>(&a_tile[kept_at(x, line)]) = a_in[k];
  }
  __syncthreads();

  // out: 8 lanes are neighbours along j, l, a warp has 4 columns: its reads of the tile meet all banks
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
  for (int k = 0; k < 2; k++) {
    const int x = (k * kWarps + warp) * 4 + lane / 8;
    const long long m_n = first_m_n + x;
    if (kGuarded && m_n >= n_m_n) continue;
    float *const b_to = &b[b_column[x]];
#pragma unroll
    for (int part = 0; part < 2; part++) {
      const int y = (part * 8 + lane % 8) * kStore;
      const long long j_l = first_j_l + y;
      if (kGuarded && j_l >= n_j_l)
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
  }
}

// A block moves a tile of 64 x 64 elements (m, n x j, l) through shared memory: in along m, n, out
// along j, l.
__global__ void __launch_bounds__(256)
exchange(const float *__restrict__ a, float *__restrict__ b, long long n_i, long long n_j,
         long long n_k, long long n_l, long long n_m, long long n_n) {
  __shared__ __align__(16) float a_tile[4096]; // a tile of a
  __shared__ __align__(16) long long a_line[kLines]; // offsets in a of the tile's lines
  __shared__ __align__(16) long long b_column[kTileX]; // offsets in b of the tile's columns
  // blocks go along j, l, then along m, n
  const long long n_m_n = n_m * n_n;
  const long long n_j_l = n_j * n_l;
  unsigned int block = blockIdx.x;
  const unsigned int tiles_j_l = (unsigned int)((n_j_l + kTileY - 1) / kTileY);
  const long long first_j_l = (long long)(block % tiles_j_l) * kTileY;
  block /= tiles_j_l;
  const unsigned int tiles_m_n = (unsigned int)((n_m_n + kTileX - 1) / kTileX);
  const long long first_m_n = (long long)(block % tiles_m_n) * kTileX;
  block /= tiles_m_n;
  const long long i = block % (unsigned int)n_i;
  block /= (unsigned int)n_i;
  const long long k_ = block;
  if (first_m_n + kTileX <= n_m_n && first_j_l + kTileY <= n_j_l)
    move_tile<false>(a, b, n_i, n_j, n_k, n_l, n_m, n_n, first_m_n, first_j_l, k_, i, a_tile,
                     a_line, b_column);
  else
    move_tile<true>(a, b, n_i, n_j, n_k, n_l, n_m, n_n, first_m_n, first_j_l, k_, i, a_tile, a_line,
                    b_column);
}
