/* The command `check`: is a spec right? */
#include "cli/cli_internal.h"

static const char *plural(int n) {
  return n == 1 ? "" : "s";
}

static json_t *good_json(const char *path, const sct_spec *spec, const char *hash) {
  json_t *operands = json_array(), *sizes = json_array();
  for (int k = 0; k < spec->n_operands; k++) {
    json_array_append_new(operands, cli_json_text(spec->operands[k].name));
  }
  for (int k = 0; k < spec->n_sizes; k++) {
    json_array_append_new(sizes, cli_json_text(spec->sizes[k].label));
  }
  return json_pack("{s:o, s:b, s:o, s:s, s:o, s:o}", "spec", cli_json_text(path), "ok", 1, "name",
                   cli_json_text(spec->name), "hash", hash, "operands", operands, "sizes", sizes);
}

static json_t *bad_json(const char *path, sct_status status, const sct_error *err) {
  json_t *doc = cli_json_error(status, err->text);
  json_object_set_new(doc, "spec", cli_json_text(path));
  json_object_set_new(doc, "ok", json_false());
  return doc;
}

static sct_status check_one(const cli_args *args, const char *path, json_t *documents,
                            sct_status *outcome, sct_error *err) {
  sct_spec spec;
  sct_error spec_err = {0};
  char hash[SCT_HASH_HEX];
  *outcome = cli_hint_example(sct_script_try_spec(&spec, path, &spec_err), path, &spec_err);
  if (*outcome != SCT_OK) {
    json_array_append_new(documents, bad_json(path, *outcome, &spec_err));
    cli_report(&spec_err);
    return SCT_OK;
  }
  sct_hash_hex(hash, spec.hash);
  sct_status status = SCT_OK;
  if (args->json) {
    json_array_append_new(documents, good_json(path, &spec, hash));
  } else {
    sct_str text = {0};
    sct_str_printf(&text, "%s: ok (%d operand%s, %d size%s, %s)\n", path, spec.n_operands,
                   plural(spec.n_operands), spec.n_sizes, plural(spec.n_sizes), hash);
    status = cli_print(&text, err);
  }
  sct_spec_free(&spec);
  return status;
}

sct_status cli_check(const cli_args *args, sct_error *err) {
  json_t *documents = json_array();
  sct_status first = SCT_OK, status = SCT_OK;
  for (int k = 0; status == SCT_OK && k < args->n_words; k++) {
    sct_status outcome;
    status = check_one(args, args->words[k], documents, &outcome, err);
    first = first == SCT_OK ? outcome : first;
  }
  if (status == SCT_OK && args->json) {
    status = cli_json_print(
        json_pack("{s:i, s:O}", "exit_code", sct_exit_code(first), "checked", documents), err);
  }
  json_decref(documents);
  return status == SCT_OK ? first : status;
}
