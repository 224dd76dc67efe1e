/* tune_counting - what the model needs of candidates: counters of their PTX, machine instructions,
 * and the time that both predict. Fills the table; nothing here needs a device or a store. */
#ifndef SCT_TUNE_COUNTING_H
#define SCT_TUNE_COUNTING_H

#include "ptx/ptx.h"
#include "tune/tune_table.h"

typedef struct tune_size_counts tune_size_counts; /* tune_messages.def */

/* The module that was parsed last: candidates of a batch share one text and mostly follow each
 * other. */
typedef struct tune_parsed {
  const char *text;
  sct_ptx_module *module; /* NULL: this text cannot be read */
} tune_parsed;
sct_status sct_tune_parse(tune_parsed *p, const char *text, sct_error *err);
void sct_tune_parsed_free(tune_parsed *p);

typedef struct tune_counting {
  tune_table *table;
  const sct_device_desc *rated; /* what predictions are for */
  uint64_t seed;
  bool recorded;      /* counts are those of a recording: there is no code to look at */
  tune_parsed parsed; /* of the item whose code was looked at last */
  sct_block_counter *block_counter; /* of this process; NULL: nothing was counted from PTX */
} tune_counting;
void sct_tune_counting_free(tune_counting *c);

/* Finds the sizes whose requirements an item meets, and estimates its counts there (tune_count.c).
 */
void sct_tune_find_sizes(tune_counting *c, int item);
/* Does an item run at a size, whether or not a strategy offered it there? Then its counts are
 * estimated, unless they are known. */
bool sct_tune_estimate(tune_counting *c, int item, int size);
/* Does its code have to be counted at this size yet? */
bool sct_tune_is_due(const tune_table *t, int item, int size);
/* Counts an item and predicts its times, unless that is done. */
sct_status sct_tune_count(tune_counting *c, int item, sct_error *err);
/* Predicts again where item is counted, when more is known of its code. */
sct_status sct_tune_predict(tune_counting *c, int item, sct_error *err);
/* Counts that one process makes from compiled code for another, at those of its sizes where
 * at[size] is not 0; the other one applies them. An item that could not be counted there is counted
 * by sct_tune_count() only. */
const tune_size_counts *sct_tune_counts_of(tune_counting *c, int item, const sct_compiled *compiled,
                                           const uint8_t *at, sct_arena *arena);
sct_status sct_tune_apply_counts(tune_counting *c, int item, const tune_size_counts *list,
                                 int64_t n, sct_error *err);

/* What was counted when verification ran the PTX (tune_run.c); !known where nothing was. */
sct_ptx_check sct_tune_ptx_check_of(const sct_spec *spec, const sct_verdict *verdict);
/* Stores a check of item k, which is predicted anew; with a naive variant, so are the items that
 * did not run. */
sct_status sct_tune_apply_ptx_check(tune_counting *c, int k, const sct_ptx_check *check,
                                    sct_error *err);
/* Machine instructions of the whole kernel at a size, by pipe; for a kernel that did not run, those
 * of the body in the naive variant, and 0 if that did not run either. */
void sct_tune_machine_instructions(const tune_table *t, int k, int size, double out[SCT_N_PIPES]);

/* Says in item->approximate why its counts are not those of its machine code, unless it was asked
 * before (tune_exact.c). */
void sct_tune_compare_code(tune_counting *c, int item);
/* sct_tune_compare_code() in another process, for compiled code that it was sent; its answer is
 * applied here. */
const char *sct_tune_comparison_of(tune_parsed *p, const sct_compiled *compiled, sct_arena *arena);
void sct_tune_apply_comparison(sct_tune_candidates *cands, int item, const char *cause);

#endif
