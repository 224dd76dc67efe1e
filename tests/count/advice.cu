// Kernels with a flaw, each followed by the mended one.
#include <cuda_fp16.h>
typedef unsigned char u8;
__device__ int at() { return blockIdx.x * blockDim.x + threadIdx.x; }
// four neighbours of a thread one by one; as a vector
__global__ void quads(const float *a, float *b) {
  for (int k = 0; k < 4; k++) b[4 * at() + k] = 2 * a[4 * at() + k];
}
__global__ void vectors(const float4 *a, float4 *b) {
  float4 v = a[at()];
  b[at()] = make_float4(2 * v.x, 2 * v.y, 2 * v.z, 2 * v.w);
}
// one field of records; an array of its own
struct record { float x, y, z, m, u, v, w, n; };
__global__ void field(const record *a, float *b) { b[at()] = a[at()].m; }
__global__ void copy(const float *a, float *b) { b[at()] = a[at()]; }
// pixels of three bytes
__global__ void pixels(const u8 *a, uchar4 *b) {
  const u8 *p = a + 3 * at();
  b[at()] = make_uchar4(p[0], p[1], p[2], 0);
}
__global__ void turn(const float *a, float *b, int n) {
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  b[x * n + y] = a[y * n + x];
}
__global__ void turn_tile(const float *a, float *b, int n) {
  __shared__ float t[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += 8) t[threadIdx.y + k][threadIdx.x] = a[(y + k) * n + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += 8) b[(y + k) * n + x] = t[threadIdx.x][threadIdx.y + k];
}
__global__ void looked(const int *at_, const float *a, float *b) { b[at()] = a[at_[at()]]; }
template <int PITCH> __global__ void columns(const float *a, float *b) {
  __shared__ float t[32][PITCH];
  float s = 0;
  t[threadIdx.y][threadIdx.x] = a[threadIdx.y * 32 + threadIdx.x + 1024 * blockIdx.x];
  __syncthreads();
  for (int k = 0; k < 32; k++) s += t[threadIdx.x][(threadIdx.y + k) & 31];
  b[threadIdx.y * 32 + threadIdx.x + 1024 * blockIdx.x] = s;
}
template <int PITCH> __global__ void vector_columns(const float4 *a, float4 *b) {
  __shared__ __align__(16) float t[32][PITCH];
  float4 s = a[at()];
  for (int k = 0; k < 8; k++) *(float4 *)&t[threadIdx.x][4 * k] = s;
  __syncwarp();
  for (int k = 0; k < 32; k++) {
    float4 v = *(float4 *)&t[threadIdx.x ^ 1][4 * (k & 7)];
    s.x += v.x, s.y += v.y, s.z += v.z, s.w += v.w;
  }
  b[at()] = s;
}
template <int COPIES> __global__ void bins(const u8 *key, const int *a, int *b) {
  __shared__ int s[2 * COPIES];
  if (threadIdx.x < 2 * COPIES) s[threadIdx.x] = 0;
  __syncthreads();
  int k = key[at()], v = a[at()];
  for (int j = 0; j < 16; j++) atomicAdd(&s[((k + j) & 1) * COPIES + threadIdx.x % COPIES], v);
  __syncthreads();
  if (threadIdx.x < 2 * COPIES) b[2 * COPIES * blockIdx.x + threadIdx.x] = s[threadIdx.x];
}
__global__ void by_lane(const int *a, int *b) {
  int i = at(), v = a[i];
  if (i % 2) for (int k = 0; k < 200; k++) v = v * v + k;
  else for (int k = 0; k < 200; k++) v = v * 3 ^ k;
  b[i] = v;
}
__global__ void by_warp(const int *a, int *b) {
  int i = at(), v = a[i];
  if (i / 32 % 2) for (int k = 0; k < 200; k++) v = v * v + k;
  else for (int k = 0; k < 200; k++) v = v * 3 ^ k;
  b[i] = v;
}
__global__ void remainders(float *b, int n) {
  int i = at();
  float v = 0;
  for (int k = 0; k < 6; k++) v += (i + 37 * k) % n;
  b[i] = v;
}
__global__ void masks(float *b, int n) {
  int i = at();
  float v = 0;
  for (int k = 0; k < 6; k++) v += (i + 37 * k) & n;
  b[i] = v;
}
__constant__ float table[256];
__global__ void of_constants(const u8 *key, float *b) {
  float v = 0;
  for (int k = 0; k < 8; k++) v += table[key[at()] ^ k];
  b[at()] = v;
}
__global__ void of_shared(const u8 *key, const float *l, float *b) {
  __shared__ float t[256];
  float v = 0;
  t[threadIdx.x] = l[threadIdx.x];
  __syncthreads();
  for (int k = 0; k < 8; k++) v += t[key[at()] ^ k];
  b[at()] = v;
}
__global__ void halves(const __half *a, __half *s) { atomicAdd(s + at() % 2, a[at()]); }
__global__ void floats(const __half *a, float *s) {
  atomicAdd(s + at() % 2, __half2float(a[at()]));
}
__global__ void sum(const float *a, float *s) { atomicAdd(s, a[at()]); }
__global__ void warp_sum(const float *a, float *s) {
  float v = a[at()];
  for (int k = 16; k > 0; k /= 2) v += __shfl_down_sync(~0u, v, k);
  if (threadIdx.x % 32 == 0) atomicAdd(s, v);
}
__global__ void doubles(const float *a, float *b) {
  float v = a[at()];
  for (int k = 0; k < 100; k++) v = v * 1.5 + 0.5;
  b[at()] = v;
}
__global__ void singles(const float *a, float *b) {
  float v = a[at()];
  for (int k = 0; k < 100; k++) v = v * 1.5f + 0.5f;
  b[at()] = v;
}
__global__ void loops(const float *a, float *b, int n) {
  for (int i = at(); i < n; i += gridDim.x * blockDim.x) b[i] = a[i] + 1;
}
__global__ void heavy(const float *a, float *b, int n) {
  int i = at();
  if (i >= n) return;
  float v = a[i], w = v + 1;
  for (int k = 0; k < 150; k++) v = v * w + 1, w = w * v + 2;
  b[i] = v + w;
}
__global__ void taps(const float *a, const float *c, float *b, int n) {
  for (int i = at(); i < n; i += gridDim.x * blockDim.x) {
    float s = 0;
    for (int k = 0; k < 32; k++) s = s * a[i] + c[i + 256 * k];
    b[i] = s;
  }
}
__global__ void bytes(const u8 *a, u8 *b) { b[at()] = a[at()] ^ 1; }
__global__ void byte_vectors(const uchar4 *a, uchar4 *b) {
  uchar4 v = a[at()];
  b[at()] = make_uchar4(v.x ^ 1, v.y ^ 1, v.z ^ 1, v.w ^ 1);
}
#define MANY(name, bounds)                                                 \
  __global__ void bounds name(const float *a, float *b) {                  \
    float v[64], s = 0;                                                    \
    _Pragma("unroll") for (int k = 0; k < 64; k++) v[k] = a[at() + 256 * k]; \
    __syncthreads();                                                       \
    _Pragma("unroll") for (int k = 0; k < 64; k++) s += v[k] * v[63 - k];  \
    b[at()] = s;                                                           \
  }
MANY(spilled, __launch_bounds__(256, 8))
MANY(held, __launch_bounds__(256, 1))
__global__ void own_table(const int *a, int *b) {
  int own[64];
  for (int k = 0; k < 64; k++) own[k] = k * a[at()];
  b[at()] = own[a[at()] & 63];
}
__global__ void waited(const float *a, float *b) {
  __shared__ float t[1024];
  t[threadIdx.x] = a[at()];
  __syncthreads();
  b[at()] = t[threadIdx.x ^ 1];
}
__global__ void loop_table(const int *a, int *b, int n) {
  int own[64], s = 0;
  for (int k = 0; k < 64; k++) own[k] = k * a[at()];
  for (int k = 0; k < n; k++) s += own[k * n & 63];
  b[at()] = s;
}
// rows of 12 words, which begin between sectors
__global__ void broken_rows(const float *a, float *b) { b[at()] = a[at() / 12 * 13 + at() % 12]; }
