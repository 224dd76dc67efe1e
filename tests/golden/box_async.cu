// The address of shared memory as instructions take it.
__device__ __forceinline__ unsigned int smem_address(const void *p) {
  return (unsigned int)__cvta_generic_to_shared(p);
}

// kBytes (4, 8 or 16) from global to shared memory, asynchronously (sm_80).
template <int kBytes> __device__ __forceinline__ void async_copy(void *to, const void *from) {
  if (kBytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
                 ::"r"(smem_address(to)), "l"(from) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;"
                 ::"r"(smem_address(to)), "l"(from), "n"(kBytes) : "memory");
}

// Closes a group of asynchronous copies.
__device__ __forceinline__ void async_commit() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}

// Waits until all but the last kGroups groups of this thread have arrived.
template <int kGroups> __device__ __forceinline__ void async_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kGroups) : "memory");
}

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

// A policy of L2: lines that are moved by it leave it last.
__device__ __forceinline__ unsigned long long evict_last_policy() {
  unsigned long long policy;
  asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}

// A word, by a policy of L2.
__device__ __forceinline__ void store_word(size_t to, unsigned char w, unsigned long long policy) {
  asm volatile("st.global.L2::cache_hint.u8 [%0], %1, %2;"
               ::"l"(to), "r"((unsigned int)w), "l"(policy));
}
__device__ __forceinline__ void store_word(size_t to, unsigned short w, unsigned long long policy) {
  asm volatile("st.global.L2::cache_hint.b16 [%0], %1, %2;" ::"l"(to), "h"(w), "l"(policy));
}
__device__ __forceinline__ void store_word(size_t to, unsigned int w, unsigned long long policy) {
  asm volatile("st.global.L2::cache_hint.b32 [%0], %1, %2;" ::"l"(to), "r"(w), "l"(policy));
}
__device__ __forceinline__ void store_word(size_t to, uint2 w, unsigned long long policy) {
  asm volatile("st.global.L2::cache_hint.v2.b32 [%0], {%1, %2}, %3;"
               ::"l"(to), "r"(w.x), "r"(w.y), "l"(policy));
}
__device__ __forceinline__ void store_word(size_t to, uint4 w, unsigned long long policy) {
  asm volatile("st.global.L2::cache_hint.v4.b32 [%0], {%1, %2, %3, %4}, %5;"
               ::"l"(to), "r"(w.x), "r"(w.y), "r"(w.z), "r"(w.w), "l"(policy));
}

// A T in whole words, whose lines L2 gives up last.
template <int kWord = 0, class T>
__device__ __forceinline__ void store_evict_last(void *to, const T &value) {
  constexpr int kBytes = kWord > 0 ? kWord : word_bytes<T>();
  using word = typename word_of<kBytes>::type;
#pragma unroll
  for (int k = 0; k < sizeof(T) / kBytes; k++)
    store_word(__cvta_generic_to_global(static_cast<word *>(to) + k),
               reinterpret_cast<const word *>(&value)[k], evict_last_policy());
}


// What is computed for one element.
__device__ __forceinline__ void compute(float a, float &b) {
  b = a;
}

// kGuarded: the box crosses the end of a mode; less is unrolled, as few blocks have such a box.
template <bool kGuarded>
__device__ __forceinline__ void move_box(
    const float *__restrict__ a, float *__restrict__ b, long long n_i, long long n_k,
        long long n_l, long long n_m,
    long long first_k, long long first_i, float *a_box) {
  constexpr int kUnrolled = kGuarded ? 4 : 48;
  const float *a_from = a;
  a_from += 3 * first_k;
  a_from += 144 * first_i * n_k;
  float *b_to = b;
  b_to += 144 * first_k;
  b_to += 144 * first_i * n_k;
  const int left_k = (int)min((long long)64, n_k - first_k);
  const int left_i = (int)min((long long)2, n_i - first_i);

  // in, as the inputs lie, by asynchronous copies
  if (threadIdx.x < 384) {
    const int m = threadIdx.x % 192;
    const int row = threadIdx.x / 192;
    a_from += 3 * n_k * row + m;
#pragma unroll kUnrolled
    for (int pass = 0; pass < 48; pass++) {
      const int l = pass * 2 + row;
      if (!kGuarded || m < left_k * 3 && l < left_i * 48)
        async_copy<4>(&a_box[195 * l + m], a_from);
      a_from += 6 * n_k;
    }
    async_commit();
    async_wait<0>();
  }
  __syncthreads();

  // out, as the outputs lie
  if (threadIdx.x < 432) {
    const int m = threadIdx.x % 3;
    const int l = threadIdx.x / 3 % 48;
    const int row = threadIdx.x / 144;
    b_to += 144 * row + 3 * l + m;
#pragma unroll kUnrolled
    for (int pass = 0; pass < 44; pass++) {
      const int k = pass % 22 * 3 + row;
      const int i = pass / 22;
      if ((pass % 22 < 21 || k < 64) && (!kGuarded || k < left_k && i < left_i)) {
        const float a_v = a_box[9360 * i + 195 * l + 3 * k + m];
        float b_v;
        compute(a_v, b_v);
        store_evict_last(b_to, b_v);
      }
      b_to += 432;
      if ((pass + 1) % 22 == 0)
        b_to += 144 * n_k - 9504;
    }
  }
}

// A block moves a box of 18432 elements (2 x 64 x 48 x 3) through shared memory: in as inputs lie,
// out as outputs lie.
__global__ void __launch_bounds__(448)
box(const float *__restrict__ a, float *__restrict__ b, long long n_i, long long n_k,
    long long n_l, long long n_m) {
  extern __shared__ __align__(128) unsigned char shared[];
  // what is kept of a
  float *const a_box = reinterpret_cast<float *>(shared + 0);
  unsigned int block = blockIdx.x;
  const long long first_k = (long long)(block % (unsigned int)((n_k + 63) >> 6)) * 64;
  block /= (unsigned int)((n_k + 63) >> 6);
  const long long first_i = (long long)block * 2;
  if (first_k + 64 <= n_k && first_i + 2 <= n_i)
    move_box<false>(a, b, n_i, n_k, n_l, n_m, first_k, first_i, a_box);
  else
    move_box<true>(a, b, n_i, n_k, n_l, n_m, first_k, first_i, a_box);
}
