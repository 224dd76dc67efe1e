/* What the parts of emit share: which rows of the store a header is made of.
 *
 *   emit_select.c    which runs, layouts and kernels go into the header
 *   emit_choose.c    the best candidate among some
 *   emit_rules.c     the rule of each device, by the parts of rule.h
 *   emit_holds.c     conditions of kernels at some extents
 *   emit_take.c      what the rules say of a call, for programs of this one
 *   emit_edges.c     extents around the thresholds of the rules
 *   emit_source.c    whether a stored kernel may stand in a header, and its parameters
 *   emit_ways.c      defaults of NAME_host that `transfer` has found
 *   emit_document.c  all that as one document
 *   emit_code.c      the kernels compiled, of the form c
 *
 * Text is made of the document by tuning/sectile/header.lua, which also checks what the store's own
 * documents hold; what C reads of these it reads after that. Strings and arrays belong to the
 * header's arena or to the store rows it holds. */
#ifndef SCT_EMIT_INTERNAL_H
#define SCT_EMIT_INTERNAL_H

#include "emit/emit.h"
#include "rule/rule.h"
#include "script/script.h"
#include "json/json.h"

/* What selection reads of the problem's signature. */
typedef struct emit_signature {
  json_t *doc;
  const char *name;
  int n_operands, n_arguments, n_extents;
  const char **operands;  /* inputs, then outputs: also the order of arguments */
  const char **layouts;   /* [n_operands] the only one; NULL: there are several */
  const char **arguments; /* as kernels spell them: operands, scalars, n_<extent> */
  const char **extents;   /* arguments' names without n_ */
  bool *counts;           /* [n_extents] elements are as many as the product of these */
  int rows, ragged;       /* of rows of different lengths their number and all elements; -1: none */
  bool host;              /* the header has NAME_host, */
  uint32_t stays;         /* which takes arrays of the device for these bits */
} emit_signature;

typedef struct emit_kernel {
  const char *space;               /* inner namespace: "k1_staged" */
  const sct_row_candidate *source; /* of a row that the header holds */
  const char *function;            /* name of the __global__ function, of the user's own also with
                                      template arguments */
  bool is_own;
  int n_args;
  int *args; /* [n_args] what each parameter of the kernel receives: operands, scalars, extents,
                workspace, numbered through in this order; of one of the user's own none */
} emit_kernel;

/* One size tuned on one device. */
typedef struct emit_size {
  sct_row_run *run;
  int64_t *extents; /* [n_extents] */
  double elements;
  const sct_row_result *winner, *naive; /* naive may be NULL: that run has none of these layouts */
  bool sampled;                         /* of a range: calls follow the rule */
  bool shown;                           /* stands in the header's tables, with */
  int kernel;                           /* its winner's index into emit_header.kernels */
  int taken;                            /* by the rule: index into emit_header.kernels, and how */
  double regret;                        /* far from the best, by a factor; 0: not known */
  bool estimated;                       /* which nobody timed */
  int n_rows;
  const sct_row_result *rows; /* what was tried, without samples and sources' checks */
  const bool *legal;          /* [n_rows] right, with the header's layouts */
} emit_size;

/* What a size gave up because a header has one layout for each array. */
typedef struct emit_other {
  const sct_row_run *run;
  const sct_row_result *winner, *here; /* of the size; with the header's layouts, NULL: none */
} emit_other;

/* Defaults of NAME_host, for page-locked arrays and for pageable ones. */
typedef struct emit_ways {
  const sct_row_device *on; /* where `transfer` timed them; NULL: those of all headers */
  int locked_mib, locked_streams, ring_mib, ring_streams, ring_threads;
} emit_ways;

typedef struct emit_device {
  const sct_row_device *row;
  int64_t n_sms; /* 0: unknown */
  int n_sizes;
  int n_alike; /* GPUs that a call cannot tell from this one, and that were tuned too */
  int n_other;
  emit_other *others; /* sizes that other layouts than the header's have won */
  const sct_row_device **alike;
  emit_size *sizes; /* by number of elements; a size whose layouts have no winner is left out */
  int n_features;
  sct_rule_feature *features;
  sct_rule rule; /* with the header's kernels */
} emit_device;

