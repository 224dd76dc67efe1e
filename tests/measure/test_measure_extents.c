/* Which sizes a candidate is verified at in any case, and which of them specs and layouts allow. */
#include "measure_world.h"

static void world_list(world *w) {
  sct_tuples_free(&w->tuples);
  sct_extents_list(&w->tuples, &w->m.addressing, &w->kernel.code, SCT_MAX_VERIFY_ELEMENTS);
}

static bool has(const world *w, int64_t a, int64_t b) {
  const int n = w->tuples.n_dims;
  for (int k = 0; k < w->tuples.n; k++) {
    const int64_t *v = w->tuples.values + k * n;
    if (v[0] == a && (n < 2 || v[1] == b)) {
      return true;
    }
  }
  return false;
}

static void test_line_has_the_block_edges(void **state) {
  (void)state;
  world w;
  const int64_t n[] = {1000};
  static const int64_t tiles[] = {1, 100, 768, 5000};
  for (int k = 0; k < SCT_COUNT(tiles); k++) {
    const int64_t tile = tiles[k];
    world_open(&w, "i", copy_1d, 1, 2, "b = a;", n, tile);
    world_list(&w);
    assert_true(has(&w, tile - 1, 0) && has(&w, tile, 0) && has(&w, tile + 1, 0));
    assert_true(has(&w, 2 * tile + 3, 0) && has(&w, 3 * tile + 5, 0));
    assert_true(has(&w, 0, 0) && has(&w, 1, 0));
    world_close(&w);
  }
}

static void test_plane_has_the_box_edges(void **state) {
  (void)state;
  world w;
  const int64_t n[] = {100, 100};
  world_open(&w, "row col", copy_1d, 1, 2, "b = a;", n, 48);
  world_list(&w);
  assert_true(has(&w, 47, 47) && has(&w, 48, 48) && has(&w, 49, 49));
  assert_true(has(&w, 99, 1) && has(&w, 1, 99)); /* 2 * 48 + 3 */
  assert_true(has(&w, 149, 5) && has(&w, 5, 149));
  assert_true(has(&w, 1, 1) && has(&w, 0, 5) && has(&w, 5, 0));
  for (int k = 0; k < w.tuples.n; k++) { /* distinct, and small */
    const int64_t *v = w.tuples.values + 2 * k;
    assert_true(v[0] * v[1] <= SCT_MAX_VERIFY_ELEMENTS);
    for (int other = 0; other < k; other++) {
      assert_true(memcmp(v, w.tuples.values + 2 * other, 2 * sizeof *v) != 0);
    }
  }
  world_close(&w);
}

/* Where a tile in each dimension is much, one dimension after the other has its edges. */
static void test_large_boxes_have_their_edges_one_by_one(void **state) {
  (void)state;
  world w;
  const int64_t n[] = {100, 100};
  for (int64_t tile = 150; tile <= 500; tile += 350) {
    world_open(&w, "row col", copy_1d, 1, 2, "b = a;", n, tile);
    world_list(&w);
    for (int64_t at = tile - 1; at <= tile + 1; at++) {
      assert_int_equal(has(&w, at, at), tile == 150);
      assert_int_equal(has(&w, at, 1) && has(&w, 1, at), tile == 500);
    }
    assert_true(has(&w, 3 * tile + 5, 5) && has(&w, 2 * tile + 3, 1));
    world_close(&w);
  }
}

static void test_a_grid_that_never_grows_is_no_edge(void **state) {
  (void)state;
  world w;
  const int64_t n[] = {1000};
  world_open(&w, "i", copy_1d, 1, 2, "b = a;", n, 64);
  w.kernel.code.grid = sct_expr_const(w.spec.pool, 132); /* a grid-stride loop */
  world_list(&w);
  assert_true(has(&w, 0, 0) && has(&w, 1, 0) && has(&w, 9, 0));
  for (int k = 0; k < w.tuples.n; k++) {
    assert_in_range(w.tuples.values[k], 0, 14);
  }
  world_close(&w);
}

