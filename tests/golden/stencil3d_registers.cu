// The alignment of so many bytes of neighbouring T's: that of the word they fill, at most 16 or a
// T's. One value, as nvcc takes the last of several alignas and not the strictest.
template <class T> constexpr int vec_align(int bytes) {
  return (bytes & -bytes) < 16 ? bytes & -bytes : alignof(T) < 16 ? 16 : alignof(T);
}

// kCount neighbouring elements in registers.
template <class T, int kCount>
struct alignas(vec_align<T>((int)sizeof(T) * kCount)) vec {
  T element[kCount];
  __device__ __forceinline__ T &operator[](int k) { return element[k]; }
  __device__ __forceinline__ const T &operator[](int k) const { return element[k]; }
};

// The type of a word of kBytes, which one instruction loads or stores.
template <int kBytes> struct word_of;
template <> struct word_of<1> { using type = unsigned char; };
template <> struct word_of<2> { using type = unsigned short; };
template <> struct word_of<4> { using type = unsigned int; };
template <> struct word_of<8> { using type = uint2; };
template <> struct word_of<16> { using type = uint4; };

// The bytes of the words that a T is moved in: as its type's alignment promises.
template <class T> __host__ __device__ constexpr int word_bytes() {
  return alignof(T) < 16 ? alignof(T) : 16;
}

// A T in whole words. __ldg, as plain words may be split into loads of what is used of them.
template <class T, int kWord = word_bytes<T>()>
__device__ __forceinline__ T load(const void *from) {
  using word = typename word_of<kWord>::type;
  T value;
#pragma unroll
  for (int k = 0; k < sizeof(T) / kWord; k++)
    reinterpret_cast<word *>(&value)[k] = __ldg(static_cast<const word *>(from) + k);
  return value;
}

// A T in whole words. __stwb, as assignments of words may be split into stores of their parts.
template <int kWord = 0, class T>
__device__ __forceinline__ void store(void *to, const T &value) {
  constexpr int kBytes = kWord > 0 ? kWord : word_bytes<T>();
  using word = typename word_of<kBytes>::type;
#pragma unroll
  for (int k = 0; k < sizeof(T) / kBytes; k++)
    __stwb(static_cast<word *>(to) + k, reinterpret_cast<const word *>(&value)[k]);
}

// Does an index lie inside an extent?
__device__ __forceinline__ bool is_inside(long long i, long long n) { return i >= 0 && i < n; }

// What lies at `from`; nullptr is where everything is zero.
template <class T, int kWord = word_bytes<T>()>
__device__ __forceinline__ T load_or_zero(const void *from) {
  T value = {};
  if (from != nullptr)
    value = load<T, kWord>(from);
  return value;
}

// The word of a type, in which lanes exchange it.
template <class T> __host__ __device__ constexpr int exchange_bytes() {
  return alignof(T) < 4 ? alignof(T) : 4;
}

// The value that another lane of the warp has.
template <class T> __device__ __forceinline__ T from_lane(const T &value, int lane) {
  using word = typename word_of<exchange_bytes<T>()>::type;
  T other;
#pragma unroll
  for (int k = 0; k < sizeof(T) / sizeof(word); k++)
    reinterpret_cast<word *>(&other)[k] =
        (word)__shfl_sync(~0u, (unsigned int)reinterpret_cast<const word *>(&value)[k], lane);
  return other;
}

// Has this warp a lane so far away, with elements of a line before `n`? Lanes hold kVec each.
template <int kVec>
__device__ __forceinline__ bool has_lane(int away, long long first, long long n) {
  const int lane = (int)(threadIdx.x % 32) + away;
  return lane >= 0 && lane < 32 && first + away * kVec < n;
}

// Calls load(k) for the elements beside a thread's own, kLeft before and kRight behind, that no
// lane of this warp has; k counts from the thread's first.
template <int kLeft, int kVec, int kRight, class Load>
__device__ __forceinline__ void load_ends(long long first, long long n, const Load &load) {
#pragma unroll
  for (int away = -((kLeft + kVec - 1) / kVec); away <= (kRight + kVec - 1) / kVec; away++)
    if (away != 0 && !has_lane<kVec>(away, first, n))
#pragma unroll
      for (int k = away * kVec; k < away * kVec + kVec; k++)
        if (k >= -kLeft && k < kVec + kRight)
          load(k);
}

// ... and the others come from the lanes that have them.
template <int kLeft, int kVec, int kRight, class T>
__device__ __forceinline__ void exchange_ends(T (&line)[kLeft + kVec + kRight], long long first,
                                              long long n) {
#pragma unroll
  for (int away = -((kLeft + kVec - 1) / kVec); away <= (kRight + kVec - 1) / kVec; away++)
#pragma unroll
    for (int k = away * kVec; k < away * kVec + kVec; k++)
      if (away != 0 && k >= -kLeft && k < kVec + kRight) {
        const T other = from_lane(line[kLeft + k - away * kVec], threadIdx.x % 32 + away);
        if (has_lane<kVec>(away, first, n))
          line[kLeft + k] = other;
      }
}

constexpr int kLanes = 32; // threads beside each other along x
constexpr int kVec = 4; // elements of a thread beside each other
constexpr int kRows = 1; // lines of a thread along z
constexpr int kWide = 2; // lines of a thread along y
constexpr int kMarch = 4; // times that it does so, going on along z

// What is computed for one element.
__device__ __forceinline__ void compute(float a, float above, float below, float east,
                                        float north, float south, float west, float k, float &b) {
  b = fmaf(k, fmaf(-6.0f, a, above + below + north + south + west + east), a);
}

// kGuarded: some of the lines that are read or written may lie beyond a border.
template <bool kGuarded>
__device__ __forceinline__ void compute_tile(
    const float *__restrict__ a, float *__restrict__ b, float k_, long long n_z, long long n_y,
    long long n_x,
    long long first_x, long long first_y, long long first_z) {
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
      compute(a_line[i + 1][j + 1][e + 1], a_line[i][j + 1][e + 1], a_line[i + 2][j + 1][e + 1], a_line[i + 1][j + 1][e + 2], a_line[i + 1][j][e + 1], a_line[i + 1][j + 2][e + 1], a_line[i + 1][j + 1][e], k_, b_v[e]);
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
stencil(const float *__restrict__ a, float *__restrict__ b, float k_, long long n_z,
        long long n_y, long long n_x) {
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
