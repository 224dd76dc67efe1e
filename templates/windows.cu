$(g:types())
// Computes one element.
$(g:compute())
$(kit.comment(doc))
$(g:head(bounds)) {
  constexpr int kThreads = $(threads);
  constexpr int kItems = $(items); // elements that a thread has of a tile
  constexpr int kTile = kThreads * kItems;
//% if not is_scatter then
  constexpr int kWindows = $(windows); // parts of $(array)
//% end
  const long long n_elements = $(count);
  const unsigned int span = (unsigned int)($(span)); // elements of a window
//% if is_scatter then
  // all tiles, window by window
  const long long tiles = $(tiles);
  const unsigned int low = (unsigned int)(blockIdx.x / tiles) * span;
  const long long first = blockIdx.x % tiles * kTile;
//% else
  const long long first = blockIdx.x * (long long)kTile;
//% end

  // Moves `items` elements of each thread, all that it has of a tile or one, from `from` on.
  const auto move = [&](long long from, int items) {
    $(kit.each(indices, "{type} {name}[kItems];"))
#pragma unroll
    for (int item = 0; item < items; item++) {
      const long long $(dim) = from + item * kThreads + threadIdx.x;
      $(kit.each(indices, "{value} = {load};"))
    }
//% if is_scatter then
    // what falls into the window
    $(kit.each(straight, "{type} {name}[kItems];"))
#pragma unroll
    for (int item = 0; item < items; item++) {
      const long long $(dim) = from + item * kThreads + threadIdx.x;
      if ((unsigned int)($(place)) - low >= span) continue;
      $(kit.each(straight, "{value} = {load};"))
    }
#pragma unroll
    for (int item = 0; item < items; item++) {
      const long long $(dim) = from + item * kThreads + threadIdx.x;
      if ((unsigned int)($(place)) - low >= span) continue;
      $(kit.each(results, "{type} {name};"))
      $(compute)
      $(kit.each(results, "{store}"))
    }
//% else
    $(kit.each(gathered, "{type} {name}[kItems];"))
#pragma unroll 1
    for (int window = 0; window < kWindows; window++) {
      const unsigned int low = window * span;
#pragma unroll
      for (int item = 0; item < items; item++) {
        const long long $(dim) = from + item * kThreads + threadIdx.x;
        if ((unsigned int)($(place)) - low >= span) continue;
        $(kit.each(gathered, "{value} = {load};"))
      }
    }
    $(kit.each(straight, "{type} {name}[kItems];"))
#pragma unroll
    for (int item = 0; item < items; item++) {
      const long long $(dim) = from + item * kThreads + threadIdx.x;
      $(kit.each(straight, "{value} = {load};"))
      $(kit.each(results, "{type} {name};"))
      $(compute)
      $(kit.each(results, "{store}"))
    }
//% end
  };

  if (first + kTile <= n_elements) {
    move(first, kItems);
  } else {
    for (long long next = first; next + threadIdx.x < n_elements; next += kThreads)
      move(next, 1);
  }
}
