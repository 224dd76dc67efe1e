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

__device__ __forceinline__ unsigned int shared_address(const void *p) {
  return (unsigned int)__cvta_generic_to_shared(p);
}
__device__ __forceinline__ void init_barrier(unsigned long long *barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)),
               "r"(arrivals) : "memory");
}
// Barriers that were initialised before it are seen by copies behind it.
__device__ __forceinline__ void fence_barrier_init() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
// One arrival; the phase waits for these bytes as well.
__device__ __forceinline__ void expect_bytes(unsigned long long *barrier, int bytes) {
  asm volatile("{\n .reg .b64 state;\n"
               " mbarrier.arrive.expect_tx.shared::cta.b64 state, [%0], %1;\n}" ::
               "r"(shared_address(barrier)), "r"(bytes) : "memory");
}
// Waits until the phase of this parity has ended.
__device__ __forceinline__ void wait_phase(unsigned long long *barrier, int parity) {
  asm volatile("{\n .reg .pred over;\nagain:\n"
               " mbarrier.try_wait.parity.shared::cta.b64 over, [%0], %1;\n"
               " @!over bra again;\n}" ::"r"(shared_address(barrier)), "r"(parity) : "memory");
}
// Multiples of 16 bytes into shared memory; reports them to the barrier (sm_90).
__device__ __forceinline__ void bulk_load(void *to, const void *from, int bytes,
                                          unsigned long long *barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
               " [%0], [%1], %2, [%3];" ::"r"(shared_address(to)), "l"(from), "r"(bytes),
               "r"(shared_address(barrier)) : "memory");
}

// What was written to shared memory before it is seen by bulk copies behind it.
__device__ __forceinline__ void fence_async() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
// Multiples of 16 bytes out of shared memory, in the thread's group at hand.
__device__ __forceinline__ void bulk_store(void *to, const void *from, int bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group"
               " [%0], [%1], %2;" ::"l"(to), "r"(shared_address(from)), "r"(bytes)
               : "memory");
}
__device__ __forceinline__ void bulk_commit() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
// Waits until the thread's bulk stores have read their images.
__device__ __forceinline__ void bulk_wait_read() {
  asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
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

// A block takes one tile after the other; the inputs' tiles of 512 records come by bulk copies, 2
// on their way while one is computed, and the outputs leave by such.
__global__ void __launch_bounds__(256)
bulk(const float *__restrict__ p_in, particle *__restrict__ q_out, long long n_i) {
  constexpr int kThreads = 256, kItems = 2;
  constexpr int kTile = kThreads * kItems; // elements of i that a block owns
  constexpr int kStages = 3;
  extern __shared__ __align__(128) unsigned char shared_tiles[];
  // p's fields of the tile, one run of bytes after the other
  auto p_tile = reinterpret_cast<unsigned char (*)[14336]>(shared_tiles + 0); // 3 of them
  // q's tile, in the order of memory
  auto q_tile = reinterpret_cast<unsigned char (*)[14336]>(shared_tiles + 43008); // 2 of them
  __shared__ unsigned long long arrived[kStages]; // mbarriers: a phase ends when a tile is there
  const long long block = blockIdx.x;
  const int thread = threadIdx.x;
  const long long tiles = n_i / kTile; // whole ones
  // starts the copies of one tile, if there is one
  const auto fetch_tile = [&](long long tile, int stage) {
    if (thread == 0 && tile < tiles) {
      expect_bytes(&arrived[stage], 14336);
      const long long first = tile * (long long)kTile; // of i
      bulk_load(p_tile[stage], &at<char>(p_in, 4 * first), 2048, &arrived[stage]);
      bulk_load(p_tile[stage] + 2048, &at<char>(p_in, 4 * first + 4 * n_i), 2048, &arrived[stage]);
      bulk_load(p_tile[stage] + 4096, &at<char>(p_in, 8 * n_i + 4 * first), 2048, &arrived[stage]);
      bulk_load(p_tile[stage] + 6144, &at<char>(p_in, 12 * n_i + 4 * first), 2048, &arrived[stage]);
      bulk_load(p_tile[stage] + 8192, &at<char>(p_in, 16 * n_i + 4 * first), 2048, &arrived[stage]);
      bulk_load(p_tile[stage] + 10240, &at<char>(p_in, 20 * n_i + 4 * first), 2048, &arrived[stage]);
      bulk_load(p_tile[stage] + 12288, &at<char>(p_in, 24 * n_i + 4 * first), 2048, &arrived[stage]);
    }
  };
  if (thread == 0) {
    for (int stage = 0; stage < kStages; stage++)
      init_barrier(&arrived[stage], 1);
    fence_barrier_init();
  }
  __syncthreads(); // all may use the barriers
  for (int ahead = 0; ahead < kStages; ahead++)
    fetch_tile(block + ahead * (long long)gridDim.x, ahead);
  int stage = 0, parity = 0; // where the tile is, and of the phase that it ends
  int out_slice = 0;
  for (long long tile = block; tile < tiles; tile += gridDim.x) {
    wait_phase(&arrived[stage], parity);
    const long long first = tile * (long long)kTile; // of i
    #pragma unroll
    for (int item = 0; item < kItems; item++) {
      const int slot = (item * 256 + thread); // this element's place in the tile
      particle p;
      p.x = at<float>(p_tile[stage], 4 * slot);
      p.y = at<float>(p_tile[stage], 4 * slot + 2048);
      p.z = at<float>(p_tile[stage], 4 * slot + 4096);
      p.vx = at<float>(p_tile[stage], 4 * slot + 6144);
      p.vy = at<float>(p_tile[stage], 4 * slot + 8192);
      p.vz = at<float>(p_tile[stage], 4 * slot + 10240);
      p.m = at<float>(p_tile[stage], 4 * slot + 12288);
      particle q;
      { q = p; }
      at<float>(q_tile[out_slice], 28 * slot) = q.x;
      at<float>(q_tile[out_slice], 28 * slot + 4) = q.y;
      at<float>(q_tile[out_slice], 28 * slot + 8) = q.z;
      at<float>(q_tile[out_slice], 28 * slot + 12) = q.vx;
      at<float>(q_tile[out_slice], 28 * slot + 16) = q.vy;
      at<float>(q_tile[out_slice], 28 * slot + 20) = q.vz;
      at<float>(q_tile[out_slice], 28 * slot + 24) = q.m;
    }
    fence_async(); // what was put into the image is seen by the copy below
    if (thread == 0)
      bulk_wait_read(); // the image that the next round fills has been read
    __syncthreads();
    fetch_tile(tile + kStages * (long long)gridDim.x, stage); // all have picked what was there
    if (thread == 0) {
      bulk_store(&at<char>(q_out, 28 * first), q_tile[out_slice], 14336);
      bulk_commit();
    }
    if (++stage == kStages) {
      stage = 0;
      parity ^= 1;
    }
    out_slice ^= 1;
  }
  if (thread == 0)
    bulk_wait_read(); // shared memory lives until the copies have read it
  if (block == gridDim.x - 1) { // the last, partial tile
    const long long first = tiles * kTile;
    for (long long i = first + thread; i < n_i; i += 256)
      element(p_in, q_out, n_i, i);
  }
}
