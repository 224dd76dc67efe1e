// A block a row; neighbouring threads add neighbouring words.
__global__ void sum_rows(const float *in, float *total, int cols) {
  __shared__ float s[256];
  const int t = threadIdx.x;
  float sum = 0.0f;
  for (int c = t; c < cols; c += 256) {
    sum += in[(long long)blockIdx.x * cols + c];
  }
  s[t] = sum;
  for (int half = 128; half > 0; half /= 2) {
    __syncthreads();
    if (t < half) {
      s[t] += s[t + half];
    }
  }
  if (t == 0) {
    total[blockIdx.x] = s[0];
  }
}