/* Runs of 700,000 elements are for many threads: few of them would wait for each of as many. */
static void test_long_runs_are_for_many_threads(void **state) {
  (void)state;
  const int64_t n[] = {100, 100};
  static const int64_t rows_of_block[] = {1, 4, 16, 64};
  for (int k = 0; k < SCT_COUNT(rows_of_block); k++) {
    const int64_t rows = rows_of_block[k];
    world w;
    world_open(&w, "row k", copy_1d, 1, 2, "b = a;", n, 64);
    sct_expr_pool *p = w.spec.pool;
    w.spec.reduced[1] = true;
    w.kernel.code.grid =
        sct_expr_div(p, sct_expr_add(p, w.spec.extent_var[0], sct_expr_const(p, rows - 1)),
                     sct_expr_const(p, rows));
    world_list(&w);
    assert_true(has(&w, 1, 9001) && has(&w, 1, 19984) && !has(&w, 19984, 1));
    assert_int_equal(has(&w, 1, 700000), rows <= 4); /* 64 threads, 16, 4, or one */
    assert_int_equal(has(&w, 1, 700001), rows <= 4);
    world_close(&w);
  }
}

/* 132 blocks at most, which no size of verification gives several tiles each: few of them do. */
static void test_blocks_that_stay_get_many_tiles(void **state) {
  (void)state;
  static const struct {
    int rounds;
    int64_t tile, most, extent;
  } cases[] = {{5, 64, 1 << 20, 5 * 64 + 32},
               {9, 4096, 20000, 4 * 4096 + 2048},
               {9, 16384, 20000, 0},
               {0, 64, 20000, 0}};
  const int64_t n[] = {1000};
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    world w;
    world_open(&w, "i", copy_1d, 1, 2, "b = a;", n, cases[k].tile);
    sct_kernel_code *code = &w.kernel.code;
    code->grid =
        sct_expr_binary(w.spec.pool, SCT_EXPR_MIN, code->grid, sct_expr_const(w.spec.pool, 132));
    code->rounds = cases[k].rounds;
    sct_extents_list(&w.tuples, &w.m.addressing, code, cases[k].most);
    assert_true(cases[k].extent == 0 || has(&w, cases[k].extent, 0));
    for (int t = 0; t < w.tuples.n; t++) {
      assert_in_range(w.tuples.values[t], 0, cases[k].most);
    }
    world_close(&w);
  }
  const sct_kernel_code stays = {.rounds = 5}, leaves = {.rounds = 0};
  static const int64_t blocks[][2] = {{1, 1}, {3, 3}, {4, 1}, {5, 1}, {6, 1}, {10, 2}, {132, 26}};
  for (int k = 0; k < SCT_COUNT(blocks); k++) {
    assert_int_equal(sct_code_few_blocks(&stays, blocks[k][0]), blocks[k][1]);
    assert_int_equal(sct_code_few_blocks(&leaves, blocks[k][0]), blocks[k][0]);
  }
}

/* A kernel for one extent of the second dimension is verified there only, or at 0. `n / 2 % 4 == 0`
 * holds at 1 and not at 2, but at others. */
static void test_an_extent_that_a_requirement_fixes(void **state) {
  (void)state;
  static const fixture_array arrays[] = {{.name = "a", .types = "f32", .layout = FIXTURE_AOS},
                                         {.name = "b", .types = "f32", .layout = FIXTURE_AOS}};
  world w;
  const int64_t n[] = {100, 7};
  world_open(&w, "i j", arrays, 1, 2, "b = a;", n, 64);
  sct_expr_pool *pool = w.spec.pool;
  const sct_expr pairs = sct_expr_div(pool, w.spec.extent_var[0], sct_expr_const(pool, 2));
  sct_expr require[] = {
      sct_expr_binary(pool, SCT_EXPR_EQ, w.spec.extent_var[1], sct_expr_const(pool, 7)),
      sct_expr_binary(pool, SCT_EXPR_EQ, sct_expr_mod(pool, pairs, sct_expr_const(pool, 4)),
                      sct_expr_const(pool, 0))};
  w.kernel.code.require = require;
  w.kernel.code.n_require = 2;
  world_list(&w);
  int zeros = 0;
  for (int k = 0; k < w.tuples.n; k++) {
    const int64_t j = w.tuples.values[2 * k + 1];
    assert_true(j == 7 || j == 0);
    zeros += j == 0;
  }
  assert_true(zeros > 0);
  assert_true(has(&w, 63, 7) && has(&w, 64, 7) && has(&w, 65, 7) && has(&w, 131, 7));
  world_close(&w);
}

