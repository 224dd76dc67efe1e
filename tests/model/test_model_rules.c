/* The counting rules for one warp: the figures everybody knows, and random addresses against a
 * count that goes byte by byte. */
#include "model_fixture.h"

#include <math.h>

#define ALL UINT32_MAX

static int64_t address[32];

/* Lane l at start + l * step. */
static void stride(int64_t start, int64_t step) {
  for (int lane = 0; lane < 32; lane++) {
    address[lane] = start + lane * step;
  }
}

static void costs(uint32_t active, int width, int64_t sectors, int64_t tags, int64_t ideal) {
  sct_count c = {0};
  sct_model_count_global(&c, address, active, width);
  assert_int_equal(c.requests, active != 0);
  assert_int_equal(c.sectors, sectors);
  assert_int_equal(c.tags, tags);
  assert_int_equal(c.sectors_ideal, ideal);
  assert_true(c.distinct_bytes <= (int64_t)__builtin_popcount(active) * width);
  assert_true(c.distinct_bytes <= 32 * sectors);
}

static void test_global_figures(void **state) {
  (void)state;
  stride(0, 4);
  costs(ALL, 4, 4, 1, 4);
  costs(0xffff, 4, 2, 1, 2);
  costs(0x80000000, 4, 1, 1, 1);
  costs(0x55555555, 4, 4, 1, 2);
  costs(0, 4, 0, 0, 0);
  stride(4, 4);
  costs(ALL, 4, 5, 2, 4);
  stride(0, 8);
  costs(ALL, 8, 8, 2, 8);
  stride(0, 16);
  costs(ALL, 16, 16, 4, 16);
  stride(0, 32);
  costs(ALL, 32, 32, 8, 32);
  stride(0, 24); /* one field of a record of three doubles */
  costs(ALL, 8, 24, 6, 8);
  stride(128, 0);
  costs(ALL, 4, 1, 1, 1); /* a broadcast has no excess */
  stride(4096, -4);
  costs(ALL, 4, 5, 2, 4);
  stride(0, 4096);
  costs(ALL, 1, 32, 32, 1);
  stride(-128, 4); /* an offset in front of the base */
  costs(ALL, 4, 4, 1, 4);
  stride(-4, 4);
  costs(ALL, 4, 5, 2, 4);
}

static void test_bulk_figures(void **state) {
  static const struct {
    int64_t at, bytes, sectors, tags, ideal;
  } cases[] = {{0, 7168, 224, 56, 224}, {32, 96, 3, 1, 3},   {16, 48, 2, 1, 2},
               {16, 32, 2, 1, 1},       {112, 32, 2, 2, 1},  {0, 16, 1, 1, 1},
               {-16, 32, 2, 2, 1},      {4096, 16, 1, 1, 1}, {128 * 1024 - 16, 160, 6, 3, 5}};
  (void)state;
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    sct_count c = {
        .requests = 7, .sectors = 100, .tags = 50, .sectors_ideal = 90, .distinct_bytes = 1000};
    sct_model_count_bulk(&c, cases[k].at, cases[k].bytes);
    assert_int_equal(c.requests, 8);
    assert_int_equal(c.sectors, 100 + cases[k].sectors);
    assert_int_equal(c.tags, 50 + cases[k].tags);
    assert_int_equal(c.sectors_ideal, 90 + cases[k].ideal);
    assert_int_equal(c.distinct_bytes, 1000 + cases[k].bytes);
  }
}

static void wavefronts(uint32_t active, int width, int64_t want, int64_t want_ideal) {
  int64_t have = 0;
  int64_t ideal = 0;
  sct_model_count_shared(&have, &ideal, address, active, width);
  assert_int_equal(have, want);
  assert_int_equal(ideal, want_ideal);
}

static void test_shared_figures(void **state) {
  (void)state;
  stride(0, 4);
  wavefronts(ALL, 4, 1, 1);
  wavefronts(0, 4, 0, 0);
  stride(0, 4 * 32); /* a column of a tile of 32 floats */
  wavefronts(ALL, 4, 32, 1);
  wavefronts(0xff, 4, 8, 1);
  stride(0, 4 * 33);
  wavefronts(ALL, 4, 1, 1);
  stride(0, 8);
  wavefronts(ALL, 4, 2, 1);
  wavefronts(ALL, 8, 2, 2);
  wavefronts(0xffff, 8, 1, 1);
  stride(0, 8 * 32); /* doubles */
  wavefronts(ALL, 8, 32, 2);
  stride(0, 8 * 33);
  wavefronts(ALL, 8, 2, 2);
  stride(0, 32); /* bytes: four rows share a bank's word, or none does */
  wavefronts(ALL, 1, 8, 1);
  stride(0, 36);
  wavefronts(ALL, 1, 1, 1);
  int64_t total = 0;
  int64_t ideal = 0;
  for (int column = 0; column < 32; column++) { /* 1.75 on average */
    stride(column, 33);
    sct_model_count_shared(&total, &ideal, address, ALL, 1);
  }
  assert_int_equal(total, 56);
  assert_int_equal(ideal, 32);
  stride(0, 16);
  wavefronts(ALL, 16, 4, 4);
  wavefronts(0x000000ff, 16, 1, 1);
  stride(64, 0);
  wavefronts(ALL, 4, 1, 1);
  wavefronts(ALL, 16, 2, 2); /* equal addresses: quarters become halves */
}

