/* `space --modes`: what a spec's dimensions became, for strategies by the splits that they take. */
#include "cli/cli_internal.h"

static const char *const kinds[] = {"merging", "all", "none"};
enum { N_KINDS = SCT_COUNT(kinds) };

static json_t *mode_json(const sct_spec *spec, const sct_mode *mode) {
  json_t *sizes = json_array(), *strides = json_object();
  for (int z = 0; z < spec->n_sizes; z++) {
    json_array_append_new(sizes, json_integer((json_int_t)mode->sizes[z]));
  }
  for (int op = 0; op < spec->n_operands; op++) {
    json_object_set_new(strides, spec->operands[op].name, sct_json_string(mode->strides[op]));
  }
  return json_pack("{s:o, s:o, s:o, s:o, s:o}", "name", sct_json_string(mode->name), "dims",
                   sct_json_strings(mode->from, mode->n_from), "extent",
                   sct_json_string(mode->extent), "sizes", sizes, "strides", strides);
}

static json_t *lists_json(const sct_spec *spec, const sct_mode_list *lists) {
  json_t *doc = json_pack("{s:o}", "name", sct_json_string(spec->name));
  for (int k = 0; k < N_KINDS; k++) {
    json_t *modes = json_array();
    for (int m = 0; m < lists[k].n; m++) {
      json_array_append_new(modes, mode_json(spec, &lists[k].modes[m]));
    }
    json_object_set_new(
        doc, kinds[k],
        json_pack("{s:o, s:o}", "modes", modes, "requires",
                  sct_json_strings((const char *const *)lists[k].requires, lists[k].n_requires)));
  }
  return doc;
}

/* Columns of the table. */
static json_t *look_of(const cli_args *args, const sct_spec *spec) {
  json_t *look = cli_output_style(args), *operands = json_array();
  for (int op = 0; op < spec->n_operands; op++) {
    json_array_append_new(operands, sct_json_string(spec->operands[op].name));
  }
  json_object_set_new(look, "operands", operands);
  json_object_set_new(look, "n_sizes", json_integer(spec->n_sizes));
  return look;
}

sct_status cli_modes(const cli_args *args, const sct_device_desc *device, sct_error *err) {
  SCT_SCOPED(sct_spec) spec = {0};
  sct_script *script = NULL;
  sct_mode_list lists[N_KINDS] = {0};
  sct_status status = sct_script_try_spec(&spec, args->words[0], err);
  if (status != SCT_OK) {
    return cli_hint_example(status, args->words[0], err);
  }
  status = sct_script_new(&script, &spec, device, NULL, err);
  for (int k = 0; status == SCT_OK && k < N_KINDS; k++) {
    status = sct_script_modes(&lists[k], script, kinds[k], err);
  }
  SCT_THEN(
      cli_show(args, "sectile.show", "modes", lists_json(&spec, lists), look_of(args, &spec), err));
  for (int k = 0; k < N_KINDS; k++) {
    sct_mode_list_free(&lists[k]);
  }
  sct_script_free(script);
  return status;
}
