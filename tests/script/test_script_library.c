/* The device library: which definitions a kernel carries, and which names its template takes. */
#include "script_test.h"

#include "script/script_private.h"
#include "script/script_strategy_internal.h"

static struct sct_library_part parts[] = {
    {"word_of", "template <int n> struct word_of;\n", "words.cuh", 1, true},
    {"load", "T load(const void *p) { word_of<4> w; }\n", "words.cuh", 3, true},
    {"load_twice", "T load_twice(const void *p) { load(p); load(p); }\n", "words.cuh", 5, true},
    {"split", "int split(int n);\n", "words.cuh", 7, true},
    {"divisor", "struct divisor { int by; };\n", "words.cuh", 9, false},
};
static const sct_script library = {.n_parts = SCT_COUNT(parts), .parts = parts};

/* `wanted`: a digit for each definition. */
static void carries(const char *text, const char *wanted) {
  bool carried[SCT_MAX_LIBRARY];
  sct_library_needed(&library, text, carried);
  for (int k = 0; k < SCT_COUNT(parts); k++) {
    if (carried[k] != (wanted[k] == '1')) {
      fail_msg("'%s': %s is%s carried", text, parts[k].name, carried[k] ? "" : " not");
    }
  }
}

static void kernels_carry_what_they_mention(void **state) {
  (void)state;
  carries("x = split(n);", "00010");
  carries("x = load<float4>(p);", "11000");
  carries("x = load_twice(p);", "11100"); /* and what that mentions */
  carries("word_of<4> w;", "10000");
  carries("divisor d;", "00001");
  carries("struct word_of { int a; } w;", "00000");
  carries("float load = split;", "00000"); /* a function is called */
  carries("x.load(p); my_load(p); load4(p);", "00000");
  carries("// load(p)\n/* split(n) */ asm(\"load(\");", "00000");
}

/* Each definition of the shipped library says what it does, and no two have one name. */
static void the_library_is_in_order(void **state) {
  (void)state;
  sct_device_desc device;
  sct_script *script = NULL;
  load_ok("local s = require 'sectile'\n"
          "return s.kernel { name = 'move', dims = { 'i' }, inputs = { s.array('a', 'f32') },\n"
          "  outputs = { s.array('b', 'f32') }, body = 'b = a;', sizes = { { i = 4096 } } }\n");
  assert_int_equal(sct_script_load_device(&device, "h200", &err), SCT_OK);
  assert_int_equal(sct_script_new(&script, &spec, &device, NULL, &err), SCT_OK);
  assert_true(script->n_parts > 10);
  for (int k = 0; k < script->n_parts; k++) {
    const struct sct_library_part *part = &script->parts[k];
    if (!sct_has_prefix(part->text, "// ")) {
      fail_msg("%s:%d: %s has no comment", part->file, part->line, part->name);
    }
    for (int other = 0; other < k; other++) {
      assert_string_not_equal(script->parts[other].name, part->name);
    }
  }
  sct_script_free(script);
  sct_spec_free(&spec);
}

static bool taken(lua_State *L, const char *name) {
  lua_getfield(L, -1, name);
  const bool is = lua_toboolean(L, -1);
  lua_pop(L, 1);
  return is;
}

static void templates_take_names(void **state) {
  (void)state;
  lua_State *L = luaL_newstate();
  sct_library_push_words(L, &library,
                         "//% local hidden = 1\nconst int rank = $(inserted(a)); // remark\n"
                         "at.member = \"quoted\";\n$(each(list, \"{field}[in_string] = 1;\"))\n");
  assert_true(taken(L, "rank") && taken(L, "at") && taken(L, "load_twice"));
  assert_false(taken(L, "hidden") || taken(L, "inserted") || taken(L, "remark"));
  assert_false(taken(L, "member") || taken(L, "quoted") || taken(L, "field"));
  assert_true(taken(L, "in_string"));
  lua_close(L);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(kernels_carry_what_they_mention),
      cmocka_unit_test(the_library_is_in_order),
      cmocka_unit_test(templates_take_names),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
