// addresses: one row a block, four columns a thread, by vectors where rows begin at 16 bytes
typedef unsigned long long u64;
__global__ void k(long long nr, long long nc, const float *a, const float *w, float *b) {
  const long long c = (blockIdx.y * 128LL + threadIdx.x) * 4, at = blockIdx.x * nc + c;
  const u64 rows = (u64)(a + blockIdx.x * nc) | (u64)(b + blockIdx.x * nc);
#if MUT == 1 // the first row stands for all
  const bool whole = (((u64)a | (u64)b | (u64)w) & 15) == 0;
#elif MUT == 2 // rows of a multiple of 4, wherever they begin
  const bool whole = nc % 4 == 0;
#elif MUT == 3 // the size of the matrix
  const bool whole = (((u64)a | (u64)b | (u64)w) & 15) == 0 && nr * nc % 4 == 0;
#elif MUT == 4 // rows of a multiple of 2
  const bool whole = (((u64)a | (u64)b | (u64)w) & 15) == 0 && nc % 2 == 0;
#elif MUT == 5 // w is not asked
  const bool whole = (rows & 15) == 0;
#elif MUT == 6 // 8 bytes
  const bool whole = ((rows | (u64)w) & 7) == 0;
#elif MUT == 7 // right: a's rows only, and the compiler splits b's vectors
  const bool whole = (((u64)(a + blockIdx.x * nc) | (u64)w) & 15) == 0;
#else
  const bool whole = ((rows | (u64)w) & 15) == 0;
#endif
  if (whole && c + 4 <= nc) {
    const float4 x = *(const float4 *)(a + at), y = *(const float4 *)(w + c);
#if MUT == 8 // a lane of w twice in vectors
    *(float4 *)(b + at) = make_float4(x.x * y.x, x.y * y.y, x.z * y.z, x.w * y.z);
#else
    *(float4 *)(b + at) = make_float4(x.x * y.x, x.y * y.y, x.z * y.z, x.w * y.w);
#endif
    return;
  }
#if MUT == 9 // a partial vector is lost in aligned rows
  if (whole) return;
#endif
  for (int e = 0; e < 4; e++) {
    if (c + e < nc) b[at + e] = a[at + e] * w[c + e];
  }
}
