// Peers of transposes and permutes, shifted copies and strided reads.
#include "peers_blas.h"

#include <thrust/copy.h>
#include <thrust/execution_policy.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/permutation_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/transform.h>

#include <type_traits>

const int kMostDims = 8;

// The place in the input of each element of the output, in the output's order.
struct Permutation {
  int rank;
  unsigned extent[kMostDims];  // of the output, slowest first
  long long step[kMostDims];   // of the input, for each dimension of the output
  __host__ __device__ long long operator()(long long at) const {
    long long from = 0;
#pragma unroll
    for (int k = kMostDims - 1; k >= 0; k--) {
      if (k >= rank) continue;
      // 32-bit divisions where they do
      const long long rest = at >> 31 ? at / extent[k] : (long long)((unsigned)at / extent[k]);
      from += (at - rest * extent[k]) * step[k];
      at = rest;
    }
    return from;
  }
};

template <class T> struct Fetch {
  const T *from;
  Permutation p;
  __host__ __device__ T operator()(long long at) const { return from[p(at)]; }
};

template <class T> __global__ void permute_reference(const T *in, T *out, long long n, Permutation p) {
  for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n; i += (long long)gridDim.x * blockDim.x) {
    out[i] = in[p(i)];
  }
}

// The textbook: 32 x 32 elements in shared memory, a column more than needed, 32 x 8 threads.
template <class T> __global__ void tile_kernel(const T *in, T *out, long long rows, long long cols, long long tiles_x) {
  __shared__ T tile[32][33];
  const long long bx = blockIdx.x % tiles_x, by = blockIdx.x / tiles_x;
  long long x = bx * 32 + threadIdx.x, y = by * 32 + threadIdx.y;
#pragma unroll
  for (int k = 0; k < 32; k += 8) {
    if (x < cols && y + k < rows) tile[threadIdx.y + k][threadIdx.x] = in[(y + k) * cols + x];
  }
  __syncthreads();
  x = by * 32 + threadIdx.x, y = bx * 32 + threadIdx.y;
#pragma unroll
  for (int k = 0; k < 32; k += 8) {
    if (x < rows && y + k < cols) out[(y + k) * rows + x] = tile[threadIdx.x][threadIdx.y + k];
  }
}

template <class T> static void geam(Bench &b, int rows, int cols) {
  std::string why;
  const Blas *l = blas(&why);
  if (!l) return b.missing("cuBLAS geam", why);
  b.run("cuBLAS geam", [=, &b](int t) {
    const T one = 1, zero = 0;
    T *in = b.in<T>(t), *out = b.out<T>(t);
    if constexpr (std::is_same<T, float>::value) {
      l->sgeam(l->handle, CUBLAS_OP_T, CUBLAS_OP_N, rows, cols, &one, in, cols, &zero, out, rows, out, rows);
    } else {
      l->dgeam(l->handle, CUBLAS_OP_T, CUBLAS_OP_N, rows, cols, &one, in, cols, &zero, out, rows, out, rows);
    }
  });
}

