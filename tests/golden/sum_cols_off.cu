// What is reduced: a field for each value of the outputs.
struct partial {
  float total;
};
// Of no element.
__device__ __forceinline__ partial nothing() {
  return {0.0f};
}
__device__ __forceinline__ partial combine(const partial &a, const partial &b) {
  return {a.total + b.total};
}
// Another block's partial, which is not in this SM's L1.
__device__ __forceinline__ partial partial_at(const partial *partials, long long number) {
  return {__ldcg(&partials[number].total)};
}

// The value of type T that lies `bytes` after `base`.
template <class T> __device__ __forceinline__ const T &at(const void *base, long long bytes) {
  return *reinterpret_cast<const T *>(static_cast<const char *>(base) + bytes);
}
template <class T> __device__ __forceinline__ T &at(void *base, long long bytes) {
  return *reinterpret_cast<T *>(static_cast<char *>(base) + bytes);
}

// kCount words from or to neighbouring addresses.
template <class Word, int kCount>
__device__ __forceinline__ void load_words(void *to, const void *from) {
#pragma unroll
  for (int k = 0; k < kCount; k++)
    static_cast<Word *>(to)[k] = static_cast<const Word *>(from)[k];
}
template <class Word, int kCount>
__device__ __forceinline__ void store_words(void *to, const void *from) {
#pragma unroll
  for (int k = 0; k < kCount; k++)
    __stwb(static_cast<Word *>(to) + k, static_cast<const Word *>(from)[k]);
}

// 4 blocks take 124 neighbours along col in words of 16 bytes, 8 rows at once; all rows of a warp
// start alike.
__global__ void __launch_bounds__(256)
reduce_cols_off(const float *__restrict__ a_in, float *__restrict__ total_out, long long n_row,
                long long n_col, unsigned int *workspace) {
  constexpr int kThreads = 256, kWarps = kThreads / 32, kItems = 8, kVec = 4;
  constexpr int kColumns = 31 * kVec; // neighbours along col that the block owns
  constexpr int kRows = kWarps * kItems; // of what is reduced, that it takes at once
  __shared__ partial from_warps[kWarps][kVec][40]; // padded: no conflicts on either side
  const long long block = blockIdx.x;
  const int thread = threadIdx.x;
  const int warp = thread / 32, lane = thread % 32;
  constexpr int kShares = 4; // blocks that share an output element
  const int share = (int)(block % kShares);
  const long long team = block / kShares;
  // what blocks leave for the one that comes last, and how many have come: 0 again at the end
  unsigned int *const arrived = workspace;
  partial *const partials = reinterpret_cast<partial *>(workspace + 65536);
  const long long first = team * kColumns;
  // elements before `first` in its word, in all rows of this warp
  const int shift = (int)((n_col * warp + first) & 3);
  partial mine[kVec];
#pragma unroll
  for (int part = 0; part < kVec; part++) mine[part] = nothing();
  if (first + lane * kVec - shift < n_col) {
    #pragma unroll 1
    for (long long from = share * (long long)kRows; from + kRows < n_row;
         from += kShares * (long long)kRows) {
      __align__(16) float a_v[kItems * kVec];
      #pragma unroll
      for (int item = 0; item < kItems; item++) {
        const long long row = from + item * kWarps + warp;
        const long long col = first + lane * kVec - shift;
        load_words<uint4, 1>(&a_v[item * kVec], &at<uint4>(a_in, 4 * n_col * row + 4 * col));
      }
      #pragma unroll
      for (int item = 0; item < kItems; item++) {
        #pragma unroll
        for (int part = 0; part < kVec; part++) {
          const float a = a_v[item * kVec + part];
          float total;
          { total = a; }
          mine[part] = combine(mine[part], partial{total});
        }
      }
    }
    for (long long row = (n_row - 1) / kRows * kRows + share * kWarps + warp; row < n_row;
         row += kShares * kWarps) {
      constexpr int kItems = 1; // the rest, row by row
      if (row + 1 < n_row) {
        __align__(16) float a_v[kItems * kVec];
        #pragma unroll
        for (int item = 0; item < kItems; item++) {
          const long long col = first + lane * kVec - shift;
          load_words<uint4, 1>(&a_v[item * kVec], &at<uint4>(a_in, 4 * n_col * row + 4 * col));
        }
        #pragma unroll
        for (int item = 0; item < kItems; item++) {
          #pragma unroll
          for (int part = 0; part < kVec; part++) {
            const float a = a_v[item * kVec + part];
            float total;
            { total = a; }
            mine[part] = combine(mine[part], partial{total});
          }
        }
      } else { // the last word may end later
        #pragma unroll
        for (int part = 0; part < kVec; part++) {
          const long long col = first + lane * kVec + part - shift;
          if (col < 0 || col >= n_col) continue;
          const float a = a_in[n_col * row + col];
          float total;
          { total = a; }
          mine[part] = combine(mine[part], partial{total});
        }
      }
    }
  }
  #pragma unroll
  for (int part = 0; part < kVec; part++) {
    const int column = lane * kVec + part - shift;
    if (column >= 0 && column < kColumns)
      from_warps[warp][column % kVec][column / kVec] = mine[part];
  }
  __syncthreads();
  for (int column = thread; column < kColumns; column += kThreads) {
    const long long col = first + column;
    if (col >= n_col) break;
    partial all = from_warps[0][column % kVec][column / kVec];
    #pragma unroll 8
    for (int other = 1; other < kWarps; other++)
      all = combine(all, from_warps[other][column % kVec][column / kVec]);
    partials[share * n_col + col] = all;
  }
  __shared__ bool last_block;
  __threadfence(); // before it counts as arrived
  __syncthreads();
  if (thread == 0) { // the counter goes from the last one to 0, for the next launch
    last_block = atomicInc(&arrived[team], kShares - 1) == kShares - 1;
  }
  __syncthreads();
  if (!last_block) return;
  __threadfence(); // what the others left is seen from here on
  for (int column = thread; column < kColumns; column += kThreads) {
    const long long col = first + column;
    if (col >= n_col) break;
    partial all = nothing();
    #pragma unroll
    for (int other = 0; other < kShares; other++)
      all = combine(all, partial_at(partials, other * n_col + col));
    total_out[col] = all.total;
  }
}
