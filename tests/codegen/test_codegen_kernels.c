/* What holds for every generated kernel: it is complete, launchable, deterministic, mapped to its
 * template. */
#include "codegen_fixture.h"

#include <jansson.h>

static const char *const specs[] = {
    "add_const_double3", "float3_increment",    "indirect_f32",        "stride3",
    "shifted",           "broadcast",           "transpose_f32",       "transpose_f64",
    "gather_rows16",     "particle_aos_to_soa", "particle_soa_to_aos", "mixed_soa_to_aos",
    "sum_rows_f32",      "sum_cols_f32",        "sum_all_f32"};

/* The template's line that wrote a line of source; 0: it is not known. */
static int line_of(const sct_kernel_code *code, int line) {
  const char *file;
  int n_file = 0, file_line = 0;
  return sct_codegen_line(code, line, &file, &n_file, &file_line) ? file_line : 0;
}

static void check_code(const sct_kernel_code *code, const char *label) {
  char head[128];
  snprintf(head, sizeof head, "%s(", code->kernel);
  assert_non_null(strstr(code->source, head));
  assert_null(strstr(code->source, "#include"));
  assert_null(strstr(code->source, "#line"));
  assert_true(code->threads >= 32 && code->threads <= 1024);
  int lines = 0;
  for (const char *p = code->source; *p; p++) {
    lines += *p == '\n';
  }
  if (line_of(code, lines) == 0 || line_of(code, lines + 1) != 0) {
    fail_msg("%s: %d lines of source, others in the map", label, lines);
  }
}

/* The grid must cover the index space: at least one element a thread slot, none for an empty one.
 */
static void check_grid(const fixture *f, const sct_kernel_code *code) {
  int64_t extent[16];
  for (int64_t n = 0; n <= 5000; n += 777) {
    for (int k = 0; k < f->spec.n_extents; k++) {
      extent[k] = n;
    }
    const sct_expr_env env = {f->spec.extent_var, extent, f->spec.n_extents};
    int64_t blocks = -1;
    MUST(sct_expr_eval(f->spec.pool, code->grid, &env, &blocks, err));
    assert_true(blocks >= (n > 0));
  }
}

static void test_every_candidate_of_every_spec(void **state) {
  (void)state;
  for (int s = 0; s < SCT_COUNT(specs); s++) {
    fixture f;
    fixture_open(&f, specs[s]);
    int n_made = 0;
    for (size_t c = 0; c < f.space.n_candidates; c += 7) { /* a prime step meets every axis value */
      sct_kernel_code code;
      const char *rejected;
      MUST(sct_codegen_make(&code, &rejected, &f.arena, f.script, &f.spec, &f.space,
                            &f.space.candidates[c], err));
      if (rejected) {
        continue;
      }
      sct_str label = {0};
      sct_space_label(&label, &f.space, &f.space.candidates[c]);
      check_code(&code, sct_str_c(&label));
      check_grid(&f, &code);
      sct_str_free(&label);
      sct_kernel_code_free(&code);
      n_made++;
    }
    assert_true(n_made >= 5);
    fixture_close(&f);
  }
}

static void test_same_candidate_same_bytes(void **state) {
  (void)state;
  fixture a, b;
  fixture_open(&a, "particle_soa_to_aos");
  fixture_open(&b, "particle_soa_to_aos");
  const char *label = "map threads=256 items=1 vec=1 store=staged team=warp evict=none";
  sct_kernel_code first = fixture_make(&a, label);
  sct_kernel_code other = fixture_make(&a, "direct threads=256");
  sct_kernel_code again = fixture_make(&a, label);
  sct_kernel_code elsewhere = fixture_make(&b, label);
  assert_string_equal(first.source, again.source);
  assert_true(sct_hash_equal(first.hash, again.hash));
  assert_true(sct_hash_equal(first.hash, elsewhere.hash));
  assert_false(sct_hash_equal(first.hash, other.hash));
  sct_kernel_code_free(&first);
  sct_kernel_code_free(&other);
  sct_kernel_code_free(&again);
  sct_kernel_code_free(&elsewhere);
  fixture_close(&a);
  fixture_close(&b);
}

