// NAME_host on a GPU: results at odd sizes against the launch function, nothing left behind by 1,000
// calls, two host threads with a plan each, and its times against the bound max(to device, kernel,
// to host) and the plain sequence. tests/gpu/host.py builds and runs it.
#include "add_const_double3.h"
#include "binned.h"
#include "columns.h"
#include "placed.h"
#include "stencil2d_f32.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

static int n_wrong;

static void check(cudaError_t error, const char *what) {
  if (error != cudaSuccess) {
    std::printf("FAIL  %s: %s\n", what, cudaGetErrorString(error));
    std::exit(1);
  }
}
#define CHECK(call) check(call, #call)

static void expect(bool good, const char *what) {
  std::printf("%s  %s\n", good ? "ok  " : "FAIL", what);
  n_wrong += !good;
}

// Memory of the host, page-locked or not, each page touched.
struct host_array {
  bool locked;
  size_t bytes;
  char *p = nullptr;
  host_array(bool is_locked, size_t n) : locked(is_locked), bytes(n) {
    if (locked) CHECK(cudaMallocHost(&p, n + 1));
    else p = (char *)std::malloc(n + 1);
    std::memset(p, 0, n);
  }
  ~host_array() {
    if (locked) cudaFreeHost(p);
    else std::free(p);
  }
};

// A kernel with one array in and one out: a call for arrays of the device, one for arrays of the host.
struct add3 {
  static constexpr const char *name = "add_const_double3";
  typedef add_const_double3_host_plan plan;
  long long n;
  long long step() const { return 24; }  // bytes of an element along the chunks
  size_t bytes() const { return 24 * (size_t)n; }
  cudaError_t device(const void *a, void *b, cudaStream_t s) const {
    return add_const_double3((const add_const_double3_vec3 *)a, (add_const_double3_vec3 *)b, 3.0, n, s);
  }
  cudaError_t open(plan **p, long long chunk, int streams, int threads) const {
    const add_const_double3_host_options o = {chunk, streams, threads, false};
    return add_const_double3_host_plan_create(p, n, &o);
  }
  static cudaError_t close(plan *p) { return add_const_double3_host_plan_destroy(p); }
  cudaError_t host(const void *a, void *b, const plan *p, cudaStream_t s) const {
    return add_const_double3_host((const add_const_double3_vec3 *)a, (add_const_double3_vec3 *)b, 3.0, n, p, s);
  }
};
struct stencil {
  static constexpr const char *name = "stencil2d_f32";
  typedef stencil2d_f32_host_plan plan;
  long long rows, cols;
  long long step() const { return 4 * cols; }
  size_t bytes() const { return 4 * (size_t)(rows * cols); }
  cudaError_t device(const void *a, void *b, cudaStream_t s) const {
    return stencil2d_f32((const float *)a, (float *)b, 0.1f, rows, cols, s);
  }
  cudaError_t open(plan **p, long long chunk, int streams, int threads) const {
    const stencil2d_f32_host_options o = {chunk, streams, threads, false};
    return stencil2d_f32_host_plan_create(p, rows, cols, &o);
  }
  static cudaError_t close(plan *p) { return stencil2d_f32_host_plan_destroy(p); }
  cudaError_t host(const void *a, void *b, const plan *p, cudaStream_t s) const {
    return stencil2d_f32_host((const float *)a, (float *)b, 0.1f, rows, cols, p, s);
  }
};

// What the launch function makes of the whole array.
template <class K>
static std::vector<char> reference(const K &k, const char *a) {
  std::vector<char> out(k.bytes());
  void *da = nullptr, *db = nullptr;
  CHECK(cudaMalloc(&da, k.bytes() + 1));
  CHECK(cudaMalloc(&db, k.bytes() + 1));
  CHECK(cudaMemcpy(da, a, k.bytes(), cudaMemcpyHostToDevice));
  CHECK(k.device(da, db, nullptr));
  CHECK(cudaMemcpy(out.data(), db, k.bytes(), cudaMemcpyDeviceToHost));
  CHECK(cudaFree(da));
  CHECK(cudaFree(db));
  return out;
}

static void fill(char *p, size_t bytes, bool doubles) {
  for (size_t k = 0; k < bytes / (doubles ? 8 : 4); k++) {
    if (doubles) ((double *)p)[k] = (double)(k % 1009);
    else ((float *)p)[k] = (float)(k % 1009);
  }
}

