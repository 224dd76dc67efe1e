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

// A warp owns 32 records at a time; q goes through shared memory in 16-byte words, so every sector
// is moved whole.
__global__ void __launch_bounds__(256)
staged(const float *__restrict__ p_in, particle *__restrict__ q_out, long long n_i) {
  constexpr int kItems = 1;
  constexpr int kTile = 32 * kItems; // elements of i that a warp owns
  // q's tile, in the order of memory
  __shared__ __align__(16) unsigned char q_tile[8][896];
  const long long block = blockIdx.x;
  const int thread = threadIdx.x;
  const int warp = thread / 32, lane = thread % 32;
  const long long team = block * 8 + warp; // each warp on its own
  const long long first = team * (long long)kTile; // of i
  if (first + kTile <= n_i) {
    particle p_v[kItems];
    #pragma unroll
    for (int item = 0; item < kItems; item++) {
      const long long i = first + (item * 32 + lane);
      p_v[item].x = p_in[i];
      p_v[item].y = p_in[i + n_i];
      p_v[item].z = p_in[2 * n_i + i];
      p_v[item].vx = p_in[3 * n_i + i];
      p_v[item].vy = p_in[4 * n_i + i];
      p_v[item].vz = p_in[5 * n_i + i];
      p_v[item].m = p_in[6 * n_i + i];
    }
    #pragma unroll
    for (int item = 0; item < kItems; item++) {
      const int slot = (item * 32 + lane); // this element's place in the tile
      const particle p = p_v[item];
      particle q;
      { q = p; }
      at<float>(q_tile[warp], 28 * slot) = q.x;
      at<float>(q_tile[warp], 28 * slot + 4) = q.y;
      at<float>(q_tile[warp], 28 * slot + 8) = q.z;
      at<float>(q_tile[warp], 28 * slot + 12) = q.vx;
      at<float>(q_tile[warp], 28 * slot + 16) = q.vy;
      at<float>(q_tile[warp], 28 * slot + 20) = q.vz;
      at<float>(q_tile[warp], 28 * slot + 24) = q.m;
    }
    __syncwarp();
    // q: the tile's 896 bytes out as 16-byte words
    #pragma unroll
    for (int word = lane; word < 56; word += 32) {
      at<uint4>(q_out, 28 * first + 16 * word) = at<uint4>(q_tile[warp], 16 * word);
    }
  } else { // the last, partial tile
    for (long long i = first + lane; i < n_i; i += 32)
      element(p_in, q_out, n_i, i);
  }
}
