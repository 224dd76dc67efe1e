#if defined($(name)_IMPLEMENTATION) && !defined(__CUDACC__) && !defined($(name)_FIND_KERNEL)
#error "$(name)_IMPLEMENTATION: compile this file as CUDA, or define $(name)_FIND_KERNEL"
#endif
//% if form == "inline" then
#if (defined($(name)_IMPLEMENTATION) || defined(__CUDACC__)) && !defined(SECTILE_KERNELS_$(name))
//% else
#if (defined($(name)_IMPLEMENTATION) || defined(__CUDACC_RTC__)) && !defined(SECTILE_KERNELS_$(name))
//% end
#define SECTILE_KERNELS_$(name)
#ifdef $(name)_FIND_KERNEL  // a program that compiled the kernels itself knows them by name
static inline cudaError_t $(detail)_find_kernel(const void **out, int variant) {
  static const char *const names[] = {
//% for _, k in ipairs(kernels) do
      "$(k.entry)",
//% end
  };
  return $(name)_FIND_KERNEL(out, names[variant]);
}
#else
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

namespace $(name)_detail {
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

//% if shared ~= "" then
// What several of the kernels use.
$(shared)

//% end
//% for _, k in ipairs(kernels) do
// $(k.title)
//%   for _, win in ipairs(k.wins) do
//   for $(win)
//%   end
//%   if #k.needs > 0 then
//   needs $(join(k.needs))
//%   end
//   source $(k.source_hash)
//%   if k.feature then
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
//%   end
//%   if k.is_own then
#ifdef __CUDACC_RTC__  // by its name in C++: $(name)_detail::$(k.space)::$(k.launch.kernel)
#undef __global__
#define __global__ __attribute__((global))
#endif
//%   else
#define $(k.launch.kernel) $(name)_$(k.space)
//%   end
namespace $(k.space) {
$(k.text)
}  // namespace $(k.space)
//%   if k.is_own then
#ifdef __CUDACC_RTC__
#undef __global__
#define __global__ extern "C" __attribute__((global))
#endif
//%   else
#undef $(k.launch.kernel)
//%   end
//%   if k.feature then
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
}  // namespace
}  // namespace $(name)_detail

// The kernel of each variant.
static const void *const $(detail)_kernels[] = {
//% for _, k in ipairs(kernels) do
//%   if k.feature then
#if defined(__CUDA_ARCH__)  // not of host code
    NULL,
#else
//%   end
    (const void *)$(name)_detail::$(k.space)::$(k.name),
//%   if k.feature then
#endif
//%   end
//% end
};
static inline cudaError_t $(detail)_find_kernel(const void **out, int variant) {
  *out = $(detail)_kernels[variant];
  return cudaSuccess;
}
#endif  // __CUDACC_RTC__
#endif  // $(name)_FIND_KERNEL

#ifndef __CUDACC_RTC__

