/* Kernels of the user's own through the program: verified, counted and compared beside ours, their
 * diagnoses, and what comes into a header. */
#include "cli_fixture.h"

#define TUNE "tune", "own.lua", "-d", "virtual:h200", "--store", "own.db", "-q"

static const char *nvcc; /* NULL: there is none */

static int setup(void **state) {
  nvcc = fx_nvcc();
  return fx_setup(state);
}

/* A map b = 2 a over i with these entries of `also`. */
static void write_spec(const char *also) {
  sct_str text = {0};
  sct_str_printf(&text,
                 "local s = require \"sectile\"\n"
                 "local function plain(name, args)\n"
                 "  return { cuda = \"own.cu\", kernel = name, args = args or { \"a\", \"b\", "
                 "\"n_i\" }, block = 256,\n"
                 "    grid = \"(n_i + 255) // 256\" }\n"
                 "end\n"
                 "return s.kernel { name = \"own\", dims = { \"i\" },\n"
                 "  inputs = { s.array(\"a\", \"f32\") }, outputs = { s.array(\"b\", \"f32\") },\n"
                 "  body = \"b = 2.0f * a;\", sizes = { { i = 100000 } },\n"
                 "  also = { %s } }\n",
                 also);
  fx_write("own.lua", sct_str_c(&text));
  sct_str_free(&text);
}

/* The row of a session with this label; its outcome and detail. */
static const json_t *find_row(const json_t *doc, const char *label) {
  const json_t *sizes = json_object_get(
      json_object_get(json_array_get(json_object_get(doc, "tuned"), 0), "report"), "sizes");
  const json_t *rows = json_object_get(json_array_get(sizes, 0), "rows");
  size_t k = 0;
  json_t *row = NULL;
  json_array_foreach(rows, k, row) {
    if (strcmp(json_string_value(json_object_get(row, "label")), label) == 0) {
      return row;
    }
  }
  fail_msg("no row '%s'", label);
  return NULL;
}

static void expect_row(const json_t *doc, const char *label, const char *outcome,
                       const char *detail) {
  const json_t *row = find_row(doc, label);
  const char *got = json_string_value(json_object_get(row, "outcome"));
  const char *said = json_string_value(json_object_get(row, "detail"));
  assert_true(json_is_true(json_object_get(row, "own")));
  if (strcmp(got, outcome) != 0 || (detail && (!said || !strstr(said, detail)))) {
    fail_msg("%s: expected %s, %s; got %s, %s", label, outcome, detail ? detail : "", got,
             said ? said : "");
  }
}

#define HEAD                                                                                       \
  "(const float *a, float *b, int n) {\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  "

