$(g:types())
// Computes one element.
$(g:compute())
$(kit.comment(doc))
$(g:head(bounds)) {
  $((shared or threads > lanes) and "constexpr int kThreads = " .. threads .. ";" or "")
  constexpr int kLanes = $(lanes); // threads beside each other along $(x)
  constexpr int kVec = $(vec); // neighbours along $(x) that a thread computes at once
//% if shared and items > 1 then
  constexpr int kItems = $(items); // times that it does so, kLanes * kVec elements apart
//% end
  $(m and "constexpr int kRows = " .. rows .. "; // lines of a thread along " .. m or "")
  $(c and "constexpr int kWide = " .. wide .. "; // lines of a thread along " .. c or "")
//% if threads > lanes then
  constexpr int kGroups = kThreads / kLanes; // threads beside each other along $(c or m)
//% end
//% if march > 1 then
  constexpr int kMarch = $(march); // steps of kRows lines of a thread, along $(m)
//% end
  // elements of a block along each dimension
  constexpr int $(kit.concat(tile_constants, ", "));
//% if drift > 0 then
  // lines are stored from the start of 32 bytes on: up to so many elements earlier
  constexpr int kAhead = $(drift);
//% end
//% for _, s in ipairs(taps) do
  // elements of $(s.name) that taps reach before and after
  constexpr int $(s.k_left) = $(s.left), $(s.k_right) = $(s.right);
//%   if shared then
//%     if s.across_text then
  // lines of a tile of $(s.name) beside each other along $(c)
  constexpr int $(s.k_across) = $(s.across_text);
//%     end
  constexpr int $(s.k_lines) = $(s.lines_text); // lines of a tile of $(s.name)
  constexpr int $(s.k_before) = $(s.before_text); // elements of one before the block's own
  constexpr int $(s.k_span) = $(s.span_text); // all of its elements
  // words of 16 bytes that hold it, wherever it begins and ends in its first and last
  constexpr int $(s.k_words) = ($(s.k_span) * sizeof($(s.type)) + 15 + 15) / 16;
//%   else
  $(s.reach_text)
//%   end
//% end

  // $(shared and "where the block's tile begins" or "where the thread's elements begin")
  $(cut)
  // $(shared and "there is nothing to do" or "the whole warp has nothing to do")
  if ($(outside)) return;
  $(shared and "extern __shared__ uint4 shared[];" or "")

  // guarded: some of the lines that are read or written may lie beyond a border.
  const auto compute_tile = [&](bool guarded) {
//% for _, s in ipairs(taps) do
    // where an element of $(s.line_name) of $(s.name) lies$(s.counted)
    const auto $(s.at) = [&]($(s.params)long long $(x)) -> const $(s.type) * {
      $(s.line)
      return $(s.address);
    };
//%   if shared and s.has_beyond or not shared and s.left + s.right > 0 then
    // its value where it $(shared and "lies" or "may lie") beyond the line's ends
    const auto $(s.beyond) = [&]($(s.params)long long $(x)) -> $(s.type) {
      $(s.load_beyond)
    };
//%   end
//% end
//% if shared then
//%   for _, s in ipairs(taps) do
    uint4 *const $(s.tile) = shared$(s.start_text); // lines with their halo
    // where they start
    const $(s.type) **const $(s.from) =
        reinterpret_cast<const $(s.type) **>($(s.tile) + $(s.k_lines) * $(s.k_words));
#pragma unroll 1
    for (int line = threadIdx.x; line < $(s.k_lines); line += kThreads)
      $(s.from)[line] = $(s.at)($(s.line_of)$(s.first_x) - $(s.k_before));
    // a line of the tile, from its first element on
    const auto $(s.line_at) = [&](int line) {
      return line_at<$(s.type)>(&$(s.tile)[line * $(s.k_words)], $(s.from)[line]);
    };
//%   end
    __syncthreads();

    // in: each line from the word that its first element lies in
//%   for _, s in ipairs(taps) do
#pragma unroll
    for (int n = threadIdx.x; n < $(s.k_lines) * $(s.k_words); n += kThreads) {
      const int line = n / $(s.k_words);
//%     if s.zero then
      if (guarded && $(s.from)[line] == nullptr)
        $(s.tile)[n] = $(s.fill_word);
      else
//%     end
      copy_word(guarded, &$(s.tile)[n], word_at($(s.from)[line], n % $(s.k_words)),
                $(s.op.pointer), at_byte<char>($(s.op.pointer), $(s.all_bytes)));
    }
//%   end
    async_commit();
    async_wait<0>();
    __syncthreads();
//%   if any_border then
    if (guarded) { // what lies beyond the lines' ends
//%     for _, s in ipairs(taps) do
//%       if s.has_beyond then
      {
        // what outputs reach of a line, before the array's first element and from its end on
        const long long begin = $(s.begin), first = max(begin, $(s.first_text));
        const long long stop = min(begin + $(s.k_span), $(s.stop_text));
        const long long end = max(first, (long long)($(s.n_columns)));
        const int before = (int)max(min(stop, 0LL) - first, 0LL);
        const int beyond = before + (int)max(stop - end, 0LL);
        for (int n = threadIdx.x; n < $(s.k_lines) * beyond; n += kThreads) {
          const int line = n / beyond, k = n % beyond;
          const int column = (int)((k < before ? first : end - before) - begin) + k;
          put<$(s.piece)>($(s.line_at)(line) + column,
                          $(s.beyond)($(s.line_of)$(s.first_x) - $(s.k_before) + column));
        }
      }
//%       end
//%     end
      __syncthreads();
    }
//%   end

    // out
    const int lane = threadIdx.x % kLanes;
    $(lines and "const int own = threadIdx.x / kLanes * " .. lines .. "; // its first line" or "")
//%   for _, s in ipairs(taps) do
    // the thread's element of each line of $(s.name) that its taps reach
    $(s.own_lines)
//%   end
//% else
    // lanes beyond the end load what the last one does
    const long long last_$(x) = min(first_$(x), $(n_x) - kVec);
//%   for _, s in ipairs(taps) do
    // lines of $(s.name) that taps reach, with what they reach before and after the thread's own
    $(s.type) $(s.lines)$(s.own_shape)[$(s.k_left) + kVec + $(s.k_right)];
    const auto $(s.load_line) = [&]($(s.line_params)) {
      const vec<$(s.type), kVec> own = $(s.load);
#pragma unroll
      for (int e = 0; e < kVec; e++)
        $(s.lines)$(s.at_line)[$(s.k_left) + e] = own[e];
    };
//%   end
//% end
    const auto compute_line = [&]($(line_params)) {
      $(kit.concat(positions))
      $(guard and "if (" .. guard .. ") return;" or "")
      $(kit.concat(per_line))
//% if vec > 1 then
#pragma unroll
      for (int e = 0; e < kVec; e++) {
//%   if shared then
        if (guarded && !is_inside($(x) + e, $(n_x))) continue;
//%   end
        $(each)
      }
//% else
      $(each)
//% end
      $(kit.concat(stores))
    };
//% if shared then
    $(compute_lines)
//% else
    // computes kRows lines; loads first what their taps reach and is not there yet
    const auto compute_rows = [&] {
//%   for _, s in ipairs(rolling) do
      $(s.load_new)
//%     if s.has_ends then
      // elements beside the thread's own: from memory where no lane of the warp has them ...
      load_ends<$(s.k_left), kVec, $(s.k_right)>(last_$(x), $(n_x), [&](int k) {
        $(s.end_new)
      });
//%     end
//%   end
//%   for _, s in ipairs(exchanged) do
      // ... else from that lane
      $(s.exchange_new)
//%   end
      $(compute_lines)
    };
//%   if march > 1 then
    // lines that the first step shares with one before it
//%     for _, s in ipairs(taps) do
    $(s.load_kept)
//%       if s.has_ends and s.ends_ahead then
    load_ends<$(s.k_left), kVec, $(s.k_right)>(last_$(x), $(n_x), [&](int k) {
      $(s.end_kept)
    });
    $(s.exchange_kept)
//%       end
//%     end
#pragma unroll 1
    for (int step = 0; step < kMarch; step++) {
      compute_rows();
      first_$(m) += kRows;
      if (guarded && first_$(m) >= $(n_m)) break;
      // the last lines of this step are the first of the next
      $(kit.each(rolling, "{roll}"))
    }
//%   else
    compute_rows();
//%   end
//% end
  };
//% if inside then
  // does all that is computed, and that taps reach, lie inside?
  if ($(inside))
    compute_tile(false);
  else
    compute_tile(true);
//% else
  compute_tile(false);
//% end
}
