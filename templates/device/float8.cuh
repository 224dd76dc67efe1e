// The bits of the nearest number with so many bits of fraction, ties to even, of which the largest
// is given: what is larger becomes that. NaN is all ones.
template <int kFraction, int kBias>
__device__ __forceinline__ unsigned char nearest_float8(float x, float largest) {
  const unsigned int sign = __float_as_uint(x) >> 24 & 0x80;
  const float size = fminf(fabsf(x), largest);
  // normal numbers: half a unit is added, less the least bit where the last place is even
  const unsigned int at = __float_as_uint(size), even = at >> (23 - kFraction) & 1;
  const unsigned int normal = (at + (1 << (22 - kFraction)) - 1 + even) >> (23 - kFraction);
  // others: a float whose last place is theirs is added, which rounds
  const float unit = __uint_as_float((127 + 24 - kBias - kFraction) << 23);
  const unsigned int below = __float_as_uint(size + unit) - __float_as_uint(unit);
  const bool is_normal = at >= (unsigned int)(128 - kBias) << 23;
  const unsigned int bits = is_normal ? normal - ((127 - kBias) << kFraction) : below;
  return x != x ? 0x7f : sign | bits;
}
