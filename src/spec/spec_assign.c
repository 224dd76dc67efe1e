/* Definite assignment, as Java and C# define it: on every path through the body each output is
 * assigned, and what is read was assigned before. Else a kernel stores what a register happened to
 * hold, and as the compiler may take any value for it, no run can be relied on to show it.
 *
 * The statements are parsed once for every 64 units (a component of an output or of a local
 * variable). A state is the set of units that every path so far has assigned; branches meet in the
 * intersection. A loop needs no second look: what was assigned before it stays so, and only a `for`
 * whose first test is known to hold has an iteration for sure. Addresses and references are read
 * like values, so whatever is reached through them has been assigned.
 *
 * The analysis stops at the first failure and runs once more for the unit alone, noting which
 * branches lack it (spec_assign_path.c). */
#include <assert.h>
#include <string.h>

#include "spec/spec_assign.h"

/* ---- units ---- */

unit_set sct_assign_bits(const assign *a, units u) {
  const int first = u.first > a->first_unit ? u.first - a->first_unit : 0;
  const int end = u.first + u.n - a->first_unit;
  if (end <= first || first >= 64) {
    return 0;
  }
  const unit_set up_to_end = end >= 64 ? UNITS_ALL : ((unit_set)1 << end) - 1;
  return up_to_end & ~(((unit_set)1 << first) - 1);
}

void sct_assign_set(assign *a, units u) {
  a->now |= sct_assign_bits(a, u);
  a->ever_assigned = a->ever_assigned || (a->watched >= u.first && a->watched < u.first + u.n);
}

static int first_lacking(const assign *a, units u) {
  const unit_set lacking = sct_assign_bits(a, u) & ~a->now;
  for (int k = 0; k < 64; k++) {
    if (lacking >> k & 1) {
      return a->first_unit + k;
    }
  }
  return -1;
}

local *sct_assign_find(assign *a, const token *t) {
  for (int k = a->n_locals - 1; k >= 0; k--) {
    const token *name = a->locals[k].name;
    if (name->len == t->len && strncmp(name->text, t->text, t->len) == 0) {
      return &a->locals[k];
    }
  }
  return NULL;
}

/* ---- errors ---- */

static const char lanes[] = "xyzw";

/* "t", "q.x", "v[2]" */
static void print_local(sct_str *out, const local *l, int unit) {
  sct_str_append_n(out, l->name->text, l->name->len);
  if (l->by_element) {
    sct_str_printf(out, "[%d]", unit - l->units.first);
  } else if (l->lanes > 1) {
    sct_str_printf(out, ".%c", lanes[unit - l->units.first]);
  }
}

bool sct_spec_is_of_step(const sct_spec *spec, int op) {
  return spec->n_steps == 0 || spec->operands[op].step == spec->step;
}

bool sct_spec_is_old_value(const sct_spec *spec, int op) {
  return spec->n_steps > 0 && spec->operands[op].is_inout && spec->operands[op].step < 0;
}

/* "o", "o.x", "o.pos.x"; the operand it belongs to, none for a step's value. */
static const sct_operand *print_output(sct_str *out, const assign *a, int unit) {
  const sct_spec *spec = a->spec;
  for (int k = 0, at = a->value_unit; k < spec->n_values; k++) {
    if (spec->values[k].step == spec->step && unit == at++) {
      sct_str_append(out, spec->values[k].name);
      return NULL;
    }
  }
  for (int op = spec->n_inputs; op < spec->n_operands; op++) {
    const sct_record *record = &spec->operands[op].record;
    for (int f = 0; f < record->n_fields && sct_spec_is_of_step(spec, op); f++) {
      const int lane = unit - a->output_unit[op][f];
      const int n = sct_type_get(record->fields[f].type)->lanes;
      if (lane < 0 || lane >= n) {
        continue;
      }
      const char *field = record->fields[f].name;
      sct_str_printf(out, "%s%s%s", spec->operands[op].name, *field ? "." : "", field);
      if (n > 1) {
        sct_str_printf(out, ".%c", lanes[lane]);
      }
      return &spec->operands[op];
    }
  }
  return NULL;
}