/* Blocks of 4,096 elements of both dimensions, vectors of 16 along the second: their edges along
 * the first are 256 apart, and not 4,096 rows of 16. */
static void test_edges_lie_where_requirements_hold(void **state) {
  (void)state;
  static const fixture_array arrays[] = {{.name = "a", .types = "f32", .layout = FIXTURE_AOS},
                                         {.name = "b", .types = "f32", .layout = FIXTURE_AOS}};
  world w;
  const int64_t n[] = {100, 160};
  world_open(&w, "i j", arrays, 1, 2, "b = a;", n, 64);
  sct_expr_pool *pool = w.spec.pool;
  const sct_expr j = w.spec.extent_var[1], zero = sct_expr_const(pool, 0);
  sct_expr require = sct_expr_binary(
      pool, SCT_EXPR_EQ, sct_expr_binary(pool, SCT_EXPR_MOD, j, sct_expr_const(pool, 16)), zero);
  const sct_expr all = sct_expr_mul(pool, w.spec.extent_var[0], j);
  w.kernel.code.grid = sct_expr_div(pool, sct_expr_add(pool, all, sct_expr_const(pool, 4095)),
                                    sct_expr_const(pool, 4096));
  w.kernel.code.require = &require;
  w.kernel.code.n_require = 1;
  world_list(&w);
  assert_true(has(&w, 255, 16) && has(&w, 256, 16) && has(&w, 257, 16) && has(&w, 515, 16));
  assert_false(has(&w, 4096, 1) || has(&w, 4097, 1));
  world_close(&w);
}

/* Rows that a requirement limits, as of a kernel that holds them in registers, are as long once. */
static void test_the_longest_that_requirements_allow(void **state) {
  (void)state;
  const int64_t n[] = {100, 100};
  for (int64_t unit = 1; unit <= 8; unit *= 8) {
    world w;
    world_open(&w, "row col", copy_1d, 1, 2, "b = a;", n, 48);
    sct_expr_pool *p = w.spec.pool;
    const sct_expr col = w.spec.extent_var[1];
    sct_expr require[] = {sct_expr_binary(p, SCT_EXPR_LE, col, sct_expr_const(p, 1003)),
                          sct_expr_binary(p, SCT_EXPR_EQ,
                                          sct_expr_mod(p, col, sct_expr_const(p, unit)),
                                          sct_expr_const(p, 0))};
    w.kernel.code.require = require;
    w.kernel.code.n_require = 2;
    world_list(&w);
    assert_true(has(&w, 1, unit == 1 ? 1003 : 1000));
    assert_true(has(&w, 99, unit) && !has(&w, 1003, 1));
    world_close(&w);
  }
}

/* Of a scan, a group of 32 tiles and a rest that looks back at it, beyond what others have. */
static void test_scans_have_a_group_of_tiles(void **state) {
  (void)state;
  const fixture_array arrays[] = {
      {.name = "a", .types = "f32", .layout = FIXTURE_AOS},
      {.name = "b", .types = "f32", .layout = FIXTURE_AOS, .scan = SCT_REDUCE_SUM}};
  const int64_t n[] = {100, 100};
  static const int64_t tiles[] = {48, 1000};
  for (int k = 0; k < 2 * SCT_COUNT(tiles); k++) {
    const bool scans = k % 2 == 0;
    const int64_t tile = tiles[k / 2];
    world w;
    world_open(&w, "row col", scans ? arrays : copy_1d, 1, 2, "b = a;", n, tile);
    sct_extents_list(&w.tuples, &w.m.addressing, &w.kernel.code, SCT_MAX_VIRTUAL_ELEMENTS);
    assert_int_equal(has(&w, 1, 33 * tile + tile / 2), scans);
    world_close(&w);
  }
}

