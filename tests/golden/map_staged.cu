// templates/device/vectors.cuh: vec_align, vec
// templates/device/words.cuh: word_of, word_bytes, evict_last_policy, store_word, load, store_evict_last, take, put

struct record12 {
  float x, y, z;
};
static_assert(sizeof(record12) == 12 && alignof(record12) == 4, "layout of record12");

// Computes one element.
__device__ __forceinline__ void compute(const record12 &p, record12 &q) {
  q = p;
}

// Each thread moves 1 vector of 4 neighbouring elements; records go through shared memory
// unchanged.
__global__ void __launch_bounds__(256)
map(const record12 *__restrict__ p, float *__restrict__ q, long long n_i) {
  constexpr int kThreads = 256;
  constexpr int kItems = 1; // vectors of a thread, whose loads are all in flight
  constexpr int kVec = 4; // elements of a vector: neighbours along i
  constexpr int kTile = kThreads * kItems; // vectors of a tile
  constexpr int kRecord_p = sizeof(record12); // bytes of a record of p
  constexpr int kTileBytes_p = kTile * kVec * kRecord_p; // and of its tile

  // records of p
  __shared__ __align__(16) unsigned char p_tile[kTileBytes_p];
  const long long vectors = (n_i + 3) >> 2;
  const int rank = threadIdx.x;
  const long long first = blockIdx.x * (long long)kTile;
  // One tile. whole: all of its vectors lie inside the arrays.
  const auto move_tile = [&](bool whole) {
    // the tile of p, as its bytes lie in memory
    const unsigned char *const p_bytes =
        reinterpret_cast<const unsigned char *>(&p[first * kVec]);
    if (whole) {
#pragma unroll
      for (int at_word = 0; at_word < kTileBytes_p; at_word += 16 * kThreads) {
        const int byte = at_word + 16 * rank;
        if (kTileBytes_p % (16 * kThreads) == 0 || byte < kTileBytes_p)
          put<16>(p_tile + byte, load<uint4>(p_bytes + byte));
      }
    } else {
      const long long bytes =
          min(0LL + kTileBytes_p, (n_i - first * kVec) * kRecord_p);
      using word = word_of<4>::type;
      for (int byte = 4 * rank; byte < bytes; byte += 4 * kThreads)
        put<4>(p_tile + byte, load<word>(p_bytes + byte));
    }
    __syncthreads();

    // compute and store
#pragma unroll
    for (int item = 0; item < kItems; item++) {
      const long long vector = first + item * kThreads + rank;
      if (!whole && vector >= vectors) break;
      const long long i = vector * kVec;
      const vec<record12, kVec> p_v =
          take<vec<record12, kVec>, 16>(p_tile + (item * kThreads + rank) * kVec * kRecord_p);
      vec<float, kVec> q_x_v;
      vec<float, kVec> q_y_v;
      vec<float, kVec> q_z_v;
#pragma unroll
      for (int e = 0; e < kVec; e++) {
        record12 q_e;
        compute(p_v[e], q_e);
        q_x_v[e] = q_e.x;
        q_y_v[e] = q_e.y;
        q_z_v[e] = q_e.z;
      }
      store_evict_last<16>(&q[i], q_x_v);
      store_evict_last<16>(&q[i + n_i], q_y_v);
      store_evict_last<16>(&q[2 * n_i + i], q_z_v);
    }
  };

  if (first + kTile <= vectors)
    move_tile(true);
  else
    move_tile(false);
}
