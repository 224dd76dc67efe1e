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

// Each thread moves 1 x 2 neighbouring elements, in words as wide as alignment allows.
__global__ void __launch_bounds__(256)
vector(const vec3 *__restrict__ a_in, vec3 *__restrict__ b_out, double k, long long n_i) {
  constexpr int kThreads = 256, kItems = 1, kVec = 2;
  constexpr int kTile = kThreads * kItems * kVec; // elements of i that a block owns
  const long long block = blockIdx.x;
  const int thread = threadIdx.x;
  const long long first = block * (long long)kTile; // of i
  if (first + kTile <= n_i) {
    __align__(16) vec3 a_v[kItems * kVec];
    #pragma unroll
    for (int item = 0; item < kItems; item++) {
      const long long i = first + (item * 256 + thread) * kVec;
      load_words<uint4, 3>(&a_v[item * kVec], &at<uint4>(a_in, 24 * i));
    }
    #pragma unroll
    for (int item = 0; item < kItems; item++) {
      __align__(16) vec3 b_v[kVec];
      #pragma unroll
      for (int part = 0; part < kVec; part++) {
        const vec3 a = a_v[item * kVec + part];
        vec3 b;
        { b.x = a.x + k; b.y = a.y + k; b.z = a.z + k; }
        b_v[part] = b;
      }
      const long long group_start = first + (item * 256 + thread) * kVec;
      store_words<uint4, 3>(&at<uint4>(b_out, 24 * group_start), b_v);
    }
  } else { // the last, partial tile
    for (long long i = first + thread; i < n_i; i += 256)
      element(a_in, b_out, k, n_i, i);
  }
}
