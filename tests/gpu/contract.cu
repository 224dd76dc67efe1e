// What headers promise of devices, sizes and workspaces (docs/header_contract.md), on a GPU. Built and run by contract.py,
// which emits the headers: square and strips transpose, sums adds everything up, rows adds up rows; naive_* have the naive
// variant only, shapes.h has what they are called with. Prints a table, exits with 1 if a promise does not hold, 77
// without a GPU.
#include "naive_move.h"
#include "naive_rows.h"
#include "rows.h"
#include "square.h"
#include "strips.h"
#include "sums.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "shapes.h"

static int failures = 0;

static void must(cudaError_t e, const char *what) {
  if (e == cudaSuccess) return;
  std::printf("%s: %s\n", what, cudaGetErrorString(e));
  std::exit(e == cudaErrorNoDevice || e == cudaErrorInsufficientDriver ? 77 : 2);
}

static void say(bool good, const char *what) {
  failures += !good;
  std::printf("%s  %s\n", good ? "ok  " : "FAIL", what);
}

template <class T> static T *fresh(long long n) {
  T *p = nullptr;
  must(cudaMalloc(&p, n * sizeof(T)), "cudaMalloc");
  must(cudaMemset(p, 0, n * sizeof(T)), "cudaMemset");
  return p;
}

// ---- which device ----

static void identity() {
  int device = 0;
  cudaDeviceProp here;
  must(cudaGetDevice(&device), "cudaGetDevice");
  must(cudaGetDeviceProperties(&here, device), "cudaGetDeviceProperties");
  std::printf("%s, compute capability %d.%d, %d multiprocessors, L2 %d bytes, bus %d bits\n", here.name, here.major,
              here.minor, here.multiProcessorCount, here.l2CacheSize, here.memoryBusWidth);
  const float *a = reinterpret_cast<const float *>(4096);
  const square_choice chosen = square_variant(a, const_cast<float *>(a), 4096, 4096);
  std::printf("      tuned on %s: %s\n", chosen.device ? chosen.device : "nobody", chosen.match);
  bool tuned = false;
  for (int k = 0; k < square_provenance.n_tunings; k++) {
    tuned = tuned || std::strcmp(square_provenance.tunings[k].device, here.name) == 0;
  }
  const bool same = std::strcmp(chosen.match, "same device model") == 0;
  say(tuned == same && (!same || std::strcmp(chosen.device, here.name) == 0),
      tuned ? "the device's own tuning is taken" : "a device that was not tuned is not called the same model");
}

// ---- which size ----

// Median of 15 times of 4 launches each, in us.
template <class Launch> static float time_of(Launch launch) {
  cudaEvent_t begin, end;
  must(cudaEventCreate(&begin), "cudaEventCreate");
  must(cudaEventCreate(&end), "cudaEventCreate");
  std::vector<float> times;
  for (int k = 0; k < 16; k++) {
    must(cudaEventRecord(begin), "cudaEventRecord");
    for (int n = 0; n < 4; n++) must(launch(), "launch");
    must(cudaEventRecord(end), "cudaEventRecord");
    must(cudaEventSynchronize(end), "kernel");
    float ms = 0;
    must(cudaEventElapsedTime(&ms, begin, end), "cudaEventElapsedTime");
    if (k > 0) times.insert(times.begin() + (std::lower_bound(times.begin(), times.end(), ms) - times.begin()), ms);
  }
  must(cudaEventDestroy(begin), "cudaEventDestroy");
  must(cudaEventDestroy(end), "cudaEventDestroy");
  return times[times.size() / 2] * 1000 / 4;
}

// Two launches that follow each other differ by this much on their own.
static const float kNoise = 1.1f;
static int by_rule = 0, slower_by_rule = 0;

// At a tuned size no kernel is slower than the naive variant. Elsewhere it is by the rule, which is made of few sizes
// here: one that is slower is shown as a miss.
template <class Choice> static void size_row(const char *name, long long rows, long long cols, const Choice &chosen, float us,
                                             float naive_us) {
  const bool slower = us > kNoise * naive_us + 1, listed = chosen.size != nullptr;
  by_rule += !listed;
  slower_by_rule += !listed && slower;
  failures += listed && slower;
  std::printf("%s  %-7s %9lld x %-9lld %9.1f us, naive %9.1f, x %.2f  %-28s %s\n",
              !slower ? "ok  " : listed ? "FAIL" : "miss", name, rows, cols, us, naive_us, us / naive_us, chosen.variant,
              chosen.reason);
}

