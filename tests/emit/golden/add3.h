// add3.h - written by sectile 0.1.0; do not edit. Again: sectile emit add3.lua -o add3.h
//
// For every i in [0, n_i):
//   b.x = a.x + k; b.y = a.y + k;
//   b.z = a.z + k;
// where
//   a  in   vec3 { f64 x, y, z } of 24 bytes, layout aos; over (i)
//   b  out  vec3 { f64 x, y, z } of 24 bytes, layout aos; over (i)
//   k  f64
//
// device               variant          size        median us  GB/s  of copy  sectors/request ld (least) | st (least)
// NVIDIA H200 (sm_90)  flat t256 w16    i=1048576        14.0  3595     86 %  8.0 (8.0) | 8.0 (8.0)
//   naive, same run    direct t256      i=1048576        28.0  1798     43 %  8.0 (8.0) | 24.0 (8.0)
//   40 candidates: 38 verified, 1 tied with the winner, 2 failed
// NVIDIA H200 (sm_90)  staged t512 big  i=67108864      780.0  4130     98 %  8.0 (8.0) | 8.0 (8.0)
//   naive, same run    direct t256      i=67108864     1560.0  2065     49 %  8.0 (8.0) | 24.0 (8.0)
//   40 candidates: 38 verified, 1 tied with the winner, 2 failed
// NVIDIA A100 (sm_80)  staged t512      i=16777216      560.0  1438     34 %  8.0 (8.0) | 8.0 (8.0)
//   naive, same run    direct t256      i=16777216     1120.0   719     17 %  8.0 (8.0) | 24.0 (8.0)
//   40 candidates: 38 verified, 1 tied with the winner, 2 failed
//
// NVIDIA H200: driver 580.1, NVRTC 13.0, sectile 0.1.0
// NVIDIA A100: driver 570.2, NVRTC 13.0, sectile 0.1.0
// Spec 4b1908e0bd0034314f8b7ca3b7f91846; the hash of each kernel's source stands above it.
//
// Any C11 or C++11 compiler takes this header. CUDA files get the kernels and the launch function,
// each for itself; other files get declarations. For these, one CUDA file defines
// add3_IMPLEMENTATION before it includes the header for the first time.
// NVRTC gets the kernels, under the names that the lines of #define give them.
#if !defined(SECTILE_HEADER_add3) && !defined(__CUDACC_RTC__)
#define SECTILE_HEADER_add3
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

typedef struct add3_vec3 {
  double x, y, z;
} add3_vec3;
static_assert(sizeof(add3_vec3) == 24 && alignof(add3_vec3) == 8, "size of add3_vec3");
static_assert(offsetof(add3_vec3, x) == 0, "x of add3_vec3");
static_assert(offsetof(add3_vec3, y) == 8, "y of add3_vec3");
static_assert(offsetof(add3_vec3, z) == 16, "z of add3_vec3");

// Where the kernels and figures come from, for a program to print.
typedef struct add3_tuning {
  const char *device, *arch, *figures, *driver, *nvrtc, *tool, *size, *variant, *source_hash;
  double median_us, gb_per_s, of_copy, naive_us;  // 0: not timed
  int candidates, verified, tied, failed;
} add3_tuning;
static const add3_tuning add3_tunings[] = {
    {"NVIDIA H200", "sm_90", "timed",
     "580.1", "13.0", "0.1.0",
     "i=1048576", "flat t256 w16", "50495b06740e7ca4063654e685e5eda6",
     14, 3595.1177142857141, 0.85598040816326526, 28, 40, 38, 1, 2},
    {"NVIDIA H200", "sm_90", "timed",
     "580.1", "13.0", "0.1.0",
     "i=67108864", "staged t512 big", "9767e390bad95d0abf2603ff3c248b69",
     780, 4129.7762461538459, 0.98328005860805845, 1560, 40, 38, 1, 2},
    {"NVIDIA A100", "sm_80", "timed",
     "570.2", "13.0", "0.1.0",
     "i=16777216", "staged t512", "4e29d2491054dee71a62e072e01e0b62",
     560, 1438.0470857142857, 0.34239216326530608, 1120, 40, 38, 1, 2},
};
static const struct {
  const char *kernel, *spec_hash, *written_by;
  int n_tunings;
  const add3_tuning *tunings;
} add3_provenance = {"add3", "4b1908e0bd0034314f8b7ca3b7f91846", "sectile 0.1.0", 3,
    add3_tunings};

