// addresses: 8 halves a thread, by 16, 4 or 2 bytes, as both addresses allow
typedef unsigned long long u64;
__global__ void k(long long n, const unsigned short *a, unsigned short *b) {
  const long long i = (blockIdx.x * 128LL + threadIdx.x) * 8;
  if (i >= n) return;
#if MUT == 1 // the sum of the addresses
  const u64 bits = (u64)a + (u64)b;
#elif MUT == 2 // asks b only
  const u64 bits = (u64)b;
#elif MUT == 3 // the difference: alike is taken for aligned
  const u64 bits = (u64)a ^ (u64)b;
#else
  const u64 bits = (u64)a | (u64)b;
#endif
#if MUT == 4 // 16 bytes at 8
  const bool by16 = (bits & 7) == 0;
#else
  const bool by16 = (bits & 15) == 0;
#endif
#if MUT == 5 // 4 bytes at 2
  const bool by4 = true;
#else
  const bool by4 = (bits & 3) == 0;
#endif
  if (by16 && i + 8 <= n) {
    uint4 v = *(const uint4 *)(a + i);
    v.x ^= 0x80008000, v.y ^= 0x80008000, v.z ^= 0x80008000;
#if MUT == 6 // the last half of 16 bytes keeps its sign
    v.w ^= 0x8000;
#else
    v.w ^= 0x80008000;
#endif
    *(uint4 *)(b + i) = v;
    return;
  }
#if MUT == 7 // a partial group of 16 bytes is lost
  if (by16) return;
#endif
  if (by4) {
    int e = 0;
    for (; e < 8 && i + e + 2 <= n; e += 2) {
#if MUT == 8 // halves change places in words of 4 bytes
      const unsigned v = *(const unsigned *)(a + i + e) ^ 0x80008000;
      *(unsigned *)(b + i + e) = v << 16 | v >> 16;
#else
      *(unsigned *)(b + i + e) = *(const unsigned *)(a + i + e) ^ 0x80008000;
#endif
    }
#if MUT == 9 // an odd last one is lost at 4 bytes
#elif MUT == 10 // an odd last one is written with its neighbour
    if (e < 8 && i + e < n) *(unsigned *)(b + i + e) = a[i + e] ^ 0x8000;
#else
    if (e < 8 && i + e < n) b[i + e] = a[i + e] ^ 0x8000;
#endif
    return;
  }
  for (int e = 0; e < 8 && i + e < n; e++) b[i + e] = a[i + e] ^ 0x8000;
}
