/* The command `status`: how far the shares are that `submit` has made jobs of, by their stores. */
#include "cli/cli_internal.h"

#include <stdlib.h>
#include <string.h>

/* A kernel at one size in the store of a share, or in that of the final heat. */
typedef struct line {
  int share; /* 0: the final heat */
  const char *kernel, *size, *device, *node, *best, *last;
  const char *why; /* why nothing is known: "waiting", or what its store lacks; else NULL */
  int done, total;
  bool finished, timed;
  double best_ns;
  sct_tune_sheet sheet;
} line;

typedef struct fleet {
  const char *directory;
  sct_arena arena;
  int n_shares;
  line *lines;
  size_t n, cap;
} fleet;

static void fleet_free(fleet *f) {
  sct_free(f->lines);
  sct_arena_free(&f->arena);
}

/* ---- what stores say ---- */

static void add_run(fleet *f, int share, const sct_row_problem *problem,
                    const sct_row_device *device, const sct_row_run *run, sct_row_result *rows,
                    int n) {
  SCT_OWNED_PTR(json_t) doc = sct_json_load(run->conditions);
  const char *node = json_string_value(json_object_get(doc, "node"));
  line l = {.share = share,
            .kernel = problem->name,
            .size = run->size_label,
            .device = device ? device->name : "",
            .node = sct_arena_strdup(&f->arena, node ? node : ""),
            .best = "",
            .last = run->started,
            .done = n,
            .total = (int)json_integer_value(json_object_get(doc, "planned")),
            .finished = run->finished[0] != '\0',
            .sheet = {.rows = rows, .n = n, .scale = 1.0}};
  for (int k = 0; k < n; k++) {
    const sct_row_outcome *o = &rows[k].outcome;
    const bool known = sct_row_is_ok(o) && sct_row_ns(o) > 0;
    const bool won = run->winner == o->id;
    l.last = strcmp(o->measured, l.last) > 0 ? o->measured : l.last;
    l.timed = l.timed || o->times.median_ns > 0;
    if (known && (won || (run->winner == 0 && (l.best_ns == 0 || sct_row_ns(o) < l.best_ns)))) {
      l.best_ns = sct_row_ns(o);
      l.best = rows[k].candidate.label;
    }
  }
  SCT_GROW(f->lines, f->n, f->cap);
  f->lines[f->n++] = l;
}

static sct_status read_store(fleet *f, int share, const char *path, sct_error *err) {
  SCT_OWNED_PTR(sct_store) store = NULL;
  sct_row_problem *problems = NULL;
  sct_row_device *devices = NULL;
  int n_problems = 0, n_devices = 0, n_runs = 0, n = 0;
  SCT_TRY(sct_store_open(&store, path, true, err));
  SCT_TRY(sct_store_problems(store, &f->arena, &problems, &n_problems, err));
  SCT_TRY(sct_store_devices(store, &f->arena, &devices, &n_devices, err));
  for (int p = 0; p < n_problems; p++) {
    sct_row_run *runs = NULL;
    SCT_TRY(sct_store_runs(store, &f->arena, problems[p].id, 0, &runs, &n_runs, err));
    for (int r = 0; r < n_runs; r++) {
      sct_row_result *rows = NULL;
      SCT_TRY(sct_store_results(store, &f->arena, runs[r].id, false, &rows, &n, err));
      add_run(f, share, &problems[p], sct_row_device_find(devices, n_devices, runs[r].device),
              &runs[r], rows, n);
    }
  }
  return SCT_OK;
}

/* A store that cannot be read is no reason to say nothing of the others. */
static void read_share(fleet *f, int share) {
  SCT_SCOPED(sct_str) path = {0};
  sct_error why = {0};
  const size_t before = f->n;
  if (share > 0) {
    sct_str_printf(&path, "%s/share-%d-of-%d.db", f->directory, share, f->n_shares);
  } else {
    sct_str_printf(&path, "%s/heat.db", f->directory);
  }
  const bool exists = sct_file_exists(sct_str_c(&path));
  const sct_status status = exists ? read_store(f, share, sct_str_c(&path), &why) : SCT_OK;
  if (status != SCT_OK || f->n == before) {
    SCT_GROW(f->lines, f->n, f->cap);
    f->lines[f->n++] =
        (line){.share = share,
               .kernel = "",
               .size = "",
               .device = "",
               .node = "",
               .best = "",
               .last = "",
               .why = status == SCT_OK ? "waiting" : sct_arena_strdup(&f->arena, why.text)};
  }
}

