/* What an index space touches: counted from the modes, against one element after the other. */
#include "spec_test.h"

#include <time.h>

/* ---- brute force ---- */

static int64_t value_at(sct_expr e, const int64_t *extent, const int64_t *idx,
                        const int64_t *index) {
  sct_expr vars[64];
  int64_t values[64], value = 0;
  int n = 0;
  for (int k = 0; k < spec.n_extents; k++, n++) {
    vars[n] = spec.extent_var[k];
    values[n] = extent[k];
  }
  for (int d = 0; d < spec.n_dims; d++, n++) {
    vars[n] = spec.dim_var[d];
    values[n] = idx[d];
  }
  for (int k = 0; index && k < spec.n_index; k++, n++) {
    vars[n] = spec.operands[spec.index_order[k]].index_value;
    values[n] = index[k];
  }
  const sct_expr_env env = {vars, values, n};
  assert_int_equal(sct_expr_eval(spec.pool, e, &env, &value, NULL), SCT_OK);
  return value;
}

/* The place of a tap along one index; -1: it finds nothing there. */
static int64_t bordered(sct_border border, int64_t at, int64_t extent) {
  if (at >= 0 && at < extent) {
    return at;
  }
  if (border == SCT_BORDER_REFLECT) {
    while (extent > 1 && (at < 0 || at >= extent)) {
      at = at < 0 ? -at : 2 * (extent - 1) - at;
    }
    return extent > 1 ? at : 0;
  }
  return border == SCT_BORDER_CLAMP  ? at < 0 ? 0 : extent - 1
         : border == SCT_BORDER_WRAP ? (at % extent + extent) % extent
                                     : -1;
}

/* Element `n` of a tap's window from the own place on, along dimension d; of one element 0. */
static int64_t window_at(const sct_operand *op, int tap, int64_t n, int d) {
  if (tap < 0) {
    return 0;
  }
  const sct_tap *t = &op->taps[tap];
  for (int k = op->n_dims - 1; k > d; k--) {
    n /= sct_tap_count(t, k);
  }
  return t->delta[d] + n % sct_tap_count(t, d) * sct_tap_step(t, d);
}

static int64_t window_size(const sct_operand *op, int tap) {
  int64_t n = 1;
  for (int d = 0; d < op->n_dims && tap >= 0; d++) {
    n *= sct_tap_count(&op->taps[tap], d);
  }
  return n;
}

static int64_t offset_at(const sct_operand *op, int f, const int64_t *extent, const int64_t *at) {
  sct_expr vars[64];
  int64_t values[64], value = 0;
  int n = 0;
  for (int d = 0; d < op->n_dims; d++, n++) {
    vars[n] = op->index[d];
    values[n] = at[d];
  }
  for (int k = 0; k < spec.n_extents; k++, n++) {
    vars[n] = spec.extent_var[k];
    values[n] = extent[k];
  }
  const sct_expr_env env = {vars, values, n};
  assert_int_equal(sct_expr_eval(spec.pool, op->layouts[0].element[f], &env, &value, NULL), SCT_OK);
  return value;
}

static void brute_force(const sct_operand *op, const sct_size *size, int64_t *sectors,
                        int64_t *bytes) {
  const int64_t all = sct_spec_bytes(&spec, (int)(op - spec.operands), 0, size);
  uint8_t *seen = sct_alloc((size_t)all + 64);
  int64_t idx[SCT_MAX_DIMS] = {0};
  for (int64_t k = 0; k < sct_spec_elements(&spec, size); k++) {
    for (int tap = -1; tap < op->n_taps; tap++) {
      const bool *used = tap < 0 ? op->used_here : op->taps[tap].used;
      for (int64_t n = 0; n < window_size(op, tap); n++) {
        int64_t at[SCT_MAX_DIMS];
        bool inside = true;
        for (int d = 0; d < op->n_dims; d++) {
          at[d] = bordered(op->border,
                           value_at(op->at[d], size->extent, idx, NULL) + window_at(op, tap, n, d),
                           value_at(op->extent[d], size->extent, idx, NULL));
          inside = inside && at[d] >= 0;
        }
        for (int f = 0; f < op->record.n_fields && inside; f++) {
          if (used[f] || op->is_index) {
            const int64_t offset = offset_at(op, f, size->extent, at);
            assert_true(offset >= 0 && offset + op->record.fields[f].bytes <= all);
            memset(seen + offset, 1, (size_t)op->record.fields[f].bytes);
          }
        }
      }
    }
    for (int d = spec.n_dims - 1; d >= 0 && ++idx[d] == size->extent[d]; d--) {
      idx[d] = 0;
    }
  }
  *sectors = *bytes = 0;
  sct_spans *used = sct_spec_used_bytes(&spec, (int)(op - spec.operands), 0, size);
  for (int64_t s = 0; s < all; s += 32) {
    const int64_t end = s + 32 < all ? s + 32 : all;
    int64_t here = 0;
    for (int64_t b = s; b < end; b++) {
      here += seen[b];
    }
    assert_int_equal(used ? sct_spans_within(used, s, end - s) : end - s, here);
    *bytes += here;
    *sectors += here > 0;
  }
  sct_spans_end(used);
  sct_free(seen);
}

