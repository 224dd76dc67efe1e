/* Layout files end to end: script, expression, host address. Every built-in layout against a
 * formula written down here, and random layout scripts against the same arithmetic in C. */
#include "script_test.h"
#include "spec_offset.h"

enum { N_RANDOM = 60, MAX_DIMS = 3 };

typedef struct array_case {
  int n_dims;
  int64_t extent[MAX_DIMS];
  int n_fields;
  int64_t bytes[8], offset[8], align[8];
  int64_t record_bytes;
} array_case;

/* Loads a copy of array `a` (record `fields`, layout `lay`) at the case's extents. */
static void load_array(const array_case *c, const char *fields, const char *lay) {
  static const char *const dims[] = {"'i'", "'i', 'j'", "'i', 'j', 'k'"};
  char text[2048];
  char sizes[96];
  snprintf(sizes, sizeof sizes, "i = %lld, j = %s, k = %s", (long long)c->extent[0],
           c->n_dims > 1 ? "J" : "nil", c->n_dims > 2 ? "K" : "nil");
  snprintf(text, sizeof text,
           "local s = require 'sectile'\nlocal J, K = %lld, %lld\nlocal r = s.record { %s }\n"
           "return s.kernel { name = 'k', dims = { %s }, inputs = { s.array('a', r, %s) },\n"
           "  outputs = { s.array('b', r) }, body = 'b = a;', sizes = { { %s } } }",
           (long long)c->extent[1], (long long)c->extent[2], fields, dims[c->n_dims - 1], lay,
           sizes);
  load_ok(text);
}

static void read_record_of(array_case *c) {
  const sct_record *record = &spec.operands[0].record;
  c->n_fields = record->n_fields;
  c->record_bytes = record->bytes;
  for (int f = 0; f < c->n_fields; f++) {
    c->bytes[f] = record->fields[f].bytes;
    c->offset[f] = record->fields[f].offset;
    c->align[f] = sct_type_get(record->fields[f].type)->align;
  }
}

static int64_t count_of(const array_case *c) {
  int64_t n = 1;
  for (int d = 0; d < c->n_dims; d++) {
    n *= c->extent[d];
  }
  return n;
}

static void index_of(const array_case *c, int64_t linear, int64_t *idx) {
  for (int d = c->n_dims - 1; d >= 0; d--) {
    idx[d] = linear % c->extent[d];
    linear /= c->extent[d];
  }
}

typedef int64_t formula(const array_case *c, const int64_t *idx, int field, int64_t p);

static void compare(array_case *c, const char *fields, const char *lay, formula *want, int64_t p,
                    int64_t bytes) {
  load_array(c, fields, lay);
  read_record_of(c);
  for (int64_t linear = 0; linear < count_of(c); linear++) {
    int64_t idx[MAX_DIMS];
    index_of(c, linear, idx);
    for (int f = 0; f < c->n_fields; f++) {
      const int64_t got = spec_offset(&spec, 0, 0, f, idx, &spec.sizes[0]);
      if (got != want(c, idx, f, p)) {
        fail_msg("%s of { %s }, field %d of element %lld: %lld instead of %lld", lay, fields, f,
                 (long long)linear, (long long)got, (long long)want(c, idx, f, p));
      }
    }
  }
  if (bytes >= 0) {
    assert_int_equal(sct_spec_bytes(&spec, 0, 0, &spec.sizes[0]), bytes);
  }
  sct_spec_free(&spec);
}

/* ---- the built-in layouts, written down once more ---- */

static int64_t linear_of(const array_case *c, const int64_t *idx) {
  int64_t n = 0;
  for (int d = 0; d < c->n_dims; d++) {
    n = n * c->extent[d] + idx[d];
  }
  return n;
}

static int64_t round_up(int64_t x, int64_t to) {
  return (x + to - 1) / to * to;
}

