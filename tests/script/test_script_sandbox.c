/* The sandbox: hostile scripts end quickly, with a line, and get at nothing. */
#include "script_test.h"

static void assert_stopped(const char *const *scripts, int n, const char *says) {
  for (int k = 0; k < n; k++) {
    assert_fails(scripts[k], "spec.lua", 1, says);
  }
}

static void test_endless_loops(void **state) {
  (void)state;
  static const char *const scripts[] = {
      "while true do end",
      "for _ = 1, math.huge do end",
      "local function f() return f() end f()",
      "while true do pcall(function() while true do end end) end",
      "while true do xpcall(error, function() while true do end end) end",
      "xpcall(function() while true do end end, function() while true do end end)",
      "local x <close> = setmetatable({}, { __close = function() while true do end end }) error(1)",
      "local function f(k) return pcall(f, k + 1) end while true do f(1) end",
      "repeat until not pcall(string.rep, 'x', 3)",
      "table.sort({ 1, 2, 3 }, function(a, b) while true do end end)",
      "('x'):gsub('x', function() while true do end end)",
  };
  assert_stopped(scripts, SCT_COUNT(scripts), "the script ran too long");
}

/* Work that happens in C, where the instruction hook does not fire. */
static void test_patterns(void **state) {
  (void)state;
  static const char *const scripts[] = {
      "local _ = ('a'):rep(30):find(('a?'):rep(30) .. ('a'):rep(30))",
      "local _ = ('a'):rep(5000):match('.-.-.-.-b')",
      "local _ = ('a'):rep(3000):gsub('.*.*.*.*b', '')",
      "for _ in ('a'):rep(3000):gmatch('(.-)(.-)(.-)%1%2%3b') do end",
      "while true do local _ = ('a'):rep(2000):find('a-a-b') end",
      "local _ = ('('):rep(200000):find(('%b()'):rep(4))",
  };
  assert_stopped(scripts, SCT_COUNT(scripts), "the script ran too long");
}

static void test_work_by_the_megabyte(void **state) {
  (void)state;
  static const char *const scripts[] = {
      "while true do local _ = ('x'):rep(50000000) end",
      "local s = ('x'):rep(10000000) while true do local _ = s .. s end",
      "local t = {} for k = 1, 100000 do t[k] = 'xxxxxxxx' end while true do table.concat(t) end",
      "local t = {} for k = 1, 100000 do t[k] = k end while true do table.insert(t, 1, 0) end",
      "local t = {} for k = 1, 100000 do t[k] = k end while true do table.sort(t) end",
      "local t = {} for k = 1, 99999 do t[k] = k end while true do local _ = pairs(t) end",
      "local t = {} for k = 1, 200000 do t[k] = k end while true do table.unpack(t) end",
      "while true do local _ = ('x'):rep(1000000):upper() end",
      "while true do local _ = ('%99d'):rep(1):format(1) end",
  };
  assert_stopped(scripts, SCT_COUNT(scripts), "the script ran too long");
}

static void test_memory(void **state) {
  (void)state;
  static const char *const scripts[] = {
      "local t = {} for k = 1, 1e9 do t[k] = ('x'):rep(100000) .. k end",
      "local s = 'x' for _ = 1, 40 do s = s .. s end",
      "local _ = ('x'):rep(1 << 30)",
  };
  for (int k = 0; k < SCT_COUNT(scripts); k++) {
    assert_int_equal(load(scripts[k]), SCT_ESPEC);
    char place[300];
    snprintf(place, sizeof place, "%s:1: error: the script ", path_of("spec.lua"));
    assert_true(sct_has_prefix(err.text, place)); /* too much memory, or too long for it */
  }
}

/* Few instructions and little time, so that only the cap can stop it. */
static void test_memory_cap(void **state) {
  (void)state;
  assert_fails("local _ = ('x'):rep(150000000)", "spec.lua", 1, "the script needs too much memory");
  assert_fails("local _ = ('x'):rep(50000000)\nerror 'fits'", "spec.lua", 2, "fits");
}

static void test_deep_recursion(void **state) {
  (void)state;
  assert_fails("local function f(n) return 1 + f(n + 1) end f(1)", "spec.lua", 1, "stack overflow");
  assert_fails("local s = ('('):rep(300) local _ = #s\nlocal x = ((((1 + nil))))", "spec.lua", 2,
               "attempt to perform arithmetic on a nil value");
}

static void test_nothing_to_reach(void **state) {
  (void)state;
  static const char *const names[] = {
      "io",        "os",         "debug",    "package",        "load",    "loadfile",
      "dofile",    "print",      "next",     "collectgarbage", "utf8",    "_G",
      "coroutine", "loadstring", "newproxy", "module",         "_ENV.io", "warn",
  };
  for (int k = 0; k < SCT_COUNT(names); k++) {
    char script[64];
    snprintf(script, sizeof script, "local x = %s", names[k]);
    assert_fails(script, "spec.lua", 1, "unknown name '");
  }
  assert_fails("local x = string.dump", "spec.lua", 1, "string has no 'dump'");
  assert_fails("local x = ('x').dump(error)", "spec.lua", 1, "attempt to call a nil value");
  assert_fails("local x = math.randomseed", "spec.lua", 1, "math has no 'randomseed'");
}

