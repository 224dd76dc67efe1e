/* The command `emit`: a kernel header from the store, by spec file or by name. */
#include "cli/cli_internal.h"
#include "compile/compile.h"
#include "emit/emit.h"

#include <string.h>

/* What is asked for: a spec file's name and hash, or a name alone. */
typedef struct wanted {
  sct_spec spec;
  char hash[SCT_HASH_HEX];
  sct_emit_request request;
} wanted;

static void wanted_free(wanted *w) {
  sct_spec_free(&w->spec);
}

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
  w->request = (sct_emit_request){.name = w->spec.name, .spec_hash = w->hash, .host = w->spec.host};
  for (int k = 0; k < w->spec.n_operands && w->spec.host; k++) {
    w->request.stays |= w->spec.operands[k].stays ? UINT32_C(1) << k : 0;
  }
  return SCT_OK;
}

/* A name that the store has not is reported with the nearest that it has. */
static sct_status check_name(sct_store *store, const char *name, sct_error *err) {
  SCT_SCOPED(sct_arena) arena = {0};
  sct_row_problem *rows = NULL;
  int n = 0;
  bool known = false;
  SCT_TRY(sct_store_problems(store, &arena, &rows, &n, err));
  const char **names = SCT_ARENA_NEW(&arena, const char *, n + 1);
  for (int k = 0; k < n; k++) {
    names[k] = rows[k].name;
    known |= strcmp(rows[k].name, name) == 0;
  }
  if (!known) {
    SCT_SCOPED(sct_str) text = {0};
    sct_str_printf(&text, "nothing called '%s' is in this store", name);
    if (n > 0) {
      sct_str_suggest(&text, name, SCT_NAMES(names, n));
    }
    return sct_fail(err, SCT_EDATA, "%s", sct_str_c(&text));
  }
  return SCT_OK;
}

static sct_status print_json(const cli_args *args, const char *name, const sct_emit *header,
                             const sct_str *text, sct_error *err) {
  json_t *doc = sct_emit_rules(header);
  json_object_set_new(doc, "name", sct_json_string(name));
  json_object_set_new(doc, "file", sct_json_string(args->out));
  json_object_set_new(doc, "header", args->out ? json_null() : sct_json_string(sct_str_c(text)));
  return cli_json_print(doc, err);
}

static sct_status deliver(const cli_args *args, const char *name, sct_emit *header,
                          sct_error *err) {
  SCT_SCOPED(sct_str) text = {0};
  SCT_TRY(sct_emit_render(&text, header, err));
  if (args->out) {
    SCT_TRY(sct_file_write(args->out, text.data, text.len, err));
    cli_note(args, "wrote %s", args->out);
  }
  if (args->json) {
    return print_json(args, name, header, &text, err);
  }
  return args->out ? SCT_OK : cli_print(&text, err);
}

/* ---- the files that a header follows from ---- */

/* What make takes for something else and has no way to quote, or quotes otherwise than ninja does;
 * a line break or a semicolon would begin a command. */
static const char *unquotable(const char *path) {
  static const char signs[] = "\\;=%*?[]|&~";
  for (const char *at = path; *at != '\0'; at++) {
    if ((unsigned char)*at < ' ' || *at == 127) {
      return "a control character";
    }
    if (strchr(signs, *at) != NULL) {
      return "one of "
             "\\ ; = % * ? [ ] | & ~";
    }
  }
  return NULL;
}

/* A path as make and ninja read it. */
static sct_status add_path(sct_str *out, const char *path, sct_error *err) {
  const char *bad = unquotable(path);
  if (bad != NULL) {
    SCT_SCOPED(sct_str) shown = {0};
    sct_str_append_printable(&shown, path);
    return sct_fail(err, SCT_EUSAGE,
                    "--deps: a file for make cannot hold the path '%s', which has %s; rename it",
                    sct_str_c(&shown), bad);
  }
  for (const char *at = path; *at != '\0'; at++) {
    sct_str_append(out, *at == '$' ? "$" : strchr(" #:", *at) ? "\\" : "");
    sct_str_append_n(out, at, 1);
  }
  return SCT_OK;
}

