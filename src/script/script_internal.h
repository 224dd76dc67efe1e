/* script_internal - what the two halves of `script` share: the sandbox, expressions as Lua values,
 * and how a Lua error becomes "file:line: error: ..." with its source line.
 *
 * A sandbox is one lua_State with an allow-list of functions (script_api.def), a memory cap and an
 * instruction budget. Spec scripts run in one that is freed right after; strategies and templates
 * in one that lives as long as a tuning session. Both see the same globals and the same expression
 * type; only the pool differs. */
#ifndef SCT_SCRIPT_INTERNAL_H
#define SCT_SCRIPT_INTERNAL_H

#include <lua.h>

#include <lauxlib.h>

#include "expr/expr.h"
#include "script/script.h"

/* ---- the sandbox ---- */

/* A chunk that was loaded, kept so that messages can show the source line. */
typedef struct sct_script_chunk {
  char *name; /* as given to sct_sandbox_load: a path or an asset */
  char *text;
  size_t n;
  char short_name[LUA_IDSIZE]; /* what Lua writes in messages: the end of long names */
  bool built_in;               /* a layout that came with the program */
} sct_script_chunk;

typedef struct sct_sandbox {
  lua_State *L;
  sct_expr_pool *pool; /* borrowed: where expressions are built; set it before any is */
  char *root;          /* directory that include() and s.layout read below; NULL: assets only */
  size_t used_bytes, limit_bytes, limit_string_bytes; /* the last of one string */
  int64_t budget; /* VM instructions a call may take; bytes allocated and pattern work count too */
  int64_t left;   /* of the call that is running */
  char raised_in[LUA_IDSIZE]; /* the line that ran when an error was raised or memory refused */
  int raised_line;            /* 0: none */
  const char *blame;      /* the chunk whose first line is named where no line ran; NULL: none */
  const char *refused;    /* why the allocator refused: Lua's own message does not say */
  sct_rng rng;            /* of math.random: equal numbers on every run */
  sct_str scratch;        /* text under construction, so that a raising Lua call leaks nothing */
  sct_arena arena;        /* what C functions keep, for the same reason; as long as the state */
  const char *place_file; /* where the public function now running was called from */
  int place_line;
  sct_script_chunk *chunks;
  size_t n_chunks, cap_chunks;
} sct_sandbox;

#define SCT_SANDBOX_MEMORY_BYTES ((size_t)128 << 20)
#define SCT_SANDBOX_STRING_BYTES ((size_t)1 << 20)   /* of one string */
#define SCT_SANDBOX_BUDGET       ((int64_t)20000000) /* about 0.2 s */
#define SCT_SANDBOX_NO_LIMIT     (INT64_MAX / 2)     /* a budget: no instruction is counted */

/* A state with the allow-listed globals. `root` (NULL: none) is copied. `sb` must stay where it is
 * until sct_sandbox_free: the state points to it. */
sct_status sct_sandbox_init(sct_sandbox *sb, const char *root, sct_error *err);
void sct_sandbox_free(sct_sandbox *sb); /* leaves a zeroed struct */
sct_sandbox *sct_sandbox_of(lua_State *L);

/* Each pushes one function (the compiled chunk, text only) on success and nothing on failure. The
 * text is copied and kept for source lines (loading a name again replaces it).
 * `env_index`: stack index of the table that becomes its _ENV, 0: the sandbox's read-only globals
 * (an unknown name is an error with the nearest legal one; assigning a global is an error). Inside
 * a call the text is compiled on that call's budget. */
sct_status sct_sandbox_load(sct_sandbox *sb, const char *name, const char *text, size_t n,
                            int env_index, sct_error *err);

/* Room for n more values on the stack. */
sct_status sct_sandbox_stack(sct_sandbox *sb, int n, sct_error *err);
/* lua_pcall with a fresh budget: pops the function and n_args arguments, pushes n_results. On
 * failure pushes nothing and writes err through sct_script_error(). Not from inside a call. */
