/* A report: whole HTML that asks for nothing, with all that a session knows. */
#include "cli_fixture.h"
#include "html.h"

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
  static const char *const never[] = {"http:", "https:", "<script", "url(",
                                      "$(",    "//%",    "nan",     " src="};
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
      "Time by axis value",
      "<p class=\"gain\">",
      "<h4>The naive variant",
      "of a of 4 bytes per lane: 12.0 sectors per request, minimum 4.0"};
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
  assert_int_equal(count_of(html, "class=\"winner\""), 4); /* of each size, and among all */
  sct_str again = {0};
  fx_run(&r, "report", "third", "--store", "p.db", "-d", "h200", "--max-candidates", "16");
  fx_expect(&r, 0, NULL, "wrote third.html");
  assert_int_equal(sct_file_read(&again, fx_path("third.html"), &err), SCT_OK);
  assert_string_equal(again.data, html); /* a second run writes equal bytes */
  sct_str_free(&again);
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
         "3", "-q", "-o", "-");
  fx_expect(&r, 0, "<h1>one</h1>", NULL);
  assert_null(strstr(sct_str_c(&r.out), "not used"));
  const int n = count_of(sct_str_c(&r.out), "<td class=\"n\">");
  fx_run(&r, "report", "then.lua", "--store", "o.db", "-d", "virtual:h200", "--max-candidates", "3",
         "-q", "-o", "-");
  fx_expect(&r, 0, "3 results of another version of the spec are not used.", NULL);
  assert_int_equal(count_of(sct_str_c(&r.out), "<td class=\"n\">"), n);
  fx_free(&r);
}

/* What the store has of copies, of this device alone. */
static void a_page_shows_stored_transfers(void **state) {
  (void)state;
  fx_result r = {0};
#define REPORT                                                                                     \
  "report", "first.lua", "--store", "t.db", "-d", "virtual:h200", "--max-candidates", "3", "-q",   \
      "-o", "-"
  fx_write("first.lua", ONE_SIZE("b = a + 1.0f;"));
  fx_run(&r, "transfer", "-d", "virtual:a100", "--store", "t.db");
  fx_run(&r, REPORT);
  fx_expect(&r, 0, "<h1>one</h1>", NULL);
  assert_null(strstr(sct_str_c(&r.out), "<h2>Copies"));
  fx_run(&r, "transfer", "-d", "virtual:h200", "--store", "t.db", "--sizes", "16,4K,1M");
  fx_run(&r, REPORT);
  fx_expect(&r, 0, "<h2>Copies to the device and back</h2>", NULL);
  assert_balanced(sct_str_c(&r.out));
  assert_non_null(strstr(sct_str_c(&r.out), "stated rates, not timed"));
  assert_non_null(strstr(sct_str_c(&r.out), "<title>page-locked, 1 MiB: 36 GB/s</title>"));
  assert_non_null(strstr(sct_str_c(&r.out), "<title>page-locked, 1 MiB: 72 GB/s</title>"));
  /* three ways; six kinds, each with a line from size to size */
  assert_int_equal(count_of(sct_str_c(&r.out), "<line class=\"run s1\""), 3 * 2);
  assert_int_equal(count_of(sct_str_c(&r.out), "<line class=\"run s"), 3 * 6 * 2);
  assert_null(strstr(sct_str_c(&r.out), "peer"));
  fx_run(&r, "transfer", "-d", "virtual:h200,virtual:h200", "--store", "t.db", "--sizes", "1M");
  fx_run(&r, "transfer", "-d", "virtual:h200,virtual:h100", "--store", "t.db", "--sizes", "1G");
  fx_run(&r, REPORT);
  const char *html = sct_str_c(&r.out);
  assert_non_null(strstr(html, "<title>peer virtual:h200, 1 MiB: 82.71 GB/s</title>"));
  assert_non_null(strstr(html, "</i> staged peer virtual:h100</li>"));
  assert_int_equal(count_of(html, "<line class=\"run s6\""), 0); /* not from one to the other */
  assert_int_equal(count_of(html, "<line class=\"run s"), 3 * 6 * 3);
#undef REPORT
  fx_free(&r);
}

