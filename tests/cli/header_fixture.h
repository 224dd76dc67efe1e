/* Headers of specs that nobody tuned, for tests of what compilers make of them: in a store of its
 * own, the naive variant, or another candidate beside it, has won. */
#ifndef SCT_TESTS_HEADER_FIXTURE_H
#define SCT_TESTS_HEADER_FIXTURE_H

#include "codegen/codegen_fixture.h"
#include "emit/emit.h"
#include "scratch.h"

#include <unistd.h>

typedef struct header_store {
  char folder[64];
  sct_store *store;
} header_store;

static inline void header_store_open(header_store *h) {
  char path[256];
  assert_int_equal(scratch_make(h->folder, sizeof h->folder, "header"), 0);
  snprintf(path, sizeof path, "%s/store.db", h->folder);
  MUST(sct_store_open(&h->store, path, false, err));
}

static inline int header_store_close(header_store *h) {
  sct_store_close(h->store);
  return scratch_remove(h->folder);
}

static inline sct_id header_device(const header_store *h) {
  sct_row_device device = {.name = "NVIDIA H200",
                           .device_id = "virtual:h200",
                           .arch = "sm_90",
                           .cc_major = 9,
                           .is_virtual = true};
  MUST(sct_store_put_device(h->store, &device, err));
  return device.id;
}

static inline sct_row_run header_run(const header_store *h, const fixture *f) {
  sct_str signature = {0}, extents = {0};
  char hash[SCT_HASH_HEX];
  MUST(sct_codegen_signature(&signature, &f->spec, err));
  sct_row_problem problem = {.name = (char *)f->spec.name,
                             .spec_hash = sct_hash_hex(hash, f->spec.hash),
                             .spec_file = "test.lua",
                             .canonical = (char *)f->spec.canonical,
                             .signature = (char *)sct_str_c(&signature)};
  MUST(sct_store_put_problem(h->store, &problem, err));
  for (int k = 0; k < f->spec.n_extents; k++) {
    sct_str_printf(&extents, "%s\"%s\": 64", k > 0 ? ", " : "{", f->spec.extent_names[k]);
  }
  sct_str_append(&extents, "}");
  sct_row_run run = {.problem = problem.id,
                     .device = header_device(h),
                     .size_label = "some size",
                     .extents = (char *)sct_str_c(&extents),
                     .started = "2025-01-01T00:00:00Z"};
  MUST(sct_store_put_run(h->store, &run, err));
  sct_str_free(&extents);
  sct_str_free(&signature);
  run.extents = NULL;
  return run;
}

/* A candidate as one that passed; false: its plan rejects it. */
static inline bool header_result(const header_store *h, sct_id *out, fixture *f,
                                 const sct_row_run *run, int64_t index) {
  sct_kernel_code code;
  sct_str launch = {0}, label = {0}, axes = {0};
  char hash[SCT_HASH_HEX];
  const char *rejected = NULL;
  const char *strategy = f->space.strategies[f->space.candidates[index].strategy].name;
  MUST(sct_codegen_make(&code, &rejected, &f->arena, f->script, &f->spec, &f->space,
                        &f->space.candidates[index], err));
  if (rejected != NULL) {
    return false;
  }
  MUST(sct_codegen_launch(&launch, &f->spec, &code, err));
  sct_codegen_axes(&axes, &f->space, &f->space.candidates[index]);
  sct_space_label(&label, &f->space, &f->space.candidates[index]);
  sct_row_candidate candidate = {.problem = run->problem,
                                 .source_hash = sct_hash_hex(hash, code.hash),
                                 .label = (char *)sct_str_c(&label),
                                 .strategy = (char *)strategy,
                                 .axes = (char *)sct_str_c(&axes),
                                 .source = (char *)code.source,
                                 .kernel = (char *)code.kernel,
                                 .launch = (char *)sct_str_c(&launch)};
  sct_row_outcome outcome = {.run = run->id, .outcome = "ok", .predicted_ns = 1000};
  MUST(sct_store_put_result(h->store, &candidate, &outcome, false, err));
  *out = outcome.id;
  sct_kernel_code_free(&code);
  sct_str_free(&launch);
  sct_str_free(&label);
  sct_str_free(&axes);
  return true;
}

/* Puts the naive variant of this choice of layouts as a winner. */
static inline void header_put_naive(const header_store *h, fixture *f, const int *choice) {
  sct_row_run run = header_run(h, f);
  const int64_t naive = sct_codegen_naive(&f->spec, &f->space, choice);
  assert_true(naive >= 0);
  assert_true(header_result(h, &run.naive, f, &run, naive));
  run.winner = run.naive;
  MUST(sct_store_finish_run(h->store, &run, err));
}

static inline void header_write_request(const header_store *h, const sct_emit_request *request,
                                        const char *path) {
  sct_emit *header = NULL;
  sct_str text = {0};
  MUST(sct_emit_open(&header, h->store, request, err));
  MUST(sct_emit_render(&text, header, err));
  MUST(sct_file_write(path, text.data, text.len, err));
  sct_str_free(&text);
  sct_emit_close(header);
}

static inline void header_write(const header_store *h, const char *name, const char *file,
                                sct_emit_form form) {
  char path[512];
  snprintf(path, sizeof path, "%s/%s", h->folder, file);
  const sct_emit_request request = {.name = name, .form = form};
  header_write_request(h, &request, path);
}

/* The status of a shell command in the folder of the headers; what it said is shown if it failed.
 */
static inline int header_shell(const header_store *h, const char *command) {
  sct_str line = {0};
  sct_str_printf(&line,
                 "cd '%s' && { %s; } >said 2>&1 || { status=$?; head -c 4000 said; exit $status; }",
                 h->folder, command);
  const int status = system(sct_str_c(&line));
  sct_str_free(&line);
  return status;
}

/* The toolkit, for types such as float4 and for nvcc; NULL: there is none. */
static inline const char *header_toolkit(void) {
  const char *const homes[] = {getenv("CUDA_HOME"), getenv("CUDA_PATH"), "/usr/local/cuda"};
  static char path[512];
  for (int k = 0; k < SCT_COUNT(homes); k++) {
    snprintf(path, sizeof path, "%s/include/vector_types.h", homes[k] ? homes[k] : "");
    if (homes[k] && access(path, R_OK) == 0) {
      return homes[k];
    }
  }
  return NULL;
}

#endif
