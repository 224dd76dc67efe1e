// scale.h - written by sectile 0.1.0; do not edit. Again: sectile emit scale.lua -o scale.h
//
// For every i in [0, n_i):
//   q.w = p.w * stream; q.h = p.h;
// where
//   p       in   item { f32 w; f16 h } of 6 bytes, packed, layout soa, chosen from soa, aos; over (i)
//   q       out  item { f32 w; f16 h } of 6 bytes, packed, layout soa, chosen from soa, aos; over (i)
//   k       f16
//   stream  f32
//
// The tuner chose among layouts; a header has one for each array, at every size and on every device:
//   p: soa. Field after field.
//     element (i) at byte 4 * i of w, 2 * i + 4 * n_i of h; 6 * n_i bytes in all
//     scale_layout_p::pack() and unpack() convert from and to plain arrays
//   q: soa. Field after field.
//     element (i) at byte 4 * i of w, 2 * i + 4 * n_i of h; 6 * n_i bytes in all
//     scale_layout_q::pack() and unpack() convert from and to plain arrays
//
// device               variant          size     median us  GB/s  of copy  predicted us  sectors/request ld (least) | st (least)
// NVIDIA H200 (sm_90)  direct t128 soa  i=65536  not timed     -        -           3.7  8.0 (8.0) | 8.0 (8.0)
//   40 candidates: 38 verified, counted and predicted, 1 tied with the winner, 2 failed
//
// NVIDIA H200: described, NVRTC 13.0, sectile 0.1.0
// Predicted, not timed: compiled for a described device, PTX verified on the CPU, sectors counted
// from the addresses, times predicted from the counts. No GPU ran the variants.
// Spec cc6d4a7a3f55ed723574eb53a6dc5832; the hash of each kernel's source stands beside it.
#pragma once
#ifndef SECTILE_HEADER_scale
#define SECTILE_HEADER_scale
#ifdef __CUDACC__
#include <cuda_runtime.h>
#endif
#include <stddef.h>
#include <stdint.h>
#include <string.h>

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

// Arrays whose layout the tuner chose, for the host. Plain C++: a compiler that knows no CUDA sees the
// types and this part of the header.

// p: soa. Field after field.
namespace scale_layout_p {

// Bytes from the start of the array to each field of element (i).
inline int64_t offset_w(int64_t i) {
  return 4 * i;
}
inline int64_t offset_h(int64_t i, int64_t n_i) {
  return 2 * i + 4 * n_i;
}

// Bytes of the array; -1 if an extent is negative.
inline int64_t bytes(int64_t n_i) {
  return n_i < 0 ? -1 : 6 * n_i;
}

// Calls copy(byte in the array, byte in the plain array, how many bytes) for every field of every
// element; plain arrays hold elements in C order, the last index fastest.
template <typename Copy>
inline void each_field(Copy copy, int64_t n_i) {
  int64_t plain = 0;
  for (int64_t i0 = 0; i0 < n_i; i0++, plain += 6) {
    copy(offset_w(i0), plain, 4);
    copy(offset_h(i0, n_i), plain + 4, 2);
  }
}

// Writes all bytes() bytes of `packed`: the fields of `plain`, and 0 between and behind them. False,
// and nothing is written, if an extent is negative or a pointer that is needed null.
inline bool pack(void *packed, const ::item *plain, int64_t n_i) {
  const int64_t size = bytes(n_i);
  if (size < 0 || (size > 0 && (packed == nullptr || plain == nullptr))) {
    return false;
  }
  unsigned char *const to = static_cast<unsigned char *>(packed);
  const unsigned char *const from = reinterpret_cast<const unsigned char *>(plain);
  if (size > 0) {
    memset(to, 0, size_t(size));
  }
  each_field([=](int64_t at, int64_t place, size_t n) { memcpy(to + at, from + place, n); }, n_i);
  return true;
}

// The way back. What of `plain` belongs to no field stays as it is.
inline bool unpack(::item *plain, const void *packed, int64_t n_i) {
  const int64_t size = bytes(n_i);
  if (size < 0 || (size > 0 && (packed == nullptr || plain == nullptr))) {
    return false;
  }
  unsigned char *const to = reinterpret_cast<unsigned char *>(plain);
  const unsigned char *const from = static_cast<const unsigned char *>(packed);
  each_field([=](int64_t at, int64_t place, size_t n) { memcpy(to + place, from + at, n); }, n_i);
  return true;
}

}  // namespace scale_layout_p

