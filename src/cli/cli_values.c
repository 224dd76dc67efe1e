/* Values of options: numbers and durations, with a message that says what was expected. */
#include "cli/cli_internal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DURATION_NS ((double)30 * 24 * 3600 * 1e9) /* a month; keeps ns far from overflow */

sct_status cli_read_duration(int64_t *out, const char *name, const char *text, sct_error *err) {
  static const struct {
    const char *unit;
    double ns;
  } units[] = {{"ms", 1e6}, {"s", 1e9}, {"m", 60e9}, {"min", 60e9}, {"h", 3600e9}};
  char *unit = NULL;
  const bool digit = (text[0] >= '0' && text[0] <= '9') || text[0] == '.';
  const bool plain = digit && text[strspn(text, "0123456789.")] != 'x'; /* no hexadecimal */
  const double number = plain ? strtod(text, &unit) : 0.0;
  for (int k = 0; plain && k < SCT_COUNT(units); k++) {
    const double ns = number * units[k].ns;
    if (strcmp(unit, units[k].unit) == 0 && ns >= 1.0 && ns <= MAX_DURATION_NS) {
      *out = (int64_t)llround(ns);
      return SCT_OK;
    }
  }
  return sct_fail(err, SCT_EUSAGE,
                  "--%s '%s': expected a time above 0 with its unit (ms, s, m or h), as in 500ms, "
                  "60s or 1.5m",
                  name, text);
}

sct_status cli_read_number(int64_t *out, const char *name, const char *text, int64_t lo, int64_t hi,
                           sct_error *err) {
  char *end = NULL;
  errno = 0;
  const bool digit = (text[0] >= '0' && text[0] <= '9') || text[0] == '-';
  const int base = text[0] == '0' && text[1] == 'x' ? 16 : 10; /* 010 is ten */
  const long long value = digit ? strtoll(text, &end, base) : 0;
  if (!digit || *end != '\0' || errno != 0 || value < lo || value > hi) {
    return sct_fail(err, SCT_EUSAGE, "--%s '%s': expected a whole number from %lld to %lld", name,
                    text, (long long)lo, (long long)hi);
  }
  *out = value;
  return SCT_OK;
}

/* One size of a list. */
static bool read_size(int64_t *out, const char *text, int64_t unit, int64_t largest) {
  static const char *const units[] = {"", "K", "M", "G"};
  char *end = NULL;
  const bool digit = text[0] >= '0' && text[0] <= '9';
  const double number = digit && text[strspn(text, "0123456789.")] != 'x' ? strtod(text, &end) : 0;
  for (int k = 0; end != NULL && k < SCT_COUNT(units); k++) {
    const double bytes = ldexp(number, 10 * k);
    if (strcmp(end, units[k]) == 0 && bytes >= 1 && bytes <= (double)largest &&
        fmod(bytes, (double)unit) == 0) {
      *out = (int64_t)bytes;
      return true;
    }
  }
  return false;
}

sct_status cli_read_sizes(int64_t *out, int *n, int most, const char *name, const char *text,
                          int64_t unit, int64_t largest, sct_error *err) {
  *n = 0;
  for (const char *at = text; *at != '\0' || at == text;) {
    const size_t length = strcspn(at, ",");
    SCT_SCOPED(sct_str) word = {0};
    char limit[32];
    int64_t bytes = 0;
    sct_str_append_n(&word, at, length);
    if (*n == most || !read_size(&bytes, sct_str_c(&word), unit, largest)) {
      return sct_fail(err, SCT_EUSAGE,
                      "--%s '%s': expected up to %d sizes in bytes, K, M or G with commas between, "
                      "multiples of %lld bytes up to %s, as in 4K,64K,1M",
                      name, text, most, (long long)unit, sct_format_bytes(limit, (double)largest));
    }
    int k = *n; /* its place among those before */
    while (k > 0 && out[k - 1] > bytes) {
      k--;
    }
    if (k == 0 || out[k - 1] != bytes) {
      memmove(out + k + 1, out + k, sizeof *out * (size_t)(*n - k));
      out[k] = bytes;
      ++*n;
    }
    at += length + (at[length] == ',');
    if (at[0] == '\0' && at[-1] == ',') {
      at--; /* an empty size at the end is an error as well */
    }
  }
  return SCT_OK;
}

sct_status cli_read_names(bool wanted[], const char *list, sct_names names, const char *what,
                          sct_error *err) {
  for (int k = 0; k < names.n; k++) {
    wanted[k] = list == NULL;
  }
  for (const char *at = list; at != NULL && *at != '\0';) {
    const size_t length = strcspn(at, ",");
    SCT_SCOPED(sct_str) word = {0};
    int k;
    sct_str_append_n(&word, at, length);
    SCT_TRY(sct_names_choose(&k, names, sct_str_c(&word), err, "there is no %s '%s' here", what,
                             sct_str_c(&word)));
    wanted[k] = true;
    at += length + (at[length] == ',');
  }
  return SCT_OK;
}
