struct particle {
  float x, y, z, vx, vy, vz, m;
};
static_assert(sizeof(particle) == 28 && alignof(particle) == 4, "layout of particle");

// The value of type T that lies `bytes` after `base`.
template <class T> __device__ __forceinline__ const T &at(const void *base, long long bytes) {
  return *reinterpret_cast<const T *>(static_cast<const char *>(base) + bytes);
}
template <class T> __device__ __forceinline__ T &at(void *base, long long bytes) {
  return *reinterpret_cast<T *>(static_cast<char *>(base) + bytes);
}

// kBytes from global to shared memory that pass no register (sm_80): in the group at hand.
template <int kBytes> __device__ __forceinline__ void copy_async(void *to, const void *from) {
  const unsigned int place = (unsigned int)__cvta_generic_to_shared(to);
  asm volatile("cp.async.cg.shared.global [%0], [%1], %2;" ::"r"(place), "l"(from), "n"(kBytes)
               : "memory");
}

// One element of the index space, every access where its layout puts it.
__device__ __forceinline__ void element(const particle *__restrict__ p_in,
    float *__restrict__ q_out, long long n_i, long long i) {
  particle p;
  p.x = p_in[i].x;
  p.y = p_in[i].y;
  p.z = p_in[i].z;
  p.vx = p_in[i].vx;
  p.vy = p_in[i].vy;
  p.vz = p_in[i].vz;
  p.m = p_in[i].m;
  particle q;
  { q = p; }
  q_out[i] = q.x;
  q_out[i + n_i] = q.y;
  q_out[2 * n_i + i] = q.z;
  q_out[3 * n_i + i] = q.vx;
  q_out[4 * n_i + i] = q.vy;
  q_out[5 * n_i + i] = q.vz;
  q_out[6 * n_i + i] = q.m;
}

// A block takes one tile after the other; the inputs' tiles of 1024 records come by asynchronous
// copies, 3 on their way while one is computed.
__global__ void __launch_bounds__(256)
async(const particle *__restrict__ p_in, float *__restrict__ q_out, long long n_i) {
  constexpr int kThreads = 256, kItems = 4;
  constexpr int kTile = kThreads * kItems; // elements of i that a block owns
  constexpr int kStages = 4;
  extern __shared__ __align__(16) unsigned char shared_tiles[];
  // p's tile, in the order of memory
  auto p_tile = reinterpret_cast<unsigned char (*)[28672]>(shared_tiles + 0); // 4 of them
  // q's fields of the tile, one run of bytes after the other
  unsigned char *const q_tile = shared_tiles + 114688;
  const long long block = blockIdx.x;
  const int thread = threadIdx.x;
  const long long tiles = n_i / kTile; // whole ones
  // starts the copies of one tile; no more than an empty group if there is none
  const auto fetch_tile = [&](long long tile, int stage) {
    if (tile < tiles) {
      const long long first = tile * (long long)kTile; // of i
      // p: the tile's 28672 bytes in as 16-byte words
      #pragma unroll
      for (int word = thread; word < 1792; word += 256) {
        copy_async<16>(&at<char>(p_tile[stage], 16 * word), &at<char>(p_in, 28 * first + 16 * word));
      }
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
  };
  for (int ahead = 0; ahead < kStages - 1; ahead++)
    fetch_tile(block + ahead * (long long)gridDim.x, ahead);
  int stage = 0;
  for (long long tile = block; tile < tiles; tile += gridDim.x) {
    // into the image that the round before has left
    fetch_tile(tile + (kStages - 1) * (long long)gridDim.x, (stage + kStages - 1) % kStages);
    asm volatile("cp.async.wait_group %0;" ::"n"(kStages - 1) : "memory");
    __syncthreads();
    const long long first = tile * (long long)kTile; // of i
    #pragma unroll
    for (int item = 0; item < kItems; item++) {
      const int slot = (item * 256 + thread); // this element's place in the tile
      particle p;
      p.x = at<float>(p_tile[stage], 28 * slot);
      p.y = at<float>(p_tile[stage], 28 * slot + 4);
      p.z = at<float>(p_tile[stage], 28 * slot + 8);
      p.vx = at<float>(p_tile[stage], 28 * slot + 12);
      p.vy = at<float>(p_tile[stage], 28 * slot + 16);
      p.vz = at<float>(p_tile[stage], 28 * slot + 20);
      p.m = at<float>(p_tile[stage], 28 * slot + 24);
      particle q;
      { q = p; }
      at<float>(q_tile, 4 * slot) = q.x;
      at<float>(q_tile, 4 * slot + 4096) = q.y;
      at<float>(q_tile, 4 * slot + 8192) = q.z;
      at<float>(q_tile, 4 * slot + 12288) = q.vx;
      at<float>(q_tile, 4 * slot + 16384) = q.vy;
      at<float>(q_tile, 4 * slot + 20480) = q.vz;
      at<float>(q_tile, 4 * slot + 24576) = q.m;
    }
    __syncthreads();
    // q.x: the tile's 4096 bytes out as 16-byte words
    #pragma unroll
    for (int word = thread; word < 256; word += 256) {
      at<uint4>(q_out, 16 * word + 4 * first) = at<uint4>(q_tile, 16 * word);
    }
    // q.y: the tile's 4096 bytes out as 16-byte words
    #pragma unroll
    for (int word = thread; word < 256; word += 256) {
      at<uint4>(q_out, 16 * word + 4 * first + 4 * n_i) = at<uint4>(q_tile, 16 * word + 4096);
    }
    // q.z: the tile's 4096 bytes out as 16-byte words
    #pragma unroll
    for (int word = thread; word < 256; word += 256) {
      at<uint4>(q_out, 16 * word + 8 * n_i + 4 * first) = at<uint4>(q_tile, 16 * word + 8192);
    }
    // q.vx: the tile's 4096 bytes out as 16-byte words
    #pragma unroll
    for (int word = thread; word < 256; word += 256) {
      at<uint4>(q_out, 16 * word + 12 * n_i + 4 * first) = at<uint4>(q_tile, 16 * word + 12288);
    }
    // q.vy: the tile's 4096 bytes out as 16-byte words
    #pragma unroll
    for (int word = thread; word < 256; word += 256) {
      at<uint4>(q_out, 16 * n_i + 16 * word + 4 * first) = at<uint4>(q_tile, 16 * word + 16384);
    }
    // q.vz: the tile's 4096 bytes out as 16-byte words
    #pragma unroll
    for (int word = thread; word < 256; word += 256) {
      at<uint4>(q_out, 20 * n_i + 16 * word + 4 * first) = at<uint4>(q_tile, 16 * word + 20480);
    }
    // q.m: the tile's 4096 bytes out as 16-byte words
    #pragma unroll
    for (int word = thread; word < 256; word += 256) {
      at<uint4>(q_out, 24 * n_i + 16 * word + 4 * first) = at<uint4>(q_tile, 16 * word + 24576);
    }
    stage = (stage + 1) % kStages;
  }
  if (block == gridDim.x - 1) { // the last, partial tile
    const long long first = tiles * kTile;
    for (long long i = first + thread; i < n_i; i += 256)
      element(p_in, q_out, n_i, i);
  }
}
