/* count_limits - what the launches of a file may take: a file of limits, held to what they took.
 * Counts are the same on every machine with the same compiler, so the file names that. */
#include "count/count_internal.h"

#include <string.h>

/* ---- figures */

static const char *const figure_names[] = {
#define SCT_COUNT_LIMIT(name, of_row, of_line) name,
#include "count/count_limits.def"
#undef SCT_COUNT_LIMIT
};
enum { N_FIGURES = SCT_COUNT(figure_names) };

/* Sums of a whole launch, as in sct_count_line. */
static sct_count_line whole(const sct_count_row *row) {
  return (sct_count_line){.global = sct_ptx_global_sum(&row->counters),
                          .shared = sct_ptx_shared_sum(&row->counters)};
}

/* -1: a line has no such figure. */
static void figures_of(int64_t out[N_FIGURES], const sct_count_row *row, const sct_count_line *l,
                       bool is_line) {
  const int64_t values[N_FIGURES] = {
#define SCT_COUNT_LIMIT(name, of_row, of_line) is_line ? (of_line) : (of_row),
#include "count/count_limits.def"
#undef SCT_COUNT_LIMIT
  };
  memcpy(out, values, sizeof values);
}

/* ---- a file of limits */

typedef struct limits {
  sct_arena arena;
  sct_json_doc doc;
  sct_json root;
  const sct_count_report *report;
  sct_overrun *list;
  size_t n, cap;
} limits;

static void compare(limits *l, int row, const int64_t *values, const sct_count_line *line,
                    const int64_t *most) {
  for (int k = 0; k < N_FIGURES; k++) {
    if (most[k] >= 0 && values[k] > most[k]) {
      SCT_GROW(l->list, l->n, l->cap);
      l->list[l->n++] = (sct_overrun){.row = row,
                                      .figure = figure_names[k],
                                      .value = values[k],
                                      .limit = most[k],
                                      .file = line ? line->file : "",
                                      .line = line ? line->line : 0};
    }
  }
}

/* The limits of an item, -1 where it has none; every other key must be known. */
static sct_status read_figures(int64_t most[N_FIGURES], sct_json item) {
  static const char *const others[] = {"case", "file", "line"};
  const char *known[N_FIGURES + SCT_COUNT(others)];
  const char *key = NULL;
  json_t *value = NULL;
  memcpy(known, figure_names, sizeof figure_names);
  memcpy(known + N_FIGURES, others, sizeof others);
  json_object_foreach(item.json, key, value) {
    if (sct_names_find(SCT_NAMES(known, SCT_COUNT(known)), key) < 0) {
      SCT_SCOPED(sct_str) text = {0};
      sct_str_printf(&text, "unknown '%s'", key);
      sct_str_suggest(&text, key, SCT_NAMES(known, SCT_COUNT(known)));
      return sct_json_fail(item, "%s", sct_str_c(&text));
    }
  }
  for (int k = 0; k < N_FIGURES; k++) {
    const sct_json figure = sct_json_member(item, figure_names[k]);
    most[k] = -1;
    if (!sct_json_absent(figure)) {
      SCT_TRY(sct_json_integer(&most[k], figure, 0, INT64_MAX));
    }
  }
  return SCT_OK;
}

static sct_status find_row(int *out, const limits *l, sct_json item) {
  const char *name = NULL;
  SCT_SCOPED(sct_str) text = {0};
  SCT_TRY(sct_json_text(&name, sct_json_member(item, "case"), NULL));
  const sct_names rows = SCT_NAMES_IN(l->report->rows, l->report->n_rows, name);
  *out = sct_names_find(rows, name);
  if (*out < 0) {
    sct_str_printf(&text, "there is no case '%s'", name);
    sct_str_suggest(&text, name, rows);
    return sct_json_fail(item, "%s", sct_str_c(&text));
  }
  return SCT_OK;
}

/* The line of a file, "" any, that the item is about; false: it accesses nothing. */
static bool find_line(sct_count_line *out, const sct_count_row *row, const char *file, int line) {
  SCT_OWNED sct_count_line *lines = NULL;
  int n = 0;
  bool found = false;
  sct_count_lines(&lines, &n, row);
  for (int k = 0; k < n && !found; k++) {
    const bool there =
        file[0] == '\0' || strcmp(sct_path_basename(lines[k].file), sct_path_basename(file)) == 0;
    found =
        there && lines[k].line == line && lines[k].global.requests + lines[k].shared.requests > 0;
    *out = lines[k];
  }
  return found;
}

