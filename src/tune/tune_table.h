/* tune_table - what is known of every candidate at every size, and what is chosen: the table of
 * results. Its rows are the candidates' items; whoever has a table asks nothing else. */
#ifndef SCT_TUNE_TABLE_H
#define SCT_TUNE_TABLE_H

#include "tune/tune.h"

/* What is known of one item at one size. */
typedef struct tune_cell {
  bool fits;      /* the kernel's requirements hold at this size */
  bool counted;   /* it has counters */
  bool estimated; /* they are estimated from the traffic of a strategy's plan: nothing was
                     counted */
  sct_counters counters;
  sct_prediction predicted;        /* ns 0: unknown */
  double penalty[SCT_N_PENALTIES]; /* with it */
  /* What became of it at this size, as far as the item itself has not failed: "ok" from the start.
   * Its samples are its own; how it is coalesced follows from its counts, or where there are none,
   * from the store. */
  sct_row_outcome row;
  bool verified;                /* ran with right results, in this session or an earlier one */
  bool from_store;              /* as an earlier session stored it */
  bool stored;                  /* by this session */
  char stored_as[SCT_HASH_HEX]; /* what was stored, but for how it is coalesced */
  sct_row_coalesced was;        /* from_store or stored: how it is coalesced as it is stored */
  bool passed_over;             /* a search has not asked for it, or it had its turn */
  bool tied;                    /* as sct_tune_decide saw it last */
} tune_cell;

typedef struct tune_table {
  sct_tune_candidates *cands; /* borrowed */
  bool times;                 /* candidates are compared by time; else by what is counted */
  bool select_any;            /* those that are not coalesced may win */
  bool partial;        /* the session was not asked to try all candidates, or could not make them */
  tune_cell *cells;    /* [n_items * n_sizes], item-major */
  int *group;          /* [n_items] the first item of the same layouts; -1: it has no kernel */
  int *duplicate;      /* [n_items] an earlier item that runs alike, measured for both; -1: none */
  sct_choice *choices; /* [n_sizes] */
  int n_races;
} tune_table;

/* Borrows candidates that are complete. */
void sct_tune_table_init(tune_table *out, sct_tune_candidates *cands, bool times,
                         const sct_tune_opts *opts);
void sct_tune_table_free(tune_table *t); /* before its candidates */

static inline tune_cell *sct_tune_cell(const tune_table *t, int item, int size) {
  return &t->cells[(size_t)item * (size_t)t->cands->spec.n_sizes + (size_t)size];
}
static inline bool sct_tune_is_timed(const tune_cell *cell) { /* or failed while it was */
  return cell->row.times.n_samples > 0 || !sct_row_is_ok(&cell->row);
}
/* What is compared is there: times, or counts of a kernel that is verified. */
static inline bool sct_tune_is_measured(const tune_table *t, const tune_cell *cell) {
  return t->times ? cell->row.times.n_samples > 0 : cell->verified;
}

/* ---- items (tune_items.c) ---- */

/* out[n_operands]: which of its layouts each operand has in candidate c (tune_candidates.c). */
void sct_tune_layouts(int *out, const sct_tune_candidates *cands, int64_t c);
bool sct_tune_same_layouts(const sct_tune_candidates *cands, int a,
                           int b); /* false without a kernel */
/* Is it of the strategy of naive variants, whose kernels are right at all extents? */
bool sct_tune_is_direct(const sct_tune_candidates *cands, int k);
/* Does it take arrays at any element? */
bool sct_tune_is_plain(const sct_tune_candidates *cands, int k);
bool sct_tune_is_general(const sct_tune_candidates *cands, int k); /* and any extents, too */
/* The first usable item of that strategy with item k's layouts; -1 if all failed. */
int sct_tune_naive_item(const sct_tune_candidates *cands, int k);
/* That of this tuned size, if it is usable; else the former. */
int sct_tune_naive_at(const sct_tune_candidates *cands, int k, int size);
/* Is the item a candidate at tuned size z? */
bool sct_tune_is_for_size(const sct_tune_candidates *cands, const sct_tune_item *item, int z);
/* Is item k the naive variant of its layouts at this size? */
bool sct_tune_is_naive_item(const sct_tune_candidates *cands, int k, int size);
sct_binary sct_tune_binary(const sct_tune_item *item);
void sct_tune_fail_item(sct_tune_candidates *cands, int item, sct_outcome_kind outcome,
                        const char *detail);
/* Keeps the item's first warning; "": there is none. */
void sct_tune_warn_item(sct_tune_candidates *cands, int item, const char *warning);

/* ---- what is known of an item ---- */

/* Nothing is stored of a kernel whose requirements do not hold at this size, of one without text,
 * or of one that was not reached. */
bool sct_tune_has_outcome(const tune_table *t, int item, int size);
/* It has one at some size that is not a failure. */
bool sct_tune_was_tried(const tune_table *t, int item);
/* The outcome of the naive variant with these layouts in the store; 0: none. */
sct_id sct_tune_naive_outcome(const tune_table *t, int size, const int *layout);
/* Is an item counted at a size, and right there once it is verified? At a sample only where a
 * search asks for it: there are many. */
bool sct_tune_matters(const tune_table *t, int item, int size);
/* The store has it at every size that is not passed over. */
bool sct_tune_known_already(const tune_table *t, int item);
/* sct_tune_known_already(), or this session verified it. */
bool sct_tune_evaluated_already(const tune_table *t, int item);
void sct_tune_set_verified(tune_table *t, int item); /* at every size that fits */

/* ---- items that run alike (tune_duplicates.c) ---- */

void sct_tune_find_duplicate(tune_table *t,
                             int item); /* among those that were evaluated before it */
void sct_tune_copy_from_duplicate(tune_table *t, int item, int size);

/* ---- what became of an item at a size ---- */

/* As its cell has it, or the failure of the item itself. Borrows from both. */
sct_row_outcome sct_tune_outcome(const tune_table *t, int item, int size);
/* Takes a timing, with its samples, and its verdict; `race`: its name, "": measured alone. */
void sct_tune_take_timing(tune_table *t, int item, int size, const sct_timing *timing,
                          const char *race);
const char *sct_tune_race_new(tune_table *t); /* a name that no other race in any store has */

/* ---- choosing ---- */

/* Its predicted time, if that is credible: useful bytes move at no more than SCT_CREDIBLE times the
 * rate of a copy. 0: unknown, or it is not. */
double sct_tune_credible_ns(const tune_table *t, int item, int size);
/* What a copy reaches: measured, or as usual; 0: unknown. */
double sct_tune_copy_rate(const sct_device_desc *device);
/* Fills rows[n_items] for one size and chooses. */
sct_choice sct_tune_decide(tune_table *t, int size, sct_rank_row *rows);
/* A launch's share, in nanoseconds, of converting arrays from their first layout to the item's,
 * once in sct_operand.converted launches: copies at the device's rate. */
double sct_tune_conversion_ns(const tune_table *t, int item, int size);

#endif
