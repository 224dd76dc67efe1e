// The most bytes a second for a mix of reads and writes: R arrays read and W written in order, 16 bytes
// a thread and access, the best of several shapes, and of the driver's copy or memset where there is one. Then the same
// with what is read or what is written marked as the last that L2 gives up.
#include "peers.h"

#include <algorithm>
#include <string>

enum Kept { NOTHING, INPUTS, OUTPUTS };
static const char *const kept_names[] = {"", " keepin", " keepout"};

template <int K> static __device__ __forceinline__ uint4 load(const uint4 *p, unsigned long long policy) {
  if (K != INPUTS) return *p;
  uint4 v;
  asm volatile("ld.global.nc.L2::cache_hint.v4.u32 {%0, %1, %2, %3}, [%4], %5;"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p), "l"(policy));
  return v;
}

template <int K> static __device__ __forceinline__ void store(uint4 *p, uint4 v, unsigned long long policy) {
  if (K != OUTPUTS) {
    *p = v;
  } else {
    asm volatile("st.global.L2::cache_hint.v4.u32 [%0], {%1, %2, %3, %4}, %5;"
                 :: "l"(p), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w), "l"(policy) : "memory");
  }
}

template <int R, int W, int U, int K>
static __global__ void stream_kernel(const uint4 *__restrict__ in, uint4 *__restrict__ out, size_t n, size_t in_step,
                                     size_t out_step, uint4 *never) {
  unsigned long long policy = 0;
  if (K != NOTHING) asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  const size_t base = (size_t)blockIdx.x * blockDim.x * U + threadIdx.x;
  uint4 v[U][R > 0 ? R : 1];
#pragma unroll
  for (int u = 0; u < U; u++) {
    const size_t i = base + (size_t)u * blockDim.x;
#pragma unroll
    for (int r = 0; r < R; r++) v[u][r] = i < n ? load<K>(in + r * in_step + i, policy) : make_uint4(0, 0, 0, 0);
    if (R == 0) v[u][0] = make_uint4(1, 2, 3, 4);
  }
#pragma unroll
  for (int u = 0; u < U; u++) {
    const size_t i = base + (size_t)u * blockDim.x;
    uint4 s = v[u][0];
#pragma unroll
    for (int r = 1; r < R; r++) s.x ^= v[u][r].x, s.y ^= v[u][r].y, s.z ^= v[u][r].z, s.w ^= v[u][r].w;
#pragma unroll
    for (int w = 0; w < W; w++) {
      if (i < n) store<K>(out + w * out_step + i, s, policy);
    }
    // a mix without writes must still need what it reads
    if (W == 0 && s.x == 0x12345678u && s.y == 0x9abcdef0u && s.z == 0x0fedcba9u) never[0] = s;
  }
}

struct Best {
  Timing t;
  std::string name;
};

static void keep(Best *best, const Timing &t, const std::string &name) {
  if (t.median <= 0) return;  // launches that were refused
  if (best->name.empty() || t.median < best->t.median) *best = {t, name};
}

template <int R, int W, int U, int K = NOTHING>
static void try_shape(const Bench &b, Best best[2], size_t n, uint4 *never) {
  cudaFuncAttributes kernel;
  cudaFuncGetAttributes(&kernel, stream_kernel<R, W, U, K>);
  for (int threads : {256, 512, 1024}) {
    if (threads > kernel.maxThreadsPerBlock) continue;  // its registers do not fit
    const size_t tile = (size_t)threads * U;
    const Timing t = time_units([&](int turn) {
      stream_kernel<R, W, U, K><<<(unsigned)((n + tile - 1) / tile), threads, 0, stream()>>>(
          b.in<uint4>(turn), b.out<uint4>(turn), n, n, n, never);
    }, 1);
    keep(&best[K != NOTHING], t, "flat U" + std::to_string(U) + " t" + std::to_string(threads) + kept_names[K]);
  }
  // one word a thread was the best of these in all but 2 of 71 rows on an H200
  if constexpr (K == NOTHING && U == 1 && R > 0) try_shape<R, W, U, INPUTS>(b, best, n, never);
  if constexpr (K == NOTHING && U == 1 && W > 0) try_shape<R, W, U, OUTPUTS>(b, best, n, never);
}

template <int R, int W> static void mix(const Job &job, double bytes) {
  const size_t n = std::max<size_t>(1, (size_t)(bytes / 16 / (R + W)));
  Bench b(job, n * 16 * R + 16, n * 16 * W + 16, FILL_BITS);
  uint4 *never = (uint4 *)b.extra(16);
  Best best[2];  // plain, hinted
  try_shape<R, W, 1>(b, best, n, never);
  try_shape<R, W, 2>(b, best, n, never);
  if (R <= 3) try_shape<R, W, 4>(b, best, n, never);
  if (R == 1 && W == 0) try_shape<R, W, 8>(b, best, n, never);
  if (R == 1 && W == 1) {
    keep(best, time_units([&](int turn) {
      cudaMemcpyAsync(b.out<char>(turn), b.in<char>(turn), n * 16, cudaMemcpyDeviceToDevice, stream());
    }, 1), "memcpy");
  }
  if (R == 0) {
    keep(best, time_units([&](int turn) { cudaMemsetAsync(b.out<char>(turn), 1, n * 16, stream()); }, 1), "memset");
  }
  // of the bytes that were asked for, though the arrays have whole words only
  const double scale = bytes / ((double)n * 16 * (R + W));
  for (Best &of : best) {
    of.t.median *= scale, of.t.q1 *= scale, of.t.q3 *= scale;
    if (!of.name.empty()) report(job, &of == best ? "ceiling" : "hinted", of.t, of.name.c_str());
  }
}

static void ceiling(const Job &job) {
  const double bytes = job.real("bytes");
  const int key = (int)(job.number("read") * 100 + job.number("write"));
  switch (key) {
    case 101: return mix<1, 1>(job, bytes);
    case 100: return mix<1, 0>(job, bytes);
    case 1: return mix<0, 1>(job, bytes);
    case 201: return mix<2, 1>(job, bytes);
    case 301: return mix<3, 1>(job, bytes);
    case 401: return mix<4, 1>(job, bytes);
    case 801: return mix<8, 1>(job, bytes);
    case 102: return mix<1, 2>(job, bytes);
    case 104: return mix<1, 4>(job, bytes);
  }
  throw std::string("ceiling: this mix of reads and writes is not made: ") + job.text("read") + ":" + job.text("write");
}

const std::vector<JobKind> ceiling_jobs = {{"ceiling", ceiling}};
