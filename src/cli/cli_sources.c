/* Lines of source files, for messages and profiles: each file is read once. */
#include "cli/cli_count.h"

#include <string.h>

static const char *text_of(cli_sources *s, const char *path) {
  SCT_SCOPED(sct_str) text = {0};
  sct_error ignored;
  for (size_t k = 0; k < s->n; k++) {
    if (strcmp(s->files[k].path, path) == 0) {
      return s->files[k].text;
    }
  }
  const bool read = path[0] != '\0' && sct_file_read(&text, path, &ignored) == SCT_OK;
  cli_sources_add(s, path, read ? sct_str_c(&text) : "");
  return s->files[s->n - 1].text;
}

void cli_sources_add(cli_sources *s, const char *path, const char *text) {
  SCT_GROW(s->files, s->n, s->cap);
  s->files[s->n].path = sct_arena_strdup(&s->arena, path);
  s->files[s->n++].text = sct_arena_strdup(&s->arena, text);
}

const char *cli_source_line(cli_sources *s, const char *path, int line, size_t most) {
  const char *at = line > 0 ? text_of(s, path) : "";
  for (int k = 1; k < line && *at != '\0'; k++) {
    at += strcspn(at, "\n");
    at += *at == '\n';
  }
  at += strspn(at, " \t");
  size_t n = strcspn(at, "\r\n");
  while (n > 0 && (at[n - 1] == ' ' || at[n - 1] == '\t')) {
    n--;
  }
  return sct_arena_strndup(&s->arena, at, n < most ? n : most);
}

void cli_sources_free(cli_sources *s) {
  sct_free(s->files);
  sct_arena_free(&s->arena);
  *s = (cli_sources){0};
}
