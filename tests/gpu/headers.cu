// Runs emitted headers against host references for extents 0, 1, 31, 1000, 4097 (pairs and triples in more dimensions), with
// the arrays aligned and off by one element; each of them launched on a stream, in a graph, and from two threads at once, each with a
// stream of its own. Every output is poisoned and lies between guard zones. Prints a line a kernel; exit 1
// on a difference. tests/gpu/acceptance.py --headers builds it, an object a kernel:
//
//   nvcc -DKERNEL_name -include DIR/name.h -c headers.cu -o name.o ...; nvcc -DMAIN headers.cu *.o -o headers && ./headers
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <thread>
#include <vector>

// One kernel a translation unit: -DKERNEL_name says which, -include name.h is its header. -DMAIN makes the program.
struct Case {
  const char *name;
  void (*run)();
  Case *next;
  Case(const char *name, void (*run)());
};
extern Case *cases;
extern int failures, shown;
extern unsigned long long run_seed; // new data in every run
extern thread_local cudaStream_t stream; // of a thread, for all of its launches
extern thread_local int who;             // the first or the second thread

#define CASE(name)                             \
  static void case_##name();                   \
  static const Case of_##name(#name, case_##name); \
  static void case_##name()

// A pointer that becomes whatever type a launch function asks for.
struct Any {
  void *p;
  template <class T> operator T *() const { return (T *)p; }
};

typedef std::vector<unsigned char> Bytes;
static const long long kExtents[] = {0, 1, 31, 1000, 4097};
static const size_t kGuard = 4096;
enum : long long { kMost = 20000000 }; // bytes of an array

inline void check(cudaError_t e, const char *what) {
  if (e != cudaSuccess) {
    printf("%s: %s\n", what, cudaGetErrorString(e));
    exit(1);
  }
}

// Device memory with guard zones; `shift` bytes off its 256-byte alignment.
struct Buffer {
  unsigned char *base = nullptr;
  size_t bytes, shift;
  Buffer(size_t n, size_t off) : bytes(n), shift(off) {
    check(cudaMalloc(&base, n + off + 2 * kGuard), "cudaMalloc");
    check(cudaMemset(base, 0xa5, n + off + 2 * kGuard), "cudaMemset");
  }
  ~Buffer() { cudaFree(base); }
  void *ptr() { return base + kGuard + shift; }
  Bytes all() {
    Bytes b(bytes + shift + 2 * kGuard);
    check(cudaMemcpy(b.data(), base, b.size(), cudaMemcpyDeviceToHost), "cudaMemcpy");
    return b;
  }
};

// Zeros for kernels whose blocks share a reduction: launches of a thread are on one stream.
inline void *workspace(size_t bytes) {
  static void *p[2];
  static size_t room[2];
  if (bytes > room[who]) {
    cudaFree(p[who]);
    check(cudaMalloc(&p[who], bytes), "cudaMalloc");
    check(cudaMemset(p[who], 0, bytes), "cudaMemset");
    check(cudaDeviceSynchronize(), "cudaMemset");
    room[who] = bytes;
  }
  return p[who];
}

// A workspace for one kernel that scans.
struct Own {
  void *p[2];
  explicit Own(size_t bytes) {
    for (void *&each : p) {
      check(cudaMalloc(&each, bytes + 1), "cudaMalloc");
      check(cudaMemset(each, 0, bytes + 1), "cudaMemset");
    }
    check(cudaDeviceSynchronize(), "cudaMemset");
  }
  operator void *() const { return p[who]; }
};

inline uint64_t mix(uint64_t x) {
  x += run_seed;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

template <class T> std::vector<T> random_values(long long n, uint64_t seed) {
  std::vector<T> v(n);
  for (long long i = 0; i < n; i++) v[i] = (T)(mix(seed * 1000003 + i) % 1000003) / (T)7;
  return v;
}

// Whole numbers so small that their sums are exact in any order.
inline std::vector<float> small_values(long long n, uint64_t seed) {
  std::vector<float> v(n);
  for (long long i = 0; i < n; i++) v[i] = (float)(int)(mix(seed * 1000003 + i) % 8);
  return v;
}

typedef std::function<cudaError_t(const std::vector<Any> &in, Any out)> Launch;

// How near floats, or bf16s where they have 2 bytes, must come: a share of their value, or of `least`.
struct Near {
  float share = 0, least = 1e-6f;
  size_t bytes = 4;
};

inline float near_value(const unsigned char *at, size_t bytes) {
  uint32_t bits = 0;
  memcpy((unsigned char *)&bits + 4 - bytes, at, bytes);
  float value;
  memcpy(&value, &bits, 4);
  return value;
}

// Is the value that byte k belongs to near enough?
inline bool is_near(const Bytes &got, size_t from, const Bytes &want, size_t k, const Near &near) {
  if (near.share == 0) return false;
  k = k / near.bytes * near.bytes;
  const float a = near_value(&got[from + k], near.bytes), b = near_value(&want[k], near.bytes);
  return fabsf(a - b) <= near.share * fmaxf(fabsf(b), near.least);
}

// `mask` marks the bytes of `want` that the kernel must write; others (padding) may hold anything.
inline bool is_right(const Bytes &got, const Bytes &want, const Bytes &mask, size_t shift, const Near &near, const char *how) {
  bool good = true;
  for (size_t i = 0; i < got.size(); i++) {
    const bool inside = i >= kGuard + shift && i < kGuard + shift + want.size();
    const size_t k = i - kGuard - shift;
    if (inside ? mask[k] && got[i] != want[k] && !is_near(got, kGuard + shift, want, k, near) : got[i] != 0xa5) {
      if (good && shown++ < 5) {
        printf("  %s: byte %lld of %zu, arrays %zu bytes off: %02x instead of %02x\n", how, (long long)k, want.size(), shift, got[i],
               inside ? want[k] : 0xa5);
      }
      good = false;
    }
  }
  return good;
}

inline void launch_graph(const Launch &launch, const std::vector<Any> &in, Any out) {
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed), "capture");
  check(launch(in, out), "launch in a graph");
  check(cudaStreamEndCapture(stream, &graph), "capture");
  check(cudaGraphInstantiate(&exec, graph, 0), "cudaGraphInstantiate");
  check(cudaGraphLaunch(exec, stream), "cudaGraphLaunch");
  check(cudaStreamSynchronize(stream), "kernel in a graph");
  cudaGraphExecDestroy(exec);
  cudaGraphDestroy(graph);
}

// From two threads at once, each on a stream of its own.
inline void launch_twice(const Launch &launch, const std::vector<Any> &in, Any first, Any second) {
  static cudaStream_t other = nullptr;
  if (!other) check(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking), "cudaStreamCreate");
  std::thread thread([&] {
    stream = other;
    who = 1;
    check(launch(in, second), "launch of a second thread");
    check(cudaStreamSynchronize(stream), "kernel of a second thread");
  });
  check(launch(in, first), "launch beside another thread");
  check(cudaStreamSynchronize(stream), "kernel beside another thread");
  thread.join();
}

// On a stream, in a graph, and twice at once.
inline bool run_case(const std::vector<Bytes> &inputs, const Bytes &want, const Bytes &mask, size_t shift, const Launch &launch,
                     const Near &near = Near()) {
  std::vector<Buffer *> buffers;
  std::vector<Any> in;
  for (const Bytes &b : inputs) {
    buffers.push_back(new Buffer(b.size(), shift));
    if (!b.empty()) check(cudaMemcpy(buffers.back()->ptr(), b.data(), b.size(), cudaMemcpyHostToDevice), "cudaMemcpy");
    in.push_back(Any{buffers.back()->ptr()});
  }
  static const char *const how[] = {"on a stream", "in a graph", "from one of two threads", "from the other thread"};
  Buffer out[4] = {{want.size(), shift}, {want.size(), shift}, {want.size(), shift}, {want.size(), shift}};
  check(cudaDeviceSynchronize(), "cudaMemset");
  check(launch(in, Any{out[0].ptr()}), "launch");
  check(cudaStreamSynchronize(stream), "kernel");
  launch_graph(launch, in, Any{out[1].ptr()});
  launch_twice(launch, in, Any{out[2].ptr()}, Any{out[3].ptr()});
  bool good = true;
  for (int k = 0; k < 4; k++) good = is_right(out[k].all(), want, mask, shift, near, how[k]) && good;
  for (Buffer *b : buffers) delete b;
  return good;
}

template <class T> Bytes bytes_of(const std::vector<T> &v) {
  Bytes b(v.size() * sizeof(T));
  if (!b.empty()) memcpy(b.data(), v.data(), b.size());
  return b;
}

inline void report(const char *name, int n_cases, int n_bad) {
  printf("%-24s %3d cases  %s\n", name, n_cases, n_bad ? "WRONG" : "ok");
  failures += n_bad;
}

// One-dimensional kernels: `make(n, inputs, want, mask)` fills the case, `launch(in, out, n)` calls the header.
inline void run_1d(const char *name, size_t misalign, std::function<void(long long, std::vector<Bytes> &, Bytes &, Bytes &)> make,
                   std::function<cudaError_t(const std::vector<Any> &, Any, long long)> launch) {
  int n_bad = 0, n_cases = 0;
  for (long long n : kExtents) {
    for (size_t shift : {(size_t)0, misalign}) {
      std::vector<Bytes> inputs;
      Bytes want, mask;
      make(n, inputs, want, mask);
      if (mask.empty()) mask.assign(want.size(), 1);
      n_bad += !run_case(inputs, want, mask, shift, [&](const std::vector<Any> &in, Any out) { return launch(in, out, n); });
      n_cases++;
    }
  }
  report(name, n_cases, n_bad);
}

// Two-dimensional ones; extents up to `most`.
template <class Make, class Launch2>
void run_2d(const char *name, size_t misalign, long long most, Make make, Launch2 launch, const Near &near = Near()) {
  int n_bad = 0, n_cases = 0;
  for (long long rows : kExtents) {
    for (long long cols : kExtents) {
      for (size_t shift : {(size_t)0, misalign}) {
        if (rows > most || cols > most || rows * cols * 4 > kMost) continue;
        std::vector<Bytes> inputs;
        Bytes want;
        make(rows, cols, inputs, want);
        n_bad += !run_case(
            inputs, want, Bytes(want.size(), 1), shift, [&](const std::vector<Any> &in, Any out) { return launch(in, out, rows, cols); }, near);
        n_cases++;
      }
    }
  }
  report(name, n_cases, n_bad);
}

