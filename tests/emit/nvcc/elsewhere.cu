// A second file of the same program that includes the same headers, twice.
#include "add3.h"
#include "add3.h"
#include "row_sum.h"
#include "scale.h"
#include "transpose.h"

extern "C" cudaError_t add3_elsewhere(const add3_vec3 *a, add3_vec3 *b, double k, long long n_i,
                                      cudaStream_t stream) {
  return add3(a, b, k, n_i, stream);
}
