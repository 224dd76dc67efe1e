// Transposes a matrix on the GPU and compares it with what it should be.
#include "transpose.h"

#include <stdio.h>
#include <stdlib.h>

static int failed(cudaError_t error, const char *what) {
  if (error != cudaSuccess) {
    fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  }
  return error != cudaSuccess;
}

int main(void) {
  const long long rows = 1000, cols = 3000;
  const size_t bytes = (size_t)transpose_layout_a_bytes(rows, cols);
  float *const host = malloc(bytes), *const back = malloc(bytes);
  float *a = NULL, *b = NULL;
  if (host == NULL || back == NULL || failed(cudaMalloc((void **)&a, bytes), "cudaMalloc") ||
      failed(cudaMalloc((void **)&b, bytes), "cudaMalloc")) {
    return 1;
  }
  for (long long k = 0; k < rows * cols; k++) {
    host[k] = (float)k;
  }
  const transpose_args args = {.a = a, .b = b, .n_row = rows, .n_col = cols};
  if (failed(cudaMemcpy(a, host, bytes, cudaMemcpyHostToDevice), "cudaMemcpy") ||
      failed(transpose_launch(&args, NULL), "transpose") ||
      failed(cudaMemcpy(back, b, bytes, cudaMemcpyDeviceToHost), "cudaMemcpy")) {
    return 1;
  }
  long long wrong = 0;
  for (long long row = 0; row < rows; row++) {
    for (long long col = 0; col < cols; col++) {
      wrong += back[col * rows + row] != host[row * cols + col];
    }
  }
  printf("%s: %lld of %lld elements are wrong\n", transpose_variant(a, b, rows, cols).variant, wrong,
         rows * cols);
  cudaFree(a);
  cudaFree(b);
  free(host);
  free(back);
  return wrong != 0;
}
