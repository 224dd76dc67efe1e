/* Names of a body: what each stands for. A mention of an array goes from its name to its field,
 * element or component: `a`, `a.x`, `a.pos.x`, `a.q[n]`, where `a` may be a tap. What is said of
 * elements that share bytes (`{ "q", "i4", 32 }`) counts elements; fields are their bytes. */
#include <stdlib.h>
#include <string.h>

#include "spec/spec_tree.h"

enum { MAX_LEGAL = 512 };

/* ---- locals ---- */

static bool same_text(const token *a, const token *b) {
  return a->len == b->len && strncmp(a->text, b->text, a->len) == 0;
}

bool sct_spec_is_scalar(const sct_spec *spec, const token *t) {
  return sct_names_find_n(SCT_NAMES_IN(spec->scalars, spec->n_scalars, name), t->text, t->len) >= 0;
}

bool sct_spec_is_extent(const sct_spec *spec, const token *t) {
  return t->len > 2 && strncmp(t->text, "n_", 2) == 0 &&
         sct_names_find_n(SCT_NAMES(spec->extent_names, spec->n_extents), t->text + 2,
                          t->len - 2) >= 0;
}

sct_status sct_parse_declare(parser *p, const token *t, const local *as) {
  const sct_spec *spec = p->spec;
  body_tree *tree = p->tree;
  int tap = -1;
  if (t->kind != TOKEN_NAME) {
    return sct_parse_unexpected(spec, t, p->err);
  }
  if (sct_spec_find_value(spec, t->text, t->len, &tap) >= 0 ||
      sct_spec_find_step_value(spec, t->text, t->len) || sct_spec_is_scalar(spec, t) ||
      sct_spec_is_extent(spec, t) || sct_spec_word(t->text, t->len) != WORD_NONE) {
    return sct_spec_fail_body(spec, p->err, t->text, "`%.*s` cannot be declared: it is taken",
                              (int)t->len, t->text);
  }
  const char *name = sct_arena_strndup(&p->spec->arena, t->text, t->len);
  /* a macro is none where a candidate is compiled, but is one where the header is */
  const char *bad = sct_spec_bad_name(name);
  if (bad) {
    return sct_spec_fail_body(spec, p->err, t->text, "`%s` %s; choose another name", name, bad);
  }
  if (tree->n_locals == MAX_LOCALS) {
    return sct_spec_fail_body(spec, p->err, t->text, "a body declares at most %d names",
                              MAX_LOCALS);
  }
  local *l = &tree->locals[tree->n_locals++];
  *l = *as;
  l->name = t;
  l->in_scope = true;
  return SCT_OK;
}

/* ---- names that are not known ---- */

/* What to write for a name that a header would define, or for a type as specs call it. */
static const char *hint_for(const char *word) {
  static const struct {
    const char *name, *write;
  } hints[] = {
#define SCT_HINT(name, kind, write) {name, write},
#include "spec_hints.def"
#undef SCT_HINT
  };
  const int k = sct_names_find(SCT_NAMES_IN(hints, SCT_COUNT(hints), name), word);
  sct_type type;
  return k >= 0                           ? hints[k].write
         : !sct_type_find(&type, word)    ? NULL
         : sct_type_get(type)->shared > 1 ? "int"
                                          : sct_type_get(type)->cuda;
}

