/* From a spec script to plain C data: run it once, read the tables it made, trace its layouts.
 *
 * tuning/sectile/sectile.lua has checked names and types of what users write; here the tables are
 * read. Everything that can raise runs inside sct_sandbox_protect and owns nothing: what is
 * allocated belongs to the spec's arena. */
#include <string.h>

#include "script/script_spec_internal.h"

/* ---- records and operands ---- */

/* [n] strings of the list at table[key]; all NULL where there is no list. */
static const char **string_list(lua_State *L, sct_spec *spec, int table, const char *key, int n) {
  const char **list = SCT_ARENA_NEW(&spec->arena, const char *, n);
  for (int k = 0; k < n; k++) {
    lua_getfield(L, table, key);
    if (lua_istable(L, -1)) {
      lua_rawgeti(L, -1, k + 1);
      list[k] = sct_script_take_string(L, spec);
    }
    lua_pop(L, 1);
  }
  return list;
}

/* The list table[key] of n integers; all 0 if it is missing. */
static int64_t *integer_list(lua_State *L, sct_spec *spec, int table, const char *key, int n) {
  int64_t *list = SCT_ARENA_NEW(&spec->arena, int64_t, n);
  n = sct_script_list_length(L, table, key) > 0 ? n : 0;
  for (int k = 0; k < n; k++) {
    sct_script_push_item(L, table, key, k);
    list[k] = lua_tointeger(L, -1);
    lua_pop(L, 1);
  }
  return list;
}

/* The type named by the text at the top, which is popped. */
static sct_type read_type(lua_State *L) {
  sct_type type = SCT_TYPE_I8;
  sct_type_find(&type, lua_tostring(L, -1)); /* check.lua has seen to it that the name is known */
  lua_pop(L, 1);
  return type;
}

/* sectile.lua has checked the words; left alone where there are none. */
static void read_reduce(lua_State *L, int table, const char *key, sct_reduce *out,
                        sct_type *compared) {
  lua_getfield(L, table, key);
  if (lua_isstring(L, -1)) {
    sct_reduce_find(out, lua_tostring(L, -1));
  }
  lua_pop(L, 1);
  if (sct_reduce_is_arg(*out)) {
    lua_getfield(L, table, "compared");
    *compared = read_type(L);
  }
}

/* Item k of a list of { name, type }; returns the name. */
static const char *read_named(lua_State *L, sct_spec *spec, int table, const char *list, int k,
                              sct_type *type) {
  sct_script_push_item(L, table, list, k);
  lua_rawgeti(L, -1, 2);
  *type = read_type(L);
  lua_rawgeti(L, -1, 1);
  const char *name = sct_script_take_string(L, spec);
  lua_pop(L, 1);
  return name;
}

static void read_record(lua_State *L, sct_script_loader *ld, int table, sct_record *record) {
  sct_spec *spec = ld->spec;
  record->name = sct_script_field_string(L, spec, table, "name");
  record->n_fields = sct_script_list_length(L, table, "fields");
  record->fields = SCT_ARENA_NEW(&spec->arena, sct_field, record->n_fields);
  for (int k = 0; k < record->n_fields; k++) {
    record->fields[k].name = read_named(L, spec, table, "fields", k, &record->fields[k].type);
  }
  record->packed = sct_script_field_flag(L, table, "packed");
  const char *file = NULL;
  int line = 0;
  sct_script_read_place(L, spec, table, &file, &line);
  sct_error why;
  if (sct_record_finish(record, sct_script_field_integer(L, table, "align"), &why) != SCT_OK) {
    sct_script_raise_at(L, file, line, "%s", why.text);
  }
}

/* The list of taps that sectile.lua made of the option: { name, deltas }, in order of names. */
static void read_taps(lua_State *L, sct_spec *spec, int table, sct_operand *op) {
  op->n_taps = sct_script_list_length(L, table, "taps");
  op->taps = SCT_ARENA_NEW(&spec->arena, sct_tap, op->n_taps);
  for (int k = 0; k < op->n_taps; k++) {
    sct_tap *tap = &op->taps[k];
    sct_script_push_item(L, table, "taps", k);
    tap->name = sct_script_field_string(L, spec, lua_gettop(L), "name");
    tap->delta = integer_list(L, spec, lua_gettop(L), "delta", op->n_dims);
    tap->how = sct_script_field_string(L, spec, lua_gettop(L), "how");
    tap->count = integer_list(L, spec, lua_gettop(L), "count", op->n_dims);
    tap->step = integer_list(L, spec, lua_gettop(L), "step", op->n_dims);
    lua_pop(L, 1);
  }
  lua_getfield(L, table, "border_value");
  op->border_value = lua_tonumber(L, -1);
  lua_pop(L, 1);
  const char *border = sct_script_field_string(L, spec, table, "border");
  if (border) {
    sct_border_find(&op->border, border); /* sectile.lua has seen to it that the name is known */
  }
}

