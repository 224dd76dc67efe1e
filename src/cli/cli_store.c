/* The commands `merge`, `export` and `import`: stores among each other, and other formats. */
#include "cli/cli_internal.h"

#include <string.h>

sct_status cli_store_path(sct_str *out, const cli_args *args, sct_error *err) {
  if (!args->store) {
    return sct_path_store(out, err);
  }
  sct_str_append(out, args->store);
  return SCT_OK;
}

sct_status cli_store_open(sct_store **out, const cli_args *args, bool read_only, sct_error *err) {
  SCT_SCOPED(sct_str) path = {0};
  SCT_TRY(cli_store_path(&path, args, err));
  if (read_only && !sct_file_exists(sct_str_c(&path))) {
    return sct_fail(err, SCT_EDATA, "there is no store at '%s' yet: `sectile tune SPEC` makes it",
                    sct_str_c(&path));
  }
  return sct_store_open(out, sct_str_c(&path), read_only, err);
}

/* ---- merge ---- */

/* Every source is opened, and so checked, before the target is made. */
sct_status cli_merge(const cli_args *args, sct_error *err) {
  const int n = args->n_words - 1;
  sct_store **from = sct_alloc(sizeof(sct_store *) * (size_t)(n + 1));
  sct_store *to = NULL;
  sct_status status = SCT_OK;
  for (int k = 0; status == SCT_OK && k < n; k++) {
    status = sct_store_open(&from[k], args->words[k + 1], true, err);
  }
  SCT_THEN(sct_store_open(&to, args->words[0], false, err));
  SCT_THEN(sct_store_merge(to, from, n, err));
  for (int k = 0; from && k < n; k++) {
    sct_store_close(from[k]);
  }
  sct_store_close(to);
  sct_free(from);
  if (status == SCT_OK && args->json) {
    return cli_json_print(
        json_pack("{s:o, s:i}", "store", sct_json_string(args->words[0]), "merged", n), err);
  }
  if (status == SCT_OK) {
    cli_note(args, "merged %d %s into %s", n, n == 1 ? "store" : "stores", args->words[0]);
  }
  return status;
}

/* ---- export ---- */

typedef struct chosen {
  sct_arena *arena; /* of rows */
  sct_id run;
  int n;
  sct_str *list; /* of all that fit, for the message */
} chosen;

static bool fits(const char *wanted, const char *value) {
  return !wanted || strcmp(wanted, value) == 0;
}

static bool fits_device(const char *wanted, const sct_row_device *d) {
  return !wanted || strcmp(wanted, d->device_id) == 0 || strcmp(wanted, d->name) == 0 ||
         (strlen(wanted) >= 6 && sct_has_prefix(d->key, wanted));
}

static sct_status choose_in(chosen *c, const cli_args *args, sct_store *store,
                            const sct_row_problem *problem, const sct_row_device *devices,
                            int n_devices, sct_error *err) {
  sct_row_run *runs = NULL;
  int n = 0;
  SCT_TRY(sct_store_runs(store, c->arena, problem->id, 0, &runs, &n, err));
  for (int k = 0; k < n; k++) {
    const sct_row_device *d = sct_row_device_find(devices, n_devices, runs[k].device);
    if (d && fits(args->size, runs[k].size_label) && fits_device(args->device, d)) {
      c->run = runs[k].id;
      c->n++;
      sct_str_printf(c->list, "\n  %s --size \"%s\" --device %.12s   (%s, driver %s)",
                     problem->name, runs[k].size_label, d->key, d->name,
                     d->driver[0] ? d->driver : "unknown");
    }
  }
  return SCT_OK;
}

/* The one run that name, device and size leave. */
static sct_status choose_run(const cli_args *args, sct_store *store, sct_id *run, sct_error *err) {
  const char *name = args->n_words > 0 ? args->words[0] : NULL;
  sct_row_problem *problems = NULL;
  sct_row_device *devices = NULL;
  int n_problems = 0, n_devices = 0;
  SCT_SCOPED(sct_arena) arena = {0};
  SCT_SCOPED(sct_str) list = {0};
  chosen c = {.arena = &arena, .list = &list};
  SCT_TRY(sct_store_problems(store, &arena, &problems, &n_problems, err));
  SCT_TRY(sct_store_devices(store, &arena, &devices, &n_devices, err));
  for (int k = 0; k < n_problems; k++) {
    if (fits(name, problems[k].name)) {
      SCT_TRY(choose_in(&c, args, store, &problems[k], devices, n_devices, err));
    }
  }
  *run = c.run;
  if (c.n == 0) {
    return sct_fail(err, SCT_EDATA, "no run in this store fits%s%s%s", name ? " '" : "",
                    name ? name : "", name ? "'" : "");
  }
  return c.n == 1
             ? SCT_OK
             : sct_fail(err, SCT_EUSAGE, "the format holds one run, and %d fit; choose one:%.2500s",
                        c.n, sct_str_c(&list));
}

/* Others than JSON hold one run, and are functions of tuning/sectile/foreign.lua. */
static const struct {
  const char *name, *function;
} formats[] = {{"json", NULL}, {"kernel-tuner", "kernel_tuner"}, {"t4", "t4"}};

static sct_status put_run(sct_str *out, const cli_args *args, sct_store *store,
                          const char *function, sct_error *err) {
  SCT_OWNED_PTR(json_t) doc = NULL;
  sct_id run = 0;
  SCT_TRY(choose_run(args, store, &run, err));
  SCT_TRY(sct_store_run_json(&doc, store, run, err));
  return sct_script_page(out, "sectile.foreign", function, doc, NULL, err);
}

static sct_status find_format(const char *name, int *out, sct_error *err) {
  *out = 0;
  return name ? sct_names_choose(out, SCT_NAMES_IN(formats, SCT_COUNT(formats), name), name, err,
                                 "--format: '%s' is no format", name)
              : SCT_OK;
}

sct_status cli_export(const cli_args *args, sct_error *err) {
  SCT_OWNED_PTR(sct_store) store = NULL;
  SCT_SCOPED(sct_str) text = {0};
  int format = 0;
  SCT_TRY(find_format(args->format, &format, err));
  const char *const function = formats[format].function;
  if (!function && (args->n_words > 0 || args->size || args->device)) {
    return sct_fail(err, SCT_EUSAGE,
                    "--format json holds the whole store: NAME, --size and --device choose a run "
                    "for kernel-tuner and t4");
  }
  if (args->out) {
    SCT_TRY(cli_check_target(args, args->out, NULL, 0, err));
  }
  SCT_TRY(cli_store_open(&store, args, true, err));
  SCT_TRY(function ? put_run(&text, args, store, function, err)
                   : sct_store_export(store, &text, err));
  return cli_write_output(args, &text, err);
}

/* ---- import ---- */

sct_status cli_import(const cli_args *args, sct_error *err) {
  SCT_OWNED_PTR(sct_store) store = NULL;
  for (int k = 0; k < args->n_words; k++) {
    if (!sct_file_exists(args->words[k])) {
      return sct_fail(err, SCT_EIO, "there is no file '%s'", args->words[k]);
    }
  }
  SCT_TRY(cli_store_open(&store, args, false, err));
  for (int k = 0; k < args->n_words; k++) {
    SCT_TRY(sct_store_import(store, args->words[k], err));
    if (!args->json) {
      cli_note(args, "imported %s", args->words[k]);
    }
  }
  return args->json ? cli_json_print(json_pack("{s:i}", "imported", args->n_words), err) : SCT_OK;
}
