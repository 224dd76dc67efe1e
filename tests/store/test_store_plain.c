/* JSON that is known at a glance: what the program writes is, and nothing that is no JSON object,
 * or that has a name twice, ever is. */
#include "store/store_internal.h"

#include "store_fixture.h"

#include <jansson.h>

static bool is_object(const char *text) {
  json_t *const json = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
  const bool object = json_is_object(json);
  json_decref(json);
  return object;
}

static const char *const plain[] = {
    "{}",
    "{\"a\":1}",
    "{\"a\":-12,\"b\":0,\"c\":\"\",\"d\":[],\"e\":{}}",
    "{\"a\":true,\"b\":false,\"c\":null,\"\":[[1,2],[\"x\",{\"y\":[3]}]]}",
    "{\"t\":\"a \\\"b\\\" \\\\ \\/ \\n\\t\\r\\b\\f <~>\"}",
    "{\"ptx\":{\"requests_ld\":8,\"sectors_ld\":32},\"model\":{\"requests_ld\":8,\"sectors_ld\":32}"
    "}",
    "{\"layout_a\":\"row_major\",\"threads\":256,\"skew\":true,\"hint\":\"none\"}",
    "{\"kernel\":\"tile\",\"threads\":512,\"grid\":\"n_row * ((n_col + 511) >> "
    "9)\",\"requires\":[],"
    "\"align\":{\"a\":4},\"arguments\":[\"const float *\",\"float *\"],\"doc\":\"One; two.\"}",
};

static void what_is_written_is_plain(void **state) {
  (void)state;
  for (int k = 0; k < SCT_COUNT(plain); ++k) {
    assert_true(is_object(plain[k]));
    if (!sct_store_is_plain(plain[k])) {
      fail_msg("%s", plain[k]);
    }
  }
}

/* JSON or not: the parser has the last word. */
static void what_is_in_doubt_is_not(void **state) {
  static const char *const doubtful[] = {"",
                                         "1",
                                         "[]",
                                         "[{}]",
                                         "{",
                                         "}",
                                         "{}}",
                                         "{} ",
                                         "{}{}",
                                         "{\"a\"}",
                                         "{\"a\":}",
                                         "{\"a\":1,}",
                                         "{,\"a\":1}",
                                         "{\"a\":1 }",
                                         "{\"a\":1;\"b\":2}",
                                         "{a:1}",
                                         "{\"a\":01}",
                                         "{\"a\":-}",
                                         "{\"a\":+1}",
                                         "{\"a\":1.5}",
                                         "{\"a\":1e3}",
                                         "{\"a\":0x1}",
                                         "{\"a\":1234567890123456}",
                                         "{\"a\":[1,]}",
                                         "{\"a\":[1}",
                                         "{\"a\":[",
                                         "{\"a\":tru}",
                                         "{\"a\":True}",
                                         "{\"a\":nulll}",
                                         "{\"a\":\"\\u0000\"}",
                                         "{\"a\":\"\\x\"}",
                                         "{\"a\":\"\\",
                                         "{\"a\":\"\n\"}",
                                         "{\"a\":\"\xc3\"}",
                                         "{\"a\":\"\xc3\xa9\"}",
                                         "{\"a\":\"\x7f\"}",
                                         "{\"a\":1,\"a\":2}",
                                         "{\"a\":1,\"b\":2,\"a\":3}",
                                         "{\"x\":{\"a\":1,\"a\":2}}",
                                         "{\"a\":1,\"\\u0061\":2}",
                                         "{\"\\/\":1,\"/\":2}"};
  (void)state;
  for (int k = 0; k < SCT_COUNT(doubtful); ++k) {
    if (sct_store_is_plain(doubtful[k])) {
      fail_msg("%s", doubtful[k]);
    }
  }
}

/* Deep nesting and many members, where looking would take long or much of the stack. */
static void what_is_large_is_in_doubt(void **state) {
  sct_str deep = {0}, wide = {0};
  (void)state;
  for (int k = 0; k < 100000; ++k) {
    sct_str_append(&deep, "{\"a\":");
    sct_str_printf(&wide, "%s\"a%d\":1", k > 0 ? "," : "{", k);
  }
  sct_str_append(&wide, "}");
  assert_false(sct_store_is_plain(sct_str_c(&deep)));
  assert_false(sct_store_is_plain(sct_str_c(&wide)));
  sct_str_free(&deep);
  sct_str_free(&wide);
}

/* Texts that differ from plain ones by a few letters. */
static void no_text_is_more_than_json(void **state) {
  static const char letters[] = "{}[]\",:\\-0123456789.eEtrufalsn \x01\x7f\xc3\xff";
  sct_rng rng = sct_rng_new(7);
  char text[512];
  int n_plain = 0, n_other = 0;
  (void)state;
  for (int k = 0; k < 60000; ++k) {
    (void)snprintf(text, sizeof(text), "%s", plain[sct_rng_below(&rng, SCT_COUNT(plain))]);
    const int64_t len = (int64_t)strlen(text);
    for (int64_t n = 1 + sct_rng_below(&rng, 3); n > 0; --n) {
      const int64_t at = sct_rng_below(&rng, len), from = sct_rng_below(&rng, len);
      if (sct_rng_below(&rng, 2) == 0) {
        text[at] = letters[sct_rng_below(&rng, SCT_COUNT(letters) - 1)];
      } else { /* a part of it twice */
        const int64_t most = len - (at > from ? at : from);
        memmove(text + at, text + from, (size_t)sct_rng_below(&rng, most + 1));
      }
    }
    const bool object = is_object(text);
    if (sct_store_is_plain(text)) {
      n_plain++;
      if (!object) {
        fail_msg("%s", text);
      }
    } else {
      n_other += object;
    }
  }
  assert_true(n_plain > 1000); /* else nothing was tried */
  assert_true(n_plain > n_other);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_written_is_plain),
      cmocka_unit_test(what_is_in_doubt_is_not),
      cmocka_unit_test(what_is_large_is_in_doubt),
      cmocka_unit_test(no_text_is_more_than_json),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