static void test_many_dimensions(void **state) {
  (void)state;
  world w;
  const int64_t n[] = {2, 3, 4, 5};
  world_open(&w, "a0 a1 a2 a3", copy_1d, 1, 2, "b = a;", n, 16);
  world_list(&w);
  bool zero = false, edge = false, beyond = false;
  for (int k = 0; k < w.tuples.n; k++) {
    const int64_t *v = w.tuples.values + 4 * k;
    zero = zero || v[0] * v[1] * v[2] * v[3] == 0;
    edge = edge || (v[0] == 1 && v[1] == 1 && v[2] == 16 && v[3] == 16);
    beyond = beyond || (v[0] == 2 && v[1] == 2 && v[2] == 17 && v[3] == 17);
  }
  assert_true(zero && edge && beyond);
  world_close(&w);
}

/* ---- cases: what the spec allows ---- */

static void test_own_extents_are_found(void **state) {
  (void)state;
  world w;
  const int64_t n[] = {64, 200}; /* the table is about three times as long */
  const fixture_array arrays[] = {
      {.name = "t", .types = "f32", .dims = "m", .at = "3 * i + 2", .layout = FIXTURE_AOS},
      {.name = "b", .types = "f32", .layout = FIXTURE_AOS}};
  world_open(&w, "i", arrays, 1, 2, "b = t;", n, 32);
  static const int64_t sizes[] = {0, 1, 2, 33, 127, 1000, 4097};
  for (int k = 0; k < SCT_COUNT(sizes); k++) {
    sct_case *c = NULL;
    sct_case_get(&w.m, &sizes[k], &c);
    assert_true(c->legal);
    assert_true(sizes[k] == 0 || c->shape.extent[1] >= 3 * sizes[k]);
  }
  sct_case *again = NULL, *first = NULL;
  sct_case_get(&w.m, &sizes[3], &first);
  sct_case_get(&w.m, &sizes[3], &again);
  assert_ptr_equal(first, again); /* kept, not made anew */
  world_close(&w);
}

/* A table of 32 MB is tried where an index finds its elements, and not where a kernel has its first
 * ones in any case. */
static void test_long_tables_are_for_what_finds_elements(void **state) {
  (void)state;
  const int64_t n[] = {64, 200}, dims[] = {64};
  for (int finds = 0; finds < 2; finds++) {
    world w;
    const fixture_array arrays[] = {{.name = "pick", .types = "i32", .layout = FIXTURE_AOS},
                                    {.name = "t",
                                     .types = "f64 f64 f64 f64 f64 f64 f64 f64",
                                     .dims = "m",
                                     .at = finds ? "pick" : "i",
                                     .layout = FIXTURE_AOS},
                                    {.name = "b", .types = "f64", .layout = FIXTURE_AOS}};
    world_open(&w, "i", arrays, 2, 3, finds ? "b = t.x0;" : "b = t.x0 + pick;", n, 32);
    sct_case *c = NULL;
    sct_case_get_as(&w.m, &(sct_case_want){.dims = dims, .own = 500000}, &c);
    assert_int_equal(c->legal, finds);
    sct_case_get_as(&w.m, &(sct_case_want){.dims = dims, .own = 20016}, &c);
    assert_true(c->legal);
    world_close(&w);
  }
}

