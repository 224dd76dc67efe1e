/* From a spec script to plain C data: run it once, read the tables it made, trace its layouts.
 *
 * tuning/sectile/sectile.lua has checked names and types of what users write; here the tables are
 * read, each layout's functions run on symbolic indices, and the formula is compared with the same
 * functions on plain integers. Everything that can raise runs inside sct_sandbox_protect and owns
 * nothing: what is allocated belongs to the spec's arena. */
#include <string.h>

#include "script/script_internal.h"
#include "script/script_private.h"

typedef struct loader {
  sct_sandbox sb;
  sct_spec *spec;
  const char *path;
  sct_error *err;
  sct_status status; /* of a module below that failed; err is written then */
} loader;

/* ---- reading tables ---- */

static void *arena_new(lua_State *L, sct_spec *spec, size_t bytes) {
  void *p = sct_arena_alloc(&spec->arena, bytes > 0 ? bytes : 1);
  if (!p) {
    sct_sandbox_of(L)->no_memory = true;
    luaL_error(L, "out of memory");
  }
  return p;
}

#define NEW(L, spec, type, n) ((type *)arena_new(L, spec, sizeof(type) * (size_t)(n)))

/* The string at the top of the stack as the arena's; pops it. NULL for nil. */
static const char *take_string(lua_State *L, sct_spec *spec) {
  size_t n = 0;
  const char *text = lua_tolstring(L, -1, &n);
  char *copy = NULL;
  if (text) {
    if (strlen(text) != n) {
      luaL_error(L, "a text in the spec holds a zero byte");
    }
    copy = arena_new(L, spec, n + 1);
    memcpy(copy, text, n);
  }
  lua_pop(L, 1);
  return copy;
}

static const char *field_string(lua_State *L, sct_spec *spec, int table, const char *key) {
  lua_getfield(L, table, key);
  return take_string(L, spec);
}

static int64_t field_integer(lua_State *L, int table, const char *key) {
  lua_getfield(L, table, key);
  const int64_t value = lua_tointeger(L, -1);
  lua_pop(L, 1);
  return value;
}

static int list_length(lua_State *L, int table, const char *key) {
  lua_getfield(L, table, key);
  const int n = lua_istable(L, -1) ? (int)lua_rawlen(L, -1) : 0;
  lua_pop(L, 1);
  return n;
}

/* Pushes item k (from 0) of the list at table[key]. */
static void push_item(lua_State *L, int table, const char *key, int k) {
  lua_getfield(L, table, key);
  lua_rawgeti(L, -1, k + 1);
  lua_remove(L, -2);
}

/* [n] strings of the list at table[key]; all NULL where there is no list. */
static const char **string_list(lua_State *L, sct_spec *spec, int table, const char *key, int n) {
  const char **list = NEW(L, spec, const char *, n);
  for (int k = 0; k < n; k++) {
    lua_getfield(L, table, key);
    if (lua_istable(L, -1)) {
      lua_rawgeti(L, -1, k + 1);
      list[k] = take_string(L, spec);
    }
    lua_pop(L, 1);
  }
  return list;
}

/* The value on top in a message: numbers and texts as they are, others by their type. */
static const char *shown(lua_State *L) {
  return lua_isstring(L, -1) ? luaL_tolstring(L, -1, NULL) : luaL_typename(L, -1);
}

static void read_place(lua_State *L, sct_spec *spec, int table, const char **file, int *line) {
  lua_getfield(L, table, "place");
  const int place = lua_gettop(L);
  *file = field_string(L, spec, place, "file");
  *line = (int)field_integer(L, place, "line");
  lua_pop(L, 1);
}

static sct_type read_type(lua_State *L) {
  sct_type type = SCT_TYPE_I8;
  sct_type_find(&type, lua_tostring(L, -1)); /* check.lua has seen to it that the name is known */
  lua_pop(L, 1);
  return type;
}

static void push_module_function(lua_State *L, const char *module, const char *name) {
  lua_pushcfunction(L, sct_script_push_module);
  lua_pushstring(L, module);
  lua_call(L, 1, 1);
  lua_getfield(L, -1, name);
  lua_remove(L, -2);
}

/* ---- records and operands ---- */

