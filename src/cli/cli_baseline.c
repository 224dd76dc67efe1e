/* Profiles with those of an earlier file: every figure that both have, and its change. */
#include "cli/cli_count.h"

#include <string.h>

sct_status cli_baseline_read(json_t **out, const char *path, sct_error *err) {
  SCT_SCOPED(sct_str) text = {0};
  SCT_TRY(sct_file_read(&text, path, err));
  json_error_t wrong;
  json_t *doc = json_loads(sct_str_c(&text), 0, &wrong);
  if (!json_is_array(json_object_get(doc, "cases"))) {
    json_decref(doc);
    return sct_fail(err, SCT_EDATA,
                    "'%s' is no profile; `sectile profile ... --json -o FILE` writes one", path);
  }
  *out = doc;
  return SCT_OK;
}

static const json_t *find_case(const json_t *baseline, const char *name) {
  size_t k = 0;
  json_t *one = NULL;
  json_array_foreach(json_object_get(baseline, "cases"), k, one) {
    const char *known = json_string_value(json_object_get(one, "case"));
    if (known && strcmp(known, name) == 0) {
      return one;
    }
  }
  return NULL;
}

/* Appends the numbers that both have, "global.loads.sectors" by name; where both are 0 they say
 * nothing. */
static void collect(json_t *out, const char *prefix, const json_t *before, json_t *now) {
  const char *key = NULL;
  json_t *value = NULL;
  json_object_foreach(now, key, value) {
    const json_t *old = json_object_get(before, key);
    SCT_SCOPED(sct_str) name = {0};
    sct_str_printf(&name, "%s%s%s", prefix, prefix[0] ? "." : "", key);
    if (json_is_object(value) && json_is_object(old)) {
      collect(out, sct_str_c(&name), old, value);
    } else if (json_is_number(value) && json_is_number(old) &&
               (json_number_value(value) != 0.0 || json_number_value(old) != 0.0)) {
      json_array_append_new(out, json_pack("{s:s, s:o, s:O}", "figure", sct_str_c(&name), "before",
                                           json_deep_copy(old), "now", value));
    }
  }
}

void cli_baseline_add(json_t *doc, const json_t *baseline) {
  static const char *const sections[] = {"launch", "global", "shared", "warps",
                                         "speed",  "caches", "mix"};
  const json_t *before = find_case(baseline, json_string_value(json_object_get(doc, "case")));
  json_t *changes = json_array();
  for (int k = 0; k < SCT_COUNT(sections) && before; k++) {
    collect(changes, sections[k], json_object_get(before, sections[k]),
            json_object_get(doc, sections[k]));
  }
  json_object_set_new(doc, "changes", changes);
}
