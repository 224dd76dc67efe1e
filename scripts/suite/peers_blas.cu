// cuBLAS by dlopen, so that the peers run where it is not installed.
#include "peers_blas.h"

#include <dlfcn.h>

const Blas *blas(std::string *why) {
  static Blas b;
  static std::string problem;
  static bool tried = false;
  if (!tried) {
    tried = true;
    void *library = nullptr;
    for (const char *name : {"libcublas.so.13", "libcublas.so.12", "libcublas.so"}) {
      if (!library) library = dlopen(name, RTLD_NOW | RTLD_GLOBAL);
    }
    if (!library) {
      problem = "cuBLAS is not installed";
    } else {
      *(void **)&b.create = dlsym(library, "cublasCreate_v2");
      *(void **)&b.set_stream = dlsym(library, "cublasSetStream_v2");
      *(void **)&b.sgeam = dlsym(library, "cublasSgeam");
      *(void **)&b.dgeam = dlsym(library, "cublasDgeam");
      *(void **)&b.sgemv = dlsym(library, "cublasSgemv_v2");
      if (!b.create || !b.set_stream || !b.sgeam || !b.dgeam || !b.sgemv) {
        problem = "cuBLAS lacks a function";
      } else if (b.create(&b.handle) != CUBLAS_STATUS_SUCCESS ||
                 b.set_stream(b.handle, stream()) != CUBLAS_STATUS_SUCCESS) {
        problem = "cuBLAS does not start";
      }
    }
  }
  *why = problem;
  return problem.empty() ? &b : nullptr;
}
