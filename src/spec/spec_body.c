/* Checks of a body: every name is known and used as it may be, every bracket closes.
 *
 * This is no C parser. It follows names through the tokens, which is enough to refuse what could
 * break out of the place the body is put, and to catch the usual slips with the line they stand on.
 * What is assigned when is left to spec_assign.c. What passes may still fail to compile; the
 * compiler then says so. */
#include <string.h>

#include "spec/spec_internal.h"

enum { MAX_LOCALS = 64, MAX_DEPTH = 64, MAX_LEGAL = 512 };

typedef struct body_scan {
  sct_spec *spec;
  const token *t; /* the tokens; t[n] is TOKEN_END */
  int n;
  sct_error *err;
  const char *locals[MAX_LOCALS];
  size_t local_len[MAX_LOCALS];
  int n_locals;
  bool *assigned; /* [n_operands] */
  bool kept[SCT_MAX_OPERANDS];
} body_scan;

/* ---- brackets and refused words ---- */

static sct_status check_brackets(const body_scan *s) {
  char open[MAX_DEPTH];
  const char *at[MAX_DEPTH];
  int depth = 0;
  for (int k = 0; k < s->n; k++) {
    const char c = s->t[k].text[0];
    if (s->t[k].kind != TOKEN_PUNCT || s->t[k].len != 1) {
      continue;
    }
    if (strchr("([{", c)) {
      if (depth == MAX_DEPTH) {
        return sct_spec_fail_body(s->spec, s->err, s->t[k].text, "brackets nest too deep");
      }
      open[depth] = c;
      at[depth++] = s->t[k].text;
    } else if (strchr(")]}", c)) {
      const char want = c == ')' ? '(' : c == ']' ? '[' : '{';
      if (depth == 0 || open[depth - 1] != want) {
        return sct_spec_fail_body(s->spec, s->err, s->t[k].text, "`%c` closes nothing", c);
      }
      depth--;
    }
  }
  if (depth > 0) {
    return sct_spec_fail_body(s->spec, s->err, at[depth - 1], "`%c` is never closed",
                              open[depth - 1]);
  }
  return SCT_OK;
}

static sct_status check_refused(const body_scan *s) {
  for (int k = 0; k < s->n; k++) {
    const token *t = &s->t[k];
    const bool atomic = t->len > 6 && strncmp(t->text, "atomic", 6) == 0 && t->text[6] <= 'Z';
    if (t->kind == TOKEN_NAME && atomic) {
      return sct_spec_fail_body(s->spec, s->err, t->text,
                                "a body may not contain `%.*s`; an output that several points add "
                                "to says accumulate = \"add\", and the body assigns what one point "
                                "brings, as in `bins = 1;` (docs/cookbook.md, \"A histogram\")",
                                (int)t->len, t->text);
    }
    if (t->kind == TOKEN_NAME && sct_spec_word(t->text, t->len) == WORD_REFUSED) {
      return sct_spec_fail_body(s->spec, s->err, t->text, "a body may not contain `%.*s`",
                                (int)t->len, t->text);
    }
  }
  if (s->n == 0) {
    return sct_spec_fail_body(s->spec, s->err, NULL, "the body is empty");
  }
  if (!sct_token_is(&s->t[s->n - 1], ";") && !sct_token_is(&s->t[s->n - 1], "}")) {
    return sct_spec_fail_body(s->spec, s->err, s->t[s->n - 1].text, "`;` expected at the end");
  }
  return SCT_OK;
}

/* ---- names declared in the body ---- */

bool sct_spec_is_scalar(const sct_spec *spec, const token *t) {
  for (int k = 0; k < spec->n_scalars; k++) {
    if (sct_token_is(t, spec->scalars[k].name)) {
      return true;
    }
  }
  return false;
}

bool sct_spec_is_extent(const sct_spec *spec, const token *t) {
  bool is = false;
  for (int k = 0; k < spec->n_extents; k++) {
    const char *name = spec->extent_names[k];
    is = is || (t->len == strlen(name) + 2 && strncmp(t->text, "n_", 2) == 0 &&
                strncmp(t->text + 2, name, t->len - 2) == 0);
  }
  return is;
}

