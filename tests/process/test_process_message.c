/* Structs as messages: those of messages.def, which have a field of every kind. */
#include "messages.h"
#include "process/process_internal.h"

#define SCT_MESSAGES "process/messages.def"
#include "process/process_declare.def"
#define SCT_MESSAGES "process/messages.def"
#include "process/process_describe.def"

static void test_all_kinds(void **state) {
  (void)state;
  static const sct_message *(*const all[])(void) = {
#define SCT_MESSAGES "process/messages.def"
#include "list_messages.def"
      sct_nothing_table};
  test_messages(all, SCT_COUNT(all));
}

/* What is got lies in the message or its memory, and goes with it. */
static void test_what_is_got_lives_as_the_message(void **state) {
  (void)state;
  const a_part part = {true, 40, 7, INT64_MIN, "part", "its name"}, parts[] = {part, part};
  const double numbers[] = {1, 0x1p-1000, 3};
  const a_tree tree = {.part = part,
                       .parts = parts,
                       .n_parts = 2,
                       .number = 0.5,
                       .numbers = numbers,
                       .n_numbers = 3,
                       .letters = "ab",
                       .n_letters = 2};
  const a_forest forest = {&tree, 1, (const uint8_t *)"rest", 4};
  size_t n = 0;
  uint8_t *const bytes = message_of(a_forest_table(), &forest, &n);
  sct_wire w = {.data = bytes, .len = n, .cap = n};
  a_forest got;
  assert_true(sct_wire_get_whole(&w, a_forest_table(), &got));
  assert_int_equal(got.n_trees, 1);
  const a_tree *t = got.trees;
  assert_string_equal(t->parts[1].text, "part");
  assert_true(t->parts[1].flag && t->parts[1].small == 40 && t->parts[1].large == INT64_MIN);
  assert_string_equal(t->parts[1].name, "its name");
  assert_true(t->number == 0.5 && t->n_numbers == 3 && t->numbers[1] == 0x1p-1000);
  assert_memory_equal(t->letters, "ab", 2);
  assert_null(t->maybe);
  assert_memory_equal(got.rest, "rest", 4);
  assert_true(got.rest > bytes && got.rest < bytes + n); /* not copied */
  sct_wire_free(&w);
}

/* A number of elements is checked before there is memory for them. */
static void test_numbers_of_elements_are_not_believed(void **state) {
  (void)state;
  static const int64_t counts[] = {-1, 2, INT32_MAX, INT64_MAX, INT64_MIN};
  for (int k = 0; k < SCT_COUNT(counts); k++) {
    sct_wire w = {0};
    a_forest got;
    sct_wire_put_i64(&w, counts[k]);
    sct_wire_put_raw(&w, (uint8_t[280]){0}, 280); /* less than two trees */
    got.n_rest = 7;
    assert_false(sct_wire_get(&w, a_forest_table(), &got));
    assert_true(got.n_trees == 0 && got.trees == NULL && got.n_rest == 0);
    assert_int_equal(w.arena.total_bytes, 0);
    sct_wire_free(&w);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_all_kinds),
      cmocka_unit_test(test_what_is_got_lives_as_the_message),
      cmocka_unit_test(test_numbers_of_elements_are_not_believed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
