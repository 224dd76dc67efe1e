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

// A block owns 256 records at a time; q goes through shared memory in 16-byte words, so every
// sector is moved whole.
__global__ void __launch_bounds__(128)
staged(const float *__restrict__ p_in, particle *__restrict__ q_out, long long n_i) {
  constexpr int kThreads = 128, kItems = 2;
  constexpr int kTile = kThreads * kItems; // elements of i that a block owns
  // q's tile, in the order of memory, 16-byte words swizzled within 8 rows of 128 bytes
  __shared__ __align__(16) unsigned char q_tile[7168];
  const long long block = blockIdx.x;
  const int thread = threadIdx.x;
  const long long first = block * (long long)kTile; // of i
  if (first + kTile <= n_i) {
    particle p_v[kItems];
    #pragma unroll
    for (int item = 0; item < kItems; item++) {
      const long long i = first + (item * 128 + thread);
      p_v[item].x = __ldcs(&p_in[i]);
      p_v[item].y = __ldcs(&p_in[i + n_i]);
      p_v[item].z = __ldcs(&p_in[2 * n_i + i]);
      p_v[item].vx = __ldcs(&p_in[3 * n_i + i]);
      p_v[item].vy = __ldcs(&p_in[4 * n_i + i]);
      p_v[item].vz = __ldcs(&p_in[5 * n_i + i]);
      p_v[item].m = __ldcs(&p_in[6 * n_i + i]);
    }
    #pragma unroll
    for (int item = 0; item < kItems; item++) {
      const int slot = (item * 128 + thread); // this element's place in the tile
      const particle p = p_v[item];
      particle q;
      { q = p; }
      at<float>(q_tile, ((slot + ((3 * slot) >> 2)) ^ (((7 * slot) >> 5) & 7)) * 16 + ((3 * slot) & 3) * 4) = q.x;
      at<float>(q_tile, ((slot + ((3 * slot + 1) >> 2)) ^ (((7 * slot + 1) >> 5) & 7)) * 16 + ((3 * slot + 1) & 3) * 4) = q.y;
      at<float>(q_tile, ((slot + ((3 * slot + 2) >> 2)) ^ (((7 * slot + 2) >> 5) & 7)) * 16 + ((3 * slot + 2) & 3) * 4) = q.z;
      at<float>(q_tile, ((slot + ((3 * slot + 3) >> 2)) ^ (((7 * slot + 3) >> 5) & 7)) * 16 + ((3 * slot + 3) & 3) * 4) = q.vx;
      at<float>(q_tile, ((slot + ((3 * slot) >> 2) + 1) ^ (((7 * slot + 4) >> 5) & 7)) * 16 + ((3 * slot) & 3) * 4) = q.vy;
      at<float>(q_tile, ((slot + ((3 * slot + 1) >> 2) + 1) ^ (((7 * slot + 5) >> 5) & 7)) * 16 + ((3 * slot + 1) & 3) * 4) = q.vz;
      at<float>(q_tile, ((slot + ((3 * slot + 2) >> 2) + 1) ^ (((7 * slot + 6) >> 5) & 7)) * 16 + ((3 * slot + 2) & 3) * 4) = q.m;
    }
    __syncthreads();
    // q: the tile's 7168 bytes out as 16-byte words
    #pragma unroll 1
    for (int word = thread; word < 448; word += 128) {
      __stcs(&at<uint4>(q_out, 28 * first + 16 * word), at<uint4>(q_tile, (word ^ ((word >> 3) & 7)) * 16));
    }
  } else { // the last, partial tile
    for (long long i = first + thread; i < n_i; i += 128)
      element(p_in, q_out, n_i, i);
  }
}
