// row_sum.h - written by sectile 0.1.0; do not edit. Again: sectile emit row_sum.lua -o row_sum.h
//
// For every (row, col) in [0, n_row) x [0, n_col):
//   total = a;
// where
//   a      in   f32, layout row_major; over (row, col)
//   total  out  f32, layout row_major; over (row)
//               the sum of what is computed for it
//
// device               variant         size                median us  GB/s  of copy  sectors/request ld (least) | st (least)
// NVIDIA H200 (sm_90)  reduce_rows b8  row=16 col=1048576       20.0  3355     80 %  8.0 (8.0) | 8.0 (8.0)
//   naive, same run    direct t256     row=16 col=1048576       70.0   959     23 %  8.0 (8.0) | 24.0 (8.0)
//   40 candidates: 38 verified, 1 tied with the winner, 2 failed
//
// NVIDIA H200: driver 580.1, NVRTC 13.0, sectile 0.1.0
// Spec 8a504888afceb3b29c785e42ad496245; the hash of each kernel's source stands above it.
// Calls that may overlap, such as on two streams, need a workspace each: blocks leave
// partial results there.
//
// Any C11 or C++11 compiler takes this header. CUDA files get the kernels and the launch function,
// each for itself; other files get declarations. For these, one CUDA file defines
// row_sum_IMPLEMENTATION before it includes the header for the first time.
// NVRTC gets the kernels, under the names that the lines of #define give them.
#if !defined(SECTILE_HEADER_row_sum) && !defined(__CUDACC_RTC__)
#define SECTILE_HEADER_row_sum
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
typedef struct row_sum_tuning {
  const char *device, *arch, *figures, *driver, *nvrtc, *tool, *size, *variant, *source_hash;
  double median_us, gb_per_s, of_copy, naive_us;  // 0: not timed
  int candidates, verified, tied, failed;
} row_sum_tuning;
static const row_sum_tuning row_sum_tunings[] = {
    {"NVIDIA H200", "sm_90", "timed",
     "580.1", "13.0", "0.1.0",
     "row=16 col=1048576", "reduce_rows b8", "437313759136bf67ef6bb3c6c2a9d488",
     20, 3355.4463999999998, 0.79891580952380947, 70, 40, 38, 1, 2},
};
static const struct {
  const char *kernel, *spec_hash, *written_by;
  int n_tunings;
  const row_sum_tuning *tunings;
} row_sum_provenance = {"row_sum", "8a504888afceb3b29c785e42ad496245", "sectile 0.1.0", 1,
    row_sum_tunings};

// Which kernel a call takes, and why.
typedef struct row_sum_choice {
  const char *variant;  // null: nothing is launched
  const char *device;   // whose tuning decided, null: nobody's
  const char *match;    // how that device matches the current one
  const char *size;     // the tuned size whose kernel it is, null: none
  const char *reason;   // where the call lies among the tuned sizes; why naive, why nothing
} row_sum_choice;

#ifndef SECTILE_NO_RUNTIME
// The arguments of one call, by name.
typedef struct row_sum_args {
  const float *a;
  float *total;
  long long n_row;
  long long n_col;
  void *workspace;
} row_sum_args;

#ifdef __cplusplus
extern "C" {
#endif

// What the workspace of a call has, whatever its extents; 0: it may be null.
size_t row_sum_workspace_bytes(void);

// Launches on `stream`; never synchronises, allocates nothing. An empty index space launches nothing.
// What is written must not overlap another array. That, a negative extent, a null pointer or a
// pointer below its type's alignment is cudaErrorInvalidValue, a grid beyond 2^31 - 1 blocks
// cudaErrorInvalidConfiguration; other errors are those of the launch.
// `workspace` has row_sum_workspace_bytes() bytes, set to 0 once before its first use; launches leave
// it ready for the next. Calls that may overlap need one each.
cudaError_t row_sum(const float *a, float *total, long long n_row, long long n_col, void *workspace, cudaStream_t stream);
// The same, every argument by its name. What `args` leaves out is 0; null is cudaErrorInvalidValue.
cudaError_t row_sum_launch(const row_sum_args *args, cudaStream_t stream);

// What row_sum would do with these arguments on the current device.
row_sum_choice row_sum_variant(const float *a, float *total, long long n_row, long long n_col, void *workspace);

#ifdef __cplusplus
}
#endif
#endif  // SECTILE_NO_RUNTIME
#endif  // SECTILE_HEADER_row_sum

