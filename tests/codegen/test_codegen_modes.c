/* What a kernel's dimensions become: modes that strategies and the naive variant plan on. The naive
 * variant's text names them. */
#include "codegen_fixture.h"
#include "part.h"
#include "scratch.h"

#include <dirent.h>

#define SPEC(dims, scalars, inputs, outputs, body)                                                 \
  "local s = require \"sectile\"\n"                                                                \
  "return s.kernel { name = \"folded\", dims = { " dims " }, scalars = { " scalars " },\n"         \
  "  inputs = { " inputs " }, outputs = { " outputs " }, body = \"" body "\",\n"                   \
  "  sizes = { { i = 6, j = 5, k = 8 } } }\n"
#define IJK "'i', 'j', 'k'"
#define A   "s.array('a', 'f32')"
#define B   "s.array('b', 'f32')"

static const struct {
  const char *spec;
  const char *modes; /* of the naive variant, slowest first */
  const char *want;  /* how it finds one of them */
  const char *why;
} cases[] = {
    {SPEC(IJK, "", A, B, "b = a;"), "i_j_k", "i_j_k = thread;", "a copy is one run"},
    {SPEC(IJK, "", A, "s.array('b', 'f32', s.row_major, { dims = { 'k', 'i', 'j' } })", "b = a;"),
     "k, i_j", "i_j = thread % (n_i * n_j);", "i and j stay together"},
    {SPEC(IJK, "", A, "s.array('b', 'f32', s.row_major, { dims = { 'j', 'k', 'i' } })", "b = a;"),
     "j_k, i", "j_k = thread / n_i;", "j and k stay together"},
    {SPEC("'j', 'i', 'k'", "", "s.array('a', 'f32', s.row_major, { dims = { 'i', 'j', 'k' } })",
          "s.array('b', 'f32', s.row_major, { dims = { 'i', 'j', 'k' } })", "b = a;"),
     "i_j_k", "i_j_k = thread;", "memory's order counts, not that of dims"},
    {SPEC(IJK, "", A, "s.array('b', 'f32', s.row_major, { dims = { 'i', 'k', 'j' } })", "b = a;"),
     "i, k, j", "k = thread / n_j % n_k;", "(0,2,1) leaves no neighbours"},
    {SPEC(IJK, "", A, "s.array('b', 'f32', s.row_major, { dims = { 'j', 'i', 'k' } })", "b = a;"),
     "j, i, k", "i = thread / n_k % n_i;", "(1,0,2) leaves no neighbours"},
    {SPEC(IJK, "", A, "s.array('b', 'f32', s.col_major)", "b = a;"), "k, j, i",
     "j = thread / n_i % n_j;", "reversed"},
    {SPEC(IJK, "", A, B, "b = a + j;"), "i, j, k", "j = thread / n_k % n_j;",
     "the body needs j, which i and k lie around"},
    {SPEC(IJK, "", A, B, "b = a + k;"), "i_j, k", "i_j = thread / n_k;", "the body needs k"},
    {SPEC(IJK, "", A ", s.array('w', 'f32', s.row_major, { dims = { 'k' } })", B, "b = a * w;"),
     "i_j, k", "i_j = thread / n_k;", "w moves along k only"},
    {SPEC(IJK, "", A ", s.array('w', 'f32', s.row_major, { dims = { 'i' } })", B, "b = a * w;"),
     "i, j_k", "j_k = thread % (n_j * n_k);", "w moves along i only"},
    {SPEC(IJK, "", A, "s.array('b', 'f32', s.pitched { align = 128 })", "b = a;"), "i_j, k",
     "i_j = thread / n_k;", "rows end in a gap"},
    {SPEC(IJK, "", A, "s.array('b', 'f32', s.row_major, { pad = { 0, 1, 0 } })", "b = a;"),
     "i, j_k", "j_k = thread % (n_j * n_k);", "planes end in a gap"},
    {SPEC(IJK, "", "s.array('a', 'f32', s.row_major, { at = { 'i', 'j', 'k // 2' } })", B,
          "b = a;"),
     "i_j, k", "i_j = thread / n_k;", "steps along k differ"},
    {SPEC(IJK, "",
          "s.array('p', 'i32', s.row_major, { dims = { 'k' }, fill = 'identity' }), "
          "s.array('a', 'f32', s.row_major, { dims = { 'i', 'j', 'k' }, at = { 'i', 'j', 'p' } })",
          B, "b = a;"),
     "i_j, k", "i_j = thread / n_k;", "the index array moves along k only"},
    {SPEC(IJK, "{ 'i_j', 'f32' }", A,
          "s.array('b', 'f32', s.row_major, { dims = { 'k', 'i', 'j' } })", "b = a * i_j;"),
     "k, i_j_", "i_j_ = thread % (n_i * n_j);", "the name is a scalar's already"},
};

