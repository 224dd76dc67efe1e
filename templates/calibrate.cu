// Micro-kernels of `sectile devices --calibrate`: each keeps one part of a GPU busy. `in` holds
// zeros, which the compiler does not know: what is loaded is added to an address or to a sum, so
// that later instructions wait for it. kRounds comes from measure_calibrate.c.

using uint32 = unsigned int;

__device__ __forceinline__ uint32 load_l2(const uint32 *p) {
  uint32 value;
  asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(value) : "l"(p));
  return value;
}

__device__ __forceinline__ uint32 load_l2(const uint4 *p) {
  uint4 v;
  asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p));
  return v.x | v.y | v.z | v.w;
}

__device__ __forceinline__ uint32 load_l1(const uint4 *p) {
  uint4 v;
  asm volatile("ld.global.ca.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p));
  return v.x | v.y | v.z | v.w;
}

__device__ __forceinline__ void add(uint32 *p) {
  asm volatile("red.global.add.u32 [%0], 1;" : : "l"(p) : "memory");
}

__device__ __forceinline__ long long thread_of() {
  return blockIdx.x * (long long)blockDim.x + threadIdx.x;
}

__device__ __forceinline__ long long threads_of() {
  return gridDim.x * (long long)blockDim.x;
}

// n lines of 128 bytes (a power of two), each once, in an order that no prefetcher knows.
__global__ void chase(const uint32 *in, uint32 *out, long long n) {
  uint32 line = 0;
  for (long long k = 0; k < n; k++) {
    line = (line + 2533 + load_l2(in + line * 32)) & (uint32)(n - 1);
  }
  if (line != 0) out[0] = line;
}

__global__ void chase_shared(const uint32 *in, uint32 *out, long long n) {
  __shared__ uint32 table[1024];
  for (int k = threadIdx.x; k < 1024; k += blockDim.x) table[k] = in[k];
  __syncthreads();
  uint32 at = threadIdx.x;
  for (long long k = 0; k < n; k++) at = (at + 33 + table[at]) & 1023;
  if (at > 1023) out[0] = at;
}

// n sums, each of which waits for the last one.
__global__ void sums(const uint32 *in, uint32 *out, long long n) {
  const float step = __uint_as_float(in[0]);
  float sum = step;
#pragma unroll 64
  for (int k = 0; k < (int)n; k++) sum += step;
  if (sum != 0.0f) out[0] = 1;
}

__global__ void powers(const uint32 *in, uint32 *out, long long n) {
  float x = __uint_as_float(in[0]);
#pragma unroll 64
  for (int k = 0; k < (int)n; k++) asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(x));
  if (x == 0.0f) out[0] = 1;
}

// All of n words of 16 bytes, kRounds times.
__global__ void read_l2(const uint4 *in, uint32 *out, long long n) {
  uint32 seen = 0;
  for (int round = 0; round < kRounds; round++) {
#pragma unroll 8
    for (long long k = thread_of(); k < n; k += threads_of()) seen |= load_l2(in + k);
  }
  if (seen != 0) out[0] = seen;
}

// Each block: the same 16 KiB n times.
__global__ void read_l1(const uint4 *in, uint32 *out, long long n) {
  uint32 seen = 0;
#pragma unroll 4
  for (int round = 0; round < (int)n; round++) { // others each time, or they would be loaded once
    const int at = threadIdx.x + 32 * round;
    seen |= load_l1(in + (at & 1023)) | load_l1(in + ((at + 512) & 1023));
  }
  if (seen != 0) out[0] = seen;
}

// A word of each of n lines.
__global__ void store_words(const uint32 *in, uint32 *out, long long n) {
  for (int round = 0; round < kRounds; round++) {
    out[((thread_of() + round * threads_of()) & (n - 1)) * 32] = 0;
  }
}

__global__ void nothing(const uint32 *in, uint32 *out, long long n) {}

// A word of each of n sectors.
__global__ void add_sectors(const uint32 *in, uint32 *out, long long n) {
  for (int round = 0; round < kRounds; round++) {
    add(out + ((thread_of() + round * threads_of()) & (n - 1)) * 8);
  }
}

// All lanes in one word, as the compiler cannot know: it would add up those of a warp.
__global__ void add_lanes(const uint32 *in, uint32 *out, long long n) {
  const uint32 at = in[threadIdx.x];
  for (int round = 0; round < kRounds; round++) add(out + at);
}
