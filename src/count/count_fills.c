/* count_fills - a buffer's contents as a manifest gives them: "perm", "random=10000",
 * "values=3,1,2", "file=index.bin", or a list of numbers. */
#include "count/count_internal.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int64_t element_bytes(const sct_count_buffer *b) {
  return b->type < 0 ? 4 : count_types[b->type].bytes;
}

/* A number as an element: of a buffer without a type as i32, u32 or f32. */
static bool encode(uint8_t *out, const sct_count_buffer *b, const json_t *number, sct_str *why) {
  const bool real = b->type < 0 ? json_is_real(number) : count_types[b->type].real;
  const count_layout to = {.bytes = element_bytes(b)};
  const bool good = real ? json_is_number(number) : json_is_integer(number);
  const sct_count_arg value = {.kind = real ? SCT_COUNT_REAL : SCT_COUNT_INTEGER,
                               .type = b->type,
                               .integer = real ? 0 : json_integer_value(number),
                               .real = json_number_value(number)};
  if (!good) {
    sct_str_printf(why, "values: expected %s", real ? "numbers" : "whole numbers");
  }
  return good && count_encode(out, &to, &value, NULL, why);
}

static bool read_values(sct_count_buffer *b, sct_arena *arena, const json_t *list, sct_str *why) {
  const size_t n = json_array_size(list);
  const int64_t bytes = element_bytes(b);
  uint8_t *const held = sct_arena_alloc(arena, (n + 1) * (size_t)bytes);
  if (n == 0) {
    sct_str_append(why, "values: expected at least one number");
  }
  for (size_t k = 0; k < n; k++) {
    if (!encode(held + k * (size_t)bytes, b, json_array_get(list, k), why)) {
      return false;
    }
  }
  b->fill = COUNT_IS_values;
  b->held = held;
  b->held_bytes = (int64_t)n * bytes;
  return n > 0;
}

static bool read_text_values(sct_count_buffer *b, sct_arena *arena, const char *text,
                             sct_str *why) {
  SCT_SCOPED(sct_str) list = {0};
  sct_str_printf(&list, "[%s]", text);
  SCT_OWNED_PTR(json_t) const values = json_loads(sct_str_c(&list), JSON_REJECT_DUPLICATES, NULL);
  if (!json_is_array(values)) {
    sct_str_printf(why, "values: expected numbers with commas between, not '%s'", text);
  }
  return json_is_array(values) && read_values(b, arena, values, why);
}

/* Relative names are those of the manifest's directory. */
static bool read_file(sct_count_buffer *b, sct_arena *arena, const char *name, const char *manifest,
                      sct_str *why) {
  SCT_SCOPED(sct_str) path = {0}, text = {0};
  sct_error err = {0};
  if (name[0] != '/' && manifest) {
    sct_path_dirname(&path, manifest);
    sct_str_append(&path, "/");
  }
  sct_str_append(&path, name);
  bool good = sct_file_read_most(&text, sct_str_c(&path), COUNT_MOST_BYTES, &err) == SCT_OK;
  if (!good) {
    sct_str_append(why, err.text);
  } else if ((int64_t)text.len < (b->bytes > 0 ? b->bytes : 1)) {
    good = false;
    sct_str_printf(why, "file '%s' has %zu bytes, the buffer %lld", sct_str_c(&path), text.len,
                   (long long)(b->bytes > 0 ? b->bytes : 1));
  } else {
    uint8_t *const held = sct_arena_alloc(arena, text.len);
    memcpy(held, text.data, text.len);
    b->held = held;
    b->held_bytes = (int64_t)text.len;
  }
  return good;
}

static bool read_below(sct_count_buffer *b, const char *text, sct_str *why) {
  char *end = NULL;
  errno = 0;
  b->below = isdigit((unsigned char)text[0]) ? strtoll(text, &end, 10) : 0;
  if (b->below < 1 || b->below > INT64_C(1) << 32 || *end != '\0' || errno != 0) {
    sct_str_printf(why, "random=%s: expected a whole number from 1 to 4294967296", text);
    return false;
  }
  return true;
}

bool count_read_fill(sct_count_buffer *b, sct_arena *arena, const json_t *given,
                     const char *manifest, sct_str *why) {
  if (json_is_array(given)) {
    return read_values(b, arena, given, why);
  }
  const char *const text = json_string_value(given);
  const size_t n = strcspn(text, "=");
  const char *const more = text[n] == '=' ? text + n + 1 : NULL;
  b->fill = sct_names_find_n(SCT_NAMES(count_fills, count_n_fills), text, n);
  switch (b->fill) {
  case -1:
    sct_str_printf(why, "unknown fill '%.*s'", (int)n, text);
    sct_str_suggest(why, sct_arena_strndup(arena, text, n), SCT_NAMES(count_fills, count_n_fills));
    return false;
  case COUNT_IS_random:
    return more == NULL || read_below(b, more, why);
  case COUNT_IS_values:
    if (more) {
      return read_text_values(b, arena, more, why);
    }
    break;
  case COUNT_IS_file:
    if (more) {
      return read_file(b, arena, more, manifest, why);
    }
    break;
  default:
    if (!more) {
      return true;
    }
    sct_str_printf(why, "fill '%.*s' takes no '=%s'", (int)n, text, more);
    return false;
  }
  sct_str_printf(why, "fill '%s' needs its %s, as in %s", text,
                 b->fill == COUNT_IS_file ? "name" : "numbers",
                 b->fill == COUNT_IS_file ? "file=index.bin" : "values=3,1,2");
  return false;
}
