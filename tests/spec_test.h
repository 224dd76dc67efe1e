/* Specs built in C, without Lua: what the tests of module spec share.
 *
 *   open_spec("row col");
 *   add_array("a", "x:f32 y:f64", INPUT);            or a bare type: "f32"
 *   set_at("a", "row + 1; col"); set_extents("a", "row + 1, col"); set_dims("a", "m");
 *   bind();  lay_out("a", AOS, 0);  set_sizes("row=4 col=5; row=1 col=1 pick=identity");
 *   finish("b = a;");  ...  close_spec();
 */
#ifndef SCT_TESTS_SPEC_TEST_H
#define SCT_TESTS_SPEC_TEST_H

#include "spec/spec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { INPUT = 0, OUTPUT = 1 };

typedef enum layout_kind { AOS, SOA, AOSOA, COL_MAJOR, PITCHED, STRIDE_ONE, TOO_SHORT } layout_kind;

static sct_spec spec;
static sct_error err;

static inline char *keep_text(const char *text, size_t len) {
  return sct_arena_strndup(&spec.arena, text, len);
}

/* Splits at any of `separators`; items are trimmed. Returns how many. */
static inline int split(const char *text, const char *separators, const char **out, int cap) {
  int n = 0;
  while (*text && n < cap) {
    text += strspn(text, " ");
    size_t len = strcspn(text, separators);
    const char *next = text + len + (text[len] != '\0');
    while (len > 0 && text[len - 1] == ' ') {
      len--;
    }
    if (len > 0) {
      out[n++] = keep_text(text, len);
    }
    text = next;
  }
  return n;
}

static inline void open_spec(const char *dims) {
  memset(&spec, 0, sizeof spec);
  memset(&err, 0, sizeof err);
  sct_expr_pool_new(&spec.pool);
  spec.name = "test";
  spec.file = "spec.lua";
  spec.line = 1;
  spec.dims = SCT_ARENA_NEW(&spec.arena, const char *, SCT_MAX_DIMS + 2);
  spec.n_dims = split(dims, " ", spec.dims, SCT_MAX_DIMS + 2);
  spec.operands = SCT_ARENA_NEW(&spec.arena, sct_operand, 8);
  spec.scalars = SCT_ARENA_NEW(&spec.arena, sct_scalar, 4);
  spec.sizes = SCT_ARENA_NEW(&spec.arena, sct_size, 8);
}

static inline void close_spec(void) {
  sct_spec_free(&spec);
}

static inline void make_record(sct_record *record, const char *fields) {
  const char *items[SCT_MAX_FIELDS + 2];
  record->n_fields = split(fields, " ", items, SCT_MAX_FIELDS + 2);
  record->fields = SCT_ARENA_NEW(&spec.arena, sct_field, record->n_fields + 1);
  for (int k = 0; k < record->n_fields; k++) {
    const char *colon = strchr(items[k], ':');
    record->fields[k].name = colon ? keep_text(items[k], (size_t)(colon - items[k])) : "";
    assert_true(sct_type_find(&record->fields[k].type, colon ? colon + 1 : items[k]));
  }
}

static inline sct_operand *add_array(const char *name, const char *fields, int is_output) {
  sct_operand *op = &spec.operands[spec.n_operands++];
  op->name = name;
  op->is_output = is_output == OUTPUT;
  op->file = "spec.lua";
  op->line = spec.n_operands + 1;
  spec.n_inputs += !op->is_output;
  make_record(&op->record, fields);
  assert_int_equal(sct_record_finish(&op->record, 0, &err), SCT_OK);
  op->n_dims = spec.n_dims;
  op->dims = spec.dims;
  op->at_text = SCT_ARENA_NEW(&spec.arena, const char *, SCT_MAX_DIMS);
  op->extent_text = SCT_ARENA_NEW(&spec.arena, const char *, SCT_MAX_DIMS);
  op->pad = SCT_ARENA_NEW(&spec.arena, int64_t, SCT_MAX_DIMS);
  return op;
}

static inline void add_scalar(const char *name, const char *type) {
  spec.scalars[spec.n_scalars].name = name;
  assert_true(sct_type_find(&spec.scalars[spec.n_scalars++].type, type));
}

