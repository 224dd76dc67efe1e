// What `sanitize` must find: a comment "find KIND" at the line of the error, "before KIND" at the
// line that it has to name beside it. Kernels without any are right.

__global__ void no_barrier(const float *a, float *b) {
  __shared__ float s[256];
  s[threadIdx.x] = a[threadIdx.x]; // before shared_race
  b[threadIdx.x] = s[255 - threadIdx.x]; // find shared_race; find undefined_store
}

__global__ void with_barrier(const float *a, float *b) {
  __shared__ float s[256];
  s[threadIdx.x] = a[threadIdx.x];
  __syncthreads();
  b[threadIdx.x] = s[255 - threadIdx.x];
}

__global__ void second_round(const float *a, float *b) { // the barrier before the next round
  __shared__ float s[64];
  for (int k = 0; k < 2; k++) {
    s[threadIdx.x] = a[64 * k + threadIdx.x]; // find shared_race
    __syncthreads();
    b[64 * k + threadIdx.x] = s[63 - threadIdx.x]; // before shared_race
  }
}

__global__ void within_warp(const float *a, float *b) {
  __shared__ float s[32];
  s[threadIdx.x] = a[threadIdx.x]; // before warp_race
  b[threadIdx.x] = s[31 - threadIdx.x]; // find warp_race
}

__global__ void between_blocks(float *b) {
  if (threadIdx.x == 0) {
    b[0] += blockIdx.x + 1; // find global_race; before global_race
  }
}

__global__ void by_atomics(float *b) {
  if (threadIdx.x == 0) {
    atomicAdd(b, blockIdx.x + 1.0f);
  }
}

__global__ void half_filled(const float *a, float *b) {
  __shared__ float s[64];
  if (threadIdx.x < 32) {
    s[threadIdx.x] = a[threadIdx.x];
  }
  __syncthreads();
  const float x = s[threadIdx.x] * 2.0f; // before undefined_store
  b[threadIdx.x] = x + 1.0f; // find undefined_store
}

__global__ void branches_on_it(float *b, const int *flags) {
  const int flag = flags[threadIdx.x]; // before undefined_branch
  if (flag > 3) { // find undefined_branch
    b[threadIdx.x] = 1.0f;
    b[threadIdx.x + 64] = 1.0f;
    __syncwarp();
  }
}

__global__ void jumps_to_it(const float *a, float *b, const int *pick) {
  const int i = pick[threadIdx.x]; // before undefined_address
  b[threadIdx.x] = a[i]; // find undefined_address
}

__global__ void beyond(const float *a, float *b) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  b[i] = a[i + 1]; // find out_of_bounds
}

__device__ float shifted(const float *p, int i) {
  return *(const float *)((const char *)p + 4 * i + 2); // find misaligned
}

__global__ void misaligned(const float *a, float *b) {
  b[threadIdx.x] = shifted(a, threadIdx.x);
}

__global__ void some_wait(float *b) {
  if (threadIdx.x % 2 == 0) {
    __syncthreads(); // find barrier_divergence
    b[threadIdx.x] = 1.0f;
  }
  __syncthreads();
  b[threadIdx.x] += 1.0f;
}

__global__ void shared_beyond(float *b) {
  __shared__ float s[64];
  s[threadIdx.x] = 1.0f; // find out_of_bounds
  __syncthreads();
  b[threadIdx.x] = s[threadIdx.x & 63];
}

__global__ void two_mistakes(const float *a, float *b) {
  __shared__ float s[64];
  s[threadIdx.x] = a[threadIdx.x]; // before shared_race
  const float x = s[63 - threadIdx.x]; // find shared_race
  __syncthreads();
  b[threadIdx.x] = x; // before global_race
  b[(threadIdx.x + 32) % 64] = x; // find global_race
}

__global__ void same_value(int *found, const float *a) {
  if (a[threadIdx.x] >= 0.0f) {
    found[0] = 1; // find global_race
  }
}

// What is stored is what was there: it is a store all the same.
__global__ void zeros(const float *a, float *b) {
  __shared__ float s[64];
  s[threadIdx.x] = a[threadIdx.x]; // before shared_race
  b[threadIdx.x] = s[63 - threadIdx.x]; // find shared_race; find undefined_store
}

__global__ void zeros_between_blocks(float *a, float *b) {
  a[blockIdx.x * blockDim.x + threadIdx.x] = 0.0f; // before global_race
  b[blockIdx.x * blockDim.x + threadIdx.x] = a[(blockIdx.x + 1) % gridDim.x * blockDim.x + threadIdx.x]; // find global_race
}
