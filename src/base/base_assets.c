/* Assets: Lua files and templates embedded at build time, with a directory that may override them.
 */
#include "base/base.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct sct_asset_entry {
  const char *name;
  const unsigned char *data;
  size_t n;
};
extern const struct sct_asset_entry sct_asset_table[]; /* written by cmake/embed.cmake, sorted */
extern const int sct_asset_count;

static char override_directory[4096];

void sct_assets_override(const char *directory) {
  snprintf(override_directory, sizeof override_directory, "%s", directory ? directory : "");
}

/* A regular file, so that reading it ends; names are ours, but templates' come from strategies. */
static bool is_override(const char *path, const char *name) {
  struct stat st;
  return !strstr(name, "..") && stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

sct_status sct_asset_read(sct_str *out, const char *name, sct_error *err) {
  sct_str_clear(out);
  if (override_directory[0]) {
    SCT_SCOPED(sct_str) path = {0};
    sct_str_printf(&path, "%s/%s", override_directory, name);
    const bool there = is_override(sct_str_c(&path), name);
    const sct_status status = there ? sct_file_read(out, sct_str_c(&path), err) : SCT_OK;
    if (there) {
      return status;
    }
  }
  const sct_names known = SCT_NAMES_IN(sct_asset_table, sct_asset_count, name);
  const int k = sct_names_find(known, name);
  if (k >= 0) {
    sct_str_append_n(out, (const char *)sct_asset_table[k].data, sct_asset_table[k].n);
    return SCT_OK;
  }
  const char *near = sct_nearest(name, known);
  return sct_fail(err, SCT_EIO, "no asset named '%s'%s%s%s%s%s", name,
                  override_directory[0] ? ", neither embedded nor in " : " is embedded",
                  override_directory, near ? "; did you mean '" : "", near ? near : "",
                  near ? "'?" : "");
}

/* ---- listing: embedded names and those of the override directory, merged
 * ---------------------------- */

typedef struct name_list {
  sct_arena *arena;
  const char *prefix, *suffix;
  const char **names;
  size_t n, cap;
} name_list;

static void list_add(name_list *list, const char *name) {
  if (sct_has_prefix(name, list->prefix) && sct_has_suffix(name, list->suffix) &&
      sct_names_find(SCT_NAMES(list->names, (int)list->n), name) < 0) {
    SCT_GROW(list->names, list->n, list->cap);
    list->names[list->n++] = sct_arena_strdup(list->arena, name);
  }
}

static void list_directory(name_list *list, const char *directory) {
  SCT_SCOPED(sct_str) path = {0};
  sct_str_printf(&path, "%s/%s", override_directory, directory);
  DIR *dir = sct_opendir(sct_str_c(&path));
  for (struct dirent *e = dir ? readdir(dir) : NULL; e; e = readdir(dir)) {
    if (e->d_name[0] == '.') {
      continue;
    }
    SCT_SCOPED(sct_str) name = {0}, full = {0};
    sct_str_printf(&name, "%s%s%s", directory, directory[0] ? "/" : "", e->d_name);
    sct_str_printf(&full, "%s/%s", override_directory, sct_str_c(&name));
    struct stat st;
    if (stat(sct_str_c(&full), &st) == 0 && S_ISREG(st.st_mode)) {
      list_add(list, sct_str_c(&name));
    }
  }
  if (dir) {
    closedir(dir);
  }
}

const char **sct_asset_names(int *n, sct_arena *arena, const char *prefix, const char *suffix) {
  name_list list = {.arena = arena, .prefix = prefix, .suffix = suffix};
  for (int k = 0; k < sct_asset_count; k++) {
    list_add(&list, sct_asset_table[k].name);
  }
  if (override_directory[0]) { /* a prefix names one directory: "tuning/strategies/" */
    SCT_SCOPED(sct_str) directory = {0};
    const char *slash = strrchr(prefix, '/');
    sct_str_append_n(&directory, prefix, slash ? (size_t)(slash - prefix) : 0);
    list_directory(&list, sct_str_c(&directory));
  }
  sct_sort_texts(list.names, list.n);
  const char **names = SCT_ARENA_NEW(arena, const char *, list.n + 1);
  for (size_t k = 0; k < list.n; k++) {
    names[k] = list.names[k];
  }
  sct_free(list.names);
  *n = (int)list.n;
  return names;
}
