// ---- Arrays of the host: chunks of $(host.extent), each in a slot and on one of several streams.

#include <stdlib.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif
#if defined(__cplusplus) && defined(__cpp_exceptions)
#include <system_error>
#include <thread>
#endif

enum {
  $(detail)_n_arrays = $(#operands),
  $(detail)_before = $(host.before),  // elements that a chunk needs in addition to its own
  $(detail)_after = $(host.after)
};
static const bool $(detail)_is_in[] = {$(join(host.is_in))};  // arrays that are copied to the device
static const bool $(detail)_is_out[] = {$(join(host.is_out))};  // and back
//% if host.shared then
// Outputs that chunks go onto, one after the other.
static const bool $(detail)_is_shared[] = {$(join(host.shared))};
//% end
//% if host.direct then
// Arrays of the device that kernels use where they are.
static const bool $(detail)_direct[] = {$(join(host.direct))};
//% end
//% if host.start then
// What each byte of an array is set to before points fall on it; -1: nothing.
static const int $(detail)_start_byte[] = {$(join(host.start))};
//% end

// Counted by the threads of a call.
#if defined(__cplusplus)
typedef std::atomic<long long> $(detail)_counter;
#else
typedef long long $(detail)_counter;
#endif
//% if host.shared then

static inline void $(detail)_yield(void) {
#if defined(__cplusplus) && defined(__cpp_exceptions)
  std::this_thread::yield();
#endif
}
//% end

// What a step along $(host.extent) is in each array, in bytes; 0: chunks need all of it.
static inline void $(detail)_steps(long long *out, const $(name)_args *c) {
//% if #host.steps_over > 0 then
  const long long $(join(host.steps_over, "n_%s = c->n_%s"));
//% else
  (void)c;
//% end
  const long long steps[] = {$(join(host.steps))};
  memcpy(out, steps, sizeof steps);
}

// The bytes of each array of a call with so many of $(host.extent).
static inline void $(detail)_sizes(long long *out, const $(name)_args *c, long long chunk) {
  $(name)_args of = *c;
  of.$(host.extent) = chunk;
  const long long $(join(host.bytes_over, "n_%s = of.n_%s"));
  const long long bytes[] = {$(join(host.bytes))};
  memcpy(out, bytes, sizeof bytes);
}

static inline void $(detail)_arrays(const char **out, const $(name)_args *c) {
  const char *const arrays[] = {$(join(host.arrays, "(const char *)c->%s"))};
  memcpy(out, arrays, sizeof arrays);
}

static inline void $(detail)_set_arrays($(name)_args *c, void *const *arrays) {
//% for k, o in ipairs(operands) do
  c->$(o.name) = ($(o.pointer))arrays[$(k - 1)];
//% end
}

static inline bool $(detail)_is_pageable(const void *p) {
  struct cudaPointerAttributes a;
  const cudaError_t error = cudaPointerGetAttributes(&a, p);
  if (error != cudaSuccess) cudaGetLastError();  // of older runtimes: memory that it does not know
  return error != cudaSuccess || a.type == cudaMemoryTypeUnregistered;
}

