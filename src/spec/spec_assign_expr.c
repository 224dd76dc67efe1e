/* Expressions: what they read, what they assign, and what is assigned where they are true or false.
 *
 * A value is worked out where it is an integer constant, as conditions such as `true` or `0 < 4`
 * say which path is taken. */
#include <stdlib.h>
#include <string.h>

#include "spec/spec_assign.h"

/* ---- values ---- */

static flow plain(const assign *a) {
  return (flow){.yes = a->now, .no = a->now};
}

/* The flow of a value that is known: the other outcome is on no path. */
static flow constant(unit_set now, int64_t value, bool is_unsigned) {
  return (flow){.yes = value != 0 ? now : UNITS_ALL,
                .no = value != 0 ? UNITS_ALL : now,
                .known = true,
                .is_unsigned = is_unsigned,
                .value = value};
}

/* Integers alone: no floating-point number is needed to know a path. */
static flow number(const assign *a, const token *t) {
  char *end = NULL;
  if (t->kind == TOKEN_NAME) {
    return constant(a->now, sct_token_is(t, "true"), false);
  }
  const long long value = strtoll(t->text, &end, 0);
  bool is_unsigned = false;
  for (; end < t->text + t->len && strchr("uUlL", *end); end++) {
    is_unsigned = is_unsigned || *end == 'u' || *end == 'U';
  }
  if (end != t->text + t->len || value > INT32_MAX) {
    return plain(a);
  }
  return constant(a->now, value, is_unsigned);
}

bool sct_assign_holds(const assign *a, int k, const flow *f) {
  const local *l = &a->tree->locals[k];
  return f->known && l->is_integer && !a->variables[k].is_array &&
         f->value >= (l->is_unsigned ? 0 : -32768) && f->value <= 32767;
}

/* ---- operators ---- */

/* Comparisons and sums of small integers, where no conversion changes a value. */
static bool fold(const token *op, const flow *left, const flow *right, int64_t *value) {
  const int64_t x = left->value, y = right->value;
  if (!left->known || !right->known ||
      ((left->is_unsigned || right->is_unsigned) && (x < 0 || y < 0))) {
    return false;
  }
  const struct {
    const char *op;
    int64_t value;
  } results[] = {{"==", x == y}, {"!=", x != y}, {"<", x < y}, {">", x > y}, {"<=", x <= y},
                 {">=", x >= y}, {"+", x + y},   {"-", x - y}, {"*", x * y}};
  for (int k = 0; k < SCT_COUNT(results); k++) {
    if (sct_token_is(op, results[k].op)) {
      *value = results[k].value;
      return *value >= INT32_MIN && *value <= INT32_MAX &&
             (*value >= 0 || !(left->is_unsigned || right->is_unsigned));
    }
  }
  return false;
}

static flow joined(const token *op, const flow *left, const flow *right) {
  if (sct_token_is(op, ",")) {
    return *right;
  }
  if (sct_token_is(op, "&&")) {
    return (flow){.yes = right->yes, .no = left->no & right->no};
  }
  if (sct_token_is(op, "||")) {
    return (flow){.yes = left->yes & right->yes, .no = right->no};
  }
  const unit_set now = right->yes & right->no;
  int64_t value = 0;
  return fold(op, left, right, &value)
             ? constant(now, value, left->is_unsigned || right->is_unsigned)
             : (flow){.yes = now, .no = now};
}

/* ---- units of names ---- */

units sct_assign_output(const assign *a, int op) {
  const sct_record *record = &a->spec->operands[op].record;
  const int last = record->n_fields - 1;
  const int end = a->output_unit[op][last] + sct_type_get(record->fields[last].type)->lanes;
  return (units){a->output_unit[op][0], end - a->output_unit[op][0], 1};
}

static units value_units(const assign *a, const sct_value *value) {
  int unit = a->value_unit;
  for (const sct_value *v = a->spec->values; v < value; v++) {
    unit += v->step == value->step;
  }
  return (units){unit, 1, 1};
}

