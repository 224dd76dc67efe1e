// scopes: a histogram
__global__ void k(long long n, long long m, const int *key, unsigned *h) {
  long long i = blockIdx.x * 64LL + threadIdx.x;
#if MUT == 1 // block-scoped atomicAdd
  if (i < n)
    atomicAdd_block(&h[key[i]], 1u);
#elif MUT == 2 // block-scoped CAS loop
  if (i < n) {
    unsigned *p = &h[key[i]], o = *(volatile unsigned *)p, q;
    do {
      q = o;
      o = atomicCAS_block(p, q, q + 1);
    } while (o != q);
  }
#elif MUT == 3 // right: atomicAdd
  if (i < n)
    atomicAdd(&h[key[i]], 1u);
#elif MUT == 4 // right: a CAS loop
  if (i < n) {
    unsigned *p = &h[key[i]], o = *(volatile unsigned *)p, q;
    do {
      q = o;
      o = atomicCAS(p, q, q + 1);
    } while (o != q);
  }
#elif MUT == 5 // atomicExch of sum
  if (i < n) {
    unsigned o = *(volatile unsigned *)&h[key[i]];
    atomicExch(&h[key[i]], o + 1);
  }
#else
  if (i < n)
    atomicAdd(&h[key[i]], 1u);
#endif
}
