/* Random problems: what the host says outputs hold must agree with the spec's own addresses, and
 * every single changed byte must be noticed exactly where it matters. */
#include "measure_fixture.h"

#include "measure/measure_data.h"
#include "spec_offset.h"

#define POISON   0x5a
#define N_TRIALS 150

static const int first_layout[SCT_MAX_OPERANDS];
static uint64_t seed = 20260801;

static const char *const records[] = {"f32",   "f64 u8", "u16 f32 i64", "f32x2 bf16",
                                      "u8 u8", "i32x4",  "f16 f16 f16", "f64 f32 i32 u16 u8"};

typedef struct world {
  sct_spec spec;
  sct_addressing addressing;
  sct_shape shape;
  uint8_t *image[3], *flags[3];
  int n, out; /* operands; the output is the last */
  char text[128];
} world;

/* A copy, transpose, shift or gather of one random record between two random layouts. */
static void make(world *w, sct_rng *rng) {
  const int kind = (int)sct_rng_below(rng, 3); /* plane, shifted line, gather */
  const char *types = records[sct_rng_below(rng, SCT_COUNT(records))];
  const bool packed = sct_rng_below(rng, 4) == 0;
  const int64_t shift = sct_rng_below(rng, 3);
  static char at[3][16] = {"i", "i + 1", "i + 2"};
  const int64_t n_layouts = kind == 0 ? 5 : 3;
  static const fixture_layout line[] = {FIXTURE_AOS, FIXTURE_SOA, FIXTURE_AOSOA};
  fixture_layout layout[2];
  for (int k = 0; k < 2; k++) {
    const int64_t pick = sct_rng_below(rng, n_layouts);
    layout[k] = kind == 0 ? (fixture_layout)pick : line[pick];
  }
  const fixture_array pick = {.name = "pick", .types = "u16", .layout = FIXTURE_AOS};
  fixture_array a = {.name = "a", .types = types, .layout = layout[0], .packed = packed};
  fixture_array b = {.name = "b", .types = types, .layout = layout[1], .packed = packed};
  const int64_t extents[] = {1 + sct_rng_below(rng, 20), 1 + sct_rng_below(rng, 20)};
  if (kind == 1) {
    b.at = at[shift];
    b.pad = shift + sct_rng_below(rng, 3);
  }
  if (kind == 2) {
    a.dims = "m";
    a.at = "pick";
  }
  const fixture_array arrays[] = {pick, a, b};
  memset(w, 0, sizeof *w);
  w->n = kind == 2 ? 3 : 2;
  w->out = w->n - 1;
  snprintf(w->text, sizeof w->text, "kind %d, '%s'%s, layouts %d to %d, %lld x %lld", kind, types,
           packed ? " packed" : "", layout[0], layout[1], (long long)extents[0],
           (long long)extents[1]);
  fixture_spec(&w->spec, kind == 0 ? "row col" : "i", arrays + (kind == 2 ? 0 : 1), w->out, w->n,
               NULL, "b = a;", extents);
  assert_ok(sct_addressing_init(&w->addressing, &w->spec, first_layout, seed, &fixture_err));
  assert_ok(sct_shape_init(&w->shape, &w->addressing, extents, NULL, &fixture_err));
  sct_shape_index(&w->shape);
  assert_true(sct_shape_is_legal(&w->shape));
  for (int k = 0; k < w->out; k++) {
    assert_ok(sct_image_input(&w->image[k], &w->shape, k, &fixture_err));
  }
  assert_ok(sct_image_output(&w->image[w->out], &w->shape, w->out, w->image, POISON, &fixture_err));
  assert_ok(sct_image_flags(&w->flags[w->out], &w->shape, w->out, &fixture_err));
}

static void drop(world *w) {
  for (int k = 0; k < w->n; k++) {
    sct_free(w->image[k]);
    sct_free(w->flags[k]);
  }
  sct_shape_free(&w->shape);
  sct_addressing_free(&w->addressing);
  sct_spec_free(&w->spec);
}

/* Every field of every element, by the spec's own address function. */
static void check_image(const world *w) {
  const sct_operand *op = &w->spec.operands[w->out];
  int64_t idx[SCT_MAX_DIMS] = {0}, written = 0, flagged = 0;
  do {
    for (int f = 0; f < op->record.n_fields; f++) {
      const int64_t to = spec_offset(&w->spec, w->out, 0, f, idx, &w->spec.sizes[0]);
      const int64_t from = spec_offset(&w->spec, w->out - 1, 0, f, idx, &w->spec.sizes[0]);
      const size_t bytes = (size_t)op->record.fields[f].bytes;
      assert_memory_equal(w->image[w->out] + to, w->image[w->out - 1] + from, bytes);
      written += (int64_t)bytes;
    }
  } while (sct_next_index(idx, w->shape.extent, w->spec.n_dims));
  for (int64_t k = 0; k < w->shape.op[w->out].bytes; k++) {
    const bool is_written = w->flags[w->out][k] & SCT_BYTE_WRITTEN;
    flagged += is_written;
    assert_true(is_written || w->image[w->out][k] == POISON);
  }
  assert_int_equal(flagged, written); /* all of them and no other */
}

/* One changed byte: an error unless it is padding that the layout gives away, at the right place.
 */
static void check_changes(const world *w, sct_rng *rng) {
  const int64_t bytes = w->shape.op[w->out].bytes;
  const uint8_t *want = w->image[w->out], *flags = w->flags[w->out];
  uint8_t *got = sct_alloc((size_t)bytes);
  memcpy(got, want, (size_t)bytes);
  for (int k = 0; k < 30; k++) {
    const int64_t at = sct_rng_below(rng, bytes);
    sct_verdict v = {.outcome = SCT_OUT_OK};
    sct_place place;
    got[at] ^= (uint8_t)(1 + sct_rng_below(rng, 255));
    sct_check_output(&v, &w->shape, w->out, got, want, flags, POISON, 0, NULL, NULL);
    const bool gap = flags[at] == 0, free_gap = gap && w->addressing.op[w->out].layout->owns_gaps;
    assert_int_equal(v.outcome == SCT_OUT_OK, free_gap);
    assert_true(v.outcome != SCT_OUT_WRONG_RESULT || (flags[at] & SCT_BYTE_WRITTEN));
    assert_true(v.outcome != SCT_OUT_OUT_OF_BOUNDS || !(flags[at] & SCT_BYTE_WRITTEN));
    sct_find_byte(&w->shape, w->out, at, &place);
    assert_int_equal(place.field < 0, gap);
    assert_int_equal(place.in_space, (flags[at] & SCT_BYTE_WRITTEN) != 0);
    if (place.field >= 0) {
      const sct_field *field = &w->spec.operands[w->out].record.fields[place.field];
      assert_in_range(at, place.offset, place.offset + field->bytes - 1);
    }
    got[at] = want[at];
  }
  sct_free(got);
}

static void test_random_problems(void **state) {
  (void)state;
  print_message("seed %llu\n", (unsigned long long)seed);
  for (uint64_t trial = 0; trial < N_TRIALS; trial++) {
    sct_rng rng = sct_rng_new(seed + trial);
    world w;
    make(&w, &rng);
    print_message("%llu: %s\n", (unsigned long long)trial, w.text);
    check_image(&w);
    check_changes(&w, &rng);
    drop(&w);
  }
}

int main(int argc, char **argv) {
  seed = argc > 1 ? strtoull(argv[1], NULL, 10) : seed;
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_problems)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
