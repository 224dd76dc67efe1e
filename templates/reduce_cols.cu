$(g:types())
$(reduce.types(p))
$(g:helpers())
$(kit.comment(doc))
$(g:head(bounds)) {
  constexpr int kThreads = $(threads), kWarps = kThreads / 32, kItems = $(items), kVec = $(vec);
  $(own_columns)
  constexpr int kRows = kWarps * kItems; // of what is reduced, that it takes at once
  __shared__ partial from_warps[kWarps][kVec][$(part_slots)]; // padded: no conflicts on either side
  const long long block = blockIdx.x;
  const int thread = threadIdx.x;
  const int warp = thread / 32, lane = thread % 32;
  $(k.prologue)
  $(cut)
  partial mine[kVec];
#pragma unroll
  for (int part = 0; part < kVec; part++) mine[part] = nothing();
  if (first + lane * kVec$(p.off and " - shift" or "") < n_$(last)) {
    $(columns.walk(p))
  }
  $(columns.combine_warps(p))
}
