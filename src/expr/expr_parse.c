/* expr_parse - text to expression: Lua's operators and precedences, by recursive descent.
 *
 * Every error names the column and what was expected there. */
#include "expr/expr_pool.h"

#include <ctype.h>
#include <string.h>

#define MAX_NESTING 100

typedef enum token_kind {
  TOKEN_END,
  TOKEN_NUMBER,
  TOKEN_NAME,
  TOKEN_STRING,
  TOKEN_OPERATOR,
  TOKEN_BAD
} token_kind;

typedef struct token {
  token_kind kind;
  const char *start; /* strings: inside the quotes */
  int length;
  int column;      /* from 1 */
  uint64_t number; /* up to 2^63, which only a minus in front makes legal */
} token;

typedef struct parser {
  sct_expr_pool *pool;
  const sct_expr_names *names;
  const char *text;
  const char *at; /* after the current token */
  token now;
  int nesting;
  sct_error *err;
} parser;

#define FAIL(p, column, ...) fail_at((p), (column), __VA_ARGS__)
SCT_PRINTF(3, 4)
static sct_status fail_at(const parser *p, int column, const char *fmt, ...) {
  SCT_SCOPED(sct_str) text = {0};
  SCT_STR_FORMAT(&text, fmt);
  return sct_fail(p->err, SCT_ESPEC, "column %d: %s", column, sct_str_c(&text));
}

/* ---- tokens */

static bool is_name_start(char c) {
  return isalpha((unsigned char)c) || c == '_';
}

/* Longer operators first. */
static const char *const operators[] = {"//", "==", "~=", "!=", "<=", ">=", "&&",
                                        "||", "+",  "-",  "*",  "/",  "%",  "^",
                                        "~",  "<",  ">",  "!",  "(",  ")",  ","};

static int operator_length(const char *at) {
  for (int k = 0; k < SCT_COUNT(operators); k++) {
    if (sct_has_prefix(at, operators[k])) {
      return (int)strlen(operators[k]);
    }
  }
  return 0;
}

/* Names may have dots inside: "layout.a", "x.0". */
static int name_length(const char *at) {
  int n = 1;
  while (sct_is_word(at[n]) || (at[n] == '.' && sct_is_word(at[n + 1]))) {
    n++;
  }
  return n;
}

static int digit_value(char c) {
  if (isdigit((unsigned char)c)) {
    return c - '0';
  }
  return isxdigit((unsigned char)c) ? tolower((unsigned char)c) - 'a' + 10 : 99;
}

static sct_status read_number(parser *p, token *t) {
  const bool hex = t->start[0] == '0' && (t->start[1] == 'x' || t->start[1] == 'X');
  const uint64_t base = hex ? 16 : 10;
  const char *c = t->start + (hex ? 2 : 0);
  const char *const first = c;
  for (; digit_value(*c) < (int)base; c++) {
    const bool overflow = __builtin_mul_overflow(t->number, base, &t->number) ||
                          __builtin_add_overflow(t->number, (uint64_t)digit_value(*c), &t->number);
    if (overflow || t->number > UINT64_C(1) << 63) {
      return FAIL(p, t->column, "the number does not fit 64 bits");
    }
  }
  if (*c == '.' && isdigit((unsigned char)c[1])) {
    return FAIL(p, t->column, "only integers are allowed here");
  }
  if (c == first || sct_is_word(*c)) {
    return FAIL(p, t->column, "malformed number");
  }
  t->length = (int)(c - t->start);
  return SCT_OK;
}

static sct_status next(parser *p) {
  while (isspace((unsigned char)*p->at)) {
    p->at++;
  }
  token t = {.kind = TOKEN_END, .start = p->at, .column = (int)(p->at - p->text) + 1};
  const char c = *p->at;
  int skip = 0;
  if (c == '\0') {
    t.length = 0;
  } else if (isdigit((unsigned char)c)) {
    t.kind = TOKEN_NUMBER;
    SCT_TRY(read_number(p, &t));
  } else if (is_name_start(c)) {
    t.kind = TOKEN_NAME;
    t.length = name_length(p->at);
  } else if (c == '"' || c == '\'') {
    const char *end = strchr(p->at + 1, c);
    if (end == NULL) {
      return FAIL(p, t.column, "the string has no closing %c", c);
    }
    t.kind = TOKEN_STRING;
    t.start++;
    t.length = (int)(end - t.start);
    skip = 1;
  } else {
    t.kind = TOKEN_OPERATOR;
    t.length = operator_length(p->at);
    if (t.length == 0) {
      return FAIL(p, t.column, "'%c' is no operator here", c);
    }
  }
  p->at = t.start + t.length + skip;
  p->now = t;
  return SCT_OK;
}

/* Is the token this name or operator? */
static bool is_text(const parser *p, const char *text) {
  return (p->now.kind == TOKEN_OPERATOR || p->now.kind == TOKEN_NAME) &&
         strlen(text) == (size_t)p->now.length && strncmp(p->now.start, text, strlen(text)) == 0;
}

