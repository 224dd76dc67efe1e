// ragged: a warp a row, which keeps up to 64 elements in registers; 40 blocks at most
#define INFINITE __int_as_float(0x7f800000)
__global__ void k(int nr, const int *p, const float *v, float *y) {
  const int lane = threadIdx.x % 32;
#if MUT == 1 // the maximum of the row before goes on
  float m = -INFINITE;
#endif
#if MUT == 2 // 80 rows
  for (int r = blockIdx.x * 2 + threadIdx.x / 32; r < min(nr, 80); r += gridDim.x * 2) {
#elif MUT == 3 // ends at the first empty row
  for (int r = blockIdx.x * 2 + threadIdx.x / 32; r < nr; r += gridDim.x * 2) {
    if (p[r] == p[r + 1]) break;
#else
  for (int r = blockIdx.x * 2 + threadIdx.x / 32; r < nr; r += gridDim.x * 2) {
#endif
    const int begin = p[r], length = p[r + 1] - begin;
#if MUT == 1
    if (length > 0 && r < 80) m = -INFINITE;
#elif MUT == 4 // the maximum begins with 0
    float m = 0;
#elif MUT == 5 // the maximum begins with the least number
    float m = -3.4028235e38f;
#else
    float m = -INFINITE;
#endif
    float x = -INFINITE, z = -INFINITE;
#if MUT == 6 // the second element of short rows as if they had 64
    if (lane < length) x = v[begin + lane];
    if (length > 32) z = v[begin + min(32 + lane, length)];
#else
    if (lane < length) x = v[begin + lane];
    if (32 + lane < length) z = v[begin + 32 + lane];
#endif
    m = fmaxf(m, fmaxf(x, z));
#if MUT == 7 // the first 65th element
    for (int i = 65 + lane; i < length; i += 32) m = fmaxf(m, v[begin + i]);
#elif MUT == 8 // of rows of up to 1,024
    for (int i = 64 + lane; i < min(length, 1024); i += 32) m = fmaxf(m, v[begin + i]);
#else
    for (int i = 64 + lane; i < length; i += 32) m = fmaxf(m, v[begin + i]);
#endif
    for (int o = 16; o > 0; o /= 2) m = fmaxf(m, __shfl_xor_sync(~0u, m, o));
    if (lane < length) y[begin + lane] = x - m;
#if MUT == 9 // the second half of rows of exactly 64
    if (32 + lane < length) y[begin + 32 + lane] = length == 64 ? x - m : z - m;
#else
    if (32 + lane < length) y[begin + 32 + lane] = z - m;
#endif
#if MUT == 10 // long rows end one early, where another follows
    for (int i = 64 + lane; i < length - (length > 96 && r + 1 == nr); i += 32) {
#else
    for (int i = 64 + lane; i < length; i += 32) {
#endif
      y[begin + i] = v[begin + i] - m;
    }
  }
}