#if defined(row_sum_IMPLEMENTATION) && !defined(__CUDACC__) && !defined(row_sum_FIND_KERNEL)
#error "row_sum_IMPLEMENTATION: compile this file as CUDA, or define row_sum_FIND_KERNEL"
#endif
#if (defined(row_sum_IMPLEMENTATION) || defined(__CUDACC__)) && !defined(SECTILE_KERNELS_row_sum)
#define SECTILE_KERNELS_row_sum
#ifdef row_sum_FIND_KERNEL  // a program that compiled the kernels itself knows them by name
static inline cudaError_t row_sum_detail_find_kernel(const void **out, int variant) {
  static const char *const names[] = {
      "row_sum_k0_direct",
      "row_sum_k1_reduce_rows",
  };
  return row_sum_FIND_KERNEL(out, names[variant]);
}
#else
#ifdef __CUDACC_RTC__
#undef __global__
#define __global__ extern "C" __attribute__((global))
namespace row_sum_detail {
#else
#include <cuda_runtime.h>

namespace row_sum_detail {
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
//   needs a aligned to 4, total aligned to 4
//   source 141cec08e480221e60a9b5e5a6c49c9a
#define direct row_sum_k0_direct
namespace k0_direct {
// What is reduced: a field for each value of the outputs.
struct partial {
  float total;
};
// Of no element.
__device__ __forceinline__ partial nothing() {
  return {0.0f};
}
__device__ __forceinline__ partial combine(const partial &a, const partial &b) {
  return {a.total + b.total};
}

// What one element of the index space gives, every access where its layout puts it.
__device__ __forceinline__ partial element(const float *__restrict__ a_in,
    float *__restrict__ total_out, long long n_row, long long n_col, long long row, long long col) {
  const float a = a_in[n_col * row + col];
  float total;
  { total = a; }
  return partial{total};
}

// A block of 256 threads an output element, each of which takes every 256-th of what is reduced.
__global__ void __launch_bounds__(256)
direct(const float *__restrict__ a_in, float *__restrict__ total_out, long long n_row,
       long long n_col) {
  constexpr int kThreads = 256;
  __shared__ partial partials[kThreads];
  const long long block = blockIdx.x;
  const int thread = threadIdx.x;
  const long long row = block;
  partial mine = nothing();
  for (long long place = thread; place < n_col; place += kThreads) {
    const long long col = place;
    mine = combine(mine, element(a_in, total_out, n_row, n_col, row, col));
  }
  partials[thread] = mine;
  for (int half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (thread < half) partials[thread] = combine(partials[thread], partials[thread + half]);
  }
  if (thread == 0) {
    mine = partials[0];
    total_out[row] = mine.total;
  }
}
}  // namespace k0_direct
#undef direct

// reduce_rows b8.
//   for NVIDIA H200 at row=16 col=1048576
//   needs a aligned to 16, total aligned to 4, n_col % 4 == 0, 8 * n_row <= 4096, 278528 bytes of workspace
//   source 437313759136bf67ef6bb3c6c2a9d488
#define reduce_rows row_sum_k1_reduce_rows
namespace k1_reduce_rows {
// What is reduced: a field for each value of the outputs.
struct partial {
  float total;
};
// Of no element.
__device__ __forceinline__ partial nothing() {
  return {0.0f};
}
__device__ __forceinline__ partial combine(const partial &a, const partial &b) {
  return {a.total + b.total};
}
// The partials of a warp's lanes as one, in every lane.
__device__ __forceinline__ partial combine_lanes(partial p) {
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2)
    p = combine(p, {__shfl_xor_sync(0xffffffffu, p.total, distance)});
  return p;
}
// Another block's partial, which is not in this SM's L1.
__device__ __forceinline__ partial partial_at(const partial *partials, long long number) {
  return {__ldcg(&partials[number].total)};
}

// The value of type T that lies `bytes` after `base`.
template <class T> __device__ __forceinline__ const T &at(const void *base, long long bytes) {
  return *reinterpret_cast<const T *>(static_cast<const char *>(base) + bytes);
}
template <class T> __device__ __forceinline__ T &at(void *base, long long bytes) {
  return *reinterpret_cast<T *>(static_cast<char *>(base) + bytes);
}

// kCount words from or to neighbouring addresses.
template <class Word, int kCount>
__device__ __forceinline__ void load_words(void *to, const void *from) {
#pragma unroll
  for (int k = 0; k < kCount; k++)
    static_cast<Word *>(to)[k] = static_cast<const Word *>(from)[k];
}
template <class Word, int kCount>
__device__ __forceinline__ void store_words(void *to, const void *from) {
#pragma unroll
  for (int k = 0; k < kCount; k++)
    __stwb(static_cast<Word *>(to) + k, static_cast<const Word *>(from)[k]);
}

// What one element of the index space gives, every access where its layout puts it.
__device__ __forceinline__ partial element(const float *__restrict__ a_in,
    float *__restrict__ total_out, long long n_row, long long n_col, long long row, long long col) {
  const float a = a_in[n_col * row + col];
  float total;
  { total = a; }
  return partial{total};
}

// 8 blocks an output element; 4 x 4 elements of col a thread are in flight.
__global__ void __launch_bounds__(256)
reduce_rows(const float *__restrict__ a_in, float *__restrict__ total_out, long long n_row,
            long long n_col, unsigned int *workspace) {
  constexpr int kThreads = 256, kItems = 4, kVec = 4;
  // elements of col that a block takes at once
  constexpr int kTile = kThreads * kItems * kVec;
  __shared__ partial from_warps[kThreads / 32];
  const long long block = blockIdx.x;
  const int thread = threadIdx.x;
  constexpr int kShares = 8; // blocks that share it
  const int share = (int)(block % kShares);
  const long long team = block / kShares;
  // what blocks leave for the one that comes last, and how many have come: 0 again at the end
  unsigned int *const arrived = workspace;
  partial *const partials = reinterpret_cast<partial *>(workspace + 65536);
  const long long row = team;
  partial mine = nothing();
  for (long long first = share * (long long)kTile; first + kTile <= n_col;
       first += kShares * (long long)kTile) {
    __align__(16) float a_v[kItems * kVec];
    #pragma unroll
    for (int item = 0; item < kItems; item++) {
      const long long col = first + (item * 256 + thread) * kVec;
      load_words<uint4, 1>(&a_v[item * kVec], &at<uint4>(a_in, 4 * n_col * row + 4 * col));
    }
    #pragma unroll
    for (int item = 0; item < kItems; item++) {
      #pragma unroll
      for (int part = 0; part < kVec; part++) {
        const float a = a_v[item * kVec + part];
        float total;
        { total = a; }
        mine = combine(mine, partial{total});
      }
    }
  }
  for (long long col = n_col / kTile * kTile + share * 256 + thread; col < n_col;
       col += kShares * 256)
    mine = combine(mine, element(a_in, total_out, n_row, n_col, row, col));
  mine = combine_lanes(mine);
  if (thread % 32 == 0) from_warps[thread / 32] = mine;
  __syncthreads();
  if (thread < 32) mine = combine_lanes(thread < kThreads / 32 ? from_warps[thread] : nothing());
  __shared__ bool last_block;
  if (thread == 0) {
    partials[block] = mine;
    __threadfence(); // before it counts as arrived
  }
  if (thread == 0) { // the counter goes from the last one to 0, for the next launch
    last_block = atomicInc(&arrived[team], kShares - 1) == kShares - 1;
  }
  __syncthreads();
  if (!last_block) return;
  __threadfence(); // what the others left is seen from here on
  mine = nothing();
  for (int other = thread; other < kShares; other += kThreads)
    mine = combine(mine, partial_at(partials, team * kShares + other));
  mine = combine_lanes(mine);
  if (thread % 32 == 0) from_warps[thread / 32] = mine;
  __syncthreads();
  if (thread < 32) mine = combine_lanes(thread < kThreads / 32 ? from_warps[thread] : nothing());
  if (thread == 0) {
    total_out[row] = mine.total;
  }
}
}  // namespace k1_reduce_rows
#undef reduce_rows

#if defined(__NVCC__) || defined(__CUDACC_RTC__)
#pragma nv_diagnostic pop
#endif

#ifdef __CUDACC_RTC__
}  // namespace row_sum_detail
#undef __global__
#define __global__ __attribute__((global))
#else
}  // namespace
}  // namespace row_sum_detail

