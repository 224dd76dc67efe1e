/* The command `sanitize`: what is wrong with the launches of a CUDA file, as lines that editors
 * read, as SARIF or as a table for a pull request. */
#include "cli/cli_count.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

#define MOST_FINDINGS 20 /* of a case: more of them follow from the first as a rule */
#define LANES         32

/* ---- places */

/* Paths are shown without the working directory that they begin with. */
typedef struct places {
  char here[PATH_MAX]; /* "": not known */
  cli_sources sources;
} places;

static const char *shown_path(const places *p, const char *path) {
  const size_t n = strlen(p->here);
  return n > 0 && strncmp(path, p->here, n) == 0 && path[n] == '/' ? path + n + 1 : path;
}

/* null: there is no such line. */
static json_t *line_json(places *p, const char *path, int line) {
  const char *const text = cli_source_line(&p->sources, path, line, SIZE_MAX);
  return text[0] != '\0' ? sct_json_string(text) : json_null();
}

static json_t *thread_json(const sct_count_row *row, int warp, int lane) {
  const int64_t i = (int64_t)warp * LANES + lane, *const b = row->block;
  return warp < 0 || lane < 0
             ? json_null()
             : json_pack("[I,I,I]", (json_int_t)(i % b[0]), (json_int_t)(i / b[0] % b[1]),
                         (json_int_t)(i / (b[0] * b[1])));
}

/* ---- findings */

static json_t *before_json(places *s, const sct_count_row *row, const sct_ptx_place *p) {
  return p->ptx_line == 0
             ? json_null()
             : json_pack("{s:s, s:i, s:i, s:i, s:i, s:o, s:o}", "file", shown_path(s, p->file),
                         "line", p->line, "ptx_line", p->ptx_line, "warp", p->warp, "lane", p->lane,
                         "thread", thread_json(row, p->warp, p->lane), "source",
                         line_json(s, p->file, p->line));
}

static json_t *finding_json(places *s, const sct_count_row *row, const sct_ptx_diag *d,
                            const char *level) {
  json_t *doc = cli_diag_json(d);
  json_object_set_new(doc, "file", json_string(shown_path(s, d->file)));
  json_object_set_new(doc, "level", json_string(level));
  json_object_set_new(doc, "about", json_string(sct_ptx_kind_text(d->kind)));
  json_object_set_new(doc, "thread", thread_json(row, d->warp, d->lane));
  json_object_set_new(doc, "source", line_json(s, d->file, d->line));
  json_object_set_new(doc, "before", before_json(s, row, &d->before));
  return doc;
}

#define LIMIT       "limit"
#define ABOUT_LIMIT "more than the limit that a file sets"

/* Of a launch or of one of its lines. */
static json_t *overrun_json(places *s, const sct_count_row *row, const sct_overrun *o) {
  SCT_SCOPED(sct_str) text = {0};
  const char *const file = shown_path(s, o->file);
  sct_str_printf(&text, "%s: %lld, limit %lld", o->figure, (long long)o->value,
                 (long long)o->limit);
  return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:i, s:o, s:I, s:I, s:n, s:n, s:s}", "level",
                   "error", "kind", LIMIT, "about", ABOUT_LIMIT, "text", sct_str_c(&text), "figure",
                   o->figure, "file", file, "line", o->line, "source", line_json(s, file, o->line),
                   "value", (json_int_t)o->value, "limit", (json_int_t)o->limit, "before", "thread",
                   "kernel", row->entry);
}

#define LEAK       "leak"
#define ABOUT_LEAK "memory from malloc() in a kernel that no kernel frees"

/* After the last launch; NULL: all is freed. */
static json_t *leak_json(const sct_count_row *row) {
  const sct_ptx_heap *h = &row->heap;
  SCT_SCOPED(sct_str) text = {0};
  if (h->n == 0) {
    return NULL;
  }
  sct_str_printf(&text, "%lld allocation%s, %lld bytes, %s never freed", (long long)h->n,
                 h->n == 1 ? "" : "s", (long long)h->bytes, h->n == 1 ? "was" : "were");
  return json_pack("{s:s, s:s, s:s, s:s, s:s, s:i, s:n, s:n, s:n, s:s}", "level", "warning", "kind",
                   LEAK, "about", ABOUT_LEAK, "text", sct_str_c(&text), "file", "", "line", 0,
                   "source", "before", "thread", "kernel", row->entry);
}

