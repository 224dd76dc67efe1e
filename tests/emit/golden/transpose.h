// transpose.h - written by sectile 0.1.0; do not edit. Again: sectile emit transpose.lua -o transpose.h
//
// A matrix to its transpose.
// For every (row, col) in [0, n_row) x [0, n_col):
//   b = a;
// where
//   a  in   f32, layout row_major; over (row, col)
//   b  out  f32, layout col_major; over (row, col)
//
// device               variant      size               median us  GB/s  of copy  sectors/request ld (least) | st (least)
// NVIDIA H200 (sm_90)  tile 32x32   row=4096 col=4096       36.0  3728     89 %  8.0 (8.0) | 8.0 (8.0)
//   naive, same run    direct t256  row=4096 col=4096      110.0  1220     29 %  8.0 (8.0) | 24.0 (8.0)
//   40 candidates: 38 verified, 1 tied with the winner, 2 failed
//
// NVIDIA H200: driver 580.1, NVRTC 13.0, sectile 0.1.0
// Spec 4cd9b71ae4719dc7118ce94448cc0cba; the hash of each kernel's source stands above it.
#pragma once
#ifndef SECTILE_HEADER_transpose
#define SECTILE_HEADER_transpose
#include <cuda_runtime.h>
#include <string.h>

#include <atomic>

// Which kernel a call takes, and why.
typedef struct transpose_choice {
  const char *variant;  // null: nothing is launched
  const char *device;   // whose tuning decided, null: nobody's
  const char *match;    // how that device matches the current one
  const char *size;     // the tuned size whose kernel it is, null: none
  const char *reason;   // where the call lies among the tuned sizes; why naive, why nothing
} transpose_choice;

