// A T of the lane whose number differs by the bits of `distance`, word by word.
template <class T> __device__ __forceinline__ T shuffle_xor(const T &value, int distance) {
  T other;
#pragma unroll
  for (int k = 0; k < sizeof(T) / 4; k++)
    reinterpret_cast<unsigned int *>(&other)[k] =
        __shfl_xor_sync(0xffffffffu, reinterpret_cast<const unsigned int *>(&value)[k], distance);
  return other;
}

// A T of the lane whose number is lower by `distance`, word by word.
template <class T> __device__ __forceinline__ T shuffle_up(const T &value, int distance) {
  T other;
#pragma unroll
  for (int k = 0; k < sizeof(T) / 4; k++)
    reinterpret_cast<unsigned int *>(&other)[k] = __shfl_up_sync(
        0xffffffffu, reinterpret_cast<const unsigned int *>(&value)[k], distance);
  return other;
}

// Combines the values of lanes whose numbers differ by kFirst, 2 * kFirst, ... below kLast: all of
// them get the result.
template <int kFirst, int kLast, class T, int kCount>
__device__ __forceinline__ void combine_across(T (&mine)[kCount]) {
#pragma unroll
  for (int distance = kFirst; distance < kLast; distance *= 2)
#pragma unroll
    for (int k = 0; k < kCount; k++)
      mine[k] = combine(mine[k], shuffle_xor(mine[k], distance));
}

// Combines the values of kLanes neighbouring threads, a part of a warp, a warp or the whole block:
// all of them get the result. For each T at most once in a kernel.
template <int kLanes, class T> __device__ __forceinline__ T combine_row(const T &mine) {
  T all[1] = {mine};
  combine_across<1, (kLanes < 32 ? kLanes : 32)>(all);
  if (kLanes > 32) {
    constexpr int kParts = (kLanes + 31) / 32;
    __shared__ __align__(16) T parts[kParts];
    if (threadIdx.x % 32 == 0)
      parts[threadIdx.x / 32] = all[0];
    __syncthreads();
    all[0] = parts[threadIdx.x % kParts];
    combine_across<1, kParts>(all);
  }
  return all[0];
}

// The smallest k with 2^k >= `count`, 1 to 2^31.
__device__ __forceinline__ int log2_above(int count) {
  return 32 - __clz(count - 1);
}

// The binary logarithm of how many lanes have a row, a power of two from kLeast to kMost: not below
// `wanted`, nor, while all rows together have fewer than 2^log_busy, below `most`.
template <int kLeast, int kMost>
__device__ __forceinline__ int log2_lanes(int wanted, int most, long long rows, int log_busy) {
  const int few = log_busy - 31 + __clz((int)min(rows, 1ll << 30));
  const int lanes = max(log2_above(max(wanted, kLeast)), min(log2_above(max(most, 1)), few));
  return min(lanes, 31 - __clz(kMost));
}

// The same as combine_row, for as many threads as `lanes` says, a power of two and the same in the
// whole block.
template <int kThreads, class T>
__device__ __forceinline__ T combine_lanes(const T &mine, int lanes) {
  T all = mine;
#pragma unroll
  for (int distance = 1; distance < 32; distance *= 2)
    if (distance < lanes)
      all = combine(all, shuffle_xor(all, distance));
  if (lanes > 32) {
    __shared__ __align__(16) T parts[kThreads / 32];
    if (threadIdx.x % 32 == 0)
      parts[threadIdx.x / 32] = all;
    __syncthreads();
    const int first = threadIdx.x / 32 & -(lanes / 32); // of the warps that have the row
    all = parts[first + threadIdx.x % (lanes / 32)];
    for (int distance = 1; distance < lanes / 32; distance *= 2)
      all = combine(all, shuffle_xor(all, distance));
  }
  return all;
}

// Combines what threads of a block have found of kVec columns each. Threads whose numbers differ
// by multiples of kSide have the same columns: all of them get the result. For each T at most once
// in a kernel.
template <int kThreads, int kSide, class T, int kVec>
__device__ __forceinline__ void combine_columns(T (&mine)[kVec]) {
  constexpr int kColumns = kSide * kVec, kParts = kThreads / (kSide < 32 ? 32 : kSide);
  if (kSide < 32)
    combine_across<kSide, 32>(mine);
  if (kParts > 1) {
    constexpr int kPitch = kParts + 1; // no bank conflicts on either side
    __shared__ __align__(16) T parts[kColumns * kPitch], all[kColumns];
    const int side = threadIdx.x % kSide, part = threadIdx.x / (kSide < 32 ? 32 : kSide);
    if (kSide >= 32 || threadIdx.x % 32 < kSide)
#pragma unroll
      for (int e = 0; e < kVec; e++)
        parts[(e * kSide + side) * kPitch + part] = mine[e];
    __syncthreads();
    // kParts lanes combine a column
    for (int first = threadIdx.x / 32 * 32; first < kColumns * kParts; first += kThreads) {
      const int k = min(first + (int)threadIdx.x % 32, kColumns * kParts - 1);
      T one[1] = {parts[k / kParts * kPitch + k % kParts]};
      combine_across<1, kParts>(one);
      if (k % kParts == 0)
        all[k / kParts] = one[0];
    }
    __syncthreads();
#pragma unroll
    for (int e = 0; e < kVec; e++)
      mine[e] = all[e * kSide + side];
  }
}

// Combines the values of the threads of a block whose numbers differ by multiples of kLanes: all of
// them get the result.
template <int kThreads, int kLanes, class T>
__device__ __forceinline__ T combine_block(const T &mine) {
  __shared__ __align__(16) T parts[kThreads];
  parts[threadIdx.x] = mine;
  for (int half = kThreads / 2; half >= kLanes; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half)
      parts[threadIdx.x] = combine(parts[threadIdx.x], parts[threadIdx.x + half]);
  }
  __syncthreads();
  return parts[threadIdx.x % kLanes];
}

// Loads a T that another block wrote, bypassing L1.
template <class T> __device__ __forceinline__ T load_from_l2(const T *from) {
  T value;
#pragma unroll
  for (int k = 0; k < sizeof(T) / 4; k++)
    reinterpret_cast<unsigned int *>(&value)[k] =
        __ldcg(reinterpret_cast<const unsigned int *>(from) + k);
  return value;
}

// True in the last of `count` blocks to arrive, which then sees what the others wrote. The counter
// is 0 before the first and after the last.
__device__ __forceinline__ bool is_last_block(unsigned int *arrived, unsigned int count) {
  __shared__ bool is_last;
  __threadfence(); // writes of this block are visible before it arrives
  __syncthreads();
  if (threadIdx.x == 0)
    is_last = atomicInc(arrived, count - 1) == count - 1;
  __syncthreads();
  __threadfence();
  return is_last;
}
