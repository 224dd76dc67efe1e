/* Bodies in fast arithmetic: what CUDA computes of floats with fewer instructions and larger
 * errors.
 *
 * Functions get their approximate names, a division of floats becomes __fdividef, 1 / sqrtf(x)
 * becomes rsqrtf(x). Types decide, so each expression's is followed as far as it is clear; where it
 * is not, the text stays. What bodies compute of doubles, integers and halves stays as well. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "spec/spec_internal.h"

enum { MAX_EDITS = 512, MAX_LOCALS = 64, MAX_DEPTH = 128, UNARY = 14 };

/* FLOATS: a vector of floats, whose components are some. */
typedef enum value_type { UNKNOWN, FLOAT, INTEGER, FLOATS } value_type;

/* Text in the place of `len` bytes of the body. Of several at one place the later come first. */
typedef struct edit {
  const char *at;
  size_t len;
  char text[64];
} edit;

typedef struct value {
  value_type type;
  int first, end; /* its tokens */
  bool is_one;    /* the number 1 */
} value;

typedef struct fast {
  const sct_spec *spec;
  bool component; /* names of arrays stand for one number of them */
  const token *t;
  int n, k; /* tokens; the current one */
  int depth;
  edit edits[MAX_EDITS];
  int n_edits;
  bool too_many;
  struct {
    const token *name;
    value_type type;
  } locals[MAX_LOCALS];
  int n_locals;
} fast;

/* Functions of a float and their fast forms. */
static const struct {
  const char *name, *approximate;
} functions[] = {{"sin", "__sinf"},      {"cos", "__cosf"},     {"tan", "__tanf"},
                 {"exp", "__expf"},      {"exp10", "__exp10f"}, {"log", "__logf"},
                 {"log2", "__log2f"},    {"log10", "__log10f"}, {"pow", "__powf"},
                 {"sqrt", "sqrt_approx"}};

static bool at(const fast *f, const char *text) {
  return f->k < f->n && sct_token_is(&f->t[f->k], text);
}

static void replace(fast *f, const char *from, size_t len, const char *text) {
  if (f->n_edits == MAX_EDITS) {
    f->too_many = true;
    return;
  }
  edit *e = &f->edits[f->n_edits++];
  *e = (edit){.at = from, .len = len};
  snprintf(e->text, sizeof e->text, "%s", text);
}

static void insert(fast *f, const char *place, const char *text) {
  replace(f, place, 0, text);
}

static const char *end_of(const token *t) {
  return t->text + t->len;
}

/* ---- types of names ---- */

static value_type of_type(sct_type type) {
  const sct_type_info *info = sct_type_get(type);
  if (type == SCT_TYPE_F32) {
    return FLOAT;
  }
  if (type == SCT_TYPE_F32X2 || type == SCT_TYPE_F32X4) {
    return FLOATS;
  }
  return info->lanes == 1 && info->kind != SCT_KIND_FLOAT ? INTEGER : UNKNOWN;
}

static value_type of_word(const token *t) {
  static const struct {
    const char *word;
    value_type type;
  } words[] = {{"float", FLOAT},    {"float2", FLOATS},   {"float4", FLOATS}, {"int", INTEGER},
               {"bool", INTEGER},   {"char", INTEGER},    {"short", INTEGER}, {"long", INTEGER},
               {"signed", INTEGER}, {"unsigned", INTEGER}};
  for (int k = 0; k < SCT_COUNT(words); k++) {
    if (sct_token_is(t, words[k].word)) {
      return words[k].type;
    }
  }
  return UNKNOWN;
}

/* The field after a record's name, which is read too. */
static value_type of_field(fast *f, const sct_record *record) {
  if (f->component) {
    const value_type type = of_type(record->fields[0].type);
    return type == FLOATS ? FLOAT : type;
  }
  if (record->fields[0].name[0] == '\0' || !at(f, ".")) {
    return record->fields[0].name[0] == '\0' ? of_type(record->fields[0].type) : UNKNOWN;
  }
  const token *name = &f->t[f->k + 1];
  const int field = sct_spec_find_field(record, name->text, name->len);
  f->k += 2;
  if (field >= 0 && record->fields[field].n_elements > 0) {
    return UNKNOWN; /* the index after it is read by others */
  }
  return field >= 0 ? of_type(record->fields[field].type) : UNKNOWN;
}

