/* Layouts that the tuner chose, from the spec's script to a program on the host: for each layout a
 * header is emitted in which it has won, and tests/cli/packing/round_trip.cc packs and unpacks
 * through these headers. Skipped where there is no C++ compiler. */
#include "cli/header_fixture.h"

/* What tests have read: it stays. */
__attribute__((unused)) static sct_arena kept_rows;

static header_store here;

#define WARNINGS "-Wall -Wextra -Werror"

/* ---- specs ---- */

#define MIXED                                                                                      \
  "local mixed = s.record { { 'flag', 'u8' }, { 'value', 'f64' }, { 'tag', 'u16' }, "              \
  "{ 'w', 'f32' }, name = 'mixed' }\n"
#define MAP(kernel)                                                                                \
  "local s = require 'sectile'\n" MIXED "return s.kernel {\n  name = '" kernel                     \
  "', dims = { 'i' },\n"                                                                           \
  "  inputs = { s.array('a', mixed, s.choose { s.aos, s.soa, s.aosoa { lanes = 32 }, "             \
  "s.layout 'rotated.lua', s.layout 'headed.lua' }) },\n"                                          \
  "  outputs = { s.array('b', 'f64') },\n  body = 'b = a.value * a.w;',\n"                         \
  "  sizes = { { i = 4096 } },\n}\n"
#define GRID(kernel)                                                                               \
  "local s = require 'sectile'\nreturn s.kernel {\n  name = '" kernel                              \
  "', dims = { 'row', 'col' },\n"                                                                  \
  "  inputs = { s.array('a', 'f32', s.choose { s.row_major, s.col_major, s.pitched { align = 64 "  \
  "}, s.strided { 'col + 8', 1 } }, { at = { 'row + 1', 'col + 1' }, pad = 2 }) },\n"              \
  "  outputs = { s.array('b', 'f32') },\n  body = 'b = a;',\n"                                     \
  "  sizes = { { row = 64, col = 64 } },\n}\n"
#define SHEET(kernel, type)                                                                        \
  "local s = require 'sectile'\nreturn s.kernel {\n  name = '" kernel                              \
  "', dims = { 'row', 'col' },\n  inputs = { s.array('a', '" type "') },\n"                        \
  "  outputs = { s.array('b', '" type "', s.choose { s.col_major, s.strided { 'col + 8', 1 } }) "  \
  "},\n  body = 'b = a;',\n  sizes = { { row = 64, col = 64 } },\n}\n"
/* Layouts that the spec fixes: by fields, and by columns with a halo. */
#define FIXED(kernel)                                                                              \
  "local s = require 'sectile'\n" MIXED "return s.kernel {\n  name = '" kernel                     \
  "', dims = { 'row', 'col' },\n  inputs = { s.array('a', mixed, s.soa, { dims = { 'row' } }), "   \
  "s.array('c', 'f32', s.col_major, { at = { 'row + 1', 'col + 1' }, pad = 2 }) },\n"              \
  "  outputs = { s.array('b', 'f32') },\n  body = 'b = a.w + c;',\n"                               \
  "  sizes = { { row = 64, col = 64 } },\n}\n"
#define TABLE(kernel)                                                                              \
  "local s = require 'sectile'\nreturn s.kernel {\n  name = '" kernel "', dims = { 'i' },\n"       \
  "  inputs = { s.array('pick', 'i32'), s.array('t', s.record { { 'x', 'f32' }, { 'y', 'f32' }, "  \
  "name = 'vec2' }, s.choose { s.aos, s.soa }, { dims = { 'm' }, at = { 'pick' } }) },\n"          \
  "  outputs = { s.array('b', 'f32') },\n  body = 'b = t.x + t.y;',\n"                             \
  "  sizes = { { i = 4096, m = 4096 } },\n}\n"

#define CELLS(kernel)                                                                              \
  "local s = require 'sectile'\nreturn s.kernel {\n  name = '" kernel "', dims = { 'i' },\n"       \
  "  inputs = { s.array('a', s.record { { 'kind', 'u8' }, { 'q', 'f32', 3 }, { 't', 'e4m3', 2 }, " \
  "name = 'cell' }, s.choose { s.aos, s.soa }) },\n"                                               \
  "  outputs = { s.array('b', 'f32') },\n  body = 'b = a.q[0] + a.q[2] + a.t[1];',\n"              \
  "  sizes = { { i = 4096 } },\n}\n"

