/* The counting rules against what an H200's profiler counted (tests/oracle/h200_accesses.csv): each
 * kernel's accesses are stated here as text, counted, and compared in every column. */
#include "model_fixture.h"

#define MAX_TEXT 400

typedef struct row {
  char kernel[64], index[16];
  int64_t arg[2], blocks;
  int threads;
  int64_t requests_ld, sectors_ld, tags_ld, requests_st, sectors_st, tags_st;
  int64_t ideal, shared, shared_ideal;
} row;

/* ---- stating accesses */

static char text_buffer[16][MAX_TEXT];
static int text_next;

static const char *text(const char *fmt, ...) SCT_PRINTF(1, 2);
static const char *text(const char *fmt, ...) {
  char *out = text_buffer[text_next++ % 16];
  va_list args;
  va_start(args, fmt);
  assert_in_range(vsnprintf(out, MAX_TEXT, fmt, args), 0, MAX_TEXT - 1);
  va_end(args);
  return out;
}

static sct_access *global(int direction, int width, const char *active, const char *address) {
  return add_access(SCT_MEM_GLOBAL, direction, width, active, address);
}

static sct_access *shared(int direction, int width, const char *active, const char *address) {
  return add_access(SCT_MEM_SHARED, direction, width, active, address);
}

/* Width of the type at the end of a kernel's name. */
static int width_of(const char *kernel) {
  static const struct {
    const char *suffix;
    int width;
  } types[] = {{"f32x2", 8}, {"f32x4", 16}, {"f64x2", 16}, {"u8", 1},
               {"u16", 2},   {"f32", 4},    {"f64", 8}};
  for (int k = 0; k < SCT_COUNT(types); k++) {
    if (sct_has_suffix(kernel, types[k].suffix)) {
      return types[k].width;
    }
  }
  fail_msg("no type in %s", kernel);
  return 0;
}

static const char *permuted_lane(int64_t kind) {
  static const char *const kinds[] = {"31 - lane",
                                      "lane ^ 1",
                                      "lane // 2",
                                      "lane // 4",
                                      "5",
                                      "lane * 7 % 32",
                                      "lane - lane // 2 % 2 * 2"};
  return kinds[kind];
}

static const char *mask_condition(int64_t mask) {
  switch (mask) {
  case 0xffff:
    return "lane < 16";
  case 0x55555555:
    return "lane % 2 == 0";
  case 1:
    return "lane == 0";
  case 0x80000000:
    return "lane == 31";
  case 0:
    return "0";
  default:
    assert_int_equal(mask, 0x0f0f0f0f);
    return "lane % 8 < 4";
  }
}

/* ---- kernels by family; each returns false if the name is not of that family */

static bool strided(const row *r) {
  const bool loads = sct_has_prefix(r->kernel, "ld_");
  if (!loads && !sct_has_prefix(r->kernel, "st_")) {
    return false;
  }
  const int w = width_of(r->kernel);
  const char *far = text("(gid * %d + %d) * %d", (int)r->arg[0], (int)r->arg[1], w);
  const char *near = text("gid * %d", w);
  global(LOAD, w, NULL, loads ? far : near);
  global(STORE, w, NULL, loads ? near : far);
  return true;
}

static bool permuted(const row *r) {
  if (!sct_has_prefix(r->kernel, "perm_")) {
    return false;
  }
  const int w = width_of(r->kernel);
  global(LOAD, w, NULL, text("(gid - lane + (%s)) * %d", permuted_lane(r->arg[0]), w));
  global(STORE, w, NULL, text("gid * %d", w));
  return true;
}

static bool masked(const row *r) {
  if (!sct_has_prefix(r->kernel, "masked_")) {
    return false;
  }
  const int w = width_of(r->kernel);
  global(LOAD, w, mask_condition(r->arg[0]), text("gid * %d", w));
  global(STORE, w, mask_condition(r->arg[0]), text("gid * %d", w));
  return true;
}

static bool tail_or_grid_stride(const row *r) {
  const int64_t step = r->blocks * r->threads;
  if (strcmp(r->kernel, "tail_f32") != 0 && strcmp(r->kernel, "grid_stride_f32") != 0) {
    return false;
  }
  for (int direction = LOAD; direction <= STORE; direction++) {
    sct_access *a = global(direction, 4, text("gid + k * %d < %d", (int)step, (int)r->arg[0]),
                           text("(gid + k * %d) * 4", (int)step));
    add_loop(a, "k", text("%d", (int)((r->arg[0] + step - 1) / step)));
  }
  return true;
}

