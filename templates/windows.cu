$(g:types())
// What is computed for one element.
$(g:compute())
constexpr int kThreads = $(threads);
constexpr int kItems = $(items); // elements of a thread
constexpr int kTile = kThreads * kItems; // elements of a tile
constexpr int kWindows = $(windows); // parts of $(array)

// Moves kCount elements a thread from `first` on.
template <int kCount>
__device__ __forceinline__ void move($(params)) {
  $(kit.each(indices, "{type} {name}[kCount];"))
#pragma unroll
  for (int item = 0; item < kCount; item++) {
    const long long $(dim) = first + item * kThreads + threadIdx.x;
    $(kit.each(indices, "{value} = {load};"))
  }
  $(kit.each(is_scatter and straight or gathered, "{type} {name}[kCount];"))
//% if is_scatter then
  // what falls into the window
#pragma unroll
  for (int item = 0; item < kCount; item++) {
    const long long $(dim) = first + item * kThreads + threadIdx.x;
    if ((unsigned int)($(place)) - low >= span) continue;
    $(kit.each(straight, "{value} = {load};"))
  }
#pragma unroll
  for (int item = 0; item < kCount; item++) {
    const long long $(dim) = first + item * kThreads + threadIdx.x;
    if ((unsigned int)($(place)) - low >= span) continue;
    $(kit.each(results, "{type} {name};"))
    $(compute)
    $(kit.each(results, "{store}"))
  }
//% else
#pragma unroll 1
  for (int window = 0; window < kWindows; window++) {
    const unsigned int low = window * span;
#pragma unroll
    for (int item = 0; item < kCount; item++) {
      const long long $(dim) = first + item * kThreads + threadIdx.x;
      if ((unsigned int)($(place)) - low < span) {
        $(kit.each(gathered, "{value} = {load};"))
      }
    }
  }
  $(kit.each(straight, "{type} {name}[kCount];"))
#pragma unroll
  for (int item = 0; item < kCount; item++) {
    const long long $(dim) = first + item * kThreads + threadIdx.x;
    $(kit.each(straight, "{value} = {load};"))
    $(kit.each(results, "{type} {name};"))
    $(compute)
    $(kit.each(results, "{store}"))
  }
//% end
}

$(kit.comment(doc))
$(g:head(bounds)) {
  const unsigned int span = (unsigned int)($(span)); // elements of a window
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
