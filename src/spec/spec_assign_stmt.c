/* Statements: which paths there are, and what each has assigned. */
#include <stdlib.h>

#include "spec/spec_assign.h"

/* ---- declarations ---- */

/* One unit for each element of a short array of one dimension, for each component of a vector. */
static sct_status declare(assign *a, const node *n) {
  enum { MAX_UNITS = 64 };
  const local *l = &a->tree->locals[n->local];
  variable *v = &a->variables[n->local];
  flow extent = {0};
  *v = (variable){
      .units = {a->n_units, l->lanes, 1}, .lanes = l->lanes, .is_array = n->kid[0] != NULL};
  for (const node *e = n->kid[0]; e; e = e->next) {
    extent = (flow){0};
    SCT_TRY(e->kind == NODE_EMPTY ? SCT_OK : sct_assign_value(a, e, &extent));
  }
  const int64_t length = extent.known ? extent.value : 0;
  v->by_element = v->is_array && !n->kid[0]->next && length > 0 && length <= MAX_UNITS / v->lanes;
  v->lanes = v->is_array && !v->by_element ? 1 : v->lanes;
  v->units = (units){a->n_units, v->by_element ? (int)length * v->lanes : v->lanes, 1};
  a->n_units += v->units.n;
  a->now &= ~sct_assign_bits(a, v->units);
  if (n->kid[1]) {
    flow value;
    SCT_TRY(sct_assign_value(a, n->kid[1], &value));
    sct_assign_set(a, v->units);
    v->known = sct_assign_holds(a, n->local, &value);
    v->value = value.value;
  }
  return SCT_OK;
}

static sct_status declaration(assign *a, const node *n) {
  for (const node *d = n->kid[0]; d; d = d->next) {
    SCT_TRY(declare(a, d));
  }
  return SCT_OK;
}

/* What variables hold is known no longer. */
static void forget_values(assign *a) {
  for (int k = 0; k < a->tree->n_locals; k++) {
    a->variables[k].known = a->variables[k].known && a->tree->locals[k].is_const;
  }
}

/* ---- the heads of statements ---- */

/* An expression, a declaration, or nothing, which is true. */
static sct_status head(assign *a, const node *n, flow *out) {
  if (n->kind == NODE_EMPTY) {
    *out = (flow){.yes = a->now, .no = UNITS_ALL, .known = true, .value = 1};
  } else if (n->kind == NODE_DECLARATION) {
    SCT_TRY(declaration(a, n));
    *out = (flow){.yes = a->now, .no = a->now};
  } else {
    SCT_TRY(sct_assign_value(a, n, out));
  }
  return SCT_OK;
}

/* "(x > 0)", "(int n = 3; n > x)"; `g` receives the condition's tokens. */
static sct_status condition(assign *a, const node *list, flow *out, gap *g) {
  for (const node *n = list; n; n = n->next) {
    SCT_TRY(head(a, n, out));
    forget_values(a);
    g->first = n->first;
    g->end = n->end;
  }
  return SCT_OK;
}

static sct_status statement(assign *a, const node *n);

static sct_status if_statement(assign *a, const node *n) {
  const int prior = a->gap;
  gap g = {.at = n->at, .prior = prior};
  flow test;
  SCT_TRY(condition(a, n->kid[0], &test, &g));
  a->now = test.yes;
  SCT_TRY(statement(a, n->kid[1]));
  const unit_set yes = a->now;
  const int yes_gap = a->gap;
  a->now = test.no;
  a->gap = prior;
  SCT_TRY(n->kid[2] ? statement(a, n->kid[2]) : SCT_OK);
  sct_gap_branches(a, g, yes, yes_gap, a->now, a->gap, n->kid[2] != NULL);
  a->now &= yes;
  return SCT_OK;
}

/* ---- loops ---- */

/* What is assigned where a loop ends early: elements that it counts through are not. */
static unit_set without_counted(const assign *a, const target *t) {
  return a->now & ~(a->counted & ~t->entry);
}

