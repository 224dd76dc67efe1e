// Peers of stencils and sums: CUB's reductions, cuBLAS gemv with ones, Thrust, and the stencils that a
// person writes first.
#include "peers_blas.h"

#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_segmented_reduce.cuh>
#include <thrust/execution_policy.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/permutation_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/transform_output_iterator.h>
#include <thrust/transform.h>

// ---- stencils: beyond the border lies 0, or (clamp) what lies at it ----

struct Stencil {  // 5 points with depth 1, else 7
  const float *in;
  int depth, rows, cols;
  bool clamp;
  __host__ __device__ float value(int z, int y, int x) const {
    const long long plane = (long long)rows * cols, at = z * plane + (long long)y * cols + x;
    const float here = in[at], out = clamp ? here : 0.0f;
    float sum = (x > 0 ? in[at - 1] : out) + (x + 1 < cols ? in[at + 1] : out);
    sum += (y > 0 ? in[at - cols] : out) + (y + 1 < rows ? in[at + cols] : out);
    if (depth > 1) sum += (z > 0 ? in[at - plane] : out) + (z + 1 < depth ? in[at + plane] : out);
    return here + 0.1f * (sum - (depth > 1 ? 6.0f : 4.0f) * here);
  }
  __host__ __device__ float operator()(long long at) const {
    const unsigned plane = (unsigned)rows * (unsigned)cols, inside = (unsigned)(at % plane);
    return value((int)(at / plane), (int)(inside / (unsigned)cols), (int)(inside % (unsigned)cols));
  }
};

__global__ void stencil_kernel(Stencil s, float *out) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, z = blockIdx.z;
  if (x < s.cols && y < s.rows) out[((long long)z * s.rows + y) * s.cols + x] = s.value(z, y, x);
}

static void stencil(const Job &job) {
  const std::vector<long long> dims = job.list("dims");
  if (dims.size() != 2 && dims.size() != 3) throw std::string("stencils have 2 or 3 dims");
  const bool deep = dims.size() == 3;
  const int depth = deep ? (int)dims[0] : 1, rows = (int)dims[dims.size() - 2], cols = (int)dims.back();
  const long long n = (long long)depth * rows * cols;
  const bool clamp = job.text("border") == "clamp";
  Bench b(job, n * 4, n * 4, FILL_F32, 1e-5);
  const dim3 block(32, 8), grid(blocks_for(cols, 32), blocks_for(rows, 8), (unsigned)depth);
  const auto at = [=, &b](int t) { return Stencil{b.in<float>(t), depth, rows, cols, clamp}; };
  stencil_kernel<<<grid, block, 0, stream()>>>(at(0), b.want<float>());
  must(cudaGetLastError(), "reference");
  b.run("by hand, 32 x 8 threads", [=, &b](int t) { stencil_kernel<<<grid, block, 0, stream()>>>(at(t), b.out<float>(t)); });
  b.run("thrust::transform by index", [=, &b](int t) {
    const auto first = thrust::make_counting_iterator(0ll);
    thrust::transform(thrust::cuda::par_nosync.on(stream()), first, first + n, b.out<float>(t), at(t));
  });
}

// ---- sums ----

__global__ void sum_reference(const float *in, float *out, long long rows, long long cols, bool of_rows) {
  __shared__ double part[256];
  const long long at = blockIdx.x, n = of_rows ? cols : rows;
  double sum = 0;
  for (long long k = threadIdx.x; k < n; k += blockDim.x) sum += of_rows ? in[at * cols + k] : in[k * cols + at];
  part[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int k = 1; k < 256; k++) sum += part[k];
    out[at] = (float)sum;
  }
}

struct Multiple {
  long long step;
  __host__ __device__ long long operator()(long long k) const { return k * step; }
};
struct Turned {  // place of the k-th element of a matrix that is read column by column
  long long rows, cols;
  __host__ __device__ long long operator()(long long k) const { return k % rows * cols + k / rows; }
};