static void test_nothing_to_break(void **state) {
  (void)state;
  assert_fails("x = 1", "spec.lua", 1, "assignment to global 'x'; write `local x` in front");
  assert_fails("string.rep = 1", "spec.lua", 1, "string is read-only");
  assert_fails("local s = require 'sectile' s.aos = 1", "spec.lua", 1, "sectile is read-only");
  assert_fails("local s = require 'sectile' s.aos.name = 'soa'", "spec.lua", 1,
               "a layout is read-only");
  assert_fails("rawset(getmetatable('').__index, 'x', 1)", "spec.lua", 1,
               "attempt to index a boolean");
  assert_fails("setmetatable(_ENV, {})", "spec.lua", 1, "cannot change a protected metatable");
  assert_fails("setmetatable({}, { __gc = function() end })", "spec.lua", 1, "may not have __gc");
  assert_fails("local a = getmetatable(_ENV) a.__index = 1", "spec.lua", 1,
               "attempt to index a boolean");
}

static void test_binary_chunks(void **state) {
  (void)state;
  assert_fails("\x1bLua", "spec.lua", 1, "attempt to load a binary chunk");
  write_file("bytes.lua", "\x1bLua\x54");
  assert_fails("\ninclude 'bytes.lua'", "bytes.lua", 1, "attempt to load a binary chunk");
}

static void test_same_on_every_run(void **state) {
  (void)state;
  static const char script[] =
      "local t = {} for k = 1, 50 do t['k' .. math.random(1000000)] = true end\n"
      "local out = {} for k in pairs(t) do out[#out + 1] = k end\n"
      "error(table.concat(out, ','))";
  assert_int_equal(load(script), SCT_ESPEC);
  char first[sizeof err.text];
  memcpy(first, err.text, sizeof first);
  assert_int_equal(load(script), SCT_ESPEC);
  assert_string_equal(err.text, first);
}

static void test_pairs_is_sorted(void **state) {
  (void)state;
  assert_fails("local t = { b = 1, [3] = 1, a = 1, [1] = 1, [2.5] = 1, [true] = 1, [false] = 1 }\n"
               "local out = {} for k in pairs(t) do out[#out + 1] = tostring(k) end\n"
               "error(table.concat(out, ' '))",
               "spec.lua", 3, "1 2.5 3 a b false true");
  assert_fails("local t = { a = 1, b = 2, c = 3 } local n = 0\n"
               "for k, v in pairs(t) do t.b = nil n = n + v end error('sum ' .. n)",
               "spec.lua", 2, "sum 4"); /* b is gone when its turn comes */
}

static void test_xpcall(void **state) {
  (void)state;
  assert_fails("local ok, a, b = xpcall(function(x, y) return x + y, y end, error, 3, 4)\n"
               "assert(ok and a == 7 and b == 4)\n"
               "local bad, text = xpcall(function() error 'inner' end, function(e) return #e > 9 "
               "and 'long' end)\n"
               "error(tostring(bad) .. text)",
               "spec.lua", 4, "falselong");
}

static void test_random_stays_in_its_interval(void **state) {
  (void)state;
  assert_fails("for _ = 1, 1000 do\n"
               "  local x, y, z = math.random(), math.random(7), math.random(-3, 3)\n"
               "  assert(x >= 0 and x < 1 and y >= 1 and y <= 7 and z >= -3 and z <= 3)\n"
               "end\n"
               "assert(math.random(math.mininteger, math.maxinteger))",
               "spec.lua", 5, "interval is empty or too large");
}

/* ---- files ---- */

static void test_include(void **state) {
  (void)state;
  write_file("part.lua", "return { value = 42 }");
  assert_fails("local a, b = include 'part.lua', include 'part.lua'\n"
               "error(a.value .. tostring(a == b))",
               "spec.lua", 2, "42true");
  write_file("broken.lua", "\n\nlocal x = = 3");
  assert_fails("include 'broken.lua'", "broken.lua", 3, "unexpected symbol near '='");
  assert_fails("include 'absent.lua'", "spec.lua", 1, "there is no file 'absent.lua'");
}

