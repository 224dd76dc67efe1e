/* Conditions of kernels over extents, as C has them, worked out for some extents. */
#include "emit/emit_internal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

typedef struct reader {
  const char *at;
  const char *const *names; /* of extents, without n_ */
  const int64_t *values;
  int n, depth;
  bool wrong; /* no text that is known, or a division by 0 */
} reader;

static int64_t read_choice(reader *r);

static bool take(reader *r, const char *sign) {
  r->at += strspn(r->at, " ");
  const size_t n = strlen(sign);
  const bool has = strncmp(r->at, sign, n) == 0;
  r->at += has ? n : 0;
  return has;
}

static int64_t read_bracket(reader *r) {
  const int64_t value = read_choice(r);
  r->wrong |= !take(r, ")");
  return value;
}

static int64_t floor_div(int64_t a, int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

/* min, max, sct_floor_div, sct_floor_mod of two values. */
static int64_t read_call(reader *r, const char *name, size_t n) {
  const int64_t a = read_choice(r);
  r->wrong |= !take(r, ",");
  const int64_t b = read_bracket(r);
  if (strncmp(name, "min", n) == 0 || strncmp(name, "max", n) == 0) {
    return (a < b) == (name[1] == 'i') ? a : b;
  }
  const bool is_div = strncmp(name, "sct_floor_div", n) == 0;
  if (b == 0 || (!is_div && strncmp(name, "sct_floor_mod", n) != 0)) {
    r->wrong = true;
    return 0;
  }
  return is_div ? floor_div(a, b) : a - b * floor_div(a, b);
}

static int64_t read_name(reader *r) {
  const char *const name = r->at;
  while (sct_is_word(*r->at)) {
    r->at++;
  }
  const size_t n = (size_t)(r->at - name);
  if (take(r, "(")) {
    return read_call(r, name, n);
  }
  for (int k = 0; k < r->n && n > 2; k++) {
    if (strlen(r->names[k]) == n - 2 && strncmp(name, "n_", 2) == 0 &&
        strncmp(name + 2, r->names[k], n - 2) == 0) {
      return r->values[k];
    }
  }
  r->wrong = true;
  return 0;
}

static int64_t read_unary(reader *r) {
  int64_t value = 0;
  if (++r->depth > 200) {
    r->wrong = true;
  } else if (take(r, "!")) {
    value = read_unary(r) == 0;
  } else if (take(r, "-")) {
    value = -read_unary(r);
  } else if (take(r, "~")) {
    value = ~read_unary(r);
  } else if (take(r, "(long long)")) {
    value = read_unary(r);
  } else if (take(r, "(")) {
    value = read_bracket(r);
  } else if (isdigit((unsigned char)*r->at)) {
    char *end = NULL;
    value = (int64_t)strtoull(r->at, &end, 0);
    r->at = end + strspn(end, "uUlL");
  } else {
    value = read_name(r);
  }
  r->depth--;
  return value;
}

/* Operators of two values, longer ones before their beginnings; the higher the level, the closer
 * they bind. */
static const struct {
  const char *sign;
  int level;
} operators[] = {{"||", 1}, {"&&", 2}, {"==", 6}, {"!=", 6}, {"<<", 8}, {">>", 8},
                 {"<=", 7}, {">=", 7}, {"<", 7},  {">", 7},  {"|", 3},  {"^", 4},
                 {"&", 5},  {"+", 9},  {"-", 9},  {"*", 10}, {"/", 10}, {"%", 10}};

static int64_t apply(reader *r, const char *sign, int64_t a, int64_t b) {
  const bool equal = sign[1] == '=';
  int64_t out = 0;
  switch (sign[0]) {
  case '|':
    return sign[1] == '|' ? a != 0 || b != 0 : (a | b);
  case '&':
    return sign[1] == '&' ? a != 0 && b != 0 : (a & b);
  case '^':
    return a ^ b;
  case '=':
    return a == b;
  case '!':
    return a != b;
  case '<':
  case '>':
    if (sign[1] == sign[0]) {
      r->wrong |= b < 0 || b > 62;
      return r->wrong ? 0 : sign[0] == '<' ? (int64_t)((uint64_t)a << b) : a >> b;
    }
    return sign[0] == '<' ? (equal ? a <= b : a < b) : (equal ? a >= b : a > b);
  case '+':
    r->wrong |= __builtin_add_overflow(a, b, &out);
    return out;
  case '-':
    r->wrong |= __builtin_sub_overflow(a, b, &out);
    return out;
  case '*':
    r->wrong |= __builtin_mul_overflow(a, b, &out);
    return out;
  default:
    r->wrong |= b == 0 || b == -1;
    return r->wrong ? 0 : sign[0] == '/' ? a / b : a % b;
  }
}

static int64_t read_binary(reader *r, int least) {
  int64_t value = read_unary(r);
  for (int k = 0; k < SCT_COUNT(operators) && !r->wrong; k++) {
    const char *const before = r->at;
    if (take(r, operators[k].sign)) {
      if (operators[k].level < least) {
        r->at = before;
        break;
      }
      value = apply(r, operators[k].sign, value, read_binary(r, operators[k].level + 1));
      k = -1;
    }
  }
  return value;
}

static int64_t read_choice(reader *r) {
  const int64_t condition = read_binary(r, 0);
  if (!take(r, "?")) {
    return condition;
  }
  const int64_t yes = read_choice(r);
  r->wrong |= !take(r, ":");
  const int64_t no = read_choice(r);
  return condition != 0 ? yes : no;
}

bool emit_holds(const char *condition, const char *const *names, const int64_t *values, int n) {
  reader r = {.at = condition, .names = names, .values = values, .n = n};
  const int64_t value = read_choice(&r);
  return !r.wrong && r.at[strspn(r.at, " ")] == '\0' && value != 0;
}
