/* A kernel on its way to another process: as tests/messages.h says of all messages. */
#include "codegen/codegen.h"
#include "messages.h"

static void test_kernels(void **state) {
  (void)state;
  static const sct_message *(*const all[])(void) = {
#define SCT_MESSAGES "codegen/codegen_messages.def"
#include "list_messages.def"
  };
  test_messages(all, SCT_COUNT(all));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_kernels)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
