// What the peers share: jobs read from standard input, buffers, and the way of timing of docs/measure.md
// ("Timing"): units of launches back to back of at least 200 us behind a kernel that holds them back,
// going round as many copies of the arrays as make three times the L2, the median of at least 15
// units, less what empty launches cost.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <vector>

// Elements without an arithmetic of their own, by their size.
struct alignas(16) wide16 { uint32_t v[4]; };
struct alignas(16) wide32 { uint32_t v[8]; };
struct alignas(16) wide64 { uint32_t v[16]; };

// A failing CUDA call ends the process: its context may be lost. Whoever reads the output starts it
// anew and leaves out the peer that was under way.
void must(cudaError_t error, const char *what);

// "ID kind key=value ..."
struct Job {
  std::string id, kind;
  std::map<std::string, std::string> values;
  long long number(const char *key) const;
  double real(const char *key) const;
  std::string text(const char *key) const;  // "" where it is missing
  std::vector<long long> list(const char *key) const;
};

enum Fill { FILL_BITS, FILL_F32, FILL_F64 };

// One job's arrays and its peers, timed one after the other.
class Bench {
 public:
  // `in_bytes` and `out_bytes`: of the arrays that take part in the rotation; `fill`: what the inputs
  // hold; `want` is filled by the caller with what every peer must write. tolerance 0: bit for bit.
  Bench(const Job &job, size_t in_bytes, size_t out_bytes, Fill fill, double tolerance = 0);
  ~Bench();
  Bench(const Bench &) = delete;
  Bench &operator=(const Bench &) = delete;

  template <class T> T *in(int turn) const { return (T *)(in_ + (size_t)(turn % copies_) * in_stride_); }
  template <class T> T *out(int turn) const { return (T *)(out_ + (size_t)(turn % copies_) * out_stride_); }
  template <class T> T *want() const { return (T *)want_; }
  // An array that does not rotate with the copies: each turn has the same one. Freed with the bench.
  void *extra(size_t bytes);

  // Verifies, times and reports one peer. `launch` must only queue work on `stream()`.
  // `kernels`: how many launches it queues. Those already reported by an earlier process are skipped.
  void run(const std::string &peer, const std::function<void(int turn)> &launch, int kernels = 1);
  // Reports why a peer has no time.
  void missing(const std::string &peer, const std::string &why);

 private:
  bool begins(const std::string &peer);
  bool matches(std::string *why);
  Job job_;
  char *in_ = nullptr, *out_ = nullptr, *want_ = nullptr;
  size_t in_stride_, out_stride_, out_bytes_;
  int copies_ = 1, seen_ = 0, skip_ = 0;
  Fill fill_;
  double tolerance_;
  std::vector<void *> extras_;
};

cudaStream_t stream();

// A time of `launch`, without verification. In ns, less the cost of a launch.
struct Timing {
  double median, q1, q3;
  int launches, units;
};
Timing time_units(const std::function<void(int turn)> &launch, int kernels);
void report(const Job &job, const std::string &peer, const Timing &t, const char *detail = nullptr);

void fill_device(void *to, size_t bytes, Fill fill, uint32_t seed);
// A random permutation of 0 .. n-1 (a Feistel network, walked until it stays below n).
void fill_permutation(int *to, int n, uint32_t seed);

// What a job kind runs. Each file of peers has some.
typedef void (*JobFunction)(const Job &job);
struct JobKind {
  const char *name;
  JobFunction run;
};
extern const std::vector<JobKind> map_jobs, move_jobs, index_jobs, sum_jobs, ragged_jobs, ceiling_jobs;

// cuBLAS, loaded when it is first asked for; null where it is not installed.
struct Blas;
const Blas *blas(std::string *why);

inline unsigned blocks_for(long long n, int threads) { return (unsigned)((n + threads - 1) / threads); }
