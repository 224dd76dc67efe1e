/* script_strategy_internal - the strategy half of `script`: one state for a tuning session, the
 * view of the kernel that strategies and templates see, and the template translator. */
#ifndef SCT_SCRIPT_STRATEGY_INTERNAL_H
#define SCT_SCRIPT_STRATEGY_INTERNAL_H

#include "script/script_internal.h"

/* One definition of the device library. */
struct sct_library_part {
  const char *name, *text, *file; /* the text ends with a line's end */
  int line;                       /* where it starts in the file */
  bool is_called;                 /* a function or a template: mentioned as `name(` or `name<` */
};
#define SCT_MAX_LIBRARY 128

struct sct_script {
  sct_sandbox sandbox;
  sct_spec *spec;
  const sct_device_desc *device;
  sct_arena arena;
  int n_strategies;
  const char **files;    /* [n_strategies] asset or path of each strategy, in order */
  int n_built_in;        /* the first n_built_in of them are assets */
  const char *directory; /* of the others; NULL: there are none */
  /* registry: the names of strategies and templates; the read-only _ENV of strategies in front of
   * them; the metatable of each template's own _ENV */
  int names_ref, env_ref, template_meta_ref;
  int n_parts;
  struct sct_library_part *parts; /* [SCT_MAX_LIBRARY] the device library, in its order */
  int *strategy_ref;              /* [n_strategies] registry: what each strategy file returned */
};

/* Pushes the table of expression functions ("E" to strategies): script_view.c lists them. */
void sct_script_push_expr_library(lua_State *L);
#define SCT_SPLITS_MERGING "merging"
/* What a strategy takes of a kernel. */
typedef struct sct_view_kind {
  const char *splits; /* SCT_SPLITS_MERGING by default */
  const char *taps;   /* arrays that are read at neighbours: "together", an array with all of its
                         reads; "apart", a further input for each; NULL: the same where elements
                         share no neighbours, without borders and windows */
  bool fast;          /* bodies in fast arithmetic */
} sct_view_kind;
/* Pushes the kernel as strategies see it, over canonical modes, with layout[n_operands] chosen, and
 * those tuned sizes for which sizes[n_sizes] is true; NULL: all. */
void sct_script_push_view(lua_State *L, sct_script *script, const int *layout,
                          const sct_view_kind *kind, const bool *sizes);
/* Reads the fields of the strategy at index s. Raises if `splits` is an unknown word. */
sct_view_kind sct_script_view_kind(lua_State *L, int s);
/* The first condition of the strategy at index s (of that file) that the view does not meet; NULL:
 * it applies. The text is the strategy's. */
const char *sct_script_why_not(lua_State *L, int s, int view, const char *file);

/* Reads the device library, templates/device/: files by name, each with definitions between blank
 * lines. */
sct_status sct_library_read(sct_script *script, sct_error *err);
/* Which definitions a kernel's text needs: those that it mentions, and what they mention. */
void sct_library_needed(const sct_script *script, const char *text, bool carried[SCT_MAX_LIBRARY]);
/* Pushes a set of the names that a template's text and the library take: those of others in the
 * same scope must differ. */
void sct_library_push_words(lua_State *L, const sct_script *script, const char *template_text);

/* The axes of arrays that the tuner may lay out, appended to strategy->axes. */
void sct_script_layout_axes(sct_strategy *strategy, sct_arena *arena, const sct_spec *spec);
/* A kernel of the user's own as a strategy; one of its candidates as a kernel. */
void sct_own_strategy(sct_strategy *strategy, sct_arena *arena, const sct_spec *spec,
                      const sct_own *own);
void sct_own_render(sct_rendered *out, sct_spec *spec, const sct_strategy *strategy,
                    const sct_candidate *cand);

/* Fills code->traffic and code->wavefronts from the plan at stack index `plan`. */
void sct_script_read_traffic(lua_State *L, int plan, const sct_spec *spec, sct_kernel_code *code);

/* Appends a line of CUDA, in lines of 100 columns where brackets, commas and operators allow that.
 * Returns how many it adds to the one. Literals and comments stay whole. */
size_t sct_wrap_line(sct_str *out, const char *text);

/* Translates a template to a Lua chunk with the same line numbers. A line whose first characters
 * are
 * `//%` is Lua; in other lines `$(expr)` is replaced by the expression's value. The chunk calls
 * `_o(line, ...)` once for every line of text, with the line's pieces. */
sct_status sct_template_translate(sct_str *out, const char *name, const char *text, sct_error *err);

/* A strategy's template. The texts are freed by sct_template_free, as the functions raise. */
typedef struct sct_template {
  sct_script *script;
  const char *name; /* "templates/direct.cu" is one of ours */
  bool is_own;      /* it lies next to a strategy of the user's */
  sct_str text, chunk;
} sct_template;
/* Fills `t` with the template `name` of a strategy; what it is called stays on the stack. */
void sct_template_find(lua_State *L, sct_template *t, int strategy, const char *name);
/* Pushes the set of names that the template takes (sct_library_push_words). */
void sct_template_push_words(lua_State *L, sct_template *t);
/* Pushes the set of all names that stand in the template, name -> true. */
void sct_template_push_names(lua_State *L, sct_template *t);
/* Pushes the template's function with the _ENV at `env`. Both are made once of each template. */
void sct_template_push(lua_State *L, sct_template *t, int env);
void sct_template_free(sct_template *t);

#endif
