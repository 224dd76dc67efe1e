/* Figures of profiles under the names that Nsight Compute has for them. */
#include "cli/cli_count.h"

#include <math.h>
#include <string.h>

const cli_metric cli_metrics[CLI_N_METRICS] = {
#define CLI_METRIC(kind, name, value) {name, CLI_##kind},
#include "cli/cli_metrics.def"
#undef CLI_METRIC
};

bool cli_metric_is_exact(const cli_metric *m, const sct_count_row *row) {
  return m->kind == CLI_EXACT ||
         (m->kind == CLI_UNLESS_ASYNC && row->counters.shared_async.requests == 0);
}

void cli_metrics_of(double out[CLI_N_METRICS], const sct_count_row *r, const sct_profile *p) {
  const sct_ptx_counters *const c = &r->counters;
  const sct_ptx_traffic *const t = &r->traffic;
  const sct_ptx_global g = sct_ptx_global_sum(c);
  const sct_ptx_shared s = sct_ptx_shared_sum(c);
  const double values[] = {
#define CLI_METRIC(kind, name, value) (double)(value),
#include "cli/cli_metrics.def"
#undef CLI_METRIC
  };
  memcpy(out, values, sizeof values);
}

sct_status cli_metrics_choose(bool wanted[CLI_N_METRICS], const char *list, sct_error *err) {
  return cli_read_names(wanted, list, SCT_NAMES_IN(cli_metrics, CLI_N_METRICS, name), "metric",
                        err);
}

/* The metrics that are known, by name. */
static json_t *row_json(const sct_count_row *row, const bool wanted[], const double values[]) {
  json_t *list = json_array();
  for (int k = 0; k < CLI_N_METRICS && row->problem == NULL; k++) {
    if (wanted[k] && !isnan(values[k])) {
      json_array_append_new(list, json_pack("{s:s, s:o}", "metric", cli_metrics[k].name, "value",
                                            sct_json_number(values[k])));
    }
  }
  return json_pack("{s:o, s:o, s:o, s:o}", "case", sct_json_string(row->name), "kernel",
                   sct_json_string(row->kernel), "problem", sct_json_string(row->problem),
                   "metrics", list);
}

sct_status cli_metrics_print(const cli_args *args, const sct_count_report *report,
                             const sct_device_desc *device, sct_error *err) {
  bool wanted[CLI_N_METRICS];
  double values[CLI_N_METRICS] = {0};
  SCT_TRY(cli_metrics_choose(wanted, args->metrics, err));
  json_t *cases = json_array(), *names = json_array(), *look = cli_output_style(args);
  for (int k = 0; k < CLI_N_METRICS; k++) {
    if (wanted[k]) {
      json_array_append_new(names, json_string(cli_metrics[k].name));
    }
  }
  json_object_set_new(look, "metrics", names);
  for (int k = 0; k < report->n_rows; k++) {
    const sct_count_row *row = &report->rows[k];
    SCT_SCOPED(sct_profile) p = {0};
    if (row->problem == NULL) {
      sct_count_profile(&p, row, device);
      cli_metrics_of(values, row, &p);
    }
    json_array_append_new(cases, row_json(row, wanted, values));
  }
  return cli_show(args, "sectile.show_profile", args->csv ? "metrics_csv" : "metrics",
                  json_pack("{s:o}", "cases", cases), look, err);
}
