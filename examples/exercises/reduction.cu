// A block a row: a tree whose active threads lie further apart at every step.
__global__ void sum_rows(const float *in, float *total, int cols) {
  __shared__ float s[256];
  const int t = threadIdx.x;
  float sum = 0.0f;
  for (int c = t; c < cols; c += 256) {
    sum += in[(long long)blockIdx.x * cols + c];
  }
  s[t] = sum;
  for (int step = 1; step < 256; step *= 2) {
    __syncthreads();
    if (t % (2 * step) == 0) {
      s[t] += s[t + step];
    }
  }
  if (t == 0) {
    total[blockIdx.x] = s[0];
  }
}
