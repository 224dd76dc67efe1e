/* The commands `init` and `examples`: Lua files that travel inside the program. */
#include "cli/cli_internal.h"

#include <string.h>

#define STARTER  "templates/starter/"
#define EXAMPLES "tuning/kernels/"

/* ---- writing ---- */

static void path_in(sct_str *out, const char *directory, const char *asset) {
  sct_str_clear(out);
  sct_str_printf(out, "%s/%s", directory, sct_path_basename(asset));
}

/* Writes assets into a directory; nothing at all if one of the files exists. */
static sct_status write_assets(const cli_args *args, const char *directory,
                               const char *const *assets, int n, sct_error *err) {
  SCT_SCOPED(sct_str) path = {0}, text = {0};
  for (int k = 0; k < n; k++) {
    path_in(&path, directory, assets[k]);
    if (sct_file_exists(sct_str_c(&path))) {
      return sct_fail(err, SCT_EUSAGE, "'%s' exists and is left alone; nothing was written",
                      sct_str_c(&path));
    }
  }
  SCT_TRY(sct_dir_make(directory, err));
  for (int k = 0; k < n; k++) {
    path_in(&path, directory, assets[k]);
    SCT_TRY(sct_asset_read(&text, assets[k], err));
    SCT_TRY(sct_file_write(sct_str_c(&path), sct_str_c(&text), text.len, err));
    if (!args->json) {
      cli_note(args, "wrote %s", sct_str_c(&path));
    }
  }
  return SCT_OK;
}

static sct_status print_written(const char *directory, const char *const *assets, int n,
                                sct_error *err) {
  json_t *files = json_array();
  SCT_SCOPED(sct_str) path = {0};
  for (int k = 0; k < n; k++) {
    path_in(&path, directory, assets[k]);
    json_array_append_new(files, sct_json_string(sct_str_c(&path)));
  }
  return cli_json_print(json_pack("{s:o}", "files", files), err);
}

/* ---- init ---- */

sct_status cli_init(const cli_args *args, sct_error *err) {
  const char *directory = args->n_words > 0 ? args->words[0] : ".";
  SCT_SCOPED(sct_arena) arena = {0};
  int n = 0;
  const char **files = sct_asset_names(&n, &arena, STARTER, ".lua");
  SCT_TRY(write_assets(args, directory, files, n, err));
  if (args->json) {
    return print_written(directory, files, n, err);
  }
  SCT_SCOPED(sct_str) text = {0}, in = {0};
  if (strcmp(directory, ".") != 0) {
    sct_str_printf(&in, "%s/", directory);
  }
  sct_str_printf(&text,
                 "Next:\n"
                 "  sectile check %smy_kernel.lua\n"
                 "  sectile tune %smy_kernel.lua --budget 60s\n"
                 "  sectile emit %smy_kernel.lua -o my_kernel.h\n",
                 sct_str_c(&in), sct_str_c(&in), sct_str_c(&in));
  return cli_print(&text, err);
}

/* ---- examples ---- */

/* Their assets: "tuning/kernels/shifted.lua". */
typedef struct example_list {
  sct_arena arena;
  const char **assets;
  int n;
} example_list;

static example_list examples(void) {
  example_list list = {0};
  list.assets = sct_asset_names(&list.n, &list.arena, EXAMPLES, ".lua");
  return list;
}

static void example_list_free(example_list *list) {
  sct_arena_free(&list->arena);
}

/* "tuning/kernels/shifted.lua" to "shifted" */
static const char *short_name(sct_arena *arena, const char *asset) {
  const char *base = sct_path_basename(asset);
  return sct_arena_strndup(arena, base, strlen(base) - strlen(".lua"));
}

/* The first paragraph of the comment that opens a Lua file, as one line. */
static const char *description(sct_arena *arena, const char *text) {
  SCT_SCOPED(sct_str) line = {0};
  while (sct_has_prefix(text, "--")) {
    const char *words = text + strspn(text, "- ");
    const size_t n = strcspn(words, "\n");
    if (n == 0) {
      break;
    }
    sct_str_append(&line, line.len > 0 ? " " : "");
    sct_str_append_n(&line, words, n);
    text = words + n + (words[n] == '\n');
  }
  return sct_arena_strdup(arena, sct_str_c(&line));
}

