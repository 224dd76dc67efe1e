/* script_private - between the files of the spec side of `script`. */
#ifndef SCT_SCRIPT_PRIVATE_H
#define SCT_SCRIPT_PRIVATE_H

#include "script/script_internal.h"

/* What a script hears when it ran too long. */
extern const char *const sct_script_spent_text;

/* Fills the registry: globals, string methods, the modules. Raises. */
void sct_script_open_std(lua_State *L);
/* Pushes the compiled chunk; for use inside a call. Raises what the parser says. */
void sct_script_push_chunk(lua_State *L, const char *name, const char *text, size_t n);
/* Reads the file `name` below the sandbox's root, without leaving it by "..", an absolute path or a
 * link, and pushes its chunk. false (nothing pushed): there is no such file. Raises on an escape.
 */
bool sct_script_push_below_root(lua_State *L, const char *name);

/* The functions that script_api.def registers: std_* in script_std.c, core_* in script_core.c. */
#define SCT_API_OWN(library, name, function) int sct_script_##function(lua_State *L);
#include "script/script_api.def"

#endif
