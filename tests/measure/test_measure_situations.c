/* In which situations a candidate is verified: what they cover, how many they are, and that only
 * the candidate decides about them. */
#include "measure_world.h"

#include "ptx/ptx.h"

static sct_param in_order[SCT_MAX_OPERANDS];

/* A kernel of the user's own, which takes its arrays in order. */
static void make_own(world *w) {
  for (int k = 0; k < w->spec.n_operands; k++) {
    in_order[k] = (sct_param){.kind = SCT_PARAM_ARRAY, .number = k};
  }
  w->kernel.code.params = in_order;
  w->kernel.code.n_params = w->spec.n_operands;
}

/* The spec over (row, col) or what `dims` says, whose arrays need no more alignment than their
 * types. */
static void open_virtual(world *w, const char *dims, const fixture_array *arrays, int n_inputs,
                         int n_arrays, const char *body, int64_t tile) {
  static int64_t align[SCT_MAX_OPERANDS];
  const int64_t n[] = {100, 100, 1000, 100};
  world_open(w, dims, arrays, n_inputs, n_arrays, body, n, tile);
  for (int k = 0; k < n_arrays; k++) {
    align[k] = w->spec.operands[k].record.fields[0].bytes;
  }
  w->kernel.code.align = align;
  w->m.is_virtual = true;
}

static void open_copy(world *w, const char *dims, int64_t tile) {
  open_virtual(w, dims, copy_1d, 1, 2, "b = a;", tile);
}

static sct_ptx_traits constants(const int64_t *of, int n) {
  sct_ptx_traits t = {.n_constants = n};
  memcpy(t.constant, of, sizeof *of * (size_t)n);
  return t;
}

static const sct_situations *list_of(world *w, const sct_ptx_traits *traits) {
  const sct_situations *list = NULL;
  sct_situations_for(&w->m, &w->kernel.code, traits, &list);
  return list;
}

/* ---- what extents are by a modulus ---- */

enum { NO_REST, REST_ONE, ALL_BUT_ONE, OTHER_REST, N_RESTS };
enum { N_CLASSES = 3 * N_RESTS + 1 };

static int rest_of(int64_t extent, int64_t modulus) {
  const int64_t rest = extent % modulus;
  return rest == 0             ? NO_REST
         : rest == modulus - 1 ? ALL_BUT_ONE
         : rest == 1           ? REST_ONE
                               : OTHER_REST;
}

/* Once, two or three times or more often the modulus with this rest, or one less than it: the last
 * class. -1: far below. */
static int class_of(int64_t extent, int64_t modulus) {
  const int64_t count = extent / modulus;
  if (count == 0) {
    return extent == modulus - 1 ? N_CLASSES - 1 : -1;
  }
  return N_RESTS * (count == 1 ? 0 : count < 4 ? 1 : 2) + rest_of(extent, modulus);
}

static void check_all_classes(const sct_situations *list, int dim, int64_t modulus) {
  bool seen[N_CLASSES] = {false};
  for (int k = 0; k < list->n; k++) {
    const int class = class_of(list->all[k].c->dims[dim], modulus);
    if (class >= 0) {
      seen[class] = true;
    }
  }
  for (int class = 0; class < N_CLASSES; class ++) {
    if (!seen[class]) {
      fail_msg("no extent %d of class %d modulo %lld", dim, class, (long long)modulus);
    }
  }
}

static void check_classes(const char *dims, bool own, int64_t tile, const sct_ptx_traits *traits,
                          const int64_t *moduli, int n) {
  world w;
  open_copy(&w, dims, tile);
  if (own) {
    make_own(&w);
  }
  const sct_situations *list = list_of(&w, traits);
  for (int k = 0; k < n * w.spec.n_dims; k++) {
    check_all_classes(list, k / n, moduli[k % n]);
  }
  world_close(&w);
}

/* Whatever a kernel compares with or divides by, below its tile or above, powers of two or not: in
 * elements and in tiles. Those far above what is tried of any kernel are for users' kernels. */
static void test_every_class_of_a_constant_occurs(void **state) {
  (void)state;
  static const int64_t many[] = {7, 33, 100, 128, 1000}, few[] = {6, 20};
  static const int64_t usual[] = {7, 33, 100, 128, 4, 32, 700}, more[] = {1000, 3300};
  static const int64_t of_planes[] = {6, 20, 32};
  const sct_ptx_traits traits = constants(many, SCT_COUNT(many));
  const sct_ptx_traits less = constants(few, SCT_COUNT(few));
  for (int own = 0; own < 2; own++) {
    check_classes("i", own, 100, &less, of_planes, SCT_COUNT(of_planes));
  }
  check_classes("i", true, 100, &traits, usual, SCT_COUNT(usual));
  check_classes("row col", true, 32, &less, of_planes, SCT_COUNT(of_planes));
  check_classes("i", true, 100, &traits, more, SCT_COUNT(more));
}