/* What was found in a report. */
typedef struct found {
  const sct_count_report *report;
  sct_overrun *overruns; /* [n_overruns] */
  int n_overruns, errors, warnings;
  places places;
} found;

static json_t *case_json(found *all, int i) {
  const sct_count_row *const row = &all->report->rows[i];
  places *const s = &all->places;
  json_t *findings = json_array();
  for (int k = 0; k < row->n_findings; k++) {
    json_array_append_new(findings, finding_json(s, row, &row->findings[k], "error"));
  }
  if (row->warning.kind != SCT_PTX_CLEAN) {
    json_array_append_new(findings, finding_json(s, row, &row->warning, "warning"));
    all->warnings++;
  }
  json_t *const leak = i == all->report->n_rows - 1 ? leak_json(row) : NULL;
  if (leak) {
    json_array_append_new(findings, leak);
    all->warnings++;
  }
  for (int k = 0; k < all->n_overruns; k++) {
    if (all->overruns[k].row == i) {
      json_array_append_new(findings, overrun_json(s, row, &all->overruns[k]));
      all->errors++;
    }
  }
  const bool refused = row->problem != NULL && row->diag.kind == SCT_PTX_CLEAN;
  all->errors += row->n_findings + refused;
  return json_pack("{s:o, s:o, s:o, s:o}", "case", sct_json_string(row->name), "kernel",
                   sct_json_string(row->kernel), "problem",
                   refused ? sct_json_string(row->problem) : json_null(), "findings", findings);
}

static const char *arch_of(const cli_args *args) {
  return args->arch ? args->arch : CLI_DEFAULT_ARCH;
}

static json_t *report_json(const cli_args *args, found *all) {
  json_t *cases = json_array();
  if (getcwd(all->places.here, sizeof all->places.here) == NULL) {
    all->places.here[0] = '\0';
  }
  for (int i = 0; i < all->report->n_rows; i++) {
    json_array_append_new(cases, case_json(all, i));
  }
  cli_sources_free(&all->places.sources);
  return json_pack("{s:s, s:o, s:s, s:s, s:i, s:i, s:i, s:o}", "version", SCT_VERSION, "file",
                   sct_json_string(args->words[0]), "compiler", sct_count_compiler(all->report),
                   "arch", arch_of(args), "exit_code",
                   all->errors > 0 ? sct_exit_code(SCT_ENOTVERIFIED) : 0, "errors", all->errors,
                   "warnings", all->warnings, "cases", cases);
}

/* ---- SARIF 2.1.0 (OASIS, 2020) */

static json_t *location_json(const json_t *place, const char *message) {
  const int line = (int)json_integer_value(json_object_get(place, "line"));
  json_t *where = json_pack("{s:{s:O}}", "artifactLocation", "uri", json_object_get(place, "file"));
  if (line > 0) {
    json_object_set_new(where, "region", json_pack("{s:i}", "startLine", line));
  }
  json_t *doc = json_pack("{s:o}", "physicalLocation", where);
  if (message) {
    json_object_set_new(doc, "message", json_pack("{s:s}", "text", message));
  }
  return doc;
}

static json_t *result_json(const json_t *c, const json_t *f) {
  const json_t *const before = json_object_get(f, "before");
  const char *const name = json_string_value(json_object_get(c, "case"));
  SCT_SCOPED(sct_str) text = {0};
  sct_str_printf(&text, "case '%s': %s", name ? name : "",
                 json_string_value(json_object_get(f, "text")));
  json_t *doc = json_pack("{s:O, s:O, s:{s:s}, s:[o]}", "ruleId", json_object_get(f, "kind"),
                          "level", json_object_get(f, "level"), "message", "text", sct_str_c(&text),
                          "locations", location_json(f, NULL));
  if (json_is_object(before)) {
    json_object_set_new(doc, "relatedLocations",
                        json_pack("[o]", location_json(before, "the access before it")));
  }
  return doc;
}