// Which kernel a call takes, and why.
typedef struct add3_choice {
  const char *variant;  // null: nothing is launched
  const char *device;   // whose tuning decided, null: nobody's
  const char *match;    // how that device matches the current one
  const char *size;     // the tuned size whose kernel it is, null: none
  const char *reason;   // where the call lies among the tuned sizes; why naive, why nothing
} add3_choice;

#ifndef SECTILE_NO_RUNTIME
// The arguments of one call, by name.
typedef struct add3_args {
  const add3_vec3 *a;
  add3_vec3 *b;
  double k;
  long long n_i;
} add3_args;

#ifdef __cplusplus
extern "C" {
#endif

// Launches on `stream`; never synchronises, allocates nothing. An empty index space launches nothing.
// What is written must not overlap another array. That, a negative extent, a null pointer or a
// pointer below its type's alignment is cudaErrorInvalidValue, a grid beyond 2^31 - 1 blocks
// cudaErrorInvalidConfiguration; other errors are those of the launch.
cudaError_t add3(const add3_vec3 *a, add3_vec3 *b, double k, long long n_i, cudaStream_t stream);
// The same, every argument by its name. What `args` leaves out is 0; null is cudaErrorInvalidValue.
cudaError_t add3_launch(const add3_args *args, cudaStream_t stream);

// What add3 would do with these arguments on the current device.
add3_choice add3_variant(const add3_vec3 *a, add3_vec3 *b, double k, long long n_i);

#ifdef __cplusplus
}
#endif
#endif  // SECTILE_NO_RUNTIME
#endif  // SECTILE_HEADER_add3

#if defined(add3_IMPLEMENTATION) && !defined(__CUDACC__)
#error "add3_IMPLEMENTATION: compile this file as CUDA"
#endif
#if defined(__CUDACC__) && !defined(SECTILE_KERNELS_add3)
#define SECTILE_KERNELS_add3
#ifdef __CUDACC_RTC__
#undef __global__
#define __global__ extern "C" __attribute__((global))
namespace add3_detail {
#else
#include <cuda_runtime.h>
#include <string.h>

#include <atomic>

namespace add3_detail {
namespace {  // kernels are those of this file
#endif

// A variant may leave a variable of the computation unused.
#if defined(__NVCC__) || defined(__CUDACC_RTC__)
#pragma nv_diagnostic push
#pragma nv_diag_suppress 177, 550
#endif

// direct t256, the naive variant. How it works.
//   needs a aligned to 8, b aligned to 8
//   source 3d92bd0fe92fa7f1b16b5281f6e5fabc
#define add3_kernel add3_k0_direct
namespace k0_direct {
struct vec3 {
  double x;
  double y;
  double z;
};

// One element a thread.
__global__ void __launch_bounds__(256) add3_kernel(const vec3 *__restrict__ a_in, vec3 *__restrict__ b_out, double k, long long n_i) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i >= n_i) return;
  const vec3 a = a_in[i];
  vec3 b;
  b.x = a.x + k; b.y = a.y + k; b.z = a.z + k;
  b_out[i] = b;
}
}  // namespace k0_direct
#undef add3_kernel

// flat t256 w16. How it works.
//   for NVIDIA H200 at i=1048576
//   needs a aligned to 16, b aligned to 16, n_i % 2 == 0
//   source 50495b06740e7ca4063654e685e5eda6
#define add3_kernel add3_k1_flat
namespace k1_flat {
// The array as 3 n doubles, two a thread as one 16-byte word.
__global__ void __launch_bounds__(256) add3_kernel(const double2 *__restrict__ a_in, double2 *__restrict__ b_out, double k, long long n_i) {
  const long long w = blockIdx.x * 256LL + threadIdx.x;
  if (2 * w >= 3 * n_i) return;
  double2 v = a_in[w];
  v.x += k;
  v.y += k;
  b_out[w] = v;
}
}  // namespace k1_flat
#undef add3_kernel

// staged t512 big. How it works.
//   for NVIDIA H200 at i=67108864
//   needs a aligned to 8, b aligned to 8, 65536 bytes of shared memory
//   source 9767e390bad95d0abf2603ff3c248b69
#define add3_kernel add3_k2_staged
namespace k2_staged {
struct vec3 {
  double x;
  double y;
  double z;
};

// Records through shared memory, 512 a block.
__global__ void __launch_bounds__(512) add3_kernel(const vec3 *__restrict__ a_in, vec3 *__restrict__ b_out, double k, long long n_i) {
  extern __shared__ __align__(16) unsigned char raw[];
  const int unused = 512;
  double *const tile = reinterpret_cast<double *>(raw);
  const long long first = blockIdx.x * 512LL;
  const long long left = n_i - first;
  const int n = 3 * static_cast<int>(left < 512 ? left : 512);
  const double *const in = &a_in[first].x;
  double *const out = &b_out[first].x;
  for (int j = threadIdx.x; j < n; j += 512) tile[j] = in[j];
  __syncthreads();
  for (int j = threadIdx.x; j < n; j += 512) out[j] = tile[j] + k;
}
}  // namespace k2_staged
#undef add3_kernel

// staged t512. How it works.
//   for NVIDIA A100 at i=16777216
//   needs a aligned to 8, b aligned to 8
//   source 4e29d2491054dee71a62e072e01e0b62
#define add3_kernel add3_k3_staged
namespace k3_staged {
struct vec3 {
  double x;
  double y;
  double z;
};

// Records through shared memory, 512 a block.
__global__ void __launch_bounds__(512) add3_kernel(const vec3 *__restrict__ a_in, vec3 *__restrict__ b_out, double k, long long n_i) {
  extern __shared__ __align__(16) unsigned char raw[];
  const int unused = 512;
  double *const tile = reinterpret_cast<double *>(raw);
  const long long first = blockIdx.x * 512LL;
  const long long left = n_i - first;
  const int n = 3 * static_cast<int>(left < 512 ? left : 512);
  const double *const in = &a_in[first].x;
  double *const out = &b_out[first].x;
  for (int j = threadIdx.x; j < n; j += 512) tile[j] = in[j];
  __syncthreads();
  for (int j = threadIdx.x; j < n; j += 512) out[j] = tile[j] + k;
}
}  // namespace k3_staged
#undef add3_kernel

#if defined(__NVCC__) || defined(__CUDACC_RTC__)
#pragma nv_diagnostic pop
#endif

#ifdef __CUDACC_RTC__
}  // namespace add3_detail
#undef __global__
#define __global__ __attribute__((global))
#else
typedef add3_args call;  // of the launch function

