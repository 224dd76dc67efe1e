/* Rendering: a candidate's plan (the strategy's Lua function), its template run with that plan, and
 * the result read back as plain data. */
#include "script/script_private.h"
#include "script/script_strategy_internal.h"

#include <ctype.h>
#include <string.h>
#include <unistd.h>

enum {
  MAX_THREADS = 1024,
  MAX_ROUNDS = 1000,
  MAX_PLAN_LIST = 65536,
  MAX_SOURCE_BYTES = 4 << 20,
  MAX_ALIGN = 4096, /* more than any access needs, and less than what an allocation has */
  MAX_VARS = 64,
  MAX_BYTES = 1 << 30, /* of shared memory, and of one access */
  UNITS_A_LINE = 20
};

#define VERBATIM '\1' /* kit.verbatim() */

typedef struct render_job {
  sct_script *script;
  const sct_space *space;
  const sct_candidate *cand;
  sct_rendered *out;
  sct_str text;   /* the source under construction */
  size_t n_ended; /* bytes of its lines but the last */
  size_t inset;   /* spaces before each line that ends, but for pragmas */
  sct_str tail;   /* of it, what follows the device library */
  sct_template file;
  size_t n_lines, cap_lines;
  struct line_origin {
    const char *file;
    int line;
  } * lines;
} render_job;

#define JOB(L) ((render_job *)lua_touserdata((L), lua_upvalueindex(1)))

/* ---- text out ----------------------------------------------------------------------------------
 */

/* Ends the text's last line, which template line `line` wrote: wrapped, unless VERBATIM marks it.
 */
static void end_line(render_job *job, int line) {
  SCT_SCOPED(sct_str) ended = {0};
  const char *const bare = sct_str_c(&job->text) + job->n_ended;
  const size_t inset = *bare && *bare != '#' && *bare != '\n' ? job->inset : 0;
  SCT_SCOPED(sct_str) inside = {0};
  sct_str_printf(&inside, "%*s%s", (int)inset, "", bare);
  const char *const text = sct_str_c(&inside);
  const char *const mark = strchr(text, VERBATIM);
  size_t n = 1;
  if (mark) {
    sct_str_append_n(&ended, text, (size_t)(mark - text));
    sct_str_append(&ended, mark + 1);
  } else {
    n += sct_wrap_line(&ended, text);
  }
  job->text.len = job->n_ended;
  sct_str_append(&job->text, sct_str_c(&ended));
  sct_str_append(&job->text, "\n");
  job->n_ended = job->text.len;
  for (size_t k = 0; k < n; k++) {
    SCT_GROW(job->lines, job->n_lines, job->cap_lines);
    job->lines[job->n_lines].file = job->file.name;
    job->lines[job->n_lines++].line = line;
  }
}

/* Appends a value's lines; the second and later ones get the indentation of the line they start on,
 * but for pragmas. */
static void append_value(render_job *job, const char *text, size_t indent, int line) {
  for (const char *p = text;;) {
    const char *end = strchr(p, '\n');
    sct_str_append_n(&job->text, p, end ? (size_t)(end - p) : strlen(p));
    if (!end) {
      return;
    }
    end_line(job, line);
    p = end + 1;
    if (*p && *p != '\n' && *p != '#') {
      for (size_t k = 0; k < indent; k++) {
        sct_str_append(&job->text, " ");
      }
    }
  }
}

static size_t count_lines(const char *text) {
  size_t n = 0;
  for (; *text; text++) {
    n += *text == '\n';
  }
  return n;
}