/* Ways from the host and back, with timelines of the best of page-locked and of pageable arrays. */
static void a_page_shows_stored_ways(void **state) {
  (void)state;
  fx_result r = {0};
#define REPORT_WAYS                                                                                \
  "report", "host.lua", "--store", "ways.db", "-d", "virtual:h200", "--max-candidates", "3", "-q", \
      "-o", "-"
  fx_write("host.lua", "local s = require \"sectile\"\n"
                       "return s.kernel {\n"
                       "  name = \"move\", dims = { \"i\" }, host = true,\n"
                       "  inputs = { s.array(\"a\", \"f32\") },\n"
                       "  outputs = { s.array(\"b\", \"f32\") },\n"
                       "  body = \"b = a;\", sizes = { { i = 1 << 23 } },\n"
                       "}\n");
  fx_run(&r, REPORT_WAYS);
  fx_expect(&r, 0, "<h1>move</h1>", NULL);
  assert_null(strstr(sct_str_c(&r.out), "From the host and back"));
  fx_run(&r, "transfer", "host.lua", "-d", "virtual:h200", "--store", "ways.db");
  fx_expect(&r, 0, NULL, NULL);
  fx_run(&r, REPORT_WAYS);
  fx_expect(&r, 0, "<h2>From the host and back</h2>", NULL);
  assert_balanced(sct_str_c(&r.out));
  fx_expect(&r, 0, "modelled by stated rates, not timed", NULL);
  fx_expect(&r, 0, "<figcaption>page-locked chunk=1048576 streams=3 threads=0: 88 % hidden", NULL);
  fx_expect(&r, 0, "<figcaption>pageable chunk=", NULL);
  assert_int_equal(count_of(sct_str_c(&r.out), "aria-label=\"timeline of"), 2);
  assert_int_equal(count_of(sct_str_c(&r.out), "text-anchor=\"end\">kernel</text>"), 2);
  assert_int_equal(count_of(sct_str_c(&r.out), "text-anchor=\"end\">host</text>"), 1);
  assert_int_equal(count_of(sct_str_c(&r.out), "<tr><td>page-locked</td>"), 1 + 2 * 3);
  fx_free(&r);
}

/* Maps of a range: at each sample the kernel that a header takes, and what it loses. */
static void a_page_maps_a_range(void **state) {
  (void)state;
  fx_result r = {0};
  fx_write("range.lua", "local s = require \"sectile\"\n"
                        "return s.kernel {\n"
                        "  name = \"turned\", dims = { \"row\", \"col\" },\n"
                        "  inputs = { s.array(\"a\", \"f32\") },\n"
                        "  outputs = { s.array(\"b\", \"f32\", s.col_major) },\n"
                        "  body = \"b = a;\",\n"
                        "  sizes = { { row = 256, col = 256 },\n"
                        "            s.range { row = { 16, 4096 }, col = { 16, 4096 },\n"
                        "                      bytes = { 1 << 12, 1 << 20 }, samples = 8 } },\n"
                        "}\n");
  fx_run(&r, "report", "range.lua", "--store", "r.db", "-d", "virtual:h200", "--max-candidates",
         "3", "-q", "-o", "-");
  fx_expect(&r, 0, "<h2>Other sizes</h2>", NULL);
  const char *html = sct_str_c(&r.out);
  assert_balanced(html);
  assert_non_null(strstr(html, "<h3>row by col</h3>"));
  assert_non_null(strstr(html, "<title>col=256 row=256: "));
  assert_int_equal(count_of(html, "<title>col="), 2 * 9); /* nine sizes in either map */
  assert_non_null(strstr(html, "Left out in turn, 8 sizes take "));
  assert_non_null(strstr(html, "% longer than the best"));
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
      cmocka_unit_test(a_page_has_all_that_a_session_knows),
      cmocka_unit_test(a_page_shows_one_state),
      cmocka_unit_test(a_page_shows_stored_transfers),
      cmocka_unit_test(a_page_shows_stored_ways),
      cmocka_unit_test(a_page_maps_a_range),
      cmocka_unit_test(what_cannot_be_is_said),
  };
  return cmocka_run_group_tests(tests, fx_setup, fx_teardown);
}
