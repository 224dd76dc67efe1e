/* Damaged scripts: whatever bytes a spec or a layout file is made of, loading it ends with a spec
 * or with "file:line: error: ...", and what was accepted is whole. */
#include <ctype.h>

#include "script_test.h"
#include "spec_offset.h"

enum { N_MUTANTS = 1500, N_LAYOUT_MUTANTS = 700, MAX_TEXT = 4096 };

static const char seed_spec[] =
    "local s = require \"sectile\"\n"
    "local vec = s.record { { \"x\", \"f64\" }, { \"y\", \"f32\" }, name = \"vec\", align = 16 }\n"
    "return s.kernel {\n"
    "  name = \"k\", dims = { \"i\", \"j\" }, scalars = { { \"c\", \"f32\" } },\n"
    "  inputs = { s.array(\"a\", vec, s.choose { s.aos, s.aosoa { lanes = { 8, 16 } } }),\n"
    "    s.array(\"pick\", \"i32\", nil, { dims = \"i\" }),\n"
    "    s.array(\"t\", \"f32\", s.layout \"mine.lua\", { dims = { \"m\", \"j\" },\n"
    "      at = { \"pick\", \"j + 1\" }, pad = { 0, 1 } }) },\n"
    "  outputs = { s.array(\"b\", vec, s.soa) },\n"
    "  body = [[ float q = t * c; if (q > 0) { b.x = a.x; } else b.x = q; b.y = a.y; ]],\n"
    "  sizes = { { i = 5, j = 7, m = 9, pick = \"random\" } }, tolerance = 1e-6,\n"
    "}\n";

static const char seed_layout[] =
    "return { name = \"mine\", params = { { \"n\", { 2, 4 }, default = 4 } },\n"
    "  offset = function(l, field, idx, ext)\n"
    "    local i = l.linear(idx, ext)\n"
    "    return i // l.n * (l.n * l.record.bytes) + l.n * field.offset + i % l.n * field.bytes\n"
    "  end,\n"
    "  bytes = function(l, ext) return l.round_up(l.count(ext), l.n) * l.record.bytes end,\n"
    "}\n";

/* Words that a damaged script may well hold. */
static const char *const words[] = {
    "nil",
    "0",
    "-1",
    "{}",
    "{",
    "}",
    "\"\"",
    "\"i\"",
    "1e308",
    "s.aos",
    "[[",
    "]]",
    "true",
    "function() end",
    "math.huge",
    "1 << 62",
    "s",
    "..",
    "#",
    "and",
    "0/0",
    "s.kernel",
    "\"i // 0\"",
    "\"n_i * n_i * n_i\"",
    "idx",
    "ext[1]",
    "-",
    "%",
    "//",
    "setmetatable({}, { __index = error })",
    "string.rep('x', 99)",
    "9223372036854775807",
};

static void mutate(char *text, sct_rng *rng) {
  const int edits = 1 + (int)sct_rng_below(rng, 3);
  for (int k = 0; k < edits; k++) {
    const size_t n = strlen(text);
    const size_t at = (size_t)sct_rng_below(rng, (int64_t)n);
    size_t end = at;
    switch (sct_rng_below(rng, 5)) {
    case 0: /* another byte, never zero */
      text[at] = (char)(1 + sct_rng_below(rng, 255));
      break;
    case 1: /* a few bytes less */
      end = at + (size_t)sct_rng_below(rng, 9);
      end = end < n ? end : n;
      memmove(text + at, text + end, n - end + 1);
      break;
    case 2: { /* a word in place of a word */
      const char *word = words[sct_rng_below(rng, SCT_COUNT(words))];
      while (end < n && (isalnum((unsigned char)text[end]) || text[end] == '_')) {
        end++;
      }
      if (n + strlen(word) + 1 < MAX_TEXT) {
        memmove(text + at + strlen(word), text + end, n - end + 1);
        memcpy(text + at, word, strlen(word));
      }
      break;
    }
    case 3: { /* a piece twice */
      const size_t len = (size_t)sct_rng_below(rng, 40);
      if (at + len <= n && n + len + 1 < MAX_TEXT) {
        memmove(text + at + len, text + at, n - at + 1);
      }
      break;
    }
    default: /* two bytes change places */
      if (at + 1 < n) {
        const char c = text[at];
        text[at] = text[at + 1];
        text[at + 1] = c;
      }
    }
  }
}

