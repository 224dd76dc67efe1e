// templates/device/vectors.cuh: vec_align, vec
// templates/device/words.cuh: word_of, word_bytes, load, store
// templates/device/words_halo.cuh: is_inside, load_or_zero, exchange_bytes, from_lane, has_lane, load_ends, exchange_ends

constexpr int kLanes = 32; // threads beside each other along x
constexpr int kVec = 4; // elements of a thread beside each other
constexpr int kRows = 1; // lines of a thread along z
constexpr int kWide = 2; // lines of a thread along y
constexpr int kMarch = 4; // times that it does so, going on along z

// What is computed for one element.
__device__ __forceinline__ void compute(float a, float above, float below, float east, float north,
                                        float south, float west, float k, float &b) {
  b = fmaf(k, fmaf(-6.0f, a, above + below + north + south + west + east), a);
}

// kGuarded: some of the lines that are read or written may lie beyond a border.
template <bool kGuarded>
__device__ __forceinline__ void compute_tile(
    const float *__restrict__ a, float *__restrict__ b, float k_, long long n_z, long long n_y,
    long long n_x, long long first_x, long long first_y, long long first_z) {
  // where an element of line (i, j) of a lies; lines count from the first one read
  const auto a_at = [&](int i, int j, long long x) -> const float * {
    long long z = first_z + i - 1;
    if (kGuarded && !is_inside(z, n_z)) return nullptr;
    long long y = first_y + j - 1;
    if (kGuarded && !is_inside(y, n_y)) return nullptr;
    return &a[n_x * n_y * z + n_x * y + x];
  };
  // its value where it may lie beyond the line's ends
  const auto a_beyond = [&](int i, int j, long long x) -> float {
    if (!is_inside(x, n_x)) return {};
    return kGuarded ? load_or_zero<float>(a_at(i, j, x)) : load<float>(a_at(i, j, x));
  };
  // lanes beyond the end load what the last one does
  const long long last_x = min(first_x, n_x - kVec);
  // lines of a: 1 before and 1 behind the thread's own elements
  float a_line[3][4][1 + kVec + 1];
  const auto load_a = [&](int i, int j) {
    const vec<float, kVec> own = kGuarded ? load_or_zero<vec<float, kVec>, 16>(a_at(i, j, last_x))
        : load<vec<float, kVec>, 16>(a_at(i, j, last_x));
#pragma unroll
    for (int e = 0; e < kVec; e++)
      a_line[i][j][1 + e] = own[e];
  };
  const auto compute_line = [&](int i, int j) {
    const long long z = first_z + i;
    const long long y = first_y + j;
    const long long x = first_x;
    if (x >= n_x || (kGuarded && (z >= n_z || y >= n_y))) return;
    vec<float, kVec> b_v;
#pragma unroll
    for (int e = 0; e < kVec; e++) {
      compute(a_line[i + 1][j + 1][e + 1], a_line[i][j + 1][e + 1], a_line[i + 2][j + 1][e + 1],
              a_line[i + 1][j + 1][e + 2], a_line[i + 1][j][e + 1], a_line[i + 1][j + 2][e + 1],
              a_line[i + 1][j + 1][e], k_, b_v[e]);
    }
    store(&b[n_x * n_y * z + n_x * y + x], b_v);
  };
  // loads what the taps of kRows lines reach and is not there yet, computes these lines
  const auto compute_rows = [&]() {
#pragma unroll
    for (int j = 0; j < 4; j++)
#pragma unroll
    for (int i = (j < 1 ? 1 : j < 3 ? 2 : 1); i < (j < 1 ? 2 : j < 3 ? 3 : 2); i++)
      load_a(i, j);
    // values beside a thread's own: from memory where this warp does not have them ...
    load_ends<1, kVec, 1>(last_x, n_x, [&](int k) {
#pragma unroll
      for (int j = 0; j < 4; j++)
#pragma unroll
      for (int i = (j < 1 ? 0 : j < 3 ? 1 : 0); i < (j < 1 ? 0 : j < 3 ? 2 : 0); i++)
        a_line[i][j][1 + k] = a_beyond(i, j, last_x + k);
    });
    // ... else from its lanes
#pragma unroll
    for (int j = 0; j < 4; j++)
#pragma unroll
    for (int i = (j < 1 ? 0 : j < 3 ? 1 : 0); i < (j < 1 ? 0 : j < 3 ? 2 : 0); i++)
      exchange_ends<1, kVec, 1>(a_line[i][j], last_x, n_x);
#pragma unroll
    for (int i = 0; i < kRows; i++)
#pragma unroll
    for (int j = 0; j < kWide; j++)
      compute_line(i, j);
  };
  // lines of a before those of the first step
#pragma unroll
  for (int j = 0; j < 4; j++)
#pragma unroll
  for (int i = (j < 1 ? 1 : j < 3 ? 0 : 1); i < (j < 1 ? 1 : j < 3 ? 2 : 1); i++)
    load_a(i, j);
#pragma unroll 1
  for (int step = 0; step < kMarch; step++) {
    compute_rows();
    first_z += kRows;
    if (kGuarded && first_z >= n_z) break;
    // the last lines of this step are the first of the next
#pragma unroll
    for (int j = 0; j < 4; j++)
#pragma unroll
    for (int i = (j < 1 ? 1 : j < 3 ? 0 : 1); i < (j < 1 ? 1 : j < 3 ? 2 : 1); i++)
#pragma unroll
      for (int e = 0; e < kVec + 2; e++)
        a_line[i][j][e] = a_line[i + kRows][j][e];
  }
}

// A thread computes 4 neighbours of 8 lines from registers.
__global__ void __launch_bounds__(256, 3)
stencil(const float *__restrict__ a, float *__restrict__ b, float k_, long long n_z, long long n_y,
        long long n_x) {
  unsigned int rest = blockIdx.x;
  const unsigned int tiles_x = (unsigned int)((n_x + 127) >> 7);
  const long long first_x = (long long)(rest % tiles_x) * 128 + threadIdx.x % kLanes * kVec;
  rest /= tiles_x;
  const unsigned int tiles_y = (unsigned int)((n_y + 15) >> 4);
  const long long first_y = (long long)(rest % tiles_y) * 16 + threadIdx.x / kLanes * 2;
  rest /= tiles_y;
  const long long first_z = (long long)rest * 4;
  if (first_x - threadIdx.x % 32 * kVec >= n_x || first_z >= n_z || first_y >= n_y) return; // the whole warp
  if (first_y + 3 <= n_y && first_y >= 1 && first_z + 5 <= n_z && first_z >= 1)
    compute_tile<false>(a, b, k_, n_z, n_y, n_x, first_x, first_y, first_z);
  else
    compute_tile<true>(a, b, k_, n_z, n_y, n_x, first_x, first_y, first_z);
}