static void read_operand(lua_State *L, sct_script_loader *ld, int table, bool is_output,
                         sct_operand *op) {
  sct_spec *spec = ld->spec;
  op->name = sct_script_field_string(L, spec, table, "name");
  op->is_output = is_output;
  op->is_inout = sct_script_field_flag(L, table, "inout");
  op->has_none = sct_script_field_flag(L, table, "none");
  lua_getfield(L, table, "host");
  op->host_given = !lua_isnil(L, -1);
  op->stays = op->host_given ? !lua_toboolean(L, -1) : !spec->host_given;
  spec->host = spec->host || (op->host_given && !op->stays);
  lua_pop(L, 1);
  sct_script_read_place(L, spec, table, &op->file, &op->line);
  lua_getfield(L, table, "record");
  read_record(L, ld, lua_gettop(L), &op->record);
  lua_pop(L, 1);
  read_reduce(L, table, "reduce", &op->reduce, &op->compared);
  read_reduce(L, table, "scan", &op->scan, &op->compared);
  op->exclusive = sct_script_field_flag(L, table, "exclusive");
  op->along = sct_script_field_string(L, spec, table, "along");
  lua_getfield(L, table, "accumulate");
  if (lua_isstring(L, -1)) {
    sct_accumulate_find(&op->accumulate, lua_tostring(L, -1)); /* checked by sectile.lua */
  }
  lua_pop(L, 1);
  op->deterministic = sct_script_field_flag(L, table, "deterministic");
  op->n_dims = sct_script_list_length(L, table, "dims");
  op->dims = string_list(L, spec, table, "dims", op->n_dims);
  op->at_text = string_list(L, spec, table, "at", op->n_dims);
  op->extent_text = string_list(L, spec, table, "extents", op->n_dims);
  op->pad = integer_list(L, spec, table, "pad", op->n_dims);
  read_taps(L, spec, table, op);
}

static void read_operands(lua_State *L, sct_script_loader *ld, int kernel) {
  sct_spec *spec = ld->spec;
  spec->n_inputs = sct_script_list_length(L, kernel, "inputs");
  spec->n_operands = spec->n_inputs + sct_script_list_length(L, kernel, "outputs");
  spec->operands = SCT_ARENA_NEW(&spec->arena, sct_operand, spec->n_operands);
  for (int k = 0; k < spec->n_operands; k++) {
    const bool is_output = k >= spec->n_inputs;
    sct_script_push_item(L, kernel, is_output ? "outputs" : "inputs",
                         is_output ? k - spec->n_inputs : k);
    read_operand(L, ld, lua_gettop(L), is_output, &spec->operands[k]);
    lua_pop(L, 1);
  }
  for (int k = 0; k < spec->n_operands; k++) {
    spec->operands[k].stays = spec->operands[k].stays && spec->host;
  }
}

/* ---- the kernel ---- */

/* A body, and where it stands. */
typedef struct body_place {
  const char *text;
  int line;
  bool in_file;
} body_place;

/* Trims blanks and finds the first line of table.body in the script, from *from on, which moves
 * after it (NULL: from the kernel's call on). A body that was put together by code is not there
 * byte for byte; its lines are then counted from its own start. */
static body_place read_body(lua_State *L, sct_script_loader *ld, int table, const char **from) {
  sct_spec *spec = ld->spec;
  char *body = (char *)sct_script_field_string(L, spec, table, "body");
  size_t n = strlen(body);
  while (n > 0 && strchr(" \t\r\n", body[n - 1])) {
    n--;
  }
  body[n] = '\0';
  body += strspn(body, " \t\r\n");
  body_place place = {.text = body, .line = spec->line};
  const sct_script_chunk *chunk = sct_script_find_chunk(&ld->sb, spec->file);
  if (!chunk || body[0] == '\0') {
    return place;
  }
  place.line = sct_spec_find_line(chunk->text, spec->line, "body", true);
  const char *start = chunk->text;
  for (int line = 1; start && line < place.line; line++) {
    start = strchr(start, '\n');
    start += start != NULL;
  }
  start = *from && *from > start ? *from : start;
  const char *found = start ? strstr(start, body) : NULL; /* a file may change while it is read */
  place.in_file = found != NULL;
  if (found) {
    place.line = 1;
    for (const char *p = chunk->text; p < found; p++) {
      place.line += *p == '\n';
    }
    *from = found + strlen(body);
  }
  return place;
}

