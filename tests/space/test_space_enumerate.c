/* Enumeration: order, collapse, pruning with exact counts, and wrong constraints. */
#include "space/space.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static sct_space space;
static sct_error err;

static int open_space(void **state) {
  (void)state;
  memset(&space, 0, sizeof space);
  memset(&err, 0, sizeof err);
  sct_expr_pool_new(&space.pool);
  space.strategies = SCT_ARENA_NEW(&space.arena, sct_strategy, 4);
  return 0;
}

static int close_space(void **state) {
  (void)state;
  sct_expr_pool_free(space.pool);
  sct_space_free(&space);
  return 0;
}

static sct_strategy *add_strategy(const char *name) {
  sct_strategy *s = &space.strategies[space.n_strategies++];
  s->name = name;
  s->file = "strategy.lua";
  s->applies = true;
  s->axes = SCT_ARENA_NEW(&space.arena, sct_axis, SCT_MAX_AXES + 1);
  s->where = SCT_ARENA_NEW(&space.arena, sct_constraint, 8);
  s->facts = SCT_ARENA_NEW(&space.arena, sct_fact, 8);
  return s;
}

/* `values`: words; numbers are integers, true and false booleans, the rest strings. */
static sct_axis *add_axis(sct_strategy *s, const char *name, const char *key, const char *values) {
  sct_axis *axis = &s->axes[s->n_axes++];
  axis->name = name;
  axis->key = key;
  axis->values = SCT_ARENA_NEW(&space.arena, sct_axis_value, 64);
  while (*values) {
    const size_t len = strcspn(values, " ");
    sct_axis_value *v = &axis->values[axis->n_values++];
    v->text = sct_arena_strndup(&space.arena, values, len);
    char *end = NULL;
    v->number = strtoll(v->text, &end, 10);
    if (*end) {
      v->is_bool = strcmp(v->text, "true") == 0 || strcmp(v->text, "false") == 0;
      v->is_string = !v->is_bool;
      v->number = v->is_bool ? v->text[0] == 't' : sct_space_intern(v->text);
      v->text = v->is_bool ? (v->number ? "1" : "0") : v->text;
    }
    values += len + (values[len] == ' ');
  }
  return axis;
}

static void add_where(sct_strategy *s, const char *text) {
  s->where[s->n_where++] = (sct_constraint){text, "strategy.lua", 0};
}

static void add_fact(sct_strategy *s, const char *name, int64_t value) {
  s->facts[s->n_facts++] = (sct_fact){name, value};
}

static void enumerate(void) {
  if (sct_space_enumerate(&space, &err) != SCT_OK) {
    fail_msg("%s", err.text);
  }
}

static void assert_label(size_t at, const char *label) {
  sct_str text = {0};
  assert_true(at < space.n_candidates);
  sct_space_label(&text, &space, &space.candidates[at]);
  assert_string_equal(sct_str_c(&text), label);
  sct_str_free(&text);
}

static int64_t pruned(void) {
  int64_t n = 0;
  for (size_t p = 0; p < space.n_prunes; p++) {
    n += space.prunes[p].count;
  }
  return n;
}

/* ---- what is enumerated ---- */

static void test_order_and_labels(void **state) {
  (void)state;
  sct_strategy *s = add_strategy("staged");
  add_axis(s, "threads", "t", "128 256");
  add_axis(s, "only", "o", "7"); /* one value: not in labels */
  add_axis(s, "stage_in", "in", "true false");
  add_axis(s, "hint", "h", "none cs");
  enumerate();
  assert_int_equal(space.n_points, 8);
  assert_int_equal(space.n_candidates, 8);
  assert_label(0, "staged t128 in1 hnone");
  assert_label(1, "staged t128 in1 hcs");
  assert_label(2, "staged t128 in0 hnone");
  assert_label(7, "staged t256 in0 hcs");
}

static void test_strategies_that_do_not_apply(void **state) {
  (void)state;
  add_axis(add_strategy("direct"), "threads", "t", "1 2");
  sct_strategy *s = add_strategy("tile");
  s->applies = false;
  add_axis(s, "broken", "b", ""); /* not even looked at */
  add_strategy("plain");          /* no axes: one candidate */
  enumerate();
  assert_int_equal(space.n_candidates, 3);
  assert_int_equal(space.n_points, 3);
  assert_label(2, "plain");
}

static void test_constraints(void **state) {
  (void)state;
  sct_strategy *s = add_strategy("x");
  add_axis(s, "threads", "t", "128 256 512");
  add_axis(s, "items", "i", "1 2 4 8");
  add_axis(s, "fix", "f", "none pad xor");
  add_fact(s, "record_bytes", 28);
  add_where(s, "threads * items <= 1024");
  add_where(s, "fix ~= 'xor' or items > 1");
  add_where(s, "record_bytes * items % 4 == 0");
  enumerate();
  assert_int_equal(space.n_points, 36);
  assert_int_equal(space.n_candidates + (size_t)pruned(), 36);
  size_t expected = 0; /* counted in C */
  for (int64_t t = 128; t <= 512; t *= 2) {
    for (int64_t i = 1; i <= 8; i *= 2) {
      for (int f = 0; f < 3; f++) {
        expected += t * i <= 1024 && (f != 2 || i > 1);
      }
    }
  }
  assert_int_equal(space.n_candidates, expected);
  assert_int_equal(space.n_prunes, 2);
  assert_string_equal(space.prunes[0].reason, "fix ~= 'xor' or items > 1"); /* t128 i1 fxor */
  assert_int_equal(space.prunes[0].count, 3);
  assert_string_equal(space.prunes[1].reason, "threads * items <= 1024");
  assert_int_equal(space.prunes[1].count, 9);
}