/* " when `a > 0` is false; add an `else` that assigns it" */
static void print_gap(sct_str *out, const assign *a, const char *otherwise) {
  const char *advice = sct_gap_advice(a);
  sct_gap_print_path(out, a);
  sct_str_printf(out, "; %s", advice ? advice : otherwise);
}

static sct_status fail_with(const assign *a, const char *at, sct_str *text) {
  sct_status status = sct_spec_fail_body(a->spec, a->err, at, "%s", sct_str_c(text));
  sct_str_free(text);
  return status;
}

static sct_status explain_read(const assign *a, int unit, int at, const local *l) {
  sct_str text = {0};
  if (l) {
    sct_str_append(&text, "'");
    print_local(&text, l, unit);
  } else {
    sct_str_append(&text, unit < a->value_unit ? "output '" : "value '");
    print_output(&text, a, unit);
  }
  if (a->gap < 0) {
    sct_str_append(&text, "' is read before it is assigned");
    if (!l && unit >= a->value_unit) {
      sct_str_append(&text, "; this step computes it");
    } else if (l) {
      sct_str_printf(&text, "; declare it with a value, as in `%.*s = 0`", (int)l->name->len,
                     l->name->text);
    } else {
      sct_str_append(&text, "; an array that is updated in place has inout = true");
    }
  } else {
    sct_str_append(&text, "' is read here but not assigned");
    print_gap(&text, a, "");
  }
  return fail_with(a, a->t[at].text, &text);
}

sct_status sct_assign_read(assign *a, units u, int at, const local *l) {
  const int unit = first_lacking(a, u);
  if (unit < 0 || (a->explains && unit != a->watched)) {
    return SCT_OK;
  }
  a->lacking = unit;
  return a->explains ? explain_read(a, unit, at, l) : SCT_ESPEC;
}

static sct_status explain_output(const assign *a) {
  sct_str text = {0};
  sct_str_append(&text, a->watched < a->value_unit ? "output " : "value ");
  const sct_operand *op = print_output(&text, a, a->watched);
  if (!a->ever_assigned) {
    sct_str_append(&text, " is never assigned");
    if (op && op->record.n_fields > 1 && op->reduce == SCT_REDUCE_NONE &&
        op->scan == SCT_REDUCE_NONE && op->accumulate == SCT_REDUCE_NONE) {
      sct_str_append(&text, "; what stays as it was belongs to an output with inout = true");
    }
    return fail_with(a, NULL, &text);
  }
  sct_str_append(&text, " is not assigned");
  print_gap(&text, a, "assign it on every path");
  if (op && (op->reduce == SCT_REDUCE_SUM || op->scan == SCT_REDUCE_SUM)) {
    sct_str_append(&text, " (0 adds nothing to a sum)");
  } else if (op && op->reduce == SCT_REDUCE_NONE && op->scan == SCT_REDUCE_NONE) {
    sct_str_printf(&text, "; what stays as it was says `keep(%s);` there", op->name);
  }
  return fail_with(a, sct_gap_place(a), &text);
}

/* ---- tokens ---- */

sct_status sct_assign_unexpected(const assign *a) {
  const token *t = &a->t[a->k];
  if (t->kind == TOKEN_END) {
    return sct_spec_fail_body(a->spec, a->err, t->text, "the body ends inside a statement");
  }
  if (sct_token_is(t, "[")) {
    return sct_spec_fail_body(a->spec, a->err, t->text,
                              "`[` is not expected here; a body may not contain lambdas, "
                              "attributes or structured bindings");
  }
  if (t->kind == TOKEN_NAME && sct_spec_word(t->text, t->len) == WORD_NONE) {
    return sct_spec_fail_body(a->spec, a->err, t->text, "'%.*s' is not expected here", (int)t->len,
                              t->text);
  }
  return sct_spec_fail_body(a->spec, a->err, t->text, "`%.*s` is not expected here", (int)t->len,
                            t->text);
}

