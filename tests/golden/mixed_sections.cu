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

// A word in kCount pieces: where the image's rows are padded, only pieces are aligned.
template <class Piece, int kCount>
__device__ __forceinline__ void copy_pieces(void *to, const void *from) {
#pragma unroll
  for (int k = 0; k < kCount; k++)
    static_cast<Piece *>(to)[k] = static_cast<const Piece *>(from)[k];
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

// A block owns 512 records at a time; all fields that lie in arrays of their own go through shared
// memory, so that they move in words as wide as those of records.
__global__ void __launch_bounds__(256)
sections(const mixed *__restrict__ p_in, void *__restrict__ q_out, long long n_i) {
  constexpr int kThreads = 256, kItems = 2;
  constexpr int kTile = kThreads * kItems; // elements of i that a block owns
  // p's tile, in the order of memory, 8 bytes of padding every 128
  __shared__ __align__(16) unsigned char p_tile[13072];
  // q's fields of the tile, one run of bytes after the other
  __shared__ __align__(16) unsigned char q_tile[9728];
  const long long block = blockIdx.x;
  const int thread = threadIdx.x;
  const long long first = block * (long long)kTile; // of i
  if (first + kTile <= n_i) {
    // p: the tile's 12288 bytes in as 16-byte words
    #pragma unroll
    for (int word = thread; word < 768; word += 256) {
      const uint4 value = at<uint4>(p_in, 24 * first + 16 * word);
      copy_pieces<uint2, 2>(&at<uint2>(p_tile, 16 * word + (word >> 3) * 8), &value);
    }
    __syncthreads();
    #pragma unroll
    for (int item = 0; item < kItems; item++) {
      const int slot = (item * 256 + thread); // this element's place in the tile
      mixed p;
      p.energy = at<double>(p_tile, 24 * slot + ((3 * slot) >> 4) * 8);
      p.weight = at<float>(p_tile, 24 * slot + ((3 * slot + 1) >> 4) * 8 + 8);
      p.id = at<int>(p_tile, 24 * slot + ((3 * slot + 1) >> 4) * 8 + 12);
      p.cell = at<unsigned short>(p_tile, 24 * slot + ((3 * slot + 2) >> 4) * 8 + 16);
      p.flags = at<unsigned char>(p_tile, 24 * slot + ((3 * slot + 2) >> 4) * 8 + 18);
      mixed q;
      { q = p; }
      at<double>(q_tile, 8 * slot) = q.energy;
      at<float>(q_tile, 4 * slot + 4096) = q.weight;
      at<int>(q_tile, 4 * slot + 6144) = q.id;
      at<unsigned short>(q_tile, 2 * slot + 8192) = q.cell;
      at<unsigned char>(q_tile, slot + 9216) = q.flags;
    }
    __syncthreads();
    // q.energy: the tile's 4096 bytes out as 16-byte words
    #pragma unroll
    for (int word = thread; word < 256; word += 256) {
      at<uint4>(q_out, 16 * word + 8 * first) = at<uint4>(q_tile, 16 * word);
    }
    // q.weight: the tile's 2048 bytes out as 16-byte words
    #pragma unroll
    for (int word = thread; word < 128; word += 256) {
      at<uint4>(q_out, 16 * word + 8 * n_i + 4 * first) = at<uint4>(q_tile, 16 * word + 4096);
    }
    // q.id: the tile's 2048 bytes out as 16-byte words
    #pragma unroll
    for (int word = (thread + 128) % 256; word < 128; word += 256) {
      at<uint4>(q_out, 16 * word + 12 * n_i + 4 * first) = at<uint4>(q_tile, 16 * word + 6144);
    }
    // q.cell: the tile's 1024 bytes out as 16-byte words
    #pragma unroll
    for (int word = thread; word < 64; word += 256) {
      at<uint4>(q_out, 16 * n_i + 16 * word + 2 * first) = at<uint4>(q_tile, 16 * word + 8192);
    }
    // q.flags: the tile's 512 bytes out as 16-byte words
    #pragma unroll
    for (int word = (thread + 192) % 256; word < 32; word += 256) {
      at<uint4>(q_out, 18 * n_i + 16 * word + first) = at<uint4>(q_tile, 16 * word + 9216);
    }
  } else { // the last, partial tile
    for (long long i = first + thread; i < n_i; i += 256)
      element(p_in, q_out, n_i, i);
  }
}