static void test_scatter_needs_room_and_distinct_values(void **state) {
  (void)state;
  world w;
  const int64_t n[] = {64, 64};
  const fixture_array arrays[] = {
      {.name = "pick", .types = "i32", .layout = FIXTURE_AOS},
      {.name = "a", .types = "f32", .layout = FIXTURE_AOS},
      {.name = "b", .types = "f32", .dims = "m", .at = "pick", .layout = FIXTURE_AOS}};
  world_open(&w, "i", arrays, 2, 3, "b = a;", n, 32);
  for (int64_t size = 1; size < 300; size += 7) {
    sct_case *c = NULL;
    sct_case_get(&w.m, &size, &c);
    assert_true(c->legal);
    assert_true(c->shape.extent[1] >= size);
    bool seen[1024] = {false};
    for (int64_t i = 0; i < size; i++) {
      const int64_t at = c->shape.op[0].values[i];
      assert_in_range(at, 0, c->shape.extent[1] - 1);
      assert_true(at < 1024 && !seen[at]);
      seen[at] = true;
    }
  }
  world_close(&w);
}

static void test_gathers_get_every_kind_of_index(void **state) {
  (void)state;
  world w;
  const int64_t n[] = {64, 64};
  const fixture_array arrays[] = {
      {.name = "pick", .types = "i32", .layout = FIXTURE_AOS},
      {.name = "a", .types = "f32", .dims = "m", .at = "pick", .layout = FIXTURE_AOS},
      {.name = "b", .types = "f32", .layout = FIXTURE_AOS}};
  bool seen[4] = {false}, shorter = false, equal = false;
  world_open(&w, "i", arrays, 2, 3, "b = a;", n, 32);
  for (int64_t size = 101; size < 140; size++) {
    sct_case *c = NULL;
    sct_case_get(&w.m, &size, &c);
    assert_true(c->legal);
    seen[c->shape.fill[0]] = true;
    shorter = shorter || c->shape.extent[1] != size;
    equal = equal || c->shape.extent[1] == size;
  }
  assert_true(seen[SCT_FILL_IDENTITY] && seen[SCT_FILL_PERMUTED] && seen[SCT_FILL_RANDOM]);
  assert_true(shorter && equal);
  world_close(&w);
}

/* Padding is a case of its own: a mask that is random leaves no vector alone. */
static void test_masks_are_random_and_prefixes(void **state) {
  (void)state;
  world w;
  const int64_t n[] = {64, 64};
  const fixture_array arrays[] = {{.name = "mask", .types = "bool", .layout = FIXTURE_AOS},
                                  {.name = "b", .types = "u8", .layout = FIXTURE_AOS}};
  int seen[2] = {0};
  world_open(&w, "row col", arrays, 1, 2, "b = mask;", n, 32);
  for (int64_t col = 101; col < 130; col++) {
    const int64_t extents[] = {5, col};
    sct_case *c = NULL;
    uint8_t *mask = NULL;
    sct_case_get(&w.m, extents, &c);
    const bool prefix = c->shape.fill[0] == SCT_FILL_PREFIX;
    assert_true(c->legal);
    assert_ok(sct_image_input(&mask, &c->shape, 0, &fixture_err));
    int rises = 0;
    for (int64_t k = 0; k < 5 * col; k++) {
      rises += k % col > 0 && mask[k] > mask[k - 1];
    }
    assert_int_equal(rises == 0, prefix);
    assert_true(!prefix || (mask[0] == 1 && mask[col / 2 - 1] == 1));
    seen[prefix]++;
    sct_free(mask);
  }
  assert_true(seen[0] > 0 && seen[1] > 0);
  world_close(&w);
}

static void test_requirements_are_asked(void **state) {
  (void)state;
  world w;
  const int64_t n[] = {1000};
  world_open(&w, "i", copy_1d, 1, 2, "b = a;", n, 64);
  const sct_expr four = sct_expr_const(w.spec.pool, 4), zero = sct_expr_const(w.spec.pool, 0);
  w.kernel.require[0] = sct_expr_binary(
      w.spec.pool, SCT_EXPR_EQ, sct_expr_mod(w.spec.pool, w.spec.extent_var[0], four), zero);
  w.kernel.code.require = w.kernel.require;
  w.kernel.code.n_require = 1;
  for (int64_t k = 0; k < 9; k++) {
    assert_int_equal(sct_code_allows(&w.m.addressing, &w.kernel.code, &k), k % 4 == 0);
  }
  world_close(&w);
}