static void read_record(lua_State *L, loader *ld, int table, sct_record *record) {
  sct_spec *spec = ld->spec;
  record->name = field_string(L, spec, table, "name");
  record->n_fields = list_length(L, table, "fields");
  record->fields = NEW(L, spec, sct_field, record->n_fields);
  for (int k = 0; k < record->n_fields; k++) {
    push_item(L, table, "fields", k);
    lua_rawgeti(L, -1, 1);
    record->fields[k].name = take_string(L, spec);
    lua_rawgeti(L, -1, 2);
    record->fields[k].type = read_type(L);
    lua_pop(L, 1);
  }
  lua_getfield(L, table, "packed");
  record->packed = lua_toboolean(L, -1);
  lua_pop(L, 1);
  const char *file = NULL;
  int line = 0;
  read_place(L, spec, table, &file, &line);
  sct_error why;
  if (sct_record_finish(record, field_integer(L, table, "align"), &why) != SCT_OK) {
    sct_script_raise_at(L, file, line, "%s", why.text);
  }
}

static void read_operand(lua_State *L, loader *ld, int table, bool is_output, sct_operand *op) {
  sct_spec *spec = ld->spec;
  op->name = field_string(L, spec, table, "name");
  op->is_output = is_output;
  read_place(L, spec, table, &op->file, &op->line);
  lua_getfield(L, table, "record");
  read_record(L, ld, lua_gettop(L), &op->record);
  lua_pop(L, 1);
  op->n_dims = list_length(L, table, "dims");
  op->dims = string_list(L, spec, table, "dims", op->n_dims);
  op->at_text = string_list(L, spec, table, "at", op->n_dims);
  op->extent_text = string_list(L, spec, table, "extents", op->n_dims);
  op->pad = NEW(L, spec, int64_t, op->n_dims);
  for (int d = 0; d < op->n_dims && list_length(L, table, "pad") > 0; d++) {
    push_item(L, table, "pad", d);
    op->pad[d] = lua_tointeger(L, -1);
    lua_pop(L, 1);
  }
}

static void read_operands(lua_State *L, loader *ld, int kernel) {
  sct_spec *spec = ld->spec;
  spec->n_inputs = list_length(L, kernel, "inputs");
  spec->n_operands = spec->n_inputs + list_length(L, kernel, "outputs");
  spec->operands = NEW(L, spec, sct_operand, spec->n_operands);
  for (int k = 0; k < spec->n_operands; k++) {
    const bool is_output = k >= spec->n_inputs;
    push_item(L, kernel, is_output ? "outputs" : "inputs", is_output ? k - spec->n_inputs : k);
    read_operand(L, ld, lua_gettop(L), is_output, &spec->operands[k]);
    lua_pop(L, 1);
  }
}

/* ---- the kernel ---- */

/* Trims blanks and finds the body's first line in the script. A body that was put together by code
 * is not there letter for letter; its lines are then counted from its own start. */
static void read_body(lua_State *L, loader *ld, int kernel) {
  sct_spec *spec = ld->spec;
  char *body = (char *)field_string(L, spec, kernel, "body");
  size_t n = strlen(body);
  while (n > 0 && strchr(" \t\r\n", body[n - 1])) {
    n--;
  }
  body[n] = '\0';
  body += strspn(body, " \t\r\n");
  spec->body = body;
  spec->body_line = spec->line;
  const sct_script_chunk *chunk = sct_script_find_chunk(&ld->sb, spec->file);
  if (!chunk || body[0] == '\0') {
    return;
  }
  const int from = sct_spec_find_line(chunk->text, spec->line, "body", true);
  const char *start = chunk->text;
  for (int line = 1; line < from; line++) {
    start = strchr(start, '\n') + 1;
  }
  const char *found = strstr(start, body);
  spec->body_in_file = found != NULL;
  spec->body_line = from;
  for (const char *p = start; found && p < found; p++) {
    spec->body_line += *p == '\n';
  }
}

