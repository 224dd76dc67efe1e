/* What a body may contain compiles: a call of every function, and what errors say to write instead
 * of names from headers. */
#include "tune_verify.h"

static const char *const functions[] = {
#define SCT_WORD(word, kind) SCT_WORD_##kind(word)
#define SCT_WORD_TYPE(word)
#define SCT_WORD_CONTROL(word)
#define SCT_WORD_FUNCTION(word) word,
#define SCT_WORD_REFUSED(word)
#include "spec/spec_words.def"
#undef SCT_WORD
};

static const struct {
  const char *name, *write;
  enum { HINT_SPELLING, HINT_TYPE, HINT_VALUE } kind;
} hints[] = {
#define SCT_HINT(name, kind, write) {name, write, HINT_##kind},
#include "spec/spec_hints.def"
#undef SCT_HINT
};

static sct_status load(sct_spec *spec, const char *body, sct_error *err) {
  sct_str text = {0};
  sct_str_printf(&text,
                 "local s = require 'sectile'\n"
                 "return s.kernel { name = 'k', dims = { 'i' }, inputs = { s.array('a', 'f32') },\n"
                 "  outputs = { s.array('b', 'f32') }, sizes = { { i = 64 } },\n"
                 "  body = [[%s]] }\n",
                 body);
  const sct_status status = sct_script_load_spec_text(spec, "test.lua", sct_str_c(&text), err);
  sct_str_free(&text);
  return status;
}

static void assert_compiles(sct_compiler *compiler, const char *source, const char *kernel) {
  const sct_compile_unit unit = {.source = source, .kernel = kernel};
  sct_compiled compiled;
  MUST(sct_compiler_run(compiler, &unit, 1, &compiled, NULL, NULL, err));
  if (!compiled.ok) {
    fail_msg("%s\n%s", compiled.log, source);
  }
  sct_compiled_free(&compiled);
}

/* The naive kernel of this body compiles. */
static void assert_body_compiles(sct_compiler *compiler, const char *body) {
  fixture f = {0};
  MUST(load(&f.spec, body, err));
  fixture_finish(&f);
  sct_kernel_code code = fixture_make(&f, "direct threads=256");
  assert_compiles(compiler, code.source, code.kernel);
  sct_kernel_code_free(&code);
  fixture_close(&f);
}

static sct_compiler *open_compiler(void) {
  sct_compiler *compiler = NULL;
  const sct_compile_opts opts = {.arch = "sm_90", .cache_dir = shared_cache(tv_folder)};
  MUST(sct_compiler_new(&compiler, &opts, err));
  return compiler;
}

/* A function takes one to four arguments, which convert from float. */
static const char call_each[] =
    "template <class T> __device__ void keep(void *to, T x) { *static_cast<T *>(to) = x; }\n"
    "#define CALL_WITH(...)                                              \\\n"
    "  template <class F> __device__ auto call(F f, float x, void *to)   \\\n"
    "      -> decltype(f(__VA_ARGS__), void()) {                         \\\n"
    "    keep(to, f(__VA_ARGS__));                                       \\\n"
    "  }\n"
    "CALL_WITH(x)\n"
    "CALL_WITH(x, x)\n"
    "CALL_WITH(x, x, x)\n"
    "CALL_WITH(x, x, x, x)\n"
    "extern \"C\" __global__ void each(float x, void *to) {\n";

static void every_function_can_be_called(void **state) {
  (void)state;
  sct_str source = {0};
  sct_compiler *compiler = open_compiler();
  sct_str_append(&source, call_each);
  for (int k = 0; k < SCT_COUNT(functions); k++) {
    if (strcmp(functions[k], "keep") == 0) {
      continue; /* a word of Sectile's: it names an output, and no CUDA function */
    }
    sct_str_printf(&source,
                   "  call([](auto... y) -> decltype(%s(y...)) { return %s(y...); }, x, to);\n",
                   functions[k], functions[k]);
  }
  sct_str_append(&source, "}\n");
  assert_compiles(compiler, sct_str_c(&source), "each");
  sct_str_free(&source);
  sct_compiler_free(compiler);
}

/* The names that hints use for what the body has. */
#define NAMED                                                                                      \
  "const float x = a, y = a, t = a, c = a, low = 0, high = 1; const bool condition = a > 1; b = "  \
  "a; "

