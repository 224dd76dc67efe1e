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
  constexpr int kItems = $(items); // $(items_doc) that a thread has at once
  $(next_constant)
//% if cluster then
  constexpr int kBlocks = $(cluster); // of a cluster, which have a $(line) together
//% end
//% if sequence then
  // Blocks share a $(line), and launches follow each other: the next one combines what the blocks
  // of one have found. Every other one goes backwards, from what the last one has left in L2.
  const bool is_back = pass % 2 == 1;
  const unsigned int block = is_back ? gridDim.x - 1 - blockIdx.x : blockIdx.x;
  const unsigned int shares = gridDim.x / (unsigned int)($(n_tiles)), share = block % shares;
  const unsigned int tile = block / shares;
  $(updates)
//% end
//% if columns then
  constexpr int kSide = $(block_threads) / kLanes; // threads side by side along $(last)
  $(columns_constant)
  const int lane = $(thread_number) / kSide;
  const long long $(index_name) = $(first_column);
//% elseif cluster then
  const int lane = blockIdx.x % kBlocks * kThreads + threadIdx.x;
  const long long $(index_name) = blockIdx.x / kBlocks;
//% elseif sequence then
  const int lane = threadIdx.x;
  const long long $(index_name) = tile;
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
  $(divisors)
//% if odd then
  // vectors begin at an aligned element, so the first one may hold the end of another row
  const int shift = $(shift);
  const $(place_type) n_span = n_elements + shift;
//% end
//% if sequence then
  // the blocks take chunks of it in turn
  constexpr int kChunk = kLanes * kItems$(along > 1 and " * kVec" or "");
  const unsigned int n_chunks = (unsigned int)(($(n_span) + kChunk - 1) / kChunk);
  const unsigned int n_own = share < n_chunks ? (n_chunks - share - 1) / shares + 1 : 0;
  const unsigned int chunk = is_back && n_own > 0 ? share + (n_own - 1) * shares : share;
  const long long from = kChunk * (long long)chunk;
  const long long by = (is_back ? -kChunk : kChunk) * (long long)shares;
//% end
  $(declare(steady, " = {}"))
//% if #steady > 0 then
  if ($(steady_guard)) {
    $(load(steady))
  }
//% end
  $(lane_count)
//% if numbers then
  // n_held: the vectors of the row that a thread has at most; a number where this is called
  const auto take_row = [&](int n_held) __attribute__((always_inline)) {
//%   inset(2)
//% end
//% if #held > 0 then
  $(kit.comment(held_doc))
//%   if in_shared then
  extern __shared__ __align__(16) unsigned char held[];
//%     for _, x in ipairs(held) do
  $(x.type) *const $(x.name) = reinterpret_cast<$(x.type) *>(held$(x.first_byte)) + threadIdx.x;
//%     end
//%   else
  $(declare(held, " = {}"))
//%   end
  if (n_elements > 0) {
$(unroll)
    for (int item = 0; item < $(n_held); item++) {
      $(held_skip)
      const $(place_type) $(place) = $(held_text);
      $(indices)
      $(load_there(held))
    }
//%   if in_shared then
  } else { // an empty row
    for (int item = 0; item < kItems; item++) {
      $(kit.each(held, "{at} = {};"))
    }
//%   end
  }
  $(copied)
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
    if ($(row_stored)lane == 0) {
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
$(unroll)
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
//%   if step.mine and sequence then
  partial$(step.suffix) *const $(step.left) =
      reinterpret_cast<partial$(step.suffix) *>(workspace + $(step.left_at)) + $(left_place);
  if (pass > $(step.pass)) // what all its blocks have found
    for (unsigned int other = lane; other < shares; other += kLanes) {
      $(step.gather)
    }
//%   end
//%   if step.mine and columns then
  $(combine)($(step.mine));
//%   elseif step.mine then
  $(step.mine) = $(combine)($(step.mine)$(combine_lanes));
//%   end
//%   if step.mine and sequence then
  if (pass == $(step.pass) && lane == 0) {
    $(step.leave)
  }
//%   end
  $(step.done)
//% end
//% if numbers then inset(-2)
  };
  const int n_items = $(n_items);
  $(calls)
//% end
}