variable *sct_assign_variable(assign *a, const node *n) {
  return n->kind == NODE_NAME && n->local >= 0 ? &a->variables[n->local] : NULL;
}

/* The elements of an array that an index means: one, those that a loop counts through, or, with any
 * other index, all. */
static sct_status element_units(assign *a, const node *name, units all, units *out) {
  const node *n = name->kid[0];
  const token *t = &a->t[n->first];
  const variable *v = sct_assign_variable(a, n);
  const bool by_counter = v && v->counts;
  *out = all;
  if (by_counter) {
    if (v->low < 0 || v->high >= all.n) {
      return sct_spec_fail_body(a->spec, a->err, t->text,
                                "`%.*s` runs from %lld to %lld, but the array has %d elements",
                                (int)t->len, t->text, (long long)v->low, (long long)v->high, all.n);
    }
    *out = (units){all.first + (int)v->low, (int)(v->high - v->low) + 1, 1};
  }
  flow index;
  SCT_TRY(sct_assign_value(a, n, &index));
  if (index.known && (index.value < 0 || index.value >= all.n) && a->now != UNITS_ALL) {
    return sct_spec_fail_body(a->spec, a->err, t->text,
                              "there is no element %lld: the array has %d", (long long)index.value,
                              all.n);
  }
  *out = index.known ? (units){all.first + (int)index.value, 1, 1} : *out;
  a->by_counter = by_counter;
  return SCT_OK;
}

/* Of "o", "o.x", "o.pos.x", "o.q[n]". */
static sct_status output_units(assign *a, const node *n, units *out) {
  const sct_field *fields = a->spec->operands[n->m.op].record.fields;
  const int *unit = a->output_unit[n->m.op];
  if (n->m.array >= 0) {
    return element_units(a, n, (units){unit[n->m.array], fields[n->m.array].n_elements, 1}, out);
  }
  const int f = n->m.field, lanes = f < 0 ? 0 : sct_type_get(fields[f].type)->lanes;
  *out = f < 0            ? sct_assign_output(a, n->m.op)
         : n->m.lane >= 0 ? (units){unit[f] + n->m.lane, 1, 1}
                          : (units){unit[f], lanes, 1};
  return SCT_OK;
}

/* Of "t", "q.x", "v[2]", "v[i].x": of an index that is no constant all. `suffix` receives what is
 * left of the suffixes. */
static sct_status local_units(assign *a, const variable *v, const node **suffix, units *out) {
  *out = v->units;
  bool first = true;
  for (; *suffix && (*suffix)->kind != NODE_STEP; *suffix = (*suffix)->next, first = false) {
    const node *s = *suffix;
    flow index = {0};
    if (s->kind == NODE_INDEX) {
      SCT_TRY(sct_assign_value(a, s->kid[0], &index));
    }
    const int lane = s->kind == NODE_MEMBER ? sct_spec_component(&a->t[s->at + 1], v->lanes) : -1;
    if (lane >= 0 && out->step == 1) {
      *out = (units){out->first + lane, out->n / v->lanes, v->lanes};
    } else if (first && v->by_element && index.known && index.value >= 0 &&
               index.value < v->units.n / v->lanes) {
      *out = (units){v->units.first + (int)index.value * v->lanes, v->lanes, 1};
    }
  }
  return SCT_OK;
}

/* What has units of its own: a local, an output of this step, a value of this step. */
typedef struct place {
  const node *name, *suffix; /* what follows that is not of the place */
  variable *variable;
  units units;
  bool whole; /* a variable that is no array and no vector */
} place;

