/* Taps: names, places, borders; what the body may do with them; what the canonical text says. */
#include "spec_test.h"

/* Adds a tap to array `name`; deltas as in "-1 0". */
static void add_tap(const char *name, const char *tap, const char *delta) {
  sct_operand *op = find(name);
  const char *items[SCT_MAX_DIMS];
  if (!op->taps) {
    op->taps = SCT_ARENA_NEW(&spec.arena, sct_tap, SCT_MAX_TAPS + 1);
  }
  sct_tap *t = &op->taps[op->n_taps++];
  t->name = tap;
  t->delta = SCT_ARENA_NEW(&spec.arena, int64_t, SCT_MAX_DIMS);
  const int n = split(delta, " ", items, SCT_MAX_DIMS);
  assert_int_equal(n, op->n_dims);
  for (int d = 0; d < n; d++) {
    t->delta[d] = atoll(items[d]);
  }
}

static void open_plate(sct_border border) {
  open_spec("row col");
  add_array("a", "f32", INPUT);
  add_array("b", "f32", OUTPUT);
  add_tap("a", "north", "-1 0");
  add_tap("a", "far", "0 2");
  find("a")->border = border;
}

static void finish_plate(const char *body) {
  bind();
  lay_out_rest();
  set_sizes("row=4 col=5");
  if (try_finish(body) != SCT_OK) {
    fail_msg("%s", err.text);
  }
}

static void test_a_stencil(void **state) {
  (void)state;
  open_plate(SCT_BORDER_WRAP);
  finish_plate("b = a + north + far;");
  const sct_operand *a = find("a");
  assert_true(a->used[0]);
  assert_true(a->taps[0].used[0] && a->taps[1].used[0]);
  assert_int_equal(spec.n_moves, 0);
  assert_false(spec.component_wise);
  assert_non_null(strstr(spec.canonical, "  border wrap taps north (-1, 0), far (0, 2)\n"));
  int64_t lo, hi, read, write;
  sct_operand_reach(a, 0, &lo, &hi);
  assert_int_equal(lo, -1);
  assert_int_equal(hi, 0);
  sct_operand_reach(a, 1, &lo, &hi);
  assert_int_equal(lo, 0);
  assert_int_equal(hi, 2);
  sct_spec_traffic(&spec, &spec.sizes[0], &read,
                   &write); /* each element once, however often read */
  assert_int_equal(read, 80);
  assert_int_equal(write, 80);
  close_spec();
}

/* Nothing that changes what is computed leaves the hash alone. */
/* Where each square of four is read by one element only, every tap adds elements; taps that other
 * elements read too add none. */
static void test_taps_of_strided_reads(void **state) {
  (void)state;
  static const struct {
    const char *at, *extents, *taps[3];
    int64_t read;
  } cases[] = {
      {"2*row; 2*col", "2*row, 2*col", {"0 1", "1 0", "1 1"}, 4 * 80},
      {"2*row; 2*col", "2*row+1, 2*col+1", {"0 1", "1 0", "2 0"}, 3 * 80},
      {"row; 2*col", "row+1, 2*col", {"1 0", "1 1"}, 2 * 80},
      {"3*row; col", "3*row, col+2", {"1 0", "1 2", "0 2"}, 2 * 80},
      {"row; col", "row+2, col+2", {"0 1", "1 0", "2 2"}, 80},
  };
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    open_spec("row col");
    add_array("a", "f32", INPUT);
    add_array("b", "f32", OUTPUT);
    set_at("a", cases[k].at);
    set_extents("a", cases[k].extents);
    char body[32] = "b = a";
    for (int tap = 0; tap < 3 && cases[k].taps[tap]; tap++) {
      const char name[] = {(char)('p' + tap), '\0'};
      add_tap("a", keep_text(name, 1), cases[k].taps[tap]);
      strcat(strcat(body, " + "), name);
    }
    finish_plate(strcat(body, ";"));
    int64_t read, write;
    sct_spec_traffic(&spec, &spec.sizes[0], &read, &write);
    assert_int_equal(read, cases[k].read);
    close_spec();
  }
}

