/* Kernels of the user's own: what a spec becomes with them, their files, and mistakes with the line
 * and what would be right. */
#include "script_test.h"

#define HEAD "local s = require 'sectile'\n"

/* A transpose of one entry, whose options stand in line 4 and, some changed, in line 5. */
static const char *kernel(const char *options, const char *more) {
  static char text[2048];
  snprintf(text, sizeof text,
           HEAD
           "return s.kernel { name = 'k', dims = { 'row', 'col' }, scalars = { { 'f', 'f32' } },\n"
           "  inputs = { s.array('a', 'f32') }, outputs = { s.array('b', 'f32') }, also = {\n"
           "  %s\n"
           "  %s },\n"
           "  body = 'b = f * a;', sizes = { { row = 8, col = 9 } } }\n",
           options, more);
  return text;
}

#define CUDA   "cuda = 'mine.cu', "
#define ARGS   "args = { 'b', 'a', 'f', 'n_col', { 'n_row', 'i64' } }, "
#define AXES   "axes = { T = { 'float', 'int' }, TILE = { 16, 32 }, ODD = { true, false } }, "
#define LAUNCH "block = { 'TILE', 4 }, grid = { '(n_col + TILE - 1) // TILE', 'n_row // 4 + 1' },"
#define KERNEL "kernel = 'mine<{T}>', "
#define ALL    CUDA KERNEL ARGS AXES LAUNCH
#define MINE                                                                                       \
  "// mine, and other things\n"                                                                    \
  "template <typename T>\n"                                                                        \
  "extern \"C\" __global__ void __launch_bounds__(TILE * 4)\n"                                     \
  "mine(T *b, const T *a, float f, int n_col, long long n_row) {\n"                                \
  "  b[0] = a[0];\n"                                                                               \
  "}\n"                                                                                            \
  "__global__ void other(float *b) { }\n"

static void test_what_it_becomes(void **state) {
  (void)state;
  write_file("mine.cu", MINE);
  load_ok(kernel(ALL,
                 "where = { 'TILE > 8', 'n_row % TILE == 0', \"T == 'int'\", 'not ODD or TILE > 8',"
                 "'ODD or n_col > 1' }, shared = '4 * TILE', align = { a = 16 }"));
  assert_int_equal(spec.n_own, 1);
  const sct_own *own = &spec.own[0];
  assert_string_equal(own->name, "own_mine");
  assert_int_equal(own->line, 3);
  assert_int_equal(own->n_axes, 3);
  assert_string_equal(own->axes[0].name, "ODD");
  assert_true(own->axes[0].values[0].is_bool && own->axes[1].var == SCT_EXPR_NONE);
  assert_string_equal(own->axes[1].values[1].text, "int");
  assert_true(own->is_argument[1] && !own->is_argument[2]);
  assert_true(own->where[0] == SCT_EXPR_NONE && own->where[1] != SCT_EXPR_NONE);
  assert_true(own->where[2] == SCT_EXPR_NONE && own->where[3] == SCT_EXPR_NONE);
  assert_true(own->where[4] != SCT_EXPR_NONE);
  assert_int_equal(own->n_params, 5);
  assert_true(own->params[0].kind == SCT_PARAM_ARRAY && own->params[0].number == 1);
  assert_true(own->params[2].kind == SCT_PARAM_SCALAR && own->params[2].number == 0);
  assert_true(own->params[3].value == spec.extent_var[1] && own->params[3].type == SCT_TYPE_I32);
  assert_int_equal(own->params[4].type, SCT_TYPE_I64);
  assert_null(strstr(own->text, "extern"));
  assert_non_null(strstr(own->text, "template <typename T>\n__global__ void"));
  sct_spec_free(&spec);
}

static void test_other_kernels_leave_the_hash(void **state) {
  (void)state;
  write_file("mine.cu", MINE);
  load_ok(kernel(ALL, ""));
  const sct_hash with = spec.hash;
  sct_spec_free(&spec);
  const char *plain =
      HEAD "return s.kernel { name = 'k', dims = { 'row', 'col' }, scalars = { { "
           "'f', 'f32' } }, inputs = { s.array('a', 'f32') },\n"
           "outputs = { s.array('b', 'f32') }, body = 'b = f * a;', sizes = { { row "
           "= 8, col = 9 } } }\n";
  load_ok(plain);
  assert_true(sct_hash_equal(with, spec.hash));
  sct_spec_free(&spec);
}

