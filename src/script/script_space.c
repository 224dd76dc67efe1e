/* Strategies as plain data: when they apply, which axes they have and what their constraints are.
 *
 * What suits one tuned size may suit no other: tiles of a thin matrix, a short mode to unroll. So a
 * strategy is asked for every size alone, and becomes one sct_strategy for all sizes of which it
 * says the same. All of it runs protected and raises freely. */
#include "script/script_private.h"
#include "script/script_strategy_internal.h"

#include <stdlib.h>
#include <string.h>

#define LAYOUT_PREFIX           "layout_" /* axis "layout_p" chooses the layout of operand p */
#define MAX_LAYOUT_COMBINATIONS 64
#define MAX_NAME                48   /* it begins labels */
#define MAX_LIST                4096 /* values of an axis, conditions, facts */

typedef struct reader {
  sct_script *script;
  sct_space *space;
} reader;

/* Field `name` of the table at the top as kept text; NULL if nil. */
static const char *opt_text(lua_State *L, sct_arena *arena, const char *file, const char *name) {
  const char *text = NULL;
  lua_getfield(L, -1, name);
  if (lua_type(L, -1) == LUA_TSTRING) {
    text = sct_script_copy_printable(L, arena, lua_tostring(L, -1));
  } else if (!lua_isnil(L, -1)) {
    sct_script_raise_at(L, file, SCT_LINE_OF_NAME, "'%s' of the strategy is a string, not a %s",
                        name, luaL_typename(L, -1));
  }
  lua_pop(L, 1);
  return text;
}

static void read_value(lua_State *L, reader *r, const char *file, const char *axis,
                       sct_axis_value *value) {
  sct_arena *arena = &r->space->arena;
  if (lua_isinteger(L, -1)) {
    value->number = lua_tointeger(L, -1);
    lua_pushfstring(L, "%I", (LUAI_UACINT)value->number);
    value->text = sct_script_copy_printable(L, arena, lua_tostring(L, -1));
    lua_pop(L, 1);
  } else if (lua_isboolean(L, -1)) {
    value->is_bool = true;
    value->number = lua_toboolean(L, -1);
    value->text = value->number ? "1" : "0";
  } else if (lua_type(L, -1) == LUA_TSTRING) {
    value->is_string = true;
    value->text = sct_script_copy_printable(L, arena, lua_tostring(L, -1));
    value->number = sct_space_intern(value->text);
  } else {
    sct_script_raise_at(L, file, SCT_LINE_OF_NAME,
                        "axis '%s': a value is an integer, a string or a boolean, not a %s", axis,
                        luaL_typename(L, -1));
  }
}

static bool same_value(const sct_axis_value *a, const sct_axis_value *b) {
  return a->is_string == b->is_string && a->is_bool == b->is_bool && a->number == b->number;
}

/* Length of the list at the top; nothing there is an empty one. What is no list at all would drop
 * out without a word. */
static int list_length(lua_State *L, const char *file, const char *name) {
  if (!lua_isnil(L, -1) && !lua_istable(L, -1)) {
    sct_script_raise_at(L, file, SCT_LINE_OF_NAME, "'%s' is a list, not a %s", name,
                        luaL_typename(L, -1));
  }
  const int64_t n = lua_isnil(L, -1) ? 0 : sct_script_plain_length(L, -1);
  if (n > MAX_LIST) {
    sct_script_raise_at(L, file, SCT_LINE_OF_NAME, "'%s' has %lld entries; at most %d are possible",
                        name, (long long)n, MAX_LIST);
  }
  return (int)n;
}

