/* `space --modes`: what a spec's dimensions became, for strategies by the splits that they take. */
#include "cli/cli_internal.h"

#include <string.h>

/* The lists that differ from the one before, each with what it is for. */
static const struct {
  const char *splits, *what;
} kinds[] = {
    {"merging", "modes"},
    {"all", "modes of strategies that take every split"},
    {"none", "modes of the naive variant, for all extents"},
};
enum { N_KINDS = SCT_COUNT(kinds) };

static bool same_modes(const sct_mode_list *a, const sct_mode_list *b) {
  bool same = a->n == b->n;
  for (int k = 0; same && k < a->n; k++) {
    same = strcmp(a->modes[k].name, b->modes[k].name) == 0;
  }
  return same;
}

/* ---- text ---- */

static void append_from(sct_str *out, const sct_mode *mode) {
  for (int k = 0; k < mode->n_from; k++) {
    sct_str_printf(out, "%s%s", k > 0 ? ", " : "", mode->from[k]);
  }
}

static void append_modes(sct_str *out, const sct_spec *spec, const sct_mode_list *list,
                         bool colour) {
  SCT_SCOPED(cli_table) table = {0};
  SCT_SCOPED(sct_str) heads = {0};
  sct_str_append(&heads, "mode,of,extent");
  for (int z = 0; z < spec->n_sizes; z++) {
    sct_str_append(&heads, z == 0 ? ",>sizes" : ",>");
  }
  for (int op = 0; op < spec->n_operands; op++) {
    sct_str_printf(&heads, ",>%s", spec->operands[op].name);
  }
  cli_table_columns(&table, sct_str_c(&heads));
  for (int k = 0; k < list->n; k++) {
    const sct_mode *mode = &list->modes[k];
    SCT_SCOPED(sct_str) from = {0};
    append_from(&from, mode);
    cli_table_row(&table, CLI_PLAIN);
    cli_table_cell(&table, "%s" CLI_NEXT "%s" CLI_NEXT "%s", mode->name, sct_str_c(&from),
                   mode->extent);
    for (int z = 0; z < spec->n_sizes; z++) {
      cli_table_cell(&table, "%lld", (long long)mode->sizes[z]);
    }
    for (int op = 0; op < spec->n_operands; op++) {
      cli_table_cell(&table, "%s", mode->strides[op]);
    }
  }
  cli_table_print(out, &table, 2, colour);
  for (int k = 0; k < list->n_requires; k++) {
    sct_str_printf(out, "  requires %s\n", list->requires[k]);
  }
}

static void append_text(sct_str *out, const sct_spec *spec, const sct_mode_list *lists) {
  const bool colour = cli_wants_colour(stdout);
  for (int k = 0; k < N_KINDS; k++) {
    if (k > 0 && same_modes(&lists[k], &lists[0])) {
      continue;
    }
    sct_str_printf(out, "%s%s%s%s: %s (an operand's column: bytes that a step goes)\n",
                   k > 0 ? "\n" : "", cli_paint(colour, CLI_BOLD), spec->name,
                   cli_unpaint(colour, CLI_BOLD), kinds[k].what);
    append_modes(out, spec, &lists[k], colour);
  }
}

/* ---- JSON ---- */

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
        doc, kinds[k].splits,
        json_pack("{s:o, s:o}", "modes", modes, "requires",
                  sct_json_strings((const char *const *)lists[k].requires, lists[k].n_requires)));
  }
  return doc;
}

/* ---- the command ---- */

static sct_status print_modes(const cli_args *args, const sct_spec *spec,
                              const sct_mode_list *lists, sct_error *err) {
  if (args->json) {
    return cli_json_print(lists_json(spec, lists), err);
  }
  sct_str text = {0};
  append_text(&text, spec, lists);
  return cli_print(&text, err);
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
    status = sct_script_modes(&lists[k], script, kinds[k].splits, err);
  }
  SCT_THEN(print_modes(args, &spec, lists, err));
  for (int k = 0; k < N_KINDS; k++) {
    sct_mode_list_free(&lists[k]);
  }
  sct_script_free(script);
  return status;
}
