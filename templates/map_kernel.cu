$(g:types())
// What is computed for one element.
$(g:compute())
//% if #modes > 1 then
// Where a vector starts.
struct multi_index {
  long long $(kit.concat(modes, ", "));
};

//% end
$(kit.comment(doc))
$(g:head(threads)) {
  constexpr int kThreads = $(threads);
//% if warps then
  constexpr int kTeam = 32; // threads that share a tile: a warp
//% end
  constexpr int kItems = $(items); // vectors of a thread, whose loads are all in flight
//% if vec > 1 then
//%   if inside == 1 then
  constexpr int kVec = $(vec); // elements of a vector: neighbours along $(last)
//%   else
  constexpr int kInside = $(inside); // elements of a vector along $(inside_modes)
  constexpr int kAlong = $(unit); // and along $(modes[#modes])
  constexpr int kVec = kAlong * kInside;
//%   end
//% end
  constexpr int kTile = $(tile_text)
//% for _, s in ipairs(tiles) do
  constexpr int $(s.record) = sizeof($(s.element)); // bytes of $(s.one) of $(s.arrays)
  constexpr int $(s.size) = kTile$(times_vec) * $(s.record); // and of its tile
//% end

//% for _, s in ipairs(tiles) do
  // $(s.all) of $(s.arrays)
  __shared__ __align__(16) unsigned char $(s.all_tiles)[$(teams)$(s.size)];
//% end
  const long long vectors = $(vectors_text);
//% if warps then
  const int warp = threadIdx.x / kTeam, rank = threadIdx.x % kTeam;
  $(kit.each(tiles, "unsigned char *const {tile} = {all_tiles} + warp * {size};"))
  const long long first = (blockIdx.x * (long long)(kThreads / kTeam) + warp) * kTile;
//% else
  const int rank = threadIdx.x;
  const long long first = blockIdx.x * (long long)kTile;
//% end
  // One tile. whole: all of its vectors lie inside the arrays.
  const auto move_tile = [&](bool whole) {
//% for _, x in ipairs(once) do
//%   if x.each then
    $(x.type) $(x.name)$(x.dims);
    $(kit.unrolled("e", x.each, x.name .. "[e] = " .. x.load .. ";"))
//%   else
    const $(x.type) $(x.name) = $(x.load);
//%   end
//% end
//% if #modes > 1 then
    // where the tile starts; its vectors are counted on from there
    long long outer = first$(across and times_vec or "");
//%   for _, m in ipairs(inner) do
    $(m.constant and "constexpr" or "const") unsigned int $(m.count) = $(m.extent);
//%     if m.by then
    const divisor $(m.by) = divide_by($(m.count));
    const unsigned int $(m.first) = take_rest(outer, $(m.by));
//%     else
    const unsigned int $(m.first) = (unsigned int)outer % $(m.count);
    outer = (unsigned long long)outer / $(m.count);
//%     end
//%   end
//%   if across then
    // where the row after that of `at` starts, counted on from the elements of a vector at `at`
    const auto next_row = [&](multi_index at) -> multi_index {
      at.$(last) -= $(inner[1].count);
      at.$(modes[#modes - 1])++;
//%     for n = 2, #inner do
      if (at.$(inner[n].dim) == $(inner[n].count)) {
        at.$(inner[n].dim) = 0;
        at.$(modes[#modes - n])++;
      }
//%     end
      return at;
    };
//%   end
    multi_index indices[kItems];
#pragma unroll
    for (int item = 0; item < kItems; item++) {
      unsigned int counted = $(counted_text), here;
//%   for n, m in ipairs(inner) do
//%     if m.by then
      counted = split($(m.first) + counted, $(m.by), here);
//%     else
      counted += $(m.first);
      here = counted % $(m.count);
      counted /= $(m.count);
//%     end
      indices[item].$(m.dim) = $(m.value);
//%   end
      indices[item].$(modes[1]) = outer + counted;
      $(shift_back)
    }

//% end
//% for _, s in ipairs(staged_in) do
    // the tile of $(s.op.name), as its bytes lie in memory$(s.swizzled and ", swizzled" or "")
    const unsigned char *const $(s.bytes_at) =
        reinterpret_cast<const unsigned char *>($(s.address));
    if (whole) {
#pragma unroll
      for (int at_word = 0; at_word < $(s.size); at_word += 16 * $(team)) {
        const int byte = at_word + 16 * rank;
        if ($(s.size) % (16 * $(team)) == 0 || byte < $(s.size))
          put<16>($(s.tile) + $(s.kept), $(s.load_name)<uint4>($(s.bytes_at) + byte));
      }
    } else {
      const long long bytes =
          min(0LL + $(s.size), ($(elements_text) - first$(times_vec)) * $(s.record));
      using word = word_of<$(s.small)>::type;
//%   if partial then
      // the last vector may end behind the array: zeros complete it
      const long long filled = min(0LL + $(s.size), (vectors - first)$(times_vec) * $(s.record));
      for (int byte = $(s.small_of("rank")); byte < filled; byte += $(s.small_of(team)))
        put<$(s.small)>($(s.tile) + $(s.kept),
            byte < bytes ? $(s.plain_load)<word>($(s.bytes_at) + byte) : word());
//%   else
      for (int byte = $(s.small_of("rank")); byte < bytes; byte += $(s.small_of(team)))
        put<$(s.small)>($(s.tile) + $(s.kept), $(s.plain_load)<word>($(s.bytes_at) + byte));
//%   end
    }
//% end
//% if #staged_in > 0 then
    $(sync)

//% end
//% if #arrays > 0 then
    // in: all loads before the first use
    $(kit.each(arrays, "{declare}"))
//%   for _, loads in ipairs(load_rounds) do
#pragma unroll
    for (int item = 0; item < kItems; item++) {
      const long long vector = first + $(vector_text);
      if (!whole && $(beyond)) break;
      $(here)
      $(ends)
      $(kit.each(loads, "{rows}{fill}"))
//%     if next_loads(loads) then
      if (left < $(partial and "stop" or "kVec")) { // the others are in the next row
//%       if across ~= "elements" then
        const multi_index next = next_row(at);
//%       end
        $(next_loads(loads))
      }
//%     end
    }
//%   end

//% end
    // compute and store
#pragma unroll
    for (int item = 0; item < kItems; item++) {
      const long long vector = first + $(vector_text);
      if (!whole && $(beyond)) break;
      $(again)
      $(kit.each(tiles, "{find}"))
      $(kit.each(taken, "const {type} {name} = {take};"))
      $(kit.each(results, "{type} {name}{dims};"))
      $(kit.each(flags, "bool {declare};"))
//% if vec > 1 then
#pragma unroll
      for (int e = 0; e < kVec; e++) {
        $(compute)
      }
//% else
      $(compute)
//% end
      $(kit.each(stored, "{leave}"))
//% if #stored_in_part > 0 then
      if ($(full)) {
        $(kit.each(stored_in_part, "{store}"))
      } else {
        $(kit.each(stored_in_part, "{store_some}"))
      }
//% end
    }
//% if #staged_out > 0 then
    $(sync)
//% end
//% for _, s in ipairs(staged_out) do
    // the tile of $(s.op.name), as its bytes lie in memory
    unsigned char *const $(s.bytes_at) = reinterpret_cast<unsigned char *>($(s.address));
    if (whole) {
#pragma unroll
      for (int at_word = 0; at_word < $(s.size); at_word += 16 * $(team)) {
        const int byte = at_word + 16 * rank;
        if ($(s.size) % (16 * $(team)) == 0 || byte < $(s.size))
          $(s.store_name)($(s.bytes_at) + byte, take<uint4>($(s.tile) + $(s.kept)));
      }
    } else {
      const long long bytes =
          min(0LL + $(s.size), ($(elements_text) - first$(times_vec)) * $(s.record));
      for (int byte = $(s.small_of("rank")); byte < bytes; byte += $(s.small_of(team)))
        store($(s.bytes_at) + byte, take<word_of<$(s.small)>::type>($(s.tile) + $(s.kept)));
    }
//% end
  };

  if ($(is_whole))
    move_tile(true);
  else
    move_tile(false);
}
