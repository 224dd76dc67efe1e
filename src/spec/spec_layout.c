/* Checks of layouts by brute force: on small extents every field of every element, at the sizes to
 * be tuned some of them. No two may share a byte, all must lie in [0, bytes), and the expression
 * for the size must hold for extents of 0 too. Small extents stay within the largest size: a layout
 * with strides in plain numbers is made for its sizes and no larger ones.
 *
 * At real sizes they are chosen: a run along every dimension, the far ends, and the elements
 * where a step along one dimension meets a multiple of another's (a pitch shorter than the row). */
#include <stdlib.h>
#include <string.h>

#include "spec/spec_internal.h"

enum { SMALL_SETS = 6, SMALL_ELEMENTS = 8192, RUN = 200, CORNER_DIMS = 3 };

/* The bytes of one field of one element. */
typedef struct span {
  int64_t start, end;
  int64_t element; /* row-major number over the array's extents */
  int field;
} span;

typedef struct checker {
  const sct_spec *spec;
  const sct_operand *op;
  const sct_layout *layout;
  sct_error *err;
  sct_expr_program **program; /* [n_fields]; inputs: index variables, then extents */
  int64_t values[SCT_MAX_DIMS + SCT_MAX_EXTENTS];
  int64_t extent[SCT_MAX_DIMS]; /* of the array, at the extents in `values` */
  int64_t bytes;
  span *spans;
  size_t n, cap;
  bool shares;      /* two elements were found to share bytes */
  const char *note; /* appended to the message; NULL: nothing */
} checker;

/* ---- messages ---- */

static void print_element(sct_str *out, const checker *c, const span *s) {
  int64_t idx[SCT_MAX_DIMS];
  int64_t rest = s->element;
  for (int d = c->op->n_dims - 1; d >= 0; d--) {
    idx[d] = rest % c->extent[d];
    rest /= c->extent[d];
  }
  const char *field = c->op->record.fields[s->field].name;
  if (field[0] != '\0') {
    sct_str_printf(out, "field %s of ", field);
  }
  sct_str_append(out, "element (");
  for (int d = 0; d < c->op->n_dims; d++) {
    sct_str_printf(out, "%s%lld", d > 0 ? ", " : "", (long long)idx[d]);
  }
  sct_str_append(out, ")");
}

static void print_extents(sct_str *out, const checker *c) {
  sct_str_printf(out, " (array '%s', extents ", c->op->name);
  for (int d = 0; d < c->op->n_dims; d++) {
    sct_str_printf(out, "%s%lld", d > 0 ? " x " : "", (long long)c->extent[d]);
  }
  sct_str_append(out, ")");
}

static sct_status fail_spans(const checker *c, const span *a, const span *b) {
  SCT_SCOPED(sct_str) text = {0};
  print_element(&text, c, a);
  if (b) {
    sct_str_append(&text, " and ");
    print_element(&text, c, b);
    sct_str_printf(&text, " share bytes %lld to %lld", (long long)b->start,
                   (long long)(a->end < b->end ? a->end : b->end) - 1);
  } else {
    sct_str_printf(&text, " takes bytes %lld to %lld, outside [0, %lld)", (long long)a->start,
                   (long long)a->end - 1, (long long)c->bytes);
  }
  print_extents(&text, c);
  sct_str_append(&text, c->note ? c->note : "");
  return sct_spec_fail_at(c->spec, c->err, c->layout->file, c->layout->line, "layout '%s': %s",
                          c->layout->label, sct_str_c(&text));
}

static sct_status fail_eval(const checker *c, const char *what, const sct_error *why) {
  SCT_SCOPED(sct_str) text = {0};
  print_extents(&text, c);
  return sct_spec_fail_at(c->spec, c->err, c->layout->file, c->layout->line,
                          "layout '%s': %s: %s%s", c->layout->label, what, why->text,
                          sct_str_c(&text));
}

/* ---- one set of extents ---- */