static void read_kernel(lua_State *L, loader *ld, int kernel) {
  sct_spec *spec = ld->spec;
  read_place(L, spec, kernel, &spec->file, &spec->line);
  spec->name = field_string(L, spec, kernel, "name");
  spec->n_dims = list_length(L, kernel, "dims");
  spec->dims = string_list(L, spec, kernel, "dims", spec->n_dims);
  spec->n_scalars = list_length(L, kernel, "scalars");
  spec->scalars = NEW(L, spec, sct_scalar, spec->n_scalars);
  for (int k = 0; k < spec->n_scalars; k++) {
    push_item(L, kernel, "scalars", k);
    lua_rawgeti(L, -1, 1);
    spec->scalars[k].name = take_string(L, spec);
    lua_rawgeti(L, -1, 2);
    spec->scalars[k].type = read_type(L);
    lua_pop(L, 1);
  }
  lua_getfield(L, kernel, "tolerance");
  spec->tolerance = lua_tonumber(L, -1);
  lua_pop(L, 1);
  read_operands(L, ld, kernel);
  read_body(L, ld, kernel);
}

/* ---- sizes ---- */

static const char *const fill_words[] = {"", "identity", "permuted", "random"};

static sct_fill read_fill(lua_State *L, const loader *ld, int line, const char *key,
                          const char *word) {
  for (int k = 1; k < SCT_COUNT(fill_words); k++) {
    if (strcmp(word, fill_words[k]) == 0) {
      return (sct_fill)k;
    }
  }
  sct_str *text = &sct_sandbox_of(L)->scratch;
  sct_str_clear(text);
  sct_str_suggest(text, word, fill_words + 1, SCT_COUNT(fill_words) - 1);
  sct_script_raise_at(L, ld->spec->file, line, "sizes: unknown fill '%s' for '%s'%s", word, key,
                      sct_str_c(text));
  return SCT_FILL_DEFAULT;
}

static void unknown_size_key(lua_State *L, const loader *ld, int line, const char *key) {
  const sct_spec *spec = ld->spec;
  const char *names[SCT_MAX_EXTENTS + SCT_MAX_OPERANDS];
  int n = 0;
  for (int k = 0; k < spec->n_extents; k++) {
    names[n++] = spec->extent_names[k];
  }
  for (int k = 0; k < spec->n_operands; k++) {
    if (spec->operands[k].is_index) {
      names[n++] = spec->operands[k].name;
    }
  }
  sct_str *text = &sct_sandbox_of(L)->scratch;
  sct_str_clear(text);
  sct_str_suggest(text, key, names, n);
  sct_script_raise_at(L, spec->file, line, "sizes: there is no dimension or index array '%s'%s",
                      key, sct_str_c(text));
}

static int find_operand(const sct_spec *spec, const char *name) {
  for (int k = 0; k < spec->n_operands; k++) {
    if (strcmp(spec->operands[k].name, name) == 0) {
      return k;
    }
  }
  return -1;
}

/* One entry of a size: key at -2, value at -1. */
static void read_size_entry(lua_State *L, const loader *ld, sct_size *size) {
  const sct_spec *spec = ld->spec;
  if (lua_type(L, -2) != LUA_TSTRING) {
    sct_script_raise_at(L, spec->file, size->line,
                        "sizes: every entry has a name, as in { %s = 1024 }", spec->dims[0]);
  }
  const char *key = lua_tostring(L, -2);
  for (int k = 0; k < spec->n_extents; k++) {
    if (strcmp(spec->extent_names[k], key) == 0) {
      if (!lua_isinteger(L, -1)) {
        sct_script_raise_at(L, spec->file, size->line, "sizes: %s must be a whole number, not %s",
                            key, shown(L));
      }
      size->extent[k] = lua_tointeger(L, -1);
      return;
    }
  }
  const int op = find_operand(spec, key);
  if (op < 0 || !spec->operands[op].is_index) {
    unknown_size_key(L, ld, size->line, key);
  }
  if (lua_type(L, -1) != LUA_TSTRING) {
    sct_script_raise_at(L, spec->file, size->line,
                        "sizes: '%s' is an index array; say how it is filled: identity, permuted "
                        "or random",
                        key);
  }
  size->fill[op] = read_fill(L, ld, size->line, key, lua_tostring(L, -1));
}

