// A T of the lane whose number differs by the bits of `distance`, word by word.
template <class T> __device__ __forceinline__ T shuffle_xor(const T &value, int distance) {
  T other;
#pragma unroll
  for (int k = 0; k < sizeof(T) / 4; k++)
    reinterpret_cast<unsigned int *>(&other)[k] =
        __shfl_xor_sync(0xffffffffu, reinterpret_cast<const unsigned int *>(&value)[k], distance);
  return other;
}

// Combines the values of lanes whose numbers differ by kFirst, 2 * kFirst, ... below kLast: all of
// them get the result.
template <int kFirst, int kLast, class T, int kCount>
__device__ __forceinline__ void combine_across(T (&mine)[kCount]) {
#pragma unroll
  for (int distance = kFirst; distance < kLast; distance *= 2)
#pragma unroll
    for (int k = 0; k < kCount; k++)
      mine[k] = combine(mine[k], shuffle_xor(mine[k], distance));
}

// Combines what threads of a block have found of kVec columns each. Threads whose numbers differ
// by multiples of kSide have the same columns: all of them get the result. For each T at most once
// in a kernel.
template <int kThreads, int kSide, class T, int kVec>
__device__ __forceinline__ void combine_columns(T (&mine)[kVec]) {
  constexpr int kColumns = kSide * kVec, kParts = kThreads / (kSide < 32 ? 32 : kSide);
  if (kSide < 32)
    combine_across<kSide, 32>(mine);
  if (kParts > 1) {
    constexpr int kPitch = kParts + 1; // no bank conflicts on either side
    __shared__ __align__(16) T parts[kColumns * kPitch], all[kColumns];
    const int side = threadIdx.x % kSide, part = threadIdx.x / (kSide < 32 ? 32 : kSide);
    if (kSide >= 32 || threadIdx.x % 32 < kSide)
#pragma unroll
      for (int e = 0; e < kVec; e++)
        parts[(e * kSide + side) * kPitch + part] = mine[e];
    __syncthreads();
    // kParts lanes combine a column
    for (int first = threadIdx.x / 32 * 32; first < kColumns * kParts; first += kThreads) {
      const int k = min(first + (int)threadIdx.x % 32, kColumns * kParts - 1);
      T one[1] = {parts[k / kParts * kPitch + k % kParts]};
      combine_across<1, kParts>(one);
      if (k % kParts == 0)
        all[k / kParts] = one[0];
    }
    __syncthreads();
#pragma unroll
    for (int e = 0; e < kVec; e++)
      mine[e] = all[e * kSide + side];
  }
}

// The two halves of a barrier of all blocks of a cluster (sm_90). What threads wrote before they
// arrived is seen by those that have waited, in the shared memory of any of the blocks.
__device__ __forceinline__ void cluster_arrive() {
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}
__device__ __forceinline__ void cluster_wait() {
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

// A T to where `to` lies in the shared memory of block `rank` of the cluster.
template <class T> __device__ __forceinline__ void put_to_block(T *to, int rank, const T &value) {
  unsigned int there;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
               : "=r"(there) : "r"((unsigned int)__cvta_generic_to_shared(to)), "r"(rank));
#pragma unroll
  for (int k = 0; k < sizeof(T) / 4; k++)
    asm volatile("st.shared::cluster.u32 [%0], %1;"
                 ::"r"(there + 4 * k), "r"(reinterpret_cast<const unsigned int *>(&value)[k])
                 : "memory");
}

// The same as combine_columns, for threads of all blocks of a cluster of kBlocks, which all must
// run already.
template <int kThreads, int kSide, int kBlocks, class T, int kVec>
__device__ __forceinline__ void combine_columns_cluster(T (&mine)[kVec]) {
  __shared__ __align__(16) T blocks[kBlocks][kSide * kVec]; // of the cluster
  combine_columns<kThreads, kSide>(mine);
  const int side = threadIdx.x % kSide, rank = threadIdx.x / kSide;
  if (rank < kBlocks)
#pragma unroll
    for (int e = 0; e < kVec; e++)
      put_to_block(&blocks[blockIdx.x % kBlocks][e * kSide + side], rank, mine[e]);
  cluster_arrive();
  cluster_wait();
#pragma unroll
  for (int e = 0; e < kVec; e++) {
    mine[e] = blocks[0][e * kSide + side];
#pragma unroll
    for (int block = 1; block < kBlocks; block++)
      mine[e] = combine(mine[e], blocks[block][e * kSide + side]);
  }
}

// The alignment of so many bytes of neighbouring T's: that of the word they fill, at most 16 or a
// T's. One value, as nvcc takes the last of several alignas and not the strictest.
template <class T> constexpr int vec_align(int bytes) {
  return (bytes & -bytes) < 16 ? bytes & -bytes : alignof(T) < 16 ? 16 : alignof(T);
}