sct_status sct_parse_unknown(const parser *p, const token *t, sct_error *err) {
  sct_spec *spec = p->spec;
  const char *names[MAX_LEGAL];
  int n = 0;
  for (int k = 0; k < spec->n_operands; k++) {
    const sct_operand *op = &spec->operands[k];
    names[n++] = op->name;
    for (int tap = 0; tap < op->n_taps && n < MAX_LEGAL / 2; tap++) {
      names[n++] = op->taps[tap].name;
    }
  }
  for (int k = 0; k < spec->n_scalars && n < MAX_LEGAL; k++) {
    names[n++] = spec->scalars[k].name;
  }
  for (int k = 0; k < spec->n_dims && n < MAX_LEGAL; k++) {
    names[n++] = spec->dims[k];
  }
  for (int k = 0; k < spec->n_values && n < MAX_LEGAL; k++) {
    names[n++] = spec->values[k].name;
  }
  for (int k = 0; k < p->tree->n_locals && n < MAX_LEGAL; k++) {
    const token *name = p->tree->locals[k].name;
    if (same_text(name, t)) {
      return sct_spec_fail_body(spec, err, t->text,
                                "'%.*s' is not declared here: its declaration follows, or its "
                                "block has ended",
                                (int)t->len, t->text);
    }
    names[n++] = sct_arena_strndup(&spec->arena, name->text, name->len);
  }
  const int n_own = n;
#define SCT_WORD(word, kind)                                                                       \
  if (WORD_##kind != WORD_REFUSED && n < MAX_LEGAL) {                                              \
    names[n++] = word;                                                                             \
  }
#include "spec_words.def"
#undef SCT_WORD
  const char *word = sct_arena_strndup(&spec->arena, t->text, t->len);
  const char *near = sct_nearest(word, SCT_NAMES(names, n));
  const char *write = hint_for(word);
  SCT_SCOPED(sct_str) hint = {0};
  if (write) {
    sct_str_printf(&hint, "; write `%s`", write);
  } else if (near) {
    sct_str_printf(&hint, "; did you mean '%s'?", near);
  } else {
    sct_str_suggest(&hint, word, SCT_NAMES(names, n_own));
  }
  return sct_spec_fail_body(spec, err, t->text, "unknown name '%s'%s", word, sct_str_c(&hint));
}

/* ---- mentions of arrays ---- */

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
static sct_status check_dot(const parser *p, const sct_operand *op, const token *t) {
  for (int k = 0; k < op->n_taps; k++) {
    if (sct_token_is(t, op->taps[k].name)) {
      return sct_spec_fail_body(p->spec, p->err, t->text, "'%s' is a tap of '%s': write `%s` alone",
                                op->taps[k].name, op->name, op->taps[k].name);
    }
  }
  return !op->is_output || !sct_token_is(t, "keep")
             ? SCT_OK
             : sct_spec_fail_body(p->spec, p->err, t->text, "write `keep(%s);`", op->name);
}

static sct_status bad_field(const parser *p, const sct_mention *m, const token *t) {
  const sct_operand *op = &p->spec->operands[m->op];
  SCT_TRY(check_dot(p, op, t));
  const char *names[SCT_MAX_FIELDS];
  for (int k = 0; k < op->record.n_fields; k++) {
    const char *name = op->record.fields[k].name;
    names[k] = sct_arena_strndup(&p->spec->arena, name, strcspn(name, "["));
  }
  const char *word = sct_arena_strndup(&p->spec->arena, t->text, t->len);
  SCT_SCOPED(sct_str) hint = {0};
  sct_str_suggest(&hint, word, SCT_NAMES(names, op->record.n_fields));
  return sct_spec_fail_body(p->spec, p->err, t->text, "'%s' has no field '%s'%s",
                            sct_spec_mention_name(p->spec, m), word, sct_str_c(&hint));
}

/* ".x" of a vector, or nothing. */
static sct_status component(parser *p, sct_mention *m) {
  const sct_operand *op = &p->spec->operands[m->op];
  const sct_type_info *type = sct_type_get(op->record.fields[m->field].type);
  if (!sct_token_is(&p->t[p->k], ".")) {
    return SCT_OK;
  }
  const token *t = &p->t[p->k + 1];
  m->lane = type->lanes > 1 ? sct_spec_component(t, type->lanes) : -1;
  if (m->lane >= 0) {
    p->k += 2;
    return SCT_OK;
  }
  SCT_TRY(check_dot(p, op, t));
  return sct_spec_fail_body(p->spec, p->err, t->text, "a value of type %s has no '.%.*s'%s",
                            type->name, (int)t->len, t->text,
                            type->lanes == 2   ? "; expected x or y"
                            : type->lanes == 4 ? "; expected x, y, z or w"
                                               : "");
}