static value_type of_name(fast *f, const token *name) {
  const sct_spec *spec = f->spec;
  int tap = -1;
  for (int k = f->n_locals - 1; k >= 0; k--) {
    const token *local = f->locals[k].name;
    if (local->len == name->len && strncmp(local->text, name->text, name->len) == 0) {
      return f->locals[k].type;
    }
  }
  const int op = sct_spec_find_value(spec, name->text, name->len, &tap);
  if (op >= 0) {
    return of_field(f, &spec->operands[op].record);
  }
  for (int k = 0; k < spec->n_scalars; k++) {
    if (sct_token_is(name, spec->scalars[k].name)) {
      return of_type(spec->scalars[k].type);
    }
  }
  const sct_value *reduced = sct_spec_find_step_value(spec, name->text, name->len);
  if (reduced) {
    return sct_reduce_is_arg(reduced->reduce) ? UNKNOWN : of_type(reduced->type);
  }
  return sct_spec_find_dim(spec, name->text, name->len) >= 0 || sct_spec_is_extent(spec, name)
             ? INTEGER
             : UNKNOWN;
}

static value_type of_number(const token *t) {
  const bool hex = t->len > 1 && t->text[0] == '0' && (t->text[1] == 'x' || t->text[1] == 'X');
  bool real = false;
  for (size_t k = 0; k < t->len && !hex; k++) {
    real = real || strchr(".eE", t->text[k]);
  }
  const char last = t->text[t->len - 1];
  return !real ? INTEGER : last == 'f' || last == 'F' ? FLOAT : UNKNOWN;
}

/* ---- expressions ---- */

static value expression(fast *f, int least);

/* Do both operands make a float? */
static value_type joined(value_type a, value_type b) {
  const bool known = (a == FLOAT || a == INTEGER) && (b == FLOAT || b == INTEGER);
  return !known ? UNKNOWN : a == INTEGER && b == INTEGER ? INTEGER : FLOAT;
}

/* The kind of all arguments "(a, b)" after the current token. */
static value_type arguments(fast *f) {
  value_type all = UNKNOWN;
  bool first = true;
  f->k++;
  while (f->k < f->n && !at(f, ")")) {
    const int before = f->k;
    const value_type one = expression(f, 2).type;
    all = first || one == all ? one : UNKNOWN;
    first = false;
    f->k += at(f, ",") || (f->k == before && !at(f, ")"));
  }
  f->k += f->k < f->n;
  return all;
}

/* The function of C for floats that `t` names, and without a suffix for several types; NULL. */
static const char *approximate(const token *t, bool *generic) {
  for (int k = 0; k < SCT_COUNT(functions); k++) {
    const size_t n = strlen(functions[k].name);
    const bool same = t->len >= n && strncmp(t->text, functions[k].name, n) == 0;
    *generic = same && t->len == n;
    if (same && (t->len == n || (t->len == n + 1 && t->text[n] == 'f'))) {
      return functions[k].approximate;
    }
  }
  return NULL;
}

static bool returns_float(const token *t) {
  static const char *const others[] = {"erf", "modf", "isinf"};
  for (int k = 0; k < SCT_COUNT(others); k++) {
    if (sct_token_is(t, others[k])) {
      return false;
    }
  }
  return t->text[t->len - 1] == 'f' && sct_spec_word(t->text, t->len) == WORD_FUNCTION;
}

/* Functions that give what they get, of floats as of doubles. */
static bool keeps_type(const token *t) {
  static const char *const names[] = {"min", "max",   "abs",  "fabs", "fmin", "fmax",
                                      "fma", "floor", "ceil", "tanh", "exp2", "rsqrt"};
  bool generic = false, found = approximate(t, &generic) && generic;
  for (int k = 0; k < SCT_COUNT(names); k++) {
    found = found || sct_token_is(t, names[k]);
  }
  return found;
}

static value call(fast *f, const token *name) {
  value v = {.first = f->k - 1};
  bool generic = false;
  const char *other = approximate(name, &generic);
  const value_type given = arguments(f);
  v.type = keeps_type(name)      ? (given == FLOAT ? FLOAT : UNKNOWN)
           : returns_float(name) ? FLOAT
                                 : of_word(name);
  if (other && (!generic || given == FLOAT)) {
    replace(f, name->text, name->len, other);
  }
  v.end = f->k;
  return v;
}

