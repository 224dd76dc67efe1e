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

bool sct_assign_holds(const local *l, const flow *f) {
  return f->known && l->is_integer && !l->is_array && f->value >= (l->is_unsigned ? 0 : -32768) &&
         f->value <= 32767;
}

/* ---- operators ---- */

typedef enum op_kind { OP_OTHER, OP_AND, OP_OR } op_kind;

typedef struct binary_op {
  const char *text;
  int level;
  op_kind kind;
} binary_op;

static const binary_op binary_ops[] = {
    {"||", 1, OP_OR},    {"&&", 2, OP_AND},   {"|", 3, OP_OTHER},  {"^", 4, OP_OTHER},
    {"&", 5, OP_OTHER},  {"==", 6, OP_OTHER}, {"!=", 6, OP_OTHER}, {"<", 7, OP_OTHER},
    {">", 7, OP_OTHER},  {"<=", 7, OP_OTHER}, {">=", 7, OP_OTHER}, {"<<", 8, OP_OTHER},
    {">>", 8, OP_OTHER}, {"+", 9, OP_OTHER},  {"-", 9, OP_OTHER},  {"*", 10, OP_OTHER},
    {"/", 10, OP_OTHER}, {"%", 10, OP_OTHER},
};

static const binary_op *binary_at(const assign *a) {
  for (int k = 0; k < SCT_COUNT(binary_ops); k++) {
    if (sct_assign_at(a, binary_ops[k].text)) {
      return &binary_ops[k];
    }
  }
  return NULL;
}

static bool at_assignment(const assign *a) {
  static const char *const ops[] = {"+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="};
  for (int k = 0; k < SCT_COUNT(ops); k++) {
    if (sct_assign_at(a, ops[k])) {
      return true;
    }
  }
  return sct_assign_at(a, "=");
}

/* Comparisons and sums of small integers, where no conversion changes a value. */
static bool fold(const char *op, const flow *left, const flow *right, int64_t *value) {
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
    if (strcmp(op, results[k].op) == 0) {
      *value = results[k].value;
      return *value >= INT32_MIN && *value <= INT32_MAX &&
             (*value >= 0 || !(left->is_unsigned || right->is_unsigned));
    }
  }
  return false;
}

static flow joined(const binary_op *op, const flow *left, const flow *right) {
  if (op->kind == OP_AND) {
    return (flow){.yes = right->yes, .no = left->no & right->no};
  }
  if (op->kind == OP_OR) {
    return (flow){.yes = left->yes & right->yes, .no = right->no};
  }
  const unit_set now = right->yes & right->no;
  int64_t value = 0;
  return fold(op->text, left, right, &value)
             ? constant(now, value, left->is_unsigned || right->is_unsigned)
             : (flow){.yes = now, .no = now};
}

/* ---- names ---- */

static sct_status skip_to(assign *a, const char *close) {
  int depth = 0;
  for (; a->t[a->k].kind != TOKEN_END; a->k++) {
    if (depth == 0 && sct_assign_at(a, close)) {
      a->k++;
      return SCT_OK;
    }
    depth += strchr("([{", a->t[a->k].text[0]) ? 1 : strchr(")]}", a->t[a->k].text[0]) ? -1 : 0;
  }
  return sct_assign_unexpected(a);
}

/* ".x.y" after a name: fields and components, which were checked before. */
static void skip_members(assign *a) {
  while (sct_assign_at(a, ".") && a->t[a->k + 1].kind == TOKEN_NAME) {
    a->k += 2;
  }
}

units sct_assign_output(const assign *a, int op) {
  const sct_record *record = &a->spec->operands[op].record;
  const int last = record->n_fields - 1;
  const int end = a->output_unit[op][last] + sct_type_get(record->fields[last].type)->lanes;
  return (units){a->output_unit[op][0], end - a->output_unit[op][0]};
}

