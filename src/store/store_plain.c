/* store_plain - JSON as this program writes it, known at a glance.
 *
 * Every row that is written or read has JSON in it, and a parser that builds it in memory takes
 * longer than SQLite does. What is looked for here is less than JSON, so that nothing has to be
 * built: no blanks, only ASCII, no \u, only short whole numbers, few members, no deep nesting. All
 * else is for the parser to judge. */
#include "store/store_internal.h"

#include <string.h>

enum { MOST_MEMBERS = 32, MOST_DEPTH = 8, MOST_DIGITS = 15 };

/* Each function returns what follows, NULL where it is not plain. */
static const char *value(const char *at, int depth);

/* From behind the quote. */
static const char *text(const char *at, bool escapes) {
  for (; *at != '"'; ++at) {
    if (*at < ' ' || *at > '~') { /* the end of the text too */
      return NULL;
    }
    if (*at == '\\') {
      ++at;
      if (!escapes || *at == '\0' || strchr("\"\\/bfnrt", *at) == NULL) {
        return NULL;
      }
    }
  }
  return at + 1;
}

static const char *number(const char *at) {
  at += *at == '-';
  const size_t n = strspn(at, "0123456789");
  return n > 0 && n <= MOST_DIGITS && (at[0] != '0' || n == 1) ? at + n : NULL;
}

static const char *word(const char *at, const char *expected) {
  const size_t n = strlen(expected);
  return strncmp(at, expected, n) == 0 ? at + n : NULL;
}

static const char *list(const char *at, int depth) {
  if (*at == ']') {
    return at + 1;
  }
  for (;; ++at) {
    at = value(at, depth);
    if (at == NULL || *at != ',') {
      return at != NULL && *at == ']' ? at + 1 : NULL;
    }
  }
}

typedef struct name {
  const char *at;
  size_t n;
} name;

static bool is_known(const name *names, int n, const name *one) {
  for (int k = 0; k < n; ++k) {
    if (names[k].n == one->n && memcmp(names[k].at, one->at, one->n) == 0) {
      return true;
    }
  }
  return false;
}

static const char *object(const char *at, int depth) {
  name names[MOST_MEMBERS];
  if (*at == '}') {
    return at + 1;
  }
  for (int k = 0; k < MOST_MEMBERS; ++k, ++at) {
    const char *const end = *at == '"' ? text(at + 1, false) : NULL;
    if (end == NULL || *end != ':') {
      return NULL;
    }
    names[k] = (name){at, (size_t)(end - at)};
    at = is_known(names, k, &names[k]) ? NULL : value(end + 1, depth);
    if (at == NULL || *at != ',') {
      return at != NULL && *at == '}' ? at + 1 : NULL;
    }
  }
  return NULL;
}

static const char *value(const char *at, int depth) {
  switch (*at) {
  case '{':
    return depth < MOST_DEPTH ? object(at + 1, depth + 1) : NULL;
  case '[':
    return depth < MOST_DEPTH ? list(at + 1, depth + 1) : NULL;
  case '"':
    return text(at + 1, true);
  case 't':
    return word(at, "true");
  case 'f':
    return word(at, "false");
  case 'n':
    return word(at, "null");
  default:
    return number(at);
  }
}

bool sct_store_is_plain(const char *json) {
  const char *const end = json[0] == '{' ? object(json + 1, 1) : NULL;
  return end != NULL && *end == '\0';
}