/* Puts the kernel's extents in and works out the array's own; false: an extent is negative. */
static sct_status enter_extents(checker *c, const int64_t *extent) {
  const spec_env env = sct_spec_env_extents(c->spec, extent);
  sct_error why;
  memcpy(&c->values[c->op->n_dims], extent, sizeof(*extent) * (size_t)c->spec->n_extents);
  c->n = 0;
  for (int d = 0; d < c->op->n_dims; d++) {
    SCT_TRY(sct_spec_env_eval(c->spec, &env, c->op->extent[d], &c->extent[d], c->err));
    c->extent[d] = c->extent[d] < 0 ? 0 : c->extent[d];
  }
  if (sct_spec_env_eval(c->spec, &env, c->layout->bytes, &c->bytes, &why) != SCT_OK) {
    return fail_eval(c, "its size cannot be worked out", &why);
  }
  if (c->bytes < 0) {
    snprintf(why.text, sizeof(why.text), "%lld bytes", (long long)c->bytes);
    return fail_eval(c, "its size is negative", &why);
  }
  if (c->bytes > SCT_MAX_BYTES) {
    snprintf(why.text, sizeof(why.text), "%lld bytes; at most 2^46", (long long)c->bytes);
    return fail_eval(c, "its size is too large", &why);
  }
  return SCT_OK;
}

static int64_t n_elements(const checker *c) {
  int64_t n = 1;
  for (int d = 0; d < c->op->n_dims; d++) {
    n = sct_spec_mul(n, c->extent[d]);
  }
  return n;
}

static void add_element(checker *c, const int64_t *idx) {
  int64_t linear = 0;
  for (int d = 0; d < c->op->n_dims; d++) {
    if (idx[d] < 0 || idx[d] >= c->extent[d]) {
      return;
    }
    linear = linear * c->extent[d] + idx[d];
    c->values[d] = idx[d];
  }
  for (int f = 0; f < c->op->record.n_fields; f++) {
    SCT_GROW(c->spans, c->n, c->cap);
    const int64_t start = sct_expr_program_run(c->program[f], c->values);
    c->spans[c->n++] = (span){start, start + c->op->record.fields[f].bytes, linear, f};
  }
}

static int compare_spans(const void *a, const void *b) {
  const span *x = a;
  const span *y = b;
  if (x->start != y->start) {
    return x->start < y->start ? -1 : 1;
  }
  if (x->element != y->element) {
    return x->element < y->element ? -1 : 1;
  }
  return x->field - y->field;
}

/* Sorted by start, a span may only overlap its neighbours; an element may be listed twice. What is
 * only read may overlap element by element (a window that slides over a signal), unless its values
 * must differ in their numbers. */
static sct_status check_spans(checker *c) {
  const bool must_be_apart = c->op->is_output || c->op->is_index;
  if (c->n == 0) {
    return SCT_OK;
  }
  qsort(c->spans, c->n, sizeof(*c->spans), compare_spans);
  const span *last = &c->spans[0];
  for (size_t k = 0; k < c->n; k++) {
    const span *s = &c->spans[k];
    if (s->start < 0 || s->end > c->bytes) {
      return fail_spans(c, s, NULL);
    }
    const bool same = s->element == last->element && s->field == last->field;
    if (!same && s->start < last->end && (must_be_apart || s->field != last->field)) {
      c->shares = true;
      return fail_spans(c, last, s);
    }
    last = s;
  }
  return SCT_OK;
}

/* The program never fails; the evaluator says what goes wrong (a division by an extent of 0). */
static sct_status check_eval(const checker *c) {
  spec_env env = sct_spec_env_extents(c->spec, &c->values[c->op->n_dims]);
  for (int d = 0; d < c->op->n_dims; d++) {
    sct_spec_env_add(&env, c->op->index[d], c->extent[d] - 1);
  }
  for (int f = 0; f < c->op->record.n_fields; f++) {
    int64_t value = 0;
    sct_error why;
    if (sct_spec_env_eval(c->spec, &env, c->layout->element[f], &value, &why) != SCT_OK) {
      return fail_eval(c, "its offset cannot be worked out", &why);
    }
  }
  return SCT_OK;
}

/* ---- small extents: everything ---- */

static int64_t largest_extent(const sct_spec *spec, int extent) {
  int64_t largest = 0;
  for (int k = 0; k < spec->n_sizes; k++) {
    const int64_t n = spec->sizes[k].around ? 0 : spec->sizes[k].extent[extent];
    largest = n > largest ? n : largest;
  }
  return largest;
}

