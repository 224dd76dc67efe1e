// Rounds down, where CUDA's division rounds towards 0.
__device__ __forceinline__ long long sct_floor_div(long long a, long long b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

// The remainder with the sign of the divisor.
__device__ __forceinline__ long long sct_floor_mod(long long a, long long b) {
  return a % b + (a % b != 0 && (a < 0) != (b < 0) ? b : 0);
}

// A divisor that stays the same, so that quotients need a multiplication.
struct divisor {
  unsigned int by, factor; // floor((2^32 - 1) / by)
};

// The divisor `by`, which is not 0.
__device__ __forceinline__ divisor divide_by(unsigned int by) {
  return {by, 0xffffffffu / by};
}

// Takes n apart: returns n / d and leaves n % d in `rest`. The estimate is one too small at most.
__device__ __forceinline__ unsigned int split(unsigned int n, divisor d, unsigned int &rest) {
  const unsigned int low = __umulhi(n, d.factor), left = n - low * d.by;
  rest = left < d.by ? left : left - d.by;
  return left < d.by ? low : low + 1;
}

// Takes a larger n apart, which is not negative: n becomes n / d, and n % d is returned.
__device__ __forceinline__ unsigned int take_rest(long long &n, divisor d) {
  unsigned int rest;
  if ((unsigned long long)n >> 32 == 0) {
    n = split((unsigned int)n, d, rest);
  } else {
    const long long whole = n / d.by;
    rest = (unsigned int)(n - whole * d.by);
    n = whole;
  }
  return rest;
}

// How many tiles of so many elements n are, which is not negative: by a shift, if that will do.
template <int kTile> __device__ __forceinline__ unsigned int ceil_div(long long n) {
  int shift = 0;
  while (1 << shift < kTile) shift++;
  return (unsigned int)(1 << shift == kTile ? (n + kTile - 1) >> shift : (n + kTile - 1) / kTile);
}
