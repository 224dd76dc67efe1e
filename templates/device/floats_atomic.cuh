// Atomic maximum of a float in any memory; NaN is ignored.
// Without a sign, floats are in the order of their bits as integers. With one they are below, and
// in the reverse order.
__device__ __forceinline__ void atomic_max(float *to, float v) {
  const int bits = __float_as_int(v);
  if (bits >= 0 && v == v)
    atomicMax(reinterpret_cast<int *>(to), bits);
  else if (v == v)
    atomicMin(reinterpret_cast<unsigned int *>(to), (unsigned int)bits);
}
__device__ __forceinline__ void atomic_max(double *to, double v) {
  const long long bits = __double_as_longlong(v);
  if (bits >= 0 && v == v)
    atomicMax(reinterpret_cast<long long *>(to), bits);
  else if (v == v)
    atomicMin(reinterpret_cast<unsigned long long *>(to), (unsigned long long)bits);
}

// Atomic minimum.
__device__ __forceinline__ void atomic_min(float *to, float v) {
  const int bits = __float_as_int(v);
  if (bits >= 0 && v == v)
    atomicMin(reinterpret_cast<int *>(to), bits);
  else if (v == v)
    atomicMax(reinterpret_cast<unsigned int *>(to), (unsigned int)bits);
}
__device__ __forceinline__ void atomic_min(double *to, double v) {
  const long long bits = __double_as_longlong(v);
  if (bits >= 0 && v == v)
    atomicMin(reinterpret_cast<long long *>(to), bits);
  else if (v == v)
    atomicMax(reinterpret_cast<unsigned long long *>(to), (unsigned long long)bits);
}
