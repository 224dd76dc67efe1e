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

// Hides a value from the compiler, which then recomputes what depends on it instead of keeping it.
template <class T> __device__ __forceinline__ void forget(T &value) {
#pragma unroll
  for (int k = 0; k < sizeof(T) / 4; k++)
    asm volatile("" : "+r"(reinterpret_cast<unsigned int *>(&value)[k]));
}

// The elements of a vector in reverse order.
template <class T, int kCount>
__device__ __forceinline__ vec<T, kCount> reversed(const vec<T, kCount> &v) {
  vec<T, kCount> r;
#pragma unroll
  for (int k = 0; k < kCount; k++)
    r[k] = v[kCount - 1 - k];
  return r;
}

// Loads the first `count` elements of a vector; the others are outside the array and become zero.
template <class T, int kCount>
__device__ __forceinline__ vec<T, kCount> load_some(const T *from, long long count) {
  vec<T, kCount> v = {};
#pragma unroll
  for (int k = 0; k < kCount; k++)
    if (k < count)
      v[k] = from[k];
  return v;
}

// The elements of a vector from number `from` to below number `end`; the others are zero.
template <class T, int kCount>
__device__ __forceinline__ vec<T, kCount> load_between(const T *at, long long from, long long end) {
  vec<T, kCount> v = {};
#pragma unroll
  for (int k = 0; k < kCount; k++)
    if (k >= from && k < end)
      v[k] = at[k];
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

// The elements of a vector from number `from` to below number `end`.
template <class T, int kCount>
__device__ __forceinline__ void store_between(T *to, const vec<T, kCount> &v, long long from,
                                              long long end) {
#pragma unroll
  for (int k = 0; k < kCount; k++)
    if (k >= from && k < end)
      to[k] = v[k];
}

// Is one of the flags set?
template <int kCount> __device__ __forceinline__ bool any_of(const bool (&flags)[kCount]) {
  bool any = false;
#pragma unroll
  for (int k = 0; k < kCount; k++)
    any = any || flags[k];
  return any;
}

// Stores the elements of a vector that are not kept.
template <class T, int kCount>
__device__ __forceinline__ void store_unless(T *to, const vec<T, kCount> &v,
                                             const bool (&kept)[kCount]) {
#pragma unroll
  for (int k = 0; k < kCount; k++)
    if (!kept[k])
      to[k] = v[k];
}