static void test_requirements_follow_alignment(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f, "transpose_f32"); /* sizes 4096 and 8191 */
  sct_kernel_code wide = fixture_make(
      &f, "exchange threads=256 tile=64x64 load=4 store=4 start=any blocks=out evict=none");
  sct_kernel_code narrow = fixture_make(
      &f, "exchange threads=256 tile=64x64 load=1 store=1 start=any blocks=out evict=none");
  assert_true(sct_codegen_fits(&f.spec, &wide, &f.spec.sizes[0]));
  assert_false(sct_codegen_fits(&f.spec, &wide, &f.spec.sizes[1]));
  assert_true(sct_codegen_fits(&f.spec, &narrow, &f.spec.sizes[1]));
  assert_int_equal(wide.align[0], 16);
  assert_int_equal(narrow.align[0], 4);
  sct_kernel_code_free(&wide);
  sct_kernel_code_free(&narrow);
  fixture_close(&f);
}

static void test_documents_parse(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f, "particle_soa_to_aos");
  sct_kernel_code code =
      fixture_make(&f, "map threads=256 items=1 vec=1 store=staged team=warp evict=none");
  sct_str text = {0};
  MUST(sct_codegen_launch(&text, &f.spec, &code, err));
  json_t *launch = json_loads(sct_str_c(&text), 0, NULL);
  assert_non_null(launch);
  assert_int_equal(json_integer_value(json_object_get(launch, "threads")), 256);
  assert_string_equal(json_string_value(json_object_get(launch, "grid")), "(n_i + 255) >> 8");
  assert_int_equal(json_object_size(json_object_get(launch, "layouts")), 2);
  json_decref(launch);
  sct_str_clear(&text);
  MUST(sct_codegen_signature(&text, &f.spec, err));
  json_t *signature = json_loads(sct_str_c(&text), 0, NULL);
  assert_non_null(signature);
  assert_int_equal(json_array_size(json_object_get(signature, "operands")), 2);
  assert_string_equal(json_string_value(json_object_get(signature, "name")), "particle_soa_to_aos");
  json_decref(signature);
  sct_str_free(&text);
  sct_kernel_code_free(&code);
  fixture_close(&f);
}

/* An array that is read at several places is one operand; the others are said. */
static void test_taps_are_in_the_signature(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f, "stencil2d_f32");
  sct_str text = {0};
  MUST(sct_codegen_signature(&text, &f.spec, err));
  json_t *signature = json_loads(sct_str_c(&text), 0, NULL);
  const json_t *operands = json_object_get(signature, "operands");
  assert_int_equal(json_array_size(operands), 2);
  const json_t *a = json_array_get(operands, 0), *taps = json_object_get(a, "taps");
  assert_string_equal(json_string_value(json_object_get(a, "border")), "clamp");
  assert_int_equal(json_array_size(taps), 4);
  assert_string_equal(json_string_value(json_array_get(taps, 1)), "north (-1, 0)");
  assert_null(json_object_get(json_array_get(operands, 1), "taps"));
  json_decref(signature);
  sct_str_free(&text);
  fixture_close(&f);
}

/* Reduced or not: an output whose values go onto what it holds. */
static void test_outputs_that_are_read_are_in_the_signature(void **state) {
  (void)state;
  fixture f;
  fixture_open_text(
      &f,
      "local s = require \"sectile\"\n"
      "return s.kernel { name = \"onto\", dims = { \"i\" }, inputs = { s.array(\"a\", \"f32\") },\n"
      "  outputs = { s.array(\"n\", \"f32\", nil, { dims = {}, reduce = \"sum\", inout = true }),\n"
      "    s.array(\"m\", \"f32\", nil, { dims = {}, reduce = \"max\" }) },\n"
      "  body = \"n = a; m = a;\", sizes = { { i = 100 } } }\n");
  sct_str text = {0};
  MUST(sct_codegen_signature(&text, &f.spec, err));
  json_t *signature = json_loads(sct_str_c(&text), 0, NULL);
  const json_t *operands = json_object_get(signature, "operands");
  assert_true(json_is_true(json_object_get(json_array_get(operands, 1), "inout")));
  assert_null(json_object_get(json_array_get(operands, 2), "inout"));
  json_decref(signature);
  sct_str_free(&text);
  fixture_close(&f);
}