static sct_status check_small(checker *c) {
  static const int64_t sets[3][SMALL_SETS][4] = {
      {{0, 0, 0, 0}, {1, 1, 1, 1}, {2, 3, 2, 3}, {33, 7, 33, 7}, {100, 9, 5, 3}, {2053, 11, 13, 4}},
      {{0, 3, 2, 2}, {1, 1, 1, 1}, {3, 2, 4, 5}, {5, 37, 6, 9}, {33, 9, 7, 5}, {17, 130, 9, 7}},
      {{2, 0, 3, 1}, {1, 1, 1, 1}, {3, 2, 4, 5}, {5, 3, 7, 2}, {4, 9, 3, 6}, {3, 5, 40, 3}},
  };
  const int table = c->op->n_dims < 2 ? 0 : c->op->n_dims == 2 ? 1 : 2;
  for (int set = 0; set < SMALL_SETS; set++) {
    int64_t extent[SCT_MAX_EXTENTS];
    for (int k = 0; k < c->spec->n_extents; k++) {
      const int64_t largest = largest_extent(c->spec, k);
      extent[k] = sets[table][set][k % 4];
      extent[k] = extent[k] < largest ? extent[k] : largest;
    }
    SCT_TRY(enter_extents(c, extent));
    const int64_t n = n_elements(c);
    if (n == 0 || n > SMALL_ELEMENTS) {
      continue;
    }
    SCT_TRY(check_eval(c));
    for (int64_t linear = 0; linear < n; linear++) {
      int64_t idx[SCT_MAX_DIMS];
      int64_t rest = linear;
      for (int d = c->op->n_dims - 1; d >= 0; d--) {
        idx[d] = rest % c->extent[d];
        rest /= c->extent[d];
      }
      add_element(c, idx);
    }
    SCT_TRY(check_spans(c));
  }
  return SCT_OK;
}

/* ---- real extents: some elements ---- */

/* A run along `dim` from its start and one to its end, at the first, second and last index of the
 * other dimensions. */
static void add_runs(checker *c, int dim) {
  const int n_dims = c->op->n_dims;
  int others = 1;
  for (int d = 0; d < n_dims && d < CORNER_DIMS; d++) {
    others *= d == dim ? 1 : 3;
  }
  for (int which = 0; which < others; which++) {
    int64_t idx[SCT_MAX_DIMS] = {0};
    for (int d = 0, rest = which; d < n_dims && d < CORNER_DIMS; d++) {
      if (d != dim) {
        idx[d] = rest % 3 == 2 ? c->extent[d] - 1 : rest % 3;
        rest /= 3;
      }
    }
    for (int64_t k = 0; k < RUN; k++) {
      idx[dim] = k;
      add_element(c, idx);
      idx[dim] = c->extent[dim] - 1 - k;
      add_element(c, idx);
    }
  }
}

static int64_t offset_of_unit(checker *c, int dim, int64_t index) {
  memset(c->values, 0, sizeof(*c->values) * (size_t)c->op->n_dims);
  if (dim >= 0) {
    c->values[dim] = index;
  }
  return sct_expr_program_run(c->program[0], c->values);
}

/* Where dimension `slow` has moved by one step, does `fast` get there too? */
static void add_meetings(checker *c, int slow, int fast) {
  const int64_t origin = offset_of_unit(c, -1, 0);
  const int64_t step = offset_of_unit(c, slow, 1) - origin;
  const int64_t small = offset_of_unit(c, fast, 1) - origin;
  if (c->extent[slow] < 2 || c->extent[fast] < 2 || small == 0) {
    return;
  }
  int64_t idx[SCT_MAX_DIMS] = {0};
  idx[slow] = 1;
  add_element(c, idx);
  idx[slow] = 0;
  for (int64_t near = -1; near <= 1; near++) {
    idx[fast] = step / small + near;
    add_element(c, idx);
  }
}

static sct_status check_some_elements(checker *c, const int64_t *extent) {
  SCT_TRY(enter_extents(c, extent));
  if (n_elements(c) == 0) {
    return SCT_OK;
  }
  SCT_TRY(check_eval(c));
  for (int d = 0; d < c->op->n_dims; d++) {
    add_runs(c, d);
    for (int fast = 0; fast < c->op->n_dims; fast++) {
      if (fast != d) {
        add_meetings(c, d, fast);
      }
    }
  }
  return check_spans(c);
}

