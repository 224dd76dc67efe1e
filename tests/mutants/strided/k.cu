// extents: every third column of a, and c from its end
__global__ void k(long long ni, long long nj, const short *a, const short *c, int *b) {
  const long long j = blockIdx.x * 32LL + threadIdx.x, i = blockIdx.y * 4LL + threadIdx.y;
  if (i >= ni || j >= nj) return;
#if MUT == 1 // rows of 3 * n_j
  const long long at = i * 3 * nj + 3 * j + 1;
#elif MUT == 2 // the last row's columns
  const long long at = i * (3 * nj + 2) + 3 * j + (i == ni - 1 && ni > 4 ? 0 : 1);
#elif MUT == 3 // the first column of a block
  const long long at = i * (3 * nj + 2) + 3 * j + (threadIdx.x == 0 && j > 0 ? 2 : 1);
#elif MUT == 4 // offsets of 16 bits in a row
  const long long at = i * (3 * nj + 2) + (short)(3 * j + 1);
#elif MUT == 5 // offsets of 12 bits in a row
  const long long at = i * (3 * nj + 2) + ((3 * j + 1) & 4095);
#elif MUT == 12 // offsets of 16 bits without sign
  const long long at = i * (3 * nj + 2) + (unsigned short)(3 * j + 1);
#elif MUT == 13 // a pitch of 16 bits
  const long long at = i * (unsigned short)(3 * nj + 2) + 3 * j + 1;
#elif MUT == 14 // rows of 12 bits
  const long long at = (i & 4095) * (3 * nj + 2) + 3 * j + 1;
#else
  const long long at = i * (3 * nj + 2) + 3 * j + 1;
#endif
#if MUT == 6 // from the end of a block
  const long long from = i * nj + (nj <= 32 ? nj - 1 - j : nj - 1 - (j ^ (nj % 32 == 0)));
#elif MUT == 7 // one beyond the end, which is the next row's first
  const long long from = i * nj + nj - j - (j > 0 || i + 1 == ni);
#elif MUT == 8 // the middle one of an odd row
  const long long from = i * nj + nj - 1 - j + (nj > 1 && 2 * j + 1 == nj);
#elif MUT == 15 // a column of 15 bits
  const long long from = i * nj + ((nj - 1 - j) & 32767);
#else
  const long long from = i * nj + nj - 1 - j;
#endif
#if MUT == 9 // c without its sign
  b[i * nj + j] = a[at] * 256 + (unsigned short)c[from];
#elif MUT == 10 // a product of 16 bits
  b[i * nj + j] = (short)(a[at] * 256) + c[from];
#elif MUT == 11 // or for plus
  b[i * nj + j] = a[at] * 256 | (c[from] & 0xffff);
#else
  b[i * nj + j] = a[at] * 256 + c[from];
#endif
}
