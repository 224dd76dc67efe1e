/* count_manifest - JSON to cases, with messages that name the line, the case and the key. */
#include "count/count_internal.h"
#include "json/json.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

typedef struct reader {
  sct_count_manifest *m;
  const char *text; /* of the file; NULL: none */
  int cap_buffers;
  bool is_object;   /* {"cases": [...]} */
  int line;         /* of the current case; 0: none */
  const char *name; /* of the current case; NULL: not known */
  sct_error *err;
} reader;

static const char *const case_keys[] = {"case",   "kernel",  "grid",        "block", "args",
                                        "shared", "cluster", "cooperative", "heap",  "variables"};
static const char *const top_keys[] = {"buffers", "cases", "options", "variables"};
static const char *const buffer_keys[] = {"bytes", "fill", "type"};

/* ---- messages */

void count_place(sct_str *out, const sct_count_manifest *m, int line, const char *name) {
  if (!m->path) {
    return; /* options name themselves */
  }
  sct_str_append(out, m->path);
  if (line > 0) {
    sct_str_printf(out, ":%d", line);
  }
  sct_str_append(out, ": error: ");
  if (name) {
    sct_str_printf(out, "case '%s': ", name);
  }
}

SCT_PRINTF(2, 3)
static sct_status fail_text(const reader *r, const char *fmt, ...) {
  SCT_SCOPED(sct_str) text = {0}, place = {0};
  SCT_STR_FORMAT(&text, fmt);
  count_place(&place, r->m, r->line, r->name);
  return sct_fail(r->err, r->m->path ? SCT_ESPEC : SCT_EUSAGE, "%s%s", sct_str_c(&place),
                  sct_str_c(&text));
}

/* The marks around a key of a manifest; an option has two dashes. */
static const char *open_key(const reader *r) {
  return r->m->path ? "'" : "--";
}

static const char *close_key(const reader *r) {
  return r->m->path ? "'" : "";
}

static const char *kind_of(const json_t *v) {
  switch (v != NULL ? json_typeof(v) : JSON_NULL) {
  case JSON_OBJECT:
    return "an object";
  case JSON_ARRAY:
    return "a list";
  case JSON_STRING:
    return "text";
  case JSON_INTEGER:
  case JSON_REAL:
    return "a number";
  case JSON_TRUE:
  case JSON_FALSE:
    return "a truth value";
  default:
    return v != NULL ? "null" : "nothing";
  }
}

static sct_status expected(const reader *r, const char *key, const char *what, const json_t *got) {
  return fail_text(r, "%s%s%s: expected %s, not %s", open_key(r), key, close_key(r), what,
                   kind_of(got));
}

/* A word that is none of `words`. */
static sct_status unknown_word(const reader *r, const char *what, const char *word,
                               sct_names words) {
  SCT_SCOPED(sct_str) hint = {0};
  sct_str_suggest(&hint, word, words);
  return fail_text(r, "%s '%s'%s", what, word, sct_str_c(&hint));
}

/* Manifests of other programs may say more than is read here; but a misspelt key would change what
 * is launched. */
static sct_status check_keys(const reader *r, json_t *object, sct_names keys) {
  const char *key;
  json_t *value;
  json_object_foreach(object, key, value) {
    if (sct_names_find(keys, key) >= 0) {
      continue;
    }
    if (sct_nearest(key, keys) != NULL) {
      return unknown_word(r, "unknown key", key, keys);
    }
    sct_log(SCT_LOG_WARN, "%s:%d: unknown key '%s' is ignored", r->m->path, r->line, key);
  }
  return SCT_OK;
}

/* ---- lines: the JSON library keeps none of a document that it has read */

/* Skips a string that opens at `at`; returns its closing quote. */
static const char *skip_string(const char *at) {
  for (at++; *at != '"' && *at != '\0'; at++) {
    at += *at == '\\' && at[1] != '\0';
  }
  return at;
}

