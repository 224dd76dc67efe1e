/* The templates of a header: holes and lines of Lua, texts that stay in their place, and mistakes
 * named by line. */
#include "emit/emit_fixture.h"

#include "script/script.h"
#include "json/json.h"

#define FILE_NAME "templates/header/mine.cuh"

static void put_asset(fixture *f, const char *directory, const char *name, const char *text) {
  sct_str path = {0};
  sct_str_printf(&path, "%s/%s", f->folder, directory);
  fixture_check(f, sct_dir_make(sct_str_c(&path), &f->err));
  sct_str_clear(&path);
  sct_str_printf(&path, "%s/%s", f->folder, name);
  fixture_check(f, sct_file_write(sct_str_c(&path), text, strlen(text), &f->err));
  sct_str_free(&path);
}

/* Fills `text` as a template called `name` with a few values; `out` is what came of it. */
static sct_status fill_as(fixture *f, const char *name, sct_str *out, const char *text) {
  json_t *values = json_pack("{s:s, s:i, s:f, s:[ss], s:[], s:b, s:b, s:[{s:s}{s:s}]}", "name",
                             "a\"\\\n*/b", "seven", 7, "half", 0.5, "dims", "row", "col", "none",
                             "yes", 1, "no", 0, "things", "name", "x", "name", "y");
  json_t *doc = json_pack("{s:s, s:o}", "name", name + strlen("templates/"), "values", values);
  put_asset(f, "templates/header", name, text);
  put_asset(f, "tuning/sectile", "tuning/sectile/probe.lua",
            "local header, stored = require 'sectile.header', require 'sectile.stored'\n"
            "return { fill = function(doc)\n"
            "  local out = {}\n"
            "  for _, thing in ipairs(doc.values.things) do stored.record(thing) end\n"
            "  header.fill(out, doc.name, doc.values)\n"
            "  return out\n"
            "end }\n");
  sct_assets_override(f->folder);
  sct_str_clear(out);
  const sct_status status = sct_script_page(out, "sectile.probe", "fill", doc, NULL, &f->err);
  sct_assets_override(NULL);
  json_decref(doc);
  return status;
}

static sct_status fill(fixture *f, sct_str *out, const char *text) {
  return fill_as(f, FILE_NAME, out, text);
}

static void assert_filled(fixture *f, const char *text, const char *expected) {
  sct_str out = {0};
  fixture_check(f, fill(f, &out, text));
  assert_string_equal(sct_str_c(&out), expected);
  sct_str_free(&out);
}

/* Kernels a, b with one struct, c, d with another of its name: one of them moves in front of all,
 * with what mentions it there. */
static void definitions_of_one_name_move_once(void **state) {
  fixture *f = *state;
  sct_str out = {0};
  put_asset(f, "tuning/sectile", "tuning/sectile/probe.lua",
            "local shared = require 'sectile.header_shared'\n"
            "local function kernel(name, members)\n"
            "  return { launch = { kernel = name }, text = 'struct at {\\n  int ' .. members ..\n"
            "    ';\\n};\\n\\n__device__ int f(at x) {\\n  return x.i;\\n}\\n\\n'\n"
            "    .. '__device__ int g() {\\n  return 1;\\n}\\n\\n'\n"
            "    .. '__global__ void ' .. name .. '() {\\n}' }\n"
            "end\n"
            "return { fill = function()\n"
            "  local kernels = { kernel('a', 'i'), kernel('b', 'i'), kernel('c', 'i, j'),\n"
            "    kernel('d', 'i, j') }\n"
            "  local out = { shared.take(kernels) }\n"
            "  for _, k in ipairs(kernels) do out[#out + 1] = '\\n--\\n' .. k.text end\n"
            "  return out\n"
            "end }\n");
  sct_assets_override(f->folder);
  fixture_check(f, sct_script_page(&out, "sectile.probe", "fill", json_null(), NULL, &f->err));
  sct_assets_override(NULL);
#define F           "__device__ int f(at x) {\n  return x.i;\n}"
#define G           "__device__ int g() {\n  return 1;\n}"
#define OTHER(name) "\n--\nstruct at {\n  int i, j;\n};\n\n" F "\n\n__global__ void " name "() {\n}"
  assert_string_equal(sct_str_c(&out),
                      "struct at {\n  int i;\n};\n\n" G "\n--\n" F "\n\n__global__ void a() {\n}"
                      "\n--\n" F "\n\n__global__ void b() {\n}" OTHER("c") OTHER("d"));
  sct_str_free(&out);
}

