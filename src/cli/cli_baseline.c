/* Profiles with those of an earlier file: every figure that both have, and its change. */
#include "cli/cli_count.h"

#include <math.h>
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

/* A count as it is, another figure in four digits. */
static void figure_cell(cli_table *t, double value) {
  const bool whole = value == floor(value) || fabs(value) >= 1e4;
  cli_table_cell(t, whole ? "%.0f" : "%.4g", value);
}

/* Is the section of "global.loads.sectors" one of "global,source"? */
static bool is_listed(const char *list, const char *figure) {
  const size_t n = strcspn(figure, ".");
  for (const char *at = list; at != NULL && *at != '\0'; at += at[0] == ',') {
    const size_t length = strcspn(at, ",");
    if (length == n && strncmp(at, figure, n) == 0) {
      return true;
    }
    at += length;
  }
  return list == NULL;
}

void cli_baseline_print(sct_str *out, const json_t *doc, const char *sections) {
  SCT_SCOPED(cli_table) t = {0};
  size_t k = 0;
  json_t *one = NULL;
  cli_table_columns(&t, "baseline,>before,>now,>change");
  json_array_foreach(json_object_get(doc, "changes"), k, one) {
    const char *figure = json_string_value(json_object_get(one, "figure"));
    if (!is_listed(sections, figure)) {
      continue;
    }
    const double before = json_number_value(json_object_get(one, "before"));
    const double now = json_number_value(json_object_get(one, "now"));
    cli_table_row(&t, CLI_PLAIN);
    cli_table_cell(&t, "%s", figure);
    figure_cell(&t, before);
    figure_cell(&t, now);
    cli_table_cell_if(&t, before != 0.0 && fabs(now - before) >= 5e-4 * fabs(before), "%+.1f %%",
                      100.0 * (now - before) / before);
  }
  if (t.n_rows > 0) {
    cli_table_print(out, &t, 2, false);
  } else if (k == 0) {
    sct_str_append(out, "  baseline    it has no such case\n");
  }
}
