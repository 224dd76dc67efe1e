// Peers of gathers, gathers of rows, and scatters, through a random permutation, and of histograms and
// scatter-adds: Thrust, CUB, and the kernels that a person writes first.
#include "peers.h"

#include <cub/device/device_histogram.cuh>
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

// ---- histograms, scatter-adds ----

// Keys below `most`: uniform, or all the same.
__global__ void keys_kernel(int *keys, long long n, unsigned most, bool constant) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  unsigned x = (unsigned)i;
  x = (x ^ (x >> 16)) * 0x7feb352du;
  x = (x ^ (x >> 15)) * 0x846ca68bu;
  x ^= x >> 16;
  if (i < n) keys[i] = constant ? (int)(most / 2) : (int)(x % most);
}

static int *make_keys(Bench &b, const Job &job, long long n, long long most) {
  int *keys = (int *)b.extra(n * 4);
  keys_kernel<<<blocks_for(n, 256), 256, 0, stream()>>>(keys, n, (unsigned)most, job.text("keys") == "constant");
  must(cudaGetLastError(), "keys");
  return keys;
}

// Whole numbers, whose sums are exact in any order.
__global__ void whole_kernel(float *x, long long n) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < n) x[i] = (float)(i % 8);
}

template <class T> __global__ void add_kernel(const int *__restrict__ keys, const T *__restrict__ x, T *__restrict__ out,
                                              long long n) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&out[keys[i]], x ? x[i] : (T)1);
}

template <class T> static void clear_and_add(const int *keys, const T *x, T *out, long long n, long long most) {
  must(cudaMemsetAsync(out, 0, most * sizeof(T), stream()), "memset");
  add_kernel<<<blocks_for(n, 256), 256, 0, stream()>>>(keys, x, out, n);
}

static void histogram(const Job &job) {
  const long long n = job.number("n"), bins = job.number("bins");
  Bench b(job, n * 4, bins * 4, FILL_BITS);
  const int *keys = make_keys(b, job, n, bins);
  clear_and_add<unsigned>(keys, nullptr, b.want<unsigned>(), n, bins);
  size_t scratch_bytes = 0;
  const int ends = (int)bins + 1, most = (int)bins;
  must(cub::DeviceHistogram::HistogramEven(nullptr, scratch_bytes, keys, b.out<unsigned>(0), ends, 0, most, (int)n,
                                           stream()), "scratch");
  void *scratch = b.extra(scratch_bytes);
  b.run("cub::DeviceHistogram", [=, &b](int t) {
    size_t bytes = scratch_bytes;
    cub::DeviceHistogram::HistogramEven(scratch, bytes, keys, b.out<unsigned>(t), ends, 0, most, (int)n, stream());
  }, 2);
  b.run("by hand", [=, &b](int t) { clear_and_add<unsigned>(keys, nullptr, b.out<unsigned>(t), n, bins); }, 2);
}

static void scatter_add(const Job &job) {
  const long long n = job.number("n"), m = job.number("m");
  Bench b(job, n * 4, m * 4, FILL_F32);
  const int *keys = make_keys(b, job, n, m);
  float *x = (float *)b.extra(n * 4);
  whole_kernel<<<blocks_for(n, 256), 256, 0, stream()>>>(x, n);
  clear_and_add<float>(keys, x, b.want<float>(), n, m);
  b.run("by hand", [=, &b](int t) { clear_and_add<float>(keys, x, b.out<float>(t), n, m); }, 2);
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

const std::vector<JobKind> index_jobs = {{"gather", gather_any}, {"scatter", scatter_any}, {"gather_rows", gather_rows},
                                         {"histogram", histogram}, {"scatter_add", scatter_add}};
