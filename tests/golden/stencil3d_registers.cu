// templates/device/division.cuh: ceil_div
// templates/device/vectors.cuh: vec_align, vec
// templates/device/words.cuh: word_of, word_bytes, load, store
// templates/device/words_halo.cuh: is_inside, load_or_zero, exchange_bytes, from_lane, has_lane, load_ends, exchange_ends

// Computes one element.
__device__ __forceinline__ void compute(float a, float above, float below, float east, float north,
                                        float south, float west, float k, float &b) {
  b = fmaf(k, fmaf(-6.0f, a, above + below + north + south + west + east), a);
}

// A thread computes 4 neighbours of 8 lines from registers.
__global__ void __launch_bounds__(256, 3)
stencil(const float *__restrict__ a, float *__restrict__ b, float k_, long long n_z, long long n_y,
        long long n_x) {
  constexpr int kThreads = 256;
  constexpr int kLanes = 32; // threads beside each other along x
  constexpr int kVec = 4; // neighbours along x that a thread computes at once
  constexpr int kRows = 1; // lines of a thread along z
  constexpr int kWide = 2; // lines of a thread along y
  constexpr int kGroups = kThreads / kLanes; // threads beside each other along y
  constexpr int kMarch = 4; // steps of kRows lines of a thread, along z
  // elements of a block along each dimension
  constexpr int kTile_x = kLanes * kVec, kTile_y = kWide * kGroups, kTile_z = kRows * kMarch;
  // elements of a that taps reach before and after
  constexpr int kLeft_a = 1, kRight_a = 1;
  // lines of a that taps reach: for each j those with kFirst <= i < kStop;
  // the step before has loaded those before kNew
  static constexpr int kFirst_a[] = {1, 0, 0, 1}, kNew_a[] = {1, 2, 2, 1}, kStop_a[] = {2, 3, 3, 2};
  // of these, lines with taps next to the thread's own vector
  static constexpr int kNewBeside_a[] = {0, 1, 1, 0}, kStopBeside_a[] = {0, 2, 2, 0};

  // where the thread's elements begin
  unsigned int block = blockIdx.x;
  const unsigned int tiles_x = ceil_div<kTile_x>(n_x);
  const long long first_x = (long long)(block % tiles_x) * kTile_x + threadIdx.x % kLanes * kVec;
  block /= tiles_x;
  const unsigned int tiles_y = ceil_div<kTile_y>(n_y);
  const long long first_y = (long long)(block % tiles_y) * kTile_y + threadIdx.x / kLanes * kWide;
  block /= tiles_y;
  long long first_z = (long long)block * kTile_z;
  // the whole warp has nothing to do
  if (first_x - threadIdx.x % 32 * kVec >= n_x || first_z >= n_z || first_y >= n_y) return;

  // guarded: some of the lines that are read or written may lie beyond a border.
  const auto compute_tile = [&](bool guarded) {
    // where an element of line (i, j) of a lies; lines count from the first one read
    const auto a_at = [&](int i, int j, long long x) -> const float * {
      long long z = first_z + i - 1;
      if (guarded && !is_inside(z, n_z)) return nullptr;
      long long y = first_y + j - 1;
      if (guarded && !is_inside(y, n_y)) return nullptr;
      return &a[n_x * n_y * z + n_x * y + x];
    };
    // its value where it may lie beyond the line's ends
    const auto a_beyond = [&](int i, int j, long long x) -> float {
      if (!is_inside(x, n_x)) return {};
      return guarded ? load_or_zero<float>(a_at(i, j, x)) : load<float>(a_at(i, j, x));
    };
    // lanes beyond the end load what the last one does
    const long long last_x = min(first_x, n_x - kVec);
    // lines of a that taps reach, with what they reach before and after the thread's own
    float a_line[kRows + 2][kWide + 2][kLeft_a + kVec + kRight_a];
    const auto load_a = [&](int i, int j) {
      const vec<float, kVec> own = guarded ? load_or_zero<vec<float, kVec>, 16>(a_at(i, j, last_x))
          : load<vec<float, kVec>, 16>(a_at(i, j, last_x));
#pragma unroll
      for (int e = 0; e < kVec; e++)
        a_line[i][j][kLeft_a + e] = own[e];
    };
    const auto compute_line = [&](int i, int j) {
      const long long z = first_z + i;
      const long long y = first_y + j;
      const long long x = first_x;
      if (x >= n_x || (guarded && (z >= n_z || y >= n_y))) return;
      vec<float, kVec> b_v;
#pragma unroll
      for (int e = 0; e < kVec; e++) {
        const auto a_near = [&](int d_z, int d_y, int d_x) {
          return a_line[i + 1 + d_z][j + 1 + d_y][kLeft_a + e + d_x];
        };
        compute(a_near(0, 0, 0), a_near(-1, 0, 0), a_near(1, 0, 0), a_near(0, 0, 1),
                a_near(0, -1, 0), a_near(0, 1, 0), a_near(0, 0, -1), k_, b_v[e]);
      }
      store(&b[n_x * n_y * z + n_x * y + x], b_v);
    };
    // computes kRows lines; loads first what their taps reach and is not there yet
    const auto compute_rows = [&] {
#pragma unroll
      for (int j = 0; j < kWide + 2; j++)
#pragma unroll
        for (int i = 0; i < kRows + 2; i++)
          if (kNew_a[j] <= i && i < kStop_a[j])
            load_a(i, j);
      // elements beside the thread's own: from memory where no lane of the warp has them ...
      load_ends<kLeft_a, kVec, kRight_a>(last_x, n_x, [&](int k) {
#pragma unroll
        for (int j = 0; j < kWide + 2; j++)
#pragma unroll
          for (int i = 0; i < kRows + 2; i++)
            if (kNewBeside_a[j] <= i && i < kStopBeside_a[j])
              a_line[i][j][kLeft_a + k] = a_beyond(i, j, last_x + k);
      });
      // ... else from that lane
#pragma unroll
      for (int j = 0; j < kWide + 2; j++)
#pragma unroll
        for (int i = 0; i < kRows + 2; i++)
          if (kNewBeside_a[j] <= i && i < kStopBeside_a[j])
            exchange_ends<kLeft_a, kVec, kRight_a>(a_line[i][j], last_x, n_x);
#pragma unroll
      for (int i = 0; i < kRows; i++)
#pragma unroll
        for (int j = 0; j < kWide; j++)
          compute_line(i, j);
    };
    // lines that the first step shares with one before it
#pragma unroll
    for (int j = 0; j < kWide + 2; j++)
#pragma unroll
      for (int i = 0; i < kRows + 2; i++)
        if (kFirst_a[j] <= i && i < kNew_a[j])
          load_a(i, j);
#pragma unroll 1
    for (int step = 0; step < kMarch; step++) {
      compute_rows();
      first_z += kRows;
      if (guarded && first_z >= n_z) break;
      // the last lines of this step are the first of the next
#pragma unroll
      for (int j = 0; j < kWide + 2; j++)
#pragma unroll
        for (int i = 0; i < kRows + 2; i++)
          if (kFirst_a[j] <= i && i < kNew_a[j])
#pragma unroll
            for (int e = 0; e < kLeft_a + kVec + kRight_a; e++)
              a_line[i][j][e] = a_line[i + kRows][j][e];
    }
  };
  // does all that is computed, and that taps reach, lie inside?
  if (first_y + 3 <= n_y && first_y >= 1 && first_z + 5 <= n_z && first_z >= 1)
    compute_tile(false);
  else
    compute_tile(true);
}
