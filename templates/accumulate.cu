$(g:types())
// Computes one point.
$(g:compute())
$(kit.comment(doc))
$(g:head(threads)) {
  constexpr int kThreads = $(threads);
  constexpr int kVec = $(vec); // points of a vector
//% if rows then
  constexpr int kWide = $(wide); // of them that one operation adds to a row
//% end
  constexpr int kItems = $(items); // vectors of a thread that are loaded at once
  $(kit.each(held, "constexpr int {span} = {n_span}; // elements of {name} in a block"))
//% if packed then
  constexpr int $(slots[1].words) = ($(slots[1].span) + 1) / 2; // that have them
//% end
//% if ordered then
  constexpr int kReplicas = $(replicas); // of each, one for each warp
//% elseif replicas > 1 then
  constexpr int kReplicas = $(replicas); // of each, side by side: lanes have banks of their own
//% end
  $(parts > 1 and "constexpr int kParts = " .. parts .. "; // of the output" or "")
//% if runs or ordered then
  constexpr $(run_type) kNone = ~($(run_type))0; // no element's number
//% end

  // What a thread has of a tile.
  struct points {
    $(kit.each(streams, "{type} {name}[kItems];"))
  };
  constexpr long long kTile = kThreads * kItems; // vectors

//% if is_private then
  extern __shared__ __align__(16) unsigned char shared[];
//%   for _, slot in ipairs(slots) do
  $(slot.held_type) *const $(slot.held) =
      reinterpret_cast<$(slot.held_type) *>(shared$(slot.offset));
//%   end
//%   if ordered then
  const int replica = threadIdx.x / 32;
//%     for _, slot in ipairs(slots) do
  $(slot.type) *const $(slot.left) =
      reinterpret_cast<$(slot.type) *>(workspace + $(slot.left_at // 4));
//%     end
//%   elseif replicas > 1 then
  const int replica = threadIdx.x % kReplicas;
//%   end
//%   if parts > 1 then
  unsigned int part = 0; // of the output, and where it begins
  $(kit.each(outputs, "unsigned int {low} = 0;"))
//%   end
//% end
//% if runs then
  // points that follow each other on one element
  $(run_type) run_at = kNone;
//%   for _, slot in ipairs(slots) do
  $(slot.type) $(slot.run) = $(slot.identity);
//%   end
//% end

  // Loads the thread's vectors of the tile that begins at vector `first`. whole: all are there.
  const auto load_points = [&](bool whole, long long first, points &got) {
#pragma unroll
    for (int item = 0; item < kItems; item++) {
      const long long vector = first + item * kThreads + threadIdx.x;
      if (whole || vector < $(vectors)) {
        $(unravel("vector"))
        const long long left = $(n_last) - $(last);
        $(load())
      }
    }
  };

//% if packed then
  // Counts points of element `at`. What carries out of a counter goes to the output at once; that
  // of the lower half goes through the upper one, from which it is taken back.
  const auto count_points = [&](unsigned int at, unsigned int count) {
    const auto carry_to = [&](unsigned int at, int carry) {
      const long long element = $(parts > 1 and outputs[1].low .. " + " or "")at;
      $(carry("element"))
    };
//%   if runs then
    if (count > 0xffff) {
      carry_to(at, count >> 16);
      count &= 0xffff;
    }
//%   end
    unsigned int *const word = &$(slots[1].held)[$(word_at)];
    const unsigned int shift = at % 2 * 16;
    const unsigned int before = atomicAdd(word, count << shift);
    if ((before >> shift & 0xffff) + count <= 0xffff) return;
    carry_to(at, 1);
    if (shift > 0) return;
    if (before >> 16 == 0xffff)
      carry_to(at + 1, 1);
    if (atomicSub(word, 0x10000u) >> 16 == 0)
      carry_to(at + 1, -1);
  };

//% end
  // Combines those points with the elements that they fall on.
  const auto take_points = [&](bool whole, long long first, const points &got) {
#pragma unroll
    for (int item = 0; item < kItems; item++) {
      const long long vector = first + item * kThreads + threadIdx.x;
//% if ordered then
      $(unravel("vector"))
      const long long left = vector < $(vectors) ? $(n_last) - $(last) : 0;
#pragma unroll
      for (int e = 0; e < kVec; e++) {
        $(kit.each(outputs, "unsigned int {at} = kNone;"))
        $(kit.each(outputs, "{type} {value};"))
        if (whole || e < left) {
          $(point())
        }
        $(kit.concat(kit.map(outputs, take_turns)))
      }
//% else
      if (whole || vector < $(vectors)) {
        $(unravel("vector"))
        const long long left = $(n_last) - $(last);
//%   if rows then
        $(rows)
//%   end
#pragma unroll
        for (int e = 0; e < kVec; e++) {
          if (whole || e < left) {
            $(point())
          }
        }
      }
//% end
    }
  };

//% if not ahead then
  // Both, for the tile that begins at vector `first`.
  const auto take_tile = [&](long long first) {
    points got = {};
    if ($(whole("first"))) {
      load_points(true, first, got);
      take_points(true, first, got);
    } else {
      load_points(false, first, got);
      take_points(false, first, got);
    }
  };
//% end
//% if not is_private then
  take_tile(blockIdx.x * kTile);
//%   if runs then
  $(flush(outputs[1]))
//%   end
//% else
  // The block's share of the tiles: combined in shared memory, then merged into the output.
  const long long tiles = $(tiles);
  const auto take_share = [&](long long share, long long shares) {
//%   for _, slot in ipairs(slots) do
    for (int at = threadIdx.x; at < $(slot.words)$(copies); at += kThreads)
      $(slot.held)[at] = $(slot.identity);
//%   end
    __syncthreads();
//%   if ahead then
    // the next tile is in flight while this one is combined
    points got = {}, next = {};
    for (long long tile = share - shares; tile < tiles; tile += shares) {
      const long long first = tile * kTile, behind = (tile + shares) * kTile;
      if ($(whole("behind"))) {
        load_points(true, behind, next);
      } else if (tile + shares < tiles) {
        load_points(false, behind, next);
      }
      if (tile >= 0) {
        if ($(whole("first"))) {
          take_points(true, first, got);
        } else {
          take_points(false, first, got);
        }
      }
      got = next;
    }
//%   else
    for (long long tile = share; tile < tiles; tile += shares)
      take_tile(tile * kTile);
//%   end
//%   if runs then
    $(flush(outputs[1]))
    run_at = kNone;
//%   end
    __syncthreads();
//%   for _, out in ipairs(outputs) do
    for (unsigned int held_at = threadIdx.x; held_at < $(out.span); held_at += kThreads) {
      const long long at = $(parts > 1 and out.low .. " + " or "")held_at;
      if (at >= $(out.count)) break;
//%     for _, slot in ipairs(out.slots) do
//%       if ordered then
      $(slot.type) $(slot.sum) = $(slot.identity);
#pragma unroll
      for (int r = 0; r < kReplicas; r++) {
        const $(slot.type) one = $(held_value(slot, "r"));
        $(slot.sum) = $(combined(slot, slot.sum, "one"));
      }
      $(slot.left)[$(left_at(slot, "share"))] = $(slot.sum);
//%       elseif replicas > 1 then
      $(slot.type) $(slot.sum) = $(slot.identity);
#pragma unroll
      for (int r = 0; r < kReplicas; r++) { // each lane begins at another bank
        const int copy = (r + threadIdx.x) % kReplicas;
        const $(slot.type) one = $(held_value(slot, "copy"));
        $(slot.sum) = $(combined(slot, slot.sum, "one"));
      }
//%       else
      const $(slot.type) $(slot.sum) = $(held_value(slot));
//%       end
//%       if not ordered then
      if ($(slot.sum) != $(slot.identity)) {
        $(merge(slot))
      }
//%       end
//%     end
    }
//%   end
//%   if ordered then
    // the last block of those that have the same elements adds up what all have left
    if (is_last_block(&workspace[$(parts > 1 and "part" or "0")], shares)) {
//%     for _, out in ipairs(outputs) do
      for (unsigned int held_at = threadIdx.x; held_at < $(out.span); held_at += kThreads) {
        const long long at = $(parts > 1 and out.low .. " + " or "")held_at;
        if (at >= $(out.count)) break;
//%       for _, slot in ipairs(out.slots) do
        $(slot.type) $(slot.run) = $(slot.identity);
#pragma unroll 16
        for (long long other = 0; other < shares; other++) {
          const $(slot.type) one = load_from_l2(&$(slot.left)[$(left_at(slot, "other"))]);
          $(slot.run) = $(combined(slot, slot.run, "one"));
        }
        if ($(slot.run) != $(slot.identity)) {
          $(update_own(slot, slot.run))
        }
//%       end
      }
//%     end
    }
//%   end
  };
//%   if parts > 1 then
  // neighbouring blocks have the parts of one share of the tiles
  const long long shares = (gridDim.x + kParts - 1) / kParts;
  for (long long work = blockIdx.x; work < shares * kParts; work += gridDim.x) {
    part = work % kParts;
//%     for _, out in ipairs(outputs) do
    $(out.low) = part * $(out.span);
//%     end
    take_share(work / kParts, shares);
    __syncthreads();
  }
//%   else
  take_share(blockIdx.x, gridDim.x);
//%   end
//% end
}
