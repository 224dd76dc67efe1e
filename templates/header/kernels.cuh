#if defined($(name)_IMPLEMENTATION) && !defined(__CUDACC__)
#error "$(name)_IMPLEMENTATION: compile this file as CUDA"
#endif
//% if is_inline then
#if defined(__CUDACC__) && !defined(SECTILE_KERNELS_$(name))
//% else
#if (defined($(name)_IMPLEMENTATION) || defined(__CUDACC_RTC__)) && defined(__CUDACC__) && !defined(SECTILE_KERNELS_$(name))
//% end
#define SECTILE_KERNELS_$(name)
//% for _, header in ipairs(includes) do
#include <$(header)>  // a kernel below needs it
//% end
//% if #includes > 0 then

//% end
#ifdef __CUDACC_RTC__
#undef __global__
#define __global__ extern "C" __attribute__((global))
namespace $(name)_detail {
#else
#include <cuda_runtime.h>
#include <string.h>

#include <atomic>

namespace $(name)_detail {
namespace {  // kernels are those of this file
#endif

// A variant may leave a variable of the computation unused.
#if defined(__NVCC__) || defined(__CUDACC_RTC__)
#pragma nv_diagnostic push
#pragma nv_diag_suppress 177, 550
#endif

//% for _, k in ipairs(kernels) do
// $(k.title)
//%   for _, win in ipairs(k.wins) do
//   for $(win)
//%   end
//%   if #k.needs > 0 then
//   needs $(join(k.needs))
//%   end
//   source $(k.source_hash)
//%   if k.clusters then
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
//%   end
//%   if k.is_own then
#ifdef __CUDACC_RTC__  // by its name in C++: $(name)_detail::$(k.space)::$(k.function)
#undef __global__
#define __global__ __attribute__((global))
#endif
//%   else
#define $(k.function) $(name)_$(k.space)
//%   end
namespace $(k.space) {
$(k.source)
}  // namespace $(k.space)
//%   if k.is_own then
#ifdef __CUDACC_RTC__
#undef __global__
#define __global__ extern "C" __attribute__((global))
#endif
//%   else
#undef $(k.function)
//%   end
//%   if k.clusters then
#endif
//%   end

//% end
#if defined(__NVCC__) || defined(__CUDACC_RTC__)
#pragma nv_diagnostic pop
#endif

#ifdef __CUDACC_RTC__
}  // namespace $(name)_detail
#undef __global__
#define __global__ __attribute__((global))
#else
typedef $(name)_args call;  // of the launch function

// The extents of a call, those of the index space first.
constexpr int kExtents = $(n_extents), kDims = $(n_dims);
constexpr bool kReduced[kDims] = {$(join(reduced))};  // outputs have elements even where it is 0
constexpr int kRows = $(rows);  // the dimension of rows with different lengths, which share elements; -1: none
struct extents {
  long long n[kExtents];
};
inline extents extents_of(const call &c) {
  return {{$(join(extents, "c.n_%s"))}};
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
//% if has_bits then
// A scalar that is given by its bits, as the type that a kernel declares.
template <typename T, typename Bits> T from_bits(const Bits &bits) {
  static_assert(sizeof(T) == sizeof(Bits), "bits of one value");
  T result;
  memcpy(&result, &bits, sizeof result);
  return result;
}
//% end

inline bool aligned(const void *p, unsigned long long bytes) {
  return reinterpret_cast<unsigned long long>(p) % bytes == 0;
}

//% if wants_clusters then
// Was the code that runs here compiled for sm_90 or later, which have clusters of blocks?
inline bool has_clusters(const void *kernel) {
  cudaFuncAttributes attributes;
  const cudaError_t error = cudaFuncGetAttributes(&attributes, kernel);
  if (error != cudaSuccess) cudaGetLastError();  // as if it was not asked
  return error == cudaSuccess && attributes.ptxVersion >= 90;
}

//% end
//% if #ranges > 0 then
// Does an array that is written overlap another one?
inline bool overlap(const call &c) {
//%   if #ranges_over > 0 then
  const long long $(join(ranges_over, "n_%s = c.n_%s"));
//%   end
  const struct {
    const void *first;
    long long bytes;
    bool written;
  } arrays[] = {
//%   for _, r in ipairs(ranges) do
      {c.$(r.name), $(r.bytes), $(r.written)},
//%   end
  };
  for (const auto &a : arrays) {
    for (const auto &b : arrays) {
      const char *const from = static_cast<const char *>(a.first);
      const char *const other = static_cast<const char *>(b.first);
      const bool meet = from < other + b.bytes && other < from + a.bytes;
      if (&a != &b && a.written && a.bytes > 0 && b.bytes > 0 && meet) return true;
    }
  }
  return false;
}

//% end
//% if has_steps then
// A step of a place, taken up to `last` times.
struct step {
  long long by, last;
};

// Does each step go beyond all that the smaller ones reach? Else two elements may be one.
inline bool apart(step *steps, int n) {
  long long reached = 0;
  for (int k = 0; k < n; k++) {
    int least = k;
    for (int other = k + 1; other < n; other++) {
      if (steps[other].by < steps[least].by) least = other;
    }
    const step next = steps[least];
    steps[least] = steps[k];
    if (next.last > 0 && next.by <= reached) return false;
    reached += next.last > 0 ? next.by * next.last : 0;
  }
  return true;
}

//% end
//% if checks_extents then
// What is wrong with the extents of a call that has work, null: nothing.
inline const char *bad_extents(const call &c) {
//%   if #bounds > 0 then
  {  // a bound of each number on the way to an offset
    const double kMost = 4611686018427387904.0;  // 2^62
    const double $(join(bounds_over, "n_%s = double(c.n_%s)"));
//%     for _, bound in ipairs(bounds) do
    if ($(bound) > kMost) return "invalid value: extents make an array too large for 64 bits";
//%     end
  }
//%   end
//%   if #limits_over > 0 then
  const long long $(join(limits_over, "n_%s = c.n_%s"));
//%   end
//%   for _, limit in ipairs(limits) do
//%     for _, condition in ipairs(limit.inside) do
  if (!($(condition))) return "invalid value: extents give $(limit.name) elements outside of it";
//%     end
//%     for _, steps in ipairs(limit.apart) do
  {
    step steps[] = {$(steps.list)};
    if (!apart(steps, $(steps.n))) return "invalid value: extents make elements of $(limit.name) one";
  }
//%     end
//%   end
  return nullptr;
}

//% end
// What is wrong with a pointer of the call, null: nothing. Where there is nothing to sum, `empty`,
// inputs may be null.
inline const char *bad_pointer(const call &c, bool empty) {
  (void)empty;
//% for _, o in ipairs(operands) do
//%   if o.never_null then
  if (c.$(o.name) == nullptr) return "invalid value: $(o.name) is null";
//%   else
  if (c.$(o.name) == nullptr && !empty) return "invalid value: $(o.name) is null";
//%   end
  if (!aligned(c.$(o.name), $(o.align))) return "invalid value: $(o.name) is not aligned to $(o.align) bytes";
//% end
//% if #ranges > 0 then
  if (overlap(c)) return "invalid value: an array that is written overlaps another one";
//% end
//% if needs_workspace then
  if (c.$(workspace) == nullptr || !aligned(c.$(workspace), 16)) {
    return "invalid value: $(workspace) is null or not aligned to 16 bytes";
  }
//% end
  return nullptr;
}

//% if #starts > 0 then
// What points fall on begins at the identity element.
inline cudaError_t start(const call &c, cudaStream_t stream) {
//%   if #starts_over > 0 then
  const long long $(join(starts_over, "n_%s = c.n_%s"));
//%   end
  cudaError_t error = cudaSuccess;
//%   for _, s in ipairs(starts) do
  if (error == cudaSuccess) {
    error = cudaMemsetAsync(c.$(s.name), $(s.byte), (unsigned long long)($(s.bytes)), stream);
  }
//%   end
  return error;
}

//% end
// Of each variant the blocks of its grid, whether it is right for a call, its launch.
//% for _, k in ipairs(kernels) do
//%   if #k.grid_over > 0 then
inline long long k$(k.index)_blocks(const call &c) {
  const long long $(join(k.grid_over, "n_%s = c.n_%s"));
//%   else
inline long long k$(k.index)_blocks(const call &) {
//%   end
  return $(k.grid);
}
inline bool k$(k.index)_takes(const call &c) {
//%   if #k.requires_over > 0 then
  const long long $(join(k.requires_over, "n_%s = c.n_%s"));
//%   end
//%   if k.clusters then
#if !defined(__CUDA_ARCH__)  // of host code
  if (!has_clusters(reinterpret_cast<const void *>($(k.space)::$(k.name)))) return false;
#endif
//%   end
//%   for _, a in ipairs(k.aligned) do
  if (!aligned(c.$(a.name), $(a.bytes))) return false;
//%   end
//%   for _, condition in ipairs(k.requires) do
  if (!($(condition))) return false;
//%   end
  return true;
}
inline cudaError_t k$(k.index)_launch(const call &c, cudaStream_t stream) {
//%   if k.clusters then
#if defined(__CUDA_ARCH__)  // of host code
  return (void)c, (void)stream, cudaErrorInvalidDeviceFunction;
#else
//%   end
//%   if k.wants_optin then
  const cudaError_t error = cudaFuncSetAttribute($(k.space)::$(k.name),
                                                 cudaFuncAttributeMaxDynamicSharedMemorySize, $(k.shared_bytes));
  if (error != cudaSuccess) return error;
//%   end
//%   if #k.launch_over > 0 then
  const long long $(join(k.launch_over, "n_%s = c.n_%s"));
//%   end
  $(k.space)::$(k.name)<<<$(k.grid_arg), $(k.block_arg), $(k.shared_bytes), stream>>>(
      $(join(k.arguments)));
  return cudaGetLastError();
//%   if k.clusters then
#endif
//%   end
}

//% end
struct variant {
  const char *label;
  int shared_bytes;  // that a block has to ask for; 0: it need not
  long long (*blocks)(const call &);
  bool (*takes)(const call &);
  cudaError_t (*launch)(const call &, cudaStream_t);
};
const variant variants[] = {
//% for _, k in ipairs(kernels) do
    {"$(k.label)", $(k.optin_bytes), k$(k.index)_blocks, k$(k.index)_takes, k$(k.index)_launch},
//% end
};
constexpr bool kWantsShared = $(wants_shared);  // some variant asks for shared memory

// A tuned size, the variant that won it, and where that is predicted to be slower than the naive
// one: a digit for the extents times 2^(step * k), k from -reach to reach; 1: it is.
struct tuned {
  long long n[kExtents];
  int variant;
  const char *size;
  int step, reach;
  const char *slower;  // null: not known
};
//% for _, d in ipairs(devices) do
//%   if #d.sizes > 0 then
const tuned sizes_$(d.index)[] = {  // $(d.name): $(join(extents, "n_%s"))
//%     for _, s in ipairs(d.sizes) do
//%       if s.slower then
    {{$(join(s.extents))}, $(s.kernel), "$(s.label)", $(s.step), $(s.reach),
     "$(s.slower)"},
//%       else
    {{$(join(s.extents))}, $(s.kernel), "$(s.label)", 0, 0, nullptr},
//%       end
//%     end
};
//%   end
//% end

struct tuned_device {
  const char *name;
  int major, minor, sms;
  const tuned *sizes;
  int n_sizes;
};
const tuned_device devices[] = {
//% for _, d in ipairs(devices) do
//%   if #d.sizes > 0 then
    {"$(d.name)", $(d.major), $(d.minor), $(d.sms), sizes_$(d.index), $(d.n_sizes)},
//%   end
//% end
};