/* "(float)" and the like; false: what stands in parentheses is no type. */
static bool cast(fast *f, value_type *type) {
  const token *t = &f->t[f->k];
  if (sct_spec_word(t[1].text, t[1].len) != WORD_TYPE) {
    return false;
  }
  *type = of_word(&t[1]);
  int end = f->k + 1;
  while (end < f->n && !sct_token_is(&f->t[end], ")")) {
    *type =
        sct_spec_word(f->t[end].text, f->t[end].len) == WORD_TYPE ? of_word(&f->t[end]) : UNKNOWN;
    end++;
  }
  f->k = end + 1;
  return true;
}

/* ".x" and "[i]" after a value. */
static void suffixes(fast *f, value *v) {
  for (; at(f, ".") || at(f, "[") || at(f, "++") || at(f, "--"); v->end = f->k) {
    if (at(f, ".")) {
      v->type = v->type == FLOATS ? FLOAT : UNKNOWN;
      f->k += 2;
    } else if (at(f, "[")) {
      f->k++;
      (void)expression(f, 0);
      f->k += at(f, "]");
      v->type = UNKNOWN;
    } else {
      f->k++;
    }
  }
}

/* "static_cast<float>(x)" */
static value_type static_cast(fast *f) {
  value_type type = UNKNOWN;
  for (f->k++; f->k < f->n && !at(f, "("); f->k++) {
    type =
        sct_spec_word(f->t[f->k].text, f->t[f->k].len) == WORD_TYPE ? of_word(&f->t[f->k]) : type;
  }
  (void)arguments(f);
  return type;
}

static value primary(fast *f) {
  value v = {.first = f->k};
  const token *t = &f->t[f->k];
  if (at(f, "static_cast")) {
    v.type = static_cast(f);
  } else if (at(f, "(")) {
    if (cast(f, &v.type)) {
      (void)expression(f, UNARY);
    } else {
      f->k++;
      v.type = expression(f, 0).type;
      f->k += at(f, ")");
    }
  } else if (at(f, "-") || at(f, "+") || at(f, "!") || at(f, "~") || at(f, "++") || at(f, "--")) {
    f->k++;
    const value_type of = expression(f, UNARY).type;
    v.type = sct_token_is(t, "!") ? INTEGER : of;
  } else if (t->kind == TOKEN_NUMBER) {
    v.type = of_number(t);
    v.is_one = strtod(t->text, NULL) == 1.0;
    f->k++;
  } else if (sct_spec_is_reader(t)) { /* "signed_bits<4>(q, 1)" */
    f->k += 4;
    (void)arguments(f);
    v.type = INTEGER;
  } else if (t->kind == TOKEN_NAME) {
    f->k++;
    if (at(f, "(")) {
      v = call(f, t);
    } else {
      v.type = sct_token_is(t, "true") || sct_token_is(t, "false") ? INTEGER : of_name(f, t);
    }
  }
  v.end = f->k;
  suffixes(f, &v);
  return v;
}

static const struct {
  const char *op;
  int level;
} binary[] = {{",", 1},   {"=", 2},   {"+=", 2},  {"-=", 2}, {"*=", 2}, {"/=", 2}, {"%=", 2},
              {"&=", 2},  {"|=", 2},  {"^=", 2},  {"?", 3},  {"||", 4}, {"&&", 5}, {"|", 6},
              {"^", 7},   {"&", 8},   {"==", 9},  {"!=", 9}, {"<", 10}, {">", 10}, {"<=", 10},
              {">=", 10}, {"<<", 11}, {">>", 11}, {"+", 12}, {"-", 12}, {"*", 13}, {"/", 13},
              {"%", 13},  {"<<=", 2}, {">>=", 2}};

static int level_at(const fast *f) {
  for (int k = 0; k < SCT_COUNT(binary); k++) {
    if (at(f, binary[k].op)) {
      return binary[k].level;
    }
  }
  return 0;
}

/* Is the value in parentheses, and nothing else? */
static bool is_enclosed(const fast *f, const value *v) {
  int depth = 0;
  for (int k = v->first; k < v->end; k++) {
    depth += sct_token_is(&f->t[k], "(") ? 1 : sct_token_is(&f->t[k], ")") ? -1 : 0;
    if (depth == 0) {
      return k == v->end - 1 && k > v->first && f->t[v->first].kind == TOKEN_PUNCT &&
             sct_token_is(&f->t[v->first], "(");
    }
  }
  return false;
}

