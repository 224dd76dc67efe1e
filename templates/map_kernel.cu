$(g:types())
constexpr int kThreads = $(threads);
constexpr int kItems = $(items); // vectors of a thread, whose loads are all in flight
//% if vec > 1 then
constexpr int kVec = $(vec); // elements of a vector: neighbours along $(last)
//% end
constexpr int kTile = kThreads * kItems; // vectors of a block

// What is computed for one element.
$(g:compute())
//% if #modes > 1 then
// Where a vector starts.
struct place {
  long long $(kit.concat(k.dims, ", "));
};

//% end
// kWhole: all vectors of the tile lie inside the arrays, whole.
template <bool kWhole>
__device__ __forceinline__ void move_tile(
    $(g:params(4)),
    long long first) {
//% for _, x in ipairs(once) do
  const $(x.type) $(x.name) = $(x.load);
//% end
//% if #modes > 1 then
  // where the tile starts; its vectors are counted on from there
  long long rest = first;
//%   for _, m in ipairs(inner) do
  const unsigned int $(m.count) = (unsigned int)($(m.extent));
  const unsigned int $(m.first) = (unsigned int)(rest % $(m.count));
  const divisor $(m.by) = divide_by($(m.count));
  rest /= $(m.count);
//%   end
  place where[kItems];
#pragma unroll
  for (int item = 0; item < kItems; item++) {
    unsigned int left_over = item * kThreads + threadIdx.x, here;
//%   for n, m in ipairs(inner) do
    left_over = split($(m.first) + left_over, $(m.by), here);
    where[item].$(m.dim) = $(n == 1 and vec > 1 and "(long long)here * kVec" or "here");
//%   end
    where[item].$(modes[1]) = rest + left_over;
  }
//% end

  // in: all loads before the first use
//% for _, x in ipairs(arrays) do
  $(x.type) $(x.name)[kItems];
//% end
//% for _, loads in ipairs(load_rounds) do
#pragma unroll
  for (int item = 0; item < kItems; item++) {
    $(here)
    $(outside)
//%   for _, x in ipairs(loads) do
//%     if x.path == "elements" then
#pragma unroll
    for (int e = 0; e < kVec; e++)
      $(x.name)[item][e] = kWhole || e < $(left) ? $(x.load) : $(x.zero);
//%     elseif x.path == "vector" then
    $(x.name)[item] = kWhole || kVec <= $(left)
      ? $(x.load)
      : load_some<$(x.element), kVec>($(x.address), $(left));
//%     else
    $(x.name)[item] = $(x.load);
//%     end
//%   end
  }
//% end

  // out
#pragma unroll
  for (int item = 0; item < kItems; item++) {
    $(here)
    $(outside)
//% for _, y in ipairs(results) do
    $(y.type) $(y.name);
//% end
//% if vec > 1 then
#pragma unroll
    for (int e = 0; e < kVec; e++) {
      $(compute)
    }
//% else
    $(compute)
//% end
//% for _, y in ipairs(results) do
//%   if y.path == "elements" then
#pragma unroll
    for (int e = 0; e < kVec; e++)
      if (kWhole || e < $(left))
        $(y.store)
//%   elseif y.path == "vector" then
    if (kWhole || kVec <= $(left))
      $(y.store)
    else
      store_some($(y.address), $(y.name), $(left));
//%   else
    $(y.store)
//%   end
//% end
  }
}

$(kit.comment(doc))
$(g:head(threads)) {
  const long long first = blockIdx.x * (long long)kTile;
  if ($(whole))
    move_tile<true>($(g:arguments_text()), first);
  else
    move_tile<false>($(g:arguments_text()), first);
}