static void read_size(lua_State *L, const loader *ld, int table, sct_size *size) {
  const sct_spec *spec = ld->spec;
  bool given[SCT_MAX_EXTENTS] = {false};
  sct_script_push_sorted_keys(L, table); /* of two errors the same one is found every time */
  const int keys = lua_gettop(L);
  for (lua_Integer n = 1; lua_rawgeti(L, keys, n) != LUA_TNIL; n++) {
    lua_pushvalue(L, -1);
    lua_rawget(L, table);
    for (int k = 0; k < spec->n_extents; k++) {
      given[k] = given[k] || (lua_type(L, -2) == LUA_TSTRING &&
                              strcmp(spec->extent_names[k], lua_tostring(L, -2)) == 0);
    }
    read_size_entry(L, ld, size);
    lua_pop(L, 2);
  }
  lua_pop(L, 2);
  for (int k = 0; k < spec->n_extents; k++) {
    if (!given[k]) {
      sct_script_raise_at(L, spec->file, size->line, "sizes: this size lacks the extent of '%s'",
                          spec->extent_names[k]);
    }
  }
}

/* An array's own `fill` holds where a size says nothing. */
static void read_default_fills(lua_State *L, const loader *ld, int kernel, sct_size *size) {
  const sct_spec *spec = ld->spec;
  for (int k = 0; k < spec->n_inputs; k++) {
    push_item(L, kernel, "inputs", k);
    lua_getfield(L, -1, "fill");
    const char *word = lua_tostring(L, -1);
    const sct_operand *op = &spec->operands[k];
    if (word && !op->is_index) {
      sct_script_raise_at(L, op->file, op->line,
                          "array '%s' has a fill, but no other array is read or written through it",
                          op->name);
    }
    if (word) {
      size->fill[k] = read_fill(L, ld, op->line, op->name, word);
    }
    lua_pop(L, 2);
  }
}

static void read_sizes(lua_State *L, loader *ld, int kernel) {
  sct_spec *spec = ld->spec;
  const sct_script_chunk *chunk = sct_script_find_chunk(&ld->sb, spec->file);
  spec->n_sizes = list_length(L, kernel, "sizes");
  spec->sizes = NEW(L, spec, sct_size, spec->n_sizes);
  for (int k = 0; k < spec->n_sizes; k++) {
    sct_size *size = &spec->sizes[k];
    size->line = chunk ? sct_spec_find_item(chunk->text, spec->line, "sizes", k) : spec->line;
    size->extent = NEW(L, spec, int64_t, spec->n_extents);
    size->fill = NEW(L, spec, sct_fill, spec->n_operands);
    read_default_fills(L, ld, kernel, size);
    push_item(L, kernel, "sizes", k);
    read_size(L, ld, lua_gettop(L), size);
    lua_pop(L, 1);
  }
}

/* ---- tracing layouts ---- */

/* What a layout script sees of the record. Pushes a read-only view. */
static void push_record(lua_State *L, const sct_record *record) {
  lua_newtable(L);
  lua_createtable(L, record->n_fields, 0);
  for (int k = 0; k < record->n_fields; k++) {
    const sct_field *field = &record->fields[k];
    const sct_type_info *type = sct_type_get(field->type);
    const struct {
      const char *key;
      int64_t value;
    } numbers[] = {{"bytes", field->bytes},
                   {"offset", field->offset},
                   {"prefix", field->prefix},
                   {"align", type->align},
                   {"index", k + 1}};
    lua_newtable(L);
    for (int n = 0; n < SCT_COUNT(numbers); n++) {
      lua_pushinteger(L, numbers[n].value);
      lua_setfield(L, -2, numbers[n].key);
    }
    lua_pushstring(L, field->name);
    lua_setfield(L, -2, "name");
    lua_pushstring(L, type->name);
    lua_setfield(L, -2, "type");
    sct_sandbox_freeze(L, -1, "a field");
    lua_rawseti(L, -3, k + 1);
    lua_pop(L, 1);
  }
  sct_sandbox_freeze(L, -1, "l.record.fields");
  lua_setfield(L, -3, "fields");
  lua_pop(L, 1);
  const int table = lua_gettop(L);
  lua_pushinteger(L, record->bytes);
  lua_setfield(L, table, "bytes");
  lua_pushinteger(L, record->data_bytes);
  lua_setfield(L, table, "data_bytes");
  lua_pushinteger(L, record->align);
  lua_setfield(L, table, "align");
  sct_sandbox_freeze(L, table, "l.record");
  lua_remove(L, table);
}

