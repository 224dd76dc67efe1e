// templates/device/words.cuh: word_of, word_bytes, load_streaming, store

// Computes one element.
__device__ __forceinline__ void compute(float a, float &b) {
  b = a;
}

// b is written in 2 parts, one after the other: what is asked for at a time lies in L2.
__global__ void __launch_bounds__(256)
windows(const int *__restrict__ pick, const float *__restrict__ a, float *__restrict__ b,
        long long n_i, long long n_m) {
  constexpr int kThreads = 256;
  constexpr int kItems = 2; // elements that a thread has of a tile
  constexpr int kTile = kThreads * kItems;
  const long long n_elements = n_i;
  const unsigned int span = (unsigned int)((n_m + 1) >> 1); // elements of a window
  // all tiles, window by window
  const long long tiles = (n_i + 511) >> 9;
  const unsigned int low = (unsigned int)(blockIdx.x / tiles) * span;
  const long long first = blockIdx.x % tiles * kTile;

  // Moves `items` elements of each thread, all that it has of a tile or one, from `from` on.
  const auto move = [&](long long from, int items) {
    int pick_v[kItems];
#pragma unroll
    for (int item = 0; item < items; item++) {
      const long long i = from + item * kThreads + threadIdx.x;
      pick_v[item] = load_streaming<int>(&pick[i]);
    }
    // what falls into the window
    float a_v[kItems];
#pragma unroll
    for (int item = 0; item < items; item++) {
      const long long i = from + item * kThreads + threadIdx.x;
      if ((unsigned int)(((long long)pick_v[item])) - low >= span) continue;
      a_v[item] = load_streaming<float>(&a[i]);
    }
#pragma unroll
    for (int item = 0; item < items; item++) {
      const long long i = from + item * kThreads + threadIdx.x;
      if ((unsigned int)(((long long)pick_v[item])) - low >= span) continue;
      float b_v;
      compute(a_v[item], b_v);
      store(&b[((long long)pick_v[item])], b_v);
    }
  };

  if (first + kTile <= n_elements) {
    move(first, kItems);
  } else {
    for (long long next = first; next + threadIdx.x < n_elements; next += kThreads)
      move(next, 1);
  }
}
