/* Expressions of a body's tree. */
#include <string.h>

#include "spec/spec_tree.h"

/* ---- operators ---- */

enum { TIGHTEST = 10 };

/* How tightly the binary operator there binds; 0: there is none. */
static int level_at(const parser *p) {
  static const struct {
    const char *op;
    int level;
  } ops[] = {{"||", 1}, {"&&", 2}, {"|", 3}, {"^", 4},  {"&", 5},  {"==", 6},
             {"!=", 6}, {"<", 7},  {">", 7}, {"<=", 7}, {">=", 7}, {"<<", 8},
             {">>", 8}, {"+", 9},  {"-", 9}, {"*", 10}, {"/", 10}, {"%", 10}};
  for (int k = 0; k < SCT_COUNT(ops); k++) {
    if (sct_parse_at(p, ops[k].op)) {
      return ops[k].level;
    }
  }
  return 0;
}

static bool at_any(const parser *p, const char *const *ops, int n) {
  bool any = false;
  for (int k = 0; k < n; k++) {
    any = any || sct_parse_at(p, ops[k]);
  }
  return any;
}

static bool at_assignment(const parser *p) {
  static const char *const ops[] = {
      "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="};
  return at_any(p, ops, SCT_COUNT(ops));
}

/* ---- types ---- */

void sct_parse_type(parser *p, local *out, int *words) {
  *out = (local){.lanes = 1, .is_integer = true};
  for (*words = 0; sct_parse_at_type(p, p->k); p->k++) {
    const token *t = &p->t[p->k];
    if (sct_token_is(t, "const")) {
      out->is_const = true;
      continue;
    }
    const char *spelling = sct_spec_spelling(t->text, t->len);
    const char *text = spelling ? spelling : t->text;
    out->type = sct_value_type_of_word(t, out->type);
    out->is_unsigned = out->is_unsigned || sct_has_prefix(text, "unsigned");
    out->is_auto = out->is_auto || sct_token_is(t, "auto");
    out->is_integer = out->is_integer && !sct_token_is(t, "bool") && !sct_token_is(t, "char") &&
                      !(spelling && strstr(spelling, "char")) &&
                      (out->type == VALUE_INT || out->type == VALUE_INTEGER);
    for (int k = 0; k < SCT_N_TYPES; k++) {
      const sct_type_info *type = sct_type_get((sct_type)k);
      out->lanes = sct_token_is(t, type->cuda) && type->lanes > 1 ? type->lanes : out->lanes;
    }
    (*words)++;
  }
}

/* What stands between "<" and ">", or between the brackets of a cast: a type. */
static sct_status named_type(parser *p, const char *close, value_type *type) {
  local named;
  int words = 0;
  sct_parse_type(p, &named, &words);
  *type = named.type;
  node *other = NULL;
  for (; sct_parse_at(p, "*") || sct_parse_at(p, "&") || sct_parse_at_type(p, p->k); p->k++) {
    *type = VALUE_UNKNOWN;
  }
  if (p->t[p->k].kind == TOKEN_NAME) {
    SCT_TRY(sct_parse_name(p, &other)); /* of a type that bodies do not know, most likely */
  }
  SCT_TRY(sct_parse_extents(p, &other));
  return sct_parse_expect(p, close);
}

/* "(float *)": nothing but a type between the brackets. */
static bool at_cast(const parser *p) {
  int k = p->k + 1;
  if (!sct_parse_at_type(p, k)) {
    return false;
  }
  while (sct_parse_at_type(p, k) || sct_token_is(&p->t[k], "*") || sct_token_is(&p->t[k], "&")) {
    k++;
  }
  return sct_token_is(&p->t[k], ")");
}

/* ---- primaries ---- */

static sct_status unary(parser *p, node **out);

static sct_status converted(parser *p, int first, value_type type, const char *open,
                            const char *close, node **out) {
  node *list = NULL;
  SCT_TRY(sct_parse_expect(p, open));
  SCT_TRY(sct_parse_values(p, close, &list));
  *out = sct_parse_node(p, NODE_CAST, first, first);
  (*out)->kid[0] = list;
  (*out)->type = type;
  return SCT_OK;
}