// The kernel of each variant.
static const void *const row_sum_detail_kernels[] = {
    (const void *)row_sum_detail::k0_direct::row_sum_k0_direct,
    (const void *)row_sum_detail::k1_reduce_rows::row_sum_k1_reduce_rows,
};
static inline cudaError_t row_sum_detail_find_kernel(const void **out, int variant) {
  *out = row_sum_detail_kernels[variant];
  return cudaSuccess;
}
#endif  // __CUDACC_RTC__
#endif  // row_sum_FIND_KERNEL

#ifndef __CUDACC_RTC__

// ---- Variants and where they were tuned. From here on it is C11 and C++11.

#include <string.h>
#ifdef __cplusplus
#include <atomic>
typedef std::atomic<int> row_sum_detail_atomic;
#else
#include <stdatomic.h>
typedef atomic_int row_sum_detail_atomic;
#endif

// The extents of a call, those of the index space first.
enum {
  row_sum_detail_n_extents = 2,
  row_sum_detail_n_dims = 2,
  row_sum_detail_rows = -1,  // the dimension of rows with different lengths, which share elements; -1: none
  row_sum_detail_wants_shared = 0  // some variant asks for more shared memory than all have
};
static const bool row_sum_detail_reduced[] = {false, true};  // outputs have elements even where it is 0
static inline void row_sum_detail_extents(long long *n, const row_sum_args *c) {
  const long long all[] = {c->n_row, c->n_col};
  memcpy(n, all, sizeof all);
}

