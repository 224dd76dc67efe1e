/* script_private - between the files of the spec side of `script`. */
#ifndef SCT_SCRIPT_PRIVATE_H
#define SCT_SCRIPT_PRIVATE_H

#include "script/script_internal.h"

/* Chunks of this name are ours; user files that are called so get "./" in front. */
#define SCT_OUR_DIRECTORY "tuning/sectile/"

/* The error of a script that ran too long. */
extern const char *const sct_script_spent_text;

/* The whole number in an environment variable, held between two bounds; `usual` where it is none.
 */
int64_t sct_script_limit(const char *variable, int64_t usual, int64_t least, int64_t most);
/* For the hook. In a child: notes the line that runs, for a message if it never ends. */
void sct_script_child_record_line(lua_State *L);
/* Fills the registry: globals, string methods, the modules. Raises. */
void sct_script_open_std(lua_State *L);
/* Pushes the compiled chunk; for use inside a call. Raises the parser's error. */
void sct_script_push_chunk(lua_State *L, const char *name, const char *text, size_t n);
/* What goes wrong in this chunk is shown where a user asked for it. */
void sct_script_set_built_in(sct_sandbox *sb, const char *name);
/* The string at `index` as C text: zero bytes in it, which would end it, as \x00, in `out`. */
const char *sct_script_text(lua_State *L, int index, sct_str *out);
/* Reads the file `name` below the sandbox's root, without leaving it by "..", an absolute path or a
 * link, and pushes its chunk. false (nothing pushed): there is no such file. Raises on an escape.
 */
bool sct_script_push_below_root(lua_State *L, const char *name);

/* A lua_CFunction: pushes the module named by argument 1, "sectile.check". Not for scripts. */
int sct_script_push_module(lua_State *L);
/* Reads a script: a regular file of at most 1 MiB, nothing that could block. */
sct_status sct_script_read_file(sct_str *out, const char *path, sct_error *err);
/* Reads the file `name` below the directory `root`, called `what` in messages: SCT_ESPEC for an
 * absolute path, ".." or a link that leads out, SCT_OK without `found` if there is no such file. */
sct_status sct_script_read_below(sct_str *out, const char *root, const char *what, const char *name,
                                 bool *found, sct_error *err);

/* Field `key` of the table at `table`; 0, false for what is none. */
int64_t sct_script_field_integer(lua_State *L, int table, const char *key);
double sct_script_field_number(lua_State *L, int table, const char *key);
bool sct_script_field_flag(lua_State *L, int table, const char *key);

/* Pushes the list of the keys of the table at `table`: numbers, strings, booleans, each sorted.
 * Raises if more than one is something else. */
void sct_script_push_sorted_keys(lua_State *L, int table);
/* Sorts the first n items of the table at `list`, raw and stable, by the function at `less` (0: by
 * <). The same calls in the same order every time, whatever `less` answers. */
void sct_script_sort(lua_State *L, int list, int64_t n, int less);
/* Calls upvalue 1, a function, with all arguments, and returns what it returns. */
int sct_script_call_upvalue(lua_State *L);
/* Length of a table that has no __index, __newindex or __len of the script's own; raises for
 * others: C loops over lengths that metamethods make up would have no end. */
int64_t sct_script_plain_length(lua_State *L, int idx);

/* Refuses keys of the table at the top that are no legal ones, with the nearest of these: in line 1
 * of `file`, or where the call stands if that is NULL. `what` it is. */
void sct_script_check_keys(lua_State *L, const char *file, const char *what,
                           const char *const *legal, int n_legal);
void sct_script_push_exprs(lua_State *L, const sct_expr *e, int n); /* a list of them */
void sct_script_push_integers(lua_State *L, const int64_t *values, int n);

/* The functions that script_api.def registers: std_* in script_std.c, lib_* in script_lib.c, core_*
 * in script_core.c. */
#define SCT_API_OWN(library, name, function) int sct_script_##function(lua_State *L);
#include "script/script_api.def"

#endif
