// templates/device/words.cuh: word_of, word_bytes, load, store

// What is computed for one element.
__device__ __forceinline__ void compute(float table, float &b) {
  b = table;
}

constexpr int kThreads = 512;
constexpr int kItems = 16; // elements of a thread
constexpr int kTile = kThreads * kItems; // elements of a tile
constexpr int kWindows = 16; // parts of table

// Moves kCount elements a thread from `first` on.
template <int kCount>
__device__ __forceinline__ void move(const int *__restrict__ pick, const float *__restrict__ table,
                                     float *__restrict__ b, long long n_i, long long n_m,
                                     long long first, unsigned int span) {
  int pick_v[kCount];
#pragma unroll
  for (int item = 0; item < kCount; item++) {
    const long long i = first + item * kThreads + threadIdx.x;
    pick_v[item] = load<int>(&pick[i]);
  }
  float table_v[kCount];
#pragma unroll 1
  for (int window = 0; window < kWindows; window++) {
    const unsigned int low = window * span;
#pragma unroll
    for (int item = 0; item < kCount; item++) {
      const long long i = first + item * kThreads + threadIdx.x;
      if ((unsigned int)(((long long)pick_v[item])) - low < span) {
        table_v[item] = load<float>(&table[((long long)pick_v[item])]);
      }
    }
  }
#pragma unroll
  for (int item = 0; item < kCount; item++) {
    const long long i = first + item * kThreads + threadIdx.x;
    float b_v;
    compute(table_v[item], b_v);
    store(&b[i], b_v);
  }
}

// table is read in 16 parts, one after the other: what is asked for at a time lies in L2.
__global__ void __launch_bounds__(512, 2)
windows(const int *__restrict__ pick, const float *__restrict__ table, float *__restrict__ b,
        long long n_i, long long n_m) {
  const unsigned int span = (unsigned int)((n_m + 15) >> 4); // elements of a window
  const long long first = blockIdx.x * (long long)kTile;
  if (first + kTile <= n_i) {
    move<kItems>(pick, table, b, n_i, n_m, first, span);
  } else {
    for (long long some = first; some + threadIdx.x < n_i; some += kThreads)
      move<1>(pick, table, b, n_i, n_m, some, span);
  }
}
