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
__device__ __forceinline__ void element(const void *__restrict__ p_in, mixed *__restrict__ q_out,
    long long n_i, long long i) {
  mixed p;
  p.energy = __ldcs(&at<double>(p_in, 8 * i));
  p.weight = __ldcs(&at<float>(p_in, 8 * n_i + 4 * i));
  p.id = __ldcs(&at<int>(p_in, 12 * n_i + 4 * i));
  p.cell = __ldcs(&at<unsigned short>(p_in, 16 * n_i + 2 * i));
  p.flags = __ldcs(&at<unsigned char>(p_in, 18 * n_i + i));
  mixed q;
  { q = p; }
  __stcs(&q_out[i].energy, q.energy);
  __stcs(&q_out[i].weight, q.weight);
  __stcs(&q_out[i].id, q.id);
  __stcs(&q_out[i].cell, q.cell);
  __stcs(&q_out[i].flags, q.flags);
}

// A warp owns 64 records at a time; narrow fields that lie in arrays of their own go through shared
// memory, so that they move in words as wide as those of records.
__global__ void __launch_bounds__(256)
sections(const void *__restrict__ p_in, mixed *__restrict__ q_out, long long n_i) {
  constexpr int kItems = 2;
  constexpr int kTile = 32 * kItems; // elements of i that a warp owns
  // p's fields of the tile, one run of bytes after the other
  __shared__ __align__(16) unsigned char p_tile[8][192];
  // q's tile, in the order of memory
  __shared__ __align__(16) unsigned char q_tile[8][1536];
  const long long block = blockIdx.x;
  const int thread = threadIdx.x;
  const int warp = thread / 32, lane = thread % 32;
  const long long team = block * 8 + warp; // each warp on its own
  const long long first = team * (long long)kTile; // of i
  if (first + kTile <= n_i) {
    // p.cell: the tile's 128 bytes in as 16-byte words
    #pragma unroll
    for (int word = lane; word < 8; word += 32) {
      at<uint4>(p_tile[warp], 16 * word) = __ldcs(&at<uint4>(p_in, 16 * n_i + 16 * word + 2 * first));
    }
    // p.flags: the tile's 64 bytes in as 16-byte words
    #pragma unroll
    for (int word = lane; word < 4; word += 32) {
      at<uint4>(p_tile[warp], 16 * word + 128) = __ldcs(&at<uint4>(p_in, 18 * n_i + 16 * word + first));
    }
    mixed p_v[kItems];
    #pragma unroll
    for (int item = 0; item < kItems; item++) {
      const long long i = first + (item * 32 + lane);
      p_v[item].energy = __ldcs(&at<double>(p_in, 8 * i));
      p_v[item].weight = __ldcs(&at<float>(p_in, 8 * n_i + 4 * i));
      p_v[item].id = __ldcs(&at<int>(p_in, 12 * n_i + 4 * i));
    }
    __syncwarp();
    #pragma unroll
    for (int item = 0; item < kItems; item++) {
      const int slot = (item * 32 + lane); // this element's place in the tile
      mixed p;
      p.cell = at<unsigned short>(p_tile[warp], 2 * slot);
      p.flags = at<unsigned char>(p_tile[warp], slot + 128);
      p.energy = p_v[item].energy;
      p.weight = p_v[item].weight;
      p.id = p_v[item].id;
      mixed q;
      { q = p; }
      at<double>(q_tile[warp], 24 * slot) = q.energy;
      at<float>(q_tile[warp], 24 * slot + 8) = q.weight;
      at<int>(q_tile[warp], 24 * slot + 12) = q.id;
      at<unsigned short>(q_tile[warp], 24 * slot + 16) = q.cell;
      at<unsigned char>(q_tile[warp], 24 * slot + 18) = q.flags;
    }
    __syncwarp();
    // q: the tile's 1536 bytes out as 16-byte words
    #pragma unroll
    for (int word = lane; word < 96; word += 32) {
      __stcs(&at<uint4>(q_out, 24 * first + 16 * word), at<uint4>(q_tile[warp], 16 * word));
    }
  } else { // the last, partial tile
    for (long long i = first + lane; i < n_i; i += 32)
      element(p_in, q_out, n_i, i);
  }
}
