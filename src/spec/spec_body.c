/* Checks of a body: every name is used as it may be.
 *
 * What is assigned when is left to spec_assign.c. */
#include <string.h>

#include "spec/spec_tree.h"

typedef struct use_check {
  sct_spec *spec;
  const body_tree *tree;
  sct_error *err;
  bool *assigned; /* [n_operands] */
  bool kept[SCT_MAX_OPERANDS];
} use_check;

static const token *token_of(const use_check *s, const node *n) {
  return &s->tree->t[n->first];
}

/* ---- operands ---- */

static bool same_records(const sct_record *a, const sct_record *b) {
  if (a->n_fields != b->n_fields) {
    return false;
  }
  for (int k = 0; k < a->n_fields; k++) {
    if (a->fields[k].type != b->fields[k].type ||
        strcmp(a->fields[k].name, b->fields[k].name) != 0) {
      return false;
    }
  }
  return true;
}

static void mark(use_check *s, const sct_mention *m) {
  sct_operand *op = &s->spec->operands[m->op];
  for (int f = 0; f < op->record.n_fields; f++) {
    if (m->field >= 0 && (f < m->field || f >= m->field + m->n_fields)) {
      continue;
    }
    op->used[f] = true;
    *(m->tap >= 0 ? &op->taps[m->tap].used[f] : &op->used_here[f]) = true;
  }
}

/* A record without a field: only "b = a;" between records of the same fields. */
static sct_status check_whole(const use_check *s, const node *n) {
  const sct_spec *spec = s->spec;
  const sct_record *record = &spec->operands[n->m.op].record;
  const char *name = sct_spec_mention_name(spec, &n->m), *at = token_of(s, n)->text;
  const int with = n->pair ? n->pair->m.op : -1;
  if (with < 0) {
    return sct_spec_fail_body(spec, s->err, at,
                              "'%s' is a record; name one of its fields, as in %s.%s", name, name,
                              record->fields[0].name);
  }
  const sct_record *other = &spec->operands[with].record;
  if (!same_records(record, other)) {
    SCT_SCOPED(sct_str) hint = {0};
    sct_spec_hint_bytes(&hint, record);
    sct_spec_hint_bytes(&hint, other);
    return sct_spec_fail_body(spec, s->err, at,
                              "'%s' and '%s' have different fields; assign them one by one%s", name,
                              spec->operands[with].name, sct_str_c(&hint));
  }
  return SCT_OK;
}

static sct_status cannot_assign(const use_check *s, const token *t, const char *what) {
  const char *output = s->spec->operands[s->spec->n_inputs].name;
  return sct_spec_fail_body(s->spec, s->err, t->text,
                            "'%.*s' is %s and cannot be assigned; did you mean '%s'?%s",
                            (int)t->len, t->text, what, output,
                            strcmp(what, "an input") == 0
                                ? " Declare an array that is updated in place as an output with "
                                  "inout = true"
                                : "");
}

/* What other elements contribute is not known where one is computed. */
static sct_status reads_reduced(const use_check *s, const node *n, const sct_operand *op) {
  const bool updates = n->use == USE_UPDATE;
  const char *at = token_of(s, n)->text;
  sct_reduce way = SCT_REDUCE_NONE;
  const char *joined = sct_spec_combining_word(op, &way), *how = sct_reduce_name(way);
  if (op->accumulate != SCT_REDUCE_NONE) {
    return sct_spec_fail_body(
        s->spec, s->err, at,
        updates ? "output '%s' is accumulated (%s), so the body only assigns it what one point "
                  "contributes: write `=`, as in `%s = 1;`"
                : "output '%s' is accumulated (%s), so the body cannot read it: other points add "
                  "to it meanwhile; a second kernel takes the result as an input%s",
        op->name, sct_accumulate_name(op->accumulate), updates ? op->name : "");
  }
  if (updates) {
    return sct_spec_fail_body(s->spec, s->err, at,
                              "output '%s' is %s (%s), so the body only assigns it what one "
                              "element contributes: write `=`, as in `%s = ...;`",
                              op->name, joined, how, op->name);
  }
  return sct_spec_fail_body(
      s->spec, s->err, at,
      "output '%s' is %s (%s), so the body cannot read it: its result is known when all elements "
      "are done; %sa second kernel takes the result as an input",
      op->name, joined, how,
      op->reduce != SCT_REDUCE_NONE ? "write steps, of which a later one uses the result on the "
                                      "same row (docs/cookbook.md, Softmax), or "
                                    : "");
}

