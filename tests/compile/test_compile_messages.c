/* What a compiler and its workers send each other: as tests/messages.h says of all messages. */
#include "compile/compile_internal.h"
#include "messages.h"

static void test_requests_and_answers(void **state) {
  (void)state;
  static const sct_message *(*const all[])(void) = {
#define SCT_MESSAGES "compile/compile_messages.def"
#include "list_messages.def"
  };
  test_messages(all, SCT_COUNT(all));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_requests_and_answers)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
