// Adds one to the elements that an index array names.
template <typename T> __global__ void increment(T *a, const int *index, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    int at = index[i];
    T value = a[at];
    a[at] = value + 1;
  }
}