/* Puts the definitions of the device library that the text mentions in front of it. */
static void carry_library(render_job *job) {
  const sct_script *script = job->script;
  bool carried[SCT_MAX_LIBRARY];
  sct_library_needed(script, sct_str_c(&job->text), carried);
  size_t n_front = 0, line = 0;
  for (int k = 0; k < script->n_parts; k++) {
    n_front += carried[k] ? count_lines(script->parts[k].text) + 1 : 0;
  }
  for (size_t k = 0; k < n_front; k++) {
    SCT_GROW(job->lines, job->n_lines, job->cap_lines);
    job->n_lines++;
  }
  memmove(&job->lines[n_front], job->lines, sizeof(*job->lines) * (job->n_lines - n_front));
  job->tail = job->text;
  job->text = (sct_str){0};
  for (int k = 0; k < script->n_parts; k++) {
    const struct sct_library_part *part = &script->parts[k];
    for (size_t n = 0; carried[k] && n <= count_lines(part->text); n++) {
      job->lines[line++] = (struct line_origin){part->file, part->line + (int)n};
    }
    sct_str_append(&job->text, carried[k] ? part->text : "");
    sct_str_append(&job->text, carried[k] ? "\n" : "");
  }
  sct_str_append(&job->text, sct_str_c(&job->tail));
}

/* _o(line, piece, ...): a string is literal text, a table { value } an inserted value. A line that
 * is nothing but blanks and values that are nil or "" leaves no line behind. */
static int out_line(lua_State *L) {
  render_job *job = JOB(L);
  const int line = (int)luaL_checkinteger(L, 1), n = lua_gettop(L);
  const size_t start = job->text.len;
  size_t indent = 0;
  bool blank = true, inserted = false;
  sct_sandbox_charge(L, UNITS_A_LINE); /* the text is C's, no cap of Lua's holds for it */
  if (start > MAX_SOURCE_BYTES) {
    return luaL_error(L, "the template makes a text of more than 4 MiB");
  }
  for (int k = 2; k <= n; k++) {
    if (lua_type(L, k) == LUA_TSTRING) {
      const char *text = lua_tostring(L, k);
      const size_t spaces = strspn(text, " ");
      indent += blank ? spaces : 0;
      blank = blank && text[spaces] == '\0';
      sct_str_append(&job->text, text);
      continue;
    }
    inserted = true;
    lua_geti(L, k, 1);
    if (lua_isboolean(L, -1) || lua_istable(L, -1) || lua_isfunction(L, -1)) {
      return luaL_error(L, "'$()' gave a %s, not text", luaL_typename(L, -1));
    }
    const char *text = lua_isnil(L, -1) ? "" : luaL_tolstring(L, -1, NULL);
    job->text.len = blank && text[0] == '#' ? start : job->text.len; /* a pragma is not indented */
    blank = blank && text[0] == '\0';
    append_value(job, text, indent, line);
  }
  if (inserted && blank) {
    job->text.len = start; /* drop the blanks */
    if (job->text.data) {
      job->text.data[start] = '\0';
    }
    return 0;
  }
  end_line(job, line);
  return 0;
}

/* inset(columns): the lines from here on begin so many columns further right, or left. */
static int inset_lines(lua_State *L) {
  render_job *job = JOB(L);
  const lua_Integer columns = luaL_checkinteger(L, 1);
  luaL_argcheck(L, columns >= -(lua_Integer)job->inset && columns <= 16, 1, "-inset to 16 columns");
  job->inset = (size_t)((lua_Integer)job->inset + columns);
  return 0;
}

/* What a line may not hold, or NULL. A compiler reads any file for a directive, and no header takes
 * a kernel with one. It is the first thing of a line, or stands after a comment. */
static const char *refused_in(const char *line, size_t n) {
  const char *const end = line + n;
  while (n > 0 && strchr(" \t\r", line[n - 1])) {
    n--;
  }
  if (n > 0 && line[n - 1] == '\\') {
    return "a line that a backslash continues";
  }
  for (const char *at = line; at < end; at += 2) {
    at += strspn(at, " \t\r\v\f");
    if ((*at == '#' && !sct_has_prefix(at, "#pragma ")) || sct_has_prefix(at, "%:") ||
        sct_has_prefix(at, "?"
                           "?=")) {
      return "a preprocessor directive";
    }
    while (at + 1 < end && (at[0] != '*' || at[1] != '/')) {
      at++;
    }
  }
  return NULL;
}

