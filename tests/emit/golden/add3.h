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
// Spec 086f74084f7261c038c986a47fcc489d; the hash of each kernel's source stands above it.
#pragma once
#ifndef SECTILE_HEADER_add3
#define SECTILE_HEADER_add3
#include <cuda_runtime.h>
#include <string.h>

#include <atomic>

typedef struct add3_vec3 {
  double x, y, z;
} add3_vec3;
static_assert(sizeof(add3_vec3) == 24 && alignof(add3_vec3) == 8 &&
              offsetof(add3_vec3, x) == 0 && offsetof(add3_vec3, y) == 8 && offsetof(add3_vec3, z) == 16,
              "layout of add3_vec3");

// Which kernel a call takes, and why.
typedef struct add3_choice {
  const char *variant;  // null: nothing is launched
  const char *device;   // whose tuning decided, null: nobody's
  const char *match;    // how that device matches the current one
  const char *size;     // the tuned size whose kernel it is, null: none
  const char *reason;   // where the call lies among the tuned sizes; why naive, why nothing
} add3_choice;

namespace add3_detail {
namespace {  // every file that includes this header has its own kernels

#ifdef __NVCC__  // a variant may leave a variable of the computation unused
#pragma nv_diagnostic push
#pragma nv_diag_suppress 177, 550
#endif

// direct t256, the naive variant. How it works.
//   needs a aligned to 8, b aligned to 8
//   source 3d92bd0fe92fa7f1b16b5281f6e5fabc
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

// flat t256 w16. How it works.
//   for NVIDIA H200 at i=1048576
//   needs a aligned to 16, b aligned to 16, n_i % 2 == 0
//   source 50495b06740e7ca4063654e685e5eda6
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

// staged t512 big. How it works.
//   for NVIDIA H200 at i=67108864
//   needs a aligned to 8, b aligned to 8, 65536 bytes of shared memory
//   source 9767e390bad95d0abf2603ff3c248b69
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

// staged t512. How it works.
//   for NVIDIA A100 at i=16777216
//   needs a aligned to 8, b aligned to 8
//   source 4e29d2491054dee71a62e072e01e0b62
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
  double k;
  long long n_i;
};

// Elements of the index space; a double, because a product may be any size.
inline double elements(long long n_i) {
  return double(n_i);
}

// A tuned size, the kernel that won it, and where that is predicted to be slower than the
// naive variant: a digit for the extents times 2^(step * k), k from -reach to reach; 1: it is.
struct tuned {
  long long n_i;
  int kernel;
  const char *size;
  int step, reach;
  const char *slower;  // null: not known
};
const tuned sizes_0[] = {  // NVIDIA H200
    {1048576LL, 1, "i=1048576", 0, 0, nullptr},
    {67108864LL, 2, "i=67108864", 0, 0, nullptr},
};
const tuned sizes_1[] = {  // NVIDIA A100
    {16777216LL, 3, "i=16777216", 0, 0, nullptr},
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
  if (error != cudaSuccess) return error;
  error = cudaDeviceGetAttribute(&here->shared_bytes,
                                 cudaDevAttrMaxSharedMemoryPerBlockOptin, ordinal);
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
inline long long k0_blocks(long long n_i) {
  return (n_i + 255) / 256;
}
inline bool k0_takes(const call &c, const place &here) {
  (void)here;
  const long long blocks = k0_blocks(c.n_i);
  return blocks >= 1 && blocks <= kMaxBlocks &&
         aligned(c.a, 8) &&
         aligned(c.b, 8);
}

inline long long k1_blocks(long long n_i) {
  return (3 * n_i / 2 + 255) / 256;
}
inline bool k1_requires_0(long long n_i) {
  return n_i % 2 == 0;
}
inline bool k1_takes(const call &c, const place &here) {
  (void)here;
  const long long blocks = k1_blocks(c.n_i);
  return blocks >= 1 && blocks <= kMaxBlocks &&
         aligned(c.a, 16) &&
         aligned(c.b, 16) &&
         k1_requires_0(c.n_i);
}

inline long long k2_blocks(long long n_i) {
  return (n_i + 511) / 512;
}
inline bool k2_takes(const call &c, const place &here) {
  const long long blocks = k2_blocks(c.n_i);
  return blocks >= 1 && blocks <= kMaxBlocks &&
         aligned(c.a, 8) &&
         aligned(c.b, 8) &&
         here.shared_bytes >= 65536;
}

inline long long k3_blocks(long long n_i) {
  return (n_i + 511) / 512;
}
inline bool k3_takes(const call &c, const place &here) {
  (void)here;
  const long long blocks = k3_blocks(c.n_i);
  return blocks >= 1 && blocks <= kMaxBlocks &&
         aligned(c.a, 8) &&
         aligned(c.b, 8);
}

inline bool takes(int kernel, const call &c, const place &here) {
  switch (kernel) {
  case 0: return k0_takes(c, here);
  case 1: return k1_takes(c, here);
  case 2: return k2_takes(c, here);
  case 3: return k3_takes(c, here);
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
  return ratio(double(c.n_i), double(t.n_i));
}

// Where a call lies among the sizes tuned on the device.
inline const char *range(const tuned_device &d, const tuned &t, const call &c) {
  if (distance(t, c) == 1) return "tuned size";
  bool below_0 = false, above_0 = false;
  for (int k = 0; k < d.n_sizes; k++) {
    below_0 = below_0 || d.sizes[k].n_i <= c.n_i;
    above_0 = above_0 || d.sizes[k].n_i >= c.n_i;
  }
  return below_0 && above_0
             ? "between tuned sizes"
             : "outside the tuned sizes";
}

const char *const kSlower = "tuned kernels are predicted to be slower than naive here";

// Whether one of the shapes around the call says so.
inline bool slower(const tuned &t, const call &c) {
  if (t.slower == nullptr) return false;
  const double times[] = {double(c.n_i < 1 ? 1 : c.n_i) / double(t.n_i < 1 ? 1 : t.n_i)};
  for (int corner = 0; corner < 2; corner++) {
    int at = 0;
    for (int d = 0; d < 1; d++) {
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
    if ((out->kernel >= 0 && away >= best) || !takes(t.kernel, c, here)) continue;
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
  if (out->kernel < 0 && takes(0, c, here)) out->kernel = 0;
  if (out->kernel >= 0) return cudaSuccess;
  out->reason = "invalid configuration: more than 2^31 - 1 blocks";
  if (k0_blocks(c.n_i) > kMaxBlocks) return cudaErrorInvalidConfiguration;
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
  if (c.n_i < 0)
    return refuse(answer, cudaErrorInvalidValue, "invalid value: an extent is negative");
  if (c.n_i == 0)
    return refuse(answer, cudaSuccess, "nothing to launch: the index space is empty");
  if (c.n_i > kMost || elements(c.n_i) > double(kMost))
    return refuse(answer, cudaErrorInvalidConfiguration, "invalid configuration: more than 2^48 elements");
  if (c.a == nullptr)
    return refuse(answer, cudaErrorInvalidValue, "invalid value: a is null");
  if (!aligned(c.a, 8))
    return refuse(answer, cudaErrorInvalidValue, "invalid value: a is not aligned to 8 bytes");
  if (c.b == nullptr)
    return refuse(answer, cudaErrorInvalidValue, "invalid value: b is null");
  if (!aligned(c.b, 8))
    return refuse(answer, cudaErrorInvalidValue, "invalid value: b is not aligned to 8 bytes");
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
    k0_direct::add3_kernel<<<unsigned(k0_blocks(c.n_i)), 256, 0, stream>>>(
        input{c.a}, output{c.b}, c.k, c.n_i);
    break;
  case 1:
    k1_flat::add3_kernel<<<unsigned(k1_blocks(c.n_i)), 256, 0, stream>>>(
        input{c.a}, output{c.b}, c.k, c.n_i);
    break;
  case 2:
    error = cudaFuncSetAttribute(k2_staged::add3_kernel,
                                 cudaFuncAttributeMaxDynamicSharedMemorySize, 65536);
    if (error != cudaSuccess) return error;
    k2_staged::add3_kernel<<<unsigned(k2_blocks(c.n_i)), 512, 65536, stream>>>(
        input{c.a}, output{c.b}, c.k, c.n_i);
    break;
  case 3:
    k3_staged::add3_kernel<<<unsigned(k3_blocks(c.n_i)), 512, 12288, stream>>>(
        input{c.a}, output{c.b}, c.k, c.n_i);
    break;
  }
  return cudaGetLastError();
}

inline add3_choice describe(const call &c) {
  static const char *const variants[] = {"direct t256", "flat t256 w16", "staged t512 big", "staged t512"};
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
}  // namespace add3_detail

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
} add3_provenance = {"add3", "086f74084f7261c038c986a47fcc489d", "sectile 0.1.0", 3,
    add3_tunings};

// Launches on `stream`; never synchronises, allocates nothing. An empty index space launches nothing.
// Arrays must not overlap. A negative extent, a null pointer or a pointer below its type's alignment
// is cudaErrorInvalidValue, a grid beyond 2^31 - 1 blocks cudaErrorInvalidConfiguration; other errors
// are those of the launch.
extern "C" inline cudaError_t add3(const add3_vec3 *a, add3_vec3 *b, double k, long long n_i, cudaStream_t stream) {
  return add3_detail::launch({a, b, k, n_i}, stream);
}

// What add3 would do with these arguments on the current device.
extern "C" inline add3_choice add3_variant(const add3_vec3 *a, add3_vec3 *b, double k, long long n_i) {
  return add3_detail::describe({a, b, k, n_i});
}

#endif  // SECTILE_HEADER_add3
