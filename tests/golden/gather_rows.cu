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

// One element of the index space, every access where its layout puts it.
__device__ __forceinline__ void element(const int *__restrict__ pick_in,
    const float *__restrict__ table_in, float *__restrict__ b_out, long long n_row,
    long long n_col, long long n_m, long long row, long long col) {
  const long long pick = pick_in[row];
  const float table = table_in[n_col * pick + col];
  float b;
  { b = table; }
  b_out[n_col * row + col] = b;
}

// 16 lanes share a row and move 32 bytes each; a team of them has 2 rows on their way.
__global__ void __launch_bounds__(256)
gather(const int *__restrict__ pick_in, const float *__restrict__ table_in,
       float *__restrict__ b_out, long long n_row, long long n_col, long long n_m) {
  constexpr int kThreads = 256, kLanes = 16, kItems = 2, kSteps = 2, kVec = 4;
  constexpr int kTeams = kThreads / kLanes, kTile = kTeams * kItems; // rows that a block owns
  const long long block = blockIdx.x;
  const int thread = threadIdx.x;
  const int team = thread / kLanes, lane = thread % kLanes; // the lanes of a team share a row
  const long long first = block * (long long)kTile;
  if (first + kTile <= n_row) {
    long long pick_v[kItems];
    #pragma unroll
    for (int item = 0; item < kItems; item++) {
      const long long row = first + team + item * kTeams;
      pick_v[item] = pick_in[row];
    }
    #pragma unroll 1
    for (long long start = lane * kVec; start < n_col; start += 128) {
      __align__(16) float table_v[kItems * kSteps * kVec];
      #pragma unroll
      for (int item = 0; item < kItems; item++) {
        #pragma unroll
        for (int step = 0; step < kSteps; step++) {
          const long long col = start + step * 64;
          const long long pick = pick_v[item];
          if (col < n_col) {
            load_words<uint4, 1>(&table_v[(item * kSteps + step) * kVec], &at<uint4>(table_in, 4 * n_col * pick + 4 * col));
          }
        }
      }
      #pragma unroll
      for (int item = 0; item < kItems; item++) {
        #pragma unroll
        for (int step = 0; step < kSteps; step++) {
          const long long row = first + team + item * kTeams;
          const long long col = start + step * 64;
          if (col < n_col) {
            __align__(16) float b_v[kVec];
            #pragma unroll
            for (int part = 0; part < kVec; part++) {
              const float table = table_v[(item * kSteps + step) * kVec + part];
              float b;
              { b = table; }
              b_v[part] = b;
            }
            store_words<uint4, 1>(&at<uint4>(b_out, 4 * n_col * row + 4 * col), b_v);
          }
        }
      }
    }
  } else { // the last, partial tile
    #pragma unroll 1
    for (long long row = first + team; row < n_row; row += kTeams)
    #pragma unroll 1
      for (long long col = lane; col < n_col; col += kLanes)
        element(pick_in, table_in, b_out, n_row, n_col, n_m, row, col);
  }
}