static inline sct_operand *find(const char *name) {
  for (int k = 0; k < spec.n_operands; k++) {
    if (strcmp(spec.operands[k].name, name) == 0) {
      return &spec.operands[k];
    }
  }
  fail_msg("no array '%s'", name);
  return NULL;
}

static inline void set_dims(const char *name, const char *dims) {
  sct_operand *op = find(name);
  op->dims = SCT_ARENA_NEW(&spec.arena, const char *, SCT_MAX_DIMS);
  op->n_dims = split(dims, " ", op->dims, SCT_MAX_DIMS);
}

static inline void set_at(const char *name, const char *at) {
  assert_int_equal(split(at, ";", find(name)->at_text, SCT_MAX_DIMS), find(name)->n_dims);
}

/* Extents of no array: numbers that are given at launch. */
static inline void set_numbers(const char *names) {
  spec.numbers = SCT_ARENA_NEW(&spec.arena, const char *, SCT_MAX_DIMS);
  spec.n_numbers = split(names, " ", spec.numbers, SCT_MAX_DIMS);
}

static inline void set_extents(const char *name, const char *extents) {
  assert_int_equal(split(extents, ",", find(name)->extent_text, SCT_MAX_DIMS), find(name)->n_dims);
}

static inline void bind(void) {
  if (sct_spec_bind(&spec, &err) != SCT_OK) {
    fail_msg("%s", err.text);
  }
}

/* ---- layouts, as tuning/layouts has them ---- */

static inline sct_expr con(int64_t value) {
  return sct_expr_const(spec.pool, value);
}

static inline sct_expr round_up_expr(sct_expr e, int64_t to) {
  return sct_expr_mul(spec.pool,
                      sct_expr_div(spec.pool, sct_expr_add(spec.pool, e, con(to - 1)), con(to)),
                      con(to));
}

static inline sct_expr linear_expr(const sct_operand *op, int first, int end, int step) {
  sct_expr n = con(0);
  for (int d = first; d != end; d += step) {
    n = sct_expr_add(spec.pool, sct_expr_mul(spec.pool, n, op->extent[d]), op->index[d]);
  }
  return n;
}

static inline sct_expr count_expr(const sct_operand *op, int n_dims) {
  sct_expr n = con(1);
  for (int d = 0; d < n_dims; d++) {
    n = sct_expr_mul(spec.pool, n, op->extent[d]);
  }
  return n;
}

/* One layout; `parameter` is lanes or the pitch's multiple. */
static inline sct_layout *lay_out(const char *name, layout_kind kind, int64_t parameter) {
  sct_expr_pool *pool = spec.pool;
  sct_operand *op = find(name);
  sct_layout *old = op->layouts;
  op->layouts = SCT_ARENA_NEW(&spec.arena, sct_layout, op->n_layouts + 1);
  if (op->n_layouts > 0) {
    memcpy(op->layouts, old, sizeof *old * (size_t)op->n_layouts);
  }
  sct_layout *layout = &op->layouts[op->n_layouts++];
  *layout = (sct_layout){.name = "test", .file = "layout.lua", .line = 7};
  layout->label = sct_arena_printf(&spec.arena, "kind%d(%lld)", (int)kind, (long long)parameter);
  layout->element = SCT_ARENA_NEW(&spec.arena, sct_expr, op->record.n_fields);
  const sct_expr row = linear_expr(op, 0, op->n_dims, 1);
  const sct_expr col = linear_expr(op, op->n_dims - 1, -1, -1);
  const sct_expr count = count_expr(op, op->n_dims);
  const sct_expr whole = con(op->record.bytes);
  const sct_expr row_elems = op->n_dims > 0 ? op->extent[op->n_dims - 1] : con(1);
  const sct_expr pitch =
      round_up_expr(sct_expr_mul(pool, row_elems, whole), kind == PITCHED ? parameter : 1);
  sct_expr section = con(0);
  layout->bytes = sct_expr_mul(pool, count, whole);
  for (int f = 0; f < op->record.n_fields; f++) {
    const sct_field *field = &op->record.fields[f];
    sct_expr e = sct_expr_add(pool, sct_expr_mul(pool, row, whole), con(field->offset));
    if (kind == COL_MAJOR) {
      e = sct_expr_add(pool, sct_expr_mul(pool, col, whole), con(field->offset));
    } else if (kind == SOA) {
      section = round_up_expr(section, sct_type_get(field->type)->align);
      e = sct_expr_add(pool, section, sct_expr_mul(pool, row, con(field->bytes)));
      section = sct_expr_add(pool, section, sct_expr_mul(pool, count, con(field->bytes)));
      layout->bytes = section;
    } else if (kind == AOSOA) {
      const sct_expr lanes = con(parameter);
      e = sct_expr_mul(pool, sct_expr_div(pool, row, lanes), con(parameter * op->record.bytes));
      e = sct_expr_add(pool, e, con(parameter * field->offset));
      e = sct_expr_add(pool, e,
                       sct_expr_mul(pool, sct_expr_mod(pool, row, lanes), con(field->bytes)));
      layout->bytes = sct_expr_mul(pool, round_up_expr(count, parameter), whole);
    } else if (kind == PITCHED) {
      e = sct_expr_mul(pool, linear_expr(op, 0, op->n_dims - 1, 1), pitch);
      e = sct_expr_add(pool, e, sct_expr_mul(pool, op->index[op->n_dims - 1], whole));
      e = sct_expr_add(pool, e, con(field->offset));
      layout->bytes = sct_expr_mul(pool, count_expr(op, op->n_dims - 1), pitch);
    } else if (kind == STRIDE_ONE) { /* records half over each other */
      e = sct_expr_add(pool, sct_expr_mul(pool, row, con(parameter)), con(field->offset));
    } else if (kind == TOO_SHORT) {
      layout->bytes = sct_expr_sub(pool, sct_expr_mul(pool, count, whole), con(parameter));
      layout->bytes = sct_expr_binary(pool, SCT_EXPR_MAX, layout->bytes, con(0));
    }
    layout->element[f] = e;
  }
  return layout;
}

