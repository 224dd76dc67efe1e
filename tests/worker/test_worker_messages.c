/* What the parent and its worker send each other: as tests/messages.h says of all messages. */
#include "messages.h"
#include "worker/worker.h"

static void test_requests_and_answers(void **state) {
  (void)state;
  static const sct_message *(*const all[])(void) = {
#define SCT_MESSAGES "worker/worker_messages.def"
#include "list_messages.def"
  };
  test_messages(all, SCT_COUNT(all));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_requests_and_answers)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
