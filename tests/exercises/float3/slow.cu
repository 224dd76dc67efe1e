struct vec3 {
  float x, y, z;
};

// Shorter, and the same accesses.
__global__ void increment(const vec3 *in, vec3 *out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    const vec3 v = in[i];
    out[i] = {v.x + 1.0f, v.y + 1.0f, v.z + 1.0f};
  }
}
