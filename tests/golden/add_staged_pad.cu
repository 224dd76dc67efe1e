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

// A word in kCount pieces: where the image's rows are padded, only pieces are aligned.
template <class Piece, int kCount>
__device__ __forceinline__ void copy_pieces(void *to, const void *from) {
#pragma unroll
  for (int k = 0; k < kCount; k++)
    static_cast<Piece *>(to)[k] = static_cast<const Piece *>(from)[k];
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

// A block owns 128 records at a time; a and b go through shared memory in 16-byte words, so every
// sector is moved whole.
__global__ void __launch_bounds__(128)
staged(const vec3 *__restrict__ a_in, vec3 *__restrict__ b_out, double k, long long n_i) {
  constexpr int kThreads = 128, kItems = 1;
  constexpr int kTile = kThreads * kItems; // elements of i that a block owns
  // a's tile, in the order of memory, 8 bytes of padding every 128
  __shared__ __align__(16) unsigned char a_tile[3280];
  // b's tile, in the order of memory, 8 bytes of padding every 128
  __shared__ __align__(16) unsigned char b_tile[3280];
  const long long block = blockIdx.x;
  const int thread = threadIdx.x;
  const long long first = block * (long long)kTile; // of i
  if (first + kTile <= n_i) {
    // a: the tile's 3072 bytes in as 16-byte words
    #pragma unroll
    for (int word = thread; word < 192; word += 128) {
      const uint4 value = at<uint4>(a_in, 24 * first + 16 * word);
      copy_pieces<uint2, 2>(&at<uint2>(a_tile, 16 * word + (word >> 3) * 8), &value);
    }
    __syncthreads();
    #pragma unroll
    for (int item = 0; item < kItems; item++) {
      const int slot = (item * 128 + thread); // this element's place in the tile
      vec3 a;
      a.x = at<double>(a_tile, 24 * slot + ((3 * slot) >> 4) * 8);
      a.y = at<double>(a_tile, 24 * slot + ((3 * slot + 1) >> 4) * 8 + 8);
      a.z = at<double>(a_tile, 24 * slot + ((3 * slot + 2) >> 4) * 8 + 16);
      vec3 b;
      { b.x = a.x + k; b.y = a.y + k; b.z = a.z + k; }
      at<double>(b_tile, 24 * slot + ((3 * slot) >> 4) * 8) = b.x;
      at<double>(b_tile, 24 * slot + ((3 * slot + 1) >> 4) * 8 + 8) = b.y;
      at<double>(b_tile, 24 * slot + ((3 * slot + 2) >> 4) * 8 + 16) = b.z;
    }
    __syncthreads();
    // b: the tile's 3072 bytes out as 16-byte words
    #pragma unroll
    for (int word = thread; word < 192; word += 128) {
      uint4 value;
      copy_pieces<uint2, 2>(&value, &at<uint2>(b_tile, 16 * word + (word >> 3) * 8));
      at<uint4>(b_out, 24 * first + 16 * word) = value;
    }
  } else { // the last, partial tile
    for (long long i = first + thread; i < n_i; i += 128)
      element(a_in, b_out, k, n_i, i);
  }
}