/* The number of pairs of classes of two extents of which each has both; of rests. */
static void count_pairs(const sct_situations *list, const int64_t modulus[2], int *pairs,
                        int *rests) {
  bool seen[N_CLASSES][N_CLASSES] = {{false}}, of_rests[N_RESTS][N_RESTS] = {{false}};
  *pairs = *rests = 0;
  for (int k = 0; k < list->n; k++) {
    const int64_t *dims = list->all[k].c->dims;
    const int a = class_of(dims[0], modulus[0]), b = class_of(dims[1], modulus[1]);
    if (a >= 0 && b >= 0) {
      *pairs += !seen[a][b];
      seen[a][b] = true;
    }
    if (dims[0] >= modulus[0] && dims[1] >= modulus[1]) {
      const int i = rest_of(dims[0], modulus[0]), j = rest_of(dims[1], modulus[1]);
      *rests += !of_rests[i][j];
      of_rests[i][j] = true;
    }
  }
}

/* Mistakes that two extents must meet for: both have all but one pair of their rests, and many
 * of the numbers of times too. */
static void test_classes_of_two_extents_occur_together(void **state) {
  (void)state;
  static const struct {
    int64_t constant, modulus[2];
    int pairs;
  } cases[] = {{6, {6, 6}, 100}, {6, {16, 6}, 60}, {6, {6, 16}, 60}, {10, {16, 16}, 50}};
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    const sct_ptx_traits traits = constants(&cases[k].constant, 1);
    world w;
    int pairs, rests;
    open_copy(&w, "row col", 16);
    make_own(&w);
    count_pairs(list_of(&w, &traits), cases[k].modulus, &pairs, &rests);
    if (pairs < cases[k].pairs || rests < N_RESTS * N_RESTS) {
      fail_msg("%d: %d pairs, %d rests", k, pairs, rests);
    }
    world_close(&w);
  }
}

/* Without constants the numbers that are likely are met all the same. */
static void test_what_any_kernel_meets(void **state) {
  (void)state;
  for (int own = 0; own < 2; own++) {
    world w;
    open_copy(&w, "i", 256);
    if (own) {
      make_own(&w);
    }
    const sct_situations *list = list_of(&w, NULL);
    bool is_long = false;
    check_all_classes(list, 0, 32);
    check_all_classes(list, 0, 256);
    for (int k = 0; k < list->n; k++) {
      is_long = is_long || list->all[k].c->dims[0] >= (own ? 1 << 16 : 4097);
    }
    assert_true(is_long);
    world_close(&w);
  }
}

/* ---- values ---- */

static void test_variants_rotate_for_own_kernels(void **state) {
  (void)state;
  static const int64_t n[] = {6, 100};
  const sct_ptx_traits traits = constants(n, SCT_COUNT(n));
  for (int own = 0; own < 2; own++) {
    int seen[SCT_N_VARIANTS] = {0}, least = INT32_MAX, most = 0;
    world w;
    open_copy(&w, "row col", 32);
    if (own) {
      make_own(&w);
    }
    const sct_situations *list = list_of(&w, &traits);
    for (int k = 0; k < list->n; k++) {
      const sct_case *c = list->all[k].c;
      assert_int_equal(c->variant, c->shape.variant);
      assert_true(own || c->variant == sct_tuple_variant(&w.spec, c->dims));
      seen[c->variant] += c->shape.n_elements > 0;
    }
    for (int v = 0; v < SCT_N_VARIANTS; v++) {
      least = seen[v] < least ? seen[v] : least;
      most = seen[v] > most ? seen[v] : most;
    }
    assert_true(least > 0);
    assert_true(!own || most - least <= 2);
    world_close(&w);
  }
}

/* ---- addresses ---- */

/* Of two arrays each residue modulo 16 alike, and all pairs; of types that have more than 16, each
 * of the first beside others of the second. */
static void check_residues_meet(const world *w, const sct_situations *list, int a, int b) {
  bool seen[16][16] = {{false}};
  const int64_t align = w->kernel.code.align[a];
  for (int k = 0; k < list->n; k++) {
    const int64_t *residue = list->all[k].residue;
    seen[residue[a] % 16][residue[b] % 16] = true;
  }
  for (int64_t x = 0; x < 16; x += align) {
    int others = 0;
    for (int64_t y = 0; y < 16; y += align) {
      others += seen[x][y];
    }
    const int64_t all = 16 / align;
    if (!seen[x][x] || others < (all > 8 ? 2 : all > 4 ? 3 : all)) {
      fail_msg("types of %d: %d at %d beside %d residues of %d", (int)align, a, (int)x, others, b);
    }
  }
}

