/* worked - the kernels of the worked specs (tuning/kernels). A spec with parameters names several:
 *
 *   -- kernel record12_soa_to_aos: fields=3 from=soa to=aos
 *
 * One without such lines has one, of its own name. scripts/suite/worked.py reads them too. */
#ifndef SCT_TESTS_WORKED_H
#define SCT_TESTS_WORKED_H

#include "script/script.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
/* cmocka wants the above first */
#include <cmocka.h>

#define WORKED_MARK "\n-- kernel "

typedef struct worked {
  char name[64], path[96];
  char params[4][32];
  int n_params;
} worked;

static worked worked_kernels[128]; /* sorted by name, once worked_count() was asked */
static int n_worked_kernels;

static worked *worked_add(const char *name, size_t length, const char *path) {
  assert_in_range(n_worked_kernels, 0, SCT_COUNT(worked_kernels) - 1);
  worked *w = &worked_kernels[n_worked_kernels++];
  snprintf(w->name, sizeof w->name, "%.*s", (int)length, name);
  snprintf(w->path, sizeof w->path, "%s", path);
  return w;
}

/* One line of a spec: `NAME` or `NAME: PARAM=VALUE ...` */
static void worked_line(const char *line, const char *path) {
  const size_t length = strcspn(line, ":\n");
  worked *w = worked_add(line, length, path);
  for (const char *at = line + length; *at != '\n' && *at != '\0';) {
    at += strspn(at, ": ");
    assert_in_range(w->n_params, 0, SCT_COUNT(w->params) - 1);
    const size_t n = strcspn(at, " \n");
    snprintf(w->params[w->n_params++], sizeof w->params[0], "%.*s", (int)n, at);
    at += n;
  }
}

static void worked_file(const char *asset) {
  sct_str text = {0};
  assert_int_equal(sct_asset_read(&text, asset, NULL), SCT_OK);
  const char *at = strstr(sct_str_c(&text), WORKED_MARK);
  if (!at) {
    const char *base = sct_path_basename(asset);
    worked_add(base, strlen(base) - strlen(".lua"), asset);
  }
  for (; at; at = strstr(at, WORKED_MARK)) {
    at += sizeof WORKED_MARK - 1;
    worked_line(at, asset);
  }
  sct_str_free(&text);
}

static int worked_order(const void *a, const void *b) {
  return strcmp(((const worked *)a)->name, ((const worked *)b)->name);
}

static inline int worked_count(void) {
  if (n_worked_kernels == 0) {
    sct_arena arena = {0};
    int n = 0;
    const char **specs = sct_asset_names(&n, &arena, "tuning/kernels/", ".lua");
    for (int k = 0; k < n; k++) {
      worked_file(specs[k]);
    }
    sct_arena_free(&arena);
    qsort(worked_kernels, (size_t)n_worked_kernels, sizeof worked_kernels[0], worked_order);
  }
  return n_worked_kernels;
}

static inline const worked *worked_find(const char *name) {
  for (int k = 0; k < worked_count(); k++) {
    if (strcmp(worked_kernels[k].name, name) == 0) {
      return &worked_kernels[k];
    }
  }
  fail_msg("no worked spec has the kernel '%s'", name);
  return NULL;
}

/* Loads the spec with the parameters that make the kernel `name`, from the program itself. */
static inline sct_status worked_load(sct_spec *out, const char *name, sct_error *why) {
  const worked *w = worked_find(name);
  const char *params[SCT_COUNT(w->params)];
  for (int k = 0; k < w->n_params; k++) {
    params[k] = w->params[k];
  }
  sct_status status = sct_script_set_params(params, w->n_params, why);
  if (status == SCT_OK) {
    status = sct_script_load_spec(out, w->path, why);
  }
  const sct_status reset = sct_script_set_params(NULL, 0, NULL);
  return status == SCT_OK ? reset : status;
}

/* A test of each kernel, or of `only`, with its name as initial state. `left_out` may be NULL. */
static inline int worked_tests(struct CMUnitTest *tests, int n, void (*test)(void **),
                               const char *only, bool (*left_out)(const char *name)) {
  for (int k = 0; k < worked_count(); k++) {
    char *const name = worked_kernels[k].name;
    if (only ? strcmp(only, name) == 0 : !left_out || !left_out(name)) {
      tests[n++] = (struct CMUnitTest){.name = name, .test_func = test, .initial_state = name};
    }
  }
  return n;
}

#endif