static int64_t want_aos(const array_case *c, const int64_t *idx, int f, int64_t p) {
  (void)p;
  return linear_of(c, idx) * c->record_bytes + c->offset[f];
}

static int64_t want_col(const array_case *c, const int64_t *idx, int f, int64_t p) {
  (void)p;
  int64_t n = 0;
  for (int d = c->n_dims - 1; d >= 0; d--) {
    n = n * c->extent[d] + idx[d];
  }
  return n * c->record_bytes + c->offset[f];
}

static int64_t want_soa(const array_case *c, const int64_t *idx, int f, int64_t p) {
  (void)p;
  int64_t at = 0;
  for (int k = 0; k < f; k++) {
    at = round_up(at, c->align[k]) + c->bytes[k] * count_of(c);
  }
  return round_up(at, c->align[f]) + linear_of(c, idx) * c->bytes[f];
}

static int64_t want_aosoa(const array_case *c, const int64_t *idx, int f, int64_t lanes) {
  const int64_t i = linear_of(c, idx);
  return i / lanes * lanes * c->record_bytes + lanes * c->offset[f] + i % lanes * c->bytes[f];
}

static int64_t want_pitched(const array_case *c, const int64_t *idx, int f, int64_t align) {
  const int64_t row = linear_of(c, idx) / c->extent[c->n_dims - 1];
  const int64_t pitch = round_up(c->extent[c->n_dims - 1] * c->record_bytes, align);
  return row * pitch + idx[c->n_dims - 1] * c->record_bytes + c->offset[f];
}

static void test_built_in_layouts(void **state) {
  (void)state;
  static const char *const records[] = {
      "{ 'x', 'f32' }",
      "{ 'x', 'f32' }, { 'y', 'f32' }, { 'z', 'f32' }",
      "{ 'a', 'u8' }, { 'b', 'f64' }, { 'c', 'i16' }",
      "{ 'a', 'u8' }, { 'b', 'f64' }, { 'c', 'i16' }, packed = true",
      "{ 'x', 'f32' }, { 'y', 'f32' }, { 'z', 'f32' }, align = 16",
      "{ 'p', 'f32x4' }, { 'm', 'f64' }, { 'q', 'f32x2' }",
  };
  static const int64_t extents[][MAX_DIMS] = {{67, 1, 1}, {9, 13, 1}, {3, 5, 7}};
  for (int r = 0; r < SCT_COUNT(records); r++) {
    for (int d = 0; d < MAX_DIMS; d++) {
      array_case c = {.n_dims = d + 1, .extent = {extents[d][0], extents[d][1], extents[d][2]}};
      const char *fields = records[r];
      compare(&c, fields, "s.aos", want_aos, 0, -1);
      compare(&c, fields, "s.row_major", want_aos, 0, count_of(&c) * c.record_bytes);
      compare(&c, fields, "s.col_major", want_col, 0, count_of(&c) * c.record_bytes);
      compare(&c, fields, "s.soa", want_soa, 0, -1);
      compare(&c, fields, "s.aosoa", want_aosoa, 32, round_up(count_of(&c), 32) * c.record_bytes);
      compare(&c, fields, "s.aosoa { lanes = 5 }", want_aosoa, 5,
              round_up(count_of(&c), 5) * c.record_bytes);
      compare(&c, fields, "s.pitched", want_pitched, 256, -1);
      compare(&c, fields, "s.pitched { align = 32 }", want_pitched, 32, -1);
    }
  }
}

static int64_t want_strided(const array_case *c, const int64_t *idx, int f, int64_t p) {
  return (idx[0] * p + idx[1] * 2) * c->record_bytes + c->offset[f];
}

