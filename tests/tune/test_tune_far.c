/* Arrays of more than 2^32 bytes: kernels of all strategies find elements beyond 2^31 and 2^32
 * bytes, and through indexes beyond 2^31 and 2^32. Only a few pages of such an array are ever
 * touched: rows lie 2 GB apart, or indexes lead to few places. */
#include "tune_picked.h"

enum { ROWS = 3, COLS = 70, PLACES = 300, MAX_PICKED = 40 };
#define PITCH                                                                                      \
  (((int64_t)1 << 29) + 132) /* elements of 4 bytes from row to row: 2^31 bytes and 528 */
#define TABLE (((int64_t)1 << 32) + 1000) /* elements of 1 byte */

typedef enum kind { MAP, OUTPUT, TRANSPOSE, ROW_SUMS, COLUMN_SUMS, GATHER, SCATTER } kind;

#define FAR "s.strided { strides = { 536871044, 1 } }"
#define ODD "s.strided { strides = { 536871045, 1 } }"

static const struct spec {
  const char *name, *dims, *inputs, *outputs;
  kind kind;
  int64_t pitch;
} specs[] = {
    {"map", "'row', 'col'", "s.array('a', 'f32', " FAR ")", "s.array('b', 'f32', s.row_major)", MAP,
     PITCH},
    {"map of odd rows", "'row', 'col'", "s.array('a', 'f32', " ODD ")",
     "s.array('b', 'f32', s.row_major)", MAP, PITCH + 1},
    {"far output", "'row', 'col'", "s.array('a', 'f32', s.row_major)",
     "s.array('b', 'f32', " FAR ")", OUTPUT, PITCH},
    {"transpose", "'row', 'col'", "s.array('a', 'f32', " FAR ")",
     "s.array('b', 'f32', s.col_major)", TRANSPOSE, PITCH},
    {"row sums", "'row', 'col'", "s.array('a', 'f32', " FAR ")",
     "s.array('b', 'f32', s.row_major, { dims = { 'row' }, reduce = 'sum' })", ROW_SUMS, PITCH},
    {"row sums of odd rows", "'row', 'col'", "s.array('a', 'f32', " ODD ")",
     "s.array('b', 'f32', s.row_major, { dims = { 'row' }, reduce = 'sum' })", ROW_SUMS, PITCH + 1},
    {"column sums", "'row', 'col'", "s.array('a', 'f32', " FAR ")",
     "s.array('b', 'f32', s.row_major, { dims = { 'col' }, reduce = 'sum' })", COLUMN_SUMS, PITCH},
    {"column sums of odd rows", "'row', 'col'", "s.array('a', 'f32', " ODD ")",
     "s.array('b', 'f32', s.row_major, { dims = { 'col' }, reduce = 'sum' })", COLUMN_SUMS,
     PITCH + 1},
    {"gather", "'i'",
     "s.array('pick', 'i64'), s.array('a', 'u8', s.row_major, { dims = { 'm' }, at = { 'pick' } })",
     "s.array('b', 'u8')", GATHER, 0},
    {"scatter", "'i'", "s.array('pick', 'i64'), s.array('a', 'u8')",
     "s.array('b', 'u8', s.row_major, { dims = { 'm' }, at = { 'pick' } })", SCATTER, 0},
};

static float value_at(int64_t row, int64_t col) {
  return (float)(row * 1000 + col + 1);
}

/* Different places, some below 2^31, some between, some beyond 2^32; none twice. */
static int64_t place_of(int64_t i) {
  static const int64_t from[] = {0, (int64_t)INT32_MAX - 40, (int64_t)1 << 31, UINT32_MAX - 40,
                                 (int64_t)1 << 32};
  return from[i % SCT_COUNT(from)] + i / SCT_COUNT(from) % 40 + i / 200 * 100;
}

/* ---- one run ---- */

/* Contents as a kernel's launch finds them; zero where nothing is put. */
static uint8_t *contents(const picked_run *r, uint64_t address) {
  return (uint8_t *)(uintptr_t)sct_ptx_memory_data(r->memory, address);
}

