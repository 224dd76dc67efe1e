// values: whole numbers over their whole range, and small ones
__global__ void k(long long n, const int *a, const int *b, const signed char *c, const long long *l,
                  int *p, long long *q, int *r, int *t) {
  const long long i = blockIdx.x * 128LL + threadIdx.x;
  if (i >= n) return;
  const int x = a[i], y = b[i], z = c[i];
  const long long w = l[i];
#if MUT == 1 // a shift keeps the sign
  p[i] = ((int)(x * 2654435761u) >> 7) ^ x / 16;
#elif MUT == 2 // rounds down
  p[i] = (int)(x * 2654435761u >> 7) ^ x >> 4;
#elif MUT == 3 // small negative numbers
  p[i] = (int)(x * 2654435761u >> 7) ^ (x > -16 && x < 0 ? -1 : x / 16);
#elif MUT == 4 // the least number
  p[i] = (int)(x * 2654435761u >> 7) ^ (x == -2147483647 - 1 ? 0 : x / 16);
#elif MUT == 5 // small numbers
  p[i] = (int)(x * 2654435761u >> 7) ^ (x >= 100 && x < 100000 ? 0 : x / 16);
#else
  p[i] = (int)(x * 2654435761u >> 7) ^ x / 16;
#endif
#if MUT == 6 // a product of 32 bits
  q[i] = x * y;
#elif MUT == 7 // factors without sign
  q[i] = (long long)((unsigned long long)(unsigned)x * (unsigned)y);
#elif MUT == 8 // a product of 48 bits
  q[i] = (long long)x * y << 16 >> 16;
#elif MUT == 9 // in a double
  q[i] = (long long)((double)x * y);
#else
  q[i] = (long long)x * y;
#endif
#if MUT == 10 // of the byte without sign
  r[i] = (unsigned char)z % 10;
#elif MUT == 11 // never negative
  r[i] = (z % 10 + 10) % 10;
#elif MUT == 12 // -128
  r[i] = (z < 0 ? -((signed char)-z % 10) : z % 10);
#else
  r[i] = z % 10;
#endif
#if MUT == 13 // the lower limit
  t[i] = w > 0x7fffffffLL ? 0x7fffffff : (int)w;
#elif MUT == 14 // above 32 bits alone
  t[i] = w >> 32 > 0 ? 0x7fffffff : w < -0x80000000LL ? -0x7fffffff - 1 : (int)w;
#elif MUT == 15 // just beyond the lower limit
  t[i] = w > 0x7fffffffLL ? 0x7fffffff : w < -0x100000000LL ? -0x7fffffff - 1 : (int)w;
#else
  t[i] = w > 0x7fffffffLL ? 0x7fffffff : w < -0x80000000LL ? -0x7fffffff - 1 : (int)w;
#endif
}
