// templates/device/words.cuh: word_of, word_bytes, evict_last_policy, load_word, load_evict_last, store


// What is computed for one element.
__device__ __forceinline__ void compute(float a, float &b) {
  b = a;
}

// kGuarded: the box crosses the end of a mode; less is unrolled, as few blocks have such a box.
template <bool kGuarded>
__device__ __forceinline__ void move_box(
    const float *__restrict__ a, float *__restrict__ b, long long n_i, long long n_k, long long n_l,
    long long n_m, long long first_l, long long first_k, long long first_i, float *a_box) {
  constexpr int kUnrolled = kGuarded ? 4 : 16;
  const float *a_from = a;
  a_from += 3 * first_l * n_k;
  a_from += 3 * first_k;
  a_from += 3 * first_i * n_k * n_l;
  float *b_to = b;
  b_to += 3 * first_l;
  b_to += 3 * first_k * n_l;
  b_to += 3 * first_i * n_k * n_l;
  const int left_l = (int)min((long long)16, n_l - first_l);
  const int left_k = (int)min((long long)32, n_k - first_k);
  const int left_i = (int)min((long long)4, n_i - first_i);

  // in, as the inputs lie: all loads before the first use
  {
    const int m = threadIdx.x % 96;
    const int row = threadIdx.x / 96;
    a_from += 3 * n_k * row + m;
    float a_in[16];
#pragma unroll kUnrolled
    for (int pass = 0; pass < 16; pass++) {
      const int l = pass % 4 * 4 + row;
      const int i = pass / 4;
      if (!kGuarded || m < left_k * 3 && l < left_l && i < left_i)
        (kGuarded ? a_box[1584 * i + 99 * l + m] : a_in[pass]) = load_evict_last<float>(a_from);
      a_from += 12 * n_k;
      if ((pass + 1) % 4 == 0)
        a_from += 3 * n_k * n_l - 48 * n_k;
    }
#pragma unroll
    for (int pass = 0; !kGuarded && pass < 16; pass++) {
      const int l = pass % 4 * 4 + row;
      const int i = pass / 4;
      if (!kGuarded || m < left_k * 3 && l < left_l && i < left_i)
        a_box[1584 * i + 99 * l + m] = a_in[pass];
    }
  }
  __syncthreads();

  // out, as the outputs lie
  {
    const int m = threadIdx.x % 3;
    const int l = threadIdx.x / 3 % 16;
    const int row = threadIdx.x / 48;
    b_to += 3 * n_l * row + 3 * l + m;
#pragma unroll kUnrolled
    for (int pass = 0; pass < 16; pass++) {
      const int k = pass % 4 * 8 + row;
      const int i = pass / 4;
      if (!kGuarded || l < left_l && k < left_k && i < left_i) {
        const float a_v = a_box[1584 * i + 99 * l + 3 * k + m];
        float b_v;
        compute(a_v, b_v);
        store(b_to, b_v);
      }
      b_to += 24 * n_l;
      if ((pass + 1) % 4 == 0)
        b_to += 3 * n_k * n_l - 96 * n_l;
    }
  }
}

// A block moves a box of 6144 elements (4 x 32 x 16 x 3) through shared memory: in as inputs lie,
// out as outputs lie.
__global__ void __launch_bounds__(384)
box(const float *__restrict__ a, float *__restrict__ b, long long n_i, long long n_k, long long n_l,
    long long n_m) {
  __shared__ __align__(16) float a_box[6336]; // what is kept of a
  unsigned int block = blockIdx.x;
  const long long first_l = (long long)(block % (unsigned int)((n_l + 15) >> 4)) * 16;
  block /= (unsigned int)((n_l + 15) >> 4);
  const long long first_k = (long long)(block % (unsigned int)((n_k + 31) >> 5)) * 32;
  block /= (unsigned int)((n_k + 31) >> 5);
  const long long first_i = (long long)block * 4;
  if (first_l + 16 <= n_l && first_k + 32 <= n_k && first_i + 4 <= n_i)
    move_box<false>(a, b, n_i, n_k, n_l, n_m, first_l, first_k, first_i, a_box);
  else
    move_box<true>(a, b, n_i, n_k, n_l, n_m, first_l, first_k, first_i, a_box);
}