/* The axes are what a parser reads as the candidate's values, in the order of the axes. */
static void test_axes_are_json(void **state) {
  static sct_axis_value values[] = {{.text = "256", .number = 256},
                                    {.text = "-1", .number = -1},
                                    {.text = "1", .number = 1, .is_bool = true},
                                    {.text = "0", .is_bool = true},
                                    {.text = "row_major", .is_string = true},
                                    {.text = "", .is_string = true},
                                    {.text = "a \"b\" \\ c\n\x01", .is_string = true},
                                    {.text = "d\xc3\xa9j\xc3\xa0", .is_string = true}};
  static const char *const expected =
      "{\"x0\":256,\"x1\":-1,\"x2\":true,\"x3\":false,\"x4\":\"row_major\",\"x5\":\"\","
      "\"x6\":\"a \\\"b\\\" \\\\ c\\n\\u0001\",\"x7\":\"d\xc3\xa9j\xc3\xa0\"}";
  static const char *const name[] = {"x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7"};
  sct_axis axes[SCT_COUNT(values)];
  sct_candidate cand = {0};
  sct_str text = {0};
  (void)state;
  for (int a = 0; a < SCT_COUNT(values); a++) { /* each has the others too, before its own */
    cand.value[a] = (int16_t)a;
    axes[a] = (sct_axis){.name = name[a], .values = values, .n_values = SCT_COUNT(values)};
  }
  sct_strategy strategy = {.n_axes = SCT_COUNT(values), .axes = axes};
  const sct_space space = {.n_strategies = 1, .strategies = &strategy};
  sct_codegen_axes(&text, &space, &cand);
  assert_string_equal(sct_str_c(&text), expected);
  json_t *doc = json_loads(sct_str_c(&text), JSON_REJECT_DUPLICATES, NULL);
  assert_string_equal(json_string_value(json_object_get(doc, "x6")), values[6].text);
  json_decref(doc);
  strategy.n_axes = 0;
  sct_str_clear(&text);
  sct_codegen_axes(&text, &space, &cand);
  assert_string_equal(sct_str_c(&text), "{}");
  sct_str_free(&text);
}

static const char *formula_text(const json_t *operand, size_t layout, const char *key) {
  const json_t *formula = json_array_get(json_object_get(operand, "formulas"), layout);
  return json_string_value(json_object_get(formula, key));
}

/* Where the bytes of an array lie goes to the store, of all layouts that may be chosen. */
static void test_formulas_are_in_the_signature(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f, "particle_energy");
  sct_str text = {0}, again = {0};
  MUST(sct_codegen_signature(&text, &f.spec, err));
  MUST(sct_codegen_signature(&again, &f.spec, err));
  assert_string_equal(sct_str_c(&text), sct_str_c(&again));
  json_t *signature = json_loads(sct_str_c(&text), 0, NULL);
  const json_t *operands = json_object_get(signature, "operands");
  const json_t *p = json_array_get(operands, 0);
  assert_int_equal(json_array_size(json_object_get(p, "formulas")), 3);
  assert_string_equal(json_string_value(json_array_get(json_object_get(p, "shape"), 0)), "n_i");
  assert_string_equal(formula_text(p, 1, "bytes"), "28 * n_i");
  assert_string_equal(formula_text(p, 2, "bytes"), "((n_i + 31) >> 5) * 896");
  assert_string_equal(formula_text(p, 1, "doc"),
                      "One contiguous section a field, the last index fastest.");
  const json_t *soa = json_array_get(json_object_get(p, "formulas"), 1);
  const json_t *offsets = json_object_get(soa, "offsets");
  assert_int_equal(json_array_size(offsets), 7);
  assert_string_equal(json_string_value(json_array_get(offsets, 6)), "24 * n_i + 4 * i");
  const json_t *e = json_array_get(operands, 1); /* whose layout is fixed */
  assert_int_equal(json_array_size(json_object_get(e, "formulas")), 1);
  assert_string_equal(formula_text(e, 0, "bytes"), "4 * n_i");
  json_decref(signature);
  sct_str_free(&text);
  sct_str_free(&again);
  fixture_close(&f);
}

/* A sum of narrow floats is rounded once: what the body gives stays as wide as it is summed. */
static void test_narrow_sums_are_rounded_once(void **state) {
  (void)state;
  static const char *const labels[] = {
      "direct threads=256",
      "reduce threads=128 lanes=128 vec=8 items=2 outputs=2 blocks=1 evict=none"};
  for (int k = 0; k < SCT_COUNT(labels); k++) {
    fixture f;
    fixture_open(&f, SCT_TESTS_DIR "/cases/moe_combine.lua");
    sct_kernel_code code = fixture_make(&f, labels[k]);
    assert_non_null(strstr(code.source, "compute(float w, bf16 e, float &y)"));
    assert_non_null(strstr(code.source, "(bf16)mine"));
    assert_null(strstr(code.source, "bf16 y_"));
    sct_kernel_code_free(&code);
    fixture_close(&f);
  }
}

