// templates/device/words.cuh: at_byte, word_of, word_bytes, load, store, take, put

struct mixed {
  double energy;
  float weight;
  int id;
  unsigned short cell;
  unsigned char flags;
};
static_assert(sizeof(mixed) == 24 && alignof(mixed) == 8, "layout of mixed");

// Computes one element.
__device__ __forceinline__ void compute(const mixed &p, mixed &q) {
  q = p;
}

// Each thread moves 2 vectors of 1 neighbouring element; records go through shared memory
// unchanged.
__global__ void __launch_bounds__(128)
map(const void *__restrict__ p, mixed *__restrict__ q, long long n_i) {
  constexpr int kThreads = 128;
  constexpr int kTeam = 32; // threads that share a tile: a warp
  constexpr int kItems = 2; // vectors of a thread, whose loads are all in flight
  constexpr int kTile = kTeam * kItems; // vectors of a tile
  constexpr int kRecord_q = sizeof(mixed); // bytes of a record of q
  constexpr int kTileBytes_q = kTile * kRecord_q; // and of its tile

  // records of q
  __shared__ __align__(16) unsigned char q_tiles[kThreads / kTeam * kTileBytes_q];
  const long long vectors = n_i;
  const int warp = threadIdx.x / kTeam, rank = threadIdx.x % kTeam;
  unsigned char *const q_tile = q_tiles + warp * kTileBytes_q;
  const long long first = (blockIdx.x * (long long)(kThreads / kTeam) + warp) * kTile;
  // One tile. whole: all of its vectors lie inside the arrays.
  const auto move_tile = [&](bool whole) {
    // in: all loads before the first use
    double p_energy_v[kItems];
    float p_weight_v[kItems];
    int p_id_v[kItems];
    unsigned short p_cell_v[kItems];
    unsigned char p_flags_v[kItems];
#pragma unroll
    for (int item = 0; item < kItems; item++) {
      const long long vector = first + item * kTeam + rank;
      if (!whole && vector >= vectors) break;
      const long long i = vector;
      p_energy_v[item] = load<double>(at_byte<double>(p, 8 * i));
      p_weight_v[item] = load<float>(at_byte<float>(p, 8 * n_i + 4 * i));
      p_id_v[item] = load<int>(at_byte<int>(p, 12 * n_i + 4 * i));
      p_cell_v[item] = load<unsigned short>(at_byte<unsigned short>(p, 16 * n_i + 2 * i));
      p_flags_v[item] = load<unsigned char>(at_byte<unsigned char>(p, 18 * n_i + i));
    }

    // compute and store
#pragma unroll
    for (int item = 0; item < kItems; item++) {
      const long long vector = first + item * kTeam + rank;
      if (!whole && vector >= vectors) break;
      const long long i = vector;
      mixed q_v;
      mixed p_e;
      p_e.energy = p_energy_v[item];
      p_e.weight = p_weight_v[item];
      p_e.id = p_id_v[item];
      p_e.cell = p_cell_v[item];
      p_e.flags = p_flags_v[item];
      compute(p_e, q_v);
      put<8>(q_tile + (item * kTeam + rank) * kRecord_q, q_v);
    }
    __syncwarp();
    // the tile of q, as its bytes lie in memory
    unsigned char *const q_bytes = reinterpret_cast<unsigned char *>(&q[first]);
    if (whole) {
#pragma unroll
      for (int at_word = 0; at_word < kTileBytes_q; at_word += 16 * kTeam) {
        const int byte = at_word + 16 * rank;
        if (kTileBytes_q % (16 * kTeam) == 0 || byte < kTileBytes_q)
          store(q_bytes + byte, take<uint4>(q_tile + byte));
      }
    } else {
      const long long bytes =
          min(0LL + kTileBytes_q, (n_i - first) * kRecord_q);
      for (int byte = 8 * rank; byte < bytes; byte += 8 * kTeam)
        store(q_bytes + byte, take<word_of<8>::type>(q_tile + byte));
    }
  };

  if (first + kTile <= vectors)
    move_tile(true);
  else
    move_tile(false);
}