/* Every way to be wrong is a failed candidate with its diagnosis; the session goes on. */
static void what_is_wrong_is_diagnosed(void **state) {
  (void)state;
  static const struct {
    const char *name, *body, *outcome, *detail;
  } cases[] = {
      {"good", "if (i < n) b[i] = 2.0f * a[i];", "ok", NULL},
      {"wrong", "if (i < n) b[i] = 2.5f * a[i];", "wrong_result", "b of element i="},
      {"beyond", "b[i] = 2.0f * a[i];", "out_of_bounds", "own.cu:11: out_of_bounds: reads 4 bytes"},
      {"forgets", "if (i < n - 1) b[i] = 2.0f * a[i];", "not_written", "not written"},
      {"race",
       "__shared__ float s[256]; s[threadIdx.x] = i < n ? a[i] : 0; float x = s[255 - threadIdx.x];"
       " __syncthreads(); s[255 - threadIdx.x] = 2.0f * x; __syncthreads();"
       " if (i < n) b[i] = s[threadIdx.x];",
       "race", "own.cu:19: shared_race"},
      {"trap", "if (i < n) b[i] = 2.0f * a[i]; __trap();", "trap", "own.cu:23"},
      {"uneven", "if (i < n) { b[i] = 2.0f * a[i]; if (i % 2) __syncwarp(); }", "barrier",
       "absent_lane"},
      {"unwritten",
       "__shared__ float s[256]; if (threadIdx.x > 0) s[threadIdx.x] = 0; __syncthreads();"
       " if (i < n) b[i] = 2.0f * a[i] + s[threadIdx.x];",
       "uninitialised", "own.cu:31"},
      {"unlike",
       "bool alike = (((unsigned long long)a ^ (unsigned long long)b) & 15) == 0;"
       " if (i < n) b[i] = alike ? 2.0f * a[i] : 0.0f;",
       "wrong_result", " modulo 16"},
  };
  sct_str cuda = {0}, also = {0};
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    sct_str_printf(&cuda, "__global__ void %s" HEAD "%s\n}\n", cases[k].name, cases[k].body);
    sct_str_printf(&also, "plain(\"%s\"), ", cases[k].name);
  }
  sct_str_append(&cuda, "__global__ void longs(const float *a, float *b, long long n) { }\n"
                        "#define MAKE(name) __global__ void name(const float *a) { b(a); }\n"
                        "#if 0\nMAKE(made)\n#endif\n"
                        "__global__ void input(float *a, float *b, int n) {\n"
                        "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                        "  if (i < n) { b[i] = 2.0f * a[i]; a[i] = 0; }\n}\n");
  sct_str_append(&also, "plain(\"longs\"), plain(\"input\"), plain(\"made\"),\n");
  fx_write("own.cu", sct_str_c(&cuda));
  write_spec(sct_str_c(&also));
  fx_result r = {0};
  fx_run(&r, TUNE, "--json");
  fx_expect(&r, 0, NULL, NULL);
  json_t *doc = fx_json(&r);
  char label[64];
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    snprintf(label, sizeof label, "own_%s", cases[k].name);
    expect_row(doc, label, cases[k].outcome, cases[k].detail);
  }
  expect_row(doc, "own_longs", "compile_error",
             "own.lua:6: error: args: item 3 has 4 bytes, and parameter 3 of 'longs' has 8; a long "
             "long is { expression, \"i64\" }");
  expect_row(doc, "own_input", "input_changed", "own.cu:44: read_only: writes 4 bytes");
  expect_row(doc, "own_made", "compile_error", "made");
  json_decref(doc);
  fx_run(&r, TUNE); /* the table says it, too */
  fx_expect(&r, 0, "failed: own_race: its threads race for the same memory: own.cu:19", NULL);
  fx_expect(&r, 0, "  o ", NULL);
  fx_free(&r);
  sct_str_free(&cuda);
  sct_str_free(&also);
}

/* What was stored for a text is not taken for another one, in the file or in one that it includes.
 */
static void an_edited_file_is_another_kernel(void **state) {
  (void)state;
  fx_result r = {0};
  write_spec("plain(\"mine\")");
  fx_write("own.cu", "#include \"more.cuh\"\n__global__ void mine" HEAD
                     "if (i < n) b[i] = FACTOR * a[i];\n}\n");
  static const char *const factors[] = {"2.5f", "2.0f", "2.5f"};
  for (int k = 0; k < SCT_COUNT(factors); k++) {
    char text[64];
    snprintf(text, sizeof text, "#define FACTOR %s\n", factors[k]);
    fx_write("more.cuh", text);
    fx_run(&r, TUNE, "--json");
    fx_expect(&r, 0, NULL, NULL);
    json_t *doc = fx_json(&r);
    expect_row(doc, "own_mine", k == 1 ? "ok" : "wrong_result", NULL);
    json_decref(doc);
  }
  fx_free(&r);
}

static const char transpose_cuda[] =
    "#include <cuda_fp16.h>\n"
    "#ifndef PAD\n#define PAD 0\n#endif\n"
    "#if PAD > 0\n#define WIDE(n) ((n) + \\\n  PAD)\n#else\n#define WIDE(n) (n)\n#endif\n"
    "namespace mine {\n"
    "template <typename T, int TILE>\n"
    "__global__ void turn(T *b, T *a, int width, int height, double) {\n"
    "  __shared__ T tile[TILE][WIDE(TILE)];\n"
    "  int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;\n"
    "  for (int j = 0; j < TILE; j += ROWS)\n"
    "    if (x < width && y + j < height)\n"
    "      tile[threadIdx.y + j][threadIdx.x] = a[(y + j) * width + x];\n"
    "  __syncthreads();\n"
    "  x = blockIdx.y * TILE + threadIdx.x, y = blockIdx.x * TILE + threadIdx.y;\n"
    "  for (int j = 0; j < TILE; j += ROWS)\n"
    "    if (x < height && y + j < width)\n"
    "      b[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];\n"
    "}\n"
    "}\n";