static inline bool row_sum_detail_aligned(const void *p, unsigned long long bytes) {
  return (unsigned long long)p % bytes == 0;
}

// What is wrong with a pointer of the call, null: nothing. Where there is nothing to sum, `empty`,
// inputs may be null.
static inline const char *row_sum_detail_bad_pointer(const row_sum_args *c, bool empty) {
  (void)empty;
  if (c->a == NULL && !empty) return "invalid value: a is null";
  if (!row_sum_detail_aligned(c->a, 4)) return "invalid value: a is not aligned to 4 bytes";
  if (c->total == NULL) return "invalid value: total is null";
  if (!row_sum_detail_aligned(c->total, 4)) return "invalid value: total is not aligned to 4 bytes";
  if (c->workspace == NULL || !row_sum_detail_aligned(c->workspace, 16)) {
    return "invalid value: workspace is null or not aligned to 16 bytes";
  }
  return NULL;
}

// Of each variant the blocks of its grid, whether it is right for a call, its launch.
static inline long long row_sum_detail_k0_blocks(const row_sum_args *c) {
  const long long n_row = c->n_row;
  return n_row;
}
static inline bool row_sum_detail_k0_takes(const row_sum_args *c) {
  if (!row_sum_detail_aligned(c->a, 4)) return false;
  if (!row_sum_detail_aligned(c->total, 4)) return false;
  return true;
}
static inline cudaError_t row_sum_detail_k0_launch(const void *kernel, row_sum_args c, cudaStream_t stream) {
  void *args[] = {&c.a, &c.total, &c.n_row, &c.n_col};
  const dim3 grid = {(unsigned)row_sum_detail_k0_blocks(&c), 1, 1}, block = {256, 1, 1};
  return cudaLaunchKernel(kernel, grid, block, args, 0, stream);
}

