/* The command `gen`: the CUDA source of one candidate, or the labels of all. */
#include "cli/cli_internal.h"

#include <string.h>

/* ---- which candidate ---- */

/* The naive item of the first choice of layouts, whose source may have another candidate's label.
 */
static const sct_tune_item *naive_item(const sct_tune_candidates *cands) {
  int first[SCT_MAX_OPERANDS] = {0};
  const int64_t naive = sct_codegen_naive(&cands->spec, &cands->space, first);
  const sct_tune_item *usable = NULL;
  for (int k = 0; k < cands->n_items; k++) {
    const sct_tune_item *item = &cands->items[k];
    if (item->candidate == naive && item->outcome == SCT_OUT_OK) {
      return item;
    }
    usable = !usable && item->outcome == SCT_OUT_OK ? item : usable;
  }
  return usable;
}

sct_status cli_candidates_make(sct_tune_candidates *out, const cli_args *args,
                               const sct_device_desc *device, const char *label, sct_error *err) {
  const sct_tune_labels picked = {label ? 1 : 0, &label};
  const sct_tune_candidates_opts opts = {.strategy_dir = args->strategies, .only = &picked};
  return cli_hint_example(sct_tune_candidates_make(out, args->words[0], device, &opts, err),
                          args->words[0], err);
}

sct_status cli_find_item(const sct_tune_item **out, const sct_tune_candidates *cands,
                         const char *label, sct_error *err) {
  const int k =
      label ? sct_names_find(SCT_NAMES_IN(cands->items, cands->n_items, label), label) : -1;
  const sct_tune_item *found = label ? k >= 0 ? &cands->items[k] : NULL : naive_item(cands);
  if (!found && label) {
    return sct_fail(err, SCT_EUSAGE,
                    "candidate '%s' has no kernel of its own: it was rejected, or its source "
                    "equals the naive one's; `sectile space` says which",
                    label);
  }
  if (!found) {
    return sct_fail(err, SCT_ESPEC, "%s: no candidate has a kernel: %s", cands->spec.name,
                    cands->n_items > 0 && cands->items[0].detail ? cands->items[0].detail
                                                                 : "`sectile space` says why");
  }
  if (found->outcome != SCT_OUT_OK) {
    return sct_fail(err, SCT_ESPEC, "%s", found->detail ? found->detail : "its template failed");
  }
  *out = found;
  return SCT_OK;
}

/* ---- printing ---- */

static sct_status print_labels(const cli_args *args, const sct_tune_candidates *cands,
                               sct_error *err) {
  json_t *labels = json_array();
  SCT_SCOPED(sct_str) text = {0};
  for (int k = 0; k < cands->n_items; k++) {
    if (cands->items[k].outcome == SCT_OUT_OK) {
      json_array_append_new(labels, sct_json_string(cands->items[k].label));
      sct_str_printf(&text, "%s\n", cands->items[k].label);
    }
  }
  SCT_OWNED_PTR(json_t)
  doc = json_pack("{s:o, s:o}", "name", sct_json_string(cands->spec.name), "labels", labels);
  sct_status status;
  if (args->json) {
    status = cli_json_print(json_incref(doc), err);
    sct_str_free(&text);
  } else {
    status = cli_print(&text, err);
  }
  return status;
}

static sct_status print_source(const cli_args *args, const sct_tune_candidates *cands,
                               const sct_tune_item *item, sct_error *err) {
  SCT_SCOPED(sct_str) text = {0};
  if (!args->json) {
    cli_note(args, "%s: kernel %s, %d threads a block, %lld bytes of dynamic shared memory",
             item->label, item->code.kernel, item->code.threads,
             (long long)item->code.shared_bytes);
    sct_str_append(&text, item->code.source);
    return cli_print(&text, err);
  }
  SCT_SCOPED(sct_str) axes = {0}, trees = {0};
  SCT_TRY(sct_codegen_launch(&text, &cands->spec, &item->code, err));
  SCT_TRY(sct_codegen_trees(&trees, &cands->spec, &item->code, err));
  sct_codegen_axes(&axes, &cands->space, &cands->space.candidates[item->candidate]);
  return cli_json_print(
      json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "name", sct_json_string(cands->spec.name),
                "label", sct_json_string(item->label), "kernel", sct_json_string(item->code.kernel),
                "axes", sct_json_load(sct_str_c(&axes)), "launch", sct_json_load(sct_str_c(&text)),
                "trees", sct_json_load(sct_str_c(&trees)), "source",
                sct_json_string(item->code.source)),
      err);
}

/* The winner's kernel is the one that the store has. */
static sct_status check_hash(const sct_tune_item *item, const char *stored, sct_error *err) {
  char hash[SCT_HASH_HEX];
  return strcmp(sct_hash_hex(hash, item->code.hash), stored) == 0
             ? SCT_OK
             : sct_fail(err, SCT_EDATA,
                        "'%s' differs from the stored winner: it is made by other templates or for "
                        "another "
                        "device: `sectile emit` has the kernel that won, `sectile tune` the best "
                        "of these",
                        item->label);
}

sct_status cli_gen(const cli_args *args, sct_error *err) {
  sct_device_desc device;
  SCT_SCOPED(sct_tune_candidates) cands = {0};
  const sct_tune_item *item = NULL;
  SCT_SCOPED(sct_str) won = {0};
  char hash[SCT_HASH_HEX];
  if (args->winner && (args->pick || args->list)) {
    return sct_fail(err, SCT_EUSAGE, "--winner says which candidate, as --pick and --list do");
  }
  SCT_TRY(cli_device_describe(&device, args, err));
  if (args->winner) {
    SCT_TRY(cli_find_winner(&won, hash, args, err));
  }
  const char *const label = args->winner ? sct_str_c(&won) : args->pick;
  SCT_TRY(cli_candidates_make(&cands, args, &device, args->list ? NULL : label, err));
  if (args->list) {
    return print_labels(args, &cands, err);
  }
  SCT_TRY(cli_find_item(&item, &cands, label, err));
  if (args->winner) {
    SCT_TRY(check_hash(item, hash, err));
  }
  return print_source(args, &cands, item, err);
}