template <class K>
static bool is_right(const K &k, long long chunk, int streams, int locked) {
  typename K::plan *plan = nullptr;
  host_array a(locked & 1, k.bytes()), b(locked & 2, k.bytes());
  fill(a.p, k.bytes(), std::strcmp(K::name, "stencil2d_f32") != 0);
  const std::vector<char> wanted = reference(k, a.p);
  CHECK(k.open(&plan, chunk, streams, 2));
  CHECK(k.host(a.p, b.p, plan, nullptr));
  CHECK(cudaStreamSynchronize(nullptr));
  CHECK(K::close(plan));
  return std::memcmp(b.p, wanted.data(), k.bytes()) == 0;
}

static void try_results() {
  bool right = true;
  for (long long n : {0LL, 1LL, 2LL, 33LL, 1000LL, 100003LL}) {
    for (long long chunk : {0LL, 1LL, 7LL, 1024LL, 1000000LL}) {
      if (chunk > 0 && n / chunk > 2000) continue;
      for (int locked = 0; locked < 4; locked++) {
        right = right && is_right(add3{n}, chunk, 1 + locked, locked);
        right = right && is_right(stencil{n, 37}, chunk, 4 - locked, locked);
      }
    }
  }
  expect(right, "results equal those of the launch function at all sizes and chunks");
}

// ---- arrays that stay on the device ----

struct device_array {
  float *p = nullptr;
  explicit device_array(const std::vector<float> &from) {
    CHECK(cudaMalloc(&p, 4 * from.size() + 4));
    CHECK(cudaMemcpy(p, from.data(), 4 * from.size(), cudaMemcpyHostToDevice));
  }
  ~device_array() { cudaFree(p); }
  std::vector<float> back(size_t n) const {
    std::vector<float> out(n);
    CHECK(cudaMemcpy(out.data(), p, 4 * n, cudaMemcpyDeviceToHost));
    return out;
  }
};

static bool is_placed_right(long long rows, long long cols, long long chunk, int locked) {
  const long long table_rows = 13;
  const size_t n = (size_t)(rows * cols);
  std::vector<float> table((size_t)(table_rows * cols)), pick((size_t)rows), sum(n), wanted_b(n), wanted_sum(n);
  host_array a(locked & 1, 4 * n), b(locked & 2, 4 * n);
  fill(a.p, 4 * n, false);
  for (size_t k = 0; k < table.size(); k++) table[k] = (float)(k % 97);
  for (size_t k = 0; k < pick.size(); k++) {
    const int row = (int)(5 * k % (size_t)table_rows);
    std::memcpy(&pick[k], &row, sizeof row);
  }
  for (size_t k = 0; k < n; k++) {
    const float value = ((const float *)a.p)[k];
    sum[k] = (float)(k % 11);
    wanted_sum[k] = sum[k] + value;
    wanted_b[k] = value * table[5 * (k / (size_t)cols) % (size_t)table_rows * (size_t)cols + k % (size_t)cols];
  }
  const device_array d_table(table), d_pick(pick), d_sum(sum);
  const placed_host_options options = {chunk, 1 + locked, 2, false};
  placed_host_plan *plan = nullptr;
  CHECK(placed_host_plan_create(&plan, rows, cols, table_rows, &options));
  CHECK(placed_host((const float *)a.p, d_table.p, (const int *)d_pick.p, d_sum.p, (float *)b.p, rows, cols, table_rows,
                    plan, nullptr));
  CHECK(cudaStreamSynchronize(nullptr));
  const bool refused = placed_host((const float *)a.p, d_table.p, (const int *)d_pick.p, sum.data(), (float *)b.p, rows,
                                   cols, table_rows, plan, nullptr) == cudaErrorInvalidValue;
  CHECK(placed_host_plan_destroy(plan));
  return std::memcmp(b.p, wanted_b.data(), 4 * n) == 0 && d_sum.back(n) == wanted_sum && (refused || n == 0);
}

static void try_placed() {
  bool right = true;
  for (long long rows : {0LL, 1LL, 2LL, 33LL, 1000LL, 10007LL}) {
    for (long long chunk : {0LL, 1LL, 7LL, 1024LL}) {
      for (int locked = 0; locked < 4 && (chunk == 0 || rows / chunk <= 2000); locked++) {
        right = right && is_placed_right(rows, 37, chunk, locked) && is_placed_right(rows, 64, chunk, locked);
      }
    }
  }
  expect(right, "arrays that stay on the device are used where they are");
}

