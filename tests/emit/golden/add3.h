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
#include <stdint.h>
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

#if defined(add3_IMPLEMENTATION) && !defined(__CUDACC__) && !defined(add3_FIND_KERNEL)
#error "add3_IMPLEMENTATION: compile this file as CUDA, or define add3_FIND_KERNEL"
#endif
#if (defined(add3_IMPLEMENTATION) || defined(__CUDACC__)) && !defined(SECTILE_KERNELS_add3)
#define SECTILE_KERNELS_add3
#ifdef add3_FIND_KERNEL  // a program that compiled the kernels itself knows them by name
static inline cudaError_t add3_detail_find_kernel(const void **out, int variant) {
  static const char *const names[] = {
      "add3_k0_direct",
      "add3_k1_flat",
      "add3_k2_staged",
      "add3_k3_staged",
  };
  return add3_FIND_KERNEL(out, names[variant]);
}
#else
#ifdef __CUDACC_RTC__
#undef __global__
#define __global__ extern "C" __attribute__((global))
namespace add3_detail {
#else
#include <cuda_runtime.h>

namespace add3_detail {
namespace {  // kernels are those of this file
#endif

// A variant may leave a variable of the computation unused.
#if defined(__NVCC__) || defined(__CUDACC_RTC__)
#pragma nv_diagnostic push
#pragma nv_diag_suppress 177, 550
#endif

#if defined(__clang__) && defined(__CUDA__) && !defined(__NVCC__)  // it has not all hints
template <class T> __device__ inline T __ldca(const T *p) { return *p; }
template <class T> __device__ inline void __stcs(T *p, T v) { *p = v; }
template <class T> __device__ inline void __stwb(T *p, T v) { *p = v; }
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
}  // namespace
}  // namespace add3_detail

// The kernel of each variant.
static const void *const add3_detail_kernels[] = {
    (const void *)add3_detail::k0_direct::add3_k0_direct,
    (const void *)add3_detail::k1_flat::add3_k1_flat,
    (const void *)add3_detail::k2_staged::add3_k2_staged,
    (const void *)add3_detail::k3_staged::add3_k3_staged,
};
static inline cudaError_t add3_detail_find_kernel(const void **out, int variant) {
  *out = add3_detail_kernels[variant];
  return cudaSuccess;
}
#endif  // __CUDACC_RTC__
#endif  // add3_FIND_KERNEL

#ifndef __CUDACC_RTC__

// ---- Variants and where they were tuned. From here on it is C11 and C++11.

#include <string.h>
#ifdef __cplusplus
#include <atomic>
typedef std::atomic<int> add3_detail_atomic;
#else
#include <stdatomic.h>
typedef atomic_int add3_detail_atomic;
#endif

// The extents of a call, those of the index space first.
enum {
  add3_detail_n_extents = 1,
  add3_detail_n_dims = 1,
  add3_detail_rows = -1,  // the dimension of rows with different lengths, which share elements; -1: none
  add3_detail_wants_shared = 1  // some variant asks for more shared memory than all have
};
static const bool add3_detail_reduced[] = {false};  // outputs have elements even where it is 0
static inline void add3_detail_extents(long long *n, const add3_args *c) {
  const long long all[] = {c->n_i};
  memcpy(n, all, sizeof all);
}

static inline bool add3_detail_aligned(const void *p, unsigned long long bytes) {
  return (unsigned long long)p % bytes == 0;
}

// Does an array that is written overlap another one?
static inline bool add3_detail_overlap(const add3_args *c) {
  const long long n_i = c->n_i;
  const struct {
    const void *first;
    long long bytes;
    bool written;
  } arrays[] = {
      {c->a, 24 * n_i, false},
      {c->b, 24 * n_i, true},
  };
  const int n = (int)(sizeof arrays / sizeof arrays[0]);
  for (int a = 0; a < n; a++) {
    for (int b = 0; b < n; b++) {
      const char *const from = (const char *)arrays[a].first;
      const char *const other = (const char *)arrays[b].first;
      const bool meet = from < other + arrays[b].bytes && other < from + arrays[a].bytes;
      const bool some = arrays[a].bytes > 0 && arrays[b].bytes > 0;
      if (a != b && arrays[a].written && some && meet) return true;
    }
  }
  return false;
}

// What is wrong with a pointer of the call, null: nothing. Where there is nothing to sum, `empty`,
// inputs may be null.
static inline const char *add3_detail_bad_pointer(const add3_args *c, bool empty) {
  (void)empty;
  if (c->a == NULL && !empty) return "invalid value: a is null";
  if (!add3_detail_aligned(c->a, 8)) return "invalid value: a is not aligned to 8 bytes";
  if (c->b == NULL) return "invalid value: b is null";
  if (!add3_detail_aligned(c->b, 8)) return "invalid value: b is not aligned to 8 bytes";
  if (add3_detail_overlap(c)) return "invalid value: an array that is written overlaps another one";
  return NULL;
}

// Of each variant the blocks of its grid, whether it is right for a call, its launch.
static inline long long add3_detail_k0_blocks(const add3_args *c) {
  const long long n_i = c->n_i;
  return (n_i + 255) / 256;
}
static inline bool add3_detail_k0_takes(const add3_args *c) {
  if (!add3_detail_aligned(c->a, 8)) return false;
  if (!add3_detail_aligned(c->b, 8)) return false;
  return true;
}
static inline cudaError_t add3_detail_k0_launch(const void *kernel, add3_args c, cudaStream_t stream) {
  void *args[] = {&c.a, &c.b, &c.k, &c.n_i};
  const dim3 grid = {(unsigned)add3_detail_k0_blocks(&c), 1, 1}, block = {256, 1, 1};
  return cudaLaunchKernel(kernel, grid, block, args, 0, stream);
}

static inline long long add3_detail_k1_blocks(const add3_args *c) {
  const long long n_i = c->n_i;
  return (3 * n_i / 2 + 255) / 256;
}
static inline bool add3_detail_k1_takes(const add3_args *c) {
  const long long n_i = c->n_i;
  if (!add3_detail_aligned(c->a, 16)) return false;
  if (!add3_detail_aligned(c->b, 16)) return false;
  if (!(n_i % 2 == 0)) return false;
  return true;
}
static inline cudaError_t add3_detail_k1_launch(const void *kernel, add3_args c, cudaStream_t stream) {
  void *args[] = {&c.a, &c.b, &c.k, &c.n_i};
  const dim3 grid = {(unsigned)add3_detail_k1_blocks(&c), 1, 1}, block = {256, 1, 1};
  return cudaLaunchKernel(kernel, grid, block, args, 0, stream);
}

static inline long long add3_detail_k2_blocks(const add3_args *c) {
  const long long n_i = c->n_i;
  return (n_i + 511) / 512;
}
static inline bool add3_detail_k2_takes(const add3_args *c) {
  if (!add3_detail_aligned(c->a, 8)) return false;
  if (!add3_detail_aligned(c->b, 8)) return false;
  return true;
}
static inline cudaError_t add3_detail_k2_launch(const void *kernel, add3_args c, cudaStream_t stream) {
  void *args[] = {&c.a, &c.b, &c.k, &c.n_i};
  const dim3 grid = {(unsigned)add3_detail_k2_blocks(&c), 1, 1}, block = {512, 1, 1};
  const cudaError_t error =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536);
  if (error != cudaSuccess) return error;
  return cudaLaunchKernel(kernel, grid, block, args, 65536, stream);
}