/* One run of a layout's functions. The stack holds layout.run and the arguments it always gets. */
typedef struct trace {
  int run, alternative, array, record; /* stack indexes */
  const sct_operand *op;
  sct_layout *layout;
} trace;

/* Pushes offsets and bytes for the index and extent lists on top of the stack, which it pops. */
static void call_layout(lua_State *L, const trace *t) {
  const int idx = lua_gettop(L) - 1;
  lua_pushvalue(L, t->run);
  lua_pushvalue(L, t->alternative);
  lua_pushvalue(L, t->array);
  lua_pushvalue(L, t->record);
  lua_pushvalue(L, idx);
  lua_pushvalue(L, idx + 1);
  lua_call(L, 5, 2);
  lua_remove(L, idx);
  lua_remove(L, idx);
}

static void push_exprs(lua_State *L, const sct_expr *e, int n) {
  lua_createtable(L, n, 0);
  for (int k = 0; k < n; k++) {
    sct_script_push_expr(L, e[k]);
    lua_rawseti(L, -2, k + 1);
  }
}

static void push_integers(lua_State *L, const int64_t *values, int n) {
  lua_createtable(L, n, 0);
  for (int k = 0; k < n; k++) {
    lua_pushinteger(L, values[k]);
    lua_rawseti(L, -2, k + 1);
  }
}

static sct_expr take_result(lua_State *L, const trace *t, const char *what) {
  const sct_expr e = sct_script_to_expr(L, -1);
  if (e == SCT_EXPR_NONE) {
    sct_script_raise_at(L, t->layout->file, t->layout->line,
                        "layout '%s': %s must give a whole number, not %s", t->layout->label, what,
                        shown(L));
  }
  lua_pop(L, 1);
  return e;
}

/* The formula: the layout's functions on the array's index variables. */
static void trace_symbolic(lua_State *L, sct_spec *spec, const trace *t) {
  const int n_fields = t->op->record.n_fields;
  push_exprs(L, t->op->index, t->op->n_dims);
  push_exprs(L, t->op->extent, t->op->n_dims);
  call_layout(L, t);
  t->layout->bytes = take_result(L, t, "bytes");
  t->layout->element = NEW(L, spec, sct_expr, n_fields);
  for (int f = 0; f < n_fields; f++) {
    lua_rawgeti(L, -1, f + 1);
    t->layout->element[f] = take_result(L, t, "offset");
  }
  lua_pop(L, 1);
}

