/* Strategy files: what their fields become, and every kind of mistake with its place and the
 * nearest legal name. */
#include "script_test.h"

#include "space/space.h"

static sct_device_desc device;
static sct_script *script;
static sct_space space;

#define SPEC                                                                                       \
  "local s = require 'sectile'\n"                                                                  \
  "return s.kernel { name = 'move', dims = { 'i' }, inputs = { s.array('a', 'f32') },\n"           \
  "  outputs = { s.array('b', 'f32') }, body = 'b = a;', sizes = { { i = 4096 } } }\n"

/* Loads a spec and the strategy file "own/probe.lua" beside the built-in ones. */
static sct_status open_strategy_of(const char *spec_text, const char *text) {
  sct_error ignored;
  (void)mkdir(path_of("own"), 0700);
  write_file("own/probe.lua", text);
  load_ok(spec_text);
  assert_int_equal(sct_script_load_device(&device, "h200", &ignored), SCT_OK);
  script = NULL;
  memset(&space, 0, sizeof space);
  sct_status status = sct_script_new(&script, &spec, &device, path_of("own"), &err);
  if (status == SCT_OK) {
    status = sct_script_space(&space, script, &err);
  }
  return status == SCT_OK ? sct_space_enumerate(&space, &err) : status;
}

static sct_status open_strategy(const char *text) {
  return open_strategy_of(SPEC, text);
}

static void close_strategy(void) {
  sct_space_free(&space);
  sct_script_free(script);
  sct_spec_free(&spec);
}

static sct_strategy *opened(const char *text) {
  if (open_strategy(text) != SCT_OK) {
    fail_msg("%s\n---\n%s", err.text, text);
  }
  sct_strategy *last = &space.strategies[space.n_strategies - 1]; /* own ones after the built-in */
  assert_true(sct_has_suffix(last->file, "own/probe.lua"));
  return last;
}

/* The file is turned down at this line (0: any) with these words. */
static void assert_bad(const char *text, int line, const char *says) {
  const sct_status status = open_strategy(text);
  char place[300];
  snprintf(place, sizeof place, "%s:%d: error: ", path_of("own/probe.lua"), line);
  if (status != SCT_ESPEC || !sct_has_prefix(err.text, place) || !strstr(err.text, says)) {
    fail_msg("expected %s ... \"%s\", got %s\n---\n%s", place, says,
             status == SCT_OK ? "no error" : err.text, text);
  }
  close_strategy();
}

/* A strategy with one more field, on line 3. */
#define WITH(field)                                                                                \
  "return {\n"                                                                                     \
  "  name = 'probe', template = 'direct.cu',\n"                                                    \
  "  " field ",\n"                                                                                 \
  "  plan = function(k, c) return { kernel = 'x' } end,\n"                                         \
  "}\n"
#define AXES(axes) WITH("axes = { " axes " }")

/* ---- good ones ---- */

static void fields_become_data(void **state) {
  (void)state;
  const sct_strategy *s = opened(
      WITH("doc = 'words', where = { 'threads * items <= 512' }, facts = { { 'lot', 7 } },\n"
           "  axes = { { 'threads', { 64, 128 }, key = 't', doc = 'how many', neutral = 128 },\n"
           "    { 'items', { 1, 2, 8 }, when = 'threads > 64' },\n"
           "    { 'mode', { 'fast', 'slow' } }, { 'pad', { false, true } } }"));
  assert_string_equal(s->name, "probe");
  assert_string_equal(s->doc, "words");
  assert_string_equal(s->template_name, "direct.cu");
  assert_true(s->applies);
  assert_null(s->why_not);
  assert_int_equal(s->n_axes, 4);
  assert_string_equal(s->axes[0].name, "threads");
  assert_string_equal(s->axes[0].key, "t");
  assert_string_equal(s->axes[0].doc, "how many");
  assert_int_equal(s->axes[0].neutral, 1);
  assert_string_equal(s->axes[1].key, "items"); /* without a key, the name */
  assert_string_equal(s->axes[1].when, "threads > 64");
  assert_int_equal(s->axes[1].neutral, 0);
  assert_string_equal(s->axes[2].values[1].text, "slow");
  assert_true(s->axes[2].values[1].is_string);
  assert_true(s->axes[3].values[1].is_bool);
  assert_int_equal(s->axes[3].values[1].number, 1);
  assert_int_equal(s->n_where, 1);
  assert_int_equal(s->n_facts, 1);
  assert_string_equal(s->facts[0].name, "lot");
  assert_int_equal(s->facts[0].value, 7);
  int n = 0;
  for (size_t k = 0; k < space.n_candidates; k++) {
    n += space.candidates[k].strategy == space.n_strategies - 1;
  }
  /* t64: items collapse to 1; t128: 1 and 2, 8 is too many; each with 2 modes and 2 pads */
  assert_int_equal(n, (1 + 2) * 4);
  close_strategy();
}

