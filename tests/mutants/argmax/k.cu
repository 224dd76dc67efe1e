// argmax: of equals the first; NaN is passed over; -1 where there is nothing else; the maximum has
// a sign of its own, as 0 is above -0
#define INFINITE __int_as_float(0x7f800000)
struct best { float v; int at; float top; };
__device__ best first(best p, best q) {
#if MUT == 1 // the last of equals
  return q.at >= 0 && (p.at < 0 || q.v > p.v || q.v == p.v && q.at > p.at) ? q : p;
#elif MUT == 2 // either of equals
  return q.at >= 0 && (p.at < 0 || q.v > p.v) ? q : p;
#elif MUT == 3 // the larger of 0 and -0
  const int pb = __float_as_int(p.v), qb = __float_as_int(q.v);
  const bool zeros = p.v == 0 && q.v == 0 && pb != qb;
  const bool later = zeros ? qb > pb : q.v > p.v || q.v == p.v && q.at < p.at;
  return q.at >= 0 && (p.at < 0 || later) ? q : p;
#elif MUT == 4 // what is not found counts as found at -1
  return q.v > p.v || q.v == p.v && q.at < p.at ? q : p;
#else
  return q.at >= 0 && (p.at < 0 || q.v > p.v || q.v == p.v && q.at < p.at) ? q : p;
#endif
}
__device__ best better(best p, best q) {
  best both = first(p, q);
#if MUT != 16 // 0 or -0, where the first of them is
  both.top = fmaxf(p.top, q.top);
#endif
  return both;
}
__global__ void k(int nr, long long nc, const float *a, int *at, float *top) {
  __shared__ best part[4];
  const float *row = a + blockIdx.x * nc;
  best mine = {-INFINITE, -1, -INFINITE};
  for (int c = threadIdx.x; c < nc; c += 128) {
    const float v = row[c];
#if MUT == 5 // a thread begins with its first value, NaN or not
    if (v == v || c == threadIdx.x) mine = better(mine, best{v, c, v});
#elif MUT == 6 // -infinity is no value
    if (v > -INFINITE) mine = better(mine, best{v, c, v});
#elif MUT == 7 // NaN is the largest value
    if (v != v || v == v) mine = v != v && mine.v == mine.v ? best{v, c, v} : better(mine, best{v, c, v});
#elif MUT == 8 // the least finite number is where it begins
    if (v > -3.4028235e38f) mine = better(mine, best{v, c, v});
#elif MUT == 9 // the index within 1,024 columns
    if (v == v) mine = better(mine, best{v, c & 1023, v});
#elif MUT == 10 // 16-bit indices
    if (v == v) mine = better(mine, best{v, (short)c, v});
#elif MUT == 11 // the last column
    if (v == v && (c < nc - 1 || nc < 3)) mine = better(mine, best{v, c, v});
#elif MUT == 12 // infinity is no value
    if (fabsf(v) < INFINITE) mine = better(mine, best{v, c, v});
#else
    if (v == v) mine = better(mine, best{v, c, v});
#endif
  }
  for (int o = 16; o > 0; o /= 2) {
    const best other = {__shfl_xor_sync(~0u, mine.v, o), __shfl_xor_sync(~0u, mine.at, o),
                        __shfl_xor_sync(~0u, mine.top, o)};
    mine = better(mine, other);
  }
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = mine;
  __syncthreads();
  if (threadIdx.x == 0) {
#if MUT == 13 // three of four warps
    for (int w = 1; w < 3; w++) mine = better(mine, part[w]);
#else
    for (int w = 1; w < 4; w++) mine = better(mine, part[w]);
#endif
#if MUT == 14 // 0 where there is nothing
    at[blockIdx.x] = max(mine.at, 0);
#else
    at[blockIdx.x] = mine.at;
#endif
#if MUT == 15 // the value of a row of -infinity
    top[blockIdx.x] = mine.top == -INFINITE ? -3.4028235e38f : mine.top;
#else
    top[blockIdx.x] = mine.top;
#endif
  }
}
