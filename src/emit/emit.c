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

sct_status sct_emit_render(sct_str *out, sct_store *store, const sct_emit_request *request,
                           sct_error *err) {
  SCT_SCOPED(emit_header) header = {0};
  SCT_OWNED_PTR(json_t) doc = NULL;
  SCT_SCOPED(sct_str) text = {0};
  const bool is_code = request->form == SCT_EMIT_C;
  SCT_TRY(emit_header_load(&header, store, request, err));
  warn_of_shares(&header);
  doc = emit_document(&header, is_code ? SCT_EMIT_CUDA : request->form);
  SCT_TRY(sct_page_call(header.page, &text, "header", doc, NULL, err));
  if (is_code) { /* NVRTC takes the kernels out of the header in the form cuda */
    json_object_set_new(doc, "form", json_string("c"));
    SCT_TRY(emit_add_code(doc, &header, request, sct_str_c(&text), err));
    sct_str_clear(&text);
    SCT_TRY(sct_page_call(header.page, &text, "header", doc, NULL, err));
  }
  sct_str_append_n(out, text.data, text.len);
  return SCT_OK;
}

sct_status sct_emit_rules(sct_str *out, sct_store *store, const sct_emit_request *request,
                          sct_error *err) {
  SCT_SCOPED(emit_header) header = {0};
  SCT_TRY(emit_header_load(&header, store, request, err));
  return sct_json_dump(out, emit_rules_document(&header), JSON_COMPACT, err);
}

sct_status sct_emit_write(sct_store *store, const sct_emit_request *request, const char *path,
                          sct_error *err) {
  SCT_SCOPED(sct_str) text = {0};
  SCT_TRY(sct_emit_render(&text, store, request, err));
  return sct_file_write(path, text.data, text.len, err);
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

static sct_status write_next_to(const emit_header *h, const sct_emit_request *request,
                                const char *function, json_t *tests, const char *header,
                                const char *path, sct_error *err) {
  SCT_OWNED_PTR(json_t) doc = emit_document(h, request->form);
  SCT_SCOPED(sct_str) text = {0};
  json_object_set_new(doc, "header", json_string(sct_path_basename(header)));
  json_object_set_new(doc, "file", json_string(sct_path_basename(path)));
  json_object_set_new(doc, "tests", tests);
  SCT_TRY(sct_page_call(h->page, &text, function, doc, NULL, err));
  return sct_file_write(path, text.data, text.len, err);
}

/* The rows of the header. */
static sct_status load_next_to(emit_header *loaded, sct_store *store,
                               const sct_emit_request *request, const char *header,
                               const char *path, sct_error *err) {
  SCT_TRY(check_next_to(header, path, err));
  SCT_TRY(emit_header_load(loaded, store, request, err));
  return sct_page_call(loaded->page, NULL, "formulas", NULL, NULL, err);
}

static bool is_module(const char *path) {
  const char *const file = sct_path_basename(path);
  SCT_SCOPED(sct_str) stem = {0};
  sct_str_append_n(&stem, file, sct_has_suffix(file, ".py") ? strlen(file) - 3 : 0);
  return sct_is_identifier(sct_str_c(&stem));
}

sct_status sct_emit_write_python(sct_store *store, const sct_emit_request *request,
                                 const char *header, const char *path, sct_error *err) {
  SCT_SCOPED(emit_header) loaded = {0};
  if (!is_module(path)) {
    return sct_fail(err, SCT_EUSAGE,
                    "'%s' is no module that Python can import: expected a name of letters, digits "
                    "and _ that ends in .py",
                    sct_path_basename(path));
  }
  SCT_TRY(load_next_to(&loaded, store, request, header, path, err));
  return write_next_to(&loaded, request, "python", json_null(), header, path, err);
}

sct_status sct_emit_write_selftest(sct_store *store, const sct_emit_request *request,
                                   const char *header, const char *path,
                                   const sct_emit_tester *tester, sct_error *err) {
  SCT_SCOPED(emit_header) loaded = {0};
  sct_emit_cases cases = {0};
  SCT_TRY(load_next_to(&loaded, store, request, header, path, err));
  const char **labels = SCT_ARENA_NEW(&loaded.arena, const char *, loaded.n_kernels + 1);
  for (int k = 0; k < loaded.n_kernels; k++) {
    labels[k] = loaded.kernels[k].source->label;
  }
  SCT_TRY(tester->make(tester->ctx, loaded.layout, loaded.sig.n_operands, labels, loaded.n_kernels,
                       &cases, err));
  return write_next_to(&loaded, request, "selftest", emit_tests(&loaded, &cases), header, path,
                       err);
}