static inline long long row_sum_detail_k1_blocks(const row_sum_args *c) {
  const long long n_row = c->n_row;
  return 8 * n_row;
}
static inline bool row_sum_detail_k1_takes(const row_sum_args *c) {
  const long long n_row = c->n_row, n_col = c->n_col;
  if (!row_sum_detail_aligned(c->a, 16)) return false;
  if (!row_sum_detail_aligned(c->total, 4)) return false;
  if (!(n_col % 4 == 0)) return false;
  if (!(8 * n_row <= 4096)) return false;
  return true;
}
static inline cudaError_t row_sum_detail_k1_launch(const void *kernel, row_sum_args c, cudaStream_t stream) {
  void *args[] = {&c.a, &c.total, &c.n_row, &c.n_col, &c.workspace};
  const dim3 grid = {(unsigned)row_sum_detail_k1_blocks(&c), 1, 1}, block = {256, 1, 1};
  return cudaLaunchKernel(kernel, grid, block, args, 0, stream);
}

typedef struct row_sum_detail_variant {
  const char *label;
  int shared_bytes;  // that a block has to ask for; 0: it need not
  long long (*blocks)(const row_sum_args *c);
  bool (*takes)(const row_sum_args *c);
  cudaError_t (*launch)(const void *kernel, row_sum_args c, cudaStream_t stream);
} row_sum_detail_variant;
static const row_sum_detail_variant row_sum_detail_variants[] = {
    {"direct t256", 0, row_sum_detail_k0_blocks, row_sum_detail_k0_takes, row_sum_detail_k0_launch},
    {"reduce_rows b8", 0, row_sum_detail_k1_blocks, row_sum_detail_k1_takes, row_sum_detail_k1_launch},
};

// A tuned size, the variant that won it, and where that is predicted to be slower than the naive
// one: a digit for the extents times 2^(step * k), k from -reach to reach; 1: it is.
typedef struct row_sum_detail_size {
  long long n[2];
  int variant;
  const char *label;
  int step, reach;
  const char *slower;  // null: not known
} row_sum_detail_size;
static const row_sum_detail_size row_sum_detail_sizes_0[] = {  // NVIDIA H200: n_row, n_col
    {{16, 1048576}, 1, "row=16 col=1048576", 0, 0, NULL},
};

typedef struct row_sum_detail_device {
  const char *name;
  int major, minor, sms;
  const row_sum_detail_size *sizes;
  int n_sizes;
} row_sum_detail_device;
static const row_sum_detail_device row_sum_detail_devices[] = {
    {"NVIDIA H200", 9, 0, 132, row_sum_detail_sizes_0, 1},
};

// ---- Which variant a call takes. Every header has this text.

// The current device, as far as the choice goes.
typedef struct row_sum_detail_place {
  const row_sum_detail_device *device;  // null: none matches
  int match, shared_bytes;
} row_sum_detail_place;

// 3: same device model, 2: same compute capability, 1: same major version, 0: none.
static inline int row_sum_detail_match(const row_sum_detail_device *d, const struct cudaDeviceProp *here) {
  if (d->major != here->major) return 0;
  if (d->minor != here->minor) return 1;
  return d->sms == here->multiProcessorCount && strcmp(d->name, here->name) == 0 ? 3 : 2;
}

// The tuned device that matches the current one best, the first among equals. Reading a
// device's name takes long, so a device is asked once: `kept` holds 1 + match + 4 * device.
static inline cudaError_t row_sum_detail_find_place(row_sum_detail_place *here) {
  enum { n_kept = 64, n_devices = sizeof row_sum_detail_devices / sizeof row_sum_detail_devices[0] };
  static row_sum_detail_atomic kept[n_kept];  // 0: not asked yet
  int ordinal = 0;
  cudaError_t error = cudaGetDevice(&ordinal);
  if (error == cudaSuccess && row_sum_detail_wants_shared) {
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
      const int match = row_sum_detail_match(&row_sum_detail_devices[k], &properties);
      if (match > best) {
        best = match;
        found = 1 + best + 4 * k;
      }
    }
    if (ordinal < n_kept) kept[ordinal] = found;
  }
  here->match = (found - 1) % 4;
  here->device = here->match > 0 ? &row_sum_detail_devices[(found - 1) / 4] : NULL;
  return cudaSuccess;
}

static const long long row_sum_detail_max_blocks = 0x7fffffff;  // of a grid, in x

// The variant is right for the call: its grid, shared memory, alignments, conditions.
static inline bool row_sum_detail_takes(const row_sum_detail_variant *v, const row_sum_args *c, const row_sum_detail_place *here) {
  const long long blocks = v->blocks(c);
  return blocks >= 1 && blocks <= row_sum_detail_max_blocks && v->shared_bytes <= here->shared_bytes &&
         v->takes(c);
}

