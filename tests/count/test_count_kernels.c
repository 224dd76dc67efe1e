/* Kernels with the toolkit's headers (kernels.cu), against counts derived by hand: a request is a
 * warp instruction with an active lane, its sectors the distinct 32 bytes, its tags the distinct
 * 128 bytes it touches. */
#include "count_fixture.h"

#include <math.h>

#define FX_KERNELS FX_COUNT "kernels.cu", "--cases", FX_COUNT "kernels.json"

/* In the order of the columns. */
static const struct {
  const char *name;
  long long ld[3], st[3]; /* requests, sectors, tags */
  long long more[2];      /* ideal sectors of all; sectors of atomics, which are in both */
  long long shared[4];    /* wavefronts of loads, of stores, of all, ideal */
} known[] = {
    /* 1,000 elements: 31 whole warps and one of 8 lanes. */
    {"copy_f32", {32, 125, 32}, {32, 125, 32}, {250}, {0}},
    {"copy_f64", {32, 250, 63}, {32, 250, 63}, {500}, {0}},
    {"copy_u8", {32, 32, 32}, {32, 32, 32}, {64}, {0}},
    /* From 4 bytes behind a sector's start: 5 sectors, 2 lines. To 64 behind a line's: 2 lines. */
    {"copy_shifted", {32, 160, 64}, {32, 128, 64}, {256}, {0}},
    /* 32 records of 12 bytes cover 12 sectors and 3 lines, whichever component is wanted. */
    {"scale_3", {12, 144, 36}, {12, 144, 36}, {96}, {0}},
    /* A column of a tile with a pitch of 32 words lies in one bank, of 33 in all of them. */
    {"transpose_32", {32, 128, 32}, {32, 128, 32}, {256}, {1024, 32, 1056, 64}},
    {"transpose_33", {32, 128, 32}, {32, 128, 32}, {256}, {32, 32, 64, 64}},
    /* 4 warps; of each 4 lanes store 16 bytes of one sector. Shuffles touch no memory. */
    {"tile_sums", {4, 16, 4}, {4, 4, 4}, {20}, {0}},
    /* Every second word: 8 sectors, 2 lines, where 4 sectors would do. One lane stores. */
    {"warp_max", {4, 32, 8}, {4, 4, 4}, {20}, {0}},
    /* 4 warps load x and y and store y, 4 bytes a lane. */
    {"axpy_half", {8, 32, 8}, {4, 16, 4}, {48}, {0}},
    /* Atomics are neither loads nor stores, but in the sums: two warps, a sector each. */
    {"histogram", {2, 8, 2}, {0, 0, 0}, {10, 2}, {0}},
    {"strided", {2, 8, 2}, {2, 8, 2}, {16}, {0}},
};

static void kernels_with_headers_have_their_counts(void **state) {
  (void)state;
  fx_result r = {0};
  fx_run(&r, "count", FX_KERNELS, "--csv");
  fx_expect(&r, 0, NULL, NULL);
  for (int k = 0; k < SCT_COUNT(known); k++) {
    char want[256];
    const long long *ld = known[k].ld, *st = known[k].st, *sh = known[k].shared;
    snprintf(want, sizeof want,
             "%s,%lld,%lld,%lld,%lld,%lld,%lld,%lld,%lld,%lld,%lld,%lld,%lld,exact\n",
             known[k].name, ld[0], ld[1], ld[2], st[0], st[1], st[2],
             ld[1] + st[1] + known[k].more[1], known[k].more[0], sh[0], sh[1], sh[2], sh[3]);
    const char *row = fx_row(sct_str_c(&r.out), known[k].name);
    assert_non_null(row);
    if (strncmp(row, want, strlen(want)) != 0) {
      fail_msg("expected %s, not %.*s", want, (int)strcspn(row, "\n"), row);
    }
  }
  fx_free(&r);
}

/* -D changes the kernel: a stride of 8 words puts every lane in a sector of its own. */
static void macros_and_folders_reach_the_compiler(void **state) {
  (void)state;
  fx_result r = {0};
  const char *cu =
      fx_write("m.cu", "#include \"far.h\"\n"
                       "extern \"C\" __global__ void k(const float *in, float *out) {\n"
                       "  out[threadIdx.x] = FAR(in, STRIDE * threadIdx.x); }\n");
  const char *cases =
      fx_write("m.json", "[{\"case\": \"c\", \"kernel\": \"k\", \"grid\": [1], \"block\": [32], "
                         "\"args\": [\"in\", \"out\"]}]");
  sct_error err = {0};
  assert_int_equal(sct_dir_make(fx_path("inc"), &err), SCT_OK);
  fx_write("inc/far.h", "#define FAR(p, i) (p)[i]\n");
  fx_run(&r, "count", cu, "--cases", cases, "--csv", "-DSTRIDE=8", "-I", fx_path("inc"));
  fx_expect(&r, 0, "\nc,1,32,8,1,4,1,36,8,0,0,0,0", NULL);
  fx_run(&r, "count", cu, "--cases", cases, "--csv", "--define", "STRIDE=1", "--include=inc");
  fx_expect(&r, 0, "\nc,1,4,1,1,4,1,8,8,0,0,0,0", NULL);
  fx_run(&r, "count", cu, "--cases", cases, "--csv", "-I", fx_path("inc"));
  fx_expect(&r, 3, NULL, "m.cu:3: error: identifier \"STRIDE\" is undefined");
  fx_free(&r);
}

