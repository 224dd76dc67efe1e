/* Statements: which paths there are, and what each has assigned. */
#include <stdlib.h>
#include <string.h>

#include "spec/spec_assign.h"

/* ---- declarations ---- */

typedef struct base_type {
  int lanes;
  bool is_integer, is_unsigned, is_const;
} base_type;

static int lanes_of(const token *t) {
  for (int k = 0; k < SCT_N_TYPES; k++) {
    const sct_type_info *type = sct_type_get((sct_type)k);
    if (sct_token_is(t, type->cuda)) {
      return type->lanes;
    }
  }
  return 1;
}

static base_type read_type(assign *a) {
  base_type type = {.lanes = 1, .is_integer = true};
  for (; sct_assign_at_type(a, a->k); a->k++) {
    const token *t = &a->t[a->k];
    if (sct_token_is(t, "const")) {
      type.is_const = true;
      continue;
    }
    const char *spelling = sct_spec_spelling(t->text, t->len);
    type.is_unsigned = type.is_unsigned || sct_token_is(t, "unsigned") ||
                       (spelling && sct_has_prefix(spelling, "unsigned"));
    type.is_integer =
        type.is_integer && (sct_token_is(t, "unsigned") || sct_token_is(t, "int") ||
                            sct_token_is(t, "long") || sct_token_is(t, "short") ||
                            sct_token_is(t, "signed") || (spelling && !strstr(spelling, "char")));
    type.lanes = lanes_of(t) > 1 ? lanes_of(t) : type.lanes;
  }
  return type;
}

/* "[4][2]" after the name; one unit for each element of a short array of one dimension. */
static sct_status read_extents(assign *a, local *l) {
  enum { MAX_ELEMENTS = 64 };
  int n_dims = 0;
  int64_t length = 0;
  for (; sct_assign_at(a, "["); n_dims++) {
    flow extent = {0};
    a->k++;
    if (!sct_assign_at(a, "]")) {
      SCT_TRY(sct_assign_expression(a, &extent));
    }
    length = extent.known ? extent.value : 0;
    SCT_TRY(sct_assign_expect(a, "]"));
  }
  l->is_array = n_dims > 0;
  if (l->is_array) {
    l->by_element = n_dims == 1 && length > 0 && length <= MAX_ELEMENTS;
    l->units.n = l->by_element ? (int)length : 1;
    l->lanes = 1;
  }
  return SCT_OK;
}

static sct_status declarator(assign *a, const base_type *type) {
  bool pointer = false;
  while (sct_assign_at(a, "*") || sct_assign_at(a, "&") || sct_assign_at(a, "&&") ||
         sct_assign_at(a, "const")) {
    pointer = pointer || !sct_assign_at(a, "const");
    a->k++;
  }
  if (a->t[a->k].kind != TOKEN_NAME || a->n_locals == ASSIGN_MAX_LOCALS) {
    return sct_assign_unexpected(a);
  }
  local *l = &a->locals[a->n_locals++];
  *l = (local){.name = &a->t[a->k++],
               .lanes = pointer ? 1 : type->lanes,
               .is_integer = type->is_integer && !pointer,
               .is_unsigned = type->is_unsigned,
               .is_const = type->is_const && !pointer};
  l->units = (units){a->n_units, l->lanes};
  SCT_TRY(read_extents(a, l));
  a->n_units += l->units.n;
  a->now &= ~sct_assign_bits(a, l->units);
  flow value = {0};
  if (sct_assign_at(a, "=") || sct_assign_at(a, "{")) {
    a->k += sct_assign_at(a, "=");
    SCT_TRY(sct_assign_init(a, &value));
  } else if (sct_assign_at(a, "(")) {
    a->k++;
    SCT_TRY(sct_assign_arguments(a, ")"));
  } else {
    return SCT_OK;
  }
  sct_assign_set(a, l->units);
  if (sct_assign_holds(l, &value)) {
    l->known = true;
    l->value = value.value;
  }
  return SCT_OK;
}

/* Up to what ends it: `;`, or in the head of a statement `)` or `:`. */
static sct_status declaration(assign *a) {
  const base_type type = read_type(a);
  SCT_TRY(declarator(a, &type));
  while (sct_assign_at(a, ",")) {
    a->k++;
    SCT_TRY(declarator(a, &type));
  }
  return SCT_OK;
}