static void drop_parentheses(fast *f, const value *v) {
  if (is_enclosed(f, v)) {
    replace(f, f->t[v->first].text, 1, "");
    replace(f, f->t[v->end - 1].text, 1, "");
  }
}

/* 1 / sqrtf(x), whose function has become sqrt_approx: that edit becomes rsqrtf. */
static bool is_reciprocal_root(fast *f, const value *a, const value *b) {
  edit *e = f->n_edits > 0 ? &f->edits[0] : NULL;
  while (e && e < f->edits + f->n_edits && e->at != f->t[b->first].text) {
    e++;
  }
  if (!a->is_one || !e || e == f->edits + f->n_edits || strcmp(e->text, "sqrt_approx") != 0 ||
      !sct_token_is(&f->t[b->first + 1], "(")) {
    return false;
  }
  snprintf(e->text, sizeof e->text, "rsqrtf");
  replace(f, f->t[a->first].text, (size_t)(f->t[b->first].text - f->t[a->first].text), "");
  return true;
}

/* Compilers multiply where they can do so exactly. */
static bool is_power_of_two(const fast *f, const value *b) {
  int exponent = 0;
  const bool number = b->end == b->first + 1 && f->t[b->first].kind == TOKEN_NUMBER;
  return number && frexp(strtod(f->t[b->first].text, NULL), &exponent) == 0.5;
}

/* a / b, or a /= b, at token `slash`. */
static void divide(fast *f, const value *a, const value *b, int slash) {
  if (is_power_of_two(f, b) || is_reciprocal_root(f, a, b)) {
    return;
  }
  if (sct_token_is(&f->t[slash], "/=")) {
    const char *name = f->t[a->first].text;
    const int n = (int)(end_of(&f->t[a->end - 1]) - name);
    if (n <= 40) {
      char text[64];
      snprintf(text, sizeof text, "= __fdividef(%.*s,", n, name);
      drop_parentheses(f, b);
      replace(f, f->t[slash].text, f->t[slash].len, text);
      insert(f, end_of(&f->t[b->end - 1]), ")");
    }
    return;
  }
  const char *left = end_of(&f->t[slash - 1]);
  drop_parentheses(f, a);
  drop_parentheses(f, b);
  insert(f, f->t[a->first].text, "__fdividef(");
  const bool close = f->t[slash + 1].text == end_of(&f->t[slash]);
  replace(f, left, (size_t)(end_of(&f->t[slash]) - left), close ? ", " : ",");
  insert(f, end_of(&f->t[b->end - 1]), ")");
}

static value operation(fast *f, const value *a, int level) {
  const int op = f->k++;
  value v = {.first = a->first};
  if (level == 3) {
    const value yes = expression(f, 2);
    f->k += at(f, ":");
    v.type = joined(yes.type, expression(f, 2).type);
    v.end = f->k;
    return v;
  }
  const value b = expression(f, level == 2 ? 2 : level + 1);
  v.end = f->k;
  if (level == 2) {
    v.type = a->type;
  } else if (level >= 12 && !sct_token_is(&f->t[op], "%")) {
    v.type = joined(a->type, b.type);
  } else {
    v.type = level == 1 ? b.type : INTEGER;
  }
  const bool divides = sct_token_is(&f->t[op], "/") || sct_token_is(&f->t[op], "/=");
  if (divides && joined(a->type, b.type) == FLOAT && v.type == FLOAT && b.end > op + 1) {
    divide(f, a, &b, op);
  }
  return v;
}

static value expression(fast *f, int least) {
  if (++f->depth > MAX_DEPTH) {
    f->too_many = true;
    f->k = f->n;
  }
  value v = primary(f);
  for (int level = level_at(f); level > 0 && level >= least && f->k < f->n; level = level_at(f)) {
    v = operation(f, &v, level);
  }
  f->depth--;
  return v;
}

/* ---- statements ---- */