/* The body of a loop that is entered with a->now; leaves what every iteration ends with. */
static sct_status iteration(assign *a, const node *body, target *t) {
  *t = (target){.outer = a->target,
                .entry = a->now,
                .breaks = UNITS_ALL,
                .continues = UNITS_ALL,
                .break_gap = a->gap,
                .continue_gap = a->gap};
  a->target = t;
  SCT_TRY(statement(a, body));
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

static sct_status while_statement(assign *a, const node *n) {
  gap g = {.at = n->at, .prior = a->gap};
  flow test;
  target t;
  SCT_TRY(condition(a, n->kid[0], &test, &g));
  a->now = test.yes;
  SCT_TRY(iteration(a, n->kid[1], &t));
  leave_loop(a, g, test.no, UNITS_ALL, &t);
  return SCT_OK;
}

static sct_status do_statement(assign *a, const node *n) {
  gap g = {.at = n->at, .prior = a->gap};
  flow test;
  target t;
  SCT_TRY(iteration(a, n->kid[1], &t));
  SCT_TRY(condition(a, n->kid[0], &test, &g));
  leave_loop(a, g, UNITS_ALL, test.no, &t);
  return SCT_OK;
}

/* "for (float x : v)"; an array has elements. */
static sct_status range_statement(assign *a, const node *n) {
  const gap g = {.at = n->at, .prior = a->gap};
  flow range;
  target t;
  SCT_TRY(declaration(a, n->kid[0]));
  SCT_TRY(sct_assign_value(a, n->kid[1], &range));
  for (const node *d = n->kid[0]->kid[0]; d; d = d->next) {
    sct_assign_set(a, a->variables[d->local].units);
  }
  SCT_TRY(iteration(a, n->kid[2], &t));
  leave_loop(a, g, UNITS_ALL, a->now, &t);
  return SCT_OK;
}

/* Of "n < 19; n++": the variable that counts from what it is known to start with. */
static variable *counted(assign *a, const node *test, const node *step) {
  const bool below = sct_node_is(a->tree, test, "<");
  const bool compares = test->kind == NODE_BINARY && (below || sct_node_is(a->tree, test, "<="));
  const node *name = compares ? test->kid[0] : NULL, *last = name ? name->next : NULL;
  variable *v = name ? sct_assign_variable(a, name) : NULL;
  const bool steps = (step->kind == NODE_UNARY && sct_node_is(a->tree, step, "++")) ||
                     (step->kind == NODE_POSTFIX && sct_node_is(a->tree, step->kid[1], "++") &&
                      !step->kid[1]->next);
  if (!v || !v->known || last->next || !steps || sct_assign_variable(a, step->kid[0]) != v) {
    return NULL;
  }
  const variable *end = sct_assign_variable(a, last);
  int64_t high = end && end->known && a->tree->locals[last->local].is_const ? end->value : -1;
  high = last->kind == NODE_NUMBER ? strtoll(a->t[last->first].text, NULL, 0) : high;
  v->low = v->value;
  v->high = high - below;
  return v->high >= v->low ? v : NULL;
}

/* What `for` starts with is known in its first test: of `int i = 0; i < 4` that there is an
 * iteration. */
static sct_status for_statement(assign *a, const node *n) {
  const node *begin = n->kid[0], *test = n->kid[1], *step = n->kid[2];
  gap g = {.at = n->at, .prior = a->gap, .first = test->first, .end = test->end};
  flow value, first, later;
  target t;
  SCT_TRY(head(a, begin, &value));
  const bool sets = begin->kind == NODE_ASSIGN && sct_node_is(a->tree, begin, "=");
  variable *set = sets ? sct_assign_variable(a, begin->kid[0]) : NULL;
  if (set && sct_assign_holds(a, begin->kid[0]->local, &value)) {
    set->known = true;
    set->value = value.value;
  }
  variable *counter = counted(a, test, step);
  SCT_TRY(head(a, test, &first));
  forget_values(a);
  a->now = first.yes;
  const unit_set counted_before = a->counted;
  if (counter) {
    counter->counts = true;
    a->counted = 0;
  }
  SCT_TRY(iteration(a, n->kid[3], &t));
  if (counter && !counter->counts) { /* the body assigns it: what it counts is not known */
    a->now = without_counted(a, &t);
  }
  a->counted |= counted_before;
  SCT_TRY(head(a, step, &value));
  SCT_TRY(head(a, test, &later));
  leave_loop(a, g, first.no, later.no, &t);
  if (counter) {
    counter->counts = false;
  }
  return SCT_OK;
}

/* ---- switch, break, continue ---- */

static sct_status switch_statement(assign *a, const node *n) {
  gap g = {.at = n->at, .prior = a->gap};
  flow value;
  SCT_TRY(condition(a, n->kid[0], &value, &g));
  target t = {.outer = a->target,
              .is_switch = true,
              .entry = a->now,
              .entry_gap = a->gap,
              .breaks = UNITS_ALL,
              .break_gap = a->gap};
  a->target = &t;
  a->now = UNITS_ALL;
  SCT_TRY(statement(a, n->kid[1]));
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

static sct_status label(assign *a, const node *n) {
  target *t = a->target;
  if (!t || !t->is_switch) {
    return sct_parse_unexpected(a->spec, &a->t[n->first], a->err);
  }
  t->has_default = t->has_default || !n->kid[0];
  SCT_TRY(sct_assign_values(a, n->kid[0]));
  a->gap = a->now == UNITS_ALL ? t->entry_gap : a->gap;
  a->now &= t->entry;
  return SCT_OK;
}

static sct_status jump(assign *a, const node *n) {
  const bool breaks = sct_node_is(a->tree, n, "break");
  target *t = a->target;
  while (t && t->is_switch && !breaks) {
    t = t->outer;
  }
  if (!t) {
    return sct_spec_fail_body(a->spec, a->err, a->t[n->first].text,
                              breaks ? "`break` outside of a loop or switch"
                                     : "`continue` outside of a loop");
  }
  unit_set *state = breaks ? &t->breaks : &t->continues;
  a->now = breaks && !t->is_switch ? without_counted(a, t) : a->now;
  if (sct_gap_lacks(a, a->now) && !sct_gap_lacks(a, *state)) {
    const gap g = {
        .kind = breaks ? GAP_BREAK : GAP_CONTINUE, .at = n->at, .prior = a->gap, .inner = a->gap};
    *(breaks ? &t->break_gap : &t->continue_gap) = sct_gap_new(a, g);
  }
  *state &= a->now;
  a->now = UNITS_ALL;
  return SCT_OK;
}

/* ---- statements ---- */

/* A declaration, an expression, nothing. */
static sct_status simple(assign *a, const node *n) {
  flow value;
  SCT_TRY(head(a, n->kind == NODE_EXPRESSION ? n->kid[0] : n, &value));
  forget_values(a);
  return SCT_OK;
}

static sct_status block(assign *a, const node *n) {
  return sct_assign_statements(a, n->kid[0]);
}

static sct_status keep(assign *a, const node *n) { /* the output has its value */
  sct_assign_set(a, sct_assign_output(a, n->m.op));
  return SCT_OK;
}

static sct_status statement(assign *a, const node *n) {
  static sct_status (*const kinds[])(assign * a, const node *n) = {[NODE_BLOCK] = block,
                                                                   [NODE_IF] = if_statement,
                                                                   [NODE_FOR] = for_statement,
                                                                   [NODE_RANGE] = range_statement,
                                                                   [NODE_DO] = do_statement,
                                                                   [NODE_WHILE] = while_statement,
                                                                   [NODE_SWITCH] = switch_statement,
                                                                   [NODE_LABEL] = label,
                                                                   [NODE_JUMP] = jump,
                                                                   [NODE_KEEP] = keep,
                                                                   [NODE_EXPRESSION] = simple,
                                                                   [NODE_DECLARATION] = simple,
                                                                   [NODE_EMPTY] = simple};
  return kinds[n->kind](a, n);
}

sct_status sct_assign_statements(assign *a, const node *list) {
  for (const node *n = list; n; n = n->next) {
    SCT_TRY(statement(a, n));
  }
  return SCT_OK;
}
