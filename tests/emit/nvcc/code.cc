// Launches kernels of headers in the form c on a fake runtime: which image a device takes, and that
// each is loaded once. The images are texts, "cubin sm_90" and so on.
#include "add3.h"
#include "transpose.h"

#include "fake_cudart.cuh"

#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>

static int failures = 0;

static void check(bool holds, const char *what, int line) {
  if (!holds) {
    failures++;
    std::printf("code.cc:%d: %s\n", line, what);
  }
}
#define CHECK(what) check(what, #what, __LINE__)

static float *const a = reinterpret_cast<float *>(1LL << 30);
static float *const b = reinterpret_cast<float *>(1LL << 40);

static cudaError_t run(int major, int minor, int sms, const char *name) {
  fake_device = FakeDevice{major, minor, sms, 232448, name};
  fake_loaded = "";
  return add3(reinterpret_cast<add3_vec3 *>(a), reinterpret_cast<add3_vec3 *>(b), 1.0, 1 << 20,
              nullptr);
}

int main() {
  CHECK(run(9, 0, 132, "NVIDIA H200") == cudaSuccess &&
        std::strcmp(fake_loaded, "cubin sm_90") == 0);
  CHECK(std::strcmp(fake_kernel, "add3_k1_flat") == 0 && fake_launch.threads == 256 &&
        fake_launches == 1);
  CHECK(run(9, 0, 132, "NVIDIA H100") == cudaSuccess &&
        *fake_loaded == '\0'); // it is there already
  CHECK(run(8, 0, 108, "NVIDIA A100") == cudaSuccess &&
        std::strcmp(fake_loaded, "cubin sm_80") == 0);
  CHECK(run(8, 6, 72, "NVIDIA A10") == cudaSuccess && *fake_loaded == '\0'); // the code of 8.0
  CHECK(run(10, 0, 148, "NVIDIA B200") == cudaSuccess &&
        std::strcmp(fake_loaded, "ptx sm_90") == 0);
  CHECK(run(12, 0, 188, "NVIDIA RTX") == cudaSuccess && *fake_loaded == '\0');
  const int launches = fake_launches;
  CHECK(launches == 6);
  CHECK(run(7, 0, 80, "Tesla V100") == cudaErrorNoKernelImageForDevice &&
        fake_launches == launches);
  CHECK(fake_loads == 3 && fake_unloads == 0);
  fake_device = FakeDevice{9, 0, 132, 232448, "NVIDIA H200"};
  std::vector<std::thread> threads;
  for (int k = 0; k < 8; k++) { // another header: its image is loaded by all, and kept by one
    threads.emplace_back([] {
      for (int n = 0; n < 100; n++) {
        CHECK(transpose(a, b, 64, 64, nullptr) == cudaSuccess);
      }
    });
  }
  for (std::thread &t : threads) {
    t.join();
  }
  CHECK(fake_loads - fake_unloads == 4);
  fake_load_error = cudaErrorInvalidPtx;
  fake_device = FakeDevice{11, 0, 20, 232448, "NVIDIA Thor"};
  CHECK(transpose(a, b, 64, 64, nullptr) == cudaErrorInvalidPtx);
  fake_load_error = cudaSuccess;
  CHECK(transpose(a, b, 64, 64, nullptr) == cudaSuccess); // asked again
  std::printf("%d failures\n", failures);
  return failures != 0;
}
