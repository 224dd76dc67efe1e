// transpose.h - written by sectile 0.1.0; do not edit. Again: sectile emit transpose.lua -o transpose.h
//
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
// Spec 9b8a942eef4efafbeef8de6e8cc420e9; the hash of each kernel's source stands above it.
//
// Any C11 or C++11 compiler takes this header. CUDA files get the kernels and the launch function,
// each for itself; other files get declarations. For these, one CUDA file defines
// transpose_IMPLEMENTATION before it includes the header for the first time.
// NVRTC gets the kernels, under the names that the lines of #define give them.
#if !defined(SECTILE_HEADER_transpose) && !defined(__CUDACC_RTC__)
#define SECTILE_HEADER_transpose
#ifdef __has_include
#if !__has_include(<cuda_runtime_api.h>)
#define SECTILE_NO_RUNTIME  // without CUDA's headers: types and layouts only
#endif
#endif
#ifndef SECTILE_NO_RUNTIME
#include <cuda_runtime_api.h>
#endif
#include <stddef.h>
#ifndef __cplusplus
#include <assert.h>
#include <stdalign.h>
#include <stdbool.h>
#endif

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
} transpose_provenance = {"transpose", "9b8a942eef4efafbeef8de6e8cc420e9", "sectile 0.1.0", 1,
    transpose_tunings};

// Which kernel a call takes, and why.
typedef struct transpose_choice {
  const char *variant;  // null: nothing is launched
  const char *device;   // whose tuning decided, null: nobody's
  const char *match;    // how that device matches the current one
  const char *size;     // the tuned size whose kernel it is, null: none
  const char *reason;   // where the call lies among the tuned sizes; why naive, why nothing
} transpose_choice;

#ifndef SECTILE_NO_RUNTIME
// The arguments of one call, by name.
typedef struct transpose_args {
  const float *a;
  float *b;
  long long n_row;
  long long n_col;
} transpose_args;

#ifdef __cplusplus
extern "C" {
#endif

// Launches on `stream`; never synchronises, allocates nothing. An empty index space launches nothing.
// What is written must not overlap another array. That, a negative extent, a null pointer or a
// pointer below its type's alignment is cudaErrorInvalidValue, a grid beyond 2^31 - 1 blocks
// cudaErrorInvalidConfiguration; other errors are those of the launch.
cudaError_t transpose(const float *a, float *b, long long n_row, long long n_col, cudaStream_t stream);
// The same, every argument by its name. What `args` leaves out is 0; null is cudaErrorInvalidValue.
cudaError_t transpose_launch(const transpose_args *args, cudaStream_t stream);

// What transpose would do with these arguments on the current device.
transpose_choice transpose_variant(const float *a, float *b, long long n_row, long long n_col);

#ifdef __cplusplus
}
#endif
#endif  // SECTILE_NO_RUNTIME
#endif  // SECTILE_HEADER_transpose

