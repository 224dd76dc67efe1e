$(g:types())
$(reduce.types(p))
//% local element = reduce.element(p)
$(g:helpers())
$(element)
$(kit.comment(doc))
$(g:head(bounds)) {
  constexpr int kThreads = $(threads), kItems = $(items), kVec = $(vec);
  // elements of $(last) at once: by $(team_size == threads and "a block" or team_size .. " lanes")
  constexpr int kTile = $(team_size == threads and "kThreads" or team_size) * kItems * kVec;
//% if scope == "block" then
  __shared__ partial from_warps[kThreads / 32];
//% end
  const long long block = blockIdx.x;
  const int thread = threadIdx.x;
  $(k.prologue)
  $(cut)
  partial mine = nothing();
  $(reduce.walk_row(p))
  $(scope == "warp" and reduce.finish_warp(p) or reduce.finish_block(p))
}
