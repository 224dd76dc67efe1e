//
//% if form == "inline" then
// Any C11 or C++11 compiler takes this header. CUDA files get the kernels and the launch function,
// each for itself; other files get declarations. For these, one CUDA file defines
// $(name)_IMPLEMENTATION before it includes the header for the first time.
//% end
//% if form == "c" then
// Any C11 or C++11 compiler takes this header. The one file that defines $(name)_IMPLEMENTATION
// before it includes it gets the kernels, as machine code, and the launch function; all others get
// declarations. It takes no nvcc, and links with the CUDA runtime of toolkit 12.8 or later.
//% end
//% if form == "cuda" then
// Any C11 or C++11 compiler takes this header. The one CUDA file that defines $(name)_IMPLEMENTATION
// before it includes it gets the kernels and the launch function; all others get declarations.
//% end
//% if form ~= "c" then
// NVRTC gets the kernels, under the names that the lines of #define give them.
//% end
#if !defined(SECTILE_HEADER_$(name)) && !defined(__CUDACC_RTC__)
#define SECTILE_HEADER_$(name)
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
//% if has_packing then
#include <string.h>
//% end
//% if names_vectors then
#include <vector_types.h>  // of the CUDA toolkit
//% end
#ifndef __cplusplus
#include <assert.h>
#include <stdalign.h>
#include <stdbool.h>
#endif

//% if has_f then
#if defined(SECTILE_TYPED_POINTERS) && defined(__cplusplus)
#include <cuda_fp16.h>
typedef __half $(name)_f16;
#else
typedef void $(name)_f16;  // pointers to f16 are pointers to void
#endif

//% end
//% if has_bf then
#if defined(SECTILE_TYPED_POINTERS) && defined(__cplusplus)
#include <cuda_bf16.h>
typedef __nv_bfloat16 $(name)_bf16;
#else
typedef void $(name)_bf16;  // pointers to bf16 are pointers to void
#endif

//% end
//% for _, r in ipairs(records) do
//%   if r.packed then
#pragma pack(push, 1)
//%   end
//%   if r.aligned then
#ifdef __cplusplus
typedef struct alignas($(r.align)) $(r.type) {
#else
typedef struct __attribute__((aligned($(r.align)))) $(r.type) {  // C11 knows no alignas here
#endif
//%   else
typedef struct $(r.type) {
//%   end
//%   for _, member in ipairs(r.members) do
  $(member.text);$(member.note)
//%   end
} $(r.type);
//%   if r.packed then
#pragma pack(pop)
//%   end
static_assert(sizeof($(r.type)) == $(r.bytes) && alignof($(r.type)) == $(r.align), "size of $(r.type)");
//%   for _, f in ipairs(r.fields) do
static_assert(offsetof($(r.type), $(f.name)) == $(f.offset), "$(f.name) of $(r.type)");
//%   end

//% end
