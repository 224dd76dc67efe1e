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
  const char *variant;     // null: nothing is launched
  const char *device;      // whose tuning decided; null: nothing is launched
  const char *match;       // how that device matches the current one
  const char *size;        // the listed size that the call has; null: none
  const char *reason;      // the branch of the rule; why nothing is launched
  const char *instead_of;  // the variant that would come first, and cannot take the arguments
} transpose_choice;
enum { transpose_n_variants = 2 };

#ifndef SECTILE_NO_RUNTIME
// The arguments of one call, by name.
typedef struct transpose_args {
  const float *a;
  float *b;
  long long n_row;
  long long n_col;
  int variant;  // 0: by the rule; k: variant number k - 1, an error where it does not take the call
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
transpose_choice transpose_variant_of(const transpose_args *args);

// From here on counts the calls that launch, by their extents, and adds them to the file `path`
// when the program exits or this is called again; null: counts no longer. `s.calls` reads it.
cudaError_t transpose_log(const char *path);

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
//   for NVIDIA H200 at any extents
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

// The variants that a call tries, in this order, and by which branch of the rule.
typedef struct transpose_detail_branch {
  int variants[3];
  const char *where;
} transpose_detail_branch;
static inline transpose_detail_branch transpose_detail_take(int first, int second, int third, const char *where) {
  const transpose_detail_branch out = {{first, second, third}, where};
  return out;
}

// NVIDIA H200: of 1 sizes. After a branch: its kernels, at how many of the sizes, and by how
// much they miss the best that was found there, in the mean and at worst.
static inline transpose_detail_branch transpose_detail_rule_0(const transpose_args *c) {
  (void)c;
  return transpose_detail_take(1, 0, 0, "any extents");  // k1_tile: 1 size, + 0.0 %, at worst + 0.0 %
}

// Listed sizes have kernels of their own.
typedef struct transpose_detail_size {
  long long n[2];  // n_row, n_col
  int variant;
  const char *label;
} transpose_detail_size;
static const transpose_detail_size transpose_detail_sizes_0[] = {
    {{4096, 4096}, 1, "row=4096 col=4096"},
};

typedef struct transpose_detail_device {
  const char *name;
  int major, minor, sms;
  transpose_detail_branch (*rule)(const transpose_args *c);
  const transpose_detail_size *sizes;
  int n_sizes;
} transpose_detail_device;
static const transpose_detail_device transpose_detail_devices[] = {
    {"NVIDIA H200", 9, 0, 132, transpose_detail_rule_0, transpose_detail_sizes_0, 1},
};

// ---- Calls, counted by their extents while a program asks for it (transpose_log).

#include <stdio.h>
#include <stdlib.h>

enum { transpose_detail_log_room = 512 };  // a power of two
typedef struct transpose_detail_calls {
  long long n[transpose_detail_n_extents], count;
} transpose_detail_calls;
typedef struct transpose_detail_log {
  transpose_detail_atomic state;  // 0: calls are not counted, 1: they are, 2: a thread has the rest of it
  bool ends_at_exit;
  FILE *file;
  int n_sizes;
  transpose_detail_calls calls[transpose_detail_log_room];  // by a hash of the extents; count 0: free
} transpose_detail_log;

// One for all files of a program.
#ifdef __cplusplus
inline transpose_detail_log *transpose_detail_find_log(void) {
#else
static inline transpose_detail_log *transpose_detail_find_log(void) {
#endif
  static transpose_detail_log log;
  return &log;
}

// Takes the log for this thread, which sets the state again. Gives what that was.
static inline int transpose_detail_take_log(transpose_detail_log *log) {
  for (;;) {
    int state = log->state;
    if (state != 2 && atomic_compare_exchange_strong(&log->state, &state, 2)) return state;
  }
}

// A file has its names more than once, where it was added to.
static inline void transpose_detail_write_log(transpose_detail_log *log) {
  if (log->n_sizes > 0) fprintf(log->file, "row,col,count\n");
  for (int at = 0; at < transpose_detail_log_room; at++) {
    const transpose_detail_calls *const c = &log->calls[at];
    for (int k = 0; k < transpose_detail_n_extents && c->count > 0; k++) {
      fprintf(log->file, "%lld,", c->n[k]);
    }
    if (c->count > 0) fprintf(log->file, "%lld\n", c->count);
  }
  memset(log->calls, 0, sizeof log->calls);
  log->n_sizes = 0;
}

static inline void transpose_detail_count_call(const transpose_args *c) {
  transpose_detail_log *const log = transpose_detail_find_log();
  const int state = transpose_detail_take_log(log);
  long long n[transpose_detail_n_extents];
  unsigned long long hash = 0;
  transpose_detail_extents(n, c);
  for (int k = 0; k < transpose_detail_n_extents; k++) {
    hash = (hash ^ (unsigned long long)n[k]) * 0x9e3779b97f4a7c15ULL;
  }
  if (state == 1 && log->n_sizes >= transpose_detail_log_room / 2) transpose_detail_write_log(log);
  int at = (int)(hash >> 32) & (transpose_detail_log_room - 1);
  while (log->calls[at].count > 0 && memcmp(log->calls[at].n, n, sizeof n) != 0) {
    at = (at + 1) & (transpose_detail_log_room - 1);
  }
  if (state == 1) {
    log->n_sizes += log->calls[at].count == 0;
    log->calls[at].count++;
    memcpy(log->calls[at].n, n, sizeof n);
  }
  log->state = state;
}

static inline cudaError_t transpose_detail_set_log(const char *path);
static inline void transpose_detail_end_log(void) {
  transpose_detail_set_log(NULL);
}

static inline cudaError_t transpose_detail_set_log(const char *path) {
  transpose_detail_log *const log = transpose_detail_find_log();
  FILE *const file = path != NULL ? fopen(path, "a") : NULL;
  if (path != NULL && file == NULL) return cudaErrorFileNotFound;
  if (file != NULL) setvbuf(file, NULL, _IOLBF, BUFSIZ);  // lines of several processes stay whole
  cudaError_t error = cudaSuccess;
  transpose_detail_take_log(log);
  if (log->file != NULL) {
    transpose_detail_write_log(log);
    const bool failed = ferror(log->file) != 0;
    if (fclose(log->file) != 0 || failed) error = cudaErrorOperatingSystem;
  }
  if (!log->ends_at_exit) log->ends_at_exit = file != NULL && atexit(transpose_detail_end_log) == 0;
  log->file = file;
  log->state = file != NULL;
  return error;
}

// ---- Which variant a call takes. Every header has this text.

// The current device, as far as the choice goes.
typedef struct transpose_detail_place {
  const transpose_detail_device *device;  // whose rule it has
  int match, shared_bytes;
} transpose_detail_place;

// 3: same device model, 2: same compute capability, 1: same major version, 0: another one.
static inline int transpose_detail_match(const transpose_detail_device *d, const struct cudaDeviceProp *here) {
  if (d->major != here->major) return 0;
  if (d->minor != here->minor) return 1;
  return d->sms == here->multiProcessorCount && strcmp(d->name, here->name) == 0 ? 3 : 2;
}

// How far away a compute capability is: by its major version, then by its minor one.
static inline int transpose_detail_far(const transpose_detail_device *d, const struct cudaDeviceProp *here) {
  const int major = d->major - here->major, minor = d->minor - here->minor;
  return 1000 * (major < 0 ? -major : major) + (minor < 0 ? -minor : minor);
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
    int best = -1, least = 0;
    for (int k = 0; k < n_devices; k++) {
      const int match = transpose_detail_match(&transpose_detail_devices[k], &properties);
      const int far = transpose_detail_far(&transpose_detail_devices[k], &properties);
      if (match > best || (match == best && far < least)) {
        best = match;
        least = far;
        found = 1 + best + 4 * k;
      }
    }
    if (ordinal < n_kept) kept[ordinal] = found;
  }
  here->match = (found - 1) % 4;
  here->device = &transpose_detail_devices[(found - 1) / 4];
  return cudaSuccess;
}

static const long long transpose_detail_max_blocks = 0x7fffffff;  // of a grid, in x

// The variant is right for the call: its grid, shared memory, alignments, conditions.
static inline bool transpose_detail_takes(const transpose_detail_variant *v, const transpose_args *c, const transpose_detail_place *here) {
  const long long blocks = v->blocks(c);
  return blocks >= 1 && blocks <= transpose_detail_max_blocks && v->shared_bytes <= here->shared_bytes &&
         v->takes(c);
}

typedef struct transpose_detail_choice {
  int variant, wanted;  // `wanted` does not take the call, where it is another one; -1: none
  transpose_detail_place here;
  const transpose_detail_size *size;  // null: by a branch of the rule
  const char *reason;
} transpose_detail_choice;

// The kernel of a listed size, else those of a branch in turn, else the naive variant.
static inline void transpose_detail_choose_tuned(const transpose_args *c, transpose_detail_choice *out) {
  const transpose_detail_device *const d = out->here.device;
  const transpose_detail_branch branch = d->rule(c);
  long long n[transpose_detail_n_extents];
  transpose_detail_extents(n, c);
  for (int k = 0; k < d->n_sizes && out->size == NULL; k++) {
    if (memcmp(n, d->sizes[k].n, sizeof n) == 0) out->size = &d->sizes[k];
  }
  const int tries[] = {out->size != NULL ? out->size->variant : branch.variants[0],
                       branch.variants[0], branch.variants[1], branch.variants[2], 0};
  int k = 0;
  while (k < 5 && !transpose_detail_takes(&transpose_detail_variants[tries[k]], c, &out->here)) k++;
  if (k > 0) out->size = NULL;
  out->reason = out->size != NULL ? "tuned size" : branch.where;
  out->wanted = tries[0];
  out->variant = k < 5 ? tries[k] : -1;
}

// Which variant a call that has work takes.
static inline cudaError_t transpose_detail_choose(const transpose_args *c, transpose_detail_choice *out) {
  const transpose_detail_choice none = {-1, -1, {NULL, 0, 0}, NULL, NULL};
  *out = none;
  const cudaError_t error = transpose_detail_find_place(&out->here);
  if (error != cudaSuccess) {
    out->reason = cudaGetErrorString(error);
    return error;
  }
  if (c->variant != 0) {
    const int k = c->variant - 1;
    const bool takes = k >= 0 && k < transpose_n_variants &&
                       transpose_detail_takes(&transpose_detail_variants[k], c, &out->here);
    out->variant = out->wanted = takes ? k : -1;
    out->reason = takes ? "the arguments name this variant"
                        : "invalid value: there is no such variant, or it does not take them";
    return takes ? cudaSuccess : cudaErrorInvalidValue;
  }
  transpose_detail_choose_tuned(c, out);
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
  if (error == cudaSuccess && transpose_detail_find_log()->state != 0) transpose_detail_count_call(c);
  return error;
}

static inline transpose_choice transpose_detail_describe(const transpose_args *c) {
  static const char *const matches[] = {"other major version, the nearest that was tuned",
                                       "same major version",
                                       "same compute capability, other model",
                                       "same device model"};
  cudaError_t error = cudaSuccess;
  transpose_detail_choice chosen;
  const char *why = transpose_detail_no_work(c, &error);
  if (why == NULL && transpose_detail_choose(c, &chosen) != cudaSuccess) why = chosen.reason;
  transpose_choice out = {NULL, NULL, "none", NULL, why, NULL};
  if (why == NULL) {
    out.variant = transpose_detail_variants[chosen.variant].label;
    out.device = chosen.here.device->name;
    out.match = matches[chosen.here.match];
    out.size = chosen.size != NULL ? chosen.size->label : NULL;
    out.reason = chosen.reason;
    out.instead_of = chosen.wanted != chosen.variant ? transpose_detail_variants[chosen.wanted].label : NULL;
  }
  return out;
}
#ifdef transpose_IMPLEMENTATION
#define transpose_LINKAGE
#else
#define transpose_LINKAGE inline
#endif
transpose_LINKAGE cudaError_t transpose(const float *a, float *b, long long n_row, long long n_col, cudaStream_t stream) {
  const transpose_args call = {a, b, n_row, n_col, 0};
  return transpose_detail_launch(&call, stream);
}
transpose_LINKAGE cudaError_t transpose_launch(const transpose_args *args, cudaStream_t stream) {
  return args == NULL ? cudaErrorInvalidValue : transpose_detail_launch(args, stream);
}
transpose_LINKAGE transpose_choice transpose_variant(const float *a, float *b, long long n_row, long long n_col) {
  const transpose_args call = {a, b, n_row, n_col, 0};
  return transpose_detail_describe(&call);
}
transpose_LINKAGE transpose_choice transpose_variant_of(const transpose_args *args) {
  const transpose_choice none = {NULL, NULL, "none", NULL, "invalid value: no arguments", NULL};
  return args == NULL ? none : transpose_detail_describe(args);
}
transpose_LINKAGE cudaError_t transpose_log(const char *path) {
  return transpose_detail_set_log(path);
}
#undef transpose_LINKAGE
#endif  // __CUDACC_RTC__
#endif  // SECTILE_KERNELS_transpose