/* Where a hint is about a type, a variable of that type is declared; where it spells one, by that
 * name. What is said of vectors compiles with vectors only, and is not tried. */
static void what_hints_say_compiles(void **state) {
  (void)state;
  sct_compiler *compiler = open_compiler();
  for (int k = 0; k < SCT_COUNT(hints); k++) {
    const bool is_pair = sct_has_suffix(hints[k].write, "2");
    const char *form = hints[k].kind == HINT_VALUE ? NAMED "b = a > 1 ? a : %s;"
                       : is_pair                   ? "%s q; q.x = q.y = a; b = q.y;"
                                                   : "%s q = a; b = q;";
    char body[256];
    sct_spec spec = {0};
    sct_error why = {0};
    if (hints[k].kind == HINT_SPELLING) {
      snprintf(body, sizeof body, "const %s q = (%s)a; b = %s(q) + 1.0f;", hints[k].name,
               hints[k].name, hints[k].name);
      assert_body_compiles(compiler, body);
      continue;
    }
    snprintf(body, sizeof body, form, hints[k].name);
    assert_int_equal(load(&spec, body, &why), SCT_ESPEC);
    sct_spec_free(&spec);
    char says[128];
    snprintf(says, sizeof says, "unknown name '%s'; write `%s`", hints[k].name, hints[k].write);
    if (!strstr(why.text, says)) {
      fail_msg("expected \"%s\" in: %s", says, why.text);
    }
    if (strstr(hints[k].write, "a.x") == NULL) {
      snprintf(body, sizeof body, form, hints[k].write);
      assert_body_compiles(compiler, body);
    }
  }
  sct_compiler_free(compiler);
}

/* Both kinds of halves, of arrays or of the body alone. */
static void halves_convert(void **state) {
  (void)state;
  static const char *const bodies[] = {"bf16 q = a; f16 r = q; q = r + 1; b = q;",
                                       "b = (bf16)(f16)a; b = bf16(f16(2) * b);",
                                       "f16 q[2] = {a, 1}; b = q[0] < q[1] ? q[0] : (f16)3.5;"};
  sct_compiler *compiler = open_compiler();
  for (int k = 0; k < SCT_COUNT(bodies); k++) {
    assert_body_compiles(compiler, bodies[k]);
  }
  sct_compiler_free(compiler);
  tv_world w;
  tv_open_text(&w,
               "local s = require 'sectile'\n"
               "return s.kernel { name = 'k', dims = { 'i' }, inputs = { s.array('a', 'bf16') },\n"
               "  outputs = { s.array('b', 'f16') }, sizes = { { i = 64 } }, body = 'b = a;' }\n",
               "direct threads=256");
  tv_assert_right(&w, "bf16 to f16");
  tv_close(&w);
}

/* Elements that share a byte are loaded with the byte that holds them, in steps as elsewhere. */
static void steps_load_shared_bytes(void **state) {
  (void)state;
  static const char *const spec =
      "local s = require 'sectile'\n"
      "return s.kernel { name = 'bits', dims = { 'i', 'j' }, over = 'j',\n"
      "  inputs = { s.array('a', s.record { { 'q', 'u32' }, { 'z', 'u1', 24 } }, s.soa) },\n"
      "  outputs = { s.array('o', 'i32') }, steps = {\n"
      "    { reduce = { v = { 'min', 'i32' } }, body = 'v = a.z[8];' },\n"
      "    { body = 'o = v + a.z[23];' } }, sizes = { { i = 100, j = 300 } } }\n";
  tv_world w;
  tv_open_text(&w, spec, "direct threads=256");
  assert_null(strstr(w.code.source, "a_v.z[0] ="));
  assert_non_null(strstr(w.code.source, "a_v.z[1] ="));
  assert_non_null(strstr(w.code.source, "a_v.z[2] ="));
  tv_close(&w);
}

int main(int argc, char **argv) {
  TV_WORKER(argc, argv);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_function_can_be_called), cmocka_unit_test(what_hints_say_compiles),
      cmocka_unit_test(halves_convert), cmocka_unit_test(steps_load_shared_bytes)};
  return cmocka_run_group_tests(tests, tv_setup, tv_teardown);
}
