/* gpu - emitted headers on a GPU against their references: the program that scripts/fuzz --headers
 * writes. Each header is a Case (print_gpu.lua); `fuzz_gpu NAME` runs one, without a name it lists
 * them. */
#ifndef FZ_GPU_H
#define FZ_GPU_H

#include <cuda_runtime.h>

#include <utility>
#include <vector>

#include "reference.h"

/* A pointer that becomes whatever type a function asks for. */
struct Any {
  void *p;
  template <class T>
  operator T *() const {
    return static_cast<T *>(p);
  }
};
struct AnyConst {
  const void *p;
  template <class T>
  operator const T *() const {
    return static_cast<const T *>(p);
  }
};
/* A scalar likewise, from its bytes. */
struct Scalar {
  const unsigned char *bytes;
  template <class T>
  operator T() const {
    T value;
    memcpy(&value, bytes, sizeof value);
    return value;
  }
};

typedef std::pair<const char *, int> Align;

struct Case {
  const fz_spec *spec;
  std::vector<Align> aligns; /* what the arguments' types ask of each array */
  Case *next;
  fz_run run;
  void *device[FZ_MAX_ARRAYS];
  void *workspace = nullptr;
  int64_t bytes = 0; /* of a packed array */
  const char *wanted = nullptr;
  bool wants_bytes = false;

  Case(const fz_spec *s, std::vector<Align> a);
  virtual cudaError_t call() = 0;
  virtual const char *variant() = 0;
  virtual size_t workspace_bytes() = 0;
  virtual bool convert(void *to, const void *from, bool pack) = 0;

  int number(const char *name) const {
    for (int k = 0; k < spec->n_arrays; k++) {
      if (strcmp(spec->arrays[k].name, name) == 0) {
        return k;
      }
    }
    abort();
  }
  Any array(const char *name) {
    return {device[number(name)]};
  }
  Scalar scalar(const char *name) const {
    int k = 0;
    while (strcmp(spec->scalars[k].name, name) != 0) {
      k++;
    }
    return {run.scalar[k]};
  }
  int64_t extent(const char *name) const {
    int k = 0;
    while (strcmp(spec->extents[k], name) != 0) {
      k++;
    }
    return run.n[k];
  }
  bool is(const char *name, bool size = false) const {
    return wanted && strcmp(wanted, name) == 0 && size == wants_bytes;
  }
};

extern Case *fuzz_cases;

#endif
