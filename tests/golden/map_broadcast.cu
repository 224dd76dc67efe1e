// templates/device/vectors.cuh: vec_align, vec
// templates/device/words.cuh: word_of, word_bytes, load, store

// Computes one element.
__device__ __forceinline__ void compute(float a, float w, float &b) {
  b = a * w;
}

// Where a vector starts.
struct multi_index {
  long long i1, i0;
};

// Each thread moves 2 vectors of 4 neighbouring elements.
__global__ void __launch_bounds__(256)
map(const float *__restrict__ a, const float *__restrict__ w, float *__restrict__ b,
    long long n_i) {
  constexpr int kThreads = 256;
  constexpr int kItems = 2; // vectors of a thread, whose loads are all in flight
  constexpr int kVec = 4; // elements of a vector: neighbours along i0
  constexpr int kTile = kThreads * kItems; // vectors of a tile

  const long long vectors = (n_i >> 5) * 8;
  const int rank = threadIdx.x;
  const long long first = blockIdx.x * (long long)kTile;
  // One tile. whole: all of its vectors lie inside the arrays.
  const auto move_tile = [&](bool whole) {
    // where the tile starts; its vectors are counted on from there
    long long outer = first;
    constexpr unsigned int count_i0 = 8;
    const unsigned int first_i0 = (unsigned int)outer % count_i0;
    outer = (unsigned long long)outer / count_i0;
    multi_index indices[kItems];
#pragma unroll
    for (int item = 0; item < kItems; item++) {
      unsigned int counted = item * kThreads + rank, here;
      counted += first_i0;
      here = counted % count_i0;
      counted /= count_i0;
      indices[item].i0 = (long long)here * kVec;
      indices[item].i1 = outer + counted;
    }

    // in: all loads before the first use
    vec<float, kVec> a_v[kItems];
    float w_v[kItems];
#pragma unroll
    for (int item = 0; item < kItems; item++) {
      const long long vector = first + item * kThreads + rank;
      if (!whole && vector >= vectors) break;
      const multi_index at = indices[item];
      a_v[item] = load<vec<float, kVec>, 16>(&a[vector * kVec]);
      w_v[item] = load<float>(&w[at.i1]);
    }

    // compute and store
#pragma unroll
    for (int item = 0; item < kItems; item++) {
      const long long vector = first + item * kThreads + rank;
      if (!whole && vector >= vectors) break;
      vec<float, kVec> b_v;
#pragma unroll
      for (int e = 0; e < kVec; e++) {
        compute(a_v[item][e], w_v[item], b_v[e]);
      }
      store<16>(&b[vector * kVec], b_v);
    }
  };

  if (first + kTile <= vectors)
    move_tile(true);
  else
    move_tile(false);
}