/* One axis: { "threads", { 128, 256 }, key = "t", doc = "...", when = "...", neutral = 256 } */
static void read_axis(lua_State *L, reader *r, const char *file, sct_axis *axis) {
  static const char *const legal[] = {"key", "doc", "when", "neutral"};
  sct_arena *arena = &r->space->arena;
  if (!lua_istable(L, -1)) {
    sct_script_raise_at(L, file, SCT_LINE_OF_NAME,
                        "an entry of 'axes' is a table { name, values }, not a %s",
                        luaL_typename(L, -1));
  }
  sct_script_check_keys(L, file, "an axis", legal, SCT_COUNT(legal));
  lua_geti(L, -1, 1);
  if (lua_type(L, -1) != LUA_TSTRING || !sct_is_identifier(lua_tostring(L, -1))) {
    sct_script_raise_at(L, file, SCT_LINE_OF_NAME, "an entry of 'axes' begins with its name");
  }
  axis->name = sct_script_copy_printable(L, arena, lua_tostring(L, -1));
  lua_pop(L, 1);
  axis->key = opt_text(L, arena, file, "key");
  axis->doc = opt_text(L, arena, file, "doc");
  axis->when = opt_text(L, arena, file, "when");
  if (!axis->key) {
    axis->key = axis->name;
  }
  lua_geti(L, -1, 2);
  axis->n_values = lua_istable(L, -1) ? list_length(L, file, "the values of an axis") : 0;
  if (axis->n_values < 1) {
    sct_script_raise_at(L, file, SCT_LINE_OF_NAME,
                        "axis '%s' has no values: write { \"%s\", { 1, 2, 4 } }", axis->name,
                        axis->name);
  }
  axis->values = sct_arena_alloc(arena, sizeof *axis->values * (size_t)axis->n_values);
  for (int k = 0; k < axis->n_values; k++) {
    lua_geti(L, -1, k + 1);
    read_value(L, r, file, axis->name, &axis->values[k]);
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  lua_getfield(L, -1, "neutral");
  if (!lua_isnil(L, -1)) {
    sct_axis_value neutral = {0};
    read_value(L, r, file, axis->name, &neutral);
    axis->neutral = -1;
    for (int k = 0; k < axis->n_values; k++) {
      if (same_value(&neutral, &axis->values[k])) {
        axis->neutral = k;
      }
    }
    if (axis->neutral < 0) {
      sct_script_raise_at(L, file, SCT_LINE_OF_NAME,
                          "axis '%s': its neutral value is none of its values", axis->name);
    }
  }
  lua_pop(L, 1);
}

/* Pushes field `name` of the strategy at index s: a value, or what the function there returns for
 * k. */
static void push_field(lua_State *L, int s, const char *name, int view) {
  lua_getfield(L, s, name);
  if (lua_isfunction(L, -1)) {
    lua_pushvalue(L, view);
    lua_call(L, 1, 1);
  }
}

void sct_script_layout_axes(sct_strategy *strategy, sct_arena *arena, const sct_spec *spec) {
  for (int op = 0; op < spec->n_operands; op++) {
    const sct_operand *operand = &spec->operands[op];
    if (operand->n_layouts < 2 || sct_spec_choice_leader(spec, op) != op) {
      continue;
    }
    sct_axis *axis = &strategy->axes[strategy->n_axes++];
    *axis = (sct_axis){.name = sct_arena_printf(arena, LAYOUT_PREFIX "%s", operand->name),
                       .key = sct_arena_printf(arena, "%s=", operand->name),
                       .doc = "layout of an operand that the tuner may lay out",
                       .n_values = operand->n_layouts};
    axis->values = SCT_ARENA_NEW(arena, sct_axis_value, axis->n_values);
    for (int k = 0; k < axis->n_values; k++) {
      axis->values[k].is_string = true;
      axis->values[k].text = sct_arena_strdup(arena, operand->layouts[k].label);
      axis->values[k].number = sct_space_intern(axis->values[k].text);
    }
  }
}

/* The axis of policies of L2, or else the last one that has a choice; NULL: none has. */
static const sct_axis *axis_beside_math(const sct_strategy *strategy) {
  const sct_axis *last = NULL;
  for (int a = 0; a < strategy->n_axes; a++) {
    const sct_axis *axis = &strategy->axes[a];
    if (strcmp(axis->name, "evict") == 0) {
      return axis;
    }
    last = axis->n_values > 1 ? axis : last;
  }
  return last;
}

/* "evict == 'none'"; where there is no such value, that to which the axis collapses. */
static const char *where_fast(const sct_strategy *strategy, sct_arena *arena) {
  const sct_axis *axis = axis_beside_math(strategy);
  if (!axis) {
    return NULL;
  }
  int v = axis->neutral;
  for (int k = 0; k < axis->n_values; k++) {
    v = axis->values[k].is_string && strcmp(axis->values[k].text, "none") == 0 ? k : v;
  }
  const sct_axis_value *value = &axis->values[v];
  return value->is_string ? sct_arena_printf(arena, "%s == '%s'", axis->name, value->text)
         : value->is_bool ? sct_arena_printf(arena, "%s%s", value->number ? "" : "not ", axis->name)
                          : sct_arena_printf(arena, "%s == %s", axis->name, value->text);
}

/* Exact or fast arithmetic, where the body has some of which both exist and the spec's tolerance
 * lets it be fast. Only next to one value of another axis, that of policies of L2 where there is
 * one: where one of the two gains anything the other gains nothing, and the space would double. */
static void add_math(lua_State *L, reader *r, sct_strategy *strategy) {
  static const char *const words[] = {"exact", "fast"};
  sct_arena *arena = &r->space->arena;
  bool own = false;
  for (int a = 0; a < strategy->n_axes; a++) {
    own = own || strcmp(strategy->axes[a].name, "math") == 0;
  }
  if (own || strategy->source == 0 || !sct_spec_has_fast(r->script->spec)) {
    return; /* the naive variant is what fast arithmetic is held to */
  }
  if (strategy->n_axes == SCT_MAX_AXES) {
    sct_script_raise_at(L, strategy->file, SCT_LINE_OF_NAME, "%d axes; at most %d are possible",
                        SCT_MAX_AXES + 1, SCT_MAX_AXES);
  }
  const char *when = where_fast(strategy, arena);
  sct_axis *axis = &strategy->axes[strategy->n_axes++];
  *axis = (sct_axis){.name = "math",
                     .key = "math=",
                     .doc = "arithmetic of the body; fast: __sinf, __expf, __fdividef, rsqrtf",
                     .n_values = SCT_COUNT(words),
                     .when = when,
                     .values = SCT_ARENA_NEW(arena, sct_axis_value, SCT_COUNT(words))};
  for (int k = 0; k < axis->n_values; k++) {
    axis->values[k] =
        (sct_axis_value){.is_string = true, .text = words[k], .number = sct_space_intern(words[k])};
  }
  strategy->has_math = true;
}

static void read_axes(lua_State *L, reader *r, int s, int view, sct_strategy *strategy) {
  sct_arena *arena = &r->space->arena;
  const sct_spec *spec = r->script->spec;
  push_field(L, s, "axes", view);
  if (!lua_istable(L, -1)) {
    sct_script_raise_at(L, strategy->file, SCT_LINE_OF_NAME, "'axes' is a list of axes");
  }
  const int n_layout = sct_spec_n_choices(spec),
            n = n_layout + list_length(L, strategy->file, "axes");
  if (n > SCT_MAX_AXES) {
    sct_script_raise_at(L, strategy->file, SCT_LINE_OF_NAME, "%d axes; at most %d are possible", n,
                        SCT_MAX_AXES);
  }
  strategy->axes = sct_arena_alloc(arena, sizeof *strategy->axes * (size_t)(n + 2));
  sct_script_layout_axes(strategy, arena, spec);
  for (int k = n_layout; k < n; k++) {
    lua_geti(L, -1, k - n_layout + 1);
    read_axis(L, r, strategy->file, &strategy->axes[strategy->n_axes++]);
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  add_math(L, r, strategy);
}

static void read_where(lua_State *L, reader *r, int s, int view, sct_strategy *strategy) {
  push_field(L, s, "where", view);
  const int n = list_length(L, strategy->file, "where");
  strategy->where = sct_arena_alloc(&r->space->arena, sizeof *strategy->where * (size_t)(n + 1));
  for (int k = 0; k < n; k++) {
    lua_geti(L, -1, k + 1);
    if (lua_type(L, -1) != LUA_TSTRING) {
      sct_script_raise_at(L, strategy->file, SCT_LINE_OF_NAME,
                          "an entry of 'where' is text, such as \"threads * items <= 4096\"");
    }
    strategy->where[k].text = sct_script_copy_printable(L, &r->space->arena, lua_tostring(L, -1));
    strategy->where[k].file = strategy->file;
    lua_pop(L, 1);
  }
  strategy->n_where = n;
  lua_pop(L, 1);
}

/* Pushes entry k of the list at the top, and its first and second. false: it is no pair that begins
 * with a text. */
static bool push_pair(lua_State *L, int k) {
  if (lua_geti(L, -1, k) != LUA_TTABLE) {
    return false;
  }
  const bool is_named = lua_geti(L, -1, 1) == LUA_TSTRING;
  lua_geti(L, -2, 2);
  return is_named;
}

/* facts: a list of { name, integer }, so that their order is fixed. */
static void read_facts(lua_State *L, reader *r, int s, int view, sct_strategy *strategy) {
  push_field(L, s, "facts", view);
  const int n = list_length(L, strategy->file, "facts");
  strategy->facts = sct_arena_alloc(&r->space->arena, sizeof *strategy->facts * (size_t)(n + 1));
  for (int k = 0; k < n; k++) {
    if (!push_pair(L, k + 1) || !lua_isinteger(L, -1)) {
      sct_script_raise_at(L, strategy->file, SCT_LINE_OF_NAME,
                          "an entry of 'facts' is { name, integer }");
    }
    strategy->facts[k].name = sct_script_copy_printable(L, &r->space->arena, lua_tostring(L, -2));
    strategy->facts[k].value = lua_tointeger(L, -1);
    lua_pop(L, 3);
  }
  strategy->n_facts = n;
  lua_pop(L, 1);
}

const char *sct_script_why_not(lua_State *L, int s, int view, const char *file) {
  const char *reason = NULL;
  lua_getfield(L, s, "applies");
  const int n = list_length(L, file, "applies");
  for (int k = 1; k <= n && !reason; k++) {
    if (!push_pair(L, k) || !lua_isfunction(L, -1)) {
      sct_script_raise_at(L, file, SCT_LINE_OF_NAME,
                          "an entry of 'applies' is { condition in words, function(k) }");
    }
    lua_pushvalue(L, view);
    lua_call(L, 1, 1);
    if (!lua_toboolean(L, -1)) {
      reason = lua_tostring(L, -2);
    }
    lua_pop(L, 3);
  }
  lua_pop(L, 1);
  return reason; /* still referenced by the strategy's table */
}

static bool next_layouts(const sct_spec *spec, int *layout) {
  bool more = false;
  for (int op = spec->n_operands - 1; op >= 0 && !more; op--) {
    if (sct_spec_choice_leader(spec, op) == op) {
      more = ++layout[op] < spec->operands[op].n_layouts;
      layout[op] = more ? layout[op] : 0;
    }
  }
  for (int op = 0; op < spec->n_operands; op++) {
    layout[op] = layout[sct_spec_choice_leader(spec, op)];
  }
  return more;
}

sct_view_kind sct_script_view_kind(lua_State *L, int s) {
  static const char *const words[] = {"none", SCT_SPLITS_MERGING, "all"};
  const char *splits = SCT_SPLITS_MERGING;
  if (lua_getfield(L, s, "splits") != LUA_TNIL) {
    const char *given = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "";
    splits = NULL;
    for (int k = 0; k < SCT_COUNT(words); k++) {
      splits = strcmp(given, words[k]) == 0 ? words[k] : splits;
    }
    if (!splits) {
      luaL_error(L, "'splits' of a strategy is \"none\", \"merging\" or \"all\"");
    }
  }
  lua_pop(L, 1);
  const char *taps = NULL;
  if (lua_getfield(L, s, "taps") != LUA_TNIL) {
    const bool apart = lua_type(L, -1) == LUA_TSTRING && strcmp(lua_tostring(L, -1), "apart") == 0;
    if (!apart && !lua_isboolean(L, -1)) {
      luaL_error(L, "'taps' of a strategy is true or \"apart\"");
    }
    taps = apart ? "apart" : lua_toboolean(L, -1) ? "together" : NULL;
  }
  lua_pop(L, 1);
  return (sct_view_kind){.splits = splits, .taps = taps};
}

/* Leaves on the stack the view of the first layout combination that the strategy applies to at
 * `sizes` (or of the first one at all, with the reason). */
static const char *push_fitting_view(lua_State *L, reader *r, int s, const char *file,
                                     const bool *sizes) {
  const sct_spec *spec = r->script->spec;
  const sct_view_kind kind = sct_script_view_kind(L, s);
  int *layout = lua_newuserdatauv(L, sizeof *layout * (size_t)spec->n_operands, 0);
  memset(layout, 0, sizeof *layout * (size_t)spec->n_operands);
  const char *first_reason = NULL;
  for (int n = 0; n < MAX_LAYOUT_COMBINATIONS; n++) {
    sct_sandbox_renew(L);
    sct_script_push_view(L, r->script, layout, &kind, sizes);
    const int view = lua_gettop(L);
    const bool together = kind.taps && strcmp(kind.taps, "together") == 0;
    const bool leaves_taps_out = !together && sct_script_field_flag(L, view, "has_taps");
    const char *reason = leaves_taps_out ? "every array is read at one place (no taps)"
                                         : sct_script_why_not(L, s, view, file);
    if (!reason) {
      return NULL;
    }
    first_reason = first_reason ? first_reason : reason;
    if (!next_layouts(spec, layout)) {
      break;
    }
    lua_pop(L, 1);
  }
  return first_reason;
}

/* Name, template and documentation of the strategy at the top. */
static void read_names(lua_State *L, reader *r, sct_strategy *strategy) {
  static const char *const legal[] = {
      "name", "doc",     "applies", "axes",  "taps",        "where",  "facts", "template",
      "plan", "reduces", "splits",  "steps", "accumulates", "ragged", "scans", "nested"};
  sct_arena *arena = &r->space->arena;
  sct_script_check_keys(L, strategy->file, "a strategy", legal, SCT_COUNT(legal));
  strategy->name = opt_text(L, arena, strategy->file, "name");
  strategy->doc = opt_text(L, arena, strategy->file, "doc");
  strategy->template_name = opt_text(L, arena, strategy->file, "template");
  if (!strategy->name || !sct_is_identifier(strategy->name) || strlen(strategy->name) > MAX_NAME ||
      !strategy->template_name) {
    sct_script_raise_at(L, strategy->file, SCT_LINE_OF_NAME,
                        "a strategy has a name (an identifier, at most %d letters) and a template",
                        MAX_NAME);
  }
  for (int other = 0; other < r->space->n_strategies; other++) { /* labels begin with the name */
    if (strcmp(r->space->strategies[other].name, strategy->name) == 0) {
      sct_script_raise_at(L, strategy->file, SCT_LINE_OF_NAME,
                          "there is a strategy '%s' already: %s", strategy->name,
                          r->space->strategies[other].file);
    }
  }
  if (strchr(strategy->template_name, '/')) {
    sct_script_raise_at(L, strategy->file, SCT_LINE_OF_NAME,
                        "template '%s': a file of templates/, without a '/'",
                        strategy->template_name);
  }
}

/* Is the index space empty at all of these sizes? NULL: at every size. */
static bool is_empty_at(const sct_spec *spec, const bool *sizes) {
  bool empty = true;
  for (int z = 0; z < spec->n_sizes && empty; z++) {
    empty = (sizes && !sizes[z]) || sct_spec_elements(spec, &spec->sizes[z]) == 0;
  }
  return empty;
}

/* What the strategy at index s is at strategy->sizes. */
static void read_at_sizes(lua_State *L, reader *r, int s, sct_strategy *strategy) {
  const int top = lua_gettop(L);
  const char *reason = NULL;
  if (sct_spec_is_ragged(r->script->spec) && !sct_script_field_flag(L, s, "ragged")) {
    reason = "rows have different lengths";
  } else if (r->script->spec->reduces && !sct_script_field_flag(L, s, "reduces")) {
    reason = "every element has a place of its own in the outputs";
  } else if (r->script->spec->n_steps > 0 && !sct_script_field_flag(L, s, "steps")) {
    reason = "the kernel has a body, not steps";
  } else if (r->script->spec->nested && !sct_script_field_flag(L, s, "nested")) {
    reason = "all steps reduce the same dimensions";
  } else if (r->script->spec->scans && !sct_script_field_flag(L, s, "scans")) {
    reason = "an element of the outputs does not depend on those before it";
  } else if (sct_spec_accumulates(r->script->spec) && !sct_script_field_flag(L, s, "accumulates")) {
    reason = "no output is accumulated";
  } else if (strategy->source > 0 && is_empty_at(r->script->spec, strategy->sizes)) {
    reason = "the index space has elements"; /* the naive variant writes what else there is */
  } else {
    reason = push_fitting_view(L, r, s, strategy->file, strategy->sizes);
  }
  const int view = lua_gettop(L);
  strategy->applies = reason == NULL;
  strategy->why_not = reason ? sct_script_copy_printable(L, &r->space->arena, reason) : NULL;
  strategy->n_axes = 0;
  if (strategy->applies) {
    read_axes(L, r, s, view, strategy);
    read_where(L, r, s, view, strategy);
    read_facts(L, r, s, view, strategy);
  }
  lua_settop(L, top);
}

static bool same_text(const char *a, const char *b) {
  return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_axis(const sct_axis *a, const sct_axis *b) {
  bool same = strcmp(a->name, b->name) == 0 && same_text(a->when, b->when) &&
              a->neutral == b->neutral && a->n_values == b->n_values;
  for (int k = 0; k < a->n_values && same; k++) {
    same = same_value(&a->values[k], &b->values[k]);
  }
  return same;
}

/* Do both have the same candidates? */
static bool is_same(const sct_strategy *a, const sct_strategy *b) {
  bool same = a->applies == b->applies && a->n_axes == b->n_axes && a->n_where == b->n_where &&
              a->n_facts == b->n_facts;
  for (int k = 0; k < a->n_axes && same; k++) {
    same = same_axis(&a->axes[k], &b->axes[k]);
  }
  for (int k = 0; k < a->n_where && same; k++) {
    same = strcmp(a->where[k].text, b->where[k].text) == 0;
  }
  for (int k = 0; k < a->n_facts && same; k++) {
    same =
        strcmp(a->facts[k].name, b->facts[k].name) == 0 && a->facts[k].value == b->facts[k].value;
  }
  return same;
}

/* Reads the strategy at index s for every size alone; list[] gets what differs, each with the sizes
 * that it is for. Returns how many. */
static int read_apart(lua_State *L, reader *r, int s, const sct_strategy *names,
                      sct_strategy *list) {
  const int n_sizes = r->script->spec->n_sizes;
  int n = 0;
  for (int z = 0; z < n_sizes; z++) {
    sct_strategy one = *names;
    bool *sizes = SCT_ARENA_NEW(&r->space->arena, bool, n_sizes);
    sizes[z] = true;
    one.sizes = sizes;
    read_at_sizes(L, r, s, &one);
    int k = 0;
    while (k < n && !is_same(&one, &list[k])) {
      k++;
    }
    if (k == n) {
      list[n++] = one;
    } else {
      bool *joined = SCT_ARENA_NEW(&r->space->arena, bool, n_sizes);
      memcpy(joined, list[k].sizes, sizeof *joined * (size_t)n_sizes);
      joined[z] = true;
      list[k].sizes = joined;
    }
  }
  return n;
}

/* Strategy file k: one sct_strategy, or several for some sizes each. */
static void read_strategy(lua_State *L, reader *r, int k) {
  sct_space *space = r->space;
  const int top = lua_gettop(L), n_sizes = r->script->spec->n_sizes;
  sct_strategy names = {.file = r->script->files[k], .source = k};
  sct_strategy *list = &space->strategies[space->n_strategies];
  int n = 1;
  r->script->sandbox.blame = names.file;
  lua_rawgeti(L, LUA_REGISTRYINDEX, r->script->strategy_ref[k]);
  const int s = lua_gettop(L);
  read_names(L, r, &names);
  if (n_sizes > 1) {
    n = read_apart(L, r, s, &names, list);
  } else {
    list[0] = names;
    read_at_sizes(L, r, s, &list[0]);
  }
  space->n_strategies += n;
  lua_settop(L, top);
}

static void add_own(lua_State *L, reader *r, const sct_own *own) {
  sct_space *space = r->space;
  const sct_spec *spec = r->script->spec;
  for (int k = 0; k < space->n_strategies; k++) { /* labels begin with the name */
    if (strcmp(space->strategies[k].name, own->name) == 0) {
      sct_script_raise_at(L, spec->file, own->line,
                          "there is a strategy '%s' already; give the kernel a name = \"...\" of "
                          "its own",
                          own->name);
    }
  }
  if (sct_spec_n_choices(spec) + own->n_axes > SCT_MAX_AXES) {
    sct_script_raise_at(L, spec->file, own->line, "%d axes; at most %d are possible",
                        sct_spec_n_choices(spec) + own->n_axes, SCT_MAX_AXES);
  }
  sct_own_strategy(&space->strategies[space->n_strategies++], &space->arena, spec, own);
}

static int read_space(lua_State *L) {
  reader *r = lua_touserdata(L, 1);
  const int n = r->script->n_strategies;
  const sct_spec *spec = r->script->spec;
  const int n_apart = spec->n_sizes > 1 ? spec->n_sizes : 1;
  r->space->strategies =
      SCT_ARENA_NEW(&r->space->arena, sct_strategy, (int64_t)n_apart * n + spec->n_own + 1);
  for (int k = 0; k < n; k++) {
    read_strategy(L, r, k);
  }
  for (int k = 0; k < spec->n_own; k++) {
    add_own(L, r, &spec->own[k]);
  }
  return 0;
}

sct_status sct_script_space(sct_space *out, sct_script *script, sct_error *err) {
  *out = (sct_space){.pool = script->spec->pool};
  reader r = {.script = script, .space = out};
  const sct_status status = sct_sandbox_protect(&script->sandbox, read_space, &r, err);
  if (status != SCT_OK) {
    sct_arena_free(&out->arena);
    *out = (sct_space){0};
  }
  return status;
}
