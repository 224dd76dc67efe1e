/* Candidates as messages: what is put is got, and no bytes make a kernel that a session could not
 * bear. */
#include "codegen_fixture.h"

#include <string.h>

static fixture f;
static sct_generated whole;
static sct_wire sent;

static int setup(void **state) {
  (void)state;
  fixture_open(&f, "particle_aos_to_soa");
  whole = (sct_generated){.rendered = true};
  for (size_t c = f.space.n_candidates; c-- > 0 && whole.code.n_require == 0;) {
    sct_kernel_code_free(&whole.code);
    MUST(sct_codegen_make(&whole.code, &whole.rejected, &f.arena, f.script, &f.spec, &f.space,
                          &f.space.candidates[c], err));
  }
  assert_true(whole.code.n_require > 0);
  whole.rejected = NULL;
  whole.code.source = "source\n"; /* what it says is nobody's business here */
  sct_codegen_identify(&whole.code);
  sct_codegen_put(&sent, &f.spec, &whole);
  return sent.failed ? -1 : 0;
}

static int teardown(void **state) {
  (void)state;
  sct_wire_free(&sent);
  sct_kernel_code_free(&whole.code);
  fixture_close(&f);
  return 0;
}

/* Takes n bytes, in memory of exactly their size. */
static bool take(sct_generated *out, sct_wire *w, const uint8_t *bytes, size_t n) {
  *w = (sct_wire){.data = sct_alloc(n > 0 ? n : 1), .len = n, .cap = n};
  if (n > 0) {
    memcpy(w->data, bytes, n);
  }
  return sct_codegen_get(out, w, &f.spec, &f.arena);
}

static void same_text(const char *a, const char *b) {
  assert_true((a == NULL) == (b == NULL));
  if (a) {
    assert_string_equal(a, b);
  }
}

static void test_a_kernel_arrives(void **state) {
  (void)state;
  sct_generated got;
  sct_wire w;
  const sct_kernel_code *a = &whole.code, *b = &got.code;
  assert_true(take(&got, &w, sent.data, sent.len));
  assert_int_equal(w.at, w.len);
  assert_true(got.rendered && !got.rejected && !got.failure);
  same_text(a->source, b->source);
  same_text(a->kernel, b->kernel);
  same_text(a->launch, b->launch);
  same_text(a->lines, b->lines);
  same_text(a->launcher_doc, b->launcher_doc);
  assert_true(sct_hash_equal(a->hash, b->hash));
  assert_int_equal(a->grid, b->grid); /* the pool is the same */
  assert_int_equal(a->wavefronts, b->wavefronts);
  assert_int_equal(a->n_require, b->n_require);
  assert_memory_equal(a->require, b->require, sizeof *a->require * (size_t)a->n_require);
  for (int op = 0; op < f.spec.n_operands; op++) {
    assert_int_equal(a->align[op], b->align[op]);
    assert_int_equal(a->layout[op], b->layout[op]);
    assert_int_equal(a->traffic[op].sectors, b->traffic[op].sectors);
  }
  sct_wire_free(&w);
}

static void test_what_is_no_kernel_arrives(void **state) {
  (void)state;
  const sct_generated all[] = {{.rendered = true, .rejected = "too small"},
                               {.rendered = true, .failure = "x.cu:7: error: no"},
                               {.rendered = false}};
  sct_wire w = {0};
  for (int k = 0; k < SCT_COUNT(all); k++) {
    sct_codegen_put(&w, &f.spec, &all[k]);
  }
  for (int k = 0; k < SCT_COUNT(all); k++) {
    sct_generated got;
    assert_true(sct_codegen_get(&got, &w, &f.spec, &f.arena));
    assert_int_equal(got.rendered, all[k].rendered);
    same_text(got.rejected, all[k].rejected);
    same_text(got.failure, all[k].failure);
  }
  assert_int_equal(w.at, w.len);
  sct_wire_free(&w);
}