// The extents of a call, those of the index space first.
constexpr int kExtents = 1, kDims = 1;
constexpr bool kReduced[kDims] = {false};  // outputs have elements even where it is 0
constexpr int kRows = -1;  // the dimension of rows with different lengths, which share elements; -1: none
struct extents {
  long long n[kExtents];
};
inline extents extents_of(const call &c) {
  return {{c.n_i}};
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

// Does an array that is written overlap another one?
inline bool overlap(const call &c) {
  const long long n_i = c.n_i;
  const struct {
    const void *first;
    long long bytes;
    bool written;
  } arrays[] = {
      {c.a, 24 * n_i, false},
      {c.b, 24 * n_i, true},
  };
  for (const auto &a : arrays) {
    for (const auto &b : arrays) {
      const char *const from = static_cast<const char *>(a.first);
      const char *const other = static_cast<const char *>(b.first);
      const bool meet = from < other + b.bytes && other < from + a.bytes;
      if (&a != &b && a.written && a.bytes > 0 && b.bytes > 0 && meet) return true;
    }
  }
  return false;
}

// What is wrong with a pointer of the call, null: nothing. Where there is nothing to sum, `empty`,
// inputs may be null.
inline const char *bad_pointer(const call &c, bool empty) {
  (void)empty;
  if (c.a == nullptr && !empty) return "invalid value: a is null";
  if (!aligned(c.a, 8)) return "invalid value: a is not aligned to 8 bytes";
  if (c.b == nullptr) return "invalid value: b is null";
  if (!aligned(c.b, 8)) return "invalid value: b is not aligned to 8 bytes";
  if (overlap(c)) return "invalid value: an array that is written overlaps another one";
  return nullptr;
}

// Of each variant the blocks of its grid, whether it is right for a call, its launch.
inline long long k0_blocks(const call &c) {
  const long long n_i = c.n_i;
  return (n_i + 255) / 256;
}
inline bool k0_takes(const call &c) {
  if (!aligned(c.a, 8)) return false;
  if (!aligned(c.b, 8)) return false;
  return true;
}
inline cudaError_t k0_launch(const call &c, cudaStream_t stream) {
  k0_direct::add3_k0_direct<<<unsigned(k0_blocks(c)), 256, 0, stream>>>(
      input{c.a}, output{c.b}, c.k, c.n_i);
  return cudaGetLastError();
}

inline long long k1_blocks(const call &c) {
  const long long n_i = c.n_i;
  return (3 * n_i / 2 + 255) / 256;
}
inline bool k1_takes(const call &c) {
  const long long n_i = c.n_i;
  if (!aligned(c.a, 16)) return false;
  if (!aligned(c.b, 16)) return false;
  if (!(n_i % 2 == 0)) return false;
  return true;
}
inline cudaError_t k1_launch(const call &c, cudaStream_t stream) {
  k1_flat::add3_k1_flat<<<unsigned(k1_blocks(c)), 256, 0, stream>>>(
      input{c.a}, output{c.b}, c.k, c.n_i);
  return cudaGetLastError();
}

inline long long k2_blocks(const call &c) {
  const long long n_i = c.n_i;
  return (n_i + 511) / 512;
}
inline bool k2_takes(const call &c) {
  if (!aligned(c.a, 8)) return false;
  if (!aligned(c.b, 8)) return false;
  return true;
}
inline cudaError_t k2_launch(const call &c, cudaStream_t stream) {
  const cudaError_t error = cudaFuncSetAttribute(k2_staged::add3_k2_staged,
                                                 cudaFuncAttributeMaxDynamicSharedMemorySize, 65536);
  if (error != cudaSuccess) return error;
  k2_staged::add3_k2_staged<<<unsigned(k2_blocks(c)), 512, 65536, stream>>>(
      input{c.a}, output{c.b}, c.k, c.n_i);
  return cudaGetLastError();
}

inline long long k3_blocks(const call &c) {
  const long long n_i = c.n_i;
  return (n_i + 511) / 512;
}
inline bool k3_takes(const call &c) {
  if (!aligned(c.a, 8)) return false;
  if (!aligned(c.b, 8)) return false;
  return true;
}
inline cudaError_t k3_launch(const call &c, cudaStream_t stream) {
  k3_staged::add3_k3_staged<<<unsigned(k3_blocks(c)), 512, 12288, stream>>>(
      input{c.a}, output{c.b}, c.k, c.n_i);
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
    {"flat t256 w16", 0, k1_blocks, k1_takes, k1_launch},
    {"staged t512 big", 65536, k2_blocks, k2_takes, k2_launch},
    {"staged t512", 0, k3_blocks, k3_takes, k3_launch},
};
constexpr bool kWantsShared = true;  // some variant asks for shared memory

// A tuned size, the variant that won it, and where that is predicted to be slower than the naive
// one: a digit for the extents times 2^(step * k), k from -reach to reach; 1: it is.
struct tuned {
  long long n[kExtents];
  int variant;
  const char *size;
  int step, reach;
  const char *slower;  // null: not known
};
const tuned sizes_0[] = {  // NVIDIA H200: n_i
    {{1048576}, 1, "i=1048576", 0, 0, nullptr},
    {{67108864}, 2, "i=67108864", 0, 0, nullptr},
};
const tuned sizes_1[] = {  // NVIDIA A100: n_i
    {{16777216}, 3, "i=16777216", 0, 0, nullptr},
};

struct tuned_device {
  const char *name;
  int major, minor, sms;
  const tuned *sizes;
  int n_sizes;
};
const tuned_device devices[] = {
    {"NVIDIA H200", 9, 0, 132, sizes_0, 2},
    {"NVIDIA A100", 8, 0, 108, sizes_1, 1},
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

inline add3_choice describe(const call &c) {
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
}  // namespace add3_detail

#ifdef add3_IMPLEMENTATION
#define add3_LINKAGE extern "C"
#else
#define add3_LINKAGE extern "C" inline
#endif
add3_LINKAGE cudaError_t add3(const add3_vec3 *a, add3_vec3 *b, double k, long long n_i, cudaStream_t stream) {
  return add3_detail::launch({a, b, k, n_i}, stream);
}
add3_LINKAGE cudaError_t add3_launch(const add3_args *args, cudaStream_t stream) {
  return args == nullptr ? cudaErrorInvalidValue : add3_detail::launch(*args, stream);
}
add3_LINKAGE add3_choice add3_variant(const add3_vec3 *a, add3_vec3 *b, double k, long long n_i) {
  return add3_detail::describe({a, b, k, n_i});
}
#undef add3_LINKAGE
#endif  // __CUDACC_RTC__
#endif  // SECTILE_KERNELS_add3
