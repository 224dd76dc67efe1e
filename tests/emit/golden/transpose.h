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
#include <stdint.h>
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

#if defined(transpose_IMPLEMENTATION) && !defined(__CUDACC__) && !defined(transpose_FIND_KERNEL)
#error "transpose_IMPLEMENTATION: compile this file as CUDA, or define transpose_FIND_KERNEL"
#endif
#if (defined(transpose_IMPLEMENTATION) || defined(__CUDACC__)) && !defined(SECTILE_KERNELS_transpose)
#define SECTILE_KERNELS_transpose
#ifdef transpose_FIND_KERNEL  // a program that compiled the kernels itself knows them by name
static inline cudaError_t transpose_detail_find_kernel(const void **out, int variant) {
  static const char *const names[] = {
      "transpose_k0_direct",
      "transpose_k1_tile",
  };
  return transpose_FIND_KERNEL(out, names[variant]);
}
#else
#ifdef __CUDACC_RTC__
#undef __global__
#define __global__ extern "C" __attribute__((global))
namespace transpose_detail {
#else
#include <cuda_runtime.h>

namespace transpose_detail {
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
}  // namespace
}  // namespace transpose_detail

// The kernel of each variant.
static const void *const transpose_detail_kernels[] = {
    (const void *)transpose_detail::k0_direct::transpose_k0_direct,
    (const void *)transpose_detail::k1_tile::transpose_k1_tile,
};
static inline cudaError_t transpose_detail_find_kernel(const void **out, int variant) {
  *out = transpose_detail_kernels[variant];
  return cudaSuccess;
}
#endif  // __CUDACC_RTC__
#endif  // transpose_FIND_KERNEL

#ifndef __CUDACC_RTC__

// ---- Variants and where they were tuned. From here on it is C11 and C++11.

#include <string.h>
#ifdef __cplusplus
#include <atomic>
typedef std::atomic<int> transpose_detail_atomic;
#else
#include <stdatomic.h>
typedef atomic_int transpose_detail_atomic;
#endif

// The extents of a call, those of the index space first.
enum {
  transpose_detail_n_extents = 2,
  transpose_detail_n_dims = 2,
  transpose_detail_rows = -1,  // the dimension of rows with different lengths, which share elements; -1: none
  transpose_detail_wants_shared = 0  // some variant asks for more shared memory than all have
};
static const bool transpose_detail_reduced[] = {false, false};  // outputs have elements even where it is 0
static inline void transpose_detail_extents(long long *n, const transpose_args *c) {
  const long long all[] = {c->n_row, c->n_col};
  memcpy(n, all, sizeof all);
}

static inline bool transpose_detail_aligned(const void *p, unsigned long long bytes) {
  return (unsigned long long)p % bytes == 0;
}

// What is wrong with a pointer of the call, null: nothing. Where there is nothing to sum, `empty`,
// inputs may be null.
static inline const char *transpose_detail_bad_pointer(const transpose_args *c, bool empty) {
  (void)empty;
  if (c->a == NULL && !empty) return "invalid value: a is null";
  if (!transpose_detail_aligned(c->a, 4)) return "invalid value: a is not aligned to 4 bytes";
  if (c->b == NULL) return "invalid value: b is null";
  if (!transpose_detail_aligned(c->b, 4)) return "invalid value: b is not aligned to 4 bytes";
  return NULL;
}

// Of each variant the blocks of its grid, whether it is right for a call, its launch.
static inline long long transpose_detail_k0_blocks(const transpose_args *c) {
  const long long n_row = c->n_row, n_col = c->n_col;
  return (n_row * n_col + 255) / 256;
}
static inline bool transpose_detail_k0_takes(const transpose_args *c) {
  if (!transpose_detail_aligned(c->a, 4)) return false;
  if (!transpose_detail_aligned(c->b, 4)) return false;
  return true;
}
static inline cudaError_t transpose_detail_k0_launch(const void *kernel, transpose_args c, cudaStream_t stream) {
  void *args[] = {&c.a, &c.b, &c.n_row, &c.n_col};
  const dim3 grid = {(unsigned)transpose_detail_k0_blocks(&c), 1, 1}, block = {256, 1, 1};
  return cudaLaunchKernel(kernel, grid, block, args, 0, stream);
}