static void test_the_hash_knows_taps(void **state) {
  (void)state;
  sct_hash seen[4];
  for (int k = 0; k < SCT_COUNT(seen); k++) {
    open_plate(k == 1 ? SCT_BORDER_ZERO : SCT_BORDER_CLAMP);
    find("a")->taps[0].delta[0] = k == 2 ? 1 : -1;
    find("a")->taps[1].name = k == 3 ? "other" : "far";
    finish_plate("b = a + north;");
    seen[k] = spec.hash;
    for (int other = 0; other < k; other++) {
      assert_memory_not_equal(&seen[other], &seen[k], sizeof seen[k]);
    }
    close_spec();
  }
}

static void test_only_what_is_read_counts(void **state) {
  (void)state;
  open_spec("i");
  add_array("a", "x:f32 y:f32", INPUT);
  add_array("b", "x:f32 y:f32", OUTPUT);
  add_tap("a", "next", "1");
  find("a")->border = SCT_BORDER_CLAMP;
  bind();
  lay_out_rest();
  set_sizes("i=9");
  finish("b.x = next.y; b.y = next.y;");
  const sct_operand *a = find("a");
  assert_false(a->taps[0].used[0]);
  assert_true(a->taps[0].used[1]);
  assert_false(a->used[0]); /* no place reads it */
  assert_true(a->used[1]);
  assert_false(spec.component_wise); /* "b.f = next.y" for all fields, but next is no array */
  close_spec();
  open_spec("i");
  add_array("a", "x:f32 y:f32", INPUT);
  add_array("b", "x:f32 y:f32", OUTPUT);
  add_tap("a", "next", "1");
  find("a")->border = SCT_BORDER_CLAMP;
  bind();
  lay_out_rest();
  set_sizes("i=9");
  finish("b = next;"); /* a whole record */
  assert_true(find("a")->taps[0].used[0] && find("a")->taps[0].used[1]);
  assert_int_equal(spec.n_moves, 0);
  close_spec();
}

static void test_bad_taps(void **state) {
  (void)state;
  static const struct {
    const char *array, *name, *delta, *says;
  } cases[] = {
      {"a", "north", "1 0", "tap 'north' of 'a': the name is already a tap of 'a'"},
      {"b", "up", "1 0", "'b' cannot have taps: it is written; only inputs"},
      {"pick", "up", "1", "'pick' cannot have taps: it is an index array"},
      {"t", "up", "1 0", "'t' cannot have taps: it is read through an index array"},
      {"a", "a", "1 0", "tap 'a': the name is already an array"},
      {"a", "k", "1 0", "tap 'k': the name is already a scalar"},
      {"a", "col", "1 0", "tap 'col': the name is already a dimension"},
      {"a", "n_col", "1 0", "tap 'n_col': the name is already the extent of a dimension"},
      {"a", "float", "1 0", "tap 'float' "},
      {"a", "here", "0 0", "tap 'here' of 'a' is where the array itself is read; the body calls"},
      {"a", "up", "-1 0", "taps 'north' and 'up' of 'a' are the same place"},
      {"a", "up", "0 65537", "tap 'up' of 'a' is 65537 elements away; at most 65536"},
  };
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    open_plate(SCT_BORDER_CLAMP);
    spec.n_operands = 1; /* inputs first */
    add_array("pick", "i32", INPUT);
    set_dims("pick", "row");
    add_array("t", "f32", INPUT);
    set_dims("t", "m col");
    set_at("t", "pick; col");
    add_array("b", "f32", OUTPUT);
    add_scalar("k", "f32");
    add_tap(cases[k].array, cases[k].name, cases[k].delta);
    assert_int_equal(sct_spec_bind(&spec, &err), SCT_ESPEC);
    assert_says(cases[k].says);
    assert_says("spec.lua:");
    close_spec();
  }
  open_plate(SCT_BORDER_CLAMP);
  for (int k = find("a")->n_taps; k <= SCT_MAX_TAPS; k++) {
    add_tap("a", sct_arena_printf(&spec.arena, "t%d", k), k % 2 ? "1 0" : "2 0");
  }
  assert_int_equal(sct_spec_bind(&spec, &err), SCT_ESPEC);
  assert_says("'a' has 65 taps; at most 64 are possible");
  close_spec();
}

