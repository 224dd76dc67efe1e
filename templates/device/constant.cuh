// A value as a type: a lambda that gets one is compiled for each value.
template <bool kValue> struct constant {
  __device__ constexpr operator bool() const { return kValue; }
};

// How many tiles of so many elements n are.
template <int kTile> __device__ __forceinline__ unsigned int ceil_div(long long n) {
  return (unsigned int)((unsigned long long)(n + kTile - 1) / kTile);
}
