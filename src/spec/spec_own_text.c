/* The CUDA text of a kernel that the user has: which kernels it holds and what parameters they
 * have, as far as that can be read without a compiler, and what keeps it out of a header. */
#include <ctype.h>
#include <string.h>

#include "spec/spec_internal.h"

enum { MAX_KERNELS = 64 };

static bool is_word(const char *text, const char *at, const char *word) {
  const size_t n = strlen(word);
  return strncmp(at, word, n) == 0 && !sct_is_word(at[n]) && (at == text || !sct_is_word(at[-1]));
}

/* The next place from `at` on where the word stands, or NULL. */
static const char *find_word(const char *text, const char *at, const char *word) {
  for (at = strstr(at, word); at != NULL && !is_word(text, at, word); at = strstr(at, word)) {
    at++;
  }
  return at;
}

/* An error at a place of the text. */
static sct_status fail_in(const sct_spec *spec, const sct_own *own, int line, sct_error *err,
                          const char *wrong) {
  const char *file = own->cuda;
  int n_file = (int)strlen(file), file_line = 1;
  (void)sct_lines_find(own->lines, line, &file, &n_file, &file_line);
  char *name = sct_arena_printf((sct_arena *)(uintptr_t)&spec->arena, "%.*s", n_file, file);
  return sct_spec_fail_at(spec, err, name, file_line, "%s", wrong);
}

static int line_at(const char *text, const char *at) {
  int line = 1;
  for (; text < at; text++) {
    line += *text == '\n';
  }
  return line;
}

/* ---- kernels ---- */

typedef struct found_kernel {
  const char *name;
  int n_params;
  const char *at;
} found_kernel;

/* Past the bracket that closes the one at `at`. */
static const char *closing(const char *at) {
  int depth = 0;
  for (; *at != '\0'; at++) {
    depth += (*at == '(') - (*at == ')');
    if (depth == 0) {
      return at + 1;
    }
  }
  return at;
}

/* The number of parameters in the list that opens at `at`. */
static int count_params(const char *at) {
  const char *end = closing(at) - 1;
  int n = 0, depth = 0;
  bool some = false;
  for (at++; at < end; at++) {
    depth += (*at == '<' || *at == '(' || *at == '{') - (*at == '>' || *at == ')' || *at == '}');
    some = some || sct_is_word(*at);
    n += *at == ',' && depth == 0;
  }
  return n + some;
}

/* The kernel whose __global__ stands before `at`. */
static bool read_kernel(sct_arena *arena, const char *text, const char *at, found_kernel *out) {
  static const char *const attributes[] = {"__launch_bounds__", "__cluster_dims__", "__maxnreg__",
                                           "__block_size__",    "__attribute__",    "__align__"};
  for (const char *open = strpbrk(at, "(;{"); open != NULL && *open == '(';
       open = strpbrk(closing(open), "(;{")) {
    const char *end = open;
    while (end > at && isspace((unsigned char)end[-1])) {
      end--;
    }
    const char *word = end;
    while (word > at && sct_is_word(word[-1])) {
      word--;
    }
    bool attribute = word == end;
    for (int k = 0; k < SCT_COUNT(attributes); k++) {
      attribute = attribute || is_word(text, word, attributes[k]);
    }
    if (!attribute) {
      *out = (found_kernel){sct_arena_printf(arena, "%.*s", (int)(end - word), word),
                            count_params(open), word};
      return true;
    }
  }
  return false;
}

static int list_kernels(sct_arena *arena, const char *text, found_kernel *list) {
  static const char word[] = "__global__";
  int n = 0;
  for (const char *at = find_word(text, text, word); at != NULL && n < MAX_KERNELS;
       at = find_word(text, at + 1, word)) {
    n += read_kernel(arena, text, at + strlen(word), &list[n]);
  }
  return n;
}

/* "transpose" of "ns::transpose<float, {TILE}>" */
static const char *plain_name(sct_arena *arena, const char *kernel) {
  const size_t n = strcspn(kernel, "< ");
  size_t from = n;
  while (from > 0 && sct_is_word(kernel[from - 1])) {
    from--;
  }
  return sct_arena_printf(arena, "%.*s", (int)(n - from), kernel + from);
}

/* A kernel that macros make is left to the compiler. */
static sct_status check_kernel(sct_spec *spec, sct_own *own, const char *text, sct_error *err) {
  found_kernel list[MAX_KERNELS];
  const char *names[MAX_KERNELS], *wanted = plain_name(&spec->arena, own->kernel);
  const int n = list_kernels(&spec->arena, text, list);
  const found_kernel *same = NULL;
  int n_same = 0;
  for (int k = 0; k < n; k++) {
    names[k] = list[k].name;
    same = strcmp(names[k], wanted) == 0 ? &list[k] : same;
    n_same += strcmp(names[k], wanted) == 0;
  }
  const int line = sct_spec_text_line(spec, spec->file, own->line, own->kernel);
  if (n_same == 0 && !find_word(text, text, wanted)) {
    SCT_SCOPED(sct_str) hint = {0};
    sct_str_suggest(&hint, wanted, SCT_NAMES(names, n));
    return sct_spec_fail_at(spec, err, spec->file, line, "there is no kernel '%s' in '%s'%s",
                            wanted, own->cuda,
                            n > 0 ? sct_str_c(&hint) : "; it has none (__global__ void)");
  }
  if (n_same != 1 || same->n_params == own->n_params) {
    return SCT_OK;
  }
  const char *file = own->cuda;
  int n_file = (int)strlen(file), at = 1;
  (void)sct_lines_find(own->lines, line_at(text, same->at), &file, &n_file, &at);
  return sct_spec_fail_at(spec, err, spec->file,
                          sct_spec_key_line(spec, spec->file, own->line, "args"),
                          "args has %d entries; '%s' takes %d parameters (%.*s:%d)", own->n_params,
                          wanted, same->n_params, n_file, file, at);
}

