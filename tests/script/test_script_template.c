/* The template translator: same line numbers, literals escaped, insertions found. */
#include "script/script_strategy_internal.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
/* cmocka wants the above first */
#include <cmocka.h>

static void expect(const char *text, const char *chunk) {
  sct_str out = {0};
  sct_error err = {0};
  if (sct_template_translate(&out, "t.cu", text, &err) != SCT_OK) {
    fail_msg("%s", err.text);
  }
  assert_string_equal(sct_str_c(&out), chunk);
  sct_str_free(&out);
}

static void test_text_becomes_calls(void **state) {
  (void)state;
  expect("a\n", "_o(1, \"a\")\n");
  expect("a\n\nb", "_o(1, \"a\")\n_o(2)\n_o(3, \"b\")\n");
  expect("say \"x\\n\"\t;\n", "_o(1, \"say \\\"x\\\\n\\\"\\009;\")\n");
}

static void test_lua_lines_keep_their_number(void **state) {
  (void)state;
  expect("//% for k = 1, 2 do\n  x\n  //% end\n", " for k = 1, 2 do\n_o(2, \"  x\")\n end\n");
  expect("// comment\n", "_o(1, \"// comment\")\n");
}

static void test_insertions_nest_and_skip_strings(void **state) {
  (void)state;
  expect("a$(x)b", "_o(1, \"a\", {x}, \"b\")\n");
  expect("$(f(g(1), 2))$(y)", "_o(1, {f(g(1), 2)}, {y})\n");
  expect("$(f(\")\"))", "_o(1, {f(\")\")})\n");
  expect("$(f('\\')'))", "_o(1, {f('\\')')})\n");
  expect("cost $5", "_o(1, \"cost $5\")\n");
}

static void test_an_open_insertion_is_an_error_with_its_line(void **state) {
  (void)state;
  sct_str out = {0};
  sct_error err;
  assert_int_equal(sct_template_translate(&out, "t.cu", "ok\nbad $(x\n)", &err), SCT_ESPEC);
  assert_non_null(strstr(err.text, "t.cu:2: error:"));
  assert_non_null(strstr(err.text, "bad $(x"));
  sct_str_free(&out);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_text_becomes_calls),
      cmocka_unit_test(test_lua_lines_keep_their_number),
      cmocka_unit_test(test_insertions_nest_and_skip_strings),
      cmocka_unit_test(test_an_open_insertion_is_an_error_with_its_line),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
