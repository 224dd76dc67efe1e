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

// A policy of L2: lines that are moved by it leave it last.
__device__ __forceinline__ unsigned long long evict_last_policy() {
  unsigned long long policy;
  asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}

// A word, by a policy of L2. Volatile: others are moved out of loops and of conditions.
__device__ __forceinline__ void load_word(unsigned char &w, size_t from,
                                          unsigned long long policy) {
  unsigned int wide;
  asm volatile("ld.global.nc.L2::cache_hint.u8 %0, [%1], %2;"
               : "=r"(wide) : "l"(from), "l"(policy));
  w = wide;
}
__device__ __forceinline__ void load_word(unsigned short &w, size_t from,
                                          unsigned long long policy) {
  asm volatile("ld.global.nc.L2::cache_hint.b16 %0, [%1], %2;" : "=h"(w) : "l"(from), "l"(policy));
}
__device__ __forceinline__ void load_word(unsigned int &w, size_t from, unsigned long long policy) {
  asm volatile("ld.global.nc.L2::cache_hint.b32 %0, [%1], %2;" : "=r"(w) : "l"(from), "l"(policy));
}
__device__ __forceinline__ void load_word(uint2 &w, size_t from, unsigned long long policy) {
  asm volatile("ld.global.nc.L2::cache_hint.v2.b32 {%0, %1}, [%2], %3;"
               : "=r"(w.x), "=r"(w.y) : "l"(from), "l"(policy));
}
__device__ __forceinline__ void load_word(uint4 &w, size_t from, unsigned long long policy) {
  asm volatile("ld.global.nc.L2::cache_hint.v4.b32 {%0, %1, %2, %3}, [%4], %5;"
               : "=r"(w.x), "=r"(w.y), "=r"(w.z), "=r"(w.w) : "l"(from), "l"(policy));
}

// A T in whole words, whose lines L2 gives up last.
template <class T, int kWord = word_bytes<T>()>
__device__ __forceinline__ T load_evict_last(const void *from) {
  using word = typename word_of<kWord>::type;
  T value;
#pragma unroll
  for (int k = 0; k < sizeof(T) / kWord; k++)
    load_word(reinterpret_cast<word *>(&value)[k],
              __cvta_generic_to_global(static_cast<const word *>(from) + k), evict_last_policy());
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

constexpr int kThreads = 512, kWarps = kThreads / 32;
// A tile: elements along col, which a runs along, by elements along row, which b runs along.
constexpr int kTileX = 64, kTileY = 64;
constexpr int kLoad = 4; // neighbours along col in a load
constexpr int kStore = 4; // neighbours along row in a store
constexpr int kPitch = 64; // from line to line
constexpr int kLinesALoad = 32; // lines between two loads of a thread

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
    const float *__restrict__ a, float *__restrict__ b, long long n_row, long long n_col,
    long long first_col, long long first_row, float *a_tile) {
  // in: neighbours along col, all loads before the first use
  vec<float, kLoad> a_in[2];
  const int x = threadIdx.x % 16 * kLoad, thread_line = threadIdx.x / 16;
  const float *const a_from = &a[first_row * n_col + n_col * thread_line + first_col + x];
#pragma unroll
  for (int k = 0; k < 2; k++) {
    const int line = thread_line + k * kLinesALoad;
    const long long col = first_col + x, row = first_row + line;
    a_in[k] = (!kGuarded || (col < n_col && row < n_row))
      ? load_evict_last<vec<float, kLoad>>(&a_from[(k * kLinesALoad) * n_col]) : vec<float, kLoad>();
  }
#pragma unroll
  for (int k = 0; k < 2; k++) {
    const int line = thread_line + k * kLinesALoad;
    *reinterpret_cast<vec<float, kLoad> *>(&a_tile[kept_at(x, line)]) = a_in[k];
  }
  __syncthreads();

  // out: 8 lanes are neighbours along row, a warp has 4 columns: its reads of the tile meet all banks
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  {
    const int x = warp * 4 + lane / 8;
    const long long col = first_col + x;
    if (kGuarded && col >= n_col) return;
    float *const b_to = &b[col * n_row + first_row];
#pragma unroll
    for (int part = 0; part < 2; part++) {
      const int y = (part * 8 + lane % 8) * kStore;
      const long long row = first_row + y;
      if (kGuarded && row >= n_row)
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

// A block moves a tile of 64 x 64 elements (col x row) through shared memory: in along col, out
// along row.
__global__ void __launch_bounds__(512)
exchange(const float *__restrict__ a, float *__restrict__ b, long long n_row, long long n_col) {
  __shared__ __align__(16) float a_tile[4096]; // a tile of a
  // blocks follow b
  unsigned int block = blockIdx.x;
  const unsigned int tiles_row = (unsigned int)((n_row + kTileY - 1) / kTileY);
  const long long first_row = (long long)(block % tiles_row) * kTileY;
  block /= tiles_row;
  const long long first_col = (long long)block * kTileX;
  if (first_col + kTileX <= n_col && first_row + kTileY <= n_row)
    move_tile<false>(a, b, n_row, n_col, first_col, first_row, a_tile);
  else
    move_tile<true>(a, b, n_row, n_col, first_col, first_row, a_tile);
}
