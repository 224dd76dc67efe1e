struct vec3 {
  double x, y, z;
};
static_assert(sizeof(vec3) == 24 && alignof(vec3) == 8, "layout of vec3");

// The value of type T that lies `bytes` after `base`.
template <class T> __device__ __forceinline__ const T &at(const void *base, long long bytes) {
  return *reinterpret_cast<const T *>(static_cast<const char *>(base) + bytes);
}
template <class T> __device__ __forceinline__ T &at(void *base, long long bytes) {
  return *reinterpret_cast<T *>(static_cast<char *>(base) + bytes);
}

// One element of the index space, every access where its layout puts it.
__device__ __forceinline__ void element(const vec3 *__restrict__ a_in, vec3 *__restrict__ b_out,
    double k, long long n_i, long long i) {
  vec3 a;
  a.x = a_in[i].x;
  a.y = a_in[i].y;
  a.z = a_in[i].z;
  vec3 b;
  { b.x = a.x + k; b.y = a.y + k; b.z = a.z + k; }
  b_out[i].x = b.x;
  b_out[i].y = b.y;
  b_out[i].z = b.z;
}

// A block owns 512 records at a time; a and b go through shared memory in 16-byte words, so every
// sector is moved whole.
__global__ void __launch_bounds__(256)
staged(const vec3 *__restrict__ a_in, vec3 *__restrict__ b_out, double k, long long n_i) {
  constexpr int kThreads = 256, kItems = 2;
  constexpr int kTile = kThreads * kItems; // elements of i that a block owns
  // a's tile, in the order of memory
  __shared__ __align__(16) unsigned char a_tile[12288];
  // b's tile, in the order of memory
  __shared__ __align__(16) unsigned char b_tile[12288];
  const long long block = blockIdx.x;
  const int thread = threadIdx.x;
  const long long first = block * (long long)kTile; // of i
  if (first + kTile <= n_i) {
    // a: the tile's 12288 bytes in as 16-byte words
    #pragma unroll
    for (int word = thread; word < 768; word += 256) {
      at<uint4>(a_tile, 16 * word) = at<uint4>(a_in, 24 * first + 16 * word);
    }
    __syncthreads();
    #pragma unroll
    for (int item = 0; item < kItems; item++) {
      const int slot = (item * 256 + thread); // this element's place in the tile
      vec3 a;
      a.x = at<double>(a_tile, 24 * slot);
      a.y = at<double>(a_tile, 24 * slot + 8);
      a.z = at<double>(a_tile, 24 * slot + 16);
      vec3 b;
      { b.x = a.x + k; b.y = a.y + k; b.z = a.z + k; }
      at<double>(b_tile, 24 * slot) = b.x;
      at<double>(b_tile, 24 * slot + 8) = b.y;
      at<double>(b_tile, 24 * slot + 16) = b.z;
    }
    __syncthreads();
    // b: the tile's 12288 bytes out as 16-byte words
    #pragma unroll
    for (int word = thread; word < 768; word += 256) {
      at<uint4>(b_out, 24 * first + 16 * word) = at<uint4>(b_tile, 16 * word);
    }
  } else { // the last, partial tile
    for (long long i = first + thread; i < n_i; i += 256)
      element(a_in, b_out, k, n_i, i);
  }
}
