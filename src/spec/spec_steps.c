/* Kernels in steps: a row is reduced to named values, which later steps use, until its elements or
 * what there is once a row are written. Every step has a body of its own, which is checked as the
 * body of other kernels is; while one is checked, it stands in for the kernel's. */
#include <string.h>

#include "spec/spec_tree.h"

const sct_value *sct_spec_find_step_value(const sct_spec *spec, const char *name, size_t len) {
  const int k = sct_names_find_n(SCT_NAMES_IN(spec->values, spec->n_values, name), name, len);
  return k >= 0 ? &spec->values[k] : NULL;
}

static int key_line(const sct_spec *spec, const char *name) {
  return sct_spec_key_line(spec, spec->file, spec->line, name);
}

/* ---- steps that are one body ---- */

/* The blanks in front of the lines of `body` after its first, which is trimmed: the fewest. */
static size_t least_indent(const char *body) {
  size_t least = SIZE_MAX;
  for (const char *p = strchr(body, '\n'); p; p = strchr(p, '\n')) {
    p++;
    const size_t n = strspn(p, " ");
    least = p[n] != '\n' && p[n] != '\0' && n < least ? n : least;
  }
  return least;
}

/* Appends `body` as a block, its lines indented by two. */
static void append_block(sct_str *out, const char *body) {
  const size_t indent = least_indent(body);
  sct_str_append(out, "{\n");
  for (const char *p = body; *p;) {
    const size_t blanks = p == body ? 0 : strspn(p, " ");
    const char *from = p + (blanks < indent ? blanks : indent);
    const size_t n = strcspn(from, "\n");
    sct_str_printf(out, "%s%.*s\n", n > 0 ? "  " : "", (int)n, from);
    p = from + n + (from[n] == '\n');
  }
  sct_str_append(out, "}");
}

static int count_lines(const char *text) {
  int n = 1;
  for (const char *p = strchr(text, '\n'); p; p = strchr(p + 1, '\n')) {
    n++;
  }
  return n;
}

sct_status sct_spec_join_maps(sct_spec *spec, sct_error *err) {
  SCT_SCOPED(sct_str) text = {0};
  if (spec->n_steps == 0 || spec->n_values > 0) {
    return SCT_OK;
  }
  if (spec->n_over > 0) {
    return sct_spec_fail_at(spec, err, spec->file, key_line(spec, "over"),
                            "over says what steps reduce, and none of these steps does; leave it "
                            "out, or reduce to a value: { reduce = { m = \"max\" }, body = ... }");
  }
  spec->n_maps = spec->n_steps;
  spec->n_steps = 0;
  spec->body_line = spec->line;
  spec->body_in_file = true;
  for (int k = 0, line = 1; k < spec->n_maps; k++) {
    sct_step *step = &spec->steps[k];
    sct_str_append(&text, k > 0 ? "\n" : "");
    append_block(&text, step->body);
    step->first_line = line;
    line += count_lines(step->body) + 2;
    spec->body_in_file = spec->body_in_file && step->body_in_file;
  }
  spec->body = sct_arena_strdup(&spec->arena, sct_str_c(&text));
  return SCT_OK;
}

/* ---- binding ---- */

/* Dimensions by name, a bit each. */
static sct_status find_over(unsigned *out, const sct_spec *spec, const char **over, int n,
                            sct_error *err) {
  *out = 0;
  for (int k = 0; k < n; k++) {
    const int d = sct_spec_find_dim(spec, over[k], strlen(over[k]));
    if (d < 0) {
      SCT_SCOPED(sct_str) hint = {0};
      sct_str_suggest(&hint, over[k], SCT_NAMES(spec->dims, spec->n_dims));
      return sct_spec_fail_at(spec, err, spec->file, key_line(spec, "over"),
                              "over: steps reduce some of the kernel's dimensions; '%s' is none%s",
                              over[k], sct_str_c(&hint));
    }
    *out |= 1u << d;
  }
  return SCT_OK;
}

