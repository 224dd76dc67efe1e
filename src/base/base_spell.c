/* The nearest legal name: edit distance with transpositions (optimal string alignment). */
#include "base/base.h"

#include <ctype.h>
#include <limits.h>
#include <string.h>

#define MAX_WORD 64 /* longer words are compared by their first 64 letters */

static int min3(int a, int b, int c) {
  const int m = a < b ? a : b;
  return m < c ? m : c;
}

static int distance(const char *a, const char *b) {
  const int n = (int)strnlen(a, MAX_WORD), m = (int)strnlen(b, MAX_WORD);
  int rows[3][MAX_WORD + 1];
  int *before = rows[0], *above = rows[1], *row = rows[2];
  for (int j = 0; j <= m; j++) {
    above[j] = j;
  }
  for (int i = 1; i <= n; i++) {
    row[0] = i;
    for (int j = 1; j <= m; j++) {
      const int ca = tolower((unsigned char)a[i - 1]), cb = tolower((unsigned char)b[j - 1]);
      row[j] = min3(above[j] + 1, row[j - 1] + 1, above[j - 1] + (ca != cb));
      if (i > 1 && j > 1 && ca == tolower((unsigned char)b[j - 2]) &&
          tolower((unsigned char)a[i - 2]) == cb && before[j - 2] + 1 < row[j]) {
        row[j] = before[j - 2] + 1;
      }
    }
    int *const oldest = before;
    before = above;
    above = row;
    row = oldest;
  }
  return above[m];
}

static const char *name_at(sct_names names, int k) {
  return *(const char *const *)((const char *)names.array + (size_t)k * names.stride + names.at);
}

int sct_names_find_n(sct_names names, const char *word, size_t len) {
  for (int k = 0; k < names.n; k++) {
    const char *name = name_at(names, k);
    if (strncmp(name, word, len) == 0 && name[len] == '\0') {
      return k;
    }
  }
  return -1;
}

int sct_names_find(sct_names names, const char *word) {
  return sct_names_find_n(names, word, strlen(word));
}

sct_status sct_names_choose(int *out, sct_names names, const char *word, sct_error *err,
                            const char *fmt, ...) {
  SCT_SCOPED(sct_str) text = {0};
  *out = sct_names_find(names, word);
  if (*out >= 0) {
    return SCT_OK;
  }
  SCT_STR_FORMAT(&text, fmt);
  sct_str_suggest(&text, word, names);
  return sct_fail(err, SCT_EUSAGE, "%s", sct_str_c(&text));
}

const char *sct_nearest(const char *word, sct_names names) {
  const int length = (int)strnlen(word, MAX_WORD);
  int best = length / 3 > 1 ? length / 3 : 1;
  const char *found = NULL;
  for (int k = 0; k < names.n; k++) {
    const int d = distance(word, name_at(names, k));
    if (d < best + (found == NULL)) {
      best = d;
      found = name_at(names, k);
    }
  }
  return found;
}

void sct_str_suggest(sct_str *s, const char *word, sct_names names) {
  const char *near = sct_nearest(word, names);
  if (near) {
    sct_str_printf(s, "; did you mean '%s'?", near);
    return;
  }
  for (int k = 0; k < names.n && k < 12; k++) {
    sct_str_printf(s, "%s%s", k == 0 ? "; expected one of " : ", ", name_at(names, k));
  }
  if (names.n > 12) {
    sct_str_printf(s, ", ... (%d names)", names.n);
  }
}