/* Counts do not depend on the number of host threads, nor on the architecture. */
static void threads_and_architectures_change_nothing(void **state) {
  (void)state;
  fx_result a = {0}, b = {0};
  fx_run(&a, "count", FX_KERNELS, "--csv", "--threads", "1");
  fx_run(&b, "count", FX_KERNELS, "--csv", "--threads", "3", "--arch", "sm_80");
  fx_expect(&a, 0, NULL, NULL);
  fx_expect(&b, 0, NULL, NULL);
  assert_string_equal(sct_str_c(&a.out), sct_str_c(&b.out));
  fx_free(&a);
  fx_free(&b);
}

static json_t *case_named(json_t *doc, const char *name) {
  size_t i;
  json_t *c;
  json_array_foreach(json_object_get(doc, "cases"), i, c) {
    if (strcmp(json_string_value(json_object_get(c, "case")), name) == 0) {
      return c;
    }
  }
  fail_msg("no case '%s'", name);
  return NULL;
}

static long long number_at(json_t *doc, const char *key, const char *inner) {
  json_t *v = json_object_get(doc, key);
  v = inner ? json_object_get(v, inner) : v;
  assert_true(json_is_integer(v));
  return json_integer_value(v);
}

static void json_has_all_counters(void **state) {
  (void)state;
  fx_result r = {0};
  fx_run(&r, "count", FX_KERNELS, "--json");
  fx_expect(&r, 0, NULL, NULL);
  json_t *doc = fx_json(&r);
  json_t *c = case_named(doc, "scale_3");
  assert_int_equal(json_integer_value(json_object_get(doc, "failed")), 0);
  assert_int_equal(number_at(c, "sectors_global", NULL), 288);
  assert_int_equal(number_at(c, "load_width", "4"), 12);
  assert_int_equal(number_at(c, "load_width", "8"), 0);
  assert_int_equal(number_at(c, "load", "bytes"), 12 * 128);
  /* 24 requests of 128 bytes in 288 sectors */
  assert_true(fabs(json_real_value(json_object_get(c, "degree")) - 24 * 128 / (288.0 * 32)) < 1e-6);
  assert_true(json_is_null(json_object_get(c, "problem")));
  c = case_named(doc, "transpose_32");
  assert_int_equal(number_at(c, "shared_load", "conflicts"), 1024 - 32);
  assert_int_equal(number_at(c, "barriers", NULL), 32);
  c = case_named(doc, "copy_f32"); /* the warp of 8 lanes diverges at its guard */
  assert_int_equal(number_at(c, "branches", NULL), 32);
  assert_int_equal(number_at(c, "divergent_branches", NULL), 1);
  c = case_named(doc, "histogram"); /* 8 bins in one sector */
  assert_int_equal(number_at(c, "atomics", "requests"), 2);
  assert_int_equal(number_at(c, "atomics", "sectors"), 2);
  json_decref(doc);
  fx_free(&r);
}

/* The assembler merges two equal loads: what was counted is not what the machine does. */
static void counts_are_approximate_where_machine_code_differs(void **state) {
  (void)state;
  fx_result r = {0};
  const char *cu =
      fx_write("twice.cu", "extern \"C\" __global__ void twice(const float *in, float *out) {\n"
                           "  float a, b;\n"
                           "  asm volatile(\"ld.global.f32 %0, [%2]; ld.global.f32 %1, [%2];\"\n"
                           "               : \"=f\"(a), \"=f\"(b) : \"l\"(in + threadIdx.x));\n"
                           "  out[threadIdx.x] = a + 2 * b;\n"
                           "}\n");
  const char *cases =
      fx_write("twice.json", "[{\"kernel\": \"twice\", \"grid\": [1], \"block\": [32], "
                             "\"args\": [\"in\", \"out\"]}]");
  fx_run(&r, "count", cu, "--cases", cases, "--csv");
  fx_expect(&r, 0, "\ntwice,2,8,2,1,4,1,12,12,0,0,0,0,approximate\n",
            "counts of kernel 'twice' are approximate: the machine code has 1 load of 4 bytes");
  fx_run(&r, "count", cu, "--cases", cases, "--json", "-q");
  fx_expect(&r, 0, "the machine code has 1 load of 4 bytes", NULL);
  assert_int_equal(r.err.len, 0);
  fx_free(&r);
}