static sct_status bind_over(sct_spec *spec, sct_error *err) {
  unsigned usual = 0, all = 0;
  SCT_TRY(find_over(&usual, spec, spec->over, spec->n_over, err));
  usual = spec->n_over == 0 ? 1u << (spec->n_dims - 1) : usual;
  const sct_step *first = NULL;
  for (int s = 0; s < spec->n_steps; s++) {
    sct_step *step = &spec->steps[s];
    SCT_TRY(find_over(&step->reduced, spec, step->over, step->n_over, err));
    if (step->reduces) {
      step->reduced = step->n_over == 0 ? usual : step->reduced;
      spec->nested = spec->nested || (first && step->reduced != first->reduced);
      first = first ? first : step;
      all |= step->reduced;
    }
  }
  for (int d = 0; d < spec->n_dims; d++) {
    spec->reduced[d] = (first ? all : usual) >> d & 1;
  }
  if (spec->nested && sct_spec_is_ragged(spec)) {
    return sct_spec_fail_at(spec, err, spec->file, key_line(spec, "over"),
                            "over: the steps of a kernel with ragged rows reduce '%s' and nothing "
                            "else; write a kernel of its own for what follows",
                            spec->ragged.dim_name);
  }
  return SCT_OK;
}

/* The dimensions with which an array's place moves, a bit each. */
static unsigned dims_of(const sct_spec *spec, const sct_operand *op) {
  unsigned dims = 0;
  for (int d = 0; d < spec->n_dims; d++) {
    dims |= (unsigned)sct_spec_moves_with(spec, op, d) << d;
  }
  return dims;
}

bool sct_spec_writes_once(const sct_spec *spec, const sct_operand *op, int dim) {
  return spec->reduced[dim] &&
         (op->per_row || (spec->nested && op->is_output && !sct_spec_moves_with(spec, op, dim)));
}

static bool sums_floats(const sct_value *value) {
  return sct_reduce_rounds(value->reduce) && sct_type_get(value->type)->kind == SCT_KIND_FLOAT;
}

static sct_status name_is_taken(const sct_spec *spec, const sct_value *value, int line,
                                sct_error *err) {
  return spec->n_steps > 0
             ? sct_spec_fail_at(spec, err, spec->file, line,
                                "value '%s' of step %d: the name is taken; choose another one",
                                value->name, value->step + 1)
             : sct_spec_fail_at(spec, err, spec->file, line,
                                "index '%s': the name is taken; choose another one", value->name);
}

static sct_status bind_values(sct_spec *spec, sct_error *err) {
  for (int k = 0; k < spec->n_values; k++) {
    const sct_value *value = &spec->values[k];
    const int line = key_line(spec, spec->n_steps > 0 ? value->name : "index");
    int tap = -1;
    SCT_TRY(sct_spec_check_value_name(spec, spec->file, line, spec->n_steps > 0 ? "value" : "index",
                                      value->name, err));
    if (sct_spec_find_step_value(spec, value->name, strlen(value->name)) != value ||
        sct_spec_find_value(spec, value->name, strlen(value->name), &tap) >= 0) {
      return name_is_taken(spec, value, line, err);
    }
    if (sums_floats(value) && spec->tolerance_given && spec->tolerance == 0) {
      return sct_spec_fail_at(spec, err, spec->file, key_line(spec, "tolerance"),
                              "tolerance = 0 cannot hold for what follows from '%s', a sum of "
                              "floating-point values: it depends on the order of the summands; "
                              "leave it out for one that follows from their number",
                              value->name);
    }
  }
  return SCT_OK;
}

sct_status sct_spec_bind_computed(sct_spec *spec, sct_error *err) {
  for (int k = 0; k < spec->n_values; k++) {
    spec->values[k].index = SCT_EXPR_NONE;
  }
  if (spec->n_steps > 0) {
    return SCT_OK;
  }
  SCT_TRY(bind_values(spec, err));
  for (int k = 0; k < spec->n_values; k++) {
    spec->values[k].index = sct_expr_var(spec->pool, spec->values[k].name, 0, SCT_MAX_EXTENT, 1);
  }
  return SCT_OK;
}

static bool mentions(const sct_spec *spec, const sct_operand *op, const sct_value *value) {
  bool any = false;
  for (int d = 0; d < op->n_dims; d++) {
    any = any || sct_expr_mentions(spec->pool, op->at[d], value->index);
  }
  return any;
}

bool sct_spec_is_computed(const sct_spec *spec, sct_expr e) {
  bool any = false;
  for (int k = 0; k < spec->n_values && spec->n_steps == 0; k++) {
    any = any || sct_expr_mentions(spec->pool, e, spec->values[k].index);
  }
  return any;
}

