/* Text that is broken in many ways: refused with its name and line, or read; never more than that.
 * What is read after a random change is also launched, so that the decoder's promises to the
 * execution hold for it too. */
#include "ptx_kernel.h"

#define HEAD PTX_HEAD
#define OPEN PTX_HEAD ".visible .entry k()\n{\n.reg .b32 %r<4>;\n.reg .pred %p<3>;\n"

/* ---- text that is no module: name, line and reason */

static void refused_with_a_line(void **state) {
  (void)state;
  static const struct {
    const char *text;
    int line;
    const char *message;
  } bad[] = {
      {"", 1, "expected '.version'"},
      {"\n\n", 3, "expected '.version'"},
      {".target sm_90\n", 1, "expected '.version'"},
      {"\x01\x02", 1, "expected '.version'"},
      {HEAD "}", 4, "expected a directive"},
      {HEAD ";", 4, "expected a directive"},
      {HEAD "mov.u32 %r1, 5;", 4, "expected a directive"},
      {HEAD ".visible", 4, "expected"},
      {HEAD ".visible .entry", 4, "expected"},
      {HEAD ".visible .entry ;", 4, "expected"},
      {HEAD ".visible .entry k", 4, "expected"},
      {HEAD ".visible .entry k(", 4, "expected"},
      {HEAD ".visible .entry k(.param", 4, "expected"},
      {HEAD ".visible .entry k(.param .u64", 4, "expected"},
      {HEAD ".visible .entry k(.param .u64 a\n.param .u64 b) { ret; }", 5, "expected"},
      {HEAD ".visible .entry k()\n{\nret;\n", 7, "body of 'k' has no end"},
      {HEAD ".visible .entry k()\n{\n{ ret;\n}\n", 8, "body of 'k' has no end"},
      {HEAD ".visible .entry k() { ret; } }", 4, "expected a directive"},
      {HEAD ".visible .entry k() }", 4, "expected '{', found '}'"},
      {HEAD ".visible .entry k()\nret;\n{ ret; }", 5, "expected '{', found 'ret'"},
      {HEAD ".visible .entry k() @%p1 ret;", 4, "expected '{', found '@'"},
      {HEAD ".visible .entry k() L: { ret; }", 4, "expected '{', found 'L'"},
      {HEAD ".func f(.param .b32 x", 4, "expected"},
      {HEAD ".global .b32", 4, "expected"},
      {HEAD ".global .b32 x", 4, "expected"},
      {HEAD ".global .b32 x[", 4, "expected an integer"},
      {HEAD ".global .b32 x[-1];", 4, "size of 'x'"},
      {HEAD ".global .b32 x[2", 4, "expected"},
      {HEAD ".global .b32 x = {", 4, "expected an integer"},
      {HEAD ".global .b32 x[2] = {1, 2, 3};", 4, "initialiser longer than 'x'"},
      {HEAD ".global .b32 x[2] = {1 2};", 4, "expected"},
      {HEAD ".global .b32 x[2] = {nothing};", 4, "nothing"},
      {HEAD ".global .align 0 .b32 x;", 4, "bad alignment"},
      {HEAD ".global .align 7 .b32 x;", 4, "bad alignment"},
      {HEAD ".global .align .b32 x;", 4, "expected an integer, found '.b32'"},
      {HEAD ".global .b32 x; .global .u8 x;", 4, "'x' declared twice"},
      {HEAD ".section .debug_info\n{ .b8 1", 4, "section without an end"},
      {HEAD ".file x", 4, "expected an integer, found 'x'"},
      {OPEN ".reg .b32;\n}", 8, "expected"},
      {OPEN ".reg x;\n}", 8, "register without a type"},
      {OPEN ".reg .b32 %q<-2>;\n}", 8, "bad number of registers '%q'"},
      {OPEN ".reg .b32 %q<2;\n}", 8, "expected"},
      {OPEN ".what 3;\n}", 8, "unknown directive '.what'"},
      {OPEN "@%r1 ret;\n}", 8, "guard '%r1' is no predicate register"},
      {OPEN "@%p9 ret;\n}", 8, "guard '%p9' is no predicate register"},
      {OPEN "@! ret;\n}", 8, "guard"},
      {OPEN "\n\nadd.s32 %r1, %r2\n%r3;\n}", 11, "expected"},
      {OPEN "add.s32 %r1,, %r2;\n}", 8, "expected"},
      {OPEN "add.s32 (((((((((((((((1", 8, ""},
      {OPEN "ld.global.u32 %r1, [%r2;\n}", 8, "expected"},
      {OPEN "ld.global.u32 %r1, [];\n}", 8, "expected"},
      {OPEN "mov.b64 {%r1, %r2, %r3;\n}", 8, "expected"},
      {OPEN "setp.eq.s32 %p1|%q, %r1, %r2;\n}", 8, "unknown register '%q'"},
      {OPEN ".branchtargets A, B;\n}", 8, ".branchtargets without a label"},
      {OPEN ".callprototype _ ();\n}", 8, ".callprototype without a label"},
      {OPEN "/* never closed\nret;\n}", 10, "body of 'k' has no end"},
  };
  for (int k = 0; k < SCT_COUNT(bad); k++) {
    sct_error err = {0};
    sct_ptx_module *module = NULL;
    const sct_status status = sct_ptx_parse(&module, bad[k].text, "m.ptx", &err);
    if (status != SCT_EDATA) {
      sct_ptx_module_free(module);
      fail_msg("case %d is taken: %s", k, bad[k].text);
    }
    char place[32];
    snprintf(place, sizeof place, "m.ptx:%d: error: ", bad[k].line);
    if (!sct_has_prefix(err.text, place) || strstr(err.text, bad[k].message) == NULL) {
      fail_msg("case %d: '%s' lacks '%s%s'", k, err.text, place, bad[k].message);
    }
    assert_null(module);
  }
}