/* ---- by instruction, by line */

static void instructions_add_up_to_their_case(void **state) {
  (void)state;
  fx_result r = {0};
  fx_run(&r, "count", FX_KERNELS, "--json", "--by", "instruction");
  fx_expect(&r, 0, NULL, NULL);
  json_t *doc = fx_json(&r);
  size_t i, j;
  json_t *c, *k;
  json_array_foreach(json_object_get(doc, "cases"), i, c) {
    long long sectors = 0, executed = 0;
    json_array_foreach(json_object_get(c, "instructions"), j, k) {
      sectors += number_at(k, "global", "sectors");
      executed += number_at(k, "executed", NULL);
      assert_true(number_at(k, "ptx_line", NULL) > 0);
      assert_true(json_string_length(json_object_get(k, "text")) > 0);
    }
    assert_int_equal(sectors, number_at(c, "sectors_global", NULL));
    assert_int_equal(executed, number_at(c, "warp_instructions", NULL));
  }
  json_decref(doc);
  fx_free(&r);
}

/* The line of kernels.cu that holds `text`. */
static int line_with(const char *text) {
  sct_str source = {0};
  sct_error err = {0};
  assert_int_equal(sct_file_read(&source, FX_COUNT "kernels.cu", &err), SCT_OK);
  const char *at = strstr(sct_str_c(&source), text);
  assert_non_null(at);
  int line = 1;
  for (const char *p = source.data; p < at; p++) {
    line += *p == '\n';
  }
  sct_str_free(&source);
  return line;
}

static void lines_carry_what_stands_on_them(void **state) {
  (void)state;
  fx_result r = {0};
  fx_run(&r, "count", FX_KERNELS, "--json", "--by", "line");
  fx_expect(&r, 0, NULL, NULL);
  json_t *doc = fx_json(&r), *k;
  json_t *lines = json_object_get(case_named(doc, "transpose_32"), "lines");
  const int store = line_with("tile[y * from.pitch"), load = line_with("to[y * 32 + x] =");
  int found = 0;
  size_t i;
  json_array_foreach(lines, i, k) {
    const long long line = number_at(k, "line", NULL);
    if (line == store) { /* reads global, writes shared memory */
      assert_int_equal(number_at(k, "global", "sectors"), 128);
      assert_int_equal(number_at(k, "shared", "wavefronts"), 32);
      found++;
    } else if (line == load) {
      assert_int_equal(number_at(k, "global", "sectors"), 128);
      assert_int_equal(number_at(k, "shared", "wavefronts"), 1024);
      found++;
    } else {
      assert_int_equal(number_at(k, "global", "requests"), 0);
    }
  }
  assert_int_equal(found, 2); /* one row a line */
  json_decref(doc);
  fx_free(&r);
}

static void parts_are_rows_of_csv_and_table(void **state) {
  (void)state;
  fx_result r = {0};
  fx_run(&r, "count", FX_KERNELS, "--csv", "--by", "instruction");
  fx_expect(&r, 0, "case,ptx_line,file,line,executed,lanes,divergent,requests,", NULL);
  fx_expect(&r, 0, "\"ld.global.f32 \t%f1, [%rd", NULL); /* quoted: it holds a comma */
  fx_run(&r, "count", FX_KERNELS, "--by", "line");
  fx_expect(&r, 0, "kernels.cu:", NULL);
  fx_run(&r, "count", FX_KERNELS);
  fx_expect(&r, 0, "coalesced", NULL);
  fx_expect(&r, 0, "\nscale_3 ", NULL);
  fx_free(&r);
}

int main(void) {
  enum { SANITIZED = 2 }; /* of them: all paths */
  if (fx_lacks_nvrtc()) {
    return 77;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(parts_are_rows_of_csv_and_table),
      cmocka_unit_test(macros_and_folders_reach_the_compiler),
      cmocka_unit_test(kernels_with_headers_have_their_counts),
      cmocka_unit_test(threads_and_architectures_change_nothing),
      cmocka_unit_test(json_has_all_counters),
      cmocka_unit_test(counts_are_approximate_where_machine_code_differs),
      cmocka_unit_test(instructions_add_up_to_their_case),
      cmocka_unit_test(lines_carry_what_stands_on_them),
  };
  const size_t n = SCT_SANITIZED ? SANITIZED : SCT_COUNT(tests);
  return _cmocka_run_group_tests("kernels", tests, n, fx_setup, fx_teardown);
}