/* Records of n words (words 4 or 8 bytes wide), and structures of arrays. */
static void words(int direction, int width, int n, int64_t records, bool is_soa) {
  const char *active = text("gid < %d", (int)records);
  const char *address = is_soa ? text("(k * %d + gid) * %d", (int)records, width)
                               : text("(gid * %d + k) * %d", n, width);
  add_loop(global(direction, width, active, address), "k", text("%d", n));
}

static bool records(const row *r) {
  const char *digits = r->kernel + strcspn(r->kernel, "0123456789");
  const int n = atoi(digits);
  if (strcmp(r->kernel, "add_const_double3") == 0 || strcmp(r->kernel, "add_const_double") == 0) {
    words(LOAD, 8, n > 0 ? 3 : 1, r->arg[0], false);
    words(STORE, 8, n > 0 ? 3 : 1, r->arg[0], false);
  } else if (strcmp(r->kernel, "aos_field_f32") == 0) {
    global(LOAD, 4, NULL, "gid * 12 + 4");
    global(STORE, 4, NULL, "gid * 4");
  } else if (sct_has_prefix(r->kernel, "aos_") || sct_has_prefix(r->kernel, "soa_")) {
    words(LOAD, 4, n, r->arg[0], sct_has_prefix(r->kernel, "soa_"));
    words(STORE, 4, n, r->arg[0], sct_has_prefix(r->kernel, "aos_soa_"));
  } else {
    return false;
  }
  return true;
}

static bool indirect(const row *r) {
  const char *active = text("gid < %d", (int)r->arg[0]);
  const char *place = strcmp(r->index, "perm") == 0 ? "(gid * 7919 + 13) % 10000" : "gid";
  if (r->index[0] == '-') {
    return false;
  }
  global(LOAD, 4, active, "gid * 4");
  if (sct_has_prefix(r->kernel, "indirect_")) {
    const char *address = text("(%s) * %d", place, width_of(r->kernel));
    global(LOAD, width_of(r->kernel), active, address);
    global(STORE, width_of(r->kernel), active, address);
  } else if (strcmp(r->kernel, "gather_f32x4") == 0) {
    global(LOAD, 16, active, text("(%s) * 16", place));
    global(STORE, 16, active, "gid * 16");
  } else {
    assert_string_equal(r->kernel, "scatter_f32");
    global(LOAD, 4, active, "gid * 4");
    global(STORE, 4, active, text("(%s) * 4", place));
  }
  return true;
}

static bool shared_pitch(const row *r) {
  const bool loads = sct_has_prefix(r->kernel, "sh_ld_");
  if (!loads && !sct_has_prefix(r->kernel, "sh_st_")) {
    return false;
  }
  const int w = width_of(r->kernel);
  const int n = w == 1 ? 8192 : w == 16 ? 2048 : 4096;
  const char *far = text("(thread * %d + %d) %% %d * %d", (int)r->arg[0], (int)r->arg[1], n, w);
  if (loads) {
    const char *fill = text("(thread + 256 * k) * %d", w);
    add_loop(global(LOAD, w, NULL, fill), "k", text("%d", n / 256));
    add_loop(shared(STORE, w, NULL, fill), "k", text("%d", n / 256));
    shared(LOAD, w, NULL, far);
  } else {
    global(LOAD, w, NULL, text("gid * %d", w));
    shared(STORE, w, NULL, far);
    shared(LOAD, w, NULL, text("thread * %d", w));
  }
  global(STORE, w, NULL, text("gid * %d", w));
  return true;
}

static bool shared_permuted(const row *r) {
  const bool mask = strcmp(r->kernel, "sh_masked_f32") == 0;
  if (!mask && !sct_has_prefix(r->kernel, "sh_perm_")) {
    return false;
  }
  const int w = width_of(r->kernel);
  const char *active = mask ? mask_condition(r->arg[0]) : NULL;
  global(LOAD, w, NULL, text("gid * %d", w));
  shared(STORE, w, NULL, text("thread * %d", w));
  shared(LOAD, w, active,
         mask ? "thread * 2 % 256 * 4"
              : text("(thread - lane + (%s)) * %d", permuted_lane(r->arg[0]), w));
  global(STORE, w, active, text("gid * %d", w));
  return true;
}

