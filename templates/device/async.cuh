// The shared memory address as instructions expect it.
__device__ __forceinline__ unsigned int smem_address(const void *p) {
  return (unsigned int)__cvta_generic_to_shared(p);
}

// Asynchronous copy of kBytes (4, 8 or 16) from global to shared memory (sm_80).
template <int kBytes> __device__ __forceinline__ void async_copy(void *to, const void *from) {
  if (kBytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
                 ::"r"(smem_address(to)), "l"(from) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;"
                 ::"r"(smem_address(to)), "l"(from), "n"(kBytes) : "memory");
}

// Asynchronous copy of the first `bytes` of kBytes (4 or 16) from global to shared memory; the
// others become zero.
template <int kBytes = 16>
__device__ __forceinline__ void async_copy_some(void *to, const void *from, int bytes) {
  if (kBytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                 ::"r"(smem_address(to)), "l"(from), "r"(bytes) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;"
                 ::"r"(smem_address(to)), "l"(from), "n"(kBytes), "r"(bytes) : "memory");
}

// Word number `word` of a line of `count` elements from `start` on, asynchronously: the first word
// is the one that `start` is in. Of what lies from `end` on zeros.
template <class T>
__device__ __forceinline__ void async_copy_word(T *line, const T *start, int word, int count,
                                                const T *end) {
  constexpr int kWord = 4 / (int)sizeof(T);
  const int shift = (int)((size_t)start / sizeof(T) % kWord), at = word * kWord - shift;
  const int readable = (int)min((long long)(end - start), (long long)count + kWord);
  if (at < count)
    async_copy_some<4>(line + shift + at, start + at,
                       min(kWord, readable - at) * (int)sizeof(T));
}

// Closes a group of asynchronous copies.
__device__ __forceinline__ void async_commit() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}

// Waits until all but the last kGroups groups of this thread have completed.
template <int kGroups> __device__ __forceinline__ void async_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kGroups) : "memory");
}
