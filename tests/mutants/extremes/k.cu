// scopes: maxima and bits that many threads bring to one element
__device__ void max_float(float *at, float v) {
  if (v != v) return;
#if MUT == 1 // negative values by the order of positive ones
  atomicMax((int *)at, __float_as_int(v));
#elif MUT == 2 // -0 by the order of negative ones, below all of them
  if (v >= 0) atomicMax((int *)at, __float_as_int(v));
  else atomicMin((unsigned *)at, __float_as_uint(v));
#elif MUT == 3 // negative values are left out
  if (v >= 0) atomicMax((int *)at, __float_as_int(v));
#elif MUT == 4 // among the block's threads
  if (__float_as_int(v) >= 0) atomicMax_block((int *)at, __float_as_int(v));
  else atomicMin_block((unsigned *)at, __float_as_uint(v));
#elif MUT == 5 // a loop of one iteration
  const int old = *(volatile int *)at;
  if (v > __int_as_float(old)) atomicCAS((int *)at, old, __float_as_int(v));
#elif MUT == 6 // reads, then writes
  if (v > *(volatile float *)at) atomicExch(at, v);
#else
  if (__float_as_int(v) >= 0) atomicMax((int *)at, __float_as_int(v));
  else atomicMin((unsigned *)at, __float_as_uint(v));
#endif
}
__global__ void k(long long n, const int *key, const int *a, const float *v, int *m, float *f,
                  unsigned *o) {
  const long long i = blockIdx.x * 64LL + threadIdx.x;
  if (i >= n) return;
  const int q = key[i];
#if MUT == 7 // as numbers without sign
  atomicMax((unsigned *)&m[q], (unsigned)a[i]);
#elif MUT == 8 // only what is positive
  if (a[i] > 0) atomicMax(&m[q], a[i]);
#elif MUT == 9 // the block's own view of what the element holds
  if (a[i] > m[q]) atomicMax_block(&m[q], a[i]);
#elif MUT == 10 // the first of two threads with a key
  const unsigned same = __match_any_sync(__activemask(), q);
  if (threadIdx.x % 32 == __ffs(same) - 1) atomicMax(&m[q], a[i]);
#else
  atomicMax(&m[q], a[i]);
#endif
  max_float(&f[q], v[i]);
#if MUT == 11 // adds what is or
  atomicAdd(&o[q], 1u << (a[i] & 31));
#elif MUT == 12 // not atomic
  o[q] |= 1u << (a[i] & 31);
#elif MUT == 13 // the highest bit
  atomicOr(&o[q], (1u << (a[i] & 31)) & 0x7fffffff);
#elif MUT == 14 // adds a bit that is not seen yet
  if (!(*(volatile unsigned *)&o[q] >> (a[i] & 31) & 1)) atomicAdd(&o[q], 1u << (a[i] & 31));
#else
  atomicOr(&o[q], 1u << (a[i] & 31));
#endif
}
