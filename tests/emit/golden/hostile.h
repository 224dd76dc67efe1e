// hostile.h - written by sectile 0.1.0; do not edit. Again: sectile emit hostile.lua -o hostile.h
//
// For every i in [0, n_i):
//   * / } int evil = 1; " /
//   #error broke out
//    ? ?/
//    // / * _ } /
// where
//   aligned  in   item { f32 w; f16 h } of 6 bytes, packed, layout aos; over (* / } int evil = 1; " /  #error broke out  ? ?/  // / * _ } /)
//                 the layout was chosen from aos, * / } int evil = 1; " /  #error broke out  ? ?/  // / * _ } /
//   blocks   out  wide { f32x4 v; u8 t; bf16 h } of 64 bytes, layout aos; over (i)
//
// The tuner chose among layouts; a header has one for each array, at all sizes, on all devices:
//   aligned: aos; no functions for the host, because a sectile that stored no formulas tuned it: tune again
//
// device                                                                 variant                                                        size                                                           median us  GB/s  of copy  sectors/request ld (least) | st (least)
// * / } int evil = 1; " /  #error broke out  ? ?/  // / * _ } / (sm_90)  * / } int evil = 1; " /  #error broke out  ? ?/  // / * _ } /  * / } int evil = 1; " /  #error broke out  ? ?/  // / * _ } /        1.0     0      0 %  8.0 (8.0) | 8.0 (8.0)
//   40 candidates: 38 verified, 1 tied with the winner, 2 failed
//
// * / } int evil = 1; " /  #error broke out  ? ?/  // / * _ } /: driver * / } int evil = 1; " /  #error broke out  ? ?/  // / * _ } /, NVRTC 13.0, sectile 0.1.0
// Spec 35a9451759872aa0185e42e6d9df1a64; the hash of each kernel's source stands above it.
//
// Any C11 or C++11 compiler takes this header. CUDA files get the kernels and the launch function,
// each for itself; other files get declarations. For these, one CUDA file defines
// hostile_IMPLEMENTATION before it includes the header for the first time.
// NVRTC gets the kernels, under the names that the lines of #define give them.
#if !defined(SECTILE_HEADER_hostile) && !defined(__CUDACC_RTC__)
#define SECTILE_HEADER_hostile
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
#include <vector_types.h>  // of the CUDA toolkit
#ifndef __cplusplus
#include <assert.h>
#include <stdalign.h>
#include <stdbool.h>
#endif

#pragma pack(push, 1)
typedef struct hostile_item {
  float w;
  unsigned short h;
} hostile_item;
#pragma pack(pop)
static_assert(sizeof(hostile_item) == 6 && alignof(hostile_item) == 1, "size of hostile_item");
static_assert(offsetof(hostile_item, w) == 0, "w of hostile_item");
static_assert(offsetof(hostile_item, h) == 4, "h of hostile_item");

typedef struct hostile_wide {
  alignas(64) float4 v;
  unsigned char t;
  unsigned short h;
} hostile_wide;
static_assert(sizeof(hostile_wide) == 64 && alignof(hostile_wide) == 64, "size of hostile_wide");
static_assert(offsetof(hostile_wide, v) == 0, "v of hostile_wide");
static_assert(offsetof(hostile_wide, t) == 16, "t of hostile_wide");
static_assert(offsetof(hostile_wide, h) == 18, "h of hostile_wide");

