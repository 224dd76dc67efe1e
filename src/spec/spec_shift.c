/* Shifts in a body by more bits than the value has: undefined in C, and every variant of the kernel
 * would give the same, so no verification finds them.
 *
 * Only what stands there is looked at: a shift by a number, of an operand whose type is certain: a
 * number, an array's element or a field, a scalar, a local, and sums and products of these. What
 * int and narrower types promote to has 32 bits. Anything else may have 64. */
#include <stdlib.h>
#include <string.h>

#include "spec/spec_internal.h"

typedef struct shifts {
  const sct_spec *spec;
  const token *t;
  int n;
} shifts;

static bool is_narrow_type(sct_type type) {
  const sct_type_info *info = sct_type_get(type);
  return (info->kind == SCT_KIND_INT || info->kind == SCT_KIND_UINT) && info->lanes == 1 &&
         info->bytes <= 4;
}

static const sct_operand *operand_of(const shifts *s, const token *t) {
  for (int k = 0; k < s->spec->n_operands; k++) {
    if (sct_token_is(t, s->spec->operands[k].name)) {
      return &s->spec->operands[k];
    }
  }
  return NULL;
}

/* Of a name of one of CUDA's types: int and what is narrower. */
static bool names_narrow_type(const shifts *s, int k) {
  static const char *const names[] = {"int",      "unsigned", "signed",  "short",   "char",
                                      "bool",     "i8",       "u8",      "i16",     "u16",
                                      "i32",      "u32",      "int8_t",  "uint8_t", "int16_t",
                                      "uint16_t", "int32_t",  "uint32_t"};
  const bool longer = (k > 0 && sct_token_is(&s->t[k - 1], "long")) ||
                      (k > 1 && sct_token_is(&s->t[k - 2], "long"));
  bool narrow = false;
  for (int i = 0; i < SCT_COUNT(names); i++) {
    narrow |= sct_token_is(&s->t[k], names[i]);
  }
  return narrow && !longer;
}

/* A local of the body that is declared as "int NAME". */
static bool is_narrow_local(const shifts *s, const token *name) {
  bool narrow = false;
  for (int k = 1; k < s->n; k++) {
    if (s->t[k].kind == TOKEN_NAME && s->t[k].len == name->len &&
        strncmp(s->t[k].text, name->text, name->len) == 0 && s->t[k - 1].kind == TOKEN_NAME &&
        sct_spec_word(s->t[k - 1].text, s->t[k - 1].len) == WORD_TYPE) {
      narrow = names_narrow_type(s, k - 1);
    }
  }
  return narrow;
}

static bool is_narrow_name(const shifts *s, int k) {
  const bool member = k >= 2 && sct_token_is(&s->t[k - 1], ".");
  const sct_operand *op = operand_of(s, &s->t[member ? k - 2 : k]);
  for (int f = 0; op != NULL && f < op->record.n_fields; f++) {
    if (member ? sct_token_is(&s->t[k], op->record.fields[f].name) : op->record.name == NULL) {
      return is_narrow_type(op->record.fields[f].type);
    }
  }
  for (int c = 0; op == NULL && !member && c < s->spec->n_scalars; c++) {
    if (sct_token_is(&s->t[k], s->spec->scalars[c].name)) {
      return is_narrow_type(s->spec->scalars[c].type);
    }
  }
  return op == NULL && !member && is_narrow_local(s, &s->t[k]);
}

static bool is_narrow_number(const token *t) {
  char *end = NULL;
  const unsigned long long value = strtoull(t->text, &end, 0);
  const bool suffix = end == t->text + t->len - 1 && (*end == 'u' || *end == 'U');
  return (end == t->text + t->len && value <= INT32_MAX) || (suffix && value <= UINT32_MAX);
}

static int opening(const shifts *s, int close) {
  int depth = 0;
  for (int k = close; k >= 0; k--) {
    depth += sct_token_is(&s->t[k], ")") - sct_token_is(&s->t[k], "(");
    if (depth == 0) {
      return k;
    }
  }
  return -1;
}

static bool is_arithmetic(const token *t) {
  static const char *const ops[] = {"+", "-", "*", "/", "%", "~", "&", "|", "^"};
  bool any = false;
  for (int k = 0; k < SCT_COUNT(ops); k++) {
    any |= sct_token_is(t, ops[k]);
  }
  return any;
}

/* Whether what begins at `first` and ends at `last` has names of narrow types and numbers only. */
static bool all_narrow(const shifts *s, int first, int last) {
  bool narrow = first <= last;
  for (int k = first; k <= last && narrow; k++) {
    const token *t = &s->t[k];
    const bool selects = sct_token_is(t, ".") ||
                         (t->kind == TOKEN_NAME && k < last && sct_token_is(&s->t[k + 1], "."));
    narrow = selects || is_arithmetic(t) || (t->kind == TOKEN_NAME && is_narrow_name(s, k)) ||
             (t->kind == TOKEN_NUMBER && is_narrow_number(t));
  }
  return narrow;
}

