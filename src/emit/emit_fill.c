/* Fills the templates of a header, templates/header. They are written like those of kernels
 * (docs/strategies.md): text with holes, and lines of Lua that begin with `//%`. This module sees
 * no Lua, so it knows only this much of it:
 *
 *   $(name)  $(item.name)              a text or a number
 *   $(join(list, "n_%s < 0", " || "))  every item in place of %s; left out: "%s" and ", "
 *   //% for _, item in ipairs(list) do
 *   //% if name then                   or `if not name then`, `if #list > 0 then`
 *   //% else
 *   //% end
 *
 * Where a hole stands says what its text may do. In a comment (`//`, in Python `#`) it stays on its
 * line, between quotes it stays in the literal. Elsewhere it is code: a name or an expression that
 * was checked (emit_json.c), or a kernel. */
#include "emit/emit_internal.h"

#include <string.h>

enum { MAX_LOOPS = 8, MAX_NAME = 64 };

typedef enum context { CODE, LITERAL, COMMENT } context;
typedef enum ending { END_OF_FILE, END_OF_BLOCK, ELSE } ending;

typedef struct place {
  const char *at; /* the next line */
  int line;       /* the current one, from 1 */
} place;

typedef struct filler {
  sct_str *out;
  const char *file;
  const char *comment; /* how one begins */
  place here;
  const json_t *data;
  struct {
    char name[MAX_NAME];
    const json_t *value;
  } loops[MAX_LOOPS];
  int n_loops;
  sct_error *err;
} filler;

static sct_status wrong(const filler *f, const char *what, const char *text, size_t n) {
  return sct_fail(f->err, SCT_ESPEC, "%s:%d: error: %s\n  %.*s", f->file, f->here.line, what,
                  (int)n, text);
}

/* ---- values ---- */

static const json_t *find_first(const filler *f, const char *name) {
  for (int k = f->n_loops - 1; k >= 0; k--) {
    if (strcmp(f->loops[k].name, name) == 0) {
      return f->loops[k].value;
    }
  }
  return json_object_get(f->data, name);
}

/* The value of "item.name". */
static sct_status find(const json_t **out, const filler *f, const char *path, size_t n) {
  const char *end = path + n;
  *out = NULL;
  for (const char *at = path; at < end; at++) {
    char name[MAX_NAME];
    size_t part = 0;
    while (at + part < end && at[part] != '.') {
      part++;
    }
    snprintf(name, sizeof name, "%.*s", (int)part, at);
    *out = at == path ? find_first(f, name) : json_object_get(*out, name);
    if (*out == NULL) {
      break;
    }
    at += part;
  }
  return *out != NULL ? SCT_OK : wrong(f, "no value has this name", path, n);
}

static void put(sct_str *out, context where, const json_t *value) {
  const char *text = json_string_value(value);
  if (json_is_integer(value)) {
    sct_str_append_int(out, json_integer_value(value));
  } else if (json_is_real(value)) {
    emit_number(out, json_real_value(value));
  } else if (text != NULL && where == COMMENT) {
    emit_comment(out, text);
  } else if (text != NULL && where == LITERAL) {
    emit_string(out, text);
  } else if (text != NULL) {
    sct_str_append(out, text);
  }
}

/* ---- holes ---- */

static void put_formatted(sct_str *out, context where, const char *format, const json_t *item) {
  for (const char *at = format; *at != '\0'; at++) {
    if (sct_has_prefix(at, "%s")) {
      put(out, where, item);
      at++;
    } else {
      sct_str_append_n(out, at, 1);
    }
  }
}

static sct_status put_joined(const filler *f, context where, const char *hole, size_t n) {
  char text[256], list[MAX_NAME], format[128] = "%s", between[MAX_NAME] = ", ";
  const json_t *items = NULL;
  snprintf(text, sizeof text, "%.*s", (int)n, hole);
  const int read =
      sscanf(text, "join(%63[a-z_.], \"%127[^\"]\", \"%63[^\"]", list, format, between);
  if (read < 1) {
    return wrong(f, "expected join(list, \"format\", \"separator\")", hole, n);
  }
  if (sct_has_suffix(text, ", \"\")")) {
    between[0] = '\0';
  }
  SCT_TRY(find(&items, f, list, strlen(list)));
  for (size_t k = 0; k < json_array_size(items); k++) {
    sct_str_append(f->out, k > 0 ? between : "");
    put_formatted(f->out, where, format, json_array_get(items, k));
  }
  return SCT_OK;
}

static sct_status put_hole(const filler *f, context where, const char *hole, size_t n) {
  if (n > 5 && strncmp(hole, "join(", 5) == 0) {
    return put_joined(f, where, hole, n);
  }
  const json_t *value = NULL;
  SCT_TRY(find(&value, f, hole, n));
  put(f->out, where, value);
  return SCT_OK;
}