static void refuse_directives(lua_State *L, const render_job *job) {
  const char *line = sct_str_c(&job->text);
  for (size_t k = 0; *line; k++) {
    const size_t n = strcspn(line, "\n");
    const char *refused = refused_in(line, n);
    if (refused && k < job->n_lines) {
      sct_script_raise_at(L, job->lines[k].file, job->lines[k].line,
                          "a kernel may not hold %s, as it is compiled and emitted without "
                          "headers; write a constant, or choose in Lua",
                          refused);
    }
    line += n + (line[n] == '\n');
  }
}

/* ---- the plan ----------------------------------------------------------------------------------
 */

/* Pushes the candidate as a table: axis name -> value. */
static void push_candidate(lua_State *L, const render_job *job) {
  const sct_strategy *strategy = &job->space->strategies[job->cand->strategy];
  lua_createtable(L, 0, strategy->n_axes);
  for (int a = 0; a < strategy->n_axes; a++) {
    const sct_axis_value *value = &strategy->axes[a].values[job->cand->value[a]];
    if (value->is_string) {
      lua_pushstring(L, value->text);
    } else if (value->is_bool) {
      lua_pushboolean(L, value->number != 0);
    } else {
      lua_pushinteger(L, value->number);
    }
    lua_setfield(L, -2, strategy->axes[a].name);
  }
}

/* Fills code.layout from the layout axes, which come first. */
static void choose_layouts(render_job *job) {
  const sct_spec *spec = job->script->spec;
  sct_kernel_code *code = &job->out->code;
  code->layout = SCT_ARENA_NEW(&code->arena, int, spec->n_operands);
  code->align = SCT_ARENA_NEW(&code->arena, int64_t, spec->n_operands);
  for (int op = 0; op < spec->n_operands; op++) {
    const int choice = sct_spec_choice_of(spec, op);
    code->align[op] = 1;
    code->layout[op] = choice >= 0 ? job->cand->value[choice] : 0;
  }
}

/* ---- reading the plan back ---------------------------------------------------------------------
 */

/* The value at the top, which is `name` of the plan or of a part of it. */
static int64_t check_integer(lua_State *L, const char *name, int64_t least, int64_t most) {
  int is_integer = 0;
  const int64_t value = lua_tointegerx(L, -1, &is_integer);
  if (!is_integer) {
    luaL_error(L, "'%s' of a plan is a whole number, not a %s", name, luaL_typename(L, -1));
  }
  if (value < least || value > most) {
    luaL_error(L, "'%s' of a plan is %I; expected %I to %I", name, (LUAI_UACINT)value,
               (LUAI_UACINT)least, (LUAI_UACINT)most);
  }
  return value;
}

/* 0: it is not there. */
static int64_t get_number(lua_State *L, int t, const char *name, int64_t least, int64_t most) {
  lua_getfield(L, t, name);
  const int64_t value = lua_isnil(L, -1) ? 0 : check_integer(L, name, least, most);
  lua_pop(L, 1);
  return value;
}

/* Pushes the plan's list `name`; false: it has none. */
static bool push_list(lua_State *L, int plan, const char *name) {
  lua_getfield(L, plan, name);
  if (!lua_isnil(L, -1) && !lua_istable(L, -1)) {
    luaL_error(L, "'%s' of a plan is a list, not a %s", name, luaL_typename(L, -1));
  }
  return lua_istable(L, -1);
}

static int64_t get_workspace(lua_State *L, int t) {
  lua_getfield(L, t, "exclusive");
  if (lua_toboolean(L, -1)) {
    luaL_error(L,
               "a plan has no 'exclusive': launches may overlap, so blocks share a workspace, the "
               "kernel's last argument, of 'workspace_bytes'");
  }
  lua_pop(L, 1);
  return get_number(L, t, "workspace_bytes", 0, MAX_BYTES);
}

/* Launches of a sequence, which leave each other something in the workspace. */
static int get_passes(lua_State *L, int t, const sct_kernel_code *code) {
  const int passes = (int)get_number(L, t, "passes", 2, SCT_MAX_PASSES);
  if (passes > 0 && code->workspace_bytes == 0) {
    luaL_error(L, "a plan with 'passes' has 'workspace_bytes': without them no launch of a "
                  "sequence finds what the one before it left");
  }
  return passes;
}