#define TUNED                                                                                      \
  "local s = require 'sectile'\nreturn s.kernel {\n  name = 'tuned', dims = { 'i' },\n"            \
  "  inputs = { s.array('a', 'f32', s.choose { s.row_major, s.layout 'rotated.lua' }) },\n"        \
  "  outputs = { s.array('b', 'f32') },\n  body = 'b = a;',\n  sizes = { { i = 4096 } },\n}\n"

/* The first half of the array lies behind the second: a remainder of what may be negative. */
static const char rotated_layout[] =
    "return {\n  name = 'rotated',\n"
    "  offset = function(l, field, idx, ext)\n"
    "    return (idx[1] - ext[1] // 2) % ext[1] * l.record.bytes + field.offset\n  end,\n"
    "  bytes = function(l, ext) return l.count(ext) * l.record.bytes end,\n}\n";

/* Bytes before the first element: there are some where there is no element. */
static const char headed_layout[] =
    "return {\n  name = 'headed',\n"
    "  offset = function(l, field, idx, ext)\n"
    "    return idx[1] * l.record.bytes + field.offset + 64\n  end,\n"
    "  bytes = function(l, ext) return l.count(ext) * l.record.bytes + 64 end,\n}\n";

static const struct {
  const char *name, *spec, *operand, *layout;
} headers[] = {
    {"map_aos", MAP("map_aos"), "a", "aos"},
    {"map_soa", MAP("map_soa"), "a", "soa"},
    {"map_aosoa", MAP("map_aosoa"), "a", "aosoa(lanes=32)"},
    {"map_rotated", MAP("map_rotated"), "a", "rotated"},
    {"map_headed", MAP("map_headed"), "a", "headed"},
    {"grid_cols", GRID("grid_cols"), "a", "col_major"},
    {"grid_pitched", GRID("grid_pitched"), "a", "pitched(align=64)"},
    {"grid_strided", GRID("grid_strided"), "a", "strided(col + 8, 1)"},
    {"sheet_strided", SHEET("sheet_strided", "f16"), "b", "strided(col + 8, 1)"},
    {"table_soa", TABLE("table_soa"), "t", "soa"},
    {"fixed", FIXED("fixed"), "a", "soa"},
    {"cells_soa", CELLS("cells_soa"), "a", "soa"},
    {"quad_cols", SHEET("quad_cols", "f32x4"), "b", "col_major"},
};

/* ---- from spec to header ---- */

/* The naive variant for the named layout as the winner of the spec's size. */
static void put_winner(fixture *f, const char *operand, const char *layout) {
  int choice[SCT_MAX_OPERANDS] = {0};
  int found = 0;
  for (int op = 0; op < f->spec.n_operands; op++) {
    const sct_operand *o = &f->spec.operands[op];
    for (int k = 0; k < o->n_layouts && strcmp(o->name, operand) == 0; k++) {
      found += strcmp(o->layouts[k].label, layout) == 0;
      choice[op] = strcmp(o->layouts[k].label, layout) == 0 ? k : choice[op];
    }
  }
  if (found != 1) {
    fail_msg("%s: '%s' has no layout '%s'", f->spec.name, operand, layout);
  }
  header_put_naive(&here, f, choice);
}

static void write_text(const char *name, const char *text) {
  char path[256];
  snprintf(path, sizeof path, "%s/%s", here.folder, name);
  MUST(sct_file_write(path, text, strlen(text), err));
}

static void write_header(const char *name, const char *spec, const char *operand,
                         const char *layout) {
  char path[256];
  write_text("spec.lua", spec);
  snprintf(path, sizeof path, "%s/spec.lua", here.folder);
  fixture f = {0};
  MUST(sct_script_load_spec(&f.spec, path, err));
  fixture_finish(&f);
  put_winner(&f, operand, layout);
  snprintf(path, sizeof path, "%s.h", name);
  header_write(&here, name, path, SCT_EMIT_INLINE);
  fixture_close(&f);
}

static int setup(void **state) {
  (void)state;
  header_store_open(&here);
  write_text("rotated.lua", rotated_layout);
  write_text("headed.lua", headed_layout);
  for (int k = 0; k < SCT_COUNT(headers); k++) {
    write_header(headers[k].name, headers[k].spec, headers[k].operand, headers[k].layout);
  }
  return 0;
}

static int teardown(void **state) {
  (void)state;
  return header_store_close(&here);
}

/* ---- compilers ---- */