/* Line of the first zero byte, which the JSON library reads over after a number; 0: none. */
static int line_of_zero(const sct_str *text) {
  const char *const zero = text->len > 0 ? memchr(text->data, 0, text->len) : NULL;
  int line = 1;
  for (const char *at = text->data; zero != NULL && at < zero; at++) {
    line += *at == '\n';
  }
  return zero != NULL ? line : 0;
}

/* Line of entry `index` of the cases, in text that is known to be JSON. */
static int case_line(const reader *r, int index) {
  if (!r->text) {
    return 0;
  }
  const int depth_of_cases = r->is_object ? 2 : 1;
  int line = 1, depth = 0, seen = 0;
  bool inside = !r->is_object;
  for (const char *at = r->text; *at != '\0'; at++) {
    const bool here = inside && depth == depth_of_cases;
    line += *at == '\n';
    if (here && seen == index && !isspace((unsigned char)*at) && *at != ',' && *at != ']') {
      return line;
    }
    seen += here && *at == ',';
    if (*at == '"') {
      const char *const end = skip_string(at);
      if (r->is_object && depth == 1) {
        inside = (size_t)(end - at) == sizeof("cases") && memcmp(at, "\"cases\"", 7) == 0;
      }
      at = *end != '\0' ? end : end - 1;
    }
    depth += *at == '{' || *at == '[';
    depth -= *at == '}' || *at == ']';
  }
  return 0;
}

/* ---- types */

static sct_names type_names(void) {
  return SCT_NAMES_IN(count_types, count_n_types, name);
}

static sct_status read_type(const reader *r, int *out, const json_t *given) {
  *out = -1;
  if (given == NULL) {
    return SCT_OK;
  }
  if (!json_is_string(given)) {
    return expected(r, "type", "the name of a type", given);
  }
  const char *const name = json_string_value(given);
  *out = sct_names_find(type_names(), name);
  return *out >= 0 ? SCT_OK : unknown_word(r, "unknown type", name, type_names());
}

/* ---- buffers */

static sct_status read_fill(const reader *r, sct_count_buffer *b, const json_t *given) {
  SCT_SCOPED(sct_str) why = {0};
  if (given == NULL) {
    return SCT_OK;
  }
  if (!json_is_string(given) && !json_is_array(given)) {
    return expected(r, "fill", "the name of a fill, or a list of numbers", given);
  }
  sct_status status = SCT_OK;
  if (!count_read_fill(b, &r->m->arena, given, r->m->path, &why)) {
    status = fail_text(r, "%s", sct_str_c(&why));
  }
  return status;
}

/* The next buffer, with room for it. */
static sct_count_buffer *new_buffer(reader *r) {
  sct_count_manifest *const m = r->m;
  if (m->n_buffers == r->cap_buffers) {
    const sct_count_buffer *const old = m->buffers;
    r->cap_buffers = 2 * r->cap_buffers + count_n_given;
    m->buffers = SCT_ARENA_NEW(&m->arena, sct_count_buffer, r->cap_buffers);
    if (old) {
      memcpy(m->buffers, old, sizeof(*old) * (size_t)m->n_buffers);
    }
  }
  return &m->buffers[m->n_buffers++];
}

static sct_status read_arg(reader *r, sct_count_arg *out, json_t *given, const char *what);

/* Is it known how many bytes each member has? */
static bool has_types(const sct_count_arg *list) {
  bool good = list->n_members > 0;
  for (int k = 0; good && k < list->n_members; k++) {
    const sct_count_arg *const m = &list->members[k];
    const bool address = m->kind == SCT_COUNT_BUFFER || m->kind == SCT_COUNT_NULL;
    good = m->name == NULL &&
           (address || m->type >= 0 || (m->kind == SCT_COUNT_STRUCT && has_types(m)));
  }
  return good;
}

/* A buffer that holds the members of a list. */
static sct_count_buffer listed(const char *name, const sct_count_arg *list) {
  int64_t align;
  return (sct_count_buffer){.name = name,
                            .bytes = count_struct_bytes(list, &align),
                            .type = -1,
                            .list = list,
                            .used = true};
}

