// The aligned words around a vector that starts anywhere, `shift` bytes into the first one: of 16
// bytes, or as long as the vector.
// followed: the last of them is the first one of the next lane, and comes from there.
template <class V> struct words_around {
  static constexpr int kWord = sizeof(V) < 16 ? sizeof(V) : 16, kLast = sizeof(V) / kWord;
  using word_type = typename word_of<kWord>::type;
  word_type word[kLast + 1];
  int shift;
  bool followed;
};

// The words that hold elements `begin` to `end` of a vector at `from`; element by element close to
// the array's end, as a word may end behind it. kShift: where it starts in a word (-1: not known).
// followed: the next lane's vector begins where this one ends. kLoad loads a word.
template <class V, int kShift, typename words_around<V>::word_type (*kLoad)(const void *), class T>
__device__ __forceinline__ words_around<V> load_around(const T *from, int begin, int end,
                                                       bool followed, const T *array_end) {
  constexpr int kWord = words_around<V>::kWord, kLast = words_around<V>::kLast;
  constexpr int kSize = sizeof(T), kFar = kShift == 0 ? 0 : kWord - (kShift > 0 ? kShift : kSize);
  const size_t address = reinterpret_cast<size_t>(from);
  const size_t limit = reinterpret_cast<size_t>(array_end) - sizeof(V) - kFar;
  const bool inside = address <= limit;
  words_around<V> around = {};
  around.shift = kShift >= 0 ? kShift : inside ? (int)(address & (kWord - 1)) : 0;
  around.followed = followed && address + sizeof(V) <= limit;
  if (inside) {
    const auto *const first =
        reinterpret_cast<const typename words_around<V>::word_type *>(address - around.shift);
#pragma unroll
    for (int k = 0; k <= kLast; k++) {
      const int at = kWord * k - around.shift; // in the vector
      if (at < end * kSize && at + kWord > begin * kSize && !(k == kLast && around.followed))
        around.word[k] = kLoad(first + k);
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
template <class Word> __device__ __forceinline__ Word next_lane(const Word &word) {
  Word next;
#pragma unroll
  for (int k = 0; k < sizeof(Word) / 4; k++)
    reinterpret_cast<unsigned int *>(&next)[k] =
        __shfl_down_sync(~0u, reinterpret_cast<const unsigned int *>(&word)[k], 1);
  return next;
}

// The vector that words lie around; `follower` is the next lane's first word.
template <class T, int kCount, class Word>
__device__ __forceinline__ vec<T, kCount> cut_out(const words_around<vec<T, kCount>> &around,
                                                  const Word &follower) {
  vec<T, kCount> value;
  constexpr int kParts = sizeof(value) / 4, kMore = sizeof(Word) / 4;
  unsigned int part[kParts + kMore];
#pragma unroll
  for (int k = 0; k < kParts + kMore; k++)
    part[k] = k >= kParts && around.followed
        ? reinterpret_cast<const unsigned int *>(&follower)[k - kParts]
        : reinterpret_cast<const unsigned int *>(around.word)[k];
#pragma unroll
  for (int by = sizeof(Word) / 2; by >= 4 && by >= sizeof(T); by /= 2)
#pragma unroll
    for (int k = 0; k + by / 4 < kParts + kMore; k++)
      part[k] = around.shift & by ? part[k + by / 4] : part[k];
#pragma unroll
  for (int k = 0; k < kParts; k++)
    reinterpret_cast<unsigned int *>(&value)[k] = sizeof(T) % 4 == 0
        ? part[k] : __funnelshift_r(part[k], part[k + 1], 8 * (around.shift & 3));
  return value;
}

// The vector that words lie around. shared: all lanes of the warp are here, and some are followed.
template <class T, int kCount>
__device__ __forceinline__ vec<T, kCount> vector_of(bool shared,
                                                    const words_around<vec<T, kCount>> &around) {
  return cut_out(around, shared ? next_lane(around.word[0]) : around.word[0]);
}

// The first `left` elements of one vector, then those of another.
template <class T, int kCount>
__device__ __forceinline__ vec<T, kCount> joined(bool shared, const words_around<vec<T, kCount>> &a,
                                                 const words_around<vec<T, kCount>> &b, int left) {
  const auto follower = shared ? next_lane(a.word[0]) : a.word[0];
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
