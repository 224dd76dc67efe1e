/* script_spec_internal - between the files that turn a spec script's tables into an sct_spec.
 *
 * All of these may raise, and run inside sct_sandbox_protect; what they allocate belongs to the
 * spec's arena. */
#ifndef SCT_SCRIPT_SPEC_INTERNAL_H
#define SCT_SCRIPT_SPEC_INTERNAL_H

#include "script/script_internal.h"
#include "script/script_private.h"

typedef struct sct_script_loader {
  sct_sandbox sb;
  sct_spec *spec;
  const char *path;
  sct_error *err;
  sct_status status; /* of a module below that failed; err is written then */
} sct_script_loader;

/* ---- tables ---- */

/* The string at the top of the stack as the arena's; pops it. NULL for nil. */
const char *sct_script_take_string(lua_State *L, sct_spec *spec);
const char *sct_script_field_string(lua_State *L, sct_spec *spec, int table, const char *key);
/* The length of the list at table[key]; 0 where there is none. */
int sct_script_list_length(lua_State *L, int table, const char *key);
/* Pushes item k (from 0) of the list at table[key]. */
void sct_script_push_item(lua_State *L, int table, const char *key, int k);
/* The value on top in a message: numbers and texts as they are, others by their type. */
const char *sct_script_describe_value(lua_State *L);
/* Where what the table describes was made. */
void sct_script_read_place(lua_State *L, sct_spec *spec, int table, const char **file, int *line);
void sct_script_push_module_function(lua_State *L, const char *module, const char *name);

/* The kernels of the user's own, with their files. */
sct_status sct_script_read_own(lua_State *L, sct_script_loader *ld, int kernel);

/* ---- layouts ---- */

/* Runs every operand's layouts on its index variables, and holds the formulas against the same
 * functions on plain integers. `kernel`: the checked kernel's stack index. */
void sct_script_trace_operands(lua_State *L, sct_script_loader *ld, int kernel);

#endif
