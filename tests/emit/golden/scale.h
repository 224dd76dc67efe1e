// scale.h - written by sectile 0.1.0; do not edit. Again: sectile emit scale.lua -o scale.h
//
// For every i in [0, n_i):
//   q.w = p.w * stream; q.h = p.h;
// where
//   p       in   item { f32 w; f16 h } of 6 bytes, packed, layout soa; over (i)
//                the layout was chosen from soa, aos
//   q       out  item { f32 w; f16 h } of 6 bytes, packed, layout soa; over (i)
//                the layout was chosen from soa, aos
//   k       f16
//   stream  f32
//
// The tuner chose among layouts; a header has one for each array, at all sizes, on all devices:
//   p: soa. Field after field.
//     element (i) at byte 4 * i of w, 2 * i + 4 * n_i of h; 6 * n_i bytes in all
//     scale_layout_p_pack() and scale_layout_p_unpack() convert from and to plain arrays
//   q: soa. Field after field.
//     element (i) at byte 4 * i of w, 2 * i + 4 * n_i of h; 6 * n_i bytes in all
//     scale_layout_q_pack() and scale_layout_q_unpack() convert from and to plain arrays
//
// device               variant          size     median us  GB/s  of copy  predicted us  sectors/request ld (least) | st (least)
// NVIDIA H200 (sm_90)  direct t128 soa  i=65536  not timed     -        -           3.7  8.0 (8.0) | 8.0 (8.0)
//   40 candidates: 38 verified, counted and predicted, 1 tied with the winner, 2 failed
//
// NVIDIA H200: described, NVRTC 13.0, sectile 0.1.0
// Predicted, not timed: compiled for a described device, PTX verified on the CPU, sectors counted
// from the addresses, times predicted from the counts. No GPU ran the variants.
// Spec cc6d4a7a3f55ed723574eb53a6dc5832; the hash of each kernel's source stands above it.
//
// Any C11 or C++11 compiler takes this header. CUDA files get the kernels and the launch function,
// each for itself; other files get declarations. For these, one CUDA file defines
// scale_IMPLEMENTATION before it includes the header for the first time.
// NVRTC gets the kernels, under the names that the lines of #define give them.
#if !defined(SECTILE_HEADER_scale) && !defined(__CUDACC_RTC__)
#define SECTILE_HEADER_scale
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
#include <string.h>
#ifndef __cplusplus
#include <assert.h>
#include <stdalign.h>
#include <stdbool.h>
#endif

#pragma pack(push, 1)
typedef struct scale_item {
  float w;
  unsigned short h;
} scale_item;
#pragma pack(pop)
static_assert(sizeof(scale_item) == 6 && alignof(scale_item) == 1, "size of scale_item");
static_assert(offsetof(scale_item, w) == 0, "w of scale_item");
static_assert(offsetof(scale_item, h) == 4, "h of scale_item");

// ---- Where the bytes of arrays lie, for the host.

// Pack and unpack copy a field between these.
typedef struct scale_ends {
  unsigned char *to;
  const unsigned char *from;
} scale_ends;
static inline void scale_pack_field(void *ends, int64_t packed, int64_t plain, size_t n) {
  const scale_ends *const e = (const scale_ends *)ends;
  memcpy(e->to + packed, e->from + plain, n);
}
static inline void scale_unpack_field(void *ends, int64_t packed, int64_t plain, size_t n) {
  const scale_ends *const e = (const scale_ends *)ends;
  memcpy(e->to + plain, e->from + packed, n);
}

// p: soa. Field after field.
//
// Bytes of the array; -1 if an extent is negative.
static inline int64_t scale_layout_p_bytes(int64_t n_i) {
  return n_i < 0 ? -1 : 6 * n_i;
}

// Bytes from the start of the array to each field of element (i).
static inline int64_t scale_layout_p_offset_w(int64_t i) {
  return 4 * i;
}
static inline int64_t scale_layout_p_offset_h(int64_t i, int64_t n_i) {
  return 2 * i + 4 * n_i;
}