/* "[n]" of an array in a record. */
static sct_status element(parser *p, sct_mention *m, node **index) {
  const sct_field *first = &p->spec->operands[m->op].record.fields[m->field];
  const token *t = &p->t[p->k];
  const char *name = sct_spec_mention_name(p->spec, m);
  const int base = (int)strcspn(first->name, "["), n = sct_field_elements(first);
  if (!sct_token_is(t, "[")) {
    return sct_spec_fail_body(p->spec, p->err, t->text,
                              "'%s.%.*s' is an array of %d elements; name one, as in %s.%.*s[0]",
                              name, base, first->name, n, name, base, first->name);
  }
  p->k++;
  SCT_TRY(sct_parse_expression(p, index));
  if (sct_node_is(p->tree, *index, ",")) {
    return sct_spec_fail_body(p->spec, p->err, t->text,
                              "'%s.%.*s' is an array of %d elements, so it has one index, as in "
                              "%s.%.*s[4 * row + col]",
                              name, base, first->name, n, name, base, first->name);
  }
  char *end = NULL;
  const long long value = strtoll(t[1].text, &end, 0);
  const bool is_number = (*index)->kind == NODE_NUMBER && end == t[1].text + t[1].len;
  m->element = is_number && value >= 0 ? value : -1;
  if (m->element >= n) {
    return sct_spec_fail_body(p->spec, p->err, t->text,
                              "'%s.%.*s' has %d elements; the last one is %s.%.*s[%d]", name, base,
                              first->name, n, name, base, first->name, n - 1);
  }
  m->array = m->field;
  m->field += m->element >= 0 ? sct_field_of_element(first, m->element) : 0;
  m->n_fields = m->element >= 0 ? 1 : first->n_elements;
  return sct_parse_expect(p, "]");
}

/* After the name of m->op or of its tap. */
static sct_status mention(parser *p, sct_mention *m, node **index) {
  const sct_record *record = &p->spec->operands[m->op].record;
  m->field = record->fields[0].name[0] == '\0' ? 0 : -1;
  if (m->field < 0 && sct_token_is(&p->t[p->k], ".")) {
    const token *t = &p->t[p->k + 1];
    m->field = t->len > 0 ? sct_spec_find_field(record, t->text, t->len) : -1;
    if (m->field < 0) {
      return bad_field(p, m, t);
    }
    p->k += 2;
  }
  return m->field < 0                              ? SCT_OK
         : record->fields[m->field].n_elements > 0 ? element(p, m, index)
                                                   : component(p, m);
}

sct_status sct_parse_name(parser *p, node **out) {
  const int first = p->k++;
  const token *t = &p->t[first];
  const sct_spec *spec = p->spec;
  sct_mention m = {.n_fields = 1, .lane = -1, .element = -1, .array = -1};
  node *index = NULL;
  m.op = sct_spec_find_value(spec, t->text, t->len, &m.tap);
  if (m.op >= 0) {
    SCT_TRY(mention(p, &m, &index));
    if (sct_token_is(&p->t[p->k], "[") || sct_token_is(&p->t[p->k], "(")) {
      return sct_spec_fail_body(
          spec, p->err, t->text,
          "'%s' stands for one element and takes no index; %s = { ... } selects the element",
          sct_spec_mention_name(spec, &m), m.tap < 0 ? "at" : "taps");
    }
  }
  SCT_TRY(sct_parse_node(p, out, NODE_NAME, first, first, (node *[4]){index}));
  node *n = *out;
  n->m = m;
  n->value = m.op < 0 ? sct_spec_find_step_value(spec, t->text, t->len) : NULL;
  n->dim = m.op < 0 && !n->value ? sct_spec_find_dim(spec, t->text, t->len) : -1;
  for (int k = p->tree->n_locals - 1; k >= 0 && n->local < 0; k--) {
    const local *l = &p->tree->locals[k];
    n->local = l->in_scope && same_text(l->name, t) ? k : -1;
  }
  n->dim = n->local < 0 ? n->dim : -1; /* a variable may have the name of a dimension */
  const bool known = m.op >= 0 || n->value || n->dim >= 0 || n->local >= 0 ||
                     sct_spec_is_scalar(spec, t) || sct_spec_is_extent(spec, t);
  p->unknown = known || p->unknown ? p->unknown : t;
  return SCT_OK;
}