/* Whatever was taken for a kernel can be used like one. */
static void use(const sct_generated *g) {
  const sct_kernel_code *code = &g->code;
  assert_true(!g->rendered ||
              (g->rejected != NULL) + (g->failure != NULL) + (code->source != NULL) == 1);
  if (!code->source) {
    return;
  }
  assert_true(sct_is_identifier(code->kernel) && code->threads >= 1 && code->threads <= 1024);
  int64_t extent[SCT_MAX_EXTENTS] = {0};
  for (int k = 0; k < f.spec.n_extents; k++) {
    extent[k] = 64;
  }
  (void)sct_codegen_fits(&f.spec, code, &(sct_size){.extent = extent});
  for (int op = 0; op < f.spec.n_operands; op++) {
    assert_in_range(code->layout[op], 0, f.spec.operands[op].n_layouts - 1);
    assert_true(code->align[op] > 0 && (code->align[op] & (code->align[op] - 1)) == 0);
  }
  sct_str launch = {0}, log = {0};
  /* it looks at all expressions; texts may be no UTF-8 */
  const sct_status status = sct_codegen_launch(&launch, &f.spec, code, NULL);
  assert_true(status == SCT_OK || status == SCT_EINTERNAL);
  sct_codegen_map_log(&log, code, "line 1: a\nline 9: b\nline 2147483647: c\n");
  sct_str_free(&launch);
  sct_str_free(&log);
}

static void test_damaged_bytes_do_no_harm(void **state) {
  (void)state;
  static const uint8_t wrong[] = {0x01, 0x02, 0x10, 0x80, 0xff};
  int n_kernels = 0, n_failures = 0, n_refused = 0;
  for (size_t at = 0; at < sent.len; at++) {
    sct_generated got;
    sct_wire w;
    assert_false(take(&got, &w, sent.data, at)); /* cut */
    sct_wire_free(&w);
    for (int k = 0; k < SCT_COUNT(wrong); k++) {
      const int32_t mark = sct_expr_mark(f.spec.pool);
      sent.data[at] ^= wrong[k];
      if (take(&got, &w, sent.data, sent.len)) {
        use(&got);
        n_kernels += got.code.source != NULL;
        n_failures += got.failure != NULL;
      } else {
        n_refused++;
      }
      sent.data[at] ^= wrong[k];
      sct_wire_free(&w);
      sct_expr_reset(f.spec.pool, mark);
    }
  }
  print_message("%d kernels, %d failures, %d refused\n", n_kernels, n_failures, n_refused);
  assert_true(n_kernels > 0 && n_failures > 0 && n_refused > 0);
}

/* Messages of the right form. What they fail with names what is wrong. */
static void test_impossible_kernels_are_failures(void **state) {
  (void)state;
  char *const long_text = sct_arena_alloc(&f.arena, (size_t)3 << 20); /* "1+1+ ... +1" */
  for (size_t k = 0; k + 1 < (size_t)3 << 20; k++) {
    long_text[k] = k % 2 == 0 ? '1' : '+';
  }
  const struct {
    const char *grid, *require, *kernel, *doc;
    int layout, n_operands;
    int64_t align;
    const char *says;
  } cases[] = {
      {"n_i + ", "n_i", "k", "d", 0, 0, 4, "column 7"},
      {"i", "n_i", "k", "d", 0, 0, 4, "unknown name 'i'"}, /* a dimension, not its extent */
      {"1", "pick", "k", "d", 0, 0, 4, "unknown name 'pick'"},
      {"1", "'n_i'", "k", "d", 0, 0, 4, "unknown name 'n_i'"},
      {"1 // 0", "1", "k", "d", 0, 0, 4, "column 3"},
      {long_text, "1", "k", "d", 0, 0, 4, "expressions that are too long"},
      {"1", "1", "k();", "d", 0, 0, 4, "a kernel without a name"},
      {"1", "1", "k", "d\x1b[2J", 0, 0, 4, "a text that cannot be shown"},
      {"1", "1", "k", "d", 9, 0, 4, "an unknown layout"},
      {"1", "1", "k", "d", 0, 0, 12, "an alignment that is no power of two"},
      {"1", "1", "k", "d", 0, -1, 4, "operands of another spec"},
      {"1", "1", "k", "d", 0, 0, 4, NULL}};
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    sct_generated got;
    sct_wire w = {0};
    sct_sent_candidate candidate;
    sct_wire copy = {.data = sent.data, .len = sent.len};
    assert_true(sct_wire_get(&copy, sct_sent_candidate_table(), &candidate));
    sct_sent_kernel kernel = *candidate.kernel;
    sct_sent_operand operands[SCT_MAX_OPERANDS];
    memcpy(operands, kernel.operands, sizeof *operands * (size_t)kernel.n_operands);
    operands[0].layout = cases[k].layout;
    operands[0].align = cases[k].align;
    kernel.grid = cases[k].grid;
    kernel.require = &cases[k].require;
    kernel.n_require = 1;
    kernel.code.kernel = cases[k].kernel;
    kernel.code.launcher_doc = cases[k].doc;
    kernel.operands = operands;
    kernel.n_operands += cases[k].n_operands;
    candidate.kernel = &kernel;
    sct_wire_put(&w, sct_sent_candidate_table(), &candidate);
    assert_true(sct_codegen_get(&got, &w, &f.spec, &f.arena));
    assert_true((got.failure == NULL) == (cases[k].says == NULL));
    if (got.failure && !strstr(got.failure, cases[k].says)) {
      fail_msg("expected \"%s\", got \"%s\"", cases[k].says, got.failure);
    }
    assert_true((got.code.source == NULL) == (got.failure != NULL));
    sct_arena_free(&copy.arena);
    sct_wire_free(&w);
  }
}