static inline long long transpose_detail_k1_blocks(const transpose_args *c) {
  const long long n_row = c->n_row, n_col = c->n_col;
  return (n_row + 31) / 32 * ((n_col + 31) / 32);
}
static inline bool transpose_detail_k1_takes(const transpose_args *c) {
  if (!transpose_detail_aligned(c->a, 4)) return false;
  if (!transpose_detail_aligned(c->b, 4)) return false;
  return true;
}
static inline cudaError_t transpose_detail_k1_launch(const void *kernel, transpose_args c, cudaStream_t stream) {
  void *args[] = {&c.a, &c.b, &c.n_row, &c.n_col};
  const dim3 grid = {(unsigned)transpose_detail_k1_blocks(&c), 1, 1}, block = {256, 1, 1};
  return cudaLaunchKernel(kernel, grid, block, args, 0, stream);
}

typedef struct transpose_detail_variant {
  const char *label;
  int shared_bytes;  // that a block has to ask for; 0: it need not
  long long (*blocks)(const transpose_args *c);
  bool (*takes)(const transpose_args *c);
  cudaError_t (*launch)(const void *kernel, transpose_args c, cudaStream_t stream);
} transpose_detail_variant;
static const transpose_detail_variant transpose_detail_variants[] = {
    {"direct t256", 0, transpose_detail_k0_blocks, transpose_detail_k0_takes, transpose_detail_k0_launch},
    {"tile 32x32", 0, transpose_detail_k1_blocks, transpose_detail_k1_takes, transpose_detail_k1_launch},
};

// A tuned size, the variant that won it, and where that is predicted to be slower than the naive
// one: a digit for the extents times 2^(step * k), k from -reach to reach; 1: it is.
typedef struct transpose_detail_size {
  long long n[2];
  int variant;
  const char *label;
  int step, reach;
  const char *slower;  // null: not known
} transpose_detail_size;
static const transpose_detail_size transpose_detail_sizes_0[] = {  // NVIDIA H200: n_row, n_col
    {{4096, 4096}, 1, "row=4096 col=4096", 2, 5,
     "1111111111111111111111110000000001100000000011000000000110000000001100000000011000000000110000000001100000000011000000000"},
};

typedef struct transpose_detail_device {
  const char *name;
  int major, minor, sms;
  const transpose_detail_size *sizes;
  int n_sizes;
} transpose_detail_device;
static const transpose_detail_device transpose_detail_devices[] = {
    {"NVIDIA H200", 9, 0, 132, transpose_detail_sizes_0, 1},
};

// ---- Which variant a call takes. Every header has this text.

// The current device, as far as the choice goes.
typedef struct transpose_detail_place {
  const transpose_detail_device *device;  // null: none matches
  int match, shared_bytes;
} transpose_detail_place;

// 3: same device model, 2: same compute capability, 1: same major version, 0: none.
static inline int transpose_detail_match(const transpose_detail_device *d, const struct cudaDeviceProp *here) {
  if (d->major != here->major) return 0;
  if (d->minor != here->minor) return 1;
  return d->sms == here->multiProcessorCount && strcmp(d->name, here->name) == 0 ? 3 : 2;
}

// The tuned device that matches the current one best, the first among equals. Reading a
// device's name takes long, so a device is asked once: `kept` holds 1 + match + 4 * device.
static inline cudaError_t transpose_detail_find_place(transpose_detail_place *here) {
  enum { n_kept = 64, n_devices = sizeof transpose_detail_devices / sizeof transpose_detail_devices[0] };
  static transpose_detail_atomic kept[n_kept];  // 0: not asked yet
  int ordinal = 0;
  cudaError_t error = cudaGetDevice(&ordinal);
  if (error == cudaSuccess && transpose_detail_wants_shared) {
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
      const int match = transpose_detail_match(&transpose_detail_devices[k], &properties);
      if (match > best) {
        best = match;
        found = 1 + best + 4 * k;
      }
    }
    if (ordinal < n_kept) kept[ordinal] = found;
  }
  here->match = (found - 1) % 4;
  here->device = here->match > 0 ? &transpose_detail_devices[(found - 1) / 4] : NULL;
  return cudaSuccess;
}