/* ---- macros ---- */

/* Appends to own->macros, once each. */
static void note_macro(sct_spec *spec, sct_own *own, const char *name, size_t n) {
  if (sct_names_find_n(SCT_NAMES(own->macros, own->n_macros), name, n) >= 0) {
    return;
  }
  const char **grown = SCT_ARENA_NEW(&spec->arena, const char *, own->n_macros + 1);
  memcpy(grown, own->macros ? own->macros : grown, sizeof *grown * (size_t)own->n_macros);
  grown[own->n_macros++] = sct_arena_printf(&spec->arena, "%.*s", (int)n, name);
  own->macros = grown;
}

static void note_directive(sct_spec *spec, sct_own *own, const char *at) {
  const char *line = sct_arena_printf(&spec->arena, "%.*s", (int)strcspn(at, "\n"), at);
  const char *word = line + 1 + strspn(line + 1, " \t");
  if (sct_has_prefix(word, "pragma")) {
    return;
  }
  if (sct_has_prefix(word, "define")) {
    word += strlen("define");
    word += strspn(word, " \t");
    size_t n = 0;
    while (sct_is_word(word[n])) {
      n++;
    }
    note_macro(spec, own, word, n);
  }
  for (int k = 0; k < own->n_axes; k++) {
    own->is_macro[k] = own->is_macro[k] || find_word(line, line, own->axes[k].name) != NULL;
  }
}

static void note_macros(sct_spec *spec, sct_own *own, const char *text) {
  for (int k = 0; k < own->n_axes; k++) {
    own->is_macro[k] = own->axes[k].values[0].is_string;
  }
  for (const char *line = text; *line != '\0'; line += *line == '\n') {
    const char *at = line + strspn(line, " \t");
    if (*at == '#') {
      note_directive(spec, own, at);
    }
    line += strcspn(line, "\n");
  }
}

/* ---- the text ---- */

/* Takes `extern "C"` from functions: a namespace of a header may have several kernels of a name. */
static sct_status drop_linkage(sct_spec *spec, sct_own *own, const char *blank, sct_error *err) {
  char *text = sct_arena_strdup(&spec->arena, own->text);
  char *to = text;
  const char *from = blank;
  for (const char *at = find_word(blank, blank, "extern"); at != NULL;
       at = find_word(blank, at + 1, "extern")) {
    const char *quoted = at + strlen("extern") + strspn(at + strlen("extern"), " \t");
    if (*quoted != '0' || !sct_has_prefix(own->text + (quoted - blank), "\"C\"")) {
      continue;
    }
    const char *end = quoted + 3 + strspn(quoted + 3, " \t");
    if (end[strspn(end, " \t\r\n")] == '{') {
      return fail_in(spec, own, line_at(blank, at), err,
                     "write extern \"C\" before the kernel, or leave it out: a block of it cannot "
                     "stand in a header's namespace");
    }
    memcpy(to, own->text + (from - blank), (size_t)(at - from));
    to += at - from;
    from = end;
  }
  strcpy(to, own->text + (from - blank));
  own->text = text;
  return SCT_OK;
}

static sct_status check_text(sct_spec *spec, sct_own *own, const char *blank, sct_error *err) {
  int line = 1;
  const char *wrong = sct_cuda_structure(blank, true, &line);
  const char *main = find_word(blank, blank, "main");
  if (wrong) {
    const char *said =
        sct_arena_printf(&spec->arena, "a kernel of your own may not hold %s", wrong);
    return fail_in(spec, own, line, err, said);
  }
  if (main && main[strlen("main") + strspn(main + strlen("main"), " \t")] == '(') {
    return fail_in(spec, own, line_at(blank, main), err,
                   "the file has a main; the kernel needs a file of its own, without what only the "
                   "host runs");
  }
  SCT_TRY(check_kernel(spec, own, blank, err));
  note_macros(spec, own, blank);
  return drop_linkage(spec, own, blank, err);
}

sct_status sct_spec_check_own_text(sct_spec *spec, sct_own *own, sct_error *err) {
  SCT_SCOPED(sct_str) blank = {0};
  const char *wrong = sct_cuda_blank(&blank, own->text);
  const int line = line_at(sct_str_c(&blank), sct_str_c(&blank) + blank.len);
  sct_status status = SCT_OK;
  if (wrong) {
    status = fail_in(spec, own, line, err,
                     sct_arena_printf(&spec->arena, "a kernel of your own may not hold %s", wrong));
  } else {
    status = check_text(spec, own, sct_str_c(&blank), err);
  }
  return status;
}