/* The sectors of each entry's row that the one before it has not. An entry is an index in the first
 * dimension, its row has all of the others. */
static void brute_entries(const sct_operand *op, const sct_size *size, int64_t *sectors,
                          int64_t *bytes) {
  const int64_t all = sct_spec_bytes(&spec, (int)(op - spec.operands), 0, size);
  uint8_t *seen[2] = {sct_alloc((size_t)all + 64), sct_alloc((size_t)all + 64)};
  const int64_t rows = size->extent[0], each = sct_spec_elements(&spec, size) / rows;
  *sectors = *bytes = 0;
  for (int64_t row = 0; row < rows; row++) {
    uint8_t *const here = seen[row % 2], *const before = seen[(row + 1) % 2];
    int64_t idx[SCT_MAX_DIMS] = {row};
    memset(here, 0, (size_t)all + 64);
    for (int64_t k = 0; k < each; k++) {
      int64_t index[SCT_MAX_OPERANDS], at[SCT_MAX_DIMS];
      for (int n = 0; n < spec.n_index; n++) {
        const int i = spec.index_order[n];
        index[n] = sct_spec_index_value(
            &spec, i, value_at(spec.operands[i].at[0], size->extent, idx, index), size);
      }
      for (int d = 0; d < op->n_dims; d++) {
        at[d] = value_at(op->at[d], size->extent, idx, index);
      }
      for (int f = 0; f < op->record.n_fields; f++) {
        if (op->used[f] || op->is_index) {
          memset(here + offset_at(op, f, size->extent, at), 1, (size_t)op->record.fields[f].bytes);
        }
      }
      for (int d = spec.n_dims - 1; d >= 1 && ++idx[d] == size->extent[d]; d--) {
        idx[d] = 0;
      }
    }
    for (int64_t s = 0; s < all; s += 32) {
      bool has = false, had = false;
      for (int64_t b = s; b < s + 32 && b < all; b++) {
        has = has || here[b];
        had = had || (row > 0 && before[b]);
        *bytes += here[b] && !(row > 0 && before[b]);
      }
      *sectors += has && !had;
    }
  }
  sct_free(seen[0]);
  sct_free(seen[1]);
}

static void check(const char *what) {
  for (int z = 0; z < spec.n_sizes; z++) {
    for (int k = 0; k < spec.n_operands; k++) {
      const sct_operand *op = &spec.operands[k];
      int64_t sectors, bytes;
      const sct_footprint got = sct_spec_footprint(&spec, k, 0, &spec.sizes[z]);
      (op->through_index ? brute_entries : brute_force)(op, &spec.sizes[z], &sectors, &bytes);
      if (!got.known || got.sectors != (double)sectors || got.bytes != (double)bytes) {
        fail_msg("%s, %s, size %s: %g sectors, %g bytes, known %d; brute force: %lld, %lld", what,
                 op->name, spec.sizes[z].label, got.sectors, got.bytes, got.known,
                 (long long)sectors, (long long)bytes);
      }
    }
  }
}

/* ---- layouts ---- */

static const struct {
  layout_kind kind;
  int64_t parameter;
} layouts[] = {{AOS, 0},    {SOA, 0},       {AOSOA, 4},     {AOSOA, 32},
               {AOSOA, 48}, {COL_MAJOR, 0}, {PITCHED, 256}, {PITCHED, 24}};

