/* Statements of a body: its tree is parsed here and in spec_tree_expr.c, names in spec_tree_name.c.
 *
 * What C++ has beyond this (lambdas, templates, jumps to labels, types of one's own) a body may not
 * contain. What passes may still fail to compile; the compiler then says so. */
#include <string.h>

#include "spec/spec_tree.h"

enum { MAX_BRACKETS = 64, MAX_DEPTH = 400 };

/* ---- tokens ---- */

static sct_status check_brackets(const sct_spec *spec, const token_list *body, sct_error *err) {
  const token *open[MAX_BRACKETS];
  int depth = 0;
  for (int k = 0; k < body->n; k++) {
    const token *t = &body->tokens[k];
    const char c = t->text[0];
    if (strchr("([{", c)) {
      if (depth == MAX_BRACKETS) {
        return sct_spec_fail_body(spec, err, t->text, "brackets nest too deep");
      }
      open[depth++] = t;
    } else if (strchr(")]}", c)) {
      const char want = c == ')' ? '(' : c == ']' ? '[' : '{';
      if (depth == 0 || open[depth - 1]->text[0] != want) {
        return sct_spec_fail_body(spec, err, t->text, "`%c` closes nothing", c);
      }
      depth--;
    }
  }
  return depth == 0 ? SCT_OK
                    : sct_spec_fail_body(spec, err, open[depth - 1]->text, "`%c` is never closed",
                                         open[depth - 1]->text[0]);
}

static sct_status check_words(const sct_spec *spec, const token_list *body, sct_error *err) {
  for (int k = 0; k < body->n; k++) {
    const token *t = &body->tokens[k];
    if (t->kind == TOKEN_NAME && t->len > 6 && strncmp(t->text, "atomic", 6) == 0 &&
        t->text[6] <= 'Z') {
      return sct_spec_fail_body(spec, err, t->text,
                                "a body may not contain `%.*s`; an output that several points add "
                                "to says accumulate = \"add\", and the body assigns what one point "
                                "brings, as in `bins = 1;` (docs/cookbook.md, \"A histogram\")",
                                (int)t->len, t->text);
    }
    if (t->kind == TOKEN_NAME && sct_spec_word(t->text, t->len) == WORD_REFUSED) {
      return sct_spec_fail_body(spec, err, t->text, "a body may not contain `%.*s`", (int)t->len,
                                t->text);
    }
  }
  if (body->n == 0) {
    return sct_spec_fail_body(spec, err, NULL, "the body is empty");
  }
  const token *last = &body->tokens[body->n - 1];
  return sct_token_is(last, ";") || sct_token_is(last, "}")
             ? SCT_OK
             : sct_spec_fail_body(spec, err, last->text, "`;` expected at the end");
}

node *sct_parse_node(parser *p, node_kind kind, int first, int at) {
  node *n = SCT_ARENA_NEW(&p->spec->arena, node, 1);
  *n = (node){.kind = kind, .first = first, .end = p->k, .at = at, .local = -1, .dim = -1};
  n->m.op = -1;
  *(p->last_made ? &p->last_made->made : &p->tree->made) = n;
  p->last_made = n;
  return n;
}

sct_status sct_parse_unexpected(const sct_spec *spec, const token *t, sct_error *err) {
  if (t->kind == TOKEN_END) {
    return sct_spec_fail_body(spec, err, t->text, "the body ends inside a statement");
  }
  if (sct_token_is(t, "[")) {
    return sct_spec_fail_body(spec, err, t->text,
                              "`[` is not expected here; a body may not contain lambdas, "
                              "attributes or structured bindings");
  }
  const bool quoted = t->kind == TOKEN_NAME && sct_spec_word(t->text, t->len) == WORD_NONE;
  return sct_spec_fail_body(spec, err, t->text,
                            quoted ? "'%.*s' is not expected here" : "`%.*s` is not expected here",
                            (int)t->len, t->text);
}

sct_status sct_parse_expect(parser *p, const char *text) {
  const token *t = &p->t[p->k];
  if (!sct_token_is(t, text)) {
    return sct_spec_fail_body(p->spec, p->err, t->text, "`%s` expected before %s%.*s%s", text,
                              t->kind == TOKEN_END ? "the end" : "`", (int)t->len, t->text,
                              t->kind == TOKEN_END ? "" : "`");
  }
  p->k++;
  return SCT_OK;
}

sct_status sct_parse_enter(parser *p) {
  if (p->depth == MAX_DEPTH) {
    return sct_spec_fail_body(p->spec, p->err, p->t[p->k].text,
                              "statements or expressions nest too deep");
  }
  p->depth++;
  return SCT_OK;
}

