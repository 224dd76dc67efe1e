// The address of shared memory as instructions take it.
__device__ __forceinline__ unsigned int smem_address(const void *p) {
  return (unsigned int)__cvta_generic_to_shared(p);
}

// kBytes (4, 8 or 16) from global to shared memory, asynchronously (sm_80).
template <int kBytes> __device__ __forceinline__ void async_copy(void *to, const void *from) {
  if (kBytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
                 ::"r"(smem_address(to)), "l"(from) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;"
                 ::"r"(smem_address(to)), "l"(from), "n"(kBytes) : "memory");
}

// Closes a group of asynchronous copies.
__device__ __forceinline__ void async_commit() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}

// Waits until all but the last kGroups groups of this thread have arrived.
template <int kGroups> __device__ __forceinline__ void async_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kGroups) : "memory");
}

// The address of what lies `bytes` after `base`.
template <class T>
__device__ __forceinline__ const T *at_byte(const void *base, long long bytes) {
  return reinterpret_cast<const T *>(static_cast<const char *>(base) + bytes);
}
template <class T> __device__ __forceinline__ T *at_byte(void *base, long long bytes) {
  return reinterpret_cast<T *>(static_cast<char *>(base) + bytes);
}

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

// A T to shared memory, in words of kWord bytes.
template <int kWord, class T> __device__ __forceinline__ void put(void *to, const T &value) {
  using word = typename word_of<kWord>::type;
#pragma unroll
  for (int k = 0; k < sizeof(T) / kWord; k++)
    static_cast<word *>(to)[k] = reinterpret_cast<const word *>(&value)[k];
}

// The index that is read beyond the ends of an extent: that of the nearest element.
__device__ __forceinline__ long long clamp_index(long long i, long long n) {
  return min(max(i, 0LL), n - 1);
}

// Does an index lie inside an extent?
__device__ __forceinline__ bool is_inside(long long i, long long n) { return i >= 0 && i < n; }

// Bytes from the start of the word of 16 bytes that `p` lies in.
__device__ __forceinline__ int bytes_into_word(const void *p) {
  return (int)((unsigned int)(size_t)p % 16);
}

// The word of 16 bytes that `p` lies in, or one of those behind it.
__device__ __forceinline__ const char *word_at(const void *p, int word) {
  return static_cast<const char *>(p) - bytes_into_word(p) + 16 * word;
}

// Bytes from the start of the sector of 32 bytes that `p` lies in.
__device__ __forceinline__ int bytes_into_sector(const void *p) {
  return (int)((unsigned int)(size_t)p % 32);
}

// A line in shared memory, which began with the word that holds `first`, from that element on.
template <class T> __device__ __forceinline__ T *line_at(uint4 *line, const void *first) {
  return reinterpret_cast<T *>(reinterpret_cast<char *>(line) + bytes_into_word(first));
}

// A word of 16 bytes at `from` to shared memory; of it what lies in [begin, end), if kGuarded.
template <bool kGuarded>
__device__ __forceinline__ void copy_word(uint4 *to, const char *from, const void *begin,
                                          const void *end) {
  if (!kGuarded || (from >= begin && from + 16 <= end))
    async_copy<16>(to, from);
  else if (from >= begin)
    for (int k = 0; k < 16 && from + k < end; k++)
      reinterpret_cast<char *>(to)[k] = from[k];
}

constexpr int kThreads = 256; // of a block
constexpr int kLanes = 32; // threads beside each other along col
constexpr int kVec = 1; // elements of a thread beside each other
constexpr int kItems = 8; // such groups of a thread, kLanes * kVec elements apart
constexpr int kRows = 2; // lines of a thread along row
constexpr int kWords_a = 68; // words of 16 bytes for a line of a

// What is computed for one element.
__device__ __forceinline__ void compute(float a, float east, float north, float south, float west,
                                        float k, float &b) {
  b = fmaf(k, fmaf(-4.0f, a, north + south + west + east), a);
}