static void read_values(lua_State *L, sct_spec *spec, int table, int step) {
  const int n = sct_script_list_length(L, table, "values");
  for (int k = 0; k < n && spec->n_values < SCT_MAX_VALUES; k++) {
    sct_value *value = &spec->values[spec->n_values++];
    sct_script_push_item(L, table, "values", k);
    const int at = lua_gettop(L);
    value->name = sct_script_field_string(L, spec, at, "name");
    value->step = step;
    lua_getfield(L, at, "type");
    value->type = read_type(L);
    read_reduce(L, at, "reduce", &value->reduce, &value->compared);
    lua_pop(L, 1);
  }
}

static void read_steps(lua_State *L, sct_script_loader *ld, int kernel) {
  sct_spec *spec = ld->spec;
  const char *from = NULL;
  spec->n_over = sct_script_list_length(L, kernel, "over");
  spec->over = string_list(L, spec, kernel, "over", spec->n_over);
  spec->n_steps = sct_script_list_length(L, kernel, "steps");
  spec->steps = SCT_ARENA_NEW(&spec->arena, sct_step, spec->n_steps);
  spec->values = SCT_ARENA_NEW(&spec->arena, sct_value, SCT_MAX_VALUES);
  for (int k = 0; k < spec->n_steps; k++) {
    sct_script_push_item(L, kernel, "steps", k);
    const int table = lua_gettop(L);
    const body_place place = read_body(L, ld, table, &from);
    spec->steps[k] = (sct_step){.body = place.text,
                                .body_line = place.line,
                                .body_in_file = place.in_file,
                                .reduces = sct_script_field_flag(L, table, "reduces")};
    spec->steps[k].n_over = sct_script_list_length(L, table, "over");
    spec->steps[k].over = string_list(L, spec, table, "over", spec->steps[k].n_over);
    read_values(L, spec, table, k);
    lua_pop(L, 1);
  }
}

static void read_ragged(lua_State *L, sct_spec *spec, int kernel) {
  lua_getfield(L, kernel, "ragged");
  if (lua_istable(L, -1)) {
    const int table = lua_gettop(L);
    spec->ragged.dim_name = sct_script_field_string(L, spec, table, "dim");
    spec->ragged.offsets_name = sct_script_field_string(L, spec, table, "offsets");
  }
  lua_pop(L, 1);
}

static void read_kernel(lua_State *L, sct_script_loader *ld, int kernel) {
  sct_spec *spec = ld->spec;
  sct_script_read_place(L, spec, kernel, &spec->file, &spec->line);
  spec->name = sct_script_field_string(L, spec, kernel, "name");
  spec->n_dims = sct_script_list_length(L, kernel, "dims");
  spec->dims = string_list(L, spec, kernel, "dims", spec->n_dims);
  spec->n_numbers = sct_script_list_length(L, kernel, "extents");
  spec->numbers = string_list(L, spec, kernel, "extents", spec->n_numbers);
  spec->n_scalars = sct_script_list_length(L, kernel, "scalars");
  spec->scalars = SCT_ARENA_NEW(&spec->arena, sct_scalar, spec->n_scalars);
  for (int k = 0; k < spec->n_scalars; k++) {
    spec->scalars[k].name = read_named(L, spec, kernel, "scalars", k, &spec->scalars[k].type);
  }
  spec->host = spec->host_given = sct_script_field_flag(L, kernel, "host");
  lua_getfield(L, kernel, "tolerance");
  spec->tolerance = lua_tonumber(L, -1);
  spec->tolerance_given = !lua_isnil(L, -1);
  lua_pop(L, 1);
  read_operands(L, ld, kernel);
  const char *from = NULL;
  const body_place body = read_body(L, ld, kernel, &from);
  spec->body = body.text;
  spec->body_line = body.line;
  spec->body_in_file = body.in_file;
  read_steps(L, ld, kernel);
  read_values(L, spec, kernel, 0);
  read_ragged(L, spec, kernel);
}

/* ---- sizes ---- */

#define FILE_WORD "file:"

/* Reads the whole numbers in `text`, at most one for two of its bytes, to `ends`, summed up; how
 * many there are, or -1 with the line of what is none. */