static sct_status put_line(const filler *f, const char *line, size_t n) {
  context where = CODE;
  for (size_t k = 0; k < n; k++) {
    if (line[k] == '$' && k + 1 < n && line[k + 1] == '(') {
      const char *hole = line + k + 2;
      const size_t length = sct_hole_length(hole, n - k - 2);
      if (length == n - k - 2) {
        return wrong(f, "'$(' without its ')' on the same line", line, n);
      }
      SCT_TRY(put_hole(f, where, hole, length));
      k += 2 + length;
      continue;
    }
    if (where == CODE && sct_has_prefix(line + k, f->comment)) {
      where = COMMENT;
    } else if (where != COMMENT && line[k] == '"') {
      where = where == CODE ? LITERAL : CODE;
    }
    sct_str_append_n(f->out, line + k, 1);
  }
  while (where == COMMENT && f->out->data[f->out->len - 1] == ' ') {
    f->out->data[--f->out->len] = '\0';
  }
  sct_str_append(f->out, "\n");
  return SCT_OK;
}

/* ---- lines of Lua ---- */

static sct_status fill_block(filler *f, bool shown, ending *how);

/* The lines from here to `end`. */
static sct_status fill_body(filler *f, bool shown, const char *code) {
  ending how = END_OF_FILE;
  SCT_TRY(fill_block(f, shown, &how));
  return how == END_OF_BLOCK ? SCT_OK : wrong(f, "expected an end of", code, strlen(code));
}

static sct_status fill_loop(filler *f, const char *code, bool shown) {
  char name[MAX_NAME], list[MAX_NAME], rest[8] = "";
  const json_t *items = NULL;
  if (sscanf(code, " for _, %63[a-z_] in ipairs(%63[a-z_.]) %7s", name, list, rest) != 3 ||
      strcmp(rest, "do") != 0 || f->n_loops == MAX_LOOPS) {
    return wrong(f, "expected for _, NAME in ipairs(LIST) do", code, strlen(code));
  }
  if (shown) {
    SCT_TRY(find(&items, f, list, strlen(list)));
  }
  const size_t n = json_array_size(items);
  const place start = f->here;
  for (size_t k = 0; k < n || k == 0; k++) {
    f->here = start;
    memcpy(f->loops[f->n_loops].name, name, sizeof name);
    f->loops[f->n_loops++].value = json_array_get(items, k);
    SCT_TRY(fill_body(f, n > 0, code));
    f->n_loops--;
  }
  return SCT_OK;
}

/* Whether the condition of an `if` holds: as in Lua all but nil and false do. */
static sct_status holds(bool *out, const filler *f, const char *code) {
  char name[MAX_NAME], rest[8] = "";
  const json_t *value = NULL;
  const bool negated = sscanf(code, " if not %63[a-z_.] %7s", name, rest) == 2;
  const bool counted = !negated && sscanf(code, " if #%63[a-z_.] > 0 %7s", name, rest) == 2;
  if ((!negated && !counted && sscanf(code, " if %63[a-z_.] %7s", name, rest) != 2) ||
      strcmp(rest, "then") != 0) {
    return wrong(f, "expected if NAME, if not NAME or if #LIST > 0, then", code, strlen(code));
  }
  SCT_TRY(find(&value, f, name, strlen(name)));
  *out = counted ? json_array_size(value) > 0 : json_is_false(value) == negated;
  return SCT_OK;
}

static sct_status fill_branches(filler *f, const char *code, bool shown) {
  bool first = false;
  ending how = END_OF_FILE;
  if (shown) {
    SCT_TRY(holds(&first, f, code));
  }
  SCT_TRY(fill_block(f, shown && first, &how));
  if (how == ELSE) {
    return fill_body(f, shown && !first, code);
  }
  return how == END_OF_BLOCK ? SCT_OK : wrong(f, "expected an end of", code, strlen(code));
}

/* Lines up to the end of the block; those that are not `shown` are only read over. */
static sct_status fill_block(filler *f, bool shown, ending *how) {
  while (*f->here.at != '\0') {
    const char *line = f->here.at;
    const size_t n = strcspn(line, "\n");
    char code[256];
    char word[8] = "";
    f->here.at += n + (line[n] == '\n');
    f->here.line++;
    if (!sct_has_prefix(line, "//%")) {
      SCT_TRY(shown ? put_line(f, line, n) : SCT_OK);
      continue;
    }
    snprintf(code, sizeof code, "%.*s", (int)n - 3, line + 3);
    (void)sscanf(code, " %7s", word);
    if (strcmp(word, "end") == 0 || strcmp(word, "else") == 0) {
      *how = word[1] == 'n' ? END_OF_BLOCK : ELSE;
      return SCT_OK;
    }
    SCT_TRY(strcmp(word, "for") == 0 ? fill_loop(f, code, shown) : fill_branches(f, code, shown));
  }
  *how = END_OF_FILE;
  return SCT_OK;
}

sct_status emit_fill(sct_str *out, const char *file, const json_t *data, sct_error *err) {
  SCT_SCOPED(sct_str) text = {0};
  sct_status status = SCT_OK;
  ending how = END_OF_FILE;
  filler f = {.out = out, .file = file, .data = data, .err = err};
  f.comment = sct_has_suffix(file, ".py") ? "#" : "//";
  SCT_TRY(sct_asset_read(&text, file, err));
  f.here.at = sct_str_c(&text);
  SCT_TRY(fill_block(&f, true, &how));
  if (how != END_OF_FILE) {
    status = wrong(&f, "nothing is open here", how == ELSE ? "else" : "end", 4);
  }
  return status;
}