sct_status sct_assign_expect(assign *a, const char *text) {
  const token *t = &a->t[a->k];
  if (!sct_token_is(t, text)) {
    return sct_spec_fail_body(a->spec, a->err, t->text, "`%s` expected before %s%.*s%s", text,
                              t->kind == TOKEN_END ? "the end" : "`", (int)t->len, t->text,
                              t->kind == TOKEN_END ? "" : "`");
  }
  a->k++;
  return SCT_OK;
}

sct_status sct_assign_enter(assign *a) {
  if (a->depth == ASSIGN_MAX_DEPTH) {
    return sct_spec_fail_body(a->spec, a->err, a->t[a->k].text,
                              "statements or expressions nest too deep");
  }
  a->depth++;
  return SCT_OK;
}

bool sct_assign_at_type(const assign *a, int k) {
  const token *t = &a->t[k];
  return t->kind == TOKEN_NAME &&
         (sct_token_is(t, "const") || sct_spec_word(t->text, t->len) == WORD_TYPE);
}

/* ---- the passes ---- */

static int number_outputs(assign *a) {
  int n = 0;
  for (int op = a->spec->n_inputs; op < a->spec->n_operands; op++) {
    const sct_record *record = &a->spec->operands[op].record;
    for (int f = 0; f < record->n_fields && sct_spec_is_of_step(a->spec, op); f++) {
      a->output_unit[op][f] = n;
      n += sct_type_get(record->fields[f].type)->lanes;
    }
  }
  a->value_unit = n;
  for (int k = 0; k < a->spec->n_values; k++) {
    n += a->spec->values[k].step == a->spec->step;
  }
  return n;
}

/* What is updated in place has a value from the start. */
static unit_set held_before(const assign *a) {
  const sct_spec *spec = a->spec;
  unit_set held = 0;
  for (int op = spec->n_inputs; op < spec->n_operands; op++) {
    const sct_operand *o = &spec->operands[op];
    const bool is_held = sct_operand_is_updated(o) && sct_spec_is_of_step(spec, op);
    held |= is_held ? sct_assign_bits(a, sct_assign_output(a, op)) : 0;
  }
  return held;
}

static sct_status one_pass(assign *a, int first_unit, int n_outputs) {
  a->first_unit = first_unit;
  a->now = held_before(a);
  a->counted = 0;
  a->k = a->n_locals = a->depth = 0;
  a->target = NULL;
  a->n_units = n_outputs;
  a->lacking = a->gap = -1;
  while (a->k < a->n) {
    SCT_TRY(sct_assign_statement(a));
  }
  const int unit = first_lacking(a, (units){0, n_outputs});
  if (unit >= 0 && (!a->explains || unit == a->watched)) {
    a->lacking = unit;
    return a->explains ? explain_output(a) : SCT_ESPEC;
  }
  return SCT_OK;
}

sct_status sct_spec_check_assigned(sct_spec *spec, const token_list *body, sct_error *err) {
  assign *a = sct_arena_alloc(&spec->arena, sizeof(*a));
  *a = (assign){.spec = spec, .t = body->tokens, .n = body->n, .err = err, .watched = -1};
  const int n_outputs = number_outputs(a);
  sct_status status = SCT_OK;
  for (int first = 0; status == SCT_OK && (first == 0 || first < a->n_units); first += 64) {
    status = one_pass(a, first, n_outputs);
  }
  if (status == SCT_ESPEC && a->lacking >= 0) {
    a->explains = true;
    a->watched = a->lacking;
    status = one_pass(a, a->lacking / 64 * 64, n_outputs);
    assert(status != SCT_OK);
  }
  return status;
}
