/* compile_build - one NVRTC program: made, compiled, asked for its results. What is compiled, and
 * what becomes of it, is the caller's (compile_program.c, compile_file.c). */
#include "compile/compile_internal.h"

#include <string.h>

/* State of the callback between compiler passes. Once it asks to stop it must keep asking. */
typedef struct flow {
  int64_t deadline_ns;
  bool cancelled;
} flow;

static int on_flow(void *payload, void *unused) {
  flow *const f = payload;
  (void)unused;
  f->cancelled = f->cancelled || sct_now_ns() >= f->deadline_ns;
  return f->cancelled ? 1 : 0;
}

/* "NVRTC 13.0: WHAT failed: REASON" */
static sct_status nvrtc_fail(const sct_nvrtc *nvrtc, int result, const char *what, sct_error *err) {
  const sct_status code = result == NVRTC_OUT_OF_MEMORY ? SCT_ENOMEM : SCT_ENVRTC;
  return sct_fail(err, code, "NVRTC %s: %s failed: %s", nvrtc->about.version, what,
                  nvrtc->error_string(result));
}

void sct_compile_build_free(const sct_nvrtc *nvrtc, sct_compile_build *b) {
  if (b->handle != NULL) {
    (void)nvrtc->destroy(&b->handle);
  }
  sct_str_free(&b->log);
  memset(b, 0, sizeof(*b));
}

static sct_status read_log(const sct_nvrtc *nvrtc, sct_compile_build *b, sct_error *err) {
  size_t bytes = 0;
  int result = nvrtc->log_size(b->handle, &bytes);
  SCT_OWNED char *const text = sct_alloc(bytes + 1);
  result = result == NVRTC_SUCCESS ? nvrtc->log(b->handle, text) : result;
  sct_str_append(&b->log, text);
  return result == NVRTC_SUCCESS ? SCT_OK : nvrtc_fail(nvrtc, result, "reading its log", err);
}

static sct_status create(const sct_nvrtc *nvrtc, sct_compile_build *b, const sct_compile_input *in,
                         sct_error *err) {
  const int result =
      nvrtc->create(&b->handle, in->source, in->name, in->n_headers, in->headers, in->header_names);
  if (result != NVRTC_SUCCESS) {
    return nvrtc_fail(nvrtc, result, "a program", err);
  }
  for (int i = 0; i < in->n_expressions; ++i) {
    const int added = nvrtc->add_name(b->handle, in->expressions[i]);
    if (added != NVRTC_SUCCESS) {
      return nvrtc_fail(nvrtc, added, in->expressions[i], err);
    }
  }
  return SCT_OK;
}

sct_status sct_compile_build_run(const sct_nvrtc *nvrtc, sct_compile_build *b,
                                 const sct_compile_input *in, sct_error *err) {
  flow f = {in->deadline_ns, false};
  memset(b, 0, sizeof(*b));
  SCT_TRY(create(nvrtc, b, in, err));
  if (nvrtc->set_flow_callback != NULL) {
    (void)nvrtc->set_flow_callback(b->handle, on_flow, &f);
  }
  b->result = nvrtc->compile(b->handle, in->n_options, in->options);
  return read_log(nvrtc, b, err);
}

sct_status sct_compile_build_refused(const sct_nvrtc *nvrtc, const sct_compile_build *b,
                                     sct_error *err) {
  const sct_status code = b->result == NVRTC_INVALID_OPTION  ? SCT_EUSAGE
                          : b->result == NVRTC_OUT_OF_MEMORY ? SCT_ENOMEM
                                                             : SCT_ENVRTC;
  return sct_fail(err, code, "NVRTC %s: %s: %s", nvrtc->about.version,
                  nvrtc->error_string(b->result), sct_str_c(&b->log));
}

/* ---- a program that compiled */

typedef int (*size_call)(void *program, size_t *bytes);
typedef int (*data_call)(void *program, char *data);

static sct_status take(const sct_nvrtc *nvrtc, void *handle, size_call size, data_call data,
                       const char *what, char **out, size_t *bytes, sct_error *err) {
  int result = size(handle, bytes);
  if (result != NVRTC_SUCCESS || *bytes == 0) {
    return nvrtc_fail(nvrtc, result, what, err);
  }
  *out = sct_alloc(*bytes + 1);
  result = data(handle, *out);
  return result == NVRTC_SUCCESS ? SCT_OK : nvrtc_fail(nvrtc, result, what, err);
}

sct_status sct_compile_build_object(const sct_nvrtc *nvrtc, const sct_compile_build *b,
                                    sct_compile_object **objects, sct_compile_object **out,
                                    sct_error *err) {
  char *cubin = NULL;
  char *ptx = NULL;
  size_t cubin_bytes = 0;
  size_t ptx_bytes = 0;
  sct_status status =
      take(nvrtc, b->handle, nvrtc->cubin_size, nvrtc->cubin, "cubin", &cubin, &cubin_bytes, err);
  SCT_THEN(take(nvrtc, b->handle, nvrtc->ptx_size, nvrtc->ptx, "PTX", &ptx, &ptx_bytes, err));
  if (status != SCT_OK) {
    sct_free(cubin);
    sct_free(ptx);
    return status;
  }
  *out = sct_compile_objects_add(objects, cubin, cubin_bytes, ptx);
  return SCT_OK;
}

sct_status sct_compile_build_entry(const sct_nvrtc *nvrtc, const sct_compile_build *b,
                                   const char *expression, char **out, sct_error *err) {
  const char *lowered = NULL;
  const int result = nvrtc->lowered_name(b->handle, expression, &lowered);
  if (result != NVRTC_SUCCESS || lowered == NULL) {
    return nvrtc_fail(nvrtc, result, expression, err);
  }
  *out = sct_strdup(lowered);
  return SCT_OK;
}

/* ---- a program that failed */

bool sct_compile_build_failed(const sct_compile_build *b) {
  return b->result == NVRTC_COMPILATION || b->result == NVRTC_INTERNAL ||
         b->result == NVRTC_CANCELLED;
}

void sct_compile_build_resolve(const sct_nvrtc *nvrtc, sct_compile_build *b) {
  size_t bytes = 0;
  char *ptx = NULL;
  sct_str resolved = {0};
  if (strstr(sct_str_c(&b->log), "ptxas") != NULL &&
      nvrtc->ptx_size(b->handle, &bytes) == NVRTC_SUCCESS && bytes > 0) {
    ptx = sct_alloc(bytes + 1);
    if (nvrtc->ptx(b->handle, ptx) != NVRTC_SUCCESS) {
      sct_free(ptx);
      ptx = NULL;
    }
  }
  sct_compile_log_resolve(&resolved, sct_str_c(&b->log), ptx);
  sct_free(ptx);
  sct_str_free(&b->log);
  b->log = resolved;
}