namespace transpose_detail {
namespace {  // every file that includes this header has its own kernels

#ifdef __NVCC__  // a variant may leave a variable of the computation unused
#pragma nv_diagnostic push
#pragma nv_diag_suppress 177, 550
#endif

// direct t256, the naive variant.
//   needs a aligned to 4, b aligned to 4
//   source 081f1957d0acc899c10b3ffe4f5d14e9
namespace k0_direct {
// One element a thread.
__global__ void __launch_bounds__(256) transpose_kernel(const float *__restrict__ a_in, float *__restrict__ b_out, long long n_row, long long n_col) {
  const long long e = blockIdx.x * 256LL + threadIdx.x;
  if (e >= n_row * n_col) return;
  const long long row = e / n_col, col = e % n_col;
  b_out[col * n_row + row] = a_in[row * n_col + col];
}
}  // namespace k0_direct

// tile 32x32.
//   for NVIDIA H200 at row=4096 col=4096
//   needs a aligned to 4, b aligned to 4
//   source b5d2dd2f2f951d57f7cb49f51ffc2901
namespace k1_tile {
// A tile of 32 x 32 through shared memory, rows one word apart.
__global__ void __launch_bounds__(256) transpose_kernel(const float *__restrict__ a_in, float *__restrict__ b_out, long long n_row, long long n_col) {
  __shared__ float tile[32][33];
  const long long across = (n_col + 31) / 32;
  const long long row0 = blockIdx.x / across * 32, col0 = blockIdx.x % across * 32;
  const int lane = threadIdx.x % 32, line = threadIdx.x / 32;
  for (int r = line; r < 32; r += 8) {
    if (row0 + r < n_row && col0 + lane < n_col) tile[r][lane] = a_in[(row0 + r) * n_col + col0 + lane];
  }
  __syncthreads();
  for (int c = line; c < 32; c += 8) {
    if (col0 + c < n_col && row0 + lane < n_row) b_out[(col0 + c) * n_row + row0 + lane] = tile[lane][c];
  }
}
}  // namespace k1_tile

#ifdef __NVCC__
#pragma nv_diagnostic pop
#endif

// A pointer as the type that a kernel declares: each brings its own copy of the types.
struct input {
  const void *address;
  template <typename T> operator const T *() const {
    return static_cast<const T *>(address);
  }
};
struct output {
  void *address;
  template <typename T> operator T *() const {
    return static_cast<T *>(address);
  }
};

inline bool aligned(const void *p, unsigned long long bytes) {
  return reinterpret_cast<unsigned long long>(p) % bytes == 0;
}

constexpr long long kMaxBlocks = 0x7fffffff;  // of a grid, in x

// The arguments of one call.
struct call {
  const void *a;
  void *b;
  long long n_row;
  long long n_col;
};

// Elements of the index space; a double, because a product may be any size.
inline double elements(long long n_row, long long n_col) {
  return double(n_row) * double(n_col);
}

// A tuned size, the kernel that won it, and where that is predicted to be slower than the
// naive variant: a digit for the extents times 2^(step * k), k from -reach to reach; 1: it is.
struct tuned {
  long long n_row, n_col;
  int kernel;
  const char *size;
  int step, reach;
  const char *slower;  // null: not known
};
const tuned sizes_0[] = {  // NVIDIA H200
    {4096LL, 4096LL, 1, "row=4096 col=4096", 2, 5,
     "1111111111111111111111110000000001100000000011000000000110000000001100000000011000000000110000000001100000000011000000000"},
};

struct tuned_device {
  const char *name;
  int major, minor, sms;
  const tuned *sizes;
  int n_sizes;
};
const tuned_device devices[] = {
    {"NVIDIA H200", 9, 0, 132, sizes_0, 1},
};

// The current device, as far as the choice goes.
struct place {
  const tuned_device *device;  // null: none matches
  int match;
};

// 3: same device model, 2: same compute capability, 1: same major version, 0: none.
inline int match(const tuned_device &d, const cudaDeviceProp &here) {
  if (d.major != here.major) return 0;
  if (d.minor != here.minor) return 1;
  return d.sms == here.multiProcessorCount && strcmp(d.name, here.name) == 0 ? 3 : 2;
}

// The tuned device that matches the current one best, the first among equals. Reading a
// device's name takes long, so a device is asked once: `kept` holds 1 + match + 4 * device.
inline cudaError_t find_place(place *here) {
  constexpr int kKept = 64;
  static std::atomic<int> kept[kKept];  // 0: not asked yet
  int ordinal = 0;
  cudaError_t error = cudaGetDevice(&ordinal);
  if (error != cudaSuccess) return error;
  int found = ordinal < kKept ? kept[ordinal].load(std::memory_order_relaxed) : 0;
  if (found == 0) {
    cudaDeviceProp properties;
    error = cudaGetDeviceProperties(&properties, ordinal);
    if (error != cudaSuccess) return error;
    int best = 0;
    int device = 0;
    found = 1;
    for (const tuned_device &d : devices) {
      if (match(d, properties) > best) {
        best = match(d, properties);
        found = 1 + best + 4 * device;
      }
      device++;
    }
    if (ordinal < kKept) kept[ordinal].store(found, std::memory_order_relaxed);
  }
  here->match = (found - 1) % 4;
  here->device = here->match > 0 ? &devices[(found - 1) / 4] : nullptr;
  return cudaSuccess;
}

// When each kernel is right: the size of its grid, alignments, conditions.
inline long long k0_blocks(long long n_row, long long n_col) {
  return (n_row * n_col + 255) / 256;
}
inline bool k0_takes(const call &c) {
  const long long blocks = k0_blocks(c.n_row, c.n_col);
  return blocks >= 1 && blocks <= kMaxBlocks &&
         aligned(c.a, 4) &&
         aligned(c.b, 4);
}

inline long long k1_blocks(long long n_row, long long n_col) {
  return (n_row + 31) / 32 * ((n_col + 31) / 32);
}
inline bool k1_takes(const call &c) {
  const long long blocks = k1_blocks(c.n_row, c.n_col);
  return blocks >= 1 && blocks <= kMaxBlocks &&
         aligned(c.a, 4) &&
         aligned(c.b, 4);
}

inline bool takes(int kernel, const call &c) {
  switch (kernel) {
  case 0: return k0_takes(c);
  case 1: return k1_takes(c);
  default: return false;
  }
}

inline double ratio(double x, double y) {
  x = x < 1 ? 1 : x;
  y = y < 1 ? 1 : y;
  return x < y ? y / x : x / y;
}

// How far a call is from a tuned size: by how much each extent differs, all multiplied. 1: equal.
inline double distance(const tuned &t, const call &c) {
  return ratio(double(c.n_row), double(t.n_row)) *
         ratio(double(c.n_col), double(t.n_col));
}

// Where a call lies among the sizes tuned on the device.
inline const char *range(const tuned_device &d, const tuned &t, const call &c) {
  if (distance(t, c) == 1) return "tuned size";
  bool below_0 = false, above_0 = false;
  bool below_1 = false, above_1 = false;
  for (int k = 0; k < d.n_sizes; k++) {
    below_0 = below_0 || d.sizes[k].n_row <= c.n_row;
    above_0 = above_0 || d.sizes[k].n_row >= c.n_row;
    below_1 = below_1 || d.sizes[k].n_col <= c.n_col;
    above_1 = above_1 || d.sizes[k].n_col >= c.n_col;
  }
  return below_0 && above_0 && below_1 && above_1
             ? "between tuned sizes"
             : "outside the tuned sizes";
}

const char *const kSlower = "tuned kernels are predicted to be slower than naive here";

// Whether one of the shapes around the call says so.
inline bool slower(const tuned &t, const call &c) {
  if (t.slower == nullptr) return false;
  const double times[] = {double(c.n_row < 1 ? 1 : c.n_row) / double(t.n_row < 1 ? 1 : t.n_row),
                          double(c.n_col < 1 ? 1 : c.n_col) / double(t.n_col < 1 ? 1 : t.n_col)};
  for (int corner = 0; corner < 4; corner++) {
    int at = 0;
    for (int d = 0; d < 2; d++) {
      const double x = log2(times[d]) / t.step;
      int k = int((corner >> d & 1) != 0 ? ceil(x) : floor(x));
      k = k < -t.reach ? -t.reach : k > t.reach ? t.reach : k;
      at = at * (2 * t.reach + 1) + k + t.reach;
    }
    if (t.slower[at] == '1') return true;
  }
  return false;
}

struct choice {
  int kernel;  // -1: none
  int match;
  const tuned_device *device;  // with its size: whose kernel it is, null: naive
  const tuned *size;
  const char *reason;
};

// Of the device's tuned sizes the nearest whose kernel is right for the call and worth it.
inline void choose_tuned(const call &c, const place &here, choice *out) {
  double best = 0;
  out->reason = "no kernel of this device is right for these arguments";
  for (int k = 0; k < here.device->n_sizes; k++) {
    const tuned &t = here.device->sizes[k];
    const double away = distance(t, c);
    if ((out->kernel >= 0 && away >= best) || !takes(t.kernel, c)) continue;
    if (distance(t, c) != 1 && slower(t, c)) {
      if (out->kernel < 0) out->reason = kSlower;
      continue;
    }
    *out = choice{t.kernel, here.match, here.device, &t, range(*here.device, t, c)};
    best = away;
  }
}

// Which kernel a call that has work takes.
inline cudaError_t choose(const call &c, choice *out) {
  place here = {};
  const cudaError_t error = find_place(&here);
  *out = choice{-1, 0, nullptr, nullptr, cudaGetErrorString(error)};
  if (error != cudaSuccess) return error;
  out->reason = "no device of this major version was tuned";
  if (here.device != nullptr) choose_tuned(c, here, out);
  if (out->kernel < 0 && takes(0, c)) out->kernel = 0;
  if (out->kernel >= 0) return cudaSuccess;
  out->reason = "invalid configuration: more than 2^31 - 1 blocks";
  if (k0_blocks(c.n_row, c.n_col) > kMaxBlocks) return cudaErrorInvalidConfiguration;
  out->reason = "invalid value: the naive variant cannot take these arguments";
  return cudaErrorInvalidValue;
}

inline const char *refuse(cudaError_t *answer, cudaError_t error, const char *reason) {
  *answer = error;
  return reason;
}

// Why there is nothing to launch, and what the call then returns; null: there is.
inline const char *no_work(const call &c, cudaError_t *answer) {
  constexpr long long kMost = 1LL << 48;  // elements: no product overflows
  if (c.n_row < 0 || c.n_col < 0)
    return refuse(answer, cudaErrorInvalidValue, "invalid value: an extent is negative");
  if (c.n_row == 0 || c.n_col == 0)
    return refuse(answer, cudaSuccess, "nothing to launch: the index space is empty");
  if (c.n_row > kMost || c.n_col > kMost || elements(c.n_row, c.n_col) > double(kMost))
    return refuse(answer, cudaErrorInvalidConfiguration, "invalid configuration: more than 2^48 elements");
  if (c.a == nullptr)
    return refuse(answer, cudaErrorInvalidValue, "invalid value: a is null");
  if (!aligned(c.a, 4))
    return refuse(answer, cudaErrorInvalidValue, "invalid value: a is not aligned to 4 bytes");
  if (c.b == nullptr)
    return refuse(answer, cudaErrorInvalidValue, "invalid value: b is null");
  if (!aligned(c.b, 4))
    return refuse(answer, cudaErrorInvalidValue, "invalid value: b is not aligned to 4 bytes");
  return nullptr;
}

inline cudaError_t launch(const call &c, cudaStream_t stream) {
  cudaError_t error = cudaSuccess;
  if (no_work(c, &error) != nullptr) return error;
  choice chosen = {};
  error = choose(c, &chosen);
  if (error != cudaSuccess) return error;
  switch (chosen.kernel) {
  case 0:
    k0_direct::transpose_kernel<<<unsigned(k0_blocks(c.n_row, c.n_col)), 256, 0, stream>>>(
        input{c.a}, output{c.b}, c.n_row, c.n_col);
    break;
  case 1:
    k1_tile::transpose_kernel<<<unsigned(k1_blocks(c.n_row, c.n_col)), 256, 0, stream>>>(
        input{c.a}, output{c.b}, c.n_row, c.n_col);
    break;
  }
  return cudaGetLastError();
}

inline transpose_choice describe(const call &c) {
  static const char *const variants[] = {"direct t256", "tile 32x32"};
  static const char *const matches[] = {"none", "same major version",
                                       "same compute capability, other model",
                                       "same device model"};
  cudaError_t error = cudaSuccess;
  const char *const why = no_work(c, &error);
  if (why != nullptr) return {nullptr, nullptr, matches[0], nullptr, why};
  choice chosen = {};
  if (choose(c, &chosen) != cudaSuccess) {
    return {nullptr, nullptr, matches[0], nullptr, chosen.reason};
  }
  return {variants[chosen.kernel], chosen.device ? chosen.device->name : nullptr,
          matches[chosen.match], chosen.size ? chosen.size->size : nullptr,
          chosen.reason};
}

}  // namespace
}  // namespace transpose_detail

