// index values: a table of pages, of 16 elements each
__global__ void k(long long n, long long nc, long long m, const int *seq, const int *page,
                  const float *x, float *y) {
  const long long i = blockIdx.x;
#if MUT == 1 // the page's number of 8 bits
  const long long width = (n + 15) / 16, at = i / 16 & 255;
#elif MUT == 9 // a table of at most 255 pages a sequence
  const long long width = (n + 15) / 16 & 255, at = i / 16;
#elif MUT == 10 // the page's number of 7 bits
  const long long width = (n + 15) / 16, at = i / 16 & 127;
#elif MUT == 2 // rows of the table without a partial page
  const long long width = n > 16 ? n / 16 : 1, at = i / 16 < width ? i / 16 : width - 1;
#else
  const long long width = (n + 15) / 16, at = i / 16;
#endif
#if MUT == 3 // the first sequence's pages for all
  const long long p = page[at];
#elif MUT == 4 // pages of 10 bits
  const long long p = page[seq[i] * width + at] & 1023;
#elif MUT == 11 // sequences of 8 bits
  const long long p = page[(seq[i] & 255) * width + at];
#elif MUT == 5 // the last page
  long long p = page[seq[i] * width + at];
  p = p == m - 1 && m > 2 ? 0 : p;
#elif MUT == 6 // large: offsets of 32 bits
  const int p = page[seq[i] * (int)width + (int)at];
#else
  const long long p = page[seq[i] * width + at];
#endif
  for (long long c = threadIdx.x; c < nc; c += 64) {
#if MUT == 6
    y[i * nc + c] = x[(p * 16 + (int)i % 16) * (int)nc + (int)c];
#elif MUT == 7 // pages of 8 elements
    y[i * nc + c] = x[(p * 16 + i % 8) * nc + c];
#elif MUT == 12 // pages of 8 elements, from the 128th on
    y[i * nc + c] = x[(p * 16 + (at < 128 ? i % 16 : i % 8)) * nc + c];
#elif MUT == 8 // the element before, in all pages but the first
    y[i * nc + c] = x[(p * 16 + (i < 16 || i % 16 == 0 ? i : i - 1) % 16) * nc + c];
#else
    y[i * nc + c] = x[(p * 16 + i % 16) * nc + c];
#endif
  }
}
