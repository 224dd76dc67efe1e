/* emit - one kernel header from the store: provenance, the winning kernels, a launch function.
 *
 * Everything in a header comes from the store: the kernels byte for byte as they were timed, the
 * figures beside them, the conditions under which a kernel is right. Nothing is generated anew, so
 * a header cannot hold a kernel that was not measured. docs/header_contract.md says what a header
 * promises. */
#ifndef SCT_EMIT_H
#define SCT_EMIT_H

#include "store/store.h"

/* Which files of a program have the kernels and the launch function. */
typedef enum sct_emit_form {
  SCT_EMIT_INLINE, /* every CUDA file that includes the header, for itself */
  SCT_EMIT_CUDA,   /* the CUDA file that defines NAME_IMPLEMENTATION; others have declarations */
  SCT_EMIT_C       /* the file of C or C++ that defines it, and the kernels are compiled */
} sct_emit_form;

/* Kernels that were compiled. */
typedef struct sct_emit_code {
  sct_str cubin, ptx;
  char nvrtc[32];  /* which version compiled them */
  sct_str entries; /* their names in the code, in the order asked for, each with a line end */
} sct_emit_code;

/* Compiles CUDA text for an architecture such as "sm_90", with its kernels names[0..n). */
typedef sct_status sct_emit_compile(const char *context, sct_emit_code *out, const char *source,
                                    const char *arch, const char *const *names, int n,
                                    sct_error *err);

/* By its name, "inline", "cuda" or "c". SCT_EUSAGE: there is none, and the text says which there
 * are. */
sct_status sct_emit_find_form(sct_emit_form *out, const char *name, sct_error *err);

typedef struct sct_emit_request {
  const char *name;      /* the kernel's name; used when spec_hash is NULL, and in messages */
  const char *spec_hash; /* hex hash of the spec; NULL: the newest problem called `name` */
  bool host;             /* the spec asks for functions for arrays of the host ... */
  uint32_t stays;        /* ... but for those of its arrays whose bits are set */
  sct_emit_form form;
  sct_emit_compile *compile; /* for SCT_EMIT_C */
  const char *targets;       /* "sm_80,sm_90": what it compiles for; NULL: what was tuned */
  const char *context;       /* its first argument */
} sct_emit_request;

/* What a header is made of, loaded once for its text and all that stands next to it. */
typedef struct emit_header sct_emit;

/* Loads every device and size that has a winner: of each GPU the newest conditions (driver, NVRTC,
 * tool), of a virtual device nothing where a GPU of the same compute capability was timed. The
 * request's texts must live as long as `out`; the store need not.
 *
 * SCT_EDATA: nothing tuned (the text says which command tunes it), or a row that cannot become a
 * header that compiles (the text names the row and the field). */
sct_status sct_emit_open(sct_emit **out, sct_store *store, const sct_emit_request *request,
                         sct_error *err);
void sct_emit_close(sct_emit *e); /* NULL: nothing */
SCT_OWNS(sct_emit, sct_emit_close)

/* Appends the header's text. The same store gives the same bytes; a date stands in it only when
 * SOURCE_DATE_EPOCH is set. `out` is unchanged where it fails. */
sct_status sct_emit_render(sct_str *out, sct_emit *e, sct_error *err);

/* Its kernels' labels and, of each device, the rule by which a call takes one of them, and how far
 * that is from the best: {"kernels": [...], "rules": [...]}. The caller's. */
json_t *sct_emit_rules(const sct_emit *e);

/* A device that calls are made on, and what a call on it tries. */
typedef struct sct_emit_device {
  const char *name;
  int major, minor, n_sms;
} sct_emit_device;
typedef struct sct_emit_taken {
  const char *labels[5]; /* [n] the first that is right for the call is taken; the last is naive */
  int n;
  const char *size;   /* the listed size whose winner is labels[0]; NULL: by a branch of the rule */
  const char *device; /* whose rule it is */
} sct_emit_taken;
/* What the launch function would choose from, at extents in its order. */
void sct_emit_take(sct_emit_taken *out, const sct_emit *e, const sct_emit_device *on,
                   const int64_t *extents);
/* The labels of all kernels, the naive one first; the layouts of the arrays in its order. */
const char *const *sct_emit_kernels(sct_emit *e, int *n);
const char *const *sct_emit_layouts(const sct_emit *e);

/* The module of Python for a header in the form c (the request's form does not count), into the
 * file `path` next to `header`. SCT_EUSAGE: the two have names or directories that do not fit. */
sct_status sct_emit_write_python(sct_emit *e, const char *header, const char *path, sct_error *err);

/* What an array holds before a launch and, of an output, after it. */
typedef struct sct_emit_array {
  const void *before, *after; /* before: NULL for an input's words, an output's poison; after: NULL
                                 for inputs, and where there are ... */
  const uint64_t *bits; /* [bytes / part_bytes + 1] ... digests: of each part a sum of hashes, */
  const double *sums;   /* and one of values; else NULL */
  int64_t bytes, part_bytes;
  uint64_t key, and_mask, or_mask; /* word k: (sct_mix64(key, k) & and_mask) | or_mask */
  double tolerance;    /* of values, relative to them or, if greater, to ...; -1: of bits */
  const double *usual; /* [n_fields]; NULL for inputs */
} sct_emit_array;
typedef struct sct_emit_case {
  const int64_t *extents;       /* in the order of the launch function */
  unsigned char (*scalars)[16]; /* in the order of the launch function */
  const sct_emit_array *arrays;
  unsigned char poison;
  int n_places;
  const int64_t *const *places; /* [n_places][n_operands] addresses modulo 512 or more */
} sct_emit_case;

typedef struct sct_emit_cases {
  sct_emit_case *all;
  int n;
  bool computes; /* results are computed, not only moved */
} sct_emit_cases;

/* Where the cases of a self-test come from. */
typedef struct sct_emit_tester {
  void *ctx;
  /* Makes cases for these candidates, labels[n_labels], with layouts[n_layouts]. They live until
   * the tester's end. */
  sct_status (*make)(void *ctx, const char *const *layouts, int n_layouts,
                     const char *const *labels, int n_labels, sct_emit_cases *out, sct_error *err);
  /* After that: by how much values of an output may differ at other extents. */
  double (*tolerance)(void *ctx, int operand, const int64_t *extents);
} sct_emit_tester;

/* A file with a function that tries the kernels of `header`, into `path` next to it. */
sct_status sct_emit_write_selftest(sct_emit *e, const char *header, const char *path,
                                   const sct_emit_tester *tester, sct_error *err);

#endif
