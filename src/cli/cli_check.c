/* The command `check`: is a spec right? */
#include "cli/cli_internal.h"

#include <ctype.h>
#include <string.h>

/* An operand: its bytes at each size in each of its layouts and, if it is an index, the limit of
 * its values. */
static json_t *array_json(const sct_spec *spec, int op) {
  const sct_operand *operand = &spec->operands[op];
  json_t *sizes = json_array(), *limits = json_array();
  for (int z = 0; z < spec->n_sizes; z++) {
    json_t *layouts = json_array();
    for (int l = 0; l < operand->n_layouts; l++) {
      json_array_append_new(layouts, json_integer(sct_spec_bytes(spec, op, l, &spec->sizes[z])));
    }
    json_array_append_new(sizes, layouts);
    if (operand->is_index) {
      json_array_append_new(limits,
                            json_integer(sct_spec_index_fill(spec, op, &spec->sizes[z]).limit));
    }
  }
  json_t *doc = json_pack("{s:o, s:s, s:o}", "name", sct_json_string(operand->name), "role",
                          op < spec->n_inputs ? "in" : "out", "bytes", sizes);
  if (operand->is_index) {
    json_object_set_new(doc, "limits", limits);
    json_object_set_new(doc, "index_bytes", json_integer(operand->record.bytes));
  } else {
    json_decref(limits);
  }
  return doc;
}

static json_t *extents_json(const sct_spec *spec, int size) {
  json_t *doc = json_array();
  for (int k = 0; k < spec->n_extents; k++) {
    json_array_append_new(doc, json_integer(spec->sizes[size].extent[k]));
  }
  return doc;
}

static json_t *issues_json(const sct_advice *issues, int n) {
  json_t *list = json_array();
  for (int k = 0; k < n; k++) {
    json_array_append_new(list, cli_issue_json(&issues[k]));
  }
  return list;
}

static json_t *good_json(const char *path, const sct_spec *spec, const char *hash) {
  json_t *operands = json_array(), *sizes = json_array();
  json_t *arrays = json_array(), *extents = json_array(), *scalars = json_array();
  for (int k = 0; k < spec->n_operands; k++) {
    json_array_append_new(operands, sct_json_string(spec->operands[k].name));
    json_array_append_new(arrays, array_json(spec, k));
  }
  for (int k = 0; k < spec->n_sizes; k++) {
    json_array_append_new(sizes, sct_json_string(spec->sizes[k].label));
    json_array_append_new(extents, extents_json(spec, k));
  }
  for (int k = 0; k < spec->n_scalars; k++) {
    json_array_append_new(scalars, sct_json_string(spec->scalars[k].name));
  }
  return json_pack("{s:o, s:b, s:o, s:s, s:o, s:o, s:o, s:o, s:o}", "spec", sct_json_string(path),
                   "ok", 1, "name", sct_json_string(spec->name), "hash", hash, "operands", operands,
                   "sizes", sizes, "arrays", arrays, "scalars", scalars, "extents", extents);
}

/* Does the body say this name? */
static bool says(const sct_spec *spec, const char *name) {
  const size_t n = strlen(name);
  for (const char *at = strstr(spec->body, name); at; at = strstr(at + 1, name)) {
    const bool begins = at == spec->body || (!isalnum((unsigned char)at[-1]) && at[-1] != '_');
    if (begins && !isalnum((unsigned char)at[n]) && at[n] != '_') {
      return true;
    }
  }
  return false;
}

/* Inputs and scalars that nothing reads: the body goes without them, a launch is given them. */
static json_t *unused_json(const sct_spec *spec) {
  json_t *list = json_array();
  for (int k = 0; k < spec->n_inputs; k++) {
    const sct_operand *op = &spec->operands[k];
    bool used = op->is_index || (sct_spec_is_ragged(spec) && spec->ragged.offsets == k);
    for (int f = 0; f < op->record.n_fields; f++) {
      used = used || op->used[f];
    }
    if (!used) {
      json_array_append_new(list, sct_json_string(op->name));
    }
  }
  for (int k = 0; k < spec->n_scalars; k++) {
    if (!says(spec, spec->scalars[k].name)) {
      json_array_append_new(list, sct_json_string(spec->scalars[k].name));
    }
  }
  return list;
}

#define MOST_BYTES 0x1p40 /* more than the memory of any GPU */

/* Sizes whose arrays no GPU holds: a spec of them may be right, and nothing can be launched. */
static json_t *too_large_json(const sct_spec *spec) {
  json_t *list = json_array();
  for (int z = 0; z < spec->n_sizes; z++) {
    double bytes = 0;
    for (int op = 0; op < spec->n_operands; op++) {
      double least = 0;
      for (int l = 0; l < spec->operands[op].n_layouts; l++) {
        const double one = (double)sct_spec_bytes(spec, op, l, &spec->sizes[z]);
        least = l == 0 || one < least ? one : least;
      }
      bytes += least;
    }
    if (bytes > MOST_BYTES) {
      json_array_append_new(list,
                            json_pack("{s:o, s:o}", "size", sct_json_string(spec->sizes[z].label),
                                      "bytes", sct_json_number(bytes)));
    }
  }
  return list;
}

static json_t *bad_json(const char *path, sct_status status, const sct_error *err) {
  json_t *doc = cli_json_error(status, err->text);
  json_object_set_new(doc, "spec", sct_json_string(path));
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
  SCT_SCOPED(sct_arena) arena = {0};
  sct_advice *issues = NULL;
  const int n =
      spec.n_sizes > 0 ? sct_model_layout_issues(&issues, &spec, NULL, &spec.sizes[0], &arena) : 0;
  json_t *doc = good_json(path, &spec, hash);
  json_object_set_new(doc, "issues", issues_json(issues, n));
  json_object_set_new(doc, "too_large", too_large_json(&spec));
  json_object_set_new(doc, "unused", unused_json(&spec));
  if (args->json) {
    json_array_append_new(documents, doc);
  } else {
    status = cli_show(args, "sectile.show", "check", doc, cli_output_style(args), err);
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