static void fields_may_be_functions_of_the_kernel(void **state) {
  (void)state;
  const sct_strategy *s =
      opened(WITH("axes = function(k) return { { 'n', { #k.operands, 9 } } } end,\n"
                  "  where = function(k) return { 'n <= ' .. #k.operands } end,\n"
                  "  facts = function(k) return { { 'bytes', k.operands[1].record.bytes } } end"));
  assert_int_equal(s->axes[0].values[0].number, 2);
  assert_string_equal(s->where[0].text, "n <= 2");
  assert_int_equal(s->facts[0].value, 4);
  close_strategy();
}

static void the_first_reason_not_to_apply_is_kept(void **state) {
  (void)state;
  const sct_strategy *s =
      opened(WITH("applies = { { 'always', function(k) return true end },\n"
                  "    { 'three operands', function(k) return #k.operands == 3 end },\n"
                  "    { 'never asked', function(k) error('asked') end } },\n"
                  "  axes = function(k) error('not for one that does not apply') end"));
  assert_false(s->applies);
  assert_string_equal(s->why_not, "three operands");
  assert_int_equal(s->n_axes, 0);
  for (size_t k = 0; k < space.n_candidates; k++) {
    assert_true(space.candidates[k].strategy < space.n_strategies - 1);
  }
  close_strategy();
}

static void direct_is_first_and_own_files_stand_behind_by_name(void **state) {
  (void)state;
  (void)mkdir(path_of("own"), 0700);
  write_file("own/a_first.lua", "return { name = 'a_first', template = 'direct.cu', axes = {},\n"
                                "  plan = function() return nil, 'no' end }\n");
  write_file("own/notes.md", "not a strategy");
  opened(AXES(""));
  assert_string_equal(space.strategies[0].name, "direct");
  assert_string_equal(space.strategies[space.n_strategies - 2].name, "a_first");
  assert_int_equal(unlink(path_of("own/a_first.lua")), 0);
  close_strategy();
}

/* ---- mistakes ---- */

static void unknown_keys_name_the_nearest(void **state) {
  (void)state;
  assert_bad("return { name = 'probe', template = 'direct.cu', axis = {} }\n", 1,
             "unknown field 'axis' in a strategy; did you mean 'axes'?");
  assert_bad("return { name = 'probe', template = 'direct.cu', axes = {}, pln = 1 }\n", 1,
             "did you mean 'plan'?");
  assert_bad("return { name = 'probe', template = 'direct.cu', axes = {}, banana = 1 }\n", 1,
             "expected one of name, doc, applies, axes, taps, where, facts, template, plan");
  assert_bad("return { name = 'probe', template = 'direct.cu',\n"
             "  axes = { { 'a', { 1 }, nuetral = 1 } } }\n",
             2, "unknown field 'nuetral' in an axis; did you mean 'neutral'?");
}

