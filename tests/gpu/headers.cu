// Runs emitted headers against host references for extents 0, 1, 31, 1000, 4097 (pairs and triples in more dimensions), with
// the arrays aligned and off by one element. Every output lies between guard zones. Prints a line a kernel; exit 1 on a difference.
//
//   sectile emit NAME -o DIR/NAME.h for the kernels below; nvcc -arch=native -I DIR headers.cu -o headers && ./headers
#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <vector>

#include "add_const_double3.h"
#include "broadcast.h"
#include "crop_f32.h"
#include "float3_increment.h"
#include "gather_rows12.h"
#include "gather_rows16.h"
#include "gather_rows256.h"
#include "indirect_f32.h"
#include "indirect_f64.h"
#include "max_rows_f32.h"
#include "mixed_aos_to_soa.h"
#include "mixed_soa_to_aos.h"
#include "particle_aos_to_aos.h"
#include "particle_aos_to_soa.h"
#include "particle_energy.h"
#include "particle_soa_to_aos.h"
#include "permute_021_f32.h"
#include "permute_102_f32.h"
#include "permute_210_f32.h"
#include "record28_aos_to_aosoa.h"
#include "record28_aosoa_to_soa.h"
#include "record36_aos_to_soa.h"
#include "record36_soa_to_aos.h"
#include "scatter_f32.h"
#include "shifted.h"
#include "shifted_u8.h"
#include "stencil2d_f32.h"
#include "stride2.h"
#include "stride3.h"
#include "stride8.h"
#include "sum_all_f32.h"
#include "sum_cols_f32.h"
#include "sum_rows_f32.h"
#include "transpose_f16.h"
#include "transpose_f32.h"
#include "transpose_f32x2.h"
#include "transpose_f64.h"
#include "transpose_u8.h"

// A pointer that becomes whatever type a launch function asks for.
struct Any {
  void *p;
  template <class T> operator T *() const { return (T *)p; }
};

typedef std::vector<unsigned char> Bytes;
static int failures = 0, shown = 0;
static const long long kExtents[] = {0, 1, 31, 1000, 4097};
static const size_t kGuard = 4096;