sct_status sct_spec_check_computed(const sct_spec *spec, sct_error *err) {
  for (int k = 0; k < spec->n_values && spec->n_steps == 0; k++) {
    const sct_value *value = &spec->values[k];
    bool any = false;
    for (int n = 0; n < spec->n_operands; n++) {
      const sct_operand *op = &spec->operands[n];
      const bool names = mentions(spec, op, value);
      any = any || names;
      if (names && op->accumulate == SCT_REDUCE_NONE) {
        return sct_spec_fail_at(
            spec, err, op->file, op->line,
            "at of '%s' names '%s', which the body computes, so points may meet there; only an "
            "output that accumulates has such a place (docs/cookbook.md, \"A histogram\")",
            op->name, value->name);
      }
    }
    if (!any) {
      return sct_spec_fail_at(spec, err, spec->file, key_line(spec, "index"),
                              "index: no `at` names '%s'; an output's place is what the body "
                              "computes by at = { \"%s\" }",
                              value->name, value->name);
    }
  }
  return SCT_OK;
}

static sct_status bind_output(const sct_spec *spec, sct_operand *op, sct_error *err) {
  if (op->reduce != SCT_REDUCE_NONE) {
    return sct_spec_fail_at(spec, err, op->file, op->line,
                            "output '%s' has reduce = \"%s\", but this kernel has steps: reduce to "
                            "a value there, and assign it in a step that follows",
                            op->name, sct_reduce_name(op->reduce));
  }
  if (spec->nested && op->is_inout) {
    return sct_spec_fail_at(spec, err, op->file, op->line,
                            "output '%s' is inout, and steps of this kernel reduce different "
                            "dimensions, so that what it held may be read again later; give the "
                            "result an array of its own",
                            op->name);
  }
  op->per_row = true;
  for (int d = 0; d < spec->n_dims; d++) {
    op->per_row = op->per_row && !(spec->reduced[d] && sct_spec_moves_with(spec, op, d));
  }
  return SCT_OK;
}

sct_status sct_spec_bind_steps(sct_spec *spec, sct_error *err) {
  if (spec->n_steps == 0) {
    return SCT_OK;
  }
  SCT_TRY(bind_over(spec, err));
  SCT_TRY(bind_values(spec, err));
  for (int k = spec->n_inputs; k < spec->n_operands; k++) {
    SCT_TRY(bind_output(spec, &spec->operands[k], err));
  }
  return SCT_OK;
}

/* ---- bodies ---- */

/* What a row holds once, all its threads have read when a step that reduces is done, and may be
 * changed then. */
static sct_status check_update_of_row(const sct_spec *spec, const sct_operand *output,
                                      sct_error *err) {
  bool reduced = false;
  for (int s = 0; s < spec->step; s++) {
    reduced = reduced || spec->steps[s].reduces;
  }
  return reduced ? SCT_OK
                 : sct_spec_fail_body(spec, err, NULL,
                                      "'%s' has one element a row and is updated in place by step "
                                      "%d, which other threads of the row may not have read yet; "
                                      "put a step that reduces before it",
                                      output->name, spec->step + 1);
}

/* What a step assigns that others assign too, or cannot. */
static sct_status check_output(sct_spec *spec, int op, sct_error *err) {
  sct_operand *output = &spec->operands[op];
  sct_step *step = &spec->steps[spec->step];
  if (step->reduces) {
    return sct_spec_fail_body(spec, err, NULL,
                              "step %d reduces, so it assigns its values only; output '%s' is "
                              "assigned by a step of its own: { body = \"%s = ...;\" }",
                              spec->step + 1, output->name, output->name);
  }
  if (output->step >= 0) {
    return sct_spec_fail_body(spec, err, NULL,
                              "output '%s' is assigned by step %d already; one step assigns or "
                              "keeps all its elements",
                              output->name, output->step + 1);
  }
  output->step = spec->step;
  if (spec->nested) {
    return SCT_OK; /* bind_domain() looks at what has which dimensions */
  }
  if (step->per_row && !output->per_row) {
    return sct_spec_fail_body(spec, err, NULL,
                              "step %d computes what there is once a row, and assigns '%s', which "
                              "has all its elements; give each a step of its own",
                              spec->step + 1, output->name);
  }
  for (int k = spec->n_inputs; k < spec->n_operands; k++) {
    const sct_operand *other = &spec->operands[k];
    if (other->step == spec->step && other->per_row != output->per_row) {
      return sct_spec_fail_body(spec, err, NULL,
                                "step %d assigns '%s', which has one element a row, and '%s', "
                                "which has all; give each a step of its own",
                                spec->step + 1, (other->per_row ? other : output)->name,
                                (other->per_row ? output : other)->name);
    }
  }
  step->per_row = step->per_row || output->per_row;
  return output->is_inout && output->per_row ? check_update_of_row(spec, output, err) : SCT_OK;
}

