/* count_direct - one launch from the options of a command: they become the document that a manifest
 * is, so that both are read by the same rules. */
#include "count/count_internal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* "64,8" as a list of numbers; anything else as text, which the reader refuses. */
static json_t *shape_of(const char *text) {
  json_t *const list = json_array();
  const char *at = text;
  while (isdigit((unsigned char)*at)) {
    char *end = NULL;
    json_array_append_new(list, json_integer(strtoll(at, &end, 10)));
    at = end + (*end == ',' && end[1] != '\0');
  }
  if (*at == '\0') {
    return list;
  }
  json_decref(list);
  return sct_json_string(text);
}

/* Numbers, lists and objects as in a manifest; any other word is a buffer. NULL: none of these. */
static json_t *value_of(const char *text) {
  const bool word = isalpha((unsigned char)text[0]) || text[0] == '_';
  return word && strcmp(text, "null") != 0 && strcmp(text, "true") != 0 &&
                 strcmp(text, "false") != 0
             ? sct_json_string(text)
             : json_loads(text, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, NULL);
}

/* Length of the name in front of "=", 0: there is none. */
static size_t name_length(const char *arg) {
  size_t n = 0;
  while (sct_is_word(arg[n])) {
    n++;
  }
  return arg[n] == '=' ? n : 0;
}

static sct_status add_arg(json_t *args, const char *arg, sct_error *err) {
  const size_t n = name_length(arg);
  const char *const text = arg + (n > 0 ? n + 1 : 0);
  if ((n > 0) != json_is_object(args)) {
    return sct_fail(err, SCT_EUSAGE,
                    "--arg '%s': expected all arguments by name, as in n=1000, or all without, in "
                    "the order of the kernel's parameters",
                    arg);
  }
  json_t *const value = value_of(text);
  if (!value) {
    return sct_fail(err, SCT_EUSAGE,
                    "--arg '%s': expected a buffer (in, out+16, f32[1000], i32[1000]:perm), a "
                    "number (3, 1.5), {\"f64\": 3}, [members of a struct] or null",
                    arg);
  }
  if (n == 0) {
    json_array_append_new(args, value);
    return SCT_OK;
  }
  char name[256];
  snprintf(name, sizeof name, "%.*s", (int)n, arg);
  if (json_object_get(args, name)) {
    json_decref(value);
    return sct_fail(err, SCT_EUSAGE, "--arg '%s': '%s' has a value already", arg, name);
  }
  json_object_set_new(args, name, value);
  return SCT_OK;
}

static sct_status add_args(json_t **args, const sct_count_launch *launch, sct_error *err) {
  const bool named = launch->n_args > 0 && name_length(launch->args[0]) > 0;
  *args = named ? json_object() : json_array();
  for (int k = 0; k < launch->n_args; k++) {
    SCT_TRY(add_arg(*args, launch->args[k], err));
  }
  return SCT_OK;
}

sct_status sct_count_direct(sct_count_manifest *out, const sct_count_launch *launch,
                            sct_error *err) {
  *out = (sct_count_manifest){.path = NULL};
  json_t *args = NULL;
  sct_status status = add_args(&args, launch, err);
  json_t *const doc =
      json_pack("[{s:o, s:o, s:o, s:o}]", "kernel", sct_json_string(launch->kernel), "grid",
                shape_of(launch->grid), "block", shape_of(launch->block), "args", args);
  if (launch->shared) {
    json_t *const bytes = value_of(launch->shared);
    json_object_set_new(json_array_get(doc, 0), "shared",
                        bytes ? bytes : sct_json_string(launch->shared));
  }
  SCT_THEN(count_read_document(out, doc, NULL, err));
  json_decref(doc);
  if (status != SCT_OK) {
    sct_count_manifest_free(out);
  }
  return status;
}
