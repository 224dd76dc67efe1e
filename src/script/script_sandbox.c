/* The sandbox: one Lua state that can neither read files, nor eat memory, nor run for ever.
 *
 * Three limits share one budget. The instruction hook takes off what the VM executes, the allocator
 * takes off what is allocated (string.rep, concatenation and table growth run in C, where no hook
 * fires), and the wrappers of script_std.c take off what the pattern matcher may do. When it is
 * spent the hook fires at every instruction, so a pcall in the script only delays the end. */
#include <lualib.h>

#include <stdlib.h>
#include <string.h>

#include "script/script_internal.h"
#include "script/script_private.h"

enum { HOOK_EVERY = 1000, BYTES_A_UNIT = 64, SPENT_ALLOWANCE_BYTES = 4096 };
enum { GC_PAUSE = 400 }; /* collect when four times as much is in use as after the last time */

const char *const sct_script_long_text = "the script makes a text of more than 1 MiB";

sct_sandbox *sct_sandbox_of(lua_State *L) {
  return *(sct_sandbox **)lua_getextraspace(L);
}

/* ---- limits ---- */

static void budget_hook(lua_State *L, lua_Debug *ar);

static void spend_all(sct_sandbox *sb) {
  sb->left = 0;
  if (sb->L) {
    lua_sethook(sb->L, budget_hook, LUA_MASKCOUNT, 1);
  }
}

static int raise_spent(lua_State *L) {
  return luaL_error(L, "%s", sct_script_spent_text);
}

static void budget_hook(lua_State *L, lua_Debug *ar) {
  sct_sandbox *sb = sct_sandbox_of(L);
  sb->left -= HOOK_EVERY;
  sct_script_child_record_line(L);
  if (sb->left > 0) {
    return;
  }
  spend_all(sb);
  /* luaL_error would name the caller of the function that runs; the hook belongs to its own line */
  lua_getinfo(L, "Sl", ar);
  lua_pushfstring(L, "%s:%d: %s", ar->short_src, ar->currentline, sct_script_spent_text);
  lua_error(L);
}

void sct_sandbox_charge(lua_State *L, int64_t units) {
  sct_sandbox *sb = sct_sandbox_of(L);
  if (units >= sb->left) {
    spend_all(sb);
    raise_spent(L);
  }
  sb->left -= units;
}

void sct_sandbox_renew(lua_State *L) {
  sct_sandbox *sb = sct_sandbox_of(L);
  sb->left = sb->left > 0 ? sb->budget : 0;
}

/* Remembers the innermost Lua line. Only reads call frames, so it is safe inside an allocation. */
static void note_place(sct_sandbox *sb) {
  lua_Debug ar;
  sb->raised_line = 0;
  for (int level = 0; sb->L && lua_getstack(sb->L, level, &ar); level++) {
    if (lua_getinfo(sb->L, "Sl", &ar) && ar.currentline > 0) {
      memcpy(sb->raised_in, ar.short_src, sizeof(sb->raised_in));
      sb->raised_line = ar.currentline;
      return;
    }
  }
}

/* Lua answers with a full collection and one more try, which costs as much as what is in use. */
static void *refuse(sct_sandbox *sb, const char *why) {
  note_place(sb);
  sb->refused = why;
  const int64_t units = (int64_t)(sb->used_bytes / BYTES_A_UNIT);
  sb->left = sb->left > units ? sb->left - units : 0;
  return NULL;
}

/* lua_Alloc with a cap. A block may always shrink or go: Lua relies on that. */
static void *capped_alloc(void *ud, void *ptr, size_t old_bytes, size_t new_bytes) {
  sct_sandbox *sb = ud;
  if (!ptr) { /* Lua passes a type tag instead of a size */
    /* comparing strings, or reading a number from one, is one instruction however long they are */
    if (old_bytes == LUA_TSTRING && new_bytes > sb->limit_string_bytes) {
      return refuse(sb, sct_script_long_text);
    }
    old_bytes = 0;
  }
  if (new_bytes == 0) {
    sct_free(ptr);
    sb->used_bytes -= old_bytes;
    return NULL;
  }
  const size_t grow = new_bytes > old_bytes ? new_bytes - old_bytes : 0;
  if (grow > sb->limit_bytes - sb->used_bytes) {
    return refuse(sb, "the script needs too much memory");
  }
  const int64_t units = (int64_t)(grow / BYTES_A_UNIT);
  if (units >= sb->left && grow > SPENT_ALLOWANCE_BYTES) {
    spend_all(sb);
    return refuse(sb, sct_script_spent_text);
  }
  void *block = sct_realloc(ptr, new_bytes);
  sb->left -= units;
  sb->used_bytes = sb->used_bytes - old_bytes + new_bytes;
  return block;
}

