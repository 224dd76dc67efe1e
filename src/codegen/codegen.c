/* Identity and checks of generated kernels. */
#include "codegen/codegen.h"

#include <ctype.h>
#include <string.h>

#define LIBRARY "templates/device/"

void sct_codegen_identify(sct_kernel_code *code) {
  SCT_SCOPED(sct_str) all = {0};
  sct_str_append(&all, code->source);
  sct_str_append(&all, code->launch);
  code->hash = sct_hash_bytes(all.data, all.len);
}

static sct_status finish(sct_kernel_code *code, const sct_spec *spec, sct_error *err) {
  SCT_SCOPED(sct_str) launch = {0};
  const sct_status status = sct_codegen_launch(&launch, spec, code, err);
  if (status == SCT_OK) {
    code->launch = sct_arena_strdup(&code->arena, sct_str_c(&launch));
    sct_codegen_identify(code);
  }
  return status;
}

sct_status sct_codegen_make(sct_kernel_code *out, const char **rejected, sct_arena *arena,
                            sct_script *script, const sct_spec *spec, const sct_space *space,
                            const sct_candidate *cand, sct_error *err) {
  *out = (sct_kernel_code){0};
  *rejected = NULL;
  sct_rendered rendered;
  SCT_TRY(sct_script_render(&rendered, script, space, cand, err));
  sct_status status = SCT_OK;
  if (rendered.rejected) {
    *rejected = sct_arena_strdup(arena, rendered.rejected);
  } else {
    status = finish(&rendered.code, spec, err);
  }
  if (status != SCT_OK || *rejected) {
    sct_kernel_code_free(&rendered.code);
    return status;
  }
  *out = rendered.code;
  return SCT_OK;
}

bool sct_codegen_line(const sct_kernel_code *code, int line, const char **file, int *n_file,
                      int *file_line) {
  return sct_lines_find(code->lines, line, file, n_file, file_line);
}

/* A line of the source, and which line of which file wrote it. */
typedef struct place {
  int line, n_file, file_line;
  const char *file;
} place;

static bool place_at(const sct_kernel_code *code, int line, place *out) {
  *out = (place){.line = line};
  return sct_codegen_line(code, line, &out->file, &out->n_file, &out->file_line);
}

static bool is_library(const place *p) {
  return (size_t)p->n_file > strlen(LIBRARY) && strncmp(p->file, LIBRARY, strlen(LIBRARY)) == 0;
}

/* The places that a line of a log begins with: what it is about, and who called that. Returns how
 * many characters they take; 0: none, or they are not known. */
static int take_places(const sct_kernel_code *code, const char *text, place *inner, place *author) {
  int line = 0, used = 0, more = 0;
  if (sscanf(text, "line %d%n", &line, &used) != 1 || !place_at(code, line, inner)) {
    return 0;
  }
  *author = *inner;
  const char *form = ", called in line %d%n";
  while (sscanf(text + used, form, &line, &more) == 1) {
    place caller;
    *author = is_library(author) && place_at(code, line, &caller) ? caller : *author;
    used += more;
    form = ", %d%n";
  }
  return used;
}

void sct_codegen_map_log(sct_str *out, const sct_kernel_code *code, const char *log) {
  for (const char *p = log; *p;) {
    const char *end = strchr(p, '\n');
    const size_t n = end ? (size_t)(end - p) : strlen(p);
    place inner, author;
    const int used = take_places(code, p, &inner, &author);
    if (used > 0 && (size_t)used <= n) {
      sct_str_printf(out, "%.*s:%d%.*s (line %d of the source", author.n_file, author.file,
                     author.file_line, (int)(n - (size_t)used), p + used, author.line);
      if (inner.line != author.line) {
        sct_str_printf(out, ", in %.*s:%d", inner.n_file, inner.file, inner.file_line);
      }
      sct_str_append(out, ")");
    } else {
      sct_str_append_n(out, p, n);
    }
    sct_str_append(out, "\n");
    p += n + (end != NULL);
  }
}

bool sct_codegen_fits(const sct_spec *spec, const sct_kernel_code *code, const sct_size *size) {
  const sct_expr_env env = {.vars = spec->extent_var, .values = size->extent, .n = spec->n_extents};
  for (int k = 0; k < code->n_require; k++) {
    int64_t holds = 0;
    if (sct_expr_eval(spec->pool, code->require[k], &env, &holds, NULL) != SCT_OK || !holds) {
      return false;
    }
  }
  return true;
}

int64_t sct_codegen_naive(const sct_spec *spec, const sct_space *space, const int *layout) {
  for (size_t c = 0; c < space->n_candidates; c++) {
    const sct_candidate *cand = &space->candidates[c];
    bool same = space->strategies[cand->strategy].source == 0;
    for (int op = 0; op < spec->n_operands && same; op++) {
      const int choice = sct_spec_choice_of(spec, op); /* layout axes come first */
      same = choice < 0 || cand->value[choice] == layout[op];
    }
    if (same) {
      return (int64_t)c;
    }
  }
  return -1;
}

bool sct_codegen_is_naive(const sct_spec *spec, const sct_space *space, int64_t c) {
  const sct_candidate *cand = &space->candidates[c];
  const size_t n_choices = (size_t)sct_spec_n_choices(spec);
  bool first = space->strategies[cand->strategy].source == 0;
  for (int64_t before = 0; before < c && first; before++) {
    const sct_candidate *other = &space->candidates[before];
    first = other->strategy != cand->strategy ||
            memcmp(other->value, cand->value, sizeof *cand->value * n_choices) != 0;
  }
  return first;
}
