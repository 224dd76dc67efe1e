/* store_json - rows as JSON objects. */
#ifndef SCT_STORE_JSON_H
#define SCT_STORE_JSON_H

#include "store/store_internal.h"
#include "json/json.h"

#define SCT_STORE_FORMAT "sectile-store"

/* Adds the columns that refer to nothing. */
void sct_store_json_row(json_t *object, const sct_store_table *table, const void *row);
/* Fills the row's columns that refer to nothing, of those that came after `schema` what there is;
 * it borrows the document and its arena. */
sct_status sct_store_json_take(sct_json at, int schema, const sct_store_table *table, void *row);

/* Who takes devices, then problems with all that is theirs, as an export has them. */
typedef struct sct_store_reader {
  void *ctx;
  sct_status (*device)(void *ctx, json_t *object, sct_error *err);
  sct_status (*problem)(void *ctx, json_t *object, sct_error *err);
} sct_store_reader;
/* All of a store as of one moment; SCT_EDATA for rows that refer to nothing. */
sct_status sct_store_read_all(sct_store *s, const sct_store_reader *reader, sct_error *err);

/* ---- formats of other tuners (store_foreign.c) ---- */

/* Joins a Kernel Tuner cache or a T4 results file to the store. */
sct_status sct_store_read_kernel_tuner(sct_store *s, const char *file, sct_json doc);
sct_status sct_store_read_t4(sct_store *s, const char *file, sct_json doc);

#endif
