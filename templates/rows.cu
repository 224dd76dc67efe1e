$(g:types())
//% for _, step in ipairs(g.steps) do
$(kit.comment(step.doc))
$(g:compute(step))
//%   if step.definitions then
$(step.definitions)
//%   end
//% end
$(kit.comment(doc))
$(g:head(bounds, cluster)) {
  constexpr int kThreads = $(threads);
  constexpr int kLanes = $(lanes); // threads that have a $(line)
//% if vec > 1 then
  constexpr int kVec = $(vec); // $(vec_doc)
//% end
  constexpr int $(items_name) = $(items); // $(items_doc) that a thread has at once
  $(next_constant)
//% if cluster then
  constexpr int kBlocks = $(cluster); // of a cluster, which have a $(line) together
//% end
//% if columns then
  constexpr int kSide = $(block_threads) / kLanes; // threads side by side along $(last)
  const int lane = $(thread_number) / kSide;
  const long long $(index_name) = $(first_column);
//% elseif cluster then
  const int lane = blockIdx.x % kBlocks * kThreads + threadIdx.x;
  const long long $(index_name) = blockIdx.x / kBlocks;
//% elseif chosen then
  // lanes that have a row: a power of two, so many that each has work
  const int log_lanes = $(log_lanes);
  const int lanes = 1 << log_lanes;
  const int lane = threadIdx.x & (lanes - 1);
  const long long $(index_name) =
      blockIdx.x * (long long)(kThreads >> log_lanes) + (threadIdx.x >> log_lanes);
//% else
  constexpr int kRows = kThreads / kLanes; // rows of a block
  const int lane = threadIdx.x % kLanes;
  const long long $(index_name) = blockIdx.x * (long long)kRows + threadIdx.x / kLanes;
//% end
  $(arrive)
  const bool $(exists) = $(index_name) < $(n_rows);
  $(kept_indices)
  $(range)
  const $(place_type) n_elements = $(n_elements);
//% if odd then
  // vectors begin at an aligned element, so the first one may hold the end of another row
  const int shift = $(shift);
  const $(place_type) n_span = n_elements + shift;
//% end
  $(declare(steady, " = {}"))
//% if #steady > 0 then
  if ($(steady_guard)) {
    $(load(steady))
  }
//% end
  $(lane_count)
//% if numbers then
  // as many as a thread needs, known when the kernel is compiled
  const int n_items = $(n_items);
  with_number<$(numbers)>(n_items, [&](auto number) {
//%   inset(2)
  constexpr int kItems = number.value;
//% end
//% if #held > 0 then
  $(kit.comment(held_doc))
  $(declare(held, " = {}"))
  if (n_elements > 0) {
#pragma unroll
    for (int item = 0; item < kItems; item++) {
      $(held_skip)
      const $(place_type) $(place) = $(held_text);
      $(indices)
      $(load_there(held))
    }
  }
//% end
//% if cluster then
  cluster_wait(); // all its blocks run
//% end
//% for _, step in ipairs(g.steps) do

//%   if step.mine and not columns then
  partial$(step.suffix) $(step.mine) = identity$(step.suffix)();
//%   elseif step.mine and vec == 1 then
  partial$(step.suffix) $(step.mine)[1] = {identity$(step.suffix)()};
//%   elseif step.mine then
  partial$(step.suffix) $(step.mine)[kVec];
#pragma unroll
  for (int e = 0; e < kVec; e++)
    $(step.mine)[e] = identity$(step.suffix)();
//%   end
//%   if step.per_row then
  $(step.row_values)
  if ($(exists)) {
    $(declare(step.given))
    $(step.compute())
//%     if #step.outputs > 0 then
    if (lane == 0) {
      $(store(step))
    }
//%     end
  }
//%   else
  $(step.anew)
//%     for _, part in ipairs(parts(step)) do
  $(part.loop){
//%     if #part.apart > 0 then
    $(part.declared)
#pragma unroll
    for (int item = 0; item < $(part.items); item++) {
      const $(place_type) $(place) = $(part.apart_place);
      $(part.skip)
      $(indices)
      $(load_there(part.apart))
    }
//%     end
#pragma unroll
    for (int item = 0; item < $(part.items); item++) {
      const $(place_type) $(place) = $(part.place);
//%     if step.mine then
      $(part.skip)
      // computed without a branch, so that later steps find what they have in common
//%       if each_apart then
      $(indices)
      $(declare(step.inline, " = {}"))
      $(load_inside(step.inline))
      $(each_element) {
        const bool inside = $(is_inside);
        const partial$(step.suffix) before = $(step.mine .. of);
        $(step.compute())
        $(step.mine .. of) = inside ? $(step.mine .. of) : before;
      }
//%       else
      const bool inside = $(place) < n_elements;
      const partial$(step.suffix) before = $(step.mine .. of);
      $(indices)
      $(declare(step.inline, " = {}"))
      $(load_inside(step.inline))
      $(each_element) {
        $(step.compute())
      }
      $(step.mine .. of) = inside ? $(step.mine .. of) : before;
//%       end
//%     else
      if ($(part.inside)) {
        $(indices)
        $(declare(step.inline, odd and " = {}"))
        $(load(step.inline))
        $(declare(step.given))
        $(each_element) {
          $(step.compute())
        }
        $(store(step))
      }
//%     end
    }
  }
//%     end
//%   end
//%   if step.mine and columns then
  $(combine)($(step.mine));
//%   elseif step.mine then
  $(step.mine) = $(combine)($(step.mine)$(combine_lanes));
//%   end
//% end
//% if numbers then
//%   inset(-2)
  });
//% end
}
