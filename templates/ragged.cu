$(g:types())
// The body for one element of the index space.
$(g:compute())

$(definitions)
//% if merges then
// What a block leaves to its neighbours: the first row that ends in it (-1: none does), what was
// found of that one, and what was found behind the last row end.
struct carry {
  long long row;
  partial head, tail;
};

//% end
$(kit.comment(doc))
$(g:head(threads)) {
  constexpr int kThreads = $(threads);
  constexpr int kItems = $(items); // $(items_doc)
//% if not merges then
  constexpr int kLanes = $(lanes); // threads that share a row
  const int lane = threadIdx.x % kLanes;
  const long long output = blockIdx.x * (long long)(kThreads / kLanes) + threadIdx.x / kLanes;
  $(unravel(kept, "output"))
  const long long first = output < $(n_kept) ? $(first_of(row)) : 0;
  const long long end = output < $(n_kept) ? $(end_of(row)) : 0;
  const auto value_of = [&](long long $(dim)) -> partial {
    $(value)
  };
  partial mine[1] = {identity()};
  for (long long next = first; next < end; next += kLanes * kItems) {
    partial found[kItems];
#pragma unroll
    for (int item = 0; item < kItems; item++)
      found[item] = value_of(min(next + item * kLanes + lane, end - 1));
#pragma unroll
    for (int item = 0; item < kItems; item++)
      mine[0] = next + item * kLanes + lane < end ? combine(mine[0], found[item]) : mine[0];
  }
//%   if lanes > 32 then
  mine[0] = combine_row<kLanes>(mine[0]);
//%   elseif lanes > 1 then
  combine_across<1, kLanes>(mine);
//%   end
  if (lane == 0 && output < $(n_kept)) {
    $(store("mine[0]"))
  }
//% else
  constexpr int kCounters = 65536; // in front of the workspace
  constexpr int kTile = kThreads * kItems; // elements and row ends that the block takes at once
  constexpr int kSlot = sizeof(partial) > 4 ? sizeof(partial) : 4;
  // values of elements from the bottom, row ends from the top
  __shared__ __align__(16) unsigned char tile[kTile * kSlot];
  __shared__ long long bounds[3];
  partial *const values = reinterpret_cast<partial *>(tile);
  const int *const ends = reinterpret_cast<const int *>(tile + sizeof(tile)) - 1;
  carry *const carries = reinterpret_cast<carry *>(workspace + kCounters);
  const auto store_row = [&](long long $(row), const partial &all) {
    $(store("all"))
  };
  const long long n_rows = $(n_kept), n_elements = $(n_elements), n_steps = n_rows + n_elements;
  // the block's share of the path through elements and row ends, in whole tiles
  const long long n_tiles = (n_steps + kTile - 1) / kTile;
  const long long from = n_tiles * blockIdx.x / gridDim.x * kTile;
  const long long to = min(n_tiles * (blockIdx.x + 1) / gridDim.x * kTile, n_steps);
  const auto rows_before = [&](long long at, long long low, long long high) {
    return ended_rows($(offsets) + 1, max(at - n_elements, low), min(at, high), at);
  };
  // a warp each finds where the share begins and where its first tile ends
  for (int bound = threadIdx.x / 32; bound < 2; bound += kThreads / 32)
    bounds[bound] = rows_before(min(from + (1 - bound) * kTile, to), 0, n_rows);
  __syncthreads();
  long long first_row = bounds[1];
  int slot = 0; // of the end of the tile, 0 and 2 in turn
  bool has_ended = false; // a row, in the tiles before
  partial tail = identity(); // what was found since then
  for (long long step = from; step < to; step += kTile) {
    const int n_here = (int)min((long long)kTile, to - step);
    const long long next_row = bounds[slot], first = step - first_row;
    const int n_rows_here = (int)(next_row - first_row), n_found = n_here - n_rows_here;
    for (int n = threadIdx.x; n < n_rows_here; n += kThreads)
      const_cast<int *>(ends)[-n] = (int)($(end_of("(first_row + n)")) - first);
//%   if needs_row then
    __syncthreads();
//%   end
    const auto value_of = [&](int n) -> partial {
      const long long $(dim) = first + n;
//%   if needs_row then
      int low = 0; // rows that have ended before
      for (int high = n_rows_here; low < high;) {
        const int middle = (low + high) / 2;
        if (ends[-middle] <= n) {
          low = middle + 1;
        } else {
          high = middle;
        }
      }
      const long long $(row) = first_row + low;
//%   end
      $(value)
    };
    if (n_found > 0) {
      partial found[kItems];
#pragma unroll
      for (int item = 0; item < kItems; item++)
        found[item] = value_of(min(item * kThreads + (int)threadIdx.x, n_found - 1));
#pragma unroll
      for (int item = 0; item < kItems; item++)
        if (item * kThreads + threadIdx.x < n_found)
          values[item * kThreads + threadIdx.x] = found[item];
    }
    // while loads are on their way, where the next tile ends
    if (threadIdx.x < 32 && step + kTile < to) {
      const long long most = min(next_row + kTile, n_rows);
      bounds[2 - slot] = rows_before(min(step + 2 * kTile, to), next_row, most);
    }
    __syncthreads();

    // each thread goes kItems steps of the path
    const int begin = min((int)threadIdx.x * kItems, n_here);
    int row = max(begin - n_found, 0);
    for (int high = min(begin, n_rows_here); row < high;) {
      const int middle = (row + high) / 2;
      if (ends[-middle] < begin - middle) {
        row = middle + 1;
      } else {
        high = middle;
      }
    }
    int element = begin - row, head_row = 0;
    since_end<partial> mine = {identity(), 0};
    partial head = identity();
#pragma unroll
    for (int item = 0; item < kItems; item++) {
      if (begin + item < n_here) {
        if (row < n_rows_here && ends[-row] <= element) {
          if (mine.ended) {
            store_row(first_row + row, mine.found);
          } else {
            head = mine.found;
            head_row = row;
          }
          mine = {identity(), 1};
          row++;
        } else {
          mine.found = combine(mine.found, values[element++]);
        }
      }
    }
    since_end<partial> all;
    const since_end<partial> before = after(since_end<partial>{tail, 0},
                                            found_before<kThreads>(mine, identity(), all));
    const bool is_first = !has_ended && !before.ended;
    if (mine.ended && !is_first)
      store_row(first_row + head_row, combine(before.found, head));
    if (mine.ended && is_first) { // of one thread only
      carries[blockIdx.x].row = first_row + head_row;
      carries[blockIdx.x].head = combine(before.found, head);
    }
    tail = after(since_end<partial>{tail, 0}, all).found;
    has_ended = has_ended || all.ended;
    first_row = next_row;
    slot = 2 - slot;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    if (!has_ended) {
      carries[blockIdx.x].row = -1;
      carries[blockIdx.x].head = identity();
    }
    carries[blockIdx.x].tail = combine(tail, identity()); // its members, not what lies between
  }
  if (!is_last_block(workspace, gridDim.x)) return;

  // the last block finishes rows that several have found parts of
  const int n_each = (gridDim.x + kThreads - 1) / kThreads;
  since_end<partial> mine = {identity(), 0}, all;
  carry head = {-1, identity(), identity()};
  for (int n = 0; n < n_each && threadIdx.x * n_each + n < gridDim.x; n++) {
    const carry other = load_from_l2(&carries[threadIdx.x * n_each + n]);
    if (other.row >= 0 && mine.ended)
      store_row(other.row, combine(mine.found, other.head));
    if (other.row >= 0 && !mine.ended)
      head = {other.row, combine(mine.found, other.head), identity()};
    mine = after(mine, since_end<partial>{other.tail, other.row >= 0});
  }
  const since_end<partial> before = found_before<kThreads>(mine, identity(), all);
  if (head.row >= 0)
    store_row(head.row, combine(before.found, head.head));
//% end
}
