// templates/device/vectors.cuh: vec_align, vec, load_some, store_some
// templates/device/words.cuh: word_of, word_bytes, evict_last_policy, load_word, load_evict_last, store

// Computes one element.
__device__ __forceinline__ void compute(double a, double k, double &b) {
  b = a + k;
}

// Each thread moves 2 vectors of 2 neighbouring elements.
__global__ void __launch_bounds__(256)
map(const double *__restrict__ a, double *__restrict__ b, double k, long long n_i) {
  constexpr int kThreads = 256;
  constexpr int kItems = 2; // vectors of a thread, whose loads are all in flight
  constexpr int kVec = 2; // elements of a vector: neighbours along scalar
  constexpr int kTile = kThreads * kItems; // vectors of a tile

  const long long vectors = n_i + ((n_i + 1) >> 1);
  const int rank = threadIdx.x;
  const long long first = blockIdx.x * (long long)kTile;
  // One tile. whole: all of its vectors lie inside the arrays.
  const auto move_tile = [&](bool whole) {
    // in: all loads before the first use
    vec<double, kVec> a_v[kItems];
#pragma unroll
    for (int item = 0; item < kItems; item++) {
      const long long vector = first + item * kThreads + rank;
      if (!whole && vector >= vectors) break;
      const long long scalar = vector * kVec;
      a_v[item] = whole || kVec <= 3 * n_i - scalar
          ? load_evict_last<vec<double, kVec>, 16>(&a[scalar])
          : load_some<double, kVec>(&a[scalar], 3 * n_i - scalar);
    }

    // compute and store
#pragma unroll
    for (int item = 0; item < kItems; item++) {
      const long long vector = first + item * kThreads + rank;
      if (!whole && vector >= vectors) break;
      const long long scalar = vector * kVec;
      vec<double, kVec> b_v;
#pragma unroll
      for (int e = 0; e < kVec; e++) {
        compute(a_v[item][e], k, b_v[e]);
      }
      if (whole || kVec <= 3 * n_i - scalar) {
        store<16>(&b[scalar], b_v);
      } else {
        store_some(&b[scalar], b_v, 3 * n_i - scalar);
      }
    }
  };

  if ((first + kTile) * kVec <= 3 * n_i)
    move_tile(true);
  else
    move_tile(false);
}
