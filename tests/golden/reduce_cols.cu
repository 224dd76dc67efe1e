// A T that another block wrote, which is not in this SM's L1.
template <class T> __device__ __forceinline__ T load_from_l2(const T *from) {
  T value;
#pragma unroll
  for (int k = 0; k < sizeof(T) / 4; k++)
    reinterpret_cast<unsigned int *>(&value)[k] =
        __ldcg(reinterpret_cast<const unsigned int *>(from) + k);
  return value;
}

// Is this the last of `count` blocks to come here? What the others wrote before is seen then. The
// counter is 0 before the first and after the last.
__device__ __forceinline__ bool is_last_block(unsigned int *arrived, unsigned int count) {
  __shared__ bool is_last;
  __threadfence(); // what this block wrote is seen before it counts as arrived
  __syncthreads();
  if (threadIdx.x == 0)
    is_last = atomicInc(arrived, count - 1) == count - 1;
  __syncthreads();
  __threadfence();
  return is_last;
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

// A T in whole words, streaming: it is used once.
template <class T, int kWord = word_bytes<T>()>
__device__ __forceinline__ T load_streaming(const void *from) {
  using word = typename word_of<kWord>::type;
  T value;
#pragma unroll
  for (int k = 0; k < sizeof(T) / kWord; k++)
    reinterpret_cast<word *>(&value)[k] = __ldcs(static_cast<const word *>(from) + k);
  return value;
}

// A T from shared memory, in words of kWord bytes.
template <class T, int kWord = word_bytes<T>()>
__device__ __forceinline__ T take(const void *from) {
  using word = typename word_of<kWord>::type;
  T value;
#pragma unroll
  for (int k = 0; k < sizeof(T) / kWord; k++)
    reinterpret_cast<word *>(&value)[k] = static_cast<const word *>(from)[k];
  return value;
}

// The body for one element of the index space.
__device__ __forceinline__ void compute(float a, float &total) {
  total = a;
}


// What is known of one element of the outputs so far: a member for each reduced value.
struct partial {
  float total;
};

// The identity element.
__device__ __forceinline__ partial identity() {
  return {0.0f};
}

// Two partial results as one.
__device__ __forceinline__ partial combine(const partial &one, const partial &other) {
  return {one.total + other.total};
}

// Groups of 32 lanes read 4 neighbours along col each, 8 x 1 at once.
__global__ void __launch_bounds__(512)
reduce(const float *__restrict__ a, float *__restrict__ total, long long n_row, long long n_col,
       unsigned int *workspace) {
  constexpr int kThreads = 512;
  constexpr int kLanes = 32; // threads side by side along col
  constexpr int kGroups = kThreads / kLanes; // of them, that share outputs
  constexpr int kVec = 4; // elements of a vector: neighbours along col
  constexpr int kItems = 8; // loads in flight along what is reduced
  constexpr int kCounters = 65536; // in front of the workspace
  constexpr int kKept = kLanes * kVec; // outputs that the block owns
  constexpr int kStep = kGroups * kItems; // elements of each that it takes at once
  constexpr int kParts = kGroups; // of an output, in shared memory
  __shared__ __align__(16) partial parts[kParts][kKept];
  const int lane = threadIdx.x % kLanes, group = threadIdx.x / kLanes;
  const long long n_kept = n_col, n_reduced = n_row;
  // where outputs are few, several blocks share them: each takes a part of what is reduced
  const unsigned int tiles = (unsigned int)((n_kept + kKept - 1) / kKept);
  const unsigned int shares = gridDim.x / tiles, share = blockIdx.x / tiles;
  const long long tile = blockIdx.x % tiles;
  partial *const partials = reinterpret_cast<partial *>(workspace + kCounters);
  const long long col = min((tile * kLanes + lane) * kVec, n_kept - kVec);

  partial mine[kVec];
#pragma unroll
  for (int m = 0; m < kVec; m++) mine[m] = identity();

  // One step: all loads before the first use. Only the last one may need guards.
  const auto take = [&](long long first, bool guarded) {
    vec<float, kVec> a_v[kItems] = {};
#pragma unroll
    for (int item = 0; item < kItems; item++) {
      const long long row = first + item * kGroups + group;
      if (!guarded || row < n_reduced) {
        a_v[item] = load_streaming<vec<float, kVec>, 16>(&a[n_col * row + col]);
      }
    }
#pragma unroll
    for (int item = 0; item < kItems; item++) {
      const long long row = first + item * kGroups + group;
      if (!guarded || row < n_reduced) {
#pragma unroll
        for (int e = 0; e < kVec; e++) {
          float total_e;
          compute(a_v[item][e], total_e);
          mine[e] = combine(mine[e], {total_e});
        }
      }
    }
  };
  long long first = share * (long long)kStep;
  for (; first + kStep <= n_reduced; first += shares * (long long)kStep) take(first, false);
  if (first < n_reduced) take(first, true);

  // brings what the threads have to shared memory
  const auto meet = [&] {
#pragma unroll
      for (int m = 0; m < kVec; m++) parts[group][lane * kVec + m] = mine[m];
    __syncthreads();
  };
  // what it comes to, for one of the block's outputs
  const auto all_of = [&](int index) -> partial {
    partial all = parts[0][index];
#pragma unroll 8
    for (int part = 1; part < kParts; part++) all = combine(all, parts[part][index]);
    return all;
  };
  if (shares > 1) {
    meet();
    for (int index = threadIdx.x; index < kKept; index += kThreads)
      partials[blockIdx.x * kKept + index] = all_of(index);
    if (!is_last_block(&workspace[tile], shares)) return;
    // the last block combines what all have left
#pragma unroll
    for (int m = 0; m < kVec; m++) mine[m] = identity();
#pragma unroll 4
    for (int other = group; other < shares; other += kGroups) {
      const partial *const left = &partials[(other * tiles + tile) * kKept];
#pragma unroll
      for (int m = 0; m < kVec; m++)
        mine[m] = combine(mine[m], load_from_l2(&left[lane * kVec + m]));
    }
  }
  meet();
  for (int index = threadIdx.x; index < kKept; index += kThreads) {
    const partial all = all_of(index);
    const long long kept = tile * (long long)kKept + index;
    if (kept < n_kept) {
      const long long col = kept;
      total[col] = all.total;
    }
  }
}
