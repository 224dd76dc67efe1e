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
// Spec cc6d4a7a3f55ed723574eb53a6dc5832; the hash of each kernel's source stands above it.
#pragma once
#ifndef SECTILE_HEADER_scale
#define SECTILE_HEADER_scale
#ifdef __CUDACC__
#include <cuda_runtime.h>

#include <atomic>
#endif
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#pragma pack(push, 1)
typedef struct scale_item {
  float w;
  unsigned short h;
} scale_item;
#pragma pack(pop)
static_assert(sizeof(scale_item) == 6 && alignof(scale_item) == 1 &&
              offsetof(scale_item, w) == 0 && offsetof(scale_item, h) == 4,
              "layout of scale_item");

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

// Writes all bytes() bytes of `packed`: the fields of `plain`, and 0 between and after them. False,
// and nothing is written, if an extent is negative or a pointer that is needed null.
inline bool pack(void *packed, const ::scale_item *plain, int64_t n_i) {
  const int64_t size = bytes(n_i);
  if (size < 0 || (size > 0 && packed == nullptr) || (plain == nullptr && n_i > 0)) {
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
inline bool unpack(::scale_item *plain, const void *packed, int64_t n_i) {
  const int64_t size = bytes(n_i);
  if (size < 0 || (size > 0 && packed == nullptr) || (plain == nullptr && n_i > 0)) {
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

// Writes all bytes() bytes of `packed`: the fields of `plain`, and 0 between and after them. False,
// and nothing is written, if an extent is negative or a pointer that is needed null.
inline bool pack(void *packed, const ::scale_item *plain, int64_t n_i) {
  const int64_t size = bytes(n_i);
  if (size < 0 || (size > 0 && packed == nullptr) || (plain == nullptr && n_i > 0)) {
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
inline bool unpack(::scale_item *plain, const void *packed, int64_t n_i) {
  const int64_t size = bytes(n_i);
  if (size < 0 || (size > 0 && packed == nullptr) || (plain == nullptr && n_i > 0)) {
    return false;
  }
  unsigned char *const to = reinterpret_cast<unsigned char *>(plain);
  const unsigned char *const from = static_cast<const unsigned char *>(packed);
  each_field([=](int64_t at, int64_t place, size_t n) { memcpy(to + place, from + at, n); }, n_i);
  return true;
}

}  // namespace scale_layout_q

#ifdef __CUDACC__  // kernels and launching

// Which kernel a call takes, and why.
typedef struct scale_choice {
  const char *variant;  // null: nothing is launched
  const char *device;   // whose tuning decided, null: nobody's
  const char *match;    // how that device matches the current one
  const char *size;     // the tuned size whose kernel it is, null: none
  const char *reason;   // where the call lies among the tuned sizes; why naive, why nothing
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
template <typename T> T half_of(unsigned short bits) {
  T result;
  result.bits = bits;
  return result;
}

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
    {65536LL, 0, "i=65536", 0, 0, nullptr},
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

// The current device, as far as the choice goes.
struct place {
  const tuned_device *device;  // null: none matches
  int match;
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
    if ((out->kernel >= 0 && away >= best) || !takes(t.kernel, c)) continue;
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
  if (out->kernel < 0 && takes(0, c)) out->kernel = 0;
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
  if (c.p == nullptr)
    return refuse(answer, cudaErrorInvalidValue, "invalid value: p is null");
  if (!aligned(c.p, 4))
    return refuse(answer, cudaErrorInvalidValue, "invalid value: p is not aligned to 4 bytes");
  if (c.q == nullptr)
    return refuse(answer, cudaErrorInvalidValue, "invalid value: q is null");
  if (!aligned(c.q, 4))
    return refuse(answer, cudaErrorInvalidValue, "invalid value: q is not aligned to 4 bytes");
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
    k0_direct::scale_kernel<<<unsigned(k0_blocks(c.n_i)), 128, 0, stream>>>(
        input{c.p}, output{c.q}, half_of<k0_direct::f16>(c.k), c.stream, c.n_i);
    break;
  }
  return cudaGetLastError();
}

inline scale_choice describe(const call &c) {
  static const char *const variants[] = {"direct t128 soa"};
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
