/* The command `devices`, and which device a command is about. */
#include "cli/cli_internal.h"

#include <string.h>

sct_measure_opts cli_measure_opts(const cli_args *args) {
  return (sct_measure_opts){.wait_ns = args->wait_ns, .force = args->force};
}

sct_status cli_device_describe(sct_device_desc *out, const cli_args *args, sct_error *err) {
  if (!args->device) {
    return sct_script_load_device(out, CLI_VIRTUAL, err);
  }
  const sct_tune_opts opts = {.device = args->device, .measure = cli_measure_opts(args)};
  return sct_tune_device(out, &opts, err);
}

const char *cli_device_says(const char *id) {
  const sct_device_kind *kind;
  const char *name;
  return sct_device_parse(&kind, &name, id, NULL) == SCT_OK ? kind->says : "";
}

/* How figures for a device come about, in `text` where that depends on the device. */
static const char *says_of(char text[96], const sct_device_desc *d) {
  if (!d->counting_only) {
    return cli_device_says(d->id);
  }
  snprintf(text, 96, "described only (--coalescing %s): this toolkit cannot compile for it",
           d->coalescing[0] ? d->coalescing : "cc70");
  return text;
}

typedef struct device_list {
  sct_arena arena;
  sct_device_desc *gpus; /* [n_gpus] */
  int n_gpus;
  sct_device_desc *described; /* [n_described], in the arena */
  int n_described;
  sct_error no_gpu; /* why there is none */
} device_list;

static sct_status load_list(device_list *list, const cli_args *args, sct_error *err) {
  const sct_measure_opts opts = cli_measure_opts(args);
  if (sct_measure_list(&list->gpus, &list->n_gpus, &opts, &list->no_gpu) != SCT_OK) {
    list->n_gpus = 0; /* no reason not to show the others */
  }
  SCT_TRY(sct_script_load_devices(&list->described, &list->n_described, &list->arena, err));
  sct_tune_mark_described(list->described, list->n_described);
  return SCT_OK;
}

static json_t *device_json(const sct_device_desc *d) {
  char says[96];
  json_t *doc = cli_json_device(d);
  json_object_set_new(doc, "says", sct_json_string(says_of(says, d)));
  return doc;
}

static json_t *list_json(const device_list *list, const char *why) {
  json_t *devices = json_array();
  for (int k = 0; k < list->n_gpus; k++) {
    json_array_append_new(devices, device_json(&list->gpus[k]));
  }
  for (int k = 0; k < list->n_described; k++) {
    json_array_append_new(devices, device_json(&list->described[k]));
  }
  return json_pack("{s:o, s:o}", "devices", devices, "no_gpu",
                   list->n_gpus == 0 ? sct_json_string(why) : json_null());
}

static sct_status calibrate(const cli_args *args, sct_error *err) {
  SCT_SCOPED(sct_str) text = {0}, path = {0};
  const sct_tune_opts opts = {.device = args->device ? args->device : "cuda:0",
                              .store_path = args->store,
                              .compile_threads = 1,
                              .measure = cli_measure_opts(args)};
  SCT_TRY(sct_tune_calibrate_device(&text, &path, &opts, err));
  cli_note(args, "kept in %s", sct_str_c(&path));
  if (!args->json) {
    return cli_write_output(args, &text, err);
  }
  SCT_OWNED_PTR(json_t)
  doc = json_pack("{s:o, s:o}", "file", sct_json_string(sct_str_c(&path)), "description",
                  sct_json_string(sct_str_c(&text)));
  sct_str_clear(&text);
  SCT_TRY(cli_json_dump(&text, json_incref(doc), err));
  return cli_write_output(args, &text, err);
}

sct_status cli_devices(const cli_args *args, sct_error *err) {
  if (args->calibrate) {
    return calibrate(args, err);
  }
  device_list list = {0};
  sct_status status = load_list(&list, args, err);
  const char *why = list.no_gpu.text[0] ? list.no_gpu.text : "the driver shows none";
  SCT_THEN(cli_show(args, "sectile.show", "devices", list_json(&list, why), cli_output_style(args),
                    err));
  sct_free(list.gpus);
  sct_arena_free(&list.arena);
  return status;
}
