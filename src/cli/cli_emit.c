/* The command `emit`: a kernel header from the store, by spec file or by name. */
#include "cli/cli_internal.h"
#include "emit/emit.h"

#include <string.h>

/* What is asked for: a spec file's name and hash, or a name alone. */
typedef struct wanted {
  sct_spec spec;
  char hash[SCT_HASH_HEX];
  sct_emit_request request;
} wanted;

static bool looks_like_file(const char *word) {
  return sct_has_suffix(word, ".lua") || strchr(word, '/') != NULL;
}

static sct_status read_wanted(wanted *w, const cli_args *args, sct_error *err) {
  const char *word = args->words[0];
  if (!looks_like_file(word)) {
    w->request.name = word;
    return args->params.n == 0
               ? SCT_OK
               : sct_fail(err, SCT_EUSAGE,
                          "-p is for a spec file; '%s' is the name of a kernel in the store, which "
                          "was tuned with its parameters: name the spec, or leave -p out",
                          word);
  }
  SCT_TRY(cli_hint_example(sct_script_try_spec(&w->spec, word, err), word, err));
  sct_hash_hex(w->hash, w->spec.hash);
  w->request = (sct_emit_request){.name = w->spec.name, .spec_hash = w->hash};
  return SCT_OK;
}

/* A name that the store has not is reported with the nearest that it has. */
static sct_status check_name(sct_store *store, const char *name, sct_error *err) {
  sct_arena arena = {0};
  sct_row_problem *rows = NULL;
  int n = 0;
  bool known = false;
  sct_status status = sct_store_problems(store, &arena, &rows, &n, err);
  const char **names = SCT_ARENA_NEW(&arena, const char *, n + 1);
  for (int k = 0; status == SCT_OK && k < n; k++) {
    names[k] = rows[k].name;
    known |= strcmp(rows[k].name, name) == 0;
  }
  if (status == SCT_OK && !known) {
    sct_str text = {0};
    sct_str_printf(&text, "nothing called '%s' is in this store", name);
    if (n > 0) {
      sct_str_suggest(&text, name, names, n);
    }
    status = sct_fail(err, SCT_EDATA, "%s", sct_str_c(&text));
    sct_str_free(&text);
  }
  sct_arena_free(&arena);
  return status;
}

static sct_status deliver(const cli_args *args, sct_store *store, const sct_emit_request *request,
                          sct_error *err) {
  sct_str text = {0};
  sct_status status = SCT_OK;
  if (args->out) {
    SCT_TRY(sct_emit_write(store, request, args->out, err));
    cli_note(args, "wrote %s", args->out);
  } else {
    status = sct_emit_render(&text, store, request, err);
  }
  if (status == SCT_OK && args->json) {
    status = cli_json_print(json_pack("{s:o, s:o, s:o}", "name", sct_json_string(request->name),
                                      "file", sct_json_string(args->out), "header",
                                      args->out ? json_null() : sct_json_string(sct_str_c(&text))),
                            err);
  } else if (status == SCT_OK && !args->out) {
    return cli_print(&text, err);
  }
  sct_str_free(&text);
  return status;
}

sct_status cli_emit(const cli_args *args, sct_error *err) {
  wanted w = {0};
  sct_store *store = NULL;
  sct_status status = SCT_OK;
  if (args->out) {
    const bool reads_file = looks_like_file(args->words[0]);
    SCT_TRY(cli_check_target(args, args->out, (const char *const *)args->words, reads_file ? 1 : 0,
                             err));
  }
  SCT_TRY_DONE(read_wanted(&w, args, err));
  if (args->form) {
    SCT_TRY_DONE(sct_emit_find_form(&w.request.form, args->form, err));
  }
  SCT_TRY_DONE(cli_store_open(&store, args, true, err));
  if (!w.request.spec_hash) {
    SCT_TRY_DONE(check_name(store, w.request.name, err));
  }
  SCT_TRY_DONE(deliver(args, store, &w.request, err));
done:
  if (store) {
    sct_store_close(store);
  }
  sct_spec_free(&w.spec);
  return status;
}
