/* What a CUresult is called, what it means, and what it leaves behind. */
#include "device/device.h"

typedef enum result_class { PLAIN = 0, STICKY = 1, LOST = 2, STICKY_LOST = 3 } result_class;

static const struct {
  int code;
  const char *name;
  result_class class;
  const char *meaning;
} results[] = {
    {0, "CUDA_SUCCESS", PLAIN, "no error"},
#define SCT_RESULT(code, name, class, meaning) {code, name, class, meaning},
#include "device_results.def"
#undef SCT_RESULT
};

static int find(int result) {
  for (int k = 0; k < SCT_COUNT(results); k++) {
    if (results[k].code == result) {
      return k;
    }
  }
  return -1;
}

const char *sct_cuda_result_name(int result) {
  const int k = find(result);
  return k < 0 ? "an unknown CUresult" : results[k].name;
}

const char *sct_cuda_result_text(int result) {
  const int k = find(result);
  return k < 0 ? "a result this program does not know" : results[k].meaning;
}

bool sct_cuda_is_sticky(int result) {
  const int k = find(result);
  return k >= 0 && (results[k].class & STICKY) != 0;
}

bool sct_cuda_is_lost(int result) {
  const int k = find(result);
  return k >= 0 && (results[k].class & LOST) != 0;
}
