// hostile.h - written by sectile 0.1.0; do not edit. Again: sectile emit hostile.lua -o hostile.h
//
// * / } int evil = 1; " /
// #error broke out
//  ? ?/
//  // / * _ } /
// For every i in [0, n_i):
//   * / } int evil = 1; " /
//   #error broke out
//    ? ?/
//    // / * _ } /
// where
//   aligned  in   item { f32 w; f16 h } of 6 bytes, packed, layout aos, chosen from aos, * / } int evil = 1; " /  #error broke out  ? ?/  // / * _ } /; over (* / } int evil = 1; " /  #error broke out  ? ?/  // / * _ } /)
//   blocks   out  wide { f32x4 v; u8 t; bf16 h } of 64 bytes, layout aos; over (i)
//
// The tuner chose among layouts; a header has one for each array, at every size and on every device:
//   aligned: aos; no functions for the host, because a sectile that stored no formulas tuned it: tune again
//
// device                                                                 variant                                                        size                                                           median us  GB/s  of copy  sectors/request ld (least) | st (least)
// * / } int evil = 1; " /  #error broke out  ? ?/  // / * _ } / (sm_90)  * / } int evil = 1; " /  #error broke out  ? ?/  // / * _ } /  * / } int evil = 1; " /  #error broke out  ? ?/  // / * _ } /        1.0     0      0 %  8.0 (8.0) | 8.0 (8.0)
//   40 candidates: 38 verified, 1 tied with the winner, 2 failed
//
// * / } int evil = 1; " /  #error broke out  ? ?/  // / * _ } /: driver * / } int evil = 1; " /  #error broke out  ? ?/  // / * _ } /, NVRTC 13.0, sectile 0.1.0
// Spec 53a50b9f772a0e024ad34179af214c7c; the hash of each kernel's source stands beside it.
#pragma once
#ifndef SECTILE_HEADER_hostile
#define SECTILE_HEADER_hostile
#include <cuda_runtime.h>

// A program that has this type already defines SECTILE_RECORD_item before it includes the header.
#ifndef SECTILE_RECORD_item
#define SECTILE_RECORD_item
#pragma pack(push, 1)
typedef struct item {
  float w;
  unsigned short h;
} item;
#pragma pack(pop)
#endif
static_assert(sizeof(item) == 6 && alignof(item) == 1 &&
              offsetof(item, w) == 0 && offsetof(item, h) == 4,
              "layout of item");

// A program that has this type already defines SECTILE_RECORD_wide before it includes the header.
#ifndef SECTILE_RECORD_wide
#define SECTILE_RECORD_wide
typedef struct alignas(64) wide {
  float4 v;
  unsigned char t;
  unsigned short h;
} wide;
#endif
static_assert(sizeof(wide) == 64 && alignof(wide) == 64 &&
              offsetof(wide, v) == 0 && offsetof(wide, t) == 16 && offsetof(wide, h) == 18,
              "layout of wide");

// Which kernel a call takes, whose tuning decided (null: nobody's), and why.
typedef struct hostile_choice {
  const char *variant, *device, *rung;
} hostile_choice;

namespace hostile_detail {
namespace {  // every file that includes this header has its own kernels

#ifdef __NVCC__  // a variant may leave a variable of the computation unused
#pragma nv_diagnostic push
#pragma nv_diag_suppress 177, 550
#endif

// * / } int evil = 1; " /  #error broke out  ? ?/  // / * _ } /, the naive variant. * / } int evil = 1; " /  #error broke out  ? ?/  // / * _ } /
//   for * / } int evil = 1; " /  #error broke out  ? ?/  // / * _ } / at * / } int evil = 1; " /  #error broke out  ? ?/  // / * _ } /
//   needs blocks aligned to 64
//   source ea5ebf17bccea7f85a60e9d8c46edfe3
namespace k0_int_evil_1_error_broke_out {
__global__ void launch(const void *aligned, void *blocks, long long n_i, long long n_m) {
  (void)aligned, (void)blocks, (void)n_i, (void)n_m;
}
}  // namespace k0_int_evil_1_error_broke_out

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
  const void *aligned;
  void *blocks;
  long long n_i;
  long long n_m;
};

// Elements of the index space; a double, because a product may be any size.
inline double elements(long long n_i) {
  return double(n_i);
}

// The current device, as far as the choice goes.
struct place {
  int major, minor, sms;
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
  };
  for (const auto &w : wanted) {
    const cudaError_t e = cudaDeviceGetAttribute(w.value, w.attribute, device);
    if (e != cudaSuccess) return e;
  }
  return cudaSuccess;
}

