/* compile_log - NVRTC's log, read for figures and rewritten for people.
 *
 * A unit's text stands after `#line 1 "/u<hash>"`, so the compiler's messages already count the
 * unit's own lines. ptxas knows only lines of PTX: the .loc before that line gives the source line.
 */
#include "compile/compile_internal.h"

#include <stdlib.h>
#include <string.h>

/* ---- lines */

typedef struct text_line {
  const char *at;
  size_t len; /* without the newline */
} text_line;

/* Steps through `*rest` line by line; false at the end. */
static bool next_line(const char **rest, text_line *out) {
  if (*rest == NULL || **rest == '\0') {
    return false;
  }
  const char *const end = strchr(*rest, '\n');
  out->at = *rest;
  out->len = end != NULL ? (size_t)(end - *rest) : strlen(*rest);
  *rest = end != NULL ? end + 1 : NULL;
  return true;
}

static const char *find_in(text_line line, const char *what) {
  return memmem(line.at, line.len, what, strlen(what));
}

/* The number that ends right before `word` ("... 12 bytes spill loads"), or -1 without it. */
static int number_before(text_line line, const char *word) {
  const char *at = find_in(line, word);
  if (at == NULL || at == line.at || at[-1] < '0' || at[-1] > '9') {
    return -1;
  }
  while (at > line.at && at[-1] >= '0' && at[-1] <= '9') {
    --at;
  }
  return (int)strtol(at, NULL, 10);
}

/* What follows `word`: to the closing quote if it opens with one, else to the end of the line. */
static text_line name_after(text_line line, const char *word) {
  const char *const at = find_in(line, word);
  text_line name = {line.at, 0};
  if (at == NULL) {
    return name;
  }
  name.at = at + strlen(word);
  name.at += *name.at == '\'';
  const char *const end = line.at + line.len;
  while (name.at + name.len < end && name.at[name.len] != '\'') {
    ++name.len;
  }
  return name;
}

/* ---- figures */

static bool line_is(text_line name, const char *text) {
  return strlen(text) == name.len && memcmp(name.at, text, name.len) == 0;
}

/* The unit that a function belongs to: by its entry, else by its namespace inside a mangled name.
 */
static sct_compile_item *owner(text_line name, sct_compile_item **units, int n,
                               sct_compile_item *otherwise) {
  for (int i = 0; i < n; ++i) {
    if (line_is(name, units[i]->out->entry)) {
      return units[i];
    }
  }
  for (int i = 0; i < n; ++i) {
    if (!units[i]->alone && find_in(name, units[i]->space) != NULL) {
      return units[i];
    }
  }
  return otherwise;
}

static void add_frame(sct_compiled *out, text_line line, bool is_entry) {
  const int frame = number_before(line, " bytes stack frame");
  const int stores = number_before(line, " bytes spill stores");
  const int loads = number_before(line, " bytes spill loads");
  if (is_entry && frame > out->stack_bytes) {
    out->stack_bytes = frame;
  }
  out->spill_store_bytes += stores > 0 ? stores : 0;
  out->spill_load_bytes += loads > 0 ? loads : 0;
}

static void add_usage(sct_compiled *out, text_line line) {
  const char *const used = find_in(line, "Used ");
  const int stack = number_before(line, " bytes cumulative stack size");
  const int shared = number_before(line, " bytes smem");
  out->registers = (int)strtol(used + 5, NULL, 10);
  out->stack_bytes = stack > out->stack_bytes ? stack : out->stack_bytes;
  out->static_shared_bytes = shared > 0 ? shared : 0;
}

/* ptxas says, for each entry: "Compiling entry function 'NAME'", "Function properties for NAME", a
 * line of frame and spills, "Used N registers, ...", and then the properties of the functions it
 * calls. Their spills count for the kernel too. */
void sct_compile_log_resources(const char *log, sct_compile_item **units, int n) {
  sct_compile_item *entry = NULL; /* being compiled */
  sct_compile_item *function = NULL;
  text_line name = {0};
  text_line line;
  while (next_line(&log, &line)) {
    if (find_in(line, "Compiling entry function ") != NULL) {
      entry = owner(name_after(line, "Compiling entry function "), units, n, NULL);
    } else if (find_in(line, "Function properties for ") != NULL) {
      name = name_after(line, "Function properties for ");
      function = owner(name, units, n, entry);
    } else if (find_in(line, " bytes stack frame") != NULL && function != NULL) {
      add_frame(function->out, line, line_is(name, function->out->entry));
    } else if (find_in(line, "Used ") != NULL && find_in(line, " registers") != NULL &&
               entry != NULL) {
      add_usage(entry->out, line);
    }
  }
}