// Where the kernels and figures come from, for a program to print.
typedef struct transpose_tuning {
  const char *device, *arch, *figures, *driver, *nvrtc, *tool, *size, *variant, *source_hash;
  double median_us, gb_per_s, of_copy, naive_us;  // 0: not timed
  int candidates, verified, tied, failed;
} transpose_tuning;
static const transpose_tuning transpose_tunings[] = {
    {"NVIDIA H200", "sm_90", "timed",
     "580.1", "13.0", "0.1.0",
     "row=4096 col=4096", "tile 32x32", "b5d2dd2f2f951d57f7cb49f51ffc2901",
     36, 3728.2702222222224, 0.88768338624338627, 110, 40, 38, 1, 2},
};
static const struct {
  const char *kernel, *spec_hash, *written_by;
  int n_tunings;
  const transpose_tuning *tunings;
} transpose_provenance = {"transpose", "4cd9b71ae4719dc7118ce94448cc0cba", "sectile 0.1.0", 1,
    transpose_tunings};

// Launches on `stream`; never synchronises, allocates nothing. An empty index space launches nothing.
// Arrays must not overlap. A negative extent, a null pointer or a pointer below its type's alignment
// is cudaErrorInvalidValue, a grid beyond 2^31 - 1 blocks cudaErrorInvalidConfiguration; other errors
// are those of the launch.
extern "C" inline cudaError_t transpose(const float *a, float *b, long long n_row, long long n_col, cudaStream_t stream) {
  return transpose_detail::launch({a, b, n_row, n_col}, stream);
}

// What transpose would do with these arguments on the current device.
extern "C" inline transpose_choice transpose_variant(const float *a, float *b, long long n_row, long long n_col) {
  return transpose_detail::describe({a, b, n_row, n_col});
}

#endif  // SECTILE_HEADER_transpose