#if defined(transpose_IMPLEMENTATION) && !defined(__CUDACC__)
#error "transpose_IMPLEMENTATION: compile this file as CUDA"
#endif
#if defined(__CUDACC__) && !defined(SECTILE_KERNELS_transpose)
#define SECTILE_KERNELS_transpose
#ifdef __CUDACC_RTC__
#undef __global__
#define __global__ extern "C" __attribute__((global))
namespace transpose_detail {
#else
#include <cuda_runtime.h>
#include <string.h>

#include <atomic>

namespace transpose_detail {
namespace {  // kernels are those of this file
#endif

// A variant may leave a variable of the computation unused.
#if defined(__NVCC__) || defined(__CUDACC_RTC__)
#pragma nv_diagnostic push
#pragma nv_diag_suppress 177, 550
#endif

// direct t256, the naive variant.
//   needs a aligned to 4, b aligned to 4
//   source 081f1957d0acc899c10b3ffe4f5d14e9
#define transpose_kernel transpose_k0_direct
namespace k0_direct {
// One element a thread.
__global__ void __launch_bounds__(256) transpose_kernel(const float *__restrict__ a_in, float *__restrict__ b_out, long long n_row, long long n_col) {
  const long long e = blockIdx.x * 256LL + threadIdx.x;
  if (e >= n_row * n_col) return;
  const long long row = e / n_col, col = e % n_col;
  b_out[col * n_row + row] = a_in[row * n_col + col];
}
}  // namespace k0_direct
#undef transpose_kernel

// tile 32x32.
//   for NVIDIA H200 at row=4096 col=4096
//   needs a aligned to 4, b aligned to 4
//   source b5d2dd2f2f951d57f7cb49f51ffc2901
#define transpose_kernel transpose_k1_tile
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
#undef transpose_kernel

#if defined(__NVCC__) || defined(__CUDACC_RTC__)
#pragma nv_diagnostic pop
#endif

#ifdef __CUDACC_RTC__
}  // namespace transpose_detail
#undef __global__
#define __global__ __attribute__((global))
#else
typedef transpose_args call;  // of the launch function

// The extents of a call, those of the index space first.
constexpr int kExtents = 2, kDims = 2;
constexpr bool kReduced[kDims] = {false, false};  // outputs have elements even where it is 0
constexpr int kRows = -1;  // the dimension of rows with different lengths, which share elements; -1: none
struct extents {
  long long n[kExtents];
};
inline extents extents_of(const call &c) {
  return {{c.n_row, c.n_col}};
}

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

// What is wrong with a pointer of the call, null: nothing. Where there is nothing to sum, `empty`,
// inputs may be null.
inline const char *bad_pointer(const call &c, bool empty) {
  (void)empty;
  if (c.a == nullptr && !empty) return "invalid value: a is null";
  if (!aligned(c.a, 4)) return "invalid value: a is not aligned to 4 bytes";
  if (c.b == nullptr) return "invalid value: b is null";
  if (!aligned(c.b, 4)) return "invalid value: b is not aligned to 4 bytes";
  return nullptr;
}

// Of each variant the blocks of its grid, whether it is right for a call, its launch.
inline long long k0_blocks(const call &c) {
  const long long n_row = c.n_row, n_col = c.n_col;
  return (n_row * n_col + 255) / 256;
}
inline bool k0_takes(const call &c) {
  if (!aligned(c.a, 4)) return false;
  if (!aligned(c.b, 4)) return false;
  return true;
}
inline cudaError_t k0_launch(const call &c, cudaStream_t stream) {
  k0_direct::transpose_k0_direct<<<unsigned(k0_blocks(c)), 256, 0, stream>>>(
      input{c.a}, output{c.b}, c.n_row, c.n_col);
  return cudaGetLastError();
}

inline long long k1_blocks(const call &c) {
  const long long n_row = c.n_row, n_col = c.n_col;
  return (n_row + 31) / 32 * ((n_col + 31) / 32);
}
inline bool k1_takes(const call &c) {
  if (!aligned(c.a, 4)) return false;
  if (!aligned(c.b, 4)) return false;
  return true;
}
inline cudaError_t k1_launch(const call &c, cudaStream_t stream) {
  k1_tile::transpose_k1_tile<<<unsigned(k1_blocks(c)), 256, 0, stream>>>(
      input{c.a}, output{c.b}, c.n_row, c.n_col);
  return cudaGetLastError();
}

struct variant {
  const char *label;
  int shared_bytes;  // that a block has to ask for; 0: it need not
  long long (*blocks)(const call &);
  bool (*takes)(const call &);
  cudaError_t (*launch)(const call &, cudaStream_t);
};
const variant variants[] = {
    {"direct t256", 0, k0_blocks, k0_takes, k0_launch},
    {"tile 32x32", 0, k1_blocks, k1_takes, k1_launch},
};
constexpr bool kWantsShared = false;  // some variant asks for shared memory

// A tuned size, the variant that won it, and where that is predicted to be slower than the naive
// one: a digit for the extents times 2^(step * k), k from -reach to reach; 1: it is.
struct tuned {
  long long n[kExtents];
  int variant;
  const char *size;
  int step, reach;
  const char *slower;  // null: not known
};
const tuned sizes_0[] = {  // NVIDIA H200: n_row, n_col
    {{4096, 4096}, 1, "row=4096 col=4096", 2, 5,
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

// ---- Which variant a call takes. Up to the end of the namespace every header has this text.

// The current device, as far as the choice goes.
struct place {
  const tuned_device *device;  // null: none matches
  int match, shared_bytes;
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
  if (error == cudaSuccess && kWantsShared) {
    error = cudaDeviceGetAttribute(&here->shared_bytes,
                                   cudaDevAttrMaxSharedMemoryPerBlockOptin, ordinal);
  }
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

constexpr long long kMaxBlocks = 0x7fffffff;  // of a grid, in x

// The variant is right for the call: its grid, shared memory, alignments, conditions.
inline bool takes(const variant &v, const call &c, const place &here) {
  const long long blocks = v.blocks(c);
  return blocks >= 1 && blocks <= kMaxBlocks && v.shared_bytes <= here.shared_bytes && v.takes(c);
}

// a / b, an extent of 0 taken for 1.
inline double ratio(long long a, long long b) {
  return double(a < 1 ? 1 : a) / double(b < 1 ? 1 : b);
}

// How far a call is from a tuned size: by how much each extent differs, all multiplied. 1: equal.
inline double distance(const tuned &t, const extents &e) {
  double product = 1;
  for (int k = 0; k < kExtents; k++) {
    product *= e.n[k] < t.n[k] ? ratio(t.n[k], e.n[k]) : ratio(e.n[k], t.n[k]);
  }
  return product;
}

// Where a call lies among the sizes tuned on the device.
inline const char *range(const tuned_device &d, const tuned &t, const extents &e) {
  if (distance(t, e) == 1) return "tuned size";
  for (int k = 0; k < kExtents; k++) {
    bool below = false, above = false;
    for (int s = 0; s < d.n_sizes; s++) {
      below = below || d.sizes[s].n[k] <= e.n[k];
      above = above || d.sizes[s].n[k] >= e.n[k];
    }
    if (!below || !above) return "outside the tuned sizes";
  }
  return "between tuned sizes";
}

// Whether one of the shapes around the call says that the kernel is slower than naive there.
inline bool slower(const tuned &t, const extents &e) {
  if (t.slower == nullptr) return false;
  for (int corner = 0; corner < 1 << kDims; corner++) {
    int at = 0;
    for (int d = 0; d < kDims; d++) {
      const double x = log2(ratio(e.n[d], t.n[d])) / t.step;
      int k = int((corner >> d & 1) != 0 ? ceil(x) : floor(x));
      k = k < -t.reach ? -t.reach : k > t.reach ? t.reach : k;
      at = at * (2 * t.reach + 1) + k + t.reach;
    }
    if (t.slower[at] == '1') return true;
  }
  return false;
}

struct choice {
  int variant;  // -1: none
  int match;
  const tuned_device *device;  // with its size: whose variant it is, null: naive
  const tuned *size;
  const char *reason;
};

// Of the device's tuned sizes the nearest whose variant is right for the call and worth it.
inline void choose_tuned(const call &c, const place &here, choice *out) {
  const extents e = extents_of(c);
  double best = 0;
  out->reason = "no kernel of this device is right for these arguments";
  for (int k = 0; k < here.device->n_sizes; k++) {
    const tuned &t = here.device->sizes[k];
    const double away = distance(t, e);
    if ((out->variant >= 0 && away >= best) || !takes(variants[t.variant], c, here)) continue;
    if (away != 1 && slower(t, e)) {
      if (out->variant < 0) {
        out->reason = "tuned kernels are predicted to be slower than naive here";
      }
      continue;
    }
    *out = choice{t.variant, here.match, here.device, &t, range(*here.device, t, e)};
    best = away;
  }
}

// Which variant a call that has work takes.
inline cudaError_t choose(const call &c, choice *out) {
  place here = {};
  const cudaError_t error = find_place(&here);
  *out = choice{-1, 0, nullptr, nullptr, cudaGetErrorString(error)};
  if (error != cudaSuccess) return error;
  out->reason = "no device of this major version was tuned";
  if (here.device != nullptr) choose_tuned(c, here, out);
  if (out->variant < 0 && takes(variants[0], c, here)) out->variant = 0;
  if (out->variant >= 0) return cudaSuccess;
  out->reason = "invalid configuration: more than 2^31 - 1 blocks";
  if (variants[0].blocks(c) > kMaxBlocks) return cudaErrorInvalidConfiguration;
  out->reason = "invalid value: the naive variant cannot take these arguments";
  return cudaErrorInvalidValue;
}

// Why there is nothing to launch, and what the call then returns; null: there is.
inline const char *no_work(const call &c, cudaError_t *answer) {
  constexpr long long kMost = 1LL << 48;  // elements: no product overflows
  const extents e = extents_of(c);
  double elements = 1;  // of the index space; a double, because a product may be any size
  bool large = false, empty = false;
  *answer = cudaErrorInvalidValue;
  for (int k = 0; k < kExtents; k++) {
    if (e.n[k] < 0) return "invalid value: an extent is negative";
    large = large || e.n[k] > kMost;
  }
  for (int d = 0; d < kDims; d++) {
    elements *= d == kRows ? 1.0 : double(e.n[d]);
    empty = empty || (e.n[d] == 0 && !kReduced[d]);
  }
  if (!empty && !large && elements <= double(kMost)) return bad_pointer(c, elements == 0);
  *answer = empty ? cudaSuccess : cudaErrorInvalidConfiguration;
  return empty ? "nothing to launch: the index space is empty"
               : "invalid configuration: more than 2^48 elements";
}

inline cudaError_t launch(const call &c, cudaStream_t stream) {
  cudaError_t error = cudaSuccess;
  if (no_work(c, &error) != nullptr) return error;
  choice chosen = {};
  error = choose(c, &chosen);
  return error == cudaSuccess ? variants[chosen.variant].launch(c, stream) : error;
}

inline transpose_choice describe(const call &c) {
  static const char *const matches[] = {"none", "same major version",
                                       "same compute capability, other model",
                                       "same device model"};
  cudaError_t error = cudaSuccess;
  choice chosen = {};
  const char *why = no_work(c, &error);
  if (why == nullptr && choose(c, &chosen) != cudaSuccess) why = chosen.reason;
  if (why != nullptr) return {nullptr, nullptr, matches[0], nullptr, why};
  return {variants[chosen.variant].label, chosen.device ? chosen.device->name : nullptr,
          matches[chosen.match], chosen.size ? chosen.size->size : nullptr, chosen.reason};
}

}  // namespace
}  // namespace transpose_detail

#ifdef transpose_IMPLEMENTATION
#define transpose_LINKAGE extern "C"
#else
#define transpose_LINKAGE extern "C" inline
#endif
transpose_LINKAGE cudaError_t transpose(const float *a, float *b, long long n_row, long long n_col, cudaStream_t stream) {
  return transpose_detail::launch({a, b, n_row, n_col}, stream);
}
transpose_LINKAGE cudaError_t transpose_launch(const transpose_args *args, cudaStream_t stream) {
  return args == nullptr ? cudaErrorInvalidValue : transpose_detail::launch(*args, stream);
}
transpose_LINKAGE transpose_choice transpose_variant(const float *a, float *b, long long n_row, long long n_col) {
  return transpose_detail::describe({a, b, n_row, n_col});
}
#undef transpose_LINKAGE
#endif  // __CUDACC_RTC__
#endif  // SECTILE_KERNELS_transpose