/* Does it lie elsewhere for other elements of a row? */
static bool moves_along_row(const sct_spec *spec, const sct_operand *op) {
  bool moves = false;
  for (int d = 0; d < spec->n_dims; d++) {
    moves = moves || (spec->reduced[d] && sct_spec_moves_with(spec, op, d));
  }
  return moves;
}

/* A step that is done once a row names nothing that differs along it. */
static sct_status check_row_step(const sct_spec *spec, const body_tree *tree, sct_error *err) {
  for (const node *n = tree->made; n; n = n->made) {
    const bool along =
        n->kind == NODE_NAME &&
        (n->dim >= 0 ? spec->reduced[n->dim]
                     : n->m.op >= 0 && moves_along_row(spec, &spec->operands[n->m.op]));
    if (along) {
      const token *t = &tree->t[n->first];
      return sct_spec_fail_body(
          spec, err, t->text,
          "step %d assigns what there is once a row, so it cannot use '%.*s', "
          "which differs along it; reduce it to a value in a step before",
          spec->step + 1, (int)t->len, t->text);
    }
  }
  return SCT_OK;
}

/* The dimensions along which what a name stands for differs. */
static unsigned dims_of_name(const sct_spec *spec, const node *n) {
  return n->dim >= 0                               ? 1u << n->dim
         : n->m.op >= 0                            ? dims_of(spec, &spec->operands[n->m.op])
         : n->value && n->value->step < spec->step ? n->value->dims
                                                   : 0;
}

/* Does step `s` give values that differ along a row? */
static bool is_inner(const sct_spec *spec, int s) {
  bool inner = false;
  for (int k = 0; k < spec->n_values; k++) {
    for (int d = 0; d < spec->n_dims && spec->values[k].step == s; d++) {
      inner = inner || (spec->reduced[d] && spec->values[k].dims >> d & 1);
    }
  }
  return inner;
}

#define MOST_COMPUTED 64 /* times that values of steps are computed in a step's body */

/* Values that differ along a row are computed in every step that names them, with those that they
 * follow from. */
static sct_status check_depth(const sct_spec *spec, sct_error *err) {
  int n[SCT_MAX_VALUES] = {0};
  for (int s = 0; s <= spec->step && s < SCT_MAX_VALUES; s++) {
    n[s] = is_inner(spec, s);
    for (int u = 0; u < s; u++) {
      n[s] += spec->steps[s].uses >> u & 1 ? n[u] : 0;
    }
    n[s] = n[s] < MOST_COMPUTED ? n[s] : MOST_COMPUTED;
  }
  return spec->step < SCT_MAX_VALUES && n[spec->step] < MOST_COMPUTED
             ? SCT_OK
             : sct_spec_fail_body(spec, err, NULL,
                                  "step %d follows from too many values of steps that reduce "
                                  "different dimensions; write some to an array, which a kernel of "
                                  "its own reads",
                                  spec->step + 1);
}

/* Where steps reduce different dimensions, a step has the elements that differ for what it names
 * and reduces; its values differ along those that it does not reduce. Outputs have all of them. */
