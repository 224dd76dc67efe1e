/* Definite assignment, as Java and C# define it: on every path through the body each output is
 * assigned, and what is read was assigned before. Else a kernel stores what a register happened to
 * hold, and as the compiler may take any value for it, no run can be relied on to show it.
 *
 * The tree is walked once for every 64 units (a component of an output or of a local
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
  unit_set bits = 0;
  for (int k = 0; k < u.n; k++) {
    const int at = u.first + k * u.step - a->first_unit;
    bits |= at >= 0 && at < 64 ? (unit_set)1 << at : 0;
  }
  return bits;
}

void sct_assign_set(assign *a, units u) {
  a->now |= sct_assign_bits(a, u);
  for (int k = 0; k < u.n; k++) {
    a->ever_assigned = a->ever_assigned || u.first + k * u.step == a->watched;
  }
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

/* ---- errors ---- */

static const char lanes[] = "xyzw";

/* "t", "q.x", "v[2]", "v[2].x" */
static void print_local(sct_str *out, const assign *a, int number, int unit) {
  const variable *v = &a->variables[number];
  const token *name = a->tree->locals[number].name;
  const int at = unit - v->units.first;
  sct_str_append_n(out, name->text, name->len);
  if (v->by_element) {
    sct_str_printf(out, "[%d]", at / v->lanes);
  }
  if (v->lanes > 1) {
    sct_str_printf(out, ".%c", lanes[at % v->lanes]);
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

static sct_status explain_read(const assign *a, int unit, const node *name) {
  sct_str text = {0};
  const token *t = &a->t[name->first];
  const bool is_local = name->local >= 0;
  if (is_local) {
    sct_str_append(&text, "'");
    print_local(&text, a, name->local, unit);
  } else {
    sct_str_append(&text, unit < a->value_unit ? "output '" : "value '");
    print_output(&text, a, unit);
  }
  if (a->gap < 0) {
    sct_str_append(&text, "' is read before it is assigned");
    if (!is_local && unit >= a->value_unit) {
      sct_str_append(&text, "; this step computes it");
    } else if (is_local) {
      sct_str_printf(&text, "; declare it with a value, as in `%.*s = 0`", (int)t->len, t->text);
    } else {
      sct_str_append(&text, "; an array that is updated in place has inout = true");
    }
  } else {
    sct_str_append(&text, "' is read here but not assigned");
    print_gap(&text, a, "");
  }
  return fail_with(a, t->text, &text);
}

sct_status sct_assign_read(assign *a, units u, const node *name) {
  const int unit = first_lacking(a, u);
  if (unit < 0 || (a->explains && unit != a->watched)) {
    return SCT_OK;
  }
  a->lacking = unit;
  return a->explains ? explain_read(a, unit, name) : SCT_ESPEC;
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
  } else if (op && (op->reduce == SCT_REDUCE_PRODUCT || op->scan == SCT_REDUCE_PRODUCT)) {
    sct_str_append(&text, " (1 changes no product)");
  } else if (op && op->reduce == SCT_REDUCE_NONE && op->scan == SCT_REDUCE_NONE) {
    sct_str_printf(&text, "; what stays as it was says `keep(%s);` there", op->name);
  }
  return fail_with(a, sct_gap_place(a), &text);
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
  a->target = NULL;
  a->n_units = n_outputs;
  a->lacking = a->gap = -1;
  SCT_TRY(sct_assign_statements(a, a->tree->statements));
  const int unit = first_lacking(a, (units){0, n_outputs, 1});
  if (unit >= 0 && (!a->explains || unit == a->watched)) {
    a->lacking = unit;
    return a->explains ? explain_output(a) : SCT_ESPEC;
  }
  return SCT_OK;
}

sct_status sct_spec_check_assigned(sct_spec *spec, const body_tree *tree, sct_error *err) {
  assign *a = sct_arena_alloc(&spec->arena, sizeof(*a));
  *a = (assign){.spec = spec, .tree = tree, .t = tree->t, .err = err, .watched = -1};
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