/* Tiles of 32 x 32, 32 x 8 threads, 8 tiles a row; rows 0, 8, 16, 24 + thread // 32. */
static bool transpose(const row *r) {
  if (!sct_has_prefix(r->kernel, "tr_") || strcmp(r->kernel, "tr_f32_naive") == 0) {
    return false;
  }
  char type[64];
  const bool xor = strcmp(r->kernel, "tr_f32_xor") == 0;
  snprintf(type, sizeof type, "%s", r->kernel);
  type[strlen(type) - (xor? 4 : 3)] = '\0';
  const int w = width_of(type);
  const int n = (int)r->arg[0];
  const int pitch = 32 + (xor? 0 : r->kernel[strlen(r->kernel) - 1] - '0');
  sct_expr_let(fixture_pool, "tx", parse("thread % 32"));
  sct_expr_let(fixture_pool, "ty", parse("thread // 32 + 8 * j"));
  sct_expr_let(fixture_pool, "bx", parse("block % 8 * 32"));
  sct_expr_let(fixture_pool, "by", parse("block // 8 * 32"));
  const char *in = text("bx + tx < %d and by + ty < %d", n, n);
  sct_access *a[4];
  a[0] = global(LOAD, w, in, text("((by + ty) * %d + bx + tx) * %d", n, w));
  a[1] = shared(STORE, w, in,
                xor? "(ty * 32 + (tx ^ ty)) * 4" : text("(ty * %d + tx) * %d", pitch, w));
  const char *out = text("by + tx < %d and bx + ty < %d", n, n);
  a[2] = shared(LOAD, w, out,
                xor? "(tx * 32 + (tx ^ ty)) * 4" : text("(tx * %d + ty) * %d", pitch, w));
  a[3] = global(STORE, w, out, text("((bx + ty) * %d + by + tx) * %d", n, w));
  for (int k = 0; k < 4; k++) {
    add_loop(a[k], "j", "4");
  }
  return true;
}

static bool plane(const row *r) {
  const int n = (int)r->arg[0];
  sct_expr_let(fixture_pool, "x", parse("block % 8 * 32 + thread % 32"));
  sct_expr_let(fixture_pool, "y", parse("block // 8 * 8 + thread // 32"));
  if (strcmp(r->kernel, "tr_f32_naive") == 0) {
    const char *in = text("x < %d and y < %d", n, n);
    global(LOAD, 4, in, text("(y * %d + x) * 4", n));
    global(STORE, 4, in, text("(x * %d + y) * 4", n));
  } else if (strcmp(r->kernel, "stencil5_f32") == 0) {
    const char *in = text("x > 0 and x < %d and y > 0 and y < %d", n - 1, n - 1);
    global(LOAD, 4, in, text("(y * %d + x - 1) * 4", n));
    global(LOAD, 4, in, text("(y * %d + x + 1) * 4", n));
    global(LOAD, 4, in, text("((y - 1) * %d + x) * 4", n));
    global(LOAD, 4, in, text("((y + 1) * %d + x) * 4", n));
    global(STORE, 4, in, text("(y * %d + x) * 4", n));
  } else {
    return false;
  }
  return true;
}

/* 256 records of n words a block through shared memory, 16 bytes at a time. */
static bool staged(const row *r) {
  if (!sct_has_prefix(r->kernel, "staged_aos_")) {
    return false;
  }
  const int n = atoi(r->kernel + strlen("staged_aos_"));
  const char *mine = text("thread + 256 * k < %d", 64 * n);
  const char *count = text("%d", (64 * n + 255) / 256);
  for (int direction = LOAD; direction <= STORE; direction++) {
    const char *place = text("(block * %d + thread + 256 * k) * 16", 64 * n);
    add_loop(global(direction, 16, mine, place), "k", count);
    add_loop(shared(direction, 16, mine, "(thread + 256 * k) * 16"), "k", count);
    sct_access *a = shared(direction, 4, NULL, text("(thread * %d + k) * 4", n));
    add_loop(a, "k", text("%d", n));
  }
  return true;
}

static bool sums(const row *r) {
  const bool rows = strcmp(r->kernel, "row_sum_f32") == 0;
  if (!rows && strcmp(r->kernel, "col_sum_f32") != 0) {
    return false;
  }
  const int n = (int)r->arg[0];
  const char *mine = text("gid < %d", n);
  sct_access *a =
      global(LOAD, 4, mine, rows ? text("(gid * %d + k) * 4", n) : text("(k * %d + gid) * 4", n));
  add_loop(a, "k", text("%d", n));
  global(STORE, 4, mine, "gid * 4");
  return true;
}

