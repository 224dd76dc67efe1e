/* The tokens of a body, and what must not be among them. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "spec/spec_internal.h"

bool sct_token_is(const token *t, const char *text) {
  return strlen(text) == t->len && strncmp(t->text, text, t->len) == 0;
}

typedef struct scanner {
  sct_spec *spec;
  const char *p;
  sct_error *err;
} scanner;

/* What is refused wherever it stands, comments included: the text goes through other tools later,
 * some of which know trigraphs. */
static sct_status refuse_anywhere(const scanner *s) {
  for (const char *p = s->p; *p; p++) {
    if (*p == '\\') {
      return sct_spec_fail_body(s->spec, s->err, p, "a body may not contain a backslash");
    }
    if (p[0] == '?' && p[1] == '?') {
      return sct_spec_fail_body(s->spec, s->err, p, "a body may not contain `\?\?`");
    }
    if (!isprint((unsigned char)*p) && *p != '\t' && *p != '\n') {
      return sct_spec_fail_body(s->spec, s->err, p,
                                "a body may hold printable ASCII only, not byte 0x%02x",
                                (unsigned)(unsigned char)*p);
    }
  }
  return SCT_OK;
}

/* Moves past blanks and comments. */
static sct_status skip_blanks(scanner *s) {
  for (;;) {
    if (*s->p == ' ' || *s->p == '\t' || *s->p == '\n') {
      s->p++;
    } else if (s->p[0] == '/' && s->p[1] == '/') {
      s->p += strcspn(s->p, "\n");
    } else if (s->p[0] == '/' && s->p[1] == '*') {
      const char *end = strstr(s->p + 2, "*/");
      if (!end) {
        return sct_spec_fail_body(s->spec, s->err, s->p, "this comment has no end");
      }
      s->p = end + 2;
    } else {
      return SCT_OK;
    }
  }
}

static size_t number_length(const char *p) {
  size_t n = 0;
  while (sct_is_word(p[n]) || p[n] == '.') {
    const bool exponent = strchr("eEpP", p[n]) != NULL;
    const bool hex = p[0] == '0' && (p[1] == 'x' || p[1] == 'X');
    n++;
    if (exponent && (p[n] == '+' || p[n] == '-') && (!hex || strchr("pP", p[n - 1]))) {
      n++;
    }
  }
  return n;
}

static size_t punct_length(const char *p) {
  static const char *const longer[] = {
      "<<=", ">>=", "==", "!=", "<=", ">=", "&&", "||", "<<", ">>",
      "+=",  "-=",  "*=", "/=", "%=", "&=", "|=", "^=", "++", "--"};
  for (int k = 0; k < SCT_COUNT(longer); k++) {
    if (sct_has_prefix(p, longer[k])) {
      return strlen(longer[k]);
    }
  }
  return 1;
}

static sct_status refuse_punct(const scanner *s) {
  static const char *const refused[] = {"<:", ":>", "<%", "%>", "%:", "::", "->"};
  if (*s->p == '"' || *s->p == '\'') {
    return sct_spec_fail_body(s->spec, s->err, s->p,
                              "a body may not contain strings or character literals");
  }
  int len = strchr("+-*/%=<>!&|^~?:;,.()[]{}", *s->p) ? 0 : 1;
  for (int k = 0; k < SCT_COUNT(refused); k++) {
    len = sct_has_prefix(s->p, refused[k]) ? 2 : len;
  }
  return len == 0 ? SCT_OK
                  : sct_spec_fail_body(s->spec, s->err, s->p, "a body may not contain `%.*s`", len,
                                       s->p);
}

static sct_status next_token(scanner *s, token *out) {
  SCT_TRY(skip_blanks(s));
  *out = (token){.kind = TOKEN_END, .text = s->p};
  if (*s->p == '\0') {
    return SCT_OK;
  }
  if (isalpha((unsigned char)*s->p) || *s->p == '_') {
    out->kind = TOKEN_NAME;
    while (sct_is_word(s->p[out->len])) {
      out->len++;
    }
  } else if (isdigit((unsigned char)*s->p) || (*s->p == '.' && isdigit((unsigned char)s->p[1]))) {
    out->kind = TOKEN_NUMBER;
    out->len = number_length(s->p);
  } else {
    SCT_TRY(refuse_punct(s));
    out->kind = TOKEN_PUNCT;
    out->len = punct_length(s->p);
  }
  s->p += out->len;
  return SCT_OK;
}

sct_status sct_spec_tokenize(token_list *out, sct_spec *spec, sct_error *err) {
  scanner s = {.spec = spec, .p = spec->body, .err = err};
  SCT_TRY(refuse_anywhere(&s));
  out->n = 0;
  out->tokens = SCT_ARENA_NEW(&spec->arena, token, strlen(spec->body) + 1 + TOKENS_AHEAD);
  for (;;) {
    SCT_TRY(next_token(&s, &out->tokens[out->n]));
    if (out->tokens[out->n].kind == TOKEN_END) {
      for (int k = 1; k <= TOKENS_AHEAD; k++) {
        out->tokens[out->n + k] = out->tokens[out->n];
      }
      return SCT_OK;
    }
    out->n++;
  }
}
