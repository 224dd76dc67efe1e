// index values: a warp a row of a table, columns by fours where rows are aligned
typedef unsigned long long u64;
__global__ void k(long long n, long long nc, long long m, const long long *id, const float *x,
                  float *y) {
  const long long i = blockIdx.x * 4LL + threadIdx.x / 32;
  if (i >= n) return;
#if MUT == 1 // ids have 32 bits without sign
  const long long q = (unsigned)id[i];
  const bool none = id[i] == -1;
#elif MUT == 2 // none is -1
  const long long q = id[i];
  const bool none = q == -1;
#elif MUT == 3 // 12-bit ids
  const long long q = id[i] & 4095;
  const bool none = id[i] < 0;
#elif MUT == 4 // id 0 is padding
  const long long q = id[i];
  const bool none = q <= 0;
#elif MUT == 5 // ids of more than 65,535
  const long long q = id[i] & 65535;
  const bool none = id[i] < 0;
#elif MUT == 6 // repeated ids are thought to be none
  const long long q = id[i];
  const bool none = q < 0 || i > 0 && id[i - 1] == q && m > 2;
#elif MUT == 14 // ids of 17 bits
  const long long q = id[i] & 131071;
  const bool none = id[i] < 0;
#elif MUT == 15 // none in 32 bits
  const long long q = id[i];
  const bool none = q < 0 && q >= -2147483648LL;
#elif MUT == 7 // the least id
  const long long q = id[i];
  const bool none = (int)q < 0;
#else
  const long long q = id[i];
  const bool none = q < 0;
#endif
  const float *row = x + (none ? 0 : q) * nc;
  float *to = y + i * nc;
#if MUT == 8 // the table's own alignment
  const bool whole = (((u64)x | (u64)to) & 15) == 0;
#elif MUT == 9 // large: offsets of 32 bits
  row = x + (none ? 0 : (int)q * (int)nc);
  const bool whole = (((u64)row | (u64)to) & 15) == 0;
#elif MUT == 16 // the row's alignment alone
  const bool whole = ((u64)row & 15) == 0;
#elif MUT == 10 // columns of a multiple of 4
  const bool whole = nc % 4 == 0;
#else
  const bool whole = (((u64)row | (u64)to) & 15) == 0;
#endif
  long long c = threadIdx.x % 32 * 4;
#if MUT == 11 // right: beyond 1,024 columns no vectors
  for (; whole && c + 4 <= nc && c < 1024; c += 128) {
#else
  for (; whole && c + 4 <= nc; c += 128) {
#endif
    const float4 zero = {0, 0, 0, 0};
    *(float4 *)(to + c) = none ? zero : *(const float4 *)(row + c);
  }
#if MUT == 17 // 8,192 columns
  for (; c < min(nc, 8192LL); c += 128) {
#else
  for (; c < nc; c += 128) {
#endif
    for (int e = 0; e < 4 && c + e < nc; e++) {
#if MUT == 12 // -0 where there is none
      to[c + e] = none ? -0.0f : row[c + e];
#elif MUT == 13 // 0 times the first row, where it is not a number
      to[c + e] = row[c + e] * (none ? 0.0f : 1.0f);
#else
      to[c + e] = none ? 0.0f : row[c + e];
#endif
    }
  }
}