// Where the kernels and figures come from, for a program to print.
typedef struct hostile_tuning {
  const char *device, *arch, *figures, *driver, *nvrtc, *tool, *size, *variant, *source_hash;
  double median_us, gb_per_s, of_copy, naive_us;  // 0: not timed
  int candidates, verified, tied, failed;
} hostile_tuning;
static const hostile_tuning hostile_tunings[] = {
    {"*/ } int evil = 1; \" \\ \012#error broke out\012 \?\?/\012 // /* \377 } \\", "sm_90", "timed",
     "*/ } int evil = 1; \" \\ \012#error broke out\012 \?\?/\012 // /* \377 } \\", "13.0", "0.1.0",
     "*/ } int evil = 1; \" \\ \012#error broke out\012 \?\?/\012 // /* \377 } \\", "*/ } int evil = 1; \" \\ \012#error broke out\012 \?\?/\012 // /* \377 } \\", "ea5ebf17bccea7f85a60e9d8c46edfe3",
     1, 0.001, 2.3809523809523809e-07, 1, 40, 38, 1, 2},
};
static const struct {
  const char *kernel, *spec_hash, *written_by;
  int n_tunings;
  const hostile_tuning *tunings;
} hostile_provenance = {"hostile", "35a9451759872aa0185e42e6d9df1a64", "sectile 0.1.0", 1,
    hostile_tunings};

// Which kernel a call takes, and why.
typedef struct hostile_choice {
  const char *variant;  // null: nothing is launched
  const char *device;   // whose tuning decided, null: nobody's
  const char *match;    // how that device matches the current one
  const char *size;     // the tuned size whose kernel it is, null: none
  const char *reason;   // where the call lies among the tuned sizes; why naive, why nothing
} hostile_choice;

#ifndef SECTILE_NO_RUNTIME
// The arguments of one call, by name.
typedef struct hostile_args {
  const hostile_item *aligned;
  hostile_wide *blocks;
  long long n_i;
  long long n_m;
} hostile_args;

#ifdef __cplusplus
extern "C" {
#endif

// Launches on `stream`; never synchronises, allocates nothing. An empty index space launches nothing.
// What is written must not overlap another array. That, a negative extent, a null pointer or a
// pointer below its type's alignment is cudaErrorInvalidValue, a grid beyond 2^31 - 1 blocks
// cudaErrorInvalidConfiguration; other errors are those of the launch.
cudaError_t hostile(const hostile_item *aligned, hostile_wide *blocks, long long n_i, long long n_m, cudaStream_t stream);
// The same, every argument by its name. What `args` leaves out is 0; null is cudaErrorInvalidValue.
cudaError_t hostile_launch(const hostile_args *args, cudaStream_t stream);

// What hostile would do with these arguments on the current device.
hostile_choice hostile_variant(const hostile_item *aligned, hostile_wide *blocks, long long n_i, long long n_m);

#ifdef __cplusplus
}
#endif
#endif  // SECTILE_NO_RUNTIME
#endif  // SECTILE_HEADER_hostile

#if defined(hostile_IMPLEMENTATION) && !defined(__CUDACC__) && !defined(hostile_FIND_KERNEL)
#error "hostile_IMPLEMENTATION: compile this file as CUDA, or define hostile_FIND_KERNEL"
#endif
#if (defined(hostile_IMPLEMENTATION) || defined(__CUDACC__)) && !defined(SECTILE_KERNELS_hostile)
#define SECTILE_KERNELS_hostile
#ifdef hostile_FIND_KERNEL  // a program that compiled the kernels itself knows them by name
static inline cudaError_t hostile_detail_find_kernel(const void **out, int variant) {
  static const char *const names[] = {
      "hostile_k0_int_evil_1_error_broke_out",
  };
  return hostile_FIND_KERNEL(out, names[variant]);
}
#else
#ifdef __CUDACC_RTC__
#undef __global__
#define __global__ extern "C" __attribute__((global))
namespace hostile_detail {
#else
#include <cuda_runtime.h>

namespace hostile_detail {
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

// * / } int evil = 1; " /  #error broke out  ? ?/  // / * _ } /, the naive variant. * / } int evil = 1; " /  #error broke out  ? ?/  // / * _ } /
//   for * / } int evil = 1; " /  #error broke out  ? ?/  // / * _ } / at * / } int evil = 1; " /  #error broke out  ? ?/  // / * _ } /
//   needs blocks aligned to 64
//   source ea5ebf17bccea7f85a60e9d8c46edfe3
#define launch hostile_k0_int_evil_1_error_broke_out
namespace k0_int_evil_1_error_broke_out {
__global__ void launch(const void *aligned, void *blocks, long long n_i, long long n_m) {
  (void)aligned, (void)blocks, (void)n_i, (void)n_m;
}
}  // namespace k0_int_evil_1_error_broke_out
#undef launch

#if defined(__NVCC__) || defined(__CUDACC_RTC__)
#pragma nv_diagnostic pop
#endif

#ifdef __CUDACC_RTC__
}  // namespace hostile_detail
#undef __global__
#define __global__ __attribute__((global))
#else
}  // namespace
}  // namespace hostile_detail