static void test_layouts(void **state) {
  (void)state;
  static const char *const records[] = {"f32", "x:f32 y:f32 z:f32", "x:f64 y:f64 z:f64",
                                        "a:u8 x:f64 c:u8 d:i16"};
  static const char *const dims[][2] = {
      {"i", "i=1; i=7; i=1000; i=1003"},
      {"i j", "i=1 j=1; i=13 j=17; i=32 j=40; i=5 j=101"},
      {"i j k", "i=3 j=5 k=7; i=4 j=8 k=33"},
  };
  for (int r = 0; r < SCT_COUNT(records); r++) {
    for (int k = 0; k < SCT_COUNT(layouts); k++) {
      for (int d = 0; d < SCT_COUNT(dims); d++) {
        for (int field = 0; field < (r > 0 ? 2 : 1); field++) {
          char what[128];
          snprintf(what, sizeof what, "record %d, layout %d, dims %d, field %d", r, k, d, field);
          open_spec(dims[d][0]);
          add_array("a", records[r], INPUT);
          add_array("b", field ? "f64" : records[r], OUTPUT);
          bind();
          lay_out("a", layouts[k].kind, layouts[k].parameter);
          lay_out("b", layouts[k].kind, layouts[k].parameter);
          set_sizes(dims[d][1]);
          finish(field ? "b = a.x;" : "b = a;");
          check(what);
          close_spec();
        }
      }
    }
  }
}

/* ---- places ---- */

typedef struct reading {
  const char *dims, *numbers, *array_dims, *at, *extents, *sizes;
} reading;

static void test_places(void **state) {
  (void)state;
  static const reading readings[] = {
      {"i", NULL, NULL, "i + 1", "i + 1", "i=1; i=77; i=128"},
      {"i", NULL, NULL, "3 * i + 2", "3 * i", "i=1; i=50; i=64"},
      {"i", NULL, NULL, "n_i - 1 - i", NULL, "i=5; i=100"},
      {"i", NULL, NULL, "i // 3", NULL, "i=1; i=100; i=256"},
      {"i", NULL, NULL, "i % 5 + i // 40 * 40", NULL, "i=4; i=39; i=200; i=215"},
      {"i", NULL, NULL, "max(i - 1, 0)", NULL, "i=1; i=100"},
      {"i j", NULL, "m", "i + j", "i + j", "i=1 j=1; i=5 j=9; i=40 j=3"},
      {"i j", NULL, "m", "2 * i + j", "2 * i + j", "i=9 j=3; i=30 j=1; i=12 j=5"},
      {"i j", NULL, "m", "7 * i + j", "7 * i + j", "i=9 j=3; i=30 j=6; i=12 j=20"},
      {"i j", NULL, "m", "40 * i + 3 * j", "40 * i + 3 * j", "i=9 j=3; i=30 j=6"},
      {"i j", NULL, "i", "i", NULL, "i=9 j=3; i=100 j=2"},
      {"i j", NULL, "j", "j", NULL, "i=9 j=3; i=2 j=100"},
      {"i j", NULL, NULL, "i; 2 * j", "i, 2 * j", "i=9 j=3; i=2 j=100; i=3 j=33"},
      {"i j", NULL, NULL, "i + 1; j + 2", "i + 3, j + 5", "i=9 j=3; i=2 j=100; i=5 j=61"},
      {"i j", NULL, NULL, "n_i - 1 - i; j // 2", NULL, "i=9 j=3; i=2 j=100"},
      {"i", NULL, "m n", "i; i", "i, i", "i=1; i=9; i=40"},
      {"i j", NULL, "m n", "i; i + j", "i, i + j", "i=9 j=3; i=20 j=5"},
      {"i j", "k", NULL, "i; j", "i, j + k", "i=9 j=30 k=2; i=20 j=5 k=0; i=20 j=12 k=4"},
  };
  for (int r = 0; r < SCT_COUNT(readings); r++) {
    for (int k = 0; k < SCT_COUNT(layouts); k++) {
      const reading *of = &readings[r];
      char what[128];
      snprintf(what, sizeof what, "at %s, layout %d", of->at, k);
      open_spec(of->dims);
      if (of->numbers) {
        set_numbers(of->numbers);
      }
      add_array("a", k % 2 ? "f32" : "x:f32 y:f32 z:f32", INPUT);
      if (of->array_dims) {
        set_dims("a", of->array_dims);
      }
      set_at("a", of->at);
      if (of->extents) {
        set_extents("a", of->extents);
      }
      add_array("b", "f32", OUTPUT);
      bind();
      lay_out("a", layouts[k].kind, layouts[k].parameter);
      lay_out_rest();
      set_sizes(of->sizes);
      finish(k % 2 ? "b = a;" : "b = a.y;");
      check(what);
      close_spec();
    }
  }
}

