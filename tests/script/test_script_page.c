/* Pages and their pictures (tuning/sectile/page.lua, chart.lua, pattern.lua). */
#include "html.h"
#include "script_test.h"

#include "script/script_private.h"

/* What the Lua expression `fmt` gives, of the modules page, chart and pattern: HTML, or what is no
 * table as text. */
SCT_PRINTF(2, 3)
static const char *lua(sct_str *out, const char *fmt, ...) {
  SCT_SCOPED(sct_str) given = {0}, text = {0};
  sct_sandbox sb;
  SCT_STR_FORMAT(&given, fmt);
  sct_str_printf(&text,
                 "local page, chart, pattern = require 'sectile.page', require 'sectile.chart', "
                 "require 'sectile.pattern'\n"
                 "local text = require 'sectile.text'\n"
                 "local lanes = function(base, stride, width, n)\n"
                 "  local r = { width = width, address = {} }\n"
                 "  for lane = 1, n do r.address[lane] = base + (lane - 1) * stride end\n"
                 "  return r\n"
                 "end\n"
                 "local value = %s\n"
                 "return type(value) == 'table' and table.concat(value.html) or tostring(value)\n",
                 sct_str_c(&given));
  sct_str_clear(out);
  assert_int_equal(sct_sandbox_init(&sb, NULL, &err), SCT_OK);
  sct_status status =
      sct_sandbox_load(&sb, "tuning/sectile/t.lua", sct_str_c(&text), text.len, 0, &err);
  SCT_THEN(sct_sandbox_call(&sb, 0, 1, &err));
  if (status != SCT_OK) {
    fail_msg("%s: %s", sct_str_c(&given), err.text);
  }
  sct_str_append(out, lua_tostring(sb.L, -1));
  sct_sandbox_free(&sb);
  assert_balanced(sct_str_c(out));
  assert_null(strstr(sct_str_c(out), "nan"));
  assert_null(strstr(sct_str_c(out), "inf"));
  return sct_str_c(out);
}

static void text_cannot_break_out(void **state) {
  (void)state;
  SCT_SCOPED(sct_str) out = {0};
  assert_string_equal(lua(&out, "page.escape('<b a=\"1\">&amp;\\x01\\x1b</b>\\n\\'\\xc3\\xa9\\'')"),
                      "&lt;b a=&quot;1&quot;&gt;&amp;amp;??&lt;/b&gt;\n'\xc3\xa9'");
}

/* The value of every hole is escaped, unless it is HTML. */
static void templates_escape_what_they_are_given(void **state) {
  (void)state;
  SCT_SCOPED(sct_str) out = {0};
  const char *text =
      lua(&out, "page.fill('report/page.html', { title = '</title>&', body = page.html { '<br/>', "
                "'<p>x</p>' } })");
  assert_non_null(strstr(text, "<title>&lt;/title&gt;&amp;</title>"));
  assert_non_null(strstr(text, "<main>\n<br/><p>x</p>\n</main>"));
}

static void figures_have_units(void **state) {
  (void)state;
  SCT_SCOPED(sct_str) out = {0};
  static const struct {
    double value;
    const char *bytes, *ns;
  } cases[] = {{0, "0 B", "0 ns"},
               {1023, "1023 B", "1.023 us"},
               {1536, "1.5 KiB", "1.536 us"},
               {1e18, "9.095e+05 TiB", "1e+09 s"}};
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    assert_string_equal(lua(&out, "require('sectile.units').bytes(%g)", cases[k].value),
                        cases[k].bytes);
    assert_string_equal(lua(&out, "require('sectile.units').ns(%g)", cases[k].value), cases[k].ns);
  }
}

static void charts_take_any_points(void **state) {
  (void)state;
  static const char *const points[] = {
      "{ x = 1e-9, y = 2e3, series = 1, ringed = true, title = 'a<b' }, ",
      "{ x = 1e12, y = 2e3, series = 0, title = 'same y' }, ",
      "{ x = 0.0, y = 1.0, series = 2, title = 'no x' }, ",
      "{ x = 1.0, y = 0.0 / 0.0, series = 2, title = 'no y' }, ",
      "{ x = -1.0, y = 1.0, series = 2, title = 'below' }, "};
  SCT_SCOPED(sct_str) out = {0}, list = {0};
  for (int n = 0; n <= SCT_COUNT(points); n++) {
    for (int l = 0; l < 2; l++) {
      const char *text =
          lua(&out,
              "chart.points({ %s }, { %s }, { name = 'x <', unit = 'B' }, { name = 'y \"', unit = "
              "'' })",
              sct_str_c(&list), l > 0 ? "{ x0 = 1e-3, y0 = 1.0, x1 = 1e3, y1 = 1e6 }" : "");
      assert_int_equal(count_of(text, "<circle class=\"s"), n < 2 ? n : 2);
      assert_int_equal(count_of(text, "<circle class=\"ring\""), n > 0);
      assert_int_equal(count_of(text, "<line class=\"roof\""), l);
    }
    sct_str_append(&list, n < SCT_COUNT(points) ? points[n] : "");
  }
}

