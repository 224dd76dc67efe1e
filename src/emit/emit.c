/* The doors of the module: a header as text, as a file, and files next to it. */
#include "emit/emit.h"

#include "emit/emit_internal.h"

#include <ctype.h>
#include <string.h>

/* A winner that is that of a share of the candidates only. */
static void warn_of_shares(const emit_header *h) {
  for (int d = 0; d < h->n_devices; d++) {
    for (int k = 0; k < h->devices[d].n_sizes; k++) {
      const sct_row_run *run = h->devices[d].sizes[k].run;
      SCT_OWNED_PTR(json_t) root = sct_json_load(run->conditions);
      const char *part = json_string_value(json_object_get(root, "part"));
      if (part != NULL && sct_has_prefix(part, "share ")) {
        sct_log(SCT_LOG_WARN,
                "the winner at %s on %s is that of %s of the candidates only: `sectile merge` the "
                "stores of all shares, then `sectile tune --top-of` the result",
                run->size_label, h->devices[d].row->name, part);
      }
    }
  }
}

sct_status sct_emit_open(sct_emit **out, sct_store *store, const sct_emit_request *request,
                         sct_error *err) {
  sct_emit *e = sct_alloc(sizeof *e);
  const sct_status status = emit_header_load(e, store, request, err);
  if (status == SCT_OK) {
    *out = e;
  } else {
    sct_emit_close(e);
  }
  return status;
}

void sct_emit_close(sct_emit *e) {
  if (e != NULL) {
    emit_header_free(e);
    sct_free(e);
  }
}

sct_status sct_emit_render(sct_str *out, sct_emit *e, sct_error *err) {
  SCT_OWNED_PTR(json_t) doc = NULL;
  SCT_SCOPED(sct_str) text = {0};
  const bool is_code = e->request.form == SCT_EMIT_C;
  warn_of_shares(e);
  doc = emit_document(e, is_code ? SCT_EMIT_CUDA : e->request.form);
  SCT_TRY(sct_page_call(e->page, &text, "header", doc, NULL, err));
  if (is_code) { /* NVRTC takes the kernels out of the header in the form cuda */
    json_object_set_new(doc, "form", json_string("c"));
    SCT_TRY(emit_add_code(doc, e, sct_str_c(&text), err));
    sct_str_clear(&text);
    SCT_TRY(sct_page_call(e->page, &text, "header", doc, NULL, err));
  }
  sct_str_append_n(out, text.data, text.len);
  return SCT_OK;
}

/* ---- files next to a header ---- */

/* Characters that neither a string nor a command line takes for something else. */
static bool is_plain_name(const char *name) {
  for (const char *at = name; *at != '\0'; at++) {
    if (!isalnum((unsigned char)*at) && strchr("._-+", *at) == NULL) {
      return false;
    }
  }
  return true;
}

/* The file includes the header by its name. */
static sct_status check_next_to(const char *header, const char *path, sct_error *err) {
  SCT_SCOPED(sct_str) beside = {0}, here = {0};
  sct_path_dirname(&beside, header);
  sct_path_dirname(&here, path);
  const bool together = strcmp(sct_str_c(&beside), sct_str_c(&here)) == 0;
  if (!together) {
    return sct_fail(err, SCT_EUSAGE, "'%s' includes its header: write both into one directory",
                    path);
  }
  const char *const names[] = {sct_path_basename(header), sct_path_basename(path)};
  for (int k = 0; k < 2; k++) {
    if (!is_plain_name(names[k])) {
      return sct_fail(err, SCT_EUSAGE,
                      "'%s': files that name each other have letters, digits, and . _ - + only",
                      names[k]);
    }
  }
  return SCT_OK;
}

/* The file needs to know where elements lie. */
static sct_status check_file(const sct_emit *e, const char *header, const char *path,
                             sct_error *err) {
  SCT_TRY(check_next_to(header, path, err));
  return sct_page_call(e->page, NULL, "formulas", NULL, NULL, err);
}

static sct_status write_next_to(const sct_emit *e, const char *function, json_t *tests,
                                const char *header, const char *path, sct_error *err) {
  SCT_OWNED_PTR(json_t) doc = emit_document(e, e->request.form);
  SCT_SCOPED(sct_str) text = {0};
  json_object_set_new(doc, "header", json_string(sct_path_basename(header)));
  json_object_set_new(doc, "file", json_string(sct_path_basename(path)));
  json_object_set_new(doc, "tests", tests);
  SCT_TRY(sct_page_call(e->page, &text, function, doc, NULL, err));
  return sct_file_write(path, text.data, text.len, err);
}

static bool is_module(const char *path) {
  const char *const file = sct_path_basename(path);
  SCT_SCOPED(sct_str) stem = {0};
  sct_str_append_n(&stem, file, sct_has_suffix(file, ".py") ? strlen(file) - 3 : 0);
  return sct_is_identifier(sct_str_c(&stem));
}

sct_status sct_emit_write_python(sct_emit *e, const char *header, const char *path,
                                 sct_error *err) {
  if (!is_module(path)) {
    return sct_fail(err, SCT_EUSAGE,
                    "'%s' is no module that Python can import: expected a name of letters, digits "
                    "and _ that ends in .py",
                    sct_path_basename(path));
  }
  SCT_TRY(check_file(e, header, path, err));
  return write_next_to(e, "python", json_null(), header, path, err);
}

sct_status sct_emit_write_selftest(sct_emit *e, const char *header, const char *path,
                                   const sct_emit_tester *tester, sct_error *err) {
  sct_emit_cases cases = {0};
  SCT_TRY(check_file(e, header, path, err));
  int n = 0;
  const char *const *labels = sct_emit_kernels(e, &n);
  SCT_TRY(tester->make(tester->ctx, e->layout, e->sig.n_operands, labels, n, &cases, err));
  return write_next_to(e, "selftest", emit_tests(e, &cases, tester), header, path, err);
}
