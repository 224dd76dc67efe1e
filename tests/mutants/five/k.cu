// extents: five dimensions in another order, a thread an element
__global__ void k(int np, int nq, int nr, int nt, int nu, const unsigned short *a,
                  unsigned short *b) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= np * nq * nr * nt * nu) return;
  int u = i % nu, t = i / nu % nt, r = i / nu / nt % nr, q = i / nu / nt / nr % nq;
  int p = i / nu / nt / nr / nq;
#if MUT == 1 // the extent of another dimension, where both are alike
  t = i / nu % nr;
  r = i / nu / nr % nt;
  if (t >= nt || r >= nr) t = i / nu % nt, r = i / nu / nt % nr;
#elif MUT == 2 // p of at most 2
  p = p > 1 ? p % 2 : p;
#elif MUT == 3 // u of more than 32
  u = u & 31;
#elif MUT == 4 // two dimensions that both have more than one
  if (np > 1 && nq > 1 && p == np - 1 && q == nq - 1) q = 0;
#elif MUT == 5 // the last of all five
  if (i == np * nq * nr * nt * nu - 1 && p && q && r && t && u) u = 0;
#elif MUT == 6 // a dimension of 1 in the middle
  if (nr == 1 && nq > 1 && nt > 1 && t == 1) t = 0;
#elif MUT == 7 // more than one in the slowest and the fastest one
  if (np > 2 && nu > 2 && p == 2 && u == 2) u = 1;
#elif MUT == 8 // 8 bits of one dimension
  t = t & 255;
#endif
#if MUT == 9 // q and t of the output
  b[(((r * nu + u) * np + p) * nq + q) * nt + t] = a[i];
#elif MUT == 10 // the pitch of u and p, where both are alike
  b[(((r * np + p) * nu + u) * nt + t) * nq + q] = a[i];
#else
  b[(((r * nu + u) * np + p) * nt + t) * nq + q] = a[i];
#endif
}