static sct_status declare(body_scan *s, const token *t) {
  const sct_spec *spec = s->spec;
  int tap = -1;
  if (sct_spec_find_value(spec, t->text, t->len, &tap) >= 0 ||
      sct_spec_find_step_value(spec, t->text, t->len) ||
      sct_spec_find_dim(spec, t->text, t->len) >= 0 || sct_spec_is_scalar(spec, t) ||
      sct_spec_is_extent(spec, t) || sct_spec_word(t->text, t->len) != WORD_NONE) {
    return sct_spec_fail_body(spec, s->err, t->text, "`%.*s` cannot be declared: it is taken",
                              (int)t->len, t->text);
  }
  const char *name = sct_arena_strndup(&s->spec->arena, t->text, t->len);
  /* a macro is none where a candidate is compiled, but is one where the header is */
  const char *bad = sct_spec_bad_name(name);
  if (bad) {
    return sct_spec_fail_body(spec, s->err, t->text, "`%s` %s; choose another name", name, bad);
  }
  if (s->n_locals == MAX_LOCALS) {
    return sct_spec_fail_body(spec, s->err, t->text, "a body declares at most %d names",
                              MAX_LOCALS);
  }
  s->locals[s->n_locals] = t->text;
  s->local_len[s->n_locals++] = t->len;
  return SCT_OK;
}

static bool is_type_token(const token *t) {
  return t->kind == TOKEN_NAME && sct_spec_word(t->text, t->len) == WORD_TYPE;
}

/* Declares the names of a declaration whose type ends before token k: "x = 1, *p, y[4];". */
static sct_status declare_list(body_scan *s, int k) {
  int depth = 0;
  bool name_next = true;
  for (; k < s->n; k++) {
    const token *t = &s->t[k];
    if (sct_token_is(t, ";") || depth < 0) {
      return SCT_OK;
    }
    if (strchr("([{", t->text[0])) {
      depth++;
    } else if (strchr(")]}", t->text[0])) {
      depth--;
    } else if (depth == 0 && sct_token_is(t, ",")) {
      name_next = true;
    } else if (name_next && t->kind == TOKEN_NAME && !sct_token_is(t, "const")) {
      SCT_TRY(declare(s, t));
      name_next = false;
    }
  }
  return SCT_OK;
}

static sct_status collect_locals(body_scan *s) {
  for (int k = 0; k < s->n; k++) {
    const token *next = &s->t[k + 1];
    const bool pointer = sct_token_is(next, "*") || sct_token_is(next, "&");
    const token *named = pointer ? &s->t[k + 2] : next;
    const bool after_const = sct_token_is(named, "const");
    if (is_type_token(&s->t[k]) && !is_type_token(next) && named->kind == TOKEN_NAME &&
        (after_const || sct_spec_word(named->text, named->len) == WORD_NONE)) {
      SCT_TRY(declare_list(s, k + 1));
    }
  }
  return SCT_OK;
}

static bool is_local(const body_scan *s, const token *t) {
  for (int k = 0; k < s->n_locals; k++) {
    if (s->local_len[k] == t->len && strncmp(s->locals[k], t->text, t->len) == 0) {
      return true;
    }
  }
  return false;
}

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

