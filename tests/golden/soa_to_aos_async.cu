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
__device__ __forceinline__ void element(const float *__restrict__ p_in,
    particle *__restrict__ q_out, long long n_i, long long i) {
  particle p;
  p.x = p_in[i];
  p.y = p_in[i + n_i];
  p.z = p_in[2 * n_i + i];
  p.vx = p_in[3 * n_i + i];
  p.vy = p_in[4 * n_i + i];
  p.vz = p_in[5 * n_i + i];
  p.m = p_in[6 * n_i + i];
  particle q;
  { q = p; }
  q_out[i].x = q.x;
  q_out[i].y = q.y;
  q_out[i].z = q.z;
  q_out[i].vx = q.vx;
  q_out[i].vy = q.vy;
  q_out[i].vz = q.vz;
  q_out[i].m = q.m;
}

// A block takes one tile after the other; the inputs' tiles of 256 records come by asynchronous
// copies, 1 on their way while one is computed.
__global__ void __launch_bounds__(128)
async(const float *__restrict__ p_in, particle *__restrict__ q_out, long long n_i) {
  constexpr int kThreads = 128, kItems = 2;
  constexpr int kTile = kThreads * kItems; // elements of i that a block owns
  constexpr int kStages = 2;
  // p's fields of the tile, one run of bytes after the other
  __shared__ __align__(16) unsigned char p_tile[2][7168];
  // q's tile, in the order of memory
  __shared__ __align__(16) unsigned char q_tile[7168];
  const long long block = blockIdx.x;
  const int thread = threadIdx.x;
  const long long tiles = n_i / kTile; // whole ones
  // starts the copies of one tile; no more than an empty group if there is none
  const auto fetch_tile = [&](long long tile, int stage) {
    if (tile < tiles) {
      const long long first = tile * (long long)kTile; // of i
      // p.x: the tile's 1024 bytes in as 16-byte words
      #pragma unroll
      for (int word = thread; word < 64; word += 128) {
        copy_async<16>(&at<char>(p_tile[stage], 16 * word), &at<char>(p_in, 16 * word + 4 * first));
      }
      // p.y: the tile's 1024 bytes in as 16-byte words
      #pragma unroll
      for (int word = (thread + 64) % 128; word < 64; word += 128) {
        copy_async<16>(&at<char>(p_tile[stage], 16 * word + 1024), &at<char>(p_in, 16 * word + 4 * first + 4 * n_i));
      }
      // p.z: the tile's 1024 bytes in as 16-byte words
      #pragma unroll
      for (int word = thread; word < 64; word += 128) {
        copy_async<16>(&at<char>(p_tile[stage], 16 * word + 2048), &at<char>(p_in, 16 * word + 8 * n_i + 4 * first));
      }
      // p.vx: the tile's 1024 bytes in as 16-byte words
      #pragma unroll
      for (int word = (thread + 64) % 128; word < 64; word += 128) {
        copy_async<16>(&at<char>(p_tile[stage], 16 * word + 3072), &at<char>(p_in, 16 * word + 12 * n_i + 4 * first));
      }
      // p.vy: the tile's 1024 bytes in as 16-byte words
      #pragma unroll
      for (int word = thread; word < 64; word += 128) {
        copy_async<16>(&at<char>(p_tile[stage], 16 * word + 4096), &at<char>(p_in, 16 * n_i + 16 * word + 4 * first));
      }
      // p.vz: the tile's 1024 bytes in as 16-byte words
      #pragma unroll
      for (int word = (thread + 64) % 128; word < 64; word += 128) {
        copy_async<16>(&at<char>(p_tile[stage], 16 * word + 5120), &at<char>(p_in, 20 * n_i + 16 * word + 4 * first));
      }
      // p.m: the tile's 1024 bytes in as 16-byte words
      #pragma unroll
      for (int word = thread; word < 64; word += 128) {
        copy_async<16>(&at<char>(p_tile[stage], 16 * word + 6144), &at<char>(p_in, 24 * n_i + 16 * word + 4 * first));
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
      const int slot = (item * 128 + thread); // this element's place in the tile
      particle p;
      p.x = at<float>(p_tile[stage], 4 * slot);
      p.y = at<float>(p_tile[stage], 4 * slot + 1024);
      p.z = at<float>(p_tile[stage], 4 * slot + 2048);
      p.vx = at<float>(p_tile[stage], 4 * slot + 3072);
      p.vy = at<float>(p_tile[stage], 4 * slot + 4096);
      p.vz = at<float>(p_tile[stage], 4 * slot + 5120);
      p.m = at<float>(p_tile[stage], 4 * slot + 6144);
      particle q;
      { q = p; }
      at<float>(q_tile, 28 * slot) = q.x;
      at<float>(q_tile, 28 * slot + 4) = q.y;
      at<float>(q_tile, 28 * slot + 8) = q.z;
      at<float>(q_tile, 28 * slot + 12) = q.vx;
      at<float>(q_tile, 28 * slot + 16) = q.vy;
      at<float>(q_tile, 28 * slot + 20) = q.vz;
      at<float>(q_tile, 28 * slot + 24) = q.m;
    }
    __syncthreads();
    // q: the tile's 7168 bytes out as 16-byte words
    #pragma unroll
    for (int word = thread; word < 448; word += 128) {
      at<uint4>(q_out, 28 * first + 16 * word) = at<uint4>(q_tile, 16 * word);
    }
    stage = (stage + 1) % kStages;
  }
  if (block == gridDim.x - 1) { // the last, partial tile
    const long long first = tiles * kTile;
    for (long long i = first + thread; i < n_i; i += 128)
      element(p_in, q_out, n_i, i);
  }
}