/* What begins with a word of CUDA: `p->k` is that. */
static sct_status word(parser *p, node **out) {
  const int first = p->k;
  const token *t = &p->t[first];
  const word_kind kind = sct_spec_word(t->text, t->len);
  value_type type = VALUE_UNKNOWN;
  node *part = NULL;
  if (kind == WORD_TYPE) {
    local named;
    int words = 0;
    sct_parse_type(p, &named, &words);
    const bool braces = sct_parse_at(p, "{");
    if (braces && sct_spec_spelling(t->text, t->len)) {
      return sct_spec_fail_body(p->spec, p->err, t->text, "write `%.*s(...)`, with round brackets",
                                (int)t->len, t->text);
    }
    return converted(p, first, braces ? VALUE_UNKNOWN : named.type, braces ? "{" : "(",
                     braces ? "}" : ")", out);
  }
  if (sct_token_is(t, "static_cast") && sct_token_is(&t[1], "<")) {
    p->k += 2;
    SCT_TRY(named_type(p, ">", &type));
    return converted(p, first, type, "(", ")", out);
  }
  if (sct_token_is(t, "sizeof")) {
    p->k++;
    if (sct_parse_at(p, "(") && sct_parse_declares(p, p->k + 1)) {
      p->k++;
      SCT_TRY(named_type(p, ")", &type));
    } else {
      SCT_TRY(unary(p, &part));
    }
    *out = sct_parse_node(p, NODE_SIZEOF, first, first);
    (*out)->kid[0] = part;
    return SCT_OK;
  }
  if (kind != WORD_FUNCTION) {
    return sct_parse_unexpected(p->spec, t, p->err);
  }
  if (sct_token_is(t, "keep")) {
    return sct_parse_bad_keep(p, t);
  }
  if (!sct_token_is(&t[1], "(")) {
    return sct_spec_fail_body(p->spec, p->err, t->text, "'%.*s' is a function; call it",
                              (int)t->len, t->text);
  }
  p->k += 2;
  SCT_TRY(sct_parse_values(p, ")", &part));
  *out = sct_parse_node(p, NODE_CALL, first, first);
  (*out)->kid[0] = part;
  return SCT_OK;
}

static sct_status primary(parser *p, node **out) {
  const int first = p->k;
  const token *t = &p->t[first];
  node *part = NULL;
  const bool is_number =
      t->kind == TOKEN_NUMBER || sct_token_is(t, "true") || sct_token_is(t, "false");
  if (t->kind == TOKEN_NAME && !is_number) {
    return sct_spec_word(t->text, t->len) == WORD_NONE ? sct_parse_name(p, out) : word(p, out);
  }
  if (!is_number && !sct_parse_at(p, "(")) {
    return sct_parse_unexpected(p->spec, t, p->err);
  }
  const bool casts = at_cast(p);
  p->k++;
  if (casts) {
    value_type type = VALUE_UNKNOWN;
    SCT_TRY(named_type(p, ")", &type));
    SCT_TRY(sct_parse_at(p, "{") ? sct_parse_init(p, &part) : unary(p, &part));
    *out = sct_parse_node(p, NODE_CAST, first, first);
    (*out)->type = type;
  } else {
    if (!is_number) {
      SCT_TRY(sct_parse_expression(p, &part));
      SCT_TRY(sct_parse_expect(p, ")"));
    }
    *out = sct_parse_node(p, is_number ? NODE_NUMBER : NODE_BRACKETS, first, first);
  }
  (*out)->kid[0] = part;
  return SCT_OK;
}

/* ".x" of what is no array: of a variable or a scalar anything, which the compiler looks at. */
static sct_status check_member(parser *p, const node *base) {
  const token *t = &p->t[p->k + 1], *before = &p->t[p->k - 1];
  const bool any = base->kind == NODE_NAME && base->dim < 0 && !base->value && base->m.op < 0;
  const bool of_name = before->kind == TOKEN_NAME;
  if ((any && of_name) || (!of_name && sct_spec_component(t, 4) >= 0)) {
    return SCT_OK;
  }
  node *other = NULL;
  p->k++;
  SCT_TRY(sct_parse_name(p, &other)); /* that it is not known is said before the next error */
  return sct_parse_unexpected(p->spec, t, p->err);
}

static sct_status postfix(parser *p, node **out) {
  const int first = p->k;
  SCT_TRY(primary(p, out));
  node *base = *out, *list = NULL;
  for (node **to = &list;; to = &(*to)->next) {
    const int at = p->k;
    node *index = NULL;
    node_kind kind = NODE_STEP;
    if (sct_parse_at(p, "[")) {
      kind = NODE_INDEX;
      p->k++;
      SCT_TRY(sct_parse_expression(p, &index));
      SCT_TRY(sct_parse_expect(p, "]"));
    } else if (sct_parse_at(p, ".") && p->t[at + 1].kind == TOKEN_NAME) {
      kind = NODE_MEMBER;
      SCT_TRY(check_member(p, base));
      p->k += 2;
    } else if (sct_parse_at(p, "++") || sct_parse_at(p, "--")) {
      base->use = list ? base->use : USE_UPDATE;
      p->k++;
    } else {
      break;
    }
    *to = sct_parse_node(p, kind, at, at);
    (*to)->kid[0] = index;
  }
  if (list) {
    *out = sct_parse_node(p, NODE_POSTFIX, first, first);
    (*out)->kid[0] = base;
    (*out)->kid[1] = list;
  }
  return SCT_OK;
}

