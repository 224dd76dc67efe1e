/* store_json - rows as JSON, and places in a document for messages. */
#ifndef SCT_STORE_JSON_H
#define SCT_STORE_JSON_H

#include "store/store_internal.h"

#include <jansson.h>

#define SCT_STORE_FORMAT "sectile-store"

/* Where in which file a value stands: "problems[0]", "runs[2]". */
typedef struct sct_json_place {
  const char *file;
  char part[8][160];
  int n;
} sct_json_place;

/* What is no UTF-8 is "". */
json_t *sct_store_json_string(const char *text);
void sct_store_json_text(sct_str *out, const char *text);
void sct_store_json_real(sct_str *out, double value); /* 17 digits: reads back as it was */
/* "\"name\":value,..." of the columns that refer to nothing. */
void sct_store_json_row(sct_str *out, const sct_store_table *table, const void *row);

/* SCT_EDATA: "FILE: error: problems[0].name: expected a text; nothing was imported". */
sct_status sct_store_json_fail(const sct_json_place *at, const char *key, const char *expected,
                               sct_error *err);
void sct_store_json_enter(sct_json_place *at, const char *name, size_t index);
void sct_store_json_enter_key(sct_json_place *at, const char *name);
void sct_store_json_leave(sct_json_place *at);
/* Fills the row's columns that refer to nothing; on failure it holds what was read: clear it. */
sct_status sct_store_json_take(const sct_json_place *at, const sct_store_table *table,
                               const json_t *object, void *row, sct_error *err);

/* ---- formats of other tuners (store_foreign.c, store_foreign_read.c) ---- */

/* Joins what a Kernel Tuner cache or a T4 results file says to the store. */
sct_status sct_store_read_kernel_tuner(sct_store *s, sct_json_place *at, const json_t *doc,
                                       sct_error *err) SCT_MUST_USE;
sct_status sct_store_read_t4(sct_store *s, sct_json_place *at, const json_t *doc,
                             sct_error *err) SCT_MUST_USE;

#endif