static void test_collapse(void **state) {
  (void)state;
  sct_strategy *s = add_strategy("x");
  add_axis(s, "stage", "s", "true false");
  sct_axis *pad = add_axis(s, "pad", "p", "0 1 2");
  sct_axis *width = add_axis(s, "width", "w", "4 16");
  pad->when = "stage";
  pad->neutral = 1;
  width->when = "pad > 0 and stage";
  enumerate();
  assert_int_equal(space.n_points, 12);
  /* staged: p0 w4, p1 w4, p1 w16, p2 w4, p2 w16; not staged: p1 w4 */
  assert_int_equal(space.n_candidates, 6);
  assert_int_equal(space.n_collapsed, 6);
  assert_label(0, "x s1 p0 w4");
  assert_label(5, "x s0 p1 w4");
}

/* 24 axes of 16 values: walking 16^24 points would never end. */
static void test_early_pruning(void **state) {
  (void)state;
  static char names[SCT_MAX_AXES][8];
  sct_strategy *s = add_strategy("x");
  for (int a = 0; a < SCT_MAX_AXES; a++) {
    snprintf(names[a], sizeof names[a], "a%d_", a);
    add_axis(s, names[a], names[a], "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15");
    char text[32];
    snprintf(text, sizeof text, a < 2 ? "a%d_ < 3" : "a%d_ == 5", a);
    if (a < 8) {
      add_where(s, sct_arena_strdup(&space.arena, text));
    } else {
      s->axes[a].when = "a0_ > 99"; /* never matters */
    }
  }
  enumerate();
  assert_int_equal(space.n_candidates, 9);
  assert_int_equal(space.n_points, INT64_MAX); /* saturated */
}

static void test_constraints_on_facts_alone(void **state) {
  (void)state;
  sct_strategy *s = add_strategy("x");
  add_axis(s, "t", "t", "1 2 3");
  add_fact(s, "ok", 0);
  add_where(s, "ok");
  sct_strategy *none = add_strategy("y");
  add_fact(none, "ok", 0);
  add_where(none, "ok == 1");
  enumerate();
  assert_int_equal(space.n_candidates, 0);
  assert_int_equal(pruned(), 4);
}

static void test_prune_later(void **state) {
  (void)state;
  add_axis(add_strategy("x"), "t", "t", "1 2 3");
  enumerate();
  for (int k = 0; k < 3; k++) {
    char reason[16];
    snprintf(reason, sizeof reason, "reason %d", k % 2);
    sct_space_prune(&space, 0, reason);
  }
  assert_int_equal(space.n_prunes, 2);
  assert_string_equal(space.prunes[0].reason, "reason 0");
  assert_int_equal(space.prunes[0].count, 2);
  assert_int_equal(space.n_candidates, 3);
}

/* ---- what is refused ---- */

static void assert_refused(const char *says) {
  assert_int_equal(sct_space_enumerate(&space, &err), SCT_ESPEC);
  if (!sct_has_prefix(err.text, "strategy.lua:1: error: strategy 'x': ") ||
      !strstr(err.text, says)) {
    fail_msg("expected \"%s\" in: %s", says, err.text);
  }
}

static void test_wrong_constraints(void **state) {
  (void)state;
  static const struct {
    const char *where, *says;
  } cases[] = {
      {"thread <= 256",
       "constraint \"thread <= 256\": column 1: unknown name 'thread'; did you mean 'threads'?"},
      {"threads * smem_kb <= 1", "unknown name 'smem_kb'; did you mean 'smem_kib'?"},
      {"fix == 'paad'", "no axis has the value 'paad'; did you mean 'pad'?"},
      {"threads <=", "constraint \"threads <=\": column"},
      {"threads // 0 == 1", "constraint"},
      {"true and nonsense", "unknown name 'nonsense'"},
  };
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    sct_strategy *s = add_strategy("x");
    add_axis(s, "threads", "t", "128 256");
    add_axis(s, "fix", "f", "none pad");
    add_fact(s, "smem_kib", 48);
    add_where(s, cases[k].where);
    assert_refused(cases[k].says);
    close_space(NULL);
    open_space(NULL);
  }
}