static void what_must_be_there_is_asked_for(void **state) {
  (void)state;
  static const char *const texts[] = {
      "return { template = 'direct.cu', axes = {} }\n",
      "return { name = 'probe', axes = {} }\n",
      "return { name = 'two words', template = 'direct.cu', axes = {} }\n",
      "return { name = '', template = 'direct.cu', axes = {} }\n",
      "return {}\n",
  };
  for (int k = 0; k < SCT_COUNT(texts); k++) {
    assert_bad(texts[k], 1,
               "a strategy has a name (an identifier, at most 48 letters) and a template");
  }
  assert_bad("return { name = 'probe', template = 'direct.cu' }\n", 1, "'axes' is a list of axes");
}

static void text_fields_are_text(void **state) {
  (void)state;
  assert_bad("return { name = 7, template = 'direct.cu', axes = {} }\n", 1,
             "'name' of the strategy is a string, not a number");
  assert_bad("return { name = 'probe', template = {}, axes = {} }\n", 1,
             "'template' of the strategy is a string, not a table");
  assert_bad("return { name = 'probe', template = 'x', doc = true, axes = {} }\n", 1,
             "'doc' of the strategy is a string, not a boolean");
}

static void axes_are_checked(void **state) {
  (void)state;
  static const struct {
    const char *text, *says;
  } cases[] = {
      {WITH("axes = 'threads'"), "'axes' is a list of axes"},
      {AXES("'threads'"), "an entry of 'axes' is a table { name, values }, not a string"},
      {AXES("{ 7, { 1 } }"), "an entry of 'axes' begins with its name"},
      {AXES("{ 'a b', { 1 } }"), "an entry of 'axes' begins with its name"},
      {AXES("{}"), "an entry of 'axes' begins with its name"},
      {AXES("{ 'threads' }"), "axis 'threads' has no values: write { \"threads\", { 1, 2, 4 } }"},
      {AXES("{ 'threads', {} }"), "axis 'threads' has no values"},
      {AXES("{ 'threads', 128 }"), "axis 'threads' has no values"},
      {AXES("{ 'threads', { 1.5 } }"),
       "axis 'threads': a value is an integer, a string or a boolean, not a number"},
      {AXES("{ 'threads', { 64, {} } }"), "a boolean, not a table"},
      {AXES("{ 'threads', { 64, 128 }, neutral = 96 }"),
       "axis 'threads': its neutral value is none of its values"},
      {AXES("{ 'pad', { false, true }, neutral = 1 }"), "its neutral value is none of its values"},
      {AXES("{ 'mode', { 'a', 'b' }, neutral = 'c' }"), "its neutral value is none of its values"},
      {AXES("{ 'mode', { 'a', 'b' }, neutral = {} }"), "a boolean, not a table"},
  };
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    assert_bad(cases[k].text, 3, cases[k].says);
  }
}

/* These are found by the space, which looks for the line where the text stands. */
static void axes_that_clash_are_told_with_their_line(void **state) {
  (void)state;
  assert_bad(AXES("{ 'ways', { 1, 2 } }, { 'ways', { 3 } }"), 3, "two axes are called 'ways'");
  assert_bad(AXES("{ 'ways', { 1 }, key = 'w' }, { 'words', { 3 }, key = 'w' }"), 3,
             "two axes have the key 'w'");
  assert_bad(AXES("{ 'ways', { 1, 2, 1 } }"), 3, "axis 'ways' has a value twice");
}

static void too_many_axes_are_refused(void **state) {
  (void)state;
  assert_bad(WITH("axes = function(k)\n    local all = {}\n"
                  "    for n = 1, 25 do all[n] = { 'a' .. n, { 1 } } end\n    return all\n  end"),
             1, "25 axes; at most 24 are possible");
}

static void conditions_name_the_nearest_axis(void **state) {
  (void)state;
  assert_bad(WITH("axes = { { 'threads', { 64 } } }, where = { 'thraeds <= 64' }"), 3, "threads");
  assert_bad(WITH("axes = { { 'threads', { 64 } } },\n  where = { 'threads <= ' }"), 4,
             "constraint \"threads <= \"");
  assert_bad(WITH("axes = { { 'mode', { 'fast', 'slow' } } },\n  where = { 'mode == \"fats\"' }"),
             4, "no axis has the value 'fats'; did you mean 'fast'?");
  /* a condition sees the axes before its own only */
  assert_bad(AXES("{ 'ways', { 1, 2 }, when = 'items > 1' },\n    { 'items', { 1, 2 } }"), 3,
             "condition \"items > 1\"");
  assert_bad(WITH("axes = {}, where = { 7 }"), 3, "an entry of 'where' is text");
}

