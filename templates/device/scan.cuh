// A T of the lane that is number `from` of its kLanes neighbours, word by word.
template <int kLanes, class T> __device__ __forceinline__ T shuffle_from(const T &value, int from) {
  T other;
#pragma unroll
  for (int k = 0; k < sizeof(T) / 4; k++)
    reinterpret_cast<unsigned int *>(&other)[k] = __shfl_sync(
        0xffffffffu, reinterpret_cast<const unsigned int *>(&value)[k], from, kLanes);
  return other;
}

// The values of kLanes neighbouring lanes up to each lane's own as one.
template <int kLanes, class T> __device__ __forceinline__ T scan_lanes(T mine) {
  const int lane = threadIdx.x % kLanes;
#pragma unroll
  for (int distance = 1; distance < kLanes; distance *= 2) {
    const T other = shuffle_up(mine, distance);
    if (lane >= distance)
      mine = combine(other, mine);
  }
  return mine;
}

// The same up to the lane before, from what scan_lanes gave; the first lane gets `nothing`.
template <int kLanes, class T>
__device__ __forceinline__ T lanes_before(const T &up_to, const T &nothing) {
  const T other = shuffle_up(up_to, 1);
  return threadIdx.x % kLanes == 0 ? nothing : other;
}

// The values of the block's threads whose numbers are lower by multiples of kLanes as one; in `all`
// those of all threads that differ by multiples. Between two calls lies a barrier.
template <int kThreads, int kLanes, class T>
__device__ __forceinline__ T scan_block(T mine, const T &nothing, T &all) {
  __shared__ __align__(16) T parts[kThreads];
  for (int distance = kLanes; distance < kThreads; distance *= 2) {
    parts[threadIdx.x] = mine;
    __syncthreads();
    if (threadIdx.x >= distance)
      mine = combine(parts[threadIdx.x - distance], mine);
    __syncthreads();
  }
  parts[threadIdx.x] = mine;
  __syncthreads();
  all = parts[kThreads - kLanes + threadIdx.x % kLanes];
  return threadIdx.x < kLanes ? nothing : parts[threadIdx.x - kLanes];
}

// What a block takes of a launch: a tile in the order in which blocks begin, so that those with
// lower numbers are under way; and the number of the launch, from 1 on.
struct ticket {
  unsigned int tile, launch;
};

// The next ticket. The counter, a launch's number and its next tile, is ready for the next launch
// as soon as all blocks have one.
__device__ __forceinline__ ticket take_ticket(unsigned long long *counter) {
  __shared__ unsigned long long taken;
  if (threadIdx.x == 0) {
    taken = atomicAdd(counter, 1ull);
    if ((unsigned int)taken == gridDim.x - 1)
      atomicAdd(counter, (1ull << 32) - gridDim.x);
  }
  __syncthreads();
  return {(unsigned int)taken, (unsigned int)(taken >> 32) + 1};
}

// Publishes a T to other blocks: each word beside the launch's number, so that whoever finds that
// has found the word.
template <class T>
__device__ __forceinline__ void publish(volatile unsigned long long *at, unsigned int launch,
                                        const T &value) {
#pragma unroll
  for (int k = 0; k < sizeof(T) / 4; k++)
    at[k] = (unsigned long long)launch << 32 | reinterpret_cast<const unsigned int *>(&value)[k];
}

// What a block publishes there, as soon as it has.
template <class T>
__device__ __forceinline__ T await(const volatile unsigned long long *at, unsigned int launch) {
  T value;
#pragma unroll
  for (int k = 0; k < sizeof(T) / 4; k++) {
    unsigned long long word;
    do {
      word = at[k];
    } while ((unsigned int)(word >> 32) != launch);
    reinterpret_cast<unsigned int *>(&value)[k] = (unsigned int)word;
  }
  return value;
}

// How many nodes the tree of look_back has: its tiles, groups of 32 of them, of 32 of those, ...
__device__ __forceinline__ unsigned int tree_nodes(unsigned int tiles) {
  unsigned int nodes = 0;
  for (; tiles > 0; tiles /= 32) nodes += tiles;
  return nodes;
}

// What the tiles before number `tile` of a row come to, for a warp whose tile comes to `mine`.
// Tiles are the leaves of a tree: the last tile of 32 leaves what they come to as well, the last of
// 32 such groups what those do, and so on. So at most 31 nodes of each level are awaited, and
// floats are added in the same order in every run.
template <class T>
__device__ __forceinline__ T look_back(unsigned long long *nodes, unsigned int tile,
                                       unsigned int tiles, unsigned int launch, T mine,
                                       const T &nothing) {
  constexpr int kWords = sizeof(T) / 4;
  const unsigned int lane = threadIdx.x % 32;
  T before = nothing;
  bool is_last = true; // of all groups that end here
  if (lane == 0)
    publish(&nodes[tile * (size_t)kWords], launch, mine);
  for (unsigned int at = tile; at > 0; at /= 32, tiles /= 32) {
    T group[1] = {nothing};
    if (lane < at % 32)
      group[0] = await<T>(&nodes[(at - at % 32 + lane) * (size_t)kWords], launch);
    combine_across<1, 32>(group);
    before = combine(group[0], before);
    nodes += tiles * (size_t)kWords;
    is_last = is_last && at % 32 == 31;
    if (is_last) {
      mine = combine(group[0], mine);
      if (lane == 0)
        publish(&nodes[at / 32 * (size_t)kWords], launch, mine);
    }
  }
  return before;
}
