/* store_export - the whole store as text. */
#include "store/store_json.h"

#include <stdlib.h>
#include <string.h>

/* Keys of devices and source hashes of outcomes, which rows name. */
typedef struct export {
  sct_store *s;
  sct_str *out;
  sct_row_device *devices;
  int n_devices;
}
export;

static int by_spec(const void *a, const void *b) {
  return strcmp(((const sct_row_problem *)a)->spec_hash, ((const sct_row_problem *)b)->spec_hash);
}

static int by_key(const void *a, const void *b) {
  return strcmp(((const sct_row_device *)a)->key, ((const sct_row_device *)b)->key);
}

static int by_source(const void *a, const void *b) {
  const sct_row_result *const x = a, *const y = b;
  const int order = strcmp(x->candidate.source_hash, y->candidate.source_hash);
  if (order != 0 || x->outcome.content == NULL || y->outcome.content == NULL) {
    return order;
  }
  return strcmp(x->outcome.content, y->outcome.content);
}

static const char *key_of(const export *e, sct_id device) {
  for (int i = 0; i < e->n_devices; ++i) {
    if (e->devices[i].id == device) {
      return e->devices[i].key;
    }
  }
  return "";
}

static const char *source_of(const sct_row_result *rows, int n, sct_id outcome) {
  for (int i = 0; i < n; ++i) {
    if (rows[i].outcome.id == outcome) {
      return rows[i].candidate.source_hash;
    }
  }
  return "";
}

/* An object a line; `list` is empty, or its last line lacks what follows. */
static void next(sct_str *out, int i, const char *indent) {
  sct_str_printf(out, "%s\n%s{", i > 0 ? "," : "", indent);
}

static void put_reference(sct_str *out, const char *name, const char *key) {
  sct_str_printf(out, "\"%s\":", name);
  if (key[0] == '\0') {
    sct_str_append(out, "null");
  } else {
    sct_store_json_text(out, key);
  }
  sct_str_append(out, ",");
}

static void put_outcomes(const export *e, const char *name, sct_row_result *rows, int n) {
  sct_str_printf(e->out, ",\n    \"%s\":[", name);
  if (n > 0) {
    qsort(rows, (size_t)n, sizeof(rows[0]), by_source);
  }
  for (int i = 0; i < n; ++i) {
    next(e->out, i, "     ");
    put_reference(e->out, "candidate", rows[i].candidate.source_hash);
    sct_store_json_row(e->out, &sct_store_outcome_table, &rows[i]);
    sct_str_append(e->out, "}");
  }
  sct_str_append(e->out, "]");
}

static sct_status put_run(const export *e, const sct_row_run *run, sct_error *err) {
  sct_row_result *rows = NULL, *earlier = NULL;
  int n = 0, n_earlier = 0;
  sct_status status = sct_store_results(e->s, run->id, true, &rows, &n, err);
  if (status == SCT_OK) {
    status = sct_store_earlier(e->s, run->id, &earlier, &n_earlier, err);
  }
  if (status == SCT_OK) {
    put_reference(e->out, "device", key_of(e, run->device));
    put_reference(e->out, "winner", source_of(rows, n, run->winner));
    put_reference(e->out, "naive", source_of(rows, n, run->naive));
    sct_store_json_row(e->out, &sct_store_run_table, run);
    put_outcomes(e, "outcomes", rows, n);
    put_outcomes(e, "earlier", earlier, n_earlier);
    sct_str_append(e->out, "}");
    status = SCT_OK;
  }
  sct_row_result_free(rows, n);
  sct_row_result_free(earlier, n_earlier);
  return status;
}

static int compare_runs(const void *a, const void *b, void *ctx) {
  const sct_row_run *const x = a, *const y = b;
  const int order = strcmp(key_of(ctx, x->device), key_of(ctx, y->device));
  return order != 0 ? order : strcmp(x->size_label, y->size_label);
}

static sct_status put_runs(export *e, sct_id problem, sct_error *err) {
  sct_row_run *runs = NULL;
  int n = 0;
  SCT_TRY(sct_store_all_runs(e->s, problem, &runs, &n, err));
  if (n > 0) {
    qsort_r(runs, (size_t)n, sizeof(runs[0]), compare_runs, e);
  }
  sct_str_append(e->out, ",\n   \"runs\":[");
  sct_status status = SCT_OK;
  for (int i = 0; i < n && status == SCT_OK; ++i) {
    next(e->out, i, "    ");
    status = put_run(e, &runs[i], err);
  }
  sct_str_append(e->out, "]");
  sct_row_run_free(runs, n);
  return status;
}

static sct_status put_candidates(export *e, sct_id problem, sct_error *err) {
  sct_row_result *rows = NULL;
  int n = 0;
  SCT_TRY(sct_store_candidates(e->s, problem, &rows, &n, err));
  sct_str_append(e->out, ",\n   \"candidates\":[");
  for (int i = 0; i < n; ++i) {
    next(e->out, i, "    ");
    sct_store_json_row(e->out, &sct_store_candidate_table, &rows[i]);
    sct_str_append(e->out, "}");
  }
  sct_str_append(e->out, "]");
  sct_row_result_free(rows, n);
  return SCT_OK;
}

static void put_devices(const export *e) {
  sct_str_append(e->out, ",\n \"devices\":[");
  for (int i = 0; i < e->n_devices; ++i) {
    next(e->out, i, "  ");
    sct_store_json_row(e->out, &sct_store_device_table, &e->devices[i]);
    sct_str_append(e->out, "}");
  }
  sct_str_append(e->out, "]");
}

static sct_status put_problems(export *e, sct_row_problem *problems, int n, sct_error *err) {
  sct_str_append(e->out, ",\n \"problems\":[");
  for (int i = 0; i < n; ++i) {
    next(e->out, i, "  ");
    sct_store_json_row(e->out, &sct_store_problem_table, &problems[i]);
    SCT_TRY(put_candidates(e, problems[i].id, err));
    SCT_TRY(put_runs(e, problems[i].id, err));
    sct_str_append(e->out, "}");
  }
  sct_str_append(e->out, "]}\n");
  return SCT_OK;
}

static sct_status put_all(export *e, sct_error *err) {
  sct_row_problem *problems = NULL;
  int n = 0;
  SCT_TRY(sct_store_devices(e->s, &e->devices, &e->n_devices, err));
  sct_status status = sct_store_problems(e->s, &problems, &n, err);
  if (status == SCT_OK) {
    if (e->n_devices > 0) {
      qsort(e->devices, (size_t)e->n_devices, sizeof(e->devices[0]), by_key);
    }
    if (n > 0) {
      qsort(problems, (size_t)n, sizeof(problems[0]), by_spec);
    }
    sct_str_printf(e->out, "{\"format\":\"%s\",\"schema\":%d", SCT_STORE_FORMAT, SCT_STORE_SCHEMA);
    put_devices(e);
    status = put_problems(e, problems, n, err);
  }
  sct_row_problem_free(problems, n);
  sct_row_device_free(e->devices, e->n_devices);
  return status;
}

sct_status sct_store_export(sct_store *s, sct_str *out, sct_error *err) {
  export e = {.s = s, .out = out};
  SCT_TRY(sct_store_exec(s, "BEGIN", err)); /* all of it as of one moment */
  const sct_status status = put_all(&e, err);
  sct_store_leave(s);
  return status;
}