/* ---- lines ---- */

static void test_lines_are_found(void **state) {
  (void)state;
  static const char text[] = "2 5 a.cu\n1 1 my b.cu\n3 7 a.cu\n";
  static const struct {
    const char *file;
    int line;
  } lines[] = {{"a.cu", 5}, {"a.cu", 6}, {"my b.cu", 1}, {"a.cu", 7}, {"a.cu", 8}, {"a.cu", 9}};
  const sct_kernel_code code = {.lines = text};
  const char *file = NULL;
  int n_file = 0, line = 0;
  for (int k = 0; k < SCT_COUNT(lines); k++) {
    assert_true(sct_codegen_line(&code, k + 1, &file, &n_file, &line));
    assert_int_equal(n_file, strlen(lines[k].file));
    assert_memory_equal(file, lines[k].file, (size_t)n_file);
    assert_int_equal(line, lines[k].line);
  }
  assert_false(sct_codegen_line(&code, SCT_COUNT(lines) + 1, &file, &n_file, &line));
  assert_false(sct_codegen_line(&code, 0, &file, &n_file, &line));
  assert_false(sct_codegen_line(&code, -1, &file, &n_file, &line));
}

static void look_up_all(const char *text) {
  static const int lines[] = {1, 2, 3, 4, 1000, INT32_MAX};
  char *const copy = sct_strdup(text); /* so that sanitizers see what is read beyond */
  const sct_kernel_code code = {.lines = copy};
  for (int k = 0; k < SCT_COUNT(lines); k++) {
    const char *file = NULL;
    int n_file = 0, line = 0;
    if (sct_codegen_line(&code, lines[k], &file, &n_file, &line)) {
      assert_true(line >= 1 && n_file >= 1 && file >= copy && file + n_file < copy + strlen(copy));
    }
  }
  sct_free(copy);
}

static void test_damaged_lines_do_no_harm(void **state) {
  (void)state;
  static const char *const odd[] = {"",
                                    "1",
                                    "1 ",
                                    "1 1",
                                    "1 1 ",
                                    "1 1 \n",
                                    "1 1 a",
                                    "0 1 a\n",
                                    "1 0 a\n",
                                    "-1 1 a\n",
                                    "2147483647 2147483647 a\n",
                                    "99999999999999999999 1 a\n",
                                    "1 99999999999999999999 a\n",
                                    "1\n1\na\n"};
  char text[] = "2 5 a.cu\n1 1 b.cu\n";
  const size_t n = strlen(text);
  for (int k = 0; k < SCT_COUNT(odd); k++) {
    look_up_all(odd[k]);
  }
  for (size_t at = 0; at < n; at++) {
    const char was = text[at];
    for (int byte = 0; byte < 256; byte++) { /* 0 cuts it off */
      text[at] = (char)byte;
      look_up_all(text);
    }
    text[at] = was;
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_kernel_arrives),
      cmocka_unit_test(test_what_is_no_kernel_arrives),
      cmocka_unit_test(test_damaged_bytes_do_no_harm),
      cmocka_unit_test(test_impossible_kernels_are_failures),
      cmocka_unit_test(test_lines_are_found),
      cmocka_unit_test(test_damaged_lines_do_no_harm),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
