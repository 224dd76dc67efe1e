#include "json/json.h"

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

enum { MAX_TEXTS = 4096 }; /* of a list: far above anything a kernel has */

/* ---- values that know where they stand ---- */

sct_status sct_json_fail(sct_json at, const char *fmt, ...) {
  const sct_json_doc *doc = at.doc;
  SCT_SCOPED(sct_str) text = {0};
  SCT_STR_FORMAT(&text, fmt);
  return sct_fail(doc->err, doc->code, "%s%s%s%s%s", doc->before, at.path,
                  at.path[0] != '\0' ? ": " : "", sct_str_c(&text), doc->after);
}

sct_status sct_json_parse(sct_json *out, const sct_json_doc *doc, const char *text) {
  json_error_t why;
  json_t *root = json_loads(text != NULL ? text : "", JSON_REJECT_DUPLICATES, &why);
  *out = (sct_json){doc, root, ""};
  const sct_json whole = {doc, root, "the document"};
  return json_is_object(root)
             ? SCT_OK
             : sct_json_fail(whole, "expected %s", root != NULL ? "an object" : why.text);
}

sct_json sct_json_member(sct_json object, const char *key) {
  return (sct_json){object.doc, json_object_get(object.json, key),
                    sct_arena_printf(object.doc->arena, "%s%s%s", object.path,
                                     object.path[0] != '\0' ? "." : "", key)};
}

sct_json sct_json_item(sct_json list, size_t k) {
  return (sct_json){list.doc, json_array_get(list.json, k),
                    sct_arena_printf(list.doc->arena, "%s[%zu]", list.path, k)};
}

bool sct_json_absent(sct_json at) {
  return at.json == NULL || json_is_null(at.json);
}

sct_status sct_json_text(const char **out, sct_json at, const char *fallback) {
  const char *text = sct_json_absent(at) ? fallback : json_string_value(at.json);
  if (text == NULL) {
    return sct_json_fail(at, "expected text");
  }
  *out = sct_arena_strdup(at.doc->arena, text);
  return SCT_OK;
}

sct_status sct_json_integer(int64_t *out, sct_json at, int64_t lo, int64_t hi) {
  *out = json_integer_value(at.json);
  return json_is_integer(at.json) && *out >= lo && *out <= hi
             ? SCT_OK
             : sct_json_fail(at, "expected a whole number from %lld to %lld", (long long)lo,
                             (long long)hi);
}

sct_status sct_json_length(int *n, sct_json at, bool optional) {
  *n = 0;
  if (optional && sct_json_absent(at)) {
    return SCT_OK;
  }
  if (!json_is_array(at.json) || json_array_size(at.json) > MAX_TEXTS) {
    return sct_json_fail(at, "expected a list");
  }
  *n = (int)json_array_size(at.json);
  return SCT_OK;
}

/* ---- without messages ---- */

json_t *sct_json_load(const char *text) {
  return json_loads(text != NULL ? text : "", JSON_DECODE_ANY, NULL);
}

json_t *sct_json_string(const char *text) {
  if (text == NULL) {
    return json_null();
  }
  json_t *json = json_string(text);
  if (json == NULL) {
    char *ascii = sct_strdup(text);
    for (char *c = ascii; *c != '\0'; c++) {
      *c = (unsigned char)*c < 0x80 ? *c : '?';
    }
    json = json_string(ascii);
    sct_free(ascii);
  }
  return json;
}

json_t *sct_json_strings(const char *const *list, int n) {
  json_t *array = json_array();
  for (int k = 0; k < n; k++) {
    json_array_append_new(array, sct_json_string(list[k]));
  }
  return array;
}

json_t *sct_json_number(double value) {
  return isfinite(value) ? json_real(value) : json_null();
}

sct_status sct_json_dump(sct_str *out, json_t *doc, size_t flags, sct_error *err) {
  SCT_OWNED char *text = doc != NULL ? json_dumps(doc, flags) : NULL;
  json_decref(doc);
  if (text == NULL) {
    return sct_fail(err, SCT_EINTERNAL, "a text of the document is not UTF-8");
  }
  sct_str_append(out, text);
  return SCT_OK;
}