/* Whatever two dimensions a kernel of words wants multiples of, sizes that the interpreter takes
 * are found, though multiples of all dimensions make too many elements. */
static void test_two_of_many_dimensions_are_multiples(void **state) {
  (void)state;
  const int64_t n[] = {4, 22, 33, 38};
  for (int pair = 0; pair < 16; pair++) {
    world w;
    const sct_situations *list = NULL;
    world_open(&w, "a0 a1 a2 a3", copy_1d, 1, 2, "b = a;", n, 16);
    sct_expr_pool *pool = w.spec.pool;
    const sct_expr word = sct_expr_const(pool, 16), zero = sct_expr_const(pool, 0);
    sct_expr require[2];
    for (int k = 0; k < 2; k++) {
      const sct_expr extent = w.spec.extent_var[k == 0 ? pair / 4 : pair % 4];
      require[k] = sct_expr_binary(pool, SCT_EXPR_EQ, sct_expr_mod(pool, extent, word), zero);
    }
    w.kernel.code.require = require;
    w.kernel.code.n_require = 2;
    w.m.is_virtual = true;
    sct_situations_for(&w.m, &w.kernel.code, NULL, &list);
    assert_true(list->n_full >= 5);
    world_close(&w);
  }
}

/* ---- what layouts allow ---- */

/* Rows 100 apart hold 100 elements: every size keeps to that, and some are at it and just below.
 * By strides and, where there are none, by trying. What is only read may overlap. */
static void test_sizes_keep_to_what_a_layout_allows(void **state) {
  (void)state;
  static const fixture_layout kinds[] = {FIXTURE_FIXED, FIXTURE_FOLDED};
  const int64_t n[] = {1000, 100};
  for (int k = 0; k < 2 * SCT_COUNT(kinds); k++) {
    const bool written = k % 2 == 0;
    const fixture_array arrays[] = {
        {.name = "a", .types = "f32", .layout = written ? FIXTURE_AOS : kinds[k / 2]},
        {.name = "b", .types = "f32", .layout = written ? kinds[k / 2] : FIXTURE_AOS}};
    static const int64_t tiles[] = {32, 64, 2048};
    for (int t = 0; t < SCT_COUNT(tiles); t++) {
      world w;
      const sct_situations *list = NULL;
      bool at = false, below = false, beyond = false;
      world_open(&w, "row col", arrays, 1, 2, "b = a;", n, tiles[t]);
      w.m.is_virtual = true;
      sct_situations_for(&w.m, &w.kernel.code, NULL, &list);
      for (int c = 0; c < list->n; c++) {
        const int64_t *extent = list->all[c].c->shape.extent;
        assert_true(list->all[c].c->legal);
        at = at || (extent[0] > 2 && extent[1] == 100);
        below = below || (extent[0] > 2 && extent[1] == 99);
        beyond = beyond || (extent[0] > 2 && extent[1] > 100);
      }
      assert_true(list->n_full >= 10);
      assert_int_equal(at && below, written);
      assert_int_equal(beyond, !written);
      world_close(&w);
    }
  }
}

/* Rows 100 apart, and an array as long as an own extent says: that one makes no room in the rows,
 * so it is not looked for, and sizes at the rows' limit are found all the same. */
