// templates/device/scan.cuh: scan_block

// Computes one element.
__device__ __forceinline__ void compute(float a, float &o) {
  o = a;
}

// What is known of one element of the outputs so far: a member for each reduced value.
struct partial {
  float o;
};

// The identity element.
__device__ __forceinline__ partial identity() {
  return {0.0f};
}

// Two partial results as one.
__device__ __forceinline__ partial combine(const partial &one, const partial &other) {
  return {one.o + other.o};
}

// A block has a row, a chunk of elements at a time.
__global__ void __launch_bounds__(1024)
direct(const float *__restrict__ a, float *__restrict__ o, long long n_i) {
  constexpr int kThreads = 1024;
  constexpr int kLanes = 1; // rows of a block, side by side
  constexpr int kChunk = kThreads / kLanes;
  const int lane = threadIdx.x % kLanes, group = threadIdx.x / kLanes;
  const long long row_index = blockIdx.x * (long long)kLanes + lane;
  partial before = identity(); // what the chunks before come to
  for (long long first = 0; first < n_i; first += kChunk) {
    const long long i = first + group;
    const bool inside = row_index < 1 && i < n_i;
    partial mine = identity(), all;
    if (inside) {
      const float a_v = a[i];
      float o_v;
      compute(a_v, o_v);
      mine = {o_v};
    }
    const partial earlier = combine(before, scan_block<kThreads, kLanes>(mine, identity(), all));
    if (inside) {
      const partial up_to = combine(earlier, mine);
      o[i] = up_to.o;
    }
    before = combine(before, all);
    __syncthreads();
  }
}
