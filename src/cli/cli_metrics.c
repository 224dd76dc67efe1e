/* Figures of profiles under the names that Nsight Compute has for them. */
#include "cli/cli_count.h"

#include <string.h>

static const char *const names[] = {
#define CLI_METRIC(name, value) name,
#include "cli/cli_metrics.def"
#undef CLI_METRIC
};

static double per(int64_t a, int64_t b) {
  return b > 0 ? (double)a / (double)b : 0.0;
}

static void values_of(double out[], const sct_count_row *r, const sct_profile *p) {
  const sct_ptx_counters *const c = &r->counters;
  const sct_ptx_global g = sct_ptx_global_sum(c);
  const sct_ptx_shared s = sct_ptx_shared_sum(c);
  const double values[] = {
#define CLI_METRIC(name, value) (double)(value),
#include "cli/cli_metrics.def"
#undef CLI_METRIC
  };
  memcpy(out, values, sizeof values);
}

static void append_csv(sct_str *out, const sct_count_row *row, const bool wanted[],
                       const double values[]) {
  sct_str_printf(out, "\"%s\",\"%s\"", row->name, row->kernel);
  for (int k = 0; k < SCT_COUNT(names); k++) {
    if (wanted[k] && row->problem == NULL) {
      sct_str_printf(out, ",%.15g", values[k]);
    } else if (wanted[k]) {
      sct_str_append(out, ",");
    }
  }
  sct_str_append(out, "\n");
}

static void append_table(sct_str *out, const sct_count_row *row, const bool wanted[],
                         const double values[]) {
  cli_table t = {0};
  sct_str_printf(out, "%s%s: %s\n", out->len > 0 ? "\n" : "", row->name, row->kernel);
  cli_table_columns(&t, "metric,>value");
  for (int k = 0; k < SCT_COUNT(names) && row->problem == NULL; k++) {
    if (wanted[k]) {
      cli_table_row(&t, CLI_PLAIN);
      cli_table_cell(&t, "%s" CLI_NEXT "%.10g", names[k], values[k]);
    }
  }
  if (row->problem) {
    sct_str_printf(out, "  failed      %s\n", row->problem);
  } else {
    cli_table_print(out, &t, 2, false);
  }
  cli_table_free(&t);
}

sct_status cli_metrics(sct_str *out, const cli_args *args, const sct_count_report *report,
                       const sct_device_desc *device, sct_error *err) {
  bool wanted[SCT_COUNT(names)];
  double values[SCT_COUNT(names)] = {0};
  SCT_TRY(cli_read_names(wanted, args->metrics, names, SCT_COUNT(names), "metric", err));
  sct_str_append(out, args->csv ? "case,kernel" : "");
  for (int k = 0; k < SCT_COUNT(names) && args->csv; k++) {
    sct_str_printf(out, "%s%s", wanted[k] ? "," : "", wanted[k] ? names[k] : "");
  }
  sct_str_append(out, args->csv ? "\n" : "");
  for (int k = 0; k < report->n_rows; k++) {
    const sct_count_row *row = &report->rows[k];
    sct_profile p = {0};
    if (row->problem == NULL) {
      sct_count_profile(&p, row, device);
      values_of(values, row, &p);
    }
    if (args->csv) {
      append_csv(out, row, wanted, values);
    } else {
      append_table(out, row, wanted, values);
    }
    sct_profile_free(&p);
  }
  return SCT_OK;
}