/* Lines may have the colour of points; an axis of bytes has powers of 2. */
static void lines_join_points(void **state) {
  (void)state;
  static const char fmt[] =
      "chart.points({ { x = %s, y = 1e9, series = 3, title = '' } }, { { x0 = %s, y0 = 1e9, x1 = "
      "%s, y1 = 2e9, series = 3 }, { x0 = 4096, y0 = 1e9, x1 = 8192, y1 = 1e9 } }, { name = 'x', "
      "unit = 'bytes' }, { name = 'y', unit = 'B/s' })";
  static const struct {
    const char *from, *to;
    int n;
    const char *ticks[3];
  } cases[] = {{"4096", "1073741824", 7, {">4 KiB<", ">32 KiB<", ">1 GiB<"}},
               {"16", "4096", 5, {">16 B<", ">256 B<", ">4 KiB<"}},
               {"4096", "4096", 2, {">4 KiB<", ">8 KiB<", ">4 KiB<"}},
               {"0.25", "8192", 7, {">1 B<", ">1 KiB<", ">4 KiB<"}}};
  SCT_SCOPED(sct_str) out = {0};
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    const char *text = lua(&out, fmt, cases[k].from, cases[k].from, cases[k].to);
    assert_int_equal(count_of(text, "<line class=\"run s3\""), 1);
    assert_int_equal(count_of(text, "<line class=\"roof\""), 1);
    assert_int_equal(count_of(text, " KiB<") + count_of(text, " B<") + count_of(text, " MiB<") +
                         count_of(text, " GiB<"),
                     cases[k].n);
    for (int t = 0; t < 3; t++) {
      assert_non_null(strstr(text, cases[k].ticks[t]));
    }
  }
}

static void timelines_are_bars(void **state) {
  (void)state;
  SCT_SCOPED(sct_str) out = {0};
  const char *text = lua(&out,
                         "chart.lanes({ { name = 'in', series = 1, shares = { 1, 0, 0.5, 0 } }, { "
                         "name = '<out>', series = 3, shares = { 0 } } }, %s)",
                         "'7 ms'");
  assert_int_equal(count_of(text, "<path class=\"s1\" d=\"M84.0 0.0h135.0v22.0h-135.0zM354.0 "
                                  "11.0h135.0v11.0h-135.0z\"/>"),
                   1);
  assert_int_equal(count_of(text, "<path class=\"s3\" d=\"\"/>"), 1);
  assert_non_null(strstr(text, "&lt;out&gt;"));
  assert_non_null(strstr(text, "text-anchor=\"end\">7 ms</text>"));
}

static void sectors_are_boxes(void **state) {
  (void)state;
  static const struct {
    double each, used;
    int boxes;
  } cases[] = {{1.0, 0.125, 1}, {4.0, 1.0, 4}, {4.2, 0.9, 5}, {33.0, 0.1, 33}, {1000.0, 0.0, 34}};
  SCT_SCOPED(sct_str) out = {0};
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    const char *text = lua(&out, "chart.sectors(%g, %g)", cases[k].each, cases[k].used);
    assert_int_equal(count_of(text, "class=\"box\""), cases[k].boxes);
  }
}

/* ---- one request ---- */

static int boxes_of(const char *svg, const char *class_name) {
  char start[64];
  snprintf(start, sizeof start, "<path class=\"%s\" d=\"", class_name);
  const char *at = strstr(svg, start);
  int n = 0;
  for (at = at ? at + strlen(start) : ""; *at != '\0' && *at != '"'; at++) {
    n += *at == 'z';
  }
  return n;
}