static uint8_t *add_array(picked_run *r, const char *name, int64_t bytes) {
  const sct_ptx_buffer buffer = {.name = name, .bytes = bytes};
  return contents(r, picked_run_add_buffer(r, &buffer));
}

static bool is_indexed(const struct spec *s) {
  return s->kind == GATHER || s->kind == SCATTER;
}

/* Adds the arrays in the kernel's order and fills the inputs; what the outputs become. */
static const uint8_t *fill(picked_run *r, const struct spec *s) {
  if (is_indexed(s)) {
    uint8_t *pick = add_array(r, "pick", PLACES * 8);
    uint8_t *a = add_array(r, "a", s->kind == GATHER ? TABLE : PLACES);
    for (int64_t i = 0; i < PLACES; i++) {
      const int64_t place = place_of(i);
      assert_true(place < TABLE);
      memcpy(pick + 8 * i, &place, 8);
      a[s->kind == GATHER ? place : i] = (uint8_t)(1 + i % 251);
    }
    return add_array(r, "b", s->kind == GATHER ? PLACES : TABLE);
  }
  const int64_t far = 4 * ((ROWS - 1) * s->pitch + COLS), near = 4 * ROWS * COLS;
  uint8_t *a = add_array(r, "a", s->kind == OUTPUT ? near : far);
  for (int64_t row = 0; row < ROWS; row++) {
    for (int64_t col = 0; col < COLS; col++) {
      const float v = value_at(row, col);
      memcpy(a + 4 * (row * (s->kind == OUTPUT ? COLS : s->pitch) + col), &v, 4);
    }
  }
  return add_array(r, "b", s->kind == OUTPUT ? far : near);
}

static float float_at(const uint8_t *b, int64_t number) {
  float v;
  memcpy(&v, b + 4 * number, 4);
  return v;
}

static void check_sums(const struct spec *s, const char *label, const uint8_t *b) {
  const bool rows = s->kind == ROW_SUMS;
  for (int64_t at = 0; at < (rows ? ROWS : COLS); at++) {
    float want = 0;
    for (int64_t other = 0; other < (rows ? COLS : ROWS); other++) {
      want += value_at(rows ? at : other, rows ? other : at);
    }
    if (float_at(b, at) != want) {
      fail_msg("%s, '%s': sum %lld is %g, not %g", s->name, label, (long long)at,
               (double)float_at(b, at), (double)want);
    }
  }
}

static void check(const struct spec *s, const char *label, const uint8_t *b) {
  for (int64_t i = 0; is_indexed(s) && i < PLACES; i++) {
    const int got = b[s->kind == GATHER ? i : place_of(i)];
    if (got != 1 + i % 251) {
      fail_msg("%s, '%s': place %lld is %d, not %d", s->name, label, (long long)place_of(i), got,
               (int)(1 + i % 251));
    }
  }
  if (is_indexed(s)) {
    return;
  } else if (s->kind == ROW_SUMS || s->kind == COLUMN_SUMS) {
    check_sums(s, label, b);
    return;
  }
  for (int64_t row = 0; row < ROWS; row++) {
    for (int64_t col = 0; col < COLS; col++) {
      const int64_t at = s->kind == OUTPUT      ? row * s->pitch + col
                         : s->kind == TRANSPOSE ? col * ROWS + row
                                                : row * COLS + col;
      if (float_at(b, at) != value_at(row, col)) {
        fail_msg("%s, '%s': row %lld, column %lld is %g, not %g", s->name, label, (long long)row,
                 (long long)col, (double)float_at(b, at), (double)value_at(row, col));
      }
    }
  }
}