// Calls copy(context, byte in the array, byte in the plain array, how many bytes) for every field
// of every element; plain arrays hold elements in C order, the last index fastest.
static inline void scale_layout_p_each_field(
    void (*copy)(void *context, int64_t packed, int64_t plain, size_t n), void *context, int64_t n_i) {
  int64_t plain = 0;
  for (int64_t i0 = 0; i0 < n_i; i0++, plain += 6) {
    copy(context, scale_layout_p_offset_w(i0), plain, 4);
    copy(context, scale_layout_p_offset_h(i0, n_i), plain + 4, 2);
  }
}

// Writes all bytes of `packed`: the fields of `plain`, and 0 between and after them. False, and
// nothing is written, if an extent is negative or a pointer that is needed null.
static inline bool scale_layout_p_pack(void *packed, const scale_item *plain, int64_t n_i) {
  const int64_t size = scale_layout_p_bytes(n_i);
  scale_ends ends = {(unsigned char *)packed, (const unsigned char *)plain};
  if (size < 0 || (size > 0 && packed == NULL) || (plain == NULL && n_i > 0)) {
    return false;
  }
  if (size > 0) {
    memset(packed, 0, (size_t)size);
  }
  scale_layout_p_each_field(scale_pack_field, &ends, n_i);
  return true;
}

// The way back. What of `plain` belongs to no field stays as it is.
static inline bool scale_layout_p_unpack(scale_item *plain, const void *packed, int64_t n_i) {
  const int64_t size = scale_layout_p_bytes(n_i);
  scale_ends ends = {(unsigned char *)plain, (const unsigned char *)packed};
  if (size < 0 || (size > 0 && packed == NULL) || (plain == NULL && n_i > 0)) {
    return false;
  }
  scale_layout_p_each_field(scale_unpack_field, &ends, n_i);
  return true;
}

#ifdef __cplusplus
namespace scale_layout_p {  // the same in C++

inline int64_t offset_w(int64_t i) {
  return scale_layout_p_offset_w(i);
}
inline int64_t offset_h(int64_t i, int64_t n_i) {
  return scale_layout_p_offset_h(i, n_i);
}
inline int64_t bytes(int64_t n_i) {
  return scale_layout_p_bytes(n_i);
}
template <typename Copy> inline void each_field(Copy copy, int64_t n_i) {
  scale_layout_p_each_field(
      [](void *context, int64_t packed, int64_t plain, size_t n) {
        (*static_cast<Copy *>(context))(packed, plain, n);
      },
      &copy, n_i);
}
inline bool pack(void *packed, const scale_item *plain, int64_t n_i) {
  return scale_layout_p_pack(packed, plain, n_i);
}
inline bool unpack(scale_item *plain, const void *packed, int64_t n_i) {
  return scale_layout_p_unpack(plain, packed, n_i);
}

}  // namespace scale_layout_p
#endif

// q: soa. Field after field.
//
// Bytes of the array; -1 if an extent is negative.
static inline int64_t scale_layout_q_bytes(int64_t n_i) {
  return n_i < 0 ? -1 : 6 * n_i;
}

// Bytes from the start of the array to each field of element (i).
static inline int64_t scale_layout_q_offset_w(int64_t i) {
  return 4 * i;
}
static inline int64_t scale_layout_q_offset_h(int64_t i, int64_t n_i) {
  return 2 * i + 4 * n_i;
}

// Calls copy(context, byte in the array, byte in the plain array, how many bytes) for every field
// of every element; plain arrays hold elements in C order, the last index fastest.
static inline void scale_layout_q_each_field(
    void (*copy)(void *context, int64_t packed, int64_t plain, size_t n), void *context, int64_t n_i) {
  int64_t plain = 0;
  for (int64_t i0 = 0; i0 < n_i; i0++, plain += 6) {
    copy(context, scale_layout_q_offset_w(i0), plain, 4);
    copy(context, scale_layout_q_offset_h(i0, n_i), plain + 4, 2);
  }
}

