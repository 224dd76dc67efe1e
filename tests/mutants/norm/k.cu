// values: a row a warp, divided by the root of its mean square, with a tolerance
__global__ void k(long long nr, long long nc, const float *x, const float *w, float *y) {
  const long long r = blockIdx.x * 4LL + threadIdx.y;
  if (r >= nr) return;
  const float *row = x + r * nc;
  float q = 0;
#if MUT == 1 // squares of 1,024 columns
  for (long long c = threadIdx.x; c < nc && c < 1024; c += 32) q += row[c] * row[c];
#elif MUT == 2 // without the last column
  for (long long c = threadIdx.x; c < nc - (nc > 32); c += 32) q += row[c] * row[c];
#elif MUT == 3 // columns in pairs: an odd one is lost from 64 on
  for (long long c = 2 * threadIdx.x; c + (nc > 64) < nc; c += 64) {
    q += row[c] * row[c] + (c + 1 < nc ? row[c + 1] * row[c + 1] : 0);
  }
#else
  for (long long c = threadIdx.x; c < nc; c += 32) q += row[c] * row[c];
#endif
  for (int o = 16; o > 0; o /= 2) q += __shfl_xor_sync(~0u, q, o);
#if MUT == 4 // no epsilon
  float f = 1 / sqrtf(q / nc);
#elif MUT == 5 // epsilon outside of the root
  float f = 1 / (sqrtf(q / nc) + 1e-5f);
#elif MUT == 6 // epsilon is 10^-6
  float f = 1 / sqrtf(q / nc + 1e-6f);
#elif MUT == 7 // the sum in place of the mean where rows are short
  float f = 1 / sqrtf(q / (nc < 32 ? 32 : nc) + 1e-5f);
#elif MUT == 8 // large means are held
  float f = 1 / sqrtf(fminf(q / nc, 65504.0f) + 1e-5f);
#elif MUT == 9 // NaN becomes 0
  float f = 1 / sqrtf(q / nc + 1e-5f);
  f = f != f ? 0.0f : f;
#elif MUT == 10 // no epsilon in rows of one column
  float f = 1 / sqrtf(q / nc + (nc > 1 ? 1e-5f : 0.0f));
#elif MUT == 11 // the largest factor is 100
  float f = fminf(1 / sqrtf(q / nc + 1e-5f), 100.0f);
#else
  float f = 1 / sqrtf(q / nc + 1e-5f);
#endif
  for (long long c = threadIdx.x; c < nc; c += 32) {
#if MUT == 12 // small values are lost
    y[r * nc + c] = fabsf(row[c]) < 1e-2f ? 0.0f : row[c] * f * w[c];
#elif MUT == 13 // w of rows beyond the first block in other columns
    y[r * nc + c] = row[c] * f * w[r >= 4 && c >= 1024 ? c - 1024 : c];
#else
    y[r * nc + c] = row[c] * f * w[c];
#endif
  }
}
