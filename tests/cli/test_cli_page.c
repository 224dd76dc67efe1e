/* A report: whole HTML that asks for nothing, with all that a session knows. */
#include "cli/cli_chart.h"
#include "cli_fixture.h"

#include <ctype.h>
#include <math.h>

/* ---- markup: every element ends where it should ---- */

static void assert_balanced(const char *html) {
  struct {
    const char *name;
    size_t n;
  } open[64];
  int depth = 0;
  const char *style = strstr(html, "<style>"), *end = strstr(html, "</style>");
  for (const char *at = strchr(html, '<'); at; at = strchr(at + 1, '<')) {
    const bool closes = at[1] == '/';
    const char *name = at + 1 + closes;
    const size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789");
    const char *last = strchr(at, '>');
    assert_non_null(last);
    if (at[1] == '!' || strncmp(name, "meta", 4) == 0 || last[-1] == '/') {
      continue; /* has no end of its own */
    }
    if (style && at > style && at < end) {
      continue;
    }
    if (n == 0) {
      fail_msg("a '<' that begins nothing: %.40s", at);
    }
    if (!closes) {
      assert_true(depth < SCT_COUNT(open));
      open[depth].name = name;
      open[depth++].n = n;
    } else if (depth == 0 || open[depth - 1].n != n || strncmp(open[depth - 1].name, name, n)) {
      fail_msg("'%.*s' ends where '%.*s' is open", (int)n, name,
               depth > 0 ? (int)open[depth - 1].n : 0, depth > 0 ? open[depth - 1].name : "");
    } else {
      depth--;
    }
  }
  assert_int_equal(depth, 0);
}

static int count_of(const char *text, const char *word) {
  int n = 0;
  for (const char *at = strstr(text, word); at; at = strstr(at + 1, word)) {
    n++;
  }
  return n;
}

static void text_cannot_break_out(void **state) {
  (void)state;
  sct_str out = {0};
  cli_html(&out, "<b a=\"1\">&amp;\x01\x1b</b>\n'\xc3\xa9'");
  assert_string_equal(sct_str_c(&out),
                      "&lt;b a=&quot;1&quot;&gt;&amp;amp;??&lt;/b&gt;\n'\xc3\xa9'");
  sct_str_free(&out);
}

static void charts_take_any_points(void **state) {
  (void)state;
  const cli_axis across = {"x <", "B"}, up = {"y \"", ""};
  const cli_point points[] = {{1e-9, 2e3, 1, true, "a<b"},
                              {1e12, 2e3, 0, false, "same y"},
                              {0.0, 1.0, 2, false, "no x"},
                              {1.0, NAN, 2, false, "no y"},
                              {-1.0, 1.0, 2, false, "below"}};
  const cli_line lines[] = {{1e-3, 1.0, 1e3, 1e6}};
  for (int n = 0; n <= SCT_COUNT(points); n++) {
    for (int l = 0; l < 2; l++) {
      sct_str out = {0};
      cli_chart(&out, points, n, lines, l, across, up);
      const char *text = sct_str_c(&out);
      assert_balanced(text);
      assert_null(strstr(text, "nan"));
      assert_null(strstr(text, "inf"));
      assert_int_equal(count_of(text, "<circle class=\"s"), n < 2 ? n : 2);
      assert_int_equal(count_of(text, "<line class=\"roof\""), l);
      sct_str_free(&out);
    }
  }
}