static void gemv(Bench &b, long long rows, long long cols, bool of_rows) {
  std::string why;
  const Blas *l = blas(&why);
  if (!l) return b.missing("cuBLAS gemv with ones", why);
  const long long n = of_rows ? cols : rows;
  float *ones = (float *)b.extra(n * 4);
  const std::vector<float> host((size_t)n, 1.0f);
  must(cudaMemcpy(ones, host.data(), n * 4, cudaMemcpyHostToDevice), "ones");
  b.run("cuBLAS gemv with ones", [=, &b](int t) {  // to cuBLAS the matrix is cols x rows, column by column
    const float one = 1, zero = 0;
    l->sgemv(l->handle, of_rows ? CUBLAS_OP_T : CUBLAS_OP_N, (int)cols, (int)rows, &one, b.in<float>(t), (int)cols,
             ones, 1, &zero, b.out<float>(t), 1);
  });
}

template <class In> static void segments(Bench &b, const char *name, In from, long long n, long long each) {
  const auto ends = thrust::make_transform_iterator(thrust::make_counting_iterator(0ll), Multiple{each});
  size_t scratch_bytes = 0;
  must(cub::DeviceSegmentedReduce::Sum(nullptr, scratch_bytes, from(0), b.out<float>(0), n, ends, ends + 1, stream()),
       "scratch");
  void *scratch = b.extra(scratch_bytes);
  b.run(name, [=, &b](int t) {
    size_t bytes = scratch_bytes;
    cub::DeviceSegmentedReduce::Sum(scratch, bytes, from(t), b.out<float>(t), n, ends, ends + 1, stream());
  });
}

static void sum(const Job &job) {
  const long long rows = job.number("rows"), cols = job.number("cols"), all = rows * cols;
  const std::string of = job.text("of");
  const bool of_rows = of == "rows", of_cols = of == "cols";
  Bench b(job, all * 4, (of_rows ? rows : of_cols ? cols : 1) * 4, FILL_F32, 1e-3);
  if (of_rows || of_cols) {
    sum_reference<<<(unsigned)(of_rows ? rows : cols), 256, 0, stream()>>>(b.in<float>(0), b.want<float>(), rows, cols,
                                                                          of_rows);
  } else {
    sum_reference<<<1, 256, 0, stream()>>>(b.in<float>(0), b.want<float>(), 1, all, true);
  }
  must(cudaGetLastError(), "reference");
  if (of_rows) {
    segments(b, "cub::DeviceSegmentedReduce", [&b](int t) { return b.in<float>(t); }, rows, cols);
  } else if (of_cols) {
    segments(b, "cub::DeviceSegmentedReduce by index", [=, &b](int t) {
      return thrust::make_permutation_iterator(
          b.in<float>(t), thrust::make_transform_iterator(thrust::make_counting_iterator(0ll), Turned{rows, cols}));
    }, cols, rows);
  } else {
    size_t scratch_bytes = 0;
    must(cub::DeviceReduce::Sum(nullptr, scratch_bytes, b.in<float>(0), b.out<float>(0), all, stream()), "scratch");
    void *scratch = b.extra(scratch_bytes);
    b.run("cub::DeviceReduce", [=, &b](int t) {
      size_t bytes = scratch_bytes;
      cub::DeviceReduce::Sum(scratch, bytes, b.in<float>(t), b.out<float>(t), all, stream());
    }, 2);
  }
  if (of_rows || of_cols) gemv(b, rows, cols, of_rows);
}

// ---- where the largest of each row is, and how large: CUB's pairs, an index and a value ----

typedef cub::KeyValuePair<int, float> Found;

