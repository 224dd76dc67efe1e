$(g:types())
//% if #g.steps == 0 then
// Computes one element.
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
//%   if g.k.nested then
  constexpr int kGroups = $(group_constant); // elements of a row at once
  const int lane = threadIdx.x % kLanes, group = threadIdx.x / (kThreads / kGroups);
//%   else
  const int lane = threadIdx.x % kLanes, group = threadIdx.x / kLanes;
//%   end
//%   if shared then
  // where rows are few, several blocks share them: each takes a part of their elements
  const unsigned int tiles = (unsigned int)(($(n_kept) + kLanes - 1) / kLanes);
  const unsigned int shares = gridDim.x / tiles, share = blockIdx.x / tiles;
  const unsigned int tile = blockIdx.x % tiles;
  const long long row_index = tile * (long long)kLanes + lane;
//%   else
  const long long row_index = blockIdx.x * (long long)kLanes + lane;
//%   end
  $(unravel(kept, "row_index"))
  $(range("row_index < " .. n_kept))
//%   if not g.k.nested then
  const long long n_elements = row_index < $(n_kept) ? $(n_reduced) : 0;
//%   end
  $(held_before)
//%   for _, step in ipairs(emitted) do

//%     if step.reduces then
  partial$(step.suffix) $(step.mine) = identity$(step.suffix)();
//%       if run then
  partial$(step.suffix) $(step.run) = $(step.mine); // of the last $(run) elements or fewer
  int $(step.n_run) = 0;
//%       end
//%     end
//%     if step.per_row then
  $(declare_row(step))
  if (row_index < $(n_kept)) {
//%     else
  for (long long place = $(step.first); place < $(step.bound); place += $(step.stride)) {
    $(step.element("place"))
    $(step.inner())
//%     end
    $(declare_values(step))
    $(call(step))
//%     if step.reduces and is_wide then
    const partial$(step.suffix) one = {$(step.partial())};
    if (threadIdx.x % 32 == 0)
      $(step.run) = combine($(step.run), one);
//%     elseif step.reduces then
    $(step.run) = combine($(step.run), {$(step.partial())});
//%     end
//%     if step.reduces then
//%       if run then
    if (++$(step.n_run) == $(run)) { // a sum of many loses no digits to the one so far
      $(step.mine) = combine($(step.mine), $(step.run));
      $(step.run) = identity$(step.suffix)();
      $(step.n_run) = 0;
    }
//%       end
//%     elseif not step.per_row and not is_wide then
    $(stores(step))
//%     elseif #step.outputs > 0 then
    if ($(step.per_row and is_first or "threadIdx.x % 32 == 0")) {
      $(stores(step))
    }
//%     end
  }
//%     if step.reduces then
//%       if run then
  $(step.mine) = combine($(step.mine), $(step.run));
//%       end
  $(step.mine) = combine_block<kThreads, kLanes>($(step.mine));
//%     end
//%     if step.is_shared then
  if (shares > 1) {
    constexpr int kCounters = 65536; // in front of the workspace
    partial$(step.suffix) *const partials =
        reinterpret_cast<partial$(step.suffix) *>(workspace + kCounters);
    if (threadIdx.x < kLanes)
      partials[blockIdx.x * kLanes + lane] = $(step.mine);
    if (!is_last_block(&workspace[tile], shares)) return;
    // the last block combines what all have left
    $(step.mine) = identity$(step.suffix)();
    for (unsigned int other = threadIdx.x / kLanes; other < shares; other += kThreads / kLanes)
      $(step.mine) = combine(
          $(step.mine), load_from_l2(&partials[(other * tiles + tile) * kLanes + lane]));
    $(step.mine) = combine_block<kThreads, kLanes>($(step.mine));
  }
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