static sct_status unary(parser *p, node **out) {
  static const char *const ops[] = {"!", "-", "+", "~", "*", "&", "++", "--"};
  const int first = p->k;
  if (!at_any(p, ops, SCT_COUNT(ops))) {
    return postfix(p, out);
  }
  node *of = NULL;
  SCT_TRY(sct_parse_enter(p));
  p->k++;
  SCT_TRY(unary(p, &of));
  p->depth--;
  *out = sct_parse_node(p, NODE_UNARY, first, first);
  (*out)->kid[0] = of;
  node *name = of->kind == NODE_POSTFIX ? of->kid[0] : of;
  name->is_addressed = sct_node_is(p->tree, *out, "&");
  if (p->t[first].len == 2 && of == name) {
    of->use = USE_UPDATE;
  }
  return SCT_OK;
}

/* ---- from there up ---- */

static sct_status binary(parser *p, int least, node **out) {
  const int first = p->k;
  SCT_TRY(unary(p, out));
  for (int level = level_at(p); level >= least; level = level_at(p)) {
    node *list = *out;
    for (node *last = list; level_at(p) == level; last = last->next) {
      p->k++;
      SCT_TRY(binary(p, level + 1, &last->next));
    }
    *out = sct_parse_node(p, NODE_BINARY, first, list->end);
    (*out)->kid[0] = list;
  }
  return SCT_OK;
}

sct_status sct_parse_conditional(parser *p, node **out) {
  const int first = p->k;
  node *kid[3] = {NULL};
  SCT_TRY(binary(p, 1, out));
  if (!sct_parse_at(p, "?")) {
    return SCT_OK;
  }
  const int at = p->k++;
  kid[0] = *out;
  SCT_TRY(sct_parse_expression(p, &kid[1]));
  SCT_TRY(sct_parse_expect(p, ":"));
  SCT_TRY(sct_parse_one(p, &kid[2]));
  *out = sct_parse_node(p, NODE_CONDITIONAL, first, at);
  memcpy((*out)->kid, kid, sizeof kid);
  return SCT_OK;
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

sct_status sct_parse_one(parser *p, node **out) {
  const int first = p->k;
  SCT_TRY(sct_parse_enter(p));
  SCT_TRY(sct_parse_conditional(p, out));
  if (at_assignment(p)) {
    if (!is_assignable(p, *out)) {
      return sct_parse_unexpected(p->spec, &p->t[p->k], p->err);
    }
    const int at = p->k++;
    node *to = *out, *value = NULL;
    to->use = sct_token_is(&p->t[at], "=") ? USE_ASSIGN : USE_UPDATE;
    SCT_TRY(sct_parse_one(p, &value));
    *out = sct_parse_node(p, NODE_ASSIGN, first, at);
    (*out)->kid[0] = to;
    (*out)->kid[1] = value;
  }
  p->depth--;
  return SCT_OK;
}

sct_status sct_parse_expression(parser *p, node **out) {
  const int first = p->k;
  SCT_TRY(sct_parse_one(p, out));
  if (sct_parse_at(p, ",")) {
    node *list = *out;
    for (node *last = list; sct_parse_at(p, ","); last = last->next) {
      p->k++;
      SCT_TRY(sct_parse_one(p, &last->next));
    }
    *out = sct_parse_node(p, NODE_BINARY, first, list->end);
    (*out)->kid[0] = list;
  }
  return SCT_OK;
}

sct_status sct_parse_init(parser *p, node **out) {
  if (!sct_parse_at(p, "{")) {
    return sct_parse_one(p, out);
  }
  const int first = p->k++;
  node *list = NULL;
  SCT_TRY(sct_parse_enter(p));
  SCT_TRY(sct_parse_values(p, "}", &list));
  p->depth--;
  *out = sct_parse_node(p, NODE_LIST, first, first);
  (*out)->kid[0] = list;
  return SCT_OK;
}

sct_status sct_parse_values(parser *p, const char *close, node **out) {
  for (; !sct_parse_at(p, close); out = &(*out)->next) {
    SCT_TRY(sct_parse_init(p, out));
    if (!sct_parse_at(p, ",")) {
      break;
    }
    p->k++;
  }
  return sct_parse_expect(p, close);
}