static inline long long add3_detail_k3_blocks(const add3_args *c) {
  const long long n_i = c->n_i;
  return (n_i + 511) / 512;
}
static inline bool add3_detail_k3_takes(const add3_args *c) {
  if (!add3_detail_aligned(c->a, 8)) return false;
  if (!add3_detail_aligned(c->b, 8)) return false;
  return true;
}
static inline cudaError_t add3_detail_k3_launch(const void *kernel, add3_args c, cudaStream_t stream) {
  void *args[] = {&c.a, &c.b, &c.k, &c.n_i};
  const dim3 grid = {(unsigned)add3_detail_k3_blocks(&c), 1, 1}, block = {512, 1, 1};
  return cudaLaunchKernel(kernel, grid, block, args, 12288, stream);
}

typedef struct add3_detail_variant {
  const char *label;
  int shared_bytes;  // that a block has to ask for; 0: it need not
  long long (*blocks)(const add3_args *c);
  bool (*takes)(const add3_args *c);
  cudaError_t (*launch)(const void *kernel, add3_args c, cudaStream_t stream);
} add3_detail_variant;
static const add3_detail_variant add3_detail_variants[] = {
    {"direct t256", 0, add3_detail_k0_blocks, add3_detail_k0_takes, add3_detail_k0_launch},
    {"flat t256 w16", 0, add3_detail_k1_blocks, add3_detail_k1_takes, add3_detail_k1_launch},
    {"staged t512 big", 65536, add3_detail_k2_blocks, add3_detail_k2_takes, add3_detail_k2_launch},
    {"staged t512", 0, add3_detail_k3_blocks, add3_detail_k3_takes, add3_detail_k3_launch},
};

