// Peers of gathers, gathers of rows, and scatters, through a random permutation: Thrust, CUB, and the
// kernels that a person writes first.
#include "peers.h"

#include <cub/device/device_memcpy.cuh>
#include <cub/device/device_transform.cuh>
#include <thrust/execution_policy.h>
#include <thrust/gather.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/scatter.h>

#include <cuda/std/tuple>

template <class T, int U> __global__ void gather_kernel(const T *__restrict__ table, const int *__restrict__ pick,
                                                        T *__restrict__ out, long long n) {
  const long long base = blockIdx.x * (long long)blockDim.x * U + threadIdx.x;
  int at[U];
  T v[U];
#pragma unroll
  for (int u = 0; u < U; u++) {
    if (base + u * blockDim.x < n) at[u] = pick[base + u * blockDim.x];
  }
#pragma unroll
  for (int u = 0; u < U; u++) {
    if (base + u * blockDim.x < n) v[u] = table[at[u]];
  }
#pragma unroll
  for (int u = 0; u < U; u++) {
    if (base + u * blockDim.x < n) out[base + u * blockDim.x] = v[u];
  }
}

template <class T> __global__ void scatter_kernel(const T *__restrict__ in, const int *__restrict__ pick,
                                                  T *__restrict__ out, long long n) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < n) out[pick[i]] = in[i];
}

template <class T> static void gather(const Job &job) {
  const long long n = job.number("n"), m = job.number("m");
  Bench b(job, m * sizeof(T), n * sizeof(T), sizeof(T) == 8 ? FILL_F64 : FILL_F32);
  int *pick = (int *)b.extra((n > m ? n : m) * 4);
  fill_permutation(pick, (int)m, 7);
  gather_kernel<T, 1><<<blocks_for(n, 256), 256, 0, stream()>>>(b.in<T>(0), pick, b.want<T>(), n);
  must(cudaGetLastError(), "reference");
  b.run("by hand, 1 a thread", [=, &b](int t) {
    gather_kernel<T, 1><<<blocks_for(n, 256), 256, 0, stream()>>>(b.in<T>(t), pick, b.out<T>(t), n);
  });
  b.run("by hand, 4 a thread", [=, &b](int t) {
    gather_kernel<T, 4><<<blocks_for(n, 1024), 256, 0, stream()>>>(b.in<T>(t), pick, b.out<T>(t), n);
  });
  b.run("thrust::gather", [=, &b](int t) {
    thrust::gather(thrust::cuda::par_nosync.on(stream()), pick, pick + n, b.in<T>(t), b.out<T>(t));
  });
}

template <class T> static void scatter(const Job &job) {
  const long long n = job.number("n");
  Bench b(job, n * sizeof(T), n * sizeof(T), FILL_F32);
  int *pick = (int *)b.extra(n * 4);
  fill_permutation(pick, (int)n, 7);
  scatter_kernel<T><<<blocks_for(n, 256), 256, 0, stream()>>>(b.in<T>(0), pick, b.want<T>(), n);
  must(cudaGetLastError(), "reference");
  b.run("by hand", [=, &b](int t) {
    scatter_kernel<T><<<blocks_for(n, 256), 256, 0, stream()>>>(b.in<T>(t), pick, b.out<T>(t), n);
  });
  b.run("thrust::scatter", [=, &b](int t) {
    thrust::scatter(thrust::cuda::par_nosync.on(stream()), b.in<T>(t), b.in<T>(t) + n, pick, b.out<T>(t));
  });
}

// ---- rows ----

// A warp a row, 16 bytes a lane.
__global__ void rows_kernel(const uint4 *__restrict__ table, const int *__restrict__ pick, uint4 *__restrict__ out,
                            long long rows, int words) {
  const long long row = blockIdx.x * (long long)(blockDim.x / 32) + threadIdx.x / 32;
  if (row >= rows) return;
  const uint4 *from = table + (long long)pick[row] * words;
  for (int k = threadIdx.x % 32; k < words; k += 32) out[row * words + k] = from[k];
}

struct RowFrom {
  const char *table;
  const int *pick;
  long long bytes;
  __host__ __device__ const void *operator()(long long row) const { return table + pick[row] * bytes; }
};
struct RowTo {
  char *out;
  long long bytes;
  __host__ __device__ void *operator()(long long row) const { return out + row * bytes; }
};
struct RowBytes {
  unsigned bytes;
  __host__ __device__ unsigned operator()(long long) const { return bytes; }
};

static void gather_rows(const Job &job) {
  const long long rows = job.number("rows"), m = job.number("m"), bytes = job.number("bytes");
  if (bytes % 16) throw std::string("rows of whole 16-byte words expected, not of ") + job.text("bytes");
  Bench b(job, m * bytes, rows * bytes, FILL_F32);
  int *pick = (int *)b.extra((rows > m ? rows : m) * 4);
  const int words = (int)(bytes / 16);
  fill_permutation(pick, (int)m, 7);
  rows_kernel<<<blocks_for(rows, 8), 256, 0, stream()>>>(b.in<uint4>(0), pick, b.want<uint4>(), rows, words);
  must(cudaGetLastError(), "reference");
  b.run("by hand, a warp a row", [=, &b](int t) {
    rows_kernel<<<blocks_for(rows, 8), 256, 0, stream()>>>(b.in<uint4>(t), pick, b.out<uint4>(t), rows, words);
  });
  const auto first = thrust::make_counting_iterator(0ll);
  const auto from = [=, &b](int t) { return thrust::make_transform_iterator(first, RowFrom{b.in<char>(t), pick, bytes}); };
  const auto to = [=, &b](int t) { return thrust::make_transform_iterator(first, RowTo{b.out<char>(t), bytes}); };
  const auto sizes = thrust::make_transform_iterator(first, RowBytes{(unsigned)bytes});
  size_t scratch_bytes = 0;
  must(cub::DeviceMemcpy::Batched(nullptr, scratch_bytes, from(0), to(0), sizes, (unsigned)rows, stream()), "scratch");
  void *scratch = b.extra(scratch_bytes);
  b.run("cub::DeviceMemcpy", [=, &b](int t) {
    size_t n = scratch_bytes;
    cub::DeviceMemcpy::Batched(scratch, n, from(t), to(t), sizes, (unsigned)rows, stream());
  }, 4);
}

static void gather_any(const Job &job) {
  switch (job.number("elem")) {
    case 4: return gather<float>(job);
    case 8: return gather<double>(job);
    case 16: return gather<wide16>(job);
    case 32: return gather<wide32>(job);
    case 64: return gather<wide64>(job);
  }
  throw std::string("elements of 4 to 64 bytes expected, not ") + job.text("elem");
}
static void scatter_any(const Job &job) {
  switch (job.number("elem")) {
    case 4: return scatter<float>(job);
    case 8: return scatter<double>(job);
    case 16: return scatter<wide16>(job);
  }
  throw std::string("elements of 4, 8 or 16 bytes expected, not ") + job.text("elem");
}

const std::vector<JobKind> index_jobs = {{"gather", gather_any}, {"scatter", scatter_any}, {"gather_rows", gather_rows}};
