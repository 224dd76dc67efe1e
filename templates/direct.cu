$(g:types())
//% if #g.steps == 0 then
// What is computed for one element.
$(g:compute())
//% end
//% for _, step in ipairs(g.steps) do
$(kit.comment(step.doc))
$(g:compute(step))
//% end
$(definitions)
$(kit.comment(doc))
$(g:head(threads)) {
  constexpr int kThreads = $(threads);
//% if #g.steps > 0 then
  constexpr int kLanes = $(lanes); // rows of a block, side by side
  const int lane = threadIdx.x % kLanes, group = threadIdx.x / kLanes;
  const long long row_index = blockIdx.x * (long long)kLanes + lane;
  $(unravel(kept, "row_index"))
  $(range("row_index < " .. n_kept))
  const long long n_elements = row_index < $(n_kept) ? $(n_reduced) : 0;
  $(held_before)
//%   for _, step in ipairs(g.steps) do

//%     if step.reduces then
  partial$(step.suffix) $(step.mine) = identity$(step.suffix)();
//%     end
//%     if step.per_row then
  $(declare_row(step))
  if (row_index < $(n_kept)) {
//%     else
  for (long long place = group; place < n_elements; place += kThreads / kLanes) {
    $(element("place"))
//%     end
    $(declare_values(step))
    $(call(step))
//%     if step.reduces then
    $(step.mine) = combine($(step.mine), {$(step.partial())});
//%     elseif not step.per_row then
    $(stores(step))
//%     elseif #step.outputs > 0 then
    if (group == 0) {
      $(stores(step))
    }
//%     end
  }
//%     if step.reduces then
  $(step.mine) = combine_block<kThreads, kLanes>($(step.mine));
//%     end
//%   end
//% elseif g.k.scan then
  constexpr int kLanes = $(lanes); // rows of a block, side by side
  constexpr int kChunk = kThreads / kLanes;
  const int lane = threadIdx.x % kLanes, group = threadIdx.x / kLanes;
  const long long row_index = blockIdx.x * (long long)kLanes + lane;
  $(unravel(kept, "row_index"))
  partial before = identity(); // what the chunks before come to
  for (long long first = 0; first < $(n_reduced); first += kChunk) {
    const long long $(along) = first + group;
    const bool inside = row_index < $(n_kept) && $(along) < $(n_reduced);
    partial mine = identity(), all;
    if (inside) {
      $(declare_values())
      $(call())
      mine = $(partial());
    }
    const partial earlier = combine(before, scan_block<kThreads, kLanes>(mine, identity(), all));
    if (inside) {
      const partial up_to = combine(earlier, mine);
      $(store_results("earlier", "up_to"))
    }
    before = combine(before, all);
    __syncthreads();
  }
//% elseif not g.k.reduces and not takes then
  const long long thread = blockIdx.x * (long long)kThreads + threadIdx.x;
  if (thread >= $(count)) return;
  $(unravel(counted, "thread"))
  $(find_row)
  $(declare_values())
  $(call())
  $(stores())
//% else
  constexpr int kLanes = $(lanes); // outputs of a block, side by side
  constexpr int kGroups = kThreads / kLanes;
  const int lane = threadIdx.x % kLanes, group = threadIdx.x / kLanes;
//%   if shared then
  // where outputs are few, several blocks share them: each takes a part of what is reduced
  const long long n_kept = $(n_kept);
  const unsigned int tiles = (unsigned int)((n_kept + kLanes - 1) / kLanes);
  const unsigned int shares = gridDim.x / tiles, share = blockIdx.x / tiles;
  const unsigned int tile = blockIdx.x % tiles;
  const long long output = tile * (long long)kLanes + lane;
//%   else
  const long long output = blockIdx.x * (long long)kLanes + lane;
//%   end
  $(unravel(kept, "output"))
  $(range("output < " .. n_kept))
  partial mine = identity();
#pragma unroll 8 // several loads at once
  for (long long place = $(first_place); output < $(n_kept) && place < $(n_reduced);
       place += $(step)) {
    $(element("place"))
    $(declare_values())
    $(call())
//%   if takes then
    if ($(takes()))
      mine = combine(mine, {$(partial())});
//%   else
    mine = combine(mine, {$(partial())});
//%   end
  }
//%   if lanes < threads then
  mine = combine_block<kThreads, kLanes>(mine);
//%   end
//%   if shared then
  if (shares > 1) {
    constexpr int kCounters = 65536; // in front of the workspace
    partial *const partials = reinterpret_cast<partial *>(workspace + kCounters);
    if (threadIdx.x < kLanes)
      partials[blockIdx.x * kLanes + lane] = mine;
    if (!is_last_block(&workspace[tile], shares)) return;
    // the last block combines what all have left
    mine = identity();
    for (unsigned int other = group; other < shares; other += kGroups)
      mine = combine(mine, load_from_l2(&partials[(other * tiles + tile) * kLanes + lane]));
    mine = combine_block<kThreads, kLanes>(mine);
  }
//%   end
  if (threadIdx.x < kLanes && output < $(n_kept)) {
    $(store_partial("mine"))
  }
//% end
}