bool sct_parse_at_type(const parser *p, int k) {
  const token *t = &p->t[k];
  return t->kind == TOKEN_NAME &&
         (sct_token_is(t, "const") || sct_spec_word(t->text, t->len) == WORD_TYPE);
}

/* ---- declarations ---- */

bool sct_parse_declares(const parser *p, int k) {
  const int first = k;
  while (sct_parse_at_type(p, k)) {
    k++;
  }
  return k > first && !sct_token_is(&p->t[k], "(") && !sct_token_is(&p->t[k], "{");
}

sct_status sct_parse_extents(parser *p, node **list) {
  for (; sct_parse_at(p, "["); list = &(*list)->next) {
    p->k++;
    if (sct_parse_at(p, "]")) {
      *list = sct_parse_node(p, NODE_EMPTY, p->k, p->k);
    } else {
      SCT_TRY(sct_parse_expression(p, list));
    }
    SCT_TRY(sct_parse_expect(p, "]"));
  }
  return SCT_OK;
}

static sct_status declarator(parser *p, const local *type, node **out) {
  const int first = p->k;
  local l = *type;
  node *dims = NULL, *value = NULL;
  for (; sct_parse_at(p, "*") || sct_parse_at(p, "&") || sct_parse_at(p, "&&") ||
         sct_parse_at(p, "const");
       p->k++) {
    if (!sct_parse_at(p, "const")) {
      l = (local){.lanes = 1, .is_unsigned = l.is_unsigned};
    }
  }
  const token *name = &p->t[p->k];
  const int number = p->tree->n_locals;
  SCT_TRY(sct_parse_declare(p, name, &l));
  p->k++;
  SCT_TRY(sct_parse_extents(p, &dims));
  if (dims) {
    p->tree->locals[number].type = VALUE_UNKNOWN;
  }
  if (sct_parse_at(p, "=") || sct_parse_at(p, "{")) {
    p->k += sct_parse_at(p, "=");
    SCT_TRY(sct_parse_init(p, &value));
  } else if (sct_parse_at(p, "(")) {
    const int at = p->k++;
    node *list = NULL;
    SCT_TRY(sct_parse_values(p, ")", &list));
    value = sct_parse_node(p, NODE_LIST, at, at);
    value->kid[0] = list;
  }
  *out = sct_parse_node(p, NODE_DECLARATOR, first, first);
  (*out)->local = number;
  (*out)->kid[0] = dims;
  (*out)->kid[1] = value;
  return SCT_OK;
}

/* Up to what ends it: `;`, or in the head of a statement `)` or `:`. */
static sct_status declaration(parser *p, node **out) {
  const int first = p->k;
  local type = {.lanes = 1};
  int words = 0;
  node *list = NULL;
  sct_parse_type(p, &type, &words);
  if (words == 0) {
    return sct_spec_fail_body(p->spec, p->err, p->t[first].text,
                              "`const` needs a type, as in `const float t = ...`");
  }
  for (node **to = &list;; to = &(*to)->next) {
    SCT_TRY(declarator(p, &type, to));
    if (!sct_parse_at(p, ",")) {
      break;
    }
    p->k++;
  }
  *out = sct_parse_node(p, NODE_DECLARATION, first, first);
  (*out)->kid[0] = list;
  return SCT_OK;
}

/* An expression, or nothing, before `end`. */
static sct_status optional(parser *p, const char *end, node **out) {
  if (!sct_parse_at(p, end)) {
    return sct_parse_expression(p, out);
  }
  *out = sct_parse_node(p, NODE_EMPTY, p->k, p->k);
  return SCT_OK;
}

/* ---- statements ---- */

static sct_status statement(parser *p, node **out);

static void close_scope(parser *p, int outside) {
  for (int k = outside; k < p->tree->n_locals; k++) {
    p->tree->locals[k].in_scope = false;
  }
}

/* A statement in a scope of its own. */
static sct_status inner(parser *p, node **out) {
  const int outside = p->tree->n_locals;
  SCT_TRY(statement(p, out));
  close_scope(p, outside);
  return SCT_OK;
}

/* "(x > 0)", "(int n = 3; n > x)" */
static sct_status condition(parser *p, node **list) {
  SCT_TRY(sct_parse_expect(p, "("));
  for (int part = 0; part < 2; part++, list = &(*list)->next) {
    SCT_TRY(sct_parse_declares(p, p->k) ? declaration(p, list) : sct_parse_expression(p, list));
    if (!sct_parse_at(p, ";")) {
      break;
    }
    p->k++;
  }
  return sct_parse_expect(p, ")");
}