static void write_transpose(void) {
  fx_write("turn.cu", transpose_cuda);
  fx_write(
      "turn.lua",
      "local s = require \"sectile\"\n"
      "return s.kernel { name = \"turn\", dims = { \"row\", \"col\" },\n"
      "  inputs = { s.array(\"a\", \"f16\") },\n"
      "  outputs = { s.array(\"b\", \"f16\", s.row_major, { dims = { \"col\", \"row\" } }) },\n"
      "  body = \"b = a;\", sizes = { { row = 100, col = 3000 } },\n"
      "  also = { cuda = \"turn.cu\", kernel = \"mine::turn<{T}, {TILE}>\",\n"
      "    args = { \"b\", \"a\", \"n_col\", \"n_row\", { \"7 * TILE\", \"f64\" } },\n"
      "    axes = { T = { \"__half\", \"float\" }, TILE = { 16, 32 }, ROWS = { 8, 12 }, PAD = { "
      "1 } },\n"
      "    block = { \"TILE\", \"ROWS\" },\n"
      "    grid = { \"(n_col + TILE - 1) // TILE\", \"(n_row + TILE - 1) // TILE\" },\n"
      "    where = { \"TILE % ROWS == 0\", \"n_row < 1000\" } } }\n");
}

#define PICK "own_turn ROWS=8 T=__half TILE=32"

static void its_candidates_are_known_everywhere(void **state) {
  (void)state;
  fx_result r = {0};
  write_transpose();
  fx_run(&r, "check", "turn.lua");
  fx_expect(&r, 0, "turn.lua: ok", NULL);
  fx_run(&r, "space", "turn.lua");
  fx_expect(&r, 0, "own_turn             4  The kernel mine::turn<{T}, {TILE}> of turn.cu.", NULL);
  fx_expect(&r, 0, "4  own_turn  TILE % ROWS == 0", NULL);
  fx_run(&r, "gen", "turn.lua", "--pick", PICK);
  fx_expect(&r, 0,
            "#pragma push_macro(\"PAD\")\n#undef PAD\n#pragma push_macro(\"WIDE\")\n#undef WIDE\n"
            "#define PAD 1\nconstexpr int ROWS = 8;\n#include <cuda_fp16.h>\n",
            "kernel mine::turn<__half, 32>, 256 threads a block");
  fx_expect(&r, 0, "}\n#pragma pop_macro(\"PAD\")\n#pragma pop_macro(\"WIDE\")\n", NULL);
  fx_run(&r, "gen", "turn.lua", "--pick", "own_turn ROWS=8 TILE=64");
  fx_expect(&r, 2, NULL, "did you mean 'own_turn ");
  fx_run(&r, "tune", "turn.lua", "-d", "virtual:h200", "--store", "turn.db", "-q", "--only", PICK,
         "--only", "own_turn ROWS=8 T=float TILE=32");
  fx_expect(&r, 0, "*o  1  " PICK, NULL);
  fx_expect(&r, 0, "failed: own_turn ROWS=8 T=float TILE=32: ", NULL);
  fx_free(&r);
}