static void test_inspected_pointers_meet_all_residues(void **state) {
  (void)state;
  static const char *const types[] = {"f32", "u16", "f64", "u8"};
  for (int k = 0; k < SCT_COUNT(types); k++) {
    const fixture_array arrays[] = {{.name = "a", .types = types[k], .layout = FIXTURE_AOS},
                                    {.name = "b", .types = types[k], .layout = FIXTURE_AOS},
                                    {.name = "c", .types = types[k], .layout = FIXTURE_AOS}};
    const sct_ptx_traits traits = {.inspected = 7};
    world w;
    open_virtual(&w, "i", arrays, 2, 3, "c = a + b;", 64);
    make_own(&w);
    const sct_situations *list = list_of(&w, &traits);
    for (int a = 0; a < 3; a++) {
      for (int b = a + 1; b < 3; b++) {
        check_residues_meet(&w, list, a, b);
      }
    }
    world_close(&w);
  }
}

/* Addresses are as aligned as the code needs, and no more than drivers align. */
static void test_addresses_are_as_aligned_as_needed(void **state) {
  (void)state;
  static const int64_t aligns[] = {4, 16, 64, 512, 4096};
  for (int k = 0; k < SCT_COUNT(aligns); k++) {
    int64_t align[] = {aligns[k], 4};
    bool exact = false, driver = false;
    world w;
    open_copy(&w, "row col", 32);
    w.kernel.code.align = align;
    const sct_situations *list = list_of(&w, NULL);
    for (int n = 0; n < list->n; n++) {
      const int64_t residue = list->all[n].residue[0];
      assert_true(residue % align[0] == 0);
      exact = exact || residue % (2 * align[0]) == align[0];
      driver = driver || residue == 0;
    }
    assert_true(exact);
    assert_int_equal(driver, aligns[k] < SCT_PLACE_BYTES);
    world_close(&w);
  }
}

/* ---- how many, and which ---- */

/* As many constants as there may be, from `first` on. */
static sct_ptx_traits many_constants(int64_t first) {
  sct_ptx_traits t = {.n_constants = SCT_PTX_MAX_CONSTANTS};
  int64_t c = first;
  for (int k = 0; k < t.n_constants; k++) {
    t.constant[k] = c;
    t.multiplied[k] = k % 5 == 4;
    c += first > 1000 ? 4001 : 1 + c / 5;
  }
  return t;
}

/* No more cases and elements than users wait for, though constants ask for many, and far ones; and
 * these leave room for cases of all other kinds. */
static void test_lists_are_bounded(void **state) {
  (void)state;
  static const char *const dims[] = {"i", "row col", "i j k", "i j k l"};
  for (int k = 0; k < 4 * SCT_COUNT(dims); k++) {
    const sct_ptx_traits traits = many_constants(k / SCT_COUNT(dims) % 2 == 0 ? 2 : 17000);
    const bool own = k / SCT_COUNT(dims) / 2 != 0;
    double cost = 0; /* in cases of 1500 elements */
    int other = 0;
    world w;
    open_copy(&w, dims[k % SCT_COUNT(dims)], 32);
    if (own) {
      make_own(&w);
    }
    const sct_situations *list = list_of(&w, &traits);
    for (int n = 0; n < list->n; n++) {
      const double elements = (double)list->all[n].c->shape.n_elements;
      cost += 1 + elements / 1500;
      other += elements > 0 && elements < 9000;
    }
    if (cost > (own ? 1000 : 300) || other < (own ? 40 : 25)) {
      fail_msg("%s, own %d: %d cases, %d of them small, %.0f", dims[k % SCT_COUNT(dims)], own,
               list->n, other, cost);
    }
    world_close(&w);
  }
}

/* Every case is one that spec and candidate allow, and there once unless addresses are others. */
static void test_cases_are_legal_and_distinct(void **state) {
  (void)state;
  static const int64_t n[] = {6, 100, 1000};
  const sct_ptx_traits traits = constants(n, SCT_COUNT(n));
  const fixture_array table[] = {
      {.name = "t", .types = "f32", .dims = "m", .at = "3 * col + row", .layout = FIXTURE_AOS},
      {.name = "b", .types = "f32", .layout = FIXTURE_AOS}};
  for (int k = 0; k < 8; k++) {
    const bool own = k % 2 != 0, moves = k % 4 < 2;
    const int64_t unit = k < 4 ? 4 : 6;
    world w;
    open_virtual(&w, "row col", moves ? copy_1d : table, 1, 2, moves ? "b = a;" : "b = t;", 32);
    sct_expr_pool *p = w.spec.pool;
    sct_expr require = sct_expr_binary(
        p, SCT_EXPR_EQ, sct_expr_mod(p, w.spec.extent_var[1], sct_expr_const(p, unit)),
        sct_expr_const(p, 0));
    w.kernel.code.require = &require;
    w.kernel.code.n_require = 1;
    if (own) {
      make_own(&w);
    }
    const sct_situations *list = list_of(&w, &traits);
    int full = 0;
    for (int at = 0; at < list->n; at++) {
      const sct_case *c = list->all[at].c;
      assert_true(c->legal && c->shape.extent[1] % unit == 0);
      full += c->shape.n_elements > 0;
      for (int other = 0; other < at; other++) {
        assert_ptr_not_equal(c, list->all[other].c);
      }
    }
    assert_int_equal(full, list->n_full);
    assert_true(full >= 20);
    world_close(&w);
  }
}

