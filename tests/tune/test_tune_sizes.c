/* What a size is offered, source and launch, and which of it is naive, is the same whatever other
 * sizes are tuned with it. */
#include "part.h"
#include "scratch.h"
#include "tune/tune_table.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
/* cmocka wants the above first */
#include <cmocka.h>

#define MOST_SIZES 2

static sct_error err;
static sct_device_desc h200;
static char folder[64];
static sct_arena arena;

/* Z-order within blocks of 4 x 4: fast one way and the other by turns. */
static const char morton[] =
    "return { name = \"morton\", offset = function(l, field, idx, ext)\n"
    "    local r, c = idx[1], idx[2]\n"
    "    local low = r % 2 * 2 + c % 2 + r // 2 % 2 * 8 + c // 2 % 2 * 4\n"
    "    return ((r // 4 * ((ext[2] + 3) // 4) + c // 4) * 16 + low) * l.record.bytes\n"
    "  end,\n"
    "  bytes = function(l, ext)\n"
    "    return (ext[1] + 3) // 4 * ((ext[2] + 3) // 4) * 16 * l.record.bytes\n"
    "  end }\n";

/* Kernels over row and col, to which `sizes` are added. */
static const char *const kernels[] = {
    "inputs = { s.array(\"a\", \"f32\") },\n"
    "outputs = { s.array(\"b\", \"f32\", s.layout \"morton.lua\") }, body = \"b = a;\",\n",
    "inputs = { s.array(\"a\", \"u8\") },\n"
    "outputs = { s.array(\"b\", \"u8\", s.row_major, { dims = { \"col\", \"row\" } }) },\n"
    "body = \"b = a;\",\n",
    "inputs = { s.array(\"a\", \"f32\"), s.array(\"v\", \"f32\", s.row_major, { dims = { \"row\" } "
    "}) },\n"
    "outputs = { s.array(\"b\", \"f16\") }, body = \"b = a * v;\",\n",
    "inputs = { s.array(\"a\", s.record { { \"x\", \"f32\" }, { \"y\", \"f32\" },\n"
    "  { \"z\", \"f32\" } }) },\n"
    "outputs = { s.array(\"b\", \"f32\") }, body = \"b = a.x + a.y * a.z;\",\n",
    "inputs = { s.array(\"x\", \"f32\") }, outputs = { s.array(\"y\", \"f32\") },\n"
    "steps = { { reduce = { m = \"max\" }, body = \"m = x;\" }, { body = \"y = x - m;\" } },\n",
};

typedef struct size {
  int64_t row, col;
} size;

static int setup(void **state) {
  (void)state;
  char path[128];
  if (scratch_make(folder, sizeof folder, "sizes") != 0) {
    return -1;
  }
  snprintf(path, sizeof path, "%s/morton.lua", folder);
  return sct_script_load_device(&h200, "h200", &err) == SCT_OK &&
                 sct_file_write(path, morton, strlen(morton), &err) == SCT_OK
             ? 0
             : -1;
}

static int teardown(void **state) {
  (void)state;
  sct_arena_free(&arena);
  return scratch_remove(folder);
}

/* The candidates of `kernel` at sizes[n]. */
static void make(sct_tune_candidates *out, const char *kernel, const size *sizes, int n) {
  char path[128];
  sct_str text = {0};
  sct_str_printf(&text,
                 "local s = require \"sectile\"\n"
                 "return s.kernel { name = \"k\", dims = { \"row\", \"col\" },\n%ssizes = { ",
                 kernel);
  for (int z = 0; z < n; z++) {
    sct_str_printf(&text, "{ row = %lld, col = %lld }, ", (long long)sizes[z].row,
                   (long long)sizes[z].col);
  }
  sct_str_append(&text, "} }\n");
  snprintf(path, sizeof path, "%s/k.lua", folder);
  if (sct_file_write(path, text.data, text.len, &err) != SCT_OK ||
      sct_tune_candidates_make(out, path, &h200, &(sct_tune_candidates_opts){0}, &err) != SCT_OK) {
    fail_msg("%s\n%s", err.text, text.data);
  }
  sct_str_free(&text);
}

static bool offers(const sct_tune_candidates *cands, int z, sct_hash hash, bool naive) {
  for (int k = 0; k < cands->n_items; k++) {
    const sct_tune_item *item = &cands->items[k];
    if (sct_hash_equal(item->code.hash, hash) && sct_tune_is_for_size(cands, item, z)) {
      return sct_tune_is_naive_item(cands, k, z) == naive;
    }
  }
  return false;
}

/* Fails where size `z` of `a` is offered what size `y` of `b` is not. */
static void is_offered_too(const sct_tune_candidates *a, int z, const sct_tune_candidates *b, int y,
                           const char *kernel) {
  for (int k = 0; k < a->n_items; k++) {
    const sct_tune_item *item = &a->items[k];
    if (sct_tune_is_for_size(a, item, z) &&
        !offers(b, y, item->code.hash, sct_tune_is_naive_item(a, k, z))) {
      fail_msg("'%s' at %s, of %d sizes, is not the same among %d:\n%s%s", item->label,
               a->spec.sizes[z].label, a->spec.n_sizes, b->spec.n_sizes, kernel, item->code.source);
    }
  }
}

static void same_alone_and_together(const char *kernel, const size *sizes, int n) {
  sct_tune_candidates all;
  make(&all, kernel, sizes, n);
  for (int z = 0; z < n; z++) {
    sct_tune_candidates one;
    make(&one, kernel, &sizes[z], 1);
    is_offered_too(&one, 0, &all, z, kernel);
    is_offered_too(&all, z, &one, 0, kernel);
    sct_tune_candidates_free(&one);
  }
  sct_tune_candidates_free(&all);
}

/* In an odd size no mode of the layout's can be split. */
static void test_a_size_that_splits_beside_one_that_does_not(void **state) {
  (void)state;
  same_alone_and_together(kernels[0], (size[]){{2048, 2048}, {2047, 1001}}, 2);
}

/* A thread has few elements; a warp has 32, and several blocks share many. */
static void test_naive_variants_of_few_and_of_many_elements(void **state) {
  (void)state;
  static const char sum[] =
      "inputs = { s.array(\"a\", \"f32\") }, outputs = { s.array(\"b\", \"f32\", s.row_major,\n"
      "  { dims = { \"row\" }, reduce = \"sum\" }) }, body = \"b = a;\",\n";
  same_alone_and_together(sum, (size[]){{1000, 4}, {1000, 32}, {16, 65536}}, 3);
}

/* A small number times a power of two. */
static int64_t random_extent(sct_rng *rng) {
  return (1 + sct_rng_below(rng, 40)) << sct_rng_below(rng, 7);
}

static void test_random_sizes(void **state) {
  (void)state;
  sct_rng rng = sct_rng_new(41);
  for (int n = 0; n < SCT_COUNT(kernels); n++) {
    size sizes[MOST_SIZES];
    for (int z = 0; z < MOST_SIZES; z++) {
      sizes[z] = (size){random_extent(&rng), random_extent(&rng)};
    }
    if (part_has(n)) {
      same_alone_and_together(kernels[n], sizes, MOST_SIZES);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_size_that_splits_beside_one_that_does_not),
      cmocka_unit_test(test_naive_variants_of_few_and_of_many_elements),
      cmocka_unit_test(test_random_sizes),
  };
  return cmocka_run_group_tests_name("sizes", tests, setup, teardown);
}