/* ["x", "y+16", null]: addresses, and numbers with a type. */
static sct_status read_listed(reader *r, sct_count_buffer *out, const char *name, json_t *given) {
  sct_count_arg *const list = SCT_ARENA_NEW(&r->m->arena, sct_count_arg, 1);
  const char *const what = sct_arena_printf(&r->m->arena, "buffer '%s'", name);
  SCT_TRY(read_arg(r, list, given, what));
  if (!has_types(list)) {
    return fail_text(r, "%s: expected a list of buffers, null and {TYPE: number}", what);
  }
  *out = listed(sct_arena_strdup(&r->m->arena, name), list);
  return SCT_OK;
}

/* Puts it in the place of one of that name. */
static void keep_buffer(reader *r, const sct_count_buffer *b) {
  const sct_names known = SCT_NAMES_IN(r->m->buffers, r->m->n_buffers, name);
  const int k = sct_names_find(known, b->name);
  *(k >= 0 ? &r->m->buffers[k] : new_buffer(r)) = *b;
}

static sct_status read_buffer(reader *r, const char *name, json_t *given) {
  sct_count_manifest *const m = r->m;
  sct_count_buffer list;
  if (json_is_array(given)) {
    SCT_TRY(read_listed(r, &list, name, given));
    keep_buffer(r, &list);
    return SCT_OK;
  }
  if (!json_is_object(given)) {
    return expected(r, name, "{\"bytes\": N, \"fill\": NAME} or a list of buffers", given);
  }
  if (name[0] == '\0' || strchr(name, '+') != NULL) {
    return fail_text(r, "buffer '%s': a name may not be empty or hold a '+'", name);
  }
  const json_t *const bytes = json_object_get(given, "bytes");
  sct_count_buffer read = {.name = sct_arena_strdup(&m->arena, name),
                           .bytes = json_integer_value(bytes)};
  SCT_TRY(check_keys(r, given, SCT_NAMES(buffer_keys, SCT_COUNT(buffer_keys))));
  SCT_TRY(read_type(r, &read.type, json_object_get(given, "type")));
  SCT_TRY(bytes && !json_is_integer(bytes) ? SCT_OK
                                           : read_fill(r, &read, json_object_get(given, "fill")));
  if (!bytes && read.held) {
    read.bytes = read.held_bytes;
  }
  if ((bytes && !json_is_integer(bytes)) || read.bytes < 1 || read.bytes > COUNT_MOST_BYTES) {
    return fail_text(r, "buffer '%s': 'bytes': expected a whole number from 1 to %lld", name,
                     (long long)COUNT_MOST_BYTES);
  }
  if (read.type >= 0 && read.bytes % count_types[read.type].bytes != 0) {
    return fail_text(r, "buffer '%s': 'bytes': expected a multiple of the %d of %s", name,
                     count_types[read.type].bytes, count_types[read.type].name);
  }
  keep_buffer(r, &read); /* before the given one */
  return SCT_OK;
}

static sct_status read_buffers(reader *r, json_t *given) {
  if (given != NULL && !json_is_object(given)) {
    return expected(r, "buffers", "an object", given);
  }
  for (int k = 0; k < count_n_given; k++) {
    *new_buffer(r) = count_given[k];
  }
  const char *name;
  json_t *buffer;
  json_object_foreach(given, name, buffer) {
    SCT_TRY(read_buffer(r, name, buffer));
  }
  return SCT_OK;
}

/* ---- arguments */