// A tuned size, the variant that won it, and where that is predicted to be slower than the naive
// one: a digit for the extents times 2^(step * k), k from -reach to reach; 1: it is.
typedef struct add3_detail_size {
  long long n[1];
  int variant;
  const char *label;
  int step, reach;
  const char *slower;  // null: not known
} add3_detail_size;
static const add3_detail_size add3_detail_sizes_0[] = {  // NVIDIA H200: n_i
    {{1048576}, 1, "i=1048576", 0, 0, NULL},
    {{67108864}, 2, "i=67108864", 0, 0, NULL},
};
static const add3_detail_size add3_detail_sizes_1[] = {  // NVIDIA A100: n_i
    {{16777216}, 3, "i=16777216", 0, 0, NULL},
};

typedef struct add3_detail_device {
  const char *name;
  int major, minor, sms;
  const add3_detail_size *sizes;
  int n_sizes;
} add3_detail_device;
static const add3_detail_device add3_detail_devices[] = {
    {"NVIDIA H200", 9, 0, 132, add3_detail_sizes_0, 2},
    {"NVIDIA A100", 8, 0, 108, add3_detail_sizes_1, 1},
};

// ---- Which variant a call takes. Every header has this text.

// The current device, as far as the choice goes.
typedef struct add3_detail_place {
  const add3_detail_device *device;  // null: none matches
  int match, shared_bytes;
} add3_detail_place;

// 3: same device model, 2: same compute capability, 1: same major version, 0: none.
static inline int add3_detail_match(const add3_detail_device *d, const struct cudaDeviceProp *here) {
  if (d->major != here->major) return 0;
  if (d->minor != here->minor) return 1;
  return d->sms == here->multiProcessorCount && strcmp(d->name, here->name) == 0 ? 3 : 2;
}

// The tuned device that matches the current one best, the first among equals. Reading a
// device's name takes long, so a device is asked once: `kept` holds 1 + match + 4 * device.
static inline cudaError_t add3_detail_find_place(add3_detail_place *here) {
  enum { n_kept = 64, n_devices = sizeof add3_detail_devices / sizeof add3_detail_devices[0] };
  static add3_detail_atomic kept[n_kept];  // 0: not asked yet
  int ordinal = 0;
  cudaError_t error = cudaGetDevice(&ordinal);
  if (error == cudaSuccess && add3_detail_wants_shared) {
    error = cudaDeviceGetAttribute(&here->shared_bytes,
                                   cudaDevAttrMaxSharedMemoryPerBlockOptin, ordinal);
  }
  if (error != cudaSuccess) return error;
  int found = ordinal < n_kept ? (int)kept[ordinal] : 0;
  if (found == 0) {
    struct cudaDeviceProp properties;
    error = cudaGetDeviceProperties(&properties, ordinal);
    if (error != cudaSuccess) return error;
    int best = 0;
    found = 1;
    for (int k = 0; k < n_devices; k++) {
      const int match = add3_detail_match(&add3_detail_devices[k], &properties);
      if (match > best) {
        best = match;
        found = 1 + best + 4 * k;
      }
    }
    if (ordinal < n_kept) kept[ordinal] = found;
  }
  here->match = (found - 1) % 4;
  here->device = here->match > 0 ? &add3_detail_devices[(found - 1) / 4] : NULL;
  return cudaSuccess;
}

static const long long add3_detail_max_blocks = 0x7fffffff;  // of a grid, in x

// The variant is right for the call: its grid, shared memory, alignments, conditions.
static inline bool add3_detail_takes(const add3_detail_variant *v, const add3_args *c, const add3_detail_place *here) {
  const long long blocks = v->blocks(c);
  return blocks >= 1 && blocks <= add3_detail_max_blocks && v->shared_bytes <= here->shared_bytes &&
         v->takes(c);
}