static sct_status unknown_name(const body_scan *s, const token *t) {
  sct_spec *spec = s->spec;
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
  for (int k = 0; k < s->n_locals && n < MAX_LEGAL; k++) {
    names[n++] = sct_arena_strndup(&spec->arena, s->locals[k], s->local_len[k]);
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
  return sct_spec_fail_body(spec, s->err, t->text, "unknown name '%s'%s", word, sct_str_c(&hint));
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

static bool starts_statement(const body_scan *s, int k) {
  if (k == 0) {
    return true;
  }
  const token *before = &s->t[k - 1];
  return sct_token_is(before, ";") || sct_token_is(before, "{") || sct_token_is(before, "}") ||
         sct_token_is(before, ")") || sct_token_is(before, "else") || sct_token_is(before, ":") ||
         sct_token_is(before, "do");
}

static void mark(body_scan *s, const sct_mention *m) {
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
static sct_status check_whole(body_scan *s, int k, const sct_mention *m) {
  const sct_operand *op = &s->spec->operands[m->op];
  const bool target = sct_token_is(&s->t[k + 1], "=");
  const int other = target ? k + 2 : k - 2;
  const bool paired = (target || (k >= 2 && sct_token_is(&s->t[k - 1], "="))) &&
                      sct_token_is(&s->t[(target ? k + 2 : k) + 1], ";") &&
                      starts_statement(s, target ? k : k - 2);
  int tap = -1;
  const int with =
      paired ? sct_spec_find_value(s->spec, s->t[other].text, s->t[other].len, &tap) : -1;
  if (with < 0) {
    return sct_spec_fail_body(s->spec, s->err, s->t[k].text,
                              "'%s' is a record; name one of its fields, as in %s.%s",
                              sct_spec_mention_name(s->spec, m), sct_spec_mention_name(s->spec, m),
                              op->record.fields[0].name);
  }
  if (!same_records(&op->record, &s->spec->operands[with].record)) {
    SCT_SCOPED(sct_str) hint = {0};
    sct_spec_hint_bytes(&hint, &op->record);
    sct_spec_hint_bytes(&hint, &s->spec->operands[with].record);
    return sct_spec_fail_body(s->spec, s->err, s->t[k].text,
                              "'%s' and '%s' have different fields; assign them one by one%s",
                              sct_spec_mention_name(s->spec, m), s->spec->operands[with].name,
                              sct_str_c(&hint));
  }
  return SCT_OK;
}

static bool is_assignment(const token *t) {
  static const char *const ops[] = {
      "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "++", "--"};
  for (int k = 0; k < SCT_COUNT(ops); k++) {
    if (sct_token_is(t, ops[k])) {
      return true;
    }
  }
  return false;
}

/* "++x", "--x" */
static bool is_stepped(const body_scan *s, int k) {
  return k > 0 && (sct_token_is(&s->t[k - 1], "++") || sct_token_is(&s->t[k - 1], "--"));
}

/* "&x", and no "y & x" */
static bool is_addressed(const body_scan *s, int k) {
  const token *before = k > 1 ? &s->t[k - 2] : NULL;
  return k > 0 && sct_token_is(&s->t[k - 1], "&") &&
         (!before || (before->kind == TOKEN_PUNCT && !strchr(")]", before->text[0])));
}

static sct_status cannot_assign(const body_scan *s, const token *t, const char *what) {
  const char *output = s->spec->operands[s->spec->n_inputs].name;
  return sct_spec_fail_body(
      s->spec, s->err, t->text, "'%.*s' is %s and cannot be assigned; did you mean '%s'?%s",
      (int)t->len, t->text, what, output,
      strcmp(what, "an input") == 0 ? " An array that is updated in place stands in outputs, with "
                                      "inout = true"
                                    : "");
}

/* What other elements contribute is not known where one is computed. */
static sct_status reads_reduced(const body_scan *s, int k, const sct_operand *op, bool updates) {
  sct_reduce way = SCT_REDUCE_NONE;
  const char *joined = sct_spec_combining_word(op, &way), *how = sct_reduce_name(way);
  if (op->accumulate != SCT_REDUCE_NONE) {
    return sct_spec_fail_body(
        s->spec, s->err, s->t[k].text,
        updates ? "output '%s' is accumulated (%s), so the body only assigns it what one point "
                  "contributes: write `=`, as in `%s = 1;`"
                : "output '%s' is accumulated (%s), so the body cannot read it: other points add "
                  "to it meanwhile; a second kernel takes the result as an input%s",
        op->name, sct_accumulate_name(op->accumulate), updates ? op->name : "");
  }
  if (updates) {
    return sct_spec_fail_body(s->spec, s->err, s->t[k].text,
                              "output '%s' is %s (%s), so the body only assigns it what one "
                              "element contributes: write `=`, as in `%s = ...;`",
                              op->name, joined, how, op->name);
  }
  return sct_spec_fail_body(
      s->spec, s->err, s->t[k].text,
      "output '%s' is %s (%s), so the body cannot read it: its result is known when all elements "
      "are done; %sa second kernel takes the result as an input",
      op->name, joined, how,
      op->reduce != SCT_REDUCE_NONE ? "write steps, of which a later one uses the result on the "
                                      "same row (docs/cookbook.md, Softmax), or "
                                    : "");
}

static sct_status check_operand(body_scan *s, int k, int at, int tap, int *next) {
  sct_mention m;
  SCT_TRY(sct_spec_read_mention(&m, s->spec, s->t, k, at, tap, s->err));
  const sct_operand *op = &s->spec->operands[at];
  const token *after = &s->t[m.after];
  const bool stepped = is_stepped(s, k);
  const bool assigns = is_assignment(after) || stepped;
  if (m.field < 0) {
    SCT_TRY(check_whole(s, k, &m));
  }
  const sct_type_info *type = sct_type_get(op->record.fields[m.field < 0 ? 0 : m.field].type);
  if (type->shared > 1 && is_addressed(s, k)) {
    return sct_spec_fail_body(s->spec, s->err, s->t[k].text,
                              "an element of type %s is a part of a byte and has no address; write "
                              "`int v = %.*s;` and take that of v",
                              type->name,
                              (int)(s->t[m.after - 1].text + s->t[m.after - 1].len - s->t[k].text),
                              s->t[k].text);
  }
  s->assigned[at] = s->assigned[at] || assigns;
  if (assigns && !op->is_output) {
    return cannot_assign(s, &s->t[k], tap < 0 ? "an input" : "a tap of an input");
  }
  sct_reduce way = SCT_REDUCE_NONE;
  const bool combined = *sct_spec_combining_word(op, &way) || op->accumulate != SCT_REDUCE_NONE;
  if (combined && (stepped || !sct_token_is(after, "="))) {
    return reads_reduced(s, k, op, assigns);
  }
  if (sct_token_is(after, "[") || sct_token_is(after, "(")) {
    return sct_spec_fail_body(s->spec, s->err, s->t[k].text,
                              "'%s' stands for one element; where it lies is said by %s = { ... }",
                              sct_spec_mention_name(s->spec, &m), tap < 0 ? "at" : "taps");
  }
  mark(s, &m);
  for (int d = 0; d < s->spec->n_dims && sct_operand_shared(op) > 1; d++) {
    const bool named = sct_expr_mentions(s->spec->pool, op->part, s->spec->dim_var[d]);
    s->spec->body_uses_dim[d] = s->spec->body_uses_dim[d] || named;
  }
  *next = m.next;
  return SCT_OK;
}

/* ---- values of steps ---- */

/* A step assigns its own values, and reads those of earlier steps. */
static sct_status check_value(const body_scan *s, int k) {
  const token *t = &s->t[k];
  const sct_value *value = sct_spec_find_step_value(s->spec, t->text, t->len);
  const bool updates = is_stepped(s, k) || is_assignment(&s->t[k + 1]);
  const bool assigns = !is_stepped(s, k) && sct_token_is(&s->t[k + 1], "=");
  const char *how = sct_reduce_name(value->reduce);
  if (value->step > s->spec->step) {
    return sct_spec_fail_body(s->spec, s->err, t->text,
                              "'%s' is a value of step %d, and this is step %d; a step reads the "
                              "values of steps before it",
                              value->name, value->step + 1, s->spec->step + 1);
  }
  if (value->step < s->spec->step) {
    return updates ? sct_spec_fail_body(s->spec, s->err, t->text,
                                        "'%s' is a value of step %d and cannot be assigned here; "
                                        "declare a variable, as in `float %s_here = %s;`",
                                        value->name, value->step + 1, value->name, value->name)
                   : SCT_OK;
  }
  return assigns || value->reduce == SCT_REDUCE_NONE
             ? SCT_OK
             : sct_spec_fail_body(
                   s->spec, s->err, t->text,
                   updates ? "'%s' is reduced (%s), so its step only assigns what one element "
                             "contributes: write `=`, as in `%s = ...;`"
                           : "'%s' is reduced (%s) by this very step, so it is known when all "
                             "elements are done; '%s' can be read in a step that follows",
                   value->name, how, value->name);
}

/* ---- keep(output); ---- */

/* The flag that keep() sets in the kernel; no name of the spec may be that. */
static sct_status check_flag(const body_scan *s, const token *t) {
  const sct_spec *spec = s->spec;
  char flag[80];
  int tap = -1;
  const int len = snprintf(flag, sizeof flag, "%.*s_kept", (int)t->len, t->text);
  bool taken = sct_spec_find_value(spec, flag, (size_t)len, &tap) >= 0 ||
               sct_spec_find_dim(spec, flag, (size_t)len) >= 0;
  for (int k = 0; k < spec->n_scalars; k++) {
    taken = taken || strcmp(spec->scalars[k].name, flag) == 0;
  }
  for (int k = 0; k < s->n_locals; k++) {
    taken =
        taken || (s->local_len[k] == (size_t)len && strncmp(s->locals[k], flag, (size_t)len) == 0);
  }
  return taken ? sct_spec_fail_body(spec, s->err, t->text,
                                    "keep(%.*s) makes the name '%s', which is taken; choose "
                                    "another name for it",
                                    (int)t->len, t->text, flag)
               : SCT_OK;
}

/* "keep(o);": a statement of its own, about a whole element. */
static sct_status check_keep(body_scan *s, int k, int *next) {
  const token *t = &s->t[k + 2];
  int tap = -1;
  const int at = sct_spec_find_value(s->spec, t->text, t->len, &tap);
  const bool is_output = at >= 0 && s->spec->operands[at].is_output;
  if (!starts_statement(s, k) || !sct_token_is(&s->t[k + 1], "(") || !is_output ||
      !sct_token_is(&s->t[k + 3], ")") || !sct_token_is(&s->t[k + 4], ";")) {
    const char *output = s->spec->operands[s->spec->n_inputs].name;
    return sct_spec_fail_body(s->spec, s->err, s->t[k].text,
                              "keep() is a statement that leaves a whole element of an output as "
                              "it was, as in `keep(%s);`; of a record with inout = true, fields "
                              "that are not assigned stay, too",
                              output);
  }
  sct_operand *op = &s->spec->operands[at];
  sct_reduce how = SCT_REDUCE_NONE;
  const char *joined = sct_spec_combining_word(op, &how);
  if (how != SCT_REDUCE_NONE) {
    return sct_spec_fail_body(s->spec, s->err, s->t[k].text,
                              "output '%s' is %s (%s), so nothing is kept; assign what changes "
                              "nothing, as in `%s = 0;` for a sum",
                              op->name, joined, sct_reduce_name(how), op->name);
  }
  op->keeps = s->kept[at] = true;
  for (int f = 0; f < op->record.n_fields; f++) {
    op->used[f] = op->used_here[f] = true;
  }
  *next = k + 4;
  return check_flag(s, t);
}

/* ---- the walk ---- */

/* The `x` of "make_float2(a, k).x" or "q[0].x". */
static bool is_component_of_value(const body_scan *s, int k) {
  const bool member =
      k >= 2 && sct_token_is(&s->t[k - 1], ".") && strchr(")]}", s->t[k - 2].text[0]) != NULL;
  return member && sct_spec_component(&s->t[k], 4) >= 0;
}

static sct_status check_name(body_scan *s, int k, int *next) {
  const token *t = &s->t[k];
  *next = k + 1;
  if (is_component_of_value(s, k)) {
    return SCT_OK;
  }
  int tap = -1;
  const int op = sct_spec_find_value(s->spec, t->text, t->len, &tap);
  if (op >= 0) {
    return check_operand(s, k, op, tap, next);
  }
  if (sct_spec_find_step_value(s->spec, t->text, t->len)) {
    return check_value(s, k);
  }
  const int dim = sct_spec_find_dim(s->spec, t->text, t->len);
  const bool scalar = sct_spec_is_scalar(s->spec, t) || sct_spec_is_extent(s->spec, t);
  if ((dim >= 0 || scalar) && (is_assignment(&s->t[k + 1]) || is_stepped(s, k))) {
    return cannot_assign(s, t,
                         dim >= 0                         ? "an index"
                         : sct_spec_is_extent(s->spec, t) ? "an extent"
                                                          : "a scalar");
  }
  if (dim >= 0) {
    s->spec->body_uses_dim[dim] = true;
    return SCT_OK;
  }
  const word_kind word = sct_spec_word(t->text, t->len);
  if (sct_token_is(t, "keep")) {
    return check_keep(s, k, next);
  }
  if (sct_spec_spelling(t->text, t->len) && sct_token_is(&s->t[k + 1], "{")) {
    return sct_spec_fail_body(s->spec, s->err, t->text, "write `%.*s(...)`, with round brackets",
                              (int)t->len, t->text);
  }
  if (word == WORD_FUNCTION && !sct_token_is(&s->t[k + 1], "(")) {
    return sct_spec_fail_body(s->spec, s->err, t->text, "'%.*s' is a function; call it",
                              (int)t->len, t->text);
  }
  if (word != WORD_NONE) {
    return SCT_OK;
  }
  if (scalar || is_local(s, t)) {
    while (sct_token_is(&s->t[*next], ".") && s->t[*next + 1].kind == TOKEN_NAME) {
      *next += 2; /* a component of a vector */
    }
    return SCT_OK;
  }
  return unknown_name(s, t);
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

sct_status sct_spec_check_body(sct_spec *spec, const token_list *body, bool *assigned,
                               sct_error *err) {
  body_scan s = {.spec = spec, .t = body->tokens, .n = body->n, .err = err, .assigned = assigned};
  SCT_TRY(check_brackets(&s));
  SCT_TRY(check_refused(&s));
  SCT_TRY(collect_locals(&s));
  SCT_TRY(sct_spec_check_shifts(spec, body, err));
  for (int k = 0; k < s.n;) {
    int next = k + 1;
    if (s.t[k].kind == TOKEN_NAME) {
      SCT_TRY(check_name(&s, k, &next));
    }
    k = next;
  }
  for (int k = spec->n_inputs; k < spec->n_operands; k++) {
    const sct_operand *op = &spec->operands[k];
    if (op->is_inout && !s.assigned[k] && (spec->n_steps == 0 || s.kept[k])) {
      return sct_spec_fail_body(spec, err, NULL,
                                "'%s' is updated in place (inout), but never assigned; what is "
                                "only read stands in inputs",
                                op->name);
    }
    s.assigned[k] = s.assigned[k] || s.kept[k];
  }
  return SCT_OK;
}
