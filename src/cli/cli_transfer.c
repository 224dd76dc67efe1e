/* The command `transfer`: copies between a device and the host, or a second device, as tables. */
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

static const sct_transfer_cell *last_setup(const sct_transfer_report *r, int kind) {
  for (int z = r->n_sizes - 1; z >= 0; z--) {
    if (r->rows[kind][SCT_TRANSFER_SETUP].cells[z].times.median_ns > 0) {
      return &r->rows[kind][SCT_TRANSFER_SETUP].cells[z];
    }
  }
  return NULL;
}

static json_t *cells_json(const sct_transfer_report *r, int kind, int way) {
  json_t *list = json_array();
  for (int z = 0; z < r->n_sizes; z++) {
    const sct_transfer_cell *c = &r->rows[kind][way].cells[z];
    json_array_append_new(
        list,
        json_pack("{s:I, s:o, s:o, s:o, s:o, s:o}", "bytes", (json_int_t)r->bytes[z], "median_ns",
                  cli_json_positive(c->times.median_ns), "q1_ns", cli_json_positive(c->times.q1_ns),
                  "q3_ns", cli_json_positive(c->times.q3_ns), "bytes_s",
                  cli_json_positive(sct_transfer_rate(r, (sct_host_kind)kind, way, z)), "failure",
                  c->failure ? sct_json_string(c->failure) : json_null()));
  }
  return list;
}

static json_t *report_json(const sct_transfer_report *r) {
  json_t *rows = json_array();
  for (int kind = 0; kind < r->n_kinds; kind++) {
    const sct_transfer_cell *setup = last_setup(r, kind);
    for (int way = SCT_TO_DEVICE; way <= SCT_BOTH_WAYS; way++) {
      const sct_transfer_row *row = &r->rows[kind][way];
      json_array_append_new(rows,
                            json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o}", "memory",
                                      sct_host_name((sct_host_kind)kind), "way",
                                      sct_way_name((sct_host_kind)kind, (sct_way)way), "latency_ns",
                                      cli_json_positive(row->latency_ns), "best_bytes_s",
                                      cli_json_positive(row->best_bytes_s), "half_bytes",
                                      cli_json_positive(row->half_bytes), "made_ns",
                                      cli_json_positive(setup ? setup->times.median_ns : 0),
                                      "sizes", cells_json(r, kind, way)));
    }
  }
  return json_pack("{s:o, s:o, s:b, s:o}", "device", cli_json_device(&r->device), "peer",
                   r->n_kinds > SCT_HOST_PEER ? cli_json_device(&r->peer) : json_null(), "timed",
                   r->timed, "transfers", rows);
}

sct_status cli_choose_devices(sct_tune_opts *opts, char *text, sct_error *err) {
  char *comma = text ? strchr(text, ',') : NULL;
  opts->device = text;
  if (!comma) {
    return SCT_OK;
  }
  *comma = '\0';
  opts->peer = comma + 1;
  return text[0] == '\0' || comma[1] == '\0' || strchr(comma + 1, ',')
             ? sct_fail(err, SCT_EUSAGE,
                        "--device: expected a device, or two with a comma between them, as in "
                        "cuda:0,cuda:1")
             : SCT_OK;
}

sct_status cli_transfer(const cli_args *args, sct_error *err) {
  if (args->n_words > 0) {
    return cli_transfer_spec(args, err);
  }
  if (args->size) {
    return sct_fail(err, SCT_EUSAGE, "--size is of a spec: copies alone have --sizes");
  }
  sct_tune_opts opts = {.store_path = args->store,
                        .budget_ns = args->budget_ns,
                        .again = args->again,
                        .measure = cli_measure_opts(args)};
  SCT_OWNED sct_transfer_report *r = sct_alloc(sizeof *r); /* some 30 KiB */
  SCT_OWNED char *devices = args->device ? sct_strdup(args->device) : NULL;
  sct_status status = cli_choose_devices(&opts, devices, err);
  SCT_THEN(choose_sizes(r, args, err));
  SCT_THEN(sct_tune_transfer(r, &opts, err));
  SCT_THEN(cli_show(args, "sectile.show", "transfer", report_json(r), cli_output_style(args), err));
  sct_arena_free(&r->arena);
  return status;
}
