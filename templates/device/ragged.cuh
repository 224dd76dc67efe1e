// The row of element k: the last one that starts at or before k.
template <typename offset>
__device__ __forceinline__ long long row_of(const offset *__restrict__ offsets, long long n_rows,
                                            long long k) {
  long long row = 0;
  for (long long end = n_rows; end - row > 1;) {
    const long long middle = row + (end - row) / 2;
    if ((long long)offsets[middle] <= k) {
      row = middle;
    } else {
      end = middle;
    }
  }
  return row;
}

// How many row ends the first `steps` steps of the merge path pass, which passes a row's end after
// all of its elements: a number from low to high. row_end(r): how many elements lie before it.
template <class RowEnd>
__device__ __forceinline__ int path_rows_of(const RowEnd &row_end, int low, int high, int steps) {
  while (low < high) {
    const int middle = (low + high) / 2;
    if (row_end(middle) < steps - middle) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

// The same in global memory, by a whole warp, which tries 32 rows at a time; ends[r] is where row r
// ends.
template <typename offset>
__device__ __forceinline__ long long path_rows(const offset *__restrict__ ends, long long low,
                                               long long high, long long steps) {
  const int lane = threadIdx.x % 32;
  while (low < high) {
    const long long apart = (high - low + 31) / 32, row = low + lane * apart;
    const bool has_ended = row < high && (long long)ends[row] < steps - row;
    const int n = __popc(__ballot_sync(0xffffffffu, has_ended));
    const long long next = low + n * apart;
    low = n > 0 ? next - apart + 1 : low;
    high = next < high ? next : high;
  }
  return low;
}

// What was found since the last row end, and whether there was one.
template <class T> struct since_end {
  T found;
  unsigned int ended;
};

// The two one after the other.
template <class T>
__device__ __forceinline__ since_end<T> join(const since_end<T> &one, const since_end<T> &other) {
  return {other.ended ? other.found : combine(one.found, other.found), one.ended | other.ended};
}

// An exclusive scan over the block's threads: what those before a thread found since a row ended;
// `all`: what all have found. `identity`: the identity element. Between two calls lies a barrier.
template <int kThreads, class T>
__device__ __forceinline__ since_end<T> found_before(const since_end<T> &mine, const T &identity,
                                                     since_end<T> &all) {
  constexpr int kWarps = kThreads / 32;
  __shared__ __align__(16) since_end<T> warps[kWarps];
  const int lane = threadIdx.x % 32, own_warp = threadIdx.x / 32;
  since_end<T> up_to = mine; // inclusive, within the warp
#pragma unroll
  for (int distance = 1; distance < 32; distance *= 2) {
    const since_end<T> other = shuffle_up(up_to, distance);
    if (lane >= distance)
      up_to = join(other, up_to);
  }
  since_end<T> before = shuffle_up(up_to, 1);
  if (lane == 0)
    before = {identity, 0};
  if (lane == 31)
    warps[own_warp] = up_to;
  __syncthreads();
  since_end<T> warps_before = {identity, 0};
  all = {identity, 0};
#pragma unroll
  for (int warp = 0; warp < kWarps; warp++) {
    if (warp == own_warp)
      warps_before = all;
    all = join(all, warps[warp]);
  }
  return join(warps_before, before);
}
