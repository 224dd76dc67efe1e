/* The types of a body's expressions, as far as they are clear, and shifts by more bits than a value
 * has: undefined in C, and every variant of the kernel would give the same, so no verification
 * finds them. */
#include <stdlib.h>
#include <string.h>

#include "spec/spec_tree.h"

/* ---- of names ---- */

static value_type of_type(sct_type type) {
  const sct_type_info *info = sct_type_get(type);
  if (type == SCT_TYPE_F32) {
    return VALUE_FLOAT;
  }
  if (type == SCT_TYPE_F32X2 || type == SCT_TYPE_F32X4) {
    return VALUE_FLOATS;
  }
  if (info->lanes > 1 && type != SCT_TYPE_F16X2 && type != SCT_TYPE_BF16X2) {
    return VALUE_VECTOR;
  }
  const bool is_number = info->lanes == 1 && info->kind != SCT_KIND_FLOAT;
  return !is_number ? VALUE_UNKNOWN : info->bytes <= 4 ? VALUE_INT : VALUE_INTEGER;
}

value_type sct_value_type_of_word(const token *t, value_type so_far) {
  static const struct {
    const char *word;
    value_type type;
  } words[] = {{"float", VALUE_FLOAT},  {"float2", VALUE_FLOATS},  {"float4", VALUE_FLOATS},
               {"int", VALUE_INT},      {"bool", VALUE_INT},       {"char", VALUE_INT},
               {"short", VALUE_INT},    {"long", VALUE_INTEGER},   {"signed", VALUE_INT},
               {"unsigned", VALUE_INT}, {"double2", VALUE_VECTOR}, {"int2", VALUE_VECTOR},
               {"int4", VALUE_VECTOR},  {"char4", VALUE_VECTOR},   {"uchar4", VALUE_VECTOR}};
  const char *spelling = sct_spec_spelling(t->text, t->len);
  if (spelling) {
    return strstr(spelling, "long") ? VALUE_INTEGER : VALUE_INT;
  }
  const int k = sct_names_find_n(SCT_NAMES_IN(words, SCT_COUNT(words), word), t->text, t->len);
  const value_type type = k >= 0 ? words[k].type : VALUE_UNKNOWN;
  return type == VALUE_INT && so_far == VALUE_INTEGER ? so_far : type; /* "long int" */
}

static value_type of_name(const sct_spec *spec, const body_tree *tree, const node *n) {
  const token *t = &tree->t[n->first];
  if (n->m.op >= 0) {
    const sct_record *record = &spec->operands[n->m.op].record;
    const sct_field *field = n->m.field >= 0 ? &record->fields[n->m.field] : NULL;
    const value_type type = field ? of_type(field->type) : VALUE_UNKNOWN;
    if (field && field->n_elements > 0) {
      return sct_type_get(field->type)->shared > 1 ? VALUE_INT : VALUE_UNKNOWN;
    }
    return n->m.lane < 0 ? type : type == VALUE_FLOATS ? VALUE_FLOAT : VALUE_UNKNOWN;
  }
  if (n->local >= 0) {
    return tree->locals[n->local].type;
  }
  for (int k = 0; k < spec->n_scalars; k++) {
    if (sct_token_is(t, spec->scalars[k].name)) {
      return of_type(spec->scalars[k].type);
    }
  }
  const value_type type = n->value && !sct_reduce_is_arg(n->value->reduce) ? of_type(n->value->type)
                          : n->value                                       ? VALUE_UNKNOWN
                                     : VALUE_INTEGER; /* an index or an extent */
  return type == VALUE_INT ? VALUE_INTEGER : type;    /* a value may be kept in a wider type */
}