typedef struct emit_header {
  sct_emit_request request;
  sct_arena arena;
  sct_page *page;           /* sectile.header, which knows the signature */
  sct_row_problem *problem; /* one row of `problems` */
  emit_signature sig;
  int n_devices;
  emit_device *devices;      /* GPUs first, then the newest first */
  int n_kernels, n_extra;    /* of these for rules alone */
  emit_kernel *kernels;      /* [0] is the naive variant */
  const char *const *layout; /* [n_operands] the layouts this header is for */
  emit_ways ways;
  /* rows read from the store */
  sct_row_problem *problems;
  sct_row_device *device_rows;
  sct_row_run *runs;
  int n_problems, n_device_rows, n_runs;
} emit_header;

/* ---- emit_select.c, emit_choose.c, emit_rules.c, emit_holds.c ---- */

/* Reads and checks the signature, and what selection needs of it. */
sct_status emit_read_signature(emit_header *h, const char *json, sct_error *err);
sct_status emit_header_load(emit_header *out, sct_store *store, const sct_emit_request *request,
                            sct_error *err);
void emit_header_free(emit_header *h);
/* Index of the best of rows[0..n) among those marked in legal[], -1 if none is. `naive` is the
 * index of the naive variant, or -1; with `any` what is not coalesced competes too. */
int emit_choose(const sct_row_result *rows, int n, const bool *legal, int naive, bool any);
/* The result with this outcome id, kept as long as the header. */
sct_status emit_load_result(const sct_row_result **out, emit_header *h, sct_store *store,
                            sct_id outcome, sct_error *err);
/* The number of a kernel, which the header gets unless it has it. */
sct_status emit_add_kernel(int *index, emit_header *h, const sct_row_candidate *candidate,
                           sct_error *err);
/* The layouts of a kernel's launch are those of the header. */
bool emit_has_layouts(const emit_header *h, const json_t *launch);
/* Makes the rule of a device, with the kernels that it needs. */
sct_status emit_make_rule(emit_header *h, emit_device *device, sct_store *store, sct_error *err);
/* Whether a condition of C holds for extents of these names (without n_); what is no expression
 * does not. */
bool emit_holds(const char *condition, const char *const *names, const int64_t *values, int n);
/* Defaults of NAME_host that `transfer` has found for a device of the header, else the usual ones.
 */
sct_status emit_load_ways(emit_header *h, sct_store *store, sct_error *err);

/* ---- emit_source.c ---- */

/* A kernel's source may stand in a namespace: brackets, comments and strings close, and it holds no
 * directive but #pragma. Finds the parameters of the function `kernel` and writes to args[] which
 * of names[0..n) each of them is: by name, or by place where not all names are known and there are
 * n of them. SCT_EDATA says what is wrong. `args` holds at least n. */
sct_status emit_check_source(int *args, int *n_args, const char *source, const char *kernel,
                             const char *const *names, int n, sct_error *err);
/* Checks the source of a kernel of the user's own, which may hold directives that leave nothing
 * defined after it. */
sct_status emit_check_own(const char *source, const char *kernel, sct_error *err);
/* The feature of a kernel that needs sm_90, NULL: none. Below sm_90 the kernel is left out. */
const char *emit_sm90_feature(const char *source);

/* ---- emit_edges.c ---- */

enum { EMIT_MOST_EDGE_EXTENTS = 16 };
/* Extents just below, at and above each threshold that some tuned size can be moved to; none where
 * extents are not all dimensions, as others follow from what arrays hold. */
int emit_edges(emit_header *h, int64_t (**out)[EMIT_MOST_EDGE_EXTENTS]);

/* ---- documents; new references ---- */

/* All that header.lua needs of a header in a form. */
json_t *emit_document(const emit_header *h, sct_emit_form form);
/* The cases of a self-test, and extents around thresholds with the tolerances there. */
json_t *emit_tests(emit_header *h, const sct_emit_cases *cases, const sct_emit_tester *tester);
/* Bytes as lines of numbers with commas, in one text. */
json_t *emit_byte_lines(const char *bytes, size_t n);
/* Compiles `source` for each architecture that is asked for, and adds what comes of it. */
sct_status emit_add_code(json_t *doc, emit_header *h, const char *source, sct_error *err);

#endif
