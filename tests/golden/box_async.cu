// templates/device/async.cuh: smem_address, async_copy, async_commit, async_wait
// templates/device/words.cuh: word_of, word_bytes, evict_last_policy, store_word, store_evict_last


// What is computed for one element.
__device__ __forceinline__ void compute(float a, float &b) {
  b = a;
}

// kGuarded: the box crosses the end of a mode; less is unrolled, as few blocks have such a box.
template <bool kGuarded>
__device__ __forceinline__ void move_box(
    const float *__restrict__ a, float *__restrict__ b, long long n_i, long long n_k, long long n_l,
    long long n_m, long long first_k, long long first_i, float *a_box) {
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
box(const float *__restrict__ a, float *__restrict__ b, long long n_i, long long n_k, long long n_l,
    long long n_m) {
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
