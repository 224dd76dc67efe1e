$(g:types())
// Computes one element.
$(g:compute())

$(definitions)

//% if merges then
// What a block leaves to its neighbours: the first row that ends in its share (-1: none does), what
// it found of that row, and what it found after the last row that ends there.
struct carry {
  long long row;
  partial head, tail;
};

//% end
$(kit.comment(doc))
//% if merges then
//
// The path is the merge path of Merrill and Garland, Merge-based parallel sparse matrix-vector
// multiplication (SC 2016): elements and row ends, two sorted lists, merged so that a row's end
// follows its last element. A step passes one or the other, so equal numbers of steps are equal
// work, however long rows are.
//% end
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
  constexpr int kTile = kThreads * kItems; // steps of a tile, which the block takes at once
  constexpr int kStepBytes = sizeof(partial) > 4 ? sizeof(partial) : 4; // a value or a row end
  constexpr int kCounters = 65536; // words of the workspace before the carries
  carry *const carries = reinterpret_cast<carry *>(workspace + kCounters);

  // A tile in shared memory: the values of its elements from the front, its row ends from the back.
  __shared__ __align__(16) unsigned char tile[kTile * kStepBytes];
  partial *const values = reinterpret_cast<partial *>(tile);
  int *const last_word = reinterpret_cast<int *>(tile + sizeof(tile)) - 1;
  // how many elements of the tile lie before the end of its row n
  const auto row_end = [&](int n) -> int & { return last_word[-n]; };
  const auto store_row = [&](long long $(row), const partial &all) {
    $(store("all"))
  };

  // The block's share of the path: whole tiles, from step share_begin to step share_end.
  const long long n_rows = $(n_kept), n_elements = $(n_elements), n_steps = n_rows + n_elements;
  const long long n_tiles = (n_steps + kTile - 1) / kTile;
  const long long share_begin = n_tiles * blockIdx.x / gridDim.x * kTile;
  const long long share_end = min(n_tiles * (blockIdx.x + 1) / gridDim.x * kTile, n_steps);
  // rows that end before a step of the path, between low and high; a whole warp asks
  const auto rows_before = [&](long long step, long long low, long long high) -> long long {
    low = max(step - n_elements, low);
    high = min(step, high);
    return path_rows($(offsets) + 1, low, high, step);
  };
  // how many rows end before the share, and before the ends of its tiles: 1 and 2 in turn
  __shared__ long long bounds[3];
  for (int n = threadIdx.x / 32; n < 2; n += kThreads / 32) // a warp each, if there are two
    bounds[n] = rows_before(min(share_begin + n * kTile, share_end), 0, n_rows);
  __syncthreads();

  long long first_row = bounds[0]; // of the tile
  int tile_end = 1; // its bound
  bool has_ended = false; // some row, in the tiles before
  partial tail = identity(); // what the tiles before found since then
  for (long long step = share_begin; step < share_end; step += kTile) {
    const long long next_row = bounds[tile_end], first_element = step - first_row;
    const int tile_steps = (int)min((long long)kTile, share_end - step);
    const int tile_rows = (int)(next_row - first_row), tile_elements = tile_steps - tile_rows;

    // in: row ends and values
    for (int n = threadIdx.x; n < tile_rows; n += kThreads)
      row_end(n) = (int)($(end_of("first_row + n")) - first_element);
//%   if needs_row then
    __syncthreads();
    // rows of the tile that end before its element n
    const auto rows_before_element = [&](int n) -> int {
      int low = 0;
      for (int high = tile_rows; low < high;) {
        const int middle = (low + high) / 2;
        if (row_end(middle) <= n) {
          low = middle + 1;
        } else {
          high = middle;
        }
      }
      return low;
    };
//%   end
    const auto value_of = [&](int n) -> partial {
      const long long $(dim) = first_element + n;
//%   if needs_row then
      const long long $(row) = first_row + rows_before_element(n);
//%   end
      $(value)
    };
    if (tile_elements > 0) {
      partial found[kItems];
#pragma unroll
      for (int item = 0; item < kItems; item++)
        found[item] = value_of(min(item * kThreads + (int)threadIdx.x, tile_elements - 1));
#pragma unroll
      for (int item = 0; item < kItems; item++)
        if (item * kThreads + threadIdx.x < tile_elements)
          values[item * kThreads + threadIdx.x] = found[item];
    }
    // while loads are in flight: where the next tile ends
    if (threadIdx.x < 32 && step + kTile < share_end) {
      const long long most = min(next_row + kTile, n_rows);
      bounds[3 - tile_end] = rows_before(min(step + 2 * kTile, share_end), next_row, most);
    }
    __syncthreads();

    // each thread goes kItems steps of the path, from (row, element) on
    const int begin = min((int)threadIdx.x * kItems, tile_steps);
    int row = path_rows_of(row_end, max(begin - tile_elements, 0), min(begin, tile_rows), begin);
    int element = begin - row;
    since_end<partial> mine = {identity(), 0};
    partial head = identity(); // of the first row that ends here; threads before may have begun it
    int head_row = 0;
#pragma unroll
    for (int item = 0; item < kItems; item++) {
      if (begin + item < tile_steps) {
        if (row < tile_rows && row_end(row) <= element) {
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

    // what the threads before found since a row ended completes the head
    since_end<partial> all;
    since_end<partial> before = found_before<kThreads>(mine, identity(), all);
    before = join(since_end<partial>{tail, 0}, before);
    const bool is_first = !has_ended && !before.ended; // in the share
    if (mine.ended && !is_first)
      store_row(first_row + head_row, combine(before.found, head));
    if (mine.ended && is_first) { // in one thread; blocks before may have begun the row
      carries[blockIdx.x].row = first_row + head_row;
      carries[blockIdx.x].head = combine(before.found, head);
    }
    tail = join(since_end<partial>{tail, 0}, all).found;
    has_ended = has_ended || all.ended;
    first_row = next_row;
    tile_end = 3 - tile_end;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    if (!has_ended) {
      carries[blockIdx.x].row = -1;
      carries[blockIdx.x].head = identity();
    }
    carries[blockIdx.x].tail = combine(tail, identity()); // all members, no bytes between them
  }
  if (!is_last_block(workspace, gridDim.x)) return;

  // The last block finishes rows that several blocks have found parts of; a thread goes through the
  // carries of n_each blocks.
  const int n_each = (gridDim.x + kThreads - 1) / kThreads;
  since_end<partial> mine = {identity(), 0}, all;
  carry head = {-1, identity(), identity()};
  for (int n = 0; n < n_each && threadIdx.x * n_each + n < gridDim.x; n++) {
    const carry other = load_from_l2(&carries[threadIdx.x * n_each + n]);
    if (other.row >= 0 && mine.ended)
      store_row(other.row, combine(mine.found, other.head));
    if (other.row >= 0 && !mine.ended)
      head = {other.row, combine(mine.found, other.head), identity()};
    mine = join(mine, since_end<partial>{other.tail, other.row >= 0});
  }
  const since_end<partial> before = found_before<kThreads>(mine, identity(), all);
  if (head.row >= 0)
    store_row(head.row, combine(before.found, head.head));
//% end
}