/* ---- limits: long and deep text is refused, not followed to the end of the stack */

static void repeated(const char *before, const char *piece, int n, const char *after) {
  sct_error err = {0};
  sct_str text = {0};
  sct_ptx_module *module = NULL;
  sct_str_append(&text, before);
  for (int i = 0; i < n; i++) {
    sct_str_append(&text, piece);
  }
  sct_str_append(&text, after);
  if (sct_ptx_parse(&module, sct_str_c(&text), "long.ptx", &err) == SCT_OK) {
    const sct_ptx_kernel *k = sct_ptx_kernel_find(module, "k");
    if (k == NULL || k->error == NULL) {
      fail_msg("%d times '%s' is taken", n, piece);
    }
    sct_ptx_module_free(module);
  } else {
    assert_true(sct_has_prefix(err.text, "long.ptx:"));
  }
  sct_str_free(&text);
}

static void long_and_deep_text(void **state) {
  (void)state;
  repeated(OPEN "mov.b64 %r1, ", "{", 5000, ";\n}");
  repeated(OPEN "call ", "(", 5000, ";\n}");
  repeated(OPEN "ld.global.u32 %r1, ", "[", 5000, ";\n}");
  repeated(OPEN "add", ".u32", 5000, " %r1, %r2, %r3;\nret;\n}");
  repeated(OPEN "add.u32 %r1", ", %r2", 5000, ";\nret;\n}");
  repeated(OPEN "mov.b64 %r1, {%r1", ", %r2", 5000, "};\nret;\n}");
  repeated(OPEN, "{", 5000, "");
  repeated(HEAD ".visible .entry k(.param .b8 a[99999999999999999999]) { ret; }", "", 0, "");
  repeated(HEAD ".global .b32 ", "x", 5000, "");
  repeated(OPEN "mov.u32 %r1, ", "9", 500, "x;\nret;\n}");
}

/* Many nested scopes that do end are fine. */
static void deep_scopes_that_end(void **state) {
  (void)state;
  sct_error err = {0};
  sct_str text = {0};
  sct_ptx_module *module = NULL;
  sct_str_append(&text, OPEN);
  for (int i = 0; i < 300; i++) {
    sct_str_append(&text, "{ .reg .b32 x; mov.u32 x, 1;\n");
  }
  for (int i = 0; i < 300; i++) {
    sct_str_append(&text, "}\n");
  }
  sct_str_append(&text, "ret;\n}\n");
  assert_int_equal(sct_ptx_parse(&module, sct_str_c(&text), "deep.ptx", &err), SCT_OK);
  assert_null(sct_ptx_kernel_find(module, "k")->error);
  assert_int_equal(sct_ptx_kernel_find(module, "k")->n_instructions, 301);
  sct_ptx_module_free(module);
  sct_str_free(&text);
}

/* ---- a text with something of everything, cut and changed */