template <class T> static void permute(const Job &job) {
  const std::vector<long long> dims = job.list("dims"), order = job.list("perm");
  Permutation p = {(int)dims.size(), {}, {}};
  if (dims.empty() || dims.size() != order.size() || dims.size() > kMostDims) throw std::string("dims and perm differ");
  long long n = 1, step[kMostDims];
  for (int k = p.rank - 1; k >= 0; k--) step[k] = n, n *= dims[k];
  for (int k = 0; k < p.rank; k++) p.extent[k] = (unsigned)dims[order[k]], p.step[k] = step[order[k]];
  const Fill fill = std::is_same<T, float>::value ? FILL_F32 : std::is_same<T, double>::value ? FILL_F64 : FILL_BITS;
  Bench b(job, n * sizeof(T), n * sizeof(T), fill);
  permute_reference<T><<<4096, 256, 0, stream()>>>(b.in<T>(0), b.want<T>(), n, p);
  must(cudaGetLastError(), "reference");
  const bool matrix = p.rank == 2 && order[0] == 1;
  if (matrix) {
    const long long tiles_x = (dims[1] + 31) / 32, tiles_y = (dims[0] + 31) / 32;
    b.run("textbook tile", [=, &b](int t) {
      tile_kernel<T><<<(unsigned)(tiles_x * tiles_y), dim3(32, 8), 0, stream()>>>(b.in<T>(t), b.out<T>(t), dims[0],
                                                                                 dims[1], tiles_x);
    });
  }
  if constexpr (std::is_floating_point<T>::value) {
    if (matrix) geam<T>(b, (int)dims[0], (int)dims[1]);
  }
  b.run("thrust::transform by index", [=, &b](int t) {
    const auto first = thrust::make_counting_iterator(0ll);
    thrust::transform(thrust::cuda::par_nosync.on(stream()), first, first + n, b.out<T>(t), Fetch<T>{b.in<T>(t), p});
  });
}

static void permute_any(const Job &job) {
  switch (job.number("elem")) {
    case 1: return permute<uint8_t>(job);
    case 2: return permute<uint16_t>(job);
    case 4: return permute<float>(job);
    case 8: return permute<double>(job);
    case 16: return permute<wide16>(job);
  }
  throw std::string("elements of 1, 2, 4, 8 or 16 bytes expected, not ") + job.text("elem");
}

// ---- shifted and strided reads ----

template <class T> struct Strided {
  long long step;
  __host__ __device__ long long operator()(long long i) const { return i * step; }
};

template <class T> __global__ void strided_reference(const T *in, T *out, long long n, long long step) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i * step];
}

template <class T> static void strided(const Job &job, long long by, long long step) {
  const long long n = job.number("n");
  Bench b(job, (n * step + by) * sizeof(T), n * sizeof(T), sizeof(T) == 4 ? FILL_F32 : FILL_BITS);
  strided_reference<<<blocks_for(n, 256), 256, 0, stream()>>>(b.in<T>(0) + by, b.want<T>(), n, step);
  must(cudaGetLastError(), "reference");
  const auto place = thrust::make_transform_iterator(thrust::make_counting_iterator(0ll), Strided<T>{step});
  if (step == 1) {
    b.run("cudaMemcpy", [=, &b](int t) {
      cudaMemcpyAsync(b.out<T>(t), b.in<T>(t) + by, n * sizeof(T), cudaMemcpyDeviceToDevice, stream());
    });
    b.run("thrust::copy", [=, &b](int t) {
      thrust::copy(thrust::cuda::par_nosync.on(stream()), b.in<T>(t) + by, b.in<T>(t) + by + n, b.out<T>(t));
    });
    return;
  }
  b.run("thrust::copy of a permutation", [=, &b](int t) {
    const auto from = thrust::make_permutation_iterator(b.in<T>(t) + by, place);
    thrust::copy(thrust::cuda::par_nosync.on(stream()), from, from + n, b.out<T>(t));
  });
  b.run("cudaMemcpy2D", [=, &b](int t) {
    cudaMemcpy2DAsync(b.out<T>(t), sizeof(T), b.in<T>(t) + by, step * sizeof(T), sizeof(T), n, cudaMemcpyDeviceToDevice,
                      stream());
  });
}

template <class T> static void strided(const Job &job) {
  strided<T>(job, job.kind == "shift" ? job.number("by") : 0, job.kind == "stride" ? job.number("step") : 1);
}
static void strided_any(const Job &job) {
  switch (job.number("elem")) {
    case 1: return strided<uint8_t>(job);
    case 4: return strided<float>(job);
  }
  throw std::string("elements of 1 or 4 bytes expected, not ") + job.text("elem");
}

const std::vector<JobKind> move_jobs = {{"permute", permute_any}, {"shift", strided_any}, {"stride", strided_any}};