static sct_status expected(const parser *p, const char *what) {
  if (p->now.kind == TOKEN_END) {
    return FAIL(p, p->now.column, "expected %s, but the text ends here", what);
  }
  return FAIL(p, p->now.column, "expected %s before '%.*s'", what, p->now.length, p->now.start);
}

/* ---- names */

static sct_status unknown_name(const parser *p, const token *t, const char *name) {
  SCT_SCOPED(sct_str) text = {0};
  const char **known = NULL;
  const char *const *names = p->names != NULL ? p->names->names : NULL;
  int n = p->names != NULL ? p->names->n_names : 0;
  if (p->names == NULL) { /* the pool's own variables */
    known = sct_alloc(p->pool->n_nodes * sizeof *known);
    for (size_t k = 1; k < p->pool->n_nodes; k++) {
      if (p->pool->nodes[k].name != NULL) {
        known[n++] = p->pool->nodes[k].name;
      }
    }
    names = known;
  }
  sct_str_printf(&text, "unknown name '%s'", name);
  if (n > 0) {
    sct_str_suggest(&text, name, SCT_NAMES(names, n));
  }
  const sct_status status = FAIL(p, t->column, "%s", sct_str_c(&text));
  sct_free(known);
  return status;
}

static sct_status parse_name(parser *p, sct_expr *out) {
  const token t = p->now;
  SCT_SCOPED(sct_str) name = {0};
  sct_str_append_n(&name, t.start, (size_t)t.length);
  *out = p->names == NULL
             ? sct_expr_var_find(p->pool, sct_str_c(&name))
             : p->names->resolve(p->names->ctx, p->pool, sct_str_c(&name), t.kind == TOKEN_STRING);
  return *out != SCT_EXPR_NONE ? next(p) : unknown_name(p, &t, sct_str_c(&name));
}

/* ---- grammar, from the tightest to the loosest */

static sct_status parse_or(parser *p, sct_expr *out);

/* An operation that could not be built: say where and why. */
static sct_status built(const parser *p, int column, sct_expr e) {
  return e != SCT_EXPR_NONE ? SCT_OK : FAIL(p, column, "%s", sct_expr_failure(p->pool));
}

static sct_status expect_operator(parser *p, const char *text, const char *what) {
  return is_text(p, text) ? next(p) : expected(p, what);
}

static sct_status parse_number(parser *p, bool negative, sct_expr *out) {
  const token t = p->now;
  if (t.number > (uint64_t)INT64_MAX + (negative ? 1 : 0)) {
    return FAIL(p, t.column, "the number does not fit 64 bits");
  }
  *out = sct_expr_const(p->pool, (int64_t)(negative ? 0 - t.number : t.number));
  SCT_TRY(built(p, t.column, *out));
  return next(p);
}

static sct_status parse_call(parser *p, sct_expr *out) {
  static const char *const functions[] = {"min", "max"};
  const token t = p->now;
  const bool is_min = is_text(p, "min");
  if (!is_min && !is_text(p, "max")) {
    SCT_SCOPED(sct_str) text = {0};
    SCT_SCOPED(sct_str) name = {0};
    sct_str_append_n(&name, t.start, (size_t)t.length);
    sct_str_printf(&text, "unknown function '%s'", sct_str_c(&name));
    sct_str_suggest(&text, sct_str_c(&name), SCT_NAMES(functions, SCT_COUNT(functions)));
    return FAIL(p, t.column, "%s", sct_str_c(&text));
  }
  sct_expr b = SCT_EXPR_NONE;
  SCT_TRY(next(p));
  SCT_TRY(expect_operator(p, "(", "'('"));
  SCT_TRY(parse_or(p, out));
  SCT_TRY(expect_operator(p, ",", "',' and a second value"));
  SCT_TRY(parse_or(p, &b));
  SCT_TRY(expect_operator(p, ")", "')'"));
  *out = sct_expr_binary(p->pool, is_min ? SCT_EXPR_MIN : SCT_EXPR_MAX, *out, b);
  return built(p, t.column, *out);
}

static sct_status parse_primary(parser *p, sct_expr *out) {
  static const char *const reserved[] = {"and", "or", "not"};
  if (p->now.kind == TOKEN_NUMBER) {
    return parse_number(p, false, out);
  }
  for (int k = 0; k < SCT_COUNT(reserved); k++) {
    if (is_text(p, reserved[k])) {
      return expected(p, "a value");
    }
  }
  if (p->now.kind == TOKEN_NAME) {
    const char *after = p->at;
    while (isspace((unsigned char)*after)) {
      after++;
    }
    return *after == '(' ? parse_call(p, out) : parse_name(p, out);
  }
  if (p->now.kind == TOKEN_STRING) {
    return parse_name(p, out);
  }
  if (!is_text(p, "(")) {
    return expected(p, "a value");
  }
  SCT_TRY(next(p));
  SCT_TRY(parse_or(p, out));
  return expect_operator(p, ")", "')'");
}

