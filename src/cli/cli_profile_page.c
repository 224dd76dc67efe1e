/* `profile --html`: launches as one page that needs no network and no script. Its text and pictures
 * are in tuning/sectile/profile_page.lua and templates/report. */
#include "cli/cli_count.h"

#include <string.h>

#define MOST_LINES 20000 /* of a file that is shown */

/* One request: bytes a lane and the address of each lane, null where it is not active. */
static json_t *request_json(const sct_ptx_request *r) {
  if (!r || r->mask == 0) {
    return json_null();
  }
  json_t *lanes = json_array();
  for (int lane = 0; lane < 32; lane++) {
    json_array_append_new(lanes, r->mask >> lane & 1 ? json_integer((json_int_t)r->address[lane])
                                                     : json_null());
  }
  return json_pack("{s:i, s:o, s:o}", "width", r->width, "buffer", sct_json_string(r->buffer),
                   "address", lanes);
}

void cli_profile_add_pictures(json_t *doc, const sct_count_row *row,
                              const sct_device_desc *device) {
  sct_profile p;
  sct_count_profile(&p, row, device);
  for (int k = 0; k < p.n_accesses; k++) {
    json_object_set_new(json_array_get(json_object_get(doc, "accesses"), (size_t)k), "request",
                        request_json(p.accesses[k].request));
  }
  json_object_set_new(doc, "peak_flops", json_real(p.speed.peak_flops[p.speed.main_type]));
  sct_profile_free(&p);
}

/* The text of a file as lines; an empty list: there is none, or it is too long to be shown. */
static json_t *lines_json(const char *path) {
  SCT_SCOPED(sct_str) text = {0};
  sct_error ignored;
  if (sct_file_read(&text, path, &ignored) != SCT_OK) {
    return json_array();
  }
  json_t *lines = cli_lines_json(sct_str_c(&text));
  if (json_array_size(lines) > MOST_LINES) {
    json_array_clear(lines);
  }
  return lines;
}

/* Adds the files that accesses lie in: a list of path and lines. */
static void add_files(json_t *doc) {
  json_t *files = json_array(), *known = json_object();
  size_t i, k;
  json_t *one, *access;
  json_array_foreach(json_object_get(doc, "cases"), i, one) {
    json_array_foreach(json_object_get(one, "accesses"), k, access) {
      const char *const path = json_string_value(json_object_get(access, "file"));
      if (path && path[0] != '\0' && !json_object_get(known, path)) {
        json_object_set_new(known, path, json_true());
        json_array_append_new(files,
                              json_pack("{s:s, s:o}", "path", path, "lines", lines_json(path)));
      }
    }
  }
  json_decref(known);
  json_object_set_new(doc, "files", files);
}

sct_status cli_profile_page(const cli_args *args, const json_t *doc, const json_t *look,
                            const sct_count_report *report, const sct_device_desc *device,
                            sct_error *err) {
  SCT_SCOPED(sct_str) text = {0};
  SCT_OWNED_PTR(json_t) page = json_deep_copy(doc);
  for (int i = 0; i < report->n_rows; i++) {
    if (!report->rows[i].problem) {
      cli_profile_add_pictures(json_array_get(json_object_get(page, "cases"), (size_t)i),
                               &report->rows[i], device);
    }
  }
  add_files(page);
  json_object_set_new(page, "look", json_deep_copy(look));
  SCT_TRY(sct_script_page(&text, "sectile.profile_page", "launches", page, NULL, err));
  return sct_file_write(args->html, sct_str_c(&text), text.len, err);
}
