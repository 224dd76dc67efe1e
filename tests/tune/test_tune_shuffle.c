/* Records of 2 to 12 words of 16 bytes, exchanged by shuffles between lanes: odd numbers, powers of
 * two and what has both take different rotations. Fields are moved to their neighbour, so that an
 * exchange that is wrong there and back does not cancel out. */
#include "model/model.h"
#include "tune_verify.h"

#include <math.h>

/* "b.x1 = a.x0; b.x2 = a.x1; ... b.x0 = a.x5;" between layouts. */
static void write_spec(sct_str *out, int words, const char *from, const char *to) {
  sct_str_append(out, "local s = require 'sectile'\nlocal r = s.record {");
  for (int k = 0; k < words; k++) {
    sct_str_printf(out, " { 'x%d', 'f32x4' },", k);
  }
  sct_str_printf(out,
                 " }\nreturn s.kernel { name = 'exchanged', dims = { 'i' },\n"
                 "  inputs = { s.array('a', r, s.%s) }, outputs = { s.array('b', r, s.%s) },\n"
                 "  sizes = { { i = 1 << 20 } }, body = [[",
                 from, to);
  for (int k = 0; k < words; k++) {
    sct_str_printf(out, "b.x%d = a.x%d; ", (k + 1) % words, k);
  }
  sct_str_append(out, "]] }\n");
}

static void words_of_all_kinds_come_to_their_lanes(void **state) {
  static const int words[] = {2, 3, 4, 6, 7, 9, 12};
  static const char *const label = "shuffle t128 i1 v1 hnone";
  (void)state;
  for (int k = 0; k < 2 * SCT_COUNT(words); k++) {
    sct_str text = {0};
    tv_world w;
    write_spec(&text, words[k / 2], k % 2 == 0 ? "aos" : "soa", k % 2 == 0 ? "soa" : "aos");
    tv_open_text(&w, sct_str_c(&text), label);
    char expected[64];
    snprintf(expected, sizeof expected, "%s_striped<uint4, %d>(", k % 2 == 0 ? "load" : "store",
             words[k / 2]);
    assert_non_null(strstr(w.code.source, expected));
    tv_assert_right(&w, sct_str_c(&text));
    tv_close(&w);
    sct_str_free(&text);
  }
}

/* Each is like a wavefront of shared memory: a warp's exchange of n words of 16 bytes takes 4 n. */
static void shuffles_are_counted(void **state) {
  static const struct {
    const char *spec, *label;
    int64_t elements, shuffles;
  } cases[] = {{"particle_aos_to_soa", "shuffle t128 i1 v4 hnone", 512, 4 * 28},
               {"particle_aos_to_aos", "shuffle t128 i2 v2 hnone", 1024, 2 * 2 * 8 * 14},
               {"record48_soa_to_aos", "shuffle t256 i2 v1 hcs", 512 + 31, 16 * 12}};
  (void)state;
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    fixture f;
    fixture_open(&f, cases[k].spec);
    sct_kernel_code code = fixture_make(&f, cases[k].label);
    int64_t extent[SCT_MAX_EXTENTS] = {cases[k].elements};
    sct_fill fill[SCT_MAX_OPERANDS] = {0};
    const sct_size size = {.label = "small", .extent = extent, .fill = fill};
    sct_counters c;
    MUST(sct_model_count(&c, &f.spec, &code, &size, INT64_MAX, err));
    assert_int_equal(c.shuffles, cases[k].shuffles);
    assert_int_equal(c.wavefronts_ld + c.wavefronts_st, 0);
    assert_int_equal(llround(sct_model_exchanged(&c)), cases[k].shuffles);
    sct_counters_free(&c);
    sct_kernel_code_free(&code);
    fixture_close(&f);
  }
}

/* Lanes that are out of line, or a single word a lane: nothing to exchange. */
static void what_needs_no_exchange_is_turned_down(void **state) {
  static const char *const text = "local s = require 'sectile'\n"
                                  "local r = s.record { { 'x', 'f64' }, { 'y', 'f64' } }\n"
                                  "return s.kernel { name = 'pairs', dims = { 'i' },\n"
                                  "  inputs = { s.array('a', r, s.aos) },\n"
                                  "  outputs = { s.array('b', r, s.aos) },\n"
                                  "  sizes = { { i = 1 << 20 } }, body = 'b = a;' }\n";
  fixture f;
  sct_kernel_code code;
  const char *rejected = NULL;
  (void)state;
  fixture_open_text(&f, text);
  const int64_t c = sct_space_find(&f.space, "shuffle t128 i1 v1 hnone", NULL);
  assert_true(c >= 0);
  MUST(sct_codegen_make(&code, &rejected, &f.arena, f.script, &f.spec, &f.space,
                        &f.space.candidates[c], err));
  assert_non_null(rejected);
  assert_non_null(strstr(rejected, "several words a thread"));
  code = fixture_make(&f, "shuffle t128 i1 v2 hnone"); /* two of them are two words */
  assert_non_null(strstr(code.source, "load_striped<uint4, 2>("));
  sct_kernel_code_free(&code);
  fixture_close(&f);
}

int main(int argc, char **argv) {
  TV_WORKER(argc, argv);
  const struct CMUnitTest tests[] = {cmocka_unit_test(words_of_all_kinds_come_to_their_lanes),
                                     cmocka_unit_test(shuffles_are_counted),
                                     cmocka_unit_test(what_needs_no_exchange_is_turned_down)};
  return cmocka_run_group_tests(tests, tv_setup, tv_teardown);
}
