/* The command `explain`: the meaning of a candidate's label, from its strategy's descriptions. */
#include "cli/cli_internal.h"

/* The words after the spec as one label. */
static void append_label(sct_str *out, const cli_args *args) {
  for (int k = 1; k < args->n_words; k++) {
    sct_str_printf(out, "%s%s", k > 1 ? " " : "", args->words[k]);
  }
}

static const char *value_of(const sct_strategy *s, const sct_candidate *c, int axis) {
  return s->axes[axis].values[c->value[axis]].text;
}

static json_t *json_of(const sct_tune_candidates *cands, const sct_tune_item *item) {
  const sct_candidate *c = &cands->space.candidates[item->candidate];
  const sct_strategy *s = &cands->space.strategies[c->strategy];
  json_t *axes = json_array();
  for (int k = 0; k < s->n_axes; k++) {
    const sct_axis *axis = &s->axes[k];
    json_t *others = json_array();
    for (int v = 0; v < axis->n_values; v++) {
      if (v != c->value[k]) {
        json_array_append_new(others, sct_json_string(axis->values[v].text));
      }
    }
    json_array_append_new(
        axes, json_pack("{s:o, s:o, s:o, s:o, s:o}", "name", sct_json_string(axis->name), "key",
                        sct_json_string(axis->key), "value", sct_json_string(value_of(s, c, k)),
                        "others", others, "doc", sct_json_string(axis->doc)));
  }
  return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "name", sct_json_string(cands->spec.name),
                   "label", sct_json_string(item->label), "strategy", sct_json_string(s->name),
                   "doc", sct_json_string(s->doc), "here", sct_json_string(item->code.launcher_doc),
                   "axes", axes);
}

sct_status cli_explain(const cli_args *args, sct_error *err) {
  sct_device_desc device;
  SCT_SCOPED(sct_tune_candidates) cands = {0};
  const sct_tune_item *item = NULL;
  SCT_SCOPED(sct_str) label = {0};
  append_label(&label, args);
  const char *const wanted = label.len > 0 ? sct_str_c(&label) : NULL;
  SCT_TRY(cli_device_describe(&device, args, err));
  SCT_TRY(cli_candidates_make(&cands, args, &device, wanted, err));
  SCT_TRY(cli_find_item(&item, &cands, wanted, err));
  return cli_show(args, "sectile.show", "explain", json_of(&cands, item), cli_output_style(args),
                  err);
}
