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
//%   for _, s in ipairs(taps) do
constexpr int $(s.k_words) = $(s.n_words); // words of 16 bytes for a line of $(s.name)
//%   end
//% end

// What is computed for one element.
$(g:compute())
// kGuarded: some of the lines that are read or written may lie beyond a border.
template <bool kGuarded>
__device__ __forceinline__ void compute_tile(
    $(g:params(0)),
    $(place_params)) {
//% for _, s in ipairs(taps) do
  // where an element of line (i, j) of $(s.name) lies; lines count from the first that is read
  const auto $(s.at) = [&](int i, int j, long long $(x)) -> const $(s.type) * {
    $(s.line)
    return $(s.address);
  };
  // the same for an element that may lie beyond the line's ends
  const auto $(s.beyond) = [&](int i, int j, long long $(x)) -> const $(s.type) * {
    $(s.border)
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
            load_or_zero<$(s.type)$(s.word)>($(s.beyond)($(s.line_of), $(x))));
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
  const $(s.type) *$(s.lines)[$(s.own_m)][$(s.own_c)];
#pragma unroll
  for (int i = 0; i < $(s.own_m); i++)
#pragma unroll
    for (int j = 0; j < $(s.own_c); j++) {
      const int line = $(s.own_line);
      $(s.lines)[i][j] = line_at<$(s.type)>(&$(s.tile)[line * $(s.k_words)], $(s.from)[line])
          + $(s.before) + lane * kVec;
    }
//%   end
//% else
  // lanes beyond the end load what the last one does
  const long long last_$(x) = min(first_$(x), $(n_x) - kVec);
//%   for _, s in ipairs(taps) do
  // lines of $(s.name): $(s.left) before and $(s.right) behind the thread's own elements
  $(s.type) $(s.lines)[$(s.own_m)][$(s.own_c)][$(s.left) + kVec + $(s.right)];
  const auto $(s.load_line) = [&](int i, int j) {
    const vec<$(s.type), kVec> own = $(s.load);
#pragma unroll
    for (int e = 0; e < kVec; e++)
      $(s.lines)[i][j][$(s.left) + e] = own[e];
//%     if s.left + s.right > 0 then
    const auto load_end = [&](int k) { return $(s.load_end); };
    $(s.has_ends)load_ends<$(s.left), kVec, $(s.right)>(
        $(s.lines)[i][j], last_$(x), $(n_x), load_end);
//%     end
  };
//%   end
//% end
  const auto compute_line = [&](int i, int j$(shared and ", int item" or "")) {
//% for _, text in ipairs(positions) do
    $(text)
//% end
//% if guard then
    if ($(guard)) return;
//% end
//% for _, y in ipairs(per_line) do
    $(y)
//% end
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
//% for _, y in ipairs(stores) do
    $(y)
//% end
  };
//% if shared then
#pragma unroll
  for (int item = 0; item < $(items > 1 and "kItems" or 1); item++)
#pragma unroll
    for (int i = 0; i < $(m and "kRows" or 1); i++)
#pragma unroll
      for (int j = 0; j < $(c and "kWide" or 1); j++)
        compute_line(i, j, item);
//% else
//%   for _, s in ipairs(taps) do
//%     if s.ahead > 0 then
  // lines of $(s.name) that the first step finds loaded
#pragma unroll
  for (int i = 0; i < $(s.ahead); i++)
#pragma unroll
    for (int j = 0; j < $(s.own_c); j++)
      $(s.load_line)(i, j);
//%     end
//%     if s.ends_ahead > 0 and s.left + s.right > 0 then
#pragma unroll
  for (int i = 0; i < $(s.ends_ahead); i++)
#pragma unroll
    for (int j = $(s.end_c); j < $(s.end_c_stop); j++)
      exchange_ends<$(s.left), kVec, $(s.right)>(
          $(s.lines)[$(s.end_ahead_from)][j], last_$(x), $(n_x));
//%     end
//%   end
//%   if march > 1 then
#pragma unroll 1
  for (int step = 0; step < kMarch; step++) {
//%   else
  {
//%   end
//%   for _, s in ipairs(taps) do
//%     if s.loads ~= 0 then
#pragma unroll
    for (int i = 0; i < $(s.loads); i++)
#pragma unroll
      for (int j = 0; j < $(s.own_c); j++)
        $(s.load_line)($(s.load_from), j);
//%     end
//%   end
//%   for _, s in ipairs(taps) do
//%     if s.left + s.right > 0 and s.ends ~= 0 then
#pragma unroll
    for (int i = 0; i < $(s.ends); i++) // values beside a thread's own
#pragma unroll
      for (int j = $(s.end_c); j < $(s.end_c_stop); j++)
        exchange_ends<$(s.left), kVec, $(s.right)>(
            $(s.lines)[$(s.end_from)][j], last_$(x), $(n_x));
//%     end
//%   end
#pragma unroll
    for (int i = 0; i < $(m and "kRows" or 1); i++)
#pragma unroll
      for (int j = 0; j < $(c and "kWide" or 1); j++)
        compute_line(i, j);
//%   if march > 1 then
    // on: the last lines are the next step's first
    first_$(m) += kRows;
    if (kGuarded && first_$(m) >= $(n_m)) break;
//%     for _, s in ipairs(taps) do
//%       if s.has_m and s.ahead > 0 then
#pragma unroll
    for (int i = 0; i < $(s.ahead); i++)
#pragma unroll
      for (int j = 0; j < $(s.own_c); j++)
#pragma unroll
        for (int e = 0; e < kVec + $(s.left + s.right); e++)
          $(s.lines)[i][j][e] = $(s.lines)[i + kRows][j][e];
//%       end
//%     end
//%   end
  }
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