// `order[k]` is the dimension of the input that is dimension k of the output.
template <int N, class L> void run_permute(const char *name, const int (&order)[N], const std::vector<std::vector<long long>> &sizes, L launch) {
  int n_bad = 0, n_cases = 0;
  for (const std::vector<long long> &n : sizes) {
    long long all = 1, step[N]; // of the output, a dimension of the input on
    for (int k = N - 1; k >= 0; k--) {
      step[order[k]] = all;
      all *= n[order[k]];
    }
    const std::vector<float> a = random_values<float>(all, 12);
    std::vector<float> b(a.size());
    for (long long e = 0; e < all; e++) {
      long long rest = e, to = 0;
      for (int d = N - 1; d >= 0; d--) {
        to += rest % n[d] * step[d];
        rest /= n[d];
      }
      b[to] = a[e];
    }
    const Bytes want = bytes_of(b);
    for (size_t shift : {(size_t)0, sizeof(float)}) {
      n_bad += !run_case({bytes_of(a)}, want, Bytes(want.size(), 1), shift,
                         [&](const std::vector<Any> &in, Any out) { return launch(in[0], out, n.data()); });
      n_cases++;
    }
  }
  report(name, n_cases, n_bad);
}
const std::vector<std::vector<long long>> kSizes3 = {{0, 5, 7},   {1, 1, 1},    {31, 33, 65},  {64, 64, 64},   {3, 1000, 31},
                                                     {1000, 3, 33}, {257, 129, 2}, {5, 513, 509}, {511, 65, 67}};
const std::vector<std::vector<long long>> kSizes5 = {{3, 0, 5, 2, 7}, {1, 1, 1, 1, 1},   {3, 7, 31, 5, 13}, {8, 4, 32, 16, 12},
                                                     {2, 7, 300, 5, 125}, {33, 29, 3, 65, 2}, {1, 1, 1025, 1, 129}};
const std::vector<std::vector<long long>> kSizes6 = {{3, 0, 5, 2, 7, 4}, {1, 1, 1, 1, 1, 1},   {3, 5, 7, 11, 3, 13}, {4, 2, 8, 8, 4, 32},
                                                     {6, 25, 2, 30, 8, 17}, {5, 5, 9, 4, 24, 78}, {1, 1, 1, 1025, 1, 129}};

// Any bits: what is only moved may hold what is no number.
template <class T> std::vector<T> random_bits(long long n, uint64_t seed) {
  std::vector<T> v(n);
  for (long long i = 0; i < n; i++)
    for (size_t b = 0; b < sizeof(T); b += 8) {
      const uint64_t bits = mix(seed * 1000003 + i * 2 + b / 8);
      memcpy((unsigned char *)&v[i] + b, &bits, sizeof(T) - b < 8 ? sizeof(T) - b : 8);
    }
  return v;
}
struct Sixteen {
  uint64_t lo, hi;
};

template <class T, class L> void run_transpose(const char *name, L launch) {
  int n_bad = 0, n_cases = 0;
  for (long long rows : kExtents) {
    for (long long cols : kExtents) {
      for (size_t shift : {(size_t)0, sizeof(T)}) {
        if (rows * cols * (long long)sizeof(T) > kMost) continue;
        const std::vector<T> a = random_bits<T>(rows * cols, 3);
        std::vector<T> b(a.size());
        for (long long r = 0; r < rows; r++)
          for (long long c = 0; c < cols; c++) b[c * rows + r] = a[r * cols + c];
        const Bytes want = bytes_of(b);
        n_bad += !run_case({bytes_of(a)}, want, Bytes(want.size(), 1), shift, [&](const std::vector<Any> &in, Any out) {
          return launch(in[0], out, rows, cols);
        });
        n_cases++;
      }
    }
  }
  report(name, n_cases, n_bad);
}

