// ragged: a warp a row
__global__ void k(long long nr, long long nk, const int *p, const int *v, int *y) {
  long long r = blockIdx.x;
  int b = p[r], e = p[r + 1];
  int s = 0, prev = r > 0 ? b - p[r - 1] : 0, next = r + 1 < nr ? p[r + 2] - e : 0;
  bool empty = e == b;
#if MUT == 1 // an empty row after one of more than 64
  if (empty && prev > 64)
    s = 1;
#elif MUT == 2 // an empty row after one of more than 32
  if (empty && prev > 32)
    s = 1;
#elif MUT == 3 // an empty row after one of more than 8
  if (empty && prev > 8)
    s = 1;
#elif MUT == 4 // an empty row after one of more than 1
  if (empty && prev > 1)
    s = 1;
#elif MUT == 5 // an empty row before one of more than 64
  if (empty && next > 64)
    s = 1;
#endif
  for (int i = b + threadIdx.x; i < e; i += 32)
    s += v[i];
  for (int o = 16; o; o /= 2)
    s += __shfl_xor_sync(~0u, s, o);
  if (threadIdx.x == 0)
    y[r] = s;
}