/* "f32[1000]", "i32[1000]:perm": a buffer of this launch alone. */
static sct_status read_own_buffer(reader *r, sct_count_arg *out, const char *text,
                                  const char *what) {
  sct_arena *const arena = &r->m->arena;
  const size_t n = strcspn(text, "[");
  const char *const name = sct_arena_strndup(arena, text, n);
  const int type = sct_names_find(type_names(), name);
  char *end = NULL;
  if (type < 0) {
    const char *const of = sct_arena_printf(arena, "%s '%s': unknown type", what, text);
    return unknown_word(r, of, name, type_names());
  }
  const int64_t most = COUNT_MOST_BYTES / count_types[type].bytes;
  const bool digit = isdigit((unsigned char)text[n + 1]) != 0;
  const long long length = digit ? strtoll(text + n + 1, &end, 10) : 0;
  if (length < 1 || length > most || *end != ']' || (end[1] != '\0' && end[1] != ':')) {
    return fail_text(r, "%s '%s': expected %s[N] or %s[N]:FILL, N from 1 to %lld", what, text,
                     count_types[type].name, count_types[type].name, (long long)most);
  }
  sct_count_buffer read = {.name = out->name ? out->name : sct_arena_strdup(arena, text),
                           .bytes = length * count_types[type].bytes,
                           .type = type,
                           .used = true};
  if (end[1] == ':') {
    json_t *const fill = json_string(end + 2);
    const sct_status status = read_fill(r, &read, fill);
    json_decref(fill);
    SCT_TRY(status);
  }
  *new_buffer(r) = read;
  out->kind = SCT_COUNT_BUFFER;
  out->buffer = r->m->n_buffers - 1;
  return SCT_OK;
}

/* "in", "out+16" */
static sct_status read_address(reader *r, sct_count_arg *out, const char *text, const char *what) {
  sct_count_manifest *const m = r->m;
  if (strchr(text, '[')) {
    return read_own_buffer(r, out, text, what);
  }
  const size_t n = strcspn(text, "+");
  const char *const name = sct_arena_strndup(&m->arena, text, n);
  const sct_names known = SCT_NAMES_IN(m->buffers, m->n_buffers, name);
  out->kind = SCT_COUNT_BUFFER;
  out->buffer = sct_names_find(known, name);
  if (out->buffer < 0) {
    const char *const of = sct_arena_printf(&m->arena, "%s: unknown buffer", what);
    return unknown_word(r, of, name, known);
  }
  const int64_t bytes = m->buffers[out->buffer].bytes;
  for (const char *at = text + n + 1; text[n] == '+' && *at != '\0'; at++) {
    const int digit = *at - '0';
    if (digit < 0 || digit > 9 || out->offset > bytes) {
      out->offset = -1;
      break;
    }
    out->offset = out->offset * 10 + digit;
  }
  if (out->offset < 0 || out->offset > bytes || (text[n] == '+' && text[n + 1] == '\0')) {
    return fail_text(r, "%s '%s': expected a byte offset from 0 to %lld after the '+'", what, text,
                     (long long)bytes);
  }
  m->buffers[out->buffer].used = true;
  return SCT_OK;
}

/* {"i32": [3, 1, 2]}: a buffer of this launch alone. */
static sct_status read_list(reader *r, sct_count_arg *out, const json_t *list) {
  const char *const name = count_types[out->type].name;
  sct_count_buffer read = {.name = out->name ? out->name : name, .type = out->type, .used = true};
  SCT_TRY(read_fill(r, &read, list));
  read.bytes = read.held_bytes;
  *new_buffer(r) = read;
  *out = (sct_count_arg){
      .name = out->name, .kind = SCT_COUNT_BUFFER, .buffer = r->m->n_buffers - 1, .type = -1};
  return SCT_OK;
}

/* {"width": 3, "rows": "in"}: a struct by the names of its members. */
static sct_status read_fields(reader *r, sct_count_arg *out, json_t *given, const char *what) {
  const char *name;
  json_t *value;
  int i = 0;
  out->kind = SCT_COUNT_STRUCT;
  out->type = -1;
  out->n_members = (int)json_object_size(given);
  out->members = SCT_ARENA_NEW(&r->m->arena, sct_count_arg, out->n_members + 1);
  json_object_foreach(given, name, value) {
    out->members[i].name = sct_arena_strdup(&r->m->arena, name);
    for (const char *at = name; *at != '\0'; at++) {
      if (!sct_is_word(*at) && *at != '.' && *at != '[' && *at != ']') {
        return fail_text(r, "%s: '%s' is no name of a member", what, name);
      }
    }
    SCT_TRY(read_arg(r, &out->members[i++], value, what));
  }
  return SCT_OK;
}

