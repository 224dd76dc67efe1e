$(g:types())
//% if shared then
constexpr int kThreads = $(threads); // of a block
//% end
constexpr int kLanes = $(lanes); // threads beside each other along $(x)
constexpr int kVec = $(vec); // elements of a thread beside each other
//% if shared and items > 1 then
constexpr int kItems = $(items); // such groups of a thread, kLanes * kVec elements apart
//% end
//% if m then
constexpr int kRows = $(rows); // lines of a thread along $(m)
//% end
//% if c then
constexpr int kWide = $(wide); // lines of a thread along $(c)
//% end
//% if march > 1 then
constexpr int kMarch = $(march); // times that it does so, going on along $(m)
//% end
//% if shared then
$(kit.each(taps, "constexpr int {k_words} = {n_words}; // words of 16 bytes for a line of {name}"))
//% end

// What is computed for one element.
$(g:compute())
// kGuarded: some of the lines that are read or written may lie beyond a border.
template <bool kGuarded>
__device__ __forceinline__ void compute_tile($(g:params()), $(place_params)) {
//% for _, s in ipairs(taps) do
  // where an element of line $(s.line_name) of $(s.name) lies; lines count from the first one read
  const auto $(s.at) = [&](int i$(s.int_j), long long $(x)) -> const $(s.type) * {
    $(s.line)
    return $(s.address);
  };
  // its value where it may lie beyond the line's ends
  const auto $(s.beyond) = [&](int i$(s.int_j), long long $(x)) -> $(s.type) {
    $(s.load_beyond)
  };
//% end
//% if shared then
  extern __shared__ uint4 shared[];
  // where lines with their halo start
//%   for _, s in ipairs(taps) do
  const $(s.type) **const $(s.from) =
      reinterpret_cast<const $(s.type) **>(shared + $(s.start_from));
#pragma unroll 1
  for (int line = threadIdx.x; line < $(s.n_lines); line += kThreads)
    $(s.from)[line] = $(s.at)($(s.line_of), first_$(x) - $(s.before));
//%   end
  __syncthreads();

  // in: each line from the word that its first element lies in
//%   for _, s in ipairs(taps) do
  uint4 *const $(s.tile) = shared + $(s.start);
#pragma unroll
  for (int n = threadIdx.x; n < $(s.n_lines) * $(s.k_words); n += kThreads) {
    const int line = n / $(s.k_words);
//%     if s.zero then
    if (kGuarded && $(s.from)[line] == nullptr)
      $(s.tile)[n] = make_uint4(0, 0, 0, 0);
    else
//%     end
    copy_word<kGuarded>(&$(s.tile)[n], word_at($(s.from)[line], n % $(s.k_words)),
                        $(s.op.pointer), at_byte<char>($(s.op.pointer), $(s.all_bytes)));
  }
//%   end
  async_commit();
  async_wait<0>();
  __syncthreads();
//%   if any_border then
  if (kGuarded) { // what lies beyond the lines' ends
//%     for _, s in ipairs(taps) do
//%       if s.left + s.right > 0 and s.op.border ~= "none" then
    for (int n = threadIdx.x; n < $(s.n_lines) * $(s.left + s.right); n += kThreads) {
      const int line = n / $(s.left + s.right), k = n % $(s.left + s.right);
      const long long $(x) = (k < $(s.left) ? 0 : $(s.n_columns)) + $(s.k_from);
      const long long column = $(x) - (first_$(x) - $(s.before));
      if (is_inside(column, $(s.n_tile))) {
        put<$(s.piece)>(
            line_at<$(s.type)>(&$(s.tile)[line * $(s.k_words)], $(s.from)[line]) + column,
            $(s.beyond)($(s.line_of), $(x)));
      }
    }
//%       end
//%     end
    __syncthreads();
  }
//%   end

  // out
  const int lane = threadIdx.x % kLanes;
//%   if m or c then
  const int own = threadIdx.x / kLanes * $(c and "kWide" or "kRows"); // its first line
//%   end
//%   for _, s in ipairs(taps) do
  // the thread's element of each line of $(s.name) that its taps reach
  const $(s.type) *$(s.lines)[$(s.own_m)]$(s.dim_j);
$(s.each_j(2))
#pragma unroll
  for (int i = 0; i < $(s.own_m); i++) {
      const int line = $(s.own_line);
      $(s.lines)[i]$(s.at_j) = line_at<$(s.type)>(&$(s.tile)[line * $(s.k_words)], $(s.from)[line])
          + $(s.before) + lane * kVec;
    }
//%   end
//% else
  // lanes beyond the end load what the last one does
  const long long last_$(x) = min(first_$(x), $(n_x) - kVec);
//%   for _, s in ipairs(taps) do
  // lines of $(s.name): $(s.left) before and $(s.right) behind the thread's own elements
  $(s.type) $(s.lines)[$(s.own_m)]$(s.dim_j)[$(s.left) + kVec + $(s.right)];
  const auto $(s.load_line) = [&](int i$(s.int_j)) {
    const vec<$(s.type), kVec> own = $(s.load);
#pragma unroll
    for (int e = 0; e < kVec; e++)
      $(s.lines)[i]$(s.at_j)[$(s.left) + e] = own[e];
  };
//%   end
//% end
  const auto compute_line = [&]($(line_params)) {
    $(kit.concat(positions))
//% if guard then
    if ($(guard)) return;
//% end
    $(kit.concat(per_line))
//% if vec > 1 then
#pragma unroll
    for (int e = 0; e < kVec; e++) {
//%   if shared then
      if (kGuarded && !is_inside($(x) + e, $(n_x))) continue;
//%   end
      $(each)
    }
//% else
    $(each)
//% end
    $(kit.concat(stores))
  };
//% if shared then
#pragma unroll
  for (int item = 0; item < $(items > 1 and "kItems" or 1); item++)
$(each_row(2))
$(each_wide(2))
    compute_line($(line_args));
//% else
  // loads what the taps of kRows lines reach and is not there yet, computes these lines
  const auto compute_rows = [&]() {
//%   for _, s in ipairs(rolling) do
$(s.each_j(4))
#pragma unroll
    for (int i = $(s.from); i < $(s.to); i++)
      $(s.load_line)(i$(s.j));
//%     if s.has_ends then
    // values beside a thread's own: from memory where this warp does not have them ...
    load_ends<$(s.left), kVec, $(s.right)>(last_$(x), $(n_x), [&](int k) {
$(s.each_j(6))
#pragma unroll
      for (int i = $(s.ends_from); i < $(s.ends_to); i++)
        $(s.lines)[i]$(s.at_j)[$(s.left) + k] = $(s.beyond)(i$(s.j), last_$(x) + k);
    });
//%     end
//%   end
//%   for _, s in ipairs(rolling) do
//%     if s.has_ends then
    // ... else from its lanes
$(s.each_j(4))
#pragma unroll
    for (int i = $(s.ends_from); i < $(s.ends_to); i++)
      exchange_ends<$(s.left), kVec, $(s.right)>($(s.lines)[i]$(s.at_j), last_$(x), $(n_x));
//%     end
//%   end
$(each_row(4))
$(each_wide(4))
      compute_line($(line_args));
  };
//%   if march > 1 then
//%     for _, s in ipairs(taps) do
  // lines of $(s.name) before those of the first step
$(s.each_j(2))
#pragma unroll
  for (int i = $(s.first); i < $(s.last); i++)
    $(s.load_line)(i$(s.j));
//%       if s.has_ends and s.ends_ahead then
  load_ends<$(s.left), kVec, $(s.right)>(last_$(x), $(n_x), [&](int k) {
$(s.each_j(4))
#pragma unroll
    for (int i = $(s.ends_first); i < $(s.ends_last); i++)
      $(s.lines)[i]$(s.at_j)[$(s.left) + k] = $(s.beyond)(i$(s.j), last_$(x) + k);
  });
$(s.each_j(2))
#pragma unroll
  for (int i = $(s.ends_first); i < $(s.ends_last); i++)
    exchange_ends<$(s.left), kVec, $(s.right)>($(s.lines)[i]$(s.at_j), last_$(x), $(n_x));
//%       end
//%     end
#pragma unroll 1
  for (int step = 0; step < kMarch; step++) {
    compute_rows();
    first_$(m) += kRows;
    if (kGuarded && first_$(m) >= $(n_m)) break;
//%     for _, s in ipairs(rolling) do
    // the last lines of this step are the first of the next
$(s.each_j(4))
#pragma unroll
    for (int i = $(s.first); i < $(s.last); i++)
#pragma unroll
      for (int e = 0; e < kVec + $(s.left + s.right); e++)
        $(s.lines)[i]$(s.at_j)[e] = $(s.lines)[i + kRows]$(s.at_j)[e];
//%     end
  }
//%   else
  compute_rows();
//%   end
//% end
}

$(kit.comment(doc))
$(g:head(bounds)) {
  $(cut)
  if ($(outside)) return; // $(shared and "nothing to do" or "the whole warp")
//% if inside then
  if ($(inside))
    compute_tile<false>($(g:arguments_text()), $(places));
  else
    compute_tile<true>($(g:arguments_text()), $(places));
//% else
  compute_tile<false>($(g:arguments_text()), $(places));
//% end
}
