/* Literals: the numbers in the text of a body and of the user's own kernels, and what the body does
 * with values that are none. Arrays and scalars are given these numbers and their neighbours. */
#include "measure_data.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Past blanks and comments. */
static const char *skip(const char *p) {
  for (;;) {
    if (isspace((unsigned char)*p)) {
      p++;
    } else if (p[0] == '/' && p[1] == '/') {
      p += strcspn(p, "\n");
    } else if (p[0] == '/' && p[1] == '*') {
      const char *end = strstr(p + 2, "*/");
      p = end ? end + 2 : p + strlen(p);
    } else {
      return p;
    }
  }
}

static bool is_number(const char *p) {
  return isdigit((unsigned char)p[0]) || (p[0] == '.' && isdigit((unsigned char)p[1]));
}

static const char *end_of_word(const char *p) {
  while (sct_is_word(*p) || *p == '.') {
    const bool exponent = strchr("eEpP", *p) && (p[1] == '+' || p[1] == '-') && is_number(p + 2);
    p += exponent ? 2 : 1;
  }
  return p;
}

static void add_literal(sct_literals *out, const char *text) {
  const long double value = strtold(text, NULL);
  bool known = value == 0 || out->n == SCT_MAX_LITERALS; /* 0 is everywhere */
  for (int k = 0; k < out->n && !known; k++) {
    known = out->value[k] == value;
  }
  if (!known) {
    out->value[out->n++] = value;
  }
}

/* Is a name in the operand that begins here, a word or what stands in brackets? */
static bool has_name(const char *p) {
  int depth = 0;
  for (p = skip(p); *p != '\0'; p = skip(p)) {
    if (is_number(p)) {
      p = end_of_word(p);
    } else if (sct_is_word(*p)) {
      return true;
    } else {
      depth += *p == '(' || *p == '[' ? 1 : *p == ')' || *p == ']' ? -1 : 0;
      const bool goes_on = depth > 0 || strchr("+-~!", *p) != NULL;
      p++;
      if (!goes_on) {
        return false;
      }
      continue;
    }
    if (depth == 0) {
      return false;
    }
  }
  return false;
}

static bool is_loop(const char *word, size_t len) {
  return (len == 3 && strncmp(word, "for", 3) == 0) || (len == 5 && strncmp(word, "while", 5) == 0);
}

static void scan(sct_literals *out, const char *text) {
  for (const char *p = skip(text); *p != '\0'; p = skip(p)) {
    const char *const word = p;
    if (is_number(p)) {
      add_literal(out, p);
      p = end_of_word(p);
    } else if (sct_is_word(*p)) {
      while (sct_is_word(*p)) {
        p++;
      }
      out->places = out->places || is_loop(word, (size_t)(p - word));
    } else {
      const bool shifts = (p[0] == '<' && p[1] == '<') || (p[0] == '>' && p[1] == '>');
      p += shifts ? 2 : 1;
      const char *const operand = p + (*p == '=');
      out->places = out->places || ((shifts || *word == '[') && has_name(operand));
      out->divides = out->divides || ((*word == '/' || *word == '%') && has_name(operand));
    }
  }
}

void sct_literals_find(sct_literals *out, const sct_spec *spec) {
  *out = (sct_literals){0};
  scan(out, spec->body);
  const sct_literals of_body = *out;
  out->n_body = out->n;
  for (int k = 0; k < spec->n_own; k++) {
    scan(out, spec->own[k].text ? spec->own[k].text : "");
  }
  out->places = of_body.places;
  out->divides = of_body.divides;
}