static bool at_declaration(const assign *a) {
  int k = a->k;
  while (sct_assign_at_type(a, k)) {
    k++;
  }
  return k > a->k && !sct_token_is(&a->t[k], "(") && !sct_token_is(&a->t[k], "{");
}

/* What variables hold is known no longer. */
static void forget_values(assign *a) {
  for (int k = 0; k < a->n_locals; k++) {
    a->locals[k].known = a->locals[k].known && a->locals[k].is_const;
  }
}

/* ---- the heads of statements ---- */

/* "(x > 0)", "(int n = 3; n > x)"; `first` and `end` receive the condition's tokens. */
static sct_status condition(assign *a, flow *out, int *first, int *end) {
  SCT_TRY(sct_assign_expect(a, "("));
  for (int part = 0; part < 2; part++) {
    *first = a->k;
    if (at_declaration(a)) {
      SCT_TRY(declaration(a));
      *out = (flow){.yes = a->now, .no = a->now};
    } else {
      SCT_TRY(sct_assign_expression(a, out));
    }
    *end = a->k;
    if (!sct_assign_at(a, ";")) {
      break;
    }
    a->k++;
    forget_values(a);
  }
  forget_values(a);
  return sct_assign_expect(a, ")");
}

/* A statement in a scope of its own. */
static sct_status inner(assign *a) {
  const int outside = a->n_locals;
  SCT_TRY(sct_assign_statement(a));
  a->n_locals = outside;
  return SCT_OK;
}

static sct_status if_statement(assign *a) {
  const int at = a->k++;
  const int prior = a->gap;
  gap g = {.at = at, .prior = prior};
  flow test;
  SCT_TRY(condition(a, &test, &g.first, &g.end));
  a->now = test.yes;
  SCT_TRY(inner(a));
  const unit_set yes = a->now;
  const int yes_gap = a->gap;
  const bool has_else = sct_assign_at(a, "else");
  a->now = test.no;
  a->gap = prior;
  if (has_else) {
    a->k++;
    SCT_TRY(inner(a));
  }
  sct_gap_branches(a, g, yes, yes_gap, a->now, a->gap, has_else);
  a->now &= yes;
  return SCT_OK;
}

/* ---- loops ---- */

/* What is assigned where a loop ends early: elements that it counts through are not. */
static unit_set without_counted(const assign *a, const target *t) {
  return a->now & ~(a->counted & ~t->entry);
}

/* The body of a loop that is entered with a->now; leaves what every iteration ends with. */
static sct_status iteration(assign *a, target *t) {
  *t = (target){.outer = a->target,
                .entry = a->now,
                .breaks = UNITS_ALL,
                .continues = UNITS_ALL,
                .break_gap = a->gap,
                .continue_gap = a->gap};
  a->target = t;
  SCT_TRY(inner(a));
  a->target = t->outer;
  if (sct_gap_lacks(a, t->continues)) {
    a->gap = t->continue_gap;
  }
  a->now &= t->continues;
  return SCT_OK;
}

/* After a loop: it ended before its first iteration (`none`), after one, or by a break. */
static void leave_loop(assign *a, gap g, unit_set none, unit_set after, const target *t) {
  if (sct_gap_lacks(a, none)) {
    g.kind = GAP_NO_ITERATION;
    g.inner = g.prior;
    a->gap = sct_gap_new(a, g);
  } else if (sct_gap_lacks(a, t->breaks)) {
    a->gap = t->break_gap;
  }
  a->now = none & after & t->breaks;
}

static sct_status while_statement(assign *a) {
  gap g = {.at = a->k++, .prior = a->gap};
  flow test;
  target t;
  SCT_TRY(condition(a, &test, &g.first, &g.end));
  a->now = test.yes;
  SCT_TRY(iteration(a, &t));
  leave_loop(a, g, test.no, UNITS_ALL, &t);
  return SCT_OK;
}

static sct_status do_statement(assign *a) {
  gap g = {.at = a->k++, .prior = a->gap};
  flow test;
  target t;
  SCT_TRY(iteration(a, &t));
  if (!sct_assign_at(a, "while")) {
    return sct_assign_expect(a, "while");
  }
  a->k++;
  SCT_TRY(condition(a, &test, &g.first, &g.end));
  leave_loop(a, g, UNITS_ALL, test.no, &t);
  return sct_assign_expect(a, ";");
}