/* On a line of its own; nothing for what is no file of the disk, such as a layout that is built in.
 */
static sct_status add_dependency(sct_str *out, const char *path, sct_error *err) {
  if (!sct_file_exists(path)) {
    return SCT_OK;
  }
  sct_str_append(out, " \\\n  ");
  return add_path(out, path, err);
}

/* A CUDA file of the user's, and the files that it includes: of "HOW LINE PATH" each PATH once. */
static sct_status add_own_files(sct_str *out, const sct_own *own, sct_error *err) {
  SCT_SCOPED(sct_str) seen = {0};
  for (const char *line = own->lines; *line != '\0';) {
    const size_t n = strcspn(line, "\n");
    SCT_SCOPED(sct_str) path = {0};
    const char *at = line;
    for (int word = 0; word < 2; word++) {
      at += strcspn(at, " ") + 1;
    }
    sct_str_printf(&path, "\n%.*s\n", (int)(line + n - at), at);
    if (strstr(sct_str_c(&seen), sct_str_c(&path)) == NULL) {
      sct_str_append(&seen, sct_str_c(&path));
      path.data[path.len - 1] = '\0';
      SCT_TRY(add_dependency(out, path.data + 1, err));
    }
    line += n + (line[n] == '\n');
  }
  return SCT_OK;
}

/* "HEADER: SPEC LAYOUT STORE ...", for build systems. */
static sct_status write_deps(const cli_args *args, const sct_spec *spec, sct_error *err) {
  SCT_SCOPED(sct_str) text = {0};
  SCT_TRY(add_path(&text, args->out, err));
  sct_str_append(&text, ":");
  for (int k = 0; k < spec->n_sources; k++) {
    SCT_TRY(add_dependency(&text, spec->sources[k].file, err));
  }
  for (int k = 0; k < spec->n_own; k++) {
    SCT_TRY(add_own_files(&text, &spec->own[k], err));
  }
  if (spec->ragged.lengths_file) {
    SCT_SCOPED(sct_str) path = {0};
    sct_path_dirname(&path, spec->file);
    sct_str_printf(&path, "/%s", spec->ragged.lengths_file);
    SCT_TRY(add_dependency(&text, sct_str_c(&path), err));
  }
  if (args->store) {
    SCT_TRY(add_dependency(&text, args->store, err));
  }
  sct_str_append(&text, "\n");
  return sct_file_write(args->deps, text.data, text.len, err);
}

static sct_status check_deps(const cli_args *args, sct_error *err) {
  if (args->deps && (!args->out || !looks_like_file(args->words[0]))) {
    return sct_fail(err, SCT_EUSAGE,
                    "--deps says which files the header of a spec follows from: name a spec file, "
                    "and the header with -o");
  }
  SCT_SCOPED(sct_str) target = {0};
  if (!args->deps) {
    return SCT_OK;
  }
  SCT_TRY(add_path(&target, args->out, err));
  return cli_check_target(args, args->deps, (const char *const *)args->words, 1, err);
}

/* ---- files next to the header ---- */

/* The module of Python compiles the header with a C compiler, in the form c; a self-test takes its
 * cases from the spec. */
static sct_status check_next_to(const cli_args *args, sct_error *err) {
  const char *const files[] = {args->python, args->selftest};
  for (int k = 0; k < SCT_COUNT(files); k++) {
    const char *const inputs[] = {args->words[0], args->out};
    if (files[k] != NULL && args->out == NULL) {
      return sct_fail(err, SCT_EUSAGE,
                      "--%s writes a file next to the header: name the header with -o",
                      k == 0 ? "python" : "selftest");
    }
    if (files[k] != NULL) {
      SCT_TRY(cli_check_target(args, files[k], inputs, 2, err));
    }
  }
  const bool is_source = args->form != NULL && strcmp(args->form, "c") != 0;
  if (args->python != NULL && is_source) {
    return sct_fail(err, SCT_EUSAGE,
                    "--python compiles the header without nvcc, so its form is c: leave --form %s "
                    "out, or write the header once more under another name",
                    args->form);
  }
  if (args->targets != NULL && is_source) {
    return sct_fail(err, SCT_EUSAGE,
                    "--targets says what kernels are compiled for, which only a header in the form "
                    "c is: leave --form %s out; nvcc has -gencode for the others",
                    args->form);
  }
  if (args->selftest != NULL && !looks_like_file(args->words[0])) {
    return sct_fail(err, SCT_EUSAGE, "--selftest runs the spec's body: name the spec file");
  }
  return SCT_OK;
}