/* A remainder of what may be negative calls a function, which the source then defines. */
static void test_floor_functions_are_defined_where_they_are_called(void **state) {
  (void)state;
  fixture f;
  fixture_open_text(&f, "local s = require \"sectile\"\n"
                        "return s.kernel {\n  name = \"turn\", dims = { \"i\" },\n"
                        "  inputs = { s.array(\"a\", \"f32\", s.row_major, "
                        "{ at = { \"(i - 5) % n_i\" } }) },\n"
                        "  outputs = { s.array(\"b\", \"f32\") }, body = \"b = a;\",\n"
                        "  sizes = { { i = 4096 } },\n}\n");
  sct_kernel_code code = fixture_make(&f, "direct threads=256");
  static const char definition[] = "long long sct_floor_mod(long long a, long long b) {";
  const char *defined = strstr(code.source, definition);
  assert_non_null(defined);
  assert_true(strstr(code.source, "sct_floor_mod(") > defined - 60); /* not called before */
  assert_non_null(strstr(defined, "sct_floor_mod(i - 5, n_i)"));
  assert_null(strstr(code.source, "sct_floor_div("));
  int lines = 0;
  int element = 0; /* the line that calls it is still known by its line in the template */
  for (const char *p = code.source; *p; p++) {
    lines += *p == '\n';
    element = p == strstr(code.source, "constexpr int kThreads") ? lines : element;
  }
  assert_int_not_equal(line_of(&code, lines), 0);
  assert_int_equal(line_of(&code, lines + 1), 0);
  sct_str templated = {0};
  MUST(sct_asset_read(&templated, "templates/direct.cu", err));
  int line = 1;
  for (const char *p = sct_str_c(&templated); p < strstr(templated.data, "constexpr int kThreads");
       p++) {
    line += *p == '\n';
  }
  assert_int_equal(line_of(&code, element + 1), line);
  sct_str_free(&templated);
  sct_kernel_code_free(&code);
  fixture_close(&f);
}

/* Nothing about them is known when a tile is laid out: strategies that need it are no candidates,
 * and no error. */
static void test_strides_may_be_extents(void **state) {
  (void)state;
  static const char *const strides[] = {"{ 'i' }", "{ '2 * i + 1' }", "{ 'i * i' }"};
  for (int n = 0; n < SCT_COUNT(strides); n++) {
    fixture f;
    sct_str text = {0};
    sct_str_printf(&text,
                   "local s = require \"sectile\"\n"
                   "return s.kernel { name = \"k\", dims = { \"i\" },\n"
                   "  inputs = { s.array(\"a\", \"f32\", s.strided %s) },\n"
                   "  outputs = { s.array(\"b\", \"f32\") }, body = \"b = a;\",\n"
                   "  sizes = { { i = 64 } } }\n",
                   strides[n]);
    fixture_open_text(&f, sct_str_c(&text));
    int n_made = 0;
    for (size_t c = 0; c < f.space.n_candidates; c += 5) {
      sct_kernel_code code;
      const char *rejected;
      MUST(sct_codegen_make(&code, &rejected, &f.arena, f.script, &f.spec, &f.space,
                            &f.space.candidates[c], err));
      n_made += rejected == NULL;
      if (!rejected) {
        sct_kernel_code_free(&code);
      }
    }
    assert_true(n_made >= 5);
    sct_str_free(&text);
    fixture_close(&f);
  }
}

static void test_compile_errors_name_the_template(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f, "add_const_double3");
  sct_kernel_code code = fixture_make(&f, "direct threads=256");
  int kernel_line = 0; /* the line that declares `thread` stands in templates/direct.cu */
  const char *at = strstr(code.source, "const long long thread");
  for (const char *p = code.source; p <= at; p++) {
    kernel_line += *p == '\n' || p == code.source;
  }
  sct_str log = {0}, out = {0};
  sct_str_printf(&log, "line %d: error: something\nother text\nline 9999: error: x", kernel_line);
  sct_codegen_map_log(&out, &code, sct_str_c(&log));
  char want[128];
  snprintf(want, sizeof want, "templates/direct.cu:%d: error: something (line %d of the source)\n",
           line_of(&code, kernel_line), kernel_line);
  assert_non_null(strstr(sct_str_c(&out), want));
  assert_non_null(strstr(sct_str_c(&out), "other text\nline 9999"));
  sct_str_free(&log);
  sct_str_free(&out);
  sct_kernel_code_free(&code);
  fixture_close(&f);
}

