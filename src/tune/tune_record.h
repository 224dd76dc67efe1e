/* tune_record - what a session keeps: the rows of its problem, device and runs in the store, every
 * outcome as it comes, and what earlier sessions have left there. Without a store nothing is
 * written and nothing is known. */
#ifndef SCT_TUNE_RECORD_H
#define SCT_TUNE_RECORD_H

#include "tune/tune_counting.h"
#include "tune/tune_device.h"

typedef struct tune_record {
  sct_store *store;         /* NULL: keep nothing */
  tune_table *table;        /* what is kept */
  const tune_device *where; /* it was measured */
  const sct_tune_opts *opts;
  sct_row_problem problem;
  sct_row_device device;
  sct_row_run *runs;  /* [n_sizes] */
  const char **kept;  /* [n_sizes]: a sentence on the winner in the store that stays; NULL */
  char *stale;        /* what the store has that is not used; NULL: nothing */
  bool nothing_known; /* the store had no outcome of this problem on this device at the start */
} tune_record;

/* The store at a path; NULL: the usual one; "": none, and *out stays NULL. */
sct_status sct_tune_open_store(sct_store **out, const char *given, bool read_only, sct_error *err);
/* {"i":1024}, of sct_free(). NULL: a name is not UTF-8. */
char *sct_tune_extents_json(const sct_spec *spec, const sct_size *size);
/* Opens the store of opts; what is zero may be closed. Borrows all three. */
sct_status sct_tune_record_open(tune_record *out, tune_table *table, const tune_device *where,
                                const sct_tune_opts *opts, sct_error *err);
void sct_tune_record_close(tune_record *r);

/* The row of a device, whose texts are the caller's or go to the arena; the second puts it, too. */
sct_status sct_tune_device_row(sct_row_device *row, const sct_device_desc *device,
                               const char *nvrtc, const char *options, sct_arena *arena,
                               sct_error *err);
sct_status sct_tune_put_device(sct_store *store, const sct_device_desc *device, const char *nvrtc,
                               const char *options, sct_arena *arena, sct_row_device *row,
                               sct_error *err);
void sct_tune_timestamp(char out[32]); /* ISO 8601, UTC */
/* Puts the rows that outcomes belong to, once the candidates are known. */
sct_status sct_tune_store_begin(tune_record *r, sct_error *err);
/* Stores what is known of an item at a size, if it has an outcome that is not the store's. */
sct_status sct_tune_store_cell(tune_record *r, int item, int size, sct_error *err);
/* Stores what is not stored of a size, and how candidates of earlier sessions are coalesced. */
sct_status sct_tune_store_size(tune_record *r, int size, sct_error *err);
/* Stores what was chosen. */
sct_status sct_tune_store_end(tune_record *r, int size, sct_error *err);
/* Stores durably that n_stages of the race at a size are complete. */
sct_status sct_tune_store_raced(tune_record *r, int size, int n_stages, sct_error *err);

/* Takes over what an earlier session measured of an item under the same conditions, unless all is
 * to be measured again, or nothing can be there: nothing was when the session began, and nobody
 * else has written since. */
sct_status sct_tune_resume_item(tune_record *r, int item, sct_error *err);
/* For a session that ends before it measures: takes over what an earlier one stored, winners too,
 * for the report. Writes nothing of candidates. */
sct_status sct_tune_store_known(tune_record *r, sct_error *err);

/* After a session of a part of the candidates: where one that it left out stays or becomes the
 * winner of the size, fills `kept` and the winner of the run (tune_kept.c). */
sct_status sct_tune_find_kept(tune_record *r, int size, sct_error *err);
/* Says in `stale` what the store has of this kernel that was measured under other conditions, or
 * of another version of the spec (tune_stale.c). */
sct_status sct_tune_find_stale(tune_record *r, sct_error *err);

#endif
