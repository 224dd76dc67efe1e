// templates/device/bits.cuh: unsigned_bits, unsigned_bits_in
// templates/device/words.cuh: word_of, word_bytes, load, store, take, put, swizzled, put_swizzled

// f16: 2 bytes; arithmetic goes through float.
struct f16 {
  unsigned short bits;
  f16() = default;
  __device__ __forceinline__ f16(float x) {
    unsigned int pair; // with 0: a conversion to one half alone is slow
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(0.0f), "f"(x));
    bits = (unsigned short)pair;
  }
  __device__ __forceinline__ operator float() const {
    float x;
    asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
    return x;
  }
};

struct block_q4_0 {
  f16 d;
  unsigned char qs[16]; // 32 of u4, 2 a byte, low bits first
};
static_assert(sizeof(block_q4_0) == 18 && alignof(block_q4_0) == 2, "layout of block_q4_0");

struct weights {
  f16 x[32];
};
static_assert(sizeof(weights) == 64 && alignof(weights) == 2, "layout of weights");

// Computes one element.
__device__ __forceinline__ void compute(const block_q4_0 &b, weights &w) {
  for (int n = 0; n < 16; n++) {
    w.x[n] = (float)b.d * (unsigned_bits_in<4>(b.qs, 2 * n) - 8);
    w.x[n + 16] = (float)b.d * (unsigned_bits_in<4>(b.qs, 2 * n + 1) - 8);
  }
}

// Each thread moves 1 vector of 1 neighbouring element; records go through shared memory unchanged.
__global__ void __launch_bounds__(256)
map(const block_q4_0 *__restrict__ b, weights *__restrict__ w, long long n_block) {
  constexpr int kThreads = 256;
  constexpr int kItems = 1; // vectors of a thread, whose loads are all in flight
  constexpr int kTile = kThreads * kItems; // vectors of a tile
  constexpr int kRecord_b = sizeof(block_q4_0); // bytes of a record of b
  constexpr int kTileBytes_b = kTile * kRecord_b; // and of its tile
  constexpr int kRecord_w = sizeof(weights); // bytes of a record of w
  constexpr int kTileBytes_w = kTile * kRecord_w; // and of its tile

  // records of b
  __shared__ __align__(16) unsigned char b_tile[kTileBytes_b];
  // records of w
  __shared__ __align__(16) unsigned char w_tile[kTileBytes_w];
  const long long vectors = n_block;
  const int rank = threadIdx.x;
  const long long first = blockIdx.x * (long long)kTile;
  // One tile. whole: all of its vectors lie inside the arrays.
  const auto move_tile = [&](bool whole) {
    // the tile of b, as its bytes lie in memory
    const unsigned char *const b_bytes =
        reinterpret_cast<const unsigned char *>(&b[first]);
    if (whole) {
#pragma unroll
      for (int at_word = 0; at_word < kTileBytes_b; at_word += 16 * kThreads) {
        const int byte = at_word + 16 * rank;
        if (kTileBytes_b % (16 * kThreads) == 0 || byte < kTileBytes_b)
          put<16>(b_tile + byte, load<uint4>(b_bytes + byte));
      }
    } else {
      const long long bytes =
          min(0LL + kTileBytes_b, (n_block - first) * kRecord_b);
      using word = word_of<2>::type;
      for (int byte = 2 * rank; byte < bytes; byte += 2 * kThreads)
        put<2>(b_tile + byte, load<word>(b_bytes + byte));
    }
    __syncthreads();

    // compute and store
#pragma unroll
    for (int item = 0; item < kItems; item++) {
      const long long vector = first + item * kThreads + rank;
      if (!whole && vector >= vectors) break;
      const long long block = vector;
      const block_q4_0 b_v = take<block_q4_0, 2>(b_tile + (item * kThreads + rank) * kRecord_b);
      weights w_v;
      compute(b_v, w_v);
      put_swizzled(w_tile, (item * kThreads + rank) * kRecord_w, w_v);
    }
    __syncthreads();
    // the tile of w, as its bytes lie in memory
    unsigned char *const w_bytes = reinterpret_cast<unsigned char *>(&w[first]);
    if (whole) {
#pragma unroll
      for (int at_word = 0; at_word < kTileBytes_w; at_word += 16 * kThreads) {
        const int byte = at_word + 16 * rank;
        if (kTileBytes_w % (16 * kThreads) == 0 || byte < kTileBytes_w)
          store(w_bytes + byte, take<uint4>(w_tile + swizzled(byte)));
      }
    } else {
      const long long bytes =
          min(0LL + kTileBytes_w, (n_block - first) * kRecord_w);
      for (int byte = 16 * rank; byte < bytes; byte += 16 * kThreads)
        store(w_bytes + byte, take<word_of<16>::type>(w_tile + swizzled(byte)));
    }
  };

  if (first + kTile <= vectors)
    move_tile(true);
  else
    move_tile(false);
}