/* A line of the device library is named by who calls it: "line 3, called in line 40: ...". */
static void test_the_library_is_not_the_author(void **state) {
  (void)state;
  sct_kernel_code code = {.lines = "20 1 templates/device/words.cuh\n20 5 mine/templates/k.cu\n"};
  static const char *const cases[][2] = {
      {"line 3: x (a)", "templates/device/words.cuh:3: x (a) (line 3 of the source)\n"},
      {"line 25: x", "mine/templates/k.cu:9: x (line 25 of the source)\n"},
      {"line 3, called in line 25: x", "mine/templates/k.cu:9: x (line 25 of the source, in "
                                       "templates/device/words.cuh:3)\n"},
      {"line 3, called in line 4, 25, 26: x, 7",
       "mine/templates/k.cu:9: x, 7 (line 25 of the source, in templates/device/words.cuh:3)\n"},
      {"line 25, called in line 30: x", "mine/templates/k.cu:9: x (line 25 of the source)\n"}};
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    SCT_SCOPED(sct_str) out = {0};
    sct_codegen_map_log(&out, &code, cases[k][0]);
    assert_string_equal(sct_str_c(&out), cases[k][1]);
  }
}

static const char blocks48[] =
    "local s = require 'sectile'\n"
    "local r = s.record { { 'a', 'f32' }, { 'b', 'f32' }, { 'c', 'f64' }, name = 'three' }\n"
    "return s.kernel { name = 'pick', dims = { 'i' },\n"
    "  inputs = { s.array('p', r, s.choose { s.aos, s.soa, s.aosoa { lanes = { 16, 32 } } }) },\n"
    "  outputs = { s.array('q', r, s.aos) }, body = 'q = p;', sizes = { { i = 1000 } } }\n";

static void test_layout_choices_become_axes_with_a_naive_variant_each(void **state) {
  (void)state;
  fixture f;
  fixture_open_text(&f, blocks48);
  assert_int_equal(f.spec.operands[0].n_layouts, 4);
  for (int layout = 0; layout < 4; layout++) {
    const int choice[] = {layout, 0};
    const int64_t naive = sct_codegen_naive(&f.spec, &f.space, choice);
    assert_true(naive >= 0);
    sct_str label = {0};
    sct_space_label(&label, &f.space, &f.space.candidates[naive]);
    sct_kernel_code code = fixture_make(&f, sct_str_c(&label));
    assert_int_equal(code.layout[0], layout);
    assert_string_equal(code.kernel, "direct");
    sct_kernel_code_free(&code);
    sct_str_free(&label);
  }
  fixture_close(&f);
}

/* Of elements that share bytes too, a kernel loads those that the body names, not their array. */
static void test_bytes_that_are_not_read_are_not_loaded(void **state) {
  (void)state;
  fixture f;
  fixture_open_text(
      &f, "local s = require 'sectile'\n"
          "return s.kernel { name = 'one', dims = { 'i' },\n"
          "  inputs = { s.array('a', s.record { { 'q', 'i4', 6 }, { 'd', 'f32' } }, s.soa) },\n"
          "  outputs = { s.array('o', 'f32') }, body = 'o = a.q[3] * a.d;',\n"
          "  sizes = { { i = 1000 } } }\n");
  sct_kernel_code code = fixture_make(&f, "direct threads=256");
  assert_non_null(
      strstr(code.source, "  unsigned char q[3]; // 6 of i4, 2 a byte, low bits first"));
  assert_non_null(strstr(code.source, "o = signed_bits<4>(a.q[1], 1) * a.d;"));
  assert_non_null(strstr(code.source, "a_v.q[1] = "));
  assert_null(strstr(code.source, "a_v.q[0] = "));
  assert_null(strstr(code.source, "a_v.q[2] = "));
  sct_kernel_code_free(&code);
  fixture_close(&f);
}

#define SUM_OF(count)                                                                              \
  "local s = require 'sectile'\n"                                                                  \
  "return s.kernel { name = 'few', dims = { 'i', 'j' }, inputs = { s.array('a', 'f32') },\n"       \
  "  outputs = { s.array('b', 'f32', s.row_major, { dims = { 'i' }, reduce = 'sum' }) },\n"        \
  "  body = 'b = a;', sizes = { { i = 1000, j = " count " } } }\n"