static bool others(const row *r) {
  if (strcmp(r->kernel, "shfl_rotate_f32") == 0) {
    global(LOAD, 4, NULL, "gid * 4");
    global(STORE, 4, NULL, "gid * 4");
  } else if (strcmp(r->kernel, "diverge_f32") == 0) {
    global(LOAD, 4, "thread % 2 == 1", "gid * 4");
    global(LOAD, 4, "thread % 2 == 0", "gid * 4");
    global(STORE, 4, NULL, "gid * 4");
  } else if (sct_has_prefix(r->kernel, "cp_async_")) {
    global(LOAD, 16, NULL, "gid * 16");
    shared(STORE, 16, NULL, "thread * 16");
    shared(LOAD, 16, NULL, "(255 - thread) * 16");
    global(STORE, 16, NULL, "gid * 16");
  } else {
    return false;
  }
  return true;
}

/* ---- rows */

static bool state_accesses(const row *r) {
  static bool (*const families[])(const row *) = {
      strided,  permuted,     masked,          tail_or_grid_stride, records,
      indirect, shared_pitch, shared_permuted, transpose,           plane,
      staged,   sums,         others};
  for (int k = 0; k < SCT_COUNT(families); k++) {
    if (families[k](r)) {
      return true;
    }
  }
  return false;
}

static int differences;

static void same(const row *r, const char *what, int64_t have, int64_t want) {
  if (have != want) {
    differences++;
    print_message("%s %" PRId64 " %" PRId64 " %s: %s is %" PRId64 ", the profiler says %" PRId64
                  "\n",
                  r->kernel, r->arg[0], r->arg[1], r->index, what, have, want);
  }
}

static void check_row(const row *r) {
  sct_counters c = count_kernel(1 << 20);
  same(r, "requests_ld", c.load.requests, r->requests_ld);
  same(r, "sectors_ld", c.load.sectors, r->sectors_ld);
  same(r, "tags_ld", c.load.tags, r->tags_ld);
  same(r, "requests_st", c.store.requests, r->requests_st);
  same(r, "sectors_st", c.store.sectors, r->sectors_st);
  same(r, "tags_st", c.store.tags, r->tags_st);
  same(r, "ideal", c.load.sectors_ideal + c.store.sectors_ideal, r->ideal);
  same(r, "shared", c.wavefronts_ld + c.wavefronts_st, r->shared);
  same(r, "shared_ideal", c.wavefronts_ld_ideal + c.wavefronts_st_ideal, r->shared_ideal);
  assert_int_equal(c.blocks_counted, r->blocks);
  sct_counters_free(&c);
}

static bool read_row(FILE *file, row *r) {
  char line[512];
  while (fgets(line, sizeof line, file) != NULL) {
    const int n =
        sscanf(line,
               "%63[^,],%" SCNd64 ",%" SCNd64 ",%15[^,],%" SCNd64 ",%d,%" SCNd64 ",%" SCNd64
               ",%" SCNd64 ",%" SCNd64 ",%" SCNd64 ",%" SCNd64 ",%" SCNd64 ",%" SCNd64 ",%" SCNd64,
               r->kernel, &r->arg[0], &r->arg[1], r->index, &r->blocks, &r->threads,
               &r->requests_ld, &r->sectors_ld, &r->tags_ld, &r->requests_st, &r->sectors_st,
               &r->tags_st, &r->ideal, &r->shared, &r->shared_ideal);
    if (n == 15) {
      return true;
    }
    assert_true(line[0] == '#' || sct_has_prefix(line, "kernel,"));
  }
  return false;
}

static void test_every_row(void **state) {
  (void)state;
  FILE *file = fopen(SCT_TESTS_DIR "/oracle/h200_accesses.csv", "r");
  int checked = 0;
  int narrowed = 0;
  row r;
  assert_non_null(file);
  while (read_row(file, &r)) {
    /* the compiler loads less than the source says where components are not used: what the
     * machine runs is not what an access states */
    if (sct_has_prefix(r.kernel, "dead_")) {
      narrowed++;
      continue;
    }
    open_kernel(r.blocks, r.threads);
    if (!state_accesses(&r)) {
      fail_msg("no accesses known for %s", r.kernel);
    }
    check_row(&r);
    checked++;
    close_kernel();
  }
  fclose(file);
  assert_int_equal(checked, 527);
  assert_int_equal(narrowed, 4);
  assert_int_equal(differences, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_row)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
