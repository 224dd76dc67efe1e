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

// The largest power of two that divides n, up to 32; and what n is to be multiplied by for 1
// modulo m.
__device__ constexpr int twos_in(int n) { return (n & -n) < 32 ? n & -n : 32; }
__device__ constexpr int inverse_of(int n, int m) {
  for (int k = 1; k < m; k++)
    if (n * k % m == 1) return k;
  return 0;
}
// kLists lists of kCount words, both in steps: word x of each becomes what was word x + by of it.
template <int kLists, int kListStep, int kCount, int kStep, int kWords, int kPieces>
__device__ __forceinline__ void rotate_words(unsigned int (&w)[kWords][kPieces], int by) {
#pragma unroll
  for (int bit = 1; bit < kCount; bit *= 2)
#pragma unroll
    for (int list = 0; list < kLists * kPieces; list++) {
      unsigned int before[kCount];
#pragma unroll
      for (int x = 0; x < kCount; x++)
        before[x] = w[list / kPieces * kListStep + x * kStep][list % kPieces];
#pragma unroll
      for (int x = 0; x < kCount; x++) {
        const unsigned int here = before[x], there = before[(x + bit) % kCount];
        w[list / kPieces * kListStep + x * kStep][list % kPieces] = by & bit ? there : here;
      }
    }
}
// Of 32 lanes' runs of kWords words: from words that lanes hold striped (the word k of lane l is
// number 32 k + l) to each lane's own, and back.
template <int kWords, int kPieces>
__device__ __forceinline__ void take_own(unsigned int (&w)[kWords][kPieces], int lane) {
  constexpr int kTwos = twos_in(kWords), kOdd = kWords / kTwos, kSame = 32 / kTwos;
  constexpr int kInverse = inverse_of(kSame, kOdd);
  const int list = lane / kSame, base = lane % kSame * kWords;
  rotate_words<kOdd, 1, kTwos, kOdd>(w, lane % kTwos);
  rotate_words<kTwos, kOdd, kOdd, 1>(w, kOdd - lane / kTwos * kInverse % kOdd);
  unsigned int own[kWords][kPieces];
#pragma unroll
  for (int k = 0; k < kWords; k++) {
    const int h = k / kTwos, turn = k % kTwos;
    const int from = base + h * kTwos + (turn + list) % kTwos;
#pragma unroll
    for (int piece = 0; piece < kPieces; piece++)
      own[k][piece] = __shfl_sync(
        0xffffffff, w[(kTwos - turn) % kTwos * kOdd + h * kInverse % kOdd][piece], from);
  }
  rotate_words<kOdd, kTwos, kTwos, 1>(own, kTwos - list);
#pragma unroll
  for (int k = 0; k < kWords * kPieces; k++)
    w[k / kPieces][k % kPieces] = own[k / kPieces][k % kPieces];
}
template <int kWords, int kPieces>
__device__ __forceinline__ void give_own(unsigned int (&w)[kWords][kPieces], int lane) {
  constexpr int kTwos = twos_in(kWords), kOdd = kWords / kTwos, kSame = 32 / kTwos;
  constexpr int kInverse = inverse_of(kSame, kOdd), kBack = inverse_of(kOdd, kSame);
  rotate_words<kOdd, kTwos, kTwos, 1>(w, lane / kSame);
  unsigned int striped[kWords][kPieces];
#pragma unroll
  for (int k = 0; k < kWords; k++) {
    const int h = k / kTwos, turn = k % kTwos;
    const int from = (lane + kTwos - turn) % kTwos * kSame
      + ((lane / kTwos - h) * kBack & (kSame - 1));
#pragma unroll
    for (int piece = 0; piece < kPieces; piece++)
      striped[(kTwos - turn) % kTwos * kOdd + h * kInverse % kOdd][piece] =
        __shfl_sync(0xffffffff, w[k][piece], from);
  }
  rotate_words<kOdd, 1, kTwos, kOdd>(striped, kTwos - lane % kTwos);
  rotate_words<kTwos, kOdd, kOdd, 1>(striped, lane / kTwos * kInverse % kOdd);
#pragma unroll
  for (int k = 0; k < kWords * kPieces; k++)
    w[k / kPieces][k % kPieces] = striped[k / kPieces][k % kPieces];
}
// kCount words of each lane; `from` and `to`: the lane's first word in memory, striped; streaming: each is used once.
template <class Word, int kCount>
__device__ __forceinline__ void load_striped(void *to, const Word *from, int lane) {
  constexpr int kPieces = sizeof(Word) / 4;
  __align__(16) unsigned int w[kCount][kPieces];
#pragma unroll
  for (int k = 0; k < kCount; k++)
    *reinterpret_cast<Word *>(w[k]) = __ldcs(from + 32 * k);
  take_own(w, lane);
#pragma unroll
  for (int k = 0; k < kCount; k++)
    static_cast<Word *>(to)[k] = *reinterpret_cast<const Word *>(w[k]);
}
template <class Word, int kCount>
__device__ __forceinline__ void store_striped(Word *to, const void *from, int lane) {
  constexpr int kPieces = sizeof(Word) / 4;
  __align__(16) unsigned int w[kCount][kPieces];
#pragma unroll
  for (int k = 0; k < kCount; k++)
    *reinterpret_cast<Word *>(w[k]) = static_cast<const Word *>(from)[k];
  give_own(w, lane);
#pragma unroll
  for (int k = 0; k < kCount; k++)
    __stcs(to + 32 * k, *reinterpret_cast<const Word *>(w[k]));
}