/* A block of a person's naive reduction has no more warps than there is something to do for. */
static void test_naive_reductions_have_a_block_that_fits(void **state) {
  (void)state;
  static const struct {
    const char *spec;
    int threads;
  } cases[] = {{SUM_OF("16"), 32}, {SUM_OF("33"), 64}, {SUM_OF("128"), 128}, {SUM_OF("129"), 256}};
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    fixture f;
    const int layout[2] = {0};
    const char *rejected = NULL;
    fixture_open_text(&f, cases[k].spec);
    const int64_t naive = sct_codegen_naive(&f.spec, &f.space, layout);
    assert_true(naive >= 0);
    sct_kernel_code code;
    MUST(sct_codegen_make(&code, &rejected, &f.arena, f.script, &f.spec, &f.space,
                          &f.space.candidates[naive], err));
    assert_int_equal(code.threads, cases[k].threads);
    sct_kernel_code_free(&code);
    fixture_close(&f);
  }
}

#define REDUCED(kept, sizes)                                                                       \
  "local s = require 'sectile'\n"                                                                  \
  "return s.kernel { name = 'loss', dims = { 'row', 'col' }, inputs = { s.array('p', 'f32'),\n"    \
  "    s.array('q', 'f32', s.row_major, { dims = { 'col' } }) },\n"                                \
  "  outputs = { s.array('loss', 'f32', s.row_major, { dims = { " kept                             \
  " }, reduce = 'sum' }) },\n"                                                                     \
  "  body = 'loss = fmaxf(1.0f - p * q, 0.0f);', sizes = { { " sizes " } } }\n"
#define SEGMENTS                                                                                   \
  "local s = require 'sectile'\n"                                                                  \
  "return s.kernel { name = 'segments', dims = { 'row', 'k' }, ragged = { k = 'ptr' },\n"          \
  "  inputs = { s.array('ptr', 'i32', s.row_major, { dims = 'row' }),\n"                           \
  "    s.array('x', 'f32', s.row_major, { dims = 'k' }) },\n"                                      \
  "  outputs = { s.array('y', 'f32', s.row_major, { dims = 'row', reduce = 'sum' }) },\n"          \
  "  body = 'y = x;', sizes = { { row = 64, k = 1 << 26, ptr = 'power' } } }\n"

/* Few outputs have many blocks, by the extents of the launch and wherever it was tuned; many have
 * one each, and sums of nothing are written as well. */
static void test_naive_reductions_use_the_whole_gpu(void **state) {
  (void)state;
  static const struct {
    const char *spec;
    int64_t extent[2], blocks;
  } cases[] = {{REDUCED("", "row = 9, col = 9"), {32768, 32768}, 1024},
               {REDUCED("", "row = 32768, col = 32768"), {(int64_t)1 << 31, 1 << 17}, 1024},
               {REDUCED("", "row = 32768, col = 32768"), {64, 64}, 2},
               {REDUCED("", "row = 32768, col = 32768"), {0, 5}, 1},
               {REDUCED("'row'", "row = 4096, col = 4096"), {4096, 1 << 20}, 4096},
               {REDUCED("'row'", "row = 4096, col = 4096"), {16, 1 << 26}, 1024},
               {REDUCED("'row'", "row = 4096, col = 4096"), {0, 1 << 26}, 0},
               {REDUCED("'col'", "row = 4096, col = 4096"), {1 << 22, 64}, 1024},
               {REDUCED("'col'", "row = 4096, col = 4096"), {1 << 22, 1 << 16}, 2048},
               {REDUCED("'col'", "row = 4096, col = 3"), {1 << 22, 3}, 1024},
               {SEGMENTS, {64, 1 << 26}, 1024},
               {SEGMENTS, {1 << 20, 1 << 26}, 1 << 20}};
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    fixture f;
    fixture_open_text(&f, cases[k].spec);
    sct_kernel_code code = fixture_make(&f, "direct threads=256");
    const sct_expr_env env = {f.spec.extent_var, cases[k].extent, f.spec.n_extents};
    int64_t blocks = -1;
    MUST(sct_expr_eval(f.spec.pool, code.grid, &env, &blocks, err));
    assert_int_equal(blocks, cases[k].blocks);
    sct_kernel_code_free(&code);
    fixture_close(&f);
  }
}

