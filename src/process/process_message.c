/* Structs as messages: one writer and one reader for all of them, which walk the table of a struct.
 * The reader takes every message for hostile; the writer refuses what the reader would. */
#include "process/process_internal.h"

#include <string.h>

static int64_t load(const char *at, size_t bytes) {
  int32_t four;
  int64_t eight;
  if (bytes == sizeof four) {
    memcpy(&four, at, sizeof four);
    return four;
  }
  if (bytes == sizeof eight) {
    memcpy(&eight, at, sizeof eight);
    return eight;
  }
  return *(const uint8_t *)at;
}

static void store(char *at, size_t bytes, int64_t value) {
  const int32_t four = (int32_t)value;
  if (bytes == 1) {
    *(uint8_t *)at = (uint8_t)value;
  } else {
    memcpy(at, bytes == sizeof four ? (const void *)&four : &value, bytes);
  }
}

/* ---- writing ---- */

static void put_items(sct_wire *w, const sct_message_field *f, const void *items, int64_t n) {
  if (n < f->least || n > f->most) {
    w->failed = true;
    return;
  }
  sct_wire_put_i64(w, n);
  if (f->kind == SCT_IS_RAWS) {
    sct_wire_put_raw(w, items, (size_t)n * f->bytes);
  }
  for (int64_t k = 0; k < n && f->kind == SCT_IS_LIST; k++) {
    sct_wire_put(w, f->of(), (const char *)items + (size_t)k * f->bytes);
  }
}

static void put_text(sct_wire *w, const sct_message_field *f, const char *text) {
  w->failed = w->failed || (!text && f->least > 0);
  sct_wire_put_bytes(w, text, text ? strlen(text) + 1 : 0);
}

static void put_int(sct_wire *w, const sct_message_field *f, int64_t value) {
  w->failed = w->failed || value < f->least || value > f->most;
  sct_wire_put_i64(w, value);
}

void sct_wire_put(sct_wire *w, const sct_message *what, const void *from) {
  for (int k = 0; k < what->n_fields; k++) {
    const sct_message_field *f = &what->fields[k];
    const char *at = (const char *)from + f->offset;
    const void *pointer = NULL;
    switch (f->kind) {
    case SCT_IS_INT:
      put_int(w, f, load(at, f->bytes));
      break;
    case SCT_IS_CHARS:
      w->failed = w->failed || !memchr(at, '\0', f->bytes);
      sct_wire_put_raw(w, at, f->bytes);
      break;
    case SCT_IS_RAW:
      sct_wire_put_raw(w, at, f->bytes);
      break;
    case SCT_IS_STRUCT:
      sct_wire_put(w, f->of(), at);
      break;
    case SCT_IS_TEXT:
      memcpy(&pointer, at, sizeof pointer);
      put_text(w, f, pointer);
      break;
    default:
      memcpy(&pointer, at, sizeof pointer);
      put_items(w, f, pointer, load((const char *)from + f->count, sizeof(int64_t)));
    }
  }
}

/* ---- reading ---- */

/* The least bytes of an element, to refuse lists that what is left of a message cannot hold. */
static size_t least_bytes(const sct_message *what) {
  size_t sum = 0;
  for (int k = 0; k < what->n_fields; k++) {
    const sct_message_field *f = &what->fields[k];
    const bool is_memory = f->kind == SCT_IS_RAW || f->kind == SCT_IS_CHARS;
    sum += is_memory ? f->bytes : f->kind == SCT_IS_STRUCT ? least_bytes(f->of()) : sizeof(int64_t);
  }
  return sum;
}

static void get_fields(sct_wire *w, const sct_message *what, char *out);

static const void *get_items(sct_wire *w, const sct_message_field *f, int64_t *n) {
  const bool described = f->kind == SCT_IS_LIST;
  const size_t each = described ? least_bytes(f->of()) : f->bytes;
  *n = sct_wire_get_i64(w);
  if (w->failed || *n < f->least || *n > f->most || (uint64_t)*n > (w->len - w->at) / each) {
    w->failed = true;
    return NULL;
  }
  if (!described && f->bytes == 1) { /* no alignment: they need no copy */
    return sct_wire_get_raw(w, (size_t)*n);
  }
  char *items = *n > 0 ? sct_arena_alloc(&w->arena, (size_t)*n * f->bytes) : NULL;
  if (!described && *n > 0) {
    memcpy(items, sct_wire_get_raw(w, (size_t)*n * f->bytes), (size_t)*n * f->bytes);
  }
  for (int64_t k = 0; k < *n && described && !w->failed; k++) {
    get_fields(w, f->of(), items + (size_t)k * f->bytes);
  }
  return items;
}

static const char *get_text(sct_wire *w, const sct_message_field *f) {
  size_t n = 0;
  const char *text = (const char *)sct_wire_get_bytes(w, &n);
  w->failed = w->failed || (n == 0 ? f->least > 0 : memchr(text, '\0', n) != text + n - 1);
  return n > 0 && !w->failed ? text : NULL;
}

static int64_t get_int(sct_wire *w, const sct_message_field *f) {
  const int64_t value = sct_wire_get_i64(w);
  w->failed = w->failed || value < f->least || value > f->most;
  return value;
}

static void get_field(sct_wire *w, const sct_message_field *f, char *out) {
  char *at = out + f->offset;
  const void *pointer = NULL;
  int64_t n = 0;
  switch (f->kind) {
  case SCT_IS_INT:
    store(at, f->bytes, get_int(w, f));
    return;
  case SCT_IS_RAW:
  case SCT_IS_CHARS:
    pointer = sct_wire_get_raw(w, f->bytes);
    w->failed = w->failed || (f->kind == SCT_IS_CHARS && !memchr(pointer, '\0', f->bytes));
    memcpy(at, pointer, w->failed ? 0 : f->bytes);
    return;
  case SCT_IS_STRUCT:
    get_fields(w, f->of(), at);
    return;
  case SCT_IS_TEXT:
    pointer = get_text(w, f);
    break;
  default:
    pointer = get_items(w, f, &n);
    memcpy(out + f->count, &n, sizeof n);
  }
  memcpy(at, &pointer, sizeof pointer);
}

static void get_fields(sct_wire *w, const sct_message *what, char *out) {
  for (int k = 0; k < what->n_fields && !w->failed; k++) {
    get_field(w, &what->fields[k], out);
  }
}

bool sct_wire_get(sct_wire *w, const sct_message *what, void *out) {
  memset(out, 0, what->bytes);
  get_fields(w, what, out);
  if (w->failed) {
    memset(out, 0, what->bytes);
  }
  return !w->failed;
}

bool sct_wire_get_whole(sct_wire *w, const sct_message *what, void *out) {
  if (sct_wire_get(w, what, out) && w->at == w->len) {
    return true;
  }
  w->failed = true;
  memset(out, 0, what->bytes);
  return false;
}

const sct_message *sct_text_table(void) {
  static const sct_message_field text = {SCT_IS_TEXT, 0, 1, 1, 0, 0, NULL};
  static const sct_message message = {"a text", sizeof(char *), &text, 1};
  return &message;
}

const sct_message *sct_nothing_table(void) {
  static const sct_message message = {"sct_nothing", sizeof(sct_nothing), NULL, 0};
  return &message;
}