// The kernel of each variant.
static const void *const hostile_detail_kernels[] = {
    (const void *)hostile_detail::k0_int_evil_1_error_broke_out::hostile_k0_int_evil_1_error_broke_out,
};
static inline cudaError_t hostile_detail_find_kernel(const void **out, int variant) {
  *out = hostile_detail_kernels[variant];
  return cudaSuccess;
}
#endif  // __CUDACC_RTC__
#endif  // hostile_FIND_KERNEL

#ifndef __CUDACC_RTC__

// ---- Variants and where they were tuned. From here on it is C11 and C++11.

#include <string.h>
#ifdef __cplusplus
#include <atomic>
typedef std::atomic<int> hostile_detail_atomic;
#else
#include <stdatomic.h>
typedef atomic_int hostile_detail_atomic;
#endif

// The extents of a call, those of the index space first.
enum {
  hostile_detail_n_extents = 2,
  hostile_detail_n_dims = 1,
  hostile_detail_rows = -1,  // the dimension of rows with different lengths, which share elements; -1: none
  hostile_detail_wants_shared = 0  // some variant asks for more shared memory than all have
};
static const bool hostile_detail_reduced[] = {false};  // outputs have elements even where it is 0
static inline void hostile_detail_extents(long long *n, const hostile_args *c) {
  const long long all[] = {c->n_i, c->n_m};
  memcpy(n, all, sizeof all);
}

static inline bool hostile_detail_aligned(const void *p, unsigned long long bytes) {
  return (unsigned long long)p % bytes == 0;
}

// What is wrong with a pointer of the call, null: nothing. Where there is nothing to sum, `empty`,
// inputs may be null.
static inline const char *hostile_detail_bad_pointer(const hostile_args *c, bool empty) {
  (void)empty;
  if (c->aligned == NULL && !empty) return "invalid value: aligned is null";
  if (!hostile_detail_aligned(c->aligned, 1)) return "invalid value: aligned is not aligned to 1 bytes";
  if (c->blocks == NULL) return "invalid value: blocks is null";
  if (!hostile_detail_aligned(c->blocks, 64)) return "invalid value: blocks is not aligned to 64 bytes";
  return NULL;
}

// Of each variant the blocks of its grid, whether it is right for a call, its launch.
static inline long long hostile_detail_k0_blocks(const hostile_args *c) {
  const long long n_i = c->n_i, n_m = c->n_m;
  return (n_i + n_m) / 64 + 1;
}
static inline bool hostile_detail_k0_takes(const hostile_args *c) {
  if (!hostile_detail_aligned(c->aligned, 1)) return false;
  if (!hostile_detail_aligned(c->blocks, 64)) return false;
  return true;
}
static inline cudaError_t hostile_detail_k0_launch(const void *kernel, hostile_args c, cudaStream_t stream) {
  void *args[] = {&c.aligned, &c.blocks, &c.n_i, &c.n_m};
  const dim3 grid = {(unsigned)hostile_detail_k0_blocks(&c), 1, 1}, block = {64, 1, 1};
  return cudaLaunchKernel(kernel, grid, block, args, 0, stream);
}