static void test_own_extents_make_no_room_elsewhere(void **state) {
  (void)state;
  world w;
  const int64_t n[] = {1000, 100, 1000}, long_row[] = {5, 1000};
  const fixture_array arrays[] = {
      {.name = "pick", .types = "i32", .dims = "row", .layout = FIXTURE_AOS},
      {.name = "a", .types = "u8", .dims = "m col", .at = "pick", .layout = FIXTURE_FOLDED},
      {.name = "b", .types = "u8", .layout = FIXTURE_FIXED}};
  const sct_situations *list = NULL;
  sct_case *c = NULL;
  bool at = false, below = false;
  world_open(&w, "row col", arrays, 2, 3, "b = a;", n, 32);
  w.m.is_virtual = true;
  sct_case_get(&w.m, long_row, &c);
  assert_true(!c->legal && c->too_long);
  assert_in_range(c->shape.extent[2], 1, 200); /* the first that was tried */
  sct_situations_for(&w.m, &w.kernel.code, NULL, &list);
  for (int k = 0; k < list->n; k++) {
    const int64_t *extent = list->all[k].c->shape.extent;
    assert_true(list->all[k].c->legal && (extent[0] < 2 || extent[1] <= 100));
    at = at || (extent[0] > 2 && extent[1] == 100);
    below = below || (extent[0] > 2 && extent[1] == 99);
  }
  assert_true(at && below);
  world_close(&w);
}

static void check_layout(const char *types, fixture_layout layout, int64_t rows, int64_t cols,
                         bool holds) {
  world w;
  sct_shape shape;
  const int64_t small[] = {2, 3}, n[] = {rows, cols};
  const fixture_array arrays[] = {{.name = "a", .types = types, .layout = FIXTURE_AOS},
                                  {.name = "b", .types = types, .layout = layout}};
  world_open(&w, "row col", arrays, 1, 2, "b = a;", small, 32);
  assert_ok(sct_shape_init(&shape, &w.m.addressing, n, NULL, &fixture_err));
  assert_int_equal(sct_shape_layouts_hold(&shape, false), holds);
  shape.op[1].bytes -= rows * cols > 0; /* the last element's last byte; FIXED has more room */
  assert_int_equal(sct_shape_layouts_hold(&shape, false),
                   holds && (layout >= FIXTURE_FANNED || rows * cols == 0));
  sct_shape_free(&shape);
  world_close(&w);
}

static void test_layouts_hold_as_long_as_nothing_overlaps(void **state) {
  (void)state;
  static const char *const types[] = {"f32", "f64 u8", "u8 u8 u8"};
  for (int k = 0; k < SCT_COUNT(types); k++) {
    for (int layout = FIXTURE_AOS; layout <= FIXTURE_FANNED; layout++) {
      const bool by_block = layout == FIXTURE_AOSOA || layout == FIXTURE_PITCHED;
      if (!by_block && (k != 1 || layout == FIXTURE_FANNED)) { /* others end with a gap */
        check_layout(types[k], (fixture_layout)layout, 33, 12, true);
        check_layout(types[k], (fixture_layout)layout, 1, 1, true);
        check_layout(types[k], (fixture_layout)layout, 0, 7, true);
      }
    }
    for (int layout = FIXTURE_FIXED; layout <= FIXTURE_FOLDED; layout++) {
      check_layout(types[k], (fixture_layout)layout, 7, 100, true);
      check_layout(types[k], (fixture_layout)layout, 7, 101, false);
      check_layout(types[k], (fixture_layout)layout, 1, 101, true);
      check_layout(types[k], (fixture_layout)layout, 7, 1000, false);
    }
  }
}

static void test_limits_of_the_device(void **state) {
  (void)state;
  const sct_device_desc device = {.threads_block = 1024, .smem_block_optin_bytes = 1000};
  sct_kernel_code code = {.threads = 1024, .shared_bytes = 600, .static_shared_bytes = 400};
  sct_verdict v = {.outcome = SCT_OUT_OK};
  sct_code_fits(&device, &code, &v);
  assert_int_equal(v.outcome, SCT_OUT_OK);
  code.shared_bytes++;
  sct_code_fits(&device, &code, &v);
  assert_int_equal(v.outcome, SCT_OUT_TOO_LARGE);
  assert_string_equal(v.detail, "1001 bytes of shared memory a block; the device has 1000");
  v.outcome = SCT_OUT_OK;
  code = (sct_kernel_code){.threads = 1025};
  sct_code_fits(&device, &code, &v);
  assert_int_equal(v.outcome, SCT_OUT_TOO_LARGE);
}