// Writes all bytes of `packed`: the fields of `plain`, and 0 between and after them. False, and
// nothing is written, if an extent is negative or a pointer that is needed null.
static inline bool scale_layout_q_pack(void *packed, const scale_item *plain, int64_t n_i) {
  const int64_t size = scale_layout_q_bytes(n_i);
  scale_ends ends = {(unsigned char *)packed, (const unsigned char *)plain};
  if (size < 0 || (size > 0 && packed == NULL) || (plain == NULL && n_i > 0)) {
    return false;
  }
  if (size > 0) {
    memset(packed, 0, (size_t)size);
  }
  scale_layout_q_each_field(scale_pack_field, &ends, n_i);
  return true;
}

// The way back. What of `plain` belongs to no field stays as it is.
static inline bool scale_layout_q_unpack(scale_item *plain, const void *packed, int64_t n_i) {
  const int64_t size = scale_layout_q_bytes(n_i);
  scale_ends ends = {(unsigned char *)plain, (const unsigned char *)packed};
  if (size < 0 || (size > 0 && packed == NULL) || (plain == NULL && n_i > 0)) {
    return false;
  }
  scale_layout_q_each_field(scale_unpack_field, &ends, n_i);
  return true;
}

#ifdef __cplusplus
namespace scale_layout_q {  // the same in C++

inline int64_t offset_w(int64_t i) {
  return scale_layout_q_offset_w(i);
}
inline int64_t offset_h(int64_t i, int64_t n_i) {
  return scale_layout_q_offset_h(i, n_i);
}
inline int64_t bytes(int64_t n_i) {
  return scale_layout_q_bytes(n_i);
}
template <typename Copy> inline void each_field(Copy copy, int64_t n_i) {
  scale_layout_q_each_field(
      [](void *context, int64_t packed, int64_t plain, size_t n) {
        (*static_cast<Copy *>(context))(packed, plain, n);
      },
      &copy, n_i);
}
inline bool pack(void *packed, const scale_item *plain, int64_t n_i) {
  return scale_layout_q_pack(packed, plain, n_i);
}
inline bool unpack(scale_item *plain, const void *packed, int64_t n_i) {
  return scale_layout_q_unpack(plain, packed, n_i);
}

}  // namespace scale_layout_q
#endif

#ifdef __cpp_lib_mdspan  // in files that include <mdspan> before
#include <mdspan>

// A layout policy: `Place` says at which element, counted from the array's first byte, an index is.
template <class Place> struct scale_places {
  template <class Extents> struct mapping {
    using extents_type = Extents;
    using index_type = typename Extents::index_type;
    using size_type = typename Extents::size_type;
    using rank_type = typename Extents::rank_type;
    using layout_type = scale_places;
    Extents shape;
    Place place;
    const Extents &extents() const noexcept { return shape; }
    index_type required_span_size() const noexcept { return place.size(); }
    template <class... Index> index_type operator()(Index... i) const noexcept {
      return place(static_cast<int64_t>(i)...);
    }
    static constexpr bool is_always_unique() noexcept { return true; }
    static constexpr bool is_always_exhaustive() noexcept { return false; }
    static constexpr bool is_always_strided() noexcept { return false; }
    static constexpr bool is_unique() noexcept { return true; }
    static constexpr bool is_exhaustive() noexcept { return false; }
    static constexpr bool is_strided() noexcept { return false; }
    friend bool operator==(const mapping &, const mapping &) = default;
  };
};
#endif

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

// Which kernel a call takes, and why.
typedef struct scale_choice {
  const char *variant;  // null: nothing is launched
  const char *device;   // whose tuning decided, null: nobody's
  const char *match;    // how that device matches the current one
  const char *size;     // the tuned size whose kernel it is, null: none
  const char *reason;   // where the call lies among the tuned sizes; why naive, why nothing
} scale_choice;

#ifndef SECTILE_NO_RUNTIME
// The arguments of one call, by name.
typedef struct scale_args {
  const void *p;
  void *q;
  unsigned short k;
  float stream;
  long long n_i;
} scale_args;

