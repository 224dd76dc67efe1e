$(g:types())
// The body for one element of the index space.
$(g:compute())
constexpr int kThreads = $(threads);
constexpr int kItems = $(items); // elements of a thread
constexpr int kTile = kThreads * kItems; // elements of a tile
constexpr int kWindows = $(windows); // parts of $(array)

// Moves kCount elements a thread from `first` on.
template <int kCount>
__device__ __forceinline__ void move(
    $(params)) {
//% for _, x in ipairs(indices) do
  $(x.type) $(x.name)[kCount];
//% end
#pragma unroll
  for (int item = 0; item < kCount; item++) {
    const long long $(dim) = first + item * kThreads + threadIdx.x;
//% for _, x in ipairs(indices) do
    $(x.value) = $(x.load);
//% end
  }
//% for _, x in ipairs(is_scatter and straight or gathered) do
  $(x.type) $(x.name)[kCount];
//% end
//% if is_scatter then
  // what falls into the window
#pragma unroll
  for (int item = 0; item < kCount; item++) {
    const long long $(dim) = first + item * kThreads + threadIdx.x;
    if ((unsigned int)($(place)) - low >= span) continue;
//%   for _, x in ipairs(straight) do
    $(x.value) = $(x.load);
//%   end
  }
#pragma unroll
  for (int item = 0; item < kCount; item++) {
    const long long $(dim) = first + item * kThreads + threadIdx.x;
    if ((unsigned int)($(place)) - low >= span) continue;
//%   for _, y in ipairs(results) do
    $(y.type) $(y.name);
//%   end
    $(compute)
//%   for _, y in ipairs(results) do
    $(y.store)
//%   end
  }
//% else
#pragma unroll 1
  for (int window = 0; window < kWindows; window++) {
    const unsigned int low = window * span;
#pragma unroll
    for (int item = 0; item < kCount; item++) {
      const long long $(dim) = first + item * kThreads + threadIdx.x;
      if ((unsigned int)($(place)) - low < span) {
//%   for _, x in ipairs(gathered) do
        $(x.value) = $(x.load);
//%   end
      }
    }
  }
//%   for _, x in ipairs(straight) do
  $(x.type) $(x.name)[kCount];
//%   end
#pragma unroll
  for (int item = 0; item < kCount; item++) {
    const long long $(dim) = first + item * kThreads + threadIdx.x;
//%   for _, x in ipairs(straight) do
    $(x.value) = $(x.load);
//%   end
//%   for _, y in ipairs(results) do
    $(y.type) $(y.name);
//%   end
    $(compute)
//%   for _, y in ipairs(results) do
    $(y.store)
//%   end
  }
//% end
}

$(kit.comment(doc))
$(g:head(bounds)) {
  const unsigned int span = (unsigned int)($(span)); // places in a window
//% if is_scatter then
  // all tiles, window by window
  const long long tiles = $(tiles);
  const unsigned int low = (unsigned int)(blockIdx.x / tiles) * span;
  const long long first = blockIdx.x % tiles * kTile;
//% else
  const long long first = blockIdx.x * (long long)kTile;
//% end
  if (first + kTile <= $(count)) {
    move<kItems>($(call("first")));
  } else {
    for (long long some = first; some + threadIdx.x < $(count); some += kThreads)
      move<1>($(call("some")));
  }
}