static void facts_have_a_shape(void **state) {
  (void)state;
  static const char *const bad[] = {
      WITH("axes = {}, facts = { { 'bytes' } }"), WITH("axes = {}, facts = { { 'bytes', 1.5 } }"),
      WITH("axes = {}, facts = { { 4, 'bytes' } }"), WITH("axes = {}, facts = { { 'b', '4' } }")};
  for (int k = 0; k < SCT_COUNT(bad); k++) {
    assert_bad(bad[k], 3, "an entry of 'facts' is { name, integer }");
  }
}

/* A list given as a single value would otherwise be no list at all, and nothing would hold. */
static void lists_that_are_none_are_refused(void **state) {
  (void)state;
  assert_bad(WITH("axes = {}, where = 'threads <= 64'"), 3, "'where' is a list");
  assert_bad(WITH("axes = {}, where = function(k) return 'true' end"), 3, "'where' is a list");
  assert_bad(WITH("axes = {}, facts = 7"), 3, "'facts' is a list");
  assert_bad(WITH("axes = {}, applies = true"), 3, "'applies' is a list");
  assert_bad(WITH("axes = {}, facts = { 'bytes' }"), 3, "an entry of 'facts' is { name, integer }");
  assert_bad(WITH("axes = {}, applies = { 'always' }"), 3, "an entry of 'applies' is");
}

/* Each combination of layouts may take a script as long as one alone, not all of them together. */
static void every_layout_has_a_budget(void **state) {
  (void)state;
  static const char *const spec_text =
      "local s = require 'sectile'\n"
      "local r = s.record { { 'x', 'f32' }, { 'y', 'f32' } }\n"
      "return s.kernel { name = 'move', dims = { 'i' },\n"
      "  inputs = { s.array('a', r, s.choose { s.aos, s.soa, s.aosoa { lanes = 32 } }) },\n"
      "  outputs = { s.array('b', r, s.choose { s.aos, s.soa }) }, body = 'b = a;',\n"
      "  sizes = { { i = 4096 } } }\n";
  assert_int_equal(
      open_strategy_of(spec_text, WITH("axes = {}, applies = { { 'words', function(k)\n"
                                       "    for n = 1, 9000000 do end return false\n"
                                       "  end } }")),
      SCT_OK);
  close_strategy();
  assert_bad(WITH("axes = {}, applies = { { 'words', function(k)\n"
                  "    for n = 1, 21000000 do end return false\n"
                  "  end } }"),
             4, "the script ran too long");
}

/* Where the index space is empty there is the naive variant alone: others may divide by extents. */
static void empty_sizes_are_not_asked_about(void **state) {
  (void)state;
  assert_int_equal(
      open_strategy_of("local s = require 'sectile'\n"
                       "return s.kernel { name = 'move', dims = { 'i' },\n"
                       "  inputs = { s.array('a', 'f32') }, outputs = { s.array('b', 'f32') },\n"
                       "  body = 'b = a;', sizes = { { i = 0 }, { i = 4096 } } }\n",
                       WITH("axes = { { 'n', { 1 } } },\n"
                            "  facts = function(k) return { { 'n', 8192 // k.sizes[1][1] } } end")),
      SCT_OK);
  const sct_strategy *full = &space.strategies[space.n_strategies - 1], *empty = full - 1;
  assert_false(empty->applies);
  assert_true(empty->sizes[0] && !empty->sizes[1]);
  assert_true(full->applies && full->sizes[1]);
  assert_int_equal(full->facts[0].value, 2);
  close_strategy();
}