// ---- what all chunks go onto ----

static bool is_binned_right(long long n, long long chunk, int locked, int threads) {
  const int bins = 256;
  host_array key(locked & 1, 4 * (size_t)n), x(locked & 2, 4 * (size_t)n);
  host_array count(locked & 1, 4 * bins), total(locked & 2, 8 * bins);
  std::vector<unsigned> wanted(bins);
  std::vector<double> sum(bins);
  for (long long k = 0; k < n; k++) {
    const int bin = (int)(k * 7919 % 1021 % bins);
    const float value = (float)(k % 1009);
    std::memcpy(key.p + 4 * k, &bin, 4);
    std::memcpy(x.p + 4 * k, &value, 4);
    wanted[(size_t)bin]++;
    sum[(size_t)bin] += value;  // exact, whatever the order
  }
  std::memset(count.p, 0x7f, 4 * bins);
  std::memset(total.p, 0x7f, 8 * bins);
  const binned_host_options options = {chunk, 1 + locked, threads, false};
  binned_host_plan *plan = nullptr;
  CHECK(binned_host_plan_create(&plan, n, bins, &options));
  for (int again = 0; again < 2; again++) {
    CHECK(binned_host((const int *)key.p, (const float *)x.p, (unsigned *)count.p, (double *)total.p, n, bins, plan,
                      nullptr));
  }
  CHECK(cudaStreamSynchronize(nullptr));
  CHECK(binned_host_plan_destroy(plan));
  return std::memcmp(count.p, wanted.data(), 4 * bins) == 0 && std::memcmp(total.p, sum.data(), 8 * bins) == 0;
}

// Sums onto what was there; every call of a plan gives the same bits.
static bool are_columns_right(long long rows, long long cols, long long chunk, int locked, int threads) {
  const size_t n = (size_t)(rows * cols);
  host_array a(locked & 1, 4 * n), total(locked & 2, 4 * (size_t)cols);
  std::vector<double> wanted((size_t)cols);
  std::vector<float> first((size_t)cols);
  for (size_t k = 0; k < n; k++) {
    const float value = (float)(k * 2654435761u % 1000003) * 1e-3f;
    std::memcpy(a.p + 4 * k, &value, 4);
    wanted[k % (size_t)cols] += value;
  }
  const columns_host_options options = {chunk, 1 + locked, threads, false};
  columns_host_plan *plan = nullptr;
  CHECK(columns_host_plan_create(&plan, rows, cols, &options));
  bool right = true;
  for (int again = 0; again < 4; again++) {
    for (size_t k = 0; k < (size_t)cols; k++) ((float *)total.p)[k] = (float)(k % 13);
    CHECK(columns_host((const float *)a.p, (float *)total.p, rows, cols, plan, nullptr));
    CHECK(cudaStreamSynchronize(nullptr));
    if (again == 0) std::memcpy(first.data(), total.p, 4 * (size_t)cols);
    right = right && std::memcmp(first.data(), total.p, 4 * (size_t)cols) == 0;
  }
  for (size_t k = 0; k < (size_t)cols; k++) {
    const double sum = wanted[k] + (double)(k % 13);
    right = right && std::abs(first[k] - sum) <= 1e-5 * sum + 1e-6;
  }
  CHECK(columns_host_plan_destroy(plan));
  return right;
}

static void try_onto() {
  bool binned_right = true, columns_right = true;
  for (long long n : {0LL, 1LL, 33LL, 1000LL, 100003LL, 3000001LL}) {
    for (long long chunk : {0LL, 1LL, 7LL, 1024LL, 65536LL}) {
      for (int locked = 0; locked < 4 && (chunk == 0 || n / chunk <= 2000); locked++) {
        binned_right = binned_right && is_binned_right(n, chunk, locked, 1 + 5 * locked);
        columns_right = columns_right && are_columns_right(n / 37, 37, chunk, locked, 16 - 5 * locked);
      }
    }
  }
  expect(binned_right, "points of all chunks fall on one histogram");
  expect(columns_right, "sums of columns go onto what was there, in the order of the chunks");
}

