/* The command `transfer`: copies between host and device as tables. */
#include "cli/cli_internal.h"

#include <string.h>

#define FIRST_BYTES 4096
#define LAST_BYTES  ((int64_t)1 << 30)
#define UNIT_BYTES  16 /* what a thread copies of mapped memory */

static sct_status choose_sizes(sct_transfer_report *r, const cli_args *args, sct_error *err) {
  if (args->sizes) {
    return cli_read_sizes(r->bytes, &r->n_sizes, SCT_TRANSFER_MOST_SIZES, "sizes", args->sizes,
                          UNIT_BYTES, SCT_MAX_TRANSFER, err);
  }
  for (int64_t bytes = FIRST_BYTES; bytes <= LAST_BYTES; bytes *= 4) {
    r->bytes[r->n_sizes++] = bytes;
  }
  return SCT_OK;
}

/* ---- text ---- */

static const sct_transfer_cell *last_setup(const sct_transfer_report *r, int kind) {
  for (int z = r->n_sizes - 1; z >= 0; z--) {
    if (r->rows[kind][SCT_TRANSFER_SETUP].cells[z].median_ns > 0) {
      return &r->rows[kind][SCT_TRANSFER_SETUP].cells[z];
    }
  }
  return NULL;
}

static void append_summary(sct_str *out, const sct_transfer_report *r) {
  SCT_SCOPED(cli_table) table = {0};
  cli_table_columns(&table, "memory,way,>latency,>GB/s,>half at,>made in");
  for (int kind = 0; kind < SCT_N_HOSTS; kind++) {
    for (int way = SCT_TO_DEVICE; way <= SCT_BOTH_WAYS; way++) {
      const sct_transfer_row *row = &r->rows[kind][way];
      const sct_transfer_cell *setup = way == SCT_TO_DEVICE ? last_setup(r, kind) : NULL;
      char latency[32], half[32], made[32];
      if (row->best_bytes_s > 0) {
        cli_table_row(&table, CLI_PLAIN);
        cli_table_cell(&table, "%s" CLI_NEXT "%s" CLI_NEXT "%s" CLI_NEXT "%.4g" CLI_NEXT "%s",
                       sct_host_name((sct_host_kind)kind), sct_way_name((sct_way)way),
                       sct_format_ns(latency, row->latency_ns), row->best_bytes_s / 1e9,
                       sct_format_bytes(half, row->half_bytes));
        cli_table_cell_if(&table, setup != NULL, "%s",
                          setup ? sct_format_ns(made, setup->median_ns) : "");
      }
    }
  }
  cli_table_print(out, &table, 0, cli_wants_colour(stdout));
}

/* GB/s by size, a column a kind. */
static void append_rates(sct_str *out, const sct_transfer_report *r, sct_way way) {
  SCT_SCOPED(cli_table) table = {0};
  SCT_SCOPED(sct_str) heads = {0};
  sct_str_printf(&heads, ">%s", sct_way_name(way));
  for (int kind = 0; kind < SCT_N_HOSTS; kind++) {
    sct_str_printf(&heads, ",>%s", sct_host_name((sct_host_kind)kind));
  }
  cli_table_columns(&table, sct_str_c(&heads));
  for (int z = 0; z < r->n_sizes; z++) {
    char size[32];
    cli_table_row(&table, CLI_PLAIN);
    cli_table_cell(&table, "%s", sct_format_bytes(size, (double)r->bytes[z]));
    for (int kind = 0; kind < SCT_N_HOSTS; kind++) {
      const double rate = sct_transfer_rate(r, (sct_host_kind)kind, way, z);
      cli_table_cell_if(&table, r->rows[kind][way].best_bytes_s > 0, rate > 0 ? "%.4g" : "-",
                        rate / 1e9);
    }
  }
  sct_str_append(out, "\n");
  cli_table_print(out, &table, 0, cli_wants_colour(stdout));
}

