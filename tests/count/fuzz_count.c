/* libFuzzer target for manifests of `sectile count` (preset fuzz):
 *
 *   build/fuzz/tests/fuzz_count -max_len=4096 NEW_FOLDER tests/count/corpus */
#include "count_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  sct_log_set_level(SCT_LOG_ERROR); /* no warnings of unknown keys */
  (void)count_fuzz_input(data, size);
  return 0;
}