static sct_status condition_or_true(assign *a, const char *end, flow *test) {
  *test = (flow){.yes = a->now, .no = UNITS_ALL, .known = true, .value = 1};
  return sct_assign_at(a, end) ? SCT_OK : sct_assign_expression(a, test);
}

static void skip_brackets(assign *a) {
  for (int depth = 0; a->t[a->k].kind != TOKEN_END; a->k++) {
    if (depth == 0 && sct_assign_at(a, ")")) {
      return;
    }
    depth += strchr("([{", a->t[a->k].text[0]) ? 1 : strchr(")]}", a->t[a->k].text[0]) ? -1 : 0;
  }
}

/* After the `:` of "for (float x : v)"; an array has elements. */
static sct_status range_statement(assign *a, gap g) {
  flow range;
  target t;
  a->k++;
  SCT_TRY(sct_assign_init(a, &range));
  sct_assign_set(a, a->locals[a->n_locals - 1].units);
  SCT_TRY(sct_assign_expect(a, ")"));
  SCT_TRY(iteration(a, &t));
  leave_loop(a, g, UNITS_ALL, a->now, &t);
  return SCT_OK;
}

/* Of "n < 19; n++": the variable that counts from what it is known to start with. */
static local *counted(assign *a, int test) {
  const token *t = &a->t[test];
  local *l = sct_assign_find(a, &t[0]);
  const bool up_to = sct_token_is(&t[1], "<="), below = sct_token_is(&t[1], "<");
  const token *step = &t[4];
  const bool counts = (sct_token_is(&step[0], "++") && sct_assign_find(a, &step[1]) == l) ||
                      (sct_token_is(&step[1], "++") && sct_assign_find(a, &step[0]) == l);
  if (!l || !l->known || !(up_to || below) || !sct_token_is(&t[3], ";") || !counts ||
      !sct_token_is(&step[2], ")")) {
    return NULL;
  }
  const local *end = sct_assign_find(a, &t[2]);
  int64_t high = end && end->known && end->is_const ? end->value : -1;
  high = t[2].kind == TOKEN_NUMBER ? strtoll(t[2].text, NULL, 0) : high;
  l->low = l->value;
  l->high = high - below;
  return l->high >= l->low ? l : NULL;
}

/* What `for` starts with is known in its first test: of `int i = 0; i < 4` that there is an
 * iteration. */
static sct_status for_statement(assign *a) {
  gap g = {.at = a->k++, .prior = a->gap};
  flow value, first, later;
  target t;
  SCT_TRY(sct_assign_expect(a, "("));
  if (at_declaration(a)) {
    SCT_TRY(declaration(a));
    if (sct_assign_at(a, ":")) {
      return range_statement(a, g);
    }
  } else if (!sct_assign_at(a, ";")) {
    local *l = sct_assign_find(a, &a->t[a->k]);
    const bool sets = l && sct_token_is(&a->t[a->k + 1], "=");
    SCT_TRY(sct_assign_one(a, &value));
    if (sets && sct_assign_at(a, ";") && sct_assign_holds(l, &value)) {
      l->known = true;
      l->value = value.value;
    }
    while (sct_assign_at(a, ",")) {
      a->k++;
      SCT_TRY(sct_assign_one(a, &value));
    }
  }
  SCT_TRY(sct_assign_expect(a, ";"));
  g.first = a->k;
  local *counter = counted(a, g.first);
  SCT_TRY(condition_or_true(a, ";", &first));
  g.end = a->k;
  forget_values(a);
  SCT_TRY(sct_assign_expect(a, ";"));
  const int step = a->k;
  skip_brackets(a);
  SCT_TRY(sct_assign_expect(a, ")"));
  a->now = first.yes;
  const unit_set counted_before = a->counted;
  if (counter) {
    counter->counts = true;
    a->counted = 0;
  }
  SCT_TRY(iteration(a, &t));
  if (counter && !counter->counts) { /* the body assigns it: what it counts is not known */
    a->now = without_counted(a, &t);
  }
  a->counted |= counted_before;
  const int end = a->k;
  a->k = step;
  if (!sct_assign_at(a, ")")) {
    SCT_TRY(sct_assign_expression(a, &value));
  }
  a->k = g.first;
  SCT_TRY(condition_or_true(a, ";", &later));
  a->k = end;
  leave_loop(a, g, first.no, later.no, &t);
  if (counter) {
    counter->counts = false;
  }
  return SCT_OK;
}

/* ---- switch, break, continue ---- */

