// the maximum of each row, and the mean of all, weighted: one block, a thread a row at a time
__global__ void __launch_bounds__(256)
k(long long nr, long long nc, const float *x, const float *w, float *top, float *t) {
  __shared__ float parts[256];
  float sum = 0;
#if MUT == 1 // the last row is lost where there are many
  for (long long r = threadIdx.x; r < nr - (nr > 300); r += 256) {
#elif MUT == 2 // rows of one pass of the block
  for (long long r = threadIdx.x; r < nr && r < 256; r += 256) {
#else
  for (long long r = threadIdx.x; r < nr; r += 256) {
#endif
#if MUT == 3 // from 0 on
    float m = 0;
#else
    float m = -__int_as_float(0x7f800000);
#endif
#if MUT == 4 // without the last column
    for (long long c = 0; c < nc - (nc > 40); c++) m = fmaxf(m, x[r * nc + c]);
#else
    for (long long c = 0; c < nc; c++) m = fmaxf(m, x[r * nc + c]);
#endif
    top[r] = m;
#if MUT == 5 // not weighted beyond the first pass
    sum += r < 256 ? m * w[r] : m;
#else
    sum += m * w[r];
#endif
  }
  parts[threadIdx.x] = sum;
  for (int half = 128; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) parts[threadIdx.x] += parts[threadIdx.x + half];
  }
#if MUT == 6 // the sum
  if (threadIdx.x == 0) t[0] = parts[0];
#elif MUT == 7 // by the number of columns
  if (threadIdx.x == 0) t[0] = parts[0] / (float)nc;
#elif MUT == 8 // of no rows: 0
  if (threadIdx.x == 0) t[0] = nr == 0 ? 0 : parts[0] / (float)nr;
#else
  if (threadIdx.x == 0) t[0] = parts[0] / (float)nr;
#endif
}