// a / b, an extent of 0 taken for 1.
static inline double add3_detail_ratio(long long a, long long b) {
  return (double)(a < 1 ? 1 : a) / (double)(b < 1 ? 1 : b);
}

// How far a call is from a tuned size: by how much each extent differs, all multiplied. 1: equal.
static inline double add3_detail_distance(const add3_detail_size *t, const long long *n) {
  double product = 1;
  for (int k = 0; k < add3_detail_n_extents; k++) {
    product *= n[k] < t->n[k] ? add3_detail_ratio(t->n[k], n[k]) : add3_detail_ratio(n[k], t->n[k]);
  }
  return product;
}

// Where a call lies among the sizes tuned on the device.
static inline const char *add3_detail_range(const add3_detail_device *d, const add3_detail_size *t, const long long *n) {
  if (add3_detail_distance(t, n) == 1) return "tuned size";
  for (int k = 0; k < add3_detail_n_extents; k++) {
    bool below = false, above = false;
    for (int s = 0; s < d->n_sizes; s++) {
      below = below || d->sizes[s].n[k] <= n[k];
      above = above || d->sizes[s].n[k] >= n[k];
    }
    if (!below || !above) return "outside the tuned sizes";
  }
  return "between tuned sizes";
}

// The number k of the shape next to `ratio` times the tuned extent, the one below or `above`, and
// never beyond the last.
static inline int add3_detail_shape(double ratio, const add3_detail_size *t, bool above) {
  double shape = 1;  // 2^(step * k)
  int k = 0;
  for (; k < t->reach && (above ? shape < ratio : shape * (double)(1 << t->step) <= ratio); k++) {
    shape *= (double)(1 << t->step);
  }
  for (; k > -t->reach && (above ? shape / (double)(1 << t->step) >= ratio : shape > ratio); k--) {
    shape /= (double)(1 << t->step);
  }
  return k;
}

// Whether one of the shapes around the call says that the kernel is slower than naive there.
static inline bool add3_detail_slower(const add3_detail_size *t, const long long *n) {
  if (t->slower == NULL) return false;
  for (int corner = 0; corner < 1 << add3_detail_n_dims; corner++) {
    int at = 0;
    for (int d = 0; d < add3_detail_n_dims; d++) {
      const int k = add3_detail_shape(add3_detail_ratio(n[d], t->n[d]), t, (corner >> d & 1) != 0);
      at = at * (2 * t->reach + 1) + k + t->reach;
    }
    if (t->slower[at] == '1') return true;
  }
  return false;
}

typedef struct add3_detail_choice {
  int variant;  // -1: none
  int match;
  const add3_detail_device *device;  // with its size: whose variant it is, null: naive
  const add3_detail_size *size;
  const char *reason;
} add3_detail_choice;

// Of the device's tuned sizes the nearest whose variant is right for the call and worth it.
static inline void add3_detail_choose_tuned(const add3_args *c, const add3_detail_place *here, add3_detail_choice *out) {
  long long n[add3_detail_n_extents];
  double best = 0;
  add3_detail_extents(n, c);
  out->reason = "no kernel of this device is right for these arguments";
  for (int k = 0; k < here->device->n_sizes; k++) {
    const add3_detail_size *const t = &here->device->sizes[k];
    const double away = add3_detail_distance(t, n);
    if ((out->variant >= 0 && away >= best) || !add3_detail_takes(&add3_detail_variants[t->variant], c, here)) continue;
    if (away != 1 && add3_detail_slower(t, n)) {
      if (out->variant < 0) {
        out->reason = "tuned kernels are predicted to be slower than naive here";
      }
      continue;
    }
    const add3_detail_choice chosen = {t->variant, here->match, here->device, t, add3_detail_range(here->device, t, n)};
    *out = chosen;
    best = away;
  }
}