__global__ void argmax_reference(const float *in, Found *out, long long cols) {
  __shared__ float values[256];
  __shared__ int keys[256];
  const float *const row = in + blockIdx.x * cols;
  Found best(-1, 0);
  for (long long k = threadIdx.x; k < cols; k += 256)
    if (best.key < 0 || row[k] > best.value) best = Found((int)k, row[k]);
  values[threadIdx.x] = best.value;
  keys[threadIdx.x] = best.key;
  __syncthreads();
  if (threadIdx.x > 0) return;
  for (int k = 1; k < 256; k++) {
    const bool better = values[k] > best.value || (values[k] == best.value && keys[k] < best.key);
    if (keys[k] >= 0 && (best.key < 0 || better)) best = Found(keys[k], values[k]);
  }
  out[blockIdx.x] = best;
}

static void argmax(const Job &job) {
  const long long rows = job.number("rows"), cols = job.number("cols");
  Bench b(job, rows * cols * 4, rows * sizeof(Found), FILL_F32);
  argmax_reference<<<(unsigned)rows, 256, 0, stream()>>>(b.in<float>(0), b.want<Found>(), cols);
  must(cudaGetLastError(), "reference");
  const auto ends = thrust::make_transform_iterator(thrust::make_counting_iterator(0ll), Multiple{cols});
  size_t scratch_bytes = 0;
  must(cub::DeviceSegmentedReduce::ArgMax(nullptr, scratch_bytes, b.in<float>(0), b.out<Found>(0), (int)rows, ends,
                                          ends + 1, stream()), "scratch");
  void *scratch = b.extra(scratch_bytes);
  b.run("cub::DeviceSegmentedReduce::ArgMax", [=, &b](int t) {
    size_t bytes = scratch_bytes;
    cub::DeviceSegmentedReduce::ArgMax(scratch, bytes, b.in<float>(t), b.out<Found>(t), (int)rows, ends, ends + 1,
                                       stream());
  });
}

// ---- running sums of rows ----

struct RowOf {
  long long cols;
  __host__ __device__ int operator()(long long k) const { return (int)(k / cols); }
};
struct ToDouble {
  __host__ __device__ double operator()(float x) const { return x; }
};
struct ToFloat {
  __host__ __device__ float operator()(double x) const { return (float)x; }
};

// Queues the sums from `in` to `out`; with `scratch` null, only says how much that takes.
template <class In, class Out>
static void scan_rows(void *scratch, size_t &bytes, In in, Out out, long long rows, long long cols) {
  if (rows == 1) {
    must(cub::DeviceScan::InclusiveSum(scratch, bytes, in, out, cols, stream()), "scan");
    return;
  }
  const auto row = thrust::make_transform_iterator(thrust::make_counting_iterator(0ll), RowOf{cols});
  must(cub::DeviceScan::InclusiveSumByKey(scratch, bytes, row, in, out, rows * cols, cuda::std::equal_to<>(), stream()),
       "scan by key");
}

static void scan(const Job &job) {
  const long long rows = job.number("rows"), cols = job.number("cols"), all = rows * cols;
  Bench b(job, all * 4, all * 4, FILL_F32, 1e-3);
  const auto exact = thrust::make_transform_iterator(b.in<float>(0), ToDouble());
  const auto rounded = thrust::make_transform_output_iterator(b.want<float>(), ToFloat());
  size_t scratch_bytes = 0, exact_bytes = 0;
  scan_rows(nullptr, exact_bytes, exact, rounded, rows, cols);
  scan_rows(nullptr, scratch_bytes, b.in<float>(0), b.out<float>(0), rows, cols);
  scan_rows(b.extra(exact_bytes), exact_bytes, exact, rounded, rows, cols);
  void *scratch = b.extra(scratch_bytes);
  b.run(rows == 1 ? "cub::DeviceScan" : "cub::DeviceScan by key", [=, &b](int t) {
    size_t bytes = scratch_bytes;
    scan_rows(scratch, bytes, b.in<float>(t), b.out<float>(t), rows, cols);
  }, 2);
}

const std::vector<JobKind> sum_jobs = {{"stencil", stencil}, {"sum", sum}, {"argmax", argmax}, {"scan", scan}};