static sct_status bind_domain(sct_spec *spec, const body_tree *tree, const bool *assigned,
                              sct_error *err) {
  sct_step *step = &spec->steps[spec->step];
  unsigned reduced = 0;
  step->domain = step->reduced;
  for (const node *n = tree->made; n; n = n->made) {
    step->domain |= n->kind == NODE_NAME ? dims_of_name(spec, n) : 0;
    step->uses |= n->kind == NODE_NAME && n->value ? 1u << n->value->step : 0;
  }
  for (int d = 0; d < spec->n_dims; d++) {
    reduced |= (unsigned)spec->reduced[d] << d;
  }
  for (int k = spec->n_inputs; k < spec->n_operands; k++) {
    const unsigned lacks = assigned[k] ? step->domain & ~dims_of(spec, &spec->operands[k]) : 0;
    for (const node *n = tree->made; n && lacks; n = n->made) {
      if (n->kind == NODE_NAME && dims_of_name(spec, n) & lacks) {
        const token *t = &tree->t[n->first];
        return sct_spec_fail_body(spec, err, t->text,
                                  "step %d assigns '%s', which has one element for all indices of "
                                  "'%s', along which '%.*s' differs; reduce it to a value in a "
                                  "step before, with over = \"%s\"",
                                  spec->step + 1, spec->operands[k].name,
                                  spec->dims[__builtin_ctz(dims_of_name(spec, n) & lacks)],
                                  (int)t->len, t->text,
                                  spec->dims[__builtin_ctz(dims_of_name(spec, n) & lacks)]);
      }
    }
  }
  for (int k = 0; k < spec->n_values; k++) {
    if (spec->values[k].step == spec->step) {
      spec->values[k].dims = step->domain & ~step->reduced;
    }
  }
  step->per_row = !step->reduces && (step->domain & reduced) == 0;
  return check_depth(spec, err);
}

double sct_spec_nested_work(const sct_spec *spec, const int64_t *extent) {
  double inner[SCT_MAX_VALUES] = {0}, work = 0;
  for (int s = 0; s < spec->n_steps; s++) {
    const sct_step *step = &spec->steps[s];
    double each = 1, own = 1, all = 1; /* elements of those it reduces, and of all it has */
    for (int u = 0; u < s; u++) {
      each += step->uses >> u & 1 ? inner[u] : 0;
    }
    for (int d = 0; d < spec->n_dims; d++) {
      own *= step->reduced >> d & 1 ? (double)extent[d] : 1;
      all *= step->domain >> d & 1 || !spec->reduced[d] ? (double)extent[d] : 1;
    }
    inner[s] = is_inner(spec, s) ? own * each : 0;
    work += all * each;
  }
  return work;
}

static const char *how(const sct_value *value) {
  return value->reduce == SCT_REDUCE_NONE ? "once a row" : sct_reduce_name(value->reduce);
}

/* " over c, d", where steps reduce different dimensions. */
static void print_over(sct_str *out, const sct_spec *spec, int step) {
  const char *before = " over ";
  for (int d = 0; d < spec->n_dims && spec->nested; d++) {
    if (spec->steps[step].reduced >> d & 1) {
      sct_str_printf(out, "%s%s", before, spec->dims[d]);
      before = ", ";
    }
  }
}

static void print_step(sct_str *out, const sct_spec *spec, const body_tree *tree) {
  sct_str_append(out, "step");
  print_over(out, spec, spec->step);
  for (int k = 0; k < spec->n_values; k++) {
    const sct_value *value = &spec->values[k];
    if (value->step == spec->step) {
      const sct_type given = sct_reduce_is_arg(value->reduce) ? value->compared : value->type;
      sct_str_printf(out, " %s %s %s", how(value), sct_type_get(given)->name, value->name);
    }
  }
  sct_str_append(out, "\n");
  sct_spec_print_tokens(out, tree);
}

/* The maximum under an exponential, or the mean in a product, that a sum subtracts; NULL: none. */
static const sct_value *find_subtracted(const sct_spec *spec, const body_tree *tree) {
  const sct_value *found = NULL;
  bool sums = false, exponential = false, product = false;
  for (int k = 0; k < spec->n_values; k++) {
    const bool own = spec->values[k].step == spec->step;
    sums = sums || (own && (spec->values[k].reduce == SCT_REDUCE_SUM ||
                            spec->values[k].reduce == SCT_REDUCE_MEAN));
  }
  for (int k = 0; k < tree->n; k++) {
    exponential = exponential || sct_token_is(&tree->t[k], "expf") ||
                  sct_token_is(&tree->t[k], "exp") || sct_token_is(&tree->t[k], "__expf");
    product = product || sct_token_is(&tree->t[k], "*");
  }
  for (const node *n = tree->made; n && sums && !found; n = n->made) {
    const sct_value *v = n->kind == NODE_NAME && n->first > 0 ? n->value : NULL;
    const bool earlier = v && v->step < spec->step && sct_token_is(&tree->t[n->first - 1], "-");
    const bool shifts = v && exponential && v->reduce == SCT_REDUCE_MAX;
    const bool centres =
        v && product && (v->reduce == SCT_REDUCE_NONE || v->reduce == SCT_REDUCE_MEAN);
    found = earlier && (shifts || centres) ? v : NULL;
  }
  return found;
}

