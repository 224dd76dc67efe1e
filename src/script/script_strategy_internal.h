/* script_strategy_internal - the strategy half of `script`: one state for a tuning session, the
 * view of the kernel that strategies and templates see, and the template translator. */
#ifndef SCT_SCRIPT_STRATEGY_INTERNAL_H
#define SCT_SCRIPT_STRATEGY_INTERNAL_H

#include "script/script_internal.h"

struct sct_script {
  sct_sandbox sandbox;
  sct_spec *spec;
  const sct_device_desc *device;
  sct_arena arena;
  int n_strategies;
  const char **files; /* [n_strategies] asset or path of each strategy, in order */
  int n_built_in;     /* the first so many are assets */
  const char *folder; /* of the others; NULL: there are none */
  /* registry: the names of strategies and templates; the read-only _ENV of strategies in front of
   * them; the metatable of each template's own _ENV */
  int names_ref, env_ref, template_meta_ref;
  int *strategy_ref; /* [n_strategies] registry: what each strategy file returned */
};

/* Pushes the table of expression functions ("E" to strategies): script_view.c lists them. */
void sct_script_push_expr_library(lua_State *L);
/* Pushes the kernel as strategies see it, with layout[n_operands] chosen. */
void sct_script_push_view(lua_State *L, sct_script *script, const int *layout);

/* Translates a template to a Lua chunk with the same line numbers. A line whose first characters
 * are
 * `//%` is Lua; in other lines `$(expr)` is replaced by the expression's value. The chunk calls
 * `_o(line, ...)` once for every line of text, with the line's pieces. */
sct_status sct_template_translate(sct_str *out, const char *name, const char *text,
                                  sct_error *err) SCT_MUST_USE;

#endif
