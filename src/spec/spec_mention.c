/* A mention of an array in a body, from its name to its field, element or component: `a`, `a.x`,
 * `a.pos.x`, `a.q[n]`, where `a` may be a tap. What is said of elements that share bytes
 * (`{ "q", "i4", 32 }`) counts elements; fields are their bytes. */
#include <string.h>

#include "spec/spec_internal.h"

typedef struct reader {
  sct_mention *m;
  sct_spec *spec;
  const token *t;
  sct_error *err;
} reader;

const char *sct_spec_mention_name(const sct_spec *spec, const sct_mention *m) {
  const sct_operand *op = &spec->operands[m->op];
  return m->tap >= 0 ? op->taps[m->tap].name : op->name;
}

int sct_spec_component(const token *t, int lanes) {
  static const char *const names[] = {"x", "y", "z", "w"};
  for (int k = 0; k < lanes; k++) {
    if (sct_token_is(t, names[k])) {
      return k;
    }
  }
  return -1;
}

/* Refuses what stands without a dot: taps, keep(). */
static sct_status check_dot(const reader *r, const sct_operand *op, const token *t) {
  for (int k = 0; k < op->n_taps; k++) {
    if (sct_token_is(t, op->taps[k].name)) {
      return sct_spec_fail_body(r->spec, r->err, t->text, "'%s' is a tap of '%s': write `%s` alone",
                                op->taps[k].name, op->name, op->taps[k].name);
    }
  }
  return !op->is_output || !sct_token_is(t, "keep")
             ? SCT_OK
             : sct_spec_fail_body(r->spec, r->err, t->text, "write `keep(%s);`", op->name);
}

static sct_status bad_field(const reader *r, const token *t) {
  const sct_operand *op = &r->spec->operands[r->m->op];
  SCT_TRY(check_dot(r, op, t));
  const char *names[SCT_MAX_FIELDS];
  for (int k = 0; k < op->record.n_fields; k++) {
    const char *name = op->record.fields[k].name;
    names[k] = sct_arena_strndup(&r->spec->arena, name, strcspn(name, "["));
  }
  const char *word = sct_arena_strndup(&r->spec->arena, t->text, t->len);
  SCT_SCOPED(sct_str) hint = {0};
  sct_str_suggest(&hint, word, SCT_NAMES(names, op->record.n_fields));
  return sct_spec_fail_body(r->spec, r->err, t->text, "'%s' has no field '%s'%s",
                            sct_spec_mention_name(r->spec, r->m), word, sct_str_c(&hint));
}

static sct_status read_component(const reader *r, int at) {
  sct_mention *m = r->m;
  const sct_operand *op = &r->spec->operands[m->op];
  const sct_type_info *type = sct_type_get(op->record.fields[m->field].type);
  if (type->lanes > 1 && sct_spec_component(&r->t[at], type->lanes) >= 0) {
    m->after = m->next = at + 1;
    return SCT_OK;
  }
  SCT_TRY(check_dot(r, op, &r->t[at]));
  return sct_spec_fail_body(r->spec, r->err, r->t[at].text, "a value of type %s has no '.%.*s'%s",
                            type->name, (int)r->t[at].len, r->t[at].text,
                            type->lanes == 2   ? "; expected x or y"
                            : type->lanes == 4 ? "; expected x, y, z or w"
                                               : "");
}

int sct_spec_after_bracket(const token *t, int k) {
  int depth = 0;
  do {
    depth += strchr("([{", t[k].text[0]) ? 1 : strchr(")]}", t[k].text[0]) ? -1 : 0;
    k++;
  } while (depth > 0);
  return k;
}

/* Does a comma stand in the brackets from token k on, and in none within them? */
static bool has_comma(const token *t, int k) {
  const int end = sct_spec_after_bracket(t, k) - 1;
  for (k++; k < end; k++) {
    if (strchr("([{", t[k].text[0])) {
      k = sct_spec_after_bracket(t, k) - 1;
    } else if (sct_token_is(&t[k], ",")) {
      return true;
    }
  }
  return false;
}

/* Reads the index of an element of an array, at the token after the array's name. */
static sct_status read_element(const reader *r) {
  sct_mention *m = r->m;
  const sct_field *first = &r->spec->operands[m->op].record.fields[m->field];
  const token *t = &r->t[m->after];
  const char *name = sct_spec_mention_name(r->spec, m);
  const int base = (int)strcspn(first->name, "[");
  const int n = sct_field_elements(first);
  const int64_t at = sct_spec_constant_index(t);
  if (!sct_token_is(t, "[")) {
    return sct_spec_fail_body(r->spec, r->err, t->text,
                              "'%s.%.*s' is an array of %d elements; name one, as in %s.%.*s[0]",
                              name, base, first->name, n, name, base, first->name);
  }
  if (has_comma(r->t, m->after)) {
    return sct_spec_fail_body(r->spec, r->err, t->text,
                              "'%s.%.*s' is an array of %d elements, so it has one index, as in "
                              "%s.%.*s[4 * row + col]",
                              name, base, first->name, n, name, base, first->name);
  }
  if (at >= n) {
    return sct_spec_fail_body(r->spec, r->err, t->text,
                              "'%s.%.*s' has %d elements; the last one is %s.%.*s[%d]", name, base,
                              first->name, n, name, base, first->name, n - 1);
  }
  m->after = sct_spec_after_bracket(r->t, m->after);
  m->field += at >= 0 ? sct_field_of_element(first, at) : 0;
  m->n_fields = at >= 0 ? 1 : first->n_elements;
  m->next = at >= 0 ? m->after : m->next + 1;
  return SCT_OK;
}

sct_status sct_spec_read_mention(sct_mention *m, sct_spec *spec, const token *t, int k, int op,
                                 int tap, sct_error *err) {
  const reader r = {m, spec, t, err};
  const sct_record *record = &spec->operands[op].record;
  *m = (sct_mention){.op = op, .tap = tap, .field = -1, .n_fields = 1};
  m->after = m->next = k + 1;
  const bool bare = record->fields[0].name[0] == '\0';
  if (bare) {
    m->field = 0;
    return sct_token_is(&t[k + 1], ".") ? read_component(&r, k + 2) : SCT_OK;
  }
  if (!sct_token_is(&t[k + 1], ".")) {
    return SCT_OK;
  }
  m->field = sct_spec_find_field(record, t[k + 2].text, t[k + 2].len);
  if (m->field < 0 || t[k + 2].len == 0) {
    return bad_field(&r, &t[k + 2]);
  }
  m->after = m->next = k + 3;
  if (record->fields[m->field].n_elements > 0) {
    return read_element(&r);
  }
  return sct_token_is(&t[k + 3], ".") ? read_component(&r, k + 4) : SCT_OK;
}
