// addresses: elements up to b's first 16-byte boundary, then vectors, then a tail
#define MISALIGNED(p, bytes) (((unsigned long long)(p) & ((bytes)-1)) != 0)
__global__ void k(long long n, const float *a, float *b) {
  const long long t = blockIdx.x * 256LL + threadIdx.x;
#if MUT == 1 // the head is that of a
  long long head = (4 - ((unsigned long long)a / 4 & 3)) & 3;
#elif MUT == 2 // right: the head is rounded to 8 bytes, and the compiler splits the vectors
  long long head = (unsigned long long)b / 4 & 1;
#else
  long long head = (4 - ((unsigned long long)b / 4 & 3)) & 3;
#endif
#if MUT == 3 // a head longer than the array
#else
  head = head < n ? head : n;
#endif
#if MUT == 4 // vectors counted without the head
  const long long vectors = n / 4;
#else
  const long long vectors = (n - head) / 4;
#endif
#if MUT == 5 // b's alignment stands for a's
  const bool alike = true;
#elif MUT == 6 // asks where a begins, not where its vectors do
  const bool alike = !MISALIGNED(a, 16);
#elif MUT == 7 // asks for 8 bytes
  const bool alike = !MISALIGNED(a + head, 8);
#else
  const bool alike = !MISALIGNED(a + head, 16);
#endif
  if (t < head) b[t] = 2 * a[t];
  if (t < vectors) {
    const long long i = head + 4 * t;
    float4 v;
    if (alike) {
      v = *(const float4 *)(a + i);
    } else {
#if MUT == 8 // elements before the vectors' own where a is not aligned
      v = make_float4(a[i - head], a[i + 1], a[i + 2], a[i + 3]);
#elif MUT == 9 // the last lane twice where a is not aligned
      v = make_float4(a[i], a[i + 1], a[i + 2], a[i + 2]);
#else
      v = make_float4(a[i], a[i + 1], a[i + 2], a[i + 3]);
#endif
    }
    *(float4 *)(b + i) = make_float4(2 * v.x, 2 * v.y, 2 * v.z, 2 * v.w);
  }
#if MUT == 10 // the tail begins where it would without a head
  const long long tail = n / 4 * 4;
#else
  const long long tail = head + 4 * vectors;
#endif
  if (tail + t < n) b[tail + t] = 2 * a[tail + t];
}
