// templates/device/async.cuh: smem_address, async_copy, async_commit, async_wait
// templates/device/boxes.cuh: each_pass
// templates/device/division.cuh: ceil_div
// templates/device/words.cuh: word_of, word_bytes, evict_last_policy, store_word, store_evict_last

// Computes one element.
__device__ __forceinline__ void compute(float a, float &b) {
  b = a;
}

// A block moves a box of 18432 elements (2 x 64 x 48 x 3) through shared memory: in as inputs lie,
// out as outputs lie.
__global__ void __launch_bounds__(448)
box(const float *__restrict__ a, float *__restrict__ b, long long n_i, long long n_k, long long n_l,
    long long n_m) {
  constexpr int kBoxK = 64, kBoxI = 2; // extents of a box
  constexpr int kLoads = 48, kStores = 44; // of a thread
  extern __shared__ __align__(128) unsigned char shared[];
  // what is kept of a
  float *const a_box = reinterpret_cast<float *>(shared + 0);
  // where the box begins
  unsigned int block = blockIdx.x;
  const unsigned int boxes_k = ceil_div<kBoxK>(n_k);
  const long long first_k = (long long)(block % boxes_k) * kBoxK;
  block /= boxes_k;
  const long long first_i = (long long)block * kBoxI;
  // elements between neighbours along a mode
  const long long a_stride_l = 3 * n_k;
  const long long a_stride_i = 144 * n_k;
  const long long b_stride_i = 144 * n_k;
  const float *const a_first = &a[a_stride_i * first_i + 3 * first_k];
  float *const b_first = &b[b_stride_i * first_i + 144 * first_k];

  // guarded: the box crosses the end of a mode.
  const auto move_box = [&](bool guarded) {
    const int left_k = (int)min((long long)kBoxK, n_k - first_k);
    const int left_i = (int)min((long long)kBoxI, n_i - first_i);

    // in, as the inputs lie, by asynchronous copies
    if (threadIdx.x < 384) {
      const int m = threadIdx.x % 192;
      const int row = threadIdx.x / 192;
      const float *a_from = a_first + a_stride_l * row + m;
      each_pass<kLoads>(guarded, [&](int pass) {
        const int l = pass * 2 + row;
        if (!guarded || m < left_k * 3 && l < left_i * 48)
          async_copy<4>(&a_box[195 * l + m], a_from);
        a_from += 2 * a_stride_l;
      });
      async_commit();
      async_wait<0>();
    }
    __syncthreads();

    // out, as the outputs lie
    if (threadIdx.x < 432) {
      const int m = threadIdx.x % 3;
      const int l = threadIdx.x / 3 % 48;
      const int row = threadIdx.x / 144;
      float *b_to = b_first + 144 * row + 3 * l + m;
      each_pass<kStores>(guarded, [&](int pass) {
        const int k = pass % 22 * 3 + row;
        const int i = pass / 22;
        if ((pass % 22 < 21 || k < 64) && (!guarded || k < left_k && i < left_i)) {
          const float a_v = a_box[9360 * i + 195 * l + 3 * k + m];
          float b_v;
          compute(a_v, b_v);
          store_evict_last(b_to, b_v);
        }
        b_to += 432;
        if ((pass + 1) % 22 == 0)
          b_to += 144 * n_k - 9504;
      });
    }
  };

  if (first_k + kBoxK <= n_k && first_i + kBoxI <= n_i)
    move_box(false);
  else
    move_box(true);
}