static void test_strided(void **state) {
  (void)state;
  array_case c = {.n_dims = 2, .extent = {6, 11, 1}};
  static const char fields[] = "{ 'x', 'f32' }, { 'y', 'f32' }";
  compare(&c, fields, "s.strided { 40, 2 }", want_strided, 40, (5 * 40 + 10 * 2 + 1) * 8);
  compare(&c, fields, "s.strided { '2 * j + 3', 2 }", want_strided, 25, (5 * 25 + 10 * 2 + 1) * 8);
  assert_fails(
      "local s = require 'sectile'\nreturn s.kernel { name = 'k', dims = { 'i', 'j' },\n"
      "  inputs = { s.array('a', 'f32', s.strided { '2 * k', 1 }) },\n"
      "  outputs = { s.array('b', 'f32') }, body = 'b = a;', sizes = { { i = 3, j = 4 } } }",
      "spec.lua", 3,
      "\"2 * k\": column 5: unknown name 'k'; did you mean 'i'? (a pitch that is known at "
      "launch: s.pitched");
}

/* Two elements 3 * 2 and 2 * 3 apart meet. */
static void test_strides_that_meet(void **state) {
  (void)state;
  char text[512];
  snprintf(text, sizeof text,
           "local s = require 'sectile'\nreturn s.kernel { name = 'k', dims = { 'i', 'j' },\n"
           "  inputs = { s.array('a', 'f32') },\n"
           "  outputs = { s.array('b', 'f32', s.strided { 3, 2 }) }, body = 'b = a;',\n"
           "  sizes = { { i = 4, j = 4 } } }");
  assert_int_equal(load(text), SCT_ESPEC);
  assert_non_null(strstr(err.text, "/spec.lua:4: error: ")); /* not in a file of ours */
  assert_non_null(
      strstr(err.text, "layout 'strided(3, 2)': element (0, 3) and element (2, 0) share"));
}

/* ---- alternatives ---- */

static void test_alternatives_are_listed_in_order(void **state) {
  (void)state;
  array_case c = {.n_dims = 1, .extent = {40, 1, 1}};
  load_array(&c, "{ 'x', 'f32' }, { 'y', 'f32' }",
             "s.choose { s.soa, s.choose { s.aosoa { lanes = { 16, 8 } } }, s.aos, "
             "s.pitched { align = { 64, 16 } } }");
  static const char *const labels[] = {"soa", "aosoa(lanes=16)",   "aosoa(lanes=8)",
                                       "aos", "pitched(align=64)", "pitched(align=16)"};
  const sct_operand *a = &spec.operands[0];
  assert_int_equal(a->n_layouts, SCT_COUNT(labels));
  for (int k = 0; k < a->n_layouts; k++) {
    assert_string_equal(a->layouts[k].label, labels[k]);
  }
  read_record_of(&c);
  for (int64_t i = 0; i < 40; i++) {
    assert_int_equal(spec_offset(&spec, 0, 2, 1, &i, &spec.sizes[0]), want_aosoa(&c, &i, 1, 8));
  }
  assert_false(a->layouts[0].owns_gaps);
  assert_true(a->layouts[3].owns_gaps); /* a record's padding is the record's */
  sct_spec_free(&spec);
}

/* Arrays that are made with one value have one choice; equal values are apart. */
static void test_tied_choices(void **state) {
  (void)state;
  load_ok("local s = require 'sectile'\n"
          "local r = s.record { { 'x', 'f32' }, { 'y', 'f32' } }\n"
          "local one, two = s.choose { s.aos, s.soa }, s.aosoa { lanes = { 8, 16, 32 } }\n"
          "return s.kernel { name = 'k', dims = { 'i' }, body = 'c = a; d = a; e = b;',\n"
          "  inputs = { s.array('a', r, one), s.array('b', r, two) },\n"
          "  outputs = { s.array('c', r, s.choose { s.aos, s.soa }), s.array('d', r, one),\n"
          "              s.array('e', r, two) }, sizes = { { i = 100 } } }\n");
  static const int choice[] = {0, 1, 2, 0, 1};
  assert_int_equal(sct_spec_n_choices(&spec), 3);
  for (int k = 0; k < spec.n_operands; k++) {
    assert_int_equal(sct_spec_choice_of(&spec, k), choice[k]);
    assert_int_equal(sct_spec_choice_leader(&spec, k), choice[k]);
  }
  assert_non_null(strstr(spec.canonical, "  layout of a\n"));
  sct_spec_free(&spec);
  load_ok("local s = require 'sectile'\n"
          "return s.kernel { name = 'k', dims = { 'i' }, body = 'b = a;',\n"
          "  inputs = { s.array('a', 'f32', s.choose { s.aos, s.soa }) },\n"
          "  outputs = { s.array('b', 'f32') }, sizes = { { i = 100 } } }\n");
  assert_int_equal(sct_spec_n_choices(&spec), 1);
  assert_int_equal(sct_spec_choice_of(&spec, 1), -1);
  sct_spec_free(&spec);
}

