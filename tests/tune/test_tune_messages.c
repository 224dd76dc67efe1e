/* What a session and its processes tell each other: as tests/messages.h says of all messages. */
#include "messages.h"
#include "tune/tune_internal.h"

static void test_messages_of_processes(void **state) {
  (void)state;
  static const sct_message *(*const all[])(void) = {
#define SCT_MESSAGES "tune/tune_messages.def"
#include "list_messages.def"
  };
  test_messages(all, SCT_COUNT(all));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_messages_of_processes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
