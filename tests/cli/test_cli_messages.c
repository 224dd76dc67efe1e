/* What the program and its sessions tell each other: as tests/messages.h says of all messages. */
#include "cli/cli_session.h"
#include "messages.h"

static void test_messages_of_sessions(void **state) {
  (void)state;
  static const sct_message *(*const all[])(void) = {
#define SCT_MESSAGES "cli/cli_messages.def"
#include "list_messages.def"
  };
  test_messages(all, SCT_COUNT(all));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_messages_of_sessions)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
