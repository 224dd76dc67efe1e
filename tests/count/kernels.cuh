// Records of the kernels beside this file.
#pragma once
#include <cstdint>

namespace demo {

struct View { // by value, 16 bytes
  const float *data;
  int32_t pitch;
  float scale;
};

template <class T, int N> struct Vec {
  T v[N];
};

} // namespace demo