#define MOVE(fields, from, to)                                                                     \
  "local s = require 'sectile'\nlocal r = s.record { " fields " }\n"                               \
  "return s.kernel { name = 'placed', dims = { 'i' }, inputs = { s.array('a', r, " from ") },\n"   \
  "  outputs = { s.array('b', r, " to ") }, body = 'b = a;', sizes = { { i = 4096 } } }\n"
#define FLOATS  "{ 'x', 'f32' }, { 'y', 'f32' }, packed = true"
#define MIXED   "{ 't', 'u8' }, { 'x', 'f32' }, { 'w', 'f64' }, { 'h', 'f16' }, packed = true"
#define VECTORS "{ 'x', 'f32x4' }, { 't', 'u8' }, { 'y', 'i32x2' }, packed = true"
#define WIDE    "{ 't', 'u8' }, { 'x', 'f32' }, { 'y', 'f64' }, packed = true, align = 8"
#define ALIGNED "{ 'x', 'f32' }, { 'y', 'f32' }, { 'z', 'u8' }, align = 16"

/* What the naive variant asks of pointers: what the argument's type promises, and for bytes what
 * the fields that lie in them need. */
static void test_naive_asks_for_what_it_accesses(void **state) {
  (void)state;
  static const struct {
    const char *spec;
    int64_t from, to;
  } cases[] = {{MOVE(FLOATS, "s.aos", "s.soa"), 1, 4},  {MOVE(FLOATS, "s.soa", "s.aos"), 4, 1},
               {MOVE(MIXED, "s.soa", "s.aos"), 8, 1},   {MOVE(VECTORS, "s.aos", "s.soa"), 1, 16},
               {MOVE(WIDE, "s.aos", "s.soa"), 8, 8},    {MOVE(ALIGNED, "s.aos", "s.soa"), 16, 4},
               {MOVE(ALIGNED, "s.soa", "s.aos"), 4, 16}};
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    fixture f;
    fixture_open_text(&f, cases[k].spec);
    sct_kernel_code code = fixture_make(&f, "direct threads=256");
    assert_int_equal(code.align[0], cases[k].from);
    assert_int_equal(code.align[1], cases[k].to);
    sct_kernel_code_free(&code);
    fixture_close(&f);
  }
}

/* Vectors of two fours in rows of fours and of eights: what is asked of an array's address says
 * that all are whole, beside what lets the mode be split. */
static void test_requirements_together_leave_no_tails(void **state) {
  (void)state;
  fixture f;
  fixture_open_text(&f, "local s = require \"sectile\"\n"
                        "return s.kernel { name = \"k\", dims = { \"row\", \"i\" },\n"
                        "  inputs = { s.array(\"a\", \"f32\"),\n"
                        "    s.array(\"b\", \"f32\", s.row_major,\n"
                        "      { at = { \"row\", \"i // 4\" }, extents = { \"row\", \"i\" } }) },\n"
                        "  outputs = { s.array(\"o\", \"f32\") }, body = \"o = a * b;\",\n"
                        "  sizes = { { row = 64, i = 1024 } } }\n");
  sct_kernel_code code = fixture_make(&f, "map threads=256 items=1 vec=8 evict=none");
  assert_non_null(strstr(code.source, "load<vec<"));
  assert_null(strstr(code.source, "store_some("));
  sct_kernel_code_free(&code);
  fixture_close(&f);
}

/* 8 vectors of a thread by the words around them, at two places each, are 160 registers: blocks of
 * 256 threads have them, blocks of 512 do not. */
static void test_what_registers_cannot_hold_is_rejected(void **state) {
  (void)state;
  fixture f;
  fixture_open_text(&f, "local s = require \"sectile\"\n"
                        "return s.kernel { name = \"k\", dims = { \"j\", \"i\", \"k\" },\n"
                        "  inputs = { s.array(\"a\", \"f64\", s.row_major,\n"
                        "    { dims = { \"i\", \"j\", \"k\" } }) },\n"
                        "  outputs = { s.array(\"b\", \"f64\") }, body = \"b = a;\",\n"
                        "  sizes = { { j = 300, i = 500, k = 57 } } }\n");
  static const char *const labels[] = {
      "map threads=256 items=8 vec=2 load=around rows=across evict=none",
      "map threads=512 items=8 vec=2 load=around rows=across evict=none"};
  for (int k = 0; k < SCT_COUNT(labels); k++) {
    sct_error not_found = {0};
    const int64_t c = sct_space_find(&f.space, labels[k], 0, &not_found);
    assert_true(c >= 0);
    sct_kernel_code code;
    const char *rejected = NULL;
    MUST(sct_codegen_make(&code, &rejected, &f.arena, f.script, &f.spec, &f.space,
                          &f.space.candidates[c], err));
    if (k == 0) {
      assert_null(rejected);
      sct_kernel_code_free(&code);
    } else {
      assert_string_equal(rejected, "a thread would hold more than its registers take");
    }
  }
  fixture_close(&f);
}