// a / b, an extent of 0 taken for 1.
static inline double row_sum_detail_ratio(long long a, long long b) {
  return (double)(a < 1 ? 1 : a) / (double)(b < 1 ? 1 : b);
}

// How far a call is from a tuned size: by how much each extent differs, all multiplied. 1: equal.
static inline double row_sum_detail_distance(const row_sum_detail_size *t, const long long *n) {
  double product = 1;
  for (int k = 0; k < row_sum_detail_n_extents; k++) {
    product *= n[k] < t->n[k] ? row_sum_detail_ratio(t->n[k], n[k]) : row_sum_detail_ratio(n[k], t->n[k]);
  }
  return product;
}

// Where a call lies among the sizes tuned on the device.
static inline const char *row_sum_detail_range(const row_sum_detail_device *d, const row_sum_detail_size *t, const long long *n) {
  if (row_sum_detail_distance(t, n) == 1) return "tuned size";
  for (int k = 0; k < row_sum_detail_n_extents; k++) {
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
static inline int row_sum_detail_shape(double ratio, const row_sum_detail_size *t, bool above) {
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
static inline bool row_sum_detail_slower(const row_sum_detail_size *t, const long long *n) {
  if (t->slower == NULL) return false;
  for (int corner = 0; corner < 1 << row_sum_detail_n_dims; corner++) {
    int at = 0;
    for (int d = 0; d < row_sum_detail_n_dims; d++) {
      const int k = row_sum_detail_shape(row_sum_detail_ratio(n[d], t->n[d]), t, (corner >> d & 1) != 0);
      at = at * (2 * t->reach + 1) + k + t->reach;
    }
    if (t->slower[at] == '1') return true;
  }
  return false;
}

typedef struct row_sum_detail_choice {
  int variant;  // -1: none
  int match;
  const row_sum_detail_device *device;  // with its size: whose variant it is, null: naive
  const row_sum_detail_size *size;
  const char *reason;
} row_sum_detail_choice;

// Of the device's tuned sizes the nearest whose variant is right for the call and worth it.
static inline void row_sum_detail_choose_tuned(const row_sum_args *c, const row_sum_detail_place *here, row_sum_detail_choice *out) {
  long long n[row_sum_detail_n_extents];
  double best = 0;
  row_sum_detail_extents(n, c);
  out->reason = "no kernel of this device is right for these arguments";
  for (int k = 0; k < here->device->n_sizes; k++) {
    const row_sum_detail_size *const t = &here->device->sizes[k];
    const double away = row_sum_detail_distance(t, n);
    if ((out->variant >= 0 && away >= best) || !row_sum_detail_takes(&row_sum_detail_variants[t->variant], c, here)) continue;
    if (away != 1 && row_sum_detail_slower(t, n)) {
      if (out->variant < 0) {
        out->reason = "tuned kernels are predicted to be slower than naive here";
      }
      continue;
    }
    const row_sum_detail_choice chosen = {t->variant, here->match, here->device, t, row_sum_detail_range(here->device, t, n)};
    *out = chosen;
    best = away;
  }
}

// Which variant a call that has work takes.
static inline cudaError_t row_sum_detail_choose(const row_sum_args *c, row_sum_detail_choice *out) {
  row_sum_detail_place here = {NULL, 0, 0};
  const cudaError_t error = row_sum_detail_find_place(&here);
  const row_sum_detail_choice none = {-1, 0, NULL, NULL, NULL};
  *out = none;
  if (error != cudaSuccess) {
    out->reason = cudaGetErrorString(error);
    return error;
  }
  out->reason = "no device of this major version was tuned";
  if (here.device != NULL) row_sum_detail_choose_tuned(c, &here, out);
  if (out->variant < 0 && row_sum_detail_takes(&row_sum_detail_variants[0], c, &here)) out->variant = 0;
  if (out->variant >= 0) return cudaSuccess;
  out->reason = "invalid configuration: more than 2^31 - 1 blocks";
  if (row_sum_detail_variants[0].blocks(c) > row_sum_detail_max_blocks) return cudaErrorInvalidConfiguration;
  out->reason = "invalid value: the naive variant cannot take these arguments";
  return cudaErrorInvalidValue;
}

// Why there is nothing to launch, and what the call then returns; null: there is.
static inline const char *row_sum_detail_no_work(const row_sum_args *c, cudaError_t *answer) {
  const long long most = 1LL << 48;  // elements: no product overflows
  long long n[row_sum_detail_n_extents];
  double elements = 1;  // of the index space; a double, because a product may be any size
  bool large = false, empty = false;
  row_sum_detail_extents(n, c);
  *answer = cudaErrorInvalidValue;
  for (int k = 0; k < row_sum_detail_n_extents; k++) {
    if (n[k] < 0) return "invalid value: an extent is negative";
    large = large || n[k] > most;
  }
  for (int d = 0; d < row_sum_detail_n_dims; d++) {
    elements *= d == row_sum_detail_rows ? 1.0 : (double)n[d];
    empty = empty || (n[d] == 0 && !row_sum_detail_reduced[d]);
  }
  if (!empty && !large && elements <= (double)most) return row_sum_detail_bad_pointer(c, elements == 0);
  *answer = empty ? cudaSuccess : cudaErrorInvalidConfiguration;
  return empty ? "nothing to launch: the index space is empty"
               : "invalid configuration: more than 2^48 elements";
}

static inline cudaError_t row_sum_detail_launch(const row_sum_args *c, cudaStream_t stream) {
  row_sum_detail_choice chosen;
  const void *kernel = NULL;
  cudaError_t error = cudaSuccess;
  if (row_sum_detail_no_work(c, &error) != NULL) return error;
  error = row_sum_detail_choose(c, &chosen);
  if (error == cudaSuccess) error = row_sum_detail_find_kernel(&kernel, chosen.variant);
  if (error != cudaSuccess) return error;
  error = row_sum_detail_variants[chosen.variant].launch(kernel, *c, stream);
  if (error != cudaSuccess) cudaGetLastError();  // it is returned, and need not be asked for
  return error;
}

static inline row_sum_choice row_sum_detail_describe(const row_sum_args *c) {
  static const char *const matches[] = {"none", "same major version",
                                       "same compute capability, other model",
                                       "same device model"};
  cudaError_t error = cudaSuccess;
  row_sum_detail_choice chosen = {-1, 0, NULL, NULL, NULL};
  const char *why = row_sum_detail_no_work(c, &error);
  if (why == NULL && row_sum_detail_choose(c, &chosen) != cudaSuccess) why = chosen.reason;
  row_sum_choice out = {NULL, NULL, matches[0], NULL, why};
  if (why == NULL) {
    out.variant = row_sum_detail_variants[chosen.variant].label;
    out.device = chosen.device != NULL ? chosen.device->name : NULL;
    out.match = matches[chosen.match];
    out.size = chosen.size != NULL ? chosen.size->label : NULL;
    out.reason = chosen.reason;
  }
  return out;
}

#ifdef row_sum_IMPLEMENTATION
#define row_sum_LINKAGE
#else
#define row_sum_LINKAGE inline
#endif
row_sum_LINKAGE size_t row_sum_workspace_bytes(void) {
  return 278528;
}
row_sum_LINKAGE cudaError_t row_sum(const float *a, float *total, long long n_row, long long n_col, void *workspace, cudaStream_t stream) {
  const row_sum_args call = {a, total, n_row, n_col, workspace};
  return row_sum_detail_launch(&call, stream);
}
row_sum_LINKAGE cudaError_t row_sum_launch(const row_sum_args *args, cudaStream_t stream) {
  return args == NULL ? cudaErrorInvalidValue : row_sum_detail_launch(args, stream);
}
row_sum_LINKAGE row_sum_choice row_sum_variant(const float *a, float *total, long long n_row, long long n_col, void *workspace) {
  const row_sum_args call = {a, total, n_row, n_col, workspace};
  return row_sum_detail_describe(&call);
}
#undef row_sum_LINKAGE
#endif  // __CUDACC_RTC__
#endif  // SECTILE_KERNELS_row_sum