static void test_included_files(void **state) {
  (void)state;
  assert_int_equal(mkdir(path_of("lib"), 0700), 0);
  write_file("mine.cu", "#include \"lib/one.cuh\"\n#include <cuda_fp16.h>\n"
                        "#include \"lib/one.cuh\"\n/*\n#include \"none.cuh\"\n*/\n" MINE);
  write_file("lib/one.cuh", "#pragma once\n# include \"two.cuh\"\nint one;\n");
  write_file("lib/two.cuh", "#ifndef TWO\n#define TWO TILE\n#endif\nint two;\n");
  load_ok(kernel(ALL, ""));
  const sct_own *own = &spec.own[0];
  assert_true(sct_has_prefix(own->text,
                             "#ifndef TWO\n#define TWO TILE\n#endif\nint two;\nint one;\n"
                             "#include <cuda_fp16.h>\n/*\n#include \"none.cuh\"\n*/\n//"));
  const char *file = NULL;
  int n = 0, line = 0;
  assert_true(sct_lines_find(own->lines, 4, &file, &n, &line));
  assert_true((size_t)n == strlen(path_of("lib/two.cuh")) && line == 4);
  assert_int_equal(strncmp(file, path_of("lib/two.cuh"), (size_t)n), 0);
  assert_int_equal(own->n_macros, 1);
  assert_string_equal(own->macros[0], "TWO");
  assert_true(own->is_macro[2] && !own->is_macro[0]); /* a directive names TILE */
  sct_spec_free(&spec);
  write_file("lib/two.cuh", "#include \"two.cuh\"\n");
  assert_fails(kernel(ALL, ""), "lib/two.cuh", 1, "'lib/two.cuh' is included too deeply, or by");
  write_file("lib/two.cuh", "\n#include \"../../up.cuh\"\n");
  assert_fails(kernel(ALL, ""), "lib/two.cuh", 2, "is outside the spec's directory");
  write_file("lib/two.cuh", "\n\n#include \"three.cuh\"\n");
  assert_fails(kernel(ALL, ""), "lib/two.cuh", 3, "there is no CUDA file 'lib/three.cuh' below");
}

static void test_mistakes_of_the_spec(void **state) {
  (void)state;
  static const struct {
    const char *options, *more;
    int line;
    const char *says;
  } cases[] = {
      {"cuda = 'mine.cuh', " KERNEL ARGS AXES LAUNCH, "", 4,
       "there is no CUDA file 'mine.cuh' below"},
      {"cuda = '/etc/passwd', " KERNEL ARGS AXES LAUNCH, "", 4,
       "'/etc/passwd' is outside the spec's"},
      {CUDA "kernel = 'mime<{T}>', " ARGS AXES LAUNCH, "", 4,
       "there is no kernel 'mime' in 'mine.cu'; did you mean 'mine'?"},
      {CUDA "kernel = 'mine<{U}>', " ARGS AXES LAUNCH, "", 4,
       "kernel \"mine<{U}>\": there is no axis 'U'; did you mean 'T'?"},
      {CUDA "kernel = 'mine<{T>', " ARGS AXES LAUNCH, "", 4, "there is no axis 'T>'"},
      {CUDA "kernel = '7', " ARGS AXES LAUNCH, "", 4, "also: '7' is no name of a kernel"},
      {CUDA "kernel = 'other', args = { 'b', 'a' }, " LAUNCH AXES, "", 4,
       "args has 2 entries; 'other' takes 1 parameters ("},
      {CUDA KERNEL AXES LAUNCH, "args = { 'b', 'aa' }", 5,
       "args of 'own_mine', \"aa\": column 1: unknown name 'aa'; did you mean 'a'?"},
      {CUDA KERNEL AXES LAUNCH, "args = { 'b', { 'n_row', 'f16' } }", 5,
       "args: item 2: unknown type 'f16'"},
      {CUDA KERNEL AXES LAUNCH, "args = { 'b', { 'n_row' } }", 5,
       "args: item 2 is the name of an array"},
      {CUDA KERNEL AXES LAUNCH, "", 2, "a kernel of your own needs 'args'"},
      {CUDA KERNEL ARGS AXES, "block = 32, grid = 'col // TILES'", 5,
       "grid of 'own_mine', \"col // TILES\": column 1: unknown name 'col'; expected one of ODD, "
       "TILE, "
       "n_row, n_col"},
      {CUDA KERNEL ARGS AXES, "block = 'n_row', grid = 1", 5,
       "block of 'own_mine', \"n_row\": column 1: "
       "unknown name 'n_row'"},
      {CUDA KERNEL ARGS AXES, "block = { 1, 2, 3, 4 }, grid = 1", 5, "block has 4 entries"},
      {CUDA KERNEL ARGS AXES, "block = { 1.5 }, grid = 1", 2,
       "block: item 1 must be a string or integer"},
      {ALL, "where = 'TILE > n_rows'", 5,
       "where of 'own_mine', \"TILE > n_rows\": column 8: unknown name "
       "'n_rows'; did you mean 'n_row'?"},
      {ALL, "align = { aa = 16 }", 5, "align: there is no array 'aa'; did you mean 'a'?"},
      {ALL, "shaerd = 4", 5, "a kernel of your own has no option 'shaerd'; did you mean 'shared'?"},
      {CUDA KERNEL ARGS LAUNCH, "axes = { T = { 'int' }, TILE = { 16, 16 } }", 5,
       "axis 'TILE' has the value 16 twice"},
      {CUDA KERNEL ARGS LAUNCH, "axes = { T = { 'int' }, TILE = { 16, 'x' } }", 5,
       "axis 'TILE': all its values are of one type"},
      {CUDA KERNEL ARGS LAUNCH, "axes = { T = { 'int' }, TILE = {} }", 5,
       "every axis has a name and a list"},
      {CUDA KERNEL ARGS LAUNCH, "axes = { T = { 'int;' }, TILE = { 16 } }", 5, "'int;' is none"},
      {CUDA KERNEL ARGS LAUNCH, "axes = { T = { 'int' }, TILE = { 16 }, row = { 1 } }", 5,
       "axis 'row': the name is already a dimension"},
      {CUDA KERNEL ARGS LAUNCH, "axes = { T = { 'int' }, TILE = { 16 }, layout_a = { 1 } }", 5,
       "axis 'layout_a': names with layout_ are those"},
      {CUDA KERNEL ARGS LAUNCH, "axes = { T = { 'int' }, TILE = { 16 }, ['for'] = { 1 } }", 3,
       "axis 'for'"},
      {"", "", 2, "also is empty"},
      {"{ " ALL " }, { " ALL " }", "", 4, "entries 1 and 2 are both called 'own_mine'"},
      {ALL, "name = 'my own'", 4, "also: 'my own' is no name"},
      {"{ " ALL " }, 7", "", 2, "also: item 2 must be a table"},
  };
  write_file("mine.cu", MINE);
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    assert_fails(kernel(cases[k].options, cases[k].more), "spec.lua", cases[k].line, cases[k].says);
  }
}

