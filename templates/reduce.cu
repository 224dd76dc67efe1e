$(g:types())
// What is computed for one element.
$(g:compute())

$(definitions)
$(kit.comment(doc))
$(g:head(threads)) {
  constexpr int kThreads = $(threads);
  constexpr int kLanes = $(lanes); // $(lanes_doc)
  constexpr int kGroups = kThreads / kLanes; // $(groups_doc)
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
  constexpr int kKept = $(kept_constant); // outputs that the block owns
  constexpr int kStep = $(step_constant); // elements of each that it takes at once
//% if in_shared then
  constexpr int kParts = $(parts_constant); // of an output, in shared memory
  __shared__ __align__(16) partial parts[kParts][kKept];
//% end
  const int lane = threadIdx.x % kLanes, group = threadIdx.x / kLanes;
  const long long n_kept = $(n_kept), n_reduced = $(n_reduced);
//% if shared then
  // where outputs are few, several blocks share them: each takes a part of what is reduced
  const unsigned int tiles = (unsigned int)((n_kept + kKept - 1) / kKept);
  const unsigned int shares = gridDim.x / tiles, share = blockIdx.x / tiles;
  const long long tile = blockIdx.x % tiles;
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
  // what lies before the first and after the last whole vector of a row
  const long long before = $(before);
  const long long stop = before + (n_reduced - before) / kVec * kVec;
  for (long long edge = $(edge_first); edge < before + n_reduced - stop; edge += $(edge_step)) {
    const long long $(reduced_name) = edge < before ? edge : stop + edge - before;
    $(add_single())
  }
//% end
  // One step: all loads before the first use. Only the last one may need guards.
  const auto add_step = [&](long long first, bool guarded) {
    $(kit.each(moving, "{type} {name}{shape} = {};"))
    $(each_output)
#pragma unroll
    for (int item = 0; item < kItems; item++) {
      const long long $(reduced_name) = $(reduced_text);
      if (!guarded || $(reduced_name) < $(loop_last)) {
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
      const long long $(reduced_name) = $(reduced_text);
      if (!guarded || $(reduced_name) < $(loop_last)) {
//% if outputs > 1 and names_kept then
        $(place_kept())
//% end
//% if names_reduced then
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
  long long first = $(loop_first);
  for (; first + kStep <= $(loop_last); first += $(loop_step)) add_step(first, false);
  if (first < $(loop_last)) add_step(first, true);

//% if not in_shared then
//%   if alone then
  // every thread has outputs of its own
//%   else
  // $(lanes) lanes have each output
  combine_across<1, kLanes>(mine);
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
