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

#if defined(hostile_IMPLEMENTATION) && !defined(__CUDACC__)
#error "hostile_IMPLEMENTATION: compile this file as CUDA"
#endif
#if defined(__CUDACC__) && !defined(SECTILE_KERNELS_hostile)
#define SECTILE_KERNELS_hostile
#ifdef __CUDACC_RTC__
#undef __global__
#define __global__ extern "C" __attribute__((global))
namespace hostile_detail {
#else
#include <cuda_runtime.h>
#include <string.h>

#include <atomic>

namespace hostile_detail {
namespace {  // kernels are those of this file
#endif

// A variant may leave a variable of the computation unused.
#if defined(__NVCC__) || defined(__CUDACC_RTC__)
#pragma nv_diagnostic push
#pragma nv_diag_suppress 177, 550
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
typedef hostile_args call;  // of the launch function

// The extents of a call, those of the index space first.
constexpr int kExtents = 2, kDims = 1;
constexpr bool kReduced[kDims] = {false};  // outputs have elements even where it is 0
constexpr int kRows = -1;  // the dimension of rows with different lengths, which share elements; -1: none
struct extents {
  long long n[kExtents];
};
inline extents extents_of(const call &c) {
  return {{c.n_i, c.n_m}};
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
  if (c.aligned == nullptr && !empty) return "invalid value: aligned is null";
  if (!aligned(c.aligned, 1)) return "invalid value: aligned is not aligned to 1 bytes";
  if (c.blocks == nullptr) return "invalid value: blocks is null";
  if (!aligned(c.blocks, 64)) return "invalid value: blocks is not aligned to 64 bytes";
  return nullptr;
}

// Of each variant the blocks of its grid, whether it is right for a call, its launch.
inline long long k0_blocks(const call &c) {
  const long long n_i = c.n_i, n_m = c.n_m;
  return (n_i + n_m) / 64 + 1;
}
inline bool k0_takes(const call &c) {
  if (!aligned(c.aligned, 1)) return false;
  if (!aligned(c.blocks, 64)) return false;
  return true;
}
inline cudaError_t k0_launch(const call &c, cudaStream_t stream) {
  k0_int_evil_1_error_broke_out::hostile_k0_int_evil_1_error_broke_out<<<unsigned(k0_blocks(c)), 64, 0, stream>>>(
      input{c.aligned}, output{c.blocks}, c.n_i, c.n_m);
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
    {"*/ } int evil = 1; \" \\ \012#error broke out\012 \?\?/\012 // /* \377 } \\", 0, k0_blocks, k0_takes, k0_launch},
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
const tuned sizes_0[] = {  // * / } int evil = 1; " /  #error broke out  ? ?/  // / * _ } /: n_i, n_m
    {{64, 1}, 0, "*/ } int evil = 1; \" \\ \012#error broke out\012 \?\?/\012 // /* \377 } \\", 0, 0, nullptr},
};

struct tuned_device {
  const char *name;
  int major, minor, sms;
  const tuned *sizes;
  int n_sizes;
};
const tuned_device devices[] = {
    {"*/ } int evil = 1; \" \\ \012#error broke out\012 \?\?/\012 // /* \377 } \\", 9, 0, 132, sizes_0, 1},
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

inline hostile_choice describe(const call &c) {
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
}  // namespace hostile_detail

#ifdef hostile_IMPLEMENTATION
#define hostile_LINKAGE extern "C"
#else
#define hostile_LINKAGE extern "C" inline
#endif
hostile_LINKAGE cudaError_t hostile(const hostile_item *aligned, hostile_wide *blocks, long long n_i, long long n_m, cudaStream_t stream) {
  return hostile_detail::launch({aligned, blocks, n_i, n_m}, stream);
}
hostile_LINKAGE cudaError_t hostile_launch(const hostile_args *args, cudaStream_t stream) {
  return args == nullptr ? cudaErrorInvalidValue : hostile_detail::launch(*args, stream);
}
hostile_LINKAGE hostile_choice hostile_variant(const hostile_item *aligned, hostile_wide *blocks, long long n_i, long long n_m) {
  return hostile_detail::describe({aligned, blocks, n_i, n_m});
}
#undef hostile_LINKAGE
#endif  // __CUDACC_RTC__
#endif  // SECTILE_KERNELS_hostile
