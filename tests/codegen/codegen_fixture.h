/* A spec with its space and strategies, for tests that generate kernels. */
#ifndef SCT_TESTS_CODEGEN_FIXTURE_H
#define SCT_TESTS_CODEGEN_FIXTURE_H

#include "codegen/codegen.h"
#include "worked.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
/* cmocka wants the above first */
#include <cmocka.h>

typedef struct fixture {
  sct_spec spec;
  sct_device_desc device;
  sct_script *script;
  sct_space space;
  sct_arena arena;
} fixture;

#define MUST(call)                                                                                 \
  do {                                                                                             \
    sct_error must_err_ = {0};                                                                     \
    sct_error *const err = &must_err_;                                                             \
    if ((call) != SCT_OK) {                                                                        \
      fail_msg("%s", must_err_.text);                                                              \
    }                                                                                              \
  } while (0)

static void fixture_finish(fixture *f) {
  MUST(sct_script_load_device(&f->device, "h200", err));
  MUST(sct_script_new(&f->script, &f->spec, &f->device, NULL, err));
  MUST(sct_script_space(&f->space, f->script, err));
  MUST(sct_space_enumerate(&f->space, err));
}

/* Opens a worked spec by its kernel's name, or the spec at a path. */
static inline void fixture_open(fixture *f, const char *name) {
  *f = (fixture){0};
  MUST(strchr(name, '/') != NULL ? sct_script_load_spec(&f->spec, name, err)
                                 : worked_load(&f->spec, name, err));
  fixture_finish(f);
}

static inline void fixture_open_text(fixture *f, const char *text) {
  *f = (fixture){0};
  MUST(sct_script_load_spec_text(&f->spec, "test.lua", text, err));
  fixture_finish(f);
}

static inline void fixture_close(fixture *f) {
  sct_space_free(&f->space);
  sct_script_free(f->script);
  sct_spec_free(&f->spec);
  sct_arena_free(&f->arena);
}

/* Generates the candidate with this label; fails the test if there is none or it is turned down. */
static inline sct_kernel_code fixture_make(fixture *f, const char *label) {
  sct_error not_found = {0};
  const int64_t c = sct_space_find(&f->space, label, 0, &not_found);
  if (c < 0) {
    fail_msg("%s", not_found.text);
  }
  sct_kernel_code code;
  const char *rejected = NULL;
  MUST(sct_codegen_make(&code, &rejected, &f->arena, f->script, &f->spec, &f->space,
                        &f->space.candidates[c], err));
  if (rejected) {
    fail_msg("'%s' was turned down: %s", label, rejected);
  }
  return code;
}

#endif