static void lanes_lie_over_the_sectors_they_touch(void **state) {
  (void)state;
  static const struct {
    long long base, stride;
    int width, lanes, lines, sectors;
  } cases[] = {{1 << 20, 4, 4, 32, 1, 4},
               {1 << 20, 24, 8, 32, 6, 24},
               {1 << 20, 4096, 4, 32, 32, 32},
               {(1 << 20) + 64, 4, 4, 32, 2, 4},
               {1 << 20, 0, 4, 32, 1, 1},
               {1 << 20, 16, 16, 32, 4, 16},
               {0, 1, 1, 1, 1, 1},
               {-128, 4, 4, 17, 1, 3}}; /* the last line of an address space */
  SCT_SCOPED(sct_str) out = {0}, request = {0};
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    sct_str_clear(&request);
    sct_str_printf(&request, "lanes(%lld, %lld, %d, %d)", cases[k].base, cases[k].stride,
                   cases[k].width, cases[k].lanes);
    const int lines = cases[k].lines < 8 ? 8 : cases[k].lines;
    assert_int_equal(atoi(lua(&out, "pattern.lines(%s)", sct_str_c(&request))), lines);
    const char *svg = lua(&out, "pattern.lanes(%s, 8)", sct_str_c(&request));
    assert_int_equal(boxes_of(svg, "sector"), cases[k].sectors);
    assert_int_equal(boxes_of(svg, "rest"), 4 * cases[k].lines - cases[k].sectors);
    assert_int_equal(boxes_of(svg, "lane"), cases[k].lanes);
    assert_int_equal(boxes_of(svg, "used"), cases[k].lanes);
  }
}

static void banks_that_several_words_want_stand_out(void **state) {
  (void)state;
  static const struct {
    int stride, width, used, clashes;
  } cases[] = {{4, 4, 32, 0}, {128, 4, 0, 32},  {132, 4, 32, 0}, {8, 4, 0, 32},
               {0, 4, 1, 0},  {16, 16, 128, 0}, {2, 2, 16, 0},   {256, 16, 0, 128}};
  SCT_SCOPED(sct_str) out = {0};
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    const char *svg =
        lua(&out, "pattern.banks(lanes(1024, %d, %d, 32))", cases[k].stride, cases[k].width);
    assert_int_equal(boxes_of(svg, "used"), cases[k].used);
    assert_int_equal(boxes_of(svg, "clash"), cases[k].clashes);
  }
}

static void ranges_stay_in_their_scale(void **state) {
  (void)state;
  static const char *const cases[][3] = {{"1, 2, 3, 4, 5", "1", "5"},
                                         {"7, 7, 7, 7, 7", "7", "7"},
                                         {"1e-3, 1, 1e3, 1e6, 1e9", "1e-3", "1e9"}};
  SCT_SCOPED(sct_str) out = {0};
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    const char *text =
        lua(&out, "chart.range({ %s }, %s, %s)", cases[k][0], cases[k][1], cases[k][2]);
    assert_non_null(strstr(text, "cx=\"4.0\""));
  }
}

/* ---- text ---- */

static void columns_are_as_wide_as_their_cells(void **state) {
  (void)state;
  SCT_SCOPED(sct_str) out = {0};
  static const char table[] = "(function() local t = text.table { 'name', '>empty', '>n', '' }\n"
                              "t:row('plain', 'a', nil, 0, 'last')\n" /* others end early */
                              "t:row('good', 'longer name', false, 7)\n"
                              "t:row('plain', '', nil, 112)\n"
                              "local out = text.new { colour = %s }\n"
                              "out:table(t, %d)\n"
                              "return { html = setmetatable(out, nil) } end)()";
  assert_string_equal(lua(&out, table, "false", 2), "  name           n\n"
                                                    "  a              0  last\n"
                                                    "  longer name    7\n"
                                                    "               112\n");
  const char *coloured = lua(&out, table, "true", 0);
  assert_non_null(strstr(coloured, "\033[2mname"));
  assert_non_null(strstr(coloured, "\033[1;32mlonger name    7\033[0m\n"));
  assert_non_null(strstr(coloured, "\033[0m\na              0  last\n")); /* plain stays plain */
}

static void sentences_are_wrapped(void **state) {
  (void)state;
  SCT_SCOPED(sct_str) out = {0};
  static const char wrap[] = "(function() local out = text.new {}\n"
                             "out:wrap('%s', '%s')\n"
                             "return { html = setmetatable(out, nil) } end)()";
  static const struct {
    const char *head, *text, *wanted;
  } cases[] = {
      {"why", "a b", "  why         a b\n"},
      {"why", "", "  why         \n"},
      {"eleven char", "a\\n\\nb ", "  eleven char a\n              b\n"},
      {"twelve chars", "a", "  twelve chars  a\n"},
      {"x", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa bb cc",
       "  x           aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n"
       "              bb cc\n"},
      {"x", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa bb",
       "  x           aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa bb\n"}};
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    assert_string_equal(lua(&out, wrap, cases[k].head, cases[k].text), cases[k].wanted);
  }
}