// q: soa. Field after field.
namespace scale_layout_q {

// Bytes from the start of the array to each field of element (i).
inline int64_t offset_w(int64_t i) {
  return 4 * i;
}
inline int64_t offset_h(int64_t i, int64_t n_i) {
  return 2 * i + 4 * n_i;
}

// Bytes of the array; -1 if an extent is negative.
inline int64_t bytes(int64_t n_i) {
  return n_i < 0 ? -1 : 6 * n_i;
}

// Calls copy(byte in the array, byte in the plain array, how many bytes) for every field of every
// element; plain arrays hold elements in C order, the last index fastest.
template <typename Copy>
inline void each_field(Copy copy, int64_t n_i) {
  int64_t plain = 0;
  for (int64_t i0 = 0; i0 < n_i; i0++, plain += 6) {
    copy(offset_w(i0), plain, 4);
    copy(offset_h(i0, n_i), plain + 4, 2);
  }
}

// Writes all bytes() bytes of `packed`: the fields of `plain`, and 0 between and behind them. False,
// and nothing is written, if an extent is negative or a pointer that is needed null.
inline bool pack(void *packed, const ::item *plain, int64_t n_i) {
  const int64_t size = bytes(n_i);
  if (size < 0 || (size > 0 && (packed == nullptr || plain == nullptr))) {
    return false;
  }
  unsigned char *const to = static_cast<unsigned char *>(packed);
  const unsigned char *const from = reinterpret_cast<const unsigned char *>(plain);
  if (size > 0) {
    memset(to, 0, size_t(size));
  }
  each_field([=](int64_t at, int64_t place, size_t n) { memcpy(to + at, from + place, n); }, n_i);
  return true;
}

// The way back. What of `plain` belongs to no field stays as it is.
inline bool unpack(::item *plain, const void *packed, int64_t n_i) {
  const int64_t size = bytes(n_i);
  if (size < 0 || (size > 0 && (packed == nullptr || plain == nullptr))) {
    return false;
  }
  unsigned char *const to = reinterpret_cast<unsigned char *>(plain);
  const unsigned char *const from = static_cast<const unsigned char *>(packed);
  each_field([=](int64_t at, int64_t place, size_t n) { memcpy(to + place, from + at, n); }, n_i);
  return true;
}

}  // namespace scale_layout_q

#ifdef __CUDACC__  // kernels and launching

// Which kernel a call takes, whose tuning decided (null: nobody's), and why.
typedef struct scale_choice {
  const char *variant, *device, *rung;
} scale_choice;

