struct mixed {
  double energy;
  float weight;
  int id;
  unsigned short cell;
  unsigned char flags;
};
static_assert(sizeof(mixed) == 24 && alignof(mixed) == 8, "layout of mixed");

// The value of type T that lies `bytes` after `base`.
template <class T> __device__ __forceinline__ const T &at(const void *base, long long bytes) {
  return *reinterpret_cast<const T *>(static_cast<const char *>(base) + bytes);
}
template <class T> __device__ __forceinline__ T &at(void *base, long long bytes) {
  return *reinterpret_cast<T *>(static_cast<char *>(base) + bytes);
}

// One element of the index space, every access where its layout puts it.
__device__ __forceinline__ void element(const mixed *__restrict__ p_in, void *__restrict__ q_out,
    long long n_i, long long i) {
  mixed p;
  p.energy = p_in[i].energy;
  p.weight = p_in[i].weight;
  p.id = p_in[i].id;
  p.cell = p_in[i].cell;
  p.flags = p_in[i].flags;
  mixed q;
  { q = p; }
  at<double>(q_out, 8 * i) = q.energy;
  at<float>(q_out, 8 * n_i + 4 * i) = q.weight;
  at<int>(q_out, 12 * n_i + 4 * i) = q.id;
  at<unsigned short>(q_out, 16 * n_i + 2 * i) = q.cell;
  at<unsigned char>(q_out, 18 * n_i + i) = q.flags;
}

// A block owns 256 records at a time; p goes through shared memory in 16-byte words, so every
// sector is moved whole.
__global__ void __launch_bounds__(256)
staged(const mixed *__restrict__ p_in, void *__restrict__ q_out, long long n_i) {
  constexpr int kThreads = 256, kItems = 1;
  constexpr int kTile = kThreads * kItems; // elements of i that a block owns
  // p's tile, in the order of memory
  __shared__ __align__(16) unsigned char p_tile[6144];
  const long long block = blockIdx.x;
  const int thread = threadIdx.x;
  const long long first = block * (long long)kTile; // of i
  if (first + kTile <= n_i) {
    // p: the tile's 6144 bytes in as 16-byte words
    #pragma unroll
    for (int word = thread; word < 384; word += 256) {
      at<uint4>(p_tile, 16 * word) = at<uint4>(p_in, 24 * first + 16 * word);
    }
    __syncthreads();
    #pragma unroll
    for (int item = 0; item < kItems; item++) {
      const int slot = (item * 256 + thread); // this element's place in the tile
      const long long i = first + (item * 256 + thread);
      mixed p;
      p.energy = at<double>(p_tile, 24 * slot);
      p.weight = at<float>(p_tile, 24 * slot + 8);
      p.id = at<int>(p_tile, 24 * slot + 12);
      p.cell = at<unsigned short>(p_tile, 24 * slot + 16);
      p.flags = at<unsigned char>(p_tile, 24 * slot + 18);
      mixed q;
      { q = p; }
      at<double>(q_out, 8 * i) = q.energy;
      at<float>(q_out, 8 * n_i + 4 * i) = q.weight;
      at<int>(q_out, 12 * n_i + 4 * i) = q.id;
      at<unsigned short>(q_out, 16 * n_i + 2 * i) = q.cell;
      at<unsigned char>(q_out, 18 * n_i + i) = q.flags;
    }
  } else { // the last, partial tile
    for (long long i = first + thread; i < n_i; i += 256)
      element(p_in, q_out, n_i, i);
  }
}
