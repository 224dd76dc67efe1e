/* Splits PTX text into tokens. A word takes in dots and double colons, so that an opcode with its
 * modifiers ("ld.global.L1::no_allocate.v4.f32") is one token. */
#include "ptx/front/ptx_lex.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static bool word_start(char c) {
  return isalpha((unsigned char)c) || c == '_' || c == '$' || c == '%' || c == '.';
}

static bool word_char(char c) {
  return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '.';
}

/* Skips blanks and comments, counting lines. */
static void skip_space(ptx_lex *lex) {
  for (;;) {
    const char c = *lex->p;
    if (c == '\n') {
      lex->line++;
      lex->p++;
    } else if (c == ' ' || c == '\t' || c == '\r') {
      lex->p++;
    } else if (c == '/' && lex->p[1] == '/') {
      lex->p += strcspn(lex->p, "\n");
    } else if (c == '/' && lex->p[1] == '*') {
      lex->p += 2;
      while (*lex->p != '\0' && !(lex->p[0] == '*' && lex->p[1] == '/')) {
        lex->line += *lex->p == '\n';
        lex->p++;
      }
      lex->p += *lex->p != '\0' ? 2 : 0;
    } else {
      return;
    }
  }
}

static int hex_value(char c) {
  if (c >= '0' && c <= '9') {
    return c - '0';
  }
  const char low = (char)tolower((unsigned char)c);
  return low >= 'a' && low <= 'f' ? low - 'a' + 10 : -1;
}

/* 0f3F800000 and 0d3FF0000000000000: exactly 8 or 16 hex digits. */
static bool lex_float_bits(ptx_lex *lex, int digits) {
  uint64_t bits = 0;
  for (int i = 0; i < digits; i++) {
    const int v = hex_value(lex->p[2 + i]);
    if (v < 0) {
      return false;
    }
    bits = bits << 4 | (uint64_t)v;
  }
  lex->tok.kind = digits == 8 ? PTX_TOK_F32 : PTX_TOK_F64;
  lex->tok.bits = bits;
  lex->p += 2 + digits;
  return true;
}

static int digit_base(const char *p) {
  if (p[0] != '0') {
    return 10;
  }
  if (p[1] == 'x' || p[1] == 'X') {
    return 16;
  }
  if (p[1] == 'b' || p[1] == 'B') {
    return 2;
  }
  return isdigit((unsigned char)p[1]) ? 8 : 10;
}

/* Digits with a point or an exponent: a decimal float. */
static bool is_decimal_float(const char *p) {
  const size_t n = strspn(p, "0123456789");
  if (p[n] == '.') {
    return true;
  }
  return (p[n] == 'e' || p[n] == 'E') &&
         (isdigit((unsigned char)p[n + 1]) || p[n + 1] == '-' || p[n + 1] == '+');
}

static void lex_number(ptx_lex *lex) {
  const char *p = lex->p;
  lex->tok.kind = PTX_TOK_BAD;
  if (p[0] == '0' && (p[1] == 'f' || p[1] == 'F')) {
    lex->p += lex_float_bits(lex, 8) ? 0 : 1;
    return;
  }
  if (p[0] == '0' && (p[1] == 'd' || p[1] == 'D')) {
    lex->p += lex_float_bits(lex, 16) ? 0 : 1;
    return;
  }
  const int base = digit_base(p);
  char *end = NULL;
  if (base == 10 && is_decimal_float(p)) {
    const double value = strtod(p, &end);
    memcpy(&lex->tok.bits, &value, sizeof value);
    lex->tok.kind = PTX_TOK_F64;
  } else {
    const char *digits = base == 16 || base == 2 ? p + 2 : p;
    lex->tok.bits = strtoull(digits, &end, base);
    lex->tok.kind = end == digits ? PTX_TOK_BAD : PTX_TOK_INT;
    end += *end == 'U' || *end == 'u';
  }
  lex->p = end > p ? end : p + 1;
}

void sct_ptx_lex_next(ptx_lex *lex) {
  skip_space(lex);
  const char *start = lex->p;
  lex->tok = (ptx_tok){.kind = PTX_TOK_PUNCT, .line = lex->line};
  if (*start == '\0') {
    lex->tok.kind = PTX_TOK_END;
  } else if (word_start(*start)) {
    lex->tok.kind = PTX_TOK_WORD;
    lex->p++;
    while (word_char(*lex->p) || (lex->p[0] == ':' && lex->p[1] == ':')) {
      lex->p += *lex->p == ':' ? 2 : 1;
    }
  } else if (isdigit((unsigned char)*start)) {
    lex_number(lex);
  } else if (*start == '"') {
    lex->tok.kind = PTX_TOK_STRING;
    start = ++lex->p;
    lex->p += strcspn(lex->p, "\"\n");
    lex->tok.span = (ptx_span){start, (int)(lex->p - start)};
    lex->p += *lex->p == '"';
    return;
  } else {
    lex->tok.kind = strchr("{}[]()<>,;:+-!|@=~*&/^?", *start) != NULL ? PTX_TOK_PUNCT : PTX_TOK_BAD;
    lex->p++;
  }
  lex->tok.span = (ptx_span){start, (int)(lex->p - start)};
}

void sct_ptx_lex_start(ptx_lex *lex, const char *text) {
  *lex = (ptx_lex){.p = text, .line = 1};
  sct_ptx_lex_next(lex);
}

bool sct_ptx_lex_at(const ptx_lex *lex, char punct) {
  return lex->tok.kind == PTX_TOK_PUNCT && lex->tok.span.p[0] == punct;
}

bool sct_ptx_lex_word(const ptx_lex *lex, const char *word) {
  return lex->tok.kind == PTX_TOK_WORD && sct_ptx_span_is(lex->tok.span, word);
}
