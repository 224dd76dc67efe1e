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

// kCount words from or to neighbouring addresses.
template <class Word, int kCount>
__device__ __forceinline__ void load_words(void *to, const void *from) {
#pragma unroll
  for (int k = 0; k < kCount; k++)
    static_cast<Word *>(to)[k] = static_cast<const Word *>(from)[k];
}
template <class Word, int kCount>
__device__ __forceinline__ void store_words(void *to, const void *from) {
#pragma unroll
  for (int k = 0; k < kCount; k++)
    __stwb(static_cast<Word *>(to) + k, static_cast<const Word *>(from)[k]);
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

// Each thread moves 1 x 4 neighbouring elements, in words as wide as alignment allows.
__global__ void __launch_bounds__(256)
vector(const float *__restrict__ p_in, particle *__restrict__ q_out, long long n_i) {
  constexpr int kThreads = 256, kItems = 1, kVec = 4;
  constexpr int kTile = kThreads * kItems * kVec; // elements of i that a block owns
  const long long block = blockIdx.x;
  const int thread = threadIdx.x;
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
      const long long i = first + (item * 256 + thread) * kVec;
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
      const long long group_start = first + (item * 256 + thread) * kVec;
      store_words<uint4, 7>(&at<uint4>(q_out, 28 * group_start), q_v);
    }
  } else { // the last, partial tile
    for (long long i = first + thread; i < n_i; i += 256)
      element(p_in, q_out, n_i, i);
  }
}
