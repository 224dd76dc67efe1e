/* json - JSON documents: read as values that know where they stand, and written.
 *
 * A document may come from elsewhere, so nothing in it is believed. Who reads one names the value
 * and what is expected of it; a message then says where that stands: "operands[1].name". */
#ifndef SCT_JSON_H
#define SCT_JSON_H

#include "base/base.h"

#include <jansson.h>

/* A document that is read: where its texts go, and what stands around its messages. */
typedef struct sct_json_doc {
  sct_arena *arena;
  const char *before; /* "the stored signature is damaged: " */
  const char *after;  /* "; nothing was imported" */
  sct_status code;    /* of what fails */
  sct_error *err;
} sct_json_doc;

/* A value in a document; json NULL: it is absent. */
typedef struct sct_json {
  const sct_json_doc *doc;
  json_t *json;
  const char *path; /* "operands[1].name"; "" for the document */
} sct_json;

/* BEFORE path: message AFTER, with the code of the document. */
sct_status sct_json_fail(sct_json at, const char *fmt, ...) SCT_PRINTF(2, 3);

/* The document in `text`, which must be an object; the caller ends out->json, also where it fails.
 */
sct_status sct_json_parse(sct_json *out, const sct_json_doc *doc, const char *text);
sct_json sct_json_member(sct_json object, const char *key);
sct_json sct_json_item(sct_json list, size_t k);
bool sct_json_absent(sct_json at); /* or null */

/* What is read is a copy in the arena. An absent text is `fallback` (NULL: it must be there). */
sct_status sct_json_text(const char **out, sct_json at, const char *fallback);
sct_status sct_json_integer(int64_t *out, sct_json at, int64_t lo, int64_t hi);
/* The length of a list; an absent one is empty when `optional`. */
sct_status sct_json_length(int *n, sct_json at, bool optional);

/* ---- without messages ---- */

SCT_OWNS(json_t, json_decref)
/* NULL for what is no document; what is asked of NULL is absent. */
json_t *sct_json_load(const char *text);
/* A copy; bytes that are not UTF-8 become '?'. NULL gives null. */
json_t *sct_json_string(const char *text);
json_t *sct_json_strings(const char *const *list, int n);
json_t *sct_json_number(double value); /* null for what is no finite number */
/* Appends the document, and ends it. `flags` are those of json_dumps(). SCT_EINTERNAL for NULL:
 * one of its texts was not UTF-8. */
sct_status sct_json_dump(sct_str *out, json_t *doc, size_t flags, sct_error *err);

#endif