static value_type of_number(const token *t) {
  const bool hex = t->len > 1 && t->text[0] == '0' && (t->text[1] == 'x' || t->text[1] == 'X');
  bool real = false;
  for (size_t k = 0; k < t->len && !hex && t->kind == TOKEN_NUMBER; k++) {
    real = real || strchr(".eE", t->text[k]);
  }
  char *end = NULL;
  const unsigned long long value = strtoull(t->text, &end, 0);
  const bool suffix = end == t->text + t->len - 1 && (*end == 'u' || *end == 'U');
  const bool narrow = (end == t->text + t->len && value <= INT32_MAX) ||
                      (suffix && value <= UINT32_MAX) || t->kind == TOKEN_NAME;
  const char last = t->text[t->len - 1];
  return !real                        ? (narrow ? VALUE_INT : VALUE_INTEGER)
         : last == 'f' || last == 'F' ? VALUE_FLOAT
                                      : VALUE_UNKNOWN;
}

/* ---- of calls ---- */

/* Functions of a float and their fast forms. */
static const struct {
  const char *name, *fast;
} functions[] = {{"sin", "__sinf"},      {"cos", "__cosf"},     {"tan", "__tanf"},
                 {"exp", "__expf"},      {"exp10", "__exp10f"}, {"log", "__logf"},
                 {"log2", "__log2f"},    {"log10", "__log10f"}, {"pow", "__powf"},
                 {"sqrt", "sqrt_approx"}};

const char *sct_tree_fast_function(const token *t, bool *generic) {
  for (int k = 0; k < SCT_COUNT(functions); k++) {
    const size_t n = strlen(functions[k].name);
    const bool same = t->len >= n && strncmp(t->text, functions[k].name, n) == 0;
    *generic = same && t->len == n;
    if (same && (t->len == n || (t->len == n + 1 && t->text[n] == 'f'))) {
      return functions[k].fast;
    }
  }
  return NULL;
}

static value_type of_call(const body_tree *tree, const node *n) {
  static const char *const others[] = {"erf", "modf", "isinf"}; /* in f, and of no float */
  /* functions that give what they get, of floats as of doubles */
  static const char *const keeping[] = {"min", "max",   "abs",  "fabs", "fmin", "fmax",
                                        "fma", "floor", "ceil", "tanh", "exp2", "rsqrt"};
  const token *t = &tree->t[n->first];
  bool generic = false;
  const bool keeps = (sct_tree_fast_function(t, &generic) && generic) ||
                     sct_names_find_n(SCT_NAMES(keeping, SCT_COUNT(keeping)), t->text, t->len) >= 0;
  if (keeps) {
    return sct_tree_all_float(n->kid[0]) ? VALUE_FLOAT : VALUE_UNKNOWN;
  }
  return t->text[t->len - 1] == 'f' &&
                 sct_names_find_n(SCT_NAMES(others, SCT_COUNT(others)), t->text, t->len) < 0
             ? VALUE_FLOAT
             : VALUE_UNKNOWN;
}

bool sct_tree_all_float(const node *list) {
  bool all = list != NULL;
  for (const node *n = list; n; n = n->next) {
    all = all && n->type == VALUE_FLOAT;
  }
  return all;
}

/* ---- of operators ---- */

value_type sct_value_type_joined(value_type a, value_type b) {
  const bool known =
      a != VALUE_UNKNOWN && !sct_is_vector(a) && b != VALUE_UNKNOWN && !sct_is_vector(b);
  return !known                                 ? VALUE_UNKNOWN
         : a == VALUE_FLOAT || b == VALUE_FLOAT ? VALUE_FLOAT
         : a == b                               ? a
                                                : VALUE_INTEGER;
}

/* Of two operands of the binary operator `op`. */
static value_type of_pair(const token *op, value_type a, value_type b) {
  const char c = op->text[0];
  if (c == ',') {
    return b;
  }
  if (op->len == 1 && strchr("+-*/", c)) {
    return sct_value_type_joined(a, b);
  }
  if (op->len == 1 && strchr("%&|^", c)) {
    return a == VALUE_INT && b == VALUE_INT ? VALUE_INT : VALUE_INTEGER;
  }
  const bool shifts = op->len == 2 && (c == '<' || c == '>') && op->text[1] == c;
  return shifts && a != VALUE_INT ? VALUE_INTEGER : VALUE_INT; /* a comparison gives a bool */
}

