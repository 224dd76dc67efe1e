/* Growing text, and small helpers on text. */
#include "base/base.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>

/* Room for that many bytes more, and a NUL. */
static void str_reserve(sct_str *s, size_t more) {
  assert(more < SIZE_MAX / 4 - s->len);
  const size_t need = s->len + more + 1;
  if (need <= s->cap) {
    return;
  }
  size_t cap = s->cap < 64 ? 64 : s->cap;
  while (cap < need) {
    cap *= 2;
  }
  s->data = sct_realloc(s->data, cap);
  s->cap = cap;
}

void sct_str_append_n(sct_str *s, const char *bytes, size_t n) {
  str_reserve(s, n);
  if (n > 0) {
    memcpy(s->data + s->len, bytes, n);
  }
  s->len += n;
  s->data[s->len] = '\0';
}

void sct_str_append(sct_str *s, const char *text) {
  sct_str_append_n(s, text, strlen(text));
}

void sct_str_append_int(sct_str *s, int64_t value) {
  char digits[20]; /* of 2^63, with its sign */
  size_t at = sizeof digits;
  uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
  do {
    digits[--at] = (char)('0' + rest % 10);
    rest /= 10;
  } while (rest > 0);
  if (value < 0) {
    digits[--at] = '-';
  }
  sct_str_append_n(s, digits + at, sizeof digits - at);
}

void sct_str_vprintf(sct_str *s, const char *fmt, va_list args) {
  va_list again;
  va_copy(again, args);
  const size_t room = s->cap - s->len;
  const int n = vsnprintf(room > 0 ? s->data + s->len : NULL, room, fmt, args);
  assert(n >= 0);
  if ((size_t)n >= room) {
    str_reserve(s, (size_t)n);
    vsnprintf(s->data + s->len, (size_t)n + 1, fmt, again);
  }
  s->len += (size_t)n;
  va_end(again);
}

void sct_str_printf(sct_str *s, const char *fmt, ...) {
  va_list args;
  va_start(args, fmt);
  sct_str_vprintf(s, fmt, args);
  va_end(args);
}

/* How many bytes at p a terminal would obey or an editor would not show: control characters, and
 * what ends lines or turns the direction of the text around it (U+200E, U+200F, U+2028 to U+202E,
 * U+2066 to U+2069). 0: none. */
static size_t unprintable(const unsigned char *p) {
  if ((*p < 32 && *p != '\n' && *p != '\t') || *p == 127) {
    return 1;
  }
  if (p[0] == 0xc2 && p[1] >= 0x80 && p[1] < 0xa0) {
    return 2;
  }
  const bool turns =
      p[0] == 0xe2 &&
      ((p[1] == 0x80 && (p[2] == 0x8e || p[2] == 0x8f || (p[2] >= 0xa8 && p[2] <= 0xae))) ||
       (p[1] == 0x81 && p[2] >= 0xa6 && p[2] <= 0xa9));
  return turns ? 3 : 0;
}

bool sct_is_printable(const char *text) {
  for (const char *p = text; *p != '\0'; p++) {
    if (unprintable((const unsigned char *)p) > 0) {
      return false;
    }
  }
  return true;
}

void sct_str_append_printable(sct_str *s, const char *text) {
  for (const unsigned char *p = (const unsigned char *)text; *p != '\0';) {
    const size_t n = unprintable(p);
    for (size_t k = 0; k < n; k++) {
      sct_str_printf(s, "\\x%02x", p[k]);
    }
    if (n == 0) {
      sct_str_append_n(s, (const char *)p, 1);
    }
    p += n > 0 ? n : 1;
  }
}

void sct_str_clear(sct_str *s) {
  s->len = 0;
  if (s->data) {
    s->data[0] = '\0';
  }
}

void sct_str_free(sct_str *s) {
  sct_free(s->data);
  *s = (sct_str){0};
}

const char *sct_str_c(const sct_str *s) {
  return s->data ? s->data : "";
}

bool sct_has_prefix(const char *text, const char *prefix) {
  return strncmp(text, prefix, strlen(prefix)) == 0;
}

bool sct_has_suffix(const char *text, const char *suffix) {
  const size_t n = strlen(text), m = strlen(suffix);
  return n >= m && strcmp(text + n - m, suffix) == 0;
}

bool sct_is_word(char c) {
  return isalnum((unsigned char)c) || c == '_';
}

bool sct_is_identifier(const char *text) {
  if (!isalpha((unsigned char)*text) && *text != '_') {
    return false;
  }
  for (text++; *text; text++) {
    if (!sct_is_word(*text)) {
      return false;
    }
  }
  return true;
}

size_t sct_hole_length(const char *text, size_t n) {
  int depth = 1;
  char quote = 0;
  for (size_t k = 0; k < n; k++) {
    const char c = text[k];
    if (quote) {
      if (c == '\\') {
        k++;
      } else if (c == quote) {
        quote = 0;
      }
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '(') {
      depth++;
    } else if (c == ')' && --depth == 0) {
      return k;
    }
  }
  return n;
}

char *sct_format_bytes(char *out, double bytes) {
  static const char *const unit[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  int k = 0;
  while (bytes >= 1024.0 && k < SCT_COUNT(unit) - 1) {
    bytes /= 1024.0;
    k++;
  }
  snprintf(out, 32, k == 0 ? "%.0f %s" : "%.4g %s", bytes, unit[k]);
  return out;
}

char *sct_format_ns(char *out, double ns) {
  static const char *const unit[] = {"ns", "us", "ms", "s"};
  int k = 0;
  while (ns >= 1000.0 && k < SCT_COUNT(unit) - 1) {
    ns /= 1000.0;
    k++;
  }
  snprintf(out, 32, "%.4g %s", ns, unit[k]);
  return out;
}