/* However many blocks an element has, there are as many cases as a candidate must pass, and these
 * the least. */
static void test_there_are_cases_of_many_blocks(void **state) {
  (void)state;
  static const char *const dims[] = {"i", "row col", "p q r t"};
  for (int k = 0; k < SCT_COUNT(dims); k++) {
    world w;
    open_copy(&w, dims[k], 32);
    sct_expr blocks = sct_expr_const(w.spec.pool, 4000);
    for (int d = 0; d < w.spec.n_dims; d++) {
      blocks = sct_expr_mul(w.spec.pool, blocks, w.spec.extent_var[d]);
    }
    w.kernel.code.grid = blocks;
    w.kernel.code.threads = 1024;
    const sct_situations *list = list_of(&w, NULL);
    assert_int_equal(list->n_full, SCT_MIN_CASES);
    for (int at = 0; at < list->n; at++) {
      assert_true(list->all[at].c->shape.n_elements <= 3);
    }
    world_close(&w);
  }
}

static void assert_same(const sct_situations *a, const sct_situations *b) {
  assert_int_equal(a->n, b->n);
  assert_int_equal(a->n_full, b->n_full);
  for (int k = 0; k < a->n; k++) {
    const sct_case *x = a->all[k].c, *y = b->all[k].c;
    assert_memory_equal(x->dims, y->dims, sizeof x->dims);
    assert_memory_equal(x->shape.extent, y->shape.extent, sizeof x->shape.extent);
    assert_int_equal(x->variant, y->variant);
    assert_int_equal(x->own, y->own);
    assert_int_equal(a->all[k].few, b->all[k].few);
    assert_memory_equal(a->all[k].residue, b->all[k].residue, sizeof a->all[k].residue);
  }
}

/* Whatever other candidates were asked for before, with constants, addresses or parameters of their
 * own, a candidate has the list that it has alone. */
static void test_lists_are_the_candidates_own(void **state) {
  (void)state;
  static const int64_t n[] = {6, 100};
  const fixture_array arrays[] = {
      {.name = "t", .types = "f32", .dims = "m", .at = "3 * col + row", .layout = FIXTURE_AOS},
      {.name = "b", .types = "f32", .layout = FIXTURE_AOS}};
  sct_ptx_traits traits[] = {constants(n, 0), constants(n, 1), constants(n, 2), constants(n, 2),
                             constants(n, 2)};
  traits[3].multiplied[1] = true;
  traits[4].inspected = 1;
  int64_t aligned[] = {16, 4};
  for (int alone = 0; alone < 2 * 2 * SCT_COUNT(traits); alone++) {
    world w[2];
    const sct_situations *list[2] = {NULL};
    for (int which = 0; which < 2; which++) {
      open_virtual(&w[which], "row col", arrays, 1, 2, "b = t;", 32);
      int64_t *const needed = w[which].kernel.code.align;
      for (int k = 0; k <= alone; k++) { /* the last one is the one that is asked for */
        sct_kernel_code *code = &w[which].kernel.code;
        code->n_params = 0;
        if (k % 2 != 0) {
          make_own(&w[which]);
        }
        code->align = k / 2 % 2 != 0 ? aligned : needed;
        if (which == 1 || k == alone) {
          list[which] = list_of(&w[which], &traits[k / 4]);
        }
      }
    }
    assert_same(list[0], list[1]);
    world_close(&w[0]);
    world_close(&w[1]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_class_of_a_constant_occurs),
      cmocka_unit_test(test_classes_of_two_extents_occur_together),
      cmocka_unit_test(test_what_any_kernel_meets),
      cmocka_unit_test(test_variants_rotate_for_own_kernels),
      cmocka_unit_test(test_inspected_pointers_meet_all_residues),
      cmocka_unit_test(test_addresses_are_as_aligned_as_needed),
      cmocka_unit_test(test_lists_are_bounded),
      cmocka_unit_test(test_cases_are_legal_and_distinct),
      cmocka_unit_test(test_lists_are_the_candidates_own),
      cmocka_unit_test(test_there_are_cases_of_many_blocks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