static const char everything[] =
    ".version 9.0\n.target sm_90\n.address_size 64\n"
    ".file 1 \"k.cu\"\n"
    ".const .align 4 .f32 c[2] = {0f3F800000, 2.0};\n"
    ".global .align 8 .u64 t[2] = {c, generic(c)+4};\n"
    ".extern .shared .align 16 .b8 dyn[];\n"
    ".func (.param .b32 r) f(.param .b32 x)\n{\n.reg .b32 %r<3>;\n"
    "ld.param.b32 %r1, [x];\nadd.s32 %r2, %r1, -1;\nst.param.b32 [r], %r2;\nret;\n}\n"
    ".visible .entry k(.param .u64 in, .param .u64 out)\n.maxntid 64, 1, 1\n{\n"
    ".reg .pred %p<4>;\n.reg .b16 %h<4>;\n.reg .b32 %r<12>;\n.reg .b64 %d<8>;\n"
    ".shared .align 4 .b8 s[256];\n.local .align 4 .b8 l[8];\n.loc 1 3 5\n"
    "mov.u32 %r0, %tid.x;\nmul.wide.u32 %d1, %r0, 4;\nld.param.u64 %d2, [in];\n"
    "ld.param.u64 %d3, [out];\nadd.s64 %d2, %d2, %d1;\nadd.s64 %d3, %d3, %d1;\n"
    "ld.global.nc.u32 %r1, [%d2];\nsetp.lt.and.s32 %p1|%p2, %r1, 5, !%p3;\n"
    "@%p1 bra L;\nT: .branchtargets L, M;\nand.b32 %r2, %r0, 1;\nbrx.idx %r2, T;\n"
    "L: fma.rn.f32 %r3, %r1, 0f40000000, %r1;\ncvt.rzi.s32.f32 %r1, %r3;\n"
    "M: shl.b32 %r4, %r0, 2;\nmov.u32 %r5, s;\nadd.s32 %r4, %r4, %r5;\n"
    "st.shared.u32 [%r4], %r1;\nbar.sync 0;\nld.shared.u32 %r6, [%r4+-0];\n"
    "shfl.sync.bfly.b32 %r7, %r6, 1, 31, -1;\nmov.b64 {%r8, _}, %d1;\n"
    "{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r7; call.uni (b), f, (a);\n"
    "ld.param.b32 %r9, [b]; }\nst.local.u32 [l], %r9;\nprmt.b32 %r9, %r9, 0, 0x0123;\n"
    "cp.async.ca.shared.global [%r4], [%d2], 4;\ncp.async.wait_all;\n"
    "lop3.b32 %r9, %r9, %r7, %r6, 0x96;\nld.const.f32 %r10, [c+4];\n"
    "st.global.cs.u32 [%d3], %r9;\nret;\n}\n";

/* Parses, and launches what is left of the kernel: any diagnosis is fine. */
static void parse_and_run(const char *text, const char *what, uint64_t at) {
  sct_error err = {0};
  sct_ptx_module *module = NULL;
  const sct_status status = sct_ptx_parse(&module, text, "x.ptx", &err);
  if (status != SCT_OK) {
    if (status != SCT_EDATA || !sct_has_prefix(err.text, "x.ptx:")) {
      fail_msg("%s %llu: '%s'", what, (unsigned long long)at, err.text);
    }
    return;
  }
  const sct_ptx_kernel *k = sct_ptx_kernel_find(module, "k");
  if (k != NULL && k->n_params == 2 && k->param_bytes == 16) {
    sct_ptx_memory *memory = NULL;
    sct_ptx_result result;
    uint64_t address[2];
    uint32_t words[64] = {3, 1, 4, 1, 5, 9, 2, 6};
    const sct_ptx_buffer in = {.name = "in", .bytes = 256, .data = words, .read_only = true};
    const sct_ptx_buffer out = {.name = "out", .bytes = 256};
    sct_ptx_memory_new(&memory);
    assert_int_equal(sct_ptx_memory_add(memory, &address[0], &in, &err), SCT_OK);
    assert_int_equal(sct_ptx_memory_add(memory, &address[1], &out, &err), SCT_OK);
    const void *args[] = {&address[0], &address[1]};
    const sct_ptx_launch_opts opts = {.module = module,
                                      .kernel = "k",
                                      .block = {64, 1, 1},
                                      .args = args,
                                      .n_args = 2,
                                      .max_steps = 2000};
    const sct_status launched = sct_ptx_launch(&result, memory, &opts, &err);
    if (k->error != NULL) {
      assert_int_equal(launched, SCT_EDATA);
      assert_non_null(strstr(k->error, "x.ptx:"));
    } else if (launched == SCT_OK) {
      assert_true(result.diag.kind >= SCT_PTX_CLEAN && result.diag.kind < SCT_PTX_N_KINDS);
      sct_ptx_result_free(&result);
    } else { /* .maxntid or a shared array may have changed */
      assert_int_equal(launched, SCT_EUSAGE);
    }
    sct_ptx_memory_free(memory);
  }
  sct_ptx_module_free(module);
}