static bool is_place(assign *a, const node *n, place *out) {
  const node *name = n->kind == NODE_POSTFIX ? n->kid[0] : n;
  *out = (place){.name = name, .suffix = n == name ? NULL : n->kid[1]};
  out->variable = sct_assign_variable(a, name);
  out->whole = out->variable && !out->variable->is_array && out->variable->lanes == 1;
  return name->kind == NODE_NAME &&
         (name->local >= 0 || (name->value && name->value->step == a->spec->step) ||
          (name->m.op >= 0 && a->spec->operands[name->m.op].is_output &&
           !sct_spec_is_old_value(a->spec, name->m.op)));
}

static sct_status belongs_elsewhere(assign *a, const node *n) {
  const sct_operand *op = &a->spec->operands[n->m.op];
  return sct_spec_fail_body(a->spec, a->err, a->t[n->first].text,
                            op->is_inout
                                ? "'%s' is updated in place by step %d, so this step would find it "
                                  "changed; use it there or before, or give what follows from it "
                                  "to an output of that step"
                                : "output '%s' belongs to another step; a step reads inputs and "
                                  "the values of steps before it",
                            op->name, op->step + 1);
}

/* Sets p->units; what the name is indexed with is read. */
static sct_status find_units(assign *a, place *p) {
  a->by_counter = false;
  if (p->variable) {
    return local_units(a, p->variable, &p->suffix, &p->units);
  }
  if (p->name->m.op < 0) {
    p->units = value_units(a, p->name->value);
    return SCT_OK;
  }
  return sct_spec_is_of_step(a->spec, p->name->m.op) ? output_units(a, p->name, &p->units)
                                                     : belongs_elsewhere(a, p->name);
}

/* Its value is not known any more. */
static void forget(const assign *a, const place *p) {
  if (p->variable && !a->tree->locals[p->name->local].is_const) {
    p->variable->known = p->variable->counts = false;
  }
}

/* ---- values ---- */

static sct_status read_place(assign *a, place *p, flow *out) {
  SCT_TRY(find_units(a, p));
  SCT_TRY(sct_assign_read(a, p->units, p->name));
  *out = plain(a);
  if (p->suffix) { /* "++" */
    forget(a, p);
  } else if (p->whole && p->variable->known) {
    *out = constant(a->now, p->variable->value, a->tree->locals[p->name->local].is_unsigned);
  }
  return SCT_OK;
}

static sct_status read_suffixes(assign *a, const node *suffix, flow *out) {
  for (; suffix; suffix = suffix->next) {
    if (suffix->kind == NODE_INDEX) {
      SCT_TRY(sct_assign_value(a, suffix->kid[0], out));
    }
    *out = plain(a);
  }
  return SCT_OK;
}

/* "t = 3", "v[2] += t", "*p = t" */
static sct_status assignment(assign *a, const node *n, flow *out) {
  place p;
  const bool placed = is_place(a, n->kid[0], &p);
  if (!placed || !sct_node_is(a->tree, n, "=")) {
    SCT_TRY(sct_assign_value(a, n->kid[0], out));
    if (placed) {
      forget(a, &p);
    }
    SCT_TRY(sct_assign_value(a, n->kid[1], out));
    *out = plain(a);
    return SCT_OK;
  }
  SCT_TRY(find_units(a, &p));
  const bool by_counter = a->by_counter;
  SCT_TRY(sct_assign_value(a, n->kid[1], out));
  sct_assign_set(a, p.units);
  a->counted |= by_counter ? sct_assign_bits(a, p.units) : 0;
  const flow value = *out;
  *out = plain(a);
  forget(a, &p);
  if (p.whole && !a->tree->locals[p.name->local].is_const &&
      sct_assign_holds(a, p.name->local, &value)) {
    *out = constant(a->now, value.value, a->tree->locals[p.name->local].is_unsigned);
  }
  return SCT_OK;
}

