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

// A vector that starts anywhere: of the aligned 16-byte words around it, kShift bytes into
// the first of them (-1: not known). The last word ends less than 16 bytes behind the vector.
template <class V, int kShift> __device__ __forceinline__ V load_around(const void *from) {
  constexpr int kParts = sizeof(V) / 4;
  const size_t address = reinterpret_cast<size_t>(from);
  const int shift = kShift >= 0 ? kShift : (int)(address & 15);
  const uint4 *const first = reinterpret_cast<const uint4 *>(address - shift);
  __align__(16) unsigned int part[kParts + 4] = {};
#pragma unroll
  for (int k = 0; k <= kParts / 4; k++)
    if (k < kParts / 4 || shift > 0)
      reinterpret_cast<uint4 *>(part)[k] = __ldg(first + k);
#pragma unroll
  for (int by = 8; by >= 4; by /= 2)
#pragma unroll
    for (int k = 0; k + by / 4 < kParts + 4; k++)
      part[k] = shift & by ? part[k + by / 4] : part[k];
  V value;
#pragma unroll
  for (int k = 0; k < kParts; k++)
    reinterpret_cast<unsigned int *>(&value)[k] =
        __funnelshift_r(part[k], part[k + 1], 8 * (shift & 3));
  return value;
}