static void try_leaks() {
  const add3 k{5000};
  size_t before = 0, after = 0, all = 0;
  host_array a(false, k.bytes()), b(true, k.bytes());
  for (int call = 0; call < 1000; call++) {
    add3::plan *plan = nullptr;
    CHECK(k.open(&plan, 512, 3, 1));
    CHECK(k.host(a.p, b.p, plan, nullptr));
    CHECK(add3::close(plan));
    if (call == 10) CHECK(cudaMemGetInfo(&before, &all));
  }
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemGetInfo(&after, &all));
  expect(before == after, "1,000 plans and calls leave no memory of the device behind");
  add3::plan *plan = nullptr;
  expect(add3{1LL << 45}.open(&plan, 1LL << 45, 3, 1) == cudaErrorMemoryAllocation && plan == nullptr &&
             cudaPeekAtLastError() == cudaSuccess,
         "a plan that does not fit is refused, and no error stays");
}

static void try_threads() {
  bool right[2] = {false, false};
  std::thread others[2];
  for (int k = 0; k < 2; k++) {
    others[k] = std::thread([k, &right] {
      right[k] = true;
      for (int call = 0; call < 20; call++) right[k] = right[k] && is_right(add3{200003 + call}, 10000, 3, k);
    });
  }
  for (std::thread &t : others) t.join();
  expect(right[0] && right[1], "two threads of the host with a plan each");
}

// ---- times ----

template <class F>
static double best_ms(F call) {
  std::vector<double> times;
  for (int k = 0; k < 7; k++) {
    const auto start = std::chrono::steady_clock::now();
    call();
    times.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
  }
  std::sort(times.begin() + 2, times.end());  // the first two warm up
  return times[4];
}

// Both ways at once, which share the host's memory: what of the bus a pipeline can have.
static double both_ways_ms(void *to_device, void *to_host, void *da, void *db, size_t n) {
  cudaStream_t in, out;
  CHECK(cudaStreamCreateWithFlags(&in, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&out, cudaStreamNonBlocking));
  const double ms = best_ms([&] {
    CHECK(cudaMemcpyAsync(da, to_device, n, cudaMemcpyHostToDevice, in));
    CHECK(cudaMemcpyAsync(to_host, db, n, cudaMemcpyDeviceToHost, out));
    CHECK(cudaStreamSynchronize(in));
    CHECK(cudaStreamSynchronize(out));
  });
  CHECK(cudaStreamDestroy(in));
  CHECK(cudaStreamDestroy(out));
  return ms;
}

// Copies on the host as the ring makes them, n bytes in and n out, by so many threads and chunks.
static double host_copies_ms(host_array *const (&pageable)[2], host_array *const (&locked)[2], size_t n,
                             int threads, size_t chunk) {
  return best_ms([&] {
    std::vector<std::thread> all;
    for (int t = 0; t < threads; t++) {
      all.emplace_back([&, t] {
        char *const ring[2] = {locked[0]->p + 3 * chunk * t, locked[1]->p + 3 * chunk * t};
        for (size_t k = t; k < n / chunk; k += threads) {
          std::memcpy(ring[0] + k / threads % 3 * chunk, pageable[0]->p + k * chunk, chunk);
          add_const_double3_detail_copy_out(pageable[1]->p + k * chunk, ring[1] + k / threads % 3 * chunk, chunk);
        }
      });
    }
    for (std::thread &t : all) t.join();
  });
}

