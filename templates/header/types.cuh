#ifndef SECTILE_HEADER_$(name)
#define SECTILE_HEADER_$(name)
//% if has_packing then
#ifdef __CUDACC__
#include <cuda_runtime.h>

#include <atomic>
#endif
#include <stddef.h>
#include <stdint.h>
#include <string.h>
//%   if names_vectors then
#include <vector_types.h>  // of the CUDA toolkit
//%   end
//% else
#include <cuda_runtime.h>
#include <string.h>

#include <atomic>
//% end

//% for _, r in ipairs(records) do
//%   if r.packed then
#pragma pack(push, 1)
//%   end
//%   if r.alignas then
typedef struct alignas($(r.align)) $(r.type) {
//%   else
typedef struct $(r.type) {
//%   end
//%   for _, member in ipairs(r.members) do
  $(member);
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