/* Reads the name of a value of this step. */
static units value_units(assign *a) {
  const token *t = &a->t[a->k++];
  const sct_value *value = sct_spec_find_step_value(a->spec, t->text, t->len);
  int unit = a->value_unit;
  for (const sct_value *v = a->spec->values; v < value; v++) {
    unit += v->step == value->step;
  }
  return (units){unit, 1};
}

/* Reads the index of an array whose elements are units: one, those that a loop counts through, or,
 * with any other index, all. */
static sct_status element_units(assign *a, units all, units *out) {
  const token *t = &a->t[a->k];
  const local *l = sct_assign_find(a, &t[1]);
  const bool by_counter = l && l->counts && sct_token_is(&t[2], "]");
  *out = all;
  if (by_counter) {
    if (l->low < 0 || l->high >= all.n) {
      return sct_spec_fail_body(
          a->spec, a->err, t->text, "`%.*s` runs from %lld to %lld, but the array has %d elements",
          (int)t[1].len, t[1].text, (long long)l->low, (long long)l->high, all.n);
    }
    *out = (units){all.first + (int)l->low, (int)(l->high - l->low) + 1};
  }
  flow index;
  a->k++;
  SCT_TRY(sct_assign_expression(a, &index));
  if (index.known && (index.value < 0 || index.value >= all.n) && a->now != UNITS_ALL) {
    return sct_spec_fail_body(a->spec, a->err, t->text,
                              "there is no element %lld: the array has %d", (long long)index.value,
                              all.n);
  }
  *out = index.known ? (units){all.first + (int)index.value, 1} : *out;
  a->by_counter = by_counter;
  return sct_assign_expect(a, "]");
}

/* Reads ".q[n]" after the name of an input, if that is there. */
static sct_status input_element(assign *a, int op) {
  const sct_record *record = op >= 0 ? &a->spec->operands[op].record : NULL;
  const token *t = &a->t[a->k];
  const int f = record && sct_token_is(t, ".") && sct_token_is(&t[2], "[")
                    ? sct_spec_find_field(record, t[1].text, t[1].len)
                    : -1;
  if (f < 0) {
    return SCT_OK;
  }
  units u;
  a->k += 2;
  return element_units(a, (units){0, sct_field_elements(&record->fields[f])}, &u);
}

/* Reads "o", "o.x", "o.pos.x", "o.q[n]" of output `op`; below 0: the name of a value. */
static sct_status output_units(assign *a, int op, units *out) {
  if (op < 0) {
    *out = value_units(a);
    return SCT_OK;
  }
  const sct_record *record = &a->spec->operands[op].record;
  int f = record->fields[0].name[0] == '\0' ? 0 : -1;
  a->k++;
  if (f < 0 && sct_assign_at(a, ".")) {
    f = sct_spec_find_field(record, a->t[a->k + 1].text, a->t[a->k + 1].len);
    a->k += 2;
  }
  if (f < 0) {
    *out = sct_assign_output(a, op);
    return SCT_OK;
  }
  if (record->fields[f].n_elements > 0) {
    return element_units(a, (units){a->output_unit[op][f], record->fields[f].n_elements}, out);
  }
  const int lanes = sct_type_get(record->fields[f].type)->lanes;
  if (lanes > 1 && sct_assign_at(a, ".")) {
    const int lane = sct_spec_component(&a->t[a->k + 1], lanes);
    a->k += 2;
    *out = (units){a->output_unit[op][f] + (lane > 0 ? lane : 0), 1};
    return SCT_OK;
  }
  *out = (units){a->output_unit[op][f], lanes};
  return SCT_OK;
}