/* Every array that has no layout yet: AOS. */
static inline void lay_out_rest(void) {
  for (int k = 0; k < spec.n_operands; k++) {
    if (spec.operands[k].n_layouts == 0) {
      lay_out(spec.operands[k].name, AOS, 0);
    }
  }
}

static inline void set_sizes(const char *text) {
  const char *items[8];
  spec.n_sizes = split(text, ";", items, 8);
  for (int s = 0; s < spec.n_sizes; s++) {
    const char *words[SCT_MAX_EXTENTS];
    sct_size *size = &spec.sizes[s];
    size->line = 20 + s;
    size->extent = SCT_ARENA_NEW(&spec.arena, int64_t, spec.n_extents);
    size->fill = SCT_ARENA_NEW(&spec.arena, sct_fill, spec.n_operands);
    const int n = split(items[s], " ", words, SCT_MAX_EXTENTS);
    for (int w = 0; w < n; w++) {
      const char *value = strchr(words[w], '=') + 1;
      const size_t len = (size_t)(value - 1 - words[w]);
      for (int e = 0; e < spec.n_extents; e++) {
        if (strncmp(spec.extent_names[e], words[w], len) == 0 && !spec.extent_names[e][len]) {
          size->extent[e] = atoll(value);
        }
      }
      for (int k = 0; k < spec.n_operands; k++) {
        if (strncmp(spec.operands[k].name, words[w], len) == 0 && !spec.operands[k].name[len]) {
          size->fill[k] = value[0] == 'i'   ? SCT_FILL_IDENTITY
                          : value[0] == 'p' ? SCT_FILL_PERMUTED
                                            : SCT_FILL_RANDOM;
        }
      }
    }
  }
}

static inline sct_status try_finish(const char *body) {
  spec.body = body;
  spec.body_line = 10;
  return sct_spec_finish(&spec, &err);
}

static inline void finish(const char *body) {
  if (try_finish(body) != SCT_OK) {
    fail_msg("%s", err.text);
  }
}

/* The error text holds `part`. */
static inline void assert_says(const char *part) {
  if (!strstr(err.text, part)) {
    fail_msg("expected \"%s\" in: %s", part, err.text);
  }
}

static inline void assert_bind_fails(const char *says) {
  assert_int_equal(sct_spec_bind(&spec, &err), SCT_ESPEC);
  assert_says(says);
  close_spec();
}

#endif
