/* The command `space`: how many candidates a spec has, what went and why. */
#include "cli/cli_internal.h"

#include <string.h>

/* Distinct kernels of a strategy, or of all (-1); failed ones are counted apart. */
static int64_t count_items(const sct_tune_plan *plan, int strategy, bool failed) {
  int64_t n = 0;
  for (int k = 0; k < plan->n_items; k++) {
    const sct_tune_item *item = &plan->items[k];
    n += (strategy < 0 || plan->space.candidates[item->candidate].strategy == strategy) &&
         (item->outcome != SCT_OUT_OK) == failed;
  }
  return n;
}

/* ---- text ---- */

/* The strategy's name, and where it has other axes at other sizes, for which of them these are. */
static void name_cell(cli_table *table, const sct_tune_plan *plan, const sct_strategy *strategy) {
  SCT_SCOPED(sct_str) name = {0};
  sct_str_append(&name, strategy->name);
  for (int z = 0, n = 0; strategy->sizes && z < plan->spec.n_sizes; z++) {
    if (strategy->sizes[z]) {
      sct_str_printf(&name, "%s%s", n++ > 0 ? "; " : " at ", plan->spec.sizes[z].label);
    }
  }
  cli_table_cell(table, "%s", sct_str_c(&name));
}

static void append_strategies(sct_str *out, const sct_tune_plan *plan, bool colour) {
  SCT_SCOPED(cli_table) table = {0};
  cli_table_columns(&table, "strategy,>candidates,");
  for (int k = 0; k < plan->space.n_strategies; k++) {
    const sct_strategy *strategy = &plan->space.strategies[k];
    cli_table_row(&table, strategy->applies ? CLI_PLAIN : CLI_DIM);
    name_cell(&table, plan, strategy);
    if (strategy->applies) {
      cli_table_cell(&table, "%lld" CLI_NEXT "%s", (long long)count_items(plan, k, false),
                     strategy->doc ? strategy->doc : "");
    } else {
      cli_table_cell(&table, "-" CLI_NEXT "does not apply; it needs: %s",
                     strategy->why_not ? strategy->why_not : "");
    }
  }
  cli_table_print(out, &table, 2, colour);
}

static void append_axes(sct_str *out, const sct_tune_plan *plan, bool colour) {
  SCT_SCOPED(cli_table) table = {0};
  cli_table_columns(&table, "strategy,axis,key,values,");
  for (int k = 0; k < plan->space.n_strategies; k++) {
    const sct_strategy *strategy = &plan->space.strategies[k];
    for (int a = 0; strategy->applies && a < strategy->n_axes; a++) {
      const sct_axis *axis = &strategy->axes[a];
      SCT_SCOPED(sct_str) values = {0};
      for (int v = 0; v < axis->n_values; v++) {
        sct_str_printf(&values, "%s%s", v > 0 ? " " : "", axis->values[v].text);
      }
      cli_table_row(&table, CLI_PLAIN);
      if (a == 0) {
        name_cell(&table, plan, strategy);
      } else {
        cli_table_cell(&table, "%s", "");
      }
      cli_table_cell(&table, "%s" CLI_NEXT "%s" CLI_NEXT "%s" CLI_NEXT "%s", axis->name,
                     axis->key ? axis->key : "", sct_str_c(&values), axis->doc ? axis->doc : "");
    }
  }
  cli_table_print(out, &table, 2, colour);
}

static void append_pruned(sct_str *out, const sct_space *space, bool colour) {
  SCT_SCOPED(cli_table) table = {0};
  cli_table_columns(&table, ">points,strategy,went because");
  for (size_t k = 0; k < space->n_prunes; k++) {
    cli_table_row(&table, CLI_PLAIN);
    cli_table_cell(&table, "%lld" CLI_NEXT "%s" CLI_NEXT "%s", (long long)space->prunes[k].count,
                   space->prunes[k].strategy, space->prunes[k].reason);
  }
  if (space->n_collapsed > 0) {
    cli_table_row(&table, CLI_PLAIN);
    cli_table_cell(&table,
                   "%lld" CLI_NEXT CLI_NEXT "equal to another point: an axis did not matter",
                   (long long)space->n_collapsed);
  }
  if (table.n_rows > 0) {
    sct_str_append(out, "\n");
    cli_table_print(out, &table, 2, colour);
  }
}

