#if defined($(name)_IMPLEMENTATION) && !defined(SECTILE_KERNELS_$(name))
#define SECTILE_KERNELS_$(name)
#ifndef __CUDACC_RTC__
#ifdef __cplusplus
#include <atomic>
typedef std::atomic<cudaLibrary_t> $(detail)_atomic_library;
#else
#include <stdatomic.h>
typedef _Atomic(cudaLibrary_t) $(detail)_atomic_library;
#endif

// ---- Kernels, compiled by NVRTC $(nvrtc). `sectile emit --form cuda` shows them.

//% for _, k in ipairs(kernels) do
// $(k.title)
//%   for _, win in ipairs(k.wins) do
//   for $(win)
//%   end
//%   if #k.needs > 0 then
//   needs $(join(k.needs))
//%   end
//   source $(k.source_hash)
//% end
enum { $(detail)_n_kernels = $(n_kernels), $(detail)_n_images = $(n_images) };
static const char *const $(detail)_names[] = {
//% for _, entry in ipairs(entries) do
    "$(entry)",
//% end
};

//% for _, image in ipairs(images) do
static const unsigned char $(detail)_$(image.name)[] = {
//%   for _, line in ipairs(image.lines) do
    $(line)
//%   end
};
//% end

// Machine code runs on devices of its major version from its minor one on, PTX on all later ones.
static const struct {
  int major, minor;
  bool is_ptx;
  const unsigned char *code;
} $(detail)_images[] = {
//% for _, image in ipairs(images) do
    {$(image.major), $(image.minor), $(image.is_ptx), $(detail)_$(image.name)},
//% end
};

// The image for the current device; -1: there is none.
static inline cudaError_t $(detail)_find_image(int *out) {
  int device = 0, major = 0, minor = 0, best = -1;
  cudaError_t error = cudaGetDevice(&device);
  if (error == cudaSuccess) {
    error = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
  }
  if (error == cudaSuccess) {
    error = cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);
  }
  for (int k = 0; k < $(detail)_n_images; k++) {  // PTX comes first, and the oldest of each kind
    const bool same = $(detail)_images[k].major == major && $(detail)_images[k].minor <= minor;
    if (same || ($(detail)_images[k].is_ptx && $(detail)_images[k].major < major)) best = k;
  }
  *out = best;
  return error;
}

// The kernel of a variant for the current device. Each image is loaded once in a process.
static inline cudaError_t $(detail)_find_kernel(const void **out, int variant) {
  static $(detail)_atomic_library libraries[$(detail)_n_images];
  cudaKernel_t kernel = NULL;
  int image = -1;
  cudaError_t error = $(detail)_find_image(&image);
  if (error != cudaSuccess) return error;
  if (image < 0) return cudaErrorNoKernelImageForDevice;
  cudaLibrary_t library = libraries[image];
  if (library == NULL) {
    cudaLibrary_t other = NULL;
    error = cudaLibraryLoadData(&library, $(detail)_images[image].code, NULL, NULL, 0, NULL, NULL, 0);
    if (error != cudaSuccess) return error;
    if (!atomic_compare_exchange_strong(&libraries[image], &other, library)) {
      cudaLibraryUnload(library);  // another thread was faster
      library = other;
    }
  }
  error = cudaLibraryGetKernel(&kernel, library, $(detail)_names[variant]);
  *out = (const void *)kernel;
  return error;
}