/* `if`, `while` and `switch` */
static sct_status branch(parser *p, node **out) {
  const int first = p->k++;
  const node_kind kind = sct_token_is(&p->t[first], "if")      ? NODE_IF
                         : sct_token_is(&p->t[first], "while") ? NODE_WHILE
                                                               : NODE_SWITCH;
  node *kid[3] = {NULL};
  SCT_TRY(condition(p, &kid[0]));
  SCT_TRY(inner(p, &kid[1]));
  if (kind == NODE_IF && sct_parse_at(p, "else")) {
    p->k++;
    SCT_TRY(inner(p, &kid[2]));
  }
  *out = sct_parse_node(p, kind, first, first);
  memcpy((*out)->kid, kid, sizeof kid);
  return SCT_OK;
}

static sct_status do_statement(parser *p, node **out) {
  const int first = p->k++;
  node *kid[2] = {NULL};
  SCT_TRY(inner(p, &kid[1]));
  SCT_TRY(sct_parse_expect(p, "while"));
  SCT_TRY(condition(p, &kid[0]));
  SCT_TRY(sct_parse_expect(p, ";"));
  *out = sct_parse_node(p, NODE_DO, first, first);
  memcpy((*out)->kid, kid, sizeof kid);
  return SCT_OK;
}

static sct_status for_statement(parser *p, node **out) {
  const int first = p->k++;
  node *kid[4] = {NULL};
  SCT_TRY(sct_parse_expect(p, "("));
  SCT_TRY(sct_parse_declares(p, p->k) ? declaration(p, &kid[0]) : optional(p, ";", &kid[0]));
  const bool is_range = kid[0]->kind == NODE_DECLARATION && sct_parse_at(p, ":");
  if (is_range) {
    p->k++;
    SCT_TRY(sct_parse_init(p, &kid[1]));
  } else {
    SCT_TRY(sct_parse_expect(p, ";"));
    SCT_TRY(optional(p, ";", &kid[1]));
    SCT_TRY(sct_parse_expect(p, ";"));
    SCT_TRY(optional(p, ")", &kid[2]));
  }
  SCT_TRY(sct_parse_expect(p, ")"));
  SCT_TRY(inner(p, &kid[is_range ? 2 : 3]));
  *out = sct_parse_node(p, is_range ? NODE_RANGE : NODE_FOR, first, first);
  memcpy((*out)->kid, kid, sizeof kid);
  return SCT_OK;
}

static sct_status label(parser *p, node **out) {
  const int first = p->k++;
  node *value = NULL;
  if (sct_token_is(&p->t[first], "case")) {
    SCT_TRY(sct_parse_conditional(p, &value));
  }
  SCT_TRY(sct_parse_expect(p, ":"));
  *out = sct_parse_node(p, NODE_LABEL, first, first);
  (*out)->kid[0] = value;
  return SCT_OK;
}

static sct_status jump(parser *p, node **out) {
  const int first = p->k++;
  *out = sct_parse_node(p, NODE_JUMP, first, first);
  return sct_parse_expect(p, ";");
}

static sct_status block(parser *p, node **out) {
  const int first = p->k++, outside = p->tree->n_locals;
  node *list = NULL;
  for (node **to = &list; !sct_parse_at(p, "}") && p->t[p->k].kind != TOKEN_END;
       to = &(*to)->next) {
    SCT_TRY(statement(p, to));
  }
  close_scope(p, outside);
  SCT_TRY(sct_parse_expect(p, "}"));
  *out = sct_parse_node(p, NODE_BLOCK, first, first);
  (*out)->kid[0] = list;
  return SCT_OK;
}

/* "keep(o);": a statement of its own, about a whole element. */
static sct_status keep(parser *p, node **out) {
  const token *t = &p->t[p->k];
  int tap = -1;
  const int op = sct_spec_find_value(p->spec, t[2].text, t[2].len, &tap);
  if (!sct_token_is(&t[1], "(") || op < 0 || !p->spec->operands[op].is_output ||
      !sct_token_is(&t[3], ")") || !sct_token_is(&t[4], ";")) {
    return sct_parse_bad_keep(p, t);
  }
  p->k += 5;
  *out = sct_parse_node(p, NODE_KEEP, p->k - 5, p->k - 5);
  (*out)->m.op = op;
  return SCT_OK;
}