/* ---- ptxas' errors */

/* The text between quotes in `.file 2 "/u..."` with that number, or an empty line. */
static text_line ptx_file(const char *ptx, long number) {
  text_line line;
  text_line found = {"", 0};
  while (next_line(&ptx, &line)) {
    const char *const at = find_in(line, ".file");
    if (at == NULL || strtol(at + 5, NULL, 10) != number) {
      continue;
    }
    const char *const open = memchr(line.at, '"', line.len);
    if (open == NULL) {
      continue;
    }
    const char *const close = memchr(open + 1, '"', (size_t)(line.at + line.len - open - 1));
    if (close != NULL) {
      found.at = open + 1;
      found.len = (size_t)(close - open - 1);
    }
  }
  return found;
}

/* Source file number and line of PTX line `number`: those of the last .loc before it. */
static bool ptx_place(const char *ptx, long number, long *file, long *source_line) {
  text_line line;
  bool found = false;
  for (long i = 1; i <= number && next_line(&ptx, &line); ++i) {
    const char *const at = find_in(line, ".loc\t");
    if (at == NULL) {
      continue;
    }
    char *rest = NULL;
    *file = strtol(at + 5, &rest, 10);
    *source_line = strtol(rest, NULL, 10);
    found = true;
  }
  return found;
}

void sct_compile_log_resolve(sct_str *out, const char *log, const char *ptx) {
  static const char marker[] = "ptxas application ptx input, line ";
  text_line line;
  while (next_line(&log, &line)) {
    long file = 0;
    long source_line = 0;
    const char *const text = memchr(line.at, ';', line.len);
    if (ptx != NULL && text != NULL && sct_has_prefix(line.at, marker) &&
        ptx_place(ptx, strtol(line.at + sizeof(marker) - 1, NULL, 10), &file, &source_line)) {
      const text_line name = ptx_file(ptx, file);
      const char *const colon = memchr(text, ':', (size_t)(line.at + line.len - text));
      if (name.len > 0 && colon != NULL) {
        sct_str_append_n(out, name.at, name.len);
        sct_str_printf(out, "(%ld): error:%.*s\n", source_line,
                       (int)(line.at + line.len - colon - 1), colon + 1);
        continue;
      }
    }
    sct_str_append_n(out, line.at, line.len);
    sct_str_append(out, "\n");
  }
}

static bool is_error(text_line line) {
  return find_in(line, "error") != NULL || find_in(line, "fatal") != NULL;
}

bool sct_compile_log_blames(const char *log, const sct_compile_item *unit) {
  text_line line;
  while (next_line(&log, &line)) {
    if (is_error(line) && find_in(line, unit->space) != NULL) {
      return true;
    }
  }
  return false;
}

/* ---- for people */

static int count_lines(const char *source) {
  int n = 0;
  text_line line;
  while (next_line(&source, &line)) {
    ++n;
  }
  return n > 0 ? n : 1;
}

/* What a reader of one unit has no use for: figures, the lookup of the kernel's name, the end of
 * our wrapper, totals. */
static bool is_noise(text_line line) {
  static const char *const noise[] = {"ptxas info ",
                                      "ptxas         .",
                                      "__nv_name_map(",
                                      "#pragma nv_mangled_name",
                                      "Remark: The warnings",
                                      "detected in the compilation of",
                                      "prog.cu("};
  for (int i = 0; i < SCT_COUNT(noise); ++i) {
    if (find_in(line, noise[i]) != NULL) {
      return true;
    }
  }
  return false;
}

/* Copies text without "u<hash>::", the namespace nobody wrote. */
static void append_without_space(sct_str *out, text_line line, const char *space) {
  char qualifier[SCT_NAMESPACE_BYTES + 2];
  (void)snprintf(qualifier, sizeof(qualifier), "%s::", space);
  const size_t n = strlen(qualifier);
  const char *at = find_in(line, qualifier);
  while (at != NULL) {
    sct_str_append_n(out, line.at, (size_t)(at - line.at));
    line.len -= (size_t)(at - line.at) + n;
    line.at = at + n;
    at = find_in(line, qualifier);
  }
  sct_str_append_n(out, line.at, line.len);
  sct_str_append(out, "\n");
}