// kCount words from or to neighbouring addresses, streaming: each is used once.
template <class Word, int kCount>
__device__ __forceinline__ void load_words(void *to, const void *from) {
#pragma unroll
  for (int k = 0; k < kCount; k++)
    static_cast<Word *>(to)[k] = __ldcs(static_cast<const Word *>(from) + k);
}
template <class Word, int kCount>
__device__ __forceinline__ void store_words(void *to, const void *from) {
#pragma unroll
  for (int k = 0; k < kCount; k++)
    __stcs(static_cast<Word *>(to) + k, static_cast<const Word *>(from)[k]);
}

// One element of the index space, every access where its layout puts it.
__device__ __forceinline__ void element(const float *__restrict__ p_in,
    particle *__restrict__ q_out, long long n_i, long long i) {
  particle p;
  p.x = __ldcs(&p_in[i]);
  p.y = __ldcs(&p_in[i + n_i]);
  p.z = __ldcs(&p_in[2 * n_i + i]);
  p.vx = __ldcs(&p_in[3 * n_i + i]);
  p.vy = __ldcs(&p_in[4 * n_i + i]);
  p.vz = __ldcs(&p_in[5 * n_i + i]);
  p.m = __ldcs(&p_in[6 * n_i + i]);
  particle q;
  { q = p; }
  __stcs(&q_out[i].x, q.x);
  __stcs(&q_out[i].y, q.y);
  __stcs(&q_out[i].z, q.z);
  __stcs(&q_out[i].vx, q.vx);
  __stcs(&q_out[i].vy, q.vy);
  __stcs(&q_out[i].vz, q.vz);
  __stcs(&q_out[i].m, q.m);
}

// Each thread owns 1 x 4 neighbouring elements; a warp moves their words in order and its lanes
// exchange them by shuffles.
__global__ void __launch_bounds__(128)
shuffle(const float *__restrict__ p_in, particle *__restrict__ q_out, long long n_i) {
  constexpr int kThreads = 128, kItems = 1, kVec = 4;
  constexpr int kTile = kThreads * kItems * kVec; // elements of i that a block owns
  const long long block = blockIdx.x;
  const int thread = threadIdx.x;
  const int lane = thread % 32;
  const long long first = block * (long long)kTile; // of i
  if (first + kTile <= n_i) {
    __align__(16) float p_x_v[kItems * kVec];
    __align__(16) float p_y_v[kItems * kVec];
    __align__(16) float p_z_v[kItems * kVec];
    __align__(16) float p_vx_v[kItems * kVec];
    __align__(16) float p_vy_v[kItems * kVec];
    __align__(16) float p_vz_v[kItems * kVec];
    __align__(16) float p_m_v[kItems * kVec];
    #pragma unroll
    for (int item = 0; item < kItems; item++) {
      const long long i = first + (item * 128 + thread) * kVec;
      load_words<uint4, 1>(&p_x_v[item * kVec], &at<uint4>(p_in, 4 * i));
      load_words<uint4, 1>(&p_y_v[item * kVec], &at<uint4>(p_in, 4 * i + 4 * n_i));
      load_words<uint4, 1>(&p_z_v[item * kVec], &at<uint4>(p_in, 8 * n_i + 4 * i));
      load_words<uint4, 1>(&p_vx_v[item * kVec], &at<uint4>(p_in, 12 * n_i + 4 * i));
      load_words<uint4, 1>(&p_vy_v[item * kVec], &at<uint4>(p_in, 16 * n_i + 4 * i));
      load_words<uint4, 1>(&p_vz_v[item * kVec], &at<uint4>(p_in, 20 * n_i + 4 * i));
      load_words<uint4, 1>(&p_m_v[item * kVec], &at<uint4>(p_in, 24 * n_i + 4 * i));
    }
    #pragma unroll
    for (int item = 0; item < kItems; item++) {
      __align__(16) particle q_v[kVec];
      #pragma unroll
      for (int part = 0; part < kVec; part++) {
        particle p;
        p.x = p_x_v[item * kVec + part];
        p.y = p_y_v[item * kVec + part];
        p.z = p_z_v[item * kVec + part];
        p.vx = p_vx_v[item * kVec + part];
        p.vy = p_vy_v[item * kVec + part];
        p.vz = p_vz_v[item * kVec + part];
        p.m = p_m_v[item * kVec + part];
        particle q;
        { q = p; }
        q_v[part] = q;
      }
      const long long group_start = first + (item * 128 + thread) * kVec;
      store_striped<uint4, 7>(&at<uint4>(q_out, 28 * group_start - 96 * lane), q_v, lane);
    }
  } else { // the last, partial tile
    for (long long i = first + thread; i < n_i; i += 128)
      element(p_in, q_out, n_i, i);
  }
}