static sct_status simple(parser *p, node **out) {
  const int first = p->k;
  node *part = NULL;
  SCT_TRY(sct_parse_declares(p, p->k) ? declaration(p, &part) : optional(p, ";", &part));
  SCT_TRY(sct_parse_expect(p, ";"));
  *out = part;
  if (part->kind != NODE_DECLARATION && part->kind != NODE_EMPTY) {
    *out = sct_parse_node(p, NODE_EXPRESSION, first, first);
    (*out)->kid[0] = part;
  }
  node *to = part->kid[0], *from = part->kid[1];
  if (part->kind == NODE_ASSIGN && to->kind == NODE_NAME && from->kind == NODE_NAME &&
      to->use == USE_ASSIGN && part->end == part->first + 3) {
    to->pair = from;
    from->pair = to;
  }
  return SCT_OK;
}

static sct_status statement(parser *p, node **out) {
  static const struct {
    const char *word;
    sct_status (*read)(parser *p, node **out);
  } kinds[] = {
      {"{", block},         {"if", branch},     {"for", for_statement}, {"while", branch},
      {"do", do_statement}, {"switch", branch}, {"case", label},        {"default", label},
      {"break", jump},      {"continue", jump}, {"keep", keep},
  };
  const int outside = p->tree->n_locals;
  int k = 0;
  while (k < SCT_COUNT(kinds) && !sct_parse_at(p, kinds[k].word)) {
    k++;
  }
  SCT_TRY(sct_parse_enter(p));
  SCT_TRY((k < SCT_COUNT(kinds) ? kinds[k].read : simple)(p, out));
  p->depth--;
  if (k < SCT_COUNT(kinds)) { /* names of its head end with it */
    close_scope(p, outside);
  }
  return SCT_OK;
}

static sct_status statements(parser *p) {
  for (node **to = &p->tree->statements; p->k < p->tree->n; to = &(*to)->next) {
    SCT_TRY(statement(p, to));
  }
  return SCT_OK;
}

sct_status sct_spec_parse(body_tree **out, sct_spec *spec, sct_error *err) {
  token_list body;
  sct_error own = {0};
  SCT_TRY(sct_spec_tokenize(&body, spec, err));
  SCT_TRY(check_brackets(spec, &body, err));
  SCT_TRY(check_words(spec, &body, err));
  body_tree *tree = SCT_ARENA_NEW(&spec->arena, body_tree, 1);
  *tree = (body_tree){.t = body.tokens, .n = body.n};
  parser p = {.spec = spec, .tree = tree, .t = body.tokens, .err = &own};
  const sct_status status = statements(&p);
  if (p.unknown) { /* known only now: it may be declared after it */
    return sct_parse_unknown(&p, p.unknown, err);
  }
  if (status != SCT_OK) {
    return sct_fail(err, status, "%s", own.text);
  }
  sct_tree_types(spec, tree);
  *out = tree;
  return SCT_OK;
}

/* ---- text ---- */

void sct_tree_print(sct_str *out, const body_tree *tree, const edit *edits, int first, int end,
                    gap_text between) {
  for (int k = first; k < end; k++) {
    const token *t = &tree->t[k];
    const edit *e = &edits[k];
    const char *gap = k > 0 ? t[-1].text + t[-1].len : t->text;
    if (k > first && !e->joined && between == BLANKS_AS_WRITTEN) {
      sct_str_append_n(out, gap, (size_t)(t->text - gap));
    } else if (k > first && !e->joined && (between == BLANKS_ALWAYS || gap < t->text)) {
      sct_str_append(out, " ");
    }
    sct_str_append(out, e->before ? e->before : "");
    sct_str_append_n(out, e->text ? e->text : t->text, e->text ? strlen(e->text) : t->len);
    sct_str_append(out, e->after ? e->after : "");
  }
}

const char *sct_tree_text(const body_tree *tree, const edit *edits, sct_spec *spec) {
  SCT_SCOPED(sct_str) out = {0};
  const token *last = &tree->t[tree->n - 1];
  sct_str_append_n(&out, spec->body, (size_t)(tree->t[0].text - spec->body));
  sct_tree_print(&out, tree, edits, 0, tree->n, BLANKS_AS_WRITTEN);
  sct_str_append(&out, last->text + last->len);
  return sct_arena_strdup(&spec->arena, sct_str_c(&out));
}

void sct_spec_print_tokens(sct_str *out, const body_tree *tree) {
  sct_str_append(out, "body");
  for (int k = 0; k < tree->n; k++) {
    sct_str_printf(out, " %.*s", (int)tree->t[k].len, tree->t[k].text);
  }
  sct_str_append(out, "\n");
}
