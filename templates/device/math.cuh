// Square root, accurate to about one unit in the last place.
__device__ __forceinline__ float sqrt_approx(float x) {
  float root;
  asm("sqrt.approx.f32 %0, %1;" : "=f"(root) : "f"(x));
  return root;
}
