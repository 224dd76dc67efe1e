#if defined($(name)_IMPLEMENTATION) && !defined(SECTILE_KERNELS_$(name))
#define SECTILE_KERNELS_$(name)
#ifndef __CUDACC_RTC__
#ifdef __cplusplus
#include <atomic>
typedef std::atomic<cudaLibrary_t> $(detail)_atomic_library;
typedef std::atomic<cudaKernel_t> $(detail)_atomic_kernel;
#else
#include <stdatomic.h>
typedef _Atomic(cudaLibrary_t) $(detail)_atomic_library;
typedef _Atomic(cudaKernel_t) $(detail)_atomic_kernel;
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
enum { $(detail)_n_kernels = $(#kernels), $(detail)_n_images = $(#images) };
static const char *const $(detail)_names[] = {
//% for _, entry in ipairs(entries) do
    "$(entry)",
//% end
};

//% for _, image in ipairs(images) do
static const unsigned char $(detail)_$(image.name)[] = {
$(image.lines)
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

// An image is loaded once in a process.
static inline cudaError_t $(detail)_load(cudaLibrary_t *out, int image) {
  static $(detail)_atomic_library libraries[$(detail)_n_images];
  cudaLibrary_t other = NULL;
  *out = libraries[image];
  if (*out != NULL) return cudaSuccess;
  const cudaError_t error =
      cudaLibraryLoadData(out, $(detail)_images[image].code, NULL, NULL, 0, NULL, NULL, 0);
  if (error == cudaSuccess && !atomic_compare_exchange_strong(&libraries[image], &other, *out)) {
    cudaLibraryUnload(*out);  // another thread was faster
    *out = other;
  }
  return error;
}

// The kernel of a variant for the current device. It is asked for by name once.
static inline cudaError_t $(detail)_find_kernel(const void **out, int variant) {
  static $(detail)_atomic_kernel kernels[$(detail)_n_images][$(detail)_n_kernels];
  int image = -1;
  cudaError_t error = $(detail)_find_image(&image);
  if (error != cudaSuccess) return error;
  if (image < 0) return cudaErrorNoKernelImageForDevice;
  cudaKernel_t kernel = kernels[image][variant];
  if (kernel == NULL) {
    cudaLibrary_t library = NULL;
    error = $(detail)_load(&library, image);
    if (error == cudaSuccess) {
      error = cudaLibraryGetKernel(&kernel, library, $(detail)_names[variant]);
    }
    if (error == cudaSuccess) kernels[image][variant] = kernel;
  }
  *out = (const void *)kernel;
  return error;
}

