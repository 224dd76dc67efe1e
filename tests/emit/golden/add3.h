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
// Spec 086f74084f7261c038c986a47fcc489d; the hash of each kernel's source stands beside it.
#pragma once
#ifndef SECTILE_HEADER_add3
#define SECTILE_HEADER_add3
#include <cuda_runtime.h>

// A program that has this type already defines SECTILE_RECORD_vec3 before it includes the header.
#ifndef SECTILE_RECORD_vec3
#define SECTILE_RECORD_vec3
typedef struct vec3 {
  double x, y, z;
} vec3;
#endif
static_assert(sizeof(vec3) == 24 && alignof(vec3) == 8 &&
              offsetof(vec3, x) == 0 && offsetof(vec3, y) == 8 && offsetof(vec3, z) == 16,
              "layout of vec3");

// Which kernel a call takes, whose tuning decided (null: nobody's), and why.
typedef struct add3_choice {
  const char *variant, *device, *rung;
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

// The current device, as far as the choice goes.
struct place {
  int major, minor, sms, shared_bytes;
};

inline cudaError_t find_place(place *here) {
  int device = 0;
  const cudaError_t error = cudaGetDevice(&device);
  if (error != cudaSuccess) return error;
  const struct {
    int *value;
    cudaDeviceAttr attribute;
  } wanted[] = {
      {&here->major, cudaDevAttrComputeCapabilityMajor},
      {&here->minor, cudaDevAttrComputeCapabilityMinor},
      {&here->sms, cudaDevAttrMultiProcessorCount},
      {&here->shared_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin},
  };
  for (const auto &w : wanted) {
    const cudaError_t e = cudaDeviceGetAttribute(w.value, w.attribute, device);
    if (e != cudaSuccess) return e;
  }
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

// A tuned size and the kernel that won it.
struct tuned {
  long long n_i;
  int kernel;
};
const tuned sizes_0[] = {  // NVIDIA H200
    {1048576LL, 1},
    {67108864LL, 2},
};
const tuned sizes_1[] = {  // NVIDIA A100
    {16777216LL, 3},
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

// How far a call is from a tuned size: the ratio of their numbers of elements (1: equal),
// and among equals that of their extents.
struct distance {
  double elements, shape;
};

inline double ratio(double x, double y) {
  x = x < 1 ? 1 : x;
  y = y < 1 ? 1 : y;
  return x < y ? y / x : x / y;
}

inline distance far_from(const tuned &t, const call &c) {
  return {ratio(elements(c.n_i), elements(t.n_i)),
          ratio(double(c.n_i), double(t.n_i))};
}

inline bool nearer(const distance &a, const distance &b) {
  return a.elements < b.elements || (a.elements == b.elements && a.shape < b.shape);
}

// Which kernel a call takes, and why.
struct choice {
  int kernel;  // -1: none
  const tuned_device *device;
  int rung;  // 3 same device, 2 same compute capability, 1 same major version, 0 none
};

inline int rung_of(const tuned_device &d, const place &here) {
  if (d.major != here.major) return 0;
  if (d.minor != here.minor) return 1;
  return d.sms == here.sms ? 3 : 2;
}

// Of the best device's tuned sizes the nearest whose kernel is right for this call;
// without one, the naive variant.
inline cudaError_t choose(const call &c, choice *out) {
  place here = {};
  const cudaError_t error = find_place(&here);
  if (error != cudaSuccess) return error;
  *out = choice{-1, nullptr, 0};
  for (const tuned_device &d : devices) {
    const int rung = rung_of(d, here);
    if (rung > out->rung) *out = choice{-1, &d, rung};
  }
  distance best = {};
  for (int k = 0; out->device != nullptr && k < out->device->n_sizes; k++) {
    const tuned &t = out->device->sizes[k];
    const distance d = far_from(t, c);
    if ((out->kernel < 0 || nearer(d, best)) && takes(t.kernel, c, here)) {
      out->kernel = t.kernel;
      best = d;
    }
  }
  if (out->kernel < 0 && takes(0, c, here)) *out = choice{0, nullptr, 0};
  if (out->kernel >= 0) return cudaSuccess;
  const bool fits = k0_blocks(c.n_i) <= kMaxBlocks;
  return fits ? cudaErrorInvalidValue : cudaErrorInvalidConfiguration;
}

// Whether there is anything to launch; otherwise *answer is the result.
inline bool has_work(const call &c, cudaError_t *answer) {
  constexpr long long kMost = 1LL << 48;  // elements: no product overflows
  *answer = cudaErrorInvalidValue;
  if (c.n_i < 0) return false;
  *answer = cudaSuccess;
  if (c.n_i == 0) return false;
  *answer = cudaErrorInvalidConfiguration;
  if (c.n_i > kMost ||
      elements(c.n_i) > double(kMost)) {
    return false;
  }
  *answer = cudaErrorInvalidValue;
  return c.a != nullptr && c.b != nullptr;
}

inline cudaError_t launch(const call &c, cudaStream_t stream) {
  cudaError_t error = cudaSuccess;
  if (!has_work(c, &error)) return error;
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
  static const char *const rungs[] = {"no tuned kernel fits: naive variant",
                                     "same major version", "same compute capability",
                                     "same device"};
  cudaError_t error = cudaSuccess;
  choice chosen = {};
  if (!has_work(c, &error) || choose(c, &chosen) != cudaSuccess) {
    return {nullptr, nullptr, "nothing to launch"};
  }
  const char *const device = chosen.device ? chosen.device->name : nullptr;
  return {variants[chosen.kernel], device, rungs[chosen.rung]};
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
extern "C" inline cudaError_t add3(const vec3 *a, vec3 *b, double k, long long n_i, cudaStream_t stream) {
  return add3_detail::launch({a, b, k, n_i}, stream);
}

// What add3 would do with these arguments on the current device.
extern "C" inline add3_choice add3_variant(const vec3 *a, vec3 *b, double k, long long n_i) {
  return add3_detail::describe({a, b, k, n_i});
}

#endif  // SECTILE_HEADER_add3
