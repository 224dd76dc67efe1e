// Peers of rows of different lengths: CUB's segmented sums, cuSPARSE (by dlopen, so that the peers run
// where it is not installed), and the kernels that a person writes first: a thread or a warp a row.
#include "peers.h"

#include <cub/device/device_segmented_reduce.cuh>
#include <cusparse.h>
#include <dlfcn.h>

// ---- lengths, by the formulas of src/spec/spec_ragged.c ----

static uint64_t mixed(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

// Halves the rows until one is left, and gives one half, by chance, 0.76 of the elements.
static long long power_offset(long long rows, long long n, long long row) {
  long long first = 0, end = rows, before = 0;
  while (row > first && row < end) {
    const long long middle = first + (end - first) / 2;
    const double share = mixed(first * 0x9e3779b97f4a7c15ull + end) % 2 == 0 ? 0.76 : 0.24;
    const long long left = (long long)((double)n * share + 0.5);
    if (row <= middle) {
      end = middle;
      n = left;
    } else {
      first = middle;
      before += left;
      n -= left;
    }
  }
  return row > first ? before + n : before;
}

static std::vector<int> offsets_of(const Job &job, long long rows, long long n) {
  const bool power = job.text("lengths") == "power";
  std::vector<int> offsets(rows + 1);
  for (long long r = 1; r < rows; r++) {
    const double late = (double)(mixed(r) >> 11) * 0x1p-53 - 0.5;
    offsets[r] = (int)(power ? power_offset(rows, n, r) : (long long)(((double)r + late) * (double)n / (double)rows));
  }
  offsets[rows] = (int)n;
  return offsets;
}

template <class T> static T *uploaded(Bench &b, const std::vector<T> &host) {
  T *p = (T *)b.extra(host.size() * sizeof(T));
  must(cudaMemcpy(p, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice), "upload");
  return p;
}

// ---- by hand ----

struct Plain {
  const float *a;
  __device__ float operator()(long long k) const { return a[k]; }
};
struct Product {
  const float *v, *x;
  const int *col;
  __device__ float operator()(long long k) const { return v[k] * x[col[k]]; }
};

template <class Value> __global__ void sum_reference(const int *offsets, float *y, long long rows, Value value) {
  const long long row = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  double sum = 0;
  for (long long k = row < rows ? offsets[row] : 0; row < rows && k < offsets[row + 1]; k++) sum += value(k);
  if (row < rows) y[row] = (float)sum;
}

template <class Value> __global__ void row_a_thread(const int *offsets, float *y, long long rows, Value value) {
  const long long row = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (int k = offsets[row]; k < offsets[row + 1]; k++) sum += value(k);
  y[row] = sum;
}

template <class Value> __global__ void row_a_warp(const int *offsets, float *y, long long rows, Value value) {
  const long long row = (blockIdx.x * (long long)blockDim.x + threadIdx.x) / 32;
  if (row >= rows) return;
  float sum = 0;
  for (int k = offsets[row] + threadIdx.x % 32; k < offsets[row + 1]; k += 32) sum += value(k);
  for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(~0u, sum, distance);
  if (threadIdx.x % 32 == 0) y[row] = sum;
}

template <class ValueOf> static void by_hand(Bench &b, const int *offsets, long long rows, ValueOf value_of) {
  sum_reference<<<blocks_for(rows, 256), 256, 0, stream()>>>(offsets, b.want<float>(), rows, value_of(0));
  must(cudaGetLastError(), "reference");
  b.run("by hand, a thread a row", [=, &b](int t) {
    row_a_thread<<<blocks_for(rows, 256), 256, 0, stream()>>>(offsets, b.out<float>(t), rows, value_of(t));
  });
  b.run("by hand, a warp a row", [=, &b](int t) {
    row_a_warp<<<blocks_for(rows * 32, 256), 256, 0, stream()>>>(offsets, b.out<float>(t), rows, value_of(t));
  });
}

// ---- segments ----

static void segments(const Job &job) {
  const long long rows = job.number("rows"), n = job.number("n");
  Bench b(job, n * 4, rows * 4, FILL_F32, 1e-4);
  const int *offsets = uploaded(b, offsets_of(job, rows, n));
  by_hand(b, offsets, rows, [&b](int t) { return Plain{b.in<float>(t)}; });
  size_t scratch_bytes = 0;
  must(cub::DeviceSegmentedReduce::Sum(nullptr, scratch_bytes, b.in<float>(0), b.out<float>(0), rows, offsets, offsets + 1,
                                       stream()), "scratch");
  void *scratch = b.extra(scratch_bytes + 1);
  b.run("cub::DeviceSegmentedReduce", [=, &b](int t) {
    size_t bytes = scratch_bytes;
    cub::DeviceSegmentedReduce::Sum(scratch, bytes, b.in<float>(t), b.out<float>(t), rows, offsets, offsets + 1, stream());
  });
}

// ---- CSR ----

struct Sparse {
  void *library = nullptr;
  cusparseHandle_t handle = nullptr;
  decltype(&cusparseCreateCsr) create_csr = nullptr;
  decltype(&cusparseCreateDnVec) create_vector = nullptr;
  decltype(&cusparseSpMV_bufferSize) buffer_size = nullptr;
  decltype(&cusparseSpMV_preprocess) preprocess = nullptr;
  decltype(&cusparseSpMV) spmv = nullptr;
};

static const Sparse *sparse(std::string *why) {
  static Sparse s;
  for (const char *name : {"libcusparse.so.12", "libcusparse.so"}) {
    if (!s.library) s.library = dlopen(name, RTLD_NOW);
  }
  *why = "cuSPARSE is not installed";
  if (!s.library) return nullptr;
  const auto create = (decltype(&cusparseCreate))dlsym(s.library, "cusparseCreate");
  const auto set_stream = (decltype(&cusparseSetStream))dlsym(s.library, "cusparseSetStream");
  *(void **)&s.create_csr = dlsym(s.library, "cusparseCreateCsr");
  *(void **)&s.create_vector = dlsym(s.library, "cusparseCreateDnVec");
  *(void **)&s.buffer_size = dlsym(s.library, "cusparseSpMV_bufferSize");
  *(void **)&s.preprocess = dlsym(s.library, "cusparseSpMV_preprocess");
  *(void **)&s.spmv = dlsym(s.library, "cusparseSpMV");
  *why = "cuSPARSE lacks a function";
  if (!create || !set_stream || !s.create_csr || !s.create_vector || !s.buffer_size || !s.preprocess || !s.spmv) {
    return nullptr;
  }
  *why = "cuSPARSE does not start";
  if (!s.handle && create(&s.handle) != CUSPARSE_STATUS_SUCCESS) return nullptr;
  return set_stream(s.handle, stream()) == CUSPARSE_STATUS_SUCCESS ? &s : nullptr;
}

// One vector of values, as descriptors hold addresses; the arrays that they name are larger than the L2.
static void spmv(Bench &b, const char *name, cusparseSpMVAlg_t how, const Product &p, const int *offsets, long long rows,
                 long long n, long long cols) {
  std::string why;
  const Sparse *s = sparse(&why);
  if (!s) return b.missing(name, why);
  const auto right = [&](cusparseStatus_t status) {
    if (status != CUSPARSE_STATUS_SUCCESS) throw std::string("cuSPARSE: status ") + std::to_string((int)status);
  };
  cusparseSpMatDescr_t a;
  cusparseDnVecDescr_t x, y;
  const float one = 1, zero = 0;
  size_t bytes = 0;
  right(s->create_csr(&a, rows, cols, n, (void *)offsets, (void *)p.col, (void *)p.v, CUSPARSE_INDEX_32I,
                      CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
  right(s->create_vector(&x, cols, (void *)p.x, CUDA_R_32F));
  right(s->create_vector(&y, rows, b.out<float>(0), CUDA_R_32F));
  const auto op = CUSPARSE_OPERATION_NON_TRANSPOSE;
  right(s->buffer_size(s->handle, op, &one, a, x, &zero, y, CUDA_R_32F, how, &bytes));
  void *buffer = b.extra(bytes + 1);
  right(s->preprocess(s->handle, op, &one, a, x, &zero, y, CUDA_R_32F, how, buffer));
  b.run(name, [=](int) { s->spmv(s->handle, op, &one, a, x, &zero, y, CUDA_R_32F, how, buffer); });
}

static void csr(const Job &job) {
  const long long rows = job.number("rows"), n = job.number("n"), cols = job.number("cols");
  Bench b(job, n * 4, rows * 4, FILL_F32, 1e-4);
  const int *offsets = uploaded(b, offsets_of(job, rows, n));
  std::vector<int> columns(n);
  for (long long k = 0; k < n; k++) columns[k] = (int)(mixed(k + 1) % (uint64_t)cols);
  const int *col = uploaded(b, columns);
  float *x = (float *)b.extra(cols * 4);
  fill_device(x, cols * 4, FILL_F32, 7);
  by_hand(b, offsets, rows, [&b, x, col](int t) { return Product{b.in<float>(t), x, col}; });
  const Product first = {b.in<float>(0), x, col};
  spmv(b, "cuSPARSE CSR, algorithm 1", CUSPARSE_SPMV_CSR_ALG1, first, offsets, rows, n, cols);
  spmv(b, "cuSPARSE CSR, algorithm 2", CUSPARSE_SPMV_CSR_ALG2, first, offsets, rows, n, cols);
}

const std::vector<JobKind> ragged_jobs = {{"segments", segments}, {"csr", csr}};
