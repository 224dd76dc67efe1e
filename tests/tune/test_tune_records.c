/* Copies between records of equal fields that differ in name, packing, alignment or layout: every
 * strategy gives what the host's evaluation of the layouts gives. */
#include "tune_verify.h"

enum { PER_STRATEGY = 2 };

#define SPEC(dims, from, from_layout, to, to_layout, body, sizes)                                  \
  "local s = require 'sectile'\n"                                                                  \
  "local from, to = s.record { " from " }, s.record { " to " }\n"                                  \
  "return s.kernel { name = 'copied', dims = { " dims " },\n"                                      \
  "  inputs = { s.array('a', from, " from_layout ") },\n"                                          \
  "  outputs = { s.array('b', to, " to_layout ") }, body = '" body "',\n"                          \
  "  sizes = { { " sizes " } } }\n"
#define COPY(from, from_layout, to, to_layout)                                                     \
  SPEC("'i'", from, from_layout, to, to_layout, "b = a;", "i = 4096")

#define XYZ   "{ 'x', 'f32' }, { 'y', 'f32' }, { 'z', 'f32' }"
#define MIXED "{ 't', 'u8' }, { 'x', 'f32' }, { 'w', 'f64' }, { 'h', 'f16' }"
#define BYTES "{ 'r', 'u8' }, { 'g', 'u8' }, { 'b', 'u8' }, { 'a', 'u8' }"

static const char *const specs[] = {
    COPY(XYZ ", name = 'point'", "s.aos", XYZ ", name = 'arrow'", "s.aos"),
    COPY(XYZ ", name = 'point'", "s.aos", XYZ ", name = 'arrow'", "s.soa"),
    COPY(XYZ ", align = 16", "s.aos", XYZ, "s.aos"),
    COPY(XYZ, "s.soa", XYZ ", align = 16", "s.aos"),
    COPY(XYZ ", packed = true", "s.aos", XYZ, "s.aosoa { lanes = 32 }"),
    COPY(MIXED, "s.aos", MIXED ", packed = true", "s.aos"),
    COPY(MIXED ", packed = true", "s.aos", MIXED, "s.aos"),
    COPY(MIXED ", packed = true", "s.soa", MIXED ", align = 32", "s.aos"),
    /* of one size, but with the fields at other offsets */
    COPY("{ 't', 'u8' }, { 'x', 'f32' }", "s.aos",
         "{ 't', 'u8' }, { 'x', 'f32' }, packed = true, align = 8", "s.aos"),
    COPY(BYTES, "s.aos", BYTES ", align = 4", "s.aos"),
    SPEC("'i'", MIXED, "s.aos", MIXED ", packed = true", "s.soa",
         "if (a.t > 99) b = a; else { b = a; b.t = 0; }", "i = 4096"),
    SPEC("'row', 'col'", XYZ, "s.aos", XYZ ", align = 16", "s.col_major", "b = a;",
         "row = 64, col = 100"),
};

/* The naive variant and some candidates of each strategy. */
static void run_candidates(const char *text) {
  tv_world w;
  sct_rng rng = sct_rng_new(20261123);
  tv_open_text(&w, text, "direct threads=256");
  tv_assert_right(&w, text);
  for (int strategy = 0; strategy < w.f.space.n_strategies; strategy++) {
    int made = 0;
    for (int tries = 0; tries < 50 * PER_STRATEGY && made < PER_STRATEGY; tries++) {
      const size_t c = (size_t)sct_rng_below(&rng, (int64_t)w.f.space.n_candidates);
      const sct_candidate *candidate = &w.f.space.candidates[c];
      const char *rejected = NULL;
      if (candidate->strategy != strategy) {
        continue;
      }
      sct_kernel_code_free(&w.code);
      MUST(sct_codegen_make(&w.code, &rejected, &w.f.arena, w.f.script, &w.f.spec, &w.f.space,
                            candidate, err));
      if (!rejected) {
        sct_str label = {0};
        sct_space_label(&label, &w.f.space, candidate);
        tv_assert_right(&w, sct_str_c(&label));
        sct_str_free(&label);
        made++;
      }
    }
  }
  tv_close(&w);
}

static void copies_are_right(void **state) {
  (void)state;
  for (int k = 0; k < SCT_COUNT(specs); k++) {
    run_candidates(specs[k]);
  }
}

int main(int argc, char **argv) {
  TV_WORKER(argc, argv);
  const struct CMUnitTest tests[] = {cmocka_unit_test(copies_are_right)};
  return cmocka_run_group_tests(tests, tv_setup, tv_teardown);
}