typedef struct hostile_detail_variant {
  const char *label;
  int shared_bytes;  // that a block has to ask for; 0: it need not
  long long (*blocks)(const hostile_args *c);
  bool (*takes)(const hostile_args *c);
  cudaError_t (*launch)(const void *kernel, hostile_args c, cudaStream_t stream);
} hostile_detail_variant;
static const hostile_detail_variant hostile_detail_variants[] = {
    {"*/ } int evil = 1; \" \\ \012#error broke out\012 \?\?/\012 // /* \377 } \\", 0, hostile_detail_k0_blocks, hostile_detail_k0_takes, hostile_detail_k0_launch},
};

// A tuned size, the variant that won it, and where that is predicted to be slower than the naive
// one: a digit for the extents times 2^(step * k), k from -reach to reach; 1: it is.
typedef struct hostile_detail_size {
  long long n[2];
  int variant;
  const char *label;
  int step, reach;
  const char *slower;  // null: not known
} hostile_detail_size;
static const hostile_detail_size hostile_detail_sizes_0[] = {  // * / } int evil = 1; " /  #error broke out  ? ?/  // / * _ } /: n_i, n_m
    {{64, 1}, 0, "*/ } int evil = 1; \" \\ \012#error broke out\012 \?\?/\012 // /* \377 } \\", 0, 0, NULL},
};

typedef struct hostile_detail_device {
  const char *name;
  int major, minor, sms;
  const hostile_detail_size *sizes;
  int n_sizes;
} hostile_detail_device;
static const hostile_detail_device hostile_detail_devices[] = {
    {"*/ } int evil = 1; \" \\ \012#error broke out\012 \?\?/\012 // /* \377 } \\", 9, 0, 132, hostile_detail_sizes_0, 1},
};

// ---- Which variant a call takes. Every header has this text.

// The current device, as far as the choice goes.
typedef struct hostile_detail_place {
  const hostile_detail_device *device;  // null: none matches
  int match, shared_bytes;
} hostile_detail_place;

// 3: same device model, 2: same compute capability, 1: same major version, 0: none.
static inline int hostile_detail_match(const hostile_detail_device *d, const struct cudaDeviceProp *here) {
  if (d->major != here->major) return 0;
  if (d->minor != here->minor) return 1;
  return d->sms == here->multiProcessorCount && strcmp(d->name, here->name) == 0 ? 3 : 2;
}

// The tuned device that matches the current one best, the first among equals. Reading a
// device's name takes long, so a device is asked once: `kept` holds 1 + match + 4 * device.
static inline cudaError_t hostile_detail_find_place(hostile_detail_place *here) {
  enum { n_kept = 64, n_devices = sizeof hostile_detail_devices / sizeof hostile_detail_devices[0] };
  static hostile_detail_atomic kept[n_kept];  // 0: not asked yet
  int ordinal = 0;
  cudaError_t error = cudaGetDevice(&ordinal);
  if (error == cudaSuccess && hostile_detail_wants_shared) {
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
      const int match = hostile_detail_match(&hostile_detail_devices[k], &properties);
      if (match > best) {
        best = match;
        found = 1 + best + 4 * k;
      }
    }
    if (ordinal < n_kept) kept[ordinal] = found;
  }
  here->match = (found - 1) % 4;
  here->device = here->match > 0 ? &hostile_detail_devices[(found - 1) / 4] : NULL;
  return cudaSuccess;
}

static const long long hostile_detail_max_blocks = 0x7fffffff;  // of a grid, in x

// The variant is right for the call: its grid, shared memory, alignments, conditions.
static inline bool hostile_detail_takes(const hostile_detail_variant *v, const hostile_args *c, const hostile_detail_place *here) {
  const long long blocks = v->blocks(c);
  return blocks >= 1 && blocks <= hostile_detail_max_blocks && v->shared_bytes <= here->shared_bytes &&
         v->takes(c);
}

