// Number `at` of the fields of so many bits in a byte, the lowest first, as a signed number.
template <int kBits> __device__ __forceinline__ int signed_bits(unsigned char byte, int at) {
  return (int)((unsigned int)byte << (32 - kBits - kBits * at)) >> (32 - kBits);
}

// The same, as a number that is not negative.
template <int kBits> __device__ __forceinline__ int unsigned_bits(unsigned char byte, int at) {
  return byte >> kBits * at & ((1 << kBits) - 1);
}