/* Where the operand whose last token is `last` begins, if it has 32 bits for certain; else -1. */
static int narrow_operand(const shifts *s, int last) {
  if (last < 0) {
    return -1;
  }
  const token *t = &s->t[last];
  if (t->kind == TOKEN_NUMBER) {
    return is_narrow_number(t) ? last : -1;
  }
  if (t->kind == TOKEN_NAME) {
    const int first = last >= 2 && sct_token_is(&s->t[last - 1], ".") ? last - 2 : last;
    return is_narrow_name(s, last) ? first : -1;
  }
  const int open = sct_token_is(t, ")") ? opening(s, last) : -1;
  const bool call = open > 0 && s->t[open - 1].kind == TOKEN_NAME;
  return open >= 0 && !call && all_narrow(s, open + 1, last - 1) ? open : -1;
}

/* The type that a cast gives to the operand that ends at `last`: 1 narrow, 0 another, -1 no cast.
 */
static int cast_of(const shifts *s, int last) {
  const bool member = last >= 2 && sct_token_is(&s->t[last - 1], ".");
  const int begin = last >= 0 && sct_token_is(&s->t[last], ")") ? opening(s, last)
                    : member                                    ? last - 2
                                                                : last;
  const int open = begin > 0 && sct_token_is(&s->t[begin - 1], ")") ? opening(s, begin - 1) : -1;
  const bool is_type = open >= 0 && s->t[begin - 2].kind == TOKEN_NAME &&
                       sct_spec_word(s->t[begin - 2].text, s->t[begin - 2].len) == WORD_TYPE;
  return is_type ? open + 3 == begin && names_narrow_type(s, begin - 2) : -1;
}

/* Whether the left side of the shift at `k` has 32 bits: every operand of its sum does. */
static bool shifts_narrow(const shifts *s, int k) {
  if (cast_of(s, k - 1) >= 0) {
    return cast_of(s, k - 1) == 1;
  }
  int first = narrow_operand(s, k - 1);
  while (first > 0) {
    const token *before = &s->t[first - 1];
    static const char *const sums[] = {"+", "-", "*", "/", "%"};
    bool binary = false;
    for (int i = 0; i < SCT_COUNT(sums); i++) {
      binary |= sct_token_is(before, sums[i]);
    }
    if (sct_token_is(before, ")")) { /* a cast says the type */
      const int open = opening(s, first - 1);
      return open >= 0 && open + 2 == first - 1 && names_narrow_type(s, open + 1);
    }
    const bool unary = binary && (first < 2 || (s->t[first - 2].kind == TOKEN_PUNCT &&
                                                !sct_token_is(&s->t[first - 2], ")")));
    if (!binary || unary) {
      return !sct_token_is(before, "]") && !sct_token_is(before, "<<") &&
             !sct_token_is(before, ">>");
    }
    first = narrow_operand(s, first - 2);
  }
  return first == 0;
}

sct_status sct_spec_check_shifts(const sct_spec *spec, const token_list *body, sct_error *err) {
  const shifts s = {spec, body->tokens, body->n};
  for (int k = 1; k + 1 < s.n; k++) {
    const token *t = &s.t[k];
    const bool assigns = sct_token_is(t, "<<=") || sct_token_is(t, ">>=");
    if (!assigns && !sct_token_is(t, "<<") && !sct_token_is(t, ">>")) {
      continue;
    }
    const bool minus = sct_token_is(&s.t[k + 1], "-");
    const token *by = &s.t[k + 1 + minus];
    char *end = NULL;
    const int64_t bits = by->kind == TOKEN_NUMBER ? strtoll(by->text, &end, 0) : 0;
    if (bits == 0 || (end < by->text + by->len && strchr("uUlL", *end) == NULL)) {
      continue;
    }
    const bool narrow = bits >= 32 && bits < 64 && shifts_narrow(&s, k);
    if (minus || bits >= 64 || narrow) {
      return sct_spec_fail_body(
          spec, err, t->text, "`%.*s %s%lld` shifts by %s: that is undefined in C; %s", (int)t->len,
          t->text, minus ? "-" : "", (long long)bits,
          minus    ? "a negative number"
          : narrow ? "as many bits as an int has, or more"
                   : "as many bits as the widest integer has, or more",
          narrow ? "convert the left side to `long long` first" : "shift by 0 to 63");
    }
  }
  return SCT_OK;
}