static const long long transpose_detail_max_blocks = 0x7fffffff;  // of a grid, in x

// The variant is right for the call: its grid, shared memory, alignments, conditions.
static inline bool transpose_detail_takes(const transpose_detail_variant *v, const transpose_args *c, const transpose_detail_place *here) {
  const long long blocks = v->blocks(c);
  return blocks >= 1 && blocks <= transpose_detail_max_blocks && v->shared_bytes <= here->shared_bytes &&
         v->takes(c);
}

// a / b, an extent of 0 taken for 1.
static inline double transpose_detail_ratio(long long a, long long b) {
  return (double)(a < 1 ? 1 : a) / (double)(b < 1 ? 1 : b);
}

// How far a call is from a tuned size: by how much each extent differs, all multiplied. 1: equal.
static inline double transpose_detail_distance(const transpose_detail_size *t, const long long *n) {
  double product = 1;
  for (int k = 0; k < transpose_detail_n_extents; k++) {
    product *= n[k] < t->n[k] ? transpose_detail_ratio(t->n[k], n[k]) : transpose_detail_ratio(n[k], t->n[k]);
  }
  return product;
}

// Where a call lies among the sizes tuned on the device.
static inline const char *transpose_detail_range(const transpose_detail_device *d, const transpose_detail_size *t, const long long *n) {
  if (transpose_detail_distance(t, n) == 1) return "tuned size";
  for (int k = 0; k < transpose_detail_n_extents; k++) {
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
static inline int transpose_detail_shape(double ratio, const transpose_detail_size *t, bool above) {
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
static inline bool transpose_detail_slower(const transpose_detail_size *t, const long long *n) {
  if (t->slower == NULL) return false;
  for (int corner = 0; corner < 1 << transpose_detail_n_dims; corner++) {
    int at = 0;
    for (int d = 0; d < transpose_detail_n_dims; d++) {
      const int k = transpose_detail_shape(transpose_detail_ratio(n[d], t->n[d]), t, (corner >> d & 1) != 0);
      at = at * (2 * t->reach + 1) + k + t->reach;
    }
    if (t->slower[at] == '1') return true;
  }
  return false;
}

typedef struct transpose_detail_choice {
  int variant;  // -1: none
  int match;
  const transpose_detail_device *device;  // with its size: whose variant it is, null: naive
  const transpose_detail_size *size;
  const char *reason;
} transpose_detail_choice;

// Of the device's tuned sizes the nearest whose variant is right for the call and worth it.
static inline void transpose_detail_choose_tuned(const transpose_args *c, const transpose_detail_place *here, transpose_detail_choice *out) {
  long long n[transpose_detail_n_extents];
  double best = 0;
  transpose_detail_extents(n, c);
  out->reason = "no kernel of this device is right for these arguments";
  for (int k = 0; k < here->device->n_sizes; k++) {
    const transpose_detail_size *const t = &here->device->sizes[k];
    const double away = transpose_detail_distance(t, n);
    if ((out->variant >= 0 && away >= best) || !transpose_detail_takes(&transpose_detail_variants[t->variant], c, here)) continue;
    if (away != 1 && transpose_detail_slower(t, n)) {
      if (out->variant < 0) {
        out->reason = "tuned kernels are predicted to be slower than naive here";
      }
      continue;
    }
    const transpose_detail_choice chosen = {t->variant, here->match, here->device, t, transpose_detail_range(here->device, t, n)};
    *out = chosen;
    best = away;
  }
}

// Which variant a call that has work takes.
static inline cudaError_t transpose_detail_choose(const transpose_args *c, transpose_detail_choice *out) {
  transpose_detail_place here = {NULL, 0, 0};
  const cudaError_t error = transpose_detail_find_place(&here);
  const transpose_detail_choice none = {-1, 0, NULL, NULL, NULL};
  *out = none;
  if (error != cudaSuccess) {
    out->reason = cudaGetErrorString(error);
    return error;
  }
  out->reason = "no device of this major version was tuned";
  if (here.device != NULL) transpose_detail_choose_tuned(c, &here, out);
  if (out->variant < 0 && transpose_detail_takes(&transpose_detail_variants[0], c, &here)) out->variant = 0;
  if (out->variant >= 0) return cudaSuccess;
  out->reason = "invalid configuration: more than 2^31 - 1 blocks";
  if (transpose_detail_variants[0].blocks(c) > transpose_detail_max_blocks) return cudaErrorInvalidConfiguration;
  out->reason = "invalid value: the naive variant cannot take these arguments";
  return cudaErrorInvalidValue;
}

// Why there is nothing to launch, and what the call then returns; null: there is.
static inline const char *transpose_detail_no_work(const transpose_args *c, cudaError_t *answer) {
  const long long most = 1LL << 48;  // elements: no product overflows
  long long n[transpose_detail_n_extents];
  double elements = 1;  // of the index space; a double, because a product may be any size
  bool large = false, empty = false;
  transpose_detail_extents(n, c);
  *answer = cudaErrorInvalidValue;
  for (int k = 0; k < transpose_detail_n_extents; k++) {
    if (n[k] < 0) return "invalid value: an extent is negative";
    large = large || n[k] > most;
  }
  for (int d = 0; d < transpose_detail_n_dims; d++) {
    elements *= d == transpose_detail_rows ? 1.0 : (double)n[d];
    empty = empty || (n[d] == 0 && !transpose_detail_reduced[d]);
  }
  if (!empty && !large && elements <= (double)most) return transpose_detail_bad_pointer(c, elements == 0);
  *answer = empty ? cudaSuccess : cudaErrorInvalidConfiguration;
  return empty ? "nothing to launch: the index space is empty"
               : "invalid configuration: more than 2^48 elements";
}

static inline cudaError_t transpose_detail_launch(const transpose_args *c, cudaStream_t stream) {
  transpose_detail_choice chosen;
  const void *kernel = NULL;
  cudaError_t error = cudaSuccess;
  if (transpose_detail_no_work(c, &error) != NULL) return error;
  error = transpose_detail_choose(c, &chosen);
  if (error == cudaSuccess) error = transpose_detail_find_kernel(&kernel, chosen.variant);
  if (error != cudaSuccess) return error;
  error = transpose_detail_variants[chosen.variant].launch(kernel, *c, stream);
  if (error != cudaSuccess) cudaGetLastError();  // it is returned, and need not be asked for
  return error;
}

static inline transpose_choice transpose_detail_describe(const transpose_args *c) {
  static const char *const matches[] = {"none", "same major version",
                                       "same compute capability, other model",
                                       "same device model"};
  cudaError_t error = cudaSuccess;
  transpose_detail_choice chosen = {-1, 0, NULL, NULL, NULL};
  const char *why = transpose_detail_no_work(c, &error);
  if (why == NULL && transpose_detail_choose(c, &chosen) != cudaSuccess) why = chosen.reason;
  transpose_choice out = {NULL, NULL, matches[0], NULL, why};
  if (why == NULL) {
    out.variant = transpose_detail_variants[chosen.variant].label;
    out.device = chosen.device != NULL ? chosen.device->name : NULL;
    out.match = matches[chosen.match];
    out.size = chosen.size != NULL ? chosen.size->label : NULL;
    out.reason = chosen.reason;
  }
  return out;
}

#ifdef transpose_IMPLEMENTATION
#define transpose_LINKAGE
#else
#define transpose_LINKAGE inline
#endif
transpose_LINKAGE cudaError_t transpose(const float *a, float *b, long long n_row, long long n_col, cudaStream_t stream) {
  const transpose_args call = {a, b, n_row, n_col};
  return transpose_detail_launch(&call, stream);
}
transpose_LINKAGE cudaError_t transpose_launch(const transpose_args *args, cudaStream_t stream) {
  return args == NULL ? cudaErrorInvalidValue : transpose_detail_launch(args, stream);
}
transpose_LINKAGE transpose_choice transpose_variant(const float *a, float *b, long long n_row, long long n_col) {
  const transpose_args call = {a, b, n_row, n_col};
  return transpose_detail_describe(&call);
}
#undef transpose_LINKAGE
#endif  // __CUDACC_RTC__
#endif  // SECTILE_KERNELS_transpose