static int64_t read_numbers(const char *text, int64_t *ends, int *line) {
  int64_t n = 0, sum = 0;
  for (*line = 1; *text != '\0';) {
    if (strchr(" \t\r\n", *text)) {
      *line += *text++ == '\n';
      continue;
    }
    int64_t value = 0;
    const char *const first = text;
    for (; *text >= '0' && *text <= '9' && value < SCT_MAX_EXTENT; text++) {
      value = 10 * value + (*text - '0');
    }
    if (text == first || !strchr(" \t\r\n", *text) || value > SCT_MAX_EXTENT - sum) {
      return -1;
    }
    ends[n++] = sum += value;
  }
  return sum > 0 ? n : 0;
}

/* The lengths of ragged rows that a file below the spec's directory lists. */
static void read_lengths(lua_State *L, const sct_script_loader *ld, int spec_line,
                         const char *name) {
  sct_spec *spec = ld->spec;
  sct_ragged *r = &spec->ragged;
  sct_str *text = &sct_sandbox_of(L)->scratch;
  sct_error err;
  bool found = false;
  int line = 0;
  if (r->lengths_file && strcmp(r->lengths_file, name) == 0) {
    return;
  }
  if (r->lengths_file) {
    sct_script_raise_at(L, spec->file, spec_line,
                        "lengths are in '%s' and in '%s'; a spec has one file of them",
                        r->lengths_file, name);
  }
  if (!ld->sb.root || sct_script_read_below(text, ld->sb.root, "the spec's directory", name, &found,
                                            &err) != SCT_OK) {
    sct_script_raise_at(L, spec->file, spec_line, "fill \"" FILE_WORD "%s\": %s", name,
                        ld->sb.root ? err.text : "there is no directory to look in");
  }
  if (!found) {
    sct_script_raise_at(L, spec->file, spec_line,
                        "fill \"" FILE_WORD "%s\": there is no such file in the spec's directory",
                        name);
  }
  r->ends = SCT_ARENA_NEW(&spec->arena, int64_t, text->len / 2 + 1);
  r->n_lengths = read_numbers(sct_str_c(text), r->ends, &line);
  if (r->n_lengths < 1) {
    sct_script_raise_at(L, spec->file, spec_line,
                        r->n_lengths < 0 ? "%s:%d: expected lengths of rows: whole numbers of 0 or "
                                           "more, 2^40 elements in all, with blanks between them"
                                         : "%s lists no length above 0",
                        name, line);
  }
  r->lengths_file = sct_arena_strdup(&spec->arena, name);
}

/* How operand `op` is filled; `word` NULL: the spec says something else. Offsets of ragged rows and
 * masks have words of their own. */
static sct_fill read_fill(lua_State *L, const sct_script_loader *ld, int line, int op,
                          const char *word) {
  const sct_spec *spec = ld->spec;
  const char *const key = spec->operands[op].name, *words[SCT_N_FILLS];
  const bool is_offsets = sct_spec_is_ragged(spec) && op == spec->ragged.offsets;
  const bool is_mask = sct_operand_is_mask(&spec->operands[op]);
  const int kind = is_offsets ? SCT_FILLS_OFFSETS : is_mask ? SCT_FILLS_MASK : SCT_FILLS_INDEX;
  int n = 0;
  if (is_offsets && word && sct_has_prefix(word, FILE_WORD)) {
    read_lengths(L, ld, line, word + strlen(FILE_WORD));
    return SCT_FILL_FILE;
  }
  for (int k = 0; k < SCT_N_FILLS; k++) {
    words[n] = sct_fill_name((sct_fill)k, kind);
    if (words[n] && word && strcmp(word, words[n]) == 0) {
      return (sct_fill)k;
    }
    n += words[n] != NULL;
  }
  sct_str *text = &sct_sandbox_of(L)->scratch;
  sct_str_clear(text);
  if (word) {
    sct_str_printf(text, "unknown fill '%s' for '%s'", word, key);
  } else {
    sct_str_printf(text, "'%s' is %s; say how it is filled", key,
                   is_mask ? "a mask" : "an index array");
  }
  sct_str_suggest(text, word ? word : "", SCT_NAMES(words, n));
  sct_script_raise_at(L, spec->file, line, "sizes: %s", sct_str_c(text));
  return SCT_FILL_DEFAULT;
}