/* Reads "t", "q.x", "v[2]", "v[i].x": the units meant. An index that is no constant means all. */
static sct_status local_units(assign *a, const local *l, units *out) {
  *out = l->units;
  a->k++;
  bool first = true;
  while (sct_assign_at(a, ".") || sct_assign_at(a, "[")) {
    if (sct_assign_at(a, ".")) {
      const int lane = sct_spec_component(&a->t[a->k + 1], l->lanes);
      *out = lane >= 0 ? (units){l->units.first + lane, 1} : *out;
      a->k += 2;
    } else {
      flow index;
      a->k++;
      SCT_TRY(sct_assign_expression(a, &index));
      SCT_TRY(sct_assign_expect(a, "]"));
      if (first && l->by_element && index.known && index.value >= 0 && index.value < l->units.n) {
        *out = (units){l->units.first + (int)index.value, 1};
      }
    }
    first = false;
  }
  return SCT_OK;
}

/* A name that has units: read, assigned, or both. */
static sct_status place(assign *a, int op, local *l, flow *out) {
  const int at = a->k;
  units u;
  a->by_counter = false;
  if (l) {
    SCT_TRY(local_units(a, l, &u));
  } else {
    SCT_TRY(output_units(a, op, &u));
  }
  const bool whole = l && !l->is_array && l->lanes == 1;
  const bool by_counter = a->by_counter;
  if (sct_assign_at(a, "=")) {
    a->k++;
    SCT_TRY(sct_assign_one(a, out));
    sct_assign_set(a, u);
    a->counted |= by_counter ? sct_assign_bits(a, u) : 0;
    const flow value = *out;
    *out = plain(a);
    if (whole && !l->is_const) {
      l->known = l->counts = false;
      if (sct_assign_holds(l, &value)) {
        *out = constant(a->now, value.value, l->is_unsigned);
      }
    }
    return SCT_OK;
  }
  SCT_TRY(sct_assign_read(a, u, at, l));
  *out = plain(a);
  const bool steps =
      sct_assign_at(a, "++") || sct_assign_at(a, "--") ||
      (at > 0 && (sct_token_is(&a->t[at - 1], "++") || sct_token_is(&a->t[at - 1], "--") ||
                  sct_token_is(&a->t[at - 1], "&")));
  if (l && !l->is_const && (steps || at_assignment(a))) {
    l->known = l->counts = false;
  }
  if (at_assignment(a)) {
    a->k++;
    SCT_TRY(sct_assign_one(a, out));
    *out = plain(a);
  } else if (whole && l->known) {
    *out = constant(a->now, l->value, l->is_unsigned);
  }
  return SCT_OK;
}

static sct_status belongs_elsewhere(assign *a, const token *t, const sct_operand *op) {
  return op->is_inout
             ? sct_spec_fail_body(a->spec, a->err, t->text,
                                  "'%s' is updated in place by step %d, so this step would "
                                  "find it changed; use it there or before, or give what "
                                  "follows from it to an output of that step",
                                  op->name, op->step + 1)
             : sct_spec_fail_body(a->spec, a->err, t->text,
                                  "output '%s' belongs to another step; a step reads "
                                  "inputs and the values of steps before it",
                                  op->name);
}