/* {"f64": 1.5} */
static sct_status read_typed(reader *r, sct_count_arg *out, json_t *given, const char *what) {
  void *const first = json_object_iter(given);
  const char *const name = first != NULL ? json_object_iter_key(first) : "";
  const json_t *const value = json_object_get(given, name);
  out->type = sct_names_find(type_names(), name);
  if (strcmp(name, "texture") == 0 || strcmp(name, "surface") == 0) {
    return fail_text(r,
                     "%s: %ss are not launched here: what they fetch is not counted; "
                     "expected a buffer, for a kernel that loads from it",
                     what, name);
  }
  if (out->type < 0 || json_object_size(given) > 1) {
    const bool misspelt = sct_nearest(name, type_names()) != NULL && json_object_size(given) == 1;
    if (json_object_size(given) > 0 && !misspelt) {
      return read_fields(r, out, given, what);
    }
    const char *const of =
        sct_arena_printf(&r->m->arena, "%s: expected one type and its value, not", what);
    return unknown_word(r, of, name, type_names());
  }
  if (json_is_array(value)) {
    return read_list(r, out, value);
  }
  const bool real = count_types[out->type].real;
  if (real ? !json_is_number(value) : !json_is_integer(value)) {
    return fail_text(r, "%s: '%s' expects a %s, not %s", what, name,
                     real ? "number" : "whole number", kind_of(value));
  }
  out->kind = real ? SCT_COUNT_REAL : SCT_COUNT_INTEGER;
  out->real = real ? json_number_value(value) : 0.0;
  out->integer = real ? 0 : json_integer_value(value);
  return SCT_OK;
}

static sct_status read_members(reader *r, sct_count_arg *out, json_t *given, const char *what) {
  const size_t n = json_array_size(given);
  out->kind = SCT_COUNT_STRUCT;
  out->n_members = (int)n;
  out->members = SCT_ARENA_NEW(&r->m->arena, sct_count_arg, n > 0 ? n : 1);
  for (size_t i = 0; i < n; i++) {
    SCT_TRY(read_arg(r, &out->members[i], json_array_get(given, i), what));
  }
  return SCT_OK;
}

/* The depth of lists is that of the JSON library, which bounds it. */
static sct_status read_arg(reader *r, sct_count_arg *out, json_t *given, const char *what) {
  out->type = -1;
  switch (json_typeof(given)) {
  case JSON_STRING:
    return read_address(r, out, json_string_value(given), what);
  case JSON_OBJECT:
    return read_typed(r, out, given, what);
  case JSON_ARRAY:
    return read_members(r, out, given, what);
  case JSON_INTEGER:
    out->kind = SCT_COUNT_INTEGER;
    out->integer = json_integer_value(given);
    return SCT_OK;
  case JSON_REAL:
    out->kind = SCT_COUNT_REAL;
    out->real = json_real_value(given);
    return SCT_OK;
  case JSON_TRUE:
  case JSON_FALSE:
    out->kind = SCT_COUNT_INTEGER;
    out->type = sct_names_find(type_names(), "u8");
    out->integer = json_is_true(given);
    return SCT_OK;
  case JSON_NULL:
    out->kind = SCT_COUNT_NULL;
    return SCT_OK;
  }
  return SCT_OK;
}

/* ---- variables */