static void unknown_size_key(lua_State *L, const sct_script_loader *ld, int line, const char *key) {
  const sct_spec *spec = ld->spec;
  const char *names[SCT_MAX_EXTENTS + SCT_MAX_OPERANDS];
  int n = 0;
  for (int k = 0; k < spec->n_extents; k++) {
    names[n++] = spec->extent_names[k];
  }
  for (int k = 0; k < spec->n_operands; k++) {
    if (spec->operands[k].is_index || sct_operand_is_mask(&spec->operands[k])) {
      names[n++] = spec->operands[k].name;
    }
  }
  sct_str *text = &sct_sandbox_of(L)->scratch;
  sct_str_clear(text);
  sct_str_suggest(text, key, SCT_NAMES(names, n));
  sct_script_raise_at(L, spec->file, line,
                      "sizes: there is no dimension, index array or mask '%s'%s", key,
                      sct_str_c(text));
}

static int find_operand(const sct_spec *spec, const char *name) {
  return sct_names_find(SCT_NAMES_IN(spec->operands, spec->n_operands, name), name);
}

/* The value at the top is no integer. What is one but for its type, as 2^20 and "64" are, is said
 * so: printed as it is, it would look right. */
static void wrong_extent(lua_State *L, const sct_script_loader *ld, int line, const char *key) {
  char hint[64] = "";
  int is_whole = 0;
  const lua_Integer whole = lua_tointegerx(L, -1, &is_whole);
  if (is_whole) {
    snprintf(hint, sizeof(hint), " (a %s); write %lld",
             lua_type(L, -1) == LUA_TSTRING ? "text" : "float", (long long)whole);
  }
  sct_script_raise_at(L, ld->spec->file, line, "sizes: %s must be a whole number, not %s%s", key,
                      sct_script_describe_value(L), hint);
}

/* One entry of a size: key at -2, value at -1. */
static void read_size_entry(lua_State *L, const sct_script_loader *ld, sct_size *size) {
  const sct_spec *spec = ld->spec;
  if (lua_type(L, -2) != LUA_TSTRING) {
    sct_script_raise_at(L, spec->file, size->line,
                        "sizes: every entry has a name, as in { %s = 1024 }", spec->dims[0]);
  }
  const char *key = lua_tostring(L, -2);
  for (int k = 0; k < spec->n_extents; k++) {
    if (strcmp(spec->extent_names[k], key) == 0) {
      if (!lua_isinteger(L, -1)) {
        wrong_extent(L, ld, size->line, key);
      }
      size->extent[k] = lua_tointeger(L, -1);
      return;
    }
  }
  const int op = find_operand(spec, key);
  if (op < 0 || !(spec->operands[op].is_index || sct_operand_is_mask(&spec->operands[op]))) {
    unknown_size_key(L, ld, size->line, key);
  }
  size->fill[op] =
      read_fill(L, ld, size->line, op, lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : NULL);
}