static bool is_alike(const line *a, const line *b) {
  return a->finished && b->finished && a->share > 0 && b->share > 0 &&
         strcmp(a->kernel, b->kernel) == 0 && strcmp(a->size, b->size) == 0 &&
         strcmp(a->device, b->device) == 0;
}

/* Shares that are done are compared with those of the same kernel, size and kind of device. */
static void scale_lines(fleet *f) {
  SCT_OWNED sct_tune_sheet *sheets = sct_alloc(sizeof *sheets * (f->n + 1));
  for (size_t k = 0; k < f->n; k++) {
    int n = 0;
    for (size_t j = 0; j < f->n && f->lines[k].sheet.n_common == 0; j++) {
      if (is_alike(&f->lines[k], &f->lines[j])) {
        sheets[n++] = f->lines[j].sheet;
      }
    }
    sct_tune_scale(sheets, n);
    for (size_t j = 0, s = 0; j < f->n && n > 0; j++) {
      if (is_alike(&f->lines[k], &f->lines[j])) {
        f->lines[j].sheet = sheets[s++];
      }
    }
  }
}

/* How many shares there are stands in the script that was submitted last. */
static sct_status read_fleet(fleet *f, sct_error *err) {
  static const char array[] = "#SBATCH --array=1-";
  SCT_SCOPED(sct_str) path = {0}, script = {0};
  sct_str_printf(&path, "%s/share.sh", f->directory);
  const bool exists = sct_file_exists(sct_str_c(&path));
  SCT_TRY(exists ? sct_file_read(&script, sct_str_c(&path), err) : SCT_OK);
  const char *at = strstr(sct_str_c(&script), array);
  f->n_shares = at ? atoi(at + strlen(array)) : 0;
  if (f->n_shares < 1 || f->n_shares > SCT_TUNE_MOST_SHARES) {
    return sct_fail(err, SCT_EUSAGE, "'%s' has no script share.sh of `sectile submit --store`",
                    f->directory);
  }
  for (int k = 1; k <= f->n_shares; k++) {
    read_share(f, k);
  }
  read_share(f, 0);
  scale_lines(f);
  return SCT_OK;
}

/* ---- what is printed ---- */

static json_t *line_json(const line *l) {
  return json_pack("{s:o, s:s, s:s, s:s, s:i, s:i, s:s, s:s, s:o, s:b, s:s, s:s, s:o}", "share",
                   l->share > 0 ? json_integer(l->share) : json_null(), "kernel", l->kernel, "size",
                   l->size, "device", l->device, "done", l->done, "planned", l->total, "state",
                   l->why        ? l->why
                   : l->finished ? "done"
                                 : "under way",
                   "best", l->best, "best_ns", cli_json_positive(l->best_ns), "timed", l->timed,
                   "last", l->last, "node", l->node, "scale",
                   l->sheet.n_common > 0 ? json_real(l->sheet.scale) : json_null());
}

sct_status cli_status(const cli_args *args, sct_error *err) {
  SCT_SCOPED(fleet) f = {.directory = args->words[0]};
  SCT_TRY(read_fleet(&f, err));
  json_t *lines = json_array(), *look = cli_output_style(args);
  for (size_t k = 0; k < f.n; k++) {
    json_array_append_new(lines, line_json(&f.lines[k]));
  }
  json_object_set_new(look, "noise", json_real(SCT_MOST_NOISE));
  return cli_show(args, "sectile.show", "status",
                  json_pack("{s:i, s:o}", "shares", f.n_shares, "lines", lines), look, err);
}