// kGuarded: some of the lines that are read or written may lie beyond a border.
template <bool kGuarded>
__device__ __forceinline__ void compute_tile(
    const float *__restrict__ a, float *__restrict__ b, float k_, long long n_row, long long n_col,
    long long first_col, long long first_row) {
  // where an element of line i of a lies; lines count from the first one read
  const auto a_at = [&](int i, long long col) -> const float * {
    long long row = first_row + i - 1;
    if (kGuarded) row = clamp_index(row, n_row);
    return &a[n_col * row + col];
  };
  // its value where it may lie beyond the line's ends
  const auto a_beyond = [&](int i, long long col) -> float {
    return load<float>(a_at(i, clamp_index(col, n_col)));
  };
  extern __shared__ uint4 shared[];
  // where lines with their halo start
  const float **const a_from =
      reinterpret_cast<const float **>(shared + 1224);
#pragma unroll 1
  for (int line = threadIdx.x; line < 18; line += kThreads)
    a_from[line] = a_at(line, first_col - 8);
  __syncthreads();

  // in: each line from the word that its first element lies in
  uint4 *const a_tile = shared + 0;
#pragma unroll
  for (int n = threadIdx.x; n < 18 * kWords_a; n += kThreads) {
    const int line = n / kWords_a;
    copy_word<kGuarded>(&a_tile[n], word_at(a_from[line], n % kWords_a),
                        a, at_byte<char>(a, 4 * n_col * n_row));
  }
  async_commit();
  async_wait<0>();
  __syncthreads();
  if (kGuarded) { // what lies beyond the lines' ends
    for (int n = threadIdx.x; n < 18 * 2; n += kThreads) {
      const int line = n / 2, k = n % 2;
      const long long col = (k < 1 ? 0 : n_col) + k - 1;
      const long long column = col - (first_col - 8);
      if (is_inside(column, 265)) {
        put<4>(
            line_at<float>(&a_tile[line * kWords_a], a_from[line]) + column,
            a_beyond(line, col));
      }
    }
    __syncthreads();
  }

  // out
  const int lane = threadIdx.x % kLanes;
  const int own = threadIdx.x / kLanes * kRows; // its first line
  // the thread's element of each line of a that its taps reach
  const float *a_line[4];
#pragma unroll
  for (int i = 0; i < 4; i++) {
      const int line = own + i;
      a_line[i] = line_at<float>(&a_tile[line * kWords_a], a_from[line])
          + 8 + lane * kVec;
    }
  const auto compute_line = [&](int i, int item) {
    const long long row = first_row + own + i;
    const int drift = bytes_into_sector(&b[n_col * row + first_col]) / 4;
    const int column = item * kLanes - drift;
    const long long col = first_col + lane + column;
    if (kGuarded && (row >= n_row || col < 0 || col >= n_col)) return;
    float b_v;
    compute(a_line[i + 1][column], a_line[i + 1][column + 1], a_line[i][column], a_line[i + 2][column], a_line[i + 1][column - 1], k_, b_v);
    store(&b[n_col * row + col], b_v);
  };
#pragma unroll
  for (int item = 0; item < kItems; item++)
#pragma unroll
  for (int i = 0; i < kRows; i++)
    compute_line(i, item);
}

// A block computes 256 x 16 elements from a tile with halo in shared memory.
__global__ void __launch_bounds__(256)
stencil(const float *__restrict__ a, float *__restrict__ b, float k_, long long n_row,
        long long n_col) {
  unsigned int rest = blockIdx.x;
  const unsigned int tiles_col = (unsigned int)(((n_col + 6) >> 8) + 1);
  const long long first_col = (long long)(rest % tiles_col) * 256;
  rest /= tiles_col;
  const long long first_row = (long long)rest * 16;
  if (n_col == 0) return; // nothing to do
  if (first_col + 265 <= n_col && first_col >= 8 && first_row + 17 <= n_row && first_row >= 1)
    compute_tile<false>(a, b, k_, n_row, n_col, first_col, first_row);
  else
    compute_tile<true>(a, b, k_, n_row, n_col, first_col, first_row);
}
