struct vec3 {
  double x, y, z;
};
static_assert(sizeof(vec3) == 24 && alignof(vec3) == 8, "layout of vec3");

// One element of the index space, every access where its layout puts it.
__device__ __forceinline__ void element(const vec3 *__restrict__ a_in, vec3 *__restrict__ b_out,
    double k, long long n_i, long long i) {
  vec3 a;
  a.x = a_in[i].x;
  a.y = a_in[i].y;
  a.z = a_in[i].z;
  vec3 b;
  { b.x = a.x + k; b.y = a.y + k; b.z = a.z + k; }
  b_out[i].x = b.x;
  b_out[i].y = b.y;
  b_out[i].z = b.z;
}

// One thread an element of i; every access where its layout puts it.
__global__ void __launch_bounds__(256)
direct(const vec3 *__restrict__ a_in, vec3 *__restrict__ b_out, double k, long long n_i) {
  constexpr int kTile = 256; // one element a thread
  const long long block = blockIdx.x;
  const int thread = threadIdx.x;
  const long long first = block * (long long)kTile; // of i
  const long long i = first + thread;
  if (i < n_i) element(a_in, b_out, k, n_i, i);
}