static sct_status write_selftest(const cli_args *args, sct_emit *header, sct_error *err) {
  cli_selftest *test = NULL;
  cli_selftest_new(&test, args->words[0]);
  const sct_emit_tester tester = {test, cli_selftest_make, cli_selftest_tolerance};
  const sct_status status =
      sct_emit_write_selftest(header, args->out, args->selftest, &tester, err);
  cli_selftest_free(test);
  return status;
}

static sct_status write_next_to(const cli_args *args, sct_emit *header, sct_error *err) {
  if (args->python) {
    SCT_TRY(sct_emit_write_python(header, args->out, args->python, err));
    cli_note(args, "wrote %s", args->python);
  }
  if (args->selftest) {
    SCT_TRY(write_selftest(args, header, err));
    cli_note(args, "wrote %s", args->selftest);
  }
  return SCT_OK;
}

/* ---- kernels that are compiled ---- */

static sct_status compile_text(const char *context, sct_emit_code *out, const char *source,
                               const char *arch, const char *const *names, int n, sct_error *err) {
  const sct_compile_opts opts = {.arch = arch, .threads = 1};
  const sct_compile_file file = {context, names, n, source};
  SCT_OWNED_PTR(sct_compiler) compiler = NULL;
  SCT_SCOPED(sct_compiled_file) code = {0};
  SCT_TRY(sct_compiler_new(&compiler, &opts, err));
  SCT_TRY(sct_compiler_file(compiler, &code, &file, err));
  if (!code.ok) {
    return sct_fail(err, SCT_EDATA, "the kernels of the store do not compile for %s:\n%s", arch,
                    code.log ? code.log : "");
  }
  snprintf(out->nvrtc, sizeof out->nvrtc, "%s", sct_compiler_version(compiler));
  sct_str_append_n(&out->cubin, code.cubin, code.cubin_bytes);
  sct_str_append(&out->ptx, code.ptx);
  for (int k = 0; k < code.n_entries; k++) {
    sct_str_printf(&out->entries, "%s\n", code.entries[k]);
  }
  return SCT_OK;
}

sct_status cli_emit(const cli_args *args, sct_error *err) {
  SCT_SCOPED(wanted) w = {0};
  SCT_OWNED_PTR(sct_store) store = NULL;
  SCT_OWNED_PTR(sct_emit) header = NULL;
  SCT_TRY(check_deps(args, err));
  SCT_TRY(check_next_to(args, err));
  if (args->out) {
    const bool reads_file = looks_like_file(args->words[0]);
    SCT_TRY(cli_check_target(args, args->out, (const char *const *)args->words, reads_file ? 1 : 0,
                             err));
  }
  SCT_TRY(read_wanted(&w, args, err));
  if (args->form || args->python || args->targets) {
    SCT_TRY(sct_emit_find_form(&w.request.form, args->form ? args->form : "c", err));
    w.request.compile = compile_text;
    w.request.targets = args->targets;
    w.request.context = "header.cu"; /* in messages and line information */
  }
  SCT_TRY(cli_store_open(&store, args, true, err));
  if (!w.request.spec_hash) {
    SCT_TRY(check_name(store, w.request.name, err));
  }
  SCT_TRY(sct_emit_open(&header, store, &w.request, err));
  SCT_TRY(deliver(args, w.request.name, header, err));
  if (args->deps) {
    SCT_TRY(write_deps(args, &w.spec, err));
  }
  return write_next_to(args, header, err);
}
