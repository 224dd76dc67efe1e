/* count_fixture - CSV of the program, read back by case and column. */
#ifndef COUNT_FIXTURE_H
#define COUNT_FIXTURE_H

#include "cli/cli_fixture.h"

#define FX_ORACLE SCT_TESTS_DIR "/oracle/"
#define FX_COUNT  SCT_TESTS_DIR "/count/"

/* Field `k` of a CSV line without quotes. */
static inline const char *fx_field(const char *line, int k) {
  for (; k > 0; k--) {
    line = strchr(line, ',');
    assert_non_null(line);
    line++;
  }
  return line;
}

/* Place of a column in the head of a table. */
static inline int fx_column(const char *table, const char *name) {
  int k = 0;
  for (const char *at = table;; k++) {
    const size_t n = strcspn(at, ",\n");
    if (n == strlen(name) && memcmp(at, name, n) == 0) {
      return k;
    }
    if (at[n] != ',') {
      fail_msg("the table has no column '%s'", name);
    }
    at += n + 1;
  }
}

/* The line of a case; NULL: none. */
static inline const char *fx_row(const char *table, const char *name) {
  const size_t n = strlen(name);
  for (const char *at = strchr(table, '\n'); at != NULL; at = strchr(at + 1, '\n')) {
    if (strncmp(at + 1, name, n) == 0 && at[1 + n] == ',') {
      return at + 1;
    }
  }
  return NULL;
}

static inline long long fx_figure(const char *table, const char *name, const char *column) {
  const char *row = fx_row(table, name);
  if (row == NULL) {
    fail_msg("the table has no case '%s'", name);
  }
  return strtoll(fx_field(row, fx_column(table, column)), NULL, 10);
}

/* Is there a compiler? Tests that need one end with 77 where there is none. */
static inline bool fx_has_nvrtc(void) {
  fx_result r = {0};
  const char *cu = fx_write("probe.cu", "extern \"C\" __global__ void k() {}\n");
  const char *cases =
      fx_write("probe.json", "[{\"kernel\": \"k\", \"grid\": [1], \"block\": [1], \"args\": []}]");
  fx_run(&r, "count", cu, "--cases", cases);
  const bool none = r.exit_code == 4;
  fx_free(&r);
  return !none;
}

/* In main(), before any test: where there is none, says so. */
static inline bool fx_lacks_nvrtc(void) {
  void *state = NULL;
  fx_setup(&state);
  const bool lacks = !fx_has_nvrtc();
  fx_teardown(&state);
  if (lacks) {
    print_message("no NVRTC\n");
  }
  return lacks;
}

#endif
