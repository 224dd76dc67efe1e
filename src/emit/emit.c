/* The two doors of the module: a header as text, and a header as a file. Its text is templates, in
 * this order. */
#include "emit/emit.h"

#include "emit/emit_internal.h"

#include <ctype.h>
#include <string.h>

static const char *const parts[] = {
    "templates/header/banner.cuh",  "templates/header/types.cuh",
    "templates/header/layouts.cuh", "templates/header/declarations.cuh",
    "templates/header/kernels.cuh", "templates/header/variants.cuh",
    "templates/header/runtime.cuh", "templates/header/host.cuh",
    "templates/header/public.cuh",
};

static const char *const forms[] = {
    [SCT_EMIT_INLINE] = "inline", [SCT_EMIT_CUDA] = "cuda", [SCT_EMIT_C] = "c"};

sct_status sct_emit_find_form(sct_emit_form *out, const char *name, sct_error *err) {
  int k;
  SCT_TRY(sct_names_choose(&k, SCT_NAMES(forms, SCT_COUNT(forms)), name, err,
                           "there is no form '%s'", name));
  *out = (sct_emit_form)k;
  return SCT_OK;
}

/* The text of a form. `c` has compiled kernels in the place of their sources. */
static sct_status fill_parts(sct_str *out, const json_t *data, bool is_code, sct_error *err) {
  for (int k = 0; k < SCT_COUNT(parts); k++) {
    const bool kernels = strcmp(sct_path_basename(parts[k]), "kernels.cuh") == 0;
    SCT_TRY(emit_fill(out, kernels && is_code ? "templates/header/code.cuh" : parts[k], data, err));
  }
  return SCT_OK;
}

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
  SCT_OWNED_PTR(json_t) data = NULL;
  SCT_SCOPED(sct_str) text = {0};
  const bool is_code = request->form == SCT_EMIT_C;
  header.form = is_code ? SCT_EMIT_CUDA : request->form;
  SCT_TRY(emit_header_load(&header, store, request, err));
  warn_of_shares(&header);
  SCT_TRY(emit_data(&data, &header, err));
  SCT_TRY(fill_parts(&text, data, false, err));
  if (is_code) { /* NVRTC takes the kernels out of the header in the form cuda */
    header.form = SCT_EMIT_C;
    json_decref(data);
    data = NULL;
    SCT_TRY(emit_data(&data, &header, err));
    SCT_TRY(emit_add_code(data, &header, request, sct_str_c(&text), err));
    sct_str_clear(&text);
    SCT_TRY(fill_parts(&text, data, true, err));
  }
  sct_str_append_n(out, text.data, text.len);
  return SCT_OK;
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

/* The header as data, with the names of the two files. */
static sct_status load_data(json_t **data, emit_header *loaded, sct_store *store,
                            const sct_emit_request *request, const char *header, const char *path,
                            sct_error *err) {
  SCT_TRY(check_next_to(header, path, err));
  loaded->form = request->form;
  SCT_TRY(emit_header_load(loaded, store, request, err));
  SCT_TRY(emit_data(data, loaded, err));
  json_object_set_new(*data, "header", emit_text(sct_path_basename(header)));
  json_object_set_new(*data, "file", emit_text(sct_path_basename(path)));
  return SCT_OK;
}

static sct_status write_filled(const char *path, const char *file, const json_t *data,
                               sct_error *err) {
  SCT_SCOPED(sct_str) text = {0};
  SCT_TRY(emit_fill(&text, file, data, err));
  return sct_file_write(path, text.data, text.len, err);
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
  SCT_OWNED_PTR(json_t) data = NULL;
  if (!is_module(path)) {
    return sct_fail(err, SCT_EUSAGE,
                    "'%s' is no module that Python can import: expected a name of letters, digits "
                    "and _ that ends in .py",
                    sct_path_basename(path));
  }
  SCT_TRY(load_data(&data, &loaded, store, request, header, path, err));
  SCT_TRY(emit_add_python(data, &loaded, err));
  return write_filled(path, "templates/header/module.py", data, err);
}

sct_status sct_emit_write_selftest(sct_store *store, const sct_emit_request *request,
                                   const char *header, const char *path,
                                   const sct_emit_tester *tester, sct_error *err) {
  SCT_SCOPED(emit_header) loaded = {0};
  SCT_OWNED_PTR(json_t) data = NULL;
  sct_emit_cases cases = {0};
  SCT_TRY(load_data(&data, &loaded, store, request, header, path, err));
  SCT_TRY(emit_check_formulas(&loaded, err));
  const char **labels = SCT_ARENA_NEW(&loaded.arena, const char *, loaded.n_kernels + 1);
  for (int k = 0; k < loaded.n_kernels; k++) {
    labels[k] = loaded.kernels[k].source->label;
  }
  SCT_TRY(tester->make(tester->ctx, loaded.layout, loaded.sig.n_operands, labels, loaded.n_kernels,
                       &cases, err));
  emit_add_selftest(data, &loaded, &cases);
  return write_filled(path, "templates/header/selftest.cuh", data, err);
}