static json_t *rules_json(void) {
  json_t *rules = json_array();
  for (int k = SCT_PTX_CLEAN + 1; k < SCT_PTX_N_KINDS; k++) {
    json_array_append_new(rules, json_pack("{s:s, s:{s:s}}", "id", sct_ptx_kind_name(k),
                                           "shortDescription", "text", sct_ptx_kind_text(k)));
  }
  json_array_append_new(
      rules, json_pack("{s:s, s:{s:s}}", "id", LEAK, "shortDescription", "text", ABOUT_LEAK));
  json_array_append_new(
      rules, json_pack("{s:s, s:{s:s}}", "id", LIMIT, "shortDescription", "text", ABOUT_LIMIT));
  return rules;
}

static json_t *sarif_json(const json_t *doc) {
  json_t *results = json_array();
  size_t i, k;
  const json_t *c, *f;
  json_array_foreach(json_object_get(doc, "cases"), i, c) {
    json_array_foreach(json_object_get(c, "findings"), k, f) {
      json_array_append_new(results, result_json(c, f));
    }
  }
  return json_pack("{s:s, s:s, s:[{s:{s:{s:s, s:s, s:o}}, s:o}]}", "$schema",
                   "https://json.schemastore.org/sarif-2.1.0.json", "version", "2.1.0", "runs",
                   "tool", "driver", "name", "sectile", "version", SCT_VERSION, "rules",
                   rules_json(), "results", results);
}

/* ---- the command */

enum { TEXT, SARIF, MARKDOWN };

static sct_status find_format(int *out, const cli_args *args, sct_error *err) {
  static const char *const names[] = {"text", "sarif", "markdown"};
  *out = TEXT;
  if (args->format && args->json) {
    return sct_fail(err, SCT_EUSAGE, "--format and --json: expected one of them");
  }
  return args->format ? sct_names_choose(out, SCT_NAMES(names, SCT_COUNT(names)), args->format, err,
                                         "--format: unknown '%s'", args->format)
                      : SCT_OK;
}

static sct_status print(const cli_args *args, int format, json_t *doc, sct_error *err) {
  if (format != SARIF) {
    return cli_show(args, "sectile.show_sanitize", format == TEXT ? "findings" : "markdown", doc,
                    cli_output_style(args), err);
  }
  SCT_SCOPED(sct_str) text = {0};
  sct_status status = cli_json_dump(&text, sarif_json(doc), err);
  json_decref(doc);
  SCT_THEN(cli_write_output(args, &text, err));
  return status;
}

/* --limits and --write-limits are about counts. */
static sct_status hold_limits(found *all, const cli_args *args, sct_error *err) {
  if (args->limits) {
    SCT_TRY(sct_limits_check(&all->overruns, &all->n_overruns, args->limits, arch_of(args),
                             all->report, err));
  }
  return args->write_limits ? sct_limits_write(args->write_limits, arch_of(args), all->report, err)
                            : SCT_OK;
}

sct_status cli_sanitize(const cli_args *args, sct_error *err) {
  const cli_count_want want = {.most_findings = MOST_FINDINGS,
                               .per_instruction = args->limits != NULL};
  sct_count_manifest manifest;
  SCT_SCOPED(sct_count_report) report = {0};
  found all = {.report = &report};
  int format = TEXT;
  SCT_TRY(find_format(&format, args, err));
  SCT_TRY(cli_count_read(&manifest, args, err));
  sct_status status = cli_count_run(&report, &manifest, args, want, err);
  SCT_THEN(hold_limits(&all, args, err));
  if (status == SCT_OK) {
    status = print(args, format, report_json(args, &all), err);
    status = status == SCT_OK && all.errors > 0 ? SCT_ENOTVERIFIED : status;
  }
  sct_free(all.overruns);
  sct_count_manifest_free(&manifest);
  return status;
}
