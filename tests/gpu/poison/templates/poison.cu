//% if kind == "assert" then
extern "C" __device__ void __assertfail(const char *, const char *, unsigned, const char *, size_t);
//% end
$(g:types())
$(g:compute())
$(kit.comment(doc))
$(g:head(threads)) {
  constexpr int kThreads = $(threads);
  const long long first = blockIdx.x * (long long)kThreads, i = first + threadIdx.x;
//% if good then
  if ($(count) == -1000 - $(good)) __trap(); // what tells the good ones apart
  if (i < $(count)) $(copy)
//% elseif kind == "compile" then
  if (i < $(count)) this_function_does_not_exist(first);
//% elseif kind == "shared" then
  if (i < $(count)) $(copy)
//% elseif kind == "illegal" then
  if (i < $(count)) $(to)[i + (1LL << 44)] = $(from)[i];
//% elseif kind == "misaligned" then
  if (i < $(count)) {
    const size_t off = (size_t)$(to) + 4 * (size_t)i + (i == 0 && $(count) > 1);
    *(volatile float *)off = $(from)[i];
  }
//% elseif kind == "trap" then
  if ($(count) > 0) __trap();
//% elseif kind == "assert" then
  if ($(count) > 0) __assertfail("n == 0", "poison.cu", 1, "poison", 1);
//% elseif kind == "value" then
  if (i < $(count)) $(to)[i] = $(from)[i] + (i == 30 ? 1.0f : 0.0f);
//% elseif kind == "odd" then
  if (i < $(count)) {
    const bool wrong = ($(count) & 1) && i == $(count) - 1;
    $(to)[i] = $(from)[i] + (wrong ? 1.0f : 0.0f);
  }
//% elseif kind == "race" then
  // Neighbouring warps exchange values without a barrier; one half of them is late on purpose.
  __shared__ volatile float seen[kThreads];
  seen[threadIdx.x] = -1.0f;
  __syncthreads();
  const long long start = clock64();
  while ((threadIdx.x & 32) && clock64() - start < 20000) {}
  seen[threadIdx.x] = i < $(count) ? $(from)[i] : 0.0f;
  const float other = seen[threadIdx.x ^ 32];
  const long long place = first + (threadIdx.x ^ 32);
  if (place < $(count)) $(to)[place] = other;
//% elseif kind == "loop" then
  // Endless for any tuner, but a GPU gets it back after a minute.
  unsigned long long from = 0, now = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(from));
  do {
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  } while ($(count) > 0 && now - from < 60000000000ULL);
  if (i < $(count)) $(copy)
//% end
}