static void sizes() {
  float *a = fresh<float>(1 << 25), *b = fresh<float>(1 << 25);
  void *w = fresh<char>((long long)(rows_workspace_bytes() + naive_rows_workspace_bytes() + 16));
  for (const auto &n : shapes) {
    const long long r = n[0], c = n[1];
    const float naive = time_of([&] { return naive_move(a, b, r, c, 0); });
    size_row("square", r, c, square_variant(a, b, r, c), time_of([&] { return square(a, b, r, c, 0); }), naive);
    size_row("strips", r, c, strips_variant(a, b, r, c), time_of([&] { return strips(a, b, r, c, 0); }), naive);
    size_row("rows", r, c, rows_variant(a, b, r, c, w), time_of([&] { return rows(a, b, r, c, w, 0); }),
             time_of([&] { return naive_rows(a, b, r, c, w, 0); }));
  }
  std::printf("      %d calls followed the rule, %d of them took longer than naive (10 %% and 1 us)\n", by_rule,
              slower_by_rule);
  must(cudaFree(a), "cudaFree");
  must(cudaFree(b), "cudaFree");
  must(cudaFree(w), "cudaFree");
}

// ---- two streams ----

enum { kStreams = 4, kLaunches = 2000, kRows = 64, kCols = 4096 };

// Sums on several streams at once; returns how many are wrong. `own`: a workspace each.
static int overlapped_sums(bool own) {
  const long long n = (long long)kRows * kCols;
  cudaStream_t stream[kStreams];
  float *a[kStreams], *total[kStreams];
  void *w[kStreams];
  for (int s = 0; s < kStreams; s++) {
    const std::vector<float> ones(n, float(s + 1));
    must(cudaStreamCreateWithFlags(&stream[s], cudaStreamNonBlocking), "cudaStreamCreate");
    a[s] = fresh<float>(n);
    total[s] = fresh<float>(kLaunches);
    w[s] = own || s == 0 ? fresh<char>((long long)sums_workspace_bytes()) : w[0];
    must(cudaMemcpy(a[s], ones.data(), n * sizeof(float), cudaMemcpyHostToDevice), "cudaMemcpy");
  }
  must(cudaDeviceSynchronize(), "memory");
  for (int k = 0; k < kLaunches; k++) {
    for (int s = 0; s < kStreams; s++) must(sums(a[s], total[s] + k, kRows, kCols, w[s], stream[s]), "sums");
  }
  must(cudaDeviceSynchronize(), "kernels");
  int wrong = 0;
  for (int s = 0; s < kStreams; s++) {
    std::vector<float> got(kLaunches);
    must(cudaMemcpy(got.data(), total[s], kLaunches * sizeof(float), cudaMemcpyDeviceToHost), "cudaMemcpy");
    for (float g : got) wrong += g != float(n) * float(s + 1); // below 2^24: exact in any order
    std::vector<unsigned> counters(65536);
    must(cudaMemcpy(counters.data(), w[s], own ? counters.size() * 4 : 0, cudaMemcpyDeviceToHost), "cudaMemcpy");
    for (unsigned c : counters) wrong += c != 0;
    must(cudaFree(a[s]), "cudaFree");
    must(cudaFree(total[s]), "cudaFree");
    must(own || s == 0 ? cudaFree(w[s]) : cudaSuccess, "cudaFree");
    must(cudaStreamDestroy(stream[s]), "cudaStreamDestroy");
  }
  return wrong;
}

static void streams() {
  float *a = fresh<float>(1), *total = fresh<float>(1);
  void *w = fresh<char>((long long)sums_workspace_bytes() + 16);
  std::printf("      %s, workspace of %zu bytes\n", sums_variant(a, total, kRows, kCols, w).variant, sums_workspace_bytes());
  say(sums_workspace_bytes() > 65536 * 4, "blocks share the sum");
  say(sums(a, total, kRows, kCols, nullptr, 0) == cudaErrorInvalidValue, "without a workspace nothing is launched");
  say(overlapped_sums(true) == 0, "4 streams with a workspace each: every sum right, counters 0 at the end");
  const int wrong = overlapped_sums(false);
  std::printf("      4 streams with one workspace, which is not allowed: %d of %d sums wrong%s\n", wrong, kStreams * kLaunches,
              wrong ? "" : " (launches did not overlap, so the line above shows little)");
  must(cudaFree(a), "cudaFree");
  must(cudaFree(total), "cudaFree");
  must(cudaFree(w), "cudaFree");
}

int main() {
  identity();
  streams();
  sizes();
  std::printf("%s\n", failures ? "FAILED" : "all promises hold");
  return failures != 0;
}