static void folds_what_lies_behind_each_other(void **state) {
  (void)state;
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    fixture f;
    fixture_open_text(&f, cases[k].spec);
    sct_kernel_code code = fixture_make(&f, "direct threads=256");
    char doc[128];
    snprintf(doc, sizeof doc, "// One thread an element of %s.\n", cases[k].modes);
    if (!strstr(code.source, doc) || !strstr(code.source, cases[k].want)) {
      fail_msg("case %d (%s): expected %s and %s in\n%s", k, cases[k].why, cases[k].modes,
               cases[k].want, code.source);
    }
    sct_kernel_code_free(&code);
    fixture_close(&f);
  }
}

/* The tuned sizes say nothing of what is folded: the header's extents are arguments. */
static void keeps_the_extents_as_arguments(void **state) {
  (void)state;
  fixture f;
  fixture_open_text(&f, cases[1].spec);
  sct_kernel_code code = fixture_make(&f, "direct threads=256");
  assert_non_null(strstr(code.source, "long long n_i, long long n_j,"));
  assert_non_null(strstr(code.source, "if (thread >= n_i * n_j * n_k) return;"));
  int64_t extent[] = {6, 5, 8};
  const sct_expr_env env = {f.spec.extent_var, extent, 3};
  int64_t blocks = 0;
  MUST(sct_expr_eval(f.spec.pool, code.grid, &env, &blocks, err));
  assert_int_equal(blocks, 1); /* 240 elements */
  sct_kernel_code_free(&code);
  fixture_close(&f);
}

/* ---- the natural and the folded form ---- */

#define KERNEL(dims, inputs, outputs, body, size)                                                  \
  "local s = require \"sectile\"\n"                                                                \
  "return s.kernel { name = \"formed\", dims = { " dims " }, inputs = { " inputs " },\n"           \
  "  outputs = { " outputs " }, body = \"" body "\", sizes = { { " size " } } }\n"
/* clang-format off */
#define BT                                                                                         \
  "s.array('bt', 'i32', s.row_major, { dims = { 'nb' }, at = { 'token // 16' } }), "
/* clang-format on */
#define LAID(name, dims) "s.array('" name "', 'f32', s.row_major, { dims = { " dims " } })"
#define PLACED(name, dims, at)                                                                     \
  "s.array('" name "', 'f32', s.row_major, { dims = { " dims " }, at = { " at " } })"

typedef struct form_pair {
  const char *why, *one, *other;
} form_pair;

static const form_pair pairs[] = {
    {"a copy", KERNEL("'i', 'j', 'k'", A, B, "b = a;", "i = 60, j = 8, k = 32"),
     KERNEL("'i'", A, B, "b = a;", "i = 15360")},
    {"a copy, dimensions in another order",
     KERNEL("'k', 'i', 'j'", LAID("a", "'i', 'j', 'k'"), LAID("b", "'i', 'j', 'k'"), "b = a;",
            "i = 60, j = 8, k = 32"),
     KERNEL("'i'", A, B, "b = a;", "i = 15360")},
    {"a copy from the end",
     KERNEL("'i'", PLACED("a", "'i'", "'n_i - 1 - i'"), PLACED("b", "'i'", "'n_i - 1 - i'"),
            "b = a;", "i = 15360"),
     KERNEL("'i'", A, B, "b = a;", "i = 15360")},
    {"a paged gather",
     KERNEL("'token', 'head', 'd'",
            BT PLACED("cache", "'page', 'slot', 'head', 'd'", "'bt', 'token % 16', 'head', 'd'"),
            LAID("o", "'token', 'head', 'd'"), "o = cache;",
            "token = 256, head = 8, d = 64, page = 16, slot = 16, nb = 16"),
     KERNEL("'token', 'hd'", BT PLACED("cache", "'page', 'slot', 'hd'", "'bt', 'token % 16', 'hd'"),
            LAID("o", "'token', 'hd'"), "o = cache;",
            "token = 256, hd = 512, page = 16, slot = 16, nb = 16")},
    {"rotary embedding with a batch",
     KERNEL("'batch', 'token', 'head', 'd'",
            LAID("x", "'batch', 'token', 'head', 'd'") ", " LAID("c", "'batch', 'token', 'd'"),
            LAID("y", "'batch', 'token', 'head', 'd'"), "y = x * c;",
            "batch = 4, token = 64, head = 8, d = 64"),
     KERNEL("'token', 'head', 'd'",
            LAID("x", "'token', 'head', 'd'") ", " LAID("c", "'token', 'd'"),
            LAID("y", "'token', 'head', 'd'"), "y = x * c;", "token = 256, head = 8, d = 64")},
    {"a transpose of twelve dimensions",
     KERNEL("'a1', 'a2', 'a3', 'a4', 'a5', 'a6', 'a7', 'a8', 'a9', 'a10', 'a11', 'a12'", A,
            LAID("b", "'a8', 'a9', 'a10', 'a11', 'a12', 'a1', 'a2', 'a3', 'a4', 'a5', 'a6', 'a7'"),
            "b = a;",
            "a1 = 2, a2 = 2, a3 = 3, a4 = 2, a5 = 2, a6 = 2, a7 = 2, a8 = 2, a9 = 6, a10 = 2, "
            "a11 = 4, a12 = 2"),
     KERNEL("'i', 'l'", A, LAID("b", "'l', 'i'"), "b = a;", "i = 192, l = 192")},
    {"a permute (0, 2, 1) with a batch of two",
     KERNEL("'p', 'q', 'i', 'j'", A, LAID("b", "'p', 'q', 'j', 'i'"), "b = a;",
            "p = 3, q = 5, i = 64, j = 48"),
     KERNEL("'p', 'i', 'j'", A, LAID("b", "'p', 'j', 'i'"), "b = a;", "p = 15, i = 64, j = 48")},
    {"a sum over two dimensions",
     KERNEL("'i', 'j', 'k'", A,
            "s.array('b', 'f32', s.row_major, { dims = { 'i' }, reduce = 'sum' })", "b = a;",
            "i = 64, j = 12, k = 32"),
     KERNEL("'i', 'k'", A, "s.array('b', 'f32', s.row_major, { dims = { 'i' }, reduce = 'sum' })",
            "b = a;", "i = 64, k = 384")},
};

