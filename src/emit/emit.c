/* The two doors of the module: a header as text, and a header as a file. */
#include "emit/emit.h"

#include "emit/emit_internal.h"

sct_status sct_emit_render(sct_str *out, sct_store *store, const sct_emit_request *request,
                           sct_error *err) {
  emit_header header = {0};
  sct_str text = {0};
  sct_status status = SCT_OK;
  SCT_TRY_DONE(emit_header_load(&header, store, request, err));
  emit_banner(&text, &header);
  SCT_TRY_DONE(emit_code(&text, &header, err));
  sct_str_append_n(out, text.data, text.len);
  status = SCT_OK;
done:
  sct_str_free(&text);
  emit_header_free(&header);
  return status;
}

sct_status sct_emit_write(sct_store *store, const sct_emit_request *request, const char *path,
                          sct_error *err) {
  sct_str text = {0};
  sct_status status = SCT_OK;
  SCT_TRY_DONE(sct_emit_render(&text, store, request, err));
  SCT_TRY_DONE(sct_file_write(path, text.data, text.len, err));
done:
  sct_str_free(&text);
  return status;
}
