// Adds a constant to records of three doubles: a record a thread, or with -D FLAT a double a thread.
#ifdef FLAT
__global__ void add(int n, const double *in, double k, double *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    out[i] = in[i] + k;
  }
}
#else
struct record {
  double x, y, z;
};
__global__ void add(int n, const record *in, double k, record *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    record r = in[i];
    r.x += k;
    r.y += k;
    r.z += k;
    out[i] = r;
  }
}
#endif
