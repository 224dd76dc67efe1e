// What a call through an emitted header costs beside a bare launch, and arrays of more than 4 GiB, on a GPU. Built and run by
// acceptance.py for each form of the headers. Exit 1 if a call costs 1 us more than a bare launch, or a result is wrong.
#include "histogram.h"
#include "indirect_f32.h"
#include "prefix_sum.h"
#include "saxpy_in_place.h"
#include "stencil2d_f32.h"
#include "sum_rows_f32.h"
#include "transpose_u8.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

static int failures = 0;

static void must(cudaError_t e, const char *what) {
  if (e == cudaSuccess) return;
  std::printf("FAIL  %s: %s\n", what, cudaGetErrorString(e));
  std::exit(1);
}

static void say(bool good, const char *what) {
  failures += !good;
  std::printf("%s  %s\n", good ? "ok  " : "FAIL", what);
}

// ---- what a call costs ----

__global__ void bare(const float *y, float *x, float k, long long n) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < n) x[i] = fmaf(k, y[i], x[i]);
}

// Nanoseconds of the host for a call, a batch of them that the queue of launches has room for.
template <class F> static double batch(F call) {
  constexpr int kCalls = 400;
  const auto start = std::chrono::steady_clock::now();
  for (int k = 0; k < kCalls; k++) call();
  const auto end = std::chrono::steady_clock::now();
  must(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  return std::chrono::duration<double, std::nano>(end - start).count() / kCalls;
}

static double median(std::vector<double> ns) {
  std::sort(ns.begin(), ns.end());
  return ns[ns.size() / 2];
}

static void costs() {
  constexpr long long n = 1000;
  float *y, *x;
  must(cudaMalloc(&y, n * sizeof *y), "cudaMalloc");
  must(cudaMalloc(&x, n * sizeof *x), "cudaMalloc");
  must(cudaMemset(y, 0, n * sizeof *y), "cudaMemset");
  must(cudaMemset(x, 0, n * sizeof *x), "cudaMemset");
  float k = 2.0f;
  long long count = n;
  void *args[] = {&y, &x, &k, &count};
  const auto plain = [&] {
    cudaLaunchKernel(reinterpret_cast<const void *>(bare), dim3((n + 255) / 256), dim3(256), args, 0, 0);
  };
  const auto header = [&] { saxpy_in_place(y, x, k, n, 0); };
  const auto by_struct = [&] {
    saxpy_in_place_args a = {};
    a.y = y, a.x = x, a.k = k, a.n_i = n;
    saxpy_in_place_launch(&a, 0);
  };
  must(saxpy_in_place(y, x, k, n, 0), "saxpy_in_place"); // loads and finds the device
  std::vector<double> base, called, passed;              // in turn, as the machine changes its pace
  for (int k = 0; k < 101; k++) {
    const double ns = batch(plain);
    base.push_back(ns), called.push_back(batch(header) - ns), passed.push_back(batch(by_struct) - ns);
  }
  std::printf("      bare launch %.0f ns, saxpy_in_place() %+.0f ns, saxpy_in_place_launch() %+.0f ns\n", median(base),
              median(called), median(passed));
  say(median(called) < 1000.0 && median(passed) < 1000.0, "a call costs less than 1 us more than a bare launch");
  cudaFree(y);
  cudaFree(x);
}

// ---- more than 4 GiB ----

// A functor `f` says what element i holds, or whether it is right.
template <class T, class F> __global__ void fill(T *to, long long n, F f) {
  const long long step = gridDim.x * (long long)blockDim.x;
  for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n; i += step) to[i] = f(i);
}

template <class F> __global__ void count_wrong(unsigned long long *wrong, long long n, F is_right) {
  const long long step = gridDim.x * (long long)blockDim.x;
  for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n; i += step)
    if (!is_right(i)) atomicAdd(wrong, 1ull);
}

template <class T> static T *fresh(long long n) {
  T *p = nullptr;
  must(cudaMalloc(&p, n * sizeof(T)), "cudaMalloc");
  must(cudaMemset(p, 0xff, n * sizeof(T)), "cudaMemset");
  return p;
}

template <class T, class F> static T *filled(long long n, F f) {
  T *p = fresh<T>(n);
  fill<<<4096, 256>>>(p, n, f);
  return p;
}

template <class F> static void check(const char *what, cudaError_t called, long long n, F is_right) {
  unsigned long long wrong = 1, *on_device = nullptr;
  must(called, what);
  must(cudaMalloc(&on_device, sizeof wrong), "cudaMalloc");
  must(cudaMemset(on_device, 0, sizeof wrong), "cudaMemset");
  count_wrong<<<4096, 256>>>(on_device, n, is_right);
  must(cudaMemcpy(&wrong, on_device, sizeof wrong, cudaMemcpyDeviceToHost), what);
  cudaFree(on_device);
  say(wrong == 0, what);
}

__host__ __device__ inline unsigned int mix(long long i) {
  unsigned long long x = (unsigned long long)i * 0x9e3779b97f4a7c15ull;
  return (unsigned int)((x ^ x >> 29) * 0xbf58476d1ce4e5b9ull >> 32);
}

constexpr long long kMany = 1200000007; // x 4 bytes
constexpr float kFactor = 0.25f;