// Which variant a call that has work takes.
static inline cudaError_t add3_detail_choose(const add3_args *c, add3_detail_choice *out) {
  add3_detail_place here = {NULL, 0, 0};
  const cudaError_t error = add3_detail_find_place(&here);
  const add3_detail_choice none = {-1, 0, NULL, NULL, NULL};
  *out = none;
  if (error != cudaSuccess) {
    out->reason = cudaGetErrorString(error);
    return error;
  }
  out->reason = "no device of this major version was tuned";
  if (here.device != NULL) add3_detail_choose_tuned(c, &here, out);
  if (out->variant < 0 && add3_detail_takes(&add3_detail_variants[0], c, &here)) out->variant = 0;
  if (out->variant >= 0) return cudaSuccess;
  out->reason = "invalid configuration: more than 2^31 - 1 blocks";
  if (add3_detail_variants[0].blocks(c) > add3_detail_max_blocks) return cudaErrorInvalidConfiguration;
  out->reason = "invalid value: the naive variant cannot take these arguments";
  return cudaErrorInvalidValue;
}

// Why there is nothing to launch, and what the call then returns; null: there is.
static inline const char *add3_detail_no_work(const add3_args *c, cudaError_t *answer) {
  const long long most = 1LL << 48;  // elements: no product overflows
  long long n[add3_detail_n_extents];
  double elements = 1;  // of the index space; a double, because a product may be any size
  bool large = false, empty = false;
  add3_detail_extents(n, c);
  *answer = cudaErrorInvalidValue;
  for (int k = 0; k < add3_detail_n_extents; k++) {
    if (n[k] < 0) return "invalid value: an extent is negative";
    large = large || n[k] > most;
  }
  for (int d = 0; d < add3_detail_n_dims; d++) {
    elements *= d == add3_detail_rows ? 1.0 : (double)n[d];
    empty = empty || (n[d] == 0 && !add3_detail_reduced[d]);
  }
  if (!empty && !large && elements <= (double)most) return add3_detail_bad_pointer(c, elements == 0);
  *answer = empty ? cudaSuccess : cudaErrorInvalidConfiguration;
  return empty ? "nothing to launch: the index space is empty"
               : "invalid configuration: more than 2^48 elements";
}

static inline cudaError_t add3_detail_launch(const add3_args *c, cudaStream_t stream) {
  add3_detail_choice chosen;
  const void *kernel = NULL;
  cudaError_t error = cudaSuccess;
  if (add3_detail_no_work(c, &error) != NULL) return error;
  error = add3_detail_choose(c, &chosen);
  if (error == cudaSuccess) error = add3_detail_find_kernel(&kernel, chosen.variant);
  if (error != cudaSuccess) return error;
  error = add3_detail_variants[chosen.variant].launch(kernel, *c, stream);
  if (error != cudaSuccess) cudaGetLastError();  // it is returned, and need not be asked for
  return error;
}

static inline add3_choice add3_detail_describe(const add3_args *c) {
  static const char *const matches[] = {"none", "same major version",
                                       "same compute capability, other model",
                                       "same device model"};
  cudaError_t error = cudaSuccess;
  add3_detail_choice chosen = {-1, 0, NULL, NULL, NULL};
  const char *why = add3_detail_no_work(c, &error);
  if (why == NULL && add3_detail_choose(c, &chosen) != cudaSuccess) why = chosen.reason;
  add3_choice out = {NULL, NULL, matches[0], NULL, why};
  if (why == NULL) {
    out.variant = add3_detail_variants[chosen.variant].label;
    out.device = chosen.device != NULL ? chosen.device->name : NULL;
    out.match = matches[chosen.match];
    out.size = chosen.size != NULL ? chosen.size->label : NULL;
    out.reason = chosen.reason;
  }
  return out;
}

#ifdef add3_IMPLEMENTATION
#define add3_LINKAGE
#else
#define add3_LINKAGE inline
#endif
add3_LINKAGE cudaError_t add3(const add3_vec3 *a, add3_vec3 *b, double k, long long n_i, cudaStream_t stream) {
  const add3_args call = {a, b, k, n_i};
  return add3_detail_launch(&call, stream);
}
add3_LINKAGE cudaError_t add3_launch(const add3_args *args, cudaStream_t stream) {
  return args == NULL ? cudaErrorInvalidValue : add3_detail_launch(args, stream);
}
add3_LINKAGE add3_choice add3_variant(const add3_vec3 *a, add3_vec3 *b, double k, long long n_i) {
  const add3_args call = {a, b, k, n_i};
  return add3_detail_describe(&call);
}
#undef add3_LINKAGE
#endif  // __CUDACC_RTC__
#endif  // SECTILE_KERNELS_add3
