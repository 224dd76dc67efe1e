$(g:types())
// Computes one element.
$(g:compute())
$(definitions)
$(kit.comment(doc))
$(g:head(threads)) {
  constexpr int kThreads = $(threads);
  constexpr int kLanes = $(lanes); // threads that have a $(line)
//% if vec > 1 then
  constexpr int kVec = $(vec); // elements of a vector
//% end
  constexpr int kItems = $(items); // $(things) that a thread has of a tile
//% if rows and lanes > 1 then
  constexpr int kWarpLanes = $(warp_lanes); // lanes of a warp that have a row
//% end
//% if not look_back then
  constexpr int kRows = kThreads / kLanes; // $(line)s of a block
//% end
  constexpr int kTile = kLanes * kItems$(times_vec); // elements of a $(line) that are taken at once
//% if in_shared then
  constexpr int kParts = $(parts); // of a tile, one a $(part)
//% end
//% if look_back then
  constexpr int kNodesAt = $(nodes_at); // words of the workspace before the nodes of all tiles
//% end
//% if look_back then
  const long long n_elements = $(n_elements);
//% else
  const long long n_rows = $(n_rows), n_elements = $(n_elements);
//% end
//% if in_shared then
  __shared__ __align__(16) partial parts$(part_shape);
//% end
//% if look_back then
  __shared__ __align__(16) partial tiles_before; // what they come to
//% if in_tile then
  $(kit.each(streams, "__shared__ __align__(128) {type} {name}[kItems][kThreads];"))
//% end
  // a block has a tile; which one follows from the order in which blocks begin
  unsigned long long *const counter = reinterpret_cast<unsigned long long *>(workspace);
  const ticket taken = take_ticket(counter);
  const unsigned int tiles = (unsigned int)((n_elements + kTile - 1) / kTile);
  const long long row_index = taken.tile / tiles;
  const unsigned int tile = taken.tile - (unsigned int)row_index * tiles, lane = threadIdx.x;
  unsigned long long *const nodes =
      counter + kNodesAt + row_index * tree_nodes(tiles) * (sizeof(partial) / 4);
//% else
  const int lane = threadIdx.x $(lane_of), line = threadIdx.x $(line_of);
  const long long row_index = blockIdx.x * (long long)kRows + line;
//% end
  $(unravel(kept, "row_index"))
//% if not look_back then
  partial before = identity(); // what the tiles before come to
//% end

  // of the thread's first $(vec > 1 and "vector" or "element") in a tile
  const int offset = $(offset);

  // One tile: all loads before the first use. whole: it lies inside the $(line), which is there.
  const auto scan_tile = [&](long long first, bool whole) {
//% if not look_back then
    const bool is_row = whole || row_index < n_rows;
//% end
//% if not in_tile then
    $(kit.each(streams, "{type} {name}[kItems] = {};"))
//% end
#pragma unroll
    for (int item = 0; item < kItems; item++) {
      const long long $(along) = $(place);
      const long long left = $(is_row)n_elements - $(along)$(else_none);
      if (whole || left > 0) {
        $(load())
      }
    }
//% if in_tile then
    async_commit();
    async_wait<0>(); // each thread reads what it copied itself
    const auto value = [&](int item, int e) {
      const long long $(along) = $(place);
      if (!whole && n_elements - $(along) <= e) return identity();
      $(compute())
      return $(members("partial"));
    };
//% else
    partial mine[kItems$(times_vec)];
#pragma unroll
    for (int item = 0; item < kItems; item++) {
      const long long $(along) = $(place);
      const long long left = $(is_row)n_elements - $(along)$(else_none);
      $(each_element) {
        mine[$(element)] = identity();
        if (whole || left > $(vec > 1 and "e" or "0")) {
          $(compute())
          mine[$(element)] = $(members());
        }
      }
    }
//% end

    // what comes before each of the thread's $(things) in its part of the tile
    partial ahead[kItems], sum = identity();
#pragma unroll
    for (int item = 0; item < kItems; item++) {
//% if rows then
      partial all = $(value("0"));
//%   if vec > 1 then
#pragma unroll
      for (int e = 1; e < kVec; e++) all = combine(all, $(value("e")));
//%   end
//%   if lanes > 1 then
      const partial up_to = scan_lanes<kWarpLanes>(all);
      ahead[item] = combine(sum, lanes_before<kWarpLanes>(up_to, identity()));
      sum = combine(sum, shuffle_from<kWarpLanes>(up_to, kWarpLanes - 1));
//%   else
      ahead[item] = sum;
      sum = combine(sum, all);
//%   end
//% else
      ahead[item] = sum;
      sum = combine(sum, mine[item]);
//% end
    }
//% if in_shared then
//%   if not look_back then
    const int buffer = first / kTile % 2; // of two, as the tile before may still be read
//%   end
    $(leads)$(part_at(my_part)) = sum;
    __syncthreads();
    partial start = $(look_back and "identity()" or "before"), all = start;
#pragma unroll
    for (int other = 0; other < kParts; other++) {
      if (other == $(my_part))
        start = all;
      all = combine(all, $(part_at("other")));
    }
//%   if look_back then
    if (threadIdx.x < 32) {
      const partial found = look_back(nodes, tile, tiles, taken.launch, all, identity());
      if (threadIdx.x == 0)
        tiles_before = found;
    }
    __syncthreads();
    start = combine(tiles_before, start);
//%   else
    before = all;
//%   end
//% else
    const partial start = before;
    before = combine(before, sum);
//% end

#pragma unroll
    for (int item = 0; item < kItems; item++) {
      const long long $(along) = $(place);
      const long long left = $(is_row)n_elements - $(along)$(else_none);
      $(kit.each(results, "{type} {name};"))
      partial up_to = combine(start, ahead[item]);
      $(each_element) {
        const partial earlier = up_to;
        up_to = combine(up_to, $(value(vec > 1 and "e" or "0")));
        $(results_of("earlier", "up_to"))
      }
      if (whole || left > 0) {
        $(store())
      }
    }
  };
//% if look_back then
  const long long first = tile * (long long)kTile;
  if (first + kTile <= n_elements) {
    scan_tile(first, true);
  } else {
    scan_tile(first, false);
  }
//% else
  const bool all_rows = (blockIdx.x + 1) * (long long)kRows <= n_rows;
  for (long long first = 0; first < n_elements; first += kTile) {
    if (all_rows && first + kTile <= n_elements) {
      scan_tile(first, true);
    } else {
      scan_tile(first, false);
    }
  }
//% end
}