/* On a runtime of our own, which says what is launched. */
static void its_header_launches_it(void **state) {
  (void)state;
  fx_result r = {0};
  fx_run(&r, "emit", "turn.lua", "--store", "turn.db", "-o", "turn.h");
  fx_expect(&r, 0, NULL, NULL);
  sct_str text = {0};
  sct_error err = {0};
  assert_int_equal(sct_file_read(&text, fx_path("turn.h"), &err), SCT_OK);
  const char *include = strstr(sct_str_c(&text), "#include <cuda_fp16.h>  // a kernel below");
  assert_non_null(include);
  assert_null(strstr(include + 1, "#include <cuda_fp16.h>"));
  static const char *const launch[] = {
      "::k1_own_turn::mine::turn<__half, 32>,\n",
      "  int p2 = (int)n_col;\n  int p3 = (int)n_row;\n  double p4 = (double)(224);\n"
      "  void *args[] = {&c.b, &c.a, &p2, &p3, &p4};\n"
      "  const dim3 grid = {(unsigned)((n_col + 31) >> 5), (unsigned)((n_row + 31) >> 5), "
      "(unsigned)(1)}, block = {32, 8, 1};\n"};
  assert_non_null(strstr(sct_str_c(&text), launch[0]));
  assert_non_null(strstr(sct_str_c(&text), launch[1]));
  assert_non_null(strstr(sct_str_c(&text), "if (!(n_row < 1000)) return false;"));
  sct_str_free(&text);
  fx_free(&r);
  if (!nvcc) {
    skip();
  }
  fx_write("calls.cu",
           "#define PAD kept\n#include \"turn.h\"\n"
           "#define WORD_(x) #x\n#define WORD(x) WORD_(x)\n"
           "#include \"fake_cudart.cuh\"\n#include <cstring>\n"
           "int main() {\n"
           "  fake_device = {9, 0, 132, 232448, \"NVIDIA H200\"};\n"
           "  char *const a = (char *)4096, *const b = (char *)(1LL << 40);\n"
           "  if (turn(a, b, 100, 3000, 0) != cudaSuccess) return 1;\n"
           "  const FakeLaunch &l = fake_launch;\n"
           "  if (l.grid.x != 94 || l.grid.y != 4 || l.grid.z != 1) return 2;\n"
           "  if (l.block.x != 32 || l.block.y != 8 || l.block.z != 1) return 3;\n"
           "  if (l.first != b || l.second != a) return 4;\n"
           "  if (std::strcmp(turn_variant(a, b, 100, 3000).variant, \"" PICK "\")) return 5;\n"
           "  if (std::strcmp(turn_variant(a, b, 1000, 3000).variant, \"direct threads=256\")) "
           "return 6;\n"
           "  if (std::strcmp(WORD(PAD), \"kept\")) "
           "return 7;\n"
           "#ifdef WIDE\n  return 8;\n#endif\n"
           "  return 0;\n}\n");
  fx_compile(nvcc,
             "-Werror all-warnings -Xcompiler -Wall,-Wextra,-Werror -cudart none -I '" SCT_TESTS_DIR
             "/emit/nvcc' -o calls calls.cu '" SCT_TESTS_DIR "/emit/nvcc/fake_cudart.cc'");
  assert_int_equal(system(fx_path("calls")), 0);
}

/* A condition that no case reaches: in JSON, from the store too, and in words with -v. */
static void what_no_case_reaches_is_listed(void **state) {
  (void)state;
  fx_write("own.cu", "__global__ void guarded" HEAD "if (i >= n) return;\n"
                     "  if (n == 1000000007) b[i] = 3.0f; else b[i] = 2.0f * a[i];\n}\n");
  write_spec("plain(\"guarded\")");
  for (int again = 0; again < 2; again++) {
    fx_result r = {0};
    fx_run(&r, TUNE, "--json", "--only", "own_guarded");
    fx_expect(&r, 0, NULL, NULL);
    json_t *doc = fx_json(&r);
    const json_t *row = find_row(doc, "own_guarded");
    const json_t *guards = json_object_get(row, "uncovered"), *guard = json_array_get(guards, 0);
    assert_int_equal(json_integer_value(json_object_get(row, "uncovered_count")), 1);
    assert_int_equal(json_array_size(guards), 1);
    const char *file = json_string_value(json_object_get(guard, "file"));
    assert_non_null(strstr(file, "own.cu"));
    assert_int_equal(json_integer_value(json_object_get(guard, "line")), 4);
    assert_true(json_integer_value(json_object_get(guard, "source_line")) > 0);
    assert_non_null(strstr(json_string_value(json_object_get(guard, "ptx")), "1000000007"));
    const char *never = json_string_value(json_object_get(guard, "never"));
    const bool ne = strstr(json_string_value(json_object_get(guard, "ptx")), ".ne.") != NULL;
    assert_string_equal(never, ne ? "false" : "true");
    json_decref(doc);
    fx_free(&r);
  }
  fx_result r = {0};
  fx_run(&r, "tune", "own.lua", "-d", "virtual:h200", "--store", "own.db", "--only", "own_guarded",
         "-v");
  fx_expect(&r, 0, "uncovered   own_guarded: 1 condition went one way in every case:", NULL);
  fx_expect(&r, 0, "own.cu:4\n", NULL);
  fx_free(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_wrong_is_diagnosed),
      cmocka_unit_test(what_no_case_reaches_is_listed),
      cmocka_unit_test(an_edited_file_is_another_kernel),
      cmocka_unit_test(its_candidates_are_known_everywhere),
      cmocka_unit_test(its_header_launches_it),
  };
  return cmocka_run_group_tests(tests, setup, fx_teardown);
}