/* Lanes n and n ^ 1 (or n ^ 2) on one address halve the groups of wide accesses. */
static void test_shared_pairs(void **state) {
  (void)state;
  for (int lane = 0; lane < 32; lane++) {
    address[lane] = lane / 2 * 16;
  }
  wavefronts(ALL, 16, 2, 2);
  for (int lane = 0; lane < 32; lane++) {
    address[lane] = (lane / 4 * 2 + lane % 2) * 16; /* n and n ^ 2 */
  }
  wavefronts(ALL, 16, 2, 2);
  for (int lane = 0; lane < 32; lane++) {
    address[lane] = lane / 2 * 8;
  }
  wavefronts(ALL, 8, 1, 1);
  address[7] += 8;
  wavefronts(ALL, 8, 2, 2);        /* one that disagrees is enough */
  wavefronts(~(1u << 7), 8, 1, 1); /* unless it is not there */
}

static void test_degree(void **state) {
  (void)state;
  const sct_count none = {0};
  const sct_count records = {.requests = 3, .sectors = 72, .distinct_bytes = 768};
  assert_true(sct_model_degree(&none) == 1.0);
  assert_true(sct_model_degree(&records) == 768.0 / (72 * 32));
}

/* What a warp asks for, each byte once, by what it moves. */
static void test_degree_of_a_request(void **state) {
  (void)state;
  static const struct {
    int64_t start, step;
    double percent;
  } cases[] = {{0, 4, 100}, {0, 128, 12.5}, {4, 4, 80}, {0, 12, 100.0 / 3}, {20, 0, 12.5}};
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    sct_count c = {0};
    stride(cases[k].start, cases[k].step);
    sct_model_count_global(&c, address, ALL, 4);
    assert_true(fabs(100 * sct_model_degree(&c) - cases[k].percent) < 1e-9);
  }
  sct_count pairs = {0}; /* neighbours ask for the same 8 bytes, far apart */
  for (int lane = 0; lane < 32; lane++) {
    address[lane] = (31 - lane) / 2 * 32;
  }
  sct_model_count_global(&pairs, address, ALL, 8);
  assert_int_equal(pairs.distinct_bytes, 128);
  assert_true(sct_model_degree(&pairs) == 0.25);
}

/* ---- byte by byte */

#define SPAN 8192
static int touched_pieces(uint32_t active, int width, int piece) {
  bool touched[SPAN] = {false};
  int n = 0;
  for (int lane = 0; lane < 32; lane++) {
    for (int byte = 0; byte < width && (active >> lane & 1) != 0; byte++) {
      touched[(address[lane] + byte) / piece] = true;
    }
  }
  for (int k = 0; k < SPAN; k++) {
    n += touched[k];
  }
  return n;
}

static int slowest_bank(uint32_t active, int width) {
  int most = 0;
  for (int bank = 0; bank < 32; bank++) {
    bool word[SPAN / 4] = {false};
    int n = 0;
    for (int lane = 0; lane < 32; lane++) {
      for (int byte = 0; byte < width && (active >> lane & 1) != 0; byte++) {
        word[(address[lane] + byte) / 4] |= (address[lane] + byte) / 4 % 32 == bank;
      }
    }
    for (int k = 0; k < SPAN / 4; k++) {
      n += word[k];
    }
    most = n > most ? n : most;
  }
  return most;
}

static void test_random_addresses(void **state) {
  (void)state;
  static const int widths[] = {1, 2, 4, 8, 16, 32};
  sct_rng rng = sct_rng_new(5);
  printf("seed 5\n");
  for (int round = 0; round < 4000; round++) {
    const int width = widths[sct_rng_below(&rng, 6)];
    const int64_t places = 1 + sct_rng_below(&rng, SPAN / width);
    const uint32_t active = (uint32_t)(round % 3 == 0 ? ALL : sct_rng_u64(&rng));
    for (int lane = 0; lane < 32; lane++) {
      const int64_t place = round % 2 == 0 ? sct_rng_below(&rng, places) : lane * places / 32;
      address[lane] = place * width;
    }
    sct_count c = {0};
    sct_model_count_global(&c, address, active, width);
    assert_int_equal(c.sectors, touched_pieces(active, width, 32));
    assert_int_equal(c.tags, touched_pieces(active, width, 128));
    assert_int_equal(c.distinct_bytes, touched_pieces(active, width, 1));
    if (width <= 4 && active != 0) {
      int64_t have = 0;
      int64_t ideal = 0;
      sct_model_count_shared(&have, &ideal, address, active, width);
      assert_int_equal(have, slowest_bank(active, width));
      assert_int_equal(ideal, 1);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_global_figures),   cmocka_unit_test(test_bulk_figures),
      cmocka_unit_test(test_shared_figures),   cmocka_unit_test(test_shared_pairs),
      cmocka_unit_test(test_degree),           cmocka_unit_test(test_degree_of_a_request),
      cmocka_unit_test(test_random_addresses),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