/* {"type": "f32", "fill": "index"}: contents. */
static sct_status read_contents(const reader *r, sct_count_buffer *b, json_t *given) {
  const json_t *const bytes = json_object_get(given, "bytes");
  const char *key;
  json_t *value;
  json_object_foreach(given, key, value) {
    if (sct_names_find(SCT_NAMES(buffer_keys, SCT_COUNT(buffer_keys)), key) < 0) {
      return fail_text(r,
                       "variable '%s': expected a value, {TYPE: [numbers]} or {\"type\": TYPE, "
                       "\"fill\": FILL}, not '%s'",
                       b->name, key);
    }
  }
  SCT_TRY(read_type(r, &b->type, json_object_get(given, "type")));
  SCT_TRY(read_fill(r, b, json_object_get(given, "fill")));
  if (bytes && (!json_is_integer(bytes) || json_integer_value(bytes) < 1 ||
                json_integer_value(bytes) > COUNT_MOST_BYTES)) {
    return fail_text(r, "variable '%s': 'bytes': expected a whole number from 1 to %lld", b->name,
                     (long long)COUNT_MOST_BYTES);
  }
  b->bytes = bytes ? json_integer_value(bytes) : b->held_bytes;
  return SCT_OK;
}

/* A value as an argument has it; or contents: as a buffer has them, or {"f32": [1, 2, 3]}. */
static sct_status read_setting(reader *r, sct_count_setting *out, const char *name, json_t *given) {
  void *const first = json_object_iter(given);
  const int type = first != NULL ? sct_names_find(type_names(), json_object_iter_key(first)) : -1;
  const bool list = type >= 0 && json_is_array(json_object_iter_value(first));
  out->name = sct_arena_strdup(&r->m->arena, name);
  if (!json_is_object(given) || (type >= 0 && !list)) {
    return read_arg(r, &out->value, given, sct_arena_printf(&r->m->arena, "variable '%s'", name));
  }
  out->contents = SCT_ARENA_NEW(&r->m->arena, sct_count_buffer, 1);
  *out->contents = (sct_count_buffer){.name = out->name, .type = type};
  if (!list) {
    return read_contents(r, out->contents, given);
  }
  SCT_TRY(read_fill(r, out->contents, json_object_iter_value(first)));
  out->contents->bytes = out->contents->held_bytes;
  return SCT_OK;
}

static sct_status read_settings(reader *r, sct_count_setting **out, int *n_out, json_t *given) {
  const size_t n = json_object_size(given);
  if (given != NULL && (!json_is_object(given) || n > INT16_MAX)) {
    return expected(r, "variables", "an object of values by their names", given);
  }
  *out = SCT_ARENA_NEW(&r->m->arena, sct_count_setting, n + 1);
  const char *name;
  json_t *value;
  json_object_foreach(given, name, value) {
    SCT_TRY(read_setting(r, &(*out)[(*n_out)++], name, value));
  }
  return SCT_OK;
}

/* ---- cases */

static sct_status read_shape(const reader *r, int64_t shape[3], const char *key, json_t *given) {
  const bool alone = json_is_integer(given);
  const size_t n = alone ? 1 : json_array_size(given);
  bool good = n >= 1 && n <= 3;
  shape[0] = shape[1] = shape[2] = 1;
  for (size_t k = 0; good && k < n; k++) {
    const json_t *const v = alone ? given : json_array_get(given, k);
    good = json_is_integer(v) && json_integer_value(v) >= 1 && json_integer_value(v) <= INT32_MAX;
    shape[k] = good ? json_integer_value(v) : 1;
  }
  return good ? SCT_OK
         : r->m->path
             ? fail_text(r, "'%s': expected a number above 0, or a list of one to three", key)
             : fail_text(r, "--%s: expected one to three numbers above 0, as in 256 or 64,64", key);
}