static void test_wrong_axes(void **state) {
  (void)state;
  static const struct {
    const char *name, *key, *values, *when;
    int neutral;
    const char *says;
  } cases[] = {
      {"b", "b", "", NULL, 0, "axis 'b' has no values"},
      {"a", "b", "1", NULL, 0, "two axes are called 'a'"},
      {"b", "a", "1", NULL, 0, "two axes have the key 'a'"},
      {"b", "b", "1 2 1", NULL, 0, "axis 'b' has a value twice"},
      {"b", "b", "1 2", NULL, 2, "axis 'b': its neutral value is not among its values"},
      {"b", "b", "1 2", "b > 1", 0, "condition \"b > 1\": column 1: unknown name 'b'"},
      {"b", "b", "1 2", "c > 1", 0, "unknown name 'c'"}, /* it comes later */
  };
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    sct_strategy *s = add_strategy("x");
    add_axis(s, "a", "a", "1 2");
    sct_axis *axis = add_axis(s, cases[k].name, cases[k].key, cases[k].values);
    axis->when = cases[k].when;
    axis->neutral = cases[k].neutral;
    add_axis(s, "c", "c", "1 2");
    assert_refused(cases[k].says);
    close_space(NULL);
    open_space(NULL);
  }
}

static void test_errors_point_at_the_line(void **state) {
  (void)state;
  static const char path[] = "test_space_strategy.tmp.lua";
  static const char text[] = "return {\n  where = {\n    \"thread <= 256\",\n  },\n}\n";
  assert_int_equal(sct_file_write(path, text, strlen(text), &err), SCT_OK);
  sct_strategy *s = add_strategy("x");
  s->file = path;
  add_axis(s, "threads", "t", "128 256");
  add_where(s, "thread <= 256");
  s->where[0].file = path;
  assert_int_equal(sct_space_enumerate(&space, &err), SCT_ESPEC);
  assert_non_null(
      strstr(err.text, "test_space_strategy.tmp.lua:3: error: strategy 'x': constraint"));
  assert_non_null(strstr(err.text, "\n    \"thread <= 256\","));
  assert_int_equal(remove(path), 0);
}

/* ---- labels ---- */

/* A strategy that is another one at some sizes is there once for each. */
static void test_names_stand_once(void **state) {
  (void)state;
  add_axis(add_strategy("direct"), "threads", "t", "128");
  add_axis(add_strategy("staged"), "threads", "t", "128");
  add_axis(add_strategy("staged"), "threads", "t", "256");
  enumerate();
  assert_int_equal(sct_space_find(&space, "entirely something", 0, &err), -1);
  assert_non_null(strstr(err.text, "expected one of direct, staged"));
  assert_null(strstr(err.text, "staged, staged"));
}

static void test_find(void **state) {
  (void)state;
  add_axis(add_strategy("direct"), "threads", "t", "128 256");
  sct_strategy *s = add_strategy("staged");
  add_axis(s, "threads", "t", "128 256");
  add_axis(s, "items", "i", "1 2");
  add_where(s, "threads == 128 or items == 1");
  enumerate();
  assert_int_equal(space.n_candidates, 5);
  for (size_t k = 0; k < space.n_candidates; k++) {
    sct_str label = {0};
    sct_space_label(&label, &space, &space.candidates[k]);
    assert_int_equal(sct_space_find(&space, sct_str_c(&label), 0, &err), (int64_t)k);
    sct_str_free(&label);
  }
  static const struct {
    const char *label, *says;
  } cases[] = {
      {"staged t128 i3", "no candidate is called 'staged t128 i3'; did you mean 'staged t128 i1'?"},
      {"staged i2 t128", "did you mean 'staged t128 i2'?"},
      {"staged t256 i2", "did you mean 'staged t"}, /* pruned */
      {"staged", "did you mean 'staged t128 i1'?"},
      {"stagged t128 i1", "a label begins with a strategy; did you mean 'staged'?"},
      {"", "a label begins with a strategy"},
      {"direct t1280", "did you mean 'direct t128'?"},
  };
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    assert_int_equal(sct_space_find(&space, cases[k].label, 0, &err), -1);
    assert_int_equal(err.code, SCT_EUSAGE);
    if (!strstr(err.text, cases[k].says)) {
      fail_msg("expected \"%s\" in: %s", cases[k].says, err.text);
    }
  }
}

static void test_intern(void **state) {
  (void)state;
  assert_int_equal(sct_space_intern("cs"), sct_space_intern("cs"));
  assert_int_not_equal(sct_space_intern("cs"), sct_space_intern("cg"));
  assert_true(sct_space_intern("") > (int64_t)1 << 60);
  assert_true(sct_space_intern("xor") < SCT_EXPR_MAX_VALUE);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_space, close_space)
  const struct CMUnitTest tests[] = {
      TEST(test_order_and_labels), TEST(test_strategies_that_do_not_apply),
      TEST(test_constraints),      TEST(test_collapse),
      TEST(test_early_pruning),    TEST(test_constraints_on_facts_alone),
      TEST(test_prune_later),      TEST(test_wrong_constraints),
      TEST(test_wrong_axes),       TEST(test_errors_point_at_the_line),
      TEST(test_names_stand_once), TEST(test_find),
      TEST(test_intern),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