/* ---- state ---- */

int64_t sct_script_limit(const char *variable, int64_t usual, int64_t least, int64_t most) {
  const char *set = getenv(variable);
  char *end = NULL;
  const long long value = set ? strtoll(set, &end, 10) : 0;
  if (!set || end == set || *end != '\0' || value < 1) { /* no limit that anything could keep */
    return usual;
  }
  return value < least ? least : value > most ? most : value;
}

/* Raising: runs in protected mode, builds everything the registry holds. */
static int open_state(lua_State *L) {
  sct_script_open_std(L);
  sct_script_open_expr(L);
  return 0;
}

sct_status sct_sandbox_init(sct_sandbox *sb, const char *root, sct_error *err) {
  memset(sb, 0, sizeof(*sb));
  sb->limit_bytes = SCT_SANDBOX_MEMORY_BYTES;
  sb->limit_string_bytes = SCT_SANDBOX_STRING_BYTES;
  sb->budget =
      sct_script_limit("SECTILE_SCRIPT_STEPS", SCT_SANDBOX_BUDGET, 1000, SCT_SANDBOX_NO_LIMIT - 1);
  sb->left = INT64_MAX;
  sb->rng = sct_rng_new(1);
  if (root) {
    sb->root = sct_strdup(root);
  }
  lua_State *L = lua_newstate(capped_alloc, sb);
  sb->L = L;
  (void)lua_gc(L, LUA_GCINC, GC_PAUSE, 0, 0);
  *(sct_sandbox **)lua_getextraspace(L) = sb;
  const sct_status status = sct_sandbox_protect(sb, open_state, NULL, err);
  if (status != SCT_OK) {
    sct_sandbox_free(sb);
  }
  return status;
}

void sct_sandbox_free(sct_sandbox *sb) {
  if (sb->L) {
    lua_State *L = sb->L;
    sb->L = NULL; /* the allocator must not hook a state that is closing */
    lua_close(L);
  }
  for (size_t k = 0; k < sb->n_chunks; k++) {
    sct_free(sb->chunks[k].name);
    sct_free(sb->chunks[k].text);
  }
  sct_free(sb->chunks);
  sct_free(sb->root);
  sct_str_free(&sb->scratch);
  sct_arena_free(&sb->arena);
  memset(sb, 0, sizeof(*sb));
}

/* ---- chunks ---- */

const sct_script_chunk *sct_script_find_chunk(const sct_sandbox *sb, const char *name) {
  for (size_t k = 0; k < sb->n_chunks; k++) {
    if (strcmp(sb->chunks[k].name, name) == 0) {
      return &sb->chunks[k];
    }
  }
  return NULL;
}

void sct_script_set_built_in(sct_sandbox *sb, const char *name) {
  sct_script_chunk *chunk = (sct_script_chunk *)sct_script_find_chunk(sb, name);
  if (chunk) {
    chunk->built_in = true;
  }
}

/* Copies text with every end of a line that Lua knows (LF, CR, and both in either order) as LF, so
 * that what looks for a line of Lua's counts as Lua does. Returns the length. */
static size_t copy_lines(char *out, const char *text, size_t n) {
  size_t kept = 0;
  for (size_t k = 0; k < n; k++) {
    const bool ends = text[k] == '\n' || text[k] == '\r';
    const bool pair = ends && k + 1 < n && text[k] + text[k + 1] == '\n' + '\r';
    out[kept++] = ends ? '\n' : text[k];
    k += pair;
  }
  out[kept] = '\0';
  return kept;
}

/* Copies name and text into the chunk table; a known name gets the new text. */
static const sct_script_chunk *keep_chunk(sct_sandbox *sb, const char *name, const char *text,
                                          size_t n) {
  const size_t mark = n >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0; /* UTF-8's */
  text += mark;
  n -= mark;
  sct_script_chunk *chunk = (sct_script_chunk *)sct_script_find_chunk(sb, name);
  if (!chunk) {
    SCT_GROW(sb->chunks, sb->n_chunks, sb->cap_chunks);
    chunk = &sb->chunks[sb->n_chunks];
    memset(chunk, 0, sizeof(*chunk));
    chunk->name = sct_strdup(name);
    sb->n_chunks++;
  }
  char *copy = sct_alloc(n + 1);
  sct_free(chunk->text);
  chunk->text = copy;
  chunk->n = copy_lines(copy, text, n);
  return chunk;
}