static void read_size(lua_State *L, const sct_script_loader *ld, int table, sct_size *size) {
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

/* An array's own `fill` is the default where a size has none. */
static void read_default_fills(lua_State *L, const sct_script_loader *ld, int kernel,
                               sct_size *size) {
  const sct_spec *spec = ld->spec;
  for (int k = 0; k < spec->n_inputs; k++) {
    sct_script_push_item(L, kernel, "inputs", k);
    lua_getfield(L, -1, "fill");
    const char *word = lua_tostring(L, -1);
    const sct_operand *op = &spec->operands[k];
    if (word && !op->is_index && !sct_operand_is_mask(op)) {
      sct_script_raise_at(
          L, op->file, op->line,
          "array '%s' has a fill, but no other array is read or written through it: "
          "name it in at = { ... } of one, or leave fill out",
          op->name);
    }
    lua_getfield(L, -2, "none");
    if (lua_toboolean(L, -1) && !op->is_index) {
      sct_script_raise_at(L, op->file, op->line,
                          "array '%s' may hold none, but no other array is read or written through "
                          "it",
                          op->name);
    }
    lua_pop(L, 1);
    if (word) {
      size->fill[k] = read_fill(L, ld, op->line, k, word);
    }
    lua_pop(L, 2);
  }
}

static void read_sizes(lua_State *L, sct_script_loader *ld, int kernel) {
  sct_spec *spec = ld->spec;
  const sct_script_chunk *chunk = sct_script_find_chunk(&ld->sb, spec->file);
  spec->n_sizes = sct_script_list_length(L, kernel, "sizes");
  lua_getfield(L, kernel, "n_added");
  lua_getfield(L, kernel, "n_sampled");
  lua_getfield(L, kernel, "n_around");
  spec->n_added = (int)lua_tointeger(L, -3);
  const int first_sample = spec->n_sizes - spec->n_added, n_sampled = (int)lua_tointeger(L, -2),
            first_around = spec->n_sizes - (int)lua_tointeger(L, -1);
  lua_pop(L, 3);
  spec->sizes = SCT_ARENA_NEW(&spec->arena, sct_size, spec->n_sizes);
  for (int k = 0; k < spec->n_sizes; k++) {
    sct_size *size = &spec->sizes[k];
    size->around = k >= first_around;
    size->sampled = size->around || (k >= first_sample && k < first_sample + n_sampled);
    size->line = chunk ? sct_spec_find_item(chunk->text, spec->line, "sizes", k) : spec->line;
    size->extent = SCT_ARENA_NEW(&spec->arena, int64_t, spec->n_extents);
    size->fill = SCT_ARENA_NEW(&spec->arena, sct_fill, spec->n_operands);
    read_default_fills(L, ld, kernel, size);
    sct_script_push_item(L, kernel, "sizes", k);
    read_size(L, ld, lua_gettop(L), size);
    sct_script_push_item(L, kernel, "weights", k);
    size->weight = lua_tointeger(L, -1);
    lua_pop(L, 2);
  }
}

/* ---- the whole ---- */

/* The scripts a user wrote, kept for messages after the state is gone. */
static void keep_sources(lua_State *L, sct_script_loader *ld) {
  sct_spec *spec = ld->spec;
  spec->sources = SCT_ARENA_NEW(&spec->arena, sct_source, ld->sb.n_chunks);
  for (size_t k = 0; k < ld->sb.n_chunks; k++) {
    const sct_script_chunk *chunk = &ld->sb.chunks[k];
    if (!sct_has_prefix(chunk->name, SCT_OUR_DIRECTORY)) {
      sct_source *source = &spec->sources[spec->n_sources++];
      lua_pushstring(L, chunk->name);
      source->file = sct_script_take_string(L, spec);
      lua_pushlstring(L, chunk->text, chunk->n);
      source->text = sct_script_take_string(L, spec);
    }
  }
}

/* Protected: argument 1 is the loader, the spec script's function lies in the registry. */
static int run_loader(lua_State *L) {
  sct_script_loader *ld = lua_touserdata(L, 1);
  ld->sb.blame = ld->path;
  lua_getfield(L, LUA_REGISTRYINDEX, "sectile.spec");
  lua_call(L, 0, 1);
  const char *returned = luaL_typename(L, -1);
  sct_script_push_module_function(L, "sectile.check", "open");
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
  ld->status = sct_script_read_own(L, ld, kernel);
  if (ld->status == SCT_OK) {
    ld->status = sct_spec_bind(ld->spec, ld->err);
  }
  if (ld->status != SCT_OK) {
    return 0;
  }
  sct_script_trace_operands(L, ld, kernel);
  read_sizes(L, ld, kernel);
  return 0;
}

static int keep_chunk_function(lua_State *L) {
  lua_pushvalue(L, 1);
  lua_setfield(L, LUA_REGISTRYINDEX, "sectile.spec");
  return 0;
}

static sct_status run_script(sct_script_loader *ld, const char *text) {
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
  SCT_SCOPED(sct_str) root = {0};
  SCT_SCOPED(sct_str) own = {0};
  sct_error ignored;
  sct_script_loader ld = {.spec = out, .path = path, .err = err ? err : &ignored, .status = SCT_OK};
  memset(out, 0, sizeof(*out));
  if (sct_has_prefix(path, SCT_OUR_DIRECTORY)) {
    sct_str_printf(&own, "./%s", path);
    ld.path = sct_str_c(&own);
  }
  sct_path_dirname(&root, ld.path);
  sct_expr_pool_new(&out->pool);
  SCT_TRY_DONE(sct_sandbox_init(&ld.sb, sct_str_c(&root), err));
  ld.sb.pool = out->pool;
  SCT_TRY_DONE(run_script(&ld, text));
  SCT_TRY_DONE(sct_spec_finish(out, err));
done:
  sct_sandbox_free(&ld.sb);
  if (status != SCT_OK) {
    sct_spec_free(out);
  }
  return status;
}

sct_status sct_script_load_spec(sct_spec *out, const char *path, sct_error *err) {
  SCT_SCOPED(sct_str) text = {0};
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
  SCT_THEN(sct_script_load_spec_text(out, path, sct_str_c(&text), err));
  return status;
}
