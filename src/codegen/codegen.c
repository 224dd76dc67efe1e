/* Identity and checks of generated kernels. */
#include "codegen/codegen.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* The hash covers what a measurement depends on: the text and how it is launched. */
static sct_status finish(sct_kernel_code *code, const sct_spec *spec, sct_error *err) {
  sct_str all = {0};
  sct_str_append(&all, code->source);
  const size_t n_source = all.len;
  const sct_status status = sct_codegen_launch(&all, spec, code, err);
  if (status == SCT_OK) {
    code->hash = sct_hash_bytes(all.data, all.len);
    code->launch = sct_arena_strdup(&code->arena, all.data + n_source);
  }
  sct_str_free(&all);
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

sct_status sct_codegen_complete(sct_kernel_code *code, sct_arena *arena, sct_script *script,
                                const sct_spec *spec, const sct_space *space,
                                const sct_candidate *cand, sct_error *err) {
  sct_kernel_code whole;
  const char *rejected = NULL;
  if (!code->brief) {
    return SCT_OK;
  }
  SCT_TRY(sct_codegen_make(&whole, &rejected, arena, script, spec, space, cand, err));
  if (rejected || !sct_hash_equal(whole.hash, code->hash)) {
    sct_kernel_code_free(&whole);
    return sct_fail(err, SCT_EINTERNAL, "kernel '%s' is another when it is rendered again",
                    code->kernel);
  }
  code->n_lines = whole.n_lines;
  code->line_file = whole.line_file;
  code->line_no = whole.line_no;
  code->rest = whole.arena;
  code->brief = false;
  return SCT_OK;
}

void sct_codegen_map_log(sct_str *out, const sct_kernel_code *code, const char *log) {
  for (const char *p = log; *p;) {
    const char *end = strchr(p, '\n');
    const size_t n = end ? (size_t)(end - p) : strlen(p);
    int line = 0, used = 0;
    if (sscanf(p, "line %d%n", &line, &used) == 1 && line >= 1 && line <= code->n_lines &&
        (size_t)used <= n) {
      sct_str_printf(out, "%s:%d%.*s (line %d of the source)", code->line_file[line - 1],
                     code->line_no[line - 1], (int)(n - (size_t)used), p + used, line);
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
    if (cand->strategy != 0) {
      continue;
    }
    bool same = true;
    int axis = 0;
    for (int op = 0; op < spec->n_operands; op++) {
      if (spec->operands[op].n_layouts > 1) { /* layout axes come first, in operand order */
        same &= cand->value[axis++] == layout[op];
      }
    }
    if (same) {
      return (int64_t)c;
    }
  }
  return -1;
}