#ifdef __cplusplus
extern "C" {
#endif

// Launches on `stream_x`; never synchronises, allocates nothing. An empty index space launches nothing.
// What is written must not overlap another array. That, a negative extent, a null pointer or a
// pointer below its type's alignment is cudaErrorInvalidValue, a grid beyond 2^31 - 1 blocks
// cudaErrorInvalidConfiguration; other errors are those of the launch.
// `k` is given as the bits of a value of type f16.
cudaError_t scale(const void *p, void *q, unsigned short k, float stream, long long n_i, cudaStream_t stream_x);
// The same, every argument by its name. What `args` leaves out is 0; null is cudaErrorInvalidValue.
cudaError_t scale_launch(const scale_args *args, cudaStream_t stream);

// What scale would do with these arguments on the current device.
scale_choice scale_variant(const void *p, void *q, unsigned short k, float stream, long long n_i);

#ifdef __cplusplus
}
#endif
#endif  // SECTILE_NO_RUNTIME
#endif  // SECTILE_HEADER_scale

#if defined(scale_IMPLEMENTATION) && !defined(__CUDACC__) && !defined(scale_FIND_KERNEL)
#error "scale_IMPLEMENTATION: compile this file as CUDA, or define scale_FIND_KERNEL"
#endif
#if (defined(scale_IMPLEMENTATION) || defined(__CUDACC__)) && !defined(SECTILE_KERNELS_scale)
#define SECTILE_KERNELS_scale
#ifdef scale_FIND_KERNEL  // a program that compiled the kernels itself knows them by name
static inline cudaError_t scale_detail_find_kernel(const void **out, int variant) {
  static const char *const names[] = {
      "scale_k0_direct",
  };
  return scale_FIND_KERNEL(out, names[variant]);
}
#else
#ifdef __CUDACC_RTC__
#undef __global__
#define __global__ extern "C" __attribute__((global))
namespace scale_detail {
#else
#include <cuda_runtime.h>

namespace scale_detail {
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

// direct t128 soa, the naive variant.
//   for NVIDIA H200 at i=65536
//   needs p aligned to 4, q aligned to 4
//   source 0df80328bb56283357ff64454f34491b
#define scale_kernel scale_k0_direct
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
#undef scale_kernel

#if defined(__NVCC__) || defined(__CUDACC_RTC__)
#pragma nv_diagnostic pop
#endif

#ifdef __CUDACC_RTC__
}  // namespace scale_detail
#undef __global__
#define __global__ __attribute__((global))
#else
}  // namespace
}  // namespace scale_detail

// The kernel of each variant.
static const void *const scale_detail_kernels[] = {
    (const void *)scale_detail::k0_direct::scale_k0_direct,
};
static inline cudaError_t scale_detail_find_kernel(const void **out, int variant) {
  *out = scale_detail_kernels[variant];
  return cudaSuccess;
}
#endif  // __CUDACC_RTC__
#endif  // scale_FIND_KERNEL

#ifndef __CUDACC_RTC__

// ---- Variants and where they were tuned. From here on it is C11 and C++11.

#include <string.h>
#ifdef __cplusplus
#include <atomic>
typedef std::atomic<int> scale_detail_atomic;
#else
#include <stdatomic.h>
typedef atomic_int scale_detail_atomic;
#endif

// The extents of a call, those of the index space first.
enum {
  scale_detail_n_extents = 1,
  scale_detail_n_dims = 1,
  scale_detail_rows = -1,  // the dimension of rows with different lengths, which share elements; -1: none
  scale_detail_wants_shared = 0  // some variant asks for more shared memory than all have
};
static const bool scale_detail_reduced[] = {false};  // outputs have elements even where it is 0
static inline void scale_detail_extents(long long *n, const scale_args *c) {
  const long long all[] = {c->n_i};
  memcpy(n, all, sizeof all);
}

static inline bool scale_detail_aligned(const void *p, unsigned long long bytes) {
  return (unsigned long long)p % bytes == 0;
}