static void the_whole_text_runs(void **state) {
  (void)state;
  sct_error err = {0};
  sct_ptx_module *module = NULL;
  assert_int_equal(sct_ptx_parse(&module, everything, "x.ptx", &err), SCT_OK);
  const sct_ptx_kernel *k = sct_ptx_kernel_find(module, "k");
  if (k->error != NULL) {
    fail_msg("%s", k->error);
  }
  assert_int_equal(k->max_threads, 64);
  sct_ptx_module_free(module);
}

static void cut_at_every_byte(void **state) {
  (void)state;
  for (size_t n = 0; n < sizeof everything; n++) {
    char *cut = calloc(n + 1, 1); /* exactly as long: a read behind the end is seen */
    assert_non_null(cut);
    memcpy(cut, everything, n);
    parse_and_run(cut, "cut at", n);
    free(cut);
  }
}

/* Every byte removed, and every line removed or doubled. */
static void pieces_missing(void **state) {
  (void)state;
  const size_t size = sizeof everything;
  for (size_t n = 0; n + 1 < size; n++) {
    char *text = calloc(size, 1);
    assert_non_null(text);
    memcpy(text, everything, n);
    memcpy(text + n, everything + n + 1, size - n - 1);
    parse_and_run(text, "without byte", n);
    free(text);
  }
  for (size_t from = 0; from + 1 < size;) {
    const char *end = strchr(everything + from, '\n');
    const size_t to = (size_t)(end - everything) + 1;
    for (int twice = 0; twice < 2; twice++) {
      char *text = calloc(2 * size, 1);
      assert_non_null(text);
      memcpy(text, everything, twice ? to : from);
      memcpy(text + strlen(text), everything + (twice ? from : to), size - (twice ? from : to));
      parse_and_run(text, twice ? "line twice at" : "without line at", from);
      free(text);
    }
    from = to;
  }
}

static void random_changes(void **state) {
  (void)state;
  static const char alphabet[] = "%.,;:{}[]()@!|<>=-+_ \n0123456789abcdrpuxfs\"/*\\\xff";
  const uint64_t first = 1000, n = 6000;
  print_message("seeds %llu to %llu\n", (unsigned long long)first,
                (unsigned long long)(first + n - 1));
  for (uint64_t seed = first; seed < first + n; seed++) {
    sct_rng rng = sct_rng_new(seed);
    char text[sizeof everything];
    memcpy(text, everything, sizeof text);
    for (int64_t k = 1 + sct_rng_below(&rng, 4); k > 0; k--) {
      const int64_t at = sct_rng_below(&rng, (int64_t)sizeof text - 1);
      const int64_t how = sct_rng_below(&rng, 3);
      if (how == 0) { /* one bit */
        text[at] = (char)(text[at] ^ (1 << sct_rng_below(&rng, 8)));
        text[at] = text[at] == '\0' ? ' ' : text[at];
      } else if (how == 1) {
        text[at] = alphabet[sct_rng_below(&rng, (int64_t)sizeof alphabet - 1)];
      } else { /* a piece from elsewhere */
        const int64_t len = sct_rng_below(&rng, 20), max = (int64_t)sizeof text - 1 - len;
        const int64_t to = at < max ? at : max;
        memmove(text + to, everything + sct_rng_below(&rng, max), (size_t)len);
      }
    }
    parse_and_run(text, "seed", seed);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(refused_with_a_line),  cmocka_unit_test(long_and_deep_text),
      cmocka_unit_test(deep_scopes_that_end), cmocka_unit_test(the_whole_text_runs),
      cmocka_unit_test(cut_at_every_byte),    cmocka_unit_test(pieces_missing),
      cmocka_unit_test(random_changes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