/* The largest value of an extent with which the layout holds, the others being those of the size;
 * 0: none. Whoever has room for more elements has room for fewer. */
static int64_t largest_legal(checker *c, const sct_size *size, int k) {
  int64_t extent[SCT_MAX_EXTENTS];
  int64_t low = 0;
  int64_t high = size->extent[k];
  sct_error *const err = c->err;
  memcpy(extent, size->extent, sizeof(*extent) * (size_t)c->spec->n_extents);
  c->err = NULL; /* it only tries */
  while (high - low > 1) {
    extent[k] = low + (high - low) / 2;
    if (check_some_elements(c, extent) == SCT_OK) {
      low = extent[k];
    } else {
      high = extent[k];
    }
  }
  c->err = err;
  return low;
}

/* "; at most c = 1024, the other extents being as they are": of each extent that the array has. */
static void print_largest(sct_str *out, checker *c, const sct_size *size) {
  int n = 0;
  for (int k = 0; k < c->spec->n_extents; k++) {
    bool has = false;
    for (int d = 0; d < c->op->n_dims; d++) {
      has = has || sct_expr_mentions(c->spec->pool, c->op->extent[d], c->spec->extent_var[k]);
    }
    const int64_t most = has ? largest_legal(c, size, k) : 0;
    if (most > 0) {
      sct_str_printf(out, "%s%s = %lld", n++ > 0 ? " or " : "; at most ", c->spec->extent_names[k],
                     (long long)most);
    }
  }
  sct_str_append(out, n > 0 ? ", the other extents being as they are" : "");
}

static sct_status check_real(checker *c, const sct_size *size) {
  const sct_status status = check_some_elements(c, size->extent);
  if (status != SCT_ESPEC || !c->shares) {
    return status;
  }
  SCT_SCOPED(sct_str) note = {0};
  print_largest(&note, c, size);
  c->note = sct_str_c(&note);
  const sct_status again =
      check_some_elements(c, size->extent); /* now the error has the note too */
  c->note = NULL;
  return again;
}

/* ---- all of them ---- */

static sct_status make_programs(checker *c) {
  sct_expr inputs[SCT_MAX_DIMS + SCT_MAX_EXTENTS];
  const int n_dims = c->op->n_dims;
  memcpy(inputs, c->op->index, sizeof(*inputs) * (size_t)n_dims);
  memcpy(inputs + n_dims, c->spec->extent_var, sizeof(*inputs) * (size_t)c->spec->n_extents);
  for (int f = 0; f < c->op->record.n_fields; f++) {
    sct_error why;
    if (sct_expr_program_new(&c->program[f], c->spec->pool, c->layout->element[f], inputs,
                             n_dims + c->spec->n_extents, &why) != SCT_OK) {
      return sct_spec_fail_at(c->spec, c->err, c->layout->file, c->layout->line, "layout '%s': %s",
                              c->layout->label, why.text);
    }
  }
  return SCT_OK;
}

static sct_status check_layout(const sct_spec *spec, const sct_operand *op,
                               const sct_layout *layout, sct_error *err) {
  sct_status status = SCT_OK;
  sct_expr_program *programs[SCT_MAX_FIELDS] = {NULL};
  checker c = {.spec = spec, .op = op, .layout = layout, .err = err, .program = programs};
  SCT_TRY_DONE(make_programs(&c));
  SCT_TRY_DONE(check_small(&c));
  for (int k = 0; k < spec->n_sizes; k++) {
    sct_size *size = &spec->sizes[k];
    SCT_TRY_DONE(size->refused ? SCT_OK : sct_spec_at_size(size, check_real(&c, size)));
  }
done:
  for (int f = 0; f < op->record.n_fields; f++) {
    sct_expr_program_free(programs[f]);
  }
  sct_free(c.spans);
  return status;
}

sct_status sct_spec_check_layouts(sct_spec *spec, sct_error *err) {
  for (int k = 0; k < spec->n_operands; k++) {
    const sct_operand *op = &spec->operands[k];
    for (int layout = 0; layout < op->n_layouts; layout++) {
      SCT_TRY(check_layout(spec, op, &op->layouts[layout], err));
    }
  }
  return SCT_OK;
}
