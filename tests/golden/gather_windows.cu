// templates/device/words.cuh: word_of, word_bytes, load, store

// Computes one element.
__device__ __forceinline__ void compute(float table, float &b) {
  b = table;
}

// table is read in 16 parts, one after the other: what is asked for at a time lies in L2.
__global__ void __launch_bounds__(512, 2)
windows(const int *__restrict__ pick, const float *__restrict__ table, float *__restrict__ b,
        long long n_i, long long n_m) {
  constexpr int kThreads = 512;
  constexpr int kItems = 16; // elements that a thread has of a tile
  constexpr int kTile = kThreads * kItems;
  constexpr int kWindows = 16; // parts of table
  const long long n_elements = n_i;
  const unsigned int span = (unsigned int)((n_m + 15) >> 4); // elements of a window
  const long long first = blockIdx.x * (long long)kTile;

  // Moves `items` elements of each thread, all that it has of a tile or one, from `from` on.
  const auto move = [&](long long from, int items) {
    int pick_v[kItems];
#pragma unroll
    for (int item = 0; item < items; item++) {
      const long long i = from + item * kThreads + threadIdx.x;
      pick_v[item] = load<int>(&pick[i]);
    }
    float table_v[kItems];
#pragma unroll 1
    for (int window = 0; window < kWindows; window++) {
      const unsigned int low = window * span;
#pragma unroll
      for (int item = 0; item < items; item++) {
        const long long i = from + item * kThreads + threadIdx.x;
        if ((unsigned int)(((long long)pick_v[item])) - low >= span) continue;
        table_v[item] = load<float>(&table[((long long)pick_v[item])]);
      }
    }
#pragma unroll
    for (int item = 0; item < items; item++) {
      const long long i = from + item * kThreads + threadIdx.x;
      float b_v;
      compute(table_v[item], b_v);
      store(&b[i], b_v);
    }
  };

  if (first + kTile <= n_elements) {
    move(first, kItems);
  } else {
    for (long long next = first; next + threadIdx.x < n_elements; next += kThreads)
      move(next, 1);
  }
}
