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