static sct_status name(assign *a, flow *out) {
  const token *t = &a->t[a->k];
  int tap = -1;
  local *l = sct_assign_find(a, t);
  const int op = l ? -1 : sct_spec_find_value(a->spec, t->text, t->len, &tap);
  const sct_value *value = l || op >= 0 ? NULL : sct_spec_find_step_value(a->spec, t->text, t->len);
  *out = plain(a);
  const bool is_output = op >= 0 && a->spec->operands[op].is_output;
  const bool is_old = is_output && sct_spec_is_old_value(a->spec, op);
  if (is_output && !is_old && !sct_spec_is_of_step(a->spec, op)) {
    return belongs_elsewhere(a, t, &a->spec->operands[op]);
  }
  if (l || (is_output && !is_old) || (value && value->step == a->spec->step)) {
    return place(a, op, l, out);
  }
  if (sct_token_is(t, "keep")) { /* "keep(o)", as was checked before: o has its value */
    sct_assign_set(a, sct_assign_output(a, sct_spec_find_operand(a->spec, t[2].text, t[2].len)));
    a->k += 4;
    *out = plain(a);
    return SCT_OK;
  }
  const word_kind word = sct_spec_word(t->text, t->len);
  if (word == WORD_FUNCTION && sct_token_is(t + 1, "(")) {
    a->k += 2;
    SCT_TRY(sct_assign_arguments(a, ")"));
  } else if (sct_token_is(t, "true") || sct_token_is(t, "false")) {
    a->k++;
    *out = constant(a->now, sct_token_is(t, "true"), false);
    return SCT_OK;
  } else if (sct_token_is(t, "sizeof")) { /* reads nothing */
    const bool brackets = sct_token_is(t + 1, "(");
    a->k += 2;
    SCT_TRY(brackets ? skip_to(a, ")") : SCT_OK);
  } else if (sct_token_is(t, "static_cast") && sct_token_is(t + 1, "<")) {
    a->k += 2;
    SCT_TRY(skip_to(a, ">"));
    SCT_TRY(sct_assign_expect(a, "("));
    SCT_TRY(sct_assign_arguments(a, ")"));
  } else if (word == WORD_TYPE) {
    while (sct_assign_at_type(a, a->k)) {
      a->k++;
    }
    const bool braces = sct_assign_at(a, "{");
    SCT_TRY(braces ? sct_assign_expect(a, "{") : sct_assign_expect(a, "("));
    SCT_TRY(sct_assign_arguments(a, braces ? "}" : ")"));
  } else if (word != WORD_NONE) {
    return sct_assign_unexpected(a);
  } else if (op < 0 && !value && sct_spec_find_dim(a->spec, t->text, t->len) < 0 &&
             !sct_spec_is_scalar(a->spec, t) && !sct_spec_is_extent(a->spec, t)) {
    return sct_spec_fail_body(a->spec, a->err, t->text,
                              "'%.*s' is not declared here: its declaration follows, or its "
                              "block has ended",
                              (int)t->len, t->text);
  } else {
    a->k++;
    SCT_TRY(input_element(a, op));
  }
  skip_members(a);
  *out = plain(a);
  return SCT_OK;
}

/* ---- from primaries up ---- */

/* "(float *)": nothing but a type between the brackets. */
static bool at_cast(const assign *a) {
  int k = a->k + 1;
  if (!sct_assign_at_type(a, k)) {
    return false;
  }
  while (sct_assign_at_type(a, k) || sct_token_is(&a->t[k], "*") || sct_token_is(&a->t[k], "&")) {
    k++;
  }
  return sct_token_is(&a->t[k], ")");
}

static sct_status unary(assign *a, flow *out);

static sct_status primary(assign *a, flow *out) {
  if (a->t[a->k].kind == TOKEN_NUMBER) {
    *out = number(a, &a->t[a->k++]);
    return SCT_OK;
  }
  if (a->t[a->k].kind == TOKEN_NAME) {
    return name(a, out);
  }
  if (!sct_assign_at(a, "(")) {
    return sct_assign_unexpected(a);
  }
  if (at_cast(a)) {
    a->k++;
    SCT_TRY(skip_to(a, ")"));
    SCT_TRY(sct_assign_at(a, "{") ? sct_assign_init(a, out) : unary(a, out));
    a->now = out->yes & out->no;
    *out = plain(a);
    return SCT_OK;
  }
  a->k++;
  SCT_TRY(sct_assign_expression(a, out));
  return sct_assign_expect(a, ")");
}

static sct_status postfix(assign *a, flow *out) {
  SCT_TRY(primary(a, out));
  for (;;) {
    if (sct_assign_at(a, "[")) {
      a->k++;
      SCT_TRY(sct_assign_expression(a, out));
      SCT_TRY(sct_assign_expect(a, "]"));
    } else if (sct_assign_at(a, "++") || sct_assign_at(a, "--")) {
      a->k++;
    } else if (sct_assign_at(a, ".") && a->t[a->k + 1].kind == TOKEN_NAME) {
      a->k += 2;
    } else {
      return SCT_OK;
    }
    *out = plain(a);
  }
}