/* Texts that cannot stand in a header, whose line is the file's. */
static void test_mistakes_of_the_file(void **state) {
  (void)state;
  static const struct {
    const char *text;
    int line;
    const char *says;
  } cases[] = {
      {MINE "}\n", 8, "a kernel of your own may not hold a closing bracket that nothing opened"},
      {MINE "/* open\n", 8, "may not hold a comment that is never closed"},
      {MINE "#if 1\n", 8, "an #if without its #endif"},
      {MINE "#include NAME\n", 8, "an #include of something else than a <header>"},
      {MINE "int main() { return 0; }\n", 8, "the file has a main"},
      {"extern \"C\" {\n" MINE "}\n", 1, "write extern \"C\" before the kernel"},
  };
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    write_file("mine.cu", cases[k].text);
    assert_fails(kernel(ALL, ""), "mine.cu", cases[k].line, cases[k].says);
  }
  write_file("mine.cu", "// nothing\n");
  assert_fails(kernel(ALL, ""), "spec.lua", 4, "it has none (__global__ void)");
}

/* Macros may make kernels: what cannot be read here is left to the compiler. */
static void test_kernels_that_macros_make(void **state) {
  (void)state;
  write_file("mine.cu", "#define MAKE(name) __global__ void name(float *b) { }\nMAKE(mine)\n");
  load_ok(kernel(ALL, ""));
  sct_spec_free(&spec);
}

/* What is no file of text, or leads out, is an error where it is named; nothing waits for it. */
static void test_files_that_are_none(void **state) {
  (void)state;
  static const char *const wrong[][2] = {
      {"mkdir mine.cu", "it is not a regular file"},
      {"mkfifo mine.cu", "it is not a regular file"},
      {"ln -s /etc/hostname mine.cu", "leads out of the spec's directory"},
      {"ln -s nothing mine.cu", "there is no CUDA file 'mine.cu' below"},
      {"head -c 1100000 /dev/zero | tr '\\0' ' ' >mine.cu", "larger than 1 MiB"},
      {"printf 'int a;\\0' >mine.cu", "'mine.cu' holds a zero byte"},
      {": >mine.cu", "it has none (__global__ void)"},
  };
  for (int k = 0; k < SCT_COUNT(wrong); k++) {
    char command[256];
    snprintf(command, sizeof command, "cd '%s' && rm -rf mine.cu && %s", folder, wrong[k][0]);
    assert_int_equal(system(command), 0);
    assert_fails(kernel(ALL, ""), "spec.lua", 4, wrong[k][1]);
  }
}

static void test_values_as_types(void **state) {
  (void)state;
  uint8_t out[16];
  float f = 0;
  assert_true(sct_param_bytes(out, SCT_TYPE_F32, 3));
  memcpy(&f, out, sizeof f);
  assert_true(f == 3.0f);
  assert_false(sct_param_bytes(out, SCT_TYPE_I32, (int64_t)1 << 31));
  assert_true(sct_param_bytes(out, SCT_TYPE_U32, (int64_t)1 << 31));
  assert_false(sct_param_bytes(out, SCT_TYPE_U32, -1));
  assert_true(sct_param_bytes(out, SCT_TYPE_I64, INT64_MIN));
}

int main(void) {
  const struct CMUnitTest tests[] = {
#define OF(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)
      OF(test_what_it_becomes),      OF(test_other_kernels_leave_the_hash),
      OF(test_included_files),       OF(test_mistakes_of_the_spec),
      OF(test_mistakes_of_the_file), OF(test_kernels_that_macros_make),
      OF(test_files_that_are_none),  OF(test_values_as_types),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