/* Uses everything that later modules rely on. */
static void use_spec(void) {
  assert_non_null(spec.canonical);
  assert_true(spec.n_operands > spec.n_inputs && spec.n_sizes > 0);
  for (int s = 0; s < spec.n_sizes; s++) {
    int64_t idx[SCT_MAX_DIMS] = {0};
    int64_t read = 0;
    int64_t written = 0;
    sct_spec_traffic(&spec, &spec.sizes[s], &read, &written);
    assert_true(read >= 0 && written >= 0);
    for (int op = 0; op < spec.n_operands; op++) {
      const sct_operand *o = &spec.operands[op];
      for (int layout = 0; layout < o->n_layouts; layout++) {
        const int64_t bytes = sct_spec_bytes(&spec, op, layout, &spec.sizes[s]);
        for (int f = 0; f < o->record.n_fields; f++) {
          const int64_t at = spec_offset(&spec, op, layout, f, idx, &spec.sizes[s]);
          if (sct_spec_elements(&spec, &spec.sizes[s]) > 0) {
            assert_true(at >= 0 && at + o->record.fields[f].bytes <= bytes);
          }
        }
      }
    }
  }
}

static bool has_place(const char *text) {
  const char *at = strstr(text, ": error: ");
  const char *first = strchr(text, '\n');
  return at && (!first || at < first) && at > text && isdigit((unsigned char)at[-1]);
}

/* Returns whether it was accepted. */
static bool load_mutant(const char *text, uint64_t seed, int k) {
  const sct_status status = load(text);
  if (status == SCT_OK) {
    use_spec();
    sct_spec_free(&spec);
    return true;
  }
  const bool raised = strstr(err.text, "error: the script raised a") != NULL;
  if (status != SCT_ESPEC || !(has_place(err.text) || raised)) {
    fail_msg("seed %llu, mutant %d, status %d: %s\n---\n%s", (unsigned long long)seed, k, status,
             err.text, text);
  }
  return false;
}

static void test_damaged_specs(void **state) {
  (void)state;
  const uint64_t seed = 4242;
  sct_rng rng = sct_rng_new(seed);
  write_file("mine.lua", seed_layout);
  load_ok(seed_spec);
  use_spec();
  sct_spec_free(&spec);
  int accepted = 0;
  for (int k = 0; k < N_MUTANTS; k++) {
    char text[MAX_TEXT];
    strcpy(text, seed_spec);
    mutate(text, &rng);
    accepted += load_mutant(text, seed, k);
  }
  print_message("seed %llu: %d of %d damaged specs accepted\n", (unsigned long long)seed, accepted,
                N_MUTANTS);
  assert_true(accepted > N_MUTANTS / 50 && accepted < N_MUTANTS / 2); /* both ways are walked */
}

static void test_damaged_layouts(void **state) {
  (void)state;
  const uint64_t seed = 99;
  sct_rng rng = sct_rng_new(seed);
  int accepted = 0;
  for (int k = 0; k < N_LAYOUT_MUTANTS; k++) {
    char text[MAX_TEXT];
    strcpy(text, seed_layout);
    mutate(text, &rng);
    write_file("mine.lua", text);
    accepted += load_mutant(seed_spec, seed, k);
  }
  print_message("seed %llu: %d of %d damaged layouts accepted\n", (unsigned long long)seed,
                accepted, N_LAYOUT_MUTANTS);
  assert_true(accepted > N_LAYOUT_MUTANTS / 50 && accepted < N_LAYOUT_MUTANTS / 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_damaged_specs),
      cmocka_unit_test(test_damaged_layouts),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