static void declare(fast *f, const token *name, value_type type) {
  for (int k = 0; k < f->n_locals; k++) { /* of another block, maybe: one type or none */
    const token *local = f->locals[k].name;
    if (local->len == name->len && strncmp(local->text, name->text, name->len) == 0) {
      f->locals[k].type = f->locals[k].type == type ? type : UNKNOWN;
      return;
    }
  }
  if (f->n_locals == MAX_LOCALS) {
    f->too_many = true;
    return;
  }
  f->locals[f->n_locals].name = name;
  f->locals[f->n_locals++].type = type;
}

/* "const float x = a, y;" at the current token; false: it is none. */
static bool declaration(fast *f) {
  int k = f->k;
  value_type type = UNKNOWN;
  bool any = false, is_auto = false;
  for (; k < f->n; k++) {
    if (sct_spec_word(f->t[k].text, f->t[k].len) == WORD_TYPE) {
      type = of_word(&f->t[k]);
      is_auto = is_auto || sct_token_is(&f->t[k], "auto");
      any = true;
    } else if (!sct_token_is(&f->t[k], "const")) {
      break;
    }
  }
  if (!any || f->t[k].kind != TOKEN_NAME) {
    return false;
  }
  for (f->k = k; f->k < f->n && f->t[f->k].kind == TOKEN_NAME;) {
    const token *name = &f->t[f->k++];
    const bool array = at(f, "[");
    value v = {.type = type};
    while (array && f->k < f->n && !at(f, "=") && !at(f, ",") && !at(f, ";")) {
      f->k++;
    }
    if (at(f, "=") && f->t[f->k + 1].text[0] != '{') {
      f->k++;
      v.type = expression(f, 2).type;
    }
    declare(f, name, array ? UNKNOWN : is_auto ? v.type : type);
    f->k += at(f, ",");
  }
  return true;
}

static void statements(fast *f) {
  while (f->k < f->n) {
    const int before = f->k;
    const token *t = &f->t[f->k];
    if (sct_spec_word(t->text, t->len) == WORD_CONTROL && !sct_token_is(t, "const") &&
        !sct_token_is(t, "sizeof") && !sct_token_is(t, "static_cast")) {
      f->k++; /* and what follows is read as statements */
      f->k += at(f, "(");
    } else if (!declaration(f)) {
      (void)expression(f, 0);
    }
    f->k += f->k == before;
  }
}

/* ---- the text ---- */

static const char *edited(fast *f, sct_arena *arena, const char *text) {
  SCT_SCOPED(sct_str) out = {0};
  for (int k = 1; k < f->n_edits; k++) { /* of those at one place the later come first */
    const edit e = f->edits[k];
    int to = k;
    while (to > 0 && f->edits[to - 1].at >= e.at && e.len == 0) {
      f->edits[to] = f->edits[to - 1];
      to--;
    }
    while (to > 0 && f->edits[to - 1].at > e.at) {
      f->edits[to] = f->edits[to - 1];
      to--;
    }
    f->edits[to] = e;
  }
  for (int k = 0; k < f->n_edits; k++) {
    const edit *e = &f->edits[k];
    sct_str_append_n(&out, text, (size_t)(e->at - text));
    sct_str_append(&out, e->text);
    text = e->at + e->len;
  }
  sct_str_append(&out, text);
  return sct_arena_strdup(arena, sct_str_c(&out));
}

sct_status sct_spec_fast_body(const char **out, sct_spec *spec, const char *body, bool component,
                              sct_error *err) {
  const char *const own = spec->body;
  token_list tokens;
  *out = NULL;
  if (!body || !spec->tolerance_given || !(spec->tolerance > 0.0)) {
    return SCT_OK;
  }
  spec->body = body;
  const sct_status status = sct_spec_tokenize(&tokens, spec, err);
  spec->body = own;
  SCT_TRY(status);
  SCT_OWNED fast *f = sct_alloc(sizeof *f);
  f->spec = spec;
  f->component = component;
  f->t = tokens.tokens;
  f->n = tokens.n;
  statements(f);
  *out = f->n_edits > 0 && !f->too_many ? edited(f, &spec->arena, body) : NULL;
  return SCT_OK;
}

bool sct_spec_has_fast(const sct_spec *spec) {
  bool any = spec->fast_body || spec->fast_component_body;
  for (int k = 0; k < spec->n_steps; k++) {
    any = any || spec->steps[k].fast_body;
  }
  return any;
}
