// Division that rounds down; CUDA's rounds towards 0.
__device__ __forceinline__ long long sct_floor_div(long long a, long long b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

// The remainder with the sign of the divisor.
__device__ __forceinline__ long long sct_floor_mod(long long a, long long b) {
  return a % b + (a % b != 0 && (a < 0) != (b < 0) ? b : 0);
}

// An invariant divisor: quotients take a multiplication.
struct divisor {
  unsigned int by, factor; // floor((2^32 - 1) / by)
};

// Prepares the divisor `by`, which is not 0.
__device__ __forceinline__ divisor divide_by(unsigned int by) {
  return {by, 0xffffffffu / by};
}

// Returns n / d and sets `rest` to n % d. The estimate is at most one too small.
__device__ __forceinline__ unsigned int split(unsigned int n, divisor d, unsigned int &rest) {
  const unsigned int low = __umulhi(n, d.factor), left = n - low * d.by;
  rest = left < d.by ? left : left - d.by;
  return left < d.by ? low : low + 1;
}

// For a larger n, not negative: replaces n by n / d and returns n % d.
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

// Number of tiles of this many elements in n, not negative; by a shift if possible.
template <int kTile> __device__ __forceinline__ unsigned int ceil_div(long long n) {
  int shift = 0;
  while (1 << shift < kTile) shift++;
  return (unsigned int)(1 << shift == kTile ? (n + kTile - 1) >> shift : (n + kTile - 1) / kTile);
}
