$(g:types())
// What is computed for one element.
$(g:compute())
$(kit.comment(doc))
$(g:head(threads)) {
  constexpr int kThreads = $(threads), kWarps = kThreads / 32;
  $(kit.comment(tile_doc))
  constexpr int kTileX = $(tile_x), kTileY = $(tile_y);
//% if load > 1 then
  constexpr int kLoad = $(load); // neighbours along $(X.name) $(in_load)
//% end
//% if store > 1 then
  constexpr int kStore = $(store); // neighbours along $(Y.name) in a store
//% end
//% if not shared then
  constexpr int kLanes = $(column_lanes); // that store a column
//%   if column_lanes < 32 then
  constexpr int kColumns = 32 / kLanes; // of a warp
//%   end
//% end
//% if shared then
  // columns x and x + kInner follow each other in outputs of the tuned sizes: kRun stores in all
  constexpr int kInner = $(shared.inner), kRun = $(run_stores);
//% end
//% if sector > 0 then
  constexpr int kSector = $(sector); // elements in 32 bytes: stores of a column start at one
  constexpr int kAhead = kSector - 1; // so many elements earlier at most
  constexpr int kLines = kTileY + kAhead;
//% elseif is_lines or #tables > 0 then
  constexpr int kLines = kTileY;
//% end
//% if is_lines then
  constexpr int kWord = $(word); // elements in the 16 bytes of a copy
  constexpr int kStart = $(start_elems); // ... in 128 bytes: copies of a line start at a multiple
  constexpr int kPitch = kTileX + kStart; // from line to line of a tile
  constexpr int kWords = kPitch / kWord; // copies of a line

  // Where a line is kept that starts at element `start` of its array: as far from 128 bytes, so
  // that copies are written as they arrive, and columns of odd lines meet different banks.
  const auto kept_at = [](int line, unsigned int start) {
    return line * kPitch + (int)(start % kStart);
  };
//% else
  constexpr int kPitch = $(pitch); // $(pitch_doc)
//%   if pack > 1 then
  constexpr int kPack = $(pack); // elements in a word of 4 bytes
//%   end
  constexpr int kLoadsALine = kTileX$(load > 1 and " / kLoad" or "");
  constexpr int kLoads = $(loads); // of a thread
//%   if lines_a_load then
  constexpr int kLinesALoad = $(lines_a_load_text); // lines between two loads of a thread
//%   end

  $(kit.comment(kept_doc))
  const auto kept_at = [](int x, int y) { return $(kept); };
//% end

//% if is_dynamic then
  extern __shared__ __align__(128) unsigned char shared[];
//% end
  $(kit.each(memory, "{declare}"))
  // $(blocks_doc)
  $(sizes)
  unsigned int block = blockIdx.x;
  $(cut)
//% if #strides > 0 then
  // elements between neighbours along a mode
  $(kit.concat(strides))
//% end

  // guarded: the tile crosses the edge of an array.
  const auto move_tile = [&](bool guarded) {
//% if #tables > 0 then
    // offsets of the tile's lines and columns, whose places are found by division
//%   for _, t in ipairs(tables) do
    for (int $(t.at) = threadIdx.x; $(t.at) < $(t.limit); $(t.at) += kThreads) {
      if (guarded && $(t.outside)) continue;
      $(t.digits)
      $(kit.each(t.entries, "{name}[" .. t.at .. "] = {value};"))
    }
//%   end
    __syncthreads();
//% end
//% if #straight > 0 then
    // in: neighbours along $(Y.name), as outputs are stored
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    $(kit.each(straight, "{type} {loaded}{dims};"))
    const auto load_column = [&](int $(by_column)) {
//%   if by_column == "k" then
      const int x = $(out_x);
//%   end
      $(column_place)
      if ($(out_beyond)) return;
      $(kit.each(straight, "{from}"))
//%   if parts > 1 then
#pragma unroll
      for (int part = 0; part < $(parts); part++) {
//%   end
        const int y = $(out_y);
        $(out_past)
        $(out_place)
        if (guarded && $(Y.at) >= $(Y.extent))
          $(leave_part);
        $(kit.each(straight, "{load}"))
//%   if parts > 1 then
      }
//%   end
    };
    $(each_column)load_column($(by_column == "k" and by_column or out_x));
//% end
//% if is_lines then
    // in: words of 16 bytes, from the 128 bytes on that a line starts in, by copies that pass no
    // register
    $(width)
//%   for _, x in ipairs(exchanged) do
    $(x.row_setup)
#pragma unroll 4
    for (int k = 0; k < (kLines * kWords + kThreads - 1) / kThreads; k++) {
      const int copy = k * kThreads + threadIdx.x, line = copy / kWords;
      $(line_place)
      if (line >= kLines || (guarded && ($(line_outside)))) continue;
      const long long start = $(x.line_start);
      const int word = copy % kWords * kWord;
      const long long from = (start & -kStart) + word;
      if (from < start + width)
        async_copy_some(&$(x.tile)[line * kPitch + word], &$(x.op.pointer)[from],
                        $(x.copied));
    }
//%   end
    async_commit();
    async_wait<0>();
//% elseif #exchanged > 0 then
    // in: neighbours along $(X.name), all loads before the first use
    $(kit.each(exchanged, "{loaded_type} {loaded}[kLoads]{rows_of_words};"))
//%   if lines_a_load then
    const int x = $(in_x), thread_line = $(in_line);
    $(kit.each(exchanged, "{declare_from}"))
//%   end
#pragma unroll
    for (int k = 0; k < kLoads; k++) {
      $(vector_place)
//%   if pack > 1 then
#pragma unroll
      for (int r = 0; r < kPack; r++) {
        $(in_place)
        $(kit.each(exchanged, "{loaded}[k][r] = " .. in_inside .. "\n  ? {load} : {zero};"))
      }
//%   else
      $(in_place)
      $(kit.each(exchanged, "{loaded}[k] = " .. in_inside .. "\n  ? {load} : {zero};"))
//%   end
    }
#pragma unroll
    for (int k = 0; k < kLoads; k++) {
      $(vector_place)
//%   if ragged then
      if ($(past)) break;
//%   end
      $(kit.each(exchanged, "{put}"))
    }
//% end
//% if #exchanged > 0 then
    __syncthreads();
//% end

    // out: $(out_doc)
//% if not shared and #straight == 0 then
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
//% end
    const auto store_column = [&](int $(shared and "unit" or by_column)) {
//% if by_column == "k" then
      const int x = $(out_x);
//% end
//% if shared then
      const int at = unit % kRun$(store > 1 and " * kStore" or ""), x = $(out_x);
//% end
      $(column_place)
      if ($(out_beyond)) return;
//% if sector > 0 then
      const long long column = $(column);
      const int shift = (int)column & (kSector - 1); // so many elements earlier a sector starts
      // from there on: where the column begins and ends in this tile
      const int begin = (int)max(shift - $(Y.first), 0ll);
      const int end = (int)min($(Y.extent) - $(Y.first) + shift, (long long)kTileY);
//% end
      $(kit.each(stored, "{type} *const {column} = &{pointer}[{start}];"))
//% if parts > 1 then
#pragma unroll
      for (int part = 0; part < $(parts); part++) {
//% end
        const int y = $(out_y);
        $(out_past)
        $(out_place)
//% if sector == 0 then
        if (guarded && $(Y.at) >= $(Y.extent))
          $(leave_part);
//% elseif store == 1 then
        if (guarded && (y < begin || y >= end)) $(next_part);
        const int line = $(take_line);
//% else
        if (guarded && (y < begin || y + kStore > end)) { // one by one
          $(kit.each(exchanged, "{declare}"))
          $(kit.each(results, "{vtype} {value};"))
          $(kit.each(direct, "{declare_some}"))
#pragma unroll
          for (int e = 0; e < kStore; e++) {
            if (y + e < begin || y + e >= end) continue;
            const int line = $(take_line);
            $(kit.each(exchanged, "{take_element}"))
            $(kit.each(direct, "{take_element}"))
            $(compute)
            $(kit.each(results, "{store_element}"))
          }
          $(next_part);
        }
//% end
        $(kit.each(exchanged, "{take}"))
        $(kit.each(direct, "{declare}"))
        $(kit.each(results, "{vtype} {value};"))
//% if store > 1 then
#pragma unroll
        for (int e = 0; e < kStore; e++) {
          $(compute)
        }
//% else
        $(compute)
//% end
        $(kit.each(results, "{store}"))
//% if parts > 1 then
      }
//% end
    };
    $(each_column)store_column($(shared and out_unit or by_column == "k" and by_column or out_x));
//% if #turned > 0 then
    __syncthreads();

    // out: neighbours along $(X.name)
//%   if lines_a_load and #exchanged == 0 then
    const int x = $(in_x), thread_line = $(in_line);
//%   end
    $(kit.each(turned, "{declare_to}"))
#pragma unroll
    for (int k = 0; k < kLoads; k++) {
      $(vector_place)
//%   if ragged then
      if ($(past)) break;
//%   end
      $(kit.each(turned, "{take_line}"))
//%   if pack > 1 then
#pragma unroll
      for (int r = 0; r < kPack; r++) {
        $(in_place)
        if (!($(in_bounds))) break;
        $(kit.each(turned, "{store_line}"))
      }
//%   else
      $(in_place)
      if ($(in_bounds)) {
        $(kit.each(turned, "{store_line}"))
      }
//%   end
    }
//% end
  };

  if ($(whole))
    move_tile(false);
  else
    move_tile(true);
}
