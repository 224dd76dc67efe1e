/* The command `space`: how many candidates a spec has, what went and why. */
#include "cli/cli_internal.h"

/* Distinct kernels of a strategy, or of all (-1); failed ones are counted apart. */
static int64_t count_items(const sct_tune_candidates *cands, int strategy, bool failed) {
  int64_t n = 0;
  for (int k = 0; k < cands->n_items; k++) {
    const sct_tune_item *item = &cands->items[k];
    n += (strategy < 0 || cands->space.candidates[item->candidate].strategy == strategy) &&
         (item->outcome != SCT_OUT_OK) == failed;
  }
  return n;
}

static json_t *value_json(const sct_axis_value *value) {
  return value->is_string ? sct_json_string(value->text)
         : value->is_bool ? json_boolean(value->number != 0)
                          : json_integer(value->number);
}

static json_t *axes_json(const sct_strategy *strategy) {
  json_t *axes = json_array();
  for (int a = 0; a < strategy->n_axes; a++) {
    const sct_axis *axis = &strategy->axes[a];
    json_t *values = json_array();
    for (int v = 0; v < axis->n_values; v++) {
      json_array_append_new(values, value_json(&axis->values[v]));
    }
    json_array_append_new(axes,
                          json_pack("{s:o, s:o, s:o, s:o}", "name", sct_json_string(axis->name),
                                    "key", sct_json_string(axis->key), "doc",
                                    sct_json_string(axis->doc), "values", values));
  }
  return axes;
}

/* Labels of the sizes that a strategy's axes are for. */
static json_t *sizes_json(const sct_tune_candidates *cands, const sct_strategy *strategy) {
  json_t *list = json_array();
  for (int z = 0; z < cands->spec.n_sizes; z++) {
    if (!strategy->sizes || strategy->sizes[z]) {
      json_array_append_new(list, sct_json_string(cands->spec.sizes[z].label));
    }
  }
  return list;
}

static json_t *strategies_json(const sct_tune_candidates *cands) {
  json_t *list = json_array();
  for (int k = 0; k < cands->space.n_strategies; k++) {
    const sct_strategy *strategy = &cands->space.strategies[k];
    json_array_append_new(
        list,
        json_pack("{s:o, s:o, s:o, s:b, s:o, s:o, s:I}", "name", sct_json_string(strategy->name),
                  "sizes", sizes_json(cands, strategy), "doc", sct_json_string(strategy->doc),
                  "applies", strategy->applies, "why_not",
                  sct_json_string(strategy->applies ? NULL : strategy->why_not), "axes",
                  axes_json(strategy), "candidates", (json_int_t)count_items(cands, k, false)));
  }
  return list;
}

static json_t *pruned_json(const sct_space *space) {
  json_t *list = json_array();
  for (size_t k = 0; k < space->n_prunes; k++) {
    json_array_append_new(list, json_pack("{s:o, s:o, s:I}", "strategy",
                                          sct_json_string(space->prunes[k].strategy), "reason",
                                          sct_json_string(space->prunes[k].reason), "count",
                                          (json_int_t)space->prunes[k].count));
  }
  return list;
}

static json_t *failed_json(const sct_tune_candidates *cands) {
  json_t *list = json_array();
  for (int k = 0; k < cands->n_items; k++) {
    const sct_tune_item *item = &cands->items[k];
    if (item->outcome != SCT_OUT_OK) {
      json_array_append_new(
          list, json_pack("{s:o, s:s, s:s, s:o}", "label", sct_json_string(item->label), "outcome",
                          sct_outcome_name(item->outcome), "says", sct_outcome_text(item->outcome),
                          "detail", sct_json_string(item->detail)));
    }
  }
  return list;
}

/* What each array's layouts cost at each size, whatever the kernel. */
static json_t *arrays_json(const sct_spec *spec) {
  json_t *list = json_array();
  for (int at = 0; at < spec->n_operands * spec->n_sizes; at++) {
    const sct_size *size = &spec->sizes[at % spec->n_sizes];
    const sct_operand *o = &spec->operands[at / spec->n_sizes];
    for (int k = 0; k < o->n_layouts; k++) {
      const sct_footprint of = sct_spec_footprint(spec, at / spec->n_sizes, k, size);
      json_array_append_new(list, json_pack("{s:o, s:o, s:o, s:f, s:f}", "array",
                                            sct_json_string(o->name), "layout",
                                            sct_json_string(o->layouts[k].label), "size",
                                            sct_json_string(size->label), "used_bytes", of.bytes,
                                            "sectors", of.sectors));
    }
  }
  return list;
}

static json_t *json_of_candidates(const sct_tune_candidates *cands) {
  return json_pack("{s:o, s:o, s:o, s:I, s:I, s:I, s:o, s:o, s:o}", "name",
                   sct_json_string(cands->spec.name), "device", sct_json_string(cands->device.id),
                   "arrays", arrays_json(&cands->spec), "points", (json_int_t)cands->space.n_points,
                   "candidates", (json_int_t)count_items(cands, -1, false), "collapsed",
                   (json_int_t)cands->space.n_collapsed, "pruned", pruned_json(&cands->space),
                   "failed", failed_json(cands), "strategies", strategies_json(cands));
}

sct_status cli_space(const cli_args *args, sct_error *err) {
  sct_device_desc device;
  SCT_SCOPED(sct_tune_candidates) cands = {0};
  SCT_TRY(cli_device_describe(&device, args, err));
  if (args->modes) {
    return cli_modes(args, &device, err);
  }
  SCT_TRY(cli_candidates_make(&cands, args, &device, NULL, err));
  json_t *look = cli_output_style(args);
  json_object_set_new(look, "device_name", sct_json_string(device.name));
  return cli_show(args, "sectile.show", "space", json_of_candidates(&cands), look, err);
}