static void test_two_parameters(void **state) {
  (void)state;
  write_file("two.lua",
             "return { name = 'two',\n"
             "  params = { { 'block', { 2, 4 } }, { 'gap', { 0, 1, 2 }, default = 1, min = 0 },\n"
             "    { 'shift', default = 0, min = 0, open = true } },\n"
             "  offset = function(l, field, idx, ext)\n"
             "    local i = l.linear(idx, ext)\n"
             "    return l.shift + i // l.block * ((l.block + l.gap) * l.record.bytes)\n"
             "      + i % l.block * l.record.bytes + field.offset\n"
             "  end,\n"
             "  bytes = function(l, ext)\n"
             "    return l.shift + (l.count(ext) + l.block) * (1 + l.gap) * l.record.bytes\n"
             "  end }");
  array_case c = {.n_dims = 1, .extent = {9, 1, 1}};
  load_array(&c, "{ 'x', 'f32' }", "s.layout('two.lua') { block = { 4, 2 }, gap = { 0, 2 } }");
  static const char *const labels[] = {"two(block=4, gap=0)", "two(block=4, gap=2)",
                                       "two(block=2, gap=0)", "two(block=2, gap=2)"};
  assert_int_equal(spec.operands[0].n_layouts, 4);
  for (int k = 0; k < 4; k++) {
    assert_string_equal(spec.operands[0].layouts[k].label, labels[k]);
  }
  sct_spec_free(&spec);
  load_array(&c, "{ 'x', 'f32' }", "s.layout('two.lua') { shift = 8 }");
  assert_string_equal(spec.operands[0].layouts[0].label, "two(block=2, gap=1, shift=8)");
  const int64_t i = 5;
  assert_int_equal(spec_offset(&spec, 0, 0, 0, &i, &spec.sizes[0]), 8 + 2 * 12 + 4);
  sct_spec_free(&spec);
  load_array(&c, "{ 'x', 'f32' }", "s.layout 'two.lua'");
  assert_string_equal(spec.operands[0].layouts[0].label, "two(block=2, gap=1)");
  sct_spec_free(&spec);
}

/* ---- random layout scripts ---- */

/* A layout script and the numbers it was made from. */
typedef struct random_layout {
  int order[MAX_DIMS]; /* dimensions, slowest first */
  int64_t lanes, gap_bytes, tile;
  bool reversed;
} random_layout;

static random_layout random_made;

/* The place of an element: dimensions in `order`, the fastest one cut into tiles that are visited
 * before the next slower dimension moves. */
static int64_t want_random(const array_case *c, const int64_t *idx, int f, int64_t p) {
  (void)p;
  const random_layout *r = &random_made;
  const int last = r->order[c->n_dims - 1];
  int64_t n = idx[last] / r->tile;
  for (int d = 0; d < c->n_dims - 1; d++) {
    n = n * c->extent[r->order[d]] + idx[r->order[d]];
  }
  n = n * r->tile + idx[last] % r->tile;
  int64_t start = 0;
  for (int k = 0; k < c->n_fields; k++) {
    start += (r->reversed ? k > f : k < f) ? c->bytes[k] : 0;
  }
  int64_t data = 0;
  for (int k = 0; k < c->n_fields; k++) {
    data += c->bytes[k];
  }
  return n / r->lanes * (r->lanes * data + r->gap_bytes) + r->lanes * start +
         n % r->lanes * c->bytes[f];
}