static sct_status parse_unary(parser *p, sct_expr *out) {
  const int column = p->now.column;
  const bool minus = is_text(p, "-");
  if (!minus && !is_text(p, "!") && !is_text(p, "not")) {
    return parse_primary(p, out);
  }
  if (p->nesting >= MAX_NESTING) {
    return FAIL(p, column, "nested too deeply");
  }
  SCT_TRY(next(p));
  if (minus && p->now.kind == TOKEN_NUMBER) {
    return parse_number(p, true, out);
  }
  p->nesting++;
  SCT_TRY(parse_unary(p, out));
  p->nesting--;
  *out = minus ? sct_expr_neg(p->pool, *out) : sct_expr_not(p->pool, *out);
  return built(p, column, *out);
}

/* How tightly an operator of two operands binds, the loosest first. */
typedef enum level {
  LEVEL_OR,
  LEVEL_AND,
  LEVEL_COMPARISON,
  LEVEL_XOR,
  LEVEL_SUM,
  LEVEL_PRODUCT,
  LEVEL_UNARY
} level;

typedef struct binary {
  const char *text;
  level level;
  sct_expr_op op;
  sct_expr (*build)(sct_expr_pool *pool, sct_expr a, sct_expr b); /* NULL: by the operation */
  bool swap;
} binary;

static const binary *binary_here(const parser *p, level l) {
  static const binary table[] = {
      {"or", LEVEL_OR, SCT_EXPR_OR, NULL, false},
      {"||", LEVEL_OR, SCT_EXPR_OR, NULL, false},
      {"and", LEVEL_AND, SCT_EXPR_AND, NULL, false},
      {"&&", LEVEL_AND, SCT_EXPR_AND, NULL, false},
      {"<", LEVEL_COMPARISON, SCT_EXPR_LT, NULL, false},
      {"<=", LEVEL_COMPARISON, SCT_EXPR_LE, NULL, false},
      {">", LEVEL_COMPARISON, SCT_EXPR_LT, NULL, true},
      {">=", LEVEL_COMPARISON, SCT_EXPR_LE, NULL, true},
      {"==", LEVEL_COMPARISON, SCT_EXPR_EQ, NULL, false},
      {"~=", LEVEL_COMPARISON, SCT_EXPR_NE, NULL, false},
      {"!=", LEVEL_COMPARISON, SCT_EXPR_NE, NULL, false},
      {"^", LEVEL_XOR, SCT_EXPR_XOR, NULL, false},
      {"~", LEVEL_XOR, SCT_EXPR_XOR, NULL, false},
      {"+", LEVEL_SUM, SCT_EXPR_SUM, NULL, false},
      {"-", LEVEL_SUM, SCT_EXPR_SUM, sct_expr_sub, false},
      {"*", LEVEL_PRODUCT, SCT_EXPR_SUM, sct_expr_mul, false},
      {"/", LEVEL_PRODUCT, SCT_EXPR_DIV, NULL, false},
      {"//", LEVEL_PRODUCT, SCT_EXPR_DIV, NULL, false},
      {"%", LEVEL_PRODUCT, SCT_EXPR_MOD, NULL, false},
  };
  for (int k = 0; k < SCT_COUNT(table); k++) {
    if (table[k].level == l && is_text(p, table[k].text)) {
      return &table[k];
    }
  }
  return NULL;
}

static sct_status parse_level(parser *p, level l, sct_expr *out) {
  if (l == LEVEL_UNARY) {
    return parse_unary(p, out);
  }
  SCT_TRY(parse_level(p, (level)(l + 1), out));
  for (const binary *b = binary_here(p, l); b != NULL; b = binary_here(p, l)) {
    const int column = p->now.column;
    sct_expr next_one = SCT_EXPR_NONE;
    SCT_TRY(next(p));
    SCT_TRY(parse_level(p, (level)(l + 1), &next_one));
    const sct_expr left = b->swap ? next_one : *out, right = b->swap ? *out : next_one;
    *out = b->build != NULL ? b->build(p->pool, left, right)
                            : sct_expr_binary(p->pool, b->op, left, right);
    SCT_TRY(built(p, column, *out));
    if (l == LEVEL_COMPARISON && binary_here(p, l) != NULL) {
      return FAIL(p, p->now.column, "comparisons do not chain: write 'a < b and b < c'");
    }
  }
  return SCT_OK;
}

static sct_status parse_or(parser *p, sct_expr *out) {
  if (p->nesting >= MAX_NESTING) {
    return FAIL(p, p->now.column, "nested too deeply");
  }
  p->nesting++;
  SCT_TRY(parse_level(p, LEVEL_OR, out));
  p->nesting--;
  return SCT_OK;
}

sct_status sct_expr_parse(sct_expr *out, sct_expr_pool *pool, const char *text,
                          const sct_expr_names *names, sct_error *err) {
  parser p = {.pool = pool, .names = names, .text = text, .at = text, .err = err};
  sct_expr e = SCT_EXPR_NONE;
  SCT_TRY(next(&p));
  SCT_TRY(parse_or(&p, &e));
  if (p.now.kind != TOKEN_END) {
    return expected(&p, "an operator or the end");
  }
  *out = e;
  return SCT_OK;
}