#define TRANSPOSE_CASE(name, T) \
  CASE(name) { run_transpose<T>(#name, [](Any in, Any out, long long rows, long long cols) { return name(in, out, rows, cols, stream); }); }

// Records: field sizes, offsets in AoS, and the start of each field's section in SoA.
struct Layout {
  std::vector<size_t> bytes, offset;
  size_t record;
  size_t section(size_t f, long long n) const {
    size_t at = 0;
    for (size_t k = 0; k <= f; k++) {
      at = (at + bytes[k] - 1) / bytes[k] * bytes[k];
      if (k < f) at += bytes[k] * n;
    }
    return at;
  }
  size_t soa_bytes(long long n) const { return section(bytes.size() - 1, n) + bytes.back() * n; }
};
// Records of n f32 without gaps.
inline Layout words(int n) {
  Layout l;
  l.record = 4 * n;
  for (int k = 0; k < n; k++) {
    l.bytes.push_back(4);
    l.offset.push_back(4 * k);
  }
  return l;
}
const Layout kMixed = {{8, 4, 4, 2, 1}, {0, 8, 12, 16, 18}, 24};

enum Order { AOS, SOA, AOSOA32 };

inline void fill_records(const Layout &l, Order order, long long n, Bytes &data, Bytes &mask) {
  data.assign(order == SOA ? l.soa_bytes(n) : order == AOS ? l.record * n : (n + 31) / 32 * 32 * l.record, 0);
  mask.assign(data.size(), 0);
  for (size_t f = 0; f < l.bytes.size(); f++)
    for (long long i = 0; i < n; i++)
      for (size_t b = 0; b < l.bytes[f]; b++) {
        const size_t at = (order == SOA   ? l.section(f, n) + l.bytes[f] * i
                           : order == AOS ? l.record * i + l.offset[f]
                                          : i / 32 * 32 * l.record + 32 * l.offset[f] + i % 32 * l.bytes[f]) +
                          b;
        data[at] = (unsigned char)mix(f * 1000003 + i * 16 + b);
        mask[at] = 1;
      }
}

inline void run_records(const char *name, const Layout &l, Order order_in, Order order_out,
                        std::function<cudaError_t(Any, Any, long long)> launch) {
  run_1d(
      name, l.bytes[0],
      [&](long long n, std::vector<Bytes> &in, Bytes &want, Bytes &mask) {
        Bytes ignored;
        in.resize(1);
        fill_records(l, order_in, n, in[0], ignored);
        fill_records(l, order_out, n, want, mask);
      },
      [&](const std::vector<Any> &in, Any out, long long n) { return launch(in[0], out, n); });
}

#define COPY_CASE(name, fields, from, to) \
  CASE(name) { run_records(#name, fields, from, to, [](Any in, Any out, long long n) { return name(in, out, n, stream); }); }

// Every field of q is the sum of that of p and the one behind it, which for the last is the first.
inline void run_sums_of_fields(const char *name, int n_fields, std::function<cudaError_t(Any, Any, long long)> launch) {
  run_1d(
      name, 4,
      [&](long long n, std::vector<Bytes> &in, Bytes &want, Bytes &) {
        const std::vector<float> p = random_values<float>(n_fields * n, 21);
        std::vector<float> q(p.size());
        for (long long i = 0; i < n; i++)
          for (int f = 0; f < n_fields; f++) q[i * n_fields + f] = p[i * n_fields + f] + p[i * n_fields + (f + 1) % n_fields];
        in = {bytes_of(p)};
        want = bytes_of(q);
      },
      [&](const std::vector<Any> &in, Any out, long long n) { return launch(in[0], out, n); });
}

#define SUM_CASE(name, n_fields) \
  CASE(name) { run_sums_of_fields(#name, n_fields, [](Any in, Any out, long long n) { return name(in, out, n, stream); }); }

template <class T, class F> void run_gather(const char *name, int lanes, F launch) {
  run_1d(
      name, sizeof(T) * lanes,
      [&](long long n, std::vector<Bytes> &in, Bytes &want, Bytes &) {
        std::vector<int> pick(n);
        const std::vector<T> table = random_bits<T>(n * lanes, 9);
        std::vector<T> b(n * lanes);
        for (long long i = 0; i < n; i++) {
          pick[i] = (int)((i * 7919 + 13) % n);
          for (int k = 0; k < lanes; k++) b[i * lanes + k] = table[(long long)pick[i] * lanes + k];
        }
        in = {bytes_of(pick), bytes_of(table)};
        want = bytes_of(b);
      },
      launch);
}

#define GATHER_CASE(name, T, lanes) \
  CASE(name) { run_gather<T>(#name, lanes, [](const std::vector<Any> &in, Any out, long long n) { return name(in[0], in[1], out, n, n, stream); }); }

#define STRIDE_CASE(name, stride) \
  CASE(name) { \
    run_1d( \
        #name, 4, \
        [](long long n, std::vector<Bytes> &in, Bytes &want, Bytes &) { \
          std::vector<float> a = random_values<float>(stride * n, 4), b(n); \
          for (long long i = 0; i < n; i++) b[i] = a[stride * i]; \
          in = {bytes_of(a)}; \
          want = bytes_of(b); \
        }, \
        [](const std::vector<Any> &in, Any out, long long n) { return name(in[0], out, n, stream); }); \
  }

// One reduction of rows x cols: `place(r, c)` says where an element goes, of `n_out(rows, cols)` places.
template <class Place, class Count, class L>
void run_sum(const char *name, bool takes_max, Place place, Count n_out, L launch) {
  run_2d(
      name, 4, 1000,
      [&](long long rows, long long cols, std::vector<Bytes> &in, Bytes &want) {
        const std::vector<float> a = small_values(rows * cols, 18);
        std::vector<float> b(n_out(rows, cols), takes_max ? -INFINITY : 0.0f);
        for (long long r = 0; r < rows; r++)
          for (long long c = 0; c < cols; c++) {
            float &to = b[place(r, c)];
            to = takes_max ? fmaxf(to, a[r * cols + c]) : to + a[r * cols + c];
          }
        in = {bytes_of(a)};
        want = bytes_of(b);
      },
      launch);
}

// The bytes of floats, or of the bf16s nearest to them.
inline Bytes floats_as(const std::vector<float> &v, bool half) {
  if (!half) return bytes_of(v);
  std::vector<uint16_t> h(v.size());
  for (size_t i = 0; i < v.size(); i++) {
    uint32_t bits;
    memcpy(&bits, &v[i], 4);
    h[i] = (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
  }
  return bytes_of(h);
}

// A row of `cols` values: x[c], to be scaled by a[c] and moved by b[c].
typedef void Row(const float *x, const float *a, const float *b, float *y, long long cols);
static const float kEps = 1e-3f;

inline void softmax_row(const float *x, const float *, const float *, float *y, long long cols) {
  double most = -INFINITY, sum = 0;
  for (long long c = 0; c < cols; c++) most = fmax(most, x[c]);
  for (long long c = 0; c < cols; c++) sum += exp(x[c] - most);
  for (long long c = 0; c < cols; c++) y[c] = (float)(exp(x[c] - most) / sum);
}

inline void layer_norm_row(const float *x, const float *a, const float *b, float *y, long long cols) {
  double mean = 0, variance = 0;
  for (long long c = 0; c < cols; c++) mean += (double)x[c] / (double)cols;
  for (long long c = 0; c < cols; c++) variance += (x[c] - mean) * (x[c] - mean) / (double)cols;
  for (long long c = 0; c < cols; c++) y[c] = (float)((x[c] - mean) / sqrt(variance + kEps) * a[c] + b[c]);
}

inline void rms_norm_row(const float *x, const float *a, const float *, float *y, long long cols) {
  double square = 0;
  for (long long c = 0; c < cols; c++) square += (double)x[c] * x[c] / (double)cols;
  for (long long c = 0; c < cols; c++) y[c] = (float)(x[c] / sqrt(square + kEps) * a[c]);
}

// Rows of x, and n_columns arrays of an element a column, into rows of y.
template <class L> void run_rows(const char *name, bool half, int n_columns, Row *row, L launch) {
  Near near;
  near.share = half ? 1.6e-2f : 2e-4f;
  near.least = n_columns > 0 ? 0.1f : 1e-6f; // what cancels is as near as what it was made of
  near.bytes = half ? 2 : 4;
  run_2d(
      name, near.bytes, 4097,
      [&](long long rows, long long cols, std::vector<Bytes> &in, Bytes &want) {
        const std::vector<float> x = small_values(rows * cols, 26), a = small_values(cols, 27), b = small_values(cols, 28);
        std::vector<float> y(x.size());
        for (long long r = 0; r < rows; r++) row(x.data() + r * cols, a.data(), b.data(), y.data() + r * cols, cols);
        in = {floats_as(x, half), floats_as(a, half), floats_as(b, half)};
        in.resize(1 + n_columns);
        want = floats_as(y, half);
      },
      launch, near);
}

template <class L> void run_columns(const char *name, bool half, L launch) {
  Near near;
  near.share = half ? 1.6e-2f : 2e-4f;
  near.bytes = half ? 2 : 4;
  run_2d(
      name, near.bytes, 4097,
      [&](long long rows, long long cols, std::vector<Bytes> &in, Bytes &want) {
        const std::vector<float> x = small_values(rows * cols, 49);
        std::vector<float> y(x.size());
        for (long long c = 0; c < cols; c++) {
          double square = kEps;
          for (long long r = 0; r < rows; r++) square += (double)x[r * cols + c] * x[r * cols + c];
          for (long long r = 0; r < rows; r++) y[r * cols + c] = (float)(x[r * cols + c] / sqrt(square));
        }
        in = {floats_as(x, half)};
        want = floats_as(y, half);
      },
      launch, near);
}

// All elements are one row, which blocks share; 1 where there would be no norm.
template <class L> void run_frobenius(const char *name, L launch) {
  Near near;
  near.share = 2e-4f;
  run_2d(
      name, 4, 4097,
      [&](long long rows, long long cols, std::vector<Bytes> &in, Bytes &want) {
        std::vector<float> x = small_values(rows * cols, 51);
        if (!x.empty()) x[0] = 1.0f;
        double square = 0;
        for (const float value : x) square += (double)value * value;
        in = {floats_as(x, false)};
        for (float &value : x) value = (float)(value / sqrt(square));
        want = floats_as(x, false);
      },
      launch, near);
}

// x and a residual, which are updated in place and lie one after the other where the output does.
template <class L> void run_added_norm(const char *name, bool half, L launch) {
  Near near;
  near.share = half ? 1.6e-2f : 2e-4f;
  near.least = 0.1f;
  near.bytes = half ? 2 : 4;
  run_2d(
      name, near.bytes, 4097,
      [&](long long rows, long long cols, std::vector<Bytes> &in, Bytes &want) {
        const std::vector<float> x = small_values(rows * cols, 46), residual = small_values(rows * cols, 47), gamma = small_values(cols, 48);
        std::vector<float> both(2 * x.size());
        float *const sum = both.data() + x.size();
        for (size_t k = 0; k < x.size(); k++) sum[k] = x[k] + residual[k];
        for (long long r = 0; r < rows; r++) rms_norm_row(sum + r * cols, gamma.data(), nullptr, both.data() + r * cols, cols);
        in = {floats_as(gamma, half), floats_as(x, half), floats_as(residual, half)};
        want = floats_as(both, half);
      },
      [&](const std::vector<Any> &in, Any out, long long rows, long long cols) {
        const size_t bytes = rows * cols * near.bytes;
        const Any residual{(char *)out.p + bytes};
        cudaMemcpyAsync(out.p, in[1].p, bytes, cudaMemcpyDeviceToDevice, stream);
        cudaMemcpyAsync(residual.p, in[2].p, bytes, cudaMemcpyDeviceToDevice, stream);
        return launch(in[0], out, residual, rows, cols);
      },
      near);
}

// Rows in place of which about half are above the limit, and are scaled to it; the others stay bit by bit.
inline float clip_limit(long long cols) { return sqrtf(17.0f * (float)cols + 0.25f); }

template <class L> void run_clipped(const char *name, bool half, L launch) {
  Near near;
  near.share = half ? 1.6e-2f : 2e-4f;
  near.bytes = half ? 2 : 4;
  run_2d(
      name, near.bytes, 4097,
      [&](long long rows, long long cols, std::vector<Bytes> &in, Bytes &want) {
        std::vector<float> x = small_values(rows * cols, 81);
        in = {floats_as(x, half)};
        for (long long r = 0; r < rows; r++) {
          double square = 0;
          for (long long c = 0; c < cols; c++) square += (double)x[r * cols + c] * x[r * cols + c];
          const double share = clip_limit(cols) / sqrt(square);
          for (long long c = 0; c < cols && share < 1; c++) x[r * cols + c] = (float)(x[r * cols + c] * share);
        }
        want = floats_as(x, half);
      },
      [&](const std::vector<Any> &in, Any out, long long rows, long long cols) {
        cudaMemcpyAsync(out.p, in[0].p, rows * cols * near.bytes, cudaMemcpyDeviceToDevice, stream);
        return launch(out, rows, cols);
      },
      near);
}

// Rows as bytes with a scale a row; the scales lie after the bytes, from a multiple of 256 on. The largest magnitude
// becomes `largest`; `rounded` gives the byte of a scaled value.
template <class R, class L> void run_quantised(const char *name, bool half, float largest, R rounded, L launch) {
  const auto scales_at = [](long long rows, long long cols) { return (rows * cols + 255) / 256 * 256; };
  int n_bad = 0, n_cases = 0;
  for (long long rows : kExtents) {
    for (long long cols : kExtents) {
      if (rows * cols * 4 > kMost) continue;
      const std::vector<float> x = small_values(rows * cols, 29);
      Bytes want(scales_at(rows, cols) + rows * 4), mask(want.size(), 1);
      for (long long k = rows * cols; k < scales_at(rows, cols); k++) mask[k] = 0;
      for (long long r = 0; r < rows; r++) {
        float most = -INFINITY;
        for (long long c = 0; c < cols; c++) most = fmaxf(most, fabsf(x[r * cols + c]));
        const float scale = most / largest, inverse = most > 0 ? largest / most : 0.0f;
        for (long long c = 0; c < cols; c++) want[r * cols + c] = rounded(x[r * cols + c] * inverse);
        memcpy(&want[scales_at(rows, cols) + r * 4], &scale, 4);
      }
      n_bad += !run_case({floats_as(x, half)}, want, mask, 0, [&](const std::vector<Any> &in, Any out) {
        return launch(in, out, Any{(char *)out.p + scales_at(rows, cols)}, rows, cols);
      });
      n_cases++;
    }
  }
  report(name, n_cases, n_bad);
}

inline unsigned char rounded_i8(float x) { return (unsigned char)(int)rintf(x); }

#ifdef KERNEL_add_const_double3
CASE(add_const_double3) {
  run_1d(
      "add_const_double3", 8,
      [](long long n, std::vector<Bytes> &in, Bytes &want, Bytes &) {
        std::vector<double> a = random_values<double>(3 * n, 1), b(3 * n);
        for (long long i = 0; i < 3 * n; i++) b[i] = a[i] + 2.5;
        in = {bytes_of(a)};
        want = bytes_of(b);
      },
      [](const std::vector<Any> &in, Any out, long long n) { return add_const_double3(in[0], out, 2.5, n, stream); });
}
#endif

#ifdef KERNEL_float3_increment
CASE(float3_increment) {
  run_1d(
      "float3_increment", 4,
      [](long long n, std::vector<Bytes> &in, Bytes &want, Bytes &) {
        std::vector<float> a = random_values<float>(3 * n, 2), b(3 * n);
        for (long long i = 0; i < 3 * n; i++) b[i] = a[i] + 1.0f;
        in = {bytes_of(a)};
        want = bytes_of(b);
      },
      [](const std::vector<Any> &in, Any out, long long n) { return float3_increment(in[0], out, n, stream); });
}
#endif

#ifdef KERNEL_stride3
STRIDE_CASE(stride3, 3)
#endif

#ifdef KERNEL_stride2
STRIDE_CASE(stride2, 2)
#endif

#ifdef KERNEL_stride8
STRIDE_CASE(stride8, 8)
#endif

#ifdef KERNEL_shifted
CASE(shifted) {
  run_1d(
      "shifted", 4,
      [](long long n, std::vector<Bytes> &in, Bytes &want, Bytes &) {
        std::vector<float> a = random_values<float>(n + 1, 5), b(n);
        for (long long i = 0; i < n; i++) b[i] = a[i + 1];
        in = {bytes_of(a)};
        want = bytes_of(b);
      },
      [](const std::vector<Any> &in, Any out, long long n) { return shifted(in[0], out, n, stream); });
}
#endif

#ifdef KERNEL_shifted_u8
CASE(shifted_u8) {
  run_1d(
      "shifted_u8", 1,
      [](long long n, std::vector<Bytes> &in, Bytes &want, Bytes &) {
        in = {bytes_of(random_values<unsigned char>(n + 1, 11))};
        want.assign(in[0].begin() + 1, in[0].end());
      },
      [](const std::vector<Any> &in, Any out, long long n) { return shifted_u8(in[0], out, n, stream); });
}
#endif

#ifdef KERNEL_saxpy_in_place
CASE(saxpy_in_place) {
  run_1d(
      "saxpy_in_place", 4,
      [](long long n, std::vector<Bytes> &in, Bytes &want, Bytes &) {
        const std::vector<float> y = random_values<float>(n, 31), x = random_values<float>(n, 32);
        std::vector<float> sum(n);
        for (long long i = 0; i < n; i++) sum[i] = fmaf(3.0f, y[i], x[i]);
        in = {bytes_of(y), bytes_of(x)};
        want = bytes_of(sum);
      },
      [](const std::vector<Any> &in, Any out, long long n) {
        cudaMemcpyAsync((float *)out, (const float *)in[1], n * 4, cudaMemcpyDeviceToDevice, stream);
        return saxpy_in_place(in[0], out, 3.0f, n, stream);
      });
}
#endif

#ifdef KERNEL_histogram
CASE(histogram) { // what the bins held before does not matter
  run_1d(
      "histogram", 4,
      [](long long n, std::vector<Bytes> &in, Bytes &want, Bytes &) {
        std::vector<int> key(n);
        std::vector<unsigned> bins(300);
        for (long long i = 0; i < n; i++) {
          key[i] = (int)(mix(71 + i) % 4 == 0 ? 299 : mix(72 + i) % 300);
          bins[key[i]]++;
        }
        in = {bytes_of(key)};
        want = bytes_of(bins);
      },
      [](const std::vector<Any> &in, Any out, long long n) { return histogram(in[0], out, n, 300, stream); });
}
#endif

#ifdef KERNEL_binned_sums
CASE(binned_sums) { // what the sums held before does not matter
  run_1d(
      "binned_sums", 4,
      [](long long n, std::vector<Bytes> &in, Bytes &want, Bytes &) {
        const std::vector<float> x = small_values(n, 76);
        std::vector<int> key(n);
        std::vector<float> total(200);
        for (long long i = 0; i < n; i++) {
          key[i] = (int)(mix(77 + i) % 4 == 0 ? 199 : mix(78 + i) % 200);
          total[key[i]] += x[i];
        }
        in = {bytes_of(key), bytes_of(x)};
        want = bytes_of(total);
      },
      [](const std::vector<Any> &in, Any out, long long n) {
        return binned_sums(in[0], in[1], out, n, 200, workspace(binned_sums_workspace_bytes()), stream);
      });
}
#endif

#ifdef KERNEL_scatter_add_rows
CASE(scatter_add_rows) {
  run_2d(
      "scatter_add_rows", 4, 1 << 20,
      [](long long rows, long long cols, std::vector<Bytes> &in, Bytes &want) {
        const std::vector<float> x = small_values(rows * cols, 81), before = small_values(19 * cols, 82);
        std::vector<float> y = before;
        std::vector<int> pick(rows);
        for (long long i = 0; i < rows; i++) {
          pick[i] = (int)(mix(83 + i) % 19);
          for (long long j = 0; j < cols; j++) y[pick[i] * cols + j] += x[i * cols + j];
        }
        in = {bytes_of(pick), bytes_of(x), bytes_of(before)};
        want = bytes_of(y);
      },
      [](const std::vector<Any> &in, Any out, long long rows, long long cols) {
        cudaMemcpyAsync((float *)out, (const float *)in[2], 19 * cols * 4, cudaMemcpyDeviceToDevice, stream);
        return scatter_add_rows(in[0], in[1], out, rows, cols, 19, stream);
      });
}
#endif

#ifdef KERNEL_scatter_add
CASE(scatter_add) {
  run_1d(
      "scatter_add", 4,
      [](long long n, std::vector<Bytes> &in, Bytes &want, Bytes &) {
        const std::vector<float> x = small_values(n, 73), before = small_values(77, 74);
        std::vector<float> y = before;
        std::vector<int> pick(n);
        for (long long i = 0; i < n; i++) {
          pick[i] = (int)(mix(75 + i) % 77);
          y[pick[i]] += x[i];
        }
        in = {bytes_of(pick), bytes_of(x), bytes_of(before)};
        want = bytes_of(y);
      },
      [](const std::vector<Any> &in, Any out, long long n) {
        cudaMemcpyAsync((float *)out, (const float *)in[2], 77 * 4, cudaMemcpyDeviceToDevice, stream);
        return scatter_add(in[0], in[1], out, n, 77, stream);
      });
}
#endif

#ifdef KERNEL_clamp_negatives
CASE(clamp_negatives) {
  run_1d(
      "clamp_negatives", 4,
      [](long long n, std::vector<Bytes> &in, Bytes &want, Bytes &) {
        std::vector<float> x = random_values<float>(n, 33);
        for (long long i = 0; i < n; i++) x[i] = i % 3 == 0 ? -x[i] : x[i];
        in = {bytes_of(x)};
        for (float &v : x) v = v < 0 ? 0 : v;
        want = bytes_of(x);
      },
      [](const std::vector<Any> &in, Any out, long long n) {
        cudaMemcpyAsync((float *)out, (const float *)in[0], n * 4, cudaMemcpyDeviceToDevice, stream);
        return clamp_negatives(out, n, stream);
      });
}
#endif

#ifdef KERNEL_broadcast
CASE(broadcast) {
  run_1d(
      "broadcast", 4,
      [](long long n, std::vector<Bytes> &in, Bytes &want, Bytes &) {
        std::vector<float> a = random_values<float>(n, 6), w = random_values<float>((n + 31) / 32, 7), b(n);
        for (long long i = 0; i < n; i++) b[i] = a[i] * w[i / 32];
        in = {bytes_of(a), bytes_of(w)};
        want = bytes_of(b);
      },
      [](const std::vector<Any> &in, Any out, long long n) {
        return broadcast(in[0], in[1], out, n, stream);
      });
}
#endif

#ifdef KERNEL_mixed_aos_to_soa
COPY_CASE(mixed_aos_to_soa, kMixed, AOS, SOA)
#endif

#ifdef KERNEL_mixed_soa_to_aos
COPY_CASE(mixed_soa_to_aos, kMixed, SOA, AOS)
#endif

#ifdef KERNEL_particle_energy
CASE(particle_energy) {
  run_1d(  // in whatever layout the tuner chose, by the header's own packing
      "particle_energy", 4,
      [](long long n, std::vector<Bytes> &in, Bytes &want, Bytes &) {
        const std::vector<float> values = random_values<float>(7 * n, 13);
        std::vector<particle_energy_particle> p(n), back(n);
        std::vector<float> e(n);
        for (long long i = 0; i < n; i++) {
          memcpy(&p[i], &values[7 * i], sizeof(particle_energy_particle));
          e[i] = 0.5f * p[i].m * fmaf(p[i].vx, p[i].vx, fmaf(p[i].vy, p[i].vy, p[i].vz * p[i].vz));
        }
        in.assign(1, Bytes(particle_energy_layout_p::bytes(n)));
        const bool packed = particle_energy_layout_p::pack(in[0].data(), p.data(), n) &&
                            particle_energy_layout_p::unpack(back.data(), in[0].data(), n);
        if (!packed || (n > 0 && memcmp(back.data(), p.data(), n * sizeof(particle_energy_particle)) != 0)) {
          printf("  %lld particles: unpack() does not undo pack()\n", n);
          failures++;
        }
        want = bytes_of(e);
      },
      [](const std::vector<Any> &in, Any out, long long n) { return particle_energy(in[0], out, n, stream); });
}
#endif

#ifdef KERNEL_scatter_f32
CASE(scatter_f32) {
  run_1d(
      "scatter_f32", 4,
      [](long long n, std::vector<Bytes> &in, Bytes &want, Bytes &) {
        std::vector<int> pick(n);
        const std::vector<float> a = random_values<float>(n, 14);
        std::vector<float> b(n);
        for (long long i = 0; i < n; i++) {
          pick[i] = (int)(n - 1 - i);
          b[pick[i]] = a[i];
        }
        in = {bytes_of(pick), bytes_of(a)};
        want = bytes_of(b);
      },
      [](const std::vector<Any> &in, Any out, long long n) { return scatter_f32(in[0], in[1], out, n, n, stream); });
}
#endif

#ifdef KERNEL_crop_f32
CASE(crop_f32) {
  run_2d(
      "crop_f32", 4, 4097,
      [](long long rows, long long cols, std::vector<Bytes> &in, Bytes &want) {
        const std::vector<float> a = random_values<float>((rows + 2) * (cols + 5), 15);
        std::vector<float> b(rows * cols);
        for (long long r = 0; r < rows; r++)
          for (long long c = 0; c < cols; c++) b[r * cols + c] = a[(r + 1) * (cols + 5) + c + 3];
        in = {bytes_of(a)};
        want = bytes_of(b);
      },
      [](const std::vector<Any> &in, Any out, long long rows, long long cols) { return crop_f32(in[0], out, rows, cols, stream); });
}
#endif

#ifdef KERNEL_stencil2d_f32
CASE(stencil2d_f32) {
  run_2d(
      "stencil2d_f32", 4, 4097,
      [](long long rows, long long cols, std::vector<Bytes> &in, Bytes &want) {
        const std::vector<float> a = random_values<float>(rows * cols, 16);
        std::vector<float> b(rows * cols);
        const auto at = [&](long long r, long long c) {
          r = r < 0 ? 0 : r < rows ? r : rows - 1;
          c = c < 0 ? 0 : c < cols ? c : cols - 1;
          return a[r * cols + c];
        };
        for (long long r = 0; r < rows; r++)
          for (long long c = 0; c < cols; c++) {
            const float around = at(r - 1, c) + at(r + 1, c) + at(r, c - 1) + at(r, c + 1);
            b[r * cols + c] = fmaf(0.25f, fmaf(-4.0f, at(r, c), around), at(r, c));
          }
        in = {bytes_of(a)};
        want = bytes_of(b);
      },
      [](const std::vector<Any> &in, Any out, long long rows, long long cols) {
        return stencil2d_f32(in[0], out, 0.25f, rows, cols, stream);
      });
}
#endif

#ifdef KERNEL_gather_rows256
CASE(gather_rows256) {
  run_2d(
      "gather_rows256", 4, 1000,
      [](long long rows, long long cols, std::vector<Bytes> &in, Bytes &want) {
        std::vector<int> pick(rows);
        const std::vector<float> table = random_values<float>(rows * cols, 17);
        std::vector<float> b(rows * cols);
        for (long long r = 0; r < rows; r++) {
          pick[r] = (int)((r * 7919 + 13) % rows);
          for (long long c = 0; c < cols; c++) b[r * cols + c] = table[pick[r] * cols + c];
        }
        in = {bytes_of(pick), bytes_of(table)};
        want = bytes_of(b);
      },
      [](const std::vector<Any> &in, Any out, long long rows, long long cols) {
        return gather_rows256(in[0], in[1], out, rows, cols, rows, stream);
      });
}
#endif

#ifdef KERNEL_paged_gather
CASE(paged_gather) { // of 3 sequences, whose rows of the table are 5; no page is anybody's alone
  run_2d(
      "paged_gather", 4, 1000, // what holds indices is aligned to them
      [](long long n_pos, long long n_d, std::vector<Bytes> &in, Bytes &want) {
        const long long blocks = (n_pos + 15) / 16, pages = 2 * blocks + 1;
        const std::vector<int> request = {4, 0, 2};
        std::vector<int> page(5 * blocks);
        const std::vector<uint16_t> cache = random_bits<uint16_t>(pages * 16 * n_d, 18);
        std::vector<uint16_t> keys(3 * n_pos * n_d);
        for (size_t k = 0; k < page.size(); k++) page[k] = (int)(mix(19 + k) % pages);
        for (long long seq = 0; seq < 3; seq++)
          for (long long pos = 0; pos < n_pos; pos++)
            for (long long d = 0; d < n_d; d++) {
              const long long at = page[request[seq] * blocks + pos / 16];
              keys[(seq * n_pos + pos) * n_d + d] = cache[(at * 16 + pos % 16) * n_d + d];
            }
        in = {bytes_of(request), bytes_of(page), bytes_of(cache)};
        want = bytes_of(keys);
      },
      [](const std::vector<Any> &in, Any out, long long n_pos, long long n_d) {
        return paged_gather(in[0], in[1], in[2], out, 3, n_pos, n_d, 5, 2 * ((n_pos + 15) / 16) + 1, stream);
      });
}
#endif

#ifdef KERNEL_d3q19_step
// One cell after a step, by the definition: what arrives from 19 sides, relaxed.
inline void d3q19_cell(const std::vector<float> &a, const long long *n, long long z, long long y, long long x, float *b) {
  double p[19], rho = 0, u[3] = {0, 0, 0};
  int c[19][3], q = 0;
  for (int k = 0; k < 27; k++) {
    const int d[3] = {k / 9 - 1, k / 3 % 3 - 1, k % 3 - 1};
    if (d[0] * d[0] + d[1] * d[1] + d[2] * d[2] == 3) continue;
    const long long from = (((z - d[0] + n[0]) % n[0]) * n[1] + (y - d[1] + n[1]) % n[1]) * n[2] + (x - d[2] + n[2]) % n[2];
    p[q] = a[from * 19 + q];
    rho += p[q];
    for (int axis = 0; axis < 3; axis++) {
      c[q][axis] = d[axis];
      u[axis] += d[axis] * p[q];
    }
    q++;
  }
  for (q = 0; q < 19; q++) {
    double along = 0, square = 0, length = 0;
    for (int axis = 0; axis < 3; axis++) {
      along += c[q][axis] * u[axis] / rho;
      square += u[axis] / rho * u[axis] / rho;
      length += c[q][axis] * c[q][axis];
    }
    const double weight = length == 0 ? 1.0 / 3 : length == 1 ? 1.0 / 18 : 1.0 / 36;
    b[q] = (float)(p[q] + 0.6f * (weight * rho * (1 - 1.5 * square + along * (3 + 4.5 * along)) - p[q]));
  }
}

CASE(d3q19_step) { // both buffers in the layout that the tuner chose, by the header's own packing
  Near near;
  near.share = 1e-4f;
  int n_bad = 0, n_cases = 0;
  for (const std::vector<long long> &n : kSizes3) {
    const long long cells = n[0] * n[1] * n[2];
    if (cells > 300000) continue;
    std::vector<float> a(19 * cells), b(19 * cells), ones(19 * cells);
    for (size_t k = 0; k < a.size(); k++) a[k] = 0.5f + (float)(mix(91 + k) % 1000) / 1000;
    for (long long k = 0; k < cells; k++)
      d3q19_cell(a, n.data(), k / (n[1] * n[2]), k / n[2] % n[1], k % n[2], &b[19 * k]);
    memset(ones.data(), 0xff, ones.size() * 4);
    const auto packed = [&](const std::vector<float> &cells_of) {
      Bytes to(d3q19_step_layout_a::bytes(n[0], n[1], n[2]));
      d3q19_step_layout_a::pack(to.data(), (const d3q19_step_cell *)cells_of.data(), n[0], n[1], n[2]);
      return to;
    };
    Bytes mask = packed(ones);
    n_bad += !run_case({packed(a)}, packed(b), mask, 0, [&](const std::vector<Any> &in, Any out) {
      return d3q19_step(in[0], out, 0.6f, n[0], n[1], n[2], stream);
    }, near);
    n_cases++;
  }
  report("d3q19_step", n_cases, n_bad);
}
#endif

#ifdef KERNEL_permute_021_f32
CASE(permute_021_f32) {
  run_permute("permute_021_f32", {0, 2, 1}, kSizes3,
              [](Any in, Any out, const long long *n) { return permute_021_f32(in, out, n[0], n[1], n[2], stream); });
}
#endif

#ifdef KERNEL_permute_102_f32
CASE(permute_102_f32) {
  run_permute("permute_102_f32", {1, 0, 2}, kSizes3,
              [](Any in, Any out, const long long *n) { return permute_102_f32(in, out, n[0], n[1], n[2], stream); });
}
#endif

#ifdef KERNEL_permute_210_f32
CASE(permute_210_f32) {
  run_permute("permute_210_f32", {2, 1, 0}, kSizes3,
              [](Any in, Any out, const long long *n) { return permute_210_f32(in, out, n[0], n[1], n[2], stream); });
}
#endif

#ifdef KERNEL_permute5_f32
CASE(permute5_f32) {
  run_permute("permute5_f32", {4, 2, 0, 3, 1}, kSizes5,
              [](Any in, Any out, const long long *n) { return permute5_f32(in, out, n[0], n[1], n[2], n[3], n[4], stream); });
}
#endif

#ifdef KERNEL_permute6_f32
CASE(permute6_f32) {
  run_permute("permute6_f32", {2, 5, 0, 4, 1, 3}, kSizes6,
              [](Any in, Any out, const long long *n) { return permute6_f32(in, out, n[0], n[1], n[2], n[3], n[4], n[5], stream); });
}
#endif

#ifdef KERNEL_transpose_f32
TRANSPOSE_CASE(transpose_f32, float)
#endif

#ifdef KERNEL_transpose_own
TRANSPOSE_CASE(transpose_own, float)
#endif

#ifdef KERNEL_transpose_f64
TRANSPOSE_CASE(transpose_f64, double)
#endif

#ifdef KERNEL_transpose_u8
TRANSPOSE_CASE(transpose_u8, unsigned char)
#endif

#ifdef KERNEL_transpose_f32x2
TRANSPOSE_CASE(transpose_f32x2, uint64_t)
#endif

#ifdef KERNEL_transpose_f32x4
TRANSPOSE_CASE(transpose_f32x4, Sixteen)
#endif

#ifdef KERNEL_transpose_f16
CASE(transpose_f16) {
  run_transpose<unsigned short>("transpose_f16", [](Any in, Any out, long long rows, long long cols) {
    return transpose_f16(in.p, out.p, rows, cols, stream);
  });
}
#endif

#ifdef KERNEL_particle_aos_to_soa
COPY_CASE(particle_aos_to_soa, words(7), AOS, SOA)
#endif

#ifdef KERNEL_particle_soa_to_aos
COPY_CASE(particle_soa_to_aos, words(7), SOA, AOS)
#endif

#ifdef KERNEL_particle_aos_to_aos
COPY_CASE(particle_aos_to_aos, words(7), AOS, AOS)
#endif

#ifdef KERNEL_record12_aos_to_soa
COPY_CASE(record12_aos_to_soa, words(3), AOS, SOA)
#endif

#ifdef KERNEL_record12_soa_to_aos
COPY_CASE(record12_soa_to_aos, words(3), SOA, AOS)
#endif

#ifdef KERNEL_record20_aos_to_soa
COPY_CASE(record20_aos_to_soa, words(5), AOS, SOA)
#endif

#ifdef KERNEL_record20_soa_to_aos
COPY_CASE(record20_soa_to_aos, words(5), SOA, AOS)
#endif

#ifdef KERNEL_record24_aos_to_soa
COPY_CASE(record24_aos_to_soa, words(6), AOS, SOA)
#endif

#ifdef KERNEL_record24_soa_to_aos
COPY_CASE(record24_soa_to_aos, words(6), SOA, AOS)
#endif

#ifdef KERNEL_record36_aos_to_soa
COPY_CASE(record36_aos_to_soa, words(9), AOS, SOA)
#endif

#ifdef KERNEL_record36_soa_to_aos
COPY_CASE(record36_soa_to_aos, words(9), SOA, AOS)
#endif

#ifdef KERNEL_record48_aos_to_soa
COPY_CASE(record48_aos_to_soa, words(12), AOS, SOA)
#endif

#ifdef KERNEL_record48_soa_to_aos
COPY_CASE(record48_soa_to_aos, words(12), SOA, AOS)
#endif

#ifdef KERNEL_record64_aos_to_soa
COPY_CASE(record64_aos_to_soa, words(16), AOS, SOA)
#endif

#ifdef KERNEL_record64_soa_to_aos
COPY_CASE(record64_soa_to_aos, words(16), SOA, AOS)
#endif

#ifdef KERNEL_particle_aos_to_aosoa
COPY_CASE(particle_aos_to_aosoa, words(7), AOS, AOSOA32)
#endif

#ifdef KERNEL_particle_aosoa_to_aos
COPY_CASE(particle_aosoa_to_aos, words(7), AOSOA32, AOS)
#endif

#ifdef KERNEL_particle_aosoa_to_soa
COPY_CASE(particle_aosoa_to_soa, words(7), AOSOA32, SOA)
#endif

#ifdef KERNEL_particle_soa_to_aosoa
COPY_CASE(particle_soa_to_aosoa, words(7), SOA, AOSOA32)
#endif

#ifdef KERNEL_record12_aos_to_aos
SUM_CASE(record12_aos_to_aos, 3)
#endif

#ifdef KERNEL_record20_aos_to_aos
SUM_CASE(record20_aos_to_aos, 5)
#endif

#ifdef KERNEL_record24_aos_to_aos
SUM_CASE(record24_aos_to_aos, 6)
#endif

#ifdef KERNEL_record28_aos_to_aos
SUM_CASE(record28_aos_to_aos, 7)
#endif

#ifdef KERNEL_record36_aos_to_aos
SUM_CASE(record36_aos_to_aos, 9)
#endif

#ifdef KERNEL_record48_aos_to_aos
SUM_CASE(record48_aos_to_aos, 12)
#endif

#ifdef KERNEL_record64_aos_to_aos
SUM_CASE(record64_aos_to_aos, 16)
#endif

#ifdef KERNEL_indirect_f32
GATHER_CASE(indirect_f32, float, 1)
#endif

#ifdef KERNEL_indirect_f64
GATHER_CASE(indirect_f64, double, 1)
#endif

#ifdef KERNEL_gather_rows12
GATHER_CASE(gather_rows12, float, 3)
#endif

#ifdef KERNEL_gather_rows16
GATHER_CASE(gather_rows16, float, 4)
#endif

#ifdef KERNEL_gather_rows32
GATHER_CASE(gather_rows32, float, 8)
#endif

#ifdef KERNEL_gather_rows64
GATHER_CASE(gather_rows64, float, 16)
#endif

#ifdef KERNEL_gather_rows4k
CASE(gather_rows4k) {
  run_2d(
      "gather_rows4k", 4, 4097,
      [](long long rows, long long cols, std::vector<Bytes> &in, Bytes &want) {
        std::vector<int> pick(rows);
        const std::vector<float> table = random_values<float>(rows * cols, 22);
        std::vector<float> b(rows * cols);
        for (long long r = 0; r < rows; r++) {
          pick[r] = (int)((r * 7919 + 13) % rows);
          for (long long c = 0; c < cols; c++) b[r * cols + c] = table[pick[r] * cols + c];
        }
        in = {bytes_of(pick), bytes_of(table)};
        want = bytes_of(b);
      },
      [](const std::vector<Any> &in, Any out, long long rows, long long cols) {
        return gather_rows4k(in[0], in[1], out, rows, cols, rows, stream);
      });
}
#endif

#ifdef KERNEL_scatter_rows256
CASE(scatter_rows256) {
  run_2d(
      "scatter_rows256", 4, 1000,
      [](long long rows, long long cols, std::vector<Bytes> &in, Bytes &want) {
        std::vector<int> pick(rows);
        const std::vector<float> a = random_values<float>(rows * cols, 23);
        std::vector<float> b(rows * cols);
        for (long long r = 0; r < rows; r++) {
          pick[r] = (int)(rows - 1 - r);
          for (long long c = 0; c < cols; c++) b[pick[r] * cols + c] = a[r * cols + c];
        }
        in = {bytes_of(pick), bytes_of(a)};
        want = bytes_of(b);
      },
      [](const std::vector<Any> &in, Any out, long long rows, long long cols) {
        return scatter_rows256(in[0], in[1], out, rows, cols, rows, stream);
      });
}
#endif

#ifdef KERNEL_scatter_f32x4
CASE(scatter_f32x4) {
  run_1d(
      "scatter_f32x4", 16,
      [](long long n, std::vector<Bytes> &in, Bytes &want, Bytes &) {
        std::vector<int> pick(n);
        const std::vector<Sixteen> a = random_bits<Sixteen>(n, 24);
        std::vector<Sixteen> b(n);
        for (long long i = 0; i < n; i++) {
          pick[i] = (int)(n - 1 - i);
          b[pick[i]] = a[i];
        }
        in = {bytes_of(pick), bytes_of(a)};
        want = bytes_of(b);
      },
      [](const std::vector<Any> &in, Any out, long long n) { return scatter_f32x4(in[0], in[1], out, n, n, stream); });
}
#endif

#ifdef KERNEL_max_pool2d
CASE(max_pool2d) {
  int n_bad = 0, n_cases = 0;
  for (const std::vector<long long> &n : kSizes3) {
    const long long rows = std::max(2 * n[1] - 1, 0LL), cols = std::max(2 * n[2] - 1, 0LL);
    const std::vector<float> x = random_values<float>(n[0] * rows * cols, 26);
    std::vector<float> y;
    for (long long at = 0; at < n[0] * n[1] * n[2]; at++) {
      const long long image = at / (n[1] * n[2]), h = at / n[2] % n[1], w = at % n[2];
      float most = -INFINITY;
      for (long long r = std::max(2 * h - 1, 0LL); r <= std::min(2 * h + 1, rows - 1); r++)
        for (long long c = std::max(2 * w - 1, 0LL); c <= std::min(2 * w + 1, cols - 1); c++)
          most = std::max(most, x[(image * rows + r) * cols + c]);
      y.push_back(most);
    }
    const Bytes want = bytes_of(y);
    for (size_t shift : {(size_t)0, sizeof(float)}) {
      n_bad += !run_case({bytes_of(x)}, want, Bytes(want.size(), 1), shift, [&](const std::vector<Any> &in, Any out) {
        return max_pool2d(in[0], out, n[0], n[1], n[2], stream);
      });
      n_cases++;
    }
  }
  report("max_pool2d", n_cases, n_bad);
}
#endif

#ifdef KERNEL_pool_logsumexp
CASE(pool_logsumexp) {
  int n_bad = 0, n_cases = 0;
  Near near;
  near.share = 2e-4f;
  for (const std::vector<long long> &n : kSizes3) { // channels, rows, columns; two planes
    const long long c = n[0], h = n[1], w = n[2];
    const std::vector<float> x = small_values(c * 4 * 2 * h * 2 * w, 27);
    std::vector<float> y;
    for (long long at = 0; at < 2 * h * w; at++) {
      const long long d = at / (h * w), row = at / w % h, col = at % w;
      std::vector<double> pooled;
      for (long long k = 0; k < c; k++) {
        double most = -INFINITY;
        for (int e = 0; e < 8; e++)
          most = std::max(most, (double)x[((k * 4 + 2 * d + e / 4) * 2 * h + 2 * row + e / 2 % 2) * 2 * w + 2 * col + e % 2]);
        pooled.push_back(most);
      }
      double m = -INFINITY, t = 0;
      for (double p : pooled) m = std::max(m, p);
      for (double p : pooled) t += exp(p - m);
      y.push_back((float)(m + log(t)));
    }
    n_bad += !run_case({bytes_of(x)}, bytes_of(y), Bytes(y.size() * 4, 1), 0,
                       [&](const std::vector<Any> &in, Any out) { return pool_logsumexp(in[0], out, 1, c, 2, h, w, stream); }, near);
    n_cases++;
  }
  report("pool_logsumexp", n_cases, n_bad);
}
#endif

#ifdef KERNEL_stencil3d_f32
CASE(stencil3d_f32) {
  int n_bad = 0, n_cases = 0;
  for (const std::vector<long long> &n : kSizes3) {
    const std::vector<float> a = random_values<float>(n[0] * n[1] * n[2], 25);
    std::vector<float> b(a.size());
    const auto at = [&](long long z, long long y, long long x) {
      const bool inside = z >= 0 && z < n[0] && y >= 0 && y < n[1] && x >= 0 && x < n[2];
      return inside ? a[(z * n[1] + y) * n[2] + x] : 0.0f;
    };
    for (long long z = 0; z < n[0]; z++)
      for (long long y = 0; y < n[1]; y++)
        for (long long x = 0; x < n[2]; x++) {
          const float around = at(z - 1, y, x) + at(z + 1, y, x) + at(z, y - 1, x) + at(z, y + 1, x) + at(z, y, x - 1) + at(z, y, x + 1);
          b[(z * n[1] + y) * n[2] + x] = fmaf(0.25f, fmaf(-6.0f, at(z, y, x), around), at(z, y, x));
        }
    const Bytes want = bytes_of(b);
    for (size_t shift : {(size_t)0, sizeof(float)}) {
      n_bad += !run_case({bytes_of(a)}, want, Bytes(want.size(), 1), shift, [&](const std::vector<Any> &in, Any out) {
        return stencil3d_f32(in[0], out, 0.25f, n[0], n[1], n[2], stream);
      });
      n_cases++;
    }
  }
  report("stencil3d_f32", n_cases, n_bad);
}
#endif

#ifdef KERNEL_sum_rows_f32
CASE(sum_rows_f32) {
  run_sum(
      "sum_rows_f32", false, [](long long r, long long c) { return (void)c, r; },
      [](long long rows, long long cols) { return (void)cols, rows; },
      [](const std::vector<Any> &in, Any out, long long rows, long long cols) { return sum_rows_f32(in[0], out, rows, cols, workspace(sum_rows_f32_workspace_bytes()), stream); });
}
#endif

#ifdef KERNEL_max_rows_f32
CASE(max_rows_f32) {
  run_sum(
      "max_rows_f32", true, [](long long r, long long c) { return (void)c, r; },
      [](long long rows, long long cols) { return (void)cols, rows; },
      [](const std::vector<Any> &in, Any out, long long rows, long long cols) { return max_rows_f32(in[0], out, rows, cols, workspace(max_rows_f32_workspace_bytes()), stream); });
}
#endif

#ifdef KERNEL_row_argmax
CASE(row_argmax) {
  // the values lie after the indices, from a multiple of 256 bytes on
  const auto values_at = [](long long rows) { return (rows * 4 + 255) / 256 * 256; };
  run_2d(
      "row_argmax", 4, 1000,
      [&](long long rows, long long cols, std::vector<Bytes> &in, Bytes &want) {
        const std::vector<float> a = small_values(rows * cols, 31);
        want.assign(values_at(rows) + rows * 4, 0xa5);
        for (long long r = 0; r < rows; r++) {
          int at = -1;
          float top = -INFINITY;
          for (long long c = 0; c < cols; c++) {
            if (at < 0 || a[r * cols + c] > top) {
              at = (int)c;
              top = a[r * cols + c];
            }
          }
          memcpy(&want[r * 4], &at, 4);
          memcpy(&want[values_at(rows) + r * 4], &top, 4);
        }
        in = {bytes_of(a)};
      },
      [&](const std::vector<Any> &in, Any out, long long rows, long long cols) {
        return row_argmax(in[0], out, Any{(char *)out.p + values_at(rows)}, rows, cols, workspace(row_argmax_workspace_bytes()), stream);
      });
}
#endif

// Sums of whole numbers that floats hold: exact in any order.
inline void running_sums(const float *a, float *o, long long n) {
  float sum = 0;
  for (long long k = 0; k < n; k++) o[k] = sum += a[k];
}

#ifdef KERNEL_prefix_sum
CASE(prefix_sum) {
  int n_bad = 0, n_cases = 0;
  const Own own(prefix_sum_workspace_bytes());
  for (long long n : {0LL, 1LL, 31LL, 1000LL, 4097LL, 8192LL, 100000LL, 2097151LL, 4000000LL}) {
    const std::vector<float> a = small_values(n, 33);
    std::vector<float> o(a.size());
    running_sums(a.data(), o.data(), n);
    const Bytes want = bytes_of(o);
    for (size_t shift : {(size_t)0, (size_t)4}) { // twice: the second launch finds what the first one left
      for (int turn = 0; turn < 2; turn++) {
        n_bad += !run_case({bytes_of(a)}, want, Bytes(want.size(), 1), shift, [&](const std::vector<Any> &in, Any out) {
          return prefix_sum(in[0], out, n, own, stream);
        });
        n_cases++;
      }
    }
  }
  report("prefix_sum", n_cases, n_bad);
}
#endif

#ifdef KERNEL_scan_rows
CASE(scan_rows) {
  const Own own(scan_rows_workspace_bytes());
  run_2d(
      "scan_rows", 4, 4097,
      [](long long rows, long long cols, std::vector<Bytes> &in, Bytes &want) {
        const std::vector<float> a = small_values(rows * cols, 35);
        std::vector<float> o(a.size());
        for (long long r = 0; r < rows; r++) running_sums(a.data() + r * cols, o.data() + r * cols, cols);
        in = {bytes_of(a)};
        want = bytes_of(o);
      },
      [=](const std::vector<Any> &in, Any out, long long rows, long long cols) {
        return scan_rows(in[0], out, rows, cols, own, stream);
      });
}
#endif

// Factors are 2, 1/2, 1 and -1, of which no product grows long: exact in any order.
#ifdef KERNEL_running_product
CASE(running_product) {
  const Own own(running_product_workspace_bytes());
  run_2d(
      "running_product", 4, 4097,
      [](long long rows, long long cols, std::vector<Bytes> &in, Bytes &want) {
        std::vector<float> a(rows * cols), o(a.size());
        for (long long r = 0; r < rows; r++) {
          float product = 1;
          for (long long c = 0; c < cols; c++) {
            const float factors[] = {c % 2 ? 0.5f : 2.0f, 1, -1};
            a[r * cols + c] = factors[mix(91000001 + r * 7919 + c / 2) % 3];
            o[r * cols + c] = product *= a[r * cols + c];
          }
        }
        in = {bytes_of(a)};
        want = bytes_of(o);
      },
      [=](const std::vector<Any> &in, Any out, long long rows, long long cols) {
        return running_product(in[0], out, rows, cols, own, stream);
      });
}
#endif

#ifdef KERNEL_sum_cols_f32
CASE(sum_cols_f32) {
  run_sum(
      "sum_cols_f32", false, [](long long r, long long c) { return (void)r, c; },
      [](long long rows, long long cols) { return (void)rows, cols; },
      [](const std::vector<Any> &in, Any out, long long rows, long long cols) { return sum_cols_f32(in[0], out, rows, cols, workspace(sum_cols_f32_workspace_bytes()), stream); });
}
#endif

#ifdef KERNEL_sum_all_f32
CASE(sum_all_f32) {
  run_sum(
      "sum_all_f32", false, [](long long r, long long c) { return (void)r, (void)c, 0LL; },
      [](long long rows, long long cols) { return (void)rows, (void)cols, 1LL; },
      [](const std::vector<Any> &in, Any out, long long rows, long long cols) { return sum_all_f32(in[0], out, rows, cols, workspace(sum_all_f32_workspace_bytes()), stream); });
}
#endif

// Rows of 0 to many elements: `rows` of them, which have `elements` in all. Each begins where a random number says; a third of
// the rows are empty, or all but one.
inline std::vector<int> random_offsets(long long rows, long long elements, uint64_t seed) {
  std::vector<int> offsets(rows + 1);
  const bool one = mix(seed) % 4 == 0;
  for (long long r = 1; r < rows; r++) offsets[r] = one ? (int)(mix(seed) % 2 * elements) : (int)(mix(seed * 31 + r / 3 * 2 + r % 3 / 2) % (elements + 1));
  if (rows > 0) offsets[rows] = (int)elements;
  std::sort(offsets.begin(), offsets.end());
  return offsets;
}

#ifdef KERNEL_segment_sum
CASE(segment_sum) {
  run_2d(
      "segment_sum", 4, 1 << 20,
      [](long long rows, long long elements, std::vector<Bytes> &in, Bytes &want) {
        if (rows == 0) elements = 0;
        const std::vector<int> offsets = random_offsets(rows, elements, rows + elements);
        const std::vector<float> a = small_values(elements, 41);
        std::vector<float> total(rows);
        for (long long r = 0; r < rows; r++) {
          for (int k = offsets[r]; k < offsets[r + 1]; k++) total[r] += a[k];
        }
        in = {bytes_of(offsets), bytes_of(a)};
        want = bytes_of(total);
      },
      [](const std::vector<Any> &in, Any out, long long rows, long long elements) {
        return segment_sum(in[0], in[1], out, rows, rows == 0 ? 0 : elements, workspace(segment_sum_workspace_bytes()), stream);
      });
}
#endif

#ifdef KERNEL_ragged_softmax
CASE(ragged_softmax) {
  Near near;
  near.share = 2e-4f;
  near.least = 1e-6f;
  near.bytes = 4;
  run_2d(
      "ragged_softmax", 4, 1 << 20,
      [](long long rows, long long elements, std::vector<Bytes> &in, Bytes &want) {
        if (rows == 0) elements = 0;
        const std::vector<int> offsets = random_offsets(rows, elements, 5 * rows + elements);
        const std::vector<float> x = small_values(elements, 44);
        std::vector<float> y(elements);
        for (long long r = 0; r < rows; r++) {
          softmax_row(x.data() + offsets[r], nullptr, nullptr, y.data() + offsets[r], offsets[r + 1] - offsets[r]);
        }
        in = {bytes_of(offsets), bytes_of(x)};
        want = bytes_of(y);
      },
      [](const std::vector<Any> &in, Any out, long long rows, long long elements) {
        return ragged_softmax(in[0], in[1], out, rows, rows == 0 ? 0 : elements, stream);
      },
      near);
}
#endif

#ifdef KERNEL_csr_spmv
CASE(csr_spmv) {
  run_2d(
      "csr_spmv", 4, 1 << 20,
      [](long long rows, long long elements, std::vector<Bytes> &in, Bytes &want) {
        if (rows == 0) elements = 0;
        const std::vector<int> offsets = random_offsets(rows, elements, 3 * rows + elements);
        const std::vector<float> v = small_values(elements, 42), x = small_values(777, 43);
        std::vector<int> col(elements);
        std::vector<float> y(rows);
        for (long long k = 0; k < elements; k++) col[k] = (int)(mix(44000003 + k) % 777);
        for (long long r = 0; r < rows; r++) {
          for (int k = offsets[r]; k < offsets[r + 1]; k++) y[r] += v[k] * x[col[k]];
        }
        in = {bytes_of(offsets), bytes_of(col), bytes_of(v), bytes_of(x)};
        want = bytes_of(y);
      },
      [](const std::vector<Any> &in, Any out, long long rows, long long elements) {
        return csr_spmv(in[0], in[1], in[2], in[3], out, rows, rows == 0 ? 0 : elements, 777, workspace(csr_spmv_workspace_bytes()), stream);
      });
}
#endif

#ifdef KERNEL_softmax
CASE(softmax) {
  run_rows("softmax", false, 0, softmax_row,
           [](const std::vector<Any> &in, Any out, long long rows, long long cols) { return softmax(in[0], out, rows, cols, stream); });
}
#endif

#ifdef KERNEL_softmax_bf16
CASE(softmax_bf16) {
  run_rows("softmax_bf16", true, 0, softmax_row,
           [](const std::vector<Any> &in, Any out, long long rows, long long cols) { return softmax_bf16(in[0], out, rows, cols, stream); });
}
#endif

#ifdef KERNEL_instance_norm
CASE(instance_norm) {
  const auto row = [](const float *x, const float *, const float *, float *y, long long n) {
    const std::vector<float> ones(n, 1.0f), zeros(n, 0.0f);
    layer_norm_row(x, ones.data(), zeros.data(), y, n);
  };
  Near near;
  near.share = 2e-4f;
  near.least = 0.1f;
  run_2d(
      "instance_norm", 4, 4097,
      [&](long long planes, long long n, std::vector<Bytes> &in, Bytes &want) {
        const std::vector<float> x = small_values(planes * n, 93);
        std::vector<float> y(x.size());
        for (long long p = 0; p < planes; p++) row(x.data() + p * n, nullptr, nullptr, y.data() + p * n, n);
        in = {bytes_of(x)};
        want = bytes_of(y);
      },
      [](const std::vector<Any> &in, Any out, long long planes, long long n) { return instance_norm(in[0], out, kEps, planes, 1, 1, n, stream); },
      near);
}
#endif

#ifdef KERNEL_cross_entropy
CASE(cross_entropy) {
  const Own own(cross_entropy_workspace_bytes());
  Near near;
  near.share = 2e-4f;
  run_2d(
      "cross_entropy", 4, 4097,
      [](long long rows, long long cols, std::vector<Bytes> &in, Bytes &want) {
        const std::vector<float> x = small_values(rows * cols, 94);
        std::vector<int> label(rows);
        double loss = 0;
        for (long long r = 0; r < rows; r++) {
          double most = -INFINITY, sum = 0;
          label[r] = cols == 0 ? 0 : (int)(mix(95000001 + r) % (uint64_t)cols);
          for (long long c = 0; c < cols; c++) most = fmax(most, x[r * cols + c]);
          for (long long c = 0; c < cols; c++) sum += exp(x[r * cols + c] - most);
          loss += (most + log(sum) - (cols == 0 ? 0 : x[r * cols + label[r]])) / (double)rows;
        }
        uint32_t bits = 0x7fffffff; // the mean of nothing: the NaN that a device makes
        const float mean = (float)loss;
        if (rows > 0) memcpy(&bits, &mean, 4);
        in = {bytes_of(x), bytes_of(label)};
        want.resize(4);
        memcpy(want.data(), &bits, 4);
      },
      [=](const std::vector<Any> &in, Any out, long long rows, long long cols) {
        return cross_entropy(in[0], in[1], out, rows, cols, own, stream);
      },
      near);
}
#endif

#ifdef KERNEL_masked_softmax
CASE(masked_softmax) {
  Near near;
  near.share = 2e-4f;
  run_2d(
      "masked_softmax", 4, 4097,
      [](long long rows, long long cols, std::vector<Bytes> &in, Bytes &want) {
        std::vector<float> x = small_values(rows * cols, 82);
        Bytes mask(rows * cols);
        for (long long r = 0; r < rows; r++) {
          const long long length = (long long)(mix(83000001 + r) % (uint64_t)(cols + 1));
          for (long long c = 0; c < cols; c++) mask[r * cols + c] = r % 3 == 0 ? c < length : r % 3 == 1 && mix(84000001 + r * cols + c) % 2 == 0;
        }
        in = {mask, bytes_of(x)};
        for (long long r = 0; r < rows; r++) {
          std::vector<float> some, y(cols);
          for (long long c = 0; c < cols; c++) {
            if (mask[r * cols + c]) some.push_back(x[r * cols + c]);
          }
          softmax_row(some.data(), nullptr, nullptr, y.data(), (long long)some.size());
          for (long long c = 0, k = 0; c < cols; c++) {
            if (mask[r * cols + c]) x[r * cols + c] = y[k++];
          }
        }
        want = bytes_of(x);
      },
      [](const std::vector<Any> &in, Any out, long long rows, long long cols) {
        cudaMemcpyAsync(out.p, in[1].p, rows * cols * 4, cudaMemcpyDeviceToDevice, stream);
        return masked_softmax(in[0], out, rows, cols, stream);
      },
      near);
}
#endif

#ifdef KERNEL_clip_rows
CASE(clip_rows) {
  run_clipped("clip_rows", false, [](Any x, long long rows, long long cols) { return clip_rows(x, clip_limit(cols), rows, cols, stream); });
}
#endif

#ifdef KERNEL_clip_rows_bf16
CASE(clip_rows_bf16) {
  run_clipped("clip_rows_bf16", true, [](Any x, long long rows, long long cols) { return clip_rows_bf16(x, clip_limit(cols), rows, cols, stream); });
}
#endif

#ifdef KERNEL_layer_norm
CASE(layer_norm) {
  run_rows("layer_norm", false, 2, layer_norm_row, [](const std::vector<Any> &in, Any out, long long rows, long long cols) {
    return layer_norm(in[0], in[1], in[2], out, kEps, rows, cols, stream);
  });
}
#endif

#ifdef KERNEL_layer_norm_bf16
CASE(layer_norm_bf16) {
  run_rows("layer_norm_bf16", true, 2, layer_norm_row, [](const std::vector<Any> &in, Any out, long long rows, long long cols) {
    return layer_norm_bf16(in[0], in[1], in[2], out, kEps, rows, cols, stream);
  });
}
#endif

#ifdef KERNEL_rms_norm
CASE(rms_norm) {
  run_rows("rms_norm", false, 1, rms_norm_row, [](const std::vector<Any> &in, Any out, long long rows, long long cols) {
    return rms_norm(in[0], in[1], out, kEps, rows, cols, stream);
  });
}
#endif

#ifdef KERNEL_rms_norm_bf16
CASE(rms_norm_bf16) {
  run_rows("rms_norm_bf16", true, 1, rms_norm_row, [](const std::vector<Any> &in, Any out, long long rows, long long cols) {
    return rms_norm_bf16(in[0], in[1], out, kEps, rows, cols, stream);
  });
}
#endif

#ifdef KERNEL_add_rms_norm
CASE(add_rms_norm) {
  run_added_norm("add_rms_norm", false, [](Any gamma, Any x, Any residual, long long rows, long long cols) {
    return add_rms_norm(gamma, x, residual, kEps, rows, cols, stream);
  });
}
#endif

#ifdef KERNEL_add_rms_norm_bf16
CASE(add_rms_norm_bf16) {
  run_added_norm("add_rms_norm_bf16", true, [](Any gamma, Any x, Any residual, long long rows, long long cols) {
    return add_rms_norm_bf16(gamma, x, residual, kEps, rows, cols, stream);
  });
}
#endif

#ifdef KERNEL_frobenius
CASE(frobenius) {
  run_frobenius("frobenius", [](const std::vector<Any> &in, Any out, long long rows, long long cols) {
    return frobenius(in[0], out, rows, cols, workspace(frobenius_workspace_bytes()), stream);
  });
}
#endif

#ifdef KERNEL_normalise_columns
CASE(normalise_columns) {
  run_columns("normalise_columns", false, [](const std::vector<Any> &in, Any out, long long rows, long long cols) {
    return normalise_columns(in[0], out, kEps, rows, cols, stream);
  });
}
#endif

#ifdef KERNEL_normalise_columns_bf16
CASE(normalise_columns_bf16) {
  run_columns("normalise_columns_bf16", true, [](const std::vector<Any> &in, Any out, long long rows, long long cols) {
    return normalise_columns_bf16(in[0], out, kEps, rows, cols, stream);
  });
}
#endif

#ifdef KERNEL_quantise_rows
CASE(quantise_rows) {
  run_quantised("quantise_rows", false, 127.0f, rounded_i8, [](const std::vector<Any> &in, Any q, Any scale, long long rows, long long cols) {
    return quantise_rows(in[0], q, scale, rows, cols, stream);
  });
}
#endif

#ifdef KERNEL_quantise_rows_bf16
CASE(quantise_rows_bf16) {
  run_quantised("quantise_rows_bf16", true, 127.0f, rounded_i8, [](const std::vector<Any> &in, Any q, Any scale, long long rows, long long cols) {
    return quantise_rows_bf16(in[0], q, scale, rows, cols, stream);
  });
}
#endif

#if defined KERNEL_dequant_int4 || defined KERNEL_dequant_uint4
#include <cuda_fp16.h>
// Halves from rows of values of 4 bits, two a byte, with a scale for 128 of them. `zero`: none says that they are signed.
template <class L> void run_dequant(const char *name, int zero, L launch) {
  run_2d(
      name, 2, 5000,
      [zero](long long rows, long long cols, std::vector<Bytes> &in, Bytes &want) {
        const long long pitch = (cols + 1) / 2, groups = (cols + 127) / 128;
        std::vector<unsigned char> q;
        for (long long k = 0; k < rows * pitch; k++) q.push_back((unsigned char)(mix(31000093 + k) >> 20));
        std::vector<__half> scale, w;
        for (float s : small_values(rows * groups, 32)) scale.push_back(__float2half_rn(s));
        for (long long r = 0; r < rows; r++) {
          for (long long c = 0; c < cols; c++) {
            const int low = q[r * pitch + c / 2] / (c % 2 ? 16 : 1) % 16;
            const int value = zero ? low - zero : low < 8 ? low : low - 16;
            w.push_back(__float2half_rn(__half2float(scale[r * groups + c / 128]) * (float)value));
          }
        }
        in = {bytes_of(q), bytes_of(scale)};
        want = bytes_of(w);
      },
      launch);
}
#endif

#ifdef KERNEL_dequant_int4
CASE(dequant_int4) {
  run_dequant("dequant_int4", 0, [](const std::vector<Any> &in, Any out, long long rows, long long cols) {
    return dequant_int4(in[0], in[1], out, rows, cols, stream);
  });
}
#endif

#ifdef KERNEL_dequant_uint4
CASE(dequant_uint4) {
  run_dequant("dequant_uint4", 8, [](const std::vector<Any> &in, Any out, long long rows, long long cols) {
    return dequant_uint4(in[0], in[1], out, rows, cols, stream);
  });
}
#endif

#if defined KERNEL_dequant_q4_0 || defined KERNEL_dequant_q4_0_f32
#include <cuda_fp16.h>
inline void put_weight(__half &w, float x) { w = __float2half_rn(x); }
inline void put_weight(float &w, float x) { w = x; }

// Blocks of a half and 16 bytes; weights 0 to 15 are the lower halves of the bytes. Scales are any finite halves, denormals too.
template <class T, class L> void run_blocks(const char *name, L launch) {
  run_1d(
      name, sizeof(T),
      [](long long n, std::vector<Bytes> &in, Bytes &want, Bytes &) {
        Bytes blocks;
        std::vector<T> weights;
        for (long long k = 0; k < n; k++) {
          __half_raw d;
          d.x = (unsigned short)mix(17000023 + k);
          if ((d.x & 0x7c00) == 0x7c00) d.x ^= 0x4000;
          T w[32];
          blocks.push_back((unsigned char)d.x);
          blocks.push_back((unsigned char)(d.x >> 8));
          for (int b = 0; b < 16; b++) {
            const unsigned char byte = (unsigned char)(mix(41000041 + 16 * k + b) >> 24);
            blocks.push_back(byte);
            put_weight(w[b], __half2float(__half(d)) * (float)(byte % 16 - 8));
            put_weight(w[b + 16], __half2float(__half(d)) * (float)(byte / 16 - 8));
          }
          weights.insert(weights.end(), w, w + 32);
        }
        in = {blocks};
        want = bytes_of(weights);
      },
      launch);
}
#endif

#ifdef KERNEL_dequant_q4_0
CASE(dequant_q4_0) {
  run_blocks<__half>("dequant_q4_0", [](const std::vector<Any> &in, Any out, long long n) { return dequant_q4_0(in[0], out, n, stream); });
}
#endif

#ifdef KERNEL_dequant_q4_0_f32
CASE(dequant_q4_0_f32) {
  run_blocks<float>("dequant_q4_0_f32", [](const std::vector<Any> &in, Any out, long long n) { return dequant_q4_0_f32(in[0], out, n, stream); });
}
#endif

#ifdef KERNEL_rotary
CASE(rotary) {
  const long long heads = 3;
  Near near;
  near.share = 1.6e-2f;
  near.least = 1.0f; // sines and cosines of angles that are not exact
  near.bytes = 2;
  run_2d(
      "rotary", 4, 4097,
      [&](long long n_pos, long long pairs, std::vector<Bytes> &in, Bytes &want) {
        const std::vector<float> x = small_values(2 * n_pos * heads * pairs, 45);
        std::vector<float> y(x.size());
        for (long long k = 0; k < n_pos * heads * pairs; k++) {
          const double angle = (double)(k / (heads * pairs)) * pow(10000.0, -(double)(k % pairs) / 64.0);
          y[2 * k] = (float)(x[2 * k] * cos(angle) - x[2 * k + 1] * sin(angle));
          y[2 * k + 1] = (float)(x[2 * k] * sin(angle) + x[2 * k + 1] * cos(angle));
        }
        in = {floats_as(x, true)};
        want = floats_as(y, true);
      },
      [&](const std::vector<Any> &in, Any out, long long n_pos, long long pairs) {
        return rotary(in[0], out, n_pos, heads, pairs, stream);
      },
      near);
}
#endif

#if defined(KERNEL_quantise_rows_bf16_e4m3) || defined(KERNEL_quantise_both)
#include <cuda_fp8.h>
#endif

#ifdef KERNEL_quantise_rows_bf16_e4m3
CASE(quantise_rows_bf16_e4m3) {
  const auto rounded = [](float x) { return __nv_cvt_float_to_fp8(x, __NV_SATFINITE, __NV_E4M3); };
  run_quantised("quantise_rows_bf16_e4m3", true, 448.0f, rounded, [](const std::vector<Any> &in, Any q, Any scale, long long rows, long long cols) {
    return quantise_rows_bf16_e4m3(in[0], q, scale, rows, cols, stream);
  });
}
#endif

#ifdef KERNEL_symmetrise
CASE(symmetrise) {
  run_2d(
      "symmetrise", 4, 4097,
      [](long long rows, long long cols, std::vector<Bytes> &in, Bytes &want) {
        const std::vector<float> a = small_values(rows * cols, 51), at = small_values(rows * cols, 52);
        std::vector<float> b(a.size());
        for (long long r = 0; r < rows; r++)
          for (long long c = 0; c < cols; c++) b[r * cols + c] = 0.5f * (a[r * cols + c] + at[c * rows + r]);
        in = {bytes_of(a), bytes_of(at)};
        want = bytes_of(b);
      },
      [](const std::vector<Any> &in, Any out, long long rows, long long cols) { return symmetrise(in[0], in[1], out, rows, cols, stream); });
}
#endif

// The transposed result lies after the other, from a multiple of 256 bytes on.
#ifdef KERNEL_quantise_both
CASE(quantise_both) {
  const auto second = [](long long rows, long long cols) { return (rows * cols + 255) / 256 * 256; };
  int n_bad = 0, n_cases = 0;
  for (long long rows : kExtents) {
    for (long long cols : kExtents) {
      if (rows * cols * 4 > kMost) continue;
      const std::vector<float> x = small_values(rows * cols, 53);
      const long long at = second(rows, cols);
      Bytes want(at + rows * cols), mask(want.size(), 1);
      for (long long k = rows * cols; k < at; k++) mask[k] = 0;
      for (long long r = 0; r < rows; r++)
        for (long long c = 0; c < cols; c++)
          want[r * cols + c] = want[at + c * rows + r] = __nv_cvt_float_to_fp8(0.5f * x[r * cols + c], __NV_SATFINITE, __NV_E4M3);
      n_bad += !run_case({floats_as(x, true)}, want, mask, 0, [&](const std::vector<Any> &in, Any out) {
        return quantise_both(in[0], out, Any{(char *)out.p + at}, 0.5f, rows, cols, stream);
      });
      n_cases++;
    }
  }
  report("quantise_both", n_cases, n_bad);
}
#endif

#ifdef MAIN
Case *cases;
int failures, shown;
unsigned long long run_seed;
thread_local cudaStream_t stream;
thread_local int who;

Case::Case(const char *name, void (*run)()) : name(name), run(run), next(cases) { cases = this; }

// headers [SEED]
int main(int argc, char **argv) {
  run_seed = argc > 1 ? strtoull(argv[1], nullptr, 10) : (unsigned long long)time(nullptr);
  printf("seed %llu\n", run_seed);
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
  int n = 0;
  for (const Case *c = cases; c; c = c->next, n++) {
    c->run();
    fflush(stdout);
  }
  printf("%d kernels: %s\n", n, failures ? "FAILED" : "all emitted headers give the reference result");
  return failures || n == 0;
}
#endif
