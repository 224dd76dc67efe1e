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

// Combines the values of all threads of a cluster of kBlocks blocks, which all must run already:
// all of them get the result. For each T at most once in a kernel.
template <int kThreads, int kBlocks, class T>
__device__ __forceinline__ T combine_cluster(const T &mine) {
  constexpr int kWarps = kThreads / 32, kParts = kBlocks * kWarps;
  __shared__ __align__(16) T parts[kParts]; // of all warps of the cluster
  T all[1] = {mine};
  combine_across<1, 32>(all);
  const int lane = threadIdx.x % 32, warp = blockIdx.x % kBlocks * kWarps + threadIdx.x / 32;
  if (lane < kBlocks)
    put_to_block(&parts[warp], lane, all[0]);
  cluster_arrive();
  cluster_wait();
  all[0] = parts[lane % kParts];
#pragma unroll
  for (int part = 32; part < kParts; part += 32)
    all[0] = combine(all[0], parts[part + lane]);
  combine_across<1, (kParts < 32 ? kParts : 32)>(all);
  return all[0];
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
__device__ __forceinline__ void step_1(float x, float &m) {
  m = x;
}

// What is known of one row so far: a member for each reduced value.
struct partial_1 {
  float m;
};

// The identity element.
__device__ __forceinline__ partial_1 identity_1() {
  return {-__int_as_float(0x7f800000)};
}

// Two partial results as one.
__device__ __forceinline__ partial_1 combine(const partial_1 &one, const partial_1 &other) {
  return {fmaxf(one.m, other.m)};
}

// Step 2, for one element of a row.
__device__ __forceinline__ void step_2(float x, float m, float &t) {
  t = expf(x - m);
}

// What is known of one row so far: a member for each reduced value.
struct partial_2 {
  float t;
};

// The identity element.
__device__ __forceinline__ partial_2 identity_2() {
  return {0.0f};
}

// Two partial results as one.
__device__ __forceinline__ partial_2 combine(const partial_2 &one, const partial_2 &other) {
  return {one.t + other.t};
}

// Step 3, once a row.
__device__ __forceinline__ void step_3(float t, float &r) {
  r = 1.0f / t;
}

// Step 4, for one element of a row.
__device__ __forceinline__ void step_4(float x, float m, float r, float &y) {
  y = expf(x - m) * r;
}

// A cluster of blocks has a row, whose elements are loaded once. They move in vectors of 4.
__global__ void __cluster_dims__(8, 1, 1) __launch_bounds__(256)
rows(const float *__restrict__ x, float *__restrict__ y, long long n_row, long long n_col) {
  constexpr int kThreads = 256;
  constexpr int kLanes = 2048; // threads that have a row
  constexpr int kVec = 4; // elements of a vector
  constexpr int kItems = 8; // vectors of a row that a thread has at once
  constexpr int kBlocks = 8; // of a cluster, which have a row together
  const int lane = blockIdx.x % kBlocks * kThreads + threadIdx.x;
  const long long row_index = blockIdx.x / kBlocks;
  cluster_arrive();
  const bool is_row = row_index < n_row;
  const long long row = row_index;
  const int n_elements = is_row ? n_col : 0;
  // the row, all loads before the first use; lanes after its end load what it ends with
  vec<float, kVec> x_v[kItems] = {};
  if (n_elements > 0) {
#pragma unroll
    for (int item = 0; item < kItems; item++) {
      const int col = min((item * kLanes + lane) * kVec, n_elements - 4);
      x_v[item] = load<vec<float, kVec>, 16>(&x[n_col * row + col]);
    }
  }
  cluster_wait(); // all its blocks run

  partial_1 found_1 = identity_1();
  {
#pragma unroll
    for (int item = 0; item < kItems; item++) {
      const int col = (item * kLanes + lane) * kVec;
      // computed without a branch, so that later steps find what they have in common
      const bool inside = col < n_elements;
      const partial_1 before = found_1;
#pragma unroll
      for (int e = 0; e < kVec; e++) {
        float m_e;
        step_1(x_v[item][e], m_e);
        found_1 = combine(found_1, {m_e});
      }
      found_1 = inside ? found_1 : before;
    }
  }
  found_1 = combine_cluster<kThreads, kBlocks>(found_1);

  partial_2 found_2 = identity_2();
  {
#pragma unroll
    for (int item = 0; item < kItems; item++) {
      const int col = (item * kLanes + lane) * kVec;
      // computed without a branch, so that later steps find what they have in common
      const bool inside = col < n_elements;
      const partial_2 before = found_2;
#pragma unroll
      for (int e = 0; e < kVec; e++) {
        float t_e;
        step_2(x_v[item][e], found_1.m, t_e);
        found_2 = combine(found_2, {t_e});
      }
      found_2 = inside ? found_2 : before;
    }
  }
  found_2 = combine_cluster<kThreads, kBlocks>(found_2);

  float r_e = {};
  if (is_row) {
    step_3(found_2.t, r_e);
  }

  {
#pragma unroll
    for (int item = 0; item < kItems; item++) {
      const int col = (item * kLanes + lane) * kVec;
      if (col < n_elements) {
        vec<float, kVec> y_v;
#pragma unroll
        for (int e = 0; e < kVec; e++) {
          step_4(x_v[item][e], found_1.m, r_e, y_v[e]);
        }
        store<16>(&y[n_col * row + col], y_v);
      }
    }
  }
}