// a / b, an extent of 0 taken for 1.
static inline double hostile_detail_ratio(long long a, long long b) {
  return (double)(a < 1 ? 1 : a) / (double)(b < 1 ? 1 : b);
}

// How far a call is from a tuned size: by how much each extent differs, all multiplied. 1: equal.
static inline double hostile_detail_distance(const hostile_detail_size *t, const long long *n) {
  double product = 1;
  for (int k = 0; k < hostile_detail_n_extents; k++) {
    product *= n[k] < t->n[k] ? hostile_detail_ratio(t->n[k], n[k]) : hostile_detail_ratio(n[k], t->n[k]);
  }
  return product;
}

// Where a call lies among the sizes tuned on the device.
static inline const char *hostile_detail_range(const hostile_detail_device *d, const hostile_detail_size *t, const long long *n) {
  if (hostile_detail_distance(t, n) == 1) return "tuned size";
  for (int k = 0; k < hostile_detail_n_extents; k++) {
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
static inline int hostile_detail_shape(double ratio, const hostile_detail_size *t, bool above) {
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
static inline bool hostile_detail_slower(const hostile_detail_size *t, const long long *n) {
  if (t->slower == NULL) return false;
  for (int corner = 0; corner < 1 << hostile_detail_n_dims; corner++) {
    int at = 0;
    for (int d = 0; d < hostile_detail_n_dims; d++) {
      const int k = hostile_detail_shape(hostile_detail_ratio(n[d], t->n[d]), t, (corner >> d & 1) != 0);
      at = at * (2 * t->reach + 1) + k + t->reach;
    }
    if (t->slower[at] == '1') return true;
  }
  return false;
}

typedef struct hostile_detail_choice {
  int variant;  // -1: none
  int match;
  const hostile_detail_device *device;  // with its size: whose variant it is, null: naive
  const hostile_detail_size *size;
  const char *reason;
} hostile_detail_choice;

// Of the device's tuned sizes the nearest whose variant is right for the call and worth it.
static inline void hostile_detail_choose_tuned(const hostile_args *c, const hostile_detail_place *here, hostile_detail_choice *out) {
  long long n[hostile_detail_n_extents];
  double best = 0;
  hostile_detail_extents(n, c);
  out->reason = "no kernel of this device is right for these arguments";
  for (int k = 0; k < here->device->n_sizes; k++) {
    const hostile_detail_size *const t = &here->device->sizes[k];
    const double away = hostile_detail_distance(t, n);
    if ((out->variant >= 0 && away >= best) || !hostile_detail_takes(&hostile_detail_variants[t->variant], c, here)) continue;
    if (away != 1 && hostile_detail_slower(t, n)) {
      if (out->variant < 0) {
        out->reason = "tuned kernels are predicted to be slower than naive here";
      }
      continue;
    }
    const hostile_detail_choice chosen = {t->variant, here->match, here->device, t, hostile_detail_range(here->device, t, n)};
    *out = chosen;
    best = away;
  }
}

// Which variant a call that has work takes.
static inline cudaError_t hostile_detail_choose(const hostile_args *c, hostile_detail_choice *out) {
  hostile_detail_place here = {NULL, 0, 0};
  const cudaError_t error = hostile_detail_find_place(&here);
  const hostile_detail_choice none = {-1, 0, NULL, NULL, NULL};
  *out = none;
  if (error != cudaSuccess) {
    out->reason = cudaGetErrorString(error);
    return error;
  }
  out->reason = "no device of this major version was tuned";
  if (here.device != NULL) hostile_detail_choose_tuned(c, &here, out);
  if (out->variant < 0 && hostile_detail_takes(&hostile_detail_variants[0], c, &here)) out->variant = 0;
  if (out->variant >= 0) return cudaSuccess;
  out->reason = "invalid configuration: more than 2^31 - 1 blocks";
  if (hostile_detail_variants[0].blocks(c) > hostile_detail_max_blocks) return cudaErrorInvalidConfiguration;
  out->reason = "invalid value: the naive variant cannot take these arguments";
  return cudaErrorInvalidValue;
}

// Why there is nothing to launch, and what the call then returns; null: there is.
static inline const char *hostile_detail_no_work(const hostile_args *c, cudaError_t *answer) {
  const long long most = 1LL << 48;  // elements: no product overflows
  long long n[hostile_detail_n_extents];
  double elements = 1;  // of the index space; a double, because a product may be any size
  bool large = false, empty = false;
  hostile_detail_extents(n, c);
  *answer = cudaErrorInvalidValue;
  for (int k = 0; k < hostile_detail_n_extents; k++) {
    if (n[k] < 0) return "invalid value: an extent is negative";
    large = large || n[k] > most;
  }
  for (int d = 0; d < hostile_detail_n_dims; d++) {
    elements *= d == hostile_detail_rows ? 1.0 : (double)n[d];
    empty = empty || (n[d] == 0 && !hostile_detail_reduced[d]);
  }
  if (!empty && !large && elements <= (double)most) return hostile_detail_bad_pointer(c, elements == 0);
  *answer = empty ? cudaSuccess : cudaErrorInvalidConfiguration;
  return empty ? "nothing to launch: the index space is empty"
               : "invalid configuration: more than 2^48 elements";
}

static inline cudaError_t hostile_detail_launch(const hostile_args *c, cudaStream_t stream) {
  hostile_detail_choice chosen;
  const void *kernel = NULL;
  cudaError_t error = cudaSuccess;
  if (hostile_detail_no_work(c, &error) != NULL) return error;
  error = hostile_detail_choose(c, &chosen);
  if (error == cudaSuccess) error = hostile_detail_find_kernel(&kernel, chosen.variant);
  if (error != cudaSuccess) return error;
  error = hostile_detail_variants[chosen.variant].launch(kernel, *c, stream);
  if (error != cudaSuccess) cudaGetLastError();  // it is returned, and need not be asked for
  return error;
}

static inline hostile_choice hostile_detail_describe(const hostile_args *c) {
  static const char *const matches[] = {"none", "same major version",
                                       "same compute capability, other model",
                                       "same device model"};
  cudaError_t error = cudaSuccess;
  hostile_detail_choice chosen = {-1, 0, NULL, NULL, NULL};
  const char *why = hostile_detail_no_work(c, &error);
  if (why == NULL && hostile_detail_choose(c, &chosen) != cudaSuccess) why = chosen.reason;
  hostile_choice out = {NULL, NULL, matches[0], NULL, why};
  if (why == NULL) {
    out.variant = hostile_detail_variants[chosen.variant].label;
    out.device = chosen.device != NULL ? chosen.device->name : NULL;
    out.match = matches[chosen.match];
    out.size = chosen.size != NULL ? chosen.size->label : NULL;
    out.reason = chosen.reason;
  }
  return out;
}

#ifdef hostile_IMPLEMENTATION
#define hostile_LINKAGE
#else
#define hostile_LINKAGE inline
#endif
hostile_LINKAGE cudaError_t hostile(const hostile_item *aligned, hostile_wide *blocks, long long n_i, long long n_m, cudaStream_t stream) {
  const hostile_args call = {aligned, blocks, n_i, n_m};
  return hostile_detail_launch(&call, stream);
}
hostile_LINKAGE cudaError_t hostile_launch(const hostile_args *args, cudaStream_t stream) {
  return args == NULL ? cudaErrorInvalidValue : hostile_detail_launch(args, stream);
}
hostile_LINKAGE hostile_choice hostile_variant(const hostile_item *aligned, hostile_wide *blocks, long long n_i, long long n_m) {
  const hostile_args call = {aligned, blocks, n_i, n_m};
  return hostile_detail_describe(&call);
}
#undef hostile_LINKAGE
#endif  // __CUDACC_RTC__
#endif  // SECTILE_KERNELS_hostile
