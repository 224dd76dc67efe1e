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

static const char *name_of(const json_t *one) {
  const char *const name = json_string_value(json_object_get(one, "case"));
  return name ? name : "";
}

static const json_t *find_case(const json_t *cases, const char *name) {
  size_t k = 0;
  const json_t *one = NULL;
  json_array_foreach(cases, k, one) {
    if (strcmp(name_of(one), name) == 0) {
      return one;
    }
  }
  return NULL;
}

/* The case of `cases` that number k of `now` is compared with: its namesake, else the one that
 * stands in the same order among those of both that have none. NULL: there is none. */
static const json_t *partner(const json_t *cases, const json_t *now, size_t k) {
  const json_t *const found = find_case(cases, name_of(json_array_get(now, k)));
  size_t before = 0, i = 0;
  const json_t *one = NULL;
  for (size_t n = 0; n < k; n++) {
    before += find_case(cases, name_of(json_array_get(now, n))) == NULL;
  }
  json_array_foreach(cases, i, one) {
    if (!found && !find_case(now, name_of(one)) && before-- == 0) {
      return one;
    }
  }
  return found;
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

static void add_changes(json_t *doc, const json_t *before) {
  static const char *const sections[] = {"launch", "global", "shared", "warps",
                                         "speed",  "caches", "mix"};
  json_t *changes = json_array();
  for (int k = 0; k < SCT_COUNT(sections) && before; k++) {
    collect(changes, sections[k], json_object_get(before, sections[k]),
            json_object_get(doc, sections[k]));
  }
  json_object_set_new(doc, "changes", changes);
  json_object_set_new(doc, "baseline", before ? json_string(name_of(before)) : json_null());
}

void cli_baseline_add(json_t *cases, const json_t *baseline) {
  size_t k = 0;
  json_t *one = NULL;
  json_array_foreach(cases, k, one) {
    add_changes(one, partner(json_object_get(baseline, "cases"), cases, k));
  }
}
