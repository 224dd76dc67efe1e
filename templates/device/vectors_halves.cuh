// Atomically adds to a half in global memory.
template <class T> __device__ __forceinline__ void add_f16(T *to, T v) {
  asm volatile("red.global.add.noftz.f16 [%0], %1;" ::"l"(__cvta_generic_to_global(to)), "h"(v.bits)
               : "memory");
}

// The same of a bf16. sm_90 has this.
template <class T> __device__ __forceinline__ void add_bf16(T *to, T v) {
  asm volatile("red.global.add.noftz.bf16 [%0], %1;" ::"l"(__cvta_generic_to_global(to)),
               "h"(v.bits)
               : "memory");
}

// The same before sm_90: the sum takes the place of what it was made from, if that is still there.
template <class T> __device__ __forceinline__ void add_bf16_by_swaps(T *to, T v) {
  unsigned short *const bits = reinterpret_cast<unsigned short *>(to);
  unsigned short seen, held = *const_cast<volatile unsigned short *>(bits);
  do {
    seen = held;
    T sum;
    sum.bits = seen;
    sum = T(static_cast<float>(sum) + static_cast<float>(v));
    held = atomicCAS(bits, seen, sum.bits);
  } while (held != seen);
}

// Adds neighbours to neighbours in global memory, aligned as the whole, each by itself. More than
// two need sm_90.
template <class T> __device__ __forceinline__ void add_vector_f16(T *to, const vec<T, 2> &v) {
  const unsigned int *const pairs = reinterpret_cast<const unsigned int *>(&v);
  asm volatile("red.global.add.noftz.f16x2 [%0], %1;" ::"l"(__cvta_generic_to_global(to)),
               "r"(pairs[0])
               : "memory");
}
template <class T> __device__ __forceinline__ void add_vector_f16(T *to, const vec<T, 4> &v) {
  const unsigned int *const pairs = reinterpret_cast<const unsigned int *>(&v);
  asm volatile("red.global.add.noftz.v2.f16x2 [%0], {%1, %2};" ::"l"(__cvta_generic_to_global(to)),
               "r"(pairs[0]), "r"(pairs[1])
               : "memory");
}
template <class T> __device__ __forceinline__ void add_vector_f16(T *to, const vec<T, 8> &v) {
  const unsigned int *const pairs = reinterpret_cast<const unsigned int *>(&v);
  asm volatile("red.global.add.noftz.v4.f16x2 [%0], {%1, %2, %3, %4};" ::"l"(
                   __cvta_generic_to_global(to)),
               "r"(pairs[0]), "r"(pairs[1]), "r"(pairs[2]), "r"(pairs[3])
               : "memory");
}

// The same of bf16. sm_90 has this.
template <class T> __device__ __forceinline__ void add_vector_bf16(T *to, const vec<T, 2> &v) {
  const unsigned int *const pairs = reinterpret_cast<const unsigned int *>(&v);
  asm volatile("red.global.add.noftz.bf16x2 [%0], %1;" ::"l"(__cvta_generic_to_global(to)),
               "r"(pairs[0])
               : "memory");
}
template <class T> __device__ __forceinline__ void add_vector_bf16(T *to, const vec<T, 4> &v) {
  const unsigned int *const pairs = reinterpret_cast<const unsigned int *>(&v);
  asm volatile("red.global.add.noftz.v2.bf16x2 [%0], {%1, %2};" ::"l"(__cvta_generic_to_global(to)),
               "r"(pairs[0]), "r"(pairs[1])
               : "memory");
}
template <class T> __device__ __forceinline__ void add_vector_bf16(T *to, const vec<T, 8> &v) {
  const unsigned int *const pairs = reinterpret_cast<const unsigned int *>(&v);
  asm volatile("red.global.add.noftz.v4.bf16x2 [%0], {%1, %2, %3, %4};" ::"l"(
                   __cvta_generic_to_global(to)),
               "r"(pairs[0]), "r"(pairs[1]), "r"(pairs[2]), "r"(pairs[3])
               : "memory");
}