/* "ptxas fatal   : x" as "error: x": who says it does not matter to the reader. */
static bool append_assembler_error(sct_str *out, text_line line) {
  static const char *const prefix[] = {"ptxas error   : ", "ptxas fatal   : "};
  static const char aborted[] = "Ptx assembly aborted"; /* after the reason */
  for (int i = 0; i < SCT_COUNT(prefix); ++i) {
    if (sct_has_prefix(line.at, prefix[i])) {
      const size_t skip = strlen(prefix[i]);
      if (out->len == 0 || find_in(line, aborted) == NULL) {
        sct_str_printf(out, "error: %.*s\n", (int)(line.len - skip), line.at + skip);
      }
      return true;
    }
  }
  return false;
}

/* "/u<hash>(2): error: x" as "line 2: error: x". Returns the line, 0 if the text names none. */
static int place_of(text_line line, const sct_compile_item *unit, int n_lines, text_line *rest) {
  static const char at_end[] = "At end of source:";
  char prefix[SCT_NAMESPACE_BYTES + 4];
  (void)snprintf(prefix, sizeof(prefix), "/%s(", unit->space);
  *rest = line;
  size_t skip = 0;
  long number = 0;
  if (sct_has_prefix(line.at, prefix)) {
    char *end = NULL;
    number = strtol(line.at + strlen(prefix), &end, 10);
    skip = (size_t)(end - line.at) + 2; /* "):" */
  } else if (sct_has_prefix(line.at, at_end)) {
    number = n_lines;
    skip = sizeof(at_end) - 1;
  }
  if (number < 1 || skip > line.len) {
    return 0;
  }
  rest->at += skip;
  rest->len -= skip;
  return number > n_lines ? n_lines : (int)number;
}

void sct_compile_log_rewrite(sct_str *out, const char *log, const sct_compile_item *unit) {
  const int n_lines = count_lines(unit->in->source);
  bool skipping = false; /* the excerpt and caret below a line that was left out */
  text_line line;
  const bool no_kernel = strstr(log, "__nv_name_map(") != NULL;
  while (next_line(&log, &line)) {
    const bool indented = line.len == 0 || line.at[0] == ' ';
    skipping = indented ? skipping : is_noise(line);
    if (skipping || line.len == 0 || is_noise(line)) {
      continue;
    }
    if (append_assembler_error(out, line)) {
      continue;
    }
    text_line rest;
    const int number = place_of(line, unit, n_lines, &rest);
    if (number > 0) {
      sct_str_printf(out, "line %d:", number);
    }
    append_without_space(out, rest, unit->space);
  }
  if (out->len == 0 && no_kernel) {
    sct_str_printf(out, "error: the source has no __global__ function '%s'\n", unit->in->kernel);
  }
  if (out->len == 0) {
    sct_str_append(out, "error: NVRTC gave no reason\n");
  }
}

/* Length of "FILE" in "FILE(12): text", the shortest there is; 0: no such place. */
static size_t place_file(text_line line, long *number, size_t *after) {
  for (size_t i = 1; i + 1 < line.len; ++i) {
    const char *const digits = line.at + i + 1;
    if (line.at[i] != '(' || *digits < '0' || *digits > '9') {
      continue;
    }
    char *end = NULL;
    *number = strtol(digits, &end, 10);
    if (sct_has_prefix(end, "):")) {
      *after = (size_t)(end - line.at) + 2;
      return i;
    }
  }
  return 0;
}

void sct_compile_log_places(sct_str *out, const char *log) {
  bool skipping = false; /* the excerpt and caret below a line that was left out */
  text_line line;
  while (next_line(&log, &line)) {
    const bool indented = line.len == 0 || line.at[0] == ' ';
    skipping = indented ? skipping : is_noise(line);
    if (skipping || line.len == 0 || append_assembler_error(out, line)) {
      continue;
    }
    long number = 0;
    size_t after = 0;
    const size_t file = indented ? 0 : place_file(line, &number, &after);
    if (file > 0) {
      sct_str_printf(out, "%.*s:%ld:", (int)file, line.at, number);
    }
    sct_str_append_n(out, line.at + after, line.len - after);
    sct_str_append(out, "\n");
  }
  if (out->len == 0) {
    sct_str_append(out, "error: NVRTC gave no reason\n");
  }
}