// When each kernel is right: the size of its grid, alignments, conditions.
inline long long k0_blocks(long long n_i, long long n_m) {
  return (n_i + n_m) / 64 + 1;
}
inline bool k0_takes(const call &c) {
  const long long blocks = k0_blocks(c.n_i, c.n_m);
  return blocks >= 1 && blocks <= kMaxBlocks &&
         aligned(c.blocks, 64);
}

inline bool takes(int kernel, const call &c) {
  switch (kernel) {
  case 0: return k0_takes(c);
  default: return false;
  }
}

// A tuned size and the kernel that won it.
struct tuned {
  long long n_i, n_m;
  int kernel;
};
const tuned sizes_0[] = {  // * / } int evil = 1; " /  #error broke out  ? ?/  // / * _ } /
    {64LL, 1LL, 0},
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
          ratio(double(c.n_i), double(t.n_i)) * ratio(double(c.n_m), double(t.n_m))};
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
    if ((out->kernel < 0 || nearer(d, best)) && takes(t.kernel, c)) {
      out->kernel = t.kernel;
      best = d;
    }
  }
  if (out->kernel < 0 && takes(0, c)) *out = choice{0, nullptr, 0};
  if (out->kernel >= 0) return cudaSuccess;
  const bool fits = k0_blocks(c.n_i, c.n_m) <= kMaxBlocks;
  return fits ? cudaErrorInvalidValue : cudaErrorInvalidConfiguration;
}

// Whether there is anything to launch; otherwise *answer is the result.
inline bool has_work(const call &c, cudaError_t *answer) {
  constexpr long long kMost = 1LL << 48;  // elements: no product overflows
  *answer = cudaErrorInvalidValue;
  if (c.n_i < 0 || c.n_m < 0) return false;
  *answer = cudaSuccess;
  if (c.n_i == 0) return false;
  *answer = cudaErrorInvalidConfiguration;
  if (c.n_i > kMost || c.n_m > kMost ||
      elements(c.n_i) > double(kMost)) {
    return false;
  }
  *answer = cudaErrorInvalidValue;
  return c.aligned != nullptr && c.blocks != nullptr;
}

inline cudaError_t launch(const call &c, cudaStream_t stream) {
  cudaError_t error = cudaSuccess;
  if (!has_work(c, &error)) return error;
  choice chosen = {};
  error = choose(c, &chosen);
  if (error != cudaSuccess) return error;
  switch (chosen.kernel) {
  case 0:
    k0_int_evil_1_error_broke_out::launch<<<unsigned(k0_blocks(c.n_i, c.n_m)), 64, 0, stream>>>(
        input{c.aligned}, output{c.blocks}, c.n_i, c.n_m);
    break;
  }
  return cudaGetLastError();
}

inline hostile_choice describe(const call &c) {
  static const char *const variants[] = {"*/ } int evil = 1; \" \\ \012#error broke out\012 \?\?/\012 // /* \377 } \\"};
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
}  // namespace hostile_detail

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
} hostile_provenance = {"hostile", "53a50b9f772a0e024ad34179af214c7c", "sectile 0.1.0", 1,
    hostile_tunings};

// Launches on `stream`; never synchronises, allocates nothing. An empty index space launches nothing.
// Arrays must not overlap. A negative extent, a null pointer or a pointer below its type's alignment
// is cudaErrorInvalidValue, a grid beyond 2^31 - 1 blocks cudaErrorInvalidConfiguration; other errors
// are those of the launch.
extern "C" inline cudaError_t hostile(const item *aligned, wide *blocks, long long n_i, long long n_m, cudaStream_t stream) {
  return hostile_detail::launch({aligned, blocks, n_i, n_m}, stream);
}

// What hostile would do with these arguments on the current device.
extern "C" inline hostile_choice hostile_variant(const item *aligned, wide *blocks, long long n_i, long long n_m) {
  return hostile_detail::describe({aligned, blocks, n_i, n_m});
}

#endif  // SECTILE_HEADER_hostile
