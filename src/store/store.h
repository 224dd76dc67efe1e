/* store - problems, devices, candidates, outcomes and samples in one SQLite file.
 *
 * The store keeps the exact source that was timed and everything a header needs: a header can
 * never hold a kernel that was not measured. One
 * transaction a candidate, unique content keys, insert-or-ignore: running `tune` again continues.
 */
#ifndef SCT_STORE_H
#define SCT_STORE_H

#include "base/base.h"
#include "json/json.h"

typedef struct sct_store sct_store;

/* Opens or makes the store (parents' directories too), WAL, synchronous FULL, busy timeout 10 s,
 * trusted_schema off. SCT_EDATA for a file that is no store, is damaged (quick_check) or has a
 * newer schema: nothing is overwritten. SCT_EIO with the reason; for read_only also if there is no
 * store. read_only works in a directory that cannot be written. */
sct_status sct_store_open(sct_store **out, const char *path, bool read_only, sct_error *err);
void sct_store_close(sct_store *store);
SCT_OWNS(sct_store, sct_store_close)

typedef int64_t sct_id;

/* Strings in rows: NULL is stored as "" and read back as "", so a row that was read has no NULL
 * string. Keys must not be empty; JSON columns hold an object or nothing (SCT_EINTERNAL
 * where they are written, SCT_EDATA where a file has something else). A double that
 * is NaN is read back as NaN. docs/store.md describes the JSON documents. */

/* Ways from the host and back of a spec (`transfer SPEC`) are a problem of its own, by the hash of
 * this text with the spec's hash and bits for the arrays that stay on the device; its number goes
 * up where ways come to mean something else. */
#define SCT_HOST_PROBLEM "sectile host 2 %s %x"

/* ---- writing */

/* A kernel as the user wrote it. Unique by spec_hash. */
typedef struct sct_row_problem {
  sct_id id;
  const char *name;
  const char *spec_hash; /* hex */
  const char *spec_file; /* base name only, and the parameters that were given: "a.lua -p n=7" */
  const char *canonical; /* the spec's canonical text */
  const char *signature; /* JSON: what emit needs of arguments, records, scalars, extents, layouts;
                      see docs/store.md */
} sct_row_problem;

/* A device under the conditions that change results. Unique by key: sct_store_device_key(). */
typedef struct sct_row_device {
  sct_id id;
  const char *key;
  const char *name, *device_id, *uuid, *driver, *nvrtc, *tool, *arch;
  int cc_major, cc_minor;
  bool is_virtual;
  const char *description; /* JSON of the sct_device_desc */
  int measurement;         /* version of the way of measuring; samples of two are not compared */
  int clock_khz;           /* the highest clock that the device is set to; 0: unknown */
  const char *options;     /* of NVRTC */
} sct_row_device;

/* One problem size on one device in one run: the conditions that all its timings share. Unique by
 * (problem, device, size). */
typedef struct sct_row_run {
  sct_id id, problem, device;
  const char *size_label; /* "i=1048576" */
  const char *extents;    /* JSON object: {"i": 1048576} */
  double read_bytes, write_bytes;
  double ceiling_bytes_s; /* copy ceiling measured in the same run; 0: not timed */
  double noise;           /* relative: what counts as a tie */
  int n_candidates, n_verified, n_failed, n_tied;
  const char *started;    /* ISO 8601 UTC */
  const char *conditions; /* JSON: seed, clocks, options, selection */
  sct_id winner, naive;   /* outcome rows; 0: none */
  const char *finished;  /* ISO 8601 UTC: when the columns that sct_store_finish_run() rewrites were
                      decided; "": not yet */
  int raced;             /* stages of the race that are complete */
  const char *estimates; /* JSON: source hashes of kernels that were tried at other sizes and not
                            at this one, with their predicted times in ns */
} sct_row_run;

/* A generated kernel. Unique by (problem, source_hash); the hash covers launch data too. options,
 * registers, spill_bytes and shared_bytes are kept with the outcome, since the same source has
 * others on another device. */
typedef struct sct_row_candidate {
  sct_id id, problem;
  const char *source_hash, *label, *strategy, *axes; /* axes: JSON object in axis order */
  const char *source, *kernel;
  const char *launch;  /* JSON: threads, grid (C text), shared_bytes, requires [C text], align
                    {operand:  bytes}, layouts {...}, doc */
  const char *options; /* NVRTC options */
  int registers, spill_bytes, shared_bytes;
} sct_row_candidate;

/* By which rule an outcome is called coalesced, or not. */
typedef enum sct_coalesced_rule {
  SCT_COALESCED_RELATIVE, /* by the least sectors of all candidates then known (before schema 4) */
  SCT_COALESCED_ABSOLUTE  /* by what the kernel asks for and its index space touches (model.h) */
} sct_coalesced_rule;
/* How a kernel uses its sectors; what follows from its counts, so a newer version may say it anew.
 * The figures are those of sct_coalescing, 0 or NaN: unknown. */
