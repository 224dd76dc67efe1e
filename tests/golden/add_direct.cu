struct vec3 {
  double x, y, z;
};
static_assert(sizeof(vec3) == 24 && alignof(vec3) == 8, "layout of vec3");

// Computes one element.
__device__ __forceinline__ void compute(const vec3 &a, double k, vec3 &b) {
  b.x = a.x + k; b.y = a.y + k; b.z = a.z + k;
}

// One thread an element of i.
__global__ void __launch_bounds__(256)
direct(const vec3 *__restrict__ a, vec3 *__restrict__ b, double k, long long n_i) {
  constexpr int kThreads = 256;
  const long long thread = blockIdx.x * (long long)kThreads + threadIdx.x;
  if (thread >= n_i) return;
  const long long i = thread;
  const vec3 a_v = a[i];
  vec3 b_v;
  compute(a_v, k, b_v);
  b[i] = b_v;
}