/* Checks the body of step number spec->step. */
static sct_status check_step(sct_spec *spec, sct_str *canonical, sct_error *err) {
  sct_step *step = &spec->steps[spec->step];
  bool assigned[SCT_MAX_OPERANDS] = {false};
  body_tree *tree = NULL;
  bool any = false;
  for (int k = 0; k < spec->n_values; k++) {
    any = any || spec->values[k].step == spec->step;
  }
  step->per_row = any && !step->reduces;
  SCT_TRY(sct_spec_parse(&tree, spec, err));
  SCT_TRY(sct_spec_check_body(spec, tree, assigned, err));
  for (int k = spec->n_inputs; k < spec->n_operands; k++) {
    any = any || assigned[k];
    SCT_TRY(assigned[k] ? check_output(spec, k, err) : SCT_OK);
  }
  if (!any) {
    return sct_spec_fail_body(spec, err, NULL,
                              "step %d assigns no output and gives no value; what it computes is "
                              "lost",
                              spec->step + 1);
  }
  if (spec->nested) {
    SCT_TRY(bind_domain(spec, tree, assigned, err));
  } else {
    SCT_TRY(step->per_row ? check_row_step(spec, tree, err) : SCT_OK);
  }
  step->less = step->reduces && !spec->nested ? find_subtracted(spec, tree) : NULL;
  SCT_TRY(sct_spec_check_assigned(spec, tree, err));
  sct_spec_write_bodies(spec, tree, &step->kernel_body, &step->fast_body);
  print_step(canonical, spec, tree);
  return SCT_OK;
}

/* "// m: max" above what a step does with an element. */
static void join_bodies(sct_spec *spec) {
  SCT_SCOPED(sct_str) text = {0};
  for (int s = 0; s < spec->n_steps; s++) {
    bool first = true;
    for (int k = 0; k < spec->n_values; k++) {
      if (spec->values[k].step == s) {
        sct_str_printf(&text, "%s%s: %s", first ? "// " : ", ", spec->values[k].name,
                       how(&spec->values[k]));
        first = false;
      }
    }
    print_over(&text, spec, s);
    sct_str_printf(&text, "%s%s%s", first ? "" : "\n", spec->steps[s].body,
                   s + 1 < spec->n_steps ? "\n" : "");
  }
  spec->body = sct_arena_strdup(&spec->arena, sct_str_c(&text));
  spec->body_line = spec->line;
  spec->body_in_file = false;
}

/* The kernel's body is that of step `step`. */
static void stand_in(sct_spec *spec, int step) {
  spec->step = step;
  spec->body = spec->steps[step].body;
  spec->body_line = spec->steps[step].body_line;
  spec->body_in_file = spec->steps[step].body_in_file;
}

sct_status sct_spec_check_steps(sct_spec *spec, sct_str *canonical, sct_error *err) {
  sct_str_append(canonical, "over");
  for (int d = 0; d < spec->n_dims; d++) {
    sct_str_printf(canonical, "%s%s", spec->reduced[d] ? " " : "",
                   spec->reduced[d] ? spec->dims[d] : "");
  }
  sct_str_append(canonical, "\n");
  for (int k = spec->n_inputs; k < spec->n_operands; k++) {
    spec->operands[k].step = -1;
  }
  for (int s = 0; s < spec->n_steps; s++) {
    stand_in(spec, s);
    SCT_TRY(check_step(spec, canonical, err));
  }
  if (spec->n_values > 0 && spec->values[spec->n_values - 1].step == spec->n_steps - 1) {
    return sct_spec_fail_body(spec, err, NULL,
                              "the last step gives values, and no step follows that uses them; end "
                              "with one that assigns outputs: { body = \"%s = ...;\" }",
                              spec->operands[spec->n_inputs].name);
  }
  for (int k = spec->n_inputs; k < spec->n_operands; k++) {
    const sct_operand *op = &spec->operands[k];
    if (op->step < 0) {
      return sct_spec_fail_at(spec, err, op->file, op->line, "output '%s' is assigned by no step",
                              op->name);
    }
  }
  join_bodies(spec);
  return SCT_OK;
}