/* The source of a candidate of `b = a`, where a is read at this place of its second dimension. */
static sct_kernel_code make_rolled(fixture *f, const char *place) {
  sct_str spec = {0};
  sct_str_printf(&spec,
                 "local s = require \"sectile\"\n"
                 "return s.kernel { name = \"k\", dims = { \"y\", \"x\" }, body = \"b = a;\",\n"
                 "  inputs = { s.array(\"a\", \"f32\", s.row_major,\n"
                 "    { at = { \"(y + n_y // 2) %% n_y\", \"%s\" } }) },\n"
                 "  outputs = { s.array(\"b\", \"f32\") }, sizes = { { y = 1000, x = 1000 } } }\n",
                 place);
  fixture_open_text(f, sct_str_c(&spec));
  sct_str_free(&spec);
  return fixture_make(f, "map threads=256 items=4 vec=1 evict=none");
}

/* Places that wrap once at most need no division; others keep theirs. */
static void test_places_that_wrap_once_are_not_divided(void **state) {
  static const char *const once[] = {"(x + n_x // 2) % n_x",       "(x + (n_x + 1) // 2) % n_x",
                                     "(x + n_x - n_x // 2) % n_x", "(x + 1) % n_x",
                                     "(x + n_x - 1) % n_x",        "(x + n_x // 3) % n_x"};
  static const char *const more[] = {"(x + 2 * (n_x // 3)) % n_x", "(x + 2) % n_x",
                                     "(x + (n_x + 2) // 2) % n_x", "(2 * x + n_x // 2) % n_x",
                                     "(x + n_y // 2) % n_x"};
  fixture f;
  (void)state;
  for (int k = 0; k < SCT_COUNT(once) + SCT_COUNT(more); k++) {
    const bool wraps_once = k < SCT_COUNT(once);
    const char *place = wraps_once ? once[k] : more[k - SCT_COUNT(once)];
    sct_kernel_code code = make_rolled(&f, place);
    const bool divides = strstr(code.source, wraps_once ? "% n_" : "% n_x") != NULL;
    if (divides == wraps_once || (wraps_once && strstr(code.source, "floor_mod("))) {
      fail_msg("%s:\n%s", place, code.source);
    }
    sct_kernel_code_free(&code);
    fixture_close(&f);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_axes_are_json),
      cmocka_unit_test(test_every_candidate_of_every_spec),
      cmocka_unit_test(test_same_candidate_same_bytes),
      cmocka_unit_test(test_requirements_follow_alignment),
      cmocka_unit_test(test_documents_parse),
      cmocka_unit_test(test_taps_are_in_the_signature),
      cmocka_unit_test(test_outputs_that_are_read_are_in_the_signature),
      cmocka_unit_test(test_formulas_are_in_the_signature),
      cmocka_unit_test(test_floor_functions_are_defined_where_they_are_called),
      cmocka_unit_test(test_strides_may_be_extents),
      cmocka_unit_test(test_compile_errors_name_the_template),
      cmocka_unit_test(test_the_library_is_not_the_author),
      cmocka_unit_test(test_layout_choices_become_axes_with_a_naive_variant_each),
      cmocka_unit_test(test_bytes_that_are_not_read_are_not_loaded),
      cmocka_unit_test(test_naive_reductions_have_a_block_that_fits),
      cmocka_unit_test(test_naive_reductions_use_the_whole_gpu),
      cmocka_unit_test(test_naive_asks_for_what_it_accesses),
      cmocka_unit_test(test_narrow_sums_are_rounded_once),
      cmocka_unit_test(test_requirements_together_leave_no_tails),
      cmocka_unit_test(test_what_registers_cannot_hold_is_rejected),
      cmocka_unit_test(test_places_that_wrap_once_are_not_divided),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
