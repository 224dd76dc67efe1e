// The type of a word of kBytes, which one instruction loads or stores.
template <int kBytes> struct word_of;
template <> struct word_of<1> { using type = unsigned char; };
template <> struct word_of<2> { using type = unsigned short; };
template <> struct word_of<4> { using type = unsigned int; };
template <> struct word_of<8> { using type = uint2; };
template <> struct word_of<16> { using type = uint4; };

// The bytes of the words that a T is moved in: as its type's alignment promises.
template <class T> constexpr int word_bytes = alignof(T) < 16 ? alignof(T) : 16;

// A T in whole words. __ldg, as plain words may be split into loads of what is used of them.
template <class T, int kWord = word_bytes<T>>
__device__ __forceinline__ T load(const void *from) {
  using word = typename word_of<kWord>::type;
  T value;
#pragma unroll
  for (int k = 0; k < sizeof(T) / kWord; k++)
    reinterpret_cast<word *>(&value)[k] = __ldg(static_cast<const word *>(from) + k);
  return value;
}

// A T in whole words. __stwb, as assignments of words may be split into stores of their parts.
template <int kWord = 0, class T>
__device__ __forceinline__ void store(void *to, const T &value) {
  constexpr int kBytes = kWord > 0 ? kWord : word_bytes<T>;
  using word = typename word_of<kBytes>::type;
#pragma unroll
  for (int k = 0; k < sizeof(T) / kBytes; k++)
    __stwb(static_cast<word *>(to) + k, reinterpret_cast<const word *>(&value)[k]);
}

constexpr int kThreads = 256;
constexpr int kBox = 1056; // elements of a box
constexpr int kItems = 4; // boxes of a block, neighbours along i_j
constexpr int kKept = 1056; // from box to box in shared memory
constexpr int kPasses = 5; // elements of a thread in a box

// What is computed for one element.
__device__ __forceinline__ void compute(float a, float &b) {
  b = a;
}

// A block moves 4 boxes of 1056 elements (1 x 22 x 16 x 3) through shared memory: in as inputs lie,
// out as outputs lie.
__global__ void __launch_bounds__(256)
box(const float *__restrict__ a, float *__restrict__ b, long long n_i, long long n_j,
    long long n_k, long long n_l, long long n_m) {
  __shared__ float a_box[4224];
  unsigned int block = blockIdx.x;
  const long long first_l = (long long)(block % (unsigned int)((n_l + 15) >> 4)) * 16;
  block /= (unsigned int)((n_l + 15) >> 4);
  const int left_l = (int)min((long long)16, n_l - first_l);
  const long long first_k = (long long)(block % (unsigned int)((n_k + 21) / 22)) * 22;
  block /= (unsigned int)((n_k + 21) / 22);
  const int left_k = (int)min((long long)22, n_k - first_k);
  const long long first_i_j = (long long)block * 4;
  const int left_i_j = (int)min((long long)4, n_i * n_j - first_i_j);
  const float *a_from = a;
  a_from += 3 * first_l * n_k;
  a_from += 3 * first_k;
  a_from += 3 * first_i_j * n_k * n_l;
  float *b_to = b;
  b_to += 3 * first_l;
  b_to += 3 * first_k * n_l;
  b_to += 3 * first_i_j * n_k * n_l;

  // in, as the inputs lie: all loads before the first use
  float a_in[kPasses][kItems];
#pragma unroll
  for (int pass = 0; pass < kPasses; pass++) {
    const int at = pass * kThreads + threadIdx.x;
    int rest = at;
    const int m = rest % 66;
    rest /= 66;
    const int l = rest;
#pragma unroll
    for (int item = 0; item < kItems; item++) {
      const bool inside = at < kBox && m < left_k * 3 && l < left_l && item < left_i_j;
      a_in[pass][item] = inside
        ? load<float>(&a_from[3 * item * n_k * n_l + 3 * l * n_k + m]) : float();
    }
  }
#pragma unroll
  for (int pass = 0; pass < kPasses; pass++) {
    const int at = pass * kThreads + threadIdx.x;
    if (at >= kBox) break;
#pragma unroll
    for (int item = 0; item < kItems; item++)
      a_box[item * kKept + at] = a_in[pass][item];
  }
  __syncthreads();

  // out, as the outputs lie
#pragma unroll
  for (int pass = 0; pass < kPasses; pass++) {
    const int at = pass * kThreads + threadIdx.x;
    int rest = at;
    const int m = rest % 3;
    rest /= 3;
    const int l = rest % 16;
    rest /= 16;
    const int k = rest;
#pragma unroll
    for (int item = 0; item < kItems; item++) {
      if (!(at < kBox && l < left_l && k < left_k && item < left_i_j)) continue;
      const float a_v = a_box[item * kKept + 66 * l + 3 * k + m];
      float b_v;
      compute(a_v, b_v);
      store(&b_to[3 * item * n_k * n_l + 3 * k * n_l + 3 * l + m], b_v);
    }
  }
}