static sct_status unary(assign *a, flow *out) {
  static const char *const ops[] = {"!", "-", "+", "~", "*", "&", "++", "--"};
  int op = 0;
  while (op < SCT_COUNT(ops) && !sct_assign_at(a, ops[op])) {
    op++;
  }
  if (op == SCT_COUNT(ops)) {
    return postfix(a, out);
  }
  SCT_TRY(sct_assign_enter(a));
  a->k++;
  SCT_TRY(unary(a, out));
  a->depth--;
  const flow of = *out;
  const bool negates = ops[op][0] == '-' && ops[op][1] == '\0' && of.known && !of.is_unsigned;
  *out = plain(a);
  if (ops[op][0] == '!') {
    *out = (flow){.yes = of.no, .no = of.yes, .known = of.known, .value = of.value == 0};
  } else if (negates) {
    *out = constant(a->now, -of.value, false);
  }
  return SCT_OK;
}

static sct_status binary(assign *a, int level, flow *out) {
  SCT_TRY(unary(a, out));
  for (;;) {
    const binary_op *op = binary_at(a);
    if (!op || op->level < level) {
      a->now = out->yes & out->no;
      return SCT_OK;
    }
    const flow left = *out;
    a->k++;
    a->now = op->kind == OP_AND ? left.yes : op->kind == OP_OR ? left.no : left.yes & left.no;
    flow right;
    SCT_TRY(binary(a, op->level + 1, &right));
    *out = joined(op, &left, &right);
  }
}

static sct_status conditional(assign *a, flow *out) {
  const int first = a->k;
  const int prior = a->gap;
  SCT_TRY(binary(a, 1, out));
  if (!sct_assign_at(a, "?")) {
    return SCT_OK;
  }
  const gap g = {.first = first, .end = a->k, .at = first, .prior = prior};
  const flow test = *out;
  flow yes, no;
  a->k++;
  a->now = test.yes;
  SCT_TRY(sct_assign_expression(a, &yes));
  const int yes_gap = a->gap;
  SCT_TRY(sct_assign_expect(a, ":"));
  a->now = test.no;
  a->gap = prior;
  SCT_TRY(sct_assign_one(a, &no));
  sct_gap_branches(a, g, yes.yes & yes.no, yes_gap, no.yes & no.no, a->gap, true);
  *out = (flow){.yes = yes.yes & no.yes, .no = yes.no & no.no};
  a->now = out->yes & out->no;
  return SCT_OK;
}

sct_status sct_assign_case(assign *a) {
  flow value;
  return conditional(a, &value);
}

sct_status sct_assign_one(assign *a, flow *out) {
  SCT_TRY(sct_assign_enter(a));
  SCT_TRY(conditional(a, out));
  if (at_assignment(a)) { /* "*p = k": what has no unit of its own */
    a->k++;
    SCT_TRY(sct_assign_one(a, out));
    *out = plain(a);
  }
  a->depth--;
  a->now = out->yes & out->no;
  return SCT_OK;
}

sct_status sct_assign_expression(assign *a, flow *out) {
  SCT_TRY(sct_assign_one(a, out));
  while (sct_assign_at(a, ",")) {
    a->k++;
    SCT_TRY(sct_assign_one(a, out));
  }
  return SCT_OK;
}

sct_status sct_assign_init(assign *a, flow *out) {
  if (!sct_assign_at(a, "{")) {
    return sct_assign_one(a, out);
  }
  SCT_TRY(sct_assign_enter(a));
  a->k++;
  SCT_TRY(sct_assign_arguments(a, "}"));
  a->depth--;
  *out = plain(a);
  return SCT_OK;
}

sct_status sct_assign_arguments(assign *a, const char *close) {
  flow value;
  while (!sct_assign_at(a, close)) {
    SCT_TRY(sct_assign_init(a, &value));
    if (!sct_assign_at(a, ",")) {
      break;
    }
    a->k++;
  }
  return sct_assign_expect(a, close);
}
