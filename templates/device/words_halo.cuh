// The index that is read beyond the ends of an extent: that of the nearest element.
__device__ __forceinline__ long long clamp_index(long long i, long long n) {
  return min(max(i, 0LL), n - 1);
}

// The index that is read beyond the ends of an extent: it goes on at the other end.
__device__ __forceinline__ long long wrap_index(long long i, long long n) {
  i %= n;
  return i < 0 ? i + n : i;
}

// The index that is read beyond the ends of an extent: it goes back, the last element not twice.
__device__ __forceinline__ long long reflect_index(long long i, long long n) {
  const long long period = max(2 * (n - 1), 1LL);
  i = wrap_index(i, period);
  return min(i, period - i);
}

// A word of 16 bytes that holds one value again and again.
template <class T> __device__ __forceinline__ uint4 filled_word(const T &value) {
  uint4 word;
#pragma unroll
  for (int k = 0; k < 16 / (int)sizeof(T); k++)
    put<sizeof(T)>(reinterpret_cast<T *>(&word) + k, value);
  return word;
}

// Does an index lie inside an extent?
__device__ __forceinline__ bool is_inside(long long i, long long n) { return i >= 0 && i < n; }

// The same by one comparison, of an extent that is not negative.
__device__ __forceinline__ bool is_within(long long i, long long n) {
  return (unsigned long long)i < (unsigned long long)n;
}

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

// A word of 16 bytes at `from` to shared memory; of it what lies in [begin, end), if `guarded`.
__device__ __forceinline__ void copy_word(bool guarded, uint4 *to, const char *from,
                                          const void *begin, const void *end) {
  if (!guarded || (from >= begin && from + 16 <= end))
    async_copy<16>(to, from);
  else if (from >= begin)
    for (int k = 0; k < 16 && from + k < end; k++)
      reinterpret_cast<char *>(to)[k] = from[k];
}
