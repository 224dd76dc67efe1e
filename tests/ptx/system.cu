// Kernels that call what the system has: assert, printf, malloc and free. test_ptx_system.c says what each must give.
// Where comments say "here", one of these lines must be named.
#define K(name) extern "C" __global__ void name(const int *in, int *out, int n)
#define T threadIdx.x
#define OUT out[blockIdx.x * 64 + T]

K(ok_assert) {
  assert(n == 4);
  OUT = in[T];
}
K(fails) {
  assert(in[T] != 37 || T == 0); // here
  OUT = in[T];
}
K(ok_printf) {
  if (blockIdx.x == 1 && T < 2)
    printf("%d|%-4u|%+3d|%hhd|%hd|%llx|%lld|%5.2f|%e|%s|%.2s|%c|%p|%%|%*d|%#o|%q\n", T, 7u, n, 255, 65535, ~0ull, -(1ll << 40), 2.5,
           1e30, "text", "text", 'c', (void *)16, 4, 9, 8);
  OUT = printf("");
}
K(ok_heap) {
  int *p = (int *)malloc(4 * n), *q = new int[3];
  for (int i = 0; i < n; i++) p[i] = i + T;
  q[0] = p[n - 1];
  OUT = q[0] - n + 1;
  free(p);
  delete[] q;
  free(nullptr);
}
K(ok_exhausted) { // a thread that asks for more than there is gets nothing
  char *p = (char *)malloc(6 << 20);
  OUT = p != nullptr;
  if (p != nullptr) p[(6 << 20) - 1] = 1;
  free(p);
  OUT += malloc(0) != nullptr;
}
K(ok_many) { // more in all than the heap has, one after the other
  for (int i = 0; i < 40 && T == 0; i++) {
    char *p = (char *)malloc(3 << 20);
    p[i] = i;
    OUT = p[i];
    free(p);
  }
}
__device__ int *kept;
K(ok_leaks) {
  int *p = (int *)malloc(16);
  p[0] = 5;
  if (T + blockIdx.x == 0) kept = p;
  OUT = p[0];
}
K(past_end) {
  int *p = (int *)malloc(16);
  p[n] = 1; // here
}
K(before_start) {
  int *p = (int *)malloc(16), *q = (int *)malloc(16);
  q[-1] = 1; // here
  p[0] = 1;
}
K(reads_unset) {
  int *p = (int *)malloc(16);
  OUT = p[1]; // here
}
K(after_free) {
  int *p = (int *)malloc(16);
  p[0] = 1;
  free(p);
  OUT = p[0]; // here
}
K(frees_twice) {
  int *p = (int *)malloc(16);
  free(p);
  free(p); // here
}
K(frees_inside) {
  int *p = (int *)malloc(16);
  free(p + 1); // here
}
K(frees_argument) {
  free(out); // here
}
