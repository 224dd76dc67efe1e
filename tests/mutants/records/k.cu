// addresses: records of 16 bytes, by their words, or as one vector where they are aligned
struct in { float p[3]; unsigned short id; unsigned char f[2]; };
struct out { float q[3]; int n; };
__global__ void k(long long n, const in *a, out *b) {
  const long long i = blockIdx.x * 128LL + threadIdx.x;
  if (i >= n) return;
  union { uint4 v; in r; } x;
  union { uint4 v; out r; } y;
#if MUT == 1 // one vector, wherever the array begins
  const bool whole = true;
#elif MUT == 2 // 8 bytes
  const bool whole = ((unsigned long long)a & 7) == 0;
#elif MUT == 3 // asks b for a
  const bool whole = ((unsigned long long)b & 15) == 0;
#else
  const bool whole = ((unsigned long long)a & 15) == 0;
#endif
  if (whole) {
    x.v = *(const uint4 *)(a + i);
#if MUT == 4 // words in another order, in vectors
    const unsigned word = x.v.y;
    x.v.y = x.v.z, x.v.z = word;
#endif
  } else {
    const unsigned *w = (const unsigned *)(a + i);
    x.v = make_uint4(w[0], w[1], w[2], w[3]);
  }
#if MUT == 5 // two fields in each other's place
  y.r.q[0] = x.r.p[0] * 2, y.r.q[1] = x.r.p[2] * 2, y.r.q[2] = x.r.p[1] * 2;
#else
  for (int d = 0; d < 3; d++) y.r.q[d] = x.r.p[d] * 2;
#endif
#if MUT == 6 // id with its sign
  y.r.n = (short)x.r.id * 4 + x.r.f[0] - x.r.f[1];
#elif MUT == 7 // flags with their signs
  y.r.n = x.r.id * 4 + (signed char)x.r.f[0] - (signed char)x.r.f[1];
#elif MUT == 8 // the difference of 8 bits
  y.r.n = x.r.id * 4 + (unsigned char)(x.r.f[0] - x.r.f[1]);
#elif MUT == 9 // the second flag is that of the record before
  y.r.n = x.r.id * 4 + x.r.f[0] - (i > 0 && threadIdx.x == 0 ? a[i - 1].f[1] : x.r.f[1]);
#else
  y.r.n = x.r.id * 4 + x.r.f[0] - x.r.f[1];
#endif
#if MUT == 10 // b as one vector where a is aligned
  if (whole) { *(uint4 *)(b + i) = y.v; return; }
#endif
  unsigned *w = (unsigned *)(b + i);
  w[0] = y.v.x, w[1] = y.v.y, w[2] = y.v.z, w[3] = y.v.w;
}