/* Strategies cannot know that n_h is n_p / n_w. */
static const form_pair by_quotients = {
    "a transpose by quotients",
    KERNEL("'i', 'j'", A, LAID("b", "'j', 'i'"), "b = a;", "i = 64, j = 48"),
    KERNEL("'p'", PLACED("a", "'h', 'w'", "'p // n_w', 'p % n_w'"),
           PLACED("b", "'w', 'h'", "'p % n_w', 'p // n_w'"), "b = a;", "p = 3072, h = 64, w = 48")};

/* Labels of all candidates and, of some, whether their plan turns them down. */
static void append_candidates(sct_str *out, fixture *f) {
  for (size_t c = 0; c < f->space.n_candidates; c++) {
    sct_space_label(out, &f->space, &f->space.candidates[c]);
    sct_kernel_code code = {0};
    const char *rejected = NULL;
    if (c % 97 == 0) {
      MUST(sct_codegen_make(&code, &rejected, &f->arena, f->script, &f->spec, &f->space,
                            &f->space.candidates[c], err));
      sct_str_printf(out, ": %s", rejected ? rejected : "makes a kernel");
      sct_kernel_code_free(&code);
    }
    sct_str_append(out, "\n");
  }
}

/* Modes by their sizes, for strategies that take every split too. */
static void append_mode_sizes(sct_str *out, fixture *f) {
  static const char *const kinds[] = {"merging", "all"};
  for (int k = 0; k < SCT_COUNT(kinds); k++) {
    sct_mode_list list;
    MUST(sct_script_modes(&list, f->script, kinds[k], err));
    for (int m = 0; m < list.n; m++) {
      sct_str_printf(out, "%lld ", (long long)list.modes[m].sizes[0]);
    }
    sct_str_printf(out, "%s\n", kinds[k]);
    sct_mode_list_free(&list);
  }
}

static void compare_forms(const form_pair *pair, bool candidates) {
  sct_str text[2] = {{0}, {0}};
  for (int form = 0; form < 2; form++) {
    fixture f;
    fixture_open_text(&f, form ? pair->other : pair->one);
    append_mode_sizes(&text[form], &f);
    if (candidates) {
      append_candidates(&text[form], &f);
    }
    fixture_close(&f);
  }
  if (strcmp(sct_str_c(&text[0]), sct_str_c(&text[1])) != 0) {
    print_error("%s\n----\n%s\n", sct_str_c(&text[0]), sct_str_c(&text[1]));
    fail_msg("%s: the forms differ", pair->why);
  }
  sct_str_free(&text[0]);
  sct_str_free(&text[1]);
}

static void forms_of_a_problem_have_the_same_candidates(void **state) {
  (void)state;
  for (int k = 0; k < SCT_COUNT(pairs); k++) {
    compare_forms(&pairs[k], true);
  }
  compare_forms(&by_quotients, false);
}

/* ---- the same elements ---- */