static sct_status check_operand(use_check *s, const node *n) {
  sct_spec *spec = s->spec;
  const sct_operand *op = &spec->operands[n->m.op];
  const token *t = token_of(s, n);
  SCT_TRY(n->m.field < 0 ? check_whole(s, n) : SCT_OK);
  const sct_type_info *type = sct_type_get(op->record.fields[n->m.field < 0 ? 0 : n->m.field].type);
  if (type->shared > 1 && n->is_addressed) {
    const token *last = &s->tree->t[n->end - 1];
    return sct_spec_fail_body(spec, s->err, t->text,
                              "an element of type %s is a part of a byte and has no address; write "
                              "`int v = %.*s;` and take that of v",
                              type->name, (int)(last->text + last->len - t->text), t->text);
  }
  s->assigned[n->m.op] = s->assigned[n->m.op] || n->use != USE_READ;
  if (n->use != USE_READ && !op->is_output) {
    return cannot_assign(s, t, n->m.tap < 0 ? "an input" : "a tap of an input");
  }
  sct_reduce way = SCT_REDUCE_NONE;
  const bool combined = *sct_spec_combining_word(op, &way) || op->accumulate != SCT_REDUCE_NONE;
  if (combined && n->use != USE_ASSIGN) {
    return reads_reduced(s, n, op);
  }
  mark(s, &n->m);
  for (int d = 0; d < spec->n_dims && sct_operand_shared(op) > 1; d++) {
    const bool named = sct_expr_mentions(spec->pool, op->part, spec->dim_var[d]);
    spec->body_uses_dim[d] = spec->body_uses_dim[d] || named;
  }
  return SCT_OK;
}

/* ---- values of steps ---- */

/* A step assigns its own values, and reads those of earlier steps. */
static sct_status check_value(const use_check *s, const node *n) {
  const token *t = token_of(s, n);
  const sct_value *value = n->value;
  const char *how = sct_reduce_name(value->reduce);
  if (value->step > s->spec->step) {
    return sct_spec_fail_body(s->spec, s->err, t->text,
                              "'%s' is a value of step %d, and this is step %d; a step reads the "
                              "values of steps before it",
                              value->name, value->step + 1, s->spec->step + 1);
  }
  if (value->step < s->spec->step) {
    return n->use != USE_READ
               ? sct_spec_fail_body(s->spec, s->err, t->text,
                                    "'%s' is a value of step %d and cannot be assigned here; "
                                    "declare a variable, as in `float %s_here = %s;`",
                                    value->name, value->step + 1, value->name, value->name)
               : SCT_OK;
  }
  return n->use == USE_ASSIGN || value->reduce == SCT_REDUCE_NONE
             ? SCT_OK
             : sct_spec_fail_body(
                   s->spec, s->err, t->text,
                   n->use == USE_UPDATE
                       ? "'%s' is reduced (%s), so its step only assigns what one element "
                         "contributes: write `=`, as in `%s = ...;`"
                       : "'%s' is reduced (%s) by this very step, so it is known when all "
                         "elements are done; '%s' can be read in a step that follows",
                   value->name, how, value->name);
}

/* ---- keep(output); ---- */

