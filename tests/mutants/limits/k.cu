// scalars: limits that values meet exactly, and the constants of the body
__global__ void k(long long n, float lo, float hi, int n_bits, float ref, const float *a,
                  const unsigned *u, float *b, unsigned *v, bool *f) {
  const long long i = blockIdx.x * 128LL + threadIdx.x;
  if (i >= n) return;
  const float x = a[i];
  const unsigned w = u[i];
#if MUT == 1 // the upper limit first: limits in the wrong order
  b[i] = x > hi ? hi : x < lo ? lo : x;
#elif MUT == 2 // fminf and fmaxf, which pass over NaN
  b[i] = fminf(fmaxf(x, lo), hi);
#elif MUT == 3 // no lower limit below 0
  b[i] = x < fmaxf(lo, 0) ? lo : x > hi ? hi : x;
#elif MUT == 4 // no upper limit below 0
  b[i] = x < lo ? lo : x > hi && hi >= 0 ? hi : x;
#elif MUT == 5 // a limit of 0
  b[i] = x < lo && lo != 0 ? lo : x > hi ? hi : x;
#else
  b[i] = x < lo ? lo : x > hi ? hi : x;
#endif
#if MUT == 6 // shifts of 32 and more
  v[i] = n_bits < 0 || n_bits > 31 ? 0 : w >> n_bits;
#elif MUT == 7 // keeps the sign
  v[i] = (unsigned)((int)w >> (n_bits & 31));
#elif MUT == 8 // up to 16 bits
  v[i] = w >> min(n_bits & 31, 16);
#elif MUT == 9 // by 0 as by 32
  v[i] = (n_bits & 31) == 0 ? 0 : w >> (n_bits & 31);
#else
  v[i] = w >> (n_bits & 31);
#endif
#if MUT == 10 // > for >=, with the scalar
  f[i] = x > ref && w >= 10 || w == 77;
#elif MUT == 11 // > for >=, with the constant
  f[i] = x >= ref && w > 10 || w == 77;
#elif MUT == 12 // the constant alone
  f[i] = x >= ref && w >= 10;
#elif MUT == 13 // the constant's neighbour
  f[i] = x >= ref && w >= 10 || w == 77 || w == 76;
#elif MUT == 14 // not less, which is true of NaN
  f[i] = !(x < ref) && w >= 10 || w == 77;
#elif MUT == 15 // the scalar's magnitude
  f[i] = x >= fabsf(ref) && w >= 10 || w == 77;
#else
  f[i] = x >= ref && w >= 10 || w == 77;
#endif
}