struct Small { // 0 to 3
  __device__ float operator()(long long i) const { return (float)(mix(i) & 3); }
};
struct Bytes {
  __device__ unsigned char operator()(long long i) const { return (unsigned char)mix(i); }
};
struct Places { // distinct, all over the table
  __device__ int operator()(long long i) const { return (int)(i * 7919 % kMany); }
};
struct Marks { // sums stay exact in f32
  __device__ float operator()(long long i) const { return i % 128 == 0 ? 1.0f : 0.0f; }
};
struct Keys {
  __device__ int operator()(long long i) const { return (int)(mix(i) & 255); }
};

struct Updated {
  const float *x;
  __device__ bool operator()(long long i) const { return x[i] == fmaf(kFactor, Small()(i), Small()(i)); }
};
struct Turned {
  const unsigned char *b;
  long long rows, cols;
  __device__ bool operator()(long long i) const { return b[i] == Bytes()(i % rows * cols + i / rows); }
};
struct Summed {
  const float *total;
  long long cols;
  __device__ bool operator()(long long row) const {
    float sum = 0.0f;
    for (long long col = 0; col < cols; col++) sum += Small()(row * cols + col);
    return total[row] == sum;
  }
};
struct Diffused {
  const float *b;
  long long rows, cols;
  __device__ float at(long long row, long long col) const {
    row = row < 0 ? 0 : row >= rows ? rows - 1 : row;
    col = col < 0 ? 0 : col >= cols ? cols - 1 : col;
    return Small()(row * cols + col);
  }
  __device__ bool operator()(long long i) const {
    const long long row = i / cols, col = i % cols;
    const float around = at(row - 1, col) + at(row + 1, col) + at(row, col - 1) + at(row, col + 1);
    return b[i] == fmaf(kFactor, fmaf(-4.0f, at(row, col), around), at(row, col));
  }
};
struct Running {
  const float *o;
  __device__ bool operator()(long long i) const { return o[i] == (float)(i / 128 + 1); }
};
struct Found {
  const float *b;
  __device__ bool operator()(long long i) const { return b[i] == Small()(Places()(i)); }
};
struct Counted {
  const unsigned int *bins, *want;
  __device__ bool operator()(long long i) const { return bins[i] == want[i]; }
};

__global__ void count_keys(unsigned int *bins, long long n) {
  const long long step = gridDim.x * (long long)blockDim.x;
  for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n; i += step) atomicAdd(&bins[Keys()(i)], 1u);
}

template <class... T> static void release(T *...arrays) {
  (cudaFree(const_cast<void *>(static_cast<const void *>(arrays))), ...);
}

static void moves() {
  const long long rows = 70001, cols = 66003;
  float *y = filled<float>(kMany, Small()), *x = filled<float>(kMany, Small());
  check("saxpy_in_place, 4.8 GB an array", saxpy_in_place(y, x, kFactor, kMany, 0), kMany, Updated{x});
  release(y, x);
  unsigned char *a = filled<unsigned char>(rows * cols, Bytes()), *b = fresh<unsigned char>(rows * cols);
  check("transpose_u8, 4.6 GB", transpose_u8(a, b, rows, cols, 0), rows * cols, Turned{b, rows, cols});
  release(a, b);
  int *pick = filled<int>(kMany, Places());
  float *table = filled<float>(kMany, Small()), *found = fresh<float>(kMany);
  check("indirect_f32, 4.8 GB an array", indirect_f32(pick, table, found, kMany, kMany, 0), kMany, Found{found});
  release(pick, table, found);
}

static void sums() {
  const long long rows = 70001, cols = 20011;
  float *a = filled<float>(rows * cols, Small()), *total = fresh<float>(rows);
  void *w = fresh<char>(std::max<size_t>(sum_rows_f32_workspace_bytes(), prefix_sum_workspace_bytes()) + 16);
  must(cudaMemset(w, 0, sum_rows_f32_workspace_bytes()), "cudaMemset");
  check("sum_rows_f32, 5.6 GB", sum_rows_f32(a, total, rows, cols, w, 0), rows, Summed{total, cols});
  release(a, total);
  float *marks = filled<float>(kMany, Marks()), *o = fresh<float>(kMany);
  must(cudaMemset(w, 0, prefix_sum_workspace_bytes()), "cudaMemset");
  check("prefix_sum, 4.8 GB", prefix_sum(marks, o, kMany, w, 0), kMany, Running{o});
  release(marks, o, w);
  int *key = filled<int>(kMany, Keys());
  unsigned int *bins = fresh<unsigned int>(256), *want = fresh<unsigned int>(256);
  must(cudaMemset(want, 0, 256 * sizeof *want), "cudaMemset");
  count_keys<<<4096, 256>>>(want, kMany);
  check("histogram, 4.8 GB", histogram(key, bins, kMany, 256, 0), 256, Counted{bins, want});
  release(key, bins, want);
}

static void stencils() {
  const long long rows = 40001, cols = 30011;
  float *a = filled<float>(rows * cols, Small()), *b = fresh<float>(rows * cols);
  check("stencil2d_f32, 4.8 GB", stencil2d_f32(a, b, kFactor, rows, cols, 0), rows * cols, Diffused{b, rows, cols});
  release(a, b);
}

int main() {
  costs();
  moves();
  sums();
  stencils();
  std::printf("%d failures\n", failures);
  return failures > 0;
}
