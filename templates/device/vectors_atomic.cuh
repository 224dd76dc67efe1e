// Adds neighbours to neighbours in global memory, aligned as the whole, each by itself: what others
// add at the same time is not lost. sm_90 has this.
__device__ __forceinline__ void add_vector(float *to, const vec<float, 2> &v) {
  asm volatile("red.global.add.v2.f32 [%0], {%1, %2};" ::"l"(__cvta_generic_to_global(to)),
               "f"(v[0]), "f"(v[1])
               : "memory");
}
__device__ __forceinline__ void add_vector(float *to, const vec<float, 4> &v) {
  asm volatile("red.global.add.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(
                   __cvta_generic_to_global(to)),
               "f"(v[0]), "f"(v[1]), "f"(v[2]), "f"(v[3])
               : "memory");
}