/* ---- taps ---- */

static void test_taps(void **state) {
  (void)state;
  static const struct {
    int64_t delta[2];
    const char *name;
  } of[] = {{{-1, 0}, "n"}, {{1, 0}, "s"}, {{0, -1}, "w"}, {{0, 1}, "e"}, {{2, -3}, "f"}};
  static const char *const bodies[] = {"b = a.x + n.x + s.x + w.x + e.x;", "b = n.x + s.y;",
                                       "b = f.z;", "b = a.x + f.z;"};
  for (int border = SCT_BORDER_NONE; border <= SCT_BORDER_REFLECT; border++) {
    for (int k = 0; k < SCT_COUNT(layouts); k++) {
      for (int body = 0; body < SCT_COUNT(bodies); body++) {
        char what[128];
        snprintf(what, sizeof what, "border %d, layout %d, %s", border, k, bodies[body]);
        open_spec("i j");
        sct_operand *a = add_array("a", "x:f32 y:f32 z:f32", INPUT);
        a->border = (sct_border)border;
        a->n_taps = SCT_COUNT(of);
        a->taps = SCT_ARENA_NEW(&spec.arena, sct_tap, a->n_taps);
        for (int t = 0; t < a->n_taps; t++) {
          a->taps[t].name = of[t].name;
          a->taps[t].delta = SCT_ARENA_NEW(&spec.arena, int64_t, 2);
          memcpy(a->taps[t].delta, of[t].delta, sizeof of[t].delta);
        }
        if (border == SCT_BORDER_NONE) {
          set_at("a", "i + 1; j + 3");
          set_extents("a", "i + 3, j + 4");
        }
        add_array("b", "f32", OUTPUT);
        bind();
        lay_out("a", layouts[k].kind, layouts[k].parameter);
        lay_out_rest();
        set_sizes("i=1 j=1; i=5 j=7; i=8 j=32; i=2 j=61");
        finish(bodies[body]);
        check(what);
        close_spec();
      }
    }
  }
}

/* Windows that overlap, follow each other or leave gaps, and begin or end outside of the array. */
static void test_windows(void **state) {
  (void)state;
  static const struct {
    const char *at, *extents, *body;
    int64_t delta[2], count[2], step[2];
  } of[] = {
      {"i; j", "i, j", "b = a;", {-1, -1}, {3, 3}, {1, 1}},
      {"2 * i; 2 * j", "2 * i + 1, 2 * j", "b = a;", {-1, -1}, {3, 3}, {1, 3}},
      {"3 * i; 3 * j", "3 * i, 3 * j", "b = a;", {0, 0}, {3, 3}, {1, 1}},
      {"5 * i; 4 * j", "5 * i, 4 * j + 9", "b = a;", {0, -2}, {2, 3}, {2, 1}},
      {"i; j", "i + 4, j", "b = w + a;", {0, -4}, {1, 8}, {1, 1}},
  };
  for (int border = SCT_BORDER_CLAMP; border <= SCT_BORDER_VALUE; border++) {
    for (int k = 0; k < SCT_COUNT(of); k++) {
      char what[64];
      snprintf(what, sizeof what, "border %d, window %d", border, k);
      open_spec("i j");
      sct_operand *a = add_array("a", "f32", INPUT);
      const bool own = strstr(of[k].body, "w") != NULL;
      sct_tap *tap = SCT_ARENA_NEW(&spec.arena, sct_tap, 1);
      *tap = (sct_tap){.name = own ? "w" : "a",
                       .how = "max",
                       .delta = SCT_ARENA_NEW(&spec.arena, int64_t, 2),
                       .count = SCT_ARENA_NEW(&spec.arena, int64_t, 2),
                       .step = SCT_ARENA_NEW(&spec.arena, int64_t, 2)};
      memcpy(tap->delta, of[k].delta, sizeof of[k].delta);
      memcpy(tap->count, of[k].count, sizeof of[k].count);
      memcpy(tap->step, of[k].step, sizeof of[k].step);
      a->border = (sct_border)border;
      a->n_taps = 1;
      a->taps = tap;
      set_at("a", of[k].at);
      set_extents("a", of[k].extents);
      add_array("b", "f32", OUTPUT);
      bind();
      lay_out_rest();
      set_sizes("i=1 j=3; i=5 j=7; i=8 j=32; i=2 j=61");
      finish(of[k].body);
      check(what);
      close_spec();
    }
  }
}

/* ---- index arrays ---- */