static const char *get_text(lua_State *L, int t, const char *name, sct_arena *arena) {
  lua_getfield(L, t, name);
  if (!lua_isnil(L, -1) && !lua_isstring(L, -1)) {
    luaL_error(L, "'%s' of a plan is a text, not a %s", name, luaL_typename(L, -1));
  }
  const char *text = sct_script_copy_printable(L, arena, lua_tostring(L, -1));
  lua_pop(L, 1);
  return text;
}

/* Length of the list at the top, the plan's `name`. */
static int plan_list(lua_State *L, const char *name) {
  const int64_t n = sct_script_plain_length(L, -1);
  if (n > MAX_PLAN_LIST) {
    luaL_error(L, "the plan's '%s' has %I entries; at most %d are possible", name, (LUAI_UACINT)n,
               MAX_PLAN_LIST);
  }
  return (int)n;
}

static sct_expr get_expr(lua_State *L, int t, const char *name) {
  lua_getfield(L, t, name);
  if (!lua_isnil(L, -1) && !lua_isinteger(L, -1) && !lua_isuserdata(L, -1)) {
    luaL_error(L, "'%s' of a plan is an expression over extents, not a %s", name,
               luaL_typename(L, -1));
  }
  const sct_expr e = lua_isnil(L, -1) ? SCT_EXPR_NONE : sct_script_check_expr(L, -1);
  lua_pop(L, 1);
  return e;
}

/* Modes beyond those that are kept are one with the last. */
static void read_tiles(lua_State *L, int plan, const sct_spec *spec, sct_kernel_code *code) {
  const int n = push_list(L, plan, "grid_tiles") ? plan_list(L, "grid_tiles") : 0;
  for (int k = 0; k < n; k++) {
    lua_geti(L, -1, k + 1);
    const sct_expr tiles = sct_script_check_expr(L, -1);
    lua_pop(L, 1);
    if (k < SCT_MAX_TILES) {
      code->tiles[code->n_tiles++] = tiles;
    } else {
      code->tiles[SCT_MAX_TILES - 1] =
          sct_expr_mul(spec->pool, code->tiles[SCT_MAX_TILES - 1], tiles);
    }
  }
  lua_pop(L, 1);
}

static void see_indexes(const sct_spec *spec, sct_kernel_code *code) {
  for (int op = 0; op < spec->n_operands; op++) {
    code->indexed = code->indexed || spec->operands[op].through_index;
  }
}