static void test_no_way_out_of_the_folder(void **state) {
  (void)state;
  assert_int_equal(symlink("/etc/passwd", path_of("link.lua")), 0);
  assert_int_equal(symlink("/etc", path_of("etc")), 0);
  assert_int_equal(mkdir(path_of("sub"), 0700), 0);
  write_file("sub/ok.lua", "return 1");
  assert_int_equal(symlink("sub/ok.lua", path_of("inside.lua")), 0);
  assert_fails("include '/etc/passwd'", "spec.lua", 1, "outside the spec's folder");
  assert_fails("include '../etc/passwd'", "spec.lua", 1, "outside the spec's folder");
  assert_fails("include 'sub/../../x.lua'", "spec.lua", 1, "outside the spec's folder");
  assert_fails("include 'link.lua'", "spec.lua", 1, "leads out of the spec's folder");
  assert_fails("include 'etc/passwd'", "spec.lua", 1, "leads out of the spec's folder");
  assert_fails("include 'sub'", "spec.lua", 1, "sub");
  assert_fails("assert(include 'sub/ok.lua' == 1)\nassert(include 'inside.lua' == 1)\nerror 'fine'",
               "spec.lua", 3, "fine"); /* a link that stays inside is no escape */
  assert_fails("local s = require 'sectile'\ns.layout '/etc/passwd.lua'", "spec.lua", 2,
               "outside the spec's folder");
  assert_fails("require 'os'", "spec.lua", 1, "there is no module 'os'; did you mean 'sectile'?");
  assert_fails("require 'sectile.../x'", "spec.lua", 1, "there is no module");
}

/* ---- messages ---- */

static void test_messages(void **state) {
  (void)state;
  assert_fails("local x = 1\nlocal y = x.a.b", "spec.lua", 2,
               "attempt to index a number value (local 'x')\n    local y = x.a.b");
  assert_fails("error 'plain'", "spec.lua", 1, "plain\n    error 'plain'");
  assert_int_equal(load("error({})"), SCT_ESPEC);
  assert_string_equal(err.text, "error: the script raised a table value");
  assert_int_equal(load("error()"), SCT_ESPEC);
  assert_string_equal(err.text, "error: the script raised a nil value");
  assert_fails("local x = strng.rep", "spec.lua", 1,
               "unknown name 'strng'; did you mean 'string'?");
  assert_fails("local x = ('x'):rep(2).y.z", "spec.lua", 1, "attempt to index a nil value");
  assert_fails("  local a = = 1", "spec.lua", 1, "unexpected symbol near '='\n    local a = = 1");
}

/* Lua shortens long file names in its messages; ours have them whole. */
static void test_long_paths(void **state) {
  (void)state;
  char name[240] = "";
  for (int k = 0; k < 20; k++) {
    strcat(name, "a_folder/");
  }
  strcat(name, "spec.lua");
  memset(&err, 0, sizeof err);
  assert_int_equal(sct_script_load_spec_text(&spec, name, "\nerror 'here'", &err), SCT_ESPEC);
  assert_true(sct_has_prefix(err.text, name));
  assert_non_null(strstr(err.text, "spec.lua:2: error: here\n    error 'here'"));
}

static void test_not_a_kernel(void **state) {
  (void)state;
  static const char *const scripts[] = {"return", "return 1", "return {}",
                                        "return { kind = 'kernel', place = {} }",
                                        "return require('sectile').aos"};
  for (int k = 0; k < SCT_COUNT(scripts); k++) {
    assert_fails(scripts[k], "spec.lua", 1, "a spec script ends with `return s.kernel { ... }`");
  }
}

static void test_files_that_are_no_text(void **state) {
  (void)state;
  FILE *file = fopen(path_of("zero.lua"), "wb");
  assert_non_null(file);
  assert_int_equal(fwrite("return 1\0", 1, 9, file), 9);
  fclose(file);
  assert_int_equal(sct_script_load_spec(&spec, path_of("zero.lua"), &err), SCT_ESPEC);
  assert_non_null(strstr(err.text, "zero byte"));
  assert_int_equal(sct_script_load_spec(&spec, path_of("none.lua"), &err), SCT_EIO);
  assert_non_null(strstr(err.text, "none.lua"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_endless_loops),
      cmocka_unit_test(test_patterns),
      cmocka_unit_test(test_work_by_the_megabyte),
      cmocka_unit_test(test_memory),
      cmocka_unit_test(test_memory_cap),
      cmocka_unit_test(test_deep_recursion),
      cmocka_unit_test(test_nothing_to_reach),
      cmocka_unit_test(test_nothing_to_break),
      cmocka_unit_test(test_binary_chunks),
      cmocka_unit_test(test_same_on_every_run),
      cmocka_unit_test(test_pairs_is_sorted),
      cmocka_unit_test(test_xpcall),
      cmocka_unit_test(test_random_stays_in_its_interval),
      cmocka_unit_test(test_include),
      cmocka_unit_test(test_no_way_out_of_the_folder),
      cmocka_unit_test(test_messages),
      cmocka_unit_test(test_long_paths),
      cmocka_unit_test(test_not_a_kernel),
      cmocka_unit_test(test_files_that_are_no_text),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
