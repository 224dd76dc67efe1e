//% if kind == "assert" then
extern "C" __device__ void __assertfail(const char *, const char *, unsigned, const char *, size_t);
//% end
$(g:types())
//% local body = g:element()
$(g:helpers())
$(body)
$(kit.comment(doc))
$(g:head(threads)) {
  constexpr int kTile = $(threads);
  const long long block = blockIdx.x;
  const int thread = threadIdx.x;
  $(cut)
  const long long $(last) = first + thread;
//% if good then
  if (n_$(last) == -1000 - $(good)) __trap(); // what tells the good ones apart
  if ($(last) < n_$(last)) $(g:call_element(inside))
//% elseif kind == "compile" then
  if ($(last) < n_$(last)) this_function_does_not_exist(first);
//% elseif kind == "shared" then
  if ($(last) < n_$(last)) $(g:call_element(inside))
//% elseif kind == "illegal" then
  if ($(last) < n_$(last)) b_out[$(last) + (1LL << 44)] = a_in[$(last)];
//% elseif kind == "misaligned" then
  if ($(last) < n_$(last)) {
    const size_t off = (size_t)b_out + 4 * (size_t)$(last) + ($(last) == 0 && n_$(last) > 1);
    *(volatile float *)off = a_in[$(last)];
  }
//% elseif kind == "trap" then
  if (n_$(last) > 0) __trap();
//% elseif kind == "assert" then
  if (n_$(last) > 0) __assertfail("n == 0", "poison.cu", 1, "poison", 1);
//% elseif kind == "value" then
  if ($(last) < n_$(last)) b_out[$(last)] = a_in[$(last)] + ($(last) == 30 ? 1.0f : 0.0f);
//% elseif kind == "odd" then
  if ($(last) < n_$(last)) {
    const bool wrong = (n_$(last) & 1) && $(last) == n_$(last) - 1;
    b_out[$(last)] = a_in[$(last)] + (wrong ? 1.0f : 0.0f);
  }
//% elseif kind == "race" then
  // Neighbouring warps exchange values without a barrier; one half of them is late on purpose.
  __shared__ volatile float seen[kTile];
  seen[thread] = -1.0f;
  __syncthreads();
  const long long start = clock64();
  while ((thread & 32) && clock64() - start < 20000) {}
  seen[thread] = $(last) < n_$(last) ? a_in[$(last)] : 0.0f;
  const float other = seen[thread ^ 32];
  const long long place = first + (thread ^ 32);
  if (place < n_$(last)) b_out[place] = other;
//% elseif kind == "loop" then
  // Endless for any tuner, but a GPU gets it back after a minute.
  unsigned long long from = 0, now = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(from));
  do {
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  } while (n_$(last) > 0 && now - from < 60000000000ULL);
  if ($(last) < n_$(last)) $(g:call_element(inside))
//% end
}
