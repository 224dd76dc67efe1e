// Calls step(0) to step(kCount - 1): all of them unrolled, or by fours where that is rare.
template <int kCount, class Step>
__device__ __forceinline__ void each_pass(bool is_rare, const Step &step) {
  if (is_rare) {
#pragma unroll 4
    for (int pass = 0; pass < kCount; pass++) step(pass);
  } else {
#pragma unroll
    for (int pass = 0; pass < kCount; pass++) step(pass);
  }
}