static void read_requires(lua_State *L, int plan, const sct_spec *spec, sct_kernel_code *code) {
  const int n = push_list(L, plan, "requires") ? plan_list(L, "requires") : 0;
  code->require = SCT_ARENA_NEW(&code->arena, sct_expr, n + 1);
  for (int k = 0; k < n; k++) {
    lua_geti(L, -1, k + 1);
    if (!lua_isuserdata(L, -1) && !lua_isinteger(L, -1)) {
      luaL_error(L, "an entry of 'requires' of a plan is a condition over extents, not a %s",
                 luaL_typename(L, -1));
    }
    code->require[k] = sct_script_check_expr(L, -1);
    lua_pop(L, 1);
  }
  code->n_require = n;
  lua_pop(L, 1);
  const bool aligns = push_list(L, plan, "align");
  if (aligns && plan_list(L, "align") > spec->n_operands) {
    luaL_error(L, "'align' of a plan has %I entries; the kernel has %d operands",
               (LUAI_UACINT)plan_list(L, "align"), spec->n_operands);
  }
  for (int op = 0; aligns && op < spec->n_operands; op++) {
    lua_geti(L, -1, op + 1);
    code->align[op] = lua_isnil(L, -1) ? 1 : check_integer(L, "align", 1, MAX_ALIGN);
    if ((code->align[op] & (code->align[op] - 1)) != 0) {
      luaL_error(L, "'align' of a plan is %I; expected a power of two",
                 (LUAI_UACINT)code->align[op]);
    }
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
}

/* Whether a script reads a field of this name: ".name", and not to set it. */
static bool is_read(const sct_sandbox *sb, const char *name) {
  const size_t n = strlen(name);
  for (size_t k = 0; k < sb->n_chunks; k++) {
    const char *text = sb->chunks[k].text;
    for (const char *p = strstr(text, name); p != NULL; p = strstr(p + n, name)) {
      const char *after = p + n + strspn(p + n, " ");
      const bool whole = p > text && p[-1] == '.' && !(isalnum((unsigned char)p[n]) || p[n] == '_');
      if (whole && (*after != '=' || after[1] == '=')) {
        return true;
      }
    }
  }
  return false;
}

/* A field that neither the program nor the template reads, nor another script, is a mistake. */
static void check_fields(lua_State *L, render_job *job, int plan) {
  static const char *const texts[] = {
      "kernel",     "threads", "requires",        "align",     "grid",
      "grid_tiles", "doc",     "shared_bytes",    "traffic",   "static_shared_bytes",
      "rounds",     "windows", "workspace_bytes", "exclusive", "passes"};
  const sct_names legal = SCT_NAMES(texts, SCT_COUNT(texts));
  lua_getfield(L, plan, "overridden");
  if (lua_isstring(L, -1)) {
    luaL_error(L, "'%s' of a plan is the generator's: cuda.new, g:require or g:need_align set it",
               lua_tostring(L, -1));
  }
  sct_template_push_names(L, &job->file);
  const int names = lua_gettop(L);
  sct_script_push_sorted_keys(L, plan);
  for (lua_Integer n = 1; lua_rawgeti(L, names + 1, n) != LUA_TNIL; n++, lua_pop(L, 1)) {
    const char *key = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : NULL;
    const bool known = key == NULL || strlen(key) <= 2 || sct_names_find(legal, key) >= 0 ||
                       lua_getfield(L, names, key) != LUA_TNIL;
    if (!known && !is_read(sct_sandbox_of(L), key)) {
      sct_str *text = &sct_sandbox_of(L)->scratch;
      sct_str_clear(text);
      sct_str_printf(text, "unknown field '%s' in a plan: neither the program nor '%s' reads it",
                     key, job->file.name);
      sct_str_suggest(text, key, legal);
      luaL_error(L, "%s", sct_str_c(text));
    }
    lua_settop(L, names + 2);
  }
  lua_settop(L, names - 2);
}

/* ---- what an expression may be over ---- */

static bool is_among(sct_expr e, const sct_expr *list, int n) {
  for (int k = 0; k < n; k++) {
    if (list[k] == e) {
      return true;
    }
  }
  return false;
}

typedef struct var_check {
  lua_State *L;
  const sct_spec *spec;
  const char *file; /* the strategy's */
} var_check;

static void check_vars(const var_check *c, const char *what, sct_expr e) {
  const sct_spec *spec = c->spec;
  sct_expr vars[MAX_VARS];
  const int n = e == SCT_EXPR_NONE ? 0 : sct_expr_vars(spec->pool, e, vars, MAX_VARS);
  for (int k = 0; k < n && k < MAX_VARS; k++) {
    const char *name = sct_expr_var_name(spec->pool, vars[k]);
    if (!is_among(vars[k], spec->extent_var, spec->n_extents)) {
      sct_script_raise_at(c->L, c->file, SCT_LINE_OF_NAME,
                          "'%s' of a plan mentions '%.*s', which has no value there: it is over "
                          "extents",
                          what, (int)strcspn(name, "#"), name);
    }
  }
}

/* Whoever evaluates them finds it out too, and could not go on. */
static void check_expressions(const var_check *c, const sct_kernel_code *code) {
  check_vars(c, "grid", code->grid);
  for (int k = 0; k < code->n_tiles; k++) {
    check_vars(c, "grid_tiles", code->tiles[k]);
  }
  for (int k = 0; k < code->n_require; k++) {
    check_vars(c, "requires", code->require[k]);
  }
  for (int op = 0; op < c->spec->n_operands; op++) {
    check_vars(c, "traffic", code->traffic[op].bytes);
    check_vars(c, "traffic", code->traffic[op].sectors);
    check_vars(c, "traffic", code->traffic[op].lines);
  }
  check_vars(c, "wavefronts", code->wavefronts);
}

/* Lines that follow each other in a template are one line here: their number, the first, the file.
 */
static void read_lines(const render_job *job, sct_kernel_code *code) {
  SCT_SCOPED(sct_str) text = {0};
  for (size_t k = 0, n = 1; k < job->n_lines; k += n, n = 1) {
    const struct line_origin *first = &job->lines[k];
    while (k + n < job->n_lines && first[n].file == first->file &&
           first[n].line == first->line + (int)n) {
      n++;
    }
    sct_str_printf(&text, "%zu %d %s\n", n, first->line, first->file);
  }
  code->lines = sct_arena_strdup(&code->arena, sct_str_c(&text));
}

static void read_plan(lua_State *L, render_job *job, int plan) {
  sct_kernel_code *code = &job->out->code;
  refuse_directives(L, job);
  check_fields(L, job, plan);
  code->source = sct_script_copy_text(&code->arena, sct_str_c(&job->text));
  code->kernel = get_text(L, plan, "kernel", &code->arena);
  code->launcher_doc = get_text(L, plan, "doc", &code->arena);
  code->threads = (int)get_number(L, plan, "threads", 1, MAX_THREADS);
  code->grid = get_expr(L, plan, "grid");
  read_tiles(L, plan, job->script->spec, code);
  code->rounds = (int)get_number(L, plan, "rounds", 0, MAX_ROUNDS);
  code->windows = (int)get_number(L, plan, "windows", 0, MAX_ROUNDS);
  code->shared_bytes = get_number(L, plan, "shared_bytes", 0, MAX_BYTES);
  code->static_shared_bytes = get_number(L, plan, "static_shared_bytes", 0, MAX_BYTES);
  code->workspace_bytes = get_workspace(L, plan);
  code->passes = get_passes(L, plan, code);
  if (!code->kernel || !sct_is_identifier(code->kernel) || code->threads < 1 ||
      code->grid == SCT_EXPR_NONE) {
    luaL_error(L, "a plan has kernel (a name), threads (1 to 1024) and grid");
  }
  read_requires(L, plan, job->script->spec, code);
  see_indexes(job->script->spec, code);
  sct_script_read_traffic(L, plan, job->script->spec, code);
  read_lines(job, code);
  const var_check check = {L, job->script->spec, job->space->strategies[job->cand->strategy].file};
  if (!sct_has_prefix(check.file, "tuning/strategies/")) { /* tests count with ours */
    check_expressions(&check, code);
  }
}

/* ---- running -----------------------------------------------------------------------------------
 */

/* A table that looks up the plan first and then what strategies see. */
static void push_template_env(lua_State *L, render_job *job, int plan) {
  lua_createtable(L, 0, 3);
  lua_pushlightuserdata(L, job);
  lua_pushcclosure(L, out_line, 1);
  lua_setfield(L, -2, "_o");
  lua_pushlightuserdata(L, job);
  lua_pushcclosure(L, inset_lines, 1);
  lua_setfield(L, -2, "inset");
  lua_rawgeti(L, LUA_REGISTRYINDEX, job->script->template_meta_ref);
  lua_setmetatable(L, -2);
  /* plan fields are copied: an env with two fallbacks would need a function */
  lua_pushnil(L);
  while (lua_next(L, plan)) {
    lua_pushvalue(L, -2);
    lua_insert(L, -2);
    lua_rawset(L, -4);
  }
}

/* What a strategy asks for and the view at the top lacks, with the candidate's layouts: it applies
 * with one combination of them at least. NULL: nothing. */
static const char *why_not_with_these(lua_State *L, const render_job *job, int strategy) {
  const sct_spec *spec = job->script->spec;
  bool chosen = false;
  for (int op = 0; op < spec->n_operands; op++) {
    chosen = chosen || spec->operands[op].n_layouts > 1;
  }
  const char *file = job->space->strategies[job->cand->strategy].file;
  const char *missing = chosen ? sct_script_why_not(L, strategy, lua_gettop(L), file) : NULL;
  return missing ? sct_arena_printf(&job->out->code.arena, "not with these layouts: %s", missing)
                 : NULL;
}

/* Is it a candidate of the axis that add_math() adds (script_space.c)? */
static bool is_fast(const render_job *job) {
  const sct_strategy *strategy = &job->space->strategies[job->cand->strategy];
  const int last = strategy->n_axes - 1;
  return strategy->has_math && job->cand->value[last] == 1;
}

/* The sizes that the candidate is rendered for, of the garbage collector; NULL: all. */
static const bool *rendered_sizes(lua_State *L, const render_job *job) {
  const int size = job->cand->size, n_sizes = job->script->spec->n_sizes;
  if (size == 0) {
    return job->space->strategies[job->cand->strategy].sizes;
  }
  bool *sizes = lua_newuserdatauv(L, (size_t)n_sizes, 0);
  memset(sizes, 0, (size_t)n_sizes);
  sizes[size - 1] = true;
  return sizes;
}

/* Index of the plan, or 0 with `rejected` set. */
static int run_plan(lua_State *L, render_job *job, int strategy) {
  const bool *sizes = rendered_sizes(L, job);
  lua_getfield(L, strategy, "plan");
  if (!lua_isfunction(L, -1)) {
    luaL_error(L, "the strategy has no function plan(k, c)");
  }
  sct_view_kind kind = sct_script_view_kind(L, strategy);
  kind.fast = is_fast(job);
  sct_script_push_view(L, job->script, job->out->code.layout, &kind, sizes);
  const char *reason = why_not_with_these(L, job, strategy);
  if (reason) {
    job->out->rejected = sct_script_copy_printable(L, &job->out->code.arena, reason);
    return 0;
  }
  sct_template_push_words(L, &job->file);
  lua_setfield(L, -2, "words");
  push_candidate(L, job);
  lua_call(L, 2, 2);
  if (!lua_istable(L, -2)) {
    reason = lua_isstring(L, -1) ? lua_tostring(L, -1) : "rejected by its plan";
    job->out->rejected = sct_script_copy_printable(L, &job->out->code.arena, reason);
    return 0;
  }
  lua_pop(L, 1);
  return lua_gettop(L);
}

static int render(lua_State *L) {
  render_job *job = lua_touserdata(L, 1);
  const sct_strategy *strategy = &job->space->strategies[job->cand->strategy];
  job->script->sandbox.blame = strategy->file;
  choose_layouts(job);
  job->file.script = job->script;
  sct_template_find(L, &job->file, strategy->source, strategy->template_name);
  lua_rawgeti(L, LUA_REGISTRYINDEX, job->script->strategy_ref[strategy->source]);
  const int plan = run_plan(L, job, lua_gettop(L));
  if (plan == 0) {
    return 0;
  }
  push_template_env(L, job, plan);
  sct_template_push(L, &job->file, lua_gettop(L));
  lua_call(L, 0, 0);
  carry_library(job);
  read_plan(L, job, plan);
  return 0;
}

sct_status sct_script_render(sct_rendered *out, sct_script *script, const sct_space *space,
                             const sct_candidate *cand, sct_error *err) {
  *out = (sct_rendered){0};
  const sct_strategy *strategy = &space->strategies[cand->strategy];
  if (strategy->own) {
    sct_own_render(out, script->spec, strategy, cand);
    return SCT_OK;
  }
  render_job job = {.script = script, .space = space, .cand = cand, .out = out};
  const sct_status status = sct_sandbox_protect(&script->sandbox, render, &job, err);
  sct_str_free(&job.text);
  sct_str_free(&job.tail);
  sct_template_free(&job.file);
  sct_free(job.lines);
  if (status != SCT_OK || out->rejected) {
    if (status != SCT_OK) {
      sct_kernel_code_free(&out->code);
    }
  }
  return status;
}