static void applies_has_a_shape(void **state) {
  (void)state;
  assert_bad(WITH("axes = {}, applies = { { 'always' } }"), 3,
             "an entry of 'applies' is { condition in words, function(k) }");
  assert_bad(WITH("axes = {}, applies = { { function(k) return true end } }"), 3,
             "an entry of 'applies' is");
}

static void lua_errors_keep_their_line(void **state) {
  (void)state;
  assert_bad("return {\n  name = 'probe'\n  template = 'x' }\n", 3, "'}' expected");
  assert_bad("local t\nlocal x = 1\nreturn t.name\n", 3, "nil");
  assert_bad(
      WITH("axes = {}, applies = { { 'x', function(k)\n    return k.nothing.here\n  end } }"), 4,
      "nil");
  assert_bad(WITH("axes = function(k)\n    local n = 1\n    return n + k.name.x.y\n  end"), 5,
             "nil");
  assert_bad("error('my own words')\n", 1, "my own words");
  assert_bad("return require('os')\n", 1, "os");
  assert_bad("while true do end\n", 1, "budget");
}

/* What strategies share is not theirs to change; a global `__gc` was once a finaliser. */
static void names_are_read_only(void **state) {
  (void)state;
  assert_bad("\n__gc = function() while true do end end\nreturn {}\n", 2,
             "assignment to global '__gc'");
  assert_bad("kit = nil\nreturn {}\n", 1, "assignment to global 'kit'");
  assert_bad("getmetatable(_ENV).__index = {}\nreturn {}\n", 1, "attempt to index a boolean");
  assert_bad("return setmetatable({}, { __len = function() return 1 << 31 end,\n"
             "  __index = { name = 'probe', template = 'direct.cu' } })\n",
             1, "'axes' is a list");
}

static void lists_are_bounded(void **state) {
  (void)state;
  assert_bad("local v = {} for k = 1, 5000 do v[k] = k end\n"
             "return { name = 'probe', template = 'direct.cu', axes = { { 'threads', v } } }\n",
             1, "has 5000 entries; at most 4096");
  assert_bad("local v = setmetatable({}, { __len = function() return 1 << 31 end })\n"
             "return { name = 'probe', template = 'direct.cu', axes = { { 'threads', v } } }\n",
             1, "plain tables");
}

static void templates_lie_in_their_folder(void **state) {
  (void)state;
  assert_bad("return { name = 'probe', template = '../../etc/passwd', axes = {} }\n", 1,
             "a file of templates/, without a '/'");
}

static void files_that_are_no_strategy_are_refused(void **state) {
  (void)state;
  assert_bad("return 7\n", 1, "a strategy file returns a table, not a number");
  assert_bad("local x = 1\n", 1, "a strategy file returns a table, not a nil");
  assert_bad("return 'direct'\n", 1, "not a string");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(fields_become_data),
      cmocka_unit_test(fields_may_be_functions_of_the_kernel),
      cmocka_unit_test(the_first_reason_not_to_apply_is_kept),
      cmocka_unit_test(direct_is_first_and_own_files_stand_behind_by_name),
      cmocka_unit_test(unknown_keys_name_the_nearest),
      cmocka_unit_test(what_must_be_there_is_asked_for),
      cmocka_unit_test(text_fields_are_text),
      cmocka_unit_test(axes_are_checked),
      cmocka_unit_test(axes_that_clash_are_told_with_their_line),
      cmocka_unit_test(too_many_axes_are_refused),
      cmocka_unit_test(conditions_name_the_nearest_axis),
      cmocka_unit_test(facts_have_a_shape),
      cmocka_unit_test(lists_that_are_none_are_refused),
      cmocka_unit_test(every_layout_has_a_budget),
      cmocka_unit_test(empty_sizes_are_not_asked_about),
      cmocka_unit_test(applies_has_a_shape),
      cmocka_unit_test(lua_errors_keep_their_line),
      cmocka_unit_test(names_are_read_only),
      cmocka_unit_test(lists_are_bounded),
      cmocka_unit_test(templates_lie_in_their_folder),
      cmocka_unit_test(files_that_are_no_strategy_are_refused),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
