// Four rows of bytes become columns: columns[x] has element x of all rows.
template <int kWords>
__device__ __forceinline__ void turn_bytes(const unsigned int (&rows)[4][kWords],
                                           unsigned int (&columns)[4 * kWords]) {
#pragma unroll
  for (int w = 0; w < kWords; w++) {
    const unsigned int low01 = __byte_perm(rows[0][w], rows[1][w], 0x5140);
    const unsigned int high01 = __byte_perm(rows[0][w], rows[1][w], 0x7362);
    const unsigned int low23 = __byte_perm(rows[2][w], rows[3][w], 0x5140);
    const unsigned int high23 = __byte_perm(rows[2][w], rows[3][w], 0x7362);
    columns[4 * w] = __byte_perm(low01, low23, 0x5410);
    columns[4 * w + 1] = __byte_perm(low01, low23, 0x7632);
    columns[4 * w + 2] = __byte_perm(high01, high23, 0x5410);
    columns[4 * w + 3] = __byte_perm(high01, high23, 0x7632);
  }
}

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

constexpr int kThreads = 256, kWarps = kThreads / 32;
// A tile: elements along col, which a runs along, by elements along row, which b runs along.
constexpr int kTileX = 128, kTileY = 128;
constexpr int kLoad = 16; // neighbours along col in a load
constexpr int kStore = 16; // neighbours along row in a store
constexpr int kPitch = 32; // from column to column
constexpr int kLinesALoad = 128; // lines between two loads of a thread
constexpr int kPack = 4; // elements in a word of 4 bytes

// Where the word with elements (x, y) to (x, y + kPack - 1) of a tile is kept: a column's elements
// are permuted by the column's number, so that lines meet different banks.
__device__ __forceinline__ int kept_at(int x, int y) {
  return x * kPitch + (y / kPack / 4 ^ x / 16 % 8) * 4 + y / kPack % 4;
}

// What is computed for one element.
__device__ __forceinline__ void compute(unsigned char a, unsigned char &b) {
  b = a;
}

// kGuarded: the tile crosses the edge of an array.
template <bool kGuarded>
__device__ __forceinline__ void move_tile(
    const unsigned char *__restrict__ a, unsigned char *__restrict__ b, long long n_row,
        long long n_col,
    long long first_col, long long first_row, unsigned int *a_tile) {
  // in: neighbours along col, all loads before the first use
  vec<unsigned char, kLoad> a_in[1][kPack];
  const int x = threadIdx.x % 8 * kLoad, thread_line = threadIdx.x / 8 * kPack;
  const unsigned char *const a_from = &a[first_row * n_col + n_col * thread_line + first_col + x];
#pragma unroll
  for (int k = 0; k < 1; k++) {
    const int line = thread_line + k * kLinesALoad;
#pragma unroll
    for (int r = 0; r < kPack; r++) {
      const long long col = first_col + x, row = first_row + line + r;
      a_in[k][r] = (!kGuarded || (col < n_col && row < n_row))
        ? load_evict_last<vec<unsigned char, kLoad>>(&a_from[(k * kLinesALoad + r) * n_col]) : vec<unsigned char, kLoad>();
    }
  }
#pragma unroll
  for (int k = 0; k < 1; k++) {
    const int line = thread_line + k * kLinesALoad;
    alignas(16) unsigned int columns[kLoad];
    turn_bytes(reinterpret_cast<const unsigned int (&)[kPack][kLoad / kPack]>(
        a_in[k]), columns);
    for (int e = 0; e < kLoad; e++)
      a_tile[kept_at(x + e, line)] = columns[e];
  }
  __syncthreads();

  // out: 8 lanes are neighbours along row, a warp has 4 columns: its reads of the tile meet all banks
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
  for (int k = 0; k < 4; k++) {
    const int x = (k * kWarps + warp) * 4 + lane / 8;
    const long long col = first_col + x;
    if (kGuarded && col >= n_col) continue;
    unsigned char *const b_to = &b[col * n_row + first_row];
    {
      const int y = lane % 8 * kStore;
      const long long row = first_row + y;
      if (kGuarded && row >= n_row)
        continue;
      const vec<unsigned char, kStore> a_v = *reinterpret_cast<const vec<unsigned char, kStore> *>(&a_tile[kept_at(x, y)]);
      vec<unsigned char, kStore> b_v;
#pragma unroll
      for (int e = 0; e < kStore; e++) {
        compute(a_v[e], b_v[e]);
      }
      store(&b_to[y], b_v);
    }
  }
}

// A block moves a tile of 128 x 128 elements (col x row) through shared memory: in along col, out
// along row.
__global__ void __launch_bounds__(256)
exchange(const unsigned char *__restrict__ a, unsigned char *__restrict__ b, long long n_row,
         long long n_col) {
  __shared__ __align__(16) unsigned int a_tile[4096]; // a tile of a
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
