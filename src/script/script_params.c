/* script_params - what users give specs from outside: values of parameters, `-p NAME=VALUE`, and
 * more sizes, `--add-size NAME=N,...`. */
#include <string.h>

#include "script/script_internal.h"

#define NAME_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

typedef struct texts {
  int n;
  const char *const *texts;
} texts;

/* for the life of the process, which processes that it forks inherit */
static texts given, more_sizes;

static size_t name_length(const char *text) {
  const size_t n = strspn(text, NAME_LETTERS);
  return text[n] == '=' && !(text[0] >= '0' && text[0] <= '9') ? n : 0;
}

sct_status sct_script_set_params(const char *const *list, int n, sct_error *err) {
  for (int k = 0; k < n; k++) {
    const size_t length = name_length(list[k]);
    if (length == 0) {
      return sct_fail(err, SCT_EUSAGE, "-p '%s': expected NAME=VALUE, such as -p fields=7",
                      list[k]);
    }
    for (int other = 0; other < k; other++) {
      if (strncmp(list[k], list[other], length + 1) == 0) {
        return sct_fail(err, SCT_EUSAGE, "the parameter '%.*s' is given twice", (int)length,
                        list[k]);
      }
    }
  }
  given = (texts){n, list};
  return SCT_OK;
}

void sct_script_show_params(sct_str *out) {
  for (int k = 0; k < given.n; k++) {
    sct_str_append(out, " -p ");
    const char *text = given.texts[k];
    if (text[strspn(text, NAME_LETTERS "=.,:/+-")] == '\0') {
      sct_str_append(out, text);
      continue;
    }
    sct_str_append(out, "'");
    for (const char *at = text; *at != '\0'; at++) {
      sct_str_printf(out, *at == '\'' ? "'\\''" : "%c", *at);
    }
    sct_str_append(out, "'");
  }
}

/* core.given_params() -> the values as text, by name */
int sct_script_core_given_params(lua_State *L) {
  lua_createtable(L, 0, given.n);
  for (int k = 0; k < given.n; k++) {
    const size_t length = name_length(given.texts[k]);
    lua_pushlstring(L, given.texts[k], length);
    lua_pushstring(L, given.texts[k] + length + 1);
    lua_rawset(L, -3);
  }
  return 1;
}

void sct_script_set_sizes(const char *const *list, int n) {
  more_sizes = (texts){n, list};
}

static int64_t most_around;

void sct_script_set_around(int64_t bytes) {
  most_around = bytes;
}

/* core.most_around() -> bytes of all arrays, or nil */
int sct_script_core_most_around(lua_State *L) {
  if (most_around > 0) {
    lua_pushinteger(L, most_around);
  } else {
    lua_pushnil(L);
  }
  return 1;
}

/* core.given_sizes() -> texts */
int sct_script_core_given_sizes(lua_State *L) {
  lua_createtable(L, more_sizes.n, 0);
  for (int k = 0; k < more_sizes.n; k++) {
    lua_pushstring(L, more_sizes.texts[k]);
    lua_rawseti(L, -2, k + 1);
  }
  return 1;
}