typedef struct sct_row_coalesced {
  int rule; /* sct_coalesced_rule */
  bool coalesced;
  bool unknown; /* the counts' error allows that it is; then `coalesced` is false */
  double share, utilisation, passes;
  double sectors_error; /* relative, of all counts; 0: they are exact */
} sct_row_coalesced;
bool sct_row_coalesced_same(const sct_row_coalesced *a, const sct_row_coalesced *b);

/* Members of an outcome that was not counted. */
#define SCT_NOT_COUNTED                                                                            \
  .requests_ld = -1, .sectors_ld = -1, .sectors_ld_ideal = -1, .requests_st = -1,                  \
  .sectors_st = -1, .sectors_st_ideal = -1, .wavefronts = -1, .degree = -1
/* Times of one launch. A sample is the mean of `launches` launches back to back, less overhead_ns.
 */
typedef struct sct_times {
  double *samples_ns; /* [n_samples]; stored as a blob of doubles */
  int n_samples;
  double median_ns, q1_ns, q3_ns, min_ns; /* of the samples; 0: not timed */
  double overhead_ns;                     /* what an empty launch takes; 0: unknown */
  double resident_ns;  /* median on a single copy of the arrays; 0: not measured */
  double sm_clock_mhz; /* during the last sample; 0: unknown */
  int launches;
  int64_t copies; /* of the arrays that the launches went round */
  int n_slow;     /* samples at less than 3/4 of the device's clock or under hardware slowdown, in
                     spite of waiting */
  /* not stored */
  int n_repeated;    /* units that were taken again for such a reason */
  int n_contended;   /* samples while a process computed that began to during the session: seen at
                        most every two seconds */
  uint64_t throttle; /* reasons seen with the samples: device_throttle.def */
} sct_times;
void sct_times_summarise(sct_times *t); /* fills median, quartiles and min by the samples */
/* Their samples are allocated; the second takes a copy of those of `from`. */
void sct_times_free(sct_times *t);
void sct_times_set(sct_times *t, const sct_times *from);

/* What became of a candidate at a size: the one row of it, from measurement to report. Unique by
 * (run, candidate). */
typedef struct sct_row_outcome {
  sct_id id, run, candidate;
  const char *outcome; /* "ok", "wrong_result", ... */
  const char *detail;
  sct_times times;
  /* counted from the layout expressions; negative: unknown */
  double requests_ld, sectors_ld, sectors_ld_ideal, requests_st, sectors_st, sectors_st_ideal,
      wavefronts;
  double degree; /* distinct bytes asked for / bytes in sectors, whole kernel */
  sct_row_coalesced how;
  bool counts_exact;
  double predicted_ns; /* by the model, never measured; NaN or 0: not predicted */
  const char *race;    /* "": measured alone; equal: sample k of both was taken in the same round */
  const char *measured;   /* ISO 8601 UTC */
  const char *small_size; /* JSON, counts of the PTX as run and by the model; see docs/store.md */
  const char *content; /* of an earlier outcome: its sct_store_result_hash(); NULL in the others */
} sct_row_outcome;
bool sct_row_is_ok(const sct_row_outcome *row); /* verified, or nothing has failed yet */
double sct_row_ns(const sct_row_outcome *row);  /* measured, else predicted; 0: neither */
/* Of the whole kernel; negative: unknown. */
double sct_row_sectors(const sct_row_outcome *row), sct_row_requests(const sct_row_outcome *row);
/* Were samples of the same number taken in the same round? */
bool sct_row_same_race(const sct_row_outcome *a, const sct_row_outcome *b);

/* All put functions insert or find the existing row and set its id. Each is one durable
 * transaction. */
/* The signature of a problem that exists is rewritten where it differs. */
sct_status sct_store_put_problem(sct_store *s, sct_row_problem *row, sct_error *err);
/* Computes the key if row->key is NULL or empty. */
sct_status sct_store_put_device(sct_store *s, sct_row_device *row, sct_error *err);
sct_status sct_store_put_run(sct_store *s, sct_row_run *row, sct_error *err);
/* The key of a device row, as hex: a hash of name, uuid (where there is none, device_id), driver,
 * nvrtc, options, measurement, clock and compute capability. Returns out. */
char *sct_store_device_key(char out[SCT_HASH_HEX], const sct_row_device *row);
/* Rewrites the mutable columns of a run: ceiling, noise, counts, conditions, winner, naive. Winner
 * and naive must be outcomes of this run, or 0. SCT_EDATA if there is no such run. */
sct_status sct_store_finish_run(sct_store *s, const sct_row_run *row, sct_error *err);
/* Candidate and outcome in one transaction; sets both ids. A candidate that exists is left alone,
 * an outcome that exists too unless `replace` and it differs in more than the time of measuring:
 * then it moves, samples and all, to the earlier ones. outcome->candidate need not be set;
 * outcome->run must be a run of cand->problem. Does not wait for the disk: the result survives a
 * kill, and a power failure once any other change of the store has returned. */