static sct_status unary(assign *a, const node *n, flow *out) {
  place p;
  const token *op = &a->t[n->at];
  SCT_TRY(sct_assign_value(a, n->kid[0], out));
  if ((op->len == 2 || sct_token_is(op, "&")) && is_place(a, n->kid[0], &p)) {
    forget(a, &p);
  }
  const flow of = *out;
  *out = plain(a);
  if (sct_token_is(op, "!")) {
    *out = (flow){.yes = of.no, .no = of.yes, .known = of.known, .value = of.value == 0};
  } else if (sct_token_is(op, "-") && of.known && !of.is_unsigned) {
    *out = constant(a->now, -of.value, false);
  }
  return SCT_OK;
}

static sct_status binary(assign *a, const node *n, flow *out) {
  SCT_TRY(sct_assign_value(a, n->kid[0], out));
  for (const node *k = n->kid[0]; k->next; k = k->next) {
    const token *op = &a->t[k->end];
    const flow left = *out;
    flow right;
    a->now = sct_token_is(op, "&&")   ? left.yes
             : sct_token_is(op, "||") ? left.no
                                      : left.yes & left.no;
    SCT_TRY(sct_assign_value(a, k->next, &right));
    *out = joined(op, &left, &right);
  }
  return SCT_OK;
}

static sct_status conditional(assign *a, const node *n, flow *out) {
  const node *test = n->kid[0];
  const int prior = a->gap;
  const gap g = {.first = test->first, .end = test->end, .at = test->first, .prior = prior};
  flow yes, no;
  SCT_TRY(sct_assign_value(a, test, out));
  const unit_set otherwise = out->no;
  a->now = out->yes;
  SCT_TRY(sct_assign_value(a, n->kid[1], &yes));
  const int yes_gap = a->gap;
  a->now = otherwise;
  a->gap = prior;
  SCT_TRY(sct_assign_value(a, n->kid[2], &no));
  sct_gap_branches(a, g, yes.yes & yes.no, yes_gap, no.yes & no.no, a->gap, true);
  *out = (flow){.yes = yes.yes & no.yes, .no = yes.no & no.no};
  return SCT_OK;
}

static sct_status other(assign *a, const node *n, flow *out) {
  place p;
  units u;
  if (is_place(a, n, &p)) {
    SCT_TRY(read_place(a, &p, out));
    return read_suffixes(a, p.suffix, out);
  }
  const sct_field *fields = n->m.op >= 0 ? a->spec->operands[n->m.op].record.fields : NULL;
  if (n->kind == NODE_NAME && n->m.array >= 0) { /* of an input */
    SCT_TRY(element_units(a, n, (units){0, sct_field_elements(&fields[n->m.array]), 1}, &u));
  } else if (n->kind == NODE_POSTFIX) {
    SCT_TRY(sct_assign_value(a, n->kid[0], out));
    return read_suffixes(a, n->kid[1], out);
  } else if (n->kind != NODE_SIZEOF) { /* which reads nothing */
    SCT_TRY(sct_assign_values(a, n->kid[0]));
  }
  *out = plain(a);
  return SCT_OK;
}

sct_status sct_assign_values(assign *a, const node *list) {
  flow value;
  for (const node *n = list; n; n = n->next) {
    SCT_TRY(sct_assign_value(a, n, &value));
  }
  return SCT_OK;
}

sct_status sct_assign_value(assign *a, const node *n, flow *out) {
  sct_status status = SCT_OK;
  switch (n->kind) {
  case NODE_NUMBER:
    *out = number(a, &a->t[n->first]);
    break;
  case NODE_BRACKETS:
    status = sct_assign_value(a, n->kid[0], out);
    break;
  case NODE_UNARY:
    status = unary(a, n, out);
    break;
  case NODE_BINARY:
    status = binary(a, n, out);
    break;
  case NODE_CONDITIONAL:
    status = conditional(a, n, out);
    break;
  case NODE_ASSIGN:
    status = assignment(a, n, out);
    break;
  default:
    status = other(a, n, out);
  }
  a->now = status == SCT_OK ? out->yes & out->no : a->now;
  return status;
}
