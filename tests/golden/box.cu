// templates/device/boxes.cuh: each_pass
// templates/device/division.cuh: ceil_div
// templates/device/words.cuh: word_of, word_bytes, evict_last_policy, load_word, load_evict_last, store

// Computes one element.
__device__ __forceinline__ void compute(float a, float &b) {
  b = a;
}

// A block moves a box of 6144 elements (4 x 32 x 16 x 3) through shared memory: in as inputs lie,
// out as outputs lie.
__global__ void __launch_bounds__(384)
box(const float *__restrict__ a, float *__restrict__ b, long long n_i, long long n_k, long long n_l,
    long long n_m) {
  constexpr int kBoxL = 16, kBoxK = 32, kBoxI = 4; // extents of a box
  constexpr int kLoads = 16, kStores = 16; // of a thread
  __shared__ __align__(16) float a_box[6336]; // what is kept of a
  // where the box begins
  unsigned int block = blockIdx.x;
  const unsigned int boxes_l = ceil_div<kBoxL>(n_l);
  const long long first_l = (long long)(block % boxes_l) * kBoxL;
  block /= boxes_l;
  const unsigned int boxes_k = ceil_div<kBoxK>(n_k);
  const long long first_k = (long long)(block % boxes_k) * kBoxK;
  block /= boxes_k;
  const long long first_i = (long long)block * kBoxI;
  // elements between neighbours along a mode
  const long long a_stride_l = 3 * n_k;
  const long long b_stride_k = 3 * n_l;
  const long long a_stride_i = 3 * n_k * n_l;
  const long long b_stride_i = 3 * n_k * n_l;
  const float *const a_first = &a[a_stride_i * first_i + a_stride_l * first_l + 3 * first_k];
  float *const b_first = &b[b_stride_i * first_i + b_stride_k * first_k + 3 * first_l];

  // guarded: the box crosses the end of a mode.
  const auto move_box = [&](bool guarded) {
    const int left_l = (int)min((long long)kBoxL, n_l - first_l);
    const int left_k = (int)min((long long)kBoxK, n_k - first_k);
    const int left_i = (int)min((long long)kBoxI, n_i - first_i);

    // in, as the inputs lie: all loads before the first use
    {
      const int m = threadIdx.x % 96;
      const int row = threadIdx.x / 96;
      const float *a_from = a_first + a_stride_l * row + m;
      float a_in[kLoads];
      each_pass<kLoads>(guarded, [&](int pass) {
        const int l = pass % 4 * 4 + row;
        const int i = pass / 4;
        if (!guarded || m < left_k * 3 && l < left_l && i < left_i)
          (guarded ? a_box[1584 * i + 99 * l + m] : a_in[pass]) = load_evict_last<float>(a_from);
        a_from += 4 * a_stride_l;
        if ((pass + 1) % 4 == 0)
          a_from += 3 * n_k * n_l - 48 * n_k;
      });
#pragma unroll
      for (int pass = 0; !guarded && pass < kLoads; pass++) {
        const int l = pass % 4 * 4 + row;
        const int i = pass / 4;
        a_box[1584 * i + 99 * l + m] = a_in[pass];
      }
    }
    __syncthreads();

    // out, as the outputs lie
    {
      const int m = threadIdx.x % 3;
      const int l = threadIdx.x / 3 % 16;
      const int row = threadIdx.x / 48;
      float *b_to = b_first + b_stride_k * row + 3 * l + m;
      each_pass<kStores>(guarded, [&](int pass) {
        const int k = pass % 4 * 8 + row;
        const int i = pass / 4;
        if (!guarded || l < left_l && k < left_k && i < left_i) {
          const float a_v = a_box[1584 * i + 99 * l + 3 * k + m];
          float b_v;
          compute(a_v, b_v);
          store(b_to, b_v);
        }
        b_to += 8 * b_stride_k;
        if ((pass + 1) % 4 == 0)
          b_to += 3 * n_k * n_l - 96 * n_l;
      });
    }
  };

  if (first_l + kBoxL <= n_l && first_k + kBoxK <= n_k && first_i + kBoxI <= n_i)
    move_box(false);
  else
    move_box(true);
}