/* The flag that keep() sets in the kernel; no name of the spec may be that. */
static sct_status check_flag(const use_check *s, const token *t) {
  const sct_spec *spec = s->spec;
  char flag[80];
  int tap = -1;
  const int len = snprintf(flag, sizeof flag, "%.*s_kept", (int)t->len, t->text);
  const token name = {.kind = TOKEN_NAME, .text = flag, .len = (size_t)len};
  bool taken = sct_spec_find_value(spec, flag, name.len, &tap) >= 0 ||
               sct_spec_find_dim(spec, flag, name.len) >= 0 || sct_spec_is_scalar(spec, &name);
  for (int k = 0; k < s->tree->n_locals; k++) {
    taken = taken || sct_token_is(s->tree->locals[k].name, flag);
  }
  return taken ? sct_spec_fail_body(spec, s->err, t->text,
                                    "keep(%.*s) makes the name '%s', which is taken; choose "
                                    "another name for it",
                                    (int)t->len, t->text, flag)
               : SCT_OK;
}

static sct_status check_keep(use_check *s, const node *n) {
  sct_operand *op = &s->spec->operands[n->m.op];
  sct_reduce how = SCT_REDUCE_NONE;
  const char *joined = sct_spec_combining_word(op, &how);
  if (how != SCT_REDUCE_NONE) {
    return sct_spec_fail_body(s->spec, s->err, token_of(s, n)->text,
                              "output '%s' is %s (%s), so nothing is kept; assign what changes "
                              "nothing, as in `%s = 0;` for a sum",
                              op->name, joined, sct_reduce_name(how), op->name);
  }
  op->keeps = s->kept[n->m.op] = true;
  for (int f = 0; f < op->record.n_fields; f++) {
    op->used[f] = op->used_here[f] = true;
  }
  return check_flag(s, token_of(s, n) + 2);
}

/* ---- the walk ---- */

static sct_status check_name(use_check *s, const node *n) {
  const token *t = token_of(s, n);
  if (n->m.op >= 0) {
    return check_operand(s, n);
  }
  if (n->value) {
    return check_value(s, n);
  }
  if (n->local < 0 && n->use != USE_READ) {
    return cannot_assign(s, t,
                         n->dim >= 0                      ? "an index"
                         : sct_spec_is_extent(s->spec, t) ? "an extent"
                                                          : "a scalar");
  }
  if (n->dim >= 0) {
    s->spec->body_uses_dim[n->dim] = true;
  }
  return SCT_OK;
}

void sct_spec_begin_bodies(sct_spec *spec) {
  spec->body_uses_dim = SCT_ARENA_NEW(&spec->arena, bool, spec->n_dims);
  for (int k = 0; k < spec->n_operands; k++) {
    sct_operand *op = &spec->operands[k];
    op->used = SCT_ARENA_NEW(&spec->arena, bool, op->record.n_fields);
    op->used_here = SCT_ARENA_NEW(&spec->arena, bool, op->record.n_fields);
    for (int n = 0; n < op->n_taps; n++) {
      op->taps[n].used = SCT_ARENA_NEW(&spec->arena, bool, op->record.n_fields);
    }
  }
}

sct_status sct_spec_check_body(sct_spec *spec, const body_tree *tree, bool *assigned,
                               sct_error *err) {
  use_check s = {.spec = spec, .tree = tree, .err = err, .assigned = assigned};
  SCT_TRY(sct_spec_check_shifts(spec, tree, err));
  SCT_TRY(sct_spec_check_operands(spec, tree, err));
  for (const node *n = tree->made; n; n = n->made) {
    SCT_TRY(n->kind == NODE_NAME   ? check_name(&s, n)
            : n->kind == NODE_KEEP ? check_keep(&s, n)
                                   : SCT_OK);
  }
  for (int k = spec->n_inputs; k < spec->n_operands; k++) {
    const sct_operand *op = &spec->operands[k];
    if (op->is_inout && !s.assigned[k] && (spec->n_steps == 0 || s.kept[k])) {
      return sct_spec_fail_body(spec, err, NULL,
                                "'%s' is updated in place (inout), but never assigned; declare "
                                "what is only read as an input",
                                op->name);
    }
    s.assigned[k] = s.assigned[k] || s.kept[k];
  }
  return SCT_OK;
}