/* The next item from `k` on that failed for the reason of `like`; any reason if that is NULL. */
static int next_failed(const sct_tune_plan *plan, int k, const sct_tune_item *like) {
  for (; k < plan->n_items; k++) {
    const sct_tune_item *item = &plan->items[k];
    const char *detail = item->detail ? item->detail : "";
    if (item->outcome != SCT_OUT_OK &&
        (!like || (item->outcome == like->outcome &&
                   strcmp(detail, like->detail ? like->detail : "") == 0))) {
      return k;
    }
  }
  return plan->n_items;
}

/* Each reason once, with its first candidate. */
static void append_failed(sct_str *out, const sct_tune_plan *plan) {
  for (int k = next_failed(plan, 0, NULL); k < plan->n_items; k = next_failed(plan, k + 1, NULL)) {
    const sct_tune_item *item = &plan->items[k];
    if (next_failed(plan, 0, item) < k) {
      continue;
    }
    int more = 0;
    for (int n = next_failed(plan, k + 1, item); n < plan->n_items;
         n = next_failed(plan, n + 1, item)) {
      more++;
    }
    sct_str_printf(out, "  failed: %s", item->label);
    if (more > 0) {
      sct_str_printf(out, " and %d more", more);
    }
    sct_str_printf(out, ": %s: %s\n", sct_outcome_text(item->outcome),
                   item->detail ? item->detail : "");
  }
}

static void append_text(sct_str *out, const sct_tune_plan *plan) {
  const bool colour = cli_wants_colour(stdout);
  sct_str_printf(out, "%s%s%s for %s (%s): %lld candidates of %lld points\n\n",
                 cli_paint(colour, CLI_BOLD), plan->spec.name, cli_unpaint(colour, CLI_BOLD),
                 plan->device.id, plan->device.name, (long long)count_items(plan, -1, false),
                 (long long)plan->space.n_points);
  append_strategies(out, plan, colour);
  sct_str_append(out, "\n");
  append_axes(out, plan, colour);
  append_pruned(out, &plan->space, colour);
  append_failed(out, plan);
}

/* ---- JSON ---- */

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
static json_t *sizes_json(const sct_tune_plan *plan, const sct_strategy *strategy) {
  json_t *list = json_array();
  for (int z = 0; z < plan->spec.n_sizes; z++) {
    if (!strategy->sizes || strategy->sizes[z]) {
      json_array_append_new(list, sct_json_string(plan->spec.sizes[z].label));
    }
  }
  return list;
}

static json_t *strategies_json(const sct_tune_plan *plan) {
  json_t *list = json_array();
  for (int k = 0; k < plan->space.n_strategies; k++) {
    const sct_strategy *strategy = &plan->space.strategies[k];
    json_array_append_new(
        list,
        json_pack("{s:o, s:o, s:o, s:b, s:o, s:o, s:I}", "name", sct_json_string(strategy->name),
                  "sizes", sizes_json(plan, strategy), "doc", sct_json_string(strategy->doc),
                  "applies", strategy->applies, "why_not",
                  sct_json_string(strategy->applies ? NULL : strategy->why_not), "axes",
                  axes_json(strategy), "candidates", (json_int_t)count_items(plan, k, false)));
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

static json_t *failed_json(const sct_tune_plan *plan) {
  json_t *list = json_array();
  for (int k = 0; k < plan->n_items; k++) {
    const sct_tune_item *item = &plan->items[k];
    if (item->outcome != SCT_OUT_OK) {
      json_array_append_new(list,
                            json_pack("{s:o, s:s, s:o}", "label", sct_json_string(item->label),
                                      "outcome", sct_outcome_name(item->outcome), "detail",
                                      sct_json_string(item->detail)));
    }
  }
  return list;
}

static json_t *plan_json(const sct_tune_plan *plan) {
  return json_pack("{s:o, s:o, s:I, s:I, s:I, s:o, s:o, s:o}", "name",
                   sct_json_string(plan->spec.name), "device", sct_json_string(plan->device.id),
                   "points", (json_int_t)plan->space.n_points, "candidates",
                   (json_int_t)count_items(plan, -1, false), "collapsed",
                   (json_int_t)plan->space.n_collapsed, "pruned", pruned_json(&plan->space),
                   "failed", failed_json(plan), "strategies", strategies_json(plan));
}

sct_status cli_space(const cli_args *args, sct_error *err) {
  sct_device_desc device;
  SCT_SCOPED(sct_tune_plan) plan = {0};
  SCT_TRY(cli_device_describe(&device, args, err));
  if (args->modes) {
    return cli_modes(args, &device, err);
  }
  SCT_TRY(cli_plan_make(&plan, args, &device, NULL, err));
  if (args->json) {
    return cli_json_print(plan_json(&plan), err);
  }
  sct_str text = {0};
  append_text(&text, &plan);
  return cli_print(&text, err);
}
