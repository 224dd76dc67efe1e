/* measure_fixture.h - specs, kernels and sessions for the tests of measure, built in C: this module
 * sees no Lua. A test's main() must call fixture_worker() first: it is its own worker program. */
#ifndef SCT_TESTS_MEASURE_FIXTURE_H
#define SCT_TESTS_MEASURE_FIXTURE_H

#include "measure/measure.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
/* cmocka wants the above first */
#include <cmocka.h>

#define FIXTURE_WORKER(argc, argv)                                                                 \
  if ((argc) > 1 && strcmp((argv)[1], SCT_WORKER_ARG) == 0) {                                      \
    return sct_worker_main((argc), (argv));                                                        \
  }

#define assert_ok(call)                                                                            \
  do {                                                                                             \
    const sct_status ok_status_ = (call);                                                          \
    if (ok_status_ != SCT_OK) {                                                                    \
      print_error("%s: %s\n", #call, fixture_err.text);                                            \
    }                                                                                              \
    assert_int_equal(ok_status_, SCT_OK);                                                          \
  } while (0)
static sct_error fixture_err;

/* ---- specs ---- */

typedef enum fixture_layout {
  FIXTURE_AOS,     /* records one after the other, row-major, padding owned */
  FIXTURE_SOA,     /* fields one after the other */
  FIXTURE_COL,     /* the array's dimensions in reverse */
  FIXTURE_PITCHED, /* rows of the last dimension rounded up to 64 bytes; the gap is not owned */
  FIXTURE_AOSOA,   /* blocks of 4 records, whole blocks; the tail is owned */
  FIXTURE_FANNED,  /* of two dimensions: row i has its records i + 1 places apart */
  FIXTURE_FIXED,   /* of two dimensions: rows start 100 records apart, whatever their length */
  FIXTURE_FOLDED,  /* of two dimensions: the same, but every other row lies behind all of those */
  FIXTURE_FAR,     /* of two dimensions: rows start 2^22 records apart; the gap is not owned */
} fixture_layout;

typedef struct fixture_array {
  const char *name;
  const char *types; /* "f32", or fields x0, x1, ... of types "f64 f32 u8" */
  const char *dims;  /* "row col", NULL: the kernel's; "": none, one element */
  const char *at;    /* "i + 1" of the only dimension, NULL: the dimensions */
  int64_t pad;
  fixture_layout layout;
  const fixture_layout *other; /* a second choice; NULL: there is none */
  bool packed;
  sct_reduce reduce;
  const char *compared; /* of an argmax or argmin */
  sct_reduce scan;
  const char *along; /* of a scan; NULL: the last dimension */
  bool exclusive;
  bool inout;
  sct_reduce accumulate;
} fixture_array;

static inline void fixture_split(sct_arena *arena, const char *text, const char ***out, int *n) {
  *out = SCT_ARENA_NEW(arena, const char *, 8);
  *n = 0;
  while (*text != '\0') {
    const size_t len = strcspn(text, " ");
    (*out)[(*n)++] = sct_arena_strndup(arena, text, len);
    text += len + (text[len] != '\0');
  }
}

static inline void fixture_record(sct_spec *spec, sct_record *record, const fixture_array *a) {
  const char **types = NULL;
  int n = 0;
  fixture_split(&spec->arena, a->types, &types, &n);
  record->fields = SCT_ARENA_NEW(&spec->arena, sct_field, n);
  record->n_fields = n;
  record->packed = a->packed;
  record->name = n > 1 ? sct_arena_printf(&spec->arena, "rec_%s", a->name) : NULL;
  for (int f = 0; f < n; f++) {
    record->fields[f].name = n > 1 ? sct_arena_printf(&spec->arena, "x%d", f) : "";
    assert_true(sct_type_find(&record->fields[f].type, types[f]));
  }
  assert_ok(sct_record_finish(record, 0, &fixture_err));
}

static inline void fixture_operand(sct_spec *spec, sct_operand *op, const fixture_array *a,
                                   bool is_output) {
  *op = (sct_operand){.name = a->name, .is_output = is_output, .line = 1, .reduce = a->reduce};
  assert_true(!a->compared || sct_type_find(&op->compared, a->compared));
  op->scan = a->scan;
  op->along = a->along;
  op->exclusive = a->exclusive;
  op->is_inout = a->inout;
  op->accumulate = a->accumulate;
  op->file = spec->file;
  if (a->dims) {
    fixture_split(&spec->arena, a->dims, &op->dims, &op->n_dims);
  } else {
    op->dims = spec->dims;
    op->n_dims = spec->n_dims;
  }
  op->at_text = SCT_ARENA_NEW(&spec->arena, const char *, op->n_dims + 1);
  op->extent_text = SCT_ARENA_NEW(&spec->arena, const char *, op->n_dims + 1);
  op->pad = SCT_ARENA_NEW(&spec->arena, int64_t, op->n_dims + 1);
  op->at_text[0] = a->at;
  op->pad[0] = a->pad;
  fixture_record(spec, &op->record, a);
}

static inline sct_expr fixture_linear(sct_spec *spec, const sct_operand *op, bool reverse) {
  sct_expr linear = sct_expr_const(spec->pool, 0);
  for (int k = 0; k < op->n_dims; k++) {
    const int d = reverse ? op->n_dims - 1 - k : k;
    linear =
        sct_expr_add(spec->pool, sct_expr_mul(spec->pool, linear, op->extent[d]), op->index[d]);
  }
  return linear;
}

static inline sct_expr fixture_count(sct_spec *spec, const sct_operand *op) {
  sct_expr n = sct_expr_const(spec->pool, 1);
  for (int d = 0; d < op->n_dims; d++) {
    n = sct_expr_mul(spec->pool, n, op->extent[d]);
  }
  return n;
}

/* round_up(e, unit) */
static inline sct_expr fixture_round(sct_spec *spec, sct_expr e, int64_t unit) {
  sct_expr_pool *p = spec->pool;
  const sct_expr u = sct_expr_const(p, unit);
  return sct_expr_mul(p, sct_expr_div(p, sct_expr_add(p, e, sct_expr_const(p, unit - 1)), u), u);
}

#define FIXTURE_FAR_APART (1 << 22)

static inline void fixture_trace(sct_spec *spec, sct_operand *op, fixture_layout kind,
                                 sct_layout *out) {
  static const char *const names[] = {"aos",    "soa",   "col_major", "pitched", "aosoa",
                                      "fanned", "fixed", "folded",    "far"};
  sct_expr_pool *p = spec->pool;
  const sct_record *r = &op->record;
  const int last = op->n_dims - 1;
  const sct_expr linear = fixture_linear(spec, op, kind == FIXTURE_COL);
  const sct_expr count = fixture_count(spec, op);
  *out = (sct_layout){.name = names[kind], .label = names[kind], .file = spec->file, .line = 1};
  out->element = SCT_ARENA_NEW(&spec->arena, sct_expr, r->n_fields);
  out->owns_gaps = kind != FIXTURE_PITCHED && kind != FIXTURE_FAR;
  out->bytes = sct_expr_mul(p, count, sct_expr_const(p, r->bytes));
  for (int f = 0; f < r->n_fields; f++) {
    const sct_expr offset = sct_expr_const(p, r->fields[f].offset);
    const sct_expr bytes = sct_expr_const(p, r->fields[f].bytes);
    const sct_expr size = sct_expr_const(p, r->bytes);
    const sct_expr lanes = sct_expr_const(p, 4);
    sct_expr e = sct_expr_add(p, sct_expr_mul(p, linear, size), offset);
    if (kind == FIXTURE_SOA) {
      e = sct_expr_add(p, sct_expr_mul(p, count, sct_expr_const(p, r->fields[f].prefix)),
                       sct_expr_mul(p, linear, bytes));
    } else if (kind == FIXTURE_PITCHED) {
      const sct_expr row = fixture_round(spec, sct_expr_mul(p, op->extent[last], size), 64);
      e = sct_expr_add(p, sct_expr_mul(p, op->index[0], row),
                       sct_expr_add(p, sct_expr_mul(p, op->index[last], size), offset));
      out->bytes = sct_expr_mul(p, op->extent[0], row);
    } else if (kind == FIXTURE_AOSOA) {
      const sct_expr block = sct_expr_const(p, 4 * r->bytes);
      const sct_expr in_block =
          sct_expr_add(p, sct_expr_const(p, 4 * r->fields[f].prefix),
                       sct_expr_mul(p, sct_expr_mod(p, linear, lanes), bytes));
      e = sct_expr_add(p, sct_expr_mul(p, sct_expr_div(p, linear, lanes), block), in_block);
      out->bytes = sct_expr_mul(p, fixture_round(spec, count, 4), size);
    } else if (kind == FIXTURE_FANNED) {
      const sct_expr one = sct_expr_const(p, 1);
      const sct_expr row =
          sct_expr_mul(p, op->extent[1], sct_expr_add(p, op->extent[0], one)); /* enough */
      const sct_expr place =
          sct_expr_add(p, sct_expr_mul(p, op->index[0], row),
                       sct_expr_mul(p, op->index[1], sct_expr_add(p, op->index[0], one)));
      e = sct_expr_add(p, sct_expr_mul(p, place, size), offset);
      out->bytes = sct_expr_mul(p, sct_expr_mul(p, op->extent[0], row), size);
    } else if (kind == FIXTURE_FIXED || kind == FIXTURE_FOLDED) {
      const sct_expr two = sct_expr_const(p, 2), far = fixture_round(spec, op->extent[0], 2);
      sct_expr row = op->index[0];
      if (kind == FIXTURE_FOLDED) {
        row = sct_expr_add(p, sct_expr_div(p, row, two),
                           sct_expr_mul(p, sct_expr_mod(p, row, two), far));
      }
      const sct_expr place =
          sct_expr_add(p, sct_expr_mul(p, row, sct_expr_const(p, 100)), op->index[1]);
      e = sct_expr_add(p, sct_expr_mul(p, place, size), offset);
      out->bytes = sct_expr_mul(
          p, sct_expr_add(p, sct_expr_mul(p, far, sct_expr_const(p, 200)), op->extent[1]), size);
    }
    if (kind == FIXTURE_FAR) {
      const sct_expr row = sct_expr_const(p, FIXTURE_FAR_APART * r->bytes);
      e = sct_expr_add(p, sct_expr_mul(p, op->index[0], row),
                       sct_expr_add(p, sct_expr_mul(p, op->index[1], size), offset));
      out->bytes = sct_expr_mul(p, op->extent[0], row);
    }
    out->element[f] = e;
  }
}

/* A finished spec. `dims` as in fixture_array; extents: of the only size, in order of the spec's
 * extents. `scalar`: name of one f32 scalar or NULL. */
static inline void fixture_spec(sct_spec *spec, const char *dims, const fixture_array *arrays,
                                int n_inputs, int n_arrays, const char *scalar, const char *body,
                                const int64_t *extents) {
  *spec = (sct_spec){.name = "fixture", .file = "fixture.lua", .line = 1};
  sct_expr_pool_new(&spec->pool);
  fixture_split(&spec->arena, dims, &spec->dims, &spec->n_dims);
  if (scalar) {
    spec->scalars = SCT_ARENA_NEW(&spec->arena, sct_scalar, 1);
    spec->scalars[0] = (sct_scalar){scalar, SCT_TYPE_F32};
    spec->n_scalars = 1;
  }
  spec->n_operands = n_arrays;
  spec->n_inputs = n_inputs;
  spec->operands = SCT_ARENA_NEW(&spec->arena, sct_operand, n_arrays);
  spec->body = body;
  spec->body_line = 1;
  for (int k = 0; k < n_arrays; k++) {
    fixture_operand(spec, &spec->operands[k], &arrays[k], k >= n_inputs);
  }
  assert_ok(sct_spec_bind(spec, &fixture_err));
  for (int k = 0; k < n_arrays; k++) {
    sct_operand *op = &spec->operands[k];
    op->layouts = SCT_ARENA_NEW(&spec->arena, sct_layout, 2);
    op->n_layouts = arrays[k].other ? 2 : 1;
    for (int c = 0; c < op->n_layouts; c++) {
      fixture_trace(spec, op, c == 0 ? arrays[k].layout : *arrays[k].other, &op->layouts[c]);
    }
  }
  spec->sizes = SCT_ARENA_NEW(&spec->arena, sct_size, 1);
  spec->n_sizes = 1;
  spec->sizes[0].extent = SCT_ARENA_NEW(&spec->arena, int64_t, spec->n_extents);
  spec->sizes[0].fill = SCT_ARENA_NEW(&spec->arena, sct_fill, n_arrays);
  spec->sizes[0].line = 1;
  memcpy(spec->sizes[0].extent, extents, sizeof *extents * (size_t)spec->n_extents);
  assert_ok(sct_spec_finish(spec, &fixture_err));
}

/* ---- kernels ---- */

/* A kernel of blocks that each own `tile` elements along the last dimension (1-D) or a tile x tile
 * box of the last two. What stands in the fake's image is never run, but tells binaries apart. */
typedef struct fixture_kernel {
  sct_kernel_code code;
  sct_expr require[1];
  char entry[32];
  sct_binary binary;
} fixture_kernel;

static inline sct_expr fixture_blocks(sct_spec *spec, int64_t tile) {
  sct_expr_pool *p = spec->pool;
  sct_expr grid = sct_expr_const(p, 1);
  for (int d = 0; d < spec->n_dims; d++) {
    const int64_t t = d >= spec->n_dims - 2 ? tile : 1;
    grid =
        sct_expr_mul(p, grid,
                     sct_expr_div(p, sct_expr_add(p, spec->extent_var[d], sct_expr_const(p, t - 1)),
                                  sct_expr_const(p, t)));
  }
  return grid;
}

static inline void fixture_kernel_init(fixture_kernel *k, sct_spec *spec, int number,
                                       int64_t tile) {
  *k = (fixture_kernel){.code = {.threads = 64, .grid = fixture_blocks(spec, tile)}};
  snprintf(k->entry, sizeof k->entry, "kernel_%d", number);
  k->binary = (sct_binary){
      .code = &k->code, .cubin = k->entry, .cubin_bytes = sizeof k->entry, .entry = k->entry};
}

#endif
