/* Statements and expressions of a body's tree; names are left to spec_tree_name.c.
 *
 * What C++ has beyond this (lambdas, templates, jumps to labels, types of one's own) a body may not
 * contain. What passes may still fail to compile; the compiler then says so. */
#include <string.h>

#include "spec/spec_tree.h"

enum { MAX_BRACKETS = 64, MAX_DEPTH = 400 };

/* ---- tokens ---- */

static sct_status check_word(const sct_spec *spec, const token *t, sct_error *err) {
  if (t->len > 6 && strncmp(t->text, "atomic", 6) == 0 && t->text[6] <= 'Z') {
    return sct_spec_fail_body(spec, err, t->text,
                              "a body may not contain `%.*s`; an output that several points add "
                              "to says accumulate = \"add\", and the body assigns what one point "
                              "brings, as in `bins = 1;` (docs/cookbook.md, \"A histogram\")",
                              (int)t->len, t->text);
  }
  return sct_spec_word(t->text, t->len) != WORD_REFUSED
             ? SCT_OK
             : sct_spec_fail_body(spec, err, t->text, "a body may not contain `%.*s`", (int)t->len,
                                  t->text);
}

/* Brackets close, no word is refused, and something is there. */
static sct_status check_tokens(const sct_spec *spec, const token_list *body, sct_error *err) {
  const token *open[MAX_BRACKETS], *t = body->tokens;
  int depth = 0;
  for (; t->kind != TOKEN_END; t++) {
    const char c = t->text[0];
    if (strchr("([{", c)) {
      if (depth == MAX_BRACKETS) {
        return sct_spec_fail_body(spec, err, t->text, "brackets nest too deep");
      }
      open[depth++] = t;
    } else if (strchr(")]}", c)) {
      const char want = c == ')' ? '(' : c == ']' ? '[' : '{';
      if (depth == 0 || open[--depth]->text[0] != want) {
        return sct_spec_fail_body(spec, err, t->text, "`%c` closes nothing", c);
      }
    } else if (t->kind == TOKEN_NAME) {
      SCT_TRY(check_word(spec, t, err));
    }
  }
  if (depth > 0) {
    t = open[depth - 1];
    return sct_spec_fail_body(spec, err, t->text, "`%c` is never closed", t->text[0]);
  }
  if (body->n == 0) {
    return sct_spec_fail_body(spec, err, NULL, "the body is empty");
  }
  return sct_token_is(--t, ";") || sct_token_is(t, "}")
             ? SCT_OK
             : sct_spec_fail_body(spec, err, t->text, "`;` expected at the end");
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

static bool is_type(const token *t) {
  return t->kind == TOKEN_NAME &&
         (sct_token_is(t, "const") || sct_spec_word(t->text, t->len) == WORD_TYPE);
}

static bool at(const parser *p, const char *text) {
  return sct_token_is(&p->t[p->k], text);
}

/* Which of the texts stands there; -1: none. */
static int at_any(const parser *p, const char *const *texts, int n) {
  return sct_names_find_n(SCT_NAMES(texts, n), p->t[p->k].text, p->t[p->k].len);
}

/* Moves past the text if it stands there. */
static bool take(parser *p, const char *text) {
  const bool is = at(p, text);
  p->k += is;
  return is;
}

sct_status sct_parse_expect(parser *p, const char *text) {
  const token *t = &p->t[p->k];
  if (take(p, text)) {
    return SCT_OK;
  }
  const char *quote = t->kind == TOKEN_END ? "" : "`";
  return sct_spec_fail_body(p->spec, p->err, t->text, "`%s` expected before %s%.*s%s", text,
                            *quote ? quote : "the end", (int)t->len, t->text, quote);
}

/* A level deeper; left by p->depth--. */
static sct_status enter(parser *p) {
  return p->depth++ < MAX_DEPTH ? SCT_OK
                                : sct_spec_fail_body(p->spec, p->err, p->t[p->k].text,
                                                     "statements or expressions nest too deep");
}

sct_status sct_parse_node(parser *p, node **out, node_kind kind, int first, int at_token,
                          node *const *kids) {
  node *n = SCT_ARENA_NEW(&p->spec->arena, node, 1);
  *n = (node){.kind = kind, .first = first, .end = p->k, .at = at_token, .local = -1, .dim = -1};
  n->m.op = -1;
  if (kids) {
    memcpy(n->kid, kids, sizeof n->kid);
  }
  *(p->last_made ? &p->last_made->made : &p->tree->made) = n;
  *out = p->last_made = n;
  return SCT_OK;
}

/* ---- types ---- */

/* Does a type begin at token k that is not called, as in "float(x)"? */
static bool declares(const parser *p, int k) {
  const int first = k;
  while (is_type(&p->t[k])) {
    k++;
  }
  return k > first && !sct_token_is(&p->t[k], "(") && !sct_token_is(&p->t[k], "{");
}

/* "const unsigned int", "float"; false: nothing but `const`. */
static bool type_words(parser *p, local *out) {
  bool any = false;
  *out = (local){.lanes = 1, .is_integer = true};
  for (const token *t = &p->t[p->k]; is_type(t); t = &p->t[++p->k]) {
    if (sct_token_is(t, "const")) {
      out->is_const = true;
      continue;
    }
    any = true;
    const char *spelling = sct_spec_spelling(t->text, t->len);
    out->type = sct_value_type_of_word(t, out->type);
    out->is_unsigned =
        out->is_unsigned || sct_has_prefix(spelling ? spelling : t->text, "unsigned");
    out->is_auto = out->is_auto || sct_token_is(t, "auto");
    out->is_integer = out->is_integer && !sct_token_is(t, "bool") && !sct_token_is(t, "char") &&
                      !(spelling && strstr(spelling, "char")) &&
                      (out->type == VALUE_INT || out->type == VALUE_INTEGER);
    for (int k = 0; k < SCT_N_TYPES; k++) {
      const sct_type_info *type = sct_type_get((sct_type)k);
      out->lanes = sct_token_is(t, type->cuda) && type->lanes > 1 ? type->lanes : out->lanes;
    }
  }
  return any;
}

static sct_status expression(parser *p, node **out); /* with commas */
static sct_status one(parser *p, node **out);        /* up to a comma */
static sct_status unary(parser *p, node **out);

/* "[4][2]" after a name or a type; EMPTY where a number is left out. */
static sct_status extents(parser *p, node **list) {
  for (; take(p, "["); list = &(*list)->next) {
    SCT_TRY(at(p, "]") ? sct_parse_node(p, list, NODE_EMPTY, p->k, p->k, NULL)
                       : expression(p, list));
    SCT_TRY(sct_parse_expect(p, "]"));
  }
  return SCT_OK;
}

/* A type and what closes it, as in a cast. */
static sct_status named_type(parser *p, const char *close, value_type *type) {
  local named;
  node *other = NULL;
  (void)type_words(p, &named);
  *type = named.type;
  for (; at(p, "*") || at(p, "&") || is_type(&p->t[p->k]); p->k++) {
    *type = VALUE_UNKNOWN;
  }
  if (p->t[p->k].kind == TOKEN_NAME) {
    SCT_TRY(sct_parse_name(p, &other)); /* of a type that bodies do not know, most likely */
  }
  SCT_TRY(extents(p, &other));
  return sct_parse_expect(p, close);
}

/* "(float *)": nothing but a type between the brackets. */
static bool at_cast(const parser *p) {
  const token *t = &p->t[p->k + 1];
  const bool begins = at(p, "(") && is_type(t);
  while (begins && (is_type(t) || sct_token_is(t, "*") || sct_token_is(t, "&"))) {
    t++;
  }
  return begins && sct_token_is(t, ")");
}

/* ---- primaries ---- */

/* A value or `{ ... }`. */
static sct_status init(parser *p, node **out);

/* Values between commas, with the closing bracket. */
static sct_status values(parser *p, const char *close, node **out) {
  for (; !at(p, close); out = &(*out)->next) {
    SCT_TRY(init(p, out));
    if (!take(p, ",")) {
      break;
    }
  }
  return sct_parse_expect(p, close);
}

static sct_status init(parser *p, node **out) {
  const int first = p->k;
  node *kid[4] = {NULL};
  if (!take(p, "{")) {
    return one(p, out);
  }
  SCT_TRY(enter(p));
  SCT_TRY(values(p, "}", &kid[0]));
  p->depth--;
  return sct_parse_node(p, out, NODE_LIST, first, first, kid);
}

/* What begins with a word of CUDA. */
static sct_status word(parser *p, node **out) {
  const int first = p->k++;
  const token *t = &p->t[first];
  const word_kind kind = sct_spec_word(t->text, t->len);
  local type = {.type = VALUE_UNKNOWN};
  node *kid[4] = {NULL};
  if (sct_token_is(t, "sizeof")) {
    const bool of_type = at(p, "(") && declares(p, p->k + 1);
    p->k += of_type;
    SCT_TRY(of_type ? named_type(p, ")", &type.type) : unary(p, &kid[0]));
    return sct_parse_node(p, out, NODE_SIZEOF, first, first, kid);
  }
  bool braces = false;
  if (kind == WORD_TYPE) {
    p->k--;
    (void)type_words(p, &type);
    braces = at(p, "{");
    type.type = braces ? VALUE_UNKNOWN : type.type;
  } else if (sct_token_is(t, "static_cast") && take(p, "<")) {
    SCT_TRY(named_type(p, ">", &type.type));
  } else if (kind != WORD_FUNCTION) {
    return sct_parse_unexpected(p->spec, t, p->err);
  } else if (sct_token_is(t, "keep")) {
    return sct_spec_fail_body(p->spec, p->err, t->text,
                              "keep() is a statement that leaves a whole element of an output as "
                              "it was, as in `keep(%s);`; of a record with inout = true, fields "
                              "that are not assigned stay, too",
                              p->spec->operands[p->spec->n_inputs].name);
  } else if (!at(p, "(")) {
    return sct_spec_fail_body(p->spec, p->err, t->text, "'%.*s' is a function; call it",
                              (int)t->len, t->text);
  }
  if (braces && sct_spec_spelling(t->text, t->len)) {
    return sct_spec_fail_body(p->spec, p->err, t->text, "write `%.*s(...)`, with round brackets",
                              (int)t->len, t->text);
  }
  SCT_TRY(sct_parse_expect(p, braces ? "{" : "("));
  SCT_TRY(values(p, braces ? "}" : ")", &kid[0]));
  (void)sct_parse_node(p, out, kind == WORD_FUNCTION ? NODE_CALL : NODE_CAST, first, first, kid);
  (*out)->type = type.type;
  return SCT_OK;
}

static sct_status primary(parser *p, node **out) {
  const int first = p->k;
  const token *t = &p->t[first];
  value_type type = VALUE_UNKNOWN;
  node *kid[4] = {NULL};
  if (t->kind == TOKEN_NUMBER || sct_token_is(t, "true") || sct_token_is(t, "false")) {
    p->k++;
    return sct_parse_node(p, out, NODE_NUMBER, first, first, NULL);
  }
  if (t->kind == TOKEN_NAME) {
    return sct_spec_word(t->text, t->len) == WORD_NONE ? sct_parse_name(p, out) : word(p, out);
  }
  const bool casts = at_cast(p);
  if (!take(p, "(")) {
    return sct_parse_unexpected(p->spec, t, p->err);
  }
  SCT_TRY(casts ? named_type(p, ")", &type) : expression(p, &kid[0]));
  if (casts) {
    SCT_TRY(at(p, "{") ? init(p, &kid[0]) : unary(p, &kid[0]));
  } else {
    SCT_TRY(sct_parse_expect(p, ")"));
  }
  (void)sct_parse_node(p, out, casts ? NODE_CAST : NODE_BRACKETS, first, first, kid);
  (*out)->type = type;
  return SCT_OK;
}

/* ".x" of what is no array: of a variable or a scalar anything, which the compiler looks at. */
static sct_status member(parser *p, const node *base) {
  const token *t = &p->t[p->k], *before = t - 2;
  const bool any = base->kind == NODE_NAME && base->dim < 0 && !base->value && base->m.op < 0;
  const bool of_name = before->kind == TOKEN_NAME;
  if (of_name ? any : sct_spec_component(t, 4) >= 0) {
    p->k++;
    return SCT_OK;
  }
  node *other = NULL;
  SCT_TRY(sct_parse_name(p, &other)); /* that it is not known is said before the next error */
  return sct_parse_unexpected(p->spec, t, p->err);
}

static sct_status postfix(parser *p, node **out) {
  const int first = p->k;
  node *kid[4] = {NULL};
  SCT_TRY(primary(p, &kid[0]));
  for (node **to = &kid[1];; to = &(*to)->next) {
    const int suffix = p->k;
    node *index[4] = {NULL};
    node_kind kind = NODE_STEP;
    if (take(p, "[")) {
      kind = NODE_INDEX;
      SCT_TRY(expression(p, &index[0]));
      SCT_TRY(sct_parse_expect(p, "]"));
    } else if (p->t[suffix + 1].kind == TOKEN_NAME && take(p, ".")) {
      kind = NODE_MEMBER;
      SCT_TRY(member(p, kid[0]));
    } else if (take(p, "++") || take(p, "--")) {
      kid[0]->use = kid[1] ? kid[0]->use : USE_UPDATE;
    } else {
      break;
    }
    SCT_TRY(sct_parse_node(p, to, kind, suffix, suffix, index));
  }
  *out = kid[0];
  return kid[1] ? sct_parse_node(p, out, NODE_POSTFIX, first, first, kid) : SCT_OK;
}

/* ---- operators ---- */

static sct_status unary(parser *p, node **out) {
  static const char *const ops[] = {"++", "--", "&", "*", "!", "-", "+", "~"};
  const int first = p->k, op = at_any(p, ops, SCT_COUNT(ops));
  node *kid[4] = {NULL};
  if (op < 0) {
    return postfix(p, out);
  }
  SCT_TRY(enter(p));
  p->k++;
  SCT_TRY(unary(p, &kid[0]));
  p->depth--;
  node *name = kid[0]->kind == NODE_POSTFIX ? kid[0]->kid[0] : kid[0];
  name->is_addressed = op == 2;
  name->use = op < 2 && name == kid[0] ? USE_UPDATE : name->use;
  return sct_parse_node(p, out, NODE_UNARY, first, first, kid);
}

/* How tightly the binary operator there binds; 0: there is none. */
static int level_at(const parser *p) {
  static const struct {
    const char *op;
    int level;
  } ops[] = {{"||", 1}, {"&&", 2}, {"|", 3}, {"^", 4},  {"&", 5},  {"==", 6},
             {"!=", 6}, {"<", 7},  {">", 7}, {"<=", 7}, {">=", 7}, {"<<", 8},
             {">>", 8}, {"+", 9},  {"-", 9}, {"*", 10}, {"/", 10}, {"%", 10}};
  const int k =
      sct_names_find_n(SCT_NAMES_IN(ops, SCT_COUNT(ops), op), p->t[p->k].text, p->t[p->k].len);
  return k < 0 ? 0 : ops[k].level;
}

static sct_status binary(parser *p, int least, node **out) {
  const int first = p->k;
  SCT_TRY(unary(p, out));
  for (int level = level_at(p); level >= least; level = level_at(p)) {
    node *kid[4] = {*out};
    for (node *last = kid[0]; level_at(p) == level; last = last->next) {
      p->k++;
      SCT_TRY(binary(p, level + 1, &last->next));
    }
    SCT_TRY(sct_parse_node(p, out, NODE_BINARY, first, kid[0]->end, kid));
  }
  return SCT_OK;
}

static sct_status conditional(parser *p, node **out) {
  const int first = p->k;
  node *kid[4] = {NULL};
  SCT_TRY(binary(p, 1, &kid[0]));
  const int mark = p->k;
  *out = kid[0];
  if (!take(p, "?")) {
    return SCT_OK;
  }
  SCT_TRY(expression(p, &kid[1]));
  SCT_TRY(sct_parse_expect(p, ":"));
  SCT_TRY(one(p, &kid[2]));
  return sct_parse_node(p, out, NODE_CONDITIONAL, first, mark, kid);
}

/* Has it a place in memory, as far as its form says? */
static bool is_assignable(const parser *p, const node *n) {
  const node *last = n->kind == NODE_POSTFIX ? n->kid[1] : NULL;
  while (last && last->next) {
    last = last->next;
  }
  const char op = p->t[n->at].text[0];
  return last                    ? last->kind != NODE_STEP
         : n->kind == NODE_UNARY ? op == '*' || p->t[n->at].len == 2
                                 : n->kind != NODE_NUMBER && n->kind != NODE_BINARY;
}

static sct_status one(parser *p, node **out) {
  static const char *const ops[] = {
      "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="};
  const int first = p->k;
  node *kid[4] = {NULL};
  SCT_TRY(enter(p));
  SCT_TRY(conditional(p, &kid[0]));
  const int op = at_any(p, ops, SCT_COUNT(ops)), op_at = p->k;
  *out = kid[0];
  if (op >= 0) {
    if (!is_assignable(p, kid[0])) {
      return sct_parse_unexpected(p->spec, &p->t[p->k], p->err);
    }
    kid[0]->use = op == 0 ? USE_ASSIGN : USE_UPDATE;
    p->k++;
    SCT_TRY(one(p, &kid[1]));
    SCT_TRY(sct_parse_node(p, out, NODE_ASSIGN, first, op_at, kid));
  }
  p->depth--;
  return SCT_OK;
}

static sct_status expression(parser *p, node **out) {
  const int first = p->k;
  node *kid[4] = {NULL};
  SCT_TRY(one(p, &kid[0]));
  *out = kid[0];
  for (node *last = kid[0]; take(p, ","); last = last->next) {
    SCT_TRY(one(p, &last->next));
  }
  return kid[0]->next ? sct_parse_node(p, out, NODE_BINARY, first, kid[0]->end, kid) : SCT_OK;
}

sct_status sct_parse_expression(parser *p, node **out) {
  return expression(p, out);
}

/* ---- declarations ---- */

static sct_status declarator(parser *p, const local *type, node **out) {
  static const char *const marks[] = {"const", "*", "&", "&&"};
  const int first = p->k, number = p->tree->n_locals;
  local l = *type;
  node *kid[4] = {NULL};
  for (int mark = at_any(p, marks, 4); mark >= 0; mark = at_any(p, marks, 4)) {
    l = mark > 0 ? (local){.lanes = 1, .is_unsigned = l.is_unsigned} : l;
    p->k++;
  }
  SCT_TRY(sct_parse_declare(p, &p->t[p->k], &l));
  p->k++;
  SCT_TRY(extents(p, &kid[0]));
  if (kid[0]) {
    p->tree->locals[number].type = VALUE_UNKNOWN;
  }
  const int value = p->k;
  if (take(p, "=") || at(p, "{")) {
    SCT_TRY(init(p, &kid[1]));
  } else if (take(p, "(")) {
    node *list[4] = {NULL};
    SCT_TRY(values(p, ")", &list[0]));
    SCT_TRY(sct_parse_node(p, &kid[1], NODE_LIST, value, value, list));
  }
  (void)sct_parse_node(p, out, NODE_DECLARATOR, first, first, kid);
  (*out)->local = number;
  return SCT_OK;
}

/* Up to what ends it: `;`, or in the head of a statement `)` or `:`. */
static sct_status declaration(parser *p, node **out) {
  const int first = p->k;
  local type;
  node *kid[4] = {NULL};
  if (!type_words(p, &type)) {
    return sct_spec_fail_body(p->spec, p->err, p->t[first].text,
                              "`const` needs a type, as in `const float t = ...`");
  }
  node **to = &kid[0];
  do {
    SCT_TRY(declarator(p, &type, to));
    to = &(*to)->next;
  } while (take(p, ","));
  return sct_parse_node(p, out, NODE_DECLARATION, first, first, kid);
}

/* A declaration (if `declared`), an expression or nothing, and `end`. */
static sct_status part(parser *p, bool declared, const char *end, node **out) {
  SCT_TRY(at(p, end)                      ? sct_parse_node(p, out, NODE_EMPTY, p->k, p->k, NULL)
          : declared && declares(p, p->k) ? declaration(p, out)
                                          : expression(p, out));
  return sct_parse_expect(p, end);
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
  SCT_TRY(declares(p, p->k) ? declaration(p, list) : expression(p, list));
  if (take(p, ";")) {
    list = &(*list)->next;
    SCT_TRY(declares(p, p->k) ? declaration(p, list) : expression(p, list));
  }
  return sct_parse_expect(p, ")");
}

/* `if`, `while` and `switch` */
static sct_status branch(parser *p, node **out) {
  const int first = p->k++;
  const char word = p->t[first].text[0];
  node *kid[4] = {NULL};
  SCT_TRY(condition(p, &kid[0]));
  SCT_TRY(inner(p, &kid[1]));
  if (word == 'i' && take(p, "else")) {
    SCT_TRY(inner(p, &kid[2]));
  }
  const node_kind kind = word == 'i' ? NODE_IF : word == 'w' ? NODE_WHILE : NODE_SWITCH;
  return sct_parse_node(p, out, kind, first, first, kid);
}

static sct_status do_statement(parser *p, node **out) {
  const int first = p->k++;
  node *kid[4] = {NULL};
  SCT_TRY(inner(p, &kid[1]));
  SCT_TRY(sct_parse_expect(p, "while"));
  SCT_TRY(condition(p, &kid[0]));
  SCT_TRY(sct_parse_expect(p, ";"));
  return sct_parse_node(p, out, NODE_DO, first, first, kid);
}

static sct_status for_statement(parser *p, node **out) {
  const int first = p->k++;
  node *kid[4] = {NULL};
  SCT_TRY(sct_parse_expect(p, "("));
  const bool declared = declares(p, p->k);
  SCT_TRY(declared ? declaration(p, &kid[0]) : part(p, false, ";", &kid[0]));
  if (declared && take(p, ":")) {
    SCT_TRY(init(p, &kid[1]));
    SCT_TRY(sct_parse_expect(p, ")"));
    SCT_TRY(inner(p, &kid[2]));
    return sct_parse_node(p, out, NODE_RANGE, first, first, kid);
  }
  SCT_TRY(declared ? sct_parse_expect(p, ";") : SCT_OK);
  SCT_TRY(part(p, false, ";", &kid[1]));
  SCT_TRY(part(p, false, ")", &kid[2]));
  SCT_TRY(inner(p, &kid[3]));
  return sct_parse_node(p, out, NODE_FOR, first, first, kid);
}

static sct_status label(parser *p, node **out) {
  const int first = p->k++;
  node *kid[4] = {NULL};
  SCT_TRY(sct_token_is(&p->t[first], "case") ? conditional(p, &kid[0]) : SCT_OK);
  SCT_TRY(sct_parse_expect(p, ":"));
  return sct_parse_node(p, out, NODE_LABEL, first, first, kid);
}

static sct_status jump(parser *p, node **out) {
  const int first = p->k++;
  SCT_TRY(sct_parse_expect(p, ";"));
  return sct_parse_node(p, out, NODE_JUMP, first, first, NULL);
}

static sct_status block(parser *p, node **out) {
  const int first = p->k++;
  node *kid[4] = {NULL};
  for (node **to = &kid[0]; !take(p, "}"); to = &(*to)->next) {
    SCT_TRY(statement(p, to));
  }
  return sct_parse_node(p, out, NODE_BLOCK, first, first, kid);
}

/* "keep(o);": a statement of its own, about a whole element. */
static sct_status keep(parser *p, node **out) {
  const int first = p->k;
  const token *t = &p->t[first];
  int tap = -1;
  const int op = sct_spec_find_value(p->spec, t[2].text, t[2].len, &tap);
  if (!sct_token_is(&t[1], "(") || op < 0 || !p->spec->operands[op].is_output ||
      !sct_token_is(&t[3], ")") || !sct_token_is(&t[4], ";")) {
    return word(p, out); /* which it may not be elsewhere */
  }
  p->k += 5;
  (void)sct_parse_node(p, out, NODE_KEEP, first, first, NULL);
  (*out)->m.op = op;
  return SCT_OK;
}

static sct_status simple(parser *p, node **out) {
  const int first = p->k;
  node *kid[4] = {NULL};
  SCT_TRY(part(p, true, ";", &kid[0]));
  const node *e = *out = kid[0];
  if (e->kind == NODE_DECLARATION || e->kind == NODE_EMPTY) {
    return SCT_OK;
  }
  node *to = e->kid[0], *from = e->kid[1];
  if (e->kind == NODE_ASSIGN && to->kind == NODE_NAME && from->kind == NODE_NAME &&
      to->use == USE_ASSIGN && e->end == e->first + 3) {
    to->pair = from;
    from->pair = to;
  }
  return sct_parse_node(p, out, NODE_EXPRESSION, first, first, kid);
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
  const int k = sct_names_find_n(SCT_NAMES_IN(kinds, SCT_COUNT(kinds), word), p->t[p->k].text,
                                 p->t[p->k].len);
  SCT_TRY(enter(p));
  SCT_TRY((k >= 0 ? kinds[k].read : simple)(p, out));
  p->depth--;
  close_scope(p, k >= 0 ? outside : p->tree->n_locals); /* names of a head end with it */
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
  SCT_TRY(check_tokens(spec, &body, err));
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
