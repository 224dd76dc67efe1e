/* Tracing layouts: each layout's functions run on symbolic indices, and the formula that comes out
 * is compared with the same functions on plain integers. */
#include "script/script_spec_internal.h"

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

static sct_expr take_result(lua_State *L, const trace *t, const char *what) {
  const sct_expr e = sct_script_to_expr(L, -1);
  if (e == SCT_EXPR_NONE) {
    sct_script_raise_at(L, t->layout->file, t->layout->line,
                        "layout '%s': %s must give a whole number, not %s", t->layout->label, what,
                        sct_script_describe_value(L));
  }
  lua_pop(L, 1);
  return e;
}

/* The formula: the layout's functions on the array's index variables. */
static void trace_symbolic(lua_State *L, sct_spec *spec, const trace *t) {
  const int n_fields = t->op->record.n_fields;
  sct_script_push_exprs(L, t->op->index, t->op->n_dims);
  sct_script_push_exprs(L, t->op->extent, t->op->n_dims);
  call_layout(L, t);
  t->layout->bytes = take_result(L, t, "bytes");
  t->layout->element = SCT_ARENA_NEW(&spec->arena, sct_expr, n_fields);
  for (int f = 0; f < n_fields; f++) {
    lua_rawgeti(L, -1, f + 1);
    t->layout->element[f] = take_result(L, t, "offset");
  }
  lua_pop(L, 1);
}

/* Compares the formula with the functions' own numbers for one element. */
static void compare_element(lua_State *L, const sct_spec *spec, const trace *t,
                            const sct_expr_env *env, const int64_t *idx, const int64_t *extent) {
  sct_script_push_integers(L, idx, t->op->n_dims);
  sct_script_push_integers(L, extent, t->op->n_dims);
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
                          t->layout->label, what, sct_script_describe_value(L), (long long)value);
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

/* A built-in layout is what it is: what does not suit it stands where the array was asked for. */
static void read_layout(lua_State *L, sct_spec *spec, const sct_operand *op, int alternative,
                        sct_layout *layout) {
  layout->label = sct_script_field_string(L, spec, alternative, "label");
  lua_getfield(L, alternative, "read");
  const int read = lua_gettop(L);
  sct_script_read_place(L, spec, read, &layout->file, &layout->line);
  const sct_script_chunk *chunk = sct_script_find_chunk(sct_sandbox_of(L), layout->file);
  if (chunk && chunk->built_in) {
    layout->file = op->file;
    layout->line = op->line;
  }
  lua_getfield(L, read, "desc");
  layout->name = sct_script_field_string(L, spec, lua_gettop(L), "name");
  layout->doc = sct_script_field_string(L, spec, lua_gettop(L), "doc");
  layout->owns_gaps = sct_script_field_flag(L, -1, "owns_gaps");
  lua_pop(L, 2);
}

static void trace_operand(lua_State *L, sct_script_loader *ld, int array, sct_operand *op) {
  sct_spec *spec = ld->spec;
  trace t = {.array = array, .op = op};
  ld->sb.place_file = op->file;
  ld->sb.place_line = op->line;
  sct_script_push_module_function(L, "sectile.layout", "run");
  t.run = lua_gettop(L);
  push_record(L, &op->record);
  t.record = lua_gettop(L);
  op->choice_group = (int)sct_script_field_integer(L, array, "tie");
  op->converted = sct_script_field_integer(L, array, "converted");
  op->n_layouts = sct_script_list_length(L, array, "layouts");
  op->layouts = SCT_ARENA_NEW(&spec->arena, sct_layout, op->n_layouts);
  for (int k = 0; k < op->n_layouts; k++) {
    sct_script_push_item(L, array, "layouts", k);
    t.alternative = lua_gettop(L);
    t.layout = &op->layouts[k];
    read_layout(L, spec, op, t.alternative, t.layout);
    trace_symbolic(L, spec, &t);
    compare_with_numbers(L, spec, &t);
    lua_pop(L, 1);
  }
  lua_pop(L, 2);
}

void sct_script_trace_operands(lua_State *L, sct_script_loader *ld, int kernel) {
  sct_spec *spec = ld->spec;
  for (int k = 0; k < spec->n_operands; k++) {
    const bool is_output = k >= spec->n_inputs;
    sct_script_push_item(L, kernel, is_output ? "outputs" : "inputs",
                         is_output ? k - spec->n_inputs : k);
    trace_operand(L, ld, lua_gettop(L), &spec->operands[k]);
    lua_pop(L, 1);
  }
}