static sct_status print_list(const cli_args *args, example_list *list, sct_error *err) {
  SCT_OWNED_PTR(json_t) doc = json_array();
  SCT_SCOPED(sct_str) text = {0};
  for (int k = 0; k < list->n; k++) {
    SCT_TRY(sct_asset_read(&text, list->assets[k], err));
    const char *name = short_name(&list->arena, list->assets[k]);
    const char *doc_line = description(&list->arena, sct_str_c(&text));
    json_array_append_new(doc, json_pack("{s:o, s:o}", "name", sct_json_string(name), "doc",
                                         sct_json_string(doc_line)));
  }
  return cli_show(args, "sectile.show", "examples", json_pack("{s:O}", "examples", doc),
                  cli_output_style(args), err);
}

static sct_status find_example(const char **out, example_list *list, const char *name,
                               sct_error *err) {
  const char **names = SCT_ARENA_NEW(&list->arena, const char *, list->n + 1);
  for (int k = 0; k < list->n; k++) {
    names[k] = short_name(&list->arena, list->assets[k]);
    if (strcmp(names[k], name) == 0 || strcmp(sct_path_basename(list->assets[k]), name) == 0) {
      *out = list->assets[k];
      return SCT_OK;
    }
  }
  SCT_SCOPED(sct_str) text = {0};
  sct_str_printf(&text, "no example is called '%s'", name);
  sct_str_suggest(&text, name, SCT_NAMES(names, list->n));
  return sct_fail(err, SCT_EUSAGE, "%s", sct_str_c(&text));
}

sct_status cli_hint_example(sct_status status, const char *word, sct_error *err) {
  SCT_SCOPED(example_list) list = examples();
  const char *asset = NULL;
  if (status != SCT_EIO || !err || sct_file_exists(word)) {
    return status;
  }
  if (find_example(&asset, &list, sct_path_basename(word), NULL) == SCT_OK) {
    const sct_error before = *err;
    const char *name = short_name(&list.arena, asset);
    (void)sct_fail(err, status, "%s; the built-in example of this name: `sectile examples %s -o .`",
                   before.text, name);
  }
  return status;
}

static sct_status print_example(const cli_args *args, const char *asset, sct_error *err) {
  SCT_SCOPED(sct_str) text = {0};
  sct_status status = sct_asset_read(&text, asset, err);
  if (status == SCT_OK && !args->json) {
    return cli_print(&text, err);
  }
  if (status == SCT_OK) {
    status =
        cli_json_print(json_pack("{s:o, s:o}", "file", sct_json_string(sct_path_basename(asset)),
                                 "text", sct_json_string(sct_str_c(&text))),
                       err);
  }
  return status;
}

/* The CUDA file of the same name that goes with some specs; NULL: there is none. */
static const char *cuda_of(sct_arena *arena, const char *spec) {
  SCT_SCOPED(sct_str) text = {0};
  const char *cuda = sct_arena_printf(arena, "%.*scu", (int)(strlen(spec) - strlen("lua")), spec);
  return sct_asset_read(&text, cuda, NULL) == SCT_OK ? cuda : NULL;
}

sct_status cli_examples(const cli_args *args, sct_error *err) {
  SCT_SCOPED(example_list) list = examples();
  const char *one = NULL;
  if (args->n_words > 0) {
    SCT_TRY(find_example(&one, &list, args->words[0], err));
  }
  if (!args->out) {
    return one ? print_example(args, one, err) : print_list(args, &list, err);
  }
  const char **files = SCT_ARENA_NEW(&list.arena, const char *, 2 * list.n + 1);
  int n = 0;
  for (int k = 0; k < list.n; k++) {
    const char *spec = list.assets[k];
    const char *cuda = cuda_of(&list.arena, spec);
    const bool wanted = !one || one == spec;
    files[n] = spec;
    n += wanted;
    files[n] = cuda;
    n += wanted && cuda != NULL;
  }
  SCT_TRY(write_assets(args, args->out, files, n, err));
  return args->json ? print_written(args->out, files, n, err) : SCT_OK;
}