static void test_entries(void **state) {
  (void)state;
  static const struct {
    const char *dims, *table, *at, *sizes;
  } of[] = {
      {"i", "m", "pick",
       "i=100 m=100 pick=identity; i=100 m=100 pick=permuted; i=200 m=64 pick=random; "
       "i=1100 m=1100 pick=identity"},
      {"i c", "m c", "pick; c",
       "i=9 c=5 m=9 pick=identity; i=20 c=3 m=20 pick=permuted; i=16 c=40 m=70 pick=permuted; "
       "i=40 c=8 m=40 pick=identity"},
      {"i c", "c m", "c; pick", "i=9 c=5 m=9 pick=identity; i=20 c=3 m=20 pick=permuted"},
      {"i", "m", "3 * pick + 1", "i=50 m=160 pick=identity; i=50 m=160 pick=permuted"},
      {"i", "m", "far", "i=50 m=50 n=50 pick=permuted far=permuted; i=60 m=50 n=60 pick=identity"},
  };
  for (int r = 0; r < SCT_COUNT(of); r++) {
    for (int k = 0; k < SCT_COUNT(layouts); k++) {
      char what[128];
      snprintf(what, sizeof what, "at %s, layout %d", of[r].at, k);
      open_spec(of[r].dims);
      add_array("pick", "i32", INPUT);
      set_dims("pick", "i");
      if (strcmp(of[r].at, "far") == 0) {
        add_array("far", "i32", INPUT);
        set_dims("far", "n");
        set_at("far", "pick");
      }
      add_array("a", k % 2 ? "x:f32 y:f32 z:f32" : "f32", INPUT);
      set_dims("a", of[r].table);
      set_at("a", of[r].at);
      add_array("b", "f32", OUTPUT);
      bind();
      lay_out("a", layouts[k].kind, layouts[k].parameter);
      lay_out_rest();
      set_sizes(of[r].sizes);
      finish(k % 2 ? "b = a.x + a.z;" : "b = a;");
      check(what);
      close_spec();
    }
  }
}

/* Many entries are sampled: near what follows from the layout. */
static void test_sampled_entries(void **state) {
  (void)state;
  open_spec("i");
  add_array("pick", "i32", INPUT);
  add_array("a", "x:f32 y:f32 z:f32", INPUT);
  set_dims("a", "m");
  set_at("a", "pick");
  add_array("b", "f32", OUTPUT);
  bind();
  lay_out_rest();
  set_sizes("i=10000000 m=10000000 pick=permuted; i=10000000 m=10000000 pick=identity");
  finish("b = a.x + a.y + a.z;");
  const sct_footprint random = sct_spec_footprint(&spec, 1, 0, &spec.sizes[0]);
  assert_true(random.known && random.sectors > 1.22e7 && random.sectors < 1.28e7); /* 10 of 8 */
  assert_true(random.bytes > 1.1999e8 && random.bytes < 1.2001e8);
  const sct_footprint ordered = sct_spec_footprint(&spec, 1, 0, &spec.sizes[1]);
  assert_true(ordered.known && ordered.sectors > 3.6e6 && ordered.sectors < 3.9e6);
  close_spec();
}

/* Arrays of any size are counted at once, and what is known of them is kept. */
static void test_large(void **state) {
  (void)state;
  for (int k = 0; k < SCT_COUNT(layouts); k++) {
    open_spec("i j k");
    add_array("a", "x:f32 y:f32 z:f32", INPUT);
    add_array("b", "f32", OUTPUT);
    bind();
    lay_out("a", layouts[k].kind, layouts[k].parameter);
    lay_out_rest();
    set_sizes("i=1001 j=1003 k=2048; i=1024 j=1001 k=999");
    finish("b = a.x + a.y + a.z;");
    for (int z = 0; z < spec.n_sizes; z++) {
      const int64_t *n = spec.sizes[z].extent;
      const sct_footprint got = sct_spec_footprint(&spec, 0, 0, &spec.sizes[z]);
      assert_true(got.known && got.bytes == 12.0 * (double)(n[0] * n[1] * n[2]));
      assert_true(got.sectors >= got.bytes / 32 && got.sectors < 1.05 * got.bytes / 32);
    }
    close_spec();
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_layouts), cmocka_unit_test(test_places),
      cmocka_unit_test(test_taps),    cmocka_unit_test(test_windows),
      cmocka_unit_test(test_entries), cmocka_unit_test(test_sampled_entries),
      cmocka_unit_test(test_large),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