static sct_status read_texts(reader *r, sct_count_case *c, json_t *given) {
  const json_t *const name = json_object_get(given, "case");
  const json_t *const kernel = json_object_get(given, "kernel");
  if (name != NULL && !json_is_string(name)) {
    return expected(r, "case", "its name", name);
  }
  r->name = json_string_value(name);
  if (!json_is_string(kernel) || json_string_length(kernel) == 0) {
    return expected(r, "kernel", "the name of a kernel", kernel);
  }
  c->kernel = sct_arena_strdup(&r->m->arena, json_string_value(kernel));
  c->name = name != NULL ? sct_arena_strdup(&r->m->arena, json_string_value(name)) : c->kernel;
  r->name = c->name;
  return SCT_OK;
}

static const char *argument(const reader *r, int index) {
  return sct_arena_printf(&r->m->arena, "argument %d", index);
}

/* One of the arguments of a launch: if it is a list, the parameter may be a pointer to it. */
static sct_status read_parameter(reader *r, sct_count_arg *out, json_t *given, int index) {
  SCT_TRY(read_arg(r, out, given, argument(r, index)));
  if (out->kind == SCT_COUNT_STRUCT) {
    out->buffer = -1;
  }
  if (out->kind == SCT_COUNT_STRUCT && has_types(out)) {
    *new_buffer(r) = listed(out->name ? out->name : "a list", out);
    out->buffer = r->m->n_buffers - 1;
  }
  return SCT_OK;
}

/* A list in the order of parameters, or an object by their names. */
static sct_status read_args(reader *r, sct_count_case *c, json_t *args) {
  const size_t n = json_is_object(args) ? json_object_size(args) : json_array_size(args);
  if ((!json_is_array(args) && !json_is_object(args)) || n > INT16_MAX) {
    return expected(r, "args", "a list, or an object by the parameters' names", args);
  }
  c->n_args = (int)n;
  c->args = SCT_ARENA_NEW(&r->m->arena, sct_count_arg, n > 0 ? n : 1);
  const char *name;
  json_t *value;
  int i = 0;
  json_object_foreach(args, name, value) {
    c->args[i].name = sct_arena_strdup(&r->m->arena, name);
    i++;
    SCT_TRY(read_parameter(r, &c->args[i - 1], value, i));
  }
  for (size_t k = 0; k < n && json_is_array(args); k++) {
    SCT_TRY(read_parameter(r, &c->args[k], json_array_get(args, k), (int)k + 1));
  }
  return SCT_OK;
}

/* A whole number from 0 to `most`; one that is absent stays as it is. */
static sct_status read_whole(const reader *r, int64_t *out, const json_t *given, const char *key,
                             int64_t most, const char *what) {
  json_t *const value = json_object_get(given, key);
  if (value != NULL && (!json_is_integer(value) || json_integer_value(value) < 0 ||
                        json_integer_value(value) > most)) {
    return expected(r, key, what, value);
  }
  *out = value != NULL ? json_integer_value(value) : *out;
  return SCT_OK;
}

static sct_status read_case(reader *r, sct_count_case *c, json_t *given) {
  if (!json_is_object(given)) {
    return expected(r, "cases", "objects", given);
  }
  SCT_TRY(read_texts(r, c, given));
  SCT_TRY(check_keys(r, given, SCT_NAMES(case_keys, SCT_COUNT(case_keys))));
  SCT_TRY(read_shape(r, c->grid, "grid", json_object_get(given, "grid")));
  SCT_TRY(read_shape(r, c->block, "block", json_object_get(given, "block")));
  SCT_TRY(read_whole(r, &c->shared_bytes, given, "shared", INT64_MAX, "bytes, 0 or more"));
  SCT_TRY(read_whole(r, &c->cluster, given, "cluster", 16, "blocks of a cluster, up to 16"));
  SCT_TRY(read_whole(r, &c->heap_bytes, given, "heap", INT64_C(1) << 32,
                     "bytes that malloc() may give, up to 4 GiB"));
  json_t *const cooperative = json_object_get(given, "cooperative");
  if (cooperative != NULL && !json_is_boolean(cooperative)) {
    return expected(r, "cooperative", "true or false", cooperative);
  }
  c->cooperative = json_is_true(cooperative);
  SCT_TRY(read_settings(r, &c->settings, &c->n_settings, json_object_get(given, "variables")));
  return read_args(r, c, json_object_get(given, "args"));
}

