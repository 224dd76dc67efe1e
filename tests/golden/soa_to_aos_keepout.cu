struct particle {
  float x, y, z, vx, vy, vz, m;
};
static_assert(sizeof(particle) == 28 && alignof(particle) == 4, "layout of particle");

// A policy of L2: lines that are moved by it leave it last.
__device__ __forceinline__ unsigned long long lasting_policy() {
  unsigned long long policy;
  asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}

// A value of 1 to 16 bytes, whose line L2 keeps while those that are read leave.
template <class T, class V> __device__ __forceinline__ void store_lasting(T *to, V from) {
  union { T value; unsigned int word[4]; unsigned short half; } u;
  const size_t at = __cvta_generic_to_global(to);
  u.value = from;
  if (sizeof(T) == 16)
    asm volatile("st.global.L2::cache_hint.v4.b32 [%0], {%1, %2, %3, %4}, %5;" ::"l"(at),
                 "r"(u.word[0]), "r"(u.word[1]), "r"(u.word[2]), "r"(u.word[3]),
                 "l"(lasting_policy()));
  else if (sizeof(T) == 8)
    asm volatile("st.global.L2::cache_hint.v2.b32 [%0], {%1, %2}, %3;" ::"l"(at),
                 "r"(u.word[0]), "r"(u.word[1]), "l"(lasting_policy()));
  else if (sizeof(T) == 4)
    asm volatile("st.global.L2::cache_hint.b32 [%0], %1, %2;" ::"l"(at), "r"(u.word[0]),
                 "l"(lasting_policy()));
  else if (sizeof(T) == 2)
    asm volatile("st.global.L2::cache_hint.b16 [%0], %1, %2;" ::"l"(at), "h"(u.half),
                 "l"(lasting_policy()));
  else
    asm volatile("st.global.L2::cache_hint.u8 [%0], %1, %2;" ::"l"(at), "r"(u.word[0]),
                 "l"(lasting_policy()));
}

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
  store_lasting(&q_out[i].x, q.x);
  store_lasting(&q_out[i].y, q.y);
  store_lasting(&q_out[i].z, q.z);
  store_lasting(&q_out[i].vx, q.vx);
  store_lasting(&q_out[i].vy, q.vy);
  store_lasting(&q_out[i].vz, q.vz);
  store_lasting(&q_out[i].m, q.m);
}

// A block takes one tile; the inputs' tiles of 128 records come by bulk copies.
__global__ void __launch_bounds__(128)
bulk(const float *__restrict__ p_in, particle *__restrict__ q_out, long long n_i) {
  constexpr int kThreads = 128, kItems = 1;
  constexpr int kTile = kThreads * kItems; // elements of i that a block owns
  constexpr int kStages = 1;
  // p's fields of the tile, one run of bytes after the other
  __shared__ __align__(128) unsigned char p_tile[3584];
  // q's tile, in the order of memory
  __shared__ __align__(128) unsigned char q_tile[3584];
  __shared__ unsigned long long arrived[kStages]; // mbarriers: a phase ends when a tile is there
  const long long block = blockIdx.x;
  const int thread = threadIdx.x;
  const long long tiles = n_i / kTile; // whole ones
  // starts the copies of one tile, if there is one
  const auto fetch_tile = [&](long long tile, int stage) {
    if (thread == 0 && tile < tiles) {
      expect_bytes(&arrived[stage], 3584);
      const long long first = tile * (long long)kTile; // of i
      bulk_load(p_tile, &at<char>(p_in, 4 * first), 512, &arrived[stage]);
      bulk_load(p_tile + 512, &at<char>(p_in, 4 * first + 4 * n_i), 512, &arrived[stage]);
      bulk_load(p_tile + 1024, &at<char>(p_in, 8 * n_i + 4 * first), 512, &arrived[stage]);
      bulk_load(p_tile + 1536, &at<char>(p_in, 12 * n_i + 4 * first), 512, &arrived[stage]);
      bulk_load(p_tile + 2048, &at<char>(p_in, 16 * n_i + 4 * first), 512, &arrived[stage]);
      bulk_load(p_tile + 2560, &at<char>(p_in, 20 * n_i + 4 * first), 512, &arrived[stage]);
      bulk_load(p_tile + 3072, &at<char>(p_in, 24 * n_i + 4 * first), 512, &arrived[stage]);
    }
  };
  if (thread == 0) {
    for (int stage = 0; stage < kStages; stage++)
      init_barrier(&arrived[stage], 1);
    fence_barrier_init();
  }
  __syncthreads(); // all may use the barriers
  constexpr int stage = 0;
  const long long tile = block;
  fetch_tile(tile, stage);
  if (tile < tiles) {
    wait_phase(&arrived[stage], 0);
    const long long first = tile * (long long)kTile; // of i
    #pragma unroll
    for (int item = 0; item < kItems; item++) {
      const int slot = (item * 128 + thread); // this element's place in the tile
      particle p;
      p.x = at<float>(p_tile, 4 * slot);
      p.y = at<float>(p_tile, 4 * slot + 512);
      p.z = at<float>(p_tile, 4 * slot + 1024);
      p.vx = at<float>(p_tile, 4 * slot + 1536);
      p.vy = at<float>(p_tile, 4 * slot + 2048);
      p.vz = at<float>(p_tile, 4 * slot + 2560);
      p.m = at<float>(p_tile, 4 * slot + 3072);
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
    // q: the tile's 3584 bytes out as 16-byte words
    #pragma unroll
    for (int word = thread; word < 224; word += 128) {
      store_lasting(&at<uint4>(q_out, 28 * first + 16 * word), at<uint4>(q_tile, 16 * word));
    }
  }
  if (block == gridDim.x - 1) { // the last, partial tile
    const long long first = tiles * kTile;
    for (long long i = first + thread; i < n_i; i += 128)
      element(p_in, q_out, n_i, i);
  }
}