/* tests/codegen/modes/walk.lua as strategies of the folder `dir`, one for each kind of splits. */
static void write_walks(const char *dir) {
  static const char *const kinds[] = {"none", "merging", "all"};
  sct_str walk = {0};
  MUST(sct_file_read(&walk, SCT_TESTS_DIR "/codegen/modes/walk.lua", err));
  for (int k = 0; k < SCT_COUNT(kinds); k++) {
    char path[256], name[32];
    snprintf(path, sizeof path, "%s/walk_%s.lua", dir, kinds[k]);
    snprintf(name, sizeof name, "walk_%s", kinds[k]);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (const char *at = sct_str_c(&walk); *at; at++) {
      if (sct_has_prefix(at, "@SPLITS@")) {
        fputs(kinds[k], file);
        at += strlen("@SPLITS@") - 1;
      } else if (sct_has_prefix(at, "\"walk\"")) {
        fprintf(file, "\"%s\"", name);
        at += strlen("\"walk\"") - 1;
      } else {
        fputc(*at, file);
      }
    }
    assert_int_equal(fclose(file), 0);
  }
  sct_str_free(&walk);
}

/* Fails the test where a walk of the spec, which it frees, finds a difference. */
static void walk_loaded(sct_spec *spec, const char *name, const char *dir) {
  sct_device_desc device;
  sct_script *script = NULL;
  sct_space space = {0};
  sct_error found = {0};
  MUST(sct_script_load_device(&device, "h200", err));
  MUST(sct_script_new(&script, spec, &device, dir, err));
  if (sct_script_space(&space, script, &found) != SCT_OK) {
    fail_msg("%s: %s", name, found.text);
  }
  sct_space_free(&space);
  sct_script_free(script);
  sct_spec_free(spec);
}

/* `text` NULL: that of the file. */
static void walk_spec(const char *path, const char *text, const char *dir) {
  sct_spec spec = {0};
  MUST(text ? sct_script_load_spec_text(&spec, path, text, err)
            : sct_script_load_spec(&spec, path, err));
  walk_loaded(&spec, path, dir);
}

static void forms_keep_their_elements(void **state) {
  for (int k = 0; k < SCT_COUNT(pairs); k++) {
    walk_spec(pairs[k].why, pairs[k].one, *state);
    walk_spec(pairs[k].why, pairs[k].other, *state);
  }
  walk_spec(by_quotients.why, by_quotients.other, *state);
}

static void modes_meet_the_elements_of_dimensions(void **state) {
  DIR *dir = opendir(SCT_TESTS_DIR "/cases");
  int n = 0;
  assert_non_null(dir);
  for (const struct dirent *e = readdir(dir); e; e = readdir(dir)) {
    char path[512];
    snprintf(path, sizeof path, "%s/cases/%s", SCT_TESTS_DIR, e->d_name);
    sct_str text = {0};
    MUST(sct_has_suffix(path, ".lua") ? sct_file_read(&text, path, err) : SCT_OK);
    if (strstr(sct_str_c(&text), ".kernel") && part_has(n++)) { /* the others are layouts */
      walk_spec(path, NULL, *state);
    }
    sct_str_free(&text);
  }
  closedir(dir);
  for (int k = 0; k < worked_count(); k++) {
    if (!part_has(k)) {
      continue;
    }
    sct_spec spec;
    MUST(worked_load(&spec, worked_kernels[k].name, err));
    walk_loaded(&spec, worked_kernels[k].name, *state);
  }
}

/* Random specs: index arrays, taps, swizzles, quotients, places that are backwards. */
static void random_specs_keep_their_elements(void **state) {
  enum { N_SPECS = 40 };
  const unsigned seed = 20261123;
  for (int k = 0; k < N_SPECS; k++) {
    char dir[64], command[512], path[128];
    assert_int_equal(scratch_make(dir, sizeof dir, "modes_spec"), 0);
    snprintf(command, sizeof command, "lua5.4 " SCT_TESTS_DIR "/fuzz/generate.lua %u %d %s", seed,
             k, dir);
    assert_int_equal(system(command), 0);
    snprintf(path, sizeof path, "%s/spec.lua", dir);
    walk_spec(path, NULL, *state);
    assert_int_equal(scratch_remove(dir), 0);
  }
}

static char walks[64];

static int make_walks(void **state) {
  *state = walks;
  if (scratch_make(walks, sizeof walks, "modes") != 0) {
    return -1;
  }
  write_walks(walks);
  return 0;
}

static int remove_walks(void **state) {
  (void)state;
  return scratch_remove(walks);
}

int main(void) {
  setenv("SECTILE_SCRIPT_STEPS", "100000000000", 1);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(folds_what_lies_behind_each_other),
      cmocka_unit_test(keeps_the_extents_as_arguments),
      cmocka_unit_test(forms_of_a_problem_have_the_same_candidates),
      cmocka_unit_test(forms_keep_their_elements),
      cmocka_unit_test(modes_meet_the_elements_of_dimensions),
      cmocka_unit_test(random_specs_keep_their_elements),
  };
  return cmocka_run_group_tests(tests, make_walks, remove_walks);
}