// kCount neighbouring elements in registers.
template <class T, int kCount>
struct alignas(vec_align<T>((int)sizeof(T) * kCount)) vec {
  T element[kCount];
  __device__ __forceinline__ T &operator[](int k) { return element[k]; }
  __device__ __forceinline__ const T &operator[](int k) const { return element[k]; }
};

// The type of a word of kBytes, which one instruction loads or stores.
template <int kBytes> struct word_of;
template <> struct word_of<1> { using type = unsigned char; };
template <> struct word_of<2> { using type = unsigned short; };
template <> struct word_of<4> { using type = unsigned int; };
template <> struct word_of<8> { using type = uint2; };
template <> struct word_of<16> { using type = uint4; };

// The bytes of the words that a T is moved in: as its type's alignment promises.
template <class T> __host__ __device__ constexpr int word_bytes() {
  return alignof(T) < 16 ? alignof(T) : 16;
}

// A T in whole words. __ldg, as plain words may be split into loads of what is used of them.
template <class T, int kWord = word_bytes<T>()>
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
  constexpr int kBytes = kWord > 0 ? kWord : word_bytes<T>();
  using word = typename word_of<kBytes>::type;
#pragma unroll
  for (int k = 0; k < sizeof(T) / kBytes; k++)
    __stwb(static_cast<word *>(to) + k, reinterpret_cast<const word *>(&value)[k]);
}

// Step 1, for one element of a row.
__device__ __forceinline__ void step_1(float x, float &q) {
  float v = x; q = v * v;
}

// What is known of one row so far: a member for each reduced value.
struct partial_1 {
  float q;
};

// The identity element.
__device__ __forceinline__ partial_1 identity_1() {
  return {0.0f};
}

// Two partial results as one.
__device__ __forceinline__ partial_1 combine(const partial_1 &one, const partial_1 &other) {
  return {one.q + other.q};
}

// Step 2, once a row.
__device__ __forceinline__ void step_2(float eps, float q, float &r) {
  r = rsqrtf(q + eps);
}

// Step 3, for one element of a row.
__device__ __forceinline__ void step_3(float x, float r, float &y) {
  y = x * r;
}

// 512 threads have 4 neighbouring columns, whose elements are loaded once.
__global__ void __cluster_dims__(4, 1, 1) __launch_bounds__(512)
rows(const float *__restrict__ x, float *__restrict__ y, float eps, long long n_row,
     long long n_col) {
  constexpr int kThreads = 512;
  constexpr int kLanes = 512; // threads that have a column
  constexpr int kVec = 4; // neighbouring columns that they have
  constexpr int kItems = 8; // elements of a column that a thread has at once
  constexpr int kBlocks = 4; // of a cluster, which have a column together
  constexpr int kSide = kThreads * kBlocks / kLanes; // threads side by side along col
  const int lane = (blockIdx.x % kBlocks * kThreads + threadIdx.x) / kSide;
  const long long column_index = (blockIdx.x / kBlocks * (long long)kSide + threadIdx.x % kSide) * kVec;
  cluster_arrive();
  const bool is_column = column_index < n_col;
  const long long col = column_index;
  const int n_elements = is_column ? n_row : 0;
  // the column, all loads before the first use; lanes after its end load what it ends with
  vec<float, kVec> x_v[kItems] = {};
  if (n_elements > 0) {
#pragma unroll
    for (int item = 0; item < kItems; item++) {
      const int row = min(item * kLanes + lane, n_elements - 1);
      x_v[item] = load<vec<float, kVec>, 16>(&x[n_col * row + col]);
    }
  }
  cluster_wait(); // all its blocks run

  partial_1 found_1[kVec];
#pragma unroll
  for (int e = 0; e < kVec; e++)
    found_1[e] = identity_1();
  {
#pragma unroll
    for (int item = 0; item < kItems; item++) {
      const int row = item * kLanes + lane;
      // computed without a branch, so that later steps find what they have in common
#pragma unroll
      for (int e = 0; e < kVec; e++) {
        const bool inside = row < n_elements;
        const partial_1 before = found_1[e];
        float q_e;
        step_1(x_v[item][e], q_e);
        found_1[e] = combine(found_1[e], {q_e});
        found_1[e] = inside ? found_1[e] : before;
      }
    }
  }
  combine_columns_cluster<kThreads, kSide, kBlocks>(found_1);

  float r_e[kVec] = {};
  if (is_column) {
#pragma unroll
    for (int e = 0; e < kVec; e++) {
      step_2(eps, found_1[e].q, r_e[e]);
    }
  }

  {
#pragma unroll
    for (int item = 0; item < kItems; item++) {
      const int row = item * kLanes + lane;
      if (row < n_elements) {
        vec<float, kVec> y_v;
#pragma unroll
        for (int e = 0; e < kVec; e++) {
          step_3(x_v[item][e], r_e[e], y_v[e]);
        }
        store<16>(&y[n_col * row + col], y_v);
      }
    }
  }
}