static void a_host_compiler_packs_and_unpacks(void **state) {
  (void)state;
  static const char *const standards[] = {"c++11", "c++17"};
  const char *const home = header_toolkit();
  sct_str command = {0};
  if (header_shell(&here, "command -v c++") != 0) {
    print_message("no C++ compiler here: headers are not compiled\n");
    skip();
  }
  for (int k = 0; k < SCT_COUNT(standards); k++) {
    sct_str_clear(&command);
    sct_str_printf(&command,
                   "c++ -std=%s " WARNINGS " -Wpedantic -I. %s%s%s '" SCT_TESTS_DIR
                   "/cli/packing/round_trip.cc' -o round_trip && ./round_trip",
                   standards[k], home ? "-DWITH_VECTORS -isystem '" : "", home ? home : "",
                   home ? "/include'" : "");
    assert_int_equal(header_shell(&here, sct_str_c(&command)), 0);
  }
  sct_str_free(&command);
}

static void nvcc_takes_the_same_program(void **state) {
  (void)state;
  const char *const home = header_toolkit();
  sct_str command = {0};
  sct_str_printf(&command, "PATH=\"$PATH:%s/bin\"; command -v nvcc", home ? home : "");
  if (!home || header_shell(&here, sct_str_c(&command)) != 0) {
    print_message("no nvcc here: headers are not compiled as CUDA\n");
    skip();
  }
  sct_str_clear(&command);
  sct_str_printf(
      &command,
      "PATH=\"$PATH:%s/bin\"; nvcc -x cu -std=c++17 -arch=sm_90 -DWITH_VECTORS -I. -Werror "
      "all-warnings -Xcompiler -Wall,-Wextra,-Werror '" SCT_TESTS_DIR
      "/cli/packing/round_trip.cc' -o round_trip_cu && ./round_trip_cu",
      home);
  assert_int_equal(header_shell(&here, sct_str_c(&command)), 0);
  sct_str_free(&command);
}

/* Whether the header that the program writes from its store has packing. */
static bool emitted_packs(void) {
  char path[256];
  sct_str header = {0};
  assert_int_equal(
      header_shell(&here, "'" SCT_PROGRAM "' emit tuned.lua --store tuned.db -o tuned.h"), 0);
  snprintf(path, sizeof path, "%s/tuned.h", here.folder);
  MUST(sct_file_read(&header, path, err));
  const bool packs = strstr(sct_str_c(&header), "namespace tuned_layout_a {") != NULL;
  const bool says = strstr(sct_str_c(&header), "no functions for the host") != NULL;
  assert_true(packs != says);
  sct_str_free(&header);
  return packs;
}

/* Puts the signature that a program without formulas would have stored. */
static void forget_formulas(void) {
  char path[256];
  sct_store *tuned = NULL;
  sct_row_problem *rows = NULL;
  int n = 0;
  snprintf(path, sizeof path, "%s/tuned.db", here.folder);
  MUST(sct_store_open(&tuned, path, false, err));
  MUST(sct_store_problem_by_name(tuned, &kept_rows, "tuned", &rows, &n, err));
  assert_int_equal(n, 1);
  char *at = strstr(rows[0].signature, "\"formulas\"");
  assert_non_null(at);
  memcpy(at, "\"formless\"", strlen("\"formless\""));
  MUST(sct_store_put_problem(tuned, &rows[0], err));
  sct_store_close(tuned);
}

/* A spec whose offsets call functions, through compiler and interpreter; and a store of before
 * there were formulas gets them when the finished session is run again. */
static void tuning_brings_formulas(void **state) {
  (void)state;
  static const char tune[] = "'" SCT_PROGRAM "' tune tuned.lua --device virtual:h200 --store "
                             "tuned.db --max-candidates 6 --json && grep -q "
                             "'\"verified\": *6,' said";
  write_text("tuned.lua", TUNED);
  if (!header_toolkit()) {
    print_message("no toolkit here: nothing can be tuned\n");
    skip();
  }
  assert_int_equal(header_shell(&here, tune), 0);
  assert_true(emitted_packs());
  forget_formulas();
  assert_false(emitted_packs());
  assert_int_equal(header_shell(&here, tune), 0);
  assert_true(emitted_packs());
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_host_compiler_packs_and_unpacks),
      cmocka_unit_test(nvcc_takes_the_same_program),
      cmocka_unit_test(tuning_brings_formulas),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