namespace scale_detail {
namespace {  // every file that includes this header has its own kernels

#ifdef __NVCC__  // a variant may leave a variable of the computation unused
#pragma nv_diagnostic push
#pragma nv_diag_suppress 177, 550
#endif

// direct t128 soa, the naive variant.
//   for NVIDIA H200 at i=65536
//   needs p aligned to 4, q aligned to 4
//   source 0df80328bb56283357ff64454f34491b
namespace k0_direct {
struct f16 {
  unsigned short bits;
};
struct item {
  float w;
  f16 h;
};

// One element a thread; fields one after the other.
__global__ void __launch_bounds__(128) scale_kernel(const unsigned char *__restrict__ p_in, unsigned char *__restrict__ q_out, f16 k, float s, long long n_i) {
  const long long i = blockIdx.x * 128LL + threadIdx.x;
  if (i >= n_i) return;
  const float w = reinterpret_cast<const float *>(p_in)[i] * s;
  f16 h = reinterpret_cast<const f16 *>(p_in + 4 * n_i)[i];
  h.bits = static_cast<unsigned short>(h.bits ^ k.bits);
  reinterpret_cast<float *>(q_out)[i] = w;
  reinterpret_cast<f16 *>(q_out + 4 * n_i)[i] = h;
}
}  // namespace k0_direct

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

// A 16-bit float, given by its bits, as the type that a kernel declares.
struct bits {
  unsigned short value;
  template <typename T> operator T() const {
    static_assert(sizeof(T) == 2, "a 16-bit type");
    T result;
    memcpy(&result, &value, 2);
    return result;
  }
};

inline bool aligned(const void *p, unsigned long long bytes) {
  return reinterpret_cast<unsigned long long>(p) % bytes == 0;
}

constexpr long long kMaxBlocks = 0x7fffffff;  // of a grid, in x

// The arguments of one call.
struct call {
  const void *p;
  void *q;
  unsigned short k;
  float stream;
  long long n_i;
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
inline long long k0_blocks(long long n_i) {
  return (n_i + 127) / 128;
}
inline bool k0_takes(const call &c) {
  const long long blocks = k0_blocks(c.n_i);
  return blocks >= 1 && blocks <= kMaxBlocks &&
         aligned(c.p, 4) &&
         aligned(c.q, 4);
}

inline bool takes(int kernel, const call &c) {
  switch (kernel) {
  case 0: return k0_takes(c);
  default: return false;
  }
}

// A tuned size and the kernel that won it.
struct tuned {
  long long n_i;
  int kernel;
};
const tuned sizes_0[] = {  // NVIDIA H200
    {65536LL, 0},
};

struct tuned_device {
  const char *name;
  int major, minor, sms;
  const tuned *sizes;
  int n_sizes;
};
const tuned_device devices[] = {
    {"NVIDIA H200", 9, 0, 132, sizes_0, 1},
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
    if ((out->kernel < 0 || nearer(d, best)) && takes(t.kernel, c)) {
      out->kernel = t.kernel;
      best = d;
    }
  }
  if (out->kernel < 0 && takes(0, c)) *out = choice{0, nullptr, 0};
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
  return c.p != nullptr && c.q != nullptr;
}

inline cudaError_t launch(const call &c, cudaStream_t stream) {
  cudaError_t error = cudaSuccess;
  if (!has_work(c, &error)) return error;
  choice chosen = {};
  error = choose(c, &chosen);
  if (error != cudaSuccess) return error;
  switch (chosen.kernel) {
  case 0:
    k0_direct::scale_kernel<<<unsigned(k0_blocks(c.n_i)), 128, 0, stream>>>(
        input{c.p}, output{c.q}, bits{c.k}, c.stream, c.n_i);
    break;
  }
  return cudaGetLastError();
}

inline scale_choice describe(const call &c) {
  static const char *const variants[] = {"direct t128 soa"};
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
}  // namespace scale_detail

// Where the kernels and figures come from, for a program to print.
typedef struct scale_tuning {
  const char *device, *arch, *figures, *driver, *nvrtc, *tool, *size, *variant, *source_hash;
  double median_us, gb_per_s, of_copy, naive_us;  // 0: not timed
  int candidates, verified, tied, failed;
} scale_tuning;
static const scale_tuning scale_tunings[] = {
    {"NVIDIA H200", "sm_90", "counted and predicted, not timed",
     "", "13.0", "0.1.0",
     "i=65536", "direct t128 soa", "0df80328bb56283357ff64454f34491b",
     0, 0, 0, 0, 40, 38, 1, 2},
};
static const struct {
  const char *kernel, *spec_hash, *written_by;
  int n_tunings;
  const scale_tuning *tunings;
} scale_provenance = {"scale", "cc6d4a7a3f55ed723574eb53a6dc5832", "sectile 0.1.0", 1,
    scale_tunings};

// Launches on `stream_x`; never synchronises, allocates nothing. An empty index space launches nothing.
// Arrays must not overlap. A negative extent, a null pointer or a pointer below its type's alignment
// is cudaErrorInvalidValue, a grid beyond 2^31 - 1 blocks cudaErrorInvalidConfiguration; other errors
// are those of the launch.
// `k` is given as the bits of a value of type f16.
extern "C" inline cudaError_t scale(const void *p, void *q, unsigned short k, float stream, long long n_i, cudaStream_t stream_x) {
  return scale_detail::launch({p, q, k, stream, n_i}, stream_x);
}

// What scale would do with these arguments on the current device.
extern "C" inline scale_choice scale_variant(const void *p, void *q, unsigned short k, float stream, long long n_i) {
  return scale_detail::describe({p, q, k, stream, n_i});
}

#endif  // __CUDACC__
#endif  // SECTILE_HEADER_scale