/* ---- documents ---- */

/* More rows than a text of a script may be long, and every kind of value. */
static void documents_may_be_large(void **state) {
  (void)state;
  SCT_SCOPED(sct_str) out = {0};
  enum { ROWS = 24000 }; /* text of more than a MiB, beyond what a user's script may have */
  json_t *rows = json_array();
  for (int k = 0; k < ROWS; k++) {
    json_array_append_new(rows, json_pack("{s:s, s:n, s:b, s:f, s:i, s:s, s:s}", "label", "a < b",
                                          "verdict", "predicted", 1, "a_ns", 2.5, "b_ns", 3,
                                          "a_outcome", "ok", "b_outcome", "hang"));
  }
  SCT_OWNED_PTR(json_t)
  group = json_pack("{s:s, s:s, s:s, s:[], s:n, s:b, s:i, s:i, s:i, s:i, s:[], s:[], s:o}",
                    "problem", "p", "size", "i=1", "device", "d", "conditions", "winner_b",
                    "winner_changed", 0, "fast", 0, "slow", 0, "same", 0, "ambiguous", 0, "only_a",
                    "only_b", "candidates", rows);
  SCT_OWNED_PTR(json_t) doc = json_pack("{s:[O], s:[O]}", "groups", group, "all", group);
  SCT_OWNED_PTR(json_t) look = json_pack("{s:s, s:i}", "title", "a < b", "top", ROWS);
  assert_int_equal(sct_script_page(&out, "sectile.report", "comparison", doc, look, &err), SCT_OK);
  assert_int_equal(count_of(sct_str_c(&out), "hang"), ROWS);
  assert_int_equal(count_of(sct_str_c(&out), "  -     a &lt; b           2.5 ns         hang\n"),
                   ROWS);
  assert_non_null(strstr(sct_str_c(&out), "<h1>a &lt; b</h1>\n<h2>p, i=1, d</h2>\n<h2>"));
  assert_balanced(sct_str_c(&out));
  sct_str_clear(&out);
  assert_int_equal(sct_script_page(&out, "sectile.show", "compare", doc, look, &err), SCT_OK);
  assert_int_equal(count_of(sct_str_c(&out), "  -     a < b           2.5 ns         hang\n"),
                   ROWS);
}

/* What is wrong with a template, as one of --assets may be, is said with its line. */
static void wrong_templates_are_errors(void **state) {
  (void)state;
  SCT_SCOPED(sct_str) out = {0};
  mkdir(path_of("templates"), 0700);
  mkdir(path_of("templates/report"), 0700);
  SCT_OWNED_PTR(json_t) doc = json_pack("{s:[], s:[]}", "groups", "all");
  SCT_OWNED_PTR(json_t) look = json_pack("{s:s, s:i}", "title", "t", "top", 1);
  static const char *const cases[][2] = {
      {"<p>\n$(title", "templates/report/comparison.html:2: error: '$('"},
      {"<p>\n\n//% for x in\n", "templates/report/comparison.html:"},
      {"<p>\n$(title.x.y)\n", "templates/report/comparison.html:2:"}};
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    write_file("templates/report/comparison.html", cases[k][0]);
    sct_assets_override(folder);
    assert_int_equal(sct_script_page(&out, "sectile.report", "comparison", doc, look, &err),
                     SCT_ESPEC);
    if (!strstr(err.text, cases[k][1])) {
      fail_msg("%s", err.text);
    }
  }
  sct_assets_override(NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(text_cannot_break_out),
      cmocka_unit_test(templates_escape_what_they_are_given),
      cmocka_unit_test(figures_have_units),
      cmocka_unit_test(charts_take_any_points),
      cmocka_unit_test(lines_join_points),
      cmocka_unit_test(timelines_are_bars),
      cmocka_unit_test(sectors_are_boxes),
      cmocka_unit_test(lanes_lie_over_the_sectors_they_touch),
      cmocka_unit_test(banks_that_several_words_want_stand_out),
      cmocka_unit_test(ranges_stay_in_their_scale),
      cmocka_unit_test(columns_are_as_wide_as_their_cells),
      cmocka_unit_test(sentences_are_wrapped),
      cmocka_unit_test(documents_may_be_large),
      cmocka_unit_test(wrong_templates_are_errors),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