/* Each reason once, with the first size that it stands at. */
static void append_failures(sct_str *out, const sct_transfer_report *r, int kind) {
  const char *before = NULL;
  for (int z = 0; z < r->n_sizes; z++) {
    for (int way = SCT_TO_DEVICE; way <= SCT_BOTH_WAYS; way++) {
      const char *failure = r->rows[kind][way].cells[z].failure;
      if (failure && (!before || strcmp(failure, before) != 0)) {
        SCT_SCOPED(sct_str) line = {0};
        char size[32];
        sct_str_append(&line, sct_host_name((sct_host_kind)kind));
        if (z > 0) {
          sct_str_printf(&line, ", from %s on", sct_format_bytes(size, (double)r->bytes[z]));
        }
        sct_str_printf(out, "%s: %s\n", sct_str_c(&line), failure);
      }
      before = failure ? failure : before;
    }
  }
}

static void append_text(sct_str *out, const sct_transfer_report *r) {
  sct_str_printf(out, "%s (%s): %s\n\n", r->device.name, r->device.id,
                 r->timed ? "medians, from the call until the host knows that it is done"
                          : "stated rates, not timed");
  append_summary(out, r);
  for (int way = SCT_TO_DEVICE; way <= SCT_BOTH_WAYS; way++) {
    append_rates(out, r, (sct_way)way);
  }
  SCT_SCOPED(sct_str) failures = {0};
  for (int kind = 0; kind < SCT_N_HOSTS; kind++) {
    append_failures(&failures, r, kind);
  }
  sct_str_printf(out, "%s%s", failures.len > 0 ? "\n" : "", sct_str_c(&failures));
}

/* ---- JSON ---- */

static json_t *cells_json(const sct_transfer_report *r, int kind, int way) {
  json_t *list = json_array();
  for (int z = 0; z < r->n_sizes; z++) {
    const sct_transfer_cell *c = &r->rows[kind][way].cells[z];
    json_array_append_new(
        list,
        json_pack("{s:I, s:o, s:o, s:o, s:o, s:o}", "bytes", (json_int_t)r->bytes[z], "median_ns",
                  cli_json_positive(c->median_ns), "q1_ns", cli_json_positive(c->q1_ns), "q3_ns",
                  cli_json_positive(c->q3_ns), "bytes_s",
                  cli_json_positive(sct_transfer_rate(r, (sct_host_kind)kind, way, z)), "failure",
                  c->failure ? sct_json_string(c->failure) : json_null()));
  }
  return list;
}

static json_t *report_json(const sct_transfer_report *r) {
  json_t *rows = json_array();
  for (int kind = 0; kind < SCT_N_HOSTS; kind++) {
    const sct_transfer_cell *setup = last_setup(r, kind);
    for (int way = SCT_TO_DEVICE; way <= SCT_BOTH_WAYS; way++) {
      const sct_transfer_row *row = &r->rows[kind][way];
      json_array_append_new(rows, json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o}", "memory",
                                            sct_host_name((sct_host_kind)kind), "way",
                                            sct_way_name((sct_way)way), "latency_ns",
                                            cli_json_positive(row->latency_ns), "best_bytes_s",
                                            cli_json_positive(row->best_bytes_s), "half_bytes",
                                            cli_json_positive(row->half_bytes), "made_ns",
                                            cli_json_positive(setup ? setup->median_ns : 0),
                                            "sizes", cells_json(r, kind, way)));
    }
  }
  return json_pack("{s:o, s:b, s:o}", "device", cli_json_device(&r->device), "timed", r->timed,
                   "transfers", rows);
}

static sct_status report(const cli_args *args, const sct_transfer_report *r, sct_error *err) {
  if (args->json) {
    return cli_json_print(report_json(r), err);
  }
  sct_str text = {0};
  append_text(&text, r);
  return cli_print(&text, err);
}

sct_status cli_transfer(const cli_args *args, sct_error *err) {
  const sct_tune_opts opts = {.device = args->device,
                              .store_path = args->store,
                              .budget_ns = args->budget_ns,
                              .again = args->again,
                              .measure = cli_measure_opts(args)};
  SCT_OWNED sct_transfer_report *r = sct_alloc(sizeof *r); /* some 30 KiB */
  sct_status status = choose_sizes(r, args, err);
  SCT_THEN(sct_tune_transfer(r, &opts, err));
  SCT_THEN(report(args, r, err));
  sct_arena_free(&r->arena);
  return status;
}
