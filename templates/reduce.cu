$(g:types())
// Computes one element.
$(g:compute())

$(definitions)
$(kit.comment(doc))
$(g:head(threads)) {
  constexpr int kThreads = $(threads);
//% if not chosen then
  constexpr int kLanes = $(lanes); // $(lanes_doc)
  constexpr int kGroups = kThreads / kLanes; // $(groups_doc)
//% end
//% if vec > 1 then
  constexpr int kVec = $(vec); // elements of a vector: neighbours along $(last)
//% end
  constexpr int kItems = $(items); // loads in flight along what is reduced
//% if outputs > 1 then
  constexpr int kOutputs = $(outputs); // $(outputs_doc) that a thread has
//% end
//% if shared then
  constexpr int kCounters = 65536; // in front of the workspace
//% end
//% if chosen then
  // lanes that share an output: a power of two, so many that each has work
  const int log_lanes = $(log_lanes);
  const int lanes = 1 << log_lanes, n_groups = kThreads >> log_lanes;
  const int n_step = $(step_constant); // elements that they take at once
  const int lane = threadIdx.x & (lanes - 1), group = threadIdx.x >> log_lanes;
//% else
//%   if not rows then
  constexpr int kKept = $(kept_constant); // outputs that the block owns
//%   end
  constexpr int kStep = $(step_constant); // elements of each that it takes at once
//%   if in_shared then
  constexpr int kParts = $(parts_constant); // of an output, in shared memory
  __shared__ __align__(16) partial parts[kParts][kKept];
//%   end
  const int lane = threadIdx.x % kLanes, group = threadIdx.x / kLanes;
//% end
  const long long n_kept = $(n_kept);
  const $(number) n_reduced = $(n_reduced);
//% if shared then
  // where outputs are few, several blocks share them: each takes a part of what is reduced
//%   if chosen then
  unsigned int tiles = gridDim.x, shares = 1, share = 0, tile = blockIdx.x;
  if (lanes == kThreads) { // a tile is an output
    tiles = (unsigned int)n_kept;
    shares = gridDim.x / tiles, share = tile / tiles, tile = tile % tiles;
  }
//%   else
  const unsigned int tiles = (unsigned int)($(tiles_text));
  const unsigned int shares = gridDim.x / tiles, share = blockIdx.x / tiles;
  const long long tile = blockIdx.x % tiles;
//%   end
  partial *const partials = reinterpret_cast<partial *>(workspace + kCounters);
//% else
  const long long tile = blockIdx.x;
//% end
  $(kit.each(divisors, "const divisor {by} = divide_by((unsigned int)({extent}));"))
//% if outputs == 1 then
  $(place_kept())
//% end

  partial mine[$(mine_constant)];
#pragma unroll
  for (int m = 0; m < $(mine_constant); m++) mine[m] = identity();

  $(kit.each(steady, "{type} {name}{shape} = {};"))
//% if #steady > 0 then
  if (n_reduced > 0) { // the same for all that is reduced
//%   if outputs > 1 then
#pragma unroll
    for (int output = 0; output < kOutputs; output++) {
      $(place_kept())
      $(load(steady))
    }
//%   else
    $(load(steady))
//%   end
  }
//% end
//% if odd then
  // elements before the first and after the last whole vector of a row are in flight, too
  constexpr int kEdges = $(edges_constant); // elements of it that a lane has
  const $(number) before = min(n_reduced, ($(number))$(before));
  const $(number) stop = before + (n_reduced - before) / kVec * kVec;
  const int n_edge = $(edges_mine)(int)(before + n_reduced - stop)$(edges_else);
  $(kit.each(edges, "{element} {edge}[kEdges] = {};"))
#pragma unroll
  for (int k = 0; k < kEdges; k++) {
    const int edge = k * $(lanes_text) + lane;
    if (edge < n_edge) {
      const $(number) $(reduced_name) = edge < before ? edge : stop + edge - before;
      $(load_edges())
    }
  }
//% end
  // One step: all loads before the first use. Only the last one may need guards.
  const auto add_step = [&]($(number) first, bool guarded) {
    const int left = (int)($(loop_last) - first); // of the last one
    $(kit.each(moving, "{type} {name}{shape} = {};"))
    $(each_output)
#pragma unroll
    for (int item = 0; item < kItems; item++) {
      const int place = $(place_text);
      $(skip)
      if (!guarded || place < left) {
        const $(number) $(reduced_name) = first + place;
//% if outputs > 1 then
        $(place_kept())
//% end
        $(place_reduced())
        $(load(moving))
      }
    }
    $(each_output)
#pragma unroll
    for (int item = 0; item < kItems; item++) {
      const int place = $(place_text);
      $(skip)
      if (!guarded || place < left) {
//% if outputs > 1 and names_kept then
        $(place_kept())
//% end
//% if names_reduced then
        const $(number) $(reduced_name) = first + place;
        $(place_reduced())
//% end
//% if vec > 1 then
#pragma unroll
        for (int e = 0; e < kVec; e++) {
          $(add_value())
        }
//% else
        $(add_value())
//% end
      }
    }
  };
  $(number) first = $(loop_first);
  for (; first + $(step) <= $(loop_last); first += $(loop_step)) add_step(first, false);
  if (first < $(loop_last)) add_step(first, true);
//% if odd then
#pragma unroll
  for (int k = 0; k < kEdges; k++) {
    const int edge = k * $(lanes_text) + lane;
    if (edge < n_edge) {
//%   if names_reduced then
      const $(number) $(reduced_name) = edge < before ? edge : stop + edge - before;
//%   end
      $(add_edge())
    }
  }
//% end

//% if not in_shared then
//%   if alone then
  // every thread has outputs of its own
//%   else
  $(combine)
//%   end
//%   if shared then
  if (shares > 1) { // blocks that have an output each
    if (threadIdx.x == 0) partials[blockIdx.x] = mine[0];
    if (!is_last_block(&workspace[tile], shares)) return;
    // the last block combines what all have left
    mine[0] = identity();
#pragma unroll 4
    for (int other = threadIdx.x; other < shares; other += kThreads)
      mine[0] = combine(mine[0], load_from_l2(&partials[other * tiles + tile]));
    $(combine)
  }
//%   end
//%   if outputs > 1 then
#pragma unroll
  for (int output = 0; output < kOutputs; output++) {
    if ($(is_storing)$(kept_text) < n_kept) {
      $(place_kept())
      $(store_own())
    }
  }
//%   else
  if ($(is_storing)$(kept_text) < n_kept) {
    $(store_own())
  }
//%   end
//% else
  // brings what the threads have to shared memory
  const auto meet = [&] {
//%   if lanes_first then
    combine_across<$(lanes_first), 32>(mine); // lanes of a warp that have the same outputs
//%   end
//%   if holds_part then
    if ($(holds_part))
//%   end
#pragma unroll
      for (int m = 0; m < $(mine_constant); m++) parts[$(part_text)][$(index_text)] = mine[m];
    __syncthreads();
  };
  // what it comes to, for one of the block's outputs
  const auto all_of = [&](int index) -> partial {
    partial all = parts[0][index];
#pragma unroll 8
    for (int part = 1; part < kParts; part++) all = combine(all, parts[part][index]);
    return all;
  };
//%   if shared then
  if (shares > 1) {
    meet();
    for (int index = threadIdx.x; index < kKept; index += kThreads)
      partials[blockIdx.x * kKept + index] = all_of(index);
    if (!is_last_block(&workspace[tile], shares)) return;
    // the last block combines what all have left
#pragma unroll
    for (int m = 0; m < $(mine_constant); m++) mine[m] = identity();
#pragma unroll 4
    for (int other = $(member); other < shares; other += $(members)) {
      const partial *const left = &partials[(other * tiles + tile) * kKept];
#pragma unroll
      for (int m = 0; m < $(mine_constant); m++)
        mine[m] = combine(mine[m], load_from_l2(&left[$(index_text)]));
    }
  }
//%   end
  meet();
  for (int index = threadIdx.x; index < kKept; index += kThreads) {
    const partial all = all_of(index);
    const long long kept = tile * (long long)kKept + index;
    if (kept < n_kept) {
      $(place_kept("kept"))
      $(store("all"))
    }
  }
//% end
}