static void run(const fixture *f, const struct spec *s, const picked *p, const int64_t *extent) {
  picked_run r;
  picked_run_open(&r, p, &f->spec, extent);
  const uint8_t *b = fill(&r, s);
  picked_run_add_extents(&r);
  (void)picked_run_add_workspace(&r);
  const sct_ptx_launch_opts opts = {.module = r.module,
                                    .kernel = p->compiled.entry,
                                    .grid = {r.blocks},
                                    .block = {p->code.threads},
                                    .shared_bytes = p->code.shared_bytes,
                                    .args = r.args,
                                    .n_args = r.n_args,
                                    .no_definedness = true, /* all else is zero */
                                    .no_races = true,
                                    .no_counters = true};
  sct_ptx_result result = {0};
  MUST(sct_ptx_launch(&result, r.memory, &opts, err));
  if (result.diag.kind != SCT_PTX_CLEAN) {
    sct_str text = {0};
    sct_ptx_diag_print(&text, &result.diag);
    fail_msg("%s, '%s': %s", s->name, p->label, sct_str_c(&text));
  }
  check(s, p->label, b);
  sct_ptx_result_free(&result);
  picked_run_close(&r);
}

/* ---- candidates ---- */

/* The first two of every strategy that fit these extents, far apart. */
static int pick(fixture *f, picked *list, const sct_size *size) {
  int n = 0;
  for (int strategy = 0; strategy < f->space.n_strategies; strategy++) {
    size_t own = 0, seen = 0, taken = 0;
    for (size_t c = 0; c < f->space.n_candidates; c++) {
      own += f->space.candidates[c].strategy == strategy;
    }
    for (size_t c = 0; c < f->space.n_candidates && taken < 2 && n < MAX_PICKED; c++) {
      if (f->space.candidates[c].strategy != strategy || seen++ < taken * own / 2) {
        continue;
      }
      const bool made = picked_make(&list[n], f, c);
      const bool fits = made && sct_codegen_fits(&f->spec, &list[n].code, size);
      if (fits) {
        taken++;
        n++;
      } else {
        sct_kernel_code_free(&list[n].code);
      }
    }
  }
  return n;
}

static void far_elements_are_found(void **state) {
  const struct spec *s = *state;
  sct_arena arena = {0};
  fixture f;
  picked list[MAX_PICKED] = {{0}};
  int64_t extent[SCT_MAX_EXTENTS] = {ROWS, COLS};
  if (is_indexed(s)) {
    extent[0] = PLACES;
    extent[1] = TABLE;
  }
  const sct_size size = {.extent = extent};
  fixture_open_text(
      &f, sct_arena_printf(&arena,
                           "local s = require 'sectile'\n"
                           "return s.kernel { name = 'k', dims = { %s },\n"
                           "  inputs = { %s },\n  outputs = { %s },\n"
                           "  body = 'b = a;', sizes = { { %s } } }\n",
                           s->dims, s->inputs, s->outputs,
                           is_indexed(s) ? "i = 300, m = 4294968296" : "row = 3, col = 70"));
  const int n = pick(&f, list, &size);
  assert_true(n >= 2);
  assert_memory_equal(list[0].label, "direct", 6);
  picked_compile(list, n);
  for (int k = 0; k < n; k++) {
    run(&f, s, &list[k], extent);
    print_message("  %s\n", list[k].label);
  }
  picked_free(list, n);
  fixture_close(&f);
  sct_arena_free(&arena);
}

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], SCT_COMPILE_WORKER_ARG) == 0) {
    return sct_compile_worker_main(argc, argv);
  }
  if (SCT_SANITIZED) { /* their shadow of such an array would be touched */
    print_message("arrays of 4 GB are for the plain test\n");
    return 0;
  }
  struct CMUnitTest tests[SCT_COUNT(specs)];
  for (int k = 0; k < SCT_COUNT(specs); k++) {
    tests[k] = (struct CMUnitTest){.name = specs[k].name,
                                   .test_func = far_elements_are_found,
                                   .initial_state = (void *)(uintptr_t)&specs[k]};
  }
  return _cmocka_run_group_tests("far", tests, SCT_COUNT(tests), picked_setup, picked_teardown);
}