template <class K>
static void show_times(const K &k) {
  const size_t n = k.bytes();
  void *da = nullptr, *db = nullptr;
  CHECK(cudaMalloc(&da, n));
  CHECK(cudaMalloc(&db, n));
  double whole[2], bound = 0;
  host_array *arrays[2][2];
  for (int locked = 0; locked < 2; locked++) {
    for (host_array *&a : arrays[locked]) a = new host_array(locked != 0, n);
    host_array &a = *arrays[locked][0], &b = *arrays[locked][1];
    const double in = best_ms([&] { CHECK(cudaMemcpy(da, a.p, n, cudaMemcpyHostToDevice)); });
    const double run = best_ms([&] { CHECK(k.device(da, db, nullptr)); CHECK(cudaDeviceSynchronize()); });
    const double out = best_ms([&] { CHECK(cudaMemcpy(b.p, db, n, cudaMemcpyDeviceToHost)); });
    whole[locked] = in + run + out;
    bound = std::max(in, std::max(run, out));
    std::printf("      %s, %.3f GB each way, %s: in %.2f ms, kernel %.2f, out %.2f, sum %.2f\n", K::name, n / 1e9,
                locked ? "page-locked" : "pageable", in, run, out, whole[locked]);
  }
  const double both = both_ways_ms(arrays[1][0]->p, arrays[1][1]->p, da, db, n);
  double copies = 1e9;
  for (int threads : {8, 16}) {
    for (size_t chunk : {1 << 19, 1 << 20}) {
      copies = std::min(copies, host_copies_ms(arrays[0], arrays[1], n, threads, chunk));
    }
  }
  const double bound_both = std::max(bound, both), bound_ring = std::max(bound_both, copies);
  std::printf("      both ways at once %.2f ms; what the ring copies, by threads that do nothing else, %.2f\n", both, copies);
  CHECK(cudaFree(da));
  CHECK(cudaFree(db));
  double best[2] = {1e9, 1e9};
  for (int locked = 0; locked < 2; locked++) {
    for (int streams : {0, 2, 3, 4, 8}) {  // 0: all by default
      for (long long kb : {0, 1024, 2048, 4096, 8192, 16384, 65536}) {
        for (int threads : {0, 1, 4, 8, 16}) {
          if ((streams == 0) != (kb == 0) || (streams == 0 ? threads > 0 : (threads == 0) != (locked != 0))) continue;
          if (kb > 0 && (locked ? kb < 4096 || threads > 0 : kb > 8192 || (streams < 4 && threads < 16))) continue;
          typename K::plan *plan = nullptr;
          CHECK(k.open(&plan, (kb << 10) / k.step(), streams, threads));
          const double ms = best_ms([&] {
            CHECK(k.host(arrays[locked][0]->p, arrays[locked][1]->p, plan, nullptr));
            CHECK(cudaStreamSynchronize(nullptr));
          });
          CHECK(K::close(plan));
          std::printf("        %s, %d streams, %5lld KiB, %2d threads: %.2f ms, %.2f of the bound\n",
                      locked ? "page-locked" : "ring", streams, kb, threads, ms, bound / ms);
          best[locked] = std::min(best[locked], ms);
        }
      }
    }
  }
  for (int locked = 0; locked < 2; locked++) delete arrays[locked][0], delete arrays[locked][1];
  char text[200];
  std::snprintf(text, sizeof text, "%s, page-locked: %.2f ms, %.2f of the slowest of the three, %.2f with both ways at once (0.90)",
                K::name, best[1], bound / best[1], bound_both / best[1]);
  expect(bound_both / best[1] >= 0.90, text);
  std::snprintf(text, sizeof text, "%s, pageable: %.2f ms, %.2f of the slowest, %.2f of it or the host's copies (0.75), %.2f x as fast as the plain sequence (2)",
                K::name, best[0], bound / best[0], bound_ring / best[0], whole[0] / best[0]);
  expect(bound_ring / best[0] >= 0.75 && whole[0] / best[0] >= 2, text);
}

// What sums over all chunks takes against its copies to the device, and the plain sequence.
static void show_onto_times() {
  const long long cols = 1024, rows = 200000;
  const size_t n = 4 * (size_t)(rows * cols);
  float *da = nullptr, *dt = nullptr;
  void *work = nullptr;
  CHECK(cudaMalloc(&da, n));
  CHECK(cudaMalloc(&dt, 4 * cols));
  CHECK(cudaMalloc(&work, columns_workspace_bytes() + 1));
  CHECK(cudaMemset(work, 0, columns_workspace_bytes() + 1));
  for (int locked = 0; locked < 2; locked++) {
    host_array a(locked != 0, n), total(locked != 0, 4 * cols);
    const columns_host_options options = {0, 0, 0, locked != 0};
    columns_host_plan *plan = nullptr;
    const double in = best_ms([&] { CHECK(cudaMemcpy(da, a.p, n, cudaMemcpyHostToDevice)); });
    const double run = best_ms([&] { CHECK(columns(da, dt, rows, cols, work, nullptr)); CHECK(cudaDeviceSynchronize()); });
    CHECK(columns_host_plan_create(&plan, rows, cols, &options));
    const double ms = best_ms([&] {
      CHECK(columns_host((const float *)a.p, (float *)total.p, rows, cols, plan, nullptr));
      CHECK(cudaStreamSynchronize(nullptr));
    });
    CHECK(columns_host_plan_destroy(plan));
    std::printf("      columns, %.3f GB, %s: in %.2f ms, kernel %.2f; columns_host %.2f\n", n / 1e9,
                locked ? "page-locked" : "pageable", in, run, ms);
    if (locked) expect(in / ms >= 0.90, "sums of columns of page-locked rows, 0.90 of their copy");
    else expect((in + run) / ms >= 2, "sums of columns of pageable rows, twice as fast as one after the other");
  }
  CHECK(cudaFree(da));
  CHECK(cudaFree(dt));
  CHECK(cudaFree(work));
}