sct_status sct_sandbox_stack(sct_sandbox *sb, int n, sct_error *err) {
  return lua_checkstack(sb->L, n)
             ? SCT_OK
             : sct_fail(err, SCT_ESPEC, "error: the script needs too much memory");
}

typedef struct load_request {
  sct_script_chunk *chunk;
  int env_index;
} load_request;

/* Pushes the compiled chunk. Raises what the parser says, so that it runs in protected mode or
 * inside a call. */
static void compile_chunk(lua_State *L, sct_script_chunk *chunk, int env_index) {
  lua_pushfstring(L, "@%s", chunk->name);
  const char *id = lua_tostring(L, -1);
  lua_Debug ar;
  if (luaL_loadbufferx(L, "", 0, id, "t") == LUA_OK && lua_getinfo(L, ">S", &ar)) {
    memcpy(chunk->short_name, ar.short_src, sizeof(chunk->short_name));
  }
  if (luaL_loadbufferx(L, chunk->text, chunk->n, id, "t") != LUA_OK) {
    if (!sct_has_prefix(lua_tostring(L, -1), chunk->short_name)) { /* a binary chunk */
      lua_pushfstring(L, "%s:1: %s", chunk->short_name, lua_tostring(L, -1));
    }
    lua_error(L);
  }
  lua_remove(L, -2);
  if (env_index != 0) {
    lua_pushvalue(L, env_index);
    if (!lua_setupvalue(L, -2, 1)) {
      lua_pop(L, 1);
    }
  }
}

static int compile_protected(lua_State *L) {
  const load_request *request = lua_touserdata(L, 1);
  compile_chunk(L, request->chunk, request->env_index != 0 ? 2 : 0);
  return 1;
}

sct_status sct_sandbox_load(sct_sandbox *sb, const char *name, const char *text, size_t n,
                            int env_index, sct_error *err) {
  lua_State *L = sb->L;
  SCT_TRY(sct_sandbox_stack(sb, 4, err));
  load_request request = {(sct_script_chunk *)keep_chunk(sb, name, text, n), env_index};
  const int env = env_index == 0 ? 0 : lua_absindex(L, env_index);
  lua_pushcfunction(L, compile_protected);
  lua_pushlightuserdata(L, &request);
  if (env != 0) {
    lua_pushvalue(L, env);
  }
  const int rc = lua_pcall(L, env != 0 ? 2 : 1, 1, 0);
  return rc == LUA_OK ? SCT_OK : sct_script_error(L, rc, err);
}

void sct_script_push_chunk(lua_State *L, const char *name, const char *text, size_t n) {
  sct_script_chunk *chunk = (sct_script_chunk *)keep_chunk(sct_sandbox_of(L), name, text, n);
  compile_chunk(L, chunk, 0);
}

/* ---- calls ---- */

/* Message handler: an error value may be anything and name no place, so the place is noted while
 * the frames are still there. Runs inside the hook too, where no hook fires: it may not loop. */
static int note_raise(lua_State *L) {
  note_place(sct_sandbox_of(L));
  return 1;
}

sct_status sct_sandbox_call(sct_sandbox *sb, int n_args, int n_results, sct_error *err) {
  lua_State *L = sb->L;
  SCT_TRY(sct_sandbox_stack(sb, 1, err));
  const int handler = lua_gettop(L) - n_args;
  lua_pushcfunction(L, note_raise);
  lua_insert(L, handler);
  sb->left = sb->budget;
  sb->raised_line = 0;
  if (sb->budget < SCT_SANDBOX_NO_LIMIT) { /* looking after each instruction costs half of them */
    lua_sethook(L, budget_hook, LUA_MASKCOUNT, HOOK_EVERY);
  }
  const int rc = lua_pcall(L, n_args, n_results, handler);
  lua_sethook(L, NULL, 0, 0);
  lua_remove(L, handler);
  const sct_status status = rc == LUA_OK ? SCT_OK : sct_script_error(L, rc, err);
  sb->left = INT64_MAX;
  sb->blame = NULL;
  return status;
}

sct_status sct_sandbox_protect(sct_sandbox *sb, lua_CFunction f, void *ctx, sct_error *err) {
  lua_State *L = sb->L;
  SCT_TRY(sct_sandbox_stack(sb, 2, err));
  lua_pushcfunction(L, f);
  lua_pushlightuserdata(L, ctx);
  return sct_sandbox_call(sb, 1, 0, err);
}
