// templates/device/words.cuh: word_of, word_bytes, load_streaming, store

// What is computed for one element.
__device__ __forceinline__ void compute(float a, float &b) {
  b = a;
}

constexpr int kThreads = 256;
constexpr int kItems = 2; // elements of a thread
constexpr int kTile = kThreads * kItems; // elements of a tile
constexpr int kWindows = 2; // parts of b

// Moves kCount elements a thread from `first` on.
template <int kCount>
__device__ __forceinline__ void move(const int *__restrict__ pick, const float *__restrict__ a,
                                     float *__restrict__ b, long long n_i, long long n_m,
                                     long long first, unsigned int span, unsigned int low) {
  int pick_v[kCount];
#pragma unroll
  for (int item = 0; item < kCount; item++) {
    const long long i = first + item * kThreads + threadIdx.x;
    pick_v[item] = load_streaming<int>(&pick[i]);
  }
  float a_v[kCount];
  // what falls into the window
#pragma unroll
  for (int item = 0; item < kCount; item++) {
    const long long i = first + item * kThreads + threadIdx.x;
    if ((unsigned int)(((long long)pick_v[item])) - low >= span) continue;
    a_v[item] = load_streaming<float>(&a[i]);
  }
#pragma unroll
  for (int item = 0; item < kCount; item++) {
    const long long i = first + item * kThreads + threadIdx.x;
    if ((unsigned int)(((long long)pick_v[item])) - low >= span) continue;
    float b_v;
    compute(a_v[item], b_v);
    store(&b[((long long)pick_v[item])], b_v);
  }
}

// b is written in 2 parts, one after the other: what is asked for at a time lies in L2.
__global__ void __launch_bounds__(256)
windows(const int *__restrict__ pick, const float *__restrict__ a, float *__restrict__ b,
        long long n_i, long long n_m) {
  const unsigned int span = (unsigned int)((n_m + 1) >> 1); // elements of a window
  // all tiles, window by window
  const long long tiles = (n_i + 511) >> 9;
  const unsigned int low = (unsigned int)(blockIdx.x / tiles) * span;
  const long long first = blockIdx.x % tiles * kTile;
  if (first + kTile <= n_i) {
    move<kItems>(pick, a, b, n_i, n_m, first, span, low);
  } else {
    for (long long some = first; some + threadIdx.x < n_i; some += kThreads)
      move<1>(pick, a, b, n_i, n_m, some, span, low);
  }
}
