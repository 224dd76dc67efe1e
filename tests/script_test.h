/* Spec scripts from text, with files beside them in a folder of their own. */
#ifndef SCT_TESTS_SCRIPT_TEST_H
#define SCT_TESTS_SCRIPT_TEST_H

#include "scratch.h"
#include "script/script.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[64];
static sct_spec spec;
static sct_error err;

static inline int make_folder(void **state) {
  (void)state;
  return scratch_make(folder, sizeof folder, "script");
}

static inline int remove_folder(void **state) {
  (void)state;
  return scratch_remove(folder);
}

/* folder/name; valid until the next call but three. */
static inline const char *path_of(const char *name) {
  static char paths[4][256];
  static int next;
  next = (next + 1) % 4;
  snprintf(paths[next], sizeof paths[next], "%s/%s", folder, name);
  return paths[next];
}

static inline void write_file(const char *name, const char *text) {
  FILE *file = fopen(path_of(name), "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
  assert_int_equal(fclose(file), 0);
}

/* Runs `text` as folder/spec.lua. */
static inline sct_status load(const char *text) {
  memset(&err, 0, sizeof err);
  return sct_script_load_spec_text(&spec, path_of("spec.lua"), text, &err);
}

static inline void load_ok(const char *text) {
  if (load(text) != SCT_OK) {
    fail_msg("%s\n---\n%s", err.text, text);
  }
}

/* `text` fails; the message is "FOLDER/file:line: error: ...", with a column of a body, and holds
 * `says`. */
static inline void assert_fails(const char *text, const char *file, int line, const char *says) {
  if (load(text) == SCT_OK) {
    sct_spec_free(&spec);
    fail_msg("accepted:\n%s", text);
  }
  assert_int_equal(err.code, SCT_ESPEC);
  char place[300];
  snprintf(place, sizeof place, "%s:%d:", path_of(file), line);
  const bool placed = sct_has_prefix(err.text, place);
  const char *rest = placed ? err.text + strlen(place) : "";
  rest += strspn(rest, "0123456789:");
  if (!sct_has_prefix(rest, " error: ") || !strstr(err.text, says)) {
    fail_msg("expected %s... \"%s\", got: %s\n---\n%s", place, says, err.text, text);
  }
  assert_null(spec.pool); /* zeroed */
}

#endif