static sct_status read_cases(reader *r, json_t *list) {
  sct_count_manifest *const m = r->m;
  const size_t n = json_array_size(list);
  if (!json_is_array(list) || n == 0 || n > INT32_MAX) {
    return fail_text(r, "expected a list of at least one case%s, not %s",
                     r->is_object ? " in 'cases'" : "",
                     json_is_array(list) ? "an empty one" : kind_of(list));
  }
  m->cases = SCT_ARENA_NEW(&m->arena, sct_count_case, n);
  m->n_cases = (int)n;
  for (size_t i = 0; i < n; i++) {
    m->cases[i].line = r->line = case_line(r, (int)i);
    r->name = NULL;
    SCT_TRY(read_case(r, &m->cases[i], json_array_get(list, i)));
  }
  return SCT_OK;
}

/* Options of the compiler, in addition to those of the command. */
static sct_status read_options(const reader *r, const json_t *list) {
  const size_t n = json_array_size(list);
  const char **const options = SCT_ARENA_NEW(&r->m->arena, const char *, n + 1);
  if (list != NULL && !json_is_array(list)) {
    return expected(r, "options", "a list of options of the compiler", list);
  }
  for (size_t k = 0; k < n; k++) {
    const char *const option = json_string_value(json_array_get(list, k));
    if (option == NULL || option[0] != '-') {
      return fail_text(r, "'options': expected options of the compiler, as in \"-DN=3\"");
    }
    options[k] = sct_arena_strdup(&r->m->arena, option);
  }
  r->m->options = options;
  r->m->n_options = (int)n;
  return SCT_OK;
}

static sct_status read_document(reader *r, json_t *doc) {
  if (!json_is_object(doc)) {
    SCT_TRY(read_buffers(r, NULL));
    return read_cases(r, doc);
  }
  r->is_object = true;
  SCT_TRY(check_keys(r, doc, SCT_NAMES(top_keys, SCT_COUNT(top_keys))));
  SCT_TRY(read_options(r, json_object_get(doc, "options")));
  SCT_TRY(read_buffers(r, json_object_get(doc, "buffers")));
  SCT_TRY(read_settings(r, &r->m->settings, &r->m->n_settings, json_object_get(doc, "variables")));
  return read_cases(r, json_object_get(doc, "cases"));
}

sct_status count_read_document(sct_count_manifest *m, json_t *doc, const char *text,
                               sct_error *err) {
  reader r = {.m = m, .text = text, .err = err};
  return read_document(&r, doc);
}

sct_status sct_count_read(sct_count_manifest *out, const char *path, sct_error *err) {
  SCT_SCOPED(sct_str) text = {0};
  json_error_t wrong;
  json_t *doc = NULL;
  *out = (sct_count_manifest){0};
  sct_status status = sct_file_read(&text, path, err);
  if (status != SCT_OK) {
    goto done;
  }
  out->path = sct_arena_strdup(&out->arena, path);
  if (line_of_zero(&text) > 0) {
    status = sct_fail(err, SCT_ESPEC, "%s:%d: error: not JSON: a byte with the value 0", path,
                      line_of_zero(&text));
    goto done;
  }
  doc = json_loadb(sct_str_c(&text), text.len, JSON_REJECT_DUPLICATES, &wrong);
  if (doc == NULL) {
    status = sct_fail(err, SCT_ESPEC, "%s:%d: error: not JSON: %s", path, wrong.line, wrong.text);
    goto done;
  }
  status = count_read_document(out, doc, sct_str_c(&text), err);
done:
  json_decref(doc);
  if (status != SCT_OK) {
    sct_count_manifest_free(out);
  }
  return status;
}

void sct_count_manifest_free(sct_count_manifest *manifest) {
  sct_arena_free(&manifest->arena);
  *manifest = (sct_count_manifest){0};
}