static void sectors_are_boxes(void **state) {
  (void)state;
  static const struct {
    double each, used;
    int boxes;
  } cases[] = {{1.0, 0.125, 1}, {4.0, 1.0, 4}, {4.2, 0.9, 5}, {33.0, 0.1, 33}, {1000.0, 0.0, 34}};
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    sct_str out = {0};
    cli_sectors(&out, cases[k].each, cases[k].used);
    assert_balanced(sct_str_c(&out));
    assert_int_equal(count_of(sct_str_c(&out), "class=\"box\""), cases[k].boxes);
    sct_str_free(&out);
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

/* Lane k at base + k * stride, the first `lanes` of a warp. */
static sct_ptx_request strided(uint64_t base, uint64_t stride, int width, int lanes) {
  sct_ptx_request r = {.width = width, .mask = lanes == 32 ? UINT32_MAX : (1u << lanes) - 1};
  for (int lane = 0; lane < 32; lane++) {
    r.address[lane] = base + (uint64_t)lane * stride;
  }
  return r;
}

static void lanes_lie_over_the_sectors_they_touch(void **state) {
  (void)state;
  static const struct {
    uint64_t base, stride;
    int width, lanes, lines, sectors;
  } cases[] = {{1 << 20, 4, 4, 32, 1, 4},
               {1 << 20, 24, 8, 32, 6, 24},
               {1 << 20, 4096, 4, 32, 32, 32},
               {(1 << 20) + 64, 4, 4, 32, 2, 4},
               {1 << 20, 0, 4, 32, 1, 1},
               {1 << 20, 16, 16, 32, 4, 16},
               {0, 1, 1, 1, 1, 1},
               {UINT64_MAX - 127, 4, 4, 17, 1, 3}};
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    const sct_ptx_request r =
        strided(cases[k].base, cases[k].stride, cases[k].width, cases[k].lanes);
    sct_str out = {0};
    assert_int_equal(cli_request_lines(&r), cases[k].lines < 8 ? 8 : cases[k].lines);
    cli_lanes(&out, &r, 8);
    const char *svg = sct_str_c(&out);
    assert_balanced(svg);
    assert_null(strstr(svg, "nan"));
    assert_int_equal(boxes_of(svg, "sector"), cases[k].sectors);
    assert_int_equal(boxes_of(svg, "rest"), 4 * cases[k].lines - cases[k].sectors);
    assert_int_equal(boxes_of(svg, "lane"), cases[k].lanes);
    assert_int_equal(boxes_of(svg, "used"), cases[k].lanes);
    sct_str_free(&out);
  }
}

static void banks_that_several_words_want_stand_out(void **state) {
  (void)state;
  static const struct {
    uint64_t stride;
    int width, used, clashes;
  } cases[] = {{4, 4, 32, 0}, {128, 4, 0, 32},  {132, 4, 32, 0}, {8, 4, 0, 32},
               {0, 4, 1, 0},  {16, 16, 128, 0}, {2, 2, 16, 0},   {256, 16, 0, 128}};
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    const sct_ptx_request r = strided(1024, cases[k].stride, cases[k].width, 32);
    sct_str out = {0};
    cli_banks(&out, &r);
    assert_balanced(sct_str_c(&out));
    assert_int_equal(boxes_of(sct_str_c(&out), "used"), cases[k].used);
    assert_int_equal(boxes_of(sct_str_c(&out), "clash"), cases[k].clashes);
    sct_str_free(&out);
  }
}

static void ranges_stay_in_their_scale(void **state) {
  (void)state;
  static const double cases[][5] = {{1, 2, 3, 4, 5}, {7, 7, 7, 7, 7}, {1e-3, 1, 1e3, 1e6, 1e9}};
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    sct_str out = {0};
    cli_range(&out, cases[k], cases[k][0], cases[k][4]);
    assert_balanced(sct_str_c(&out));
    assert_null(strstr(sct_str_c(&out), "nan"));
    assert_non_null(strstr(sct_str_c(&out), "cx=\"4.0\""));
    sct_str_free(&out);
  }
}

/* ---- the command ---- */

#define SPEC                                                                                       \
  "local s = require \"sectile\"\n"                                                                \
  "return s.kernel {\n"                                                                            \
  "  name = \"third\", dims = { \"i\" },\n"                                                        \
  "  inputs = { s.array(\"a\", \"f32\", s.row_major,\n"                                            \
  "    { at = { \"3 * i\" }, extents = { \"3 * i\" } }) },\n"                                      \
  "  outputs = { s.array(\"b\", \"f32\") },\n"                                                     \
  "  body = \"b = 2.0f * a + 1.0f;\", sizes = { { i = 5000 }, { i = 200000 } },\n"                 \
  "}\n"

#define ONE_SIZE(body)                                                                             \
  "local s = require \"sectile\"\n"                                                                \
  "return s.kernel { name = \"one\", dims = { \"i\" }, inputs = { s.array(\"a\", \"f32\") },\n"    \
  "  outputs = { s.array(\"b\", \"f32\") }, body = \"" body "\", sizes = { { i = 5000 } } }\n"

