/* The sandbox: hostile scripts end quickly, with a line, and get at nothing. */
#include "script_test.h"

/* With a tenth of the steps that scripts have, to be quick. */
static void assert_stopped(const char *const *scripts, int n, const char *says) {
  setenv("SECTILE_SCRIPT_STEPS", "2000000", 1);
  for (int k = 0; k < n; k++) {
    assert_fails(scripts[k], "spec.lua", 1, says);
  }
  unsetenv("SECTILE_SCRIPT_STEPS");
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
      "while true do local _ = ('x'):rep(500000) end",
      "local s = ('x'):rep(500000) while true do local _ = s .. s end",
      "while true do pcall(string.rep, 'x', 10000000) end",
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
      "local t = {} for k = 1, 1e9 do t[k] = {} end",
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
  assert_fails("local s, t = ('x'):rep(1000), {} for k = 1, 150 do t[k] = s:rep(1000) end",
               "spec.lua", 1, "the script needs too much memory");
  assert_fails("local s, t = ('x'):rep(1000), {} for k = 1, 50 do t[k] = s:rep(1000) end\n"
               "error 'fits'",
               "spec.lua", 2, "fits");
  assert_fails("local s = ('x'):rep(1 << 20)", "spec.lua", 1, "a text of more than 1 MiB");
  assert_fails("local s = ('x'):rep(1 << 62, 'y')", "spec.lua", 1, "a text of more than 1 MiB");
  assert_fails("local s = ('x'):rep((1 << 20) - 100)\nerror('' .. #s)", "spec.lua", 2, "1048476");
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

/* What scripts are checked with is out of their reach, in folders that are called as ours too. */
static void test_checks_are_out_of_reach(void **state) {
  (void)state;
  assert_fails("rawset(_ENV, 'type', error)", "spec.lua", 1, "this table is read-only");
  assert_fails("rawset(string, 'format', error)", "spec.lua", 1, "this table is read-only");
  assert_fails("error('' .. rawset({}, 'a', 7).a)", "spec.lua", 1, "7");
  assert_fails("require 'sectile.check'", "spec.lua", 1, "there is no module 'sectile.check'");
  assert_fails("error(select(2, pcall(require, 'sectile.check')))", "spec.lua", 1,
               "there is no module 'sectile.check'");
  assert_int_equal(
      sct_script_load_spec_text(&spec, "tuning/sectile/check.lua", "require 'sectile.check'", &err),
      SCT_ESPEC);
  assert_true(sct_has_prefix(err.text, "./tuning/sectile/check.lua:1: error: there is no module"));
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

/* C functions that loop as often as a script says, where no hook fires. */
static void test_loops_in_c(void **state) {
  (void)state;
  assert_fails("assert((''):rep(math.maxinteger) == '')\nerror 'done'", "spec.lua", 2, "done");
  assert_fails("assert((''):rep(-1, 'x') == '' and ('a'):rep(3, ',') == 'a,a,a')\nerror 'done'",
               "spec.lua", 2, "done");
  static const char *const calls[] = {"insert(t, 1, 0)", "remove(t, 1)", "concat(t)", "unpack(t)",
                                      "sort(t)"};
  for (int k = 0; k < SCT_COUNT(calls); k++) {
    char script[256];
    snprintf(script, sizeof script,
             "local t = setmetatable({}, { __len = function() return 1 << 50 end })\ntable.%s",
             calls[k]);
    assert_fails(script, "spec.lua", 2, "plain table");
  }
  assert_fails("local t = setmetatable({}, { __index = rawlen })\n"
               "table.concat(t, '', 1, 1 << 60)",
               "spec.lua", 2, "plain table");
  assert_fails("while true do pcall(table.unpack, {}, 1, 900000) end", "spec.lua", 1,
               "the script ran too long");
  assert_fails("table.concat({}, '', 1, math.maxinteger)", "spec.lua", 1,
               "the script ran too long");
  assert_fails(
      "local l = require('sectile').choose local t = table.concat({ 1, 2 }, '-')\nerror(t)",
      "spec.lua", 2, "1-2");
}

static void test_expressions_of_shared_parts(void **state) {
  (void)state;
  write_file("dag.lua", "return { name = 'dag', bytes = function(l, ext) return ext[1] * 4 end,\n"
                        "  offset = function(l, f, idx, ext)\n"
                        "    local x = idx[1]\n"
                        "    for _ = 1, 60 do x = x // 3 + x % 5 end\n"
                        "    return x\n"
                        "  end }");
  assert_fails("local s = require 'sectile'\n"
               "return s.kernel { name = 'k', dims = { 'i' }, body = 'b = 1;',\n"
               "  outputs = { s.array('b', 'f32', s.layout 'dag.lua') }, sizes = { { i = 9 } } }",
               "dag.lua", 4, "the result of this arithmetic is too large");
}

/* What differs from run to run is not to be seen: addresses, the order of a hash, the clock. */
static void test_nothing_random_to_see(void **state) {
  (void)state;
  assert_fails("error(tostring({}) .. tostring(print == nil) .. tostring(error))", "spec.lua", 1,
               "unknown name 'print'");
  assert_fails("error(tostring({}) .. tostring(error) .. ('%s|%5s|%q'):format({}, error, 'x'))",
               "spec.lua", 1, "tablefunctiontable|function|\"x\"");
  assert_fails("error(('%d%% %s %s'):format(7, setmetatable({}, { __tostring = function() return "
               "'own' end }), nil))",
               "spec.lua", 1, "7% own nil");
  assert_fails("error(('%p'):format({}))", "spec.lua", 1, "has no %p here");
  assert_fails("error(('%-5p'):format({}))", "spec.lua", 1, "has no %p here");
  assert_fails("error(('%'):format(1))", "spec.lua", 1, "invalid conversion '%'");
  assert_fails("for _ in pairs { [{}] = 1, [{}] = 2 } do end", "spec.lua", 1, "have no order");
  assert_fails("for k in pairs { [error] = 1, a = 2 } do error(k) end", "spec.lua", 1, "a");
  assert_fails("setmetatable({}, { __mode = 'k' })", "spec.lua", 1, "may not have __mode");
}

static void test_sort(void **state) {
  (void)state;
  assert_fails("local t = {} for k = 1, 300 do t[k] = (k * 7919) % 301 end table.sort(t)\n"
               "for k = 2, #t do assert(t[k - 1] <= t[k]) end\n"
               "table.sort(t, function(a, b) return a > b end)\n"
               "for k = 2, #t do assert(t[k - 1] >= t[k]) end\n"
               "local p = { 'b1', 'a1', 'b2', 'a2', 'b3' }\n"
               "table.sort(p, function(a, b) return a:sub(1, 1) < b:sub(1, 1) end)\n"
               "error(table.concat(p, ' '))",
               "spec.lua", 7, "a1 a2 b1 b2 b3");
  assert_fails("local t = {} for k = 1, 999 do t[k] = k end\n"
               "table.sort(t, function() return true end)\n"
               "table.sort({ 2, 'x' })",
               "spec.lua", 3, "attempt to compare");
  assert_fails("table.sort({ 1, 2 }, 3)", "spec.lua", 1, "function expected");
}

/* ---- files ---- */

static void test_files_that_would_block(void **state) {
  (void)state;
  assert_int_equal(mkfifo(path_of("pipe.lua"), 0600), 0);
  assert_fails("include 'pipe.lua'", "spec.lua", 1, "it is not a regular file");
  assert_int_equal(sct_script_load_spec(&spec, path_of("pipe.lua"), &err), SCT_EIO);
  assert_non_null(strstr(err.text, "it is not a regular file"));
  assert_int_equal(sct_script_load_spec(&spec, "/dev/zero", &err), SCT_EIO);
  write_file("large.lua", "return 1");
  assert_int_equal(truncate(path_of("large.lua"), (1 << 20) + 1), 0);
  assert_fails("include 'large.lua'", "spec.lua", 1, "larger than 1 MiB");
  write_file("self.lua", "return include 'other.lua'");
  write_file("other.lua", "\nreturn include 'self.lua'");
  assert_fails("include 'self.lua'", "other.lua", 2, "'self.lua' includes itself");
  write_file("mark.lua", "\xef\xbb\xbfreturn 42\r\n");
  assert_fails("error('' .. include 'mark.lua')", "spec.lua", 1, "42");
  write_file("a..b.lua", "return 43");
  assert_fails("error('' .. include 'a..b.lua')", "spec.lua", 1, "43");
}

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
  assert_fails("include '/etc/passwd'", "spec.lua", 1, "outside the spec's directory");
  assert_fails("include '../etc/passwd'", "spec.lua", 1, "outside the spec's directory");
  assert_fails("include 'sub/../../x.lua'", "spec.lua", 1, "outside the spec's directory");
  assert_fails("include 'link.lua'", "spec.lua", 1, "leads out of the spec's directory");
  assert_fails("include 'etc/passwd'", "spec.lua", 1, "leads out of the spec's directory");
  assert_fails("include 'sub'", "spec.lua", 1, "sub");
  assert_fails("assert(include 'sub/ok.lua' == 1)\nassert(include 'inside.lua' == 1)\nerror 'fine'",
               "spec.lua", 3, "fine"); /* a link that stays inside is no escape */
  assert_fails("local s = require 'sectile'\ns.layout '/etc/passwd.lua'", "spec.lua", 2,
               "outside the spec's directory");
  assert_fails("require 'os'", "spec.lua", 1, "there is no module 'os'; did you mean 'sectile'?");
  assert_fails("require 'sectile.../x'", "spec.lua", 1, "there is no module");
}

/* ---- messages ---- */

static void test_messages(void **state) {
  (void)state;
  assert_fails("local x = 1\nlocal y = x.a.b", "spec.lua", 2,
               "attempt to index a number value (local 'x')\n    local y = x.a.b");
  assert_fails("error 'plain'", "spec.lua", 1, "plain\n    error 'plain'");
  assert_fails("\nerror({})", "spec.lua", 2, "the script raised a table value\n    error({})");
  assert_fails("\nerror()", "spec.lua", 2, "the script raised a nil value");
  assert_fails("\nerror('no place', 0)", "spec.lua", 2, "no place");
  assert_fails("\nassert(false, 'no place')", "spec.lua", 2, "no place");
  assert_fails("\nerror('/etc/shadow:1: a place made up', 0)", "spec.lua", 2,
               "/etc/shadow:1: a place made up");
  assert_fails("error('\\27[2J\\r\\0\\127', 0)", "spec.lua", 1, "\\x1b[2J\\x0d");
  assert_fails("error('\\xc2\\x9b2J\\u{e4}', 0)", "spec.lua", 1, "\\x9b2J\xc3\xa4");
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
      cmocka_unit_test(test_checks_are_out_of_reach),
      cmocka_unit_test(test_binary_chunks),
      cmocka_unit_test(test_same_on_every_run),
      cmocka_unit_test(test_pairs_is_sorted),
      cmocka_unit_test(test_xpcall),
      cmocka_unit_test(test_random_stays_in_its_interval),
      cmocka_unit_test(test_loops_in_c),
      cmocka_unit_test(test_expressions_of_shared_parts),
      cmocka_unit_test(test_nothing_random_to_see),
      cmocka_unit_test(test_sort),
      cmocka_unit_test(test_files_that_would_block),
      cmocka_unit_test(test_include),
      cmocka_unit_test(test_no_way_out_of_the_folder),
      cmocka_unit_test(test_messages),
      cmocka_unit_test(test_long_paths),
      cmocka_unit_test(test_not_a_kernel),
      cmocka_unit_test(test_files_that_are_no_text),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