static void check(cudaError_t e, const char *what) {
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

static uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

template <class T> static std::vector<T> random_values(long long n, uint64_t seed) {
  std::vector<T> v(n);
  for (long long i = 0; i < n; i++) v[i] = (T)(mix(seed * 1000003 + i) % 1000003) / (T)7;
  return v;
}

// Whole numbers so small that their sums are exact in any order.
static std::vector<float> small_values(long long n, uint64_t seed) {
  std::vector<float> v(n);
  for (long long i = 0; i < n; i++) v[i] = (float)(int)(mix(seed * 1000003 + i) % 8);
  return v;
}

typedef std::function<cudaError_t(const std::vector<Any> &in, Any out)> Launch;

// `mask` marks the bytes of `want` that the kernel must write; others (padding) may hold anything.
static bool run_case(const std::vector<Bytes> &inputs, const Bytes &want, const Bytes &mask, size_t shift, const Launch &launch) {
  std::vector<Buffer *> buffers;
  std::vector<Any> in;
  for (const Bytes &b : inputs) {
    buffers.push_back(new Buffer(b.size(), shift));
    if (!b.empty()) check(cudaMemcpy(buffers.back()->ptr(), b.data(), b.size(), cudaMemcpyHostToDevice), "cudaMemcpy");
    in.push_back(Any{buffers.back()->ptr()});
  }
  Buffer out(want.size(), shift);
  check(launch(in, Any{out.ptr()}), "launch");
  check(cudaDeviceSynchronize(), "kernel");
  const Bytes got = out.all();
  bool good = true;
  for (size_t i = 0; i < got.size(); i++) {
    const bool inside = i >= kGuard + shift && i < kGuard + shift + want.size();
    const size_t k = i - kGuard - shift;
    if (inside ? (mask[k] && got[i] != want[k]) : got[i] != 0xa5) {
      if (good && shown++ < 5) {
        printf("  byte %lld of %zu, arrays %zu bytes off: %02x instead of %02x\n", (long long)k, want.size(), shift, got[i],
               inside ? want[k] : 0xa5);
      }
      good = false;
    }
  }
  for (Buffer *b : buffers) delete b;
  return good;
}

template <class T> static Bytes bytes_of(const std::vector<T> &v) {
  Bytes b(v.size() * sizeof(T));
  if (!b.empty()) memcpy(b.data(), v.data(), b.size());
  return b;
}

static void report(const char *name, int n_cases, int n_bad) {
  printf("%-24s %3d cases  %s\n", name, n_cases, n_bad ? "WRONG" : "ok");
  failures += n_bad;
}

// One-dimensional kernels: `make(n, inputs, want, mask)` fills the case, `launch(in, out, n)` calls the header.
static void run_1d(const char *name, size_t misalign, std::function<void(long long, std::vector<Bytes> &, Bytes &, Bytes &)> make,
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
static void run_2d(const char *name, size_t misalign, long long most, Make make, Launch2 launch) {
  int n_bad = 0, n_cases = 0;
  for (long long rows : kExtents) {
    for (long long cols : kExtents) {
      for (size_t shift : {(size_t)0, misalign}) {
        if (rows > most || cols > most) continue;
        std::vector<Bytes> inputs;
        Bytes want;
        make(rows, cols, inputs, want);
        n_bad += !run_case(inputs, want, Bytes(want.size(), 1), shift,
                           [&](const std::vector<Any> &in, Any out) { return launch(in, out, rows, cols); });
        n_cases++;
      }
    }
  }
  report(name, n_cases, n_bad);
}

// `order[k]` is the dimension of the input that is dimension k of the output.
template <class L> static void run_permute(const char *name, const int (&order)[3], L launch) {
  static const long long sizes[][3] = {{0, 5, 7}, {1, 1, 1}, {31, 33, 65}, {64, 64, 64}, {3, 1000, 31}, {1000, 3, 33}, {257, 129, 2}};
  int n_bad = 0, n_cases = 0;
  for (const auto &n : sizes) {
    const std::vector<float> a = random_values<float>(n[0] * n[1] * n[2], 12);
    std::vector<float> b(a.size());
    for (long long i = 0; i < n[0]; i++)
      for (long long j = 0; j < n[1]; j++)
        for (long long k = 0; k < n[2]; k++) {
          const long long at[3] = {i, j, k};
          b[(at[order[0]] * n[order[1]] + at[order[1]]) * n[order[2]] + at[order[2]]] = a[(i * n[1] + j) * n[2] + k];
        }
    const Bytes want = bytes_of(b);
    for (size_t shift : {(size_t)0, sizeof(float)}) {
      n_bad += !run_case({bytes_of(a)}, want, Bytes(want.size(), 1), shift,
                         [&](const std::vector<Any> &in, Any out) { return launch(in[0], out, n[0], n[1], n[2]); });
      n_cases++;
    }
  }
  report(name, n_cases, n_bad);
}

template <class T, class L> static void run_transpose(const char *name, L launch) {
  int n_bad = 0, n_cases = 0;
  for (long long rows : kExtents) {
    for (long long cols : kExtents) {
      for (size_t shift : {(size_t)0, sizeof(T)}) {
        const std::vector<T> a = random_values<T>(rows * cols, 3);
        std::vector<T> b(a.size());
        for (long long r = 0; r < rows; r++)
          for (long long c = 0; c < cols; c++) b[c * rows + r] = a[r * cols + c];
        const Bytes want = bytes_of(b);
        n_bad += !run_case({bytes_of(a)}, want, Bytes(want.size(), 1), shift, [&](const std::vector<Any> &in, Any out) {
          return launch(in[0], out, rows, cols, 0);
        });
        n_cases++;
      }
    }
  }
  report(name, n_cases, n_bad);
}

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
static const Layout kParticle = {{4, 4, 4, 4, 4, 4, 4}, {0, 4, 8, 12, 16, 20, 24}, 28};
static const Layout kTensor = {{4, 4, 4, 4, 4, 4, 4, 4, 4}, {0, 4, 8, 12, 16, 20, 24, 28, 32}, 36};
static const Layout kMixed = {{8, 4, 4, 2, 1}, {0, 8, 12, 16, 18}, 24};

enum Order { AOS, SOA, AOSOA32 };

static void fill_records(const Layout &l, Order order, long long n, Bytes &data, Bytes &mask) {
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

static void run_records(const char *name, const Layout &l, Order order_in, Order order_out,
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

template <class T, class F> static void run_gather(const char *name, int lanes, F launch) {
  run_1d(
      name, sizeof(T) * lanes,
      [&](long long n, std::vector<Bytes> &in, Bytes &want, Bytes &) {
        std::vector<int> pick(n);
        const std::vector<T> table = random_values<T>(n * lanes, 9);
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

// One reduction of rows x cols: `place(r, c)` says where an element goes, of `n_out(rows, cols)` places.
template <class Place, class Count, class L>
static void run_sum(const char *name, bool takes_max, Place place, Count n_out, L launch) {
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

static void run_sums() {
  const auto row = [](long long r, long long) { return r; };
  const auto rows_of = [](long long rows, long long) { return rows; };
  run_sum("sum_rows_f32", false, row, rows_of, [](const std::vector<Any> &in, Any out, long long rows, long long cols) {
    return sum_rows_f32(in[0], out, rows, cols, 0);
  });
  run_sum("max_rows_f32", true, row, rows_of, [](const std::vector<Any> &in, Any out, long long rows, long long cols) {
    return max_rows_f32(in[0], out, rows, cols, 0);
  });
  run_sum(
      "sum_cols_f32", false, [](long long, long long c) { return c; }, [](long long, long long cols) { return cols; },
      [](const std::vector<Any> &in, Any out, long long rows, long long cols) { return sum_cols_f32(in[0], out, rows, cols, 0); });
  run_sum(
      "sum_all_f32", false, [](long long, long long) { return 0; }, [](long long, long long) { return 1; },
      [](const std::vector<Any> &in, Any out, long long rows, long long cols) { return sum_all_f32(in[0], out, rows, cols, 0); });
}

int main() {
  run_1d(
      "add_const_double3", 8,
      [](long long n, std::vector<Bytes> &in, Bytes &want, Bytes &) {
        std::vector<double> a = random_values<double>(3 * n, 1), b(3 * n);
        for (long long i = 0; i < 3 * n; i++) b[i] = a[i] + 2.5;
        in = {bytes_of(a)};
        want = bytes_of(b);
      },
      [](const std::vector<Any> &in, Any out, long long n) { return add_const_double3(in[0], out, 2.5, n, 0); });
  run_1d(
      "float3_increment", 4,
      [](long long n, std::vector<Bytes> &in, Bytes &want, Bytes &) {
        std::vector<float> a = random_values<float>(3 * n, 2), b(3 * n);
        for (long long i = 0; i < 3 * n; i++) b[i] = a[i] + 1.0f;
        in = {bytes_of(a)};
        want = bytes_of(b);
      },
      [](const std::vector<Any> &in, Any out, long long n) { return float3_increment(in[0], out, n, 0); });
  run_1d(
      "stride3", 4,
      [](long long n, std::vector<Bytes> &in, Bytes &want, Bytes &) {
        std::vector<float> a = random_values<float>(3 * n, 4), b(n);
        for (long long i = 0; i < n; i++) b[i] = a[3 * i];
        in = {bytes_of(a)};
        want = bytes_of(b);
      },
      [](const std::vector<Any> &in, Any out, long long n) { return stride3(in[0], out, n, 0); });
  run_1d(
      "stride2", 4,
      [](long long n, std::vector<Bytes> &in, Bytes &want, Bytes &) {
        std::vector<float> a = random_values<float>(2 * n, 4), b(n);
        for (long long i = 0; i < n; i++) b[i] = a[2 * i];
        in = {bytes_of(a)};
        want = bytes_of(b);
      },
      [](const std::vector<Any> &in, Any out, long long n) { return stride2(in[0], out, n, 0); });
  run_1d(
      "stride8", 4,
      [](long long n, std::vector<Bytes> &in, Bytes &want, Bytes &) {
        std::vector<float> a = random_values<float>(8 * n, 4), b(n);
        for (long long i = 0; i < n; i++) b[i] = a[8 * i];
        in = {bytes_of(a)};
        want = bytes_of(b);
      },
      [](const std::vector<Any> &in, Any out, long long n) { return stride8(in[0], out, n, 0); });
  run_1d(
      "shifted", 4,
      [](long long n, std::vector<Bytes> &in, Bytes &want, Bytes &) {
        std::vector<float> a = random_values<float>(n + 1, 5), b(n);
        for (long long i = 0; i < n; i++) b[i] = a[i + 1];
        in = {bytes_of(a)};
        want = bytes_of(b);
      },
      [](const std::vector<Any> &in, Any out, long long n) { return shifted(in[0], out, n, 0); });
  run_1d(
      "shifted_u8", 1,
      [](long long n, std::vector<Bytes> &in, Bytes &want, Bytes &) {
        in = {bytes_of(random_values<unsigned char>(n + 1, 11))};
        want.assign(in[0].begin() + 1, in[0].end());
      },
      [](const std::vector<Any> &in, Any out, long long n) { return shifted_u8(in[0], out, n, 0); });
  run_1d(
      "broadcast", 4,
      [](long long n, std::vector<Bytes> &in, Bytes &want, Bytes &) {
        std::vector<float> a = random_values<float>(n, 6), w = random_values<float>((n + 31) / 32, 7), b(n);
        for (long long i = 0; i < n; i++) b[i] = a[i] * w[i / 32];
        in = {bytes_of(a), bytes_of(w)};
        want = bytes_of(b);
      },
      [](const std::vector<Any> &in, Any out, long long n) {
        return broadcast(in[0], in[1], out, n, 0);
      });
  run_gather<float>("indirect_f32", 1, [](const std::vector<Any> &in, Any out, long long n) {
    return indirect_f32(in[0], in[1], out, n, n, 0);
  });
  run_gather<double>("indirect_f64", 1, [](const std::vector<Any> &in, Any out, long long n) {
    return indirect_f64(in[0], in[1], out, n, n, 0);
  });
  run_gather<float>("gather_rows12", 3, [](const std::vector<Any> &in, Any out, long long n) {
    return gather_rows12(in[0], in[1], out, n, n, 0);
  });
  run_gather<float>("gather_rows16", 4, [](const std::vector<Any> &in, Any out, long long n) {
    return gather_rows16(in[0], in[1], out, n, n, 0);
  });
  run_transpose<float>("transpose_f32",
                       [](Any in, Any out, long long rows, long long cols, cudaStream_t s) { return transpose_f32(in, out, rows, cols, s); });
  run_transpose<double>("transpose_f64",
                        [](Any in, Any out, long long rows, long long cols, cudaStream_t s) { return transpose_f64(in, out, rows, cols, s); });
  run_transpose<unsigned char>("transpose_u8", [](Any in, Any out, long long rows, long long cols, cudaStream_t s) {
    return transpose_u8(in, out, rows, cols, s);
  });
  run_transpose<unsigned short>("transpose_f16", [](Any in, Any out, long long rows, long long cols, cudaStream_t s) {
    return transpose_f16(in.p, out.p, rows, cols, s);
  });
  run_transpose<uint64_t>("transpose_f32x2", [](Any in, Any out, long long rows, long long cols, cudaStream_t s) {
    return transpose_f32x2(in, out, rows, cols, s);
  });
  run_permute("permute_021_f32", {0, 2, 1}, [](Any in, Any out, long long i, long long j, long long k) {
    return permute_021_f32(in, out, i, j, k, 0);
  });
  run_permute("permute_102_f32", {1, 0, 2}, [](Any in, Any out, long long i, long long j, long long k) {
    return permute_102_f32(in, out, i, j, k, 0);
  });
  run_permute("permute_210_f32", {2, 1, 0}, [](Any in, Any out, long long i, long long j, long long k) {
    return permute_210_f32(in, out, i, j, k, 0);
  });
  run_records("particle_aos_to_soa", kParticle, AOS, SOA,
              [](Any in, Any out, long long n) { return particle_aos_to_soa(in, out, n, 0); });
  run_records("particle_soa_to_aos", kParticle, SOA, AOS,
              [](Any in, Any out, long long n) { return particle_soa_to_aos(in, out, n, 0); });
  run_records("particle_aos_to_aos", kParticle, AOS, AOS,
              [](Any in, Any out, long long n) { return particle_aos_to_aos(in, out, n, 0); });
  run_records("mixed_aos_to_soa", kMixed, AOS, SOA,
              [](Any in, Any out, long long n) { return mixed_aos_to_soa(in, out, n, 0); });
  run_records("mixed_soa_to_aos", kMixed, SOA, AOS,
              [](Any in, Any out, long long n) { return mixed_soa_to_aos(in, out, n, 0); });
  run_records("record36_aos_to_soa", kTensor, AOS, SOA,
              [](Any in, Any out, long long n) { return record36_aos_to_soa(in, out, n, 0); });
  run_records("record36_soa_to_aos", kTensor, SOA, AOS,
              [](Any in, Any out, long long n) { return record36_soa_to_aos(in, out, n, 0); });
  run_records("record28_aos_to_aosoa", kParticle, AOS, AOSOA32,
              [](Any in, Any out, long long n) { return record28_aos_to_aosoa(in, out, n, 0); });
  run_records("record28_aosoa_to_soa", kParticle, AOSOA32, SOA,
              [](Any in, Any out, long long n) { return record28_aosoa_to_soa(in, out, n, 0); });
  run_1d(  // in whatever layout the tuner chose, by the header's own packing
      "particle_energy", 4,
      [](long long n, std::vector<Bytes> &in, Bytes &want, Bytes &) {
        const std::vector<float> values = random_values<float>(7 * n, 13);
        std::vector<particle> p(n), back(n);
        std::vector<float> e(n);
        for (long long i = 0; i < n; i++) {
          memcpy(&p[i], &values[7 * i], sizeof(particle));
          e[i] = 0.5f * p[i].m * fmaf(p[i].vx, p[i].vx, fmaf(p[i].vy, p[i].vy, p[i].vz * p[i].vz));
        }
        in.assign(1, Bytes(particle_energy_layout_p::bytes(n)));
        const bool packed = particle_energy_layout_p::pack(in[0].data(), p.data(), n) &&
                            particle_energy_layout_p::unpack(back.data(), in[0].data(), n);
        if (!packed || (n > 0 && memcmp(back.data(), p.data(), n * sizeof(particle)) != 0)) {
          printf("  %lld particles: unpack() does not undo pack()\n", n);
          failures++;
        }
        want = bytes_of(e);
      },
      [](const std::vector<Any> &in, Any out, long long n) { return particle_energy(in[0], out, n, 0); });
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
      [](const std::vector<Any> &in, Any out, long long n) { return scatter_f32(in[0], in[1], out, n, n, 0); });
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
      [](const std::vector<Any> &in, Any out, long long rows, long long cols) { return crop_f32(in[0], out, rows, cols, 0); });
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
        return stencil2d_f32(in[0], out, 0.25f, rows, cols, 0);
      });
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
        return gather_rows256(in[0], in[1], out, rows, cols, rows, 0);
      });
  run_sums();
  printf("%s\n", failures ? "FAILED" : "all emitted headers give the reference result");
  return failures ? 1 : 0;
}