// What is wrong with a pointer of the call, null: nothing. Where there is nothing to sum, `empty`,
// inputs may be null.
static inline const char *scale_detail_bad_pointer(const scale_args *c, bool empty) {
  (void)empty;
  if (c->p == NULL && !empty) return "invalid value: p is null";
  if (!scale_detail_aligned(c->p, 4)) return "invalid value: p is not aligned to 4 bytes";
  if (c->q == NULL) return "invalid value: q is null";
  if (!scale_detail_aligned(c->q, 4)) return "invalid value: q is not aligned to 4 bytes";
  return NULL;
}

// Of each variant the blocks of its grid, whether it is right for a call, its launch.
static inline long long scale_detail_k0_blocks(const scale_args *c) {
  const long long n_i = c->n_i;
  return (n_i + 127) / 128;
}
static inline bool scale_detail_k0_takes(const scale_args *c) {
  if (!scale_detail_aligned(c->p, 4)) return false;
  if (!scale_detail_aligned(c->q, 4)) return false;
  return true;
}
static inline cudaError_t scale_detail_k0_launch(const void *kernel, scale_args c, cudaStream_t stream) {
  void *args[] = {&c.p, &c.q, &c.k, &c.stream, &c.n_i};
  const dim3 grid = {(unsigned)scale_detail_k0_blocks(&c), 1, 1}, block = {128, 1, 1};
  return cudaLaunchKernel(kernel, grid, block, args, 0, stream);
}

typedef struct scale_detail_variant {
  const char *label;
  int shared_bytes;  // that a block has to ask for; 0: it need not
  long long (*blocks)(const scale_args *c);
  bool (*takes)(const scale_args *c);
  cudaError_t (*launch)(const void *kernel, scale_args c, cudaStream_t stream);
} scale_detail_variant;
static const scale_detail_variant scale_detail_variants[] = {
    {"direct t128 soa", 0, scale_detail_k0_blocks, scale_detail_k0_takes, scale_detail_k0_launch},
};

// A tuned size, the variant that won it, and where that is predicted to be slower than the naive
// one: a digit for the extents times 2^(step * k), k from -reach to reach; 1: it is.
typedef struct scale_detail_size {
  long long n[1];
  int variant;
  const char *label;
  int step, reach;
  const char *slower;  // null: not known
} scale_detail_size;
static const scale_detail_size scale_detail_sizes_0[] = {  // NVIDIA H200: n_i
    {{65536}, 0, "i=65536", 0, 0, NULL},
};

typedef struct scale_detail_device {
  const char *name;
  int major, minor, sms;
  const scale_detail_size *sizes;
  int n_sizes;
} scale_detail_device;
static const scale_detail_device scale_detail_devices[] = {
    {"NVIDIA H200", 9, 0, 132, scale_detail_sizes_0, 1},
};

// ---- Which variant a call takes. Every header has this text.

// The current device, as far as the choice goes.
typedef struct scale_detail_place {
  const scale_detail_device *device;  // null: none matches
  int match, shared_bytes;
} scale_detail_place;

// 3: same device model, 2: same compute capability, 1: same major version, 0: none.
static inline int scale_detail_match(const scale_detail_device *d, const struct cudaDeviceProp *here) {
  if (d->major != here->major) return 0;
  if (d->minor != here->minor) return 1;
  return d->sms == here->multiProcessorCount && strcmp(d->name, here->name) == 0 ? 3 : 2;
}

// The tuned device that matches the current one best, the first among equals. Reading a
// device's name takes long, so a device is asked once: `kept` holds 1 + match + 4 * device.
static inline cudaError_t scale_detail_find_place(scale_detail_place *here) {
  enum { n_kept = 64, n_devices = sizeof scale_detail_devices / sizeof scale_detail_devices[0] };
  static scale_detail_atomic kept[n_kept];  // 0: not asked yet
  int ordinal = 0;
  cudaError_t error = cudaGetDevice(&ordinal);
  if (error == cudaSuccess && scale_detail_wants_shared) {
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
      const int match = scale_detail_match(&scale_detail_devices[k], &properties);
      if (match > best) {
        best = match;
        found = 1 + best + 4 * k;
      }
    }
    if (ordinal < n_kept) kept[ordinal] = found;
  }
  here->match = (found - 1) % 4;
  here->device = here->match > 0 ? &scale_detail_devices[(found - 1) / 4] : NULL;
  return cudaSuccess;
}

