// values: a row a block, three passes, with a tolerance
#define INFINITE __int_as_float(0x7f800000)
__global__ void k(long long nr, long long nc, const float *x, float *y) {
  __shared__ float part[4];
  const float *row = x + blockIdx.x * nc;
#if MUT == 1 // the maximum begins with 0
  float m = 0;
#else
  float m = -INFINITE;
#endif
#if MUT == 3 // no maximum
  m = 0;
#elif MUT == 2 // the maximum of 512 columns
  for (long long c = threadIdx.x; c < nc && c < 512; c += 128) m = fmaxf(m, row[c]);
#elif MUT == 4 // the maximum of each thread's first value
  for (long long c = threadIdx.x; c < nc && c < 128; c += 128) m = fmaxf(m, row[c]);
#elif MUT == 5 // the maximum without the last column
  for (long long c = threadIdx.x; c < nc - (nc > 1); c += 128) m = fmaxf(m, row[c]);
#elif MUT == 6 // the largest magnitude
  for (long long c = threadIdx.x; c < nc; c += 128) m = fmaxf(m, fabsf(row[c]));
#elif MUT == 7 // the minimum
  m = INFINITE;
  for (long long c = threadIdx.x; c < nc; c += 128) m = fminf(m, row[c]);
#elif MUT == 8 // the maximum is held to 80
  for (long long c = threadIdx.x; c < nc; c += 128) m = fmaxf(m, fminf(row[c], 80.0f));
#else
  for (long long c = threadIdx.x; c < nc; c += 128) m = fmaxf(m, row[c]);
#endif
#if MUT == 7
  for (int o = 16; o > 0; o /= 2) m = fminf(m, __shfl_xor_sync(~0u, m, o));
#else
  for (int o = 16; o > 0; o /= 2) m = fmaxf(m, __shfl_xor_sync(~0u, m, o));
#endif
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = m;
  __syncthreads();
#if MUT == 7
  m = fminf(fminf(part[0], part[1]), fminf(part[2], part[3]));
#elif MUT == 9 // the maximum of the first warp
  m = part[0];
#else
  m = fmaxf(fmaxf(part[0], part[1]), fmaxf(part[2], part[3]));
#endif
  __syncthreads();
  float t = 0;
  for (long long c = threadIdx.x; c < nc; c += 128) {
#if MUT == 10 // differences are held to -5
    t += expf(fmaxf(row[c] - m, -5.0f));
#elif MUT == 11 // NaN counts as nothing
    const float e = expf(row[c] - m);
    t += e != e ? 0.0f : e;
#else
    t += expf(row[c] - m);
#endif
  }
  for (int o = 16; o > 0; o /= 2) t += __shfl_xor_sync(~0u, t, o);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = t;
  __syncthreads();
  t = part[0] + part[1] + part[2] + part[3];
#if MUT == 12 // the sum is at least 1.5
  t = fmaxf(t, 1.5f);
#endif
  for (long long c = threadIdx.x; c < nc; c += 128) {
#if MUT == 13 // what is not a number becomes 0
    const float v = expf(row[c] - m) / t;
    y[blockIdx.x * nc + c] = v != v ? 0.0f : v;
#elif MUT == 14 // small results are lost
    const float v = expf(row[c] - m) / t;
    y[blockIdx.x * nc + c] = v < 1e-6f ? 0.0f : v;
#else
    y[blockIdx.x * nc + c] = expf(row[c] - m) / t;
#endif
  }
}