sct_status sct_store_put_result(sct_store *s, sct_row_candidate *cand, sct_row_outcome *outcome,
                                bool replace, sct_error *err);
/* Rewrites how outcomes[n] are coalesced, in one transaction. SCT_EDATA if there is no such
 * outcome. */
sct_status sct_store_put_coalesced(sct_store *s, const sct_id *outcomes,
                                   const sct_row_coalesced *how, int n, sct_error *err);

/* ---- reading: rows and what they point to go to the arena */

sct_status sct_store_problem_by_name(sct_store *s, sct_arena *arena, const char *name,
                                     sct_row_problem **rows, int *n, sct_error *err);
sct_status sct_store_problem_by_hash(sct_store *s, sct_arena *arena, const char *spec_hash,
                                     sct_row_problem **rows, int *n, sct_error *err);
sct_status sct_store_problems(sct_store *s, sct_arena *arena, sct_row_problem **rows, int *n,
                              sct_error *err); /* all, by name then id */
sct_status sct_store_devices(sct_store *s, sct_arena *arena, sct_row_device **rows, int *n,
                             sct_error *err); /* all, by id */
/* The one with this id; NULL: none. */
const sct_row_device *sct_row_device_find(const sct_row_device *rows, int n, sct_id id);
/* Runs of a problem, by device then number of elements then id; device 0: all. */
sct_status sct_store_runs(sct_store *s, sct_arena *arena, sct_id problem, sct_id device,
                          sct_row_run **rows, int *n, sct_error *err);
/* Outcomes of a run with their candidates, by median time (untimed last), then sectors, then label.
 * with_source false leaves source and samples empty. */
typedef struct sct_row_result {
  sct_row_candidate candidate;
  sct_row_outcome outcome;
} sct_row_result;
/* Hex hash of the outcome of a result: all columns but keys, references, the time of measuring, and
 * whether it is coalesced, which follows from other rows. Results with equal hashes are one outcome
 * to put_result() and to joining. Returns out. */
char *sct_store_result_hash(char out[SCT_HASH_HEX], const sct_row_result *row);
sct_status sct_store_results(sct_store *s, sct_arena *arena, sct_id run, bool with_source,
                             sct_row_result **rows, int *n, sct_error *err);
/* The result with this outcome id, source included. SCT_EDATA if there is none. */
sct_status sct_store_result(sct_store *s, sct_arena *arena, sct_id outcome, sct_row_result *row,
                            sct_error *err);
/* Outcome of a candidate in a run by source hash: how a session resumes. *found false: not there.
 */
sct_status sct_store_find(sct_store *s, sct_arena *arena, sct_id run, const char *source_hash,
                          sct_row_result *row, bool *found, sct_error *err);

/* Rows as objects: columns that refer to nothing by their names, of JSON columns the documents, no
 * samples. Bytes that are no UTF-8 stay. New references. */
json_t *sct_row_device_json(const sct_row_device *row);
json_t *sct_row_run_json(const sct_row_run *row);
json_t *sct_row_result_json(const sct_row_result *row);

/* How many outcomes a problem has on a device, at all sizes. */
sct_status sct_store_count(sct_store *s, sct_id problem, sct_id device, int *n, sct_error *err);
/* Whether others have written to the store since it was opened, as far as the last transaction of
 * this connection saw; no query is made. */
bool sct_store_changed_by_others(const sct_store *s);
/* Outcomes of a run that others have replaced, like sct_store_results(), oldest first. */
sct_status sct_store_earlier(sct_store *s, sct_arena *arena, sct_id run, sct_row_result **rows,
                             int *n, sct_error *err);

/* ---- several stores, and other formats */

/* Joins all of the stores `from` to `to`, in one transaction: all or nothing. The result does not
 * depend on order or repetition; docs/store.md states what happens where two disagree. Nothing that
 * was measured is lost. SCT_EDATA for a store whose rows do not fit together. */
sct_status sct_store_merge(sct_store *to, sct_store *const *from, int n, sct_error *err);
/* Appends the whole store as JSON, equal bytes for equal contents. */
sct_status sct_store_export(sct_store *s, sct_str *out, sct_error *err);
/* One run as a document, which the caller ends: `problem`, `device` and `run` as in an export;
 * `extents`, a list of their values; `rows`, each a candidate with its outcome, whose `axes` are a
 * list of name and value, without those that ran and were not timed. SCT_EDATA: nothing was timed.
 */
sct_status sct_store_run_json(json_t **out, sct_store *s, sct_id run, sct_error *err);
/* Joins a file to the store, in one transaction: an export of sct_store_export(), a cache of Kernel
 * Tuner, or results in the T4 format; what others measured becomes a problem of its own, without a
 * winner. SCT_EDATA: "FILE:LINE:COLUMN: error: ..." for what is no JSON, else
 * "FILE: error: problems[0].name: expected ...", and nothing has changed. */
sct_status sct_store_import(sct_store *s, const char *file, sct_error *err);

#endif
