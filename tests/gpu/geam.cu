// The peer for transposes: cublasSgeam and cublasDgeam, timed as the tuner times a candidate (events, one launch a sample, L2
// flushed before each by writing 2 x L2, median). Prints one JSON object.
//
//   nvcc -O3 -arch=native geam.cu -lcublas -o geam && ./geam
#include <cublas_v2.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <vector>

template <class F> static double median_us(F launch, void *flush, size_t flush_bytes) {
  cudaEvent_t start, stop;
  cudaEventCreate(&start);
  cudaEventCreate(&stop);
  std::vector<float> us;
  for (int k = 0; k < 3; k++) launch();
  for (int k = 0; k < 51; k++) {
    cudaMemsetAsync(flush, k, flush_bytes);
    cudaEventRecord(start);
    launch();
    cudaEventRecord(stop);
    cudaEventSynchronize(stop);
    float ms;
    cudaEventElapsedTime(&ms, start, stop);
    us.push_back(ms * 1e3f);
  }
  std::sort(us.begin(), us.end());
  return us[us.size() / 2];
}

int main() {
  cublasHandle_t handle;
  if (cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS) return 1;
  cudaDeviceProp prop;
  cudaGetDeviceProperties(&prop, 0);
  const size_t flush_bytes = 2 * (size_t)prop.l2CacheSize;
  void *a, *b, *flush;
  const size_t bytes = (size_t)8192 * 8192 * 8;
  cudaMalloc(&a, bytes);
  cudaMalloc(&b, bytes);
  cudaMalloc(&flush, flush_bytes);
  std::vector<double> host((size_t)8192 * 8192);
  for (size_t k = 0; k < host.size(); k++) host[k] = 1.0 + (double)(k * 2654435761u % 1000003) / 1000003.0;
  cudaMemcpy(a, host.data(), bytes, cudaMemcpyHostToDevice);
  printf("{");
  const int sizes[] = {4096, 8191};
  for (int k = 0; k < 2; k++) {
    const int n = sizes[k];
    const float one = 1.0f, zero = 0.0f;
    const double one_d = 1.0, zero_d = 0.0;
    const double s = median_us([&] {
      cublasSgeam(handle, CUBLAS_OP_T, CUBLAS_OP_N, n, n, &one, (float *)a, n, &zero, (float *)b, n, (float *)b, n);
    }, flush, flush_bytes);
    const double d = median_us([&] {
      cublasDgeam(handle, CUBLAS_OP_T, CUBLAS_OP_N, n, n, &one_d, (double *)a, n, &zero_d, (double *)b, n, (double *)b, n);
    }, flush, flush_bytes);
    printf("%s\"transpose_f32 %d\": %.3f, \"transpose_f64 %d\": %.3f", k ? ", " : "", n, s, n, d);
  }
  printf("}\n");
  return cudaGetLastError() != cudaSuccess;
}