sct_status sct_sandbox_call(sct_sandbox *sb, int n_args, int n_results, sct_error *err);
/* Runs `f` with one light userdata argument `ctx` in protected mode, so that it may raise. All C
 * code that touches the state and is not itself called from Lua goes through here. */
sct_status sct_sandbox_protect(sct_sandbox *sb, lua_CFunction f, void *ctx, sct_error *err);
extern const char *const sct_script_long_text; /* the error of a script that makes a longer one */
/* Takes `units` off the budget; raises when it is spent. For C functions that do much work. */
void sct_sandbox_charge(lua_State *L, int64_t units);
/* A fresh budget within a call, unless it is spent. For C code that has scripts do the next of a
 * limited number of things, each as long as a call may take. */
void sct_sandbox_renew(lua_State *L);
/* Pushes a read-only view of the table at `idx`: assigning raises, and so does reading a key it
 * has not ("<what> has no 'x'; did you mean ...", or "unknown name 'x'" where what is ""). */
void sct_sandbox_freeze(lua_State *L, int idx, const char *what);

/* ---- errors ---- */

/* Turns the error value at the top of the stack (popped) and lua_pcall's status into
 * "file:line: error: text" and the source line. Returns SCT_ESPEC. Never raises. */
sct_status sct_script_error(lua_State *L, int lua_status, sct_error *err);
/* A copy of a text in an arena, NULL for NULL. */
char *sct_script_copy_text(sct_arena *arena, const char *text);
/* A copy of a name, doc, value or reason of a strategy, which goes to labels, tables, comments and
 * terminals: raises where the text is not printable. */
char *sct_script_copy_printable(lua_State *L, sct_arena *arena, const char *text);
/* Raises "file:line: text"; never returns. For errors that belong to another line than the
 * caller's. Use luaL_error for the caller's own line. `file` is a chunk's name. SCT_LINE_OF_NAME:
 * the line where the first name that the message quotes is a key, or stands otherwise. */
#define SCT_LINE_OF_NAME 0
int sct_script_raise_at(lua_State *L, const char *file, int line, const char *fmt, ...)
    SCT_PRINTF(4, 5);
/* The chunk's name and the current line of the function `level` calls up (1: the function that
 * called us); NULL and 0 when that is no Lua function. */
const char *sct_script_where(lua_State *L, int level, int *line);
/* A loaded chunk by its name or NULL. */
const sct_script_chunk *sct_script_find_chunk(const sct_sandbox *sb, const char *name);

/* ---- expressions in Lua ----
 *
 * A userdata around a handle of sb->pool, with + - * // % unary- and << >> (by constants),
 * & (2^k - 1), ~ (xor). `<`, `<=` and `==` between two of them raise: Lua would make booleans of
 * them. Methods, which are also functions of the module `sectile` and then take plain integers as
 * well (and give a plain integer if all arguments are): lt le eq ne min max xor land lor lnot.
 * Further methods:
 *   e:same(x)     structural equality (boolean)      e:const()    its integer, or nil
 *   e:range()     lo, hi                             e:divisor()  largest known divisor
 *   e:c(wide)     C text (sct_expr_print_c)          tostring(e)  canonical text */

void sct_script_push_expr(lua_State *L, sct_expr e); /* SCT_EXPR_NONE raises */
/* The expression at `idx`; an integer (or a float with an integer value) becomes a constant. Raises
 * on anything else. */
sct_expr sct_script_check_expr(lua_State *L, int idx);
/* As sct_script_check_expr(), but gives SCT_EXPR_NONE where that raises. */
sct_expr sct_script_to_expr(lua_State *L, int idx);
/* Registers the metatable; part of sct_sandbox_init. */
void sct_script_open_expr(lua_State *L);
/* The functions lt .. lnot into the table at the top of the stack. */
void sct_script_expr_functions(lua_State *L);

#endif