static void test_bodies(void **state) {
  (void)state;
  static const struct {
    const char *body, *says;
  } cases[] = {
      {"b = a + nort;", "unknown name 'nort'; did you mean 'north'?"},
      {"north = a; b = a;", "'north' is a tap of an input and cannot be assigned"},
      {"b = north[1];",
       "'north' stands for one element and takes no index; taps = { ... } selects"},
      {"b = north.x;", "a value of type f32 has no '.x'"},
      {"b = a.north;", "'north' is a tap of 'a': write `north` alone"},
      {"float far = a; b = far;", "`far` cannot be declared: it is taken"},
  };
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    open_plate(SCT_BORDER_CLAMP);
    bind();
    lay_out_rest();
    set_sizes("row=4 col=5");
    assert_int_equal(try_finish(cases[k].body), SCT_ESPEC);
    assert_says(cases[k].says);
    close_spec();
  }
  open_spec("i");
  add_array("a", "x:f32 y:f32", INPUT);
  add_array("b", "x:f32 y:f32", OUTPUT);
  add_tap("a", "next", "1");
  bind();
  lay_out_rest();
  set_sizes("i=9");
  assert_int_equal(try_finish("b.x = next.z; b.y = next.y;"), SCT_ESPEC);
  assert_says("'next' has no field 'z'");
  close_spec();
}

/* Without a border every tap stays inside: a halo of its own, or an error. */
static void test_without_a_border(void **state) {
  (void)state;
  static const struct {
    const char *at;
    int64_t pad[2];
    const char *says; /* NULL: fine */
  } cases[] = {
      {"row + 1; col", {1, 2}, NULL},
      {"row; col", {0, 2}, "tap 'north' of 'a' reads row -1 for row = 0, outside [0, 4)"},
      {"row + 1; col", {1, 1}, "tap 'far' of 'a' reads col 6 for col = 4, outside [0, 6)"},
      {"row + 1; col + 1", {1, 2}, "tap 'far' of 'a' reads col 7"},
      {"row; col", {0, 0}, "say what it finds there, as in border = \"clamp\", or pad the array"},
  };
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    for (int border = SCT_BORDER_NONE; border <= SCT_BORDER_WRAP; border++) {
      open_plate((sct_border)border);
      set_at("a", cases[k].at);
      find("a")->pad[0] = cases[k].pad[0];
      find("a")->pad[1] = cases[k].pad[1];
      bind();
      lay_out_rest();
      set_sizes("row=4 col=5; row=0 col=7");
      const sct_status status = try_finish("b = north + far;");
      if (cases[k].says && border == SCT_BORDER_NONE) {
        assert_int_equal(status, SCT_ESPEC);
        assert_says(cases[k].says);
      } else if (status != SCT_OK) {
        fail_msg("%s, border %d: %s", cases[k].at, border, err.text);
      }
      close_spec();
    }
  }
}

static void test_border_names(void **state) {
  (void)state;
  static const char *const names[] = {"none", "clamp", "zero", "wrap", "reflect", "skip", "value"};
  sct_border border = SCT_BORDER_NONE;
  for (int k = 0; k < SCT_COUNT(names); k++) {
    assert_true(sct_border_find(&border, names[k]));
    assert_int_equal(border, k);
    assert_string_equal(sct_border_name(border), names[k]);
  }
  assert_false(sct_border_find(&border, "periodic"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_stencil),
      cmocka_unit_test(test_taps_of_strided_reads),
      cmocka_unit_test(test_the_hash_knows_taps),
      cmocka_unit_test(test_only_what_is_read_counts),
      cmocka_unit_test(test_bad_taps),
      cmocka_unit_test(test_bodies),
      cmocka_unit_test(test_without_a_border),
      cmocka_unit_test(test_border_names),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
