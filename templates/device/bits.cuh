// Bit field number `at` of a byte, the lowest first, as a signed number.
template <int kBits> __device__ __forceinline__ int signed_bits(unsigned char byte, int at) {
  return (int)((unsigned int)byte << (32 - kBits - kBits * at)) >> (32 - kBits);
}

// The same, unsigned.
template <int kBits> __device__ __forceinline__ int unsigned_bits(unsigned char byte, int at) {
  return byte >> kBits * at & ((1 << kBits) - 1);
}

// Bit field number `at` of an array of bytes, the lowest of each byte first.
template <int kBits, int kBytes>
__device__ __forceinline__ int signed_bits_in(const unsigned char (&bytes)[kBytes],
                                              unsigned int at) {
  constexpr unsigned int kFields = 8 / kBits; // of a byte
  return signed_bits<kBits>(bytes[at / kFields], at % kFields);
}

// The same, unsigned.
template <int kBits, int kBytes>
__device__ __forceinline__ int unsigned_bits_in(const unsigned char (&bytes)[kBytes],
                                                unsigned int at) {
  constexpr unsigned int kFields = 8 / kBits;
  return unsigned_bits<kBits>(bytes[at / kFields], at % kFields);
}