static void holes_are_filled(void **state) {
  assert_filled(*state, "int n = $(seven) * $(half);\n", "int n = 7 * 0.5;\n");
  assert_filled(*state, "f($(join(dims)))$(join(none))\n", "f(row, col)\n");
  assert_filled(*state, "$(join(dims, \"n_%s = (c.n_%s)\"));\n",
                "n_row = (c.n_row), n_col = (c.n_col);\n");
  assert_filled(*state, "$(join(dims, \"n_%s < 0\", \" || \"))$(join(dims, \", %s\", \"\"))\n",
                "n_row < 0 || n_col < 0, row, col\n");
}

static void lines_of_lua_are_obeyed(void **state) {
  assert_filled(*state,
                "//% for _, t in ipairs(things) do\n//%   for _, d in ipairs(dims) do\n"
                "$(t.name).$(d)\n//%   end\n//% end\n//% for _, t in ipairs(none) do\n"
                "$(t.name)\n//%   if t.name then\n//%   end\n//% end\n",
                "x.row\nx.col\ny.row\ny.col\n");
  assert_filled(*state,
                "//% if yes then\n1\n//% else\n2\n//% end\n//% if no then\n$(nowhere)\n//% else\n"
                "3\n//% end\n//% if not no then\n4\n//% end\n//% if #none > 0 then\n5\n//% end\n"
                "//% if #dims > 0 and seven == 7 then\n6 $(#dims) $(yes)\n//% end\n",
                "1\n3\n4\n6 2 true\n");
}

/* One text in a comment, in a literal and as code. */
static void texts_stay_in_their_place(void **state) {
  assert_filled(*state, "// \"$(name)\" \n", "// \"a\"/ * /b\"\n");
  assert_filled(*state, "f(\"// $(name)\", $(seven));  // $(seven)\n",
                "f(\"// a\\\"\\\\\\012*/b\", 7);  // 7\n");
  assert_filled(*state, "\"$(seven)\" $(name)\n", "\"7\" a\"\\\n*/b\n");
  /* in Python comments begin with #, and what divides is no comment */
  sct_str out = {0};
  fixture_check(*state, fill_as(*state, "templates/header/mine.py", &out,
                                "# \"$(name)\"\n\"$(name)\" // $(seven) # $(name)\n"));
  assert_string_equal(sct_str_c(&out), "# \"a\"/ * /b\"\n\"a\\\"\\\\\\012*/b\" // 7 # a\"/ * /b\n");
  sct_str_free(&out);
}

static void mistakes_are_named_by_line(void **state) {
  static const struct {
    const char *text, *says;
  } mistakes[] = {
      {"\n$(nmae)\n", FILE_NAME ":2: error: no value has the name 'nmae'"},
      {"//% if nmae then\n//% end\n", FILE_NAME ":1: error: no value has the name 'nmae'"},
      {"x\n$(name.more)\n", FILE_NAME ":2: error: "},
      {"x\n$(things[1].more)\n", FILE_NAME ":2: error: no value has the name 'more'"},
      {"//% if things[1].more then\n//% end\n", FILE_NAME ":1: error: no value has the name"},
      {"x\n\n$(dims[3])\n", FILE_NAME ":3: error: a hole without a value"},
      {"$(dims)\n", FILE_NAME ":1: error: a hole without a value"},
      {"$(seven\n", FILE_NAME ":1: error: '$(' without its ')'"},
      {"$(join(name))\n", FILE_NAME ":1: error: join takes a list"},
      {"//% if yes then\nx\n", FILE_NAME ":3: error: 'end' expected"},
      {"x\n//% end\n", FILE_NAME ":2: error: "},
      {"//% os.execute 'true'\n", FILE_NAME ":1: error: no value has the name 'os'"},
  };
  for (int k = 0; k < SCT_COUNT(mistakes); k++) {
    fixture *f = *state;
    sct_str out = {0};
    assert_int_equal(fill(f, &out, mistakes[k].text), SCT_ESPEC);
    if (strstr(f->err.text, mistakes[k].says) == NULL) {
      fail_msg("'%s' is not in: %s", mistakes[k].says, f->err.text);
    }
    sct_str_free(&out);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(definitions_of_one_name_move_once),
      cmocka_unit_test(holes_are_filled),
      cmocka_unit_test(lines_of_lua_are_obeyed),
      cmocka_unit_test(texts_stay_in_their_place),
      cmocka_unit_test(mistakes_are_named_by_line),
  };
  return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