static sct_status hold_item(limits *l, sct_json item) {
  int row = 0;
  int64_t most[N_FIGURES], values[N_FIGURES], line = 0;
  const char *file = NULL;
  SCT_TRY(find_row(&row, l, item));
  SCT_TRY(read_figures(most, item));
  const sct_json of_line = sct_json_member(item, "line");
  SCT_TRY(sct_json_text(&file, sct_json_member(item, "file"), ""));
  if (!sct_json_absent(of_line)) {
    SCT_TRY(sct_json_integer(&line, of_line, 1, INT32_MAX));
  }
  const sct_count_row *const r = &l->report->rows[row];
  if (r->problem) {
    return SCT_OK; /* which is said anyway */
  }
  sct_count_line sums = whole(r);
  if (line > 0 && !find_line(&sums, r, file, (int)line)) {
    return sct_json_fail(of_line, "line %d of case '%s' accesses no memory", (int)line, r->name);
  }
  figures_of(values, r, &sums, line > 0);
  for (int k = 0; k < N_FIGURES && line > 0; k++) {
    if (most[k] >= 0 && values[k] < 0) {
      return sct_json_fail(sct_json_member(item, figure_names[k]), "a line has no such figure");
    }
  }
  compare(l, row, values, line > 0 ? &sums : NULL, most);
  return SCT_OK;
}

/* Figures of another compiler, or for another architecture, are not these. */
static sct_status check_origin(sct_json root, const char *key, const char *now) {
  const char *then = NULL;
  SCT_TRY(sct_json_text(&then, sct_json_member(root, key), now));
  return strcmp(then, now) == 0
             ? SCT_OK
             : sct_json_fail(
                   sct_json_member(root, key),
                   "these limits are for %s, and this is %s: counts differ; use that one, "
                   "or write the limits anew (--write-limits)",
                   then, now);
}

static sct_status hold_all(limits *l, const char *arch) {
  int n = 0;
  SCT_TRY(check_origin(l->root, "compiler", sct_count_compiler(l->report)));
  SCT_TRY(check_origin(l->root, "arch", arch));
  const sct_json items = sct_json_member(l->root, "limits");
  SCT_TRY(sct_json_length(&n, items, false));
  for (int k = 0; k < n; k++) {
    SCT_TRY(hold_item(l, sct_json_item(items, (size_t)k)));
  }
  return SCT_OK;
}

sct_status sct_limits_check(sct_overrun **out, int *n, const char *path, const char *arch,
                            const sct_count_report *report, sct_error *err) {
  SCT_SCOPED(sct_str) text = {0};
  limits l = {.report = report};
  *out = NULL;
  *n = 0;
  SCT_TRY(sct_file_read(&text, path, err));
  l.doc = (sct_json_doc){.arena = &l.arena,
                         .before = sct_arena_printf(&l.arena, "%s: error: ", path),
                         .after = "",
                         .code = SCT_ESPEC,
                         .err = err};
  sct_status status = sct_json_parse(&l.root, &l.doc, sct_str_c(&text));
  SCT_THEN(hold_all(&l, arch));
  if (status == SCT_OK) {
    *out = l.list;
    *n = (int)l.n;
  } else {
    sct_free(l.list);
  }
  json_decref(l.root.json);
  sct_arena_free(&l.arena);
  return status;
}

sct_status sct_limits_write(const char *path, const char *arch, const sct_count_report *report,
                            sct_error *err) {
  SCT_SCOPED(sct_str) text = {0};
  json_t *list = json_array();
  for (int i = 0; i < report->n_rows; i++) {
    const sct_count_row *const row = &report->rows[i];
    const sct_count_line sums = whole(row);
    int64_t values[N_FIGURES];
    if (row->problem) {
      continue;
    }
    json_t *item = json_pack("{s:o}", "case", sct_json_string(row->name));
    figures_of(values, row, &sums, false);
    for (int k = 0; k < N_FIGURES; k++) {
      json_object_set_new(item, figure_names[k], json_integer(values[k]));
    }
    json_array_append_new(list, item);
  }
  json_t *doc = json_pack("{s:s, s:s, s:o}", "compiler", sct_count_compiler(report), "arch", arch,
                          "limits", list);
  SCT_TRY(sct_json_dump(&text, doc, JSON_INDENT(2), err));
  sct_str_append(&text, "\n");
  return sct_file_write(path, sct_str_c(&text), text.len, err);
}
