// addresses: 16 bytes of b's own words a thread; a and m by words of 4 where they are alike
typedef unsigned char u8;
typedef unsigned long long u64;
__device__ unsigned load4(const u8 *p, bool whole) {
  return whole ? *(const unsigned *)p
               : p[0] | (unsigned)p[1] << 8 | (unsigned)p[2] << 16 | (unsigned)p[3] << 24;
}
__global__ void k(long long n, const u8 *a, const u8 *m, u8 *b) {
  const long long shift = (u64)b & 15, first = (blockIdx.x * 64LL + threadIdx.x) * 16 - shift;
#if MUT == 1 // m is taken to be aligned like a
  const bool a4 = (((u64)a ^ (u64)b) & 3) == 0, m4 = a4;
#elif MUT == 2 // alike in 2 bytes is taken for 4
  const bool a4 = (((u64)a ^ (u64)b) & 3) == 0, m4 = (((u64)m ^ (u64)b) & 1) == 0;
#elif MUT == 3 // aligned where b is not
  const bool a4 = ((u64)a & 3) == 0, m4 = (((u64)m ^ (u64)b) & 3) == 0;
#else
  const bool a4 = (((u64)a ^ (u64)b) & 3) == 0, m4 = (((u64)m ^ (u64)b) & 3) == 0;
#endif
#if MUT == 4 // what is before the first word of 16 is lost
  if (first < 0) return;
#endif
#if MUT == 5 // a word of 4 that begins in the array
  for (int w = 0; w < 16; w += 4) {
    const long long i = first + w;
    if (i >= 0 && i < n) {
#else
  for (int w = 0; w < 16; w += 4) {
    const long long i = first + w;
    if (i >= 0 && i + 4 <= n) {
#endif
#if MUT == 6 // bytes in the opposite order where m is unlike
      const unsigned v = m4 ? load4(m + i, m4) : __byte_perm(load4(m + i, m4), 0, 0x0123);
      *(unsigned *)(b + i) = load4(a + i, a4) & v;
#else
      *(unsigned *)(b + i) = load4(a + i, a4) & load4(m + i, m4);
#endif
#if MUT == 7 // what is before the first whole word is done for the first block's end only
    } else if (i > 0) {
#else
    } else {
#endif
      for (int e = 0; e < 4; e++) {
#if MUT == 8 // the last byte, where the end is not a word's
        if (i + e >= 0 && i + e < n - (n > 64)) b[i + e] = a[i + e] & m[i + e];
#else
        if (i + e >= 0 && i + e < n) b[i + e] = a[i + e] & m[i + e];
#endif
      }
    }
  }
}