// A call with page-locked arrays as a CUDA graph, again and again.
static void try_graph() {
  const add3 k{1LL << 22};
  add3::plan *plan = nullptr;
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t whole;
  host_array a(true, k.bytes()), b(true, k.bytes());
  fill(a.p, k.bytes(), true);
  const std::vector<char> wanted = reference(k, a.p);
  const add_const_double3_host_options o = {100000, 3, 0, true};
  CHECK(add_const_double3_host_plan_create(&plan, k.n, &o));
  CHECK(cudaStreamCreate(&stream));
  const double plain = best_ms([&] {
    CHECK(k.host(a.p, b.p, plan, stream));
    CHECK(cudaStreamSynchronize(stream));
  });
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  CHECK(k.host(a.p, b.p, plan, stream));
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaGraphInstantiate(&whole, graph, 0));
  std::memset(b.p, 0, k.bytes());
  const double replayed = best_ms([&] {
    CHECK(cudaGraphLaunch(whole, stream));
    CHECK(cudaStreamSynchronize(stream));
  });
  expect(std::memcmp(b.p, wanted.data(), k.bytes()) == 0, "a call in a graph");
  std::printf("      %.3f GB each way in %lld chunks: %.2f ms, in a graph %.2f\n", k.bytes() / 1e9, (k.n + 99999) / 100000,
              plain, replayed);
  CHECK(cudaGraphExecDestroy(whole));
  CHECK(cudaGraphDestroy(graph));
  CHECK(cudaStreamDestroy(stream));
  CHECK(add3::close(plan));
}

// Each half of a job on a GPU of its own, by a thread and a plan each; true: it is right.
static bool run_halves(const host_array &a, const host_array &b, long long n, int devices, double *ms) {
  std::vector<add3::plan *> plans((size_t)devices);
  const add_const_double3_host_options o = {0, 0, 0, true};
  const auto part = [&](int d) { return add3{n * (d + 1) / devices - n * d / devices}; };
  for (int d = 0; d < devices; d++) {
    CHECK(cudaSetDevice(d));
    CHECK(add_const_double3_host_plan_create(&plans[(size_t)d], part(d).n, &o));
  }
  *ms = best_ms([&] {
    std::vector<std::thread> all;
    for (int d = 0; d < devices; d++) {
      all.emplace_back([&, d] {
        const size_t at = (size_t)(24 * (n * d / devices));
        CHECK(cudaSetDevice(d));
        CHECK(part(d).host(a.p + at, b.p + at, plans[(size_t)d], nullptr));
        CHECK(cudaStreamSynchronize(nullptr));
      });
    }
    for (std::thread &t : all) t.join();
  });
  for (int d = 0; d < devices; d++) CHECK(add3::close(plans[(size_t)d]));
  CHECK(cudaSetDevice(0));
  bool right = true;
  for (size_t k = 0; k < a.bytes / 8; k++) right = right && ((double *)b.p)[k] == ((const double *)a.p)[k] + 3.0;
  return right;
}

static void try_devices(int n_devices) {
  const long long n = 1LL << 25;
  host_array a(true, (size_t)(24 * n)), b(true, (size_t)(24 * n));
  double one = 0, two = 0;
  fill(a.p, a.bytes, true);
  const bool right = run_halves(a, b, n, 1, &one);
  std::memset(b.p, 0, b.bytes);
  expect(right && run_halves(a, b, n, n_devices, &two), "each GPU has its part of a job");
  std::printf("      0.805 GB each way: one GPU %.2f ms, %d GPUs %.2f\n", one, n_devices, two);
}

int main(int argc, char **) {
  int n = 0;
  if (cudaGetDeviceCount(&n) != cudaSuccess || n == 0) return 77;
  try_results();
  try_placed();
  try_onto();
  try_leaks();
  try_threads();
  if (argc == 1) {  // with an argument: for compute-sanitizer
    try_graph();
    if (n > 1) try_devices(n);
    show_times(add3{1LL << 25});
    show_times(stencil{16384, 16384});
    show_onto_times();
  }
  return n_wrong > 0;
}
