$(g:types())
// The body for one element of the index space.
$(g:compute())
$(definitions)
$(kit.comment(doc))
$(g:head(threads)) {
  constexpr int kThreads = $(threads);
//% if not g.k.reduces then
  const long long thread = blockIdx.x * (long long)kThreads + threadIdx.x;
  if (thread >= $(count)) return;
  $(unravel(dims, "thread"))
  $(declare_values())
  $(call())
  $(stores())
//% else
  constexpr int kLanes = $(lanes); // outputs of a block, side by side
  __shared__ __align__(16) partial parts[kThreads];
  const int lane = threadIdx.x % kLanes, group = threadIdx.x / kLanes;
  const long long output = blockIdx.x * (long long)kLanes + lane;
  $(unravel(kept, "output"))
  partial mine = identity();
#pragma unroll 8 // one block may have everything to do: several loads at once
  for (long long place = group; output < $(n_kept) && place < $(n_reduced);
       place += kThreads / kLanes) {
    $(unravel(reduced, "place"))
    $(declare_values())
    $(call())
    mine = combine(mine, {$(partial())});
  }
  parts[threadIdx.x] = mine;
  for (int half = kThreads / 2; half >= kLanes; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half)
      parts[threadIdx.x] = combine(parts[threadIdx.x], parts[threadIdx.x + half]);
  }
  if (threadIdx.x < kLanes && output < $(n_kept)) {
    mine = parts[threadIdx.x];
    $(store_partial("mine"))
  }
//% end
}