static void write_random(sct_rng *rng, const array_case *c) {
  random_layout *r = &random_made;
  for (int d = 0; d < c->n_dims; d++) {
    const int at = (int)sct_rng_below(rng, d + 1);
    memmove(&r->order[at + 1], &r->order[at], sizeof *r->order * (size_t)(d - at));
    r->order[at] = d;
  }
  r->lanes = 1 + sct_rng_below(rng, 40);
  r->gap_bytes = sct_rng_below(rng, 3) * 8;
  r->tile = 1 + sct_rng_below(rng, 5);
  r->reversed = sct_rng_below(rng, 2) == 1;
  char order[32] = "";
  for (int d = 0; d < c->n_dims; d++) {
    snprintf(order + strlen(order), sizeof order - strlen(order), "%d, ", r->order[d] + 1);
  }
  char text[2048];
  snprintf(text, sizeof text,
           "local order, tile, lanes, gap = { %s}, %lld, %lld, %lld\n"
           "local function rank(idx, ext)\n"
           "  local last = order[#order]\n"
           "  local n = idx[last] // tile\n"
           "  for k = 1, #order - 1 do n = n * ext[order[k]] + idx[order[k]] end\n"
           "  return n * tile + idx[last] %% tile\n"
           "end\n"
           "return { name = 'random',\n"
           "  offset = function(l, field, idx, ext)\n"
           "    local start = %s\n"
           "    local n = rank(idx, ext)\n"
           "    return n // lanes * (lanes * l.record.data_bytes + gap) + lanes * start\n"
           "      + n %% lanes * field.bytes\n"
           "  end,\n"
           "  bytes = function(l, ext)\n"
           "    local n = l.round_up(ext[order[#order]], tile)\n"
           "    for k = 1, #order - 1 do n = n * ext[order[k]] end\n"
           "    return l.round_up(n, lanes) // lanes * (lanes * l.record.data_bytes + gap)\n"
           "  end }",
           order, (long long)r->tile, (long long)r->lanes, (long long)r->gap_bytes,
           r->reversed ? "l.record.data_bytes - field.prefix - field.bytes" : "field.prefix");
  write_file("random.lua", text);
}

static void test_random_layout_scripts(void **state) {
  (void)state;
  const uint64_t seed = 77;
  print_message("seed %llu\n", (unsigned long long)seed);
  sct_rng rng = sct_rng_new(seed);
  static const char *const records[] = {
      "{ 'x', 'f32' }", "{ 'x', 'f32' }, { 'y', 'f64' }",
      "{ 'a', 'u8' }, { 'b', 'u16' }, { 'c', 'u8' }, { 'd', 'i32' }"};
  for (int k = 0; k < N_RANDOM; k++) {
    array_case c = {.n_dims = 1 + (int)sct_rng_below(&rng, MAX_DIMS)};
    for (int d = 0; d < MAX_DIMS; d++) {
      c.extent[d] = d < c.n_dims ? 1 + sct_rng_below(&rng, 12) : 1;
    }
    write_random(&rng, &c);
    compare(&c, records[sct_rng_below(&rng, 3)], "s.layout 'random.lua'", want_random, 0, -1);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_built_in_layouts),
      cmocka_unit_test(test_strided),
      cmocka_unit_test(test_strides_that_meet),
      cmocka_unit_test(test_alternatives_are_listed_in_order),
      cmocka_unit_test(test_tied_choices),
      cmocka_unit_test(test_two_parameters),
      cmocka_unit_test(test_random_layout_scripts),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
