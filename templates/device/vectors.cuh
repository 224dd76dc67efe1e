// The alignment of kBytes of neighbouring T's: that of the word they fill, 16 or as a T's at most.
// One value, as nvcc takes the last of several alignas and not the strictest.
template <class T, int kBytes>
constexpr int vec_align = (kBytes & -kBytes) < 16 ? kBytes & -kBytes
                          : alignof(T) < 16       ? 16
                                                  : alignof(T);

// kCount neighbouring elements in registers.
template <class T, int kCount>
struct alignas(vec_align<T, (int)sizeof(T) * kCount>) vec {
  T element[kCount];
  __device__ __forceinline__ T &operator[](int k) { return element[k]; }
  __device__ __forceinline__ const T &operator[](int k) const { return element[k]; }
};

// The elements of a vector, the last one first.
template <class T, int kCount>
__device__ __forceinline__ vec<T, kCount> reversed(const vec<T, kCount> &v) {
  vec<T, kCount> r;
#pragma unroll
  for (int k = 0; k < kCount; k++)
    r[k] = v[kCount - 1 - k];
  return r;
}

// The first `count` elements of a vector whose others lie outside the array: those are zero.
template <class T, int kCount>
__device__ __forceinline__ vec<T, kCount> load_some(const T *from, long long count) {
  vec<T, kCount> v = {};
#pragma unroll
  for (int k = 0; k < kCount; k++)
    if (k < count)
      v[k] = from[k];
  return v;
}

// The first `count` elements of a vector whose others lie outside the array.
template <class T, int kCount>
__device__ __forceinline__ void store_some(T *to, const vec<T, kCount> &v, long long count) {
#pragma unroll
  for (int k = 0; k < kCount; k++)
    if (k < count)
      to[k] = v[k];
}

// The aligned 16-byte words around a vector that starts anywhere, `shift` bytes into the first one.
// followed: the last of them is the first one of the next lane, and comes from there.
template <class V> struct words_around {
  uint4 word[sizeof(V) / 16 + 1];
  int shift;
  bool followed;
};

// The words that hold elements `begin` to `end` of a vector at `from`; element by element close to
// the array's end, as a word may end behind it. kShift: where it starts in a word (-1: not known).
// followed: the next lane's vector begins where this one ends.
template <class V, int kShift, class T>
__device__ __forceinline__ words_around<V> load_around(const T *from, int begin, int end,
                                                       bool followed, const T *array_end) {
  constexpr int kSize = sizeof(T), kFar = kShift == 0 ? 0 : 16 - (kShift > 0 ? kShift : kSize);
  constexpr int kLast = sizeof(V) / 16;
  const size_t address = reinterpret_cast<size_t>(from);
  const size_t limit = reinterpret_cast<size_t>(array_end) - sizeof(V) - kFar;
  const bool inside = address <= limit;
  words_around<V> around = {};
  around.shift = kShift >= 0 ? kShift : inside ? (int)(address & 15) : 0;
  around.followed = followed && address + sizeof(V) <= limit;
  if (inside) {
    const uint4 *const first = reinterpret_cast<const uint4 *>(address - around.shift);
#pragma unroll
    for (int k = 0; k <= kLast; k++) {
      const int at = 16 * k - around.shift; // in the vector
      if (at < end * kSize && at + 16 > begin * kSize && !(k == kLast && around.followed))
        around.word[k] = __ldg(first + k);
    }
  } else {
#pragma unroll
    for (int e = 0; e < sizeof(V) / kSize; e++)
      if (e >= begin && e < end)
        reinterpret_cast<T *>(around.word)[max(kShift, 0) / kSize + e] = from[e];
  }
  return around;
}

// The word that the next lane of the warp has.
__device__ __forceinline__ uint4 next_lane(const uint4 &word) {
  return {__shfl_down_sync(~0u, word.x, 1), __shfl_down_sync(~0u, word.y, 1),
          __shfl_down_sync(~0u, word.z, 1), __shfl_down_sync(~0u, word.w, 1)};
}

// The vector that words lie around; `follower` is the next lane's first word.
template <class T, int kCount>
__device__ __forceinline__ vec<T, kCount> cut_out(const words_around<vec<T, kCount>> &around,
                                                  const uint4 &follower) {
  vec<T, kCount> value;
  constexpr int kParts = sizeof(value) / 4, kSmallest = sizeof(T) < 4 ? 4 : sizeof(T);
  unsigned int part[kParts + 4];
#pragma unroll
  for (int k = 0; k < kParts + 4; k++)
    part[k] = k >= kParts && around.followed
        ? reinterpret_cast<const unsigned int *>(&follower)[k - kParts]
        : reinterpret_cast<const unsigned int *>(around.word)[k];
#pragma unroll
  for (int by = 8; by >= kSmallest; by /= 2)
#pragma unroll
    for (int k = 0; k + by / 4 < kParts + 4; k++)
      part[k] = around.shift & by ? part[k + by / 4] : part[k];
#pragma unroll
  for (int k = 0; k < kParts; k++)
    reinterpret_cast<unsigned int *>(&value)[k] = sizeof(T) % 4 == 0
        ? part[k] : __funnelshift_r(part[k], part[k + 1], 8 * (around.shift & 3));
  return value;
}

// The vector that words lie around. kShared: all lanes of the warp are here, and some are followed.
template <bool kShared, class T, int kCount>
__device__ __forceinline__ vec<T, kCount> vector_of(const words_around<vec<T, kCount>> &around) {
  return cut_out(around, kShared ? next_lane(around.word[0]) : uint4());
}

// The first `left` elements of one vector, then those of another.
template <bool kShared, class T, int kCount>
__device__ __forceinline__ vec<T, kCount> joined(const words_around<vec<T, kCount>> &a,
                                                 const words_around<vec<T, kCount>> &b, int left) {
  const uint4 follower = kShared ? next_lane(a.word[0]) : uint4();
  vec<T, kCount> v = cut_out(a, follower);
  if (left < kCount) {
    const vec<T, kCount> next = cut_out(b, follower);
#pragma unroll
    for (int k = 0; k < sizeof(v) / 4; k++) {
      const int bits = min(max(8 * ((int)sizeof(T) * left - 4 * k), 0), 32); // of `a` in this part
      const unsigned int of_next = __funnelshift_lc(0, ~0u, bits);
      unsigned int &part = reinterpret_cast<unsigned int *>(&v)[k];
      part = part & ~of_next | reinterpret_cast<const unsigned int *>(&next)[k] & of_next;
    }
  }
  return v;
}