static void test_grids_that_cannot_be_launched(void **state) {
  (void)state;
  world w;
  const int64_t n[] = {1000}, huge[] = {(int64_t)1 << 35};
  world_open(&w, "i", copy_1d, 1, 2, "b = a;", n, 8);
  sct_shape shape;
  sct_verdict v = {.outcome = SCT_OUT_OK};
  int64_t blocks = 0;
  assert_ok(sct_shape_init(&shape, &w.m.addressing, n, NULL, &fixture_err));
  assert_ok(sct_code_blocks(&shape, &w.kernel.code, &blocks, &v, &fixture_err));
  assert_int_equal(blocks, 125);
  assert_int_equal(v.outcome, SCT_OUT_OK);
  sct_shape_free(&shape);
  assert_ok(sct_shape_init(&shape, &w.m.addressing, huge, NULL, &fixture_err));
  assert_ok(sct_code_blocks(&shape, &w.kernel.code, &blocks, &v, &fixture_err));
  assert_int_equal(v.outcome, SCT_OUT_TOO_LARGE);
  sct_shape_free(&shape);
  world_close(&w);
}

static void test_places_lie_inside_at_both_ends(void **state) {
  (void)state;
  static const struct {
    const char *at;
    int64_t least; /* elements that the array must have */
  } cases[] = {{"3 * i + 2", 15}, {"4 - i", 5}, {"i % 3 + 1", 4}};
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    const int64_t n[] = {5, 20};
    const fixture_array arrays[] = {
        {.name = "t", .types = "f32", .dims = "m", .at = cases[k].at, .layout = FIXTURE_AOS},
        {.name = "b", .types = "f32", .layout = FIXTURE_AOS}};
    sct_addressing addressing;
    sct_shape shape;
    sct_spec spec;
    fixture_spec(&spec, "i", arrays, 1, 2, NULL, "b = t;", n);
    assert_ok(sct_addressing_init(&addressing, &spec, first_layout, 5, &fixture_err));
    for (int64_t m = 1; m <= 20; m++) {
      const int64_t extent[] = {5, m};
      assert_ok(sct_shape_init(&shape, &addressing, extent, NULL, &fixture_err));
      assert_int_equal(sct_shape_is_legal(&shape), m >= cases[k].least);
      sct_shape_free(&shape);
    }
    sct_addressing_free(&addressing);
    sct_spec_free(&spec);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_places_lie_inside_at_both_ends),
      cmocka_unit_test(test_line_has_the_block_edges),
      cmocka_unit_test(test_plane_has_the_box_edges),
      cmocka_unit_test(test_large_boxes_have_their_edges_one_by_one),
      cmocka_unit_test(test_a_grid_that_never_grows_is_no_edge),
      cmocka_unit_test(test_long_runs_are_for_many_threads),
      cmocka_unit_test(test_blocks_that_stay_get_many_tiles),
      cmocka_unit_test(test_edges_lie_where_requirements_hold),
      cmocka_unit_test(test_an_extent_that_a_requirement_fixes),
      cmocka_unit_test(test_the_longest_that_requirements_allow),
      cmocka_unit_test(test_scans_have_a_group_of_tiles),
      cmocka_unit_test(test_many_dimensions),
      cmocka_unit_test(test_own_extents_are_found),
      cmocka_unit_test(test_long_tables_are_for_what_finds_elements),
      cmocka_unit_test(test_scatter_needs_room_and_distinct_values),
      cmocka_unit_test(test_gathers_get_every_kind_of_index),
      cmocka_unit_test(test_masks_are_random_and_prefixes),
      cmocka_unit_test(test_requirements_are_asked),
      cmocka_unit_test(test_two_of_many_dimensions_are_multiples),
      cmocka_unit_test(test_sizes_keep_to_what_a_layout_allows),
      cmocka_unit_test(test_own_extents_make_no_room_elsewhere),
      cmocka_unit_test(test_layouts_hold_as_long_as_nothing_overlaps),
      cmocka_unit_test(test_limits_of_the_device),
      cmocka_unit_test(test_grids_that_cannot_be_launched),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