static const long long scale_detail_max_blocks = 0x7fffffff;  // of a grid, in x

// The variant is right for the call: its grid, shared memory, alignments, conditions.
static inline bool scale_detail_takes(const scale_detail_variant *v, const scale_args *c, const scale_detail_place *here) {
  const long long blocks = v->blocks(c);
  return blocks >= 1 && blocks <= scale_detail_max_blocks && v->shared_bytes <= here->shared_bytes &&
         v->takes(c);
}

// a / b, an extent of 0 taken for 1.
static inline double scale_detail_ratio(long long a, long long b) {
  return (double)(a < 1 ? 1 : a) / (double)(b < 1 ? 1 : b);
}

// How far a call is from a tuned size: by how much each extent differs, all multiplied. 1: equal.
static inline double scale_detail_distance(const scale_detail_size *t, const long long *n) {
  double product = 1;
  for (int k = 0; k < scale_detail_n_extents; k++) {
    product *= n[k] < t->n[k] ? scale_detail_ratio(t->n[k], n[k]) : scale_detail_ratio(n[k], t->n[k]);
  }
  return product;
}

// Where a call lies among the sizes tuned on the device.
static inline const char *scale_detail_range(const scale_detail_device *d, const scale_detail_size *t, const long long *n) {
  if (scale_detail_distance(t, n) == 1) return "tuned size";
  for (int k = 0; k < scale_detail_n_extents; k++) {
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
static inline int scale_detail_shape(double ratio, const scale_detail_size *t, bool above) {
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
static inline bool scale_detail_slower(const scale_detail_size *t, const long long *n) {
  if (t->slower == NULL) return false;
  for (int corner = 0; corner < 1 << scale_detail_n_dims; corner++) {
    int at = 0;
    for (int d = 0; d < scale_detail_n_dims; d++) {
      const int k = scale_detail_shape(scale_detail_ratio(n[d], t->n[d]), t, (corner >> d & 1) != 0);
      at = at * (2 * t->reach + 1) + k + t->reach;
    }
    if (t->slower[at] == '1') return true;
  }
  return false;
}

typedef struct scale_detail_choice {
  int variant;  // -1: none
  int match;
  const scale_detail_device *device;  // with its size: whose variant it is, null: naive
  const scale_detail_size *size;
  const char *reason;
} scale_detail_choice;

// Of the device's tuned sizes the nearest whose variant is right for the call and worth it.
static inline void scale_detail_choose_tuned(const scale_args *c, const scale_detail_place *here, scale_detail_choice *out) {
  long long n[scale_detail_n_extents];
  double best = 0;
  scale_detail_extents(n, c);
  out->reason = "no kernel of this device is right for these arguments";
  for (int k = 0; k < here->device->n_sizes; k++) {
    const scale_detail_size *const t = &here->device->sizes[k];
    const double away = scale_detail_distance(t, n);
    if ((out->variant >= 0 && away >= best) || !scale_detail_takes(&scale_detail_variants[t->variant], c, here)) continue;
    if (away != 1 && scale_detail_slower(t, n)) {
      if (out->variant < 0) {
        out->reason = "tuned kernels are predicted to be slower than naive here";
      }
      continue;
    }
    const scale_detail_choice chosen = {t->variant, here->match, here->device, t, scale_detail_range(here->device, t, n)};
    *out = chosen;
    best = away;
  }
}

// Which variant a call that has work takes.
static inline cudaError_t scale_detail_choose(const scale_args *c, scale_detail_choice *out) {
  scale_detail_place here = {NULL, 0, 0};
  const cudaError_t error = scale_detail_find_place(&here);
  const scale_detail_choice none = {-1, 0, NULL, NULL, NULL};
  *out = none;
  if (error != cudaSuccess) {
    out->reason = cudaGetErrorString(error);
    return error;
  }
  out->reason = "no device of this major version was tuned";
  if (here.device != NULL) scale_detail_choose_tuned(c, &here, out);
  if (out->variant < 0 && scale_detail_takes(&scale_detail_variants[0], c, &here)) out->variant = 0;
  if (out->variant >= 0) return cudaSuccess;
  out->reason = "invalid configuration: more than 2^31 - 1 blocks";
  if (scale_detail_variants[0].blocks(c) > scale_detail_max_blocks) return cudaErrorInvalidConfiguration;
  out->reason = "invalid value: the naive variant cannot take these arguments";
  return cudaErrorInvalidValue;
}

// Why there is nothing to launch, and what the call then returns; null: there is.
static inline const char *scale_detail_no_work(const scale_args *c, cudaError_t *answer) {
  const long long most = 1LL << 48;  // elements: no product overflows
  long long n[scale_detail_n_extents];
  double elements = 1;  // of the index space; a double, because a product may be any size
  bool large = false, empty = false;
  scale_detail_extents(n, c);
  *answer = cudaErrorInvalidValue;
  for (int k = 0; k < scale_detail_n_extents; k++) {
    if (n[k] < 0) return "invalid value: an extent is negative";
    large = large || n[k] > most;
  }
  for (int d = 0; d < scale_detail_n_dims; d++) {
    elements *= d == scale_detail_rows ? 1.0 : (double)n[d];
    empty = empty || (n[d] == 0 && !scale_detail_reduced[d]);
  }
  if (!empty && !large && elements <= (double)most) return scale_detail_bad_pointer(c, elements == 0);
  *answer = empty ? cudaSuccess : cudaErrorInvalidConfiguration;
  return empty ? "nothing to launch: the index space is empty"
               : "invalid configuration: more than 2^48 elements";
}

static inline cudaError_t scale_detail_launch(const scale_args *c, cudaStream_t stream) {
  scale_detail_choice chosen;
  const void *kernel = NULL;
  cudaError_t error = cudaSuccess;
  if (scale_detail_no_work(c, &error) != NULL) return error;
  error = scale_detail_choose(c, &chosen);
  if (error == cudaSuccess) error = scale_detail_find_kernel(&kernel, chosen.variant);
  if (error != cudaSuccess) return error;
  error = scale_detail_variants[chosen.variant].launch(kernel, *c, stream);
  if (error != cudaSuccess) cudaGetLastError();  // it is returned, and need not be asked for
  return error;
}

static inline scale_choice scale_detail_describe(const scale_args *c) {
  static const char *const matches[] = {"none", "same major version",
                                       "same compute capability, other model",
                                       "same device model"};
  cudaError_t error = cudaSuccess;
  scale_detail_choice chosen = {-1, 0, NULL, NULL, NULL};
  const char *why = scale_detail_no_work(c, &error);
  if (why == NULL && scale_detail_choose(c, &chosen) != cudaSuccess) why = chosen.reason;
  scale_choice out = {NULL, NULL, matches[0], NULL, why};
  if (why == NULL) {
    out.variant = scale_detail_variants[chosen.variant].label;
    out.device = chosen.device != NULL ? chosen.device->name : NULL;
    out.match = matches[chosen.match];
    out.size = chosen.size != NULL ? chosen.size->label : NULL;
    out.reason = chosen.reason;
  }
  return out;
}

#ifdef scale_IMPLEMENTATION
#define scale_LINKAGE
#else
#define scale_LINKAGE inline
#endif
scale_LINKAGE cudaError_t scale(const void *p, void *q, unsigned short k, float stream, long long n_i, cudaStream_t stream_x) {
  const scale_args call = {p, q, k, stream, n_i};
  return scale_detail_launch(&call, stream_x);
}
scale_LINKAGE cudaError_t scale_launch(const scale_args *args, cudaStream_t stream) {
  return args == NULL ? cudaErrorInvalidValue : scale_detail_launch(args, stream);
}
scale_LINKAGE scale_choice scale_variant(const void *p, void *q, unsigned short k, float stream, long long n_i) {
  const scale_args call = {p, q, k, stream, n_i};
  return scale_detail_describe(&call);
}
#undef scale_LINKAGE
#endif  // __CUDACC_RTC__
#endif  // SECTILE_KERNELS_scale
