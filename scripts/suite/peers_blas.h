// The functions of cuBLAS that peers use.
#pragma once
#include "peers.h"

#include <cublas_v2.h>

struct Blas {
  cublasHandle_t handle;
  cublasStatus_t (*create)(cublasHandle_t *);
  cublasStatus_t (*set_stream)(cublasHandle_t, cudaStream_t);
  cublasStatus_t (*sgeam)(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, const float *,
                          const float *, int, const float *, const float *, int, float *, int);
  cublasStatus_t (*dgeam)(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, const double *,
                          const double *, int, const double *, const double *, int, double *, int);
  cublasStatus_t (*sgemv)(cublasHandle_t, cublasOperation_t, int, int, const float *, const float *, int,
                          const float *, int, const float *, float *, int);
};