static value_type of_suffixes(const node *n) {
  value_type type = n->kid[0]->type;
  for (const node *s = n->kid[1]; s; s = s->next) {
    type = s->kind == NODE_STEP                             ? type
           : s->kind == NODE_MEMBER && type == VALUE_FLOATS ? VALUE_FLOAT
                                                            : VALUE_UNKNOWN;
  }
  return type;
}

static value_type of_node(const sct_spec *spec, const body_tree *tree, node *n) {
  const char op = tree->t[n->at].text[0];
  switch (n->kind) {
  case NODE_NUMBER:
    return of_number(&tree->t[n->first]);
  case NODE_NAME:
    return of_name(spec, tree, n);
  case NODE_CALL:
    return of_call(tree, n);
  case NODE_CAST:
    return n->type;
  case NODE_BRACKETS:
  case NODE_ASSIGN:
    return n->kid[0]->type;
  case NODE_POSTFIX:
    return of_suffixes(n);
  case NODE_UNARY:
    return op == '!' ? VALUE_INT : op == '*' || op == '&' ? VALUE_UNKNOWN : n->kid[0]->type;
  case NODE_CONDITIONAL:
    return sct_value_type_joined(n->kid[1]->type, n->kid[2]->type);
  case NODE_BINARY:
    n->kid[0]->so_far = n->kid[0]->type;
    for (node *k = n->kid[0]; k->next; k = k->next) {
      k->next->so_far = of_pair(&tree->t[k->end], k->so_far, k->next->type);
      n->type = k->next->so_far;
    }
    return n->type;
  default:
    return VALUE_UNKNOWN;
  }
}

void sct_tree_types(const sct_spec *spec, body_tree *tree) {
  for (node *n = tree->made; n; n = n->made) {
    n->type = of_node(spec, tree, n);
    local *l = n->kind == NODE_DECLARATOR ? &tree->locals[n->local] : NULL;
    if (l && l->is_auto && !n->kid[0] && n->kid[1]) {
      l->type = n->kid[1]->type;
    }
  }
}

/* ---- shifts ---- */

/* A shift of a value of type `of` by what stands after token `op`. */
static sct_status check_shift(const sct_spec *spec, const body_tree *tree, int op, value_type of,
                              sct_error *err) {
  const token *t = &tree->t[op];
  const bool minus = sct_token_is(&t[1], "-");
  const token *by = &t[1 + minus];
  char *end = NULL;
  const int64_t bits = by->kind == TOKEN_NUMBER ? strtoll(by->text, &end, 0) : 0;
  const bool whole = bits != 0 && (end >= by->text + by->len || strchr("uUlL", *end) != NULL);
  const bool narrow = bits >= 32 && bits < 64 && of == VALUE_INT;
  if (!whole || !(minus || bits >= 64 || narrow)) {
    return SCT_OK;
  }
  return sct_spec_fail_body(
      spec, err, t->text, "`%.*s %s%lld` shifts by %s: that is undefined in C; %s", (int)t->len,
      t->text, minus ? "-" : "", (long long)bits,
      minus    ? "a negative number"
      : narrow ? "as many bits as an int has, or more"
               : "as many bits as the widest integer has, or more",
      narrow ? "convert the left side to `long long` first" : "shift by 0 to 63");
}

sct_status sct_spec_check_shifts(const sct_spec *spec, const body_tree *tree, sct_error *err) {
  for (const node *n = tree->made; n; n = n->made) {
    const bool assigns = sct_node_is(tree, n, "<<=") || sct_node_is(tree, n, ">>=");
    if (n->kind == NODE_ASSIGN && assigns) {
      SCT_TRY(check_shift(spec, tree, n->at, n->kid[0]->type, err));
    }
    for (const node *k = n->kind == NODE_BINARY ? n->kid[0] : NULL; k && k->next; k = k->next) {
      if (sct_token_is(&tree->t[k->end], "<<") || sct_token_is(&tree->t[k->end], ">>")) {
        SCT_TRY(check_shift(spec, tree, k->end, k->so_far, err));
      }
    }
  }
  return SCT_OK;
}