static sct_status switch_statement(assign *a) {
  gap g = {.at = a->k++, .prior = a->gap};
  flow value;
  SCT_TRY(condition(a, &value, &g.first, &g.end));
  target t = {.outer = a->target,
              .is_switch = true,
              .entry = a->now,
              .entry_gap = a->gap,
              .breaks = UNITS_ALL,
              .break_gap = a->gap};
  a->target = &t;
  a->now = UNITS_ALL;
  SCT_TRY(inner(a));
  a->target = t.outer;
  if (!t.has_default && sct_gap_lacks(a, t.entry)) {
    g.kind = GAP_NO_CASE;
    g.inner = g.prior;
    a->gap = sct_gap_new(a, g);
  } else if (sct_gap_lacks(a, t.breaks)) {
    a->gap = t.break_gap;
  } else if (sct_gap_lacks(a, a->now)) {
    g.kind = GAP_LAST_CASE;
    g.inner = a->gap;
    a->gap = sct_gap_new(a, g);
  }
  a->now &= t.breaks & (t.has_default ? UNITS_ALL : t.entry);
  return SCT_OK;
}

static sct_status label(assign *a) {
  target *t = a->target;
  const bool is_default = sct_assign_at(a, "default");
  if (!t || !t->is_switch) {
    return sct_assign_unexpected(a);
  }
  a->k++;
  if (is_default) {
    t->has_default = true;
  } else {
    SCT_TRY(sct_assign_case(a));
  }
  SCT_TRY(sct_assign_expect(a, ":"));
  a->gap = a->now == UNITS_ALL ? t->entry_gap : a->gap;
  a->now &= t->entry;
  return SCT_OK;
}

static sct_status jump(assign *a) {
  const bool breaks = sct_assign_at(a, "break");
  target *t = a->target;
  while (t && t->is_switch && !breaks) {
    t = t->outer;
  }
  if (!t) {
    return sct_spec_fail_body(a->spec, a->err, a->t[a->k].text,
                              breaks ? "`break` stands in no loop and no switch of the body"
                                     : "`continue` stands in no loop of the body");
  }
  unit_set *state = breaks ? &t->breaks : &t->continues;
  a->now = breaks && !t->is_switch ? without_counted(a, t) : a->now;
  if (sct_gap_lacks(a, a->now) && !sct_gap_lacks(a, *state)) {
    const gap g = {
        .kind = breaks ? GAP_BREAK : GAP_CONTINUE, .at = a->k, .prior = a->gap, .inner = a->gap};
    *(breaks ? &t->break_gap : &t->continue_gap) = sct_gap_new(a, g);
  }
  *state &= a->now;
  a->now = UNITS_ALL;
  a->k++;
  return sct_assign_expect(a, ";");
}

/* ---- statements ---- */

static sct_status block(assign *a) {
  const int outside = a->n_locals;
  a->k++;
  while (!sct_assign_at(a, "}") && a->t[a->k].kind != TOKEN_END) {
    SCT_TRY(sct_assign_statement(a));
  }
  a->n_locals = outside;
  return sct_assign_expect(a, "}");
}

static sct_status simple(assign *a) {
  flow value;
  if (at_declaration(a)) {
    SCT_TRY(declaration(a));
  } else if (!sct_assign_at(a, ";")) {
    SCT_TRY(sct_assign_expression(a, &value));
  }
  forget_values(a);
  return sct_assign_expect(a, ";");
}

sct_status sct_assign_statement(assign *a) {
  static const struct {
    const char *word;
    sct_status (*read)(assign *a);
    bool scope; /* names of its head end with it */
  } kinds[] = {
      {"{", block, false},          {"if", if_statement, true},
      {"for", for_statement, true}, {"while", while_statement, true},
      {"do", do_statement, false},  {"switch", switch_statement, true},
      {"case", label, false},       {"default", label, false},
      {"break", jump, false},       {"continue", jump, false},
  };
  const int outside = a->n_locals;
  int k = 0;
  while (k < SCT_COUNT(kinds) && !sct_assign_at(a, kinds[k].word)) {
    k++;
  }
  SCT_TRY(sct_assign_enter(a));
  SCT_TRY(k < SCT_COUNT(kinds) ? kinds[k].read(a) : simple(a));
  a->depth--;
  if (k < SCT_COUNT(kinds) && kinds[k].scope) {
    a->n_locals = outside;
  }
  return SCT_OK;
}