static void a_page_has_all_that_a_session_knows(void **state) {
  (void)state;
  fx_result r = {0}, told = {0};
  sct_str page = {0};
  sct_error err = {0};
  fx_write("third.lua", SPEC);
  fx_run(&told, "tune", "third.lua", "--store", "p.db", "-d", "virtual:h200", "--max-candidates",
         "16", "-q", "--json");
  fx_expect(&told, 0, NULL, NULL);
  fx_run(&r, "report", "third.lua", "--store", "p.db", "-d", "virtual:h200", "--max-candidates",
         "16", "-q", "-o", "p.html");
  fx_expect(&r, 0, NULL, NULL);
  assert_int_equal(r.out.len, 0);
  assert_int_equal(sct_file_read(&page, fx_path("p.html"), &err), SCT_OK);
  const char *html = sct_str_c(&page);
  assert_balanced(html);
  static const char *const never[] = {"http:",   "https:", "<script", "url(",
                                      "@title@", "@body@", "nan",     " src="};
  for (int k = 0; k < SCT_COUNT(never); k++) {
    if (strstr(html, never[k])) {
      fail_msg("the page has '%s'", never[k]);
    }
  }
  static const char *const wanted[] = {
      "<title>third</title>",
      "counted and predicted, not timed",
      "<h2>i=5000</h2>",
      "<h2>i=200000</h2>",
      "Issue: unused bytes.",
      "Roofline, predicted",
      "winner, source:",
      "naive, source:",
      "__global__",
      "Time by each value of each axis",
      "<h4>The naive variant",
      "of a of 4 bytes a lane: 12.0 sectors a request, 4.0 would do"};
  for (int k = 0; k < SCT_COUNT(wanted); k++) {
    if (!strstr(html, wanted[k])) {
      fail_msg("the page has no '%s'", wanted[k]);
    }
  }
  json_t *doc = fx_json(&told);
  const json_t *report =
      json_object_get(json_array_get(json_object_get(doc, "tuned"), 0), "report");
  size_t z, k;
  const json_t *size, *row;
  json_array_foreach(json_object_get(report, "sizes"), z, size) {
    json_array_foreach(json_object_get(size, "rows"), k, row) {
      assert_non_null(strstr(html, json_string_value(json_object_get(row, "label"))));
    }
  }
  assert_int_equal(count_of(html, "class=\"winner\""), 2);
  fx_run(&r, "report", "third.lua", "--store", "p.db", "-d", "virtual:h200", "--max-candidates",
         "16", "-q");
  assert_string_equal(sct_str_c(&r.out), html); /* the same again */
  json_decref(doc);
  sct_str_free(&page);
  fx_free(&r);
  fx_free(&told);
}

/* Rows are those of the current spec, strategies and templates; what else the store has is said. */
static void a_page_shows_one_state(void **state) {
  (void)state;
  fx_result r = {0};
  fx_write("first.lua", ONE_SIZE("b = a + 1.0f;"));
  fx_write("then.lua", ONE_SIZE("b = a + 2.0f;"));
  fx_run(&r, "report", "first.lua", "--store", "o.db", "-d", "virtual:h200", "--max-candidates",
         "3", "-q");
  fx_expect(&r, 0, "<h1>one</h1>", NULL);
  assert_null(strstr(sct_str_c(&r.out), "not used"));
  const int n = count_of(sct_str_c(&r.out), "<td class=\"n\">");
  fx_run(&r, "report", "then.lua", "--store", "o.db", "-d", "virtual:h200", "--max-candidates", "3",
         "-q");
  fx_expect(&r, 0, "3 results of another version of the spec are not used.", NULL);
  assert_int_equal(count_of(sct_str_c(&r.out), "<td class=\"n\">"), n);
  fx_free(&r);
}

static void what_cannot_be_is_said(void **state) {
  (void)state;
  fx_result r = {0};
  fx_write("third.lua", SPEC);
  fx_run(&r, "report", "third.lua", "-o", "third.lua");
  fx_expect(&r, 2, NULL, "third.lua");
  fx_run(&r, "report", "absent.lua", "--store", "p.db", "-d", "virtual:h200");
  fx_expect(&r, 1, NULL, "absent.lua");
  fx_run(&r, "report", "third.lua", "--store", "p.db", "-d", "virtual:h2000");
  fx_expect(&r, 4, NULL, "did you mean");
  fx_run(&r, "report", "third.lua", "--store", "p.db", "-d", "virtual:h200", "--only",
         "direct threads=25");
  fx_expect(&r, 2, NULL, "did you mean 'direct threads=256'?");
  fx_free(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(text_cannot_break_out),
      cmocka_unit_test(charts_take_any_points),
      cmocka_unit_test(sectors_are_boxes),
      cmocka_unit_test(lanes_lie_over_the_sectors_they_touch),
      cmocka_unit_test(banks_that_several_words_want_stand_out),
      cmocka_unit_test(ranges_stay_in_their_scale),
      cmocka_unit_test(a_page_has_all_that_a_session_knows),
      cmocka_unit_test(a_page_shows_one_state),
      cmocka_unit_test(what_cannot_be_is_said),
  };
  return cmocka_run_group_tests(tests, fx_setup, fx_teardown);
}