/* Compares the formula with the functions' own numbers for one element. */
static void compare_element(lua_State *L, const sct_spec *spec, const trace *t,
                            const sct_expr_env *env, const int64_t *idx, const int64_t *extent) {
  push_integers(L, idx, t->op->n_dims);
  push_integers(L, extent, t->op->n_dims);
  call_layout(L, t);
  for (int f = -1; f < t->op->record.n_fields; f++) {
    if (f >= 0) {
      lua_rawgeti(L, -1, f + 1);
    }
    const char *what = f < 0 ? "bytes" : "offset";
    int is_integer = 0;
    const int64_t number = lua_tointegerx(L, -1, &is_integer);
    int64_t value = 0;
    const sct_expr e = f < 0 ? t->layout->bytes : t->layout->element[f];
    sct_error why;
    if (sct_expr_eval(spec->pool, e, env, &value, &why) != SCT_OK) {
      sct_script_raise_at(L, t->layout->file, t->layout->line, "layout '%s': %s: %s",
                          t->layout->label, what, why.text);
    }
    if (!is_integer || number != value) {
      sct_script_raise_at(L, t->layout->file, t->layout->line,
                          "layout '%s': %s gives %s for plain numbers, but the formula traced from "
                          "it gives %lld; decide with l.min and l.max, not with if",
                          t->layout->label, what, shown(L), (long long)value);
    }
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
}

enum { COMPARED_SETS = 3, COMPARED_ELEMENTS = 70 };

static void compare_with_numbers(lua_State *L, const sct_spec *spec, const trace *t) {
  static const int64_t sets[COMPARED_SETS][4] = {{1, 1, 1, 1}, {7, 5, 3, 2}, {70, 9, 5, 3}};
  for (int set = 0; set < COMPARED_SETS; set++) {
    sct_expr vars[SCT_MAX_EXTENTS + SCT_MAX_DIMS];
    int64_t values[SCT_MAX_EXTENTS + SCT_MAX_DIMS];
    sct_expr_env env = {vars, values, spec->n_extents};
    for (int k = 0; k < spec->n_extents; k++) {
      vars[k] = spec->extent_var[k];
      values[k] = sets[set][k % 4];
    }
    int64_t extent[SCT_MAX_DIMS];
    int64_t n = 1;
    for (int d = 0; d < t->op->n_dims; d++) {
      if (sct_expr_eval(spec->pool, t->op->extent[d], &env, &extent[d], NULL) != SCT_OK ||
          extent[d] < 1) {
        return; /* these extents make no array; spec checks the real ones */
      }
      n = n * extent[d] < 1 << 20 ? n * extent[d] : 1 << 20;
      vars[spec->n_extents + d] = t->op->index[d];
    }
    env.n += t->op->n_dims;
    for (int64_t k = 0; k < n; k += n / COMPARED_ELEMENTS + 1) {
      int64_t rest = k;
      for (int d = t->op->n_dims - 1; d >= 0; d--) {
        values[spec->n_extents + d] = rest % extent[d];
        rest /= extent[d];
      }
      compare_element(L, spec, t, &env, &values[spec->n_extents], extent);
    }
  }
}

static void read_layout(lua_State *L, sct_spec *spec, int alternative, sct_layout *layout) {
  layout->label = field_string(L, spec, alternative, "label");
  lua_getfield(L, alternative, "read");
  const int read = lua_gettop(L);
  read_place(L, spec, read, &layout->file, &layout->line);
  lua_getfield(L, read, "desc");
  layout->name = field_string(L, spec, lua_gettop(L), "name");
  lua_getfield(L, -1, "owns_gaps");
  layout->owns_gaps = lua_toboolean(L, -1);
  lua_pop(L, 3);
}

static void trace_operand(lua_State *L, loader *ld, int array, sct_operand *op) {
  sct_spec *spec = ld->spec;
  trace t = {.array = array, .op = op};
  push_module_function(L, "sectile.layout", "run");
  t.run = lua_gettop(L);
  push_record(L, &op->record);
  t.record = lua_gettop(L);
  op->n_layouts = list_length(L, array, "layouts");
  op->layouts = NEW(L, spec, sct_layout, op->n_layouts);
  for (int k = 0; k < op->n_layouts; k++) {
    push_item(L, array, "layouts", k);
    t.alternative = lua_gettop(L);
    t.layout = &op->layouts[k];
    read_layout(L, spec, t.alternative, t.layout);
    trace_symbolic(L, spec, &t);
    compare_with_numbers(L, spec, &t);
    lua_pop(L, 1);
  }
  lua_pop(L, 2);
}

static void trace_operands(lua_State *L, loader *ld, int kernel) {
  sct_spec *spec = ld->spec;
  for (int k = 0; k < spec->n_operands; k++) {
    const bool is_output = k >= spec->n_inputs;
    push_item(L, kernel, is_output ? "outputs" : "inputs", is_output ? k - spec->n_inputs : k);
    trace_operand(L, ld, lua_gettop(L), &spec->operands[k]);
    lua_pop(L, 1);
  }
}

/* ---- the whole ---- */

/* The scripts a user wrote, kept for messages after the state is gone. */
static void keep_sources(lua_State *L, loader *ld) {
  sct_spec *spec = ld->spec;
  spec->sources = NEW(L, spec, sct_source, ld->sb.n_chunks);
  for (size_t k = 0; k < ld->sb.n_chunks; k++) {
    const sct_script_chunk *chunk = &ld->sb.chunks[k];
    if (!sct_has_prefix(chunk->name, SCT_OUR_FOLDER)) {
      sct_source *source = &spec->sources[spec->n_sources++];
      lua_pushstring(L, chunk->name);
      source->file = take_string(L, spec);
      lua_pushlstring(L, chunk->text, chunk->n);
      source->text = take_string(L, spec);
    }
  }
}

/* Protected: argument 1 is the loader, the spec script's function lies in the registry. */
static int run_loader(lua_State *L) {
  loader *ld = lua_touserdata(L, 1);
  ld->sb.blame = ld->path;
  lua_getfield(L, LUA_REGISTRYINDEX, "sectile.spec");
  lua_call(L, 0, 1);
  const char *returned = luaL_typename(L, -1);
  push_module_function(L, "sectile.check", "open");
  lua_insert(L, -2);
  lua_pushstring(L, "kernel");
  lua_call(L, 2, 1);
  if (lua_isnil(L, -1)) {
    return sct_script_raise_at(L, ld->path, 1,
                               "a spec script ends with `return s.kernel { ... }`; this one "
                               "returned a %s value",
                               returned);
  }
  const int kernel = lua_gettop(L);
  keep_sources(L, ld);
  read_kernel(L, ld, kernel);
  ld->status = sct_spec_bind(ld->spec, ld->err);
  if (ld->status != SCT_OK) {
    return 0;
  }
  trace_operands(L, ld, kernel);
  read_sizes(L, ld, kernel);
  return 0;
}

static int keep_chunk_function(lua_State *L) {
  lua_pushvalue(L, 1);
  lua_setfield(L, LUA_REGISTRYINDEX, "sectile.spec");
  return 0;
}

static sct_status run_script(loader *ld, const char *text) {
  lua_State *L = ld->sb.L;
  SCT_TRY(sct_sandbox_load(&ld->sb, ld->path, text, strlen(text), 0, ld->err));
  lua_pushcfunction(L, keep_chunk_function);
  lua_insert(L, -2);
  SCT_TRY(sct_sandbox_call(&ld->sb, 1, 0, ld->err));
  SCT_TRY(sct_sandbox_protect(&ld->sb, run_loader, ld, ld->err));
  return ld->status;
}

sct_status sct_script_load_spec_text(sct_spec *out, const char *path, const char *text,
                                     sct_error *err) {
  sct_status status = SCT_OK;
  sct_str root = {0};
  sct_str own = {0};
  sct_error ignored;
  loader ld = {.spec = out, .path = path, .err = err ? err : &ignored, .status = SCT_OK};
  memset(out, 0, sizeof(*out));
  if (sct_has_prefix(path, SCT_OUR_FOLDER)) {
    sct_str_printf(&own, "./%s", path);
    ld.path = sct_str_c(&own);
  }
  sct_path_dirname(&root, ld.path);
  SCT_TRY_DONE(sct_str_status(&own, err));
  SCT_TRY_DONE(sct_str_status(&root, err));
  SCT_TRY_DONE(sct_expr_pool_new(&out->pool, err));
  SCT_TRY_DONE(sct_sandbox_init(&ld.sb, sct_str_c(&root), err));
  ld.sb.pool = out->pool;
  SCT_TRY_DONE(run_script(&ld, text));
  SCT_TRY_DONE(sct_spec_finish(out, err));
done:
  sct_sandbox_free(&ld.sb);
  sct_str_free(&root);
  sct_str_free(&own);
  if (status != SCT_OK) {
    sct_spec_free(out);
  }
  return status;
}

sct_status sct_script_load_spec(sct_spec *out, const char *path, sct_error *err) {
  sct_str text = {0};
  memset(out, 0, sizeof(*out));
  sct_status status = sct_script_read_file(&text, path, err);
  if (status == SCT_EIO && sct_has_prefix(path, "tuning/kernels/") && !sct_file_exists(path)) {
    sct_str_clear(&text); /* a worked spec, wherever the program runs */
    status = sct_asset_read(&text, path, err);
  }
  if (status == SCT_OK && strlen(sct_str_c(&text)) != text.len) {
    status = sct_fail(err, SCT_ESPEC, "%s:1: error: the file holds a zero byte; it is no Lua text",
                      path);
  }
  if (status == SCT_OK) {
    status = sct_script_load_spec_text(out, path, sct_str_c(&text), err);
  }
  sct_str_free(&text);
  return status;
}
